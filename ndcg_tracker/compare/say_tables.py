"""A comparison as tables: what was compared, groups, slices, and equivalence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ndcg_tracker.compare.results import (
    ENDS,
    NOT_COMPARABLE,
    Comparison,
    Estimate,
    GroupCounts,
    GroupDelta,
    ItemMove,
    LabelSetRef,
    RareLoss,
    TieBounds,
)
from ndcg_tracker.compare.say_where import NO_VALUE, slice_name, value_name
from ndcg_tracker.errors import Spelling, argument, worded
from ndcg_tracker.render.report import BLANK, Column, Line, Table, kinds, marks
from ndcg_tracker.render.terminal import shortened, shortened_inside
from ndcg_tracker.statistics.t_test import Equivalence
from ndcg_tracker.storage.records import EXTERNAL_JUDGE
from ndcg_tracker.words.notes import few_differences, sentence
from ndcg_tracker.words.texts import counted, percent, points, shown_margin, unit, units
from ndcg_tracker.words.verdicts import MARKS

if TYPE_CHECKING:
    from ndcg_tracker.compare.limits import LimitCheck
    from ndcg_tracker.rankings.ranking import LabelDetail

SLICES_SHOWN = 10
"""A report shows this many of the worst slices, and this many of the best."""
_REASONS = 3
"""A report shows this many reasons of labels; they may be long."""
IDENTICAL = "identical everywhere: no interval, no p-value"

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
_HEAD_WIDTH = 16  # of a run's name over a column


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table of differences: what it is about, by column, both means, and what was found.

    ``left_open``: what keeps the verdict open, None for nothing. ``span``: delta at both ends of what unjudged items
    may be worth. ``alone``: delta by a judge alone.
    """

    names: Sequence[str]
    verdict: str | None
    left_open: str | None
    means: tuple[float | None, float | None]
    delta: float | None
    ci: tuple[float, float] | None
    p_value: float | None
    span: tuple[float | None, float | None] | None = None
    alone: float | None = None
    n: int | None = None
    q_value: float | None = None
    footnotes: Sequence[str] = ()

    @classmethod
    def of(cls, metric: Estimate, names: Sequence[str], footnotes: Sequence[str] = ()) -> Row:
        """Return the row of a metric."""
        verdict = metric.verdict if is_judged(metric) or metric.has_other_ids else "not_comparable"
        found = (metric.delta, metric.ci, metric.p_adjusted)
        alone = metric.others["judge"].delta if "judge" in metric.others else None
        means = (metric.baseline, metric.candidate)
        return cls(names, verdict, metric.open, means, *found, span_of(metric), alone, footnotes=footnotes)


def span_of(metric: Estimate) -> tuple[float | None, float | None] | None:
    """Return delta at both ends of what unjudged items may be worth, None if these are not known."""
    low, high = (metric.others.get(end) for end in ENDS)
    return None if low is None or high is None else (low.delta, high.delta)


def rows_table(
    rows: Sequence[Row], heads: Sequence[str], runs: Sequence[str], title: str = "", *, alone: str = "", **more: Any
) -> Table:
    """Return a table of differences; people see no column in which no row has anything.

    ``heads``: over what the rows are about. ``runs``: over the means. ``alone``: whose labels give a further delta.
    """
    footnotes: list[str] = []
    signs = [marks(row.footnotes, footnotes) for row in rows]
    columns = [
        Column("verdict", BLANK, "verdict", marked_by=("open",)),
        Column("open", kind="text", of="left_open"),
        *(Column(head, head, "id", of=f"names.{place}") for place, head in enumerate(heads)),
        Column("n", "n", "count"),
        *(
            Column(key, shortened_inside(run, _HEAD_WIDTH), "mean", of=f"means.{place}", is_spare=True)
            for place, (key, run) in enumerate(zip(("baseline", "candidate"), runs, strict=True))
        ),
        Column("delta", "delta", "delta", marked_by=("verdict", "open")),
        Column("ci", "95% interval", "interval", signed=True),
        Column("p", "p", "p", of="p_value", digits=2),
        Column("q", "q", "p", "false discovery rate (Benjamini-Hochberg)", of="q_value", digits=2),
        Column("unjudged", "unjudged items", "interval", SPAN, of="span", signed=True, digits=2),
        Column("alone", f"{alone} alone", "delta"),
    ]
    return Table.of(columns, rows, title, marks=signs, footnotes=footnotes, **more)


SPAN = "delta, if each is counted from 0 up to the average item at its rank"


