"""Row 3: eight writers at once, of many small runs and of a few large ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.pool import AsyncResult
from multiprocessing.synchronize import Barrier
from pathlib import Path

from command_line import Printed

from ndcg_tracker.api.tracker import Tracker

from .databases import contents, damage, database, engine_name
from .forked import CONTEXT, context
from .material import Material, write_material
from .programs import at_once, checked, here
from .report import Outcome, Setting

SEED = 20_260_103
N_WRITERS = 8
_SMALL_GROUPS = 20
_start: Barrier | None = None


@dataclass(frozen=True)
class _Sizes:
    runs_per_writer: int
    files_per_writer: int
    groups_per_file: int


_SIZES = {"full": _Sizes(50, 6, 200), "quick": _Sizes(2, 1, 4)}
_ITEMS_PER_GROUP = 500


def outcomes(setting: Setting) -> Iterator[Outcome]:
    """Yield what the writers came to on each engine, small runs first."""
    sizes = _SIZES[setting.size]
    for engine in setting.engines:
        with database(setting, engine) as url:
            yield _small(setting, engine, url, sizes)
        with database(setting, engine) as url:
            yield _large(setting, engine, url, sizes)


def frame_of(writer: int, number: int) -> dict[str, list[object]]:
    """Return a small run with labels that no other writer and number has."""
    groups = [f"q{group}" for group in range(_SMALL_GROUPS) for _ in range(5)]
    items = [f"d{item}" for _ in range(_SMALL_GROUPS) for item in range(5)]
    scores = [float((writer * 1009 + number * 31 + place * 7) % 997) + place / 1000 for place in range(len(items))]
    return {"group": list(groups), "item": list(items), "score": list(scores), "label": [int(i[1:]) % 3 for i in items]}


def _small(setting: Setting, engine: str, url: str, sizes: _Sizes) -> Outcome:
    """Seven writers store frames through Python, the eighth files through the program."""
    wanted = N_WRITERS * sizes.runs_per_writer
    files = setting.folder / f"small files {engine}"
    files.mkdir()
    last = [_csv_of(files, N_WRITERS - 1, number) for number in range(sizes.runs_per_writer)]
    barrier = CONTEXT.Barrier(N_WRITERS)
    with context().Pool(N_WRITERS - 1, _wait_with, (barrier,)) as pool:
        stored = [
            pool.apply_async(_store_frames, (url, writer, sizes.runs_per_writer)) for writer in range(N_WRITERS - 1)
        ]
        barrier.wait()
        printed = [here("--db", url, "ingest", path, "--git-commit", "none", "--dataset", "shop") for path in last]
        errors = [error for result in stored for error in _errors_of(result)]
    errors += [one.err for one in printed if one.code != 0]
    with database(setting, engine) as alone_url:
        alone = _stored_alone(alone_url, last, sizes.runs_per_writer)
        return _outcome(
            engine, url, f"{N_WRITERS} writers x {sizes.runs_per_writer} runs at once", wanted, alone, errors
        )


def _csv_of(folder: Path, writer: int, number: int) -> str:
    frame = frame_of(writer, number)
    path = folder / f"run {writer}-{number}.csv"
    rows = [",".join(frame), *(",".join(map(str, row)) for row in zip(*frame.values(), strict=True))]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


def _wait_with(barrier: Barrier) -> None:
    global _start
    _start = barrier


def _store_frames(url: str, writer: int, n_runs: int) -> list[str]:
    """Store runs one after the other and return what failed."""
    errors = []
    if _start is not None:
        _start.wait()
    with Tracker(url) as tracker:
        for number in range(n_runs):
            try:
                tracker.ingest(frame_of(writer, number), name=f"run {writer}-{number}", dataset="shop")
            except Exception as error:
                errors.append(f"{type(error).__name__}: {error}")
    return errors


def _errors_of(result: AsyncResult[list[str]]) -> list[str]:
    return result.get()


def _stored_alone(url: str, last: list[str], n_runs: int) -> dict[tuple[str, str], str]:
    """Return what the same runs come to where one writer stores them."""
    for writer in range(N_WRITERS - 1):
        if errors := _store_frames(url, writer, n_runs):
            raise RuntimeError(errors[0])
    checked(here("--db", url, "ingest", *last, "--git-commit", "none", "--dataset", "shop"))
    return contents(url)


def _large(setting: Setting, engine: str, url: str, sizes: _Sizes) -> Outcome:
    """Eight programs store some files each, every other one of them streamed."""
    materials = [
        [
            write_material(
                setting.folder, f"{engine} {writer}-{number}", sizes.groups_per_file, _ITEMS_PER_GROUP, SEED + number
            )
            for number in range(sizes.files_per_writer)
        ]
        for writer in range(N_WRITERS)
    ]
    commands = [_ingest(url, some, *["--stream"] * (place % 2)) for place, some in enumerate(materials)]
    errors = [printed.err for printed in at_once(setting.folder, commands) if not _is_quiet(printed)]
    with database(setting, engine) as alone_url:
        for some in materials:
            checked(here(*_ingest(alone_url, some)))
        alone = contents(alone_url)
    for material in (one for some in materials for one in some):
        material.run.unlink()
        material.labels.unlink()
    n_items = sizes.groups_per_file * _ITEMS_PER_GROUP
    what = f"{N_WRITERS} writers x {sizes.files_per_writer} runs of {n_items:,} items at once"
    return _outcome(engine, url, what, N_WRITERS * sizes.files_per_writer, alone, errors)


def _ingest(url: str, materials: list[Material], *further: str) -> list[str]:
    files = [str(material.run) for material in materials]
    labels = str(materials[0].labels)
    return ["--db", url, "ingest", *files, "--labels", labels, "--dataset", "shop", "--git-commit", "none", *further]


def _is_quiet(printed: Printed) -> bool:
    """Return whether a program succeeded; notes that another run has the same content are no errors."""
    return printed.code == 0 and "error" not in printed.err and "Traceback" not in printed.err


def _outcome(
    engine: str, url: str, what: str, wanted: int, alone: dict[tuple[str, str], str], errors: list[str]
) -> Outcome:
    found = contents(url)
    equal = sum(found.get(run) == content for run, content in alone.items())
    damaged = damage(url)
    shown = f"; first: {errors[0]}" if errors else ""
    return Outcome(
        3,
        what,
        engine_name(engine),
        f"{wanted}/{wanted} stored, 0 errors",
        f"{len(found)}/{wanted} stored, {equal}/{wanted} equal to what one writer stores, {len(errors)} errors, "
        f"{len(damaged)} kinds of damage{shown}",
        met=len(found) == equal == wanted and not errors and not damaged,
    )
