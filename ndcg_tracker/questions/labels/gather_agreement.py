"""Two judges of a dataset: their labels, and what becomes of the runs under each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from ndcg_tracker.compare.decide import compare_metrics
from ndcg_tracker.compare.run_pair import RunPair, Side, adding_command, label_set_ref, paired_results
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.questions.labels.decide import (
    JudgesAgreement,
    RunUnderJudges,
    judges_kappa,
    kendall_tau,
    labels_diff,
    turned_verdicts,
)
from ndcg_tracker.runs.label_sets import numbered_labels
from ndcg_tracker.words.notes import Fact, Note

if TYPE_CHECKING:
    from ndcg_tracker.compare.results import MetricComparison
    from ndcg_tracker.storage.read import ReadTransaction
    from ndcg_tracker.storage.records import LabelSetRecord, RunRecord


def judges_agreement(
    tx: ReadTransaction, dataset_name: str, judges: Sequence[str], metric: Metric, *, top: int = 10
) -> JudgesAgreement:
    """Return how far the newest labels of two judges agree, and what they make of the runs that have a metric.

    ``judges``: two; one is held against the unnamed judge; none: the only named one. ``top``: how many labels to keep
    of those whose grades differ. Raises: InputError where it is not clear which two, or one has no labels.
    """
    dataset = tx.datasets.known(dataset_name)
    two = _two(tx, dataset.id, dataset.name, judges)
    first, second = sets = [numbered_labels(tx, dataset.id, dataset.name, judge=judge) for judge in two]
    one, other = (tx.labels.lists(label_set.id) for label_set in sets)
    text, runs = str(metric), tx.runs.all(dataset.name)
    evaluations = [tx.evaluations.of_run(run.id) for run in runs]
    sides = [
        [Side.of(run, label_set, of_run) for run, of_run in zip(runs, evaluations, strict=True)] for label_set in sets
    ]
    has_metric = [{side.run.id for side in of_set if text in side.evaluations} for of_set in sides]
    notes = [
        _left_out(label_set, [run for run in runs if run.id in there - here], text)
        for label_set, here, there in zip(sets, has_metric, reversed(has_metric), strict=True)
        if there - here
    ]
    known = [[side for side in of_set if side.run.id in has_metric[0] & has_metric[1]] for of_set in sides]
    order = _means(known[0], known[1], text)
    pairs = list(combinations(range(len(known[0])), 2))
    verdicts = [[_compared(tx, of_set[i], of_set[j], metric) for i, j in pairs] for of_set in known]
    names = [(known[0][i].run.name, known[0][j].run.name) for i, j in pairs]
    return JudgesAgreement(
        labels_diff(dataset.name, (label_set_ref(first), label_set_ref(second)), one, other, top=top),
        judges_kappa(one, other),
        text,
        order,
        kendall_tau(order),
        len(pairs),
        turned_verdicts(names, *verdicts),
        tuple(notes),
    )


def _left_out(label_set: LabelSetRecord, runs: Sequence[RunRecord], metric: str) -> Note:
    """Return a note on runs that lack a metric under the labels of one judge."""
    command = adding_command(runs, [metric], judge=label_set.judge)
    facts: dict[str, Fact] = {"version": label_set.version, "judge": label_set.judge, "n": len(runs)}
    return Note("not_under_judge", {**facts, "metrics": [metric]}, command)


def _two(tx: ReadTransaction, dataset_id: int, dataset: str, judges: Sequence[str]) -> Sequence[str]:
    """Return the two judges that are meant."""
    if len(judges) > 2 or len(set(judges)) < len(judges):
        given = ", ".join(map(repr, judges))
        raise InputError(f"two judges are held against each other, not {given}", advice="name two")
    if len(judges) == 2:
        return judges
    if judges:
        return ["", *judges]
    named = list(dict.fromkeys(one.judge for one in tx.labels.sets(dataset_id, None) if one.judge))
    if not named:
        advice = "add some with ndcg-track labels add FILE --judge NAME"
        raise InputError(f"dataset {dataset!r} has no labels of a named judge", advice=advice)
    if len(named) > 1:
        raise InputError(
            f"dataset {dataset!r} has labels of judges {', '.join(map(repr, named))}",
            advice=f"choose with {argument('judge')}",
        )
    return ["", *named]


def _means(first: Sequence[Side], second: Sequence[Side], metric: str) -> tuple[RunUnderJudges, ...]:
    """Return the runs that have a mean under both, best first under the first judge."""
    found = []
    for one, other in zip(first, second, strict=True):
        means = one.evaluations[metric].mean, other.evaluations[metric].mean
        if means[0] is not None and means[1] is not None:
            found.append(RunUnderJudges(one.run.name, means[0], means[1]))
    return tuple(sorted(found, key=lambda run: -run.first))


def _compared(tx: ReadTransaction, one: Side, other: Side, metric: Metric) -> MetricComparison:
    both = RunPair(one, other, (metric,), one.label_set.version, are_labels_named=True)
    return compare_metrics([paired_results(tx, both, metric, "intersect")])[0]
