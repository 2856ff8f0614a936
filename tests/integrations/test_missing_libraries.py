"""Nothing is imported before it is used, and a library that is missing is one line with the extra that brings it."""

import subprocess
import sys
from pathlib import Path

import pytest

TRAINING = "TrainingRuns([[1.0], [2.0]], [1, 0], group=[1, 1], name='r', database='never.db')"
USES = [
    ("lightgbm", "lightgbm", TRAINING),
    ("xgboost", "xgboost", TRAINING),
    ("catboost", "catboost", TRAINING),
    ("sklearn", "sklearn", "ndcg_scorer('ndcg@10', group='qid')"),
]


def outcome(program: str, folder: Path, python: str | Path = sys.executable) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([python, "-c", program], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("library", "extra", "use"), USES)
def test_a_library_that_is_missing(
    library: str, extra: str, use: str, tmp_path: Path, preloaded_programs: Path
) -> None:
    program = (
        f"import sys; sys.modules[{library!r}] = None\n"
        f"from ndcg_tracker.integrations.{library} import *\n"
        f"import ndcg_tracker as nt\n"
        f"try: {use}\n"
        "except nt.InputError as error: print(error)\n"
    )
    found = outcome(program, tmp_path, preloaded_programs / "preloaded-python")
    line = f"{library} is not installed; install it with: pip install 'ndcg-tracker[{extra}]'\n"
    assert (found.stdout, found.stderr) == (line, "")


def test_the_integrations_import_no_library(tmp_path: Path) -> None:
    names = [library for library, _, _ in USES]
    program = (
        "import sys\n"
        + "".join(f"import ndcg_tracker.integrations.{name}\n" for name in names)
        + f"print([name for name in {names!r} if name in sys.modules])"
    )
    found = outcome(program, tmp_path)
    assert (found.stdout, found.stderr) == ("[]\n", "")
