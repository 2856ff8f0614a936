from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ingest_outcomes import exact_outcome, exact_rows, listed
from refused import refusal_of
from thorough import examples

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.columns import Columns
from ndcg_tracker.ingest.formats.svmlight import LabelQid
from ndcg_tracker.ingest.reading import read_labels, read_run
from ndcg_tracker.ingest.source import Source

LETOR = b"# made by hand\n2 qid:a 1:0.5 2:1e-3 # doc7\r\n\n0 qid:a\t1:.5\n1 qid:b # x\n-1  qid:a 1:2\n"


def labels(source: Source) -> Any:
    return exact_rows(source, LabelQid(source))


def written(folder: Path, name: str, content: bytes) -> str:
    path = folder / name
    path.write_bytes(content)
    return str(path)


def refusal(path: str, scores_path: str | None = None) -> str:
    return refusal_of(
        InputError, read_run, path, scores_path=scores_path, stdin=io.BytesIO(b"1 qid:1\n"), reader="svmlight"
    )


def test_labels_of_a_letor_file() -> None:
    expected = [("a", "1", 2.0), ("a", "2", 0.0), ("a", "3", -1.0), ("b", "1", 1.0)]
    assert exact_outcome(LETOR, labels, labels=True) == expected


def test_a_run_takes_its_scores_from_another_file(tmp_path: Path) -> None:
    path = written(tmp_path, "test.letor", LETOR)
    scores = written(tmp_path, "scores.txt.gz", gzip.compress(b"0.1\r\n 0.2 \n\n5\n3e-1\n"))
    table = read_run(path, scores_path=scores)
    assert listed(table.ranking) == [("a", "3", 0.3), ("a", "2", 0.2), ("a", "1", 0.1), ("b", "1", 5.0)]
    assert listed(table.labels) == [("a", "1", 2.0), ("a", "2", 0.0), ("a", "3", -1.0), ("b", "1", 1.0)]


def test_group_sizes_stand_in_the_sibling_of_a_lightgbm_file(tmp_path: Path) -> None:
    data, sizes = b"1 0:1\n0 1:2\n2\n", b"2\n1\n"
    path = written(tmp_path, "rank.test", data)
    written(tmp_path, "rank.test.query", sizes)
    expected = [("1", "1", 1.0), ("1", "2", 0.0), ("2", "1", 2.0)]
    assert listed(read_labels(path)) == expected
    packed = written(tmp_path, "rank.test.gz", gzip.compress(data))
    assert listed(read_labels(packed)) == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"1 qid:1 1:1\n1 Q0 d\n",
            "<stdin>:2: 'Q0' is not a feature:value field; a line is 'label qid:ID 1:0.5 2:0.1 ...'",
        ),
        (b"1 qid: 1:1\n", "<stdin>:1: 'qid:' is not a feature:value field; a line is 'label qid:ID 1:0.5 2:0.1 ...'"),
        (b"nan qid:1 1:1\n", "<stdin>:1: label 'nan' is not a number; write it like 0.5, -2 or 1e-3"),
        (b"1 qid:1\n1 1:1\n", "<stdin>:2: no qid: field, but line 1 has one; use one form in all lines"),
        (b"1 1:1\n", "<stdin>: no qid: fields, and standard input has no .query file next to it; give a file"),
        (b"# nothing\n", "<stdin>: there are no rows; give at least one"),
        (b"1 qid:\xff\n", "<stdin>:1: byte 0xff is not UTF-8; save the file as UTF-8"),
    ],
)
def test_every_refusal_names_the_line(content: bytes, message: str) -> None:
    assert exact_outcome(content, labels, labels=True) == message


