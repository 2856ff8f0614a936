"""The stored runs, or a single one, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from ndcg_tracker.compare.say_tables import model_words
from ndcg_tracker.compare.say_where import NO_VALUE
from ndcg_tracker.ingest.ir_metadata import header_lines
from ndcg_tracker.metrics.language.dialects import familiar_name
from ndcg_tracker.questions.show.decide import ShownRun
from ndcg_tracker.render.formats import Said, as_object, rows_as
from ndcg_tracker.render.report import (
    Column,
    Format,
    Line,
    ListPaper,
    Report,
    Table,
    heading,
    kinds,
    query_cell,
    read_by_people,
    to_the_second,
    unseen,
)
from ndcg_tracker.words.notes import told
from ndcg_tracker.words.texts import commit_text, interval, percent, points, queries, units

if TYPE_CHECKING:
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


_FIRST = ("aliases", "created_at_utc", "git_commit", "parameters", "tags", "pruned_at_utc", "sampled", "collapsed")
_FURTHER = ("run_id", "source", "n_items", "digest", "documents_in_ten", "tie_order", "groups_share")


def _facts(shown: ShownRun, names: Sequence[str]) -> list[tuple[str, str]]:
    """Return facts on a run with their headings, without empty ones."""
    as_json = show_object(shown)
    found = {name: as_json[name] for name in names}
    if "aliases" in found:
        found["aliases"] = " ".join(f"@{name}" for name in shown.aliases)
    told = {name: to_the_second(of) if name.endswith("_at_utc") and of else _pairs(of) for name, of in found.items()}
    return [(heading(name), str(value)) for name, value in told.items() if value not in (None, "")]


def _pairs(value: Any) -> Any:
    return " ".join(f"{key}={of_key}" for key, of_key in value.items()) if isinstance(value, dict) else value


def group_tables(shown: ShownRun) -> list[Table]:
    """Return the hardest groups and the slices of a run."""
    if shown.by_group is None:
        return []
    name = familiar_name(shown.by_group.metric, shown.by_group.requested_as)
    tables = []
    mean, ci = Column("mean", name, "mean"), Column("ci", "95% interval", "interval")
    if shown.slices:
        value = Column("value", shown.attribute or "", "id", of=lambda of: NO_VALUE if of.value is None else of.value)
        heads = (value, *kinds("n count"), mean, ci)
        tables.append(Table.of(heads, shown.slices, f"slices by {shown.attribute}"))
    if shown.hardest:
        has_texts = any(of.query is not None for of in shown.hardest)
        query = [Column("query", "text", "id", of=lambda of: query_cell(of.query))] * has_texts
        heads = (*kinds("group id"), *query, replace(mean, key="value"))
        tables.append(Table.of(heads, shown.hardest, f"hardest {units()}", titles=(1,) * has_texts))
    return tables


def shown_said(shown: ShownRun) -> Said:
    """Return the output for a run; CSV has a row per metric."""
    judge = "judge " if any(evaluation.judge for evaluation in shown.evaluations) else ""
    means = unseen(f"metric label_set_version {judge}mean n_groups n_missing n_undefined requested_as")
    lines = {"ir-metadata": lambda: "\n".join(metadata_lines(shown)) + "\n"}
    table = partial(Table.of, means, shown.evaluations)
    return Said(lambda: show_object(shown), lambda: [_report(shown)], table, lines, dataset=shown.dataset)


def _report(shown: ShownRun) -> Report:
    heads = (
        Column("metric", "metric", "id", of=lambda of: familiar_name(of.metric, of.requested_as)),
        Column("judge", "judge", "id", of=lambda of: of.judge or None),
        *kinds("label_set_version count labels, mean mean, ci interval 95% interval, n_groups count groups"),
        *kinds("n_missing count missing, n_undefined count undefined"),
    )
    newest = max((coverage.label_set_version for coverage in shown.coverages), default=0)
    judged = [
        (f"judged@{coverage.cutoff}", percent(coverage.judged_share))
        for coverage in shown.coverages
        if coverage.label_set_version == newest and coverage.cutoff
    ]
    labels = shown.label_set
    by = [("labels by", f"{labels.judge}{model_words(labels)}".strip())] if labels and model_words(labels) else []
    first = [*_facts(shown, _FIRST), *judged, *by]
    width = max(len(name) for name, _ in first)
    found = ""
    if (of := shown.by_group) is not None:
        found = f": {familiar_name(of.metric, of.requested_as)} {points(of.mean)} {interval(of.ci)}"
    return Report(
        f"{shown.run} on {shown.dataset} ({queries(shown.n_groups)}){found}",
        under=[Line(f"  {name:{width}}  ", value) for name, value in first],
        tables=[Table.of(heads, shown.evaluations), *group_tables(shown)],
        facts=_facts(shown, _FURTHER),
        notes=list(map(told, shown.notes)),
    )


def _commit(commit: str | None, format: Format) -> str | None:
    """Return a commit as a table has it: shortened where people read it, because a hash is wider than all the rest."""
    return commit if commit is None or format in ("json", "csv") else commit_text(commit)


def listed_as(format: Format, listed: ListedRuns, **paper: Unpack[ListPaper]) -> str:
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
