"""A share of all groups, chosen by a hash of their ids: the same groups in every run and dataset."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.rankings import Mask
from ndcg_tracker.rankings.keys import Keys, mixed

_SEED = 0x6E64_6367_5348  # other hashes of the ids must not decide, as those of sealed parts


def parse_share(share: str | float | Fraction) -> Fraction:
    """Return a share of the groups as a fraction in (0, 1]. Raises: InputError for anything else.

    >>> parse_share("1/100"), parse_share(0.01), parse_share("0.25"), parse_share(1)
    (Fraction(1, 100), Fraction(1, 100), Fraction(1, 4), Fraction(1, 1))
    """
    try:
        parsed = Fraction(str(share))
    except (ValueError, ZeroDivisionError):
        parsed = Fraction(0)
    if not 0 < parsed <= 1:
        raise InputError(
            f"{argument('groups_share', share)} is not a share above 0 and at most 1", advice="write, say, 1/100"
        )
    return parsed


def in_share(groups: Keys | Iterable[str], share: str | float | Fraction) -> Mask:
    """Return which groups belong to a share of all: bool, shape (n,); a smaller share is part of a larger one.

    >>> in_share(["a", "b", "c", "d"], "1/2").tolist(), in_share(["a", "b", "c", "d"], 0.9).tolist()
    ([False, True, True, True], [True, True, True, True])
    """
    parsed = parse_share(share)
    keys = groups if isinstance(groups, Keys) else Keys.from_strings(groups)
    most = parsed.numerator * 2**64 // parsed.denominator - 1
    return mixed(keys.hashes(_SEED)) <= np.uint64(max(most, 0))


def stored_share(share: str | float | Fraction) -> str | None:
    """Return a share as it is stored with a run, None for all groups.

    >>> stored_share(0.01), stored_share("1")
    ('1/100', None)
    """
    parsed = parse_share(share)
    return None if parsed == 1 else str(parsed)


def smallest_share(shares: Iterable[str | None]) -> str | None:
    """Return the smallest share, of whose groups every run keeps all; None for all groups.

    >>> smallest_share(["1/100", None, "1/10"]), smallest_share([None, None])
    ('1/100', None)
    """
    return min((share for share in shares if share is not None), key=Fraction, default=None)
