"""Two runs, metric by metric: from paired arrays to typed results with a verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from ndcg_tracker.compare.drawn import DrawnCheck, why_not_drawn
from ndcg_tracker.compare.inference import GROUPS_ONLY, NOTHING, Chance, Methods, infer, metric_warnings
from ndcg_tracker.compare.pair import Pairing
from ndcg_tracker.compare.results import (
    ALPHA,
    Clusters,
    Comparison,
    GroupCounts,
    GroupDelta,
    JudgedShare,
    LabelSetRef,
    ListedShare,
    MetricComparison,
    NotComparable,
    OpenDeltas,
    OpenVerdict,
    PossibleDelta,
    RareLoss,
    RunRef,
    SliceComparison,
    TieEffect,
    Verdict,
    corrected_verdict,
    ties_note,
)
from ndcg_tracker.compare.slices import Slicing, compare_slices, worst_first
from ndcg_tracker.errors import InputError
from ndcg_tracker.metrics.language.measures import ShownOnly
from ndcg_tracker.metrics.language.metric import Direction
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.rankings import Floats, Index, Mask
from ndcg_tracker.rankings.ranking import LabelLists
from ndcg_tracker.statistics.distribution_free import share_upper_bound
from ndcg_tracker.statistics.many_tests import holm
from ndcg_tracker.statistics.t_distribution import two_sided_p, two_sided_t
from ndcg_tracker.statistics.t_test import Equivalence, checked_weights, detectable_delta, limited
from ndcg_tracker.words.notes import Fact, Note, all_one_notes, carry_command
from ndcg_tracker.words.texts import sample_command

GroupNames = Callable[[Index], Sequence[str]]

T_TEST = Methods()


@dataclass(frozen=True, slots=True)
class PairedResults:
    """One metric of two runs, ready to be compared.

    ``metric``: its canonical text. ``weights``: float64, shape (n,), one per paired group, or None. ``missing_in_*``:
    how many labelled groups that run lacks. ``means``: the means of baseline and candidate if they are not a (weighted)
    mean of the group results. ``no_inference``: why no test applies, None if one does (``empty_weight=one``).
    ``tie_effect``: the bounds of both means over ties in scores, if known. ``limits``: the smallest and the largest
    possible difference, None if they are not known. ``not_judged``: which runs have no judged item that the metric
    counts, None if both have some. ``shown_only``: why the metric is shown but not compared (``no_inference`` is a note
    about that), None if it is compared. ``chance``: the repeats in arms, or clusters of the paired groups by the
    attribute ``clustered_by``. ``direction``: which values are better. ``open``: what unjudged items leave open.
    ``unreached``: a note that labels do not reach both runs, None if they do. ``same_lists``: bool,
    shape (n,), whether both lists of a group are the same, None if unknown. ``check``: what drawn answers say, None
    without any; then ``chance`` says which groups are exact. ``graded``: labels with answers that are too few to
    decide, None for the stored labels.
    """

    metric: str
    pairing: Pairing
    weights: Floats | None = None
    missing_in_baseline: int = 0
    missing_in_candidate: int = 0
    means: tuple[float, float] | None = None
    no_inference: Note | None = None
    tie_effect: TieEffect | None = None
    limits: tuple[float, float] | None = None
    not_judged: NotComparable | None = None
    shown_only: ShownOnly | None = None
    chance: Chance = GROUPS_ONLY
    clustered_by: str | None = None
    direction: Direction = "higher"
    open: OpenDeltas | None = None
    unreached: Note | None = None
    same_lists: Mask | None = None
    check: DrawnCheck | None = None
    graded: LabelLists | None = None

    def of(self, places: Index) -> PairedResults:
        """Return the same for some of the groups."""
        pairing = self.pairing
        groups = replace(
            pairing,
            group_ids=pairing.group_ids[places],
            baseline=pairing.baseline[places],
            candidate=pairing.candidate[places],
        )
        weights = None if self.weights is None else self.weights[places]
        return replace(self, pairing=groups, weights=weights, chance=self.chance.of(places))

    @property
    def is_drawn(self) -> bool:
        """Whether only drawn groups are exact, so that nothing is known about the others."""
        return self.chance.drawn is not None

    @property
    def gain(self) -> Floats:
        """By how much each paired group is better in the candidate: float64, shape (n,)."""
        return self.pairing.delta if self.direction == "higher" else -self.pairing.delta

    @property
    def seen(self) -> Mask:
        """Which paired groups a run has: bool, shape (n,); those in neither show no loss, and no lack of one."""
        ids, in_neither = self.pairing.group_ids, self.pairing.in_neither
        return np.isin(ids, in_neither, invert=True) if in_neither.size else np.ones(ids.size, dtype=np.bool_)

    @property
    def chance_of_gain(self) -> Chance:
        """The sources of chance in a test of the gain."""
        if self.direction == "higher" or self.chance.repeats is None:
            return self.chance
        baseline, candidate = self.chance.repeats
        return replace(self.chance, repeats=(-baseline, -candidate))


@dataclass(frozen=True, slots=True)
class ComparedRuns:
    """Two runs under one label set, as reports name them, and what is known about them besides their results.

    ``are_labels_asked``: whether the request names a version of the labels.
    """

    baseline: RunRef
    candidate: RunRef
    dataset: str
    label_set: LabelSetRef
    coverage: tuple[JudgedShare, ...] = ()
    listed: tuple[ListedShare, ...] = ()
    notes: tuple[Note, ...] = ()
    are_labels_asked: bool = False


def compare_runs(
    runs: ComparedRuns,
    results: Sequence[PairedResults],
    group_names: GroupNames,
    *,
    methods: Methods = T_TEST,
    top: int = 10,
    by: Slicing | None = None,
) -> Comparison:
    """Return the comparison of two runs under one label set.

    Parameters: ``results``: at least one metric; the first one decides the counts of groups and the worst and best
    groups. ``group_names``: returns the ids of groups for their numbers (int64), in the same order. ``top``: how many
    worst and best groups to keep. ``by``: slices of the first metric's groups to compare as well, always by t-tests.
    Raises: ValueError without any metric; InputError for methods that do not apply (weights with "wilcoxon",
    differences beyond 1 with "betting", slices where no test applies).
    """
    if not results:
        raise ValueError("a comparison needs at least one metric")
    metrics = compare_metrics(results, methods)
    first = results[0]
    if first.shown_only is not None or first.is_drawn:
        top = 0  # no value says which group is worse: of no quality, or not labelled by people
    if by is not None and first.no_inference is not None:
        raise InputError(f"{first.metric} cannot be sliced: no test applies", advice="name another metric first")
    has_ties = any(metric.tie_effect is not None and metric.tie_effect.is_open for metric in metrics)
    runs_notes = [note for note in runs.notes if has_ties or note.kind != "tie_orders"]
    comparison = Comparison(
        runs.baseline,
        runs.candidate,
        runs.dataset,
        runs.label_set,
        metrics[0].groups,
        metrics,
        worst=extreme_groups(first, group_names, top=top, sign=-1),
        best=extreme_groups(first, group_names, top=top, sign=1),
        notes=(*runs_notes, *_equal_metrics(results, metrics)),
        coverage=runs.coverage,
        listed=runs.listed,
        slices=None if by is None else worst_first(_sliced(first, by), first.direction),
        slice_attribute=None if by is None else by.attribute,
        are_labels_asked=runs.are_labels_asked or any(note.kind == "newer_labels" for note in runs.notes),
    )
    return _with_metric_notes(comparison)


def are_same(same_lists: Mask | None) -> bool:
    """Return whether all lists are known to be the same."""
    return same_lists is not None and bool(same_lists.all())


_OF_METRICS = ("ties", "nothing_judged", "all_one", "unjudged_zero", "unjudged_open")


def _with_metric_notes(comparison: Comparison) -> Comparison:
    """Return the comparison with the current notes on its metrics."""
    metrics = comparison.metrics
    notes = [note for note in comparison.notes if note.kind not in _OF_METRICS]
    notes += [
        ties_note(metric.tie_effect, metric.metric)
        for metric in metrics
        if metric.ties_could_change_verdict and metric.tie_effect is not None
    ]
    unjudged = [metric.metric for metric in metrics if metric.not_comparable == "nothing_judged"]
    if unjudged:
        notes.append(Note("nothing_judged", {"metrics": unjudged}, carry_command(comparison.dataset)))
    same = [metric for metric in metrics if metric.verdict == "identical"]
    notes += all_one_notes((metric.requested_as or metric.metric, metric.baseline, metric.n) for metric in same)
    notes += _of_open(comparison)
    return replace(comparison, notes=tuple(notes))


def _equal_metrics(results: Sequence[PairedResults], metrics: Sequence[MetricComparison]) -> list[Note]:
    """Return a note on the first two tested metrics that are equal in every group of both runs."""
    tested = [
        (paired.pairing, metric.metric) for paired, metric in zip(results, metrics, strict=True) if metric.p_value
    ]
    for (pairing, name), (other, other_name) in combinations(tested, 2):
        if np.array_equal(pairing.baseline, other.baseline) and np.array_equal(pairing.candidate, other.candidate):
            return [Note("equal_metrics", {"metrics": [name, other_name]})]
    return []


def _of_open(comparison: Comparison) -> list[Note]:
    """Return notes on what unjudged items leave open: why it is not known of a metric, and how to settle a verdict."""
    notes, sides = list[Note](), (comparison.baseline, comparison.candidate)
    lefts = [(metric, metric.open) for metric in comparison.metrics if metric.open is not None]
    for metric, left in [(metric, left) for metric, left in lefts if left.stop is not None][:1]:
        notes.append(Note("unjudged_zero", {"metric": metric.metric, "stop": left.stop}))
    for metric, left in [(metric, left) for metric, left in lefts if metric.is_open][:1]:
        names = [run.runs[0].name if run.runs else run.name for run in sides]
        n_items = None if any(run.runs for run in sides) else left.n_items
        notes.append(closing_note(comparison, metric.metric, names, n_items, left.n_groups))
    return notes


def closing_note(
    comparison: Comparison,
    metric: str,
    names: Sequence[str],
    n_items: int | None = None,
    n_groups: int | None = None,
) -> Note:
    """Return a note with the command that settles what unjudged items leave open; ``names``: one run of each side.

    ``n_items``, ``n_groups``: how many items are unjudged, and in how many groups; None if that is not known.
    """
    labels = comparison.label_set
    facts: dict[str, Fact] = {"metric": metric, "n": n_items, "n_groups": n_groups}
    if n_items and not labels.judge and not comparison.are_labels_asked and why_not_drawn(parse_metric(metric)) is None:
        command = sample_command(names, "", comparison.dataset, metric=metric, budget=n_items)
        return Note("unjudged_open", facts, command)
    chosen = ("--judge", labels.judge) if labels.judge else ()
    if comparison.are_labels_asked:
        chosen = (*chosen, "--labels", str(labels.version))
    words = (*dict.fromkeys(names), "--metric", metric, "--dataset", comparison.dataset, "--all", *chosen)
    return Note("unjudged_open", facts, ("ndcg-track", "labels", "needed", *words))


def compare_metrics(results: Sequence[PairedResults], methods: Methods = T_TEST) -> tuple[MetricComparison, ...]:
    """Return the comparison of each metric, the p-values Holm-corrected over all of them.

    The verdict is "improved" or "regressed" if the corrected p is below .05, by the sign of delta and the metric's
    direction. It is "identical" if every difference is 0, and "not_comparable" if no group counts, or if every
    difference is 0 because neither run has a judged item that the metric counts. Otherwise it is
    "no_difference_detected". That includes cases that no test can decide: a single group, the same nonzero difference
    in every group, and a metric without inference. Then a warning says so, p and interval are None, and only delta is
    known. A metric that is only shown (``PairedResults.shown_only``) has no verdict at all.

    Parameters and raises: as ``compare_runs``.
    """
    return _adjusted([_compared(metric, methods) for metric in results])


def adjusted_jointly(comparisons: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """Return several candidates' comparisons with one baseline, Holm-corrected over all of their metrics together."""
    metrics = _adjusted([metric for comparison in comparisons for metric in comparison.metrics])
    adjusted, done = [], 0
    for comparison in comparisons:
        own = metrics[done : done + len(comparison.metrics)]
        adjusted.append(_with_metric_notes(replace(comparison, metrics=own)))
        done += len(comparison.metrics)
    return tuple(adjusted)


