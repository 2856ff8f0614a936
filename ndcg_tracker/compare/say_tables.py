"""A comparison as tables: what was compared, groups, slices, and equivalence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ndcg_tracker.compare.limits import Harm, HarmRow, LimitCheck
from ndcg_tracker.compare.results import (
    Comparison,
    GroupCounts,
    GroupDelta,
    ItemMove,
    LabelSetRef,
    MetricComparison,
    RareLoss,
    SliceComparison,
    TieBounds,
    ToldVerdict,
)
from ndcg_tracker.errors import Spelling, argument, worded
from ndcg_tracker.render.report import Column, Table, columns, marks
from ndcg_tracker.render.terminal import Painted, Style
from ndcg_tracker.statistics.t_test import Equivalence
from ndcg_tracker.storage.records import EXTERNAL_JUDGE
from ndcg_tracker.words.notes import few_differences, sentence
from ndcg_tracker.words.texts import counted, interval, p_text, percent, percent_of, points, shown, shown_margin

_SLICES_NAMED = 5
SLICES_SHOWN = 10
"""A report shows this many of the worst slices, and this many of the best."""
NO_VALUE = "(none)"
IDENTICAL = "identical in every group: no interval, no p-value"
VERDICT_STYLES: dict[str | None, Style] = {"improved": "good", "regressed": "bad"}

_TESTS = {
    "t": "paired t-test",
    "permutation": "permutation test (sign flips)",
    "wilcoxon": "Wilcoxon signed-rank test without zeros (tests symmetry, not the mean)",
}
_INTERVALS = {
    "t": "paired t",
    "bootstrap": "bootstrap (BCa: corrected for bias and skewness)",
    "betting": "betting (valid at any n)",
}
_UNDETECTABLE = "none"
_NUMBERS = (">n", ">baseline", ">candidate", ">delta", ">95% interval", ">p", ">q")


_MARKS = {"no_difference_detected": "~ ", "open": "? "}


def delta_cell(delta: float | None, verdict: ToldVerdict | None) -> Painted:
    """Return a difference in the style of its verdict, after "~" if it was not detected, or "?" if it is open.

    ``verdict``: None for a difference that is not tested.
    """
    return Painted(_MARKS.get(verdict or "", "") + points(delta, signed=True), VERDICT_STYLES.get(verdict))


def mark_legends(told: Sequence[ToldVerdict | None], *, other_ids: bool = False) -> list[str]:
    """Return what the marks before differences with these verdicts mean; ``other_ids``: whether labels miss a run."""
    why = "the labels do not reach both runs" if other_ids else "depends on unjudged items"
    undetected = ["~: no difference detected"] if "no_difference_detected" in told else []
    return undetected + ([f"?: open, {why}"] if "open" in told else [])


def marks_of(metrics: Sequence[MetricComparison]) -> list[str]:
    """Return the ``mark_legends`` of metrics."""
    other_ids = any(metric.has_other_ids for metric in metrics)
    return mark_legends([told_in_table(metric) for metric in metrics], other_ids=other_ids)


def told_in_table(metric: MetricComparison) -> ToldVerdict | None:
    """Return the verdict that marks a difference, None if nothing was tested."""
    return metric.told if is_judged(metric) or metric.has_other_ids else None


def is_judged(metric: MetricComparison) -> bool:
    """Return whether a test gave the verdict, or none is needed: for identical runs and metrics that are only shown."""
    return metric.p_value is not None or metric.verdict in ("identical", None)


def equivalence_tables(comparison: Comparison) -> list[Table]:
    """Return the table with the test of equivalence of each metric, or no table unless requested."""
    equivalences = [
        (metric.metric, metric.equivalence) for metric in comparison.metrics if metric.equivalence is not None
    ]
    if not equivalences:
        return []
    rows = [
        [name, _equivalence_finding(equivalence), interval(equivalence.ci, signed=True), p_text(equivalence.p_value)]
        for name, equivalence in equivalences
    ]
    return [
        Table(
            columns("metric", "finding", ">90% interval", ">p"),
            rows,
            f"equivalence within ±{shown_margin(equivalences[0][1].margin)}",
        )
    ]


def _equivalence_finding(equivalence: Equivalence) -> str:
    """Return the finding of a test of equivalence in a few words, with the reason if there is no p-value."""
    if equivalence.p_value is None:
        return "identical in every group" if equivalence.equivalent else "cannot be tested"
    return "equivalent" if equivalence.equivalent else "not shown equivalent"


def detectable_cell(metric: MetricComparison) -> str | None:
    """Return the detectable difference, None if one was detected; "none": not even the largest is detectable."""
    if metric.verdict != "no_difference_detected" or metric.p_value is None or metric.is_drawn:
        return None
    return _UNDETECTABLE if metric.detectable_delta is None else points(metric.detectable_delta)


def detectable_legend(metrics: Sequence[MetricComparison]) -> list[str]:
    """Return how to read these cells, nothing if no metric has one."""
    cells = [cell for metric in metrics if (cell := detectable_cell(metric)) is not None]
    none = f"; {_UNDETECTABLE!r}: not even the largest possible one would be" if _UNDETECTABLE in cells else ""
    told = f"detectable: the smallest difference that would be detected with 80% power; shown if none was{none}"
    return [told] if cells else []


def evidence_words(comparisons: Sequence[Comparison]) -> list[str]:
    """Return what delta, interval and p are."""
    metrics = [metric for comparison in comparisons for metric in comparison.metrics]
    tested = [metric for metric in metrics if metric.p_value is not None]
    lines = ["; ".join(["delta: candidate - baseline, in absolute points", *marks_of(metrics)])]
    if not tested:
        return lines
    intervals = " and ".join(dict.fromkeys(interval_name(metric) for metric in tested))
    tests = " and ".join(dict.fromkeys(test_name(metric) for metric in tested))
    over = "metrics" if len(comparisons) == 1 else "metrics of all candidates"
    holm = f", Holm-corrected for {len(tested)} {over} at once" if len(tested) > 1 else ""
    return [*lines, f"95% interval: {intervals}; p: {tests}{holm}"]


def interval_name(metric: MetricComparison) -> str:
    """Return the method that gave the interval of a metric."""
    if metric.variance is not None:
        return "t over groups and runs, crossed"
    if metric.clusters is not None:
        return "t over clusters (CR2)"
    return _INTERVALS.get(metric.ci_method, metric.ci_method)


def test_name(metric: MetricComparison) -> str:
    """Return which test gave the p-value of a metric."""
    if metric.variance is not None or metric.clusters is not None:
        return "its t-test"
    return _TESTS.get(metric.test, metric.test)


def slice_tables(comparison: Comparison) -> list[Table]:
    """Return the table of slices, the worst first, without the middle of many; no table unless requested."""
    slices, attribute, first = comparison.slices, comparison.slice_attribute, comparison.metrics[0]
    if slices is None or attribute is None:
        return []
    shown, n_hidden = list(slices), len(slices) - 2 * SLICES_SHOWN
    if n_hidden > 0:
        shown = [*slices[:SLICES_SHOWN], *slices[-SLICES_SHOWN:]]
    footnotes: list[str] = []
    numbers = [name for name in _NUMBERS if name not in (">baseline", ">candidate") or not first.is_drawn]
    table = Table(
        (
            Column("", attribute, right=False),
            *(replace(column, is_spare=column.key == "candidate") for column in columns(*numbers)),
        ),
        [_slice_cells(row, with_means=not first.is_drawn) for row in shown],
        f"{first.metric} by {attribute}: {_slices_found(slices)} ({counted(len(slices), 'slice')})",
        marks=[marks(_slice_footnotes(row), footnotes) for row in shown],
        legend=_slice_legend(slices, comparison.metrics),
        n_below=3,
    )
    return [replace(table, footnotes=footnotes)]


def _slices_found(slices: Sequence[SliceComparison]) -> str:
    """Return how many slices moved and which way, and how many no test can judge."""
    moved = [
        f"{number} {verdict}"
        for verdict in ("regressed", "improved")
        if (number := sum(row.verdict == verdict for row in slices))
    ]
    n_untested = sum(row.is_untested for row in slices)
    if n_untested and n_untested == len(slices):
        return ", ".join(filter(None, ["not tested", why_untested(slices)]))
    return ", ".join([*(moved or ["no difference detected"]), *([f"{n_untested} not tested"] if n_untested else [])])


def why_untested(slices: Sequence[SliceComparison]) -> str:
    """Return why no test can judge any of these slices, "" where the reasons differ."""
    notes = [row.warning for row in slices if row.is_untested and row.warning is not None]
    units = {"cluster" if note.facts.get("of_clusters") else "group" for note in notes}
    is_alone = len(units) == 1 and all(note.kind == "one_group" for note in notes)
    return f"each is one {units.pop()}" if is_alone else ""


def _slice_legend(slices: Sequence[SliceComparison], metrics: Sequence[MetricComparison]) -> list[str]:
    """Return how to read the table of slices, and how many are not in it; ``metrics``: in the table above it."""
    known, is_paired = marks_of(metrics), metrics[0].variance is None and metrics[0].clusters is None
    lines = [mark for mark in mark_legends([row.verdict for row in slices]) if mark not in known]
    n_tested = sum(row.p_value is not None for row in slices)
    if n_tested:
        holm = f", Holm-corrected for {counted(n_tested, 'slice')} at once" if n_tested > 1 else ""
        test = "paired t-test" if is_paired else "t-test, as above"
        lines.append(f"p, which gives the verdict: {test}{holm}")
        lines.append(
            "q, for lists: the share of false discoveries among slices with a q this small (Benjamini-Hochberg)"
        )
    if any(row.value is None for row in slices):
        lines.append(f"{NO_VALUE}: the groups without this attribute")
    n_hidden = len(slices) - 2 * SLICES_SHOWN
    if n_hidden > 0:
        lines.append(f"not shown: {counted(n_hidden, 'slice')} between the worst and the best; JSON and CSV have all")
    return lines


def _slice_cells(row: SliceComparison, *, with_means: bool) -> list[object]:
    return [
        NO_VALUE if row.value is None else row.value,
        f"{row.n:,}",
        *([points(row.baseline), points(row.candidate)] if with_means else []),
        delta_cell(row.delta, row.verdict),
        interval(row.ci, signed=True),
        p_text(row.p_adjusted),
        p_text(row.q_value),
    ]


def _slice_footnotes(row: SliceComparison) -> list[str]:
    """Return the footnotes of one slice, worded so that slices can share them."""
    if row.warning is not None and row.is_untested:
        units = "clusters" if row.warning.facts.get("of_clusters") else "groups"
        same = f"all {units} differ by the same amount: the interval and the p-value are undefined"
        return [sentence(row.warning) if row.warning.kind == "one_group" else same]
    if row.verdict == "not_comparable":
        return ["no group that counts"]
    if row.verdict == "identical":
        return [IDENTICAL]
    if row.warning is not None:
        return [few_differences(row.warning)]
    return []


def group_tables(comparison: Comparison) -> list[Table]:
    """Return the tables of the worst and the best groups, without empty tables."""
    metric = comparison.metrics[0].metric
    worst = _group_table(f"worst groups in {metric}", comparison.worst, "bad")
    best = _group_table(f"best groups in {metric}", comparison.best, "good")
    return [table for table in (worst, best) if table.rows]


def _group_table(title: str, groups: Sequence[GroupDelta], style: Style) -> Table:
    """Return groups, each with the item that explains most of its delta if the metric is a sum over items."""
    has_moves = any(group.moves for group in groups)
    rows: list[list[object]] = []
    for group in groups:
        delta = Painted(points(group.delta, signed=True), style)
        row: list[object] = [group.group, points(group.baseline), points(group.candidate), delta]
        rows.append([*row, *_move_cells(group.moves)] if has_moves else row)
    of_groups = columns("group", ">baseline", ">candidate", ">delta")
    if not has_moves:
        return Table(of_groups, rows, title)
    of_moves = columns(">of which", "rank", "item")
    return Table((*of_groups, *of_moves), rows, title, names=(0, len(of_groups) + 2), n_below=len(of_moves))


def _move_cells(moves: Sequence[ItemMove] | None) -> list[str]:
    """Return what one item did to a group's delta, where it went, and its name with its grade."""
    if not moves:
        return [""] * 3
    move = moves[0]
    grade = "unjudged" if move.grade is None else f"grade {move.grade:g}"
    return [points(move.contribution, signed=True), _ranks(move), f"{move.item} ({grade})"]


