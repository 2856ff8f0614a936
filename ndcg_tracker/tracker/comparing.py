"""Two stored runs brought together: which label set and metrics they share, and their group results side by side."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.comparison.compare import PairedResults, adjusted_jointly, compare_runs
from ndcg_tracker.comparison.inference import CiMethod, TestName
from ndcg_tracker.comparison.moves import most_telling
from ndcg_tracker.comparison.notes import Note
from ndcg_tracker.comparison.pairing import Missing, Pairing, pair
from ndcg_tracker.comparison.results import Comparison, GroupDelta, JudgedShare, LabelSetRef, RunRef
from ndcg_tracker.comparison.tie_effect import TieBounds, TieEffect
from ndcg_tracker.errors import InputError, NotComparableError, argument
from ndcg_tracker.metrics.judged_share import judged_shares
from ndcg_tracker.metrics.kernel.mean import summary_of
from ndcg_tracker.metrics.language.measures import OF_THE_MISSING
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.rankings.join import judged
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.reporting.notes import sentence
from ndcg_tracker.tracker.explained_runs import Side, Sides
from ndcg_tracker.tracker.explaining import item_moves
from ndcg_tracker.tracker.inference_limits import MEANS_AGREE, NO_INFERENCE
from ndcg_tracker.tracker.open_ties import open_groups
from ndcg_tracker.tracker.scoring import stored_weights
from ndcg_tracker.tracker.slicing import AttributeValues, attribute_values

if TYPE_CHECKING:
    from ndcg_tracker.rankings.types import Floats, Index
    from ndcg_tracker.storage.records import EvaluationRecord, GroupResultColumns, LabelSetRecord, RunRecord
    from ndcg_tracker.storage.store import ReadTransaction

Evaluations = dict[str, "EvaluationRecord"]

MOVES = 3
"""So many items at most are kept for each of the worst and best groups."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a comparison is asked for beside runs and metrics (see ``Tracker.compare``)."""

    missing: Missing = "error"
    top: int = 10
    tie_groups: bool = False
    test: TestName = "t"
    ci: CiMethod = "t"
    equivalence: float | None = None


def compared(
    tx: ReadTransaction,
    baseline: RunRecord,
    candidates: Sequence[RunRecord],
    metrics: Sequence[Metric],
    *,
    missing: Missing = "error",
    top: int = 10,
    tie_groups: bool = False,
    test: TestName = "t",
    ci: CiMethod = "t",
    equivalence: float | None = None,
    by: str | None = None,
) -> tuple[Comparison, ...]:
    """Return the comparison of a run with each candidate, their p-values corrected together.

    ``metrics``: none for all that a candidate shares with the baseline. ``tie_groups``: look for the groups that ties
    in scores leave open as well, which reads the items of all runs. ``by``: a group attribute to slice by. Raises:
    InputError without a candidate, for an attribute that no group has, and for methods that do not apply;
    NotComparableError where two runs share no metric, naming the command that mends it.
    """
    if not candidates:
        raise InputError("a comparison needs a candidate; name one after the baseline")
    metrics = list(dict.fromkeys(metrics))
    asked = Asked(missing, top, tie_groups, test, ci, equivalence)
    values = None if by is None else attribute_values(tx, baseline, by)
    each = [_compared(tx, baseline, candidate, metrics, asked, values) for candidate in candidates]
    return adjusted_jointly(each) if len(each) > 1 else tuple(each)


