"""``ndcg-track export`` and ``ndcg-track import``: runs as Parquet files, between databases and to any engine."""

from __future__ import annotations

from typing import Annotated

import typer

from ndcg_tracker.cli import options


def export_runs(
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FOLDER", help="The folder to create; it must not exist yet.")
    ],
    runs: Annotated[list[str] | None, typer.Argument(metavar="[RUN]...", help="The runs.")] = None,
    every: Annotated[bool, typer.Option("--all", help="All runs (of --dataset, if given).")] = False,
    dataset: options.AnyDataset = None,
    texts: Annotated[
        bool, typer.Option("--texts", help="Also query texts, titles and links (see ndcg-track texts).")
    ] = False,
    record: options.Record = True,
) -> None:
    """Write runs and all that belongs to them as Parquet files.

    The folder gets items, labels, evaluations, group results and what people did with the runs, and appears complete or
    not at all. With --all and --texts it holds all of a database.
    """
    from ndcg_tracker.cli.input_files import drawn_progress
    from ndcg_tracker.errors import InputError
    from ndcg_tracker.words.numbers import counted

    if bool(runs) == every:
        raise InputError("name the runs to export, or give --all")
    with options.tracker() as tracker, drawn_progress("exporting to", output, "runs", 1) as progress:
        found = tracker.export_runs(output, runs or (), dataset=dataset, texts=texts, record=record, progress=progress)
    if found.n_pruned:
        options.say(f"note: {counted(found.n_pruned, 'run')} without items: pruned, or stored without all")
    options.say(
        f"exported {counted(found.n_runs, 'run')} with {counted(found.n_items, 'item')}, "
        f"{counted(found.n_label_sets, 'label set')} and {counted(found.n_results, 'group result')} to {output}; "
        "checked: the files have all their rows"
    )
    _say_record("with", found.n_aliases, found.n_decisions)


def import_runs(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="A folder written by ndcg-track export.")],
    dataset: Annotated[str | None, typer.Option(help="New name for the dataset, if the export has only one.")] = None,
    record: options.Record = True,
    format: options.Output = options.OutputFormat.text,
) -> None:
    """Store the runs of an export and all that belongs to them.

    Numbers stay the same to the bit, and all is stored in one transaction. Runs that exist already keep their data and
    get the evaluations that they lack. Results are computed again from items and labels, and refused where they differ.
    """
    from ndcg_tracker.cli.input_files import drawn_progress
    from ndcg_tracker.render.formats import rows_as

    with options.tracker() as tracker, drawn_progress("importing", folder, "runs", 1) as progress:
        found = tracker.import_runs(folder, dataset=dataset, record=record, progress=progress)
    for note in found.notes:
        options.say(f"note: {note}")
    _say_record("stored", found.n_aliases, found.n_decisions)
    names = ["run", "run_id", "dataset", "outcome", "n_groups", "n_items", "n_evaluations", "n_not_verifiable"]
    rows = [tuple(getattr(run, name) for name in names) for run in found.runs]
    options.show(rows_as(format.plain, names, rows, color=options.wants_color()))
    options.say(
        "checked: digests of runs and labels; results computed again from them"
        f"{_not_verifiable(sum(run.n_not_verifiable for run in found.runs))}"
    )


def _say_record(how: str, n_aliases: int, n_decisions: int) -> None:
    """Say how many aliases and decisions there are, if there are any."""
    from ndcg_tracker.words.numbers import counted

    if n_aliases or n_decisions:
        aliases = f"{n_aliases:,} alias{'' if n_aliases == 1 else 'es'}"
        options.say(f"{how} {aliases} and {counted(n_decisions, 'decision')} of gates")


def _not_verifiable(n: int) -> str:
    from ndcg_tracker.words.numbers import counted

    return f", but {counted(n, 'evaluation')} not verifiable" if n else ""
