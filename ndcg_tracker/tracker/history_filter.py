"""Which runs of a history are asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, time
from typing import TYPE_CHECKING

from ndcg_tracker.errors import InputError

if TYPE_CHECKING:
    from ndcg_tracker.storage.records import RunRecord


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """What a run must be to stand in a history; an empty filter takes all.

    ``tags``: all of them, with these values (``branch`` is a tag as well). ``commit``: how its git commit begins.
    ``since`` and ``until``: ISO 8601 dates or times between which it was stored, both included, UTC unless they say
    otherwise. ``last``: only so many of the newest among these. Raises: InputError for anything else.

    >>> HistoryFilter(since="2025-02-30")
    Traceback (most recent call last):
    ndcg_tracker.errors.InputError: since '2025-02-30' is no date; write 2025-01-31 or 2025-01-31T09:30, in UTC
    """

    tags: Mapping[str, str] = field(default_factory=dict)
    commit: str = ""
    since: str | None = None
    until: str | None = None
    last: int | None = None

    def __post_init__(self) -> None:
        first, end = self._times()
        if first is not None and end is not None and first > end:
            raise InputError(f"since {self.since!r} is later than until {self.until!r}; exchange them")
        if self.last is not None and self.last < 1:
            raise InputError(f"last {self.last} leaves no run; write 1 or more")

    @property
    def words(self) -> str:
        """The filter as one writes it, "" for an empty one.

        >>> HistoryFilter(tags={"branch": "main"}, last=20).words
        'tag branch=main, last 20'
        """
        texts = [f"tag {key}={value}" for key, value in self.tags.items()]
        named = {"commit": self.commit or None, "since": self.since, "until": self.until, "last": self.last}
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
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        raise InputError(f"{name} {text!r} is no date; write 2025-01-31 or 2025-01-31T09:30, in UTC") from None
    if to_the_end and len(text.strip()) <= len("2025-01-31"):
        found = datetime.combine(found.date(), time.max)
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
