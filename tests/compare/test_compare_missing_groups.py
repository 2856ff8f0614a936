"""Groups that one run or both lack, and runs of which nothing is judged."""

import pandas as pd
import pytest
from refused import refusal_of
from small_shop import BM25, DENSE, LABELS, frame_of, labels_frame

import ndcg_tracker as nt

ABSENT = ["ndcg@10", "ndcg(missing=skip)@10"]
"""Under the first metric a labelled group that a run does not have counts 0, under the second it is left out."""


@pytest.fixture
def absent(tracker: nt.Tracker) -> nt.Tracker:
    """Two runs that lack two labelled groups, and of which one lacks a further one."""
    labels = {**LABELS, "q8": {"a": 2}, "q9": {"a": 1, "b": 0}}
    for name, ranking in (("bm25", BM25), ("dense", DENSE)):
        tracker.ingest(frame_of(ranking), name=name, labels=frame_of(labels, "label"), metrics=ABSENT)
    return tracker


def refusal_of_gate(tracker: nt.Tracker, baseline: str = "bm25", candidate: str = "dense") -> str:
    return refusal_of(nt.NotComparableError, tracker.gate, candidate, baseline=baseline, margin=0.01)


def test_groups_with_a_result_in_one_run_only(tracker: nt.Tracker) -> None:
    metric = "ndcg(missing=skip)@10"
    tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame(), metrics=metric)
    tracker.ingest(frame_of(DENSE), name="dense", metrics=metric)
    with pytest.raises(nt.InputError) as caught:
        tracker.compare("bm25", "dense")
    assert str(caught.value) == (
        f"{metric}: 1 group has a result in one run only (1 in the baseline, 0 in the candidate): "
        "choose missing='zero' (count 0 there) or missing='intersect' (leave them out)"
    )
    zero = tracker.compare("bm25", "dense", missing="zero").to_dict()["groups"]
    assert (zero["paired"], zero["only_in_baseline"]) == (5, 1)
    intersect = tracker.compare("bm25", "dense", missing="intersect").to_dict()["groups"]
    assert (intersect["paired"], intersect["only_in_baseline"]) == (4, 1)


def test_groups_that_neither_run_has(absent: nt.Tracker) -> None:
    plain = absent.compare("bm25", "dense", metrics="ndcg@10").to_dict()
    names = ("paired", "in_neither", "missing_in_baseline", "missing_in_candidate")
    assert [plain["groups"][name] for name in names] == [7, 2, 2, 3]
    skipped, intersect, zero = (
        absent.compare("bm25", "dense", metrics="ndcg@10", missing=missing).to_dict()
        for missing in ("skip", "intersect", "zero")
    )
    assert [skipped["groups"][name] for name in names] == [4, 2, 0, 1]
    assert [intersect["groups"][name] for name in names] == [6, 2, 2, 3]
    assert zero["metrics"][0]["delta"] == plain["metrics"][0]["delta"]
    one, other = intersect["metrics"][0], skipped["metrics"][0]
    assert other["delta"] == pytest.approx(one["delta"] * 6 / 4, rel=1e-14)
    alone = absent.compare("bm25", "dense", metrics="ndcg(missing=skip)@10", missing="intersect").to_dict()
    names = ("baseline", "candidate", "delta", "ci", "p_value", "wins", "losses")
    assert [other[name] for name in names] == [alone["metrics"][0][name] for name in names]
    assert (other["wins"], other["losses"]) == (one["wins"], one["losses"])
    bounds = [bound * 6 / 4 for bound in one["tie_bounds"]["delta"]]
    assert other["tie_bounds"]["delta"] == pytest.approx(bounds, rel=1e-12)
    gated = absent.gate("dense", baseline="bm25", scope="set", margin=0.99, missing="skip", dry_run=True).to_dict()
    assert (gated["n"], gated["delta"]) == (4, pytest.approx(other["delta"], rel=1e-14))


