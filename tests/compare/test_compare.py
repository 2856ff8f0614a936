"""From paired results to verdicts, warnings, worst and best groups, and the public JSON."""

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ndcg_tracker.compare.decide import (
    Attributes,
    PairedResults,
    adjusted_jointly,
    compare_metrics,
    compare_runs,
    extreme_groups,
)
from ndcg_tracker.compare.options import Methods
from ndcg_tracker.compare.pair import pair
from ndcg_tracker.compare.results import About, Comparison, Estimate, JudgedShare, LabelSetRef, RunRef
from ndcg_tracker.compare.say import comparison_object
from ndcg_tracker.compare.slices import AttributeValues
from ndcg_tracker.errors import InputError
from ndcg_tracker.render.formats import as_object
from ndcg_tracker.statistics.distribution_free import (
    betting_interval,
    bootstrap_interval,
    sign_flip_p_value,
    wilcoxon_p_value,
)
from ndcg_tracker.statistics.many_tests import holm
from ndcg_tracker.statistics.t_test import equivalence_test, paired_t
from ndcg_tracker.words.notes import Note, note_text

BASELINE, CANDIDATE, LABELS = RunRef("bm25", 1), RunRef("dense", 2), LabelSetRef(3, "ab" * 16)
SHOP, BACK = Comparison(BASELINE, CANDIDATE, "shop", LABELS), Comparison(CANDIDATE, BASELINE, "shop", LABELS)


def results(
    baseline: list[float],
    candidate: list[float],
    metric: str = "ndcg@10",
    weights: NDArray[np.float64] | None = None,
    limits: tuple[float, float] | None = None,
    **rest: Any,
) -> PairedResults:
    ids = np.arange(len(baseline))
    pairing = pair(ids, np.array(baseline), ids, np.array(candidate))
    return PairedResults(
        About(metric=metric, groups=pairing.groups),
        pairing,
        replace(pairing.sample, weights=weights, limits=limits),
        **rest,
    )


def names(ids: NDArray[np.int64]) -> list[str]:
    return [f"q{number}" for number in ids.tolist()]


def said(metric: Estimate) -> tuple[str, ...]:
    return tuple(map(note_text, metric.warnings))


def one(baseline: list[float], candidate: list[float], **rest: Any) -> Estimate:
    (metric,) = compare_metrics([results(baseline, candidate, **rest)])
    return metric


def by_device(*devices: str | None) -> Attributes:
    found = [*dict.fromkeys(device for device in devices if device is not None)]
    codes = np.array([-1 if device is None else found.index(device) for device in devices], dtype=np.int64)
    return Attributes((AttributeValues("device", np.arange(len(devices)), found, codes),), are_shown=True)


def compared(*metrics: PairedResults, candidate: RunRef = CANDIDATE) -> Comparison:
    return compare_runs(Comparison(BASELINE, candidate, "shop", LABELS), metrics, names)


@pytest.mark.parametrize(("sign", "verdict"), [(1, "improved"), (-1, "regressed")])
def test_a_clear_difference(sign: int, verdict: str) -> None:
    delta = np.random.default_rng(0).choice([0.0, 0.25, -0.125], 400)
    metric = one([0.5] * 400, (0.5 + sign * delta).tolist())
    assert metric.verdict == verdict
    assert metric.delta == sign * delta.mean()
    assert metric.wins + metric.ties + metric.losses == metric.n == 400
    assert metric.ties == (delta == 0).sum()
    assert metric.detectable_delta is not None
    assert metric.warnings == ()


def test_noise_is_no_difference() -> None:
    delta = np.random.default_rng(4).normal(0, 0.1, 500)
    metric = one([0.5] * 500, (0.5 + delta).tolist())
    assert metric.verdict == "no_difference_detected"
    assert metric.p_value == metric.p_adjusted > 0.05


@pytest.mark.parametrize(
    ("baseline", "candidate", "verdict", "warnings"),
    [
        ([], [], "not_comparable", ("no group has a result in both runs, so there is nothing to compare",)),
        (
            [0.5],
            [0.75],
            "no_difference_detected",
            ("one group says nothing about others: no interval and no p-value",),
        ),
        ([0.5], [0.5], "identical", ()),
        ([0.5, 0.25], [0.5, 0.25], "identical", ()),
        (
            [0.5, 0.25, 0.0],
            [0.75, 0.5, 0.25],
            "no_difference_detected",
            ("all 3 groups differ by the same amount: the interval and the p-value are undefined",),
        ),
    ],
    ids=["no group", "one group", "one equal group", "identical", "constant"],
)
def test_no_inference(baseline: list[float], candidate: list[float], verdict: str, warnings: tuple[str, ...]) -> None:
    metric = one(baseline, candidate)
    assert (metric.verdict, said(metric)) == (verdict, warnings)
    assert (metric.p_value, metric.p_adjusted, metric.ci, metric.effect_size) == (None, None, None, None)
    assert metric.delta == (None if not baseline else candidate[0] - baseline[0])


