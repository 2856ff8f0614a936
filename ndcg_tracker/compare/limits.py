"""Limits of a gate: on numbers of a run, such as latency, and on how many groups may lose how much."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.rankings import Floats, Index

Status = Literal["fails", "within", "open"]
"""The state of a part at its limit: it breaks the limit, it keeps the limit, or neither is shown."""

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
        """Return the worst number that is allowed, given that of the baseline."""
        change = abs(baseline) * self.amount if self.is_share else self.amount
        return baseline + change if self.rises else baseline - change


_NUMBER = r"[0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9}"
_MAX_HARM = re.compile(f"(?P<loss>{_NUMBER}):(?P<share>{_NUMBER})%")


@dataclass(frozen=True, slots=True)
class HarmLimit:
    """How many groups may lose much: at most ``share`` of them, in (0, 1), more than ``loss``, in absolute points.

    >>> HarmLimit.of(".3:2%"), str(HarmLimit.of("0.05:12.5%"))
    (HarmLimit(loss=0.3, share=0.02), '0.05:12.5%')
    """

    loss: float
    share: float

    @classmethod
    def of(cls, text: str) -> HarmLimit:
        """Return the limit that a text names, such as ``.3:2%``. Raises: InputError for anything else."""
        match = _MAX_HARM.fullmatch(text.strip()) if isinstance(text, str) else None
        if match is None:
            raise InputError(
                f"{argument('max_harm', text)} is not LOSS:SHARE%",
                advice=f"for at most 2% of groups that lose more than 0.3 write {argument('max_harm', '.3:2%')}",
            )
        share = float(match["share"]) / 100
        if not 0 < share < 1:
            why = "which limits nothing" if share else "which no sample can show"
            raise InputError(
                f"{argument('max_harm', text)} allows {match['share']}% of groups, {why}",
                advice=f"give a share above 0 and below 100%, such as {argument('max_harm', '.3:2%')}",
            )
        return cls(float(match["loss"]), share)

    def __str__(self) -> str:
        """Return the text that names it."""
        return f"{self.loss:g}:{self.share * 100:g}%"

    def count(self, losses: Floats, clusters: Index | None) -> tuple[int, int]:
        """Return how many groups lose more than the loss, and how many there are; of clusters, those with such a group.

        >>> HarmLimit(0.25, 0.02).count(np.array([0.5, 0.25, 0.5]), np.array([0, 1, 0]))
        (1, 2)
        """
        is_harmed = losses > self.loss + 1e-12  # so that rounding of a difference does not decide
        if clusters is None:
            return int(is_harmed.sum()), losses.size
        return np.unique(clusters[is_harmed]).size, np.unique(clusters).size

    def fewest(self, level: float = 0.95) -> int:
        """Return the fewest groups that can show it at a level, when none of them loses so much.

        >>> HarmLimit(0.3, 0.02).fewest(), HarmLimit(0.3, 0.02).fewest(0.99875)
        (149, 331)
        """
        return math.ceil(math.log(1 - level) / math.log1p(-self.share) - 1e-9)


@dataclass(frozen=True, slots=True)
class LimitCheck:
    """The check of a limit on two runs: exact arithmetic, no test. ``worst``: the worst number that is allowed."""

    name: str
    limit: str
    baseline: float
    candidate: float
    worst: float
    is_met: bool

    @property
    def kind(self) -> Literal["limit"]:
        """What it is among the parts of a decision."""
        return "limit"

    @property
    def status(self) -> Status:
        """Whether it is met: it is never open."""
        return "within" if self.is_met else "fails"

    @property
    def blocks(self) -> bool:
        """Whether it blocks PASS while it is open."""
        return False


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
        slack = 1e-12 * max(abs(before), abs(worst))  # so that rounding of the sum does not decide
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
    number = number_of(name, {}, tags)
    if number is None:
        what = f"{name!r} of the {which} is {str(tags[name])!r}, which is not a number" if name in tags else ""
        advice = f"set it with: ndcg-track runs tag RUN {name}=NUMBER"
        raise InputError(what or f"the {which} has no tag {name!r}", advice=advice)
    return number
