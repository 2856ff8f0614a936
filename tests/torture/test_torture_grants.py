"""``db grant``: every command as every role of a team, on one database; and what the statements do besides."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from command_line import Printed
from migrated import migrate
from postgres_server import PostgresServer
from restored import kept_revisions, move_sealed_data, restore
from small_shop import BM25, LABELS, joint_frame, labels_frame, write_csv

from ndcg_tracker.storage.database import upgrade
from ndcg_tracker.storage.upkeep.grants import TABLES
from ndcg_tracker.storage.views import VIEWS

from .handshakes import COMMANDS, DONE, PREPARED, words_of, write_files
from .programs import checked, here

OWNER, WRITER, READER, DASHBOARDS = "team_owner", "team_writer", "Team reader", 'Grafana "2"'
GRANT = ("db", "grant", "--owner", OWNER, "--writer", WRITER, "--reader", READER, "--dashboards", DASHBOARDS)
CALLED_OFF = "; nothing was stored: "
GIVEN = "writers then store, tag and gate runs, and replace their own that no alias, gate or design names"


def refusals() -> dict[str, tuple[str, str, str]]:
    """Return what dashboards, reader and writer have no right to, "" where they may run the command."""
    dataset, run = "SELECT right on table datasets", "SELECT right on table runs"
    reading = {
        "leaderboard": dataset,
        "history": dataset, "texts list": dataset, "alias list": "SELECT right on table aliases",
        **dict.fromkeys(
            ("suite list", "leaderboard --suite", "compare --suite", "report --suite", "plot compare --suite"),
            "SELECT right on table suite_datasets",
        ),
        "labels list": dataset, "labels diff": dataset, "labels agreement": dataset, "groups list": dataset,
        "db check": dataset,
        "policy show": "SELECT right on table policies", "policy history": "SELECT right on table policies",
        "plot history": dataset,
        **dict.fromkeys(
            ("diff", "plan", "reproduce", "show", "compare", "explain",
             "gate dense --baseline bm25 --margin 0.1 --dry-run", "report", "plot", "export",
             "runs list", "runs show", "labels needed", "runs prune", "doctor conventions"), run,
        ),
    }  # fmt: skip
    writing = {
        "ingest": (dataset + CALLED_OFF, "INSERT right on table runs", ""),
        "gate": (run, "INSERT right on table decisions", ""),
        "rescore --all --metric RR": (run, "INSERT right on table coverages", ""),
        "rescore --all --metric ndcg": (run, "INSERT right on table metrics", ""),
        "rescore": (run, "", ""),  # there is nothing to do
        "texts add": (dataset + CALLED_OFF, "INSERT right on table texts", ""),
        "texts delete": (dataset, "DELETE right on table texts", ""),
        "import": (dataset + CALLED_OFF, "INSERT right on table runs", ""),
        "runs rename": (run + CALLED_OFF, *["UPDATE right on table evaluations"] * 2),
        "runs tag": (run, "UPDATE right on table runs", ""),
        "runs prune --older-than 2999-01-01 --apply": (
            run + CALLED_OFF,
            "DELETE right on table prunings",
            "DELETE right on table ranked_lists",
        ),
        "runs delete": (run, *["DELETE right on table group_results"] * 2),
        "alias set": (run + CALLED_OFF, "UPDATE right on table aliases", ""),
        "alias delete": ("SELECT right on table aliases" + CALLED_OFF, *["DELETE right on table aliases"] * 2),
        "policy set": ("SELECT right on table aliases" + CALLED_OFF, *["INSERT right on table policies"] * 2),
        "suite create": (dataset + CALLED_OFF, "INSERT right on table suite_datasets", ""),
        "gate --suite": (
            "SELECT right on table suite_datasets",
            "INSERT right on table suite_decisions",
            "",
        ),
        "suite delete": (
            "SELECT right on table suite_datasets" + CALLED_OFF,
            "DELETE right on table suite_datasets",
            "",
        ),
        "labels add": (dataset, "", ""),  # they are stored already
        "labels add {files}/others.csv": (dataset, "INSERT right on table label_sets", ""),
        "labels add {files}/fewer.csv --replace": (dataset, "INSERT right on table label_sets", ""),
        "labels carry": (dataset + CALLED_OFF, "INSERT right on table label_sets", ""),
        "labels sample": (run + CALLED_OFF, "INSERT right on table designs", ""),
        "groups set": (dataset + CALLED_OFF, "UPDATE right on table groups", ""),
        "groups set {files}/weights.csv": (dataset + CALLED_OFF, "right to change table groups", ""),
        "db upgrade": ("", "", ""),  # it is the newest
        "db current": ("", "", ""),
        "sql": ("", "", ""),
    }
    return {words: (right, "", "") for words, right in reading.items()} | writing


MORE = (
    "gate dense --baseline bm25 --margin 0.1 --dry-run",
    "rescore --all --metric RR",
    "labels add {files}/others.csv",
    "labels add {files}/fewer.csv --replace",
    "ingest {files}/joint.csv --name joint",
    "rescore --all --metric ndcg(weights=group)@10",
    "groups set {files}/weights.csv",
    "sql SELECT+*+FROM+run_list",
    "runs prune --older-than 2999-01-01 --apply",
)
"""Besides every command: the same where it has something to do, or nothing to write."""
LAST = ("runs delete", "runs prune", "alias delete")
ELSEWHERE = ("ui ", "db backup", "db grant", "db vacuum", "doctor", "datasets ", "policy reset")
"""Commands that end with no word of rights, or are tested below: ``doctor`` says it in a table; a seal is set once."""


@dataclass
class Team:
    """A database with its team."""

    server: PostgresServer
    folder: Path
    name: str = "team"

    def url(self, role: str, options: str = "") -> str:
        """Return the URL of the database for a role."""
        return f"postgresql+psycopg://{quote(role)}@/{self.name}?host={self.server.folder}{options}"

    def run(self, role: str, command: str) -> Printed:
        """Run a command as a role."""
        shutil.rmtree(self.folder / "exported", ignore_errors=True)
        return here("--db", self.url(role), *words_of(command, self.folder))


def dropped(server: PostgresServer, *databases: str) -> None:
    for database in databases:
        server.drop_database(database)
    with psycopg.connect(server.conninfo(), autocommit=True) as admin:
        for role in (OWNER, WRITER, READER, DASHBOARDS):
            admin.execute(psycopg.sql.SQL("DROP ROLE IF EXISTS {}").format(psycopg.sql.Identifier(role)))


def give_to_owner(admin: psycopg.Connection, database: str) -> None:
    """Make a database the owner's; before Postgres 15 the schema public is not the database owner's by itself."""
    admin.execute(f"ALTER DATABASE {database} OWNER TO {OWNER}".encode())
    if admin.info.server_version < 150000:
        admin.execute(f"ALTER SCHEMA public OWNER TO {OWNER}".encode())


@pytest.fixture(scope="module")
def team(
    postgres_server: PostgresServer, postgres_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Team]:
    """A team whose owner has run ``db grant --apply``, and a few runs of the writer's."""
    team = Team(postgres_server, tmp_path_factory.mktemp("team"))
    write_files(team.folder)
    write_csv(team.folder / "others.csv", labels_frame({**LABELS, "q1": {"a": 1}}))
    write_csv(team.folder / "fewer.csv", labels_frame({key: LABELS[key] for key in ("q1", "q2", "q3", "q4")}))
    write_csv(team.folder / "joint.csv", joint_frame(BM25, LABELS))  # with the newest labels, those of version 1
    weights = "".join(f"{group},2\n" for group in LABELS)
    (team.folder / "weights.csv").write_text(f"group,weight\n{weights}", encoding="utf-8")
    postgres_server.create_database(team.name, postgres_template)
    try:
        with psycopg.connect(postgres_server.conninfo(team.name), autocommit=True) as admin:
            for role in (OWNER, WRITER, READER, DASHBOARDS):
                admin.execute(psycopg.sql.SQL("CREATE ROLE {} LOGIN").format(psycopg.sql.Identifier(role)))
            give_to_owner(admin, team.name)
        checked(here("--db", team.url("ndcg"), *GRANT, "--apply"))  # the tables were made by a superuser
        checked(here("--db", team.url(OWNER), *GRANT, "--apply"))
        for command in PREPARED:
            checked(team.run(OWNER if command.startswith("policy") else WRITER, command))
        yield team
    finally:
        dropped(postgres_server, team.name)


