"""Write the made-up lists, items and answers of docs/beyond-accuracy.md into the current folder.

A service has 150 shows. An old and a new model recommend ten of them to each of 100 viewers. An old and a new prompt
answer 40 questions, and an assessor, usually a model, says for each nugget whether the answer supports it.
"""

from __future__ import annotations

import csv
import json
import math
import random
from collections.abc import Iterable
from pathlib import Path

GENRES = ("drama", "comedy", "news", "sport")
SHOWS = range(1, 151)
VIEWERS = range(1, 101)
DRAWN = random.Random(41)


def noise() -> float:
    """Return a draw from the Gumbel distribution (mean 0.58); added to scores, it makes the highest one a draw, too."""
    return -math.log(-math.log(DRAWN.random()))


def write(name: str, header: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> None:
    """Write a CSV file."""
    with Path(name).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def recommendations() -> None:
    """Write items.csv, before.csv, taken.csv, old.csv and new.csv."""
    genre = {show: GENRES[DRAWN.randrange(4)] for show in SHOWS}
    studio = {show: "small" if show % 3 == 0 else "major" for show in SHOWS}
    write("items.csv", ("item_id", "genre", "studio"), ((f"s{show}", genre[show], studio[show]) for show in SHOWS))
    tables: dict[str, list[tuple[object, ...]]] = {name: [] for name in ("before", "taken", "old", "new")}
    for viewer in VIEWERS:
        favourite = GENRES[viewer % 4]
        taste = {show: noise() - 0.7 * math.log(show) + (genre[show] == favourite) for show in SHOWS}
        seen = sorted(SHOWS, key=lambda show: -taste[show] - noise())[:12]
        others = [show for show in SHOWS if show not in seen]
        tables["before"] += ((f"u{viewer}", f"s{show}") for show in seen)
        tables["taken"] += ((f"u{viewer}", f"s{show}", 1) for show in sorted(others, key=lambda show: -taste[show])[:2])
        for model, unknown, popular, same in (("old", 1.0, 0.8, 1.5), ("new", 0.6, 0.2, 0.5)):
            score = {
                show: taste[show] + unknown * noise() - popular * math.log(show) + same * (genre[show] == favourite)
                for show in others
            }
            best = sorted(others, key=lambda show: -score[show])[:10]
            tables[model] += ((f"u{viewer}", f"s{show}", rank) for rank, show in enumerate(best, 1))
    for name, rows in tables.items():
        third = {"before": (), "taken": ("label",)}.get(name, ("rank",))
        write(f"{name}.csv", ("user_id", "item_id", *third), rows)


def answers() -> None:
    """Write old-assigned.jsonl and new-assigned.jsonl, as ``nuggetizer assign`` writes them."""
    nuggets = {
        f"q{topic}": [
            {"text": f"fact {n} about topic {topic}", "importance": "vital" if n < 2 + topic % 3 else "okay"}
            for n in range(3 + topic % 5)
        ]
        for topic in range(1, 41)
    }
    for run, supported in (("old", 0.45), ("new", 0.6)):
        with Path(f"{run}-assigned.jsonl").open("w", encoding="utf-8") as file:
            for qid, of_topic in nuggets.items():
                said = []
                for nugget in of_topic:
                    drawn = DRAWN.random() / supported
                    assignment = "support" if drawn < 1 else "partial_support" if drawn < 1.4 else "not_support"
                    said.append({**nugget, "assignment": assignment})
                record = {"query": f"what about {qid}?", "qid": qid, "run_id": run, "nuggets": said}
                file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    recommendations()
    answers()
