"""YAML: documents with the types of JSON, in which text stays text unless it is a JSON number, true, false or null."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, BinaryIO, ClassVar

import yaml  # type: ignore[import-untyped]

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.cells import WrongValueError
from ndcg_tracker.ingest.formats.json_documents import text_of
from ndcg_tracker.ingest.plain import json_integer
from ndcg_tracker.words.texts import shown

_TAG = "tag:yaml.org,2002:"
_NULL = {"null": r"null|~|"}
_OF_JSON = {
    "bool": r"true|false",
    "int": r"-?(?:0|[1-9][0-9]*)",
    "float": r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?",
}


class _Texts(yaml.SafeLoader):  # type: ignore[misc]
    """Reads scalars as text or null, without dates, octal numbers and ``yes``; refuses aliases and keys twice."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Return the next node."""
        if self.check_event(yaml.events.AliasEvent):
            raise _wrong(self.peek_event(), "an alias (*)")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """Return the content of an object, whose keys are text."""
        found: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise _wrong(key, "a key that is not text")
            if found.setdefault(key.value, value) is not value:
                what = f"key {shown(key.value)} is there twice, in line {key.start_mark.line + 1}"
                raise WrongValueError(what, advice="keep one of the two")
        return {key: self.construct_object(value, deep=True) for key, value in found.items()}


class _Loader(_Texts):
    """Reads the scalars of JSON."""


def _wrong(event: Any, what: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=what, problem_mark=event.start_mark)


def _text(_: Any, node: Any) -> str:
    """Return the text of a scalar, of a block without its last line end."""
    return str(node.value).rstrip("\n") if node.style in ("|", ">") else str(node.value)


for _loader, _patterns in ((_Texts, _NULL), (_Loader, _NULL | _OF_JSON)):
    for _kind, _pattern in _patterns.items():
        _loader.add_implicit_resolver(_TAG + _kind, re.compile(rf"(?:{_pattern})\Z"), None)
_Texts.add_constructor(_TAG + "map", lambda loader, node: loader.construct_mapping(node))
_Texts.add_constructor(_TAG + "str", _text)
_Loader.add_constructor(_TAG + "int", lambda loader, node: json_integer(node.value))
_Loader.add_constructor(_TAG + "float", lambda loader, node: float(node.value))


class Yaml:
    """The reader of YAML documents (see ``conformance.Reader``)."""

    endings = (".yaml", ".yml")

    def is_of(self, first_bytes: bytes) -> bool:
        """Return False, because any text may be YAML."""
        return False

    def read(self, file: BinaryIO) -> Any:
        """Return the value of the document."""
        return yaml_value(text_of(file.read()), lambda what, line="", **parts: InputError(what, where=line, **parts))


def yaml_value(text: str, refused: Callable[..., Exception], *, are_texts: bool = False) -> Any:
    """Return the value of a YAML document; ``are_texts``: all scalars are text or null.

    Raises: the error of ``refused``, which takes a line, for what is not YAML; WrongValueError for a key twice.
    """
    try:
        return yaml.load(text, _Texts if are_texts else _Loader)
    except yaml.MarkedYAMLError as error:
        line = None if error.problem_mark is None else error.problem_mark.line + 1
        what = " ".join(str(error.problem or error.context).split())
        raise refused(f"not valid YAML ({what})", line, advice="correct the file") from None
    except (yaml.YAMLError, ValueError) as error:
        if isinstance(error, WrongValueError):
            raise
        reason = " ".join(str(error).split())[:100]
        raise refused(f"not valid YAML ({reason})", advice="correct the file") from None
