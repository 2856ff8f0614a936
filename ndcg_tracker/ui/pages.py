"""The pages of the ui, one function each: from one state of the database and the question of the address to HTML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ndcg_tracker.comparison.explain import GroupExplanation
from ndcg_tracker.comparison.report import GroupLists
from ndcg_tracker.comparison.texts import GroupTexts
from ndcg_tracker.errors import InputError, MetricError, NdcgTrackerError
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.reporting.charts.cutoffs import cutoffs as cutoffs_chart
from ndcg_tracker.reporting.charts.explain import rank_moves
from ndcg_tracker.reporting.charts.history import MOST_RUNS
from ndcg_tracker.reporting.charts.history import history as history_chart
from ndcg_tracker.reporting.explain import explanation_report
from ndcg_tracker.reporting.history import HistoryRow, step_sentence
from ndcg_tracker.reporting.html import CLASSES, reports_html
from ndcg_tracker.reporting.notes import note_text
from ndcg_tracker.reporting.numbers import counted, points
from ndcg_tracker.reporting.pages.page import themes
from ndcg_tracker.reporting.pages.report import lists_on_page, report_values, texts_on_page, visible_lists
from ndcg_tracker.reporting.terminal import visible
from ndcg_tracker.reporting.texts import query_cell
from ndcg_tracker.tracker.compare import CompareOptions, compared
from ndcg_tracker.tracker.explain import explained_pair, group_explanation
from ndcg_tracker.tracker.history import HistoryFilter, history_of
from ndcg_tracker.tracker.report import at_cutoffs, lists_of, live_report
from ndcg_tracker.tracker.run_pair import resolved_pair
from ndcg_tracker.tracker.texts import texts_of
from ndcg_tracker.tracker.ui import (
    RunOverview,
    datasets_overview,
    group_id,
    group_over_time,
    groups_containing,
    groups_of_run,
    labels_overview,
    runs_overview,
    usual_metric,
)
from ndcg_tracker.ui.rendering import Question, link, metric_name, position, rendered, sparkline

if TYPE_CHECKING:
    from ndcg_tracker.storage.read import ReadTransaction
    from ndcg_tracker.storage.records import DatasetRecord, MetricUse, RunRecord

Answer = str | dict[str, object]
"""A page, or what a script asked for."""

SOME_CUTOFFS = 1_000
"""With more groups, only some cutoffs are computed."""
ROWS = 50
"""So many rows of a table are on a page."""
RUNS = 100
"""A history shows so many runs, the newest, unless asked for more."""
MOST_STEPS = 200
"""Steps are looked for among so many runs at most."""
MOST_PAIRS = 12
"""So many candidates are compared at once."""
_TAGS = 12
_SORTS = {"newest": "newest", "oldest": "oldest", "best": "best mean", "worst": "worst mean", "name": "name"}
_GROUP_SORTS = {"worst": "worst", "best": "best", "group": "group"}


def datasets(tx: ReadTransaction, ask: Question) -> Answer:
    """Return the page of all datasets."""
    rows = [
        {
            "name": one.dataset.name,
            "counts": one.counts,
            "metric": "" if one.metric is None else metric_name(one.metric),
            "mean": one.means[-1] if one.means else None,
            "line": sparkline(one.means),
            "newest": one.newest_utc or "",
        }
        for one in datasets_overview(tx)
    ]
    return rendered("datasets.html", title="Datasets", rows=rows)


@dataclass(frozen=True, slots=True)
class _Here:
    """The dataset and the metric that a page is about, and the metrics to choose from."""

    dataset: DatasetRecord
    metrics: Sequence[MetricUse]
    metric: MetricUse | None

    @classmethod
    def of(cls, tx: ReadTransaction, ask: Question, dataset: DatasetRecord | None = None) -> _Here:
        """Return what an address is about."""
        dataset = dataset or ask.dataset(tx)
        metrics = tx.evaluations.metrics(dataset.id)
        return cls(dataset, metrics, usual_metric(metrics, ask.text("metric")))

    @classmethod
    def of_run(cls, tx: ReadTransaction, ask: Question, run: RunRecord) -> _Here:
        """Return what an address is about that names a run."""
        return cls.of(tx, ask, tx.datasets.named(run.dataset))

    def values(self, here: str) -> dict[str, object]:
        """Return what every template shows of it; ``here``: the address of the page."""
        return {
            "dataset": self.dataset.name,
            "metric": None if self.metric is None else self.metric.metric,
            "metric_name": "" if self.metric is None else metric_name(self.metric),
            "metrics": [(one.metric, metric_name(one)) for one in self.metrics],
            "here": here,
        }

    def wanted(self) -> MetricUse:
        """Return the metric; raises InputError where no run has one."""
        if self.metric is None:
            raise InputError(f"no run of dataset {self.dataset.name!r} was evaluated under a metric yet")
        return self.metric


@dataclass(frozen=True, slots=True)
class _Part:
    """The rows of a long table that are on a page, and the addresses of the pages before and after."""

    first: int
    last: int
    total: int
    before: str | None
    after: str | None

    @classmethod
    def of(cls, total: int, number: int, path: str, parameters: Mapping[str, object]) -> _Part:
        """Return a page of a table by its number, from 1."""
        first = min((number - 1) * ROWS, max(0, (total - 1) // ROWS * ROWS))
        number, last = first // ROWS + 1, min(total, first + ROWS)
        before = link(path, **parameters, page=number - 1) if number > 1 else None
        return cls(first, last, total, before, link(path, **parameters, page=number + 1) if last < total else None)

    @property
    def words(self) -> str:
        """Which rows these are."""
        return f"{self.first + 1:,} to {self.last:,} of {self.total:,}" if self.last < self.total or self.first else ""


def runs(tx: ReadTransaction, ask: Question) -> Answer:
    """Return the page of the runs of a dataset, with search, and the form that chooses those to compare."""
    here = _Here.of(tx, ask)
    every = runs_overview(tx, here.dataset, here.metric)
    words, tags = (ask.text("q") or "").lower().split(), list(dict.fromkeys(ask.texts("tag")))
    sort = ask.text("sort") if ask.text("sort") in _SORTS else "newest"
    found = [one for one in every if _has(one, words, tags)]
    found = _sorted(found, str(sort))
    chosen, baseline = set(ask.ids("run")), ask.number("baseline", 0)
    if not baseline and every:
        pinned = [one.run.id for one in every if "baseline" in one.aliases]
        baseline = (pinned or [every[0].run.id])[0]
    parameters = {
        "dataset": here.dataset.name,
        "metric": None if here.metric is None else here.metric.metric,
        "q": ask.text("q"),
        "tag": tags,
        "sort": None if sort == "newest" else sort,
        "baseline": baseline,
        "run": sorted(chosen),
    }
    part = _Part.of(len(found), ask.number("page", 1), "/runs", parameters)
    shown = found[part.first : part.last]
    pinned_rows = [one for one in every if one.run.id in {*chosen, baseline} and one not in shown]
    means = [one.mean for one in every if one.mean is not None]
    low, high = (min(means), max(means)) if means else (0.0, 0.0)
    rows = [
        {
            "id": one.run.id,
            "name": one.run.name,
            "aliases": one.aliases,
            "created": one.run.created_at_utc,
            "commit": one.run.git_commit or "",
            "tags": [(f"{key}={value}", link("/runs", **{**parameters, "tag": sorted({*tags, f"{key}={value}"})}))
                     for key, value in one.run.tags.items()],
            "parameters": " ".join(f"{key}={value}" for key, value in islice(one.run.parameters.items(), 6)),
            "mean": one.mean,
            "place": position(one.mean, low, high),
            "version": one.label_set_version,
            "is_chosen": one.run.id in chosen,
            "is_baseline": one.run.id == baseline,
        }
        for one in (*pinned_rows, *shown)
    ]  # fmt: skip
    return rendered(
        "runs.html",
        title=f"Runs of {here.dataset.name}",
        rows=rows,
        has={name: any(row[name] for row in rows) for name in ("tags", "parameters", "commit")},
        n_pinned=len(pinned_rows),
        part=part,
        q=ask.text("q") or "",
        sort=sort,
        sorts=_SORTS,
        tags=[(tag, link("/runs", **{**parameters, "tag": [one for one in tags if one != tag]})) for tag in tags],
        line=sparkline([one.mean for one in every]),
        n_runs=len(every),
        families=_families(found, parameters, tags),
        low=low,
        high=high,
        **here.values("/runs"),
    )


def _has(one: RunOverview, words: Sequence[str], tags: Sequence[str]) -> bool:
    """Return whether a run has all words somewhere, and all tags."""
    pairs = [f"{key}={value}" for key, value in one.run.tags.items()]
    if any(tag not in pairs for tag in tags):
        return False
    if not words:
        return True
    parameters = [f"{key}={value}" for key, value in one.run.parameters.items()]
    aliases = [f"@{alias}" for alias in one.aliases]
    text = "\n".join([one.run.name, one.run.git_commit or "", *pairs, *parameters, *aliases]).lower()
    return all(word in text for word in words)


def _sorted(runs: Sequence[RunOverview], sort: str) -> list[RunOverview]:
    if sort == "name":
        return sorted(runs, key=lambda one: one.run.name)
    if sort in ("best", "worst"):
        known = [one for one in runs if one.mean is not None]
        unknown = [one for one in runs if one.mean is None]
        return sorted(known, key=lambda one: one.mean or 0.0, reverse=sort == "best") + unknown
    return list(runs) if sort == "oldest" else list(runs)[::-1]


def _families(
    found: Sequence[RunOverview], parameters: Mapping[str, object], tags: Sequence[str]
) -> list[dict[str, object]]:
    """Return the tags that most of the runs found share, each with the means of its runs."""
    oldest_first = sorted(found, key=lambda one: one.run.id)
    of_tag: dict[str, list[RunOverview]] = {}
    for one in oldest_first:
        for key, value in one.run.tags.items():
            of_tag.setdefault(f"{key}={value}", []).append(one)
    several = [(tag, some) for tag, some in of_tag.items() if len(some) > 1 and tag not in tags]
    several.sort(key=lambda each: -len(each[1]))
    rows = []
    for tag, some in several[:_TAGS]:
        means = [one.mean for one in some]
        known = [mean for mean in means if mean is not None]
        address = link("/runs", **{**parameters, "tag": sorted({*tags, tag})})
        line, mean = sparkline(means), known[-1] if known else None
        rows.append({"tag": tag, "n": len(some), "line": line, "mean": mean, "address": address})
    return rows


def run(tx: ReadTransaction, ask: Question) -> Answer:
    """Return the page of one run."""
    found = tx.runs.with_id(ask.number("run", 0) or _missing("run"))
    here = _Here.of_run(tx, ask, found)
    evaluations = tx.evaluations.of_run(found.id)
    chosen = [one for one in evaluations if here.metric is not None and one.metric == here.metric.metric]
    groups, part = [], _Part.of(0, 1, "/run", {})
    sort = ask.text("sort") if ask.text("sort") in _GROUP_SORTS else "worst"
    q = ask.text("q") or ""
    if chosen:
        of_run = groups_of_run(tx, found, chosen[-1])
        places = [place for place, key in enumerate(of_run.keys) if q.lower() in key.lower()] if q else None
        order = _group_order(of_run.keys, of_run.values, str(sort), places)
        parameters = {"run": found.id, "metric": chosen[-1].metric, "q": q, "sort": sort}
        part = _Part.of(len(order), ask.number("page", 1), "/run", parameters)
        groups = [
            (of_run.keys[place], None if np.isnan(of_run.values[place]) else float(of_run.values[place]))
            for place in order[part.first : part.last]
        ]
    label_sets = {one.label_set_id: one.label_set_version for one in evaluations}
    coverage = [
        (version, [("whole list" if one.cutoff is None else f"top {one.cutoff}", one.judged_share) for one in shares])
        for label_set_id, version in label_sets.items()
        if (shares := tx.evaluations.coverages(found.id, label_set_id))
    ]
    of_dataset = tx.runs.all(found.dataset)
    before = max((one.id for one in of_dataset if one.id < found.id), default=None)
    aliases = tx.aliases.all(found.dataset)
    comparisons = [(f"@{one.name}", one.run_id) for one in aliases if one.run_id != found.id]
    if before is not None:
        comparisons.insert(0, ("the run before", before))
    return rendered(
        "run.html",
        title=found.name,
        run=found,
        aliases=[one.name for one in aliases if one.run_id == found.id],
        pairs=[("tag", found.tags), ("parameter", found.parameters)],
        evaluations=[(one, metric_name_of(here, one.metric)) for one in evaluations],
        coverage=coverage,
        comparisons=[
            (name, link("/compare", run=[other, found.id], metric=here.metric and here.metric.metric))
            for name, other in comparisons
        ],
        decisions=_decision_rows(tx, here.dataset, found.id),
        groups=groups,
        part=part,
        q=q,
        sort=sort,
        sorts=_GROUP_SORTS,
        **here.values("/run"),
    )


def metric_name_of(here: _Here, metric: str) -> str:
    """Return a metric of a dataset by the name that people know."""
    return next((metric_name(one) for one in here.metrics if one.metric == metric), metric)


def _missing(name: str) -> int:
    raise InputError(f"the address names no {name}")


def _group_order(keys: Sequence[str], values: Any, sort: str, places: Sequence[int] | None) -> list[int]:
    some = np.arange(len(keys)) if places is None else np.array(places, dtype=np.int64)
    if sort == "group":
        return sorted(some.tolist(), key=lambda place: keys[place])
    of_some = values[some]
    order = np.argsort(of_some if sort == "worst" else -of_some, kind="stable")  # NaN comes last
    return cast("list[int]", some[order].tolist())


def history(tx: ReadTransaction, ask: Question) -> Answer:
    """Return the page of a metric over runs."""
    here = _Here.of(tx, ask)
    metric = here.wanted()
    tags = dict(_pair_of(tag) for tag in ask.texts("tag"))
    last = ask.number("last", RUNS)
    wanted = HistoryFilter(tags, last=last)
    found = history_of(tx, here.dataset.name, metric.metric, wanted, most_steps=MOST_STEPS)
    name = metric_name(metric)
    rows = [cast("HistoryRow", {**row, "run": visible(row["run"])}) for row in found.rows]
    return rendered(
        "history.html",
        title=f"History of {here.dataset.name}",
        data={"themes": themes(), "charts": {"history": history_chart(rows, name)}} if rows else None,
        chart=_chart_words(history_chart(rows, name)) if rows else None,
        rows=found.rows[: -RUNS - 1 : -1],
        n_rows=len(found.rows),
        most_steps=MOST_STEPS,
        steps=[step_sentence(row) for row in found.rows if row.get("step_between") is not None],
        notes=[note_text(note) for note in found.notes],
        n_all=found.n_without_filter,
        tag=(ask.texts("tag") or [""])[0],
        last=last,
        **here.values("/history"),
    )


def _pair_of(tag: str) -> tuple[str, str]:
    key, equals, value = tag.partition("=")
    if not equals:
        raise InputError(f"tag {tag!r} is not key=value")
    return key, value


def _chart_words(spec: Mapping[str, Any]) -> dict[str, str]:
    return {"title": spec["title"]["text"], "subtitle": spec["title"].get("subtitle", "")}


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A baseline and candidates of one dataset."""

    here: _Here
    baseline: RunRecord
    candidates: Sequence[RunRecord]

    @classmethod
    def of(cls, tx: ReadTransaction, ask: Question) -> _Chosen:
        """Return the runs that an address names; the first is the baseline where no other is named so."""
        ids = ask.ids("run")
        baseline_id = ask.number("baseline", 0) or (ids[0] if ids else 0)
        others = [one for one in ids if one != baseline_id]
        if not baseline_id or not others:
            raise InputError("choose a baseline and one run or more to compare with it")
        if len(others) > MOST_PAIRS:
            raise InputError(f"choose at most {MOST_PAIRS} runs; for more, ndcg-track report --all writes a page")
        baseline = tx.runs.with_id(baseline_id)
        candidates = [tx.runs.with_id(one) for one in others]
        if any(one.dataset_id != baseline.dataset_id for one in candidates):
            raise InputError("these runs are of several datasets; choose runs of one")
        return cls(_Here.of_run(tx, ask, baseline), baseline, candidates)

    def options(self, ask: Question) -> CompareOptions:
        """Return what is compared: the metric of the address, and all that the runs share where it names none."""
        metric = ask.text("metric")
        every = () if metric is None else (parse_metric(metric),)
        return CompareOptions(every, self.baseline.dataset, _missing_groups(ask))

    def address(self, path: str, candidate: RunRecord, ask: Question, metric: str) -> str:
        """Return an address about the baseline and one candidate."""
        both = [self.baseline.id, candidate.id]
        return link(path, dataset=self.baseline.dataset, metric=metric, run=both, missing=ask.text("missing"))


