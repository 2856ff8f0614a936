"""Designs: which items people are to grade so that a judge is checked, and what they answered."""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.errors import ConflictError, InputError, argument
from ndcg_tracker.metrics.contributions import ItemsApart, items_apart
from ndcg_tracker.metrics.unjudged_bounds import SUMS, what_stops
from ndcg_tracker.rankings.grouping import group_codes
from ndcg_tracker.rankings.join import judged
from ndcg_tracker.statistics.drawn import inclusion_probabilities, permanent_numbers
from ndcg_tracker.storage.records import DesignRunRecord
from ndcg_tracker.words.texts import counted, judge_words

if TYPE_CHECKING:
    from ndcg_tracker.metrics.language.metric import Metric
    from ndcg_tracker.rankings import Floats
    from ndcg_tracker.rankings.ranking import LabelLists
    from ndcg_tracker.storage.records import DesignRecord, DrawnItemRecord, LabelSetRecord, RunRecord
    from ndcg_tracker.storage.store import ReadTransaction, WriteTransaction

CHECKED = (*SUMS, "ndcg")
"""The measures of which a difference is a sum over items, once the ideal is frozen."""
_AXES = {"weights": "none", "missing": "zero", "extra": "skip", "label_type": "f64", "arithmetic": "f64"}
_LARGEST_BUDGET = 10_000_000


def refuse_unchecked(metric: Metric, grades: Floats, n_groups: int) -> None:
    """Raise InputError for a metric whose difference is no sum over items, or on an axis that is not covered."""
    advice = f"use {argument('metric', 'ndcg@10')}"
    stop = what_stops(metric, grades, n_groups)
    if metric.measure not in CHECKED or stop == "measure":
        raise InputError(
            f"a difference in {metric.requested_as or metric} is no sum over items, so answers to a sample do not "
            "correct it",
            advice=advice,
        )
    other = next((f"{axis}={metric[axis]}" for axis, value in _AXES.items() if metric[axis] != value), stop)
    if other is not None:
        raise InputError(f"a judge is not checked under {other}", where=metric.requested_as, advice=advice)


def frozen_items(
    tx: ReadTransaction, label_set: LabelSetRecord, baseline: RunRecord, candidate: RunRecord, metric: Metric
) -> tuple[ItemsApart, LabelLists]:
    """Return the items that tell two runs apart under a metric and a judge's labels, and these.

    Raises: InputError for runs without items, and a metric that is no sum over items.
    """
    tx.runs.require("items", baseline, candidate)
    for run in (baseline, candidate):
        if not run.n_items:
            raise InputError(f"run {run.name!r} has no items to draw from", advice="name runs with items")
    labels = tx.labels.lists(label_set.id)
    refuse_unchecked(metric, np.unique(labels.grades), labels.n_groups)
    sides = [judged(tx.runs.ranking(run.id), labels) for run in (baseline, candidate)]
    return items_apart(sides[0], sides[1], metric), labels


@dataclass(frozen=True, slots=True)
class Drawn:
    """A design and its items; ``n_apart``: how many items tell the two runs apart."""

    design: DesignRecord
    items: tuple[DrawnItemRecord, ...]
    n_apart: int

    @property
    def to_ask(self) -> list[tuple[int, str]]:
        """The items without an answer, by group id and item, in an order that has nothing to do with the runs."""
        pairs = [(item.group_id, item.item_key) for item in self.items if item.grade is None]
        keys = [(str(group).encode(), item.encode("utf-8", "surrogatepass")) for group, item in pairs]
        order = np.argsort(permanent_numbers(f"{self.design.seed} order", keys), kind="stable")
        return [pairs[place] for place in order.tolist()]


