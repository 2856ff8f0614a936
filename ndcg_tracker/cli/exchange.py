"""``ndcg-track export`` and ``import``: runs and whole databases as Parquet files."""

from __future__ import annotations

from typing import Annotated

from ndcg_tracker.asked import Option, Positional
from ndcg_tracker.cli import options
from ndcg_tracker.rules import refuse


def export_runs(
    output: Annotated[
        str, Option("The folder to create; it must not exist yet.", ("--output", "-o"), metavar="FOLDER")
    ],
    runs: options.SomeRuns = None,
    every: options.EveryRun = False,
    dataset: options.AnyDataset = None,
) -> None:
    """Export runs, or the whole database, as Parquet files.

    Named runs come with their labels. The folder appears complete or not at all. --all takes everything that the
    database has; with --dataset it takes the runs of this dataset. An export of runs says what it leaves out.

    Example: ndcg-track export --all --output runs
    """
    from ndcg_tracker.cli.input_files import drawn_progress
    from ndcg_tracker.words.texts import counted

    refuse("export", {"runs": runs, "every": every})
    with options.tracker() as tracker, drawn_progress("exporting to", output, "runs", 1) as progress:
        result = tracker.export_runs(output, runs or (), dataset=dataset, progress=progress)
    options.say(
        f"exported {counted(result.n_runs, 'run')} with {counted(result.n_items, 'item')}, "
        f"{counted(result.n_label_sets, 'label set')} and {counted(result.n_results, 'group result')} to {output}; "
        "checked: the files have all their rows"
    )
    for note in result.notes:
        options.say(note)


def import_runs(
    folder: Annotated[str, Positional("A folder written by ndcg-track export.", metavar="FOLDER")],
    dataset: Annotated[str | None, Option("New name for the dataset of named runs, if it is a single one.")] = None,
    format: options.Output = "text",
) -> None:
    """Import a copy of a database, or exported runs.

    A copy goes into an empty database, and runs into names that are free. Numbers stay the same to the bit, and
    everything is stored in one transaction. The command checks every row, recomputes results from items and labels,
    and refuses results that differ.

    Example: ndcg-track import runs
    """
    from ndcg_tracker.cli.input_files import drawn_progress
    from ndcg_tracker.words.texts import counted

    with options.tracker() as tracker, drawn_progress("importing", folder, "runs", 1) as progress:
        result = tracker.import_runs(folder, dataset=dataset, progress=progress)
    options.say_notes(result.notes)
    options.show_fields(format, ["run", "run_id", "dataset", "outcome", "n_groups", "n_items"], result.runs)
    n, n_unknown = counted(result.n_evaluations, "evaluation"), result.n_not_verifiable
    unknown = f"; not verifiable: {n_unknown:,} of {n}" if n_unknown else ""
    options.say(f"checked: every row, all digests, and {result.n_results:,} results of groups, computed again{unknown}")
