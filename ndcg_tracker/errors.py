"""The errors that ndcg_tracker raises on purpose; everything else that escapes is a defect.

Every message is one line that says what is wrong, where (file and line, group, run) and what to do next.
"""


class NdcgTrackerError(Exception):
    """The ancestor of every error that ndcg_tracker raises on purpose."""


class InputError(NdcgTrackerError):
    """A file, a frame or an argument that cannot be taken as it is (exit code 2)."""


class MetricError(InputError):
    """A metric text that does not parse, or a metric that cannot take these labels or scores (exit code 2)."""


class ReferenceNotFoundError(InputError):
    """A run, alias, dataset or group that does not exist or is ambiguous (exit code 2)."""


class ConflictError(InputError):
    """A name that is already taken by other content, or a label that contradicts a stored one (exit code 2)."""


class DatabaseError(NdcgTrackerError):
    """A database that cannot be opened, read or written as it is (exit code 2)."""


class NotComparableError(NdcgTrackerError):
    """Two runs that share no metric under one label set (exit code 5)."""
