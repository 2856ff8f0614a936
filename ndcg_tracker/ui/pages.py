"""The pages of the ui, one function each: from one state of the database and the question of the address to HTML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np

from ndcg_tracker.compare.results import JudgedSpan
from ndcg_tracker.errors import InputError
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.gate.decide_bounds import FAIL_ALPHA, PASS_LEVEL
from ndcg_tracker.questions.history.gather import HistoryFilter, history_of
from ndcg_tracker.questions.history.say import HistoryRow, happened, history_chart
from ndcg_tracker.render.html import themes
from ndcg_tracker.render.report import query_cell
from ndcg_tracker.render.terminal import visible
from ndcg_tracker.storage.records import NO_LABELS_HERE
from ndcg_tracker.ui.overviews import (
    RunOverview,
    datasets_overview,
    groups_containing,
    groups_of_run,
    labels_overview,
    runs_overview,
    shown_judge,
    usual_metric,
)
from ndcg_tracker.ui.rendering import Question, link, metric_name, position, rendered, sparkline
from ndcg_tracker.words.notes import note_text
from ndcg_tracker.words.texts import percent, percent_of, percent_span, points

if TYPE_CHECKING:
    from ndcg_tracker.storage.records import DatasetRecord, DecisionRecord, MetricUse, RunRecord
    from ndcg_tracker.storage.store import ReadTransaction


class Csv(str):
    """A table that a person saves."""

    __slots__ = ()


class Next(str):
    """The address that a form leads to."""

    __slots__ = ()


Answer = str | Csv | Next | dict[str, object]
"""A page, a table to save, where a form leads to, or what a script asked for."""

ROWS = 50
"""How many rows of a table are on a page."""
RUNS = 100
"""How many runs a history shows, the newest, unless more are asked for."""
MOST_STEPS = 200
"""Steps are looked for among at most this many runs."""
_TAGS = 12
_SORTS = {"newest": "newest", "oldest": "oldest", "best": "best mean", "worst": "worst mean", "name": "name"}
_GROUP_SORTS = {"worst": "worst", "best": "best", "group": "group"}


def datasets(tx: ReadTransaction, ask: Question) -> Answer:
    """Return the page of all datasets."""
    rows = [
        {
            "name": overview.dataset.name,
            "counts": overview.counts,
            "metric": "" if overview.metric is None else metric_name(overview.metric),
            "mean": overview.means[-1] if overview.means else None,
            "line": sparkline(overview.means),
            "newest": overview.newest_utc or "",
        }
        for overview in datasets_overview(tx)
    ]
    return rendered("datasets.html", title="Datasets", rows=rows)


@dataclass(frozen=True, slots=True)
class Here:
    """The dataset and the metric that a page is about, and the metrics to choose from.

    ``judge``: whose labels. ``person``: who may judge here, "" for nobody.
    """

    dataset: DatasetRecord
    metrics: Sequence[MetricUse]
    metric: MetricUse | None
    judge: str = ""
    person: str = ""

    @classmethod
    def of(cls, tx: ReadTransaction, ask: Question, dataset: DatasetRecord | None = None) -> Here:
        """Return what an address is about."""
        dataset = dataset or ask.dataset(tx)
        judge = shown_judge(tx, dataset)
        metrics = tx.evaluations.metrics(dataset.id, judge)
        return cls(dataset, metrics, usual_metric(metrics, ask.text("metric")), judge, ask.person)

    @classmethod
    def of_run(cls, tx: ReadTransaction, ask: Question, run: RunRecord) -> Here:
        """Return what an address that names a run is about."""
        return cls.of(tx, ask, tx.datasets.named(run.dataset))

    def values(self, here: str) -> dict[str, object]:
        """Return what every template shows of it; ``here``: the address of the page."""
        return {
            "dataset": self.dataset.name,
            "metric": None if self.metric is None else self.metric.metric,
            "metric_name": "" if self.metric is None else metric_name(self.metric),
            "metrics": [(use.metric, metric_name(use)) for use in self.metrics],
            "judge": self.judge,
            "person": self.person,
            "here": here,
        }

    def wanted(self) -> MetricUse:
        """Return the metric; raises InputError where no run has one."""
        if self.metric is None:
            raise InputError(f"no run of dataset {self.dataset.name!r} was evaluated under a metric yet")
        return self.metric


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of a long table that are on a page, and the addresses of the pages before and after."""

    first: int
    last: int
    total: int
    before: str | None
    after: str | None

    @classmethod
    def of(cls, total: int, number: int, path: str, parameters: Mapping[str, object]) -> Part:
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
    here = Here.of(tx, ask)
    every = runs_overview(tx, here.dataset, here.metric)
    words, tags = (ask.text("q") or "").lower().split(), list(dict.fromkeys(ask.texts("tag")))
    sort = ask.text("sort") if ask.text("sort") in _SORTS else "newest"
    matching = [overview for overview in every if _has(overview, words, tags)]
    matching = _sorted(matching, str(sort), _sign(None if here.metric is None else here.metric.metric))
    chosen, baseline = set(ask.ids("run")), ask.number("baseline", 0)
    if not baseline and every:
        pinned = [overview.run.id for overview in every if "baseline" in overview.aliases]
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
    part = Part.of(len(matching), ask.number("page", 1), "/runs", parameters)
    shown = matching[part.first : part.last]
    pinned_rows = [overview for overview in every if overview.run.id in {*chosen, baseline} and overview not in shown]
    span = JudgedSpan.of(None, (overview.judged for overview in every))
    is_apart = span is not None and span.is_apart
    means = [overview.mean for overview in every if overview.mean is not None]
    low, high = (min(means), max(means)) if means else (0.0, 0.0)
    rows = [
        {
            "id": overview.run.id,
            "name": overview.run.name,
            "aliases": overview.aliases,
            "created": overview.run.created_at_utc,
            "commit": overview.run.git_commit or "",
            "tags": [(f"{key}={value}", link("/runs", **{**parameters, "tag": sorted({*tags, f"{key}={value}"})}))
                     for key, value in overview.run.tags.items()],
            "parameters": " ".join(f"{key}={value}" for key, value in islice(overview.run.parameters.items(), 6)),
            "mean": overview.mean,
            "place": position(overview.mean, low, high),
            "version": overview.label_set_version,
            "judged": "" if overview.judged is None else percent(overview.judged),
            "is_chosen": overview.run.id in chosen,
            "is_baseline": overview.run.id == baseline,
        }
        for overview in (*pinned_rows, *shown)
    ]  # fmt: skip
    return rendered(
        "runs.html",
        title=f"Runs of {here.dataset.name}",
        rows=rows,
        has={name: any(row[name] for row in rows) for name in ("tags", "parameters", "commit")} | {"judged": is_apart},
        judged="" if span is None or is_apart else percent_span(span.least, span.greatest),
        n_pinned=len(pinned_rows),
        part=part,
        q=ask.text("q") or "",
        sort=sort,
        sorts=_SORTS,
        tags=[(tag, link("/runs", **{**parameters, "tag": [other for other in tags if other != tag]})) for tag in tags],
        line=sparkline([overview.mean for overview in every]),
        n_runs=len(every),
        families=_families(matching, parameters, tags),
        low=low,
        high=high,
        **here.values("/runs"),
    )


