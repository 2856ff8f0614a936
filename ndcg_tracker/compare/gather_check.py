"""Which answers of people correct the difference of two runs by a judge, and the differences that they give."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.compare.arms import Arm
from ndcg_tracker.compare.check import CheckedDeltas, Sampled
from ndcg_tracker.compare.decide import PairedResults
from ndcg_tracker.compare.inference import Chance
from ndcg_tracker.compare.pair import Pairing
from ndcg_tracker.compare.run_pair import RunPair, Sample, Side, check_one_dataset
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.metrics.contributions import ItemsApart, gains_of
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.runs.designs import frozen_items, known_answers, unanswered_error
from ndcg_tracker.runs.labels import counting_judge, numbered_labels
from ndcg_tracker.statistics.drawn import DrawnLabels
from ndcg_tracker.words.notes import Fact, Note
from ndcg_tracker.words.texts import judge_words

if TYPE_CHECKING:
    from ndcg_tracker.compare.options import Missing, Unanswered
    from ndcg_tracker.metrics.language.metric import Metric
    from ndcg_tracker.storage.records import DesignRecord, LabelSetRecord, RunRecord
    from ndcg_tracker.storage.store import ReadTransaction


@dataclass(frozen=True, slots=True)
class AskedAnswers:
    """Whose answers to a sample check the judge, and whether its word is taken where an answer lacks."""

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
    """Return two runs under a judge's labels and the answers that check them (InputError, with what there is).

    ``asked``: none for the metrics of the designs of both runs.
    """
    runs = baseline.runs[0], candidate.runs[0]
    check_one_dataset(*runs, "compared")
    judge = counting_judge(tx, runs[0].dataset_id, runs[0].dataset, judge)
    newest = numbered_labels(tx, runs[0].dataset_id, runs[0].dataset, judge=judge)
    sample = _sample(tx, runs, judge or "", answers, asked)
    sides = tuple(Side.of(run, sample.label_set, tx.evaluations.of_run(run.id)) for run in runs)
    metrics = asked or [parse_metric(text) for text in _metrics_of(sample, runs)]
    arms = baseline, candidate
    return RunPair(arms, ((sides[0],), (sides[1],)), tuple(metrics), newest.version, True, sample)


def _metrics_of(sample: Sample, runs: Sequence[RunRecord]) -> list[str]:
    """Return the metrics of the designs of both runs, those of the newest first; else those of all designs."""
    both = {run.id for run in runs}
    of_both = [design.metric for design in sample.designs[::-1] if both <= design.run_ids]
    return list(dict.fromkeys(of_both or [design.metric for design in sample.designs[::-1]]))


def _sample(
    tx: ReadTransaction,
    runs: tuple[RunRecord, RunRecord],
    judge: str,
    asked: AskedAnswers,
    metrics: Sequence[Metric],
) -> Sample:
    """Return the answers that correct the difference of two runs (InputError)."""
    dataset_id, check_with, texts = runs[0].dataset_id, asked.check_with, [str(metric) for metric in metrics]
    sets = {label_set.id: label_set for label_set in tx.labels.sets(dataset_id, None)}
    stored = tx.designs.all(dataset_id)
    both = {run.id for run in runs}
    of_runs = [of for of in stored if both <= of.run_ids and sets[of.label_set_id].judge == judge]
    fitting = [of for of in of_runs if not texts or of.metric in texts] or of_runs
    answered = [of for of in fitting if of.checked_by == check_with]
    if answered:
        own = answered[-1]
        alike = [of for of in stored if (of.seed, of.greatest_grade) == (own.seed, own.greatest_grade)]
        others = [of for of in alike if of.number < own.number and of.checked_by == check_with]
        others = [of for of in others if sets[of.label_set_id].judge == judge and not tx.designs.n_unanswered(of.id)]
        n_open = _n_open(tx, own, runs[0].dataset, asked)
        return Sample(check_with, sets[own.label_set_id], own, (*others, own), n_open)
    borrowed = _borrowed(tx, stored, sets, runs, judge, check_with)
    if borrowed is not None and not fitting:
        return borrowed
    raise _no_design(runs, judge, check_with, metrics, stored, of_runs, sets)


def _n_open(tx: ReadTransaction, design: DesignRecord, dataset: str, asked: AskedAnswers) -> int:
    """Return how many drawn items have no answer (InputError unless the judge's word is to be taken)."""
    n_open = tx.designs.n_unanswered(design.id)
    if n_open and asked.unanswered != "judge":
        raise unanswered_error(design, n_open, len(tx.designs.items(design.id)), dataset)
    return n_open


def _borrowed(
    tx: ReadTransaction,
    stored: Sequence[DesignRecord],
    sets: dict[int, LabelSetRecord],
    runs: tuple[RunRecord, RunRecord],
    judge: str,
    check_with: str,
) -> Sample | None:
    """Return the answers to designs of other runs, for two runs and labels that no answer can have made; else None."""
    of_dataset = [of for of in stored if of.checked_by == check_with and of.seed == stored[0].seed]
    answered = [of for of in of_dataset if sets[of.label_set_id].judge == judge]
    answered = [of for of in answered if of.greatest_grade == answered[-1].greatest_grade]
    complete = [of for of in answered if not tx.designs.n_unanswered(of.id)]
    begun = [of for of in stored if of.answered_after_run_id is not None]
    if not complete or any(run.id > (of.answered_after_run_id or 0) for of in begun for run in runs):
        return None
    newest = min(of.answered_after_label_set_id or 0 for of in begun)
    of_judge = [label_set for label_set in sets.values() if label_set.judge == judge and label_set.id <= newest]
    return Sample(check_with, of_judge[-1], None, tuple(complete), 0) if of_judge else None


def _no_design(
    runs: tuple[RunRecord, RunRecord],
    judge: str,
    check_with: str,
    metrics: Sequence[Metric],
    stored: Sequence[DesignRecord],
    of_runs: Sequence[DesignRecord],
    sets: dict[int, LabelSetRecord],
) -> InputError:
    """Return the error where nobody of that name answered a design of two runs under a judge."""
    baseline, candidate = runs
    names = f"{baseline.name!r} and {candidate.name!r}"
    if of_runs:
        design = of_runs[-1]
        if design.checked_by is None:
            return unanswered_error(design, 1, 1, baseline.dataset)
        return InputError(
            f"design {design.number} of {names} is answered by {design.checked_by!r}, not by {check_with!r}",
            advice=f"give {argument('check_with', design.checked_by)}",
        )
    what, both = f"no design of {names} checks {judge_words(judge)}", {run.id for run in runs}
    others = [of for of in stored if both <= of.run_ids]
    if others:
        what += f", but one checks {judge_words(sets[others[-1].label_set_id].judge)}"
    elif stored:
        of = stored[-1]
        first, *further = [repr(run.run) for run in of.runs]
        what += f"; design {of.number} is of {first} and {', '.join(further)}"
        what += ", of which one is deleted or replaced" if None in of.run_ids else ""
    return InputError(what, advice=f"draw one with: {sample_command(runs, judge, metrics[:1])}")


def sample_command(runs: Sequence[RunRecord], judge: str, metrics: Sequence[Metric]) -> str:
    """Return the command that draws what people are to grade."""
    metric = [word for of in metrics for word in ("--metric", of.requested_as)]
    of_judge = ("--judge", judge) if judge else ()
    names, dataset = [run.name for run in runs], ("--dataset", runs[0].dataset)
    return shlex.join(["ndcg-track", "labels", "sample", *names, *of_judge, "--budget", "N", *metric, *dataset])


def sample_notes(both: RunPair, sample: Sample) -> list[Note]:
    """Return notes where the judge has newer labels, and where its word stands for answers that lack."""
    notes, label_set = [], sample.label_set
    if both.newest_version > label_set.version:
        facts: dict[str, Fact] = {"version": label_set.version, "newest": both.newest_version}
        notes.append(Note("older_than_judge", {**facts, "design": sample.designs[-1].number}))
    if sample.n_unanswered:
        notes.append(Note("unanswered", {"n": sample.n_unanswered, "judge": label_set.judge}))
    return notes


def checked_results(
    tx: ReadTransaction, both: RunPair, sample: Sample, metric: Metric, missing: Missing
) -> PairedResults:
    """Return the corrected differences of two runs, paired by group, as those of a candidate with a baseline of 0.

    Raises: InputError, with the command that draws them, where items tell the runs apart that no design could draw.
    """
    runs, sample = (both.baseline.run, both.candidate.run), _for_metric(both, sample, str(metric))
    apart, labels = frozen_items(tx, sample.label_set, *runs, metric)
    ids = tx.groups.ids(both.dataset_id, labels.group_keys)
    answers = Answers.of(tx, sample, apart)
    _refuse_uncovered(tx, both, sample, metric, apart, answers.known)
    drawn = answers.labels(apart, metric)
    lacks = [~np.isin(ids, tx.runs.group_ids(run.id)) for run in runs]
    in_neither = lacks[0] & lacks[1]
    kept = np.flatnonzero(~in_neither) if missing == "skip" else np.arange(ids.size)
    n_known, n_unlabelled = len(answers.known), int(np.isnan(apart.grades).sum())
    sampled = Sampled(
        sample.checked_by,
        tuple(design.number for design in sample.designs),
        sample.designs[-1].look,
        sample.n_looks,
        drawn.rows.size - n_known,
        answers.n_open,
        n_known,
        apart.groups.size,
        n_unlabelled,
        kept.size,
        apart.n_without_ideal,
    )
    alone = drawn.by_people_alone().corrected_deltas()
    deltas = CheckedDeltas(sampled, drawn.judged_deltas(), alone, drawn.drawn_variances())
    weights_of = tx.groups.weights_by_id(both.dataset_id) if metric["weights"] != "none" else None
    weights = None if weights_of is None or not weights_of.ids.size else weights_of.weights_of(ids[kept])
    nothing = np.empty(0, dtype=np.int64)
    corrected = drawn.corrected_deltas()[kept]
    return PairedResults(
        str(metric),
        Pairing(ids[kept], np.zeros(kept.size), corrected, nothing, nothing, 0, missing, ids[in_neither]),
        weights=weights,
        missing_in_baseline=int(lacks[0][kept].sum()),
        missing_in_candidate=int(lacks[1][kept].sum()),
        chance=Chance(informative=drawn.informative[kept], n_looks=sample.n_looks),
        direction=metric.direction,
        checked=deltas.of(kept),
    )


def _for_metric(both: RunPair, sample: Sample, metric: str) -> Sample:
    """Return a sample without what was drawn after the newest design of both runs for a metric, if there is one.

    Else a draw for another metric would bring more answers to a verdict that was there: an unplanned look.
    """
    runs = {side.run.id for side in both.sides}
    own = [design for design in sample.designs if design.metric == metric and runs <= design.run_ids]
    if sample.own is None or not own:
        return sample
    kept = tuple(design for design in sample.designs if design.number <= own[-1].number)
    return replace(sample, own=own[-1], designs=kept)


@dataclass(frozen=True)
class Answers:
    """Grades and probabilities of the drawn items that tell two runs apart, by place; of ``known`` ones the grades.

    ``n_open``: how many of the drawn have no answer; the judge's word is taken for them.
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
        before_it = {} if sample.own is None else known_answers(tx, sample.own)
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
    """Yield group and item of what designs drew, with its grade and its probability."""
    for design in designs:
        items = tx.designs.items(design.id)
        ids = np.array([item.group_id for item in items], dtype=np.int64)
        for key, item in zip(tx.groups.keys(design.dataset_id, ids).to_list(), items, strict=True):
            yield (key, item.item_key), item.grade, item.probability


def _refuse_uncovered(
    tx: ReadTransaction, both: RunPair, sample: Sample, metric: Metric, apart: ItemsApart, known: dict[int, float]
) -> None:
    """Raise InputError where an item tells the runs apart that no design of the sample could draw."""
    own = sample.own
    if own is not None and own.metric == str(metric):
        return
    lacking = {pair for place, pair in enumerate(_pairs(apart)) if place not in known}
    for design in sample.designs:
        if None in design.run_ids:
            continue
        baseline, *others = [tx.runs.with_id(run.run_id) for run in design.runs if run.run_id is not None]
        label_set = next(of for of in tx.labels.sets(both.dataset_id, None) if of.id == design.label_set_id)
        for other in others:
            of_design, _ = frozen_items(tx, label_set, baseline, other, parse_metric(design.metric))
            lacking -= set(_pairs(of_design))
    if lacking:
        runs = [side.run for side in both.sides]
        raise InputError(
            f"no answered design could draw {len(lacking):,} of the {apart.groups.size:,} items that tell "
            f"{runs[1].name!r} and {runs[0].name!r} apart",
            where=metric.requested_as,
            advice=f"draw from them with: {sample_command(runs, sample.label_set.judge, [metric])}",
        )


def _pairs(apart: ItemsApart) -> Iterator[tuple[str, str]]:
    return zip(*(keys.to_list() for keys in apart.take(np.arange(apart.groups.size))), strict=True)
