"""Other tools' kernels on data in memory, in the form that each of them asks for.

The rows of a group come in any order, as a model scores them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernel_entry import CUTOFFS, METRICS, ROWS, ROWS_OR_1, TIES, Work, kernel
from processes import Means

if TYPE_CHECKING:
    from scenes import Scene


def _group_means(found: dict[str, dict[str, float]]) -> Means:
    native = {metric: metric.replace("@", "_cut_") for metric in METRICS}
    return {metric: sum(group[name] for group in found.values()) / len(found) for metric, name in native.items()}


@kernel(
    "pytrec_eval",
    "pytrec_eval",
    "run and labels as dictionaries, joined by ids",
    distribution="pytrec_eval-terrier",
    means=_group_means,
)
def _pytrec_eval(scene: Scene) -> Work:
    return _evaluated(scene.nested(scene.unsorted_ranking(), float), scene)


@kernel(
    "pytrec_eval, in order",
    "pytrec_eval",
    "the same, the run's dictionaries in the order of their scores",
    distribution="pytrec_eval-terrier",
    means=_group_means,
    left_out={"w4": "the dictionaries of 20 million items take 5 GB, and those in any order are there already"},
)
def _pytrec_eval_in_order(scene: Scene) -> Work:
    return _evaluated(scene.nested(scene.table.ranking(), float), scene)


def _evaluated(run: dict[str, dict[str, float]], scene: Scene) -> Work:
    import pytrec_eval

    evaluator = pytrec_eval.RelevanceEvaluator(scene.nested(scene.table.labels(), int), {"ndcg_cut.10,100", "ndcg"})
    return lambda: evaluator.evaluate(run)


@kernel(
    "ranx",
    "ranx",
    "`evaluate` of a Run and Qrels, joined by ids",
    tolerance=TIES,
    convention="ties in input order",
    left_out={"w4": "a million groups in its typed dictionaries take minutes to make ready"},
)
def _ranx(scene: Scene) -> Work:
    from ranx import Qrels, Run, evaluate

    run, qrels = scene.nested(scene.unsorted_ranking(), float), scene.nested(scene.table.labels(), int)
    items, labels = Run(run), Qrels(qrels)
    return lambda: {name: float(mean) for name, mean in evaluate(labels, items, list(METRICS)).items()}


@kernel(
    "scikit-learn",
    "sklearn",
    "`ndcg_score(ignore_ties=True)` of one matrix, once per cutoff; the means only",
    distribution="scikit-learn",
    reference=ROWS,
    tolerance=TIES,
    convention="ties in any order",
    left_out={"w2": "groups of unequal length do not fit into its matrix"},
)
def _sklearn(scene: Scene) -> Work:
    from sklearn.metrics import ndcg_score

    shape = (scene.n_groups, -1)
    gains, scores = scene.gains.reshape(shape), scene.scores.reshape(shape)
    return lambda: {
        name: float(ndcg_score(gains, scores, k=cutoff, ignore_ties=True))
        for name, cutoff in zip(METRICS, CUTOFFS, strict=True)
    }


@kernel(
    "catboost",
    "catboost",
    "`eval_metric`, once per cutoff; the means only",
    reference=ROWS_OR_1,
    tolerance=TIES,
    convention="ties against the labels, groups without a gain count 1",
)
def _catboost(scene: Scene) -> Work:
    from catboost.utils import eval_metric

    def one(cutoff: int | None) -> float:
        metric = f"NDCG:top={cutoff or -1};type=Base;denominator=LogPosition"
        return float(eval_metric(scene.gains, scene.scores, metric, group_id=scene.groups, thread_count=-1)[0])

    return lambda: {name: one(cutoff) for name, cutoff in zip(METRICS, CUTOFFS, strict=True)}


@kernel(
    "lightgbm",
    "lightgbm",
    "`Booster.eval_valid` with the scores as init_score; the means only",
    reference=ROWS_OR_1,
    tolerance=TIES,
    convention="ties in input order, groups without a gain count 1",
)
def _lightgbm(scene: Scene) -> Work:
    import lightgbm
    import numpy as np

    features = np.zeros((scene.scores.size, 1), dtype=np.float32)
    features[:: max(features.size // 100, 1)] = 1.0
    longest = int(scene.lengths.max())
    parameters = {
        "objective": "lambdarank",
        "metric": "ndcg",
        "eval_at": [10, 100, max(longest, 101)],
        "label_gain": list(range(32)),
        "verbose": -1,
        "feature_pre_filter": False,
    }
    train = lightgbm.Dataset(features, scene.gains, group=scene.lengths, params=parameters)
    valid = lightgbm.Dataset(
        features, scene.gains, group=scene.lengths, init_score=scene.scores, reference=train, params=parameters
    )
    booster = lightgbm.Booster(parameters, train)
    booster.add_valid(valid, "all")
    return lambda: {name: float(entry[2]) for name, entry in zip(METRICS, booster.eval_valid(), strict=True)}


@kernel(
    "polars",
    "polars",
    "window functions over a frame of group number, score and grade",
    reference=ROWS,
    tolerance=TIES,
    convention="ties in input order",
)
def _polars(scene: Scene) -> Work:
    import polars as pl

    frame = pl.DataFrame({"group": scene.groups, "score": scene.scores, "grade": scene.gains})
    best_rank = pl.col("grade").rank("ordinal", descending=True).over("group").alias("best_rank")
    rank = pl.col("score").rank("ordinal", descending=True).over("group").alias("rank")

    def dcg(of: str, cutoff: int | None) -> pl.Expr:
        places = pl.col(of)
        gain = pl.col("grade") / (places + 1.0).log(2)
        return (gain if cutoff is None else gain * (places <= cutoff)).sum()

    sums = [
        (dcg("rank", cutoff) / dcg("best_rank", cutoff)).alias(name)
        for name, cutoff in zip(METRICS, CUTOFFS, strict=True)
    ]

    def work() -> Means:
        gaining = frame.lazy().with_columns(rank).filter(pl.col("grade") > 0).with_columns(best_rank)
        values = gaining.group_by("group").agg(sums).collect()
        return {name: float(values[name].sum()) / scene.n_groups for name in METRICS}

    return work


@kernel(
    "duckdb",
    "duckdb",
    "window functions in SQL over a table of group number, score and grade",
    reference=ROWS,
    tolerance=TIES,
    convention="ties in any order",
)
def _duckdb(scene: Scene) -> Work:
    import duckdb
    import pyarrow as pa

    source = pa.table({"g": scene.groups, "s": scene.scores, "grade": scene.gains})
    connection = duckdb.connect()
    connection.register("source", source)
    connection.execute("CREATE TABLE items AS SELECT * FROM source")

    def dcg(of: str, cutoff: int | None) -> str:
        kept = "" if cutoff is None else f" FILTER ({of} <= {cutoff})"
        return f"sum(grade / log2({of} + 1)){kept}"

    values = ", ".join(
        f"coalesce({dcg('rank', cutoff)}, 0) / {dcg('best_rank', cutoff)} AS m{place}"
        for place, cutoff in enumerate(CUTOFFS)
    )
    query = f"""
        CREATE OR REPLACE TABLE results AS
        WITH ranked AS (SELECT g, grade, row_number() OVER (PARTITION BY g ORDER BY s DESC) AS rank FROM items),
             gaining AS (SELECT g, grade, rank, row_number() OVER (PARTITION BY g ORDER BY grade DESC) AS best_rank
                         FROM ranked WHERE grade > 0)
        SELECT g, {values} FROM gaining GROUP BY g"""

    def work() -> Means:
        connection.execute(query)
        found = connection.execute("SELECT sum(m0), sum(m1), sum(m2) FROM results").fetchone()
        return {name: total / scene.n_groups for name, total in zip(METRICS, found or (), strict=True)}

    return work
