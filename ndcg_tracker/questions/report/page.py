"""The report: two runs, or one and several candidates, on one page; Markdown has a Mermaid chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from ndcg_tracker.compare import chart as compare_charts
from ndcg_tracker.compare import chart_groups
from ndcg_tracker.compare.chart import cutoffs
from ndcg_tracker.compare.report_facts import EveryGroup, GroupLists, PairReport, RunPairDelta
from ndcg_tracker.compare.results import Comparison, Estimate, GroupDelta, RunRef
from ndcg_tracker.compare.say import comparison_reports, finding, for_people
from ndcg_tracker.compare.say_drawn import checked_by, favours
from ndcg_tracker.compare.say_tables import n_datasets
from ndcg_tracker.questions.explain.chart import moves_chart
from ndcg_tracker.questions.history.say import HistoryRow, history_chart, vanished
from ndcg_tracker.questions.report.first_screen import (
    DECISION_LOOKS,
    Apart,
    answer,
    decided,
    explained,
    fallen,
    look_of,
    p_words,
    picture,
    unjudged_open,
)
from ndcg_tracker.render.html import CLASSES, Spec, page, reports_html, table_html, themes
from ndcg_tracker.render.markdown import markdown_text
from ndcg_tracker.render.report import Column, Report, Table, kinds, query_cell, text_cell, web_address
from ndcg_tracker.render.terminal import shown_strings, visible
from ndcg_tracker.runs.judges import judge_option
from ndcg_tracker.words.notes import command_line, sentence
from ndcg_tracker.words.texts import (
    GroupTexts,
    counted,
    interval,
    judge_words,
    points,
    queries,
    unit,
    units,
)

if TYPE_CHECKING:
    from markupsafe import Markup

    from ndcg_tracker.compare.report_facts import AtCutoff
    from ndcg_tracker.questions.leaderboard.decide import Leaderboard
    from ndcg_tracker.storage.marks import DecisionRecord
    from ndcg_tracker.words.notes import Note


PLACES = 60
"""The largest number of places in a Mermaid chart that a reader can tell apart."""

# blue and grey are visible on light and dark pages; Mermaid's own colours are faint
_COLORS = '%%{init: {"themeVariables": {"xyChart": {"plotColorPalette": "#3b82c4, #8a8f98"}}}}%%'


def every_group_mermaid(groups: EveryGroup, metric: str) -> str:
    """Return every group from the worst to the best as a block of Markdown, "" if none changed or there is only one.

    The chart is a line, with another line at 0, because Mermaid's bars begin at the bottom, whatever their sign. With
    more groups than places, each place stands for the same number of neighbours and shows the one that changed most.

    >>> groups = EveryGroup("abc", np.zeros(3), np.array([0.0, -0.5, 0.25]))
    >>> print(every_group_mermaid(groups, "ndcg@10"))
    ```mermaid
    %%{init: {"themeVariables": {"xyChart": {"plotColorPalette": "#3b82c4, #8a8f98"}}}}%%
    xychart-beta
        title "change of ndcg@10 in each group, worst to best"
        x-axis "3 groups: 1 better, 1 the same, 1 worse" 1 --> 3
        y-axis "change" -0.5 --> 0.25
        line [-0.5, 0, 0.25]
        line [0, 0, 0]
    ```
    """
    delta, gain = groups.delta, groups.gain
    delta = delta[np.argsort(gain, kind="stable")]
    n_worse, n_better = int((gain < 0).sum()), int((gain > 0).sum())
    if not n_worse + n_better or delta.size < 2:  # a line needs at least two places
        return ""
    parts = np.array_split(delta, min(PLACES, delta.size))
    changes = [float(part[np.argmax(np.abs(part))]) for part in parts]
    n = delta.size
    counts = f"{n:,} {units()}: {n_better:,} better, {n - n_better - n_worse:,} the same, {n_worse:,} worse"
    shown = metric.replace('"', "'")
    return "\n".join(
        [
            "```mermaid",
            _COLORS,
            "xychart-beta",
            f'    title "change of {shown} in each {unit()}, worst to best"',
            f'    x-axis "{counts}" 1 --> {len(changes)}',
            f'    y-axis "change" {min(0.0, *changes):.4g} --> {max(0.0, *changes):.4g}',
            f"    line [{', '.join(f'{change:.4g}' for change in changes)}]",
            f"    line [{', '.join('0' for _ in changes)}]",
            "```",
        ]
    )


ROWS = 100_000
"""The largest number of groups on a page; it holds the most changed ones."""
_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class SuiteOverview:
    """Systems over a suite, by candidate, and the leaderboard of all systems on every dataset, None for fewer than two.

    ``decision``: the decision of a gate on them, in words, "" without a gate.
    """

    comparisons: tuple[Comparison, ...]
    systems: Leaderboard | None
    decision: str = ""


@dataclass(frozen=True, slots=True)
class RunsReport:
    """Everything that the page shows.

    ``pairs``: the baseline with each candidate. ``deltas``: between any two of the runs. ``history``: rows of the first
    metric, oldest first. ``decisions``: of the latest gate on each pair, if any, by the candidate's name; ``apart``:
    how such a decision differs from the comparison. ``command``: the words of the command that recreates the page.
    ``suite``: the summary of the pairs if each has its own dataset, None if all have the same.
    """

    pairs: tuple[PairReport, ...]
    deltas: tuple[RunPairDelta, ...] = ()
    history: tuple[HistoryRow, ...] = ()
    decisions: Mapping[str, DecisionRecord] = field(default_factory=dict)
    apart: Mapping[str, Apart] = field(default_factory=dict)
    command: Sequence[str] = ()
    suite: SuiteOverview | None = None

    def together(self, pair: PairReport) -> list[Comparison]:
        """Return the comparisons whose p-values were corrected together with a pair; on a suite, only its own."""
        return [pair.comparison] if self.suite is not None else [each.comparison for each in self.pairs]


@dataclass(frozen=True, slots=True)
class Card:
    """A chart on the page: its title, how to read it, and its numbers as a table, None if these are all groups."""

    spec: Spec
    title: str
    subtitle: str
    table: Markup | None = None

    @classmethod
    def of(cls, spec: Spec, table: Table | None = None) -> Card:
        """Return the card of a chart."""
        from markupsafe import Markup

        title = spec["title"]
        html = None if table is None else Markup(table_html(table, CLASSES))
        return cls(spec, title["text"], title.get("subtitle", ""), html)


def report_page(report: RunsReport) -> str:
    """Return the report as one file of HTML."""
    data, values = report_values(
        report,
        made=f"Made by ndcg-track {version('ndcg-tracker')}. This page is self-contained and needs no network. "
        "Recreate it with:",
    )
    return page("report.html", data, scripts=("vega.js", "draw.js", "report.js"), **values)


def report_markdown(report: RunsReport, link: str) -> str:
    """Return every group of the first pair as a picture that GitHub draws, and a link to the page: a URL or a path."""
    pair = report.pairs[0]
    picture = (
        every_group_mermaid(pair.groups, for_people(pair.comparison).metrics[0].metric) if not report.suite else ""
    )
    address = web_address(link)
    page = f"[every {unit()}, and why it changed]({address})" if address else markdown_text(link)
    return "\n" + "\n\n".join(filter(None, (picture, f"The report: {page}"))) + "\n"


def report_values(report: RunsReport, made: str) -> tuple[dict[str, object], dict[str, object]]:
    """Return the values for the scripts of a report and for its template; ``made``: the words before its command."""
    if report.suite is None:  # together, because they were corrected together
        told = comparison_reports(*map(_with_texts, report.pairs))[-len(report.pairs) :]
    else:
        told = [comparison_reports(_with_texts(pair))[0] for pair in report.pairs]
    pairs = [_PairOnPage.of(_visible(pair), of_pair, report) for pair, of_pair in zip(report.pairs, told, strict=True)]
    title, subtitle = _titles(report)
    together: dict[str, Any] = {"verdicts": (), "decision": "", "reports": ()}
    if report.suite is not None:
        overview, together = _suite_on_page(report.suite)
    else:
        overview = _overview(report) if len(pairs) > 1 else {}
    raw = {visible(key): key for pair in report.pairs for key in pair.groups.keys if visible(key) != key}
    data: dict[str, object] = {
        "themes": themes(),
        "pairs": [pair.data for pair in pairs],
        "overview": {name: card.spec for name, card in overview.items()},
        "raw": raw,
        "unit": unit(),
    }
    return data, {
        "title": title,
        "subtitle": subtitle,
        "overview": overview,
        **together,
        "pairs": [pair.values for pair in pairs],
        "command": command_line(report.command),
        "made": made,
    }


def _titles(report: RunsReport) -> tuple[str, str]:
    """Return the title of the page, and its subtitle."""
    suite = report.suite
    each = [for_people(of) for of in ([of.comparison for of in report.pairs] if suite is None else suite.comparisons)]
    first, n = each[0], len(each)
    who = visible(first.candidate.name) if n == 1 else f"one of {counted(n, 'candidate')}"
    title = f"Is {who} better than {visible(first.baseline.name)}"
    if suite is None:
        return f"{title}?", f"{', '.join(dict.fromkeys(of.metrics[0].metric for of in each))} on {first.dataset}"
    metrics = ", ".join(metric.metric for metric in first.metrics)
    told = f"{metrics} over {counted(n_datasets(first), 'dataset')}; each dataset counts once"
    return f"{title} on suite {visible(first.dataset)}?", told


def _suite_on_page(suite: SuiteOverview) -> tuple[dict[str, Card], dict[str, Any]]:
    """Return the chart of all datasets, and what the template shows: verdicts, the decision, tables."""
    from markupsafe import Markup

    from ndcg_tracker.questions.leaderboard.say import leaderboard_report

    bars = [replace(bar, name=visible(bar.name)) for bar in compare_charts.suite_bars(*suite.comparisons)]
    alone = [replace(of, suite=of.suite and replace(of.suite, each=())) for of in suite.comparisons]
    reports = [*comparison_reports(*alone), *([] if suite.systems is None else [leaderboard_report(suite.systems)])]
    of_several, verdicts = len(suite.comparisons) > 1, []
    for comparison in map(for_people, suite.comparisons):
        for of in comparison.metrics:
            whose = f"{visible(comparison.candidate.name)}: " if of_several else ""
            told = f"{points(of.delta, signed=True)}, 95% interval {interval(of.ci, signed=True)}, p "
            verdicts.append((f"{whose}{of.metric}: {answer(of)}", told + p_words(of, suite.comparisons)))
    return {"forest": Card.of(compare_charts.suite_forest(*suite.comparisons), Table.of(_OF_BARS, bars))}, {
        "verdicts": verdicts,
        "decision": suite.decision,
        "reports": [Markup(reports_html([report], CLASSES)) for report in reports],
    }


def _with_texts(pair: PairReport) -> Comparison:
    """Return the comparison of a pair with the page's texts, if any, for its worst and best groups and the items."""
    if not pair.texts:
        return replace(pair.comparison, texts={})
    texts = chart_groups.queries_of(pair.texts)

    def told(group: GroupDelta) -> GroupDelta:
        items = pair.texts[group.group].items if group.group in pair.texts else {}
        titles = {item: text_cell(text).text for item, text in items.items()}
        moves = group.moves and tuple(replace(move, item=_titled(move.item, titles)) for move in group.moves)
        return replace(group, group=_titled(group.group, texts), moves=moves)

    comparison = pair.comparison
    return replace(comparison, worst=tuple(map(told, comparison.worst)), best=tuple(map(told, comparison.best)))


