"""What each format of a run or of labels means, recogniser by recogniser, in plain Python.

Written from the documentation of the formats, never from the readers, and slow: something to hold the readers to. A
recogniser takes the whole content and returns a ``Table``, or raises ``RefusedError`` with every line that is at fault.
"""

from .delimited import delimited
from .json_lines import json_lines
from .label_qid import label_qid
from .table import LABELS, RUN, RefusedError, Table
from .trec import trec_qrels, trec_run

__all__ = [
    "LABELS",
    "RUN",
    "RefusedError",
    "Table",
    "delimited",
    "json_lines",
    "label_qid",
    "trec_qrels",
    "trec_run",
]
