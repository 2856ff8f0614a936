from .join import Judged, JudgedRanking, JudgedUnsorted, judged
from .keys import Keys
from .ranking import LabelLists, Ranking
from .unsorted import Run, UnsortedRanking, run_of_groups
from .weights import GroupWeights

__all__ = [
    "GroupWeights",
    "Judged",
    "JudgedRanking",
    "JudgedUnsorted",
    "Keys",
    "LabelLists",
    "Ranking",
    "Run",
    "UnsortedRanking",
    "judged",
    "run_of_groups",
]
