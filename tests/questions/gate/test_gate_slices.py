"""Slices at the gate: what they decide, and how often they err."""

from dataclasses import replace

import numpy as np
import pytest
from populations import ALL, Record, repeats
from samples import decided, slices, with_slices

from ndcg_tracker.compare.sample import Sample
from ndcg_tracker.compare.slices import Slicing
from ndcg_tracker.errors import InputError
from ndcg_tracker.questions.gate.decide import FEWEST_IN_SLICE, Decision, Part, regressed
from ndcg_tracker.questions.gate.say import reason
from ndcg_tracker.render.formats import as_object
from ndcg_tracker.statistics.t_test import enough_for

RNG = np.random.default_rng(5)
WHOLE = RNG.normal(0.05, 0.1, 600)
SEGMENTS = ["de"] * 300 + ["fr"] * 200 + ["nl"] * 60 + ["li"] * 20 + [None] * 20


def judged(decision: Decision) -> list[Part]:
    """Return the slices that are large enough for bounds."""
    return [part for part in decision.slices if part.n >= FEWEST_IN_SLICE]


def test_a_gain_does_not_hide_a_segment_that_falls() -> None:
    delta = WHOLE.copy()
    delta[500:560] -= 0.4
    whole = decided(delta, 0.01)
    found = with_slices(whole, delta, SEGMENTS, 0.05)
    assert (whole.decision, found.decision) == ("pass", "fail")
    assert [(row.value, row.n, row.status) for row in judged(found)] == [
        ("nl", 60, "fails"), ("de", 300, "within"), ("fr", 200, "within"),
    ]  # fmt: skip
    assert (len(found.slices), found.without("slice")) == (5, "pass")
    worst = judged(found)[0]
    assert worst.upper is not None
    assert f"; below -0.05: country='nl' (at most {worst.upper:.4g} with 99.6667% confidence)" in reason(found)
    assert as_object(found)["parts"][0]["status"] == "fails"


def test_an_open_slice_that_did_not_regress_is_named() -> None:
    delta = WHOLE.copy()
    delta[500:560] -= 0.06
    whole, by = decided(delta, 0.01), SEGMENTS
    found = with_slices(whole, delta, by, 0.05)
    assert found.decision == "pass"
    assert ("not shown to be above -0.05: country='nl'") in reason(found)
    assert with_slices(decided(-WHOLE, 0.01), -WHOLE, by, 0.05).decision == "fail"


def test_an_open_slice_that_compare_calls_regressed_blocks_a_pass() -> None:
    """54 groups that lose .064: p is 3e-7, but they are too few to show a drop beyond the margin."""
    values = ["phone"] * 54 + ["tv"] * 400 + ["tablet"] * 146
    delta = np.random.default_rng(54).normal(0.03, 0.08, 600)
    delta[:54] += -0.064 - delta[:54].mean()
    delta[:54] = -0.064 + (delta[:54] + 0.064) * 0.08 / delta[:54].std(ddof=1)
    rows = {row.about.value: row for row in slices(delta, values)}
    assert rows["phone"].p_value == pytest.approx(2.8e-7, rel=0.05)
    assert (rows["phone"].verdict, rows["tv"].verdict) == ("regressed", "improved")
    whole = decided(delta, 0.01)
    found = with_slices(whole, delta, values, 0.05, by="device")
    assert (whole.decision, found.decision) == ("pass", "inconclusive")
    assert judged(found)[0].status == "open"
    (row,) = [part for part in found.slices if part.p_adjusted is not None]
    assert (row.value, row.p_adjusted) == ("phone", rows["phone"].p_adjusted)
    told = "; not shown to be above -0.05: device='phone'; regressed by compare's test: device='phone' ("
    assert told in reason(found)
    assert with_slices(whole, delta, values, 0.5).decision == "pass"


def test_groups_of_weight_0_are_in_no_slice() -> None:
    weights = np.repeat([1.0, 0.0], [300, 300])
    decision = decided(WHOLE, 0.01, weights=weights)
    found = with_slices(decision, WHOLE, SEGMENTS, 0.05, weights=weights)
    assert [(row.value, row.n) for row in found.slices] == [("de", 300)]


