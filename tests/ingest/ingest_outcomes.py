"""What reading some bytes comes to: the rows, the refusal, or the fast path's doubt."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.places import DoubtfulError, NoPlaces
from ndcg_tracker.ingest.source import Source
from ndcg_tracker.ingest.table import NoScores, label_lists, ranked_table
from ndcg_tracker.rankings.ranking import GroupedItems

DOUBT = "doubt"


def source_of(content: bytes) -> Source:
    """Return a source with this content."""
    return Source("-", stdin=io.BytesIO(content))


def listed(items: GroupedItems | None) -> list[tuple[str, str, float]] | None:
    """Return (group, item, number) in order."""
    if items is None:
        return None
    groups = items.group_keys.to_list()
    places = [group for group, size in enumerate(items.offsets[1:] - items.offsets[:-1]) for _ in range(size)]
    return [
        (groups[place], item, number)
        for place, item, number in zip(places, items.item_keys.to_list(), items.numbers.tolist(), strict=True)
    ]


def run_parts(table: Any) -> tuple[Any, ...]:
    """Return everything in a RankedTable as plain Python values, then its notes but for how many rows have no score."""
    weights = table.weights and (
        table.weights.group_keys.to_list(),
        table.weights.values.tolist(),
        table.weights.varies.tolist(),
    )
    notes = [note for note in table.notes if not isinstance(note, NoScores)]
    return listed(table.ranking), listed(table.labels), weights, *notes


def exact_outcome(content: bytes, rows: Callable[[Source], Any], *, labels: bool = False) -> Any:
    """Return the rows that the exact path reads, or its refusal."""
    try:
        with source_of(content) as source:
            found, places = rows(source)
            return listed(label_lists(found, places)) if labels else run_parts(ranked_table(found, places))
    except InputError as error:
        return str(error)


def fast_outcome(content: bytes, rows: Callable[[Source], Any], *, labels: bool = False) -> Any:
    """Return the rows that the fast path reads, its refusal, or DOUBT."""
    try:
        with source_of(content) as source:
            found = rows(source)
            return listed(label_lists(found, NoPlaces())) if labels else run_parts(ranked_table(found, NoPlaces()))
    except InputError as error:
        return str(error)
    except DoubtfulError:
        return DOUBT