def _has(overview: RunOverview, words: Sequence[str], tags: Sequence[str]) -> bool:
    """Return whether a run has all words somewhere, and all tags."""
    pairs = [f"{key}={value}" for key, value in overview.run.tags.items()]
    if any(tag not in pairs for tag in tags):
        return False
    if not words:
        return True
    parameters = [f"{key}={value}" for key, value in overview.run.parameters.items()]
    aliases = [f"@{alias}" for alias in overview.aliases]
    text = "\n".join([overview.run.name, overview.run.git_commit or "", *pairs, *parameters, *aliases]).lower()
    return all(word in text for word in words)


def _sign(metric: str | None) -> float:
    """Return 1 where higher values of a metric are better, -1 where lower ones are."""
    return -1.0 if metric is not None and parse_metric(metric).direction == "lower" else 1.0


def _sorted(runs: Sequence[RunOverview], sort: str, sign: float) -> list[RunOverview]:
    if sort == "name":
        return sorted(runs, key=lambda overview: overview.run.name)
    if sort in ("best", "worst"):
        with_mean = [overview for overview in runs if overview.mean is not None]
        without_mean = [overview for overview in runs if overview.mean is None]
        return (
            sorted(with_mean, key=lambda overview: sign * (overview.mean or 0.0), reverse=sort == "best") + without_mean
        )
    return list(runs) if sort == "oldest" else list(runs)[::-1]


def _families(
    overviews: Sequence[RunOverview], parameters: Mapping[str, object], tags: Sequence[str]
) -> list[dict[str, object]]:
    """Return the tags that most of some runs share, each with the means of its runs."""
    oldest_first = sorted(overviews, key=lambda overview: (overview.run.created_at_utc, overview.run.id))
    of_tag: dict[str, list[RunOverview]] = {}
    for overview in oldest_first:
        for key, value in overview.run.tags.items():
            of_tag.setdefault(f"{key}={value}", []).append(overview)
    several = [(tag, some) for tag, some in of_tag.items() if len(some) > 1 and tag not in tags]
    several.sort(key=lambda each: -len(each[1]))
    rows = []
    for tag, some in several[:_TAGS]:
        means = [overview.mean for overview in some]
        defined = [mean for mean in means if mean is not None]
        address = link("/runs", **{**parameters, "tag": sorted({*tags, tag})})
        line, mean = sparkline(means), defined[-1] if defined else None
        rows.append({"tag": tag, "n": len(some), "line": line, "mean": mean, "address": address})
    return rows


