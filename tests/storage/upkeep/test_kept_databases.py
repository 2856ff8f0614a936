"""Databases as every older program left them: upgraded, they show what they showed."""

import json
from pathlib import Path

import pytest
from migrated import catalogue_of, columns_of, migrate, rows_of
from restored import (
    KEPT,
    RELEASED,
    as_kept,
    content_of,
    differing,
    expected_content,
    kept_revisions,
    move_sealed_data,
    restore,
    statements_of,
)
from thorough import LONG

import ndcg_tracker as nt
from ndcg_tracker.questions.gate.gather_policy import counted_looks
from ndcg_tracker.runs.check import check_database
from ndcg_tracker.storage import database
from ndcg_tracker.storage.connection import database_engine, write_transaction
from ndcg_tracker.storage.database_url import parsed_location
from ndcg_tracker.storage.records import DesignRunRecord
from ndcg_tracker.storage.schema import VERSION_TABLE
from ndcg_tracker.storage.store import Store
from ndcg_tracker.storage.upkeep.handshake import Kind, State, known_revisions, newest_revision

UPGRADED = kept_revisions() if LONG else [kept_revisions()[0], *kept_revisions()[-2:]]
"""The oldest passes through every migration, that of the latest release through what is not released yet."""


MOVED = {("designs", f"{side}_run{part}") for side in ("baseline", "candidate") for part in ("_id", "")}
MOVED |= {("aliases", "budget"), ("aliases", "looks")}
"""Columns whose content is elsewhere in a newer schema."""
GONE = {"staged_runs", "staged_batches"}
"""Tables that newer schemas do not have: they held parts of runs that were never stored."""


def engine_of(url: str) -> str:
    return "sqlite" if url.startswith("sqlite") else "postgres"


def test_a_database_of_every_released_revision_and_of_the_newest_is_kept() -> None:
    released = [revision for revision in known_revisions() if revision <= RELEASED]
    assert kept_revisions() == [*released, newest_revision()]  # else: python tests/storage/kept/make.py REVISION


@pytest.mark.parametrize("revision", UPGRADED)
@pytest.mark.nightly(but=4)
def test_a_kept_database_is_upgraded(database_url: str, revision: str) -> None:
    restore(database_url, revision)
    newest = newest_revision()
    kind = Kind.CURRENT if revision == newest else Kind.OLDER
    assert database.current(database_url) == State(kind, revision)
    columns = columns_of(database_url)
    assert all(rows_of(database_url, columns).values()), "every table has rows"
    columns = {
        name: [column for column in columns[name] if (name, column) not in MOVED] for name in columns.keys() - GONE
    }
    before = rows_of(database_url, columns)
    result = database.upgrade(database_url)
    assert (result.before, result.after) == (revision, newest)
    assert rows_of(database_url, columns) == before
    assert check_database(database_url).damage == []
    expected = expected_content(revision, engine_of(database_url))
    assert differing(as_kept(content_of(database_url), expected), expected) == []
    assert check_database(database_url).damage == []


@pytest.mark.nightly(but=2)
def test_the_runs_of_a_design_are_kept_up_and_down(database_url: str) -> None:
    restore(database_url, "0016")
    columns = {name: of_table for name, of_table in columns_of(database_url).items() if name not in GONE}
    before = rows_of(database_url, columns)
    migrate(database_url, "upgrade", "head")
    with Store.open(database_url) as store, store.read() as tx:
        (design,) = tx.designs.all(tx.datasets.known("shop").id)
        assert design.runs == (DesignRunRecord(1, "bm25"), DesignRunRecord(2, "dense"))
        assert (design.n_looks, design.look, design.budget, design.planned_budget) == (1, 1, 4, 4)
        assert (design.not_tuned, design.greatest_grade, design.checked_by) == (False, None, "zoë")
        assert [item.grade for item in tx.designs.items(design.id) if item.grade is not None] == [1.0]
    migrate(database_url, "downgrade", "0016")
    assert rows_of(database_url, columns) == before


def test_several_candidates_do_not_go_down(database_url: str) -> None:
    restore(database_url, "0018")
    with pytest.raises(ValueError, match=r"^designs have several candidates or looks, which older programs"):
        migrate(database_url, "downgrade", "0016")


