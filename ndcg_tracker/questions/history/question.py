"""Which runs a history shows, and under which labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, time
from typing import TYPE_CHECKING, Annotated

from ndcg_tracker.asked import Everyday, OnlyTagged, Option, Tags
from ndcg_tracker.compare.options import LabelView, Version, ViewKeywords, labels_version
from ndcg_tracker.errors import InputError

if TYPE_CHECKING:
    from ndcg_tracker.storage.records import RunRecord

Branch = Annotated[str | None, Option("Only runs with the tag branch=NAME.", metavar="NAME")]
Commit = Annotated[str, Option("Only runs whose git commit has this prefix.", metavar="PREFIX")]
Since = Annotated[str | None, Option("Only runs stored at this time or later: ISO 8601, in UTC.", metavar="DATE")]
Until = Annotated[str | None, Option("Only runs stored until this time; a date includes that day.", metavar="DATE")]
Last = Annotated[int | None, Everyday("Only the latest N runs.", metavar="N", least=1)]
ShownLabels = Annotated[
    Version,
    Option(
        "Version of the labels: a number, or newest.",
        metavar="VERSION",
        default="the latest that each run has",
        typed=str | None,
        read=labels_version,
    ),
]


@dataclass(frozen=True, kw_only=True)
class HistoryFilter(LabelView):
    """Which runs a history shows, and under which labels; an empty filter takes all.

    ``tags``: tags with values that a run must all have; ``branch``: the tag of this name. ``commit``: how its git
    commit begins. ``since`` and ``until``: ISO 8601 dates or times between which it was stored, both included, in UTC
    unless they name a zone. ``last``: only so many of the latest among these. ``labels``: a version, or "newest", whose
    means are shown; ``judge``: whose labels, by default those that count. Raises: InputError for anything else.

    >>> HistoryFilter(since="2025-02-30")
    Traceback (most recent call last):
    ndcg_tracker.errors.InputError: since '2025-02-30' is not a date; write 2025-01-31 or 2025-01-31T09:30, in UTC
    """

    tags: Tags = field(default_factory=dict)
    branch: Branch = None
    commit: Commit = ""
    since: Since = None
    until: Until = None
    last: Last = None
    labels: ShownLabels = None

    def __post_init__(self) -> None:
        """Refuse times and numbers that leave no run (InputError)."""
        LabelView.__post_init__(self)
        if self.branch is not None:
            object.__setattr__(self, "tags", {**self.tags, "branch": self.branch})
        first, end = self._times()
        if first > end:
            raise InputError(f"since {self.since!r} is later than until {self.until!r}", advice="swap them")
        if self.last is not None and self.last < 1:
            raise InputError(f"last {self.last} leaves no run", advice="write 1 or more")

    @property
    def words(self) -> str:
        """The filter in words, "" for an empty one.

        >>> HistoryFilter(tags={"branch": "main"}, last=20).words
        'tag branch=main, last 20'
        """
        texts = [f"tag {key}={value}" for key, value in self.tags.items()]
        named = {"commit": self.commit or None, "since": self.since, "until": self.until, "last": self.last}
        named |= {"labels": self.labels, "judge": self.judge}
        return ", ".join([*texts, *(f"{name} {value}" for name, value in named.items() if value is not None)])

    def chosen(self, runs: Sequence[RunRecord]) -> list[RunRecord]:
        """Return the runs that the filter takes, in their order, before it counts the latest."""
        first, end = self._times()
        return [
            run
            for run in runs
            if run.has_tags(self.tags)
            and (run.git_commit or "").lower().startswith(self.commit.lower())
            and first <= _time("created_at_utc", run.created_at_utc) <= end
        ]

    def _times(self) -> tuple[datetime, datetime]:
        first = _time("since", datetime.min.isoformat() if self.since is None else self.since)
        end = datetime.max.isoformat() if self.until is None else self.until
        return first, _time("until", end, to_the_end=True)


def _time(name: str, text: str, *, to_the_end: bool = False) -> datetime:
    """Return the time that a text names; for a date, its first moment or its last."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise InputError(
            f"{name} {text!r} is not a date", advice="write 2025-01-31 or 2025-01-31T09:30, in UTC"
        ) from None
    if to_the_end and len(text.strip()) <= len("2025-01-31"):
        moment = datetime.combine(moment.date(), time.max)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


class HistoryKeywords(ViewKeywords, total=False):
    """How people give ``HistoryFilter`` (generated)."""

    tags: OnlyTagged
    branch: Branch
    commit: Commit
    since: Since
    until: Until
    last: Last
