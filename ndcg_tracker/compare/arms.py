"""Comparisons of runs and arms, an arm being all runs with one tag: the repeats of one system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.compare.decide import ComparedRuns, PairedResults, adjusted_jointly, compare_runs
from ndcg_tracker.compare.gather import (
    CompareOptions,
    asked_attributes,
    compared,
    has_nothing_judged,
    holds_positives_only,
    judged_shares_of,
    named_runs,
)
from ndcg_tracker.compare.inference import Chance
from ndcg_tracker.compare.pair import Missing, pair, places_of_ids
from ndcg_tracker.compare.results import Comparison, JudgedShare, RunRef, TieBounds, TieEffect
from ndcg_tracker.compare.run_pair import (
    NO_INFERENCE,
    Evaluated,
    Side,
    adding_command,
    label_set_ref,
    limits_of_delta,
    shared_labels,
)
from ndcg_tracker.errors import InputError, ReferenceNotFoundError, argument
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.storage.references import ARM
from ndcg_tracker.words.notes import Note
from ndcg_tracker.words.numbers import counted

if TYPE_CHECKING:
    from ndcg_tracker.rankings.types import Floats, Index
    from ndcg_tracker.storage.records import GroupWeightsById, RunRecord
    from ndcg_tracker.storage.transactions import ReadTransaction

FEWEST_RUNS = 2


@dataclass(frozen=True, slots=True)
class Arm:
    """Runs that are repeats of one system, or one run alone; ``name``: the run's, or the reference of the arm."""

    name: str
    runs: tuple[RunRecord, ...]

    @property
    def ref(self) -> RunRef:
        """How reports name it."""
        if len(self.runs) == 1:
            return RunRef(self.name, self.runs[0].id)
        return RunRef(self.name, None, tuple(RunRef(run.name, run.id) for run in self.runs))


def comparisons(
    tx: ReadTransaction, baseline: str, candidates: Sequence[str | Sequence[str]], options: CompareOptions
) -> tuple[Comparison, ...]:
    """Return the comparison of a run or an arm with each candidate, their p-values corrected together.

    Parameters and raises: as ``compared``, and as ``compared_arms`` where a reference names an arm.
    """
    candidates = named_runs(tx, candidates, options.dataset, baseline)
    named = [baseline, *candidates]
    each = [arm_or_run(tx, one, options.dataset) for one in named] if any(one.startswith(ARM) for one in named) else []
    if all(len(arm.runs) == 1 for arm in each):
        return tuple(one.comparison for one in compared(tx, baseline, candidates, options))
    found = [compared_arms(tx, each[0], other, options) for other in each[1:]]
    return tuple(found) if len(found) == 1 else adjusted_jointly(found)


def arm_or_run(tx: ReadTransaction, reference: str, dataset: str | None = None) -> Arm:
    """Return the arm ``tag:KEY=VALUE``, which is all runs with this tag, or the one run that a reference names.

    A run whose name is the reference comes first. Raises: ReferenceNotFoundError for an arm that is not of this form,
    has no run, or runs of several datasets; InputError for one of a single run.
    """
    every = tx.runs.all(dataset) if reference.startswith(ARM) else []
    if not reference.startswith(ARM) or any(run.name == reference for run in every):
        run = tx.runs.resolve(reference, dataset)
        return Arm(run.name, (run,))
    key, equals, value = reference.removeprefix(ARM).partition("=")
    if not key or not equals:
        raise ReferenceNotFoundError(f"{reference!r} is no arm", advice="write tag:KEY=VALUE, such as tag:arm=a")
    runs = [run for run in every if key in run.tags and str(run.tags[key]) == value]
    if not runs:
        raise ReferenceNotFoundError(
            f"no run has the tag {key}={value}", advice=f"give it with: ndcg-track runs tag RUN {key}={value}"
        )
    datasets = sorted({run.dataset for run in runs})
    if len(datasets) > 1:
        raise ReferenceNotFoundError(
            f"runs of several datasets ({', '.join(datasets)}) have the tag {key}={value}",
            advice=f"say which with {argument('dataset')}",
        )
    if len(runs) < FEWEST_RUNS:
        raise InputError(
            f"arm {reference!r} has one run, {runs[0].name!r}, and needs {FEWEST_RUNS} or more",
            advice="give further trainings this tag, or name the one run to compare it",
        )
    return Arm(reference, tuple(runs))


