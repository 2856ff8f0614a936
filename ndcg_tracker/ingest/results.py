"""Read results that another engine computed: a value for each group, or sums over the groups."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from math import isfinite, nan
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import numpy as np

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.ingest.cells import LinePlaces, RowPlaces, WrongValueError, number
from ndcg_tracker.ingest.columns import column_about
from ndcg_tracker.ingest.detection import detect_reader
from ndcg_tracker.ingest.formats.json_documents import json_value
from ndcg_tracker.ingest.formats.jsonl import json_record
from ndcg_tracker.ingest.records import (
    Records,
    Row,
    by_group,
    cell_id,
    frame_records,
    kind_of,
    place_of,
    records_in,
)
from ndcg_tracker.ingest.source import BOM, Progress, Source
from ndcg_tracker.ingest.table import no_row
from ndcg_tracker.rankings import Floats
from ndcg_tracker.rankings.keys import Keys, joined_digest
from ndcg_tracker.statistics.summary import PairedSums, SliceSummary, Summary
from ndcg_tracker.words.texts import shown

READERS = ("csv", "tsv", "json", "jsonl", "parquet", "trec_eval")
_HEAD = 1 << 16
_WHOLE = "all"  # trec_eval's name for the summary over the groups, and nuggetizer's for its last row
_UNNAMED = ""  # the header of an index column, as pandas writes it
_PRINTED = 1e-4  # how far the mean of printed digits may be from the printed mean


@dataclass(frozen=True, slots=True)
class ResultColumns:
    """The names of the columns of a table of results; None is the default.

    By default the groups are in ``group``, in ``group_key`` (as ``metrics sql`` names it), or in the column of a
    convention, such as ``qid``. The values are in ``value``, or in the only other column, as in a Series that pandas
    wrote. ``measure``: which of the measures to take if a file has several, in its column ``measure``.
    """

    group: str | None = None
    value: str | None = None
    measure: str | None = None


@dataclass(frozen=True, slots=True)
class ResultTable:
    """The values of some groups.

    ``group_keys``: n ids, none twice; ``values``: float64, shape (n,), NaN where the group has none.
    """

    group_keys: Keys
    values: Floats


def read_results(
    path: str,
    limits: tuple[float, float],
    *,
    reader: str | None = None,
    columns: ResultColumns | None = None,
    stdin: BinaryIO | None = None,
    progress: Progress | None = None,
) -> ResultTable:
    """Return the results that a file has.

    Parameters: ``path``, a file, compressed or not, or ``-`` for standard input. ``limits``: the range of all values.
    ``reader``: one of ``READERS``, None to detect it from the file's name and content; ``trec_eval`` is the output of
    ``trec_eval -q``. A last row of a group ``all`` whose value is the mean of the others does not count as a group.
    Raises: InputError, one line, ``FILE:LINE: what; what to do``.
    """
    columns = columns or ResultColumns()
    if reader is not None and reader not in READERS:
        raise InputError(f"no reader {shown(reader)} for results", advice=f"choose one of {' '.join(READERS)}")
    with Source(path, stdin=stdin, progress=progress) as source:
        head = source.head(_HEAD)
        if reader == "trec_eval" or (reader is None and _is_trec_eval(head)):
            return _trec_eval(source, limits, columns.measure)
        if reader == "json" or (reader is None and head and _is_json(path, head, columns)):
            return _of_records(_json_records(source), limits, columns)
        return _of_records(records_in(source, path, "results", reader=reader), limits, columns)


def result_frame(results: object, limits: tuple[float, float], columns: ResultColumns | None = None) -> ResultTable:
    """Return the results that a frame has, one row per group, or a dict or pandas Series of a value per group.

    >>> result_frame({"q1": 0.5, "q2": 1}, (0.0, 1.0)).values.tolist()
    [0.5, 1.0]
    """
    columns = columns or ResultColumns()
    table = by_group(results, "value")
    if table is not None:
        return _of_records(frame_records(table), limits, ResultColumns())
    return _of_records(frame_records(results), limits, columns)


def _of_records(records: Records, limits: tuple[float, float], columns: ResultColumns) -> ResultTable:
    header, refused = records.header, records.refused
    given = columns.group or ("group_key" if "group_key" in header and "group" not in header else None)
    group = column_about("group", given, header, refused)
    if group is None:
        group = _UNNAMED if len(header) == 2 and header[0] == _UNNAMED else "group"
    others = [name for name in header if name not in (group, "measure")]
    only = others[0] if "value" not in header and len(others) == 1 else "value"
    wanted = [place_of(header, group, "group", refused), place_of(header, columns.value or only, "value", refused)]
    if columns.measure is not None or "measure" in header:
        wanted.append(place_of(header, "measure", "measure", refused))
    return _table(records.rows(wanted), records.places, limits, columns.measure)


def _table(
    rows: Iterator[Row], places: LinePlaces | RowPlaces, limits: tuple[float, float], measure: str | None
) -> ResultTable:
    """Return the results of rows of a group, a value, and perhaps the measure."""
    first_row: dict[str, int] = {}
    values: list[float] = []
    measures: dict[str, None] = {}
    for row, cells in enumerate(rows):
        try:
            if len(cells) > 2:
                own = cell_id(cells[2], "measure")
                measures[own] = None
                if measure is not None and own != measure:
                    continue
            key = cell_id(cells[0], "group")
            value = _value(cells[1], limits)
        except WrongValueError as error:
            raise error.at(places.place(row)) from None
        if len(measures) > 1 and measure is None:
            named = " and ".join(shown(name) for name in measures)
            raise places.error(row, f"there are measures {named}", advice=f"choose one with {argument('measure')}")
        if first_row.setdefault(key, row) != row:
            first = places.mention(first_row[key])
            raise places.error(row, f"group {shown(key)} is in {first} already", advice="keep one of the two")
        values.append(value)
    if not first_row:
        if measures:
            choices = ", ".join(map(shown, measures))
            raise places.whole(f"there is no measure {shown(measure or '')}", advice=f"choose one of {choices}")
        raise no_row(places.whole)
    if _ends_with_the_mean(first_row, values):
        del first_row[_WHOLE], values[-1]
    return ResultTable(Keys.from_strings(first_row), np.array(values, dtype=np.float64))


def _ends_with_the_mean(groups: Iterable[str], values: Sequence[float]) -> bool:
    """Return whether the last row is the mean of all groups before it, as some tools write it."""
    before = [value for value in values[:-1] if not math.isnan(value)]
    if not before or [*groups][-1] != _WHOLE:
        return False
    return math.isclose(values[-1], math.fsum(before) / len(before), rel_tol=1e-9, abs_tol=_PRINTED)


def _value(cell: object, limits: tuple[float, float]) -> float:
    """Return the value that a cell holds, NaN for an empty one and null.

    Raises: WrongValueError for a value that is not a number or is outside the range.
    """
    if cell is None or cell == "":
        return nan
    if isinstance(cell, str):
        cell = number(cell.strip(" \t").encode(), "value")
    if isinstance(cell, bool) or not isinstance(cell, int | float | Decimal):
        raise WrongValueError(f"the value is {kind_of(cell)}", advice="write a number")
    try:
        value = float(cell)
    except OverflowError:
        value = np.inf
    if not isfinite(value):
        raise WrongValueError("the value is not finite", advice="where there is none, write null or nothing")
    if not limits[0] <= value <= limits[1]:
        raise WrongValueError(
            f"the value {value:g} is outside the range {limits[0]:g} to {limits[1]:g}",
            advice=f"give the range of all values with {argument('range')}",
        )
    return value


def _is_json(path: str, head: bytes, columns: ResultColumns) -> bool:
    """Return whether a file is one JSON value and not JSON lines, of which there may be only one."""
    name = detect_reader(path, head)
    if name != "jsonl" or b"\n" in head.strip():
        return name == "json"
    try:
        return (columns.value or "value") not in json_record(head.removeprefix(BOM))
    except (WrongValueError, UnicodeDecodeError):
        return False  # the reader of lines names the place


def _json_records(source: Source) -> Records:
    """Return the records of one JSON value: ``{group: value}``, ``{group: {measure: value}}`` or an array of rows."""
    try:
        document = json_value(source)
    except WrongValueError as error:
        raise error.at(source.name) from None
    except RecursionError:
        raise source.error("JSON nested too deeply", advice="check that this is the right file") from None
    rows: list[Any] = []
    if isinstance(document, list):
        rows = document
    elif isinstance(document, dict):
        if column_about("group", None, document, source.error) and all(
            isinstance(of, dict) for of in document.values()
        ):
            raise source.error("this is a table written by column", advice="write it with to_json(orient='records')")
        for group, value in document.items():
            by_measure = value.items() if isinstance(value, dict) else ()
            rows += [{"group": group, "measure": measure, "value": inner} for measure, inner in by_measure]
            rows += [] if isinstance(value, dict) else [{"group": group, "value": value}]
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise source.error(
            "this JSON has no value per group", advice="write {group: value}, {group: {measure: value}} or [{...}, ...]"
        )
    header = list(dict.fromkeys(name for row in rows for name in row))

    def cells(wanted: Sequence[int]) -> Iterator[Row]:
        return ([row.get(header[place]) for place in wanted] for row in rows)

    return Records(header, cells, RowPlaces(source.name), source.error)


def _is_trec_eval(head: bytes) -> bool:
    """Return whether a file begins like the output of trec_eval: a measure, a group (or all), and a value."""
    parts = head.partition(b"\n")[0].split()
    if len(parts) != 3 or b"," in head.partition(b"\n")[0]:
        return False
    return parts[1] == _WHOLE.encode() or parts[2][:1] in b"-.0123456789"


def _trec_eval(source: Source, limits: tuple[float, float], measure: str | None) -> ResultTable:
    """Return the results of the lines that ``trec_eval -q`` prints, except those over all groups."""
    lines: list[int] = []

    def rows() -> Iterator[Row]:
        for line, text in source.lines():
            parts = text.split()
            if not parts or (len(parts) > 1 and parts[1] == _WHOLE.encode()):
                continue
            if len(parts) != 3:
                raise source.error(f"{len(parts)} fields where trec_eval has 3", line, advice="correct the line")
            lines.append(line)
            yield [parts[1].decode(), parts[2].decode(), parts[0].decode()]

    return _table(rows(), LinePlaces(source.name, lines), limits, measure)


_HEX = frozenset("0123456789abcdef")
_CLOSE = 1e-6  # sums of sums agree up to rounding


def write_summaries(summaries: Iterable[SliceSummary], path: str | Path) -> int:
    """Write sums as JSON lines, one per metric and slice, and return the number of bytes written."""
    lines = [json.dumps(_line(summary), ensure_ascii=False, allow_nan=False) for summary in summaries]
    if not lines:
        raise InputError("there are no sums to write", advice="give what summarize returned")
    return Path(path).write_bytes("".join(f"{line}\n" for line in lines).encode())


def _line(summary: SliceSummary) -> dict[str, Any]:
    return {**asdict(summary), "paired": None if summary.paired is None else summary.paired.to_dict()}


def read_summaries(path: str) -> list[SliceSummary]:
    """Return the sums that ``write_summaries`` wrote to a file, checked. Raises: InputError, naming the line."""
    summaries: list[SliceSummary] = []
    with Source(path) as source:
        for number, line in source.lines():
            if not line.strip():
                continue

            def refused(why: str, number: int = number) -> NoReturn:
                raise source.error(
                    f"this line does not hold sums ({why})", number, advice="write the file with write_summaries"
                )

            try:
                summary = _summary(json.loads(line, parse_constant=refused))
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                refused(f"{error!r}")
            except RecursionError:
                refused("JSON nested too deeply")
            wrong = _wrong(summary)
            if wrong is not None:
                refused(wrong)
            summaries.append(summary)
        if not summaries:
            raise source.error("is empty", advice="give a file that has sums")
        wrong = _wrong_together(summaries)
        if wrong is not None:
            raise source.error(wrong, advice="write all that summarize returned to one file")
    return summaries


def _summary(given: dict[str, Any]) -> SliceSummary:
    texts = {name: given[name] for name in ("labels", "attribute", "slice", "cluster")}
    if not isinstance(given["metric"], str) or any(
        text is not None and not isinstance(text, str) for text in texts.values()
    ):
        raise TypeError("metric, labels, attribute, slice and cluster are text")
    paired = given["paired"]
    return SliceSummary(
        given["metric"],
        Summary.from_dict(given["values"]),
        int(given["n_undefined"]),
        paired=None if paired is None else PairedSums.from_dict(paired),
        **texts,
    )


def _wrong(summary: SliceSummary) -> str | None:
    """Return what is wrong with a line, None if nothing is."""
    paired = summary.paired
    clusters = {} if paired is None else paired.clusters or {}
    every = [summary.values, *([] if paired is None else [paired.differences]), *clusters.values()]
    for sums in every:
        if not all(map(math.isfinite, (sums.mean, sums.m2, sums.m3))) or sums.m2 < 0:
            return "a number is not finite, or m2 is below 0"
        if min(sums.n, sums.wins, sums.losses) < 0 or sums.n_nonzero > sums.n:
            return "the counts contradict each other"
    if summary.labels is not None and (len(summary.labels) != 32 or not _HEX.issuperset(summary.labels)):
        return f"labels {shown(summary.labels)} is not a digest"
    if paired is None:
        return None
    counts = (summary.n_undefined, paired.only_in_baseline, paired.only_in_candidate, paired.undefined)
    if min(counts) < 0 or not math.isfinite(paired.baseline_mean):
        return "a count is below 0, or the mean of the baseline is not finite"
    if (paired.clusters is None) != (summary.cluster is None):
        return "clusters have no attribute, or the attribute has no clusters"
    if paired.clusters is not None:
        n = sum(size * sums.n for size, sums in clusters.items())
        total = math.fsum(sums.n * sums.mean for sums in clusters.values())
        whole = paired.differences
        if (
            min(clusters, default=1) < 1
            or n != whole.n
            or not math.isclose(
                total, whole.n * whole.mean, rel_tol=_CLOSE, abs_tol=_CLOSE * max(1.0, math.sqrt(whole.n * whole.m2))
            )
        ):
            return "the clusters are not those of the groups"
    return None


def _wrong_together(summaries: Sequence[SliceSummary]) -> str | None:
    """Return what is wrong with the lines of a file together: each metric needs a total, and all are of one kind."""
    keys = [(summary.metric, summary.attribute, summary.slice) for summary in summaries]
    if len({*keys}) < len(keys):
        return "the same metric and slice is there twice"
    for metric in dict.fromkeys(summary.metric for summary in summaries):
        own = [summary for summary in summaries if summary.metric == metric]
        whole = [summary for summary in own if summary.attribute is None]
        if not whole:
            return f"{metric} has slices, but no sums of all groups"
        if len(own) > 1 and sum(summary.values.n for summary in own if summary is not whole[0]) != whole[0].values.n:
            return f"the slices of {metric} do not cover all of its groups"
    kinds = {_kind(summary) for summary in summaries}
    return (
        "labels, baseline, slices or clusters differ between metrics"
        if len(kinds) > 1 or len({summary.attribute for summary in summaries} - {None}) > 1
        else None
    )


def _kind(summary: SliceSummary) -> tuple[object, ...]:
    return summary.labels, summary.paired is None, summary.cluster


def merged_summaries(parts: Sequence[Sequence[SliceSummary]], *, disjoint_clusters: bool = False) -> list[SliceSummary]:
    """Return the sums of disjoint sets of groups, such as those of several days, as the sums of all of them.

    ``parts``: the results of ``summarize`` or ``read_summaries``. ``disjoint_clusters``: the promise that no cluster
    has groups in two parts, which sums cannot show. Raises: InputError if parts differ in metrics, slices or clusters,
    if only some have a digest of their labels, and if two have the same digest: then the same groups would count
    twice.

    >>> import numpy as np
    >>> days = [[SliceSummary("ndcg@10", Summary.of(np.array(values)))] for values in ([0.5], [0.25, 0.75])]
    >>> merged_summaries(days)[0].values.n
    3
    """
    if len(parts) == 1:
        return list(parts[0])
    first = parts[0]
    for position, part in enumerate(parts[1:], 2):
        for what, of in (
            ("metrics", lambda summary: summary.metric),
            ("slices", lambda summary: summary.attribute),
            ("clusters", lambda summary: summary.cluster),
            ("a baseline", lambda summary: summary.paired is not None),
            ("the digest of labels", lambda summary: summary.labels is not None),
        ):
            here, there = ({of(summary) for summary in side} for side in (first, part))
            if here != there:
                raise _not_alike(what, here, there, position)
    digests = [part[0].labels for part in parts]
    if digests[0] is not None and len({*digests}) < len(digests):
        twice = next(digest for digest in digests if digests.count(digest) > 1)
        raise InputError(
            f"two parts have the same labels (digest {str(twice)[:12]}), so their groups would count twice",
            advice="leave one out",
        )
    if first[0].cluster is not None and not disjoint_clusters:
        raise InputError(
            f"a {first[0].cluster} with groups in several parts would count as several clusters",
            advice=(
                "summarize all rows at once; or, if there are none, promise it with "
                f"{argument('disjoint_clusters', True)}"
            ),
        )
    labels = None if digests[0] is None else joined_digest(str(digest) for digest in digests)
    by_slice: dict[tuple[object, ...], list[SliceSummary]] = {}
    for part in parts:
        for summary in part:
            by_slice.setdefault((summary.metric, summary.attribute, summary.slice), []).append(summary)
    return [_together(own, labels) for own in by_slice.values()]


def _together(own: Sequence[SliceSummary], labels: str | None) -> SliceSummary:
    paired = [summary.paired for summary in own if summary.paired is not None]
    return replace(
        own[0],
        values=Summary.merged(summary.values for summary in own),
        n_undefined=sum(summary.n_undefined for summary in own),
        labels=labels,
        paired=PairedSums.merged(paired) if paired else None,
    )


def _not_alike(what: str, here: set[Any], there: set[Any], number: int) -> InputError:
    sides = [", ".join(sorted(shown(value) for value in side if isinstance(value, str))) for side in (here, there)]
    if here <= {True, False}:
        sides = ["there" if True in side else "" for side in (here, there)]
    first, other = (side or "none" for side in sides)
    return InputError(
        f"parts 1 and {number} differ in {what}: {first}, and {other}", advice="merge only sums of the same kind"
    )
