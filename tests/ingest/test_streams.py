from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
from ingest_outcomes import listed, run_parts
from refused import OR_ALLOW
from stream_outcomes import AGAIN, joined, streamed, whole
from thorough import LONG

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.columns import RUN_TABLE, Columns
from ndcg_tracker.ingest.detection import READERS
from ndcg_tracker.ingest.group_blocks import text_group_blocks
from ndcg_tracker.ingest.reading import (
    BLOCK_ROWS,
    BYTES_PER_ROW,
    SMALL,
    is_large,
    ranked_blocks,
    read_run,
    stream_run,
    text_table,
)
from ndcg_tracker.ingest.source import Source, watched


def lines_of(n_groups: int, n_items: int, tag: bytes = b"tag") -> list[bytes]:
    """Return the lines of a run that is large enough for the fast path."""
    return [b"q%d Q0 d%d %d %d.5 %s\n" % (g, i, i, n_items - i, tag) for g in range(n_groups) for i in range(n_items)]


def refusal(path: Path, **options: Any) -> str:
    with pytest.raises(InputError) as caught, stream_run(str(path), **options) as stream:
        for _ in stream:
            pass
    return str(caught.value)


@pytest.mark.nightly(but=8)
@pytest.mark.parametrize("block_rows", [1 if LONG else 50, 1000, 1 << 20])
@pytest.mark.parametrize("name", ["a.run", "a.run.gz"])
def test_a_defect_anywhere_in_a_large_file_is_found_with_its_line(tmp_path: Path, name: str, block_rows: int) -> None:
    good = lines_of(100, 200, tag=b"t" * 95)  # what is slow is a line, and what makes a file large are bytes
    assert sum(map(len, good)) > SMALL
    path = tmp_path / name
    for place, line, what in (
        (10_865, b"q54 Q0 d 1 nan t\n", "score 'nan' is not a number; write it like 0.5, -2 or 1e-3"),
        (
            19_999,
            b"q99 Q0 d 1 1\n",
            "5 fields where a TREC run line has 6 (group Q0 item rank score tag); "
            "correct the line or name another reader=",
        ),
        (10_865, good[10_864], "item 'd64' of group 'q54' is in line 10865 already; keep one of the two" + OR_ALLOW),
        (10_865, b"q54 Q0 \xff 1 1 t\n", "byte 0xff is not UTF-8; save the file as UTF-8"),
        (10_865, b"q54 Q0 " + b"d" * 2001 + b" 1 1 t\n", "the item id has 2001 bytes; shorten it to 2000 or fewer"),
        (10_800, b"q0 Q0 x 1 1 t\n", f"the rows of group 'q0' {AGAIN}"),
        (19_999, b"q98 Q0 x 1 1 t\n", f"the rows of group 'q98' {AGAIN}"),
        (300, b"q9 Q0 x 1 1 t\n", f"the rows of group 'q1' {AGAIN}"),
    ):
        content = b"".join([*good[:place], line, *good[place + 1 :]])
        path.write_bytes(gzip.compress(content, 1) if name.endswith(".gz") else content)
        number = place + 2 if line.startswith(b"q9 ") else place + 1
        assert refusal(path, block_rows=block_rows) == f"{path}:{number}: {what}"


def test_after_an_odd_line_all_is_as_before(tmp_path: Path) -> None:
    lines = lines_of(300, 200)
    lines[30_000:30_000] = [b"\n", b"  q149b \t Q0  d\xc2\xa0 1 +7. x \r\n", b" \t\n"]
    path = tmp_path / "a.run"
    path.write_bytes(b"\xef\xbb\xbf" + b"".join(lines).removesuffix(b"\n"))
    assert path.stat().st_size < 1 << 21
    path.write_bytes(path.read_bytes() + b"\nz Q0 " + b"d" * 1000 + b" 1 1 " + b"t" * (1 << 20) + b"\n")
    with stream_run(str(path), block_rows=500) as stream:
        blocks = list(stream)
    assert len(blocks) > 50
    assert joined(blocks) == run_parts(read_run(str(path)))


