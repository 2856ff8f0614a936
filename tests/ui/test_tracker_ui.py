"""What the pages of the ui show, as facts: the same on both engines."""

from collections.abc import Callable, Iterator

import pytest
from small_shop import BM25, DENSE, frame_of, labels_frame

from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.compare.gather import CompareOptions, compared
from ndcg_tracker.errors import ReferenceNotFoundError
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.history.gather import HistoryFilter, history_of
from ndcg_tracker.runs.groups import group_id
from ndcg_tracker.storage.records import DatasetCounts, DatasetRecord, MetricUse
from ndcg_tracker.storage.store import ReadTransaction
from ndcg_tracker.ui.overviews import (
    GroupsAsked,
    against_baseline,
    datasets_overview,
    group_over_time,
    groups_listed,
    runs_overview,
    usual_metric,
)
from ndcg_tracker.ui.pages import labels
from ndcg_tracker.ui.rendering import Question


def fill(url: str) -> None:
    with Tracker(url) as tracker:
        shop = {"dataset": "shop", "metrics": ["ndcg@10", "p@5"]}
        tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame(), **shop)
        tracker.ingest(frame_of(DENSE), name="dense", labels=labels_frame(), **shop)
        tracker.ingest(
            frame_of({"Q_1%": {"a": 1.0}}), name="x", labels=labels_frame({"Q_1%": {"a": 1}}), dataset="other"
        )
        labels = {"q1": {"a": 3, "b": 1}, "q2": {"d": 2}, "q3": {"e": 1}}
        tracker.ingest(frame_of(DENSE), name="dense", labels=labels_frame(labels), **shop)
        tracker.set_alias("best", "dense", "shop")
        tracker.set_groups({"group": ["q1"], "device": ["phone"]}, dataset="shop")
        texts = {"group": ["q1", "q2", "q3", None], "item": [None, None, "e", "a"], "text": ["Cabins near Oslo"] * 4}
        tracker.add_texts({**texts, "title": [None, "near_oslo", None, None]}, dataset="shop")


@pytest.fixture
def tx(fill_as: Callable[[Callable[[str], object]], None], ready_url: str) -> Iterator[ReadTransaction]:
    """One state of a shop with two runs, whose labels have two versions; the second run has both."""
    fill_as(fill)
    with Tracker(ready_url) as tracker, tracker.store().read() as found:
        yield found


def dataset(tx: ReadTransaction, name: str = "shop") -> DatasetRecord:
    """Return a dataset that is there."""
    found = tx.datasets.named(name)
    assert found is not None
    return found


def test_datasets(tx: ReadTransaction) -> None:
    other, shop = datasets_overview(tx)
    assert (other.dataset.name, shop.dataset.name) == ("other", "shop")
    assert shop.counts == DatasetCounts(2, 5, 2)
    assert shop.metric == MetricUse("ndcg@10", "ndcg@10", 2)
    assert len(shop.means) == 2


def test_metrics_in_use(tx: ReadTransaction) -> None:
    found = tx.evaluations.metrics(dataset(tx).id)
    assert [(one.metric, one.n_runs) for one in found] == [("ndcg@10", 2), ("P@5", 2)]
    assert usual_metric(found, "P@5") == found[1]
    assert usual_metric(found[1:]) == found[1]
    assert usual_metric([]) is None
    with pytest.raises(ReferenceNotFoundError, match="no run of this dataset has the metric 'map'"):
        usual_metric(found, "map")


def test_runs_with_the_mean_under_their_newest_labels(tx: ReadTransaction) -> None:
    metric = tx.evaluations.metrics(dataset(tx).id)[0]
    records = tx.evaluations.history(dataset(tx).id, metric.metric)
    bm25, dense = runs_overview(tx, dataset(tx), metric, records)
    assert (bm25.run.name, bm25.label_set_version, list(bm25.aliases)) == ("bm25", 1, [])
    assert (dense.run.name, dense.label_set_version, list(dense.aliases)) == ("dense", 2, ["best"])
    of_dense = {
        one.label_set_version: one.mean for one in tx.evaluations.of_run(dense.run.id) if one.metric == "ndcg@10"
    }
    assert dense.mean == of_dense[2]
    assert [one.mean for one in runs_overview(tx, dataset(tx), None, [])] == [None, None]


def test_a_group_in_every_run(tx: ReadTransaction) -> None:
    shop = dataset(tx)
    found = group_over_time(tx, shop, "ndcg@10", group_id(tx, shop.id, shop.name, "q1"), "")
    assert [(one.run, one.label_set_version, round(one.value or 0.0, 4)) for one in found] == [
        ("bm25", 1, 0.5869),
        ("dense", 2, 1.0),
    ]
    gone = group_over_time(tx, shop, "ndcg@10", group_id(tx, shop.id, shop.name, "q5"), "")
    assert [(one.run, one.value is None) for one in gone] == [("bm25", False), ("dense", True)]  # unlabelled by now
    assert group_over_time(tx, shop, "map", group_id(tx, shop.id, shop.name, "q1"), "") == []
    with pytest.raises(ReferenceNotFoundError, match="no group 'Q_1%' in dataset 'shop'"):
        group_id(tx, shop.id, shop.name, "Q_1%")


