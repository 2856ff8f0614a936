"""The panels of ``examples/grafana`` and the questions of ``examples/metabase``, asked as the role for dashboards.

No Grafana runs here: what its PostgreSQL data source and its dashboards make of variables and macros is repeated below.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psycopg
import pytest
from postgres_server import PostgresServer
from ranked_runs import frame_of_ranks
from relabelled import check_nothing_counts_twice

import ndcg_tracker as nt
from ndcg_tracker.cli.app import run as run_program

ROOT = Path(__file__).resolve().parents[2]
DASHBOARD = json.loads((ROOT / "examples" / "grafana" / "ranking_quality.json").read_text(encoding="utf-8"))
PANELS = {panel["title"]: panel for panel in DASHBOARD["panels"]}
VARIABLES = {one["name"]: one["query"] for one in DASHBOARD["templating"]["list"]}
METABASE = {
    text.partition("\n")[0].removeprefix("-- "): text
    for text in (path.read_text(encoding="utf-8") for path in sorted((ROOT / "examples" / "metabase").glob("*.sql")))
}
ROLES = ("panels_owner", "panels_writer", "panels_reader", "panels_dashboards")
DATASET, GROUP = "the team's shop", "q0003"
N_NIGHTS, N_GROUPS = 12, 40
FROM, TO = "2026-06-03T00:00:00Z", "2100-01-01T00:00:00Z"
SHOWN = [f"night{number:02}" for number in range(3, N_NIGHTS + 1)]
VALUES = {"dataset": DATASET, "metric": "RR", "against": "@baseline", "attribute": "product", "group": GROUP}

Rows = list[dict[str, Any]]


def ranks_of(night: int) -> list[int]:
    """Return where the relevant item is: a little other every night, and far down in one product at the end."""
    return [
        5 if night == N_NIGHTS and not group % 4 else 1 + (group * group + night * (group // 3)) % 3
        for group in range(N_GROUPS)
    ]


def fill(url: str) -> None:
    """Twelve nights under labels that change after the fifth, a second metric and dataset, a baseline, two gates."""
    groups = [f"q{number:04}" for number in range(N_GROUPS)]
    with nt.Tracker(url) as tracker:
        for night in range(1, N_NIGHTS + 1):
            more = {1: groups, 6: [*groups, "q0000"]}.get(night)
            items = ["relevant"] * N_GROUPS + ["other1"]
            labels = None if more is None else {"group": more, "item": items[: len(more)], "label": [1] * len(more)}
            tracker.ingest(
                frame_of_ranks(ranks_of(night)),
                name=f"night{night:02}",
                dataset=DATASET,
                item="item",
                labels=labels,
                metrics=["RR", "ndcg@10"],
                created_at=f"2026-06-{night:02}T02:00:00Z",
                git_commit="abc1234",
            )
        tracker.rescore(["night05"], dataset=DATASET)
        tracker.ingest(
            frame_of_ranks([1]), name="elsewhere", labels={"group": ["q0000"], "item": ["relevant"], "label": [1]}
        )
        tracker.set_groups(
            {"group": groups, "product": ["tent" if not number % 4 else "lamp" for number in range(N_GROUPS)]},
            dataset=DATASET,
        )
        tracker.set_alias("baseline", "night06", DATASET)
        for candidate in ("night07", "night12"):
            tracker.gate(candidate, baseline="@baseline", metric="RR", margin=0.05, dataset=DATASET)


@pytest.fixture(scope="module")
def team(postgres_server: PostgresServer, postgres_template: str) -> Iterator[tuple[nt.Tracker, str]]:
    """The tracker of the owner, and how the role for dashboards connects."""
    postgres_server.create_database("panels", postgres_template)
    with psycopg.connect(postgres_server.conninfo("panels"), autocommit=True) as admin:
        for role in ROLES:
            admin.execute(f"CREATE ROLE {role} LOGIN".encode())
    try:
        url = postgres_server.url("panels")
        options = [word for role in ROLES for word in (f"--{role.removeprefix('panels_')}", role)]
        assert run_program(["--db", url, "db", "grant", *options, "--apply"]) == 0
        fill(url)
        with nt.Tracker(url) as tracker:
            yield tracker, f"host={postgres_server.folder} user={ROLES[-1]} dbname=panels"
    finally:
        postgres_server.drop_database("panels")
        with psycopg.connect(postgres_server.conninfo(), autocommit=True) as admin:
            admin.execute(f"DROP ROLE {', '.join(ROLES)}".encode())


def rows_of(conninfo: str, sql: str, values: list[str] | None = None) -> Rows:
    with psycopg.connect(conninfo, row_factory=psycopg.rows.dict_row) as connection:
        return connection.execute(sql.encode(), values).fetchall()


def interpolated(sql: str, values: Mapping[str, str]) -> str:
    """Return a query as Grafana's data source sends it: variables with their quotes doubled, then its macros."""

    def value(found: re.Match[str]) -> str:
        return values[found[1]].replace("'", "''") if found[1] in values else found[0]

    def macro(found: re.Match[str]) -> str:
        name, column = found[1], found[2].split(",")[0].strip()
        known = {
            "__timeFilter": f"{column} BETWEEN '{FROM}' AND '{TO}'",
            "__timeFrom": f"'{FROM}'",
            "__timeTo": f"'{TO}'",
        }
        return known[name]

    return re.sub(r"\$([_a-zA-Z0-9]+)\(([^)]*)\)", macro, re.sub(r"\$(\w+)", value, sql))


