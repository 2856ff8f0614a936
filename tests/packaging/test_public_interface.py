"""Nothing that others build on changes unnoticed: the interface is what ``public_interface.txt`` keeps."""

from collections.abc import Callable, Iterator

import pytest
from public_interface import NOT_SAMPLED, SAMPLES, _words, commands, kept, printed, python_names, section, views

from ndcg_tracker.storage.database import upgrade


def assert_kept(name: str, lines: list[str]) -> None:
    before = {line for line in kept() if line.startswith(f"{name} | ")}
    gone, new = sorted(before - set(lines)), sorted(set(lines) - before)
    if not gone + new:
        return
    message = "\n".join(
        [
            "what others build on has changed:",
            *(f"  gone: {line}" for line in gone),
            *(f"  new:  {line}" for line in new),
            "If it is meant: write the list anew with `python tests/packaging/public_interface.py`, and say in a line",
            "of CHANGELOG.md what was added. What is gone breaks the programs of others: keep it beside the new one.",
        ]
    )
    pytest.fail(message, pytrace=False)


@pytest.mark.parametrize(("name", "found"), [("command", commands), ("printed", printed), ("python", python_names)])
def test_the_interface_is_the_kept_one(
    name: str, found: Callable[[], Iterator[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NDCG_TRACK_DB", raising=False)
    assert_kept(name, section(name, found()))


def test_the_views_are_the_kept_ones(postgres_schema: None, database_url: str) -> None:
    upgrade(database_url)
    assert_kept("view", section("view", views(database_url)))


def test_every_command_that_prints_is_asked_what() -> None:
    printing = {
        line.partition(" --format ")[0].removeprefix("ndcg-track ") for line in commands() if "--format" in line
    }
    asked = {_words(sample)[-1] for sample in SAMPLES}
    assert printing - asked - NOT_SAMPLED == set(), "add a line to SAMPLES in tests/packaging/public_interface.py"


def test_a_change_is_told() -> None:
    lines = section("command", commands())
    with pytest.raises(pytest.fail.Exception) as told:
        assert_kept("command", [*lines[1:], "command | ndcg-track new"])
    said = str(told.value)
    assert f"  gone: {lines[0]}\n  new:  command | ndcg-track new\n" in said
    assert "python tests/packaging/public_interface.py" in said
    assert "CHANGELOG.md" in said
