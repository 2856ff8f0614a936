"""A gate's decision as a report, as rows and for CI: the verdict first, then what it rests on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ndcg_tracker.compare import say as compare
from ndcg_tracker.compare.say_drawn import check_facts, favours, few_words, judge_alone_words
from ndcg_tracker.compare.say_tables import (
    NO_VALUE,
    change_words,
    facts,
    group_tables,
    limit_words,
    requests,
    who_loses,
)
from ndcg_tracker.errors import Spelling, in_python
from ndcg_tracker.questions.gate.decide import (
    FAIL_ALPHA,
    FEWEST_IN_SLICE,
    PASS_LEVEL,
    Bounds,
    Decision,
    Part,
    Ways,
    Word,
)
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
    from ndcg_tracker.questions.gate.result import SuiteGated

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
        "delta_high=unjudged.high judge=label_set.judge max_harm n_harmed=harm.n_harmed "
        "harm_lower=harm.lower harm_upper=harm.upper checked_by=of_metric.check.checked_by judge_alone "
        "budget=look.budget looks=look.looks look=look.number policy=policy.alias outside"
    ),
}
_DECISION_KEYS = paths(
    "scope n delta lower lower_method=told.lower_method upper upper_method=told.upper_method t_lower=told.t_lower "
    "betting_lower=told.betting_lower t_upper=told.t_upper betting_upper=told.betting_upper pass_level fail_alpha "
    "low_information=why small_but_real_drop=is_small_drop n_needed=ways.n n_needed_for=ways.word "
    "margin_needed=ways.margin direction limits"
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
    harm = next((part for part in as_json["parts"] if part["kind"] == "harm"), None)
    warnings = "; ".join(metric["warnings"])
    return compare.with_runs(as_json) | {"of_metric": metric, "warnings": warnings, "harm": harm}


@shape_of(Decision)
def _decision_shape(decision: Decision) -> Mapping[str, object]:
    shape: dict[str, object] = {"decision": decision.decision, "margin": decision.margin, "reason": reason(decision)}
    shape |= picked(_DECISION_KEYS, decision) | {"to_decide": to_decide(decision) or None}
    rules, left, (low, high) = decision.rules, decision.unjudged, decision.open_delta
    shape["rules"] = None if rules.by is None else picked(paths("by margin=part_margin is_strict"), rules)
    shape["parts"] = [*decision.slices, *decision.harm]
    shape["max_harm"] = None if rules.max_harm is None else str(rules.max_harm)
    zero = {"worth": "range", "low": low, "high": high, "of_zero": decision.of_zero}
    shape["unjudged"] = left and {"share": left.share, **zero, "n_items": left.n_items, "stop": left.stop}
    return shape


@shape_of(Part)
def _part_shape(part: Part) -> Mapping[str, object]:
    of_harm, of_slices = ("n_harmed", "n_harmed_least", "of_clusters"), ("delta", "p_adjusted", "low_information")
    return fields_of(part, *(of_slices if part.kind == "harm" else of_harm))


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
    why = reason(replace(gated.decision, ways=Ways()))
    zero = in_words([note for note in gated.comparison.notes if note.kind == "unjudged_zero"])
    names = [gated.comparison.baseline.name, gated.comparison.candidate.name]
    barred = gated.decision.barred
    unchecked = gated.judge_alone if barred is not None and barred.kind == "judge_unchecked" else ""
    checking = sample_command(names, unchecked, gated.comparison.dataset) if unchecked else ()
    return Report(
        _finding(gated),
        tables=slice_tables(gated.decision),
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


def reason(decision: Decision) -> str:
    """Return why a decision came out as it did, and what would decide an open question.

    >>> from ndcg_tracker.questions.gate.decide import Rules
    >>> from ndcg_tracker.statistics.t_test import TTest
    >>> reason(Decision(rules=Rules(0.0, "set"), t=TTest(2, -0.25, None), whole="fail"))
    'the mean difference on these 2 groups, -0.25, is below 0'
    """
    if decision.limits:
        whole = reason(replace(decision, parts=tuple(part for part in decision.parts if part.kind != "limit")))
        return "; ".join([whole, *(f"but {limit_words(check)}" for check in decision.limits if not check.is_met)])
    if decision.barred is not None:
        return sentence(decision.barred)
    if few := few_words(decision.check):
        return f"open: {few}"
    if decision.delta is None:
        return "no group has a result in both runs"
    if decision.is_identical and decision.decision == "pass":
        return f"identical on all {decision.n:,} groups" if decision.n > 1 else "identical on the one group there is"
    parts = [_of_slices(decision), harm_words(decision)]
    if decision.of_zero not in (None, decision.decision):
        of_zero = f"if they are worth nothing, the decision is {(decision.of_zero or '').upper()}"
        parts = [f"{unjudged_words(decision)}; {of_zero}", *(part.removeprefix("but ") for part in parts)]
        return "; ".join(filter(None, parts))
    ways = to_decide(decision)
    needed = [f"to decide: {ways}"] if ways else []
    return "; ".join(filter(None, (_of_whole(decision), *parts, *needed)))


def _of_whole(decision: Decision) -> str:
    """Return what the mean difference of all groups decides."""
    assert decision.delta is not None
    if decision.scope == "set":
        sides = Sides(decision)
        relation = f"{'not ' if decision.whole == 'pass' else ''}{sides.worse} {sides.allowed(decision.margin)}"
        groups = "this 1 group" if decision.n == 1 else f"these {decision.n:,} groups"
        return f"the mean difference on {groups}, {decision.delta:.4g}, is {relation}"
    return _by_bounds(decision, decision.without("slice", "dataset", "harm"))


def unjudged_words(decision: Decision) -> str:
    """Return how much of the first ranks is unjudged, and how far it leaves delta open; "" where it does not."""
    left, (low, high) = decision.unjudged, decision.open_delta
    if left is None or low is None:
        return ""
    share = left.share
    where = "items" if share.cutoff is None else f"first {counted(share.cutoff, 'item')}"
    lacking = [None if side is None else 1 - side for side in (share.candidate, share.baseline)]
    unjudged = f"{percent(lacking[0])} of the candidate's {where} are unjudged (baseline {percent(lacking[1])})"
    return f"{unjudged}: delta is between {points(low, signed=True)} and {points(high, signed=True)}"


def unjudged_fact(decision: Decision) -> list[tuple[str, str]]:
    """Return how far unjudged items leave delta open, as a pair of a name and its value."""
    words = unjudged_words(decision)
    return [("unjudged", words)] if words else []


class Sides:
    """The words and numbers of a decision, whichever values are better."""

    def __init__(self, decision: Decision) -> None:
        self.is_higher = decision.direction == "higher"
        self.worse, self.better = ("below", "above") if self.is_higher else ("above", "below")
        self.least, self.most = ("at least", "at most") if self.is_higher else ("at most", "at least")
        of_gains = decision.bounds or Bounds()
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


def _of_slices(decision: Decision) -> str:
    """Return which slices fail, and which are not shown to be within their margin; or that no slice is judged."""
    rules, sides, slices = decision.rules, Sides(decision), decision.slices
    if rules.by is None:
        return ""
    clauses, judged = [], [part for part in slices if part.n >= FEWEST_IN_SLICE]
    if not judged:
        of_datasets = rules.by == "dataset"
        of_what = "dataset" if of_datasets else f"slice by {rules.by}"
        needed = f", but strict {'datasets' if of_datasets else 'slices'} need one" if rules.is_strict else ""
        clauses.append(f"no {of_what} has {FEWEST_IN_SLICE} groups, so none was judged{needed}")
    fails, is_open = ([part for part in judged if part.status == status] for status in ("fails", "open"))
    if fails:
        bounds = ", ".join(
            f"{_slice_name(part)} ({sides.most} {part.upper if sides.is_higher else part.lower:.4g} with "
            f"{percent_of(1 - (part.alpha or 0.0))} confidence)"
            for part in fails[:SLICES_NAMED]
        )
        clauses.append(f"but {sides.worse} {sides.allowed(rules.part_margin)}: {bounds}{_more(fails)}")
    if is_open:
        named = ", ".join(map(_slice_name, is_open[:SLICES_NAMED])) + _more(is_open)
        clauses.append(f"not shown to be {sides.better} {sides.allowed(rules.part_margin)}: {named}")
    fallen = [part for part in slices if part.p_adjusted is not None]
    if fallen:
        fallen.sort(key=lambda part: (part.low_information, part.delta if sides.is_higher else -part.delta))
        named = ", ".join(f"{_slice_name(part)} ({counted(part.n, 'group')})" for part in fallen[:SLICES_NAMED])
        clauses.append(f"regressed by compare's test: {named}{_more(fallen)}")
    return "; ".join(clauses)


def _slice_name(part: Part) -> str:
    return f"{part.attribute}={shown(part.value)}" if part.value is not None else f"no {part.attribute}"


def _more(rows: Sequence[object]) -> str:
    return f" and {len(rows) - SLICES_NAMED} more" if len(rows) > SLICES_NAMED else ""


def harm_words(decision: Decision) -> str:
    """Return whether few enough groups lose much, of all and of slices; "" where nobody asked."""
    limit, parts = decision.rules.max_harm, decision.harm
    if limit is None or not parts:
        return ""
    share, of_clusters = f"{limit.share * 100:g}%", parts[0].of_clusters
    lose = f"{who_loses(of_clusters=of_clusters)} more than {limit.loss:g}"
    whole, slices = parts[0], parts[1:]
    if whole.status == "within":
        level = percent_of(decision.pass_level or PASS_LEVEL)
        clauses = [f"with {level} confidence, at most {share} {lose}: {_counts(whole)} do"]
    elif whole.status == "fails":
        level = percent_of(1 - (whole.alpha or 0.0))
        told = f"but with {level} confidence, at least {(whole.lower or 0.0) * 100:.2g}% {lose}"
        clauses = [f"{told}, and only {share} may: {_counts(whole)} do"]
    else:
        most = f"{(whole.upper or 0.0) * 100:.2g}%"
        clauses = [f"not shown that at most {share} {lose}: {_counts(whole)} do, so up to {most} may"]
    who = "clusters" if of_clusters else "groups"
    for status, words in (
        ("fails", f"but more than {share} of the {who} {{}} do"),
        ("open", f"not shown for {who} {{}}"),
    ):
        rows = [part for part in slices if part.status == status and (status == "fails" or part.blocks)]
        named = [
            f"{'without' if part.value is None else 'with'} {part.attribute}"
            f"{'' if part.value is None else f'={shown(part.value)}'} ({_counts(part)})"
            for part in rows[:SLICES_NAMED]
        ]
        more = f" and {len(rows) - SLICES_NAMED} other slices" if len(rows) > SLICES_NAMED else ""
        clauses += [words.format(", ".join(named) + more)] if rows else []
    return "; ".join(clauses)


def _counts(part: Part) -> str:
    """Return how many are harmed, of how many."""
    counts = dict.fromkeys((f"{part.n_harmed_least:,}", f"{part.n_harmed:,}"))
    return f"{' to '.join(counts)} of {part.n:,}"


def slice_tables(decision: Decision, title: str = "slices") -> list[Table]:
    """Return the table of the slices, the worst first, none without any; ``title``: what slices are called here."""
    judged, sides = [part for part in decision.slices if part.n >= FEWEST_IN_SLICE], Sides(decision)
    if not judged:
        return []
    rows: list[list[object]] = [
        [
            NO_VALUE if part.value is None else part.value,
            f"{part.n:,}",
            points(part.delta, signed=True),
            points(part.lower, signed=True),
            points(part.upper, signed=True),
            Painted(part.status, _SLICE_STYLES.get(part.status)),
        ]
        for part in judged
    ]
    least, most = sides.levels
    legend = [
        f"{sides.least}: with {least} confidence; {sides.most}: with {most}, Holm-corrected for the {title} at once"
    ]
    if any(part.status == "open" for part in judged):
        legend.append("open: neither is shown; if information is low, bounds allow for rare, large differences")
    if n_small := len(decision.slices) - len(judged):
        small = counted(n_small, title.removesuffix("s"))
        legend.append(f"{small} of fewer than {FEWEST_IN_SLICE} groups not judged")
    heads = columns(decision.rules.by or "", ">n", ">delta", ">at least", ">at most", "finding")
    margin = shown_margin(decision.rules.part_margin)
    told = f"{title}, each allowed a {'drop' if sides.is_higher else 'rise'} of {margin}"
    return [Table(heads, rows, told, legend=legend)]


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


def to_decide(decision: Decision) -> str:
    """Return what would decide an open question, the most sensible first; "" if nothing is known to do so."""
    ways, left, needed = [], decision.unjudged, decision.ways
    if decision.decision != "inconclusive":
        return ""
    if left is not None and left.n_items and decision.of_zero not in (None, "inconclusive"):
        ways.append(f"judging {counted(left.n_items, 'unjudged item')}")
    if needed.n is not None and needed.word is not None:
        # the betting bound may decide before
        about = "about" if decision.told.betting_lower is None else "at most about"
        ways.append(f"{about} {needed.n:,} groups like these ({needed.word.upper()})")
    if needed.margin is not None:
        ways.append(f"a margin above {needed.margin:.4g} (PASS)")
    return ", or ".join(ways)


def _by_bounds(decision: Decision, whole: Word) -> str:
    """Return why a population decision came out as it did; ``whole``: that without its parts."""
    sides = Sides(decision)
    goal = f"{sides.better} {sides.allowed(decision.margin)}"
    pass_level, fail_level = percent_of(decision.pass_level or 0.0), percent_of(1 - (decision.fail_alpha or 0.0))
    has_t = decision.told.t_lower is not None or decision.told.t_upper is not None
    cause = "information is low" if has_t or decision.why is not None else "all differences are the same"
    kind = f"one-sided betting bound, as {cause}" if sides.pass_method == "betting" else "one-sided t bound"
    has_range = decision.open_delta[0] != decision.open_delta[1]
    kind += ", unjudged items at their worst" if has_range else ""
    bound, other = sides.pass_bound, sides.fail_bound
    kind += ", by drawn queries" if decision.check is not None and not decision.check.is_complete else ""
    if bound is None:
        why = "the bound that would decide does not cover repeats"
        why = why if decision.told.of_repeats else "no range of the metric is known"
        above = f"delta is not shown to be {goal} (low information, and {why})"
    elif whole == "pass":
        above = f"with {pass_level} confidence delta is {goal}: {sides.least} {bound:.4g} ({kind})"
    else:
        above = f"delta is not shown to be {goal}: its {pass_level} bound is {bound:.4g} ({kind})"
    if whole == "pass":
        change = "drop" if sides.is_higher else "rise"
        if not decision.is_small_drop:
            return above
        return f"{above}; a real {change} within the margin: with {fail_level} confidence {sides.most} {other:.4g}"
    if other is None:
        unknown = f"nor {sides.worse} 0, for which the t bound alone does not count" if sides.has_t_bound else ""
        return ", ".join(filter(None, (above, unknown)))
    by = ", ".join(filter(None, [_fail_kind(sides, cause), "unjudged items at their best" if has_range else ""]))
    by = by and f" ({by})"
    if whole == "fail":
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
    of = decision.rules
    rules += [] if of.max_harm is None else [f"max harm {of.max_harm}"]
    rules += [] if of.by is None else [f"{of.part_margin:g} of each {of.by}"]
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
    metric, of_gate = gated.metric, gated.decision.why
    is_certain = metric.verdict in ("identical", "not_comparable")
    warnings = [
        warning for warning in metric.warnings if warning.kind != "low_information"
    ]  # the gate has its own rule
    shown = replace(metric, warnings=(*warnings, *([of_gate] if of_gate is not None else [])))
    shown = replace(shown, settled=None, about=replace(shown.about, not_comparable=None)) if is_certain else shown
    return [Told("warning", footnote) for footnote in dict.fromkeys(compare.metric_footnotes(shown))]


def bounds_in_words(decision: Decision) -> list[str]:
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


def by_t_alone(decision: Decision) -> list[tuple[str, str]]:
    """Return the t bounds if they were not trusted alone, to show what caution costs."""
    sides = Sides(decision)
    gains = decision.bounds or Bounds()
    if decision.pass_level is None or decision.fail_alpha is None:
        return []
    by_t = []
    if gains.t_lower is not None and sides.pass_method == "betting":
        bound = points(sides.shown(gains.t_lower), signed=True)
        by_t.append(f"{sides.least} {bound} ({percent_of(decision.pass_level)})")
    if gains.t_upper is not None and gains.betting_upper is not None and (by_t or decision.why):
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
    message = f"{verdict_words(gated)}: {reason(replace(decision, ways=Ways()))}"
    properties = _properties(decision, gated.decision_id, gated.acknowledgement)
    case = JunitCase(*case_names, decision.decision.upper(), message, text, properties)
    return junit_document("ndcg-track gate", case, outcome)


def _properties(
    decision: Decision, decision_id: int | None, acknowledgement: Acknowledgement | None
) -> list[tuple[str, str]]:
    """Return the properties of a decision in a JUnit report."""
    pairs = [
        ("decision", decision.decision),
        ("scope", decision.scope),
        ("margin", repr(decision.margin)),
        ("delta", "" if decision.delta is None else repr(decision.delta)),
        ("n", str(decision.n)),
        *([] if decision.rules.max_harm is None else [("max_harm", str(decision.rules.max_harm))]),
        ("decision_id", "" if decision_id is None else str(decision_id)),
    ]
    if acknowledgement is not None:
        pairs += [("acknowledged_by", acknowledgement.by), ("acknowledged_reason", acknowledgement.reason)]
    return pairs