def test_few_differences_are_low_information() -> None:
    metric = one([0.5] * 300, [0.75] * 24 + [0.5] * 276)
    assert said(metric) == (
        "low information: 24 of 300 differences are nonzero; below 25, the t interval may be too narrow",
    )
    assert metric.has_low_information
    assert comparison_object(compared(results([0.5] * 300, [0.75] * 24 + [0.5] * 276)))["metrics"][0]["low_information"]


def test_few_or_skewed_differences_are_low_information() -> None:
    delta = np.full(200, 0.001)
    delta[:3] = -1.0
    assert said(one([1.0] * 200, (1.0 + delta).tolist())) == (
        "low information: the differences are very skewed (skewness -8.0 over 200 groups), so the t interval may be "
        "too narrow",
    )
    assert said(one([0.5] * 300, [0.75] * 25 + [0.5] * 275)) == ()


def test_weights_change_the_mean_and_weight_zero_does_not_count() -> None:
    metric = one([0.5, 0.5, 0.5], [0.75, 0.25, 0.0], weights=np.array([3.0, 1.0, 0.0]))
    assert metric.delta == (3 * 0.25 - 0.25) / 4
    assert (metric.n, metric.wins, metric.ties, metric.losses, metric.about.groups.paired) == (2, 1, 0, 1, 3)
    assert said(metric)[0] == "1 group with weight 0 left out"
    worst = extreme_groups(
        results([0.5] * 3, [0.75, 0.25, 0.0], weights=np.array([3.0, 1.0, 0.0])), names, top=5, sign=-1
    )
    assert [group.group for group in worst] == ["q1"]


def test_refused_inference_shows_the_means() -> None:
    reason = Note("means_weigh_groups")
    metric = one([0.5, 0.25, 1.0], [0.75, 0.25, 0.5], means=(0.6, 0.7), no_inference=reason)
    assert (metric.baseline, metric.candidate, metric.delta) == (0.6, 0.7, 0.7 - 0.6)
    assert (metric.p_value, metric.ci, metric.detectable_delta) == (None, None, None)
    assert metric.verdict == "no_difference_detected"
    assert metric.warnings == (reason,)


def test_holm_over_the_metrics_shown_decides() -> None:
    rng = np.random.default_rng(17)
    shifts = [0.1 * 1.99 / math.sqrt(400), 0.05, 0.0]
    deltas = []
    for shift in shifts:
        noise = rng.normal(0, 1, 400)
        deltas.append(0.1 * (noise - noise.mean()) / noise.std(ddof=1) + shift)
    together = compare_metrics([results([0.5] * 400, (0.5 + d).tolist(), metric=f"m{i}") for i, d in enumerate(deltas)])
    assert [metric.verdict for metric in together] == [
        "no_difference_detected",  # p = .047 alone
        "improved",
        "no_difference_detected",
    ]
    assert one([0.5] * 400, (0.5 + deltas[0]).tolist()).verdict == "improved"
    assert [metric.p_adjusted for metric in together] == holm([metric.p_value for metric in together])


def test_several_candidates_share_one_correction() -> None:
    delta = np.tile([0.1, -0.1], 200) + 0.01
    comparisons = [
        compared(results([0.5] * 400, (0.5 + delta).tolist()), candidate=RunRef(f"c{number}", number))
        for number in range(3)
    ]
    assert [comparison.metrics[0].verdict for comparison in comparisons] == ["improved"] * 3
    p_value = comparisons[0].metrics[0].p_value
    assert p_value is not None
    adjusted = adjusted_jointly(comparisons)
    assert [comparison.metrics[0].p_adjusted for comparison in adjusted] == [3 * p_value] * 3
    assert {comparison.metrics[0].verdict for comparison in adjusted} == {"no_difference_detected"}
    assert [comparison.candidate.name for comparison in adjusted] == ["c0", "c1", "c2"]


