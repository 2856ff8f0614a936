"""Whether results are as good as a baseline on the queries of a golden set, and what that says about other queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import chain
from typing import Literal

import numpy as np

from ndcg_tracker.compare.reach import FIRST, REPLACED, Vanished, is_many
from ndcg_tracker.metrics.kernel.values import group_values
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.check.baseline import Baseline, digest_of, is_mean, rounded
from ndcg_tracker.rankings.join import JudgedRanking, judged
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import LabelLists, Ranking
from ndcg_tracker.statistics.distribution_free import betting_lower_bound
from ndcg_tracker.statistics.small_sets import Kind, Spread, allowed_drop, drop_stopped, typical

Decision = Literal["green", "red", "not_compared", "values"]
"""Whether the drop is within the tolerance; "values" without a baseline."""
Lists = Mapping[str, Sequence[str]]
NO_ANSWER = "no answer"
_KINDS: Mapping[str, Kind] = {"Success": "hit", "RR": "RR", "ndcg": "ndcg"}
_SAME = 1e-9


@dataclass(frozen=True)
class Facts:
    """What was read: the ranked ids of each query, the labels, the queries without an answer, and the baseline.

    ``attributes``: of queries. ``corpus``: the ids that the index has, None if they are not known.
    """

    results: Lists
    labels: LabelLists
    without_answer: Sequence[str]
    baseline: Baseline | None
    attributes: Mapping[str, Mapping[str, str]]
    corpus: Collection[str] | None = None


@dataclass(frozen=True)
class Rules:
    """What decides: the drop of the first metric that is allowed, and whether no query may be worse.

    ``ids_are_stable``: whether items that vanish are gone, not renamed.
    """

    metrics: Sequence[Metric]
    tolerance: float
    is_strict: bool = False
    ids_are_stable: bool = False


@dataclass(frozen=True, slots=True)
class MetricMeans:
    """The means of one metric over the queries that are compared; ``baseline`` and ``delta`` are None without one."""

    metric: str
    baseline: float | None
    candidate: float | None
    delta: float | None


@dataclass(frozen=True, slots=True)
class QueryChange:
    """A query whose value of the first metric changed, and the labelled item that moved most; ranks from 1."""

    query: str
    baseline: float
    candidate: float
    delta: float
    item: str | None
    rank_baseline: int | None
    rank_candidate: int | None


@dataclass(frozen=True, slots=True)
class NoAnswers:
    """How many of the ``n`` queries without an answer return nothing, and of those that the baseline has."""

    n: int
    candidate: int
    n_compared: int
    baseline: int

    @property
    def lost(self) -> int:
        """How many more of them return something than in the baseline."""
        return self.baseline - self.candidate


@dataclass(frozen=True, slots=True)
class GoldenChanges:
    """How the golden set changed since the baseline; ``gone``: queries with the value they had."""

    new: tuple[str, ...]
    gone: tuple[tuple[str, float | None], ...]
    relabelled: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.new or self.gone or self.relabelled)


@dataclass(frozen=True, slots=True)
class OtherIds:
    """Labelled items among the first three of one side that the other never returns.

    ``n``: of ``n_labelled``. ``are_other``: whether their ids were changed. ``n_replaced``: those with a new id in
    their place. ``pairs``: old and new ids. ``is_golden_set``: the golden set has new ids, and the baseline old ones.
    """

    n: int
    n_labelled: int
    are_other: bool
    n_replaced: int | None = None
    pairs: tuple[tuple[str, str], ...] = ()
    is_golden_set: bool = False
    is_part_missing: bool = False


@dataclass(frozen=True)
class Decided:
    """The decision and what it rests on; None or nothing where there is no baseline.

    ``n``: how many queries are compared. ``allowed``: the drop that is allowed. ``is_count``: whether the first metric
    is 0 or 1 for each query. ``drop_up_to``: the 95% bound for other queries. ``stopped``: the drop that a set of this
    size stops 4 times in 5. ``absent``: golden queries that the results lack. ``lost_by``: categories that lost two
    queries or more, net. ``edited``: queries whose values are not those of their lists, None for the header.
    """

    decision: Decision
    n: int
    metrics: tuple[MetricMeans, ...]
    allowed: float
    is_count: bool
    changed: tuple[QueryChange, ...] = ()
    drop_up_to: float | None = None
    stopped: float | None = None
    no_answers: NoAnswers | None = None
    golden: GoldenChanges = GoldenChanges((), (), ())
    other_ids: OtherIds | None = None
    lost_by: tuple[tuple[str, str, int], ...] = ()
    absent: tuple[str, ...] = ()
    edited: tuple[str | None, ...] = ()
    best: float | None = None
    now: Baseline | None = None

    @property
    def worse(self) -> int:
        """How many queries are worse."""
        return sum(change.delta < 0 for change in self.changed)


def default_metrics(labels: LabelLists) -> list[Metric]:
    """Return the metrics of a golden set: ndcg sees grades, and RR does not depend on how many answers are labelled."""
    has_grades = np.unique(labels.grades[labels.grades > 0]).size > 1
    return [parse_metric(text) for text in ("ndcg@10" if has_grades else "RR@10", "hit@5")]


def decided(facts: Facts, rules: Rules, depth: int | None) -> Decided:
    """Return the decision about results; ``depth``: how many items of a list the next baseline keeps."""
    graded, baseline = _graded(facts.labels), facts.baseline
    golden = [*graded, *facts.without_answer]
    results, now_values = _values(facts.results, facts.labels, rules.metrics)
    absent = tuple(query for query in golden if query not in facts.results)
    now = _as_baseline(facts, graded, rules, now_values, depth)
    if baseline is None:
        return _measured(facts, rules, now_values, absent, now)
    edited = _edited(facts, baseline, graded)
    before, then_values = _values(baseline.lists, facts.labels, rules.metrics)
    first, then = now_values[0], then_values[0]
    common = [query for query in graded if query in baseline.lists and query in first and query in then]
    common = [query for query in common if query in facts.results]
    n, delta = len(common), _of(first, common) - _of(then, common)
    means = tuple(
        _means(metric, [of[q] for q in common if q in of], [was[q] for q in common if q in was])
        for metric, of, was in zip(rules.metrics, now_values, then_values, strict=True)
    )
    is_count = is_zero_one(rules.metrics[0], [*_of(first, common), *_of(then, common)])
    allowed = allowed_drop(rules.tolerance, n, is_count=is_count) if n else rules.tolerance
    changed = _changed(common, first, then, baseline.lists, facts.results, graded, rules.metrics)
    no_answers = _no_answers(facts)
    other_ids = _other_ids(facts, rules, graded, before, results)
    lost = bool(n) and float(delta.mean()) < -allowed - _SAME
    is_red = lost or (rules.is_strict and any(delta < -_SAME)) or (no_answers is not None and no_answers.lost > 1)
    stopped_by = Spread.of(delta.tolist(), is_count=is_count)
    changes = _golden_changes(baseline, graded, facts, rules.metrics[0])
    is_bounded = bool(n) and rules.metrics[0].limits == (0.0, 1.0) and stopped_by is not None
    are_other = other_ids is not None and other_ids.are_other
    return Decided(
        "not_compared" if absent or edited or are_other or not n else "red" if is_red else "green",
        n,
        means,
        allowed,
        is_count,
        changed,
        max(0.0, -betting_lower_bound(np.clip(delta, -1, 1))) if is_bounded else None,
        drop_stopped(stopped_by, n, allowed) if stopped_by is not None else None,
        no_answers,
        changes,
        other_ids,
        _lost_by(changed, facts.attributes),
        absent,
        edited,
        None if changes else baseline.best.get(_name(rules.metrics[0])),
        replace(now, best={} if changes else baseline.best, ids_are_stable=rules.ids_are_stable),
    )


def _measured(
    facts: Facts, rules: Rules, values: Sequence[Mapping[str, float]], absent: tuple[str, ...], now: Baseline
) -> Decided:
    """Return what results without a baseline show."""
    first, n = rules.metrics[0], len(values[0])
    is_count = is_zero_one(first, [*values[0].values()])
    allowed = allowed_drop(rules.tolerance, n, is_count=is_count) if n else rules.tolerance
    means = tuple(_means(metric, [*of.values()], None) for metric, of in zip(rules.metrics, values, strict=True))
    usual = typical("hit" if is_count else _KINDS.get(first.measure, "R"))["usual"]
    stopped = drop_stopped(usual, n, allowed) if n else None
    decision: Decision = "not_compared" if absent else "values"
    no_answers = _no_answers(facts)
    now = replace(now, ids_are_stable=rules.ids_are_stable)
    return Decided(
        decision, n, means, allowed, is_count, stopped=stopped, no_answers=no_answers, absent=absent, now=now
    )


def is_zero_one(metric: Metric, values: Iterable[float]) -> bool:
    """Return whether each query has a metric or not, so that a mean may always lose one query."""
    return (metric.measure in ("Success", "R") or metric.cutoff == 1) and {*values} <= {0.0, 1.0}


def _graded(labels: LabelLists) -> dict[str, dict[str, float]]:
    """Return the grades of the items of each labelled query."""
    items, grades, ends = labels.item_keys.to_list(), labels.grades.tolist(), labels.offsets.tolist()
    spans = zip(labels.group_keys.to_list(), ends, ends[1:], strict=False)
    return {query: dict(zip(items[low:high], grades[low:high], strict=True)) for query, low, high in spans}


def _values(
    lists: Lists, labels: LabelLists, metrics: Sequence[Metric]
) -> tuple[JudgedRanking, list[dict[str, float]]]:
    """Return lists with their labels, and the values of metrics for the labelled queries that have one."""
    full = {query: ids for query, ids in lists.items() if ids}
    offsets = np.cumsum([0, *map(len, full.values())])
    items = Keys.from_strings([*chain.from_iterable(full.values())])
    ranking = Ranking(Keys.from_strings([*full]), offsets, items, -np.arange(float(len(items))))
    both, found = judged(ranking, labels), []
    for of in group_values(both, metrics):
        pairs = zip(of.group_keys.to_list(), of.values.tolist(), of.labelled.tolist(), strict=True)
        found.append({query: value for query, value, is_ours in pairs if is_ours and value == value})
    return both, found


def _of(values: Mapping[str, float], queries: Sequence[str]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([values[query] for query in queries])


def _name(metric: Metric) -> str:
    return metric.requested_as or str(metric)


def _means(metric: Metric, now: Sequence[float], then: Sequence[float] | None) -> MetricMeans:
    candidate = float(np.mean(now)) if now else None
    baseline = float(np.mean(then)) if then else None
    delta = None if candidate is None or baseline is None else candidate - baseline
    return MetricMeans(_name(metric), baseline, candidate, delta)


def _changed(
    queries: Sequence[str],
    now: Mapping[str, float],
    then: Mapping[str, float],
    before: Lists,
    after: Lists,
    graded: Mapping[str, Mapping[str, float]],
    metrics: Sequence[Metric],
) -> tuple[QueryChange, ...]:
    """Return the queries whose value changed, the worst first and then the best."""
    least, found = metrics[0].least_relevant, []
    for query in queries:
        delta = now[query] - then[query]
        if abs(delta) <= _SAME:
            continue
        was, is_now = (
            {item: rank for rank, item in enumerate(lists[query], 1) if graded[query].get(item, -1) >= least}
            for lists in (before, after)
        )
        moved = {item: _worth(is_now.get(item)) - _worth(was.get(item)) for item in {**was, **is_now}}
        item = min(moved, key=lambda one: moved[one] if delta < 0 else -moved[one], default=None)
        ranks = (None, None) if item is None else (was.get(item), is_now.get(item))
        found.append(QueryChange(query, then[query], now[query], delta, item, *ranks))
    return tuple(sorted(found, key=lambda one: (one.delta > 0, -abs(one.delta))))


def _worth(rank: int | None) -> float:
    return 0.0 if rank is None else 1 / rank


def _no_answers(facts: Facts) -> NoAnswers | None:
    """Return how the queries without an answer fare, None if there is none."""
    if not facts.without_answer:
        return None
    lists = {} if facts.baseline is None else facts.baseline.lists
    compared = [query for query in facts.without_answer if query in lists]
    counted = facts.without_answer if facts.baseline is None else compared
    n_now = sum(query in facts.results and not facts.results[query] for query in counted)
    return NoAnswers(len(facts.without_answer), n_now, len(compared), sum(not lists[query] for query in compared))


def _golden_changes(
    baseline: Baseline, graded: Mapping[str, Mapping[str, float]], facts: Facts, metric: Metric
) -> GoldenChanges:
    """Return what changed in the golden set since the baseline was written."""
    digests = {query: digest_of(grades) for query, grades in graded.items()}
    digests |= dict.fromkeys(facts.without_answer, digest_of(None))
    old = baseline.digests
    gone = [(query, baseline.values[query].get(_name(metric))) for query in old if query not in digests]
    relabelled = tuple(query for query in digests if query in old and old[query] != digests[query])
    return GoldenChanges(tuple(query for query in digests if query not in old), tuple(gone), relabelled)


def _edited(facts: Facts, baseline: Baseline, graded: Mapping[str, Mapping[str, float]]) -> tuple[str | None, ...]:
    """Return the queries whose values are not those of their lists and labels, None for the header."""
    names = sorted({name for values in baseline.values.values() for name in values if name != NO_ANSWER})
    of = dict(zip(names, _values(baseline.lists, facts.labels, [*map(parse_metric, names)])[1], strict=True))
    edited: list[str | None] = []
    for query, values in baseline.values.items():
        grades = graded.get(query)
        if query in facts.without_answer and NO_ANSWER in values:
            right = {NO_ANSWER: float(not baseline.lists[query])}
        elif grades is None or digest_of(grades) != baseline.digests[query]:
            continue  # scored under labels that are not known any more
        else:
            right = {name: of[name][query] for name in names if query in of[name]}
        if values != rounded(right):
            edited.append(query)
    every = baseline.values.values()
    means = ([values[name] for values in every if name in values] for name in baseline.mean)
    is_header_right = all(map(is_mean, means, baseline.mean.values()))
    return tuple(edited) if is_header_right else (*edited, None)


def _other_ids(
    facts: Facts, rules: Rules, graded: Mapping[str, Mapping[str, float]], before: JudgedRanking, after: JudgedRanking
) -> OtherIds | None:
    """Return the labelled items that vanished from the results; those of the baseline if the golden set has new ids."""
    if facts.corpus is not None and facts.baseline is not None:
        first = {query: ids[:FIRST] for query, ids in facts.baseline.lists.items()}
        had = [item for query, ids in first.items() for item in ids if item in graded.get(query, {})]
        lost = [item for item in had if item not in facts.corpus]
        are_other = is_many(len(lost), len(had)) and not rules.ids_are_stable
        return OtherIds(len(lost), len(had), are_other) if lost else None
    gone, rewritten = Vanished.between(before, after), Vanished.between(after, before)
    is_rewritten = not _is_other(gone) and _is_other(rewritten)
    of = rewritten if is_rewritten else gone
    if not of.n:
        return None
    near = ((old, get_close_matches(old, new, 1, 0) or new[:1]) for old, new in zip(of.ids, of.new, strict=True))
    pairs = tuple((old, new[0]) for old, new in near if new)
    is_part_missing = of.are_many and of.replaced < 1 - REPLACED and not _is_other(of)
    are_other = _is_other(of) and not rules.ids_are_stable
    n_replaced = round(of.replaced * of.n)
    return OtherIds(of.n, of.n_labelled, are_other, n_replaced, pairs, is_rewritten, is_part_missing)


def _is_other(gone: Vanished) -> bool:
    return gone.is_replaced or gone.pattern is not None


def _lost_by(
    changed: Sequence[QueryChange], attributes: Mapping[str, Mapping[str, str]]
) -> tuple[tuple[str, str, int], ...]:
    """Return the categories that lost two queries or more, net, those that lost most first."""
    net: Counter[tuple[str, str]] = Counter()
    for change in changed:
        for pair in attributes.get(change.query, {}).items():
            net[pair] += 1 if change.delta < 0 else -1
    return tuple((*pair, n) for pair, n in net.most_common() if n > 1)


def _as_baseline(
    facts: Facts,
    graded: Mapping[str, Mapping[str, float]],
    rules: Rules,
    values: Sequence[Mapping[str, float]],
    depth: int | None,
) -> Baseline:
    """Return the results as a baseline."""
    names = [*map(_name, rules.metrics)]
    queries = {
        query: rounded({name: of[query] for name, of in zip(names, values, strict=True) if query in of})
        for query in graded
    }
    queries |= {query: {NO_ANSWER: float(not facts.results.get(query))} for query in facts.without_answer}
    digests = {query: digest_of(graded.get(query)) for query in queries}
    lists = {query: facts.results.get(query, ())[:depth] for query in queries}
    mean = {name: float(np.mean([*of.values()])) for name, of in zip(names, values, strict=True) if of}
    return Baseline("", depth, lists, queries, digests, rounded(mean))
