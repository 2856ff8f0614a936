"""The options of a comparison, and those that all questions about two runs share."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, TypedDict

from ndcg_tracker.asked import (
    AnyDataset,
    ByTag,
    Everyday,
    Judge,
    Made,
    MetricTexts,
    OnSuite,
    Option,
    Positional,
    checked_margin,
    is_file,
    refuse_unknown,
)
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metrics
from ndcg_tracker.rules import given_of, refuse

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
        if is_file(labels):
            add = shlex.join(["ndcg-track", "labels", "add", labels, "--rescore"])
            what = f"{argument('labels')} is a version of the labels if the runs are stored, and {labels!r} is a file"
            raise InputError(what, advice=f"store it first: {add}")
        advice = f"give a number, such as {argument('labels', 1)}, or newest{' or all' if or_all else ''}"
        raise InputError(f"{argument('labels')} {labels!r} is not a version", advice=advice)
    return int(labels)


Baseline = Annotated[
    str,
    Positional(
        "A run: name, id, @alias, latest, latest~2, before:DATE or a unique prefix; or a file.", metavar="BASELINE"
    ),
]
Candidate = Annotated[str, Positional("The run to compare with the baseline.", metavar="CANDIDATE")]
Candidates = Annotated[
    str | Sequence[str],
    Positional("One or more runs to compare with the baseline.", metavar="CANDIDATE..."),
]
MissingGroups = Annotated[
    Missing,
    Option(
        "Groups missing from one run: error counts them as the metric does, and refuses them if it gives them no "
        "result; zero counts them as 0; intersect leaves them out; skip also leaves out those in neither."
    ),
]
ClusterBy = Annotated[
    str | None, Option("Attribute of groups that depend on each other, such as user.", metavar="ATTRIBUTE")
]
LabelsVersion = Annotated[
    Version,
    Everyday(
        "Version of the labels: a number, or newest; of files in the place of runs, a file.",
        metavar="VERSION|FILE",
        default="the latest that the runs share",
        typed=str | None,
        read=labels_version,
    ),
]
Test = Annotated[TestName, Option("Test for p-values: paired t, sign flips, or Wilcoxon (symmetry, not the mean).")]
Ci = Annotated[CiMethod, Option("95% intervals: t, bootstrap (BCa), or betting (valid at any n).")]
Equivalence = Annotated[float | None, Option("Test whether delta is within +-MARGIN (TOST).", metavar="MARGIN")]
BySlices = Annotated[
    str | Sequence[str],
    Everyday(
        "Also compare the slices of this attribute of groups (groups set), or of all; age:4 cuts numbers into 4; "
        "repeatable.",
        metavar="ATTRIBUTE|all",
    ),
]
Slicers = Annotated[tuple[str, ...], Made(BySlices, lambda by: (by,) if isinstance(by, str) else tuple(by or ()), ())]
TieBounds = Annotated[bool, Option("Show the groups whose value depends on tied scores.")]
IdsAreStable = Annotated[
    bool, Option("Ids never change: labelled items that vanished are gone, whatever is in their places.")
]
Top = Annotated[int, Everyday("How many of the worst and best groups to show.", least=0)]
CheckWith = Annotated[
    str | None, Option("Who answered the sample that checks --judge (labels sample).", metavar="NAME")
]
Fresh = Annotated[
    bool, Option("Leave out the queries that people answered for labels sample before the later run was stored.")
]


@dataclass(frozen=True, kw_only=True)
class LabelView:
    """The labels that count.

    ``labels``: a version may be of any judge. ``judge``: whose, None for those that count (``counting_judge``).
    """

    labels: LabelsVersion = None
    judge: Judge = None

    def __post_init__(self) -> None:
        """Refuse labels that are not a version (InputError)."""
        if self.labels not in (None, "newest") and (isinstance(self.labels, bool) or not isinstance(self.labels, int)):
            advice = f"give a number, such as {argument('labels', 1)}, or {argument('labels', 'newest')}"
            raise InputError(f"labels {self.labels!r} is not a version", advice=advice)

    @property
    def version(self) -> int | None:
        """The number of the version, None if none is named."""
        return self.labels if isinstance(self.labels, int) else None


LATEST = LabelView()
"""The latest labels, of the judge that counts."""


@dataclass(frozen=True, kw_only=True)
class DataView(LabelView):
    """The dataset with the labels that count, and how groups that a run lacks count under them."""

    dataset: AnyDataset = None
    missing: MissingGroups = "error"


class ViewKeywords(TypedDict, total=False):
    """How people give ``LabelView`` (generated)."""

    labels: LabelsVersion
    judge: Judge


@dataclass(frozen=True, kw_only=True)
class Methods:
    """The methods of inference.

    ``test``: the test that gives p-values: "t" (paired t-test), "permutation" (sign flips) or "wilcoxon". ``ci``: the
    method of the 95% intervals: "t", "bootstrap" or "betting". ``equivalence``: the margin within which delta counts as
    no difference, tested by two one-sided t-tests. Raises: InputError for an unknown method.

    >>> Methods(test="permutation").ci
    't'
    """

    test: Test = "t"
    ci: Ci = "t"
    equivalence: Equivalence = None

    def __post_init__(self) -> None:
        """Refuse methods and other values that are unknown (InputError)."""
        refuse_unknown(self)
        if self.equivalence is not None:
            checked_margin(self.equivalence, "the equivalence margin", zero=False)


class DataKeywords(ViewKeywords, total=False):
    """How people give ``DataView`` (generated)."""

    dataset: AnyDataset
    missing: MissingGroups


Metrics = Annotated[tuple[Metric, ...], Made(MetricTexts, lambda texts: tuple(parse_metrics(texts)), ())]


@dataclass(frozen=True, kw_only=True)
class CompareOptions(Methods, DataView):
    """The options of a comparison (see ``Tracker.compare``).

    ``metrics``: empty for all metrics that a candidate shares with the baseline. ``tie_bounds``: also find the groups
    whose value depends on ties in scores, which reads the items of all runs. ``unjudged``: how much an unjudged item
    may be worth, None to look only where it may matter. ``reads_items``: whether to look how far labels reach both runs
    (see ``coverage``). ``for_screen``: whether to leave out what a screen does not show: the items that moved the worst
    and best groups, and the shares of the labelled items that runs list. ``fills_holes``: whether answers may fill the
    holes of labels. ``trust_judge``: whether labels of a judge decide whom nobody checked.
    """

    suite: OnSuite = None
    by_tag: ByTag = None
    metrics: Metrics = ()
    check_with: CheckWith = None
    fresh: Fresh = False
    ids_are_stable: IdsAreStable = False
    cluster: ClusterBy = None
    by: Slicers = ()
    tie_bounds: TieBounds = False
    top: Top = 10
    unjudged: Unjudged | None = None
    reads_items: bool = True
    for_screen: bool = False
    fills_holes: bool = True
    trust_judge: bool = False

    def refuse(self, **kinds: bool) -> None:
        """Refuse options that do not go together, or with what is compared (InputError); ``kinds``: see ``rules``."""
        none_shown = {} if self.top else {"top": None}
        refuse("compare", {**given_of(self), **none_shown, **kinds})

    def __post_init__(self) -> None:
        """Refuse labels that are not a version, unknown methods, and what does not go together (InputError)."""
        self.refuse()
        LabelView.__post_init__(self)
        Methods.__post_init__(self)


class CompareKeywords(DataKeywords, total=False):
    """How people give ``CompareOptions`` (generated)."""

    suite: OnSuite
    by_tag: ByTag
    metrics: MetricTexts
    test: Test
    ci: Ci
    equivalence: Equivalence
    check_with: CheckWith
    fresh: Fresh
    ids_are_stable: IdsAreStable
    cluster: ClusterBy
    by: BySlices
    tie_bounds: TieBounds
    top: Top


OF_STORED = ("dataset", "labels", "suite", "by_tag", "check_with", "fresh")
"""Options of a comparison that only stored runs have."""


class UnstoredKeywords(TypedDict, total=False):
    """How people give ``CompareOptions`` but ``OF_STORED`` (generated)."""

    metrics: MetricTexts
    judge: Judge
    missing: MissingGroups
    test: Test
    ci: Ci
    equivalence: Equivalence
    ids_are_stable: IdsAreStable
    cluster: ClusterBy
    by: BySlices
    tie_bounds: TieBounds
    top: Top
