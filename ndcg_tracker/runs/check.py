"""Check a database against itself: rows, schema, digests, and every result, which is recomputed."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.errors import NdcgTrackerError
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.rankings.grouping import is_descending
from ndcg_tracker.rankings.join import judged
from ndcg_tracker.rankings.keys import joined_digest
from ndcg_tracker.rankings.ranking import Unweighted
from ndcg_tracker.runs.labels import label_source
from ndcg_tracker.runs.rules import Rules
from ndcg_tracker.runs.scoring import Scores, stored_weights
from ndcg_tracker.runs.verification import Deviation, are_close, difference_of_means, tolerance_of, verdict
from ndcg_tracker.statistics.t_test import sample_std_dev
from ndcg_tracker.storage.copying import COLUMNS
from ndcg_tracker.storage.records import NO_LABELS_HERE, SUMMED_JUDGE
from ndcg_tracker.storage.store import Store
from ndcg_tracker.storage.upkeep.health import unlocked
from ndcg_tracker.words.texts import counted, shown

if TYPE_CHECKING:
    from ndcg_tracker.metrics.language.metric import Metric
    from ndcg_tracker.rankings import Floats
    from ndcg_tracker.rankings.ranking import GroupWeights
    from ndcg_tracker.runs.labels import KnownLabels
    from ndcg_tracker.runs.verification import Number
    from ndcg_tracker.storage.records import DatasetRecord, EvaluationRecord, LabelSetRecord, RunRecord
    from ndcg_tracker.storage.session import Written
    from ndcg_tracker.storage.store import ReadTransaction


OF_GROUPS = "the results of the groups give"
"""What contradicts results that cannot be computed again."""
SHARES_AGREE = 1e-12
"""How much a judged share may differ between two machines that compute it."""


def can_be_computed(metric: Metric, label_set: LabelSetRecord) -> bool:
    """Return whether a metric can be computed from these labels and the items of a run."""
    return not metric.is_external and label_set.judge not in NO_LABELS_HERE


def difference_text(difference: Deviation, source: str = "its items and labels give") -> str:
    """Return in words where results differ from what ``source`` says, with both numbers.

    >>> difference_text(Deviation("value", 5.0, 0.5, "q1", 3))
    "value 5.0 of group 'q1' is stated, but its items and labels give 0.5 (3 groups differ)"
    >>> difference_text(Deviation("mean", 0.9, 0.5), OF_GROUPS)
    'mean 0.9 is stated, but the results of the groups give 0.5'
    >>> difference_text(Deviation("value", 5.0, None), OF_GROUPS)
    'value 5.0 is stated, which the metric cannot have'
    """
    if source == OF_GROUPS and difference.computed is None:
        return f"{difference.what} {_text(difference.stated)} is stated, which the metric cannot have"
    where = "" if difference.group is None else f" of group {shown(difference.group)}"
    more = f" ({counted(difference.n, 'group')} differ)" if difference.n > 1 else ""
    stated, computed = _text(difference.stated), _text(difference.computed)
    return f"{difference.what} {stated}{where} is stated, but {source} {computed}{more}"


def checked_text(n_runs: int, n_evaluations: int, n_computed: int, n_results: int) -> str:
    """Return the summary of a check without damage: what it verified, and what it could not verify.

    >>> print(checked_text(2, 5, 4, 600))
    the database is intact: 2 runs; 600 results of groups computed again; not verifiable: 1 of 5 evaluations
    """
    intact = f"the database is intact: {counted(n_runs, 'run')}; {n_results:,} results of groups computed again"
    left = n_evaluations - n_computed
    return f"{intact}; not verifiable: {left:,} of {counted(n_evaluations, 'evaluation')}" if left else intact


def _text(number: Number) -> str:
    return "none" if number is None else str(number)


Progress = Callable[[int, int | None], None]
"""Called with how many runs are done, and how many there are."""
_UNREADABLE = (ValueError, TypeError, LookupError, OverflowError, NdcgTrackerError)
_SHOWN = 100


@dataclass(slots=True)
class Checked:
    """The outcome of a check.

    ``damage``: one sentence per kind of damage, or per run and metric. ``n_computed``: how many evaluations of
    ``n_evaluations`` were recomputed; ``n_results``: with how many group results. ``is_sealed``: whether only the
    structure was checked.
    """

    damage: list[str] = field(default_factory=list)
    n_runs: int = 0
    n_evaluations: int = 0
    n_computed: int = 0
    n_results: int = 0
    is_sealed: bool = False


def check_database(location: str, progress: Progress | None = None) -> Checked:
    """Check everything in a database of the latest schema; nothing is written."""
    with Store.open(location, opens="any") as store:
        path = store.location.path
        with store.read() as tx:
            if tx.datasets.sealed():  # its content is not shown, and so only its structure is checked
                checked = Checked(tx.damage(), is_sealed=True)
            else:
                checked = check_content(tx, None, progress)
        if path is not None and os.access(path.absolute().parent, os.W_OK):
            checked.damage += unlocked(path)
    return checked


def check_content(tx: ReadTransaction, made: Written | None, progress: Progress | None = None) -> Checked:
    """Check all rows of a database, or only the runs and labels that a transaction has made."""
    checked = Checked(tx.damage() if made is None else [])
    contents = _Contents(tx, checked, made)
    if made is None and not checked.damage:
        contents.look_at_rows()
    contents.look(progress)
    return checked


class _Contents:
    """The content of runs and labels, read once and compared with digests, counts and results."""

    def __init__(self, tx: ReadTransaction, checked: Checked, made: Written | None) -> None:
        self._tx = tx
        self._checked = checked
        self._made = made
        self._without_items = tx.runs.without("items")
        self._label_sets: dict[int, LabelSetRecord] = {}
        self._sources: dict[int, Callable[[], KnownLabels]] = {}

    def look_at_rows(self) -> None:
        """Hold every row against the rules for its table."""
        rules = Rules(self._tx)
        for name, columns in COLUMNS.items():
            keys = [column for column, of in columns.items() if of.primary_key]
            for row in (row for rows in self._tx.copies.rows(name) for row in rows):
                told = rules.broken(name, row)
                if told is not None:
                    where = ", ".join(f"{key} {row[key]!r}" for key in keys)
                    self._checked.damage.append(f"{name}: the row with {where} {told}")

    def look(self, progress: Progress | None) -> None:
        """Compare everything and record the damage."""
        every = self._tx.runs.without_facts()
        runs = [run for run in every if self._made is None or run.id in self._made.runs]
        for dataset in self._tx.datasets.all():
            self._look_at(dataset, [run for run in runs if run.dataset_id == dataset.id], progress, len(runs))

    def _look_at(self, dataset: DatasetRecord, runs: list[RunRecord], progress: Progress | None, n_runs: int) -> None:
        for label_set in self._tx.labels.sets(dataset.id, None):
            self._label_sets[label_set.id] = label_set
            if self._made is not None and label_set.id not in self._made.label_sets:
                continue
            self._tell(f"labels version {label_set.version} of dataset {dataset.name!r}", self._of_labels(label_set))
        weights = stored_weights(self._tx, dataset.id)
        if weights is not None:  # what is stored is checked, whatever it is
            weights = replace(weights, unweighted=Unweighted(default=weights.unweighted.weight))
        for run in runs:
            self._tell(f"run {run.name!r} of dataset {dataset.name!r}", self._of_run(run, weights))
            self._checked.n_runs += 1
            if progress is not None:
                progress(self._checked.n_runs, n_runs)
        self._sources.clear()

    def _tell(self, where: str, lines: Iterator[str]) -> None:
        try:
            self._checked.damage += [f"{where}: {line}" for line in lines]
        except _UNREADABLE as error:
            reason = " ".join(str(error).split())[:_SHOWN]
            self._checked.damage.append(
                f"{where}: the stored content cannot be read ({type(error).__name__}: {reason})"
            )

    def _of_labels(self, label_set: LabelSetRecord) -> Iterator[str]:
        if label_set.judge == SUMMED_JUDGE:
            return  # only its digest is stored
        lists = self._tx.labels.lists(label_set.id)
        if lists.has_duplicates() or lists.digest() != label_set.digest:
            yield "its labels do not match its digest"
        if (lists.n_groups, lists.n_items) != (label_set.n_groups, label_set.n_labels):
            counts = f"{label_set.n_labels} in {label_set.n_groups}"
            yield f"it has {lists.n_items} labels in {lists.n_groups} groups, but says {counts}"

    def _of_run(self, run: RunRecord, weights: GroupWeights | None) -> Iterator[str]:
        is_whole = run.id not in self._without_items
        evaluations = self._tx.evaluations.of_run(run.id)
        self._checked.n_evaluations += len(evaluations)
        to_compute: dict[int, list[tuple[EvaluationRecord, Metric]]] = defaultdict(list)
        for evaluation in evaluations:
            metric = parse_metric(evaluation.metric)
            yield from _shown_as(evaluation, metric)
            if is_whole and can_be_computed(metric, self._label_sets[evaluation.label_set_id]):
                to_compute[evaluation.label_set_id].append((evaluation, metric))
            else:
                yield from self._of_results(evaluation, metric)
        if not is_whole:
            return
        scores = {
            key: Scores([metric for _, metric in evaluated], run.groups_share) for key, evaluated in to_compute.items()
        }
        labels = {key: self._labels(key) for key in scores}
        digests, n_groups, n_items = [], 0, 0
        for ranking in self._tx.runs.ranking_blocks(run):
            if not is_descending(ranking.scores, ranking.offsets):
                yield "the scores of some list rise, but in a ranking they fall"
                return
            if ranking.has_duplicates():
                yield "some list has an item twice"
            digests.append(ranking.digest())
            n_groups, n_items = n_groups + ranking.n_groups, n_items + ranking.n_items
            for key, of_set in scores.items():
                of_set.add(judged(ranking, labels[key].of(ranking.group_keys)))
        if joined_digest(digests) != run.digest:
            yield "its items do not match its digest"
        if (n_groups, n_items) != (run.n_groups, run.n_items):
            yield f"it has {n_items} items in {n_groups} groups, but says {run.n_items} in {run.n_groups}"
        for key, of_set in scores.items():
            of_set.add_missing(labels[key].rest())
            yield from self._of_scores(run, of_set, to_compute[key], weights)

    def _labels(self, label_set_id: int) -> KnownLabels:
        if label_set_id not in self._sources:
            self._sources[label_set_id] = label_source(self._tx, self._label_sets[label_set_id])
        return self._sources[label_set_id]()

    def _of_scores(
        self,
        run: RunRecord,
        scores: Scores,
        evaluations: list[tuple[EvaluationRecord, Metric]],
        weights: GroupWeights | None,
    ) -> Iterator[str]:
        """Yield in words where the stored results under one label set differ from those of the items."""
        keys = next(scores.groups())[0].group_keys
        ids = self._tx.groups.ids(run.dataset_id, keys)
        computed = zip(scores.groups(), scores.results(weights), strict=True)
        for (evaluation, metric), (groups, (_, bounds)) in zip(evaluations, computed, strict=True):
            results = self._tx.evaluations.results(evaluation.id, components=True)
            places = np.minimum(np.searchsorted(results.group_ids, ids), max(results.group_ids.size - 1, 0))
            there = results.group_ids[places] == ids if results.group_ids.size else np.zeros(ids.size, dtype=np.bool_)
            told = verdict(evaluation, results, np.where(there, places, -1), groups, bounds, weights)
            self._checked.n_computed += not told.rests_on_weights
            self._checked.n_results += results.values.size
            if told.difference is not None:
                yield f"{_named(evaluation)}: {difference_text(told.difference)}"
            yield from _of_std_dev(evaluation, metric, results.values)
        shares = scores.coverage()
        for share in self._tx.evaluations.coverages(run.id, evaluations[0][0].label_set_id):
            if share.cutoff in shares and not are_close(share.judged_share, shares[share.cutoff], SHARES_AGREE):
                difference = Deviation("judged_share", share.judged_share, shares[share.cutoff])
                where = "the whole lists" if share.cutoff is None else f"the top {share.cutoff}"
                yield f"{where}: {difference_text(difference)}"

    def _of_results(self, evaluation: EvaluationRecord, metric: Metric) -> Iterator[str]:
        """Yield in words where results that cannot be recomputed contradict themselves."""
        _, values = self._tx.evaluations.results_of([evaluation.id])[0]
        difference = difference_of_means(metric, evaluation, values)
        if difference is not None:
            yield f"{_named(evaluation)}: {difference_text(difference, OF_GROUPS)}"
        if values.size:
            yield from _of_std_dev(evaluation, metric, values)


def _named(evaluation: EvaluationRecord) -> str:
    return f"{evaluation.metric} under labels version {evaluation.label_set_version}"


def _shown_as(evaluation: EvaluationRecord, metric: Metric) -> Iterator[str]:
    """Yield in words where an evaluation is shown by the name of another metric."""
    try:
        shown = parse_metric(evaluation.requested_as)
    except NdcgTrackerError:
        return  # older programs knew other names
    if shown.measure != metric.measure:
        yield f"{_named(evaluation)}: it is shown as {evaluation.requested_as!r}, which is another measure"


def _of_std_dev(evaluation: EvaluationRecord, metric: Metric, values: Floats) -> Iterator[str]:
    computed = sample_std_dev(values[~np.isnan(values)])
    if not are_close(evaluation.std_dev, computed, tolerance_of(metric)):
        difference = Deviation("std_dev", evaluation.std_dev, computed)
        yield f"{_named(evaluation)}: {difference_text(difference, OF_GROUPS)}"