def test_groups_that_are_asked_for(tx: ReadTransaction) -> None:
    shop, other = dataset(tx), dataset(tx, "other")
    newest = tx.evaluations.history(shop.id, "ndcg@10")[-1].evaluation_id

    def listed(asked: GroupsAsked, n: int = 50, first: int = 0) -> list[tuple[str, float | None]]:
        found = groups_listed(tx, shop, newest, asked, n, first)
        return [(one.key, None if one.value is None else round(one.value, 4)) for one in found.groups]

    assert [key for key, _ in listed(GroupsAsked("Q"), 2, 2)] == ["q3", "q4"]
    assert [key for key, _ in listed(GroupsAsked("Q"), 2, 8)] == ["q5"]  # after the last one
    assert groups_listed(tx, shop, newest, GroupsAsked("Q"), 2, 0).total == 5
    first = groups_listed(tx, shop, newest, GroupsAsked("q1"), 5, 0)
    assert (first.groups[0].attributes, first.groups[0].value) == ({"device": "phone"}, 1.0)
    assert listed(GroupsAsked("q5")) == [("q5", None)]
    assert [key for key, _ in listed(GroupsAsked("near oslo"))] == [
        "q1",
        "q2",
    ]  # by the text of the query, not of items
    assert listed(GroupsAsked("near_oslo")) == []
    every = listed(GroupsAsked())
    values, undefined = [value for _, value in every if value is not None], [None, None]
    assert [value for _, value in listed(GroupsAsked(order="worst"))] == [*sorted(values), *undefined]
    assert [value for _, value in listed(GroupsAsked(order="best"))] == [*sorted(values, reverse=True), *undefined]
    assert [key for key, _ in listed(GroupsAsked(where=("device=phone",)))] == ["q1"]
    assert listed(GroupsAsked(where=("device=phone", "device=tv"))) == []
    assert "phone" in first.attributes["device"]
    for text, n in (("q_1%", 1), ("_1%", 1), ("%", 1), ("q1", 0), ("\\", 0), ("", 1)):
        assert groups_listed(tx, other, None, GroupsAsked(text), 5, 0).total == n, text


def test_the_difference_to_a_baseline_is_that_of_compare(tx: ReadTransaction) -> None:
    shop = dataset(tx)
    records = tx.evaluations.history(shop.id, "ndcg@10")
    bm25, dense = (tx.runs.resolve(name, "shop").id for name in ("bm25", "dense"))
    against = against_baseline(tx, shop, "ndcg@10", records, [bm25, dense], bm25)
    options = CompareOptions(metrics=(parse_metric("ndcg@10"),), dataset="shop")
    metric = compared(tx, "bm25", ["dense"], options)[0].comparison.metrics[0]
    assert list(against) == [dense]
    assert (against[dense].delta, against[dense].found.ci) == (metric.delta, metric.ci)
    assert against[dense].found.verdict == metric.verdict
    assert against_baseline(tx, shop, "ndcg@10", records, [bm25], bm25) == {}


def test_labels(tx: ReadTransaction) -> None:
    page = str(labels(tx, Question([("dataset", "shop")])))
    versions, _, shares = page.partition("Share of ranked items")
    assert versions.index("<td>2</td>") < versions.index("<td>1</td>")
    assert ">dense</a>" in shares
    assert ">bm25</a>" not in shares  # it is not evaluated under the newest
    assert ">top 5</th>" in shares
    assert ">top 10</th>" in shares


def test_a_long_history_has_changes_but_no_steps(tx: ReadTransaction) -> None:
    short, long = (history_of(tx, "shop", "ndcg@10", HistoryFilter(), most_steps=most) for most in (2, 1))
    assert [row["mean"] for row in short.rows] == [row["mean"] for row in long.rows]
    assert all(not row["step"] and row["p_adjusted"] is None for row in long.rows)


@pytest.mark.usefixtures("postgres_schema")
def test_the_signs_of_runs_are_corrected_for_all_of_them(database_url: str) -> None:
    base = dict.fromkeys((f"q{n}" for n in range(20)), 0.5)
    gained = {group: 0.5 + (0.1 if int(group[1:]) < 15 else -0.1) for group in base}  # p = .02 alone, .08 of four
    with Tracker(database_url) as tracker:
        for name, values in (("base", base), *((f"run-{n}", gained) for n in range(4))):
            limits = {"direction": "higher", "range": (0.0, 1.0)}
            tracker.log_results(values, name=name, metric="external:ctr", dataset="shop", **limits)
        with tracker.store().read() as tx:
            shop = dataset(tx)
            metric = tx.evaluations.metrics(shop.id, "")[0].metric
            records = tx.evaluations.history(shop.id, metric)
            first, *others = (tx.runs.resolve(name, "shop").id for name in ("base", *(f"run-{n}" for n in range(4))))
            alone = against_baseline(tx, shop, metric, records, others[:1], first)
            together = against_baseline(tx, shop, metric, records, others, first)
    assert [of.found.verdict for of in alone.values()] == ["improved"]
    assert [of.found.verdict for of in together.values()] == ["no_difference_detected"] * 4
