"""Makes the kept databases of one schema revision: ``python tests/storage/kept/make.py 0002``, once per revision.

For the newest revision, and for an older one as long as its tables are those that the program still writes. What is
kept is never made again: it stands for the databases that people have. Written into this folder:

- ``REVISION.sqlite.sql`` and ``REVISION.postgres.sql``: SQL text that makes the database again, statement by statement
  (Postgres by pg_dump, without what only some versions understand);
- ``REVISION.json``: the rows of every public view as this program shows them after an upgrade, and a comparison.

What is kept of an older revision that no release has goes: no user has such a database.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
for _folder in (HERE, HERE.parent, HERE.parents[1]):  # pytest puts them there by itself
    sys.path.append(str(_folder))

from postgres_server import PostgresServer  # noqa: E402
from rankings_of import labels_of  # noqa: E402
from restored import RELEASED, content_of, statements_of  # noqa: E402
from runs_of_sums import store_sums  # noqa: E402

import ndcg_tracker as nt  # noqa: E402
from ndcg_tracker.asked import SEALED_DATABASE  # noqa: E402
from ndcg_tracker.storage import database, store  # noqa: E402
from ndcg_tracker.storage.records import DesignRunRecord  # noqa: E402
from ndcg_tracker.storage.upkeep import handshake as revisions  # noqa: E402

SHOP = {
    "shoes": {"a": 3.5, "b": 2.25, "c": 2.25, "d": -1.0},
    "röd tröja": {"日本語": 1e-300, 'a\\b"c': 0.1 + 0.2, "'; DROP TABLE runs; --": 5.0},
    "{x,y}": {"NULL": 1.0, "\\N": 0.5, "line\nbreak": 0.25},
    "unjudged": {"x": 1.0},
    "nothing relevant": {"y": 2.0, "z": 1.0},
}
BETTER = {group: {item: -score for item, score in items.items()} for group, items in SHOP.items() if group != "{x,y}"}
LABELS = {
    "shoes": {"a": 0.0, "b": 3.0, "c": 1.0},
    "röd tröja": {"日本語": 2.0, 'a\\b"c': 1.0},
    "{x,y}": {"NULL": 1.0},
    "nothing relevant": {"y": 0.0},
}
TEXTS = {
    "group": ["shoes", None, "shoes"],
    "item": [None, "日本語", "a"],
    "text": ["light 'shoes'\n\x1b[2J", None, None],
    "title": [None, "<script>", "ü\u202e"],
    "url": [None, "javascript:alert(1)", "https://shop.example/?a=1&b=2"],
}
MORE_LABELS = {**LABELS, "unjudged": {"x": 1.0}}


def frame(of: dict[str, dict[str, float]], name: str) -> dict[str, list[object]]:
    """Return a dict of columns, one row per (group, item)."""
    rows = [(group, item, number) for group, items in of.items() for item, number in items.items()]
    return {"group": [row[0] for row in rows], "item": [row[1] for row in rows], name: [row[2] for row in rows]}


def fill(url: str) -> None:
    """Use every part of the program that stores something."""
    with nt.Tracker(url) as tracker:
        metrics = ["ndcg@10", "map", "P_2"]
        facts = {"tags": {"branch": "main", "why": "é"}, "parameters": {"lr": "0.1"}, "git_commit": "abc123"}
        of_shop = {"item": "item", "dataset": "shop", "metrics": metrics}
        tracker.ingest(frame(SHOP, "score"), name="bm25", labels=frame(LABELS, "label"), **of_shop, **facts)
        tracker.ingest(frame(BETTER, "score"), name="dense", labels=frame(LABELS, "label"), **of_shop)
        tracker.ingest(frame(SHOP, "score"), name="deleted", labels=frame(LABELS, "label"), **of_shop)
        tracker.ingest(frame(SHOP, "score"), name="bm25", labels=frame(LABELS, "label"), item="item", dataset="books")
        tracker.ingest({"group": ["q", "q"], "score": [2.0, 1.0], "label": [0, 1]}, name="bm25", dataset="rows")
        tracker.gate("dense", baseline="bm25", metric="ndcg@10", margin=0.5, dataset="shop")
        tracker.gate("deleted", baseline="bm25", scope="set", dataset="shop", acknowledge="known", acknowledged_by="me")
        tracker.prune("2999-01-01", dataset="books", apply=True)
    with store.Store.open(url) as opened, opened.write() as tx:
        dataset = tx.datasets.named("shop")
        assert dataset is not None
        run_of = {run.name: run.id for run in tx.runs.all("shop")}
        tx.write.aliases.set(dataset.id, "baseline", run_of["bm25"])
        tx.write.runs.delete(run_of["deleted"])
        ids, _ = tx.groups.all(dataset.id)
        tx.write.groups.set_attributes(dataset.id, {int(ids[0]): {"locale": "de", "length": 4.5}})
    with nt.Tracker(url) as tracker:
        more = frame(MORE_LABELS, "label")
        tracker.ingest(frame(BETTER, "score"), name="newest", labels=more, **of_shop)
        tracker.create_suite("löcal", ["shop", "books"])
        tracker.create_suite("shöp", ["shop"])
        tracker.gate("dense", suite="shöp", baseline="bm25", margin=0.5, by="dataset", slice_margin=0.25)
        tracker.add_texts(TEXTS, dataset="shop")
        tracker.add_labels(labels_of(LABELS), dataset="shop", source="answers.jsonl", judge="modèle 7b", model="é")
        tracker.rescore(["dense"], dataset="shop", metrics="ndcg@10", judge="modèle 7b")
        with tracker.store().write() as tx:
            store_sums(tx, "week 1", dataset="clicks")
            store_sums(tx, "week 2", dataset="clicks", baseline="week 1")
        _leave_design(tracker)
        budget = {"budget": 0.05, "looks": 40}
        tracker.set_alias("prod", "bm25", dataset="shop")
        tracker.set_policy("prod", margin=0.5, unjudged="zero", **budget, set_by="zoë")
        tracker.gate("dense", baseline="@prod", dataset="shop")
        tracker.reset_gate("@prod", reason="é", dataset="shop", reset_by="ada")
        tracker.gate("dense", baseline="@prod", margin=0.25, dataset="shop")
        tracker.add_labels(labels_of(LABELS), dataset="halved")
        with tempfile.TemporaryDirectory() as folder:
            os.environ[SEALED_DATABASE] = f"{folder}/sealed.db"
            tracker.split_dataset("halved", seal=0.5, metric="ndcg@10", margin=0.01, seed="é")
        chunks = {"q": {"a#1": 2.0, "a#2": 1.0, "b#1": 0.1 + 0.2}}
        of_sample = {"item_to_document": "#.*", "collapse": "sum", "sampled": "100/50000"}
        tracker.ingest(chunks, name="sampled", dataset="chunks", labels={"q": {"b": 1}}, **of_sample)
        for name, items in (("listed", ["b", "ä"]), ("listed again", ["ß", "ä"])):
            tracker.ingest({"q": [(item, 1.0) for item in items]}, name=name, dataset="lists", labels={"q": {"b": 1}})
        tracker.carry_labels({"b": "ß"}, dataset="lists", rescore=True)
        _leave_reasons(tracker)


def _leave_design(tracker: nt.Tracker) -> None:
    """Leave a sample of whole queries that is answered in part, and a design of single items of an older version."""
    tracker.rescore(["bm25"], dataset="shop", metrics="ndcg@10", judge="modèle 7b")
    of_sample = {"judge": "modèle 7b", "metric": "ndcg@10", "dataset": "shop"}
    sample = tracker.labels_sample("bm25", "dense", budget=9, seed="é", **of_sample)
    first = sample.sample.items[0]
    answer = {"group": [first.group], "item": [first.item], "label": [1]}
    tracker.add_answers(answer, design=1, judge="zoë", dataset="shop")
    with tracker.store().write() as tx:
        (design,) = tx.designs.all(tx.datasets.known("shop").id)
        runs = (*design.runs, DesignRunRecord(None, "deleted"))
        further = {"n_looks": 5, "look": 2, "planned_budget": 20, "budget": 8, "not_tuned": True, "greatest_grade": 4.0}
        other = tx.write.designs.insert(replace(design, metric="dcg@10", runs=runs, kind="items", **further))
        group_id = tx.designs.items(design.id)[0].group_id
        rows = [
            {"item_key": key, "probability": probability, "grade": grade, "answered_at_utc": at}
            for key, probability, grade, at in (
                ("a", 0.1 + 0.2, 4.0, design.created_at_utc),
                ("b", 1.0, None, None),
                ("日本語", None, 1.0, design.created_at_utc),
            )
        ]
        of_other = {"design_id": other.id, "group_id": group_id, "answered_after_run_id": None}
        tx.write.copies.insert("drawn_items", [of_other | row for row in rows])


def _leave_reasons(tracker: nt.Tracker) -> None:
    """Leave reasons of labels, and a label that is the mean of several."""
    with tracker.store().write() as tx:
        (labels,) = tx.labels.sets(tx.datasets.known("shop").id, "modèle 7b")
        group_ids = tx.labels.group_ids(labels.id).tolist()
        rows = [
            {"item_key": key, "reason": reason, "n_given": n_given, "std_dev": std_dev}
            for key, reason, n_given, std_dev in (("b", "fits\n<b>\x1b[2J", 1, 0.0), ("c", None, 3, 0.1 + 0.2))
        ]
        of_labels = {"label_set_id": labels.id, "group_id": group_ids[0]}
        tx.write.copies.insert("label_reasons", [of_labels | row for row in rows])


def sqlite_dump(path: Path) -> str:
    """Return SQL that makes a SQLite file again."""
    with closing(sqlite3.connect(path)) as connection:
        return "\n".join(connection.iterdump()) + "\n"


def postgres_dump(server: PostgresServer, database: str) -> str:
    """Return SQL that makes a Postgres database again, on any version that the program works with."""
    words = ["--no-owner", "--no-privileges", "--no-toast-compression", "--inserts", "--rows-per-insert=500"]
    command = [str(server._bin / "pg_dump"), *words, "-h", str(server.folder), "-U", "ndcg", database]
    dumped = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = dumped.splitlines()
    return "\n".join(line for line in lines if line and not line.startswith(("--", "SET ", "\\"))) + "\n"


def as_json(expected: dict[str, dict[str, list[object]]]) -> str:
    """Return the contents as JSON, one row per line."""
    engines = []
    for engine, content in expected.items():
        parts = [f'  "{name}": [\n' + ",\n".join(map(json.dumps, rows)) + "\n  ]" for name, rows in content.items()]
        engines.append(f' "{engine}": {{\n' + ",\n".join(parts) + "\n }")
    return "{\n" + ",\n".join(engines) + "\n}"


def make(revision: str) -> None:
    """Write the three files of a revision."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "migrations"
        shutil.copytree(revisions.migrations_folder(), folder, ignore=shutil.ignore_patterns("__pycache__"))
        for path in (folder / "versions").glob("*.py"):
            if path.name[:4] > revision:
                path.unlink()
        path = Path(scratch) / "kept.db"
        server = PostgresServer()
        try:
            server.start()
            server.create_database("kept")
            urls = {"sqlite": f"sqlite:///{path}", "postgres": server.url("kept")}
            present, revisions.FOLDERS = revisions.FOLDERS, (folder,)
            for url in urls.values():
                database.upgrade(url)
                fill(url)
            revisions.FOLDERS = present
            dumps = {"sqlite": sqlite_dump(path), "postgres": postgres_dump(server, "kept")}
            expected = {}
            for engine, url in urls.items():
                database.upgrade(url)
                expected[engine] = content_of(url)
        finally:
            server.remove()
    for engine, text in dumps.items():
        (HERE / f"{revision}.{engine}.sql").write_text(text, encoding="utf-8")
        assert statements_of(text)
    (HERE / f"{revision}.json").write_text(as_json(expected) + "\n", encoding="utf-8")
    for older in HERE.glob("*.*"):
        if RELEASED < older.name[:4] < revision:
            older.unlink()


if __name__ == "__main__":
    wanted = sys.argv[1]
    if (HERE / f"{wanted}.json").exists():
        sys.exit(f"{wanted} is kept already, and stays as it is")
    make(wanted)