def test_a_margin_is_a_number() -> None:
    with pytest.raises(InputError, match=r"^the margin of slices must be a number 0 or more, not -1; give it in "):
        with_slices(decided(WHOLE, 0.01), WHOLE, SEGMENTS, -1)


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("n_slices", [1, 4, 12])
def test_slices_that_drop_by_the_margin_fail_rarely(n_slices: int, record_property: Record) -> None:
    """Every slice drops by just its margin: any FAIL is an error, and Holm shares 1% among them."""
    rng, samples = np.random.default_rng(n_slices), repeats(1500)
    size = enough_for(0.01 / n_slices)  # else the betting bound decides, and neither strikes
    by = [str(number) for number in range(n_slices) for _ in range(size)]
    n_failed = n_within = 0
    for _ in range(samples):
        delta = rng.normal(-0.05, 0.1, n_slices * size)
        found = with_slices(decided(delta, 1.0), delta, by, 0.05)
        n_failed += found.decision == "fail"
        n_within += sum(part.status == "within" for part in found.slices)
    record_property(f"a slice fails, {n_slices}", n_failed / samples)
    record_property(f"within, {n_slices}", n_within / samples / n_slices)
    assert 0 < n_failed / samples <= 0.014
    assert 0.03 < n_within / samples / n_slices <= 0.058


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "highest", "least"), [("normal", 0.05, 0.9), ("graded", 0.05, 0.1), ("asymmetric", 0.55, 0.9)]
)
def test_slices_that_regressed_block_a_pass_and_others_seldom_do(
    name: str, highest: float, least: float, record_property: Record
) -> None:
    """Four slices of 60 groups, too few for t, allowed a drop of .05: the mean of all is 0, or one lost .08."""
    rng, samples = np.random.default_rng(60), repeats(150)
    by = np.repeat(["a", "b", "c", "d"], 60).tolist()
    blocked = {0.0: 0, 0.08: 0}
    for lost in blocked:
        for delta in -ALL[name](rng, (samples, 240)):  # mirrored, as below
            delta[:60] -= lost
            whole = decided(np.zeros(2000), 1.0)
            blocked[lost] += with_slices(whole, delta, by, 0.05).decision != "pass"
    record_property(f"an unchanged candidate is no PASS, {name}", blocked[0.0] / samples)
    record_property(f"a slice that lost .08 is no PASS, {name}", blocked[0.08] / samples)
    assert blocked[0.0] / samples <= highest
    assert blocked[0.08] / samples >= least


def test_that_no_slice_is_judged_is_told() -> None:
    by = [str(number) for number in range(600)]
    found = with_slices(decided(WHOLE, 0.01), WHOLE, by, 0.05, by="city")
    assert (found.decision, judged(found), len(found.slices)) == ("pass", [], 600)
    assert ("no slice by city has 25 queries, so none was judged") in reason(found)
    same = np.zeros(600)
    for lists in (None, same == 0):
        assert with_slices(decided(same, 0.01, same_lists=lists), same, by, 0.05, same_lists=lists).decision == "pass"


@pytest.mark.parametrize("fall", [np.full(20, -0.5), np.linspace(-0.6, -0.4, 20)])  # of equal ones t knows no p
def test_a_small_slice_that_falls_is_no_pass(fall: np.ndarray) -> None:
    delta = WHOLE.copy()
    delta[560:580] = fall
    whole, by = decided(delta, 0.01), SEGMENTS
    found = with_slices(whole, delta, by, 0.05)
    assert found.decision == "inconclusive"
    assert "; regressed by compare's test: country='li' (" in reason(found)
    (row,) = [part for part in as_object(found)["parts"] if part["p_adjusted"] is not None]
    assert (row["value"], row["n"], row["delta"], row["low_information"]) == ("li", 20, pytest.approx(-0.5), True)
    assert row["p_adjusted"] <= 1e-5
    assert with_slices(whole, delta, by, 0.6).decision == "pass"  # it is allowed more than that
    turned = replace(with_slices(whole, delta, by, 0.05), direction="lower").slices
    assert [part.delta for part in turned if part.p_adjusted is not None] == [pytest.approx(0.5)]
    assert with_slices(decided(-WHOLE, 0.01), -WHOLE, by, 0.05).decision == "fail"


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize(("name", "highest"), [("normal", 0.05), ("graded", 0.05), ("asymmetric", 0.15)])
def test_small_slices_are_named_falsely_at_a_known_rate(name: str, highest: float, record_property: Record) -> None:
    """15 slices of 10 groups whose mean is 0: any that is named is an error, and Holm shares 5%, half of it below."""
    rng, samples = np.random.default_rng(15), repeats(400)
    by = Slicing.of("product", [str(number) for number in range(15) for _ in range(10)])
    drawn = -ALL[name](rng, (samples, 150))  # mirrored: many small losses are what looks like a fall
    found = (regressed("product", list(Sample(delta).slices(by))) for delta in drawn)
    n_named = sum(any(part.p_adjusted for part in parts) for parts in found)
    record_property(f"a small slice is named, {name}", n_named / samples)
    assert n_named / samples <= highest
