"""Suites: which datasets, which runs belong together, every number, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import ndcg_tracker as nt
from ndcg_tracker.errors import ConflictError, InputError, NotComparableError, ReferenceNotFoundError
from ndcg_tracker.statistics.many_tests import holm

SIZES = {"beir-a": 40, "beir-b": 12, "beir-c": 25}


def frame_of(dataset: str, skill: float, n: int) -> pd.DataFrame:
    random = np.random.default_rng([len(dataset), ord(dataset[-1]), int(skill * 10)])
    grades = labels(dataset, n)["label"].to_numpy(dtype=float)
    scores = skill * grades + random.normal(size=grades.size)
    return labels(dataset, n)[["group", "item"]].assign(score=scores)


def labels(dataset: str, n: int) -> pd.DataFrame:
    random = np.random.default_rng(ord(dataset[-1]))
    rows = [(f"q{query}", f"d{item}", int(random.integers(0, 4))) for query in range(n) for item in range(12)]
    return pd.DataFrame(rows, columns=["group", "item", "label"])


@pytest.fixture
def beir(fill_as: Callable[[Callable[[str], object]], None], database_url: str) -> nt.Tracker:
    """Three datasets; bm25 and dense on all of them, splade on one."""

    def stored(url: str) -> None:
        with nt.Tracker(url) as tracker:
            for dataset, n in SIZES.items():
                of_dataset = {"dataset": dataset, "labels": labels(dataset, n)}
                for name, skill in (("bm25", 0.2), ("dense", 0.6)):
                    tags = {"system": name.upper()}
                    tracker.ingest(frame_of(dataset, skill, n), name=name, tags=tags, **of_dataset)
            tracker.ingest(frame_of("beir-b", 0.9, 12), name="splade", dataset="beir-b", labels=labels("beir-b", 12))
            tracker.create_suite("beir", ["beir-*"])

    fill_as(stored)
    return nt.Tracker(database_url)


def test_suites_are_made_listed_replaced_and_deleted(beir: nt.Tracker) -> None:
    assert [(one.name, one.datasets) for one in beir.suites()] == [("beir", ("beir-a", "beir-b", "beir-c"))]
    assert beir.create_suite("beir", ["beir-a", "beir-b", "beir-c"]) == beir.suites()[0]  # nothing changes
    with pytest.raises(ConflictError, match="suite 'beir' has other datasets: beir-a, beir-b, beir-c"):
        beir.create_suite("beir", ["beir-c"])
    assert beir.create_suite("beir", ["beir-c", "beir-a", "beir-c"], replace=True).datasets == ("beir-c", "beir-a")
    assert beir.suites()[0].datasets == ("beir-c", "beir-a")
    assert beir.delete_suite("beir").name == "beir"
    assert beir.suites() == []


def test_the_table_is_that_of_the_groups(beir: nt.Tracker) -> None:
    board = beir.leaderboard(suite="beir").leaderboard
    assert [run.name for run in board.runs] == ["dense", "bm25"]
    assert [note.facts for note in board.notes if note.kind == "systems_lacking"] == [
        {"systems": [("splade", ["beir-a", "beir-c"])]}
    ]
    for place, run in enumerate(board.runs):
        values = [beir.compare("bm25", run.name, dataset=dataset).comparisons for dataset in SIZES]
        means = [one[0].metrics[0].candidate for one in values]
        assert [of.standings[place].mean for of in board.slices] == pytest.approx(means)
        macro = board.metrics[0].standings[place]
        assert macro.mean == pytest.approx(np.mean(means))
        assert macro.others["micro"].mean == pytest.approx(np.average(means, weights=list(SIZES.values())))
        expected = scipy.stats.ttest_1samp(means, 0.0).confidence_interval()
        assert macro.others["over_datasets"].ci == pytest.approx((expected.low, expected.high))
    frame = beir.leaderboard("b*", "dense", suite="beir").to_frame()
    assert frame["slice"].fillna("").tolist() == [*[""] * 2, *(dataset for dataset in SIZES for _ in range(2))]
    assert r"\toprule" in beir.leaderboard(suite="beir").to_latex()


def test_the_comparison_is_that_of_the_datasets(beir: nt.Tracker) -> None:
    found = beir.compare("bm25", "dense", suite="beir").comparisons[0]
    each = [beir.compare("bm25", "dense", dataset=dataset).comparisons[0].metrics[0] for dataset in SIZES]
    assert [one.delta for one in found.slices] == pytest.approx([one.delta for one in each])
    assert [one.p_value for one in found.slices] == pytest.approx([one.p_value for one in each])
    errors = np.array([one.standard_error for one in each])
    assert found.metrics[0].delta == pytest.approx(np.mean([one.delta for one in each]))
    assert found.metrics[0].standard_error == pytest.approx(np.sqrt((errors**2).sum()) / 3)
    assert found.metrics[0].others["micro"].delta == pytest.approx(
        np.average([one.delta for one in each], weights=list(SIZES.values()))
    )
    assert found.metrics[0].others["over_datasets"].p_value == pytest.approx(
        scipy.stats.ttest_1samp([one.delta for one in each], 0).pvalue
    )
    assert found.metrics[0].verdict == "improved"
    back = beir.compare("dense", "bm25", suite="beir").comparisons[0]
    assert back.metrics[0].verdict == "regressed"
    assert back.metrics[0].delta == pytest.approx(-found.metrics[0].delta)
    same = beir.compare("dense", "dense", suite="beir").comparisons[0]
    assert (same.metrics[0].verdict, same.metrics[0].ci) == ("identical", None)
    of_one = beir.compare("bm25", "splade", suite="beir").comparisons[0]
    assert (of_one.suite.missing, len(of_one.slices), of_one.metrics[0].others["over_datasets"].ci) == (
        ("beir-a", "beir-c"),
        1,
        None,
    )


def test_runs_belong_together_by_a_tag(beir: nt.Tracker) -> None:
    by_name = beir.compare("bm25", "dense", suite="beir").comparisons[0]
    by_tag = beir.compare("BM25", "DENSE", suite="beir", by_tag="system").comparisons[0]
    assert by_tag.metrics[0] == by_name.metrics[0]
    runs = beir.leaderboard(suite="beir", by_tag="system").leaderboard.runs
    assert [run.name for run in runs] == ["DENSE", "BM25"]
    beir.tag_run("splade", {"system": "DENSE"}, dataset="beir-b")
    with pytest.raises(InputError, match="runs 'dense' and 'splade' of 'beir-b' both have the tag system=DENSE"):
        beir.leaderboard(suite="beir", by_tag="system")


def test_what_is_refused(beir: nt.Tracker) -> None:
    with pytest.raises(ReferenceNotFoundError, match="there is no suite 'x'; there is 'beir'"):
        beir.leaderboard(suite="x")
    with pytest.raises(ReferenceNotFoundError, match="no dataset of suite 'beir' has both 'bm25' and 'x'"):
        beir.compare("bm25", "x", suite="beir")
    with pytest.raises(
        ReferenceNotFoundError, match="two systems or more on every dataset of suite 'beir'; see the runs"
    ):
        beir.leaderboard("x*", suite="beir")
    with pytest.raises(NotComparableError):
        beir.compare("bm25", "dense", suite="beir", metrics="AP")
    with pytest.raises(ReferenceNotFoundError, match="no dataset 'y'"):
        beir.create_suite("other", ["beir-a", "y"])
    with pytest.raises(InputError, match="weighs groups, but a suite counts them; choose one without weights"):
        beir.leaderboard(suite="beir", metrics="ndcg(weights=group)@10")
    with pytest.raises(InputError, match="a suite needs datasets"):
        beir.create_suite("other", [])
    with pytest.raises(InputError, match="the name of a suite is empty"):
        beir.create_suite("", ["beir-a"])
    with pytest.raises(NotComparableError, match="or see all together: ndcg-track suite create NAME DATASET"):
        beir.leaderboard("d*")


def test_standings_are_those_of_the_comparisons(beir: nt.Tracker) -> None:
    for dataset, n in SIZES.items():
        beir.ingest(frame_of(dataset, 0.7, n), name="colbert", dataset=dataset, labels=labels(dataset, n))
    rows = beir.leaderboard(suite="beir").to_dict()["metrics"][0]["rows"]
    pairs = [("bm25", "dense"), ("bm25", "colbert"), ("dense", "colbert")]
    found = [beir.compare(*pair, suite="beir").comparisons[0] for pair in pairs]
    adjusted = holm([one.metrics[0].p_value for one in found])
    beaten = {row["run"]: set() for row in rows}
    for (one, other), comparison, p in zip(pairs, found, adjusted, strict=True):
        if p is not None and p < 0.05:
            better, worse = (other, one) if comparison.metrics[0].delta > 0 else (one, other)
            beaten[better].add(worse)
    assert beaten["dense"] == {"bm25"}
    for place, row in enumerate(rows):
        assert set(row["better_than"]) == beaten[row["run"]]
        assert row["rank"] == place + 1
        assert row["rank_high"] == 3 - len(beaten[row["run"]])


def test_lower_may_be_better(beir: nt.Tracker) -> None:
    for dataset, n in SIZES.items():
        for name, most in (("bm25", 30.0), ("dense", 20.0)):
            times = pd.DataFrame({"group": [f"q{query}" for query in range(n)], "value": np.linspace(1.0, most, n)})
            of_metric = {"metric": "external:latency", "direction": "lower", "range": (0, 99)}
            beir.log_results(times, name=name, dataset=dataset, **of_metric)
    ranked = beir.leaderboard(suite="beir", metrics="external:latency")
    board = ranked.leaderboard
    assert ([run.name for run in board.runs], board.metrics[0].direction) == (["dense", "bm25"], "lower")
    assert ": dense leads by macro " in str(ranked)
    found = beir.compare("bm25", "dense", suite="beir", metrics="external:latency").comparisons[0]
    assert (found.metrics[0].verdict, found.metrics[0].delta < 0) == ("improved", True)
    gated = beir.gate("bm25", suite="beir", baseline="dense", margin=0.5, metric="external:latency", dry_run=True)
    assert gated.decision != "pass"
    better = beir.gate("dense", suite="beir", baseline="bm25", margin=0.5, metric="external:latency", dry_run=True)
    assert better.gated.decision.delta == pytest.approx(found.metrics[0].delta)


def with_equal_dataset(tracker: nt.Tracker, value: float) -> dict[str, object]:
    """Store 200 noisy queries, and 2 queries on which the candidate is better by one value."""
    random = np.random.default_rng(200)
    of_large, given = random.uniform(0.2, 0.8, 200), {"metric": "quality", "direction": "higher", "range": (0, 1)}
    for name, gain in (("old", 0.0), ("new", 1.0)):
        large = of_large + gain * random.normal(0.0, 0.02, 200)
        tracker.log_results({f"q{i}": float(large[i]) for i in range(200)}, name=name, dataset="large", **given)
        tracker.log_results({"a": 0.1 + gain * value, "b": 0.4 + gain * value}, name=name, dataset="tiny", **given)
    tracker.create_suite("both", ["large", "tiny"])
    return {"metric": "external:quality"}


@pytest.mark.parametrize("value", [0.3, 0.0])
def test_a_dataset_of_equal_differences_is_unknown(tracker: nt.Tracker, value: float) -> None:
    of_metric = with_equal_dataset(tracker, value)
    result = tracker.compare("old", "new", suite="both", metrics=of_metric["metric"])
    found = result.comparisons[0]
    assert found.metrics[0].delta == pytest.approx((found.slices[0].delta + value) / 2)
    for estimate in (found.metrics[0], found.metrics[0].others["micro"]):
        assert (estimate.standard_error, estimate.ci, estimate.p_value) == (None, None, None)
    assert (found.metrics[0].verdict, found.metrics[0].p_adjusted) == ("no_difference_detected", None)
    assert found.slices[1].verdict == ("no_difference_detected" if value else "identical")
    told = (
        "tiny: low information: all differences of a dataset are equal although its lists differ, so no t interval "
        "says what other queries of it would give"
    )
    assert told in " ".join(str(result).split())
    gated = tracker.gate("new", suite="both", baseline="old", margin=0.01, dry_run=True, **of_metric)
    assert gated.decision == "inconclusive"
    board = tracker.leaderboard(suite="both", metrics=of_metric["metric"]).leaderboard
    assert [standing.better_than for standing in board.metrics[0].standings] == [(), ()]
    assert "improved by" not in str(result)
    page = tracker.report("old", ["new"], suite="both", metrics=of_metric["metric"])
    assert "no difference detected" in " ".join(page.to_html().split())


def test_a_system_whose_results_are_equal_on_a_dataset_has_no_interval(tracker: nt.Tracker) -> None:
    of_metric = with_equal_dataset(tracker, 0.3)
    given = {"metric": "quality", "direction": "higher", "range": (0, 1)}
    for dataset, values in (("large", {f"q{i}": i / 200 for i in range(200)}), ("tiny", {"a": 0.5, "b": 0.5})):
        tracker.log_results(values, name="flat", dataset=dataset, **given)
    board = tracker.leaderboard(suite="both", metrics=of_metric["metric"]).to_dict()
    (flat,) = (row for row in board["metrics"][0]["rows"] if row["run"] == "flat")
    assert (flat["ci"], flat["micro_ci"]) == (None, None)


def test_the_same_lists_on_a_dataset_are_known_to_be_equal(beir: nt.Tracker) -> None:
    """dense and a copy of it that is better on one dataset alone."""
    for dataset, n in SIZES.items():
        skill = 2.0 if dataset == "beir-a" else 0.6
        beir.ingest(frame_of(dataset, skill, n), name="copy", dataset=dataset, labels=labels(dataset, n))
    found = beir.compare("dense", "copy", suite="beir").comparisons[0]
    assert [delta.verdict for delta in found.slices] == ["improved", "identical", "identical"]
    assert found.metrics[0].standard_error == pytest.approx(found.slices[0].standard_error / 3)
    assert (found.metrics[0].verdict, found.notes) == ("improved", ())
    board = beir.leaderboard(suite="beir").to_dict()["metrics"][0]
    rows = {row["run"]: row for row in board["rows"]}
    assert rows["copy"]["better_than"][0] == "dense"
    (pair,) = (of for of in board["pairs"] if (of["candidate"], of["baseline"]) == ("copy", "dense"))
    macro = found.metrics[0]
    assert (pair["delta"], pair["p_value"]) == pytest.approx((macro.delta, macro.p_value))
    assert pair["ci"] == pytest.approx(macro.ci)
    assert (pair["wins"], pair["ties"], pair["losses"]) == (macro.wins, macro.ties, macro.losses)


def test_a_gate_decides_and_is_on_record(beir: nt.Tracker) -> None:
    found = beir.gate("dense", suite="beir", baseline="bm25", margin=0.2, by="dataset", slice_margin=0.3)
    assert (found.decision, found.is_accepted, found.gated.basis.number) == ("pass", True, 1)
    comparison = beir.compare("bm25", "dense", suite="beir").comparisons[0]
    assert found.gated.comparison == comparison
    assert found.gated.decision.delta == pytest.approx(comparison.metrics[0].delta)
    judged = [row for row in found.gated.decision.slices if row.upper is not None]
    assert {row.value for row in judged} == {"beir-a", "beir-c"}  # of 25 queries or more
    assert (beir.gate("dense", suite="beir", baseline="bm25", margin=0.2, dry_run=True)).gated.decision_id is None
    back = beir.gate("bm25", suite="beir", baseline="dense", margin=0.0, acknowledge="known", acknowledged_by="ada")
    assert (back.is_accepted, back.gated.basis.number) == (back.decision != "pass", 1)
    columns = "decision_id, suite, baseline, candidate, decision, acknowledged_by"
    rows = beir.sql(f"SELECT {columns} FROM suite_gate_decisions ORDER BY decision_id").to_numpy().tolist()
    assert [row[:4] for row in rows] == [[1, "beir", "bm25", "dense"], [2, "beir", "dense", "bm25"]]
    assert [row[4] for row in rows] == ["pass", back.decision]
    assert [row[5] == "ada" for row in rows] == [False, True]
    with beir.store().read() as tx:
        first, _ = tx.decisions.on_suite("beir")
        runs = {run.id for run in tx.runs.all("beir-a") if run.name in ("bm25", "dense")}
        assert set(first.runs) == set(SIZES)
        assert {first.runs["beir-a"]["baseline_run_id"], first.runs["beir-a"]["candidate_run_id"]} == runs
        assert tx.runs.used_ids(once=False) >= runs  # prune keeps what a gate has judged
    again = beir.gate("dense", suite="beir", baseline="bm25", margin=0.19)
    assert (again.gated.basis.number, again.gated.decision_id) == (2, 3)
    numbers = beir.sql("SELECT decision_number FROM suite_gate_decisions ORDER BY decision_id")
    assert numbers["decision_number"].tolist() == [1, 1, 2]


def test_gates_at_the_same_time_have_numbers_of_their_own(beir: nt.Tracker, database_url: str) -> None:
    def number(of: int) -> int:
        asked = {"baseline": "bm25", "margin": 0.2 + of * 1e-9}
        with nt.Tracker(database_url) as tracker:
            return tracker.gate("dense", suite="beir", **asked).gated.basis.number  # type: ignore[arg-type]

    with ThreadPoolExecutor(4) as threads:
        assert sorted(threads.map(number, range(6))) == [1, 2, 3, 4, 5, 6]


def test_what_a_gate_refuses(beir: nt.Tracker) -> None:
    lacking = "'splade' or 'bm25' has no run on beir-a, beir-c, but a gate decides on every dataset of suite 'beir'"
    with pytest.raises(NotComparableError, match=lacking):
        beir.gate("splade", suite="beir", baseline="bm25", margin=0.1)
    with pytest.raises(InputError, match="slice_margin= needs by="):
        beir.gate("dense", suite="beir", baseline="bm25", margin=0.1, slice_margin=0.1)
    with pytest.raises(InputError, match="the margin must be"):
        beir.gate("dense", suite="beir", baseline="bm25", margin=-0.1)
    with pytest.raises(InputError, match="a dry run records nothing"):
        beir.gate("dense", suite="beir", baseline="bm25", margin=0.1, dry_run=True, acknowledge="x")
    assert beir.sql("SELECT count(*) AS n FROM suite_gate_decisions")["n"].tolist() == [0]


def test_a_gate_on_a_suite_decides_nothing_under_a_judge_whom_nobody_checks(tracker: nt.Tracker) -> None:
    groups = [f"q{number}" for number in range(40)]
    labels = pd.DataFrame({"group": groups, "item": "a", "label": 1.0})
    for dataset in ("one", "two"):
        tracker.add_labels(labels, dataset=dataset, judge="llama")
        for name, items in (("old", "ba"), ("new", "ab")):
            rows = [(group, item, -place) for group in groups for place, item in enumerate(items)]
            frame = pd.DataFrame(rows, columns=["group", "item", "score"])
            tracker.ingest(frame, name=name, dataset=dataset, judge="llama")
    tracker.create_suite("both", ["one", "two"])
    gated = tracker.gate("new", suite="both", baseline="old", margin=0.1, judge="llama", dry_run=True)
    assert (gated.decision, gated.gated.basis.judge_alone) == ("inconclusive", "llama")
    told = str(gated)
    assert "  why: nobody has checked judge 'llama', whose labels decide\n" in told
    assert (
        "  do:  1. have people check judge 'llama'   ndcg-track labels sample old new --judge llama --budget N" in told
    )


def test_a_gate_tells_no_verdict_over_a_dataset_whose_labels_do_not_reach_both(beir: nt.Tracker) -> None:
    for dataset, n in SIZES.items():
        items = frame_of(dataset, 0.7, n)
        if dataset == "beir-c":
            items["item"] = np.where(items.index % 2 == 0, "v2-" + items["item"], items["item"])
        beir.ingest(items, name="cut", dataset=dataset, labels=labels(dataset, n))
    found = beir.gate("cut", baseline="bm25", suite="beir", by="dataset", margin=0.05, slice_margin=0.1, dry_run=True)
    macro = found.gated.metric
    assert (found.decision, macro.verdict, macro.open, macro.ci) == (
        "inconclusive",
        "not_comparable",
        "labels do not reach",
        None,
    )
    assert "the labels do not reach both runs" in found.to_text(verbose=True)
    assert "no query that counts" not in found.to_text(verbose=True)
