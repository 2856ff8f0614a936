"""``Tracker.ingest``: what is stored, what is added to it, and what is refused whole."""

import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from rankings_of import results
from small_shop import BM25, DENSE, LABELS, Run, frame_of, joint_frame, labels_frame, write_qrels, write_trec
from stored_rows import row_counts

import ndcg_tracker as nt
from ndcg_tracker.errors import NdcgTrackerWarning
from ndcg_tracker.ingest.reading import stream_run
from ndcg_tracker.runs.ingest import RunDetails

pytestmark = pytest.mark.both_engines

NEW_LABELS: Run = {**LABELS, "q5": {"h": 2}}


def reversed_rows(frame: dict[str, list[object]]) -> dict[str, list[object]]:
    return {name: values[::-1] for name, values in frame.items()}


def test_metrics_of_a_run_are_known_by_their_texts(tracker: nt.Tracker) -> None:
    asked = ["ndcg_cut_10", "map", "RR@10"]
    found = tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame(), metrics=asked).metrics
    assert isinstance(found, tuple)
    assert found == tuple(found)
    assert [found[text] for text in asked] == list(found) == [found[number] for number in range(3)]
    assert found["AP"] is found[1]
    assert found["ndcg@10"] is found["ndcg(gain=linear)@10"] is found[0]
    assert (found[1:], "AP" in found, "P@5" in found, found[0] in found) == (tuple(found)[1:], True, False, True)
    assert {text: one.mean for text, one in dict(found).items()} == {one.requested_as: one.mean for one in found}
    again = tracker.ingest(frame_of(BM25), name="bm25", metrics="AP").metrics  # the first text stays
    assert (again.keys(), again["AP"].mean) == (("map",), found["map"].mean)
    assert pickle.loads(pickle.dumps(found)) == found
    for unknown in ("P@5", "no metric"):
        assert found.get(unknown) is None
        message = f"metric '{unknown}' was not computed; the computed metrics are ndcg_cut_10, "
        with pytest.raises(KeyError, match=message):
            found[unknown]
    of_results = tracker.log_results({"q1": 3.0}, metric="latency", direction="lower", range=(0, 9), name="bm25")
    assert of_results.metrics["latency"].mean == of_results.metrics["external:latency"].mean == 3.0


def test_a_run_is_stored_with_its_metrics(tracker: nt.Tracker) -> None:
    found = tracker.ingest(frame_of(DENSE), name="dense", dataset="shop", labels=labels_frame())
    expected = results("ndcg@10", DENSE, LABELS)
    assert (found.run, found.dataset, found.outcome) == ("dense", "shop", "stored")
    assert (found.n_groups, found.n_items, found.label_set_version, found.notes) == (4, 9, 1, ())
    (metric,) = found.metrics
    assert (metric.metric, metric.mean, metric.is_new) == ("ndcg@10", expected.mean, True)
    assert (metric.n_groups, metric.n_missing, metric.n_undefined) == (5, 1, 0)
    run, evaluations = tracker.run("dense")
    assert (run.id, run.name, run.dataset, run.n_items) == (found.run_id, "dense", "shop", 9)
    assert [(one.metric, one.label_set_version, one.mean) for one in evaluations] == [("ndcg@10", 1, expected.mean)]


@pytest.mark.parametrize("kind", [dict, pd.DataFrame, pa.table])
def test_every_kind_of_frame_is_the_same_content(sqlite_url: str, kind: Any) -> None:
    with nt.Tracker(sqlite_url) as tracker:
        tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame())
        assert (
            tracker.ingest(kind(frame_of(BM25)), name="bm25", labels=kind(labels_frame())).outcome == "already stored"
        )


def test_what_is_kept_beside_the_content(tracker: nt.Tracker) -> None:
    tracker.ingest(
        frame_of(BM25),
        name="bm25",
        labels=labels_frame(),
        tags={"stage": "prod"},
        parameters={"k1": "0.9", "b": "0.4"},
        git_commit="f" * 40,
    )
    run, _ = tracker.run("bm25")
    assert (run.tags, run.parameters, run.git_commit, run.source) == (
        {"stage": "prod"},
        {"k1": "0.9", "b": "0.4"},
        "f" * 40,
        None,
    )


