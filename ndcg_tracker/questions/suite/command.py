"""``ndcg-track suite``: datasets that are looked at together; what is asked of them are options of the questions."""

from __future__ import annotations

from typing import Annotated

import typer

from ndcg_tracker.cli import options
from ndcg_tracker.compare import command as compare
from ndcg_tracker.errors import InputError
from ndcg_tracker.questions.gate import command as gate
from ndcg_tracker.questions.leaderboard.command import LeaderboardFormat, leaderboard
from ndcg_tracker.questions.report.command import report

app = typer.Typer(
    help="Datasets together: create, list, delete; ask with --suite.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Suite = Annotated[str, typer.Argument(metavar="SUITE", help="The name of the suite.")]
Baseline = Annotated[str, typer.Argument(metavar="BASELINE", help="The name of its runs.")]
Candidate = Annotated[str, typer.Argument(metavar="CANDIDATE", help="The name of the runs to compare with it.")]
Metric = Annotated[str, typer.Option("--metric", "-m", help="The metric.", callback=options.metric_asked_for)]


@app.command("create")
def create(
    suite: Suite,
    datasets: Annotated[list[str], typer.Argument(metavar="DATASET", help="Datasets, or patterns: 'beir-*'.")],
    replace: Annotated[bool, typer.Option("--replace", help="Give a suite that exists these datasets.")] = False,
) -> None:
    """Name datasets that are looked at together."""
    with options.tracker() as tracker:
        found = tracker.create_suite(suite, datasets, replace=replace)
    options.say(f"suite {found.name!r} has {len(found.datasets)} datasets: {', '.join(found.datasets)}")


@app.command("list")
def list_suites(format: options.Output = "text") -> None:
    """List the suites and their datasets."""
    from ndcg_tracker.render.formats import rows_as

    with options.tracker() as tracker:
        found = tracker.suites()
    rows = [(suite.name, dataset, suite.created_at_utc) for suite in found for dataset in suite.datasets]
    options.show(rows_as(format, ["suite", "dataset", "created_at_utc"], rows, color=options.wants_color()))


@app.command("delete")
def delete(suite: Suite) -> None:
    """Delete a suite; its datasets and their runs stay."""
    with options.tracker() as tracker:
        found = tracker.delete_suite(suite)
    options.say(f"deleted suite {found.name!r}; its datasets stay")


@app.command("show")
def show(
    suite: Suite,
    systems: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SYSTEM]", help="Names of runs, or patterns such as 'bm25*'; without any, all."),
    ] = None,
    metric: Metric = "ndcg@10",
    by_tag: options.ByTag = None,
    missing: compare.MissingGroups = "error",
    format: Annotated[LeaderboardFormat, typer.Option(help="How to print it.")] = "text",
) -> None:
    """Show systems on every dataset, as leaderboard --suite does."""
    leaderboard(systems, [metric], suite=suite, by_tag=by_tag, missing=missing, format=format)


@app.command("compare")
def compare_systems(
    suite: Suite,
    baseline: Baseline,
    candidate: Candidate,
    metric: Metric = "ndcg@10",
    by_tag: options.ByTag = None,
    missing: compare.MissingGroups = "error",
    format: options.Output = "text",
) -> None:
    """Compare two systems on every dataset, as compare --suite does."""
    compare.compare(baseline, [candidate], [metric], suite=suite, by_tag=by_tag, missing=missing, format=format)


@app.command("report")
def report_on_systems(
    suite: Suite,
    baseline: Baseline,
    candidate: Candidate,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="The page.")] = "suite.html",
    metric: Metric = "ndcg@10",
    by_tag: options.ByTag = None,
    missing: compare.MissingGroups = "error",
) -> None:
    """Write the page of two systems, as report --suite does."""
    report(baseline, [candidate], output, metric=[metric], suite=suite, by_tag=by_tag, missing=missing)


@app.command("gate")
def gate_suite(
    suite: Suite,
    candidate: Candidate,
    baseline: Annotated[str, typer.Option(metavar="SYSTEM", help="The name of the runs to compare against.")],
    margin: Annotated[str, typer.Option(metavar="X", help="The drop that the macro mean is allowed.")],
    metric: Metric = "ndcg@10",
    dataset_margin: Annotated[
        float | None, typer.Option(metavar="X", help="FAIL as well if a dataset drops by more than this.")
    ] = None,
    strict_datasets: Annotated[
        bool, typer.Option("--strict-datasets", help="No PASS if a dataset may have dropped by more.")
    ] = False,
    alpha_budget: gate.AlphaBudget = None,
    on_inconclusive: gate.IfInconclusive = None,
    acknowledge: gate.Acknowledge = None,
    dry_run: gate.DryRun = False,
    by_tag: options.ByTag = None,
    missing: compare.MissingGroups = "error",
    junit: gate.Junit = None,
    github_summary: gate.GithubSummary = False,
    format: options.Output = "text",
) -> None:
    """Decide whether a system may replace another (gate --suite)."""
    if strict_datasets and dataset_margin is None:
        raise InputError(
            "--strict-datasets needs --dataset-margin: how large a drop a dataset is allowed, in absolute points, such "
            "as --dataset-margin 0.05"
        )
    gate.gate(
        candidate,
        baseline,
        metric,
        margin,
        alpha_budget=alpha_budget,
        on_inconclusive=on_inconclusive,
        acknowledge=acknowledge,
        dry_run=dry_run,
        by=None if dataset_margin is None else "dataset",
        slice_margin=dataset_margin,
        strict_slices=strict_datasets,
        missing=missing,
        suite=suite,
        by_tag=by_tag,
        junit=junit,
        github_summary=github_summary,
        format=format,
    )
