"""How did a metric go from run to run, and where did it step?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from datetime import UTC, datetime, time
from typing import TYPE_CHECKING, Annotated

from ndcg_tracker.asked import DEFAULT_DATASET, DEFAULT_METRIC, Dataset, Judge, MetricText, OnlyTagged, Option
from ndcg_tracker.compare.options import Version, labels_version
from ndcg_tracker.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from ndcg_tracker.questions.history.gather import History, HistoryResult
    from ndcg_tracker.storage.records import RunRecord
    from ndcg_tracker.storage.store import HasStore


Branch = Annotated[str | None, Option("Only runs with the tag branch=NAME.", metavar="NAME")]
Commit = Annotated[str, Option("Only runs whose git commit has this prefix.", metavar="PREFIX")]
Since = Annotated[str | None, Option("Only runs stored at this time or later: ISO 8601, in UTC.", metavar="DATE")]
Until = Annotated[str | None, Option("Only runs stored until this time; a date includes that day.", metavar="DATE")]
Last = Annotated[int | None, Option("Only the newest N.", metavar="N", least=1)]
ShownLabels = Annotated[
    Version,
    Option(
        "Labels: a version, or newest.",
        metavar="VERSION",
        default="the newest that each run has",
        typed=str | None,
        read=labels_version,
    ),
]
NewSteps = Annotated[bool, Option("Show only the steps that the newest run brings to light.")]


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """Which runs a history shows, and under which labels; an empty filter takes all.

    ``tags``: all of them, with these values; ``branch``: the tag of this name. ``commit``: how its git commit begins.
    ``since`` and ``until``: ISO 8601 dates or times between which it was stored, both included, UTC unless they say
    otherwise. ``last``: only so many of the newest among these. ``labels``: a version, or "newest", whose means are
    shown; ``judge``: whose labels, by default those that count. Raises: InputError for anything else.

    >>> HistoryFilter(since="2025-02-30")
    Traceback (most recent call last):
    ndcg_tracker.errors.InputError: since '2025-02-30' is not a date; write 2025-01-31 or 2025-01-31T09:30, in UTC
    """

    tags: Mapping[str, str] = field(default_factory=dict)
    commit: str = ""
    since: str | None = None
    until: str | None = None
    last: int | None = None
    branch: InitVar[str | None] = None
    labels: Version = None
    judge: str | None = None

    def __post_init__(self, branch: str | None) -> None:
        if branch is not None:
            object.__setattr__(self, "tags", {**self.tags, "branch": branch})
        first, end = self._times()
        if first is not None and end is not None and first > end:
            raise InputError(f"since {self.since!r} is later than until {self.until!r}", advice="swap them")
        if self.last is not None and self.last < 1:
            raise InputError(f"last {self.last} leaves no run", advice="write 1 or more")

    @property
    def words(self) -> str:
        """The filter as one writes it, "" for an empty one.

        >>> HistoryFilter(tags={"branch": "main"}, last=20).words
        'tag branch=main, last 20'
        """
        texts = [f"tag {key}={value}" for key, value in self.tags.items()]
        named = {"commit": self.commit or None, "since": self.since, "until": self.until, "last": self.last}
        named |= {"labels": self.labels, "judge": self.judge}
        return ", ".join([*texts, *(f"{name} {value}" for name, value in named.items() if value is not None)])

    def chosen(self, runs: Sequence[RunRecord]) -> list[RunRecord]:
        """Return the runs that the filter takes, in their order."""
        first, end = self._times()
        kept = [run for run in runs if self._takes(run, first, end)]
        return kept if self.last is None else kept[-self.last :]

    def _takes(self, run: RunRecord, first: datetime | None, end: datetime | None) -> bool:
        if any(key not in run.tags or str(run.tags[key]) != value for key, value in self.tags.items()):
            return False
        if not (run.git_commit or "").lower().startswith(self.commit.lower()):
            return False
        if first is None and end is None:
            return True
        stored = _time("created_at_utc", run.created_at_utc)
        return (first is None or first <= stored) and (end is None or stored <= end)

    def _times(self) -> tuple[datetime | None, datetime | None]:
        first = None if self.since is None else _time("since", self.since)
        end = None if self.until is None else _time("until", self.until, to_the_end=True)
        return first, end


def _time(name: str, text: str, *, to_the_end: bool = False) -> datetime:
    """Return the time that a text names; of a date its first moment, or its last."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise InputError(
            f"{name} {text!r} is not a date", advice="write 2025-01-31 or 2025-01-31T09:30, in UTC"
        ) from None
    if to_the_end and len(text.strip()) <= len("2025-01-31"):
        moment = datetime.combine(moment.date(), time.max)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def history(
    self: HasStore,
    metric: MetricText = DEFAULT_METRIC,
    *,
    dataset: Dataset = DEFAULT_DATASET,
    tags: OnlyTagged = None,
    branch: Branch = None,
    commit: Commit = "",
    since: Since = None,
    until: Until = None,
    last: Last = None,
    new_steps: NewSteps = False,
    labels: ShownLabels = None,
    judge: Judge = None,
) -> pd.DataFrame:
    """Return a metric over the runs of a dataset, oldest first: one row per run, with its 95% interval.

    ``step`` is true at the first run after the mean stepped, ``delta`` the paired difference to the run before;
    ``drift_change`` is set at the last run of a slow drift, over the runs ``drift_between``.
    Parameters: ``tags``, ``branch`` (the tag of this name), ``commit`` (its beginning), ``since``, ``until`` (ISO
    8601, UTC) and ``last`` choose runs; steps are looked for among these. ``new_steps``: only the rows of steps
    that the newest of these runs has brought to light. ``labels``: a version of the labels, or "newest", by default the
    newest that each run has; ``judge``: whose labels (see ``compare``). Raises: InputError for a date that is none;
    ReferenceNotFoundError for an unknown dataset.
    """
    chosen = HistoryFilter(tags or {}, commit, since, until, last, branch, labels, judge)
    return history_report(self, metric, dataset=dataset, wanted=chosen, new_steps=new_steps).to_frame()