def test_the_columns_may_have_other_names(tracker: nt.Tracker) -> None:
    names = {"group": "qid", "item": "doc", "score": "s", "label": "rel"}
    run = {names[name]: values for name, values in frame_of(BM25).items()}
    labels = {names[name]: values for name, values in labels_frame().items()}
    found = tracker.ingest(run, name="bm25", labels=labels, group="qid", item="doc", score="s", label="rel")
    assert found.metrics[0].mean == results("ndcg@10", BM25, LABELS).mean


def test_the_same_run_again_adds_nothing(tracker: nt.Tracker, ready_url: str) -> None:
    first = tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame(), metrics=["ndcg@10", "dcg@5"])
    before = row_counts(ready_url)
    again = tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame(), metrics=["ndcg@10", "dcg@5"])
    assert row_counts(ready_url) == before
    assert before["runs"] == before["label_sets"] == 1
    assert (again.outcome, again.run_id, again.label_set_version) == ("already stored", first.run_id, 1)
    assert [(one.metric, one.mean, one.is_new) for one in again.metrics] == [
        (one.metric, one.mean, False) for one in first.metrics
    ]
    assert again.notes == ()


def test_the_same_content_in_another_row_order_is_the_same_run(tracker: nt.Tracker, ready_url: str) -> None:
    tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame())
    before = row_counts(ready_url)
    again = tracker.ingest(
        reversed_rows(frame_of(BM25)), name="bm25", labels=reversed_rows(labels_frame()), replace=True
    )
    assert again.outcome == "already stored"
    assert row_counts(ready_url) == before


def test_ties_keep_the_order_that_was_stored_first(tracker: nt.Tracker) -> None:
    frame = {"group": ["q"] * 4, "item": ["a", "b", "c", "d"], "score": [2.0, 1.0, 1.0, 1.0], "label": [0, 3, 2, 1]}
    expected = nt.evaluate(frame, "ndcg(ties=input)@3").mean.iloc[0]
    assert expected != nt.evaluate(reversed_rows(frame), "ndcg(ties=input)@3").mean.iloc[0]
    tracker.ingest(frame, name="tied")
    later = tracker.ingest(reversed_rows(frame), name="tied", metrics="ndcg(ties=input)@3")
    assert later.outcome == "already stored"
    assert later.metrics[0].mean == expected
    assert tracker.rescore(["tied"], metrics=["ndcg(ties=input)@4"])[0].metrics[0].mean == pytest.approx(
        nt.evaluate(frame, "ndcg(ties=input)@4").mean.iloc[0], abs=0
    )


def test_lists_without_scores_are_a_run_of_the_same_order_and_this_is_told(tracker: nt.Tracker) -> None:
    lists = {query: sorted(items, key=items.__getitem__, reverse=True) for query, items in DENSE.items()}
    relevant = {query: [item for item, grade in items.items() if grade] for query, items in LABELS.items()}
    result = tracker.ingest(lists, name="lists", labels=relevant)
    assert result.notes == ("its lists have no scores, so their order is the ranking, the best item first",)
    assert tracker.ingest(pd.Series(lists), name="lists").outcome == "already stored"
    binary = {query: dict.fromkeys(items, 1) for query, items in relevant.items()}
    assert tracker.ingest(frame_of(DENSE), name="dense", labels=binary).metrics["ndcg@10"].mean == (
        result.metrics["ndcg@10"].mean
    )


def test_a_further_metric_adds_its_evaluation_only(tracker: nt.Tracker, ready_url: str) -> None:
    tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame())
    before = row_counts(ready_url)
    found = tracker.ingest(frame_of(BM25), name="bm25", metrics=["dcg@10", "ndcg@10"])
    assert found.outcome == "already stored"
    assert [(one.metric, one.is_new) for one in found.metrics] == [("dcg@10", True), ("ndcg@10", False)]
    after = row_counts(ready_url)
    added = {name: after[name] - before[name] for name in before if after[name] != before[name]}
    assert added == {"evaluations": 1, "group_results": 5, "metrics": 1}


def test_a_metric_given_twice_is_stored_once(tracker: nt.Tracker) -> None:
    found = tracker.ingest(
        frame_of(BM25), name="bm25", labels=labels_frame(), metrics=["ndcg@10", "ndcg(gain=linear)@10"]
    )
    assert [one.metric for one in found.metrics] == ["ndcg@10"]


