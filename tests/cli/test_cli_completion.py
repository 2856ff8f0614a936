"""What a shell offers: commands, options, and names from the database, wherever ``--db`` stands; never an error."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import CommandLine, Program

from ndcg_tracker.cli.app import command_line
from ndcg_tracker.cli.completion import SCRIPTS, answers, as_bash_inserts
from ndcg_tracker.storage.completion import names_to_complete

RUNS = ["dense", "bm25"]  # the newest first


@pytest.fixture
def named(
    fill_as: Callable[[Callable[[str], object]], None],
    command: CommandLine,
    files: None,
    capsys: pytest.CaptureFixture[str],
) -> CommandLine:
    """The shop with an alias, and a second dataset whose one run has another metric."""

    def fill(url: str) -> None:
        into, labels = CommandLine(url, capsys), ("--labels", "labels.csv")
        into.done("ingest", "bm25.csv", "dense.run", *labels, "--dataset", "shop")
        into.said("alias", "set", "prod", "bm25")
        into.done("ingest", "bm25.csv", "--name", "best one", *labels, "--dataset", "books", "-m", "AP")
        into.said("groups", "set", "groups.csv", "--dataset", "books")
        into.said("groups", "set", "devices.csv", "--dataset", "shop")
        into.said("labels", "add", "labels.csv", "--dataset", "shop", "--judge", "ann")

    Path("groups.csv").write_text("group,kind\nq1,a\n", encoding="utf-8")
    Path("devices.csv").write_text("group,device\nq1,a\n", encoding="utf-8")
    fill_as(fill)
    return command


def offered(line: str, rest: str = "") -> list[str]:
    return list(answers(command_line(), line, line + rest))


@pytest.mark.nightly(but=8)
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("compare ", ["@prod", "best one", "dense", "bm25", "latest"]),
        ("compare bm25 d", ["dense"]),
        ("compare bm25 dense d", ["dense"]),
        ("gate dense --baseline @", ["@prod"]),
        ("gate dense --baseline ", ["@prod", "best one", "dense", "bm25", "latest"]),
        ("alias delete ", ["@prod"]),
        ("runs show b", ["best one", "bm25"]),
        ("runs show --dataset shop b", ["bm25"]),
        ("history --dataset ", ["books", "shop"]),
        ("history -m ", ["ndcg@10", "AP"]),
        ("compare bm25 dense --metric n", ["ndcg@10"]),
        ("compare bm25 dense --by ", ["device", "kind"]),
        ("gate dense --baseline bm25 --dataset shop --cluster ", ["device"]),
        ("compare bm25 dense --dataset books --by ", ["kind"]),
        ("explain bm25 dense --group ", ["q1", "q2", "q3", "q4", "q5"]),
        ("explain bm25 dense --group q2", ["q2"]),
        ("texts list --dataset books --group q5", ["q5"]),
        ("ingest more.csv --group ", []),
        ("history --judge ", ["ann"]),
        ("labels agreement ", ["ann"]),
        ("compare bm25 dense --judge ann --check-with ", ["ann"]),
        ("labels list --dataset ", ["books", "shop"]),
    ],
)
def test_names_come_from_the_database(named: CommandLine, line: str, expected: list[str]) -> None:
    assert offered(f"ndcg-track --db {named.url} {line}") == expected
    assert offered(f"ndcg-track --db={named.url} {line}") == expected
    assert offered(f"ndcg-track {line}", f" --db {named.url}") == expected
    assert offered(f"ndcg-track {line}", f" --db={named.url}") == expected


def test_the_variable_names_the_database(named: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NDCG_TRACK_DB", named.url)
    assert offered("ndcg-track explain bm25 d") == ["dense"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ndcg-track ru", ["runs"]),
        ("ndcg-track runs re", ["rename"]),
        ("ndcg-track help runs re", ["rename"]),
        ("ndcg-track compare --mi", ["--missing"]),
        ("ndcg-track compare --missing z", ["zero"]),
        ("ndcg-track compare 'a run", []),
        ("ndcg-track compare ", ["latest"]),
    ],
)
def test_words_need_no_database(folder: Path, line: str, expected: list[str]) -> None:
    assert offered(line) == expected
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    "location", ["nothing.db", ".", "postgresql://127.0.0.1:1/x", "text.txt", "sqlite:///nothing.db", "", "a\0b"]
)
def test_a_database_that_cannot_be_read_is_silent(folder: Path, location: str) -> None:
    Path("text.txt").write_text("no database " * 100)
    assert names_to_complete(location, ["runs", "aliases", "datasets", "metrics"]) == []
    assert [path.name for path in folder.iterdir()] == ["text.txt"]


def test_a_path_of_any_name_is_read(folder: Path, files: None, capsys: pytest.CaptureFixture[str]) -> None:
    command = CommandLine("my shop?#%41.db", capsys)
    command.done("ingest", "bm25.csv", "--labels", "labels.csv")
    assert names_to_complete("my shop?#%41.db", ["runs"]) == ["bm25"]


def test_what_bash_puts_in() -> None:
    assert as_bash_inserts(["@prod", "ndcg(gain=exp2)@10"], "", "@:=") == ["@prod", r"ndcg\(gain=exp2\)@10"]
    assert as_bash_inserts(["@prod"], "@p", "@:=") == ["prod"]
    assert as_bash_inserts(["@prod"], "@p", ":=") == ["@prod"]
    assert as_bash_inserts(["lightgbm:ndcg@10"], "lightgbm:nd", "@:=") == ["ndcg@10"]


@pytest.mark.nightly
def test_bash_completes(named: CommandLine, program: Program, folder: Path) -> None:
    """The script as bash runs it: the function is called with what readline gives it."""
    (folder / "ndcg-track").write_text(
        f"#!{sys.executable}\nimport sys\nfrom ndcg_tracker.cli.app import main\nmain()\n"
    )
    (folder / "ndcg-track").chmod(0o755)
    line = f"ndcg-track gate dense --db {named.url} --baseline @p"
    script = (
        f"{SCRIPTS['bash']}\nCOMP_LINE={line!r} COMP_POINT={len(line)} COMP_WORDBREAKS=' @:='\n"
        "_ndcg_track ./ndcg-track\nprintf '<%s>' \"${COMPREPLY[@]}\"\n"
    )
    found = subprocess.run(
        ["bash", "--norc", "-c", script], capture_output=True, text=True, check=True, env=program.environment()
    )
    assert (found.stdout, found.stderr) == ("<prod>", "")


@pytest.mark.nightly
def test_the_scripts_are_shown_and_installed(program: Program, folder: Path) -> None:
    home = folder / "home"
    home.mkdir()
    for shell, script, startup in (
        ("bash", ".bash_completions/ndcg-track.sh", ".bashrc"),
        ("zsh", ".zfunc/_ndcg-track", ".zshrc"),
        ("fish", ".config/fish/completions/ndcg-track.fish", None),
    ):
        variables = {"SHELL": f"/usr/bin/{shell}", "HOME": str(home)}
        assert program("--show-completion", variables=variables).out == SCRIPTS[shell]
        for _ in range(2):
            printed = program("--install-completion", variables=variables)
            assert (printed.code, printed.out) == (0, "")
            assert printed.err.startswith(f"wrote {home / script}\n")
        assert (home / script).read_text() == SCRIPTS[shell]
        if startup is not None:
            assert len((home / startup).read_text().splitlines()) == 1
    printed = program("--install-completion", variables={"SHELL": "/bin/tcsh", "HOME": str(home)})
    assert printed.err == "error: there is no completion for SHELL 'tcsh'; set SHELL to one of bash, zsh, fish\n"
    assert printed.code == 2


def test_whatever_goes_wrong_is_silent(program: Program) -> None:
    variables = {"_NDCG_TRACK_COMPLETE": "bash", "COMP_LINE": "ndcg-track runs ", "COMP_POINT": "x"}
    printed = program.cold(variables=variables)
    assert (printed.code, printed.out, printed.err) == (0, "", "")


def test_completing_imports_neither_sqlalchemy_nor_pandas(named: CommandLine, program: Program) -> None:
    line = f"ndcg-track --db {named.url} runs show b"
    code = (
        "import sys\nfrom ndcg_tracker.cli.app import command_line\n"
        "from ndcg_tracker.cli.completion import answers\n"
        f"assert list(answers(command_line(), {line!r}, {line!r})) == ['best one', 'bm25']\n"
        "print(*sorted({'sqlalchemy', 'pandas', 'numpy', 'pyarrow', 'alembic'} & sys.modules.keys()))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=program.environment())
    assert (found.stdout, found.stderr) == ("\n", "")
