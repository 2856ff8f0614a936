"""Which rows of the views count where several differ in labels alone: each run once, however it was rescored."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from rankings_of import labels_of, ranking_of

from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.storage.database import upgrade
from ndcg_tracker.storage.records import EXTERNAL_JUDGE, NO_LABELS_HERE, SUMMED_JUDGE, LabelOrigin
from ndcg_tracker.storage.store import Store, WriteTransaction

RUN = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0}}
NIGHTS = [f"night {number}" for number in range(1, 7)]
JUDGE = "modèle 7b"
UNDER = {1: [1, 2, 3, 4, 5], 2: [1, 4, 5], 3: [3, 5, 6]}
"""The nights that were evaluated under each version of the labels; the second is of a named judge."""
EACH_ONCE = [(1, 1), (2, 1), (3, 3), (4, 1), (5, 3), (6, 3)]
"""Night and version: of each night the newest of no named judge."""


def fill(tx: WriteTransaction) -> None:
    dataset = tx.write.datasets.ensure("shop")
    runs = [
        tx.write.runs.insert(dataset.id, name, ranking_of(RUN), created_at_utc=f"2026-06-{number:02}T02:00:00.000000Z")
        for number, name in enumerate(NIGHTS, start=1)
    ]
    for version, nights in UNDER.items():
        labels = labels_of({"q1": {"a": float(version)}, "q2": {"a": 1.0}})
        label_set = tx.write.labels.insert(dataset.id, labels, LabelOrigin(judge=JUDGE if version == 2 else ""))
        for night in nights:
            tx.write.evaluations.insert_coverage(runs[night - 1].id, label_set.id, 10, 0.5)
            tx.write.evaluations.insert(
                runs[night - 1].id,
                label_set.id,
                "ndcg@10",
                mean=1.0,
                n_groups=2,
                n_missing=0,
                n_undefined=0,
                group_ids=tx.write.groups.ensure(dataset.id, Keys.from_strings(["q1", "q2"])),
                values=np.array([night / 10, 1.0]),
            )
    tx.write.aliases.set(dataset.id, "baseline", runs[2].id)


def fill_database(url: str) -> None:
    upgrade(url)
    with Store.open(url) as store, store.write() as tx:
        fill(tx)


@pytest.fixture
def rescored(fill_as: Callable[[Callable[[str], object]], None], database_url: str) -> Iterator[Store]:
    """Nights of which some were rescored, and some held to a named judge."""
    fill_as(fill_database)
    with Store.open(database_url) as store:
        yield store


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT run, label_set_version FROM run_summary WHERE is_newest_labels", EACH_ONCE),
        ("SELECT run, label_set_version FROM group_history WHERE group_key = 'q1' AND is_newest_labels", EACH_ONCE),
        ("SELECT run, label_set_version FROM label_coverage WHERE cutoff = 10 AND is_newest_labels", EACH_ONCE),
        (
            "SELECT candidate, label_set_version FROM group_diff WHERE baseline = 'night 3' AND group_key = 'q1' "
            "AND is_newest_labels",
            [(1, 1), (2, 1), (4, 1), (5, 3), (6, 3)],
        ),
        (
            "SELECT run, label_set_version FROM run_regressions WHERE against = '@baseline' AND group_key = 'q1' "
            "AND is_newest_labels",
            [(1, 1), (2, 1), (4, 1), (5, 3), (6, 3)],
        ),
    ],
    ids=["run_summary", "group_history", "label_coverage", "group_diff", "run_regressions"],
)
def test_each_run_counts_once(rescored: Store, query: str, expected: list[tuple[int, int]]) -> None:
    rows = rescored.query(f"{query} ORDER BY 1").rows
    assert rows == [(NIGHTS[night - 1], version) for night, version in expected]


def test_a_night_is_held_against_the_one_before_it(rescored: Store) -> None:
    """Under the newest labels the fifth night would be held against the third: the others were not rescored."""
    query = (
        "SELECT run, baseline, label_set_version, delta FROM run_regressions WHERE against = 'previous' "
        "AND group_key = 'q1'{} ORDER BY 1, 3"
    )
    expected = [(2, 1, 1), (3, 2, 1), (4, 3, 1), (5, 4, 1), (6, 5, 3)]
    assert rescored.query(query.format(" AND is_newest_labels")).rows == [
        (NIGHTS[run - 1], NIGHTS[baseline - 1], version, pytest.approx(0.1)) for run, baseline, version in expected
    ]
    every = [(run, version) for run, _, version, _ in rescored.query(query.format("")).rows]
    assert len(every) == len(set(every)) == 4 + 2 + 2


def test_labels_of_a_judge_count_where_it_is_named(rescored: Store) -> None:
    for query in (
        "SELECT DISTINCT label_set_version, judge FROM {} WHERE NOT is_newest_labels AND label_set_version = 2",
        f"SELECT DISTINCT label_set_version, judge FROM {{}} WHERE judge = '{JUDGE}'",
    ):
        for view in ("run_summary", "group_history", "group_diff", "label_coverage", "run_regressions", "labels"):
            assert rescored.query(query.format(view)).rows == [(2, JUDGE)], view
    newest = rescored.query("SELECT label_set_version, group_key, grade FROM labels WHERE is_newest_labels").rows
    assert sorted(newest) == [(3, "q1", 3.0), (3, "q2", 1.0)]


def test_a_truth_value_is_the_same_on_both_engines(rescored: Store) -> None:
    counts = rescored.query(
        "SELECT is_newest_labels, count(*) FROM run_summary WHERE judge = '' GROUP BY is_newest_labels ORDER BY 1"
    ).rows
    assert counts == [(0, 2), (1, 6)]


def test_results_of_other_engines_count(rescored: Store) -> None:
    """They come under labels of their own, and are no labels of a named judge."""
    assert NO_LABELS_HERE == (EXTERNAL_JUDGE, SUMMED_JUDGE)
    for number, judge in enumerate((EXTERNAL_JUDGE, SUMMED_JUDGE)):
        with rescored.write() as tx:
            dataset_id = tx.datasets.known("shop").id
            tx.write.labels.insert(dataset_id, labels_of({"q1": {"a": 9.0 + number}}), LabelOrigin(judge=judge))
            (night,) = (run for run in tx.runs.all("shop") if run.name == NIGHTS[0])
            label_set = tx.labels.newest(dataset_id, judge)
            assert label_set is not None
            tx.write.evaluations.insert(
                night.id,
                label_set.id,
                f"engine(ndcg@{number + 1})",
                mean=1.0,
                n_groups=1,
                n_missing=0,
                n_undefined=0,
                group_ids=tx.write.groups.ensure(dataset_id, Keys.from_strings(["q1"])),
                values=np.ones(1),
            )
    shown = rescored.query("SELECT judge FROM run_summary WHERE metric LIKE 'engine%' AND is_newest_labels").rows
    assert sorted(shown) == [(EXTERNAL_JUDGE,), (SUMMED_JUDGE,)]
    assert rescored.query("SELECT DISTINCT label_set_version FROM labels WHERE is_newest_labels").rows == [(3,)]
