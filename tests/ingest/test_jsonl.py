from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ingest_outcomes import exact_outcome, exact_rows
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
        ('{"group": "q", "score": "1"}', "the score is text; write a number, or null for none"),
        ('{"group": "q", "score": true}', "the score is true or false; write a number, or null for none"),
        ('{"group": 1.5, "score": 1}', "the group id is a fraction; ids are text or whole numbers"),
        ('{"group": true, "score": 1}', "the group id is true or false; ids are text or whole numbers"),
        ('{"group": ["q"], "item": "a"}', "the group id is an array; ids are text or whole numbers"),
        ('{"group": "q", "item": [["a"]]}', "the item id is an array; ids are text or whole numbers"),
        ('{"group": "q", "item": {}}', "the item id is an object; ids are text or whole numbers"),
        ('{"group": "\\ud800", "score": 1}', "the group id '\\ud800' has an incomplete character; write ids as UTF-8"),
        ('{"group": "q\\u0000", "item": "b"}', "the group id has a NUL byte; write the file again without it"),
        ('{"item": "b", "score": 1}', "the group id is empty; every row needs one"),
        ('{"group": "q", "score": 1}', "the item id is empty; every row needs one"),
        (ROW.strip(), "item 'a' of group 'q' is in line 1 already; keep one of the two" + OR_ALLOW),
        ('{"x": ' + "[" * 100_000, "JSON nested too deeply; write one object per line"),
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


def test_a_column_may_have_two_roles() -> None:
    assert outcome(b'{"group":"q","score":1}\n', Columns(item="score")) == ([("q", "1", 1.0)], None, None)
