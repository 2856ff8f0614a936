"""Search engines: the metrics of Elasticsearch's ``_rank_eval``, and of OpenSearch's search relevance workbench."""

from __future__ import annotations

import json
import re
from typing import Any

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.language.axes import number_text
from ndcg_tracker.metrics.language.dialects.dialect import (
    Call,
    Dialect,
    Table,
    choice_of,
    cutoff_of,
    parse_call,
    without_options,
)
from ndcg_tracker.metrics.language.metric import Metric

_OPTIONS: dict[str, dict[str, Any]] = {
    "dcg": {"k": 10, "normalize": False, "unknown_doc_rating": None},
    "ndcg": {"k": 10, "normalize": True, "unknown_doc_rating": None},
    "precision": {"k": 10, "relevant_rating_threshold": 1, "ignore_unlabeled": False},
    "recall": {"k": 10, "relevant_rating_threshold": 1},
    "mean_reciprocal_rank": {"k": 10, "relevant_rating_threshold": 1},
    "expected_reciprocal_rank": {"maximum_relevance": None, "k": 10, "unknown_doc_rating": None},
}
"""The metrics of ``_rank_eval`` with their options and defaults; ``ndcg`` is its ``dcg`` with ``normalize``."""
_LITERALS = {"true": "True", "false": "False", "null": "None"}
_HITS = {"ties": "input", "label_type": "int", "extra": "empty"}
_MOST = 30
_WITH_SOURCE = (
    "1e-12 with its public source code and the numbers of its own unit tests; not compared with a running server"
)


def _elasticsearch(native: str) -> Metric:
    call = _of_json(native) if native.startswith(("{", '"')) else _of_call(native)
    if call.name not in _OPTIONS:
        raise MetricError(f"metric {call.name!r} is not known; it is one of {', '.join(_OPTIONS)}")
    given = call.settle((), _OPTIONS[call.name])
    cutoff = cutoff_of(given["k"], "k")
    if cutoff is None:
        raise MetricError("k=null is not a cutoff", advice="give a whole number from 1")
    if call.name in ("dcg", "ndcg"):
        settings = _HITS | {"gain": "exp2", "negative": "keep", "unjudged": _gain_of_unknown(given)}
        if not choice_of(given["normalize"], "normalize", (True, False)):
            return Metric.of("dcg", cutoff=cutoff, **settings)
        ideal = {"depth": str(cutoff), "ideal_cut": "retrieved", "empty_when": "ideal_eq_0"}
        return Metric.of("ndcg", cutoff=cutoff, **settings, **ideal)
    if call.name == "expected_reciprocal_rank":
        highest = _whole(given["maximum_relevance"], "maximum_relevance", least=1)
        return Metric.of("ERR", cutoff=cutoff, highest=highest, unjudged=_gain_of_unknown(given), **_HITS)
    relevant = {"rel": _whole(given["relevant_rating_threshold"], "relevant_rating_threshold"), **_HITS}
    if call.name != "precision":
        return Metric.of({"recall": "R"}.get(call.name, "RR"), cutoff=cutoff, **relevant)
    if choice_of(given["ignore_unlabeled"], "ignore_unlabeled", (True, False)):
        relevant |= {"depth": str(cutoff), "unjudged": "drop"}
    return Metric.of("P", cutoff=cutoff, over="list", **relevant)


def _of_call(native: str) -> Call:
    """Return what ``precision(k=10, ignore_unlabeled=true)`` spells."""
    return parse_call(re.sub(r"\b(true|false|null)\b", lambda word: _LITERALS[word[0]], native))


def _of_json(native: str) -> Call:
    """Return what ``{"precision": {"k": 10}}`` spells, also inside ``"metric":`` as in a request."""
    try:
        told = json.loads(native if native.startswith("{") else "{" + native + "}")
        told = told.get("metric", told)
        ((name, options),) = told.items()
        return Call(name, (), dict(options))
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise MetricError(f"cannot read {native!r}") from None


def _whole(value: Any, name: str, least: int = 0) -> str:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= _MOST:
        raise MetricError(f"{name}={json.dumps(value, default=str)} is not a whole number from {least} to {_MOST}")
    return str(value)


def _gain_of_unknown(given: dict[str, Any]) -> str:
    """Return the gain of an item without a rating."""
    rating = 0 if given["unknown_doc_rating"] is None else _whole(given["unknown_doc_rating"], "unknown_doc_rating")
    return number_text(2.0 ** int(rating) - 1) if int(rating) else "zero"


ELASTICSEARCH = Dialect(
    "elasticsearch",
    "Elasticsearch 8 (_rank_eval)",
    without_options(_elasticsearch),
    lambda cutoff: f"dcg(k={cutoff}, normalize=true)",
    (
        "elasticsearch:dcg(k=10, normalize=true)",
        "elasticsearch:dcg(k=10)",
        "elasticsearch:ndcg(k=10)",
        "elasticsearch:dcg(k=10, unknown_doc_rating=1)",
        "elasticsearch:precision(k=10)",
        "elasticsearch:precision(k=10, relevant_rating_threshold=1, ignore_unlabeled=true)",
        "elasticsearch:recall(k=100)",
        "elasticsearch:mean_reciprocal_rank(k=10)",
        "elasticsearch:mean_reciprocal_rank(k=10, relevant_rating_threshold=2)",
        "elasticsearch:expected_reciprocal_rank(maximum_relevance=3, k=10)",
        'elasticsearch:{"precision": {"k": 20, "relevant_rating_threshold": 1}}',
        'elasticsearch:{"metric": {"dcg": {"k": 20, "normalize": true}}}',
    ),
    agreement=_WITH_SOURCE,
)

OPENSEARCH = Table(
    "opensearch",
    "OpenSearch's search relevance workbench 3.1",
    {
        "NDCG": "ndcg(gain=exp2, negative=keep)",
        "Precision": "P(rel=>0, over=list)",
        "MAP": "AP(rel=>0)",
        "Recall": "R(label_domain=int0to1)",
        "MRR": "RR(label_domain=int0to1)",
        "DCG": "dcg(gain=exp2, negative=keep)",
        "Coverage": "Judged",
    },
    is_cut=True,
    shared="ties=input, extra=empty, round=2up",
    agreement=_WITH_SOURCE,
).dialect()
