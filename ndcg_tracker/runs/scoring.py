"""Compute the metrics of a run from its items and labels, at once or block by block, and store them per group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.concurrency import mapped
from ndcg_tracker.errors import ConflictError, MetricError
from ndcg_tracker.metrics.kernel.mean import REASONS, GroupResults, GroupValues, aggregated, plain_mean
from ndcg_tracker.metrics.kernel.values import values_with_bounds
from ndcg_tracker.metrics.language.axes import AXIS_OF
from ndcg_tracker.metrics.language.dialects import dialect_of
from ndcg_tracker.metrics.language.measures import EXTERNAL
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.metrics.unjudged_bounds import judged_shares
from ndcg_tracker.rankings.groups_share import in_share
from ndcg_tracker.rankings.join import JudgedRanking, judged
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import NO_ITEMS, GroupWeights, LabelLists, Run
from ndcg_tracker.runs.labels import label_source
from ndcg_tracker.runs.spelling import Spelling
from ndcg_tracker.words.notes import Fact, Note
from ndcg_tracker.words.texts import counted

if TYPE_CHECKING:
    from ndcg_tracker.rankings import Floats, Index
    from ndcg_tracker.runs.labels import KnownLabels, OrderedLabels
    from ndcg_tracker.storage.records import DatasetRecord, EvaluationRecord, LabelSetRecord, RunRecord
    from ndcg_tracker.storage.store import ReadTransaction, WriteTransaction


TieBounds = tuple[float | None, float | None]
"""A mean with every tie broken in the worst way, and in the best."""
_FIRST_GROUPS = 64
_FEWEST_LISTS = 5
_COLUMNS = ("values", "dcg", "ideal_dcg", "reasons", "empty", "n_items", "labelled")


@dataclass(frozen=True, slots=True)
class StoredMetric:
    """One metric of a run: its mean and its counts; ``is_new``: computed and stored just now.

    ``requested_as``: the text by which it was first requested.
    """

    metric: str
    mean: float | None
    n_groups: int
    n_missing: int
    n_undefined: int
    is_new: bool
    requested_as: str

    def __str__(self) -> str:
        missing = f", {self.n_missing:,} of them missing from the run" if self.n_missing else ""
        mean = "-" if self.mean is None else format(self.mean, ".4f")
        return f"{self.requested_as} {mean} over {counted(self.n_groups, 'group')}{missing}"


def stored_metric(
    results: GroupResults | EvaluationRecord, metric: str, requested_as: str, *, is_new: bool
) -> StoredMetric:
    """Return a metric with the mean and the counts of its results."""
    counts = results.n_groups, results.n_missing, results.n_undefined
    return StoredMetric(metric, results.mean, *counts, is_new=is_new, requested_as=requested_as)


class StoredMetrics(tuple[StoredMetric, ...]):
    """The metrics of a run in the requested order, each also by its text, canonical or as a tool writes it.

    >>> metrics = StoredMetrics([StoredMetric("ndcg@10", 0.5, 2, 0, 0, is_new=True, requested_as="ndcg_cut_10")])
    >>> metrics[0].mean, metrics["ndcg@10"].mean, metrics["ndcg_cut_10"].mean, metrics["ndcg(gain=linear)@10"].mean
    (0.5, 0.5, 0.5, 0.5)
    >>> metrics.keys(), "AP" in metrics, metrics.get("AP")
    (('ndcg_cut_10',), False, None)
    """

    __slots__ = ()

    @overload
    def __getitem__(self, place: SupportsIndex | str, /) -> StoredMetric: ...

    @overload
    def __getitem__(self, place: slice, /) -> tuple[StoredMetric, ...]: ...

    def __getitem__(self, place: SupportsIndex | str | slice, /) -> StoredMetric | tuple[StoredMetric, ...]:
        """Return a metric by its number or its text (KeyError for one that was not requested), or those of a slice."""
        if not isinstance(place, str):
            return super().__getitem__(place)
        metric = self.get(place)
        if metric is None:
            raise KeyError(f"metric {place!r} was not computed; the computed metrics are {', '.join(self.keys())}")
        return metric

    def __contains__(self, metric: object) -> bool:
        """Return whether a metric, or one with this text, was requested."""
        return super().__contains__(metric) if not isinstance(metric, str) else self.get(metric) is not None

    def keys(self) -> tuple[str, ...]:
        """Return the texts by which the metrics were first requested."""
        return tuple(metric.requested_as for metric in self)

    def get(self, text: str) -> StoredMetric | None:
        """Return the metric of a text, None for one that was not requested."""
        texts = {text, EXTERNAL + text}
        with suppress(MetricError):
            texts.add(str(parse_metric(text)))
        return next((metric for metric in self if not texts.isdisjoint((metric.metric, metric.requested_as))), None)


class GatheredValues:
    """The values of some metrics, part by part; every group is in one part."""

    def __init__(self) -> None:
        self.parts: list[list[GroupValues]] = []

    def add(self, values: list[GroupValues]) -> None:
        """Add the values of some groups, one entry per metric, always in the same order of metrics."""
        self.parts.append(values)

    def results(self, weights: GroupWeights | None, order: Index | None = None) -> list[GroupResults]:
        """Return the results over all groups; ``order``: the group at each place."""
        joined = _Joined(self, order)
        return [aggregated(joined.of_metric(number), weights) for number in range(len(self.parts[0]))]

    def order(self, places: Callable[[Keys], Index]) -> Index | None:
        """Return the group at each place of a run that is scored at once, None for the order in which they came.

        ``places``: the number of each group in the order of the labels; groups without labels come last.
        """
        if len(self.parts) == 1:
            return None
        keys = Keys.joined([part[0].group_keys for part in self.parts])
        labelled = np.concatenate([part[0].labelled for part in self.parts])
        order = np.lexsort((places(keys), ~labelled))
        return None if (np.diff(order) == 1).all() else order


class _Joined:
    """The parts of several metrics over the same groups, joined; columns that metrics share are joined once."""

    def __init__(self, first: GatheredValues, order: Index | None) -> None:
        self._parts = first.parts
        self._order = order
        keys = [part[0].group_keys for part in first.parts]
        joined = keys[0] if len(keys) == 1 else Keys.joined(keys)
        self._keys = joined if order is None else joined.take(order)
        self._joined: dict[tuple[int, ...], NDArray[Any]] = {}

    def of_metric(self, number: int, gathered: GatheredValues | None = None) -> GroupValues:
        """Return the values of a metric, or ``gathered`` values of the same groups if they are given."""
        parts = [part[number] for part in (self._parts if gathered is None else gathered.parts)]
        if len(parts) == 1 and self._order is None:
            return parts[0]
        return GroupValues(parts[0].metric, self._keys, *(self._column(parts, name) for name in _COLUMNS))

    def _column(self, parts: list[GroupValues], name: str) -> NDArray[Any]:
        columns = [getattr(part, name) for part in parts]
        key = tuple(map(id, columns))
        if key not in self._joined:
            joined = np.concatenate(columns)
            self._joined[key] = joined if self._order is None else joined[self._order]
        return self._joined[key]


def n_unordered(run: Run) -> int | None:
    """Return how many lists have more than one item, None if two scores of a list differ.

    >>> from ndcg_tracker.rankings.ranking import Ranking
    >>> lists = Keys.from_strings("q"), np.array([0, 2]), Keys.from_strings("ab")
    >>> n_unordered(Ranking(*lists, np.array([1.0, 1.0]))), n_unordered(Ranking(*lists, np.array([2.0, 1.0])))
    (1, None)
    """
    offsets, scores = run.offsets, run.scores
    for last in (min(_FIRST_GROUPS, run.n_groups), run.n_groups):  # the first groups usually decide
        part = scores[: offsets[last]]
        differs = part[1:] != part[:-1]
        differs[offsets[1:last] - 1] = False
        if differs.any():
            return None
    return int((np.diff(offsets) > 1).sum())


def meeting_notes(
    n_missing: int, n_labelled: int, n_unlabelled: int, n_of_run: int, *, metrics: Sequence[Metric] = ()
) -> list[Note]:
    """Return a note if a tenth or more of the labels' groups are not in the run, but not all.

    If a tenth or more of the run's groups have no labels either, ids may be written differently. ``metrics``: the note
    names the first that counts missing groups.

    >>> meeting_notes(59, 120, 61, 122)
    [Note(kind='some_groups_missing', facts={'n_missing': 59, 'n_labelled': 120, 'n_unlabelled': 61}, command=())]
    >>> meeting_notes(59, 120, 0, 61, metrics=[parse_metric("map")])[0].facts
    {'n_missing': 59, 'n_labelled': 120, 'metric': 'map', 'skipping': 'AP(missing=skip)'}
    >>> meeting_notes(11, 120, 0, 109, metrics=[parse_metric("map")]), meeting_notes(120, 120, 122, 122)
    ([], [])
    """
    if n_missing == n_labelled or n_missing < max(_FEWEST_LISTS, n_labelled / 10):
        return []
    more: dict[str, Fact] = {}
    if n_unlabelled >= max(_FEWEST_LISTS, n_of_run / 10):
        more["n_unlabelled"] = n_unlabelled
    counting = next((metric for metric in metrics if metric.counts_missing), None)
    if counting is not None:
        more |= {"metric": counting.requested_as, "skipping": str(counting.with_axes(missing="skip"))}
    return [Note("some_groups_missing", {"n_missing": n_missing, "n_labelled": n_labelled} | more)] if more else []


def below_rel_notes(metrics: Iterable[Metric], highest: float) -> list[Note]:
    """Return a note if labels mark relevant items, but none reaches the grade from which a metric counts.

    This happens with watched shares of a video: recall is 0 for every run. ``highest``: the highest grade.

    >>> below_rel_notes([parse_metric("ndcg@5"), parse_metric("R@5")], 0.87)[0].facts
    {'metric': 'R@5', 'rel': '1', 'highest': 0.87, 'counting': 'R(rel=0.1)@5'}
    >>> below_rel_notes([parse_metric("R@5")], 1.0), below_rel_notes([parse_metric("R@5")], 0.0)
    ([], [])
    """
    of_rel = (one for one in metrics if one.measure in AXIS_OF["rel"].measures and one["rel"] != "any")
    below = next((metric for metric in of_rel if 0 < highest < metric.least_relevant), None)
    if below is None:
        return []
    counting = str(below.with_axes(rel="0.1" if highest >= 0.1 else repr(highest)))
    facts: dict[str, Fact] = {
        "metric": below.requested_as,
        "rel": below["rel"],
        "highest": highest,
        "counting": counting,
    }
    return [Note("below_rel", facts)]


def above_highest_notes(metrics: Iterable[Metric], highest: float) -> list[Note]:
    """Return a note if a label is above the highest that a metric knows, so that its chances pass 1.

    ``highest``: the highest grade.

    >>> above_highest_notes([parse_metric("R@5"), parse_metric("ERR@5")], 9.0)[0].facts
    {'metric': 'ERR@5', 'known': '4', 'highest': 9.0, 'counting': 'ERR(highest=9)@5'}
    """
    for metric in (one for one in metrics if one.measure in AXIS_OF["highest"].measures):
        if highest > float(metric["highest"]):
            facts: dict[str, Fact] = {"metric": metric.requested_as, "known": metric["highest"], "highest": highest}
            return [Note("above_highest", facts | {"counting": str(metric.with_axes(highest=f"{highest:g}"))})]
    return []


def depends_on_sort(own: GroupValues, worst: GroupValues, best: GroupValues, from_items: int) -> NDArray[np.bool_]:
    """Return the groups whose value depends on a sort that is unstable from a number of items on.

    Parameters: the values, and those with every tie broken in the worst and in the best way.
    """
    return np.asarray((own.n_items >= from_items) & (worst.values < best.values))


def on_unstable_sort(metrics: Iterable[Metric]) -> list[Metric]:
    """Return the metrics that were requested in the dialect of a tool with an unstable sort."""
    return [metric for metric in metrics if (of := dialect_of(metric)) is not None and of.unstable_from is not None]


def n_on_sort(values: Iterable[tuple[GroupValues, GroupValues, GroupValues]]) -> dict[Metric, int]:
    """Return for each metric on an unstable sort in how many groups its value depends on the sort."""
    counts = {}
    for own, worst, best in values:
        of = dialect_of(own.metric)
        if of is not None and of.unstable_from is not None:
            counts[own.metric] = int(depends_on_sort(own, worst, best, of.unstable_from).sum())
    return counts


def unstable_sort_notes(counts: Mapping[Metric, int]) -> list[Note]:
    """Return a note on the metric whose value depends on a tool's unstable sort in most groups (see ``n_on_sort``)."""
    metric = max(counts, key=counts.__getitem__, default=None)
    of = None if metric is None else dialect_of(metric)
    if metric is None or of is None or not counts[metric]:
        return []
    facts: dict[str, Fact] = {
        "tool": of.name,
        "metric": metric.requested_as,
        "from_items": of.unstable_from,
        "n": counts[metric],
    }
    return [Note("unstable_sort", facts)]