def test_groups_that_neither_run_has_are_told_with_what_to_type(absent: nt.Tracker) -> None:
    text = absent.compare("bm25", "dense", metrics="ndcg@10").to_text(verbose=True)
    assert (
        "\nin neither run  2 queries with labels: they count the same in both and shrink delta; missing='skip'\n"
        "                leaves them out\n"
    ) in text
    assert "¹ 2 queries with labels but in neither run: counted the same in both\n" in text
    assert "² 1 query with labels but missing in the candidate run: counted as 0\n" in text
    assert "missing in the baseline" not in text
    skipped = absent.compare("bm25", "dense", metrics="ndcg@10", missing="skip").to_text(verbose=True)
    assert "\nin neither run  2 queries with labels, left out\n" in skipped
    assert "¹ 2 queries with labels but in neither run: left out\n" in skipped


def test_a_group_that_the_metric_leaves_out_is_not_said_to_count(absent: nt.Tracker) -> None:
    found = absent.compare("bm25", "dense", metrics=ABSENT[1], missing="intersect")
    counts = found.to_dict()["groups"]
    assert [counts[name] for name in ("missing_in_baseline", "missing_in_candidate", "in_neither")] == [0, 0, 0]
    assert (counts["undefined"], counts["only_in_baseline"]) == (2, 1)
    text = str(found)
    assert "counted as 0" not in text
    assert "2 queries undefined in both runs: left out" in text


def test_two_runs_without_a_judged_item_are_not_identical(tracker: nt.Tracker) -> None:
    elsewhere = {group: {f"x-{item}": label for item, label in of.items()} for group, of in LABELS.items()}
    for name, ranking in (("bm25", BM25), ("dense", DENSE)):
        tracker.ingest(frame_of(ranking), name=name, labels=frame_of(elsewhere, "label"))
    found = tracker.compare("bm25", "dense")
    (metric,) = found.to_dict()["metrics"]
    assert (metric["verdict"], metric["not_comparable"]) == ("not_comparable", "nothing_judged")
    assert (metric["baseline"], metric["candidate"], metric["delta"]) == (0.0, 0.0, None)
    told = "ndcg@10 cannot be compared: neither run has a judged item that it counts"
    assert " ".join(str(found).split()).startswith(f"dense against bm25 on default (5 queries): {told} ")
    command = "ndcg-track labels carry MAPPING.csv --dataset default"
    assert found.notes == (
        "no judged item counts in either run under ndcg@10: were ids renamed? Then carry the labels to them "
        f"with: {command}",
    )
    message = refusal_of_gate(tracker)
    assert message == (
        "runs 'bm25' and 'dense' have no judged item that ndcg@10 counts, so nothing is known about either; were their "
        f"ids renamed? Then carry the labels to them with: {command}"
    )
    assert tracker.sql("SELECT * FROM gate_decisions").empty


def test_two_runs_without_a_group_in_common_with_the_labels(tracker: nt.Tracker) -> None:
    elsewhere = {f"Q{group}": of for group, of in LABELS.items()}
    tracker.add_labels(frame_of(elsewhere, "label"))
    for name, ranking in (("bm25", BM25), ("dense", DENSE)):
        tracker.ingest(frame_of(ranking), name=name, allow="no-overlap")
    (metric,) = tracker.compare("bm25", "dense").to_dict()["metrics"]
    assert (metric["verdict"], metric["not_comparable"]) == ("not_comparable", "nothing_judged")


def test_one_run_without_a_group_in_common_with_the_labels(tracker: nt.Tracker) -> None:
    numbered = {f"Q{number}": items for number, items in enumerate(DENSE.values())}
    for name, ranking in (("bm25", BM25), ("dense", numbered)):
        labels = frame_of(LABELS, "label") if name == "bm25" else None
        tracker.ingest(frame_of(ranking), name=name, labels=labels, allow="no-overlap")
    message = (
        "run 'dense' has no group of version 1 of the labels of dataset 'default', so each would count as missing; "
        "are its group ids written as in the labels?"
    )
    for pair in (("bm25", "dense"), ("dense", "bm25")):
        with pytest.raises(nt.NotComparableError) as caught:
            tracker.compare(*pair)
        assert str(caught.value) == message
    assert refusal_of_gate(tracker) == message
    assert tracker.sql("SELECT * FROM gate_decisions").empty