def rights_of(conninfo: str) -> list[tuple[object, ...]]:
    """Return owners and rights of schemas, tables, columns, functions, and of what is created later."""
    with psycopg.connect(conninfo) as admin:
        return admin.execute(
            """
            SELECT nspname::text, nspowner::regrole::text, nspacl::text FROM pg_namespace UNION ALL
            SELECT relname, relowner::regrole::text, relacl::text FROM pg_class UNION ALL
            SELECT attrelid::regclass || '.' || attname, '', attacl::text FROM pg_attribute UNION ALL
            SELECT proname, proowner::regrole::text, proacl::text FROM pg_proc UNION ALL
            SELECT defaclnamespace::regnamespace || defaclobjtype::text, defaclrole::regrole::text, defaclacl::text
            FROM pg_default_acl ORDER BY 1, 2, 3
            """
        ).fetchall()


def expected(command: str) -> tuple[str, str, str]:
    """Return what each role has no right to, by the longest beginning of the command that is known."""
    found = refusals()
    return found[max((words for words in found if command.startswith(words)), key=len)]


@pytest.mark.nightly
@pytest.mark.parametrize("role", [DASHBOARDS, READER, WRITER, OWNER])
def test_every_command_as_every_role(team: Team, role: str) -> None:
    commands = [one for one in (*COMMANDS, *MORE) if not one.startswith(ELSEWHERE)]
    wrong = []
    for command in sorted(commands, key=lambda one: [one.startswith(last) for last in LAST]):
        right = "" if role == OWNER else expected(command)[(DASHBOARDS, READER, WRITER).index(role)]
        printed = team.run(role, command)
        stored = right.endswith(CALLED_OFF) or (right and not right.startswith("SELECT"))
        line = (
            f"error: {team.url(role)}: role {role!r} has no {right.removesuffix(CALLED_OFF)}"
            f"{CALLED_OFF if stored else '; '}ask its owner {OWNER!r} to do it, or to run ndcg-track db grant: "
            f"{GIVEN}\n"
        )
        done = next((codes for words, codes in DONE.items() if command.startswith(words)), {0})
        if (printed.code, printed.err) != (2, line) if right else printed.code not in done:
            wrong.append((command, right, printed.code, printed.err))
        if command.startswith("suite delete") and not right:
            checked(team.run(OWNER, "suite create all default"))
        if role == OWNER and command.startswith("runs rename"):
            checked(team.run(OWNER, "runs rename other bm25"))
        elif role == WRITER and command.startswith("alias set"):  # a run with an alias is not deleted, by nobody
            checked(team.run(OWNER, "alias set prod dense"))
    assert not wrong, "\n".join(map(str, wrong))