def is_judged(metric: Estimate) -> bool:
    """Return whether a test gave the verdict, or none is needed: for identical runs and metrics that are only shown."""
    return metric.p_value is not None or metric.verdict in ("identical", None)


def equivalence_tables(comparison: Comparison) -> list[Table]:
    """Return the table with the test of equivalence of each metric, or no table unless requested."""
    asked = [metric for metric in comparison.metrics if metric.equivalence is not None]
    if not asked or asked[0].equivalence is None:
        return []
    columns = [
        Column("metric", "metric", "id"),
        Column("finding", "finding", "text", of=lambda metric: _equivalence_finding(metric.equivalence)),
        Column("ci", "90% interval", "interval", of="equivalence.ci", signed=True),
        Column("p", "p", "p", of="equivalence.p_value", digits=2),
    ]
    return [Table.of(columns, asked, f"equivalence within ±{shown_margin(asked[0].equivalence.margin)}")]


def _equivalence_finding(equivalence: Equivalence) -> str:
    """Return the finding of a test of equivalence in a few words, with the reason if there is no p-value."""
    if equivalence.p_value is None:
        return f"identical in every {unit()}" if equivalence.equivalent else "cannot be tested"
    return "equivalent" if equivalence.equivalent else "not shown equivalent"


def detectable_cell(metric: Estimate) -> str | None:
    """Return the detectable difference, None if one was detected; "none": not even the largest is detectable."""
    if metric.verdict != "no_difference_detected" or metric.p_value is None or metric.is_drawn:
        return None
    return "none" if metric.detectable_delta is None else points(metric.detectable_delta)


def evidence_words(comparisons: Sequence[Comparison]) -> list[str]:
    """Return what delta, interval and p are."""
    metrics = [metric for comparison in comparisons for metric in comparison.metrics]
    tested = [metric for metric in metrics if metric.p_value is not None]
    lines = ["delta: candidate - baseline, in absolute points"]
    if not tested:
        return lines
    named = [of for each in comparisons for of in ((each.slices or ()) if each.suite else each.metrics) if of.p_value]
    intervals = " and ".join(dict.fromkeys(map(interval_name, named)))
    tests = " and ".join(dict.fromkeys(map(test_name, named)))
    over = "metrics" if len(comparisons) == 1 else "metrics of all candidates"
    holm = f", Holm-corrected for {len(tested)} {over} at once" if len(tested) > 1 else ""
    return [*lines, f"95% interval: {intervals}; p: {tests}{holm}"]


def interval_name(metric: Estimate) -> str:
    """Return the method that gave the interval of a metric."""
    if metric.variance is not None:
        return f"t over {units()} and runs, crossed"
    if metric.about.clusters is not None:
        return "t over clusters (CR2)"
    return _INTERVALS.get(metric.about.ci_method, metric.about.ci_method)


def test_name(metric: Estimate) -> str:
    """Return which test gave the p-value of a metric."""
    if metric.variance is not None or metric.about.clusters is not None:
        return "its t-test"
    return _TESTS.get(metric.about.test, metric.about.test)


def slice_tables(comparison: Comparison) -> list[Table]:
    """Return the table of slices, the worst first, without the middle of many; no table unless requested.

    A suite has one per metric, of its datasets.
    """
    of_metric: dict[str, list[Estimate]] = {}
    for row in comparison.slices or ():
        of_metric.setdefault(row.metric or comparison.metrics[0].metric, []).append(row)
    if comparison.slices == ():
        of_metric[comparison.metrics[0].metric] = []
    return [_slice_table(comparison, name, slices) for name, slices in of_metric.items()]


def _slice_table(comparison: Comparison, metric: str, slices: Sequence[Estimate]) -> Table:
    first, attributes = comparison.metrics[0], list(dict.fromkeys(of.about.attribute for of in slices))
    attributes = attributes or list(comparison.where.attributes if comparison.where is not None else ())
    is_one = len(attributes) < 2
    folded = {key for of in slices if of.about.apart is not None for key in of.about.apart.also}
    slices = [of for of in slices if of.about.key not in folded]
    shown, n_hidden = list(slices), len(slices) - 2 * SLICES_SHOWN
    if n_hidden > 0:
        shown = [*slices[:SLICES_SHOWN], *slices[-SLICES_SHOWN:]]
    rows = [
        replace(
            Row.of(of, [value_name(of.about.value) if is_one else slice_name(*of.about.key)], _slice_footnotes(of)),
            n=of.n,
            q_value=of.q_value,
            means=(None, None) if first.is_drawn else of.means,
        )
        for of in shown
    ]
    what = "slice" if comparison.suite is None else "dataset"
    by = "".join(attributes) if is_one else counted(len(attributes), "attribute")
    title = f"{metric} by {by}: {_slices_found(slices)} ({counted(len(slices), what)})"
    runs = (comparison.baseline.name, comparison.candidate.name)
    head = by if is_one else "slice"
    return rows_table(rows, [head], runs, title, legend=_slice_legend(slices, first, what))


