"""How long upkeep takes at the size of a year, and how much memory: seconds and peak of each command.

python benchmarks/upkeep.py FOLDER URL...

runs check, backup and restore (SQLite), export, import into a new database of the same engine, prune (what would go,
items, group results) and vacuum, each in a process of its own, on a copy that is thrown away: a SQLite file is copied
with ``db backup``, a Postgres database with CREATE DATABASE ... TEMPLATE, so nobody else may be connected to it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import psycopg
from psycopg import sql
from sqlalchemy.engine import URL, make_url

PROGRAM = [sys.executable, "-c", "from ndcg_tracker.cli.app import main; main()"]
BEFORE = "2026-04-01"


def measured(command: list[str]) -> tuple[float, float, float]:
    """Return how many seconds a command takes by the clock and on the processor, and its peak of memory in MB."""
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        said = process.stderr.read() if process.stderr else b""
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)}: {said.decode()}")
    print(f"    {said.decode().strip()[:160]}", file=sys.stderr)
    return time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def copied(url: URL, name: str, folder: Path) -> str:
    """Return a database like the one at a URL, or an empty one for the name ``new``."""
    if url.get_backend_name() == "sqlite":
        path = folder / f"{name}.db"
        path.unlink(missing_ok=True)
        if name != "new":
            shutil.copyfile(str(url.database), path)
        return f"sqlite:///{path}"
    target = f"{url.database}_{name}"
    admin = url.set(drivername="postgresql", database="postgres").render_as_string(hide_password=False)
    with psycopg.connect(admin, autocommit=True) as connection:
        template = "template0" if name == "new" else str(url.database)
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(target)))
        made = "CREATE DATABASE {} TEMPLATE {}"
        connection.execute(sql.SQL(made).format(sql.Identifier(target), sql.Identifier(template)))
    return url.set(database=target).render_as_string(hide_password=False)


def main() -> None:
    """Measure, and print a table per database."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("urls", nargs="+")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for text in given.urls:
        url = make_url(text)
        exported = given.folder / "exported"
        shutil.rmtree(exported, ignore_errors=True)
        steps = [("db check", text, "db check"), ("export", text, f"export --all -o {exported}")]
        if url.get_backend_name() == "sqlite":
            copy, restored = given.folder / "copy.db", given.folder / "restored.db"
            for path in (copy, restored):
                path.unlink(missing_ok=True)
            steps += [("db backup", text, f"db backup {copy}"), ("db restore", str(restored), f"db restore {copy}")]
        new, whole = copied(url, "new", given.folder), copied(url, "whole", given.folder)
        prune = f"runs prune --older-than {BEFORE}"
        steps += [
            ("db upgrade, new", new, "db upgrade"),
            ("import", new, f"import {exported}"),
            ("import again", new, f"import {exported}"),
            ("runs prune", whole, prune),
            ("runs prune --apply", whole, f"{prune} --apply"),
            ("... --summaries-only", whole, f"{prune} --summaries-only --apply"),
            ("db vacuum", whole, "db vacuum"),
        ]
        if url.get_backend_name() != "sqlite":
            steps.append(("db vacuum --full", whole, "db vacuum --full"))
        print(f"| {url.get_backend_name()} | seconds | processor | peak |\n|---|---|---|---|")
        for name, location, words in steps:
            seconds, processor, peak = measured([*PROGRAM, "--db", location, *words.split()])
            print(f"| {name} | {seconds:.1f} | {processor:.1f} | {peak:,.0f} MB |", flush=True)


if __name__ == "__main__":
    main()
