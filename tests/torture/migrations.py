"""Row 8: every revision up and down with data on both engines, and kept databases of every revision."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import psycopg
from migrated import REBUILDING, SECOND, folder_with, migrate, rows_of
from restored import as_kept, content_of, differing, expected_content, kept_revisions, restore
from stored_samples import add_run
from thorough import LONG

from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.storage import database as storage
from ndcg_tracker.storage.schema import metadata
from ndcg_tracker.storage.store import Store
from ndcg_tracker.storage.upkeep import handshake as revisions

from .databases import database, engine_name
from .report import Outcome, Setting

SIZES = {"quick": (3, 20, 5), "full": (60, 500, 20)}
"""Runs, groups of each, items of each group."""
SEED = 20_240_608
_NAMES = ("run", "dataset", "metric", "judge", "run_created_at_utc", "dataset_id", "label_set_version")
_LATER = {
    "runs": {
        "dataset",
        "sampled",
        "sample_digest",
        "collapsed",
        "documents_in_ten",
        "tie_order",
        "groups_share",
        "stored_by",
    },
    "label_sets": {"by_row_number", "judge", "created_at_utc", "extends", "added_by", "from_runs", "same_items"},
    "evaluations": {*_NAMES, "requested_as", "std_dev", "created_at_utc"},
}
_YOUNGER = (
    *("texts", "datasets", "aliases", "alias_moves", "decisions", "prunings", "paired_sums"),
    *("designs", "design_runs", "drawn_items", "budget_resets", "seals", "policies"),
)
EVERYWHERE = {
    name: [column.name for column in table.columns if column.name not in _LATER.get(name, ())]
    for name, table in metadata.tables.items()
    if name not in _YOUNGER and not name.startswith("suite_")
}
"""The tables that all revisions have, and their columns that all have."""
_ALIAS_OF_NOTHING = (
    "INSERT INTO aliases (dataset_id, name, run_id, created_at_utc, updated_at_utc) VALUES (4711, 'x', 4711, 'x', 'x')"
)


def outcomes(setting: Setting) -> Iterator[Outcome]:
    """Yield, per engine, what walks through the revisions kept, and what kept databases show."""
    for engine in setting.engines:
        yield _walked(setting, engine)
        yield _kept(setting, engine)


def _walked(setting: Setting, engine: str) -> Outcome:
    wrong: list[str] = []
    n_steps = 0
    with database(setting, engine) as url:
        _fill(url, *SIZES[setting.size])
        first = _checksums(url)
        n_rows = sum(map(len, rows_of(url).values()))
        newest = revisions.newest_revision()
        for name, planted in (("", None), ("planted a", SECOND), ("planted b", REBUILDING)):
            with _revisions(planted, setting.folder / f"{engine} {name}") as known:
                start = known.index(newest) if planted else len(known) - 1
                way = known[start:] + known[-2::-1] + known[1:]  # up to the head, down to 0001, and up again
                if planted:
                    way += known[known.index(newest) : -1][::-1]  # the planted one goes again
                present = newest
                for revision in way:
                    if revision != present:
                        migrate(url, "upgrade" if revision > present else "downgrade", revision)
                        n_steps += 1
                        present = revision
                    wrong += [f"{name} {revision}: {text}" for text in _changes(url, first)]
        wrong += storage.check(url)
        migrate(url, "downgrade", "base")
        if rows_of(url) or storage.upgrade(url).before is not None:
            wrong.append("below the first revision something is left")
    n_known = len(revisions.known_revisions())
    what = f"migrations up, down and up step by step with data, {n_known} revisions and 2 planted ones"
    figure = (
        f"{n_steps} steps, {n_rows:,} rows in {len(first)} tables (seed {SEED}): {len(wrong)} tables changed, or "
        "foreign keys that do not hold, in all steps"
    )
    goal = "0 rows lost, checksums equal"
    return Outcome(8, what, engine_name(engine), goal, figure, not wrong, "; ".join(wrong[:5]))


def _kept(setting: Setting, engine: str) -> Outcome:
    wrong: list[str] = []
    n_rows = 0
    tried = kept_revisions() if setting.size == "full" or LONG else kept_revisions()[:1]  # it meets every migration
    for revision in tried:
        with database(setting, engine, upgraded=False) as url:
            restore(url, revision)
            before = _checksums(url)
            storage.upgrade(url)
            wrong += [f"{revision}: {text}" for text in [*_changes(url, before), *storage.check(url)]]
            expected = expected_content(revision, engine)
            found = as_kept(content_of(url), expected)
            n_rows += sum(map(len, found.values()))
            wrong += [f"{revision}: {text}" for text in differing(found, expected)]
    what = f"kept databases of {', '.join(tried)} upgraded; the rows of every view and a comparison"
    figure = f"{n_rows} rows shown, {len(wrong)} differences"
    return Outcome(8, what, engine_name(engine), "0 differences", figure, not wrong, "; ".join(wrong[:5]))


@contextmanager
def _revisions(planted: str | None, folder: Path) -> Iterator[list[str]]:
    """Yield the ids of all revisions while there may be a planted one."""
    present = revisions.FOLDERS
    try:
        if planted is not None:
            revisions.FOLDERS = (folder_with(planted, folder),)
        yield revisions.known_revisions()
    finally:
        revisions.FOLDERS = present


def _fill(url: str, n_runs: int, n_groups: int, n_items: int) -> None:
    numbers = np.random.default_rng(SEED)
    with Store.open(url) as store, store.write() as tx:
        for number in range(n_runs):
            scores = numbers.normal(size=(n_groups, n_items)).tolist()
            ranking = {f"q{group}": {f"i{item}": s for item, s in enumerate(row)} for group, row in enumerate(scores)}
            labels = {f"q{group}": {"i0": float(number % 3), "i1": 1.0} for group in range(n_groups)}
            run = add_run(tx, f"run {number}", ranking, labels, f"set {number % 2}")
        tx.write.aliases.set(run.dataset_id, "prod", run.id)
        label_set_id = tx.labels.sets(run.dataset_id)[0].id
        tx.write.decisions.insert(
            run.dataset_id, run.id, run.id, metric="ndcg@10", label_set_id=label_set_id, scope="set",
            decision="pass", reason="equal",
        )  # fmt: skip
        groups = tx.write.groups.ensure(run.dataset_id, Keys.from_strings(["q0", "q1"]))
        tx.write.groups.set_attributes(run.dataset_id, {int(groups[0]): {"locale": "de"}})
        tx.write.groups.set_weights(run.dataset_id, groups, np.array([0.5, 2.0]))


def _checksums(url: str) -> dict[str, tuple[int, str]]:
    """Return the number of rows of every table and a checksum of them; columns of planted revisions are left out."""
    found = {}
    for name, rows in rows_of(url, EVERYWHERE).items():
        known = sorted(map(repr, rows))
        found[name] = (len(rows), hashlib.sha256("\n".join(known).encode()).hexdigest())
    return found


def _changes(url: str, first: dict[str, tuple[int, str]]) -> list[str]:
    """Return the tables that are no longer what they were, and foreign keys that do not hold."""
    found = _checksums(url)
    wrong = [f"table {name} has changed" for name in first if found.get(name) != first[name]]
    try:
        if url.startswith("sqlite"):
            with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
                wrong += [f"a row of {row[0]} without owner" for row in connection.execute("PRAGMA foreign_key_check")]
                connection.execute("PRAGMA foreign_keys = ON")
                connection.execute(_ALIAS_OF_NOTHING)
        else:
            with psycopg.connect(url.replace("+psycopg", "")) as server:
                server.execute(_ALIAS_OF_NOTHING.encode())
    except (sqlite3.IntegrityError, psycopg.errors.ForeignKeyViolation):
        return wrong
    return [*wrong, "an alias of no run was taken"]
