"""The t-test of a mean difference over groups or clusters, whether information is too low for it, and planning."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ndcg_tracker.asked import checked_margin
from ndcg_tracker.rankings import Floats, Index
from ndcg_tracker.statistics.t_distribution import (
    lower_tail,
    noncentrality_found,
    normal_quantile,
    quantile,
    two_sided_p,
    two_sided_t,
)

SMALLEST_P_VALUE = math.ulp(0.0)
_SAFE_TO_SQUARE = 1e150
_ROUNDING = 1e-12  # a spread below this share of the mean is the rounding of subtractions, not variation


@dataclass(frozen=True, slots=True)
class VarianceParts:
    """Where the variance of a difference of two arms' means comes from.

    ``groups``, ``runs_baseline``, ``runs_candidate``: its parts, each >= 0; they add up to the square of the standard
    error. ``runs_by_groups``: the part of ``groups`` that comes from runs that help some groups and hurt others; more
    runs reduce it as well. ``df``: the degrees of freedom. ``half_width``: that of the 95% interval.
    ``with_twice_the_runs`` and ``with_twice_the_groups``: about the half-width with twice as many runs, or groups.
    """

    groups: float
    runs_baseline: float
    runs_candidate: float
    runs_by_groups: float
    df: float
    half_width: float
    with_twice_the_runs: float
    with_twice_the_groups: float

    @property
    def runs(self) -> float:
        """The part of both arms' runs."""
        return self.runs_baseline + self.runs_candidate


@dataclass(frozen=True, slots=True)
class TTest:
    """The result of the t-test of a mean difference.

    ``n``: the differences that count. ``mean``: None where n is 0. ``sd``: their standard deviation, None where n <
    2. ``t``, ``p_value`` (two-sided, never 0) and ``ci`` (low, high) are None where nothing can be inferred: with n <
    2, and if all differences are equal. ``standard_error``: of the mean, None where ``sd`` is; ``df``: its degrees of
    freedom, 0 where it is None. ``allowance``: how much further away each bound is (``drawn_queries``). ``parts``: the
    sources of the variance of repeated runs (``crossed_t``), None for single ones.
    """

    n: int
    mean: float | None
    sd: float | None
    t: float | None = None
    p_value: float | None = None
    ci: tuple[float, float] | None = None
    standard_error: float | None = None
    df: float = 0.0
    allowance: float = 0.0
    parts: VarianceParts | None = None

    @property
    def effect_size(self) -> float | None:
        """The standardised mean difference d_z = mean / sd, None without t."""
        return None if self.t is None or self.mean is None or not self.sd else self.mean / self.sd


def paired_t(delta: Floats, *, level: float = 0.95) -> TTest:
    """Return the two-sided paired t-test of differences, with the confidence interval of their mean.

    Parameters: ``delta``: float64, shape (n,), finite. ``level``: of the interval, in (0, 1). Raises: ValueError for
    a NaN or an infinity. Source: Student, "The probable error of a mean", Biometrika 6, 1908. Agrees with:
    scipy.stats.ttest_rel.

    >>> test = paired_t(np.array([0.0, 0.25, 0.5, -0.25]))
    >>> test.mean, round(test.t, 6), round(test.p_value, 6)
    (0.125, 0.774597, 0.495025)
    >>> paired_t(np.zeros(3)).p_value is None
    True
    """
    values = finite(delta)
    mean = float(values.mean()) if values.size else None
    if mean is None or values.size < 2:
        return TTest(values.size, mean, None)
    sd = math.sqrt(float(np.square(values - mean).sum()) / (values.size - 1))
    return t_test(values.size, mean, sd, level=level)


