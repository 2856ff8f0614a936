"""The question of a gate, on one dataset or on a suite, with checks of options that do not go together."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from ndcg_tracker.asked import OwnName
from ndcg_tracker.compare.gather import CompareOptions
from ndcg_tracker.compare.gather_suite import check_suite_metric
from ndcg_tracker.compare.limits import HarmLimit, Limit
from ndcg_tracker.compare.options import Margin, Missing, Scope, Unjudged, Version
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.metrics.language.dialects import familiar_name
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.rules import given_of, refuse
from ndcg_tracker.statistics.t_test import checked_margin
from ndcg_tracker.words.notes import Note, sentence


@dataclass(frozen=True)
class GateQuestion:
    """The question of a gate (see ``Tracker.gate``).

    ``named``: rules that the caller named, although they may have the value of a default.
    """

    candidate: str
    baseline: str
    metric: Metric
    margin: Margin = None
    scope: Scope = "population"
    tolerance: float | None = None
    repeats: Sequence[str] = ()
    aa: str | None = None
    missing: Missing = "error"
    dataset: str | None = None
    top: int = 10
    cluster: str | None = None
    by: str | None = None
    slice_margin: float | None = None
    strict_slices: bool = False
    max_harm: HarmLimit | None = None
    limits: tuple[Limit, ...] = ()
    labels: Version = None
    unjudged: Unjudged = "range"
    ids_are_stable: bool = False
    judge: str | None = None
    check_with: str | None = None
    trust_judge: bool = False
    fresh: bool = False
    named: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Refuse what does not go together (InputError)."""
        refuse("gate", given_of(self))
        if self.unjudged not in get_args(Unjudged):
            raise InputError(f"unknown unjudged {self.unjudged!r}", advice="choose range or zero", joint=": ")
        if self.metric.shown_only is not None:
            raise InputError(f"a gate cannot decide on {self.metric}: {sentence(Note(self.metric.shown_only))}")
        if self.scope not in get_args(Scope):
            raise InputError(f"unknown scope {self.scope!r}", advice="choose population or set", joint=": ")
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
        asked = {"missing": self.missing, "top": self.top, "cluster": self.cluster, "labels": self.labels}
        asked |= {"judge": self.judge, "check_with": self.check_with, "ids_are_stable": self.ids_are_stable}
        asked |= {"fresh": self.fresh, "trust_judge": self.trust_judge}
        asked |= {"fills_holes": self.scope == "population" and self.max_harm is None and self.margin != "auto"}
        return CompareOptions((self.metric,), self.dataset, unjudged=self.unjudged, **asked)  # type: ignore[arg-type]

    @property
    def alias(self) -> str | None:
        """The alias that the baseline was given by, without the @."""
        return self.baseline[1:] if self.baseline.startswith("@") else None


READ: Mapping[str, Callable[[Any], Any]] = {
    "metric": parse_metric,
    "max_harm": lambda given: None if given is None else HarmLimit.of(given),
    "limits": Limit.all_of,
    "repeats": tuple,
}
"""How a rule as people give it becomes a part of a question; others are taken as they are."""


def read_parts(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return rules as people give them as parts of a question."""
    return {name: READ.get(name, lambda own: own)(of) for name, of in given.items()}


def question_of(given: Mapping[str, Any]) -> GateQuestion:
    """Return the question with these arguments of ``Tracker.gate``."""
    named = frozenset(name for name in NAMED if not isinstance(given[name], OwnName))
    return GateQuestion(**read_parts(given), named=named)


NAMED = ("metric", "scope", "missing", "unjudged")
"""Rules whose default the caller may also name."""


def refuse_any_drop(metric: Metric, harm: HarmLimit | None = None, **margins: float | None) -> None:
    """Refuse margins (by the names of their arguments) and ``harm`` that allow every possible drop (InputError).

    >>> from ndcg_tracker.metrics.language.text import parse_metric
    >>> refuse_any_drop(parse_metric("ndcg@10"), margin=0.01, slice_margin=None)
    """
    if metric.limits is None:
        return
    widest = metric.limits[1] - metric.limits[0]
    for name, margin in margins.items():
        if margin is not None and widest <= margin < math.inf:
            raise InputError(
                f"{argument(name, margin)} allows every drop: values lie between {metric.limits[0]:g} and "
                f"{metric.limits[1]:g}",
                where=metric.requested_as,
                advice=f"give it in absolute points, such as {argument(name, 0.01)}",
            )
    if harm is not None and harm.loss >= widest:
        raise InputError(
            f"{argument('max_harm', harm)} allows every drop: values lie between {metric.limits[0]:g} and "
            f"{metric.limits[1]:g}",
            where=metric.requested_as,
            advice=f"give the loss in absolute points, such as {argument('max_harm', '.3:2%')}",
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


@dataclass(frozen=True)
class SuiteGateQuestion:
    """The question of a gate on a suite (see ``Tracker.gate_suite``)."""

    suite: str
    candidate: str
    baseline: str
    metric: Metric
    margin: float
    dataset_margin: float | None = None
    strict_datasets: bool = False
    by_tag: str | None = None
    missing: Missing = "error"
    cluster: str | None = None
    labels: Version = None
    max_harm: HarmLimit | None = None
    limits: tuple[Limit, ...] = ()
    unjudged: Unjudged = "range"
    ids_are_stable: bool = False
    judge: str | None = None

    def __post_init__(self) -> None:
        """Refuse what does not go together (InputError)."""
        refuse("complete gate", given_of(self))
        check_suite_metric(self.metric)
        checked_margin(self.margin, "the margin")
        if self.dataset_margin is not None:
            checked_margin(self.dataset_margin, "the margin of datasets")
        refuse_any_drop(self.metric, self.max_harm, margin=self.margin, dataset_margin=self.dataset_margin)

    @property
    def options(self) -> CompareOptions:
        """The options of the comparison that the decision uses."""
        asked = {"missing": self.missing, "cluster": self.cluster, "labels": self.labels}
        asked |= {"judge": self.judge, "ids_are_stable": self.ids_are_stable}
        return CompareOptions((self.metric,), top=0, unjudged=self.unjudged, **asked)  # type: ignore[arg-type]

    @property
    def systems(self) -> tuple[str, str]:
        """Both systems, the baseline first."""
        return self.baseline, self.candidate
