"""Results that are stored or brought along, held against those that items and labels give; differences in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ndcg_tracker.metrics.verification import StatedResults, Verdict, verdict
from ndcg_tracker.storage.records import NO_LABELS_HERE
from ndcg_tracker.words.numbers import counted
from ndcg_tracker.words.quoting import shown

if TYPE_CHECKING:
    from ndcg_tracker.metrics.language.metric import Metric
    from ndcg_tracker.metrics.verification import Difference, Number
    from ndcg_tracker.rankings.types import Index
    from ndcg_tracker.rankings.weights import GroupWeights
    from ndcg_tracker.runs.scoring import Scores
    from ndcg_tracker.storage.records import LabelSetRecord


SHARES_AGREE = 1e-12
"""By how much shares of judged items may differ that are computed on two machines."""


def can_be_computed(metric: Metric, label_set: LabelSetRecord) -> bool:
    """Return whether a metric of a run with items is one that these labels give."""
    return not metric.is_external and label_set.judge not in NO_LABELS_HERE


def verdicts(
    scores: Scores, stated: Sequence[tuple[StatedResults, Index]], weights: GroupWeights | None, *, of_all: bool = True
) -> Iterator[Verdict]:
    """Yield for each metric of ``scores``, in their order, how what is stated compares with it.

    Parameters: ``stated``: the results, and the row in them of each group of ``scores``: int64, -1 for none.
    ``of_all``: whether ``scores`` are of all groups; else only what these groups have is compared.
    """
    bounds = [one for _, one in scores.results(weights)] if of_all else [None] * len(stated)
    for (given, rows), groups, of_metric in zip(stated, scores.groups(), bounds, strict=True):
        yield verdict(given, rows, groups, of_metric, weights)


def difference_text(difference: Difference, given: str = "stated") -> str:
    """Return where results differ from what their items give, with both numbers; ``given``: how the first came.

    >>> from ndcg_tracker.metrics.verification import Difference
    >>> difference_text(Difference("value", 5.0, 0.5, "q1", 3))
    "value 5.0 of group 'q1' is stated, and its items and labels give 0.5 (3 groups differ)"
    >>> difference_text(Difference("mean", 0.999, 0.5), "stored")
    'mean 0.999 is stored, and its items and labels give 0.5'
    """
    where = "" if difference.group is None else f" of group {shown(difference.group)}"
    more = f" ({counted(difference.n, 'group')} differ)" if difference.n > 1 else ""
    return (
        f"{difference.what} {_text(difference.stated)}{where} is {given}, and its items and labels give "
        f"{_text(difference.computed)}{more}"
    )


def contradiction_text(difference: Difference, given: str = "stated") -> str:
    """Return where results without items contradict themselves.

    >>> from ndcg_tracker.metrics.verification import Difference
    >>> contradiction_text(Difference("mean", 0.9, 0.5)), contradiction_text(Difference("value", 5.0, None))
    ('mean 0.9 is stated, and the results of the groups give 0.5', 'value 5.0 is stated, which the metric cannot have')
    """
    if difference.computed is None:
        return f"{difference.what} {_text(difference.stated)} is {given}, which the metric cannot have"
    return (
        f"{difference.what} {_text(difference.stated)} is {given}, and the results of the groups give "
        f"{_text(difference.computed)}"
    )


def checked_text(n_runs: int, n_evaluations: int, n_computed: int, n_results: int, *, has_schema: bool) -> str:
    """Return what a check that found no damage looked at, and what it could not.

    >>> print(checked_text(2, 5, 4, 600, has_schema=True))
    the database is intact: 2 runs; 600 results of groups computed again; not verifiable: 1 of 5 evaluations
    """
    found = f"the database is intact: {counted(n_runs, 'run')}; {n_results:,} results of groups computed again"
    left = n_evaluations - n_computed
    unknown = [f"{left:,} of {counted(n_evaluations, 'evaluation')}"] if left else []
    if not has_schema:
        unknown.append("views, indexes and triggers, which this role may not compare")
    return f"{found}; not verifiable: {', '.join(unknown)}" if unknown else found


def _text(number: Number) -> str:
    return "none" if number is None else str(number)
