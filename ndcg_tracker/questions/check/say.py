"""What a check says, in at most 14 lines; and the new baseline, if it is accepted."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ndcg_tracker.errors import InputError, Spelling, argument, in_python, worded
from ndcg_tracker.questions.check.decide import CheckDecision, CheckedMetric, Facts, Vanishing, decided
from ndcg_tracker.questions.check.gather import Reads, gathered
from ndcg_tracker.questions.check.question import CheckQuestion
from ndcg_tracker.render.formats import Answer, Said, fields_of
from ndcg_tracker.render.report import Column, Line, Report, Table
from ndcg_tracker.render.terminal import Painted, Style, shortened, shortened_inside, visible
from ndcg_tracker.render.whole_file import JunitCase, junit_document, whole_file
from ndcg_tracker.words.texts import about_queries, counted, points, shown, shown_margin

EXIT_CODES = {"green": 0, "values": 0, "red": 3, "open": 4, "not_compared": 5}
_STYLES: dict[str, Style] = {"green": "good", "accepted": "good", "red": "bad", "open": "open"}
_SHOWN = 5
_NAME = 50  # columns of a query or an item
_SCREEN = 14
_ACCEPT, _MARGIN, _EMPTY_BELOW = argument("accept", True), argument("margin"), argument("empty_below", "SCORE")


@dataclass(frozen=True)
class Checked(Answer):
    """The result of a check and what it rests on.

    ``decision``: "green", "red", "open", "not_compared" or "values". ``accepted``: whether the results are the new
    baseline. ``read``: what was read from where.
    """

    check: CheckDecision
    accepted: bool
    facts: Facts

    @property
    def decision(self) -> str:
        """The decision."""
        return self.check.decision

    @property
    def read(self) -> Sequence[str]:
        """What was read from where."""
        return self.facts.read

    @property
    def exit_code(self) -> int:
        """The exit code: 0 if it is green or accepted, 3 below the tolerance, 4 if a margin is open, 5 not compared."""
        return 0 if self.accepted else EXIT_CODES[self.check.decision]

    def said(self, spelled: Spelling) -> Said:
        """Return its output; ``spelled``: how arguments are written."""
        value = {**fields_of(self.check, "now"), "accepted": self.accepted, "read": self.read}
        return Said(value, lambda: [_report(self, spelled)], lambda: _changes(self.check, None))

    def _said(self) -> Said:
        return self.said(in_python)

    def to_junit(self, spelled: Spelling = in_python) -> str:
        """Return a JUnit report with the check as its one test case."""
        of, (golden, results, baseline) = self.check, self.facts.names
        text = self.said(spelled).in_format("text", detail="all")
        facts = [("decision", of.decision), ("tolerance", repr(of.tolerance)), ("n", str(of.n))]
        name = f"{results} against {baseline}" if baseline else f"{results} on {golden}"
        case = JunitCase("ndcg-track.check", name, of.decision.upper(), text.partition("\n")[0], text, facts)
        return junit_document("ndcg-track check", case, has_failed=self.exit_code != 0)


def checked(reading: Reads, results: object, labels: object, against: str | None, question: CheckQuestion) -> Checked:
    """Return the result of a check, and write the new baseline if it is accepted."""
    if question.accept and os.environ.get("CI", "").lower() in ("true", "1"):
        what = f"{_ACCEPT} is for people, and CI is set"
        raise InputError(what, advice="accept the results on your own machine, and commit the file")
    facts, rules = gathered(reading, results, labels, against, question)
    of = decided(facts, rules)
    if question.accept:
        if of.absent:
            raise InputError(_absent(of, facts), advice="answer them, with an empty list if nothing is found")
        with whole_file(against, argument("against")) as write:
            write(of.now.text)
    return Checked(of, question.accept, facts)


def _report(checked: Checked, spelled: Spelling) -> Report:
    """Return the report of a check."""
    of, facts = checked.check, [("read", line) for line in checked.read]
    if of.decision == "not_compared" and not checked.accepted:
        first, *rest = (worded(line, spelled) for line in _why_not(of, checked.facts))
        return Report(f"not compared: {first}", lines=[Line("", line) for line in rest], facts=facts, is_dense=True)
    said = [*_golden(of), *_these(of), *_others(of), *_further(of), *_next(checked)]
    lines = [Line("", worded(line, spelled)) for line in said]
    n_shown = min(_SHOWN, _SCREEN - len(lines) - 3)  # the headline, the headings and how many more there are
    depth, n_more = checked.facts.cutoff, len(of.changed) - n_shown
    every = _changes(of, depth)
    some = replace(every, rows=every.rows[:n_shown], after=f"+{n_more} more (-v)" if n_more > 0 else "")
    tables, details = [some] if of.changed else [], [every] if n_more > 0 else []
    word = "accepted" if checked.accepted else of.decision
    verdict = Painted(word, _STYLES[word]) if word in _STYLES else None
    return Report(_headline(of), verdict, tables=tables, lines=lines, facts=facts, details=details, is_dense=True)


def _changes(of: CheckDecision, depth: int | None) -> Table:
    """Return the table of the changed queries; people see no rank beyond a depth."""

    def rank(of: int | None) -> str:
        far = "not found" if depth is None else f"not in the first {depth}"
        return far if of is None or (depth is not None and of > depth) else str(of)

    columns = (
        Column("", "change", "text", of=lambda one: "worse" if one.delta < 0 else "better"),
        Column("", "query", "text", of=lambda one: shortened(visible(one.query), _NAME)),
        Column("", "item", "text", of=lambda one: shortened_inside(visible(one.item or ""), _NAME)),
        Column("", "rank", "text", of=lambda one: f"{rank(one.rank_baseline)} -> {rank(one.rank_candidate)}"),
        *map(Column, ["query", "baseline", "candidate", "delta", "item", "rank_baseline", "rank_candidate"]),
    )
    return Table.of(columns, of.changed, names=(1,))


def _mean(of: CheckedMetric) -> str:
    then = "" if of.baseline is None else f"{points(of.baseline, digits=3)} -> "
    return f"{of.metric} {then}{points(of.candidate, digits=3)}"


def _some(names: Sequence[str]) -> str:
    most = 3
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _headline(of: CheckDecision) -> str:
    means = ", ".join(map(_mean, of.metrics))
    if of.decision == "values":
        return f"{counted(of.n, 'query')}: {means}"
    changed = f", {len(of.changed)} changed" if of.changed else ""
    lists = f" ({counted(of.n_lists, 'list')} changed)" if of.n_lists and not of.changed else ""
    return f"{of.n - len(of.changed)} of {counted(of.n, 'query')} as before{changed}: {means}{lists}"


def _golden(of: CheckDecision) -> Iterator[str]:
    """Say how the golden set changed."""
    golden = of.golden
    told = [
        f"{counted(len(those), 'query')} {word}"
        for those, word in ((golden.new, "new"), (golden.gone, "gone"))
        if those
    ]
    told += [f"labels of {len(golden.relabelled)} changed"] if golden.relabelled else []
    gone = [
        shown(query) + ("" if was is None else f" (was {points(was, digits=3)})") for query, was in golden.gone.items()
    ]
    if told:
        yield f"golden set: {', '.join(told)}{f'; gone: {_some(gone)}' if gone else ''}"


def _these(of: CheckDecision) -> Iterator[str]:
    """Say whether the drop on these queries is within the tolerance."""
    first, n_lost = of.metrics[0], round(of.allowed * of.n)
    if first.delta is None:
        return
    where = "within" if first.delta >= -of.allowed - 1e-9 else "below"
    tolerance = shown_margin(round(of.allowed, 4)) + (
        f" ({counted(n_lost, 'query')})" if of.is_count and n_lost else ""
    )
    n_worse = sum(change.delta < 0 for change in of.changed)
    strict = f"; strict: {counted(n_worse, 'query')} worse" if of.strict else ""
    subject = "this query" if of.n == 1 else f"these {of.n:,} queries"
    delta = points(first.delta, signed=True, digits=3, is_aligned=True)
    yield f"{subject}: {first.metric} {delta}, {where} the tolerance of {tolerance}{strict}"


def _others(of: CheckDecision) -> Iterator[str]:
    """Say what other queries may lose, and what a set of this size can see."""
    stopped = "" if of.stopped is None else f"n a set of {of.n:,}, drops of {of.stopped:.2f} are stopped 4 times in 5"
    if of.decision == "values":
        yield f"against a baseline: i{stopped}" if stopped else ""
    elif of.margin is not None and not of.n_lists:
        yield f"other queries: no list changed, so they keep the margin of {shown_margin(of.margin)}"
    elif of.drop_up_to is not None and (of.changed or of.margin is not None):
        margin = "" if of.margin is None else f"; the margin is {shown_margin(of.margin)}"
        drop = f"{of.drop_up_to:.{2 if of.margin is None else 3}f}"
        yield f"other queries: the drop could be up to {drop} (95%){margin}. I{stopped}."


def _further(of: CheckDecision) -> Iterator[str]:
    """Say what else is worth a line: queries without an answer, categories, ids that vanished, the best so far."""
    none, gone, first = of.no_answer, of.vanished, of.metrics[0]
    if none is not None:
        before = "" if none.baseline in (None, none.candidate) else f", {none.baseline} before"
        weak = f"; both sides always return something: {_EMPTY_BELOW} leaves weak items out"
        always = weak if none.baseline == none.candidate == 0 else ""
        yield f"no answer: {none.candidate} of {none.n} queries without an answer return nothing{before}{always}"
    if of.lost_by:
        yield f"lost, net: {_some([f'{lost.value} ({lost.attribute}) {lost.n}' for lost in of.lost_by])}"
    if gone is not None and not gone.is_golden_set:
        yield _vanished(gone) + (": is a part of the index missing?" if gone.is_part_missing else "")
    if of.best is not None and first.baseline is not None and of.best > first.baseline + 1e-4:
        yield f"best accepted so far: {first.metric} {points(of.best, digits=3)}"


def _next(checked: Checked) -> Iterator[str]:
    """Say what to do next."""
    needed, decision = checked.check.needed, checked.check.decision
    if checked.accepted:
        yield f"commit {checked.facts.names[2]}"
    elif decision == "red":
        yield f"if this is what you want, repeat it with {_ACCEPT} and commit the file"
    elif decision == "open":
        more = "more queries" if needed is None else f"{about_queries(needed)} like these"
        yield f"it is open whether other queries keep the margin: answer {more}, or leave out {_MARGIN}"


def _why_not(of: CheckDecision, facts: Facts) -> list[str]:
    """Return why the results are not compared, and what to do."""
    golden, _, baseline = facts.names
    if of.absent:
        return [
            _absent(of, facts),
            "An absent query is not an empty list. If nothing is found for it, write [], in CSV a row without an id",
        ]
    if of.edited:
        what = "its means are not those of its lines" if of.edited[0] == "" else ""
        what = what or f"the values of {_some([*map(shown, filter(None, of.edited))])} are not those of their lists"
        return [f"{baseline} was edited by hand: {what}", f"Restore the file, or write it anew with {_ACCEPT}"]
    if of.vanished is None or not of.vanished.are_renamed:
        return [f"{baseline} and {golden} have no query in common", f"Write the baseline anew with {_ACCEPT}"]
    if of.vanished.is_golden_set:
        anew = f"If {golden} was rewritten to new ids, write the baseline anew with {_ACCEPT}"
        n, n_labelled = of.vanished.n, of.vanished.n_labelled
        return [f"{n} of the {n_labelled} labelled items in the first three occur in no list of {baseline}", anew]
    replaced, example = "", of.vanished.example
    if of.vanished.n_replaced is not None:
        replaced = f", and {of.vanished.n_replaced} of them have an id in their place that the baseline never had"
    return [
        _vanished(of.vanished) + replaced,
        "Were documents cut into other chunks, or renamed? Every metric falls then, whatever the ranking does.",
        *([f"  {example[0]}  now {example[1]}"] if example else []),
        f"If so, write the new ids into {golden}, or label documents: {argument('item_to_document', '#.*')}",
        f"If the ids are the old ones and the ranking is worse: {argument('ids_are_stable', True)}",
    ]


def _vanished(of: Vanishing) -> str:
    which = "are not in the index" if of.n_replaced is None else "occur in no result any more"
    return f"{of.n} of the {of.n_labelled} labelled items in the baseline's first three {which}"


def _absent(of: CheckDecision, facts: Facts) -> str:
    golden, results, _ = facts.names
    return f"no list in {results} for {counted(len(of.absent), 'query')} of {golden}: {_some([*map(shown, of.absent)])}"
