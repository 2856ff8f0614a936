"""Whether results are as good as a baseline on the queries of a golden set, and what that says about other queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import chain
from typing import TYPE_CHECKING, Literal

import numpy as np

from ndcg_tracker.compare.reach import FIRST, REPLACED, Vanished, is_many
from ndcg_tracker.compare.sample import Sample
from ndcg_tracker.metrics.kernel.values import group_values
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.check.baseline import NO_ANSWER, Baseline, digest_of, is_mean, rounded
from ndcg_tracker.rankings import Floats, Mask
from ndcg_tracker.rankings.join import JudgedRanking, judged
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import LabelLists, Ranking
from ndcg_tracker.runs.no_answer import no_answer_values
from ndcg_tracker.statistics.distribution_free import betting_lower_bound
from ndcg_tracker.statistics.small_sets import KIND_OF, Spread, allowed_drop, drop_stopped, typical

if TYPE_CHECKING:
    from ndcg_tracker.questions.gate.decide import Decision as OfOthers

Decision = Literal["green", "red", "open", "not_compared", "values"]
"""Whether the drop is within the tolerance; "open" if only the margin is not shown, "values" without a baseline."""
Lists = Mapping[str, Sequence[str]]
Graded = Mapping[str, Mapping[str, float]]
_SAME = 1e-9


@dataclass(frozen=True)
class Facts:
    """What was read: the ranked ids of each query, the labels, the queries without an answer, and the baseline.

    ``attributes``: of queries. ``corpus``: the ids that the index has, None if they are not known. ``names``: of the
    golden set, the results and the baseline, "" for none. ``read``: what was read, in sentences. ``cutoff``: the
    deepest of the metrics, None for all ranks.
    """

    results: Lists
    labels: LabelLists
    without_answer: Sequence[str]
    baseline: Baseline | None
    attributes: Mapping[str, Mapping[str, str]]
    corpus: Collection[str] | None
    names: tuple[str, str, str]
    read: Sequence[str]
    cutoff: int | None


@dataclass(frozen=True)
class Rules:
    """What decides: the drop of the first metric that is allowed, and whether no query may be worse.

    ``margin``: the drop that is allowed on other queries, None if they do not decide. ``ids_are_stable``: whether items
    that vanish are gone, not renamed. ``depth``: how many items of a list the next baseline keeps, None for all.
    """

    metrics: Sequence[Metric]
    tolerance: float
    strict: bool
    margin: float | None
    ids_are_stable: bool
    depth: int | None


@dataclass(frozen=True, slots=True)
class CheckedMetric:
    """The means of one metric over the queries that are compared; ``baseline`` and ``delta`` are None without one."""

    metric: str
    baseline: float | None
    candidate: float | None
    delta: float | None


@dataclass(frozen=True, slots=True)
class QueryChange:
    """A query whose value of the first metric changed, and the relevant item that moved most; ranks from 1."""

    query: str
    baseline: float
    candidate: float
    delta: float
    item: str | None
    rank_baseline: int | None
    rank_candidate: int | None


@dataclass(frozen=True, slots=True)
class NoAnswers:
    """How many of ``n`` queries without an answer return nothing; ``baseline`` is None without one."""

    n: int
    baseline: int | None
    candidate: int


@dataclass(frozen=True, slots=True)
class Lost:
    """A category that lost ``n`` queries more than it won."""

    attribute: str
    value: str
    n: int


@dataclass(frozen=True, slots=True)
class GoldenChanges:
    """How the golden set changed since the baseline; ``gone``: the queries and the first values that they had."""

    new: tuple[str, ...] = ()
    gone: Mapping[str, float | None] = field(default_factory=dict)
    relabelled: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.new or self.gone or self.relabelled)


@dataclass(frozen=True, slots=True)
class Vanishing:
    """Labelled items among the first three of the baseline that the results never return, or the other way round.

    ``n``: of ``n_labelled``. ``are_renamed``: whether their ids were changed. ``n_replaced``: those with a new id in
    their place. ``example``: an old and a new id. ``is_golden_set``: the golden set has new ids, and the baseline old
    ones. ``is_part_missing``: whether a part of the index may be missing.
    """

    n: int
    n_labelled: int
    are_renamed: bool
    n_replaced: int | None = None
    example: tuple[str, str] | None = None
    is_golden_set: bool = False
    is_part_missing: bool = False


@dataclass(frozen=True)
class CheckDecision:
    """The decision and what it rests on.

    ``n``: how many queries are compared. ``allowed``: by how much the mean of the first metric may fall: the tolerance,
    and where ``is_count``, so that each query has it or not, one query. ``n_lists``: how many lists differ.
    ``drop_up_to``: the 95% bound for other queries. ``margin``: the drop that is allowed there, and ``needed``: how
    many queries like these would decide, each None if there is none. ``stopped``: the drop that a set of this size
    stops 4 times in 5. ``lost_by``: categories that lost two queries or more. ``absent``: golden queries that the
    results lack. ``edited``: queries of the baseline whose values are not those of their lists, "" for its means.
    ``best``: the highest mean that was ever accepted.
    """

    decision: Decision
    n: int
    metrics: tuple[CheckedMetric, ...]
    tolerance: float
    allowed: float
    strict: bool
    is_count: bool
    changed: tuple[QueryChange, ...]
    n_lists: int
    drop_up_to: float | None
    margin: float | None
    needed: int | None
    stopped: float | None
    no_answer: NoAnswers | None
    lost_by: tuple[Lost, ...]
    golden: GoldenChanges
    vanished: Vanishing | None
    absent: tuple[str, ...]
    edited: tuple[str, ...]
    best: float | None
    now: Baseline


@dataclass(frozen=True)
class _Side:
    """Lists under the labels of today: the values of each query by metric, and the digests of its labels."""

    lists: Lists
    values: Mapping[str, Mapping[str, float]]
    judged: JudgedRanking

    @classmethod
    def of(cls, lists: Lists, facts: Facts, graded: Graded, metrics: Sequence[Metric]) -> _Side:
        full = {query: ids for query, ids in lists.items() if ids}
        offsets = np.cumsum([0, *map(len, full.values())])
        items = Keys.from_strings([*chain.from_iterable(full.values())])
        both = judged(Ranking(Keys.from_strings([*full]), offsets, items, -np.arange(float(len(items)))), facts.labels)
        values: dict[str, dict[str, float]] = {query: {} for query in graded}
        without = no_answer_values(facts.without_answer, lists)
        values |= {query: {NO_ANSWER: value} for query, value in without.items()}
        for metric, of in zip(metrics, group_values(both, metrics), strict=True):
            for query, value in zip(of.group_keys.to_list(), of.values.tolist(), strict=True):
                if query in graded and value == value:
                    values[query][name_of(metric)] = value
        return cls(lists, values, both)

    def of_first(self, queries: Sequence[str], name: str) -> Floats:
        """Return a value of some queries."""
        return np.array([self.values[query][name] for query in queries])


def name_of(metric: Metric) -> str:
    """Return a metric as the caller named it."""
    return metric.requested_as or str(metric)


def default_metrics(labels: LabelLists) -> list[Metric]:
    """Return the metrics of a golden set: ndcg sees grades, and RR does not depend on how many answers are labelled."""
    has_grades = np.unique(labels.grades[labels.grades > 0]).size > 1
    return [parse_metric(text) for text in ("ndcg@10" if has_grades else "RR@10", "hit@5")]


def decided(facts: Facts, rules: Rules) -> CheckDecision:
    """Return the decision about results."""
    baseline, graded, first = facts.baseline, _graded(facts.labels), rules.metrics[0]
    names, digests = [*map(name_of, rules.metrics)], {query: digest_of(of) for query, of in graded.items()}
    digests |= dict.fromkeys(facts.without_answer, digest_of(None))
    now = _Side.of(facts.results, facts, graded, rules.metrics)
    then = now if baseline is None else _Side.of(baseline.lists, facts, graded, rules.metrics)
    absent = tuple(query for query in digests if query not in facts.results)
    both = [query for query in graded if query in then.lists and query not in absent]
    both = [query for query in both if names[0] in now.values[query] and names[0] in then.values[query]]
    n, delta = len(both), now.of_first(both, names[0]) - then.of_first(both, names[0])
    values = {*now.of_first(both, names[0]), *then.of_first(both, names[0])}
    is_count = (first.measure in ("Success", "R") or first.cutoff == 1) and values <= {0.0, 1.0}
    allowed = allowed_drop(rules.tolerance, n, is_count=is_count) if n else rules.tolerance
    spread = (
        Spread.of(delta.tolist(), is_count=is_count)
        or typical("hit" if is_count else KIND_OF.get(first.measure, "R"))["usual"]
    )
    no_answer = _no_answer(facts.without_answer, now, None if baseline is None else then)
    changed = _changed(both, now, then, graded, first)
    golden, vanished, edited = GoldenChanges(), None, tuple[str, ...]()
    if baseline is not None:
        golden = _golden_changes(baseline, digests, names[0])
        edited = _edited(baseline, digests, facts, graded)
        vanished = _vanishing(baseline, facts, rules, graded, then.judged, now.judged)
    lost_answers = 0 if no_answer is None else (no_answer.baseline or 0) - no_answer.candidate
    is_red = bool(n) and float(delta.mean()) < -allowed - _SAME
    is_red |= lost_answers > 1 or (rules.strict and any(change.delta < 0 for change in changed))
    same = np.array([[*now.lists[query]][: rules.depth] == [*then.lists[query]][: rules.depth] for query in both], bool)
    others = None if rules.margin is None or baseline is None or not n else _others(delta, same, first, rules.margin)
    is_red |= others is not None and others.whole == "fail"
    decision: Decision = "values" if baseline is None else "red" if is_red else "green"
    if decision == "green" and others is not None and others.whole == "inconclusive":
        decision = "open"
    if absent or edited or not n or (vanished is not None and vanished.are_renamed):
        decision = "not_compared"
    drop = betting_lower_bound(delta) if baseline is not None and n and first.limits == (0.0, 1.0) else None
    drop = drop if others is None else others.lower
    mean = {name: [of[name] for of in now.values.values() if name in of] for name in names}
    best = {} if baseline is None or golden else baseline.best
    return CheckDecision(
        decision,
        n,
        tuple(_means(name, both, now, None if baseline is None else then) for name in names),
        rules.tolerance,
        allowed,
        rules.strict,
        is_count,
        changed,
        int((~same).sum()),
        None if drop is None else max(0.0, -drop),
        rules.margin,
        None if others is None else others.ways.n,
        drop_stopped(spread, n, allowed) if n else None,
        no_answer,
        _lost_by(changed, facts.attributes),
        golden,
        vanished,
        absent,
        edited,
        best.get(names[0]),
        Baseline(
            "",
            rules.depth,
            {query: now.lists.get(query, ())[: rules.depth] for query in digests},
            {query: rounded(of) for query, of in now.values.items()},
            digests,
            rounded({name: float(np.mean(of)) for name, of in mean.items() if of}),
            best,
            rules.ids_are_stable,
        ),
    )


def _graded(labels: LabelLists) -> Graded:
    """Return the grades of the items of each labelled query."""
    items, grades, ends = labels.item_keys.to_list(), labels.grades.tolist(), labels.offsets.tolist()
    spans = zip(labels.group_keys.to_list(), ends, ends[1:], strict=False)
    return {query: dict(zip(items[low:high], grades[low:high], strict=True)) for query, low, high in spans}


def _means(name: str, queries: Sequence[str], now: _Side, then: _Side | None) -> CheckedMetric:
    having = [query for query in queries if name in now.values[query] and (then is None or name in then.values[query])]
    if not having:
        return CheckedMetric(name, None, None, None)
    candidate = float(now.of_first(having, name).mean())
    baseline = None if then is None else float(then.of_first(having, name).mean())
    return CheckedMetric(name, baseline, candidate, None if baseline is None else candidate - baseline)


def _changed(
    queries: Sequence[str], now: _Side, then: _Side, graded: Graded, metric: Metric
) -> tuple[QueryChange, ...]:
    """Return the queries whose value changed, the worst first and then the best."""
    found, name = [], name_of(metric)
    for query in queries:
        before, after = then.values[query][name], now.values[query][name]
        if abs(after - before) <= _SAME:
            continue
        sign = 1 if after > before else -1
        was, is_now = ({item: rank for rank, item in enumerate(of.lists[query], 1)} for of in (then, now))
        relevant = [item for item, grade in graded[query].items() if grade >= metric.least_relevant]
        moved = {item: 1 / is_now.get(item, np.inf) - 1 / was.get(item, np.inf) for item in relevant}
        item = max(moved, key=lambda one: sign * moved[one], default="")
        found.append(QueryChange(query, before, after, after - before, item or None, was.get(item), is_now.get(item)))
    return tuple(sorted(found, key=lambda one: (one.delta > 0, -abs(one.delta))))


def _others(delta: Floats, same: Mask, metric: Metric, margin: float) -> OfOthers:
    """Return what a gate decides about other queries."""
    from ndcg_tracker.questions.gate.decide import Rules, decide  # its room takes a tenth of a second

    limits = (
        None if metric.limits is None else (metric.limits[0] - metric.limits[1], metric.limits[1] - metric.limits[0])
    )
    return decide(Sample(delta, limits=limits, same=same), Rules(margin))


def _no_answer(queries: Sequence[str], now: _Side, then: _Side | None) -> NoAnswers | None:
    """Return how the queries without an answer fare, None if there is none."""
    counted = [query for query in queries if query in now.lists and (then is None or query in then.lists)]
    sums = [sum(int(of.values[query][NO_ANSWER]) for query in counted) for of in (now, then) if of is not None]
    return NoAnswers(len(counted), sums[1] if len(sums) > 1 else None, sums[0]) if counted else None


def _golden_changes(baseline: Baseline, digests: Mapping[str, str], name: str) -> GoldenChanges:
    """Return what changed in the golden set since the baseline was written."""
    old = baseline.digests
    return GoldenChanges(
        tuple(query for query in digests if query not in old),
        {query: baseline.values[query].get(name) for query in old if query not in digests},
        tuple(query for query, digest in digests.items() if old.get(query, digest) != digest),
    )


def _edited(baseline: Baseline, digests: Mapping[str, str], facts: Facts, graded: Graded) -> tuple[str, ...]:
    """Return the queries whose values are not those of their lists under labels that are those of today."""
    rows = [*baseline.values.values()]
    names = dict.fromkeys(name for values in rows for name in values if name != NO_ANSWER)
    right = _Side.of(baseline.lists, facts, graded, [*map(parse_metric, names)]).values
    same = [query for query, digest in baseline.digests.items() if digests.get(query) == digest]
    edited = [query for query in same if rounded(right[query]) != baseline.values[query]]
    means = {name: [of[name] for of in rows if name in of] for name in baseline.mean}
    are_means = baseline.is_whole and all(is_mean(of, baseline.mean[name]) for name, of in means.items())
    return (*edited, *([] if are_means else [""]))


def _vanishing(
    baseline: Baseline, facts: Facts, rules: Rules, graded: Graded, before: JudgedRanking, after: JudgedRanking
) -> Vanishing | None:
    """Return the labelled items that vanished from the results; those of the baseline if the golden set has new ids."""
    if facts.corpus is not None:
        first = ((graded.get(query, {}), ids[:FIRST]) for query, ids in baseline.lists.items())
        had = [item for grades, ids in first for item in ids if item in grades]
        n = sum(item not in facts.corpus for item in had)
        return Vanishing(n, len(had), is_many(n, len(had)) and not rules.ids_are_stable) if n else None
    gone, rewritten = Vanished.between(before, after), Vanished.between(after, before)
    is_rewritten = not _is_renamed(gone) and _is_renamed(rewritten)
    of = rewritten if is_rewritten else gone
    if not of.n:
        return None
    is_renamed, is_part_missing = _is_renamed(of), of.are_many and of.replaced < 1 - REPLACED
    pairs = ((old, get_close_matches(old, new, 1, 0)) for old, new in zip(of.ids, of.new, strict=True))
    return Vanishing(
        of.n,
        of.n_labelled,
        is_renamed and not rules.ids_are_stable,
        round(of.replaced * of.n),
        next(((old, near[0]) for old, near in pairs if near), None),
        is_rewritten,
        is_part_missing and not is_renamed,
    )


def _is_renamed(gone: Vanished) -> bool:
    return gone.is_replaced or gone.pattern is not None


def _lost_by(changed: Sequence[QueryChange], attributes: Mapping[str, Mapping[str, str]]) -> tuple[Lost, ...]:
    """Return the categories that lost two queries or more, net, those that lost most first."""
    net = Counter[tuple[str, str]]()
    for change in changed:
        for pair in attributes.get(change.query, {}).items():
            net[pair] += 1 if change.delta < 0 else -1
    return tuple(Lost(*pair, n) for pair, n in net.most_common() if n > 1)