def weighted_t(delta: Floats, weights: Floats, *, level: float = 0.95) -> TTest:
    """Return the t-test of the weighted mean of differences.

    The standard error is sqrt(n / (n - 1) * sum(w^2 (d - mean)^2)) / sum(w), with n - 1 degrees of freedom; ``sd`` is
    that standard error times sqrt(n), so that equal weights give ``paired_t``. Groups of weight 0 do not count in n.

    Parameters: ``delta``: float64, shape (n,), finite. ``weights``: float64, shape (n,), finite, >= 0. ``level``: of
    the interval. Raises: ValueError for any other number or shape.

    >>> weighted_t(np.array([0.25, -0.5, 0.5, 9.0]), np.array([2.0, 1.0, 1.0, 0.0])).mean
    0.125
    """
    values, w = finite(delta), checked_weights(delta, weights)
    values, w = values[w > 0], w[w > 0]
    if not values.size:
        return TTest(0, None, None)
    n, total = values.size, float(w.sum())
    mean = float((w * values).sum()) / total
    if n < 2:
        return TTest(n, mean, None)
    standard_error = math.sqrt(n / (n - 1) * float(np.square(w * (values - mean)).sum())) / total
    return t_test(n, mean, standard_error * math.sqrt(n), level=level)


def clustered_t(delta: Floats, clusters: Index, weights: Floats | None = None, *, level: float = 0.95) -> TTest:
    """Return the t-test of the (weighted) mean of differences that depend on each other within clusters.

    With S_c = sum over a cluster of w (d - mean), p_c its share of sum(w), the standard error is
    sqrt(sum S_c^2 / (1 - p_c)) / sum(w) (CR2). Its degrees of freedom are those of Bell and McCaffrey, the smaller
    ones of two working models: differences independent, and equal within a cluster. Few clusters, or one that holds
    most groups, have few. Clusters of one group each give nearly ``paired_t``.

    Parameters: ``delta``: float64, shape (n,), finite. ``clusters``: int64, shape (n,), the number of each one's
    cluster, from 0 without a gap. ``weights``: float64, shape (n,), finite, > 0. ``level``: of the interval. Raises:
    ValueError for any other number or shape. Source: Bell and McCaffrey, "Bias reduction in standard errors for linear
    regression with multi-stage samples", Survey Methodology 28, 2002; Imbens and Kolesar, Rev. Econ. Stat. 98, 2016.

    >>> found = clustered_t(np.array([0.5, 0.5, 0.0, -0.25]), np.array([0, 0, 1, 2]))
    >>> found.mean, round(found.standard_error, 4), round(found.df, 2)
    (0.1875, 0.2602, 1.6)
    """
    values = finite(delta)
    w = np.ones(values.size) if weights is None else checked_weights(delta, weights)
    plain = paired_t(values) if weights is None else weighted_t(values, w)
    n_clusters = int(clusters.max(initial=-1)) + 1
    if plain.mean is None or plain.sd is None or n_clusters < 2:
        return TTest(plain.n, plain.mean, plain.sd)
    total = float(w.sum())
    sums = np.bincount(clusters, w * (values - plain.mean), n_clusters)
    share = np.asarray(np.bincount(clusters, w, n_clusters) / total, np.float64)
    independent = np.asarray(np.bincount(clusters, w * w, n_clusters), np.float64)
    squares = np.asarray(sums * sums, np.float64)
    factor = 1 / (1 - share)
    standard_error = math.sqrt(float((factor * squares).sum())) / total
    equal = np.square(total * share)
    df = min(_bell_mccaffrey(variance, share, factor) for variance in (independent, equal))
    return t_test(plain.n, plain.mean, plain.sd, standard_error, df, level=level)


