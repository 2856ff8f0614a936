"""Everything a gate returns: the comparison, the decision, and what both stand on."""

from __future__ import annotations

from dataclasses import dataclass

from ndcg_tracker.compare.results import Comparison, MetricComparison
from ndcg_tracker.compare.slices import RegressedSlice
from ndcg_tracker.questions.gate.decide import GateDecision
from ndcg_tracker.questions.gate.decide_margin import LearnedMargin


@dataclass(frozen=True, slots=True)
class Drift:
    """How far accepted candidates have moved away from what a baseline alias stands for, as the decisions recorded it.

    ``alias``: without the @. ``pinned_run``: what it stands for, since ``pinned_at_utc``. ``n_accepted``: the
    candidates that PASSed against that run, ``latest_accepted`` the last one and ``latest_delta`` its delta against the
    pinned run. ``n_overridden``, ``latest_overridden``, ``latest_overridden_delta``: the same for those that did not
    PASS, and were overridden. ``n_moves``: how often the alias was moved to a candidate that PASSed or was overridden,
    ``n_moves_overridden`` how many of those were overridden, ``first_run`` what it stood for before, ``moved_delta``
    the sum of the deltas of those candidates, and ``total_delta`` that sum and the present delta. What is undefined is
    None.
    """

    alias: str
    pinned_run: str
    pinned_at_utc: str
    n_accepted: int = 0
    latest_accepted: str | None = None
    latest_delta: float | None = None
    n_moves: int = 0
    first_run: str | None = None
    moved_delta: float | None = None
    total_delta: float | None = None
    n_overridden: int = 0
    latest_overridden: str | None = None
    latest_overridden_delta: float | None = None
    n_moves_overridden: int = 0


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """Who overrode a decision, and why."""

    reason: str
    by: str


@dataclass(frozen=True, slots=True)
class Gated:
    """A decision with all that a report tells of it.

    ``comparison``: of the one metric, with what else to know in its notes. ``decision``: what was decided. ``number``:
    which decision of this gate it is (of this dataset, metric and baseline alias), from 1. ``decision_id``: its number
    in the database, None where it was not recorded. ``alpha_budget``: of all decisions of this gate, None without.
    ``learned_margin``: where the margin comes from repeats. ``drift``: None where the baseline is not an alias.
    ``acknowledgement``: None where nobody overrode the decision. ``ties_could_change_decision``: whether another order
    of items of equal score could. ``candidate_means``: metric and mean of everything
    the candidate was evaluated under with these labels. ``regressed_slices``: of all attributes of the groups, where
    the whole passes; none where it does not.
    """

    comparison: Comparison
    decision: GateDecision
    number: int
    decision_id: int | None = None
    alpha_budget: float | None = None
    learned_margin: LearnedMargin | None = None
    drift: Drift | None = None
    acknowledgement: Acknowledgement | None = None
    candidate_means: tuple[tuple[str, float | None], ...] = ()
    ties_could_change_decision: bool = False
    regressed_slices: tuple[RegressedSlice, ...] = ()

    @property
    def metric(self) -> MetricComparison:
        """The comparison of the one metric that was asked for."""
        return self.comparison.metrics[0]

    @property
    def is_accepted(self) -> bool:
        """Whether the candidate may replace the baseline: PASS, or overridden."""
        return self.decision.decision == "pass" or self.acknowledgement is not None
