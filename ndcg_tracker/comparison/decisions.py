"""What a gate decides, as a typed row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ndcg_tracker.comparison.notes import Note

Decision = Literal["pass", "fail", "inconclusive"]
Scope = Literal["set", "population"]
BoundMethod = Literal["t", "betting"]
ROUNDING = 1e-12
"""What rounding may do to a mean difference; it decides nothing."""


@dataclass(frozen=True, slots=True)
class GateDecision:
    """A decision with everything it rests on; a number that is undefined is None.

    ``decision``: what was decided. ``scope``: "population" or "set". ``margin``: the drop that is
    allowed (the tolerance of a set). ``n``: the groups that count. ``delta``: their (weighted) mean difference.
    ``lower``: the one-sided bound at ``pass_level`` that PASS was decided by, ``lower_method`` how it was
    found; ``upper``, ``upper_method``: the same for FAIL, at 1 - ``fail_alpha``. ``t_lower``, ``betting_lower``,
    ``t_upper``, ``betting_upper``: both kinds of bounds, the latter where information is low, or all differences are
    the same. ``low_information``: why the t bounds were not trusted alone, None if they were. ``is_small_drop``: a PASS
    whose upper bound lies below 0. ``n_needed``: about how many groups like these would decide, ``n_needed_for`` what;
    ``margin_needed``: the margin above which these groups would PASS. ``is_identical``: whether no group differs.
    """

    decision: Decision
    scope: Scope
    margin: float
    n: int
    delta: float | None
    lower: float | None = None
    lower_method: BoundMethod | None = None
    upper: float | None = None
    upper_method: BoundMethod | None = None
    t_lower: float | None = None
    betting_lower: float | None = None
    t_upper: float | None = None
    betting_upper: float | None = None
    pass_level: float | None = None
    fail_alpha: float | None = None
    low_information: Note | None = None
    is_small_drop: bool = False
    n_needed: int | None = None
    n_needed_for: Literal["pass", "fail"] | None = None
    margin_needed: float | None = None
    is_identical: bool = False

    def moved(self, by: float) -> Decision:
        """Return what would have been decided with delta, and its bounds, moved by so much.

        >>> GateDecision("pass", "population", 0.01, 9, 0.0, lower=-0.005, upper=0.005).moved(-0.25)
        'fail'
        """
        if self.delta is None:
            return self.decision
        if self.scope == "set":
            return "pass" if self.delta + by >= -self.margin - ROUNDING else "fail"
        if self.lower is None and self.upper is None and not self.delta:  # identical, and no bound is known
            return "inconclusive" if by < -self.margin else self.decision
        if self.lower is not None and self.lower + by > -self.margin:
            return "pass"
        return "fail" if self.upper is not None and self.upper + by < 0 else "inconclusive"