def _ranks(move: ItemMove) -> str:
    before, after = move.rank_baseline, move.rank_candidate
    if before is None:
        return f"new at {after}"
    if after is None:
        return f"gone from {before}"
    return f"stays {after}" if before == after else f"{before} → {after}"


def tie_tables(comparison: Comparison) -> list[Table]:
    """Return the table of the groups whose value depends most on ties in scores; no table unless requested."""
    if comparison.tie_groups is None:
        return []
    numbers = [
        (group, [points(number) for number in (group.worst, group.value, group.best)])
        for group in comparison.tie_groups
    ]
    rows = [[group.group, group.run, *shown] for group, shown in numbers if shown[0] != shown[-1]]
    n_open = len(rows) if comparison.n_tie_groups is None else comparison.n_tie_groups
    title = f"groups whose {comparison.metrics[0].metric} depends on ties in scores"
    if n_open > len(rows):
        title += f" ({len(rows) or 'none'} of {n_open:,} shown)"
    return [Table(columns("group", "run", ">worst", ">value", ">best"), rows, title if n_open else f"no {title}")]


RUNS_SHOWN = 5


def labels_text(labels: LabelSetRef) -> str:
    """Return the version of labels, their judge, and their digest if it is known."""
    if labels.judge == EXTERNAL_JUDGE:
        return "none: the results were given as values"
    digest = f", digest {labels.digest[:12]}" if labels.digest else ""
    return f"version {labels.version}{whose(labels)}{digest}"


