"""The history of a metric over runs, as a report, as rows and as a chart, and the filter of its runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict, cast

from ndcg_tracker.compare.labels_or_ranking import LabelsOrRanking
from ndcg_tracker.compare.results import JudgedSpan
from ndcg_tracker.compare.say_where import carried_words
from ndcg_tracker.render.formats import Said
from ndcg_tracker.render.html import BETTER, WORSE, Spec, chart, layer, nominal, number, tooltip
from ndcg_tracker.render.report import BLANK, Column, Line, Report, Table, unseen
from ndcg_tracker.render.terminal import shortened_apart, shortened_inside
from ndcg_tracker.words.notes import Note, told
from ndcg_tracker.words.texts import (
    BREAK,
    commit_text,
    counted,
    interval,
    lines_of_blocks,
    p_equation,
    percent,
    percent_span,
    points,
    sparkline,
    units,
)

if TYPE_CHECKING:
    pass

SPARKLINE_BLOCKS = 60
"""The largest width of a sparkline; each block of a longer history stands for several runs."""
MOST_PARAMETERS = 6
"""How many changed parameters a sentence names."""
VALUE_WIDTH = 40
"""The largest width of a parameter's value in a sentence."""
MOST_CHANGES = 3
"""How many of the latest changes of labels are named next to a sparkline."""
MOST_SENTENCES = 5
"""How many steps and drifts a screen tells, by default the largest ones."""


class HistoryRow(TypedDict):
    """One metric of one run.

    ``ci``: (low, high) or None. ``step``: whether the mean stepped at this run. ``delta``: the paired difference to the
    run before, None if they cannot be compared. ``p_adjusted``: the p-value of no difference, corrected over the
    history. ``step_change`` and ``step_ci``: how far the mean stepped; ``step_between``: the first and the last run
    that may be the first one after the step. ``step_before``: the run that this one was compared with;
    ``step_parameters``: the parameters that differ from those of that run, as (before, after), None if one run lacks
    it. ``step_possible``: not a step, but a change that looks like one, with the same numbers. ``requested_as``: the
    name by which the metric was requested. ``drift_change`` and ``drift_ci``: how far the mean drifted slowly until
    this run; ``drift_between``: the first and the last run of the drift; ``drift_runs``: how many runs these are.
    ``direction``: which values of the metric are better. ``suite``: the suite of which this is a macro mean.
    ``judged``: the judged share of the first ranks, down to ``cutoff``; ``goes_with_judged``: that share before and
    after a step or drift that unjudged items alone may have caused. ``judge``: who gave the labels, "" for the unnamed
    judge. ``step_or_drift``: whether a slow drift explains the step at least as well. ``n_vanished``: how many
    groups vanished at this run, which count as 0; below 0 if groups came. ``label_set_versions``: of each dataset of a
    suite. ``labels_or_ranking``: what labels and ranking did since the run before, which has other labels: its name as
    ``since``, ``labels``, ``ranking`` and ``interaction`` (see ``LabelsOrRanking``).
    ``step_where``: the slices that stand out at the step, as ``where`` of a comparison, None without attributes;
    ``step_compare``: the command that compares both sides.
    """

    run: str
    run_id: int
    created_at_utc: str
    metric: str
    mean: float | None
    ci: Sequence[float] | None
    step: NotRequired[bool]
    delta: NotRequired[float | None]
    p_adjusted: NotRequired[float | None]
    git_commit: NotRequired[str | None]
    label_set_version: NotRequired[int]
    tags: NotRequired[Mapping[str, object]]
    parameters: NotRequired[Mapping[str, object]]
    step_change: NotRequired[float | None]
    step_ci: NotRequired[Sequence[float] | None]
    step_between: NotRequired[Sequence[str] | None]
    step_before: NotRequired[str | None]
    step_parameters: NotRequired[Mapping[str, Sequence[object]] | None]
    step_possible: NotRequired[bool]
    requested_as: NotRequired[str]
    drift_change: NotRequired[float | None]
    drift_ci: NotRequired[Sequence[float] | None]
    drift_between: NotRequired[Sequence[str] | None]
    drift_runs: NotRequired[int | None]
    direction: NotRequired[str]
    suite: NotRequired[str]
    judged: NotRequired[float | None]
    goes_with_judged: NotRequired[Sequence[float] | None]
    cutoff: NotRequired[int | None]
    judge: NotRequired[str]
    step_or_drift: NotRequired[bool]
    n_vanished: NotRequired[int]
    label_set_versions: NotRequired[Sequence[int]]
    labels_or_ranking: NotRequired[Mapping[str, Any] | None]
    step_where: NotRequired[Mapping[str, Any] | None]
    step_compare: NotRequired[str | None]


