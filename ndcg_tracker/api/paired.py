"""Two arrays of results compared without a database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ndcg_tracker.compare.decide import ComparedRuns, PairedResults, compare_runs
from ndcg_tracker.compare.gather import ComparisonResult
from ndcg_tracker.compare.inference import Methods
from ndcg_tracker.compare.pair import Missing, pair
from ndcg_tracker.compare.results import LabelSetRef, RunRef
from ndcg_tracker.errors import InputError
from ndcg_tracker.metrics.language.metric import Direction, named_external
from ndcg_tracker.storage.records import EXTERNAL_JUDGE

if TYPE_CHECKING:
    from ndcg_tracker.compare.inference import CiMethod, TestName
    from ndcg_tracker.rankings.types import Floats, Index


def paired(
    baseline: object,
    candidate: object,
    *,
    metric: str = "value",
    direction: Direction = "higher",
    range: tuple[float, float] = (-np.inf, np.inf),
    names: tuple[str, str] = ("baseline", "candidate"),
    test: TestName = "t",
    ci: CiMethod = "t",
    missing: Missing = "error",
    top: int = 10,
) -> ComparisonResult:
    """Return the comparison of two runs whose results of groups are at hand, as ``Tracker.compare`` does.

    Parameters: ``baseline``, ``candidate``: arrays of one length, paired by place, NaN where undefined; or dicts of a
    value per group, or pandas Series with the groups as index, paired by group. ``metric``: what the values are called.
    ``direction``: "higher" or "lower", whichever is better. ``range``: between which numbers all values lie.
    ``names``: of both runs. ``test``, ``ci``, ``missing``, ``top``: see ``Tracker.compare``. Returns: the result, with
    ``to_dict``, ``to_frame`` and ``to_html``, and ``str`` as a report. Raises: InputError for values that are none.

    >>> import ndcg_tracker as nt
    >>> result = nt.paired([0.50, 0.25, 0.75, 0.50], [0.75, 0.50, 0.75, 0.75], range=(0, 1))
    >>> found = result.to_dict()["metrics"][0]
    >>> found["delta"], found["wins"], round(found["p_value"], 4), found["verdict"]
    (0.1875, 3, 0.0577, 'no_difference_detected')
    >>> nt.paired({"q1": 80, "q2": 95}, {"q1": 71, "q2": 90}, metric="latency", direction="lower").to_dict()["best"][0]
    {'group': 'q1', 'baseline': 80.0, 'candidate': 71.0, 'delta': -9.0}
    """
    parsed = named_external(metric, direction, *map(str, range))
    limits = parsed.limits or (-np.inf, np.inf)
    groups, one, other = _aligned(baseline, candidate)
    for values in (one[1], other[1]):
        defined = values[~np.isnan(values)]
        if np.isinf(defined).any() or (defined < limits[0]).any() or (defined > limits[1]).any():
            raise InputError(f"a value lies outside of the range {limits[0]:g} to {limits[1]:g}")
    results = PairedResults(
        str(parsed),
        pair(*one, *other, missing=missing, metric=parsed.measure),
        limits=(limits[0] - limits[1], limits[1] - limits[0]),
        direction=parsed.direction,
    )
    runs = ComparedRuns(
        RunRef(names[0], None), RunRef(names[1], None), "these values", LabelSetRef(0, "", EXTERNAL_JUDGE)
    )
    comparison = compare_runs(
        runs, [results], lambda ids: [groups[place] for place in ids.tolist()], methods=Methods(test, ci), top=top
    )
    return ComparisonResult((comparison,))


def _aligned(baseline: Any, candidate: Any) -> tuple[list[str], tuple[Index, Floats], tuple[Index, Floats]]:
    """Return the names of the groups, and of both sides the places of their groups among these, with the values."""
    sides = [_by_group(one) for one in (baseline, candidate)]
    one, other = sides
    if one is not None and other is not None:
        names = sorted({*one, *other})
        place_of = {name: place for place, name in enumerate(names)}
        found = []
        for side in (one, other):
            places = np.array([place_of[name] for name in side], dtype=np.int64)
            order = np.argsort(places)
            found.append((places[order], _values(list(side.values()))[order]))
        return names, found[0], found[1]
    if one is not None or other is not None:
        raise InputError("one side has groups and the other has not", advice="give two arrays, or two dicts")
    values, others = _values(baseline), _values(candidate)
    if values.size != others.size:
        raise InputError(
            f"the arrays have {values.size:,} and {others.size:,} values", advice="give one value per group in each"
        )
    places = np.arange(values.size)
    return [str(place) for place in places.tolist()], (places, values), (places, others)


def _by_group(given: Any) -> dict[str, object] | None:
    """Return the values by group, None for an array."""
    if not isinstance(given, Mapping) and not (hasattr(given, "index") and hasattr(given, "items")):
        return None
    pairs = [(str(key), value) for key, value in given.items()]
    found = dict(pairs)
    if len(found) < len(pairs):
        raise InputError("a group is given twice", advice="give one value per group")
    return found


def _values(given: object) -> Floats:
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"a {type(given).__name__} is not an array of numbers", advice="give one number per group"
        ) from None
    if values.ndim != 1:
        raise InputError(f"the values have {values.ndim} dimensions", advice="give one number per group")
    return values
