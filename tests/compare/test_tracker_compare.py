"""``Tracker.compare``: the label set and metrics that two runs share, and what to type where they share none."""

import html
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rankings_of import labels_of, results
from small_shop import BM25, DENSE, LABELS, Run, frame_of, labels_frame

import ndcg_tracker as nt
from ndcg_tracker.cli.app import run
from ndcg_tracker.compare.gather import ComparisonResult
from ndcg_tracker.errors import NdcgTrackerWarning
from ndcg_tracker.words.notes import in_words

OTHER_LABELS: Run = {**LABELS, "q5": {"h": 0, "x": 1}}
CLI_MD_KEYS = {
    "": ["baseline", "candidate", "dataset", "label_set", "groups", "metrics", "worst", "best"],
    "groups": ["paired", "only_in_baseline", "only_in_candidate", "undefined"],
    "metrics": [
        "metric", "baseline", "candidate", "delta", "ci", "ci_method", "p_value", "p_adjusted", "test", "wins", "ties",
        "losses", "effect_size", "detectable_delta", "warnings", "verdict",
    ],
}  # fmt: skip


def fill_shop(url: str) -> None:
    with nt.Tracker(url) as tracker:
        tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame(), dataset="shop", metrics=["ndcg@10", "dcg@3"])
        tracker.ingest(frame_of(DENSE), name="dense", dataset="shop", metrics=["ndcg@10", "dcg@3", "dcg@1"])


@pytest.fixture
def shop(fill_as: Callable[[Callable[[str], object]], None], tracker: nt.Tracker) -> nt.Tracker:
    """Two runs of one dataset under one label set."""
    fill_as(fill_shop)
    return tracker


def refusal(tracker: nt.Tracker, *references: str, **options: Any) -> str:
    with pytest.raises(nt.NotComparableError) as caught:
        tracker.compare(*references, **options)
    return str(caught.value)


def test_the_dict_has_the_keys_that_are_promised(shop: nt.Tracker) -> None:
    found = shop.compare("bm25", "dense").to_dict()
    assert list(found)[:8] == CLI_MD_KEYS[""]
    assert set(found) - set(CLI_MD_KEYS[""]) == {"notes", "coverage"}
    assert found["baseline"] == {"name": "bm25", "run_id": shop.run("bm25")[0].id}
    assert found["candidate"] == {"name": "dense", "run_id": shop.run("dense")[0].id}
    assert found["dataset"] == "shop"
    assert found["label_set"] == {"version": 1, "digest": labels_of(LABELS).digest(), "judge": ""}
    assert list(found["groups"])[:4] == CLI_MD_KEYS["groups"]
    assert set(found["groups"]) - set(CLI_MD_KEYS["groups"]) == {
        "missing",
        "missing_in_baseline",
        "missing_in_candidate",
        "in_neither",
    }
    for metric in found["metrics"]:
        assert list(metric)[:16] == CLI_MD_KEYS["metrics"]
        assert set(metric) - set(CLI_MD_KEYS["metrics"]) == {
            *(
                "not_comparable",
                "n",
                "groups",
                "tie_bounds",
                "betting_ci",
                "low_information",
                "shown_only",
                "requested_as",
                "direction",
            )
        }
    for group in found["worst"] + found["best"]:
        assert list(group) == ["group", "baseline", "candidate", "delta", "moves"]
        for move in group["moves"]:
            assert {"item", "grade", "rank_baseline", "rank_candidate", "contribution"} <= set(move)


def test_the_numbers_are_those_of_the_groups(shop: nt.Tracker) -> None:
    found = shop.compare("bm25", "dense").to_dict()
    assert [metric["metric"] for metric in found["metrics"]] == ["ndcg@10", "dcg@3"]
    for metric in found["metrics"]:
        one, other = (results(metric["metric"], ranking, LABELS).values for ranking in (BM25, DENSE))
        assert metric["baseline"] == pytest.approx(one.mean(), rel=1e-14)
        assert metric["candidate"] == pytest.approx(other.mean(), rel=1e-14)
        assert metric["delta"] == pytest.approx((other - one).mean(), rel=1e-14)
        delta = other - one
        assert [metric[name] for name in ("wins", "ties", "losses")] == [
            (delta > 0).sum(),
            (delta == 0).sum(),
            (delta < 0).sum(),
        ]
    assert (found["groups"]["paired"], found["groups"]["missing_in_candidate"]) == (5, 1)
    worst = found["worst"]
    assert [group["group"] for group in worst] == ["q5", "q3", "q2"]
    assert [group["group"] for group in found["best"]] == ["q1"]
    assert worst == sorted(worst, key=lambda group: group["delta"])


