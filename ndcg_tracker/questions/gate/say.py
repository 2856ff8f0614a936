"""A gate's decision as a report, as rows and for CI: the verdict first, then what it rests on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ndcg_tracker.compare import say as compare
from ndcg_tracker.compare.results import Comparison, Unjudged
from ndcg_tracker.compare.say_drawn import check_facts, favours, few_words
from ndcg_tracker.compare.say_tables import (
    change_words,
    facts,
    group_tables,
    limit_words,
    rare_loss_words,
    requests,
)
from ndcg_tracker.compare.say_tables import slice_tables as tables_of_slices
from ndcg_tracker.compare.say_where import NO_VALUE
from ndcg_tracker.errors import Spelling, in_python
from ndcg_tracker.questions.gate.decide import (
    FAIL_ALPHA,
    FEWEST_IN_SLICE,
    PASS_LEVEL,
    BoundMethod,
    Bounds,
    Decision,
    Part,
)
from ndcg_tracker.questions.gate.gather_policy import reset_command, rules_words
from ndcg_tracker.questions.gate.result import Drift, Gated, Look
from ndcg_tracker.render.formats import Said, as_object, fields_of, paths, picked, shape_of
from ndcg_tracker.render.report import Column, Line, Report, Table
from ndcg_tracker.render.terminal import Painted, Style, shortened, visible
from ndcg_tracker.render.whole_file import JunitCase, junit_document
from ndcg_tracker.statistics.drawn_queries import LEVELS_OF_LOOKS
from ndcg_tracker.storage.marks import PolicyRecord
from ndcg_tracker.words.notes import MINOR, Note, Told, command_line, sentence, told
from ndcg_tracker.words.sentences import named_slices
from ndcg_tracker.words.texts import (
    UNDEFINED,
    about_queries,
    between,
    clustered_by,
    counted,
    judge_words,
    ordinal,
    percent_of,
    points,
    queries,
    sample_command,
    short_name,
    shown,
    shown_margin,
    unit,
    units,
)

SLICES_NAMED = 5

STYLES: dict[str, Style] = {"pass": "good", "fail": "bad", "inconclusive": "open"}
_SLICE_STYLES: dict[str, Style] = {"fails": "bad", "within": "good"}
SENTENCES = {
    "pass": "{} may replace {} on {}",
    "fail": "{} must not replace {} on {}",
    "inconclusive": "{} may or may not replace {} on {}",
}
REST = "bounds, labels, ties, drift"
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
    "learned_margin=basis.learned ties_could_change_decision regressed_slices drift decision_id "
    "decision_number=basis.number acknowledged=acknowledgement judge_alone=basis.judge_alone decided_before "
    "look=basis.look drawn_look policy=basis.policy outside=basis.outside"
)
_PROPERTIES = paths(
    "decision scope margin delta n max_harm decision_id acknowledged_by=acknowledged.by "
    "acknowledged_reason=acknowledged.reason"
)


def gate_said(gated: Gated, spelled: Spelling = in_python) -> Said:
    """Return the output for a decision; ``spelled``: how arguments are written for people."""
    return Said(
        gated,
        lambda: [gate_report(gated, spelled)],
        lambda: Table.of_rows([picked(_CSV_COLUMNS, _with_metric(gated))]),
        dataset=gated.comparison.dataset,
    )


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
    shape["rules"] = None if rules.by is None else picked(paths("by margin=part_margin"), rules)
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
    return shape | picked(_GATE_KEYS, gated) | {"screen": [str(line) for line in screen_lines(gated)[:-1]]}


def gate_report(gated: Gated, spelled: Spelling = in_python) -> Report:
    """Return the report of a decision; ``spelled``: how arguments are written."""
    gated = replace(gated, comparison=compare.for_people(gated.comparison))
    low = gated.decision.why
    datasets = [] if gated.comparison.suite is None else tables_of_slices(gated.comparison)
    return Report(
        _finding(gated),
        verdict=Painted(verdict_words(gated), STYLES[gated.decision.decision]),
        under=screen_lines(gated),
        facts=[("reason", reason(gated.decision)), *_facts(gated, spelled)],
        minor=[
            *([] if low is None else [Told("warning", sentence(low))]),
            *(told(note) for note in gated.comparison.notes if note.kind in MINOR),
        ],
        details=[*slice_tables(gated.decision), *datasets, *group_tables(gated.comparison)],
        rest=REST,
    )


def screen_lines(gated: Gated) -> list[Line]:
    """Return the lines below the verdict: delta, why, what fell or what to do, warnings, and where it is recorded."""
    comparison, decision, basis = gated.comparison, gated.decision, gated.basis
    lines = [Line("  ", delta_words(decision))]
    lines += [Line("  why: ", why)] if (why := why_words(decision)) else []
    lines += [*_fallen(gated), *_worst_loss(gated)] if decision.decision == "pass" else []
    lines += do_lines(decision, _grading(gated), comparison)
    zero = [note for note in comparison.notes if note.kind == "unjudged_zero"]
    lines += [Line("  rests on: ", sentence(note)) for note in zero]
    if basis.judge_alone and decision.barred is None:
        lines.append(Line("  rests on: ", f"{judge_words(basis.judge_alone)} alone, whose labels nobody has checked"))
    lines += [Line("  ", favour) for favour in favours(comparison)]
    lines += [Line("  warning: ", warning) for warning in _warnings(gated)]
    notes = [told(note) for note in comparison.notes if note.kind not in {*MINOR, *_IN_LINES}]
    lines += [Line("  note: ", note.sentence + ":" * bool(note.command), note.command) for note in notes]
    if basis.look is not None and basis.policy is not None:
        words = look_words(basis.look, f"its owner restarts it with: {reset_command(basis.policy)}")
        lines.append(Line("  look ", words))
    return [*lines, Line("  ", recorded_as(gated))]


_IN_LINES = ("unjudged_zero", "unjudged_open", "slices_regressed", "small_slices_regressed")


def delta_words(decision: Decision) -> str:
    """Return delta, what the data allow, and what PASS needs.

    >>> from ndcg_tracker.questions.gate.decide import Rules
    >>> from ndcg_tracker.statistics.t_test import TTest
    >>> delta_words(Decision(rules=Rules(0.0, "set"), t=TTest(2, -0.25, None), whole="fail"))
    'delta -0.2500 on these 2 queries; PASS needs it to be at least 0'
    """
    sides, delta = Sides(decision), f"delta {points(decision.delta, signed=True)}"
    if decision.scope == "set":
        needed = f"PASS needs it to be {sides.least} {sides.allowed(decision.margin)}"
        which = f"this {unit('query')}" if decision.n == 1 else f"these {queries(decision.n)}"
        return f"{delta} on {which}; {needed}"
    end = "lower" if sides.is_higher else "upper"
    needed = f"PASS needs the {end} end {sides.better} {sides.allowed(decision.margin)}"
    return "; ".join(filter(None, (delta, allowed_words(decision), "" if decision.is_identical else needed)))


def allowed_words(decision: Decision) -> str:
    """Return which differences the data allow, "" if no bound is known."""
    low, high = (None if end is None else _rounded(end) for end in (decision.lower, decision.upper))
    if low is None and high is None:
        return ""
    if low and high:
        return f"the data allow {low} to {high}"
    return f"the data allow at least {low}" if low else f"the data allow at most {high}"


def _rounded(end: float) -> str:
    return points(end, signed=True, digits=3 if abs(end) >= 0.01 else 4)


def why_words(decision: Decision) -> str:
    """Return why a decision came out as it did, "" for a PASS without a condition."""
    if only := _only_reason(decision):
        return only
    clauses = _clauses(decision)
    if decision.scope == "set":
        return "; ".join(clauses)
    if decision.decision != "inconclusive":
        return "; ".join(clauses or [_outcome(decision)] * (decision.decision == "fail"))
    told = ", and ".join(filter(None, (_few_words(decision), _open_share(decision))))
    return "; ".join(filter(None, [*clauses, told])) or _outcome(decision)


def _only_reason(decision: Decision) -> str:
    """Return the one reason that needs no other but the limits that are not met, "" if there is none."""
    if decision.barred is not None:
        only = sentence(decision.barred)
    elif few := few_words(decision.check):
        only = f"open: {few}"
    elif decision.delta is None:
        only = f"no {unit('query')} has a result in both runs"
    elif decision.is_identical and decision.decision == "pass":
        only = f"identical on {'all ' if decision.n > 1 else 'the '}{queries(decision.n)}"
    else:
        return ""
    return "; ".join([only, *_unmet(decision)])


def _unmet(decision: Decision) -> list[str]:
    """Return the limits on other numbers that are not met."""
    return [limit_words(check) for check in decision.limits if not check.is_met]


def _clauses(decision: Decision) -> list[str]:
    """Return what besides the bounds decides or hinders a decision."""
    clauses = [*_unmet(decision), _of_slices(decision), harm_words(decision)]
    if decision.of_zero not in (None, decision.decision):
        clauses.append(f"if unjudged items are worth nothing, the decision is {(decision.of_zero or '').upper()}")
    if decision.is_small_drop:
        clauses.append(f"a real {'drop' if decision.direction == 'higher' else 'rise'} within the margin")
    return [clause for clause in clauses if clause]


def _few_words(decision: Decision) -> str:
    """Return that few queries differ, "" if enough do."""
    low = decision.why
    if low is None:
        return ""
    facts: Mapping[str, Any] = low.facts
    if low.kind == "low_information" and facts.get("n_nonzero") is not None:
        n, word = facts["n_nonzero"], "cluster" if facts.get("of_clusters") else unit("query")
        of = f"{n:,} of " if n < facts["n"] else ""
        few = f"only {of}{counted(facts['n'], word)} {'differs' if n == 1 else 'differ'}"
        return f"{few} (the safer bound does not cover repeats)" if decision.told.of_repeats else few
    return sentence(low)


def _open_share(decision: Decision) -> str:
    """Return how much of the first ranks is unjudged, "" if it leaves nothing open."""
    left, (low, high) = decision.unjudged, decision.open_delta
    return "" if left is None or low is None or low == high else _share(left)


def _outcome(decision: Decision) -> str:
    """Return what the range that the data allow says about all queries together."""
    sides = Sides(decision)
    change = "drop" if sides.is_higher else "rise"
    more = f"{change} of more than {shown_margin(decision.margin)}" if decision.margin else change
    told = {"pass": f"no {more}", "fail": f"all of that is {sides.worse} 0"}
    return told.get(decision.decision, f"neither a {more} nor no {change} can be ruled out")


def reason(decision: Decision) -> str:
    """Return why a decision came out as it did, and what would decide an open question.

    >>> from ndcg_tracker.questions.gate.decide import Rules
    >>> from ndcg_tracker.statistics.t_test import TTest
    >>> reason(Decision(rules=Rules(0.0, "set"), t=TTest(2, -0.25, None), whole="fail"))
    'delta -0.2500 on these 2 queries; PASS needs it to be at least 0'
    """
    if only := _only_reason(decision):
        return only
    ways = to_decide(decision)
    return "; ".join(filter(None, [delta_words(decision), why_words(decision), f"to decide: {ways}" if ways else ""]))


def _fallen(gated: Gated) -> list[Line]:
    """Return the slices that regressed although all queries together pass, and the command that shows them."""
    rows = gated.regressed_slices
    if not rows:
        return []
    command = next(note.command for note in gated.comparison.notes if note.kind.endswith("slices_regressed"))
    named = named_slices([(row.attribute, row.value, row.delta, row.n) for row in rows])
    return [Line("  fell: ", named, command_line(command))]


def _worst_loss(gated: Gated) -> list[Line]:
    rare, worst = gated.metric.rare_loss, gated.comparison.worst[:1]
    if rare is None:
        return []
    who = f" ({shortened(visible(gated.comparison.texts.get(worst[0].group, worst[0].group)), 24)})" if worst else ""
    return [Line("  ", rare_loss_words(rare, of_clusters=gated.metric.about.clusters is not None, who=who))]


def _grading(gated: Gated) -> Note | None:
    """Return the note with the command that fills what unjudged items leave open, None if they leave nothing open."""
    return next((note for note in gated.comparison.notes if note.kind == "unjudged_open"), None)


def do_lines(decision: Decision, grading: Note | None, comparison: Comparison) -> list[Line]:
    """Return what would decide an open question, in order.

    ``grading``: a note with the command that fills what unjudged items leave open.
    """
    if decision.decision != "inconclusive":
        return []
    steps, barred = list[tuple[str, str]](), decision.barred
    if barred is not None and barred.kind == "judge_unchecked":
        judge = str(barred.facts["judge"])
        dataset = "" if comparison.suite is not None else comparison.dataset
        command = sample_command([comparison.baseline.name, comparison.candidate.name], judge, dataset)
        steps.append((f"have people check {judge_words(judge)}", command_line(command)))
    elif grading is not None and not _only_reason(decision):
        worst = decision.open_delta[0 if decision.direction == "higher" else 1]
        is_needed = (
            worst is not None and abs(worst) >= decision.margin and (worst < 0) == (decision.direction == "higher")
        )
        facts: Mapping[str, Any] = grading.facts
        what = "the unjudged items" if facts["n"] is None else counted(facts["n"], "item")
        where = "" if facts["n_groups"] is None else f" in {queries(facts['n_groups'])}"
        where += f" of {grading.dataset}" if grading.dataset else ""
        needed = ", without which nothing can PASS" if is_needed else ""
        steps.append((f"grade {what}{where}{needed}", command_line(grading.command)))
    ways = [words for words in (_more_queries(decision), _wider_margin(decision)) if words]
    if ways:
        steps.append(("then " * bool(steps) + ", or ".join(ways), ""))
    starts = ["  do:  1. ", *(f"       {number}. " for number in range(2, len(steps) + 1))]
    return [Line(start, words, command) for start, (words, command) in zip(starts, steps, strict=False)]


def _more_queries(decision: Decision) -> str:
    """Return about how many queries like these would decide, "" if that is not known.

    Where only judging can decide, these are as many as decide if the items turn out as they count now.
    """
    as_judged = decision.others.get("zero", decision)
    ways = decision.ways if decision.ways.n is not None else as_judged.ways
    return "" if ways.n is None or ways.word is None else f"{about_queries(ways.n)} like these ({ways.word.upper()})"


def _wider_margin(decision: Decision) -> str:
    return "" if decision.ways.margin is None else f"a margin above {decision.ways.margin:.4g} (PASS)"


def unjudged_fact(decision: Decision) -> list[tuple[str, str]]:
    """Return how far unjudged items leave delta open, as a pair of a name and its value."""
    left, (low, high) = decision.unjudged, decision.open_delta
    if left is None or low is None or high is None:
        return []
    return [("unjudged", f"{_share(left)}: could move delta to anything from {between((low, high))}")]


def _share(left: Unjudged) -> str:
    """Return how much of the first ranks is unjudged.

    >>> from ndcg_tracker.compare.results import JudgedShare, Unjudged
    >>> _share(Unjudged(JudgedShare(10, 0.98, 0.71)))
    '29% of the top 10 is unjudged (baseline 2%)'
    """
    where = "of the lists" if left.share.cutoff is None else f"of the top {left.share.cutoff}"
    lacking = [UNDEFINED if of is None else f"{1 - of:.0%}" for of in (left.share.candidate, left.share.baseline)]
    return f"{lacking[0]} {where} is unjudged (baseline {lacking[1]})"


class Sides:
    """The words and numbers of a decision, whichever values are better."""

    def __init__(self, decision: Decision) -> None:
        self.is_higher = decision.direction == "higher"
        self.worse, self.better = ("below", "above") if self.is_higher else ("above", "below")
        self.least, self.most = ("at least", "at most") if self.is_higher else ("at most", "at least")
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
        of_what = "dataset" if rules.by == "dataset" else f"slice by {rules.by}"
        clauses.append(f"no {of_what} has {FEWEST_IN_SLICE} {units('query')}, so none was judged")
    fails, is_open = ([part for part in judged if part.status == status] for status in ("fails", "open"))
    if fails:

        def bound(part: Part) -> str:
            most = f"{sides.most} {part.upper if sides.is_higher else part.lower:.4g}"
            return f"{_slice_name(part)} ({most} with {percent_of(1 - (part.alpha or 0.0))} confidence)"

        clauses.append(f"{sides.worse} {sides.allowed(rules.part_margin)}: {_listed(fails, bound)}")
    if is_open:
        named = _listed(is_open, _slice_name)
        clauses.append(f"not shown to be {sides.better} {sides.allowed(rules.part_margin)}: {named}")
    fallen = [part for part in slices if part.p_adjusted is not None]
    if fallen:
        fallen.sort(key=lambda part: (part.low_information, part.delta if sides.is_higher else -part.delta))
        named = named_slices([(part.attribute, part.value, part.delta, part.n) for part in fallen])
        clauses.append(f"regressed by compare's test: {named}")
    return "; ".join(clauses)


def _slice_name(part: Part) -> str:
    return f"{part.attribute}={shown(part.value)}" if part.value is not None else f"no {part.attribute}"


def _listed(parts: Sequence[Part], named: Callable[[Part], str]) -> str:
    """Return the names of the first parts, and how many more there are."""
    more = f" and {len(parts) - SLICES_NAMED} more" if len(parts) > SLICES_NAMED else ""
    return ", ".join(map(named, parts[:SLICES_NAMED])) + more


def harm_words(decision: Decision) -> str:
    """Return whether few enough queries lose much, of all and of slices; "" where nobody asked."""
    limit, parts = decision.rules.max_harm, decision.harm
    if limit is None or not parts:
        return ""
    share, of_clusters = f"{limit.share * 100:g}%", parts[0].of_clusters
    lose = (
        f"of clusters like these have a {unit('query')} that loses"
        if of_clusters
        else f"of {units('query')} like these lose"
    )
    lose += f" more than {limit.loss:g}"
    whole, harmed = parts[0], [part for part in parts[1:] if part.status == "fails"]
    if whole.status == "within":
        level = percent_of(decision.pass_level or PASS_LEVEL)
        words = f"with {level} confidence, at most {share} {lose}: {_counts(whole)} do"
    elif whole.status == "fails":
        level = percent_of(1 - (whole.alpha or 0.0))
        least = f"with {level} confidence, at least {(whole.lower or 0.0) * 100:.2g}% {lose}"
        words = f"{least}, and only {share} may: {_counts(whole)} do"
    else:
        most = f"{(whole.upper or 0.0) * 100:.2g}%"
        words = f"not shown that at most {share} {lose}: {_counts(whole)} do, so up to {most} may"
    if not harmed:
        return words
    named = _listed(harmed, lambda part: f"with {_slice_name(part)} ({_counts(part)})")
    return f"{words}; but more than {share} of the {'clusters' if of_clusters else units('query')} {named} do"


def _counts(part: Part) -> str:
    """Return how many are harmed, of how many."""
    counts = dict.fromkeys((f"{part.n_harmed_least:,}", f"{part.n_harmed:,}"))
    return f"{' to '.join(counts)} of {part.n:,}"


def slice_tables(decision: Decision) -> list[Table]:
    """Return the table of the slices or datasets, the worst first, none without any."""
    title = "datasets" if decision.rules.by == "dataset" else "slices"
    judged, sides = [part for part in decision.slices if part.n >= FEWEST_IN_SLICE], Sides(decision)
    if not judged:
        return []
    least, most = sides.levels
    legend = [
        f"{sides.least}: with {least} confidence; {sides.most}: with {most}, Holm-corrected for the {title} at once"
    ]
    if any(part.status == "open" for part in judged):
        legend.append("open: neither is shown; if information is low, bounds allow for rare, large differences")
    if n_small := len(decision.slices) - len(judged):
        small = counted(n_small, title.removesuffix("s"))
        legend.append(f"{small} of fewer than {FEWEST_IN_SLICE} {units('query')} not judged")
    columns = (
        Column("value", decision.rules.by or "", "id", of=lambda row: NO_VALUE if row.value is None else row.value),
        Column("n", "n", "count"),
        Column("delta", "delta", "delta"),
        Column("lower", "at least", "delta"),
        Column("upper", "at most", "delta"),
        Column("finding", "finding", of=lambda row: Painted(row.status, _SLICE_STYLES.get(row.status)), right=False),
    )
    margin = shown_margin(decision.rules.part_margin)
    told = f"{title}, each allowed a {'drop' if sides.is_higher else 'rise'} of {margin}"
    return [Table.of(columns, judged, told, legend=legend)]


def recorded_reason(gated: Gated) -> str:
    """Return the reason of a decision as the database stores it, with its clusters and the origin of its margin."""
    why, learned, clusters = reason(gated.decision), gated.basis.learned, gated.metric.about.clusters
    why += f" {clustered_by(clusters.attribute)}" if clusters is not None else ""
    why += f" (policy of @{gated.basis.policy.alias})" if gated.basis.policy is not None else ""
    why += f" (outside the policy of @{gated.basis.outside})" if gated.basis.outside else ""
    if learned is None:
        return why
    return f"{why} (margin learned from {len(learned.runs)} repeats: {', '.join(learned.runs)})"


def to_decide(decision: Decision) -> str:
    """Return what would decide an open question, the most sensible first; "" if nothing is known to do so."""
    ways, left = [], decision.unjudged
    if decision.decision != "inconclusive":
        return ""
    if left is not None and left.n_items and decision.of_zero not in (None, "inconclusive"):
        ways.append(f"judging {counted(left.n_items, 'unjudged item')}")
    return ", or ".join(filter(None, [*ways, _more_queries(decision), _wider_margin(decision)]))


def verdict_words(gated: Gated) -> str:
    """Return PASS, FAIL or INCONCLUSIVE; with the rules that a PASS has passed, and the policy that does not count."""
    word, decision = gated.decision.decision.upper(), gated.decision
    if gated.basis.outside:
        return f"{word} outside the policy of @{gated.basis.outside}"
    if gated.basis.policy is None or word != "PASS":
        return word
    rules = [f"margin {decision.margin:g} of {gated.metric.metric}"]
    of = decision.rules
    rules += [] if of.max_harm is None else [f"max harm {of.max_harm}"]
    rules += [] if of.by is None else [f"{of.part_margin:g} of each {of.by}"]
    rules += [f"{check.name} {check.limit}" for check in decision.limits]
    return f"PASS at {', '.join(rules)} (policy of @{gated.basis.policy.alias})"


def _finding(gated: Gated) -> str:
    """Return what the verdict means for both runs, by which metric and margin."""
    comparison, decision = gated.comparison, gated.decision
    text = SENTENCES[decision.decision].format(
        comparison.candidate.name, comparison.baseline.name, compare.judged_dataset(comparison)
    )
    learned = "" if gated.basis.learned is None else f", learned from {len(gated.basis.learned.runs)} repeats"
    rules = f"({gated.metric.metric}, margin {shown_margin(decision.margin)}{learned})"
    return f"{text} {rules}{', but it was overridden' if gated.acknowledgement is not None else ''}"


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
        ("margin", _margin(gated)),
        *(
            []
            if gated.basis.learned is None
            else [("bounds", f"cover other {units()} and another training of each run")]
        ),
        (units(), groups),
    ]
    pairs += [*facts(gated.comparison, spelled), *check_facts(gated.comparison), *requests(gated.comparison)]
    pairs += [
        (
            check.name,
            f"baseline {check.baseline:g}, candidate {check.candidate:g}{change_words(check)}; limit {check.limit}",
        )
        for check in decision.limits
    ]
    policy = gated.basis.policy
    if policy is not None:
        rules = rules_words(policy.rules)
        pairs.append(
            ("policy", f"@{policy.alias}: {rules}; set by {short_name(policy.set_by)} at {minute(policy.set_at_utc)}")
        )
    if policy is not None and gated.basis.restarted is not None:
        of = gated.basis.restarted
        pairs.append(("counted", f"since {minute(of.created_at_utc)}: {of.reason}, by {short_name(of.reset_by)}"))
    if 0 < gated.drawn_look <= len(LEVELS_OF_LOOKS):
        level = LEVELS_OF_LOOKS[gated.drawn_look - 1]
        pairs.append(("look", f"{gated.drawn_look} of {len(LEVELS_OF_LOOKS)} by drawn answers, level {level:g}"))
    if gated.drift is not None:
        pairs += [("drift", clause) for clause in drifted(gated.drift)]
    pairs.append(("decision", f"the {ordinal(gated.basis.number)} of this gate"))
    return pairs


def _warnings(gated: Gated) -> list[str]:
    """Return which groups count differently, and other warnings of the metric than low information."""
    metric = gated.metric
    warnings = [of for of in metric.warnings if of.kind != "low_information"]  # the gate has its own rule
    is_certain = metric.verdict in ("identical", "not_comparable")
    shown = replace(metric, warnings=tuple(warnings))
    shown = replace(shown, settled=None, about=replace(shown.about, not_comparable=None)) if is_certain else shown
    return list(dict.fromkeys(compare.metric_footnotes(shown)))


def bounds_in_words(decision: Decision) -> list[str]:
    """Return the one-sided bounds, each with its level; the bound of PASS comes first."""
    of = decision.bounds or Bounds()
    return _one_sided(decision, (of.lower, of.lower_method), (of.upper, of.upper_method))


def _one_sided(decision: Decision, *bounds: tuple[float | None, BoundMethod | None]) -> list[str]:
    """Return the bounds for PASS and for FAIL of gains, as differences."""
    sides = Sides(decision)
    return [
        f"{word} {points(sides.shown(gain), signed=True)} ({'betting bound, ' if method == 'betting' else ''}{level})"
        for (gain, method), word, level in zip(bounds, (sides.least, sides.most), sides.levels, strict=True)
        if gain is not None
    ]


def by_t_alone(decision: Decision) -> list[tuple[str, str]]:
    """Return the t bounds if they were not trusted alone, to show what caution costs."""
    of = decision.bounds or Bounds()
    lower = of.t_lower if of.lower_method == "betting" else None
    upper = of.t_upper if of.betting_upper is not None and (lower is not None or decision.why) else None
    by_t = _one_sided(decision, (lower, "t"), (upper, "t"))
    return [("by t alone", f"{', '.join(by_t)}; not trusted, as information is low")] if by_t else []


def _margin(gated: Gated) -> str:
    """Return the allowed drop, and where it comes from."""
    learned, margin = gated.basis.learned, points(gated.decision.margin)
    if learned is None:
        return margin
    runs = ", ".join(learned.runs[:8]) + (", ..." if len(learned.runs) > 8 else "")
    pairs = f"{counted(learned.n_pairs, 'pair')}, at most {points(learned.largest)} apart"
    return (
        f"{margin}, learned from {len(learned.runs)} repeats: with {percent_of(learned.level)} confidence two repeats "
        f"differ by less ({runs}; {pairs})"
    )


def recorded_as(gated: Gated) -> str:
    """Return where the decision is recorded, and who overrode it."""
    if gated.decision_id is None:
        told = "not recorded"
    else:
        told = f"{'decided before' if gated.decided_before else 'recorded'} as decision {gated.decision_id}"
    by = gated.acknowledgement
    return told if by is None else f"{told}; overridden by {by.by}: {by.reason}"


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
    accepted = counted(drift.n_accepted, "candidate") if drift.n_accepted else "no candidate"
    overridden = f", {drift.n_overridden} overridden without a PASS" if drift.n_overridden else ""
    pinned += f"; {accepted} accepted since{overridden}"
    if not drift.n_moves:
        return [pinned]
    times = "once" if drift.n_moves == 1 else f"{drift.n_moves} times"
    moved = (
        f"it was moved {times} to a candidate of this gate: {points(drift.moved_delta, signed=True)} since "
        f"{drift.first_run}, {points(drift.total_delta, signed=True)} with this candidate"
    )
    return [pinned, moved]


def gate_junit(gated: Gated, spelled: Spelling = in_python) -> str:
    """Return the XML document of a JUnit report with the gate as its one test case.

    Characters that XML does not allow (control characters and lone surrogates) become escapes such as ``\\x1b``.

    It fails unless the candidate may replace the baseline. ``spelled``: how arguments are written.
    """
    text = gate_said(gated, spelled).in_format("text", detail="all")
    comparison, decision = compare.for_people(gated.comparison), gated.decision
    name = f"{comparison.metrics[0].metric}: {comparison.candidate.name} against {comparison.baseline.name}"
    where = f"ndcg-track.{'gate' if comparison.suite is None else 'suite'}.{comparison.dataset}"
    why = _only_reason(decision) or "; ".join(filter(None, (delta_words(decision), why_words(decision))))
    message = f"{verdict_words(gated)}: {why}"
    told = picked(_PROPERTIES, as_object(gated))
    properties = [(name, str(value)) for name, value in told.items() if value is not None]
    case = JunitCase(where, name, decision.decision.upper(), message, text, properties)
    return junit_document("ndcg-track gate", case, has_failed=not gated.is_accepted)
