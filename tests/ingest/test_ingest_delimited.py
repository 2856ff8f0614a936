from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ingest_outcomes import DOUBT, exact_outcome, exact_rows, fast_outcome, fast_rows, listed, run_parts, source_of
from refused import OR_ALLOW
from thorough import examples

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.cells import NoPlaces
from ndcg_tracker.ingest.columns import LABEL_TABLE, RUN_TABLE, Columns, Wanted
from ndcg_tracker.ingest.formats.delimited import Delimited
from ndcg_tracker.ingest.group_blocks import text_group_blocks
from ndcg_tracker.ingest.reading import ranked_blocks, read_labels, read_run
from ndcg_tracker.ingest.source import Source
from ndcg_tracker.ingest.table import ranked_table


def exact(delimiter: bytes = b",", columns: Columns = Columns(), wanted: Wanted = RUN_TABLE) -> Callable[[Source], Any]:
    return lambda source: exact_rows(source, Delimited(delimiter, columns, wanted))


def fast(
    delimiter: bytes = b",", columns: Columns = Columns(), wanted: Wanted = RUN_TABLE, block_size: int = 1 << 24
) -> Callable[[Source], Any]:
    return lambda source: fast_rows(source, Delimited(delimiter, columns, wanted), block_size)


PIECES = [
    *(b",", b",,", b"\t", b"\n", b"\r\n", b"\r", b'"', b'""', b'","', b" ", b"  ", b"\0", b"\xff", b"\xef\xbb\xbf"),
    *(b"\xc2\x85", b"\xe2\x80\xa8", b"\x0b", b"group", b"item", b"score", b"label", b"weight", b"q1", b"d1", b"007"),
    *(b"NA", b"null", b"nan", b"NaN", b"inf", b"1e400", b"1_0", b"0x1", b"+1", b".5", b"5.", b"-", b"1e", b"", b"2"),
    *(b'"a,b"', b'"a\nb"', b'"a""b"', b"true", b"d" * 2001, "größe".encode()),
]
GOOD = b'group,item,score,label,weight,text\nq1,d1,2.5,1,1,x\nq1,"d,2",1.5,,1,"y"\nq2,d1,,0,.5,\n'


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Return a well-formed file with a few pieces put in or in place of something."""
    content = GOOD
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.integers(0, 4)))
        content = content[:start] + draw(st.sampled_from(PIECES)) + content[end:]
    return content


soup = st.lists(st.sampled_from(PIECES), max_size=14).map(lambda pieces: b"group,item,score\n" + b"".join(pieces))


@settings(deadline=None, max_examples=examples(400))
@given(st.one_of(damaged(), soup), st.integers(1, 64))
@example(b'group,item,score\nq,"a"b,1\n', 64)
@example(b'group,item,score\nq,a"b,1\n', 64)
@example(b'group,item,score\nq,"a\nb",1\n', 8)
@example(b"group,item,score\nq,a, 1\t\n", 64)
@example(b"group,item,score\nq,a,  \nq,b,1\n", 64)
@example(b'group,item,score\nq,a,""\nq,b,"1"\n', 64)
@example(b"group,item,score\n\xef\xbb\xbfq,a,1\n", 64)
@example(b'"group",item,score\r\nq,a,1\r\n', 64)
def test_the_fast_path_reads_what_the_exact_one_reads_or_doubts(content: bytes, block_size: int) -> None:
    assert fast_outcome(content, fast(block_size=block_size)) in (DOUBT, exact_outcome(content, exact()))


cells = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), min_size=1, max_size=9)
numbers = st.floats(allow_nan=False, allow_infinity=False)
maybe = st.none() | numbers


@settings(deadline=None)
@given(
    st.dictionaries(st.tuples(cells, cells), st.tuples(numbers, maybe), min_size=1, max_size=9),
    st.sampled_from([",", "\t"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    st.integers(1, 99),
)
def test_well_formed_tables_come_back_the_same_through_both_paths(
    rows: dict[tuple[str, str], tuple[float, float | None]], delimiter: str, end: str, quoting: Any, block_size: int
) -> None:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator=end, quoting=quoting)
    writer.writerow(["label", "item", "group", "score"])
    for (group, item), (score, label) in rows.items():
        writer.writerow(["" if label is None else label, item, group, score])
    content = text.getvalue().encode()
    ranking, labels, weights = exact_outcome(content, exact(delimiter.encode()))
    assert {(group, item): score for group, item, score in ranking} == {pair: row[0] for pair, row in rows.items()}
    graded = {pair: row[1] for pair, row in rows.items() if row[1] is not None}
    assert {(group, item): grade for group, item, grade in labels or []} == graded
    assert weights is None
    quick = fast_outcome(content, fast(delimiter.encode(), block_size=block_size))
    assert quick in (DOUBT, (ranking, labels, weights))
    if '"' not in text.getvalue():
        assert quick != DOUBT


def test_the_fast_path_takes_quoted_cells_and_empty_ones() -> None:
    content = b'"group","item","score","label","weight"\n"q","a,b",2,,3\n"q","",1,"",""\n'.replace(b'"",1', b'"c",1')
    content = content.replace(b',"",""\n', b',"",3\n')
    expected = ([("q", "a,b", 2.0), ("q", "c", 1.0)], None, (["q"], [3.0], [False]))
    assert exact_outcome(content, exact()) == fast_outcome(content, fast()) == expected


def test_nulls_say_judged_but_not_retrieved_and_unjudged() -> None:
    content = b"group,item,score,label\nq,a,2,\nq,b,,1\nr,c,,0\ns,d,1,\nq,e,,\n"
    expected = ([("q", "a", 2.0), ("s", "d", 1.0)], [("q", "b", 1.0), ("r", "c", 0.0)], None)
    assert exact_outcome(content, exact()) == fast_outcome(content, fast()) == expected


def test_weights_are_constant_or_vary_within_a_group() -> None:
    content = b"group,score,weight\na,3,0.1\na,2,0.1\na,1,0.1\nb,1,1\nb,2,2\nc,1,0\n"
    expected = ["a", "b", "c"], [0.1, 1.5, 0.0], [False, True, False]
    assert exact_outcome(content, exact())[2] == fast_outcome(content, fast())[2] == expected


def test_without_an_item_column_items_are_numbered_in_file_order() -> None:
    content = b"score,group\n1,a\n5,b\n,a\n3,a\n"
    expected = [("a", "3", 3.0), ("a", "1", 1.0), ("b", "1", 5.0)]
    assert exact_outcome(content, exact())[0] == fast_outcome(content, fast())[0] == expected


def test_columns_can_be_named() -> None:
    content = b"qid\tdoc\tgroup\tbm25\n007\tNA\tx\t1\n"
    columns = Columns(group="qid", item="doc", score="bm25")
    expected = ([("007", "NA", 1.0)], None, None)
    assert exact_outcome(content, exact(b"\t", columns)) == expected
    assert fast_outcome(content, fast(b"\t", columns)) == expected


HEADER = Columns(group="qid", header=("qid", "-", "item", "-", "score"))


@given(st.integers(1, 64), st.sampled_from([b"", b"\xef\xbb\xbf", b"\r\n"]))
def test_a_table_without_header_whose_columns_are_named(size: int, start: bytes) -> None:
    content = start + b"007,x,NA,,1\nq,y,b,,2\n\nq,z,c,,3"
    expected = ([("007", "NA", 1.0), ("q", "c", 3.0), ("q", "b", 2.0)], None, None)
    assert exact_outcome(content, exact(columns=HEADER)) == expected
    with source_of(content) as source:
        rows = fast_rows(source, Delimited(b",", HEADER, RUN_TABLE), size)
    assert run_parts(ranked_table(rows, NoPlaces())) == expected
    for is_fast in (False, True):
        with source_of(content) as source:
            table = Delimited(b",", HEADER, RUN_TABLE)
            blocks = list(ranked_blocks(source, text_group_blocks(source, table, size, fast=is_fast), None))
        assert [row for block in blocks for row in listed(block.ranking) or ()] == expected[0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"q,x,d,1\n", "<stdin>:1: 4 cells where columns= names 5; correct the line"),
        (b"\nq,x,d,1,one\n", "<stdin>:2: score 'one' is not a number; write it like 0.5, -2 or 1e-3"),
        (b"qid,-,item,-,score\nq,x,d,,1\n", "<stdin>:1: the first line names the columns; leave out columns="),
        (b"\n\n", "<stdin>: there are no rows; give at least one"),
    ],
)
def test_what_is_wrong_in_a_table_without_header(content: bytes, message: str) -> None:
    assert exact_outcome(content, exact(columns=HEADER)) == message
    assert fast_outcome(content, fast(columns=HEADER)) == DOUBT


def test_given_columns_that_lack_one() -> None:
    found = exact_outcome(b"q,d,1\n", exact(columns=Columns(header=("group", "item", "rang"))))
    assert str(found).startswith("<stdin>: no column 'score'; the columns are 'group', 'item', 'rang'")


def test_a_header_that_may_be_a_row_is_told() -> None:
    found = str(exact_outcome(b"1048585\t7187158\t1\n", exact(b"\t")))
    assert found.startswith("<stdin>:1: no columns 'group' and 'score'; the columns are '1048585', '7187158', '1'")
    assert found.endswith("; if this line is a row, name the columns with columns='NAME,NAME,...'")


def test_labels_need_no_score() -> None:
    content = b"group,item,label\nq,a,1.5\nq,b,\n"
    assert exact_outcome(content, exact(wanted=LABEL_TABLE), labels=True) == [("q", "a", 1.5)]
    assert fast_outcome(content, fast(wanted=LABEL_TABLE), labels=True) == [("q", "a", 1.5)]


def test_labels_may_be_true() -> None:
    content = b"group,item,label\nq,a,True\nq,b,False\nq,c,true\nq,d,\n"
    expected = [("q", "a", 1.0), ("q", "b", 0.0), ("q", "c", 1.0)]
    assert exact_outcome(content, exact(wanted=LABEL_TABLE), labels=True) == expected
    assert fast_outcome(content, fast(wanted=LABEL_TABLE), labels=True) in (expected, DOUBT)
    assert str(exact_outcome(b"group,item,score\nq,a,True\n", exact())) == (
        "<stdin>:2: score 'True' is not a number; write it like 0.5, -2 or 1e-3"
    )


@pytest.mark.parametrize(
    ("content", "columns", "message"),
    [
        (b"group,item,score\n", Columns(), "<stdin>: there are no rows; give at least one"),
        (
            b"\nquery,doc,score\nq,d,1\n",
            Columns(),
            "<stdin>:2: no column 'group'; the columns are 'query', 'doc', 'score': name the group column with "
            "group='query'",
        ),
        (
            b"group,score\nq,1\n",
            Columns(item="doc"),
            "<stdin>:1: no column 'doc'; the columns are 'group', 'score': name the item column with item=",
        ),
        (b"group,score,score\nq,1,2\n", Columns(), "<stdin>:1: column 'score' appears 2 times; rename all but one"),
        (b"group,score\nq,1\nq,1,2\n", Columns(), "<stdin>:3: 3 cells where the header has 2; correct the line"),
        (b"group,score\nq\n", Columns(), "<stdin>:2: 1 cell where the header has 2; correct the line"),
        (b"group,score\nq,NaN\n", Columns(), "<stdin>:2: score 'NaN' is not a number; write it like 0.5, -2 or 1e-3"),
        (
            b"group,score,label\nq,1,inf\n",
            Columns(),
            "<stdin>:2: label 'inf' is not a number; write it like 0.5, -2 or 1e-3",
        ),
        (
            b"group,score\nq,-1e999\n",
            Columns(),
            "<stdin>:2: score '-1e999' is too large for a double; use a finite number",
        ),
        (b"group,score\nq,1\n,1\n", Columns(), "<stdin>:3: the group id is empty; every row needs one"),
        (b"group,item,score\nq,a,1\nq,,1\n", Columns(), "<stdin>:3: the item id is empty; every row needs one"),
        (
            b"group,item,score\nq,a,\n",
            Columns(),
            "<stdin>: no row has a score; name the score column, or read the file as labels",
        ),
        (b"group,score,weight\nq,1,1\nq,1,\n", Columns(), "<stdin>:3: the weight is empty; every row needs one"),
        (
            b"group,score,weight\nq,1,1e30\nq,1,2e30\n",
            Columns(),
            "<stdin>:3: the weight is above 1e+30; give weights of a common size, such as 1 for most groups",
        ),
        (b"group,score,weight\nq,1,-1\n", Columns(), "<stdin>:2: the weight is negative; weights are 0 or more"),
        (
            b'group,item,score\nq,"a\nb",1\nq,c,1\nq,"a\nb",\n',
            Columns(),
            "<stdin>:5: item 'a\\nb' of group 'q' is in line 2 already; keep one of the two" + OR_ALLOW,
        ),
        (b'group,score\nq,1\n"q,1\nq,1\n', Columns(), "<stdin>:3: a quote is never closed; close it or double it"),
        (b'group,score\n"q"r,1\n', Columns(), "<stdin>:2: text after a closing quote; double the quotes inside a cell"),
        (b"group,score\nq,1\nq\xe9,1\n", Columns(), "<stdin>:3: byte 0xe9 is not UTF-8; save the file as UTF-8"),
        (b"group,score\nq\0,1\n", Columns(), "<stdin>:2: a NUL byte; write the file again as text without it"),
    ],
)
def test_every_refusal_names_the_line(content: bytes, columns: Columns, message: str) -> None:
    assert exact_outcome(content, exact(columns=columns)) == message
    assert fast_outcome(content, fast(columns=columns)) == DOUBT


def test_a_record_without_end_is_cut_short() -> None:
    content = b'group,score\n"q' + b"x" * (1 << 20) + b"\n" + (b"y" * (1 << 20) + b"\n") * 17
    expected = "<stdin>:2: a record longer than 16 MiB; is a quote never closed?"
    assert exact_outcome(content, exact()) == expected


def test_long_headers_are_listed_in_part() -> None:
    header = ",".join(f"c{place}" for place in range(25))
    listed = ", ".join(f"'c{place}'" for place in range(20))
    expected = (
        f"<stdin>:1: no columns 'group' and 'score'; the columns are {listed} and 5 more: name the group column with "
    )
    assert exact_outcome(header.encode() + b"\n", exact()) == expected + "group= and the score column with score="


def test_quepid_judgments_are_labels_and_a_query_without_any_is_left_out() -> None:
    def rows(text: str, columns: Columns = Columns()) -> Any:
        return exact_outcome(
            text.encode(), lambda source: exact_rows(source, Delimited(b",", columns, LABEL_TABLE)), labels=True
        )

    assert rows('query,docid,rating\ntent,7,3\nlamp,,\n"red, big",8,0.5\ntent,9,\n') == [
        ("tent", "7", 3.0),
        ("red, big", "8", 0.5),
    ]
    book = "query,docid,Ann Lee,Anonymous\ntent,7,3,\ntent,8,,1\n"
    assert rows(book, Columns(label="Ann Lee")) == [("tent", "7", 3.0)]
    listed = "the columns are 'query', 'docid', 'Ann Lee', 'Anonymous'"
    assert rows(book) == f"<stdin>:1: no column 'rating'; {listed}: name the label column with label="
    assert rows("query,docid,rating\ntent,,3\n") == "<stdin>:2: the item id is empty; every row needs one"
    assert rows("group,item,label\ntent,,\n") == "<stdin>:2: the item id is empty; every row needs one"


def test_quepid_judgments_that_are_all_given_are_read_quickly(tmp_path: Path) -> None:
    lines = ["query,docid,rating", *(f"query {row // 10},document {row},{row % 4}" for row in range(120_000))]
    path = tmp_path / "case_7_judgements.csv"
    path.write_text("\n".join(lines))
    labels = read_labels(str(path))
    assert labels.n_items == 120_000
    path.write_text("\n".join([*lines, "lamp,,", ""]))
    assert read_labels(str(path)).digest() == labels.digest()


@pytest.mark.parametrize(("mark", "told"), [(";", "';'"), ("\t", "tabs"), ("|", "'|'")])
def test_a_header_with_another_separator_is_told(tmp_path: Path, mark: str, told: str) -> None:
    path = tmp_path / "run.csv"
    path.write_text(f"group{mark}score\nq{mark}1\n", encoding="utf-8")
    with pytest.raises(InputError) as refused:
        read_run(str(path))
    assert f"is one column; is it separated by {told}? write the file with commas, or with tabs and" in str(
        refused.value
    )
