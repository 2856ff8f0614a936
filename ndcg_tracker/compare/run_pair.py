"""Two stored runs side by side: the labels and metrics they share, and their results group by group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ndcg_tracker.compare.decide import PairedResults
from ndcg_tracker.compare.pair import Missing, Pairing, pair
from ndcg_tracker.compare.results import TieBounds, TieEffect
from ndcg_tracker.errors import InputError, NotComparableError, argument
from ndcg_tracker.metrics.kernel.mean import summary_of
from ndcg_tracker.metrics.language.measures import EXTERNAL, MEASURES
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.runs.known_metrics import advice_for_lacking, known_metric, storing_command
from ndcg_tracker.runs.labels import numbered_labels
from ndcg_tracker.storage.records import EXTERNAL_JUDGE, MEANS_AGREE, NO_LABELS_HERE
from ndcg_tracker.words.notes import Note, sentence

if TYPE_CHECKING:
    from ndcg_tracker.compare.results import LabelSetRef
    from ndcg_tracker.rankings.types import Floats, Index
    from ndcg_tracker.storage.records import (
        EvaluationRecord,
        GroupResultColumns,
        GroupWeightsById,
        LabelSetRecord,
        RunRecord,
    )
    from ndcg_tracker.storage.transactions import ReadTransaction

NO_INFERENCE = Note("means_weigh_groups")


@dataclass(frozen=True, slots=True)
class Side:
    """A run under a label set; ``evaluations``: what is stored of it under these labels, by metric.

    Results of other engines rest on no labels of ours: they stand beside any.
    """

    run: RunRecord
    label_set: LabelSetRecord
    evaluations: Mapping[str, EvaluationRecord]

    @classmethod
    def of(cls, run: RunRecord, label_set: LabelSetRecord, evaluations: Sequence[EvaluationRecord]) -> Side:
        """Return a side; ``evaluations``: those of the run under any labels."""
        found = [one for one in evaluations if one.label_set_id == label_set.id or one.judge == EXTERNAL_JUDGE]
        return cls(run, label_set, {one.metric: one for one in found})


@dataclass(frozen=True, slots=True)
class RunPair:
    """Two stored runs of one dataset, each under a label set, and the metrics that are asked of both.

    ``metrics``: groups are reported by the first. ``newest_version``: of the dataset's labels. ``are_labels_named``:
    whether a version was asked for.
    """

    baseline: Side
    candidate: Side
    metrics: tuple[Metric, ...]
    newest_version: int
    are_labels_named: bool = False

    @property
    def metric(self) -> Metric:
        """The first metric."""
        return self.metrics[0]

    @property
    def dataset_id(self) -> int:
        """The dataset of both runs."""
        return self.baseline.run.dataset_id

    @property
    def sides(self) -> tuple[Side, Side]:
        """Baseline and candidate."""
        return self.baseline, self.candidate

    @property
    def is_same_labels(self) -> bool:
        """Whether both runs are evaluated under one label set."""
        return self.baseline.label_set.id == self.candidate.label_set.id

    def notes(self) -> list[Note]:
        """Return a note where the labels that both runs share are not the newest."""
        version = self.baseline.label_set.version
        if self.are_labels_named or not self.is_same_labels or version >= self.newest_version:
            return []
        judge = self.baseline.label_set.judge
        command = adding_command([side.run for side in self.sides], list(map(str, self.metrics)), judge=judge)
        return [Note("newer_labels", {"newest": self.newest_version, "version": version}, command)]


Version = int | Literal["newest"] | None
"""Which labels: a version, the newest, or None for the newest under which both runs have the metrics."""


def resolved_pair(
    tx: ReadTransaction,
    baseline: RunRecord,
    candidate: RunRecord,
    metrics: Sequence[Metric] = (),
    labels: Version = None,
    judge: str | None = None,
) -> RunPair:
    """Return two runs under the labels that were asked for, with the metrics, all they share if none is named.

    ``judge``: whose labels, None for those of no named judge; a version may be of any.

    Raises: NotComparableError, with the command that fixes it; ReferenceNotFoundError for an unknown version.
    """
    (one, other), found, newest = shared_labels(tx, (baseline, candidate), metrics, labels, judge)
    return RunPair(one, other, found, newest, labels is not None)


def shared_labels(
    tx: ReadTransaction,
    runs: Sequence[RunRecord],
    metrics: Sequence[Metric] = (),
    labels: Version = None,
    judge: str | None = None,
) -> tuple[list[Side], tuple[Metric, ...], int]:
    """Return runs under the labels that were asked for, the metrics that all have, and the newest labels' version.

    ``metrics``: none for all that the runs share. ``labels``, ``judge`` and raises: see ``resolved_pair``.
    """
    for run in runs[1:]:
        check_one_dataset(runs[0], run, "compared")
    known = [known_metric(tx, runs[0].dataset_id, metric) for metric in metrics]
    wanted = list(dict.fromkeys(map(str, known)))
    evaluations = [tx.evaluations.of_run(run.id) for run in runs]
    label_sets = asked = tx.labels.sets(runs[0].dataset_id, judge or "")
    if labels is not None or (judge and not label_sets):
        version = labels if isinstance(labels, int) else None
        asked = [numbered_labels(tx, runs[0].dataset_id, runs[0].dataset, version, judge)]
        label_sets = tx.labels.sets(runs[0].dataset_id, asked[0].judge)
    is_external = bool(wanted) and all(text.startswith(EXTERNAL) for text in wanted)
    without = [
        label_set
        for of_judge in (NO_LABELS_HERE if is_external or (labels is None and not judge) else ())
        for label_set in tx.labels.sets(runs[0].dataset_id, of_judge)
    ]
    for label_set in [*without, *([] if is_external else asked)][::-1]:
        sides = [Side.of(run, label_set, of_run) for run, of_run in zip(runs, evaluations, strict=True)]
        shared = [text for text in sides[0].evaluations if all(text in side.evaluations for side in sides)]
        if label_set.judge in NO_LABELS_HERE:
            label_sets = [label_set]
        elif all(text.startswith(EXTERNAL) for text in shared):
            continue  # of our metrics there may be some under older labels
        if shared and set(wanted) <= set(shared):
            found = sorted(map(parse_metric, wanted or shared), key=lambda metric: metric.shown_only is not None)
            return sides, tuple(found), label_sets[-1].version
    typed = list(dict.fromkeys(metric.requested_as for metric in known))
    what = ", ".join(sorted(typed)) if typed else "a metric"
    texts = typed or list(dict.fromkeys(one.metric for of_run in evaluations for one in of_run))
    under = "one version" if labels is None else f"version {asked[0].version}"
    older = None if labels in (None, "newest") or asked == label_sets[-1:] else asked[0].version
    whose = asked[0].judge if asked else ""
    named = [repr(run.name) for run in runs]
    each = f"runs {', '.join(named[:-1])} and {named[-1]} do not {'both' if len(runs) == 2 else 'all'}"
    raise NotComparableError(
        f"{each} have {what} under {under} of the labels{f' of judge {whose!r}' if whose else ''}",
        advice=advice_for_lacking(tx, runs, known, adding_command(runs, texts, older, whose)),
    )


def no_group_of_labels(run: RunRecord, label_set: LabelSetRecord) -> NotComparableError:
    """Return the error of a run that has no group of the labels: all of them would count as missing."""
    return NotComparableError(
        f"run {run.name!r} has no group of version {label_set.version} of the labels of dataset {run.dataset!r}, so "
        "each would count as missing",
        advice="are its groups spelled as in the labels?",
    )


def check_one_dataset(baseline: RunRecord, candidate: RunRecord, what: str, advice: str = "") -> None:
    """Raise NotComparableError for runs of two datasets; ``what``: cannot be done with them."""
    if baseline.dataset_id != candidate.dataset_id:
        raise NotComparableError(
            f"run {baseline.name!r} is of dataset {baseline.dataset!r} and run {candidate.name!r} of dataset "
            f"{candidate.dataset!r}; only runs of one dataset can be {what}",
            advice=advice,
        )


def adding_command(
    runs: Sequence[RunRecord], metrics: Sequence[str], version: int | None = None, judge: str = ""
) -> tuple[str, ...]:
    """Return the command that adds metrics to runs of one dataset, under a version or a judge's newest labels.

    Of results of other engines nothing can be computed here: where no other metric is asked for, it stores those of the
    first run, from a file.
    """
    own = [text for text in metrics if not text.startswith(EXTERNAL)]
    if metrics and not own:
        return storing_command(runs[0].name, runs[0].dataset, parse_metric(metrics[0]))
    metrics = own
    words = ("ndcg-track", "rescore", *dict.fromkeys(run.name for run in runs), "--dataset", runs[0].dataset)
    older = () if version is None else ("--labels", str(version))
    older = ("--judge", judge) if judge and version is None else older
    return (*words, *(word for text in metrics for word in ("--metric", text)), *older)


def paired_results(tx: ReadTransaction, both: RunPair, metric: Metric, missing: Missing) -> PairedResults:
    """Return the stored results of two runs under a metric and one label set, group by group.

    Raises: InputError for groups with a result in one run only, unless ``missing`` says what becomes of them; and for
    a mean that is known of all groups only.
    """
    text = str(metric)
    baseline, candidate = (side.evaluations[text] for side in both.sides)
    one, other = tx.evaluations.results(baseline.id), tx.evaluations.results(candidate.id)
    absent = _in_neither(tx, one.group_ids, baseline, candidate) if metric.counts_missing else None
    pairing = pair(
        *(one.group_ids, one.values, other.group_ids, other.values), missing=missing, in_neither=absent, metric=text
    )
    weights_of = tx.groups.weights_by_id(both.dataset_id) if metric["weights"] != "none" else None
    if weights_of is not None and not (weights_of.ids.size and pairing.group_ids.size):
        weights_of = None
    weights = None if weights_of is None else weights_of.weights_of(pairing.group_ids)
    sides = [Evaluated.of(baseline, one, weights_of), Evaluated.of(candidate, other, weights_of)]
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
        text,
        pairing,
        weights=weights,
        missing_in_baseline=baseline.n_missing - n_left_out if metric.counts_missing else 0,
        missing_in_candidate=candidate.n_missing - n_left_out if metric.counts_missing else 0,
        means=means,
        no_inference=no_inference,
        tie_effect=_tie_effect(sides, values, weights),
        limits=limits_of_delta(metric, values),
        shown_only=metric.shown_only,
        direction=metric.direction,
    )


@dataclass(frozen=True, slots=True)
class Evaluated:
    """An evaluation with the sum of its groups' weights (1 each where they weigh alike) and their (weighted) mean."""

    record: EvaluationRecord
    weight: float
    mean: float | None

    @classmethod
    def of(cls, record: EvaluationRecord, found: GroupResultColumns, weights_of: GroupWeightsById | None) -> Evaluated:
        """Return an evaluation with what its groups weigh."""
        defined = ~np.isnan(found.values)
        values = found.values[defined]
        weights = None if weights_of is None else weights_of.weights_of(found.group_ids[defined])
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


