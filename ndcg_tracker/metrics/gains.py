"""The gain axis: from the grade of an item to what it is worth."""

from __future__ import annotations

import re

import numpy as np

from ndcg_tracker.errors import MetricError
from ndcg_tracker.rankings.ranking import Floats

_NAMED = re.compile(r"(?P<name>linear|exp2|binary)(?:>=(?P<least>\d+(?:\.\d+)?))?", re.ASCII)


def gain_table(text: str) -> dict[float, float] | None:
    """Return the table that a ``gain`` of the form ``{1:3.5, 2:9}`` spells, or None for a named gain.

    Raises: MetricError where the table does not parse.

    >>> gain_table("{1:3.5, 2:9}"), gain_table("exp2")
    ({1.0: 3.5, 2.0: 9.0}, None)
    """
    if not text.startswith("{"):
        return None
    try:
        pairs = [entry.split(":") for entry in text.strip("{}").split(",")]
        table = {float(grade): float(gain) for grade, gain in pairs}
    except ValueError:
        raise MetricError(f"gain={text} is no table of gains; write it as gain={{1:3.5, 2:9}}") from None
    if not all(np.isfinite([*table, *table.values()])):
        raise MetricError(f"gain={text} has an entry that is not finite; write it as gain={{1:3.5, 2:9}}")
    return table


def number_text(value: float) -> str:
    """Return a number as metric texts write it: without a point where it is whole.

    >>> number_text(2.0), number_text(0.5), number_text(1e-5)
    ('2', '0.5', '0.00001')
    """
    return str(int(value)) if value == int(value) else np.format_float_positional(value, trim="-")


def canonical_gain(value: str) -> str | None:
    """Return the one spelling of a table or of a named gain with a least grade, None for anything else.

    Entries that say what the grade is worth anyway are left out.

    >>> canonical_gain("{2:9, 1:1.0}"), canonical_gain("linear>=2.0"), canonical_gain("square")
    ('{2:9}', 'linear>=2', None)
    """
    table = gain_table(value)
    if table is not None:
        entries = [(grade, gain) for grade, gain in sorted(table.items()) if grade != gain]
        text = ", ".join(f"{number_text(grade)}:{number_text(gain)}" for grade, gain in entries)
        return "{" + text + "}" if text else "linear"
    named = _NAMED.fullmatch(value)
    if named is None:
        return None
    least = float(named["least"] or 0)
    if not np.isfinite(least):
        return None
    return f"{named['name']}>={number_text(least)}" if named["least"] else named["name"]


def gains(gain: str, grades: Floats) -> Floats:
    """Return the gain of each grade.

    ``linear``: l. ``exp2``: 2**l - 1. ``binary``: 1 where l > 0, else 0. ``NAME>=r``: the same where l >= r, else 0.
    A table: its entry; a grade that it lacks keeps its own value.

    Parameters: ``gain``, a value of the axis; ``grades``, float64, any shape. Returns: float64 of the same shape,
    +inf where 2**l overflows. Source: linear: Jarvelin and Kekalainen, TOIS 20(4), 2002, eq. 1; exp2: Burges et al.,
    ICML 2005, sec. 4; a table: trec_eval ``-m ndcg.1=3.5,2=9``; a least grade: ranx ``ndcg-l2``.

    >>> gains("exp2", np.array([0.0, 1.0, 3.0])).tolist(), gains("{1:5}", np.array([1.0, 2.0])).tolist()
    ([0.0, 1.0, 7.0], [5.0, 2.0])
    """
    table = gain_table(gain)
    if table is not None:
        return np.array([table.get(float(grade), float(grade)) for grade in grades.ravel()]).reshape(grades.shape)
    name, _, least = gain.partition(">=")
    if name == "exp2":
        with np.errstate(over="ignore"):
            worth = np.exp2(grades) - 1.0
    elif name == "binary":
        worth = (grades > 0).astype(np.float64)
    else:
        worth = grades.astype(np.float64)
    return np.where(grades >= float(least), worth, 0.0) if least else np.asarray(worth)
