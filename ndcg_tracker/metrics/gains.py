"""The gain axis: from the grade of an item to what it is worth."""

from __future__ import annotations

import numpy as np

from ndcg_tracker.errors import MetricError
from ndcg_tracker.rankings.ranking import Floats


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


def gains(gain: str, grades: Floats) -> Floats:
    """Return the gain of each grade.

    ``linear``: l. ``exp2``: 2**l - 1. ``binary``: 1 where l > 0, else 0. A table: its entry, 0 for a grade it lacks.

    Parameters: ``gain``, a value of the axis; ``grades``, float64, any shape. Returns: float64 of the same shape,
    +inf where 2**l overflows. Source: linear: Jarvelin and Kekalainen, TOIS 20(4), 2002, eq. 1; exp2: Burges et al.,
    ICML 2005, sec. 4; a table: trec_eval ``ndcg`` with ``-m ndcg.1=3.5,2=9``.

    >>> gains("exp2", np.array([0.0, 1.0, 3.0])).tolist()
    [0.0, 1.0, 7.0]
    """
    table = gain_table(gain)
    if table is not None:
        return np.array([table.get(float(grade), 0.0) for grade in grades.ravel()]).reshape(grades.shape)
    if gain == "exp2":
        with np.errstate(over="ignore"):
            return np.asarray(np.exp2(grades) - 1.0)
    if gain == "binary":
        return (grades > 0).astype(np.float64)
    return grades.astype(np.float64)
