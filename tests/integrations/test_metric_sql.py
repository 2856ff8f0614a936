"""Queries for other engines: each value is the kernel's, on DuckDB, Postgres and Spark; the other dialects parse."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import psycopg
import pytest
import sqlglot
from postgres_server import PostgresServer
from thorough import LONG

import ndcg_tracker as nt
from ndcg_tracker.errors import InputError, MetricError
from ndcg_tracker.integrations.metric_sql import DIALECTS, Tables, query
from ndcg_tracker.metrics.language.axes import AXES
from ndcg_tracker.metrics.language.metric import Metric

Asked = Callable[[str], dict[str, float | None]]
MEASURES = ("cg", "dcg", "idcg", "ndcg", "P", "R", "AP", "RR", "Success")


def every_metric() -> list[Metric]:
    """Return every value of every axis of every measure, at some cutoffs and at none."""
    found: dict[str, Metric] = {}
    for measure in MEASURES:
        for cutoff in (None, 1, 3, 10):
            for axis in AXES:
                for value in [*axis.values, *([axis.pattern_example] if axis.pattern_example else [])]:
                    try:
                        metric = Metric.of(measure, cutoff=cutoff, **{axis.name: value})
                    except MetricError:
                        continue  # the measure does not have it
                    found[str(metric)] = metric
    return list(found.values())


@cache  # not at import: every worker imports this file, and to write all queries takes five seconds
def written(every: int = 1) -> list[Metric]:
    """Return those of every so-manieth metric that have a query."""
    found = []
    for metric in every_metric()[::every]:
        with suppress(MetricError):
            query(metric, "duckdb")
            found.append(metric)
    return found


EVERY = 1 if LONG else 9


def tables(seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a run and labels with ties, negative grades, unjudged and missing items, missing and extra groups."""
    rng = np.random.default_rng(seed)
    run, labels = [], []
    for group in range(60):
        for item in range(rng.integers(1, 12)):
            if group % 10 != 3 and rng.random() < 0.9:
                run.append((f"g{group}", f"i{item}", float(rng.integers(0, 5))))
            if group % 10 != 7 and rng.random() < 0.7:
                labels.append((f"g{group}", f"i{item}", float(rng.integers(-1, 4 if group % 4 else 1))))
    return pd.DataFrame(run, columns=["group", "item", "score"]), pd.DataFrame(
        labels, columns=["group", "item", "label"]
    )


NAMES = Tables("run", "labels", '"group"', "item", "score", "label")


def assert_same(ask: Asked, dialect: str, metrics: list[Metric], run: pd.DataFrame, labels: pd.DataFrame) -> None:
    texts = [str(metric) for metric in metrics]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = nt.evaluate(run, texts, labels=labels).per_group
    for metric, text in zip(metrics, texts, strict=True):
        found = ask(query(metric, dialect, NAMES))
        values = wanted[text].to_dict()
        assert found.keys() == values.keys(), text
        for group, value in values.items():
            ours = None if np.isnan(value) else value
            assert found[group] == (None if ours is None else pytest.approx(ours, abs=1e-12)), (text, group)


@pytest.mark.nightly
def test_there_are_hundreds() -> None:
    assert len(written(EVERY)) > 250 / EVERY
    assert {metric.measure for metric in written(EVERY)} == set(MEASURES)


@pytest.mark.nightly
def test_duckdb() -> None:
    run, labels = tables(0)
    with duckdb.connect() as engine:
        engine.register("run", run)
        engine.register("labels", labels)
        assert_same(lambda text: dict(engine.sql(text).fetchall()), "duckdb", written(EVERY), run, labels)


