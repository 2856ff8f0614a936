"""The program as a whole: usage errors, help, version, ``--debug``, and where the database is."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from all_commands import all_commands
from command_line import CommandLine

import ndcg_tracker
from ndcg_tracker.cli.app import COMMANDS as COMMANDS_OF_HELP
from ndcg_tracker.cli.app import run

COMMANDS = [
    ["ingest"], ["evaluate"], ["compare"], ["explain"], ["gate"], ["history"], ["leaderboard"], ["rescore"], ["sql"],
    ["demo"], ["diff"], ["plan"], ["show"], ["reproduce"],
    ["suite", "create"], ["suite", "list"], ["suite", "delete"],
    ["plot", "compare"],
    ["runs", "list"], ["runs", "show"], ["runs", "rename"], ["runs", "tag"], ["runs", "delete"], ["alias", "set"],
    ["alias", "list"], ["alias", "delete"], ["labels", "add"], ["groups", "set"], ["groups", "list"],
    ["metrics", "list"], ["metrics", "explain"], ["db", "upgrade"], ["db", "current"], ["db", "check"],
    ["db", "backup"], ["doctor", "conventions"], ["export"], ["import"],
    ["push", "mlflow"], ["push", "wandb"], ["pull", "mlflow"], ["mcp"],
]  # fmt: skip
PRINTING = [
    ["ingest", "x"], ["evaluate", "x"], ["compare", "a", "b"], ["history"], ["leaderboard"], ["rescore", "a"],
    ["sql", "SELECT 1"], ["diff", "a", "b"], ["plan", "a", "b"], ["show", "a"], ["reproduce", "a", "b"],
    ["suite", "list"],
    ["runs", "list"], ["runs", "show", "a"], ["alias", "list"], ["groups", "list"], ["metrics", "list"],
    ["metrics", "explain", "ndcg"], ["db", "current"], ["doctor", "conventions", "x"],
    ["gate", "a", "--baseline", "b"], ["explain", "a", "b"], ["import", "x"],
    ["push", "mlflow", "x"], ["push", "wandb", "x"], ["pull", "mlflow", "x"],
]  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_has_help(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for option in ("--help", "-h"):
        assert run([*words, option]) == 0
        printed = capsys.readouterr()
        assert printed.err == ""
        assert printed.out.startswith("Usage: ndcg-track " + " ".join(words))


def test_the_short_help_in_full(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["compare", "-h"]) == 0
    assert (
        capsys.readouterr().out
        == """\
Usage: ndcg-track compare [OPTIONS] BASELINE CANDIDATE...

  Compare runs group by group, with tests and intervals.

Options:
  --dataset NAME          Only look for runs in this dataset.
  -m, --metric METRIC     A metric, such as ndcg@10.
  --judge NAME            The judge whose labels count.
  --by ATTRIBUTE|all      Also compare the slices of this attribute of groups.
  --top N                 How many of the worst and best groups to show.
  --labels VERSION|FILE   Version of the labels: a number, or newest.
  --format text|json|...  How to print the result. (default: text)
  -q, --quiet             Print the first line of a report.
  -v, --verbose           Print all of a report.