def test_the_moves_are_those_that_explain_names_most_telling_first(shop: nt.Tracker) -> None:
    found = shop.compare("bm25", "dense", metrics="ndcg@10").to_dict()
    groups = {group["group"]: group for group in found["worst"] + found["best"]}
    assert sorted(groups) == ["q1", "q2", "q3", "q5"]
    for name, group in groups.items():
        explained = shop.explain("bm25", "dense", group=name, metric="ndcg@10").to_dict()["items"]
        parts = {item["item"]: item for item in explained if item["contribution"]}
        moves = group["moves"]
        assert 0 < len(moves) == min(len(parts), 3)
        for move in moves:
            assert move == {key: parts[move["item"]][key] for key in move}
        pulls = [(move["contribution"] * group["delta"] > 0, abs(move["contribution"])) for move in moves]
        assert pulls == sorted(pulls, reverse=True)
        if len(parts) <= 3:
            assert sum(move["contribution"] for move in moves) == pytest.approx(group["delta"], abs=1e-12)
    assert [(move["item"], move["rank_baseline"], move["rank_candidate"]) for move in groups["q5"]["moves"]] == [
        ("h", 1, None)
    ]


def test_three_moves_at_most_the_way_of_the_delta_first(tracker: nt.Tracker) -> None:
    items = ["a", "b", "c", "d", "e"]
    shop = {"group": ["q"] * 5 + ["r"] * 5, "item": items * 2, "label": [3, 2, 1, 1, 0] * 2}
    tracker.ingest({**shop, "score": [5.0, 4.0, 3.0, 2.0, 1.0] * 2}, name="old", metrics="dcg@5")
    tracker.ingest(
        {**shop, "score": [1.0, 5.0, 4.0, 3.0, 2.0, *[5.0, 4.0, 3.0, 2.0, 1.0]]}, name="new", metrics="dcg@5"
    )
    (worst,) = tracker.compare("old", "new").to_dict()["worst"]
    discount = [1 / np.log2(rank + 1) for rank in range(1, 6)]
    told = [[move[name] for name in ("item", "grade", "rank_baseline", "rank_candidate")] for move in worst["moves"]]
    assert told == [["a", 3.0, 1, 5], ["b", 2.0, 2, 1], ["c", 1.0, 3, 2]]
    assert worst["moves"][0]["contribution"] == pytest.approx(3 * (discount[4] - discount[0]), abs=1e-15)
    assert worst["moves"][1]["contribution"] == pytest.approx(2 * (discount[0] - discount[1]), abs=1e-15)


@pytest.mark.parametrize("metric", ["AP", "RR", "P@3", "ERR@5"])
def test_metrics_that_are_no_sum_have_no_moves(shop: nt.Tracker, metric: str) -> None:
    shop.rescore(["bm25", "dense"], metrics=[metric])
    result = shop.compare("bm25", "dense", metrics=[metric, "ndcg@10"])
    found = result.to_dict()
    assert found["worst"]
    assert not any("moves" in group for group in found["worst"] + found["best"])
    assert "of which" not in str(result)
    assert "of which" in str(shop.compare("bm25", "dense", metrics=["ndcg@10", metric]))


def test_lists_that_end_before_a_cutoff_are_told(tracker: nt.Tracker) -> None:
    groups, items = [f"q{number}" for number in range(8) for _ in range(20)], [f"d{rank}" for rank in range(20)] * 8
    whole = {"group": groups, "item": items, "score": list(range(20, 0, -1)) * 8, "label": [0, 1, 1, 0] * 40}
    tracker.ingest(whole, name="whole", metrics=["ndcg@10", "ndcg"])
    for name, n_kept in (("short", 5), ("nearly", 19)):
        kept = [row for row in range(160) if row % 20 < n_kept]
        part = {column: [values[row] for row in kept] for column, values in whole.items() if column != "label"}
        tracker.ingest(part, name=name, metrics=["ndcg@10", "ndcg"])
    told = (
        "the lists of short have 5.0 items on average, those of the other run 20.0: ndcg@10 looks past the "
        "end of the shorter ones"
    )
    assert told in tracker.compare("whole", "short").notes
    assert told in tracker.compare("short", "whole").notes
    for pair, metric in ((("whole", "nearly"), "ndcg@10"), (("whole", "short"), "ndcg")):
        assert not any("the shorter ones" in note for note in tracker.compare(*pair, metrics=metric).notes)


def test_top_cuts_the_groups(shop: nt.Tracker) -> None:
    found = shop.compare("bm25", "dense", top=1).to_dict()
    assert ([group["group"] for group in found["worst"]], len(found["best"])) == (["q5"], 1)
    none = shop.compare("bm25", "dense", top=0).to_dict()
    assert (none["worst"], none["best"]) == ([], [])


def test_metrics_may_be_named(shop: nt.Tracker) -> None:
    found = shop.compare("bm25", "dense", metrics="dcg(gain=linear)@3").to_dict()
    assert [metric["metric"] for metric in found["metrics"]] == ["dcg@3"]
    both = shop.compare("bm25", "dense", metrics=["dcg@3", "ndcg@10"]).to_dict()
    assert [metric["metric"] for metric in both["metrics"]] == ["dcg@3", "ndcg@10"]


def test_a_metric_named_twice_counts_once_in_the_correction(shop: nt.Tracker) -> None:
    (metric,) = shop.compare("bm25", "dense", metrics=["ndcg@10", "ndcg(gain=linear)@10"]).to_dict()["metrics"]
    assert metric["p_adjusted"] == metric["p_value"]


