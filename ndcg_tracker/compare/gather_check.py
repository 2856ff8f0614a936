"""People's answers that correct a judge's difference between two runs, and the corrected differences."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.compare.arms import Arm
from ndcg_tracker.compare.check import CheckedDeltas, Sampled, exact
from ndcg_tracker.compare.decide import PairedResults
from ndcg_tracker.compare.inference import Chance
from ndcg_tracker.compare.pair import Pairing, lacked
from ndcg_tracker.compare.run_pair import RunPair, Sample, Side, check_one_dataset, check_one_sample
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.metrics.contributions import ItemsApart, gains_of
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.runs.designs import frozen_items, known_answers, unanswered_error
from ndcg_tracker.runs.labels import counting_judge, numbered_labels
from ndcg_tracker.statistics.drawn import DrawnLabels
from ndcg_tracker.words.notes import Fact, Note
from ndcg_tracker.words.texts import judge_words, sample_command

if TYPE_CHECKING:
    from ndcg_tracker.compare.options import Missing, Unanswered
    from ndcg_tracker.metrics.language.metric import Metric
    from ndcg_tracker.storage.records import DesignRecord, LabelSetRecord, RunRecord
    from ndcg_tracker.storage.store import ReadTransaction


@dataclass(frozen=True, slots=True)
class AskedAnswers:
    """Whose answers to a sample check the judge, and whether the judge's grade replaces a missing answer."""

    check_with: str
    unanswered: Unanswered = "refuse"


def sampled_pair(
    tx: ReadTransaction,
    baseline: Arm,
    candidate: Arm,
    asked: Sequence[Metric],
    judge: str | None,
    answers: AskedAnswers,
) -> RunPair:
    """Return two runs under a judge's labels and the answers that check them (InputError, which lists what exists).

    ``asked``: empty for the metrics of the designs of both runs.
    """
    runs = baseline.runs[0], candidate.runs[0]
    check_one_dataset(*runs, "compared")
    check_one_sample(runs)
    judge = counting_judge(tx, runs[0].dataset_id, runs[0].dataset, judge) or ""
    newest = numbered_labels(tx, runs[0].dataset_id, runs[0].dataset, judge=judge)
    history = _History.of(tx, runs, judge, answers)
    metrics = tuple(asked or map(parse_metric, history.metrics))
    samples = tuple(history.sample(metric) for metric in metrics)
    if not samples:
        raise history.no_design(())
    label_set = samples[0].label_set
    other = next((metric for metric, of in zip(metrics, samples, strict=True) if of.label_set != label_set), None)
    if other is not None:
        raise InputError(
            f"the designs for {metrics[0]} and {other} rest on two versions of the labels of {judge_words(judge)}",
            advice=f"compare one at a time, with {argument('metric')}",
        )
    sides = tuple(Side.of(run, label_set, tx.evaluations.of_run(run.id)) for run in runs)
    return RunPair((baseline, candidate), ((sides[0],), (sides[1],)), metrics, newest.version, True, samples)