def by_grafana(conninfo: str, title: str, **values: str) -> Rows:
    (target,) = PANELS[title]["targets"]
    return rows_of(conninfo, interpolated(target["rawSql"], VALUES | values))


def by_metabase(conninfo: str, title: str, **values: str) -> Rows:
    """Return the rows of a question: a part in brackets goes if its variable has no value; values are parameters."""
    given = VALUES | {"since": FROM} | values

    def optional(found: re.Match[str]) -> str:
        return found[1] if all(name in given for name in re.findall(r"\{\{(\w+)\}\}", found[1])) else ""

    kept = re.sub(r"\[\[(.*?)\]\]", optional, METABASE[title].replace("%", "%%"))
    return rows_of(
        conninfo, re.sub(r"\{\{\w+\}\}", "%s", kept), [given[one] for one in re.findall(r"\{\{(\w+)\}\}", kept)]
    )


@pytest.mark.nightly
def test_every_panel_is_a_question_for_metabase_too(team: tuple[nt.Tracker, str]) -> None:
    _, conninfo = team
    assert set(METABASE) == set(PANELS)
    for title in PANELS:
        rows, others = by_grafana(conninfo, title), by_metabase(conninfo, title)
        assert rows
        assert len(rows) == len(others)
        for row, other in zip(rows, others, strict=True):
            other |= (
                {"time": other["created_at"], "metric": other.get("slice", VALUES["metric"])} if "time" in row else {}
            )
            for key, value in row.items():
                assert other[key] == (pytest.approx(value) if isinstance(value, float) else value), (title, key)


def unbroken(rows: Rows, value: str) -> Rows:
    """Return the rows without those that break a line."""
    return [row for row in rows if row[value] is not None]


@pytest.mark.nightly
def test_mean_over_time(team: tuple[nt.Tracker, str]) -> None:
    tracker, conninfo = team
    history = tracker.history("RR", dataset=DATASET, since=FROM[:10])
    rows = unbroken(by_metabase(conninfo, "Mean over time, with its 95% interval"), "mean")
    assert [row["run"] for row in rows] == list(history["run"]) == SHOWN
    for row, (_, expected) in zip(rows, history.iterrows(), strict=True):
        assert row["created_at"].strftime("%Y-%m-%dT%H:%M:%SZ") == expected["created_at_utc"][:19] + "Z"
        numbers = [row["mean"], row["low"], row["high"]]
        assert numbers == pytest.approx([expected["mean"], expected["ci_low"], expected["ci_high"]], abs=1e-8)


