"""What a comparison returns: frozen rows that carry their own warnings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ndcg_tracker.comparison.moves import ItemMove
from ndcg_tracker.comparison.pairing import Missing
from ndcg_tracker.comparison.tie_effect import GroupTieBounds, TieEffect
from ndcg_tracker.statistics.equivalence import Equivalence

if TYPE_CHECKING:
    from ndcg_tracker.comparison.slices import SliceComparison

Verdict = Literal["improved", "regressed", "no_difference_detected", "identical", "not_comparable"]
NotComparable = Literal["no_group", "nothing_judged"]
"""Why two runs cannot be compared: no group has a result in both; neither has a judged item that the metric counts."""
ShownOnly = Literal["diagnostic", "no_mean_of_groups"]

LOW_INFORMATION = "low information"
"""How the warning of low information begins."""


@dataclass(frozen=True, slots=True)
class RunRef:
    """A run as reports name it: its name and its id in the database."""

    name: str
    run_id: int

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of this run."""
        return {"name": self.name, "run_id": self.run_id}


@dataclass(frozen=True, slots=True)
class LabelSetRef:
    """A version of a dataset's labels and the digest of its content."""

    version: int
    digest: str

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of this label set."""
        return {"version": self.version, "digest": self.digest}


@dataclass(frozen=True, slots=True)
class GroupCounts:
    """How many groups a metric was compared on, and why others were not.

    ``paired``: compared. ``only_in_baseline`` and ``only_in_candidate``: with a result in one run only; ``missing``
    says what became of them ("zero": they are paired with 0; "intersect": left out). ``undefined``: without a result
    in both. ``missing_in_baseline`` and ``missing_in_candidate``: labelled groups that the run does not have and that
    the metric counts as 0. ``in_neither``: labelled groups that neither run has and that the metric counts all the
    same; they are in both of these numbers, but for ``missing`` "skip", which leaves them out.
    """

    paired: int
    only_in_baseline: int = 0
    only_in_candidate: int = 0
    undefined: int = 0
    missing_in_baseline: int = 0
    missing_in_candidate: int = 0
    missing: Missing = "error"
    in_neither: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of these counts."""
        return {
            "paired": self.paired,
            "only_in_baseline": self.only_in_baseline,
            "only_in_candidate": self.only_in_candidate,
            "undefined": self.undefined,
            "missing_in_baseline": self.missing_in_baseline,
            "missing_in_candidate": self.missing_in_candidate,
            "missing": self.missing,
            "in_neither": self.in_neither,
        }


@dataclass(frozen=True, slots=True)
class JudgedShare:
    """Which share of the ranked items carries a label, down to a cutoff (None: the whole list), in both runs."""

    cutoff: int | None
    baseline: float | None
    candidate: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of these shares."""
        return {"cutoff": self.cutoff, "baseline": self.baseline, "candidate": self.candidate}


@dataclass(frozen=True, slots=True)
class MetricComparison:
    """One metric in two runs.

    ``requested_as``: the text that the candidate was asked for it by; if that is the canonical one, the baseline; ""
    where that is not known.

    ``metric``: its canonical text. ``baseline``, ``candidate``: means over the paired groups, None without any.
    ``delta``: the mean difference. ``ci``: its 95% interval by ``ci_method``. ``p_value``: of ``test``;
    ``p_adjusted``: after Holm's correction. ``n``: the groups that count. ``wins``, ``ties``, ``losses``: groups with
    a delta above, at and below exactly 0. ``effect_size``: d_z. ``detectable_delta``: the smallest difference found
    with 80% power. ``warnings``: what to keep in mind, in words. ``tie_effect``: how far ties in scores leave both
    means open. ``betting_ci``: the 95% betting interval where information is low, else None. ``equivalence``: to a
    margin, None where nobody asked. ``not_comparable``: why the verdict is that, else None. ``standard_error``: of
    delta. ``ties_could_change_verdict``: whether another order of items of equal score could give another verdict.
    ``shown_only``: why the metric is shown and not compared, None where it is compared; it has no verdict then, and
    ``baseline`` and ``candidate`` are what was stored. A number that is undefined is None.
    """

    metric: str
    baseline: float | None
    candidate: float | None
    delta: float | None
    ci: tuple[float, float] | None
    ci_method: str
    p_value: float | None
    p_adjusted: float | None
    test: str
    n: int
    wins: int
    ties: int
    losses: int
    effect_size: float | None
    detectable_delta: float | None
    warnings: tuple[str, ...]
    verdict: Verdict | None
    groups: GroupCounts
    requested_as: str = ""
    tie_effect: TieEffect | None = None
    betting_ci: tuple[float, float] | None = None
    equivalence: Equivalence | None = None
    not_comparable: NotComparable | None = None
    standard_error: float | None = None
    ties_could_change_verdict: bool = False
    shown_only: ShownOnly | None = None

    @property
    def has_low_information(self) -> bool:
        """Whether one of the warnings is that of low information."""
        return any(warning.startswith(LOW_INFORMATION) for warning in self.warnings)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of this metric."""
        return {
            "metric": self.metric,
            "baseline": self.baseline,
            "candidate": self.candidate,
            "delta": self.delta,
            "ci": None if self.ci is None else list(self.ci),
            "ci_method": self.ci_method,
            "p_value": self.p_value,
            "p_adjusted": self.p_adjusted,
            "test": self.test,
            "wins": self.wins,
            "ties": self.ties,
            "losses": self.losses,
            "effect_size": self.effect_size,
            "detectable_delta": self.detectable_delta,
            "warnings": list(self.warnings),
            "verdict": self.verdict,
            "not_comparable": self.not_comparable,
            "n": self.n,
            "groups": self.groups.to_dict(),
            "tie_bounds": self._tie_bounds(),
            "betting_ci": None if self.betting_ci is None else list(self.betting_ci),
            "shown_only": self.shown_only,
            "requested_as": self.requested_as or self.metric,
        } | ({} if self.equivalence is None else {"equivalence": self.equivalence.to_dict()})

    def _tie_bounds(self) -> dict[str, Any] | None:
        effect = self.tie_effect
        if effect is None:
            return None
        return {
            "baseline": [effect.baseline.worst, effect.baseline.best],
            "candidate": [effect.candidate.worst, effect.candidate.best],
            "delta": list(effect.delta),
            "could_change_verdict": self.ties_could_change_verdict,
        }


