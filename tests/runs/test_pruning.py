"""Old runs without their items, and without their group results: what stays, what says so, and how they come back."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from refused import refusal_of
from small_shop import BM25, DENSE, LABELS, frame_of, labels_frame
from stored_rows import row_counts

import ndcg_tracker as nt
from ndcg_tracker.runs.prune import moment_before
from ndcg_tracker.storage import database, store

RUNS = {
    "january": BM25,
    "february": {**DENSE, "new": {"x": 1.0}},
    "march": {group: items for group, items in BM25.items() if group != next(iter(BM25))},
    "april": DENSE,
    "may": {**BM25, "may": {"x": 1.0}},
}


def fill(url: str) -> None:
    with nt.Tracker(url) as tracker:
        for month, (name, run) in enumerate(RUNS.items(), start=1):
            tags = {"release": "1.0"} if name == "april" else {}
            at = f"2025-{month:02d}-01"
            metrics = ["ndcg@10", "P@2"]
            tracker.ingest(frame_of(run), name=name, labels=labels_frame(), metrics=metrics, tags=tags, created_at=at)


@pytest.fixture
def shop(fill_as: Callable[[Callable[[str], object]], None], tracker: nt.Tracker) -> nt.Tracker:
    """A run per month of 2025; April's has a tag."""
    fill_as(fill)
    return tracker


def pruned(tracker: nt.Tracker, **options: Any) -> list[str]:
    return [run.run for run in tracker.prune("2025-05-01", **options).runs]


def test_which_runs_are_old_and_kept(shop: nt.Tracker, ready_url: str) -> None:
    before = row_counts(ready_url)
    assert pruned(shop) == ["january", "february", "march", "april"]
    assert pruned(shop, keep_tags="release") == pruned(shop, keep_tags=["release=1.0", "x"])
    assert pruned(shop, keep_tags="release") == ["january", "february", "march"]
    assert pruned(shop, keep_tags="release=2.0") == ["january", "february", "march", "april"]
    shop.set_alias("prod", "january")
    shop.set_alias("prod", "march")
    assert pruned(shop) == ["january", "february", "april"]
    assert pruned(shop, keep_alias=True) == ["february", "april"]
    shop.gate("may", baseline="@prod", margin=0.9, dry_run=True, missing="zero")
    assert pruned(shop) == ["january", "february", "april"]
    shop.gate("april", baseline="february", margin=0.9, missing="zero")
    assert pruned(shop) == ["january"]
    assert pruned(shop, dataset="default", keep_alias=True) == []
    assert [run.run for run in shop.prune("1w").runs] == ["january", "may"]
    moves = {"aliases": 1, "alias_moves": 2, "decisions": 1}
    assert row_counts(ready_url) == {**before, **moves}  # nothing is deleted unless it is asked for


def test_means_and_group_results_stay(shop: nt.Tracker, ready_url: str) -> None:
    results = "run, run_id, group_key, metric, label_set_version, value, created_at, is_newest_labels, weight"
    views = [f"SELECT {results} FROM group_history ORDER BY 1, 2, 3, 4, 5"]
    views += [f"SELECT * FROM {name} ORDER BY 1, 2, 3, 4, 5" for name in ("run_summary", "group_diff")]
    before = [shop.query(view).rows for view in views]
    expected = shop.prune("2025-03-01")
    found = shop.prune("2025-03-01", apply=True)
    assert (found.runs, found.is_applied, expected.is_applied) == (expected.runs, True, False)
    assert [(run.n_items, run.n_results, run.n_bytes > 0) for run in found.runs] == [
        (shop.run(name)[0].n_items, 0, True) for name in ("january", "february")
    ]
    assert [shop.query(view).rows for view in views] == before
    assert shop.query("SELECT DISTINCT run FROM items ORDER BY run").rows == [("april",), ("march",), ("may",)]
    dated = shop.query("SELECT run, pruned_at_utc FROM run_details ORDER BY created_at_utc").rows
    assert [at is not None for _, at in dated] == [True, True, False, False, False]
    assert database.check(ready_url) == []
    assert pruned(shop) == ["march", "april"]  # what is gone is gone
    assert shop.prune("2025-03-01", apply=True).runs == ()


def test_comparing_and_history_need_no_items(shop: nt.Tracker) -> None:
    def told(**options: Any) -> tuple[Any, list[str]]:
        found = shop.compare("march", "january", missing="zero", **options).to_dict()
        return found["metrics"], [note for note in found["notes"] if "pruned" in note]

    before = told()[0]
    shares = [metric.pop("judged") for metric in before]
    for metric in before:
        assert metric.pop("unjudged")["n_items"], "which only items can tell"
        assert metric.pop("open") in (None, "unjudged")
        assert metric.pop("is_open") in (False, True)
    history = shop.history("ndcg@10")
    shop.prune("2025-04-01", apply=True)
    after, notes = told()
    assert not any(metric.pop("is_open") or metric.pop("open") for metric in after)
    assert [metric.pop("judged").keys() for metric in after] == [share.keys() for share in shares]
    assert after == before
    assert [note.split(" at ")[0] for note in notes] == ["run 'march' was pruned", "run 'january' was pruned"]
    assert notes[0].endswith(": its items are gone, so none are shown")
    assert shop.history("ndcg@10").equals(history)