def facts(comparison: Comparison, spelled: Spelling, *, beside_table: bool = False) -> list[tuple[str, str]]:
    """Return what was compared, except the groups, as names and values; ``spelled``: how arguments are spelled.

    ``beside_table``: whether the table of metrics comes with them, which shows judged shares that differ.
    """
    pairs = [
        *_arms(comparison),
        *(("in neither run", worded(sentence, spelled)) for sentence in _of_all_metrics(comparison)),
        ("labels", labels_text(comparison.label_set)),
    ]
    in_table = {metric.judged for metric in comparison.metrics if metric.judged is not None and metric.judged.is_apart}
    for share in comparison.coverage:
        if beside_table and share in in_table:
            continue
        where = "judged" if share.cutoff is None else f"judged@{share.cutoff}"
        baseline, candidate = (
            "not known" if judged_share is None else percent(judged_share)
            for judged_share in (share.baseline, share.candidate)
        )
        pairs.append((where, f"baseline {baseline}, candidate {candidate}"))
    for metric in comparison.metrics:
        left = metric.open
        if beside_table and left is not None and left.low is not None and left.high is not None:
            of_metric = "" if len(comparison.metrics) == 1 else f"{metric.metric}: "
            ends = f"{points(left.low.delta, signed=True)} and {points(left.high.delta, signed=True)}"
            pairs.append(
                (
                    "unjudged",
                    f"{of_metric}could move delta to between {ends} (each counted from 0 up to the average item at "
                    "its rank)",
                )
            )
    for metric in comparison.metrics[:1]:
        if metric.rare_loss is not None:
            of_metric = "" if len(comparison.metrics) == 1 else f"{metric.metric}: "
            told = rare_loss_words(metric.rare_loss, of_clusters=metric.clusters is not None)
            pairs.append(("rare loss", of_metric + told))
    for metric in comparison.metrics:
        effect = metric.tie_effect
        if effect is not None and (_is_seen_open(effect.baseline) or _is_seen_open(effect.candidate)):
            pairs.append(
                ("ties", f"{metric.metric}: baseline {_range(effect.baseline)}, candidate {_range(effect.candidate)}")
            )
    return pairs


