"""Words for the looks of a gate and what each may spend, the drift of its baseline, and the bit of sealed data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ndcg_tracker.questions.gate.result import Drift, Look
from ndcg_tracker.render.formats import Said, as_object, fields_of, paths, picked, shape_of
from ndcg_tracker.render.report import Report
from ndcg_tracker.render.terminal import Painted
from ndcg_tracker.words.notes import Told
from ndcg_tracker.words.texts import counted, points

if TYPE_CHECKING:
    from ndcg_tracker.questions.gate.result import SealedGated

_SEALED_COLUMNS = paths("decision candidate baseline dataset metric margin look=look.number level=look.level")


@shape_of(Look)
def _look_shape(look: Look) -> Mapping[str, object]:
    return fields_of(look, *(["n_passed"] if look.n_passed is None else []))


def look_words(look: Look) -> str:
    """Return which look it is, and its level.

    >>> look_words(Look(17, 0.05, 40, 0.00125)), look_words(Look(2, 0.05, None, 0.0076))
    ('17 of 40, level 0.00125 of a budget of 0.05', '2, level 0.0076 of a budget of 0.05')
    """
    of_looks = "" if look.looks is None else f" of {look.looks}"
    if look.n_passed is not None:
        of_looks += f" after {look.n_passed} PASS{'' if look.n_passed == 1 else 'es'}"
    return f"{look.number:,}{of_looks}, level {look.level:.3g} of a budget of {look.budget:g}"


ADVISED_PASSES = 2
"""After so many, a note advises a new seal: each PASS reveals something about the data, and lowers the level for
good."""


def sealed_said(gated: SealedGated) -> Said:
    """Return the output for a decision on sealed data."""
    has_passed = gated.decision == "pass"
    verdict = Painted("PASS", "good") if has_passed else Painted("NOT PASSED", "bold")
    asked = f"{gated.candidate} against {gated.baseline} on sealed dataset {gated.dataset}"
    notes = []
    if (gated.look.n_passed or 0) + has_passed >= ADVISED_PASSES:
        notes.append(Told("note", "each PASS lowers the level of later looks: split fresh data"))
    facts = [("metric", gated.metric), ("margin", points(gated.margin)), ("look", look_words(gated.look))]
    if gated.decided_before:
        notes.append(Told("note", "decided before: the same question again spends no look"))
    report = Report(asked, verdict=verdict, facts=facts, notes=notes)
    return Said(gated, lambda: [report], lambda: [picked(_SEALED_COLUMNS, as_object(gated))])


def minute(time: str) -> str:
    """Return a stored time to the minute.

    >>> minute("2026-11-28T14:20:01.000000Z")
    '2026-11-28 14:20 UTC'
    """
    return f"{time[:16].replace('T', ' ')} UTC"


def drifted(drift: Drift) -> list[str]:
    """Return how far accepted candidates have moved away from the pinned baseline."""
    pinned = f"@{drift.alias} has been {drift.pinned_run} since {minute(drift.pinned_at_utc)}"
    if drift.n_accepted:
        latest = f"{points(drift.latest_delta, signed=True)} against it"
        pinned += (
            f"; {counted(drift.n_accepted, 'candidate')} accepted since, the last one {drift.latest_accepted}, {latest}"
        )
    else:
        pinned += "; no candidate accepted since"
    if drift.n_overridden:
        latest = f"{drift.latest_overridden}, {points(drift.latest_overridden_delta, signed=True)} against it"
        pinned += f"; {counted(drift.n_overridden, 'candidate')} overridden since without a PASS, the last one {latest}"
    if not drift.n_moves:
        return [pinned]
    times = "once" if drift.n_moves == 1 else f"{drift.n_moves} times"
    kind, n_overridden = "an accepted", drift.n_moves_overridden
    if n_overridden:
        kind = "an overridden" if n_overridden == drift.n_moves else "an accepted or overridden"
    share = f" ({n_overridden} overridden)" if 0 < n_overridden < drift.n_moves else ""
    moved = (
        f"it was moved {times} to {kind} candidate{share}: {points(drift.moved_delta, signed=True)} since "
        f"{drift.first_run}, {points(drift.total_delta, signed=True)} with this candidate"
    )
    return [pinned, moved]
