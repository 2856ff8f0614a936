"""Whole columns of cells at once: a million groups are printed in a second or two."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import Generic, TypeGuard, TypeVar

T = TypeVar("T")

_MOST_KEPT = 1 << 16


def are_plain(column: Sequence[object]) -> TypeGuard[Sequence[str]]:
    """Return whether a column is text that is shown as it is: printable ASCII without a command for a build's log.

    >>> are_plain(["q1", "a b"]), are_plain(["q\\n"]), are_plain(["q", None])
    (True, False, False)
    """
    if set(map(type, column)) != {str}:
        return False
    joined = "".join(column)  # type: ignore[arg-type]
    return joined.isascii() and joined.isprintable() and "##" not in joined


class EachOnce(Generic[T]):
    """What a function makes of the values of a column, part by part: it is asked once for numbers that repeat.

    >>> once = EachOnce(repr)
    >>> once.of([0.5, 0.25, 0.5, None]), once.of((0.0, -0.0))
    (['0.5', '0.25', '0.5', 'None'], ['0.0', '-0.0'])
    """

    def __init__(self, function: Callable[[object], T]) -> None:
        self._function = function
        self._found = _Found(function)

    def of(self, column: Sequence[object]) -> list[T]:
        """Return what the function makes of each value."""
        is_exact = set(map(type, column)) <= {float, type(None)} and not _has_negative_zero(column)
        is_kept = is_exact and len(self._found) < _MOST_KEPT
        return list(map(self._found.__getitem__ if is_kept else self._function, column))


class _Found(dict[object, T]):
    """What was found so far."""

    def __init__(self, function: Callable[[object], T]) -> None:
        self._function = function

    def __missing__(self, value: object) -> T:
        self[value] = found = self._function(value)
        return found


def _has_negative_zero(column: Sequence[object]) -> bool:
    """Return whether a zero is negative: it equals the other one and looks different."""
    return any(array("d", [value for value in column if value == 0]).tobytes())
