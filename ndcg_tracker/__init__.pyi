from .errors import (
    ConflictError,
    DatabaseError,
    InputError,
    MetricError,
    NdcgTrackerError,
    NotComparableError,
    ReferenceNotFoundError,
)
from .metrics import Metric, parse_metric
from .tracker import Evaluation, Tracker, evaluate

__version__: str

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
    "evaluate",
    "parse_metric",
]
