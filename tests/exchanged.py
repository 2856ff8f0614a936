"""The other database of an export, what two databases show, and exports that were changed."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import ndcg_tracker as nt
from ndcg_tracker.storage.views import VIEWS

CHANGING = {
    "run_id",
    "decision_id",
    "label_set_version",
    "created_at_utc",
    "created_at",
    "updated_at_utc",
    "updated_at",
    "since_utc",
    "since",
    "until_utc",
    "until",
}


@pytest.fixture(params=["sqlite", "postgres"])
def other(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[nt.Tracker]:
    """A second database of either engine."""
    if request.param == "sqlite":
        with nt.Tracker(f"sqlite:///{tmp_path / 'other.db'}") as tracker:
            yield tracker
        return
    server = request.getfixturevalue("postgres_server")
    server.create_database("other", request.getfixturevalue("postgres_template"))
    with nt.Tracker(server.url("other")) as tracker:
        yield tracker
    server.drop_database("other")


def shown(tracker: nt.Tracker, leave_out: set[str] = CHANGING) -> dict[str, list[tuple[object, ...]]]:
    """Return the rows of every view without ids and times, which differ between databases."""
    found = {}
    for view, columns in VIEWS.items():
        names = ", ".join(name for name in columns if name not in leave_out)
        rows = tracker.query(f"SELECT {names} FROM {view}").rows
        found[view] = sorted(rows, key=repr)
    return found


def with_column(name: str, change: Callable[[pa.Array], pa.Array]) -> Callable[[pa.Table], pa.Table]:
    def changed(table: pa.Table) -> pa.Table:
        place = table.column_names.index(name)
        return table.set_column(place, name, change(table[name].combine_chunks()))

    return changed


def first_value(value: object) -> Callable[[pa.Array], pa.Array]:
    return lambda array: pa.array([value, *array.to_pylist()[1:]], array.type)
