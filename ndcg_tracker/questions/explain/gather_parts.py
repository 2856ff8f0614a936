"""The parts of ranking, labels and coverage in the change between two runs evaluated against different labels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.compare.run_pair import RunPair, Side, label_set_ref
from ndcg_tracker.concurrency import mapped
from ndcg_tracker.errors import InputError
from ndcg_tracker.metrics.contributions import Contributions
from ndcg_tracker.metrics.kernel.mean import DEFINED, EXTRA, GroupValues, mean_values
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
from ndcg_tracker.words.notes import Fact, Note
from ndcg_tracker.words.texts import unit

if TYPE_CHECKING:
    from ndcg_tracker.rankings import Index, Mask
    from ndcg_tracker.storage.store import ReadTransaction

BLOCK_ITEMS = 1 << 17
"""About how many items of one run are in memory at a time."""


def subject_of(both: RunPair) -> Subject:
    """Return the subject of an explanation, as reports name it."""
    baseline, candidate = both.arms
    return Subject(
        str(both.metric),
        baseline.ref,
        candidate.ref,
        both.baseline.run.dataset,
        label_set_ref(both.baseline.label_set),
        label_set_ref(both.candidate.label_set),
        both.metric.cutoff,
    )


def arm_notes(both: RunPair) -> list[Note]:
    """Return what is known of the runs, and a note where numbers are means over repeats."""
    arms: Fact = [(arm.name, len(arm.runs)) for arm in both.arms if len(arm.runs) > 1]
    return [*([Note("arm_means", {"arms": arms})] if arms else []), *both.notes()]


def explain_command(both: RunPair, *options: str) -> tuple[str, ...]:
    """Return the command that explains two runs under a metric."""
    runs = [arm.name for arm in both.arms]
    dataset, metric = both.baseline.run.dataset, both.metric.requested_as
    judge = judge_option(both.baseline.label_set.judge) if both.is_same_labels else ()
    return ("ndcg-track", "explain", *runs, "--dataset", dataset, "--metric", metric, *judge, *options)


def labels_options(both: RunPair) -> tuple[str, ...]:
    """Return the options that explain both runs under the labels of the baseline."""
    version = str(both.baseline.label_set.version)
    return "--labels-baseline", version, "--labels-candidate", version


def group_parts(
    both: RunPair, labels: LabelLists, candidate: Sequence[Contributions], values: Sequence[float]
) -> ChangeParts | None:
    """Return the parts of ranking and labels in the change of a group, None if a step in between has no value.

    ``labels``: of the baseline.
    """
    mixed, differences = with_grades_of(labels, candidate[0].judged.labels)
    rankings = [of_run.judged.ranking for of_run in candidate]
    steps = [_only_value(rankings, under, both.metric) for under in (labels, mixed)]
    if any(math.isnan(step) for step in steps):
        return None
    return ChangeParts(values[0], steps[0], steps[1], values[1], differences)


def _only_value(rankings: Sequence[Ranking], labels: LabelLists, metric: Metric) -> float:
    values = _values(rankings, labels, metric).values
    return float(values[0]) if values.size else math.nan


def _values(rankings: Sequence[Ranking], labels: LabelLists, metric: Metric) -> GroupValues:
    """Return the values of an arm under some labels."""
    return mean_values([group_values(judged(ranking, labels), [metric])[0] for ranking in rankings])


def run_parts(tx: ReadTransaction, both: RunPair) -> RunExplanation:
    """Return the parts of rankings and labels in the change of the mean; this reads the runs some groups at a time.

    The steps between both means are over the groups that have a value at every step; the other groups are a separate
    part. Raises: InputError if one of the two has no mean.
    """
    weights = stored_weights(tx, both.dataset_id)
    gathered, counts = [GatheredValues() for _ in range(6)], np.zeros(9, dtype=np.int64)
    for values, of_block in mapped(partial(_steps, metric=both.metric), side_blocks(tx, both)):
        counts += of_block
        for of_step, some in zip(gathered, values, strict=True):
            of_step.add([some])
    results = [end.results(weights)[0] for end in gathered[:2]]
    first, last = (_mean_of(sides, end.mean, both) for sides, end in zip(both.sides_of, results, strict=True))
    if first is None or last is None:
        raise InputError(
            f"no {unit()} has a result under {both.metric} under labels version {both.baseline.label_set.version} or "
            f"under {both.candidate.label_set.version}; there is no mean to explain"
        )
    n_common, n_came, n_went, n_between, n_added, n_removed, *of_labels = counts.tolist()
    if n_common:
        means = [step.results(weights)[0].mean for step in gathered[2:]]
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
            LabelDifferences(*of_labels),
            GroupDifferences(n_common, n_came, n_went, n_between, n_added, n_removed, before, after),
        ),
        notes=(*arm_notes(both), Note("ranking_in_detail", command=explain_command(both, *labels_options(both)))),
    )


def _mean_of(sides: Sequence[Side], computed: float | None, both: RunPair) -> float | None:
    """Return the mean of an arm from what is stored, else the computed one, also where repeats differ by rounding."""
    stored = [side.evaluations.get(str(both.metric)) for side in sides]
    means = [of.mean for of in stored if of is not None and of.mean is not None]
    if len(means) < len(sides):
        return None if any(of is not None and of.mean is None for of in stored) else computed
    mean = sum(means) / len(means)
    is_rounding = computed is not None and math.isclose(mean, computed, rel_tol=0, abs_tol=1e-12)
    return computed if len(means) > 1 and is_rounding else mean


def _steps(block: SideBlock, metric: Metric) -> tuple[list[GroupValues], Index]:
    """Return the values of some groups on the way from baseline to candidate, and counts.

    The values are those at both ends, then at every step those of the groups that have a value at each. The counts are
    those of ``GroupDifferences`` and of ``LabelDifferences``: int64, shape (9,).
    """
    mixed, differences = with_grades_of(block.baseline_labels, block.candidate_labels)
    steps = [
        (block.baseline, block.baseline_labels),
        (block.candidate, block.baseline_labels),
        (block.candidate, mixed),
        (block.candidate, block.candidate_labels),
    ]
    values = [_values(rankings, labels, metric) for rankings, labels in steps]
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
    of_common = [_only(of_step, common[place]) for of_step, place in zip(values, places, strict=True)]
    counts = [*map(np.count_nonzero, groups), *of_one, *astuple(differences)]
    return [values[0], values[-1], *of_common], np.array(counts, dtype=np.int64)


def _only(values: GroupValues, kept: Mask) -> GroupValues:
    """Return values with all except the kept ones undefined."""
    return replace(
        values,
        values=np.where(kept, values.values, np.nan),
        reasons=np.where(kept, values.reasons, EXTRA).astype(np.int8),
    )


@dataclass(frozen=True, slots=True)
class SideBlock:
    """Some groups of two arms: the rankings of their runs, each with the labels that it is evaluated under.

    ``first``: the place of the first of these groups among all groups of the dataset. ``group_keys``: their keys. If
    both sides use one label set, they share the same object here.
    """

    first: int
    group_keys: Keys
    baseline: Sequence[Ranking]
    candidate: Sequence[Ranking]
    baseline_labels: LabelLists
    candidate_labels: LabelLists


def side_blocks(tx: ReadTransaction, both: RunPair) -> Iterator[SideBlock]:
    """Yield all groups of a dataset by ascending id, some at a time, with what both arms and their labels have."""
    group_ids, group_keys = tx.groups.all(both.dataset_id)
    n_items = max(1, *(sum(side.run.n_items or 0 for side in sides) for sides in both.sides_of))
    n_groups = max(1, BLOCK_ITEMS * group_ids.size // n_items)
    for first in range(0, group_ids.size, n_groups):
        ids = group_ids[first : first + n_groups]
        run_ids = dict.fromkeys(side.run.id for side in both.sides)
        ranking_of = {run_id: tx.runs.ranking(run_id, ids) for run_id in run_ids}
        label_sets = dict.fromkeys(side.label_set.id for side in (both.baseline, both.candidate))
        labels = [tx.labels.lists(label_set, ids) for label_set in label_sets]
        yield SideBlock(
            first,
            group_keys.slice(first, first + ids.size),
            [ranking_of[side.run.id] for side in both.sides_of[0]],
            [ranking_of[side.run.id] for side in both.sides_of[1]],
            labels[0],
            labels[-1],
        )