def test_a_name_taken_by_other_content_is_refused(tracker: nt.Tracker, ready_url: str) -> None:
    tracker.ingest(frame_of(BM25), name="bm25", dataset="shop", labels=labels_frame())
    before = row_counts(ready_url)
    with pytest.raises(nt.ConflictError) as caught:
        tracker.ingest(frame_of(DENSE), name="bm25", dataset="shop", labels=labels_frame(NEW_LABELS))
    assert str(caught.value) == (
        "run 'bm25' of dataset 'shop' is already stored with other content; keep both with name='bm25-2', "
        "or replace it with replace=True"
    )
    assert row_counts(ready_url) == before


def test_the_same_name_in_another_dataset_is_another_run(tracker: nt.Tracker) -> None:
    tracker.ingest(frame_of(BM25), name="bm25", dataset="shop", labels=labels_frame())
    assert tracker.ingest(frame_of(DENSE), name="bm25", dataset="site", labels=labels_frame()).outcome == "stored"
    assert [(run.dataset, run.name) for run in tracker.runs()] == [("shop", "bm25"), ("site", "bm25")]
    assert [run.dataset for run in tracker.runs("site")] == ["site"]


def test_replace_takes_the_place_and_the_aliases(tracker: nt.Tracker, ready_url: str) -> None:
    old = tracker.ingest(frame_of(BM25), name="prod", labels=labels_frame(), metrics=["ndcg@10", "dcg@3"])
    tracker.ingest(frame_of(BM25), name="other")
    for alias in ("baseline", "best"):
        tracker.set_alias(alias, "prod")
    tracker.set_alias("elsewhere", "other")
    before = row_counts(ready_url)
    new = tracker.ingest(frame_of(DENSE), name="prod", metrics=["ndcg@10", "dcg@3"], replace=True)
    assert new.outcome == "replaced"
    assert new.run_id != old.run_id
    assert new.notes == (
        f"alias @baseline now points at the new content (run {new.run_id})",
        f"alias @best now points at the new content (run {new.run_id})",
    )
    assert {alias.name: alias.run_id for alias in tracker.aliases()} == {
        "baseline": new.run_id,
        "best": new.run_id,
        "elsewhere": tracker.run("other")[0].id,
    }
    assert tracker.run("prod")[1][0].mean == results("ndcg@10", DENSE, LABELS).mean
    counts = row_counts(ready_url)
    assert {name: counts[name] for name in ("runs", "evaluations", "aliases")} == {
        name: before[name] for name in ("runs", "evaluations", "aliases")
    }
    assert old.run_id not in [run.id for run in tracker.runs()]


def test_replace_without_anything_to_replace_just_stores(tracker: nt.Tracker) -> None:
    assert tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame(), replace=True).outcome == "stored"


def test_equal_content_under_another_name_is_a_run_with_a_note(tracker: nt.Tracker) -> None:
    first = tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame())
    twin = tracker.ingest(reversed_rows(frame_of(BM25)), name="bm25-again")
    assert (first.notes, twin.outcome) == ((), "stored")
    assert twin.notes == ("its content equals that of run 'bm25'",)
    assert len(tracker.runs()) == 2
    assert tracker.ingest(frame_of(BM25), name="elsewhere", dataset="other", labels=labels_frame()).notes == ()


def test_a_run_without_any_judged_item_is_stored_with_a_note(tracker: nt.Tracker) -> None:
    strangers = {"Q1": {"A": 1.0}, "Q2": {"A": 1.0}}
    tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame())
    found = tracker.ingest(frame_of(strangers), name="wrong-ids", allow="no-overlap")
    assert found.outcome == "stored"
    assert found.notes == (
        "no group of the run has labels: the run has 'Q1', 'Q2', the labels have 'q1', 'q2', 'q3' and others; give "
        "labels of the same groups, with ids written the same way",
    )
    (metric,) = found.metrics
    assert (metric.mean, metric.n_missing, metric.n_undefined) == (0.0, 5, 2)
    same_groups = {group: {f"{item}-x": score for item, score in items.items()} for group, items in BM25.items()}
    found = tracker.ingest(frame_of(same_groups), name="wrong-items")
    assert found.notes == (
        "none of its items has a label, so every result is 0 or undefined: the run has 'a-x', but the labels have "
        "'a'; to rank documents instead of their chunks: --item-to-document '-.*'",
    )


