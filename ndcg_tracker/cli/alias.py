"""``ndcg-track alias``: names such as baseline that may move from run to run."""

from __future__ import annotations

from typing import Annotated

import typer

from ndcg_tracker.cli import options

app = typer.Typer(
    help="Aliases, names that move from run to run: set, list, delete.", no_args_is_help=True, rich_markup_mode=None
)

Alias = Annotated[str, typer.Argument(metavar="NAME", help="The alias, with or without @.")]


@app.command("set")
def set_alias(
    alias: Alias,
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run it points to.")],
    dataset: options.AnyDataset = None,
) -> None:
    """Point an alias at a run; create it if it does not exist."""
    with options.tracker() as tracker:
        found = tracker.set_alias(alias, run, dataset)
    options.say(f"@{alias.removeprefix('@')} is run {found.name!r} ({found.id}) of dataset {found.dataset!r}")


@app.command("list")
def list_aliases(dataset: options.AnyDataset = None, format: options.Output = options.OutputFormat.text) -> None:
    """List the aliases."""
    from ndcg_tracker.render.formats import rows_as

    with options.tracker() as tracker:
        found = tracker.aliases(dataset)
    rows = [(alias.name, alias.run, alias.run_id, alias.dataset, alias.updated_at_utc) for alias in found]
    columns = ["alias", "run", "run_id", "dataset", "updated_at_utc"]
    options.show(rows_as(format.plain, columns, rows, color=options.wants_color()))


@app.command("delete")
def delete_alias(alias: Alias, dataset: options.AnyDataset = None) -> None:
    """Delete an alias; the run stays."""
    with options.tracker() as tracker:
        found = tracker.delete_alias(alias, dataset)
    options.say(f"deleted alias @{found.name}; run {found.run!r} stays")
