"""NDCG@10 of frames as Python users hold them, by ``nt.evaluate`` and by other libraries: one worker per contender.

python benchmarks/frames.py NAME WORKLOAD FORM ORDER     # a line on standard input is one round

What a contender gets is the frame itself; all that it turns it into counts.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from processes import serve

FORMS = ("int64", "categories", "Arrow strings", "object strings", "two frames", "nested dicts")
ORDERS = ("ordered", "shuffled")
CASES = (
    *(("w2", form, order) for form in FORMS[:5] for order in ORDERS),
    ("w1", "nested dicts", "shuffled"),
    ("w2", "nested dicts", "shuffled"),
    *(("w4", "int64", order) for order in ORDERS),
)
"""What is measured: workload, form and order of the rows."""

QUICK_CASES = (
    ("tiny", "categories", "shuffled"),
    ("tiny", "two frames", "ordered"),
    ("tiny", "nested dicts", "shuffled"),
)

Evaluate = Callable[[Any], float]
CUTOFF = 10


def ours(case: tuple[Any, Any]) -> float:
    """``nt.evaluate``."""
    import ndcg_tracker as nt

    frame, labels = case
    return float(nt.evaluate(frame, f"ndcg@{CUTOFF}", labels=labels).mean.iloc[0])


def polars(case: tuple[Any, Any]) -> float:
    """``pl.from_pandas`` and window functions."""
    import polars as pl

    frame, labels = case
    run = pl.from_pandas(frame if labels is not None else frame[["group", "score", "label"]]).lazy()
    rank, best = (
        pl.col(of).rank("ordinal", descending=True).over("group").alias(name)
        for of, name in (("score", "rank"), ("label", "best"))
    )

    def dcg(of: str) -> pl.Expr:
        return (pl.col("label") / (pl.col(of) + 1.0).log(2) * (pl.col(of) <= CUTOFF)).sum().alias(of)

    ranked = run.with_columns(rank)
    if labels is None:
        sums = ranked.filter(pl.col("label") > 0).with_columns(best).group_by("group").agg(dcg("rank"), dcg("best"))
    else:
        judged = pl.from_pandas(labels).lazy().filter(pl.col("label") > 0)
        ideal = judged.with_columns(best).group_by("group").agg(dcg("best"))
        found = ranked.join(judged, on=["group", "item"]).group_by("group").agg(dcg("rank"))
        sums = ideal.join(found, on="group", how="left")
    n_groups, total = sums.select(pl.len(), (pl.col("rank").fill_null(0.0) / pl.col("best")).sum()).collect().row(0)
    return float(total / n_groups)


def duckdb(case: tuple[Any, Any]) -> float:
    """Window functions in SQL over the frame."""
    import duckdb

    frame, labels = case
    connection = duckdb.connect()
    connection.register("frame", frame)
    ranked = 'SELECT "group", score, label{} FROM frame'.format("" if labels is None else ", item")
    if labels is not None:
        connection.register("labels", labels)
        ranked = 'SELECT f."group", f.score, l.label FROM frame f LEFT JOIN labels l USING ("group", item)'

    def dcg(of: str) -> str:
        return f"sum(label / log2({of} + 1)) FILTER ({of} <= {CUTOFF})"

    query = f"""
        WITH run AS ({ranked}),
             ranked AS (SELECT "group", label,
                               row_number() OVER (PARTITION BY "group" ORDER BY score DESC) AS rank FROM run),
             gaining AS (SELECT *, row_number() OVER (PARTITION BY "group" ORDER BY label DESC) AS best
                         FROM ranked WHERE label > 0)
        SELECT avg(value)
        FROM (SELECT coalesce({dcg("rank")}, 0) / {dcg("best")} AS value FROM gaining GROUP BY "group")
    """
    found = connection.execute(query).fetchone()
    return float(found[0]) if found else 0.0


def pandas(case: tuple[Any, Any]) -> float:
    """``sort_values`` and ``groupby``."""
    import numpy as np

    frame, _ = case

    def dcg(by: str) -> Any:
        rows = frame.sort_values(["group", by], ascending=[True, False])
        rank = rows.groupby("group", observed=True).cumcount() + 1
        kept = rank <= CUTOFF
        return (rows["label"][kept] / np.log2(rank[kept] + 1)).groupby(rows["group"][kept], observed=True).sum()

    ideal = dcg("label")
    return float((dcg("score") / ideal)[ideal > 0].mean())


def pytrec_eval(case: tuple[Any, Any]) -> float:
    """Its own input: run and labels as nested dicts."""
    import pytrec_eval

    run, labels = case
    found = pytrec_eval.RelevanceEvaluator(labels, {f"ndcg_cut.{CUTOFF}"}).evaluate(run)
    return float(sum(group[f"ndcg_cut_{CUTOFF}"] for group in found.values()) / len(found))


CONTENDERS: dict[str, tuple[Evaluate, str]] = {
    "ndcg_tracker": (ours, "ndcg_tracker"),
    "polars": (polars, "polars"),
    "duckdb": (duckdb, "duckdb"),
    "pandas": (pandas, "pandas"),
    "pytrec_eval": (pytrec_eval, "pytrec_eval"),
}
"""By name: what evaluates, and the module it needs."""


def left_out(name: str, form: str) -> str:
    """Return why a contender does not take part, "" where it does."""
    if (name == "pytrec_eval") != (form == "nested dicts") and name != "ndcg_tracker":
        return "it is compared with the tools that take this"
    if name == "pandas" and form != "int64":
        return "with int64 ids alone"
    return ""


def data(workload: str, form: str, order: str) -> tuple[Any, Any]:
    """Return the run, and its labels where they are not in it."""
    import numpy as np
    import pandas as pd
    import pyarrow as pa
    from scenes import Scene

    scene = Scene.of(workload)
    if form == "nested dicts":
        return scene.nested(scene.unsorted_ranking(), float), scene.nested(scene.table.labels(), int)
    table = scene.table
    items = table.items[scene.order]
    frame = pd.DataFrame({"group": scene.groups, "item": items, "score": scene.scores})
    labels = None
    if form == "two frames":
        labels = pd.DataFrame({"group": table.label_groups, "item": table.label_items, "label": table.grades})
    else:
        frame["label"] = scene.gains.astype(np.int64)
    if order == "shuffled":
        frame = frame.sample(frac=1, random_state=0, ignore_index=True)
    kinds: dict[str, Any] = {
        "categories": "category", "Arrow strings": pd.ArrowDtype(pa.string()), "object strings": object,
    }  # fmt: skip
    if form in kinds:
        texts = {name: frame[name].astype(str).astype(kinds[form]) for name in ("group", "item")}
        frame = frame.assign(**texts)
    return frame, labels


def beyond_mb(work: Callable[[], object]) -> float:
    """Return by how much the memory grows while something works, in MB, looked at every millisecond."""

    def resident() -> float:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * 4096 / 1e6

    before, most, done = resident(), [0.0], threading.Event()

    def watch() -> None:
        while not done.is_set():
            most[0] = max(most[0], resident())
            time.sleep(0.001)

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    work()
    done.set()
    watching.join()
    return max(most[0] - before, 0.0)


def main() -> None:
    """Be the worker of one contender on one case."""
    name, workload, form, order = sys.argv[1:]
    case = data(workload, form, order)
    frame = case[0]
    evaluate = CONTENDERS[name][0]
    mean = evaluate(case)
    figures: dict[str, object] = {}
    if form not in ("nested dicts", "two frames") and Path("/proc/self/statm").exists():
        figures = {
            "beyond_mb": beyond_mb(lambda: evaluate(case)),
            "frame_mb": float(frame.memory_usage(deep=True).sum()) / 1e6,
        }
    serve(lambda: evaluate(case), {"means": {f"ndcg@{CUTOFF}": mean}, "figures": figures})


if __name__ == "__main__":
    main()