def unordered_notes(counts: Iterable[int | None]) -> list[Note]:
    """Return a note if no list of a run has two scores that differ; ``counts``: of its parts (see ``n_unordered``).

    >>> unordered_notes([3, 4]), unordered_notes([3, None])
    ([Note(kind='one_score', facts={}, command=())], [])
    """
    every = list(counts)
    is_told = None not in every and sum(n or 0 for n in every) >= _FEWEST_LISTS
    return [Note("one_score")] if is_told else []


class Scores:
    """The scores of a run under some metrics, gathered part by part: values, their bounds over ties, coverage.

    ``groups_share``: the share of the groups that the run keeps; others are not missing from it.
    """

    def __init__(self, metrics: Sequence[Metric], groups_share: str | None = None) -> None:
        self._metrics = list(metrics)
        self._groups_share = groups_share
        self._shares: dict[int | None, list[Floats]] = {metric.cutoff: [] for metric in self._metrics}
        self.values: GatheredValues = GatheredValues()
        self.worst: GatheredValues = GatheredValues()
        self.best: GatheredValues = GatheredValues()
        self.n_judged: int = 0
        self.spelling = Spelling()
        self.unordered: list[int | None] = []
        self._order: Index | None = None

    def add(self, judged: JudgedRanking) -> None:
        """Score groups that were not scored before."""
        values = values_with_bounds(judged, self._metrics)
        for cutoff, shares in self._shares.items():
            shares.append(judged_shares(judged, cutoff))
        for gathered, number in ((self.values, 0), (self.worst, 1), (self.best, 2)):
            gathered.add([of_metric[number] for of_metric in values])
        self.n_judged += judged.rows.size
        self.spelling.add(Spelling.of(judged))
        self.unordered.append(n_unordered(judged.ranking))

    def add_missing(self, labels: Iterable[LabelLists]) -> None:
        """Score groups that only have labels."""
        for lists in labels:
            if self._groups_share is not None:
                lists = lists.of_groups(np.flatnonzero(in_share(lists.group_keys, self._groups_share)))
            self.add(judged(NO_ITEMS, lists))

    def complete(self, labels: OrderedLabels) -> None:
        """Score the groups that only have labels, and put all groups in the order of a run that is scored at once.

        ``labels``: the labels that all groups were scored under.
        """
        self.add_missing(labels.rest())
        self._order = self.values.order(labels.places)

    def results(self, weights: GroupWeights | None) -> Iterator[tuple[GroupResults, TieBounds]]:
        """Yield per metric the results, and the means with every tie broken in the worst and in the best way.

        The results of the next metrics are computed while one is in use.
        """
        joined = _Joined(self.values, self._order)

        def of_metric(number: int) -> tuple[GroupResults, TieBounds]:
            own = aggregated(joined.of_metric(number), weights)
            worst, best = (
                aggregated(joined.of_metric(number, gathered), weights).mean for gathered in (self.worst, self.best)
            )
            return own, (worst, best)

        return mapped(of_metric, list(range(len(self._metrics))))

    def groups(self, only: Sequence[Metric] | None = None) -> Iterator[tuple[GroupValues, GroupValues, GroupValues]]:
        """Yield per metric the values of all groups, and those with every tie broken in the worst and in the best way.

        ``only``: of which metrics, None for all.
        """
        joined = _Joined(self.values, self._order)
        for number, metric in enumerate(self._metrics):
            if only is not None and metric not in only:
                continue
            worst, best = (joined.of_metric(number, gathered) for gathered in (self.worst, self.best))
            yield joined.of_metric(number), worst, best

    def coverage(self) -> dict[int | None, float]:
        """Return the mean judged share by cutoff, if there is one (see ``judged_shares``)."""
        shares = {cutoff: np.concatenate(parts) for cutoff, parts in self._shares.items() if parts}
        return {cutoff: plain_mean(of_groups) for cutoff, of_groups in shares.items() if of_groups.size}