def test_worst_and_best_in_order_and_ties_by_key_bytes() -> None:
    keys = ["z", "é", "a", "B", "same", "up", "日", "𝒳"]
    candidate = [0.0, 0.0, 0.0, 0.0, 0.5, 0.75, 0.25, 0.0]

    def named(ids: NDArray[np.int64]) -> list[str]:
        return [keys[number] for number in ids.tolist()]

    given_results = results([0.5] * 8, candidate)
    worst = extreme_groups(given_results, named, top=4, sign=-1)
    everyone = extreme_groups(given_results, named, top=100, sign=-1)
    fallen = sorted(["z", "é", "a", "B", "𝒳"], key=str.encode)
    assert [group.group for group in worst] == fallen[:4]
    assert [group.group for group in everyone] == [*fallen, "日"]
    assert [group.delta for group in everyone] == [-0.5] * 5 + [-0.25]
    best = extreme_groups(given_results, named, top=10, sign=1)
    assert [(group.group, group.baseline, group.candidate, group.delta) for group in best] == [("up", 0.5, 0.75, 0.25)]
    assert extreme_groups(given_results, named, top=0, sign=1) == ()


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.sampled_from([0.0, 0.5, 1.0])), max_size=30))
def test_swapping_the_runs_flips_every_sign(pairs: list[tuple[float, float]]) -> None:
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    there = compare_runs(SHOP, [results(left, right)], names, top=5)
    back = compare_runs(BACK, [results(right, left)], names, top=5)
    a, b = there.metrics[0], back.metrics[0]
    assert (a.baseline, a.candidate, a.wins, a.ties, a.losses) == (b.candidate, b.baseline, b.losses, b.ties, b.wins)
    assert a.delta is b.delta is None or a.delta == -(b.delta or 0.0)
    assert (a.p_value, a.p_adjusted, a.detectable_delta) == (b.p_value, b.p_adjusted, b.detectable_delta)
    assert a.ci is b.ci is None or (b.ci is not None and a.ci == (-b.ci[1], -b.ci[0]))
    assert a.p_value is None or 0 < a.p_value <= 1
    opposite = {"improved": "regressed", "regressed": "improved"}
    assert a.verdict == opposite.get(b.verdict, b.verdict)
    assert [(g.group, g.delta) for g in there.worst] == [(g.group, -g.delta) for g in back.best]


def test_json_has_exactly_the_public_keys() -> None:
    comparison = compare_runs(
        replace(SHOP, coverage=(JudgedShare(10, 0.9, 0.95),), notes=(Note("same_run"),)),
        [results([0.5, 0.25, 1.0], [0.75, 0.25, 0.5]), results([0.5], [0.75], metric="AP")],
        names,
    )
    document = json.loads(json.dumps(comparison_object(comparison), allow_nan=False))
    assert list(document) == [
        *["baseline", "candidate", "dataset", "label_set", "groups", "metrics", "worst", "best"],
        *["notes", "coverage", "listed"],
    ]
    assert document["baseline"] == {"name": "bm25", "run_id": 1}
    assert document["label_set"] == {"version": 3, "digest": "ab" * 16, "judge": ""}
    public = ["paired", "only_in_baseline", "only_in_candidate", "undefined"]
    assert list(document["groups"])[:4] == public
    first, second = document["metrics"]
    assert list(first) == [
        *["metric", "baseline", "candidate", "delta", "ci", "ci_method", "p_value", "p_adjusted", "test"],
        *["wins", "ties", "losses", "effect_size", "detectable_delta", "warnings", "verdict"],
        *["not_comparable", "n", "groups", "shown_only", "rare_loss", "low_information", "direction", "judged"],
        *["is_open", "open", "requested_as", "betting_ci", "tie_bounds"],
    ]
    test = paired_t(np.array([0.25, 0.0, -0.5]))
    assert first["ci"] == list(test.ci or ())
    assert first["p_value"] == test.p_value
    assert second["ci"] is second["p_value"] is second["p_adjusted"] is second["effect_size"] is None
    assert document["worst"] == [{"group": "q2", "baseline": 1.0, "candidate": 0.5, "delta": -0.5}]
    assert document["best"] == [{"group": "q0", "baseline": 0.5, "candidate": 0.75, "delta": 0.25}]
    assert document["coverage"] == [{"cutoff": 10, "baseline": 0.9, "candidate": 0.95}]


def test_counts_come_from_the_pairing() -> None:
    pairing = pair(
        np.array([1, 2, 3]), np.array([0.5, math.nan, 0.5]), np.array([1, 2, 4]), np.array([1, math.nan, 1.0]),
        missing="zero",
    )  # fmt: skip
    about = About(metric="ndcg@10", groups=replace(pairing.groups, missing_in_candidate=7))
    comparison = compared(PairedResults(about, pairing, pairing.sample))
    assert as_object(comparison.groups) == {
        "paired": 3,
        "only_in_baseline": 1,
        "only_in_candidate": 1,
        "undefined": 1,
        "missing_in_baseline": 0,
        "missing_in_candidate": 7,
        "missing": "zero",
        "in_neither": 0,
    }


