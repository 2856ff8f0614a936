"""What unjudged items leave open, as people read it."""

from dataclasses import replace

import pytest

from ndcg_tracker.compare.results import Comparison, PossibleDelta, UnjudgedBounds
from ndcg_tracker.compare.say import comparison_said

LEAST = PossibleDelta(-0.25, (-0.375, -0.125), 1e-9, 2e-9, "regressed")
GREATEST = PossibleDelta(0.5, (0.25, 0.75), 0.0125, 0.025, "improved")
UNSETTLED = PossibleDelta(0.0, None, None, None, "no_difference_detected")
SAME = PossibleDelta(0.0, None, None, None, "identical")

TOLD = """\
effect of unjudged items on ndcg@10: 1,200 items in 1 group
labels       delta        95% interval       p  verdict
unchanged  -0.0123  [-0.0201, -0.0045]   <1e-4  regressed
least      -0.2500  [-0.3750, -0.1250]   <1e-4  regressed
greatest   +0.5000  [+0.2500, +0.7500]  0.0250  improved
condensed  +0.0000                   -       -  identical
least, greatest: over all grades that unjudged items in the first ranks of either run may have
unjudged items beyond the cutoff are left out, although they could enlarge the ideal
between least and greatest, p may be higher or lower than at either end
condensed: both lists without their unjudged items
"""


def shown(comparison: Comparison, bounds: UnjudgedBounds) -> str:
    (metric,) = comparison.metrics
    return comparison_said(replace(comparison, metrics=(replace(metric, unjudged_bounds=bounds),))).in_format("text")


def test_the_table_to_the_letter(full_comparison: Comparison) -> None:
    text = shown(full_comparison, UnjudgedBounds(1200, 1, LEAST, GREATEST, SAME))
    assert TOLD in text
    assert comparison_said(full_comparison).in_format("text") in text.replace(TOLD + "\n", "")


@pytest.mark.parametrize(
    ("bounds", "told"),
    [
        (UnjudgedBounds(0, 0, SAME, SAME, SAME), "on ndcg@10: none, because no item in the first ranks is unjudged\n"),
        (UnjudgedBounds(0, 0, condensed=SAME, not_supported="measure"), "on ndcg@10: not known for this metric\n"),
        (UnjudgedBounds(0, 0, not_supported="ties=optimistic"), "on ndcg@10: not known with ties=optimistic\n"),
        (
            UnjudgedBounds(2, 2, UNSETTLED, GREATEST),
            "least      +0.0000                   -       -  cannot be judged\n",
        ),
    ],
)
def test_what_is_not_open_and_what_is_not_known(full_comparison: Comparison, bounds: UnjudgedBounds, told: str) -> None:
    text = shown(full_comparison, bounds)
    assert told in text
    assert ("beyond the cutoff" in text) is (bounds.least is not None)
    assert ("condensed: " in text) is (bounds.condensed is not None)
