"""Answers to designs: the grades that people gave to drawn items, checked and stored."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ndcg_tracker.errors import ConflictError, InputError, argument
from ndcg_tracker.rankings.grouping import group_codes
from ndcg_tracker.runs.designs import Pair, Scale, shared_answers
from ndcg_tracker.words.texts import judge_words

if TYPE_CHECKING:
    from ndcg_tracker.rankings.ranking import LabelLists
    from ndcg_tracker.storage.records import DesignRecord
    from ndcg_tracker.storage.store import ReadTransaction, WriteTransaction


@dataclass(frozen=True, slots=True)
class Answers:
    """The outcome of storing answers: how many were new, and how many the design still waits for.

    ``n_known``: how many were already stored. ``n_apart``: how many more are to items that were not drawn, and are
    stored separately. ``n_shared``: how many drawn items get the same person's answer to another design. ``look`` of
    ``n_looks``: the look that waits for the answers.
    """

    design: int
    dataset: str
    judge: str
    n_new: int
    n_known: int
    n_unanswered: int
    n_apart: int = 0
    n_shared: int = 0
    look: int = 1
    n_looks: int = 1


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
        advice="draw one with: ndcg-track labels sample A B --judge JUDGE --budget N",
    )


def answered_design(
    tx: WriteTransaction,
    dataset: str,
    number: int,
    judge: str,
    labels: LabelLists,
    place: Place,
    *,
    keep_others: bool = False,
) -> Answers:
    """Store the grades that people gave to drawn items of a design; all of them, or none if one answer is refused.

    ``keep_others``: whether to store answers to items that were not drawn, separately from those that count in a
    verdict. Raises: InputError for an item that was not drawn and a grade off the scale; ConflictError for an item that
    already has another grade, and for a design that somebody else answers.
    """
    known = tx.datasets.known(dataset)
    tx.keep_creators_out()
    design = numbered_design(tx, known.id, known.name, number)
    of_judge = next(of for of in tx.labels.sets(known.id, None) if of.id == design.label_set_id)
    if not judge:
        raise InputError("answers to a design need a judge", advice=f"say who gave them with {argument('judge')}")
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
    apart = {(item.group_id, item.item_key): item.grade for item in tx.designs.kept_apart(design.id)}
    scale = Scale.of(of_judge.judge, tx.labels.lists(of_judge.id).grades, design.greatest_grade)
    shared = shared_answers(tx, tx.designs.all(known.id), design, judge).grades
    graded = {**drawn, **apart, **shared}
    given = _checked_answers(tx, design, labels, graded, place, scale, None if keep_others else apart)
    new = {pair: grade for pair, grade in given.items() if graded.get(pair) is None}
    to_drawn = {**shared, **{pair: grade for pair, grade in new.items() if pair in drawn}}
    others = {pair: grade for pair, grade in new.items() if pair not in drawn}
    if to_drawn or others:
        tx.write.designs.answer(design, judge, list(to_drawn.items()), list(others.items()))
    n_open = sum(grade is None for grade in drawn.values()) - len(to_drawn)
    n_known = len(given) - len(new) - len(given.keys() & shared.keys())
    counts = len(to_drawn) - len(shared), n_known, n_open, len(others), len(shared)
    return Answers(number, known.name, judge, *counts, design.look, design.n_looks)


def _checked_answers(
    tx: ReadTransaction,
    design: DesignRecord,
    labels: LabelLists,
    stored: Mapping[Pair, float | None],
    place: Place,
    scale: Scale,
    refused: Collection[Pair] | None,
) -> dict[Pair, float]:
    """Return answers by group id and item; refuse the first wrong one.

    ``stored``: the grades of drawn items and of those stored separately. ``refused``: the latter, if answers to items
    that were not drawn are refused; None if they are stored.
    """
    groups = group_codes(labels.offsets)
    ids = tx.groups.ids(design.dataset_id, labels.group_keys)[groups].tolist()
    names, items = labels.group_keys.take(groups).to_list(), labels.item_keys.to_list()
    answers: dict[Pair, float] = {}
    for group_id, group, item, grade in zip(ids, names, items, labels.grades.tolist(), strict=True):
        pair, what = (group_id, item), f"group {group!r}, item {item!r}"
        if refused is not None and (pair not in stored or pair in refused):
            raise InputError(
                f"{what} was not drawn by design {design.number}; the answer would bias it",
                where=place(group, item),
                advice=f"leave it out, or store it separately with {argument('keep_others', True)}",
            )
        if group_id < 0:
            raise InputError(
                f"group {group!r} of item {item!r} is not in the dataset",
                where=place(group, item),
                advice="leave it out, or correct it",
            )
        if not scale.holds(grade):
            raise InputError(
                f"group {group!r}, item {item!r}: grade {grade:g} is off the scale of {scale.words}",
                where=place(group, item),
                advice="correct it, or leave it empty",
            )
        before = stored.get(pair)
        if before is not None and before != grade:
            raise ConflictError(
                f"{what} was answered with {before:g}, not {grade:g}; answers cannot be changed",
                where=place(group, item),
                advice="leave it out",
            )
        answers[pair] = grade
    return answers