def pairs_text(pairs: Mapping[str, object] | None) -> str:
    """Return pairs as a user types them.

    >>> pairs_text({"k1": "0.9", "b": 0.4})
    'k1=0.9 b=0.4'
    """
    return " ".join(f"{key}={value}" for key, value in (pairs or {}).items())


def changes_text(changes: Mapping[str, Sequence[object]] | None) -> str:
    """Return which parameters changed, each with its value before and after, which is empty if there was none.

    >>> changes_text({"k1": ("0.9", "1.2"), "b": (None, "0.4")})
    'k1=0.9->1.2 b=->0.4'
    """
    texts = {key: ["" if value is None else str(value) for value in pair] for key, pair in (changes or {}).items()}
    return " ".join(f"{key}={before}->{after}" for key, (before, after) in texts.items())


def _texts(key: str, words: Callable[[Any], str]) -> Column:
    return Column(key, of=lambda row: words(row.get(key)))


COLUMNS = (
    Column("run", "run", "id"),
    Column("run_id"),
    Column("created_at_utc", "created (UTC)", "text", is_time=True),
    Column("metric"),
    Column("mean", "mean", "mean"),
    Column("ci", "95% interval", "interval"),
    Column("", "change", "delta", of="change", marked_by=("verdict",)),
    Column("", BLANK, "text", of="happened"),
    *unseen("step delta p_adjusted git_commit label_set_version"),
    _texts("tags", pairs_text),
    _texts("parameters", pairs_text),
    *unseen("step_change step_ci_low=step_ci.0 step_ci_high=step_ci.1"),
    *unseen("step_first=step_between.0 step_last=step_between.1 step_before"),
    _texts("step_parameters", changes_text),
    *unseen("step_possible requested_as drift_change drift_ci_low=drift_ci.0 drift_ci_high=drift_ci.1"),
    *unseen("drift_first=drift_between.0 drift_last=drift_between.1 drift_runs direction"),
    Column("judged", None, "share"),
    *unseen("judged_before=goes_with_judged.0 judge step_or_drift n_vanished"),
    *unseen("labels_change=labels_or_ranking.labels ranking_change=labels_or_ranking.ranking verdict step_compare"),
)
"""What a history shows of a run: those with a title for people, those with a key for programs."""


def history_table(rows: Sequence[HistoryRow], columns: Sequence[Column] = COLUMNS) -> Table:
    """Return the table of a metric over runs."""
    told = [_told(row, before) for before, row in pairwise((None, *rows)) if row is not None]
    return Table.of(columns, told, by_time=True)


def _told(row: HistoryRow, previous: HistoryRow | None) -> dict[str, object]:
    """Return a row with its change to the run before, what happened there, and whether it moved for better or worse."""
    mean, before = row["mean"], None if previous is None else previous["mean"]
    change = row["delta"] if "delta" in row else None if mean is None or before is None else mean - before
    happened = "step" if row.get("step") else "step?" if row.get("step_possible") else ""
    way = gain_of(row, row.get("step_change") or change)
    if not happened and row.get("drift_between") is not None:
        happened, way = "drift", gain_of(row, row.get("drift_change"))
    is_sure = happened in ("step", "drift") and row.get("goes_with_judged") is None
    verdict = None if way is None or not is_sure else "regressed" if way < 0 else "improved"
    return {**row, "change": change, "happened": happened or new_labels(previous, row) or None, "verdict": verdict}


