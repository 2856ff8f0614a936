"""The lists of two stored runs side by side, block by block."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ndcg_tracker.compare.results import RunRef
from ndcg_tracker.compare.run_pair import check_one_dataset
from ndcg_tracker.concurrency import mapped
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.questions.diff.say import ListDiff, RunsDiff, diff_said
from ndcg_tracker.rankings.grouping import group_codes
from ndcg_tracker.rankings.join import matching_rows
from ndcg_tracker.rankings.sorting import id_order
from ndcg_tracker.render.formats import Answer, Said
from ndcg_tracker.statistics.similarity import SharedRanks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ndcg_tracker.rankings import Floats, Index
    from ndcg_tracker.rankings.ranking import Ranking
    from ndcg_tracker.storage.records import RunRecord
    from ndcg_tracker.storage.store import ReadTransaction

BLOCK_ITEMS = 1 << 18


@dataclass(frozen=True, slots=True)
class _Lists:
    """How similar both lists of each group are, with an array per number."""

    overlap: Floats
    rbo: Floats
    tau: Floats
    n_shared: Index
    n_same_first: Index
    longest: Index
    is_same: Index
    is_same_top: Index


def runs_diff(
    tx: ReadTransaction, a: RunRecord, b: RunRecord, *, depth: int = 10, rbo_p: float = 0.9, top: int = 10
) -> RunsDiff:
    """Return how the lists of two runs differ. Items of equal score are in descending order of their ids.

    Raises: InputError for a depth below 1, a parameter outside of (0, 1), and runs whose items were pruned;
    NotComparableError for runs of two datasets.
    """
    check_cutoff(depth)
    check_rbo_p(rbo_p)
    check_one_dataset(a, b, "compared list by list")
    tx.runs.require("groups", a, b)
    ids_a, ids_b = tx.runs.group_ids(a.id), tx.runs.group_ids(b.id)
    shared = np.intersect1d(ids_a, ids_b, assume_unique=True)
    blocks = list(mapped(lambda pair: _lists(*pair, depth, rbo_p), pairs_of_lists(tx, a, b, shared)))
    lists = _joined(blocks)
    changed = np.flatnonzero(lists.is_same == 0)  # a list and its beginning also have an rbo of 1
    worst = changed[np.lexsort((lists.n_same_first[changed], lists.overlap[changed], lists.rbo[changed]))][:top]
    names = tx.groups.keys(a.dataset_id, shared[worst]).to_list() if worst.size else []
    return RunsDiff(
        RunRef(a.name, a.id),
        RunRef(b.name, b.id),
        a.dataset,
        shared.size,
        ids_a.size - shared.size,
        ids_b.size - shared.size,
        depth,
        rbo_p,
        mean_of_known(lists.overlap),
        mean_of_known(lists.rbo),
        mean_of_known(lists.tau),
        mean_of_known(lists.is_same),
        mean_of_known(lists.is_same_top),
        tuple(
            ListDiff(
                name,
                float(lists.overlap[place]),
                float(lists.rbo[place]),
                None if np.isnan(lists.tau[place]) else float(lists.tau[place]),
                int(lists.n_shared[place]),
                int(lists.n_same_first[place]) + 1,
            )
            for name, place in zip(names, worst.tolist(), strict=True)
        ),
    )


def check_cutoff(cutoff: int) -> None:
    """Raise InputError for a number of first items below 1."""
    if cutoff < 1:
        raise InputError(f"{argument('cutoff', cutoff)} leaves nothing to look at", advice="give 1 or more")


def check_rbo_p(rbo_p: float) -> None:
    """Raise InputError for a parameter of rank-biased overlap outside of (0, 1)."""
    if not 0 < rbo_p < 1:
        raise InputError(f"{argument('rbo_p', rbo_p)} is not between 0 and 1", advice="give for example 0.9")


def _joined(blocks: Sequence[_Lists]) -> _Lists:
    columns: dict[str, Any] = {
        field.name: np.concatenate([getattr(block, field.name) for block in blocks] or [np.zeros(0)])
        for field in fields(_Lists)
    }
    return _Lists(**columns)


def mean_of_known(values: Floats | Index) -> float | None:
    """Return the mean of the numbers that are not NaN, None without any."""
    numbers = values[~np.isnan(values)]
    return float(numbers.mean()) if numbers.size else None


def pairs_of_lists(tx: ReadTransaction, a: RunRecord, b: RunRecord, shared: Index) -> Iterator[tuple[Ranking, Ranking]]:
    """Yield the items of both runs, some groups at a time."""
    n_items = max(a.n_items / max(a.n_groups, 1), b.n_items / max(b.n_groups, 1), 1.0)
    at_once = max(int(BLOCK_ITEMS / n_items), 1)
    for first in range(0, shared.size, at_once):
        ids = shared[first : first + at_once]
        yield tx.runs.ranking(a.id, ids), tx.runs.ranking(b.id, ids)


def _lists(a: Ranking, b: Ranking, depth: int, rbo_p: float) -> _Lists:
    ranks = shared_ranks(by_id_where_tied(a), by_id_where_tied(b))
    same_first, n_groups = ranks.n_same_first(), ranks.n_first.size
    longest = np.maximum(ranks.n_first, ranks.n_second)
    return _Lists(
        ranks.overlap(depth),
        ranks.rank_biased_overlap(rbo_p),
        ranks.kendall_tau(),
        np.bincount(ranks.group, minlength=n_groups),
        same_first,
        longest,
        (same_first == longest).astype(np.int64),
        (same_first >= np.minimum(longest, depth)).astype(np.int64),
    )


def shared_ranks(a: Ranking, b: Ranking) -> SharedRanks:
    """Return the items that two rankings of the same groups share, with their ranks."""
    rows, other_rows = matching_rows(a, b)
    group = group_codes(a.offsets)[rows]
    return SharedRanks(
        group,
        rows - a.offsets[group] + 1,
        other_rows - b.offsets[group] + 1,
        np.diff(a.offsets),
        np.diff(b.offsets),
    )


def by_id_where_tied(ranking: Ranking) -> Ranking:
    """Return a ranking with items of equal score as metrics take them: by descending id, unless its order counts."""
    if ranking.tie_order is not None:
        return ranking
    tied = np.append(False, ranking.scores[1:] == ranking.scores[:-1])[: ranking.n_items]
    tied[ranking.offsets[:-1][ranking.offsets[:-1] < ranking.n_items]] = False
    if not tied.any():
        return ranking
    in_span = tied | np.append(tied[1:], False)
    rows = np.flatnonzero(in_span)
    starts = np.flatnonzero(~tied[rows])
    offsets = np.append(starts, rows.size)
    ascending = rows[id_order(ranking.item_keys, rows, offsets)]
    ends = np.repeat(offsets[1:], np.diff(offsets))
    firsts = np.repeat(offsets[:-1], np.diff(offsets))
    order = np.arange(ranking.n_items)
    order[rows] = ascending[firsts + ends - 1 - np.arange(rows.size)]
    return replace(ranking, item_keys=ranking.item_keys.take(order), input_places=None)


@dataclass(frozen=True, repr=False)
class DiffResult(Answer):
    """How the lists of two runs differ; notebooks show it as a report, and ``print`` prints it.

    ``diff``: the typed numbers. ``to_frame`` has a row per group that changed most.
    """

    diff: RunsDiff

    def _said(self) -> Said:
        return diff_said(self.diff)
