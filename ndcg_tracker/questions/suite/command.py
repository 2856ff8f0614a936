"""``ndcg-track suite``: datasets that belong together; other commands use a suite with ``--suite``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Annotated

import typer

from ndcg_tracker.cli import options
from ndcg_tracker.cli.parameters import Asked, takes, with_parameters
from ndcg_tracker.compare.command import compare
from ndcg_tracker.errors import InputError
from ndcg_tracker.questions.gate.command import gate
from ndcg_tracker.questions.leaderboard.command import leaderboard
from ndcg_tracker.questions.report.command import report
from ndcg_tracker.questions.suite import create_suite, delete_suite

app = options.command_group("Manage suites of datasets, for --suite: create, list, delete.")

Suite = Annotated[str, typer.Argument(metavar="SUITE", help="The name of the suite.")]


@app.command("create")
@takes(create_suite)
def create(asked: Asked) -> None:
    """Create a suite: a name for datasets to look at together."""
    with options.tracker() as tracker:
        suite = asked.of(tracker.create_suite)
    options.say(f"suite {suite.name!r} has {len(suite.datasets)} datasets: {', '.join(suite.datasets)}")


@app.command("list")
def list_suites(format: options.Output = "text") -> None:
    """List the suites and their datasets."""
    from ndcg_tracker.render.report import read_by_people

    with options.tracker() as tracker:
        suites = tracker.suites()
    rows = [(suite.name, dataset, suite.created_at_utc) for suite in suites for dataset in suite.datasets]
    options.show_rows(format, read_by_people("suite", "dataset", "created_at_utc"), rows)


@app.command("delete")
@takes(delete_suite)
def delete(asked: Asked) -> None:
    """Delete a suite; its datasets and their runs stay."""
    with options.tracker() as tracker:
        suite = asked.of(tracker.delete_suite)
    options.say(f"deleted suite {suite.name!r}; its datasets stay")


def _on_suite(command: Callable[..., None], *but: str, **defaults: object) -> list[inspect.Parameter]:
    """Return SUITE and the parameters of a command on a suite, except ``but``, with its own ``defaults``."""
    parameters = inspect.signature(command).parameters
    return [
        inspect.Parameter("suite", inspect.Parameter.KEYWORD_ONLY, annotation=Suite),
        *(
            parameter.replace(default=defaults.get(name, parameter.default))
            for name, parameter in parameters.items()
            if name not in ("suite", "dataset", *but)
        ),
    ]


@app.command("show")
@partial(with_parameters, parameters=_on_suite(leaderboard, "all", "test", "by", "measures"))
def show(**given: object) -> None:
    """Show systems on every dataset, as leaderboard --suite does."""
    leaderboard(**given)


@app.command("compare")
@partial(with_parameters, parameters=_on_suite(compare, "check_with", metrics=["ndcg@10"]))
def compare_systems(**given: object) -> None:
    """Compare systems on every dataset, as compare --suite does."""
    compare(**given)


@app.command("report")
@partial(with_parameters, parameters=_on_suite(report, "all_runs", "texts", output="suite.html", metrics=["ndcg@10"]))
def report_on_systems(**given: object) -> None:
    """Write the page of systems, as report --suite does."""
    report(**given)


OF_ONE_DATASET = ("scope", "tolerance", "repeats", "aa", "top", "by", "slice_margin", "strict_slices")


@app.command("gate")
@partial(with_parameters, parameters=_on_suite(gate, *OF_ONE_DATASET))
def gate_on_suite(
    *,
    dataset_margin: Annotated[
        float | None, typer.Option(metavar="X", help="Also FAIL if a dataset drops by more than this.")
    ] = None,
    strict_datasets: Annotated[
        bool, typer.Option("--strict-datasets", help="Do not PASS if a dataset may have dropped by more.")
    ] = False,
    **given: object,
) -> None:
    """Decide whether a system may replace another (gate --suite)."""
    if strict_datasets and dataset_margin is None:
        raise InputError(
            "--strict-datasets needs --dataset-margin: the allowed drop of a dataset, in absolute points, such as "
            "--dataset-margin 0.05"
        )
    by = None if dataset_margin is None else "dataset"
    gate(by=by, slice_margin=dataset_margin, strict_slices=strict_datasets, **given)