def _slices_found(slices: Sequence[Estimate]) -> str:
    """Return how many slices moved and which way, and how many no test can judge."""
    moved = [
        f"{number} {MARKS[verdict].word}"
        for verdict in ("regressed", "improved")
        if (number := sum(row.verdict == verdict for row in slices))
    ]
    n_untested = sum(row.is_untested for row in slices)
    return ", ".join([*(moved or ["no difference detected"]), *([f"{n_untested} not tested"] if n_untested else [])])


def _slice_legend(slices: Sequence[Estimate], first: Estimate, what: str) -> list[str]:
    """Return how to read the table of slices, and how many are not in it."""
    lines, n_tested = [], sum(row.p_value is not None for row in slices)
    if n_tested:
        holm = f", Holm-corrected for {counted(n_tested, what)} at once" if n_tested > 1 else ""
        is_paired = first.variance is None and first.about.clusters is None and what == "slice"
        lines.append(f"p, which gives the verdict: {'paired t-test' if is_paired else 'test as above'}{holm}")
    if any(row.about.value is None for row in slices):
        lines.append(f"{NO_VALUE}: the {units()} without this attribute")
    n_hidden = len(slices) - 2 * SLICES_SHOWN
    if n_hidden > 0:
        lines.append(f"not shown: {counted(n_hidden, what)} between the worst and the best; JSON and CSV have all")
    return lines


def _slice_footnotes(row: Estimate) -> list[str]:
    """Return the footnotes of one slice, worded so that slices can share them."""
    warning, counts = next(iter(row.warnings), None), count_footnotes(row.about.groups)
    if warning is not None and row.is_untested:
        of_what = "clusters" if warning.facts.get("of_clusters") else units()
        same = f"all {of_what} differ by the same amount: the interval and the p-value are undefined"
        return [sentence(warning) if warning.kind == "one_group" else same]
    if row.verdict == "not_comparable":
        return [NOT_COMPARABLE["other_ids"] if row.has_other_ids else f"no {unit()} that counts"]
    if row.verdict == "identical":
        return [*counts, IDENTICAL]
    if warning is not None:
        return [*counts, few_differences(warning) if warning.kind == "low_information" else sentence(warning)]
    return counts


def count_footnotes(groups: GroupCounts) -> list[str]:
    """Return a sentence for every count of groups that do not have a result in both runs."""
    fate = "counted as 0 in the other" if groups.missing == "zero" else "left out"
    of_missing = "left out" if groups.missing in ("intersect", "skip") else "counted as 0"
    in_neither = 0 if groups.missing == "skip" else groups.in_neither
    sentences = [
        (
            groups.in_neither,
            f"with labels but in neither run: {'counted the same in both' if in_neither else 'left out'}",
        ),
        (groups.missing_in_baseline - in_neither, f"with labels but missing in the baseline run: {of_missing}"),
        (groups.missing_in_candidate - in_neither, f"with labels but missing in the candidate run: {of_missing}"),
        (groups.only_in_baseline, f"with a result in the baseline only: {fate}"),
        (groups.only_in_candidate, f"with a result in the candidate only: {fate}"),
        (groups.undefined, "undefined in both runs: left out"),
    ]
    return [f"{counted(n, 'group')} {sentence}" for n, sentence in sentences if n]


_TOGETHER = (
    Column("mean", "mean", "text", of="0"),
    Column("question", "generalizes to", "text", of="1"),
    Column("delta", "delta", "delta", of="2.delta"),
    Column("ci", "95% interval", "interval", of="2.ci", signed=True),
    Column("p", "p", "p", of="2.p_value", digits=2),
)


def n_datasets(comparison: Comparison) -> int:
    """Return on how many datasets of a suite both runs are."""
    return len({row.about.value for row in comparison.slices or ()})


MACRO = "macro "
"""Before the name of a metric whose mean is over the datasets of a suite."""


