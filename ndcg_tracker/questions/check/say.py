"""What a check says, in few lines; and the new baseline, if it is accepted."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ndcg_tracker.errors import InputError, Spelling, argument, in_python, worded
from ndcg_tracker.questions.check.decide import Decided, MetricMeans, NoAnswers, OtherIds, Rules, decided
from ndcg_tracker.questions.check.gather import Reads, gathered
from ndcg_tracker.questions.check.question import CheckQuestion
from ndcg_tracker.render.formats import Answer, Said
from ndcg_tracker.render.report import Column, Line, Report, Table
from ndcg_tracker.render.terminal import shortened, shortened_inside, visible
from ndcg_tracker.render.whole_file import JunitCase, junit_document, whole_file
from ndcg_tracker.statistics.small_sets import TOLERANCE
from ndcg_tracker.words.texts import points, shown, shown_margin

EXIT_CODES = {"green": 0, "values": 0, "red": 3, "not_compared": 5}
_SHOWN = 5
_NAME = 50  # columns of a query or an item
_SCREEN = 14
"""How many lines a screen has at most."""


@dataclass(frozen=True)
class Checked(Answer):
    """The result of a check: its ``decision`` ("green", "red", "not_compared", "values"), and what it rests on.

    ``accepted``: whether the results are the new baseline. ``read``: what was read from where. ``names``:
    of the golden set, the results and the baseline.
    """

    decided: Decided
    rules: Rules
    accepted: bool
    read: tuple[str, ...]
    names: tuple[str, str, str]

    @property
    def decision(self) -> str:
        """The decision."""
        return self.decided.decision

    @property
    def exit_code(self) -> int:
        """The exit code: 0 if it is green or accepted, 3 below the tolerance, 5 not compared."""
        return 0 if self.accepted else EXIT_CODES[self.decided.decision]

    def said(self, spelled: Spelling) -> Said:
        """Return its output; ``spelled``: how arguments are written."""
        return Said(self._plain, lambda: [_report(self, spelled)], lambda: _changes(self))

    def _said(self) -> Said:
        return self.said(in_python)

    def _plain(self) -> dict[str, Any]:
        of, rules = self.decided, self.rules
        golden = {
            "new": of.golden.new,
            "gone": [name for name, _ in of.golden.gone],
            "relabelled": of.golden.relabelled,
        }
        return {
            "decision": of.decision,
            "accepted": self.accepted,
            "n": of.n,
            "metrics": of.metrics,
            "tolerance": rules.tolerance,
            "allowed": of.allowed,
            "strict": rules.is_strict,
            "drop_up_to": of.drop_up_to,
            "stopped": of.stopped,
            "changed": of.changed,
            "no_answer": of.no_answers,
            "lost_by": [{"attribute": name, "value": value, "n": n} for name, value, n in of.lost_by],
            "golden": golden,
            "absent": of.absent,
            "edited": [query for query in of.edited if query is not None] if of.edited else [],
            "other_ids": of.other_ids,
            "best": of.best,
            "read": self.read,
        }


def junit_of(checked: Checked, spelled: Spelling = in_python) -> str:
    """Return a JUnit report with a check as its one test case."""
    golden, results, baseline = checked.names
    text = checked.said(spelled).in_format("text", detail="all")
    facts = [
        ("decision", checked.decision),
        ("tolerance", repr(checked.rules.tolerance)),
        ("n", str(checked.decided.n)),
    ]
    name = f"{results} against {baseline}" if baseline else f"{results} on {golden}"
    case = JunitCase("ndcg-track.check", name, checked.decision.upper(), text.splitlines()[-1], text, facts)
    return junit_document("ndcg-track check", case, "failed" if checked.exit_code else "passed")


def checked(reading: Reads, results: object, labels: object, against: str | None, question: CheckQuestion) -> Checked:
    """Return the result of a check, and write the new baseline if it is accepted."""
    if question.accept and os.environ.get("CI", "").lower() in ("true", "1"):
        what = f"{argument('accept', True)} is for people, and CI is set"
        raise InputError(what, advice="accept the results on your own machine, and commit the file")
    facts, metrics, depth, read, of_files = gathered(reading, results, labels, against, question)
    is_stable = question.ids_are_stable or (facts.baseline is not None and facts.baseline.ids_are_stable)
    tolerance = TOLERANCE if question.tolerance is None else question.tolerance
    rules = Rules(metrics, tolerance, question.strict, is_stable)
    of = decided(facts, rules, depth)
    names = (*of_files, against or "")
    if question.accept:
        if of.absent:
            raise InputError(
                absent(of, names).removeprefix("not compared: "),
                advice="answer them, with an empty list if nothing is found",
            )
        assert of.now is not None
        with whole_file(against, argument("against")) as write:
            write(of.now.text)
    return Checked(of, rules, question.accept, tuple(read), names)


def _report(checked: Checked, spelled: Spelling) -> Report:
    """Return the report of a check."""
    of, told = checked.decided, [("read", line) for line in checked.read]
    if of.decision == "not_compared" and not checked.accepted:
        first, *rest = _why_not(checked)
        lines = [Line("", worded(line, spelled)) for line in rest]
        return Report(worded(first, spelled), lines=lines, facts=told, is_dense=True)
    said = [*_golden(of), *_these(checked), *_others(of), *_further(checked), _verdict(checked)]
    lines = [Line("", worded(line, spelled)) for line in said if line]
    every, n_shown = _changes(checked), min(_SHOWN, _SCREEN - len(lines) - 3)  # the headline, headings and "+N more"
    n_more = len(of.changed) - n_shown
    table = replace(every, rows=every.rows[:n_shown], after=f"+{n_more} more (-v)" if n_more > 0 else "")
    return Report(
        _headline(of),
        tables=[table] if of.changed else [],
        lines=lines,
        facts=told,
        details=[every] if n_more > 0 else [],
        is_dense=True,
    )


def _changes(checked: Checked) -> Table:
    """Return the table of the changed queries."""
    depth = max((one.cutoff or 0 for one in checked.rules.metrics), default=0)

    def rank(of: int | None) -> str:
        return str(of) if of is not None and (not depth or of <= depth) else f"not in the first {depth}"

    columns = (
        Column("", "change", "text", of=lambda one: "worse" if one.delta < 0 else "better"),
        Column("", "query", "text", of=lambda one: shortened(visible(one.query), _NAME)),
        *(Column(key) for key in ("query", "item", "baseline", "candidate", "delta")),
        Column("", "item", "text", of=lambda one: shortened_inside(visible(one.item or ""), _NAME)),
        Column("", "rank", "text", of=lambda one: f"{rank(one.rank_baseline)} -> {rank(one.rank_candidate)}"),
        *(Column(key) for key in ("rank_baseline", "rank_candidate")),
    )
    return Table.of(columns, checked.decided.changed, "", names=(1,))


def _headline(of: Decided) -> str:
    means = ", ".join(map(_mean, of.metrics))
    if of.decision == "values":
        return f"{_queries(of.n)}: {means}"
    n_same = of.n - len(of.changed)
    changed = f", {len(of.changed)} changed" if of.changed else ""
    return f"{n_same} of {_queries(of.n)} as before{changed}: {means}"


def _mean(of: MetricMeans) -> str:
    then = "" if of.baseline is None else f"{points(of.baseline, digits=3)} -> "
    return f"{of.metric} {then}{points(of.candidate, digits=3)}"


def _queries(n: int) -> str:
    return "1 query" if n == 1 else f"{n:,} queries"


def _golden(of: Decided) -> Iterator[str]:
    """Say how the golden set changed."""
    golden = of.golden
    if golden:
        counts = {"new": len(golden.new), "gone": len(golden.gone)}
        told = [f"{_queries(n)} {word}" for word, n in counts.items() if n]
        told += [f"labels of {len(golden.relabelled)} changed"] if golden.relabelled else []
        gone = [
            shown(name) + (f" (was {points(value, digits=3)})" if value is not None else "")
            for name, value in golden.gone
        ]
        named = f"; gone: {_some(gone)}" if gone else ""
        yield f"golden set: {', '.join(told)}{named}. Both sides have today's labels"


def _some(names: Sequence[str], most: int = 3) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _these(checked: Checked) -> Iterator[str]:
    """Say whether the drop on these queries is within the tolerance."""
    of, rules = checked.decided, checked.rules
    first = of.metrics[0]
    if first.delta is None:
        return
    is_within = first.delta >= -of.allowed - 1e-9
    n_lost = round(of.allowed * of.n)
    queries = f" ({_queries(n_lost)})" if of.is_count and n_lost else ""
    strict = f"; strict: {_queries(of.worse)} worse" if rules.is_strict and of.worse else ""
    where = "within" if is_within else "below"
    subject = "this query" if of.n == 1 else f"these {of.n:,} queries"
    delta = points(first.delta, signed=True, digits=3, is_aligned=True)
    tolerance = f"{shown_margin(round(of.allowed, 4))}{queries}"
    yield f"{subject}: {first.metric} {delta}, {where} the tolerance of {tolerance}{strict}"


def _others(of: Decided) -> Iterator[str]:
    """Say what other queries may lose, and what a set of this size can see."""
    stopped = "" if of.stopped is None else f"In a set of {of.n:,}, drops of {of.stopped:.2f} are stopped 4 times in 5."
    if of.decision == "values":
        yield f"against a baseline: {stopped[0].lower()}{stopped[1:]}" if stopped else ""
    elif of.drop_up_to is not None and of.changed:
        yield f"other queries: the drop could be up to {of.drop_up_to:.2f} (95%). {stopped}"


def _further(checked: Checked) -> Iterator[str]:
    """Say what else is worth a line: queries without an answer, categories, ids that vanished, the best so far."""
    of = checked.decided
    if of.no_answers is not None:
        yield _no_answers(of.no_answers)
    if of.lost_by:
        lost = [f"{value} ({name}) {n}" for name, value, n in of.lost_by]
        yield f"lost, net: {_some(lost)}"
    if of.other_ids is not None and not of.other_ids.is_golden_set:
        of_ids = of.other_ids
        question = ": is a part of the index missing?" if of_ids.is_part_missing else ""
        yield (
            f"{of_ids.n} of the {of_ids.n_labelled} labelled items in the baseline's first three occur in no result "
            f"any more{question}"
        )
    first = of.metrics[0]
    if first.baseline is not None and of.best is not None and of.best > first.baseline + 1e-4:
        yield f"best accepted so far: {first.metric} {points(of.best, digits=3)}"


def _no_answers(of: NoAnswers) -> str:
    n = of.n_compared or of.n
    then = f", {of.baseline} before" if of.n_compared and of.baseline != of.candidate else ""
    always = "; the retriever always returns something" if of.n_compared and not (of.baseline or of.candidate) else ""
    return f"no answer: {of.candidate} of {n} queries without an answer return nothing{then}{always}"


def _verdict(checked: Checked) -> str:
    of = checked.decided
    if checked.accepted:
        return f"accepted: {_mean(of.metrics[0])}; commit {checked.names[2]}"
    if of.decision == "red":
        return f"red: if this is what you want, repeat it with {argument('accept', True)} and commit the file"
    return "green" if of.decision == "green" else ""


def _why_not(checked: Checked) -> list[str]:
    """Return why the results are not compared, and what to do."""
    of, (golden, _, baseline) = checked.decided, checked.names
    if of.absent:
        return [absent(of, checked.names), "An absent query is not an empty list: write [] for one that finds nothing"]
    if of.edited:
        names = [shown(query) for query in of.edited if query is not None]
        what = (
            f"the values of {_some(names)} are not those of their lists"
            if names
            else "its means are not those of its lines"
        )
        accept = argument("accept", True)
        return [
            f"not compared: {baseline} was edited by hand: {what}",
            f"Restore the file, or write it anew with {accept}",
        ]
    if of.other_ids is not None and of.other_ids.are_other:
        return _other_ids(of.other_ids, golden, baseline)
    return [
        f"not compared: {baseline} and {golden} have no query in common",
        f"Write it anew with {argument('accept', True)}",
    ]


def absent(of: Decided, names: tuple[str, str, str]) -> str:
    """Say that queries of the golden set are not in the results."""
    golden, results, _ = names
    some = _some([shown(query) for query in of.absent])
    return f"not compared: {results} lacks {_queries(len(of.absent))} of {golden}: {some}"


def _other_ids(of: OtherIds, golden: str, baseline: str) -> list[str]:
    n = f"not compared: {of.n} of the {of.n_labelled} labelled items in the"
    if of.is_golden_set:
        again = f"If {golden} was rewritten to new ids, write the baseline anew with {argument('accept', True)}"
        return [f"{n} first three occur in no list of {baseline}", again]
    which = "are not in the index" if of.n_replaced is None else "occur in no result any more"
    first = f"{n} baseline's first three {which}"
    if of.n_replaced is not None:
        first += f", and {of.n_replaced} of them have an id in their place that the baseline never had"
    return [
        first,
        "Were documents cut into other chunks, or renamed? Every metric falls then, whatever the ranking does.",
        *(f"  {old}  now {new}" for old, new in of.pairs[:1]),
        f"If so, write the new ids into {golden}, or label documents: {argument('item_to_document', '#.*')}",
        f"If the ids are the old ones and the ranking is worse: {argument('ids_are_stable', True)}",
    ]