def run(tx: ReadTransaction, ask: Question) -> Answer:
    """Return the page of one run."""
    record = tx.runs.with_id(ask.number("run", 0) or missing("run"))
    here = Here.of_run(tx, ask, record)
    evaluations = tx.evaluations.of_run(record.id)
    chosen = [
        evaluation
        for evaluation in evaluations
        if here.metric is not None
        and evaluation.metric == here.metric.metric
        and evaluation.judge in (here.judge, *NO_LABELS_HERE)
    ]
    groups, part = [], Part.of(0, 1, "/run", {})
    sort = ask.text("sort") if ask.text("sort") in _GROUP_SORTS else "worst"
    q = ask.text("q") or ""
    if chosen:
        of_run = groups_of_run(tx, record, chosen[-1])
        places = [place for place, key in enumerate(of_run.keys) if q.lower() in key.lower()] if q else None
        order = _group_order(of_run.keys, _sign(chosen[-1].metric) * of_run.values, str(sort), places)
        parameters = {"run": record.id, "metric": chosen[-1].metric, "q": q, "sort": sort}
        part = Part.of(len(order), ask.number("page", 1), "/run", parameters)
        groups = [
            (of_run.keys[place], None if np.isnan(of_run.values[place]) else float(of_run.values[place]))
            for place in order[part.first : part.last]
        ]
    label_sets = {evaluation.label_set_id: evaluation.label_set_version for evaluation in evaluations}
    coverage = [
        (
            version,
            [("whole list" if share.cutoff is None else f"top {share.cutoff}", share.judged_share) for share in shares],
        )
        for label_set_id, version in label_sets.items()
        if (shares := tx.evaluations.coverages(record.id, label_set_id))
    ]
    of_dataset = tx.runs.all(record.dataset)
    in_time = [stored.id for stored in of_dataset]
    before = ([None, *in_time])[in_time.index(record.id)]
    aliases = tx.aliases.all(record.dataset)
    comparisons = [(f"@{alias.name}", alias.run_id) for alias in aliases if alias.run_id != record.id]
    if before is not None:
        comparisons.insert(0, ("the run before", before))
    return rendered(
        "run.html",
        title=record.name,
        run=record,
        aliases=[alias.name for alias in aliases if alias.run_id == record.id],
        pairs=[("tag", record.tags), ("parameter", record.parameters)],
        evaluations=[(evaluation, metric_name_of(here, evaluation.metric)) for evaluation in evaluations],
        coverage=coverage,
        comparisons=[
            (name, link("/compare", run=[other, record.id], metric=here.metric and here.metric.metric))
            for name, other in comparisons
        ],
        decisions=_decision_rows(tx, here.dataset, record.id),
        groups=groups,
        part=part,
        q=q,
        sort=sort,
        sorts=_GROUP_SORTS,
        **here.values("/run"),
    )


def metric_name_of(here: Here, metric: str) -> str:
    """Return a metric of a dataset by the name that people know."""
    return next((metric_name(use) for use in here.metrics if use.metric == metric), metric)


def missing(name: str) -> NoReturn:
    """Refuse an address that does not name what its page is about."""
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
    here = Here.of(tx, ask)
    metric = here.wanted()
    tags = dict(_pair_of(tag) for tag in ask.texts("tag"))
    last = ask.number("last", RUNS)
    wanted = HistoryFilter(tags, last=last, judge=here.judge or None)
    result = history_of(tx, here.dataset.name, metric.metric, wanted, most_steps=MOST_STEPS)
    name = metric_name(metric)
    rows = [cast("HistoryRow", {**row, "run": visible(row["run"])}) for row in result.rows]
    return rendered(
        "history.html",
        title=f"History of {here.dataset.name}",
        data={"themes": themes(), "charts": {"history": history_chart(rows, name)}} if rows else None,
        chart=chart_words(history_chart(rows, name)) if rows else None,
        rows=result.rows[: -RUNS - 1 : -1],
        n_rows=len(result.rows),
        most_steps=MOST_STEPS,
        steps=happened(result.rows),
        notes=[note_text(note) for note in result.notes],
        n_all=result.n_without_filter,
        tag=(ask.texts("tag") or [""])[0],
        last=last,
        **here.values("/history"),
    )


def _pair_of(tag: str) -> tuple[str, str]:
    key, equals, value = tag.partition("=")
    if not equals:
        raise InputError(f"tag {tag!r} is not key=value")
    return key, value


