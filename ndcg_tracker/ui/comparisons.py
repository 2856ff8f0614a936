"""The pages of two or more runs: a comparison, the data that it loads later, and one group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import numpy as np

from ndcg_tracker.asked import made
from ndcg_tracker.compare.arms import Arm
from ndcg_tracker.compare.chart import cutoffs as cutoffs_chart
from ndcg_tracker.compare.chart_groups import queries_of
from ndcg_tracker.compare.gather import compared
from ndcg_tracker.compare.options import CompareOptions
from ndcg_tracker.compare.report_facts import GroupLists
from ndcg_tracker.compare.run_pair import resolved_pair
from ndcg_tracker.compare.say import for_people, n_tested, together_words
from ndcg_tracker.errors import InputError, MetricError, NdcgTrackerError, worded
from ndcg_tracker.metrics.language.dialects import familiar_name
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.explain.chart import rank_moves
from ndcg_tracker.questions.explain.decide import GroupExplanation
from ndcg_tracker.questions.explain.gather import explained_pair, group_explanation
from ndcg_tracker.questions.explain.say import explanation_report
from ndcg_tracker.questions.history.say import MOST_RUNS, HistoryRow, history_chart
from ndcg_tracker.questions.report import NOT_DRAWN
from ndcg_tracker.questions.report.first_screen import answer, explained, look_of, unjudged_open
from ndcg_tracker.questions.report.gather import at_cutoffs, lists_of, live_report, runs_report
from ndcg_tracker.questions.report.page import cutoffs_table, lists_on_page, report_values, texts_on_page, visible_lists
from ndcg_tracker.render.html import CLASSES, reports_html, themes
from ndcg_tracker.render.report import query_cell
from ndcg_tracker.render.terminal import visible
from ndcg_tracker.runs.groups import group_id, texts_of
from ndcg_tracker.ui.faults import in_browser
from ndcg_tracker.ui.here import Answer, Here, Part, chart_words, links_of, missing, sign_of
from ndcg_tracker.ui.overviews import group_over_time
from ndcg_tracker.ui.rendering import Question, metric_name, of_form, rendered, table_on_page
from ndcg_tracker.words.texts import GroupTexts, counted, points, unit

if TYPE_CHECKING:
    from ndcg_tracker.compare.report_facts import AtCutoff, PairReport
    from ndcg_tracker.questions.report.page import RunsReport
    from ndcg_tracker.storage.records import GroupValueRecord, RunRecord
    from ndcg_tracker.storage.store import ReadTransaction

SOME_CUTOFFS = 1_000
"""With more groups, only some cutoffs are computed."""
_CHOSEN = ("dataset", "metrics", "labels", "judge", "check_with", "fresh", *NOT_DRAWN)
"""Options of a comparison that the page chooses in its own way, or that it does not take."""
SHOWN = 3
"""How many of the groups that lost most are named first."""
MOST_PAIRS = 12
"""The largest number of candidates in one comparison."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A baseline and candidates of one dataset."""

    here: Here
    baseline: RunRecord
    candidates: Sequence[RunRecord]

    @classmethod
    def of(cls, tx: ReadTransaction, ask: Question) -> Chosen:
        """Return the runs that an address names; the first is the baseline unless the address names another."""
        ids = ask.ids("run")
        baseline_id = ask.number("baseline", 0) or (ids[0] if ids else 0)
        others = [run_id for run_id in ids if run_id != baseline_id]
        if not others and len(ask.texts("run")) + len(ask.texts("baseline")) > 1:
            same = tx.runs.with_id(baseline_id)
            raise InputError(f"both are the same run, {same.name!r}", advice="choose another one to compare with it")
        if not baseline_id or not others:
            raise InputError("choose a baseline and one run or more to compare with it")
        if len(others) > MOST_PAIRS:
            raise InputError(
                f"choose at most {MOST_PAIRS} runs", advice="for more, write a file with: ndcg-track report --all"
            )
        baseline = tx.runs.with_id(baseline_id)
        candidates = [tx.runs.with_id(run_id) for run_id in others]
        if any(run.dataset_id != baseline.dataset_id for run in candidates):
            raise InputError("these runs are of several datasets", advice="choose runs of one dataset")
        return cls(Here.of_run(tx, ask, baseline), baseline, candidates)

    def options(self, ask: Question) -> CompareOptions:
        """Return the options of the comparison: the metric of the address, or all metrics that the runs share."""
        of_labels = {"dataset": self.baseline.dataset, "judge": self.here.judge or None, "labels": self.here.version}
        return made(CompareOptions, {"metrics": ask.text("metric") or (), **self.given, **of_labels})

    @property
    def given(self) -> dict[str, Any]:
        """The further options that the address gives."""
        return self.here.ask.keywords(CompareOptions, _CHOSEN)

    def address(self, path: str, candidate: RunRecord, ask: Question, metric: str) -> str:
        """Return an address about the baseline and one candidate."""
        both = [self.baseline.id, candidate.id]
        return self.here.link(path, dataset=self.baseline.dataset, metric=metric, run=both, **self.given)