def history_said(rows: Sequence[HistoryRow], *, notes: Sequence[Note] = (), newest_first: bool = False) -> Said:
    """Return the output for a history.

    Parameters: ``rows``: oldest run first; several metrics are shown one after the other. ``notes``: what a reader of
    the rows must know. ``newest_first``: show the latest steps instead of the largest. People see a sparkline of all
    runs, sentences on the steps, however old, and the change to the run before. JSON and CSV contain all rows
    unchanged, without notes.
    """

    def reports() -> list[Report]:
        of_metrics = [
            _report(metric, [row for row in rows if row["metric"] == metric], newest_first)
            for metric in dict.fromkeys(row["metric"] for row in rows)
        ]
        return [*of_metrics, *([Report(notes=[told(note) for note in notes])] if notes else [])]

    return Said(rows, reports, lambda: history_table(rows), blank_lines=1)


def new_steps_said(new: Sequence[HistoryRow], newest: HistoryRow, notes: Sequence[Note] = ()) -> Said:
    """Return the output for the new steps of a history; ``newest``: the run that would have shown them.

    People see a sentence for each step, or that there is none; JSON and CSV have their rows.
    """
    none = f"no new step at {newest['run']} (run {newest['run_id']})"
    first, *further = [step_sentence(row) for row in new] or [none]
    report = Report(f"{newest['metric']}: {first}", sentences=further, notes=[told(note) for note in notes])
    return replace(history_said(new), reports=lambda: [report])


def _report(metric: str, rows: Sequence[HistoryRow], newest_first: bool) -> Report:
    sentences = [sentence for sentence, *_ in happened_between(rows, newest_first=newest_first)]
    span = JudgedSpan.of(rows[-1].get("cutoff"), (row.get("judged") for row in rows))
    is_apart = span is not None and span.is_apart
    judged = _judged(rows[-1]) if is_apart else None
    heads = [replace(column, title=judged) if column.key == "judged" else column for column in COLUMNS]
    facts = [("also", sentence) for sentence in sentences[MOST_SENTENCES:]]
    if span is not None and not is_apart and span.least < 1:
        facts.append((_judged(rows[-1]), percent_span(span.least, span.greatest)))
    suite, judge = rows[-1].get("suite"), rows[-1].get("judge")
    steps = [row["run"] for row in rows if row.get("step")][-MOST_CHANGES:]
    stepped = f"stepped at {', '.join(steps)}" if steps else ""
    return Report(
        (metric if suite is None else f"macro {metric} on suite {suite}") + (f" (judge {judge!r})" if judge else ""),
        asides=list(filter(None, (_line(rows), _asked_for(metric, rows), stepped))),
        sentences=sentences[:MOST_SENTENCES],
        tables=[history_table(rows, heads)],
        lines=where_lines(rows),
        facts=facts,
    )


def where_lines(rows: Sequence[HistoryRow]) -> list[Line]:
    """Return which slice carries each of the latest steps, and the command that shows more; none without attributes."""
    stepped = [row for row in rows if row.get("step_where") is not None and row.get("step_compare")]
    lines = []
    for row in stepped[-MOST_SENTENCES:]:
        found = (row.get("step_where") or {})["found"]
        words = carried_words(found[0], row.get("step_change")) if found else "no slice stands out"
        lines.append(Line(f"{row['run']}: ", f"{words}:", row.get("step_compare") or ""))
    return lines


def _judged(row: HistoryRow) -> str:
    """Return the name of the judged share of a run's first ranks."""
    return f"judged@{row.get('cutoff')}" if row.get("cutoff") else "judged"


def _with_judged(row: HistoryRow) -> str:
    """Return the change of the judged share that goes with a step or drift, "" if there is none."""
    shares = row.get("goes_with_judged")
    return "" if shares is None else f"; goes with {_judged(row)}: {percent(shares[0])} to {percent(shares[1])}"


