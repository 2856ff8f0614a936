"""A run whose rows were not put in the order of their scores: most metrics need the rank of few of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ndcg_tracker.rankings.grouping import is_descending
from ndcg_tracker.rankings.keys import Index, Keys
from ndcg_tracker.rankings.ranking import Floats, GroupedItems, Ranking


@dataclass(frozen=True)
class UnsortedRanking(GroupedItems):
    """One run whose rows stand group by group, within a group in any order; ``numbers`` are the scores.

    >>> import numpy as np
    >>> keys = Keys.from_strings
    >>> run = UnsortedRanking(keys("q"), np.array([0, 2]), keys("ab"), np.array([1.0, 2.0]))
    >>> run.item_keys.to_list(), run.in_order.item_keys.to_list()
    (['a', 'b'], ['b', 'a'])
    """

    @property
    def scores(self) -> Floats:
        """The score of each item."""
        return self.numbers

    @cached_property
    def in_order(self) -> Ranking:
        """The run with the items of each group best first, and items of equal score in their present order."""
        ranking = Ranking.from_groups(self.group_keys, self.offsets, self.item_keys, self.numbers)
        hashes = vars(self).get("pair_hashes")
        if hashes is not None:  # moving them takes less time than making them again
            places = ranking.input_places
            vars(ranking)["pair_hashes"] = hashes if places is None else hashes[places]
        return ranking


Run = Ranking | UnsortedRanking
"""A run, whether it has been put in order or not."""


def run_of_groups(group_keys: Keys, offsets: Index, item_keys: Keys, scores: Floats) -> Run:
    """Return the run of rows that stand group by group, as they stand (see ``Ranking.from_groups``, which sorts them).

    >>> import numpy as np
    >>> keys = Keys.from_strings
    >>> type(run_of_groups(keys("q"), np.array([0, 2]), keys("ab"), np.array([1.0, 2.0]))).__name__
    'UnsortedRanking'
    """
    kind = Ranking if is_descending(scores, offsets) else UnsortedRanking
    return kind(group_keys, offsets, item_keys, scores)
