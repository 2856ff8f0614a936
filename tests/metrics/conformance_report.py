"""How far we agree with other tools: ``python tests/metrics/conformance_report.py`` prints the table."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path


def report() -> str:
    """Return the counts per tool and in total as a text table."""
    from agreement import AGREEMENTS, PEERS, comparisons

    columns = (*AGREEMENTS, "deliberate", "unexplained")
    counts = {peer: Counter(column_of(found) for found in comparisons(peer)) for peer in PEERS}
    counts["total"] = sum(counts.values(), Counter())
    lines = [("tool", "compared", *columns)]
    lines += [(name, str(of.total()), *(str(of[column]) for column in columns)) for name, of in counts.items()]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(text.ljust(width) if place == 0 else text.rjust(width) for place, (text, width) in enumerate(row))
        for row in (zip(line, widths, strict=True) for line in lines)
    )


def column_of(found: object) -> str:
    """Return the column of the table that a comparison belongs to."""
    from agreement import Comparison
    from deliberate import DELIBERATE

    assert isinstance(found, Comparison)
    if found.agrees:
        return found.outcome
    return "deliberate" if any(entry.covers(found) for entry in DELIBERATE.values()) else "unexplained"


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    print(report())