def test_a_run_is_identical_to_itself(shop: nt.Tracker) -> None:
    found = shop.compare("bm25", "bm25").to_dict()
    assert {metric["verdict"] for metric in found["metrics"]} == {"identical"}
    assert found["metrics"][0]["p_value"] is None


def test_several_candidates(shop: nt.Tracker) -> None:
    shop.ingest(frame_of({**BM25, "q3": {"f": 2.0, "e": 1.0}}), name="third", dataset="shop", metrics="ndcg@10")
    result = shop.compare("bm25", "dense", "third", metrics="ndcg@10")
    found = result.to_dict()
    assert found["candidate"]["name"] == "dense"
    assert [one["candidate"]["name"] for one in found["further"]] == ["third"]
    assert [one["candidate"]["name"] for one in found["comparisons"]] == ["dense", "third"]
    own = set(found) - {"further", "comparisons"}
    assert own == set(found["further"][0]) == set(shop.compare("bm25", "dense").to_dict())
    frame = result.to_frame()
    assert list(frame["candidate_run"]) == ["dense", "third"]
    tested = [one["metrics"][0] for one in [found, *found["further"]]]
    alone = [shop.compare("bm25", name, metrics="ndcg@10").to_dict()["metrics"][0] for name in ("dense", "third")]
    assert [metric["p_value"] for metric in tested] == [metric["p_value"] for metric in alone]
    assert min(metric["p_adjusted"] for metric in tested) == pytest.approx(2 * min(one["p_value"] for one in alone))


def test_the_frame_has_a_row_per_metric(shop: nt.Tracker) -> None:
    result = shop.compare("bm25", "dense")
    frame, metrics = result.to_frame(), result.to_dict()["metrics"]
    assert isinstance(frame, pd.DataFrame)
    assert list(frame["metric"]) == ["ndcg@10", "dcg@3"]
    assert list(frame["delta"]) == [metric["delta"] for metric in metrics]
    assert [list(pair) for pair in zip(frame["ci_low"], frame["ci_high"], strict=True)] == [
        metric["ci"] for metric in metrics
    ]
    assert {"baseline_run", "candidate_run", "verdict"} <= set(frame.columns)


def test_a_notebook_shows_the_report(shop: nt.Tracker) -> None:
    result = shop.compare("bm25", "dense")
    assert str(result).startswith("dense against bm25 on shop: ")
    assert repr(result) == str(result)
    assert result._repr_html_().startswith(result.to_html())
    assert result.to_html().startswith("<div><p><strong>dense against bm25 on shop: ")
    assert isinstance(result, ComparisonResult)


def test_an_attribute_that_no_group_has(shop: nt.Tracker) -> None:
    def refused(attribute: str) -> str:
        with pytest.raises(nt.InputError) as caught:
            shop.compare("bm25", "dense", by=attribute)
        return str(caught.value)

    assert refused("device") == (
        "no group of dataset 'shop' has an attribute 'device'; set it with: ndcg-track groups set FILE --dataset shop"
    )
    shop.set_groups({"group": ["q1"], "device": ["tv"]}, dataset="shop")
    assert refused("devcie") == "no group of dataset 'shop' has an attribute 'devcie'; did you mean 'device'?"
    assert refused("country") == "no group of dataset 'shop' has an attribute 'country'; there is device"
    shop.set_groups({"group": ["q2"], "lang": ["de"]}, dataset="shop")
    assert refused("x").endswith("; there are device, lang")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": "sign"}, "unknown test 'sign': choose t, permutation or wilcoxon"),
        ({"ci": "normal"}, "unknown interval 'normal': choose t, bootstrap or betting"),
        (
            {"equivalence": 0.0},
            "the equivalence margin must be a number above 0, not 0.0; give it in absolute points, such as 0.01",
        ),
        (
            {"ci": "betting", "metrics": "dcg@3"},
            "dcg@3: a betting interval needs differences within -1 to 1: choose ci='t' or ci='bootstrap'",
        ),
    ],
)
def test_methods_that_are_refused(shop: nt.Tracker, options: dict[str, Any], message: str) -> None:
    with pytest.raises(nt.InputError) as caught:
        shop.compare("bm25", "dense", **options)
    assert str(caught.value) == message


def test_markup_in_ids_stays_text_in_html(tracker: nt.Tracker) -> None:
    evil = "<script>alert(1)</script>"
    frame = {"group": [evil, "r"], "item": ["a", "a"], "score": [1.0, 1.0], "label": [1, 1]}
    tracker.ingest(frame, name="one")
    tracker.ingest({**frame, "item": ["b", "a"], "label": [None, 1]}, name="two")
    shown = tracker.compare("one", "two").to_html()
    assert evil not in shown
    assert html.escape(evil) in shown


def test_without_a_candidate_there_is_nothing_to_compare(shop: nt.Tracker) -> None:
    with pytest.raises(nt.InputError, match=r"^a comparison needs a candidate; name one after the baseline$"):
        shop.compare("bm25")


