"""The stored runs, or a single one, for people and for programs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from ndcg_tracker.compare.say_tables import NO_VALUE
from ndcg_tracker.ingest.ir_metadata import header_lines
from ndcg_tracker.metrics.language.dialects import familiar_name
from ndcg_tracker.questions.show.decide import ShownRun
from ndcg_tracker.render.formats import Said, as_object, rows_as, shown_metric, with_requests
from ndcg_tracker.render.html import reports_html
from ndcg_tracker.render.json import json_text
from ndcg_tracker.render.report import (
    Column,
    Format,
    Paper,
    Report,
    Table,
    columns,
    heading,
    query_cell,
    read_by_people,
    to_the_second,
)
from ndcg_tracker.words.texts import commit_text, interval, percent, points

if TYPE_CHECKING:
    from ndcg_tracker.questions.show import ShowFormat
    from ndcg_tracker.questions.show.gather import ListedRuns


def show_object(shown: ShownRun) -> dict[str, Any]:
    """Return the JSON object of a run."""
    as_json: dict[str, Any] = as_object(shown)
    aliases = as_json.pop("aliases")
    of_groups = as_json.pop("by_group")
    del as_json["notes"]
    return as_json | {"aliases": aliases, "metric": None if of_groups is None else of_groups["metric"]}


def metadata_lines(shown: ShownRun) -> list[str]:
    """Return the ir_metadata header for the file of a run: its facts, its parameters and its tags."""
    entries = {
        "tag": shown.run,
        "data.test collection.name": shown.dataset,
        "implementation.source.commit": shown.git_commit,
        **{f"method.parameters.{name.replace('.', '_')}": value for name, value in shown.parameters.items()},
        **shown.tags,
    }
    return header_lines({name: value for name, value in entries.items() if value not in (None, "")})


def facts(shown: ShownRun) -> list[tuple[str, Any]]:
    """Return the facts on a run besides its means, as names and values, without empty ones."""
    as_json = show_object(shown)
    names = ("run_id", "dataset", "created_at_utc", "source", "git_commit", "parameters", "tags", "n_groups", "n_items")
    names_after = ("digest", "pruned_at_utc", "sampled", "collapsed", "documents_in_ten", "tie_order", "groups_share")
    pairs = [(name, _pairs(as_json[name])) for name in (*names, *names_after)]
    pairs.append(("aliases", " ".join(f"@{name}" for name in shown.aliases)))
    newest = max((coverage.label_set_version for coverage in shown.coverages), default=0)
    for coverage in shown.coverages:
        if coverage.label_set_version == newest and coverage.cutoff:
            pairs.append((f"judged@{coverage.cutoff}", percent(coverage.judged_share)))
    return [(name, value) for name, value in pairs if value not in (None, "")]


def _pairs(value: Any) -> Any:
    return " ".join(f"{key}={of_key}" for key, of_key in value.items()) if isinstance(value, dict) else value


def group_tables(shown: ShownRun) -> list[Table]:
    """Return the hardest groups and the slices of a run."""
    if shown.by_group is None:
        return []
    name = familiar_name(shown.by_group.metric, shown.by_group.requested_as)
    tables = []
    if shown.slices:
        rows: list[list[object]] = [
            [
                NO_VALUE if of_slice.value is None else of_slice.value,
                f"{of_slice.n:,}",
                points(of_slice.mean),
                interval(of_slice.ci),
            ]
            for of_slice in shown.slices
        ]
        heads = columns(shown.attribute or "", ">n", f">{name}", ">95% interval")
        tables.append(Table(heads, rows, f"slices by {shown.attribute}"))
    if shown.hardest:
        has_texts = any(of.query is not None for of in shown.hardest)
        hardest: list[list[object]] = [
            [of.group, *([query_cell(of.query)] if has_texts else []), points(of.value)] for of in shown.hardest
        ]
        heads = columns("group", *(["query"] if has_texts else []), f">{name}")
        tables.append(Table(heads, hardest, "hardest groups", titles=(1,) if has_texts else ()))
    return tables


def show_html(shown: ShownRun) -> str:
    """Return a run as HTML."""
    rows: list[list[object]] = [
        [
            familiar_name(evaluation.metric, evaluation.requested_as),
            str(evaluation.label_set_version),
            points(evaluation.mean),
            interval(evaluation.ci),
            f"{evaluation.n_groups:,}",
        ]
        for evaluation in shown.evaluations
    ]
    means = Table(columns("metric", ">labels", ">mean", ">95% interval", ">groups"), rows)
    told = [(name, str(value)) for name, value in facts(shown)]
    return reports_html([Report(shown.run, tables=[means, *group_tables(shown)], facts=told)]) + "\n"


def show_as(format: ShowFormat, shown: ShownRun, **paper: Unpack[Paper]) -> str:
    """Return a run in a format."""
    if format == "json":
        return json_text(show_object(shown))
    if format == "ir-metadata":
        return "\n".join(metadata_lines(shown)) + "\n"
    if format == "html":
        return show_html(shown)
    evaluations = shown.evaluations
    judge = ("judge",) if any(evaluation.judge for evaluation in evaluations) else ()
    is_csv = format == "csv"
    names = ["metric", "label_set_version", *judge, "mean", *([] if is_csv else ["ci"])]
    names += ["n_groups", "n_missing", "n_undefined"]
    rows = [
        (
            *(shown_metric(format, e.metric, e.requested_as), e.label_set_version, *(e.judge for _ in judge), e.mean),
            *(() if is_csv else (interval(e.ci),)),
            *(e.n_groups, e.n_missing, e.n_undefined, e.requested_as),
        )
        for e in evaluations
    ]
    means = with_requests(format, names, rows, {"ci": "95% interval"}, **paper)
    if is_csv:
        return means
    told = [(heading(name), to_the_second(of) if name.endswith("_at_utc") else of) for name, of in facts(shown)]
    parts = [rows_as(format, ["", shown.run], told, **paper), means]
    tables = group_tables(shown)
    if tables:
        parts.append(Said(shown, lambda: [Report(tables=tables)], lambda: Table((), ())).in_format(format, **paper))
    return "\n".join(parts)


def _commit(commit: str | None, format: Format) -> str | None:
    """Return a commit as a table has it: shortened where people read it, because a hash is wider than all the rest."""
    return commit if commit is None or format in ("json", "csv") else commit_text(commit)


def listed_as(format: Format, listed: ListedRuns, **paper: Unpack[Paper]) -> str:
    """Return stored runs in a format, one row per run."""
    metric, is_json = listed.metric, format == "json"
    of_metric = [Column("mean", metric, digits=4)] if metric is not None else []
    heads = [*read_by_people("run", "run_id", "dataset"), *of_metric]
    heads += read_by_people("created_at_utc", "n_groups", "n_items", "git_commit", "tags")
    has_samples = format in ("json", "csv") or any(run.sampled for run in listed.runs)
    heads += read_by_people(*(["sampled"] if has_samples else []))
    heads += [Column("judged", digits=4)] if metric is not None else []
    nothing = {
        "git_commit": not any(run.git_commit for run in listed.runs),
        "tags": not any(run.tags for run in listed.runs),
    }
    heads = [replace(head, is_spare=nothing.get(head.key, False)) for head in heads]
    rows = [
        (
            *(run.name, run.id, run.dataset),
            *([listed.means.get(run.id)] if metric is not None else []),
            *(run.created_at_utc, run.n_groups, run.n_items, _commit(run.git_commit, format)),
            run.tags if is_json else _pairs(run.tags),
            *([run.sampled] if has_samples else []),
            *([listed.judged.get(run.id)] if metric is not None else []),
        )
        for run in listed.runs
    ]
    return rows_as(format, heads, rows, **paper)
