"""Runs stored as sums: compared and gated as the same runs with all their groups; what needs groups says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from refused import refusal_of

import ndcg_tracker as nt
from ndcg_tracker.errors import InputError, NameTakenError, NdcgTrackerError, NotComparableError
from ndcg_tracker.ingest.results import merged_summaries, write_summaries
from ndcg_tracker.integrations.batches import summed, summed_clusters, together
from ndcg_tracker.rankings.keys import joined_digest
from ndcg_tracker.statistics.summary import PairedSums, SliceSummary, Summary

pa = pytest.importorskip("pyarrow")

METRIC, N_GROUPS = "ndcg@10", 600
rng = np.random.default_rng(19)
GROUPS = [f"q{number:03}" for number in range(N_GROUPS)]
BEFORE = rng.beta(2, 3, N_GROUPS)
AFTER = np.clip(BEFORE + np.where(rng.random(N_GROUPS) < 0.6, rng.normal(0.012, 0.06, N_GROUPS), 0.0), 0, 1)
SURFACE = np.array(["web", "app", "tv"])[rng.integers(0, 3, N_GROUPS)]
USER = np.array([f"u{number}" for number in rng.integers(0, 250, N_GROUPS)])
DIGESTS = [f"{day:032x}" for day in (7, 8)]
EXTERNAL = {"metric": "value", "direction": "higher", "range": (0, 1)}


def sums_of(
    places: Any = slice(None), *, labels: str | None = DIGESTS[0], clustered: bool = True
) -> list[SliceSummary]:
    """Return the sums of some groups by the functions that executors run."""
    own, other, surface, user = AFTER[places], BEFORE[places], SURFACE[places], USER[places]
    rows = pa.table({"metric": [METRIC] * own.size, "slice": surface, "own": own, "other": other})
    rows = rows.append_column("has_own", pa.array([True] * own.size))
    clusters = {"metric": [], "slice": [], "is_whole": [], "n_groups": [], "total": []}
    for value in (None, *np.unique(surface)):
        within = np.ones(own.size, bool) if value is None else surface == value
        for one in np.unique(user[within]):
            of_user = within & (user == one)
            facts = (METRIC, value, value is None, int(of_user.sum()), float((own - other)[of_user].sum()))
            for column, fact in zip(clusters.values(), facts, strict=True):
                column.append(fact)
    parts = pa.Table.from_batches([one for cut in rows.to_batches(100) for one in summed([cut])])
    of_clusters = pa.Table.from_batches(summed_clusters(pa.table(clusters).to_batches(70))) if clustered else None
    cluster = "user" if clustered else None
    return together(parts, of_clusters, is_paired=True, by="surface", cluster=cluster, labels=labels)


def assert_close(found: Any, wanted: Any, name: str) -> None:
    assert (found is None) == (wanted is None), name
    assert found is None or found == pytest.approx(wanted, rel=1e-9, abs=1e-15), name


def alone(summaries: Sequence[SliceSummary]) -> list[SliceSummary]:
    """Return the sums of the baseline, which is paired with nothing."""
    whole = summaries[0]
    return [replace(whole, values=Summary.of(BEFORE), paired=None, cluster=None)]


def fill_with_sums(url: str) -> None:
    with nt.Tracker(url) as tracker:
        found = sums_of()
        tracker.log_summaries(alone(found), name="before")
        tracker.log_summaries(found, name="after", baseline="before")
        for name, values in (("b", BEFORE), ("a", AFTER)):
            of_groups = dict(zip(GROUPS, values.tolist(), strict=True))
            tracker.log_results(of_groups, name=name, dataset="rows", **EXTERNAL)
        tracker.set_groups({"group": GROUPS, "surface": SURFACE.tolist(), "user": USER.tolist()}, dataset="rows")


@pytest.fixture
def summed_runs(fill_as: Callable[[Callable[[str], object]], None], tracker: nt.Tracker) -> nt.Tracker:
    """A tracker with two runs as sums, and the same two with all their values, in another dataset."""
    fill_as(fill_with_sums)
    return tracker


@pytest.mark.parametrize("options", [{}, {"by": "surface"}, {"cluster": "user"}, {"by": "surface", "cluster": "user"}])
def test_the_comparison_is_that_of_the_rows(summed_runs: nt.Tracker, options: dict[str, str]) -> None:
    for runs in (("before", "after"), ("after", "before")):
        found, wanted = (summed_runs.compare(*names, **options).to_dict() for names in (runs, [run[0] for run in runs]))
        (own,), (other,) = (one["metrics"] for one in (found, wanted))
        for name in (
            "baseline",
            "candidate",
            "delta",
            "ci",
            "p_value",
            "effect_size",
            "detectable_delta",
        ):
            assert_close(own[name], other[name], name)
        for name in ("wins", "ties", "losses", "verdict", "warnings", "groups", "ci_method"):
            assert own.get(name) == other.get(name), name
        rows = [one.get("slices") or [] for one in (found, wanted)]
        assert len(rows[0]) == len(rows[1]) == (3 if "by" in options else 0)
        for one, same in zip(*rows, strict=True):
            numbers = [[value for value in row.values() if isinstance(value, float)] for row in (one, same)]
            assert numbers[0] == pytest.approx(numbers[1], rel=1e-9)
            assert (one["value"], one["n"], one["wins"]) == (same["value"], same["n"], same["wins"])
        assert found["worst"] == found["best"] == []


@pytest.mark.parametrize("margin", [0.0, 0.003, 0.02])
@pytest.mark.parametrize("cluster", [None, "user"])
def test_the_gate_is_that_of_the_rows(summed_runs: nt.Tracker, margin: float, cluster: str | None) -> None:
    slices = {"by": "surface", "slice_margin": 0.01, "strict_slices": True}
    for of_slices in ({}, slices):
        found, wanted = (
            summed_runs.gate(one, baseline=other, metric=metric, margin=margin, cluster=cluster, **of_slices).to_dict()
            for one, other, metric in (("before", "after", METRIC), ("b", "a", "external:value"))
        )
        for name in ("decision", "n", "small_but_real_drop"):
            assert found[name] == wanted[name], name
        for name in ("lower", "upper", "delta", "margin_needed"):
            if wanted.get(f"{name}_method") != "betting":  # sums know no such bound
                assert_close(found[name], wanted[name], name)
        named = [[(row["value"], row["n"]) for row in one["regressed_slices"]] for one in (found, wanted)]
        assert named[0] == named[1]
        rows = [
            [(row["value"], row["status"]) for row in (one["slices"] or {"rows": ()})["rows"]]
            for one in (found, wanted)
        ]
        assert rows[0] == rows[1]


def test_a_fixed_set_is_decided_by_its_means(summed_runs: nt.Tracker) -> None:
    found = summed_runs.gate("before", baseline="after", metric=METRIC, scope="set", tolerance=0.001)
    assert found.to_dict()["decision"] == "fail"
    assert summed_runs.gate("after", baseline="before", metric=METRIC, scope="set").to_dict()["decision"] == "pass"


def test_days_are_merged(tracker: nt.Tracker, tmp_path: Path) -> None:
    days = [np.arange(N_GROUPS) < 250, np.arange(N_GROUPS) >= 250]
    paths = []
    for day, digest in zip(days, DIGESTS, strict=True):
        paths.append(tmp_path / f"{digest[-1]}.jsonl")
        write_summaries(sums_of(day, labels=digest, clustered=False), paths[-1])
    whole = sums_of(labels=joined_digest(DIGESTS), clustered=False)
    tracker.log_summaries(alone(whole), name="before")
    tracker.log_summaries(paths, name="after", baseline="before")
    tracker.log_summaries(whole, name="at once", baseline="before")
    found = [tracker.compare("before", name, by="surface").to_dict() for name in ("after", "at once")]
    assert found[0]["metrics"][0]["ci"] == pytest.approx(found[1]["metrics"][0]["ci"], rel=1e-9)
    assert found[0]["label_set"] == found[1]["label_set"]  # digests of disjoint labels add up


REFUSED: dict[str, tuple[Callable[[nt.Tracker], Any], str]] = {
    "bootstrap": (
        lambda tracker: tracker.compare("before", "after", ci="bootstrap"),
        "ci='bootstrap' needs the groups, but these runs were stored as sums; leave it out",
    ),
    "permutation": (
        lambda tracker: tracker.compare("before", "after", test="permutation"),
        "test='permutation' needs the groups, but these runs were stored as sums; leave it out",
    ),
    "other slices": (
        lambda tracker: tracker.compare("before", "after", by="locale"),
        "the sums of these runs have no slices of 'locale'; they have those of 'surface'; give by='locale' to "
        "summarize, and store the sums again",
    ),
    "explain": (
        lambda tracker: tracker.explain("before", "after"),
        "run 'before' was stored as sums over its groups: the groups themselves are not here; ask where its rows are, "
        "or store the results of groups with: ndcg-track ingest",
    ),
    "rescore": (lambda tracker: tracker.rescore(["after"], metrics="P@5"), "run 'after' was stored as sums"),
    "report": (lambda tracker: tracker.report("before", "after"), "runs 'before' and 'after' were stored as sums"),
    "learned margin": (
        lambda tracker: tracker.gate("after", baseline="before", metric=METRIC, margin="auto", repeats=["before"] * 3),
        "margin",
    ),
    "export": (lambda tracker: tracker.export_runs("x", ["after"]), "run 'after' was stored as sums"),
    "diff": (lambda tracker: tracker.diff("before", "after"), "run 'before' was stored as sums"),
    "leaderboard": (
        lambda tracker: tracker.leaderboard("before", "after", metrics=METRIC),
        "run 'before' was stored as sums",
    ),
    "no such pair": (
        lambda tracker: tracker.compare("before", "before"),
        "no sums of differences are stored for runs 'before' and 'before', and means alone cannot be compared "
        "(stored pairs: 'before' with 'after'); summarize both where their groups are, and store: ndcg-track ingest "
        "--summaries "
        "FILE --name before --baseline before",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_needs_groups_says_so(summed_runs: nt.Tracker, what: str) -> None:
    ask, wanted = REFUSED[what]
    with pytest.raises(NdcgTrackerError) as refused:
        ask(summed_runs)
    assert wanted in str(refused.value) if len(wanted) < 60 else str(refused.value) == wanted


def test_the_page_of_a_suite_has_what_sums_have(tracker: nt.Tracker) -> None:
    found = sums_of()
    for dataset in ("web", "app"):
        tracker.log_summaries(alone(found), name="before", dataset=dataset)
        tracker.log_summaries(found, name="after", baseline="before", dataset=dataset)
    tracker.create_suite("all", ["web", "app"])
    report = tracker.report("before", "after", suite="all")
    assert report.report.pairs == ()
    page = report.to_html()
    assert "Yes: macro ndcg@10 improved by" in page
    assert "Each dataset by itself" not in page
    assert 'role="tablist"' not in page


def test_history_and_lists_have_the_run(summed_runs: nt.Tracker) -> None:
    points = summed_runs.history(METRIC, dataset="default")
    assert points["run"].tolist() == ["before", "after"]
    rows = points.to_dict("records")
    assert rows[1]["mean"] == pytest.approx(AFTER.mean())
    half = 1.964 * AFTER.std(ddof=1) / np.sqrt(N_GROUPS)
    assert [rows[1]["ci_low"], rows[1]["ci_high"]] == pytest.approx(
        [AFTER.mean() - half, AFTER.mean() + half], abs=1e-5
    )
    summary = summed_runs.sql("SELECT run, mean, n_groups FROM run_summary WHERE dataset = 'default' ORDER BY run_id")
    assert summary["n_groups"].tolist() == [N_GROUPS, N_GROUPS]
    assert [run.n_groups for run in summed_runs.runs("default")] == [N_GROUPS, N_GROUPS]


@pytest.mark.both_engines
def test_the_same_sums_again_add_nothing_and_others_are_refused(summed_runs: nt.Tracker) -> None:
    found = sums_of()
    assert summed_runs.log_summaries(found, name="after", baseline="before").outcome == "already stored"
    other = [replace(one, values=replace(one.values, mean=one.values.mean + 0.01)) for one in found]
    with pytest.raises(NameTakenError, match="run 'after' of dataset 'default' exists with other content"):
        summed_runs.log_summaries(other, name="after", baseline="before")
    assert summed_runs.log_summaries(other, name="after", baseline="before", replace=True).outcome == "replaced"
    summed_runs.log_summaries(alone(found), name="third")
    added = summed_runs.log_summaries(other, name="after", baseline="third")
    assert (added.outcome, added.metrics[0].is_new) == ("already stored", True)
    assert summed_runs.compare("third", "after").comparisons[0].metrics[0].wins > 0
    summed_runs.delete_run("third")
    summed_runs.delete_run("after")
    summed_runs.delete_run("before")


def test_low_information_is_not_decided_without_groups(tracker: nt.Tracker) -> None:
    delta = np.zeros(500)
    delta[:40] = -0.5
    paired = PairedSums(Summary.of(delta), 0.5)
    found = [SliceSummary(METRIC, Summary.of(delta + 0.5), paired=paired)]
    tracker.log_summaries([replace(found[0], paired=None)], name="before")
    tracker.log_summaries(found, name="after", baseline="before")
    gated = tracker.gate("after", baseline="before", metric=METRIC, margin=0.5).to_dict()
    assert gated["decision"] == "inconclusive"
    assert "(low information, and sums are not enough)" in gated["reason"]


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (
            lambda day: [replace(one, labels=DIGESTS[0]) for one in day],
            "two parts have the same labels (digest ",
        ),
        (
            lambda day: [replace(one, labels=None) for one in day],
            "parts 1 and 2 differ in the digest of labels: ",
        ),
        (
            lambda day: [replace(one, metric="P@5") for one in day],
            "parts 1 and 2 differ in metrics: 'ndcg@10', and 'P@5'",
        ),
        (lambda day: day[:1], "parts 1 and 2 differ in slices: 'surface', and none"),
        (lambda day: day, "a user with groups in several parts would count as several clusters"),
    ],
)
def test_only_sums_of_one_kind_are_merged(
    change: Callable[[list[SliceSummary]], list[SliceSummary]], wanted: str
) -> None:
    days = [sums_of(slice(0, 60)), change(sums_of(slice(60, 120), labels=DIGESTS[1]))]
    with pytest.raises(InputError) as refused:
        merged_summaries(days)
    assert str(refused.value).startswith(wanted)


def test_clusters_are_merged_on_a_promise() -> None:
    users = np.unique(USER, return_inverse=True)[1]
    days = [sums_of(users % 2 == day, labels=DIGESTS[day]) for day in (0, 1)]
    found = merged_summaries(days, disjoint_clusters=True)[0]
    assert found.paired is not None
    assert found.paired.test().ci == pytest.approx(sums_of()[0].paired.test().ci, rel=1e-9)


def test_a_baseline_must_be_named_and_stored(tracker: nt.Tracker) -> None:
    found = sums_of()
    with pytest.raises(InputError, match="no baseline is named; name the run they were paired with"):
        tracker.log_summaries(found, name="after")
    with pytest.raises(NdcgTrackerError, match="no dataset 'default'"):
        tracker.log_summaries(found, name="after", baseline="before")
    with pytest.raises(InputError, match="the sums have no differences"):
        tracker.log_summaries(alone(found), name="x", baseline="y")
    with pytest.raises(InputError, match="its mean is not the plain mean of its groups"):
        tracker.log_summaries([replace(alone(found)[0], metric="GMAP")], name="x")


def test_runs_with_other_labels_are_not_comparable(summed_runs: nt.Tracker) -> None:
    summed_runs.log_summaries([replace(alone(sums_of())[0], labels=DIGESTS[1])], name="other labels")
    with pytest.raises(NotComparableError):
        summed_runs.compare("before", "other labels")


def test_groups_that_a_metric_counted_cannot_be_taken_out_of_sums(summed_runs: nt.Tracker) -> None:
    assert not any("sums cannot" in note for note in summed_runs.compare("before", "after").notes)
    assert summed_runs.compare("before", "after", missing="intersect").notes[-1] == (
        "ndcg@10 counts the groups missing from a run as 0, and sums cannot leave them out; if there are any, sum up "
        "ndcg(missing=skip)@10 for both runs"
    )
    skip = "missing='skip' needs the groups, but these runs were stored as sums; leave it out"
    assert refusal_of(InputError, summed_runs.compare, "before", "after", missing="skip") == skip
