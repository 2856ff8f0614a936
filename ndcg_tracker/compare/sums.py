"""Compare runs that were stored as sums of differences in the same way as runs with groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as replaced
from typing import TYPE_CHECKING

from ndcg_tracker.compare.decide import ComparedRuns, adjusted_jointly, possible
from ndcg_tracker.compare.inference import NOTHING, Inference, Methods, metric_warnings
from ndcg_tracker.compare.options import Missing
from ndcg_tracker.compare.results import (
    Clusters,
    Comparison,
    GroupCounts,
    MetricComparison,
    RunRef,
    SliceComparison,
    Verdict,
)
from ndcg_tracker.compare.run_pair import label_set_ref
from ndcg_tracker.compare.slices import corrected_slices, tested, worst_first
from ndcg_tracker.errors import InputError, NotComparableError, argument
from ndcg_tracker.metrics.language.measures import ShownOnly
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.statistics.summary import PairedSums
from ndcg_tracker.statistics.t_test import detectable_delta, equivalence_test
from ndcg_tracker.storage.records import PairedSumsRecord
from ndcg_tracker.words.notes import Note

if TYPE_CHECKING:
    from ndcg_tracker.compare.inference import Methods
    from ndcg_tracker.compare.options import Missing
    from ndcg_tracker.compare.results import Comparison
    from ndcg_tracker.compare.run_pair import RunPair
    from ndcg_tracker.statistics.summary import PairedSums
    from ndcg_tracker.storage.store import ReadTransaction


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
    """Raise InputError for the first argument that is given; all of these need the groups."""
    for name, value in asked.items():
        if value:
            raise InputError(
                f"{argument(name, value)} needs the groups, but these runs were stored as sums", advice="leave it out"
            )


def compare_sums(
    runs: ComparedRuns, results: Sequence[SummedResults], *, methods: Methods, missing: Missing = "error"
) -> Comparison:
    """Return the comparison of two runs by sums: the result of ``compare_runs`` without the worst and best groups.

    ``missing``: "intersect" leaves out groups with a value in one run only, as the sums do, with a note if the metric
    may have summed up others as 0; "error" refuses the groups. Raises: InputError for what needs the groups.
    """
    refuse_groups(
        test=methods.test != "t" and methods.test,
        ci=methods.ci != "t" and methods.ci,
        missing=missing not in ("error", "intersect") and missing,
    )
    metrics = [_compared(summed, methods, missing) for summed in results]
    counting = [metric for of in results if (metric := parse_metric(of.metric)).counts_missing]
    lost = [
        Note("summed_as_0", {"metric": str(metric), "skipping": str(metric.with_axes(missing="skip"))})
        for metric in counting[: missing == "intersect"]
    ]
    first = results[0]
    rows = (
        None
        if first.slices is None
        else corrected_slices([_slice(value, sums) for value, sums in first.slices.items()])
    )
    comparison = Comparison(
        runs.baseline,
        runs.candidate,
        runs.dataset,
        runs.label_set,
        metrics[0].groups,
        tuple(metrics),
        worst=(),
        best=(),
        notes=(*runs.notes, *lost),
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
    limits = parse_metric(results.metric).limits
    of_delta = None if limits is None else (limits[0] - limits[1], limits[1] - limits[0])
    test, differences, information = whole.test(), whole.differences, whole.information()
    shown_only = results.shown_only
    no_inference = None if shown_only is None else Note(shown_only)
    identical = differences.n > 0 and not differences.n_nonzero
    inferred = test.n > 1 and not identical and no_inference is None
    margin = methods.equivalence
    of_margin = None if margin is None else equivalence_test(test, margin)
    inference = Inference(test.p_value, test.ci, of_margin) if inferred else NOTHING
    verdict: Verdict = "identical" if identical else "no_difference_detected" if test.n else "not_comparable"
    return MetricComparison(
        metric=results.metric,
        baseline=whole.baseline_mean if test.n else None,
        candidate=whole.baseline_mean + differences.mean if test.n else None,
        delta=test.mean,
        ci=inference.ci,
        ci_method=methods.ci,
        p_value=inference.p_value,
        p_adjusted=inference.p_value,
        test=methods.test,
        n=test.n,
        wins=differences.wins,
        ties=differences.ties,
        losses=differences.losses,
        effect_size=test.effect_size if inferred else None,
        detectable_delta=possible(detectable_delta(test), of_delta) if inferred and test.t is not None else None,
        warnings=metric_warnings(None, 0, information, inference, "t") if no_inference is None else (no_inference,),
        verdict=None if shown_only else verdict,
        groups=GroupCounts(
            paired=differences.n,
            only_in_baseline=whole.only_in_baseline,
            only_in_candidate=whole.only_in_candidate,
            undefined=whole.undefined,
            missing=missing,
        ),
        equivalence=inference.equivalence,
        not_comparable=None if test.n or shown_only else "no_group",
        standard_error=test.standard_error,
        df=test.df,
        clusters=None if results.clustered_by is None else Clusters(results.clustered_by, information.n),
        shown_only=shown_only,
    )


def _slice(value: str | None, sums: PairedSums) -> SliceComparison:
    """Return one slice as if it were the only one."""
    test, differences = sums.test(), sums.differences
    inferred = differences.n_nonzero > 0
    verdict, warning = tested(test, sums.information(), inferred=inferred)
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
        verdict=verdict,
        warning=warning,
    )


def are_sums(tx: ReadTransaction, both: RunPair) -> bool:
    """Return whether one of two runs was stored as sums (InputError for one among the repeats of an arm)."""
    prunings = tx.runs.prunings(*(side.run.id for side in both.sides))
    of_sums = [run_id for run_id, pruning in prunings.items() if "groups" not in pruning.holds]
    if of_sums and both.is_repeated:
        name = next(side.run.name for side in both.sides if side.run.id in of_sums)
        raise InputError(
            f"run {name!r} was stored as sums, which say nothing about an arm of repeated runs", advice="name two runs"
        )
    return bool(of_sums)


def summed_results(
    tx: ReadTransaction, both: RunPair, *, by: str | None = None, cluster: str | None = None
) -> list[SummedResults]:
    """Return the stored sums of two runs' differences under each metric, the first one by slices.

    Raises: NotComparableError where none are stored; InputError for slices or clusters that they do not have.
    """
    summed = []
    for metric in both.metrics:
        text = str(metric)
        record = _record(tx, both, text)
        for asked, has, what in ((by, record.attribute, "by"), (cluster, record.cluster, "cluster")):
            if asked is not None and asked != has:
                kept = "none" if has is None else f"those of {has!r}"
                raise InputError(
                    f"the sums of these runs have no {'slices' if what == 'by' else 'clusters'} of {asked!r}; "
                    f"they have {kept}",
                    advice=f"give {argument(what, asked)} to summarize, and store the sums again",
                )
        is_first = metric == both.metric
        summed.append(
            SummedResults(
                text,
                record.whole if cluster is not None else replaced(record.whole, clusters=None),
                by if is_first else None,
                _slices(record, cluster) if by is not None and is_first else None,
                cluster,
                metric.shown_only,
            )
        )
    return summed


def summed_slices(
    tx: ReadTransaction, both: RunPair, cluster: str | None
) -> tuple[str | None, dict[str | None, PairedSums]]:
    """Return the attribute that slices the sums under the first metric, None for none, and the sums by slice."""
    record = _record(tx, both, str(both.metric))
    return record.attribute, _slices(record, cluster)


def _record(tx: ReadTransaction, both: RunPair, metric: str) -> PairedSumsRecord:
    baseline, candidate = both.baseline, both.candidate
    record = tx.evaluations.sums(candidate.evaluations[metric].id, baseline.run.id)
    if record is not None:
        return record
    reverse = tx.evaluations.sums(baseline.evaluations[metric].id, candidate.run.id)
    if reverse is None:
        raise _not_paired(tx, both)
    return _reversed(reverse)


def _slices(record: PairedSumsRecord, cluster: str | None) -> dict[str | None, PairedSums]:
    return {
        value: sums if cluster is not None else replaced(sums, clusters=None) for value, sums in record.slices.items()
    }


def _reversed(record: PairedSumsRecord) -> PairedSumsRecord:
    slices = {value: sums.reversed() for value, sums in record.slices.items()}
    return replaced(record, whole=record.whole.reversed(), slices=slices)


def _not_paired(tx: ReadTransaction, both: RunPair) -> NotComparableError:
    baseline, candidate = (side.run for side in both.sides)
    partners = {run.name: tx.evaluations.partners(run.id) for run in (baseline, candidate)}
    paired = "; ".join(f"{name!r} with {', '.join(map(repr, of_run))}" for name, of_run in partners.items() if of_run)
    return NotComparableError(
        f"no sums of differences are stored for runs {baseline.name!r} and {candidate.name!r}, and means alone cannot "
        f"be compared{f' (stored pairs: {paired})' if paired else ''}",
        advice=f"summarize both where their groups are, and store: ndcg-track ingest --summaries FILE --name "
        f"{candidate.name} --baseline {baseline.name}",
    )


def compared_sums(
    tx: ReadTransaction,
    both: RunPair,
    *,
    methods: Methods,
    missing: Missing,
    by: str | None = None,
    cluster: str | None = None,
) -> tuple[Comparison, list[SummedResults]]:
    """Return the comparison of two runs by their stored sums, and these sums. Raises: see ``summed_results``."""
    baseline, candidate = both.baseline.run, both.candidate.run
    results = summed_results(tx, both, by=by, cluster=cluster)
    runs = ComparedRuns(
        RunRef(baseline.name, baseline.id),
        RunRef(candidate.name, candidate.id),
        baseline.dataset,
        label_set_ref(both.baseline.label_set),
        notes=tuple(both.notes()),
    )
    return compare_sums(runs, results, methods=methods, missing=missing), results