def _titled(key: str, words_of: Mapping[str, str]) -> str:
    return f"{key}: {words_of[key]}" if words_of.get(key) else key


def _visible(pair: PairReport) -> PairReport:
    """Return a pair with the names of groups and items in a form that is safe to show."""
    groups = replace(pair.groups, keys=[visible(key) for key in pair.groups.keys])
    return replace(pair, groups=groups, lists=tuple(map(visible_lists, pair.lists)))


def visible_lists(lists: GroupLists) -> GroupLists:
    """Return the lists of a group with ids in a form that is safe to show."""
    return replace(
        lists,
        group=visible(lists.group),
        items=tuple(replace(item, item=visible(item.item)) for item in lists.items),
        ideal=tuple((visible(item), grade) for item, grade in lists.ideal),
    )


def _what(first: Estimate, comparison: Comparison) -> str:
    """Return what was compared: the metric, the numbers of queries, clusters and runs, and the labels."""
    by = (
        ""
        if first.about.clusters is None
        else f" in {counted(first.about.clusters.n, 'cluster')} by {first.about.clusters.attribute}"
    )
    n_runs = [max(1, len(ref.runs)) for ref in (comparison.baseline, comparison.candidate)]
    of_runs = "" if n_runs == [1, 1] else f", means of {n_runs[0]} and of {counted(n_runs[1], 'run')}"
    labels = f"labels version {comparison.label_set.version}"
    told = [first.metric, f"{queries(first.n)}{by} of {comparison.dataset}{of_runs}", labels]
    return " · ".join(told) + _checked_words(comparison)


