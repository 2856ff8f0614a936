"""``ndcg-track metrics``: which metrics there are, and what they mean."""

from __future__ import annotations

from typing import Annotated

import typer

from ndcg_tracker.cli import options

app = typer.Typer(help="The metrics: list, explain.", no_args_is_help=True, rich_markup_mode=None)


@app.command("list")
def list_metrics(format: options.Output = options.OutputFormat.text) -> None:
    """List the metrics and the values of each of their axes."""
    from ndcg_tracker.metrics.axes import AXES, MEASURES
    from ndcg_tracker.reporting import rows_as

    rows = [(name, "", "", meaning, "") for name, meaning in MEASURES.items()]
    for axis in AXES:
        further = {axis.pattern_example: f"any {axis.name} of this form"} if axis.pattern_example else {}
        for value, meaning in {**axis.values, **further}.items():
            default = "default" if value == axis.default else ""
            rows.append((axis.name, str(value), default, meaning, " ".join(axis.measures)))
    columns = ["name", "value", "default", "meaning", "measures"]
    options.show(rows_as(format.plain, columns, rows, color=options.wants_color(), cell_width=100))


@app.command("explain")
def explain_metric(
    text: Annotated[str, typer.Argument(metavar="METRIC", help="Such as 'ndcg(gain=exp2)@10'.")],
    format: options.Output = options.OutputFormat.text,
) -> None:
    """Explain a metric: its canonical form, its formula, and what differs from the default."""
    from ndcg_tracker.metrics import parse_metric
    from ndcg_tracker.metrics.explain import formula, settings
    from ndcg_tracker.reporting import json_text, rows_as

    metric = parse_metric(text)
    axes = settings(metric)
    if format is options.OutputFormat.json:
        described = [
            {"axis": axis.axis, "value": axis.value, "meaning": axis.meaning, "default": axis.default} for axis in axes
        ]
        options.show(json_text({"metric": str(metric), "formula": formula(metric), "axes": described}))
        return
    rows = [(axis.axis, axis.value, axis.meaning, "" if axis.value == axis.default else axis.default) for axis in axes]
    table = rows_as(
        format.plain, ["axis", "value", "meaning", "instead of"], rows, color=options.wants_color(), cell_width=100
    )
    options.show(table if format is options.OutputFormat.csv else f"{metric}\n{formula(metric)}\n\n{table}")