def test_postgres(postgres_server: PostgresServer, postgres_url: str) -> None:
    run, labels = tables(1)
    with psycopg.connect(postgres_server.conninfo(postgres_url.partition("@/")[2].partition("?")[0])) as engine:
        for name, frame in (("run", run), ("labels", labels)):
            engine.execute(f'CREATE TABLE {name} ("group" text, item text, {frame.columns[2]} float8)'.encode())
            with engine.cursor() as cursor:
                cursor.executemany(f"INSERT INTO {name} VALUES (%s, %s, %s)".encode(), frame.to_numpy().tolist())
        assert_same(
            lambda text: dict(engine.execute(text.encode()).fetchall()), "postgres", written(EVERY), run, labels
        )


@pytest.mark.nightly  # Spark weighs half a gigabyte, and a query takes it half a second
def test_spark(tmp_path: Path) -> None:
    from spark_sessions import session

    run, labels = tables(2)
    spark = session(tmp_path)
    for name, frame in (("run", run), ("labels", labels)):
        rows = frame.itertuples(index=False, name=None)
        kinds = f"`group` string, item string, {frame.columns[2]} double"
        spark.createDataFrame(list(rows), kinds).createOrReplaceTempView(name)

    def ask(text: str) -> dict[str, Any]:
        return {row[0]: row[1] for row in spark.sql(text.strip().rstrip(";")).collect()}

    assert_same(ask, "spark", written(23), run, labels)
    spark.stop()


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_text_parses_where_it_is_to_run(dialect: str) -> None:
    for metric in written(EVERY)[::4]:
        (parsed,) = sqlglot.parse(query(metric, dialect), read=dialect)
        assert parsed is not None
        assert parsed.named_selects == ["group_key", "value"]


def test_names_are_those_that_are_given() -> None:
    text = query(Metric.of("ndcg", cutoff=10), "bigquery", Tables("logs.nightly", "judged", "q", "d", "s", "rel"))
    names = {table.sql() for table in sqlglot.parse_one(text, read="bigquery").find_all(sqlglot.exp.Table)}
    assert {"logs.nightly", "judged"} <= names
    assert not {"run", "labels"} & names


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        (
            Metric.of("ndcg", ties="input"),
            "ndcg(ties=input): SQL does not compute ties=input exactly (rows of a table have no order)",
        ),
        (
            Metric.of("ndcg", cutoff=5, arithmetic="f32"),
            "ndcg(arithmetic=f32)@5: SQL does not compute arithmetic=f32 exactly (sums are double precision in SQL)",
        ),
        (
            Metric.of("RBP"),
            "RBP: SQL does not compute this measure; it computes cg, dcg, idcg, ndcg, P, R, AP, RR, Success",
        ),
    ],
)
def test_what_sql_cannot_do_is_refused_with_the_reason(metric: Metric, said: str) -> None:
    with pytest.raises(MetricError) as refused:
        query(metric, "duckdb")
    assert str(refused.value) == said


def test_an_unknown_dialect_is_refused() -> None:
    with pytest.raises(InputError) as refused:
        query(Metric.of("ndcg"), "oracle")
    assert (
        str(refused.value)
        == "'oracle' is not a SQL dialect; give one of bigquery, databricks, duckdb, postgres, snowflake, spark"
    )


def test_columns_that_are_no_plain_names_are_quoted() -> None:
    text = query(Metric.of("P", cutoff=2), "duckdb", Tables(group="search term", item="group", score="s", grade='g"x'))
    assert all(name in text for name in ('"search term" AS group_key', 'CAST("group" AS', "s AS score", '"g""x"'))
    sqlglot.parse_one(text, read="duckdb")
    of_file = query(Metric.of("P", cutoff=2), "duckdb", Tables(run="read_parquet('run.parquet')"))
    assert "READ_PARQUET('run.parquet')" in of_file


def test_a_table_that_is_no_name_is_refused() -> None:
    with pytest.raises(InputError) as refused:
        query(Metric.of("P", cutoff=2), "duckdb", Tables(run="my table"))
    assert str(refused.value) == "'my table' is not a table name in SQL; put it in double quotes"
    assert 'FROM "my table"' in query(Metric.of("P", cutoff=2), "duckdb", Tables(run='"my table"'))
