"""References, aliases, names, tags, and the end of a run."""

from collections.abc import Callable
from datetime import datetime
from itertools import pairwise

import pytest
from refused import refusal_of
from small_shop import BM25, DENSE, frame_of, labels_frame
from stored_rows import row_counts

import ndcg_tracker as nt


def fill_shop(url: str) -> None:
    with nt.Tracker(url) as tracker:
        tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame(), tags={"stage": "old", "by": "me"})
        tracker.ingest(frame_of(DENSE), name="dense-a")
        tracker.ingest(frame_of({**DENSE, "q9": {"x": 1.0}}), name="dense-b")


@pytest.fixture
def shop(fill_as: Callable[[Callable[[str], object]], None], tracker: nt.Tracker) -> nt.Tracker:
    """Three runs, the third named like the id of another."""
    fill_as(fill_shop)
    return tracker


def test_references(shop: nt.Tracker) -> None:
    shop.set_alias("prod", "dense-a")
    names = {
        "bm25": "bm25",
        "1": "bm25",
        "2": "dense-a",
        "@prod": "dense-a",
        "latest": "dense-b",
        "latest~0": "dense-b",
        "latest~1": "dense-a",
        "latest~2": "bm25",
        "b": "bm25",
        "dense-b": "dense-b",
    }
    assert {reference: shop.run(reference)[0].name for reference in names} == names


def test_references_to_nothing_or_to_too_much(shop: nt.Tracker) -> None:
    messages = {
        "dense": "'dense' matches several runs (dense-a, dense-b); give more of the name",
        "bm52": "no run 'bm52'; did you mean 'bm25'?",
        "zzz": "no run 'zzz'; there are bm25, dense-a, dense-b",
        "9": "no run '9'; there are bm25, dense-a, dense-b",
        "@prod": "no alias '@prod'; create it with: ndcg-track alias set prod RUN",
        "latest~3": "no run 'latest~3': there are only 3 runs; go back fewer steps",
    }
    assert {text: refusal_of(nt.ReferenceNotFoundError, shop.run, text) for text in messages} == messages


def test_a_name_in_several_datasets_needs_the_dataset(shop: nt.Tracker) -> None:
    shop.ingest(frame_of(BM25), name="bm25", dataset="site", labels=labels_frame())
    assert refusal_of(nt.ReferenceNotFoundError, shop.run, "bm25") == (
        "run 'bm25' exists in several datasets (default, site); choose with dataset="
    )
    assert shop.run("bm25", "site")[0].dataset == "site"
    assert shop.run("latest", "default")[0].name == "dense-b"
    assert refusal_of(nt.ReferenceNotFoundError, shop.run, "bm25", "sites") == (
        "no dataset 'sites'; did you mean 'site'?"
    )


def test_questions_about_an_unknown_dataset_are_refused(shop: nt.Tracker) -> None:
    for question in (shop.runs, shop.aliases):
        assert refusal_of(nt.ReferenceNotFoundError, question, "shop") == (
            "no dataset 'shop'; there is only 'default': name it with dataset='default'"
        )


def test_an_alias_moves_from_run_to_run(shop: nt.Tracker) -> None:
    assert shop.set_alias("@prod", "bm25").name == "bm25"
    assert shop.set_alias("prod", "latest").name == "dense-b"
    (alias,) = shop.aliases()
    assert (alias.name, alias.run, alias.dataset) == ("prod", "dense-b", "default")
    assert shop.aliases("default") == [alias]
    assert shop.delete_alias("@prod") == alias
    assert shop.aliases() == []


def test_names_that_no_alias_may_have(shop: nt.Tracker) -> None:
    messages = {
        "": "the name of an alias is empty; give it a name",
        "@@x": "alias '@x': a name does not begin with @; give it without the @",
        "a\tb": "alias 'a\\tb': a name has no control characters or line breaks; give another one",
    }
    assert {alias: refusal_of(nt.InputError, shop.set_alias, alias, "bm25") for alias in messages} == messages


def test_deleting_an_alias_that_is_not_there_or_is_ambiguous(shop: nt.Tracker) -> None:
    assert refusal_of(nt.ReferenceNotFoundError, shop.delete_alias, "prod") == (
        "no alias '@prod'; create it with: ndcg-track alias set prod RUN"
    )
    shop.ingest(frame_of(BM25), name="bm25", dataset="site", labels=labels_frame())
    shop.set_alias("prod", "bm25", "default")
    shop.set_alias("prod", "bm25", "site")
    assert refusal_of(nt.ReferenceNotFoundError, shop.delete_alias, "x") == "no alias '@x'; the aliases are: @prod"
    assert refusal_of(nt.ReferenceNotFoundError, shop.delete_alias, "prod") == (
        "alias '@prod' exists in several datasets (default, site); choose with dataset="
    )
    assert refusal_of(nt.ReferenceNotFoundError, shop.run, "@prod") == (
        "alias '@prod' exists in several datasets (default, site); choose with dataset="
    )
    assert shop.delete_alias("prod", "site").dataset == "site"
    assert [alias.dataset for alias in shop.aliases()] == ["default"]