def test_runs_of_two_datasets_cannot_be_compared(shop: nt.Tracker) -> None:
    shop.ingest(frame_of(BM25), name="other", dataset="site", labels=labels_frame())
    assert refusal(shop, "bm25", "other") == (
        "run 'bm25' is of dataset 'shop' and run 'other' of dataset 'site'; only runs of one dataset can be compared"
    )


def test_the_newest_label_set_that_both_have_is_used_and_newer_labels_are_noted(shop: nt.Tracker) -> None:
    assert shop.add_labels(labels_of(OTHER_LABELS), dataset="shop") == (2, True)
    found = shop.compare("bm25", "dense", metrics="ndcg@10").to_dict()
    assert found["label_set"]["version"] == 1
    assert found["notes"][0] == (
        "labels version 2 is newer than version 1, which the runs share; to use it: "
        "ndcg-track rescore bm25 dense --dataset shop --metric ndcg@10"
    )
    shop.rescore(["bm25"], dataset="shop")
    assert shop.compare("bm25", "dense").to_dict()["label_set"]["version"] == 1
    shop.rescore(["dense"], metrics=["ndcg@10"])
    newest = shop.compare("bm25", "dense").to_dict()
    assert newest["label_set"]["version"] == 2
    assert not any("newer" in note for note in newest["notes"])
    assert newest["metrics"][0]["candidate"] == pytest.approx(results("ndcg@10", DENSE, OTHER_LABELS).mean)
    assert [metric["metric"] for metric in newest["metrics"]] == ["ndcg@10"]
    older = shop.compare("bm25", "dense", metrics="dcg@3").to_dict()
    assert older["label_set"]["version"] == 1


