"""The options of a command come from the function that it calls, and what was given goes back to it."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from ndcg_tracker.asked import OnlyTagged, Option, Run, Texts
from ndcg_tracker.cli.parameters import Asked, takes
from ndcg_tracker.compare.options import LabelsVersion
from ndcg_tracker.errors import InputError

Further = Annotated[str, Option("More runs.", metavar="[MORE]...", is_positional=True, is_optional=True)]
Depth = Annotated[int, Option("How deep.", least=1)]
Strict = Annotated[bool, Option("Whether strictly.")]
Names = Annotated[tuple[str, ...], Option("A name; repeatable.", ("--name",), typed=Texts, read=tuple)]


def question(
    self: object,
    run: Run,
    *more: Further,
    depth: Depth = 10,
    strict: Strict = False,
    names: Names = (),
    tags: OnlyTagged = None,
    labels: LabelsVersion = None,
    not_asked: int = 7,
) -> tuple[Any, ...]:
    return run, more, depth, strict, names, tags, labels, not_asked


def of_depth(depth: int = 10, by_tag: str | None = None) -> tuple[Any, ...]:
    return depth, by_tag


asked_last: list[Asked] = []


@takes(question, but=["strict"])
def command(asked: Asked, own: Annotated[int, typer.Option("--own", help="Of the command.")] = 3) -> None:
    """Ask a question."""
    asked_last[:] = [asked]
    typer.echo(f"own {own}")


def called(*words: str) -> tuple[int, str]:
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command()(command)
    result = CliRunner().invoke(app, list(words))
    if isinstance(result.exception, InputError):
        raise result.exception
    return result.exit_code, result.output


def answered(*words: str) -> tuple[Any, ...]:
    assert called(*words)[0] == 0
    return asked_last[0].of(lambda *positional, **named: question(None, *positional, **named))


def test_what_is_not_given_is_left_to_the_function() -> None:
    assert answered("bm25") == ("bm25", (), 10, False, (), None, None, 7)
    assert asked_last[0].named == {}


def test_what_is_given_is_read_and_passed_on() -> None:
    words = [
        "bm25",
        "dense",
        "sparse",
        "--depth",
        "3",
        "--name",
        "a",
        "--name",
        "b",
        "--tag",
        "model=x",
        "--labels",
        "2",
        "--own",
        "4",
    ]
    assert answered(*words) == ("bm25", ("dense", "sparse"), 3, False, ("a", "b"), {"model": "x"}, 2, 7)
    assert called(*words)[1] == "own 4\n"


def test_the_help_shows_what_the_declarations_say() -> None:
    code, text = called("--help")
    assert code == 0
    for said in (
        "Ask a question.",
        "--depth",
        "How deep.",
        "[default: (10); x>=1]",
        "--name",
        "--labels VERSION",
        "--own",
    ):
        assert said in text
    for said in ("--strict", "--not-asked", "not_asked"):
        assert said not in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("bm25", "--tag", "x"), "--tag 'x' is not of the form key=value; write --tag model=bm25"),
        (("bm25", "--labels", "x"), "labels= 'x' is not a version; give a number, such as labels=1, or newest"),
    ],
)
def test_what_cannot_be_read_is_refused(words: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError) as refused:
        called(*words)
    assert str(refused.value) == message


def test_the_part_that_another_function_takes() -> None:
    called("bm25", "dense", "--depth", "2", "--name", "a")
    assert asked_last[0].part(of_depth) == {"depth": 2}
