"""A golden set, results and their renamed, moved or missing variants, as files of a folder."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

TOPICS = ["api pagination", "webhook retries", "rotate signing key", "rate limits", "usage alerts"]
QUERIES = [*TOPICS, *(f"topic {number}" for number in range(5, 40))]
UNANSWERED = "weather on mars"
Lists = dict[str, list[str]]


def item_of(query: str) -> str:
    """Return the only relevant item of a query."""
    return f"kb-{QUERIES.index(query)}#c1"


def golden(queries: Sequence[str] = QUERIES, *, unanswered: Sequence[str] = (UNANSWERED,)) -> list[dict[str, object]]:
    """Return a golden set: one item is relevant for each query, and nothing answers the last."""
    records: list[dict[str, object]] = [
        {"question": query, "expected_chunk_ids": [item_of(query)], "category": "ab"[place % 2]}
        for place, query in enumerate(queries)
    ]
    empty: list[dict[str, object]] = [
        {"question": query, "expected_chunk_ids": [], "category": "a", "unanswerable": True} for query in unanswered
    ]
    return records + empty


def results(ranks: Mapping[str, int] = {}) -> Lists:
    """Return twenty items for each query, the relevant one in a place, by default at rank 1, 2 or 3; 0 for nowhere."""
    lists: Lists = {UNANSWERED: []}
    for place, query in enumerate(QUERIES):
        others = [f"kb-{(place * 7 + rank) % 40}#x{rank}" for rank in range(20)]
        rank = ranks.get(query, place % 3 + 1)
        lists[query] = [*others[: rank - 1], item_of(query), *others[rank - 1 :]][:20] if rank else others
    return lists


def renamed(lists: Lists, share: float = 1.0) -> Lists:
    """Return lists in which a share of the documents have other chunks."""
    n = round(share * 40)
    return {
        query: [item.replace("#", "#new-") if int(item[3:].partition("#")[0]) < n else item for item in items]
        for query, items in lists.items()
    }


def write_results(path: Path, lists: Lists) -> None:
    """Write results as JSON lines."""
    path.write_text("".join(json.dumps({"question": q, "retrieved_ids": ids}) + "\n" for q, ids in lists.items()))
