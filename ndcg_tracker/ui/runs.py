"""The pages of the runs of a dataset, and of one run."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from ndcg_tracker.compare.results import JudgedSpan
from ndcg_tracker.compare.run_pair import label_set_ref
from ndcg_tracker.compare.say_tables import model_words
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.render.report import query_cell
from ndcg_tracker.storage.records import NO_LABELS_HERE
from ndcg_tracker.ui.comparisons import verdict
from ndcg_tracker.ui.here import ROWS, Answer, Here, Part, missing, rescoring, sign_of
from ndcg_tracker.ui.overviews import RunOverview, against_baseline, groups_listed, runs_overview
from ndcg_tracker.ui.pages import GROUP_SORTS, asked_groups, decision_rows
from ndcg_tracker.ui.rendering import Question, rendered, sparkline
from ndcg_tracker.words.texts import counted, judge_words, percent_span

if TYPE_CHECKING:
    from markupsafe import Markup

    from ndcg_tracker.storage.store import ReadTransaction

_TAGS = 12
_SORTS = {"newest": "newest", "oldest": "oldest", "best": "best mean", "worst": "worst mean", "name": "name"}


def matching_runs(tx: ReadTransaction, here: Here) -> tuple[list[RunOverview], list[RunOverview]]:
    """Return all runs of a dataset, oldest first, and the runs that an address asks for, in its order."""
    ask, metric = here.ask, here.metric
    every = runs_overview(tx, here.dataset, metric, here.records(tx))
    words, tags = (ask.text("q") or "").lower().split(), ask.texts("tag")
    matching = [overview for overview in every if _has(overview, words, tags)]
    return every, _sorted(matching, _sort_of(ask), sign_of(None if metric is None else metric.metric))


def _sort_of(ask: Question) -> str:
    sort = ask.text("sort") or ""
    return sort if sort in _SORTS else "newest"


def runs(tx: ReadTransaction, ask: Question) -> Answer:
    """Return the page of the runs of a dataset, with a search, and a form to choose runs to compare."""
    here = Here.of(tx, ask)
    metric = None if here.metric is None else here.metric.metric
    every, matching = matching_runs(tx, here)
    tags, sort = list(dict.fromkeys(ask.texts("tag"))), _sort_of(ask)
    chosen, baseline = set(ask.ids("run")), ask.number("baseline", 0)
    if not baseline and every:
        pinned = [overview.run.id for overview in every if "baseline" in overview.aliases]
        baseline = (pinned or [every[0].run.id])[0]
    parameters = {
        "dataset": here.dataset.name,
        "metric": metric,
        "q": ask.text("q"),
        "tag": tags,
        "sort": None if sort == "newest" else sort,
        "baseline": baseline,
        "run": sorted(chosen),
    }
    part = Part.of(len(matching), ask.number("page", 1), partial(here.link, "/runs", **parameters))
    shown = matching[part.first : part.last]
    pinned_rows = [overview for overview in every if overview.run.id in {*chosen, baseline} and overview not in shown]
    of_page = [*pinned_rows, *shown]
    ids = [overview.run.id for overview in of_page]
    against = {} if metric is None else against_baseline(tx, here.dataset, metric, here.records(tx), ids, baseline)
    span = JudgedSpan.of(None, (overview.judged for overview in every))
    is_apart = span is not None and span.is_apart
    means = [overview.mean for overview in every if overview.mean is not None]
    low, high = (min(means), max(means)) if means else (0.0, 0.0)
    newest = max((overview.label_set_version or 0 for overview in every), default=0)
    counted_groups = {overview.groups for overview in every if overview.groups is not None}
    groups = next(iter(counted_groups)).words if len(counted_groups) == 1 else ""
    rows = [
        {
            "of": overview,
            "tags": [(f"{key}={value}", _tagged(here, parameters, f"{key}={value}"))
                     for key, value in overview.run.tags.items()],
            "parameters": " ".join(f"{key}={value}" for key, value in islice(overview.run.parameters.items(), 6)),
            "about": _about_mean(here, overview, newest, are_groups_apart=len(counted_groups) > 1),
            "against": against.get(overview.run.id),
        }
        for overview in of_page
    ]  # fmt: skip
    return rendered(
        "runs.html",
        title=f"Runs of {here.dataset.name}",
        rows=rows,
        has={name: any(row[name] for row in rows) for name in ("tags", "parameters", "against")} | {"judged": is_apart},
        judged="" if span is None or is_apart else percent_span(span.least, span.greatest),
        n_pinned=len(pinned_rows),
        chosen=chosen,
        baseline=baseline,
        part=part,
        q=ask.text("q") or "",
        sort=sort,
        sorts=_SORTS,
        tags=[
            (tag, here.link("/runs", **{**parameters, "tag": [other for other in tags if other != tag]}))
            for tag in tags
        ],
        line=_line(every),
        groups=groups,
        unused=_unused_labels(here, every),
        n_runs=len(every),
        families=_families(here, matching, parameters, tags),
        low=low,
        high=high,
        **here.values("/runs"),
    )


def _about_mean(here: Here, overview: RunOverview, newest: int, *, are_groups_apart: bool) -> list[str]:
    """Return remarks on a mean: older labels, groups left out, samples, or why there is none."""
    version = overview.label_set_version
    if here.metric is None:
        return []
    if version is None or overview.groups is None:
        return ["not evaluated", *([] if overview.run.n_items else ["no lists are stored"])]
    is_older = version < newest and not parse_metric(here.metric.metric).is_external
    about = [f"labels version {version}"] if is_older else []
    if overview.run.sampled is not None and not parse_metric(here.metric.metric).is_external:
        about.append(f"among {overview.run.sampled} sampled")
    if overview.mean is None:
        return [*about, "no group has a value"]
    return about + [words for words in (overview.groups.words if are_groups_apart else "",) if words]


def _unused_labels(here: Here, every: Sequence[RunOverview]) -> dict[str, str] | None:
    """Return the runs that are not evaluated under the shown labels, with the command that evaluates them.

    Return None if all runs are. If nobody chose a version, also return None when some runs are evaluated under the
    latest labels, because the rows of the others show their versions.
    """
    is_external = here.metric is not None and parse_metric(here.metric.metric).is_external
    if not here.label_sets or not every or is_external:
        return None
    label_set = here.label_set or here.label_sets[-1]
    versions = [overview.label_set_version for overview in every]
    n = sum(version != label_set.version for version in versions)
    if not n or (n < len(every) and here.version is None):
        return None
    which = "No run is" if n == len(every) else f"{counted(n, 'run')} {'is' if n == 1 else 'are'} not"
    whose = f" of {judge_words(label_set.judge)}" if label_set.judge else ""
    words = f"{which} evaluated under version {label_set.version} of the labels{whose} yet"
    if older := max((version for version in versions if version), default=0) * (n == len(every)):
        words += f"; these means are under version {older}{' or older ones' if len(set(versions)) > 1 else ''}"
    return {
        "words": words,
        "version": str(label_set.version),
        "command": shlex.join(rescoring(here.dataset.name, label_set.version)),
    }


def _tagged(here: Here, parameters: Mapping[str, Any], tag: str) -> str:
    """Return the address of the runs that have another tag in addition to those requested."""
    return here.link("/runs", **{**parameters, "tag": sorted({*parameters["tag"], tag})})


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


def _sorted(runs: Sequence[RunOverview], sort: str, sign: float) -> list[RunOverview]:
    if sort == "name":
        return sorted(runs, key=lambda overview: overview.run.name)
    if sort in ("best", "worst"):
        sign = -sign if sort == "best" else sign
        return sorted(runs, key=lambda overview: (overview.mean is None, sign * (overview.mean or 0.0)))
    return list(runs) if sort == "oldest" else list(runs)[::-1]


def _line(runs: Sequence[RunOverview]) -> Markup:
    """Return the line of the means of runs, oldest first, as far as they have one."""
    known = [run for run in runs if run.mean is not None]
    return sparkline([run.mean for run in known], [run.label_set_version for run in known])


def _families(
    here: Here, overviews: Sequence[RunOverview], parameters: Mapping[str, Any], tags: Sequence[str]
) -> list[dict[str, object]]:
    """Return the most frequent tags of some runs, each with the means of its runs."""
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
        address = _tagged(here, parameters, tag)
        line, mean = _line(some), defined[-1] if defined else None
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
        and (
            evaluation.judge in NO_LABELS_HERE
            or (evaluation.judge == here.judge and here.version in (None, evaluation.label_set_version))
        )
    ]
    groups, part = [], Part.of(0, 1, here.link)
    asked, page = asked_groups(ask, "worst", is_in_run=True), ask.number("page", 1)
    if chosen:
        metric = chosen[-1].metric
        listed = groups_listed(tx, here.dataset, chosen[-1].id, asked, ROWS, (page - 1) * ROWS, sign_of(metric))
        groups = [(group, query_cell(group.query)) for group in listed.groups]
        address = partial(here.link, "/run", run=record.id, metric=metric, q=asked.text, sort=asked.order)
        part = Part.of(listed.total, page, address)
    label_sets = {evaluation.label_set_id: evaluation.label_set_version for evaluation in evaluations}
    coverage = [
        (version, shares)
        for label_set_id, version in label_sets.items()
        if (shares := tx.evaluations.coverages(record.id, label_set_id))
    ]
    of_model = {of.id: model_words(label_set_ref(of)) for of in tx.labels.sets(record.dataset_id, None)}
    of_dataset = tx.runs.all(record.dataset)
    in_time = [stored.id for stored in of_dataset if stored.id == record.id or not stored.is_checkpoint]
    before = ([None, *in_time])[in_time.index(record.id)]
    aliases = tx.aliases.all(record.dataset)
    comparisons = [(f"@{alias.name}", alias.run_id) for alias in aliases if alias.run_id != record.id]
    comparisons += [] if before is None else [("the run before", before)]
    comparisons.sort(key=lambda named: (named[0] != "@baseline", named[0] != "the run before"))
    first = tx.runs.with_id(comparisons[0][1]) if comparisons and here.metric else None
    return rendered(
        "run.html",
        title=record.name,
        run=record,
        verdict=first and {"of": comparisons[0][0], "baseline": first.name, **verdict(tx, here, first, record)},
        aliases=[alias.name for alias in aliases if alias.run_id == record.id],
        tags=[
            (f"{key}={value}", here.link("/runs", dataset=record.dataset, tag=f"{key}={value}"))
            for key, value in record.tags.items()
        ],
        evaluations=[(one, of_model[one.label_set_id]) for one in evaluations],
        coverage=coverage,
        comparisons=[
            (name, here.link("/compare", run=[other, record.id], metric=here.metric and here.metric.metric))
            for name, other in comparisons
            if first is None or other != first.id
        ],
        decisions=decision_rows(tx, here, record.id),
        groups=groups,
        part=part,
        q=asked.text,
        sort=asked.order,
        sorts=GROUP_SORTS,
        **here.values("/run"),
    )
