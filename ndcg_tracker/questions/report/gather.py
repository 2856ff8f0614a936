"""Two stored runs as a report shows them: the comparison with every group, every cutoff and the lists that changed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.asked import words
from ndcg_tracker.compare.gather import compared, pruned_notes
from ndcg_tracker.compare.item_changes import contributions_of, item_changes
from ndcg_tracker.compare.options import CompareOptions, DataView
from ndcg_tracker.compare.pair import places_of_ids
from ndcg_tracker.compare.report_facts import (
    AtCutoff,
    EveryGroup,
    GroupLists,
    PairReport,
    PairReports,
    RunPairDelta,
    at_cutoff,
    every_pair,
    group_lists,
    slices_by,
)
from ndcg_tracker.compare.run_pair import RunPair
from ndcg_tracker.compare.slices import Slicing, attributes_of
from ndcg_tracker.errors import MetricError, ReferenceNotFoundError
from ndcg_tracker.metrics.contributions import ADDITIVE
from ndcg_tracker.metrics.kernel.values import group_values
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.questions.history.gather import HistoryFilter, history_of
from ndcg_tracker.questions.leaderboard.question import LeaderboardQuestion
from ndcg_tracker.questions.report.first_screen import Apart
from ndcg_tracker.questions.report.page import RunsReport, SuiteOverview
from ndcg_tracker.rankings.join import judged, places_of
from ndcg_tracker.runs.groups import texts_of
from ndcg_tracker.storage.records import NO_LABELS_HERE
from ndcg_tracker.words.notes import Note
from ndcg_tracker.words.texts import OF_CLUSTERS, about, clustered_by

if TYPE_CHECKING:
    from ndcg_tracker.compare.gather import ComparedPair
    from ndcg_tracker.compare.results import Comparison
    from ndcg_tracker.rankings import Floats, Index
    from ndcg_tracker.rankings.join import JudgedRanking
    from ndcg_tracker.rankings.keys import Keys
    from ndcg_tracker.storage.marks import DecisionRecord
    from ndcg_tracker.storage.store import ReadTransaction
    from ndcg_tracker.words.texts import GroupTexts

LISTS = 200
"""The number of groups whose lists a report holds, the most changed ones."""
_FEWEST_LISTS = 20  # for each dataset of a suite; they share ``LISTS``
ROWS = 30
"""How many items of each list a report shows at most."""
LIVE_RUNS = 60
"""How many runs the history of a live page has; it is built again at each look."""
CUTOFFS = 100
"""The largest cutoff at which the metric is shown, from 1."""
MANY_GROUPS = 20_000
"""With more groups, only some cutoffs are computed."""
_SOME_CUTOFFS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)
_TOGETHER = 10  # cutoffs that share the kernel's lists


def runs_report(
    tx: ReadTransaction,
    baseline: str,
    candidates: Sequence[str | Sequence[str]],
    options: CompareOptions,
    output: str,
    *,
    texts: bool = False,
) -> RunsReport:
    """Return everything that the page shows about a baseline and its candidates; raises: see ``compare.compared``.

    On a suite, it shows all datasets together, and each by itself. ``output``: the file for the page. ``texts``:
    whether it shows the texts of queries and items.
    """
    pairs = compared(tx, baseline, candidates, options)
    command = _command([pair.comparison for pair in pairs], options, output, texts=texts)
    if options.suite is not None:
        return _suite_report(tx, pairs, options, command, texts=texts)
    reports = pair_reports(tx, [_by_labels_alone(tx, pair, options) for pair in pairs], texts=texts)
    if any(pair.comparison.metrics[0].is_drawn for pair in pairs):
        checked = pair_reports(tx, pairs, n_lists=0, with_cutoffs=False)
        reports = replace(reports, pairs=tuple(map(_as_checked, reports.pairs, checked.pairs)), deltas=())
    return _runs_report(tx, pairs, reports, HistoryFilter(), command)


def _suite_report(
    tx: ReadTransaction,
    found: Sequence[ComparedPair],
    options: CompareOptions,
    command: Sequence[str],
    *,
    texts: bool,
) -> RunsReport:
    """Return what the page shows about systems on a suite: all datasets together, and each by itself."""
    from ndcg_tracker.questions.leaderboard.gather import leaderboard_of

    pairs = [pair for of in found for pair in of.parts]
    view = {of.name: getattr(options, of.name) for of in fields(DataView)}
    question = LeaderboardQuestion(metrics=pairs[0].both.metrics, suite=options.suite, by_tag=options.by_tag, **view)
    try:
        board = leaderboard_of(tx, question)
    except ReferenceNotFoundError:  # fewer than two systems have a run on every dataset
        board = None
    n_lists = max(_FEWEST_LISTS, LISTS // max(1, len(pairs)))
    return RunsReport(
        tuple(pair_report(tx, pair, n_lists=n_lists, texts=texts) for pair in pairs),
        command=command,
        suite=SuiteOverview(tuple(of.comparison for of in found), board),
    )


def _by_labels_alone(tx: ReadTransaction, pair: ComparedPair, options: CompareOptions) -> ComparedPair:
    """Return a pair under labels without drawn answers, because these say nothing about other groups."""
    if not pair.comparison.metrics[0].is_drawn:
        return pair
    names = [arm.name for arm in pair.both.arms]
    of_labels = replace(options, check_with=None, fresh=False, labels=pair.both.baseline.label_set.version)
    (alone,) = compared(tx, names[0], names[1:], replace(of_labels, metrics=pair.both.metrics))
    return alone


def _as_checked(alone: PairReport, corrected: PairReport) -> PairReport:
    """Return the report of a pair, with the verdict and the slices by drawn answers."""
    comparison = corrected.comparison
    note = Note("groups_of_judge", {"judge": comparison.label_set.judge})
    told = replace(comparison, notes=(*comparison.notes, note))
    return replace(alone, comparison=told, slices=corrected.slices)


def live_report(
    tx: ReadTransaction, baseline: str, candidates: Sequence[str | Sequence[str]], options: CompareOptions
) -> RunsReport:
    """Return what a live page shows at first: the lists of one group, no cutoffs, the latest runs."""
    pairs = compared(tx, baseline, candidates, options)
    reports = pair_reports(tx, pairs, n_lists=1, with_cutoffs=False, texts=True)
    has_texts = any(pair.texts for pair in reports.pairs)
    command = _command([pair.comparison for pair in pairs], options, "report.html", texts=has_texts)
    return _runs_report(tx, pairs, reports, HistoryFilter(last=LIVE_RUNS), command)


def _runs_report(
    tx: ReadTransaction,
    pairs: Sequence[ComparedPair],
    reports: PairReports,
    wanted: HistoryFilter,
    command: tuple[str, ...],
) -> RunsReport:
    comparison = pairs[0].comparison
    judge = comparison.label_set.judge
    wanted = replace(wanted, judge=None if judge in NO_LABELS_HERE else judge)
    decisions = _newest_decisions(tx, pairs)
    return RunsReport(
        reports.pairs,
        reports.deltas,
        history_of(tx, comparison.dataset, comparison.metrics[0].metric, wanted).rows,
        decisions,
        {name: apart for name, decision in decisions.items() if (apart := _apart(decision, pairs[0])) is not None},
        command,
    )


def _apart(decision: DecisionRecord, pair: ComparedPair) -> Apart | None:
    """Return how a decision differs from the comparison of the page: by its labels or its clusters."""
    if decision.label_set_id != pair.both.candidate.label_set.id:
        return "under other labels"
    clusters = pair.comparison.metrics[0].about.clusters
    if clusters is not None and clustered_by(clusters.attribute) in decision.reason:
        return None
    if OF_CLUSTERS in decision.reason:
        return "with clusters" if clusters is None else "with other clusters"
    return None if clusters is None else "without clusters"


def _command(
    comparisons: Sequence[Comparison], options: CompareOptions, output: str, *, texts: bool
) -> tuple[str, ...]:
    """Return the command that makes the page."""
    first = comparisons[0]
    names = [first.baseline.name, *(of.candidate.name for of in comparisons)]
    metrics = [word for metric in first.metrics for word in ("--metric", metric.about.requested_as)]
    where = ["--suite" if first.suite is not None else "--dataset", first.dataset]
    others = [*words(options, but=("suite", "dataset", "metrics")), *(["--texts"] if texts else [])]
    return ("ndcg-track", "report", *names, *where, *metrics, *others, "--output", output)


def _newest_decisions(tx: ReadTransaction, pairs: Sequence[ComparedPair]) -> dict[str, DecisionRecord]:
    """Return the latest gate decision on the baseline and each candidate, by the candidate's name."""
    name_of = {
        pair.both.candidate.run.id: pair.comparison.candidate.name for pair in pairs if not pair.both.is_repeated
    }
    baseline, checked_by = pairs[0].both.baseline.run.id, pairs[0].decided_by
    return {
        name_of[decision.candidate_run_id]: decision
        for decision in tx.decisions.all(pairs[0].both.dataset_id)
        if (decision.baseline_run_id, decision.checked_by) == (baseline, checked_by)
        and decision.candidate_run_id in name_of
    }


