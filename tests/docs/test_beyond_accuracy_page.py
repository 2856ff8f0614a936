"""The Python of the page beyond accuracy, run with the real tools: it writes what is kept in examples."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from console_blocks import REPOSITORY

PAGE = (REPOSITORY / "docs" / "beyond-accuracy.md").read_text(encoding="utf-8")
KEPT = REPOSITORY / "examples" / "beyond_accuracy"
NUMBER = re.compile(r"\d+\.\d+(?:e-\d+)?")


@pytest.mark.nightly
def test_the_tools_write_what_is_kept(tmp_path: Path) -> None:
    (setup,) = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    python = "\n".join(re.findall(r"^```py\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))
    subprocess.run([sys.executable, KEPT / "inputs.py"], cwd=tmp_path, check=True)
    subprocess.run(["bash", "-euc", setup], cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "tools" / "bin" / "python", "-c", python], cwd=tmp_path, check=True)
    kept = sorted(path for path in KEPT.iterdir() if path.name.startswith(("old-", "new-")))
    assert len(kept) == 12
    for path in kept:
        then, now = path.read_text(encoding="utf-8"), (tmp_path / path.name).read_text(encoding="utf-8")
        assert NUMBER.sub("#", now) == NUMBER.sub("#", then), path.name
        numbers = ([float(number) for number in NUMBER.findall(text)] for text in (now, then))
        assert next(numbers) == pytest.approx(next(numbers), rel=0, abs=1e-12), path.name
