"""Systems on the datasets of a suite side by side: their means on each and over all, and where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ndcg_tracker.compare.decide_suite import SuiteNote
from ndcg_tracker.metrics.language.metric import Direction
from ndcg_tracker.questions.leaderboard.decide import Standing, standings_of
from ndcg_tracker.statistics.many_tests import Matrix, all_pairs, all_pairs_of_strata, holm_of_pairs
from ndcg_tracker.statistics.stratified import Estimate, StratumMean, of_strata, stratified


@dataclass(frozen=True, slots=True)
class SuiteCell:
    """The mean of a run on one dataset; ``standard_error``: None where n is below 2."""

    run: str
    run_id: int
    n: int
    mean: float
    standard_error: float | None


@dataclass(frozen=True, slots=True)
class SuiteRow:
    """One system on every dataset of a suite.

    ``cells``: by dataset, None where it has no run there. ``macro``: the mean of datasets, each counting once, for
    other queries of these datasets; ``over_datasets``: the same for other datasets like these; ``micro``: the mean of
    all queries. All three are None where a cell is missing: means over other datasets cannot be ranked. ``standing``:
    by the macro mean among the systems without a missing cell, for other queries of these datasets; None without, and
    where groups have no test.
    """

    system: str
    cells: tuple[SuiteCell | None, ...]
    macro: Estimate | None
    over_datasets: Estimate | None
    micro: Estimate | None
    standing: Standing | None = None


@dataclass(frozen=True, slots=True)
class SuiteTable:
    """Systems by the macro mean, the best first, those with missing cells last; ``versions``: of labels, by dataset."""

    suite: str
    metric: str
    datasets: tuple[str, ...]
    versions: tuple[int | None, ...]
    rows: tuple[SuiteRow, ...]
    notes: tuple[SuiteNote, ...] = ()
    direction: Direction = "higher"


def suite_row(system: str, cells: Sequence[SuiteCell | None], limits: tuple[float, float] | None) -> SuiteRow:
    """Return the row of a system, with the means of all datasets where none is missing.

    Parameters: ``limits``: between which values of the metric lie, and so intervals of its mean, None for any.
    """
    known = [cell for cell in cells if cell is not None]
    if len(known) < len(cells):
        return SuiteRow(system, tuple(cells), None, None, None)
    strata = [StratumMean(cell.n, cell.mean, cell.standard_error, cell.n - 1.0) for cell in known]
    return SuiteRow(
        system,
        tuple(cells),
        _within(stratified(strata, [1.0] * len(strata)), limits),
        _within(of_strata([cell.mean for cell in known]), limits),
        _within(stratified(strata, [float(cell.n) for cell in known]), limits),
    )


def with_standings(rows: Sequence[SuiteRow], values: Sequence[Matrix], direction: Direction) -> list[SuiteRow]:
    """Return rows without a missing cell with where each stands; ``values``: of each dataset, a row per system."""
    found = all_pairs_of_strata([all_pairs(one) for one in values])
    intervals = [None if row.macro is None else row.macro.ci for row in rows]
    standings = standings_of(found, holm_of_pairs(found.p_value), direction, intervals)
    return [replace(row, standing=one) for row, one in zip(rows, standings, strict=True)]


def _within(one: Estimate, limits: tuple[float, float] | None) -> Estimate:
    if one.ci is None or limits is None:
        return one
    return replace(one, ci=(max(one.ci[0], limits[0]), min(one.ci[1], limits[1])))
