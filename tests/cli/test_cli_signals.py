"""SIGINT and SIGTERM in the middle of an ingest: nothing is stored half-way, and the same command again stores it."""

import fcntl
import signal
import subprocess
import sys
import termios
import time
from contextlib import suppress
from pathlib import Path

import pytest
from command_line import CommandLine, Program
from stored_rows import row_counts

SIGNALS = [signal.SIGINT, signal.SIGTERM]
N_GROUPS = 500
# Sends a signal to itself where a function of ours is called, so that the moment is no matter of chance.
SIGNALLED = """
import os, signal, sys
from ndcg_tracker.cli.app import main

place, number = sys.argv.pop(1), int(sys.argv.pop(1))

def watch(frame, event, argument):
    if event == "call" and place in (frame.f_code.co_name, frame.f_code.co_qualname):
        sys.setprofile(None)
        os.kill(os.getpid(), number)

sys.setprofile(watch)
main()
"""
# Both at one moment, as from a terminal and from who started the program: Python sees them together.
SIGNALLED_TWICE = SIGNALLED.replace("import os", "import threading, os").replace(
    "        os.kill(os.getpid(), number)\n",
    """        both = [signal.SIGINT, signal.SIGTERM]
        signal.pthread_sigmask(signal.SIG_BLOCK, both)
        for each in both:
            signal.pthread_kill(threading.get_ident(), each)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, both)
""",
)
MOMENTS = [
    ("ranked_table", signal.SIGINT),
    ("DatasetWrites.ensure", signal.SIGTERM),
    ("LabelWrites.insert", signal.SIGINT),
    ("RunWrites.append", signal.SIGTERM),
    ("insert_results", signal.SIGINT),
    ("check_written", signal.SIGTERM),
]


def lines_of(n_groups: int) -> list[str]:
    return [f"q{group},i{item},{item % 7}" for group in range(n_groups) for item in range(20)]


@pytest.fixture
def large(folder: Path) -> None:
    """``run.csv`` and ``labels.csv`` with 10,000 rows each, in the folder."""
    lines = "\n".join(lines_of(N_GROUPS))
    (folder / "run.csv").write_text(f"group,item,score\n{lines}\n", encoding="utf-8")
    (folder / "labels.csv").write_text(f"group,item,label\n{lines}\n", encoding="utf-8")


def unread(pipe: int) -> int:
    """Return how many bytes of a pipe nobody has read yet."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


def assert_nothing_stored(url: str) -> None:
    counts = row_counts(url)
    assert {name for name, count in counts.items() if count} <= {"ndcg_tracker_version"}


@pytest.mark.parametrize(("place", "number"), MOMENTS)
@pytest.mark.nightly(but=2)
def test_a_signal_within_an_ingest(
    command: CommandLine, program: Program, large: None, place: str, number: signal.Signals
) -> None:
    ingest = ["--db", command.url, "ingest", "run.csv", "--labels", "labels.csv"]
    stopped = subprocess.run(
        [program.python, "-c", SIGNALLED, place, str(int(number)), *ingest],
        cwd=program.folder,
        env=program.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (stopped.returncode, stopped.stdout) == (128 + number, "")
    assert stopped.stderr == "stopped; nothing is half done\n"
    assert_nothing_stored(command.url)
    assert command.rows("ingest", "run.csv", "--labels", "labels.csv")[0]["outcome"] == "stored"
    assert command.rows("ingest", "run.csv", "--labels", "labels.csv")[0]["outcome"] == "already stored"
    assert len(command.rows("runs", "list")) == 1
    assert command.said("db", "check").startswith("the database is intact: ")


def test_two_signals_at_once_are_one(command: CommandLine, program: Program, large: None) -> None:
    stopped = subprocess.run(
        [program.cold.python, "-c", SIGNALLED_TWICE, "ranked_table", "0", "--db", command.url, "ingest", "run.csv"],
        cwd=program.folder,
        env=program.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (stopped.returncode, stopped.stdout, stopped.stderr) == (130, "", "stopped; nothing is half done\n")
    assert_nothing_stored(command.url)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_from_outside_while_a_run_is_read(
    command: CommandLine, program: Program, large: None, number: signal.Signals
) -> None:
    process = program.cold.start(
        "--db", command.url, "ingest", "-", "--name", "piped", "--labels", "labels.csv",
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    content = "group,item,score\n" + "\n".join(lines_of(N_GROUPS))
    process.stdin.write(content.encode())  # more than a pipe holds: when it is written, the program is reading
    process.stdin.flush()
    while unread(process.stdin.fileno()):
        time.sleep(0.01)
    ended = None
    while ended is None:
        process.send_signal(number)  # one that comes just before a read waits for the end of that read: once more
        with suppress(subprocess.TimeoutExpired):
            ended = process.wait(timeout=5)
    out, err = process.communicate()
    assert ended == 128 + number
    assert (out, err) == (b"", b"stopped; nothing is half done\n")
    assert_nothing_stored(command.url)


def test_files_that_were_stored_before_the_signal_stay(
    command: CommandLine, program: Program, files: None, folder: Path
) -> None:
    command.done("ingest", "bm25.csv", "--labels", "labels.csv")
    before = row_counts(command.url)
    stopped = subprocess.run(
        [
            program.python,
            "-c",
            SIGNALLED,
            "insert_results",
            "15",
            "--db",
            command.url,
            "ingest",
            "bm25.csv",
            "dense.run",
        ],
        cwd=program.folder,
        env=program.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert stopped.returncode == 143
    assert row_counts(command.url) == before
    assert [row["outcome"] for row in command.rows("ingest", "bm25.csv", "dense.run")] == ["already stored", "stored"]
