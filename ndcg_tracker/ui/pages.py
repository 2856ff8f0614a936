"""The pages of the ui, one function each: it takes the database and the address and returns HTML."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, cast

from ndcg_tracker.questions.gate.decide import FAIL_ALPHA, PASS_LEVEL
from ndcg_tracker.questions.history.gather import History, HistoryFilter, history_of
from ndcg_tracker.questions.history.say import COLUMNS, HistoryRow, happened_between, history_chart, history_table
from ndcg_tracker.render.html import themes
from ndcg_tracker.render.report import Column, query_cell
from ndcg_tracker.render.terminal import visible
from ndcg_tracker.ui.here import FORMATS, ROWS, Answer, Here, Next, Part, chart_words, links_of, sign_of, tag_pair
from ndcg_tracker.ui.overviews import GroupsAsked, SomeGroup, datasets_overview, groups_listed
from ndcg_tracker.ui.rendering import Question, link, metric_name, rendered, table_on_page
from ndcg_tracker.words.notes import note_text
from ndcg_tracker.words.texts import commit_text, percent_of, points
from ndcg_tracker.words.verdicts import MARKS

if TYPE_CHECKING:
    from ndcg_tracker.storage.marks import DecisionRecord
    from ndcg_tracker.storage.store import ReadTransaction

RUNS = 100
"""The default number of runs in a history, the latest ones."""
MOST_STEPS = 200
"""The search for steps takes at most this many runs."""
GROUP_SORTS = {"group": "as stored", "worst": "worst", "best": "best"}


def home(tx: ReadTransaction, ask: Question) -> Answer:
    """Return the runs of the only dataset, or the page of all datasets if there are several."""
    every = tx.datasets.all()
    return Next(link("/runs", dataset=every[0].name)) if len(every) == 1 else datasets(tx, ask)


def datasets(tx: ReadTransaction, ask: Question) -> Answer:
    """Return the page of all datasets."""
    data_links = [(name.upper(), link("/datasets", format=name)) for name in FORMATS]
    return rendered("datasets.html", title="Datasets", rows=datasets_overview(tx), data_links=data_links)


def words(tx: ReadTransaction, ask: Question) -> Answer:
    """Return the page that says what the signs of verdicts mean."""
    return rendered("words.html", title="Words", marks=MARKS.values())


def asked_history(tx: ReadTransaction, here: Here) -> tuple[History, HistoryFilter]:
    """Return the history that an address asks for, and its runs."""
    ask = here.ask
    tags = dict(map(tag_pair, ask.texts("tag")))
    wanted = HistoryFilter(tags=tags, last=ask.number("last", RUNS), judge=here.judge or None, labels=here.version)
    return history_of(tx, here.dataset.name, here.wanted().metric, wanted, most_steps=MOST_STEPS), wanted


def history(tx: ReadTransaction, ask: Question) -> Answer:
    """Return the page of a metric over runs."""
    here = Here.of(tx, ask)
    metric = here.wanted()
    result, wanted = asked_history(tx, here)
    name = metric_name(metric)
    rows = [cast("HistoryRow", {**row, "run": visible(row["run"])}) for row in result.rows]
    newest = result.rows[-RUNS:]
    commit = Column("git_commit", "commit", "text", of=lambda row: commit_text(row["git_commit"] or "") or None)
    table = history_table(newest, columns=[*COLUMNS, commit])
    ids = {row["run"]: row["run_id"] for row in result.rows}
    of_run = partial(here.link, "/run", metric=metric.metric)
    compare = partial(here.link, "/compare", metric=metric.metric)
    links = {"run": [("", of_run(run=row["run_id"])) for row in newest[::-1]]}
    links["change"] = [("", compare(run=[one["run_id"], row["run_id"]])) for one, row in pairwise(newest)][::-1]
    links["change"].append(("", ""))
    spec = history_chart(rows, name)
    return rendered(
        "history.html",
        title=f"History of {here.dataset.name}",
        data={"themes": themes(), "charts": {"history": spec}, "links": links_of(spec, ids, of_run)} if rows else None,
        chart=chart_words(spec),
        table=table_on_page(replace(table, rows=table.rows[::-1]), **links) if newest else "",
        n_rows=len(result.rows),
        most_steps=MOST_STEPS,
        steps=[
            (sentence, compare(run=[ids[before], ids[after]]) if before in ids else None)
            for sentence, before, after in happened_between(result.rows)
        ],
        notes=[note_text(note) for note in result.notes],
        n_all=result.n_without_filter,
        tag=(ask.texts("tag") or [""])[0],
        last=wanted.last,
        **here.values("/history"),
    )


def asked_groups(ask: Question, order: str = "group", *, is_in_run: bool = False) -> GroupsAsked:
    """Return the groups that an address asks for, and their order; ``order``: unless the address names one."""
    sort = ask.text("sort") or ""
    where = list(dict.fromkeys(ask.texts("where")))
    return GroupsAsked(ask.text("q") or "", where, sort if sort in GROUP_SORTS else order, is_in_run)


def groups(tx: ReadTransaction, ask: Question) -> Answer:
    """Return the page of the groups of a dataset, with their values in its latest run."""
    here = Here.of(tx, ask)
    metric = None if here.metric is None else here.metric.metric
    asked, first = asked_groups(ask), (ask.number("page", 1) - 1) * ROWS
    q, where, sort = asked.text, asked.where, asked.order
    records = here.records(tx)
    newest, sign = records[-1] if records else None, sign_of(metric)
    parameters = {"dataset": here.dataset.name, "metric": metric, "q": q}
    parameters["sort"] = None if sort == "group" else sort
    address = partial(here.link, "/groups", **parameters)
    listed = groups_listed(tx, here.dataset, None if newest is None else newest.evaluation_id, asked, ROWS, first, sign)
    part = Part.of(listed.total, ask.number("page", 1), partial(address, where=where))

    def pairs(group: SomeGroup) -> list[tuple[str, str]]:
        each = [f"{name}={value}" for name, value in group.attributes.items()]
        return [(pair, address(where=[*where, *(() if pair in where else (pair,))])) for pair in each]

    return rendered(
        "groups.html",
        title=f"Groups of {here.dataset.name}",
        rows=[(group, pairs(group), query_cell(group.query)) for group in listed.groups],
        newest=None if newest is None else newest.run,
        q=q,
        part=part,
        sort=sort,
        sorts=GROUP_SORTS if newest is not None else {},
        where=[(pair, address(where=[other for other in where if other != pair])) for pair in where],
        attributes=[
            (name, [(f"{name}={value}", value) for value in values])
            for name, values in listed.attributes.items()
            if not any(pair.startswith(f"{name}=") for pair in where)
        ],
        **here.values("/groups"),
    )


def labels(tx: ReadTransaction, ask: Question) -> Answer:
    """Return the page of a dataset's labels, and how much of each run they cover."""
    here = Here.of(tx, ask)
    chosen = here.label_set or (here.label_sets[-1] if here.label_sets else None)
    judged: dict[int, dict[int | None, float]] = {}
    for record in tx.evaluations.coverages_under(chosen.id) if chosen is not None else ():
        judged.setdefault(record.run_id, {})[record.cutoff] = record.judged_share
    names = {record.id: record.name for record in tx.runs.all(here.dataset.name)}
    q = (ask.text("q") or "").lower()
    wanted = [run_id for run_id in judged if q in names.get(run_id, "").lower()]
    address = partial(here.link, "/labels", dataset=here.dataset.name, q=ask.text("q"))
    part = Part.of(len(wanted), ask.number("page", 1), address)
    cutoffs = {cutoff for shares in judged.values() for cutoff in shares}
    return rendered(
        "labels.html",
        title=f"Labels of {here.dataset.name}",
        label_sets=here.label_sets[::-1],
        version=None if chosen is None else chosen.version,
        cutoffs=sorted(cutoffs, key=lambda cutoff: (cutoff is None, cutoff or 0)),
        rows=[(run_id, names.get(run_id, ""), judged[run_id]) for run_id in wanted[part.first : part.last]],
        part=part,
        q=ask.text("q") or "",
        **here.values("/labels"),
    )


