"""Designs: the whole queries in which people grade what is open, and their answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.errors import ConflictError, InputError, argument
from ndcg_tracker.rankings.grouping import group_codes
from ndcg_tracker.storage.checks import utc_now
from ndcg_tracker.storage.records import DesignRecord, DesignRunRecord
from ndcg_tracker.words.texts import judge_words

if TYPE_CHECKING:
    from ndcg_tracker.rankings import Floats
    from ndcg_tracker.rankings.ranking import LabelLists
    from ndcg_tracker.storage.records import LabelSetRecord, RunRecord
    from ndcg_tracker.storage.store import ReadTransaction, WriteTransaction

LARGEST_BUDGET = 10_000_000
GREATEST_GRADE = 4.0
"""People may grade on a finer scale than a judge, up to this grade or the greatest of the dataset's labels."""

Pair = tuple[int, str]
"""The id of a group, and an item."""


def design_of(
    tx: ReadTransaction,
    label_set: LabelSetRecord,
    runs: Sequence[RunRecord],
    metric: str,
    kind: str,
    seed: str | None,
    budget: int,
) -> DesignRecord:
    """Return the design of some runs under a judge's labels and a metric; its ``id`` is 0 if it is not stored yet.

    Its seed is that of the dataset's first design, else ``seed`` or a digest. Raises: ConflictError for another seed.
    """
    stored = tx.designs.all(label_set.dataset_id)
    fixed = stored[0].seed if stored else seed or label_set.digest
    if seed is not None and seed != fixed:
        raise ConflictError(
            f"the queries of dataset {runs[0].dataset!r} always have the order of seed {fixed!r}, not {seed!r}",
            advice=f"leave out {argument('seed')}",
        )
    drawn = tuple(DesignRunRecord(run.id, run.name) for run in runs)
    facts = (0, label_set.dataset_id, 0, label_set.id, None, metric, drawn, budget, budget, fixed, utc_now())
    new = DesignRecord(*facts, kind=kind, judge=label_set.judge)
    asked = kind, new.judge, metric, new.run_ids
    return next((of for of in stored if (of.kind, of.judge, of.metric, of.run_ids) == asked), new)


def person_of(tx: ReadTransaction, design: DesignRecord) -> str | None:
    """Return who checks a judge: who answered a design, else the only person who answered any; None for nobody."""
    if design.checked_by is not None:
        return design.checked_by
    stored = tx.designs.all(design.dataset_id)
    people = {of.checked_by for of in stored if of.judge == design.judge and of.checked_by}
    return people.pop() if len(people) == 1 else None


def open_items(tx: ReadTransaction, design: DesignRecord) -> list[Pair]:
    """Return the items of a design that nobody has graded yet."""
    return [(item.group_id, item.item_key) for item in tx.designs.items(design.id) if item.grade is None]


@dataclass(frozen=True, slots=True)
class Scale:
    """The allowed grades: from 0, or the labels' lowest, to ``greatest``; whole if those of the labels are.

    ``shown``: the greatest grade of the labels.
    """

    least: float
    greatest: float
    shown: float
    is_whole: bool

    @classmethod
    def of(cls, grades: Floats, greatest: float | None = None) -> Scale:
        """Return the scale of the grades of labels; ``greatest``: the greatest that is allowed, None for theirs."""
        grades = np.unique(grades)
        shown = float(grades[-1]) if grades.size else 1.0
        least = min(float(grades[0]), 0.0) if grades.size else 0.0
        return cls(least, shown if greatest is None else greatest, shown, bool((grades == np.trunc(grades)).all()))

    @classmethod
    def of_design(cls, tx: ReadTransaction, label_set_id: int, kind: str, greatest: float | None) -> Scale:
        """Return the scale of the answers to a design of a kind; ``greatest``: as an older version stored it."""
        grades = tx.labels.lists(label_set_id).grades
        return cls.of(grades, greatest if kind == "items" else max(GREATEST_GRADE, float(grades.max(initial=0.0))))

    def holds(self, grade: float) -> bool:
        """Return whether a grade is on the scale."""
        return self.least <= grade <= self.greatest and (not self.is_whole or grade == int(grade))

    @property
    def words(self) -> str:
        """The scale in words, for a sentence.

        >>> Scale.of(np.array([0.0, 2.0])).words
        'whole grades 0 to 2'
        """
        return f"{'whole ' if self.is_whole else ''}grades {self.least:g} to {self.greatest:g}"


