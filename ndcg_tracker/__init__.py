"""ndcg_tracker stores every ranking run in SQL, group by group, and reports what changed between two runs.

>>> import ndcg_tracker as nt
>>> str(nt.parse_metric("ndcg(gain=linear)@10"))
'ndcg@10'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ndcg_tracker.api.checking import check
    from ndcg_tracker.api.evaluation import Evaluation
    from ndcg_tracker.api.in_memory import compare, plan
    from ndcg_tracker.api.reading import evaluate
    from ndcg_tracker.api.tracker import Tracker
    from ndcg_tracker.errors import (
        ConflictError,
        DatabaseError,
        InputError,
        MetricError,
        NdcgTrackerError,
        NotComparableError,
        ReferenceNotFoundError,
    )
    from ndcg_tracker.metrics.language.metric import Metric
    from ndcg_tracker.metrics.language.text import parse_metric

__version__ = "0.3.0"

__all__ = [
    "ConflictError",
    "DatabaseError",
    "Evaluation",
    "InputError",
    "Metric",
    "MetricError",
    "NdcgTrackerError",
    "NotComparableError",
    "ReferenceNotFoundError",
    "Tracker",
    "check",
    "compare",
    "evaluate",
    "parse_metric",
    "plan",
]

_MODULE_OF = {
    "Evaluation": "api.evaluation",
    "Metric": "metrics.language.metric",
    "Tracker": "api.tracker",
    "check": "api.checking",
    "compare": "api.in_memory",
    "evaluate": "api.reading",
    "parse_metric": "metrics.language.text",
    "plan": "api.in_memory",
}


import_module(f"{__name__}.compare")  # a folder that is imported takes its name here: now, not from the function
del globals()["compare"]

_GONE = {
    "experiment": "store rankings with Tracker.ingest, or compare them unstored with compare(a, b, labels=...)",
    "paired": "compare rankings with compare(a, b, labels=...); store values per group with Tracker.log_results",
}
"""Names of earlier versions, and the way that remains."""


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, because every pytest session imports this package for the plugin."""
    if name in _GONE:
        raise AttributeError(f"ndcg_tracker.{name} is gone: {_GONE[name]}")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF.get(name, 'errors')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
