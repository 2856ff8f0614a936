from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ingest_outcomes import DOUBT, exact_outcome, exact_rows, fast_outcome, fast_rows
from refused import OR_ALLOW
from thorough import examples

from ndcg_tracker.ingest.columns import LABEL_TABLE, RUN_TABLE, Columns
from ndcg_tracker.ingest.formats.jsonl import JsonLines
from ndcg_tracker.ingest.source import Source

pytestmark = pytest.mark.filterwarnings("ignore:the ids of the|lists of items without labels")


def outcome(content: bytes, columns: Columns = Columns()) -> Any:
    def rows(source: Source) -> Any:
        return exact_rows(source, JsonLines(columns, RUN_TABLE))

    return exact_outcome(content, rows)


ids = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=9)
numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**70), 2**70)


@settings(deadline=None)
@given(
    st.dictionaries(st.tuples(ids, ids), st.tuples(numbers, st.none() | numbers), min_size=1, max_size=9), st.booleans()
)
def test_tables_come_back_the_same(rows: dict[tuple[str, str], tuple[float, float | None]], ascii_only: bool) -> None:
    lines = [
        json.dumps({"label": label, "item": item, "group": group, "score": score}, ensure_ascii=ascii_only)
        for (group, item), (score, label) in rows.items()
    ]
    ranking, labels, weights = outcome("\n".join(lines).encode())
    assert {(group, item): score for group, item, score in ranking} == {k: float(v[0]) for k, v in rows.items()}
    graded = {pair: float(row[1]) for pair, row in rows.items() if row[1] is not None}
    assert {(group, item): grade for group, item, grade in labels or []} == graded
    assert weights is None


def test_absent_and_null_keys_are_null_and_whole_numbers_are_ids() -> None:
    content = b"""\xef\xbb\xbf{"group": 7, "item": "007", "score": 1, "label": true}\r

{"group": 7, "item": 8, "score": null, "label": 0, "text": {"any": [1]}}
{"group": "NA", "item": "x", "score": 2.5}
"""
    assert outcome(content) == ([("7", "007", 1.0), ("NA", "x", 2.5)], [("7", "007", 1.0), ("7", "8", 0.0)], None)


def test_without_items_rows_are_numbered() -> None:
    content = b'{"group": "q", "score": 1, "weight": 2}\n{"group": "q", "score": 3, "weight": 2}\n'
    assert outcome(content) == ([("q", "2", 3.0), ("q", "1", 1.0)], None, (["q"], [2.0], [False]))


def test_labels_need_no_score() -> None:
    content = b'{"group": "q", "item": "a", "label": 2}\n{"group": "q", "item": "b"}\n'
    rows = exact_outcome(content, lambda source: exact_rows(source, JsonLines(Columns(), LABEL_TABLE)), labels=True)
    assert rows == [("q", "a", 2.0)]