@dataclass(frozen=True, slots=True)
class Answers:
    """The outcome of storing answers: how many were new, how many were stored before, and how many are missing.

    ``judge``: who gave them, "" for people without a name.
    """

    design: int
    dataset: str
    judge: str
    n_new: int
    n_known: int
    n_unanswered: int


Place = Callable[[str, str], str]
"""The place of a group's item in a file, "" if it is not known."""


def numbered_design(tx: ReadTransaction, dataset_id: int, dataset: str, number: int) -> DesignRecord:
    """Return a design of a dataset (InputError if there is none with this number)."""
    stored = tx.designs.all(dataset_id)
    for design in stored:
        if design.number == number:
            return design
    there = "it has none" if not stored else "it only has 1" if len(stored) == 1 else f"it has 1 to {len(stored)}"
    raise InputError(
        f"there is no design {number} of dataset {dataset!r} ({there})",
        advice="draw one with: ndcg-track labels sample A B --budget N",
    )


def answered_design(
    tx: WriteTransaction, dataset: str, number: int, judge: str | None, labels: LabelLists, place: Place
) -> Answers:
    """Store the grades that people gave to the items of a design; all of them, or none if one answer is refused.

    Raises: InputError for an item that was not asked about and a grade off the scale; ConflictError for an item that
    already has another grade, and for a design that somebody else answers.
    """
    known = tx.datasets.known(dataset)
    tx.keep_creators_out()
    design = numbered_design(tx, known.id, known.name, number)
    if design.kind != "holes" and not judge:
        raise InputError("answers that check a judge need a name", advice=f"say who gave them with {argument('judge')}")
    if design.kind != "holes" and judge == design.judge:
        raise InputError(
            f"design {number} checks {judge_words(design.judge)}, who cannot answer it",
            advice=f"name another {argument('judge')}",
        )
    person = judge if judge is not None else design.checked_by or ""
    if design.checked_by not in (None, person):
        raise ConflictError(
            f"design {number} is answered by {design.checked_by!r}, not by {person!r}",
            advice=f"give {argument('judge', design.checked_by)}",
        )
    stored = {(item.group_id, item.item_key): item.grade for item in tx.designs.items(design.id)}
    given = _checked_answers(tx, design, labels, stored, place)
    new = [(pair, grade) for pair, grade in given.items() if stored[pair] is None]
    if new:
        tx.write.designs.answer(design, person, new)
    n_open = sum(grade is None for grade in stored.values()) - len(new)
    return Answers(number, known.name, person, len(new), len(given) - len(new), n_open)


def _checked_answers(
    tx: ReadTransaction, design: DesignRecord, labels: LabelLists, stored: Mapping[Pair, float | None], place: Place
) -> dict[Pair, float]:
    """Return answers by group id and item; refuse the first wrong one; ``stored``: the grades of what was asked."""
    scale = Scale.of_design(tx, design.label_set_id, design.kind, design.greatest_grade)
    groups = group_codes(labels.offsets)
    ids = tx.groups.ids(design.dataset_id, labels.group_keys)[groups].tolist()
    names, items = labels.group_keys.take(groups).to_list(), labels.item_keys.to_list()
    answers: dict[Pair, float] = {}
    for group_id, group, item, grade in zip(ids, names, items, labels.grades.tolist(), strict=True):
        pair, what = (group_id, item), f"group {group!r}, item {item!r}"
        if pair not in stored:
            raise InputError(
                f"{what} was not drawn by design {design.number}",
                where=place(group, item),
                advice=f"leave it out, or add it as a label with {argument('extend', True)}",
            )
        if not scale.holds(grade):
            raise InputError(
                f"grade {grade:g} of {what} is off the scale, {scale.words}",
                where=place(group, item),
                advice="correct it, or leave it empty",
            )
        before = stored[pair]
        if before is not None and before != grade:
            raise ConflictError(
                f"{what} was answered with {before:g}, not {grade:g}; answers cannot be changed",
                where=place(group, item),
                advice="leave it out",
            )
        answers[pair] = grade
    return answers
