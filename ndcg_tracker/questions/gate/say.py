"""A gate's decision as a report, as rows and for CI: the verdict first, then what it rests on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ndcg_tracker.compare import say as compare
from ndcg_tracker.compare.limits import Harm
from ndcg_tracker.compare.say_drawn import check_facts, favours, few_words, judge_alone_words
from ndcg_tracker.compare.say_tables import (
    NO_VALUE,
    change_words,
    facts,
    group_tables,
    harm_words,
    limit_words,
    requests,
)
from ndcg_tracker.compare.slices import RegressedSlice
from ndcg_tracker.errors import Spelling, in_python
from ndcg_tracker.questions.gate.decide import (
    FEWEST_IN_SLICE,
    GateDecision,
    GateSlices,
    OpenLabels,
    SliceDecision,
)
from ndcg_tracker.questions.gate.decide_bounds import FAIL_ALPHA, PASS_LEVEL
from ndcg_tracker.questions.gate.gather_policy import reset_command, rules_words
from ndcg_tracker.questions.gate.question import Acknowledgement
from ndcg_tracker.questions.gate.result import Drift, Gated, Look
from ndcg_tracker.render.formats import Said, as_object, fields_of, paths, picked, shape_of
from ndcg_tracker.render.report import Report, Table, columns
from ndcg_tracker.render.terminal import Painted, Style
from ndcg_tracker.render.whole_file import JunitCase, Outcome, junit_document
from ndcg_tracker.statistics.drawn_queries import LEVELS_OF_LOOKS
from ndcg_tracker.storage.records import PolicyRecord
from ndcg_tracker.words.notes import Told, in_words, sentence, told
from ndcg_tracker.words.texts import (
    clustered_by,
    counted,
    judge_words,
    ordinal,
    percent,
    percent_of,
    points,
    sample_command,
    short_name,
    shown,
    shown_margin,
)

if TYPE_CHECKING:
    from ndcg_tracker.questions.gate.decide_suite import SuiteGated

SLICES_NAMED = 5

STYLES: dict[str, Style] = {"pass": "good", "fail": "bad", "inconclusive": "bold"}
_SLICE_STYLES: dict[str, Style] = {"fails": "bad", "within": "good"}
_SENTENCES = {
    "pass": "{candidate} may replace {baseline} on {dataset}",
    "fail": "{candidate} must not replace {baseline} on {dataset}",
    "inconclusive": "not known whether {candidate} may replace {baseline} on {dataset}",
}
_CSV_COLUMNS = {
    **paths("decision reason"),
    **compare.RUN_COLUMNS,
    **paths(
        "metric=of_metric.metric baseline=of_metric.baseline candidate=of_metric.candidate scope margin n delta lower "
        "lower_method upper upper_method pass_level fail_alpha low_information small_but_real_drop n_needed "
        "n_needed_for margin_needed wins=of_metric.wins ties=of_metric.ties losses=of_metric.losses warnings "
        "decision_id decision_number acknowledged_by=acknowledged.by "
        "acknowledged_reason=acknowledged.reason unjudged=unjudged.worth delta_low=unjudged.low "
        "delta_high=unjudged.high judge=label_set.judge max_harm=harm.limit n_harmed=harm.n_harmed "
        "harm_lower=harm.lower harm_upper=harm.upper checked_by=of_metric.check.checked_by judge_alone "
        "budget=look.budget looks=look.looks look=look.number policy=policy.alias outside"
    ),
}
_DECISION_KEYS = paths(
    "scope n delta lower lower_method upper upper_method t_lower betting_lower t_upper betting_upper pass_level "
    "fail_alpha low_information small_but_real_drop=is_small_drop n_needed n_needed_for margin_needed slices direction "
    "limits unjudged=open harm"
)
_GATE_KEYS = paths(
    "learned_margin ties_could_change_decision regressed_slices drift decision_id decision_number=number "
    "acknowledged=acknowledgement judge_alone decided_before look drawn_look=decision.drawn_look "
    "policy outside"
)
_FRAME_COLUMNS = paths(
    "baseline_run=baseline_of.name candidate_run=candidate_of.name dataset metric=of_metric.metric "
    "baseline=of_metric.baseline candidate=of_metric.candidate"
)


@dataclass(frozen=True, slots=True)
class ToldDecision:
    """A decision with its output: for people, in the spelling of their arguments, for programs and for CI."""

    gated: Gated | SuiteGated
    said: Callable[[Spelling], Said]
    junit: Callable[[Outcome, Spelling], str]
    candidate_means: Sequence[tuple[str, float | None]]


def told_gate(gated: Gated, *, with_groups: bool) -> ToldDecision:
    """Return a decision on two runs with its output; ``with_groups``: with the worst and best groups."""
    return ToldDecision(
        gated,
        lambda spelled: gate_said(gated, spelled, with_groups=with_groups),
        lambda outcome, spelled: gate_junit(gated, outcome, spelled, with_groups=with_groups),
        gated.candidate_means,
    )


def gate_said(gated: Gated, spelled: Spelling = in_python, *, with_groups: bool = False) -> Said:
    """Return the output for a decision.

    ``spelled``: how arguments are written for people. ``with_groups``: whether people see the worst and the best
    groups; programs always do.
    """
    return Said(
        gated,
        lambda: [gate_report(gated, spelled, with_groups=with_groups)],
        lambda: Table.of_rows([picked(_CSV_COLUMNS, _with_metric(gated))]),
    )


def gate_row(gated: Gated) -> dict[str, Any]:
    """Return a row with both runs, the metric, and the decision with its numbers."""
    row = picked(_FRAME_COLUMNS, _with_metric(gated))
    row |= as_object(gated.decision)
    return row | {"decision_id": gated.decision_id}


def _with_metric(gated: Gated) -> dict[str, Any]:
    as_json = as_object(gated)
    metric = as_json["metrics"][0]
    return compare.with_runs(as_json) | {"of_metric": metric, "warnings": "; ".join(metric["warnings"])}


@shape_of(GateDecision)
def _decision_shape(decision: GateDecision) -> Mapping[str, object]:
    why = {"decision": decision.decision, "margin": decision.margin, "reason": reason(decision)}
    return why | picked(_DECISION_KEYS, decision) | {"to_decide": to_decide(decision) or None}


@shape_of(Harm)
def _harm_shape(harm: Harm) -> Mapping[str, object]:
    shape: dict[str, object] = {"limit": str(harm.limit), "of_clusters": harm.of_clusters}
    return shape | fields_of(harm.whole, "value") | {"slices": harm.slices}


@shape_of(PolicyRecord)
def _policy_shape(policy: PolicyRecord) -> Mapping[str, object]:
    return fields_of(policy, "id", "dataset_id", "dataset")


@shape_of(Gated)
def _gate_shape(gated: Gated) -> Mapping[str, object]:
    shape: dict[str, object] = as_object(gated.comparison) | as_object(gated.decision)
    return shape | picked(_GATE_KEYS, gated)


def gate_report(gated: Gated, spelled: Spelling = in_python, *, with_groups: bool = False) -> Report:
    """Return the report of a decision; ``spelled``: how arguments are written. ``with_groups``: see ``gate_said``."""
    gated = replace(gated, comparison=compare.for_people(gated.comparison))
    why = reason(replace(gated.decision, n_needed=None, margin_needed=None))
    slices = gated.decision.slices
    zero = in_words([note for note in gated.comparison.notes if note.kind == "unjudged_zero"])
    names = [gated.comparison.baseline.name, gated.comparison.candidate.name]
    unchecked = gated.decision.judge_alone  # whom the policy does not trust
    checking = sample_command(names, unchecked, gated.comparison.dataset) if unchecked else ()
    return Report(
        _finding(gated),
        tables=[] if slices is None or not slices.rows else [slice_table(slices, Sides(gated.decision))],
        verdict=Painted(verdict_words(gated), STYLES[gated.decision.decision]),
        sentences=[
            why[:1].upper() + why[1:],
            *(f"The verdict rests on: {note}" for note in zero),
            *judge_alone_words(gated.judge_alone, checking),
            *favours(gated.comparison),
        ],
        facts=_facts(gated, spelled),
        details=group_tables(gated.comparison) if with_groups else [],
        notes=[*_warnings(gated), *(told(note) for note in gated.comparison.notes if note.kind != "unjudged_zero")],
    )


def reason(decision: GateDecision) -> str:
    """Return why a decision came out as it did, and what would decide an open question.

    >>> reason(GateDecision("fail", "set", 0.0, 2, -0.25))
    'the mean difference on these 2 groups, -0.25, is below 0'
    """
    if decision.of_metric is not None:
        whole = reason(replace(decision, decision=decision.of_metric, limits=(), of_metric=None))
        return "; ".join([whole, *(f"but {limit_words(check)}" for check in decision.limits if not check.is_met)])
    if decision.is_spent:
        return "the budget is spent, so nothing is decided"
    if decision.unreached is not None:
        return sentence(decision.unreached)
    if decision.judge_alone:
        return f"nobody has checked {judge_words(decision.judge_alone)}, on whose labels it would rest"
    if few := few_words(decision.drawn):
        return f"open: {few}"
    if decision.drawn_look > len(LEVELS_OF_LOOKS):
        return f"drawn answers decided on these runs {len(LEVELS_OF_LOOKS)} times, so another look decides nothing"
    if decision.delta is None:
        return "no group has a result in both runs"
    if decision.is_identical and decision.decision == "pass":
        return f"identical on all {decision.n:,} groups" if decision.n > 1 else "identical on the one group there is"
    left, slices, parts = decision.open, decision.slices, []
    if slices is not None:
        parts.append(_of_slices(slices, Sides(decision)))
    if decision.harm is not None:
        parts.append(harm_words(decision.harm, "" if slices is None else slices.attribute))
    if left is not None and left.of_zero not in (None, decision.decision):
        of_zero = f"{unjudged_words(left)}; if they are worth nothing, the decision is {(left.of_zero or '').upper()}"
        parts = [of_zero, *(part.removeprefix("but ") for part in parts)]
        return "; ".join(filter(None, parts))
    of_mean = decision.decision if decision.of_mean is None else decision.of_mean
    of_whole = of_mean if slices is None else slices.of_whole
    ways = to_decide(decision)
    needed = [f"to decide: {ways}"] if ways else []
    return "; ".join(filter(None, (_of_whole(replace(decision, decision=of_whole)), *parts, *needed)))


def _of_whole(decision: GateDecision) -> str:
    """Return what the mean difference of all groups decides."""
    assert decision.delta is not None
    if decision.scope == "set":
        sides = Sides(decision)
        relation = f"{'not ' if decision.decision == 'pass' else ''}{sides.worse} {sides.allowed(decision.margin)}"
        groups = "this 1 group" if decision.n == 1 else f"these {decision.n:,} groups"
        return f"the mean difference on {groups}, {decision.delta:.4g}, is {relation}"
    return _by_bounds(decision)


def unjudged_words(left: OpenLabels) -> str:
    """Return how much of the first ranks is unjudged, and how far it leaves delta open.

    >>> from ndcg_tracker.compare.results import JudgedShare
    >>> unjudged_words(OpenLabels(JudgedShare(10, 0.98, 0.71), low=-0.25, high=0.5))
    "29.0% of the candidate's first 10 items are unjudged (baseline 2.0%): delta is between -0.2500 and +0.5000"
    """
    share = left.share
    where = "items" if share.cutoff is None else f"first {counted(share.cutoff, 'item')}"
    lacking = [None if side is None else 1 - side for side in (share.candidate, share.baseline)]
    unjudged = f"{percent(lacking[0])} of the candidate's {where} are unjudged (baseline {percent(lacking[1])})"
    return f"{unjudged}: delta is between {points(left.low, signed=True)} and {points(left.high, signed=True)}"


def unjudged_fact(decision: GateDecision) -> list[tuple[str, str]]:
    """Return how far unjudged items leave delta open, as a pair of a name and its value."""
    left = decision.open
    if left is None or left.low is None:
        return []
    return [("unjudged", unjudged_words(left))]


class Sides:
    """The words and numbers of a decision, whichever values are better."""

    def __init__(self, decision: GateDecision) -> None:
        self.is_higher = decision.direction == "higher"
        self.worse, self.better = ("below", "above") if self.is_higher else ("above", "below")
        self.least, self.most = ("at least", "at most") if self.is_higher else ("at most", "at least")
        of_gains = decision.in_direction("higher")
        self.pass_bound = self.shown(of_gains.lower)
        self.fail_bound = self.shown(of_gains.upper)
        self.pass_method, self.fail_method = of_gains.lower_method, of_gains.upper_method
        self.has_t_bound = of_gains.t_upper is not None
        self.levels = percent_of(decision.pass_level or PASS_LEVEL), percent_of(1 - (decision.fail_alpha or FAIL_ALPHA))

    def shown(self, gain: float | None) -> float | None:
        """Return a gain as a difference."""
        return gain if gain is None or self.is_higher else 0.0 - gain

    def allowed(self, margin: float) -> str:
        """Return the worst difference that a margin allows."""
        return f"{-margin if self.is_higher else margin:.4g}" if margin else "0"


def _of_slices(slices: GateSlices, sides: Sides) -> str:
    """Return which slices fail, and which are not shown to be within their margin; or that no slice is judged."""
    clauses = []
    if not slices.rows:
        of_datasets = slices.attribute == "dataset"
        of_what = "dataset" if of_datasets else f"slice by {slices.attribute}"
        needed = f", but strict {'datasets' if of_datasets else 'slices'} need one" if slices.is_strict else ""
        clauses.append(f"no {of_what} has {FEWEST_IN_SLICE} groups, so none was judged{needed}")
    fails, is_open = slices.of_status("fails"), slices.of_status("open")
    if fails:
        bounds = ", ".join(
            f"{_slice_name(slices, row)} ({sides.most} {row.upper if sides.is_higher else row.lower:.4g} with "
            f"{percent_of(1 - row.alpha)} confidence)"
            for row in fails[:SLICES_NAMED]
        )
        clauses.append(f"but {sides.worse} {sides.allowed(slices.margin)}: {bounds}{_more(fails)}")
    if is_open:
        named = ", ".join(_slice_name(slices, row) for row in is_open[:SLICES_NAMED]) + _more(is_open)
        clauses.append(f"not shown to be {sides.better} {sides.allowed(slices.margin)}: {named}")
    if slices.regressed:
        named = ", ".join(
            f"{_slice_name(slices, row)} ({counted(row.n, 'group')})" for row in slices.regressed[:SLICES_NAMED]
        )
        clauses.append(f"regressed by compare's test: {named}{_more(slices.regressed)}")
    return "; ".join(clauses)


def _slice_name(slices: GateSlices, row: SliceDecision | RegressedSlice) -> str:
    return f"{slices.attribute}={shown(row.value)}" if row.value is not None else f"no {slices.attribute}"


def _more(rows: Sequence[object]) -> str:
    return f" and {len(rows) - SLICES_NAMED} more" if len(rows) > SLICES_NAMED else ""


def slice_table(slices: GateSlices, sides: Sides, title: str = "slices") -> Table:
    """Return the decision on each slice, the worst first; ``title``: what slices are called here."""
    rows: list[list[object]] = [
        [
            NO_VALUE if row.value is None else row.value,
            f"{row.n:,}",
            points(row.delta, signed=True),
            points(row.lower, signed=True),
            points(row.upper, signed=True),
            Painted(row.status, _SLICE_STYLES.get(row.status)),
        ]
        for row in slices.rows
    ]
    least, most = sides.levels
    legend = [
        f"{sides.least}: with {least} confidence; {sides.most}: with {most}, Holm-corrected for the {title} at once"
    ]
    if slices.of_status("open"):
        legend.append("open: neither is shown; if information is low, bounds allow for rare, large differences")
    if slices.n_small:
        small = counted(slices.n_small, title.removesuffix("s"))
        legend.append(f"{small} of fewer than {FEWEST_IN_SLICE} groups not judged")
    heads = columns(slices.attribute, ">n", ">delta", ">at least", ">at most", "finding")
    return Table(
        heads,
        rows,
        f"{title}, each allowed a {'drop' if sides.is_higher else 'rise'} of {shown_margin(slices.margin)}",
        legend=legend,
    )


def recorded_reason(gated: Gated | SuiteGated) -> str:
    """Return the reason of a decision as the database stores it, with its clusters and the origin of its margin."""
    why, learned = reason(gated.decision), None
    if isinstance(gated, Gated):
        learned, clusters = gated.learned_margin, gated.metric.clusters
        why += f" {clustered_by(clusters.attribute)}" if clusters is not None else ""
        why += f" (policy of @{gated.policy.alias})" if gated.policy is not None else ""
    why += f" (outside the policy of @{gated.outside})" if gated.outside else ""
    if learned is None:
        return why
    return f"{why} (margin learned from {len(learned.runs)} repeats: {', '.join(learned.runs)})"


def to_decide(decision: GateDecision) -> str:
    """Return what would decide an open question, the most sensible first; "" if nothing is known to do so."""
    ways, left = [], decision.open
    if decision.decision == "inconclusive" and left is not None and left.n_items and left.of_zero != "inconclusive":
        ways.append(f"judging {counted(left.n_items, 'unjudged item')}")
    if decision.decision == "inconclusive" and decision.n_needed is not None and decision.n_needed_for is not None:
        about = "about" if decision.betting_lower is None else "at most about"  # the betting bound may decide before
        ways.append(f"{about} {decision.n_needed:,} groups like these ({decision.n_needed_for.upper()})")
    if decision.decision == "inconclusive" and decision.margin_needed is not None:
        ways.append(f"a margin above {decision.margin_needed:.4g} (PASS)")
    return ", or ".join(ways)


def _by_bounds(decision: GateDecision) -> str:
    """Return why a population decision came out as it did."""
    sides = Sides(decision)
    goal = f"{sides.better} {sides.allowed(decision.margin)}"
    pass_level, fail_level = percent_of(decision.pass_level or 0.0), percent_of(1 - (decision.fail_alpha or 0.0))
    has_t = decision.t_lower is not None or decision.t_upper is not None
    cause = "information is low" if has_t or decision.low_information is not None else "all differences are the same"
    kind = f"one-sided betting bound, as {cause}" if sides.pass_method == "betting" else "one-sided t bound"
    has_range = decision.open is not None and decision.open.low != decision.open.high
    kind += ", unjudged items at their worst" if has_range else ""
    bound, other = sides.pass_bound, sides.fail_bound
    kind += ", by drawn queries" if decision.drawn is not None and not decision.drawn.is_complete else ""
    if bound is None:
        why = "the bound that would decide does not cover repeats"
        why = why if decision.of_repeats else "no range of the metric is known"
        above = f"delta is not shown to be {goal} (low information, and {why})"
    elif decision.decision == "pass":
        above = f"with {pass_level} confidence delta is {goal}: {sides.least} {bound:.4g} ({kind})"
    else:
        above = f"delta is not shown to be {goal}: its {pass_level} bound is {bound:.4g} ({kind})"
    if decision.decision == "pass":
        change = "drop" if sides.is_higher else "rise"
        if not decision.is_small_drop:
            return above
        return f"{above}; a real {change} within the margin: with {fail_level} confidence {sides.most} {other:.4g}"
    if other is None:
        unknown = f"nor {sides.worse} 0, for which the t bound alone does not count" if sides.has_t_bound else ""
        return ", ".join(filter(None, (above, unknown)))
    by = ", ".join(filter(None, [_fail_kind(sides, cause), "unjudged items at their best" if has_range else ""]))
    by = by and f" ({by})"
    if decision.decision == "fail":
        return f"with {fail_level} confidence delta is {sides.worse} 0: {sides.most} {other:.4g}{by}; and {above}"
    return f"{above}, nor {sides.worse} 0: its {fail_level} bound is {other:.4g}{by}"


def _fail_kind(sides: Sides, cause: str) -> str:
    """Return how the bound of FAIL was found, "" if it was found in the same way as that of PASS."""
    if sides.fail_method == sides.pass_method or sides.pass_bound is None:
        return ""
    return f"betting bound, as {cause}" if sides.fail_method == "betting" else "t bound"


def verdict_words(gated: Gated | SuiteGated) -> str:
    """Return PASS, FAIL or INCONCLUSIVE; with the rules that a PASS has passed, and the policy that does not count."""
    word, decision = gated.decision.decision.upper(), gated.decision
    if gated.outside:
        return f"{word} outside the policy of @{gated.outside}"
    if not isinstance(gated, Gated) or gated.policy is None or word != "PASS":
        return word
    rules = [f"margin {decision.margin:g} of {gated.metric.metric}"]
    rules += [] if decision.harm is None else [f"max harm {decision.harm.limit}"]
    rules += [] if decision.slices is None else [f"{decision.slices.margin:g} of each {decision.slices.attribute}"]
    rules += [f"{check.name} {check.limit}" for check in decision.limits]
    return f"PASS at {', '.join(rules)} (policy of @{gated.policy.alias})"


def _finding(gated: Gated) -> str:
    """Return what the verdict means for both runs."""
    comparison = gated.comparison
    text = _SENTENCES[gated.decision.decision].format(
        candidate=comparison.candidate.name, baseline=comparison.baseline.name, dataset=comparison.dataset
    )
    return f"{text}, but it was overridden" if gated.acknowledgement is not None else text


def _facts(gated: Gated, spelled: Spelling) -> list[tuple[str, str]]:
    """Return what the decision rests on, as pairs of a name and its value; ``spelled``: how arguments are written."""
    metric, decision = gated.metric, gated.decision
    means = (metric.metric, f"baseline {points(metric.baseline)}, candidate {points(metric.candidate)}")
    groups = f"{decision.n:,}"
    if metric.wins is not None:
        groups += f"; {metric.wins:,} won, {metric.ties:,} tied, {metric.losses:,} lost"
    pairs = [
        *([] if metric.is_drawn else [means]),
        ("delta", ", ".join([points(decision.delta, signed=True), *bounds_in_words(gated.decision)])),
        *by_t_alone(gated.decision),
        *unjudged_fact(gated.decision),
        ("tolerance" if decision.scope == "set" else "margin", _margin(gated)),
        *([] if gated.learned_margin is None else [("bounds", "cover other groups and another training of each run")]),
        ("groups", groups),
    ]
    pairs += [*facts(gated.comparison, spelled), *check_facts(gated.comparison), *requests(gated.comparison)]
    pairs += [
        (
            check.name,
            f"baseline {check.baseline:g}, candidate {check.candidate:g}{change_words(check)}; limit {check.limit}",
        )
        for check in decision.limits
    ]
    policy, look = gated.policy, gated.look
    if policy is not None:
        rules = rules_words(policy.rules)
        pairs.append(
            ("policy", f"@{policy.alias}: {rules}; set by {short_name(policy.set_by)} at {minute(policy.set_at_utc)}")
        )
    if policy is not None and gated.restarted is not None:
        of = gated.restarted
        pairs.append(("counted", f"since {minute(of.created_at_utc)}: {of.reason}, by {short_name(of.reset_by)}"))
    if look is not None and policy is not None:
        pairs.append(("look", look_words(look, f"its owner restarts it with: {reset_command(policy)}")))
    elif 0 < decision.drawn_look <= len(LEVELS_OF_LOOKS):
        level = LEVELS_OF_LOOKS[decision.drawn_look - 1]
        pairs.append(("look", f"{decision.drawn_look} of {len(LEVELS_OF_LOOKS)} by drawn answers, level {level:g}"))
    if ways := to_decide(decision):
        pairs.append(("to decide", ways))
    if gated.drift is not None:
        pairs += [("drift", clause) for clause in drifted(gated.drift)]
    pairs.append(("decision", recorded_as(gated)))
    if gated.acknowledgement is not None:
        pairs.append(("overridden", f"by {gated.acknowledgement.by}: {gated.acknowledgement.reason}"))
    return pairs


def _warnings(gated: Gated) -> list[Told]:
    """Return what to keep in mind: groups that count differently, and low information."""
    metric, of_gate = gated.metric, gated.decision.low_information
    is_certain = metric.verdict in ("identical", "not_comparable")
    warnings = [
        warning for warning in metric.warnings if warning.kind != "low_information"
    ]  # the gate has its own rule
    shown = replace(metric, warnings=(*warnings, *([of_gate] if of_gate is not None else [])))
    shown = replace(shown, verdict="no_difference_detected") if is_certain else shown
    return [Told("warning", footnote) for footnote in dict.fromkeys(compare.metric_footnotes(shown))]


def bounds_in_words(decision: GateDecision) -> list[str]:
    """Return the one-sided bounds, each with its level; the bound of PASS comes first."""
    bounds = []
    sides = Sides(decision)
    if sides.pass_bound is not None and decision.pass_level is not None:
        method = "betting bound, " if sides.pass_method == "betting" else ""
        bound = points(sides.pass_bound, signed=True)
        bounds.append(f"{sides.least} {bound} ({method}{percent_of(decision.pass_level)})")
    if sides.fail_bound is not None and decision.fail_alpha is not None:
        method = "betting bound, " if sides.fail_method == "betting" else ""
        bound = points(sides.fail_bound, signed=True)
        bounds.append(f"{sides.most} {bound} ({method}{percent_of(1 - decision.fail_alpha)})")
    return bounds


def by_t_alone(decision: GateDecision) -> list[tuple[str, str]]:
    """Return the t bounds if they were not trusted alone, to show what caution costs."""
    sides = Sides(decision)
    gains = decision.in_direction("higher")
    if decision.pass_level is None or decision.fail_alpha is None:
        return []
    by_t = []
    if gains.t_lower is not None and sides.pass_method == "betting":
        bound = points(sides.shown(gains.t_lower), signed=True)
        by_t.append(f"{sides.least} {bound} ({percent_of(decision.pass_level)})")
    if gains.t_upper is not None and gains.betting_upper is not None and (by_t or decision.low_information):
        bound = points(sides.shown(gains.t_upper), signed=True)
        by_t.append(f"{sides.most} {bound} ({percent_of(1 - decision.fail_alpha)})")
    return [("by t alone", f"{', '.join(by_t)}; not trusted, as information is low")] if by_t else []


def _margin(gated: Gated) -> str:
    """Return the allowed drop, and where it comes from."""
    learned, margin = gated.learned_margin, points(gated.decision.margin)
    if learned is None:
        return margin
    runs = ", ".join(learned.runs[:8]) + (", ..." if len(learned.runs) > 8 else "")
    pairs = f"{counted(learned.n_pairs, 'pair')}, at most {points(learned.largest)} apart"
    return (
        f"{margin}, learned from {len(learned.runs)} repeats: with {percent_of(learned.level)} confidence two repeats "
        f"differ by less ({runs}; {pairs})"
    )


def recorded_as(gated: Gated | SuiteGated) -> str:
    """Return where the decision is recorded."""
    if gated.decision_id is None:
        return "not recorded (dry run)"
    before = "decided before: " if gated.decided_before else ""
    return f"{before}the {ordinal(gated.number)} of this gate (decision_id {gated.decision_id})"


def look_words(look: Look, fresh: str) -> str:
    """Return which look it is, and its level; ``fresh``: what begins a new budget.

    >>> look_words(Look(17, 0.05, 40, 0.00125), ""), look_words(Look(2, 0.05, None, 0.0076), "")
    ('17 of 40, level 0.00125 of a budget of 0.05', '2, level 0.0076 of a budget of 0.05')
    """
    if not look.level:
        return f"{look.number:,}: the budget of {counted(look.looks or 0, 'look')} is spent; {fresh}"
    of_looks = "" if look.looks is None else f" of {look.looks}"
    return f"{look.number:,}{of_looks}, level {look.level:.3g} of a budget of {look.budget:g}"


def minute(time: str) -> str:
    """Return a stored time to the minute.

    >>> minute("2026-11-28T14:20:01.000000Z")
    '2026-11-28 14:20 UTC'
    """
    return f"{time[:16].replace('T', ' ')} UTC"


def drifted(drift: Drift) -> list[str]:
    """Return how far accepted candidates have moved away from the pinned baseline."""
    pinned = f"@{drift.alias} has been {drift.pinned_run} since {minute(drift.pinned_at_utc)}"
    if drift.n_accepted:
        latest = f"{points(drift.latest_delta, signed=True)} against it"
        pinned += (
            f"; {counted(drift.n_accepted, 'candidate')} accepted since, the last one {drift.latest_accepted}, {latest}"
        )
    else:
        pinned += "; no candidate accepted since"
    if drift.n_overridden:
        latest = f"{drift.latest_overridden}, {points(drift.latest_overridden_delta, signed=True)} against it"
        pinned += f"; {counted(drift.n_overridden, 'candidate')} overridden since without a PASS, the last one {latest}"
    if not drift.n_moves:
        return [pinned]
    times = "once" if drift.n_moves == 1 else f"{drift.n_moves} times"
    kind, n_overridden = "an accepted", drift.n_moves_overridden
    if n_overridden:
        kind = "an overridden" if n_overridden == drift.n_moves else "an accepted or overridden"
    share = f" ({n_overridden} overridden)" if 0 < n_overridden < drift.n_moves else ""
    moved = (
        f"it was moved {times} to {kind} candidate{share}: {points(drift.moved_delta, signed=True)} since "
        f"{drift.first_run}, {points(drift.total_delta, signed=True)} with this candidate"
    )
    return [pinned, moved]


def gate_junit(gated: Gated, outcome: Outcome, spelled: Spelling = in_python, *, with_groups: bool = False) -> str:
    """Return the XML document of a JUnit report with the gate as its one test case.

    Characters that XML does not allow (control characters and lone surrogates) become escapes such as ``\\x1b``.

    Parameters: ``outcome``: of the build: "failed" makes it a failure; "skipped" is for an open decision that must not
    fail the build. ``spelled``: how arguments are written. ``with_groups``: see ``gate_said``.
    """
    text = gate_said(gated, spelled, with_groups=with_groups).in_format("text")
    gated = replace(gated, comparison=compare.for_people(gated.comparison))
    comparison = gated.comparison
    name = f"{gated.metric.metric}: {comparison.candidate.name} against {comparison.baseline.name}"
    where = f"ndcg-track.gate.{comparison.dataset}"
    return decision_junit((where, name), gated, text, outcome)


def decision_junit(case_names: tuple[str, str], gated: Gated | SuiteGated, text: str, outcome: Outcome) -> str:
    """Return the JUnit report of a decision; ``case_names``: the class and the name of its one test case."""
    decision = gated.decision
    message = f"{verdict_words(gated)}: {reason(replace(decision, n_needed=None, margin_needed=None))}"
    properties = _properties(decision, gated.decision_id, gated.acknowledgement)
    case = JunitCase(*case_names, decision.decision.upper(), message, text, properties)
    return junit_document("ndcg-track gate", case, outcome)


def _properties(
    decision: GateDecision, decision_id: int | None, acknowledgement: Acknowledgement | None
) -> list[tuple[str, str]]:
    """Return the properties of a decision in a JUnit report."""
    pairs = [
        ("decision", decision.decision),
        ("scope", decision.scope),
        ("margin", repr(decision.margin)),
        ("delta", "" if decision.delta is None else repr(decision.delta)),
        ("n", str(decision.n)),
        *([] if decision.harm is None else [("max_harm", str(decision.harm.limit))]),
        ("decision_id", "" if decision_id is None else str(decision_id)),
    ]
    if acknowledgement is not None:
        pairs += [("acknowledged_by", acknowledgement.by), ("acknowledged_reason", acknowledgement.reason)]
    return pairs