def test_no_metric_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one metric"):
        compared()


SPREAD = np.tile([0.25, -0.125, 0.0, 0.0625], 100)


def chosen(delta: NDArray[np.float64], weights: NDArray[np.float64] | None = None, **methods: Any) -> Estimate:
    (metric,) = compare_metrics([results([0.0] * delta.size, delta.tolist(), weights=weights)], Methods(**methods))
    return metric


@pytest.mark.parametrize("weights", [None, np.tile([1.0, 2.0, 0.0, 3.0], 100)], ids=["unweighted", "weighted"])
def test_the_test_and_the_interval_that_were_asked_for(weights: NDArray[np.float64] | None) -> None:
    counts = SPREAD if weights is None else SPREAD[weights > 0]
    own = None if weights is None else weights[weights > 0]
    flipped = chosen(SPREAD, weights, test="permutation", ci="bootstrap")
    assert (flipped.about.test, flipped.about.ci_method) == ("permutation", "bootstrap")
    assert flipped.p_value == flipped.p_adjusted == sign_flip_p_value(counts, own)
    assert flipped.ci == bootstrap_interval(counts, own)
    bet = chosen(SPREAD, weights, ci="betting")
    assert (bet.about.test, bet.about.ci_method, bet.ci) == ("t", "betting", betting_interval(counts, own))
    assert bet.p_value == chosen(SPREAD, weights).p_value
    assert bet.delta == flipped.delta == chosen(SPREAD, weights).delta
    assert bet.equivalence is None


def test_wilcoxon_says_what_it_tests() -> None:
    metric = chosen(SPREAD, test="wilcoxon")
    assert metric.p_value == wilcoxon_p_value(SPREAD)
    assert said(metric) == ("the Wilcoxon test tests symmetry, not the mean",)


def test_equivalence_is_shown_when_asked_for() -> None:
    found = chosen(SPREAD - SPREAD.mean() + 0.001, equivalence=0.02).equivalence
    assert found == equivalence_test(paired_t(SPREAD - SPREAD.mean() + 0.001), 0.02)
    assert found is not None
    assert found.equivalent


def test_a_constant_difference_has_a_p_value_by_permutation_only() -> None:
    metric = chosen(np.full(400, 0.25), test="permutation")
    assert (metric.p_value, metric.ci, metric.verdict) == (pytest.approx(1 / 10_001), None, "improved")
    assert said(metric) == ("all 400 groups differ by the same amount: the interval is undefined",)
    assert (metric.effect_size, metric.detectable_delta) == (None, None)


@pytest.mark.parametrize("test", ["t", "permutation", "wilcoxon"])
@pytest.mark.parametrize("ci", ["t", "bootstrap", "betting"])
def test_nothing_to_infer_stays_nothing(test: str, ci: str) -> None:
    for delta in ([], [0.5], [0.0, 0.0]):
        metric = chosen(np.array(delta), test=test, ci=ci)
        assert (metric.p_value, metric.ci) == (None, None)
    refused = one([0.5, 0.25], [0.75, 0.125], means=(0.5, 0.25), no_inference=Note("means_weigh_groups"))
    assert (refused.p_value, refused.ci, refused.warnings) == (None, None, (Note("means_weigh_groups"),))


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ({"test": "sign"}, "test='sign' is unknown; give t, permutation or wilcoxon"),
        ({"ci": "normal"}, "ci='normal' is unknown; give t, bootstrap or betting"),
        (
            {"equivalence": -1.0},
            "the equivalence margin must be a number above 0, not -1.0; give it in absolute points, such as 0.01",
        ),
        (
            {"test": "wilcoxon", "weights": np.full(400, 2.0)},
            "ndcg@10: the Wilcoxon test takes no weights: choose test='t' or test='permutation'",
        ),
        (
            {"ci": "betting", "delta": 9 * SPREAD},
            "ndcg@10: a betting interval needs differences within -1 to 1: choose ci='t' or ci='bootstrap'",
        ),
    ],
)
def test_methods_that_are_refused(methods: dict[str, Any], message: str) -> None:
    given_methods = dict(methods)
    with pytest.raises(InputError) as refusal:
        chosen(given_methods.pop("delta", SPREAD), given_methods.pop("weights", None), **given_methods)
    assert str(refusal.value) == message