def _compared(
    tx: ReadTransaction,
    baseline: RunRecord,
    candidate: RunRecord,
    metrics: Sequence[Metric],
    asked: Asked,
    values: AttributeValues | None,
) -> Comparison:
    """Return the comparison of two stored runs under the newest label set under which both have the metrics."""
    if baseline.dataset_id != candidate.dataset_id:
        raise NotComparableError(
            f"run {baseline.name!r} is of dataset {baseline.dataset!r} and run {candidate.name!r} of dataset "
            f"{candidate.dataset!r}; only runs of one dataset can be compared"
        )
    label_set, of_baseline, of_candidate = _shared(tx, baseline, candidate, metrics)
    texts = [str(metric) for metric in metrics] or [text for text in of_baseline if text in of_candidate]
    texts.sort(key=lambda text: parse_metric(text).shown_only is not None)  # the first one is what groups are told of
    shares, other_shares = (
        {share.cutoff: share.judged_share for share in tx.coverages(run.id, label_set.id)}
        for run in (baseline, candidate)
    )
    coverage = [
        JudgedShare(cutoff, shares.get(cutoff), other_shares.get(cutoff))
        for cutoff in dict.fromkeys(parse_metric(text).cutoff for text in texts)
    ]
    newest = tx.newest_label_set(baseline.dataset_id)
    notes = []
    if newest is not None and newest.version > label_set.version:
        versions = {"newest": newest.version, "version": label_set.version}
        notes.append(Note("newer_labels", versions, _rescore_command(baseline, candidate, texts)))
    results = [
        replace(
            paired_results(tx, of_baseline[text], of_candidate[text], baseline.dataset_id, asked.missing),
            nothing_judged=all(
                _has_nothing_judged(tx, evaluations[text], label_set, of_run)
                for evaluations, of_run in ((of_baseline, shares), (of_candidate, other_shares))
            ),
        )
        for text in texts
    ]
    comparison = compare_runs(
        RunRef(baseline.name, baseline.id),
        RunRef(candidate.name, candidate.id),
        baseline.dataset,
        LabelSetRef(label_set.version, label_set.digest),
        results,
        lambda group_ids: tx.group_keys(baseline.dataset_id, group_ids).to_list(),
        top=asked.top,
        coverage=coverage,
        notes=notes,
        test=asked.test,
        ci=asked.ci,
        equivalence=asked.equivalence,
        by=None if values is None else values.of(results[0].pairing.group_ids),
    )
    comparison = _with_requests(comparison, of_baseline, of_candidate)
    comparison = _with_moves(tx, comparison, baseline, candidate, label_set)
    if not asked.tie_groups:
        return comparison
    labels, weights = tx.read_labels(label_set.id), stored_weights(tx, baseline.dataset_id)
    found, n_open = open_groups(tx, (baseline, candidate), labels, parse_metric(texts[0]), weights, asked.top)
    return replace(comparison, tie_groups=found, n_tie_groups=n_open)


def _with_requests(comparison: Comparison, of_baseline: Evaluations, of_candidate: Evaluations) -> Comparison:
    """Return the comparison with the texts that its metrics were asked for by, as the view ``group_diff`` has them."""
    asked_for = {}
    for text in [metric.metric for metric in comparison.metrics]:
        one, other = of_baseline[text].requested_as, of_candidate[text].requested_as
        asked_for[text] = one if other == text else other
    metrics = [replace(metric, requested_as=asked_for[metric.metric]) for metric in comparison.metrics]
    return replace(comparison, metrics=tuple(metrics))


def _with_moves(
    tx: ReadTransaction, comparison: Comparison, baseline: RunRecord, candidate: RunRecord, label_set: LabelSetRecord
) -> Comparison:
    """Return the comparison with the items that moved its worst and best groups; only their lists are read."""
    shown = [*comparison.worst, *comparison.best]
    ids = tx.group_ids(baseline.dataset_id, Keys.from_strings([group.group for group in shown]))
    metric = parse_metric(comparison.metrics[0].metric)
    sides = Sides(metric, Side(baseline, label_set, None), Side(candidate, label_set, None))
    moves = item_moves(tx, sides, ids, n=sys.maxsize)
    if not moves:
        return comparison

    def with_moves(groups: Sequence[GroupDelta], of_groups: Sequence[int]) -> tuple[GroupDelta, ...]:
        return tuple(
            replace(group, moves=most_telling(moves[group_id], group.delta, MOVES))
            for group, group_id in zip(groups, of_groups, strict=True)
        )

    worst, best = ids[: len(comparison.worst)].tolist(), ids[len(comparison.worst) :].tolist()
    return replace(comparison, worst=with_moves(comparison.worst, worst), best=with_moves(comparison.best, best))


def _shared(
    tx: ReadTransaction, baseline: RunRecord, candidate: RunRecord, metrics: Sequence[Metric]
) -> tuple[LabelSetRecord, Evaluations, Evaluations]:
    """Return the newest label set under which both runs have the metrics, with the evaluations of both."""
    of_baseline, of_candidate = _by_label_set(tx, baseline), _by_label_set(tx, candidate)
    wanted = {str(metric) for metric in metrics}
    for label_set in sorted(tx.label_sets(baseline.dataset_id), key=lambda record: -record.version):
        one, other = of_baseline.get(label_set.id, {}), of_candidate.get(label_set.id, {})
        shared = one.keys() & other.keys()
        if shared and wanted <= shared:
            return label_set, one, other
    what = ", ".join(sorted(wanted)) if wanted else "a metric"
    raise NotComparableError(
        f"runs {baseline.name!r} and {candidate.name!r} do not both have {what} under one version of the labels; type: "
        + shlex.join(
            _rescore_command(
                baseline, candidate, [str(metric) for metric in metrics] or _all(of_baseline, of_candidate)
            )
        )
    )


