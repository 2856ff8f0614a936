"""The comparison as a person reads it, to the letter."""

import string
from dataclasses import replace

import pytest
from comparisons import changed
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ndcg_tracker.compare.results import Comparison, Verdict
from ndcg_tracker.compare.say import comparison_said, finding, headline, tally
from ndcg_tracker.render.report import WIDTH
from ndcg_tracker.render.terminal import display_width
from ndcg_tracker.words.notes import Note

TEXT = """\
dense against bm25 on shop (400 queries): 1 of 4 metrics worse (1 of 4 on low information)

   metric                              bm25   dense    delta        95% interval      p
▼  ndcg@10                           0.6500  0.6377  -0.0123  -0.0201 to -0.0045  <1e-4  ¹ ²
~  ndcg(gain=exp2, missing=skip)@10  0.5050  0.5054  +0.0004  -0.0014 to +0.0024   0.62  ² ³ ⁴
=  P@1                               0.6500  0.6500  +0.0000                   -      -  ¹ ² ⁵
!  AP                                     -       -        -                   -      -  ⁶ ⁷
¹ 12 groups with labels but missing in the candidate run: counted as 0
² 3 groups undefined in both runs: left out
³ 1 group with a result in the baseline only: left out
⁴ low information: 19 of 396 differences are nonzero; below 25, the t interval may be too narrow
⁵ identical everywhere: no interval, no p-value
⁶ 2 groups with a result in the candidate only: left out
⁷ no group has a result in both runs, so there is nothing to compare

worst: red shoes (-0.36), 検索 (-0.21)     best: q29 (+0.19)

note: candidate and baseline are the same run

▼ worse, ~ no difference detected, = identical, ! cannot be compared
d_z: effect size, mean difference / standard deviation of the differences
detectable: the smallest difference detected with 80% power; none: not even the largest possible
delta: candidate - baseline, in absolute points
95% interval: paired t; p: paired t-test, Holm-corrected for 2 metrics at once

groups     400 paired
labels     version 2, digest 3f2a91c0d4e5
judged@10  baseline 98.1%, candidate 87.3%
judged     baseline 50.0%, candidate not known

metric                            better  same  worse    d_z  detectable
ndcg@10                              101   158    141  -0.13           -
ndcg(gain=exp2, missing=skip)@10      11   377      8  +0.03      0.0027
P@1                                    0   400      0      -           -
AP                                     0     0      0      -           -

worst groups in ndcg@10
group      baseline  candidate    delta
red shoes    0.7480     0.3830  -0.3650
検索         0.2110     0.0000  -0.2110

best groups in ndcg@10
group  baseline  candidate    delta
q29      0.6550     0.8460  +0.1910
"""


def test_text(comparison: Comparison) -> None:
    assert comparison_said(comparison).in_format("text", detail="all") == TEXT
    assert TEXT.startswith(comparison_said(comparison).in_format("text").rpartition("more: ")[0])
    assert comparison_said(comparison).in_format("text", detail="line") == TEXT.splitlines(keepends=True)[0]


SHORT = """\
dense against bm25 on shop (400 queries): P@1 is identical on all 400 queries

   metric    bm25   dense    delta
=  P@1     0.6500  0.6500  +0.0000  ¹ ² ³
¹ 12 groups with labels but missing in the candidate run: counted as 0
² 3 groups undefined in both runs: left out
³ identical everywhere: no interval, no p-value

= identical
delta: candidate - baseline, in absolute points

groups  400 paired
labels  version 2, digest 3f2a91c0d4e5

metric  better  same  worse
P@1          0   400      0
"""


def test_short_text(comparison: Comparison) -> None:
    short = replace(comparison, metrics=comparison.metrics[2:3], worst=(), best=(), notes=(), coverage=())
    assert comparison_said(short).in_format("text", detail="all") == SHORT


