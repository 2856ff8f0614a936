"""The tables of a comparison: equivalence, moves and slices, and what becomes of them where there is little room."""

import re
from dataclasses import replace

import pytest
from comparisons import changed

from ndcg_tracker.compare.results import Comparison, ItemMove, Where
from ndcg_tracker.compare.say import comparison_said
from ndcg_tracker.compare.say_tables import SLICES_SHOWN
from ndcg_tracker.statistics.t_test import Equivalence


@pytest.mark.parametrize(
    ("p_value", "ci", "equivalent", "told"),
    [
        (1e-9, (-0.0089, 0.0057), True, ["equivalent", "-0.0089 to +0.0057", "<1e-4"]),
        (0.2, (-0.0189, 0.0057), False, ["not shown equivalent", "-0.0189 to +0.0057", "0.20"]),
        (None, None, True, ["identical in every group"]),
        (None, None, False, ["cannot be tested"]),
    ],
)
def test_equivalence(
    full_comparison: Comparison,
    p_value: float | None,
    ci: tuple[float, float] | None,
    equivalent: bool,
    told: list[str],
) -> None:
    (metric,) = full_comparison.metrics
    found = Equivalence(0.01, p_value, ci, equivalent)
    text = comparison_said(replace(full_comparison, metrics=(replace(metric, equivalence=found),))).in_format(
        "text", detail="all"
    )
    table = text[text.index("\nequivalence within ±0.01\n") :].splitlines()
    assert re.split(" {2,}", table[3]) == ["ndcg@10", *told]
    assert ("equivalence: two one-sided t-tests (TOST)" in text) is (p_value is not None)


@pytest.mark.parametrize(
    ("move", "told"),
    [
        (ItemMove("a", 3.0, 2, 14, 0.2, 0.0, -0.2), "-0.2000  2 → 14  a (grade 3)"),
        (ItemMove("a", 0.5, None, 3, 0.0, 0.25, 0.25), "+0.2500  new at 3  a (grade 0.5)"),
        (ItemMove("a", None, 3, None, 0.25, 0.0, -0.25), "-0.2500  gone from 3  a (unjudged)"),
        (ItemMove("a", 1.0, 3, 3, 0.25, 0.2, -0.05), "-0.0500  stays 3  a (grade 1)"),
    ],
)
def test_moves_in_words(comparison: Comparison, move: ItemMove, told: str) -> None:
    worst = (replace(comparison.worst[0], moves=(move,)),)
    assert (
        comparison_said(replace(comparison, worst=worst))
        .in_format("text", detail="all")
        .split("worst groups")[1]
        .splitlines()[2]
        .endswith(told)
    )


CUT = """
group                                 baseline  candidate    delta  of which  rank   item
waterproof running…er, size 31 to 35    0.7480     0.3830  -0.3650   -0.3000  1 → 7  sku-1 (grade 3)
検索                                    0.2110     0.0000  -0.2110         -  -      -
"""


def test_long_names_are_cut(full_comparison: Comparison) -> None:
    first, second = full_comparison.worst
    name = "waterproof running shoes for children in winter, size 31 to 35"
    shown = replace(full_comparison, worst=(replace(first, group=name), second))
    assert CUT in comparison_said(shown).in_format("text", detail="all")


def test_many_slices_are_cut_in_the_middle(full_comparison: Comparison) -> None:
    phone = (full_comparison.slices or ())[0]
    slices = tuple(changed(phone, value=f"device {number:02}") for number in range(2 * SLICES_SHOWN + 3))
    text = comparison_said(replace(full_comparison, slices=slices)).in_format("text", detail="all")
    shown = [line[3:12] for line in text.splitlines() if line.startswith("▼  device ")]
    assert shown == [f"device {number:02}" for number in [*range(10), *range(13, 23)]]
    assert "\nnot shown: 3 slices between the worst and the best; JSON and CSV have all\n" in text
    assert "ndcg@10 by device: 23 worse (23 slices)" in text


def test_no_slice_at_all(full_comparison: Comparison) -> None:
    none = replace(full_comparison, slices=(), where=Where(("device",), 0))
    text = comparison_said(none).in_format("text")
    assert "\nndcg@10 by device: no difference detected (0 slices)\n" in text


NARROW_SLICES = """
   device     n    delta        95% interval      p      q
▼  phone    250  -0.0500  -0.0700 to -0.0300  <1e-4  <1e-4
!  watch      1  -0.0100                   -      -      -  ¹
"""


def test_a_narrow_page_wraps_sentences_and_keeps_numbers_whole(full_comparison: Comparison) -> None:
    lines = comparison_said(full_comparison).in_format("text", width=72).splitlines()
    assert "¹ low information: 19 of 400 differences are nonzero; below 25, the t" in lines
    on_terminal = comparison_said(full_comparison).in_format("text", width=64, is_terminal=True)
    assert NARROW_SLICES in on_terminal
    assert comparison_said(full_comparison).in_format("text", width=1) == comparison_said(full_comparison).in_format(
        "text", width=60
    )