def stored_scores(tx: ReadTransaction, run: RunRecord, metrics: Sequence[Metric], labels: KnownLabels) -> Scores:
    """Return the scores of a stored run, computed from its stored items a block at a time."""
    scores = Scores(metrics, run.groups_share)
    for items in tx.runs.ranking_blocks(run):
        scores.add(judged(items, labels.of(items.group_keys)))
    scores.complete(labels)
    return scores


def store_scores(
    tx: WriteTransaction,
    run: RunRecord,
    label_set: LabelSetRecord,
    scores: Scores,
    weights: GroupWeights | None,
    only: Sequence[Metric] | None = None,
) -> list[StoredMetric]:
    """Store the scores of a run under a label set, with the result of every group, and return the means.

    ``only``: which metrics to store, None for all.
    """
    cutoffs = {share.cutoff for share in tx.evaluations.coverages(run.id, label_set.id)}
    for cutoff, share in scores.coverage().items():
        if cutoff not in cutoffs:
            tx.write.evaluations.insert_coverage(run.id, label_set.id, cutoff, share)
    stored = []
    group_ids: Index | None = None
    for result, tie_bounds in scores.results(weights):
        if only is not None and result.metric not in only:
            continue
        if group_ids is None:  # all metrics have the same groups
            group_ids = tx.write.groups.ensure(run.dataset_id, result.group_keys)
        metric = stored_metric(result, str(result.metric), result.metric.requested_as, is_new=True)
        tx.write.evaluations.insert(
            run.id,
            label_set.id,
            metric.metric,
            mean=metric.mean,
            tie_bounds=tie_bounds,
            n_groups=metric.n_groups,
            n_missing=metric.n_missing,
            n_undefined=metric.n_undefined,
            group_ids=group_ids,
            **_of_groups(result),
            requested_as=metric.requested_as,
        )
        stored.append(metric)
    return stored