def pair_reports(
    tx: ReadTransaction,
    pairs: Sequence[ComparedPair],
    *,
    n_lists: int = LISTS,
    with_cutoffs: bool = True,
    texts: bool = False,
) -> PairReports:
    """Return the reports of a baseline with each candidate (see ``pair_report``)."""
    return PairReports(
        tuple(pair_report(tx, pair, n_lists=n_lists, with_cutoffs=with_cutoffs, texts=texts) for pair in pairs),
        pair_deltas(pairs),
    )


def pair_report(
    tx: ReadTransaction, pair: ComparedPair, *, n_lists: int = LISTS, with_cutoffs: bool = True, texts: bool = False
) -> PairReport:
    """Return the report of two compared runs; groups are those of the first metric.

    ``texts``: whether it shows the texts of queries and items.
    """
    results = pair.results[0]
    ids = results.pairing.group_ids
    keys = tx.groups.keys(pair.both.dataset_id, ids)
    groups = EveryGroup(
        keys.to_list(),
        results.pairing.baseline,
        results.pairing.candidate,
        attributes_of(tx, pair.both.dataset_id, ids),
        results.every.direction,
    )
    is_split = pair.both.metric.measure in ADDITIVE
    can_be_tested = results.no_inference is None
    lacks_items = bool(pruned_notes(tx, pair.both))
    most_changed = groups.most_changed(0 if lacks_items else n_lists)
    lists = lists_of(tx, pair.both, ids[most_changed])
    return PairReport(
        pair.comparison,
        groups,
        at_cutoffs(tx, pair, keys) if can_be_tested and with_cutoffs and not lacks_items else (),
        lists,
        str(pair.both.metric) if is_split else None,
        slices_by(results.sample, (results.counted(Slicing.of(*of)) for of in groups.attributes.items()))
        if can_be_tested
        else {},
        pair.both.metric.cutoff,
        min(ROWS, pair.both.metric.cutoff or ROWS),
        _texts(tx, pair, groups.keys, ids, most_changed, lists) if texts else {},
    )