def extreme_groups(results: PairedResults, group_names: GroupNames, *, top: int, sign: int) -> tuple[GroupDelta, ...]:
    """Return the groups that got worse or better by most, the largest change first, equal ones by key in byte order.

    Parameters: ``top``: how many at most. ``sign``: -1 for the worst groups, 1 for the best. Groups that did not move
    that way, or have weight 0, are never among them.
    """
    pairing = results.pairing
    moves = sign * results.gain
    sign = sign if results.direction == "higher" else -sign
    places = np.flatnonzero(moves > 0 if results.weights is None else (moves > 0) & (results.weights > 0))
    if top < 1 or not places.size:
        return ()
    if places.size > top:
        threshold = np.partition(moves[places], places.size - top)[places.size - top]
        places = places[moves[places] >= threshold]  # all that tie with the last one: their keys decide
    names = group_names(pairing.group_ids[places])
    ordered = sorted(zip((-moves[places]).tolist(), names, places.tolist(), strict=True))[:top]
    return tuple(
        GroupDelta(name, float(pairing.baseline[place]), float(pairing.candidate[place]), -sign * move)
        for move, name, place in ordered
    )


def _compared(results: PairedResults, methods: Methods) -> MetricComparison:
    """Return one metric's comparison, as if it were the only one."""
    pairing = results.pairing
    delta, weights, chance = pairing.delta, results.weights, results.chance
    if weights is not None and not weights.all():
        counts = np.flatnonzero(checked_weights(delta, weights))
        delta, weights, chance = delta[counts], weights[counts], chance.of(counts)
    test, variance = chance.test(delta, weights)
    n_wins, n_losses = int((delta > 0).sum()), int((delta < 0).sum())
    counted = not results.is_drawn
    if results.direction == "lower":
        n_wins, n_losses = n_losses, n_wins
    if test.n and results.means is not None:
        means: tuple[float | None, float | None] = results.means
        mean: float | None = results.means[1] - results.means[0]
    else:
        means = _means(pairing, results.weights) if test.n and counted else (None, None)
        mean = test.mean
    same = test.n > 0 and not n_wins + n_losses and counted
    neither = results.not_judged == "nothing_judged"
    identical = same and not neither
    unknown = "no_group" if not test.n else results.not_judged if same or not neither else None
    if unknown is None and results.unreached is not None and results.unreached.kind == "other_ids":
        unknown = "other_ids"
    if results.shown_only is not None:
        unknown = None
    inferred = test.n > 1 and not same and results.no_inference is None and not unknown
    information = chance.information(delta, weights)
    inference = infer(delta, weights, test, methods, results.metric) if inferred else NOTHING
    return MetricComparison(
        metric=results.metric,
        baseline=means[0],
        candidate=means[1],
        delta=None if unknown not in (None, "other_ids") else mean,
        ci=limited(inference.ci, results.limits),
        ci_method=methods.ci,
        p_value=inference.p_value,
        p_adjusted=inference.p_value,
        test=methods.test,
        n=test.n,
        wins=n_wins if counted else None,
        ties=test.n - n_wins - n_losses if counted else None,
        losses=n_losses if counted else None,
        effect_size=test.effect_size if inferred and counted else None,
        detectable_delta=possible(detectable_delta(test, alpha=ALPHA), results.limits)
        if inferred and test.t is not None and counted
        else None,
        warnings=()
        if unknown == "other_ids"
        else (results.no_inference,)
        if results.shown_only is not None and results.no_inference is not None
        else metric_warnings(
            results.no_inference, pairing.group_ids.size - test.n, information, inference, methods.test
        ),
        verdict=_before_correction(results, identical, unknown),
        groups=GroupCounts(
            paired=pairing.group_ids.size,
            only_in_baseline=pairing.only_in_baseline.size,
            only_in_candidate=pairing.only_in_candidate.size,
            undefined=pairing.undefined,
            missing_in_baseline=results.missing_in_baseline,
            missing_in_candidate=results.missing_in_candidate,
            missing=pairing.missing,
            in_neither=pairing.in_neither.size,
        ),
        tie_effect=results.tie_effect,
        equivalence=_within(inference.equivalence, results.limits)
        if inferred
        else _uninferred(None if results.shown_only else methods.equivalence, equivalent=identical),
        not_comparable=unknown,
        standard_error=test.standard_error,
        df=test.df,
        variance=variance if inferred else None,
        clusters=None if results.clustered_by is None else Clusters(results.clustered_by, information.n),
        shown_only=results.shown_only,
        direction=results.direction,
        judged=None if results.open is None else results.open.share,
        open=_open_verdict(results, methods),
        rare_loss=_rare_loss(results) if (inferred or same) and not unknown and weights is None and counted else None,
        check=results.check,
    )


