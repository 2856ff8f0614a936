"""Several systems on the same queries: stored, compared, and the arguments of ``pyterrier.Experiment``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ndcg_tracker as nt
from ndcg_tracker.errors import ConflictError, InputError

QUERIES = pd.DataFrame({"qid": [f"q{number}" for number in range(8)], "query": [f"text {n}" for n in range(8)]})
LABELS = pd.DataFrame(
    [(f"q{query}", f"d{item}", (query + item) % 3) for query in range(10) for item in range(6)],
    columns=["qid", "docno", "label"],
)


def ranking(seed: int, queries: Any = QUERIES) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    rows = [(query, f"d{item}") for query in queries["qid"] for item in range(6)]
    frame = pd.DataFrame(rows, columns=["qid", "docno"])
    return frame.assign(score=random.normal(size=len(frame)).round(3))


class Transformer:
    """What PyTerrier's transformers are: ``transform`` takes the queries and returns a ranking."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.seen: list[list[str]] = []

    def transform(self, queries: pd.DataFrame) -> pd.DataFrame:
        self.seen.append(list(queries["qid"]))
        return ranking(self.seed, queries)


def asked(folder: Path, systems: Any, *arguments: Any, **options: Any) -> Any:
    return nt.experiment(systems, *arguments, database=folder / "db", **options)


def test_all_kinds_of_systems_are_stored_and_compared(tmp_path: Path) -> None:
    ranking(3).to_csv(tmp_path / "kept.csv", index=False)
    nested = {query: dict(zip(rows["docno"], rows["score"], strict=True)) for query, rows in ranking(4).groupby("qid")}
    systems = {
        "asked": Transformer(1), "function": lambda queries: ranking(2, queries), "path": tmp_path / "kept.csv",
        "nested": nested, "frame": ranking(5),
    }  # fmt: skip
    found = asked(tmp_path, systems, QUERIES, LABELS, ["ndcg@3", "P@2"], baseline="path", dataset="shop")
    of_queries = LABELS[LABELS["qid"].isin(QUERIES["qid"])]
    frame = found.to_frame().set_index("name")
    assert list(frame.index) == list(systems)
    kinds = ["+", "-", "p-value", "p-value corrected"]
    assert list(frame) == ["ndcg@3", "P@2", *(f"{metric} {kind}" for metric in ("ndcg@3", "P@2") for kind in kinds)]
    for name, seed in zip(systems, range(1, 6), strict=True):
        wanted = nt.evaluate(ranking(seed), ["ndcg@3", "P@2"], labels=of_queries).mean
        assert frame.loc[name, ["ndcg@3", "P@2"]].tolist() == wanted.tolist()
    others = [name for name in systems if name != "path"]
    with nt.Tracker(tmp_path / "db") as tracker:
        compared = tracker.compare("path", others, dataset="shop").to_frame().set_index(["candidate_run", "metric"])
    for name in others:
        row = compared.loc[(name, "ndcg@3")]
        shown = frame.loc[name, [f"ndcg@3 {kind}" for kind in kinds]]
        assert shown.tolist() == row[["wins", "losses", "p_value", "p_adjusted"]].tolist()
    assert frame.loc["path"].drop(["ndcg@3", "P@2"]).isna().all()
    assert "asked" in str(found)
    assert "<table" in found.to_html()


def test_the_baseline_may_be_a_place(tmp_path: Path) -> None:
    given = ([ranking(1), ranking(2)], QUERIES, LABELS, ["ndcg@3"], ["one", "two"])
    found = asked(tmp_path, *given, baseline=1)
    assert found.comparison.comparisons[0].baseline.name == "two"
    assert found.to_frame()["ndcg@3 p-value"].isna().tolist() == [False, True]


def test_labels_of_other_queries_count_only_where_asked(tmp_path: Path) -> None:
    system = {"one": ranking(1)}
    of_topics = asked(tmp_path, system, QUERIES, LABELS, "P@2").to_frame()["P@2"][0]
    every = asked(tmp_path, system, QUERIES, LABELS, "P@2", filter_by_topics=False, dataset="all").to_frame()["P@2"][0]
    assert every == pytest.approx(of_topics * 8 / 10)


