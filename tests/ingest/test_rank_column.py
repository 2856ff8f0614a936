"""A column ``rank`` beside scores: where the two contradict each other it is told, and who decides."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ndcg_tracker as nt
from ndcg_tracker.errors import NdcgTrackerWarning
from ndcg_tracker.ingest.cells import NO_RANK
from ndcg_tracker.ingest.table import _scores_in_rank_order

ROWS = {"group": ["q"] * 3, "item": ["a", "b", "c"], "score": [0.1, 0.9, 0.5], "rank": [1, 2, 3]}
LABELS = {"q": {"a": 1}}
BY_SCORES = "the rank column contradicts the scores in a group ('q'); the scores decide: to use the ranks, name "
BY_RANKS = "the rank column contradicts the scores in a group ('q'); the ranks decide, as in RecTools and RecBole: "


def as_file(suffix: str, write: Callable[[pd.DataFrame, Path], object]) -> Callable[[pd.DataFrame, Path], object]:
    def made(frame: pd.DataFrame, folder: Path) -> object:
        path = folder / f"run.{suffix}"
        write(frame, path)
        return str(path)

    return made


def quoted(frame: pd.DataFrame, path: Path) -> None:
    """Write a file that Arrow's parser is not trusted with: a cell of several lines."""
    frame.assign(note="two\nlines").to_csv(path, index=False)


HELD = {
    "pandas": lambda frame, _: frame,
    "arrow": lambda frame, _: pa.Table.from_pandas(frame),
    "dict": lambda frame, _: frame.to_dict("list"),
    "records": lambda frame, _: frame.to_dict("records"),
    "lists": lambda frame, _: {"group": ["q"], **{name: [frame[name].tolist()] for name in frame.columns[1:]}},
    "csv": as_file("csv", lambda frame, path: frame.to_csv(path, index=False)),
    "quoted csv": as_file("csv", quoted),
    "tsv": as_file("tsv", lambda frame, path: frame.to_csv(path, index=False, sep="\t")),
    "parquet": as_file("parquet", lambda frame, path: frame.to_parquet(path)),
    "jsonl": as_file("jsonl", lambda frame, path: frame.to_json(path, orient="records", lines=True)),
}
held = pytest.mark.parametrize("hold", HELD.values(), ids=HELD)


@held
def test_the_scores_decide_and_it_is_told(hold: Callable[[pd.DataFrame, Path], object], tmp_path: Path) -> None:
    run = hold(pd.DataFrame(ROWS), tmp_path)
    with pytest.warns(NdcgTrackerWarning) as told:
        assert nt.evaluate(run, "RR", labels=LABELS).mean["RR"] == pytest.approx(1 / 3)
    assert [BY_SCORES in str(warning.message) for warning in told] == [True]


@held
def test_a_dialect_that_goes_by_ranks(hold: Callable[[pd.DataFrame, Path], object], tmp_path: Path) -> None:
    run = hold(pd.DataFrame(ROWS), tmp_path)
    with pytest.warns(NdcgTrackerWarning) as told:
        means = nt.evaluate(run, ["rectools:NDCG(k=3)", "RR"], labels=LABELS).mean
    assert means["RR"] == 1.0
    assert any(BY_RANKS in str(warning.message) for warning in told)
    with pytest.warns(NdcgTrackerWarning, match="the scores decide"):
        assert nt.evaluate(run, "recbole:ndcg@3", labels=LABELS, score="score").mean.iloc[0] == 0.5


@pytest.mark.parametrize("rank", [["one", "two", "three"], [None, None, None], [1.5, 2.5, 3.5], [[1], [2], [3]]])
@held
def test_what_is_no_rank_is_left_alone(
    hold: Callable[[pd.DataFrame, Path], object], rank: list[object], tmp_path: Path
) -> None:
    run = hold(pd.DataFrame({**ROWS, "rank": pd.Series(rank, dtype=object)}), tmp_path)
    assert nt.evaluate(run, "RR", labels=LABELS).mean["RR"] == pytest.approx(1 / 3)


@held
def test_ranks_with_a_gap_are_doubles(hold: Callable[[pd.DataFrame, Path], object], tmp_path: Path) -> None:
    run = hold(pd.DataFrame({**ROWS, "rank": [1.0, None, 3.0]}), tmp_path)
    with pytest.warns(NdcgTrackerWarning, match="the rank column contradicts"):
        nt.evaluate(run, "RR", labels=LABELS)