def compare(tx: ReadTransaction, ask: Question) -> Answer:
    """Return the page of a comparison: the report's page, which loads the lists that a file would have to hold."""
    chosen = Chosen.of(tx, ask)
    names = [run.name for run in chosen.candidates]
    is_file = ask.has("format")
    if is_file:
        report = runs_report(tx, chosen.baseline.name, names, chosen.options(ask), "report.html", texts=True)
    else:
        report = live_report(tx, chosen.baseline.name, names, chosen.options(ask))
    data, values = report_values(report, made="In a terminal, this page is made with:")
    metric = report.pairs[0].comparison.metrics[0].metric
    data["ask"] = not is_file and {
        "lists": [chosen.address("/compare/lists", candidate, ask, metric) for candidate in chosen.candidates],
        "group": [chosen.address("/group", candidate, ask, metric) for candidate in chosen.candidates],
    }
    ids = [chosen.baseline.id, *(run.id for run in chosen.candidates)]
    return rendered(
        "compare.html",
        data=data,
        ids=ids,
        swapped=chosen.here.link("/compare", run=ids[::-1], metric=ask.text("metric"), **chosen.given)
        if len(ids) == 2
        else None,
        others=chosen.here.link("/runs", dataset=chosen.baseline.dataset, metric=metric, run=ids, baseline=ids[0]),
        cutoffs=[chosen.address("/compare/cutoffs", candidate, ask, metric) for candidate in chosen.candidates],
        asked=ask.text("metric") or "",
        lost_most=[
            _lost_most(pair, chosen.address("/group", candidate, ask, metric))
            for pair, candidate in zip(report.pairs, chosen.candidates, strict=True)
        ],
        made_of=[made_of(chosen.baseline, candidate) for candidate in chosen.candidates],
        options=of_form(CompareOptions, _CHOSEN, chosen.given),
        together=_corrected_together(tx, chosen, ask, report),
        **{**chosen.here.values("/compare"), **values},
    )


def _lost_most(pair: PairReport, address: str) -> list[tuple[str, str, str]]:
    """Return the groups that lost most, each with its loss and the address of its page, which says why."""
    sign, queries = sign_of(pair.comparison.metrics[0].metric), queries_of(pair.texts)
    lost = [of for of in pair.comparison.worst[:SHOWN] if sign * of.delta < 0]
    named = [(of, f"{of.group} {queries.get(of.group, '')}".strip()) for of in lost]
    return [
        (words, points(of.delta, signed=True, digits=2), f"{address}&{urlencode({'group': of.group})}")
        for of, words in named
    ]


def verdict(tx: ReadTransaction, here: Here, baseline: RunRecord, candidate: RunRecord) -> dict[str, object]:
    """Return the verdict with which the page of a run begins, in words, or why there is none."""
    chosen, both, metric = Chosen(here, baseline, [candidate]), [baseline.id, candidate.id], here.wanted().metric
    values = {"address": here.link("/compare", run=both, metric=metric), "answer": "", "look": "", "judge": None}
    try:
        options = replace(chosen.options(here.ask), metrics=(parse_metric(metric),), top=0)
        (pair,) = compared(tx, baseline.name, [candidate.name], options)
    except NdcgTrackerError as error:
        return {**values, "told": f"{worded(error.message, in_browser)}."}
    comparison = for_people(pair.comparison)
    first, grade = comparison.metrics[0], unjudged_open(comparison)
    n_open = None if grade is None else grade.facts["n"]
    return {
        **values,
        "answer": answer(first),
        "told": explained(comparison),
        "look": look_of(first),
        "n_open": n_open,
        "judge": grade and here.link("/judge", run=both, metric=metric, whose=here.judge, all="yes"),
    }


Made = Sequence[tuple[str, str, str, str]]
"""Parameters, tags and commits: name, kind, and the values of two runs, "" for none."""


def made_of(baseline: RunRecord, candidate: RunRecord) -> tuple[Made, Made]:
    """Return what differs in how two runs were made, and what is the same."""
    of_kind = [("parameter", baseline.parameters, candidate.parameters), ("tag", baseline.tags, candidate.tags)]
    of_kind.append(("", {"commit": baseline.git_commit or ""}, {"commit": candidate.git_commit or ""}))
    each = [
        (name, kind, str(before.get(name, "")), str(after.get(name, "")))
        for kind, before, after in of_kind
        for name in sorted({*before, *after})
    ]
    return [row for row in each if row[2] != row[3]], [row for row in each if row[2] == row[3] != ""]


