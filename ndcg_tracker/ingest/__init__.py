"""Files and frames to the columnar ranking: one reader per format, and the checks."""

from ndcg_tracker.ingest.columns import Columns
from ndcg_tracker.ingest.detection import READERS, default_run_name, detect_reader
from ndcg_tracker.ingest.frames import read_frame, read_label_frame
from ndcg_tracker.ingest.group_table import GroupColumns, GroupTable, read_group_frame, read_groups
from ndcg_tracker.ingest.reading import read_labels, read_run
from ndcg_tracker.ingest.streaming import RunStream, ScatteredGroupError, is_large, stream_run
from ndcg_tracker.ingest.table import RankedTable

__all__ = [
    "READERS",
    "Columns",
    "GroupColumns",
    "GroupTable",
    "RankedTable",
    "RunStream",
    "ScatteredGroupError",
    "default_run_name",
    "detect_reader",
    "is_large",
    "read_frame",
    "read_group_frame",
    "read_groups",
    "read_label_frame",
    "read_labels",
    "read_run",
    "stream_run",
]
