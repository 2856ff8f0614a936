"""Rankings and labels as columns: the one form in which data passes between the layers."""

from ndcg_tracker.rankings.join import Judged, JudgedRanking, JudgedUnsorted, judged
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import LabelLists, Ranking
from ndcg_tracker.rankings.unsorted import Run, UnsortedRanking, run_of_groups
from ndcg_tracker.rankings.weights import GroupWeights

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
