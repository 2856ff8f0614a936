"""``ndcg-track demo``: the program on a small shop search, with the commands that a user would type."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ndcg_tracker.asked import Option
from ndcg_tracker.cli import options

if TYPE_CHECKING:
    from random import Random

_LOOKS = ("red", "waterproof", "vintage", "kids", "light", "organic", "foldable", "wireless", "slim", "heavy duty")
_THINGS = (
    "running shoes",
    "rain jacket",
    "desk lamp",
    "backpack",
    "headphones",
    "water bottle",
    "office chair",
    "yoga mat",
    "phone case",
    "coffee grinder",
    "tent",
    "bike light",
    "wall clock",
    "cutting board",
    "travel pillow",
)
_N_PRODUCTS = 24
_N_LISTED = 20
_GRADES = (0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 3)

# How strongly a system's score depends on the grade, its noise, and its loss on queries that end in these words.
_SYSTEMS = {
    "bm25": (0.55, 1.0, {}),
    "bm25-synonyms": (0.62, 1.0, {}),
    "dense": (0.95, 1.0, {"phone case": 1.2, "bike light": 1.2}),
    "dense-int8": (0.95, 1.0, {"phone case": 1.2, "bike light": 1.2}),
}

RUNS = tuple(_SYSTEMS)
DATASET = "shop"


_WORST_GROUP = "light bike light"


def write_demo_files(folder: Path) -> list[Path]:
    """Write ``labels.csv``, ``groups.csv`` and one CSV file per run into a folder; return the paths of the runs."""
    from random import Random  # here, because ``--help`` imports every command

    folder.mkdir(parents=True, exist_ok=True)
    random = Random(2024)
    labels: list[tuple[str, str, int]] = []
    groups: list[tuple[str, str]] = []
    rows: dict[str, list[tuple[str, str, float]]] = {name: [] for name in _SYSTEMS}
    for look, thing in product(_LOOKS, _THINGS):
        query = f"{look} {thing}"
        groups.append((query, thing))
        skus = [f"sku-{number}" for number in random.sample(range(1000, 10_000), _N_PRODUCTS)]
        grades = {sku: random.choice(_GRADES) for sku in skus}
        labels += [(query, sku, grades[sku]) for sku in skus[: _N_PRODUCTS - 2]]
        luck = {sku: _noise(random) for sku in skus}
        shared = {sku: _noise(random) for sku in skus}
        for name, (skill, noise, losses) in _SYSTEMS.items():
            skill -= losses.get(thing, 0.0)
            own = luck if name.startswith("bm25") else shared
            jitter = 0.02 if name == "dense-int8" else 0.25 if name == "bm25-synonyms" else 0.0
            scores = {sku: skill * grades[sku] + noise * own[sku] + jitter * _noise(random) for sku in skus}
            best = sorted(skus, key=lambda sku: -scores[sku])[:_N_LISTED]
            rows[name] += [(query, sku, round(scores[sku], 4)) for sku in best]
    _write(folder / "labels.csv", ("group", "item", "label"), labels)
    _write(folder / "groups.csv", ("group", "product"), groups)
    paths = [folder / f"{name}.csv" for name in _SYSTEMS]
    for path, name in zip(paths, _SYSTEMS, strict=True):
        _write(path, ("group", "item", "score"), rows[name])
    return paths


def _noise(random: Random) -> float:
    """Return a number with mean 0 and standard deviation 1, using ``random()`` alone: the same everywhere."""
    return sum(random.random() for _ in range(12)) - 6.0


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    import csv

    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def demo(folder: Annotated[str, Option("Folder for the files of the demo.")] = "ndcg-track-demo") -> None:
    """Try it out: track four runs of a small, made-up shop search.

    The demo shows what changed between the runs, why, and whether the new run may ship.

    Example: ndcg-track demo --folder shop
    """

    runs = write_demo_files(Path(folder))
    options.show(f"Wrote {len(runs)} runs and their labels to {folder}: 150 queries of a shop search.\n")
    shop = ["--dataset", DATASET]
    _step("ingest", *map(str, runs), "--labels", str(Path(folder) / "labels.csv"), *shop)
    _step("groups", "set", str(Path(folder) / "groups.csv"), *shop)
    _step("alias", "set", "baseline", "bm25", *shop)
    _step("compare", "@baseline", "dense", *shop)
    _step("explain", "@baseline", "dense", "--group", _WORST_GROUP, "--top", "5", *shop)
    _step("gate", "dense", "--baseline", "@baseline", "--margin", "0.01", *shop)
    _step("compare", "dense", "dense-int8", *shop, "-q")
    page = str(Path(folder) / "report.html")
    _step("report", "@baseline", "dense", *shop, "--output", page)
    options.show(f"Open {page} in a browser: it shows every query and why it changed.\n")
    options.show("Now try it with your own runs: ndcg-track ingest --help")


def _step(*arguments: str) -> None:
    """Show a command as a user would type it and run it; on a terminal, wait for Enter. It ends if one fails."""
    from ndcg_tracker.cli.app import run
    from ndcg_tracker.words.notes import command_line

    before, shown = [], []
    if options.surroundings.database is not None:
        from ndcg_tracker.storage.database_url import parsed_location

        before = ["--db", options.surroundings.database]
        shown = ["--db", parsed_location(options.surroundings.database).display_url]
    options.show(f"$ {command_line(['ndcg-track', *shown, *arguments])}")
    sys.stdout.flush()
    code = run([*before, *arguments])
    if code:
        raise typer.Exit(code)
    options.show("\n")
    if sys.stdin.isatty() and sys.stdout.isatty():
        options.say("Press Enter for the next step.")
        sys.stdin.readline()
