"""May the candidate replace the baseline: one-sided bounds of a sample, and parts that must hold as well."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from ndcg_tracker.asked import checked_margin
from ndcg_tracker.compare.drawn import DrawnCheck
from ndcg_tracker.compare.estimate import few_note, skewed_note
from ndcg_tracker.compare.limits import HarmLimit, LimitCheck, Status
from ndcg_tracker.compare.options import Scope
from ndcg_tracker.compare.options import Unjudged as Worth
from ndcg_tracker.compare.results import ALPHA, ENDS, Unjudged
from ndcg_tracker.compare.sample import AnySample, Sample
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.metrics.language.metric import Direction
from ndcg_tracker.statistics.distribution_free import (
    share_lower_bound,
    share_p_value,
    share_upper_bound,
)
from ndcg_tracker.statistics.many_tests import holm
from ndcg_tracker.statistics.t_test import (
    Information,
    TTest,
    enough_for,
    t_lower_bound,
    t_upper_bound,
)
from ndcg_tracker.words.notes import Note
from ndcg_tracker.words.texts import counted

Word = Literal["pass", "fail", "inconclusive"]
BoundMethod = Literal["t", "betting"]
PASS_LEVEL, FAIL_ALPHA = 0.95, 0.01
FEWEST_IN_SLICE = 25
ROUNDING = 1e-12
"""The rounding error of a mean difference, which must not decide anything."""
UNBOUNDED = (-math.inf, math.inf)
"""The limits of differences if the metric has no range."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What a candidate must keep.

    ``margin``: the allowed drop . ``by``: the attribute whose slices are judged as well, or
    "dataset"; ``part_margin``: the allowed drop of each. ``max_harm``: how many groups may lose how much.
    """

    margin: float
    scope: Scope = "population"
    by: str | None = None
    part_margin: float = 0.0
    max_harm: HarmLimit | None = None


@dataclass(frozen=True, slots=True)
class Levels:
    """The level of the bound for PASS, and the chance that the bound for FAIL errs."""

    passing: float = PASS_LEVEL
    failing: float = FAIL_ALPHA


@dataclass(frozen=True, slots=True)
class Bounds:
    """One-sided bounds of a mean difference by t and by betting, and those that decide; None if unknown.

    ``of_repeats``: whether runs are repeated, which no betting bound covers. ``fail_below``: FAIL also needs a mean
    below this: minus the margin if that was learned from repeats, else 0.
    """

    lower: float | None = None
    lower_method: BoundMethod | None = None
    upper: float | None = None
    upper_method: BoundMethod | None = None
    t_lower: float | None = None
    t_upper: float | None = None
    betting_lower: float | None = None
    betting_upper: float | None = None
    of_repeats: bool = False
    fail_below: float = 0.0

    def turned(self) -> Bounds:
        """Return the bounds of the differences whose negatives are these gains: they change sides."""
        return Bounds(
            _negated(self.upper),
            self.upper_method,
            _negated(self.lower),
            self.lower_method,
            _negated(self.t_upper),
            _negated(self.t_lower),
            _negated(self.betting_upper),
            _negated(self.betting_lower),
            self.of_repeats,
            self.fail_below,
        )


def _negated(number: float | None) -> float | None:
    return None if number is None else 0.0 - number


def bounds(sample: AnySample, levels: Levels, information: Information | None = None) -> Bounds:
    """Return the bounds of the mean gain that a gate decides by.

    Both are t bounds if information is enough for their level. Else the betting bound decides about PASS, and FAIL
    needs both below 0. ``sample``: not empty, of gains.

    >>> import numpy as np
    >>> found = bounds(Sample(np.tile([0.125, -0.125, 0.0], 100)), Levels())
    >>> found.lower_method, round(found.lower, 4)
    ('t', -0.0097)
    """
    information = information or sample.information()
    test, (low, high) = sample.for_bounds(), sample.limits or UNBOUNDED
    t_lower, t_upper = t_lower_bound(test, level=levels.passing), t_upper_bound(test, level=1 - levels.failing)
    t_lower = None if t_lower is None else max(t_lower, low)
    t_upper = None if t_upper is None else min(t_upper, high)
    is_known = t_lower is not None and t_upper is not None
    by_t = [is_known and not information.is_low_at(alpha) for alpha in (1 - levels.passing, levels.failing)]
    betting = (None, None) if all(by_t) else sample.betting(levels.passing, levels.failing)
    above: tuple[float | None, BoundMethod | None] = (t_upper, "t") if by_t[1] else _upper_of_both(t_upper, betting[1])
    below: tuple[float | None, BoundMethod | None] = betting[0], None if betting[0] is None else "betting"
    below, of_repeats = (t_lower, "t") if by_t[0] else below, not sample.may_bet and sample.drawn is None
    return Bounds(*below, *above, t_lower, t_upper, *betting, of_repeats)


def _upper_of_both(t_upper: float | None, betting_upper: float | None) -> tuple[float | None, BoundMethod | None]:
    """Return the bound that FAIL needs below 0 if information is low: the higher of both, or the only one.

    If information is low, a t bound below 0 does not suffice alone.
    """
    if betting_upper is not None and (t_upper is None or betting_upper >= t_upper):
        return betting_upper, "betting"
    if betting_upper is None and t_upper is not None and t_upper < 0:
        return None, None
    return t_upper, None if t_upper is None else "t"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A slice, a dataset, or a share of groups that lose much: something that must hold as well as the mean.

    ``kind``: "slice", "dataset" or "harm". ``attribute``, ``value``: which groups; None for groups without a value, and
    for harm among all groups. ``n``: how many. ``delta``: their mean difference. ``lower``, ``upper``: its bounds, or
    those of the share that loses much; the one that shows a failure is at 1 - ``alpha``. ``status``: "fails" if it is
    shown to break its limit, "within" if it is shown to keep it, else "open". ``blocks``: whether it blocks PASS while
    it is open. ``p_adjusted``: of a slice that regressed by the test of ``compare``, Holm-corrected, with
    ``low_information`` if so few of its groups differ that this test may err. ``n_harmed``: how many groups lose more
    than the limit allows, or with ``of_clusters`` how many clusters have such a group; ``n_harmed_least``: the same if
    unjudged items are worth what harms least.
    """

    kind: Literal["slice", "dataset", "harm"]
    attribute: str = ""
    value: str | None = None
    n: int
    delta: float = 0.0
    lower: float | None = None
    upper: float | None = None
    alpha: float | None = None
    status: Status = "open"
    blocks: bool = False
    p_adjusted: float | None = None
    low_information: bool = False
    n_harmed: int = 0
    n_harmed_least: int = 0
    of_clusters: bool = False

    def turned(self) -> Part:
        """Return the same of the differences whose negatives are these gains."""
        if self.kind == "harm":
            return self
        return replace(self, delta=0.0 - self.delta, lower=_negated(self.upper), upper=_negated(self.lower))


