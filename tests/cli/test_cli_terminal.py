"""What commands print on a terminal of 80 columns: prose wraps, tables fit but for those named here; pipes as ever."""

import fcntl
import os
import re
import shlex
import struct
import subprocess
import termios
from pathlib import Path

import pytest
from command_line import CommandLine, Program
from thorough import LONG

from ndcg_tracker.cli.demo import write_demo_files

COLUMNS = 80
LABELS = ("--labels", "demo/labels.csv")
WIDE = {
    "metrics list": "an example of CatBoost's notation that has no blank",
    "sql 'SELECT * FROM run_summary'": "columns as the query names them, cells as they are",
    "groups list": "attributes have columns of their own, as many as people give",
}
"""Tables that may be wider, and why."""
PRINTING = [
    f"ingest demo/bm25.csv demo/bm25-synonyms.csv {' '.join(LABELS)} --dataset shop",
    f"evaluate demo/bm25.csv {' '.join(LABELS)} -m ndcg@10 -m map",
    f"evaluate demo/bm25.csv {' '.join(LABELS)} --by product --groups demo/groups.csv",
    "compare bm25 dense",
    "compare bm25 dense --top 3 --by product",
    "compare bm25 dense bm25-synonyms",
    "compare bm25 dense --tie-bounds --equivalence .05 --ci bootstrap",
    "compare dense dense-int8 --top 0",
    "compare bm25 dense --labels all",
    "explain bm25 dense",
    "explain bm25 dense --group 'light bike light'",
    "gate dense --baseline @baseline --margin .01 --dry-run",
    "gate dense --baseline @baseline --margin .001 --dry-run",
    "gate bm25 --baseline dense --margin .01 --dry-run --by product --slice-margin .05",
    "gate dense --baseline bm25 --scope set --dry-run",
    "gate dense --baseline bm25",
    "history",
    "leaderboard",
    "diff bm25 dense",
    "plan bm25 dense",
    "reproduce bm25 dense",
    "show dense --by product",
    "rescore dense -m map -m P@5",
    "runs list",
    "runs list -m ndcg@10",
    "runs prune --older-than 2100-01-01",
    "alias list",
    "labels list",
    "labels diff 1 1",
    "labels needed bm25 dense --budget 3",
    "groups list",
    "metrics list",
    "metrics explain xgboost:ndcg@10",
    "metrics explain nope",
    "sql 'SELECT * FROM run_summary'",
    "db current",
    "db check",
    "doctor",
    "doctor conventions dense",
    "suite create all shop",
    "suite list",
    "leaderboard --suite all",
    "history --metric nope",
    "compare bm25 nope",
    "help gate",
    "help",
]


def on_terminal(program: Program, folder: Path, words: str, **variables: str) -> str:
    """Return what the program prints on a terminal, standard error included."""
    assert program.programs is not None
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    started = subprocess.Popen(
        [str(program.programs / "ndcg-track"), *shlex.split(words)],
        cwd=folder,
        env=program.environment() | {"TERM": "xterm"} | variables,
        stdin=slave,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    printed = b""
    try:
        while read := os.read(master, 1 << 16):
            printed += read
    except OSError:  # nobody has the other end any more
        pass
    finally:
        os.close(master)
        started.wait()
    return printed.decode().replace("\r\n", "\n")


def plain(text: str) -> list[str]:
    """Return the lines of a text without colours and without what was drawn and wiped away."""
    return re.sub(r"[^\n]*\r\x1b\[K|\x1b\[[0-9;]*[mK]", "", text).splitlines()


@pytest.fixture
def demo(folder: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A folder with the files of the demo and its database."""
    write_demo_files(folder / "demo")
    command, files = CommandLine("ndcg-track.db", capsys), sorted((folder / "demo").glob("[bd]*.csv"))
    command.done("ingest", *map(str, files), *LABELS, "--dataset", "shop")
    command.said("groups", "set", "demo/groups.csv")
    command.said("alias", "set", "baseline", "bm25")
    return folder


def test_every_command_fits_80_columns(demo: Path, program: Program) -> None:
    """Commands that are printed to be copied stay whole, on lines of their own."""
    too_wide = {}
    for words in PRINTING[:: 1 if LONG else 4]:
        lines = plain(on_terminal(program, demo, words))
        assert lines or words.startswith("rescore"), words
        wide = [line for line in lines if len(line) > COLUMNS and not line.lstrip().startswith("ndcg-track ")]
        if wide and words not in WIDE:
            too_wide[words] = wide
    assert not too_wide


def test_a_pipe_gets_one_line_per_message_and_no_colour(demo: Path, program: Program) -> None:
    refused = program("gate", "dense", "--baseline", "bm25")
    assert refused.err.count("\n") == 1
    assert len(refused.err) > COLUMNS
    assert "\x1b" in on_terminal(program, demo, "compare bm25 dense")
    for bare in (
        on_terminal(program, demo, "compare bm25 dense", NO_COLOR="1"),
        program("compare", "bm25", "dense").out,
    ):
        assert "\x1b" not in bare
    wide = program("leaderboard", "-q").out.rstrip("\n")
    assert len(wide) > COLUMNS
    assert wide == " ".join(plain(on_terminal(program, demo, "leaderboard"))[:2])
