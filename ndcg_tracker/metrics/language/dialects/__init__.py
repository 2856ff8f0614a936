"""Every dialect: paste what another tool prints, and get that tool's numbers."""

from ndcg_tracker.metrics.language.dialects.boosting import CATBOOST, LIGHTGBM, XGBOOST
from ndcg_tracker.metrics.language.dialects.calls import (
    RANX,
    RECBOLE,
    RECTOOLS,
    SKLEARN,
    SPARK,
    SPARK_GRADED,
    TORCHMETRICS,
)
from ndcg_tracker.metrics.language.dialects.dialect import Dialect
from ndcg_tracker.metrics.language.dialects.ir_measures import IR_MEASURES
from ndcg_tracker.metrics.language.dialects.trec import PYTREC_EVAL, TREC_EVAL, TREC_EVAL10

DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        TREC_EVAL,
        TREC_EVAL10,
        PYTREC_EVAL,
        IR_MEASURES,
        SKLEARN,
        CATBOOST,
        LIGHTGBM,
        XGBOOST,
        TORCHMETRICS,
        RANX,
        SPARK,
        SPARK_GRADED,
        RECTOOLS,
        RECBOLE,
    )
}

__all__ = ["DIALECTS", "Dialect"]
