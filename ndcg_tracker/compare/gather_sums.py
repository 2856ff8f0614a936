"""Runs of which only sums over their groups are known, compared by what the sums allow."""

from __future__ import annotations

from dataclasses import replace as replaced
from typing import TYPE_CHECKING

from ndcg_tracker.compare.decide import ComparedRuns
from ndcg_tracker.compare.results import RunRef
from ndcg_tracker.compare.run_pair import label_set_ref
from ndcg_tracker.compare.sums import SummedResults, compare_sums
from ndcg_tracker.errors import InputError, NotComparableError, argument
from ndcg_tracker.storage.records import PairedSumsRecord

if TYPE_CHECKING:
    from ndcg_tracker.compare.inference import Methods
    from ndcg_tracker.compare.pair import Missing
    from ndcg_tracker.compare.results import Comparison
    from ndcg_tracker.compare.run_pair import RunPair
    from ndcg_tracker.statistics.summary import PairedSums
    from ndcg_tracker.storage.transactions import ReadTransaction


def are_sums(tx: ReadTransaction, both: RunPair) -> bool:
    """Return whether one of two runs was stored as sums (InputError for one among the repeats of an arm)."""
    found = tx.runs.prunings(*(side.run.id for side in both.sides))
    of_sums = [run_id for run_id, one in found.items() if "groups" not in one.holds]
    if of_sums and both.is_repeated:
        name = next(side.run.name for side in both.sides if side.run.id in of_sums)
        raise InputError(
            f"run {name!r} was stored as sums, which say nothing of an arm of repeated runs", advice="name two runs"
        )
    return bool(of_sums)


def summed_results(
    tx: ReadTransaction, both: RunPair, *, by: str | None = None, cluster: str | None = None
) -> list[SummedResults]:
    """Return the stored sums of two runs' differences under each metric, the first one by slices.

    Raises: NotComparableError where none are stored; InputError for slices or clusters that they do not have.
    """
    found = []
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
        found.append(
            SummedResults(
                text,
                record.whole if cluster is not None else replaced(record.whole, clusters=None),
                by if is_first else None,
                _slices(record, cluster) if by is not None and is_first else None,
                cluster,
                metric.shown_only,
            )
        )
    return found


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
    one, other = (side.run for side in both.sides)
    partners = {run.name: tx.evaluations.partners(run.id) for run in (one, other)}
    known = "; ".join(f"{name!r} with {', '.join(map(repr, of_run))}" for name, of_run in partners.items() if of_run)
    return NotComparableError(
        f"of runs {one.name!r} and {other.name!r} no sums of differences are stored, and means alone cannot be compared"
        f"{f' (paired are {known})' if known else ''}",
        advice=f"summarize both where their groups are, and store: ndcg-track ingest --summaries FILE --name "
        f"{other.name} --baseline {one.name}",
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
    one, other = both.baseline.run, both.candidate.run
    results = summed_results(tx, both, by=by, cluster=cluster)
    runs = ComparedRuns(
        RunRef(one.name, one.id),
        RunRef(other.name, other.id),
        one.dataset,
        label_set_ref(both.baseline.label_set),
        notes=tuple(both.notes()),
    )
    return compare_sums(runs, results, methods=methods, missing=missing), results
