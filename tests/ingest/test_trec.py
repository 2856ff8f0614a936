from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ingest_outcomes import DOUBT, exact_outcome, fast_outcome, listed

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest import read_labels, read_run
from ndcg_tracker.ingest.sources import Source
from ndcg_tracker.ingest.trec import QRELS, RUN, exact_rows, fast_rows, small_rows

NUMBER = rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
FIELD = rb"[^ \t\n\0]+"
RUN_LINE = re.compile(
    rb"[ \t]*(%(f)s)[ \t]+%(f)s[ \t]+(%(f)s)[ \t]+%(f)s[ \t]+(%(n)s)[ \t]+%(f)s[ \t]*" % {b"f": FIELD, b"n": NUMBER}
)
QRELS_LINE = re.compile(rb"[ \t]*(%(f)s)[ \t]+%(f)s[ \t]+(%(f)s)[ \t]+(%(n)s)[ \t]*" % {b"f": FIELD, b"n": NUMBER})


def by_the_grammar(content: bytes, line_form: re.Pattern[bytes]) -> dict[tuple[str, str], float] | None:
    """Read a TREC file by a grammar written for this test alone; None for a file that is to be refused."""
    rows: dict[tuple[str, str], float] = {}
    if content[:3] == b"\xef\xbb\xbf":
        content = content[3:]
    for line in content.split(b"\n"):
        line = line[:-1] if line[-1:] == b"\r" else line
        if line.replace(b" ", b"").replace(b"\t", b"") == b"":
            continue
        match = line_form.fullmatch(line)
        if match is None:
            return None
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            return None
        pair = match[1].decode(), match[2].decode()
        value = float(match[3])
        if pair in rows or abs(value) == float("inf") or max(len(match[1]), len(match[2])) > 2000:
            return None
        rows[pair] = value
    return rows or None


def exact(source: Source) -> object:
    return exact_rows(source, RUN)


def fast(source: Source) -> object:
    return fast_rows(source, RUN)


def small(source: Source) -> object:
    return small_rows(source, RUN)


PIECES = [
    *(
        b" ",
        b"  ",
        b"\t",
        b"\n",
        b"\r\n",
        b"\r",
        b"\0",
        b"\xff",
        b"\xc2\xa0",
        b"\xe2\x80\xa8",
        b"\x0b",
        b"\x0c",
        b"\x85",
    ),
    *(
        b"\xc2\x85",
        b"\xef\xbb\xbf",
        b'"',
        b"'",
        b",",
        b"\\",
        b"#",
        b"q1",
        b"q2",
        b"Q0",
        b"d1",
        b"d2",
        b"007",
        b"NA",
        b"null",
    ),
    *(
        b"nan",
        b"inf",
        b"-Infinity",
        b"1e400",
        b"1e-400",
        b"1_000",
        b"0x1p3",
        "٣".encode(),
        b"+1",
        b".5",
        b"5.",
        b"1e3",
        b"0",
    ),
    *(b"", b"1.", b"-", b"1e", b"0.1", b"123456789012345678901234567890", b"4.35", b"q" * 2001, "größe".encode()),
]
GOOD = b"q1 Q0 d1 1 2.5 tag\nq1 Q0 d2 2 1.5 tag\nq2 Q0 d1 1 .5 tag\n"
GOOD_QRELS = b"q1 0 d1 2\nq1 0.5  d2 0\n\nq2\t0\td1\t-1\n"


@st.composite
def damaged(draw: st.DrawFn, good: bytes) -> bytes:
    """Return a well-formed file with a few pieces put in or in place of something."""
    content = good
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.integers(0, 4)))
        content = content[:start] + draw(st.sampled_from(PIECES)) + content[end:]
    return content


soup = st.lists(st.sampled_from(PIECES), max_size=14).map(b"".join)


