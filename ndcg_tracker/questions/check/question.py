"""What decides a check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, TypedDict

from ndcg_tracker.asked import Everyday, Option

CheckedMetrics = Annotated[
    str | Sequence[str],
    Everyday(
        "A metric, such as RR@10; repeatable. The first one decides.",
        default="those of the baseline, else ndcg@10 with grades and RR@10 without, and hit@5",
        read=list,
    ),
]
Tolerance = Annotated[
    float | None,
    Everyday(
        "How far the mean of the first metric may fall; of hits, one may always be lost.", metavar="X", default="0.02"
    ),
]
Strict = Annotated[bool, Everyday("No query may be worse.")]
Margin = Annotated[
    float | None,
    Everyday("Other queries may not drop by more, as a gate decides; if that stays open, exit code 4.", metavar="M"),
]
Accept = Annotated[bool, Everyday("Write these results to the file of --against, as the new baseline.")]
IdsAreStable = Annotated[bool, Option("Items that occur no more are gone, not renamed; the baseline keeps this.")]
CorpusIds = Annotated[
    str | None, Option("The ids that the index has, one on a line: others were renamed.", metavar="FILE")
]
EmptyBelow = Annotated[
    float | None,
    Option("Items with a lower score are not returned, so that a query without an answer can be right.", metavar="X"),
]


@dataclass(frozen=True, kw_only=True)
class CheckQuestion:
    """What decides a check (see ``nt.check``)."""

    metrics: CheckedMetrics = ()
    tolerance: Tolerance = None
    strict: Strict = False
    margin: Margin = None
    accept: Accept = False
    ids_are_stable: IdsAreStable = False
    corpus_ids: CorpusIds = None
    empty_below: EmptyBelow = None


class CheckKeywords(TypedDict, total=False):
    """How people give ``CheckQuestion`` (generated)."""

    metrics: CheckedMetrics
    tolerance: Tolerance
    strict: Strict
    margin: Margin
    accept: Accept
    ids_are_stable: IdsAreStable
    corpus_ids: CorpusIds
    empty_below: EmptyBelow