def test_the_budget_of_an_alias_is_its_policy_up_and_down(database_url: str) -> None:
    restore(database_url, RELEASED)
    location = parsed_location(database_url)
    engine = database_engine(location)
    with write_transaction(engine, location) as connection:  # a look before the alias was pinned, and one since
        for look, time in ((1, "2000-01-01T00:00:00.000000Z"), (2, "2999-01-01T00:00:00.000000Z")):
            connection.exec_driver_sql(
                "INSERT INTO decisions (dataset_id, baseline_run, candidate_run, baseline_alias, metric, label_set_id, "
                "scope, decision, reason, created_at_utc, budget, looks, look) SELECT dataset_id, 'x', 'y', 'prod', "
                f"'ndcg@10', min(id), 'population', 'pass', 'r', '{time}', 0.05, 40, {look} FROM label_sets "
                "WHERE dataset_id = (SELECT dataset_id FROM aliases WHERE name = 'prod') GROUP BY dataset_id"
            )
    engine.dispose()
    columns = columns_of(database_url)
    before = rows_of(database_url, columns)
    database.upgrade(database_url)
    with write_transaction(engine, location) as connection:  # what is sealed would be refused until it is moved
        connection.exec_driver_sql("DELETE FROM seals WHERE is_sealed")
    engine.dispose()
    with nt.Tracker(database_url) as tracker:
        (policy,) = tracker.policies()
        assert (policy.alias, policy.rules, policy.set_by) == ("prod", {"budget": 0.05, "looks": 40}, "unknown")
        ids = [row[0] for row in tracker.query("SELECT decision_id FROM gate_decisions WHERE look IS NOT NULL").rows]
        with tracker.store().read() as tx:
            assert [of.look for of in counted_looks(tx, policy.dataset_id, "prod")] == [2]
        asked = {"baseline": "@prod", "metric": "ndcg@10", "margin": 0.125, "dataset": "shop"}  # as the caller says
        found = tracker.gate("dense", **asked).to_dict()  # type: ignore[arg-type]
        assert (found["margin"], found["look"]["number"], found["look"]["looks"]) == (0.125, 2, 40)
        assert len(ids) == 4
    migrate(database_url, "downgrade", RELEASED)
    assert rows_of(database_url, columns)["aliases"] == before["aliases"]


@pytest.mark.parametrize("revision", [one for one in UPGRADED if one < "0003"])
def test_what_nobody_knows_was_asked_for_is_the_metric(database_url: str, revision: str) -> None:
    restore(database_url, revision)
    database.upgrade(database_url)
    with Store.open(database_url) as store:
        for view in ("run_summary", "group_history", "group_diff"):
            assert store.query(f"SELECT count(*) > 0 FROM {view}").rows[0][0]
            assert store.query(f"SELECT count(*) FROM {view} WHERE requested_as <> metric").rows == [(0,)]


@pytest.mark.parametrize("revision", UPGRADED)
@pytest.mark.nightly(but=2)
def test_of_older_labels_nobody_knows_whether_items_are_row_numbers(
    database_url: str, revision: str, tmp_path: Path
) -> None:
    restore(database_url, revision)
    database.upgrade(database_url)
    move_sealed_data(database_url, str(tmp_path / "sealed.db"))
    with Store.open(database_url) as store, store.read() as tx:
        found = {
            dataset.name: {one.by_row_number for one in tx.labels.sets(dataset.id)} for dataset in tx.datasets.all()
        }
    if revision < "0004":
        assert set.union(*found.values()) == {None}
    else:
        assert found == {"shop": {False}, "books": {False}, "rows": {True}} | (
            ({"clicks": set()} if revision >= "0010" else {})
            | ({"chunks": {False}} if revision >= "0020" else {})
            | ({"lists": {False}, "halved": {False}} if revision > RELEASED else {})
        )


@pytest.mark.parametrize("revision", kept_revisions())
def test_both_engines_kept_the_same(revision: str) -> None:
    contents = [expected_content(revision, engine) for engine in ("sqlite", "postgres")]
    without_times = [
        {
            view: [[value for value in row if not (isinstance(value, str) and value.endswith("Z"))] for row in rows]
            for view, rows in content.items()
            if view != "compare"
        }
        for content in contents
    ]
    assert differing(*without_times) == []
    assert differing(*[content["compare"] for content in contents]) == []
    of_sums = {"week 1", "week 2"} if revision >= "0010" else set()
    of_sums |= {"sampled"} if revision >= "0020" else set()
    of_sums |= {"listed", "listed again"} if revision > RELEASED else set()
    assert {row[0] for row in contents[0]["run_summary"]} == {"bm25", "dense", "newest"} | of_sums
    assert {one["metric"]: one["losses"] for one in contents[0]["compare"]}["AP"] == 1


@pytest.mark.parametrize("revision", UPGRADED)
@pytest.mark.nightly(but=3)
def test_a_kept_database_has_the_schema_of_its_revision(database_url: str, other_url: str, revision: str) -> None:
    restore(database_url, revision)
    database.upgrade(other_url)
    migrate(other_url, "downgrade", revision)
    found, expected = catalogue_of(database_url), catalogue_of(other_url)
    assert VERSION_TABLE not in " ".join(expected)
    assert sorted(name for name in found | expected if found.get(name) != expected.get(name)) == []


@pytest.mark.parametrize("revision", kept_revisions())
def test_what_is_kept_is_text(revision: str) -> None:
    for engine in ("sqlite", "postgres"):
        text = (KEPT / f"{revision}.{engine}.sql").read_text(encoding="utf-8")
        assert "".join(statements_of(text)) == text
    json.loads((KEPT / f"{revision}.json").read_text(encoding="ascii"))


def test_half_a_statement_is_none() -> None:
    assert statements_of("SELECT 'a;\nb';\nSELECT 2;\n") == ["SELECT 'a;\nb';\n", "SELECT 2;\n"]
    with pytest.raises(ValueError, match="the last statement has no end: 'SELECT 2'"):
        statements_of("SELECT 1;\nSELECT 2")
