"""Reading people's answers to whole queries, and what two runs are worth by them."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.compare.arms import Arm
from ndcg_tracker.compare.decide import PairedResults
from ndcg_tracker.compare.drawn import (
    NEW,
    NO_ANSWER,
    OLD,
    Aim,
    DrawnCheck,
    DrawnDeltas,
    Pool,
    Standing,
    check_drawable,
    why_not_drawn,
)
from ndcg_tracker.compare.estimate import estimate
from ndcg_tracker.compare.options import LabelView
from ndcg_tracker.compare.results import Estimate
from ndcg_tracker.compare.run_pair import RunPair, resolved_pair
from ndcg_tracker.compare.slices import attributes_of, numbered
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.metrics.contributions import gains_of
from ndcg_tracker.metrics.kernel.values import group_values
from ndcg_tracker.metrics.language.measures import CUMULATED
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.rankings.join import judged, places_of
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import LabelLists
from ndcg_tracker.runs.judges import numbered_labels
from ndcg_tracker.runs.labels import NO_LABELS
from ndcg_tracker.statistics.drawn_queries import LEAST_APART, DrawnQueries, without_asking, worth_of_holes
from ndcg_tracker.statistics.t_test import TTest
from ndcg_tracker.words.notes import Fact, Note
from ndcg_tracker.words.texts import judge_words, sample_command

if TYPE_CHECKING:
    from ndcg_tracker.metrics.language.metric import Metric
    from ndcg_tracker.rankings import Floats, Index
    from ndcg_tracker.rankings.ranking import Ranking
    from ndcg_tracker.storage.records import DesignRecord, RunRecord
    from ndcg_tracker.storage.store import ReadTransaction

CLUSTER = "cluster"
"""The attribute whose values mark queries that ask the same, such as paraphrases."""
_NAMED = 100


@dataclass(frozen=True)
class Answers:
    """The answers of people that count, as labels, and of each the latest run before it (-1: of an older design).

    ``aim``: what they are for. ``checked_by``: who gave them, "" for people without a name; ``designs``: to which.
    """

    aim: Aim
    checked_by: str
    designs: tuple[int, ...]
    seed: str
    grades: LabelLists
    after: LabelLists


def answers_of(tx: ReadTransaction, dataset_id: int, aim: Aim, whose: str) -> Answers | None:
    """Return the answers of a person who checks judges, or those that fill the holes of a judge's labels.

    Returns: None if nobody was asked.
    """
    stored = tx.designs.all(dataset_id)
    if aim == "judge":
        designs = [of for of in stored if of.checked_by == whose]
    else:
        designs = [of for of in stored if of.kind == "holes" and of.judge == whose]
    if not designs:
        return None
    people = ", ".join(dict.fromkeys(of.checked_by for of in designs if of.checked_by))
    numbers = tuple(design.number for design in designs if design.kind != "items")
    return Answers(aim, people, numbers, stored[0].seed, *answers_to(tx, designs)[:2])


def answers_to(tx: ReadTransaction, designs: Sequence[DesignRecord]) -> tuple[LabelLists, LabelLists, int]:
    """Return the answers to some designs, of each the latest run before it, and how many items are not answered.

    The first answer to an item counts.
    """
    found: dict[tuple[int, str], tuple[float, int]] = {}
    items = [item for design in designs for item in tx.designs.items(design.id)]
    for item in items:
        if item.grade is not None:
            later = -1 if item.answered_after_run_id is None else item.answered_after_run_id
            found.setdefault((item.group_id, item.item_key), (item.grade, later))
    ids = np.array([group for group, _ in found], dtype=np.int64)
    keys = tx.groups.keys(designs[0].dataset_id, ids), Keys.from_strings([item for _, item in found])
    grades, after = (LabelLists.from_rows(*keys, of) for of in np.array([*found.values()], np.float64).reshape(-1, 2).T)
    return grades, after, len({(item.group_id, item.item_key) for item in items}) - len(found)


def checked_pair(
    tx: ReadTransaction, baseline: Arm, candidate: Arm, asked: Sequence[Metric], view: LabelView, checked_by: str
) -> RunPair:
    """Return two runs under the labels of a judge that somebody checked (InputError if nobody did).

    ``asked``: empty for the metrics that somebody drew for.
    """
    run, other = baseline.runs[0], candidate.runs[0]
    of_judge = numbered_labels(tx, run.dataset_id, run.dataset, judge=view.judge).judge
    designs = [of for of in tx.designs.all(run.dataset_id) if of.judge == of_judge]
    answered = [of for of in designs if of.checked_by == checked_by]
    if not answered:
        named = next((of.checked_by for of in designs if of.kind == "judge" and of.checked_by), None)
        if named is not None:
            what = f"{judge_words(of_judge)} is checked by {named!r}, not by {checked_by!r}"
            raise InputError(what, advice=f"give {argument('check_with', named)}")
        what = f"nobody has checked {judge_words(of_judge)} on dataset {run.dataset!r}"
        command = shlex.join(sample_command([run.name, other.name], of_judge, run.dataset))
        raise InputError(what, advice=f"draw queries for people with: {command}")
    of_both = [of for of in answered if {run.id, other.id} <= of.run_ids]
    metrics = tuple(asked) or tuple(map(parse_metric, dict.fromkeys(of.metric for of in of_both or answered)))
    for metric in metrics:
        check_drawable(metric)
    both = resolved_pair(tx, baseline, candidate, metrics, LabelView(judge=of_judge))
    return replace(both, checked_by=checked_by)


def old_designs_note(tx: ReadTransaction, both: RunPair, answers: Answers) -> list[Note]:
    """Return a note if all answers are to designs of an older version, which drew single items."""
    if answers.designs:
        return []
    names = [side.run.name for side in both.sides]
    command = sample_command(names, both.baseline.label_set.judge, both.baseline.run.dataset)
    return [Note("old_designs", {"checked_by": answers.checked_by}, command)]


@dataclass(frozen=True)
class DrawnPair:
    """Two runs in some groups, with what counts there: labels and answers.

    ``labels``: of the judge, or of the people whose labels have holes; ``people``: those of people, who may check a
    judge.
    """

    rankings: tuple[Ranking, Ranking]
    metric: Metric
    keys: Keys
    pool: Pool
    labels: LabelLists
    people: LabelLists
    answers: Answers
    standing: Standing

    @classmethod
    def of(
        cls,
        tx: ReadTransaction,
        runs: tuple[RunRecord, RunRecord],
        label_set_id: int,
        metric: Metric,
        ids: Index,
        answers: Answers,
    ) -> DrawnPair:
        """Read everything; raises InputError for a run without its items."""
        dataset_id, aim = runs[0].dataset_id, answers.aim
        keys, labels = tx.groups.keys(dataset_id, ids), tx.labels.lists(label_set_id, ids)
        first, second = (tx.runs.ranking(run.id, ids) for run in runs)
        pool = Pool.of(judged(first, labels), judged(second, labels), metric, keys)
        own = tx.labels.newest(dataset_id, answers.checked_by) if aim == "judge" and answers.checked_by else None
        people = labels if aim == "holes" else NO_LABELS if own is None else tx.labels.lists(own.id, ids)
        after, later = pool.numbers(answers.after), max(run.id for run in runs)
        codes = np.where(np.isnan(after), NO_ANSWER, np.where(after < later, OLD, NEW))
        standing = Standing.of(pool, metric, aim, answers.seed, ~np.isnan(pool.numbers(people)), codes)
        return cls((first, second), metric, keys, pool, labels, people, answers, standing)

    def values(self, lists: LabelLists) -> tuple[Floats, Floats]:
        """Return the values of both runs under some labels: float64, shape (n_groups,) each."""
        found = []
        for ranking in self.rankings:
            (of_run,) = group_values(judged(ranking, lists), [self.metric])
            found.append(np.nan_to_num(np.append(of_run.values, 0.0)[places_of(self.keys, of_run.group_keys)]))
        return found[0], found[1]

    def graded(self) -> LabelLists:
        """Return what people say: labels and answers; of a person who checks a judge, in the first ranks only."""
        of_people, answered = (self.pool.numbers(lists) for lists in (self.people, self.answers.grades))
        grades = np.where(np.isnan(answered), of_people, answered)
        return self.pool.labels(grades, self.labels if self.answers.aim == "holes" else None)

    def without_asking(self) -> tuple[Floats, Floats, Floats]:
        """Return of each group the difference, the baseline's value, and what open items could cost, unasked."""
        pool, guess = self.pool, self.pool.numbers(self.labels)
        if self.answers.aim == "holes":  # older answers are labels
            is_older = np.isnan(guess) & ~self.standing.is_open
            guess = self._guess(np.where(is_older, pool.numbers(self.answers.grades), guess))
        greatest = float(np.concatenate([self.labels.grades, self.answers.grades.grades, np.ones(1)]).max())

        def values(grades: Floats) -> tuple[Floats, Floats]:
            return self.values(pool.labels(grades, self.labels))

        return without_asking(values, guess, self.standing.is_open, pool.after - pool.before, greatest)

    def _guess(self, grades: Floats) -> Floats:
        """Return the grades of the items, of an open one what it may be worth."""
        metric = self.metric
        to_grade = _GRADES.get(metric["gain"]) if metric.measure in CUMULATED else None
        if to_grade is None:
            return grades
        ranks = tuple(_ranks(weights) for weights in (self.pool.before, self.pool.after))
        gains = np.where(np.isnan(grades), np.nan, gains_of(metric, np.nan_to_num(grades)))
        worth = to_grade(worth_of_holes(self.pool.groups, (ranks[0], ranks[1]), gains))
        return np.where(np.isnan(grades) & self.standing.is_open, worth, grades)

    def deltas(self) -> DrawnDeltas:
        """Return the differences of the groups, and which of them are exact."""
        standing, n = self.standing, len(self.keys)
        control, values, costs = self.without_asking()
        before, after = self.values(self.graded())
        drawn, left_out = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
        first, full = standing.order[: standing.n_drawn], standing.full[: standing.n_drawn]
        drawn[first[full]], left_out[first[~full]] = True, True
        delta = np.where(standing.known | drawn, after - before, control)
        return DrawnDeltas(delta, control, values, costs, before, standing.known, drawn, left_out)


