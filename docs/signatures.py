"""Extensions of griffe for the site: defaults in signatures are values, and parameters are a table below them."""

import importlib
import inspect
import re
import types
import typing
from collections.abc import Iterator
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin

import griffe

from ndcg_tracker.asked import Declared, declared

_SECTION = re.compile(r"(?:^|(?<=[.;)]))\s*\b(Parameters|Returns|Raises|Warns):\s*")
_ENTRY = re.compile(r"(?:^|(?<=[.;]))\s*(?=``\w+``(?:[^.;:`]|``[^`]*``)*:\s)")
_NAME = re.compile(r"``(\w+)``")
_PLAIN = (str, int, float, bool, tuple, type(None))


@cache
def _names_in(module: str) -> dict[str, Any]:
    """Return what a module has at run time, nothing where it needs a package that is not installed."""
    try:
        return vars(importlib.import_module(module))
    except ImportError:
        return {}


class Values(griffe.Extension):
    """Shows ``metrics="ndcg@10"`` in the place of ``metrics=DEFAULT_METRIC``."""

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        """Change the defaults of a function."""
        for parameter in func.parameters:
            if isinstance(parameter.default, griffe.ExprName):
                value = _names_in(func.module.path).get(parameter.default.name, griffe)
                if isinstance(value, _PLAIN):
                    parameter.default = repr(value)


class Questions(griffe.Extension):
    """Shows the fields of a question in the place of ``**keywords``."""

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        """Change the parameters of a function that asks a question."""
        if any(str(parameter.annotation).startswith("Unpack[") for parameter in func.parameters):
            *_, keywords = func.parameters
            del func.parameters[keywords.name]
            for one in (one for one in _declared(func) if one.name not in func.parameters):
                kind, default = griffe.ParameterKind.keyword_only, repr(one.default)
                func.parameters.add(griffe.Parameter(one.name, annotation=one.annotation, kind=kind, default=default))


class ParameterTables(griffe.Extension):
    """Makes a table of the parameters, their types, their defaults and what the docstring says of each."""

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        """Change the docstring of a function."""
        if func.docstring is None or func.name.startswith("_"):
            return
        told, parts = dict[str, str](), list[str]()
        for paragraph in re.split(r"\n\s*\n", func.docstring.value):
            before, *sections = [paragraph] if ">>>" in paragraph else _SECTION.split(paragraph)
            parts.append(before)
            for title, text in zip(sections[::2], sections[1::2], strict=True):
                entries = list(_entries(" ".join(text.split()), func)) if title == "Parameters" else []
                for name, meaning in entries:
                    told[name] = f"{told[name]}; {meaning}" if name in told else meaning
                parts.append(told.pop("", "") if entries else f"**{title}:** {text}")
        rows = list(_rows(func, told))
        if any(meaning for *_, meaning in rows):
            table = ["| parameter | type | default | meaning |", "|---|---|---|---|"]
            parts.insert(1, "\n".join([*table, *("| " + " | ".join(row) + " |" for row in rows)]))
        func.docstring.value = "\n\n".join(part for part in parts if part.strip())


def _entries(text: str, func: griffe.Function) -> Iterator[tuple[str, str]]:
    """Yield each parameter of a text such as '``a`` and ``b``: numbers. ``c``: a text.' with its meaning.

    Text about no parameter of the function comes with an empty name.
    """
    for entry in filter(None, _ENTRY.split(text)):
        head, colon, meaning = entry.partition(": ")
        names = [name for name in _NAME.findall(head) if name in {parameter.name for parameter in func.parameters}]
        if not (names and colon):
            yield "", entry.strip()
            continue
        for name in names:
            yield name, meaning.strip(" ;") if name == names[0] or len(meaning) < 60 else f"see ``{names[0]}``"


def _rows(func: griffe.Function, told: dict[str, str]) -> Iterator[tuple[str, str, str, str]]:
    declared_as = {one.name: one for one in _declared(func)}
    for parameter in func.parameters:
        if parameter.name in ("self", "cls"):
            continue
        of = declared_as.get(parameter.name)
        of_type = str(parameter.annotation) if of is None else _spelled(of.type)
        is_needed = parameter.default is None or parameter.kind is griffe.ParameterKind.var_positional
        default = "" if is_needed else f"`{parameter.default}`"
        yield (
            f"`{parameter.name}`",
            f"`{of_type}`",
            default,
            told.get(parameter.name, "" if of is None else of.option.help),
        )


def _declared(func: griffe.Function) -> list[Declared]:
    """Return the arguments of a function that are declared, with the fields of the question that it asks."""
    owner: Any = types.SimpleNamespace(**_names_in(func.module.path))
    owner = getattr(owner, func.parent.name) if func.parent.is_class else owner
    function = getattr(owner, func.name, None)
    return declared(function) if inspect.isfunction(function) else []


def _spelled(annotation: Any) -> str:
    """Return a type as one reads it: ``'t' | 'permutation'`` for ``Literal``, and nothing of what is beside it."""
    if get_origin(annotation) is typing.Annotated:
        return _spelled(get_args(annotation)[0])
    if get_origin(annotation) is Literal:
        return " | ".join(map(repr, get_args(annotation)))
    if get_origin(annotation) in (Union, types.UnionType):
        return " | ".join(map(_spelled, get_args(annotation)))
    if get_args(annotation):
        inner = ", ".join("..." if part is ... else _spelled(part) for part in get_args(annotation))
        return f"{getattr(get_origin(annotation), '__name__', annotation)}[{inner}]"
    return "None" if annotation is type(None) else getattr(annotation, "__name__", str(annotation))