def possible(delta: float | None, limits: tuple[float, float] | None) -> float | None:
    """Return a size of a difference, None if it is larger than the limits of a metric allow.

    >>> possible(0.2, (-1.0, 1.0)), possible(5.6, (-1.0, 1.0)), possible(5.6, None)
    (0.2, None, 5.6)
    """
    return None if delta is not None and limits is not None and delta > max(-limits[0], limits[1]) else delta


def _rare_loss(results: PairedResults) -> RareLoss | None:
    """Return how many groups, or clusters, may lose more than any group did; None if no group can."""
    gain, clusters = results.gain[results.seen], results.chance.of(results.seen).clusters
    n = gain.size if clusters is None else np.unique(clusters).size
    worst = max(0.0, -float(gain.min(initial=0.0)))
    is_most = results.limits is not None and worst >= max(-results.limits[0], results.limits[1])
    return None if not n or is_most else RareLoss(n, worst, share_upper_bound(0, n))


def _possible(results: PairedResults, methods: Methods, delta: Floats | None) -> PossibleDelta | None:
    """Return the comparison with other differences of the groups, None where these are not known."""
    if delta is None:
        return None
    pairing = replace(results.pairing, candidate=results.pairing.baseline + delta)
    chance = results.chance.shifted(delta - results.pairing.delta)
    comparison = _compared(replace(results, pairing=pairing, chance=chance, open=None), methods)
    return PossibleDelta(comparison.delta, comparison.ci, comparison.p_value, comparison.p_value, comparison.verdict)