def happened_between(rows: Sequence[HistoryRow], *, newest_first: bool = False) -> list[tuple[str, str | None, str]]:
    """Return a sentence for each step, drift and run at which groups vanished or came, with the runs before and after.

    The largest come first and possible ones last, or the latest come first.
    """
    told: list[tuple[bool, float, tuple[str, str | None, str]]] = []
    before = {row["run"]: previous["run"] for previous, row in pairwise(rows)}
    for row in reversed(rows):
        run = row["run"]
        last = row.get("step_before") or before.get(run)
        if row.get("step_between") is not None:
            is_possible, size = bool(row.get("step_possible")), -abs(row.get("step_change") or 0.0)
            told.append((is_possible, size, (step_sentence(row), last, run)))
        elif row.get("n_vanished"):
            change = points(row.get("delta"), signed=True)
            alone = f"{vanished(row)} at {run} (run {row['run_id']}): {change}"
            told.append((False, -abs(row.get("delta") or 0.0), (alone, last, run)))
        drifted = row.get("drift_between")
        if drifted is not None:
            told.append((False, -abs(row.get("drift_change") or 0.0), (drift_sentence(row), *drifted)))
        parts = row.get("labels_or_ranking")
        if parts is not None:
            split = LabelsOrRanking(**parts)
            size = -abs(split.labels + split.ranking)
            told.append((False, size, (f"{labels_of(row)} at {run}: {split.words}", split.since, run)))
    return [event for *_, event in (told if newest_first else sorted(told, key=lambda entry: entry[:2]))]


def _asked_for(metric: str, rows: Sequence[HistoryRow]) -> str:
    """Return the names by which a metric was requested, "" if it is shown by its only name."""
    texts = list(dict.fromkeys(row["requested_as"] for row in rows if "requested_as" in row))
    return "" if texts in ([], [metric]) else f"(requested as {', '.join(texts)})"


def _line(rows: Sequence[HistoryRow]) -> str:
    """Return the sparkline, broken where the labels change, and how many runs a block of a long history stands for."""
    lines, n_runs = lines_of_blocks([row["mean"] for row in rows], list(map(labels_of, rows)), SPARKLINE_BLOCKS)
    words = [sparkline(*lines)]
    if len(rows) > SPARKLINE_BLOCKS:
        words.append(f"{len(rows):,} runs, {n_runs} per block")
    new = [f"{label} from {row['run']}" for before, row in pairwise(rows) if (label := new_labels(before, row))]
    if new:
        words.append(f"{BREAK} {', '.join(new[-MOST_CHANGES:])}")
    return "  ".join(words)


def labels_of(row: HistoryRow) -> str:
    """Return the version of a run's labels in words, that of each dataset for a suite."""
    return "labels " + " ".join(map(str, row.get("label_set_versions", [row.get("label_set_version")])))


def new_labels(before: HistoryRow | None, row: HistoryRow) -> str:
    """Return the version of a run's labels in words if the run before it has another, else ""."""
    return labels_of(row) if before is not None and labels_of(row) != labels_of(before) else ""


def vanished(row: HistoryRow) -> str:
    """Return how many groups vanished or came at a run, "" if none did."""
    n = row.get("n_vanished", 0)
    return f"{counted(abs(n), 'group')} {'vanished' if n > 0 else 'came'}" if n else ""


def gain_of(row: HistoryRow, change: float | None) -> float | None:
    """Return by how much a change of a run's metric is an improvement."""
    return change if change is None or row.get("direction") != "lower" else -change


def step_sentence(row: HistoryRow) -> str:
    """Return what is known of a step: its direction, its run, what changed there, its size, its p-value, and its range.

    >>> step_sentence({"run": "r17", "run_id": 17, "created_at_utc": "", "metric": "ndcg@10", "mean": 0.5, "ci": None,
    ...     "step_change": -0.0123, "step_ci": (-0.0156, -0.009), "p_adjusted": 1e-9, "git_commit": "abc1234def",
    ...     "step_before": "r16", "step_parameters": {"lr": ("0.1", "0.3")}})
    'stepped down at r17 (run 17, commit abc1234, lr 0.1 → 0.3): -0.0123 [-0.0156, -0.0090], p <1e-4'
    """
    way = "down" if (row.get("step_change") or 0.0) < 0 else "up"
    commit = row.get("git_commit")
    details = [f"run {row['run_id']}", *([f"commit {commit_text(commit)}"] if commit else []), *_parameters(row)]
    ci = row.get("step_ci")
    change = points(row.get("step_change"), signed=True)
    if ci is not None:
        change += f" {interval((ci[0], ci[1]), signed=True)}"
    sentence = f"stepped {way} at {row['run']} ({', '.join(details)}): {change}"
    is_possible = bool(row.get("step_possible"))
    if not (is_possible or row.get("n_vanished")):  # the p-value of a possible step is large and says nothing
        sentence += f", {p_equation(row.get('p_adjusted'))}"
    first, last = row.get("step_between") or (row["run"], row["run"])
    if first != last:
        sentence += f"; the step lies somewhere between {first} and {last}"
    if row.get("step_or_drift"):
        sentence += "; a slow drift explains it at least as well"
    sentence += _with_judged(row)
    sentence = f"perhaps {sentence}; too few {units()}, or too few that moved, to be sure" if is_possible else sentence
    return f"{moved}: {sentence}" if (moved := vanished(row)) else sentence


