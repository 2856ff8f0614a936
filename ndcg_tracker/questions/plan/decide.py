"""How many queries a promise needs, and what a number of queries can promise."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.statistics.planned import Pilot
from ndcg_tracker.statistics.small_sets import (
    KIND_OF,
    TOLERANCE,
    Spread,
    allowed_drop,
    drop_stopped,
    equal_stopped,
    typical,
)

if TYPE_CHECKING:
    from ndcg_tracker.compare.sample import Sample
    from ndcg_tracker.metrics.language.metric import Metric
    from ndcg_tracker.questions.plan.gather import PilotPair

QUERIES, _MORE = 40, 100
MARGINS = (0.02, 0.05, 0.1)
_CHEAPER = 0.8  # of the queries, or it is not worth a line


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """What n queries show, and how many a promise needs, if candidates differ so much.

    ``change``: "small change", "usual", "another model", or "like these". ``sd``: of the differences.
    ``equal_stopped``: the share of equally good candidates that ``check`` stops. ``stopped``: the drop that it stops 4
    times in 5. ``promised``: the smallest drop that a gate can rule out, 4 times in 5 if both are equally good.
    ``needed``: how many queries rule out the margin; ``needed_least``, ``needed_most``: between which numbers that is
    in 4 of 5 pilots; None for more than a billion.
    """

    change: str
    sd: float
    equal_stopped: float
    stopped: float
    promised: float
    needed: int | None
    needed_least: int | None = None
    needed_most: int | None = None


@dataclass(frozen=True, slots=True)
class Cheaper:
    """A metric, or a margin, that needs fewer queries."""

    metric: str
    margin: float
    needed: int


@dataclass(frozen=True)
class Plan:
    """What is planned.

    ``n``: the queries at hand, or a number of them. ``changes``: a row if two runs are at hand, else one for each
    typical change. ``n_differ``: how many of the queries of the runs differ, None without runs. ``labels_each``: about
    how many labels a further query needs; ``n_labels``: all of them together. ``n_further`` and ``promised_further``:
    the smallest drop that so many queries rule out.
    """

    metric: str
    margin: float
    n: int
    changes: tuple[PlannedChange, ...]
    cheaper: tuple[Cheaper, ...] = ()
    n_differ: int | None = None
    labels_each: float | None = None
    n_labels: int | None = None
    n_further: int | None = None
    promised_further: float | None = None
    dataset: str = field(default="", metadata={"if_any": True})


def planned(metric: Metric, margin: float, queries: int | None, pilot: PilotPair | None) -> Plan:
    """Return the plan for a margin, by two runs or by what is typical. Raises: InputError for an unknown metric."""
    name = metric.requested_as or str(metric)
    if pilot is not None:
        spread = _spread(metric, pilot.sample)
        if spread is not None:
            return _by_runs(name, margin, queries, pilot, spread)
    kind, n = KIND_OF.get(metric.measure), queries or (QUERIES if pilot is None else pilot.sample.n)
    if kind is None:
        known = "typical differences are known for hit@K, RR@K, recall@K and ndcg@K"
        raise InputError(known, where=name, advice=f"name two runs, or {argument('metric', 'RR@10')}")
    changes = tuple(_change(of, each, Pilot.typical(each), margin, n) for of, each in typical(kind).items())
    cheaper = []
    if kind in ("hit", "R") and (usual := changes[1].needed):
        needed = Pilot.typical(typical("RR")["usual"]).groups_for(margin)
        cheaper = [Cheaper("RR@10", margin, needed)] if needed and needed <= _CHEAPER * usual else []
    return Plan(name, margin, n, changes, tuple(cheaper), None if pilot is None else 0)


def _spread(metric: Metric, sample: Sample) -> Spread | None:
    may_count = metric.measure in ("Success", "R") or metric.cutoff == 1
    return Spread.of(sample.delta.tolist(), is_count=may_count and {*sample.delta.tolist()} <= {-1.0, 0.0, 1.0})


def _change(name: str, spread: Spread, pilot: Pilot, margin: float, n: int) -> PlannedChange:
    allowed = allowed_drop(TOLERANCE, n, is_count=spread.is_count)
    stops = equal_stopped(spread, n, allowed), drop_stopped(spread, n, allowed)
    return PlannedChange(name, spread.sd, *stops, pilot.promised(n), pilot.groups_for(margin))


def _by_runs(name: str, margin: float, queries: int | None, pair: PilotPair, spread: Spread) -> Plan:
    n, pilot = pair.sample.n, pair.pilot
    of = _change("like these", spread, pilot, margin, n)
    further = queries or (_MORE if n < _MORE else None)
    fewest, n_labels = of.needed, None
    if fewest is not None:
        of = replace(of, needed_least=max(1, round(fewest / pilot.off_by)), needed_most=round(fewest * pilot.off_by))
        n_labels = None if pair.labels_each is None else round(max(fewest - n, 0) * pair.labels_each)
    others = {other: each for other, each in pair.others.items() if other != name}
    wider = next((one for one in MARGINS if one > margin), margin)
    cheaper = list[Cheaper]()
    for pilots, one in ((others, margin), ({name: pilot}, wider), (others, wider)):
        found = [Cheaper(other, one, needed) for other, each in pilots.items() if (needed := each.groups_for(one))]
        best = min(found, key=lambda one: one.needed, default=None)
        if best is not None and (fewest is None or best.needed <= _CHEAPER * fewest):
            cheaper.append(best)
            fewest = best.needed
    return Plan(
        name,
        margin,
        n,
        (of,),
        tuple(cheaper),
        round(spread.differ * n),
        pair.labels_each,
        n_labels,
        further,
        None if further is None else pilot.promised(further),
        pair.dataset,
    )
