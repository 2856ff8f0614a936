from .columns import Columns, ColumnWarning
from .detection import READERS, default_run_name, detect_reader
from .frames import NullScores, read_frame, read_label_frame
from .group_table import GroupColumns, GroupTable, read_group_frame, read_groups
from .ranks import joined_notes
from .reading import may_have_columns, read_labels, read_run
from .streaming import RunStream, ScatteredGroupError, in_blocks_or_whole, is_large, stream_run
from .table import RankedTable

__all__ = [
    "READERS",
    "ColumnWarning",
    "Columns",
    "GroupColumns",
    "GroupTable",
    "NullScores",
    "RankedTable",
    "RunStream",
    "ScatteredGroupError",
    "default_run_name",
    "detect_reader",
    "in_blocks_or_whole",
    "is_large",
    "joined_notes",
    "may_have_columns",
    "read_frame",
    "read_group_frame",
    "read_groups",
    "read_label_frame",
    "read_labels",
    "read_run",
    "stream_run",
]
