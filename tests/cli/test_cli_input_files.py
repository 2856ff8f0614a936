"""Which way a command reads a file: block by block, or at once."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from command_line import CommandLine

from ndcg_tracker.ingest.reading import BLOCK_ROWS, BYTES_PER_ROW, in_blocks_or_whole
from ndcg_tracker.ingest.table import RankedTable


def way(path: Path, stream: bool | None) -> str:
    """Return how a file is read in the end, and how many items come."""

    def use(blocks: Iterable[RankedTable]) -> str:
        way = "a table" if isinstance(blocks, list) else "blocks"
        return f"{way} of {sum(block.ranking.n_items for block in blocks)}"

    return in_blocks_or_whole(str(path), use, stream=stream, reader="trec")


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


def test_json_documents_are_runs_and_labels(command: CommandLine, tmp_path: Path) -> None:
    run = {"lamp": {"7": 1.5, "8": 2.5}, "tent": {"9": 0.5}}
    ratings = [{"_index": "shop", "_id": "7", "rating": 3}, {"_index": "shop", "_id": "8", "rating": 0}]
    labels = {"requests": [{"id": "lamp", "ratings": ratings}, {"id": "tent", "ratings": [{"_id": "9", "rating": 1}]}]}
    predictions = {"mteb_model_meta": {}, "default": {"dev": {"lamp": {"8": 1}}, "test": run}}
    paths = []
    for name, document in (("ranx", run), ("request", labels), ("Shop_predictions", predictions)):
        paths.append(str(tmp_path / f"{name}.json"))
        Path(paths[-1]).write_text(json.dumps(document))
    ranx, request, mteb = paths
    (row,) = command.rows("ingest", ranx, "--labels", request)
    assert (row["run"], row["n_groups"], row["n_items"], round(row["mean"], 4)) == ("ranx", 2, 3, 0.8155)
    (row,) = command.rows("evaluate", mteb, "--labels", request, "--reader", "json:default/test")
    assert (row["run"], round(row["mean"], 4)) == ("Shop_predictions", 0.8155)
    assert command.refused("evaluate", mteb, "--labels", request) == (
        f"{mteb}: holds runs under 'default/dev', 'default/test'; choose with --reader json:default/dev, "
        "or write the one you mean to its own file"
    )
    assert command.refused("ingest", request) == (f"{request}: holds labels but no scores; give it with --labels FILE")
    assert command.refused("evaluate", ranx, "--score", "bm25", "--labels", request) == (
        f"{ranx}: this JSON has no named columns; drop --score"
    )


def test_labels_may_be_those_of_a_dataset_of_ir_datasets(sqlite_command: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("q Q0 d 1 1 t\n")
    assert sqlite_command.refused("evaluate", str(tmp_path / "a.run"), "--labels", "ir_datasets:nonesuch") == (
        "ir_datasets:nonesuch: there is no dataset with this name; see https://ir-datasets.com for the names"
    )
