"""Which way a command reads a file: block by block, or at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from ndcg_tracker.cli.reading import in_blocks_or_whole
from ndcg_tracker.ingest import Columns, RankedTable, RunStream
from ndcg_tracker.ingest.streaming import BLOCK_ROWS, BYTES_PER_ROW


def way(path: Path, stream: bool | None) -> str:
    """Return how a file is read in the end, and how many items come."""

    def of_blocks(blocks: RunStream) -> str:
        return f"blocks of {sum(block.ranking.n_items for block in blocks)}"

    def of_table(table: RankedTable) -> str:
        return f"a table of {table.ranking.n_items}"

    return in_blocks_or_whole(
        str(path), stream=stream, reader="trec", columns=Columns(), scores=None, of_blocks=of_blocks, of_table=of_table
    )


def run_file(path: Path, tag: bytes, n_groups: int, *, again: bool = False) -> Path:
    lines = [b"q%d Q0 d%d 1 %d %s\n" % (group, item, -item, tag) for group in range(n_groups) for item in range(100)]
    path.write_bytes(b"".join(lines) + (b"q0 Q0 last 1 5 x\n" if again else b""))
    return path


@pytest.mark.parametrize(("again", "default"), [(False, "blocks of 20000"), (True, "a table of 20001")])
def test_a_large_file_comes_in_blocks_where_its_groups_stand_together(
    tmp_path: Path, again: bool, default: str
) -> None:
    path = run_file(tmp_path / "large.run", b"t" * 2000, 200, again=again)
    assert path.stat().st_size > BLOCK_ROWS * BYTES_PER_ROW
    assert way(path, None) == default
    assert way(path, False) == f"a table of {20_000 + again}"


def test_a_small_file_is_read_at_once_unless_a_stream_is_asked_for(tmp_path: Path) -> None:
    path = run_file(tmp_path / "small.run", b"t", 2)
    assert [way(path, stream) for stream in (None, False, True)] == [
        "a table of 200",
        "a table of 200",
        "blocks of 200",
    ]