def test_labels_of_other_groups_do_not_become_the_newest(tracker: nt.Tracker) -> None:
    shop = frame_of(BM25)
    tracker.ingest(shop, name="bm25", labels=labels_frame())
    others = {**labels_frame(), "group": [f"{group}.0" for group in labels_frame()["group"]]}
    with pytest.raises(nt.InputError) as caught:
        tracker.ingest(frame_of(DENSE), name="dense", labels=others)
    assert str(caught.value) == (
        "dense: no group of the run has labels: the run has 'q1', 'q2', 'q3' and others, the labels have 'q1.0', "
        "'q2.0', 'q3.0' and others; give labels of the same groups, with ids written the same way; if that is meant, "
        "give allow='no-overlap'"
    )
    assert ([run.name for run in tracker.runs()], len(tracker.label_versions())) == (["bm25"], 1)
    tracker.add_labels(others, replace=True)  # on purpose
    dense = tracker.ingest(frame_of(DENSE), name="dense", labels=others, allow="no-overlap")
    assert dense.notes[0].startswith("no group of the run has labels")


def test_groups_of_the_labels_that_a_run_lacks_are_told_where_they_count(tracker: nt.Tracker) -> None:
    groups = [f"q{number}" for number in range(40)]
    labels = {"group": groups, "item": ["a"] * 40, "label": [1] * 40}
    half = {"group": groups[:20] * 2, "item": ["a"] * 20 + ["b"] * 20, "score": [2.0] * 20 + [1.0] * 20}
    told = tracker.ingest(half, name="half", labels=labels, metrics=["trec_eval:ndcg_cut_10", "ndcg@10"])
    missing = (
        "20 of 40 groups with labels are not in the run, and ndcg@10 counts each as an empty list; "
        "'ndcg(missing=skip)@10' leaves them out"
    )
    assert missing in told.notes
    with pytest.warns(NdcgTrackerWarning, match="20 of 40 groups with labels are not in the run"):
        assert missing in nt.evaluate(half, labels=labels).notes
    assert nt.evaluate(half, "trec_eval:map", labels=labels).notes == ()


def refused_whole(tracker: nt.Tracker, url: str, kind: type[Exception], frame: object, **options: Any) -> str:
    """Ingest something that is refused, and return the message; nothing at all is stored."""
    before = row_counts(url)
    with pytest.raises(kind) as caught:
        tracker.ingest(frame, **options)
    after = row_counts(url)
    assert after == before or (not before and not any(after[name] for name in after if name != "ndcg_tracker_version"))
    return str(caught.value)


def test_without_labels_nothing_is_stored(tracker: nt.Tracker, ready_url: str) -> None:
    text = refused_whole(tracker, ready_url, nt.InputError, frame_of(BM25), name="bm25", dataset="shop")
    assert text == "dataset 'shop' has no labels yet; give them with labels='FILE'"


def test_a_metric_that_refuses_a_label_stores_nothing(tracker: nt.Tracker, ready_url: str) -> None:
    metrics = ["ndcg@10", "ndcg(missing=error)@10"]
    text = refused_whole(
        tracker, ready_url, nt.MetricError, frame_of(DENSE), name="d", labels=labels_frame(), metrics=metrics
    )
    assert text == (
        "ndcg(missing=error)@10: group 'q5' has labels but is missing from the run; use missing=zero or missing=skip"
    )


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"name": ""}, "the name of a run is empty; give it a name"),
    ({"name": "@prod"}, "run '@prod': a name does not begin with @; only aliases are written with it; give another "),
    ({"name": "a\nb"}, "run 'a\\nb': a name has no control characters or line breaks; give another one"),
    ({"name": "x" * 251}, "run 'xxxxxxxxxxxxxxxxxxxx...': a name has at most 250 characters"),
    ({"dataset": ""}, "the name of a dataset is empty; give it a name"),
    ({"metrics": []}, "no metric was given; name at least one, such as ndcg@10"),
    ({"metrics": "ndcg@0"}, ""),
    ({"tags": {"a": math.nan}}, "tags cannot be stored as JSON"),
    ({"label": "rel", "labels": None}, "no column 'rel'; the columns are 'group', 'item', 'score'"),
]


def test_what_cannot_be_stored_is_refused_whole(tracker: nt.Tracker, ready_url: str) -> None:
    for options, message in REFUSED:
        given = {"name": "bm25", "labels": labels_frame(), **options}
        text = refused_whole(tracker, ready_url, nt.InputError, frame_of(BM25), **given)
        assert text.startswith(message)
        assert "\n" not in text