def _ranks(weights: Floats) -> Index:
    """Return the ranks from 1 that have these weights, 0 for none."""
    with np.errstate(divide="ignore", over="ignore"):
        return np.where(weights > 0, np.rint(2.0 ** (1 / np.where(weights > 0, weights, 1.0)) - 1), 0).astype(np.int64)


_GRADES: dict[str, Callable[[Floats], Floats]] = {
    "linear": lambda gains: gains,
    "exp2": lambda gains: np.log2(1 + gains),
}
"""The grade that has a gain, by the gain of a metric."""


def with_answers(
    tx: ReadTransaction, both: RunPair, metric: Metric, results: PairedResults, answers: Answers, *, fresh: bool = False
) -> tuple[PairedResults, list[Note]]:
    """Return the results of two runs by drawn answers, and notes.

    Where they fill holes and are too few to decide, they count as labels, and a note says how many are missing.
    ``fresh``: leave out the groups that were answered before the later of both runs was stored.
    """
    ids, aim = results.pairing.group_ids, answers.aim
    if results.every.weights is not None or why_not_drawn(metric) is not None:
        if aim == "judge":
            what = "groups have weights, which drawn queries do not know"
            raise InputError(what, where=metric.requested_as, advice=f"leave out {argument('check_with')}")
        return results, []
    runs = both.baseline.run, both.candidate.run
    pair = DrawnPair.of(tx, runs, both.baseline.label_set.id, metric, ids, answers)
    standing = pair.standing
    if fresh and standing.has_old.any():
        return with_answers(tx, both, metric, results.of(np.flatnonzero(~standing.has_old)), answers)
    if aim == "holes" and not (standing.full.any() or standing.has_old.any()):
        return results, []
    clusters = results.every.clusters
    if clusters is None and (of_groups := attributes_of(tx, both.dataset_id, ids).get(CLUSTER)) is not None:
        clusters = numbered(of_groups, none_alone=True)[1]
    deltas, graded = pair.deltas(), pair.graded()
    queries = deltas.queries(clusters)
    least_apart = LEAST_APART if metric.measure == "Success" else 0
    decides = queries.decides(least_apart=least_apart)
    check = _check(pair, answers, deltas, queries, decides=decides)
    others = _alone(deltas, queries, results)
    exact = deltas.known | deltas.drawn
    before, after = pair.values(graded)
    told, without = results.valued(before, after), deltas.values
    if check.is_complete:
        return replace(told, others=others).knowing(check=check), []
    if aim == "holes" and not decides:
        facts: dict[str, Fact] = {"n": check.n_answered, "needed": check.n_needed, "left_out": check.n_left_out}
        command = sample_command([run.name for run in runs], "", runs[0].dataset, metric=metric.requested_as)
        return replace(told, graded=graded), [Note("few_drawn", facts | {"metric": str(metric)}, command)]
    told = results.valued(np.where(exact, before, without), np.where(exact, after, without + deltas.control))
    every = replace(told.every, clusters=clusters, drawn=deltas, least_apart=least_apart)
    return replace(told, every=every, others=others).knowing(check=check), []


