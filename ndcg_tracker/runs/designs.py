"""Designs: the items that people grade to check a judge, and their answers."""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ndcg_tracker.errors import ConflictError, InputError, argument
from ndcg_tracker.metrics.contributions import ItemsApart, ItemsOfPairs, gains_of, items_apart
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.metrics.unjudged_bounds import refuse_unchecked
from ndcg_tracker.rankings.grouping import group_codes
from ndcg_tracker.rankings.join import judged
from ndcg_tracker.statistics.drawn import (
    inclusion_probabilities,
    permanent_folds,
    permanent_numbers,
    probabilities_by_spread,
    spread_of_gains,
)
from ndcg_tracker.storage.checks import utc_now
from ndcg_tracker.storage.records import DesignRecord, DesignRunRecord
from ndcg_tracker.words.texts import counted, judge_words

if TYPE_CHECKING:
    from ndcg_tracker.metrics.language.metric import Metric
    from ndcg_tracker.rankings import Floats, Index
    from ndcg_tracker.rankings.ranking import LabelLists
    from ndcg_tracker.storage.records import DrawnItemRecord, LabelSetRecord, RunRecord
    from ndcg_tracker.storage.store import ReadTransaction, WriteTransaction

LARGEST_BUDGET = 10_000_000
MOST_LOOKS = 100
GREATEST_GRADE = 1.7e308


def frozen_pairs(
    tx: ReadTransaction, label_set: LabelSetRecord, baseline: RunRecord, candidates: Sequence[RunRecord], metric: Metric
) -> tuple[list[ItemsApart], LabelLists]:
    """Return the items that tell each candidate from a baseline under a metric and a judge's labels, and the labels.

    Raises: InputError for runs without items, and for a metric that is not a sum over items.
    """
    runs = (baseline, *candidates)
    tx.runs.require("items", *runs)
    for run in runs:
        if not run.n_items:
            raise InputError(f"run {run.name!r} has no items to draw from", advice="name runs with items")
    labels = tx.labels.lists(label_set.id)
    refuse_unchecked(metric, np.unique(labels.grades), labels.n_groups)
    first, *others = (judged(tx.runs.ranking(run.id), labels) for run in runs)
    return [items_apart(first, other, metric) for other in others], labels


def frozen_items(
    tx: ReadTransaction, label_set: LabelSetRecord, baseline: RunRecord, candidate: RunRecord, metric: Metric
) -> tuple[ItemsApart, LabelLists]:
    """Return the items that tell two runs apart under a metric and a judge's labels, and the labels (see above)."""
    (apart,), labels = frozen_pairs(tx, label_set, baseline, [candidate], metric)
    return apart, labels


Pair = tuple[int, str]
"""The id of a group, and an item."""


def _drawn(items: ItemsOfPairs, seed: str, probabilities: Floats, group_ids: Index) -> dict[Pair, float]:
    """Return the items whose permanent number is below their probability, with their probability."""
    names = (keys.to_bytes_list() for keys in (items.group_keys.take(items.groups), items.keys))
    rows = np.flatnonzero(permanent_numbers(seed, zip(*names, strict=True)) < probabilities)
    return dict(zip(_pairs(items.take(rows), group_ids), probabilities[rows].tolist(), strict=True))