@dataclass(frozen=True, slots=True)
class Ways:
    """What would decide an open question: so many groups like these, and how; or a margin that these would keep."""

    n: int | None = None
    word: Literal["pass", "fail"] | None = None
    margin: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A decision with everything it rests on, as gains.

    ``whole``: what the mean gain of all groups decides. ``t``: its test. ``bounds``, ``levels``: those that decided,
    None without any. ``direction``: which values are better; if lower ones are, ``delta`` and ``told`` have the numbers
    of differences. ``parts``: what must hold as well. ``ways``: what would decide. ``why``: why t bounds were not
    trusted alone. ``barred``: why nothing is decided. ``is_identical``: whether all lists are the same. ``unjudged``:
    what unjudged items leave open; ``others``: the decisions with them worth nothing ("zero"), and at both ends of what
    they may be worth ("low", "high"). ``check``: what drawn answers say. Each is None or empty if there is none.
    """

    rules: Rules
    t: TTest
    whole: Word = "inconclusive"
    bounds: Bounds | None = None
    levels: Levels | None = None
    direction: Direction = "higher"
    parts: tuple[Part | LimitCheck, ...] = ()
    ways: Ways = Ways()
    why: Note | None = None
    barred: Note | None = None
    is_identical: bool = False
    unjudged: Unjudged | None = None
    others: Mapping[str, Decision] = field(default_factory=dict)
    check: DrawnCheck | None = None

    @property
    def decision(self) -> Word:
        """The decision: the one rule that combines the whole, its parts and both ends of unknown labels."""
        return self.without()

    def without(self, *kinds: str) -> Word:
        """Return what the decision would be without parts of some kinds."""
        parts = [part for part in self.parts if part.kind not in kinds]
        if any(part.kind == "limit" and part.status == "fails" for part in parts):
            return "fail"
        if self.barred is not None:
            return "inconclusive"
        ends = [self.others[end].without(*kinds) for end in ENDS if end in self.others]
        if ends:
            return "pass" if ends[0] == "pass" else "fail" if ends[1] == "fail" else "inconclusive"
        if any(part.status == "fails" for part in parts):
            return "fail"
        is_blocked = any(part.blocks and part.status == "open" for part in parts)
        return "inconclusive" if self.whole == "pass" and is_blocked and not self.is_identical else self.whole

    @property
    def scope(self) -> Scope:
        """Whether it is about all groups like these ("population"), or about these ("set")."""
        return self.rules.scope

    @property
    def margin(self) -> float:
        """The allowed drop."""
        return self.rules.margin

    @property
    def n(self) -> int:
        """The number of groups that count."""
        return self.t.n

    @property
    def delta(self) -> float | None:
        """The mean difference."""
        return self.t.mean if self.direction == "higher" else _negated(self.t.mean)

    @property
    def told(self) -> Bounds:
        """The bounds of the mean difference."""
        found = self.bounds or Bounds()
        return found if self.direction == "higher" else found.turned()

    @property
    def lower(self) -> float | None:
        """The lower bound of the mean difference that decided."""
        return self.told.lower

    @property
    def upper(self) -> float | None:
        """The upper bound of the mean difference that decided."""
        return self.told.upper

    @property
    def pass_level(self) -> float | None:
        """The level of the bound that decided about PASS."""
        return None if self.levels is None else self.levels.passing

    @property
    def fail_alpha(self) -> float | None:
        """The chance that the bound that decided about FAIL errs."""
        return None if self.levels is None else self.levels.failing

    @property
    def is_small_drop(self) -> bool:
        """Whether it is a PASS whose upper bound is below 0."""
        upper = None if self.bounds is None else self.bounds.upper
        return self.whole == "pass" and upper is not None and upper < 0

    @property
    def slices(self) -> list[Part]:
        """The slices or datasets, as differences."""
        found = [part for part in self.parts if isinstance(part, Part) and part.kind != "harm"]
        return found if self.direction == "higher" else [part.turned() for part in found]

    @property
    def harm(self) -> list[Part]:
        """How many groups lose much: of all, and of slices, the most harmed first."""
        return [part for part in self.parts if isinstance(part, Part) and part.kind == "harm"]

    @property
    def limits(self) -> tuple[LimitCheck, ...]:
        """The limits on other numbers of the runs."""
        return tuple(part for part in self.parts if isinstance(part, LimitCheck))

    @property
    def worth(self) -> Worth | None:
        """What an unjudged item was worth; None if nothing was unjudged, or the question was not asked."""
        return None if self.unjudged is None else "range" if self.others else "zero"

    @property
    def open_delta(self) -> tuple[float | None, float | None]:
        """The mean difference at both ends of what unjudged items may be worth, None if they leave nothing open."""
        low, high = (self.others[end].t.mean if end in self.others else None for end in ENDS)
        return (low, high) if self.direction == "higher" else (_negated(high), _negated(low))

    @property
    def of_zero(self) -> Word | None:
        """The decision if unjudged items were worth nothing, None if it is the same question."""
        return self.others["zero"].decision if self.others else None

    def moved(self, by: float) -> Word:
        """Return what the mean of all groups would have decided with it and its bounds moved by an amount."""
        mean, margin, found = self.t.mean, self.margin, self.bounds or Bounds()
        if mean is None:
            return self.decision
        if self.scope == "set":
            return "pass" if mean + by >= -margin - ROUNDING else "fail"
        if found.lower is None and found.upper is None and not mean:  # identical, without a known bound
            return "inconclusive" if by < -margin else self.decision
        lower, upper = (None if bound is None else bound + by for bound in (found.lower, found.upper))
        return _word(mean + by, replace(found, lower=lower, upper=upper), margin)


def _word(mean: float, found: Bounds, margin: float) -> Word:
    """Return what a mean gain with its bounds decides."""
    if found.lower is not None and found.lower > -margin:
        return "pass"
    is_below = found.upper is not None and found.upper < 0 and mean < found.fail_below
    return "fail" if is_below else "inconclusive"


def decide(sample: AnySample, rules: Rules, levels: Levels = Levels()) -> Decision:
    """Return whether the candidate may replace the baseline on all groups like these.

    PASS if the one-sided lower bound (95%) of the mean gain is above -margin (a "small but real drop" if the upper
    bound is also below 0). FAIL if not PASS and the one-sided upper bound at 1 - ``levels.failing`` is below 0.
    Otherwise INCONCLUSIVE, with the number of groups or the margin that would decide. Both are t bounds. But if
    information is too low for their level (``Information.is_low_at``), the betting bound decides about PASS, and FAIL
    needs both the betting bound and the t bound below 0. Otherwise gates would err: if few groups lose much, most small
    samples do not contain them. If all differences are the same, the betting bounds decide alone. Equal lists in all
    groups: PASS. Where it is known how trainings of one system differ (``sample.training``), all bounds also cover
    another training of both, and a drop within the margin does not FAIL. In strata, each counts once.

    Parameters: ``sample``: of gains. ``levels``: ``look_level`` for repeated gating. Raises: InputError for a margin
    that is not finite and >= 0. Source: Schuirmann 1987 (one of the two tests); ICH E9, 1998, section 3.3.2.

    >>> import numpy as np
    >>> clear = np.tile([0.125, -0.125, 0.0], 1000)
    >>> decide(Sample(clear), Rules(0.01)).decision, decide(Sample(clear - 0.03), Rules(0.01)).decision
    ('pass', 'fail')
    >>> undecided = decide(Sample(clear[:300] - 0.003), Rules(0.01))
    >>> undecided.decision, undecided.ways.n, round(undecided.ways.margin, 4)
    ('inconclusive', 1321, 0.0127)
    """
    margin = checked_margin(rules.margin, "the margin")
    if not 0 < levels.failing < 0.5:
        raise ValueError(f"the level of FAIL must lie between 0 and .5, not at {levels.failing}")
    test = sample.test() if sample.n else TTest(0, None, None)
    if test.mean is None:
        return Decision(rules=rules, t=test)
    if sample.is_same:
        return Decision(rules=rules, t=TTest(test.n, 0.0, None), whole="pass", is_identical=True)
    information, pass_alpha = sample.information(), 1 - levels.passing
    fail_below = 0.0 if sample.training is None else -margin
    found = replace(bounds(sample, levels, information), fail_below=fail_below)
    word = _word(test.mean, found, margin)
    why = low_note(information, pass_alpha, "passed" if word == "pass" else "pass")
    if why is None and word == "inconclusive" and found.t_upper is not None and found.t_upper < 0:
        why = low_note(information, levels.failing, "fail")
    ways = _needed(sample, test, margin, fail_below, levels) if word == "inconclusive" else Ways()
    return Decision(
        rules=rules,
        t=test,
        whole=word,
        bounds=found,
        levels=Levels(1 - pass_alpha, levels.failing),
        ways=replace(ways, margin=None if word == "pass" or found.lower is None else -found.lower),
        why=why if sample.is_t_valid else Note("equal_values"),
    )


def _needed(sample: AnySample, test: TTest, margin: float, fail_below: float, levels: Levels) -> Ways:
    """Return about how many groups like these would decide 4 times in 5, and how; the fewer count."""
    pilot = sample.pilot
    if pilot is None or test.mean is None:
        return Ways()
    may_fail = test.mean < fail_below
    words: tuple[tuple[Literal["pass", "fail"], int | None], ...] = (
        ("pass", pilot.groups_for(test.mean + margin, 1 - levels.passing)),
        ("fail", pilot.turned.groups_for(-test.mean, levels.failing) if may_fail else None),
    )
    ways = [Ways(max(n, sample.n + 1), word) for word, n in words if n is not None]
    return min(ways, key=lambda way: way.n or 0, default=Ways())


def low_note(information: Information, alpha: float, decides: Literal["pass", "passed", "fail"]) -> Note | None:
    """Return a note if the differences say too little for the t bound at this level to decide, else None."""
    if not information.is_low_at(alpha):
        return None
    enough = enough_for(alpha)
    if information.of_strata and information.are_few_at(alpha):
        return Note("few_in_strata", {"n": information.n, "n_nonzero": information.n_nonzero, "enough": enough})
    note = few_note(information, enough) if information.are_few_at(alpha) else skewed_note(information)
    return replace(note, facts={**note.facts, "decides": decides})


def decide_set(sample: Sample, rules: Rules, mean: float | None = None) -> Decision:
    """Return whether the candidate holds on just these groups: PASS if the mean gain is at least minus the margin.

    For a fixed set of groups and a deterministic scorer: arithmetic, without inference and p-value. The sum is exact
    (each difference is rounded once), so the order of the groups cannot decide, and neither can a rounding error of
    1e-12 in the results. Parameters: ``mean``: the mean gain if it is not a (weighted) mean of the groups. Raises:
    InputError for a margin that is not finite and >= 0.

    >>> import numpy as np
    >>> [decide_set(Sample(np.array(of)), Rules(0.1)).decision for of in ([-0.3, 0.1, 0.2], [-0.5, 0.25])]
    ['pass', 'fail']
    """
    margin = checked_margin(rules.margin, "the margin")
    rules = replace(rules, scope="set")
    if not sample.n:
        return Decision(rules=rules, t=TTest(0, None, None))
    if mean is None and sample.weights is None:
        mean = math.fsum(sample.delta.tolist()) / sample.n
    elif mean is None and sample.weights is not None:
        mean = math.fsum((sample.weights * sample.delta).tolist()) / math.fsum(sample.weights.tolist())
    if mean is None or not math.isfinite(mean):
        raise ValueError(f"the mean difference must be a finite number, not {mean}")
    is_identical, passes = sample.is_zero and mean == 0, mean >= -margin - ROUNDING
    test = TTest(sample.n, 0.0 if is_identical else mean, None)
    return Decision(rules=rules, t=test, whole="pass" if passes else "fail", is_identical=is_identical)


Slices = Sequence[tuple[str | None, Sample]]


def slices_of(rules: Rules, each: Slices, levels: Levels = Levels()) -> tuple[Part, ...]:
    """Return slices or datasets as parts, the worst first; those of fewer than ``FEWEST_IN_SLICE`` groups come last.

    A part fails if its upper bound, at FAIL's level shared by Holm's method over the parts, is below minus its margin.
    One whose lower bound is not above that is open. If it regressed (``regressed``), it keeps the candidate from PASS,
    and so does a smaller one that regressed by more than the margin. Source: Holm, Scand. J. Statist. 6, 1979, in terms
    of bounds.

    >>> import numpy as np
    >>> noise = np.tile([0.125, -0.125], 100)
    >>> each = [("tv", Sample(noise[:50] - 0.4)), ("phone", Sample(noise[50:] + 0.15))]
    >>> [(part.value, part.status) for part in slices_of(Rules(0.05, by="device", part_margin=0.05), each)]
    [('tv', 'fails'), ('phone', 'within')]
    """
    margin = checked_margin(rules.part_margin, f"the margin of {'datasets' if rules.by == 'dataset' else 'slices'}")
    every = regressed(rules.by or "", each)
    judged = [(part, sample) for part, (_, sample) in zip(every, each, strict=True) if part.n >= FEWEST_IN_SLICE]
    judged.sort(key=lambda row: (_standing(row[1].test(), margin), row[0].value is None, row[0].value or ""))
    rows, is_open = [], False
    for number, (part, sample) in enumerate(judged):
        alpha = levels.failing / (len(judged) - number)
        if sample.is_same:
            rows.append(replace(part, delta=0.0, lower=0.0, upper=0.0, alpha=alpha, status="within", p_adjusted=None))
            continue
        found = bounds(sample, Levels(levels.passing, alpha))
        is_open = is_open or found.upper is None or found.upper >= -margin
        is_within = found.lower is not None and found.lower > -margin
        status: Status = "within" if is_within else "open" if is_open else "fails"
        blocks = status == "open" and part.p_adjusted is not None
        p = part.p_adjusted if status == "open" else None
        of = {"lower": found.lower, "upper": found.upper, "alpha": alpha, "status": status}
        rows.append(replace(part, **of, blocks=blocks, p_adjusted=p))  # type: ignore[arg-type]
    rows.sort(key=lambda row: row.delta)
    small = [part for part in every if part.n < FEWEST_IN_SLICE]
    for part in sorted(small, key=lambda part: part.delta):
        p = part.p_adjusted if part.delta < -margin else None
        rows.append(replace(part, p_adjusted=p, blocks=p is not None))
    return tuple(rows)


def regressed(attribute: str, each: Slices) -> list[Part]:
    """Return slices, with ``p_adjusted`` of those that regressed by the test of ``compare``, or by the sign test.

    >>> import numpy as np
    >>> each = [("tent", Sample(np.full(10, 0.125))), ("bike light", Sample(np.full(10, -0.5)))]
    >>> [(part.value, part.p_adjusted, part.low_information) for part in regressed("product", each)]
    [('tent', None, True), ('bike light', 0.00390625, True)]
    """
    tests = [(sample.test(), sample.information()) for _, sample in each]
    ps = holm([_sign_p(*row) for row in tests])
    return [
        Part(
            kind="dataset" if attribute == "dataset" else "slice",
            attribute=attribute,
            value=value,
            n=test.n,
            delta=test.mean or 0.0,
            p_adjusted=p if p is not None and p < ALPHA and (test.mean or 0.0) < 0 else None,
            low_information=information.is_low,
        )
        for (value, _), (test, information), p in zip(each, tests, ps, strict=True)
    ]


def _sign_p(test: TTest, information: Information) -> float | None:
    """Return the p-value of the t-test, or of the sign test where all differences are the same."""
    if test.p_value is None and test.standard_error is not None and test.mean:
        return float(2.0 ** (1 - information.n))
    return test.p_value


def _standing(test: TTest, margin: float) -> float:
    """Return by how many standard errors a slice is above its margin, which orders the slices for Holm's method."""
    above = (test.mean or 0.0) + margin
    return above / test.standard_error if test.standard_error else math.copysign(math.inf, above)