def test_items_below_the_cutoff_that_move_up_where_unjudged_ones_are_dropped(tracker: nt.Tracker) -> None:
    shop = {"group": ["q"] * 3, "item": ["a", "b", "c"], "score": [3.0, 2.0, 1.0]}
    labels = {"group": ["q"] * 2, "item": ["b", "c"], "label": [0, 0]}
    metrics = ["ndcg@1", "ndcg(unjudged=drop)@1"]
    for name in ("one", "other"):
        tracker.ingest(shop, name=name, labels=labels, metrics=metrics)
    found = {one["metric"]: one["verdict"] for one in tracker.compare("one", "other").to_dict()["metrics"]}
    assert found == {"ndcg@1": "not_comparable", "ndcg(unjudged=drop)@1": "identical"}


def test_depth_counts_where_nothing_is_judged(tracker: nt.Tracker) -> None:
    metrics = ["P@2", "SetP(depth=2)", "AP"]
    labels = {group: {"c": 1} for group in ("q1", "q2")}
    for name, first in (("one", "ab"), ("other", "ba")):
        rows = {group: {item: -place for place, item in enumerate((*first, "c"))} for group in labels}
        tracker.ingest(frame_of(rows), name=name, labels=frame_of(labels, "label"), metrics=metrics)
    found = tracker.compare("one", "other")
    verdicts = {one["metric"]: one["verdict"] for one in found.to_dict()["metrics"]}
    assert verdicts == {"P@2": "not_comparable", "SetP(depth=2)": "not_comparable", "AP": "identical"}
    assert " ".join(str(found).partition("\n\n")[0].split()).endswith(
        "AP is identical on all 2 queries, 2 more cannot be compared"
    )


def test_a_measure_of_an_empty_list_leaves_out_what_neither_run_has(absent: nt.Tracker) -> None:
    absent.rescore(metrics=["yaap"])
    plain, skipped = (
        absent.compare("bm25", "dense", metrics="yaap", missing=missing).to_dict()["metrics"][0]
        for missing in ("intersect", "skip")
    )
    assert (plain["n"], skipped["n"]) == (6, 4)
    assert (plain["groups"]["in_neither"], skipped["groups"]["in_neither"]) == (2, 2)
    assert skipped["delta"] == pytest.approx(plain["delta"] * 6 / 4, rel=1e-12)


def test_summaries_are_of_the_groups_that_are_paired(tracker: nt.Tracker) -> None:
    metrics = ["trec_eval:gm_map", "trec_eval:num_rel_ret"]
    fewer = {group: items for group, items in DENSE.items() if group != "q1"}
    tracker.ingest(frame_of(DENSE), name="all", labels=labels_frame(), metrics=metrics)
    tracker.ingest(frame_of(fewer), name="fewer", metrics=metrics)
    for one in tracker.compare("all", "fewer", missing="intersect").to_dict()["metrics"]:
        assert one["delta"] == 0.0
        assert one["baseline"] == one["candidate"]
    filled = {one["requested_as"]: one for one in tracker.compare("all", "fewer", missing="zero").to_dict()["metrics"]}
    of_both = labels_frame({group: LABELS[group] for group in LABELS if group in DENSE})
    with_c = nt.evaluate(frame_of(fewer), "trec_eval:-c gm_map", labels=of_both).mean.iloc[0]
    assert filled["trec_eval:gm_map"]["candidate"] == pytest.approx(with_c, rel=1e-12)
    assert filled["trec_eval:num_rel_ret"]["delta"] < 0