def test_a_run_gets_another_name(shop: nt.Tracker) -> None:
    shop.set_alias("prod", "bm25")
    before = shop.rename_run("@prod", "bm25 (k1=0.9)")
    assert (before.name, shop.run("bm25 (k1=0.9)")[0].id) == ("bm25", before.id)
    assert shop.aliases()[0].run == "bm25 (k1=0.9)"
    assert shop.rename_run("latest", "dense-b").name == "dense-b"


def test_a_name_that_is_taken_or_none(shop: nt.Tracker) -> None:
    assert refusal_of(nt.ConflictError, shop.rename_run, "bm25", "dense-a").startswith(
        "run 'dense-a' exists already in dataset 'default' (id 2); choose another name"
    )
    assert refusal_of(nt.InputError, shop.rename_run, "bm25", "@prod").startswith(
        "run '@prod': a name does not begin with @"
    )
    assert refusal_of(nt.InputError, shop.rename_run, "bm25", "") == "the name of a run is empty; give it a name"
    assert shop.run("1")[0].name == "bm25"


def test_tags_come_and_go(shop: nt.Tracker) -> None:
    assert shop.tag_run("bm25", {"stage": "new", "k": "v"}, remove=["by", "unknown"]) == {"stage": "new", "k": "v"}
    assert shop.run("bm25")[0].tags == {"stage": "new", "k": "v"}
    assert shop.tag_run("bm25", {}) == {"stage": "new", "k": "v"}


def test_deleting_a_run_takes_all_that_is_its_own(shop: nt.Tracker, ready_url: str) -> None:
    shop.rescore(metrics=["dcg@3"])
    assert shop.delete_run("dense-a").name == "dense-a"
    assert [run.name for run in shop.runs()] == ["bm25", "dense-b"]
    shop.delete_run("bm25")
    shop.delete_run("dense-b")
    left = {name: count for name, count in row_counts(ready_url).items() if count}
    left.pop("ndcg_tracker_version")
    assert left == {"datasets": 1, "groups": 6, "label_lists": 5, "label_sets": 1, "metrics": 2}


def test_a_run_is_not_deleted_while_an_alias_stands_for_it(shop: nt.Tracker, ready_url: str) -> None:
    shop.set_alias("prod", "bm25")
    shop.set_alias("best", "bm25")
    before = row_counts(ready_url)
    assert refusal_of(nt.ConflictError, shop.delete_run, "bm25") == (
        "run 'bm25' has the alias @best, @prod; point the alias to another run first, with: "
        "ndcg-track alias set best RUN"
    )
    assert row_counts(ready_url) == before


def test_an_id_is_never_taken_for_a_name(shop: nt.Tracker) -> None:
    shop.rename_run("dense-b", "1")
    assert shop.run("1")[0].id == 3
    assert shop.delete_run(1).name == "bm25"
    assert refusal_of(nt.ReferenceNotFoundError, shop.delete_run, 1) == (
        "no run with id 1; list all with: ndcg-track runs list"
    )


def test_runs_are_in_the_order_of_their_dates(tracker: nt.Tracker) -> None:
    """Not of their numbers; where the dates are the same, of their numbers."""
    for name, created_at in (
        ("third", "2026-03-01T02:00+02:00"),
        ("first", datetime(2026, 1, 1)),
        ("fourth", "2026-03-01"),
        ("second", "2026-02-01"),
        ("fifth", "2026-03-01"),
    ):
        run = {**BM25, name: {"x": 1.0}}
        tracker.ingest(frame_of(run), name=name, labels=labels_frame(), created_at=created_at)
    order = ["first", "second", "third", "fourth", "fifth"]
    assert [run.name for run in tracker.runs()] == order
    assert [run.created_at_utc for run in tracker.runs()][:2] == [
        "2026-01-01T00:00:00.000000Z",
        "2026-02-01T00:00:00.000000Z",
    ]
    assert [tracker.run(reference)[0].name for reference in ("latest", "latest~1", "latest~4")] == [
        "fifth",
        "fourth",
        "first",
    ]
    assert list(tracker.history("ndcg@10")["run"]) == order
    assert [row for (row,) in tracker.query("SELECT run FROM run_list ORDER BY place DESC").rows] == order
    pairs = tracker.query(
        "SELECT DISTINCT baseline, run FROM run_regressions WHERE against = 'previous' ORDER BY baseline, run"
    ).rows
    assert pairs == sorted(pairwise(order))
    tracker.ingest(frame_of({**BM25, "first": {"x": 1.0}}), name="first", created_at="2030-01-01")
    assert tracker.run("latest")[0].name == "fifth"  # what is stored keeps its date
