"""``Tracker.compare``: its dict, frame and page, its candidates, and what it refuses."""

import html
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rankings_of import labels_of, results
from small_shop import BM25, DENSE, LABELS, frame_of, labels_frame

import ndcg_tracker as nt
from ndcg_tracker.compare.gather import ComparisonResult

CLI_MD_KEYS = {
    "": ["baseline", "candidate", "dataset", "label_set", "groups", "metrics", "worst", "best"],
    "groups": ["paired", "only_in_baseline", "only_in_candidate", "undefined"],
    "metrics": [
        "metric", "baseline", "candidate", "delta", "ci", "ci_method", "p_value", "p_adjusted", "test", "wins", "ties",
        "losses", "effect_size", "detectable_delta", "warnings", "verdict",
    ],
}  # fmt: skip


def test_the_dict_has_the_keys_that_are_promised(two_runs: nt.Tracker) -> None:
    found = two_runs.compare("bm25", "dense").to_dict()
    assert list(found)[:8] == CLI_MD_KEYS[""]
    assert set(found) - set(CLI_MD_KEYS[""]) == {"notes", "coverage", "listed"}
    assert found["baseline"] == {"name": "bm25", "run_id": two_runs.run("bm25")[0].id}
    assert found["candidate"] == {"name": "dense", "run_id": two_runs.run("dense")[0].id}
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
        assert set(metric) - set(CLI_MD_KEYS["metrics"]) - {"rare_loss"} == {
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
                "judged",
                "is_open",
                "open",
                "unjudged",
            )
        }
    for group in found["worst"] + found["best"]:
        assert list(group) == ["group", "baseline", "candidate", "delta", "moves"]
        for move in group["moves"]:
            assert {"item", "grade", "rank_baseline", "rank_candidate", "contribution"} <= set(move)


def test_the_numbers_are_those_of_the_groups(two_runs: nt.Tracker) -> None:
    found = two_runs.compare("bm25", "dense").to_dict()
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


def test_the_moves_are_those_that_explain_names_most_telling_first(two_runs: nt.Tracker) -> None:
    found = two_runs.compare("bm25", "dense", metrics="ndcg@10").to_dict()
    groups = {group["group"]: group for group in found["worst"] + found["best"]}
    assert sorted(groups) == ["q1", "q2", "q3", "q5"]
    for name, group in groups.items():
        explained = two_runs.explain("bm25", "dense", group=name, metric="ndcg@10").to_dict()["items"]
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


@pytest.mark.nightly(but=4)
@pytest.mark.parametrize("metric", ["AP", "RR", "P@3", "ERR@5"])
def test_metrics_that_are_no_sum_have_no_moves(two_runs: nt.Tracker, metric: str) -> None:
    two_runs.rescore(["bm25", "dense"], metrics=[metric])
    result = two_runs.compare("bm25", "dense", metrics=[metric, "ndcg@10"])
    found = result.to_dict()
    assert found["worst"]
    assert not any("moves" in group for group in found["worst"] + found["best"])
    assert "of which" not in result.to_text(verbose=True)
    assert "of which" in two_runs.compare("bm25", "dense", metrics=["ndcg@10", metric]).to_text(verbose=True)


def test_top_cuts_the_groups(two_runs: nt.Tracker) -> None:
    found = two_runs.compare("bm25", "dense", top=1).to_dict()
    assert ([group["group"] for group in found["worst"]], len(found["best"])) == (["q5"], 1)
    none = two_runs.compare("bm25", "dense", top=0).to_dict()
    assert (none["worst"], none["best"]) == ([], [])


def test_metrics_may_be_named(two_runs: nt.Tracker) -> None:
    found = two_runs.compare("bm25", "dense", metrics="dcg(gain=linear)@3").to_dict()
    assert [metric["metric"] for metric in found["metrics"]] == ["dcg@3"]
    both = two_runs.compare("bm25", "dense", metrics=["dcg@3", "ndcg@10"]).to_dict()
    assert [metric["metric"] for metric in both["metrics"]] == ["dcg@3", "ndcg@10"]


