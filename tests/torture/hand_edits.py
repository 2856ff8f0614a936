"""Row 21: stored databases that someone changed by hand, with SQL: ``db check`` finds it, where it can be known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa
from small_shop import BM25, DENSE, LABELS, frame_of

from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.runs.check import check_database

from .databases import database, engine_name
from .report import Outcome, Setting

GOAL = "every one that can be known is found, none without an edit"
_BM25 = "(SELECT id FROM runs WHERE name = 'bm25')"
_NDCG = f"(SELECT id FROM evaluations WHERE run_id = {_BM25} AND metric = 'ndcg@3')"
_Q1 = "(SELECT id FROM groups WHERE key = 'q1')"
_ROW = f"evaluation_id = {_NDCG} AND group_id = {_Q1}"
_LIST = f"run_id = {_BM25} AND group_id = {_Q1}"
_LABELS = f"label_set_id = 1 AND group_id = {_Q1}"
_OTHER_VIEW = "CREATE VIEW run_list AS SELECT 1 AS dataset"
_TRIGGERS = {
    "sqlite": "CREATE TRIGGER planted AFTER INSERT ON runs BEGIN DELETE FROM decisions; END",
    "postgres": "CREATE RULE planted AS ON DELETE TO decisions DO INSTEAD NOTHING",
}


@dataclass(frozen=True)
class Edit:
    """A change by hand.

    ``statements``: for SQLite, and for Postgres; one text for both. ``says``: part of what the check says of it.
    """

    kind: str
    statements: str | tuple[str, str]
    says: str = ""

    def on(self, engine: str) -> list[str]:
        """Return the statements for an engine, none where it cannot be made there."""
        text = self.statements
        if not isinstance(text, str):
            text = text[engine != "sqlite"]
        return [one for one in text.split(";;") if one]


_RUN = "run 'bm25' of dataset 'default': "
_DIGEST = f"{_RUN}its items do not match its digest"
_LABEL_DIGEST = "labels version 1 of dataset 'default': its labels do not match its digest"
_NAMED = "evaluations that name another run, metric or label set"
_GIVE = "is stated, but its items and labels give "


def _list(column: str, sqlite: str, postgres: str, table: str = "ranked_lists", where: str = _LIST) -> tuple[str, str]:
    """Return the statements that change a list."""
    change = "UPDATE {0} SET {1} = {2} WHERE {3}"
    return change.format(table, column, sqlite, where), change.format(table, column, postgres, where)


EDITS = [
    Edit("score", _list("scores", "json_set(scores, '$[0]', 99.5)", "array_prepend(99.5, scores[2:])"), _DIGEST),
    Edit("scores in another order", _list("scores", "'[1.0,2.0,3.0]'", "'{1,2,3}'"), "the scores of some list rise"),
    Edit("order of items", _list("item_keys", """'["b","c","a"]'""", "'{b,c,a}'"), _DIGEST),
    Edit("item", _list("item_keys", """'["z","b","a"]'""", "'{z,b,a}'"), _DIGEST),
    Edit("item twice", _list("item_keys", """'["c","c","a"]'""", "'{c,c,a}'"), "some list has an item twice"),
    Edit("item taken away", _list("item_keys", """'["c","b"]'""", "'{c,b}'"), _RUN),
    Edit("list that is none", (f"UPDATE ranked_lists SET scores = '[[' WHERE {_LIST}", ""), "cannot be read"),
    Edit("list deleted", f"DELETE FROM ranked_lists WHERE {_LIST}", "1 runs without all their lists"),
    Edit("list moved to another group", f"UPDATE ranked_lists SET group_id = 999 WHERE {_LIST}", "without their owner"),
    Edit("grade", _list(
        "grades", "json_set(grades, '$[0]', 0.0)", "array_prepend(0.0, grades[2:])", "label_lists", _LABELS),
        _LABEL_DIGEST),
    Edit("judged item", _list("item_keys", """'["z","b","c"]'""", "'{z,b,c}'", "label_lists", _LABELS), _LABEL_DIGEST),
    Edit("labels of a group deleted", f"DELETE FROM label_lists WHERE {_LABELS}", "label sets without all their lists"),
    Edit("mean", f"UPDATE evaluations SET mean = 0.999 WHERE id = {_NDCG}", f"mean 0.999 {_GIVE}"),
    Edit("mean a little higher", f"UPDATE evaluations SET mean = mean + 1e-9 WHERE id = {_NDCG}", _GIVE),
    Edit("no mean", f"UPDATE evaluations SET mean = NULL WHERE id = {_NDCG}", f"mean none {_GIVE}"),
    Edit("mean if ties fell worst", f"UPDATE evaluations SET worst_mean = 0.1 WHERE id = {_NDCG}", "worst_mean 0.1 "),
    Edit("mean if ties fell best", f"UPDATE evaluations SET best_mean = 1.0 WHERE id = {_NDCG}", "best_mean 1.0 "),
    Edit("standard deviation", f"UPDATE evaluations SET std_dev = 0.001 WHERE id = {_NDCG}", "std_dev 0.001 is stored"),
    Edit("number of groups", f"UPDATE evaluations SET n_groups = 1000 WHERE id = {_NDCG}", f"n_groups 1000 {_GIVE}"),
    Edit("number of missing groups", f"UPDATE evaluations SET n_missing = 0 WHERE id = {_NDCG}", "n_missing 0 "),
    Edit("number of undefined groups", f"UPDATE evaluations SET n_undefined = 3 WHERE id = {_NDCG}", "n_undefined 3 "),
    Edit("value", f"UPDATE group_results SET value = 1.0 WHERE {_ROW}", "packed values differ from their group"),
    Edit("value, in both places", (
        f"UPDATE group_results SET value = 1.0 WHERE {_ROW};;"
        f"UPDATE evaluations SET packed_values = CAST(x'000000000000f03f' || substr(packed_values, 9) AS BLOB) "
        f"WHERE id = {_NDCG}",
        f"UPDATE group_results SET value = 1.0 WHERE {_ROW};;"
        f"UPDATE evaluations SET packed_values = overlay(packed_values placing '\\x000000000000f03f'::bytea from 1) "
        f"WHERE id = {_NDCG}"), f"value 1.0 of group 'q1' {_GIVE}"),
    Edit("dcg", f"UPDATE group_results SET dcg = 9.0 WHERE {_ROW}", f"dcg 9.0 of group 'q1' {_GIVE}"),
    Edit("ideal dcg", f"UPDATE group_results SET ideal_dcg = 9.0 WHERE {_ROW}", f"ideal_dcg 9.0 of group 'q1' {_GIVE}"),
    Edit("reason for no value", "UPDATE group_results SET undefined_reason = 'no label' WHERE undefined_reason IS NOT "
         "NULL", "reason no label of group "),
    Edit("result deleted", f"DELETE FROM group_results WHERE {_ROW}", "evaluations without all their group results"),
    Edit("results packed short", f"UPDATE evaluations SET packed_values = substr(packed_values, 9) WHERE id = {_NDCG}",
         "evaluations without all their group results"),
    Edit("metric of an evaluation", f"UPDATE evaluations SET metric = 'ndcg@1' WHERE id = {_NDCG}", _NAMED),
    Edit("metric everywhere", "UPDATE evaluations SET metric = 'ndcg@1' WHERE metric = 'ndcg@3';;"
         "UPDATE metrics SET text = 'ndcg@1' WHERE text = 'ndcg@3'", _GIVE),
    Edit("name of a metric", f"UPDATE evaluations SET requested_as = 'map' WHERE id = {_NDCG}", "shown as 'map'"),
    Edit("judged share", "UPDATE coverages SET judged_share = 0.25 WHERE cutoff = 3", f"judged_share 0.25 {_GIVE}"),
    Edit("digest of a run", f"UPDATE runs SET digest = 'x' WHERE id = {_BM25}", _DIGEST),
    Edit("number of items", f"UPDATE runs SET n_items = 9 WHERE id = {_BM25}", "but says 9 in "),
    Edit("number of a run's groups", f"UPDATE runs SET n_groups = 9 WHERE id = {_BM25}", "without all their lists"),
    Edit("name of a run", f"UPDATE runs SET name = 'y' WHERE id = {_BM25}", _NAMED),
    Edit("date of a run", f"UPDATE runs SET created_at_utc = '2020-01-01T00:00:00.000000Z' WHERE id = {_BM25}", _NAMED),
    Edit("run deleted", (
        f"PRAGMA foreign_keys = OFF;;DELETE FROM runs WHERE id = {_BM25}",
        f"SET session_replication_role = replica;;DELETE FROM runs WHERE id = {_BM25}"), "without their owner"),
    Edit("run said to be pruned", "INSERT INTO prunings (run_id, created_at_utc, summaries_only, packed_group_ids) "
         "SELECT id, created_at_utc, false, '' FROM runs WHERE name = 'bm25'", "1 runs without all their lists"),
    Edit("tags cut short", (
        f"UPDATE runs SET tags = '[[' WHERE id = {_BM25}", f"UPDATE runs SET tags = '[[]]' WHERE id = {_BM25}"),
        "1 runs whose tags are not a JSON object"),
    Edit("tags nested deeply", (
        f"UPDATE runs SET tags = '{'[' * 5000}' WHERE id = {_BM25}", f"UPDATE runs SET tags = '7' WHERE id = {_BM25}"),
        "1 runs whose tags are not a JSON object"),
    Edit("attributes that are no object", f"UPDATE groups SET attributes = '7' WHERE id = {_Q1}",
         "1 groups whose attributes are not a JSON object"),
    Edit("group key", f"UPDATE groups SET key = 'q0' WHERE id = {_Q1}", _DIGEST),
    Edit("weight of a group", f"UPDATE groups SET weight = 50 WHERE id = {_Q1}", "mean "),
    Edit("group deleted", (
        f"PRAGMA foreign_keys = OFF;;DELETE FROM groups WHERE id = {_Q1}",
        f"SET session_replication_role = replica;;DELETE FROM groups WHERE id = {_Q1}"), "without their owner"),
    Edit("dataset renamed", "UPDATE datasets SET name = 'other'", "runs that name another dataset"),
    Edit("digest of labels", "UPDATE label_sets SET digest = 'x' WHERE id = 1", _LABEL_DIGEST),
    Edit("number of labels", "UPDATE label_sets SET n_labels = 3 WHERE id = 1", "but says 3 in "),
    Edit("judge of labels", "UPDATE label_sets SET judge = 'gpt' WHERE id = 1", _NAMED),
    Edit("version of labels", "UPDATE label_sets SET version = 9 WHERE id = 1", _NAMED),
    Edit("unused labels deleted", (
        "DELETE FROM label_lists WHERE label_set_id = 3;;DELETE FROM label_sets WHERE id = 3",) * 2,
        "1 label sets after a version that is gone"),
    Edit("alias moved", "UPDATE aliases SET run_id = (SELECT id FROM runs WHERE name = 'dense')",
         "1 aliases that do not point where they were pointed last"),
    Edit("alias deleted", "DELETE FROM aliases", "1 aliases that do not point where they were pointed last"),
    Edit("move of an alias deleted", ("DELETE FROM alias_moves WHERE id = 1", ""), "1 of 2 alias_moves are gone"),
    Edit("decision deleted", ("DELETE FROM decisions WHERE id = 1", ""), "1 of 2 decisions are gone"),
    Edit("last decision deleted", ("DELETE FROM decisions WHERE id = 2", ""), "1 of 2 decisions are gone"),
    Edit("mean of another engine", "UPDATE evaluations SET mean = 1 WHERE metric LIKE 'external:%'", "the groups give"),
    Edit("view replaced", f"DROP VIEW run_list;;{_OTHER_VIEW}", "view run_list is not that of this schema"),
    Edit("view deleted", "DROP VIEW gate_decisions", "view gate_decisions is missing"),
    Edit("index deleted", "DROP INDEX ix_runs_name", "index ix_runs_name is missing"),
    Edit("trigger or rule added", tuple(_TRIGGERS.values()), " planted is not of this schema"),  # type: ignore[arg-type]
]  # fmt: skip
UNKNOWABLE = [
    Edit("decision turned", "UPDATE decisions SET decision = 'pass', reason = 'x'"),
    Edit("loss of a decision", "UPDATE decisions SET delta = 0.5"),
    Edit("who overrode a decision", "UPDATE decisions SET acknowledged_by = 'x'"),
    Edit("decision deleted", ("", "DELETE FROM decisions WHERE id = 1")),
    Edit("move of an alias deleted", ("", "DELETE FROM alias_moves WHERE id = 1")),
    Edit("check taken away", ("", "ALTER TABLE evaluations DROP CONSTRAINT ck_evaluations_mean_finite")),
    Edit("tags", "UPDATE runs SET tags = '{}'"),
    Edit("parameters", "UPDATE runs SET parameters = '{}'"),
    Edit("commit and source", "UPDATE runs SET git_commit = 'x', source = 'x'"),
    Edit("attributes", "UPDATE groups SET attributes = NULL"),
    Edit("text", "UPDATE texts SET title = 'x'"),
    Edit("date of labels", "UPDATE label_sets SET created_at_utc = '2020-01-01T00:00:00.000000Z'"),
    Edit("run of no alias deleted with all its rows", ";;".join(
        f"DELETE FROM {table} WHERE {column} IN {chosen}" for table, column, chosen in (
            ("group_results", "evaluation_id", "(SELECT id FROM evaluations WHERE run = 'dense')"),
            ("evaluations", "run", "('dense')"),
            ("coverages", "run_id", "(SELECT id FROM runs WHERE name = 'dense')"),
            ("ranked_lists", "run_id", "(SELECT id FROM runs WHERE name = 'dense')"),
            ("decisions", "candidate_run", "('nobody')"),
        )) + ";;UPDATE decisions SET candidate_run_id = NULL;;UPDATE alias_moves SET run_id = NULL WHERE run = 'dense'"
        ";;DELETE FROM runs WHERE name = 'dense'"),
]  # fmt: skip
"""Edits after which the database is one that could have come about: nothing shows them."""


def fill(url: str) -> None:
    """Store two runs, two versions of the labels, weights, attributes, texts, decisions, an alias and other results."""
    with Tracker(url) as tracker:
        labels = {**LABELS, "q6": {"z": 1}}
        metrics = ("ndcg@3", "AP", "ndcg(missing=skip)@3", "ndcg(weights=group)@3")
        tracker.ingest(
            frame_of(BM25), labels=frame_of(labels, "label"), name="bm25", metrics=metrics, git_commit="abc",
            tags={"branch": "main"}, parameters={"k1": "0.9"},
        )  # fmt: skip
        tracker.set_groups({"group": ["q1", "q2"], "weight": [2.0, 0.5], "locale": ["de", "en"]}, default_weight=1.0)
        tracker.ingest(frame_of(DENSE), name="dense", metrics=metrics, git_commit="")
        tracker.log_results({"q1": 10.0, "q2": 14.0}, name="dense", metric="latency", direction="lower", range=(0, 100))
        for version in ({"q1": {"a": 2}}, {"q1": {"a": 1}}):
            tracker.add_labels(frame_of(version, "label"), replace=True)
        tracker.add_texts({"group": ["q1"], "title": ["shoes"]})
        for run, margin in (("dense", 0.5), ("bm25", 0.4)):
            tracker.set_alias("baseline", run)
            tracker.gate("dense", baseline="bm25", metric="ndcg@3", margin=margin, labels=1)


def damage_after(edit: Edit, url: str, engine: str) -> list[str]:
    """Return what the check finds after an edit."""
    connect = sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://"), poolclass=sa.NullPool)
    with connect.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for statement in edit.on(engine):
            connection.exec_driver_sql(statement.replace("%", "%%") if engine != "sqlite" else statement)
    connect.dispose()
    return check_database(url).damage


def faults(edits: list[Edit], setting: Setting, engine: str) -> tuple[int, list[str]]:
    """Return how many edits can be made on an engine, and those that the check does not tell as it should."""
    n_made, told = 0, []
    for edit in edits:
        if not edit.on(engine):
            continue
        n_made += 1
        with database(setting, engine, upgraded=False) as url:
            copied(setting, engine, url)
            found = damage_after(edit, url, engine)
        is_right = any(edit.says in line for line in found) if edit.says else not found
        if not is_right:
            told.append(f"{edit.kind}: {'; '.join(found) or 'nothing is found'}")
    return n_made, told


def copied(setting: Setting, engine: str, url: str) -> None:
    """Make a database like the one that ``fill`` fills; it is filled once."""
    if engine == "sqlite":
        path = setting.folder / "filled.db"
        if not path.exists():
            fill(f"sqlite:///{path}")
        Path(url.removeprefix("sqlite:///")).write_bytes(path.read_bytes())
        return
    name = f"filled_{setting.folder.name.replace('-', '_')}"
    if (setting.postgres, name) not in _filled:
        with database(setting, engine) as made:
            fill(made)
            setting.postgres.create_database(name, sa.make_url(made).database)
        _filled.add((setting.postgres, name))
    own = str(sa.make_url(url).database)
    setting.postgres.drop_database(own)
    setting.postgres.create_database(own, name)


_filled: set[tuple[object, str]] = set()


def outcomes(setting: Setting) -> Iterator[Outcome]:
    """Yield, per engine, how many edits are found; the quick size takes every third."""
    step = 1 if setting.size == "full" else 3
    for engine in setting.engines:
        n_made, told = faults(EDITS[::step], setting, engine)
        n_silent, alarms = faults(UNKNOWABLE[::step], setting, engine)
        with database(setting, engine, upgraded=False) as url:
            copied(setting, engine, url)
            untouched = check_database(url).damage
        figure = (
            f"{n_made - len(told)} of {n_made} found and named, {len(untouched)} false alarms; "
            f"{n_silent - len(alarms)} more cannot be known"
        )
        what = "a stored database changed by hand: scores, labels, results, counts, digests, names, facts, views"
        met = not told and not alarms and not untouched
        yield Outcome(21, what, engine_name(engine), GOAL, figure, met, "; ".join([*told, *alarms, *untouched]))