def _alone(deltas: DrawnDeltas, queries: DrawnQueries, results: PairedResults) -> dict[str, Estimate]:
    """Return the difference without answers ("judge"), and by how much it is above the one that decides ("favour")."""
    if not deltas.delta.size:
        return {}
    interval, mean = deltas.favour(results.every.clusters), queries.mean().estimate
    favour = float(deltas.control.mean()) - (float(deltas.delta.mean()) if queries.is_complete else mean)
    half = None if interval is None else (interval[1] - interval[0]) / 2
    ci = None if half is None else (favour - half, favour + half)
    return {"judge": estimate(results.sample), "favour": Estimate(t=TTest(deltas.delta.size, favour, None), ci=ci)}


def _check(
    pair: DrawnPair, answers: Answers, deltas: DrawnDeltas, queries: DrawnQueries, *, decides: bool
) -> DrawnCheck:
    """Return what drawn answers say about two runs."""
    standing, n = pair.standing, deltas.delta.size
    left_out = standing.order[: standing.n_drawn][~standing.full[: standing.n_drawn]]
    mean, is_complete = queries.mean() if n else None, queries.is_complete
    is_unknown = standing.is_open & ~deltas.known[pair.pool.groups]
    n_known, n_drawn, n_left_out = (int(of.sum()) for of in (deltas.known, deltas.drawn, deltas.left_out))
    n_open, n_graded = (int(of.sum()) for of in (is_unknown, is_unknown & deltas.drawn[pair.pool.groups]))
    names = tuple(pair.keys.take(left_out[:_NAMED]).to_list())
    about = answers.aim, answers.checked_by, answers.designs, n, n_known, n_drawn, n_left_out, names
    found = decides, is_complete, mean if decides and not is_complete else None
    return DrawnCheck(*about, queries.n_missing, n_open, n_graded, *found)
