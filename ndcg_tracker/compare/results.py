"""The results of a comparison: frozen rows that carry their own warnings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ndcg_tracker.words.notes import Note

if TYPE_CHECKING:
    from ndcg_tracker.compare.drawn import DrawnCheck
    from ndcg_tracker.compare.options import CiMethod, Missing, TestName
    from ndcg_tracker.metrics.language.measures import ShownOnly
    from ndcg_tracker.metrics.language.metric import Direction
    from ndcg_tracker.statistics.t_test import Equivalence, TTest, VarianceParts

_ROUNDING = 1e-12


Verdict = Literal["improved", "regressed", "no_difference_detected", "identical", "not_comparable"]
ToldVerdict = Verdict | Literal["open"]
"""A verdict, or "open": unknown labels could change it."""
NotComparable = Literal["no_group", "nothing_judged", "baseline_not_judged", "candidate_not_judged", "other_ids"]
NOT_COMPARABLE: Mapping[NotComparable, str] = {
    "no_group": "no group has a result in both runs",
    "nothing_judged": "neither run has a judged item that it counts",
    "baseline_not_judged": "the baseline has no judged item that it counts",
    "candidate_not_judged": "the candidate has no judged item that it counts",
    "other_ids": "the labels do not reach both runs",
}
"""Why two runs are not compared."""
ALPHA = 0.05
"""The level at which a corrected p-value gives a verdict."""
COVERAGE_GAP = 0.01
WELL_JUDGED = 0.95
"""If both runs have at least this share of their first ranks judged, and about the same, no items are read."""


@dataclass(frozen=True, slots=True)
class TieBounds:
    """A mean if all ties in scores were broken in the worst way, and in the best way."""

    worst: float
    best: float

    @property
    def is_open(self) -> bool:
        """Whether ties change anything."""
        return self.best - self.worst > _ROUNDING


@dataclass(frozen=True, slots=True)
class TieEffect:
    """The bounds of one metric in both runs.

    >>> TieEffect(TieBounds(0.5, 0.5), TieBounds(0.25, 0.75)).delta
    (-0.25, 0.25)
    """

    baseline: TieBounds
    candidate: TieBounds

    @property
    def is_open(self) -> bool:
        """Whether ties change anything in either run."""
        return self.baseline.is_open or self.candidate.is_open

    @property
    def delta(self) -> tuple[float, float]:
        """The smallest and the largest difference that ties allow."""
        return self.candidate.worst - self.baseline.best, self.candidate.best - self.baseline.worst

    def could_turn(self, delta: float | None) -> bool:
        """Return whether some order of the tied items could turn the sign of a difference that no test judges.

        >>> TieEffect(TieBounds(0.5, 0.5), TieBounds(0.25, 0.75)).could_turn(0.125)
        True
        """
        if not self.is_open or delta is None:
            return False
        low, high = self.delta
        return low < 0 < high if delta == 0 else low * high <= 0


@dataclass(frozen=True, slots=True)
class GroupTieBounds:
    """One group's result in one run (``baseline`` or ``candidate``) with its bounds over all orders of tied items."""

    group: str
    run: str
    worst: float
    value: float
    best: float


OpenStop = str
"""Why it is not known how far unjudged items leave a difference open. "items": the items of a run are not stored.
"measure", or an axis and its value: there is no rule for these. "positives": no label says that an item is not
relevant. "size": there are so many groups that nobody looked."""


End = Literal["low", "high"]
ENDS: tuple[End, End] = ("low", "high")
"""The candidate's unjudged items worth nothing and the baseline's the most, and the other way round."""
TIED = ("worst ties", "best ties")
"""The other values of an estimate in the orders of tied items that are worst and best for the candidate."""
Open = Literal[
    "unjudged", "labels do not reach", "judge not checked", "too few drawn queries", "drawn queries left out"
]
"""What keeps a verdict open."""


@dataclass(frozen=True, slots=True)
class Unjudged:
    """What labels say of the first ranks of two runs.

    ``share``: the judged share. ``n_items``: how many items are unjudged there, of ``n_groups`` groups (None if not
    known); with arms, in the two runs with the most. ``stop``: why it is not known how far they leave a difference open
    (see ``OpenStop``), None if it is.
    """

    share: JudgedShare
    n_items: int = 0
    n_groups: int | None = None
    stop: OpenStop | None = None


