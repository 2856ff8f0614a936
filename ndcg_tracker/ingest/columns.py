"""Which column of a table holds what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ndcg_tracker.ingest.places import shown

Refused = Callable[[str], Exception]

IDS = ("group", "item")
NUMBERS = ("score", "label", "weight")


@dataclass(frozen=True, slots=True)
class Wanted:
    """The roles that a reader looks for in a table, and those it cannot do without."""

    roles: tuple[str, ...]
    required: tuple[str, ...]


RUN_TABLE = Wanted(("group", "item", "score", "label", "weight"), ("group", "score"))
LABEL_TABLE = Wanted(("group", "item", "label"), ("group", "label"))


@dataclass(frozen=True, slots=True)
class Columns:
    """The names of the columns of a table; None is the default name, which is the role's own.

    A default column that is absent is fine for ``item`` (items are then known by the row's number within its group,
    from 1), ``label`` and ``weight``. A column that was named here must be there. ``header``: the names of all columns
    of a delimited file, in order, where its first line is a row; None where that line names them.

    >>> Columns(group="qid").name_of("group"), Columns().name_of("item")
    ('qid', 'item')
    """

    group: str | None = None
    item: str | None = None
    score: str | None = None
    label: str | None = None
    weight: str | None = None
    header: tuple[str, ...] | None = None

    def name_of(self, role: str) -> str:
        """Return the name of the column that plays this role."""
        return self.given(role) or role

    def given(self, role: str) -> str | None:
        """Return the name that was given for this role, None where the default holds."""
        name: str | None = getattr(self, role)
        return name

    def any_given(self) -> str | None:
        """Return the first role that was given a name, None if none was."""
        return next((role for role in IDS + NUMBERS if self.given(role)), None)

    def positions(self, header: Sequence[str], wanted: Wanted, refused: Refused) -> dict[str, int]:
        """Return the place in ``header`` of each wanted role that is there.

        Raises: what ``refused`` makes of an absent column that is required or was named, and of one that stands
        twice; the message lists the columns there are.
        """
        found: dict[str, int] = {}
        for role in wanted.roles:
            name = self.name_of(role)
            count = header.count(name)
            if count > 1:
                raise refused(f"column {shown(name)} stands {count} times; rename all but one")
            if count:
                found[role] = header.index(name)
            elif self.given(role) is not None or role in wanted.required:
                raise refused(absent_column(name, role, header))
        return found


DEFAULT_COLUMNS = Columns()


def absent_column(name: str, role: str, header: Iterable[str]) -> str:
    """Return the message for a column that is not there, with the columns that are."""
    names = [shown(there) for there in header]
    listed = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    return f"no column {shown(name)}; the columns are {listed or 'none'}: name the {role} column with --{role}"
