"""Sums over Arrow batches of values per group: what the executors add up, and how it comes together on the driver."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.integrations.batches import in_blocks
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.statistics.summary import PairedSums, SliceSummary, Summary

_COUNTS = ("n_undefined", "only_in_baseline", "only_in_candidate", "undefined")
_FIELDS = tuple(field.name for field in fields(Summary))
_KINDS = {name: "bigint" if name in ("n", "wins", "losses") else "double" for name in _FIELDS}
SUMS = {
    "metric": "string",
    "slice": "string",
    "baseline_mean": "double",
    **dict.fromkeys(_COUNTS, "bigint"),
    **{f"{of}_{name}": kind for of in ("values", "differences") for name, kind in _KINDS.items()},
}
"""The columns of ``summed`` with Spark's names of their types."""
OF_CLUSTERS = {"metric": "string", "slice": "string", "is_whole": "boolean", "n_groups": "bigint", **_KINDS}
"""The columns of ``summed_clusters``."""


class _Sums(NamedTuple):
    values: Summary
    n_undefined: int
    paired: PairedSums


def summed(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield one row per metric and slice: the sums of values and of differences, with the columns of ``SUMS``.

    ``batches``: Arrow record batches with the columns metric, slice, own, other (float64, null where undefined or
    absent) and has_own: whether the group is in the run at all.
    """
    found: dict[tuple[str, str | None], list[_Sums]] = {}
    for table in in_blocks(batches):
        own, other = (_numbers(table[name]) for name in ("own", "other"))
        has_own = np.asarray(table["has_own"].fill_null(False))
        for key, places in _places(table, ("metric", "slice")):
            here = found.setdefault(key, [])
            here.append(_sums(own[places], other[places], has_own[places]))
            if len(here) > 64:
                here[:] = [_merged(here)]
    rows = [{"metric": key[0], "slice": key[1], **_row(_merged(parts))} for key, parts in found.items()]
    yield from _batch(rows, SUMS)


def _sums(own: NDArray[Any], other: NDArray[Any], has_own: NDArray[Any]) -> _Sums:
    is_own, is_other = ~np.isnan(own), ~np.isnan(other)
    both = is_own & is_other
    paired = PairedSums(
        Summary.of(own[both] - other[both]),
        Summary.of(other[both]).mean,
        int((is_other & ~is_own).sum()),
        int((is_own & ~is_other).sum()),
        int((~is_own & ~is_other).sum()),
    )
    return _Sums(Summary.of(own[is_own]), int((has_own & ~is_own).sum()), paired)


def _merged(parts: Sequence[_Sums]) -> _Sums:
    return _Sums(
        Summary.merged(part.values for part in parts),
        sum(part.n_undefined for part in parts),
        PairedSums.merged(part.paired for part in parts),
    )


def _row(sums: _Sums) -> dict[str, Any]:
    paired = sums.paired
    return {
        "baseline_mean": paired.baseline_mean,
        "n_undefined": sums.n_undefined,
        **{name: getattr(paired, name) for name in _COUNTS[1:]},
        **{f"values_{name}": number for name, number in asdict(sums.values).items()},
        **{f"differences_{name}": number for name, number in asdict(paired.differences).items()},
    }


def summed_clusters(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield one row per metric, slice and size of clusters: the sums of the totals of these, as ``OF_CLUSTERS``.

    ``batches``: one row per cluster with the columns metric, slice, is_whole (whether it is that of all slices),
    n_groups and total, its groups and the sum of their differences.
    """
    found: dict[tuple[Any, ...], list[Summary]] = {}
    for table in in_blocks(batches):
        totals = _numbers(table["total"])
        for key, places in _places(table, ("metric", "slice", "is_whole", "n_groups")):
            found.setdefault(key, []).append(Summary.of(totals[places]))
    rows = [
        {"metric": metric, "slice": value, "is_whole": is_whole, "n_groups": size, **asdict(Summary.merged(parts))}
        for (metric, value, is_whole, size), parts in found.items()
    ]
    yield from _batch(rows, OF_CLUSTERS)


def together(
    sums: Any,
    clusters: Any | None,
    *,
    is_paired: bool,
    by: str | None = None,
    cluster: str | None = None,
    labels: str | None = None,
) -> list[SliceSummary]:
    """Return what the tables of all ``summed`` and ``summed_clusters`` say together: the whole run, and its slices."""
    parts: dict[tuple[str, bool, str | None], list[_Sums]] = {}
    for row in sums.to_pylist():
        values, differences = (Summary(*(row[f"{of}_{name}"] for name in _FIELDS)) for of in ("values", "differences"))
        paired = PairedSums(differences, row["baseline_mean"], *(row[name] for name in _COUNTS[1:]))
        one = _Sums(values, row["n_undefined"], paired)
        parts.setdefault((row["metric"], True, None), []).append(one)
        if by is not None:
            parts.setdefault((row["metric"], False, row["slice"]), []).append(one)
    sizes: dict[tuple[str, bool, str | None], dict[int, list[Summary]]] = {}
    for row in clusters.to_pylist() if clusters is not None else ():
        key = row["metric"], row["is_whole"], row["slice"]
        totals = Summary(*(row[name] for name in _FIELDS))
        sizes.setdefault(key, {}).setdefault(row["n_groups"], []).append(totals)
    texts = {metric: str(parse_metric(metric)) for metric, _, _ in parts}
    found = []
    for key, of_key in sorted(parts.items(), key=lambda part: (part[0][0], not part[0][1], part[0][2] or "")):
        whole = _merged(of_key)
        of_clusters = None
        if clusters is not None:
            of_clusters = {size: Summary.merged(some) for size, some in sorted(sizes.get(key, {}).items())}
        paired = whole.paired
        known = PairedSums(
            paired.differences,
            paired.baseline_mean,
            paired.only_in_baseline,
            paired.only_in_candidate,
            paired.undefined,
            of_clusters,
        )
        metric, is_whole, value = key
        facts = (labels, None if is_whole else by, value)
        found.append(
            SliceSummary(texts[metric], whole.values, whole.n_undefined, *facts, known if is_paired else None, cluster)
        )
    return found


def _numbers(column: Any) -> NDArray[np.float64]:
    return np.asarray(column.cast("float64").fill_null(np.nan), dtype=np.float64)


def _places(table: Any, names: Sequence[str]) -> Iterator[tuple[tuple[Any, ...], NDArray[np.int64]]]:
    """Yield each combination of values in some columns with the rows that have it."""
    codes = np.zeros(table.num_rows, dtype=np.int64)
    known: list[list[Any]] = []
    for name in names:
        column = table[name].combine_chunks().dictionary_encode(null_encoding="encode")
        known.append(column.dictionary.to_pylist())
        codes = codes * len(known[-1]) + np.asarray(column.indices, dtype=np.int64)
    order = np.argsort(codes, kind="stable")
    for places in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1):
        code, key = int(codes[places[0]]), []
        for values in known[::-1]:
            code, place = divmod(code, len(values))
            key.append(values[place])
        yield tuple(key[::-1]), places


def _batch(rows: list[dict[str, Any]], columns: dict[str, str]) -> Iterator[Any]:
    import pyarrow as pa

    kinds = {"string": pa.string(), "double": pa.float64(), "bigint": pa.int64(), "boolean": pa.bool_()}
    if rows:
        schema = pa.schema([(name, kinds[kind]) for name, kind in columns.items()])
        yield pa.RecordBatch.from_pylist(rows, schema=schema)
