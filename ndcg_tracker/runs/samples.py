"""Runs that rank their relevant items among sampled negatives: which sample, and its effect on a metric."""

from __future__ import annotations

import math
import re

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.words.notes import Note


def checked_sample(text: object) -> str:
    """Return how many negatives of how many were sampled, in the stored form. Raises: InputError.

    >>> checked_sample("100/50000"), checked_sample(" 099 / 0100 ")
    ('100/50000', '99/100')
    """
    form = re.fullmatch(r"\s*0*(\d{1,15})\s*/\s*0*(\d{1,15})\s*", text, re.ASCII) if isinstance(text, str) else None
    if form is None or not 0 < int(form[1]) < int(form[2]):
        raise InputError(
            f"{argument('sampled', str(text))} does not say how many negatives of how many",
            advice=f"write the number of sampled negatives and of all, such as {argument('sampled', '100/50000')}",
        )
    return f"{int(form[1])}/{int(form[2])}"


def kept_as(sampled: str | None) -> str:
    """Return how a run is stored, in words: with all its items, or as a sample of so many."""
    return "stored with all its items" if sampled is None else f"stored as a sample of {sampled}"


def sampled_note(sampled: str) -> Note:
    """Return the note on metrics among sampled negatives, as ``100/50000``.

    ``chance``: the chance that an item is in the first ten of its sample although a share of 5/n of all items is
    better.

    >>> note = sampled_note("100/100000")
    >>> note.facts["rank"], round(note.facts["chance"], 2)
    (5000, 0.97)
    """
    n, of = map(int, sampled.split("/"))
    share = min(5 / n, 0.5)
    chance = sum(math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(min(n, 9) + 1))
    return Note("sampled", {"n": n, "of": of, "rank": round(share * of), "chance": chance})
