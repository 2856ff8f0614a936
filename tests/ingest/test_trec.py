from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ingest_outcomes import DOUBT, exact_outcome, exact_rows, fast_outcome, fast_rows, listed
from refused import OR_ALLOW, OR_ALLOW_LABELS
from thorough import examples

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.cells import NoPlaces
from ndcg_tracker.ingest.formats.trec import QRELS, RUN, Trec
from ndcg_tracker.ingest.reading import read_labels, read_run
from ndcg_tracker.ingest.source import Source
from ndcg_tracker.words.notes import Note

NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def whole(text: str) -> int | None:
    """Return a rank, None for what is none: whole numbers of 32 bits, or as many bits in hexadecimal."""
    if re.fullmatch(r"0[xX][0-9a-fA-F]{1,8}", text):
        return (int(text, 16) + 2**31) % 2**32 - 2**31
    found = int(text) if re.fullmatch(r"-?[0-9]+", text) else 2**31
    return found if abs(found) < 2**31 else None


def a_number(text: str, *, score: bool = False) -> float | None:
    """Return a number, NaN for a score that says that the item was not retrieved, None for what is neither."""
    if score and re.fullmatch("(?i)-inf(inity)?", text):
        return float("nan")
    found = float(text) if NUMBER.fullmatch(text) else float("inf")
    return found if abs(found) < float("inf") else None


def rows_of(content: bytes, *, labels: bool) -> list[tuple[str, str, float, int | None]] | None:
    """Read a TREC file by rules written for this test alone; None for a file that is to be refused."""
    rows = []
    try:
        text = content.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError:
        return None
    for line in text.split("\n"):
        line = line.removesuffix("\r")
        fields = [field for field in re.split("[ \t]", line) if field]
        if "\0" in line:
            return None
        if not fields or fields[0][0] == "#":
            continue
        if labels:
            if len(fields) != 4 or (value := a_number(fields[3])) is None:
                return None
            rows.append((fields[0], fields[2], value, None))
            continue
        if len(fields) < 6 or (value := a_number(fields[4], score=True)) is None:
            return None
        rank = whole(fields[3])
        if len(fields) > 6:
            second = any(
                fields[at] == fields[1]
                and whole(fields[at + 2]) is not None
                and a_number(fields[at + 3], score=True) is not None
                for at in range(6, len(fields) - 3)
            )
            if rank is None or "\r" in line or second:
                return None
        rows.append((fields[0], fields[2], value, rank))
    pairs = {row[:2] for row in rows}
    longest = max((len(name.encode()) for pair in pairs for name in pair), default=0)
    is_scored = labels or any(row[2] == row[2] for row in rows)
    return rows if rows and is_scored and len(pairs) == len(rows) and longest <= 2000 else None


def conflicts_of(rows: list[tuple[str, str, float, int | None]]) -> list[str]:
    """Return the groups in which some item of a better rank has a lower score."""
    wrong = [
        group
        for group, _, score, rank in rows
        for other, _, other_score, other_rank in rows
        if group == other and rank is not None and other_rank is not None and rank < other_rank and score < other_score
    ]
    return list(dict.fromkeys(sorted(wrong, key=[row[0] for row in rows].index)))


def exact(source: Source) -> object:
    return exact_rows(source, Trec(RUN))


def fast(source: Source) -> object:
    return fast_rows(source, Trec(RUN))


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


@settings(deadline=None, max_examples=examples(300))
@given(st.one_of(damaged(GOOD), soup), st.integers(1, 64))
@example(b"q Q0 d  1.0 tag\n", 8)
@example(b"q Q0 d 1 2.0 ", 64)
@example(b"\n\xef\xbb\xbfq Q0 d 1 2.0 t\n", 64)
@example(b"q Q0 d 1 2.0 t\n\xef\xbb\xbfr Q0 d 1 2.0 t\n", 3)
@example(b"q Q0 d 1 2.0 t\rr Q0 d 1 2.0 t\n", 64)
@example(b"q Q0 d 1 2.0 t\r\r\n", 64)
@example(b"q Q0 d 1 nan t\n", 64)
@example(b"q Q0 d 1 -inf t\n", 64)
@example(b"q Q0 d 1 1 t\nq Q0 e 2 -INFINITY t\nq Q0 f 3 2 t\nr Q0 f 1 -inf t\n", 64)
@example(b"q Q0 d 1 -inf t\nq Q0 e 2 2 t\n", 64)
@example(b"q Q0 d 1  t\n", 64)
@example(b"q Q0 d 1 2.0\v t\n", 64)
@example(b"q Q0 d 1 2.0 t and more\nq Q0 e 2 3.0 t or less\n", 64)
@example(b"q Q0 d 1 2.0 tq Q0 e 2 1.0 t\n", 64)
@example(b"q Q0 d - 2.0 t and more\n", 64)
@example(b"q Q0 d 1 2.0 t\nq Q0 e - 3.0 t\nq Q0 f 0x2 2.5 t\n", 64)
def test_all_paths_and_the_grammar_agree_on_runs(content: bytes, block_size: int) -> None:
    expected = rows_of(content, labels=False)
    found = exact_outcome(content, exact)
    if expected is None:
        assert isinstance(found, str)
        assert found.startswith("<stdin>:")
        assert "\n" not in found
    else:
        retrieved = {row[:2]: row[2] for row in expected if row[2] == row[2]}
        assert {(group, item): score for group, item, score in found[0]} == retrieved
        wrong = conflicts_of(expected)
        assert found[3:] == ((Note("rank_conflict", {"n": len(wrong), "first": wrong[0]}),) if wrong else ())
    quick = fast_outcome(content, lambda source: fast_rows(source, Trec(RUN), block_size))
    assert quick in (DOUBT, found)


