"""``ndcg-track plot``: the output of commands as pictures."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.asked import DEFAULT_METRIC, Everyday
from ndcg_tracker.cli import options
from ndcg_tracker.cli.parameters import Asked, takes, with_parameters
from ndcg_tracker.questions.explain import explain as ask_explain
from ndcg_tracker.questions.history import history as ask_history

if TYPE_CHECKING:
    from ndcg_tracker.render.chart import Chart

app = options.command_group("Draw comparisons, lists and histories.")


ComparisonKind = Literal["every", "scatter", "histogram", "forest", "heatmap"]
"""The kinds of pictures of a comparison."""


ThemeName = Literal["light", "dark"]
"""The colours of a picture."""


Output = Annotated[str, Everyday("File of the picture: .svg, .png, .pdf or .html.", ("--output", "-o"), metavar="FILE")]
Width = Annotated[
    str | None,
    Everyday("The width: pixels, or a length such as 84mm, 3.3in or 240pt.", metavar="WIDTH", default="640 pixels"),
]
Theme = Annotated[ThemeName, Everyday("The colours; an .html picture follows the reader's screen.")]

By = Annotated[str | None, Everyday("Attribute of groups, such as product.", metavar="ATTRIBUTE")]


def drawn(
    *functions: Callable[..., Any], but: Iterable[str] = (), runs: Sequence[str] = ()
) -> Callable[[Callable[..., Chart]], None]:
    """Make a command from a function that returns a chart; its options are those of ``functions`` (see ``takes``).

    The command refuses a picture that it cannot write before it reads anything.
    """

    def decorate(chart_of: Callable[..., Chart]) -> None:
        def command(asked: Asked, *, output: str, width: str | None, theme: ThemeName, **own: Any) -> None:
            from ndcg_tracker.render.chart import checked_ending, drawing, pixels_of
            from ndcg_tracker.render.whole_file import whole_file

            ending = checked_ending(output)
            if width is not None:
                pixels_of(width)
            with drawing(ending) as converted, options.tracker() as tracker:
                chart = chart_of(tracker, asked, **own)
                content = chart.content(ending, theme=theme, width=width, converted=converted)
            with whole_file(output, "--output") as write:
                write(content)
            options.say(f"wrote {shlex.quote(output)}")

        hints = get_type_hints(chart_of, localns={"Tracker": object, "Chart": object}, include_extras=True)
        asked, *own = list(inspect.signature(chart_of).parameters.values())[1:]
        option = partial(inspect.Parameter, kind=inspect.Parameter.KEYWORD_ONLY)
        parameters = [
            asked,
            *(parameter.replace(annotation=hints[parameter.name]) for parameter in own),
            option("output", annotation=Output),
            option("width", default=None, annotation=Width),
            option("theme", default="light", annotation=Theme),
        ]
        with_options = takes(*functions, but=but, rules=f"plot {chart_of.__name__}", runs=runs)(
            with_parameters(command, parameters, chart_of)
        )
        app.command(chart_of.__name__, help=inspect.getdoc(chart_of))(with_options)

    return decorate


OF_REPORTS = ("equivalence", "top", "tie_bounds")
"""Options of a comparison that a chart does not show."""
OF_SUITE = ("suite", "by_tag")
BOTH = ("baseline", "candidates")
"""The arguments that name the runs of a comparison."""


@drawn(Tracker.compare, but=OF_REPORTS, runs=BOTH)
def compare(
    tracker: Tracker,
    asked: Asked,
    kind: Annotated[
        ComparisonKind | None,
        Everyday(
            "Groups from worst to best, run against run, deltas, intervals, or all pairs.",
            default="every; on a suite, forest",
        ),
    ] = None,
    by: By = None,
) -> Chart:
    """Draw a comparison, group by group unless --kind says otherwise.

    The command draws the first metric; --by colours groups by an attribute. The kinds forest and heatmap draw several
    candidates. --suite draws the systems on every dataset, and on all together.

    Example: ndcg-track plot compare bm25 dense -o compare.svg
    """
    one = {"metrics": DEFAULT_METRIC} if "suite" in asked.named and "metrics" not in asked.named else {}
    return asked.of(tracker.compare, top=0, **one).plot(kind or "every", by=by)


@drawn(Tracker.compare, but=(*OF_REPORTS, *OF_SUITE, "test", "ci"), runs=BOTH)
def slices(tracker: Tracker, asked: Asked, by: By = None) -> Chart:
    """Draw slices with their intervals, by one attribute or by all.

    Example: ndcg-track plot slices bm25 dense --by product -o slices.svg
    """
    return asked.of(tracker.compare, top=0).plot("slices", by=by)


@drawn(Tracker.compare, but=(*OF_REPORTS, *OF_SUITE, "test", "ci", "by"), runs=BOTH)
def cutoffs(tracker: Tracker, asked: Asked) -> Chart:
    """Draw a metric of both runs from cutoff 1 to 100.

    Example: ndcg-track plot cutoffs bm25 dense -o cutoffs.svg
    """
    return asked.of(tracker.compare, top=0).plot("cutoffs")


@drawn(ask_explain, but=("by", "top"), runs=("baseline", "candidate"))
def explain(
    tracker: Tracker,
    asked: Asked,
    group: Annotated[str, Everyday("The group.", metavar="KEY")],
) -> Chart:
    """Draw both lists of a group, with a line joining each item.

    Example: ndcg-track plot explain bm25 dense --group 'light tent' -o tent.svg
    """
    return asked.of(tracker.explain, group=group).plot()


@drawn(ask_history, but=["new_steps"])
def history(tracker: Tracker, asked: Asked) -> Chart:
    """Draw a metric over runs, with its steps and the changes of labels.

    --suite draws the macro mean of the systems.

    Example: ndcg-track plot history -m ndcg@10 -o history.svg
    """
    from ndcg_tracker.questions.history.gather import HistoryFilter

    wanted = HistoryFilter(**asked.part(HistoryFilter))
    return tracker.history_report(**{**asked.part(tracker.history_report), "wanted": wanted}).plot()