def bare_name(metric: Estimate) -> str:
    """Return the name of a metric itself, also where its mean is over the datasets of a suite."""
    return metric.metric.removeprefix(MACRO)


def suite_means(metric: Estimate) -> list[tuple[str, str, Estimate]]:
    """Return the means of a metric over the datasets of a suite, and what each generalizes to."""
    return [
        ("macro", f"other {units('query')} of these datasets", metric),
        ("macro", "other datasets like these", metric.others["over_datasets"]),
        ("micro", f"other {units('query')} of these datasets", metric.others["micro"]),
    ]


def suite_tables(comparison: Comparison) -> list[Table]:
    """Return the means of each metric over the datasets of a suite, nothing for one dataset."""
    metrics = comparison.metrics if comparison.suite is not None else ()
    return [Table.of(_TOGETHER, suite_means(of), f"{bare_name(of)} on all datasets") for of in metrics]


def group_tables(comparison: Comparison) -> list[Table]:
    """Return the tables of the worst and the best groups, without empty tables."""
    metric = comparison.metrics[0].metric
    tables = {f"worst {units()} in {metric}": comparison.worst, f"best {units()} in {metric}": comparison.best}
    return [Table.of(_OF_GROUPS, groups, title) for title, groups in tables.items() if groups]


def _of_move(tell: Callable[[ItemMove], object]) -> Callable[[GroupDelta], object]:
    """Return what to tell of the item that explains most of a group's delta."""
    return lambda group: tell(group.moves[0]) if group.moves else None


_OF_GROUPS = (
    Column("group", "group", "id"),
    Column("baseline", "baseline", "mean"),
    Column("candidate", "candidate", "mean"),
    Column("delta", "delta", "delta", of="delta"),
    Column("moved", "of which", "delta", of=_of_move(lambda move: move.contribution)),
    Column("rank", "rank", "text", of=_of_move(lambda move: _ranks(move))),
    Column("item", "item", "id", of=_of_move(lambda move: f"{move.item} ({grade_words(move.grade)})")),
)
"""The columns of a group, with the item that explains most of its delta if the metric is a sum over items."""


def grade_words(grade: float | None) -> str:
    """Return how a report names the grade of an item."""
    return "unjudged" if grade is None else f"grade {grade:g}"


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
    seen = [of for of in comparison.tie_groups if points(of.worst) != points(of.best)]
    n_open = len(seen) if comparison.n_tie_groups is None else comparison.n_tie_groups
    title = f"{units()} whose {comparison.metrics[0].metric} depends on ties in scores"
    if n_open > len(seen):
        title += f" ({len(seen) or 'none'} of {n_open:,} shown)"
    columns = kinds("group id, run id, worst mean, value mean, best mean")
    return [Table.of(columns, seen, title if n_open else f"no {title}")]


RUNS_SHOWN = 5


def labels_text(labels: LabelSetRef) -> str:
    """Return the version of labels, their judge, and their digest if it is known."""
    if labels.judge == EXTERNAL_JUDGE:
        return "none: the results were given as values"
    digest = f", digest {labels.digest[:12]}" if labels.digest else ""
    return f"version {labels.version}{whose(labels)}{model_words(labels)}{digest}"


def model_words(of: LabelSetRef | LabelDetail) -> str:
    """Return the model and the prompt that gave labels in brackets after a blank, "" if they are not known."""
    told = [f"{name} {shortened(of_name, 60)}" for name in ("model", "prompt") if (of_name := getattr(of, name))]
    return f" ({', '.join(told)})" if told else ""


def reason_lines(labels: Iterable[tuple[str, LabelDetail | None]]) -> list[Line]:
    """Return whose reasons of labels these are, and a line for each of the first ones.

    ``labels``: what each line begins with, and what is known of the label, None for nothing.
    """
    known = [(about, detail) for about, detail in labels if detail is not None]
    givers = {f"{detail.given_by}{model_words(detail)}".strip() for _, detail in known}
    is_one = len(givers) == 1
    lines = [f"reasons of {giver}" for giver in givers if giver and is_one]
    for about, detail in known[:_REASONS]:
        spread = f"mean of {counted(detail.n_given, 'label')}, standard deviation {detail.std_dev:.2g}"
        told = "; ".join(filter(None, [detail.reason, spread if detail.n_given > 1 else ""]))
        lines.append(f"{about}: {told}" if is_one else f"{detail.given_by or 'unnamed'} on {about}: {told}")
    n_more = len(known) - _REASONS
    lines += [f"... and {counted(n_more, 'more reason')}; JSON has all"] if n_more > 0 else []
    return [Line("", line) for line in lines]


