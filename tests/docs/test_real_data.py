"""What the docs show of real runs and labels, which are not shipped, is what the commands print where the data are."""

import os
import re
import shutil
from pathlib import Path

import pytest
from console_blocks import REPOSITORY, matches, run_steps, steps_of

VARIABLE = "NDCG_TEST_TREC_COVID"
"""Names a folder with the runs irc_*.run and labels qrels.txt of TREC-COVID's first round, and qrels-complete.txt."""
BLOCK = re.compile(rf"<!-- run where {VARIABLE} is -->\n```text\n(.*?)^```$", re.DOTALL | re.MULTILINE)
WITH_DATA = {
    path.name: BLOCK.findall(text)
    for path in sorted((REPOSITORY / "docs").glob("*.md"))
    if VARIABLE in (text := path.read_text(encoding="utf-8"))
}


@pytest.mark.parametrize("name", WITH_DATA)
def test_the_commands_on_real_data_print_what_the_document_shows(
    name: str, tmp_path: Path, preloaded_programs: Path
) -> None:
    blocks = WITH_DATA[name]
    assert blocks
    if VARIABLE not in os.environ:
        pytest.skip(f"{VARIABLE} names no folder with the data")
    folder = tmp_path / "work"
    shutil.copytree(os.environ[VARIABLE], folder, copy_function=shutil.copyfile)
    steps = steps_of("".join(f"```console\n{block}```\n" for block in blocks))
    for step, outcome in zip(steps, run_steps(steps, folder, None, programs=preloaded_programs), strict=True):
        printed = "\n".join(outcome.output)
        assert outcome.status == 0, f"{name}: $ {step.command}\n{printed}"
        assert matches(step.expected, outcome.output), f"{name}: $ {step.command}\nprinted:\n{printed}"