ROW = '{"group": "q", "item": "a", "score": 1}\n'


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("[1]", "not a JSON object; write one {...} per line"),
        ('{"group": "q"', "not valid JSON (Expecting ',' delimiter, column 14); write one object per line"),
        ('{"group": "q"} x', "not valid JSON (Extra data, column 16); write one object per line"),
        ('{"group": "q", "group": "r"}', "key 'group' is there twice; keep one of the two"),
        ('{"group": "q", "score": NaN}', "NaN is not a JSON number; use a finite number, or null for none"),
        ('{"group": "q", "x": Infinity}', "Infinity is not a JSON number; use a finite number, or null for none"),
        ('{"group": "q", "score": 1e400}', "the score is too large for a double; use a finite number"),
        ('{"group": "q", "score": 1' + "0" * 309 + "}", "the score is too large for a double; use a finite number"),
        (
            '{"group": "q", "score": ' + "1" * 5000 + "}",
            "a whole number of 5000 digits is too large; use a smaller one, or text for an id",
        ),
        ('{"group": "q", "score": "1"}', "the score is a JSON string; write a number, or null for none"),
        ('{"group": "q", "score": true}', "the score is a JSON true or false; write a number, or null for none"),
        ('{"group": 1.5, "score": 1}', "the group id is a JSON fraction; ids are text or whole numbers"),
        ('{"group": true, "score": 1}', "the group id is a JSON true or false; ids are text or whole numbers"),
        ('{"group": ["q"], "item": "a"}', "the group id is a JSON array; ids are text or whole numbers"),
        ('{"group": "q", "item": [["a"]]}', "the item id is a JSON array; ids are text or whole numbers"),
        ('{"group": "q", "item": {}}', "the item id is a JSON object; ids are text or whole numbers"),
        ('{"group": "\\ud800", "score": 1}', "the group id '\\ud800' has an incomplete character; write ids as UTF-8"),
        ('{"group": "q\\u0000", "item": "b"}', "the group id has a NUL byte; write the file again without it"),
        ('{"item": "b", "score": 1}', "the group id is empty; every row needs one"),
        ('{"group": "q", "score": 1}', "the item id is empty; every row needs one"),
        (ROW.strip(), "item 'a' of group 'q' is in line 1 already; keep one of the two" + OR_ALLOW),
        ('{"x": ' + "[" * 100_000, "JSON nested too deeply; write one flat object per line"),
        ("\ufeff{}", "not valid JSON (Expecting value, column 1); write one object per line"),
    ],
)
def test_every_refusal_names_the_line(line: str, what: str) -> None:
    assert outcome(f"{ROW}\n{line}\n".encode()) == f"<stdin>:3: {what}"


def test_columns_that_no_line_has_are_refused() -> None:
    listed = "the columns are 'group', 'item', 'score'"
    assert (
        outcome(ROW.encode(), Columns(label="rel"))
        == f"<stdin>: no column 'rel'; {listed}: name the label column with label="
    )
    assert outcome(b"{}\n") == (
        "<stdin>: no columns 'group' and 'score'; the columns are none: name the group column with group= and "
        "the score column with score="
    )


pieces = [
    "{",
    "}",
    "[",
    "]",
    '"group"',
    '"score"',
    ":",
    ",",
    "1",
    "-",
    "e",
    "NaN",
    "null",
    '"',
    "\\",
    "\n",
    "\r",
    " ",
    "\0",
    "\xff",
]


@settings(deadline=None, max_examples=examples(300))
@given(st.lists(st.sampled_from(pieces), max_size=14).map("".join))
def test_nothing_but_refusals_comes_out_of_any_bytes(text: str) -> None:
    for content in (text.encode(), text.encode("latin-1"), b'{"group":"q","score":1}\n' + text.encode()):
        found = outcome(content)
        assert isinstance(found, str) or len(found[0]) <= content.count(b"\n") + 1


def quick_outcome(content: bytes, columns: Columns = Columns(), block_size: int = 1 << 24) -> Any:
    return fast_outcome(content, lambda source: fast_rows(source, JsonLines(columns, RUN_TABLE), block_size))


values = st.none() | st.booleans() | numbers | ids | st.just("score") | st.lists(st.integers(), max_size=1)
fields = st.dictionaries(st.sampled_from(["item", "label", "weight", "text", "n", 'a"b', "größe"]), values, max_size=4)
records = st.builds(
    lambda group, score, more: {"group": group, "score": score, "item": "d"} | more,
    st.sampled_from(["q", "r", 7]),
    st.none() | numbers,
    fields,
)


@settings(max_examples=examples(400))
@given(st.lists(records, min_size=1, max_size=4), st.booleans(), st.integers(1, 200))
def test_the_fast_path_reads_any_values_as_the_exact_one_or_doubts(
    rows: list[dict[str, Any]], ascii_only: bool, block_size: int
) -> None:
    for number_of_row, row in enumerate(rows):
        if row["item"] == "d":
            row["item"] = f"d{number_of_row}"
    content = "\n".join(json.dumps(row, ensure_ascii=ascii_only) for row in rows).encode()
    assert quick_outcome(content, block_size=block_size) in (DOUBT, outcome(content))


