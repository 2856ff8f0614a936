"""A run's metrics as one flat JSON object, as ``dvc metrics diff`` and its like read them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ndcg_tracker.metrics.language.agreement import familiar_name
from ndcg_tracker.reporting.json_writer import json_text

_OTHER = re.compile(r"[^0-9A-Za-z]+")


def metrics_json(means: Sequence[tuple[str, float | None]]) -> str:
    """Return metrics and their means as a JSON object, with a line end.

    A metric whose canonical text is long is named as the tool names it that computes it so.

    Parameters: ``means``: canonical text and mean of each metric; one without a mean is left out.

    >>> print(metrics_json([("ndcg@10", 0.65), ("AP", None), ("ndcg(gain=exp2)@5", 0.5)]), end="")
    {
      "ndcg_at_10": 0.65,
      "ndcg_gain_exp2_at_5": 0.5
    }
    """
    document: dict[str, float] = {}
    for text, mean in means:
        if mean is None:
            continue
        name = metric_key(familiar_name(text))
        number, key = 1, name
        while key in document:
            number += 1
            key = f"{name}_{number}"
        document[key] = mean
    return json_text(document)


def metric_key(text: str) -> str:
    """Return a metric's text in letters, digits and underscores.

    >>> metric_key("ndcg@10"), metric_key("ERR(max_grade=3)@20")
    ('ndcg_at_10', 'ERR_max_grade_3_at_20')
    """
    return _OTHER.sub("_", text.replace("@", "_at_")).strip("_")
