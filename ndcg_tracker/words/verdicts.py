"""The words of verdicts: one glyph, one word, one colour and one meaning for each, in every output.

People read better and worse; programs read improved and regressed. The glossary of the docs has an entry for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Mark:
    """How people read a verdict: ``glyph`` before a difference, ``word``, colour, and what it means, a sentence.

    ``anchor``: of its entry in the glossary. ``legend``: how to read the glyph, "" for the word.
    """

    glyph: str
    word: str
    style: Literal["good", "bad"] | None = None
    meaning: str = ""
    anchor: str = ""
    legend: str = ""


NO_MARK = Mark("", "")
MARKS: Mapping[str, Mark] = {
    "improved": Mark(
        "▲", "better", "good", "The candidate's mean is better, and a test detects the difference.", "better"
    ),
    "regressed": Mark(
        "▼", "worse", "bad", "The candidate's mean is worse, and a test detects the difference.", "worse"
    ),
    "no_difference_detected": Mark(
        "~",
        "no difference detected",
        None,
        "No test detects a difference. There may be one that is too small for this number of groups.",
        "no-difference-detected",
    ),
    "identical": Mark("=", "identical", None, "Every group has the same value in both runs.", "identical"),
    "open": Mark(
        "?",
        "open",
        None,
        "Unknown labels could change the verdict. A sign before the question mark is the verdict as judged so far.",
        "open",
    ),
    "not_comparable": Mark("!", "cannot be compared", None, "No test can judge the difference.", "not-comparable"),
}
"""The mark of each verdict, by the word that programs read."""
_OPEN_BY = {
    "unjudged": "depends on unjudged items",
    "labels do not reach": "the labels do not reach both runs",
    "judge not checked": "no people check the judge",
    "too few drawn queries": "too few of the drawn queries are answered",
    "drawn queries left out": "drawn queries are left out",
}


def mark_of(verdict: str | None, left_open: str | None = None) -> Mark:
    """Return the mark of a verdict; ``left_open``: what keeps it open, None for nothing.

    >>> [mark_of(*of).glyph for of in (("improved",), ("improved", "unjudged"), (None, "unjudged"), (None,))]
    ['▲', '▲?', '?', '']
    >>> mark_of("no_difference_detected", "unjudged").legend
    'no difference detected as judged; open: depends on unjudged items'
    """
    told = MARKS.get(verdict or "", NO_MARK)
    if left_open is None:
        return told
    left = MARKS["open"]
    why = f"open: {_OPEN_BY.get(left_open, left_open)}"
    if told is NO_MARK or verdict in ("open", "not_comparable"):
        return Mark(left.glyph, left.word, None, left.meaning, left.anchor, why)
    word = f"{told.word} as judged"
    return Mark(told.glyph + left.glyph, f"{word}; open", None, left.meaning, left.anchor, f"{word}; {why}")


def marks_legend(marks: Iterable[Mark]) -> str:
    """Return what the glyphs of some marks mean, "" if none has a glyph.

    >>> marks_legend(map(mark_of, ["improved", None, "no_difference_detected", "improved"]))
    '▲ better, ~ no difference detected'
    """
    return ", ".join(dict.fromkeys(f"{of.glyph} {of.legend or of.word}" for of in marks if of.glyph))
