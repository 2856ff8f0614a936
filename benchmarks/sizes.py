"""How many bytes a run, a group and an item take, table by table and index by index, on SQLite and on Postgres.

python benchmarks/sizes.py [--folder FOLDER] [--postgres URL] [--largest 200x10000]

makes databases of several sizes (runs x groups, 10 items per group and in one more of 50, one metric), weighs every
table and index, and fits bytes = a per run + b per group of a run + c per item of a run, which says what 10,000 runs of
10,000 groups take. With ``--questions``, the questions of ``docs/questions.md`` are asked of the largest.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import psycopg
import year
from machine import Postgres
from processes import DATA
from sqlalchemy.engine import make_url
from year import Year, questions, seconds, shown

from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.storage.database import upgrade

SIZES = ((20, 1000, 10), (40, 1000, 10), (40, 4000, 10), (20, 1000, 50), (40, 4000, 50))
"""Runs, groups of each, items of each group."""
AIM = (10_000, 10_000)
OF_DATASET = ("label_lists", "groups")
SMALL = 1 << 17
"""Bytes up to which a table is left out."""
_PAGES = "SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC"
_RELATIONS = """
    SELECT c.relname::text, pg_relation_size(c.oid) + CASE WHEN c.relkind = 'r'
        THEN coalesce(pg_total_relation_size(nullif(c.reltoastrelid, 0)), 0) ELSE 0 END
    FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'i') ORDER BY 2 DESC
"""


def fill(url: str, n_runs: int, n_groups: int, n_items: int) -> None:
    """Write runs of a year, with one metric and lists of one length."""
    year.ITEMS = n_items
    of = Year(n_runs, n_groups)
    began = time.perf_counter()
    with Tracker(url) as tracker:
        for number in range(n_runs):
            tracker.ingest(
                of.run(number),
                name=of.name(number),
                dataset="shop",
                labels=of.labels(newer=False) if number == 0 else None,
                metrics="ndcg@10",
                created_at=f"{of.night(number)}T02:00:00Z",
            )
            if number == 0:
                tracker.set_groups(of.attributes(), dataset="shop")
        tracker.set_alias("baseline", of.name(n_runs // 2), "shop")
        tracker.set_alias("prod", of.name(n_runs - 2), "shop")
    print(f"{url}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)


def weighed(url: str) -> dict[str, int]:
    """Return the bytes of every table and index."""
    address = make_url(url)
    if address.get_backend_name() == "sqlite":
        with closing(sqlite3.connect(str(address.database))) as connection:
            return dict(connection.execute(_PAGES))
    conninfo = address.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(conninfo) as connection:
        return {str(name): int(n_bytes) for name, n_bytes in connection.execute(_RELATIONS)}


def fitted(sizes: list[tuple[int, int, int]], n_bytes: list[int]) -> np.ndarray:
    """Return bytes per run, per group of a run and per item of a run: none below 0."""
    counts = np.array([(runs, runs * groups, runs * groups * items) for runs, groups, items in sizes], dtype=float)
    weight = 1 / np.maximum(np.array(n_bytes, dtype=float), 1)
    chosen = [0, 1, 2]
    while chosen:
        found, *_ = np.linalg.lstsq(counts[:, chosen] * weight[:, None], np.array(n_bytes) * weight, rcond=None)
        if (found >= 0).all():
            break
        chosen.remove(chosen[int(np.argmin(found * counts[-1, chosen]))])
    rates = np.zeros(3)
    rates[chosen] = found if chosen else 0
    return rates


def main() -> None:
    """Make, weigh, fit, ask."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=DATA)
    parser.add_argument("--postgres", default="", help="URL of a server whose role may create databases")
    parser.add_argument("--largest", default="", help="also RUNSxGROUPS of 10 items, weighed, but not fitted")
    parser.add_argument("--questions", action="store_true", help="ask the questions of the largest")
    given = parser.parse_args()
    for folder in (given.folder, DATA):
        folder.mkdir(parents=True, exist_ok=True)
    server = Postgres(sys.executable, given.postgres)
    largest = tuple(map(int, given.largest.split("x"))) if given.largest else ()
    sizes = [*SIZES, (largest[0], largest[1], 10)] if largest else list(SIZES)
    urls: dict[str, str] = {}
    try:
        for engine in ("SQLite", "Postgres"):
            found = []
            for runs, groups, items in sizes:
                name = f"sizes-{runs}-{groups}-{items}"
                path = given.folder / f"{name}.db"
                if engine == "SQLite":
                    path.unlink(missing_ok=True)
                url = f"sqlite:///{path}" if engine == "SQLite" else server.create(name)
                upgrade(url)
                fill(url, runs, groups, items)
                found.append(weighed(url))
                urls[engine] = url
                if (runs, groups, items) != sizes[-1] or not given.questions:
                    path.unlink() if engine == "SQLite" else server.drop(name)
            _print(engine, sizes, found, is_checked=bool(largest))
        if given.questions:
            for question in questions():
                cells = [shown(*(seconds(urls[engine], question.query, 1, 60.0)[:1]), question.goals[engine], 60.0)
                         for engine in ("Postgres", "SQLite")]  # fmt: skip
                print(f"| {question.name} | {' | '.join(cells)} |", flush=True)
    finally:
        server.close()


def _print(engine: str, sizes: list[tuple[int, int, int]], found: list[dict[str, int]], *, is_checked: bool) -> None:
    """Print what each table takes; the largest database says how true it is."""
    n_fitted = len(SIZES)
    last, (_, n_groups, _) = found[n_fitted - 1], sizes[n_fitted - 1]
    print(f"| {engine} | bytes per run | per group of a run | per item of a run |\n|---|---|---|---|")
    total, of_dataset = np.zeros(3), 0.0
    for name in sorted(last, key=lambda name: -last[name]):
        if last[name] <= SMALL:
            continue
        if any(one in name for one in OF_DATASET):
            of_dataset += last[name] / n_groups
            continue
        rates = fitted(sizes[:n_fitted], [one.get(name, 0) for one in found[:n_fitted]])
        total += rates
        print(f"| `{name}` | {rates[0]:,.0f} | {rates[1]:,.1f} | {rates[2]:,.1f} |")
    print(f"| all | {total[0]:,.0f} | {total[1]:,.1f} | {total[2]:,.1f} |")
    print(f"| once per group of the dataset, for its {year.LABELLED} labels and its key | | {of_dataset:,.0f} | |")

    def expected(runs: int, groups: int, items: int) -> float:
        return (runs * total[0] + runs * groups * (total[1] + items * total[2]) + groups * of_dataset) / 1e9

    for items in (10, 50):
        print(f"| {AIM[0]:,} runs x {AIM[1]:,} groups x {items} items | {expected(*AIM, items):,.0f} GB | | |")
    if is_checked:
        runs, groups, items = sizes[-1]
        measured = sum(found[-1].values()) / 1e9
        what = f"{runs:,} x {groups:,} x {items}: expected, measured"
        print(f"| {what} | {expected(*sizes[-1]):.2f} GB | {measured:.2f} GB | |")


if __name__ == "__main__":
    main()