def test_the_commands_that_say_it_in_other_words(team: Team) -> None:
    assert team.run(READER, "doctor").code == 0
    told = team.run(DASHBOARDS, "doctor")
    assert told.code == 0
    assert "bad" not in told.out
    assert (
        f"integrity note role {DASHBOARDS!r} has no SELECT right on table runs, so this was not checked "
        "→ run doctor as a role that reads the tables"
    ) in " ".join(told.out.split())
    told = team.run(DASHBOARDS, "sql SELECT+*+FROM+runs")
    assert told.err == (
        f"error: sql: role {DASHBOARDS!r} may not SELECT this (permission denied for table runs); query the views, or "
        "ask the owner, who gives rights with: ndcg-track db grant\n"
    )
    told = here("--db", team.url(WRITER), *GRANT, "--apply")
    assert told.err.endswith("; nothing was granted: run it as the owner of the schema, or as a superuser\n")


def test_the_printed_statements_are_those_that_are_run(team: Team, postgres_template: str) -> None:
    copies = [Team(team.server, team.folder, f"team_{number}") for number in range(2)]
    try:
        for copy in copies:
            team.server.create_database(copy.name, postgres_template)
        printed = checked(here("--db", copies[0].url("ndcg"), *GRANT)).out
        before = rights_of(team.server.conninfo(copies[0].name))
        assert before == rights_of(team.server.conninfo(copies[1].name)), "it was only to be printed"
        applied = checked(here("--db", copies[1].url("ndcg"), *GRANT, "--apply"))
        assert (applied.out, applied.err) == (printed, "granted\n")
        with psycopg.connect(team.server.conninfo(copies[0].name)) as admin:
            admin.execute(printed.encode())
        after = rights_of(team.server.conninfo(copies[0].name))
        assert after == rights_of(team.server.conninfo(copies[1].name)) != before
        checked(here("--db", copies[1].url("ndcg"), *GRANT, "--apply"))
        assert after == rights_of(team.server.conninfo(copies[1].name)), "twice is as good as once"
    finally:
        for copy in copies:
            team.server.drop_database(copy.name)


