"""``ndcg-track plot``: what a command prints, as a picture."""

from __future__ import annotations

import shlex
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ndcg_tracker.cli import options
from ndcg_tracker.compare.command import (
    Baseline,
    Candidate,
    Candidates,
    Ci,
    ClusterBy,
    Interval,
    LabelsVersion,
    Missing,
    MissingGroups,
    Significance,
    Test,
    labels_version,
)
from ndcg_tracker.questions.explain.command import GroupMetric, LabelsBaseline, LabelsCandidate
from ndcg_tracker.questions.history.command import Branch, Commit, Last, Metric, Since, Tags, Until

if TYPE_CHECKING:
    from ndcg_tracker.compare.chart import ComparisonChart
    from ndcg_tracker.render.chart import Chart

app = typer.Typer(
    help="Pictures of comparisons, lists, histories, suites, costs.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


class ComparisonKind(StrEnum):
    """What of a comparison is drawn."""

    every = "every"
    scatter = "scatter"
    histogram = "histogram"
    forest = "forest"
    heatmap = "heatmap"


class ThemeName(StrEnum):
    """The colours of a picture."""

    light = "light"
    dark = "dark"


Output = Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="The picture; .svg, .png, .pdf or .html.")]
Width = Annotated[
    str | None,
    typer.Option(metavar="WIDTH", help="The width: pixels, or 84mm, 3.3in, 240pt.", show_default="640 pixels"),
]
Theme = Annotated[ThemeName, typer.Option(help="The colours; .html follows the reader's screen.")]
By = Annotated[str | None, typer.Option(metavar="ATTRIBUTE", help="A group attribute.")]


@app.command()
def compare(
    baseline: Baseline,
    candidates: Candidates,
    output: Output,
    kind: Annotated[
        ComparisonKind, typer.Option(help="Groups from worst to best, run against run, deltas, intervals, all pairs.")
    ] = ComparisonKind.every,
    metric: options.Metrics = None,
    dataset: options.AnyDataset = None,
    missing: MissingGroups = Missing.error,
    test: Test = Significance.t,
    ci: Ci = Interval.t,
    by: By = None,
    cluster: ClusterBy = None,
    labels: LabelsVersion = None,
    width: Width = None,
    theme: Theme = ThemeName.light,
) -> None:
    """Draw a comparison, group by group unless --kind says otherwise.

    The first metric is drawn; --by colours groups by an attribute. Several candidates are drawn by forest and heatmap.
    """
    _check(output, width)
    chart = _compared(kind.value, baseline, candidates, metric, dataset, missing, test, ci, by, cluster, labels)
    _write(chart, output, width, theme)


@app.command()
def slices(
    baseline: Baseline,
    candidate: Candidate,
    output: Output,
    by: By = None,
    metric: options.Metrics = None,
    dataset: options.AnyDataset = None,
    missing: MissingGroups = Missing.error,
    cluster: ClusterBy = None,
    labels: LabelsVersion = None,
    width: Width = None,
    theme: Theme = ThemeName.light,
) -> None:
    """Draw slices with their intervals, by one attribute or all."""
    _check(output, width)
    chart = _compared("slices", baseline, [candidate], metric, dataset, missing, by=by, cluster=cluster, labels=labels)
    _write(chart, output, width, theme)


@app.command()
def cutoffs(
    baseline: Baseline,
    candidate: Candidate,
    output: Output,
    metric: options.Metrics = None,
    dataset: options.AnyDataset = None,
    missing: MissingGroups = Missing.error,
    cluster: ClusterBy = None,
    labels: LabelsVersion = None,
    width: Width = None,
    theme: Theme = ThemeName.light,
) -> None:
    """Draw a metric from cutoff 1 to 100, of both runs."""
    _check(output, width)
    chart = _compared("cutoffs", baseline, [candidate], metric, dataset, missing, cluster=cluster, labels=labels)
    _write(chart, output, width, theme)


@app.command()
def explain(
    baseline: Baseline,
    candidate: Candidate,
    output: Output,
    group: Annotated[str, typer.Option(metavar="KEY", help="The group.")],
    metric: GroupMetric = None,
    dataset: options.AnyDataset = None,
    labels_baseline: LabelsBaseline = None,
    labels_candidate: LabelsCandidate = None,
    width: Width = None,
    theme: Theme = ThemeName.light,
) -> None:
    """Draw both lists of a group, each item joined to itself."""
    _check(output, width)
    with options.tracker() as tracker:
        found = tracker.explain(
            baseline,
            candidate,
            group=group,
            metric=metric,
            dataset=dataset,
            labels_baseline=labels_baseline,
            labels_candidate=labels_candidate,
        )
        _write(found.plot(), output, width, theme)