FULL = """\
dense against bm25 on shop (400 queries): ndcg@10 worse by 0.0123 (low information: not a safe
verdict)

   metric     bm25   dense    delta        95% interval      p
▼  ndcg@10  0.6500  0.6377  -0.0123  -0.0201 to -0.0045  <1e-4  ¹
¹ low information: 19 of 400 differences are nonzero; below 25, the t interval may be too narrow

equivalence within ±0.01
metric   finding                     90% interval     p
ndcg@10  not shown equivalent  -0.0189 to -0.0057  0.72

ndcg@10 by device: 1 worse, 1 not tested (4 slices)
   device     n    bm25   dense    delta        95% interval      p      q
▼  phone    250  0.6500  0.6000  -0.0500  -0.0700 to -0.0300  <1e-4  <1e-4
!  watch      1  0.6500  0.6000  -0.0100                   -      -      -  ¹
=  (none)    49  0.6500  0.6000  +0.0000                   -      -      -  ²
~  desktop  100  0.6500  0.6000  +0.0200  -0.0100 to +0.0500   0.10   0.10  ³
¹ one group says nothing about others: no interval and no p-value
² identical everywhere: no interval, no p-value
³ low information (under 25 nonzero differences): the t interval may be too narrow
p, which gives the verdict: paired t-test, Holm-corrected for 2 slices at once
(none): the groups without this attribute

groups whose ndcg@10 depends on ties in scores
group      run        worst   value    best
red shoes  baseline  0.7000  0.7480  0.8000

worst: red shoes (-0.36), 検索 (-0.21)     best: q29 (+0.19)

note: labels version 3 is newer than version 2, which the runs share; to use it:
      ndcg-track rescore bm25 dense --dataset shop
note: ties in scores could change the verdict on ndcg@10: depending on how they are broken, delta is
      between -0.0223 and -0.0023

▼ worse
q: false discovery rate (Benjamini-Hochberg)
▼ worse, ! cannot be compared, = identical, ~ no difference detected
d_z: effect size, mean difference / standard deviation of the differences
delta: candidate - baseline, in absolute points
95% interval: paired t; p: paired t-test
ci='betting': an interval that allows for rare, large differences
equivalence: two one-sided t-tests (TOST), each metric on its own

groups     400 paired
labels     version 2, digest 3f2a91c0d4e5
judged@10  baseline 98.1%, candidate 87.3%
judged     baseline 50.0%, candidate not known
ties       ndcg@10: baseline 0.6400 to 0.6600, candidate 0.6377

metric   better  same  worse    d_z
ndcg@10       5   381     14  -0.13

worst groups in ndcg@10
group      baseline  candidate    delta  of which  rank   item
red shoes    0.7480     0.3830  -0.3650   -0.3000  1 → 7  sku-1 (grade 3)
検索         0.2110     0.0000  -0.2110         -  -      -

best groups in ndcg@10
group  baseline  candidate    delta
q29      0.6550     0.8460  +0.1910
"""


def test_text_of_everything(full_comparison: Comparison) -> None:
    assert comparison_said(full_comparison).in_format("text", detail="all") == FULL
    assert max(map(display_width, FULL.splitlines())) <= WIDTH == 100


def test_every_finding_in_words(comparison: Comparison) -> None:
    regressed, undetected, identical, incomparable = comparison.metrics
    alone = replace(comparison, metrics=comparison.metrics[:1])
    assert headline(alone) == "dense against bm25 on shop (400 queries): ndcg@10 worse by 0.0123"
    assert finding(changed(regressed, delta=0.0321, verdict="improved")) == "ndcg@10 better by 0.0321"
    assert (
        finding(undetected) == "no difference detected in ndcg(gain=exp2, missing=skip)@10 (+0.0004; low information)"
    )
    assert finding(changed(undetected, p_value=None, metric="AP")) == "AP differs by +0.0004, which no test can judge"
    assert finding(identical) == "P@1 is identical on all 400 queries"
    assert finding(changed(identical, n=1)) == "P@1 is identical on the 1 query"
    assert finding(incomparable) == "AP cannot be compared"
    assert finding(changed(regressed, delta=-0.00001)) == "ndcg@10 worse by 1.0e-05"