@settings(deadline=None, max_examples=300)
@given(st.one_of(damaged(GOOD), soup), st.integers(1, 64))
@example(b"q Q0 d  1.0 tag\n", 8)
@example(b"q Q0 d 1 2.0 ", 64)
@example(b"\n\xef\xbb\xbfq Q0 d 1 2.0 t\n", 64)
@example(b"q Q0 d 1 2.0 t\n\xef\xbb\xbfr Q0 d 1 2.0 t\n", 3)
@example(b"q Q0 d 1 2.0 t\rr Q0 d 1 2.0 t\n", 64)
@example(b"q Q0 d 1 2.0 t\r\r\n", 64)
@example(b"q Q0 d 1 nan t\n", 64)
@example(b"q Q0 d 1  t\n", 64)
@example(b"q Q0 d 1 2.0\v t\n", 64)
def test_all_paths_and_the_grammar_agree_on_runs(content: bytes, block_size: int) -> None:
    expected = by_the_grammar(content, RUN_LINE)
    found = exact_outcome(content, exact)
    if expected is None:
        assert isinstance(found, str)
        assert found.startswith("<stdin>:")
        assert "\n" not in found
    else:
        assert {(group, item): score for group, item, score in found[0]} == expected
    quick = fast_outcome(content, lambda source: fast_rows(source, RUN, block_size))
    assert quick in (DOUBT, found)
    assert fast_outcome(content, small) in (DOUBT, found)


@settings(deadline=None, max_examples=300)
@given(st.one_of(damaged(GOOD_QRELS), soup), st.integers(1, 64))
def test_all_paths_and_the_grammar_agree_on_qrels(content: bytes, block_size: int) -> None:
    expected = by_the_grammar(content, QRELS_LINE)
    found = exact_outcome(content, lambda source: exact_rows(source, QRELS), labels=True)
    if expected is None:
        assert isinstance(found, str)
    else:
        assert {(group, item): grade for group, item, grade in found} == expected
    quick = fast_outcome(content, lambda source: fast_rows(source, QRELS, block_size), labels=True)
    assert quick in (DOUBT, found)
    assert fast_outcome(content, lambda source: small_rows(source, QRELS), labels=True) in (DOUBT, found)


ids = st.text(st.characters(codec="utf-8", exclude_characters=" \t\n\r\0"), min_size=1, max_size=9).filter(
    lambda text: not text.startswith("\ufeff")
)
scores = st.floats(allow_nan=False, allow_infinity=False)
separators = st.sampled_from([" ", "\t", "  ", " \t"])


@settings(deadline=None)
@given(
    st.dictionaries(st.tuples(ids, ids), scores, min_size=1, max_size=12),
    separators,
    st.sampled_from(["\n", "\r\n"]),
    st.integers(1, 99),
)
def test_well_formed_runs_come_back_the_same_through_all_paths(
    rows: dict[tuple[str, str], float], separator: str, end: str, block_size: int
) -> None:
    lines = [separator.join([group, "Q0", item, "1", repr(score), "t"]) for (group, item), score in rows.items()]
    content = (end.join(lines) + end).encode()
    found = exact_outcome(content, exact)
    assert {(group, item): score for group, item, score in found[0]} == rows
    assert fast_outcome(content, lambda source: fast_rows(source, RUN, block_size)) == found
    assert fast_outcome(content, small) == found


def test_ties_keep_the_order_of_the_file_and_scores_descend() -> None:
    content = b"q Q0 low 1 1 t\nr Q0 x 1 0 t\nq Q0 tie1 2 5 t\nq Q0 tie2 3 5 t\n"
    expected = [("q", "tie1", 5.0), ("q", "tie2", 5.0), ("q", "low", 1.0), ("r", "x", 0.0)]
    assert exact_outcome(content, exact)[0] == fast_outcome(content, fast)[0] == expected
    assert fast_outcome(content, small)[0] == expected


