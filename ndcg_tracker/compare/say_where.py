"""Where a difference is, in words and in JSON: the slice that carries most of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ndcg_tracker.compare.results import Comparison, Where
from ndcg_tracker.errors import Spelling, argument, worded
from ndcg_tracker.render.formats import paths, picked
from ndcg_tracker.render.report import WIDTH
from ndcg_tracker.render.terminal import display_width, shortened, visible
from ndcg_tracker.words.texts import counted, queries, short

NO_VALUE = "(none)"
_NAME_WIDTH = 32
_MOST = 0.5
"""A slice carries most of a difference if its part is at least this."""
APART_KEYS = paths(
    "rest=about.apart.rest share=about.apart.share p_apart=about.apart.p_adjusted stands_out=about.apart.stands_out"
)
_FOUND_KEYS = paths("attribute=about.attribute value=about.value n delta") | APART_KEYS | paths("also=about.apart.also")


def where_shape(where: Where) -> dict[str, Any]:
    """Return the JSON object of the slices that stand out."""
    found = [picked(_FOUND_KEYS, row) for row in where.found]
    for row in found:
        row["also"] = [{"attribute": attribute, "value": value} for attribute, value in row["also"]]
    return {"attributes": where.attributes, "n_slices": where.n, "found": found, "left_out": where.left_out}


def value_name(value: str | None) -> str:
    """Return the name of a slice among those of its attribute."""
    return NO_VALUE if value is None else value


def slice_name(attribute: str, value: str | None) -> str:
    """Return the name of a slice.

    >>> slice_name("locale", "ja"), slice_name("locale", None)
    ('locale=ja', 'locale=(none)')
    """
    return shortened(visible(f"{attribute}={value_name(value)}"), _NAME_WIDTH)


def carried_words(found: Mapping[str, Any], whole: float | None, also: str = "") -> str:
    """Return how much of a difference a slice carries.

    Parameters: ``found``: as in JSON. ``whole``: the difference, None if it is not sure. ``also``: the name of a slice
    of the same groups.

    >>> ja = {"attribute": "locale", "value": "ja", "n": 172, "delta": -0.58, "rest": -0.07, "share": 0.63}
    >>> carried_words(ja, -0.158)
    'most of it is locale=ja: -0.58 on 172 queries, 63% of the drop; all others -0.07'
    >>> carried_words(ja, None, "script=kana")
    'locale=ja (also script=kana) stands out: -0.58 on 172 queries; all others -0.07'
    """
    name = slice_name(found["attribute"], found["value"]) + (f" (also {also})" if also else "")
    part, rest = found["share"], found["rest"]
    carried = ""
    if whole is not None and part is not None and part > 0:
        carried = f", {'all' if part > 1 else f'{part:.0%}'} of the {'drop' if whole < 0 else 'rise'}"
    told = f"{short(found['delta'] or 0.0)} on {queries(found['n'])}{carried}"
    told += "" if rest is None else f"; all others {short(rest)}"
    return f"most of it is {name}: {told}" if carried and (part or 0.0) >= _MOST else f"{name} stands out: {told}"


def where_lines(comparison: Comparison, spelled: Spelling) -> list[str]:
    """Return the slice that stands out most, and where to see more; that none does only if slices were asked for."""
    where, metric = comparison.where, comparison.metrics[0]
    if where is None:
        return []
    is_asked, lines = comparison.slices is not None, list[str]()
    if where.found:
        first, *others = where_shape(where)["found"]
        moved = metric.delta if metric.verdict in ("improved", "regressed") else None
        more = worded(f" ({len(others)} more: {argument('by', 'all')})", spelled) if others and not is_asked else ""
        alike = [slice_name(**key) for key in first["also"][:1]]
        words = next(
            (told for also in alike if display_width(told := carried_words(first, moved, also) + more) <= WIDTH),
            carried_words(first, moved) + more,
        )
        lines.append(words[:1].upper() + words[1:] if words.startswith("most") else words)
    elif is_asked:
        of = counted(len(where.attributes), "attribute")
        lines.append(f"no slice stands out ({counted(where.n, 'slice')} by {of})")
    if is_asked and where.left_out:
        left_out = ", ".join(f"{name} ({n:,} values)" for name, n in where.left_out.items())
        lines.append(f"not looked at: {left_out}")
    return lines
