"""Describe how users give an argument, and its default: help, spelling and reader next to its type.

``Annotated[TYPE, Option(...)]`` as a field of a question (``asks``), or in the signature of a function of ``Tracker``,
becomes a keyword in Python, the option of the commands, an argument of an agent's tool, and a line of the docs.
"""

from __future__ import annotations

import difflib
import inspect
import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime, timedelta
from functools import cache, partial, wraps
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin

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


def is_file(text: str) -> bool:
    """Return whether a text is the path of something that can be read, such as a file or a pipe."""
    try:
        return Path(text).exists() and not Path(text).is_dir()
    except (OSError, ValueError):  # too long for a path, or not one at all
        return False


@dataclass(frozen=True)
class Option:
    """How the command line asks for an argument.

    ``spelled``: by default ``spelling`` of the argument. ``metavar``: the placeholder for the value in the help.
    ``default``: the text for the default in the help, None for the default itself. ``least``: the least value of a
    number. ``typed`` and ``read``: the type that users type, and the function that makes the argument from it, if they
    do not follow from the argument's type. ``is_positional``: an argument of the command line, not an option;
    ``is_optional``: a repeated argument is optional. ``everyday``: ``-h`` shows it.
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
Positional = partial(Option, is_positional=True)


def pairs(option: str, texts: Sequence[str]) -> dict[str, str]:
    """Return the values of a repeatable option of the form key=value (InputError for a text of another form).

    >>> pairs("--tag", ["model=bm25"])
    {'model': 'bm25'}
    """
    parted_texts = [text.partition("=") for text in texts]
    for text, (key, equals, _) in zip(texts, parted_texts, strict=True):
        if not equals or not key:
            raise InputError(f"{option} {text!r} is not of the form key=value", advice=f"write {option} model=bm25")
    return {key: value for key, _, value in parted_texts}


SPELLED: Mapping[str, tuple[str, ...]] = {
    "attributes": ("--attribute",),
    **dict.fromkeys(("candidate", "candidates"), ("CANDIDATE",)),
    "every": ("--all",),
    **dict.fromkeys(("files", "frame"), ("FILE",)),
    "judges": ("--judge",),
    "keep_tags": ("--keep-tag",),
    "limits": ("--limit",),
    "location": ("--db",),
    "measures": ("--measure",),
    **dict.fromkeys(("metric", "metrics"), ("--metric", "-m")),
    "parameters": ("--param",),
    "repeats": ("--repeat",),
    "reproduced": ("REPRODUCED",),
    "runs": ("RUN",),
    "tags": ("--tag",),
}
"""The options whose names differ from those of the Python arguments, and the arguments that are not options."""


def spelling(name: str) -> tuple[str, ...]:
    """Return how the command line spells an argument.

    >>> spelling("dry_run"), spelling("metrics")
    (('--dry-run',), ('--metric', '-m'))
    """
    return SPELLED.get(name, ("--" + name.replace("_", "-"),))


def parted(texts: Sequence[str]) -> list[str]:
    """Return the parts of texts with commas, without blanks around them.

    >>> parted(["a, b", "c"])
    ['a', 'b', 'c']
    """
    return [part.strip() for text in texts for part in text.split(",")]


_Function = TypeVar("_Function", bound=Callable[..., Any])
_Metadata = TypeVar("_Metadata")
_Question = TypeVar("_Question")
_FIRST = ("suite", "by_tag", "dataset", "metric", "metrics")
"""The fields of a question that come before all others, as in the commands that we print."""
NOTHING = inspect.Parameter.empty
"""The default of a required argument."""
_OF_TEXT = {object, os.PathLike, datetime, timedelta, tuple}


@dataclass(frozen=True)
class Made:
    """Marks the field of a question that is made ``by`` a function from what users give.

    ``given``: how users give it, a name of ``Annotated[TYPE, Option(...)]``; ``default``: what they leave out.
    """

    given: Any
    by: Callable[[Any], Any]
    default: Any = None


@dataclass(frozen=True)
class Declared:
    """An argument of a function, and how users give it.

    ``is_repeated``: it takes any number of values. ``made``: makes the field of a question from what is given.
    ``annotation``: the name of its type.
    """

    name: str
    option: Option
    type: Any
    default: Any
    is_repeated: bool = False
    made: Callable[[Any], Any] | None = None
    annotation: str = ""

    @property
    def spelled(self) -> tuple[str, ...]:
        """How the command line spells it."""
        return self.option.spelled or spelling(self.name)

    @property
    def _kinds(self) -> set[Any]:
        """The types that its value may have, without those of what these hold."""
        types = get_args(self.type) if get_origin(self.type) in (Union, UnionType) else (self.type,)
        return {get_origin(one) or one for one in types}

    @property
    def typed(self) -> Any:
        """What users type: texts for several values, and text for what the command line has no values of."""
        if self.option.typed is not None:
            return self.option.typed
        if self._kinds & {Sequence, Mapping}:
            return Texts
        return (str if self.default is NOTHING else str | None) if self._kinds & _OF_TEXT else self.type

    def read(self, value: Any) -> Any:
        """Return the argument that is meant by what users type (InputError)."""
        if self.option.read is not None:
            return self.option.read(value)
        return pairs(self.spelled[0], value) if self._kinds - {NoneType} == {Mapping} else value

    @property
    def says_how_many_rows(self) -> bool:
        """Whether it is the number of rows that a question shows; a required budget is the number of items to grade."""
        is_number = int in (self.type, *get_args(self.type))
        return is_number and self.name in ("top", "last", "limit", "budget") and self.default is not NOTHING

    @property
    def choices(self) -> tuple[str, ...]:
        """The values that it may have, where these are a few words."""
        return get_args(self.type) if get_origin(self.type) is Literal else ()

    def of_text(self, text: str) -> Any:
        """Return the value that a text means (InputError)."""
        kind = next((one for one in (bool, float, int) if one in (self.type, *get_args(self.type))), str)
        if self.choices and text not in self.choices:
            raise InputError(f"{self.name} must be {_either(self.choices)}, not {text[:40]!r}")
        try:
            return kind(text)
        except ValueError:
            raise InputError(f"{self.name} must be a number, not {text[:40]!r}") from None


def declared(asked: Callable[..., Any]) -> list[Declared]:
    """Return the arguments of a function, or the fields of a question, whose types are names of declared options."""
    if is_dataclass(asked):
        return _fields(asked)
    own, question = inspect.unwrap(asked), getattr(asked, "question", None)
    arguments = []
    for parameter in inspect.signature(own).parameters.values():
        annotated = own.__globals__.get(parameter.annotation)
        option = _metadata(annotated, Option)
        if option is not None:
            is_repeated = parameter.kind is inspect.Parameter.VAR_POSITIONAL
            default = () if is_repeated and option.is_optional else parameter.default
            arguments.append(Declared(parameter.name, option, get_args(annotated)[0], default, is_repeated))
    taken = getattr(asked, "but", ())
    return [*arguments, *(one for one in ([] if question is None else _fields(question)) if one.name not in taken)]


def _metadata(annotated: Any, kind: type[_Metadata]) -> _Metadata | None:
    return next((told for told in getattr(annotated, "__metadata__", ()) if isinstance(told, kind)), None)


def _either(choices: Sequence[str]) -> str:
    return f"{', '.join(choices[:-1])} or {choices[-1]}"


def refuse_unknown(question: object) -> None:
    """Refuse a value of a field that may only have a few others (InputError)."""
    for one in _fields(type(question)):
        value = getattr(question, one.name)
        if one.choices and value != one.default and value not in one.choices:
            raise InputError(f"{argument(one.name, value)} is unknown", advice=f"give {_either(one.choices)}")


def _fields_of(question: type[Any]) -> list[Declared]:
    found = []
    for field in fields(question):
        owner = next(base for base in question.__mro__ if field.name in inspect.get_annotations(base))
        names = vars(sys.modules[owner.__module__])
        annotated, default = names.get(str(field.type)), field.default
        made = _metadata(annotated, Made)
        if made is not None:
            annotated, default = made.given, made.default
        option = _metadata(annotated, Option)
        if option is not None:
            name = next(name for name, value in names.items() if value is annotated)
            by = None if made is None else made.by
            found.append(Declared(field.name, option, get_args(annotated)[0], default, made=by, annotation=name))
    return sorted(found, key=lambda one: _FIRST.index(one.name) if one.name in _FIRST else len(_FIRST))


_fields: Callable[[type[Any]], list[Declared]] = cast("Any", cache(_fields_of))


def asks(question: type[Any], *, but: Iterable[str] = (), **defaults: object) -> Callable[[_Function], _Function]:
    """Give a function the declared fields of a question as keywords, in the place of its last parameter.

    That one is ``**keywords``, typed by the keywords next to the question, from which ``made`` makes the question.
    ``but``: the fields that it leaves out; ``defaults``: those of its own.
    """

    def decorate(function: _Function) -> _Function:
        own = inspect.signature(function)
        parameters = list(own.parameters.values())[:-1]
        left_out = {*but, *own.parameters}
        further = [
            inspect.Parameter(
                one.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=defaults.get(one.name, one.default),
                annotation=one.annotation,
            )
            for one in _fields(question)
            if one.name not in left_out
        ]
        signature = own.replace(parameters=[*parameters, *further])

        @wraps(function)
        def called(*positional: Any, **named: Any) -> Any:
            for name in named.keys() - signature.parameters.keys():
                close = difflib.get_close_matches(name, signature.parameters, 1)
                meant = f"; did you mean {close[0]!r}?" if close else ""
                raise TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}{meant}")
            return function(*positional, **{**defaults, **named})

        of = cast("Any", called)
        of.__signature__, of.question, of.but = signature, question, frozenset(left_out)
        return cast("_Function", called)

    return decorate


def made(question: type[_Question], keywords: Mapping[str, object], **further: object) -> _Question:
    """Return the question that keywords ask; ``further``: its other fields."""
    return question(**parts(question, keywords), **further)


def parts(question: type[Any], keywords: Mapping[str, object]) -> dict[str, Any]:
    """Return keywords as the fields of a question."""
    makers = {one.name: one.made for one in _fields(question)}
    return {name: value if (by := makers.get(name)) is None else by(value) for name, value in keywords.items()}


def words(question: object, *, but: Iterable[str] = ()) -> list[str]:
    """Return the fields of a question that are not left at their defaults, as words of a command."""
    said: list[str] = []
    for one in _fields(type(question)):
        value = getattr(question, one.name)
        if one.name in but or value in (None, (), {}, one.default):
            continue
        pairs = [f"{key}={of}" for key, of in value.items()] if isinstance(value, Mapping) else None
        for of in pairs or (value if isinstance(value, list | tuple) else [value]):
            said += one.spelled[:1] if of is True else [one.spelled[0], str(getattr(of, "requested_as", of))]
    return said


def checked_margin(margin: float, name: str, *, zero: bool = True) -> float:
    """Return a valid margin unchanged; raise InputError if it is not finite, negative, or 0 where that is not allowed.

    >>> checked_margin(0.01, "the margin")
    0.01
    """
    if not math.isfinite(margin) or margin < 0 or (margin == 0 and not zero):
        least = "0 or more" if zero else "above 0"
        raise InputError(
            f"{name} must be a number {least}, not {margin}", advice="give it in absolute points, such as 0.01"
        )
    return margin


DOUBTS = {
    "failed": "responses of a search that are errors, timed out or lack shards, which are left out",
    "no-overlap": "a run and labels, or labels and those stored before, have no group or item in common",
    "duplicates:first": "several rows of one item in a group; the first counts",
    "duplicates:best": "several rows of one item in a group; the one with the highest score or label counts",
    "duplicates:same": "several rows of one item in a group if their scores or labels are equal",
    "duplicates:mean": "several labels of one item by one judge; their mean counts",
    "bad-grades": "labels that are not numbers, which are left out",
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


def grades_of(given: str | Mapping[str, float] | None) -> dict[str, float]:
    """Return what words mean as labels, in lower case (InputError).

    >>> grades_of("Relevant=2, partial=0.5"), grades_of(None)
    ({'relevant': 2.0, 'partial': 0.5}, {})
    """
    pairs = (
        given.items() if isinstance(given, Mapping) else [part.partition("=")[::2] for part in parted([given or ""])]
    )
    try:
        found = {str(word).strip().lower(): float(grade) for word, grade in pairs if word or grade}
    except (TypeError, ValueError):
        found = {"": math.nan}
    if not all(word and math.isfinite(grade) for word, grade in found.items()):
        raise InputError(
            f"{argument('grades', str(given))} is not WORD=NUMBER,...", advice="write relevant=2,partial=1"
        )
    return found


Texts = list[str] | None
"""The value of a repeatable option."""

MetricText = Annotated[str, Everyday("The metric.")]
MetricTexts = Annotated[
    str | Sequence[str], Everyday("A metric, such as ndcg@10, map or 'ndcg(gain=exp2)@20'; repeatable.")
]
AnyDataset = Annotated[str | None, Everyday("Only look for runs in this dataset.")]
Dataset = Annotated[
    str, Everyday("The dataset: the groups and labels to compare runs on.", default="default, else the only one")
]
OnlyTagged = Annotated[Mapping[str, str] | None, Everyday("key=value: only runs with this tag; repeatable.")]
Tags = Annotated[Mapping[str, str], Made(OnlyTagged, lambda tags: dict(tags or {}))]
Judge = Annotated[
    str | None,
    Everyday("The judge whose labels count.", metavar="NAME", default="the unnamed judge, else the only one"),
]
OnSuite = Annotated[str | None, Option("Use every dataset of this suite, and all together.", metavar="NAME")]
ByTag = Annotated[str | None, Option("The tag whose value names a system, instead of the run's name.", metavar="KEY")]


Allow = Annotated[
    str | Sequence[str],
    Option(
        "Doubtful input to let pass; repeatable. HOW: first, best, same or, for labels, mean.",
        metavar="failed|no-overlap|duplicates:HOW|bad-grades|changed-texts",
    ),
]
Run = Annotated[
    str,
    Positional("Name, id, @alias, latest, latest~2, before:DATE or a unique prefix.", metavar="RUN"),
]
RboP = Annotated[float, Option("Weight of each rank relative to the one before it.", metavar="P")]
Query = Annotated[str, Positional("One SELECT.")]
Timeout = Annotated[float, Option("Seconds until the query is stopped.", ("--timeout",), least=0.001)]
Plan = Annotated[bool, Option("Show the query plan, without running the query.")]


Metrics = Annotated[
    str | Sequence[str],
    Everyday("A metric, such as ndcg@10, map or 'ndcg(gain=exp2)@20'; repeatable.", default=DEFAULT_METRIC),
]
DatasetOfRun = Annotated[str, Everyday("The dataset: the groups and labels to compare runs on.", default="default")]
RunTags = Annotated[Mapping[str, str] | None, Everyday("A tag to find the run by, key=value; repeatable.")]
Parameters = Annotated[Mapping[str, str] | None, Option("A parameter of the run, key=value; repeatable.")]
GitCommit = Annotated[str | None, Option("Commit of the code that made the run.", default="HEAD, if in a repository")]
CreatedAt = Annotated[
    str | datetime | None,
    Option(
        "When the runs were made: ISO 8601, such as 2026-06-30T02:00+02:00; UTC if there is no time zone.",
        metavar="TIME",
        default="now",
    ),
]
Metadata = Annotated[
    str | os.PathLike[str] | None,
    Option("Metadata of the run (ir_metadata, such as from tirex-tracker), stored as tags.", metavar="FILE"),
]
Sampled = Annotated[
    str | None, Option("Items are ranked among N sampled negatives of ALL, such as 100/50000.", metavar="N/ALL")
]
Judges = Annotated[
    str | Sequence[str] | None,
    Option(
        "The judge whose labels count; repeatable, '*' for all.",
        metavar="NAME",
        default="the unnamed judge, else the only one",
    ),
]
Replace = Annotated[bool, Everyday("Replace a stored run of the same name, if its content differs.")]

# How files and tables are read

Labels = Annotated[
    object,
    Everyday(
        "A file with the labels, or ir_datasets:NAME for a public dataset.", ("--labels", "--qrels"), metavar="FILE"
    ),
]
LabelJudge = Annotated[
    str | None, Option("The judge whose labels count, if the column judge of --labels names several.", metavar="NAME")
]
Reader = Annotated[
    str | None,
    Option(
        "trec, csv, tsv, json, jsonl, yaml, parquet, svmlight or trec_eval; that of --labels follows a comma.",
        default="detected from name and content",
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
Grades = Annotated[
    str | Mapping[str, float] | None,
    Option(
        "What words mean as labels, such as irrelevant=0,partial=1,relevant=2.",
        metavar="WORD=NUMBER,...",
        typed=str | None,
    ),
]
RelevantKey = Annotated[
    str | None, Option("Key of the relevant items in a golden set, if it is not clear.", metavar="KEY")
]
Scores = Annotated[
    str | os.PathLike[str] | None,
    Option("Predictions, one for each line of an svmlight (label/qid) file.", metavar="FILE"),
]
ItemToDocument = Annotated[
    object,
    Option(
        "Treat items as chunks of documents: a pattern for what follows the document's id, such as '#.*', or a "
        "column or file with the documents.",
        metavar="PATTERN|COLUMN|FILE",
    ),
]
Collapsed = Annotated[
    Literal["max", "first", "sum"] | None,
    Option(
        "How chunk scores give the score of their document.", metavar="max|first|sum", default="max", typed=str | None
    ),
]
ItemText = Annotated[str | None, Option("Store the texts of the items, from this column or key.", metavar="COLUMN")]
ItemIsText = Annotated[bool, Option("The items have no ids: their column holds texts, which are stored.")]
ReadAs = Annotated[
    str | Mapping[str, object] | None,
    Option(
        "How to read files: options of evaluate, such as 'group=qid item=doc reader=csv'.",
        metavar="'NAME=VALUE ...'",
        typed=str | None,
    ),
]
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
    Mapping[str, str] | None, Option("Only rows with this value in this column; repeatable.", metavar="COLUMN=VALUE")
]
FactsFile = Annotated[object, Positional("One row per group; - is standard input.", metavar="FILE")]
TextsFile = Annotated[
    object,
    Positional("One row per group, item, or item of a group; - is standard input.", metavar="FILE"),
]