def _texts(
    tx: ReadTransaction, pair: ComparedPair, keys: Sequence[str], ids: Index, listed: Index, lists: Sequence[GroupLists]
) -> dict[str, GroupTexts]:
    """Return the texts of the listed groups with their items, of the worst and best groups, and of not too many others.

    The worst and the best groups also have the texts of the item that explains most.
    """
    items_of = {
        int(group_id): [item.item for item in of_group.items] + [item for item, _ in of_group.ideal]
        for group_id, of_group in zip(ids[listed], lists, strict=True)
    }
    others = ids.tolist() if ids.size <= MANY_GROUPS else []
    key_of = dict(zip(ids.tolist(), keys, strict=True))
    id_of = {key: group_id for group_id, key in key_of.items()}
    for group in (*pair.comparison.worst, *pair.comparison.best):
        items_of.setdefault(id_of[group.group], []).extend(move.item for move in (group.moves or ())[:1])
    texts = texts_of(tx, pair.both.dataset_id, items_of, others)
    return {key_of[group_id]: of_group for group_id, of_group in texts.items()}


def at_cutoffs(
    tx: ReadTransaction, pair: ComparedPair, keys: Keys, many_groups: int = MANY_GROUPS
) -> tuple[AtCutoff, ...]:
    """Return the first metric of two runs at cutoffs from 1 to ``CUTOFFS``, over the groups that were compared.

    Cutoffs end at the longest list; a metric without a cutoff has none. ``keys``: of the groups.
    ``many_groups``: with more than these, only some cutoffs are computed.
    """
    metric = pair.both.metric
    wanted = range(1, CUTOFFS + 1) if len(keys) <= many_groups else _SOME_CUTOFFS
    labels = tx.labels.lists(pair.both.baseline.label_set.id)
    arms = [[judged(tx.runs.ranking(side.run.id), labels) for side in sides] for sides in pair.both.sides_of]
    longest = max(int(np.diff(run.ranking.offsets).max(initial=0)) for runs in arms for run in runs)
    metrics = [
        varied for cutoff in wanted if cutoff <= longest and (varied := _with_cutoff(metric, cutoff)) is not None
    ]
    results = pair.results[0]
    rows, like = [], results.every
    for first in range(0, len(metrics), _TOGETHER):
        some = metrics[first : first + _TOGETHER]
        values = [_at_metrics(runs, some, keys) for runs in arms]
        for varied, baseline, candidate in zip(some, *values, strict=True):
            assert varied.cutoff is not None
            rows.append(at_cutoff(varied.cutoff, baseline, candidate, like))
    return tuple(row for row in rows if row is not None)


def _at_metrics(runs: Sequence[JudgedRanking], metrics: Sequence[Metric], keys: Keys) -> list[Floats]:
    """Return the values of an arm's runs under each metric: shape (runs, groups), NaN if a run lacks the group."""
    each = [
        [_aligned(of_metric.values, places_of(keys, of_metric.group_keys)) for of_metric in group_values(run, metrics)]
        for run in runs
    ]
    return [np.stack(of_metric) for of_metric in zip(*each, strict=True)]