def restore(tx: WriteTransaction, run: RunRecord) -> None:
    """Mark a run as having its items again, and compute its missing group results from them."""
    has_results = "results" in tx.runs.holds(run.id)
    tx.write.runs.restored(run.id, run.digest)
    if has_results:
        return
    for evaluation, result, _ in computed_again(tx, [(run, tx.evaluations.of_run(run.id))], None):
        ids = tx.write.groups.ensure(run.dataset_id, result.group_keys)
        tx.write.evaluations.refill(evaluation.id, group_ids=ids, **_of_groups(result))


def computed_again(
    tx: ReadTransaction, runs: Sequence[tuple[RunRecord, Sequence[EvaluationRecord]]], weights: GroupWeights | None
) -> Iterator[tuple[EvaluationRecord, GroupResults, TieBounds]]:
    """Yield evaluations of runs of a dataset with their results and tie bounds, computed from items and labels."""
    for label_set in tx.labels.sets(runs[0][0].dataset_id, None) if runs else ():
        labels = label_source(tx, label_set)
        for run, evaluations in runs:
            of_set = [evaluation for evaluation in evaluations if evaluation.label_set_id == label_set.id]
            if of_set:
                scores = stored_scores(tx, run, [parse_metric(of.metric) for of in of_set], labels())
                for evaluation, (result, bounds) in zip(of_set, scores.results(weights), strict=True):
                    yield evaluation, result, bounds


