"""Two stored runs to be explained: the metric, and the labels that each is held to."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ndcg_tracker.comparison.explanation import Subject
from ndcg_tracker.comparison.notes import Note
from ndcg_tracker.comparison.results import LabelSetRef, RunRef
from ndcg_tracker.errors import NotComparableError, ReferenceNotFoundError
from ndcg_tracker.metrics.contributions import ADDITIVE, refuse_what_is_not_split
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric

if TYPE_CHECKING:
    from ndcg_tracker.storage.records import EvaluationRecord, LabelSetRecord, RunRecord
    from ndcg_tracker.storage.store import ReadTransaction

PREFERRED = "ndcg@10"


@dataclass(frozen=True, slots=True)
class Side:
    """A run under a label set; ``evaluation``: what is stored of the metric, None where nothing is."""

    run: RunRecord
    label_set: LabelSetRecord
    evaluation: EvaluationRecord | None


@dataclass(frozen=True, slots=True)
class Sides:
    """Two runs under a metric, each under a label set; ``are_labels_named``: whether a version was asked for."""

    metric: Metric
    baseline: Side
    candidate: Side
    notes: tuple[Note, ...] = ()
    are_labels_named: bool = False

    @property
    def dataset_id(self) -> int:
        """The dataset of both runs."""
        return self.baseline.run.dataset_id

    @property
    def is_same_labels(self) -> bool:
        """Whether both runs are held to one label set."""
        return self.baseline.label_set.id == self.candidate.label_set.id

    def subject(self) -> Subject:
        """Return the words for what is explained."""
        one, other = self.baseline, self.candidate
        return Subject(
            str(self.metric),
            RunRef(one.run.name, one.run.id),
            RunRef(other.run.name, other.run.id),
            one.run.dataset,
            LabelSetRef(one.label_set.version, one.label_set.digest),
            LabelSetRef(other.label_set.version, other.label_set.digest),
            self.metric.cutoff,
            self.are_labels_named,
        )


def explained_sides(
    tx: ReadTransaction,
    baseline: RunRecord,
    candidate: RunRecord,
    metric: Metric | None,
    baseline_version: int | None = None,
    candidate_version: int | None = None,
) -> Sides:
    """Return two runs with the labels under which their difference is explained.

    These are the newest labels under which both runs have the metric, or, where there are none, the newest for each;
    a version that is given is taken whether or not the run was evaluated under it. ``metric`` None: ndcg@10 if both
    runs have it, else the first cg, dcg or ndcg that they share. Raises: MetricError for a metric that is no sum over
    items; NotComparableError, naming the command that mends it; ReferenceNotFoundError for an unknown version.
    """
    if metric is not None:
        refuse_what_is_not_split(metric)
    if baseline.dataset_id != candidate.dataset_id:
        raise NotComparableError(
            f"run {baseline.name!r} is of dataset {baseline.dataset!r} and run {candidate.name!r} of dataset "
            f"{candidate.dataset!r}; only runs of one dataset can be explained"
        )
    evaluations = [tx.evaluations(run.id) for run in (baseline, candidate)]
    if metric is None:
        metric = _shared_metric(baseline, candidate, evaluations)
    sets = {record.version: record for record in tx.label_sets(baseline.dataset_id)}
    stored = [{one.label_set_version: one for one in of_run if one.metric == str(metric)} for of_run in evaluations]
    given = (baseline_version, candidate_version)
    shared = stored[0].keys() & stored[1].keys()
    without = [
        run
        for run, version, of_run in zip((baseline, candidate), given, stored, strict=True)
        if version is None and not of_run
    ]
    if without:
        names = " and ".join(repr(run.name) for run in without)
        has = "runs {} have" if len(without) > 1 else "run {} has"
        raise NotComparableError(
            f"{has.format(names)} no {metric} to explain; type: {shlex.join(rescore_command(without, str(metric)))}"
        )
    versions = []
    for run, version, of_run in zip((baseline, candidate), given, stored, strict=True):
        if version is not None and version not in sets:
            known = ", ".join(map(str, sets)) or "none"
            raise ReferenceNotFoundError(
                f"dataset {run.dataset!r} has no version {version} of its labels; there is {known}"
            )
        use_shared = shared and given == (None, None)
        versions.append(version if version is not None else max(shared if use_shared else of_run))
    newest = max(sets, default=0)
    notes = []
    if given == (None, None) and shared and newest > versions[0]:
        runs = [baseline] if baseline.id == candidate.id else [baseline, candidate]
        command = rescore_command(runs, str(metric))
        notes.append(Note("newer_labels", {"newest": newest, "version": versions[0]}, command))
    one, other = (
        Side(run, sets[version], of_run.get(version))
        for run, version, of_run in zip((baseline, candidate), versions, stored, strict=True)
    )
    return Sides(metric, one, other, tuple(notes), given != (None, None))


def _shared_metric(
    baseline: RunRecord, candidate: RunRecord, evaluations: Sequence[Sequence[EvaluationRecord]]
) -> Metric:
    texts, others = (dict.fromkeys(one.metric for one in of_run) for of_run in evaluations)
    shared = [text for text in texts if text in others and parse_metric(text).measure in ADDITIVE]
    if not shared:
        raise NotComparableError(
            f"runs {baseline.name!r} and {candidate.name!r} share no cg, dcg or ndcg to explain; type: "
            + shlex.join(rescore_command([baseline, candidate], PREFERRED))
        )
    return parse_metric(PREFERRED if PREFERRED in shared else shared[0])


def rescore_command(runs: Sequence[RunRecord], metric: str) -> tuple[str, ...]:
    """Return the command that evaluates runs of one dataset under a metric and the newest labels."""
    names = dict.fromkeys(run.name for run in runs)
    return ("ndcg-track", "rescore", *names, "--dataset", runs[0].dataset, "--metric", metric)


def unjudged_note(metric: Metric, counts: Sequence[int]) -> list[Note]:
    """Return a note on the unjudged items within the cutoff of baseline and candidate, which take ranks from others."""
    if not any(counts):
        return []
    return [Note("unjudged_items", {"cutoff": metric.cutoff, "baseline": counts[0], "candidate": counts[1]})]