def _checked_words(comparison: Comparison) -> str:
    """Return whose labels the verdict corrects and whose labels the charts show, "" if nobody checks a judge."""
    who, judge = checked_by(comparison), judge_words(comparison.label_set.judge)
    return f": {judge}, checked by {who!r}; groups and charts use the judge alone" if who else ""


@dataclass(frozen=True, slots=True)
class _PairOnPage:
    """The values of a pair for the template and for its script."""

    values: dict[str, Any]
    data: dict[str, Any]

    @classmethod
    def of(cls, pair: PairReport, told: Report, report: RunsReport) -> _PairOnPage:
        """Return a pair as the page has it."""
        from markupsafe import Markup

        comparison = for_people(pair.comparison)
        first = comparison.metrics[0]
        baseline, candidate = visible(comparison.baseline.name), visible(comparison.candidate.name)
        of_lists = [visible(run.name) for run in _runs_with_lists(comparison)]
        cards = _cards(pair, report, first, baseline, candidate)
        lacks_items = [note for note in pair.comparison.notes if note.kind in ("pruned", "without_items")]
        groups, words = _groups_on_page(pair.groups)
        named = (("queries better", first.wins), ("the same", first.ties), ("worse", first.losses))
        counts = [f"{n:,} {name}" for name, n in named if n is not None]
        colored = chart_groups.colored(pair.groups)
        decision = report.decisions.get(pair.comparison.candidate.name)
        apart = report.apart.get(pair.comparison.candidate.name)
        values = {
            "baseline": baseline,
            "candidate": candidate,
            "tab": _tab(report, comparison),
            "cards": cards,
            "what": _what(first, comparison),
            "direction": look_of(first),
            "picture": picture(comparison),
            "interval": ""
            if first.ci is None
            else f"95% interval {interval(first.ci, signed=True)}, p {p_words(first, report.together(pair))}",
            "verdict": answer(first),
            "told": explained(comparison),
            "fell": fallen(pair.slices),
            "grade": unjudged_open(comparison),
            "worst": "" if first.rare_loss is None else f"worst loss seen {points(first.rare_loss.worst, digits=2)}",
            "gate": "" if decision is None else f"last gate: {decision.decision.upper()} at margin {decision.margin:g}",
            "further": [*favours(comparison), *map(finding, comparison.metrics[1:])],
            "decision": "" if decision is None else decided(decision, apart),
            "decided": "" if decision is None or apart else DECISION_LOOKS.get(decision.decision, ""),
            "counts": " · ".join(counts),
            "colors": list(colored),
            "attributes": list(groups["attributes"]),
            "groups_words": words,
            "n_lists": len(pair.lists),
            "lists_words": _no_lists_words(lacks_items) if lacks_items else _lists_words(pair, first),
            "has_lists": not lacks_items,
            "of_lists": of_lists,
            "contribution": "" if pair.lists_metric is None else "adds",
            "report": Markup(reports_html([replace(told, rest="")], CLASSES)),
        }
        moves = moves_chart([], *of_lists, metric=first.metric, has_titles=bool(pair.texts))
        lowest = int(np.argmin(pair.groups.delta)) if pair.groups.keys else None
        data = {
            "groups": groups,
            "charts": {name: card.spec for name, card in cards.items()} | {"moves": moves},
            "colors": shown_strings({name: chart_groups.slice_color(colored, name) for name in colored}),
            "columns": _columns(pair.groups),
            "details": {lists.group: lists_on_page(lists) for lists in pair.lists},
            "texts": {visible(key): texts_on_page(texts) for key, texts in pair.texts.items()},
            "first": None if lowest is None else pair.groups.keys[lowest],
            "depth": pair.depth,
            "has_lists": not lacks_items,
            "explain": command_line(_explain_command(pair)),
        }
        return cls(values, data)