def _probabilities(
    tx: ReadTransaction,
    design: DesignRecord,
    budget: float,
    items: ItemsOfPairs,
    labels: LabelLists,
    answers: Mapping[Pair, float],
) -> Floats:
    """Return the probability with which a design draws each item; ``answers``: older ones, whose spread counts."""
    if not answers:
        return inclusion_probabilities(items.sizes, budget)
    group_ids = tx.groups.ids(design.dataset_id, labels.group_keys)
    levels, codes = np.unique(labels.grades, return_inverse=True)
    of_labels = zip(group_ids[group_codes(labels.offsets)].tolist(), labels.item_keys.to_list(), strict=True)
    code_of = dict(zip(of_labels, codes.tolist(), strict=True))
    of_items, of_answers = (
        np.array([code_of.get(pair, levels.size) for pair in pairs], dtype=np.int64)  # last: without a judge's grade
        for pairs in (_pairs(items, group_ids), answers)
    )
    answered = tx.groups.keys(design.dataset_id, np.array([group for group, _ in answers], dtype=np.int64))
    gains = gains_of(parse_metric(design.metric), np.array(list(answers.values())))
    spread = spread_of_gains(permanent_folds(answered.to_bytes_list()), of_answers, gains, levels.size + 1)
    folds = permanent_folds(items.group_keys.to_bytes_list())[items.groups]
    return probabilities_by_spread(items.sizes, budget, folds, spread[of_items, folds])


def _pairs(items: ItemsOfPairs, group_ids: Index) -> list[Pair]:
    return list(zip(group_ids[items.groups].tolist(), items.keys.to_list(), strict=True))


@dataclass(frozen=True, slots=True)
class SampleOptions:
    """The options for a design.

    ``budget``: how many items all its looks draw on average. ``looks``: how many; None for the planned number, or else
    one. ``seed``: of the dataset's numbers, for its first design. ``not_tuned``: the promise that content stored after
    the first answer does not depend on the answers. ``scale``: the highest grade of people, None for the judge's.
    """

    budget: int
    looks: int | None = None
    seed: str | None = None
    not_tuned: bool = False
    scale: float | None = None

    def check(self) -> None:
        """Raise InputError for an impossible budget, number of looks or scale."""
        if not 1 <= self.budget <= LARGEST_BUDGET:
            raise InputError(f"the budget must be 1 to {LARGEST_BUDGET:,} labels, not {self.budget:,}")
        if self.looks is not None and not 1 <= self.looks <= MOST_LOOKS:
            raise InputError(f"a design has 1 to {MOST_LOOKS} looks, not {self.looks:,}")
        if self.looks is not None and self.looks > self.budget:
            raise InputError(
                f"{self.looks} looks need a budget of {self.looks} labels or more, not {self.budget}",
                advice=f"raise {argument('budget')}, or lower {argument('looks')}",
            )
        if self.scale is not None and not 0 < self.scale <= GREATEST_GRADE:
            raise InputError(f"the highest grade of a scale must be above 0, not {self.scale:g}")


@dataclass(frozen=True, slots=True)
class Drawn:
    """A design and its items.

    ``n_apart``: how many items tell its runs apart. ``n_known``: how many of them were not drawn because they have
    answers to older designs. ``shared``: drawn items that somebody answered for another design. ``has_own_numbers``:
    whether it does not use the dataset's random numbers.
    """

    design: DesignRecord
    items: tuple[DrawnItemRecord, ...]
    n_apart: int
    n_known: int
    shared: frozenset[Pair]
    has_own_numbers: bool

    @property
    def to_ask(self) -> list[Pair]:
        """The items without an answer, by group id and item, in an order that does not depend on the runs."""
        return _asked(self.design, self.items, self.shared)


def _asked(design: DesignRecord, items: Sequence[DrawnItemRecord], shared: Collection[Pair]) -> list[Pair]:
    pairs = [(item.group_id, item.item_key) for item in items if item.grade is None]
    pairs = [pair for pair in pairs if pair not in shared]
    keys = [(str(group).encode(), item.encode("utf-8", "surrogatepass")) for group, item in pairs]
    order = np.argsort(permanent_numbers(f"{design.seed} order", keys), kind="stable")
    return [pairs[place] for place in order.tolist()]


def open_items(tx: ReadTransaction, design: DesignRecord, judge: str) -> list[Pair]:
    """Return the items that a person has not answered yet for a design, as ``labels_sample`` lists them."""
    shared = shared_answers(tx, tx.designs.all(design.dataset_id), design, judge).grades
    return _asked(design, tx.designs.items(design.id), shared)


