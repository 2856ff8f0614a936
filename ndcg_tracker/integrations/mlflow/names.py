"""Names in MLflow: of metrics, tags and artifacts."""

from __future__ import annotations

import hashlib
import re

from ndcg_tracker.metrics.language.agreement import familiar_name
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.reporting.json import metric_key

PER_GROUP = "ndcg_per_group.json"
RANKING = "ndcg_ranking.parquet"
TAG = "ndcg_tracker."
RUN_ID_TAG = "mlflow.run_id"
PREFIX_TAG = "mlflow.metric_prefix"
LONGEST_NAME = 250

_UNCLEAR = re.compile(r"[^0-9A-Za-z_()=, @]")
_KEY = re.compile(r"[\w.\- :]+(/[\w.\- :]+)*")


def metric_name(text: str) -> str:
    """Return the name of a metric in MLflow, which allows no ``@`` in names: equal metrics get equal names.

    It is the metric's canonical text, or a tool's spelling where that is longer than 60 characters, with ``@`` as
    ``at`` and all other characters but letters and digits as ``_``. If two metrics could get the same name, or the name
    is too long for MLflow, eight digits of the canonical text's SHA-256 follow.

    Parameters: ``text``: any text form. Raises: MetricError for a text that is not a metric.

    >>> metric_name("ndcg@10"), metric_name("ndcg(gain=linear)@10"), metric_name("ndcg(gain=exp2, ties=average)@5")
    ('ndcg_at_10', 'ndcg_at_10', 'ndcg_gain_exp2_ties_average_at_5')
    >>> metric_name("lightgbm:ndcg@10"), metric_name("ndcg(gain={1:3})@10")
    ('lightgbm_ndcg_at_10', 'ndcg_gain_1_3_at_10_3f6b4093')
    """
    canonical = str(parse_metric(text))
    familiar = familiar_name(canonical)
    name = metric_key(familiar)
    if len(name) > LONGEST_NAME or (familiar == canonical and _UNCLEAR.search(canonical)):
        return f"{name[: LONGEST_NAME - 9]}_{hashlib.sha256(canonical.encode()).hexdigest()[:8]}"
    return name


def run_identity(dataset: str, name: str, digest: str) -> str:
    """Return the id by which the MLflow run of a run is found again: 32 digits from its dataset, name and content.

    >>> run_identity("shop", "bm25", "0" * 32) == run_identity("shop", "bm25-2", "0" * 32)
    False
    """
    return hashlib.sha256("\0".join((dataset, name, digest)).encode()).hexdigest()[:32]


def is_key(key: str) -> bool:
    """Return whether MLflow accepts a text as the key of a parameter or a tag.

    >>> is_key("model.depth"), is_key("a@b"), is_key("../a")
    (True, False, False)
    """
    plain = not any(part in (".", "..") for part in key.split("/"))
    return len(key) <= LONGEST_NAME and _KEY.fullmatch(key) is not None and plain