@dataclass(frozen=True)
class _History:
    """The drawn and the answered items of a dataset, for two runs under a judge.

    ``states``: by the id of a design, how many of its items have no answer, and when its first and last answers came.
    """

    tx: ReadTransaction
    runs: tuple[RunRecord, RunRecord]
    judge: str
    asked: AskedAnswers
    stored: Sequence[DesignRecord]
    sets: Mapping[int, LabelSetRecord]
    states: Mapping[int, tuple[int, str, str]]

    @classmethod
    def of(cls, tx: ReadTransaction, runs: tuple[RunRecord, RunRecord], judge: str, asked: AskedAnswers) -> _History:
        """Return what there is."""
        dataset_id = runs[0].dataset_id
        sets = {label_set.id: label_set for label_set in tx.labels.sets(dataset_id, None)}
        stored = tx.designs.all(dataset_id)
        return cls(tx, runs, judge, asked, stored, sets, tx.designs.states(dataset_id))

    def _answered(self, designs: Sequence[DesignRecord]) -> list[DesignRecord]:
        """Return the designs that the person who is asked about answered, by when the first answer came."""
        answered = [of for of in designs if of.checked_by == self.asked.check_with]
        return sorted(answered, key=lambda of: (self.states[of.id][1] or "~", of.number))

    @property
    def of_runs(self) -> list[DesignRecord]:
        """The designs that check the judge on both runs."""
        both = {run.id for run in self.runs}
        return [of for of in self.stored if both <= of.run_ids and self.sets[of.label_set_id].judge == self.judge]

    @property
    def metrics(self) -> list[str]:
        """The metrics that somebody drew for: of the answered designs of both runs, else of those that may serve."""
        answered = self._answered(self.of_runs)
        return list(dict.fromkeys(of.metric for of in answered or self.of_runs or self._of_others()[:1]))

    def sample(self, metric: Metric) -> Sample:
        """Return the answers that correct the difference of both runs in a metric (InputError).

        They are the answers of the first answered design for this metric, or of the first design after which all its
        items could be drawn. Items drawn later bring no further look at a verdict that existed before.
        """
        own = [of for of in self.of_runs if of.metric == str(metric)]
        answered = self._answered(own)
        if own and not answered:
            raise self.no_design(own)
        if answered:
            return self._up_to(answered[0])
        further = self._answered(self.of_runs) or self._answered(self._of_others())
        if not further:
            raise self.no_design(self.of_runs, metric)
        for design in further:
            sample = self._up_to(design)
            lacking, n_apart = _lacking(self.tx, self.runs, sample, metric)
            if not lacking:
                return sample
        runs = self.runs
        raise InputError(
            f"no answered design can draw {lacking:,} of the {n_apart:,} items that tell {runs[1].name!r} and "
            f"{runs[0].name!r} apart",
            where=metric.requested_as,
            advice=f"draw from them with: {self._sampling(metric)}",
        )

    def _up_to(self, design: DesignRecord) -> Sample:
        """Return a design with the older ones that drew by its numbers and were complete before it was.

        A design that waits for answers is left out, but its planned looks count, because an earlier look included it.
        """
        n_open, _, last = self.states[design.id]
        alike = [
            of
            for of in self.stored
            if (of.seed, of.greatest_grade, of.checked_by) == (design.seed, design.greatest_grade, design.checked_by)
            and self.sets[of.label_set_id].judge == self.judge
            and of.number <= design.number
        ]
        if n_open and self.asked.unanswered != "judge":
            raise unanswered_error(design, n_open, len(self.tx.designs.items(design.id)), self.runs[0].dataset)
        kept = [of for of in alike[:-1] if not self.states[of.id][0] and self.states[of.id][2] <= last]
        n_looks = max(of.n_looks for of in alike)
        return Sample(self.asked.check_with, self.sets[design.label_set_id], (*kept, design), n_looks, n_open)

    def _of_others(self) -> list[DesignRecord]:
        """Return the complete designs of others that may serve, for runs that no answer can have made."""
        begun = [of for of in self.stored if of.answered_after_run_id is not None]
        if any(run.id > (of.answered_after_run_id or 0) for of in begun for run in self.runs):
            return []
        return [
            of
            for of in begun
            if (of.seed, of.checked_by) == (self.stored[0].seed, self.asked.check_with)
            and self.sets[of.label_set_id].judge == self.judge
            and not self.states[of.id][0]
        ]

    def no_design(self, fitting: Sequence[DesignRecord], *metrics: Metric) -> InputError:
        """Return the error where nobody of that name answered a design of both runs; ``fitting``: the designs there."""
        runs, dataset = self.runs, self.runs[0].dataset
        names = f"{runs[0].name!r} and {runs[1].name!r}"
        if fitting:
            design = fitting[-1]
            if design.checked_by is None:
                return unanswered_error(design, 1, 1, dataset)
            return InputError(
                f"design {design.number} of {names} is answered by {design.checked_by!r}, not by "
                f"{self.asked.check_with!r}",
                advice=f"give {argument('check_with', design.checked_by)}",
            )
        what, both = f"no design of {names} checks {judge_words(self.judge)}", {run.id for run in runs}
        others = [of for of in self.stored if both <= of.run_ids]
        if others:
            what += f", but one checks {judge_words(self.sets[others[-1].label_set_id].judge)}"
        elif self.stored:
            of = self.stored[-1]
            first, *further = [repr(run.run) for run in of.runs]
            what += f"; design {of.number} is of {first} and {', '.join(further)}"
            what += ", but one of them is deleted or replaced" if None in of.run_ids else ""
        return InputError(what, advice=f"draw one with: {self._sampling(*metrics)}")

    def _sampling(self, *metrics: Metric) -> str:
        """Return the command that draws from what tells both runs apart."""
        names, dataset = [run.name for run in self.runs], self.runs[0].dataset
        metric = "".join(of.requested_as for of in metrics)
        return shlex.join(sample_command(names, self.judge, dataset, metric=metric))