def _bell_mccaffrey(variance: Floats, share: Floats, factor: Floats) -> float:
    """Return (trace)^2 / (sum of squares) of the matrix whose quadratic form the variance estimate is.

    ``variance``: of the sum of each cluster under the working model.
    """

    total = variance.sum()
    diagonal = factor * (variance - 2 * share * variance + share * share * total)
    of_shares, of_variances = factor * share * share, factor * share * variance
    beside = (  # the sum over all c and d of factor_c factor_d (p_d v_c + p_c v_d - p_c p_d V)^2
        2 * (factor * variance * variance).sum() * of_shares.sum()
        + 2 * of_variances.sum() ** 2
        - 4 * total * of_variances.sum() * of_shares.sum()
        + total * total * of_shares.sum() ** 2
    )
    on_diagonal = factor * (2 * share * variance - share * share * total)
    squares = np.square(diagonal).sum() + beside - np.square(on_diagonal).sum()
    return float(diagonal.sum() ** 2 / squares)


def sample_std_dev(values: Floats) -> float | None:
    """Return the sample standard deviation, None below two values; the order of the values does not change a bit of it.

    >>> sample_std_dev(np.array([1.0, 3.0])), sample_std_dev(np.array([1.0]))
    (1.4142135623730951, None)
    """
    if values.size < 2:
        return None
    largest = float(np.abs(values).max())
    scale = largest if largest > _SAFE_TO_SQUARE else 1.0
    return float(np.std(np.sort(values) / scale, ddof=1)) * scale


def t_interval(mean: float, sd: float, n: int, *, level: float = 0.95) -> tuple[float, float] | None:
    """Return the t interval of a mean from its standard deviation; None where n < 2 or nothing varies.

    >>> t_interval(0.5, 0.0, 10) is None
    True
    """
    return t_test(n, mean, sd, level=level).ci if n > 1 else None


def limited(interval: tuple[float, float] | None, limits: tuple[float, float] | None) -> tuple[float, float] | None:
    """Return an interval cut to the possible values of the number; unchanged if they are not known.

    >>> limited((-0.25, 0.5), (0.0, 1.0)), limited((-0.25, 0.5), None)
    ((0.0, 0.5), (-0.25, 0.5))
    """
    if interval is None or limits is None:
        return interval
    return max(interval[0], limits[0]), min(interval[1], limits[1])


def t_lower_bound(test: TTest, *, level: float = 0.95) -> float | None:
    """Return the one-sided lower confidence bound of the mean, None where nothing can be inferred.

    Parameters: ``test``: of ``paired_t`` or ``weighted_t``. ``level``: of the bound, in (0, 1).

    >>> test = paired_t(np.array([0.0, 0.25, 0.5, -0.25]))
    >>> round(t_lower_bound(test), 4), round(t_upper_bound(test, level=0.99), 4)
    (-0.2548, 0.8578)
    """
    return _t_bound(test, -1, level)


def t_upper_bound(test: TTest, *, level: float = 0.95) -> float | None:
    """Return the one-sided upper confidence bound of the mean, None where nothing can be inferred.

    Parameters: as ``t_lower_bound``, with an example there.
    """
    return _t_bound(test, 1, level)


def checked_weights(delta: Floats, weights: Floats) -> Floats:
    """Return valid weights of differences unchanged.

    Raises: ValueError unless there is one finite weight >= 0 for each difference.

    >>> checked_weights(np.array([0.5, 0.25]), np.array([1.0, 0.0])).tolist()
    [1.0, 0.0]
    """
    if finite(weights).shape != delta.shape or (weights < 0).any():
        raise ValueError("weights must be one number >= 0 for each difference")
    return weights


def t_test(
    n: int, mean: float, sd: float, standard_error: float | None = None, df: float | None = None, *, level: float = 0.95
) -> TTest:
    """Return the test of a mean from its standard error and degrees of freedom: unless given sd / sqrt(n) and n - 1.

    >>> t_test(4, 0.5, 1.0).t, t_test(4, 0.5, 1.0, 0.25, 2.0).t
    (1.0, 2.0)
    """
    standard_error, df = sd / math.sqrt(n) if standard_error is None else standard_error, n - 1.0 if df is None else df
    if standard_error * math.sqrt(n) <= _ROUNDING * abs(mean):
        return TTest(n, mean, sd, standard_error=standard_error, df=df)
    t, half = mean / standard_error, two_sided_t(1 - level, df) * standard_error
    p_value = max(two_sided_p(t, df), SMALLEST_P_VALUE)
    return TTest(n, mean, sd, t, p_value, (mean - half, mean + half), standard_error, df)