@dataclass(frozen=True, slots=True)
class GroupDelta:
    """One group's result in both runs, and candidate minus baseline.

    ``moves``: the items that moved the result most, None where nobody looked at items.
    """

    group: str
    baseline: float
    candidate: float
    delta: float
    moves: tuple[ItemMove, ...] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of this group."""
        return {
            "group": self.group,
            "baseline": self.baseline,
            "candidate": self.candidate,
            "delta": self.delta,
        } | ({} if self.moves is None else {"moves": [move.to_dict() for move in self.moves]})


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that was found between two runs of a dataset under one label set.

    ``groups``, ``worst`` (most negative delta first) and ``best`` (most positive first) belong to the first metric.
    ``coverage``: the judged share of both runs per cutoff. ``notes``: what else to know, in words.
    ``tie_groups``: the groups that ties leave most open in the first metric, and ``n_tie_groups`` how many they leave
    open in either run, None where nobody asked. ``slices``: the
    first metric by the values of the group attribute ``slice_attribute``, most negative delta first, None where nobody
    asked.
    """

    baseline: RunRef
    candidate: RunRef
    dataset: str
    label_set: LabelSetRef
    groups: GroupCounts
    metrics: tuple[MetricComparison, ...]
    worst: tuple[GroupDelta, ...] = ()
    best: tuple[GroupDelta, ...] = ()
    notes: tuple[str, ...] = ()
    coverage: tuple[JudgedShare, ...] = ()
    tie_groups: tuple[GroupTieBounds, ...] | None = None
    n_tie_groups: int | None = None
    slices: tuple[SliceComparison, ...] | None = None
    slice_attribute: str | None = None

    @property
    def is_comparable(self) -> bool:
        """Whether anything could be compared at all."""
        return any(metric.verdict != "not_comparable" for metric in self.metrics)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of this comparison: plain Python values, None for what is undefined."""
        found: dict[str, Any] = {
            "baseline": self.baseline.to_dict(),
            "candidate": self.candidate.to_dict(),
            "dataset": self.dataset,
            "label_set": self.label_set.to_dict(),
            "groups": self.groups.to_dict(),
            "metrics": [metric.to_dict() for metric in self.metrics],
            "worst": [group.to_dict() for group in self.worst],
            "best": [group.to_dict() for group in self.best],
            "notes": list(self.notes),
            "coverage": [share.to_dict() for share in self.coverage],
        }
        if self.tie_groups is not None:
            found["tie_groups"] = [group.to_dict() for group in self.tie_groups]
            found["n_tie_groups"] = self.n_tie_groups
        if self.slices is not None:
            found["slices"] = [{"attribute": self.slice_attribute} | row.to_dict() for row in self.slices]
        return found