@app.command()
def history(
    output: Output,
    metric: Metric = "ndcg@10",
    dataset: options.Dataset = "default",
    tag: Tags = None,
    branch: Branch = None,
    commit: Commit = "",
    since: Since = None,
    until: Until = None,
    last: Last = None,
    width: Width = None,
    theme: Theme = ThemeName.light,
) -> None:
    """Draw a metric over runs, its steps and the changes of labels."""
    from ndcg_tracker.questions.history.gather import HistoryFilter

    _check(output, width)
    tags = options.pairs(tag, "--tag") | ({} if branch is None else {"branch": branch})
    wanted = HistoryFilter(tags, commit, since, until, last)
    with options.tracker() as tracker:
        _write(tracker.history_report(metric, dataset=dataset, wanted=wanted).plot(), output, width, theme)


@app.command()
def training(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The training: its tag training=NAME.")],
    output: Output,
    metric: Metric = "ndcg@10",
    dataset: options.Dataset = "default",
    width: Width = None,
    theme: Theme = ThemeName.light,
) -> None:
    """Draw the validation curve of a training."""
    _check(output, width)
    with options.tracker() as tracker:
        _write(tracker.plot_training(name, metric, dataset=dataset), output, width, theme)


@app.command()
def runs(
    parameter: Annotated[
        str, typer.Argument(metavar="PARAMETER", help="A parameter or tag that is a number, such as latency_ms.")
    ],
    output: Output,
    metric: Metric = "ndcg@10",
    dataset: options.Dataset = "default",
    tag: Tags = None,
    width: Width = None,
    theme: Theme = ThemeName.light,
) -> None:
    """Draw the quality of runs against what they cost.

    The line joins the runs that no other beats in both.
    """
    _check(output, width)
    with options.tracker() as tracker:
        chart = tracker.plot_runs(parameter, metric, dataset=dataset, tags=options.pairs(tag, "--tag"))
        _write(chart, output, width, theme)


@app.command("suite")
def of_suite(
    suite: Annotated[str, typer.Argument(metavar="SUITE", help="The name of the suite.")],
    baseline: Annotated[str, typer.Argument(metavar="BASELINE", help="The name of its runs.")],
    candidate: Annotated[str, typer.Argument(metavar="CANDIDATE", help="The name of the runs to compare with it.")],
    output: Output,
    metric: Metric = "ndcg@10",
    by_tag: Annotated[
        str | None, typer.Option(metavar="KEY", help="Runs of one system share this tag's value.")
    ] = None,
    missing: MissingGroups = Missing.error,
    width: Width = None,
    theme: Theme = ThemeName.light,
) -> None:
    """Draw two systems on every dataset of a suite, and on all."""
    _check(output, width)
    with options.tracker() as tracker:
        found = tracker.compare_suite(suite, baseline, candidate, metric=metric, by_tag=by_tag, missing=missing.value)
        _write(found.plot(), output, width, theme)


def _check(output: str, width: str | None) -> None:
    """Refuse a picture that cannot be written before anything is read."""
    from ndcg_tracker.render.chart import checked_ending, pixels_of

    checked_ending(output)
    if width is not None:
        pixels_of(width)


def _compared(
    kind: ComparisonChart,
    baseline: str,
    candidates: list[str],
    metric: list[str] | None,
    dataset: str | None,
    missing: Missing,
    test: Significance = Significance.t,
    ci: Interval = Interval.t,
    by: str | None = None,
    cluster: str | None = None,
    labels: str | None = None,
) -> Chart:
    """Return a chart of a comparison; its groups are read from the database before that is closed."""
    with options.tracker() as tracker:
        found = tracker.compare(
            baseline,
            *candidates,
            dataset=dataset,
            metrics=metric or (),
            missing=missing.value,
            test=test.value,
            ci=ci.value,
            cluster=cluster,
            labels=labels_version(labels),
            top=0,
        )
        return found.plot(kind, by=by)


def _write(chart: Chart, output: str, width: str | None, theme: ThemeName) -> None:
    from ndcg_tracker.render.chart import checked_ending
    from ndcg_tracker.render.whole_file import whole_file

    content = chart.content(checked_ending(output), theme=theme.value, width=width)
    with whole_file(output, "--output") as write:
        write(content)
    options.say(f"wrote {shlex.quote(output)}")
