"""Content digests put together: that of a whole from those of its parts."""

from __future__ import annotations

from collections.abc import Iterable

_WORDS = 2
_DIGITS = 16


def joined_digest(digests: Iterable[str], without: Iterable[str] = ()) -> str:
    """Return the digest of content that was digested in parts, no row being in two of them.

    A digest is made of two sums of row hashes modulo 2**64, so those of the parts add up, in any order, and what is
    taken away is subtracted. Parameters: ``digests``, each as ``GroupedItems.digest`` gives it; ``without``, those of
    parts that the whole has lost. Raises: ValueError for what is no digest.

    >>> joined_digest(["0000000000000001ffffffffffffffff", "00000000000000020000000000000001"])
    '00000000000000030000000000000000'
    """
    sums = [0] * _WORDS
    for sign, given in ((1, digests), (-1, without)):
        for digest in given:
            for word in range(_WORDS):
                sums[word] += sign * int(digest[word * _DIGITS : (word + 1) * _DIGITS], 16)
    return "".join(f"{one % 2**64:016x}" for one in sums)