Example: ndcg-track compare @baseline dense --by product
All options: ndcg-track compare --help
"""
    )


@pytest.mark.parametrize("words", PRINTING, ids=" ".join)
def test_every_command_that_prints_results_takes_the_four_formats(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*words, "--help"]) == 0
    assert "--format" in capsys.readouterr().out
    assert run([*words, "--format", "yaml"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    for name in ("--format", "text", "json", "markdown", "csv"):
        assert name in printed.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nope"], ["nope"]),
        (["runs", "nope"], ["nope"]),
        (["ingest"], ["FILE"]),
        (["compare", "a"], ["CANDIDATE"]),
        (["compare", "a", "b", "--top", "-1"], ["--top"]),
        (["compare", "a", "b", "--missing", "x"], ["--missing", "intersect"]),
        (["explain", "a"], ["CANDIDATE"]),
        (["explain", "a", "b", "--top", "-1"], ["--top"]),
        (["explain", "a", "b", "--labels-baseline", "x"], ["--labels-baseline"]),
        (["gate"], ["CANDIDATE"]),
        (["gate", "a"], ["--baseline"]),
        (["gate", "a", "--baseline", "b", "--scope", "x"], ["--scope", "population", "set"]),
        (["gate", "a", "--baseline", "b", "--on-inconclusive", "pass"], ["--on-inconclusive is gone: exit code 4"]),
        (["gate", "a", "--baseline", "b", "--strict-slices"], ["--strict-slices is gone: ", "--slice-margin"]),
        (["push", "mlflow"], ["RUN"]),
        (["push", "wandb"], ["RUN"]),
        (["pull", "mlflow"], ["ID"]),
        (["sql"], []),
        (["sql", "SELECT 1", "--timeout", "0"], ["--timeout"]),
        (["ingest", "x", "--dataset"], ["--dataset"]),
        (["ingest", "x", "--nope"], ["--nope"]),
        (["alias", "set", "a"], ["RUN"]),
        (["runs", "list", "extra"], ["extra"]),
        (["--db"], ["--db"]),
        (["runs", "list", "--db"], ["--db"]),
    ],
)
def test_wrong_usage_is_2(
    arguments: list[str], words: list[str], capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    assert run(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert all(word in printed.err for word in words)
    assert "Traceback" not in printed.err
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    "arguments", [[], ["runs"], ["alias"], ["labels"], ["groups"], ["metrics"], ["db"], ["push"], ["pull"], ["suite"]]
)
def test_a_command_that_is_missing_shows_the_help(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    printed = capsys.readouterr()
    assert "Usage: ndcg-track" in printed.out + printed.err


def commands_of(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every command, and every group of them, with the words that call it."""
    yield words, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands_of(inner, (*words, name))


ALL = dict(commands_of(all_commands()))


