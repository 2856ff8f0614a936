"""``ndcg-track sql``: read-only SQL on the public views."""

from __future__ import annotations

from typing import Annotated

import typer

from ndcg_tracker.cli import options


def sql(
    query: Annotated[str, typer.Argument(help="One SELECT; - reads it from standard input.")],
    timeout: Annotated[float, typer.Option(min=0.001, help="Seconds after which the query is stopped.")] = 60.0,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show how the database would answer, without running the query.")
    ] = False,
    format: options.Output = options.OutputFormat.text,
) -> None:
    """Run a read-only query on the public views.

    Examples are run_summary, group_history, group_diff, items and labels. The documentation has all of them, with their
    columns (docs/schema.md).
    """
    import sys

    from ndcg_tracker.render.formats import rows_as

    text = sys.stdin.read() if query == "-" else query
    with options.tracker() as tracker:
        result = tracker.query(text, timeout_seconds=timeout, explain=explain)
    if explain and format is options.OutputFormat.text:  # whole lines, however long
        options.show("\n".join(str(line) for (line,) in result.rows))
        return
    options.show(rows_as(format.plain, result.columns, result.rows, color=options.wants_color()))
