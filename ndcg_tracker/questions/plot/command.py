"""``ndcg-track plot``: what a command prints, as a picture."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, Unpack, get_type_hints

import typer

from ndcg_tracker.cli import options
from ndcg_tracker.compare.command import (
    Baseline,
    Candidate,
    Candidates,
    Ci,
    ClusterBy,
    Compared,
    LabelsVersion,
    MissingGroups,
    Test,
    labels_version,
)
from ndcg_tracker.questions.explain.command import GroupMetric, LabelsBaseline, LabelsCandidate
from ndcg_tracker.questions.history.command import Branch, Commit, Last, Metric, Since, Until

if TYPE_CHECKING:
    from ndcg_tracker.api.tracker import Tracker
    from ndcg_tracker.compare.chart import ComparisonChart
    from ndcg_tracker.render.chart import Chart

app = options.command_group("Pictures of comparisons, lists, histories, suites, costs.")


ComparisonKind = Literal["every", "scatter", "histogram", "forest", "heatmap"]
"""What of a comparison is drawn."""


ThemeName = Literal["light", "dark"]
"""The colours of a picture."""


Output = Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="The picture; .svg, .png, .pdf or .html.")]
Width = Annotated[
    str | None,
    typer.Option(metavar="WIDTH", help="The width: pixels, or 84mm, 3.3in, 240pt.", show_default="640 pixels"),
]
Theme = Annotated[ThemeName, typer.Option(help="The colours; .html follows the reader's screen.")]
By = Annotated[str | None, typer.Option(metavar="ATTRIBUTE", help="A group attribute.")]


def drawn(chart_of: Callable[..., Chart], name: str | None = None) -> None:
    """Make a command of what returns a chart of a tracker: --output comes behind the arguments, the rest at the end.

    A picture that cannot be written is refused before anything is read.
    """
    hints = get_type_hints(chart_of, localns={"Tracker": object, "Chart": object}, include_extras=True)
    _, *own = inspect.signature(chart_of).parameters.values()
    own = [one.replace(annotation=hints[one.name], kind=one.KEYWORD_ONLY) for one in own]
    n_arguments = sum(isinstance(one.annotation.__metadata__[0], typer.models.ArgumentInfo) for one in own)
    option = partial(inspect.Parameter, kind=inspect.Parameter.KEYWORD_ONLY)

    def command(*, output: str, width: str | None, theme: ThemeName, **asked: Any) -> None:
        from ndcg_tracker.render.chart import checked_ending, pixels_of
        from ndcg_tracker.render.whole_file import whole_file

        ending = checked_ending(output)
        if width is not None:
            pixels_of(width)
        with options.tracker() as tracker:
            content = chart_of(tracker, **asked).content(ending, theme=theme, width=width)
        with whole_file(output, "--output") as write:
            write(content)
        options.say(f"wrote {shlex.quote(output)}")

    parameters = [
        *own[:n_arguments],
        option("output", annotation=Output),
        *own[n_arguments:],
        option("width", default=None, annotation=Width),
        option("theme", default="light", annotation=Theme),
    ]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    app.command(name or chart_of.__name__, help=inspect.getdoc(chart_of))(command)


@drawn
def compare(
    tracker: Tracker,
    baseline: Baseline,
    candidates: Candidates,
    kind: Annotated[
        ComparisonKind, typer.Option(help="Groups from worst to best, run against run, deltas, intervals, all pairs.")
    ] = "every",
    metric: options.Metrics = None,
    dataset: options.AnyDataset = None,
    missing: MissingGroups = "error",
    test: Test = "t",
    ci: Ci = "t",
    by: By = None,
    cluster: ClusterBy = None,
    labels: LabelsVersion = None,
) -> Chart:
    """Draw a comparison, group by group unless --kind says otherwise.

    The first metric is drawn; --by colours groups by an attribute. Several candidates are drawn by forest and heatmap.
    """
    asked = Compared(missing=missing, test=test, ci=ci, cluster=cluster)
    return _compared(tracker, kind, (baseline, *candidates), metric, labels, dataset, by, **asked)


@drawn
def slices(
    tracker: Tracker,
    baseline: Baseline,
    candidate: Candidate,
    by: By = None,
    metric: options.Metrics = None,
    dataset: options.AnyDataset = None,
    missing: MissingGroups = "error",
    cluster: ClusterBy = None,
    labels: LabelsVersion = None,
) -> Chart:
    """Draw slices with their intervals, by one attribute or all."""
    asked = Compared(missing=missing, test="t", ci="t", cluster=cluster)
    return _compared(tracker, "slices", (baseline, candidate), metric, labels, dataset, by, **asked)


@drawn
def cutoffs(
    tracker: Tracker,
    baseline: Baseline,
    candidate: Candidate,
    metric: options.Metrics = None,
    dataset: options.AnyDataset = None,
    missing: MissingGroups = "error",
    cluster: ClusterBy = None,
    labels: LabelsVersion = None,
) -> Chart:
    """Draw a metric from cutoff 1 to 100, of both runs."""
    asked = Compared(missing=missing, test="t", ci="t", cluster=cluster)
    return _compared(tracker, "cutoffs", (baseline, candidate), metric, labels, dataset, **asked)


@drawn
def explain(
    tracker: Tracker,
    baseline: Baseline,
    candidate: Candidate,
    group: Annotated[str, typer.Option(metavar="KEY", help="The group.")],
    metric: GroupMetric = None,
    dataset: options.AnyDataset = None,
    labels_baseline: LabelsBaseline = None,
    labels_candidate: LabelsCandidate = None,
) -> Chart:
    """Draw both lists of a group, each item joined to itself."""
    found = tracker.explain(
        baseline,
        candidate,
        group=group,
        metric=metric,
        dataset=dataset,
        labels_baseline=labels_baseline,
        labels_candidate=labels_candidate,
    )
    return found.plot()


@drawn
def history(
    tracker: Tracker,
    metric: Metric = "ndcg@10",
    dataset: options.Dataset = "default",
    tag: options.OnlyTagged = None,
    branch: Branch = None,
    commit: Commit = "",
    since: Since = None,
    until: Until = None,
    last: Last = None,
) -> Chart:
    """Draw a metric over runs, its steps and the changes of labels."""
    from ndcg_tracker.questions.history.gather import HistoryFilter

    tags = options.pairs(tag, "--tag") | ({} if branch is None else {"branch": branch})
    wanted = HistoryFilter(tags, commit, since, until, last)
    return tracker.history_report(metric, dataset=dataset, wanted=wanted).plot()


@drawn
def training(
    tracker: Tracker,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The training: its tag training=NAME.")],
    metric: Metric = "ndcg@10",
    dataset: options.Dataset = "default",
) -> Chart:
    """Draw the validation curve of a training."""
    return tracker.plot_training(name, metric, dataset=dataset)


@drawn
def runs(
    tracker: Tracker,
    parameter: Annotated[
        str, typer.Argument(metavar="PARAMETER", help="A parameter or tag that is a number, such as latency_ms.")
    ],
    metric: Metric = "ndcg@10",
    dataset: options.Dataset = "default",
    tag: options.OnlyTagged = None,
) -> Chart:
    """Draw the quality of runs against what they cost.

    The line joins the runs that no other beats in both.
    """
    return tracker.plot_runs(parameter, metric, dataset=dataset, tags=options.pairs(tag, "--tag"))


@partial(drawn, name="suite")
def of_suite(
    tracker: Tracker,
    suite: Annotated[str, typer.Argument(metavar="SUITE", help="The name of the suite.")],
    baseline: Annotated[str, typer.Argument(metavar="BASELINE", help="The name of its runs.")],
    candidate: Annotated[str, typer.Argument(metavar="CANDIDATE", help="The name of the runs to compare with it.")],
    metric: Metric = "ndcg@10",
    by_tag: Annotated[
        str | None, typer.Option(metavar="KEY", help="Runs of one system share this tag's value.")
    ] = None,
    missing: MissingGroups = "error",
) -> Chart:
    """Draw two systems on every dataset of a suite, and on all."""
    found = tracker.compare_suite(suite, baseline, candidate, metric=metric, by_tag=by_tag, missing=missing)
    return found.plot()


def _compared(
    tracker: Tracker,
    kind: ComparisonChart,
    runs: tuple[str, ...],
    metric: list[str] | None,
    labels: str | None,
    dataset: str | None,
    by: str | None = None,
    **asked: Unpack[Compared],
) -> Chart:
    """Return a chart of a comparison."""
    found = tracker.compare(*runs, metrics=metric or (), dataset=dataset, labels=labels_version(labels), top=0, **asked)
    return found.plot(kind, by=by)