def _missing_groups(ask: Question) -> Any:
    given = ask.text("missing") or "error"
    if given not in ("error", "zero", "intersect", "skip"):
        raise InputError(f"missing must be error, zero, intersect or skip, not {given[:40]!r}")
    return given


def compare(tx: ReadTransaction, ask: Question) -> Answer:
    """Return the page of a comparison: the report's page, which asks for what a file would have to hold."""
    chosen = _Chosen.of(tx, ask)
    names = [one.name for one in chosen.candidates]
    report = live_report(tx, chosen.baseline.name, names, chosen.options(ask))
    data, values = report_values(report, made="This command writes the page to a file that can be sent to others:")
    metric = report.pairs[0].comparison.metrics[0].metric
    data["ask"] = {
        "lists": [chosen.address("/compare/lists", one, ask, metric) for one in chosen.candidates],
        "group": [chosen.address("/group", one, ask, metric) for one in chosen.candidates],
    }
    ids = [chosen.baseline.id, *(one.id for one in chosen.candidates)]
    return rendered(
        "compare.html",
        data=data,
        ids=ids,
        swapped=link("/compare", run=ids[::-1], metric=ask.text("metric")) if len(ids) == 2 else None,
        others=link("/runs", dataset=chosen.baseline.dataset, metric=metric, run=ids, baseline=ids[0]),
        cutoffs=[chosen.address("/compare/cutoffs", one, ask, metric) for one in chosen.candidates],
        asked=ask.text("metric") or "",
        **{**chosen.here.values("/compare"), **values},
    )