def _open_verdict(results: PairedResults, methods: Methods) -> OpenVerdict | None:
    """Return what unjudged items leave open, each end tested as if it had been observed."""
    left = results.open
    if left is None:
        return None
    low, high = (_possible(results, methods, delta) for delta in (left.low, left.high))
    n_groups = None if left.low is None or left.high is None else int((left.low != left.high).sum())
    return OpenVerdict(left.n_items, low, high, left.stop, n_groups)


def _before_correction(results: PairedResults, identical: bool, unknown: NotComparable | None) -> Verdict | None:
    """Return the verdict before the corrected p-value is considered."""
    if results.shown_only is not None:
        return None
    return "not_comparable" if unknown else "identical" if identical else "no_difference_detected"


def _sliced(results: PairedResults, by: Slicing) -> tuple[SliceComparison, ...]:
    pairing = results.pairing
    values = (pairing.baseline, pairing.candidate)
    weights, limits, chance = results.weights, results.limits, results.chance
    rows = compare_slices(*values, by.values, weights, limits=limits, chance=chance, direction=results.direction)
    if not results.is_drawn:
        return rows
    return tuple(replace(row, baseline=None, candidate=None, wins=None, ties=None, losses=None) for row in rows)


def _uninferred(margin: float | None, *, equivalent: bool) -> Equivalence | None:
    """Return what is known about equivalence without a test: identical runs are equivalent."""
    return None if margin is None else Equivalence(margin, None, None, equivalent)