def test_an_item_id_with_nul_is_refused_whole(tracker: nt.Tracker, ready_url: str) -> None:
    frame = {"group": ["q"], "item": ["a\0b"], "score": [1.0], "label": [1]}
    text = refused_whole(tracker, ready_url, nt.InputError, frame, name="nul")
    assert text == "row 1: the item id has a NUL byte; write the file again without it"


def random_run(seed: int) -> dict[str, list[Any]]:
    """Return a frame of 44 groups with tied scores, unjudged and unretrieved items, some worthless or one-sided."""
    random = np.random.default_rng(seed)
    frame: dict[str, list[Any]] = {
        "group": ["worthless", "unjudged", "worthless", "missing"],
        "item": ["a", "a", "b", "a"],
        "score": [0.5, 1.0, 0.5, None],
        "label": [0, None, 0, 1],
    }
    for group in range(40):
        for item in range(int(random.integers(1, 15))):
            score, label = float(random.integers(0, 6)) / 3, int(random.integers(-1, 4))
            retrieved = random.random() < 0.9 or item == 0
            frame["group"].append(f"group {group}")
            frame["item"].append(f"ítem-{item}")
            frame["score"].append(score if retrieved else None)
            frame["label"].append(label if label >= 0 else None)
    return frame


def test_the_stored_results_of_every_group_are_those_of_evaluate(tracker: nt.Tracker) -> None:
    metrics = ["ndcg@10", "ndcg(empty=skip, gain=exp2)", "dcg(ties=average)@3", "ndcg(ties=input, unjudged=drop)@5"]
    frame = random_run(7)
    found = nt.evaluate(frame, metrics)
    assert found.per_group.isna().any(axis=None)
    ingested = tracker.ingest(frame, name="random", metrics=metrics)
    canonical = dict(zip(metrics, (one.metric for one in ingested.metrics), strict=True))
    for text, metric in canonical.items():
        stored = tracker.sql(f"SELECT group_key, value FROM group_history WHERE metric = '{metric}'")
        values = stored.set_index("group_key")["value"].astype("float64")
        pd.testing.assert_series_equal(
            values.sort_index(), found.per_group[text].sort_index(), check_exact=True, check_names=False,
            check_index_type=False,
        )  # fmt: skip
    assert [one.mean for one in ingested.metrics] == found.mean.tolist()


def test_labels_that_come_later_are_held_against_the_stored_run(tracker: nt.Tracker) -> None:
    tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame())
    new = {**LABELS, "q2": {"a": 1, "x": 2}}
    again = tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame(new))
    assert (again.outcome, again.label_set_version) == ("already stored", 2)
    assert [one.is_new for one in again.metrics] == [True]
    assert again.notes == (
        "its labels are new (version 2 of the dataset); to compare older runs with it, evaluate them under it: "
        "ndcg-track rescore --all --dataset default --labels 2",
    )


def test_a_path_is_a_run_named_after_its_file(tracker: nt.Tracker, tmp_path: Path) -> None:
    run, labels = write_trec(tmp_path / "dense.run", DENSE), write_qrels(tmp_path / "qrels.txt")
    found = tracker.ingest(run, labels=Path(labels), dataset="shop")
    assert (found.run, found.outcome, found.metrics[0].mean) == (
        "dense",
        "stored",
        results("ndcg@10", DENSE, LABELS).mean,
    )
    assert tracker.run("dense")[0].source == run
    assert tracker.ingest(Path(run), dataset="shop").outcome == "already stored"
    assert tracker.ingest(DENSE, name="again", dataset="shop").notes == ("its content equals that of run 'dense'",)


def test_a_table_needs_a_name_that_is_text(tracker: nt.Tracker, ready_url: str) -> None:
    labels = labels_frame()
    text = refused_whole(tracker, ready_url, nt.InputError, DENSE, labels=labels)
    assert text == "a dict has no name; name the run with name="
    text = refused_whole(tracker, ready_url, nt.InputError, DENSE, labels=labels, name=5)
    assert text == "the name of a run must be text, not 5; give for example '5'"
    text = refused_whole(tracker, ready_url, nt.InputError, DENSE, labels=labels, name="a", dataset=5)
    assert text == "the name of a dataset must be text, not 5; give for example '5'"