def harm_of(
    rules: Rules,
    each: Sequence[tuple[str | None, AnySample]],
    levels: Levels = Levels(),
) -> tuple[Part, ...]:
    """Return the share of groups that lose much as parts: of all groups, then of slices, the most harmed first.

    The bounds are exact for independent groups that count equally. Parameters: ``each``: all groups, then the slices.
    ``levels.failing``: the chance of any "fails" if nothing is above the limit, shared by Holm's method. Raises:
    InputError if all groups together are too few to show the share, even if none of them loses so much. Source: Clopper
    and Pearson, Biometrika 26, 1934; Holm, Scand. J. Statist. 6, 1979.

    >>> import numpy as np
    >>> (found,) = harm_of(Rules(0.01, max_harm=HarmLimit.of(".3:2%")), [(None, Sample(np.zeros(149)))])
    >>> found.status, round(found.upper, 4)
    ('within', 0.0199)
    """
    limit = rules.max_harm
    counts = [] if limit is None else [(value, *limit.count(*sample.losing)) for value, sample in each]
    if limit is None or not counts[0][2]:
        return ()
    counts, of_clusters = [row for row in counts if row[2]], each[0][1].losing[1] is not None
    if counts[0][2] < limit.fewest(levels.passing):
        n, unit = counts[0][2], "cluster" if of_clusters else "group"
        share = math.ceil(share_upper_bound(0, n, level=levels.passing) * 1000) / 10
        raise InputError(
            f"{argument('max_harm', limit)} cannot PASS with {counted(n, unit)}, even if none loses so much: "
            f"that takes {limit.fewest(levels.passing):,}",
            advice=f"allow {share:g}% of them or more, or leave it out",
        )
    p_values = [share_p_value(n_harmed, n, limit.share) for _, n_harmed, n in counts]
    parts: dict[int, Part] = {}
    is_open = False
    for number, place in enumerate(sorted(range(len(counts)), key=p_values.__getitem__)):
        value, k, n = counts[place]
        alpha = levels.failing / (len(counts) - number)
        lower, upper = share_lower_bound(k, n, level=1 - alpha), share_upper_bound(k, n, level=levels.passing)
        is_open = is_open or lower <= limit.share
        status: Status = "within" if upper <= limit.share else "open" if is_open else "fails"
        part = Part(kind="harm", attribute=rules.by or "", value=value, n=n, lower=lower, upper=upper)
        of = {"alpha": alpha, "status": status, "blocks": not place, "of_clusters": of_clusters}
        part = replace(part, **of, n_harmed=k, n_harmed_least=k)  # type: ignore[arg-type]
        parts[place] = part if place else replace(part, attribute="")
    whole, *slices = (parts[place] for place in range(len(counts)))
    return (whole, *sorted(slices, key=lambda part: -part.n_harmed / part.n))