@pytest.mark.nightly
def test_regressions_since_the_baseline(team: tuple[nt.Tracker, str]) -> None:
    tracker, conninfo = team
    rows = by_grafana(conninfo, "Regressions since the baseline, run by run")
    assert [row["run"] for row in rows] == [*SHOWN[:3:-1], "night05"]
    for row in rows:
        found = tracker.compare("@baseline", row["run"], dataset=DATASET, metrics="RR").to_dict()["metrics"][0]
        assert row["delta"] == pytest.approx(found["delta"], abs=1e-12)
        assert (row["n_worse"], row["n_better"], row["n_groups"]) == (found["losses"], found["wins"], found["n"])
    nights = by_grafana(conninfo, "Regressions since the baseline, run by run", against="previous")
    pairs = [(row["baseline"], row["run"]) for row in nights if row["label_set_version"] == 2]
    assert pairs == [(f"night{night - 1:02}", f"night{night:02}") for night in range(12, 5, -1)]


@pytest.mark.nightly
def test_worst_groups_of_last_night(team: tuple[nt.Tracker, str]) -> None:
    tracker, conninfo = team
    rows = by_grafana(conninfo, "Worst groups of last night")
    worst = tracker.compare("@baseline", "night12", dataset=DATASET, metrics="RR", top=20).to_dict()["worst"]
    assert len(worst) > 5
    for row, expected in zip(rows, worst, strict=False):
        assert (row["run"], row["baseline"]) == ("night12", "night06")
        assert (row["group_key"], row["baseline_value"], row["value"]) == (
            expected["group"], expected["baseline"], expected["candidate"],
        )  # fmt: skip


@pytest.mark.nightly
def test_slices_over_time(team: tuple[nt.Tracker, str]) -> None:
    tracker, conninfo = team
    rows = unbroken(by_metabase(conninfo, "Slices over time"), "mean")
    found = tracker.compare("night11", "night12", dataset=DATASET, metrics="RR", by="product")
    expected = {one["value"]: one["candidate"] for one in found.to_dict()["slices"]}
    assert {row["slice"]: row["mean"] for row in rows[-2:]} == pytest.approx(expected)
    assert len(rows) == 2 * len(SHOWN)
    assert rows[-1]["slice"] == "tent"
    assert rows[-1]["mean"] < 0.3


@pytest.mark.nightly
def test_gate_decisions(team: tuple[nt.Tracker, str]) -> None:
    tracker, conninfo = team
    rows = by_grafana(conninfo, "Gate decisions")
    assert [row["candidate"] for row in rows] == ["night12", "night07"]
    for row in rows:
        again = {"baseline": "night06", "metric": "RR", "margin": 0.05, "dataset": DATASET, "dry_run": True}
        decided = tracker.gate(row["candidate"], **again).to_dict()
        assert (row["baseline"], row["decision"], row["margin"]) == ("night06", decided["decision"], 0.05)
        assert row["delta"] == pytest.approx(decided["delta"])


@pytest.mark.nightly
def test_latest_runs(team: tuple[nt.Tracker, str]) -> None:
    tracker, conninfo = team
    rows = by_grafana(conninfo, "Latest runs")
    assert [row["run"] for row in rows] == SHOWN[::-1]
    assert [row["label_set_version"] for row in rows if row["run"] in ("night04", "night05")] == [2, 1]
    means = {run: tracker.run(run, DATASET)[1] for run in SHOWN}
    for row in rows:
        known = {(one.metric, one.label_set_version): one.mean for one in means[row["run"]]}
        assert row["mean"] == known["RR", row["label_set_version"]]
    assert {row["run"]: row["aliases"] for row in rows if row["aliases"]} == {"night06": "@baseline"}


@pytest.mark.nightly
def test_one_group_over_time(team: tuple[nt.Tracker, str]) -> None:
    _, conninfo = team
    rows = by_metabase(conninfo, "One group over time", until="2026-06-05T00:00:00Z")
    assert [row["value"] for row in rows] == [1 / ranks_of(night)[3] for night in (3, 4)]