def test_group_sizes_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "rank.test", b"1 1:1\n0 1:2\n2 1:1\n")
    with pytest.raises(InputError) as caught:
        read_labels(path)
    assert str(caught.value) == (
        f"{path}: no qid: fields, and there is no {path}.query with the group sizes; add one of the two"
    )
    for sizes, message in (
        (b"2\n", f"{path}: 3 rows, but the group sizes in {path}.query sum to 2; correct the sizes or the rows"),
        (
            b"2\n999999999999999\n",
            f"{path}: 3 rows, but the group sizes in {path}.query sum to 1000000000000001; correct the sizes or "
            "the rows",
        ),
        (b"", f"{path}: 3 rows, but the group sizes in {path}.query sum to 0; correct the sizes or the rows"),
        (b"3\n0\n", f"{path}.query:2: '0' is not a group size; write one whole number from 1 per line"),
        (b"3.0\n", f"{path}.query:1: '3.0' is not a group size; write one whole number from 1 per line"),
    ):
        written(tmp_path, "rank.test.query", sizes)
        with pytest.raises(InputError) as caught:
            read_labels(path)
        assert str(caught.value) == message
    written(tmp_path, "rank.test.query", b"3\n")
    mixed = written(tmp_path, "rank.test", b"1 1:1\n0 qid:4 1:2\n")
    with pytest.raises(InputError) as caught:
        read_labels(mixed)
    assert str(caught.value) == f"{path}:2: a qid: field, but none in line 1; use one form in all lines"


def test_scores_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "a.svm", b"1 qid:1\n0 qid:1\n")
    assert refusal(path) == (
        f"{path}: a label/qid file has no scores; give the predictions, one per line, with scores='FILE'"
    )
    scores = written(tmp_path, "scores", b"1\n")
    assert refusal(path, scores) == f"{scores}: 1 score for the 2 rows of {path}; give one per row"
    written(tmp_path, "scores", b"1\n2\n3\n")
    assert refusal(path, scores) == f"{scores}: 3 scores for the 2 rows of {path}; give one per row"
    written(tmp_path, "scores", b"1\nNaN\n")
    assert refusal(path, scores) == f"{scores}:2: score 'NaN' is not a number; write it like 0.5, -2 or 1e-3"
    assert refusal("-", "-") == (
        "<stdin>: the run and its scores cannot both come from standard input; put one in a file"
    )


def test_options_that_mean_nothing_here_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "a.run", b"1 Q0 d 1 1 t\n")
    with pytest.raises(InputError) as caught:
        read_run(path, scores_path="scores")
    assert str(caught.value) == (
        f"{path}: scores= is for label/qid files, but this file is read as trec; leave it out or use reader='svmlight'"
    )
    with pytest.raises(InputError) as caught:
        read_run(path, columns=Columns(score="bm25"))
    assert str(caught.value) == f"{path}: a trec file has no named columns; drop score=, or choose another reader="


PIECES = [
    b" ",
    b"\t",
    b"\n",
    b"\r",
    b"#",
    b"qid:",
    b"qid:1",
    b"1:0.5",
    b":",
    b"1",
    b"-1",
    b"nan",
    b"\xff",
    b"\0",
    b"x",
    b"1:",
]


@settings(deadline=None, max_examples=examples(300))
@given(st.lists(st.sampled_from(PIECES), max_size=14).map(b"".join))
def test_nothing_but_refusals_comes_out_of_any_bytes(content: bytes) -> None:
    outcome = exact_outcome(content, labels, labels=True)
    if not isinstance(outcome, str):
        assert b"\0" not in content
        assert len(outcome) <= content.count(b"\n") + 1


def test_a_long_line_that_almost_fits_is_refused_in_linear_time() -> None:
    line = b"1 qid:1 " + b"1:0.5 " * 200_000 + b"x\n"
    expected = "<stdin>:1: 'x' is not a feature:value field; a line is 'label qid:ID 1:0.5 2:0.1 ...'"
    assert exact_outcome(line, labels, labels=True) == expected


def test_scores_from_standard_input_are_there_for_the_exact_path_too(tmp_path: Path) -> None:
    rows = [b"%d qid:%d 1:0.5 2:0.25 3:0.125\n" % (row % 3, row // 10) for row in range(100_000)]
    rows[70_000] = b"1 qid:7000 # " + b"x" * 10 + b"\n"
    rows[70_001] = b"1 qid:" + b"7" * 2001 + b"\n"
    path = written(tmp_path, "a.svm", b"".join(rows))
    with pytest.raises(InputError) as caught:
        read_run(path, scores_path="-", stdin=io.BytesIO(b"1\n" * 100_000))
    assert str(caught.value) == f"{path}:70002: the group id has 2001 bytes; shorten it to 2000 or fewer"
    del rows[70_001]
    path = written(tmp_path, "a.svm", b"".join(rows))
    assert read_run(path, scores_path="-", stdin=io.BytesIO(b"1\n" * 99_999)).ranking.n_items == 99_999
