"""Row 4: eight processes ingest the same file at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from .databases import damage, database, engine_name, n_runs
from .material import write_material
from .programs import at_once, outcome
from .report import Outcome, Setting

SEED = 20_260_104
N_PROCESSES = 8
_ROUNDS = {"full": 10, "quick": 1}
_WANTED = Counter({"stored": 1, "already stored": N_PROCESSES - 1})


def outcomes(setting: Setting) -> Iterator[Outcome]:
    """Yield what the processes came to on each engine: on SQLite they create the file, too."""
    n_groups = 200 if setting.size == "full" else 20
    material = write_material(setting.folder, "same", n_groups, 100, SEED)
    for engine in setting.engines:
        n_right = 0
        faults: list[str] = []
        for number in range(_ROUNDS[setting.size]):
            with database(setting, engine, upgraded=engine != "sqlite") as url:
                files = [str(material.run), "--labels", str(material.labels)]
                stream = ["--stream"] if number % 2 else []
                command = ["--db", url, "ingest", *files, "--format", "json", *stream]
                printed = at_once(setting.folder, [command] * N_PROCESSES)
                is_right = Counter(map(outcome, printed)) == _WANTED and n_runs(url) == 1 and not damage(url)
                n_right += is_right
                if not is_right:
                    faults.append(f"round {number}: {[(one.code, one.err) for one in printed]}")
        shown = f"; first fault: {faults[0]}" if faults else ""
        yield Outcome(
            4,
            f"{N_PROCESSES} processes ingest the same file at once, {_ROUNDS[setting.size]} times",
            engine_name(engine),
            "1 run; 7 say already stored",
            f"{n_right}/{_ROUNDS[setting.size]} rounds with 1 run, 1 stored and 7 already stored{shown}",
            met=not faults,
        )