def history_report(
    self: HasStore,
    metric: str,
    *,
    dataset: str = DEFAULT_DATASET,
    wanted: HistoryFilter | None = None,
    new_steps: bool = False,
) -> HistoryResult:
    """Return the history as plain rows with its notes (see ``history``); with ``new_steps`` which steps are new."""
    from ndcg_tracker.questions.history.gather import HistoryResult, history_of, new_steps_of

    chosen = wanted or HistoryFilter()
    with self.store().read() as tx:
        of_dataset = history_of(tx, dataset, metric, chosen)

        def without_newest() -> History:
            return history_of(tx, dataset, metric, chosen, without_run_id=of_dataset.rows[-1]["run_id"])

        new = new_steps_of(of_dataset, without_newest) if new_steps else None
    return HistoryResult(of_dataset, new)


def history_of_suite(
    self: HasStore,
    name: str,
    metric: str = DEFAULT_METRIC,
    *,
    by_tag: str | None = None,
    wanted: HistoryFilter | None = None,
    new_steps: bool = False,
) -> HistoryResult:
    """Return the macro means of a suite's systems, the oldest first, with their steps.

    A system counts from the time when it has a run on every dataset; it is named as in ``suite``, by ``by_tag`` or
    by its runs' name. ``wanted``, ``new_steps``: see ``history_report``. Raises: ReferenceNotFoundError.
    """
    from ndcg_tracker.questions.history.gather import HistoryResult, new_steps_of
    from ndcg_tracker.questions.history.gather_suite import history_on_suite

    chosen = wanted or HistoryFilter()
    with self.store().read() as tx:
        of_suite = history_on_suite(tx, name, metric, chosen, by_tag)

        def without_newest() -> History:
            return history_on_suite(tx, name, metric, chosen, by_tag, without=of_suite.rows[-1]["run"])

        new = new_steps_of(of_suite, without_newest) if new_steps else None
    return HistoryResult(of_suite, new)