def compared_arms(tx: ReadTransaction, baseline: Arm, candidate: Arm, options: CompareOptions) -> Comparison:
    """Return the comparison of two arms, or of an arm and a run, under the newest labels that all runs share.

    Its tests cross groups and repeats (``crossed_t``). Raises: InputError for methods other than t-tests, for tie
    bounds of groups, for one run on both sides, and for groups with a result in some runs only unless ``missing`` says
    what becomes of them; NotComparableError, with the command that fixes it.
    """
    options.methods.check_t_only("arms of repeated runs")
    if options.cluster is not None:
        raise InputError(f"{argument('cluster')} takes single runs, not arms", advice="leave it out, or name two runs")
    if options.tie_bounds:
        raise InputError(
            f"{argument('tie_bounds')} shows the groups of single runs", advice="leave it out, or name two runs"
        )
    if options.unjudged_bounds:
        raise InputError(
            f"{argument('unjudged_bounds')} takes single runs, not arms", advice="leave it out, or name two runs"
        )
    both = [run for run in candidate.runs if run.id in {one.id for one in baseline.runs}]
    if both:
        raise InputError(
            f"run {both[0].name!r} is in {baseline.name!r} and in {candidate.name!r}",
            advice="give each arm its own runs",
        )
    runs = (*baseline.runs, *candidate.runs)
    sides, metrics, newest = shared_labels(tx, runs, options.metrics, options.labels, options.judge)
    each = sides[: len(baseline.runs)], sides[len(baseline.runs) :]
    label_set = sides[0].label_set
    shares = [[judged_shares_of(tx, side) for side in arm] for arm in each]
    results = [
        replace(
            _paired(tx, each, metric, options.missing),
            nothing_judged=all(
                has_nothing_judged(tx, side, metric, share)
                for arm, of_arm in zip(each, shares, strict=True)
                for side, share in zip(arm, of_arm, strict=True)
            ),
        )
        for metric in metrics
    ]
    notes = [Note("one_repeat", {"run": arm.name}) for arm in (baseline, candidate) if len(arm.runs) == 1]
    if options.labels is None and label_set.version < newest:
        facts = {"newest": newest, "version": label_set.version}
        command = adding_command(runs, list(map(str, metrics)), judge=label_set.judge)
        notes.append(Note("newer_labels", facts, command))
    slices, _ = asked_attributes(tx, runs[0], options)
    dataset_id = runs[0].dataset_id
    coverage = tuple(
        JudgedShare(cutoff, *(_mean_share(of_arm, cutoff) for of_arm in shares))
        for cutoff in dict.fromkeys(metric.cutoff for metric in metrics)
    )
    return compare_runs(
        ComparedRuns(
            baseline.ref,
            candidate.ref,
            runs[0].dataset,
            label_set_ref(label_set),
            coverage=coverage,
            notes=tuple(notes),
            positives_only=holds_positives_only(tx, label_set, coverage),
            asked=options.words(),
        ),
        results,
        lambda group_ids: tx.groups.keys(dataset_id, group_ids).to_list(),
        methods=options.methods,
        top=options.top,
        by=None if slices is None else slices.of(results[0].pairing.group_ids),
    )


def _mean_share(of_arm: Sequence[dict[int | None, float]], cutoff: int | None) -> float | None:
    known = [share[cutoff] for share in of_arm if share.get(cutoff) is not None]
    return sum(known) / len(known) if known else None


