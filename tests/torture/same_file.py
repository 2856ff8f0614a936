"""Row 4: eight processes ingest the same file at once, and twelve gates spend one budget at once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from .databases import damage, database, engine_name, n_runs
from .material import write_material
from .programs import at_once, checked, here, outcome
from .report import Outcome, Setting

SEED = 20_260_104
N_PROCESSES, N_GATES = 8, 12
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
        yield _races(setting, engine, material.run, material.labels)


def _races(setting: Setting, engine: str, run: Path, labels: Path) -> Outcome:
    """Return what gates with different margins came to that spend one budget at once."""
    n_right, faults = 0, list[str]()
    for _ in range(_ROUNDS[setting.size]):
        with database(setting, engine) as url:
            for name in ("base", "candidate"):
                checked(here("--db", url, "ingest", str(run), "--labels", str(labels), "--name", name))
            checked(here("--db", url, "alias", "set", "prod", "base"))
            checked(here("--db", url, "policy", "set", "prod", "--margin", ".2", "--budget", ".05", "--looks", "40"))
            words = ["gate", "candidate", "--baseline", "@prod", "--format", "json"]
            asked = [["--db", url, *words, "--margin", str(0.1 + n / 1000)] for n in range(N_GATES)]
            printed = at_once(setting.folder, asked)
            looks = sorted(json.loads(one.out)["look"]["number"] for one in printed if one.code in (0, 3, 4))
            is_right = looks == list(range(1, N_GATES + 1)) and not damage(url)
            n_right += is_right
            if not is_right:
                faults.append(f"looks {looks}, {[(one.code, one.err) for one in printed if one.err][:2]}")
    return Outcome(
        4,
        f"{N_GATES} gates spend one budget at once, {_ROUNDS[setting.size]} times",
        engine_name(engine),
        f"looks 1 to {N_GATES}, once each",
        f"{n_right}/{_ROUNDS[setting.size]} rounds with looks 1 to {N_GATES}, once each"
        + (f"; first fault: {faults[0]}" if faults else ""),
        met=not faults,
    )
