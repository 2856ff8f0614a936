"""Runs on several datasets: means of each, and of all together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ndcg_tracker.compare.results import ALPHA, MetricComparison
from ndcg_tracker.metrics.language.metric import Direction
from ndcg_tracker.questions.leaderboard.decide import Standing, standings_of
from ndcg_tracker.statistics.all_pairs import Matrix, all_pairs, all_pairs_of_strata, holm_of_pairs
from ndcg_tracker.statistics.corrections import holm
from ndcg_tracker.statistics.stratified import Estimate, StratumMean, of_strata, stratified
from ndcg_tracker.words.notes import Note

SuiteVerdict = Literal["improved", "regressed", "no_difference_detected", "identical"]


@dataclass(frozen=True, slots=True)
class SuiteNote:
    """What else to know of one dataset."""

    dataset: str
    note: Note


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


@dataclass(frozen=True, slots=True)
class SuiteDelta:
    """A comparison on one dataset; ``p_adjusted``: Holm-corrected over the datasets."""

    dataset: str
    label_set_version: int | None
    baseline: str
    candidate: str
    n: int
    baseline_mean: float | None
    candidate_mean: float | None
    delta: float | None
    ci: tuple[float, float] | None
    p_value: float | None
    p_adjusted: float | None
    verdict: SuiteVerdict
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True, slots=True)
class SuiteComparison:
    """Two systems on the datasets of a suite.

    ``macro``: the mean of the datasets' differences, for other queries of these datasets; the verdict rests on it.
    ``over_datasets``: the same for other datasets like these. ``micro``: the mean difference of all queries.
    ``missing``: datasets on which one of the two has no run.
    """

    suite: str
    metric: str
    baseline: str
    candidate: str
    verdict: SuiteVerdict
    macro: Estimate
    over_datasets: Estimate
    micro: Estimate
    deltas: tuple[SuiteDelta, ...]
    missing: tuple[str, ...]
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


def suite_comparison(
    suite: str,
    names: tuple[str, str],
    found: Mapping[str, tuple[tuple[str, str], int | None, MetricComparison]],
    missing: Sequence[str],
    notes: Sequence[SuiteNote] = (),
) -> SuiteComparison:
    """Return the comparison on a suite.

    Parameters: ``names``: of the systems. ``found``: by dataset the names of both runs, the labels, the comparison.
    """
    metrics = [one for _, _, one in found.values()]
    adjusted = holm([one.p_value for one in metrics])
    deltas = tuple(
        SuiteDelta(
            dataset,
            version,
            *runs,
            one.n,
            one.baseline,
            one.candidate,
            one.delta,
            one.ci,
            one.p_value,
            p_adjusted,
            verdict_of(one.delta, p_adjusted, one.direction) if one.verdict != "identical" else "identical",
            one.wins,
            one.ties,
            one.losses,
        )
        for (dataset, (runs, version, one)), p_adjusted in zip(found.items(), adjusted, strict=True)
    )
    strata = [
        StratumMean(one.n, one.delta or 0.0, 0.0 if one.verdict == "identical" else one.standard_error, one.df)
        for one in metrics
    ]
    macro = stratified(strata, [1.0] * len(strata))
    is_identical = all(one.verdict == "identical" for one in metrics)
    return SuiteComparison(
        suite,
        metrics[0].metric,
        *names,
        "identical" if is_identical else verdict_of(macro.mean, macro.p_value, metrics[0].direction),
        macro,
        of_strata([one.mean for one in strata]),
        stratified(strata, [float(one.n) for one in strata]),
        deltas,
        tuple(missing),
        tuple(notes),
        metrics[0].direction,
    )


def verdict_of(delta: float | None, p_value: float | None, direction: Direction) -> SuiteVerdict:
    """Return what a p-value says of a difference."""
    if delta is None or p_value is None or p_value >= ALPHA:
        return "no_difference_detected"
    return "improved" if (delta > 0) == (direction == "higher") else "regressed"