def compare_cutoffs(tx: ReadTransaction, ask: Question) -> Answer:
    """Return the page of a metric at each cutoff for two runs, which reads all their lists."""
    chosen = _Chosen.of(tx, ask)
    metric, candidate = chosen.here.wanted(), chosen.candidates[0]
    options = CompareOptions((parse_metric(metric.metric),), chosen.baseline.dataset, _missing_groups(ask))
    found = compared(tx, chosen.baseline.name, [candidate.name], options)[0]
    pairing = found.results[0].pairing
    keys = tx.groups.keys(found.both.dataset_id, pairing.group_ids)
    is_tested = found.results[0].no_inference is None
    rows = at_cutoffs(tx, found, keys, many_groups=SOME_CUTOFFS) if is_tested else ()
    names = (visible(chosen.baseline.name), visible(candidate.name))
    spec = cutoffs_chart(rows, *names, metric=metric_name(metric), cutoff=found.both.metric.cutoff) if rows else None
    return rendered(
        "cutoffs.html",
        title=f"{candidate.name} against {chosen.baseline.name}",
        data={"themes": themes(), "charts": {"cutoffs": spec}} if spec else None,
        chart=_chart_words(spec) if spec else None,
        rows=rows,
        baseline=chosen.baseline,
        candidate=candidate,
        back=chosen.address("/compare", candidate, ask, metric.metric),
        **chosen.here.values("/compare"),
    )


