"""Shares of the groups: the same groups everywhere, smaller shares inside larger ones."""

from fractions import Fraction
from math import nan

import numpy as np
import pytest

from ndcg_tracker.errors import InputError
from ndcg_tracker.rankings.groups_share import in_share, parse_share, smallest_share, stored_share
from ndcg_tracker.rankings.keys import Keys
from tests.refused import refusal_of

IDS = [f"query-{number}" for number in range(200_000)]


def test_a_share_holds_about_as_many_groups_as_it_says() -> None:
    for share in (Fraction(1, 1000), Fraction(1, 100), Fraction(1, 10), Fraction(2, 3)):
        n_kept = int(in_share(IDS, share).sum())
        standard_error = (float(share) * (1 - float(share)) * len(IDS)) ** 0.5
        assert abs(n_kept - share * len(IDS)) < 4 * standard_error
    assert in_share(IDS, 1).all()


def test_a_smaller_share_is_part_of_a_larger_one() -> None:
    small, large = in_share(IDS, "1/100"), in_share(IDS, "1/10")
    assert not (small & ~large).any()


def test_only_the_id_decides() -> None:
    kept = in_share(IDS, "1/10")
    order = np.random.default_rng(5).permutation(len(IDS))
    assert np.array_equal(in_share([IDS[place] for place in order], 0.1), kept[order])
    numbers = np.arange(5000)
    assert np.array_equal(in_share(Keys.from_numbers(numbers), "1/10"), in_share(map(str, numbers), Fraction(1, 10)))
    assert [name for name, is_in in zip(IDS[:60], kept[:60], strict=True) if is_in] == STORED


STORED = ["query-10", "query-24", "query-38", "query-42", "query-59"]
"""These never change, because stored runs hold them."""


@pytest.mark.parametrize("given", ["0", "2", "-1", "x", "1/0", "1%", nan, 0.0, 1.5])
def test_anything_else_is_no_share(given: str | float) -> None:
    shown = repr(given) if given in ("x", "1/0", "1%") else "'nan'" if given != given else str(given)
    assert refusal_of(InputError, parse_share, given) == (
        f"groups_share={shown} is not a share above 0 and at most 1; write, say, 1/100"
    )


def test_the_smallest_share_counts() -> None:
    assert smallest_share(["1/10", None, "1/100", "2/3"]) == "1/100"
    assert smallest_share([None, None]) is None
    assert (stored_share("0.10"), stored_share(1.0)) == ("1/10", None)
