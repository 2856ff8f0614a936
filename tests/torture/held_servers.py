"""Row 27: calls that are meant to hold the server of an agent, and files that killed processes left for a command."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from agents import HOSTILE, PROGRAM, Agent, write_hostile_files

from .databases import database
from .forked import Forked
from .material import write_material
from .programs import checked, ended, here
from .report import Outcome, Setting

_TRIES = 20
"""Of a harmless call, because a busy machine may take longer than the limit."""


def outcomes(setting: Setting) -> Iterator[Outcome]:
    """Yield what the calls and the leftovers came to; quickly, tests/integrations/test_mcp.py makes the calls."""
    if setting.size != "quick":
        yield _calls(setting)
    if "sqlite" in setting.engines:
        yield _leftovers(setting)


def _calls(setting: Setting) -> Outcome:
    folder = setting.folder / "agent"
    folder.mkdir()
    write_hostile_files(folder)
    limit = 65
    agent = Agent(sys.executable, "none.db", folder, PROGRAM)
    slowest, slowest_next, wrong = 0.0, 0.0, []
    try:
        for given, message in HOSTILE:
            begun = time.monotonic()
            told = agent.refused("evaluate", **{"file": "run.csv", **given})
            slowest, begun = max(slowest, time.monotonic() - begun), time.monotonic()
            agent.tries = _TRIES
            agent.told("evaluate", file="run.csv")
            slowest_next, agent.tries = max(slowest_next, time.monotonic() - begun), 1
            if not told.startswith(message.replace("3 s", f"{limit} s")):
                wrong.append(told)
    finally:
        agent.close()
    return Outcome(
        27,
        f"{len(HOSTILE)} patterns and files through `evaluate` of the MCP server, limit {limit} s, each followed by "
        "a harmless call",
        "-",
        "every call answered in one line, the next at once",
        f"{len(HOSTILE) - len(wrong)} of {len(HOSTILE)} answered, the slowest after {slowest:.1f} s; the next call "
        f"answered {len(HOSTILE)} of {len(HOSTILE)}, the slowest after {slowest_next:.1f} s"
        + (f"; first fault: {wrong[0]}" if wrong else ""),
        met=not wrong,
    )


def _leftovers(setting: Setting) -> Outcome:
    """Write a page while the folder has what a killed process of every near number would have left."""
    material = write_material(setting.folder, "left", 20, 20, 1)
    page = setting.folder / "page.html"
    near = range(os.getpid(), os.getpid() + 2_000)
    left = [page.with_name(name.format(pid)) for pid in near for name in (".page.html.{}", ".ndcg-track-{:016x}")]
    for path in left:
        path.touch()
    old = left[:1_000]
    for path in old:
        os.utime(path, (0, 0))
    with database(setting, "sqlite") as url:
        for name in ("a", "b"):
            checked(here("--db", url, "ingest", str(material.run), "--labels", str(material.labels), "--name", name))
        printed = ended(Forked(setting.folder, "--db", url, "report", "a", "b", "--output", str(page)))
    is_written = printed.code == 0 and page.stat().st_size > 0
    of_ours = {path for path in left if path.name.startswith(".ndcg-track-")}
    kept = {path for path in left if path.exists()}
    is_clean = kept == set(left) - (of_ours & set(old)) and not _unfinished(page.parent) - of_ours
    return Outcome(
        27,
        f"`report` beside {len(left):,} files that killed processes left",
        "-",
        "the page is written, old leftovers of ours are gone, nothing else is",
        f"{'written' if is_written else printed}, {len(left) - len(kept):,} of {len(of_ours & set(old)):,} gone",
        met=is_written and is_clean,
    )


def _unfinished(folder: Path) -> set[Path]:
    return set(folder.glob(".ndcg-track-*"))