def rare_loss_words(rare: RareLoss, *, of_clusters: bool, who: str = "") -> str:
    """Return the worst loss and how many queries may lose more; ``who``: which query lost most."""
    units = "clusters" if of_clusters else "queries"
    most = f"at most {rare.share * 100:.2g}% of {units} should lose"
    return f"worst loss {points(rare.worst)}{who}; {most} more (95%)" if rare.worst else f"no loss; {most} (95%)"


def _who_loses(*, of_clusters: bool) -> str:
    return "of clusters like these have a group that loses" if of_clusters else "of groups like these lose"


def harm_words(harm: Harm, attribute: str = "") -> str:
    """Return whether few enough groups lose much, of all and of slices by an attribute.

    >>> from ndcg_tracker.compare.limits import HarmLimit
    >>> harm_words(Harm(HarmLimit.of(".3:2%"), HarmRow(None, 200, 2, 0.0007, 0.0312, 0.01, "open", 2)))
    'not shown that at most 2% of groups like these lose more than 0.3: 2 of 200 do, so up to 3.1% may'
    """
    limit, who = f"{harm.limit.share * 100:g}%", "clusters" if harm.of_clusters else "groups"
    lose = f"{_who_loses(of_clusters=harm.of_clusters)} more than {harm.limit.loss:g}"
    whole, most = harm.whole, f"{harm.whole.upper * 100:.2g}%"
    if whole.status == "within":
        clauses = [f"with {percent_of(harm.pass_level)} confidence, at most {limit} {lose}: {_counts(whole)} do"]
    elif whole.status == "fails":
        told = f"but with {percent_of(1 - whole.alpha)} confidence, at least {whole.lower * 100:.2g}% {lose}"
        clauses = [f"{told}, and only {limit} may: {_counts(whole)} do"]
    else:
        clauses = [f"not shown that at most {limit} {lose}: {_counts(whole)} do, so up to {most} may"]
    for status, words in (
        ("fails", f"but more than {limit} of the {who} {{}} do"),
        ("open", f"not shown for {who} {{}}"),
    ):
        rows = [row for row in harm.slices if row.status == status and (status == "fails" or harm.is_strict)]
        named = [
            f"{'without' if row.value is None else 'with'} {attribute}"
            f"{'' if row.value is None else f'={shown(row.value)}'} ({_counts(row)})"
            for row in rows[:_SLICES_NAMED]
        ]
        more = f" and {len(rows) - _SLICES_NAMED} other slices" if len(rows) > _SLICES_NAMED else ""
        if rows:
            clauses.append(words.format(", ".join(named) + more))
    return "; ".join(clauses)


