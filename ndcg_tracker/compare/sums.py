"""Two runs of which only sums are known: the same comparison and decision, without any group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ndcg_tracker.compare.decide import ComparedRuns, adjusted_jointly
from ndcg_tracker.compare.inference import NOTHING, Inference, Methods, low_information, metric_warnings
from ndcg_tracker.compare.pair import Missing
from ndcg_tracker.compare.results import (
    Clusters,
    Comparison,
    GroupCounts,
    MetricComparison,
    SliceComparison,
    Verdict,
)
from ndcg_tracker.compare.slices import corrected_slices, worst_first
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.metrics.language.measures import ShownOnly
from ndcg_tracker.statistics.summary import PairedSums
from ndcg_tracker.statistics.t_test import detectable_delta, equivalence_test
from ndcg_tracker.words.notes import Note


@dataclass(frozen=True, slots=True)
class SummedResults:
    """One metric of two runs, by the sums of its paired differences.

    ``metric``: its canonical text. ``slices``: the sums by the values of the attribute ``sliced_by``, None for the
    groups without one. ``clustered_by``: the attribute that makes the clusters of ``whole``, None where these are left
    out. ``shown_only``: why the metric is shown and not compared, None where it is compared.
    """

    metric: str
    whole: PairedSums
    sliced_by: str | None = None
    slices: Mapping[str | None, PairedSums] | None = None
    clustered_by: str | None = None
    shown_only: ShownOnly | None = None


def refuse_groups(**asked: object) -> None:
    """Raise InputError for the first argument that is given, since it asks for groups."""
    for name, value in asked.items():
        if value:
            raise InputError(
                f"{argument(name, value)} needs the groups, and these runs were stored as sums", advice="leave it out"
            )


def compare_sums(
    runs: ComparedRuns, results: Sequence[SummedResults], *, methods: Methods, missing: Missing = "error"
) -> Comparison:
    """Return the comparison of two runs by sums: what ``compare_runs`` returns, but for the worst and best groups.

    ``missing``: "intersect" leaves out groups with a value in one run only, as the sums do; "error" refuses them.
    Raises: InputError for what needs the groups.
    """
    refuse_groups(
        test=methods.test != "t" and methods.test,
        ci=methods.ci != "t" and methods.ci,
        missing=missing not in ("error", "intersect") and missing,
    )
    metrics = [_compared(one, methods, missing) for one in results]
    first = results[0]
    rows = None if first.slices is None else corrected_slices([_slice(*one) for one in first.slices.items()])
    comparison = Comparison(
        runs.baseline,
        runs.candidate,
        runs.dataset,
        runs.label_set,
        metrics[0].groups,
        tuple(metrics),
        worst=(),
        best=(),
        notes=runs.notes,
        slices=None if rows is None else worst_first(rows),
        slice_attribute=first.sliced_by,
    )
    return adjusted_jointly([comparison])[0]


def _compared(results: SummedResults, methods: Methods, missing: Missing) -> MetricComparison:
    whole = results.whole
    n_alone = whole.only_in_baseline + whole.only_in_candidate
    if n_alone and missing == "error":
        raise InputError(
            f"{n_alone} {'group has' if n_alone == 1 else 'groups have'} a result in one run only "
            f"({whole.only_in_baseline} in the baseline, {whole.only_in_candidate} in the candidate)",
            where=results.metric,
            advice=f"choose {argument('missing', 'intersect')} (leave them out, as the sums do)",
            joint=": ",
        )
    test, differences, known = whole.test(), whole.differences, whole.information()
    shown_only = results.shown_only
    no_inference = None if shown_only is None else Note(shown_only)
    identical = differences.n > 0 and not differences.n_nonzero
    inferred = test.n > 1 and not identical and no_inference is None
    margin = methods.equivalence
    of_margin = None if margin is None else equivalence_test(test, margin)
    found = Inference(test.p_value, test.ci, of_margin) if inferred else NOTHING
    verdict: Verdict = "identical" if identical else "no_difference_detected" if test.n else "not_comparable"
    return MetricComparison(
        metric=results.metric,
        baseline=whole.baseline_mean if test.n else None,
        candidate=whole.baseline_mean + differences.mean if test.n else None,
        delta=test.mean,
        ci=found.ci,
        ci_method=methods.ci,
        p_value=found.p_value,
        p_adjusted=found.p_value,
        test=methods.test,
        n=test.n,
        wins=differences.wins,
        ties=differences.ties,
        losses=differences.losses,
        effect_size=test.effect_size if inferred else None,
        detectable_delta=detectable_delta(test) if inferred and test.t is not None else None,
        warnings=metric_warnings(None, 0, known, found, "t") if no_inference is None else (no_inference,),
        verdict=None if shown_only else verdict,
        groups=GroupCounts(
            paired=differences.n,
            only_in_baseline=whole.only_in_baseline,
            only_in_candidate=whole.only_in_candidate,
            undefined=whole.undefined,
            missing=missing,
        ),
        equivalence=found.equivalence,
        not_comparable=None if test.n or shown_only else "no_group",
        standard_error=test.standard_error,
        df=test.df,
        clusters=None if results.clustered_by is None else Clusters(results.clustered_by, known.n),
        shown_only=shown_only,
    )


def _slice(value: str | None, sums: PairedSums) -> SliceComparison:
    """Return one slice as if it were the only one."""
    test, differences = sums.test(), sums.differences
    inferred = differences.n_nonzero > 0
    return SliceComparison(
        value=value,
        n=test.n,
        baseline=sums.baseline_mean if test.n else None,
        candidate=sums.baseline_mean + differences.mean if test.n else None,
        delta=test.mean,
        ci=test.ci if inferred else None,
        wins=differences.wins,
        ties=differences.ties,
        losses=differences.losses,
        p_value=test.p_value if inferred else None,
        q_value=None,
        p_adjusted=None,
        verdict="no_difference_detected" if inferred else "identical" if test.n else "not_comparable",
        warning=low_information(sums.information()),
    )
