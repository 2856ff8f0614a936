"""The real program: exit codes, standard input, terminals, and readers that go away."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import Program
from small_shop import BM25, LABELS, frame_of, labels_frame, write_csv
from thorough import LONG

from ndcg_tracker import __version__


def columns(frame: dict[str, list[object]]) -> bytes:
    rows = [",".join(frame), *(",".join(map(str, row)) for row in zip(*frame.values(), strict=True))]
    return ("\n".join(rows) + "\n").encode()


@pytest.fixture
def shop(program: Program, files: None) -> Program:
    """The program in a folder whose database has the runs bm25 and dense."""
    assert program("ingest", "bm25.csv", "dense.run", "--labels", "labels.csv").code == 0
    return program


def test_the_exit_codes(shop: Program) -> None:
    done = shop.cold("compare", "bm25", "dense")
    assert (done.code, done.err) == (0, "")
    for code, arguments in {
        2: ["compare", "bm25", "nope"],
        5: ["compare", "bm25", "dense", "--metric", "dcg@1"],
    }.items():
        printed = shop(*arguments)
        assert (printed.code, printed.out) == (code, "")
        assert printed.err.startswith("error: ")
        debug = shop("--debug", *arguments)
        assert debug.code == code
        assert debug.err.startswith("Traceback (most recent call last):\n")
        assert debug.err.endswith(printed.err)
    assert shop.cold("nope").code == 2
    assert shop("--version").code == 0


def test_what_was_named_on_standard_error_can_be_typed(shop: Program) -> None:
    message = shop("compare", "bm25", "dense", "--metric", "ndcg(gain=exp2)@3").err
    typed = message.rstrip("\n").partition("; type: ")[2].replace("ndcg-track", '"$@"', 1)
    words = shop.words()
    done = subprocess.run(["sh", "-c", typed, "sh", *words], cwd=shop.folder, env=shop.environment(), check=False)
    assert done.returncode == 0
    assert shop("compare", "bm25", "dense", "--metric", "ndcg(gain=exp2)@3").code == 0


def test_what_goes_into_a_file_is_utf8_whatever_the_locale(program: Program) -> None:
    run = "group,item,score\n中文,löcal,1\n".encode()
    labels = "group,item,label\n中文,löcal,1\n".encode()
    (program.folder / "labels.csv").write_bytes(labels)
    elsewhere = {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    stored = program.cold("ingest", "-", "--name", "a", "--labels", "labels.csv", given=run, variables=elsewhere)
    assert stored.code == 0, stored.err
    listed = program.cold("show", "a", "--format", "json", variables=elsewhere).out
    assert json.loads(listed)["hardest"][0]["group"] == "中文"
    assert "中文" in listed


def test_standard_input(program: Program, files: None) -> None:
    run, labels = columns(frame_of(BM25)), columns(labels_frame())
    added = program("labels", "add", "-", given=labels)
    assert (added.code, added.err) == (0, "stored as version 1 of dataset 'default': 8 labels\n")
    stored = program("ingest", "-", "--name", "piped", "--format", "json", given=run)
    assert (stored.code, json.loads(stored.out)[0]["outcome"]) == (0, "stored")
    again = program("ingest", "bm25.csv", "--name", "piped", "--format", "json")
    assert json.loads(again.out)[0]["outcome"] == "already stored"
    evaluated = program.cold("evaluate", "-", "--labels", "labels.csv", "--format", "json", given=run)
    (row,) = json.loads(evaluated.out)
    assert (row["run"], row["mean"]) == ("-", json.loads(stored.out)[0]["mean"])
    asked = program("sql", "-", "--format", "csv", given=b"SELECT run FROM run_summary")
    assert asked.out.split() == ["run", "piped"]


@pytest.mark.nightly(but=2)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [["runs", "list"], ["sql", "SELECT * FROM items, items b, items c"], ["--version"]])
def test_an_output_that_is_full(shop: Program, words: list[str], unbuffered: str) -> None:
    variables = shop.environment() | {"PYTHONUNBUFFERED": unbuffered}
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*shop.words(), *words], cwd=shop.folder, env=variables, stdout=full, stderr=subprocess.PIPE, check=False
        )
    told = b"error: the disk is full; free some space and run the same command again\n"
    assert (done.returncode, done.stderr) == (2, told)


def test_bad_standard_input(program: Program, files: None) -> None:
    empty = program("ingest", "-", "--name", "x", "--labels", "labels.csv")
    assert (empty.code, empty.err) == (2, "error: <stdin>: is empty; give a file that has rows\n")
    bad = program("ingest", "-", "--name", "x", "--labels", "labels.csv", given=b"group,item,score\nq,a,1\nq,a,2\n")
    assert (bad.code, bad.err) == (
        2,
        "error: <stdin>:3: item 'a' of group 'q' is in line 2 already; keep one of the two, or give "
        "--allow duplicates:first or --allow duplicates:best\n",
    )


def test_the_environment_names_the_database(program: Program, files: None) -> None:
    variables = {"NDCG_TRACK_DB": "sqlite:///named.db"}
    assert program("ingest", "bm25.csv", "--labels", "labels.csv", variables=variables).code == 0
    assert [path.name for path in program.folder.glob("*.db")] == ["named.db"]
    assert "bm25" in program("runs", "list", variables=variables).out
    assert program("runs", "list").code == 2
    assert "bm25" in program("--db", "named.db", "runs", "list", variables={"NDCG_TRACK_DB": "nowhere.db"}).out


def on_a_terminal(program: Program, *arguments: str, **variables: str) -> str:
    """Run the program with a terminal as its standard output and return what it shows."""
    reader, writer = os.openpty()
    process = program.start(*arguments, variables=variables, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    shown = b""
    while True:
        try:
            part = os.read(reader, 65536)
        except OSError:  # Linux: the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(reader)
    assert process.communicate()[1] == b""
    assert process.returncode == 0
    return shown.decode()


def test_colour_is_for_terminals_without_no_color(shop: Program) -> None:
    compare = ["compare", "bm25", "dense"]
    assert "\x1b[" in on_a_terminal(shop, *compare)
    plain = shop(*compare).out
    assert "\x1b" not in plain
    for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert on_a_terminal(shop, *compare, **variables).replace("\r\n", "\n") == plain
    assert "\x1b" in on_a_terminal(shop, *compare, NO_COLOR="")
    assert "\x1b" not in on_a_terminal(shop, *compare, "--format", "json")


def test_progress_is_for_terminals(program: Program, files: None) -> None:
    ingest = ["ingest", "bm25.csv", "--labels", "labels.csv", "--format", "json"]
    reader, writer = os.openpty()
    process = program.start(*ingest, stdout=subprocess.PIPE, stderr=writer)
    os.close(writer)
    out, _ = process.communicate()
    drawn = os.read(reader, 65536)
    os.close(reader)
    assert process.returncode == 0
    assert b"\x1b[K" in drawn
    assert json.loads(out)[0]["run"] == "bm25"
    assert program(*ingest).err == ""


def closed_pipe(program: Program, *arguments: str, buffered: bool) -> tuple[int, bytes]:
    """Run the program with a standard output that nobody reads; return the exit code and standard error."""
    reader, writer = os.pipe()
    os.close(reader)
    variables = {} if buffered else {"PYTHONUNBUFFERED": "1"}
    process = program.start(*arguments, variables=variables, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    _, err = process.communicate()
    return process.returncode, err


@pytest.mark.parametrize("buffered", [True, False])
def test_a_reader_that_has_seen_enough_is_no_error(shop: Program, buffered: bool) -> None:
    many = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 30000) SELECT x FROM n"
    commands = (["sql", many], ["--version"], ["runs", "list"], ["compare", "bm25", "dense"], ["--help"], ["demo"])
    for number, arguments in enumerate(commands if buffered else commands[:2]):
        cold = number == int(buffered) or LONG  # one of many parts, and one that ends at once
        assert closed_pipe(shop.cold if cold else shop, *arguments, buffered=buffered) == (0, b"")


@pytest.mark.nightly
def test_what_was_stored_stays_though_nobody_reads_of_it(program: Program, files: None) -> None:
    assert closed_pipe(program.cold, "ingest", "bm25.csv", "--labels", "labels.csv", buffered=True) == (0, b"")
    assert "bm25" in program("runs", "list").out


@pytest.mark.nightly
def test_an_error_keeps_its_code_though_nobody_reads_of_it(shop: Program) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = shop.cold.start("runs", "show", "nope", stdout=subprocess.DEVNULL, stderr=writer)
    os.close(writer)
    assert process.wait() == 2


def test_an_output_that_cannot_hold_every_letter(shop: Program) -> None:
    ascii_only = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "NO_COLOR": "1"}
    assert on_a_terminal(shop.cold, "history", **ascii_only).startswith("ndcg@10  \\u2588\\u2581\r\n")
    printed = shop.cold("history", variables=ascii_only)  # a pipe holds every letter
    assert (printed.code, printed.err) == (0, "")
    assert printed.out.startswith("ndcg@10  █▁\n")


@pytest.mark.nightly
def test_files_with_any_letters_are_the_same_in_every_locale(program: Program, files: None) -> None:
    labels = {**LABELS, "größe 検索": {"ä": 1.0}}
    write_csv(program.folder / "all.csv", labels_frame(labels))
    write_csv(program.folder / "letters.csv", frame_of({**BM25, "größe 検索": {"ä": 1.0}}))
    variables = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    assert program.cold("ingest", "letters.csv", "--labels", "all.csv", variables=variables).code == 0
    found = program("sql", "SELECT group_key FROM items WHERE item_key <> 'a' ORDER BY group_key", "--format", "json")
    assert {"group_key": "größe 検索"} in json.loads(found.out)


@pytest.mark.parametrize("closed", ["2>&-", "2>/dev/null"])
def test_a_closed_standard_error_is_no_failure(closed: str) -> None:
    program = 'exec "$0" -c "from ndcg_tracker.cli.app import main; main()" --version ' + closed
    done = subprocess.run(["sh", "-c", program, sys.executable], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"ndcg-track {__version__}\n")


def test_a_closed_standard_output_is_no_failure() -> None:
    program = 'exec "$0" -c "from ndcg_tracker.cli.app import main; main()" metrics list >&-'
    done = subprocess.run(["sh", "-c", program, sys.executable], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_what_is_registered_for_the_end_is_done() -> None:
    program = "import atexit, sys; atexit.register(print, 'the end'); from ndcg_tracker.cli.app import main; main()"
    done = subprocess.run([sys.executable, "-c", program, "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1], done.stderr) == (0, "the end", "")


def test_the_start_imports_nothing_heavy() -> None:
    heavy = {"numpy", "pandas", "pyarrow", "sqlalchemy", "scipy", "alembic", "psycopg", "rich", "sqlite3"}
    commands = ["--help"], ["--version"], ["ingest", "--help"], ["compare", "--help"], ["runs", "--help"], ["nope"]
    program = (
        "import sys; from ndcg_tracker.cli.app import run\n"
        f"for words in {commands!r}: run(words); print('after', *words, *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    found = [line.split() for line in done.stdout.splitlines() if line.startswith("after ")]
    assert len(found) == len(commands)
    assert [words for words in found if heavy & set(words)] == []


@pytest.mark.nightly(but=4)
@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [
        (["compare", "bm25", "dense"], {"pandas", "pyarrow", "scipy.stats", "alembic"}),
        (["history"], {"pandas", "pyarrow", "scipy.stats", "alembic"}),
        (["sql", "SELECT 1"], {"pandas", "pyarrow", "scipy", "alembic"}),
        (["runs", "list"], {"pandas", "pyarrow", "scipy", "alembic"}),
        (["metrics", "list"], {"pandas", "pyarrow", "scipy", "sqlalchemy"}),
        (["ingest", "bm25.csv"], {"pandas", "scipy", "alembic"}),
        (["evaluate", "bm25.csv", "--labels", "labels.csv"], {"pandas", "pyarrow", "scipy", "sqlalchemy"}),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_command_imports_what_it_needs(shop: Program, arguments: list[str], heavy: set[str]) -> None:
    program = f"import sys; from ndcg_tracker.cli.app import run; assert run({arguments!r}) == 0; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=shop.folder,
        env=shop.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert heavy & set(done.stdout.splitlines()[-1].split()) == set()
