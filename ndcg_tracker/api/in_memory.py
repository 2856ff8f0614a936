"""Runs that are not stored: a store in memory holds them and answers the same questions; and ``nt.compare``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypedDict, Unpack

from ndcg_tracker.api.reading import GivenLabels, Ingest
from ndcg_tracker.api.storing import store_run_of
from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.asked import DEFAULT_METRIC, Judge, MetricTexts, asks
from ndcg_tracker.compare import options
from ndcg_tracker.compare.options import CompareOptions
from ndcg_tracker.errors import InputError, NdcgTrackerWarning, warn

if TYPE_CHECKING:
    from ndcg_tracker.compare.gather import ComparisonResult
    from ndcg_tracker.storage.store import Store


class UnstoredKeywords(TypedDict, total=False):
    """How people give the options of a comparison that need no stored run."""

    metrics: MetricTexts
    judge: Judge
    missing: options.MissingGroups
    test: options.Test
    ci: options.Ci
    equivalence: options.Equivalence
    ids_are_stable: options.IdsAreStable
    cluster: options.ClusterBy
    by: options.BySlices
    tie_bounds: options.TieBounds
    top: options.Top


OF_STORED = ("dataset", "check_with", "fresh")
"""Options of a comparison that only stored runs have."""


class MemoryTracker(Tracker):
    """A tracker whose runs are in memory alone, and gone with it."""

    def __init__(self) -> None:
        from ndcg_tracker.storage.database_url import MEMORY
        from ndcg_tracker.storage.store import Store

        super().__init__(MEMORY)
        self._in_memory = Store.in_memory()

    def store(self, *, create: bool = False, dataset: str | None = None) -> Store:
        """Return the store in memory, of which there is only one."""
        return self._in_memory


def names_of(runs: Sequence[object], others: Sequence[str] = ()) -> list[str]:
    """Return the names of runs: of a file without its ending, or its path where two would be the same.

    ``others``: the names of those that are no files.

    >>> names_of(["old/bm25.run", "bm25.run", "dense.run"])
    ['old/bm25.run', 'bm25.run', 'dense']
    """
    from ndcg_tracker.ingest.detection import default_run_name
    from ndcg_tracker.ingest.reading import path_of

    paths, left = [path_of(run) for run in runs], iter(others)
    names = [next(left) if path is None else default_run_name(path) for path in paths]
    return [path if path and names.count(name) > 1 else name for name, path in zip(names, paths, strict=True)]


def tracker_of(
    runs: Mapping[str, object], labels: object, what: Ingest, *, needs_labels: bool = True
) -> tuple[Tracker, list[tuple[str, str]]]:
    """Return a tracker in memory that has these runs alone, and each run's name with the notes on it.

    ``what``: how to read them, and the metrics. Raises: the errors of ``Tracker.ingest``.
    """
    from ndcg_tracker.runs.labels import NO_LABELS

    tracker, notes = MemoryTracker(), []
    given = what.labels_given(labels, what.only_judge, next(iter(runs.values())))
    if not needs_labels:
        given, what = GivenLabels(lists=NO_LABELS), replace(what, allow="no-overlap")
    for name, run in runs.items():
        stored = store_run_of(tracker, replace(what, name=name), run, given)
        notes += [(name, note) for note in stored.notes if needs_labels]
    return tracker, notes


@asks(CompareOptions, but=OF_STORED)
def compare(
    baseline: object,
    *candidates: object,
    labels: object = None,
    names: Sequence[str] | None = None,
    read: str | None = None,
    **keywords: Unpack[UnstoredKeywords],
) -> ComparisonResult:
    """Compare rankings that are not stored, as ``Tracker.compare`` does for stored runs; nothing is written.

    Parameters: ``baseline``, ``candidates``: what ``evaluate`` takes: paths of files, tables, dicts, lists of objects.
    ``labels``: see ``evaluate``; None if each run has its own. ``names``: one for each run; by default the names of
    the files, "baseline" and "candidate". ``read``: how to read them, as the command's ``--read`` says it, such as
    ``"group=qid item=doc"``. ``metrics``: by default ndcg@10. The others: see ``Tracker.compare``. Returns: the
    result, with ``to_dict``, ``to_frame``, ``to_html`` and ``plot``; ``str`` gives a report. Raises: the errors of
    ``Tracker.ingest`` and ``Tracker.compare``.

    >>> import ndcg_tracker as nt
    >>> old, new = {"q1": {"a": 0.9, "b": 0.2}}, {"q1": {"a": 0.9, "b": 1.0}}
    >>> found = nt.compare(old, new, labels={"q1": {"b": 1}}, metrics="P@1").to_dict()["metrics"][0]
    >>> found["baseline"], found["candidate"], found["wins"]
    (0.0, 1.0, 1)
    """
    runs = [baseline, *candidates]
    if names is not None and len(names) != len(runs):
        raise InputError(f"there are {len(runs)} runs but {len(names)} names", advice="give one per run")
    further = [f"candidate {number}" for number in range(2, len(candidates) + 1)]
    named = names_of(runs, ["baseline", "candidate", *further]) if names is None else names
    what = Ingest(metrics=keywords.get("metrics", DEFAULT_METRIC), judge=keywords.get("judge"))
    tracker, notes = tracker_of(dict(zip(named, runs, strict=True)), labels, what)
    for name, note in notes:
        warn(NdcgTrackerWarning(note, where=name))
    return tracker.compare(named[0], *named[1:], **keywords)
