"""Attributes and weights of groups from files and frames."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from refused import refusal_of

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.groups import GroupColumns, GroupTable, read_groups

DEFAULTS = GroupColumns()
Parts = tuple[list[str], list[float | None] | None, dict[str, list[Any]]]


def parts(table: GroupTable) -> Parts:
    """Return everything in a table as plain Python values, NaN as None."""
    weights = None if table.weights is None else [None if w != w else w for w in table.weights.tolist()]
    return table.group_keys.to_list(), weights, table.attributes


def read(content: str | bytes, reader: str | None = None, columns: GroupColumns = DEFAULTS) -> Parts:
    given = content.encode() if isinstance(content, str) else content
    return parts(read_groups("-", reader=reader, columns=columns, stdin=io.BytesIO(given)))


def outcome(content: str, reader: str) -> str:
    """Return why a content is refused, nothing if it is not."""
    try:
        read(content, reader)
    except InputError as error:
        return str(error)
    return ""


def refusal(content: str | bytes, reader: str | None = None, columns: GroupColumns = DEFAULTS) -> str:
    return refusal_of(InputError, read, content, reader, columns)


def frame_refusal(frame: object, columns: GroupColumns = DEFAULTS) -> str:
    return refusal_of(InputError, read_groups, frame, columns=columns)


def test_a_csv_with_weights_and_attributes() -> None:
    content = 'group,device,weight,words\n007,phone,2.5,3\nNA,, 0 ,"two, or\nmore"\n\nq3,null,,nan\n'
    assert read(content) == (
        ["007", "NA", "q3"],
        [2.5, 0.0, None],
        {"device": ["phone", None, "null"], "words": ["3", "two, or\nmore", "nan"]},
    )


def test_without_weights() -> None:
    assert read("device\tgroup\nphone\tq 1\n") == (["q 1"], None, {"device": ["phone"]})


def test_a_weight_alone() -> None:
    assert read("weight,group\n1,q\n") == (["q"], [1.0], {})
    assert read("w,group\n1,q\n", columns=GroupColumns(weight="w")) == (["q"], [1.0], {})


def test_named_columns() -> None:
    content = "qid,lang,w,weight,group\n1,de,2,9,x\n"
    everything = {"lang": ["de"], "weight": ["9"], "group": ["x"]}
    assert read("query_id,lang\n1,de\n") == (["1"], None, {"lang": ["de"]})
    assert read(content, columns=GroupColumns("qid", "w")) == (["1"], [2.0], everything)
    assert read(content, columns=GroupColumns("qid", attributes=("lang", "w", "lang"))) == (
        ["1"],
        [9.0],
        {"lang": ["de"], "w": ["2"]},
    )
    assert read(content, columns=GroupColumns("qid", attributes=("weight",))) == (["1"], None, {"weight": ["9"]})


def test_columns_that_are_left_out_may_be_anything() -> None:
    assert read(",group,x,x,lang\n0,q,1,2,de\n", columns=GroupColumns(attributes=("lang",)))[2] == {"lang": ["de"]}


def test_json_lines() -> None:
    content = (
        '{"group": "007", "lang": "de", "n": 3, "mobile": true}\n \n{"group": 8, "lang": "", "n": 1e3, "x": null}\n'
    )
    assert read(content) == (
        ["007", "8"],
        None,
        {"lang": ["de", None], "n": [3, 1000.0], "mobile": ["true", None], "x": [None, None]},
    )
    assert read('{"group": "q", "weight": null}\n{"group": "r", "weight": 2}\n')[1] == [None, 2.0]


def test_parquet(tmp_path: Path) -> None:
    table = pa.table(
        {
            "group": pa.array([7, 8, 9]),
            "lang": pa.array(["de", None, "en"]).dictionary_encode(),
            "mobile": pa.array([True, False, None]),
            "n": pa.array([1, None, 3], pa.int16()),
            "share": pa.array([0.5, 0.25, None]),
            "weight": pa.array([1.5, None, 0.0], pa.float32()),
        }
    )
    path = str(tmp_path / "groups.parquet")
    pq.write_table(table, path, row_group_size=2)
    expected = (
        ["7", "8", "9"],
        [1.5, None, 0.0],
        {
            "lang": ["de", None, "en"],
            "mobile": ["true", "false", None],
            "n": [1, None, 3],
            "share": [0.5, 0.25, None],
        },
    )
    assert parts(read_groups(path)) == expected
    assert read(Path(path).read_bytes()) == expected
    assert parts(read_groups(table)) == expected


def test_binary_ids_of_parquet() -> None:
    assert parts(read_groups(pa.table({"group": [b"q\xc3\xa4"], "a": [1]})))[0] == ["qä"]
    assert frame_refusal(pa.table({"group": [b"ok", b"\xff"], "a": [1, 2]})) == (
        "row 2: byte 0xff is not UTF-8; write ids as UTF-8"
    )


def test_gzip_and_names(tmp_path: Path) -> None:
    path = tmp_path / "groups.tsv.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbfgroup\tlang\r\nq\tde\r\n"))
    assert parts(read_groups(str(path))) == (["q"], None, {"lang": ["de"]})


def test_frames() -> None:
    expected = (["q1", "q2"], [1.0, None], {"lang": ["de", None], "n": [1.0, None]})
    columns: dict[str, Sequence[Any]] = {
        "group": ["q1", "q2"],
        "lang": ["de", float("nan")],
        "n": np.array([1, np.nan]),
        "weight": [1, None],
    }
    assert parts(read_groups(columns)) == expected
    assert parts(read_groups(pd.DataFrame(columns))) == expected
    whole = pd.DataFrame({"group": [1, 2], "n": pd.array([3, None], "Int64"), "mobile": np.array([True, False])})
    assert parts(read_groups(whole)) == (["1", "2"], None, {"n": [3, None], "mobile": ["true", "false"]})
    assert [type(n) for n in read_groups({"group": ["a", "b"], "n": np.array([1, 2])}).attributes["n"]] == [int] * 2


def test_a_frame_is_not_changed() -> None:
    frame = pd.DataFrame({"group": ["q"], "lang": [None]}, dtype=object)
    before = frame.copy()
    read_groups(frame)
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "<stdin>: is empty; give a file that has rows"),
        ("group,a\n", "<stdin>: there are no rows; give at least one"),
        (
            "uid,a\n1,2\n",
            "<stdin>:1: no column 'group'; the columns are 'uid', 'a': name the group column with group='uid'",
        ),
        (
            "qid,query_id,a\n1,2,3\n",
            "<stdin>:1: the group column could be 'qid' or 'query_id'; choose with group='qid' or group='query_id'",
        ),
        ("\n\ngroup,a,a\nq,1,2\n", "<stdin>:3: column 'a' appears 2 times; rename all but one"),
        ("group,group,a\nq,1,2\n", "<stdin>:1: column 'group' appears 2 times; rename all but one"),
        (
            "group,a,\nq,1,2\n",
            "<stdin>:1: column 3 has no name; name it, or choose others with attributes=",
        ),
        ("group,a\nq,1\n\nr\n", "<stdin>:4: 1 cell where the header has 2; correct the line"),
        ('group,a\n"q\nr",1\ns,1,2\n', "<stdin>:4: 3 cells where the header has 2; correct the line"),
        ("group,a\nq,1\n,2\n", "<stdin>:3: the group id is empty; every row needs one"),
        (
            'group,a\nq,"1\n2"\nr,1\nq,3\n',
            "<stdin>:5: group 'q' is in line 2 already; keep one of the two",
        ),
        ("group,weight\nq,1\nr,heavy\n", "<stdin>:3: weight 'heavy' is not a number; write it like 0.5, -2 or 1e-3"),
        ("group,weight\nq,nan\n", "<stdin>:2: weight 'nan' is not a number; write it like 0.5, -2 or 1e-3"),
        ("group,weight\nq,1e999\n", "<stdin>:2: weight '1e999' is too large for a double; use a finite number"),
        ("group,weight\nq,-0.5\n", "<stdin>:2: the weight is negative; weights are 0 or more"),
        (
            "group,weight\nq,1e30\nr,1e31\n",
            "<stdin>:3: the weight is above 1e+30; give weights of a common size, such as 1 for most groups",
        ),
        ("group,a\nq,\0\n", "<stdin>:2: a NUL byte; write the file again as text without it"),
        (b"group,a\nq,\xff\n", "<stdin>:2: byte 0xff is not UTF-8; save the file as UTF-8"),
        (
            'group,a\nq,1\nr,"x\ny\n',
            "<stdin>:3: a quote is never closed; close it or double it",
        ),
        (
            'group,a\n"q"x,1\n',
            "<stdin>:2: text after a closing quote; double the quotes inside a cell",
        ),
        (
            "group,a\n" + "q" * 2001 + ",1\n",
            "<stdin>:2: the group id has 2001 bytes; shorten it to 2000 or fewer",
        ),
    ],
)
def test_wrong_csv(content: str | bytes, message: str) -> None:
    assert refusal(content, None if not content else "csv") == message


def test_a_file_that_says_nothing_of_its_groups() -> None:
    nothing = "there is no column except the group; add one per attribute, or one with weights"
    assert refusal("group\nq\n", "csv") == f"<stdin>:1: {nothing}"
    assert refusal('{"group": "q"}\n') == f"<stdin>: {nothing}"
    assert frame_refusal({"group": ["q"]}) == nothing


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[1]", "not a JSON object; write one {...} per line"),
        ('{"group": "r"', "not valid JSON (Expecting ',' delimiter, column 14); write one object per line"),
        ('{"group": "r", "a": NaN}', "NaN is not a JSON number; use a finite number, or null for none"),
        ('{"group": "r", "a": 1, "a": 2}', "key 'a' is there twice; keep one of the two"),
        ("[" * 100_000, "JSON nested too deeply; write one object per line"),
        ('{"group": "r", "a": [1]}', "'a' is an array; attributes are text or numbers"),
        ('{"group": "r", "a": {}}', "'a' is an object; attributes are text or numbers"),
        ('{"group": "r", "a": 1e999}', "'a' is inf; use a finite number, or null for none"),
        ('{"group": "r", "a": "x\\u0000"}', "'a' has a NUL byte; write the file again without it"),
        ('{"group": "r", "a": "\\ud800"}', "'a' has an incomplete character; write the file as UTF-8"),
        ('{"group": "\\u0000", "a": 1}', "the group id has a NUL byte; write the file again without it"),
        ('{"group": "\\ud800", "a": 1}', "the group id '\\ud800' has an incomplete character; write ids as UTF-8"),
        ('{"group": null, "a": 1}', "the group id is empty; every row needs one"),
        ('{"a": 1}', "the group id is empty; every row needs one"),
        ('{"group": 1.0, "a": 1}', "the group id is a fraction; ids are text or whole numbers"),
        ('{"group": true, "a": 1}', "the group id is true or false; ids are text or whole numbers"),
        ('{"group": "q", "a": 1}', "group 'q' is in line 1 already; keep one of the two"),
        ('{"group": "r", "weight": "two"}', "weight 'two' is not a number; write it like 0.5, -2 or 1e-3"),
        ('{"group": "r", "weight": true}', "the weight is true or false; write a number, or null for none"),
        ('{"group": "r", "weight": -1}', "the weight is negative; weights are 0 or more"),
        ('{"group": "r", "weight": 1e999}', "the weight is too large for a double; use a finite number"),
        (
            '{"group": "r", "weight": 1' + "0" * 399 + "}",
            "the weight is too large for a double; use a finite number",
        ),
        (
            '{"group": "r", "weight": 1' + "0" * 400 + "}",
            "a whole number of 401 digits is too large; use a smaller one, or text for an id",
        ),
    ],
)
def test_wrong_json_lines(line: str, message: str) -> None:
    assert refusal('{"group": "q", "a": 1}\n\n' + line + "\n", "jsonl") == f"<stdin>:3: {message}"


def test_wrong_keys_of_json_lines() -> None:
    assert refusal('{"uid": "q", "a": 1}\n') == (
        "<stdin>: no column 'group'; the columns are 'uid', 'a': name the group column with group='uid'"
    )
    assert refusal('{"group": "q", "": 1}\n') == (
        "<stdin>: column 2 has no name; name it, or choose others with attributes="
    )
    assert refusal('{"group": "q", "\\ud800": 1}\n') == (
        "<stdin>: a column's name has an incomplete character; write the file as UTF-8"
    )


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            GroupColumns(weight="v"),
            "no column 'v'; the columns are 'group', 'a', 'weight': name the weight column with weight='weight'",
        ),
        (
            GroupColumns(attributes=("b",)),
            "no column 'b'; the columns are 'group', 'a', 'weight': name the attribute column with attributes=",
        ),
        (GroupColumns(attributes=("group",)), "column 'group' is the group column; leave it out of attributes="),
        (
            GroupColumns(weight="weight", attributes=("weight",)),
            "column 'weight' is the weight column; leave it out of attributes=",
        ),
        (
            GroupColumns(weight="group"),
            "column 'group' cannot be both the group and the weight; name another one with weight=",
        ),
        (
            GroupColumns(attributes=("",)),
            "no column ''; the columns are 'group', 'a', 'weight': name the attribute column with attributes=",
        ),
    ],
)
def test_wrong_columns(columns: GroupColumns, message: str) -> None:
    assert refusal("group,a,weight\nq,1,2\n", columns=columns) == f"<stdin>:1: {message}"
    assert refusal('{"group": "q", "a": 1, "weight": 2}\n', columns=columns) == f"<stdin>: {message}"


def test_wrong_readers() -> None:
    choice = "csv tsv json jsonl yaml parquet trec_eval"
    assert refusal("group,a\nq,1\n", "trec") == f"no reader 'trec' for groups; choose one of {choice}"
    assert refusal("1 qid:3 1:0.5\n") == (
        "<stdin>: this file is read as svmlight, which is not supported for groups; name another with reader= "
        f"({choice})"
    )


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ([1], "cannot read a list; give a path, a frame (pandas, polars, Arrow and others) or a dict of arrays"),
        ({"group": ["q"], "a": "x"}, "column 'a' is a single str; give one value per row"),
        (
            {"group": ["q", "r"], "a": [1]},
            "the columns differ in length ('group' 2, 'a' 1); give one value per row in each",
        ),
        ({"group": ["q", "q"], "a": [1, 2]}, "row 2: group 'q' is in row 1 already; keep one of the two"),
        ({"group": [None], "a": [1]}, "row 1: the group id is empty; every row needs one"),
        ({"group": [2.5], "a": [1]}, "row 1: the group id is a fraction; ids are text or whole numbers"),
        ({"group": ["q"], "a": [b"x"]}, "row 1: 'a' is a bytes; attributes are text or numbers"),
        ({"group": ["q"], "weight": [np.inf]}, "row 1: the weight is too large for a double; use a finite number"),
        ({"group": ["q"], 7: [float("-inf")]}, "row 1: '7' is -inf; use a finite number, or null for none"),
        ({"group": [], "a": []}, "there are no rows; give at least one"),
    ],
)
def test_wrong_frames(frame: Mapping[Any, Any], message: str) -> None:
    assert frame_refusal(frame) == message


def test_nan_is_an_error_in_arrow(tmp_path: Path) -> None:
    table = pa.table({"group": ["q", "r"], "a": [1.0, float("nan")]})
    message = "row 2: 'a' is nan; use a finite number, or null for none"
    assert frame_refusal(table) == message
    path = tmp_path / "groups.parquet"
    pq.write_table(table, path)
    with pytest.raises(InputError) as caught:
        read_groups(str(path))
    assert str(caught.value) == f"{path}: {message}"


def test_broken_parquet(tmp_path: Path) -> None:
    path = tmp_path / "groups.parquet"
    path.write_bytes(b"PAR1 no more")
    with pytest.raises(InputError) as caught:
        read_groups(str(path))
    assert str(caught.value).startswith(f"{path}: not a readable Parquet file (")
    pq.write_table(pa.table({"group": [str(n) for n in range(999)], "a": list(range(999))}), path)
    damaged = bytearray(path.read_bytes())
    damaged[20:200] = bytes(180)
    path.write_bytes(damaged)
    with pytest.raises(InputError) as caught:
        read_groups(str(path))
    assert str(caught.value).endswith("; write the file again")


texts = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), min_size=1, max_size=9)
names = texts.filter(lambda name: bool(name.strip()) and name not in ("group", "weight"))
weights = st.none() | st.floats(0, 1e30)
Tables = tuple[list[str], dict[str, list[Any]], list[float | None]]


@st.composite
def tables(draw: st.DrawFn, values: st.SearchStrategy[Any]) -> Tables:
    """Return group ids, attributes by name, and weights."""
    keys = draw(st.lists(texts, min_size=1, max_size=5, unique=True))
    column = st.lists(st.none() | values, min_size=len(keys), max_size=len(keys))
    attributes = {name: draw(column) for name in draw(st.lists(names, min_size=1, max_size=3, unique=True))}
    return keys, attributes, draw(st.lists(weights, min_size=len(keys), max_size=len(keys)))


@given(tables(texts), st.sampled_from("\t,"), st.sampled_from(["\n", "\r\n"]))
@example((["007", "NA"], {"a": [" ", "null"]}, [0.1, None]), ",", "\n")
def test_a_table_comes_back_the_same_through_csv(table: Tables, delimiter: str, end: str) -> None:
    keys, attributes, of_groups = table
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator=end)
    writer.writerow(["weight", *attributes, "group"])
    writer.writerows(zip(of_groups, *attributes.values(), keys, strict=True))
    reader = "csv" if delimiter == "," else "tsv"
    assert read(text.getvalue(), reader) == (keys, of_groups, attributes)


anything = texts | st.integers() | st.floats(allow_nan=False, allow_infinity=False)


@given(tables(anything), st.booleans())
def test_a_table_comes_back_the_same_through_json_lines_and_frames(table: Tables, leaves_out: bool) -> None:
    keys, attributes, of_groups = table
    columns: dict[str, list[Any]] = {"weight": of_groups, **attributes, "group": keys}
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    kept = [{name: cell for name, cell in row.items() if cell is not None} if leaves_out else row for row in rows]
    some = {name: cells for name, cells in attributes.items() if not leaves_out or cells != [None] * len(keys)}
    expected = (keys, of_groups, some)
    if some and (not leaves_out or any(weight is not None for weight in of_groups)):
        assert read("".join(json.dumps(row) + "\n" for row in kept), "jsonl") == expected
    assert parts(read_groups(columns)) == (keys, of_groups, attributes)


PIECES = [
    *(
        "group",
        "a",
        "weight",
        ",",
        "\n",
        '"',
        "q",
        "1",
        " ",
        "-",
        "{",
        "}",
        ":",
        "null",
        "\t",
        "\r",
        "\\u0000",
        "[",
        "é",
    ),
    *('{"group": "q", ', '"a": 1}', '"weight": '),
]
soup = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


@given(soup, st.sampled_from(["csv", "tsv", "jsonl", "parquet"]), st.booleans())
def test_whatever_comes_is_read_or_refused_in_one_line(text: str, reader: str, has_header: bool) -> None:
    message = outcome(("group,a,weight\n" if has_header else "") + text, reader)
    assert "\n" not in message
    assert not message or ";" in message or "name the" in message
