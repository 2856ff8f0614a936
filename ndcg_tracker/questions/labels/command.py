"""``ndcg-track labels``: versions of a dataset's labels."""

from __future__ import annotations

import shlex
import shutil
from typing import Annotated, Literal

import typer

from ndcg_tracker.cli import options
from ndcg_tracker.compare.command import Baseline, Candidates

app = options.command_group("Versions of labels: add, list, diff, agreement, needed.")


NeededFormat = Literal["text", "json", "markdown", "csv", "quepid", "elasticsearch"]
"""How the items to judge are written."""


@app.command("add")
def add_labels(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The labels; - is standard input.")],
    dataset: options.Dataset = "default",
    extend: Annotated[
        bool, typer.Option("--extend", help="Add them to the newest version, instead of replacing it.")
    ] = False,
    rescore: Annotated[
        bool, typer.Option("--rescore", help="Evaluate the stored runs under them, in the same transaction.")
    ] = False,
    reader: options.Reader = None,
    group: options.GroupColumn = None,
    item: options.ItemColumn = None,
    label: options.LabelColumn = None,
    columns: options.Header = None,
    judge: options.Judge = None,
) -> None:
    """Store the labels of a file as a dataset's newest version.

    Labels already stored add nothing. An empty label means that the item is unjudged. Those of a named judge, such as a
    model, count only where --judge names it.
    """
    from ndcg_tracker.cli.input_files import labels_of
    from ndcg_tracker.ingest.columns import Columns, header_of
    from ndcg_tracker.runs.ingest import source_name

    found = Columns(group=group, item=item, label=label, header=header_of(columns))
    lists = labels_of(file, reader=reader, columns=found)
    with options.tracker() as tracker:
        added = tracker.add_labels(
            lists, dataset=dataset, source=source_name(file), judge=judge or "", extend=extend, rescore=rescore
        )
        version, is_new = added
        state = "stored" if is_new else "already stored"
        whose = f" of judge {judge!r}" if judge else ""
        labels = f"{lists.n_items} label{'' if lists.n_items == 1 else 's'}"
        notes = tracker.change_of_labels(version, dataset=dataset, extends=extend) if is_new else ()
        beside = "" if added.extends is None else " added to the version before"
        options.say(f"{state} as version {version} of dataset {dataset!r}: {labels}{whose}{beside}")
        for note in notes:
            options.say(f"note: {note}")
        if rescore:
            options.say(f"rescored {sum(bool(run.metrics) for run in added.rescored)} of {len(added.rescored)} runs")


@app.command("list")
def list_labels(
    dataset: options.Dataset = "default",
    judge: options.Judge = None,
    format: options.Output = "text",
) -> None:
    """List the versions of a dataset's labels, oldest first.

    Shows how many groups, items and labels each has, how often each grade was given, and how many runs are evaluated
    under it.
    """
    from ndcg_tracker.questions.labels.say import label_versions_as

    with options.tracker() as tracker:
        found = tracker.label_versions(dataset, judge=judge)
    options.show(label_versions_as(format, found, color=options.wants_color()))


@app.command("diff")
def diff_labels(
    first: Annotated[int, typer.Argument(metavar="VERSION", help="A version of the labels.")],
    second: Annotated[
        int | None, typer.Argument(metavar="[OTHER]", help="The version to hold against it.", show_default="newest")
    ] = None,
    dataset: options.Dataset = "default",
    top: Annotated[int, typer.Option(min=0, help="How many changed labels to show.")] = 10,
    format: options.Output = "text",
) -> None:
    """Compare two versions of a dataset's labels.

    Shows how far they agree where both have a label, which grades became which, and which groups and labels are new or
    gone.
    """
    from ndcg_tracker.questions.labels.say import labels_diff_said

    with options.tracker() as tracker:
        found = tracker.labels_diff(first, second, dataset=dataset, top=top)
    options.show_answer(labels_diff_said(found), format)


@app.command("agreement")
def judges_agreement(
    judge: Annotated[
        list[str] | None,
        typer.Option("--judge", metavar="NAME", help="A judge; give one or two.", show_default="the only named one"),
    ] = None,
    dataset: options.Dataset = "default",
    metric: Annotated[
        str, typer.Option("--metric", "-m", help="By which runs are compared.", callback=options.metric_asked_for)
    ] = "ndcg@10",
    top: Annotated[int, typer.Option(min=0, help="How many labels to show whose grades differ.")] = 10,
    format: options.Output = "text",
) -> None:
    """Show how far two judges agree, and which verdicts turn.

    Holds the newest labels of a named judge against those of the unnamed one, or of two named ones against each other:
    weighted kappa, grades against grades, and the order of all runs under each.
    """
    from ndcg_tracker.questions.labels.say import agreement_said

    with options.tracker() as tracker:
        found = tracker.labels_agreement(*(judge or ()), dataset=dataset, metric=metric, top=top)
    options.show_answer(agreement_said(found), format)


@app.command("needed")
def labels_needed(
    baseline: Baseline,
    candidates: Candidates,
    budget: Annotated[int, typer.Option(metavar="N", help="How many items at most.")] = 100,
    metric: Annotated[
        str | None,
        typer.Option(
            "--metric", "-m", help="The metric to settle.", show_default="the first with bounds that all runs have"
        ),
    ] = None,
    dataset: options.AnyDataset = None,
    judge: options.Judge = None,
    output: Annotated[str | None, typer.Option("--output", "-o", metavar="FILE", help="Write to a file.")] = None,
    format: Annotated[NeededFormat, typer.Option("--format", help="How to write the items.")] = "text",
) -> None:
    """Say which unjudged items to judge next.

    They are those that could move a difference most. The answers go back with labels add --extend; csv, quepid and
    elasticsearch have a place for each grade.
    """
    from ndcg_tracker.questions.labels.say import needed_said
    from ndcg_tracker.render.whole_file import whole_file

    asked = options.metric_asked_for(metric)
    with options.tracker() as tracker, whole_file(output, "--output") as write:
        needed = tracker.labels_needed(
            baseline, *candidates, budget=budget, metric=asked, dataset=dataset, judge=judge
        ).needed
        color, width = output is None and options.wants_color(), shutil.get_terminal_size((100, 0)).columns
        text = needed_said(needed).in_format(format, color=color, width=width)
        write(text)
    if output is None:
        options.show(text)
    else:
        n_items = f"{len(needed.items)} item{'' if len(needed.items) == 1 else 's'}"
        whose = ("--judge", judge) if judge else ()
        words = ("ndcg-track", "labels", "add", output, "--extend", "--rescore", "--dataset", needed.dataset, *whose)
        options.say(f"wrote {n_items} to judge; with their grades filled in: {shlex.join(words)}")
