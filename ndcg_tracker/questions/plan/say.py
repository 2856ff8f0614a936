"""What a plan says, in at most 14 lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ndcg_tracker.questions.plan.decide import Plan
from ndcg_tracker.render.formats import Answer, Said
from ndcg_tracker.render.report import Column, Line, Report, Table
from ndcg_tracker.words.texts import about_queries, counted, queries, rounded_up, shown_margin, units

_LIKE_THESE = "like these"


@dataclass(frozen=True, repr=False)
class PlanResult(Answer):
    """How many queries a promise needs; notebooks show it as a report, and ``print`` prints it.

    ``plan``: the typed numbers. ``to_frame`` has a row for each change.
    """

    plan: Plan

    def _said(self) -> Said:
        return plan_said(self.plan)


def plan_said(plan: Plan) -> Said:
    """Return the output of a plan; CSV has a row for each change."""
    names = "change sd equal_stopped stopped promised needed needed_least needed_most"
    return Said(plan, lambda: [_report(plan)], lambda: Table.of([*map(Column, names.split())], plan.changes))


def _report(plan: Plan) -> Report:
    is_typical = plan.changes[0].change != _LIKE_THESE
    tables = [_typical(plan)] if is_typical else []
    lines = [*([] if is_typical else _by_runs(plan)), *_cheaper(plan)]
    return Report(_headline(plan), tables=tables, lines=[Line("", line) for line in lines], is_dense=True)


def _promise(plan: Plan) -> str:
    return f"that {plan.metric} falls by less than {shown_margin(plan.margin)}"


def _headline(plan: Plan) -> str:
    of = plan.changes[len(plan.changes) // 2]
    if of.change != _LIKE_THESE:
        none = (
            "" if plan.n_differ is None else f"none of these {queries(plan.n)} differs, so they do not say how many: "
        )
        needed = "no number is enough" if of.needed is None else about_queries(of.needed)
        return f"{none}{needed} to promise {_promise(plan)}, after a usual change"
    differ = f"{plan.n_differ} of {plan.n:,} differ"
    if of.needed is None or of.needed_least is None or of.needed_most is None:
        return f"no number of {units('query')} like these promises {_promise(plan)} ({differ})"
    if of.needed <= plan.n:
        return f"these {queries(plan.n)} are enough to promise {_promise(plan)} ({about_queries(of.needed)} are)"
    least, most = rounded_up(of.needed_least), rounded_up(of.needed_most)
    span = f"{least:,} to {most:,}, as {differ}"
    return f"{about_queries(of.needed)} like these to promise {_promise(plan)} ({span})"


def _typical(plan: Plan) -> Table:
    """Return the table of typical changes, a column for each."""
    each = plan.changes
    rows = [
        ("check stops an equally good candidate", *(f"{of.equal_stopped:.0%}" for of in each)),
        ("check stops 4 in 5 candidates that are worse by", *(f"{of.stopped:.3f}" for of in each)),
        ("a gate can promise (95%) no drop above", *(f"{of.promised:.2f}" for of in each)),
        (
            f"{units('query')} to promise {shown_margin(plan.margin)}",
            *("-" if of.needed is None else f"{rounded_up(of.needed):,}" for of in each),
        ),
    ]
    heads = [Column(f"{queries(plan.n)}, {plan.metric}", right=False), *(Column(of.change, right=True) for of in each)]
    return Table(heads, rows)


def _by_runs(plan: Plan) -> Iterator[str]:
    """Say what the queries at hand show, and what further ones cost."""
    of = plan.changes[0]
    if plan.n_labels and plan.labels_each is not None and of.needed is not None:
        more, labels = rounded_up(of.needed - plan.n), rounded_up(plan.n_labels)
        each = counted(round(plan.labels_each), "label")
        yield f"{more:,} more {units('query')} with about {each} each: about {counted(labels, 'label')}"
    further = ""
    if plan.n_further is not None and plan.promised_further is not None:
        further = f", with {plan.n_further:,} no drop above {plan.promised_further:.2g}"
    yield f"with these {plan.n:,} a gate can promise (95%) no drop above {of.promised:.2g}{further}"
    yield f"check stops drops of {of.stopped:.2g} 4 times in 5, and {of.equal_stopped:.0%} of equally good candidates"


def _cheaper(plan: Plan) -> Iterator[str]:
    ways = []
    for one in plan.cheaper:
        margin = "" if one.margin == plan.margin else f"a margin of {shown_margin(one.margin)}"
        metric = "" if one.metric == plan.metric else one.metric
        ways.append(f"{' by '.join(filter(None, (margin, metric)))} ({about_queries(one.needed)})")
    if ways:
        yield f"cheaper: {', or '.join(ways)}; or decide about these {units('query')} alone: ndcg-track check"
