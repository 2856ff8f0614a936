"""RecTools in an environment of its own, beside ours: the commands of the page on recommendations, and one number."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from console_blocks import REPOSITORY, run_steps, steps_of

PAGE = (REPOSITORY / "docs" / "start-recommendations.md").read_text(encoding="utf-8")


@pytest.mark.nightly
def test_rectools_beside_ours_prints_the_same(tmp_path: Path, preloaded_programs: Path) -> None:
    of_files = [step for step in steps_of(PAGE) if re.search(r"> (taken|model-\$shift)\.csv", step.command)]
    assert [outcome.status for outcome in run_steps(of_files, tmp_path, None, programs=preloaded_programs)] == [0, 0]
    (commands,) = (
        block for block in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE) if "rectools" in block
    )
    environment = os.environ | {"PATH": f"{preloaded_programs}:{os.environ['PATH']}", "NDCG_TRACK_DB": "none.db"}
    done = subprocess.run(
        ["bash", "-euc", commands], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    theirs, ours = done.stdout.split("\n", 1)
    recall, average_precision = (float(number) for number in re.findall(r": ([\d.]+)", theirs))
    means = {row["metric"]: row["mean"] for row in json.loads(ours)}
    assert list(means.values()) == pytest.approx([recall, average_precision], rel=0, abs=1e-12)