def test_a_report_shows_the_values_and_says_that_the_lists_were_pruned(shop: nt.Tracker) -> None:
    shop.prune("2025-02-01", apply=True)
    found = shop.report("january", "april")
    pair = found.report.pairs[0]
    assert (len(pair.groups.keys), pair.lists, pair.at_cutoffs) == (len(BM25), (), ())
    page = found.to_html()
    at = shop.show("january").pruned_at_utc
    told = (
        f"Lists were pruned: run &#39;january&#39; was pruned at {at}: its items are gone, so none are shown; to see "
        "them, ingest its file again under the same name."
    )
    assert told in page
    assert '<pre hidden><code data-part="command">' in page
    kept = shop.report("may", "april", missing="zero")
    assert kept.report.pairs[0].lists
    assert "Lists were pruned" not in kept.to_html()
    assert "<pre hidden>" not in kept.to_html()


def test_what_needs_the_items_says_that_they_are_gone(shop: nt.Tracker, tmp_path: Path) -> None:
    shop.prune("2025-02-01", apply=True)
    at = shop.show("january").pruned_at_utc
    line = (
        f"run 'january' was pruned at {at}: its items are gone; to restore them, ingest its file again under the same "
        "name"
    )
    group = next(iter(LABELS))
    assert refusal_of(nt.InputError, shop.rescore, ["january"], metrics="dcg@5") == line
    assert refusal_of(nt.InputError, shop.explain, "january", "march") == line
    assert refusal_of(nt.InputError, shop.explain, "march", "january", group=group) == line
    assert refusal_of(nt.InputError, shop.conventions, "january") == line
    assert refusal_of(nt.InputError, shop.export_runs, tmp_path / "one", ["may", "january"]) == line
    assert not (tmp_path / "one").exists()
    done = shop.rescore(metrics="dcg@5")
    assert [(one.run, len(one.metrics), one.pruned_at_utc) for one in done][:2] == [
        ("january", 0, at),
        ("february", 1, None),
    ]
    assert shop.export_runs(tmp_path / "all").n_runs == 5  # as it is, without its items


def test_only_summaries(shop: nt.Tracker, ready_url: str) -> None:
    means = shop.query("SELECT * FROM run_summary ORDER BY run, metric").rows
    shop.prune("2025-02-01", apply=True)
    found = shop.prune("2025-03-01", summaries_only=True, apply=True).runs
    assert [(run.run, run.n_items > 0, run.n_results > 0) for run in found] == [
        ("january", False, True),
        ("february", True, True),
    ]
    assert shop.query("SELECT * FROM run_summary ORDER BY run, metric").rows == means
    assert shop.query("SELECT DISTINCT run FROM group_history ORDER BY 1").rows == [("april",), ("march",), ("may",)]
    assert database.check(ready_url) == []
    at = shop.show("january").pruned_at_utc
    assert refusal_of(nt.InputError, shop.compare, "march", "january", missing="zero") == (
        f"run 'january' was pruned at {at}: its items and group results are gone; to restore them, ingest its file "
        "again under the same name"
    )
    gated = refusal_of(nt.InputError, shop.gate, "march", baseline="january", margin=0.1, missing="zero")
    assert gated.startswith("run 'january' was pruned")
    history = shop.history("ndcg@10")
    assert list(history["run"]) == list(RUNS)
    assert history["delta"].notna().tolist() == [False, False, False, True, True]
    assert (
        "2 runs have no group results here, only means: not compared with the runs before and after"
        in shop.history_report("ndcg@10").notes
    )
    assert shop.prune("2025-03-01", apply=True).runs == ()  # less is gone already


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("summaries_only", [False, True])
@pytest.mark.parametrize("way", ["ingest", "replace"])
def test_what_was_pruned_comes_back(shop: nt.Tracker, ready_url: str, way: str, summaries_only: bool) -> None:
    names = ("run_summary", "group_history", "items", "run_details")
    views = [f"SELECT * FROM {name} ORDER BY 1, 2, 3, 4, 5" for name in names]
    before, counts = [shop.query(view).rows for view in views], row_counts(ready_url)
    shop.prune("2025-04-01", summaries_only=summaries_only, apply=True)
    assert [shop.query(view).rows for view in views] != before
    for name, run in RUNS.items():
        labels = labels_frame()
        found = shop.ingest(frame_of(run), name=name, labels=labels, replace=way == "replace")
        assert found.outcome == ("restored" if name in ("january", "february", "march") else "already stored")
    assert [shop.query(view).rows for view in views] == before
    assert row_counts(ready_url) == counts
    assert database.check(ready_url) == []


