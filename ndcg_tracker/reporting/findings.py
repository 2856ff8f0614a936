"""What an examination found, for people: a line each, and below it what to do."""

from __future__ import annotations

from collections.abc import Sequence

from ndcg_tracker.reporting.terminal import Style, padded, painted, visible, wrapped

Row = tuple[str, str, str, str]
"""What was looked at, its state (ok, note or bad), what was found, what to do."""

_STYLES: dict[str, Style] = {"bad": "bad", "ok": "good"}


def findings_text(rows: Sequence[Row], *, color: bool = False, width: int = 100) -> str:
    """Return the findings as aligned lines, what to do after an arrow.

    >>> print(findings_text([("room", "bad", "1.0 GB free", "make room")]))
    room  bad   1.0 GB free
                → make room
    """
    widest = max(len(check) for check, _, _, _ in rows)
    lines = []
    for check, state, found, advice in rows:
        start = f"{padded(check, widest)}  {padded(state, 4)}  "
        first, *further = wrapped(visible(found), width, start)
        shown = f"{padded(check, widest)}  {painted(padded(state, 4), _STYLES.get(state), color=color)}  "
        lines += [shown + first.removeprefix(start), *further]
        if advice:
            lines += wrapped(visible(advice), width, " " * len(start) + "→ ")
    return "\n".join(lines)
