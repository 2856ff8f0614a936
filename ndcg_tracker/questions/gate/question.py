"""The question of a gate, on one dataset or on a suite, with checks of options that do not go together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ndcg_tracker.asked import DEFAULT_METRIC, ByTag, Everyday, Made, OnSuite, Option, checked_margin, refuse_unknown
from ndcg_tracker.compare.options import (
    CheckWith,
    ClusterBy,
    CompareOptions,
    DataKeywords,
    DataView,
    Fresh,
    IdsAreStable,
    LabelView,
    Margin,
    Scope,
    Unjudged,
)
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.metrics.language.dialects import familiar_name
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.rules import given_of, refuse
from ndcg_tracker.words.notes import Note, sentence

if TYPE_CHECKING:
    from ndcg_tracker.compare.limits import HarmLimit, Limit


def _margin(text: str) -> float | Literal["auto"]:
    """Return the margin that ``--margin`` gives.

    >>> _margin("0.01"), _margin("auto")
    (0.01, 'auto')
    """
    if text == "auto":
        return "auto"
    try:
        return float(text)
    except ValueError:
        raise InputError(
            f"{argument('margin')} {text!r} is not a number",
            advice="give one in absolute points, such as 0.01, or auto",
        ) from None


DecidingMetric = Annotated[str, Everyday("The metric that decides.")]
AllowedDrop = Annotated[
    Margin,
    Everyday(
        "The allowed drop, or auto to learn it from repeats; with --scope set, 0 by default.",
        metavar="X|auto",
        typed=str | None,
        read=_margin,
    ),
]
OfScope = Annotated[Scope, Option("Decide for all groups like these, or only for these (exact, no test).")]
OfUnjudged = Annotated[
    Unjudged, Option("What unjudged items may be worth: up to the mean gain at their rank, or nothing.")
]
GivenRepeats = Annotated[
    str | Sequence[str],
    Option(
        "A repeat of the baseline for --margin auto, or tag:KEY=VALUE for those with a tag; repeatable.",
        metavar="RUN",
        read=tuple,
    ),
]
Budget = Annotated[
    float | None,
    Everyday("Chance of any false PASS, and of any false FAIL, over all decisions at the alias.", metavar="A"),
]
Looks = Annotated[int | None, Everyday("How many looks share the budget.", metavar="N", default="unlimited")]
BySlices = Annotated[
    str | None, Option("Also judge slices of this attribute, each by --slice-margin.", metavar="ATTRIBUTE")
]
SliceMargin = Annotated[float | None, Option("The allowed drop of each slice of --by.", metavar="X")]
GivenHarm = Annotated[str | None, Everyday("At most this share of groups may lose over X points.", metavar="X:SHARE%")]
GivenLimits = Annotated[
    Mapping[str, str] | Sequence[str],
    Option("Also FAIL if a measure of the run rises (or with - falls) by more; repeatable.", metavar="NAME=+X[%]"),
]

TrustJudge = Annotated[bool, Option("Decide by the labels of --judge alone, although nobody checks them.")]
OfDataset = Annotated[str | None, Everyday("The dataset of the alias.")]


def _harm(given: Any) -> HarmLimit | None:
    from ndcg_tracker.compare.limits import HarmLimit

    return None if given is None else HarmLimit.of(given)


def _limits(given: Any) -> tuple[Limit, ...]:
    from ndcg_tracker.compare.limits import Limit

    return Limit.all_of(given)


_USUAL = parse_metric(DEFAULT_METRIC)
Deciding = Annotated[Metric, Made(DecidingMetric, parse_metric, DEFAULT_METRIC)]
MaxHarm = Annotated["HarmLimit | None", Made(GivenHarm, _harm)]
Limits = Annotated[tuple["Limit", ...], Made(GivenLimits, _limits, ())]
Repeats = Annotated[
    tuple[str, ...], Made(GivenRepeats, lambda given: (given,) if isinstance(given, str) else tuple(given), ())
]


@dataclass(frozen=True, kw_only=True)
class GateRules(DataView):
    """The rules of a gate that a policy may have too (see ``Tracker.gate``)."""

    metric: Deciding = _USUAL
    by: BySlices = None
    slice_margin: SliceMargin = None
    max_harm: MaxHarm = None
    limits: Limits = ()
    unjudged: OfUnjudged = "range"
    ids_are_stable: IdsAreStable = False
    check_with: CheckWith = None
    cluster: ClusterBy = None


@dataclass(frozen=True, kw_only=True)
class PolicyRules(GateRules):
    """The further rules of a policy (see ``Tracker.set_policy``)."""

    dataset: OfDataset = None
    trust_judge: TrustJudge = False
    budget: Budget = None
    looks: Looks = None


@dataclass(frozen=True, kw_only=True)
class GateQuestion(GateRules):
    """The question of a gate (see ``Tracker.gate``).

    ``named``: rules that the caller named, although they may have the value of a default.
    """

    candidate: str
    baseline: str
    margin: AllowedDrop = None
    scope: OfScope = "population"
    repeats: Repeats = ()
    suite: OnSuite = None
    by_tag: ByTag = None
    top: int = 10
    trust_judge: bool = False
    fresh: Fresh = False
    named: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Refuse what does not go together (InputError)."""
        refuse("gate", given_of(self))
        LabelView.__post_init__(self)
        refuse_unknown(self)
        if self.metric.shown_only is not None:
            raise InputError(f"a gate cannot decide on {self.metric}: {sentence(Note(self.metric.shown_only))}")
        if isinstance(self.margin, str) and self.margin != "auto":
            advice = "give one in absolute points, such as 0.01, or auto"
            raise InputError(f"margin {self.margin!r} is not a number", advice=advice)
        if self.slice_margin is not None:
            checked_margin(self.slice_margin, "the margin of slices")
        margin = self.margin if isinstance(self.margin, int | float) else None
        refuse_any_drop(self.metric, self.max_harm, margin=margin, slice_margin=self.slice_margin)

    def refuse_incomplete(self) -> None:
        """Refuse a question that lacks a margin or its slices (InputError), which a policy may have; called last."""
        refuse("complete gate", given_of(self))
        if self.margin is None and self.scope == "population":
            name = familiar_name(str(self.metric), self.metric.requested_as)
            raise InputError(
                f"the gate needs {argument('margin')}: the allowed drop of {name}, in absolute points, "
                f"such as {argument('margin', 0.01)}",
                advice=(
                    f"or learn it from repeats of the baseline with {argument('margin', 'auto')}; or give "
                    f"{argument('scope', 'set')} to decide for these groups only"
                ),
            )

    @property
    def options(self) -> CompareOptions:
        """The options of the comparison that the decision uses."""
        shared = {of.name for of in fields(CompareOptions)} & {of.name for of in fields(self)} - {"by", "top"}
        asked: dict[str, Any] = {name: getattr(self, name) for name in shared}
        asked["top"] = self.top
        asked["fills_holes"] = self.scope == "population" and self.max_harm is None and self.margin != "auto"
        return CompareOptions(metrics=(self.metric,), **asked)

    @property
    def systems(self) -> tuple[str, str]:
        """Both runs or systems, the baseline first."""
        return self.baseline, self.candidate

    @property
    def alias(self) -> str | None:
        """The alias that the baseline was given by, without the @."""
        return self.baseline[1:] if self.baseline.startswith("@") else None