def test_rights_of_other_kinds_of_work_are_taken_away(team: Team) -> None:
    """A role that was the writer and is now the reader may not write; what others gave it in the tables goes, too."""
    before = rights_of(team.server.conninfo(team.name))
    swapped = ("db", "grant", "--owner", OWNER, "--writer", READER, "--reader", WRITER, "--dashboards", DASHBOARDS)
    checked(here("--db", team.url(OWNER), *swapped, "--apply"))
    assert "has no UPDATE right on table runs" in team.run(WRITER, "runs tag dense a=c").err
    assert team.run(READER, "runs tag dense a=c").code == 0
    with psycopg.connect(team.server.conninfo(team.name), autocommit=True) as admin:
        admin.execute(f"GRANT ALL ON runs TO PUBLIC; GRANT DELETE ON runs TO {WRITER}".encode())
    checked(here("--db", team.url(OWNER), *GRANT, "--apply"))
    assert rights_of(team.server.conninfo(team.name)) == before


def test_what_a_later_migration_creates(team: Team) -> None:
    with psycopg.connect(team.server.conninfo(team.name).replace("user=ndcg", f"user={OWNER}")) as owner:
        owner.execute("CREATE TABLE later (id bigint GENERATED BY DEFAULT AS IDENTITY, name text)")
        query = "SELECT string_agg(kind, ' ') FROM unnest(%s::text[]) kind WHERE has_table_privilege(%s, 'later', kind)"
        kinds = ["SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"]
        found = {role: owner.execute(query, (kinds, role)).fetchone() or () for role in (WRITER, READER, DASHBOARDS)}
        owner.rollback()
    assert found == {WRITER: ("SELECT INSERT",), READER: ("SELECT",), DASHBOARDS: (None,)}


def test_a_writer_replaces_its_own_run_that_nothing_names(team: Team) -> None:
    other = Team(team.server, team.folder, "team_redo")
    team.server.create_database(other.name, team.name)
    second = psycopg.sql.Identifier("second_writer")
    try:
        with psycopg.connect(team.server.conninfo(other.name), autocommit=True) as admin:
            admin.execute(
                psycopg.sql.SQL("CREATE ROLE {} LOGIN IN ROLE {}").format(second, psycopg.sql.Identifier(WRITER))
            )
        for name in ("again", "base", "gated", "listed", "theirs"):
            role = WRITER if name != "theirs" else "second_writer"
            checked(other.run(role, f"ingest {{files}}/other.csv --name {name} --labels {{files}}/labels.csv"))
        checked(other.run(WRITER, "gate gated --baseline base --margin 0.9"))
        checked(other.run(WRITER, "alias set nightly listed"))
        words = "ingest {files}/new.csv --labels {files}/labels.csv --replace --name"
        assert " replaced " in checked(other.run(WRITER, f"{words} again")).out
        for name in ("gated", "listed", "theirs"):
            told = other.run(WRITER, f"{words} {name}")
            assert (told.code, told.err) == (
                2,
                f"error: this role did not store run {name!r}, or an alias, a gate or a design names it; choose "
                "another name, or ask the owner of the database to replace it\n",
            )
        assert " replaced " in checked(other.run("second_writer", f"{words} theirs")).out
        with psycopg.connect(team.server.conninfo(other.name).replace("user=ndcg", f"user={WRITER}")) as writer:
            found = writer.execute("SELECT ndcg_tracker_redo(id) FROM runs WHERE name IN ('gated', 'listed', 'theirs')")
            assert found.fetchall() == [(False,)] * 3
        assert " replaced " in checked(other.run(OWNER, f"{words} gated")).out
        assert here("--db", other.url(OWNER), "db", "check").code == 0
    finally:
        team.server.drop_database(other.name)
        with psycopg.connect(team.server.conninfo(team.name), autocommit=True) as admin:
            admin.execute(psycopg.sql.SQL("DROP ROLE IF EXISTS {}").format(second))


