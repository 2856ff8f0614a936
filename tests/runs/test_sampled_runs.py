"""Runs that rank among sampled negatives, and documents in the place of chunks: kept, told, and held apart."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from exchanged import first_value, with_column
from refused import refusal_of
from small_shop import BM25, DENSE, LABELS

import ndcg_tracker as nt
from ndcg_tracker.errors import ConflictError, NotComparableError, ReferenceNotFoundError
from ndcg_tracker.questions.history.gather import history_of
from ndcg_tracker.questions.history.question import HistoryFilter
from ndcg_tracker.runs.samples import sampled_note
from ndcg_tracker.words.notes import in_words

TOLD = (
    "items are ranked among 100 sampled negatives of 50,000: an item truly at rank 2,500 is in the first ten there "
    "with probability 0.97, so the better run may be the other one when all items are ranked"
)
CHUNKS = {"q": {"a#1": 3.0, "a#2": 2.0, "b#1": 1.0}, "r": {"c#1": 1.0}}
HERE = {"dataset": "shop", "labels": LABELS}
OTHER = {group: dict(reversed(items.items())) for group, items in BM25.items()}
"""The same items, in another order."""
for _items in OTHER.values():
    for _place, _item in enumerate(_items):
        _items[_item] = float(_place)


@pytest.fixture
def sampled(tracker: nt.Tracker) -> nt.Tracker:
    """Return two runs of one sample, one of another draw, one of another size, and one of all items."""
    tracker.ingest(BM25, name="one", sampled="100/50000", **HERE)
    tracker.ingest(OTHER, name="same", sampled="100/50000", **HERE)
    tracker.ingest(DENSE, name="drawn again", sampled="100/50000", **HERE)
    tracker.ingest(DENSE, name="smaller", sampled="50/50000", **HERE)
    tracker.ingest(DENSE, name="whole", **HERE)
    return tracker


def test_a_sample_is_kept_and_told(tracker: nt.Tracker) -> None:
    stored = tracker.ingest(BM25, name="one", sampled=" 0100/50000", **HERE)
    assert TOLD in stored.notes
    assert tracker.show("one").sampled == "100/50000"
    assert tracker.sql("SELECT run, sampled FROM run_summary").to_numpy().tolist() == [["one", "100/50000"]]
    assert tracker.sql("SELECT sampled, collapsed FROM run_details").to_numpy().tolist() == [["100/50000", None]]


def test_runs_of_one_sample_are_compared_and_marked(sampled: nt.Tracker) -> None:
    assert TOLD in sampled.compare("one", "same", dataset="shop").notes
    assert TOLD in sampled.gate("same", baseline="one", dataset="shop", scope="set").notes


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize(
    ("other", "message"),
    [
        (
            "drawn again",
            "runs 'one' and 'drawn again' rank different sampled items (100/50000); draw the sample once, and rank "
            "it in both; ideally, rank all items",
        ),
        (
            "smaller",
            "items are ranked among 100/50000 sampled ones in run 'one', and among 50/50000 sampled ones in run "
            "'smaller': the easier task has the higher metric; rank the same items in both, ideally all items",
        ),
        (
            "whole",
            "items are ranked among 100/50000 sampled ones in run 'one', and among all items in run 'whole': the "
            "easier task has the higher metric; rank the same items in both, ideally all items",
        ),
    ],
)
def test_other_samples_are_not_compared(sampled: nt.Tracker, other: str, message: str) -> None:
    for refused in (
        refusal_of(NotComparableError, sampled.compare, "one", other, dataset="shop"),
        refusal_of(NotComparableError, sampled.gate, other, baseline="one", dataset="shop", scope="set"),
        refusal_of(NotComparableError, sampled.explain, "one", other, dataset="shop"),
        refusal_of(NotComparableError, sampled.leaderboard, "one", other, metrics="ndcg@10", dataset="shop"),
    ):
        assert refused == message


def test_a_leaderboard_is_of_one_sample(sampled: nt.Tracker) -> None:
    board = sampled.leaderboard(dataset="shop", metrics="ndcg@10")
    assert set(board.to_frame()["run"]) == {"one", "same"}
    assert board.notes[:2] == (
        "left out: 3 runs, such as drawn again, whose items are not ranked among the same sample of 100/50000",
        TOLD,
    )


def test_a_leaderboard_of_two_samples_has_one_run_of_each(tracker: nt.Tracker) -> None:
    tracker.ingest(BM25, name="one", sampled="100/50000", **HERE)
    tracker.ingest(DENSE, name="whole", **HERE)
    assert refusal_of(ReferenceNotFoundError, tracker.leaderboard, dataset="shop", metrics="ndcg@10") == (
        "a leaderboard needs two runs or more with ndcg@10 and the same items, but there is 1; see the runs with: "
        "ndcg-track runs list"
    )


def test_a_history_has_no_step_between_samples(sampled: nt.Tracker) -> None:
    history = sampled.history("ndcg@10", dataset="shop")
    assert history["delta"].notna().tolist() == [False, True, False, False, False]
    with sampled.store().read() as tx:
        notes = in_words(history_of(tx, "shop", "ndcg@10", HistoryFilter()).notes)
    assert any(
        note.startswith("of 5 runs, 3 (such as one) rank 100/50000 sampled items and 1 (such as smaller) rank 50/50000")
        for note in notes
    )


def test_a_sample_is_corrected_with_replace(tracker: nt.Tracker) -> None:
    tracker.ingest(BM25, name="one", **HERE)
    assert refusal_of(ConflictError, tracker.ingest, BM25, name="one", sampled="9/10", **HERE) == (
        "run 'one' is stored with all its items, not as a sample of 9/10; correct it with replace=True"
    )
    tracker.ingest(BM25, name="one", sampled="9/10", replace=True, **HERE)
    tracker.ingest(OTHER, name="same", sampled="9/10", **HERE)
    assert tracker.compare("one", "same", dataset="shop").notes


@pytest.mark.parametrize("text", ["100", "0/5", "5/5", "1e2/5e4", "-1/5", 100])
def test_what_is_no_sample(tracker: nt.Tracker, text: object) -> None:
    assert refusal_of(nt.InputError, tracker.ingest, BM25, name="one", sampled=text, **HERE) == (
        f"sampled={'100' if text in ('100', 100) else repr(text)} does not say how many negatives of how many; "
        "write the number of sampled negatives and of all, such as sampled='100/50000'"
    )


def test_the_chance_of_an_item_that_is_not_in_the_first_ten() -> None:
    facts = sampled_note("100/100000").facts
    assert (facts["rank"], facts["chance"]) == (5000, pytest.approx(0.9718, abs=1e-4))


def test_documents_in_the_place_of_chunks_are_told(tracker: nt.Tracker) -> None:
    of_chunks = {"item_to_document": "#.*", "labels": {"q": {"a": 1}, "r": {"c": 1}}}
    tracker.ingest(CHUNKS, name="chunks", collapse="sum", **of_chunks)
    tracker.ingest({"q": {"b": 3.0, "a": 2.0}, "r": {"c": 1.0}}, name="whole")
    shown = tracker.show("chunks")
    assert (shown.collapsed, shown.documents_in_ten, shown.n_items) == ("sum", 1.5, 3)
    assert tracker.compare("chunks", "whole").notes[0] == (
        "documents are ranked instead of their chunks: 1.5 distinct documents in the first ten of chunks; whole has no "
        "chunks"
    )
    tracker.ingest(CHUNKS, name="best", collapse="max", **of_chunks)
    assert (
        tracker.compare("chunks", "best")
        .notes[0]
        .endswith(
            "of best; the runs compute the scores of documents from their chunks in different ways (sum in chunks, "
            "max in best)"
        )
    )


def test_the_best_of_several_samples_is_refused(sampled: nt.Tracker) -> None:
    assert refusal_of(NotComparableError, sampled.best, "ndcg@10", dataset="shop") == (
        "runs 'one' and 'drawn again' rank different sampled items (100/50000); draw the sample once, and rank it in "
        "both; ideally, rank all items"
    )


def test_an_export_keeps_the_sample(tracker: nt.Tracker, tmp_path: Path) -> None:
    tracker.ingest(BM25, name="one", sampled="100/50000", **HERE)
    tracker.export_runs(tmp_path / "out", ["one"], dataset="shop")
    with nt.Tracker(tmp_path / "other.db") as other:
        other.ingest(BM25, name="one", **HERE)
        assert refusal_of(ConflictError, other.import_runs, tmp_path / "out") == (
            "run 'one' of dataset 'shop' is already stored with other content; import into dataset='NEW', or rename "
            "the run here with: ndcg-track runs rename one NEW"
        )
        other.ingest(BM25, name="one", sampled="100/50000", replace=True, **HERE)
        assert [run.outcome for run in other.import_runs(tmp_path / "out").runs] == ["already stored"]
        other.ingest(BM25, name="one", **HERE)
    runs = tmp_path / "out" / "runs.parquet"
    pq.write_table(with_column("sampled", first_value("few"))(pq.read_table(runs)), runs)
    with nt.Tracker(tmp_path / "third.db") as third:
        assert refusal_of(nt.InputError, third.import_runs, tmp_path / "out") == (
            f"{runs}: row 1 has a wrong sampled: sampled='few' does not say how many negatives of how many; write the "
            "number of sampled negatives and of all, such as sampled='100/50000'; export the runs again"
        )


def test_labels_of_chunks_alone(tracker: nt.Tracker) -> None:
    labels = {"q": {"a#1": 2, "a#2": 0, "b": 1}}
    tracker.add_labels(labels, dataset="chunks", item_to_document="#.*")
    stored = tracker.sql("SELECT item_key, grade FROM labels ORDER BY item_key").to_numpy().tolist()
    assert stored == [["a", 2.0], ["b", 1.0]]


def test_an_export_keeps_what_is_ranked(tracker: nt.Tracker, tmp_path: Path) -> None:
    of_run = {"item_to_document": "#.*", "labels": {"q": {"a": 1}, "r": {"c": 1}}, "sampled": "100/50000"}
    tracker.ingest(CHUNKS, name="chunks", collapse="first", **of_run)
    kept = "SELECT sampled, collapsed, documents_in_ten FROM run_details"
    tracker.export_runs(tmp_path / "out", ["chunks"])
    with nt.Tracker(str(tmp_path / "other.db")) as other:
        other.import_runs(tmp_path / "out")
        assert other.sql(kept).to_numpy().tolist() == [["100/50000", "first", 1.5]]
        assert other.sql(kept).equals(tracker.sql(kept))
