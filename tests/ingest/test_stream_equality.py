"""A stream of blocks is the run that ``read_run`` reads at once, wherever the blocks end."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st
from stream_outcomes import AGAIN, joined, streamed, whole
from thorough import examples

from ndcg_tracker.ingest.reading import stream_run

Row = tuple[str, str, float | None, float | None, float]

plain = st.text("abcXYZ019é€𝄞_", min_size=1, max_size=4)
odd = st.text(st.characters(codec="utf-8", exclude_characters=" \t\n\r\0\ufeff"), min_size=1, max_size=4)
quoted = st.text(st.sampled_from('ab",; \n\u2028\x85'), min_size=1, max_size=5)
numbers = st.integers(-3, 3).map(float) | st.floats(allow_nan=False, allow_infinity=False)
ends = st.sampled_from(["\n", "\r\n"])
sizes = st.integers(1, 40) | st.sampled_from([64, 256, 1 << 20])


@st.composite
def tables(draw: st.DrawFn, ids: st.SearchStrategy[str]) -> list[Row]:
    """Return rows of (group, item, score, label, weight), the rows of a group together, at least one with a score."""
    rows: list[Row] = []
    for group in draw(st.lists(ids, min_size=1, max_size=5, unique=True)):
        for item in draw(st.lists(ids, min_size=1, max_size=4, unique=True)):
            score = draw(st.none() | numbers)
            rows.append((group, item, score, draw(st.none() | numbers), draw(st.floats(0, 2))))
    group, item, _, label, weight = rows[0]
    rows[0] = group, item, 1.0, label, weight
    return rows


@st.composite
def with_noise(draw: st.DrawFn, lines: list[str], noise: list[str]) -> bytes:
    """Return lines with others that mean nothing among them, the last one perhaps without its end."""
    end = draw(ends)
    text = ""
    for line in lines:
        text += "".join(other + end for other in draw(st.lists(st.sampled_from(noise), max_size=1))) + line + end
    return (text if draw(st.booleans()) else text.removesuffix(end)).encode()


@st.composite
def trec_files(draw: st.DrawFn) -> bytes:
    rows = [row for row in draw(tables(draw(st.sampled_from([plain, odd])))) if row[2] is not None]
    gap = draw(st.sampled_from([" ", "\t", "  ", " \t"]))
    ranks = draw(st.lists(st.sampled_from(["0", "1", "2", "3", "-"]), min_size=len(rows), max_size=len(rows)))
    tag = draw(st.sampled_from(["tag", f"tag{gap}and{gap}words"])) if "-" not in ranks else "tag"
    lines = [
        gap.join([group, "Q0", item, rank, repr(score), tag])
        for (group, item, score, _, _), rank in zip(rows, ranks, strict=True)
        if not group.startswith("#")
    ]
    return draw(with_noise(lines or ["q Q0 d 1 1 t"], ["", "  ", "\t", "# METADATA - START", "  #"]))


@st.composite
def delimited_files(draw: st.DrawFn, delimiter: str) -> bytes:
    rows = draw(tables(draw(st.sampled_from([plain, odd, quoted]))))
    header = ["group", "item", "score", "label"] + ["weight"] * draw(st.booleans())
    if draw(st.booleans()):
        header.remove("item")
    text = io.StringIO()
    quoting: Any = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    writer = csv.writer(text, delimiter=delimiter, lineterminator=draw(ends), quoting=quoting)
    writer.writerow(header)
    for row in rows:
        cells = dict(zip(("group", "item", "score", "label", "weight"), row, strict=True))
        writer.writerow(["" if cells[name] is None else cells[name] for name in header])
    content = text.getvalue().encode()
    return content if draw(st.booleans()) else content.rstrip(b"\r\n")


@st.composite
def json_files(draw: st.DrawFn) -> bytes:
    rows = draw(tables(draw(st.sampled_from([plain, odd, quoted]))))
    names = ("group", "item", "score", "label", "weight", "text")
    kept = [name for name in names if name in ("group", "score") or draw(st.booleans())]
    only_there = draw(st.booleans())
    escaped = draw(st.booleans())
    lines = []
    for row in rows:
        record = {name: value for name, value in zip(names, (*row, "x"), strict=True) if name in kept}
        if only_there:
            record = {name: value for name, value in record.items() if value is not None}
        lines.append(json.dumps(record, ensure_ascii=escaped))
    return draw(with_noise(lines, ["", " "]))


@st.composite
def label_qid_files(draw: st.DrawFn) -> tuple[bytes, bytes]:
    rows = draw(tables(plain))
    features = draw(st.sampled_from(["", " 1:0.5 2:1e-3", "\t1:2 # doc 7"]))
    lines = [f"{int(abs(score or 0)) % 5} qid:{group}{features}" for group, _, score, _, _ in rows]
    scores = "".join(f"{score or 0}\n" for _, _, score, _, _ in rows).encode()
    return draw(with_noise(lines, ["", " ", "# comment"])), scores


@settings(max_examples=examples(200))
@given(trec_files(), sizes, st.booleans(), st.booleans())
def test_a_trec_stream_is_the_run(content: bytes, n_bytes: int, fast: bool, packed: bool) -> None:
    expected = whole(content, "trec")
    assert isinstance(expected, tuple)
    assert streamed(gzip.compress(content) if packed else content, "trec", n_bytes, fast=fast) == expected


@settings(max_examples=examples(200))
@given(st.data(), st.sampled_from(["csv", "tsv"]), sizes, st.booleans())
def test_a_delimited_stream_is_the_run(data: st.DataObject, reader: str, n_bytes: int, fast: bool) -> None:
    content = data.draw(delimited_files("," if reader == "csv" else "\t"))
    expected = whole(content, reader)
    assert isinstance(expected, tuple)
    assert streamed(content, reader, n_bytes, fast=fast) == expected


@settings(max_examples=examples(200))
@given(json_files(), sizes, st.booleans())
def test_a_json_stream_is_the_run(content: bytes, n_bytes: int, fast: bool) -> None:
    expected = whole(content, "jsonl")
    assert isinstance(expected, tuple)
    assert streamed(content, "jsonl", n_bytes, fast=fast) == expected


@settings(max_examples=examples(200))
@given(label_qid_files(), sizes, st.booleans())
def test_a_label_qid_stream_is_the_run(tmp_path_factory: Any, files: tuple[bytes, bytes], n: int, fast: bool) -> None:
    content, scores = files
    folder = tmp_path_factory.mktemp("scores")
    (folder / "scores").write_bytes(scores)
    expected = whole(content, "svmlight", scores_path=str(folder / "scores"))
    assert isinstance(expected, tuple)
    assert streamed(content, "svmlight", n, fast=fast, scores=scores) == expected


@settings(max_examples=examples(100))
@given(tables(quoted), st.integers(1, 9), st.integers(1, 9), st.booleans(), st.booleans())
def test_a_parquet_stream_is_the_run(rows: list[Row], n_rows: int, row_group: int, items: bool, packed: bool) -> None:
    names = ("group", "item", "score", "label", "weight")
    table = {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
    if not items:
        del table["item"]
    buffer = io.BytesIO()
    pq.write_table(pa.table(table), buffer, row_group_size=row_group)
    content = gzip.compress(buffer.getvalue()) if packed else buffer.getvalue()
    with stream_run("-", reader="parquet", stdin=io.BytesIO(content), block_rows=n_rows) as stream:
        blocks = list(stream)
    assert joined(blocks) == whole(content, "parquet")
    assert len(blocks) >= len({row[0] for row in rows}) / n_rows


PIECES = [
    *(b" ", b"  ", b"\t", b"\n", b"\n\n", b"\r\n", b"\r", b"\0", b"\xff", b"\xef\xbb\xbf", b",", b'"', b'""', b"#"),
    *(b"nan", b"1e400", b"1_0", b"-0", b"q1", b"q2", b"q3", b"x", b"null", b"{", b"}", b"[]", b"\\", b":", b"7"),
    *(b"qid:q2", b'{"group":"q1","item":"z","score":1}\n', b'"item"', b'"a\nb"', "größe".encode()),
]
GOOD = {
    "trec": b"q1 Q0 d1 1 2.5 tag\nq1 Q0 d2 2 1.5 tag\nq2 Q0 d1 1 .5 tag\nq3 Q0 d1 1 .5 tag\n",
    "csv": b'group,item,score,label,weight,text\nq1,d1,2.5,1,1,x\nq1,"d,2",1.5,,1,"y"\nq2,d1,,0,.5,\nq3,d1,1,1,1,x\n',
    "tsv": b"group\titem\tscore\nq1\td1\t2.5\nq1\td2\t\nq2\td1\t1\nq3\td1\t1\n",
    "jsonl": b'{"group":"q1","item":"d1","score":2.5,"text":"x"}\n{"group":"q1","item":"d2","score":null}\n'
    b'{"group":"q2","item":"d1","score":1,"n":3,"weight":1}\n{"group":"q3","item":"d1","score":-1}\n',
    "svmlight": b"2 qid:q1 1:0.5\n0 qid:q1 1:.5\n1 qid:q2\n1 qid:q3 2:1 # x\n",
}


@st.composite
def damaged(draw: st.DrawFn, good: bytes, most: int) -> bytes:
    """Return a well-formed file with a few pieces put in or in place of something."""
    content = good
    for _ in range(draw(st.integers(0, most))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.integers(0, 4)))
        content = content[:start] + draw(st.sampled_from(PIECES)) + content[end:]
    return content


@settings(max_examples=examples(600))
@given(st.data(), st.sampled_from(sorted(GOOD)), st.integers(1, 3), sizes, st.booleans())
def test_what_the_whole_reader_refuses_no_stream_accepts(
    tmp_path_factory: Any, data: st.DataObject, reader: str, most: int, n_bytes: int, fast: bool
) -> None:
    content = data.draw(damaged(GOOD[reader], most))
    scores = b"1\n2\n3\n4\n" if reader == "svmlight" else None
    options = {}
    if scores is not None:
        path = tmp_path_factory.mktemp("scores") / "scores"
        path.write_bytes(scores)
        options["scores_path"] = str(path)
    expected = whole(content, reader, **options)
    found = streamed(content, reader, n_bytes, fast=fast, scores=scores)
    if isinstance(found, str) and AGAIN in found:
        assert re.match(r"<stdin>:\d+: the rows of group ", found)
        return
    if isinstance(expected, tuple):
        assert found == expected
    else:
        assert isinstance(found, str)
        assert found.startswith("<stdin>:")
