"""A series of numbers as one line of block characters."""

from __future__ import annotations

import math
from collections.abc import Sequence

_BLOCKS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float | None]) -> str:
    """Return one block per value, the lowest as the smallest block and the highest as the largest.

    None and NaN leave a gap; a series without any difference is drawn at half height.

    >>> sparkline([0.1, 0.2, None, 0.4])
    '▁▃ █'
    """
    known = [value for value in values if value is not None and math.isfinite(value)]
    if not known:
        return " " * len(values)
    low, high = min(known), max(known)
    blocks = []
    for value in values:
        if value is None or not math.isfinite(value):
            blocks.append(" ")
        elif high == low:
            blocks.append(_BLOCKS[3])
        else:
            blocks.append(_BLOCKS[min(int((value - low) / (high - low) * len(_BLOCKS)), len(_BLOCKS) - 1)])
    return "".join(blocks)


def means_of_blocks(values: Sequence[float | None], most: int) -> tuple[list[float | None], int]:
    """Return the means of as many neighbouring values as leave ``most`` at the utmost, and how many these are.

    None and NaN do not count; where nothing else is, None stands. The last mean may be of fewer.

    >>> means_of_blocks([1.0, 3.0, None, 4.0, 6.0], 3)
    ([2.0, 4.0, 6.0], 2)
    """
    width = max(1, -(-len(values) // most))
    means: list[float | None] = []
    for first in range(0, len(values), width):
        known = [value for value in values[first : first + width] if value is not None and math.isfinite(value)]
        means.append(math.fsum(known) / len(known) if known else None)
    return means, width
