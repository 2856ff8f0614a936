"""Describe how users give an argument, and its default: help, spelling and reader next to its type.

``Annotated[TYPE, Option(...)]`` in the signature of a function of ``Tracker`` becomes the option of the command.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Literal, get_args

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


def name_given(name: str | None) -> str | None:
    """Return the name of a column that a caller gave, None for our own name as a default."""
    return None if isinstance(name, OwnName) else name


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


def parted(texts: Sequence[str]) -> list[str]:
    """Return the parts of texts with commas, without blanks around them.

    >>> parted(["a, b", "c"])
    ['a', 'b', 'c']
    """
    return [part.strip() for text in texts for part in text.split(",")]


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
    "duplicates:first": "several rows of one item in a group; the first counts",
    "duplicates:best": "several rows of one item in a group; the one with the highest score or label counts",
    "duplicates:same": "several rows of one item in a group if their scores or labels are equal",
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


Metrics = Annotated[
    str | Sequence[str],
    Everyday(
        "A metric, such as ndcg@10, map or 'ndcg(gain=exp2)@20'; repeatable.",
        ("--metric", "-m"),
        default=DEFAULT_METRIC,
        typed=Texts,
    ),
]
DatasetOfRun = Annotated[
    str, Everyday("The dataset: the groups and labels to compare runs on.", ("--dataset",), default="default")
]
Tags = Annotated[
    Mapping[str, str] | None,
    Everyday("A tag to find the run by, key=value; repeatable.", ("--tag",), typed=Texts, read=Pairs("--tag")),
]
Parameters = Annotated[
    Mapping[str, str] | None,
    Option("A parameter of the run, key=value; repeatable.", ("--param",), typed=Texts, read=Pairs("--param")),
]
GitCommit = Annotated[str | None, Option("Commit of the code that made the run.", default="HEAD, if in a repository")]
CreatedAt = Annotated[
    str | datetime | None,
    Option(
        "When the runs were made: ISO 8601, such as 2026-06-30T02:00+02:00; UTC if there is no time zone.",
        metavar="TIME",
        default="now",
        typed=str | None,
    ),
]
Metadata = Annotated[
    str | os.PathLike[str] | None,
    Option(
        "Metadata of the run (ir_metadata, such as from tirex-tracker), stored as tags.",
        metavar="FILE",
        typed=str | None,
    ),
]
Sampled = Annotated[
    str | None,
    Option("Items are ranked among N sampled negatives of ALL, such as 100/50000.", metavar="N/ALL"),
]
Judges = Annotated[
    str | Sequence[str] | None,
    Option(
        "The judge whose labels count; repeatable, '*' for all.",
        ("--judge",),
        metavar="NAME",
        default="the unnamed judge, else the only one",
        typed=Texts,
    ),
]
Replace = Annotated[bool, Everyday("Replace a stored run of the same name, if its content differs.")]

# How files and tables are read

Labels = Annotated[
    object,
    Everyday(
        "A file with the labels, or ir_datasets:NAME for a public dataset.",
        ("--labels", "--qrels"),
        metavar="FILE",
        typed=str | None,
    ),
]
LabelJudge = Annotated[
    str | None,
    Option("The judge whose labels count, if the column judge of --labels names several.", metavar="NAME"),
]
Reader = Annotated[
    str | None,
    Option(
        "trec, csv, tsv, json, jsonl, yaml, parquet, svmlight or trec_eval.", default="detected from name and content"
    ),
]
GroupColumn = Annotated[
    str | None,
    Everyday(
        "Column or JSON path of the group; RUN,LABELS if they differ; @FILE lists one id per JSON response.",
        default="group",
        typed=str | None,
    ),
]
ItemColumn = Annotated[
    str | Literal[False] | None,
    Everyday(
        "Column or JSON path of the item; '' for row numbers; RUN,LABELS if they differ.",
        default="item",
        typed=str | None,
    ),
]
ScoreColumn = Annotated[str, Everyday("Column of the score; -NAME if the lowest score is best.", default="score")]
LabelColumn = Annotated[
    str | None, Everyday("Column of the label; =1 if each row is a relevant item.", default="label")
]
WeightColumn = Annotated[str | None, Option("Column of the weight.", default="weight")]
Header = Annotated[
    str | Sequence[str] | None,
    Option(
        "Names of all columns, for a csv or tsv file without a header; those of --labels follow a slash.",
        metavar="NAME,...",
        typed=str | None,
    ),
]
ItemsPath = Annotated[
    str | None,
    Option(
        "Path of the item list in JSON responses, such as response.docs; the other columns are then paths, too.",
        metavar="PATH",
    ),
]
Scores = Annotated[
    str | os.PathLike[str] | None,
    Option("Predictions, one for each line of an svmlight (label/qid) file.", metavar="FILE", typed=str | None),
]
ItemToDocument = Annotated[
    object,
    Option(
        "Treat items as chunks of documents: a pattern for what follows the document's id, such as '#.*', or a "
        "column or file with the documents.",
        metavar="PATTERN|COLUMN|FILE",
        typed=str | None,
    ),
]
Collapsed = Annotated[
    Literal["max", "first", "sum"] | None,
    Option(
        "How chunk scores give the score of their document.",
        metavar="max|first|sum",
        default="max",
        typed=str | None,
    ),
]
ItemText = Annotated[str | None, Option("Store the texts of the items, from this column or key.", metavar="COLUMN")]
ItemIsText = Annotated[bool, Option("The items have no ids: their column holds texts, which are stored.")]
GroupsShare = Annotated[
    str | float | None,
    Option(
        "Keep only this share of the groups, such as 1/100, chosen by a hash of their ids.",
        metavar="SHARE",
        default="all groups",
        typed=str | None,
    ),
]
Stream = Annotated[
    bool | None,
    Option(
        "Read block by block, to save memory; the rows of a group must be contiguous.",
        ("--stream/--no-stream",),
        default="large files with contiguous groups",
    ),
]
Where = Annotated[
    Mapping[str, str] | None,
    Option(
        "Only rows with this value in this column; repeatable.",
        metavar="COLUMN=VALUE",
        typed=Texts,
        read=Pairs("--where"),
    ),
]
FactsFile = Annotated[
    object,
    Option("One row per group; - is standard input.", metavar="FILE", is_positional=True, typed=str | None),
]
TextsFile = Annotated[
    object,
    Option(
        "One row per group, item, or item of a group; - is standard input.",
        metavar="FILE",
        is_positional=True,
        typed=str,
    ),
]
