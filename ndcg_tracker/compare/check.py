"""A judge checked on a drawn sample: the judge's difference between two runs, people's, and the corrected one."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ndcg_tracker.compare.inference import Chance
from ndcg_tracker.rankings import Floats, Index
from ndcg_tracker.statistics.t_test import TTest


@dataclass(frozen=True, slots=True)
class Sampled:
    """People's answers to a sample of the items that tell two runs apart.

    ``checked_by``: who answered. ``designs``: the numbers of the designs that drew the items. ``look``: the number of
    this verdict among ``n_looks`` planned verdicts on a growing sample. ``n_drawn``: how many items were drawn;
    ``n_unanswered`` of them count with the judge's grade. ``n_known``: how many further items have an earlier answer
    and were not drawn. ``n_apart``: how many items tell the runs apart; ``n_unlabelled`` of them have no grade from the
    judge. ``n_without_ideal``: in how many of the ``n_groups`` groups the judge finds nothing.
    """

    checked_by: str
    designs: tuple[int, ...]
    look: int
    n_looks: int
    n_drawn: int
    n_unanswered: int
    n_known: int
    n_apart: int
    n_unlabelled: int
    n_groups: int
    n_without_ideal: int

    @property
    def n_answers(self) -> int:
        """How many of the drawn items have an answer."""
        return self.n_drawn - self.n_unanswered


@dataclass(frozen=True)
class CheckedDeltas:
    """The differences of the paired groups, float64, shape (n,) each: by the judge alone, and by people alone.

    ``variances``: the part of the variance of the corrected differences that comes from the draw.
    """

    sampled: Sampled
    judged: Floats
    of_people: Floats
    variances: Floats

    def of(self, places: Index) -> CheckedDeltas:
        """Return the same for some of the groups."""
        arrays = {name: getattr(self, name)[places] for name in ("judged", "of_people", "variances")}
        return replace(self, **arrays)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean difference with its interval and its p-value, both None if nothing can be inferred."""

    delta: float | None
    ci: tuple[float, float] | None
    p_value: float | None

    @classmethod
    def of(cls, test: TTest) -> Estimate:
        """Return the estimate of a test."""
        return cls(test.mean, test.ci, test.p_value)


@dataclass(frozen=True, slots=True)
class MoreLabels:
    """About how many more labels would narrow an interval to a half-width; None if even labels of all items do not."""

    n: int | None
    half_width: float


@dataclass(frozen=True, slots=True)
class JudgeCheck:
    """What a sample of people's labels says about a judge, in addition to the corrected difference that decides.

    ``judged``: the difference by the judge alone. ``people``: the difference from the same answers without the judge.
    ``favour``: by how much the judge favours the candidate, which is the judge's difference minus the corrected one,
    group by group. ``n_informative``: how many answers have another gain than the judge's grade. ``n_alike``: about how
    many labels from people alone would give an interval as narrow. ``more``: what more labels would bring, None if that
    is not known. ``draw_share``: the share of the variance that comes from the draw.
    """

    sampled: Sampled
    judged: Estimate
    people: Estimate
    favour: Estimate
    n_informative: int
    n_alike: int | None
    more: MoreLabels | None
    draw_share: float = 0.0

    def labels_for(self, factor: float, n_informative: int = 0) -> int | None:
        """Return about how many more answers make the standard error ``factor`` times as large, None if none do.

        ``n_informative``: how many of all answers must differ from the judge.
        """
        left, sampled = factor**2 - (1 - self.draw_share), self.sampled
        if left <= 0 or not self.draw_share or not self.n_informative:
            return None
        times = max(self.draw_share / left, n_informative / self.n_informative)
        n = math.ceil((times - 1) * sampled.n_drawn)
        return n if 0 < n <= sampled.n_apart - sampled.n_drawn - sampled.n_known else None


_ROUNDING = 1e-12
NARROWER = 0.75
"""A report mentions more labels only if they reduce the half-width to this share or less."""


def judge_check(
    checked: CheckedDeltas, corrected: Floats, test: TTest, chance: Chance, weights: Floats | None
) -> JudgeCheck:
    """Return what people's labels say about a judge; ``corrected``, ``test``: the differences that decide."""
    favour = exact(checked.judged - corrected, checked.judged)
    tests = [chance.test(delta, weights)[0] for delta in (checked.judged, checked.of_people, favour)]
    alone, n_alike = tests[1].standard_error, None
    if alone and test.standard_error:
        n_alike = round(checked.sampled.n_answers * (alone / test.standard_error) ** 2)
    informative = 0 if chance.informative is None else int(chance.informative.sum())
    share = _draw_share(checked, test, weights)
    by_judge, by_people, favoured = map(Estimate.of, tests)
    check = JudgeCheck(checked.sampled, by_judge, by_people, favoured, informative, n_alike, None, share)
    return replace(check, more=_more(check, test))


def exact(deltas: Floats, scale: Floats | None = None) -> Floats:
    """Return differences with rounding errors of sums set to 0; ``scale``: numbers as large as the summands.

    >>> exact(np.array([0.5, 1e-17])).tolist()
    [0.5, 0.0]
    """
    largest = float(np.abs(deltas if scale is None else scale).max(initial=1.0))
    return np.where(np.abs(deltas) <= _ROUNDING * largest, 0.0, deltas)


def _draw_share(checked: CheckedDeltas, test: TTest, weights: Floats | None) -> float:
    """Return the share of the variance of the mean that comes from the draw; more labels do not reduce the rest."""
    if not test.standard_error:
        return 0.0
    share = 1 / test.n**2 if weights is None else weights**2 / weights.sum() ** 2
    return min(1.0, float((share * checked.variances).sum()) / test.standard_error**2)


def _more(check: JudgeCheck, test: TTest) -> MoreLabels | None:
    """Return about how many more labels give the next round half-width, or the half-width with labels of all items."""
    if not test.ci:
        return None
    now = (test.ci[1] - test.ci[0]) / 2
    aim = _round_below(NARROWER * now)
    n = check.labels_for(aim / now)
    return MoreLabels(None, now * math.sqrt(1 - check.draw_share)) if n is None else MoreLabels(n, aim)


def _round_below(number: float) -> float:
    """Return the largest of 1, 1.5, 2, 3, 5, 7 times a power of 10 that is not above a number > 0.

    >>> [_round_below(number) for number in (0.021, 0.0099, 1.4)]
    [0.02, 0.007, 1.0]
    """
    power = math.floor(math.log10(number))
    first = max(step for step in (1, 1.5, 2, 3, 5, 7) if step <= number / 10**power * (1 + 1e-12))
    return float(f"{first}e{power}")