def drawn_design(
    tx: WriteTransaction,
    label_set: LabelSetRecord,
    baseline: RunRecord,
    candidate: RunRecord,
    metric: Metric,
    budget: int,
    seed: str | None = None,
) -> Drawn:
    """Draw a design, or enlarge the one that these runs have under these labels and this metric.

    An item is drawn where its permanent number is below its probability. A run or a version of labels that was stored
    after the first answer could have been made by the answers: it gets numbers of its own. Parameters: ``seed``: of the
    dataset's numbers, for its first design. Raises: InputError, ConflictError.
    """
    if not 1 <= budget <= _LARGEST_BUDGET:
        raise InputError(f"the budget must be 1 to {_LARGEST_BUDGET:,} labels, not {budget:,}")
    if baseline.id == candidate.id:
        raise InputError(f"run {baseline.name!r} cannot differ from itself", advice="name two runs")
    tx.keep_creators_out()
    dataset_id = baseline.dataset_id
    stored = tx.designs.all(dataset_id)
    base = stored[0].seed if stored else secrets.token_hex(16) if seed is None else seed
    if seed is not None and seed != base:
        raise ConflictError(
            f"the random numbers of dataset {baseline.dataset!r} have the seed {base!r} for good, not {seed!r}",
            advice=f"leave out {argument('seed')}",
        )
    asked = (label_set.id, str(metric), frozenset([baseline.id, candidate.id]))
    same = [of for of in stored if (of.label_set_id, of.metric, of.run_ids) == asked]
    if same:
        _refuse_other_budget(same[-1], budget)
    apart, _ = frozen_items(tx, label_set, baseline, candidate, metric)
    if not apart.weights.size:
        raise InputError(
            f"no item tells {candidate.name!r} and {baseline.name!r} apart under {metric}", advice="name two other runs"
        )
    if same and budget == same[-1].budget:
        return Drawn(same[-1], tuple(tx.designs.items(same[-1].id)), apart.weights.size)
    own = same[-1].seed if same else _seed(stored, base, label_set, baseline, candidate)
    group_keys, item_keys = (keys.to_bytes_list() for keys in apart.take(np.arange(apart.weights.size)))
    numbers = permanent_numbers(own, zip(group_keys, item_keys, strict=True))
    probabilities = inclusion_probabilities(apart.weights, budget)
    rows = np.flatnonzero(numbers < probabilities)
    if not rows.size:
        raise InputError(f"no item was drawn with a budget of {budget}", advice=f"raise {argument('budget')}")
    design = (
        same[-1]
        if same
        else tx.write.designs.insert(
            dataset_id,
            [DesignRunRecord(run.id, run.name) for run in (baseline, candidate)],
            label_set_id=label_set.id,
            metric=str(metric),
            n_looks=1,
            look=1,
            planned_budget=budget,
            budget=budget,
            seed=own,
            not_tuned=False,
            greatest_grade=None,
        )
    )
    group_ids = tx.groups.ids(dataset_id, apart.group_keys)[apart.groups[rows]].tolist()
    pairs = zip(group_ids, apart.keys.take(rows).to_list(), strict=True)
    drawn = dict(zip(pairs, probabilities[rows].tolist(), strict=True))
    tx.write.designs.draw(design, drawn, budget=budget, planned_budget=budget)
    design = next(of for of in tx.designs.all(dataset_id) if of.id == design.id)
    return Drawn(design, tuple(tx.designs.items(design.id)), apart.weights.size)


def _refuse_other_budget(design: DesignRecord, budget: int) -> None:
    if budget < design.budget:
        raise ConflictError(
            f"design {design.number} was drawn with a budget of {design.budget:,}, and does not shrink to {budget:,}",
            advice=f"give {argument('budget', design.budget)} or more",
        )
    if budget > design.budget and design.answered_after_run_id is not None:
        raise ConflictError(
            f"design {design.number} has answers, and a verdict on more of them would be a second look, which errs "
            "more often than it says",
            advice=f"give {argument('budget', design.budget)}",
        )


def _seed(
    stored: list[DesignRecord], base: str, label_set: LabelSetRecord, baseline: RunRecord, candidate: RunRecord
) -> str:
    """Return the seed of a new design: its own one where what is compared could have been made by answers."""
    answered = [of for of in stored if of.answered_after_run_id is not None]
    newest_run = min((of.answered_after_run_id or 0 for of in answered), default=None)
    newest_labels = min((of.answered_after_label_set_id or 0 for of in answered), default=None)
    if newest_run is None or newest_labels is None:
        return base
    is_older = max(baseline.id, candidate.id) <= newest_run and label_set.id <= newest_labels
    return base if is_older else f"{base}/{stored[-1].number + 1}"


@dataclass(frozen=True, slots=True)
class Answers:
    """What became of a file of answers: how many were new, and what the design still waits for."""

    design: int
    dataset: str
    judge: str
    n_new: int
    n_known: int
    n_unanswered: int


Place = Callable[[str, str], str]
"""Where a group's item stands in a file, "" where that is not known."""


def numbered_design(tx: ReadTransaction, dataset_id: int, dataset: str, number: int) -> DesignRecord:
    """Return a design of a dataset (InputError where there is none of this number)."""
    stored = tx.designs.all(dataset_id)
    for design in stored:
        if design.number == number:
            return design
    there = "it has none" if not stored else "it has 1 alone" if len(stored) == 1 else f"it has 1 to {len(stored)}"
    raise InputError(
        f"there is no design {number} of dataset {dataset!r} ({there})",
        advice="draw one with: ndcg-track labels sample A B --judge JUDGE --budget N",
    )


