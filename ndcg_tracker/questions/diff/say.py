"""How the lists of two runs differ: its numbers, for people and for programs."""

from __future__ import annotations

from dataclasses import dataclass

from ndcg_tracker.compare.results import RunRef
from ndcg_tracker.render.formats import Said
from ndcg_tracker.render.report import Column, Report, Table, columns
from ndcg_tracker.render.terminal import Painted
from ndcg_tracker.words.texts import counted, percent, points


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


_COLUMNS = ("group", "overlap", "rbo", "tau", "n_shared", "first_change")


def diff_said(diff: RunsDiff) -> Said:
    """Return the output for a difference; CSV has a row per group that changed most."""
    return Said(diff, lambda: [diff_report(diff)], lambda: Table.of(tuple(map(Column, _COLUMNS)), diff.most_changed))


def diff_report(diff: RunsDiff) -> Report:
    """Return the report of a difference."""
    rows: list[list[object]] = [
        [
            of_group.group,
            points(of_group.overlap),
            points(of_group.rbo),
            points(of_group.tau),
            f"{of_group.n_shared:,}",
            "-" if of_group.first_change is None else str(of_group.first_change),
        ]
        for of_group in diff.most_changed
    ]
    top = f"first {diff.depth}"
    heads = columns("group", f">overlap@{diff.depth}", ">rbo", ">tau", ">shared", ">first change")
    facts = [
        ("identical lists", percent(diff.same_lists)),
        (f"{top} the same", percent(diff.same_top)),
        (f"overlap@{diff.depth}", f"{points(diff.overlap)}, the share of the {top} items that are in both"),
        (f"rbo, p={diff.rbo_p:g}", f"{points(diff.rbo)}, extrapolated"),
        ("Kendall's tau", f"{points(diff.tau)}, of the items that both have"),
    ]
    alone = [
        f"{counted(n, 'group')} only in {run.name}"
        for n, run in ((diff.only_in_a, diff.a), (diff.only_in_b, diff.b))
        if n
    ]
    facts.append(("groups", ", ".join([f"{diff.n:,} in both", *alone])))
    return Report(
        _headline(diff),
        facts=facts,
        tables=[Table(heads, rows, "most changed")] if rows else [],
        verdict=None if diff.differs else Painted("IDENTICAL", "good"),
    )


def _headline(diff: RunsDiff) -> str:
    names = f"{diff.a.name} and {diff.b.name} on {diff.dataset}"
    if not diff.n:
        return f"{names} have no common group"
    if not diff.differs:
        return f"{names} have the same lists in all {diff.n:,} groups"
    return f"{names}: identical lists in {percent(diff.same_lists)} of {counted(diff.n, 'group')}"
