"""What a reader of a comparison must keep in mind, in words."""

from __future__ import annotations

from collections.abc import Sequence

from ndcg_tracker.comparison.inference import Inference
from ndcg_tracker.comparison.results import JudgedShare
from ndcg_tracker.statistics.information import Information
from ndcg_tracker.statistics.wilcoxon import TESTS_SYMMETRY

COVERAGE_GAP = 0.01


def remarks(no_inference: str, n_weightless: int, known: Information, found: Inference, test: str) -> tuple[str, ...]:
    """Return the warnings of one metric.

    Parameters: ``no_inference``: why no test applies, "" if one does. ``n_weightless``: how many groups have weight 0.
    ``known`` and ``found``: what the differences of the groups that count say, and what was inferred. ``test``: by
    which test.

    >>> from ndcg_tracker.comparison.inference import NOTHING
    >>> remarks("", 2, Information(1, 1, 0.0), NOTHING, "t")
    ('2 groups of weight 0 left out', 'one group says nothing about others: no interval and no p-value')
    """
    warnings = []
    if n_weightless:
        warnings.append(f"{_groups(n_weightless)} of weight 0 left out")
    if known.n == 0:
        warnings.append("no group has a result in both runs, so there is nothing to compare")
    elif known.n_nonzero == 0:
        pass
    elif no_inference:
        warnings.append(no_inference)
    elif known.n < 2:
        warnings.append("one group says nothing about others: no interval and no p-value")
    else:
        if test == "wilcoxon":
            warnings.append(TESTS_SYMMETRY)
        if found.ci is None:
            what = "the interval and the p-value are" if found.p_value is None else "the interval is"
            warnings.append(f"all {known.n:,} groups differ by the same amount: {what} undefined")
        elif known.is_low:
            warnings.append(known.warning)
    return tuple(warnings)


def coverage_notes(coverage: Sequence[JudgedShare]) -> list[str]:
    """Return a note for each run that has clearly fewer judged items, with the cutoffs at which it has.

    >>> coverage_notes([JudgedShare(10, 0.98, 0.975)])
    []
    >>> coverage_notes([JudgedShare(10, 0.98, 0.9), JudgedShare(5, 0.98, 0.9)])[0].partition(":")[0]
    'the candidate has fewer judged items in its top 10 and top 5'
    >>> coverage_notes([JudgedShare(10, 0.98, 0.0)])[1]
    'the candidate has no judged item there at all: are its ids spelled as in the labels?'
    """
    found: dict[tuple[str, str], list[str]] = {}
    for share in coverage:
        if share.baseline is None or share.candidate is None:
            continue
        gap = share.baseline - share.candidate
        if abs(gap) >= COVERAGE_GAP:
            where = "whole lists" if share.cutoff is None else f"top {share.cutoff}"
            found.setdefault(("candidate", "understated") if gap > 0 else ("baseline", "overstated"), []).append(where)
    told = [
        f"the {run} has fewer judged items in its {_listed(places)}: delta may be {effect}, "
        "which could change the verdict"
        for (run, effect), places in found.items()
    ]
    for run, shares, others in (
        ("baseline", [share.baseline for share in coverage], [share.candidate for share in coverage]),
        ("candidate", [share.candidate for share in coverage], [share.baseline for share in coverage]),
    ):
        if shares and not any(share != 0 for share in shares) and any(others):
            told.append(f"the {run} has no judged item there at all: are its ids spelled as in the labels?")
    return told


def _listed(things: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(things[:-1]), things[-1]]))


def _groups(n: int) -> str:
    return f"{n:,} group{'' if n == 1 else 's'}"