def between(zero: Decision, low: Decision, high: Decision) -> Decision:
    """Return the decision that holds at both ends of what unjudged items may be worth; ``zero``: worth nothing."""
    at_high = {_key(part): part for part in high.parts if isinstance(part, Part)}
    at_zero = {_key(part): number for number, part in enumerate(zero.parts) if isinstance(part, Part)}
    parts = [_part_between(part, at_high[_key(part)], zero) for part in low.parts if isinstance(part, Part)]
    parts.sort(key=lambda part: at_zero[_key(part)] if part.kind != "harm" else len(at_zero))
    above, below = high.bounds or Bounds(), low.bounds or Bounds()
    found = replace(
        zero,
        t=replace(low.t, mean=zero.t.mean),
        whole="pass" if low.whole == "pass" else "fail" if high.whole == "fail" else "inconclusive",
        bounds=replace(
            below,
            upper=above.upper,
            upper_method=above.upper_method,
            t_upper=above.t_upper,
            betting_upper=above.betting_upper,
        ),
        levels=low.levels,
        parts=tuple(parts),
        why=zero.why or low.why or high.why,
        is_identical=low.is_identical and high.is_identical,
        others={"zero": zero, "low": low, "high": high},
    )
    ways = [end.ways for end, word in ((low, "pass"), (high, "fail")) if end.ways.word == word]
    is_undecided = found.decision == "inconclusive" and bool(ways)
    needed = (ways[0].n, ways[0].word) if is_undecided else (None, None)
    return replace(found, ways=Ways(*needed, low.ways.margin))


def _key(part: Part) -> tuple[bool, str | None]:
    return part.kind == "harm", part.value if part.kind != "harm" or part.attribute else "\0all"


def _part_between(low: Part, high: Part, zero: Decision) -> Part:
    """Return what holds of a part at both ends."""
    status: Status = "within" if low.status == "within" else "fails" if high.status == "fails" else "open"
    if low.kind == "harm":
        return replace(low, lower=high.lower, status=status, n_harmed_least=high.n_harmed)
    told = next(part for part in zero.parts if isinstance(part, Part) and _key(part) == _key(low))
    return replace(low, delta=told.delta, alpha=told.alpha, upper=high.upper, status=status)


def with_limits(decision: Decision, limits: Sequence[LimitCheck]) -> Decision:
    """Return a decision after checking the limits on other numbers: an unmet limit gives FAIL, whatever is unjudged."""
    others = {name: with_limits(other, limits) for name, other in decision.others.items()}
    return replace(decision, parts=(*decision.parts, *limits), others=others) if limits else decision