def test_a_metric_named_twice_counts_once_in_the_correction(two_runs: nt.Tracker) -> None:
    (metric,) = two_runs.compare("bm25", "dense", metrics=["ndcg@10", "ndcg(gain=linear)@10"]).to_dict()["metrics"]
    assert metric["p_adjusted"] == metric["p_value"]


def test_a_run_is_identical_to_itself(two_runs: nt.Tracker) -> None:
    found = two_runs.compare("bm25", "bm25").to_dict()
    assert {metric["verdict"] for metric in found["metrics"]} == {"identical"}
    assert found["metrics"][0]["p_value"] is None


def test_several_candidates(two_runs: nt.Tracker) -> None:
    two_runs.ingest(frame_of({**BM25, "q3": {"f": 2.0, "e": 1.0}}), name="third", dataset="shop", metrics="ndcg@10")
    result = two_runs.compare("bm25", "dense", "third", metrics="ndcg@10")
    found = result.to_dict()
    assert found["candidate"]["name"] == "dense"
    assert [one["candidate"]["name"] for one in found["further"]] == ["third"]
    assert [one["candidate"]["name"] for one in found["comparisons"]] == ["dense", "third"]
    own = set(found) - {"further", "comparisons"}
    assert own == set(found["further"][0]) == set(two_runs.compare("bm25", "dense").to_dict())
    frame = result.to_frame()
    assert list(frame["candidate_run"]) == ["dense", "third"]
    tested = [one["metrics"][0] for one in [found, *found["further"]]]
    alone = [two_runs.compare("bm25", name, metrics="ndcg@10").to_dict()["metrics"][0] for name in ("dense", "third")]
    assert [metric["p_value"] for metric in tested] == [metric["p_value"] for metric in alone]
    assert min(metric["p_adjusted"] for metric in tested) == pytest.approx(2 * min(one["p_value"] for one in alone))


def test_the_frame_has_a_row_per_metric(two_runs: nt.Tracker) -> None:
    result = two_runs.compare("bm25", "dense")
    frame, metrics = result.to_frame(), result.to_dict()["metrics"]
    assert isinstance(frame, pd.DataFrame)
    assert list(frame["metric"]) == ["ndcg@10", "dcg@3"]
    assert list(frame["delta"]) == [metric["delta"] for metric in metrics]
    assert [list(pair) for pair in zip(frame["ci_low"], frame["ci_high"], strict=True)] == [
        metric["ci"] for metric in metrics
    ]
    assert {"baseline_run", "candidate_run", "verdict"} <= set(frame.columns)


def test_a_notebook_shows_the_report(two_runs: nt.Tracker) -> None:
    result = two_runs.compare("bm25", "dense")
    assert str(result).startswith("dense against bm25 on shop (5 queries): ")
    assert repr(result) == str(result)
    assert result._repr_html_().startswith(result.to_html())
    assert result.to_html().startswith("<div><p><strong>dense against bm25 on shop (5 queries): ")
    assert isinstance(result, ComparisonResult)


def test_an_attribute_that_no_group_has(two_runs: nt.Tracker) -> None:
    def refused(attribute: str) -> str:
        with pytest.raises(nt.InputError) as caught:
            two_runs.compare("bm25", "dense", by=attribute)
        return str(caught.value)

    assert refused("device") == (
        "no group of dataset 'shop' has an attribute 'device'; set it with: ndcg-track groups set FILE --dataset shop"
    )
    two_runs.set_groups({"group": ["q1"], "device": ["tv"]}, dataset="shop")
    assert refused("devcie") == "no group of dataset 'shop' has an attribute 'devcie'; did you mean 'device'?"
    assert refused("country") == "no group of dataset 'shop' has an attribute 'country'; the attributes are: device"
    two_runs.set_groups({"group": ["q2"], "lang": ["de"]}, dataset="shop")
    assert refused("x").endswith("; the attributes are: device, lang")


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": "sign"}, "test='sign' is unknown; give t, permutation or wilcoxon"),
        ({"ci": "normal"}, "ci='normal' is unknown; give t, bootstrap or betting"),
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
def test_methods_that_are_refused(two_runs: nt.Tracker, options: dict[str, Any], message: str) -> None:
    with pytest.raises(nt.InputError) as caught:
        two_runs.compare("bm25", "dense", **options)
    assert str(caught.value) == message


