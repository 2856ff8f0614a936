"""The metadata in a run file: the header of ir_metadata (https://www.ir-metadata.org), YAML in comments."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ndcg_tracker.ingest.cells import WrongValueError
from ndcg_tracker.ingest.source import BOM, Source

_START, _END = (re.compile(rf"#[ \t]*ir_metadata\.{word}[ \t]*") for word in ("start", "end"))
_LONGEST_START = 100  # bytes
LONGEST_HEADER = 1 << 20  # bytes
_DEEPEST = 50  # keys within keys; this module writes and reads the header, level by level
_NOTHING = ("", "~", "null")
_WITH_UNIT = re.compile(r"(null|-?\d+(?:\.\d+)?)\s*([A-Za-z%]{1,5})")
_PLAIN = re.compile(r"[A-Za-z0-9_/(][A-Za-z0-9_/+.,()@=% -]*(?<! )")


def run_metadata(path: str) -> dict[str, str]:
    """Return the entries of a run file's header, flattened; none if it has no header or can only be read once.

    Raises: InputError for a header without an end, and for a line that does not belong to an entry.
    """
    if not os.path.isfile(path):  # noqa: PTH113 - is_file raises if we may not read the folder
        return {}
    with Source(path) as source:
        if not _START.fullmatch(_lines(source.head(_LONGEST_START))[0]):
            return {}
        lines = _lines(source.head(LONGEST_HEADER))
        ends = [place for place, line in enumerate(lines) if _END.fullmatch(line)]
        if not ends:
            raise source.error(
                "the header has no last line '# ir_metadata.end'", advice="add the line, or remove the header"
            )
        return entries("\n".join(["", *(line.removeprefix("#") for line in lines[1 : ends[0]])]), source.error)


def side_metadata(path: str) -> dict[str, str]:
    """Return the entries of a file of ir_metadata next to a run, flattened; its lines may be comments as in a header.

    Samples over time (``timeseries``) and nulls are left out, because tags describe the run as a whole. Raises:
    InputError for a file that cannot be read, is too long, or has a line that does not belong to an entry.
    """
    with Source(path) as source:
        head = source.head(LONGEST_HEADER)
        if len(head) >= LONGEST_HEADER:
            raise source.error("is too long for ir_metadata", advice="give the metadata of one run")
        lines = ["" if _START.fullmatch(line) or _END.fullmatch(line) else line for line in _lines(head)]
        is_commented = all(line.startswith("#") for line in lines if line)
        text = "\n".join(line.removeprefix("#") for line in lines) if is_commented else "\n".join(lines)
        tags = entries(text, source.error)
    return {name: value for name, value in _measured(tags).items() if ".timeseries." not in name}


def _measured(tags: dict[str, str]) -> dict[str, str]:
    """Return entries with the unit of each resource in its name, so that ``--measure`` and ``--limit`` take numbers.

    >>> _measured({"resources.runtime.wallclock": "1450 ms", "resources.gpu.energy": "null J"})
    {'resources.runtime.wallclock_ms': '1450'}
    """
    kept = {}
    for name, value in tags.items():
        measured = _WITH_UNIT.fullmatch(value) if name.startswith("resources.") else None
        if measured is None:
            kept[name] = value
        elif measured[1] != "null":
            kept[f"{name}_{measured[2]}"] = measured[1]
    return kept


def header_lines(tags: Mapping[str, object]) -> list[str]:
    """Return the lines of a header with these entries, flattened as ``entries`` returns them; numbers are places.

    >>> header_lines({"tag": "bm25", "method.0.name": "x: y"})
    ['# ir_metadata.start', '# tag: bm25', '# method:', "#   - name: 'x: y'", '# ir_metadata.end']
    """
    tree: dict[str, object] = {}
    for name, value in tags.items():
        *path, last = name.split(".", _DEEPEST)  # deeper keys remain one key
        within = tree
        for part in path:
            below = within.setdefault(part, {})
            if not isinstance(below, dict):  # both a and a.b: the scalar moves to an empty key
                below = within[part] = {"": below}
            within = below
        beside = within.get(last)
        if isinstance(beside, dict):  # a after a.b
            beside[""] = value
        else:
            within[last] = value
    return ["# ir_metadata.start", *(f"# {line}" for line in _yaml(tree)), "# ir_metadata.end"]


def _yaml(tree: Mapping[str, object]) -> list[str]:
    is_list = bool(tree) and list(tree) == [str(place) for place in range(len(tree))]
    lines = []
    for key, value in tree.items():
        mark = "-" if is_list else f"{key if _PLAIN.fullmatch(key) else json.dumps(key)}:"
        if not isinstance(value, dict):
            lines.append(f"{mark} {_scalar(str(value))}")
            continue
        below = _yaml(value)
        if is_list:
            lines += [f"- {below[0]}", *(f"  {line}" for line in below[1:])]
        else:
            lines += [mark, *(f"  {line}" for line in below)]
    return lines


def _scalar(text: str) -> str:
    """Return a text in a form that YAML reads back unchanged."""
    if _PLAIN.fullmatch(text) and text not in _NOTHING:
        return text
    return json.dumps(text, ensure_ascii=False) if not text.isprintable() else "'" + text.replace("'", "''") + "'"


def _lines(text: bytes) -> list[str]:
    """Return the lines of a text, at least one."""
    return text.removeprefix(BOM).decode("utf-8", "replace").replace("\r\n", "\n").split("\n")


def entries(text: str, refused: Callable[..., Exception]) -> dict[str, str]:
    """Return the scalars of YAML by the keys and places that lead to them, with dots between; nulls are left out.

    Raises: the error of ``refused``, which takes a line, for what is not YAML or has no keys.

    >>> entries("actor:\\n  team: 'x: y'\\ndata:\\n- name: robust\\n  n: 2\\n- plain  # why", ValueError)
    {'actor.team': 'x: y', 'data.0.name': 'robust', 'data.0.n': '2', 'data.1': 'plain'}
    """
    from ndcg_tracker.ingest.formats.yaml_documents import yaml_value

    try:
        document = yaml_value(text, refused, are_texts=True)
        if not isinstance(document, dict | list | None):
            raise WrongValueError("not the keys of ir_metadata", advice="correct or remove it")
        return dict(_flat(document, ""))
    except RecursionError:
        raise refused("YAML nested too deeply", advice="correct or remove it") from None
    except WrongValueError as error:
        raise refused(error.what, advice=error.advice) from None


def _flat(value: Any, name: str) -> Iterator[tuple[str, str]]:
    """Yield the scalars below a name; an empty key is that of a scalar next to keys."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _flat(inner, ".".join(filter(None, (name, str(key)))))
    elif value is not None:
        yield name, value
