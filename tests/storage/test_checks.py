"""Names, times and JSON objects that may be stored."""

import json
from datetime import datetime, timedelta, timezone

import pytest

from ndcg_tracker.errors import InputError
from ndcg_tracker.storage.checks import checked_name, checked_object, checked_time, stored_time, utc_now


@pytest.mark.parametrize("name", ["bm25", "12", "latest", "a b", "é 日本", "a@b", "k=1; x", "a" * 250])
def test_names_that_may_be(name: str) -> None:
    assert [checked_name(kind, name) for kind in ("dataset", "run", "alias")] == [name] * 3


def test_a_dataset_may_begin_with_at() -> None:
    assert checked_name("dataset", "@home") == "@home"


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        ("run", "", "the name of a run is empty; give it a name"),
        ("alias", "", "the name of an alias is empty; give it a name"),
        ("run", "a\nb", r"run 'a\nb': a name has no control characters or line breaks; give another one"),
        ("run", "a\x1b[2J", r"run 'a\x1b[2J': a name has no control characters or line breaks; give another one"),
        ("dataset", "\ud800", r"dataset '\ud800': a name has no control characters or line breaks; give another one"),
        ("run", "a\u2028b", r"run 'a\u2028b': a name has no control characters or line breaks; give another one"),
        ("run", "@a", "run '@a': a name does not begin with @; only aliases are written with it; give another name"),
        ("alias", "@a", "alias '@a': a name does not begin with @; give it without the @"),
        ("run", "a" * 251, "run 'aaaaaaaaaaaaaaaaaaaa...': a name has at most 250 characters"),
    ],
)
def test_names_that_may_not_be(kind: str, name: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        checked_name(kind, name)
    assert str(caught.value) == message


def test_times() -> None:
    assert checked_time(None)[:4] == utc_now()[:4]
    assert checked_time("2025-01-31T08:00:00.000001Z") == "2025-01-31T08:00:00.000001Z"
    for wrong in ("2025-01-31", "2025-01-31T08:00:00Z", "2025-02-30T08:00:00.000000Z", "2025-1-31T08:00:00.000000Z"):
        with pytest.raises(InputError, match=r"is not a time; write it as 2025-01-31T08:00:00.000000Z"):
            checked_time(wrong)


def test_json_objects() -> None:
    assert checked_object("tags", None) is None
    assert checked_object("tags", {"a": [1, 2.5, None, True, {"b": "é"}]}) == {"a": [1, 2.5, None, True, {"b": "é"}]}
    for wrong in ({"a": float("nan")}, {"a": object()}, {"a": "\ud800"}):
        with pytest.raises(InputError, match="tags cannot be stored as JSON"):
            checked_object("tags", wrong)
    with pytest.raises(InputError, match="tags contain a NUL character, which no database can store; remove it"):
        checked_object("tags", {"a": "x\0"})


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("2026-01-31T08:00:00Z", "2026-01-31T08:00:00.000000Z"),
        ("2026-01-31T00:30:00.123456+01:00", "2026-01-30T23:30:00.123456Z"),
        (" 2026-01-31 08:00 ", "2026-01-31T08:00:00.000000Z"),
        ("20260131", "2026-01-31T00:00:00.000000Z"),
        ("0001-01-01", "0001-01-01T00:00:00.000000Z"),
        (datetime(2026, 1, 31, 8), "2026-01-31T08:00:00.000000Z"),
        (datetime(2026, 1, 31, 8, tzinfo=timezone(timedelta(hours=-5))), "2026-01-31T13:00:00.000000Z"),
    ],
)
def test_times_are_stored_in_utc(given: str | datetime, stored: str) -> None:
    assert stored_time(given) == stored
    assert checked_time(stored) == stored


@pytest.mark.parametrize(
    "given", ["", "yesterday", "2026-02-30", "1769846400", "2026-01-31T25:00Z", "0001-01-01T00:00+01:00", 5, None]
)
def test_what_is_no_time_is_refused_in_one_line(given: object) -> None:
    with pytest.raises(InputError) as caught:
        stored_time(given)  # type: ignore[arg-type]
    message = str(caught.value)
    assert message.startswith("created_at=")
    assert message.endswith(
        "is not a time; write it in ISO 8601, such as 2025-01-31T08:00:00Z or 2025-01-31T09:00+01:00"
    )
    assert "\n" not in message


@pytest.mark.parametrize("n_levels", [51, 100_000])
def test_objects_that_are_nested_deeply_are_refused(n_levels: int) -> None:
    deep: dict[str, object] = {}
    for _ in range(n_levels):
        deep = {"a": deep}
    with pytest.raises(InputError) as caught:
        checked_object("tags", deep)
    assert str(caught.value) == "tags are nested more than 50 deep; give fewer levels"
    kept = json.loads('{"a":' * 50 + "1" + "}" * 50)
    assert checked_object("tags", kept) == kept
