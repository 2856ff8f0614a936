"""Names in MLflow: of tags and artifacts."""

from __future__ import annotations

import re

from ndcg_tracker.integrations.stored_run import LONGEST_NAME

PER_GROUP = "ndcg_per_group.json"
RANKING = "ndcg_ranking.parquet"
TAG = "ndcg_tracker."
RUN_ID_TAG = "mlflow.run_id"
PREFIX_TAG = "mlflow.metric_prefix"
_KEY = re.compile(r"[\w.\- :]+(/[\w.\- :]+)*")


def is_key(key: str) -> bool:
    """Return whether MLflow accepts a text as the key of a parameter or a tag.

    >>> is_key("model.depth"), is_key("a@b"), is_key("../a")
    (True, False, False)
    """
    plain = not any(part in (".", "..") for part in key.split("/"))
    return len(key) <= LONGEST_NAME and _KEY.fullmatch(key) is not None and plain
