"""How an argument of a question is asked for: its help, its spelling and its reader stand beside its type, once.

``Annotated[TYPE, Option(...)]`` in the signature of a function of ``Tracker`` makes the option of the command.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from ndcg_tracker.errors import InputError


@dataclass(frozen=True)
class Option:
    """How the command line asks for an argument.

    ``spelled``: by default ``--`` and the name of the argument. ``metavar``: what stands for the value in the help.
    ``default``: what the help shows for the default; none by itself where nothing is given. ``least``: of a number.
    ``typed`` and ``read``: the type that is typed in and what makes the argument of it, where they are not those of the
    argument.
    """

    help: str
    spelled: tuple[str, ...] = ()
    metavar: str | None = None
    default: str | None = None
    least: int | None = None
    typed: Any = None
    read: Callable[[Any], Any] | None = None
    is_positional: bool = False
    is_optional: bool = False


@dataclass(frozen=True)
class Pairs:
    """Reads what a repeatable option of the form key=value spells.

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


Texts = list[str] | None
"""What a repeatable option gives."""

MetricText = Annotated[str, Option("The metric.", ("--metric", "-m"))]
MetricTexts = Annotated[
    str | Sequence[str],
    Option("A metric, such as ndcg@10, map or 'ndcg(gain=exp2)@20'; repeatable.", ("--metric", "-m"), typed=Texts),
]
AnyDataset = Annotated[str | None, Option("Only look for runs in this dataset.")]
Dataset = Annotated[str, Option("The dataset: the groups and labels to compare runs on.")]
OnlyTagged = Annotated[
    Mapping[str, str] | None,
    Option("key=value: only runs with this tag; repeatable.", ("--tag",), typed=Texts, read=Pairs("--tag")),
]
Judge = Annotated[str | None, Option("Whose labels, if a judge is named.", metavar="NAME")]
ByTag = Annotated[str | None, Option("Runs of one system share this tag's value, not their name.", metavar="KEY")]
Run = Annotated[
    str, Option("Name, id, @alias, latest, latest~2 or a unique prefix.", metavar="RUN", is_positional=True)
]
RboP = Annotated[float, Option("How much a rank counts beside the one before it.", metavar="P")]