def _t_bound(test: TTest, side: int, level: float) -> float | None:
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, not {level}")
    if test.t is None or test.mean is None or test.standard_error is None:
        return None
    return test.mean + side * (test.allowance + quantile(level, test.df) * test.standard_error)


def finite(numbers: Floats) -> Floats:
    """Return valid numbers unchanged.

    Raises: ValueError for a NaN, an infinity, or more than one dimension.

    >>> finite(np.array([0.5, 0.25])).tolist()
    [0.5, 0.25]
    """
    if numbers.ndim != 1 or not np.isfinite(numbers).all():
        raise ValueError("differences and weights must be finite numbers in one dimension; NaN is refused")
    return numbers


@dataclass(frozen=True, slots=True)
class Equivalence:
    """What two one-sided t-tests say about |mean difference| < ``margin``.

    ``p_value``: the larger of the two, in (0, 1], None where nothing can be inferred. ``ci``: both one-sided bounds at
    1 - alpha; the interval is within the margins if and only if p < alpha. ``equivalent``: whether p < alpha, or the
    runs are identical (then there is no p).
    """

    margin: float
    p_value: float | None
    ci: tuple[float, float] | None
    equivalent: bool


def equivalence_test(test: TTest, margin: float, *, alpha: float = 0.05) -> Equivalence:
    """Return whether a mean difference is equivalent to 0: two one-sided paired t-tests (TOST).

    p = max(P(T >= (margin - mean) / se), P(T >= (mean + margin) / se)), T Student with the test's degrees of freedom.

    Parameters: ``test``: any t-test. ``margin``: finite, > 0. ``alpha``: in (0, .5). Raises:
    InputError for another margin. Source: Schuirmann, "A comparison of the two one-sided tests procedure and the power
    approach", J. Pharmacokinet. Biopharm. 15, 1987. Agrees with: statsmodels' ``ttost_paired``, pingouin's ``tost``.

    >>> from ndcg_tracker.statistics.t_test import paired_t
    >>> import numpy as np
    >>> found = equivalence_test(paired_t(np.tile([0.02, -0.01, 0.0, -0.01], 50)), 0.005)
    >>> found.equivalent, found.p_value < 1e-7
    (True, True)
    """
    checked_margin(margin, "the equivalence margin", zero=False)
    low, high = t_lower_bound(test, level=1 - alpha), t_upper_bound(test, level=1 - alpha)
    if low is None or high is None or test.mean is None or test.standard_error is None:
        return Equivalence(margin, None, None, False)
    nearest = (abs(test.mean) + test.allowance - margin) / test.standard_error
    p_value = max(lower_tail(nearest, test.df), SMALLEST_P_VALUE)
    return Equivalence(margin, p_value, (low, high), p_value < alpha)


FEW_DIFFERENCES = 25
"""Fewer nonzero differences are low information for a two-sided t-test at 5%."""
MUCH_SKEWNESS = 2.0
"""A sample skewness beyond which a two-sided t-test needs 25 skewness^2 groups."""
SKEWNESS_OF_MEAN = 0.1
"""The largest |skewness| / sqrt(n) at which a one-sided t bound at 1% is trusted."""


def enough_for(alpha: float) -> int:
    """Return the fewest nonzero differences with which a one-sided t bound at level ``alpha``, in (0, 1), is trusted.

    It is 50 ln(1 / alpha): if 2% of groups have losses, a sample without any loss then has a probability of at most
    ``alpha``, because (1 - .02)^n <= alpha. Below the level 1% it is twice as many, for losses in 1% of groups. Source:
    simulated in tests/questions/gate/test_gate_rates.py and tests/statistics/test_budget_rates.py.

    >>> enough_for(0.05), enough_for(0.01), enough_for(0.00125), enough_for(0.0001)
    (150, 230, 668, 921)
    """
    return round(50 * _strictness(alpha) * math.log(1 / alpha))


