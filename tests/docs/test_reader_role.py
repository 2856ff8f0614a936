"""The role that docs/sql.md recommends for readers: it can read every view through `sql`, and nothing else."""

import re

import psycopg
import pytest
from console_blocks import REPOSITORY

from ndcg_tracker import Tracker
from ndcg_tracker.errors import InputError
from ndcg_tracker.storage.database import upgrade

N_ROWS = {"run_summary": 1, "group_history": 1, "group_diff": 0, "items": 2, "labels": 2, "label_coverage": 1}


def test_the_role_of_the_docs_reads_the_views_and_no_table(postgres_schema: None, postgres_url: str) -> None:
    (statements,) = re.findall(
        r"^```sql\n(CREATE ROLE.*?)^```$",
        (REPOSITORY / "docs" / "sql.md").read_text(encoding="utf-8"),
        re.DOTALL | re.M,
    )
    upgrade(postgres_url)
    with psycopg.connect(postgres_url.replace("+psycopg", ""), autocommit=True) as owner:
        owner.execute(statements)
        try:
            frame = {"group": ["q", "q"], "item": ["a", "b"], "score": [2.0, 1.0], "label": [0, 1]}
            with Tracker(postgres_url) as tracker:
                tracker.ingest(frame, name="bm25", item="item")
            with Tracker(postgres_url.replace("//ndcg@", "//ann@")) as tracker:
                found = {view: len(tracker.sql(f"SELECT * FROM {view}")) for view in N_ROWS}
                assert found == N_ROWS
                with pytest.raises(
                    InputError,
                    match=r"^sql: role 'ann' may not SELECT this \(permission denied for table runs\); query the views",
                ):
                    tracker.sql("SELECT * FROM runs")
        finally:
            owner.execute("DROP OWNED BY ranking_readers, ann")
            owner.execute("DROP ROLE ann, ranking_readers")