def test_other_content_does_not_restore(shop: nt.Tracker, ready_url: str) -> None:
    shop.prune("2025-02-01", apply=True)
    before = row_counts(ready_url)
    with pytest.raises(nt.ConflictError, match="is already stored with other content"):
        shop.ingest(frame_of(DENSE), name="january", labels=labels_frame())
    assert row_counts(ready_url) == before
    assert shop.ingest(frame_of(DENSE), name="january", labels=labels_frame(), replace=True).outcome == "replaced"
    assert shop.show("january").pruned_at_utc is None


def test_a_pruned_run_is_deleted_like_any(shop: nt.Tracker, ready_url: str) -> None:
    shop.prune("2025-04-01", apply=True)
    assert [run.name for run in shop.delete_runs(["january", 2, "february", "mar"])] == ["january", "february", "march"]
    assert row_counts(ready_url)["prunings"] == 0
    assert database.check(ready_url) == []
    shop.set_alias("prod", "may")
    assert refusal_of(nt.InputError, shop.delete_runs, ["april", "may"]).startswith("run 'may' has the alias @prod")
    assert [run.name for run in shop.runs()] == ["april", "may"]  # all or none


def test_a_list_that_is_missing_from_a_run_that_was_not_pruned_is_damage(shop: nt.Tracker, ready_url: str) -> None:
    shop.prune("2025-02-01", apply=True)
    with store.Store.open(ready_url) as opened, opened.write() as tx:
        tx._session.connection.exec_driver_sql("DELETE FROM prunings")
    assert database.check(ready_url) == ["1 runs without all their lists"]


def test_ages() -> None:
    now = datetime(2026, 3, 31, 12, tzinfo=UTC)
    assert moment_before("90d", now) == "2025-12-31T12:00:00.000000Z"
    assert moment_before(timedelta(hours=1), now) == "2026-03-31T11:00:00.000000Z"
    assert moment_before("2026-01-31T09:00+01:00") == "2026-01-31T08:00:00.000000Z"
    for wrong in ("3 months", "-1d", "999999d"):
        assert refusal_of(nt.InputError, moment_before, wrong, now) == (
            f"older_than={wrong!r} is not an age; write 90d, 12w or a date such as 2026-01-31"
        )


def test_results_under_old_labels(shop: nt.Tracker, ready_url: str) -> None:
    versions = 5
    for grade in range(2, versions + 1):
        shop.add_labels({group: dict.fromkeys(items, grade) for group, items in LABELS.items()})
        shop.rescore() if grade != 3 else shop.rescore("april")  # the others never get version 3
    kept = "SELECT DISTINCT label_set_version FROM {} ORDER BY 1"
    assert shop.query(kept.format("run_summary")).rows == [(version,) for version in range(1, versions + 1)]
    newest = f"SELECT * FROM group_history WHERE label_set_version = {versions} ORDER BY run_id, metric, group_key"
    before, compared = shop.query(newest).rows, shop.compare("april", "january", missing="zero").to_dict()
    history = shop.history("ndcg@10")
    decided = shop.gate("april", baseline="february", margin=0.9, missing="zero")
    counts = row_counts(ready_url)
    found = shop.prune(results_of_old_labels=True)
    assert (row_counts(ready_url), found.is_applied) == (counts, False)
    assert [run.run for run in found.runs] == list(RUNS)
    assert {(run.n_items, run.n_results > 0, run.n_bytes > 0) for run in found.runs} == {(0, True, True)}
    assert shop.prune(results_of_old_labels=True, apply=True).runs == found.runs
    for view in ("run_summary", "group_history", "label_coverage"):
        assert shop.query(kept.format(view)).rows == [(versions,)]
    assert shop.query(newest).rows == before
    assert shop.compare("april", "january", missing="zero").to_dict() == compared
    assert shop.history("ndcg@10").equals(history[history["label_set_version"] == versions].reset_index(drop=True))
    ((reason,),) = shop.query("SELECT reason FROM gate_decisions").rows
    assert reason == decided.reason
    assert database.check(ready_url) == []
    assert shop.prune(results_of_old_labels=True, apply=True).runs == ()
    shop.rescore("april", labels=2)
    assert ("april", 2) in shop.query("SELECT DISTINCT run, label_set_version FROM run_summary").rows


def test_labels_that_a_run_has_last_are_not_old(shop: nt.Tracker) -> None:
    for grade in (2, 3):
        shop.add_labels({group: dict.fromkeys(items, grade) for group, items in LABELS.items()})
        shop.rescore(["april", "may"])
    shop.prune(results_of_old_labels=True, apply=True)
    rows = shop.query("SELECT DISTINCT run, label_set_version FROM run_summary ORDER BY 1, 2").rows
    assert rows == [("april", 1), ("april", 3), ("february", 1), ("january", 1), ("march", 1), ("may", 1), ("may", 3)]


def test_what_to_prune_is_said_once(shop: nt.Tracker) -> None:
    either = "give older_than='90d' or results_of_old_labels=True"
    assert refusal_of(nt.InputError, shop.prune) == (
        f"runs prune needs older_than= or results_of_old_labels=: it deletes only what is named; {either}"
    )
    assert refusal_of(nt.InputError, shop.prune, "1w", results_of_old_labels=True) == (
        f"older_than= does not go with results_of_old_labels=: labels are old by their version; {either}"
    )
