"""What a row of the reliability table came to, and the table as markdown and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from postgres_server import PostgresServer

_COLUMNS = ("row", "test", "engine", "goal", "measured", "met", "note")


@dataclass(frozen=True)
class Outcome:
    """What was measured for one row on one engine.

    ``row``: number in the reliability table. ``figure``: what was measured. ``note``: what cannot be claimed, and why.
    """

    row: int
    what: str
    engine: str
    goal: str
    figure: str
    met: bool
    note: str = ""


@dataclass(frozen=True)
class Setting:
    """What a row runs with: its size, a folder to write into, a running server, and the requested engines."""

    size: Literal["quick", "full"]
    folder: Path
    postgres: PostgresServer
    engines: tuple[str, ...]


def markdown(outcomes: Iterable[Outcome]) -> str:
    """Return the outcomes as a markdown table."""
    lines = [_line(_COLUMNS), _line(["---"] * len(_COLUMNS))]
    for one in outcomes:
        cells = [str(one.row), one.what, one.engine, one.goal, one.figure, "yes" if one.met else "**no**", one.note]
        lines.append(_line(cells))
    return "\n".join(lines)


def as_json(outcomes: Iterable[Outcome]) -> str:
    """Return the outcomes as a JSON list of objects."""
    return json.dumps([asdict(one) for one in outcomes], indent=1, ensure_ascii=False)


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in cells) + " |"
