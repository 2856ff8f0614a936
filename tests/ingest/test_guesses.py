"""All columns without a known name are told at once, with guesses that nobody takes unasked."""

import os
from pathlib import Path
from typing import Any

import pytest
from refused import refusal_of

import ndcg_tracker as nt
from ndcg_tracker.errors import ColumnsError
from ndcg_tracker.ingest.columns import Columns
from ndcg_tracker.ingest.guesses import Given, all_columns

RUN = "user_ref,movie_ref,model_out\nu1,a,0.5\nu1,b,0.4\nu2,a,0.2\n"
LABELS = "who,what,stars\nu1,a,1\nu1,b,0\nu2,a,2\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("run", "labels", "given", "wanted"),
    [
        (
            RUN, LABELS, {},
            {"group": "user_ref,who", "item": "movie_ref,what", "score": "model_out", "label": "stars"},
        ),
        (
            RUN, LABELS, {"group": "user_ref"},
            {"group": "user_ref,who", "item": "movie_ref,what", "score": "model_out", "label": "stars"},
        ),
        (
            RUN, "qid,docno,rel\nu1,a,1\n", {},
            {"group": "user_ref,qid", "item": "movie_ref,docno", "score": "model_out"},
        ),
        ("qid,docno,score\nu1,a,1\n", LABELS, {}, {"group": "qid,who", "item": "docno,what", "label": "stars"}),
        (
            "user_ref,movie_ref,position\nu1,a,1\nu1,b,2\nu2,a,1\n", LABELS,
            {"group": "user_ref,who", "item": "movie_ref,what"}, {"score": "-position", "label": "stars"},
        ),
        (
            "u,m,out,stars\n107,100,0.5,1\n107,101,0.25,0\n108,100,0.5,3\n", None, {},
            {"group": "u", "item": "m", "score": "out", "label": "stars"},
        ),
        ("u,m,a,b\nu1,x,0.5,0.5\nu1,y,0.25,0.5\n", None, {}, {"group": "u", "item": "m", "score": "COLUMN"}),
    ],
)  # fmt: skip
def test_what_is_guessed(
    here: Path, run: str, labels: str | None, given: dict[str, str], wanted: dict[str, str]
) -> None:
    (here / "run.csv").write_text(run)
    (here / "labels.csv").write_text(labels or "")
    asked: dict[str, Any] = {**given, "labels": None if labels is None else "labels.csv"}
    with pytest.raises(ColumnsError) as caught:
        nt.evaluate("run.csv", **asked)
    assert caught.value.guesses == wanted
    if "COLUMN" not in wanted.values():
        assert nt.evaluate("run.csv", **{**asked, **wanted}).mean.notna().all()


def test_all_is_told_at_once_and_nothing_is_taken(here: Path) -> None:
    (here / "run.csv").write_text(RUN)
    (here / "labels.csv").write_text(LABELS)
    assert refusal_of(ColumnsError, nt.evaluate, "run.csv", labels="labels.csv") == (
        "run.csv has no columns 'group', 'item' and 'score' (it has 'user_ref', 'movie_ref', 'model_out'); labels.csv "
        "has no columns 'group', 'item' and 'label' (it has 'who', 'what', 'stars'); if these guesses are right, give "
        "group='user_ref,who' item='movie_ref,what' score='model_out' label='stars'"
    )


@pytest.mark.parametrize(
    ("run", "labels", "told"),
    [
        ("qid,score\nq,1\n", "qid,docno,rel\nq,a,1\n", "run.csv:1: no column 'item'; the columns are 'qid', 'score': "),
        ("qid,docno,rel\nq,a,1\n", "qid,docno,score\nq,a,1\n", "labels.csv:1: no column 'label'; the columns are "),
    ],
)
def test_what_a_guess_would_not_mend_is_told_as_before(here: Path, run: str, labels: str, told: str) -> None:
    (here / "run.csv").write_text(run)
    (here / "labels.csv").write_text(labels)
    assert refusal_of(ColumnsError, nt.evaluate, "run.csv", labels="labels.csv").startswith(told)


def test_other_errors_pass(here: Path) -> None:
    with pytest.raises(OSError, match="x"), all_columns(Given(os.fspath(here / "none.csv"), Columns()), None):
        raise OSError("x")


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (
            "timestamp\nu,a,1700000000\n",
            "name the label column with label=; if each row is a relevant item, give label='=1'",
        ),
        (
            "play_count\nu,a,7\n",
            "if each row of labels.csv is a relevant item, give label='=1'; if these guesses are right, give "
            "label='play_count'",
        ),
    ],
)
def test_rows_without_a_grade_may_each_be_a_relevant_item_and_a_time_is_no_grade(
    here: Path, number: str, advice: str
) -> None:
    (here / "run.csv").write_text("user_id,item_id,score\nu,a,1\n")
    (here / "labels.csv").write_text(f"user_id,item_id,{number}")
    assert refusal_of(ColumnsError, nt.evaluate, "run.csv", labels="labels.csv").endswith(f" {advice}")
