"""``ndcg-track ui``: the database as a local web page."""

from __future__ import annotations

from typing import Annotated

import typer

from ndcg_tracker.cli import options


def ui(
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0: any that is free.")] = 0,
    host: Annotated[str, typer.Option(help="A name of this machine: 127.0.0.1, localhost or ::1.")] = "127.0.0.1",
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open a browser, if there is a display.")
    ] = True,
) -> None:
    """Show the database as a local web page.

    Runs, history, comparisons, groups, labels, gates. It only reads, and only this machine can open it, with the
    address that is printed. Ctrl-C ends it.
    """
    from ndcg_tracker.api.tracker import Tracker
    from ndcg_tracker.integrations.libraries import library

    for name in ("starlette", "uvicorn"):
        library(name, "ui")
    from ndcg_tracker.ui.server import serve

    with Tracker(options.surroundings.database, read_only=True) as tracker:
        serve(tracker, options.say, host=host, port=port, browser=browser)
