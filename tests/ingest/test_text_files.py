"""Texts of queries and items from files and frames."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refused import refusal_of

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.groups import TextColumns, TextTable, read_texts

DEFAULTS = TextColumns()


def read(content: str | bytes, reader: str | None = None, columns: TextColumns = DEFAULTS) -> TextTable:
    given = content.encode() if isinstance(content, str) else content
    return read_texts("-", reader=reader, columns=columns, stdin=io.BytesIO(given))


def refusal(content: str | bytes, reader: str | None = None, columns: TextColumns = DEFAULTS) -> str:
    return refusal_of(InputError, read, content, reader, columns)


def test_groups_items_and_pairs_in_one_file() -> None:
    content = 'group,item,text,title,url\nq1,,"light, tent",,\n,a,,Tent,https://x.example\nq1,a,,"Two\nlines",\n'
    assert read(content) == TextTable(
        ["q1", None, "q1"],
        [None, "a", "a"],
        {
            "text": ["light, tent", None, None],
            "title": [None, "Tent", "Two\nlines"],
            "url": [None, "https://x.example", None],
        },
    )


def test_only_the_columns_that_are_there() -> None:
    assert read("group\ttext\tother\nq1\tlight tent\t9\n") == TextTable(["q1"], [None], {"text": ["light tent"]})
    assert read("title,item\nTent,007\n") == TextTable([None], ["007"], {"title": ["Tent"]})


def test_files_of_beir() -> None:
    corpus = (
        '{"_id": "d1", "title": "Tent", "text": "A tent.", "metadata": {}}\n{"_id": "d2", "title": "", "text": "B"}\n'
    )
    assert read(corpus, columns=TextColumns(item="_id")) == TextTable(
        [None, None], ["d1", "d2"], {"text": ["A tent.", "B"], "title": ["Tent", None]}
    )
    queries = '{"_id": 7, "text": "light tent"}\n'
    assert read(queries, columns=TextColumns(group="_id")) == TextTable(["7"], [None], {"text": ["light tent"]})


def test_files_of_ms_marco(tmp_path: Path) -> None:
    """Two columns without a header, in which a quote is a character like any other."""
    path = tmp_path / "queries.dev.tsv.gz"
    path.write_bytes(gzip.compress(b'1\t"the" tent\n2\twhat is "a lamp\n'))
    columns = TextColumns(columns=("group", "text"))
    assert read_texts(str(path), columns=columns).texts == {"text": ['"the" tent', 'what is "a lamp']}
    named = TextColumns(group="qid", text="query", columns=("qid", "query"))
    assert read_texts(str(path), columns=named).groups == ["1", "2"]
    assert refusal("1\ta\tb\n", "tsv", columns).endswith(":1: 3 cells where columns= names 2; correct the line")
    assert read('1,"a, ""b"""\n', "csv", columns).texts == {"text": ['a, "b"']}
    assert refusal('{"group": 1}\n', "jsonl", columns).endswith("this file is read as jsonl; leave it out")


def test_parquet_and_frames(tmp_path: Path) -> None:
    columns = {"item": [1, 2], "title": ["Tent", None], "url": [None, "x"]}
    expected = TextTable([None, None], ["1", "2"], {"title": ["Tent", None], "url": [None, "x"]})
    pq.write_table(pa.table(columns), tmp_path / "items.parquet")
    assert read_texts(str(tmp_path / "items.parquet")) == expected
    assert read_texts(columns) == expected
    assert read_texts(pa.table(columns)) == expected
    assert read_texts(pd.DataFrame(columns)) == expected
    titles = pd.DataFrame({"doc": ["a"], "title": [1984], "text": [float("nan")]})
    assert read_texts(titles, columns=TextColumns(item="doc")) == TextTable(
        [None], ["a"], {"text": [None], "title": ["1984"]}
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty; give a file that has rows"),
        ("group,text\n", "there are no rows; give at least one"),
        ("uid,text\nq,x\n", "no column 'group'; the columns are 'uid', 'text': name the group column with group=, or "
         "that of the item with item="),
        ("group,item,score\nq,a,1\n", "no column 'text'; the columns are 'group', 'item', 'score': name the text "
         "column with text="),
        ("group,text,text\nq,x,y\n", "column 'text' appears 2 times; rename all but one"),
        ("group,text\nq,x\nq,y\n", "group 'q' is in line 2 already; keep one of the two"),
        ("group,item,text\nq,a,x\n,a,y\nq,,z\nq,a,y\n", "5: item 'a' of group 'q' is in line 2 already; keep one"),
        ("group,item,text\n,,x\n", "the row has no group and no item; add one"),
        ("item,text\n,x\n", "the row has no item; add one"),
        ("group,text\nq,a\0b\n", "a NUL byte; write the file again as text without it"),
        (f"group,text\n{'q' * 2001},x\n", "the group id has 2001 bytes; shorten it to 2000 or fewer"),
        (f"item,text\n{'q' * 2001},x\n", "the item id has 2001 bytes; shorten it to 2000 or fewer"),
    ],
)  # fmt: skip
def test_wrong_csv(content: str, message: str) -> None:
    assert message in refusal(content, "csv")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([1], "the title is an array; write text, or null for none"),
        (1.5, "the title is a fraction; write text, or null for none"),
        (True, "the title is true or false; write text, or null for none"),
        ("\ud800", "the title has an incomplete character; write the file as UTF-8"),
    ],
)
def test_wrong_json_lines(value: object, message: str) -> None:
    assert message in refusal(json.dumps({"item": "a", "title": value}), "jsonl")


def test_wrong_columns_and_readers() -> None:
    content = "group,text\nq,x\n"
    assert "column 'text' cannot be both the text and the title; name another one with title=" in refusal(
        content, columns=TextColumns(title="text")
    )
    assert "no column 'query'; the columns are 'group', 'text'" in refusal(content, columns=TextColumns(text="query"))
    assert (
        refusal(content, "trec")
        == "no reader 'trec' for texts; choose one of csv tsv json jsonl yaml parquet trec_eval"
    )
    assert "this file is read as trec, which is not supported for texts" in refusal("q1 Q0 d1 1 0.5 x\n" * 3)
