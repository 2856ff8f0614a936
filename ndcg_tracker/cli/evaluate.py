"""``ndcg-track evaluate`` and ``metrics``: metrics of files, and what they mean, without storing anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from ndcg_tracker.api.reading import Reading, evaluated
from ndcg_tracker.api.reading import evaluate as nt_evaluate
from ndcg_tracker.asked import DEFAULT_METRIC, Everyday, Option, Positional, made
from ndcg_tracker.cli import options
from ndcg_tracker.cli.input_files import (
    OfFiles,
    run_names,
    shown_reading,
    spark_evaluations,
)
from ndcg_tracker.cli.parameters import Asked, takes
from ndcg_tracker.errors import InputError
from ndcg_tracker.integrations.metric_sql import Tables
from ndcg_tracker.metrics.language.measures import Work
from ndcg_tracker.rules import refuse

if TYPE_CHECKING:
    from ndcg_tracker.api.evaluation import Evaluation


@takes(nt_evaluate, OfFiles)
def evaluate(
    asked: Asked,
    files: Annotated[list[str], Positional("One run per file; - is standard input.", metavar="FILE...")],
    per_group: Annotated[bool, Everyday("Also print one row per group.")] = False,
    by: Annotated[
        str | None, Option("Also show the means in each slice of this attribute of --groups.", metavar="ATTRIBUTE")
    ] = None,
    groups: Annotated[str | None, Option("Attributes, one row per group, as for groups set.", metavar="FILE")] = None,
    metrics_json: Annotated[
        str | None, Option("Write the run's means as JSON, for dvc metrics diff.", metavar="FILE")
    ] = None,
    format: options.Output = "text",
) -> None:
    """Compute metrics of runs without storing anything.

    Example: ndcg-track evaluate dense.run --labels qrels.txt -m ndcg@10 -m map
    """
    from ndcg_tracker.api.evaluation import NoLabelsError
    from ndcg_tracker.api.say_evaluations import evaluations_as
    from ndcg_tracker.render.whole_file import whole_file

    refuse("evaluate", {**asked.named, "metrics_json": metrics_json, "several_files": len(files) > 1})
    of_files, asked = asked.apart(OfFiles)
    given = dict(asked.named)
    names = run_names(files, of_files.name, of_stdin="-")
    labels, judge, metrics = given.pop("labels", None), given.pop("judge", None), given.pop("metrics", [DEFAULT_METRIC])
    reading, evaluations = made(Reading, given), []
    with whole_file(metrics_json, "--metrics-json") as write_metrics:
        if of_files.engine == "spark":
            of_spark = spark_evaluations(reading, labels, metrics)
        elif labels is not None:
            with shown_reading(labels):
                labels = reading.labels_given(labels, judge, files[0])
        for path, run_name in zip(files, names, strict=True):
            try:
                with shown_reading(path):
                    here = of_files.engine == "here"
                    evaluation = evaluated(reading, path, labels, metrics, judge) if here else of_spark(path)
            except NoLabelsError:
                raise InputError(f"{path} has no labels", advice="give them with --labels FILE") from None
            options.say_notes(evaluation.notes, run_name)
            evaluations.append((run_name, evaluation))
        write_metrics(_metrics_json(evaluations[0][1]))
    if by is not None and groups is not None:
        options.show(_slices(evaluations, by, groups, format))
        return
    options.show(evaluations_as(format, evaluations, per_group=per_group, **options.screen()))


def _metrics_json(evaluation: Evaluation) -> str:
    """Return the means by canonical metric text."""
    from ndcg_tracker.metrics.language.text import parse_metric
    from ndcg_tracker.render.json import metrics_json

    texts = [str(parse_metric(text)) for text in evaluation.texts]
    means = {text: result.mean for text, result in zip(texts, evaluation.results, strict=True)}
    return metrics_json(list(means.items()))


def _slices(evaluations: list[tuple[str, Evaluation]], by: str, groups: str, format: options.OutputFormat) -> str:
    """Return a row per run, metric and slice."""
    from ndcg_tracker.api.evaluation import slice_rows
    from ndcg_tracker.api.say_evaluations import columns_of_runs

    names = ("run", "metric", by, "n_groups", "mean", "ci_low", "ci_high")
    columns = [(name, 4 if name in ("mean", "ci_low", "ci_high") else None) for name in names]
    rows = [(name, *row) for name, evaluation in evaluations for row in slice_rows(evaluation, by, groups)]
    common = ({"attribute": by, "slice": row[2], "results": [{"metric": row[1], "value": row[4]}]} for row in rows)
    values = [[row[place] for row in rows] for place in range(len(names))]
    return columns_of_runs(format, columns, values, common, **options.screen())


_LONGEST = 110

metrics = options.command_group("Look up metrics: list, explain, sql.")


@metrics.command("list")
def list_metrics(
    work: Annotated[
        Work | None, Option("List the names in tools for this kind of work, and what to write here.", ("--for",))
    ] = None,
    format: options.Output = "text",
) -> None:
    """List the metrics, the values of their axes, and the dialects.

    Example: ndcg-track metrics list
    """
    if work is not None:
        from ndcg_tracker.metrics.language.other_names import other_names

        names = [(name.measure, name.tool, name.theirs, name.ours) for name in other_names(work)]
        options.show_rows(format, ["measure", "tool", "theirs", "ours"], names, cell_width=_LONGEST)
        return
    from ndcg_tracker.metrics.language.axes import AXES
    from ndcg_tracker.metrics.language.dialects import DIALECTS
    from ndcg_tracker.metrics.language.measures import MEASURES
    from ndcg_tracker.render.formats import is_for_people

    measures = [(measure.name, measure.meaning) for measure in MEASURES.values()]
    dialects = [(name, dialect.tool, dialect.examples[0]) for name, dialect in DIALECTS.items()]
    axes = []
    for axis in AXES:
        further = {axis.pattern_example: f"any {axis.name} of this form"} if axis.pattern_example else {}
        for value, meaning in {**axis.values, **further}.items():
            default = "default" if value == axis.default else ""
            axes.append((axis.name, str(value), default, meaning, _of_measures(axis.measures, format)))
    columns = ["value", "default", "meaning", "measures"]
    if not is_for_people(format):
        others = [(name, "", "", meaning, "") for name, meaning in measures]
        written = [(name, example, "", f"as {tool} writes it", "") for name, tool, example in dialects]
        options.show_rows(format, ["name", *columns], [*others, *axes, *written])
        return
    options.show_rows(format, ["measure", "meaning"], measures, cell_width=_LONGEST)
    options.show("\n")
    options.show_rows(format, ["axis", *columns], axes, cell_width=_LONGEST)
    options.show("\n")
    options.show_rows(format, ["dialect", "tool", "example"], dialects, cell_width=_LONGEST)


def _of_measures(measures: Sequence[str], format: options.OutputFormat) -> str:
    """Return the measures that have an axis; people see the shorter list of those that do not have it."""
    from ndcg_tracker.metrics.language.measures import MEASURES
    from ndcg_tracker.render.formats import is_for_people

    others = [name for name in MEASURES if name not in measures]
    if not is_for_people(format) or len(others) >= len(measures):
        return " ".join(measures)
    return f"all except {' '.join(others)}" if others else "all"


@metrics.command("explain")
def explain_metric(
    text: Annotated[
        str,
        typer.Argument(
            metavar="METRIC",
            help="Such as 'ndcg(gain=exp2)@10', map or 'xgboost:ndcg@10'.",
            callback=options.metric_asked_for,
        ),
    ],
    every: Annotated[bool, Option("Show all axes, not only those that differ from the default.")] = False,
    format: options.Output = "text",
) -> None:
    """Explain a metric: its formula, and which tools agree.

    Also show its canonical form and the axes that differ from the default.

    Example: ndcg-track metrics explain xgboost:ndcg@10
    """
    from ndcg_tracker.metrics.language.dialects import agreements, dialect_of
    from ndcg_tracker.metrics.language.metric import formula, meaning, settings
    from ndcg_tracker.metrics.language.text import parse_metric
    from ndcg_tracker.render.formats import rows_as
    from ndcg_tracker.render.json import json_text

    metric = parse_metric(text)
    axes = [setting for setting in settings(metric) if every or not setting.is_default]
    tools = agreements(metric) if metric.measure == "ndcg" else []
    dialect = dialect_of(metric)
    if format == "json":
        described = {
            "metric": str(metric),
            "requested_as": metric.requested_as,
            "meaning": meaning(metric),
            "formula": formula(metric),
            "axes": [asdict(setting) for setting in settings(metric)],
            "unstable_from": None if dialect is None else dialect.unstable_from,
            "tools": [asdict(tool) for tool in tools],
        }
        options.show(json_text(described))
        return
    rows = [(axis.axis, axis.value, axis.meaning, "" if axis.is_default else axis.default) for axis in axes]
    table = rows_as(format, ["axis", "value", "meaning", "instead of"], rows, **options.screen(), cell_width=100)
    if format == "csv":
        options.show(table)
        return
    options.show_sentences(f"{metric}: {meaning(metric)}", formula(metric), "")
    options.show(table if rows else "All axes have their default values.\n")
    if dialect is not None and dialect.unstable_from is not None:
        options.show_sentences(
            "",
            f"This metric depends on the sort of {dialect.name}, which may put equal scores in any order in lists of "
            f"{dialect.unstable_from} items or more. Its values for such lists may differ from those here.",
        )
    if tools:
        told = [
            (
                tool.text,
                ", ".join(f"{difference.axis}={difference.theirs}" for difference in tool.differences) or "nothing",
            )
            for tool in tools
        ]
        options.show("\n")
        options.show(rows_as(format, ["tool", "differs in"], told, **options.screen(), cell_width=110))


@metrics.command("sql")
@takes(Tables)
def write_query(
    asked: Asked,
    text: Annotated[
        str, typer.Argument(metavar="METRIC", help="Such as 'ndcg(gain=exp2)@10'.", callback=options.metric_asked_for)
    ],
    dialect: Annotated[str, Option("SQL dialect: bigquery, databricks, duckdb, postgres, snowflake or spark.")],
) -> None:
    """Print a query that computes a metric for every group elsewhere.

    The command refuses a metric that SQL cannot compute exactly, and says why.

    Example: ndcg-track metrics sql ndcg@10 --dialect duckdb
    """
    from ndcg_tracker.integrations.metric_sql import query
    from ndcg_tracker.metrics.language.text import parse_metric

    options.show(query(parse_metric(text), dialect, asked.of(Tables)))