def _of_groups(result: GroupResults) -> dict[str, Any]:
    """Return the stored columns of the group results."""
    reasons = [REASONS[code] or None for code in result.reasons.tolist()] if result.reasons.any() else None
    return {"values": result.values, "dcg": result.dcg, "ideal_dcg": result.ideal_dcg, "reasons": reasons}


def settle_weights(tx: WriteTransaction, dataset: DatasetRecord, given: GroupWeights | None) -> GroupWeights | None:
    """Return the weights of a dataset's groups, including those in a run, which are stored.

    Raises: ConflictError for a weight that contradicts the stored one.
    """
    weights = tx.groups.weights(dataset.id)
    if given is not None and not given.varies.any():
        given_ids = tx.write.groups.ensure(dataset.id, given.group_keys)
        stored = dict(zip(weights.ids.tolist(), weights.weights.tolist(), strict=True))
        before = np.array([stored.get(number, np.nan) for number in given_ids.tolist()], dtype=np.float64)
        differs = ~np.isnan(before) & (before != given.values)
        if differs.any():
            at = int(np.argmax(differs))
            raise ConflictError(
                f"group {given.group_keys[at]!r} has the weight {given.values[at]:g} here but {before[at]:g} in "
                f"dataset {dataset.name!r}",
                advice="leave the weight column out, or use another dataset",
            )
        new = np.isnan(before)
        if new.any():
            if tx.keep_creators_out():  # another process may have given some of them weights just now
                return settle_weights(tx, dataset, given)
            tx.write.groups.set_weights(dataset.id, given_ids[new], given.values[new])
    elif given is not None:
        return replace(given, unweighted=weights.unweighted)
    return stored_weights(tx, dataset.id)


def stored_weights(tx: ReadTransaction, dataset_id: int) -> GroupWeights | None:
    """Return the weights of a dataset's groups, None if none has one."""
    weights = tx.groups.weights(dataset_id)
    if not weights.ids.size:
        return None
    varies = np.zeros(weights.ids.size, dtype=np.bool_)
    keys = tx.groups.keys(dataset_id, weights.ids)
    return GroupWeights(keys, weights.weights, varies, unweighted=weights.unweighted)