@settings(deadline=None, max_examples=examples(300))
@given(st.one_of(damaged(GOOD_QRELS), soup), st.integers(1, 64))
def test_all_paths_and_the_grammar_agree_on_qrels(content: bytes, block_size: int) -> None:
    expected = rows_of(content, labels=True)
    found = exact_outcome(content, lambda source: exact_rows(source, Trec(QRELS)), labels=True)
    if expected is None:
        assert isinstance(found, str)
    else:
        assert {(group, item): grade for group, item, grade in found} == {row[:2]: row[2] for row in expected}
    quick = fast_outcome(content, lambda source: fast_rows(source, Trec(QRELS), block_size), labels=True)
    assert quick in (DOUBT, found)


ids = st.text(st.characters(codec="utf-8", exclude_characters=" \t\n\r\0"), min_size=1, max_size=9).filter(
    lambda text: not text.startswith("\ufeff")
)
scores = st.floats(allow_nan=False, allow_infinity=False)
separators = st.sampled_from([" ", "\t", "  ", " \t"])


@settings(deadline=None)
@given(
    st.dictionaries(st.tuples(ids.filter(lambda group: group[0] != "#"), ids), scores, min_size=1, max_size=12),
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
    assert fast_outcome(content, lambda source: fast_rows(source, Trec(RUN), block_size)) == found


def test_ties_keep_the_order_of_the_file_and_scores_descend() -> None:
    content = b"q Q0 low 1 1 t\nr Q0 x 1 0 t\nq Q0 tie1 2 5 t\nq Q0 tie2 3 5 t\n"
    expected = [("q", "tie1", 5.0), ("q", "tie2", 5.0), ("q", "low", 1.0), ("r", "x", 0.0)]
    assert exact_outcome(content, exact)[0] == fast_outcome(content, fast)[0] == expected


def test_ids_stay_as_they_are() -> None:
    content = (
        '007 Q0 NA 1 1 t\n007 Q0 null 1 1 t\n007 Q0 "a,b" 1 1 t\n007 Q0 1e5 1 1 t\n007 Q0 \u00a0\u2028 1 1 t\n'.encode()
    )
    expected = ["NA", "null", '"a,b"', "1e5", "\u00a0\u2028"]
    for outcome in every_way(content):
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
        (
            b"     Q0      FR940620-1-00007        9         2.971818      STANDARD\n",
            "<stdin>:1: 5 fields where a TREC run line has 6 (group Q0 item rank score tag); write the group before Q0",
        ),
        *(
            (
                content,
                f"<stdin>:1: {n} fields where a TREC run line has 6 (group Q0 item rank score tag); words may follow "
                "the tag, but not a second row; ids have no blanks, and the rank is a whole number",
            )
            for n, content in (
                (7, b"1 Q0 my document 1 2.5 t\n"),
                (7, b"my query Q0 d 1 2.5 t\n"),
                (11, b"1 Q0 d 1 2.5 t2 Q0 d 1 2.5 t\n"),
                (12, b"1 Q0 d 1 2.5 t 2 Q0 d 1 2.5 t\n"),
                (11, b"1 Q0 d 1 2.5 t\r2 Q0 d 1 2.5 t\n"),
                (7, b"1 Q0 d 1 2.5 t\r x\n"),
            )
        ),
        (b"1 Q0 d 1 nan t\n", "<stdin>:1: score 'nan' is not a number; write it like 0.5, -2 or 1e-3"),
        (b"1 Q0 d 1 inf t\n", "<stdin>:1: score 'inf' is not a number; write it like 0.5, -2 or 1e-3"),
        (b"1 Q0 d 1 1_000 t\n", "<stdin>:1: score '1_000' is not a number; write it like 0.5, -2 or 1e-3"),
        (b"1 Q0 d 1 1e400 t\n", "<stdin>:1: score '1e400' is too large for a double; use a finite number"),
        ("1 Q0 d 1 ٣ t\n".encode(), "<stdin>:1: score '٣' is not a number; write it like 0.5, -2 or 1e-3"),
        (
            b"1 Q0 d 1 2 t\n\n2 Q0 d 1 2 t\n1 Q0 d 1 3 t\n",
            "<stdin>:4: item 'd' of group '1' is in line 1 already; keep one of the two" + OR_ALLOW,
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


def every_way(content: bytes) -> list[object]:
    return [exact_outcome(content, exact), fast_outcome(content, fast)]


def test_comments_and_words_behind_the_tag_are_passed_over() -> None:
    content = (
        b"# ir_metadata.start\n# platform:\n#   hardware: 2 cores\n#ir_metadata.end\n"
        b"q Q0 d#1 1 2 a tag of words\n \t# q Q0 x 9 9 a tag of words\nq Q0 #2 2 1 a tag of words\n#"
    )
    assert every_way(content) == [([("q", "d#1", 2.0), ("q", "#2", 1.0)], None, None)] * 2
    uneven = b"q Q0 a 1 2 t\nq Q0 b 2 1 t more\n"
    assert every_way(uneven) == [([("q", "a", 2.0), ("q", "b", 1.0)], None, None), DOUBT]
    qrels = b"# judged in May\nq 0 a 1\n#q 0 b 1\n"
    for rows in (exact_rows, fast_rows):
        assert exact_outcome(
            qrels, lambda source, rows=rows: rows_and_places(rows(source, Trec(QRELS))), labels=True
        ) == [("q", "a", 1.0)]


def rows_and_places(found: object) -> object:
    return found if isinstance(found, tuple) else (found, NoPlaces())


@pytest.mark.parametrize(
    ("ranks", "scores", "is_told"),
    [
        ("1 2 3", "3 2 1", False),
        ("1 2 3", "1 2 3", True),
        ("3 1 2", "1 3 2", False),
        ("3 1 2", "3 1 2", True),
        ("0 0 0", "1 2 3", False),
        ("1 1 2", "1 5 3", True),
        ("1 2 2", "5 1 4", False),
        ("1 2 3", "2 2 2", False),
        ("- - -", "1 2 3", False),
        ("1 - 2", "1 9 2", True),
        ("1 - 2", "2 9 1", False),
        ("1.0 2.0 3.0", "1 2 3", False),
    ],
)
def test_ranks_that_contradict_the_scores_are_told_and_the_scores_decide(
    ranks: str, scores: str, is_told: bool
) -> None:
    lines = [
        f"q{group} Q0 {item} {rank} {score} t\n"
        for group in (7, 5)
        for item, rank, score in zip("abc", ranks.split(), scores.split(), strict=True)
    ]
    content = "".join(lines).encode()
    for found in every_way(content):
        assert isinstance(found, tuple)
        assert [score for _, _, score in found[0][:3]] == sorted(map(float, scores.split()), reverse=True)
        assert found[3:] == ((Note("rank_conflict", {"n": 2, "first": "q7"}),) if is_told else ())


def refusals_of_labels(content: bytes) -> object:
    """Return what the exact path says of labels, and that the others leave it to that."""
    found = exact_outcome(content, lambda source: exact_rows(source, Trec(QRELS)), labels=True)
    assert fast_outcome(content, lambda source: fast_rows(source, Trec(QRELS)), labels=True) == DOUBT
    return found


def test_other_files_of_trec_eval_are_refused_with_the_reason() -> None:
    assert refusals_of_labels(b"# comment\n\n301\tnum_ret 967.0000 169.1719\n301 num_rel 474.0000 0.0000\n") == (
        "<stdin>:3: this is the mean and the deviation of a measure, as trec_eval -Z reads them, not a label; "
        "give a file of lines group iteration item grade"
    )
    assert refusals_of_labels(b"1.EC.AB  F:Ret,C:Not   F:RnkdLst2digits  FR940303-1-00022        1\n") == (
        "<stdin>:1: 5 fields where a TREC labels line has 4 (group iteration item grade); preferences, as trec_eval "
        "-R prefs reads them, are not supported: give one grade per item"
    )
    assert refusals_of_labels(b"301 1 CR93E-10279 0\n301 2 CR93E-10279 1\n") == (
        "<stdin>:2: item 'CR93E-10279' of group '301' is in line 1 already; keep one of the two; if there are "
        f"several judges (trec_eval -R qrels_jg), keep the lines of one judge{OR_ALLOW_LABELS}"
    )


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
    assert fast_outcome(content, lambda source: fast_rows(source, Trec(QRELS)), labels=True) == expected


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
    expected = f"{path}:110001: item 'd109999' of group '109' is in line 110000 already; keep one of the two" + OR_ALLOW
    with pytest.raises(InputError) as caught:
        read_run(str(path))
    assert str(caught.value) == expected