def test_groups_that_the_metric_counts_as_0_are_left_out_where_that_is_asked_for(tracker: nt.Tracker) -> None:
    groups = [f"q{number}" for number in range(30)]
    rows = [(group, item, float(score), int(score > 1)) for group in groups for score, item in enumerate("abc")]
    frame = pd.DataFrame(rows, columns=["group", "item", "score", "label"])
    labels = frame[["group", "item", "label"]]
    metrics = ["ndcg@10", "ndcg(missing=skip)@10"]
    tracker.ingest(frame.drop(columns="label"), labels=labels, name="whole", metrics=metrics)
    fewer = frame[~frame["group"].isin(groups[:4])].drop(columns="label")
    tracker.ingest(fewer.assign(score=-fewer["score"]), name="fewer", metrics=metrics)
    for missing, (n, fate) in {
        "error": (30, "counted as 0"),
        "zero": (30, "counted as 0"),
        "intersect": (26, "left out"),
        "skip": (26, "left out"),
    }.items():
        found = tracker.compare("whole", "fewer", metrics="ndcg@10", missing=missing)  # type: ignore[arg-type]
        assert found.comparisons[0].metrics[0].n == n
        assert f"\n¹ 4 queries with labels but missing in the candidate run: {fate}\n" in str(found)
        assert found.notes == ()
    both = tracker.compare("whole", "fewer", missing="intersect")
    counted, skipping = both.comparisons[0].metrics
    assert (counted.delta, counted.ci, counted.n) == (skipping.delta, skipping.ci, skipping.n)


@pytest.mark.parametrize("side", ["baseline", "candidate"])
def test_a_run_without_a_judged_item_is_not_compared_with_one_that_has_some(tracker: nt.Tracker, side: str) -> None:
    elsewhere = {group: {f"chunk-{item}": score for item, score in items.items()} for group, items in DENSE.items()}
    names = ("other ids", "bm25") if side == "baseline" else ("bm25", "other ids")
    tracker.ingest(frame_of(BM25), name="bm25", labels=frame_of(LABELS, "label"))
    tracker.ingest(frame_of(elsewhere), name="other ids")
    found = tracker.compare(*names)
    (metric,) = found.to_dict()["metrics"]
    assert (metric["verdict"], metric["not_comparable"]) == ("not_comparable", f"{side}_not_judged")
    assert (metric["delta"], metric["p_value"], metric["ci"]) == (None, None, None)
    told = f"ndcg@10 cannot be compared: the {side} has no judged item that it counts"
    assert " ".join(str(found).split()).startswith(f"{names[1]} against {names[0]} on default (5 queries): {told} ")
    assert f"the {side} has no judged item that counts, so its results say nothing about it" in str(found)
    command = "ndcg-track labels carry MAPPING.csv --dataset default"
    assert refusal_of_gate(tracker, *names) == (
        "run 'other ids' has no judged item that ndcg@10 counts, so nothing is known about it; were its ids renamed? "
        f"Then carry the labels to them with: {command}"
    )


def test_a_suite_says_which_dataset_cannot_be_compared_and_why(tracker: nt.Tracker) -> None:
    elsewhere = {group: {f"chunk-{item}": score for item, score in items.items()} for group, items in DENSE.items()}
    for dataset, dense in (("whole", DENSE), ("chunks", elsewhere)):
        tracker.ingest(frame_of(BM25), name="bm25", labels=frame_of(LABELS, "label"), dataset=dataset)
        tracker.ingest(frame_of(dense), name="dense", dataset=dataset)
    tracker.create_suite("both", ["whole", "chunks"])
    message = (
        "'dense' cannot be compared with 'bm25' under ndcg@10 on 'chunks': the candidate has no judged item that it "
        "counts; see: ndcg-track compare bm25 dense --dataset chunks"
    )
    assert refusal_of(nt.NotComparableError, tracker.compare, "bm25", "dense", suite="both") == message
    assert (
        refusal_of(nt.NotComparableError, tracker.gate, "dense", suite="both", baseline="bm25", margin=0.1) == message
    )