def _by_label_set(tx: ReadTransaction, run: RunRecord) -> dict[int, Evaluations]:
    found: dict[int, Evaluations] = {}
    for evaluation in tx.evaluations(run.id):
        found.setdefault(evaluation.label_set_id, {})[evaluation.metric] = evaluation
    return found


def _all(*evaluations: dict[int, Evaluations]) -> list[str]:
    return list(dict.fromkeys(text for run in evaluations for of_set in run.values() for text in of_set))


def _rescore_command(baseline: RunRecord, candidate: RunRecord, metrics: Sequence[str]) -> tuple[str, ...]:
    words = ["ndcg-track", "rescore", baseline.name, candidate.name, "--dataset", baseline.dataset]
    for text in metrics:
        words += ["--metric", text]
    return tuple(words)


def paired_results(
    tx: ReadTransaction, baseline: EvaluationRecord, candidate: EvaluationRecord, dataset_id: int, missing: Missing
) -> PairedResults:
    """Return the stored results of two evaluations of one metric under one label set, group by group.

    Raises: InputError for groups with a result in one run only, unless ``missing`` says what becomes of them; and for
    a mean that is known of all groups only.
    """
    one, other = tx.group_results(baseline.id), tx.group_results(candidate.id)
    metric = parse_metric(baseline.metric)
    counts_missing = metric["missing"] in ("zero", "empty")
    absent = _in_neither(tx, one.group_ids, baseline, candidate) if counts_missing else None
    pairing = pair(
        *(one.group_ids, one.values, other.group_ids, other.values),
        missing=missing,
        in_neither=absent,
        metric=baseline.metric,
    )
    weights = _weights(tx, dataset_id, pairing.group_ids) if metric["weights"] != "none" else None
    is_weighted = weights is not None
    sides = [
        _Evaluated.of(tx, evaluation, found, dataset_id, is_weighted)
        for evaluation, found in ((baseline, one), (candidate, other))
    ]
    if metric.summary == "mean":
        means = _other_means(pairing, sides)
    else:
        means = _summaries(metric, pairing, baseline, candidate)
    no_inference = None if means is None else NO_INFERENCE
    if metric.shown_only is not None:
        no_inference = Note(metric.shown_only)
    n_left_out = pairing.in_neither.size if missing == "skip" else 0
    values = (pairing.baseline, pairing.candidate)
    return PairedResults(
        baseline.metric,
        pairing,
        weights=weights,
        missing_in_baseline=baseline.n_missing - n_left_out if counts_missing else 0,
        missing_in_candidate=candidate.n_missing - n_left_out if counts_missing else 0,
        means=means,
        no_inference=no_inference,
        tie_effect=_tie_effect(sides, values, weights),
        limits=_limits_of_delta(metric, values),
        shown_only=metric.shown_only,
    )


@dataclass(frozen=True, slots=True)
class _Evaluated:
    """An evaluation with the sum of its groups' weights (1 each where they weigh alike) and their (weighted) mean."""

    record: EvaluationRecord
    weight: float
    mean: float | None

    @classmethod
    def of(
        cls,
        tx: ReadTransaction,
        record: EvaluationRecord,
        found: GroupResultColumns,
        dataset_id: int,
        is_weighted: bool,
    ) -> _Evaluated:
        """Return an evaluation with what its groups weigh."""
        defined = ~np.isnan(found.values)
        values = found.values[defined]
        weights = _weights(tx, dataset_id, found.group_ids[defined]) if is_weighted else None
        total = float(values.size if weights is None else weights.sum())
        return cls(record, total, float(np.average(values, weights=weights)) if total > 0 else None)

    @property
    def is_mean_of_groups(self) -> bool:
        """Whether the stored mean is the (weighted) mean of the groups."""
        return self._agrees(MEANS_AGREE)

    @property
    def differs_by_rounding(self) -> bool:
        """Whether it is that mean but for the decimals that the metric keeps."""
        metric = parse_metric(self.record.metric)
        is_rounded = metric["round"] != "none" and metric["round_of"] == "mean"
        return self._agrees(10.0 ** -int(metric["round"]) if is_rounded else MEANS_AGREE)

    def _agrees(self, within: float) -> bool:
        stored = self.record.mean
        return stored is None or self.mean is None or abs(self.mean - stored) <= within