def _happened(row: HistoryRow) -> str:
    return ", ".join(filter(None, ("stepped here" if row.get("step") else "", vanished(row))))


_OF_BARS = kinds(
    "label text of, n count groups, delta delta, ci interval 95% interval, p_adjusted p p, verdict verdict"
)
_OF_RUNS = (
    Column("run", "run", "text"),
    Column("created_at_utc", "created", "text", is_time=True),
    *kinds("mean mean, ci interval 95% interval, label_set_version count labels"),
    Column("step", "step", "text", of=_happened),
)


def _cards(pair: PairReport, report: RunsReport, first: Estimate, baseline: str, candidate: str) -> dict[str, Card]:
    comparison = for_people(pair.comparison)
    bars = compare_charts.bars_of(comparison, pair.slices)
    texts = {visible(key): words for key, words in chart_groups.queries_of(pair.texts).items()}
    every = chart_groups.every_group(pair.groups, first.metric, queries=texts)
    scatter = chart_groups.scatter(pair.groups, baseline, candidate, metric=first.metric, queries=texts)
    cards = {"every": Card.of(every), "scatter": Card.of(scatter)}
    histogram = chart_groups.histogram(pair.groups, first.metric)
    of_bins = kinds("low delta from, high delta to, n count groups")
    cards["histogram"] = Card.of(histogram, Table.of(of_bins, histogram["data"]["values"]))
    only = first.metric if len(comparison.metrics) == 1 else ""
    cards["forest"] = Card.of(compare_charts.forest(bars, metric=only), Table.of(_OF_BARS, bars))
    if len(pair.at_cutoffs) > 1:
        spec = cutoffs(pair.at_cutoffs, baseline, candidate, metric=first.metric, cutoff=pair.cutoff)
        cards["cutoffs"] = Card.of(spec, cutoffs_table(pair.at_cutoffs, baseline, candidate))
    if len(report.history) > 1:
        rows = [row for row in report.history if row["mean"] is not None]
        named: list[HistoryRow] = [{**row, "run": visible(row["run"])} for row in rows]
        spec = history_chart(named, first.metric, on=comparison.dataset, marked=(baseline, candidate))
        cards["history"] = Card.of(spec, Table.of(_OF_RUNS, rows))
    return cards


