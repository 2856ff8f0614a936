"""What a gate can be asked, on one dataset or on a suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from ndcg_tracker.asked import Option, Texts
from ndcg_tracker.compare.options import Unjudged
from ndcg_tracker.errors import InputError, argument

Scope = Literal["population", "set"]
"""Which groups the decision is about."""

Margin = float | Literal["auto"] | None
"""The drop that is allowed, or "auto" to learn it from repeats."""


def margin(text: str) -> float | Literal["auto"]:
    """Return the margin that ``--margin`` gives.

    >>> margin("0.01"), margin("auto")
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


Candidate = Annotated[str, Option("The run to replace the baseline.", metavar="CANDIDATE", is_positional=True)]
Baseline = Annotated[str, Option("Run to compare against, preferably a pinned @alias.", metavar="RUN")]
DecidingMetric = Annotated[str, Option("The metric that decides.", ("--metric", "-m"))]
AllowedDrop = Annotated[
    Margin,
    Option("The allowed drop, or auto to learn it from repeats.", metavar="X|auto", typed=str | None, read=margin),
]
OfScope = Annotated[Scope, Option("All groups like these, or only these (exact, no test).")]
OfUnjudged = Annotated[
    Unjudged,
    Option("Unjudged items are worth up to the mean gain at their rank, nothing, or any grade."),
]
Tolerance = Annotated[float | None, Option("The allowed drop in --scope set.", default="0")]
Repeats = Annotated[
    Sequence[str],
    Option("A repeat of the baseline for --margin auto; repeatable.", metavar="RUN", typed=Texts, read=tuple),
]
Alike = Annotated[
    str | None,
    Option("Learn --margin auto from the runs tagged aa=NAME.", metavar="NAME", default="the baseline's"),
]
AlphaBudget = Annotated[float | None, Option("Chance of a false FAIL over all decisions of this gate.", metavar="A")]
Acknowledge = Annotated[str | None, Option("Override the decision; the reason is recorded.", metavar="REASON")]
DryRun = Annotated[bool, Option("Record nothing.")]
BySlices = Annotated[str | None, Option("FAIL as well if a slice drops by its margin.", metavar="ATTRIBUTE")]
SliceMargin = Annotated[float | None, Option("The drop that a slice of --by is allowed.", metavar="X")]
StrictSlices = Annotated[bool, Option("No PASS if a slice may have dropped by more.")]
MaxHarm = Annotated[
    str | None,
    Option("At most this share of groups may lose more than X points.", ("--max-harm",), metavar="X:SHARE%"),
]
Limits = Annotated[
    Mapping[str, str] | Sequence[str],
    Option(
        "FAIL as well if a measure of the run rises (or with - falls) by more; repeatable.",
        ("--limit",),
        metavar="NAME=+X[%]",
        typed=Texts,
    ),
]
