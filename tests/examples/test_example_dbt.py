"""The macro for dbt is a query once Jinja has filled it in, as dbt does."""

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from jinja2 import Environment

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "dbt_macro.py"


@pytest.mark.nightly
def test_the_macro_computes_the_metric() -> None:
    done = subprocess.run([sys.executable, EXAMPLE, "ndcg@10", "duckdb"], capture_output=True, text=True, check=True)
    model = done.stdout + "{{ ndcg_at_10('nightly', 'judgements') }}"
    with duckdb.connect() as engine:
        engine.sql("CREATE TABLE nightly AS SELECT 'q' AS group_key, 'a' AS item_key, 2.0 AS score")
        engine.sql("INSERT INTO nightly VALUES ('q', 'b', 1.0)")
        engine.sql("CREATE TABLE judgements AS SELECT 'q' AS group_key, 'b' AS item_key, 1 AS grade")
        (row,) = engine.sql(Environment().from_string(model).render()).fetchall()
    assert (row[0], round(row[1], 4)) == ("q", 0.6309)