def chart_words(spec: Mapping[str, Any]) -> dict[str, str]:
    """Return the title of a chart and how to read it."""
    return {"title": spec["title"]["text"], "subtitle": spec["title"].get("subtitle", "")}


def groups(tx: ReadTransaction, ask: Question) -> Answer:
    """Return the page of the groups of a dataset."""
    here = Here.of(tx, ask)
    q, number = ask.text("q") or "", ask.number("page", 1)
    listed, newest = groups_containing(tx, here.dataset, here.metric, q, ROWS + 1, (number - 1) * ROWS)
    parameters = {"dataset": here.dataset.name, "metric": here.metric and here.metric.metric, "q": q}
    return rendered(
        "groups.html",
        title=f"Groups of {here.dataset.name}",
        rows=[(listed_group, query_cell(listed_group.query)) for listed_group in listed[:ROWS]],
        newest=newest,
        q=q,
        before=link("/groups", **parameters, page=number - 1) if number > 1 else None,
        after=link("/groups", **parameters, page=number + 1) if len(listed) > ROWS else None,
        **here.values("/groups"),
    )


def labels(tx: ReadTransaction, ask: Question) -> Answer:
    """Return the page of a dataset's labels, and how much of each run they cover."""
    here = Here.of(tx, ask)
    overview = labels_overview(tx, here.dataset)
    names = {record.id: record.name for record in tx.runs.all(here.dataset.name)}
    q = (ask.text("q") or "").lower()
    wanted = [run_id for run_id in overview.judged if q in names.get(run_id, "").lower()]
    part = Part.of(len(wanted), ask.number("page", 1), "/labels", {"dataset": here.dataset.name, "q": ask.text("q")})
    counts = Counter(cutoff for shares in overview.judged.values() for cutoff in shares)
    cutoffs = sorted(counts, key=lambda cutoff: (cutoff is None, cutoff or 0))
    return rendered(
        "labels.html",
        title=f"Labels of {here.dataset.name}",
        label_sets=overview.label_sets,
        cutoffs=cutoffs,
        rows=[(run_id, names.get(run_id, ""), overview.judged[run_id]) for run_id in wanted[part.first : part.last]],
        part=part,
        q=ask.text("q") or "",
        **here.values("/labels"),
    )


def decisions(tx: ReadTransaction, ask: Question) -> Answer:
    """Return the page of what gates decided."""
    here = Here.of(tx, ask)
    rows = _decision_rows(tx, here.dataset)
    part = Part.of(len(rows), ask.number("page", 1), "/decisions", {"dataset": here.dataset.name})
    counts = Counter(row["decision"] for row in rows)
    return rendered(
        "decisions.html",
        title=f"Gates of {here.dataset.name}",
        rows=rows[part.first : part.last],
        counts=", ".join(f"{n:,} {name}" for name, n in counts.most_common()),
        part=part,
        **here.values("/decisions"),
    )


def _bounds(decision: DecisionRecord) -> list[str]:
    """Return the one-sided bounds of a decision, each with its level: that of PASS at 95%, that of FAIL at its own."""
    levels = [PASS_LEVEL, 1 - (FAIL_ALPHA if decision.alpha is None else decision.alpha)]
    if _sign(decision.metric) < 0:
        levels.reverse()
    sides = zip(("at least", "at most"), (decision.ci_low, decision.ci_high), levels, strict=True)
    given = [(side, bound, level) for side, bound, level in sides if bound is not None]
    return [f"{side} {points(bound, signed=True)} ({percent_of(level)})" for side, bound, level in given]


def _decision_rows(tx: ReadTransaction, dataset: DatasetRecord, run_id: int | None = None) -> list[dict[str, Any]]:
    """Return decisions, the newest first, those on one run if it is named."""
    every = tx.decisions.all(dataset.id)[::-1]
    rows = []
    for decision in every:
        both = [decision.baseline_run_id, decision.candidate_run_id]
        if run_id is not None and run_id not in both:
            continue
        rows.append(
            {
                "created": decision.created_at_utc,
                "decision": decision.decision,
                "candidate": decision.candidate_run,
                "baseline": f"@{decision.baseline_alias} ({decision.baseline_run})"
                if decision.baseline_alias
                else decision.baseline_run,
                "metric": decision.metric,
                "delta": points(decision.delta, signed=True),
                "bounds": _bounds(decision),
                "margin": "" if decision.margin is None else f"{decision.margin:.6g}",
                "reason": decision.reason,
                "overridden": decision.acknowledged_reason,
                "by": decision.acknowledged_by,
                "address": None if None in both else link("/compare", run=both, metric=decision.metric),
            }
        )
    return rows
