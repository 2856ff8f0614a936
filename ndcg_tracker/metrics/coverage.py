"""How much of what a run shows has been judged at all."""

from __future__ import annotations

import numpy as np

from ndcg_tracker.metrics.ordering import places_by_rank, tied_places
from ndcg_tracker.rankings.join import JudgedRanking
from ndcg_tracker.rankings.ranking import Floats


def judged_share(judged: JudgedRanking, cutoff: int | None) -> float | None:
    """Return the mean of ``judged_shares``, None for a run without such lists: a share in [0, 1].

    Source: ir_measures ``Judged@cutoff``.

    >>> from ndcg_tracker.rankings import Keys, LabelLists, Ranking, judged as join
    >>> group = Keys.from_strings(["q", "q"])
    >>> run = Ranking.from_rows(group, Keys.from_strings("ab"), np.array([2.0, 1.0]))
    >>> judged_share(join(run, LabelLists.from_rows(group, Keys.from_strings("bc"), np.ones(2))), 10)
    0.5
    """
    shares = judged_shares(judged, cutoff)
    return float(shares.mean()) if shares.size else None


def judged_shares(judged: JudgedRanking, cutoff: int | None) -> Floats:
    """Return the share of labelled items among the first ``cutoff`` of each list: float64, shape (m,), in [0, 1].

    Lists are those of the m groups that the run and the labels share; one that is shorter than the cutoff is measured
    over its own length; ties by item id, descending.
    """
    ranking = judged.ranking
    lengths = np.diff(ranking.offsets)
    shared = np.zeros(ranking.n_groups, dtype=np.bool_)
    shared[judged.run_groups[(judged.run_groups >= 0) & (judged.label_groups >= 0)]] = True
    shared &= lengths > 0
    if not shared.any():
        return np.empty(0)
    places = judged.rows
    groups = np.searchsorted(ranking.offsets, places, "right") - 1
    if cutoff is not None:
        found = tied_places(ranking.scores, ranking.offsets, places)
        places = places_by_rank(found, lambda members: ranking.item_keys.take(members).byte_ranks())
        groups = groups[places - ranking.offsets[groups] < cutoff]
        lengths = np.minimum(lengths, cutoff)
    n_judged = np.bincount(groups, minlength=ranking.n_groups)
    return n_judged[shared] / lengths[shared]
