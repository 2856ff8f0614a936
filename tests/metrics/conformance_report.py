"""How far we agree with other tools: ``python tests/metrics/conformance_report.py`` prints the table."""

from __future__ import annotations

from collections import Counter

from agreement import AGREEMENTS, PEERS, Comparison, comparisons
from deliberate import DELIBERATE

COLUMNS = (*AGREEMENTS, "deliberate", "unexplained")


def column_of(found: Comparison) -> str:
    """Return the column of the table that a comparison belongs to."""
    if found.agrees:
        return found.outcome
    return "deliberate" if any(entry.covers(found) for entry in DELIBERATE.values()) else "unexplained"


def counts() -> dict[str, Counter[str]]:
    """Return how many values of each tool fall into each column, and of all tools under ``total``."""
    found = {peer: Counter(column_of(compared) for compared in comparisons(peer)) for peer in PEERS}
    return {**found, "total": sum(found.values(), Counter())}


def report() -> str:
    """Return the counts as a text table."""
    lines = [("tool", "compared", *COLUMNS)]
    lines += [(name, str(of.total()), *(str(of[column]) for column in COLUMNS)) for name, of in counts().items()]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(text.rjust(width) if place else text.ljust(width) for place, (text, width) in enumerate(cells))
        for cells in (zip(line, widths, strict=True) for line in lines)
    )


if __name__ == "__main__":
    print(report())