def test_the_convention_of_rectools_goes_by_ranks() -> None:
    run = pd.DataFrame(ROWS).rename(columns={"group": "user_id", "item": "item_id"})
    with pytest.warns(NdcgTrackerWarning, match="the ranks decide"):
        assert nt.evaluate(run, "RR", labels=LABELS).mean["RR"] == 1.0
    with pytest.warns(NdcgTrackerWarning, match="the scores decide"):
        assert nt.evaluate(run, "RR", labels=LABELS, score="score").mean["RR"] == pytest.approx(1 / 3)


@pytest.mark.filterwarnings("error")
def test_ranks_order_equal_scores_without_a_word() -> None:
    run = {"user_id": ["u"] * 3, "item_id": ["a", "b", "c"], "score": [1.0, 1.0, 0.5], "rank": [2, 1, 3]}
    assert nt.evaluate(run, "rectools:NDCG(k=1)", labels={"u": {"b": 1}}).mean.iloc[0] == 1.0
    for rows in (slice(None), slice(None, None, -1)):  # whatever a metric does with equal scores
        ranked = {name: values[rows] for name, values in {**run, "rank": [1, 2, 3]}.items()}
        assert nt.evaluate(ranked, "RR", labels={"u": {"a": 1}}).mean["RR"] == 1.0


@given(st.lists(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=6), min_size=1))
def test_the_order_of_ranks(lists: list[list[tuple[int, int]]]) -> None:
    offsets = np.cumsum([0, *map(len, lists)])
    ranks = np.array([rank or NO_RANK for rows in lists for rank, _ in rows], dtype=np.int32)
    scores = np.array([float(score) for rows in lists for _, score in rows])
    found = _scores_in_rank_order(offsets, ranks, scores)
    for rows, start in zip(lists, offsets.tolist(), strict=False):
        mine = found[start : start + len(rows)].tolist()
        if any(rank == 0 for rank, _ in rows):
            assert mine == [score for _, score in rows]
        else:
            by_rank = sorted(range(len(rows)), key=lambda place: rows[place][0])
            assert sorted(range(len(rows)), key=lambda place: -mine[place]) == by_rank


LISTS = {
    "dict": lambda hits, _: {"q": hits},
    "objects": lambda hits, _: {"q": [SimpleNamespace(**hit) for hit in hits]},
    "responses": lambda hits, _: [{"query_id": "q", "response": {"docs": hits}}],
    "jsonl": lambda hits, folder: written(folder / "run.jsonl", {"query_id": "q", "response": {"docs": hits}}),
    "exact jsonl": lambda hits, folder: written(
        folder / "run.jsonl", {"query_id": "q", "response": {"docs": hits}, "n": 1e999}
    ),
    "json": lambda hits, folder: written(folder / "run.json", {"q": hits}),
}
in_lists = pytest.mark.parametrize("hold", LISTS.values(), ids=LISTS)


def written(path: Path, record: object) -> str:
    path.write_text(json.dumps(record) + "\n")
    return str(path)


@in_lists
@pytest.mark.parametrize(
    ("scores", "options", "expected", "told"),
    [
        ((3, 1), {}, 0.5, BY_SCORES),
        ((3, 1), {"metrics": "rectools:MRR(k=2)", "score": None}, 1.0, BY_RANKS),
        ((3, 1), {"score": ""}, 0.5, "its lists have no scores"),
        ((), {}, 1.0, "the rank of the items contradicts the order of the lists in a group ('q'); the ranks decide: "),
        ((), {"score": ""}, 0.5, "its lists have no scores"),
        ((), {"score": "-rank"}, 1.0, "the order of the items contradicts the scores"),
    ],
)
def test_ranks_in_lists_are_told_of_and_decide_where_there_are_no_scores(
    hold: Callable[[object, Path], object],
    scores: tuple[float, ...],
    options: dict[str, Any],
    expected: float,
    told: str,
    tmp_path: Path,
) -> None:
    hits: list[dict[str, object]] = [{"item": "b", "rank": 2}, {"item": "a", "rank": 1}]
    for hit, score in zip(hits, scores, strict=False):
        hit["score"] = score
    given: dict[str, Any] = {"metrics": "RR", "item": "item", **({"score": "score"} if scores else {}), **options}
    with pytest.warns(NdcgTrackerWarning) as warned:
        assert nt.evaluate(hold(hits, tmp_path), labels=LABELS, **given).mean.iloc[0] == expected
    assert [told in str(warning.message) for warning in warned] == [True]


def test_ranks_that_agree_with_a_list_are_no_news() -> None:
    hits = [{"item": "a", "rank": 1}, {"item": "b", "rank": None}]
    with pytest.warns(NdcgTrackerWarning, match="its lists have no scores, so their order"):
        assert nt.evaluate({"q": hits}, "RR", labels=LABELS).mean["RR"] == 1.0