def _counts(row: HarmRow) -> str:
    """Return how many are harmed, of how many."""
    counts = dict.fromkeys((f"{row.n_harmed_least:,}", f"{row.n_harmed:,}"))
    return f"{' to '.join(counts)} of {row.n:,}"


def limit_words(check: LimitCheck) -> str:
    """Return a number of both runs and its limit.

    >>> limit_words(LimitCheck("latency_ms", "+10%", 20.0, 23.0, 22.0, False))
    'latency_ms went from 20 to 23 (+15%), and the limit is +10%'
    """
    change = f"from {check.baseline:g} to {check.candidate:g}{change_words(check)}"
    return f"{check.name} went {change}, and the limit is {check.limit}"


def change_words(check: LimitCheck) -> str:
    """Return the relative change of a number, "" if it was zero."""
    return f" ({(check.candidate - check.baseline) / abs(check.baseline) * 100:+.3g}%)" if check.baseline else ""


def whose(labels: LabelSetRef) -> str:
    """Return which judge gave labels, if one is named."""
    return f" of judge {labels.judge!r}" if labels.judge else ""


def _arms(comparison: Comparison) -> list[tuple[str, str]]:
    """Return the runs of the arms and the sources of the variance of each delta, or the clusters."""
    pairs = [
        ("arm", f"{arm.name}: {counted(len(arm.runs), 'run')} as one "
        + f"({', '.join(run.name for run in arm.runs[:RUNS_SHOWN])}"
        + (", ...)" if len(arm.runs) > RUNS_SHOWN else ")"))
        for arm in (comparison.baseline, comparison.candidate)
        if arm.runs
    ]  # fmt: skip
    for metric in comparison.metrics:
        parts = metric.variance
        if parts is not None:
            of_runs, by_groups = (
                percent(part / (parts.runs + parts.groups)) for part in (parts.runs, parts.runs_by_groups)
            )
            wider = points(parts.with_twice_the_runs), points(parts.with_twice_the_groups)
            pairs.append(
                (
                    "variance",
                    f"{metric.metric}: {of_runs} from the runs, {by_groups} from runs by groups, the rest from the "
                    f"groups, {parts.df:.1f} degrees of freedom; the interval is "
                    f"±{points(parts.half_width)}, with twice the runs about ±{wider[0]}, with twice the groups about "
                    f"±{wider[1]}",
                )
            )
    first = comparison.metrics[0]
    if first.clusters is not None:
        of = f"{first.clusters.n:,} by {first.clusters.attribute} of {counted(first.n, 'group')}"
        pairs.append(("clusters", f"{of}; {first.df:.1f} degrees of freedom"))
    return pairs


