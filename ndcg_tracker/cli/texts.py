"""``ndcg-track texts``: query texts, and titles and links of items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ndcg_tracker.cli import options

if TYPE_CHECKING:
    from ndcg_tracker.runs.groups import TextsAdded

app = typer.Typer(
    help="Query texts, titles and links of items: add, list, delete.", no_args_is_help=True, rich_markup_mode=None
)

OneGroup = Annotated[
    str | None, typer.Option("--group", metavar="KEY", help="Only those of this group.", show_default="all")
]


@app.command("add")
def add_texts(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="One row per group, item, or item of a group; - is standard input.")
    ],
    dataset: options.Dataset = "default",
    reader: Annotated[
        str | None,
        typer.Option(help="csv, tsv, jsonl or parquet; else by name and content.", show_default=False),
    ] = None,
    group: options.GroupColumn = None,
    item: Annotated[str | None, typer.Option(help="Column of the item.", show_default="item")] = None,
    text: Annotated[str | None, typer.Option(help="Column of the text.", show_default="text")] = None,
    title: Annotated[str | None, typer.Option(help="Column of the title.", show_default="title")] = None,
    url: Annotated[str | None, typer.Option(help="Column of the link.", show_default="url")] = None,
    columns: options.Header = None,
) -> None:
    """Add texts that explain and report show where ids stand.

    A row with a group has the text of the query; with an item, its title, text and URL in every group; with both, those
    in this group. An empty cell removes a text; rows and columns that the file lacks stay as they are. Texts belong to
    the dataset, change no result, and leave the database only with --texts.
    """
    from ndcg_tracker.ingest.columns import header_of
    from ndcg_tracker.ingest.groups import TextColumns, read_texts

    names = TextColumns(group, item, text, title, url, header_of(columns))
    table = read_texts(file, reader=reader, columns=names)
    with options.tracker() as tracker:
        options.say(_told(tracker.add_texts(table, dataset=dataset)))


@app.command("list")
def list_texts(
    dataset: options.Dataset = "default", group: OneGroup = None, format: options.Output = options.OutputFormat.text
) -> None:
    """List the texts of a dataset."""
    from ndcg_tracker.render.formats import rows_as

    with options.tracker() as tracker:
        found = tracker.texts(dataset, group=group)
    names = ["group", "item", "text", "title", "url"]
    rows = [tuple(getattr(one, name) for name in names) for one in found]
    options.show(rows_as(format.plain, names, rows, color=options.wants_color()))


@app.command("delete")
def delete_texts(
    dataset: options.Dataset = "default",
    group: OneGroup = None,
    yes: Annotated[bool, typer.Option("--yes", help="Delete without confirmation.")] = False,
) -> None:
    """Delete the texts of a dataset.

    This cannot be undone.
    """
    from ndcg_tracker.errors import InputError
    from ndcg_tracker.words.numbers import counted

    with options.tracker() as tracker:
        n_texts = len(tracker.texts(dataset, group=group))
        what = f"{counted(n_texts, 'text')} of {'' if group is None else f'group {group!r} of '}dataset {dataset!r}"
        if n_texts and not yes and not options.agreed(f"delete {what}?"):
            raise InputError(f"nothing deleted: {what}", advice="add --yes")
        tracker.delete_texts(dataset, group=group)
    options.say(f"deleted {what}")


def _told(done: TextsAdded) -> str:
    from ndcg_tracker.words.numbers import counted

    named = [
        counted(n_texts, kind) + more
        for n_texts, kind, more in (
            (done.n_groups, "group", ""),
            (done.n_items, "item", ""),
            (done.n_pairs, "pair", " of group and item"),
        )
        if n_texts
    ]
    parts = [f"added texts of {', '.join(named)} to dataset {done.dataset!r}"]
    if done.n_unknown:
        be = "is" if done.n_unknown == 1 else "are"
        parts.append(f"{counted(done.n_unknown, 'group')} of the file {be} not in it, first {done.first_unknown!r}")
    return "; ".join(parts)
