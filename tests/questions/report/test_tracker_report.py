"""``Tracker.report``: what the page rests on agrees with compare, explain, evaluate and the gate."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rankings_of import labels_of
from small_shop import BM25, DENSE, LABELS, frame_of, labels_frame
from sums_of_items import long_labels, long_lists

import ndcg_tracker as nt
from ndcg_tracker.compare.gather import CompareOptions, compared
from ndcg_tracker.compare.results import Comparison
from ndcg_tracker.errors import InputError, ReferenceNotFoundError
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.explain.decide import GroupExplanation
from ndcg_tracker.questions.report.gather import at_cutoffs


def fill_shop(url: str) -> None:
    with nt.Tracker(url) as tracker:
        metrics = ["ndcg@10", "AP", "P@2", "ndcg(weights=group)@2", "dcg"]
        tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame(), dataset="shop", metrics=metrics)
        tracker.ingest(frame_of(DENSE), name="dense", dataset="shop", metrics=metrics)
        tracker.set_groups({"group": list(LABELS), "kind": ["a", "a", "b", "b", "b"]}, dataset="shop")


@pytest.fixture
def shop(fill_as: Callable[[Callable[[str], object]], None], tracker: nt.Tracker) -> nt.Tracker:
    """Two small runs with attributes."""
    fill_as(fill_shop)
    return tracker


def test_the_page_shows_what_compare_says(shop: nt.Tracker) -> None:
    (pair,) = shop.report("bm25", "dense").report.pairs
    (compared,) = shop.compare("bm25", "dense").comparisons
    assert pair.comparison == compared
    frame = shop.sql(
        "SELECT group_key, baseline_value, candidate_value FROM group_diff WHERE baseline = 'bm25' "
        "AND candidate = 'dense' AND metric = 'ndcg@10' ORDER BY group_key"
    )
    rows = sorted(zip(pair.groups.keys, pair.groups.baseline, pair.groups.candidate, strict=True))
    assert rows == list(frame.itertuples(index=False, name=None))
    assert pair.groups.attributes == {"kind": [{"q1": "a", "q2": "a"}.get(key, "b") for key in pair.groups.keys]}
    assert {row.about.value for row in pair.slices["kind"]} == {"a", "b"}
    by_kind: Comparison = shop.compare("bm25", "dense", by="kind").comparisons[0]
    assert pair.slices["kind"] == tuple(
        replace(row, about=replace(row.about, apart=None)) for row in by_kind.slices or ()
    )


def test_clusters_give_every_interval_of_the_page_and_are_told_first(shop: nt.Tracker) -> None:
    page = shop.report("bm25", "dense", cluster="kind")
    (pair,), (compared,) = page.report.pairs, shop.compare("bm25", "dense", cluster="kind").comparisons
    assert pair.comparison == compared
    at = pair.at_cutoffs[-1]  # as deep as the metric looks
    assert (at.delta, at.ci) == (pytest.approx(compared.metrics[0].delta), pytest.approx(compared.metrics[0].ci))
    assert "5 queries in 2 clusters by kind of shop" in page.to_html()


def test_each_cutoff_has_the_mean_of_its_metric(tracker: nt.Tracker) -> None:
    cutoffs = [1, 3, 7, 40]
    metrics = ["ndcg(unjudged=drop)@10", *(f"ndcg(unjudged=drop)@{cutoff}" for cutoff in cutoffs)]
    tracker.ingest(frame_of(long_lists(1)), name="one", labels=frame_of(long_labels(3), "label"), metrics=metrics)
    tracker.ingest(frame_of(long_lists(2)), name="other", metrics=metrics)
    (pair,) = tracker.report("one", "other", metrics=metrics[0]).report.pairs
    found = {row.cutoff: row for row in pair.at_cutoffs}
    longest = max(len(items) for seed in (1, 2) for items in long_lists(seed).values())
    assert list(found) == list(range(1, longest + 1))
    of_metric = {
        metric.metric: metric for metric in tracker.compare("one", "other", metrics=metrics).comparisons[0].metrics
    }
    for cutoff in [*cutoffs, 10]:
        expected = of_metric[f"ndcg(unjudged=drop)@{cutoff}"]
        assert (found[cutoff].baseline, found[cutoff].candidate) == pytest.approx(
            (expected.baseline, expected.candidate)
        )
        assert found[cutoff].delta == pytest.approx(expected.delta)
        assert found[cutoff].ci == pytest.approx(expected.ci)
    with tracker.store().read() as tx:
        (both,) = compared(tx, "one", ["other"], CompareOptions(metrics=(parse_metric(metrics[0]),)))
        keys = tx.groups.keys(both.both.dataset_id, both.results[0].pairing.group_ids)
        fewer = at_cutoffs(tx, both, keys, many_groups=3)
    assert [row.cutoff for row in fewer] == [1, 2, 3, 5, 7, 10, 15, 20, 30, 50]
    assert [found[row.cutoff] for row in fewer] == list(fewer)


def test_cutoffs_pair_the_groups_whatever_their_order_in_either_run(tracker: nt.Tracker) -> None:
    """A run has more groups than the other, and labels of another set of groups came first."""
    tracker.add_labels(labels_frame({"q5": {"h": 1}, "q3": LABELS["q3"]}))
    tracker.ingest(frame_of(dict(reversed(DENSE.items()))), name="dense")
    tracker.ingest(frame_of(BM25), name="bm25")
    tracker.ingest(frame_of(BM25), name="other", labels=labels_frame({key: LABELS[key] for key in ("q3", "q1", "q2")}))
    tracker.rescore(["bm25", "dense"])
    (pair,) = tracker.report("bm25", "dense").report.pairs
    (compared,) = tracker.compare("bm25", "dense").comparisons[0].metrics
    row = {row.cutoff: row for row in pair.at_cutoffs}[3]
    assert (row.delta, row.ci) == (pytest.approx(compared.delta), pytest.approx(compared.ci))


def test_the_lists_are_those_that_explain_shows(shop: nt.Tracker) -> None:
    (pair,) = shop.report("bm25", "dense").report.pairs
    changed = {key for key, delta in zip(pair.groups.keys, pair.groups.delta, strict=True) if delta}
    assert {lists.group for lists in pair.lists} == changed
    sizes = [abs(pair.groups.delta[pair.groups.keys.index(lists.group)]) for lists in pair.lists]
    assert sizes == sorted(sizes, reverse=True)
    for lists in pair.lists:
        explained = shop.explain("bm25", "dense", group=lists.group, metric="ndcg@10").explanation
        assert isinstance(explained, GroupExplanation)
        expected = {item.move.item: item.move for item in explained.items}
        assert {item.item for item in lists.items} == set(expected)
        for item in lists.items:
            move = expected[item.item]
            assert (item.grade, item.rank_baseline, item.rank_candidate) == (
                move.grade, move.rank_baseline, move.rank_candidate,
            )  # fmt: skip
            assert (item.contribution_baseline, item.contribution_candidate) == (
                move.contribution_baseline, move.contribution_candidate,
            )  # fmt: skip
        assert list(lists.ideal) == sorted(LABELS[lists.group].items(), key=lambda pair: -pair[1])


def test_long_lists_are_cut_and_say_so(tracker: nt.Tracker) -> None:
    run = {"q": {f"d{number}": float(100 - number) for number in range(100)}}
    other = {"q": {f"d{number}": float(number) for number in range(100)}}
    labels = frame_of({"q": {"d0": 1.0}}, "label")
    tracker.ingest(frame_of(run), name="one", labels=labels, metrics="ndcg")
    tracker.ingest(frame_of(other), name="other", metrics="ndcg")
    (pair,) = tracker.report("one", "other").report.pairs
    assert [len(lists.items) for lists in pair.lists] == [30]
    assert [lists.n_more for lists in pair.lists] == [70]
    assert pair.at_cutoffs == ()  # the metric has no cutoff


def test_a_metric_that_is_no_sum_has_lists_without_contributions(shop: nt.Tracker) -> None:
    (pair,) = shop.report("bm25", "dense", metrics="AP").report.pairs
    assert pair.lists_metric is None
    assert {item.contribution_baseline for lists in pair.lists for item in lists.items} == {None}
    page = shop.report("bm25", "dense", metrics="AP").to_html()
    assert "AP is not a sum over items, so items have no part of it." in page


def test_several_candidates_are_compared_with_one_another(shop: nt.Tracker) -> None:
    shop.ingest(
        frame_of({group: {"x": 1.0, **items} for group, items in DENSE.items()}),
        name="third",
        dataset="shop",
        metrics=["ndcg@10", "AP"],
    )
    report = shop.report("bm25", "dense", "third", metrics="ndcg@10").report
    assert [pair.comparison.candidate.name for pair in report.pairs] == ["dense", "third"]
    assert {(one.baseline, one.candidate) for one in report.deltas} == {
        (one, other) for one in ("bm25", "dense", "third") for other in ("bm25", "dense", "third") if one != other
    }
    page = shop.report("bm25", "dense", "third", metrics=["ndcg@10", "AP"]).to_html()
    assert page.count("Holm-corrected for 4 metrics of all candidates at once") == 2
    between = {(one.baseline, one.candidate): one.delta for one in report.deltas}
    expected = shop.compare("dense", "third", metrics="ndcg@10").comparisons[0].metrics[0].delta
    assert between["dense", "third"] == pytest.approx(expected)
    found, left_out = shop.comparable_others("bm25", dataset="shop")
    assert [run.name for run in found] == ["dense", "third"]
    assert left_out == []


def test_the_newest_decision_of_a_gate_stands_on_the_page(shop: nt.Tracker) -> None:
    assert "Gate on" not in shop.report("bm25", "dense").to_html()
    for margin in (0.001, 0.002):
        shop.gate("dense", baseline="bm25", margin=margin, dataset="shop", acknowledge="known, and accepted")
    page = shop.report("bm25", "dense").to_html()
    assert page.count("Gate on ndcg@10: ") == 1
    assert "overridden: known, and accepted" in page


def test_a_decision_under_other_labels_is_not_told_as_one_under_these(shop: nt.Tracker) -> None:
    shop.gate("dense", baseline="bm25", margin=0.9, dataset="shop", metric="ndcg@10", unjudged="zero")
    assert "Gate on ndcg@10: PASS" in shop.report("bm25", "dense").to_html()
    shop.add_labels(labels_of({**LABELS, "q1": {"a": 2}}), dataset="shop")
    shop.rescore(["bm25", "dense"], dataset="shop")
    page = shop.report("bm25", "dense").to_html()
    assert "Gate on ndcg@10, decided under other labels: PASS (" in page


def test_a_decision_without_the_clusters_of_the_page_is_told_as_such(shop: nt.Tracker) -> None:
    users = [name in ("q1", "q2") for name in LABELS]
    shop.set_groups({"group": list(LABELS), "user": users}, dataset="shop")
    shop.gate("dense", baseline="bm25", margin=0.9, dataset="shop", metric="ndcg@10", unjudged="zero")
    page = shop.report("bm25", "dense", cluster="user").to_html()
    assert "Gate on ndcg@10, decided without clusters: PASS (" in page
    shop.gate("dense", baseline="bm25", margin=0.9, dataset="shop", metric="ndcg@10", unjudged="zero", cluster="user")
    assert "Gate on ndcg@10, decided with clusters: INCONCLUSIVE (" in shop.report("bm25", "dense").to_html()
    assert "Gate on ndcg@10: INCONCLUSIVE (" in shop.report("bm25", "dense", cluster="user").to_html()


def test_the_page_of_a_gate_has_the_notes_of_the_gate(shop: nt.Tracker) -> None:
    result = shop.gate("dense", baseline="bm25", margin=0.5, dataset="shop")
    assert any("gate against a pinned alias" in note for note in result.notes)
    assert "gate against a pinned alias" in shop.gate_report(result).to_html()
    assert "gate against a pinned alias" not in shop.report("bm25", "dense").to_html()


def test_the_page_names_the_command_that_makes_it_again(shop: nt.Tracker, tmp_path: Path) -> None:
    result = shop.report("bm25", "dense", metrics="P@2", output="x y.html")
    assert "ndcg-track report bm25 dense --dataset shop --metric P@2 --output &#39;x y.html&#39;" in result.to_html()
    other = shop.report("bm25", "dense", missing="zero", test="permutation", ci="bootstrap").to_html()
    assert "--metric dcg --missing zero --test permutation --ci bootstrap --output report.html" in other
    result.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text("utf-8") == result.to_html()


def test_a_page_that_cannot_be_written_is_told(shop: nt.Tracker, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^path: cannot write '.*/nowhere/page.html': its folder does not exist"):
        shop.report("bm25", "dense").save(tmp_path / "nowhere" / "page.html")


def test_what_compare_refuses_is_refused(shop: nt.Tracker) -> None:
    with pytest.raises(ReferenceNotFoundError, match="'desne'"):
        shop.report("bm25", "desne", dataset="shop")
    with pytest.raises(InputError, match="a comparison needs a candidate"):
        shop.report("bm25", dataset="shop")


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("metric", ["AP", "P@2", "ndcg(weights=group)@2", "dcg"])
def test_every_metric_makes_a_page(shop: nt.Tracker, metric: str) -> None:
    assert "</html>" in shop.report("bm25", "dense", metrics=metric).to_html()


def test_runs_that_are_identical_or_not_comparable_make_a_page(tracker: nt.Tracker) -> None:
    for name in ("one", "other"):
        tracker.ingest(frame_of(BM25), name=name, labels=labels_frame(), dataset="same")
    page = tracker.report("one", "other", dataset="same").to_html()
    assert "ndcg@10 is identical on all" in page
    tracker.add_labels(frame_of({"zz": {"a": 1.0}}, "label"), dataset="alien")
    for name in ("one", "other"):
        tracker.ingest(frame_of(BM25), name=name, dataset="alien", metrics="ndcg(missing=skip)@10", allow="no-overlap")
    assert "cannot be compared" in tracker.report("one", "other", dataset="alien").to_html()
