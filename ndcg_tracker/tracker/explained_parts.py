"""What the ranking, the labels and their coverage did between two runs that are held to different labels."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from ndcg_tracker.comparison.change_parts import ChangeParts, LabelDifferences, with_grades_of
from ndcg_tracker.comparison.explanation import RunExplanation
from ndcg_tracker.errors import InputError
from ndcg_tracker.metrics import GroupValues, Metric, group_values
from ndcg_tracker.metrics.contributions import Contributions
from ndcg_tracker.overlap.workers import mapped
from ndcg_tracker.rankings import LabelLists, Ranking, judged
from ndcg_tracker.tracker.explained_blocks import SideBlock, side_blocks
from ndcg_tracker.tracker.explained_runs import Sides
from ndcg_tracker.tracker.scoring import GatheredValues, stored_weights

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
    """Return what the rankings and the labels did to the mean; the runs are read some groups at a time.

    Raises: InputError where one of the steps has no mean.
    """
    weights = stored_weights(tx, sides.dataset_id)
    steps = [GatheredValues() for _ in range(4)]
    differences = LabelDifferences(0, 0, 0)
    for values, of_block in mapped(partial(_steps, metric=sides.metric), side_blocks(tx, sides)):
        differences += of_block
        for step, of_step in zip(steps, values, strict=True):
            step.add([of_step])
    results = [step.results(weights)[0] for step in steps]
    first, other_run, other_grades, last = (result.mean for result in results)
    stored, other_stored = sides.baseline.evaluation, sides.candidate.evaluation
    first = first if stored is None else stored.mean
    last = last if other_stored is None else other_stored.mean
    if first is None or other_run is None or other_grades is None or last is None:
        raise InputError(
            f"no group has a result under {sides.metric} in one of the steps from labels version "
            f"{sides.baseline.label_set.version} to {sides.candidate.label_set.version}; there is no mean to explain"
        )
    return RunExplanation(
        sides.subject(),
        first,
        last,
        results[-1].n_groups,
        parts=ChangeParts(first, other_run, other_grades, last, differences),
        notes=sides.notes,
    )


def _steps(block: SideBlock, metric: Metric) -> tuple[list[GroupValues], LabelDifferences]:
    """Return the values of some groups at every step from baseline to candidate, and how their labels differ."""
    mixed, differences = with_grades_of(block.baseline_labels, block.candidate_labels)
    steps = [
        (block.baseline, block.baseline_labels),
        (block.candidate, block.baseline_labels),
        (block.candidate, mixed),
        (block.candidate, block.candidate_labels),
    ]
    return [group_values(judged(ranking, labels), [metric])[0] for ranking, labels in steps], differences
