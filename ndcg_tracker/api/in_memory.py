"""Runs that are not stored: a store in memory holds them and answers the same questions; and ``nt.compare``."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Unpack

from ndcg_tracker.api.reading import GivenLabels, Ingest, Reading, names_in_read, read_as
from ndcg_tracker.api.storing import store_run_of
from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.asked import DEFAULT_METRIC, Metrics, ReadAs, asks
from ndcg_tracker.compare.options import OF_STORED, CompareOptions, UnstoredKeywords
from ndcg_tracker.errors import InputError, NdcgTrackerError, NdcgTrackerWarning, argument, warn
from ndcg_tracker.questions.plan import FURTHER_METRICS
from ndcg_tracker.rules import refuse

if TYPE_CHECKING:
    from ndcg_tracker.compare.gather import ComparisonResult
    from ndcg_tracker.questions.plan.say import PlanResult
    from ndcg_tracker.storage.store import Store


class MemoryTracker(Tracker):
    """A tracker whose runs are in memory alone, and gone with it."""

    def __init__(self) -> None:
        from ndcg_tracker.storage.database_url import MEMORY

        super().__init__(MEMORY)

    def store(self, *, create: bool = False, dataset: str | None = None) -> Store:
        """Return the store in memory, which is new if this was closed."""
        from ndcg_tracker.storage.store import Store

        self._store = self._store or Store.in_memory()
        return self._store


def names_of(runs: Sequence[object], others: Sequence[str] = ()) -> list[str]:
    """Return the names of runs: of a file without its ending, or its path where two would be the same.

    ``others``: the names of those that are not files.

    >>> names_of(["old/bm25.run", "bm25.run", "dense.run"])
    ['old/bm25.run', 'bm25.run', 'dense']
    """
    from ndcg_tracker.ingest.detection import default_run_name
    from ndcg_tracker.ingest.reading import path_of

    paths, left = [path_of(run) for run in runs], iter(others)
    names = [next(left) if path is None else default_run_name(path) for path in paths]
    return [path if path and names.count(name) > 1 else name for name, path in zip(names, paths, strict=True)]


@contextmanager
def _said_as_read() -> Iterator[None]:
    """Let errors and warnings name the options of reading as parts of ``read``."""

    def spelled(name: str, value: str) -> str:
        return argument("read", f"{name}={value or 'NAME'}") if name in names_in_read() else argument(name, value)

    try:
        with warnings.catch_warnings(record=True) as caught:
            yield
    except NdcgTrackerError as error:
        raise error.respelled(spelled) from None
    for told in caught:
        if isinstance(told.message, NdcgTrackerWarning):
            warn(told.message.respelled(spelled))
        else:
            warnings.warn_explicit(told.message, told.category, told.filename, told.lineno)


@_said_as_read()
def tracker_of(
    runs: Mapping[str, object],
    labels: object,
    read: ReadAs,
    metrics: Metrics,
    judge: str | None,
    *,
    needs_labels: bool = True,
) -> tuple[Tracker, list[tuple[str, str]]]:
    """Return a tracker in memory that has these runs alone, and each run's name with the notes on it.

    ``needs_labels``: whether the question does. Raises: the errors of ``Tracker.ingest``.
    """
    from ndcg_tracker.runs.labels import NO_LABELS

    reading = Reading() if read is None else read_as(read)
    how = {one.name: getattr(reading, one.name) for one in fields(reading)}
    what = Ingest(**how, metrics=metrics or DEFAULT_METRIC, judge=judge)
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
    read: ReadAs = None,
    **keywords: Unpack[UnstoredKeywords],
) -> ComparisonResult:
    """Compare rankings that are not stored, as ``Tracker.compare`` does for stored runs; nothing is written.

    Parameters: ``baseline``, ``candidates``: what ``evaluate`` takes: paths of files, tables, dicts, lists of objects.
    ``labels``: see ``evaluate``; None if each run has its own. ``names``: one for each run; by default the names of
    the files, "baseline" and "candidate". ``read``: how to read them: options of ``evaluate``, as a mapping or as text
    such as ``"group=qid item=doc"``. ``metrics``: by default ndcg@10. The others: see ``Tracker.compare``. Returns: the
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
    of_runs = keywords.get("metrics", DEFAULT_METRIC), keywords.get("judge")
    tracker = _telling_tracker(dict(zip(named, runs, strict=True)), labels, read, *of_runs)
    return tracker.compare(named[0], *named[1:], **keywords)


def plan(
    baseline: object = None,
    candidate: object = None,
    *,
    labels: object = None,
    metric: str = DEFAULT_METRIC,
    margin: float = 0.05,
    queries: int | None = None,
    read: ReadAs = None,
    judge: str | None = None,
) -> PlanResult:
    """Return how many queries a promise needs: by rankings that are not stored, or by what is typical.

    Parameters: ``baseline``, ``candidate``, ``labels``, ``read``: as for ``compare``; without rankings, it goes by
    typical differences. The others, and what it raises: see ``Tracker.plan``. Returns: the result, with ``to_dict`` and
    ``to_frame``; ``str`` gives a report.

    >>> import ndcg_tracker as nt
    >>> print(str(nt.plan(metric="hit@5", queries=40)).partition(",")[0])
    about 230 queries to promise that hit@5 falls by less than 0.05
    """
    both = [one for one in (baseline, candidate) if one is not None]
    names, tracker = names_of(both, ["baseline", "candidate"]), Tracker()
    if len(both) == 2:
        asked = [metric, *FURTHER_METRICS]
        tracker = _telling_tracker(dict(zip(names, both, strict=True)), labels, read, asked, judge)
    elif labels is not None:
        refuse("plan", {"labels": labels})
    return tracker.plan(*names, metric=metric, margin=margin, queries=queries)


def _telling_tracker(*of: Any) -> Tracker:
    """Return a tracker in memory (see ``tracker_of``), and warn of what was noted."""
    tracker, notes = tracker_of(*of)
    for name, note in notes:
        warn(NdcgTrackerWarning(note, where=name))
    return tracker