def _other_means(pairing: Pairing, sides: Sequence[Evaluated]) -> tuple[float, float] | None:
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
            f"{sentence(NO_INFERENCE)}, and no mean over {pairing.group_ids.size:,} of the groups is known",
            where=one.metric,
            advice=f"compare runs of the same groups{without}",
        )
    return one.mean, other.mean


def _tie_effect(sides: Sequence[Evaluated], values: tuple[Floats, Floats], weights: Floats | None) -> TieEffect | None:
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


def limits_of_delta(metric: Metric, values: tuple[Floats, Floats]) -> tuple[float, float] | None:
    """Return between which numbers a difference of two values lies, None where that is not known."""
    if metric.limits is None:
        return None
    low, high = metric.limits
    if metric.is_external:  # no value lies outside
        return low - high, high - low
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
        group_ids = np.setdiff1d(group_ids, tx.runs.group_ids(run_id), assume_unique=True)
    return group_ids


def _summaries(
    metric: Metric, pairing: Pairing, baseline: EvaluationRecord, candidate: EvaluationRecord
) -> tuple[float, float] | None:
    """Return the summaries of a metric that are not means: the stored ones where they are of the paired groups."""
    if baseline.mean is None or candidate.mean is None:
        return None
    if {baseline.n_groups, candidate.n_groups} == {pairing.group_ids.size}:
        return baseline.mean, candidate.mean
    if pairing.missing == "zero":
        filled = MEASURES[metric.measure].of_nothing or 0.0
        sides = (
            np.where(np.isin(pairing.group_ids, pairing.only_in_candidate), filled, pairing.baseline),
            np.where(np.isin(pairing.group_ids, pairing.only_in_baseline), filled, pairing.candidate),
        )
    else:
        sides = (pairing.baseline, pairing.candidate)
    found = [summary_of(metric, values) for values in sides]
    return found[0], found[1]


def label_set_ref(label_set: LabelSetRecord) -> LabelSetRef:
    """Return a label set as reports name it."""
    from ndcg_tracker.compare.results import LabelSetRef  # not for ingest, which finds labels here

    return LabelSetRef(label_set.version, label_set.digest, label_set.judge)
