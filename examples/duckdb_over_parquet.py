"""Query the Parquet files of an export with DuckDB, without our database once they are written; needs duckdb."""

from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

import ndcg_tracker as nt

GROUPS = [f"query {number}" for number in range(1, 7) for _ in range(2)]
SHOP = {"group": GROUPS, "item": ["a", "b"] * 6, "label": [2, 1] * 6}
NEWEST = "(SELECT max(version) FROM 'label_sets.parquet' WHERE judge = '')"  # else every version counts
WORST = f"""
    SELECT group_key, new.value - old.value AS delta
    FROM 'group_results.parquet' old
    JOIN 'group_results.parquet' new USING (dataset, metric, label_set_version, group_key)
    WHERE old.run = 'old' AND new.run = 'new' AND label_set_version = {NEWEST} ORDER BY delta, group_key LIMIT 2
"""
MEANS = f"""
    SELECT run, avg(value) AS mean, count(value) AS n FROM 'group_results.parquet'
    WHERE label_set_version = {NEWEST} GROUP BY run ORDER BY run
"""
JUDGED = f"""
    SELECT i.run, count(l.grade) / count(*) AS judged FROM 'items.parquet' i
    LEFT JOIN (FROM 'labels.parquet' WHERE label_set_version = {NEWEST}) l USING (dataset, group_key, item_key)
    GROUP BY i.run ORDER BY i.run
"""

with TemporaryDirectory() as folder, nt.Tracker(Path(folder, "shop.db")) as tracker:
    tracker.ingest({**SHOP, "score": [2.0, 1.0] * 6}, name="old", dataset="shop")
    tracker.ingest({**SHOP, "score": [1.0, 2.0] * 2 + [2.0, 1.0] * 4}, name="new", dataset="shop")
    one_more = {"group": ["query 6"], "item": ["c"], "label": [0]}
    tracker.add_labels(one_more, dataset="shop", extend=True, rescore=True)  # adds version 2
    tracker.export_runs(Path(folder, "export"))
    duck = duckdb.connect()
    duck.execute(f"SET file_search_path = '{folder}/export'")
    for question in (MEANS, WORST, JUDGED):
        print(duck.sql(question).fetchall())
    means = tracker.sql("SELECT run, mean, n_groups AS n FROM run_summary WHERE is_newest_labels ORDER BY run")
    print(means.values.tolist())