def test_a_writer_overrides_no_decision(team: Team) -> None:
    other = Team(team.server, team.folder, "team_override")
    team.server.create_database(other.name, team.name)
    gate = "gate bm25 --baseline dense --margin 0.0001"
    try:
        assert other.run(WRITER, gate).code in (3, 4)
        told = other.run(WRITER, f"{gate} --acknowledge known")
        assert (told.code, f"role {WRITER!r} has no UPDATE right on table decisions" in told.err) == (2, True), told.err
        told = other.run(WRITER, "gate bm25 --baseline dense --margin 0.0002 --acknowledge known")
        assert (told.code, f"role {WRITER!r} has no INSERT right on table decisions" in told.err) == (2, True), told.err
        with psycopg.connect(team.server.conninfo(other.name).replace("user=ndcg", f"user={WRITER}")) as writer:
            for table in ("decisions", "suite_decisions"):
                for statement in (
                    f"UPDATE {table} SET acknowledged_by = 'Boss'",
                    f"INSERT INTO {table} (acknowledged_by) VALUES ('Boss')",
                    f"UPDATE {table} SET decision = 'pass'",
                    f"DELETE FROM {table}",
                ):
                    with pytest.raises(psycopg.errors.InsufficientPrivilege):
                        writer.execute(statement.encode())
                    writer.rollback()
        assert other.run(OWNER, f"{gate} --acknowledge known").code == 0
    finally:
        team.server.drop_database(other.name)


def test_only_the_owner_moves_an_alias_with_a_policy(team: Team) -> None:
    other = Team(team.server, team.folder, "team_policy")
    team.server.create_database(other.name, team.name)
    gate = "gate bm25 --baseline @prod"
    denied = "permission denied for table aliases: the alias has a policy, which only its owner moves"
    try:
        checked(other.run(WRITER, "alias set prod dense"))  # without a policy
        checked(other.run(WRITER, "alias set free dense"))
        checked(other.run(OWNER, "policy set prod --margin .9 --budget .05 --looks 2"))
        for _ in range(2):
            assert other.run(WRITER, gate).code in (0, 3, 4)
        for words, right in (
            ("policy set prod --margin .99", "INSERT right on table policies"),
            ("alias set prod bm25", "UPDATE right on table aliases"),
            ("policy reset prod --reason x", "INSERT right on table budget_resets"),
        ):
            told = other.run(WRITER, words)
            assert (told.code, f"role {WRITER!r} has no {right}" in told.err) == (2, True), told.err
        with psycopg.connect(team.server.conninfo(other.name), autocommit=True) as admin:
            admin.execute(f"GRANT INSERT, UPDATE, DELETE ON aliases TO {WRITER}".encode())  # whatever it may besides
            row = "(dataset_id, name, run_id, created_at_utc, updated_at_utc)"
            with psycopg.connect(
                team.server.conninfo(other.name).replace("user=ndcg", f"user={WRITER}"), autocommit=True
            ) as writer:

                def refused(statement: str) -> str:
                    with pytest.raises(psycopg.errors.InsufficientPrivilege) as caught:
                        writer.execute(statement.encode())
                    return str(caught.value).splitlines()[0]

                assert refused("UPDATE aliases SET run_id = 1 WHERE name = 'prod'") == denied
                assert refused("UPDATE aliases SET name = 'prod2' WHERE name = 'prod'") == denied
                assert refused("DELETE FROM aliases WHERE name = 'prod'") == denied
                writer.execute("UPDATE aliases SET run_id = run_id WHERE name = 'free'")
                checked(other.run(OWNER, "alias delete prod"))
                insert = f"INSERT INTO aliases {row} SELECT dataset_id, 'prod', id, 'x', 'x' FROM runs LIMIT 1"
                assert refused(insert) == denied
                assert refused("INSERT INTO policies SELECT * FROM policies").startswith("permission denied for table")
        checked(other.run(OWNER, "alias set prod dense"))
        told = checked(other.run(OWNER, "policy history prod --format json")).out
        assert [one in told for one in ("deleted", "moved to dense")] == [True, True]
        assert here("--db", other.url(OWNER), "db", "check").code == 0
        with psycopg.connect(team.server.conninfo(other.name), autocommit=True) as admin:
            admin.execute("DROP TRIGGER ndcg_tracker_pinned ON aliases")
        told = here("--db", other.url(OWNER), "db", "check")
        assert "trigger ndcg_tracker_pinned is missing" in told.out + told.err
    finally:
        team.server.drop_database(other.name)