def test_ids_stay_as_they_are() -> None:
    content = (
        '007 Q0 NA 1 1 t\n007 Q0 null 1 1 t\n007 Q0 "a,b" 1 1 t\n007 Q0 1e5 1 1 t\n007 Q0 \u00a0\u2028 1 1 t\n'.encode()
    )
    expected = ["NA", "null", '"a,b"', "1e5", "\u00a0\u2028"]
    for outcome in (exact_outcome(content, exact), fast_outcome(content, fast), fast_outcome(content, small)):
        assert [item for _, item, _ in outcome[0]] == expected
        assert {group for group, _, _ in outcome[0]} == {"007"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"1 Q0 d 1 2.0 t\n1 Q0 e 1 2.0\n",
            "<stdin>:2: 5 fields where a TREC run line has 6 (group Q0 item rank score tag); "
            "correct the line or name another reader=",
        ),
        (
            b"1 0 d 1\n",
            "<stdin>:1: 4 fields where a TREC run line has 6 (group Q0 item rank score tag); "
            "is this a labels file? Else correct the line or name another reader=",
        ),
        (b"1 Q0 d 1 nan t\n", "<stdin>:1: score 'nan' is not a number; write it like 0.5, -2 or 1e-3"),
        (b"1 Q0 d 1 -inf t\n", "<stdin>:1: score '-inf' is not a number; write it like 0.5, -2 or 1e-3"),
        (b"1 Q0 d 1 1_000 t\n", "<stdin>:1: score '1_000' is not a number; write it like 0.5, -2 or 1e-3"),
        (b"1 Q0 d 1 1e400 t\n", "<stdin>:1: score '1e400' is too large for a double; use a finite number"),
        ("1 Q0 d 1 ٣ t\n".encode(), "<stdin>:1: score '٣' is not a number; write it like 0.5, -2 or 1e-3"),
        (
            b"1 Q0 d 1 2 t\n\n2 Q0 d 1 2 t\n1 Q0 d 1 3 t\n",
            "<stdin>:4: item 'd' of group '1' stands in line 1 already; keep one of the two",
        ),
        (b"1 Q0 d\0 1 2 t\n", "<stdin>:1: a NUL byte; write the file again as text without it"),
        (b"1 Q0 d 1 2 t\n1 Q0 gr\xf6\xdfe 1 2 t\n", "<stdin>:2: byte 0xf6 is not UTF-8; save the file as UTF-8"),
        (b"1 Q0 " + b"d" * 2001 + b" 1 2 t\n", "<stdin>:1: the item id has 2001 bytes; shorten it to 2000 or fewer"),
        (b"q" * 2001 + b" Q0 d 1 2 t\n", "<stdin>:1: the group id has 2001 bytes; shorten it to 2000 or fewer"),
        (b"\n \t\n", "<stdin>: there are no rows; give at least one"),
    ],
)
def test_every_refusal_of_a_run_names_the_line(content: bytes, message: str) -> None:
    assert exact_outcome(content, exact) == message
    assert fast_outcome(content, fast) == DOUBT


def test_an_id_of_2000_bytes_is_taken() -> None:
    content = b"q Q0 " + b"d" * 2000 + b" 1 2 t\n"
    assert exact_outcome(content, exact) == fast_outcome(content, fast) == ([("q", "d" * 2000, 2.0)], None, None)


def test_a_run_given_as_labels_is_told(tmp_path: Path) -> None:
    path = tmp_path / "bm25.run"
    path.write_bytes(GOOD)
    expected = (
        f"{path}:1: 6 fields where a TREC labels line has 4 (group iteration item grade); "
        "is this a run file? Else correct the line or name another reader="
    )
    with pytest.raises(InputError) as caught:
        read_labels(str(path))
    assert str(caught.value) == expected


def test_qrels_as_they_are_in_the_wild(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_bytes(b"\xef\xbb\xbf1 0.5  010vptx3 2\r\n1 1  02f0opkr 1\r\n\r\n1 1.5 \t 04ftw7k9 -1\r\n50 0 a 0")
    expected = [("1", "010vptx3", 2.0), ("1", "02f0opkr", 1.0), ("1", "04ftw7k9", -1.0), ("50", "a", 0.0)]
    assert listed(read_labels(str(path))) == expected
    content = path.read_bytes()
    assert fast_outcome(content, lambda source: fast_rows(source, QRELS), labels=True) == expected


def test_a_large_file_is_read_the_same_way_and_its_defect_is_found(tmp_path: Path) -> None:
    lines = [b"%d Q0 d%d %d %d.25 tag\n" % (row // 1000, row, row % 1000, -row) for row in range(120_000)]
    path = tmp_path / "large.run"
    path.write_bytes(b"".join(lines))
    assert path.stat().st_size > 2 << 20
    ranking = read_run(str(path)).ranking
    assert (ranking.n_groups, ranking.n_items) == (120, 120_000)
    assert ranking.item_keys[119_999] == "d119999"
    assert ranking.scores[119_999] == -119999.25
    lines[110_000] = lines[109_999]
    path.write_bytes(b"".join(lines))
    expected = f"{path}:110001: item 'd109999' of group '109' stands in line 110000 already; keep one of the two"
    with pytest.raises(InputError) as caught:
        read_run(str(path))
    assert str(caught.value) == expected