@settings(max_examples=examples(200))
@given(st.dictionaries(st.tuples(ids, ids), st.tuples(numbers, st.none() | numbers), min_size=1, max_size=9))
def test_the_fast_path_takes_plain_tables(rows: dict[tuple[str, str], tuple[float, float | None]]) -> None:
    lines = [
        json.dumps(
            {"label": label, "item": item, "group": group, "score": score + 0.0, "n": 1, "text": "x", "ok": True}
        )
        for (group, item), (score, label) in rows.items()
    ]
    content = "\n".join(lines).encode()
    quick = quick_outcome(content)
    assert quick in (DOUBT, outcome(content))
    if b"-0.0" not in content and b": -0" not in content and b"\\" not in content:
        assert quick != DOUBT


JSON_PIECES = [
    *(
        "{",
        "}",
        "[",
        "]",
        '"group"',
        '"score"',
        '"item"',
        ":",
        ",",
        "1",
        "-",
        "e",
        "NaN",
        "Infinity",
        "null",
        '"',
        "\\",
    ),
    *(
        "\n",
        "\r",
        " ",
        "\t",
        "\0",
        "\x0b",
        "\xff",
        "\ud83d",
        "\\u0000",
        "\\ud800",
        "\\u0069tem",
        "01",
        "1.",
        ".5",
        "+1",
    ),
    *(
        "-0",
        "1e400",
        "-1e-400",
        "123456789012345678901234567890",
        "0.1000000000000000055",
        "true",
        "\ufeff",
        "//x",
        "/*x*/",
    ),
    *('{"group":"r","score":2,"item":"e"}', '"score":NaN', '"x":1,"x":2,', '"x":NaN,', '"x":"\ud800",', '"item":null,'),
    *("4.35", "9007199254740993", "1.7976931348623157e308", "2.2250738585072011e-308"),
]
JSON_GOOD = '{"group":"q","item":"a","score":1.5,"label":2,"x":3}\n{"group":"q","item":"b","score":0.5,"x":null}\n'


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Return a well-formed file with a few pieces put in or in place of something."""
    content = JSON_GOOD
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.integers(0, 5)))
        content = content[:start] + draw(st.sampled_from(JSON_PIECES)) + content[end:]
    return content.encode("utf-8", "surrogatepass") if draw(st.booleans()) else content.encode("latin-1", "replace")


@settings(max_examples=examples(1000))
@given(damaged(), st.integers(1, 200))
@example(b'{"group":"q","score":1}{"group":"r","score":2}\n', 99)
@example(b'{"group":"q","score":1}{"group":"r","score":2}\n{"group":"s",\n"score":1}', 99)
@example(b'{"group":"q",\n"score":1}\n', 99)
@example(b'{"group":"q","score":1,"x":NaN}\n', 99)
@example(b'{"group":"q","score":Infinity}\n', 99)
@example(b'{"group":"q","x":null,"x":null,"score":1}\n', 99)
@example(b'{"group":"q","score":null,"score":1}\n', 99)
@example(b'{"group":"q","score":1}\nnull\n', 99)
@example(b'{"group":"q","score":1}\n{}\n', 99)
@example(b'{"group":"q","score":1,"y":"\xff"}\n', 99)
@example(b'{"group":"q","score":-0}\n', 99)
@example(b'{"group":"q","score":1}\n{"group":"q","score":2,"item":"x"}\n', 9)
@example(b'{"group":"q","score":1}\n{"group":"q","score":2,"weight":1}\n', 9)
@example(b'{"group":"q","score":1,"item":"x"}\n{"group":"q","score":2}\n', 9)
def test_the_fast_path_accepts_nothing_that_the_exact_one_refuses(content: bytes, block_size: int) -> None:
    assert quick_outcome(content, block_size=block_size) in (DOUBT, outcome(content))


def test_the_fast_path_doubts_a_column_of_two_roles() -> None:
    content = b'{"group":"q","score":1}\n'
    columns = Columns(item="score")
    assert quick_outcome(content, columns) == DOUBT
    assert outcome(content, columns) == ([("q", "1", 1.0)], None, None)