def cutoffs_table(rows: Sequence[AtCutoff], baseline: str = "", candidate: str = "") -> Table:
    """Return the table of a metric at each cutoff for two runs; people see their names over the means."""
    named = {"baseline": baseline, "candidate": candidate}
    every = kinds("cutoff count, baseline mean, candidate mean, delta delta, ci interval 95% interval")
    return Table.of([replace(of, title=named.get(of.key, of.title)) for of in every], rows)


def _lists_words(pair: PairReport, first: Estimate) -> str:
    words = f"Both lists of the chosen {unit()}, and the ideal list. Thick lines and bold names are relevant items."
    repeated = [ref for ref in (pair.comparison.baseline, pair.comparison.candidate) if ref.runs]
    if repeated:
        named = (f"{ref.runs[0].name} of {ref.name} ({counted(len(ref.runs), 'run')})" for ref in repeated)
        each = ", ".join(map(visible, named))
        words += f" Of repeated runs, the first is shown: {each}; the change above is that of all runs."
    if pair.lists_metric is None:
        return f"{words} {first.metric} is not a sum over items, so items have no part of it."
    return f"{words} “adds” is the item's part of {first.metric}."


def _tab(report: RunsReport, comparison: Comparison) -> str:
    """Return the label of a pair's tab: the candidate, or on a suite the dataset, with the candidate if several."""
    if report.suite is None:
        return visible(comparison.candidate.name)
    n = len({pair.comparison.candidate.name for pair in report.pairs})
    return visible(comparison.dataset if n == 1 else f"{comparison.candidate.name} on {comparison.dataset}")


def _no_lists_words(notes: Sequence[Note]) -> str:
    gone = any(note.kind == "pruned" for note in notes)
    how = "ingest its file again under the same name" if gone else "ingest all its rows under the same name"
    what = "Lists were pruned" if gone else "Lists are not stored"
    return f"{what}: {'; '.join(map(sentence, notes))}; to see them, {how}."


def _runs_with_lists(comparison: Comparison) -> list[RunRef]:
    """Return the two runs whose lists the page shows; of an arm, the first run."""
    return [ref.runs[0] if ref.runs else ref for ref in (comparison.baseline, comparison.candidate)]