@pytest.mark.parametrize("words", [words for words, one in ALL.items() if hasattr(one, "commands")], ids=" ".join)
def test_the_line_on_a_command_fits_into_80_columns(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run([*words, "--help"]) == 0
    told = dict(line.split(maxsplit=1) for line in above_options(capsys.readouterr().out))
    assert sorted(told) == sorted(ALL[words].commands)


def above_options(text: str) -> list[str]:
    """Return the lines on commands of a help: those between the example and the options."""
    lines = text.partition("\nExample: ")[2].partition("\nOptions:\n")[0].splitlines()[1:]
    return [line for line in lines if line and not line.endswith(":")]


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_the_short_help_fits_a_screen(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """24 lines of 80 columns, an option or a command in each, with what is required and an example."""
    monkeypatch.setenv("COLUMNS", "80")
    assert run([*words, "-h"]) == 0
    text = capsys.readouterr().out
    lines = text.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert lines[-1].endswith(f" options: {' '.join(('ndcg-track', *words))} --help")
    assert len(re.findall(r"^Example: ndcg-track ", text, re.MULTILINE)) == 1
    heading = next(line for line in lines if line.endswith(":") and " " not in line)
    listed = lines[lines.index(heading) + 1 : lines.index("", lines.index(heading))]
    assert all(re.match(r"  \S.*  \S", line) for line in listed)
    if hasattr(ALL[words], "commands"):
        assert {line.split()[0] for line in listed} <= ALL[words].commands.keys()
        return
    options = [one for one in ALL[words].params if one.param_type_name == "option" and one.name != "brief"]
    shown = {word.strip(",") for line in listed for word in line.split()}
    assert all(shown.intersection(one.opts) for one in options if one.required)
    assert len(listed) in (range(7, 12) if len(options) > 11 else [len(options)])


MOST_OPTIONS = {
    "ingest": 40, "gate": 28, "compare": 24, "leaderboard": 17, "history": 19, "report": 18, "explain": 14,
    "evaluate": 30,
}  # fmt: skip
"""How many options a command may have, with ``--help``, ``--db`` and ``--format`` but without ``-q`` and ``-v``."""


@pytest.mark.parametrize("name", MOST_OPTIONS)
def test_a_command_has_few_options(name: str) -> None:
    """Before you add one: what the data, the policy or the stored run can tell is not asked."""
    detail = ("quiet", "verbose")
    options = [one for one in ALL[(name,)].params if one.param_type_name == "option" and one.name not in detail]
    assert "-h" in {word for one in options for word in one.opts}  # it counts for --help
    assert len(options) <= MOST_OPTIONS[name]


def test_the_help_of_the_program_begins_with_the_commands_of_every_day(capsys: pytest.CaptureFixture[str]) -> None:
    everyday = ["demo", "ingest", "compare", "explain", "check", "gate", "history", "leaderboard", "report", "ui"]
    assert run(["--help"]) == 0
    assert [line.split()[0] for line in above_options(capsys.readouterr().out)][:10] == everyday
    assert run(["-h"]) == 0
    lines = capsys.readouterr().out.partition("\nEveryday:\n")[2].partition("\n\n")[0].splitlines()
    assert [line.split()[0] for line in lines] == everyday


def test_the_help_is_in_groups_and_says_what_each_command_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    text = capsys.readouterr().out
    assert re.findall(r"^(\w+):$", text, re.MULTILINE) == ["Everyday", "Store", "Decide", "Maintain", "Options"]
    for of_heading in COMMANDS_OF_HELP.values():
        for name, (_, line) in of_heading.items():
            assert " ".join(ALL[(name,)].help.split("\n\n")[0].split()) == line


@pytest.mark.parametrize("words", [["gate"], ["labels", "add"], []], ids=" ".join)
def test_help_is_a_command_too(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["help", *words]) == 0
    as_command = capsys.readouterr().out
    assert run([*words, "--help"]) == 0
    assert capsys.readouterr().out == as_command
    assert run(["help", "nope"]) == 2


@pytest.mark.parametrize("words", [words for words in ALL if words], ids=" ".join)
def test_every_help_has_an_example_that_parses_and_no_types(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run([*words, "--help"]) == 0
    text = capsys.readouterr().out
    assert not re.search(r"<\w+|list\[|\bstr\b|\bNone\b", text)
    assert max(map(len, text.splitlines())) <= 80
    (example,) = re.findall(r"^Example: ndcg-track (.*)$", text, re.MULTILINE)
    command, given, parent = all_commands(), shlex.split(example), None
    while hasattr(command, "commands") and given and given[0] in command.commands:
        parent = command.context_class(command, info_name="ndcg-track", parent=parent)
        command, given = command.commands[given[0]], given[1:]
    command.make_context(command.name, given, parent=parent)


def test_long_helps_have_headings(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["gate", "--help"]) == 0
    text = capsys.readouterr().out
    headings = re.findall(r"^(\w+):$", text, re.MULTILINE)
    assert headings == ["Arguments", "What", "Decision", "Statistics", "Slices", "Output", "Options"]
    assert "with --scope set, 0 by default" in " ".join(text.split())
    assert run(["runs", "list", "--help"]) == 0
    assert re.findall(r"^(\w+):$", capsys.readouterr().out, re.MULTILINE) == ["Options"]


@pytest.mark.parametrize("words", [words for words in ALL if words], ids=" ".join)
def test_every_command_takes_the_database_and_the_short_names(words: tuple[str, ...]) -> None:
    """``--db`` behind every command, ``-m`` where there is ``--metric``, ``--qrels`` where ``--labels`` is a file."""
    spelled = {name: parameter for parameter in ALL[words].params for name in parameter.opts}
    assert "--db" in spelled
    if "--metric" in spelled:
        assert "-m" in spelled["--metric"].opts
    if "--labels" in spelled and spelled["--labels"].metavar == "FILE":
        assert "--qrels" in spelled["--labels"].opts


def test_the_database_may_stand_after_the_command(files: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ingest", "bm25.csv", "--qrels", "qrels.txt", "-m", "AP", "--db", "x.db"]) == 0
    said = []
    for arguments in (
        ["runs", "list", "--db", "x.db"],
        ["runs", "--db", "x.db", "list"],
        ["--db", "x.db", "runs", "list"],
        ["runs", "list", "--db=x.db"],
        ["--db", "other.db", "runs", "list", "--db", "x.db"],
    ):
        capsys.readouterr()
        assert run(arguments) == 0
        said.append(capsys.readouterr().out)
    assert "bm25" in said[0]
    assert len(set(said)) == 1
    assert run(["runs", "list"]) == 2
    assert capsys.readouterr().err.startswith("error: ndcg-track.db: the database does not exist")
    assert not Path("other.db").exists()


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"ndcg-track {ndcg_tracker.__version__}\n"


def test_debug_adds_the_traceback_and_keeps_line_and_code(shop: CommandLine) -> None:
    for code, arguments in ((2, ["runs", "show", "nope"]), (5, ["compare", "bm25", "dense", "--metric", "dcg@1"])):
        plain = shop(*arguments)
        debug = shop("--debug", *arguments)
        assert (plain.code, debug.code) == (code, code)
        lines = debug.err.splitlines()
        assert lines[0] == "Traceback (most recent call last):"
        assert lines[-1] == plain.err.rstrip("\n")
        assert debug.out == ""
    assert "Traceback" not in shop("runs", "show", "nope").err


def test_what_nobody_thought_of_is_1_and_one_line(
    sqlite_command: CommandLine, files: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NDCG_TRACK_DB", "x.db")
    monkeypatch.setattr("pathlib.Path.exists", lambda path: 1 / 0)
    printed = sqlite_command("runs", "list")
    debug = sqlite_command("--debug", "runs", "list")
    monkeypatch.undo()
    assert (printed.code, printed.out) == (1, "")
    assert printed.err == (
        "error: unexpected ZeroDivisionError: division by zero; run it again with ndcg-track --debug, and report it\n"
    )
    assert debug.code == 1
    assert debug.err.splitlines()[0] == "Traceback (most recent call last):"
    assert debug.err.splitlines()[-1] == "error: unexpected ZeroDivisionError: division by zero; report it"


def test_the_database_is_given_or_named_by_the_environment_or_here(
    files: None, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ingest = ["ingest", "bm25.csv", "--labels", "labels.csv"]
    assert run(ingest) == 0
    monkeypatch.setenv("NDCG_TRACK_DB", "named.db")
    assert run([*ingest, "--name", "named"]) == 0
    assert run(["--db", "given.db", *ingest, "--name", "given"]) == 0
    assert sorted(path.name for path in folder.glob("*.db")) == ["given.db", "named.db", "ndcg-track.db"]
    for arguments, name in ((["--db", "ndcg-track.db"], "bm25"), ([], "named"), (["--db", "given.db"], "given")):
        capsys.readouterr()
        assert run([*arguments, "runs", "list", "--format", "json"]) == 0
        assert [row["run"] for row in json.loads(capsys.readouterr().out)] == [name]


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("compare", "a", "b", "--cluster", "kind", "--cluster", "kind"), "--cluster"),
        (("gate", "b", "--baseline", "a", "--margin", "0.1", "--margin=0.1"), "--margin"),
        (("ingest", "x.csv", "--dataset", "one", "--dataset", "two"), "--dataset"),
        (("runs", "list", "--top", "1", "--top", "2"), "--top"),
        (("sql", "--db", "one.db", "SELECT 1", "--db", "two.db"), "--db"),
    ],
)
def test_an_option_that_counts_once_is_not_given_twice(
    words: tuple[str, ...], option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words) == 2
    assert capsys.readouterr() == ("", f"error: {option} is given twice; give it once\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["gate"],
            "error: missing: CANDIDATE; for example: ndcg-track gate dense --baseline @baseline --margin 0.01",
        ),
        (
            ["labels", "sample", "bm25"],
            "error: missing: CANDIDATE, --budget; for example: ndcg-track labels sample bm25 dense --judge gpt "
            "--budget 400 -o ask.csv",
        ),
    ],
)
def test_all_that_is_missing_is_named_with_an_example(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    assert run(arguments) == 2
    assert capsys.readouterr().err == said + "\n"


def test_a_wrong_choice_is_refused_in_the_words_of_the_help(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert run(["compare", "bm25", "dense", "--test", "foo"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "Usage: ndcg-track compare [OPTIONS] BASELINE CANDIDATE..."
    assert "'--test'" in lines[-1]
    assert "'foo' is not one of" in lines[-1]
    assert "Value error" not in lines[-1]


@pytest.mark.parametrize(
    ("former", "now"),
    [
        ("suite show", "leaderboard --suite NAME"),
        ("suite compare", "compare --suite NAME"),
        ("suite gate", "gate --suite NAME"),
        ("suite report", "report --suite NAME"),
        ("plot suite", "plot compare --suite NAME"),
        ("plot training", "plot history --tag training=NAME --tag stage=iteration"),
        ("plot runs", "leaderboard --measure PARAMETER"),
    ],
)
def test_a_command_that_went_names_the_way_that_remains(
    former: str, now: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*former.split(), "all"]) == 2
    assert capsys.readouterr().err == f"error: there is no command {former!r}; use: ndcg-track {now}\n"