def _other_means(pairing: Pairing, sides: Sequence[_Evaluated]) -> tuple[float, float] | None:
    """Return the stored means where they are no (weighted) mean of the paired results, None where they are.

    They are none where items carried the weights, which are not stored, or where groups that have nothing to find were
    added unweighted. Raises: InputError where such a mean would be asked of other groups than those it was taken over.
    """
    one, other = (side.record for side in sides)
    if all(side.is_mean_of_groups for side in sides) or one.mean is None or other.mean is None:
        return None
    if {one.n_groups, other.n_groups} != {pairing.group_ids.size}:
        if not pairing.group_ids.size or all(side.differs_by_rounding for side in sides):
            return None
        without = f", without {argument('missing', 'skip')}" if pairing.missing == "skip" else ""
        raise InputError(
            f"{one.metric}: {sentence(NO_INFERENCE)}, and no mean over {pairing.group_ids.size:,} of the groups is "
            f"known; compare runs of the same groups{without}"
        )
    return one.mean, other.mean


def _tie_effect(sides: Sequence[_Evaluated], values: tuple[Floats, Floats], weights: Floats | None) -> TieEffect | None:
    """Return the bounds of both means over ties; over fewer groups than were evaluated they may be too wide."""
    bounds = []
    for side, paired in zip(sides, values, strict=True):
        record = side.record
        if record.mean is None or record.worst_mean is None or record.best_mean is None:
            return None
        total = float(paired.size if weights is None else weights.sum())
        if record.n_groups == paired.size or not side.is_mean_of_groups or not total:
            bounds.append(TieBounds(record.worst_mean, record.best_mean))
            continue
        mean, share = float(np.average(paired, weights=weights)), side.weight / total
        bounds.append(
            TieBounds(mean - share * (record.mean - record.worst_mean), mean + share * (record.best_mean - record.mean))
        )
    return TieEffect(*bounds)


def _limits_of_delta(metric: Metric, values: tuple[Floats, Floats]) -> tuple[float, float] | None:
    """Return between which numbers a difference of two values lies, None where that is not known."""
    if metric.limits is None:
        return None
    low, high = metric.limits
    if any(side.size and (side.min() < low or side.max() > high) for side in values):
        return None
    return low - high, high - low


def _in_neither(
    tx: ReadTransaction, group_ids: Index, baseline: EvaluationRecord, candidate: EvaluationRecord
) -> Index | None:
    """Return which groups of an evaluation neither run has, None where one of them has them all."""
    if not baseline.n_missing or not candidate.n_missing:
        return None
    for run_id in {baseline.run_id, candidate.run_id}:
        group_ids = np.setdiff1d(group_ids, tx.ranked_group_ids(run_id), assume_unique=True)
    return group_ids


def _summaries(
    metric: Metric, pairing: Pairing, baseline: EvaluationRecord, candidate: EvaluationRecord
) -> tuple[float, float] | None:
    """Return what a metric makes of the paired groups that is no mean: the stored summaries where they are of these."""
    if baseline.mean is None or candidate.mean is None:
        return None
    if {baseline.n_groups, candidate.n_groups} == {pairing.group_ids.size}:
        return baseline.mean, candidate.mean
    if pairing.missing == "zero":
        filled = OF_THE_MISSING.get(metric.measure, 0.0)
        sides = (
            np.where(np.isin(pairing.group_ids, pairing.only_in_candidate), filled, pairing.baseline),
            np.where(np.isin(pairing.group_ids, pairing.only_in_baseline), filled, pairing.candidate),
        )
    else:
        sides = (pairing.baseline, pairing.candidate)
    found = [summary_of(metric, values) for values in sides]
    return found[0], found[1]


def _has_nothing_judged(
    tx: ReadTransaction,
    evaluation: EvaluationRecord,
    label_set: LabelSetRecord,
    shares: Mapping[int | None, float],
) -> bool:
    """Return whether a run has no judged item that the metric of an evaluation counts."""
    if evaluation.n_missing >= label_set.n_groups > 0:
        return True  # no group in common
    metric = parse_metric(evaluation.metric)
    if shares.get(metric.cutoff) != 0:
        if metric["depth"] == "all":
            return False
        both = judged(tx.read_ranking(evaluation.run_id), tx.read_labels(label_set.id))
        return not judged_shares(both, int(metric["depth"])).any()
    if metric["unjudged"] != "drop" or metric.cutoff is None:
        return True
    # what is dropped makes room for items below the cutoff
    ranking, labels = tx.read_ranking(evaluation.run_id), tx.read_labels(label_set.id)
    return not judged(ranking, labels).rows.size


def _weights(tx: ReadTransaction, dataset_id: int, group_ids: Index) -> Floats | None:
    """Return the stored weight of each group, 1 where there is none; None where no group has one."""
    ids, weights = tx.group_weights(dataset_id)
    if not group_ids.size or np.isnan(weights).all():
        return None
    place = np.minimum(np.searchsorted(ids, group_ids), ids.size - 1)
    known = (ids[place] == group_ids) & ~np.isnan(weights[place])
    return np.where(known, weights[place], 1.0)