def test_half_a_character_is_refused_wherever_it_stands(tracker: nt.Tracker, ready_url: str) -> None:
    half = "\ud800"
    given: dict[str, Any] = {"name": "bm25", "labels": labels_frame()}
    for options, message in [
        ({"name": half}, "run '\\ud800': a name has no control characters or line breaks; give another one"),
        ({"dataset": half}, "dataset '\\ud800': a name has no control characters or line breaks; give another one"),
        ({"git_commit": half}, "git_commit='\\ud800' has characters that cannot be printed; give a commit"),
        ({"tags": {"a": half}}, "tags cannot be stored as JSON"),
        ({"group": half}, "no column '\\ud800'; the columns are 'group', 'item', 'score'"),
    ]:
        text = refused_whole(tracker, ready_url, nt.InputError, frame_of(BM25), **given | options)
        assert text.removeprefix("labels: ").startswith(message[:40])
    text = refused_whole(tracker, ready_url, nt.InputError, {half: {"a": 1.0}}, **given)
    assert text == "row 1: the group id '\\ud800' has an incomplete character; write ids as UTF-8"
    tracker.ingest(frame_of(BM25), **given)
    with pytest.raises(nt.ReferenceNotFoundError):
        tracker.history("ndcg@10", dataset=half)
    with pytest.raises(nt.ReferenceNotFoundError):
        tracker.run(half)


def test_row_numbers_do_not_stand_for_items_across_tables(tracker: nt.Tracker, ready_url: str) -> None:
    numbered = {"group": ["q", "q"], "score": [2.0, 1.0]}
    alone = {**numbered, "label": [0, 1]}
    assert tracker.ingest(alone, name="first").metrics[0].mean == pytest.approx(1 / math.log2(3))
    text = refused_whole(tracker, ready_url, nt.InputError, numbered, name="second")
    assert text == (
        "the run has no item column and no labels in its table; row numbers can identify items only if one table holds "
        "both scores and labels: name the item column with item="
    )
    text = refused_whole(tracker, ready_url, nt.InputError, numbered, name="second", labels=labels_frame())
    assert text.startswith("no column 'item'; the columns are 'group', 'score': name the item column with item=; row ")
    assert tracker.ingest({**alone, "score": [1.0, 2.0]}, name="second").metrics[0].mean == 1.0


def test_a_stream_of_row_numbers_needs_labels_of_its_own(tracker: nt.Tracker, ready_url: str, tmp_path: Path) -> None:
    tracker.ingest(joint_frame(BM25, LABELS), name="bm25")
    path = tmp_path / "run.csv"
    path.write_text("group,score\nq1,1\nq2,1\n", encoding="utf-8")
    before = row_counts(ready_url)
    with stream_run(str(path), block_rows=1) as blocks, pytest.raises(nt.InputError) as caught:
        tracker.ingest_stream(blocks, None, RunDetails("numbered"), ["ndcg@10"])
    assert str(caught.value).startswith("the run has no item column and no labels in its table; ")
    assert row_counts(ready_url) == before


def test_nan_scores_are_refused_unless_the_caller_says_what_they_mean(tracker: nt.Tracker, ready_url: str) -> None:
    frame = {"group": ["q", "q"], "item": ["a", "b"], "score": [1.0, math.nan], "label": [0, 1]}
    text = refused_whole(tracker, ready_url, nt.InputError, frame, name="diverged")
    assert text.startswith("row 2: the score is nan; fix the scores, or, if NaN means not retrieved, ")
    found = tracker.ingest(frame, name="joined", null_scores="not_retrieved")
    assert (found.n_items, found.metrics[0].mean) == (1, 0.0)


def test_what_a_result_prints(tracker: nt.Tracker) -> None:
    rows = {"group": ["q", "r", "s"], "item": ["a"] * 3, "score": [1.0] * 3, "label": [1, 1, 1]}
    tracker.ingest(rows, name="all")
    result = tracker.ingest({name: column[:1] for name, column in rows.items()}, name="part")
    assert str(result) == repr(result)
    assert str(result).splitlines() == [
        "stored: run 'part' (id 2) of dataset 'default'",
        "ndcg@10 0.3333 over 3 groups, 2 of them missing from the run",
    ]


