"""Metrics of a run: computed from its items and labels, at once or block by block, and stored for every group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.errors import ConflictError
from ndcg_tracker.metrics.judged_share import judged_shares
from ndcg_tracker.metrics.kernel.mean import REASONS, GroupResults, GroupValues, aggregated, joined_values, plain_mean
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.tie_bounds import values_with_bounds
from ndcg_tracker.rankings.join import JudgedRanking, judged
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import LabelLists, Ranking
from ndcg_tracker.rankings.weights import GroupWeights

if TYPE_CHECKING:
    from ndcg_tracker.rankings.types import Floats, Index
    from ndcg_tracker.storage.read import ReadTransaction
    from ndcg_tracker.storage.records import DatasetRecord, LabelSetRecord, RunRecord
    from ndcg_tracker.storage.write import WriteTransaction


NO_ITEMS = Ranking(Keys.from_bytes([]), np.zeros(1, dtype=np.int64), Keys.from_bytes([]), np.empty(0))


@dataclass(frozen=True, slots=True)
class StoredMetric:
    """One metric of a run: its mean and what the mean rests on; ``is_new``: computed and stored just now.

    ``requested_as``: the text that it was first asked for by.
    """

    metric: str
    mean: float | None
    n_groups: int
    n_missing: int
    n_undefined: int
    is_new: bool
    requested_as: str


class GatheredValues:
    """The values of some metrics, part by part; every group is in one part."""

    def __init__(self) -> None:
        self._parts: list[list[GroupValues]] = []

    def add(self, values: list[GroupValues]) -> None:
        """Take the values of some groups, one entry per metric, always in the same order of metrics."""
        self._parts.append(values)

    def results(self, weights: GroupWeights | None, order: Index | None = None) -> list[GroupResults]:
        """Return the results over all groups; ``order``: which group stands at each place."""
        return [aggregated(joined_values(parts, order), weights) for parts in zip(*self._parts, strict=True)]

    def order(self, places: Callable[[Keys], Index]) -> Index | None:
        """Return which group stands at each place of a run that is scored at once, None for the order they came in.

        ``places``: the number of each group in the order of the labels; groups without labels stand last.
        """
        if len(self._parts) == 1:
            return None
        keys = Keys.joined([part[0].group_keys for part in self._parts])
        labelled = np.concatenate([part[0].labelled for part in self._parts])
        return np.lexsort((places(keys), ~labelled))


class Scores:
    """All that is stored of some metrics of a run: values, what they would be if ties fell otherwise, coverage."""

    def __init__(self, metrics: Sequence[Metric]) -> None:
        self._metrics = list(metrics)
        self._shares: dict[int | None, list[Floats]] = {metric.cutoff: [] for metric in self._metrics}
        self.values, self.worst, self.best = GatheredValues(), GatheredValues(), GatheredValues()
        self.any_judged = False
        self._order: Index | None = None

    def add(self, judged: JudgedRanking) -> None:
        """Score groups that were not scored before."""
        for cutoff, shares in self._shares.items():
            shares.append(judged_shares(judged, cutoff))
        found = values_with_bounds(judged, self._metrics)
        for gathered, number in ((self.values, 0), (self.worst, 1), (self.best, 2)):
            gathered.add([of_metric[number] for of_metric in found])
        self.any_judged |= judged.rows.size > 0

    def add_missing(self, labels: Iterable[LabelLists]) -> None:
        """Score groups that have labels alone."""
        for lists in labels:
            self.add(judged(NO_ITEMS, lists))

    def arrange(self, places: Callable[[Keys], Index]) -> None:
        """Put the groups in the order in which they stand where a run is scored at once (see ``GatheredValues``)."""
        self._order = self.values.order(places)

    def results(self, weights: GroupWeights | None) -> list[tuple[GroupResults, GroupResults, GroupResults]]:
        """Return per metric the results, those with every tie broken for the worst, and those for the best."""
        gathered = (self.values, self.worst, self.best)
        return list(zip(*(values.results(weights, self._order) for values in gathered), strict=True))

    def coverage(self) -> dict[int | None, float]:
        """Return the mean judged share by cutoff, where there is one (see ``judged_shares``)."""
        shares = {cutoff: np.concatenate(parts) for cutoff, parts in self._shares.items() if parts}
        return {cutoff: plain_mean(of_groups) for cutoff, of_groups in shares.items() if of_groups.size}


def store_scores(
    tx: WriteTransaction,
    run: RunRecord,
    label_set: LabelSetRecord,
    scores: Scores,
    weights: GroupWeights | None,
) -> list[StoredMetric]:
    """Store what some metrics say of a run under a label set, every group's result included, and return the means."""
    known = {share.cutoff for share in tx.evaluations.coverages(run.id, label_set.id)}
    for cutoff, share in scores.coverage().items():
        if cutoff not in known:
            tx.write.evaluations.insert_coverage(run.id, label_set.id, cutoff, share)
    results = scores.results(weights)
    group_ids = tx.write.groups.ensure(run.dataset_id, results[0][0].group_keys)
    stored = []
    for result, worst, best in results:
        tx.write.evaluations.insert(
            run.id,
            label_set.id,
            str(result.metric),
            mean=result.mean,
            tie_bounds=(worst.mean, best.mean),
            n_groups=result.n_groups,
            n_missing=result.n_missing,
            n_undefined=result.n_undefined,
            group_ids=group_ids,
            values=result.values,
            dcg=result.dcg,
            ideal_dcg=result.ideal_dcg,
            reasons=[REASONS[code] or None for code in result.reasons.tolist()],
            requested_as=result.metric.requested_as,
        )
        stored.append(
            StoredMetric(
                str(result.metric),
                result.mean,
                result.n_groups,
                result.n_missing,
                result.n_undefined,
                is_new=True,
                requested_as=result.metric.requested_as,
            )
        )
    return stored


def settle_weights(tx: WriteTransaction, dataset: DatasetRecord, given: GroupWeights | None) -> GroupWeights | None:
    """Return the weights of a dataset's groups, those that came with a run included and stored.

    Raises: ConflictError for a weight that contradicts the stored one.
    """
    ids, values = tx.groups.weights(dataset.id)
    known = ~np.isnan(values)
    if given is not None and not given.varies.any():
        given_ids = tx.write.groups.ensure(dataset.id, given.group_keys)
        stored = dict(zip(ids[known].tolist(), values[known].tolist(), strict=True))
        before = np.array([stored.get(number, np.nan) for number in given_ids.tolist()], dtype=np.float64)
        differs = ~np.isnan(before) & (before != given.values)
        if differs.any():
            at = int(np.argmax(differs))
            raise ConflictError(
                f"group {given.group_keys[at]!r} has the weight {given.values[at]:g} here and {before[at]:g} in "
                f"dataset {dataset.name!r}",
                advice="leave the weight column out, or use another dataset",
            )
        new = np.isnan(before)
        if new.any():
            tx.write.groups.set_weights(dataset.id, given_ids[new], given.values[new])
    elif given is not None:
        return given
    return stored_weights(tx, dataset.id)


def stored_weights(tx: ReadTransaction, dataset_id: int) -> GroupWeights | None:
    """Return the weights of a dataset's groups, None where none has one."""
    ids, values = tx.groups.weights(dataset_id)
    known = ~np.isnan(values)
    if not known.any():
        return None
    keys = tx.groups.keys(dataset_id, ids[known])
    return GroupWeights(keys, values[known], np.zeros(len(keys), dtype=np.bool_))