@dataclass(frozen=True, slots=True)
class RunRef:
    """A run as reports name it: its name and its id in the database; or an arm, which has ``runs`` and no id."""

    name: str
    run_id: int | None
    runs: tuple[RunRef, ...] = field(default=(), metadata={"if_any": True})


@dataclass(frozen=True, slots=True)
class Clusters:
    """Clusters: groups with the same value of ``attribute``; a group without a value is one. ``n``: their number."""

    attribute: str
    n: int


@dataclass(frozen=True, slots=True)
class ItemMove:
    """One item of a group in two runs.

    ``grade``: None if it is unjudged. ``rank_baseline``, ``rank_candidate``: its rank from 1, None if the run does not
    have it, of repeats the mean over those that have it. ``contribution_baseline``, ``contribution_candidate``: its
    part of the group's result in each run. ``contribution``: its part of the group's delta, the second minus the first.

    >>> ItemMove("sku-1", 3.0, 1, None, 0.5, 0.0, -0.5).contribution
    -0.5
    """

    item: str
    grade: float | None
    rank_baseline: float | None
    rank_candidate: float | None
    contribution_baseline: float
    contribution_candidate: float
    contribution: float


@dataclass(frozen=True, slots=True)
class LabelSetRef:
    """A version of a dataset's labels and the digest of its content; ``judge``: who gave them, "" if not named.

    ``model`` and ``prompt``: of the judge, "" where not said.
    """

    version: int
    digest: str
    judge: str = ""
    model: str = field(default="", metadata={"if_any": True})
    prompt: str = field(default="", metadata={"if_any": True})


@dataclass(frozen=True, slots=True)
class GroupCounts:
    """How many groups a metric was compared on, and why others were not.

    ``paired``: the compared groups. ``only_in_baseline`` and ``only_in_candidate``: groups with a result in one run
    only; ``missing`` is how they were treated ("zero": paired with 0; "intersect": left out). ``undefined``: groups
    without a result in both runs. ``missing_in_baseline`` and ``missing_in_candidate``: labelled groups that the run
    does not have and that the metric counts as 0; with ``missing`` "intersect" and "skip" they are left out.
    ``in_neither``: labelled groups that neither run has but that the metric counts; they are in both of these numbers,
    except with ``missing`` "skip", which alone leaves them out.
    """

    paired: int
    only_in_baseline: int = 0
    only_in_candidate: int = 0
    undefined: int = 0
    missing_in_baseline: int = 0
    missing_in_candidate: int = 0
    missing: Missing = "error"
    in_neither: int = 0


@dataclass(frozen=True, slots=True)
class JudgedShare:
    """The share of ranked items with a label, down to a cutoff (None: the whole list), in both runs."""

    cutoff: int | None
    baseline: float | None
    candidate: float | None

    @property
    def is_apart(self) -> bool:
        """Whether clearly more is judged of one run: by more than a point."""
        if self.baseline is None or self.candidate is None:
            return self.baseline != self.candidate
        return abs(self.baseline - self.candidate) > COVERAGE_GAP

    @property
    def is_open(self) -> bool:
        """Whether unjudged items may matter: below 95% judged, or a point more of one run than of the other.

        >>> [JudgedShare(10, *shares).is_open for shares in ((0.99, 0.99), (0.999, 0.98), (0.9, 0.9), (None, 0.9))]
        [False, True, True, False]
        """
        if self.baseline is None or self.candidate is None:
            return False
        return min(self.baseline, self.candidate) < WELL_JUDGED or self.is_apart


@dataclass(frozen=True, slots=True)
class ListedShare:
    """The share of the labelled items of groups that both runs have which a run lists anywhere.

    ``of``: "labelled", or "relevant" for those graded above 0. With arms, the mean over their runs.
    """

    of: str
    baseline: float
    candidate: float


