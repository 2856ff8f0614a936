"""What reading some bytes comes to: the rows, the refusal, or the fast path's doubt."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.cells import DoubtfulError, NoPlaces, Places
from ndcg_tracker.ingest.group_blocks import LineFormat
from ndcg_tracker.ingest.rows import Rows
from ndcg_tracker.ingest.source import BLOCK, Source, TextBlock
from ndcg_tracker.ingest.table import label_lists, ranked_table
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
    """Return everything in a RankedTable as plain Python values, then its notes but those that count.

    That rows have no score, that ranks have gaps, and that scores look like positions, a stream says of the blocks that
    are so.
    """
    weights = table.weights and (
        table.weights.group_keys.to_list(),
        table.weights.values.tolist(),
        table.weights.varies.tolist(),
    )
    notes = [note for note in table.notes if note.kind not in ("no_score", "scores_like_ranks", "rank_gaps")]
    return listed(table.ranking), listed(table.labels), weights, *notes


def exact_rows(source: Source, table: LineFormat) -> tuple[Rows, Places]:
    """Return what the exact way to read makes of a source, and the places of the rows."""
    rows, places = table.exact(source)
    table.finish(rows.n_rows, source.error)
    return rows, places


def fast_rows(source: Source, table: LineFormat, n_bytes: int = BLOCK) -> Rows:
    """Return what the fast way makes of a source in pieces of so many bytes."""
    rows = table.fast(TextBlock(source.name, tuple(source.pieces(n_bytes))))
    table.finish(rows.n_rows, NoPlaces().whole)
    return rows


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
