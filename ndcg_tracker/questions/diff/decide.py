"""How the lists of two runs differ, without labels."""

from __future__ import annotations

from dataclasses import dataclass

from ndcg_tracker.compare.results import RunRef


@dataclass(frozen=True, slots=True)
class ListDiff:
    """One group: how alike its two lists are.

    ``overlap``: the share of the first items that both have there. ``rbo``: rank-biased overlap. ``tau``: Kendall's, of
    the ``n_shared`` items, None below two. ``first_change``: the first rank at which they differ, None where they are
    the same.
    """

    group: str
    overlap: float
    rbo: float
    tau: float | None
    n_shared: int
    first_change: int | None


@dataclass(frozen=True, slots=True)
class RunsDiff:
    """How the lists of two runs differ, over the ``n`` groups that both have.

    ``depth``: how many first items ``overlap`` and ``same_top`` are about. Means over groups: ``overlap``, ``rbo``
    (with the parameter ``rbo_p``), and ``tau`` of those that share two items or more; None without a group.
    ``same_lists``: the share of groups whose lists are the same; ``same_top``: whose first items are. ``only_in_a`` and
    ``only_in_b``: how many groups one run has alone. ``most_changed``: the lowest rbo first.
    """

    a: RunRef
    b: RunRef
    dataset: str
    n: int
    only_in_a: int
    only_in_b: int
    depth: int
    rbo_p: float
    overlap: float | None
    rbo: float | None
    tau: float | None
    same_lists: float | None
    same_top: float | None
    most_changed: tuple[ListDiff, ...]

    @property
    def differs(self) -> bool:
        """Whether any list differs, or one run has a group that the other lacks."""
        return bool(self.only_in_a or self.only_in_b or (self.same_lists is not None and self.same_lists < 1))