@dataclass(frozen=True, slots=True)
class JudgedSpan:
    """The least and the greatest share of judged items that several runs have, down to a cutoff."""

    cutoff: int | None
    least: float
    greatest: float

    @classmethod
    def of(cls, cutoff: int | None, shares: Iterable[float | None]) -> JudgedSpan | None:
        """Return the span of the shares that are known, None without any."""
        known = [share for share in shares if share is not None]
        return cls(cutoff, min(known), max(known)) if known else None

    @property
    def is_apart(self) -> bool:
        """Whether clearly more is judged of one run: by more than a point."""
        return self.greatest - self.least > COVERAGE_GAP

    @property
    def is_open(self) -> bool:
        """Whether unjudged items may matter: below 95% judged, or a point more of one run than of another."""
        return self.least < WELL_JUDGED or self.is_apart


@dataclass(frozen=True, slots=True)
class RareLoss:
    """The limit of a sample: how many groups like these may lose more than any of them did.

    ``n``: the number of independent groups, or clusters. ``worst``: the largest loss among them, 0 if none lost.
    ``share``: with 95% confidence, at most this share of groups loses more (or of clusters has a group that does).
    """

    n: int
    worst: float
    share: float


SliceKey = tuple[str, str | None]
"""A slice: an attribute and its value."""


@dataclass(frozen=True, slots=True)
class Apart:
    """How far a slice is from all other groups.

    ``rest``: the mean difference of the others. ``share``: the part of the whole difference that the slice carries,
    None without a difference. ``p_value``: of no distance between both means; ``p_adjusted``: after Holm over all
    slices that were looked at. Each is None if it is not known. ``stands_out``: whether that is below .05, also among
    the groups that are in no other slice that stands out more. ``also``: attributes and values of further slices that
    stand out because most of their groups are the same.
    """

    rest: float | None
    share: float | None
    p_value: float | None = None
    p_adjusted: float | None = None
    stands_out: bool = False
    also: tuple[SliceKey, ...] = ()