def _explain_command(pair: PairReport) -> tuple[str, ...]:
    comparison = pair.comparison
    runs = (run.name for run in _runs_with_lists(comparison))
    words: tuple[str, ...] = ("ndcg-track", "explain", *runs, "--dataset", comparison.dataset)
    words += judge_option(comparison.label_set.judge)
    return words if pair.lists_metric is None else (*words, "--metric", pair.lists_metric)


def lists_on_page(lists: GroupLists) -> dict[str, object]:
    """Return the lists of a group as the script of a report reads them."""
    items = [
        [
            *(item.item, item.grade, item.rank_baseline, item.rank_candidate),
            *map(_short, (item.contribution_baseline, item.contribution_candidate)),
        ]
        for item in lists.items
    ]
    return {"items": items, "ideal": lists.ideal, "more": lists.n_more}


def texts_on_page(texts: GroupTexts) -> dict[str, object]:
    """Return the texts of a group and its items, each with its link, as the script reads them."""
    query = query_cell(texts.query)
    items = {visible(item): text_cell(text) for item, text in texts.items.items()}
    return {"query": [query.text, query.link], "items": {item: [cell.text, cell.link] for item, cell in items.items()}}


def _short(number: float | None) -> float | None:
    return None if number is None else round(number, _DECIMALS)


def _columns(groups: EveryGroup) -> dict[str, object]:
    """Return the places of the columns of ``every_group``, so that a script finds the column of a group."""
    shown = chart_groups.columns_of(groups)
    delta = groups.delta[shown.places]
    return {
        "keys": [groups.keys[place] for place in shown.places],
        "starts": shown.starts,
        "deltas": delta.round(_DECIMALS).tolist(),
        "same": shown.same_at,
    }


def _groups_on_page(groups: EveryGroup) -> tuple[dict[str, Any], str]:
    """Return the groups column by column, and a note if the page does not hold all of them."""
    places = np.arange(len(groups.keys))
    words = ""
    if places.size > ROWS:
        places = np.sort(np.argsort(-np.abs(groups.delta), kind="stable")[:ROWS])
        n_groups = len(groups.keys)
        words = f"The page holds the {ROWS:,} most changed of {n_groups:,} {units()}; the verdict rests on all of them."
    attributes = {}
    for name, values in groups.attributes.items():
        of_page = [values[place] for place in places.tolist()]
        distinct = sorted({value for value in of_page if value is not None})
        number_of = {value: number for number, value in enumerate(distinct)}
        attributes[visible(name)] = {
            "values": [visible(value) for value in distinct],
            "codes": [-1 if value is None else number_of[value] for value in of_page],
        }
    on_page = {
        "keys": [groups.keys[place] for place in places.tolist()],
        "baseline": groups.baseline[places].round(_DECIMALS).tolist(),
        "candidate": groups.candidate[places].round(_DECIMALS).tolist(),
        "attributes": attributes,
    }
    return on_page, words


def _overview(report: RunsReport) -> dict[str, Card]:
    """Return the overview of several candidates: every run against every other, and each against the baseline."""
    pairs = [for_people(pair.comparison) for pair in report.pairs]
    first = pairs[0].metrics[0].metric
    names = [visible(pairs[0].baseline.name), *(visible(pair.candidate.name) for pair in pairs)]
    only = first if {metric.metric for pair in pairs for metric in pair.metrics} == {first} else ""
    bars = [
        compare_charts.Bar.of(metric, name if only else f"{name}: {metric.metric}")
        for name, pair in zip(names[1:], pairs, strict=True)
        for metric in pair.metrics
        if metric.delta is not None
    ]
    cards = {}
    if report.deltas:
        deltas = [
            replace(delta, baseline=visible(delta.baseline), candidate=visible(delta.candidate))
            for delta in report.deltas
        ]
        of_pairs = kinds("candidate text run, baseline text against, delta delta, p_adjusted p p, verdict verdict")
        cards["heatmap"] = Card.of(compare_charts.heatmap(deltas, names, first), Table.of(of_pairs, deltas))
    title = f"Every candidate against {names[0]}{only and f': {only}'}"
    cards["forest"] = Card.of(compare_charts.forest(bars, title, metric=only), Table.of(_OF_BARS, bars))
    return cards
