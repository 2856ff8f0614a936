"""A run that comes block by block is stored exactly as one that comes at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rankings_of import labels_of, ranking_of
from small_shop import BM25, DENSE, LABELS, Run
from stored_rows import row_counts
from thorough import examples

import ndcg_tracker as nt
from ndcg_tracker.errors import ConflictError, InputError
from ndcg_tracker.ingest.table import RankedTable
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import GroupWeights
from ndcg_tracker.runs import labels as labels_module
from ndcg_tracker.runs.ingest import IngestResult, RunDetails
from ndcg_tracker.words.notes import Note, carry_command, note_text

pytestmark = pytest.mark.both_engines

METRICS = ("ndcg@10", "AP", "catboost:NDCG:top=3;type=Exp")
VIEWS = ("run_summary", "group_history", "items", "labels", "label_coverage")
Weights = dict[str, float]


def table_of(run: Run, labels: Run | None, weights: Weights | None) -> RankedTable:
    """Return a run with the labels and weights of its own groups."""
    groups = list(run)
    own = {group: labels[group] for group in groups if group in labels} if labels is not None else {}
    ranking = ranking_of({group: items for group, items in run.items() if items})
    of_groups = None
    if weights is not None:
        values = np.array([weights[group] for group in groups])
        of_groups = GroupWeights(Keys.from_strings(groups), values, np.zeros(len(groups), dtype=np.bool_))
    return RankedTable(ranking, labels_of(own) if own else None, of_groups)


def blocks_of(run: Run, size: int, labels: Run | None = None, weights: Weights | None = None) -> Iterator[RankedTable]:
    """Yield a run in blocks of ``size`` groups."""
    groups = list(run)
    for first in range(0, len(groups), size):
        yield table_of({group: run[group] for group in groups[first : first + size]}, labels, weights)


def ingest_at_once(
    tracker: nt.Tracker, name: str, table: RankedTable, given: Run | None = None, dataset: str = "default"
) -> IngestResult:
    lists = None if given is None else labels_of(given)
    return tracker.ingest_stream([table], lists, RunDetails(name, dataset), METRICS)


def ingest_stream(
    tracker: nt.Tracker,
    name: str,
    blocks: Iterable[RankedTable],
    given: Run | None = None,
    dataset: str = "default",
    *,
    replace: bool = False,
) -> IngestResult:
    lists = None if given is None else labels_of(given)
    return tracker.ingest_stream(blocks, lists, RunDetails(name, dataset, replace=replace), METRICS)


def everything(tracker: nt.Tracker, dataset: str = "default") -> dict[str, list[Any]]:
    """Return all that the views show of a dataset, but for ids and times."""
    found = {}
    for view in VIEWS:
        frame = tracker.sql(f"SELECT * FROM {view} WHERE dataset = '{dataset}'")
        kept = [name for name in frame if name not in ("run_id", "dataset", "created_at") and not name.endswith("_utc")]
        found[view] = sorted(map(repr, frame[kept].to_dict("records")))
    return found


def unnumbered(result: IngestResult) -> IngestResult:
    name, option = f"'{result.dataset}'", rf"--dataset {result.dataset}\b"
    notes = tuple(re.sub(option, "--dataset D", note.replace(name, "'D'")) for note in result.notes)
    return replace(result, run_id=0, dataset="", notes=notes)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[nt.Tracker]:
    """One SQLite database for all examples of the property tests, each in datasets of its own."""
    with nt.Tracker(str(tmp_path_factory.mktemp("runs") / "runs.db")) as tracker:
        yield tracker


NUMBERS = count()
ITEMS = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from([0.0, 0.5, 1.0, 2.0]), max_size=6)
GRADES = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from([0.0, 1.0, 2.0]), min_size=1, max_size=6)
RUNS = st.dictionaries(st.sampled_from([f"q{n}" for n in range(8)]), ITEMS.filter(bool), min_size=1)
LABELINGS = st.dictionaries(st.sampled_from([f"q{n}" for n in range(8)]), GRADES, min_size=1)


@settings(max_examples=examples(25))
@given(first=RUNS, second=RUNS, labels=LABELINGS, size=st.integers(1, 4))
def test_given_labels(shared: nt.Tracker, first: Run, second: Run, labels: Run, size: int) -> None:
    once, streamed = (f"{next(NUMBERS)}" for _ in range(2))
    for name, run in (("first", first), ("second", second)):
        outcomes = []
        for ingest in (
            partial(ingest_at_once, shared, name, table_of(run, None, None), labels, once),
            partial(ingest_stream, shared, name, blocks_of(run, size), labels, streamed),
        ):
            try:
                outcomes.append(unnumbered(ingest()))
            except InputError as error:  # labels of other groups
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]
    assert everything(shared, streamed) == everything(shared, once)


@settings(max_examples=examples(25))
@given(first=RUNS, second=RUNS, labels=LABELINGS, more=LABELINGS, size=st.integers(1, 4), held=st.booleans())
@pytest.mark.nightly
def test_labels_of_its_own(
    shared: nt.Tracker, first: Run, second: Run, labels: Run, more: Run, size: int, held: bool
) -> None:
    more = {group: more.get(group, {}) | labels.get(group, {}) for group in {**labels, **more}}
    once, streamed = (f"{next(NUMBERS)}" for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(labels_module, "HELD_LABELS", 1 << 22 if held else 0)
        patch.setattr(labels_module, "GROUPS_AT_ONCE", 2)
        for name, run, own in (("first", first, labels), ("second", second, more), ("third", second, more)):
            outcomes: list[object] = []
            for ingest in (
                partial(ingest_at_once, shared, name, table_of(run, own, None), dataset=once),
                partial(ingest_stream, shared, name, blocks_of(run, size, own), dataset=streamed),
            ):
                try:
                    outcomes.append(unnumbered(ingest()))
                except InputError as error:
                    outcomes.append(str(error).replace(repr(streamed), repr(once)))
            assert outcomes[0] == outcomes[1]
    assert everything(shared, streamed) == everything(shared, once)


def test_both_engines_store_a_stream(tracker: nt.Tracker) -> None:
    found = ingest_stream(tracker, "bm25", blocks_of(BM25, 2), LABELS)
    assert (found.outcome, found.n_groups, found.n_items, found.label_set_version) == ("stored", 5, 11, 1)
    streamed = everything(tracker)
    tracker.delete_run("bm25")
    again = ingest_at_once(tracker, "bm25", table_of(BM25, None, None), LABELS)
    assert [one.mean for one in found.metrics] == [one.mean for one in again.metrics]
    assert streamed == everything(tracker)


def test_stored_labels_are_read_group_by_group_on_both_engines(
    tracker: nt.Tracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest_at_once(tracker, "bm25", table_of(BM25, None, None), LABELS)
    expected = ingest_at_once(tracker, "at once", table_of(DENSE, None, None))
    monkeypatch.setattr(labels_module, "HELD_LABELS", 0)
    monkeypatch.setattr(labels_module, "GROUPS_AT_ONCE", 1)
    found = ingest_stream(tracker, "dense", blocks_of(DENSE, 3))
    assert found.metrics == expected.metrics
    wider = {**LABELS, "q4": {"g": 0, "x": 2}, "q9": {"a": 1}}
    more = ingest_stream(tracker, "more", blocks_of({**DENSE, "q9": {"a": 1.0}}, 2, wider))
    assert (more.label_set_version, len(more.notes)) == (2, 1)
    labels = tracker.sql("SELECT group_key, item_key, grade FROM labels WHERE label_set_version = 2")
    assert {tuple(row) for row in labels.itertuples(index=False)} == {
        (group, item, grade) for group, items in wider.items() for item, grade in items.items()
    }


def test_the_same_content_adds_nothing_but_new_metrics(tracker: nt.Tracker, ready_url: str) -> None:
    first = ingest_stream(tracker, "bm25", blocks_of(BM25, 2), LABELS)
    before = row_counts(ready_url)
    backwards = dict(reversed(BM25.items()))
    again = ingest_stream(tracker, "bm25", blocks_of(backwards, 1), LABELS)
    assert (again.outcome, again.run_id) == ("already stored", first.run_id)
    assert row_counts(ready_url) == before
    for replaced in (False, True):
        further = tracker.ingest_stream(
            blocks_of(backwards, 3),
            None,
            RunDetails("bm25", replace=replaced),
            ["ndcg@10", "RR" if replaced else "P@2"],
        )
        assert (further.outcome, further.run_id) == ("already stored", first.run_id)
        assert [one.is_new for one in further.metrics] == [False, True]
        assert tracker.run("bm25")[0].name == "bm25"


def test_other_content_under_a_name_is_refused_or_replaces(tracker: nt.Tracker, ready_url: str) -> None:
    first = ingest_stream(tracker, "shop", blocks_of(BM25, 2), LABELS)
    tracker.set_alias("prod", "shop")
    before = row_counts(ready_url)
    with pytest.raises(ConflictError) as refused:
        ingest_stream(tracker, "shop", blocks_of(DENSE, 2), LABELS)
    assert str(refused.value) == (
        "run 'shop' of dataset 'default' is already stored with other content; keep both with name='shop-2', or "
        "replace it with replace=True"
    )
    assert row_counts(ready_url) == before
    found = ingest_stream(tracker, "shop", blocks_of(DENSE, 2), LABELS, replace=True)
    assert (found.outcome, found.run) == ("replaced", "shop")
    assert found.run_id > first.run_id
    assert found.notes == (f"alias @prod now points at the new content (run {found.run_id})",)
    assert [run.name for run in tracker.runs()] == ["shop"]


@pytest.mark.parametrize("size", [1, len(BM25)])
def test_the_same_content_is_not_replaced(tracker: nt.Tracker, ready_url: str, size: int) -> None:
    first = ingest_stream(tracker, "shop", blocks_of(BM25, size), LABELS)
    tracker.set_alias("prod", "shop")
    before = row_counts(ready_url)
    again = ingest_stream(tracker, "shop", blocks_of(BM25, size), LABELS, replace=True)
    assert (again.outcome, again.run_id, again.notes) == ("already stored", first.run_id, ())
    assert row_counts(ready_url) == before
    later = ingest_stream(tracker, "later", blocks_of(DENSE, size), LABELS)
    if size == len(BM25):  # of a whole run nothing is written: no id was used up in between
        assert later.run_id == first.run_id + 1


def failing(blocks: Iterator[RankedTable]) -> Iterator[RankedTable]:
    yield next(blocks)
    raise InputError("shop.run:7: the score is empty; every row needs one")


def test_a_stream_that_breaks_off_stores_nothing(tracker: nt.Tracker, ready_url: str) -> None:
    ingest_at_once(tracker, "bm25", table_of(BM25, None, None), LABELS)
    before = row_counts(ready_url)
    with pytest.raises(InputError, match=r"^shop\.run:7: the score is empty"):
        ingest_stream(tracker, "dense", failing(blocks_of(DENSE, 2)), LABELS)
    assert row_counts(ready_url) == before


def test_without_labels_nothing_is_stored(tracker: nt.Tracker, ready_url: str) -> None:
    with pytest.raises(InputError, match=r"^dataset 'default' has no labels yet; give them with labels='FILE'$"):
        ingest_stream(tracker, "bm25", blocks_of(BM25, 2))
    counts = row_counts(ready_url)
    assert counts["runs"] == counts["datasets"] == counts["groups"] == 0


def test_a_grade_that_contradicts_a_stored_one_is_refused(tracker: nt.Tracker, ready_url: str) -> None:
    ingest_stream(tracker, "bm25", blocks_of(BM25, 2, LABELS))
    before = row_counts(ready_url)
    with pytest.raises(ConflictError) as refused:
        ingest_stream(tracker, "dense", blocks_of(DENSE, 2, {**LABELS, "q3": {"e": 2}}))
    assert str(refused.value) == (
        "item 'e' of group 'q3' has the label 2 here but 1 in the latest labels of dataset 'default'; to change "
        "labels, make a new version with ndcg-track labels add FILE"
    )
    assert row_counts(ready_url) == before


def test_weights_count_as_they_do_at_once(tracker: nt.Tracker) -> None:
    weights = {group: 1.0 + number for number, group in enumerate(BM25)}
    streamed = ingest_stream(tracker, "bm25", blocks_of(BM25, 2, None, weights), LABELS)
    tracker.delete_run("bm25")
    assert streamed.metrics == ingest_at_once(tracker, "bm25", table_of(BM25, None, weights), LABELS).metrics
    unweighted = nt.evaluate({"group": ["q"], "score": [1.0], "label": [1]}, METRICS[2])
    assert unweighted.mean.notna().all()


def test_nothing_judged_is_noted(tracker: nt.Tracker) -> None:
    found = ingest_stream(tracker, "bm25", blocks_of({"q1": {"y": 1.0}, "q2": {"z": 1.0}}, 1), LABELS)
    facts = {"of_run": "y", "of_labels": "a", "may_map": True}
    assert found.notes == (note_text(Note("no_label", facts, carry_command("default"))),)


def test_a_union_that_equals_an_older_version_is_that_version(tracker: nt.Tracker) -> None:
    fewer = {**LABELS, "q1": {"a": 3}}
    assert tracker.add_labels(labels_of(LABELS)) == (1, True)
    assert tracker.add_labels(labels_of(fewer)) == (2, True)
    found = ingest_stream(tracker, "bm25", blocks_of(BM25, 2, LABELS))
    assert (found.label_set_version, found.notes) == (1, ())
    assert tracker.sql("SELECT max(label_set_version) AS newest FROM labels").newest.tolist() == [2]
