"""What an axis is: the values it takes, their one spelling and their meaning."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass

from ndcg_tracker.errors import MetricError


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """One axis: its name in the text form, the values it takes (the first is the default) and what each of them means.

    ``pattern_example`` names an example of the values that ``canonical`` accepts beside the listed ones, and
    ``pattern_meaning`` says what they mean. ``measures`` are the measures that the axis can change.
    """

    name: str
    meaning: str
    values: dict[str, str]
    measures: tuple[str, ...]
    canonical: Callable[[str], str | None] | None = None
    pattern_example: str | None = None
    pattern_meaning: Callable[[str], str] | None = None

    @property
    def default(self) -> str:
        """The value that a metric has where its text does not name the axis."""
        return next(iter(self.values))

    def checked(self, value: str, is_possible: Callable[[str], bool] = lambda _: True) -> str:
        """Return the one spelling of a value (MetricError, with the nearest valid one, where there is none).

        ``is_possible``: says of a value whether it may be suggested.
        """
        if value in self.values:
            return value
        if self.canonical is not None and (spelling := self.canonical(value)) is not None:
            return spelling
        known = [*self.values, *([self.pattern_example] if self.pattern_example else [])]
        near = [one for one in difflib.get_close_matches(value.lower(), known, cutoff=0.5) if is_possible(one)]
        hint = f"did you mean {self.name}={near[0]}?" if near else f"it is one of {', '.join(known)}"
        raise MetricError(f"{self.name}={value} is no value of {self.name}; {hint}")

    def meaning_of(self, value: str) -> str:
        """Return what a value means, in words."""
        if value in self.values or self.pattern_meaning is None:
            return self.values.get(value, value)
        return self.pattern_meaning(value)