def test_a_record_of_several_lines_may_stand_across_blocks(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = [f'q{row // 10},"{"item" * 15}\n{row}\n",{-row}\n' for row in range(40_000)]
    path.write_text("group,item,score\n" + "".join(rows))
    with stream_run(str(path), block_rows=1 << 14) as stream:
        blocks = list(stream)
    assert len(blocks) > 3
    assert joined(blocks) == run_parts(read_run(str(path)))
    path.write_text("group,item,score\n" + "".join(rows) + 'q,"never closed,1\n' + "x,y,1\n" * 1000)
    assert refusal(path, block_rows=1 << 14) == (f"{path}:120002: a quote is never closed; close it or double it")


@pytest.mark.parametrize(
    ("reader", "content", "message"),
    [
        ("trec", b"\n \n", "there are no rows; give at least one"),
        ("csv", b"group,item,score\n", "there are no rows; give at least one"),
        (
            "csv",
            b"group,item,score,label\nq,a,,1\nr,b,,1\n",
            "no row has a score; name the score column, or read the file as labels",
        ),
        (
            "jsonl",
            b'{"group":"q","item":"a"}\n{"group":"r","item":"a"}\n',
            "no column 'score'; the columns are 'group', 'item': name the score column with score=",
        ),
        (
            "jsonl",
            b"\n",
            "no columns 'group' and 'score'; the columns are none: name the group column with group= and the "
            "score column with score=",
        ),
        (
            "svmlight",
            b"1 qid:1\n",
            "a label/qid file has no scores; give the predictions, one per line, with scores='FILE'",
        ),
        ("parquet", b"PAR1", "not a readable Parquet file ("),
        ("trec", b"", "is empty; give a file that has rows"),
    ],
)
def test_what_only_the_end_shows_is_refused_there(reader: str, content: bytes, message: str) -> None:
    expected = whole(content, reader)
    with pytest.raises(InputError) as caught:
        list(stream_run("-", reader=reader, stdin=io.BytesIO(content), block_rows=1))
    assert str(caught.value) == expected
    assert expected.startswith(f"<stdin>: {message}")


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("name", ["item", "weight"])
def test_a_column_that_turns_up_late_is_refused_as_in_the_whole(name: str, fast: bool) -> None:
    rows = [{"group": f"q{row}", "score": 1.5, "item": "a", "weight": 1.5} for row in range(6)]
    late = [{key: value for key, value in row.items() if key != name or place > 3} for place, row in enumerate(rows)]
    early = [{key: value for key, value in row.items() if key != name or place < 3} for place, row in enumerate(rows)]
    for records, line in ((late, 1), (early, 4)):
        content = "".join(json.dumps(record) + "\n" for record in records).encode()
        expected = f"<stdin>:{line}: the {name}{' id' * (name == 'item')} is empty; every row needs one"
        assert streamed(content, "jsonl", 1, fast=fast) == whole(content, "jsonl") == expected


def test_group_sizes_beside_a_lightgbm_file(tmp_path: Path) -> None:
    (tmp_path / "a.svm").write_bytes(b"1 0:1\n0 1:2\n2\n1\n0\n1\n")
    (tmp_path / "scores").write_bytes(b"1\n2\n3\n4\n5\n6\n")
    path, options = tmp_path / "a.svm", {"scores_path": str(tmp_path / "scores")}
    for sizes in (b"2\n1\n3\n", b"1\n1\n1\n1\n1\n1\n", b"6\n"):
        (tmp_path / "a.svm.query").write_bytes(sizes)
        with stream_run(str(path), block_rows=1, **options) as stream:
            assert joined(list(stream)) == run_parts(read_run(str(path), **options))
    for sizes, total in ((b"2\n1\n", 3), (b"7\n", 7), (b"2\n1\n3\n1\n", 7), (b"", 0)):
        (tmp_path / "a.svm.query").write_bytes(sizes)
        expected = f"{path}: 6 rows, but the group sizes in {path}.query sum to {total}; correct the sizes or the rows"
        assert refusal(path, block_rows=1, **options) == expected
    (tmp_path / "a.svm.query").write_bytes(b"6\n")
    for n_scores, counted in ((0, "0 scores"), (1, "1 score"), (7, "7 scores")):
        (tmp_path / "scores").write_bytes(b"1\n" * n_scores)
        expected = f"{tmp_path}/scores: {counted} for the 6 rows of {path}; give one per row"
        if n_scores:
            assert refusal(path, block_rows=1, **options) == expected


@pytest.mark.parametrize("fast", [False, True])
def test_rows_without_qid_after_others_are_told_as_in_the_whole(tmp_path: Path, fast: bool) -> None:
    content = b"# made by hand\n\n1 qid:1 1:1\n1 qid:2 1:1\n0 1:1\n"
    (tmp_path / "scores").write_bytes(b"1\n2\n3\n")
    expected = "<stdin>:5: no qid: field, but line 3 has one; use one form in all lines"
    assert whole(content, "svmlight", scores_path=str(tmp_path / "scores")) == expected
    for n_bytes in (1, 30, 1000):
        assert streamed(content, "svmlight", n_bytes, fast=fast, scores=b"1\n2\n3\n") == expected


def test_groups_in_which_nothing_was_retrieved_come_with_an_empty_ranking() -> None:
    judged_only = [f"r{row},a,,1\n" for row in range(50)]
    content = "".join(["group,item,score,label\n", "q,a,1,0\n", *judged_only, "s,a,2,\n"]).encode()
    with Source("-", stdin=io.BytesIO(content)) as source:
        blocks = list(text_group_blocks(source, text_table(source, "csv", Columns(), RUN_TABLE), 60, fast=False))
        tables = list(ranked_blocks(source, iter(blocks), None))
    assert joined(tables) == whole(content, "csv")
    empty = tables[2]
    assert (empty.ranking.n_groups, empty.ranking.n_items, listed(empty.ranking)) == (0, 0, [])
    assert empty.ranking.digest() == "0" * 32
    assert empty.labels is not None
    assert tables[-1].labels is None


def test_of_standard_input_no_more_is_read_than_is_needed() -> None:
    pipe = io.BytesIO(b"".join(lines_of(300, 1000)))
    stream = stream_run("-", reader="trec", stdin=pipe, block_rows=1 << 12)
    next(stream)
    assert pipe.tell() < 3 << 20
    stream.close()
    assert not pipe.closed


def test_files_are_closed_at_the_end_and_after_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_bytes(b"q Q0 d 1 1 t\n")
    for content in (b"q Q0 d 1 1 t\n", b"q Q0 d 1 x t\n"):
        path.write_bytes(content)
        with stream_run(str(path)) as stream:
            if b"x" in content:
                with pytest.raises(InputError):
                    next(stream)
            else:
                next(stream)
    with pytest.raises(InputError) as caught:
        stream_run(str(path), reader="jpeg")
    assert str(caught.value) == f"no reader 'jpeg'; choose one of {' '.join(READERS)}"


def test_progress_ends_with_the_size_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_bytes(b"q Q0 d 1 1 t\n")
    seen: list[tuple[int, int | None]] = []
    with watched(lambda done, total: seen.append((done, total))):
        list(stream_run(str(path)))
    assert seen[-1] == (13, 13)
    seen.clear()
    with watched(lambda *at: seen.append(at)):
        list(stream_run("-", reader="trec", stdin=io.BytesIO(b"q Q0 d 1 1 t\n")))
    assert seen[-1] == (13, None)


def test_files_beyond_a_block_are_large(tmp_path: Path) -> None:
    path = tmp_path / "some.run"
    with path.open("wb") as file:
        file.truncate(BLOCK_ROWS * BYTES_PER_ROW)
    assert not is_large(str(path))
    with path.open("ab") as file:
        file.write(b"\n")
    assert is_large(str(path))
    assert [is_large(name) for name in ("-", str(tmp_path), str(tmp_path / "absent"), "\0")] == [False] * 4