def compare_lists(tx: ReadTransaction, ask: Question) -> Answer:
    """Return the lists of one group in two runs, as the report's script reads them."""
    chosen = _Chosen.of(tx, ask)
    key = str(ask.text("group") or _missing("group"))
    lists = _lists(tx, chosen, key)
    one = group_id(tx, chosen.here.dataset, key)
    items = [item.item for item in lists.items] + [item for item, _ in lists.ideal]
    texts = texts_of(tx, chosen.here.dataset.id, {one: items})
    return lists_on_page(visible_lists(lists)) | {"texts": texts_on_page(texts.get(one, GroupTexts()))}


def _lists(tx: ReadTransaction, chosen: _Chosen, key: str) -> GroupLists:
    metric = parse_metric(chosen.here.wanted().metric)
    both = resolved_pair(tx, chosen.baseline, chosen.candidates[0], (metric,))
    one = group_id(tx, chosen.here.dataset, key)
    return lists_of(tx, both, np.array([one], dtype=np.int64))[0]


def groups(tx: ReadTransaction, ask: Question) -> Answer:
    """Return the page of the groups of a dataset."""
    here = _Here.of(tx, ask)
    q, number = ask.text("q") or "", ask.number("page", 1)
    found, newest = groups_containing(tx, here.dataset, here.metric, q, ROWS + 1, (number - 1) * ROWS)
    parameters = {"dataset": here.dataset.name, "metric": here.metric and here.metric.metric, "q": q}
    return rendered(
        "groups.html",
        title=f"Groups of {here.dataset.name}",
        rows=[(one, query_cell(one.query)) for one in found[:ROWS]],
        newest=newest,
        q=q,
        before=link("/groups", **parameters, page=number - 1) if number > 1 else None,
        after=link("/groups", **parameters, page=number + 1) if len(found) > ROWS else None,
        **here.values("/groups"),
    )


