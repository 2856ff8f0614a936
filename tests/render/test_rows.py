"""Typed rows as plain values."""

from dataclasses import dataclass

from ndcg_tracker.render.formats import as_object, paths, picked
from ndcg_tracker.words.notes import Note


@dataclass(frozen=True)
class Inner:
    """Something inside of a row."""

    ci: tuple[float, float] | None
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class Outer:
    """A row."""

    name: str
    inner: Inner | None
    by_name: dict[str, Inner]


ROW = Outer("a", Inner((0.25, 0.5), (Note("same_run"),)), {"b": Inner(None)})


def test_dataclasses_become_dicts_and_notes_sentences() -> None:
    assert as_object([ROW]) == [
        {
            "name": "a",
            "inner": {"ci": [0.25, 0.5], "notes": ["candidate and baseline are the same run"]},
            "by_name": {"b": {"ci": None, "notes": []}},
        }
    ]


def test_cells_are_picked_from_dicts_and_from_rows_alike() -> None:
    columns = paths("name ci_low=inner.ci.0 other=by_name.b.ci.1")
    expected = {"name": "a", "ci_low": 0.25, "other": None}
    assert picked(columns, ROW) == picked(columns, as_object(ROW)) == expected
    assert picked(columns, Outer("a", None, {})) == {"name": "a", "ci_low": None, "other": None}
