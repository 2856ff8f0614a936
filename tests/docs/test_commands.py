"""Every command and every Python example that README.md and the docs show is run, and prints what they show."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet
from console_blocks import POSTGRES_URL, REPOSITORY, matches, rewritten, run_steps, steps_of
from thorough import LONG

DOCUMENTS = [
    REPOSITORY / "README.md",
    *sorted((REPOSITORY / "docs").glob("*.md")),
]
WITH_COMMANDS = [path for path in DOCUMENTS if steps_of(path.read_text(encoding="utf-8"))]
BY_DAY = {"README.md", "getting-started.md", "compare.md", "gate.md", "history.md", "labels.md"}
"""What everybody reads; the nightly runs the other pages, whose commands the tests of these commands try too."""
RUNS_THE_DEMO = {"README.md"}  # the others work on a copy of what it leaves
PYTHON_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
WITH_PYTHON = [path for path in DOCUMENTS if PYTHON_BLOCK.search(path.read_text(encoding="utf-8"))]


def parameters(documents: list[Path]) -> list[ParameterSet]:
    """Return the cases of a test of documents."""
    return [
        pytest.param(path, id=path.name, marks=[] if path.name in BY_DAY else [pytest.mark.nightly])
        for path in documents
    ]


@pytest.mark.parametrize("document", parameters(WITH_COMMANDS))
def test_the_commands_print_what_the_document_shows(
    document: Path, tmp_path: Path, preloaded_programs: Path, demo: Path, request: pytest.FixtureRequest
) -> None:
    text = document.read_text(encoding="utf-8")
    steps = steps_of(text)
    needs_postgres = any(POSTGRES_URL.search(step.command) or "$PG_URL" in step.command for step in steps)
    url = request.getfixturevalue("postgres_url") if needs_postgres else None
    folder = tmp_path / "work"
    folder.mkdir()
    programs = None if LONG and document.name == "README.md" else preloaded_programs  # as a user starts them
    if document.name == "mlflow.md":  # its scripts import MLflow, which takes two seconds
        programs = tmp_path / "programs"
        programs.mkdir()
        for name, program in (("ndcg-track", "ndcg-track"), ("python", "preloaded-python")):
            (programs / name).symlink_to(preloaded_programs / program)
    left = None if needs_postgres or document.name in RUNS_THE_DEMO else demo
    outcomes = run_steps(steps, folder, url, programs=programs, demo=left)
    for step, outcome in zip(steps, outcomes, strict=True):
        where = f"{document.name}:{step.line}: $ {step.command}"
        shown, printed = "\n".join(step.expected), "\n".join(outcome.output)
        assert (outcome.status != 0) == step.fails, f"{where}\nended with {outcome.status}:\n{printed}"
        assert matches(step.expected, outcome.output), f"{where}\nshown:\n{shown}\nprinted:\n{printed}"


@pytest.mark.parametrize("document", parameters(WITH_PYTHON))
def test_the_python_examples_run(document: Path, tmp_path: Path, preloaded_programs: Path, demo: Path) -> None:
    blocks = PYTHON_BLOCK.findall(document.read_text(encoding="utf-8"))
    is_spark = document.name == "spark.md"
    if is_spark:
        pytest.importorskip("pyspark")  # half a gigabyte, which not everyone has
    shutil.copytree(demo / "ndcg-track-demo", tmp_path / "ndcg-track-demo")
    is_cold = is_spark or (LONG and document.name == "README.md")
    python = sys.executable if is_cold else str(preloaded_programs / "preloaded-python")
    environment = {name: value for name, value in os.environ.items() if name != "NDCG_TRACK_DB"}
    environment["PYTHONPATH"] = str(REPOSITORY)
    done = subprocess.run(
        [python, "-W", "ignore" if is_spark else "error", "-c", "\n".join(blocks)],  # Spark warns of pandas 3
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("name", "end"), [("demo", "ndcg-track demo"), ("test", ".venv/bin/python -m pytest")])
def test_readme_has_the_two_commands_that_the_gate_looks_for(name: str, end: str) -> None:
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    found = re.findall(rf"^<!-- command: {name} -->\n```\w*\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert len(found) == 1
    (command,) = found[0].splitlines()
    installed = r"\. && " if name == "demo" else r"--no-compile -e '\.\[test\]' && "  # what users start is compiled
    assert re.match(rf"python3 -m venv \.venv && \.venv/bin/pip install -q {installed}", command)
    assert command.endswith(end)


def test_readme_is_short_and_begins_with_the_verdict_the_picture_and_the_commands() -> None:
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert text.count("\n") <= 150
    first_screen = "\n".join(text.splitlines()[:45])
    for part in ("PASS: ", "<picture>", "git clone https://", "<!-- command: demo -->", "<!-- command: test -->"):
        assert part in first_screen


def test_steps_of_a_block() -> None:
    text = "# T\n\n```console\n$ echo 'a\nb' \\\n  c\na\nb c\n$ false\n$ echo $?\n1\n```\n\n```sh\n$ no\n```\n"
    steps = steps_of(text)
    assert [(step.command, step.expected, step.line, step.fails) for step in steps] == [
        ("echo 'a\nb' \\\n  c", ["a", "b c"], 4, False),
        ("false", [], 9, True),
        ("echo $?", ["1"], 10, False),
    ]


def test_commands_share_a_shell_and_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    text = "```console\n$ export X=1; printf here > file\n$ cat file; echo $X >&2\n$ (exit 3)\n$ echo $?\n```\n"
    outcomes = run_steps(steps_of(text), folder, None)
    assert [(outcome.output, outcome.status) for outcome in outcomes] == [
        ([], 0),
        (["here1"], 0),
        ([], 3),
        (["3"], 0),
    ]


@pytest.mark.parametrize(
    ("expected", "printed", "same"),
    [
        (["a", "b"], ["a", "b"], True),
        (["a", "", ""], ["a"], True),
        ([], [], True),
        (["a"], ["a", "b"], False),
        (["a", "...", "d"], ["a", "b", "c", "d"], True),
        (["a", "...", "d"], ["a", "d"], True),
        (["..."], [], True),
        (["a 20...Z"], ["a 2024Z"], True),
        (["a 20...Z"], ["a 1999Z"], False),
        (["a+b"], ["aab"], False),
        (["at 2024-01-02 03:04 b"], ["at 2025-11-12 13:14 b"], True),
        (["at 2024-01-02T03:04:05Z"], ["at 2025-11-12T13:14:15Z"], True),
        (["at 2024-01-02"], ["at 2025-11-12"], False),
    ],
)
def test_matches(expected: list[str], printed: list[str], same: bool) -> None:
    assert matches(expected, printed) is same


def test_rewriting_replaces_only_what_no_longer_matches(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    text = "# T\n\n```console\n$ echo 12\n1...\n$ echo 34\nold\n```\n\nend\n"
    outcomes = run_steps(steps_of(text), folder, None)
    assert rewritten(text, outcomes) == "# T\n\n```console\n$ echo 12\n1...\n$ echo 34\n34\n```\n\nend\n"