def _corrected_together(tx: ReadTransaction, chosen: Chosen, ask: Question, report: RunsReport) -> list[str]:
    """Return the p-value of each candidate corrected for all metrics, "" if the page shows all metrics."""
    if ask.text("metric") is None:
        return [""] * len(report.pairs)
    options = replace(chosen.options(ask), metrics=(), top=0)
    try:
        pairs = compared(tx, chosen.baseline.name, [run.name for run in chosen.candidates], options)
    except NdcgTrackerError:  # another metric cannot be compared here, so there is no page with all metrics
        return [""] * len(report.pairs)
    n, asked = n_tested([pair.comparison for pair in pairs]), report.pairs[0].comparison.metrics[0].metric
    each = [{result.metric: place for place, result in enumerate(pair.comparison.metrics)} for pair in pairs]
    return [
        together_words(for_people(pair.comparison).metrics[places[asked]], n) if asked in places else ""
        for pair, places in zip(pairs, each, strict=True)
    ]


def cutoff_rows(tx: ReadTransaction, chosen: Chosen, ask: Question) -> tuple[AtCutoff, ...]:
    """Return a metric at each cutoff for two runs, which reads all their lists; empty if nothing can be tested."""
    options = replace(chosen.options(ask), metrics=(parse_metric(chosen.here.wanted().metric),))
    (pair,) = compared(tx, chosen.baseline.name, [chosen.candidates[0].name], options)
    if pair.results[0].no_inference is not None:
        return ()
    keys = tx.groups.keys(pair.both.dataset_id, pair.results[0].pairing.group_ids)
    return at_cutoffs(tx, pair, keys, many_groups=SOME_CUTOFFS)


def compare_cutoffs(tx: ReadTransaction, ask: Question) -> Answer:
    """Return the page of a metric at each cutoff for two runs, which reads all their lists."""
    chosen = Chosen.of(tx, ask)
    metric, candidate = chosen.here.wanted(), chosen.candidates[0]
    rows = cutoff_rows(tx, chosen, ask)
    names, cutoff = (visible(chosen.baseline.name), visible(candidate.name)), parse_metric(metric.metric).cutoff
    spec = cutoffs_chart(rows, *names, metric=metric_name(metric), cutoff=cutoff) if rows else None
    return rendered(
        "cutoffs.html",
        title=f"{candidate.name} against {chosen.baseline.name}",
        data={"themes": themes(), "charts": {"cutoffs": spec}} if spec else None,
        chart=chart_words(spec) if spec else None,
        table=table_on_page(cutoffs_table(rows, *names)),
        baseline=chosen.baseline,
        candidate=candidate,
        back=chosen.address("/compare", candidate, ask, metric.metric),
        **chosen.here.values("/compare/cutoffs"),
    )


def compare_lists(tx: ReadTransaction, ask: Question) -> Answer:
    """Return the lists of one group in two runs, as the report's script reads them."""
    chosen = Chosen.of(tx, ask)
    key = str(ask.text("group") or missing("group"))
    lists = _lists(tx, chosen, key)
    group_number = group_id(tx, chosen.here.dataset.id, chosen.here.dataset.name, key)
    items = [item.item for item in lists.items] + [item for item, _ in lists.ideal]
    texts = texts_of(tx, chosen.here.dataset.id, {group_number: items})
    return lists_on_page(visible_lists(lists)) | {"texts": texts_on_page(texts.get(group_number, GroupTexts()))}


def _lists(tx: ReadTransaction, chosen: Chosen, key: str) -> GroupLists:
    metric = parse_metric(chosen.here.wanted().metric)
    arms = Arm.of(chosen.baseline), Arm.of(chosen.candidates[0])
    both = resolved_pair(tx, *arms, (metric,), chosen.here.view)
    group_number = group_id(tx, chosen.here.dataset.id, chosen.here.dataset.name, key)
    return lists_of(tx, both, np.array([group_number], dtype=np.int64))[0]