@pytest.mark.parametrize(
    ("verdicts", "told"),
    [
        (["regressed", "improved", "improved"], "1 of 3 metrics worse, 2 better"),
        (["identical", "improved"], "1 of 2 metrics better"),
        (["improved", "improved"], "both metrics better"),
        (["identical", "identical"], "identical in both metrics"),
        (["not_comparable", "not_comparable"], "none of 2 metrics can be compared"),
        (["identical", "no_difference_detected"], "no difference detected"),
    ],
)
def test_a_headline_for_several_metrics(comparison: Comparison, verdicts: list[Verdict], told: str) -> None:
    metrics = tuple(changed(comparison.metrics[0], verdict=verdict) for verdict in verdicts)
    assert tally(metrics) == told
    assert headline(replace(comparison, metrics=metrics)) == f"dense against bm25 on shop (400 queries): {told}"


def test_metrics_that_no_test_can_judge_are_not_called_undetected(comparison: Comparison) -> None:
    untested = changed(comparison.metrics[0], p_value=None, verdict="no_difference_detected")
    assert tally([untested, untested]) == "none of 2 metrics can be compared"


def test_several_candidates_share_one_table(comparison: Comparison) -> None:
    other = replace(comparison, candidate=replace(comparison.candidate, name="splade", run_id=3))
    text = comparison_said(comparison, other).in_format("text")
    assert text.startswith(
        "2 candidates against bm25 on shop (400 queries): 2 of 8 comparisons worse (2 of 8 on low\n"
        "information)\n"
        "\n"
        "   run     metric                      bm25    mean    delta        95% interval      p\n"
        "▼  dense   ndcg@10                   0.6500  0.6377  -0.0123  -0.0201 to -0.0045  <1e-4  ¹ ²\n"
        "~  dense   ndcg(gain=ex…ng=skip)@10  0.5050  0.5054  +0.0004  -0.0014 to +0.0024   0.62  ² ³ ⁴\n"
        "=  dense   P@1                       0.6500  0.6500  +0.0000                   -      -  ¹ ² ⁵\n"
        "!  dense   AP                             -       -        -                   -      -  ⁶ ⁷\n"
        "▼  splade  ndcg@10                   0.6500  0.6377  -0.0123  -0.0201 to -0.0045  <1e-4  ¹ ²\n"
        "~  splade  ndcg(gain=ex…ng=skip)@10  0.5050  0.5054  +0.0004  -0.0014 to +0.0024   0.62  ² ³ ⁴\n"
        "=  splade  P@1                       0.6500  0.6500  +0.0000                   -      -  ¹ ² ⁵\n"
        "!  splade  AP                             -       -        -                   -      -  ⁶ ⁷\n"
    )
    assert "\n⁴ low information (under 25 nonzero differences): the t interval may be too narrow\n" in text
    assert text.endswith(
        "\n"
        "note: candidate and baseline are the same run\n"
        "more: to_text(verbose=True) the page of each   explain why   report a page\n"
    )


def test_the_pages_of_several_candidates_follow_on_request(comparison: Comparison) -> None:
    other = replace(comparison, candidate=replace(comparison.candidate, name="splade", run_id=3))
    text = comparison_said(comparison, other).in_format("text", detail="all")
    assert text.startswith(comparison_said(comparison, other).in_format("text").rpartition("more: ")[0])
    assert text.count("Holm-corrected for 4 metrics of all candidates at once") == 1
    assert "\n\n\nsplade against bm25 on shop (400 queries): 1 of 4 metrics worse (1 of 4 on low" in text


def test_second_thoughts(comparison: Comparison) -> None:
    regressed, undetected, *_ = comparison.metrics
    lonely = changed(undetected, metric="AP", p_value=0.0213, p_adjusted=0.0852, warnings=())
    text = comparison_said(replace(comparison, metrics=(regressed, lonely))).in_format("text")
    assert "\n⁴ p 0.0213 by itself, which is not enough when 2 are tested together\n" in text
    unsafe = replace(
        regressed,
        warnings=(Note("low_information", {"n": 400, "n_nonzero": 9, "enough": 25}),),
    )
    text = comparison_said(replace(comparison, metrics=(unsafe, changed(unsafe, metric="AP")))).in_format("text")
    assert text.count("low information (under 25 nonzero differences)") == 1
    assert text.startswith("dense against bm25 on shop (400 queries): both metrics worse (2 of 2 on low information)\n")


