"""What the ranking, the labels and their coverage did between two runs that are held to different labels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ndcg_tracker.comparison.change_parts import ChangeParts, with_grades_of
from ndcg_tracker.comparison.explanation import RunExplanation
from ndcg_tracker.errors import InputError
from ndcg_tracker.metrics import Metric, group_results, group_values
from ndcg_tracker.metrics.contributions import Contributions
from ndcg_tracker.rankings import LabelLists, Ranking, judged
from ndcg_tracker.tracker.explained_runs import Sides
from ndcg_tracker.tracker.scoring import stored_weights

if TYPE_CHECKING:
    from ndcg_tracker.storage.store import ReadTransaction


def group_parts(
    sides: Sides, one: Contributions, other: Contributions, values: tuple[float, float]
) -> ChangeParts | None:
    """Return what the ranking and the labels of one group did, None where a step in between has no value."""
    mixed, differences = with_grades_of(one.judged.labels, other.judged.labels)
    steps = [_only_value(other.judged.ranking, labels, sides.metric) for labels in (one.judged.labels, mixed)]
    if any(math.isnan(step) for step in steps):
        return None
    return ChangeParts(values[0], steps[0], steps[1], values[1], differences)


def _only_value(ranking: Ranking, labels: LabelLists, metric: Metric) -> float:
    values = group_values(judged(ranking, labels), [metric])[0].values
    return float(values[0]) if values.size else math.nan


def run_parts(tx: ReadTransaction, sides: Sides) -> RunExplanation:
    """Return what the rankings and the labels did to the mean."""
    weights = stored_weights(tx, sides.dataset_id)
    labels, newer = (tx.read_labels(side.label_set.id) for side in (sides.baseline, sides.candidate))
    mixed, differences = with_grades_of(labels, newer)
    ranking = tx.read_ranking(sides.candidate.run.id)

    def mean(of_run: Ranking, under: LabelLists) -> float | None:
        return group_results(judged(of_run, under), [sides.metric], weights)[0].mean

    stored, other_stored = sides.baseline.evaluation, sides.candidate.evaluation
    first = mean(tx.read_ranking(sides.baseline.run.id), labels) if stored is None else stored.mean
    last = mean(ranking, newer) if other_stored is None else other_stored.mean
    steps = [mean(ranking, under) for under in (labels, mixed)]
    if first is None or last is None or steps[0] is None or steps[1] is None:
        raise InputError(
            f"no group has a result under {sides.metric} in one of the steps from labels version "
            f"{sides.baseline.label_set.version} to {sides.candidate.label_set.version}; there is no mean to explain"
        )
    n_groups = group_results(judged(ranking, newer), [sides.metric], weights)[0].n_groups
    return RunExplanation(
        sides.subject(),
        first,
        last,
        n_groups,
        parts=ChangeParts(first, steps[0], steps[1], last, differences),
        notes=sides.notes,
    )