def skewness_for(alpha: float) -> float:
    """Return up to which |skewness| / sqrt(n) a one-sided t bound at level ``alpha``, in (0, 1), is trusted.

    0.1 down to the level 1%. Below it, less: skewness changes the tail beyond z by the share (2 z^3 + z) / 6 times
    |skewness| / sqrt(n), and that share is half of what it is at 1%. Source: Hall, "The bootstrap and Edgeworth
    expansion", 1992, eq. 2.55 (the first term for a studentised mean); the half is simulated, as of ``enough_for``.

    >>> skewness_for(0.05), skewness_for(0.01), round(skewness_for(0.00125), 4), round(skewness_for(0.0001), 4)
    (0.1, 0.1, 0.0236, 0.0129)
    """
    if _strictness(alpha) == 1:
        return SKEWNESS_OF_MEAN
    of_tail, of_one_percent = (2 * z**3 + z for z in (normal_quantile(1 - alpha), normal_quantile(0.99)))
    return SKEWNESS_OF_MEAN * of_one_percent / of_tail / _strictness(alpha)


def _strictness(alpha: float) -> int:
    """Return how many times as much information t needs at a level: 2 below 1%, else 1."""
    # a step, as 5% and 1% stay as they were: of 334 to 700 groups, 1% of which lose, t PASSed .03 in place of .00125
    return 2 if alpha < 0.01 - _ROUNDING else 1


def skewness(values: Floats) -> float:
    """Return the skewness of a sample: its third central moment over the second to the power 3/2, 0 if all are equal.

    >>> round(skewness(np.array([0.0, 0.0, 0.0, 4.0])), 6)
    1.154701
    """
    centred = values - values.mean() if values.size else values
    square = centred * centred
    variance = float(square.mean()) if values.size else 0.0
    scale = variance**1.5
    return float((square * centred).mean()) / scale if scale else 0.0


def clusters_that_count(n: int, sizes: Floats) -> int:
    """Return how many clusters that differ count for the information: ``n``, unless a few large ones are most of it.

    Where they are worth fewer than 25 equal ones, sum(size)^2 / sum(size^2), it is that number: where the effect of a
    cluster depends on its size, one large cluster more or less turns the verdict. ``sizes``: of those ``n`` clusters.

    >>> clusters_that_count(30, np.full(30, 5.0)), clusters_that_count(30, np.repeat([100.0, 2.0], [3, 27]))
    (30, 4)
    """
    square = float(np.square(sizes).sum())
    equal = float(sizes.sum()) ** 2 / square if square else 0.0
    return min(n, int(equal + _ROUNDING * n)) if equal < FEW_DIFFERENCES else n


