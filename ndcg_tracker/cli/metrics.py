"""``ndcg-track metrics``: the metrics, and what they mean."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from ndcg_tracker.cli import options

app = options.command_group("The metrics: list, explain, sql.")


@app.command("list")
def list_metrics(format: options.Output = "text") -> None:
    """List the metrics, the values of their axes, the dialects."""
    from ndcg_tracker.metrics.language.axes import AXES
    from ndcg_tracker.metrics.language.dialects import DIALECTS
    from ndcg_tracker.metrics.language.measures import MEASURES

    rows = [(measure.name, "", "", measure.meaning, "") for measure in MEASURES.values()]
    for axis in AXES:
        further = {axis.pattern_example: f"any {axis.name} of this form"} if axis.pattern_example else {}
        for value, meaning in {**axis.values, **further}.items():
            default = "default" if value == axis.default else ""
            rows.append((axis.name, str(value), default, meaning, " ".join(axis.measures)))
    rows += [(name, dialect.examples[0], "", f"as {dialect.tool} writes it", "") for name, dialect in DIALECTS.items()]
    columns = ["name", "value", "default", "meaning", "measures"]
    options.show_rows(format, columns, rows, cell_width=100)


@app.command("explain")
def explain_metric(
    text: Annotated[
        str,
        typer.Argument(
            metavar="METRIC",
            help="Such as 'ndcg(gain=exp2)@10', map or 'xgboost:ndcg@10'.",
            callback=options.metric_asked_for,
        ),
    ],
    every: Annotated[bool, typer.Option("--all", help="Show all axes, not only those that differ.")] = False,
    format: options.Output = "text",
) -> None:
    """Explain a metric: its formula, and which tools agree.

    Also show its canonical form and the axes that differ from the default.
    """
    from ndcg_tracker.metrics.language.dialects import agreements
    from ndcg_tracker.metrics.language.metric import formula, meaning, settings
    from ndcg_tracker.metrics.language.text import parse_metric
    from ndcg_tracker.render.formats import rows_as
    from ndcg_tracker.render.json import json_text

    metric = parse_metric(text)
    axes = [setting for setting in settings(metric) if every or not setting.is_default]
    tools = agreements(metric) if metric.measure == "ndcg" else []
    if format == "json":
        described = {
            "metric": str(metric),
            "requested_as": metric.requested_as,
            "meaning": meaning(metric),
            "formula": formula(metric),
            "axes": [asdict(setting) for setting in settings(metric)],
            "tools": [asdict(tool) for tool in tools],
        }
        options.show(json_text(described))
        return
    color = options.wants_color()
    rows = [(axis.axis, axis.value, axis.meaning, "" if axis.is_default else axis.default) for axis in axes]
    table = rows_as(format, ["axis", "value", "meaning", "instead of"], rows, color=color, cell_width=100)
    if format == "csv":
        options.show(table)
        return
    options.show(f"{metric}: {meaning(metric)}\n{formula(metric)}\n\n")
    options.show(table if rows else "All axes have their default.\n")
    if tools:
        told = [
            (
                tool.text,
                ", ".join(f"{difference.axis}={difference.theirs}" for difference in tool.differences)
                or "nothing: the same",
            )
            for tool in tools
        ]
        options.show("\n")
        options.show(rows_as(format, ["tool", "differs in"], told, color=color, cell_width=110))


@app.command("sql")
def write_query(
    text: Annotated[
        str, typer.Argument(metavar="METRIC", help="Such as 'ndcg(gain=exp2)@10'.", callback=options.metric_asked_for)
    ],
    dialect: Annotated[str, typer.Option(help="bigquery, databricks, duckdb, postgres, snowflake or spark.")],
    run: Annotated[str, typer.Option(help="The table of the run.")] = "run",
    labels: Annotated[str, typer.Option(help="The table of the labels.")] = "labels",
    group: Annotated[str, typer.Option(help="Column of the group, in both.")] = "group_key",
    item: Annotated[str, typer.Option(help="Column of the item, in both.")] = "item_key",
    score: Annotated[str, typer.Option(help="Column of the score.")] = "score",
    grade: Annotated[str, typer.Option(help="Column of the grade.")] = "grade",
) -> None:
    """Print the query that computes a metric for every group elsewhere.

    What SQL does not compute exactly is refused, with the reason.
    """
    from ndcg_tracker.metrics.language.sql import Tables, query
    from ndcg_tracker.metrics.language.text import parse_metric

    options.show(query(parse_metric(text), dialect, Tables(run, labels, group, item, score, grade)))