def drift_sentence(row: HistoryRow) -> str:
    """Return what is known of a drift that ends at this run.

    >>> drift_sentence({"run": "r400", "run_id": 400, "created_at_utc": "", "metric": "ndcg@10", "mean": 0.5,
    ...     "ci": None, "drift_change": -0.031, "drift_ci": (-0.0345, -0.0275), "drift_between": ("r1", "r400"),
    ...     "drift_runs": 400})
    'falls by 0.0310 [0.0275, 0.0345] over 400 runs, from r1 to r400, slowly rather than in steps'
    """
    change, ci = row.get("drift_change") or 0.0, row.get("drift_ci")
    sign = -1 if change < 0 else 1
    size = points(abs(change))
    if ci is not None:
        size += f" {interval(cast('tuple[float, float]', tuple(sorted((sign * ci[0], sign * ci[1])))))}"
    first, last = row.get("drift_between") or (row["run"], row["run"])
    goes_with = _with_judged(row)
    way = "falls" if change < 0 else "rises"
    way = f"the mean, with unjudged items worth nothing, {way}" if goes_with else way
    n_runs = row.get("drift_runs") or 0
    return f"{way} by {size} over {n_runs:,} runs, from {first} to {last}, slowly rather than in steps{goes_with}"


def _parameters(row: HistoryRow) -> list[str]:
    """Return which parameters differ from those of the run before."""
    changed = row.get("step_parameters")
    if changed is None:
        return []
    if not changed:
        return [f"parameters as in {row.get('step_before')}"] if row.get("parameters") else []
    named = [f"{key} {_value(values[0])} → {_value(values[1])}" for key, values in changed.items()]
    n_more = len(named) - MOST_PARAMETERS
    return named if n_more <= 0 else [*named[:MOST_PARAMETERS], f"{n_more} more parameters"]


def _value(value: object) -> str:
    return "not given" if value is None else shortened_inside(str(value), VALUE_WIDTH)


MOST_RUNS = 400
"""How many of the latest runs are drawn."""


