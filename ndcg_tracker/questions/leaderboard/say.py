"""A leaderboard, of runs or of systems on a suite, for people, for programs and for papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Literal

from ndcg_tracker.compare.results import LabelSetRef, RunRef
from ndcg_tracker.compare.say_tables import MACRO, labels_text, whose
from ndcg_tracker.metrics.language.dialects import familiar_name
from ndcg_tracker.questions.leaderboard.decide import Leaderboard, MetricBoard, Standing
from ndcg_tracker.render.formats import Said, as_object, fields_of, shape_of
from ndcg_tracker.render.latex import EMPHASIS, latex_text, table_latex
from ndcg_tracker.render.report import BLANK, Column, Report, Table, columns, unseen
from ndcg_tracker.render.terminal import Painted
from ndcg_tracker.rules import refuse
from ndcg_tracker.storage.records import NO_LABELS_HERE
from ndcg_tracker.words.notes import first_of_kinds, told
from ndcg_tracker.words.texts import counted, percent_span, points, queries, units

LeaderboardFormat = Literal["text", "json", "markdown", "csv", "latex", "html"]
MOST_LETTERS = 26
MOST_COLUMNS = 8
_TESTS = {
    "t": "two-sided paired t-test, Holm-corrected over all pairs of runs of a metric",
    "permutation": "sign flips, corrected over all pairs of runs of a metric by the largest t",
}


@dataclass(frozen=True, slots=True)
class _Line:
    """A run, or a system of a suite, under one metric: what the columns of a leaderboard read.

    ``place``: from 0. ``names``, ``signs``: of all lines. ``labels``: None for those of several datasets.
    """

    place: int
    standing: Standing
    names: Sequence[str]
    signs: Sequence[str]
    of: MetricBoard
    row: RunRef
    board: Leaderboard
    dataset: str
    labels: LabelSetRef | None


_RANKS = "the places that it could hold, given the tests (95%, all together)"
_BETTER_THAN = "the letters of those that it is significantly better than"


def _letters(line: _Line) -> str | None:
    return better_than(line.standing, line.signs) or None


_STANDING = (
    Column("verdict", BLANK, "verdict", of=lambda line: _verdict(line.standing)),
    *unseen("rank=standing.rank rank_low=standing.rank_low rank_high=standing.rank_high"),
    Column("", "ranks", "count", _RANKS, of=lambda line: ranks(line.standing)),
    *unseen("is_tied_with_best=standing.is_tied_with_best"),
    Column("n_better_than", of=lambda line: len(line.standing.better_than)),
    Column("better_than", of=lambda line: [line.names[place] for place in line.standing.better_than]),
)
BETTER_THAN = Column("", "better than", "text", _BETTER_THAN, of=_letters, is_spare=True, is_superscript=True)
_RUN = (
    Column("", BLANK, "id", of=lambda line: line.signs[line.place]),
    Column("run", "run", "id", of="row.name", marked_by=("is_tied_with_best",)),
    *unseen("run_id=row.run_id dataset label_set_version=labels.version"),
    *unseen("metric=of.metric slice=of.value n=of.n"),
)
_INTERVAL = Column("ci", "95% interval", "interval", of="standing.ci", is_spare=True)
_JUDGED = Column("judged", kind="share", of="standing.judged")


_ON_SUITE = (
    Column("micro", "micro", "mean", "each query counts once", of="standing.others.micro.mean"),
    Column("micro_ci", kind="interval", of="standing.others.micro.ci"),
    Column("over_datasets", kind="interval", of="standing.others.over_datasets.ci"),
)
"""Further means of a system."""
_INTERVALS = (
    Column("run", "run", "id", of="row.name"),
    Column("ci", "macro, other queries", "interval", of="standing.ci"),
    Column("over_datasets", "macro, other datasets", "interval", of="standing.others.over_datasets.ci"),
    Column("micro_ci", "micro, other queries", "interval", of="standing.others.micro.ci"),
)


def leaderboard_said(board: Leaderboard) -> Said:
    """Return the output for a leaderboard; CSV has a row per metric, slice and run."""
    return Said(
        board,
        lambda: [leaderboard_report(board)],
        lambda: Table.of(
            _columns(board), [line for of in (*board.metrics, *board.slices) for line in _lines(board, of)]
        ),
        further={"latex": lambda: leaderboard_latex(board)},
    )


def _lines(board: Leaderboard, of: MetricBoard) -> list[_Line]:
    names, signs = [run.name for run in board.runs], letters(len(board.runs))
    labels = of.labels if board.is_suite else board.labels
    dataset = board.dataset if of.labels is None else of.value or ""
    return [
        _Line(place, standing, names, signs, of, run, board, dataset, labels)
        for place, (run, standing) in enumerate(zip(of.runs or board.runs, of.standings, strict=True))
    ]


def _columns(board: Leaderboard) -> list[Column]:
    """Return the columns of a run under one metric."""
    first = board.metrics[0]
    judged = f"judged@{first.cutoff}" if first.cutoff else "judged"
    is_apart = first.judged is not None and first.judged.is_apart
    measures = [Column(name, name, of=partial(_measure, name)) for name in board.measures]
    shared = replace(_JUDGED, title=judged if is_apart else None)
    judge, more = Column("judge", of="labels.judge"), _ON_SUITE if board.is_suite else ()
    mean, interval = _mean(first, metric_name(board, first)), replace(_INTERVAL, title=None) if more else _INTERVAL
    return [*_RUN, mean, interval, *_STANDING, BETTER_THAN, *more, shared, judge, *measures]


def metric_name(board: Leaderboard, of: MetricBoard) -> str:
    """Return the name of a metric of runs, or of its mean over a suite."""
    return (MACRO if board.is_suite else "") + familiar_name(of.metric, of.requested_as)


def _mean(of: MetricBoard, name: str) -> Column:
    return Column("mean", name, "mean", of="standing.mean", best=of.direction)


def _measure(name: str, line: _Line) -> float | None:
    return line.board.measures[name][line.place]


def _within(column: Column, place: str | int) -> Column:
    """Return a column of one part of a row: of the part under a name, or at a place."""
    return replace(column, of=lambda row: column.value(row[place]))


def leaderboard_table(board: Leaderboard, place: int = 0) -> Table:
    """Return the table for people: a row per run, the first metric with all columns, the others next to it.

    That of a suite has a metric and its means on the datasets; ``place``: of the metric.
    """
    first, others = board.metrics[place], [(of, metric_name(board, of)) for of in board.metrics[1:]]
    if board.is_suite:
        others = [(of, of.value or "") for of in board.slices if of.metric == first.metric]
    heads: list[Column] = []
    for column in (of for of in _columns(board) if of.title is not None or of.key == "is_tied_with_best"):
        own = _mean(first, metric_name(board, first)) if column.key == "mean" else column
        heads.append(_within(own, 0))
        for number, (of, name) in enumerate(others if column is BETTER_THAN else (), 1):
            beaten = () if board.is_suite else (_within(replace(BETTER_THAN, legend=""), number),)
            heads += [_within(replace(_mean(of, name), is_spare=board.is_suite), number), *beaten]
    return Table.of(heads, list(zip(*(_lines(board, of) for of in (first, *(of for of, _ in others))), strict=True)))


@shape_of(MetricBoard)
def _metric_shape(board: MetricBoard) -> Mapping[str, object]:
    hidden = [name for name in ("value", "labels") if getattr(board, name) is None]
    return fields_of(board, "standings", "pairs", "runs", *hidden)


@shape_of(Leaderboard)
def _board_shape(board: Leaderboard) -> Mapping[str, object]:
    def of_metric(of: MetricBoard) -> dict[str, object]:
        rows = Table.of(_columns(board), _lines(board, of))
        return {**as_object(of), "rows": rows, "pairs": of.pairs}

    hidden = () if board.attribute is not None else ("attribute", "slices")
    unasked = () if board.measures else ("measures",)
    of_each = ("labels",) if board.is_suite else ()
    shape = fields_of(board, "is_suite", *hidden, *unasked, *of_each) | {"metrics": [*map(of_metric, board.metrics)]}
    shape |= {"suite": board.dataset} if board.is_suite else {}
    return shape if hidden else shape | {"slices": [*map(of_metric, board.slices)]}


def letters(n: int) -> list[str]:
    """Return a letter for each of n runs, or its number if there are more runs than letters."""
    return [chr(ord("a") + place) if n <= MOST_LETTERS else str(place + 1) for place in range(n)]


def better_than(standing: Standing, names: Sequence[str]) -> str:
    """Return the letters of the runs that a run is significantly better than; three or more in a row become a range.

    >>> better_than(Standing(0.5, None, 1, 1, 1, True, (1, 2, 3, 5)), "abcdef")
    'b-d f'
    """
    parts = []
    for _, grouped in groupby(enumerate(standing.better_than), lambda pair: pair[1] - pair[0]):
        places = [place for _, place in grouped]
        if len(places) > 2:
            parts.append(f"{names[places[0]]}-{names[places[-1]]}")
        else:
            parts += [names[place] for place in places]
    return " ".join(parts)


def _verdict(standing: Standing) -> str | None:
    """Return the verdict on a run against the one with the best mean, None for the best."""
    if standing.rank == 1:
        return None
    return "no_difference_detected" if standing.is_tied_with_best else "regressed"


def ranks(standing: Standing) -> str:
    """Return the range of ranks that a run may have.

    >>> ranks(Standing(0.5, None, 1, 1, 3, True, ()))
    '1-3'
    """
    low, high = standing.rank_low, standing.rank_high
    return str(low) if low == high else f"{low}-{high}"


def leaderboard_report(board: Leaderboard) -> Report:
    """Return the report of a leaderboard."""
    first = board.metrics[0]
    names = [metric_name(board, metric) for metric in board.metrics]
    numbers = dict.fromkeys(metric.n for metric in board.metrics)
    groups = [f"{metric.n:,} by {name}" for metric, name in zip(board.metrics, names, strict=True)]
    facts = [
        ("labels", _labels(board)),
        (units(), ", ".join(groups) if len(numbers) > 1 else " ".join(f"{n:,}" for n in numbers)),
        ("test", f"{_test(board)}; p < 0.05"),
    ]
    if first.judged is not None and not first.judged.is_apart:
        judged = f"judged@{first.cutoff}" if first.cutoff else "judged"
        facts.insert(1, (judged, percent_span(first.judged.least, first.judged.greatest)))
    styles = [f"bold: the best run by {names[0]}, and those with no difference detected to it; coloured: the best mean"]
    tables = [leaderboard_table(board, place) for place in range(len(board.metrics) if board.is_suite else 1)]
    tables += [_slice_table(board)] if board.slices and not board.is_suite else []
    details = [Table.of(_INTERVALS, _lines(board, of), f"95% intervals of {of.metric}") for of in board.metrics]
    return Report(
        _headline(board, names[0]),
        tables=tables,
        styles=styles,
        facts=facts,
        notes=first_of_kinds(board.notes) if board.is_suite else [*map(told, board.notes)],
        details=details if board.is_suite else (),
    )


def _labels(board: Leaderboard) -> str:
    """Return the labels, of each dataset of a suite."""
    if not board.is_suite:
        return labels_text(board.labels)
    each = {of.value: f"version {of.labels.version}{whose(of.labels)}" for of in board.slices if of.labels is not None}
    return ", ".join(f"{dataset} {version}" for dataset, version in each.items())


def _test(board: Leaderboard) -> str:
    """Return the test of the pairs; no test applies to runs with equal results."""
    any_equal = any(pair.p_value is None for metric in board.metrics for pair in metric.pairs)
    of_arms = f"two-sided t-test over {units()} and runs, crossed, Holm-corrected over all pairs of arms of a metric"
    test = of_arms if any(run.runs for run in board.runs) else _TESTS[board.test]
    return test + (", without pairs of equal results" if any_equal else "")


def _headline(board: Leaderboard, metric: str) -> str:
    first = board.metrics[0]
    best = board.runs[0].name
    standings = zip(board.runs, first.standings, strict=True)
    tied = [run.name for run, standing in standings if standing.is_tied_with_best][1:]
    what = "system" if board.is_suite else "arm" if any(run.runs for run in board.runs) else "run"
    judge = "" if board.labels.judge in ("", *NO_LABELS_HERE) else f", judge {board.labels.judge!r}"
    on = f"{counted(len({of.value for of in board.slices}), 'dataset')}, " if board.is_suite else ""
    where = f"{'suite ' if board.is_suite else ''}{board.dataset} ({on}{queries(first.n)}{judge})"
    leads = f"{counted(len(board.runs), what)} on {where}: {best} leads by {metric}"
    if not tied:
        return f"{leads}, and every other {what} is worse"
    shown = ", ".join(tied[:3]) + (f" and {len(tied) - 3} more" if len(tied) > 3 else "")
    return f"{leads}; no difference detected to {shown}"


def _slice_table(board: Leaderboard) -> Table:
    """Return the first metric of each run on the groups of each value; few runs have a column each, many a row each."""
    title = f"{familiar_name(board.metrics[0].metric, board.metrics[0].requested_as)} by {board.attribute}"
    cells = [[_slice_cell(standing) for standing in of_slice.standings] for of_slice in board.slices]
    names = [run.name for run in board.runs]
    after = "*: significantly worse than the best there"
    if len(names) <= MOST_COLUMNS:
        heads = [*columns(board.attribute or "", ">n"), *(Column(name, right=True) for name in names)]
        rows: list[list[object]] = [
            [of_slice.value, f"{of_slice.n:,}", *row] for of_slice, row in zip(board.slices, cells, strict=True)
        ]
        return Table(heads, rows, title, after=after)
    heads = [Column("run"), *(Column(f"{of_slice.value} ({of_slice.n:,})", right=True) for of_slice in board.slices)]
    rows = [[name, *(row[place] for row in cells)] for place, name in enumerate(names)]
    return Table(heads, rows, title, after=after)


def _slice_cell(standing: Standing) -> Painted:
    return Painted(
        f"{points(standing.mean)}{' ' if standing.is_tied_with_best else '*'}", "good" if standing.rank == 1 else None
    )


def leaderboard_latex(board: Leaderboard) -> str:
    """Return a table for a paper: booktabs, the best mean bold, the second underlined, letters as superscripts."""
    refuse("leaderboard", {"by": None if board.is_suite else board.attribute, "paper": True})
    n = [str(metric.n) for metric in board.metrics]
    several = "" if len({*n}) == 1 else ", in the order of columns"
    n_queries = f"$n = {', '.join(n) if several else n[0]}$ {units('query')}{several}"
    is_zero = any(note.kind in ("in_no_run", "groups_lacking") and note.command for note in board.notes)
    zero = f" {units('query').capitalize()} missing from a run count as 0." if is_zero else ""
    where = f"{'suite ' if board.is_suite else ''}{latex_text(board.dataset)}"
    macro = " Macro: each dataset counts once." if board.is_suite else ""
    caption = (
        f"Means on {where} ({n_queries}).{macro} {EMPHASIS} A superscript "
        f"names the runs that a run is significantly better than ({_test(board)}, $p < 0.05$).{zero}"
    )
    n_tables = len(board.metrics) if board.is_suite else 1
    return "\n".join(table_latex(leaderboard_table(board, place), caption) for place in range(n_tables))
