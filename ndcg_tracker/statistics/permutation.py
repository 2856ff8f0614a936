"""The sign-flip permutation test: whether a mean difference exceeds what random signs of the differences give."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ndcg_tracker.rankings.types import Floats
from ndcg_tracker.statistics.content_seed import content_generator
from ndcg_tracker.statistics.t_test import checked_weights, finite

FLIPS = 10_000
ENUMERATED = 12
"""With up to this many nonzero differences, all their signs are tried."""
_SAME_SUM = 1e-12  # sums this close, relative to the sum of sizes, are equal: .1 + .2 ties with .3
_OFTEN = 400  # sizes this frequent take one draw from the binomial distribution, which beats 50 look-ups
_BLOCK_BYTES = 1 << 20
_SIGNS = 1.0 - 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[None, :], axis=0)  # (8, 256): the bits of each byte


@dataclass(frozen=True, slots=True)
class PermutationTest:
    """The result of the sign-flip test of a mean difference.

    ``n``: the differences that count. ``n_nonzero``: those that a flip can change. ``mean``: their (weighted) mean,
    None where n is 0. ``p_value``: two-sided, in (0, 1], None where n < 2 or all are zero. ``exact``: whether all signs
    were tried. ``flips``: how many sign vectors were tried.
    """

    n: int
    n_nonzero: int
    mean: float | None
    p_value: float | None
    exact: bool
    flips: int


def sign_flip_test(delta: Floats, weights: Floats | None = None, *, flips: int = FLIPS) -> PermutationTest:
    """Return the two-sided paired permutation test of the (weighted) mean difference.

    Under the null hypothesis swapping the two runs in any group changes nothing, so every difference keeps its size
    and takes either sign with probability 1/2. With b of m random sign vectors giving a sum at least as far from 0 as
    the one seen, p = (b + 1) / (m + 1); with at most 12 nonzero differences all 2^n vectors are tried and p is their
    share. Sums that differ by rounding only count as equal. The random numbers come from the content: the same
    differences give the same p in any order of groups, and if the runs are swapped.

    Differences of one size need one binomial draw per sign vector. The others go eight at a time through a table of
    their 256 signed sums, one random byte choosing the signs of all eight; memory grows with m only.

    Parameters: ``delta``: float64, shape (n,), finite. ``weights``: float64, shape (n,), finite, >= 0; groups of
    weight 0 do not count. ``flips``: m, at least 1. Raises: ValueError for any other number or shape. Sources: Fisher,
    "The design of experiments", 1935, section 21; Phipson and Smyth, "Permutation p-values should never be zero",
    Stat. Appl. Genet. Mol. Biol. 9, 2010, eq. 2. Agrees with: scipy.stats.permutation_test(permutation_type="samples").

    >>> sign_flip_test(np.array([0.25, 0.5, 0.125, 0.0])).p_value
    0.25
    >>> test = sign_flip_test(np.tile([0.5, -0.25, 0.125], 10))
    >>> test.exact, 0.01 < test.p_value < 0.1
    (False, True)
    """
    if flips < 1:
        raise ValueError(f"flips must be at least 1, not {flips}")
    moves, total, n = finite(delta), float(delta.size), delta.size
    if weights is not None:
        checked_weights(moves, weights)
        moves, total, n = moves * weights, float(weights.sum()), int(np.count_nonzero(weights))
    sizes = np.sort(np.abs(moves[moves != 0]))
    mean = float(moves.sum()) / total if n else None
    if n < 2 or not sizes.size:
        return PermutationTest(n, sizes.size, mean, None, False, 0)
    seen = abs(float(moves.sum())) - _SAME_SUM * float(sizes.sum())
    if sizes.size <= ENUMERATED:
        sums = _all_sums(sizes)
        return PermutationTest(n, sizes.size, mean, float((np.abs(sums) >= seen).mean()), True, sums.size)
    b = int((np.abs(_random_sums(sizes, flips)) >= seen).sum())
    return PermutationTest(n, sizes.size, mean, (b + 1) / (flips + 1), False, flips)


def _all_sums(sizes: Floats) -> Floats:
    """Return the sum of the sizes under every choice of signs: float64, shape (2^n,)."""
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate([sums + size, sums - size])
    return sums


def _random_sums(sizes: Floats, flips: int) -> Floats:
    """Return the sum of the ascending sizes under random signs: float64, shape (flips,)."""
    generator = content_generator(sizes)
    starts = np.flatnonzero(np.concatenate([[True], sizes[1:] != sizes[:-1]]))
    counts = np.diff(starts, append=sizes.size)
    often = counts >= _OFTEN
    sums = np.zeros(flips)
    for size, count in zip(sizes[starts[often]].tolist(), counts[often].tolist(), strict=True):
        sums += size * (2.0 * generator.binomial(count, 0.5, flips) - count)
    seldom = sizes[np.repeat(~often, counts)]
    eights = np.concatenate([seldom, np.zeros(-seldom.size % 8)]).reshape(-1, 8)
    rows = max(1, _BLOCK_BYTES // flips)
    chosen = np.empty(flips)
    for first in range(0, eights.shape[0], rows):
        tables = eights[first : first + rows] @ _SIGNS
        n_bytes = tables.shape[0] * flips
        words = generator.bit_generator.random_raw(-(-n_bytes // 8)).astype("<u8", copy=False)
        signs = words.view(np.uint8)[:n_bytes].reshape(-1, flips)
        for table, row in zip(tables, signs, strict=True):
            np.take(table, row, out=chosen, mode="clip")  # no byte is out of range; "raise" would copy
            sums += chosen
    return sums