NAMED = frozenset(("metric", "scope", "missing", "unjudged"))
"""Rules whose default the caller may also name."""


def refuse_any_drop(metric: Metric, harm: HarmLimit | None = None, **margins: float | None) -> None:
    """Refuse margins (by the names of their arguments) and ``harm`` that allow every possible drop (InputError).

    >>> from ndcg_tracker.metrics.language.text import parse_metric
    >>> refuse_any_drop(parse_metric("ndcg@10"), margin=0.01, slice_margin=None)
    """
    if metric.limits is None:
        return
    low, high = metric.limits
    given: list[tuple[str, object, float | None, object]] = [(name, of, of, 0.01) for name, of in margins.items()]
    given.append(("max_harm", harm, None if harm is None else harm.loss, ".3:2%"))
    for name, of, drop, example in given:
        if drop is not None and high - low <= drop < math.inf:
            raise InputError(
                f"{argument(name, of)} allows every drop: values lie between {low:g} and {high:g}",
                where=metric.requested_as,
                advice=f"give it in absolute points, such as {argument(name, example)}",
            )


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """Who overrode a decision, and why."""

    reason: str
    by: str


def acknowledged(reason: str | None, by: str | None, *, dry_run: bool = False) -> Acknowledgement | None:
    """Return the acknowledgement with this reason, None without one; raise InputError for an empty one.

    >>> acknowledged("known: the index was rebuilt", "ada").by
    'ada'
    """
    if reason is None:
        return None
    reason = " ".join(reason.split())
    if not reason:
        raise InputError(
            f"{argument('acknowledge')} needs a reason, for the record",
            advice=f"write for example {argument('acknowledge', 'known bug 42')}",
        )
    refuse("gate", {"acknowledge": reason, "dry_run": dry_run})
    return Acknowledgement(reason, " ".join((by or "").split()) or "unknown")


class RuleKeywords(DataKeywords, total=False):
    """How people give ``GateRules`` (generated)."""

    metric: DecidingMetric
    by: BySlices
    slice_margin: SliceMargin
    max_harm: GivenHarm
    limits: GivenLimits
    unjudged: OfUnjudged
    ids_are_stable: IdsAreStable
    check_with: CheckWith
    cluster: ClusterBy


class PolicyKeywords(RuleKeywords, total=False):
    """How people give ``PolicyRules`` (generated)."""

    trust_judge: TrustJudge
    budget: Budget
    looks: Looks


class GateKeywords(RuleKeywords, total=False):
    """How people give ``GateQuestion`` (generated)."""

    suite: OnSuite
    by_tag: ByTag
    margin: AllowedDrop
    scope: OfScope
    repeats: GivenRepeats
    fresh: Fresh
