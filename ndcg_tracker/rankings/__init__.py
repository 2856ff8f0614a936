"""Rankings and labels as columns: the one form in which data passes between the layers."""

from ndcg_tracker.rankings.join import JudgedRanking, judged
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import LabelLists, Ranking
from ndcg_tracker.rankings.weights import GroupWeights

__all__ = ["GroupWeights", "JudgedRanking", "Keys", "LabelLists", "Ranking", "judged"]