def sample_notes(both: RunPair) -> list[Note]:
    """Return notes if the judge has newer labels, or if somebody stated that newer runs do not depend on answers."""
    notes, sample = [], both.samples[0]
    design, version = sample.own, sample.label_set.version
    if both.newest_version > version:
        facts: dict[str, Fact] = {"version": version, "newest": both.newest_version, "design": design.number}
        notes.append(Note("older_than_judge", facts))
    if design.not_tuned:
        notes.append(Note("said_not_tuned", {"design": design.number}))
    return notes


def checked_results(
    tx: ReadTransaction, both: RunPair, sample: Sample, metric: Metric, missing: Missing
) -> PairedResults:
    """Return the corrected differences between two runs, paired by group, as a candidate against a baseline of 0.

    A difference that is 0 up to rounding becomes 0, so that equal runs are equal when all items are answered.
    """
    runs = both.baseline.run, both.candidate.run
    apart, labels = frozen_items(tx, sample.label_set, *runs, metric)
    ids = tx.groups.ids(both.dataset_id, labels.group_keys)
    answers = Answers.of(tx, sample, apart)
    drawn = answers.labels(apart, metric)
    of_runs = [tx.runs.group_ids(run.id) for run in runs]
    in_neither, left_out = lacked(ids, of_runs, missing)
    kept = np.flatnonzero(~left_out)
    n_missing = [np.setdiff1d(ids, of_run).size - int((in_neither & left_out).sum()) for of_run in of_runs]
    n_known, n_unlabelled = len(answers.known), int(np.isnan(apart.grades).sum())
    sampled = Sampled(
        sample.checked_by,
        tuple(design.number for design in sample.designs),
        sample.own.look,
        sample.n_looks,
        drawn.rows.size - n_known,
        answers.n_open,
        n_known,
        apart.groups.size,
        n_unlabelled,
        kept.size,
        apart.n_without_ideal,
    )
    alone, judged = exact(drawn.by_people_alone().corrected_deltas()), exact(drawn.judged_deltas())
    deltas = CheckedDeltas(sampled, judged, alone, drawn.drawn_variances())
    weights_of = tx.groups.weights(both.dataset_id) if metric["weights"] != "none" else None
    weights = None if weights_of is None or not weights_of.ids.size else weights_of.weights_of(ids[kept])
    nothing = np.empty(0, dtype=np.int64)
    corrected = exact(drawn.corrected_deltas())[kept]
    return PairedResults(
        str(metric),
        Pairing(ids[kept], np.zeros(kept.size), corrected, nothing, nothing, 0, missing, ids[in_neither]),
        weights=weights,
        missing_in_baseline=n_missing[0],
        missing_in_candidate=n_missing[1],
        chance=Chance(informative=drawn.informative[kept], n_looks=sample.n_looks),
        direction=metric.direction,
        checked=deltas.of(kept),
    )


