"""How the lists of two runs differ: its numbers, for people and for programs."""

from __future__ import annotations

from dataclasses import dataclass

from ndcg_tracker.compare.results import RunRef
from ndcg_tracker.render.formats import Said
from ndcg_tracker.render.report import Column, Report, Table, kinds
from ndcg_tracker.render.terminal import Painted
from ndcg_tracker.words.texts import counted, percent, unit


@dataclass(frozen=True, slots=True)
class ListDiff:
    """One group: how similar its two lists are.

    ``overlap``: the share of the first items that are in both. ``rbo``: rank-biased overlap. ``tau``: Kendall's tau of
    the ``n_shared`` items, None for fewer than two. ``first_change``: the first rank at which the lists differ, None if
    they are the same.
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

    ``depth``: how many of the first items ``overlap`` and ``same_top`` use. Means over groups: ``overlap``, ``rbo``
    (with the parameter ``rbo_p``), and ``tau`` of the groups that share two items or more; None without a group.
    ``same_lists``: the share of groups with the same lists; ``same_top``: with the same first items. ``only_in_a`` and
    ``only_in_b``: how many groups only one run has. ``most_changed``: the lowest rbo first.
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


def diff_said(diff: RunsDiff) -> Said:
    """Return the output for a difference; CSV has a row per group that changed most."""
    return Said(diff, lambda: [diff_report(diff)], lambda: _groups(diff))


def _groups(diff: RunsDiff) -> Table:
    """Return the table of the groups that changed most."""
    of_lists = kinds(f"group id, overlap mean overlap@{diff.depth}, rbo mean, tau mean, n_shared count shared")
    return Table.of((*of_lists, *kinds("first_change count first change")), diff.most_changed, "most changed")


def diff_report(diff: RunsDiff) -> Report:
    """Return the report of a difference."""
    alone = [
        f"{counted(n, 'group')} only in {run.name}"
        for n, run in ((diff.only_in_a, diff.a), (diff.only_in_b, diff.b))
        if n
    ]
    top = f"first {diff.depth}"
    heads = (
        Column("same_top", f"{top} the same", "share"),
        Column("overlap", f"overlap@{diff.depth}", "mean", f"the share of the {top} items that are in both"),
        Column("rbo", f"rbo, p={diff.rbo_p:g}", "mean", "extrapolated"),
        Column("tau", "Kendall's tau", "mean", "of the items that both have"),
    )
    return Report(
        _headline(diff),
        sentences=[", ".join(alone)] if alone else [],
        tables=[*([Table.of(heads, [diff])] if diff.n else []), *([_groups(diff)] if diff.most_changed else [])],
        verdict=None if diff.differs else Painted("IDENTICAL", "good"),
    )


def _headline(diff: RunsDiff) -> str:
    names = f"{diff.a.name} and {diff.b.name} on {diff.dataset}"
    if not diff.n:
        return f"{names} have no common {unit()}"
    if not diff.differs:
        return f"{names} have the same lists in all {counted(diff.n, 'group')}"
    return f"{names}: identical lists in {percent(diff.same_lists)} of {counted(diff.n, 'group')}"
