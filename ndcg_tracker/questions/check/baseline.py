"""The baseline of a golden set: a file of JSON lines in git, with the ranked ids and the values of each query."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from math import fsum
from pathlib import Path
from typing import Any

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.ingest.shapes import BASELINE
from ndcg_tracker.words.texts import shown, shown_name

NO_ANSWER = "no answer"
"""The value of a query without an answer: 1 if nothing is returned."""
DEPTH = 20
"""So many items of a list are kept, or as many as the deepest metric reads."""
_DECIMALS = 4
_ANEW = f"restore it from git, or delete it and write it anew with {argument('accept')}"
_ROUNDED = 1.01 * 10**-_DECIMALS  # how far a mean may be from the mean of rounded values


@dataclass(frozen=True)
class Baseline:
    """What was accepted last, or would be.

    ``lists``: the first ``depth`` items of each query, all of them if that is None. ``values``: of each labelled query
    by metric. ``digests``: of its labels. ``mean`` and ``best``: by metric, now and ever since the golden set changed.
    ``is_whole``: whether a file has as many queries as its header says.
    """

    name: str
    depth: int | None
    lists: Mapping[str, Sequence[str]]
    values: Mapping[str, Mapping[str, float]]
    digests: Mapping[str, str]
    mean: Mapping[str, float]
    best: Mapping[str, float] = field(default_factory=dict)
    ids_are_stable: bool = False
    is_whole: bool = True

    @property
    def text(self) -> str:
        """The content of the file: sorted by query, values before ids, and nothing that changes with time."""
        best = {**self.best, **{name: max(mean, self.best.get(name, mean)) for name, mean in self.mean.items()}}
        header: dict[str, Any] = {BASELINE: 1, "queries": len(self.lists), "mean": self.mean, "best": best}
        header |= {"depth": self.depth} | ({"ids_are_stable": True} if self.ids_are_stable else {})
        rows = [
            {"query": query, **self.values.get(query, {}), "ranked": [*self.lists[query]], "labels": digest}
            for query, digest in sorted(self.digests.items())
        ]
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in [header, *rows])


def rounded(values: Mapping[str, float]) -> dict[str, float]:
    """Return values as the file has them."""
    return {name: round(value, _DECIMALS) + 0.0 for name, value in values.items()}


def digest_of(grades: Mapping[str, float] | None) -> str:
    """Return the digest of the labels of a query, None for one without an answer: twelve hexadecimal digits."""
    return sha256(json.dumps(grades and sorted(grades.items())).encode()).hexdigest()[:12]


def read_baseline(path: str) -> Baseline:
    """Return the baseline in a file (InputError for any other file, with the line)."""
    name, rows = shown_name(path), []
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").removesuffix("\n").split("\n")  # U+2028 ends no line
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", where=name, advice="give the baseline") from None
    for number, line in enumerate(lines, 1):
        try:
            rows.append(_row(json.loads(line), number == 1))
        except (ValueError, TypeError, KeyError, AttributeError):
            what = f"is not a line of a baseline: {shown(line)}"
            raise InputError(what, where=f"{name}:{number}", advice=_ANEW) from None
    header, *queries = rows
    n = Counter(row["query"] for row in queries)
    if len(n) < len(queries):
        raise InputError(f"has query {shown(n.most_common(1)[0][0])} twice", where=name, advice=_ANEW)
    return Baseline(
        name,
        header["depth"],
        {row["query"]: row["ranked"] for row in queries},
        {row["query"]: row["values"] for row in queries},
        {row["query"]: row["labels"] for row in queries},
        header["mean"],
        header["best"],
        header.get("ids_are_stable", False),
        header["queries"] == len(queries),
    )


def _row(row: dict[str, Any], is_header: bool) -> dict[str, Any]:
    """Return a checked line of the file (ValueError, TypeError or KeyError for any other)."""
    if is_header:
        if row[BASELINE] != 1 or not {"queries", "mean", "best", "depth"} <= row.keys():
            raise ValueError
        return row
    query, ranked, labels = row.pop("query"), row.pop("ranked"), row.pop("labels")
    if not all(isinstance(one, str) for one in (query, labels, *ranked)):
        raise ValueError
    return {"query": query, "ranked": ranked, "labels": labels, "values": {key: float(of) for key, of in row.items()}}


def is_mean(values: Sequence[float], mean: float) -> bool:
    """Return whether a number is the mean of rounded values, as far as rounding allows."""
    return not values or abs(fsum(values) / len(values) - mean) <= _ROUNDED
