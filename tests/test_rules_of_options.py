"""The rules of arguments that do not go together: one form of sentence, at every door."""

import inspect
from dataclasses import dataclass
from typing import Any

import pytest
from all_commands import all_commands
from refused import refusal_of

from ndcg_tracker import InputError, Tracker
from ndcg_tracker.errors import argument, worded
from ndcg_tracker.rules import KINDS, RULES, Rule, given_of, refuse

CHECKED = [
    ({"group": "q1", "by": "device"}, "group= does not go with by=: slices are of all groups; leave one out"),
    ({"group": 0, "by": "device"}, "group= does not go with by=: slices are of all groups; leave one out"),
    ({"group": None, "by": "device"}, None),
    ({"group": "", "by": "device"}, None),
    (
        {"labels_candidate": 1, "labels": 2},
        "labels_candidate= does not go with labels=: it is for both runs; leave one out",
    ),
]


@pytest.mark.parametrize(("given", "message"), CHECKED)
def test_a_row_is_refused_in_one_form(given: dict[str, Any], message: str | None) -> None:
    assert (None if message is None else refusal_of(InputError, refuse, "explain", given)) == message
    if message is None:
        refuse("explain", given)


def test_values_and_needs() -> None:
    assert refusal_of(InputError, refuse, "compare", {"judge": "*", "labels": "2"}) == (
        "labels= does not go with judge='*': a version has one judge; leave one out"
    )
    for version in ("all", "newest"):
        refuse("compare", {"judge": "*", "labels": version})
    refuse("compare", {"judge": "ann", "labels": "2"})
    assert refusal_of(InputError, refuse, "plot compare", {"kind": "scatter", "check_with": "ann"}) == (
        "kind='scatter' does not go with check_with=: people answered only drawn groups; draw the forest or the slices"
    )
    refuse("plot compare", {"kind": "slices", "check_with": "ann", "by": "device"})
    given = {"baseline": "base", "slice_margin": 0.0}
    assert refusal_of(InputError, refuse, "complete gate", given) == (
        "slice_margin= needs by=: the attribute makes the slices; give by=, or leave out slice_margin="
    )
    refuse("complete gate", {**given, "by": "device"})
    assert refusal_of(InputError, refuse, "complete gate", {}) == (
        "gate needs baseline=: it is the run to compare against; name one"
    )
    refuse("a command without rules", {"by": "device"})


def test_a_field_at_its_default_is_not_given() -> None:
    @dataclass
    class Question:
        by: str | None = None
        top: int = 10

    assert given_of(Question()) == {}
    assert given_of(Question("device", 5)) == {"by": "device", "top": 5}


def options_of(key: str) -> set[str]:
    """Return the names of the parameters of a command."""
    command: Any = all_commands()
    for word in key.removeprefix("complete ").split():
        command = command.commands[word]
    return {parameter.name for parameter in command.params}


@pytest.mark.parametrize("key", RULES)
def test_every_row_names_what_there_is(key: str) -> None:
    """Arguments of the command or of its function, or kinds; every reason is a clause."""
    known = options_of(key) | KINDS.keys() | {"acknowledge", "null_scores", "files"}
    known |= set(inspect.signature(Tracker.gate).parameters)
    for rule in RULES[key]:
        for name in f"{rule.given} {rule.other}".split():
            assert name.partition("=")[0].rstrip("!") in known, name
        assert rule.why
        assert not rule.why.endswith(".")
        what, advice = Rule(*rule).sentence(argument("a"), argument("b"))
        assert worded(what).startswith("a= needs b=: " if rule.needs else "a= does not go with b=: ")
        assert advice
