"""``ndcg-track suite``: named datasets that are looked at together."""

from __future__ import annotations

import shlex
from contextlib import ExitStack
from typing import Annotated

import typer

from ndcg_tracker.cli import options
from ndcg_tracker.questions.gate import command as gate
from ndcg_tracker.questions.leaderboard.command import LeaderboardFormat, Missing

app = typer.Typer(
    help="Datasets together: create, show, compare, report, gate.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Suite = Annotated[str, typer.Argument(metavar="SUITE", help="The name of the suite.")]
Metric = Annotated[str, typer.Option("--metric", "-m", help="The metric.", callback=options.metric_asked_for)]
ByTag = Annotated[
    str | None,
    typer.Option(metavar="KEY", help="Runs of one system share this tag's value, not their name.", show_default=False),
]


MissingGroups = Annotated[Missing, typer.Option(help="Groups that one run has no result for: refused, 0, or left out.")]


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
def list_suites(format: options.Output = options.OutputFormat.text) -> None:
    """List the suites and their datasets."""
    from ndcg_tracker.render.formats import rows_as

    with options.tracker() as tracker:
        found = tracker.suites()
    rows = [(suite.name, dataset, suite.created_at_utc) for suite in found for dataset in suite.datasets]
    options.show(rows_as(format.plain, ["suite", "dataset", "created_at_utc"], rows, color=options.wants_color()))


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
    by_tag: ByTag = None,
    missing: MissingGroups = Missing.error,
    format: Annotated[LeaderboardFormat, typer.Option(help="How to print it.")] = LeaderboardFormat.text,
) -> None:
    """Show systems on every dataset, with their means over all.

    Runs of one name on several datasets are one system. A system without a run on some dataset has no mean over the
    suite. Intervals say what other queries of these datasets, and what other datasets like these, would give.
    """
    from ndcg_tracker.questions.leaderboard.say_suite import suite_table_as

    with options.tracker() as tracker:
        found = tracker.suite(suite, *(systems or ()), metric=metric, by_tag=by_tag, missing=missing.value)
    options.show(suite_table_as(format.value, found.table, color=options.wants_color()))


@app.command("compare")
def compare(
    suite: Suite,
    baseline: Annotated[str, typer.Argument(metavar="BASELINE", help="The name of its runs.")],
    candidate: Annotated[str, typer.Argument(metavar="CANDIDATE", help="The name of the runs to compare with it.")],
    metric: Metric = "ndcg@10",
    by_tag: ByTag = None,
    missing: MissingGroups = Missing.error,
    format: options.Output = options.OutputFormat.text,
) -> None:
    """Compare two systems on every dataset, and on all together.

    The verdict is that of the macro mean, in which each dataset counts once.
    """
    from ndcg_tracker.compare.say_suite import suite_comparison_as

    with options.tracker() as tracker:
        found = tracker.compare_suite(suite, baseline, candidate, metric=metric, by_tag=by_tag, missing=missing.value)
    options.show(suite_comparison_as(format.plain, found.comparison, color=options.wants_color()))


@app.command("report")
def report(
    suite: Suite,
    baseline: Annotated[str, typer.Argument(metavar="BASELINE", help="The name of its runs.")],
    candidate: Annotated[str, typer.Argument(metavar="CANDIDATE", help="The name of the runs to compare with it.")],
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="The page.")] = "suite.html",
    metric: Metric = "ndcg@10",
    by_tag: ByTag = None,
    missing: MissingGroups = Missing.error,
) -> None:
    """Write a page that shows a comparison on a suite.

    It shows all systems as well. The page is one file and needs no network.
    """
    from ndcg_tracker.render.whole_file import whole_file

    with options.tracker() as tracker, whole_file(output, "--output") as write:
        found = tracker.compare_suite(suite, baseline, candidate, metric=metric, by_tag=by_tag, missing=missing.value)
        write(tracker.suite_page(found, by_tag=by_tag, missing=missing.value))
    options.say(f"wrote {shlex.quote(output)}: open it in a browser")


@app.command("gate")
def gate_suite(
    suite: Suite,
    candidate: Annotated[str, typer.Argument(metavar="CANDIDATE", help="The name of the runs to replace it.")],
    baseline: Annotated[str, typer.Option(metavar="SYSTEM", help="The name of the runs to compare against.")],
    margin: Annotated[float, typer.Option(metavar="X", help="The drop that the macro mean is allowed.")],
    metric: Metric = "ndcg@10",
    dataset_margin: Annotated[
        float | None,
        typer.Option(metavar="X", help="FAIL as well if a dataset drops by more than this.", show_default=False),
    ] = None,
    strict_datasets: Annotated[
        bool, typer.Option("--strict-datasets", help="No PASS if a dataset may have dropped by more.")
    ] = False,
    alpha_budget: gate.AlphaBudget = None,
    on_inconclusive: gate.IfInconclusive = None,
    acknowledge: gate.Acknowledge = None,
    dry_run: gate.DryRun = False,
    by_tag: ByTag = None,
    missing: MissingGroups = Missing.error,
    junit: gate.Junit = None,
    github_summary: gate.GithubSummary = False,
    format: options.Output = options.OutputFormat.text,
) -> None:
    """Decide whether a system may replace another on a suite.

    It decides on the macro mean, in which each dataset counts once; the decision is recorded. Exit codes are those of
    gate: 0 PASS or overridden, 3 FAIL, 4 INCONCLUSIVE, 5 not comparable, 2 bad input.
    """
    from ndcg_tracker.integrations.github_summary import appended_summary
    from ndcg_tracker.questions.gate.say_suite import suite_gate_as, suite_gate_junit
    from ndcg_tracker.render.whole_file import whole_file

    summary = gate.summary_path() if github_summary else None
    with ExitStack() as files:
        write_junit = files.enter_context(whole_file(junit, "--junit"))
        append_summary = files.enter_context(appended_summary(summary, "--github-summary")) if summary else None
        with options.tracker() as tracker:
            found = tracker.gate_suite(
                suite,
                candidate,
                baseline=baseline,
                margin=margin,
                metric=metric,
                dataset_margin=dataset_margin,
                strict_datasets=strict_datasets,
                alpha_budget=alpha_budget,
                by_tag=by_tag,
                missing=missing.value,
                acknowledge=acknowledge,
                acknowledged_by=None if acknowledge is None else gate.person(),
                dry_run=dry_run,
            ).gated
        code = gate.exit_code(found, on_inconclusive)
        write_junit(suite_gate_junit(found, gate.outcome_of(found, code), options.as_option))
        if append_summary is not None:
            append_summary(suite_gate_as("markdown", found, spelled=options.as_option) + "\n")
    gate.show_decision(
        suite_gate_as(format.plain, found, color=options.wants_color(), spelled=options.as_option),
        code,
        is_unneeded=acknowledge is not None and found.acknowledgement is None,
    )
