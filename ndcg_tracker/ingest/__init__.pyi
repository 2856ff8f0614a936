from .columns import Columns
from .detection import READERS, default_run_name, detect_reader
from .frames import read_frame, read_label_frame
from .group_table import GroupColumns, GroupTable, read_group_frame, read_groups
from .ranks import joined_notes
from .reading import read_labels, read_run
from .streaming import RunStream, ScatteredGroupError, is_large, stream_run
from .table import RankedTable

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
    "joined_notes",
    "read_frame",
    "read_group_frame",
    "read_groups",
    "read_label_frame",
    "read_labels",
    "read_run",
    "stream_run",
]