def facts(comparison: Comparison, spelled: Spelling, *, beside_table: bool = False) -> list[tuple[str, str]]:
    """Return what was compared, except the groups, as names and values; ``spelled``: how arguments are spelled.

    ``beside_table``: whether the table of metrics comes with them, which shows judged shares that differ.
    """
    pairs = [
        *_arms(comparison),
        *(("in neither run", worded(sentence, spelled)) for sentence in _of_all_metrics(comparison)),
        *([("labels", labels_text(comparison.label_set))] if comparison.suite is None else []),
    ]
    in_table = {
        metric.about.judged
        for metric in comparison.metrics
        if metric.about.judged is not None and metric.about.judged.is_apart
    }
    for share in comparison.coverage:
        if beside_table and share in in_table:
            continue
        where = "judged" if share.cutoff is None else f"judged@{share.cutoff}"
        baseline, candidate = (
            "not known" if judged_share is None else percent(judged_share)
            for judged_share in (share.baseline, share.candidate)
        )
        pairs.append((where, f"baseline {baseline}, candidate {candidate}"))
    for metric in comparison.metrics[:1]:
        if metric.rare_loss is not None:
            of_metric = "" if len(comparison.metrics) == 1 else f"{metric.metric}: "
            told = rare_loss_words(metric.rare_loss, of_clusters=metric.about.clusters is not None)
            pairs.append(("rare loss", of_metric + told))
    for metric in comparison.metrics:
        effect = metric.about.tie_effect
        if effect is not None and (_is_seen_open(effect.baseline) or _is_seen_open(effect.candidate)):
            pairs.append(
                ("ties", f"{metric.metric}: baseline {_range(effect.baseline)}, candidate {_range(effect.candidate)}")
            )
    return pairs


def rare_loss_words(rare: RareLoss, *, of_clusters: bool, who: str = "") -> str:
    """Return the worst loss and how many queries may lose more; ``who``: which query lost most."""
    who_loses = "clusters" if of_clusters else units("query")
    most = f"at most {rare.share * 100:.2g}% of {who_loses} should lose"
    return f"worst loss {points(rare.worst)}{who}; {most} more (95%)" if rare.worst else f"no loss; {most} (95%)"


def limit_words(check: LimitCheck) -> str:
    """Return a number of both runs and its limit.

    >>> from ndcg_tracker.compare.limits import LimitCheck
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
                    f"{metric.metric}: {of_runs} from the runs, {by_groups} from runs by {units()}, the rest from the "
                    f"{units()}, {parts.df:.1f} degrees of freedom; the interval is "
                    f"±{points(parts.half_width)}, with twice the runs about ±{wider[0]}, with twice the {units()} "
                    f"about ±{wider[1]}",
                )
            )
    first = comparison.metrics[0]
    if first.about.clusters is not None:
        of = f"{first.about.clusters.n:,} by {first.about.clusters.attribute} of {counted(first.n, 'group')}"
        pairs.append(("clusters", f"{of}; {first.df:.1f} degrees of freedom"))
    return pairs


def canonical_names(shown: Comparison, stored: Comparison) -> list[tuple[str, str]]:
    """Return, as facts, the canonical text of metrics shown under a tool's name, and the requested text of others."""
    pairs = [(bare_name(metric), other.metric) for metric, other in zip(shown.metrics, stored.metrics, strict=True)]
    names = [("metric", f"{name} = {canonical}") for name, canonical in pairs if name != canonical]
    return [*names, *requests(shown)]


def requests(shown: Comparison) -> list[tuple[str, str]]:
    """Return, as facts, the requested text of metrics that are shown under another name."""
    named = [(bare_name(metric), metric.about.requested_as) for metric in shown.metrics]
    return [("asked for", f"{name} as {asked}") for name, asked in named if asked not in ("", name)]


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
    groups = max((metric.about.groups for metric in comparison.metrics), key=lambda groups: groups.in_neither)
    if groups.in_neither and groups.missing != "skip" and not comparison.is_comparable:
        return [f"{counted(groups.in_neither, 'group')} with labels"]
    return in_neither(groups)


def _is_seen_open(bounds: TieBounds) -> bool:
    """Return whether the digits shown tell the bounds apart."""
    return points(bounds.worst) != points(bounds.best)


def _range(bounds: TieBounds) -> str:
    return f"{points(bounds.worst)} to {points(bounds.best)}" if _is_seen_open(bounds) else points(bounds.best)
