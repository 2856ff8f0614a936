"""Describe how users give an argument, and its default: help, spelling and reader next to its type.

``Annotated[TYPE, Option(...)]`` in the signature of a function of ``Tracker`` becomes the option of the command.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, get_args

from ndcg_tracker.errors import InputError, argument

DEFAULT_DATABASE = "ndcg-track.db"
DEFAULT_METRIC = "ndcg@10"
SQL_TIMEOUT_SECONDS = 60.0
EVERY_JUDGE = "*"
"""Means all judges of a dataset, where several may be named."""
REPRO_EVAL_CUTOFFS, REPRO_EVAL_P = (10, 100, 1000), 0.95


class OwnName(str):
    """Our own name as a default: equal to the same text from a caller, but with a different type.

    >>> OwnName("group"), OwnName("group") == "group"
    ('group', True)
    """

    __slots__ = ()


GROUP, SCORE, LABEL = OwnName("group"), OwnName("score"), OwnName("label")
DEFAULT_DATASET = OwnName("default")
"""The dataset if none is named; if it does not exist and there is only one other, that one."""


SEALED_DATABASE = "NDCG_TRACK_SEALED_DB"
"""The variable that names a database of sealed datasets, which only CI has."""


def database_location(location: str | os.PathLike[str] | None = None) -> str:
    """Return the location of the database: the given one, else ``NDCG_TRACK_DB``, else ``ndcg-track.db`` here."""
    return os.fspath(location) if location is not None else os.environ.get("NDCG_TRACK_DB") or DEFAULT_DATABASE


@dataclass(frozen=True)
class Option:
    """How the command line asks for an argument.

    ``spelled``: by default ``--`` and the name of the argument. ``metavar``: the placeholder for the value in the help.
    ``default``: the text for the default in the help, None for the default itself. ``least``: the least value of a
    number. ``typed`` and ``read``: the type that users type, and the function that makes the argument from it, if they
    differ from the argument's. ``is_positional``: an argument of the command line, not an option; ``is_optional``: a
    repeated argument is optional. ``everyday``: ``-h`` shows it.
    """

    help: str
    spelled: tuple[str, ...] = ()
    metavar: str | None = None
    default: str | None = None
    least: float | None = None
    typed: Any = None
    read: Callable[[Any], Any] | None = None
    is_positional: bool = False
    is_optional: bool = False
    everyday: bool = False


Everyday = partial(Option, everyday=True)


@dataclass(frozen=True)
class Pairs:
    """Reads the values of a repeatable option of the form key=value.

    >>> Pairs("--tag")(["model=bm25"])
    {'model': 'bm25'}
    """

    option: str

    def __call__(self, texts: Sequence[str]) -> dict[str, str]:
        """Return the mapping (InputError for a text of another form)."""
        mapping = {}
        for text in texts:
            key, equals, value = text.partition("=")
            if not equals or not key:
                raise InputError(
                    f"{self.option} {text!r} is not of the form key=value", advice=f"write {self.option} model=bm25"
                )
            mapping[key] = value
        return mapping


NOTHING = inspect.Parameter.empty
"""The default of a required argument."""


@dataclass(frozen=True)
class Declared:
    """An argument of a function, and how users give it; ``is_repeated``: it takes any number of values."""

    name: str
    option: Option
    type: Any
    default: Any
    is_repeated: bool


def declared(function: Callable[..., Any]) -> list[Declared]:
    """Return the arguments of a function whose annotations are names of declared options."""
    arguments = []
    for parameter in inspect.signature(function).parameters.values():
        annotated = function.__globals__.get(parameter.annotation)
        options_of = [told for told in getattr(annotated, "__metadata__", ()) if isinstance(told, Option)]
        if options_of:
            is_repeated = parameter.kind is inspect.Parameter.VAR_POSITIONAL
            default = () if is_repeated and options_of[0].is_optional else parameter.default
            arguments.append(Declared(parameter.name, options_of[0], get_args(annotated)[0], default, is_repeated))
    return arguments


DOUBTS = {
    "failed": "responses of a search that are errors, timed out or lack shards, which are left out",
    "no-overlap": "a run and labels, or labels and those stored before, have no group or item in common",
    "changed-texts": "a tenth of the labelled items have another text than when they were labelled",
}
"""The names by which doubtful input may be let pass, and what each lets pass."""


def allowed(names: str | Iterable[str]) -> frozenset[str]:
    """Return the names of ``DOUBTS`` that a caller allows (InputError for any other).

    >>> sorted(allowed("no-overlap,")), sorted(allowed([]))
    (['no-overlap'], [])
    """
    chosen = {name.strip() for text in ([names] if isinstance(names, str) else names) for name in text.split(",")}
    for name in sorted(chosen - DOUBTS.keys() - {""}):
        raise InputError(f"{argument('allow', name)} is unknown", advice=f"give {' or '.join(DOUBTS)}")
    return frozenset(chosen - {""})


Texts = list[str] | None
"""The value of a repeatable option."""

MetricText = Annotated[str, Everyday("The metric.", ("--metric", "-m"))]
MetricTexts = Annotated[
    str | Sequence[str],
    Everyday("A metric, such as ndcg@10, map or 'ndcg(gain=exp2)@20'; repeatable.", ("--metric", "-m"), typed=Texts),
]
AnyDataset = Annotated[str | None, Everyday("Only look for runs in this dataset.")]
Dataset = Annotated[
    str, Everyday("The dataset: the groups and labels to compare runs on.", default="default, else the only one")
]
OnlyTagged = Annotated[
    Mapping[str, str] | None,
    Everyday("key=value: only runs with this tag; repeatable.", ("--tag",), typed=Texts, read=Pairs("--tag")),
]
Judge = Annotated[
    str | None,
    Everyday("The judge whose labels count.", metavar="NAME", default="the unnamed judge, else the only one"),
]
ByTag = Annotated[str | None, Option("The tag whose value names a system, instead of the run's name.", metavar="KEY")]
Allow = Annotated[
    str | Sequence[str], Option("Doubtful input to let pass; repeatable.", metavar="|".join(DOUBTS), typed=Texts)
]
Run = Annotated[
    str, Option("Name, id, @alias, latest, latest~2 or a unique prefix.", metavar="RUN", is_positional=True)
]
RboP = Annotated[float, Option("Weight of each rank relative to the one before it.", metavar="P")]
Query = Annotated[str, Option("One SELECT.", is_positional=True)]
Timeout = Annotated[float, Option("Seconds until the query is stopped.", ("--timeout",), least=0.001)]
Plan = Annotated[bool, Option("Show the query plan, without running the query.")]
