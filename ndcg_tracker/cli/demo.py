"""``ndcg-track demo``: the program on a small data set, with the commands that a user would type."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from ndcg_tracker.cli import options

_WORST = (
    "SELECT group_key, delta FROM group_diff WHERE dataset = 'shop' AND baseline = 'bm25' AND candidate = 'dense' "
    "ORDER BY delta LIMIT 3"
)
_WORST_GROUP = "light bike light"


def demo(
    folder: Annotated[str, typer.Option(help="Folder for the files of the demo.")] = "ndcg-track-demo",
) -> None:
    """Track four runs of a small, made-up shop search.

    Then show what changed, why, and whether it may ship.
    """
    from ndcg_tracker.cli.demo_data import DATASET, write_demo_files

    runs = write_demo_files(Path(folder))
    options.show(f"Wrote {len(runs)} runs and their labels to {folder}: 150 queries of a shop search.\n")
    shop = ["--dataset", DATASET]
    _step("ingest", *map(str, runs), "--labels", str(Path(folder) / "labels.csv"), *shop)
    _step("groups", "set", str(Path(folder) / "groups.csv"), *shop)
    _step("alias", "set", "baseline", "bm25", *shop)
    _step("compare", "@baseline", "dense", "--top", "3", "--by", "product", *shop)
    _step("explain", "@baseline", "dense", "--group", _WORST_GROUP, *shop)
    _step("gate", "dense", "--baseline", "@baseline", "--margin", "0.01", *shop)
    _step("compare", "dense", "dense-int8", "--top", "0", *shop)
    _step("history", *shop)
    _step("sql", _WORST)
    page = str(Path(folder) / "report.html")
    _step("report", "@baseline", "dense", *shop, "--output", page)
    options.show(f"Open {page} in a browser: it shows every query, and why each changed.\n")
    options.show("Now try it with runs of your own: ndcg-track ingest --help")


def _step(*arguments: str) -> None:
    """Show a command as a user would type it, run it, and end the program if it fails."""
    from ndcg_tracker.cli.app import run

    before, shown = [], []
    if options.surroundings.database is not None:
        from ndcg_tracker.storage.database_url import parsed_location

        before = ["--db", options.surroundings.database]
        shown = ["--db", parsed_location(options.surroundings.database).display_url]
    options.show("$ " + " ".join(_quoted(word) for word in ["ndcg-track", *shown, *arguments]))
    sys.stdout.flush()
    code = run([*before, *arguments])
    if code:
        raise typer.Exit(code)
    options.show("\n")


def _quoted(word: str) -> str:
    """Return a word as a user would type it in a shell: in double quotes if it has single ones."""
    return f'"{word}"' if "'" in word and not set(word) & set('"$`\\!') else shlex.quote(word)