def test_an_upgrade_takes_the_right_to_set_policies_from_writers(team: Team) -> None:
    """They have it by default privileges, and to budget_resets by an earlier db grant."""
    other = Team(team.server, team.folder, "team_upgraded")
    team.server.create_database(other.name, team.name)
    try:
        migrate(other.url(OWNER), "downgrade", "0024")
        with psycopg.connect(team.server.conninfo(other.name), autocommit=True) as admin:
            admin.execute(f"GRANT INSERT ON budget_resets TO {WRITER}".encode())
        upgrade(other.url(OWNER))
        query = "SELECT has_table_privilege(%s, 'policies', %s), has_table_privilege(%s, 'budget_resets', %s)"
        with psycopg.connect(team.server.conninfo(other.name)) as admin:
            found = [admin.execute(query, (WRITER, kind, WRITER, kind)).fetchone() for kind in ("SELECT", "INSERT")]
        assert found == [(True, True), (False, False)]
    finally:
        team.server.drop_database(other.name)


def test_only_the_writer_renews_the_statistics(team: Team) -> None:
    query = "SELECT has_function_privilege(%s, 'ndcg_tracker_analyze()', 'EXECUTE')"
    with psycopg.connect(team.server.conninfo(team.name)) as admin:
        found = {role: admin.execute(query, (role,)).fetchone() for role in (OWNER, WRITER, READER, DASHBOARDS)}
    assert found == {OWNER: (True,), WRITER: (True,), READER: (False,), DASHBOARDS: (False,)}


@pytest.mark.nightly
def test_a_schema_of_its_own_beside_other_tables(team: Team) -> None:
    """The owner of the schema needs nobody else; another program's tables there and elsewhere keep their rights."""
    own = Team(team.server, team.folder, "team_schema")
    team.server.create_database(own.name)
    in_schema = "&options=-csearch_path%3Dranking"
    try:
        with psycopg.connect(team.server.conninfo(own.name), autocommit=True) as admin:
            admin.execute(f"CREATE SCHEMA ranking AUTHORIZATION {OWNER}".encode())
            admin.execute("CREATE TABLE public.runs (id int); GRANT ALL ON public.runs TO PUBLIC")
        upgrade(own.url(OWNER, in_schema))
        before = [row for row in rights_of(team.server.conninfo(own.name)) if row[0] == "public"]
        checked(here("--db", own.url(OWNER, in_schema), *GRANT, "--apply"))
        assert [row for row in rights_of(team.server.conninfo(own.name)) if row[0] == "public"] == before
        ingest = words_of("ingest {files}/new.csv --labels {files}/labels.csv", own.folder)
        checked(here("--db", own.url(WRITER, in_schema), *ingest))
        assert "UPDATE right" in here("--db", own.url(READER, in_schema), "alias", "set", "prod", "new").err
        assert here("--db", own.url(DASHBOARDS, in_schema), "sql", "SELECT run FROM run_list").code == 0
        with psycopg.connect(team.server.conninfo(own.name)) as admin:
            assert admin.execute("SELECT has_table_privilege(%s, 'public.runs', 'DELETE')", (READER,)).fetchone() == (
                True,
            )
    finally:
        team.server.drop_database(own.name)


