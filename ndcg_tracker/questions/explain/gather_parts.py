"""The parts of ranking, labels and coverage in the change between two runs evaluated against different labels."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.compare.results import RunRef
from ndcg_tracker.compare.run_pair import RunPair, label_set_ref
from ndcg_tracker.concurrency import mapped
from ndcg_tracker.errors import InputError
from ndcg_tracker.metrics.contributions import Contributions
from ndcg_tracker.metrics.kernel.mean import DEFINED, EXTRA, GroupValues
from ndcg_tracker.metrics.kernel.values import group_values
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.questions.explain.decide import (
    ChangeParts,
    GroupDifferences,
    LabelDifferences,
    RunExplanation,
    Subject,
    labels_of_one,
    with_grades_of,
)
from ndcg_tracker.rankings.join import judged, places_of
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import LabelLists, Ranking
from ndcg_tracker.runs.judges import judge_option
from ndcg_tracker.runs.scoring import GatheredValues, stored_weights
from ndcg_tracker.words.notes import Note
from ndcg_tracker.words.texts import unit

if TYPE_CHECKING:
    from ndcg_tracker.rankings import Index, Mask
    from ndcg_tracker.storage.store import ReadTransaction

BLOCK_ITEMS = 1 << 17
"""About how many items of one run are in memory at a time."""


def subject_of(both: RunPair) -> Subject:
    """Return the subject of an explanation, as reports name it."""
    baseline, candidate = both.sides
    return Subject(
        str(both.metric),
        RunRef(baseline.run.name, baseline.run.id),
        RunRef(candidate.run.name, candidate.run.id),
        baseline.run.dataset,
        label_set_ref(baseline.label_set),
        label_set_ref(candidate.label_set),
        both.metric.cutoff,
    )


def explain_command(both: RunPair, *options: str) -> tuple[str, ...]:
    """Return the command that explains two runs under a metric."""
    runs = [side.run.name for side in both.sides]
    dataset, metric = both.baseline.run.dataset, both.metric.requested_as
    judge = judge_option(both.baseline.label_set.judge) if both.is_same_labels else ()
    return ("ndcg-track", "explain", *runs, "--dataset", dataset, "--metric", metric, *judge, *options)


def labels_options(both: RunPair) -> tuple[str, ...]:
    """Return the options that explain both runs under the labels of the baseline."""
    version = str(both.baseline.label_set.version)
    return "--labels-baseline", version, "--labels-candidate", version


def group_parts(
    both: RunPair, baseline: Contributions, candidate: Contributions, values: tuple[float, float]
) -> ChangeParts | None:
    """Return the parts of ranking and labels in the change of a group, None if a step in between has no value."""
    mixed, differences = with_grades_of(baseline.judged.labels, candidate.judged.labels)
    steps = [_only_value(candidate.judged.ranking, labels, both.metric) for labels in (baseline.judged.labels, mixed)]
    if any(math.isnan(step) for step in steps):
        return None
    return ChangeParts(values[0], steps[0], steps[1], values[1], differences)


def _only_value(ranking: Ranking, labels: LabelLists, metric: Metric) -> float:
    values = group_values(judged(ranking, labels), [metric])[0].values
    return float(values[0]) if values.size else math.nan


def run_parts(tx: ReadTransaction, both: RunPair) -> RunExplanation:
    """Return the parts of rankings and labels in the change of the mean; this reads the runs some groups at a time.

    The steps between both means are over the groups that have a value at every step; the other groups are a separate
    part. Raises: InputError if one of the two has no mean.
    """
    weights = stored_weights(tx, both.dataset_id)
    ends, steps = ([GatheredValues() for _ in range(n)] for n in (2, 4))
    differences, counts = LabelDifferences(0, 0, 0), np.zeros(6, dtype=np.int64)
    for block in mapped(partial(_steps, metric=both.metric), side_blocks(tx, both)):
        differences += block.differences
        counts += block.counts
        for gathered, values in zip((*ends, *steps), (*block.ends, *block.common), strict=True):
            gathered.add([values])
    results = [end.results(weights)[0] for end in ends]
    stored = [side.evaluations.get(str(both.metric)) for side in both.sides]
    first, last = (
        result.mean if evaluation is None else evaluation.mean
        for result, evaluation in zip(results, stored, strict=True)
    )
    if first is None or last is None:
        raise InputError(
            f"no {unit()} has a result under {both.metric} under labels version {both.baseline.label_set.version} or "
            f"under {both.candidate.label_set.version}; there is no mean to explain"
        )
    n_common, n_came, n_went, n_between, n_added, n_removed = counts.tolist()
    if n_common:
        means = [step.results(weights)[0].mean for step in steps]
        before, other_run, other_grades, after = (first if mean is None else mean for mean in means)
    else:
        before = other_run = other_grades = after = first
    if n_common == results[0].n_groups == results[1].n_groups:
        before, after = first, last
    return RunExplanation(
        subject_of(both),
        first,
        last,
        results[-1].n_groups,
        parts=ChangeParts(
            first,
            other_run,
            other_grades,
            last,
            differences,
            GroupDifferences(n_common, n_came, n_went, n_between, n_added, n_removed, before, after),
        ),
        notes=(*both.notes(), Note("ranking_in_detail", command=explain_command(both, *labels_options(both)))),
    )


@dataclass(frozen=True, slots=True)
class _BlockSteps:
    """Some groups on the way from baseline to candidate.

    ``ends``: their values at both ends. ``common``: the values at every step of the groups that have a value at each.
    ``counts``: int64, the counts of ``GroupDifferences`` in their order.
    """

    ends: tuple[GroupValues, GroupValues]
    common: list[GroupValues]
    differences: LabelDifferences
    counts: Index


def _steps(block: SideBlock, metric: Metric) -> _BlockSteps:
    """Return the values of some groups at every step from baseline to candidate, and how their labels differ."""
    mixed, differences = with_grades_of(block.baseline_labels, block.candidate_labels)
    steps = [
        (block.baseline, block.baseline_labels),
        (block.candidate, block.baseline_labels),
        (block.candidate, mixed),
        (block.candidate, block.candidate_labels),
    ]
    values = [group_values(judged(ranking, labels), [metric])[0] for ranking, labels in steps]
    places = [places_of(of_step.group_keys, block.group_keys) for of_step in values]
    has_value = np.zeros((len(values), len(block.group_keys)), dtype=np.bool_)
    for at_step, place, of_step in zip(has_value, places, values, strict=True):
        at_step[place] = of_step.reasons == DEFINED
    common, at_start, at_end = np.asarray(has_value.all(axis=0)), has_value[0], has_value[-1]
    left_out = [
        ~common[places_of(labels.group_keys, block.group_keys)]
        for labels in (block.baseline_labels, block.candidate_labels)
    ]
    groups = (common, at_end & ~at_start, at_start & ~at_end, at_start & at_end & ~common)
    of_one = labels_of_one(block.baseline_labels, block.candidate_labels, *left_out)
    return _BlockSteps(
        (values[0], values[-1]),
        [_only(of_step, common[place]) for of_step, place in zip(values, places, strict=True)],
        differences,
        np.array([*(np.count_nonzero(mask) for mask in groups), *of_one], dtype=np.int64),
    )


def _only(values: GroupValues, kept: Mask) -> GroupValues:
    """Return values with all except the kept ones undefined."""
    return replace(
        values,
        values=np.where(kept, values.values, np.nan),
        reasons=np.where(kept, values.reasons, EXTRA).astype(np.int8),
    )


@dataclass(frozen=True, slots=True)
class SideBlock:
    """Some groups of two runs, each with the labels that it is evaluated under.

    ``first``: the place of the first of these groups among all groups of the dataset. ``group_keys``: their keys. If
    both sides are one run, or use one label set, they share the same object here.
    """

    first: int
    group_keys: Keys
    baseline: Ranking
    candidate: Ranking
    baseline_labels: LabelLists
    candidate_labels: LabelLists


def side_blocks(tx: ReadTransaction, both: RunPair) -> Iterator[SideBlock]:
    """Yield all groups of a dataset by ascending id, some at a time, with what both runs and their labels have."""
    group_ids, group_keys = tx.groups.all(both.dataset_id)
    baseline, candidate = both.baseline, both.candidate
    n_items = max(baseline.run.n_items, candidate.run.n_items, 1)
    n_groups = max(1, BLOCK_ITEMS * group_ids.size // n_items)
    for first in range(0, group_ids.size, n_groups):
        ids = group_ids[first : first + n_groups]
        ranking, labels = tx.runs.ranking(baseline.run.id, ids), tx.labels.lists(baseline.label_set.id, ids)
        yield SideBlock(
            first,
            group_keys.slice(first, first + ids.size),
            ranking,
            ranking if baseline.run.id == candidate.run.id else tx.runs.ranking(candidate.run.id, ids),
            labels,
            labels if both.is_same_labels else tx.labels.lists(candidate.label_set.id, ids),
        )
