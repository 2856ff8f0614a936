"""What a file may become when it is unpacked."""

from __future__ import annotations

LARGEST_RATIO = 100  # rankings shrink to a fifth or a tenth; deflate ends at 1032
SURELY_FINE = 1 << 28  # unpacked bytes below which the ratio does not matter


class GrowsError(Exception):
    """Data that would become much more than its size; ``advice``: what to do for who trusts it."""

    def __init__(self, data: str, advice: str) -> None:
        self.what = f"{data} grows to more than {LARGEST_RATIO} times its size"
        self.advice = advice
        super().__init__(self.what)


def largest(n_bytes: int) -> int:
    """Return how many bytes a file of some size may become.

    >>> largest(1), largest(10_000_000)
    (268435456, 1000000000)
    """
    return max(SURELY_FINE, LARGEST_RATIO * n_bytes)