def test_an_older_schema_is_upgraded_by_its_owner_alone(team: Team) -> None:
    older = Team(team.server, team.folder, "team_older")
    team.server.create_database(older.name)
    try:
        restore(older.url("ndcg"), kept_revisions()[-2])
        with psycopg.connect(team.server.conninfo(older.name), autocommit=True) as admin:
            admin.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {WRITER}".encode())
            for (name,) in admin.execute("SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace "
                                         "AND relkind IN ('r', 'v')").fetchall():  # fmt: skip
                admin.execute(
                    psycopg.sql.SQL("ALTER TABLE {} OWNER TO team_owner").format(psycopg.sql.Identifier(name))
                )
            admin.execute(f"ALTER FUNCTION ndcg_tracker_analyze() OWNER TO {OWNER}".encode())
            give_to_owner(admin, older.name)
        refused = here("--db", older.url(OWNER), *GRANT)
        assert (refused.code, "has the older schema" in refused.err) == (2, True)
        told = older.run(WRITER, "db upgrade")
        assert told.code == 2
        advice = f"nothing was stored: ask its owner '{OWNER}' to do it"
        may_not = rf"(does not own table \w+; {advice}|may not do that \(.*schema public\); nothing was stored: .*)"
        assert re.fullmatch(rf"error: .*: role '{WRITER}' {may_not}\n", told.err)
        checked(older.run(OWNER, "db upgrade"))
        checked(here("--db", older.url(OWNER), *GRANT, "--apply"))
        move_sealed_data(older.url(OWNER), str(older.folder / "sealed.db"))
        checked(older.run(WRITER, "ingest {files}/new.csv --labels {files}/labels.csv --dataset a"))
    finally:
        team.server.drop_database(older.name)


def test_a_writer_creates_nothing(team: Team) -> None:
    with psycopg.connect(team.server.conninfo(team.name), autocommit=True) as admin:
        admin.execute(f"CREATE SCHEMA other; GRANT USAGE ON SCHEMA other TO {WRITER}".encode())
    try:
        told = here("--db", team.url(WRITER, "&options=-csearch_path%3Dother"), "db", "upgrade")
        said = "(permission denied for schema other); nothing was stored: ask the owner of the schema, or a superuser\n"
        assert (told.code, told.out) == (2, "")
        assert told.err.endswith(f": role {WRITER!r} may not do that {said}")
    finally:
        with psycopg.connect(team.server.conninfo(team.name), autocommit=True) as admin:
            admin.execute("DROP SCHEMA other")


def test_roles_that_do_not_exist(team: Team) -> None:
    words = [word.replace(WRITER, "ci").replace(READER, 'a "b"; DROP') for word in GRANT]
    told = here("--db", team.url(OWNER), *words, "--apply")
    assert (told.code, told.out, told.err) == (
        2,
        "",
        f"error: {team.url(OWNER)}: the server has no roles 'ci', 'a \"b\"; DROP'; nothing was granted: ask "
        "someone who may "
        'create roles to run: CREATE ROLE "ci" LOGIN; CREATE ROLE "a ""b""; DROP" LOGIN\n',
    )


def test_a_role_is_named_once(team: Team) -> None:
    told = here("--db", team.url(OWNER), *[word.replace(READER, WRITER) for word in GRANT])
    assert (told.code, told.err) == (
        2, f"error: role {WRITER!r} is named twice; use a different role for each kind of work\n",
    )  # fmt: skip