@dataclass(frozen=True, slots=True)
class Where:
    """Which slices of which attributes were looked at, and those that stand out, first the one that explains most.

    ``n``: how many slices. ``left_out``: attributes with too many values, and how many these are.
    """

    attributes: tuple[str, ...]
    n: int
    found: tuple[Estimate, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What was estimated, and on which groups.

    ``metric``: its canonical text; ``requested_as``: the text by which it was requested for the candidate, or for the
    baseline if that of the candidate is the canonical text; "" if it is not known. ``direction``: which values are
    better; if lower ones are, a group with a delta below 0 is a win. ``attribute``, ``value``: of a slice; ``apart``:
    how far it is from all other groups.
    ``test``, ``ci_method``: the methods. ``groups``: the counts of groups. ``not_comparable``: the reason for that
    verdict. ``shown_only``: why a metric is shown but not compared. ``tie_effect``: how far ties in scores leave both
    means open. ``clusters``: clusters of dependent groups. ``judged``: the judged share of the first ranks of both
    runs. ``unjudged``: what they leave open, None if nothing or nobody looked. ``judge_alone``: the named judge whose
    labels decide although nobody checked them, "" for none. ``check``: what drawn answers say;
    unless all groups are answered, the means, wins, ties and losses are then not known. Each is None if there is none.
    """

    metric: str = ""
    requested_as: str = ""
    direction: Direction = "higher"
    attribute: str = ""
    value: str | None = None
    apart: Apart | None = None
    test: TestName = "t"
    ci_method: CiMethod = "t"
    groups: GroupCounts = GroupCounts(0)
    not_comparable: NotComparable | None = None
    shown_only: ShownOnly | None = None
    tie_effect: TieEffect | None = None
    clusters: Clusters | None = None
    judged: JudgedShare | None = None
    unjudged: Unjudged | None = None
    judge_alone: str = ""
    check: DrawnCheck | None = None

    @property
    def key(self) -> SliceKey:
        """The attribute and value of a slice."""
        return self.attribute, self.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean difference of two runs with all that is inferred from it; an undefined number is None.

    ``about``: the metric or the slice. ``t``: the t-test of the differences. ``means``: of baseline and
    candidate over the groups that count. ``wins``, ``losses``: groups that are better and worse. ``ci``: the 95%
    interval, ``p_value``: by the chosen test, ``p_adjusted``: after Holm over everything that was asked together,
    ``q_value``: after Benjamini and Hochberg over the slices of a list. ``settled``: the verdict where no p-value can
    decide; "shown" has none.
    ``warnings``: what could not be inferred, or only weakly. ``equivalence``: None unless requested.
    ``detectable_delta``: the smallest difference found with 80% power, None if that is larger than the metric allows.
    ``rare_loss``: the losses that the groups cannot rule out, None if groups are weighted or unknown. ``others``: the
    same under other values of the groups: "low" and "high" of what unjudged items may be worth, "worst ties" and "best
    ties", the "judge" alone and whom it favours ("favour"). Of a suite also the macro mean for other datasets like
    these ("over_datasets") and the mean of all groups ("micro").
    """

    about: About = About()
    t: TTest
    means: tuple[float | None, float | None] = (None, None)
    wins: int | None = None
    losses: int | None = None
    ci: tuple[float, float] | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    q_value: float | None = None
    settled: Literal["identical", "not_comparable", "shown"] | None = None
    warnings: tuple[Note, ...] = ()
    equivalence: Equivalence | None = None
    detectable_delta: float | None = None
    rare_loss: RareLoss | None = None
    others: Mapping[str, Estimate] = field(default_factory=dict)

    @property
    def metric(self) -> str:
        """The canonical text of the metric."""
        return self.about.metric

    @property
    def baseline(self) -> float | None:
        """The mean of the baseline."""
        return self.means[0]

    @property
    def candidate(self) -> float | None:
        """The mean of the candidate."""
        return self.means[1]

    @property
    def n(self) -> int:
        """The number of groups that count."""
        return self.t.n

    @property
    def delta(self) -> float | None:
        """The mean difference."""
        return self.t.mean

    @property
    def ties(self) -> int | None:
        """How many groups have the same result in both runs."""
        return None if self.wins is None or self.losses is None else self.n - self.wins - self.losses

    @property
    def standard_error(self) -> float | None:
        """The standard error of delta."""
        return self.t.standard_error

    @property
    def variance(self) -> VarianceParts | None:
        """The sources of the variance for arms of several runs, None for single ones and where nothing is inferred."""
        return self.t.parts

    @property
    def df(self) -> float:
        """The degrees of freedom of the standard error."""
        return self.t.df

    @property
    def effect_size(self) -> float | None:
        """The standardised mean difference d_z, None where nothing is inferred."""
        return None if self.p_value is None and self.ci is None else self.t.effect_size

    @property
    def gain(self) -> float | None:
        """By how much the candidate is better: delta, or its negative where lower values are better."""
        return self.delta if self.delta is None or self.about.direction == "higher" else -self.delta

    @property
    def verdict(self) -> Verdict | None:
        """The verdict: the one rule that decides. None if the metric is only shown."""
        if self.settled is not None:
            return None if self.settled == "shown" else self.settled
        if self.p_adjusted is None or self.gain is None or self.p_adjusted >= ALPHA:
            return "no_difference_detected"
        return "improved" if self.gain > 0 else "regressed"

    @property
    def turning(self) -> Estimate | None:
        """The end of what unjudged items may be worth at which the verdict is another one, None if it holds at both."""
        if self.settled is not None:
            return None
        low, high = (self.others.get(end) for end in ENDS)
        ends = (low, high) if self.verdict == "improved" else (high, low)
        return next((end for end in ends if end is not None and end.verdict != self.verdict), None)

    @property
    def open(self) -> Open | None:
        """What keeps the verdict open, None if nothing does."""
        if self.about.not_comparable == "other_ids":
            return "labels do not reach"
        if self.about.check is not None and not self.about.check.decides:
            if self.verdict != "no_difference_detected":
                return None
            return "drawn queries left out" if self.about.check.are_many_left_out else "too few drawn queries"
        if self.about.judge_alone and self.settled is None:
            return "judge not checked"
        return None if self.turning is None else "unjudged"

    @property
    def is_open(self) -> bool:
        """Whether unknown labels could change the verdict."""
        return self.open is not None

    @property
    def told(self) -> ToldVerdict | None:
        """The verdict that reports show."""
        return "open" if self.is_open else self.verdict

    @property
    def has_other_ids(self) -> bool:
        """Whether one run has other ids than the labels, so that the difference is one of ids."""
        return self.about.not_comparable == "other_ids"

    @property
    def is_drawn(self) -> bool:
        """Whether only drawn groups are exact, so that nothing is known about the others."""
        return self.about.check is not None and not self.about.check.is_complete

    @property
    def is_untested(self) -> bool:
        """Whether the groups of a slice differ but no test can judge the difference."""
        return self.verdict == "not_comparable" and self.delta is not None

    @property
    def has_low_information(self) -> bool:
        """Whether one of the warnings is that of low information."""
        return any(warning.kind == "low_information" for warning in self.warnings)

    @property
    def ties_could_change_verdict(self) -> bool:
        """Whether another order of items with equal scores could give another verdict."""
        effect = self.about.tie_effect
        if effect is None or not effect.is_open or self.delta is None or self.settled == "shown":
            return False
        ends = [self.others[end] for end in TIED if end in self.others]
        return any(end.verdict != self.verdict for end in ends) if ends else effect.could_turn(self.delta)


@dataclass(frozen=True, slots=True)
class GroupDelta:
    """One group's result in both runs, and candidate minus baseline.

    ``moves``: the items that changed the result most, None if items were not read.
    """

    group: str
    baseline: float
    candidate: float
    delta: float
    moves: tuple[ItemMove, ...] | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """All results of the comparison of two runs of a dataset under one label set.

    ``groups``, ``worst`` (the largest loss first) and ``best`` (the largest gain first) belong to the first metric.
    ``coverage``: the judged share of both runs per cutoff. ``listed``: how many of the labelled and of the relevant
    items both runs list, () if their items were not read, as where all first items are judged. ``notes``: what else to
    know.
    ``tie_groups``: the groups that ties leave most open in the first metric, None unless requested; ``n_tie_groups``:
    how many groups they leave open in either run. ``slices``: the first metric by the values of attributes, first those
    that stand out, then the worst, None unless requested. ``where``: the slices of the first metric that stand out,
    None without attributes. ``texts``: of the worst and best groups that have one.
    ``suite``: the datasets if it is one comparison over a suite, whose name is ``dataset``. The metrics are then macro
    means, the slices every metric on each dataset, and only the labels' judge is known, if it is the same everywhere.
    """

    baseline: RunRef
    candidate: RunRef
    dataset: str
    label_set: LabelSetRef
    groups: GroupCounts = GroupCounts(0)
    metrics: tuple[Estimate, ...] = ()
    worst: tuple[GroupDelta, ...] = ()
    best: tuple[GroupDelta, ...] = ()
    notes: tuple[Note, ...] = ()
    coverage: tuple[JudgedShare, ...] = ()
    listed: tuple[ListedShare, ...] = ()
    tie_groups: tuple[GroupTieBounds, ...] | None = None
    n_tie_groups: int | None = None
    slices: tuple[Estimate, ...] | None = None
    where: Where | None = None
    are_labels_asked: bool = False
    texts: Mapping[str, str] = field(default_factory=dict)
    suite: Suite | None = None

    @property
    def is_comparable(self) -> bool:
        """Whether anything could be compared at all."""
        return any(metric.verdict != "not_comparable" for metric in self.metrics)


@dataclass(frozen=True, slots=True)
class Suite:
    """The datasets of a comparison over a suite.

    ``each``: the comparison on each dataset. ``missing``: the datasets on which one of the two has no run. ``by_tag``:
    the tag whose value names a system, None for the names of runs.
    """

    each: tuple[Comparison, ...]
    missing: tuple[str, ...] = ()
    by_tag: str | None = None


def most_telling(moves: Iterable[ItemMove], delta: float, n: int) -> tuple[ItemMove, ...]:
    """Return the items that explain most of a group's delta: those in its direction, the largest contribution first.

    Parameters: ``delta``: the delta of the group. ``n``: how many items at most. Items in the other direction come
    last.

    >>> lost, less, won = (ItemMove(name, 1.0, 1, 2, 0.0, 0.0, part) for name, part in zip("abc", (-0.5, -0.1, 0.4)))
    >>> [move.item for move in most_telling([won, less, lost], -0.2, 2)]
    ['a', 'b']
    """
    return tuple(sorted(moves, key=lambda move: (move.contribution * delta <= 0, -abs(move.contribution)))[:n])


def ties_note(effect: TieEffect, *metrics: str) -> Note:
    """Return a note that ties could change the verdict on a metric, or without one the decision of a gate."""
    low, high = effect.delta
    return Note("ties", {"metrics": metrics, "low": low, "high": high})