def test_groups_that_are_half_misspelt_are_told(tracker: nt.Tracker) -> None:
    rows = [(f"q{number}", item, float(score)) for number in range(20) for score, item in enumerate("ab")]
    run = pd.DataFrame(rows, columns=["group", "item", "score"])
    labels = run.assign(label=1)[["group", "item", "label"]]
    half = run.assign(group=run["group"].where(run.index % 4 < 2, run["group"].str.upper()))
    told = (
        "10 of 20 groups with labels are not in the run, and ndcg@10 counts each as an empty list; "
        "'ndcg(missing=skip)@10' leaves them out; 10 groups of the run have no labels: are the group ids written the "
        "same way?"
    )
    assert tracker.ingest(half, name="half", labels=labels).notes == (told,)
    assert tracker.ingest(run[run["group"] != "q7"], name="whole").notes == ()
    with pytest.warns(NdcgTrackerWarning, match="10 of 20 groups with labels are not in the run"):
        assert told in nt.evaluate(half, "ndcg@10", labels=labels).notes


def test_labels_that_no_metric_of_relevance_counts_are_told(tracker: nt.Tracker) -> None:
    watched = {"group": ["u", "u", "v"], "item": ["a", "b", "a"], "score": [2.5, 1.5, 3.5], "label": [0.87, 0.2, 0.5]}
    notes = tracker.ingest(watched, name="shares", metrics=["ndcg@5", "RR"]).notes
    assert notes == (
        "no label reaches rel=1 (the highest is 0.87), so RR is 0 for every run; to count lower labels, use "
        "RR(rel=0.1)",
    )
    assert tracker.ingest(watched, name="shares", metrics=["ndcg@5"]).notes == ()


def test_labels_above_the_highest_that_a_metric_knows_are_told(tracker: nt.Tracker) -> None:
    graded = {"group": ["u", "u", "v"], "item": ["a", "b", "a"], "score": [2.5, 1.5, 3.5], "label": [9, 0, 1]}
    told = "a label is 9, but err@5 takes 4 as the highest, so its value is wrong; use ERR(highest=9)@5"
    assert tracker.ingest(graded, name="graded", metrics=["ndcg@5", "err@5"]).notes == (told,)
    assert tracker.ingest(graded, name="graded", metrics=["ERR(highest=9)@5"]).notes == ()
    with pytest.warns(NdcgTrackerWarning, match="a label is 9, but PFound takes 1 as the highest"):
        nt.evaluate(graded, "PFound")


@pytest.mark.both_engines
def test_a_run_with_far_fewer_judged_items_than_others_is_told(tracker: nt.Tracker) -> None:
    """Half of its ids are misspelt: a mean of half the size, which is no worse system."""
    items = [f"d{number}" for number in range(10)]
    labels = {f"q{number}": dict.fromkeys(items, 1) for number in range(8)}
    for name in ("one", "two", "three"):
        tracker.ingest({group: dict.fromkeys(items, 1.0) for group in labels}, name=name, labels=labels, dataset="d")
    misspelt = {group: {f"{'D' if place % 2 else 'd'}{place}": 1.0 - place for place in range(10)} for group in labels}
    result = tracker.ingest(misspelt, name="new", dataset="d")
    told = (
        "50.0% of the first 10 of new are judged, but 100.0% of those of other runs: were its ids renamed? Then "
        "carry the labels to them with: ndcg-track labels carry MAPPING.csv --dataset d"
    )
    assert told in result.notes
    notes = tracker.compare("one", "new", dataset="d").notes  # the note on ids says why
    assert told not in notes
    assert any("never occur in new, and ids that one never had stand in their places" in note for note in notes)
    assert not any("of other runs" in note for note in tracker.compare("one", "two", dataset="d").notes)


@pytest.mark.both_engines
def test_a_run_that_lists_few_labelled_items_is_told(tracker: nt.Tracker) -> None:
    labels = {f"q{number}": {f"d{place}": 1 for place in range(50)} for number in range(4)}
    run = {
        group: {("d0" if place == 0 else f"other-{place}"): -float(place) for place in range(10)} for group in labels
    }
    told = "4 of 200 labels are for items that the run lists, and few of its first items are judged: were its ids"
    assert any(note.startswith(told) for note in tracker.ingest(run, name="new", labels=labels).notes)
    whole = {group: {f"d{place}": -float(place) for place in range(10)} for group in labels}
    assert not any("of items that the run lists" in note for note in tracker.ingest(whole, name="whole").notes)