def test_sqlite_has_no_roles(tmp_path: Path) -> None:
    path = str(tmp_path / "runs.db")
    upgrade(path)
    told = here("--db", path, *GRANT)
    assert (told.code, told.out, told.err) == (
        2,
        "",
        f"error: {path}: SQLite has no roles: anyone who may write the file may do everything; set the "
        "permissions of the file and its folder with chmod and chown\n",
    )


TELL = """
    CREATE FUNCTION pg_temp.tell(told text) RETURNS boolean LANGUAGE plpgsql COST 0.0001
    AS 'BEGIN RAISE NOTICE ''%'', told; RETURN true; END'
"""
TRICKS = {
    "a function that tells": "pg_temp.tell(r::text)",
    "a cast": "('x' || r::text)::int4 > 0",
    "a division": "1 / (length(r::text) - length(r::text)) > 0",
    "a pattern": "'x' ~ ('(' || r::text)",
    "a date": "to_date('x' || r::text, 'YYYY') IS NULL OR ('{' || r::text)::json IS NULL",
    "a set": "EXISTS (SELECT generate_series(1, ('x' || r::text)::int4))",
}
"""Predicates on a row ``r`` that tell it in a notice or in an error."""


def words_in(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in re.findall(r"[\w.:-]{4,}", text)}


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("role", [DASHBOARDS, READER, WRITER, OWNER])
def test_predicates_that_leak_tell_a_role_only_what_it_may_read(team: Team, role: str) -> None:
    """Every view and every table by six tricks, typed past ``sql``: what is told is in what the role may select."""
    views = [*VIEWS]
    with psycopg.connect(team.server.conninfo(team.name)) as admin:
        stored = {table: admin.execute(f"SELECT r::text FROM {table} AS r".encode()).fetchall() for table in TABLES}
    conninfo = f"host={team.server.folder} dbname={team.name} user='{role}'"
    told: list[str] = []
    refused = set()
    readable: set[str] = set()
    with psycopg.connect(conninfo, autocommit=True) as mine:
        mine.add_notice_handler(lambda diagnostic: told.append(diagnostic.message_primary or ""))
        mine.execute(TELL.encode())
        for relation in (*views, *TABLES):
            try:
                readable |= words_in(row for (row,) in mine.execute(f"SELECT r::text FROM {relation} r".encode()))
            except psycopg.errors.InsufficientPrivilege:
                refused.add(relation)
            for trick in TRICKS.values():
                n_told = len(told)
                try:
                    mine.execute(f"SELECT 1 FROM {relation} AS r WHERE {trick}".encode()).fetchall()
                except psycopg.errors.InsufficientPrivilege:
                    assert relation in refused
                    assert len(told) == n_told, relation
                except psycopg.Error as error:
                    told.append(str(error))
    assert refused == (set(TABLES) if role == DASHBOARDS else set())
    hidden = words_in(row for rows in stored.values() for (row,) in rows) - readable
    assert len(told) > 3 * len(views), "the tricks tell something"
    assert not words_in(told) & hidden
    assert bool(hidden) == (role == DASHBOARDS)


@pytest.mark.nightly
@pytest.mark.parametrize("role", [DASHBOARDS, READER, WRITER, OWNER])
def test_errors_of_sql_tell_no_value(team: Team, role: str) -> None:
    for view in VIEWS:
        for name, trick in TRICKS.items():
            if "pg_temp" in trick:
                continue
            printed = here("--db", team.url(role), "sql", f"SELECT 1 FROM {view} AS r WHERE {trick}")
            kind = printed.err.removeprefix("error: sql: ").partition(";")[0]
            assert (printed.code, kind) in KINDS[name], (view, printed)


KINDS = {
    "a cast": {(2, "invalid text representation"), (0, "")},
    "a division": {(2, "division by zero"), (0, "")},
    "a pattern": {(2, "invalid regular expression"), (0, "")},
    "a date": {(2, "invalid datetime format"), (0, "")},
    "a set": {(2, "invalid text representation"), (0, "")},
}
"""How the command ends: the kind of the error, or no error if the view has no row."""