def answered_design(
    tx: WriteTransaction, dataset: str, number: int, judge: str, labels: LabelLists, place: Place
) -> Answers:
    """Store what people graded drawn items of a design; all of it or, where one answer is refused, nothing.

    Raises: InputError for an item that was not drawn and a grade off the judge's scale; ConflictError for an item that
    has another grade already, and a design that somebody else answers.
    """
    known = tx.datasets.known(dataset)
    tx.keep_creators_out()
    design = numbered_design(tx, known.id, known.name, number)
    of_judge = next(of for of in tx.labels.sets(known.id, None) if of.id == design.label_set_id)
    if not judge:
        raise InputError("answers to a design have a name", advice=f"say whose they are with {argument('judge')}")
    if judge == of_judge.judge:
        raise InputError(
            f"design {number} checks {judge_words(judge)}, who cannot answer it",
            advice=f"name another {argument('judge')}",
        )
    if design.checked_by not in (None, judge):
        raise ConflictError(
            f"design {number} is answered by {design.checked_by!r}, not by {judge!r}",
            advice=f"give {argument('judge', design.checked_by)}",
        )
    drawn = {(item.group_id, item.item_key): item.grade for item in tx.designs.items(design.id)}
    new = _new_answers(tx, design, labels, drawn, place, _Scale.of(tx, of_judge))
    if new:
        tx.write.designs.answer(design, judge, list(new.items()))
    n_open = sum(grade is None for grade in drawn.values()) - len(new)
    return Answers(number, known.name, judge, len(new), labels.n_items - len(new), n_open)


def _new_answers(
    tx: ReadTransaction,
    design: DesignRecord,
    labels: LabelLists,
    drawn: Mapping[tuple[int, str], float | None],
    place: Place,
    scale: _Scale,
) -> dict[tuple[int, str], float]:
    """Return the answers that are not stored yet, by group id and item; the first wrong one is refused."""
    groups = group_codes(labels.offsets)
    ids = tx.groups.ids(design.dataset_id, labels.group_keys)[groups].tolist()
    names, items = labels.group_keys.take(groups).to_list(), labels.item_keys.to_list()
    new: dict[tuple[int, str], float] = {}
    for group_id, group, item, grade in zip(ids, names, items, labels.grades.tolist(), strict=True):
        pair = group_id, item
        if pair not in drawn:
            raise InputError(
                f"group {group!r}, item {item!r} was not drawn by design {design.number}; the answer would bias it",
                where=place(group, item),
                advice="leave it out",
            )
        if not scale.holds(grade):
            raise InputError(
                f"group {group!r}, item {item!r}: grade {grade:g} is off the scale of {scale.words}",
                where=place(group, item),
                advice="correct it, or leave it empty",
            )
        before = drawn[pair]
        if before is not None and before != grade:
            raise ConflictError(
                f"group {group!r}, item {item!r} was answered with {before:g}, not {grade:g}; an answer stays",
                where=place(group, item),
                advice="leave it out",
            )
        if before is None:
            new[pair] = grade
    return new


@dataclass(frozen=True, slots=True)
class _Scale:
    """The grades that answers may have: from 0, or the judge's least, to the judge's greatest, whole if these are."""

    judge: str
    least: float
    greatest: float
    is_whole: bool

    @classmethod
    def of(cls, tx: ReadTransaction, label_set: LabelSetRecord) -> _Scale:
        """Return the scale of a judge's labels."""
        grades = np.unique(tx.labels.lists(label_set.id).grades)
        is_whole = bool((grades == np.trunc(grades)).all())
        return cls(label_set.judge, min(float(grades[0]), 0.0), float(grades[-1]), is_whole)

    def holds(self, grade: float) -> bool:
        """Return whether a grade is on it."""
        return self.least <= grade <= self.greatest and (not self.is_whole or grade == int(grade))

    @property
    def words(self) -> str:
        """The scale for a sentence."""
        whole = "whole grades " if self.is_whole else ""
        return f"{judge_words(self.judge)}, {whole}{self.least:g} to {self.greatest:g}"


def answering_command(file: str, design: int, judge: str, dataset: str) -> tuple[str, ...]:
    """Return the command that stores answers to a design."""
    return ("ndcg-track", "labels", "add", file, "--judge", judge, "--design", str(design), "--dataset", dataset)


def unanswered_error(design: DesignRecord, n_open: int, n_drawn: int, dataset: str) -> InputError:
    """Return the error for a verdict on a design that still waits for answers."""
    if n_open == n_drawn:
        what = f"design {design.number} has no answers yet"
    else:
        what = f"{n_open:,} of the {counted(n_drawn, 'item')} that design {design.number} drew have no answer"
    judge = design.checked_by or "NAME"
    return InputError(
        what,
        advice=f"add them with: {shlex.join(answering_command('FILE', design.number, judge, dataset))}",
    )
