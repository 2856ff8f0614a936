"""``ndcg-track groups`` and ``texts``: attributes and weights of a dataset's groups, texts of groups and items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ndcg_tracker.cli import options

if TYPE_CHECKING:
    from ndcg_tracker.runs.groups import GroupsSet, TextsAdded


groups = options.command_group("Attributes (for slices) and weights of groups: set, list.")


@groups.command("set")
def set_groups(
    file: Annotated[str, typer.Argument(metavar="FILE", help="One row per group; - is standard input.")],
    dataset: options.Dataset = "default",
    attribute: Annotated[
        list[str] | None, typer.Option(help="Column of an attribute; repeatable.", show_default="all other columns")
    ] = None,
    reader: options.TableReader = None,
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
        options.say(_groups_told(tracker.set_groups(table, dataset=dataset)))


@groups.command("list")
def list_groups(dataset: options.Dataset = "default", format: options.Output = "text") -> None:
    """List the groups of a dataset with their weights and attributes."""

    with options.tracker() as tracker:
        stored_groups = tracker.groups(dataset)
    names = sorted({name for group in stored_groups for name in group.attributes})
    rows = [(group.key, group.weight, *(group.attributes.get(name) for name in names)) for group in stored_groups]
    options.show_rows(format, ["group", "weight", *names], rows)


def _groups_told(done: GroupsSet) -> str:
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


texts = options.command_group("Query texts, titles and links of items: add, list, delete.")

OneGroup = Annotated[
    str | None, typer.Option("--group", metavar="KEY", help="Only those of this group.", show_default="all")
]


@texts.command("add")
def add_texts(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="One row per group, item, or item of a group; - is standard input.")
    ],
    dataset: options.Dataset = "default",
    reader: options.TableReader = None,
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
        options.say(_texts_told(tracker.add_texts(table, dataset=dataset)))


@texts.command("list")
def list_texts(dataset: options.Dataset = "default", group: OneGroup = None, format: options.Output = "text") -> None:
    """List the texts of a dataset."""

    with options.tracker() as tracker:
        stored_texts = tracker.texts(dataset, group=group)
    names = ["group", "item", "text", "title", "url"]
    options.show_fields(format, names, stored_texts)


@texts.command("delete")
def delete_texts(dataset: options.Dataset = "default", group: OneGroup = None, yes: options.Yes = False) -> None:
    """Delete the texts of a dataset.

    This cannot be undone.
    """
    from ndcg_tracker.errors import InputError
    from ndcg_tracker.words.texts import counted

    with options.tracker() as tracker:
        n_texts = len(tracker.texts(dataset, group=group))
        what = f"{counted(n_texts, 'text')} of {'' if group is None else f'group {group!r} of '}dataset {dataset!r}"
        if n_texts and not yes and not options.agreed(f"delete {what}?"):
            raise InputError(f"nothing deleted: {what}", advice="add --yes")
        tracker.delete_texts(dataset, group=group)
    options.say(f"deleted {what}")


def _texts_told(done: TextsAdded) -> str:
    from ndcg_tracker.words.texts import counted

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
