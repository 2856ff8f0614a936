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
    from ndcg_tracker.api.experiment import experiment, paired
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
    "evaluate",
    "experiment",
    "paired",
    "parse_metric",
]

_MODULE_OF = {
    "Evaluation": "api.evaluation",
    "Metric": "metrics.language.metric",
    "Tracker": "api.tracker",
    "check": "api.checking",
    "evaluate": "api.reading",
    "experiment": "api.experiment",
    "paired": "api.experiment",
    "parse_metric": "metrics.language.text",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, because every pytest session imports this package for the plugin."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF.get(name, 'errors')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