def history_chart(
    rows: Sequence[HistoryRow],
    metric: str,
    *,
    on: str = "",
    marked: Collection[str] = (),
    is_mean: bool = True,
) -> Spec:
    """Return the chart of a metric over runs with its 95% intervals, the steps and the changes of labels.

    ``on``: the dataset. ``marked``: the names of runs to highlight. ``is_mean``: False for one group.
    """
    shown = [row for row in rows if row["mean"] is not None][-MOST_RUNS:]
    table: list[dict[str, object]] = []
    n_breaks, n_news = 0, 0
    upper = max(((row["mean"], place) for place, row in enumerate(shown) if row["run"] in marked), default=None)
    for place, row in enumerate(shown):
        low, high = row["ci"] or (None, None)
        change = gain_of(row, row.get("step_change"))
        label = new_labels(shown[place - 1] if place else None, row)
        told_here = ", ".join(filter(None, (label, vanished(row))))
        n_breaks, n_news = n_breaks + bool(label), n_news + bool(told_here)
        table.append(
            {
                "place": place,
                "run": row["run"],
                "mean": row["mean"],
                "low": low,
                "high": high,
                "labels": labels_of(row).removeprefix("labels "),
                "stretch": n_breaks,
                "created": row["created_at_utc"],
                "news": told_here,
                "line": n_news % 3,
                "step": "" if not row.get("step") else WORSE if change is not None and change < 0 else BETTER,
                "marked": row["run"] if row["run"] in marked else "",
                "side": -1 if upper == (row["mean"], place) else 1.5,
            }
        )
    names = shortened_apart([str(row["run"]) for row in table], 20)
    title = f"History of {metric}{on and f' on {on}'}"
    words = "mean with its 95% interval, run by run"
    if len(shown) < len(rows):
        words += f"; the latest {len(shown):,} of {len(rows):,} runs"
    axis: Spec = {"title": "runs, oldest first", "grid": False, "tickMinStep": 1, "labelOverlap": True}
    axis |= {"labelExpr": "names[datum.value] || ''", "labelAngle": -30, "labelLimit": 130}
    axis |= {"values": list(range(len(shown)))} if len(shown) <= 12 else {}
    x = number("place", scale={"nice": False, "domain": [-0.5, max(0.5, len(shown) - 0.5)]}, axis=axis)
    y = number(title=f"mean {metric}" if is_mean else metric, scale={"zero": False}, axis={"tickCount": 5})
    shown_as = ("mean", "mean" if is_mean else metric, ".4f")
    ends = (("low", "from", ".4f"), ("high", "to", ".4f"))
    told = tooltip("run", shown_as, *ends, ("labels", "label version"), "created")
    color, muted = {"expr": "chosen"}, {"expr": "muted"}
    detail = nominal("stretch")
    mean = {"x": x, "y": {**y, "field": "mean"}}
    span = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "detail": detail}
    band = layer("area", span, opacity=0.16, color=color) if len(shown) > 1 else layer("rule", span, color=color)
    line = layer("line", {**mean, "detail": detail}, color=color, strokeWidth=2)
    size = 40 if len(shown) <= 60 else 12
    dots = layer("circle", {**mean, "tooltip": told}, color=color, size=size, opacity=1)
    looks_of = {BETTER: ("triangle-up", {"expr": "better"}), WORSE: ("triangle-down", {"expr": "worse"})}
    ways = [way for way in looks_of if any(row["step"] == way for row in table)]
    legend = {"title": None, "labelExpr": "'stepped here: ' + datum.label"}
    of_step: Spec = {}
    for n, look_of in enumerate(("shape", "color")):
        scale = {"domain": ways, "range": [looks_of[way][n] for way in ways]}
        of_step[look_of] = {"field": "step", "scale": scale, "legend": legend}
    of_step["tooltip"] = [*tooltip(("step", "stepped here")), *told]
    has_step, has_news, is_marked = (f"datum.{column} != ''" for column in ("step", "news", "marked"))
    steps = layer("point", {**mean, **of_step}, where=has_step, filled=True, size=150, opacity=1)
    words_at = {"x": x, "y": {"value": 0}, "text": {"field": "news"}}
    at_end = f"datum.place > {len(shown) / 2}"
    beside = {"align": {"expr": f"{at_end} ? 'right' : 'left'"}, "dx": {"expr": f"{at_end} ? -4 : 4"}}
    news = [
        layer("rule", {"x": x}, where=has_news, strokeDash=[4, 3], color=muted),
        layer(
            "text", words_at, where=has_news, color=muted, baseline="top", dy={"expr": "6 + 14 * datum.line"}, **beside
        ),
    ]
    name_at = {**mean, "text": {"value": {"expr": "names[datum.place]"}}}
    named = layer("text", name_at, where=is_marked, dy={"expr": "12 * datum.side"}, fontWeight="bold", **beside)
    look = {"color": color, "size": 110, "strokeWidth": 2.5, "fill": {"expr": "card"}, "opacity": 1}
    rings = layer("point", {**mean, "tooltip": told}, where=is_marked, **look)
    layers: list[Spec] = [band, line, dots]
    more = [("marked", [rings]), ("step", [steps]), ("news", news), ("marked", [named])]
    for column, some in more:
        if any(row[column] for row in table):  # a layer without rows spoils the scales of the others
            layers += some
    params = [{"name": "names", "value": names}]
    return chart(title, layers, table, subtitle=words, height=220, params=params)
