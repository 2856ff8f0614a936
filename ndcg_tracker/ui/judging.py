"""``ui --judge``: one person grades the items that are needed next, or those of a design, and then stores the grades.

Grades that are not stored yet form a draft: a file of JSON lines that ``labels add`` also reads, so that neither a
closed browser nor the end of the server loses a grade.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shlex
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np

from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.asked import EVERY_JUDGE
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.labels.decide import ItemToGrade
from ndcg_tracker.questions.labels.gather import labels_needed
from ndcg_tracker.questions.labels.question import NeededQuestion
from ndcg_tracker.questions.labels.say_items import csv_to_fill
from ndcg_tracker.rankings.grouping import group_codes
from ndcg_tracker.render.report import query_cell, text_cell
from ndcg_tracker.render.whole_file import whole_file
from ndcg_tracker.runs.designs import Scale, numbered_design, open_items
from ndcg_tracker.runs.groups import group_id, texts_of
from ndcg_tracker.runs.judges import judge_option, judges_of
from ndcg_tracker.storage.checks import checked_name
from ndcg_tracker.storage.database_url import parsed_location
from ndcg_tracker.storage.records import NO_LABELS_HERE
from ndcg_tracker.ui.here import JUDGE, Answer, Here, Next, Rows, rescoring
from ndcg_tracker.ui.overviews import shown_judge
from ndcg_tracker.ui.rendering import Question, link, rendered
from ndcg_tracker.words.texts import GroupTexts, judge_words

if TYPE_CHECKING:
    from ndcg_tracker.rankings.ranking import LabelLists
    from ndcg_tracker.storage.records import DatasetRecord, DesignRecord, RunRecord
    from ndcg_tracker.storage.store import ReadTransaction, Store

BUDGET = 100
"""The default number of items to grade."""
AHEAD = 6
"""How many items a page holds: the next one, and those that its script shows while a grade is sent."""
MOST_KEYS = 10
"""Up to this many grades have a key each; with more grades, or with fractions, people type the grade."""
UNSURE = "unsure"
SOURCE = "ui"
_LONGEST_NAME = 150

GroupItem = tuple[str, str]


@dataclass(slots=True)
class Draft:
    """The grades that a person gave but has not stored, in order; None means unsure. Every change is saved to disk."""

    path: Path
    grades: dict[GroupItem, float | None] = field(default_factory=dict)

    @classmethod
    def at(cls, path: Path) -> Draft:
        """Return the draft in a file, empty if there is none (InputError for a file that is not a draft)."""
        draft = cls(path)
        try:
            lines = path.read_text("utf-8").splitlines()
        except FileNotFoundError:
            return draft
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"the grades that are not stored yet cannot be read: {error}", where=str(path)) from None
        for number, line in enumerate(lines, start=1):
            try:
                row = json.loads(line)
                grade = row["label"]
                draft.grades[str(row["group"]), str(row["item"])] = None if grade is None else float(grade)
            except (ValueError, TypeError, KeyError):
                raise InputError(
                    "this line is not a grade that these pages wrote",
                    where=f"{path}:{number}",
                    advice="move the file away, or correct it",
                ) from None
        return draft

    def give(self, pair: GroupItem, grade: float | None) -> None:
        """Save a grade; a later grade replaces an earlier one."""
        self.grades.pop(pair, None)
        self.grades[pair] = grade
        self._write()

    def undo(self, pairs: Collection[GroupItem]) -> None:
        """Take the last grade of some items back."""
        self.forget([pair for pair in self.grades if pair in pairs][-1:])

    def forget(self, pairs: Collection[GroupItem]) -> None:
        """Forget some items: stored grades are not part of a draft, and the pages ask for the others again."""
        self.grades = {pair: grade for pair, grade in self.grades.items() if pair not in pairs}
        self._write()

    def graded(self, pairs: Collection[GroupItem]) -> dict[str, dict[str, float]]:
        """Return the grades of some items by group and item, without what the person was unsure of."""
        nested: dict[str, dict[str, float]] = {}
        for (group, item), grade in self.grades.items():
            if grade is not None and (group, item) in pairs:
                nested.setdefault(group, {})[item] = grade
        return nested

    def _write(self) -> None:
        if not self.grades:
            self.path.unlink(missing_ok=True)
            return
        rows = ({"group": group, "item": item, "label": grade} for (group, item), grade in self.grades.items())
        with whole_file(os.fspath(self.path), "judge") as write:
            write("".join(json.dumps(row) + "\n" for row in rows))


@dataclass(frozen=True, slots=True)
class Task:
    """The items that a person grades.

    ``address``: the parameters that name the task. ``runs``: ids of the runs that it is for. ``whose``: the judge whose
    labels lack these items, None for the answers to a design. ``items``: in the order of the questions.
    """

    dataset: DatasetRecord
    address: Mapping[str, Sequence[str]]
    runs: Sequence[int]
    what: str
    whose: str | None
    design: int | None
    scale: Scale
    items: Sequence[GroupItem]

    @property
    def levels(self) -> list[int]:
        """The grades that have a key each, empty if people type the grade."""
        n = int(self.scale.shown - self.scale.least) + 1
        is_keyed = self.scale.is_whole and self.scale.least >= 0 and self.scale.shown < MOST_KEYS
        return [int(self.scale.least) + step for step in range(n)] if is_keyed else []

    def grade(self, text: str) -> float:
        """Return a typed grade (InputError for a grade off the scale)."""
        try:
            grade = float(text if self.scale.is_whole else text.replace(",", "."))
        except ValueError:
            grade = float("nan")
        if not self.scale.holds(grade):
            whole = "a whole number" if self.scale.is_whole else "a number"
            raise InputError(
                f"{text[:40]!r} is not {whole} from {self.scale.least:g} to {self.scale.greatest:g}",
                advice="go back and give another grade",
            )
        return grade


@dataclass(frozen=True, slots=True)
class Batch:
    """The share of all items that one of several people is asked for: the same one whatever others store.

    >>> pairs = [("q1", f"d{number}") for number in range(6)]
    >>> [[item for _, item in pairs if Batch(place, 2).has(("q1", item))] for place in (0, 1)]
    [['d1', 'd3', 'd5'], ['d0', 'd2', 'd4']]
    """

    place: int = 0
    n_people: int = 1

    def has(self, pair: GroupItem) -> bool:
        """Return whether an item belongs to this person."""
        return int(_mark(pair), 16) % self.n_people == self.place


class Judging:
    """The person who judges, the drafts, and the only code by which these pages write to the database.

    ``location``: the database, which is opened for writing only while something is stored. ``batch``: which items this
    person is asked for. ``form``: a secret in every form that writes, which only this person's pages have.

    Raises: InputError for an invalid name, DatabaseError for a database that cannot be written to.
    """

    def __init__(self, person: str, location: str, batch: Batch = Batch()) -> None:
        if not person.strip() or person == EVERY_JUDGE:
            raise InputError(f"{argument('judge', person)} is not a name", advice="give the name of the person")
        self.person = checked_name("judge", person)
        self.form = secrets.token_urlsafe(32)
        self._location = location
        self._batch = batch
        self._lock = threading.RLock()
        self._tasks: dict[tuple[object, ...], Task] = {}
        self._stored: dict[Path, Next] = {}
        with Tracker(location) as tracker, tracker.store().write("content"):
            pass

    def page(self, tx: ReadTransaction, ask: Question) -> Answer:
        """Return the page of the item to grade next, or of all tasks if the address names none."""
        if not (ask.text("design") or ask.text("run")):
            return self._choices(tx, ask)
        with self._lock:
            task = self._task(tx, ask)
            draft = self._draft(task)
            asked = [number for number, pair in enumerate(task.items) if pair not in draft.grades]
            given = [draft.grades[pair] for pair in task.items if pair in draft.grades]
            n_elsewhere = sum(grade is not None for grade in draft.grades.values())
        n_unsure = sum(grade is None for grade in given)
        n_graded = len(given) - n_unsure
        return rendered(
            "judge.html",
            title="Judge",
            form=self.form,
            task=task,
            hidden=[(name, value) for name, values in task.address.items() for value in values],
            whose="" if task.whose is None else judge_words(task.whose),
            n_given=len(given),
            n_unsure=n_unsure,
            n_graded=n_graded,
            n_elsewhere=n_elsewhere - n_graded,
            draft=draft.path.name,
            grades=link("/judge/grades", **task.address),
            items=[_shown(tx, task, number) for number in asked[:AHEAD]],
            **Here.of(tx, ask, task.dataset).values(JUDGE),
        )

    def _choices(self, tx: ReadTransaction, ask: Question) -> Answer:
        """Return the page of all tasks: open designs, and the items that two runs need next."""
        here = Here.of(tx, ask)
        designs = [
            (design.number, _aim(design), [run.run for run in design.runs], n_open)
            for design in tx.designs.all(here.dataset.id)
            if design.checked_by in (None, self.person) and not self._is_own(design)
            if (n_open := len(open_items(tx, design)))
        ]
        runs = [(run.id, run.name) for run in tx.runs.all(here.dataset.name)[::-1] if run.n_items]
        judges = list(dict.fromkeys([*judges_of(tx, here.dataset.id), self.person]))
        version = ask.number("stored", 0)
        label_set = next((of for of in tx.labels.sets(here.dataset.id, None) if of.version == version), None)
        return rendered(
            "judging.html",
            title=f"Judge {here.dataset.name}",
            designs=designs,
            runs=runs,
            judges=[(judge, judge_words(judge)) for judge in judges],
            budget=BUDGET,
            form=self.form,
            judged_for=[tx.runs.with_id(run_id) for run_id in ask.ids("of")],
            stored=label_set,
            stored_judge="" if label_set is None else judge_words(label_set.judge),
            rescore=None if label_set is None else shlex.join(rescoring(here.dataset.name, label_set.version)),
            answered=ask.number("answered", 0),
            check=self._check(tx, here.dataset, ask.number("answered", 0)),
            **here.values(JUDGE),
        )

    def _check(self, tx: ReadTransaction, dataset: DatasetRecord, number: int) -> str:
        """Return the command that compares runs with the answers to a design, "" without a design."""
        if not number:
            return ""
        design = numbered_design(tx, dataset.id, dataset.name, number)
        words = ["ndcg-track", "compare", *(run.run for run in design.runs), "--dataset", dataset.name]
        return shlex.join([*words, *judge_option(design.judge), "--check-with", self.person])

    def grades(self, tx: ReadTransaction, ask: Question) -> Answer:
        """Return the draft of what the address names as CSV that ``labels add`` reads (InputError for unsafe ids)."""
        with self._lock:
            task = self._task(tx, ask)
            graded = self._draft(task).graded(frozenset(task.items))
        rows = [ItemToGrade(group, item) for group, items in graded.items() for item in items]
        return Rows(csv_to_fill(rows, ["label"], lambda row: [graded[row.group][row.item]]), "grades.csv")

    def give(self, store: Store, ask: Question) -> Next:
        """Save the grade of an item, or that the person is unsure; return the address of the next item."""
        with self._asked(store, ask) as (task, draft):
            number, given = ask.number("number", 0), ask.text("grade")
            if not 1 <= number <= len(task.items) or ask.text("item") != _mark(task.items[number - 1]):
                raise InputError("another item is next by now", advice="go back and load the page again")
            if given is None:
                raise InputError("no grade was given", advice="go back and give one")
            is_unsure = UNSURE in ask.texts("grade")  # a button, sent with a grade that may have been typed before
            draft.give(task.items[number - 1], None if is_unsure else task.grade(given))
        return Next(link("/judge", **task.address))

    def undo(self, store: Store, ask: Question) -> Next:
        """Take the last grade back; return the address of its item."""
        with self._asked(store, ask) as (task, draft):
            draft.undo(frozenset(task.items))
        return Next(link("/judge", **task.address))

    def again(self, store: Store, ask: Question) -> Next:
        """Ask again for the items that the person was unsure of."""
        with self._asked(store, ask) as (task, draft):
            draft.forget({pair for pair, grade in draft.grades.items() if grade is None})
        return Next(link("/judge", **task.address))

    def evaluate(self, store: Store, ask: Question) -> Next:
        """Evaluate runs, or all if none is named, under labels that were stored; return the page that shows them."""
        with store.read() as tx:
            dataset, version = ask.dataset(tx), ask.number("stored", 0)
            judge = next((of.judge for of in tx.labels.sets(dataset.id, None) if of.version == version), "")
            ids = ask.ids("of")
            names = [tx.runs.with_id(run_id).name for run_id in ids]
        with Tracker(self._location) as tracker:
            tracker.rescore(names, dataset=dataset.name, labels=version)
        return Next(link("/compare" if ids else "/runs", dataset=dataset.name, run=ids, judge=judge or None))

    def store(self, store: Store, ask: Question) -> Next:
        """Store the draft: answers to a design, or a new version of labels: the person's, or those that lack them.

        Returns the address of the page that confirms it. Raises the errors of ``Tracker.add_labels`` and
        ``add_answers``; the draft stays then.
        """
        with self._asked(store, ask) as (task, draft):
            pairs, dataset = frozenset(task.items), task.dataset.name
            graded = draft.graded(pairs)
            if not graded and draft.path in self._stored:
                return self._stored[draft.path]  # the second click of two
            if not graded:
                raise InputError("there is no grade to store yet", advice="go back and give one")
            with Tracker(self._location) as tracker:
                if task.design is not None:
                    tracker.add_answers(graded, design=task.design, judge=self.person, dataset=dataset)
                    said = {"answered": task.design}
                else:
                    fills = task.whose is not None and ask.text("as") == "theirs"
                    judges = {"judge": task.whose, "added_by": self.person} if fills else {"judge": self.person}
                    added = tracker.add_labels(graded, dataset=dataset, extend=True, source=SOURCE, **judges)
                    said = {"stored": added.version}
            draft.forget(pairs)
            self._tasks.clear()
            self._stored[draft.path] = Next(link("/judge", dataset=dataset, of=task.runs, **said))
            return self._stored[draft.path]

    def _draft(self, task: Task) -> Draft:
        """Return the draft of a dataset or of a design, which another window may have changed."""
        location = parsed_location(self._location)
        if location.path is not None:
            folder, words = location.path.parent, [location.path.name]
        else:
            assert location.url is not None
            folder, server = Path(), location.url.host or location.url.query.get("host", "")
            words = [f"{location.url.database}@{server}{location.url.port or ''}"]
        words, named = [quote(word, safe="@") for word in words], (self.person, task.dataset.name)
        words += [quote(word, safe="@").replace(".", "%2E") for word in named]  # so that no two drafts share a name
        words += [] if task.design is None else [f"design-{task.design}"]
        name = ".".join(words)
        if len(name) > _LONGEST_NAME:
            name = f"{name[:_LONGEST_NAME]}-{hashlib.sha256(name.encode()).hexdigest()[:16]}"
        return Draft.at(folder / f"{name}.jsonl")

    @contextmanager
    def _asked(self, store: Store, ask: Question) -> Iterator[tuple[Task, Draft]]:
        """Give the task that an address names, and its draft; one form at a time changes them."""
        with self._lock:
            with store.read() as tx:
                task = self._task(tx, ask)
            yield task, self._draft(task)

    def _task(self, tx: ReadTransaction, ask: Question) -> Task:
        """Return the task that an address names; slow results are cached until the labels change."""
        dataset = ask.dataset(tx) if ask.text("design") else tx.datasets.named(_runs(tx, ask)[0].dataset)
        assert dataset is not None
        newest = max((label_set.id for label_set in tx.labels.sets(dataset.id, None)), default=0)
        names = "dataset", "design", "baseline", "run", "metric", "budget", "all"
        given = {name: ask.texts(name) for name in (*names, "whose", "greatest", "judge", "labels")}
        number = ask.number("design", 0)
        design = numbered_design(tx, dataset.id, dataset.name, number) if number else None
        n_open = len(open_items(tx, design)) if design is not None else 0
        key = (newest, n_open, json.dumps(given))
        if key not in self._tasks:
            address = {name: values for name, values in given.items() if values}
            task = self._needed(tx, dataset, ask, address) if design is None else self._of_design(tx, dataset, design)
            self._tasks[key] = replace(task, items=list(filter(self._batch.has, task.items)))
        return self._tasks[key]

    def _is_own(self, design: DesignRecord) -> bool:
        """Return whether a design checks this person."""
        return design.kind != "holes" and design.judge == self.person

    def _of_design(self, tx: ReadTransaction, dataset: DatasetRecord, design: DesignRecord) -> Task:
        if self._is_own(design) or design.checked_by not in (None, self.person):
            whom = (
                f"checks {self.person}" if self._is_own(design) else f"is answered by {design.checked_by or 'others'}"
            )
            raise InputError(f"design {design.number} {whom}", advice="choose another one")
        scale = Scale.of_design(tx, design.label_set_id, design.kind, design.greatest_grade)
        pairs = open_items(tx, design)
        keys = tx.groups.keys(dataset.id, np.array([group for group, _ in pairs], dtype=np.int64)).to_list()
        what = f"items in the queries of design {design.number}, {_aim(design)}"
        items = [(key, item) for key, (_, item) in zip(keys, pairs, strict=True)]
        address = {"dataset": [dataset.name], "design": [str(design.number)]}
        runs = [run.run_id for run in design.runs if run.run_id is not None]
        return Task(dataset, address, runs, what, None, design.number, scale, items)

    def _needed(
        self, tx: ReadTransaction, dataset: DatasetRecord, ask: Question, address: Mapping[str, Sequence[str]]
    ) -> Task:
        runs, metric = _runs(tx, ask), ask.text("metric")
        whose = ask.text("whose") or shown_judge(tx, dataset)
        if whose not in (*judges_of(tx, dataset.id), "", self.person):
            raise InputError(f"dataset {dataset.name!r} has no labels of judge {whose!r}", advice="choose another one")
        label_sets = [of for of in tx.labels.sets(dataset.id, None) if of.judge not in NO_LABELS_HERE]
        if any(of.by_row_number for of in label_sets):
            raise InputError(
                f"the items of dataset {dataset.name!r} have no ids, only row numbers",
                advice="store runs and labels with item ids to judge them here",
            )
        parsed = None if metric is None else parse_metric(metric)
        budget = None if ask.has("all") else ask.number("budget", BUDGET)
        question = NeededQuestion(metric=parsed, budget=budget, judge=whose)
        needed = labels_needed(tx, runs[0], runs[1:], question)
        of_judge = [of for of in label_sets if of.judge == whose] or label_sets
        grades = tx.labels.lists(of_judge[-1].id).grades if of_judge else np.arange(4.0)
        greatest = ask.number("greatest", 0)
        scale = Scale.of(np.append(grades, float(greatest)) if greatest else grades)
        own = tx.labels.newest(dataset.id, self.person) if whose != self.person else None
        known = set() if own is None else _pairs(tx.labels.lists(own.id))
        items = [pair for item in needed.items if (pair := (item.group, item.item)) not in known]
        what = f"items that {' and '.join(run.name for run in runs)} rank first and that have no grade"
        return Task(dataset, address, [run.id for run in runs], what, whose, None, scale, items)


def _aim(design: DesignRecord) -> str:
    """Return what the answers to a design are for."""
    return "to fill holes in the labels" if design.kind == "holes" else f"to check {judge_words(design.judge)}"


def _runs(tx: ReadTransaction, ask: Question) -> list[RunRecord]:
    """Return the runs of one dataset that an address names, the baseline first."""
    ids = list(dict.fromkeys([*ask.ids("baseline"), *ask.ids("run")]))
    runs = [tx.runs.with_id(run_id) for run_id in ids]
    if len(runs) < 2:
        raise InputError("this page needs two runs or more", advice="choose another run")
    return runs


def _pairs(labels: LabelLists) -> set[GroupItem]:
    groups = labels.group_keys.take(group_codes(labels.offsets)).to_list()
    return set(zip(groups, labels.item_keys.to_list(), strict=True))


def _mark(pair: GroupItem) -> str:
    """Return a mark that identifies an item of a task, so that no grade goes to another item."""
    return hashlib.sha256(json.dumps(pair).encode()).hexdigest()[:16]


def _shown(tx: ReadTransaction, task: Task, number: int) -> dict[str, object]:
    """Return what the page shows of an item, with the texts of its group and its own."""
    group, item = task.items[number]
    group_number = group_id(tx, task.dataset.id, task.dataset.name, group)
    texts = texts_of(tx, task.dataset.id, {group_number: [item]}).get(group_number, GroupTexts())
    text = texts.items.get(item)
    return {
        "number": number + 1,
        "mark": _mark(task.items[number]),
        "group": group,
        "item": item,
        "query": query_cell(texts.query),
        "title": text_cell(text),
        "text": text.text if text is not None and text.title else None,
    }
