"""The leaderboard of stored runs: which runs, under which labels, and their group results side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.asked import made, words
from ndcg_tracker.compare.arms import CHECKPOINTS, Arm, arms_of, by_system, without_checkpoints
from ndcg_tracker.compare.decide import NO_ATTRIBUTES, adjusted_jointly
from ndcg_tracker.compare.gather import asked_pair, compared_pair
from ndcg_tracker.compare.gather_results import groups_of_runs
from ndcg_tracker.compare.limits import number_of
from ndcg_tracker.compare.options import CompareOptions, LabelView, Missing
from ndcg_tracker.compare.pair import lacked, places_of_ids
from ndcg_tracker.compare.results import JudgedSpan, LabelSetRef, RunRef
from ndcg_tracker.compare.run_pair import (
    adding_command,
    adding_words,
    advice_for_lacking,
    check_one_dataset,
    check_one_sample,
    known_metric,
    label_set_ref,
    no_group_of_labels,
    suite_metric,
)
from ndcg_tracker.compare.shares import check_one_share
from ndcg_tracker.compare.slices import attribute_values
from ndcg_tracker.errors import InputError, NotComparableError, ReferenceNotFoundError, argument
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.questions.leaderboard.decide import (
    MOST_PAIRED,
    Leaderboard,
    MetricBoard,
    RunsPaired,
    board_of_strata,
    metric_board,
    order_of,
)
from ndcg_tracker.questions.leaderboard.question import LeaderboardQuestion
from ndcg_tracker.questions.leaderboard.say import leaderboard_latex, leaderboard_said
from ndcg_tracker.render.formats import Answer, Said
from ndcg_tracker.rules import given_of, refuse
from ndcg_tracker.runs.judges import counting_judge, numbered_labels
from ndcg_tracker.runs.samples import sampled_note
from ndcg_tracker.storage.records import EXTERNAL_JUDGE
from ndcg_tracker.storage.references import ARM, is_pattern, unknown_dataset
from ndcg_tracker.words.notes import Fact, Note, carry_command, command_line, in_words, sentence
from ndcg_tracker.words.texts import DatasetName, judge_words, sample_command, unit

if TYPE_CHECKING:
    from ndcg_tracker.rankings import Floats, Index, Mask
    from ndcg_tracker.statistics.many_tests import Matrix
    from ndcg_tracker.storage.records import HistoryRecord, LabelSetRecord, RunRecord
    from ndcg_tracker.storage.store import ReadTransaction

FEWEST_IN_SLICE = 2


@dataclass(frozen=True)
class _Ranked:
    """What can be ranked on one dataset: runs or arms that have all metrics under one version of the labels.

    ``records``: what is stored of each run, by metric. ``notes``: what was left out, and why.
    """

    dataset: str
    label_set: LabelSetRecord
    arms: Sequence[Arm]
    metrics: Sequence[Metric]
    records: Sequence[Mapping[int, HistoryRecord]]
    notes: list[Note]

    @property
    def runs(self) -> list[RunRecord]:
        """All runs, in the order of the arms."""
        return [run for arm in self.arms for run in arm.runs]

    @property
    def is_repeated(self) -> bool:
        """Whether an arm has several runs."""
        return len(self.runs) > len(self.arms)

    def tell(self, notes: Sequence[Note]) -> None:
        """Add notes of kinds that are not told yet."""
        told = {note.kind for note in self.notes}
        self.notes.extend(note for note in notes if note.kind not in told)

    def of(self, places: Sequence[int]) -> _Ranked:
        """Return the same for some of the arms, in their order."""
        return replace(self, arms=[self.arms[place] for place in places])


@dataclass(frozen=True)
class _Results:
    """One metric on one dataset: the results of the runs of each arm for the groups, and the weights of these."""

    ids: Index
    repeats: Sequence[Matrix]
    weights: Floats | None

    @property
    def values(self) -> Matrix:
        """The results of each arm, means over its runs."""
        return np.stack([of_arm.mean(axis=0) for of_arm in self.repeats])

    def of(self, places: Sequence[int]) -> _Results:
        """Return the same for some of the arms, in their order."""
        return replace(self, repeats=[self.repeats[place] for place in places])


def leaderboard_of(tx: ReadTransaction, question: LeaderboardQuestion) -> Leaderboard:
    """Return the leaderboard of the requested runs, under the latest labels that they share, or of systems on a suite.

    Raises: ReferenceNotFoundError; NotComparableError, with the command that fixes it; InputError for groups without a
    result in some runs, unless ``missing`` says how to treat them.
    """
    notes: list[Note] = []
    each = [_on_dataset(tx, question)] if question.suite is None else _on_suite(tx, question, notes)
    is_suite, metrics = question.suite is not None, each[0].metrics
    boards, slices = list[MetricBoard](), list[MetricBoard]()
    for at, metric in enumerate(metrics):
        results = [_results(tx, question, on, at) for on in each]
        if not at:
            means = np.mean([np.average(of.values, axis=1, weights=of.weights) for of in results], axis=0)
            order = order_of(means, metric.direction)
            each, results = [on.of(order) for on in each], [of.of(order) for of in results]
        on_each = [_judged_board(tx, question, on, of, at) for on, of in zip(each, results, strict=True)]
        if is_suite:
            names = [arm.name for arm in each[0].arms]
            same = [_same(on, is_external=metric.is_external) for on in each]
            boards.append(board_of_strata(metric, names, [of.values for of in results], same))
            slices += [
                replace(board, value=on.dataset, labels=label_set_ref(on.label_set), runs=tuple(a.ref for a in on.arms))
                for on, board in zip(each, on_each, strict=True)
            ]
        else:
            boards += on_each
            if question.by is not None and not at:
                slices += _slices(tx, question, metric, each[0], results[0])
    for place, on in enumerate(each):
        more = _judged_notes(question, on, slices[place] if is_suite else boards[0])
        notes += [replace(note, dataset=on.dataset) if is_suite else note for note in (*on.notes, *more)]
    judges = {on.label_set.judge for on in each}
    return Leaderboard(
        each[0].dataset if question.suite is None else DatasetName.over(question.suite, (on.dataset for on in each)),
        label_set_ref(each[0].label_set)
        if not is_suite
        else LabelSetRef(0, "", judges.pop() if len(judges) == 1 else ""),
        tuple(RunRef(arm.name, None) if is_suite else arm.ref for arm in each[0].arms),
        tuple(boards),
        question.test,
        "dataset" if is_suite else question.by,
        tuple(slices),
        tuple(notes),
        _measures(each[0].arms, question.measures),
        is_suite=is_suite,
    )


def _on_dataset(tx: ReadTransaction, question: LeaderboardQuestion) -> _Ranked:
    """Return the requested runs or arms of one dataset; raises: ReferenceNotFoundError for fewer than two."""
    arms, left_out = _arms(tx, question), list[Note]()
    left_out += [note for arm in arms for note in arm.notes]
    is_named = bool(arms)
    if not arms:
        runs, is_named = _meant(tx, question, left_out)
        arms = [Arm.of(run) for run in runs]
    if is_named:
        tx.runs.require("groups", *(run for arm in arms for run in arm.runs))
    dataset_id = arms[0].runs[0].dataset_id
    metrics = list(dict.fromkeys(known_metric(tx, dataset_id, metric) for metric in question.metrics))
    on = _rankable(tx, question, arms, metrics, is_named=is_named)
    on.notes.extend(left_out)
    if len(on.runs) < 2:
        under = "" if question.labels is None else f" under version {on.label_set.version} of the labels"
        alike = " and the same items" if any(note.kind.startswith("runs_of_other_s") for note in on.notes) else ""
        adding = [command_line(note.command) for note in on.notes if note.kind == "runs_lacking"]
        raise ReferenceNotFoundError(
            f"a leaderboard needs two runs or more with {metrics[0]}{alike}{under}, but there "
            f"{'is' if len(on.runs) == 1 else 'are'} {len(on.runs) or 'none'}",
            advice=f"to add more: {adding[0]}" if adding else "see the runs with: ndcg-track runs list",
        )
    return on


def _on_suite(tx: ReadTransaction, question: LeaderboardQuestion, notes: list[Note]) -> list[_Ranked]:
    """Return the requested systems with a run on every dataset of a suite, by dataset, and note which lack one.

    Raises: ReferenceNotFoundError for fewer than two systems.
    """
    suite = tx.suites.known(question.suite or "")
    metrics = list(dict.fromkeys(suite_metric(tx, suite, metric) for metric in question.metrics))
    each, places = list[_Ranked](), dict[str, dict[str, int]]()
    for dataset in suite.datasets:
        meant, left_out = by_system(tx, dataset, question.by_tag, question.references, question.tags)
        for system in meant:
            places.setdefault(system, {})
        if not meant:
            continue
        on = _rankable(tx, question, [Arm(system, (run,)) for system, run in meant.items()], metrics, is_named=False)
        on.notes.extend(left_out)
        each.append(on)
        for place, arm in enumerate(on.arms):
            places[arm.name][dataset] = place
    complete = [system for system, own in places.items() if len(own) == len(suite.datasets)]
    lacking = [(system, [of for of in suite.datasets if of not in own]) for system, own in places.items()]
    lacking = [(system, datasets) for system, datasets in lacking if datasets]
    told = Note("systems_lacking", {"systems": lacking})
    if len(complete) < 2:
        why = f": {sentence(told)}" if lacking else ""
        raise ReferenceNotFoundError(
            f"a leaderboard needs two systems or more on every dataset of suite {suite.name!r}{why}",
            advice="see the runs with: ndcg-track runs list",
        )
    notes += [told] if lacking else []
    return [on.of([places[system][on.dataset] for system in complete]) for on in each]


def _rankable(
    tx: ReadTransaction,
    question: LeaderboardQuestion,
    arms: Sequence[Arm],
    metrics: Sequence[Metric],
    *,
    is_named: bool,
) -> _Ranked:
    """Return those of the runs or arms of a dataset that can be ranked together.

    ``is_named``: whether they were named one by one, and none is left out.
    """
    runs, dataset = [run for arm in arms for run in arm.runs], arms[0].runs[0].dataset
    label_set, records, notes = under_labels(tx, runs, metrics, is_named, question)
    runs = [run for run in runs if run.id in records[0]]
    if not all(metric.is_external for metric in metrics):
        runs = of_one_sample(runs, notes, is_named=is_named)
    others = [run for run in runs if run.n_groups and _has_no_group(label_set, [of[run.id] for of in records])]
    if others and len(others) < len(runs):
        if is_named:
            raise no_group_of_labels(others[0], label_set)
        notes.append(Note("runs_of_other_groups", {"n": len(others), "first": others[0].name}))
        runs = [run for run in runs if run not in others]
    without_results = tx.runs.without("results")
    gone = [run for run in runs if run.id in without_results]
    if is_named:
        tx.runs.require("results", *gone[:1])
    if gone:
        notes.append(Note("runs_without_results", {"n": len(gone), "first": gone[0].name}))
    kept = {run.id for run in runs if run not in gone}
    arms = [arm for arm in arms if all(run.id in kept for run in arm.runs)]
    return _Ranked(dataset, label_set, arms, metrics, records, notes)


def _results(tx: ReadTransaction, question: LeaderboardQuestion, on: _Ranked, at: int) -> _Results:
    """Return the results of the groups that count under a metric, and add to the notes what was left out."""
    metric, runs = on.metrics[at], on.runs
    evaluations = [on.records[at][run.id] for run in runs]
    ids, values = side_by_side(tx, metric, evaluations, [run.name for run in runs], question.missing)
    in_none, is_lacked = lacked(ids, groups_of_runs(tx, metric, ids, evaluations), question.missing)
    if is_lacked.all():
        raise NotComparableError(
            f"no labelled group of {on.dataset!r} is in all runs",
            advice="are their group ids written as in the labels?",
        )
    on.tell(notes_on_groups(question, on.dataset, runs, evaluations, metric, (ids.size, int(in_none.sum()))))
    ids, values = ids[~is_lacked], values[:, ~is_lacked]
    weights = _weights(tx, runs[0].dataset_id, metric, ids)
    refuse("leaderboard", {"test": question.test, "weights": weights is not None})
    return _Results(ids, np.split(values, np.cumsum([len(arm.runs) for arm in on.arms])[:-1]), weights)


def _judged_board(
    tx: ReadTransaction, question: LeaderboardQuestion, on: _Ranked, results: _Results, at: int
) -> MetricBoard:
    """Return one metric of the runs or arms of a dataset, with the judged share of each."""
    metric = on.metrics[at]
    board = _board(question, metric, on, results)
    if question.check_with is not None:
        board, few = _checked(tx, question, board, on.arms, metric, on.label_set)
        on.tell(few)
    if not metric.is_external:
        shares = judged_under(tx, on.label_set, metric.cutoff)
        board = board.with_judged(metric.cutoff, [_mean_share(arm, shares) for arm in on.arms])
    asked = {on.records[at][run.id].requested_as for run in on.runs}
    return replace(board, requested_as=asked.pop()) if len(asked) == 1 else board


def _same(on: _Ranked, *, is_external: bool) -> Mask:
    """Return which systems are known to be the same on a dataset: bool, shape (m, m)."""
    contents = np.array([arm.name if is_external else arm.runs[0].digest for arm in on.arms])
    return np.asarray(contents[:, None] == contents)


def _judged_notes(question: LeaderboardQuestion, on: _Ranked, board: MetricBoard) -> list[Note]:
    """Return notes on runs of which nothing is judged, and if unjudged items may change the order."""
    means = [of.mean if board.direction == "lower" else -of.mean for of in board.standings]
    ranked = [on.arms[place].runs[0].name for place in np.argsort(means, kind="stable").tolist()]
    unjudged = [arm.name for arm, standing in zip(on.arms, board.standings, strict=True) if standing.judged == 0]
    notes = []
    if unjudged:
        facts: dict[str, Fact] = {"n": len(unjudged), "first": unjudged[0]}
        notes.append(Note("runs_not_judged", facts, carry_command(on.dataset)))
    view = LabelView(judge=on.label_set.judge, labels=question.labels)
    return notes + judged_notes(board.judged, ranked, on.dataset, on.metrics[0].requested_as, view)


def _checked(
    tx: ReadTransaction,
    question: LeaderboardQuestion,
    board: MetricBoard,
    ranked: Sequence[Arm],
    metric: Metric,
    label_set: LabelSetRecord,
) -> tuple[MetricBoard, list[Note]]:
    """Return a board whose pairs and ranks are those that answers give, as in ``compare``, and notes."""
    judge, person = label_set.judge, question.check_with
    if len(ranked) > MOST_PAIRED:
        raise InputError(f"every pair of {len(ranked):,} runs is to be checked", advice=f"name {MOST_PAIRED} or fewer")
    asked = {"missing": question.missing, "labels": question.labels, "judge": judge, "check_with": person}
    options = made(CompareOptions, asked, metrics=(metric,))
    comparisons = []
    for candidate, baseline in combinations(ranked, 2):  # the better one by the judge alone is the candidate
        pair = compared_pair(tx, asked_pair(tx, baseline, candidate, options), options, NO_ATTRIBUTES)
        comparisons.append(pair.comparison)
    facts: dict[str, Fact] = {"judge": judge, "checked_by": person or ""}
    notes = [Note("checked_ranks", facts)]
    found = [(of, of.metrics[0]) for of in adjusted_jointly(comparisons)]
    few = next(
        ((of, metric.about.check) for of, metric in found if metric.about.check and not metric.about.check.decides),
        None,
    )
    if few is not None:
        names = [few[0].baseline.name, few[0].candidate.name]
        facts = {"a": names[0], "b": names[1], "n": few[1].n_answered, "needed": few[1].n_needed}
        notes.append(Note("few_drawn_of_pair", facts, sample_command(names, judge, few[0].dataset)))
    pairs = [
        RunsPaired(of.candidate.name, of.baseline.name, one.delta or 0.0, one.ci, one.p_value, one.p_adjusted)
        for of, one in found
    ]
    return board.checked(pairs), notes


def judged_under(tx: ReadTransaction, label_set: LabelSetRecord, cutoff: int | None) -> dict[int, float]:
    """Return the judged share of the first ranks of every run under a version of the labels."""
    coverages = tx.evaluations.coverages_under(label_set.id)
    return {coverage.run_id: coverage.judged_share for coverage in coverages if coverage.cutoff == cutoff}


def _mean_share(arm: Arm, shares: Mapping[int, float]) -> float | None:
    known = [shares[run.id] for run in arm.runs if run.id in shares]
    return sum(known) / len(known) if known else None


def judged_notes(
    span: JudgedSpan | None, names: Sequence[str], dataset: str, metric: str, view: LabelView
) -> list[Note]:
    """Return a note if unjudged items may change the order of runs.

    Parameters: ``span``: the smallest and the largest judged share. ``names``: of one run each, the best first.
    """
    if span is None or not span.is_open or len(names) < 2:
        return []
    command = ("ndcg-track", "compare", *names[:2], "--dataset", dataset, "--metric", metric)
    facts: dict[str, Fact] = {"cutoff": span.cutoff, "low": span.least, "high": span.greatest}
    return [Note("order_open", facts, (*command, *words(LabelView(judge=view.judge or None, labels=view.labels))))]


def _board(
    question: LeaderboardQuestion, metric: Metric, on: _Ranked, results: _Results, value: str | None = None
) -> MetricBoard:
    """Return one metric of runs or arms; ``value``: of the attribute of a slice."""
    return metric_board(
        metric,
        [arm.name for arm in on.arms],
        results.values,
        weights=results.weights,
        test=question.test,
        value=value,
        repeats=results.repeats if on.is_repeated else (),
    )


def _arms(tx: ReadTransaction, question: LeaderboardQuestion) -> list[Arm]:
    """Return the arms if the question names any, else none (InputError for a run in two arms)."""
    if not any(reference.startswith(ARM) for reference in question.references):
        return []
    refuse("leaderboard", {**given_of(question), "arms": True})
    arm_of: dict[int, str] = {}
    arms = list({arm.name: arm for arm in arms_of(tx, question.references, question.dataset)}.values())
    for arm in arms:
        check_one_dataset(arms[0].runs[0], arm.runs[0], "ranked together")
        for run in arm.runs:
            if arm_of.setdefault(run.id, arm.name) != arm.name:
                raise InputError(
                    f"run {run.name!r} is in {arm_of[run.id]!r} and in {arm.name!r}",
                    advice="give each arm its own runs",
                )
    return arms


@dataclass(frozen=True, slots=True)
class RankedRun:
    """A run with its mean, None if it has none, and the judged share of its first ranks, None if unknown."""

    run: RunRecord
    mean: float | None
    judged: float | None


def by_mean(tx: ReadTransaction, question: LeaderboardQuestion) -> tuple[list[RankedRun], JudgedSpan | None]:
    """Return the requested runs by the first metric, the best first and those without a mean last.

    Also return the smallest and the largest judged share, None if not known.
    """
    runs, is_named = _meant(tx, question)
    metric = known_metric(tx, runs[0].dataset_id, question.metrics[0])
    label_set, (records,), _ = under_labels(tx, runs, [metric], is_named, question)
    shares = {} if metric.is_external else judged_under(tx, label_set, metric.cutoff)
    sign = 1.0 if metric.direction == "higher" else -1.0
    having = [
        RankedRun(run, records[run.id].mean, shares.get(run.id)) if run.id in records else RankedRun(run, None, None)
        for run in runs
    ]
    span = JudgedSpan.of(metric.cutoff, (ranked.judged for ranked in having))
    return sorted(having, key=lambda ranked: (ranked.mean is None, -sign * (ranked.mean or 0.0))), span


def _meant(
    tx: ReadTransaction, question: LeaderboardQuestion, left_out: list[Note] | None = None
) -> tuple[list[RunRecord], bool]:
    """Return the requested runs, and whether they were named one by one.

    ``left_out``: where to note that checkpoints were left out; None keeps them.
    """
    named = [*question.references]
    if question.references:
        runs = list({run.id: run for run in tx.runs.chosen(question.references, question.dataset)}.values())
        named += [run.name for one in named if not is_pattern(one) for run in tx.runs.matching(one, question.dataset)]
    else:
        datasets = [dataset.name for dataset in tx.datasets.all()] if question.dataset is None else [question.dataset]
        if not datasets:
            raise InputError("there is no dataset yet", advice="store a run: ndcg-track ingest FILE")
        if len(datasets) > 1:
            raise unknown_dataset("", datasets, is_named=False)
        runs = tx.runs.chosen((), datasets[0])
    wanted = [run for run in runs if run.has_tags(question.tags)]
    if left_out is not None:
        wanted, notes = without_checkpoints(wanted, question.tags, named)
        left_out += notes
    if not wanted:
        ask = f"to rank these, give {argument('tags', CHECKPOINTS)}"
        what = "these runs are only checkpoints of trainings" if left_out else "no run has these tags"
        raise ReferenceNotFoundError(what, advice=ask if left_out else "see them with: ndcg-track runs list")
    wanted = wanted[-(question.last or 0) :]
    advice = f"name one with {argument('dataset')}, or see all together: ndcg-track suite create NAME DATASET..."
    for run in wanted[1:]:
        check_one_dataset(wanted[0], run, "ranked together", advice)
    return wanted, bool(question.references)


def of_one_sample(runs: list[RunRecord], notes: list[Note], *, is_named: bool) -> list[RunRecord]:
    """Return the largest set of runs that rank the same items, on a tie the latest; note or refuse the others."""
    if is_named:
        check_one_sample(runs)
        check_one_share(runs, "ranked together")
    count = Counter(run.sample for run in runs)
    newest = {run.sample: at for at, run in enumerate(runs)}
    sample = max(count, key=lambda of: (count[of], newest[of]), default=(None, None, None))
    others = [run for run in runs if run.sample != sample]
    if others:
        facts: dict[str, Fact] = {"n": len(others), "first": others[0].name, "sampled": sample[0]}
        is_share = sample[2] != others[0].groups_share
        of_share: dict[str, Fact] = {"n": len(others), "first": others[0].name, "share": sample[2] or "all"}
        notes.append(Note("runs_of_other_shares", of_share) if is_share else Note("runs_of_other_samples", facts))
    if sample[0] is not None:
        notes.append(sampled_note(sample[0]))
    return [run for run in runs if run not in others]


def _has_no_group(label_set: LabelSetRecord, evaluations: Sequence[HistoryRecord]) -> bool:
    """Return whether a run has no group with labels, so that each counts as missing."""
    return any(evaluation.n_missing >= label_set.n_groups > 0 for evaluation in evaluations)


def under_labels(
    tx: ReadTransaction,
    runs: Sequence[RunRecord],
    metrics: Sequence[Metric],
    is_named: bool,
    view: LabelView,
) -> tuple[LabelSetRecord, list[dict[int, HistoryRecord]], list[Note]]:
    """Return the latest labels under which the runs have the metrics, and the evaluations of each by run.

    ``view``: the labels that were asked for. Runs that were not named and lack the metrics under these labels are left
    out with a note.
    """
    labels, judge = view.labels, view.judge
    dataset_id, ids = runs[0].dataset_id, {run.id for run in runs}
    is_external = [metric.is_external for metric in metrics]
    if any(is_external) and not all(is_external):
        raise InputError("results of other engines do not use stored labels", advice="rank by one kind of metric")
    asked = None
    if not any(is_external) and (labels is not None or judge):
        asked = numbered_labels(tx, dataset_id, runs[0].dataset, view.version, judge)
        whose = asked.judge
    else:
        whose = EXTERNAL_JUDGE if all(is_external) else counting_judge(tx, dataset_id, runs[0].dataset, judge)
    label_sets = tx.labels.sets(dataset_id, whose)[::-1]
    newest = label_sets[0].version if label_sets else 0
    if asked is not None and labels is not None:
        label_sets = [asked]
    best: tuple[LabelSetRecord, list[dict[int, HistoryRecord]], set[int]] | None = None
    for label_set in label_sets:
        records = [
            {record.run_id: record for record in tx.evaluations.history(dataset_id, str(metric), label_set.id)}
            for metric in metrics
        ]
        having = reduce(set.intersection, (set(of_metric) for of_metric in records)) & ids
        if best is None or len(having) > len(best[2]):
            best = label_set, records, having
        if len(having) == len(ids):
            break
    texts = [metric.requested_as for metric in metrics]
    older = label_sets[0].version if labels is not None and label_sets else None
    of_judge = "" if any(is_external) else whose
    if best is None or (is_named and len(best[2]) < len(ids)) or not best[2]:
        lacking = [run for run in runs if best is None or run.id not in best[2]]
        under = "one version" if labels is None or not label_sets else f"version {label_sets[0].version}"
        raise NotComparableError(
            f"{len(lacking)} of {len(runs)} runs, such as {lacking[0].name!r}, "
            f"{'lacks' if len(lacking) == 1 else 'lack'} {', '.join(texts)} under {under} of the labels"
            f"{f' of {judge_words(of_judge)}' if of_judge else ''}",
            advice=advice_for_lacking(
                tx, runs, metrics, adding_words(tx, lacking[:5], texts, LabelView(judge=of_judge, labels=older))
            ),
        )
    label_set, records, having = best
    notes: list[Note] = []
    facts: dict[str, Fact]
    lacking = [run for run in runs if run.id not in having]
    if lacking:
        words = [word for text in texts for word in ("--metric", text)]
        facts = {"n": len(lacking), "first": lacking[0].name, "version": label_set.version, "metrics": tuple(texts)}
        words += ["--labels", str(label_set.version)]
        of_all = ("ndcg-track", "rescore", "--all", "--dataset", runs[0].dataset, *words)
        notes.append(Note("runs_lacking", facts, adding_command(lacking, texts) if all(is_external) else of_all))
    if label_set.version < newest and labels is None:
        facts = {"newest": newest, "version": label_set.version}
        notes.append(
            Note(
                "newer_labels",
                facts,
                adding_command([run for run in runs if run.id in having], texts, LabelView(labels=newest)),
            )
        )
    return label_set, [{run_id: of[run_id] for run_id in of if run_id in having} for of in records], notes


def side_by_side(
    tx: ReadTransaction, metric: Metric, records: Sequence[HistoryRecord], names: Sequence[str], missing: Missing
) -> tuple[Index, Matrix]:
    """Return the groups that all runs have a result for, and the results, one row per run; ``names``: of the runs.

    Raises: InputError for runs of different groups, unless ``missing`` says how to treat them.
    """
    of_runs = []
    for ids, values in tx.evaluations.results_of([record.evaluation_id for record in records]):
        defined = ~np.isnan(values)
        of_runs.append((ids, values) if defined.all() else (ids[defined], values[defined]))
    first = of_runs[0][0]
    if all(ids is first or np.array_equal(ids, first) for ids, _ in of_runs):
        return first, np.stack([values for _, values in of_runs])
    every = reduce(np.union1d, [ids for ids, _ in of_runs])
    if missing == "error":
        worst = int(np.argmin([ids.size for ids, _ in of_runs]))
        raise InputError(
            f"the runs have {metric} for different groups: {names[worst]!r} for {of_runs[worst][0].size:,} of "
            f"{every.size:,}",
            advice=f"give {argument('missing', 'intersect')} for those that all have, or {argument('missing', 'zero')}",
        )
    shared = every if missing == "zero" else reduce(np.intersect1d, [ids for ids, _ in of_runs])
    if not shared.size:
        raise InputError(f"no {unit()} has a result in all runs", advice=f"give {argument('missing', 'zero')}")
    matrix = np.zeros((len(of_runs), shared.size))
    for row, (ids, values) in zip(matrix, of_runs, strict=True):
        if missing == "zero":
            row[np.searchsorted(shared, ids)] = values
        else:
            row[:] = values[places_of_ids(ids, shared)]
    return shared, matrix


def notes_on_groups(
    question: LeaderboardQuestion,
    dataset: str,
    runs: Sequence[RunRecord],
    evaluations: Sequence[HistoryRecord],
    metric: Metric,
    n_groups: tuple[int, int],
) -> list[Note]:
    """Return notes on labelled groups that runs lack, if the metric counts these as 0, each with its remedy.

    ``n_groups``: how many groups there are, and how many of them no run has.
    """
    n, n_in_none = n_groups
    if not metric.counts_missing:
        return []
    notes = []
    if n_in_none and question.missing != "skip":
        facts: dict[str, Fact] = {"n": n_in_none, "n_groups": n}
        notes.append(Note("in_no_run", facts, _again(replace(question, missing="skip"), dataset)))
    lacking = [
        (run.name, evaluation.n_missing - n_in_none)
        for run, evaluation in zip(runs, evaluations, strict=True)
        if evaluation.n_missing > n_in_none
    ]
    if lacking:
        are_out = question.missing in ("intersect", "skip")
        facts = {"runs": lacking, "n_groups": n, "metric": metric.requested_as, "are_out": are_out}
        again = () if are_out else _again(replace(question, missing="intersect"), dataset)
        notes.append(Note("groups_lacking", facts, again))
    return notes


def _again(question: LeaderboardQuestion, dataset: str) -> tuple[str, ...]:
    """Return the command for a question."""
    asked = replace(question, dataset=dataset if question.suite is None else None)
    return ("ndcg-track", "leaderboard", *question.references, *words(asked))


def _weights(tx: ReadTransaction, dataset_id: int, metric: Metric, ids: Index) -> Floats | None:
    """Return the weights of groups if a metric uses them; refuse a metric whose mean is not that of its groups."""
    if metric["weights"] == "none":
        return None
    weights_of = tx.groups.weights(dataset_id)
    if metric["weights"] != "group":
        raise InputError(f"the mean of {metric} is not that of its groups", advice="rank by another metric")
    return weights_of.weights_of(ids) if weights_of.ids.size else None


def _measures(ranked: Sequence[Arm], names: Sequence[str]) -> dict[str, tuple[float | None, ...]]:
    """Return numbers of whole runs by name, for arms their means (InputError for a name that no run has)."""
    measures = {name: tuple(_measure(name, arm) for arm in ranked) for name in names}
    for name, numbers in measures.items():
        if all(number is None for number in numbers):
            raise InputError(
                f"no run has a number {name!r} among its parameters and tags",
                advice=f"give it with: ndcg-track runs tag RUN {name}=NUMBER",
            )
    return measures


def _measure(name: str, arm: Arm) -> float | None:
    numbers = [number_of(name, run.parameters, run.tags) for run in arm.runs]
    present = [number for number in numbers if number is not None]
    return sum(present) / len(present) if len(present) == len(numbers) else None


def _slices(
    tx: ReadTransaction, question: LeaderboardQuestion, metric: Metric, on: _Ranked, results: _Results
) -> list[MetricBoard]:
    """Return a metric on the groups of each value of an attribute, the most groups first, and note omissions."""
    values = attribute_values(tx, on.runs[0], question.by or "").of(results.ids).values
    of_groups = np.array(values, dtype=object)
    slices, n_small = [], 0
    for value in sorted({value for value in of_groups if value is not None}, key=str):
        chosen = of_groups == value
        if int(chosen.sum()) < FEWEST_IN_SLICE:
            n_small += 1
            continue
        rows = [of_arm[:, chosen] for of_arm in results.repeats]
        own = _Results(results.ids[chosen], rows, None if results.weights is None else results.weights[chosen])
        slices.append(_board(question, metric, on, own, value))
    if n_small:
        facts: dict[str, Fact] = {"n": n_small, "attribute": question.by or "", "fewest": FEWEST_IN_SLICE}
        on.notes.append(Note("small_slices", facts))
    return sorted(slices, key=lambda board: -board.n)


@dataclass(frozen=True, repr=False)
class LeaderboardResult(Answer):
    """Runs side by side; notebooks show it as a table, and ``print`` prints it.

    ``leaderboard``: the typed rows, and ``pairs`` of each metric. ``to_frame`` has a row per metric, slice and run.

    >>> import ndcg_tracker as nt
    >>> from tempfile import TemporaryDirectory
    >>> shop = {"group": ["q", "q", "r", "r"], "item": ["a", "b", "a", "b"], "label": [3, 0, 1, 0]}
    >>> with TemporaryDirectory() as folder, nt.Tracker(f"{folder}/runs.db") as tracker:
    ...     _ = tracker.ingest({**shop, "score": [1.0, 2.0, 2.0, 1.0]}, name="old")
    ...     _ = tracker.ingest({**shop, "score": [2.0, 1.0, 2.0, 1.0]}, name="new")
    ...     result, best = tracker.leaderboard(), tracker.best()
    >>> result.to_frame()[["run", "mean", "rank", "rank_low", "rank_high"]].round(4).values.tolist()
    [['new', 1.0, 1, 1, 2], ['old', 0.8155, 2, 1, 2]]
    >>> best.name, [line[:7] for line in result.to_latex().splitlines()[9:11]]
    ('new', ['a & new', 'b & old'])
    """

    leaderboard: Leaderboard

    @property
    def notes(self) -> tuple[str, ...]:
        """Further notes, in words."""
        return in_words(self.leaderboard.notes, self.leaderboard.dataset)

    def to_latex(self) -> str:
        """Return a table for a paper, with the caption that explains it; it needs the package booktabs."""
        return leaderboard_latex(self.leaderboard)

    def _said(self) -> Said:
        return leaderboard_said(self.leaderboard)
