"""``ndcg-track labels``: versions of a dataset's labels."""

from __future__ import annotations

from typing import Annotated

import typer

from ndcg_tracker.cli import options

app = typer.Typer(
    help="The versions of a dataset's labels: add, list, diff, agreement.", no_args_is_help=True, rich_markup_mode=None
)


@app.command("add")
def add_labels(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The labels; - is standard input.")],
    dataset: options.Dataset = "default",
    rescore: Annotated[bool, typer.Option("--rescore", help="Evaluate the stored runs under them, too.")] = False,
    reader: options.Reader = None,
    group: options.GroupColumn = None,
    item: options.ItemColumn = None,
    label: options.LabelColumn = None,
    columns: options.Header = None,
    judge: options.Judge = None,
) -> None:
    """Store the labels of a file as a dataset's newest version.

    Labels already stored add nothing. Those of a named judge, such as a model, count only where --judge names it.
    """
    from ndcg_tracker.cli.input_files import labels_of
    from ndcg_tracker.ingest.columns import Columns, header_of
    from ndcg_tracker.tracker.ingest import source_name

    found = Columns(group=group, item=item, label=label, header=header_of(columns))
    lists = labels_of(file, reader=reader, columns=found)
    with options.tracker() as tracker:
        version, is_new = tracker.add_labels(lists, dataset=dataset, source=source_name(file), judge=judge or "")
        state = "stored" if is_new else "already stored"
        whose = f" of judge {judge!r}" if judge else ""
        options.say(f"{state} as version {version} of dataset {dataset!r}: {lists.n_items} labels{whose}")
        if rescore:
            rescored = tracker.rescore(dataset=dataset, judge=judge)
            options.say(f"rescored {sum(bool(run.metrics) for run in rescored)} of {len(rescored)} runs")


@app.command("list")
def list_labels(
    dataset: options.Dataset = "default",
    judge: options.Judge = None,
    format: options.Output = options.OutputFormat.text,
) -> None:
    """List the versions of a dataset's labels, oldest first.

    Shows how many groups, items and labels each has, how often each grade was given, and how many runs are evaluated
    under it.
    """
    from ndcg_tracker.reporting.labels import label_versions_as

    with options.tracker() as tracker:
        found = tracker.label_versions(dataset, judge=judge)
    options.show(label_versions_as(format.plain, found, color=options.wants_color()))


@app.command("diff")
def diff_labels(
    first: Annotated[int, typer.Argument(metavar="VERSION", help="A version of the labels.")],
    second: Annotated[
        int | None, typer.Argument(metavar="[OTHER]", help="The version to hold against it.", show_default="newest")
    ] = None,
    dataset: options.Dataset = "default",
    top: Annotated[int, typer.Option(min=0, help="How many changed labels to show.")] = 10,
    format: options.Output = options.OutputFormat.text,
) -> None:
    """Compare two versions of a dataset's labels.

    Shows how far they agree where both have a label, which grades became which, and which groups and labels are new or
    gone.
    """
    from ndcg_tracker.reporting.labels import labels_diff_as

    with options.tracker() as tracker:
        found = tracker.labels_diff(first, second, dataset=dataset, top=top)
    options.show(labels_diff_as(format.plain, found, color=options.wants_color()))


@app.command("agreement")
def judges_agreement(
    judge: Annotated[
        list[str] | None,
        typer.Option("--judge", metavar="NAME", help="A judge; give one or two.", show_default="the only named one"),
    ] = None,
    dataset: options.Dataset = "default",
    metric: Annotated[
        str,
        typer.Option("--metric", "-m", help="By which runs are compared.", callback=options.metric_asked_for),
    ] = "ndcg@10",
    top: Annotated[int, typer.Option(min=0, help="How many labels to show whose grades differ.")] = 10,
    format: options.Output = options.OutputFormat.text,
) -> None:
    """Show how far two judges agree, and which verdicts turn.

    Holds the newest labels of a named judge against those of the unnamed one, or of two named ones against each other:
    weighted kappa, grades against grades, and the order of all runs under each.
    """
    from ndcg_tracker.reporting.labels import agreement_as

    with options.tracker() as tracker:
        found = tracker.labels_agreement(*(judge or ()), dataset=dataset, metric=metric, top=top)
    options.show(agreement_as(format.plain, found, color=options.wants_color()))
