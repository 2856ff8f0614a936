"""Row 19: queries that take too much time or memory, through ``sql`` and ``Tracker.sql``, and Ctrl-C in the middle."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from .databases import database, engine_name
from .escapes import fill
from .memory import peak_of
from .programs import cold, here
from .report import Outcome, Setting

_SECONDS = {"full": 2.0, "quick": 0.3}
_SECONDS_FOR_MEMORY = 15.0
_LARGEST = 3 << 29
_FIRST_OF_MEMORY = {"sqlite": "a row of huge values", "postgres": "texts to sort"}
_INTERRUPTED = ("one long step", "rows without end", "counting without end", "texts to sort")
_N_QUICK = 3  # through `sql` in this process: the others start Python several times each
_COUNTING = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) "
_SOME = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT {}) "
_MANY_NAMES = ", ".join(["t"] * 1500)
_MANY_MAXIMA = ", ".join(f"max(printf('%090000000d', n + {place}))" for place in range(40))

SQLITE = {
    # time: one step of SQLite that takes minutes, then many short ones
    "one long step": "SELECT instr(printf('%090000000d', 0), printf('%040000000d', 0) || '1')",
    "rows without end": _COUNTING + "SELECT n FROM r",
    "counting without end": _COUNTING + "SELECT count(*) FROM r",
    "a long replace": "SELECT length(replace(printf('%090000000d', 0), printf('%040000000d', 0) || '1', 'x'))",
    "a long LIKE": _COUNTING + "SELECT count(*) FROM r WHERE printf('%01000000d', n) LIKE '%1%2%3%4%5'",
    "a long GLOB": _COUNTING + "SELECT count(*) FROM r WHERE printf('%01000000d', n) GLOB '*1*2*3*4*5'",
    "a long trim": _COUNTING + "SELECT count(trim(printf('%010000000d', n), '0')) FROM r",
    "long windows": _SOME.format(90) + "SELECT length(group_concat(printf('%050000000d', n)) OVER (ORDER BY n)) FROM r",
    "a window over all rows each": _SOME.format(10_000_000)
    + "SELECT sum(n) OVER (ORDER BY n ROWS BETWEEN 50000 PRECEDING AND 50000 FOLLOWING) FROM r",
    "products of tables": _SOME.format(9_999) + "SELECT count(*) FROM r a, r b, r c, r d",
    "a join on nothing": _SOME.format(100_000) + "SELECT count(*) FROM r a JOIN r b ON a.n % 7 = b.n % 11",
    "numbers once each": "WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT n + 1 FROM r) SELECT max(n) FROM r",
    "rows that never fit": _COUNTING + "SELECT n FROM r WHERE n < 0",
    "sorting without end": _COUNTING + "SELECT n FROM r ORDER BY -n",
    "texts to sort": _COUNTING + "SELECT printf('%0100000d', n) FROM r ORDER BY 1 DESC",
    "distinct texts": _COUNTING + "SELECT count(DISTINCT printf('%0100000d', n)) FROM r",
    "groups of texts": _COUNTING + "SELECT printf('%0100000d', n) AS t, count(*) FROM r GROUP BY t",
    "a subquery per row": _SOME.format(100_000) + "SELECT (SELECT count(*) FROM r b WHERE b.n <> a.n) FROM r a",
    "JSON of a large list": _SOME.format(3_000_000)
    + "SELECT sum(json_extract(l, '$[' || n || ']')) FROM (SELECT json_group_array(n) AS l FROM r), r",
    "JSON patched again and again": "WITH RECURSIVE r(j) AS (SELECT '{}' UNION ALL SELECT json_patch(j, "
    "json_object(hex(length(j)), j)) FROM r) SELECT max(length(j)) FROM r",
    "a tree of JSON": _SOME.format(500_000)
    + "SELECT count(*) FROM (SELECT json_group_array(n) AS l FROM r), json_tree(l) a, json_tree(l) b",
    "views joined with views": "SELECT count(*) FROM items a, items b, items c, items d, items e, items f, items g, "
    "items h, group_history i, group_history j, group_history k, group_diff l, group_diff m, labels n, labels o",
    # memory
    "a row of huge values": f"SELECT {_MANY_NAMES} FROM (SELECT printf('%090000000d', 1) AS t)",
    "rows of large texts": _COUNTING + "SELECT printf('%010000000d', n) FROM r",
    "rows of large blobs": _COUNTING + "SELECT CAST(printf('%010000000d', n) AS BLOB) FROM r",
    "huge values at once": f"WITH r(n) AS (VALUES (1), (2)) SELECT {_MANY_MAXIMA} FROM r",
    "a text that doubles": "WITH RECURSIVE r(t) AS (SELECT 'xxxxxxxxxx' UNION ALL SELECT t || t FROM r) "
    "SELECT length(t) FROM r",
    "a text of all rows": _COUNTING + "SELECT group_concat(n) FROM r",
    "a text per row, kept": "WITH RECURSIVE r(n, t) AS (SELECT 1, '' UNION ALL SELECT n + 1, printf('%050000000d', n) "
    "FROM r) SELECT count(*), max(t) FROM r",
    "a list of all rows": _COUNTING + "SELECT json_group_array(n) FROM r",
    "an object of all rows": _COUNTING + "SELECT json_group_object(n, n) FROM r",
    "texts in a window": _COUNTING + "SELECT lag(printf('%01000000d', n), 1000) OVER (ORDER BY n) FROM r",
    "hexadecimal of hexadecimal": "SELECT hex(hex(hex(hex(printf('%090000000d', 1)))))",
    "a wide printf": _COUNTING + "SELECT max(printf('%.*c', 90000000, char(65 + n % 26))) FROM r",
    "quotes of quotes": "SELECT quote(quote(quote(quote(replace(printf('%090000000d', 0), '0', '''')))))",
    "wide rows": _COUNTING + f"SELECT {', '.join(f'n + {place}' for place in range(1500))} FROM r",
}
POSTGRES = {
    "counting without end": _COUNTING + "SELECT count(*) FROM r WHERE n < 0",
    "rows without end": "SELECT n FROM generate_series(1, 1000000000000) AS n",
    "rows that never fit": "SELECT n FROM (SELECT generate_series(1, 1000000000000) AS n) AS s WHERE n < 0",
    "products of tables": "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b, "
    "generate_series(1, 100000) c",
    "a join on nothing": "SELECT count(*) FROM generate_series(1, 1000000) a JOIN generate_series(1, 1000000) b "
    "ON a % 7 <> b % 11",
    "a subquery per row": "SELECT (SELECT count(*) FROM generate_series(1, 1000000) b WHERE b <> a) "
    "FROM generate_series(1, 1000000) a",
    "a long step while planning": "SELECT length(replace(repeat('xy', 250000000), 'xyx', 'z'))",
    "texts to sort": "SELECT repeat('x', 10000) || n FROM generate_series(1, 1000000000) n ORDER BY 1 DESC",
    "rows of large texts": "SELECT repeat('x', 10000000) FROM generate_series(1, 100000) n",
    "rows of large blobs": "SELECT decode(repeat('00', 5000000), 'hex') FROM generate_series(1, 100000) n",
    "a row of large values": f"SELECT {', '.join(['t'] * 90)} FROM (SELECT repeat('x', 10000000) AS t) AS s",
    "a text of all rows": "SELECT string_agg(repeat('x', 1000), '') FROM generate_series(1, 100000000) n",
    "a list of all rows": "SELECT array_agg(repeat('x', 1000)) FROM generate_series(1, 100000000) n",
    "a list of JSON": "SELECT json_agg(repeat('x', 1000)) FROM generate_series(1, 100000000) n",
    "a text that doubles": "WITH RECURSIVE r(t) AS (SELECT 'xxxxxxxxxx' UNION ALL SELECT t || t FROM r) "
    "SELECT length(t) FROM r",
    "wide rows": f"SELECT {', '.join(f'n + {place}' for place in range(1500))} FROM generate_series(1, 100000000) n",
    "views joined with views": "SELECT count(*) FROM items a, items b, items c, items d, items e, items f, items g, "
    "items h, group_history i, group_history j, group_history k, group_diff l, group_diff m, labels n, labels o",
}
_ASKING = """
import json, sys, time
import ndcg_tracker as nt
with nt.Tracker(sys.argv[1]) as tracker:
    tracker.sql("SELECT 1 AS n")
    started = time.monotonic()
    try:
        tracker.sql(sys.argv[2], timeout_seconds=float(sys.argv[3]))
        told = ""
    except nt.InputError as error:
        told = str(error)