def test_compare_runs_hands_the_methods_on() -> None:
    given_results = results([0.0] * 400, SPREAD.tolist())
    comparison = compare_runs(
        SHOP, [given_results], names,
        methods=Methods(test="permutation", ci="betting", equivalence=0.1),
    )  # fmt: skip
    assert comparison.metrics[0] == chosen(SPREAD, test="permutation", ci="betting", equivalence=0.1)
    document = json.loads(json.dumps(comparison_object(comparison), allow_nan=False))
    assert document["metrics"][0]["equivalence"]["margin"] == 0.1


def test_equivalence_without_a_test() -> None:
    identical = chosen(np.zeros(9), equivalence=0.1).equivalence
    alone = chosen(np.array([0.05]), equivalence=0.1).equivalence
    assert identical is not None
    assert as_object(identical) == {"margin": 0.1, "p_value": None, "ci": None, "equivalent": True}
    assert alone is not None
    assert as_object(alone) == {"margin": 0.1, "p_value": None, "ci": None, "equivalent": False}
    assert chosen(SPREAD).equivalence is None


def test_slices_come_with_the_comparison_the_worst_first() -> None:
    given_results = results([0.5, 0.5, 0.5, 0.5], [0.75, 0.25, 0.5, 0.5])
    comparison = compare_runs(SHOP, [given_results], names, by=by_device("phone", "tv", "desk", None))
    assert [(row.about.value, row.delta) for row in comparison.slices or ()] == [
        ("tv", -0.25), ("desk", 0.0), (None, 0.0), ("phone", 0.25),
    ]  # fmt: skip
    assert comparison_object(comparison)["slices"][0] == {
        "attribute": "device", "value": "tv", "n": 1, "baseline": 0.5, "candidate": 0.25, "delta": -0.25, "ci": None,
        "wins": 0, "ties": 0, "losses": 1, "p_value": None, "q_value": None, "p_adjusted": None,
        "verdict": "not_comparable", "warning": "one group says nothing about others: no interval and no p-value",
        "rest": 0.08333333333333333, "share": None, "p_apart": None, "stands_out": False,
    }  # fmt: skip
    assert "slices" not in comparison_object(compare_runs(SHOP, [given_results], names))


def test_what_no_test_covers_cannot_be_sliced() -> None:
    weighty = results([0.5, 0.5], [0.75, 0.25], means=(0.5, 0.25), no_inference=Note("means_weigh_groups"))
    with pytest.raises(InputError) as refusal:
        compare_runs(SHOP, [weighty], names, by=by_device("a", "b"))
    assert str(refusal.value) == "ndcg@10 cannot be sliced: no test applies; name another metric first"


def test_equal_results_without_a_judged_item_are_not_identical() -> None:
    metric = one([0.0, 0.0, 0.0], [0.0, 0.0, 0.0], not_judged="nothing_judged")
    assert (metric.verdict, metric.about.not_comparable) == ("not_comparable", "nothing_judged")
    assert (metric.baseline, metric.candidate, metric.delta, metric.ties) == (0.0, 0.0, None, 3)
    assert one([0.0], [0.0]).verdict == "identical"
    moved = one([0.25, 0.0, 0.5], [0.5, 0.0, 0.25], not_judged="nothing_judged")
    assert (moved.verdict, moved.about.not_comparable) == ("no_difference_detected", None)
    assert one([], []).about.not_comparable == "no_group"
    assert not compared(results([0.0], [0.0], not_judged="nothing_judged")).is_comparable
    assert compared(
        results([0.0], [0.0], not_judged="nothing_judged"), results([0.5], [0.5], metric="AP")
    ).is_comparable


def test_runs_without_a_judged_item_are_not_equivalent() -> None:
    (metric,) = compare_metrics(
        [results([0.0, 0.0], [0.0, 0.0], not_judged="nothing_judged")], Methods(equivalence=0.01)
    )
    assert metric.equivalence is not None
    assert not metric.equivalence.equivalent


def test_an_interval_stays_where_differences_can_lie() -> None:
    values = ([0.0, 1.0], [1.0, 0.9])
    free, limited = one(*values), one(*values, limits=(-1.0, 1.0))
    assert free.ci is not None
    assert free.ci[0] < -1
    assert free.ci[1] > 1
    assert limited.ci == (-1.0, 1.0)
    assert (limited.p_value, limited.verdict) == (free.p_value, free.verdict)
    sliced = compare_runs(
        SHOP,
        [results(*values, limits=(-1.0, 1.0))],
        names,
        by=by_device("phone", "phone"),
        methods=Methods(equivalence=0.1),
    )
    assert sliced.slices is not None
    assert sliced.slices[0].ci == (-1.0, 1.0)
    assert sliced.metrics[0].equivalence is not None
    assert sliced.metrics[0].equivalence.ci == (-1.0, 1.0)
