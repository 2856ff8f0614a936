"""Leaderboards of stored runs: which runs, which labels, every number, and what is refused."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import ndcg_tracker as nt
from ndcg_tracker.errors import InputError, NotComparableError, ReferenceNotFoundError
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.leaderboard import ranked_runs

N_RUNS, N_GROUPS = 10, 50
NAMES = [f"run-{number}" for number in range(N_RUNS)]


def frame_of(number: int) -> pd.DataFrame:
    """Return the ranking of a run: the labels under noise, the less the higher its number."""
    rng = np.random.default_rng(number)
    grades = labels()["label"].to_numpy(dtype=float).reshape(N_GROUPS, 20)
    scores = grades + rng.normal(scale=4.0 - 0.35 * number, size=grades.shape)
    rows = [(f"q{query}", f"d{item}", scores[query, item]) for query in range(N_GROUPS) for item in range(20)]
    return pd.DataFrame(rows, columns=["group", "item", "score"])


def labels() -> pd.DataFrame:
    rng = np.random.default_rng(99)
    rows = [(f"q{query}", f"d{item}", int(rng.integers(0, 4))) for query in range(N_GROUPS) for item in range(20)]
    return pd.DataFrame(rows, columns=["group", "item", "label"])


@pytest.fixture
def ten(fill_as: Callable[[Callable[[str], object]], None], database_url: str) -> nt.Tracker:
    """Ten runs of rising quality."""

    def stored(url: str) -> None:
        with nt.Tracker(url) as tracker:
            for number, name in enumerate(NAMES):
                tracker.ingest(
                    frame_of(number), labels=labels() if not number else None, name=name, dataset="shop",
                    metrics=["ndcg@10", "P@5"], tags={"study": "s1" if number < 5 else "s2"},
                )  # fmt: skip
            kinds = pd.DataFrame({"group": [f"q{query}" for query in range(N_GROUPS)]})
            kinds["kind"] = ["short" if query % 5 else "long" for query in range(N_GROUPS)]
            tracker.set_groups(kinds, dataset="shop")

    fill_as(stored)
    return nt.Tracker(database_url)


def results(tracker: nt.Tracker, metric: str) -> pd.DataFrame:
    """Return the stored results, a column per run."""
    query = f"SELECT run, group_key, value FROM group_history WHERE metric = '{metric}'"
    return tracker.sql(query).pivot(index="group_key", columns="run", values="value")


def test_every_number_is_that_of_scipy(ten: nt.Tracker) -> None:
    found = ten.leaderboard(metrics=["ndcg@10", "P@5"]).to_dict()
    assert [one["name"] for one in found["runs"]][:2] == ["run-9", "run-8"]
    for board in found["metrics"]:
        values = results(ten, board["metric"])
        p_values = {}
        for pair in board["pairs"]:
            a, b = values[pair["candidate"]], values[pair["baseline"]]
            test = scipy.stats.ttest_rel(a, b)
            p_values[pair["candidate"], pair["baseline"]] = test.pvalue
            assert pair["delta"] == pytest.approx(a.mean() - b.mean(), abs=1e-12)
            assert pair["p_value"] == pytest.approx(test.pvalue, rel=1e-9)
            assert pair["ci"] == pytest.approx(list(test.confidence_interval()), abs=1e-9)
        assert len(p_values) == N_RUNS * (N_RUNS - 1) / 2
        order = sorted(p_values, key=p_values.__getitem__)
        steps = [min(1, p_values[pair] * (len(order) - place)) for place, pair in enumerate(order)]
        holm = dict(zip(order, np.maximum.accumulate(steps), strict=True))
        for pair in board["pairs"]:
            assert pair["p_adjusted"] == pytest.approx(holm[pair["candidate"], pair["baseline"]], rel=1e-9)
        better = {name: set() for name in NAMES}
        for (a, b), p in holm.items():
            if p < 0.05:
                winner, loser = (a, b) if values[a].mean() > values[b].mean() else (b, a)
                better[winner].add(loser)
        for row in board["rows"]:
            interval = scipy.stats.t.interval(0.95, 49, values[row["run"]].mean(), scipy.stats.sem(values[row["run"]]))
            assert row["ci"] == pytest.approx([max(interval[0], 0), min(interval[1], 1)], abs=1e-12)
            assert set(row["better_than"]) == better[row["run"]]
            assert row["rank_low"] == 1 + sum(row["run"] in losers for losers in better.values())
            assert row["rank_high"] == N_RUNS - len(better[row["run"]])
            best = max(NAMES, key=lambda name: values[name].mean())
            assert row["is_tied_with_best"] == (row["run"] not in better[best])


@pytest.mark.nightly  # compiling itself takes ranx half a minute in a new environment
def test_ranx_calls_the_same_runs_better_without_correction(ten: nt.Tracker) -> None:
    """ranx corrects nothing by default: its letters are the pairs whose p-value is below its level."""
    board = ten.leaderboard().to_dict()["metrics"][0]

    import ranx

    def nested(frame: pd.DataFrame, column: str, kind: type) -> dict[str, dict[str, float]]:
        return {
            group: dict(zip(rows["item"], rows[column].astype(kind).tolist(), strict=True))
            for group, rows in frame.groupby("group")
        }

    qrels = ranx.Qrels(nested(labels(), "label", int))
    runs = [ranx.Run(nested(frame_of(number), "score", float), name=name) for number, name in enumerate(NAMES)]
    theirs = ranx.compare(qrels, runs, metrics=["ndcg@10"], max_p=0.05, stat_test="student").to_dict()
    for pair in board["pairs"]:
        a, b = (pair["candidate"], pair["baseline"]) if pair["delta"] > 0 else (pair["baseline"], pair["candidate"])
        significant = theirs[a]["comparisons"][b]["ndcg@10"] < 0.05
        assert theirs[a]["comparisons"][b]["ndcg@10"] == pytest.approx(pair["p_value"], rel=1e-6, abs=1e-12)
        assert significant == (pair["p_value"] < 0.05)


def test_which_runs_are_meant(ten: nt.Tracker) -> None:
    def names(*runs: str, **options: object) -> set[str]:
        return {run.name for run in ten.leaderboard(*runs, **options).leaderboard.runs}

    assert names("run-[123]", "run-9", "run-3") == {"run-1", "run-2", "run-3", "run-9"}
    assert names(tags={"study": "s1"}) == set(NAMES[:5])
    assert names("run-*", tags={"study": "s2"}, dataset="shop") == set(NAMES[5:])
    assert ten.best().name == "run-9"
    of_study = results(ten, "ndcg@10")[NAMES[:5]].mean()
    assert ten.best(tags={"study": "s1"}).name == of_study.idxmax()
    means = [ranked.mean for ranked in ranked_runs(ten, "P@5")[0]]
    assert means == sorted(means, reverse=True)
    compared = ten.compare("run-0", "run-[0-2]")
    assert [one.candidate.name for one in compared.comparisons] == ["run-1", "run-2"]


def test_slices_are_boards_of_their_groups(ten: nt.Tracker) -> None:
    found = ten.leaderboard("run-0", "run-9", by="kind").to_dict()
    assert [(one["value"], one["n"]) for one in found["slices"]] == [("short", 40), ("long", 10)]
    values = results(ten, "ndcg@10")
    long = values[[int(name[1:]) % 5 == 0 for name in values.index]]
    for row in found["slices"][1]["rows"]:
        assert row["mean"] == pytest.approx(long[row["run"]].mean(), abs=1e-12)


def test_permutation_agrees_where_it_is_clear(ten: nt.Tracker) -> None:
    by_t, by_flips = (ten.leaderboard(test=test).to_dict()["metrics"][0] for test in ("t", "permutation"))
    for one, other in zip(by_t["pairs"], by_flips["pairs"], strict=True):
        assert one["delta"] == other["delta"]
        if one["p_adjusted"] < 0.001:
            assert other["p_adjusted"] < 0.02
        if one["p_adjusted"] > 0.5:
            assert other["p_adjusted"] > 0.05


def test_lower_is_better_where_the_metric_says_so(ten: nt.Tracker) -> None:
    for number, name in enumerate(NAMES[:3]):
        values = {f"q{query}": 10.0 + number + query % 3 for query in range(N_GROUPS)}
        limits = {"direction": "lower", "range": (0, np.inf)}
        ten.log_results(values, name=name, metric="external:latency", dataset="shop", **limits)
    found = ten.leaderboard(*NAMES[:3], metrics="external:latency").to_dict()
    assert [one["name"] for one in found["runs"]] == ["run-0", "run-1", "run-2"]
    assert [one["rank"] for one in found["metrics"][0]["rows"]] == [1, 2, 3]


def test_runs_that_lack_the_metric(ten: nt.Tracker) -> None:
    ten.ingest(frame_of(3), name="other", dataset="shop", metrics="AP")
    found = ten.leaderboard()
    assert len(found.leaderboard.runs) == N_RUNS
    assert found.notes == (
        "left out: 1 run without ndcg@10 under labels version 1, such as other; to add the results: ndcg-track "
        "rescore --all --dataset shop --metric ndcg@10 --labels 1",
    )
    with pytest.raises(NotComparableError) as refused:
        ten.leaderboard("run-1", "other")
    assert str(refused.value) == (
        "1 of 2 runs, such as 'other', lacks ndcg@10 under one version of the labels; type: ndcg-track rescore other "
        "--dataset shop --metric ndcg@10"
    )


def test_groups_that_no_run_has_count_0_and_are_told(tracker: nt.Tracker) -> None:
    judged = labels()
    more = {**judged, "group": [*judged["group"], "q98", "q99"], "item": [*judged["item"], "a", "a"]}
    more["label"] = [*judged["label"], 1, 1]
    for number in (1, 2):
        tracker.ingest(frame_of(number), name=f"run-{number}", labels=more, dataset="shop", metrics="trec_eval:-c map")
    told = tracker.leaderboard(metrics="trec_eval:-c map", dataset="shop")
    assert told.notes[0].startswith(
        "2 of 52 queries with labels are in no run and count as 0 in all; to leave them out, as trec_eval does: "
    )
    assert told.notes[0].endswith(" --missing skip")
    skipped = tracker.leaderboard(metrics="trec_eval:-c map", dataset="shop", missing="skip")
    assert skipped.notes == ()
    assert [one.leaderboard.metrics[0].n for one in (told, skipped)] == [52, 50]
    means = [one.leaderboard.metrics[0].standings[0].mean for one in (told, skipped)]
    assert means[0] == pytest.approx(means[1] * 50 / 52)
    assert "trec\\_eval:-c map" in skipped.to_latex()


def test_groups_that_some_runs_lack(ten: nt.Tracker) -> None:
    some = frame_of(3)
    some = some[some["group"] != "q7"]
    metric = "ndcg(missing=skip)@10"
    ten.rescore(NAMES[:2], metrics=metric, dataset="shop")
    ten.ingest(some, name="some", dataset="shop", metrics=metric)
    runs = ("run-0", "run-1", "some")
    with pytest.raises(InputError) as refused:
        ten.leaderboard(*runs, metrics=metric)
    assert str(refused.value) == (
        "the runs have ndcg(missing=skip)@10 for different groups: 'some' for 49 of 50; give missing='intersect' for "
        "those that all have, or missing='zero'"
    )
    boards = [ten.leaderboard(*runs, metrics=metric, missing=missing).leaderboard for missing in ("intersect", "zero")]
    assert [board.metrics[0].n for board in boards] == [49, 50]
    mean = {run.name: one.mean for run, one in zip(boards[1].runs, boards[1].metrics[0].standings, strict=True)}
    values = nt.evaluate(some, metric, labels=labels()).per_group[metric]
    assert mean["some"] == pytest.approx(values.sum() / 50)


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize(
    ("runs", "options", "kind", "said"),
    [
        (("run-1",), {}, ReferenceNotFoundError,
         "a leaderboard needs two runs or more with ndcg@10, but there is 1; see the runs with: "
         "ndcg-track runs list"),
        (("x*",), {}, ReferenceNotFoundError, "no run matches 'x*'; list all with: ndcg-track runs list"),
        ((), {"tags": {"other": "None"}}, ReferenceNotFoundError,
         "no run has these tags; see them with: ndcg-track runs list"),
        ((), {"tags": {"study": "s9"}}, ReferenceNotFoundError,
         "no run has these tags; see them with: ndcg-track runs list"),
        ((), {"test": "anova"}, InputError, "test='anova' is unknown; give t or permutation"),
        ((), {"missing": "none"}, InputError, "missing='none' is unknown; give error, zero, intersect or skip"),
        ((), {"metrics": "Judged@10"}, InputError, "Judged@10 is only shown, not tested; rank by another metric"),
    ],
)  # fmt: skip
def test_what_is_refused(
    ten: nt.Tracker, runs: tuple[str, ...], options: dict[str, object], kind: type[Exception], said: str
) -> None:
    with pytest.raises(kind) as refused:
        ten.leaderboard(*runs, **options)
    assert str(refused.value) == said


def test_of_many_runs_the_pairs_with_the_best_are_kept(database_url: str) -> None:
    from ndcg_tracker.questions.leaderboard.decide import metric_board

    values = np.random.default_rng(1).random((60, 30))
    board = metric_board(parse_metric("ndcg@10"), [f"r{place}" for place in range(60)], values)
    best = f"r{int(values.mean(axis=1).argmax())}"
    assert {pair.candidate for pair in board.pairs} == {best}
    assert len(board.pairs) == 59
    assert all(one.rank_low <= one.rank <= one.rank_high for one in board.standings)
    assert sum(len(one.better_than) for one in board.standings) == sum(one.rank_low - 1 for one in board.standings), (
        list(itertools.islice(board.standings, 3))
    )


def test_numbers_of_runs_stand_beside_their_means(ten: nt.Tracker) -> None:
    for place, latency in enumerate((12.5, 3, "fast")):
        ten.tag_run(f"run-{place}", {"latency_ms": str(latency)})
    found = ten.leaderboard(measures=["latency_ms"])
    by_name = dict(
        zip([run.name for run in found.leaderboard.runs], found.leaderboard.measures["latency_ms"], strict=True)
    )
    assert {name: number for name, number in by_name.items() if number is not None} == {"run-0": 12.5, "run-1": 3.0}
    frame = found.to_frame().set_index("run")["latency_ms"]
    assert (frame["run-0"], math.isnan(frame["run-2"])) == (12.5, True)
    assert next(line for line in found.to_latex().splitlines() if "run-0" in line).endswith(" & 12.5 \\\\")
    assert "measures" not in ten.leaderboard().to_dict()
    with pytest.raises(InputError, match="no run has a number 'cost' among its parameters and tags"):
        ten.leaderboard(measures=["cost"])


def test_wins_are_those_of_compare_and_small_slices_are_told(ten: nt.Tracker) -> None:
    board = ten.leaderboard(metrics="ndcg@10")
    pairs = board.to_dict()["metrics"][0]["pairs"]
    for pair in pairs[:5]:
        found = ten.compare(pair["baseline"], pair["candidate"], metrics="ndcg@10").comparisons[0].metrics[0]
        assert (pair["wins"], pair["ties"], pair["losses"]) == (found.wins, found.ties, found.losses)
    keys = [group.key for group in ten.groups("shop")]
    device = ["tv" if place == 3 else "phone" for place in range(len(keys))]
    ten.set_groups({"group": keys, "screen": device}, dataset="shop")
    notes = ten.leaderboard(metrics="ndcg@10", by="screen").to_dict()["notes"]
    assert notes == ["left out: 1 slice by screen with fewer than 2 queries"]


def test_labels_of_a_version(ten: nt.Tracker) -> None:
    ten.add_labels(labels().assign(label=lambda frame: 3 - frame["label"]), dataset="shop")
    with pytest.raises(NotComparableError) as lacking:
        ten.leaderboard(labels="newest")
    assert str(lacking.value) == (
        "10 of 10 runs, such as 'run-0', lack ndcg@10 under version 2 of the labels; type: ndcg-track rescore run-0 "
        "run-1 run-2 run-3 run-4 --dataset shop --metric ndcg@10"
    )
    ten.rescore(["run-1"], metrics="ndcg@10")
    with pytest.raises(ReferenceNotFoundError) as caught:
        ten.leaderboard(labels="newest")
    assert str(caught.value) == (
        "a leaderboard needs two runs or more with ndcg@10 under version 2 of the labels, but there is 1; to add more: "
        "ndcg-track rescore --all --dataset shop --metric ndcg@10 --labels 2"
    )
    ten.rescore(["run-1", "run-2", "run-3"], metrics="ndcg@10")
    newest = ten.leaderboard("run-1", "run-3", labels="newest")
    first = ten.leaderboard("run-1", "run-3", labels=1)
    assert [one.to_dict()["labels"]["version"] for one in (newest, first)] == [2, 1]
    assert [one.to_dict()["runs"][0]["name"] for one in (newest, first)] == ["run-1", "run-3"], "labels upside down"
    assert ten.leaderboard(labels=1).notes == ()
    assert (
        ten.leaderboard(labels=2)
        .notes[0]
        .endswith("to add the results: ndcg-track rescore --all --dataset shop --metric ndcg@10 --labels 2")
    )
    with pytest.raises(NotComparableError, match="1 of 2 runs, such as 'run-0', lacks ndcg@10 under version 2 of the"):
        ten.leaderboard("run-0", "run-1", labels=2)
    with pytest.raises(ReferenceNotFoundError, match=r"no version 7 of the labels of dataset 'shop' \(it has 1 to 2\)"):
        ten.leaderboard(labels=7)
    gated = ten.gate("run-3", baseline="run-1", margin=0.1, labels=1)
    assert (gated.gated.comparison.label_set.version, gated.to_dict()["decision"]) == (1, "pass")
    assert ten.gate("run-3", baseline="run-1", margin=0.1).gated.comparison.label_set.version == 2
    assert "--labels 1" in ten.gate_report(gated).to_html()
    assert "version 1" in ten.report("run-1", "run-3", labels=1).to_html()


def test_a_run_without_a_group_of_the_labels_is_not_ranked(ten: nt.Tracker) -> None:
    other = frame_of(3).assign(group=lambda frame: "z" + frame["group"])
    stored = ten.ingest(other, name="elsewhere", dataset="shop", metrics=["ndcg@10"], allow="no-overlap")
    assert "no group of the run has labels" in stored.notes[0]
    found = ten.leaderboard()
    assert len(found.to_dict()["runs"]) == N_RUNS
    assert found.notes == (
        "left out: 1 run without any group of these labels, such as elsewhere: are the group ids written as in the "
        "labels?",
    )
    with pytest.raises(NotComparableError) as caught:
        ten.leaderboard("run-1", "elsewhere")
    assert str(caught.value) == (
        "run 'elsewhere' has no group of version 1 of the labels of dataset 'shop', so each would count as missing; "
        "are its group ids written as in the labels?"
    )


def test_equal_runs_are_told_apart_from_tested_pairs(ten: nt.Tracker) -> None:
    assert "over all pairs of runs of a metric; p < 0.05" in " ".join(ten.leaderboard().to_text(verbose=True).split())
    ten.ingest(frame_of(3), name="again", dataset="shop", metrics=["ndcg@10"])
    found = ten.leaderboard()
    assert "of a metric, without pairs of equal" in " ".join(found.to_text(verbose=True).split())
    assert "over all pairs of runs of a metric, without pairs of equal results, $p < 0.05$" in found.to_latex()


def test_metrics_over_other_numbers_of_queries(ten: nt.Tracker) -> None:
    fewer = frame_of(3)[lambda frame: frame["group"] != "q7"]
    for name in ("a", "b"):
        ten.ingest(fewer, name=name, dataset="shop", metrics=["ndcg@10", "trec_eval:P_5"])
    latex = ten.leaderboard("a", "b", metrics=["ndcg@10", "trec_eval:P_5"]).to_latex()
    assert "($n = 50, 49$ queries, in the order of columns)" in latex


def test_a_metric_by_another_name_is_pointed_at(ten: nt.Tracker) -> None:
    ten.rescore(["run-1", "run-2"], metrics="trec_eval:map")
    for ask in (
        lambda: ten.leaderboard("run-1", "run-2", metrics="map"),
        lambda: ten.compare("run-1", "run-2", metrics="map"),
    ):
        with pytest.raises(NotComparableError) as caught:
            ask()
        assert str(caught.value).endswith(
            "; ask for trec_eval:map, which they have, or type: ndcg-track rescore run-1 run-2 --dataset shop --metric "
            "map"
        )


def test_a_run_without_a_judged_item_is_told(ten: nt.Tracker) -> None:
    elsewhere = frame_of(3)
    elsewhere["item"] = [f"other-{item}" for item in elsewhere["item"]]
    ten.ingest(elsewhere, name="elsewhere", dataset="shop", metrics=["ndcg@10"], allow="no-overlap")
    told = "elsewhere has no judged item in the first ranks, so its place says nothing: were their ids renamed? Then"
    assert any(note.startswith(told) for note in ten.leaderboard().notes)