def test_methods_are_named(full_comparison: Comparison) -> None:
    (metric,) = full_comparison.metrics
    symmetry = "the Wilcoxon test tests symmetry, not the mean"
    asked = changed(
        metric, test="wilcoxon", ci_method="betting", ci=(-0.0503, 0.0311), warnings=(Note("tests_symmetry"),)
    )
    text = comparison_said(replace(full_comparison, metrics=(asked,))).in_format("text", detail="all")
    told = "betting (valid at any n); p: Wilcoxon signed-rank test without zeros (tests symmetry, not the mean)"
    assert f" 95% interval: {told} " in " ".join(text.split())
    assert "ci='betting'" not in text
    assert symmetry not in text
    asked = changed(asked, warnings=metric.warnings)
    few = "¹ low information: 19 of 400 differences are nonzero\n"
    assert few in comparison_said(replace(full_comparison, metrics=(asked,))).in_format("text", detail="all")
    several = comparison_said(replace(full_comparison, metrics=(asked, changed(asked, metric="AP")))).in_format(
        "text", detail="all"
    )
    assert "¹ low information (under 25 nonzero differences)\n" in several
    other = changed(metric, test="permutation", ci_method="bootstrap")
    text = comparison_said(replace(full_comparison, metrics=(other,))).in_format("text", detail="all")
    assert (
        "\n95% interval: bootstrap (BCa: corrected for bias and skewness); p: permutation test (sign flips)\n" in text
    )
    assert "are nonzero; below 25, the interval may be too narrow\n" in text


def test_a_metric_is_shown_with_its_canonical_text(comparison: Comparison) -> None:
    from ndcg_tracker.metrics.language.text import parse_metric

    canonical = str(parse_metric("lightgbm:ndcg@5"))
    text = comparison_said(replace(comparison, metrics=(changed(comparison.metrics[0], metric=canonical),))).in_format(
        "text", detail="all"
    )
    assert text.startswith("dense against bm25 on shop (400 queries): lightgbm:ndcg@5 worse by 0.0123\n")
    fact = text[text.index("\nmetric     lightgbm:ndcg@5 = ") :].split("\n\n")[0]
    assert " ".join(fact.split()) == f"metric lightgbm:ndcg@5 = {canonical}"
    assert max(map(len, fact.splitlines())) <= WIDTH


LONG = st.text(string.ascii_letters + string.digits, min_size=1, max_size=60)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    runs=st.lists(LONG, min_size=1, max_size=3, unique=True),
    metric=LONG,
    value=LONG,
    item=LONG,
    width=st.sampled_from([92, WIDTH, 140]),
)
def test_nothing_is_wider_than_the_page_but_a_headline(
    full_comparison: Comparison, runs: list[str], metric: str, value: str, item: str, width: int
) -> None:
    (one,) = full_comparison.metrics
    one = changed(one, metric=metric)
    group = full_comparison.worst[0]
    worst = (replace(group, group=value, moves=(replace((group.moves or ())[0], item=item),)),)
    slices = tuple(changed(row, attribute=value, value=value) for row in full_comparison.slices or ())
    comparisons = [
        replace(
            full_comparison,
            metrics=(one, one),
            candidate=replace(full_comparison.candidate, name=run),
            slices=slices,
            worst=worst,
            notes=(),
        )
        for run in runs
    ]
    for line in comparison_said(*comparisons).in_format("text", width=width).splitlines():
        if " against " not in line and " by " not in line and not line.startswith(("ties", "note: ", "groups that")):
            assert display_width(line) <= width, line


@pytest.mark.parametrize("p_value", [5e-324, 9.9e-5])
def test_p_is_never_printed_as_zero(comparison: Comparison, p_value: float) -> None:
    one = replace(comparison, metrics=(changed(comparison.metrics[0], p_adjusted=p_value),))
    assert "-0.0045  <1e-4  ¹ ²\n" in comparison_said(one).in_format("text")


def test_colour_follows_the_verdict(comparison: Comparison) -> None:
    text = comparison_said(comparison).in_format("text", color=True)
    assert text.startswith(
        "\x1b[1mdense against bm25 on shop (400 queries): 1 of 4 metrics worse (1 of 4 on low information)\x1b[0m\n"
    )
    assert "\n\x1b[33m▼\x1b[0m  ndcg@10 " in text
    assert "  \x1b[33m-0.0123\x1b[0m" in text
    assert "\n~  ndcg(gain=exp2" in text
