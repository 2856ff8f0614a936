"""Row 17: ten million rows with ``--stream``, and the most memory that the program ever held."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator

from command_line import Program

from ndcg_tracker.storage.store import Store

from .databases import damage, database, engine_name
from .material import write_material
from .report import Outcome, Setting

SEED = 20_260_117
_ITEMS_PER_GROUP = 1000
_N_GROUPS = {"full": 10_000, "quick": 200}
_LIMIT = 1 << 30
# A process's peak begins at that of the process that started it, so a small one starts it.
_MEASURED = """
import json, os, subprocess, sys

process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
out = process.stdout.read()
_, status, usage = os.wait4(process.pid, 0)
process.returncode = os.waitstatus_to_exitcode(status)
kilobytes = usage.ru_maxrss // (1024 if sys.platform == "darwin" else 1)
print(json.dumps({"code": process.returncode, "peak": kilobytes * 1024, "out": out.decode()}))
"""


def outcomes(setting: Setting) -> Iterator[Outcome]:
    """Yield the peak of an ingest on each engine."""
    material = write_material(setting.folder, "long", _N_GROUPS[setting.size], _ITEMS_PER_GROUP, SEED)
    megabytes = material.run.stat().st_size / 1e6
    what = f"ingest --stream of {material.n_items:,} rows ({megabytes:,.0f} MB of TREC, groups of {_ITEMS_PER_GROUP:,})"
    for engine in setting.engines:
        with database(setting, engine) as url:
            ingest = ["ingest", str(material.run), "--labels", str(material.labels), "--stream"]
            started = time.monotonic()
            code, peak, said = _measured(setting, "--db", url, *ingest)
            seconds = time.monotonic() - started
            with Store.open(url) as store, store.read() as tx:
                n_items = sum(run.n_items for run in tx.runs.all())
            damaged = damage(url)
        failed = "" if code == 0 else f"; exit {code}: {said}"
        yield Outcome(
            17,
            what,
            engine_name(engine),
            "peak resident memory below 1 GiB",
            f"{peak / (1 << 20):,.0f} MiB at the peak, {n_items:,} items stored in {seconds:.0f} s, "
            f"{len(damaged)} kinds of damage{failed}",
            met=peak < _LIMIT and n_items == material.n_items and not damaged and not failed,
            note="the program's own memory" + ("; the server has its own" if engine == "postgres" else ""),
        )
    material.run.unlink()


def _measured(setting: Setting, *arguments: str) -> tuple[int, int, str]:
    """Run the program and return its exit code, its peak in bytes, and what it said."""
    code, peak, _, err = peak_of(setting, Program(setting.folder).words(*arguments))
    return code, peak, err


def peak_of(setting: Setting, words: list[str]) -> tuple[int, int, str, str]:
    """Run a command; return its exit code, the peak in bytes of its largest process, and what it printed."""
    program = Program(setting.folder)
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, *words],
        cwd=setting.folder,
        env=program.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    measured = json.loads(done.stdout)
    return measured["code"], measured["peak"], measured["out"], done.stderr