def drawn_design(
    tx: WriteTransaction,
    label_set: LabelSetRecord,
    baseline: RunRecord,
    candidates: Sequence[RunRecord],
    metric: Metric,
    options: SampleOptions,
) -> Drawn:
    """Draw a design, or the next step of the design for these runs under these labels and this metric.

    An item is drawn if its permanent number is below its probability. The probability grows with the largest weight
    that the item has in a difference between a candidate and the baseline. A run or a version of labels that was stored
    after the first answer may depend on the answers. A design with it gets its own random numbers, and does not draw
    items again that people answered before. Raises: InputError, ConflictError.
    """
    options.check()
    runs = list({run.id: run for run in (baseline, *candidates)}.values())
    if len(runs) <= len({run.id for run in candidates}):
        raise InputError(f"run {baseline.name!r} cannot differ from itself", advice="name two runs")
    tx.keep_creators_out()
    dataset_id = baseline.dataset_id
    stored = tx.designs.all(dataset_id)
    base = stored[0].seed if stored else secrets.token_hex(16) if options.seed is None else options.seed
    if options.seed is not None and options.seed != base:
        raise ConflictError(
            f"the random numbers of dataset {baseline.dataset!r} always have the seed {base!r}, not {options.seed!r}",
            advice=f"leave out {argument('seed')}",
        )
    asked = (label_set.id, str(metric), frozenset(run.id for run in runs))
    same = next((of for of in reversed(stored) if (of.label_set_id, of.metric, of.run_ids) == asked), None)
    pairs, labels = frozen_pairs(tx, label_set, baseline, runs[1:], metric)
    greatest_grade = Scale.of(label_set.judge, labels.grades, options.scale, is_asked=True).given
    every = ItemsOfPairs.of(pairs)
    n_apart = every.sizes.size
    if not n_apart:
        names = f"{runs[1].name!r} and {baseline.name!r}" if len(runs) == 2 else f"{baseline.name!r} and its candidates"
        raise InputError(f"no item tells {names} apart under {metric}", advice="name other runs")
    step: dict[str, Any] | None
    if same is not None:
        step = _next_step(tx, same, base, options, greatest_grade, baseline.dataset)
        design = replace(same, **(step or {}))
    else:
        seed = _seed(stored, base, label_set, runs)
        n_looks = options.looks or 1
        step = {"look": 1, "budget": _part(options.budget, 1, n_looks), "planned_budget": options.budget}
        design = DesignRecord(
            id=0,
            dataset_id=dataset_id,
            number=stored[-1].number + 1 if stored else 1,
            label_set_id=label_set.id,
            checked_by=None,
            metric=str(metric),
            runs=tuple(DesignRunRecord(run.id, run.name) for run in runs),
            seed=base if options.not_tuned else seed,
            created_at_utc=utc_now(),
            n_looks=n_looks,
            not_tuned=options.not_tuned and seed != base,
            greatest_grade=greatest_grade,
            **step,
        )
    group_ids = tx.groups.ids(dataset_id, every.group_keys)
    _, known = _known(tx, stored, design)
    is_open = [pair not in known for pair in _pairs(every, group_ids)] if known else []
    rest = every.take(np.flatnonzero(is_open)) if known else every
    if step is not None:
        if not rest.sizes.size:
            what = f"people answered all {counted(n_apart, 'item')} that tell these runs apart, in older designs"
            raise InputError(what, advice="name other runs")
        probabilities = _probabilities(tx, design, step["budget"], rest, labels, _answers_before(tx, stored, design))
        drawn = _drawn(rest, design.seed, probabilities, group_ids)
        if not drawn:
            what = f"no item was drawn with a budget of {step['budget']}"
            raise InputError(what, advice=f"raise {argument('budget')}")
        if same is None:
            design, step = tx.write.designs.insert(design), {}
        tx.write.designs.draw(design, drawn, **step)
        design = next(of for of in tx.designs.all(dataset_id) if of.id == design.id)
    items, shared = tx.designs.items(design.id), shared_answers(tx, stored, design, design.checked_by)
    n_open = sum(item.grade is None for item in items)
    if n_open and len(shared.grades) == n_open and shared.judge is not None:
        tx.write.designs.answer(design, shared.judge, list(shared.grades.items()))
        design = next(of for of in tx.designs.all(dataset_id) if of.id == design.id)
        items = tx.designs.items(design.id)
    n_known = n_apart - rest.sizes.size
    return Drawn(design, tuple(items), n_apart, n_known, frozenset(shared.grades), design.seed != base)


