"""What a sample says: mean, interval, p-value, verdict. The one path for metrics, slices, suites, judges and ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ndcg_tracker.compare.options import Methods
from ndcg_tracker.compare.results import ALPHA, TIED, About, Estimate, RareLoss
from ndcg_tracker.compare.sample import AnySample, Sample, Span
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.statistics.distribution_free import (
    betting_interval,
    bootstrap_interval,
    settled,
    share_upper_bound,
    sign_flip_p_value,
    wilcoxon_p_value,
)
from ndcg_tracker.statistics.many_tests import benjamini_hochberg, holm
from ndcg_tracker.statistics.t_distribution import two_sided_p, two_sided_t
from ndcg_tracker.statistics.t_test import (
    FEW_DIFFERENCES,
    Equivalence,
    Information,
    TTest,
    detectable_delta,
    equivalence_test,
    limited,
)
from ndcg_tracker.words.notes import Fact, Note

if TYPE_CHECKING:
    from ndcg_tracker.compare.slices import Slicing

T_TEST, NOTHING_KNOWN = Methods(), About()


def estimate(
    sample: AnySample, methods: Methods = T_TEST, *, untestable: Note | None = None, about: About = NOTHING_KNOWN
) -> Estimate:
    """Return what a sample says, as if nothing else had been asked.

    Parameters: ``untestable``: why no test applies, None if one does. ``about``: what it is an estimate of. Raises:
    InputError for a Wilcoxon test with weights, and for a betting interval of differences beyond -1 to 1.

    >>> found = estimate(Sample(np.tile([0.5, 0.25, -0.125, 0.25], 20)))
    >>> found.delta, found.verdict, found.wins, round(found.ci[0], 4)
    (0.21875, 'improved', 60, 0.1688)
    """
    test = sample.test()
    is_drawn, margin = sample.drawn is not None, methods.equivalence
    is_same = sample.is_zero and not is_drawn
    found = Estimate(
        about=replace(about, direction=sample.direction, test=methods.test, ci_method=methods.ci),
        t=test,
        means=sample.means,
        wins=None if is_drawn else sample.wins,
        losses=None if is_drawn else sample.losses,
        settled="not_comparable" if not test.n else "identical" if is_same else None,
        equivalence=None if margin is None else Equivalence(margin, None, None, is_same),
    )
    if not test.n:
        return replace(found, warnings=(Note("no_group"),))
    if is_same:
        return replace(found, rare_loss=rare_loss(sample))
    if untestable is not None:
        return replace(found, t=replace(test, parts=None), warnings=() if is_drawn else (untestable,))
    information = sample.information()
    if test.n < 2:
        return replace(found, warnings=() if is_drawn else (untested(information),))
    p_value, ci = _p_value(sample, test, methods, about.metric), _interval(sample, test, methods, about.metric)
    warnings = [Note("tests_symmetry")] if methods.test == "wilcoxon" else []
    if ci is None and not is_drawn:
        warnings.append(untested(information, has_p=p_value is not None))
    elif not is_drawn:
        warnings += filter(None, [low_information(information)])
    size = None if test.t is None or is_drawn else detectable_delta(test, alpha=ALPHA)
    return replace(
        found,
        ci=limited(ci, sample.limits),
        p_value=p_value,
        p_adjusted=p_value,
        warnings=tuple(warnings),
        equivalence=None if margin is None else _equivalence(test, margin, sample.limits),
        detectable_delta=possible(size, sample.limits),
        rare_loss=rare_loss(sample),
    )


def without_inference(found: Estimate) -> Estimate:
    """Return an estimate with the same numbers, without those about further groups."""
    equal = found.equivalence and Equivalence(found.equivalence.margin, None, None, found.settled == "identical")
    others = {name: other for name, other in found.others.items() if name not in TIED}
    nothing: dict[str, Any] = dict.fromkeys(("ci", "p_value", "p_adjusted", "q_value", "detectable_delta"))
    return replace(
        found, **nothing, t=replace(found.t, parts=None), warnings=(), rare_loss=None, equivalence=equal, others=others
    )


def possible(delta: float | None, limits: Span | None) -> float | None:
    """Return a size of a difference, None if it is larger than the limits of a metric allow.

    >>> possible(0.2, (-1.0, 1.0)), possible(5.6, (-1.0, 1.0)), possible(5.6, None)
    (0.2, None, 5.6)
    """
    return None if delta is not None and limits is not None and delta > max(-limits[0], limits[1]) else delta


def rare_loss(sample: AnySample) -> RareLoss | None:
    """Return how many groups, or clusters, may lose more than any group did; None if no group can, or it is unknown.

    If each stratum is drawn by itself, the bound errs less often than promised, because the product of (1 - share) over
    the strata is at most that of the mean share.
    """
    if sample.weights is not None or sample.drawn is not None:
        return None
    if not isinstance(sample, Sample):
        parts = [rare_loss(part) for part in sample.each]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        n, worst = sum(part.n for part in known), max(part.worst for part in known)
        return RareLoss(n, worst, share_upper_bound(0, n))
    losses, clusters = sample.losing
    n, worst = losses.size if clusters is None else np.unique(clusters).size, max(0.0, float(losses.max(initial=0.0)))
    is_most = sample.limits is not None and worst >= max(-sample.limits[0], sample.limits[1])
    return None if not n or is_most else RareLoss(n, worst, share_upper_bound(0, n))


def at(found: Estimate, delta: float) -> Estimate:
    """Return an estimate with another mean and the same error, as another order of tied items may cause."""
    error, p_value = found.standard_error, found.p_value
    if p_value is not None and p_value < 1 and found.delta and (found.about.test != "t" or not error):
        error = abs(found.delta) / two_sided_t(max(p_value, 1e-300), found.df)  # that a t-test would have had
    moved = None if p_value is None or not error else two_sided_p(delta / error, found.df)
    return replace(found, t=replace(found.t, mean=delta), p_value=moved, p_adjusted=moved, others={})


def adjusted(found: Sequence[Estimate]) -> tuple[Estimate, ...]:
    """Return estimates with p-values corrected over all of them (Holm), each of the others as if it were observed."""
    n_tests = sum(one.p_value is not None for one in found)
    ps = [one.p_value if one.about.check is None else one.about.check.p_value(one.p_value, n_tests) for one in found]

    def instead(place: int, other: Estimate) -> Estimate:
        return replace(other, p_adjusted=holm([*ps[:place], other.p_value, *ps[place + 1 :]])[place])

    return tuple(
        replace(one, p_adjusted=p, others={name: instead(place, other) for name, other in one.others.items()})
        for place, (one, p) in enumerate(zip(found, holm(ps), strict=True))
    )


def sliced(sample: Sample, slicings: Iterable[Slicing]) -> tuple[Estimate, ...]:
    """Return what each slice of groups with the same value of an attribute says, the worst first.

    Benjamini and Hochberg's q-values control the share of false ones among the slices listed, Holm's p-values the
    chance of a single false one. A slice is not comparable if its groups differ but no test can judge it.

    >>> from ndcg_tracker.compare.slices import Slicing
    >>> country = Slicing.of("country", ["de", "de", "fr", None])
    >>> rows = sliced(Sample(np.array([0.5, 0.25, 0.0, -0.125])), [country])
    >>> [(row.about.value, row.n, row.delta, row.verdict) for row in rows]
    [(None, 1, -0.125, 'not_comparable'), ('fr', 1, 0.0, 'identical'), ('de', 2, 0.375, 'no_difference_detected')]
    """
    rows = []
    for name, value, part in ((by.attribute, *each) for by in slicings for each in sample.slices(by)):
        row = estimate(part, about=About(attribute=name, value=value))
        if row.settled is None and row.p_value is None:
            row = replace(row, settled="not_comparable", warnings=row.warnings or (untested(part.information()),))
        rows.append(row)
    qs = benjamini_hochberg([row.p_value for row in rows])
    rows = [replace(row, q_value=q) for row, q in zip(adjusted(rows), qs, strict=True)]
    return tuple(
        sorted(rows, key=lambda row: (row.gain or 0.0, -row.n, row.about.value is None, row.about.value or ""))
    )


def _p_value(sample: AnySample, test: TTest, methods: Methods, metric: str) -> float | None:
    if methods.test == "t" or not isinstance(sample, Sample):
        return test.p_value
    if methods.test == "permutation":
        return sign_flip_p_value(sample.delta, sample.weights)
    if sample.weights is not None:
        choices = f"{argument('test', 't')} or {argument('test', 'permutation')}"
        raise InputError("the Wilcoxon test takes no weights", where=metric, advice=f"choose {choices}", joint=": ")
    return wilcoxon_p_value(sample.delta)


def _interval(sample: AnySample, test: TTest, methods: Methods, metric: str) -> Span | None:
    if methods.ci == "t" or not isinstance(sample, Sample):
        return test.ci
    if methods.ci == "bootstrap":
        return bootstrap_interval(sample.delta, sample.weights)
    if float(np.abs(settled(sample.delta)).max(initial=0.0)) > 1:
        choices = f"{argument('ci', 't')} or {argument('ci', 'bootstrap')}"
        what = "a betting interval needs differences within -1 to 1"
        raise InputError(what, where=metric, advice=f"choose {choices}", joint=": ")
    return betting_interval(sample.delta, sample.weights)


def _equivalence(test: TTest, margin: float, limits: Span | None) -> Equivalence:
    found = equivalence_test(test, margin, alpha=ALPHA)
    return replace(found, ci=limited(found.ci, limits))


def untested(information: Information, *, has_p: bool = False) -> Note:
    """Return why differences, of which some are not 0, have no interval; ``has_p``: whether they have a p-value.

    >>> untested(Information(1, 1, 0.0, of_clusters=True)), untested(Information(3, 3, 0.0)).kind
    (Note(kind='one_group', facts={'of_clusters': True}, command=()), 'same_difference')
    """
    facts: dict[str, Fact] = {"of_clusters": True} if information.of_clusters else {}
    if information.n < 2:
        return Note("one_group", facts)
    return Note("same_difference", {"n": information.n, "has_p": has_p} | facts)


def low_information(information: Information) -> Note | None:
    """Return a note if the differences carry too little information to trust a two-sided t-test, else None.

    >>> low_information(Information(396, 15, 0.0)).facts["n_nonzero"], low_information(Information(396, 55, 0.0))
    (15, None)
    """
    if information.are_few:
        return few_note(information, FEW_DIFFERENCES)
    return skewed_note(information) if information.is_skewed else None


def skewed_note(information: Information) -> Note:
    """Return the note that differences are very skewed."""
    facts: dict[str, Fact] = {"n": information.n, "skewness": information.skewness}
    if information.of_clusters:
        facts["of_clusters"] = True
    return Note("low_information", facts)


def few_note(information: Information, enough: int) -> Note:
    """Return the note that fewer differences than enough are nonzero."""
    facts: dict[str, Fact] = {"n": information.n, "n_nonzero": information.n_nonzero, "enough": enough}
    if information.of_clusters:
        facts |= {"of_clusters": True, "as_equal": information.as_equal}
    return Note("low_information", facts)