def group(tx: ReadTransaction, ask: Question) -> Answer:
    """Return the page of one group: its value in every run, and its lists in two."""
    here = Here.of(tx, ask)
    key, metric = str(ask.text("group") or missing("group")), here.wanted()
    group_number = group_id(tx, here.dataset.id, here.dataset.name, key)
    records = group_over_time(tx, here.dataset, metric.metric, group_number, here.judge, here.version)
    rows: list[HistoryRow] = [
        {
            "run": visible(record.run),
            "run_id": record.run_id,
            "created_at_utc": record.created_at_utc,
            "metric": metric.metric,
            "mean": record.value,
            "ci": None,
            "label_set_version": record.label_set_version,
        }
        for record in records
    ]
    valued = [row for row in rows if row["mean"] is not None]
    charts: dict[str, Any] = {}
    if valued:
        charts["history"] = history_chart(rows, metric_name(metric), is_mean=False) | {
            "title": {
                "text": f"{metric_name(metric)} of this group",
                "subtitle": f"its value in {counted(min(len(valued), MOST_RUNS), 'run')}, run after run"
                + (f"; {counted(len(valued) - MOST_RUNS, 'older one')} not drawn" if len(valued) > MOST_RUNS else ""),
            }
        }
    links: list[str] = []
    if valued:
        of_run = partial(here.link, "/run", metric=metric.metric)
        links = links_of(charts["history"], {record.run: record.run_id for record in records}, of_run)
    ids = _two_runs(ask) or _most_changed(records)
    pair: dict[str, Any] = {}
    if ids:
        one_run, other = (tx.runs.with_id(run_id) for run_id in ids)
        pair, moves = _group_pair(tx, Chosen(here, one_run, [other]), key)
        charts |= moves
    changes = [
        (record, None if None in (record.value, before) else (record.value or 0.0) - (before or 0.0))
        for record, before in zip(records, [None, *(record.value for record in records)], strict=False)
    ][::-1]
    address = partial(here.link, "/group", dataset=here.dataset.name, metric=metric.metric, group=key, run=ids)
    part = Part.of(len(changes), ask.number("page", 1), address)
    attributes = tx.groups.attributes(here.dataset.id).get(group_number) or {}
    pairs_of = [f"{name}={value}" for name, value in attributes.items()]
    return rendered(
        "group.html",
        title=f"{unit().capitalize()} {key}",
        group=key,
        query=query_cell(texts_of(tx, here.dataset.id, {}, [group_number]).get(group_number, GroupTexts()).query),
        attributes=[(pair_of, here.link("/groups", dataset=here.dataset.name, where=pair_of)) for pair_of in pairs_of],
        data={"themes": themes(), "charts": charts, "links": links} if charts else None,
        charts={name: chart_words(spec) for name, spec in charts.items()},
        changes=[
            *(each for each in changes if each[0].run_id in ids and each not in changes[part.first : part.last]),
            *changes[part.first : part.last],
        ],
        part=part,
        ids=ids,
        is_asked=len(ask.ids("run") + ask.ids("baseline")) > 1,
        pair=pair,
        **here.values("/group"),
    )


def group_runs(tx: ReadTransaction, here: Here, key: str) -> list[int]:
    """Return the two runs whose lists the page of a group shows; empty if fewer than two have the group."""
    metric, number = here.wanted().metric, group_id(tx, here.dataset.id, here.dataset.name, key)
    records = group_over_time(tx, here.dataset, metric, number, here.judge, here.version)
    return _two_runs(here.ask) or _most_changed(records)


def _two_runs(ask: Question) -> list[int]:
    ids = list(dict.fromkeys([*ask.ids("baseline"), *ask.ids("run")]))[:2]
    return ids if len(ids) > 1 else []


def _most_changed(records: Sequence[GroupValueRecord]) -> list[int]:
    """Return the two consecutive runs between which a value changed most; the latest of several such pairs."""
    pairs = list(pairwise(record for record in records if record.value is not None))[::-1]
    if not pairs:
        return []
    before, after = max(pairs, key=lambda both: abs((both[1].value or 0.0) - (both[0].value or 0.0)))
    return [before.run_id, after.run_id]


def _group_pair(tx: ReadTransaction, chosen: Chosen, key: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the values for the page of one group in two runs, and the chart of its moves."""
    from markupsafe import Markup

    candidate = chosen.candidates[0]
    names = (visible(chosen.baseline.name), visible(candidate.name))
    values = {"baseline": chosen.baseline, "candidate": candidate, "why": "", "explained": "", "has_texts": False}
    metric = parse_metric(chosen.here.wanted().metric)
    charts: dict[str, Any] = {}
    without = [visible(run.name) for run in (chosen.baseline, candidate) if not run.n_items]
    if without:
        values["why"] = f"No lists are stored for {' and '.join(without)}."
        return values, charts
    try:
        lists, number = _lists(tx, chosen, key), group_id(tx, chosen.here.dataset.id, chosen.here.dataset.name, key)
        texts = texts_of(tx, chosen.here.dataset.id, {number: [item.item for item in lists.items]}).get(number)
        charts["moves"] = rank_moves(lists, *names, metric=familiar_name(str(metric)), texts=texts)
        both = explained_pair(tx, Arm.of(chosen.baseline), Arm.of(candidate), metric, view=chosen.here.view)
        explanation = group_explanation(tx, both, key)
        assert isinstance(explanation, GroupExplanation)
        values["has_texts"] = bool(explanation.texts.items)
        values["explained"] = Markup(reports_html([explanation_report(explanation)], CLASSES))
    except MetricError:
        values["why"] = f"{metric} is not a sum over items, so no item has a part of it."
    except NdcgTrackerError as error:
        values["why"] = worded(error.message, in_browser)
    return values, charts