print(json.dumps({"told": told, "seconds": time.monotonic() - started}))
"""


@dataclass
class _Tally:
    limit: float
    n_stopped: int = 0
    n_refused: int = 0
    slowest: float = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, name: str, told: str, seconds: float) -> None:
        """Count what became of a query; ``told``: its one line."""
        self.slowest = max(self.slowest, seconds)
        if told.startswith(f"sql: stopped after {self.limit:g} s;"):
            self.n_stopped += 1
        elif told.startswith("sql: "):
            self.n_refused += 1
        else:
            self.wrong.append(f"{name}: {told[:200]!r}")

    def told(self) -> str:
        """Return what should not have happened, in words."""
        return f"; {len(self.wrong)} wrong, first: {self.wrong[0]}" if self.wrong else ""


def outcomes(setting: Setting) -> Iterator[Outcome]:
    """Yield per engine what became of all hogs in either way, and of Ctrl-C."""
    for engine in setting.engines:
        hogs = SQLITE if engine == "sqlite" else POSTGRES
        chosen = hogs if setting.size == "full" else dict(list(hogs.items())[:: len(hogs) // _N_QUICK + 1])
        with database(setting, engine) as url:
            fill(url)
            yield _stopped(setting, engine, url, chosen)
            if setting.size == "full":
                first = _FIRST_OF_MEMORY[engine]
                yield _peak(setting, engine, url, {name: hogs[name] for name in list(hogs)[list(hogs).index(first) :]})
                yield _interrupted(setting, engine, url, {name: hogs[name] for name in _INTERRUPTED if name in hogs})


def _stopped(setting: Setting, engine: str, url: str, hogs: dict[str, str]) -> Outcome:
    """Ask each in this process through ``sql``, and, in the full size, through ``Tracker.sql`` in one of its own."""
    limit = _SECONDS[setting.size]
    tally = _Tally(limit)
    for name, query in hogs.items():
        started = time.monotonic()
        found = here("--db", url, "sql", "--timeout", str(limit), query)
        seconds = time.monotonic() - started
        is_one_line = found.code == 2 and not found.out and found.err.count("\n") == 1
        tally.add(name, found.err.removeprefix("error: ") if is_one_line else f"{found.code}: {found.err}", seconds)
        if setting.size == "full":
            told, seconds, _ = _asked(setting, url, query, limit)
            tally.add(name, told, seconds)
    is_late = setting.size == "full" and tally.slowest > limit + 1
    return Outcome(
        19,
        f"{len(hogs)} queries that take too much time or memory x (`sql`, `Tracker.sql`), limit {limit:g} s",
        engine_name(engine),
        f"all stopped by {limit + 1:g} s or refused in one line",
        f"{tally.n_stopped} stopped, {tally.n_refused} refused, the slowest after {tally.slowest:.1f} s{tally.told()}",
        met=not tally.wrong and not is_late,
    )


def _peak(setting: Setting, engine: str, url: str, hogs: dict[str, str]) -> Outcome:
    """Give those that take memory the time to take it."""
    tally = _Tally(_SECONDS_FOR_MEMORY)
    peak = 0
    for name, query in hogs.items():
        told, seconds, its_peak = _asked(setting, url, query, _SECONDS_FOR_MEMORY)
        peak = max(peak, its_peak)
        tally.add(name, told, seconds)
    return Outcome(
        19,
        f"{len(hogs)} that take memory, limit {_SECONDS_FOR_MEMORY:g} s",
        engine_name(engine),
        f"no process above {_LARGEST / (1 << 30):g} GiB",
        f"{tally.n_stopped} stopped, {tally.n_refused} refused; {peak >> 20:,} MiB at the peak of the largest process"
        + tally.told(),
        met=not tally.wrong and peak < _LARGEST,
        note="the program's own processes" + ("; the server has its own" if engine == "postgres" else ""),
    )


def _asked(setting: Setting, url: str, query: str, limit: float) -> tuple[str, float, int]:
    """Return what ``Tracker.sql`` said in a process of its own, after how many seconds, and at what peak of memory."""
    code, peak, out, err = peak_of(setting, [sys.executable, "-c", _ASKING, url, query, str(limit)])
    if code != 0:
        return f"exit {code}: {err[-200:]}", 0, peak
    found = json.loads(out)
    return found["told"], found["seconds"], peak


def _interrupted(setting: Setting, engine: str, url: str, hogs: dict[str, str]) -> Outcome:
    slowest = 0.0
    wrong = []
    for name, query in hogs.items():
        process = cold(setting.folder, "--db", url, "sql", "--timeout", "600", query)
        _wait_for(process, engine)
        child = _children(process.pid)
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        try:
            process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        slowest = max(slowest, time.monotonic() - sent)
        left = [one for one in child if Path(f"/proc/{one}").exists()]
        if process.returncode != 130 or left:
            wrong.append(f"{name}: exit {process.returncode}, {len(left)} processes left")
    said = f"; {len(wrong)} wrong, first: {wrong[0]}" if wrong else ""
    return Outcome(
        19,
        f"Ctrl-C in the middle of {len(hogs)} of them, limit 600 s",
        engine_name(engine),
        "exit 130 within a second, no process left",
        f"{len(hogs) - len(wrong)} of {len(hogs)} ended with 130, the slowest after {slowest:.1f} s{said}",
        met=not wrong and slowest < 1,
    )


def _wait_for(process: subprocess.Popen[bytes], engine: str) -> None:
    """Wait until the query runs: its own process has used the processor; on Postgres, for some seconds."""
    deadline = time.monotonic() + (30 if engine == "sqlite" else 8)
    while time.monotonic() < deadline and process.poll() is None:
        for child in _children(process.pid):
            with suppress(OSError):
                fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
                if (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") > 0.3:
                    return
        time.sleep(0.02)


def _children(process: int) -> list[int]:
    found = []
    with suppress(OSError):
        for thread in Path(f"/proc/{process}/task").iterdir():
            found += map(int, (thread / "children").read_text().split())
    return found
