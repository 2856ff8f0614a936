"""Sums over the groups of a run, as files: written where the rows are, read where only the sums are to be stored."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NoReturn

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.ingest.source import Source
from ndcg_tracker.rankings.keys import joined_digest
from ndcg_tracker.statistics.summary import PairedSums, SliceSummary, Summary
from ndcg_tracker.words.quoting import shown

_HEX = frozenset("0123456789abcdef")
_CLOSE = 1e-6  # sums of sums agree up to rounding


def write_summaries(summaries: Iterable[SliceSummary], path: str | Path) -> int:
    """Write sums as JSON lines, one per metric and slice, and return how many bytes these are."""
    lines = [json.dumps(_line(one), ensure_ascii=False, allow_nan=False) for one in summaries]
    if not lines:
        raise InputError("there are no sums to write", advice="give what summarize returned")
    return Path(path).write_bytes("".join(f"{line}\n" for line in lines).encode())


def _line(one: SliceSummary) -> dict[str, Any]:
    return {**asdict(one), "paired": None if one.paired is None else one.paired.to_dict()}


def read_summaries(path: str) -> list[SliceSummary]:
    """Return the sums that ``write_summaries`` wrote to a file, checked. Raises: InputError, naming the line."""
    found: list[SliceSummary] = []
    with Source(path) as source:
        for number, line in source.lines():
            if not line.strip():
                continue

            def refused(why: str, number: int = number) -> NoReturn:
                raise source.error(f"these are no sums ({why})", number, advice="write the file with write_summaries")

            try:
                one = _summary(json.loads(line, parse_constant=refused))
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                refused(f"{error!r}")
            except RecursionError:
                refused("JSON nested too deeply")
            wrong = _wrong(one)
            if wrong is not None:
                refused(wrong)
            found.append(one)
        if not found:
            raise source.error("is empty", advice="give a file that has sums")
        wrong = _wrong_together(found)
        if wrong is not None:
            raise source.error(wrong, advice="write all that summarize returned to one file")
    return found


def _summary(given: dict[str, Any]) -> SliceSummary:
    texts = {name: given[name] for name in ("labels", "attribute", "slice", "cluster")}
    if not isinstance(given["metric"], str) or any(
        one is not None and not isinstance(one, str) for one in texts.values()
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


def _wrong(one: SliceSummary) -> str | None:
    """Return what cannot be in a line, None for nothing."""
    paired = one.paired
    clusters = {} if paired is None else paired.clusters or {}
    every = [one.values, *([] if paired is None else [paired.differences]), *clusters.values()]
    for sums in every:
        if not all(map(math.isfinite, (sums.mean, sums.m2, sums.m3))) or sums.m2 < 0:
            return "a number is not finite, or m2 is below 0"
        if min(sums.n, sums.wins, sums.losses) < 0 or sums.n_nonzero > sums.n:
            return "the counts contradict each other"
    if one.labels is not None and (len(one.labels) != 32 or not _HEX.issuperset(one.labels)):
        return f"labels {shown(one.labels)} is no digest"
    if paired is None:
        return None
    counts = (one.n_undefined, paired.only_in_baseline, paired.only_in_candidate, paired.undefined)
    if min(counts) < 0 or not math.isfinite(paired.baseline_mean):
        return "a count is below 0, or the mean of the baseline is not finite"
    if (paired.clusters is None) != (one.cluster is None):
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


def _wrong_together(found: Sequence[SliceSummary]) -> str | None:
    """Return what is wrong with the lines of a file together: each metric has its whole, and all of the same kind."""
    keys = [(one.metric, one.attribute, one.slice) for one in found]
    if len({*keys}) < len(keys):
        return "the same metric and slice is there twice"
    for metric in dict.fromkeys(one.metric for one in found):
        own = [one for one in found if one.metric == metric]
        whole = [one for one in own if one.attribute is None]
        if not whole:
            return f"{metric} has slices, and no sums of all groups"
        if len(own) > 1 and sum(one.values.n for one in own if one is not whole[0]) != whole[0].values.n:
            return f"the slices of {metric} are not all of its groups"
    kinds = {_kind(one) for one in found}
    return (
        "labels, baseline, slices or clusters differ between metrics"
        if len(kinds) > 1 or len({one.attribute for one in found} - {None}) > 1
        else None
    )


def _kind(one: SliceSummary) -> tuple[object, ...]:
    return one.labels, one.paired is None, one.cluster


def merged_summaries(parts: Sequence[Sequence[SliceSummary]], *, disjoint_clusters: bool = False) -> list[SliceSummary]:
    """Return the sums of disjoint sets of groups, such as those of several days, as the sums of all of them.

    ``parts``: what ``summarize`` returned, or ``read_summaries``, for each. ``disjoint_clusters``: the promise that no
    cluster has groups in two parts, which sums cannot show. Raises: InputError where parts are of other metrics, slices
    or clusters, where one has the digest of its labels and another has none, and where two have the same: then the
    same groups would count twice.

    >>> import numpy as np
    >>> days = [[SliceSummary("ndcg@10", Summary.of(np.array(values)))] for values in ([0.5], [0.25, 0.75])]
    >>> merged_summaries(days)[0].values.n
    3
    """
    if len(parts) == 1:
        return list(parts[0])
    first = parts[0]
    for number, part in enumerate(parts[1:], 2):
        for what, of in (
            ("metrics", lambda one: one.metric),
            ("slices", lambda one: one.attribute),
            ("clusters", lambda one: one.cluster),
            ("a baseline", lambda one: one.paired is not None),
            ("the digest of labels", lambda one: one.labels is not None),
        ):
            here, there = ({of(one) for one in side} for side in (first, part))
            if here != there:
                raise _not_alike(what, here, there, number)
    digests = [part[0].labels for part in parts]
    if digests[0] is not None and len({*digests}) < len(digests):
        twice = next(digest for digest in digests if digests.count(digest) > 1)
        raise InputError(
            f"two parts are of the same labels (digest {str(twice)[:12]}): their groups would count twice",
            advice="leave one out",
        )
    if first[0].cluster is not None and not disjoint_clusters:
        raise InputError(
            f"a {first[0].cluster} with groups in several parts would count as several clusters",
            advice=(
                f"summarize all rows at once; or, where none has, promise it with {argument('disjoint_clusters', True)}"
            ),
        )
    labels = None if digests[0] is None else joined_digest(str(digest) for digest in digests)
    found: dict[tuple[object, ...], list[SliceSummary]] = {}
    for part in parts:
        for one in part:
            found.setdefault((one.metric, one.attribute, one.slice), []).append(one)
    return [_together(own, labels) for own in found.values()]


def _together(own: Sequence[SliceSummary], labels: str | None) -> SliceSummary:
    paired = [one.paired for one in own if one.paired is not None]
    return replace(
        own[0],
        values=Summary.merged(one.values for one in own),
        n_undefined=sum(one.n_undefined for one in own),
        labels=labels,
        paired=PairedSums.merged(paired) if paired else None,
    )


def _not_alike(what: str, here: set[Any], there: set[Any], number: int) -> InputError:
    sides = [", ".join(sorted(shown(one) for one in side if isinstance(one, str))) for side in (here, there)]
    if here <= {True, False}:
        sides = ["there" if True in side else "" for side in (here, there)]
    first, other = (side or "none" for side in sides)
    return InputError(
        f"parts 1 and {number} differ in {what}: {first}, and {other}", advice="merge sums of one kind alone"
    )
