"""``ndcg-track show``, which is ``runs show`` as well: one run."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from ndcg_tracker.cli import options
from ndcg_tracker.cli.parameters import Asked, takes
from ndcg_tracker.questions.show import show as ask_show

ShowFormat = Literal["text", "json", "markdown", "csv", "html", "ir-metadata"]
"""How a run is printed."""


@takes(ask_show)
def show(
    asked: Asked,
    format: Annotated[ShowFormat, typer.Option("--format", help="How to print the result.")] = "text",
) -> None:
    """Show one run: its metrics, its origin, its hardest groups.

    CSV has a row per metric. --format ir-metadata prints a header for the run file, with tags and parameters.
    """
    from ndcg_tracker.questions.show.say import facts, group_tables, metadata_lines, show_html, show_object
    from ndcg_tracker.render.formats import Said, rows_as
    from ndcg_tracker.render.json import json_text
    from ndcg_tracker.render.report import Report
    from ndcg_tracker.words.texts import interval

    with options.tracker() as tracker:
        shown = asked.of(tracker.show)
    if format == "json":
        options.show(json_text(show_object(shown)))
        return
    if format == "ir-metadata":
        options.show("\n".join(metadata_lines(shown)) + "\n")
        return
    if format == "html":
        options.show(show_html(shown))
        return
    evaluations = shown.evaluations
    judge = ("judge",) if any(evaluation.judge for evaluation in evaluations) else ()
    is_csv = format == "csv"
    names = ["metric", "label_set_version", *judge, "mean", *([] if is_csv else ["ci"])]
    names += ["n_groups", "n_missing", "n_undefined"]
    rows = [
        (
            *(
                options.shown_metric(format, e.metric, e.requested_as),
                e.label_set_version,
                *(e.judge for _ in judge),
                e.mean,
            ),
            *(() if is_csv else (interval(e.ci),)),
            *(e.n_groups, e.n_missing, e.n_undefined, e.requested_as),
        )
        for e in evaluations
    ]
    color = options.wants_color()
    if not is_csv:
        options.show(rows_as(format, ["", shown.run], facts(shown), color=color) + "\n")
    options.show(options.with_requests(format, names, rows, {"ci": "95% interval"}))
    tables = [] if is_csv else group_tables(shown)
    if tables:
        below = Said(shown, lambda: [Report(tables=tables)], list)
        options.show("\n" + below.in_format(format, color=color))