def _part(budget: int, look: int, n_looks: int) -> int:
    """Return how many items a design draws up to a look, on average."""
    return round(budget * look / n_looks)


def _next_step(
    tx: ReadTransaction,
    design: DesignRecord,
    base: str,
    options: SampleOptions,
    greatest_grade: float | None,
    dataset: str,
) -> dict[str, Any] | None:
    """Return the next look, budgets and plan of a design, None if there is nothing to draw.

    ``greatest_grade``: of people, as in ``options``. Raises: ConflictError for a plan that differs from that of a
    design with answers, and while its present look waits for answers.
    """
    if design.answered_after_run_id is None:
        return _planned_anew(design, base, options, greatest_grade)
    number, n_looks, whole = design.number, design.n_looks, design.planned_budget
    n_open = sum(item.grade is None for item in tx.designs.items(design.id))
    if options.looks not in (None, n_looks):
        raise ConflictError(
            f"design {number} is planned with {counted(n_looks, 'look')}, not {options.looks}",
            advice=f"give {argument('looks', n_looks)}, or leave it out",
        )
    if options.scale is not None and greatest_grade != design.greatest_grade:
        up_to = "that of the judge" if design.greatest_grade is None else f"up to {design.greatest_grade:g}"
        raise ConflictError(
            f"the scale of design {number} is {up_to}, not up to {options.scale:g}",
            advice=f"leave out {argument('scale')}",
        )
    if options.not_tuned and design.seed != base:
        raise ConflictError(
            f"design {number} was drawn with its own random numbers", advice=f"leave out {argument('not_tuned')}"
        )
    if options.budget == whole and n_looks > 1 and design.look == n_looks and not n_open:
        raise ConflictError(
            f"design {number} has had all of its {n_looks} looks",
            advice="compare these runs, or draw for others",
        )
    if options.budget == design.budget:
        return None
    if options.budget == whole:
        if not n_open:
            look = design.look + 1
            return {"look": look, "budget": _part(whole, look, n_looks)}
        answer = shlex.join(answering_command("FILE", number, design.checked_by or "NAME", dataset))
        raise ConflictError(
            f"design {number} waits for {counted(n_open, 'answer')} before look {design.look + 1} of {n_looks}",
            advice=f"add them with: {answer}; {argument('budget', design.budget)} gives the open items again",
        )
    why = "a verdict on more of them would be a second look, which makes more errors than its level allows"
    if options.budget < whole:
        why = f"its budget cannot shrink from {whole:,} to {options.budget:,}"
    elif n_looks > 1:
        why = f"its {n_looks} looks are planned with a budget of {whole:,}"
    raise ConflictError(f"design {number} has answers, and {why}", advice=f"give {argument('budget', whole)}")


def _planned_anew(
    design: DesignRecord, base: str, options: SampleOptions, greatest_grade: float | None
) -> dict[str, Any] | None:
    """Return the new plan of a design that nobody has answered, None if it is unchanged.

    Options that are not given stay. Giving only the budget of the present look returns its items again.
    """
    looks = options.looks or design.n_looks
    is_present_look = (looks, options.budget) == (design.n_looks, design.budget)
    whole = design.planned_budget if is_present_look else options.budget
    replace(options, looks=looks, budget=whole).check()
    plan: dict[str, Any] = {"n_looks": looks, "planned_budget": whole, "budget": _part(whole, 1, looks)}
    if options.scale is not None:
        plan["greatest_grade"] = greatest_grade
    if options.not_tuned and design.seed != base:
        plan |= {"seed": base, "not_tuned": True}
    return None if replace(design, **plan) == design else plan