def _within(equivalence: Equivalence | None, limits: tuple[float, float] | None) -> Equivalence | None:
    return None if equivalence is None else replace(equivalence, ci=limited(equivalence.ci, limits))


def _adjusted(metrics: Sequence[MetricComparison]) -> tuple[MetricComparison, ...]:
    """Return the metrics with p-values corrected over all of them, and the verdicts that follow."""
    n_tests = sum(metric.p_value is not None for metric in metrics)
    p_values = [
        metric.p_value if metric.check is None else metric.check.p_value(metric.p_value, n_tests) for metric in metrics
    ]
    return tuple(
        replace(
            metric,
            p_adjusted=p,
            verdict=corrected_verdict(metric.verdict, metric.gain, p),
            ties_could_change_verdict=_hangs_on_ties(metric, p_values, place),
            open=adjusted_open(metric.open, p_values, place),
        )
        for place, (metric, p) in enumerate(zip(metrics, holm(p_values), strict=True))
    )


def adjusted_open(left: OpenVerdict | None, p_values: Sequence[float | None], place: int) -> OpenVerdict | None:
    """Return what is open with p-values corrected together with the observed ones of the other metrics."""

    def adjusted(end: PossibleDelta | None) -> PossibleDelta | None:
        if end is None:
            return None
        p = holm([*p_values[:place], end.p_value, *p_values[place + 1 :]])[place]
        return replace(end, p_adjusted=p, verdict=corrected_verdict(end.verdict, end.delta, p))

    return None if left is None else replace(left, low=adjusted(left.low), high=adjusted(left.high))


