"""How much memory a stream takes, in a process of its own; the figures are bytes, so no clock decides."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys

def peak():
    for line in open("/proc/self/status"):  # unlike getrusage this forgets the process that started this one
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024

import io

from ndcg_tracker.ingest.reading import read_run, stream_run

way, path = sys.argv[1:]
warm = b"q Q0 d 1 1 t\\n" + b"r Q0 d 1 1 " + b"t" * (1 << 22) + b"\\n"
list(stream_run("-", reader="trec", stdin=io.BytesIO(warm)))
before, n_items = peak(), 0
stdin = sys.stdin.buffer if path == "-" else None
tables = [read_run(path)] if way == "whole" else stream_run(path, reader="trec", stdin=stdin, block_rows=1 << 16)
for table in tables:
    n_items += table.ranking.n_items
print(n_items, peak() - before)
"""
N_GROUPS, N_ITEMS = 3_000, 1_000


def peak_of(way: str, path: str, stdin: Path | None = None) -> int:
    """Return by how many bytes reading a run raises the peak of a process, its imports left aside."""
    with (stdin or Path("/dev/null")).open("rb") as file:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, way, path], stdin=file, capture_output=True, text=True, check=True
        )
    n_items, peak = map(int, done.stdout.split())
    assert n_items == N_GROUPS * N_ITEMS
    return peak


@pytest.mark.nightly
def test_a_stream_takes_the_memory_of_its_blocks(tmp_path: Path) -> None:
    path = tmp_path / "large.run"
    items = [b" Q0 D%07d %d %d.25 tag\n" % (item * 7919 % 10_000_019, item, N_ITEMS - item) for item in range(N_ITEMS)]
    with path.open("wb") as file:
        for group in range(N_GROUPS):
            name = b"query-%d" % group
            file.write(b"".join(name + item for item in items))
    size = path.stat().st_size
    whole, streamed, piped = peak_of("whole", str(path)), peak_of("stream", str(path)), peak_of("stream", "-", path)
    path.unlink()
    assert size > 100_000_000
    assert whole > 1.4 * size
    assert max(streamed, piped) < whole / 2