def _seed(stored: Sequence[DesignRecord], base: str, label_set: LabelSetRecord, runs: Sequence[RunRecord]) -> str:
    """Return the seed of a new design: its own if the runs or labels may depend on answers."""
    answered = [of for of in stored if of.answered_after_run_id is not None]
    newest_run = min((of.answered_after_run_id or 0 for of in answered), default=None)
    newest_labels = min((of.answered_after_label_set_id or 0 for of in answered), default=None)
    if newest_run is None or newest_labels is None:
        return base
    is_older = max(run.id for run in runs) <= newest_run and label_set.id <= newest_labels
    return base if is_older else f"{base}/{stored[-1].number + 1}"


def _kinds(tx: ReadTransaction, dataset_id: int) -> Callable[[DesignRecord], tuple[str, float | None]]:
    """Return a function from a design to the judge that it checks and its scale."""
    judge_of = {of.id: of.judge for of in tx.labels.sets(dataset_id, None)}
    return lambda of: (judge_of[of.label_set_id], of.greatest_grade)


def _answers_before(tx: ReadTransaction, stored: Sequence[DesignRecord], design: DesignRecord) -> dict[Pair, float]:
    """Return the answers from which a design computes its probabilities: the same ones in all its looks.

    They check the same judge on the same scale. They were given before this design was first drawn, to designs that
    were drawn before anybody answered, so none of their probabilities depends on an answer.
    """
    kind_of = _kinds(tx, design.dataset_id)
    older = [of for of in stored if of.number < design.number and kind_of(of) == kind_of(design)]
    given = [(of, *answer) for of in older for answer in tx.designs.answers(of.id, design.created_at_utc)]
    first = min((answered_at for *_, answered_at in given), default="")
    return {pair: grade for of, pair, grade, _ in given if of.created_at_utc < first}


def _of_people(
    tx: ReadTransaction, stored: Sequence[DesignRecord], design: DesignRecord, *, same_numbers: bool
) -> dict[str, dict[Pair, float]]:
    """Return the answers to other designs that check the same judge on the same scale, by who gave them.

    ``same_numbers``: to designs with the same random numbers; else to older designs with other numbers, as they were
    when this design was first drawn.
    """
    kind_of = _kinds(tx, design.dataset_id)
    of_people: dict[str, dict[Pair, float]] = {}
    for of in stored:
        is_of_kind = (of.seed == design.seed) == same_numbers and (same_numbers or of.number < design.number)
        is_alike = kind_of(of) == kind_of(design)
        if of.number == design.number or of.checked_by is None or not (is_of_kind and is_alike):
            continue
        for item in tx.designs.items(of.id):
            if item.grade is not None and (same_numbers or (item.answered_at_utc or "") < design.created_at_utc):
                of_people.setdefault(of.checked_by, {})[item.group_id, item.item_key] = item.grade
    return of_people


@dataclass(frozen=True, slots=True)
class SharedAnswers:
    """Grades of items without an answer that somebody gave for other designs with the same random numbers."""

    judge: str | None
    grades: Mapping[Pair, float]


def shared_answers(
    tx: ReadTransaction, stored: Sequence[DesignRecord], design: DesignRecord, judge: str | None
) -> SharedAnswers:
    """Return a person's answers for other designs; ``judge``: None for the only person who answered."""
    of_people = _of_people(tx, stored, design, same_numbers=True)
    person = judge or (next(iter(of_people)) if len(of_people) == 1 else "")
    if person not in of_people:
        return SharedAnswers(None, {})
    open_items = [(item.group_id, item.item_key) for item in tx.designs.items(design.id) if item.grade is None]
    grades = of_people[person]
    return SharedAnswers(person, {pair: grades[pair] for pair in open_items if pair in grades})


