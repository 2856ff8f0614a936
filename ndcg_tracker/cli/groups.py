"""``ndcg-track groups``: attributes and weights of a dataset's groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ndcg_tracker.cli import options

if TYPE_CHECKING:
    from ndcg_tracker.runs.groups import GroupsSet

app = typer.Typer(
    help="Attributes (for slices) and weights of groups: set, list.", no_args_is_help=True, rich_markup_mode=None
)


@app.command("set")
def set_groups(
    file: Annotated[str, typer.Argument(metavar="FILE", help="One row per group; - is standard input.")],
    dataset: options.Dataset = "default",
    attribute: Annotated[
        list[str] | None, typer.Option(help="Column of an attribute; repeatable.", show_default="all other columns")
    ] = None,
    reader: Annotated[str | None, typer.Option(help="csv, tsv, jsonl or parquet; else by name and content.")] = None,
    group: options.GroupColumn = None,
    weight: Annotated[
        str | None, typer.Option(help="Column of the weight.", show_default="weight, if there is one")
    ] = None,
) -> None:
    """Set attributes and weights of groups from a file.

    Every column but the group is an attribute; the column weight is the weight. An empty cell removes the attribute or
    weight; groups and columns that the file lacks keep theirs. Stored means are recomputed if their weights change.
    """
    from ndcg_tracker.ingest.groups import GroupColumns, read_groups

    columns = GroupColumns(group, weight, tuple(attribute) if attribute else None)
    table = read_groups(file, reader=reader, columns=columns)
    with options.tracker() as tracker:
        options.say(_told(tracker.set_groups(table, dataset=dataset)))


@app.command("list")
def list_groups(dataset: options.Dataset = "default", format: options.Output = options.OutputFormat.text) -> None:
    """List the groups of a dataset with their weights and attributes."""
    from ndcg_tracker.render.formats import rows_as

    with options.tracker() as tracker:
        found = tracker.groups(dataset)
    names = sorted({name for group in found for name in group.attributes})
    rows = [(group.key, group.weight, *(group.attributes.get(name) for name in names)) for group in found]
    options.show(rows_as(format.plain, ["group", "weight", *names], rows, color=options.wants_color()))


def _told(done: GroupsSet) -> str:
    set_here = []
    if done.attributes:
        set_here.append(f"{_counted(len(done.attributes), 'attribute')} ({', '.join(done.attributes)})")
    if done.has_weights:
        set_here.append("weights")
    parts = [f"set {' and '.join(set_here)} of {_counted(done.n_groups, 'group')} of dataset {done.dataset!r}"]
    if done.n_recomputed:
        parts.append(f"recomputed {_counted(done.n_recomputed, 'weighted mean')}")
    if done.n_unknown:
        be = "is" if done.n_unknown == 1 else "are"
        parts.append(f"{_counted(done.n_unknown, 'group')} of the file {be} not in it, first {done.first_unknown!r}")
    return "; ".join(parts)


def _counted(n_things: int, thing: str) -> str:
    return f"{n_things} {thing}{'' if n_things == 1 else 's'}"
