"""On a suite every option of compare, leaderboard, gate and history says what it says on one dataset."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ndcg_tracker as nt
from ndcg_tracker.errors import NdcgTrackerError
from ndcg_tracker.statistics.many_tests import holm

DATASETS = {"beir-a": 60, "beir-b": 30}


def grades_of(dataset: str, n: int) -> pd.DataFrame:
    random = np.random.default_rng(ord(dataset[-1]))
    rows = [(f"q{query:02}", f"d{item}", int(random.integers(0, 4))) for query in range(n) for item in range(12)]
    return pd.DataFrame(rows, columns=["group", "item", "label"])


def scored(dataset: str, n: int, skill: float, seed: int) -> pd.DataFrame:
    labels = grades_of(dataset, n)
    noise = np.random.default_rng([seed, n]).normal(size=len(labels))
    return labels[["group", "item"]].assign(score=skill * labels["label"].to_numpy(dtype=float) + noise)


def fill(url: str) -> None:
    """Two datasets: three seeds of two systems each, a single run, groups of users, ten topics that no run has."""
    with nt.Tracker(url) as tracker:
        for dataset, n in DATASETS.items():
            labels = grades_of(dataset, n + 10)
            for place, (name, skill) in enumerate((("old", 0.3), ("new", 0.7))):
                for seed in range(3):
                    tracker.ingest(
                        scored(dataset, n, skill, 10 * place + seed),
                        name=f"{name}-{seed}",
                        dataset=dataset,
                        labels=labels,
                        metrics=["ndcg@10", "AP"],
                        tags={"recipe": name, "latency_ms": str(20 + place + seed)},
                    )
            tracker.ingest(
                scored(dataset, n, 0.3, 7), name="rules", dataset=dataset, labels=labels, metrics=["ndcg@10", "AP"]
            )
            names = [f"q{query:02}" for query in range(n + 10)]
            users = [f"u{number // 3}" for number in range(n + 10)]
            tracker.set_groups(
                {"group": names, "user": users, "device": ["tv", "phone"] * (n // 2 + 5)}, dataset=dataset
            )
            tracker.set_alias("prod", "old-1", dataset=dataset)
        tracker.create_suite("beir", ["beir-*"])


@pytest.fixture
def beir(fill_as: Callable[[Callable[[str], object]], None], database_url: str) -> nt.Tracker:
    fill_as(fill)
    return nt.Tracker(database_url)


@pytest.mark.nightly(but=6)
@pytest.mark.parametrize(
    "options",
    [
        {"missing": "skip"},
        {"test": "permutation", "ci": "bootstrap"},
        {"equivalence": 0.05, "labels": "newest"},
        {"cluster": "user"},
        {"by": "device", "top": 2, "tie_bounds": True},
        {"ids_are_stable": True, "labels": 1},
    ],
)
def test_each_dataset_is_compared_as_it_is_alone(beir: nt.Tracker, options: dict[str, Any]) -> None:
    found = beir.compare("old-0", "new-0", suite="beir", metrics="ndcg@10", **options)
    alone = [
        beir.compare("old-0", "new-0", dataset=dataset, metrics="ndcg@10", **options).comparisons[0]
        for dataset in DATASETS
    ]
    assert list(found.comparisons[0].suite.each) == alone
    assert [one.ci for one in found.comparisons[0].slices] == [one.metrics[0].ci for one in alone]
    errors = np.array([one.metrics[0].standard_error for one in alone])
    assert found.comparisons[0].metrics[0].standard_error == pytest.approx(np.sqrt((errors**2).sum()) / 2)


@pytest.mark.nightly
def test_arms_and_aliases_stand_for_what_they_are_on_each_dataset(beir: nt.Tracker) -> None:
    arms = beir.compare("tag:recipe=old", "tag:recipe=new", suite="beir", metrics="ndcg@10").comparisons[0]
    alone = [beir.compare("tag:recipe=old", "tag:recipe=new", dataset=d).comparisons[0].metrics for d in DATASETS]
    metrics = [next(one for one in of if one.metric == "ndcg@10") for of in alone]
    assert [one.p_value for one in arms.slices] == [one.p_value for one in metrics]
    assert arms.slices[0].variance is not None
    of_arms = beir.compare("tag:recipe=old", "tag:recipe=new", suite="beir").to_text(verbose=True)
    assert "95% interval: t over queries and runs, crossed; p: its t-test" in of_arms
    pinned = beir.compare("@prod", "new-0", suite="beir").comparisons[0]
    assert pinned.metrics[0] == beir.compare("old-1", "new-0", suite="beir").comparisons[0].metrics[0]


def test_p_values_of_all_candidates_and_metrics_are_corrected_together(beir: nt.Tracker) -> None:
    found = beir.compare("old-0", "new-*", "old-1", suite="beir", metrics=["ndcg@10", "AP"])
    assert [(one.candidate.name, of.metric) for one in found.comparisons for of in one.metrics] == [
        (candidate, metric) for candidate in ("new-0", "new-1", "new-2", "old-1") for metric in ("ndcg@10", "AP")
    ]
    every = [metric for one in found.comparisons for metric in one.metrics]
    assert [of.p_adjusted for of in every] == pytest.approx(holm([of.p_value for of in every]))
    assert (len(found.to_frame()), len(found.slices_to_frame())) == (8, 16)
    assert len(found.to_dict()["further"]) == 3
    assert str(found).startswith("4 candidates against old-0 on suite beir (2 datasets, 110 queries): 6 of 8 ")
    assert "10 queries with labels but in neither run: counted the same in both" in " ".join(
        found.to_text(verbose=True).split()
    )
    both = beir.compare("old-0", "old-1", suite="beir", metrics=["ndcg@10", "AP"])
    first = both.comparisons[0]
    assert first.metrics[0].p_adjusted != first.metrics[0].p_value
    assert "p: paired t-test, Holm-corrected for 2 metrics at once" in " ".join(both.to_text(verbose=True).split())
    shared = beir.compare("old-0", "new-0", suite="beir", metrics=())
    assert [of.metric for of in shared.comparisons[0].metrics] == ["ndcg@10", "AP"]


def test_topics_that_no_run_has_are_told_and_left_out(beir: nt.Tracker) -> None:
    told = beir.compare("old-0", "new-0", suite="beir", metrics="ndcg@10").comparisons[0]
    assert [one.n for one in told.slices] == [70, 40]
    assert "20 queries with labels: they count the same in both and shrink delta; missing='skip'" in " ".join(
        beir.compare("old-0", "new-0", suite="beir").to_text(verbose=True).split()
    )
    skipped = beir.compare("old-0", "new-0", suite="beir", metrics="ndcg@10", missing="skip").comparisons[0]
    assert [one.n for one in skipped.slices] == [60, 30]
    assert skipped.metrics[0].delta > told.metrics[0].delta
    board, without = (beir.leaderboard(suite="beir", missing=of).leaderboard for of in ("error", "skip"))
    kinds = [(one.dataset, one.kind) for one in board.notes]
    assert kinds == [("beir-a", "in_no_run"), ("beir-b", "in_no_run")]
    assert board.notes[0].command == (
        *("ndcg-track", "leaderboard", "--suite", "beir", "--metric", "ndcg@10", "--missing", "skip"),
    )
    assert without.notes == ()
    means, every = (
        {run.name: of.mean for run, of in zip(b.runs, b.slices[0].standings, strict=True)} for b in (without, board)
    )
    alone = beir.leaderboard(dataset="beir-a", missing="skip").leaderboard
    of_board = {run.name: one.mean for run, one in zip(alone.runs, alone.metrics[0].standings, strict=True)}
    assert means == pytest.approx(of_board)
    assert means == pytest.approx({system: mean * 70 / 60 for system, mean in every.items()})


@pytest.mark.nightly
def test_topics_that_only_some_systems_have_are_left_out(beir: nt.Tracker) -> None:
    for dataset, n in DATASETS.items():
        beir.ingest(scored(dataset, n - 5, 0.3, 7), name="fewer", dataset=dataset, metrics=["ndcg@10"])
    counted, cut, skipped = (
        beir.compare("old-0", "fewer", suite="beir", missing=missing).comparisons[0]  # type: ignore[arg-type]
        for missing in ("error", "intersect", "skip")
    )
    assert [[one.n for one in of.slices] for of in (counted, cut, skipped)] == [[70, 40], [65, 35], [55, 25]]
    boards = {of: beir.leaderboard(suite="beir", missing=of).leaderboard for of in ("error", "intersect", "skip")}
    sizes = {missing: [of.n for of in board.slices] for missing, board in boards.items()}
    assert sizes == {"error": [70, 40], "intersect": [65, 35], "skip": [55, 25]}
    told = {missing: [note for note in of.notes if note.dataset == "beir-a"] for missing, of in boards.items()}
    assert [note.kind for note in told["skip"]] == ["groups_lacking"]
    assert told["error"][1].command[-2:] == ("--missing", "intersect")
    assert told["intersect"][1].facts == {
        "runs": [("fewer", 5)], "n_groups": 70, "metric": "ndcg@10", "are_out": True,
    }  # fmt: skip
    alone = beir.leaderboard(dataset="beir-a", missing="skip").leaderboard
    means = [
        {run.name: of.mean for run, of in zip(board.runs, of_board.standings, strict=True)}
        for board, of_board in ((alone, alone.metrics[0]), (boards["skip"], boards["skip"].slices[0]))
    ]
    assert means[0] == pytest.approx(means[1])


@pytest.mark.nightly
def test_low_information_is_told_with_the_verdict(beir: nt.Tracker) -> None:
    of_clicks: dict[str, Any] = {"direction": "higher", "range": (0, 1)}
    rare = pd.DataFrame({"group": [f"q{n:02}" for n in range(60)], "value": [0.5] * 60})
    for dataset, n in DATASETS.items():
        for name, moved in (("steady", 0), ("moved", 6)):
            values = rare.head(n).copy()
            values.loc[: moved - 1, "value"] = 0.9
            beir.log_results(values, name=name, dataset=dataset, metric="external:clicks", **of_clicks)
    found = beir.compare("steady", "moved", suite="beir", metrics="external:clicks")
    assert found.comparisons[0].metrics[0].verdict == "improved"
    assert found.to_dict()["metrics"][0]["low_information"] is True
    assert [one["low_information"] for one in found.to_dict()["slices"]] == [True, True]
    assert "(low information: not a safe verdict)" in " ".join(str(found).split())
    assert "low information (under 25 nonzero differences): the t interval may be too narrow" in str(found)


@pytest.mark.nightly
def test_what_one_candidate_lacks_is_told_beside_the_others(beir: nt.Tracker) -> None:
    values = pd.DataFrame({"group": [f"q{n:02}" for n in range(30)], "value": np.linspace(0.2, 0.8, 30)})
    of_clicks: dict[str, Any] = {"metric": "external:clicks", "direction": "higher", "range": (0, 1)}
    for name, datasets in (("base", DATASETS), ("few", DATASETS), ("half", ["beir-b"])):
        for dataset in datasets:
            moved = values.copy()
            moved.loc[:3, "value"] += 0.1 * (name != "base")
            beir.log_results(moved, name=name, dataset=dataset, **of_clicks)
    text = " ".join(str(beir.compare("base", "few", "half", suite="beir", metrics="external:clicks")).split())
    assert "half: base or half has no run on beir-a" in text
    assert "on low information" in text


@pytest.mark.nightly
def test_a_history_leaves_out_systems_of_means_alone(beir: nt.Tracker) -> None:
    beir.prune("2999-01-01", dataset="beir-a", summaries_only=True, apply=True)  # all but old-1, which is @prod
    found = beir.history_report(suite="beir")
    (note,) = [note for note in found.history.notes if note.kind == "summaries_only"]
    assert note.facts == {"n": 6}
    assert {row["delta"] for row in found.rows} == {None}
    assert len({row["mean"] for row in found.rows}) == 7


def test_a_gate_takes_clusters_labels_limits_and_arms(beir: nt.Tracker) -> None:
    asked: dict[str, Any] = {"baseline": "old-0", "margin": 0.01, "dry_run": True}
    plain = beir.gate("new-0", suite="beir", **asked).gated.decision
    clustered = beir.gate("new-0", suite="beir", **asked, cluster="user", labels=1).gated.decision
    assert (plain.decision, clustered.decision) == ("pass", "inconclusive")
    assert clustered.delta == pytest.approx(plain.delta)
    assert clustered.told.betting_lower is not None
    assert plain.told.betting_lower is not None
    assert clustered.told.betting_lower < plain.told.betting_lower  # of 36 clusters
    limited = beir.gate("new-0", suite="beir", **asked, limits={"latency_ms": "+1%"}).gated.decision
    assert (limited.decision, limited.without("limit")) == ("fail", "pass")
    assert [one.name for one in limited.limits] == ["latency_ms on beir-a", "latency_ms on beir-b"]
    arms = beir.gate("tag:recipe=new", suite="beir", **{**asked, "baseline": "tag:recipe=old"}).gated
    compared = beir.compare("tag:recipe=old", "tag:recipe=new", suite="beir").comparisons[0]
    assert arms.decision.delta == pytest.approx(compared.metrics[0].delta)
    assert (arms.decision.decision, arms.decision.told.betting_lower) == ("inconclusive", None)  # no bet covers repeats
    assert arms.decision.told.t_lower is not None
    assert compared.metrics[0].ci is not None
    assert arms.decision.told.t_lower > compared.metrics[0].ci[0]


def test_the_history_of_a_suite_is_that_of_its_macro_means(beir: nt.Tracker) -> None:
    board = beir.leaderboard(suite="beir").leaderboard
    macros = dict(zip((run.name for run in board.runs), board.metrics[0].standings, strict=True))
    found = beir.history_report(suite="beir")
    assert [row["run"] for row in found.rows] == ["old-0", "old-1", "old-2", "new-0", "new-1", "new-2", "rules"]
    for row in found.rows:
        assert (row["mean"], row["ci"]) == (macros[row["run"]].mean, macros[row["run"]].ci)
    for before, row in pairwise(found.rows):
        assert row["delta"] == pytest.approx(row["mean"] - before["mean"])
    assert str(found.rows[0]["suite"]) == "beir"


@pytest.mark.nightly
def test_a_step_of_the_macro_mean_is_found(beir: nt.Tracker) -> None:
    random = np.random.default_rng(3)
    for number in range(12):
        for dataset, n in (("beir-a", 300), ("beir-b", 150)):
            moved = 0.2 * (number > 5) * (n == 150)  # of the small dataset alone
            values = (0.4 + moved + random.normal(0, 0.05, n)).clip(0, 1)
            table = pd.DataFrame({"group": [f"t{query}" for query in range(n)], "value": values})
            of_metric: dict[str, Any] = {"metric": "external:clicks", "direction": "higher", "range": (0, 1)}
            beir.log_results(table, name=f"week-{number:02}", dataset=dataset, **of_metric)
    found = beir.history_report("external:clicks", suite="beir", new_steps=True)
    (step,) = [row for row in found.rows if row["step"]]
    assert step["run"] == "week-06"
    assert step["step_change"] == pytest.approx(0.1, abs=0.01)
    assert found.new_steps == ()


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda t: t.compare("old-0", "none*", suite="beir"),
            "no system except the baseline matches 'none*'; name a candidate",
        ),
        (
            lambda t: t.compare("tag:recipe=old", "new-0", suite="beir", cluster="user"),
            "cluster= does not go with arms of repeated runs: it is for single runs; leave one out",
        ),
        (
            lambda t: t.leaderboard(suite="beir", metrics=["ndcg@10", "RR@3"]),
            "7 of 7 runs, such as 'old-0', lack ndcg@10, RR@3",
        ),
        (
            lambda t: t.history_report("P@3", suite="beir"),
            "no system has P@3 on every dataset of suite 'beir'; see the systems with: "
            "ndcg-track leaderboard --suite beir",
        ),
    ],
)
def test_what_is_refused(beir: nt.Tracker, ask: Callable[[nt.Tracker], object], message: str) -> None:
    with pytest.raises(NdcgTrackerError) as refusal:
        ask(beir)
    assert str(refusal.value).startswith(message)


def test_a_decision_on_arms_keeps_their_runs_on_each_dataset(beir: nt.Tracker, tmp_path: Path) -> None:
    beir.gate("tag:recipe=new", suite="beir", baseline="tag:recipe=old", margin=0.5)
    with beir.store().read() as tx:
        (record,) = tx.decisions.on_suite("beir")
        ids = {run.id for dataset in DATASETS for run in tx.runs.all(dataset) if "recipe" in run.tags}
        assert ids <= tx.runs.used_ids(once=False)
    kept = [one for of in record.runs.values() for one in of["repeats"].values()]
    assert {run_id for of_side in kept for run_id in of_side} == ids
    beir.export_runs(tmp_path / "out")
    with nt.Tracker(tmp_path / "other.db") as other:
        other.import_runs(tmp_path / "out")
        with other.store().read() as tx:
            (copy,) = tx.decisions.on_suite("beir")
            names = {run.id: run.name for run in tx.runs.all("beir-a")}
        assert [names[one] for one in copy.runs["beir-a"]["repeats"]["baseline_run_id"]] == ["old-0", "old-1", "old-2"]