@dataclass(frozen=True, slots=True)
class Information:
    """The information in the differences of ``n`` groups, or clusters of them: how many are nonzero, their skewness.

    ``of_strata``: whether it is that of ``stratified.strata_information``. ``as_equal``: whether ``n_nonzero`` is the
    number of equal clusters that say as much (``clusters_that_count``). ``is_drawn``: whether the groups are drawn
    ones, whose bounds allow for rare losses themselves (``statistics.drawn_queries``).
    """

    n: int
    n_nonzero: int
    skewness: float
    of_clusters: bool = False
    of_strata: bool = False
    as_equal: bool = False
    is_drawn: bool = False

    @property
    def is_low(self) -> bool:
        """Whether a two-sided t-test at 5% may err too often: too few differences are nonzero, or they are too skewed.

        Fewer than 25 nonzero, though some are; or |skewness| above 2 and fewer than 25 skewness^2 groups. Below about
        100 groups neither finds the most dangerous samples, which lack the rare large losses of their population
        (``tests/compare/test_low_information.py``).
        """
        return self.are_few or self.is_skewed

    @property
    def are_few(self) -> bool:
        """Whether fewer than 25 differences are nonzero, though some are."""
        return not self.is_drawn and 0 < self.n_nonzero < FEW_DIFFERENCES

    @property
    def is_skewed(self) -> bool:
        """Whether |skewness| is above 2, and the groups are fewer than 25 skewness^2."""
        is_much = self.n_nonzero > 0 and abs(self.skewness) > MUCH_SKEWNESS and not self.is_drawn
        return is_much and self.n < 25 * self.skewness**2

    def are_few_at(self, alpha: float) -> bool:
        """Whether fewer differences are nonzero than a one-sided bound at level ``alpha`` needs, though some are."""
        return not self.is_drawn and 0 < self.n_nonzero < enough_for(alpha)

    def is_low_at(self, alpha: float) -> bool:
        """Whether a one-sided t bound at level ``alpha`` may err too often: see ``enough_for`` and ``skewness_for``."""
        is_skewed = self.n_nonzero > 0 and abs(self.skewness) / math.sqrt(self.n) > skewness_for(alpha)
        return not self.is_drawn and (self.are_few_at(alpha) or is_skewed)

    def groups_for(self, alpha: float) -> int:
        """How many groups are enough for level ``alpha`` in 85% of samples like these; 0 if nothing differs."""
        if not self.n_nonzero:
            return 0
        share, of_count = self.n_nonzero / self.n, enough_for(alpha)
        spread = normal_quantile(0.85) * math.sqrt(share * (1 - share))
        root = (spread + math.sqrt(spread**2 + 4 * share * of_count)) / (2 * share)
        return max(math.ceil(root**2 - _ROUNDING), math.ceil((self.skewness / skewness_for(alpha)) ** 2))


def information_in(delta: Floats, weights: Floats | None = None) -> Information:
    """Return the information in the differences.

    Parameters: ``delta``: float64, shape (n,), finite. ``weights``: float64, shape (n,), >= 0: groups of weight 0 do
    not count, and the skewness is that of w (d - mean), how far each group pulls the mean. Returns: the counts, and
    the skewness, 0 where all differences are equal.

    >>> found = information_in(np.repeat([0.25, 0.0], [60, 240]))
    >>> found.is_low, found.is_low_at(0.05), found.n_nonzero, found.groups_for(0.05)
    (False, True, 60, 809)
    """
    if weights is None:
        return Information(delta.size, int(np.count_nonzero(delta)), skewness(delta))
    delta, weights = delta[weights > 0], weights[weights > 0]
    mean = float((weights * delta).sum() / weights.sum()) if delta.size else 0.0
    return Information(delta.size, int(np.count_nonzero(delta)), skewness(weights * (delta - mean)))


def detectable_delta(test: TTest, *, alpha: float = 0.05, power: float = 0.8) -> float | None:
    """Return the smallest true mean difference that a two-sided t-test finds with this power.

    It solves power = P(|T| > t_crit), T noncentral t with the test's degrees of freedom and noncentrality
    delta / standard error.

    Parameters: ``test``: of the differences. ``alpha``: in (0, 1). ``power``: in (alpha, 1). Returns: a difference
    > 0, None where nothing varies. Source: Cohen, "Statistical power analysis for
    the behavioral sciences", 2nd ed., ch. 2.

    >>> from ndcg_tracker.statistics.t_test import t_test
    >>> round(detectable_delta(t_test(25, 0.0, 1.0)), 4)
    0.584
    """
    if not 0 < alpha < power < 1:
        raise ValueError(f"alpha and power must be 0 < alpha < power < 1, not {alpha} and {power}")
    if not test.standard_error:
        return None
    return noncentrality_found(test.df, alpha, power) * test.standard_error
