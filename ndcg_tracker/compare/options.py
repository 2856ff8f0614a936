"""What a comparison can be asked: the options that every question about two runs shares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from ndcg_tracker.asked import Option
from ndcg_tracker.errors import InputError, argument

Missing = Literal["error", "zero", "intersect", "skip"]
"""How to treat groups that a run does not have."""

TestName = Literal["t", "permutation", "wilcoxon"]
"""Where p-values come from."""

LeaderboardTest = Literal["t", "permutation"]
"""Where the p-values of all pairs come from."""

CiMethod = Literal["t", "bootstrap", "betting"]
"""Where intervals come from."""

Unjudged = Literal["range", "zero", "bounds"]
"""What an unjudged item is worth in a verdict: up to the mean gain at its rank, nothing, or any grade."""

Unanswered = Literal["refuse", "judge"]
"""What becomes of drawn items without an answer: no verdict, or the judge's word for them."""

Scope = Literal["population", "set"]
"""Which groups the decision of a gate is about."""

Margin = float | Literal["auto"] | None
"""The drop that a gate allows, or "auto" to learn it from repeats."""

Version = int | Literal["newest"] | None
"""Which labels: a version, the newest, or None for the newest under which both runs have the metrics."""


def labels_version(labels: str, *, or_all: bool = False) -> int | Literal["newest"]:
    """Return the version that ``--labels`` names.

    >>> labels_version("2"), labels_version("newest")
    (2, 'newest')
    """
    if labels == "newest":
        return "newest"
    if not (labels.isascii() and labels.isdecimal()):
        advice = f"give a number, such as {argument('labels', 1)}, or newest{' or all' if or_all else ''}"
        raise InputError(f"{argument('labels')} {labels!r} is no version", advice=advice)
    return int(labels)


Baseline = Annotated[
    str,
    Option("A run: name, id, @alias, latest, latest~2 or a unique prefix.", metavar="BASELINE", is_positional=True),
]
Candidate = Annotated[str, Option("The run to compare with the baseline.", metavar="CANDIDATE", is_positional=True)]
Candidates = Annotated[
    str | Sequence[str],
    Option("One or more runs to compare with the baseline.", metavar="CANDIDATE...", is_positional=True),
]
MissingGroups = Annotated[
    Missing, Option("What to do with groups missing from one run; skip also drops those in neither.")
]
ClusterBy = Annotated[
    str | None,
    Option("Groups that share its value depend on each other: user, session.", metavar="ATTRIBUTE"),
]
LabelsVersion = Annotated[
    Version,
    Option(
        "Labels: a version, or newest.",
        metavar="VERSION",
        default="the newest that runs share",
        typed=str | None,
        read=labels_version,
    ),
]
Test = Annotated[TestName, Option("p-values: paired t, sign flips, or Wilcoxon (tests symmetry, not the mean).")]
Ci = Annotated[CiMethod, Option("95% intervals: t, bootstrap (BCa), or betting, which holds at any n.")]
Equivalence = Annotated[float | None, Option("Test whether delta is within +-MARGIN (TOST).", metavar="MARGIN")]
BySlices = Annotated[
    str | None, Option("Also compare slices, by an attribute given with groups set.", metavar="ATTRIBUTE")
]
TieBounds = Annotated[bool, Option("Show the groups whose value depends on tied scores.")]
UnjudgedBounds = Annotated[bool, Option("Show how far items that nobody judged leave delta open.")]
Top = Annotated[int, Option("How many worst and best groups to show.", least=0)]
CheckWith = Annotated[
    str | None,
    Option("Who answered the sample that checks --judge (labels sample).", metavar="NAME"),
]
OfUnanswered = Annotated[Unanswered, Option("Drawn items without an answer: no verdict, or the judge's word.")]
