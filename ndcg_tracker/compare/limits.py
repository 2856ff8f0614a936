"""Limits of a gate on numbers of whole runs, such as latency, which the candidate may change only so far."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ndcg_tracker.errors import InputError, argument

_LIMIT = re.compile(r"(?P<name>[^=]+)=(?P<sign>[+-])(?P<amount>\d+(?:\.\d*)?|\.\d+)(?P<percent>%?)")


@dataclass(frozen=True, slots=True)
class Limit:
    """How far a number may rise, or fall: by ``amount``, >= 0, or by that share of the baseline's number.

    >>> Limit.of("latency_ms=+10%").worst(20.0), Limit.of("throughput=-5").worst(100.0)
    (22.0, 95.0)
    """

    name: str
    rises: bool
    amount: float
    is_share: bool

    @classmethod
    def all_of(cls, limits: Mapping[str, str] | Sequence[str]) -> tuple[Limit, ...]:
        """Return the limits that are given as texts, or by name."""
        return tuple(map(cls.of, [f"{k}={v}" for k, v in limits.items()] if isinstance(limits, Mapping) else limits))

    @classmethod
    def of(cls, text: str) -> Limit:
        """Return the limit that a text names, such as ``latency_ms=+10%`` or ``throughput=-5``.

        Raises: InputError for anything else.
        """
        match = _LIMIT.fullmatch(text.strip())
        if match is None:
            raise InputError(
                f"{argument('limit', text)} is not a limit",
                advice="write NAME=+10% or NAME=+5 for the most it may rise, NAME=-10% for the most it may fall",
            )
        share = match["percent"] == "%"
        amount = float(match["amount"])
        return cls(match["name"].strip(), match["sign"] == "+", amount / 100 if share else amount, share)

    @property
    def text(self) -> str:
        """The change that is allowed, such as ``+10%``."""
        return (
            f"{'+' if self.rises else '-'}{self.amount * 100 if self.is_share else self.amount:g}{'%' * self.is_share}"
        )

    def worst(self, baseline: float) -> float:
        """Return the worst number that is allowed beside that of the baseline."""
        change = abs(baseline) * self.amount if self.is_share else self.amount
        return baseline + change if self.rises else baseline - change


@dataclass(frozen=True, slots=True)
class LimitCheck:
    """What a limit says of two runs: exact arithmetic, no test. ``worst``: the worst number that is allowed."""

    name: str
    limit: str
    baseline: float
    candidate: float
    worst: float
    is_met: bool


def checked_limits(
    limits: Iterable[Limit], baseline: Mapping[str, Any], candidate: Mapping[str, Any]
) -> tuple[LimitCheck, ...]:
    """Return the check of each limit against the tags of two runs.

    Raises: InputError for a tag that a run lacks or that is not a finite number.

    >>> (check,) = checked_limits([Limit.of("latency_ms=+10%")], {"latency_ms": "20"}, {"latency_ms": "23"})
    >>> check.worst, check.is_met
    (22.0, False)
    """
    checks = []
    for limit in limits:
        before, after = (
            _number(limit.name, tags, which) for tags, which in ((baseline, "baseline"), (candidate, "candidate"))
        )
        worst = limit.worst(before)
        slack = 1e-12 * max(abs(before), abs(worst))  # what rounding may do to the sum decides nothing
        is_met = after <= worst + slack if limit.rises else after >= worst - slack
        checks.append(LimitCheck(limit.name, limit.text, before, after, worst, is_met))
    return tuple(checks)


def number_of(name: str, parameters: Mapping[str, Any], tags: Mapping[str, Any]) -> float | None:
    """Return the finite number in a parameter of a run, or else in its tag, None if there is none.

    >>> number_of("latency_ms", {}, {"latency_ms": "12.5"}), number_of("latency_ms", {"latency_ms": "fast"}, {})
    (12.5, None)
    """
    try:
        number = float(str(parameters.get(name, tags.get(name))))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _number(name: str, tags: Mapping[str, Any], which: str) -> float:
    """Return a tag as a number."""
    if name not in tags:
        raise InputError(
            f"the {which} has no measure {name!r}", advice=f"give it one with: ndcg-track runs tag RUN {name}=NUMBER"
        )
    try:
        number = float(tags[name])
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise InputError(
            f"{name!r} of the {which} is {str(tags[name])!r}, which is not a number",
            advice=f"set it with: ndcg-track runs tag RUN {name}=NUMBER",
        )
    return number