def canonical_names(shown: Comparison, stored: Comparison) -> list[tuple[str, str]]:
    """Return, as facts, the canonical text of metrics shown under a tool's name, and the requested text of others."""
    pairs = zip(shown.metrics, stored.metrics, strict=True)
    names = [
        ("metric", f"{metric.metric} = {other.metric}") for metric, other in pairs if metric.metric != other.metric
    ]
    return [*names, *requests(shown)]


def requests(shown: Comparison) -> list[tuple[str, str]]:
    """Return, as facts, the requested text of metrics that are shown under another name."""
    renamed = [metric for metric in shown.metrics if metric.requested_as not in ("", metric.metric)]
    return [("asked for", f"{metric.metric} as {metric.requested_as}") for metric in renamed]


def in_neither(groups: GroupCounts) -> list[str]:
    """Return how labelled groups that neither run has were treated, nothing if there are none."""
    if not groups.in_neither:
        return []
    n_groups = f"{counted(groups.in_neither, 'group')} with labels"
    if groups.missing == "skip":
        return [f"{n_groups}, left out"]
    they, them = ("it counts", "it") if groups.in_neither == 1 else ("they count", "them")
    shrinks = "shrinks" if groups.in_neither == 1 else "shrink"
    return [f"{n_groups}: {they} the same in both and {shrinks} delta; {argument('missing', 'skip')} leaves {them} out"]


def _of_all_metrics(comparison: Comparison) -> list[str]:
    """Return how groups that neither run has were treated, under the metric with the most of them."""
    groups = max((metric.groups for metric in comparison.metrics), key=lambda groups: groups.in_neither)
    if groups.in_neither and groups.missing != "skip" and not comparison.is_comparable:
        return [f"{counted(groups.in_neither, 'group')} with labels"]
    return in_neither(groups)


def _is_seen_open(bounds: TieBounds) -> bool:
    """Return whether the digits shown tell the bounds apart."""
    return points(bounds.worst) != points(bounds.best)


def _range(bounds: TieBounds) -> str:
    return f"{points(bounds.worst)} to {points(bounds.best)}" if _is_seen_open(bounds) else points(bounds.best)
