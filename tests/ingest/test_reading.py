from __future__ import annotations

import gzip
import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ingest_outcomes import listed, run_parts
from refused import OR_ALLOW
from thorough import examples

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.columns import Columns
from ndcg_tracker.ingest.detection import FORMATS, READERS
from ndcg_tracker.ingest.frames import read_frame
from ndcg_tracker.ingest.reading import read_labels, read_run

PIECES = [
    *(
        b" ",
        b"\t",
        b"\n",
        b"\r\n",
        b",",
        b'"',
        b"{",
        b"}",
        b":",
        b"#",
        b"\0",
        b"\xff",
        b"\x1f\x8b",
        b"PAR1",
        b"qid:1",
        b"1:1",
    ),
    *(b"group,item,score,label\n", b"group\tscore\tlabel\n", b'{"group":"q","score":1,"label":0}\n', b"q Q0 d 1 2 t\n"),
    *(b"[", b"]", b'{"q":{"d":1}}', b'{"requests":[{"id":"q","ratings":[{"_id":"d","rating":1}]}]}'),
    *(b'{"group":"q","item":["a"],"score":[1],"label":[0]}\n', b"query,docid,rating\nq,d,1\nr,,\n"),
    *(b"q 0 d 1\n", b"q", b"1", b"nan", b"-", gzip.compress(b"q Q0 d 1 2 t\n")),
]
anything = st.one_of(st.binary(max_size=30), st.lists(st.sampled_from(PIECES), max_size=10).map(b"".join))


@settings(deadline=None, max_examples=examples(400))
@given(anything, st.sampled_from([None, *READERS]))
def test_any_bytes_give_a_table_or_one_line_that_says_why_not(content: bytes, reader: str | None) -> None:
    for read in (read_run, read_labels):
        message = "<stdin>: "
        try:
            read("-", reader=reader, stdin=io.BytesIO(content))
        except InputError as error:
            message = str(error)
        assert message.startswith("<stdin>:")
        assert message.isprintable()


def large_table() -> dict[str, list[object]]:
    """Return a table that is large enough for the fast path, its groups not in one piece."""
    numbers = np.random.default_rng(7)
    n_rows = 60_000
    return {
        "group": [f"query {group}" for group in numbers.integers(0, 500, n_rows)],
        "item": [f"document {row}" for row in range(n_rows)],
        "score": numbers.normal(size=n_rows).tolist(),
        "label": numbers.integers(-1, 4, n_rows).tolist(),
    }


def delimited(table: dict[str, list[object]], delimiter: str) -> list[str]:
    """Return the lines of a table."""
    rows = zip(*table.values(), strict=True)
    return [delimiter.join(table), *(delimiter.join(str(cell) for cell in row) for row in rows)]


@pytest.mark.parametrize(("name", "delimiter"), [("a.csv", ","), ("a.tsv.gz", "\t")])
def test_large_tables_read_like_frames(tmp_path: Path, name: str, delimiter: str) -> None:
    table = large_table()
    content = "\n".join(delimited(table, delimiter)).encode()
    assert len(content) > 2 << 20
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    expected = run_parts(read_frame(table))
    assert run_parts(read_run(str(path))) == expected
    assert listed(read_labels(str(path))) == expected[1]


def test_what_the_fast_path_doubts_the_exact_one_may_take(tmp_path: Path) -> None:
    table = large_table()
    lines = delimited(table, ",")
    table["item"][49_999] = 'a "real"\nmess'
    lines[50_000] = lines[50_000].replace("document 49999", '"a ""real""\nmess"')
    path = tmp_path / "a.csv"
    path.write_text("\n".join(lines))
    assert run_parts(read_run(str(path))) == run_parts(read_frame(table))


def test_a_defect_deep_in_a_large_table_is_found_with_its_line(tmp_path: Path) -> None:
    lines = delimited(large_table(), ",")
    path = tmp_path / "a.csv"
    for place, line, what in (
        (54_321, "query 1,x,nan,1", "score 'nan' is not a number; write it like 0.5, -2 or 1e-3"),
        (54_321, "query 1,x,1", "3 cells where the header has 4; correct the line"),
        (54_321, ",x,1,1", "the group id is empty; every row needs one"),
        (54_321, lines[4], "item 'document 3' of group {group} is in line 5 already; keep one of the two" + OR_ALLOW),
    ):
        path.write_text("\n".join([*lines[:place], line, *lines[place + 1 :]]))
        with pytest.raises(InputError) as caught:
            read_run(str(path), columns=Columns(label="label"))
        assert str(caught.value) == f"{path}:{place + 1}: {what.format(group=repr(lines[4].split(',')[0]))}"


@pytest.mark.parametrize("reader", [format.name for format in FORMATS if not format.has_columns])
def test_columns_are_refused_where_labels_have_none(reader: str) -> None:
    for role in ("group", "item", "label"):
        columns = Columns(**{role: "nope"})
        with pytest.raises(InputError) as caught:
            read_labels("-", reader=reader, columns=columns, stdin=io.BytesIO(b"q 0 d 1\n"))
        what = f"<stdin>: a {reader} file has no named columns; drop {role}="
        assert str(caught.value) == f"{what}, or choose another reader="


def test_columns_beside_a_run_may_be_those_of_the_run() -> None:
    shared = Columns(group="qid", is_shared=True)
    labels = read_labels("-", reader="trec", columns=shared, stdin=io.BytesIO(b"q 0 d 1\n"))
    assert listed(labels) == [("q", "d", 1.0)]
    with pytest.raises(InputError) as caught:
        read_labels("-", columns=Columns(label="nope", is_shared=True), stdin=io.BytesIO(b"q 0 d 1\n"))
    assert str(caught.value) == "<stdin>: a trec file has no named columns; drop label="
