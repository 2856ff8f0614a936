"""What the pages of ``ui`` show besides comparisons: datasets, runs, one group over time, coverage, decisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.asked import DEFAULT_METRIC
from ndcg_tracker.compare.arms import without_checkpoints
from ndcg_tracker.compare.estimate import adjusted, estimate
from ndcg_tracker.compare.gather_results import limits_of_delta
from ndcg_tracker.compare.pair import pair, places_of_ids
from ndcg_tracker.compare.results import Estimate
from ndcg_tracker.compare.sample import Sample
from ndcg_tracker.compare.say_tables import is_judged
from ndcg_tracker.compare.shares import weights_for
from ndcg_tracker.errors import InputError, ReferenceNotFoundError
from ndcg_tracker.metrics.kernel.mean import mean_within
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.history.gather import judged_shares_of, stored_interval
from ndcg_tracker.runs.groups import texts_of
from ndcg_tracker.runs.judges import judges_of
from ndcg_tracker.words.verdicts import Mark, mark_of

if TYPE_CHECKING:
    from ndcg_tracker.metrics.language.metric import Metric
    from ndcg_tracker.rankings import Floats, Index
    from ndcg_tracker.storage.records import (
        DatasetCounts,
        DatasetRecord,
        GroupValueRecord,
        GroupWeightsById,
        HistoryRecord,
        MetricUse,
        RunRecord,
    )
    from ndcg_tracker.storage.store import ReadTransaction
    from ndcg_tracker.words.texts import Text

MOST_VALUES = 30
"""An attribute with more values is not offered as a choice."""
Means = Sequence[float | None]
"""The mean of each run, oldest first."""


@dataclass(frozen=True, slots=True)
class DatasetOverview:
    """A dataset, its counts, and its usual metric over its runs; ``metric``: None if no run has one.

    ``versions``: of the labels of each mean.
    """

    dataset: DatasetRecord
    counts: DatasetCounts
    metric: MetricUse | None
    means: Means
    versions: Sequence[int]
    newest_utc: str | None


@dataclass(frozen=True, slots=True)
class RunOverview:
    """A run, its aliases, its mean under its latest labels, and the judged share of its first ranks.

    ``ci``: the 95% interval of the mean, None if no interval applies. ``groups``: how many groups are in the mean.
    """

    run: RunRecord
    mean: float | None
    label_set_version: int | None
    aliases: Sequence[str]
    judged: float | None = None
    ci: tuple[float, float] | None = None
    groups: GroupsCounted | None = None


@dataclass(frozen=True, slots=True)
class GroupsCounted:
    """How many groups are in a mean, out of how many; the others have no value under its labels."""

    n: int
    n_all: int

    @classmethod
    def of(cls, record: HistoryRecord) -> GroupsCounted:
        """Return the groups of an evaluation."""
        return cls(record.n_groups, record.n_groups + record.n_undefined)

    @property
    def words(self) -> str:
        """The two counts in words, "" if the mean has all groups."""
        return f"{self.n:,} of {self.n_all:,} groups" if self.n < self.n_all else ""


def datasets_overview(tx: ReadTransaction) -> list[DatasetOverview]:
    """Return all datasets, the most recently changed first."""
    counts = tx.datasets.counts()
    overviews = []
    for dataset in tx.datasets.all():
        judge = shown_judge(tx, dataset)
        metric = usual_metric(tx.evaluations.metrics(dataset.id, judge))
        records = [] if metric is None else tx.evaluations.history(dataset.id, metric.metric, judge=judge)
        kept = {run.id for run in without_checkpoints(tx.runs.all(dataset.name))[0]}
        latest = {of.run_id: of for of in records if of.run_id in kept}.values()  # the latest labels come last
        means, versions = [one.mean for one in latest], [one.label_set_version for one in latest]
        newest = max((record.created_at_utc for record in records), default=None)
        overviews.append(DatasetOverview(dataset, counts[dataset.id], metric, means, versions, newest))
    return sorted(overviews, key=lambda overview: overview.newest_utc or "", reverse=True)


def shown_judge(tx: ReadTransaction, dataset: DatasetRecord) -> str:
    """Return the judge whose labels pages show: the unnamed judge, or else the judge of the latest labels."""
    judges = judges_of(tx, dataset.id)
    if "" in judges or not judges:
        return ""
    return [label_set.judge for label_set in tx.labels.sets(dataset.id, None) if label_set.judge in judges][-1]


def usual_metric(metrics: Sequence[MetricUse], wanted: str | None = None) -> MetricUse | None:
    """Return the requested metric, else ndcg@10, else the metric that most runs have; None if there is none.

    Raises: ReferenceNotFoundError for a requested metric that no run has.
    """
    if wanted is not None:
        for use in metrics:
            if use.metric == wanted:
                return use
        raise ReferenceNotFoundError(f"no run of this dataset has the metric {wanted!r}")
    return max(metrics, key=lambda use: (use.metric == DEFAULT_METRIC, use.n_runs), default=None)


def runs_overview(
    tx: ReadTransaction, dataset: DatasetRecord, metric: MetricUse | None, records: Sequence[HistoryRecord]
) -> list[RunOverview]:
    """Return the runs of a dataset, oldest first; ``records``: of the metric, the latest labels of a run last."""
    of_run = {record.run_id: record for record in records}
    aliases: dict[int, list[str]] = {}
    for alias in tx.aliases.all(dataset.name):
        aliases.setdefault(alias.run_id, []).append(alias.name)
    parsed = None if metric is None else parse_metric(metric.metric)
    shares = {} if parsed is None else judged_shares_of(tx, list(of_run.values()), parsed)
    overviews = []
    for run in tx.runs.all(dataset.name):
        record, named = of_run.get(run.id), aliases.get(run.id, ())
        if record is None or parsed is None:
            overviews.append(RunOverview(run, None, None, named))
            continue
        ci = stored_interval(record, parsed)
        judged, groups = shares.get(run.id), GroupsCounted.of(record)
        overviews.append(RunOverview(run, record.mean, record.label_set_version, named, judged, ci, groups))
    return overviews


@dataclass(frozen=True, slots=True)
class Against:
    """The difference between a run and a baseline; ``why``: why there is none, else "".

    ``found``: what a t-test says of it, with Holm's correction for all runs against the baseline; None without a test.
    """

    delta: float | None = None
    why: str = ""
    found: Estimate | None = None

    @property
    def mark(self) -> Mark:
        """The mark of the difference, none without a test."""
        return mark_of(self.found.verdict if self.found is not None and is_judged(self.found) else None)


def against_baseline(
    tx: ReadTransaction,
    dataset: DatasetRecord,
    text: str,
    records: Sequence[HistoryRecord],
    run_ids: Sequence[int],
    baseline_id: int,
) -> dict[int, Against]:
    """Return the paired difference of some runs to a baseline, under the latest labels that both have, as compare does.

    ``text``: the metric of ``records``, which are of all runs. A metric that is shown only has no difference.
    """
    metric = parse_metric(text)
    if metric.shown_only is not None or metric.summary != "mean":
        return {}
    under: dict[int, dict[int, HistoryRecord]] = {}
    for record in records:  # the latest labels of a run come last
        under.setdefault(record.run_id, {})[record.label_set_id] = record
    of_baseline = under.get(baseline_id, {})
    against: dict[int, Against] = {}
    shared: dict[int, tuple[HistoryRecord, HistoryRecord]] = {}
    for run_id in run_ids if of_baseline else ():
        both = [(of_baseline[key], record) for key, record in under.get(run_id, {}).items() if key in of_baseline]
        if run_id == baseline_id or run_id not in under:
            continue
        against[run_id] = Against(why="under other labels")
        if both and (metric.is_external or both[-1][0].sample == both[-1][1].sample):
            shared[run_id] = both[-1]
        elif both:
            against[run_id] = Against(why="ranks different items")
    ids = list(dict.fromkeys(record.evaluation_id for both in shared.values() for record in both))
    results = dict(zip(ids, tx.evaluations.results_of(ids), strict=True))
    weights = weights_for(tx, dataset.id, metric)
    for run_id, (base, record) in shared.items():
        of_groups = results[base.evaluation_id], results[record.evaluation_id]
        against[run_id] = _paired(metric, (base, record), of_groups, weights)
    tested = {run_id: of.found for run_id, of in against.items() if of.found is not None}
    together = zip(tested, adjusted(list(tested.values())), strict=True)
    return against | {run_id: replace(against[run_id], found=found) for run_id, found in together}


def _paired(
    metric: Metric,
    records: tuple[HistoryRecord, HistoryRecord],
    results: tuple[tuple[Index, Floats], tuple[Index, Floats]],
    weights_of: GroupWeightsById | None,
) -> Against:
    """Return the difference between a run and a baseline, which comes first, without an interval if no test applies."""
    if not all(ids.size for ids, _ in results):
        return Against(why="no results of groups are stored")
    try:
        pairing = pair(*results[0], *results[1])
    except InputError:
        return Against(why="of other groups")
    weights = None if weights_of is None else weights_of.weights_of(pairing.group_ids)
    counts = np.ones(pairing.group_ids.size, np.bool_) if weights is None else weights > 0
    limits = limits_of_delta(metric, (pairing.baseline, pairing.candidate))
    counted = None if weights is None else weights[counts]
    found = estimate(Sample(pairing.delta[counts], metric.direction, weights=counted, limits=limits))
    base, own = (record.mean for record in records)
    if found.delta is None or base is None or own is None:
        return Against(why="no group counts")
    if abs(own - base - found.delta) > 2 * mean_within(metric):  # the means do not come from these groups
        return Against(own - base)
    return Against(found.delta, found=found)


def group_over_time(
    tx: ReadTransaction, dataset: DatasetRecord, metric: str, group: int, judge: str, version: int | None = None
) -> list[GroupValueRecord]:
    """Return a group in every run that has a metric, oldest first, each under its latest labels of a judge.

    ``version``: a version of the labels instead of the latest; results of other engines have no version.
    """
    records, is_external = tx.evaluations.of_group(dataset.id, metric, group, judge), parse_metric(metric).is_external
    named = [record for record in records if is_external or version in (None, record.label_set_version)]
    return list({record.run_id: record for record in named}.values())


@dataclass(frozen=True, slots=True)
class SomeGroup:
    """A group as a list of groups shows it: attributes, value in a run and query, None if there is none."""

    key: str
    attributes: Mapping[str, object]
    value: float | None
    query: Text | None = None


@dataclass(frozen=True, slots=True)
class ListedGroups:
    """Some groups of a dataset out of ``total`` matching groups; ``attributes``: the existing values."""

    groups: Sequence[SomeGroup]
    total: int
    attributes: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class GroupsAsked:
    """The requested groups: those whose key or query contains ``text`` and that have all attributes ``where``.

    ``order``: by the values of a run, "worst" or "best" first; "group": the order of the database. ``is_in_run``: only
    groups that the run has.
    """

    text: str = ""
    where: Sequence[str] = ()
    order: str = "group"
    is_in_run: bool = False


def groups_listed(
    tx: ReadTransaction,
    dataset: DatasetRecord,
    evaluation_id: int | None,
    asked: GroupsAsked,
    n: int,
    first: int,
    sign: float = 1.0,
) -> ListedGroups:
    """Return ``n`` groups of those that are asked for, from number ``first``, with their values in one evaluation.

    ``evaluation_id``: None where no run has any. ``first``: a multiple of ``n``; after the last group, the last ones
    are returned. ``sign``: -1 where low values are better.
    """
    ids, keys = tx.groups.all(dataset.id)
    attributes = tx.groups.attributes(dataset.id)
    is_wanted = np.ones(ids.size, np.bool_)
    if asked.text:
        containing = [number for number, _ in tx.groups.containing(dataset.id, asked.text, ids.size)]
        is_wanted &= np.isin(ids, np.array(containing, dtype=np.int64))
    for wanted in asked.where:
        having = [
            number
            for number, of in attributes.items()
            if any(f"{name}={value}" == wanted for name, value in of.items())
        ]
        is_wanted &= np.isin(ids, np.array(having, dtype=np.int64))
    values = np.full(ids.size, np.nan)
    if evaluation_id is not None:
        with_values, of_run = tx.evaluations.results_of([evaluation_id])[0]
        at = places_of_ids(with_values, ids)
        values[at >= 0] = of_run[at[at >= 0]]
        is_wanted &= (at >= 0) | (not asked.is_in_run)
    places = np.flatnonzero(is_wanted)
    if asked.order != "group":
        of_some = sign * values[places]
        places = places[np.argsort(of_some if asked.order == "worst" else -of_some, kind="stable")]  # NaN comes last
    first = min(first, max(0, (places.size - 1) // n * n))
    shown = places[first : first + n]
    texts = texts_of(tx, dataset.id, {}, ids[shown].tolist())
    groups = [
        SomeGroup(
            key,
            attributes.get(number) or {},
            None if np.isnan(value) else float(value),
            texts[number].query if number in texts else None,
        )
        for number, key, value in zip(ids[shown].tolist(), keys.take(shown).to_list(), values[shown], strict=True)
    ]
    return ListedGroups(groups, int(places.size), _attribute_values(attributes))


def _attribute_values(attributes: Mapping[int, Mapping[str, object]]) -> dict[str, list[str]]:
    """Return the values of each attribute that some groups share, in their order."""
    counts: dict[str, Counter[str]] = {}
    for of_group in attributes.values():
        for name, value in of_group.items():
            counts.setdefault(name, Counter())[str(value)] += 1
    return {name: sorted(of) for name, of in counts.items() if len(of) <= MOST_VALUES}