@dataclass(frozen=True, slots=True)
class _ArmResults:
    """The results of an arm's runs: ``values`` (runs by groups), NaN where undefined in all of them."""

    sides: Sequence[Evaluated]
    group_ids: Index
    values: Floats
    absent: Index
    absent_in_all: Index

    @classmethod
    def of(
        cls,
        tx: ReadTransaction,
        arm: Sequence[Side],
        metric: Metric,
        missing: Missing,
        weights_of: GroupWeightsById | None,
    ) -> _ArmResults:
        """Return what is stored; ``absent``: groups that some run lacks; ``absent_in_all``: groups that all lack."""
        text = str(metric)
        records = [side.evaluations[text] for side in arm]
        found = [tx.evaluations.results(record.id) for record in records]
        ids = np.unique(np.concatenate([one.group_ids for one in found]))
        values = np.full((len(arm), ids.size), np.nan)
        for row, one in zip(values, found, strict=True):
            row[places_of_ids(ids, one.group_ids)] = one.values
        defined = ~np.isnan(values)
        partly = defined.any(axis=0) & ~defined.all(axis=0)
        if partly.any() and missing == "error":
            n_partly = int(partly.sum())
            such_as = tx.groups.keys(arm[0].run.dataset_id, ids[partly][:1]).to_list()[0]
            raise InputError(
                f"{counted(n_partly, 'group')} {'has' if n_partly == 1 else 'have'} a result in some runs of an arm "
                f"only (such as {such_as!r})",
                where=text,
                advice=(
                    f"choose {argument('missing', 'zero')} (count 0 there) or {argument('missing', 'intersect')} "
                    "(leave them out)"
                ),
                joint=": ",
            )
        values[:, partly] = np.nan_to_num(values[:, partly]) if missing == "zero" else np.nan
        absent, absent_in_all = np.empty(0, dtype=np.int64), ids
        for side, record in zip(arm, records, strict=True):
            of_run = ids[:0]
            if record.n_missing and metric.counts_missing:
                of_run = np.setdiff1d(ids, tx.runs.group_ids(side.run.id), assume_unique=True)
            absent = np.union1d(absent, of_run)
            absent_in_all = np.intersect1d(absent_in_all, of_run, assume_unique=True)
        sides = [Evaluated.of(record, one, weights_of) for record, one in zip(records, found, strict=True)]
        return cls(sides, ids, values, absent, absent_in_all)

    def at(self, group_ids: Index) -> Floats:
        """Return the results of each run for these groups, 0 where there is none."""
        places = places_of_ids(self.group_ids, group_ids)
        return np.asarray(np.where(places >= 0, np.nan_to_num(self.values[:, places]), 0.0))


def _paired(
    tx: ReadTransaction, arms: tuple[Sequence[Side], Sequence[Side]], metric: Metric, missing: Missing
) -> PairedResults:
    """Return the means of both arms group by group, with the results of each run behind them."""
    text, dataset_id = str(metric), arms[0][0].run.dataset_id
    weights_of = tx.groups.weights_by_id(dataset_id) if metric["weights"] != "none" else None
    if weights_of is not None and not weights_of.ids.size:
        weights_of = None
    one, other = (_ArmResults.of(tx, arm, metric, missing, weights_of) for arm in arms)
    pairing = pair(
        *(one.group_ids, one.values.mean(axis=0), other.group_ids, other.values.mean(axis=0)),
        missing=missing,
        in_neither=np.intersect1d(one.absent_in_all, other.absent_in_all, assume_unique=True),
        metric=text,
    )
    ids = pairing.group_ids
    weights = None if weights_of is None or not ids.size else weights_of.weights_of(ids)
    means, no_inference = None, None
    if metric.summary != "mean" or not all(side.is_mean_of_groups for arm in (one, other) for side in arm.sides):
        stored = [[side.record.mean or 0.0 for side in arm.sides] for arm in (one, other)]
        means, no_inference = (float(np.mean(stored[0])), float(np.mean(stored[1]))), NO_INFERENCE
    if metric.shown_only is not None:
        no_inference = Note(metric.shown_only)
    left_out = pairing.in_neither.size if missing == "skip" else 0
    bounds = [_tie_bounds(arm, values) for arm, values in ((one, pairing.baseline), (other, pairing.candidate))]
    return PairedResults(
        text,
        pairing,
        weights=weights,
        missing_in_baseline=one.absent.size - left_out,
        missing_in_candidate=other.absent.size - left_out,
        means=means,
        no_inference=no_inference,
        tie_effect=None if bounds[0] is None or bounds[1] is None else TieEffect(bounds[0], bounds[1]),
        limits=limits_of_delta(metric, (pairing.baseline, pairing.candidate)),
        shown_only=metric.shown_only,
        direction=metric.direction,
        chance=Chance(repeats=(one.at(ids), other.at(ids))),
    )


def _tie_bounds(arm: _ArmResults, values: Floats) -> TieBounds | None:
    """Return the mean bounds over ties of an arm's runs; None where not known, or not of just these groups."""
    records = [side.record for side in arm.sides]
    worst = [one.worst_mean for one in records if one.worst_mean is not None and one.n_groups == values.size]
    best = [one.best_mean for one in records if one.best_mean is not None and one.n_groups == values.size]
    if not len(worst) == len(best) == len(records):
        return None
    return TieBounds(sum(worst) / len(worst), sum(best) / len(best))