def test_markup_in_ids_stays_text_in_html(tracker: nt.Tracker) -> None:
    evil = "<script>alert(1)</script>"
    frame = {"group": [evil, "r"], "item": ["a", "a"], "score": [1.0, 1.0], "label": [1, 1]}
    tracker.ingest(frame, name="one")
    tracker.ingest({**frame, "item": ["b", "a"], "label": [None, 1]}, name="two")
    shown = tracker.compare("one", "two").to_html()
    assert evil not in shown
    assert html.escape(evil) in shown


def test_without_a_candidate_there_is_nothing_to_compare(two_runs: nt.Tracker) -> None:
    with pytest.raises(nt.InputError, match=r"^a comparison needs a candidate; name one after the baseline$"):
        two_runs.compare("bm25")


def test_runs_are_named_by_any_reference(two_runs: nt.Tracker) -> None:
    two_runs.set_alias("base", "bm25")
    for reference in ("bm2", "@base", "latest~1", "1"):
        assert two_runs.compare(reference, "latest").to_dict()["baseline"]["name"] == "bm25"


def test_a_comparison_writes_nothing(sqlite_url: str) -> None:
    with nt.Tracker(sqlite_url) as tracker:
        tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame())
        tracker.close()
        path = Path(sqlite_url.removeprefix("sqlite:///"))
        before = path.read_bytes()
        tracker.compare("bm25", "bm25")
        tracker.close()
        assert path.read_bytes() == before


def test_candidates_in_a_list(two_runs: nt.Tracker) -> None:
    two_runs.ingest(frame_of(BM25), name="third", dataset="shop")
    for given in ((["dense", "third"],), ("dense", ("third",)), ("dense", "third")):
        found = two_runs.compare("bm25", *given, metrics="ndcg@10")
        assert [one.candidate.name for one in found.comparisons] == ["dense", "third"]
    with pytest.raises(nt.InputError) as caught:
        two_runs.compare("bm25", 2)  # type: ignore[arg-type]
    assert str(caught.value) == "a candidate must be the name, id or @alias of a run, or a list of these, not 2"
    with pytest.raises(nt.InputError, match="a comparison needs a candidate"):
        two_runs.compare("bm25", [])


def test_the_baseline_is_one_run(tracker: nt.Tracker) -> None:
    tracker.store(create=True)
    with pytest.raises(nt.InputError) as caught:
        tracker.compare(["a", "b"])  # type: ignore[arg-type]
    assert str(caught.value) == (
        "the baseline must be the name, id or @alias of one run, not ['a', 'b']; "
        "name it first, and the candidates after it"
    )


def test_a_difference_that_the_metric_cannot_have_is_not_detectable(tracker: nt.Tracker) -> None:
    """Two groups detect no difference within 1; of a sum of gains, which has no bounds, the figure stays."""
    items = {"group": ["a", "a", "b", "b"], "item": ["x", "y", "x", "y"]}
    labels = {**items, "label": [1, 0, 1, 0]}
    tracker.ingest({**items, "score": [2.0, 1.0, 1.0, 2.0]}, name="one", labels=labels, metrics=["ndcg@10", "dcg@10"])
    tracker.ingest({**items, "score": [1.0, 2.0, 2.2, 2.1]}, name="two", metrics=["ndcg@10", "dcg@10"])
    result = tracker.compare("one", "two")
    ndcg, dcg = (
        next(of for of in result.to_dict()["metrics"] if of["metric"] == name) for name in ("ndcg@10", "dcg@10")
    )
    assert (ndcg["verdict"], ndcg["detectable_delta"]) == ("no_difference_detected", None)
    assert dcg["detectable_delta"] > 1
    assert "; none: not even the largest possible\n" in result.to_text(verbose=True)
    assert " none\n" in result.to_text(verbose=True)