def _hangs_on_ties(metric: MetricComparison, p_values: Sequence[float | None], place: int) -> bool:
    """Return whether another order of tied items could give another verdict, by the rule that gave this one.

    It moves delta as far as ties allow, keeps its standard error, and corrects its p-value together with the others'.
    """
    effect, p_value, delta = metric.tie_effect, metric.p_value, metric.delta
    if effect is None or not effect.is_open or delta is None or metric.verdict is None:
        return False
    df, standard_error = metric.df, metric.standard_error
    if p_value is not None and p_value < 1 and delta and (metric.test != "t" or not standard_error):
        # the error that a t-test with this p-value would have had
        standard_error = abs(delta) / two_sided_t(max(p_value, 1e-300), df)
    if p_value is None or not standard_error:
        return effect.could_turn(delta)

    def verdict_at(moved: float, p: float | None) -> Verdict | None:
        corrected = holm([*p_values[:place], p, *p_values[place + 1 :]])
        return corrected_verdict(metric.verdict, moved, corrected[place])

    told = verdict_at(delta, p_value)
    return any(verdict_at(bound, two_sided_p(bound / standard_error, df)) != told for bound in effect.delta)


def _means(pairing: Pairing, weights: Floats | None) -> tuple[float, float]:
    """Return the means of both runs, weighted if there are weights."""
    if weights is None:
        return float(pairing.baseline.mean()), float(pairing.candidate.mean())
    total = weights.sum()
    return float((weights * pairing.baseline).sum() / total), float((weights * pairing.candidate).sum() / total)