@dataclass(frozen=True)
class Answers:
    """Grades and probabilities of the drawn items that tell two runs apart, by place; of ``known`` ones the grades.

    ``n_open``: how many of the drawn items have no answer and use the judge's grade.
    """

    drawn: dict[int, tuple[float | None, float]]
    known: dict[int, float]
    n_open: int

    @classmethod
    def of(cls, tx: ReadTransaction, sample: Sample, apart: ItemsApart) -> Answers:
        """Return the answers of a sample to the items that tell its runs apart."""
        names = zip(*(keys.to_list() for keys in apart.take(np.arange(apart.groups.size))), strict=True)
        place_of = {pair: place for place, pair in enumerate(names)}
        drawn: dict[int, tuple[float | None, float]] = {}
        for pair, grade, probability in _items(tx, sample.designs):
            place = place_of.get(pair)
            if place is not None:
                before, largest = drawn.get(place, (None, 0.0))
                drawn[place] = (grade if before is None else before, max(largest, probability))
        before_it = known_answers(tx, sample.own)
        known = {place_of[pair]: grade for pair, grade in before_it.items() if pair in place_of}
        return cls(drawn, known, sum(grade is None for grade, _ in drawn.values()))

    def labels(self, apart: ItemsApart, metric: Metric) -> DrawnLabels:
        """Return the items with the judge's grades and the answers, as gains."""
        is_labelled = ~np.isnan(apart.grades)
        grades = np.unique(apart.grades[is_labelled])
        levels = np.where(is_labelled, np.searchsorted(grades, apart.grades), grades.size)
        gains = np.append(gains_of(metric, grades), 0.0)  # the last level: items without a grade of the judge
        each = {**self.drawn, **{place: (grade, 1.0) for place, grade in self.known.items()}}
        rows = np.array(sorted(each), dtype=np.int64)
        given = np.array([np.nan if each[place][0] is None else each[place][0] for place in rows.tolist()])
        probabilities = np.array([each[place][1] for place in rows.tolist()])
        is_open = np.isnan(given)
        said = np.where(is_open, gains[levels[rows]], gains_of(metric, np.where(is_open, 0.0, given)))
        n_groups = len(apart.group_keys)
        return DrawnLabels(n_groups, apart.groups, apart.weights, levels, gains, rows, said, probabilities)


def _items(
    tx: ReadTransaction, designs: Sequence[DesignRecord]
) -> Iterator[tuple[tuple[str, str], float | None, float]]:
    """Yield the group, item, grade and probability of each item that designs drew."""
    for design in designs:
        items = tx.designs.items(design.id)
        ids = np.array([item.group_id for item in items], dtype=np.int64)
        for key, item in zip(tx.groups.keys(design.dataset_id, ids).to_list(), items, strict=True):
            yield (key, item.item_key), item.grade, item.probability


def _lacking(tx: ReadTransaction, runs: tuple[RunRecord, RunRecord], sample: Sample, metric: Metric) -> tuple[int, int]:
    """Return how many items tell two runs apart that no design of a sample could draw, and how many do in all."""
    apart, _ = frozen_items(tx, sample.label_set, *runs, metric)
    lacking = set(_pairs(apart)) - set(known_answers(tx, sample.own))
    for design in sample.designs:
        if None in design.run_ids:
            continue
        baseline, *others = [tx.runs.with_id(run.run_id) for run in design.runs if run.run_id is not None]
        label_set = next(of for of in tx.labels.sets(baseline.dataset_id, None) if of.id == design.label_set_id)
        for other in others:
            of_design, _ = frozen_items(tx, label_set, baseline, other, parse_metric(design.metric))
            lacking -= set(_pairs(of_design))
    return len(lacking), apart.groups.size


def _pairs(apart: ItemsApart) -> Iterator[tuple[str, str]]:
    return zip(*(keys.to_list() for keys in apart.take(np.arange(apart.groups.size))), strict=True)