@pytest.mark.parametrize("as_blocks", [False, True])
def test_exchanged_run_and_labels_are_told(tracker: nt.Tracker, as_blocks: bool) -> None:
    scores = {"q": {"a": 0.25, "b": 0.75}, "r": {"a": 0.5, "c": 0.125}}
    grades = {group: {item: float(place) for place, item in enumerate(items)} for group, items in scores.items()}
    if as_blocks:
        run = pd.DataFrame([(g, i, n) for g, items in grades.items() for i, n in items.items()])
        run.columns = pd.Index(["group", "item", "score"])
    told = tracker.ingest(run if as_blocks else grades, name="run", labels=scores).notes
    assert told == ("its scores are whole numbers and the labels are not: are the run and the labels swapped?",)
    assert tracker.ingest(scores, name="right", dataset="other", labels=grades).notes == ()
    ranked = {"qid": ["q", "q"], "pid": ["a", "b"], "rank": [1, 2]}  # whole numbers that nobody gave
    assert tracker.ingest(ranked, name="ranked", dataset="third", labels={"q": scores["q"]}).notes == ()


def test_a_value_that_is_left_to_a_tools_sort_is_told_once(tracker: nt.Tracker) -> None:
    long = {"q": {f"d{place:02}": 1.0 - (place > 15) for place in range(18)}, "r": {"a": 2.0, "b": 1.0}}
    labels = {"q": {"d03": 2}, "r": {"b": 1}}
    said = (
        "ranx may sort equal scores in any order in lists of 16 items or more: in 1 group, {} depends on that order, "
        "so ranx may print a different number"
    )
    asked = ["ndcg@10", "ranx:map", "ranx:ndcg@10"]
    with pytest.warns(NdcgTrackerWarning, match="ranx may sort equal scores"):
        assert nt.evaluate(long, asked, labels=labels).notes == (said.format("ranx:map"),)
    found = tracker.ingest(long, name="tied", labels=labels, metrics=asked)
    assert found.notes == (said.format("ranx:map"),)
    assert nt.evaluate(long, ["ndcg@10", "map"], labels=labels).notes == ()
    untied = {"q": {f"d{place:02}": place / 7 for place in range(18)}}
    short = {"q": {f"d{place:02}": 1.0 + (place > 7) for place in range(15)}}
    for run in (untied, short):
        assert nt.evaluate(run, "ranx:ndcg@10", labels={"q": labels["q"]}).notes == ()


@pytest.mark.nightly(but=2)
@pytest.mark.both_engines
@pytest.mark.parametrize(
    ("spelled", "told"),
    [
        (str.upper, "they differ only in capitals or spaces ({} if in one case); {}MAPPING.csv"),
        ("shop:{}".format, "the ids of the run start with 'shop:' ({} if 'shop:' is left out); {}--pattern '^shop:'"),
        (lambda item: item[2:], "the ids of the labels start with 'd-' ({} if 'd-' is left out); {}--pattern '^d-'"),
    ],
)
def test_ids_that_half_the_rows_write_otherwise_are_told(
    tracker: nt.Tracker, spelled: Callable[[str], str], told: str
) -> None:
    """Half of them are misspelt: a mean of half the size, and no other run shows that."""
    items = [f"d-{number}" for number in range(10)]
    labels = {f"q{number}": {item: place % 3 for place, item in enumerate(items)} for number in range(4)}
    good = {group: {item: -float(place) for place, item in enumerate(items)} for group in labels}
    other = {
        group: {spelled(item) if int(item[2:]) % 2 else item: score for item, score in of.items()}
        for group, of in good.items()
    }
    assert tracker.ingest(good, name="good", labels=labels).notes == ()
    (note,) = tracker.ingest(other, name="other").notes
    then = told.format("ndcg@10 is 0.6711", "write both the same way, or map the ids with: ndcg-track labels carry ")
    assert note == (
        f"the run has item {spelled('d-1')!r}, but the labels have 'd-1'; 20 of 40 labels match as written; 20 of the "
        f"20 unmatched labels that were checked differ like this: {then} --dataset default"
    )
    renamed = "never occur in other, and ids that good never had stand in their places"
    assert any(renamed in note for note in tracker.compare("good", "other").notes)
    gated = tracker.gate("other", baseline="good", margin=0.9, dry_run=True)
    assert gated.decision == "inconclusive"
    assert renamed in gated.reason
    with pytest.warns(nt.errors.NdcgTrackerWarning, match="20 of the 20 unmatched labels"):
        nt.evaluate(other, "ndcg@10", labels=labels)
