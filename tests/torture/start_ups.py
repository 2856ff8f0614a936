"""Row 5: eight processes create or upgrade the database at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from migrated import migrate, rows_of

from ndcg_tracker.storage import database as storage
from ndcg_tracker.storage.upkeep import handshake as revisions
from ndcg_tracker.storage.upkeep.handshake import Kind

from .databases import contents, damage, database, engine_name
from .material import Material, write_material
from .migrations import EVERYWHERE
from .programs import at_once, checked, here
from .report import Outcome, Setting

SEED = 20_260_105
N_PROCESSES = 8
_ROUNDS = {"full": 10, "quick": 1}
_FIRST = "0001"


def outcomes(setting: Setting) -> Iterator[Outcome]:
    """Yield what the processes came to on each engine."""
    material = write_material(setting.folder, "started", 20, 20, SEED)
    for engine in setting.engines:
        ways: list[tuple[str, Callable[[str], str]]] = [
            ("db upgrade of a database without tables", lambda url: _made(setting, url)),
            (f"db upgrade of one at {_FIRST} with runs", lambda url: _upgraded(setting, url, material)),
        ]
        if engine == "sqlite":
            ways.insert(0, ("a first ingest each, which makes the file", lambda url: _ingested(setting, url, material)))
        for what, way in ways:
            yield _outcome(setting, engine, what, way)


def _outcome(setting: Setting, engine: str, what: str, way: Callable[[str], str]) -> Outcome:
    n_rounds = _ROUNDS[setting.size]
    faults = []
    for _ in range(n_rounds):
        with database(setting, engine, upgraded=False) as url:
            fault = way(url)
            if not fault and storage.current(url).kind is not Kind.CURRENT:
                fault = f"it is {storage.current(url)}"
            faults += [fault] if fault else [str(found) for found in damage(url)]
    shown = f"; first: {faults[0]}" if faults else ""
    return Outcome(
        5,
        f"{N_PROCESSES} processes at once, {n_rounds} times: {what}",
        engine_name(engine),
        "0 errors",
        f"{n_rounds * N_PROCESSES} processes, {len(faults)} errors{shown}",
        met=not faults,
    )


def _ingested(setting: Setting, url: str, material: Material) -> str:
    commands = [_ingest(url, material, f"run {number}") for number in range(N_PROCESSES)]
    fault = _failed(setting.folder, commands)
    return fault or ("" if len(contents(url)) == N_PROCESSES else "not all runs are there")


def _made(setting: Setting, url: str) -> str:
    return _failed(setting.folder, [["--db", url, "db", "upgrade"]] * N_PROCESSES)


def _upgraded(setting: Setting, url: str, material: Material) -> str:
    """Bring a database with two runs back to the first revision, upgrade it eight times at once, and look at it."""
    storage.upgrade(url)
    for name in ("one", "two"):
        checked(here(*_ingest(url, material, name)))
    before, rows = contents(url), rows_of(url, EVERYWHERE)
    migrate(url, "downgrade", _FIRST)
    if storage.current(url).detail != _FIRST or revisions.newest_revision() == _FIRST:
        raise RuntimeError(f"the database is at {storage.current(url)}, not at {_FIRST}")
    fault = _failed(setting.folder, [["--db", url, "db", "upgrade"]] * N_PROCESSES)
    if fault:
        return fault
    if contents(url) != before or rows_of(url, EVERYWHERE) != rows:
        return "its rows are not what they were"
    if url.startswith("sqlite"):
        backups = list(Path(url.removeprefix("sqlite:///")).parent.glob("*.backup"))
        return "" if len(backups) == 1 else f"{len(backups)} backups"
    return ""


def _ingest(url: str, material: Material, name: str) -> list[str]:
    return ["--db", url, "ingest", str(material.run), "--labels", str(material.labels), "--name", name]


def _failed(folder: Path, commands: list[list[str]]) -> str:
    """Run commands at once and return what the first one that failed said, "" where all succeeded."""
    return next((one.err for one in at_once(folder, commands) if one.code != 0), "")
