"""The share of a run's top items that are judged, stored with every evaluation; not the measure ``Judged``.

It says how far labels cover a run, whatever the axes of the metric, over the groups that both share, and is found
while a run is scored. The measure, in ``kernel/companions.py``, has axes and is computed where someone asks for it.
"""

from __future__ import annotations

import numpy as np

from ndcg_tracker.metrics.kernel.graded_list import GainClasses, graded_list
from ndcg_tracker.metrics.kernel.ties import item_order, open_spans
from ndcg_tracker.rankings.join import Judged
from ndcg_tracker.rankings.types import Floats


def judged_shares(judged: Judged, cutoff: int | None) -> Floats:
    """Return the share of labelled items among the first ``cutoff`` of each list: float64, shape (m,), in [0, 1].

    Lists are those of the m groups that the run and the labels share; one that is shorter than the cutoff is measured
    over its own length; ties by item id, ascending. Source: ir_measures ``Judged@cutoff``.

    >>> from ndcg_tracker.rankings.join import judged as join

    >>> from ndcg_tracker.rankings.keys import Keys

    >>> from ndcg_tracker.rankings.ranking import LabelLists, Ranking
    >>> group = Keys.from_strings(["q", "q"])
    >>> run = Ranking.from_rows(group, Keys.from_strings("ab"), np.array([2.0, 1.0]))
    >>> judged_shares(join(run, LabelLists.from_rows(group, Keys.from_strings("bc"), np.ones(2))), 10).tolist()
    [0.5]
    """
    judged = judged.in_order
    ranking = judged.ranking
    lengths = np.diff(ranking.offsets)
    shared = np.zeros(ranking.n_groups, dtype=np.bool_)
    shared[judged.run_groups[(judged.run_groups >= 0) & (judged.label_groups >= 0)]] = True
    shared &= lengths > 0
    if not shared.any():
        return np.empty(0)
    if judged.rows.size == ranking.n_items:
        return np.ones(int(shared.sum()))
    one_level = np.zeros(judged.labels.n_items, dtype=np.uint8)
    graded = graded_list(judged, one_level, single=False, drop_unjudged=False, negative=None)
    n_judged = np.diff(graded.bounds)
    if cutoff is not None:
        labelled = GainClasses.of(np.ones(1), 0.0, every=True)
        runs = open_spans(graded, labelled, cutoff)
        order = item_order(graded, runs, ranking.item_keys, "item_asc", labelled)
        places = order.places_of(np.arange(graded.codes.size))
        reached = np.append(0, np.cumsum(places - ranking.offsets[graded.groups] < cutoff))
        n_judged = np.diff(reached[graded.bounds])
        lengths = np.minimum(lengths, cutoff)
    return n_judged[shared] / lengths[shared]
