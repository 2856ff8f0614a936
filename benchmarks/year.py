"""A team's year in one database, and how long its natural questions take on SQLite and on Postgres.

python benchmarks/year.py [--folder FOLDER] [--postgres URL] [--runs 400] [--groups 2000] [--rounds 3]

makes the year where it is not there yet: a run per night of 50 items per group under two metrics, labels that change
once and half of the runs evaluated under both versions, attributes, aliases, tags and dates. Then it asks every
question of ``docs/questions.md``, with the SQL of that page, and prints a table. SQLite's file is kept in
``--folder``; Postgres is started by the command and forgotten, or is the empty database at a URL, which is kept.
"""

from __future__ import annotations

import argparse
import datetime
import re
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from machine import Postgres
from processes import DATA, ROOT

from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.errors import InputError
from ndcg_tracker.storage.database import upgrade

ITEMS, POOL, LABELLED = 50, 200, 30
METRICS = ("ndcg@10", "P(rel=2)@5")
LAST_NIGHT = datetime.date(2026, 6, 30)
PRODUCTS, LOCALES = 40, ("de", "en", "fr", "it", "pl")


class Year:
    """The runs of a year: every night the scores drift a little; the labels change three eighths before the end."""

    def __init__(self, n_runs: int, n_groups: int) -> None:
        self.n_runs, self.n_groups = n_runs, n_groups
        self._rng = np.random.default_rng(18)
        self._keys = pa.array([f"query {number:04d}" for number in range(n_groups)])
        self._items = pa.array([f"sku-{number}" for number in range(max(POOL, n_groups * POOL // 4))])
        starts = np.arange(n_groups)[:, None] * (POOL // 4)
        self._pool = (starts + np.arange(POOL)) % len(self._items)  # neighbours share three quarters of their items
        self._grades = self._rng.choice(4, (n_groups, LABELLED), p=(0.5, 0.25, 0.15, 0.1))
        difficulty = self._rng.gamma(2.0, 1.0, (n_groups, 1))
        self._base = self._rng.normal(0.0, 1.0, (n_groups, POOL)) * difficulty
        self._base[:, :LABELLED] += self._grades
        self._base[:, 2] = 9.0  # one item per group that every run finds

    @property
    def relabelled(self) -> int:
        """The number of the first run under the newer labels."""
        return self.n_runs - self.n_runs * 3 // 8

    @property
    def rescored(self) -> range:
        """The numbers of the runs that were evaluated under the older labels, and later under the newer ones, too."""
        return range(self.n_runs // 8, self.relabelled)

    def name(self, number: int) -> str:
        """Return the name of a run: of its night."""
        return f"nightly-{self.night(number)}"

    def night(self, number: int) -> datetime.date:
        """Return the date of a run."""
        return LAST_NIGHT - datetime.timedelta(days=self.n_runs - 1 - number)

    def labels(self, *, newer: bool) -> pa.Table:
        """Return the labels, or those that came later: some grades are others, and more items are judged."""
        n_labels = LABELLED + 5 if newer else LABELLED
        grades = np.zeros((self.n_groups, n_labels), dtype=np.int64)
        grades[:, :LABELLED] = self._grades
        if newer:
            grades[::7, :3] = 3 - grades[::7, :3]
        return self._table("label", n_labels, self._pool[:, :n_labels], grades)

    def run(self, number: int) -> pa.Table:
        """Return the run of a night."""
        night = np.random.default_rng(number)
        scores = self._base + night.normal(0.0, 0.3, self._base.shape) * (night.random((self.n_groups, 1)) < 0.4)
        scores[number % 97 :: 97, : LABELLED // 2] -= 3.0  # what breaks in one night
        top = np.argpartition(-scores, ITEMS, axis=1)[:, :ITEMS]
        chosen = np.take_along_axis(scores, top, axis=1)
        return self._table("score", ITEMS, np.take_along_axis(self._pool, top, axis=1), chosen)

    def _table(self, name: str, n_each: int, items: np.ndarray, numbers: np.ndarray) -> pa.Table:
        groups = self._keys.take(pa.array(np.repeat(np.arange(self.n_groups), n_each)))
        return pa.table({"group": groups, "item": self._items.take(pa.array(items.ravel())), name: numbers.ravel()})

    def attributes(self) -> pa.Table:
        """Return what is known of the groups."""
        numbers = np.arange(self.n_groups)
        return pa.table(
            {
                "group": self._keys,
                "product": [f"product {number}" for number in numbers % PRODUCTS],
                "locale": [LOCALES[number] for number in numbers % len(LOCALES)],
                "n_words": (1 + numbers % 5).astype(np.float64),
            }
        )


def fill(url: str, year: Year) -> None:
    """Write the year, run by run, as a team would."""
    began = time.perf_counter()
    with Tracker(url) as tracker:
        for number in range(year.n_runs):
            labels = {0: False, year.relabelled: True}.get(number)
            tracker.ingest(
                year.run(number),
                name=year.name(number),
                dataset="shop",
                labels=None if labels is None else year.labels(newer=labels),
                metrics=METRICS,
                tags={"branch": "main" if number % 5 else "trial", "stage": "nightly"},
                parameters={"k1": "0.9"},
                git_commit=f"{number * 7919 % 2**28:07x}",
                created_at=f"{year.night(number)}T02:00:00Z",
            )
            if number == 0:
                tracker.set_groups(year.attributes(), dataset="shop")
            if number % 50 == 49:
                print(f"{number + 1} runs in {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
        tracker.rescore([year.name(number) for number in year.rescored], dataset="shop")
        tracker.set_alias("baseline", year.name(min(year.relabelled + 3, year.n_runs - 2)), "shop")
        tracker.set_alias("prod", year.name(year.n_runs - 2), "shop")
        small = Year(3, max(2, year.n_groups // 10))
        for number in range(small.n_runs):
            table = small.run(number)
            tracker.ingest(table, name=small.name(number), dataset="books", labels=small.labels(newer=False))


@dataclass(frozen=True, slots=True)
class Question:
    """A question of the page: its SQL, and how many seconds the answer may take on each engine."""

    name: str
    query: str
    goals: dict[str, float]


def questions(page: Path = ROOT / "docs" / "questions.md") -> list[Question]:
    """Return the questions of the page, in its order."""
    parts = re.findall(
        r"^## (.+?)\n<!-- question: ([\d.]+)(?:, Postgres ([\d.]+))? -->\n.*?```sql\n(.*?)```",
        page.read_text(encoding="utf-8"),
        re.M | re.S,
    )
    return [
        Question(name, query.strip(), {"SQLite": float(goal), "Postgres": float(on_postgres or goal)})
        for name, goal, on_postgres, query in parts
    ]


def seconds(url: str, query: str, n_rounds: int, limit: float) -> tuple[float | None, int]:
    """Return how long the best of some rounds took, None if none was over in time, and how many rows there are."""
    best: float | None = None
    n_rows = 0
    with Tracker(url) as tracker:
        for _ in range(n_rounds):
            began = time.perf_counter()
            try:
                n_rows = len(tracker.query(query, timeout_seconds=limit).rows)
            except InputError as error:
                if "stopped after" not in str(error):
                    raise
                break
            taken = time.perf_counter() - began
            best = taken if best is None else min(best, taken)
    return best, n_rows


def is_filled(url: str) -> bool:
    """Return whether the year is there."""
    with Tracker(url) as tracker:
        return any(alias.dataset == "shop" for alias in tracker.aliases())


def shown(taken: float | None, goal: float, limit: float) -> str:
    """Return a time, marked where it misses its goal."""
    text = f"> {limit:g}" if taken is None else f"{taken:.2f}"
    return text if taken is not None and taken <= goal else f"{text} (!)"


def main() -> None:
    """Make the year where it is missing, and ask."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=DATA, help="where SQLite's file is kept")
    parser.add_argument("--postgres", default="", help="URL of a database that may be kept; by default one is made")
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--groups", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=40.0, help="seconds after which an answer is given up")
    given = parser.parse_args()
    for folder in (given.folder, DATA):
        folder.mkdir(parents=True, exist_ok=True)
    year = Year(given.runs, given.groups)
    server = None if given.postgres else Postgres(sys.executable, "")
    try:
        urls = {
            "Postgres": given.postgres or server.create("year"),
            "SQLite": f"sqlite:///{given.folder / f'year-{given.runs}-{given.groups}.db'}",
        }
        for url in urls.values():
            upgrade(url)
            if not is_filled(url):
                fill(url, year)
        print(f"| {given.runs} runs x {given.groups:,} groups, seconds | Postgres | SQLite | goal | rows |")
        print("|---|---|---|---|---|")
        for question in questions():
            cells = []
            for engine, url in urls.items():
                taken, n_rows = seconds(url, question.query, given.rounds, given.limit)
                cells.append(shown(taken, question.goals[engine], given.limit))
            goal = "/".join(dict.fromkeys(f"{one:g}" for one in (question.goals["Postgres"], question.goals["SQLite"])))
            print(f"| {question.name} | {' | '.join(cells)} | {goal} | {n_rows:,} |", flush=True)
    finally:
        if server is not None:
            server.close()


if __name__ == "__main__":
    main()