def mended(tracker: nt.Tracker, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Type the very command that a message names."""
    program, *words = shlex.split(message[message.index("ndcg-track ") :])
    monkeypatch.setenv("NDCG_TRACK_DB", tracker.location)
    assert program == "ndcg-track"
    assert run(words) == 0


@pytest.mark.parametrize("dataset", ["default", "the shop"])
def test_labels_in_common_are_missing(
    tracker: nt.Tracker, monkeypatch: pytest.MonkeyPatch, dataset: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame(), dataset=dataset)
    tracker.ingest(frame_of(DENSE), name="it's dense", labels=labels_frame(OTHER_LABELS), dataset=dataset)
    tracker.ingest(frame_of(DENSE), name="bm25", labels=labels_frame(), dataset="another")
    message = refusal(tracker, "bm25", "it's dense", dataset=dataset)
    assert message == (
        """runs 'bm25' and "it's dense" do not both have a metric under one version of the labels; type: """
        f"""ndcg-track rescore bm25 'it'"'"'s dense' --dataset {shlex.quote(dataset)} --metric ndcg@10"""
    )
    mended(tracker, message, monkeypatch)
    assert tracker.compare("bm25", "it's dense", dataset=dataset).to_dict()["label_set"]["version"] == 2


def test_a_metric_in_common_is_missing(shop: nt.Tracker, monkeypatch: pytest.MonkeyPatch) -> None:
    message = refusal(shop, "bm25", "dense", metrics=["ndcg(gain=exp2)@10", "dcg@1"])
    assert message == (
        "runs 'bm25' and 'dense' do not both have dcg@1, ndcg(gain=exp2)@10 under one version of the labels; type: "
        "ndcg-track rescore bm25 dense --dataset shop --metric 'ndcg(gain=exp2)@10' --metric dcg@1"
    )
    mended(shop, message, monkeypatch)
    found = shop.compare("bm25", "dense", metrics=["ndcg(gain=exp2)@10", "dcg@1"]).to_dict()
    assert [metric["metric"] for metric in found["metrics"]] == ["ndcg(gain=exp2)@10", "dcg@1"]


def test_no_metric_at_all_in_common(tracker: nt.Tracker, monkeypatch: pytest.MonkeyPatch) -> None:
    tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame(), metrics="dcg@3")
    tracker.ingest(frame_of(DENSE), name="dense", metrics="ndcg@10")
    message = refusal(tracker, "bm25", "dense")
    assert message.endswith("ndcg-track rescore bm25 dense --dataset default --metric dcg@3 --metric ndcg@10")
    mended(tracker, message, monkeypatch)
    assert len(tracker.compare("bm25", "dense").to_dict()["metrics"]) == 2


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


def test_fewer_judged_items_are_noted(shop: nt.Tracker) -> None:
    found = shop.compare("bm25", "dense", metrics="dcg@3").to_dict()
    (share,) = found["coverage"]
    assert share["cutoff"] == 3
    assert share["baseline"] == pytest.approx((1 + 2 / 3 + 1 / 2 + 1) / 4), "q5 is in one list alone"
    assert share["candidate"] == pytest.approx((1 + 1 + 1 / 2 + 1 / 2) / 4)
    assert found["notes"] == [
        "the candidate has fewer judged items in its top 3, and may be better than it looks, which could change the "
        "verdict; to see how far: ndcg-track compare bm25 dense --dataset shop --metric dcg@3 --unjudged-bounds"
    ]


POSITIVE: Run = {"q1": {"a": 3, "b": 1}, "q2": {"d": 2}}
FEWER = (
    "the candidate has fewer judged items in its top 10, and may be better than it looks, which could change the "
    "verdict; to see how far: ndcg-track compare better worse --dataset default --unjudged-bounds"
)


@pytest.mark.parametrize(
    ("further", "note"),
    [
        ({}, "no label has grade 0: an item without a label is unknown here, not irrelevant"),
        ({"q3": {"e": 0}}, FEWER),
        ({"q3": {"e": -1}}, FEWER),
        ({"q1": {"a": 3, "b": 1, "x": 1}}, None),  # no run has more labels than the other
    ],
)
def test_labels_that_hold_positives_only_make_no_gap(tracker: nt.Tracker, further: Run, note: str | None) -> None:
    better: Run = {"q1": {"a": 2, "b": 1}, "q2": {"d": 1}}
    worse: Run = {"q1": {"x": 2, "b": 1}, "q2": {"d": 1}}
    tracker.ingest(frame_of(better), name="better", labels=frame_of({**POSITIVE, **further}, "label"))
    tracker.ingest(frame_of(worse), name="worse")
    assert tracker.compare("better", "worse").notes == (() if note is None else (note,))


def test_runs_are_named_by_any_reference(shop: nt.Tracker) -> None:
    shop.set_alias("base", "bm25")
    for reference in ("bm2", "@base", "latest~1", "1"):
        assert shop.compare(reference, "latest").to_dict()["baseline"]["name"] == "bm25"


def test_a_comparison_writes_nothing(sqlite_url: str) -> None:
    with nt.Tracker(sqlite_url) as tracker:
        tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame())
        tracker.close()
        path = Path(sqlite_url.removeprefix("sqlite:///"))
        before = path.read_bytes()
        tracker.compare("bm25", "bm25")
        tracker.close()
        assert path.read_bytes() == before


ABSENT = ["ndcg@10", "ndcg(missing=skip)@10"]
"""Under the first metric a labelled group that a run does not have counts 0, under the second it is left out."""


@pytest.fixture
def absent(tracker: nt.Tracker) -> nt.Tracker:
    """Two runs that lack two labelled groups, and of which one lacks a further one."""
    labels = {**LABELS, "q8": {"a": 2}, "q9": {"a": 1, "b": 0}}
    for name, ranking in (("bm25", BM25), ("dense", DENSE)):
        tracker.ingest(frame_of(ranking), name=name, labels=frame_of(labels, "label"), metrics=ABSENT)
    return tracker


def test_groups_that_neither_run_has(absent: nt.Tracker) -> None:
    plain = absent.compare("bm25", "dense", metrics="ndcg@10").to_dict()
    names = ("paired", "in_neither", "missing_in_baseline", "missing_in_candidate")
    assert [plain["groups"][name] for name in names] == [7, 2, 2, 3]
    skipped = absent.compare("bm25", "dense", metrics="ndcg@10", missing="skip").to_dict()
    assert [skipped["groups"][name] for name in ("paired", "in_neither", "missing_in_baseline")] == [5, 2, 0]
    assert skipped["groups"]["missing_in_candidate"] == 1
    one, other = plain["metrics"][0], skipped["metrics"][0]
    assert other["delta"] == pytest.approx(one["delta"] * 7 / 5, rel=1e-14)
    assert (other["wins"], other["losses"]) == (one["wins"], one["losses"])
    bounds = [bound * 7 / 5 for bound in one["tie_bounds"]["delta"]]
    assert other["tie_bounds"]["delta"] == pytest.approx(bounds, rel=1e-12)
    intersect = absent.compare("bm25", "dense", metrics="ndcg@10", missing="intersect").to_dict()
    assert intersect["metrics"][0]["delta"] == one["delta"]
    gated = absent.gate("dense", baseline="bm25", scope="set", tolerance=1.0, missing="skip", dry_run=True).to_dict()
    assert (gated["n"], gated["delta"]) == (5, pytest.approx(other["delta"], rel=1e-14))


def test_groups_that_neither_run_has_are_told_with_what_to_type(absent: nt.Tracker) -> None:
    text = str(absent.compare("bm25", "dense", metrics="ndcg@10"))
    assert (
        "\nin neither run  2 groups with labels: they count the same in both and shrink delta; missing='skip'\n"
        "                leaves them out\n"
    ) in text
    assert "¹ 2 groups with labels but in neither run: counted the same in both\n" in text
    assert "² 1 group with labels but missing in the candidate run: counted as 0\n" in text
    assert "missing in the baseline" not in text
    skipped = str(absent.compare("bm25", "dense", metrics="ndcg@10", missing="skip"))
    assert "\nin neither run  2 groups with labels, left out\n" in skipped
    assert "¹ 2 groups with labels but in neither run: left out\n" in skipped


def test_a_group_that_the_metric_leaves_out_is_not_said_to_count(absent: nt.Tracker) -> None:
    found = absent.compare("bm25", "dense", metrics=ABSENT[1], missing="intersect")
    counts = found.to_dict()["groups"]
    assert [counts[name] for name in ("missing_in_baseline", "missing_in_candidate", "in_neither")] == [0, 0, 0]
    assert (counts["undefined"], counts["only_in_baseline"]) == (2, 1)
    text = str(found)
    assert "counted as 0" not in text
    assert "2 groups undefined in both runs: left out" in text


def test_two_runs_without_a_judged_item_are_not_identical(tracker: nt.Tracker) -> None:
    elsewhere = {group: {f"x-{item}": label for item, label in of.items()} for group, of in LABELS.items()}
    for name, ranking in (("bm25", BM25), ("dense", DENSE)):
        tracker.ingest(frame_of(ranking), name=name, labels=frame_of(elsewhere, "label"))
    found = tracker.compare("bm25", "dense")
    (metric,) = found.to_dict()["metrics"]
    assert (metric["verdict"], metric["not_comparable"]) == ("not_comparable", "nothing_judged")
    assert (metric["baseline"], metric["candidate"], metric["delta"]) == (0.0, 0.0, None)
    assert str(found).startswith(
        "dense against bm25 on default: ndcg@10 cannot be compared: neither run has a judged item that it counts\n"
    )
    command = "ndcg-track sql \"SELECT group_key, item_key FROM labels WHERE dataset = 'default' LIMIT 5\""
    assert found.notes == (
        "no judged item counts in either run under ndcg@10: are the ids of groups and items spelled as in the labels? "
        f"see those with: {command}",
    )
    message = refusal_of_gate(tracker)
    assert message == (
        "runs 'bm25' and 'dense' have no judged item that ndcg@10 counts, so nothing is known of either; are their ids "
        f"spelled as in the labels? See those with: {command}"
    )
    assert tracker.sql("SELECT * FROM gate_decisions").empty


def refusal_of_gate(tracker: nt.Tracker) -> str:
    with pytest.raises(nt.NotComparableError) as caught:
        tracker.gate("dense", baseline="bm25", margin=0.01)
    return str(caught.value)


def test_two_runs_without_a_group_in_common_with_the_labels(tracker: nt.Tracker) -> None:
    elsewhere = {f"Q{group}": of for group, of in LABELS.items()}
    tracker.add_labels(frame_of(elsewhere, "label"))
    for name, ranking in (("bm25", BM25), ("dense", DENSE)):
        tracker.ingest(frame_of(ranking), name=name)
    (metric,) = tracker.compare("bm25", "dense").to_dict()["metrics"]
    assert (metric["verdict"], metric["not_comparable"]) == ("not_comparable", "nothing_judged")


def test_one_run_without_a_group_in_common_with_the_labels(tracker: nt.Tracker) -> None:
    numbered = {f"Q{number}": items for number, items in enumerate(DENSE.values())}
    for name, ranking in (("bm25", BM25), ("dense", numbered)):
        tracker.ingest(frame_of(ranking), name=name, labels=frame_of(LABELS, "label") if name == "bm25" else None)
    message = (
        "run 'dense' has no group of version 1 of the labels of dataset 'default', so each would count as missing; "
        "are its groups spelled as in the labels?"
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
    assert str(found).splitlines()[0].endswith("AP is identical on all 2 groups, 2 more cannot be compared")


def test_a_measure_of_an_empty_list_leaves_out_what_neither_run_has(absent: nt.Tracker) -> None:
    absent.rescore(metrics=["yaap"])
    plain, skipped = (
        absent.compare("bm25", "dense", metrics="yaap", missing=missing).to_dict()["metrics"][0]
        for missing in ("intersect", "skip")
    )
    assert (plain["n"], skipped["n"]) == (7, 5)
    assert (plain["groups"]["in_neither"], skipped["groups"]["in_neither"]) == (2, 2)
    assert skipped["delta"] == pytest.approx(plain["delta"] * 7 / 5, rel=1e-12)


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


def test_what_is_only_shown_is_not_found_equivalent(with_diagnostics: nt.Tracker) -> None:
    found = with_diagnostics.compare("bm25", "bm25", metrics=["NumRet", "ndcg@10"], equivalence=0.01).to_dict()
    equivalent = {one["metric"]: "equivalence" in one for one in found["metrics"]}
    assert equivalent == {"ndcg@10": True, "NumRet": False}


def test_candidates_in_a_list(shop: nt.Tracker) -> None:
    shop.ingest(frame_of(BM25), name="third", dataset="shop")
    for given in ((["dense", "third"],), ("dense", ("third",)), ("dense", "third")):
        found = shop.compare("bm25", *given, metrics="ndcg@10")
        assert [one.candidate.name for one in found.comparisons] == ["dense", "third"]
    with pytest.raises(nt.InputError) as caught:
        shop.compare("bm25", 2)  # type: ignore[arg-type]
    assert str(caught.value) == "a candidate is a run's name, id or @alias as text, or a list of these, not 2"
    with pytest.raises(nt.InputError, match="a comparison needs a candidate"):
        shop.compare("bm25", [])


SHOWN = ["Judged@3", "NumRet", "GMAP"]


@pytest.fixture
def with_diagnostics(tracker: nt.Tracker) -> nt.Tracker:
    """Two runs that differ in length, with metrics that are shown and not compared before and among the others."""
    metrics = [*SHOWN[:1], "ndcg@10", *SHOWN[1:], "AP"]
    shorter = {group: dict(list(items.items())[:2]) for group, items in DENSE.items()}
    tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame(), dataset="shop", metrics=metrics)
    tracker.ingest(frame_of(shorter), name="short", dataset="shop", metrics=metrics)
    return tracker


def test_diagnostics_and_other_summaries_are_shown_behind_all_others(with_diagnostics: nt.Tracker) -> None:
    found = with_diagnostics.compare("bm25", "short").to_dict()
    alone = with_diagnostics.compare("bm25", "short", metrics=["ndcg@10", "AP"]).to_dict()
    assert found["metrics"][:2] == alone["metrics"]  # Holm's correction does not count the others
    assert (found["worst"], found["best"]) == (alone["worst"], alone["best"])
    shown = {metric["metric"]: metric for metric in found["metrics"][2:]}
    assert list(shown) == SHOWN
    for metric in shown.values():
        assert [metric[key] for key in ("ci", "p_value", "p_adjusted", "effect_size", "verdict")] == [None] * 5
    assert [metric["shown_only"] for metric in found["metrics"]] == [None, None, "diagnostic", "diagnostic",
                                                                      "no_mean_of_groups"]  # fmt: skip
    stored = with_diagnostics.sql("select run, metric, mean from run_summary").set_index(["run", "metric"])["mean"]
    for name in ("NumRet", "GMAP"):  # the sum and the geometric mean, no means of the groups
        assert shown[name]["baseline"] == stored["bm25", name]
        assert shown[name]["candidate"] == stored["short", name]
        assert shown[name]["delta"] == stored["short", name] - stored["bm25", name]
    assert stored["bm25", "NumRet"] == sum(map(len, BM25.values()))
    text = str(with_diagnostics.compare("bm25", "short"))
    assert "2 metrics" in text.splitlines()[0]
    assert "shown, not compared: it says nothing about quality" in text
    assert "shown, not compared: its summary is not a mean of groups, and the tests are about such means" in text


def test_what_is_only_shown_may_stand_alone(with_diagnostics: nt.Tracker) -> None:
    found = with_diagnostics.compare("bm25", "short", metrics=["NumRet"])
    assert (found.to_dict()["worst"], found.to_dict()["best"]) == ([], [])
    assert str(found).splitlines()[0].endswith(": shown, not compared")
    both = with_diagnostics.compare("bm25", "short", metrics=["NumRet", "GMAP"])
    assert str(both).splitlines()[0] == "short against bm25 on shop: 2 metrics shown, none compared"


@pytest.mark.parametrize("scope", ["population", "set"])
def test_a_gate_refuses_what_is_only_shown(with_diagnostics: nt.Tracker, scope: Any) -> None:
    allowed: dict[str, Any] = {"margin": 1.0} if scope == "population" else {"tolerance": 1.0}
    with pytest.raises(nt.InputError) as caught:
        with_diagnostics.gate("short", baseline="bm25", metric="GMAP", scope=scope, **allowed)
    why = "shown, not compared: its summary is not a mean of groups, and the tests are about such means"
    assert str(caught.value) == f"a gate decides nothing on GMAP: {why}"


def test_a_history_of_what_is_only_shown_has_no_intervals_and_no_steps(with_diagnostics: nt.Tracker) -> None:
    rows = with_diagnostics.history("Judged@3", dataset="shop")
    assert rows["ci_low"].isna().all()
    assert not rows["step"].any()
    assert rows["mean"].notna().all()


def test_the_baseline_is_one_run(tracker: nt.Tracker) -> None:
    tracker.store(create=True)
    with pytest.raises(nt.InputError) as caught:
        tracker.compare(["a", "b"])  # type: ignore[arg-type]
    assert str(caught.value) == (
        "the baseline is one run's name, id or @alias as text, not ['a', 'b']; "
        "name it first, and the candidates after it"
    )


def test_what_missing_cannot_leave_out_is_told(tracker: nt.Tracker) -> None:
    """A metric that counts a missing group as 0 has a result there: --missing intersect leaves nothing out."""
    groups = [f"q{number}" for number in range(30)]
    rows = [(group, item, float(score), int(score > 1)) for group in groups for score, item in enumerate("abc")]
    frame = pd.DataFrame(rows, columns=["group", "item", "score", "label"])
    labels = frame[["group", "item", "label"]]
    tracker.ingest(frame.drop(columns="label"), labels=labels, name="whole")
    fewer = frame[~frame["group"].isin(groups[:4])].drop(columns="label")
    tracker.ingest(fewer.assign(score=-fewer["score"]), name="fewer")
    for missing in ("intersect", "skip"):
        (comparison,) = tracker.compare("whole", "fewer", missing=missing).comparisons
        assert (
            "ndcg@10 counts the groups that a run lacks as 0 (4 here), and they stay; to leave them out, compare by "
            "the metric that this adds: ndcg-track rescore whole fewer --dataset default "
            "--metric 'ndcg(missing=skip)@10'"
        ) in in_words(comparison.notes)
    assert not any("they stay" in note for note in in_words(tracker.compare("whole", "fewer").comparisons[0].notes))
    tracker.rescore(["whole", "fewer"], metrics="ndcg(missing=skip)@10")
    (comparison,) = tracker.compare("whole", "fewer", metrics="ndcg(missing=skip)@10", missing="intersect").comparisons
    assert comparison.metrics[0].n == 26
    assert not any("they stay" in note for note in in_words(comparison.notes))


def test_groups_without_a_cluster_are_told(tracker: nt.Tracker) -> None:
    groups = [f"q{number}" for number in range(30)]
    rows = [(group, item, float(score), (number + score) % 2) for number, group in enumerate(groups)
            for score, item in enumerate("abc")]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["group", "item", "score", "label"])
    tracker.ingest(frame, name="one")
    tracker.ingest(frame.assign(score=-frame["score"]).drop(columns="label"), name="other")
    tracker.set_groups(pd.DataFrame({"group": groups[:28], "user": [f"u{n % 7}" for n in range(28)]}))
    (comparison,) = tracker.compare("one", "other", cluster="user").comparisons
    told = "2 groups of 30 have no user, and each counts as a cluster of its own"
    assert told in in_words(comparison.notes)
    assert told in tracker.gate("other", baseline="one", margin=0.01, cluster="user", dry_run=True).notes
    tracker.set_groups(pd.DataFrame({"group": groups, "user": [f"u{n % 7}" for n in range(30)]}))
    assert told not in in_words(tracker.compare("one", "other", cluster="user").comparisons[0].notes)


def test_a_log_of_clicks_alone_is_told(tracker: nt.Tracker) -> None:
    frame = pd.DataFrame({"group": [f"q{n}" for n in range(9)], "item": "a", "score": 1.0, "label": 1})
    told = "all 9 groups score 1 by ndcg@10, and no other run can do better: a log of clicks alone does so"
    first = tracker.ingest(frame, name="one")
    assert any(told in note for note in first.notes)
    tracker.ingest(frame.drop(columns="label").assign(score=2.0), name="other")
    assert any(told in note for note in tracker.gate("other", baseline="one", margin=0.01, dry_run=True).notes)
    with pytest.warns(NdcgTrackerWarning, match="all 9 groups score 1 by ndcg@10"):
        nt.evaluate(frame, "ndcg@10")
    few = nt.evaluate(frame.head(4), "ndcg@10")
    assert few.notes == ()


def test_lists_of_equal_scores_are_told(tracker: nt.Tracker) -> None:
    rows = [(f"q{n}", item, 0.5, place) for n in range(6) for place, item in enumerate("cba")]
    frame = pd.DataFrame(rows, columns=["group", "item", "score", "label"])
    told = "the scores of each list are all equal, so the order is that of ties, not of a model"
    assert tracker.ingest(frame, name="constant").notes == (told,)
    with pytest.warns(NdcgTrackerWarning, match=told):
        assert nt.evaluate(frame, "ndcg@10").notes == (told,)
    one_differs = frame.assign(score=np.where(frame.index == 17, 1.0, 0.5))
    assert tracker.ingest(one_differs.drop(columns="label"), name="other").notes == ()
    assert nt.evaluate(frame.head(12), "ndcg@10").notes == (), "few lists may be so by chance"


def test_metrics_that_are_equal_in_every_group_are_told(tracker: nt.Tracker) -> None:
    rng = np.random.default_rng(3)
    rows = [(f"q{n}", item, float(rng.normal()), int(rng.integers(0, 3))) for n in range(12) for item in "abcd"]
    frame = pd.DataFrame(rows, columns=["group", "item", "score", "label"])
    metrics = ["ndcg@10", "P@2", "trec_eval:ndcg_cut_10"]
    tracker.ingest(frame, name="one", metrics=metrics)
    other = frame.assign(score=rng.normal(size=len(frame))).drop(columns="label")
    tracker.ingest(other, name="other", metrics=metrics)
    told = "are equal in every group, and p-values are corrected for both: name one, to ask once"
    (comparison,) = tracker.compare("one", "other").comparisons
    (note,) = (note for note in comparison.notes if note.kind == "equal_metrics")
    assert note.facts["metrics"][0] == "ndcg@10"
    assert told in str(tracker.compare("one", "other")).replace("\n      ", " ")
    assert told not in str(tracker.compare("one", "other", metrics=["ndcg@10", "P@2"])).replace("\n      ", " ")


def test_commands_ask_the_same_again(tracker: nt.Tracker) -> None:
    """What a note has one type asks for the metric, the labels and the missing groups of the call."""
    labels = {f"q{n}": {"a": 1, "b": 0} for n in range(9)}
    tracker.ingest({group: {"a": 1.0, "b": 2.0} for group in labels}, labels=labels, name="judged")
    tracker.ingest({group: {"a": 1.0, "x": 2.0, "b": 0.0} for group in labels}, name="other")
    (comparison,) = tracker.compare("judged", "other", metrics="ndcg@10", labels=1, missing="zero").comparisons
    assert in_words(comparison.notes)[0].endswith(
        "ndcg-track compare judged other --dataset default --metric ndcg@10 --labels 1 --missing zero --unjudged-bounds"
    )