def decisions(tx: ReadTransaction, ask: Question) -> Answer:
    """Return the page of the decisions of gates."""
    here = Here.of(tx, ask)
    rows = decision_rows(tx, here)
    address = partial(here.link, "/decisions", dataset=here.dataset.name)
    part = Part.of(len(rows), ask.number("page", 1), address)
    counts = Counter(decision.decision for decision, _, _ in rows)
    return rendered(
        "decisions.html",
        title=f"Gates of {here.dataset.name}",
        rows=rows[part.first : part.last],
        counts=", ".join(f"{n:,} {name}" for name, n in counts.most_common()),
        part=part,
        **here.values("/decisions"),
    )


def _bounds(decision: DecisionRecord) -> list[str]:
    """Return the one-sided bounds of a decision with their levels: PASS at 95%, FAIL and budgets at theirs."""
    of_fail = 1 - (FAIL_ALPHA if decision.alpha is None else decision.alpha)
    levels = [PASS_LEVEL if decision.budget is None else of_fail, of_fail]
    if sign_of(decision.metric) < 0:
        levels.reverse()
    sides = zip(("at least", "at most"), (decision.ci_low, decision.ci_high), levels, strict=True)
    given = [(side, bound, level) for side, bound, level in sides if bound is not None]
    return [f"{side} {points(bound, signed=True)} ({percent_of(level)})" for side, bound, level in given]


def decision_rows(
    tx: ReadTransaction, here: Here, run_id: int | None = None
) -> list[tuple[DecisionRecord, list[str], str | None]]:
    """Return decisions, the latest first, with their bounds and the address of the comparison, None for deleted runs.

    ``run_id``: only decisions on this run.
    """
    rows = []
    for decision in tx.decisions.all(here.dataset.id)[::-1]:
        both = [decision.baseline_run_id, decision.candidate_run_id]
        if run_id in (None, *both):
            address = None if None in both else here.link("/compare", run=both, metric=decision.metric)
            rows.append((decision, _bounds(decision), address))
    return rows