def test_queries_without_labels_are_asked_only_if_wanted(tmp_path: Path) -> None:
    more = pd.concat([QUERIES, pd.DataFrame({"qid": ["z"], "query": ["?"]})], ignore_index=True)
    for filtered in (False, True):
        system = Transformer(1)
        asked(tmp_path, {"one": system}, more, LABELS, "P@2", filter_by_qrels=filtered, dataset=str(filtered))
        assert system.seen == [[*QUERIES["qid"]] if filtered else [*more["qid"]]]
    texts: list[dict[str, str]] = []

    def function(queries: dict[str, str]) -> pd.DataFrame:
        texts.append(queries)
        return ranking(1)

    asked(tmp_path, {"one": function}, {"q1": "a", "z": "b"}, LABELS, "P@2", filter_by_qrels=True, dataset="dict")
    assert texts == [{"q1": "a"}]


def test_again_with_other_content(tmp_path: Path) -> None:
    asked(tmp_path, {"one": ranking(1)}, QUERIES, LABELS)
    asked(tmp_path, {"one": ranking(1)}, QUERIES, LABELS)
    with pytest.raises(ConflictError, match="run 'one' of dataset 'default' is already stored with other content"):
        asked(tmp_path, {"one": ranking(2)}, QUERIES, LABELS)
    found = asked(tmp_path, {"one": ranking(2)}, QUERIES, LABELS, replace=True)
    assert found.runs[0].outcome == "replaced"


def test_what_one_system_ranked_is_kept_when_another_fails(tmp_path: Path) -> None:
    def broken(queries: object) -> object:
        raise OSError("the index is away")

    with pytest.raises(OSError, match="the index is away"):
        asked(tmp_path, {"one": ranking(1), "two": broken}, QUERIES, LABELS)
    with nt.Tracker(tmp_path / "db") as tracker:
        assert [run.name for run in tracker.runs()] == ["one"]


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        (([],), {}, "the systems have no names; give {name: system}, or names=[...]"),
        (([], None, None, "P@1", []), {}, "there is no system; give at least one"),
        (({},), {}, "there is no system; give at least one"),
        (([1, 2], None, None, "P@1", ["a"]), {}, "there are 2 systems but 1 names; give one per system"),
        (([1, 2], None, None, "P@1", ["a", "a"]), {}, "two systems are called 'a'; give each system its own name"),
        (({"a": 1},), {"names": ["a"]}, "the systems already have names; leave out names=['a']"),
        (({"a": 1},), {"baseline": "b"}, "baseline='b' is not a system; give one of 'a', or its place from 0 to 0"),
        (({"a": 1},), {"baseline": 1}, "baseline=1 is not a system; give one of 'a', or its place from 0 to 0"),
        (({"a": len},), {}, "system 'a' ranks queries, but there are none; give queries="),
        (({"a": len}, ["q1"], LABELS), {"filter_by_qrels": True},
         "the ids of the queries are not known; leave out filter_by_qrels=True"),
        (({"a": len}, QUERIES), {"filter_by_qrels": True},
         "the labels are not known; leave out filter_by_qrels=True"),
        (({"a": ranking(1)}, {"x": "y"}, LABELS), {},
         "no query has labels; check that queries and labels write their ids the same way"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_before_anything_is_stored(
    tmp_path: Path, arguments: Any, options: Any, said: str
) -> None:
    with pytest.raises(InputError) as refused:
        asked(tmp_path, *arguments, **options)
    assert str(refused.value) == said
    assert not (tmp_path / "db").exists()


@pytest.mark.nightly  # half a gigabyte, which only the nightly installs
def test_pyterrier_itself_finds_the_same(tmp_path: Path) -> None:
    pt = pytest.importorskip("pyterrier")
    runs = [ranking(seed).assign(query="x").sort_values(["qid", "score"], ascending=[True, False]) for seed in (1, 2)]
    systems = [pt.Transformer.from_df(run.assign(rank=run.groupby("qid").cumcount())) for run in runs]
    given = (systems, QUERIES, LABELS, ["ndcg_cut_3", "map"])
    theirs = pt.Experiment(*given, names=["one", "two"], baseline=0, correction="holm")
    ours = asked(tmp_path, *given, names=["one", "two"], baseline=0).to_frame()
    for metric in ("ndcg_cut_3", "map"):
        assert ours[metric].tolist() == pytest.approx(theirs[metric].tolist(), abs=1e-12)
        assert ours[f"{metric} +"][1] == theirs[f"{metric} +"][1]
        assert ours[f"{metric} -"][1] == theirs[f"{metric} -"][1]
        assert ours[f"{metric} p-value"][1] == pytest.approx(theirs[f"{metric} p-value"][1], abs=1e-12)