def _known(
    tx: ReadTransaction, stored: Sequence[DesignRecord], design: DesignRecord
) -> tuple[str | None, dict[Pair, float]]:
    """Return who gave the ``known_answers`` of a design that may be new, and these by the ids of groups."""
    if not stored or design.seed == stored[0].seed:
        return None, {}
    of_people = _of_people(tx, stored, design, same_numbers=False)
    return next(iter(of_people.items())) if len(of_people) == 1 else (None, {})


def known_answers(tx: ReadTransaction, design: DesignRecord) -> dict[tuple[str, str], float]:
    """Return the grades that were known when a design with its own random numbers was drawn, by group and item.

    They are answers to older designs that check the same judge on the same scale. They count only if a single person
    had given all of them before this design was first drawn. The design does not draw their items; a verdict uses these
    grades directly. Empty for a design with the dataset's random numbers, which shares drawn items with others.
    """
    _, known = _known(tx, tx.designs.all(design.dataset_id), design)
    keys = tx.groups.keys(design.dataset_id, np.array([group for group, _ in known], dtype=np.int64)).to_list()
    return {(key, item): grade for key, ((_, item), grade) in zip(keys, known.items(), strict=True)}


def known_apart(tx: ReadTransaction, design: DesignRecord) -> set[Pair]:
    """Return the items that tell a design's runs apart and that its answerer had answered before it was drawn.

    They are always in its sample. Empty if there are no such items, or if one of its runs is deleted.
    """
    person, known = _known(tx, tx.designs.all(design.dataset_id), design)
    if not known or person != design.checked_by or None in design.run_ids:
        return set()
    label_set = next(of for of in tx.labels.sets(design.dataset_id, None) if of.id == design.label_set_id)
    baseline, *others = [tx.runs.with_id(run.run_id) for run in design.runs if run.run_id is not None]
    pairs, _ = frozen_pairs(tx, label_set, baseline, others, parse_metric(design.metric))
    every = ItemsOfPairs.of(pairs)
    return known.keys() & set(_pairs(every, tx.groups.ids(design.dataset_id, every.group_keys)))


@dataclass(frozen=True, slots=True)
class Scale:
    """The allowed grades of answers: from 0, or the judge's lowest, to the highest; whole if the judge's are.

    ``given``: the highest grade if it differs from the judge's.
    """

    judge: str
    least: float
    greatest: float
    is_whole: bool
    given: float | None = None

    @classmethod
    def of(cls, judge: str, grades: Floats, greatest: float | None = None, *, is_asked: bool = False) -> Scale:
        """Return the scale of a judge's grades, up to a given highest grade.

        Raises: InputError for a highest grade that is not whole although grades are; and, if ``is_asked`` for a design,
        for one that is lower than the judge's.
        """
        grades = np.unique(grades)
        is_whole = bool((grades == np.trunc(grades)).all())
        given = None if greatest in (None, grades[-1]) else greatest
        if given is not None and is_whole and given != int(given):
            raise InputError(
                f"grades of {judge_words(judge)} are whole, so the highest grade of people cannot be {given:g}",
                advice=f"give {argument('scale', int(given) + 1)}",
            )
        if given is not None and is_asked and given < grades[-1]:
            raise InputError(
                f"grades of {judge_words(judge)} go up to {grades[-1]:g}, but answers would go up to {given:g}",
                advice=f"give {argument('scale', f'{grades[-1]:g}')} or more, or leave it out",
            )
        return cls(judge, min(float(grades[0]), 0.0), float(grades[-1]) if given is None else given, is_whole, given)

    def holds(self, grade: float) -> bool:
        """Return whether a grade is on the scale."""
        return self.least <= grade <= self.greatest and (not self.is_whole or grade == int(grade))

    @property
    def words(self) -> str:
        """The scale in words, for a sentence."""
        whose = judge_words(self.judge) if self.given is None else "the design"
        whole = "whole grades " if self.is_whole else ""
        return f"{whose}, {whole}{self.least:g} to {self.greatest:g}"


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
