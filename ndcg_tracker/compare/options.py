"""The options that all questions about two runs share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from ndcg_tracker.asked import Everyday, Option
from ndcg_tracker.errors import InputError, argument

Missing = Literal["error", "zero", "intersect", "skip"]
"""How to treat groups that are missing from a run."""

TestName = Literal["t", "permutation", "wilcoxon"]
"""The test that gives p-values."""

LeaderboardTest = Literal["t", "permutation"]
"""The test that gives the p-values of all pairs."""

CiMethod = Literal["t", "bootstrap", "betting"]
"""The method that gives intervals."""

Unjudged = Literal["range", "zero"]
"""How much an unjudged item is worth in a verdict: up to the mean gain at its rank, or nothing."""

Scope = Literal["population", "set"]
"""The groups that the decision of a gate is about."""

Margin = float | Literal["auto"] | None
"""The drop that a gate allows, or "auto" to estimate it from repeats."""

Version = int | Literal["newest"] | None
"""The version of the labels: a number, "newest", or None for the latest under which both runs have the metrics."""


def labels_version(labels: str, *, or_all: bool = False) -> int | Literal["newest"]:
    """Return the version that ``--labels`` names.

    >>> labels_version("2"), labels_version("newest")
    (2, 'newest')
    """
    if labels == "newest":
        return "newest"
    if not (labels.isascii() and labels.isdecimal()):
        advice = f"give a number, such as {argument('labels', 1)}, or newest{' or all' if or_all else ''}"
        raise InputError(f"{argument('labels')} {labels!r} is not a version", advice=advice)
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
    Missing,
    Option(
        "Groups missing from one run: error counts them as the metric does, and refuses them if it gives them no "
        "result; zero counts them as 0; intersect leaves them out; skip also leaves out those in neither."
    ),
]
ClusterBy = Annotated[
    str | None,
    Option("Attribute of groups that depend on each other, such as user.", metavar="ATTRIBUTE"),
]
LabelsVersion = Annotated[
    Version,
    Everyday(
        "Version of the labels: a number, or newest.",
        metavar="VERSION",
        default="the latest that the runs share",
        typed=str | None,
        read=labels_version,
    ),
]
Test = Annotated[TestName, Option("Test for p-values: paired t, sign flips, or Wilcoxon (symmetry, not the mean).")]
Ci = Annotated[CiMethod, Option("95% intervals: t, bootstrap (BCa), or betting (valid at any n).")]
Equivalence = Annotated[float | None, Option("Test whether delta is within +-MARGIN (TOST).", metavar="MARGIN")]
BySlices = Annotated[
    str | None, Everyday("Also compare the slices of this attribute of groups (groups set).", metavar="ATTRIBUTE")
]
TieBounds = Annotated[bool, Option("Show the groups whose value depends on tied scores.")]
IdsAreStable = Annotated[
    bool, Option("Ids never change: labelled items that vanished are gone, whatever is in their places.")
]
Top = Annotated[int, Everyday("How many of the worst and best groups to show.", least=0)]
CheckWith = Annotated[
    str | None,
    Option("Who answered the sample that checks --judge (labels sample).", metavar="NAME"),
]
Fresh = Annotated[
    bool, Option("Leave out the queries that people answered for labels sample before the later run was stored.")
]