def group(tx: ReadTransaction, ask: Question) -> Answer:
    """Return the page of one group: its value in every run, and its lists in two."""
    here = _Here.of(tx, ask)
    key, metric = str(ask.text("group") or _missing("group")), here.wanted()
    one = group_id(tx, here.dataset, key)
    records = group_over_time(tx, here.dataset, metric.metric, one)
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
    known = [row for row in rows if row["mean"] is not None]
    charts: dict[str, Any] = {}
    if known:
        charts["history"] = history_chart(rows, metric_name(metric)) | {
            "title": {
                "text": f"{metric_name(metric)} of this group",
                "subtitle": f"its value in {counted(min(len(known), MOST_RUNS), 'run')}, run after run"
                + (f"; {counted(len(known) - MOST_RUNS, 'older one')} not drawn" if len(known) > MOST_RUNS else ""),
            }
        }
    ids = list(dict.fromkeys([*ask.ids("baseline"), *ask.ids("run")]))[:2]
    if len(ids) < 2:
        ids = _most_changed(known)
    pair: dict[str, Any] = {}
    if ids:
        one_run, other = (tx.runs.with_id(run_id) for run_id in ids)
        pair, moves = _group_pair(tx, _Chosen(here, one_run, [other]), key)
        charts |= moves
    changes = [
        (record, None if None in (record.value, before) else (record.value or 0.0) - (before or 0.0))
        for record, before in zip(records, [None, *(record.value for record in records)], strict=False)
    ][::-1]
    part = _Part.of(len(changes), ask.number("page", 1), "/group",
                    {"dataset": here.dataset.name, "metric": metric.metric, "group": key, "run": ids})  # fmt: skip
    attributes = tx.groups.attributes(here.dataset.id).get(one) or {}
    return rendered(
        "group.html",
        title=f"Group {key}",
        group=key,
        query=query_cell(texts_of(tx, here.dataset.id, {}, [one]).get(one, GroupTexts()).query),
        attributes=attributes,
        data={"themes": themes(), "charts": charts} if charts else None,
        charts={name: _chart_words(spec) for name, spec in charts.items()},
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


def _most_changed(rows: Sequence[HistoryRow]) -> list[int]:
    """Return the two runs, one after the other, between which a value changed most; the newest of several."""
    pairs = list(pairwise(rows))[::-1]
    if not pairs:
        return []
    before, after = max(pairs, key=lambda both: abs((both[1]["mean"] or 0.0) - (both[0]["mean"] or 0.0)))
    return [before["run_id"], after["run_id"]]


def _group_pair(tx: ReadTransaction, chosen: _Chosen, key: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a page shows of one group in two runs, and the chart of its moves."""
    from markupsafe import Markup

    candidate = chosen.candidates[0]
    names = (visible(chosen.baseline.name), visible(candidate.name))
    found = {"baseline": chosen.baseline, "candidate": candidate, "why": "", "explained": "", "has_texts": False}
    metric = parse_metric(chosen.here.wanted().metric)
    charts: dict[str, Any] = {}
    try:
        charts["moves"] = rank_moves(visible_lists(_lists(tx, chosen, key)), *names)
        explanation = group_explanation(tx, explained_pair(tx, chosen.baseline, candidate, metric), key)
        assert isinstance(explanation, GroupExplanation)
        found["has_texts"] = bool(explanation.texts.items)
        found["explained"] = Markup(reports_html([explanation_report(explanation)], CLASSES))
    except MetricError:
        found["why"] = f"{metric} is no sum over items, so no item has a part of it."
    except NdcgTrackerError as error:
        found["why"] = str(error)
    return found, charts


def labels(tx: ReadTransaction, ask: Question) -> Answer:
    """Return the page of a dataset's labels, and how much of each run they cover."""
    here = _Here.of(tx, ask)
    found = labels_overview(tx, here.dataset)
    names = {one.id: one.name for one in tx.runs.all(here.dataset.name)}
    q = (ask.text("q") or "").lower()
    wanted = [run_id for run_id in found.judged if q in names.get(run_id, "").lower()]
    part = _Part.of(len(wanted), ask.number("page", 1), "/labels", {"dataset": here.dataset.name, "q": ask.text("q")})
    counts = Counter(cutoff for shares in found.judged.values() for cutoff in shares)
    cutoffs = sorted(counts, key=lambda cutoff: (cutoff is None, cutoff or 0))
    return rendered(
        "labels.html",
        title=f"Labels of {here.dataset.name}",
        label_sets=found.label_sets,
        cutoffs=cutoffs,
        rows=[(run_id, names.get(run_id, ""), found.judged[run_id]) for run_id in wanted[part.first : part.last]],
        part=part,
        q=ask.text("q") or "",
        **here.values("/labels"),
    )


def decisions(tx: ReadTransaction, ask: Question) -> Answer:
    """Return the page of what gates decided."""
    here = _Here.of(tx, ask)
    rows = _decision_rows(tx, here.dataset)
    part = _Part.of(len(rows), ask.number("page", 1), "/decisions", {"dataset": here.dataset.name})
    counts = Counter(row["decision"] for row in rows)
    return rendered(
        "decisions.html",
        title=f"Gates of {here.dataset.name}",
        rows=rows[part.first : part.last],
        counts=", ".join(f"{n:,} {name}" for name, n in counts.most_common()),
        part=part,
        **here.values("/decisions"),
    )


def _decision_rows(tx: ReadTransaction, dataset: DatasetRecord, run_id: int | None = None) -> list[dict[str, Any]]:
    """Return decisions, the newest first, those on one run if it is named."""
    every = tx.decisions.all(dataset.id)[::-1]
    rows = []
    for one in every:
        both = [one.baseline_run_id, one.candidate_run_id]
        if run_id is not None and run_id not in both:
            continue
        rows.append(
            {
                "created": one.created_at_utc,
                "decision": one.decision,
                "candidate": one.candidate_run,
                "baseline": f"@{one.baseline_alias} ({one.baseline_run})" if one.baseline_alias else one.baseline_run,
                "metric": one.metric,
                "delta": points(one.delta, signed=True),
                "ci": None if one.ci_low is None or one.ci_high is None else (one.ci_low, one.ci_high),
                "margin": "" if one.margin is None else f"{one.margin:.6g}",
                "reason": one.reason,
                "overridden": one.acknowledged_reason,
                "by": one.acknowledged_by,
                "address": None if None in both else link("/compare", run=both, metric=one.metric),
            }
        )
    return rows
