"""Arms of repeated runs, clusters of groups and families of trainings, on both engines."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ndcg_tracker as nt
from ndcg_tracker.errors import InputError, NdcgTrackerError, ReferenceNotFoundError
from ndcg_tracker.statistics.many_tests import holm
from ndcg_tracker.statistics.repeats import crossed_t
from ndcg_tracker.statistics.t_test import clustered_t, t_lower_bound

GROUPS = [f"q{number:02}" for number in range(40)]
ITEMS = list("abcdefgh")


def fill(url: str) -> None:
    """Two recipes of three trainings each, and one run of something else; groups belong to users."""
    rng = np.random.default_rng(7)
    grades = rng.choice(4, (40, 8), p=[0.5, 0.2, 0.2, 0.1])
    grades[:, 0] = 3
    base = grades * 0.5 + rng.normal(size=grades.shape)
    frame = {"group": np.repeat(GROUPS, 8).tolist(), "item": ITEMS * 40, "label": grades.ravel().tolist()}
    with nt.Tracker(url) as tracker:
        for recipe, gain in (("old", 0.0), ("new", 0.6)):
            for seed in range(3):
                scores = base + gain * grades + rng.normal(0, 0.3) * grades + rng.normal(0, 0.4, grades.shape)
                tracker.ingest(
                    {**frame, "score": scores.ravel().tolist()},
                    name=f"{recipe}-{seed}",
                    dataset="ltr",
                    tags={"recipe": recipe},
                    parameters={"gain": gain, "seed": seed},
                )
        tracker.ingest({**frame, "score": base.ravel().tolist()}, name="rules", dataset="ltr")
        users = [f"u{number // 4}" if number < 38 else None for number in range(40)]
        tracker.set_groups({"group": GROUPS, "user": users, "device": ["tv", "phone"] * 20}, dataset="ltr")


@pytest.fixture
def ltr(fill_as: Callable[[Callable[[str], object]], None], database_url: str) -> Iterator[nt.Tracker]:
    fill_as(fill)
    with nt.Tracker(database_url) as tracker:
        yield tracker


def values(tracker: nt.Tracker, *runs: str) -> Any:
    query = "SELECT run, group_key, value FROM group_history WHERE metric = 'ndcg@10'"
    table = tracker.sql(query).pivot_table(index="group_key", columns="run", values="value")
    return table.loc[GROUPS, list(runs)].to_numpy().T


OLD, NEW = ("old-0", "old-1", "old-2"), ("new-0", "new-1", "new-2")


def test_two_arms(ltr: nt.Tracker) -> None:
    result = ltr.compare("tag:recipe=old", "tag:recipe=new", by="device")
    found = result.to_dict()
    test = crossed_t(values(ltr, *OLD), values(ltr, *NEW))
    parts = test.parts
    assert parts is not None
    assert found["baseline"] == {
        "name": "tag:recipe=old",
        "run_id": None,
        "runs": [{"name": name, "run_id": number} for number, name in enumerate(OLD, 1)],
    }
    (metric,) = found["metrics"]
    expected = [test.mean, test.p_value, *(test.ci or ())]
    assert [metric["delta"], metric["p_value"], *metric["ci"]] == pytest.approx(expected)
    variance = {"groups": parts.groups, "runs_baseline": parts.runs_baseline, "runs_candidate": parts.runs_candidate}
    assert {name: metric["variance"][name] for name in variance} == pytest.approx(variance)
    assert metric["variance"]["df"] == pytest.approx(test.df)
    assert found["metrics"][0]["tie_bounds"] is not None
    tv = next(row for row in found["slices"] if row["value"] == "tv")
    of_tv = crossed_t(values(ltr, *OLD)[:, ::2], values(ltr, *NEW)[:, ::2])
    assert (tv["delta"], tv["p_value"]) == pytest.approx((of_tv.mean, of_tv.p_value))
    assert "moves" not in found["worst"][0]
    text = result.to_text(verbose=True)
    assert text.startswith("tag:recipe=new against tag:recipe=old on ltr (40 queries): ")
    assert "95% interval: t over queries and runs, crossed; p: its t-test\n" in text
    assert "tag:recipe=old: 3 runs as one (old-0, old-1, old-2)" in text
    assert "degrees of freedom; the interval is ±" in " ".join(text.split())


def test_an_arm_against_a_run(ltr: nt.Tracker) -> None:
    found = ltr.compare("rules", "tag:recipe=old", "tag:recipe=new")
    test = crossed_t(values(ltr, "rules"), values(ltr, *NEW))
    assert found.comparisons[1].metrics[0].p_value == pytest.approx(test.p_value)
    assert found.comparisons[0].baseline.run_id == 7
    assert (
        found.notes[0] == "rules is a single run, so the interval does not cover how much another training would differ"
    )
    p_values = [one.metrics[0].p_value or 0.0 for one in found.comparisons]
    assert max(one.metrics[0].p_adjusted or 0.0 for one in found.comparisons) >= max(p_values)


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize(
    ("runs", "options", "message"),
    [
        (
            ("tag:recipe", "rules"),
            {},
            "'tag:recipe' is not an arm; write tag:KEY=VALUE, such as tag:arm=a, and further tags after a comma, each "
            "key once",
        ),
        (
            ("rules", "tag:recipe=best"),
            {},
            "no run has the tag recipe=best; give it with: ndcg-track runs tag RUN recipe=best",
        ),
        (
            ("old-1", "tag:recipe=old"),
            {},
            "run 'old-1' is in 'old-1' and in 'tag:recipe=old'; give each arm its own runs",
        ),
        (
            ("tag:recipe=old", "tag:recipe=new"),
            {"test": "permutation"},
            "test= does not go with arms of repeated runs: only t-tests know repeats and clusters; leave one out",
        ),
        (
            ("tag:recipe=old", "tag:recipe=new"),
            {"ci": "betting"},
            "ci= does not go with arms of repeated runs: only t-tests know repeats and clusters; leave one out",
        ),
        (
            ("old-0", "new-0"),
            {"test": "wilcoxon", "cluster": "user"},
            "test= does not go with cluster=: only t-tests know repeats and clusters; leave one out",
        ),
        (
            ("tag:recipe=old", "tag:recipe=new"),
            {"cluster": "user"},
            "cluster= does not go with arms of repeated runs: it is for single runs; leave one out",
        ),
        (
            ("tag:recipe=old", "tag:recipe=new"),
            {"tie_bounds": True},
            "tie_bounds= does not go with arms of repeated runs: it is for single runs; leave one out",
        ),
        (
            ("old-0", "new-0"),
            {"cluster": "owner"},
            "no group of dataset 'ltr' has an attribute 'owner'; the attributes are: device, user",
        ),
    ],
)
def test_what_is_refused(ltr: nt.Tracker, runs: tuple[str, ...], options: dict[str, Any], message: str) -> None:
    with pytest.raises(NdcgTrackerError) as refusal:
        ltr.compare(*runs, **options)
    assert str(refusal.value) == message


def test_an_arm_of_one_run_or_of_two_datasets_is_none(ltr: nt.Tracker) -> None:
    ltr.tag_run("rules", {"recipe": "rules"})
    with pytest.raises(InputError) as refusal:
        ltr.compare("old-0", "tag:recipe=rules")
    assert str(refusal.value) == (
        "arm 'tag:recipe=rules' has one run, 'rules', but needs 2 or more; give further trainings this tag, or name "
        "the run itself to compare it"
    )
    frame = {"group": ["x"], "item": ["a"], "label": [1], "score": [1.0]}
    ltr.ingest(frame, name="other", dataset="other", tags={"recipe": "old"})
    with pytest.raises(ReferenceNotFoundError) as missing:
        ltr.compare("tag:recipe=old", "tag:recipe=new")
    assert str(missing.value) == (
        "runs of several datasets (ltr, other) have the tag recipe=old; choose one with dataset="
    )
    assert ltr.compare("tag:recipe=old", "tag:recipe=new", dataset="ltr").comparisons[0].groups.paired == 40


def test_a_single_run_is_shown(ltr: nt.Tracker) -> None:
    with pytest.raises(ReferenceNotFoundError) as refusal:
        ltr.run("tag:recipe=old")
    assert str(refusal.value) == "'tag:recipe=old' is an arm of several runs, but this takes a single run; name one run"


def test_a_gate_decides_on_arms_and_keeps_their_runs(ltr: nt.Tracker, folder: Path) -> None:
    asked: dict[str, Any] = {"baseline": "tag:recipe=old", "margin": 0.2, "by": "device", "slice_margin": 0.3}
    ltr.tag_run("old-0", {"latency_ms": "10"})
    ltr.tag_run("old-1", {"latency_ms": "20"})
    for name in (*NEW, "old-2"):
        ltr.tag_run(name, {"latency_ms": "15"})
    found = ltr.gate("tag:recipe=new", **asked, limits={"latency_ms": "+1%"})
    test = crossed_t(values(ltr, *OLD), values(ltr, *NEW))
    decision = found.gated.decision
    assert decision.delta == pytest.approx(test.mean)
    assert decision.told.t_lower == pytest.approx(t_lower_bound(test, level=0.95))
    assert (decision.lower, decision.ways.word, decision.told.of_repeats) == (None, "pass", True)  # of 40 groups
    assert (decision.ways.n or 0) > 150  # below, no t bound is trusted
    assert decision.limits[0].is_met
    assert "; only 40 queries differ (the safer bound does not cover repeats); to decide: " in found.reason
    assert not any(note.kind == "no_alias" for note in found.gated.comparison.notes)
    with ltr.store().read() as tx:
        (record,) = tx.decisions.all(1)
        assert {1, 2, 3, 4, 5, 6} <= tx.runs.used_ids(once=False)
    assert (record.baseline_run, record.baseline_run_id, record.candidate_run) == (
        "tag:recipe=old",
        None,
        "tag:recipe=new",
    )
    assert record.repeats == {"baseline_run_id": [1, 2, 3], "candidate_run_id": [4, 5, 6]}
    ltr.export_runs(folder / "out")
    with nt.Tracker(f"sqlite:///{folder}/other.db") as other:
        other.import_runs(folder / "out")
        with other.store().read() as tx:
            (copy,) = tx.decisions.all(1)
            names = {run.id: run.name for run in tx.runs.all("ltr")}
        assert copy.repeats is not None
        assert [names[one] for one in copy.repeats["candidate_run_id"]] == list(NEW)
    with pytest.raises(
        InputError, match="margin='auto' does not go with arms of repeated runs: it learns from repeats of a single run"
    ):
        ltr.gate("tag:recipe=new", baseline="tag:recipe=old", margin="auto")


def test_a_gate_of_a_lower_metric_turns_the_repeats(ltr: nt.Tracker) -> None:
    for number in range(3):
        for recipe, seconds in (("slow", 30.0), ("fast", 20.0)):
            times = {"group": GROUPS, "value": [seconds + number + place / 40 for place in range(40)]}
            of_metric: dict[str, Any] = {"metric": "external:latency", "direction": "lower", "range": (0, 99)}
            ltr.log_results(times, name=f"{recipe}-{number}", dataset="ltr", tags={"speed": recipe}, **of_metric)
    asked: dict[str, Any] = {"metric": "external:latency", "margin": 0.5, "dry_run": True}
    back = ltr.gate("tag:speed=slow", baseline="tag:speed=fast", **asked).gated.decision
    there = ltr.gate("tag:speed=fast", baseline="tag:speed=slow", **asked).gated.decision
    assert (there.delta, back.delta) == pytest.approx((-10.0, 10.0))
    assert there.decision != "fail"
    assert back.decision != "pass"


def test_a_page_shows_arms_as_it_shows_runs_with_the_lists_of_the_first(ltr: nt.Tracker) -> None:
    page = ltr.report("tag:recipe=old", "tag:recipe=new", dataset="ltr")
    (pair,), html = page.report.pairs, page.to_html()
    first = pair.comparison.metrics[0]
    runs = [ref.runs[0].name for ref in (pair.comparison.baseline, pair.comparison.candidate)]
    of_runs = ltr.report(*runs, dataset="ltr").report.pairs[0]
    of_arms = {lists.group: lists for lists in pair.lists}
    assert all(of_arms[lists.group] == lists for lists in of_runs.lists if lists.group in of_arms)
    assert {one.group for one in pair.lists} == set(np.array(pair.groups.keys)[pair.groups.delta != 0])
    at = pair.at_cutoffs[-1]  # as long as the longest list, so as deep as the metric looks
    assert (at.delta, at.ci) == (pytest.approx(first.delta), pytest.approx(first.ci))
    assert f"Of repeated runs, the first is shown: {runs[0]} of tag:recipe=old (" in html
    n_runs = [len(ref.runs) for ref in (pair.comparison.baseline, pair.comparison.candidate)]
    assert f"40 queries of ltr, means of {n_runs[0]} and of {n_runs[1]} runs" in html
    assert f"ndcg-track explain {' '.join(runs)} --dataset ltr" in html
    assert ltr.compare("tag:recipe=old", "tag:recipe=new", dataset="ltr").plot("cutoffs").spec["title"]


def test_every_pair_of_arms_and_runs_is_tested_as_compare_tests_it(ltr: nt.Tracker) -> None:
    names = ("tag:recipe=old", "tag:recipe=new", "rules")
    found = ltr.report(*names, dataset="ltr").report.deltas
    assert len(found) == 6
    for row in found:
        alone = ltr.compare(row.baseline, row.candidate, dataset="ltr").comparisons[0].metrics[0]
        assert row.delta == pytest.approx(alone.delta)
        assert row.p_adjusted is not None
        assert alone.p_value is not None
        assert row.p_adjusted >= alone.p_value * (1 - 1e-9)
    p_values = [
        ltr.compare(row.baseline, row.candidate, dataset="ltr").comparisons[0].metrics[0].p_value for row in found
    ]
    assert [row.p_adjusted for row in found[::2]] == pytest.approx(holm(p_values[::2]))


def test_groups_that_a_run_of_an_arm_lacks(ltr: nt.Tracker) -> None:
    frame = {"group": ["q01", "q02"], "item": ["a", "a"], "score": [1.0, 1.0]}
    for number in range(2):
        ltr.ingest(
            frame,
            name=f"small-{number}",
            dataset="ltr",
            tags={"recipe": "small"},
            replace=False,
            parameters={"n": number},
        )
        frame = {"group": ["q01", "q02", "q03"], "item": ["a"] * 3, "score": [1.0] * 3}
    counts = ltr.compare("rules", "tag:recipe=small").comparisons[0].groups
    assert (counts.paired, counts.missing_in_candidate) == (40, 38)
    for run in ("rules", "small-0", "small-1"):
        ltr.rescore([run], dataset="ltr", metrics="ndcg(missing=skip)@10")
    with pytest.raises(InputError) as refusal:
        ltr.compare("rules", "tag:recipe=small", metrics="ndcg(missing=skip)@10")
    assert str(refusal.value) == (
        "ndcg(missing=skip)@10: 1 group has a result in some runs of an arm only (such as 'q03'): choose "
        "missing='zero' (count 0 there) or missing='intersect' (leave them out)"
    )
    options: dict[str, Any] = {"metrics": "ndcg(missing=skip)@10"}
    assert ltr.compare("rules", "tag:recipe=small", missing="intersect", **options).comparisons[0].groups.paired == 2
    assert ltr.compare("rules", "tag:recipe=small", missing="zero", **options).comparisons[0].groups.paired == 40


def test_groups_that_no_run_of_either_arm_has(ltr: nt.Tracker) -> None:
    for arm, groups in (("left", (1, 2)), ("left", (1, 3)), ("right", (1, 2)), ("right", (1, 4))):
        frame = {"group": [f"q{number:02}" for number in groups], "item": ["a"] * 2, "score": [1.0] * 2}
        ltr.ingest(frame, name=f"{arm}-{groups[1]}", dataset="ltr", tags={"side": arm})
    counts = ltr.compare("tag:side=left", "tag:side=right").comparisons[0].groups
    assert (counts.paired, counts.in_neither) == (40, 36)
    assert (counts.missing_in_baseline, counts.missing_in_candidate) == (39, 39)
    counts = ltr.compare("tag:side=left", "tag:side=right", missing="skip").comparisons[0].groups
    assert (counts.paired, counts.missing_in_baseline) == (1, 3)  # all runs have one group alone
    counts = ltr.compare("tag:side=left", "tag:side=right", missing="intersect").comparisons[0].groups
    assert (counts.paired, counts.in_neither) == (37, 36)


def test_groups_of_one_user_depend_on_each_other(ltr: nt.Tracker) -> None:
    result = ltr.compare("old-0", "new-0", cluster="user")
    users = np.array([number // 4 if number < 38 else number for number in range(40)])
    _, codes = np.unique(users, return_inverse=True)
    (old, new) = values(ltr, "old-0", "new-0")
    test = clustered_t(new - old, codes)
    (metric,) = result.to_dict()["metrics"]
    assert metric["clusters"] == {"attribute": "user", "n": 12}
    assert [metric["p_value"], *metric["ci"]] == pytest.approx([test.p_value, *(test.ci or ())])
    assert metric["low_information"]
    assert metric["warnings"] == [
        "low information: the clusters that differ (of 12) count as much as 10 equal ones; below 25, the t "
        "interval may be "
        "too narrow"
    ]
    assert "12 by user of 40 queries" in result.to_text(verbose=True)
    gated = ltr.gate("new-0", baseline="old-0", margin=0.02, cluster="user", dry_run=True).to_dict()
    start = "low information: the clusters that differ (of 12) count as much as 10 equal ones; below "
    assert gated["low_information"].startswith(start)
    assert gated["lower_method"] == "betting"
    assert gated["t_lower"] < ltr.gate("new-0", baseline="old-0", margin=0.02, dry_run=True).gated.decision.delta


def test_pictures_and_pages_keep_the_clusters(ltr: nt.Tracker) -> None:
    result = ltr.compare("old-0", "new-0", cluster="user", by="device")
    rows = result.plot("slices").spec["data"]["values"]
    (metric,), slices = result.comparisons[0].metrics, result.comparisons[0].slices
    assert slices is not None
    expected = {"device: " + one.about.value: one.ci for one in slices if one.about.value} | {metric.metric: metric.ci}
    assert {row["name"]: (row["low"], row["high"]) for row in rows if row["name"] in expected} == expected
    assert result.plot("slices").spec["title"]["subtitle"].startswith("new-0 against old-0 on ltr, clustered by user;")
    alone = ltr.compare("old-0", "new-0", by="device")
    assert alone.plot("slices").spec["data"]["values"] != rows
    page = ltr.report("old-0", "new-0", cluster="user", dataset="ltr")
    last = page.report.pairs[0].at_cutoffs[-1]  # as deep as the lists
    assert last.ci == pytest.approx(metric.ci)
    command = page.report.command
    assert command[command.index("--cluster") + 1] == "user"
    gated = ltr.gate("new-0", baseline="old-0", margin=0.02, cluster="user", dry_run=False)
    assert ltr.gate_report(gated).report.command[:7] == command[:7]
    assert "--cluster" in ltr.gate_report(gated).report.command
    recorded = ltr.sql("SELECT reason FROM gate_decisions")["reason"].tolist()
    assert recorded == [gated.reason + " (groups clustered by user)"]


def test_a_comparison_of_single_trainings_says_what_it_does_not_cover(ltr: nt.Tracker) -> None:
    found = ltr.compare("old-0", "new-1").comparisons[0]
    note = next(note for note in found.notes if note.kind == "retraining")
    means = [values(ltr, *recipe).mean(axis=1) for recipe in (OLD, NEW)]
    assert note.facts["sd"] == pytest.approx(np.mean([mean.var(ddof=1) for mean in means]) ** 0.5)
    assert note.facts["families"] == ["the recipe of old-0", "the recipe of new-1"]
    assert note.facts["n_runs"] == 6
    assert not any(one.kind == "retraining" for one in ltr.compare("rules", "rules").comparisons[0].notes)
    one_side = ltr.compare("rules", "new-1").comparisons[0]
    assert [one.facts["n_seeds"] for one in one_side.notes if one.kind == "retraining"] == [None]


def test_a_gate_learns_from_runs_that_differ_in_the_seed_alone(ltr: nt.Tracker) -> None:
    found = ltr.gate("new-0", baseline="old-0", margin="auto", dry_run=True).to_dict()
    assert found["learned_margin"]["runs"] == list(OLD)
    assert found["learned_margin"]["run_variance"]["n_runs"] == 3
    assert not any("repeated trainings" in note for note in found["notes"])
    with pytest.raises(InputError, match=r"^baseline 'old-0' and candidate 'old-1' are of one recipe \("):
        ltr.gate("old-1", baseline="old-0", margin="auto", dry_run=True)
    ltr.tag_run("old-2", {"stage": "iteration"})
    with pytest.raises(InputError, match="there are 2 with the parameters and tags of 'old-0' except for the seed"):
        ltr.gate("new-0", baseline="old-0", margin="auto", dry_run=True)


def test_slices_at_the_gate(ltr: nt.Tracker) -> None:
    passed = ltr.gate("new-0", baseline="old-0", margin=0.5, dry_run=True)
    assert (passed.decision, passed.to_dict()["regressed_slices"]) == ("pass", [])
    assert not any("slice" in note for note in passed.notes)
    frame = {"group": GROUPS, "item": ["a"] * 40, "score": [1.0] * 40}
    ltr.ingest(frame, name="worse", dataset="ltr")
    hard = ltr.compare("rules", "worse", by="device").comparisons[0].slices
    assert hard is not None
    passed = ltr.gate("worse", baseline="rules", margin=0.9, dry_run=True)
    assert passed.gated.decision.decision == "pass"
    (note,) = (note for note in passed.notes if "slice" in note)  # 20 groups each: low information
    assert note.startswith("7 slices regressed although all queries together pass: user='u4' (-")
    assert note.endswith(
        " 4 queries) and 2 more; too few of their queries differ to be sure; to see all: "
        "ndcg-track compare rules worse --dataset ltr --metric ndcg@10 --by user"
    )
    rows = passed.to_dict()["regressed_slices"]
    assert sorted(row["value"] for row in rows if row["attribute"] == "device") == ["phone", "tv"]
    assert all(row["low_information"] for row in rows)
    small = ltr.gate("worse", baseline="rules", margin=0.9, dry_run=True, by="device", slice_margin=0.1)
    assert small.decision == "inconclusive"
    assert "; regressed by compare's test: device='" in small.reason
    devices = ["tv" if number < 32 else "phone" for number in range(40)]
    ltr.set_groups({"group": GROUPS, "device": devices}, dataset="ltr")
    passed = ltr.gate("worse", baseline="rules", margin=0.9, dry_run=True)
    note, _ = (note for note in passed.notes if "slice" in note)
    assert note.startswith("a slice regressed although all queries together pass: device='tv' (-")
    assert note.endswith("ndcg-track compare rules worse --dataset ltr --metric ndcg@10 --by device")
    failed = ltr.gate("worse", baseline="rules", margin=0.9, by="device", slice_margin=0.01, dry_run=True)
    assert failed.gated.decision.without("slice") == "pass"
    assert failed.decision == "fail"
    assert not any("slice regressed" in note for note in failed.notes)  # the reason says it
    allowed = ltr.gate("worse", baseline="rules", margin=0.9, by="device", slice_margin=0.9, dry_run=True)
    assert (allowed.decision, note in allowed.notes) == ("pass", True)
    assert [part["n"] for part in failed.to_dict()["parts"]] == [32, 8]
    assert "slices, each allowed a drop of 0.01\ndevice   n " in failed.to_text(verbose=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"slice_margin": 0.1},
            "slice_margin= needs by=: the attribute makes the slices; give by=, or leave out slice_margin=",
        ),
        (
            {"by": "device"},
            "by= needs slice_margin=: the allowed drop of a slice, such as 0.05; give slice_margin=, or leave out by=",
        ),
        (
            {"by": "device", "slice_margin": 0.1, "scope": "set", "margin": None},
            "by= does not go with scope='set': it compares two means without a test; leave one out",
        ),
        (
            {"cluster": "user", "scope": "set", "margin": None},
            "cluster= does not go with scope='set': it compares two means without a test; leave one out",
        ),
        (
            {"by": "device", "slice_margin": -0.1},
            "the margin of slices must be a number 0 or more, not -0.1; give it in absolute points, such as 0.01",
        ),
    ],
)
def test_slices_that_are_refused(ltr: nt.Tracker, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refusal:
        ltr.gate("new-0", baseline="old-0", **({"margin": 0.1} | options))
    assert str(refusal.value) == message


def test_explain_says_what_each_slice_did(ltr: nt.Tracker) -> None:
    result = ltr.explain("old-0", "new-0", by="user")
    (old, new) = values(ltr, "old-0", "new-0")
    rows = result.to_dict()["slices"]
    assert sum(row["contribution"] for row in rows) == pytest.approx((new - old).mean())
    assert [row["contribution"] for row in rows] == sorted(row["contribution"] for row in rows)
    third = next(row for row in rows if row["value"] == "u3")
    of_third = (new - old)[12:16]
    assert (third["n_groups"], third["attribute"]) == (4, "user")
    assert (third["delta"], third["contribution"]) == pytest.approx((of_third.mean(), of_third.sum() / 40))
    assert next(row["n_groups"] for row in rows if row["value"] is None) == 2
    assert "by the user of the query\nuser    queries  own delta" in str(result)
    frame = result.to_frame()
    assert (frame["table"] == "slice").sum() == len(rows)
    assert "slices" not in ltr.explain("old-0", "new-0").to_dict()
    with pytest.raises(InputError) as refusal:
        ltr.explain("old-0", "new-0", by="user", group="q01")
    assert str(refusal.value) == "group= does not go with by=: slices are of all groups; leave one out"
    with pytest.raises(
        InputError, match=r"^no group of dataset 'ltr' has an attribute 'users'; did you mean 'user'\?$"
    ):
        ltr.explain("old-0", "new-0", by="users")


def test_a_leaderboard_ranks_arms(ltr: nt.Tracker) -> None:
    board = ltr.leaderboard("tag:recipe=old", "tag:recipe=new", "rules", metrics="ndcg@10", by="device").leaderboard
    assert {run.name for run in board.runs} == {"tag:recipe=old", "tag:recipe=new", "rules"}
    (metric,) = board.metrics
    pair = next(one for one in metric.pairs if {one.candidate, one.baseline} == {"tag:recipe=old", "tag:recipe=new"})
    test = crossed_t(values(ltr, *OLD), values(ltr, *NEW))
    assert abs(pair.delta) == pytest.approx(abs(test.mean or 0.0))
    assert pair.p_value == pytest.approx(test.p_value)
    assert pair.ci is not None
    assert test.ci is not None
    assert pair.ci[1] - pair.ci[0] == pytest.approx(test.ci[1] - test.ci[0])
    means = {run.name: one.mean for run, one in zip(board.runs, metric.standings, strict=True)}
    assert means["tag:recipe=new"] == pytest.approx(values(ltr, *NEW).mean())
    text = ltr.leaderboard("tag:recipe=old", "tag:recipe=new", "rules").to_text(verbose=True)
    assert "t-test over queries and runs, crossed" in " ".join(text.split())
    for references, options, message in (
        (
            ("tag:recipe=old", "old-1"),
            {},
            "run 'old-1' is in 'tag:recipe=old' and in 'old-1'; give each arm its own runs",
        ),
        (
            ("tag:recipe=old", "rules"),
            {"test": "permutation"},
            "test= does not go with arms of repeated runs: arms name their runs, and have t-tests alone; leave one out",
        ),
    ):
        with pytest.raises(InputError) as refusal:
            ltr.leaderboard(*references, **options)
        assert str(refusal.value) == message
