"""Results of other engines: stored, compared by their direction, gated, drawn, and never computed or explained."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from served import served
from small_shop import BM25, DENSE, frame_of, labels_frame

import ndcg_tracker as nt
from ndcg_tracker.errors import MetricError, NotComparableError

N_GROUPS = 2_400
GROUPS = [f"q{number:03}" for number in range(N_GROUPS)]
TEXT = "external:latency(direction=lower, range=0..inf)"
LATENCY = {"metric": "latency", "direction": "lower", "range": (0, np.inf)}
rng = np.random.default_rng(19)
BASE = rng.uniform(50, 150, N_GROUPS)
VALUES = {"old": BASE, "fast": BASE - 8 + rng.normal(0, 3, N_GROUPS), "slow": BASE + 8 + rng.normal(0, 3, N_GROUPS)}


def fill(url: str) -> None:
    with nt.Tracker(url) as tracker:
        for name, values in VALUES.items():
            tracker.log_results(dict(zip(GROUPS, values.tolist(), strict=True)), name=name, **LATENCY)
        tracker.set_groups({"group": GROUPS, "device": ["phone", "tv"] * (N_GROUPS // 2)})


@pytest.fixture
def timed(fill_as: Callable[[Callable[[str], object]], None], tracker: nt.Tracker) -> nt.Tracker:
    """A tracker with the latencies of three runs, which have no items."""
    fill_as(fill)
    return tracker


def test_the_verdict_follows_the_direction(timed: nt.Tracker) -> None:
    result = timed.compare("old", ["fast", "slow"], by="device")
    fast, slow = result.comparisons
    delta = VALUES["fast"] - VALUES["old"]
    (metric,) = fast.metrics
    assert (metric.metric, metric.about.direction, metric.verdict) == (TEXT, "lower", "improved")
    assert metric.delta == pytest.approx(delta.mean())
    assert (metric.wins, metric.losses) == (int((delta < 0).sum()), int((delta > 0).sum()))
    assert slow.metrics[0].verdict == "regressed"
    order = np.argsort(delta)
    assert [group.group for group in fast.best[:3]] == [GROUPS[place] for place in order[:3]]
    assert [group.delta for group in slow.worst] == sorted((group.delta for group in slow.worst), reverse=True)
    assert slow.worst[0].delta == pytest.approx((VALUES["slow"] - VALUES["old"]).max())
    assert {one.verdict for one in fast.slices or ()} == {"improved"}
    assert [one.wins > one.losses for one in slow.slices or ()] == [False, False]
    assert (slow.slices or ())[0].delta >= (slow.slices or ())[1].delta
    text = result.to_text(verbose=True)
    assert [line.split()[:2] for line in text.splitlines() if line[:1] in "▲▼" and line][:2] == [
        ["▲", "fast"],
        ["▼", "slow"],
    ]
    assert "labels     none: the results were given as values" in text
    assert result.to_dict()["metrics"][0]["direction"] == "lower"


@pytest.mark.parametrize("scope", ["population", "set"])
def test_the_gate(timed: nt.Tracker, scope: str) -> None:
    allowed = {"margin": 1.0} if scope == "population" else {"scope": "set", "margin": 1.0}
    passed = timed.gate("fast", baseline="old", metric="external:latency", **allowed)
    failed = timed.gate("slow", baseline="old", metric="external:latency", **allowed)
    assert [one.to_dict()["decision"] for one in (passed, failed)] == ["pass", "fail"]
    found = passed.to_dict()
    assert (found["direction"], found["delta"]) == ("lower", pytest.approx((VALUES["fast"] - VALUES["old"]).mean()))
    if scope == "set":
        assert failed.to_dict()["reason"].endswith("PASS needs it to be at most 1")
        return
    assert found["lower"] < found["delta"] < found["upper"] < 0
    assert "; PASS needs the upper end below 1" in found["reason"]
    assert failed.to_dict()["reason"].endswith("; all of that is above 0")
    assert timed.gate("slow", baseline="old", metric=TEXT, margin=30.0).to_dict()["decision"] == "pass"
    upper = failed.to_dict()["upper"]
    assert f" to +{upper:.3f}; PASS needs the upper end below 1" in failed.to_dict()["reason"]
    recorded = timed.sql("SELECT metric, delta, ci_low, ci_high FROM gate_decisions ORDER BY decision_id")
    assert list(recorded["metric"]) == [TEXT] * 3
    assert (recorded["ci_low"] < recorded["delta"]).all()
    assert (recorded["delta"] < recorded["ci_high"]).all()


def test_slices_at_the_gate(timed: nt.Tracker) -> None:
    values = dict(zip(GROUPS, VALUES["fast"].tolist(), strict=True))
    for group in GROUPS[1::2]:
        values[group] += 8.0
    timed.log_results(values, name="mixed", **LATENCY)
    gate = {"baseline": "old", "metric": "external:latency", "margin": 5.0, "by": "device", "slice_margin": 0.1}
    found = timed.gate("mixed", **gate).to_dict()
    tv, other = found["parts"]
    assert (found["decision"], tv["value"], tv["status"]) == ("pass", "tv", "open")
    assert tv["lower"] < tv["delta"] < tv["upper"]
    assert tv["upper"] > 0.1
    assert other["upper"] < 0
    assert "not shown to be below 0.1: device='tv'" in found["reason"]
    failed = timed.gate("slow", **{**gate, "margin": 50.0}).to_dict()
    assert (failed["decision"], {part["status"] for part in failed["parts"]}) == ("fail", {"fails"})
    assert "above 0.1: device=" in failed["reason"]


@pytest.mark.nightly
def test_history_and_pictures(timed: nt.Tracker, tmp_path: Path) -> None:
    frame = timed.history("external:latency")
    assert list(frame["run"]) == ["old", "fast", "slow"]
    assert set(frame["direction"]) == {"lower"}
    assert list(frame["mean"]) == pytest.approx([values.mean() for values in VALUES.values()])
    assert frame["step"].tolist() == [False, True, True]
    assert (frame["ci_low"] < frame["mean"]).all()
    assert list(timed.history(TEXT)["mean"]) == list(frame["mean"])
    spec = timed.history_report("external:latency").plot().spec
    assert [row["step"] for row in spec["data"]["values"] if row["step"]] == ["better", "worse"]
    for kind in ("every", "scatter", "histogram", "forest", "slices", "heatmap"):
        timed.compare("old", ["fast", "slow"], by="device").plot(kind).save(tmp_path / f"{kind}.svg")
    page = timed.report("old", "slow")
    page.save(tmp_path / "report.html")
    assert "worse by" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_pages(timed: nt.Tracker) -> None:
    """What the web page shows of such results: none of it asks for items."""
    with served(timed.location) as pages:
        group = "/group?dataset=default&group=q001&run=1&run=2"
        for path in ("/run?run=1", "/history?dataset=default", "/compare?baseline=1&run=1&run=2", group):
            assert "external:latency" in pages.page(path)
        slowest, fastest = (GROUPS[place] for place in (VALUES["old"].argmax(), VALUES["old"].argmin()))
        for sort, first in (("worst", slowest), ("best", fastest)):
            (shown, *_) = re.findall(r"[?&;]group=(q[0-9]+)", pages.page(f"/run?run=1&sort={sort}"))
            assert shown == first


def test_only_itself_is_compared(tracker: nt.Tracker) -> None:
    """The results of another engine beside our own metric of the same name, under whatever labels."""
    tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame())
    tracker.ingest(frame_of(DENSE), name="dense")
    theirs = {"metric": "ndcg@10", "direction": "higher", "range": (0, 1)}
    assert tracker.log_results({"q1": 0.5, "q2": 0.75, "x": 1.0}, name="bm25", **theirs).outcome == "already stored"
    with pytest.raises(nt.NotComparableError, match=r"do not both have external:ndcg@10"):
        tracker.compare("bm25", "dense", metrics="external:ndcg@10")
    tracker.log_results({"q1": 0.75, "q2": 0.5, "x": 0.5}, name="dense", **theirs)
    both = tracker.compare("bm25", "dense").comparisons[0]
    assert [one.metric for one in both.metrics] == ["ndcg@10", "external:ndcg@10(direction=higher, range=0..1)"]
    assert [one.n for one in both.metrics] == [5, 3]
    assert (both.label_set.version, both.label_set.judge) == (1, "")
    assert [one.cutoff for one in both.coverage] == [10]
    alone = tracker.compare("bm25", "dense", metrics="external:ndcg@10", tie_bounds=True)
    assert [one.delta for one in alone.comparisons[0].metrics] == [pytest.approx(-1 / 6)]
    with pytest.raises(nt.MetricError, match="the contribution of each item is unknown"):
        tracker.explain("bm25", "dense", group="q1", metric="external:ndcg@10")
    with pytest.raises(nt.MetricError, match="cannot be computed here"):
        tracker.rescore(["bm25"], metrics="external:ndcg@10")
    with pytest.raises(nt.MetricError, match="cannot be computed here"):
        tracker.ingest(frame_of(DENSE), name="third", metrics=["ndcg@10", "external:ndcg@10"])
    assert [one.metrics for one in tracker.rescore()] == [(), ()]
    assert tracker.explain("bm25", "dense", group="q1").to_dict()["metric"] == "ndcg@10"
    assert [one.version for one in tracker.label_versions()] == [1]
    tracker.ingest({**frame_of(DENSE), "label": [1] * len(frame_of(DENSE)["group"])}, name="other", dataset="other")
    with pytest.raises(
        nt.ReferenceNotFoundError, match=r"^dataset 'other' has no results external:ndcg@10; store some"
    ):
        tracker.history("external:ndcg@10", dataset="other")


def test_older_labels_of_ours_come_before_the_results_alone(tracker: nt.Tracker) -> None:
    from rankings_of import labels_of
    from small_shop import LABELS

    tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame())
    tracker.ingest(frame_of(DENSE), name="dense")
    for name in ("bm25", "dense"):
        tracker.log_results({"q1": 0.5, "q2": 1.0}, name=name, metric="share", direction="higher", range=(0, 1))
    tracker.add_labels(labels_of({**LABELS, "q2": {"a": 3, "d": 1}}))
    found = tracker.compare("bm25", "dense").comparisons[0]
    assert (found.label_set.version, len(found.metrics)) == (1, 2)
    assert [note.kind for note in found.notes].count("newer_labels") == 1


def test_the_same_again_and_other_results(timed: nt.Tracker) -> None:
    values = dict(zip(GROUPS, VALUES["old"].tolist(), strict=True))
    again = timed.log_results(values, name="old", **LATENCY)
    assert (again.outcome, again.metrics[0].is_new) == ("already stored", False)
    with pytest.raises(nt.ConflictError, match=r"keep both with name='old-2', or replace them with replace=True$"):
        timed.log_results({**values, "q000": 1.0}, name="old", **LATENCY)
    with pytest.raises(
        nt.ConflictError, match=r"has external:latency\(direction=lower, range=0..inf\), but here it is"
    ):
        timed.log_results(values, name="old", metric="latency", direction="higher", range=(0, np.inf))
    assert timed.log_results({**values, "q000": 1.0}, name="old", replace=True, **LATENCY).outcome == "replaced"
    assert timed.sql("SELECT value FROM group_history WHERE run = 'old' AND group_key = 'q000'")["value"].tolist() == [
        1.0
    ]
    with timed.store().read() as tx:
        assert len(tx.evaluations.of_run(tx.runs.resolve("old").id)) == 1


def test_groups_without_a_value(tracker: nt.Tracker) -> None:
    values = dict.fromkeys(GROUPS, 0.5) | {GROUPS[3]: None, GROUPS[4]: np.nan}
    judged = {"metric": "faithful", "direction": "higher", "range": (0, 1)}
    stored = tracker.log_results(values, name="old", **judged)
    (metric,) = stored.metrics
    assert (metric.mean, metric.n_groups, metric.n_undefined) == (0.5, N_GROUPS, 2)
    again = tracker.log_results(values, name="old", **judged)
    assert (again.outcome, again.metrics[0].is_new, again.metrics[0].n_undefined) == ("already stored", False, 2)
    tracker.log_results(dict.fromkeys(GROUPS, 0.75), name="new", **judged)
    result = tracker.compare("old", "new", missing="intersect")
    assert result.to_dict()["metrics"][0]["n"] == N_GROUPS - 2
    found = tracker.sql("SELECT DISTINCT undefined_reason FROM group_results WHERE value IS NULL")
    assert found["undefined_reason"].tolist() == ["no value was given"]
    nothing = tracker.log_results(dict.fromkeys(GROUPS), name="none", **judged)
    assert (nothing.metrics[0].mean, nothing.metrics[0].n_undefined) == (None, N_GROUPS)


def test_what_is_no_such_metric(tracker: nt.Tracker) -> None:
    for direction, limits, message in (
        ("up", (0, 1), "direction 'up' is unknown; write higher or lower"),
        ("lower", (1, 0), "the range from 1 to 0 is empty"),
    ):
        with pytest.raises(nt.MetricError, match=message):
            tracker.log_results({"q": 0.5}, name="a", metric="m", direction=direction, range=limits)
    with pytest.raises(nt.InputError, match="the run of the results has no name"):
        tracker.log_results({"q": 0.5}, **LATENCY)


def test_export_and_import(timed: nt.Tracker, tmp_path: Path) -> None:
    timed.export_runs(tmp_path / "exported")
    with nt.Tracker(tmp_path / "other.db") as other:
        other.import_runs(tmp_path / "exported")
        found = other.compare("old", "fast").to_dict()["metrics"][0]
        assert found == timed.compare("old", "fast").to_dict()["metrics"][0]
        assert list(other.history("external:latency")["mean"]) == list(timed.history("external:latency")["mean"])


def test_runs_that_have_nothing_else_cannot_be_explained(timed: nt.Tracker) -> None:
    with pytest.raises(nt.NotComparableError) as refused:
        timed.explain("old", "fast")
    assert str(refused.value) == (
        "run 'old' has only results of other engines, so the items behind them are not known; "
        "ingest its ranking under another name"
    )


def test_runs_of_results_alone_are_never_sent_to_rescore(timed: nt.Tracker) -> None:
    for ask in (
        lambda: timed.gate("fast", baseline="old", metric="latency2", margin=0.1),
        lambda: timed.gate("fast", baseline="old", margin=0.1),
        lambda: timed.compare("old", "fast", metrics="ndcg@10"),
        lambda: timed.leaderboard(),
    ):
        with pytest.raises((NotComparableError, MetricError)) as caught:
            ask()
        if isinstance(caught.value, NotComparableError):
            assert str(caught.value).endswith("; they have results of another engine: ask for external:latency")
    timed.ingest(frame_of(BM25), labels=labels_frame(), name="ours")
    with pytest.raises(NotComparableError) as caught:
        timed.compare("old", "ours")
    assert str(caught.value) == (
        "runs 'old' and 'ours' do not both have a metric under one version of the labels; run 'old' has no items to "
        "compute it from, only results of another engine; store those of the others: ndcg-track ingest --results FILE"
    )