@pytest.mark.parametrize(
    ("title", "n_lines"),
    [("Mean over time, with its 95% interval", 1), ("Slices over time", 2), ("One group over time", 1)],
)
def test_a_line_breaks_where_the_labels_change(team: tuple[nt.Tracker, str], title: str, n_lines: int) -> None:
    """Right before the first night under other labels, where Grafana does not draw on."""
    _, conninfo = team
    value = "value" if title.startswith("One") else "mean"
    breaks = [row for row in by_grafana(conninfo, title) if row[value] is None]
    assert [row["time"].isoformat() for row in breaks] == ["2026-06-05T01:59:59.999000+00:00"] * n_lines
    assert PANELS[title]["fieldConfig"]["defaults"]["custom"]["spanNulls"] is False


def test_a_group_that_vanished_has_no_point(team: tuple[nt.Tracker, str]) -> None:
    """And the dashboard says on which night how many did, and from which the labels are others."""
    tracker, conninfo = team
    ranks = [rank for group, rank in enumerate(ranks_of(1)) if group >= 10]
    frame = frame_of_ranks([1] * 10 + ranks)
    left = [place for place, group in enumerate(frame["group"]) if group >= "q0010"]
    fewer = {name: [values[place] for place in left] for name, values in frame.items()}
    tracker.ingest(fewer, name="fewer", dataset=DATASET, item="item", metrics="RR", created_at="2026-06-20")
    try:
        rows = by_grafana(conninfo, "One group over time")
        assert rows[-1]["value"] is None
        (target,) = [one["target"] for one in DASHBOARD["annotations"]["list"]]
        told = rows_of(conninfo, interpolated(target["rawSql"], VALUES))
        assert [row["text"] for row in told] == [
            "labels 2 from night05: not to be compared with the runs before",
            "10 groups vanished at fewer",
        ]
        assert told[1]["time"] == rows[-1]["time"]
    finally:
        tracker.delete_run("fewer", dataset=DATASET)


def test_the_variables(team: tuple[nt.Tracker, str]) -> None:
    _, conninfo = team
    lists = {
        name: [next(iter(row.values())) for row in rows_of(conninfo, interpolated(sql, VALUES))]
        for name, sql in VARIABLES.items()
        if name != "datasource"
    }
    assert lists == {
        "dataset": [DATASET, "default"],
        "metric": ["RR", "ndcg@10"],
        "against": ["@baseline", "previous"],
        "attribute": ["product"],
        "group": [f"q{number:04}" for number in range(N_GROUPS)],
    }


@pytest.mark.nightly
def test_a_relabelling_changes_no_panel(team: tuple[nt.Tracker, str]) -> None:
    """The last that asks for the database: it changes it."""
    tracker, conninfo = team

    def answers() -> dict[str, Rows]:
        panels = {f"{title} in Grafana": by_grafana(conninfo, title) for title in PANELS}
        panels |= {f"{title} in Metabase": by_metabase(conninfo, title) for title in METABASE}
        lists = {
            name: rows_of(conninfo, interpolated(sql, VALUES))
            for name, sql in VARIABLES.items()
            if name != "datasource"
        }
        return panels | lists

    check_nothing_counts_twice(tracker, answers)


def test_the_dashboard_has_what_grafana_imports() -> None:
    sources = [panel["datasource"] for panel in PANELS.values()]
    sources += [target["datasource"] for panel in PANELS.values() for target in panel["targets"]]
    assert {source["uid"] for source in sources} == {"${datasource}"}
    assert {panel["type"] for panel in PANELS.values()} == {"timeseries", "table"}
    places = [panel["gridPos"] for panel in PANELS.values()]
    cells = [
        (x, y) for at in places for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) == 23
    for panel in PANELS.values():
        (target,) = panel["targets"]
        is_series = panel["type"] == "timeseries"
        assert (target["format"] == "time_series") == is_series == ('AS "time"' in target["rawSql"])
