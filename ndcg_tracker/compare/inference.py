"""Inference as requested: the test, the interval, and the warnings that go with them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from ndcg_tracker.compare.drawn import DrawnDeltas
from ndcg_tracker.compare.options import CiMethod, TestName
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.rankings import Floats, Index, Mask
from ndcg_tracker.statistics.distribution_free import (
    FLIPS,
    betting_interval,
    bootstrap_interval,
    settled,
    sign_flip_test,
    wilcoxon_p_value,
)
from ndcg_tracker.statistics.repeats import VarianceParts, crossed_t
from ndcg_tracker.statistics.t_test import (
    FEW_DIFFERENCES,
    Equivalence,
    Information,
    TTest,
    checked_margin,
    clustered_t,
    clusters_that_count,
    equivalence_test,
    information_in,
    paired_t,
    weighted_t,
)
from ndcg_tracker.words.notes import Fact, Note

ALPHA = 0.05
"""The level of tests of equivalence."""


@dataclass(frozen=True, slots=True)
class Methods:
    """The methods of inference.

    ``test``: the test that gives p-values: "t" (paired t-test), "permutation" (sign flips) or "wilcoxon". ``ci``: the
    method of the 95% intervals: "t", "bootstrap" or "betting". ``equivalence``: the margin within which delta counts as
    no difference, tested by two one-sided t-tests. ``resamples``: the number of sign flips or bootstrap resamples.
    Raises: InputError for an unknown method.

    >>> Methods(test="permutation").ci
    't'
    """

    test: TestName = "t"
    ci: CiMethod = "t"
    equivalence: float | None = None
    resamples: int = FLIPS

    def __post_init__(self) -> None:
        """Refuse unknown methods (InputError)."""
        if self.test not in get_args(TestName):
            raise InputError(f"unknown test {self.test!r}", advice="choose t, permutation or wilcoxon", joint=": ")
        if self.ci not in get_args(CiMethod):
            raise InputError(f"unknown interval {self.ci!r}", advice="choose t, bootstrap or betting", joint=": ")
        if self.equivalence is not None:
            checked_margin(self.equivalence, "the equivalence margin", zero=False)
        if self.resamples < 1:
            raise InputError(f"the number of resamples must be 1 or more, not {self.resamples}")

    def check_t_only(self, why: str) -> None:
        """Raise InputError unless only t-tests are requested; ``why``: the data that other methods do not support."""
        for given, name in ((self.test, "test"), (self.ci, "ci")):
            if given != "t":
                raise InputError(f"{argument(name, given)} does not take {why}", advice="leave it out")


@dataclass(frozen=True, slots=True)
class Chance:
    """The sources of chance in a t-test apart from independent groups; with neither, it is the plain paired t-test.

    ``repeats``: the results of each run of both arms, float64, shapes (k_a, n) and (k_b, n). ``clusters``: int64, shape
    (n,), the number of each group's cluster. ``drawn``: which groups were drawn, so that their differences are exact,
    None if all are; ``least_apart``: how many of these must differ.
    """

    repeats: tuple[Floats, Floats] | None = None
    clusters: Index | None = None
    drawn: DrawnDeltas | None = None
    least_apart: int = 0

    @property
    def is_plain(self) -> bool:
        """Whether independent groups are the only source of chance."""
        return self.repeats is None and self.clusters is None and self.drawn is None

    @property
    def may_bet(self) -> bool:
        """Whether betting bounds apply: they cover neither repeats nor drawn groups."""
        return self.repeats is None and self.drawn is None

    def of(self, places: Index | Mask) -> Chance:
        """Return the same for some of the groups."""
        repeats, clusters = self.repeats, self.clusters
        return Chance(
            None if repeats is None else (repeats[0][:, places], repeats[1][:, places]),
            None if clusters is None else np.unique(clusters[places], return_inverse=True)[1],
            None if self.drawn is None else self.drawn.of(places),
            self.least_apart,
        )

    def between(self, baseline: Floats, candidate: Floats) -> Chance:
        """Return the same between two arms with these results, shapes (k_a, n) and (k_b, n)."""
        return replace(self, repeats=(baseline, candidate) if len(baseline) + len(candidate) > 2 else None)

    def shifted(self, by: Floats) -> Chance:
        """Return the same where each run of the candidate has other results: ``by`` more, shape (n,)."""
        if self.repeats is None:
            return self
        baseline, candidate = self.repeats
        return replace(self, repeats=(baseline, candidate + by))

    def test(self, delta: Floats, weights: Floats | None) -> tuple[TTest, VarianceParts | None]:
        """Return the t-test of the (weighted) mean difference, and its parts where runs were repeated."""
        if self.drawn is not None:
            return self.drawn.test(self.clusters, self.least_apart), None
        if self.repeats is not None:
            return crossed_t(*self.repeats, weights)
        if self.clusters is not None:
            return clustered_t(delta, self.clusters, weights), None
        return (paired_t(delta) if weights is None else weighted_t(delta, weights)), None

    def independent(self, delta: Floats, weights: Floats | None) -> tuple[Floats, Floats | None]:
        """Return independent differences and their weights: those of clusters if there are any."""
        if self.clusters is None:
            return delta, weights
        w = np.ones(delta.size) if weights is None else weights
        total = np.bincount(self.clusters, w).astype(np.float64)
        return np.bincount(self.clusters, w * delta) / total, total

    def information(self, delta: Floats, weights: Floats | None) -> Information:
        """Return the information that the differences carry, or those of clusters: see ``clusters_that_count``."""
        differences, sizes = self.independent(delta, weights)
        found = information_in(differences, sizes)
        if self.clusters is not None and sizes is not None:
            n = clusters_that_count(found.n_nonzero, sizes[differences != 0])
            found = replace(found, n_nonzero=n, of_clusters=True, as_equal=n < found.n_nonzero)
        return found if self.drawn is None else replace(found, is_drawn=True)


GROUPS_ONLY = Chance()
"""Independent groups as the only source of chance."""


@dataclass(frozen=True, slots=True)
class Inference:
    """A p-value, a 95% interval, and the test of equivalence if requested.

    Undefined values are None.
    """

    p_value: float | None
    ci: tuple[float, float] | None
    equivalence: Equivalence | None


NOTHING = Inference(None, None, None)


def infer(delta: Floats, weights: Floats | None, test: TTest, methods: Methods, metric: str = "") -> Inference:
    """Return the inference on a (weighted) mean of differences; at least two must count, and one must not be 0.

    Parameters: ``delta``: float64, shape (n,), finite. ``weights``: float64, shape (n,), > 0, or None. ``test``: their
    t-test. ``metric``: its text, for messages. Raises: InputError for a Wilcoxon test with weights, and for a betting
    interval of differences beyond -1 to 1.

    >>> from ndcg_tracker.statistics.t_test import paired_t
    >>> delta = np.array([0.5, 0.25, 0.125])
    >>> inference = infer(delta, None, paired_t(delta), Methods(test="permutation"))
    >>> inference.p_value, inference.ci == paired_t(delta).ci
    (0.25, True)
    """
    if methods.ci == "betting" and float(np.abs(settled(delta)).max(initial=0.0)) > 1:
        choices = f"{argument('ci', 't')} or {argument('ci', 'bootstrap')}"
        raise InputError(
            "a betting interval needs differences within -1 to 1", where=metric, advice=f"choose {choices}", joint=": "
        )
    if methods.test == "wilcoxon" and weights is not None:
        choices = f"{argument('test', 't')} or {argument('test', 'permutation')}"
        raise InputError("the Wilcoxon test takes no weights", where=metric, advice=f"choose {choices}", joint=": ")
    if methods.test == "permutation":
        p_value = sign_flip_test(delta, weights, flips=methods.resamples).p_value
    elif methods.test == "wilcoxon":
        p_value = wilcoxon_p_value(delta)
    else:
        p_value = test.p_value
    if methods.ci == "betting":
        ci: tuple[float, float] | None = betting_interval(delta, weights)
    elif methods.ci == "bootstrap":
        ci = bootstrap_interval(delta, weights, resamples=methods.resamples)
    else:
        ci = test.ci
    margin = methods.equivalence
    return Inference(p_value, ci, None if margin is None else equivalence_test(test, margin, alpha=ALPHA))


def metric_warnings(
    no_inference: Note | None, n_weightless: int, information: Information, inference: Inference, test: str
) -> tuple[Note, ...]:
    """Return the warnings of one metric.

    Parameters: ``no_inference``: why no test applies, None if one does. ``n_weightless``: how many groups have weight
    0. ``information``: that of the differences of the groups that count. ``inference``: what was inferred from them by
    ``test``.

    >>> from ndcg_tracker.statistics.t_test import Information
    >>> [note.kind for note in metric_warnings(None, 2, Information(1, 1, 0.0), NOTHING, "t")]
    ['weightless', 'one_group']
    """
    warnings = [Note("weightless", {"n": n_weightless})] if n_weightless else []
    if information.n == 0:
        warnings.append(Note("no_group"))
    elif information.n_nonzero == 0 or information.is_drawn:
        pass
    elif no_inference is not None:
        warnings.append(no_inference)
    elif information.n < 2:
        warnings.append(untested(information))
    else:
        if test == "wilcoxon":
            warnings.append(Note("tests_symmetry"))
        if inference.ci is None:
            warnings.append(untested(information, has_p=inference.p_value is not None))
        else:
            warnings += filter(None, [low_information(information)])
    return tuple(warnings)


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