def _with_cutoff(metric: Metric, cutoff: int) -> Metric | None:
    """Return a metric at another cutoff, None if it does not take one."""
    if metric.cutoff is None:
        return None
    try:
        return Metric.of(metric.measure, cutoff=cutoff, **dict(metric.settings))
    except MetricError:
        return None


def _aligned(values: Floats, places: Index) -> Floats:
    """Return the values of some groups along the last axis, NaN if the place is -1."""
    if not values.size:
        return np.full((*values.shape[:-1], places.size), np.nan)
    return np.where(places < 0, np.nan, values[..., places])


def lists_of(tx: ReadTransaction, both: RunPair, ids: Index) -> tuple[GroupLists, ...]:
    """Return the lists of some groups in both runs (of an arm, in its first run), as deep as the metric looks.

    ``ids``: int64, distinct ids of groups.
    """
    if not ids.size:
        return ()
    is_split = both.metric.measure in ADDITIVE
    metric = both.metric if is_split else Metric.of("cg", cutoff=both.metric.cutoff or ROWS)
    keys, wanted = tx.groups.keys(both.dataset_id, ids), np.sort(ids)
    baseline, candidate = (contributions_of(tx, side, metric, wanted) for side in (both.baseline, both.candidate))
    places = [places_of(side.values.group_keys, keys) for side in (baseline, candidate)]
    return group_lists(
        keys.to_list(),
        item_changes(baseline, candidate, places[0], places[1]),
        tx.labels.lists(both.candidate.label_set.id, wanted),
        n_rows=ROWS,
        cutoff=both.metric.cutoff,
        is_split=is_split,
    )


def pair_deltas(pairs: Sequence[ComparedPair]) -> tuple[RunPairDelta, ...]:
    """Return the difference between any two runs of several comparisons with one baseline, by the first metric.

    None if no test applies, and if the comparisons do not all use one metric and one version of the labels.
    """
    if not all(pair.results[0].no_inference is None for pair in pairs):
        return ()
    if len({(pair.results[0].about.metric, pair.both.baseline.label_set.id) for pair in pairs}) > 1:
        return ()
    first = pairs[0].results[0].pairing
    arms = [_of_runs(pairs[0])[0]]
    for pair in pairs:
        places = places_of_ids(pair.results[0].pairing.group_ids, first.group_ids)
        arms.append(_aligned(_of_runs(pair)[1], places))
    names = [pairs[0].comparison.baseline.name, *(pair.comparison.candidate.name for pair in pairs)]
    return every_pair(names, arms, pairs[0].results[0].every)


def _of_runs(pair: ComparedPair) -> tuple[Floats, Floats]:
    """Return the results of each run of both arms: shapes (k_a, n) and (k_b, n)."""
    results = pair.results[0]
    return results.every.repeats or (results.pairing.baseline[None], results.pairing.candidate[None])


@dataclass(frozen=True)
class ReportResult:
    """Two runs or more on one page, which is self-contained and needs no network.

    ``report``: the typed rows.
    """

    report: RunsReport

    def with_notes(self, notes: tuple[Note, ...]) -> ReportResult:
        """Return the page with other notes on its first pair, those of a gate that decided on it."""
        first, *others = self.report.pairs
        first = replace(first, comparison=replace(first.comparison, notes=notes))
        return ReportResult(replace(self.report, pairs=(first, *others)))

    def with_decision(self, decision: str) -> ReportResult:
        """Return the page of a suite with the decision of a gate, in words."""
        assert self.report.suite is not None
        return ReportResult(replace(self.report, suite=replace(self.report.suite, decision=decision)))

    @property
    def _dataset(self) -> str:
        """The dataset or suite whose word for a group the page says."""
        suite = self.report.suite
        return (self.report.pairs[0].comparison if suite is None else suite.comparisons[0]).dataset

    def to_html(self) -> str:
        """Return the complete page, with its scripts and its security policy; ids in it are text and never markup."""
        from ndcg_tracker.questions.report.page import report_page  # here, because only a page needs the charts

        with about(self._dataset):
            return report_page(self.report)

    def to_markdown(self, link: str) -> str:
        """Return every group as a picture that GitHub draws, with ``link``, the address or file of the page."""
        from ndcg_tracker.questions.report.page import report_markdown

        with about(self._dataset):
            return report_markdown(self.report, link)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, completely or not at all. Raises: InputError where it cannot be written."""
        from ndcg_tracker.render.whole_file import whole_file

        with whole_file(os.fspath(path), "path") as write:
            write(self.to_html())
