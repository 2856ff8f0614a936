"""Two runs against each other: pairing, significance, gate, typed results; arithmetic only, no SQL, no frames."""

from ndcg_tracker.comparison.betting import (
    betting_interval,
    betting_lower_bound,
    betting_p_value,
    betting_upper_bound,
)
from ndcg_tracker.comparison.bootstrap import bootstrap_interval
from ndcg_tracker.comparison.compare import (
    PairedResults,
    adjusted_jointly,
    compare_metrics,
    compare_runs,
    extreme_groups,
)
from ndcg_tracker.comparison.decisions import Decision, GateDecision, Scope
from ndcg_tracker.comparison.equivalence import Equivalence, equivalence_test
from ndcg_tracker.comparison.gate import population_decision, set_decision, spent_alpha
from ndcg_tracker.comparison.inference import CiMethod, TestName
from ndcg_tracker.comparison.information import Information, information_in
from ndcg_tracker.comparison.moves import ItemMove
from ndcg_tracker.comparison.pairing import Missing, Pairing, pair
from ndcg_tracker.comparison.permutation import PermutationTest, sign_flip_test
from ndcg_tracker.comparison.rank_test import wilcoxon_p_value
from ndcg_tracker.comparison.results import (
    Comparison,
    GroupCounts,
    GroupDelta,
    JudgedShare,
    LabelSetRef,
    MetricComparison,
    RunRef,
    Verdict,
)
from ndcg_tracker.comparison.significance import (
    TTest,
    benjamini_hochberg,
    detectable_delta,
    holm,
    mean_interval,
    paired_t,
    t_interval,
    t_lower_bound,
    t_upper_bound,
    weighted_t,
)
from ndcg_tracker.comparison.slices import SliceComparison, Slicing, compare_slices, worst_first
from ndcg_tracker.comparison.steps import Step, history_steps
from ndcg_tracker.comparison.tie_effect import GroupTieBounds, TieBounds, TieEffect

__all__ = [
    "CiMethod",
    "Comparison",
    "Decision",
    "Equivalence",
    "GateDecision",
    "GroupCounts",
    "GroupDelta",
    "GroupTieBounds",
    "Information",
    "ItemMove",
    "JudgedShare",
    "LabelSetRef",
    "MetricComparison",
    "Missing",
    "PairedResults",
    "Pairing",
    "PermutationTest",
    "RunRef",
    "Scope",
    "SliceComparison",
    "Slicing",
    "Step",
    "TTest",
    "TestName",
    "TieBounds",
    "TieEffect",
    "Verdict",
    "adjusted_jointly",
    "benjamini_hochberg",
    "betting_interval",
    "betting_lower_bound",
    "betting_p_value",
    "betting_upper_bound",
    "bootstrap_interval",
    "compare_metrics",
    "compare_runs",
    "compare_slices",
    "detectable_delta",
    "equivalence_test",
    "extreme_groups",
    "history_steps",
    "holm",
    "information_in",
    "mean_interval",
    "pair",
    "paired_t",
    "population_decision",
    "set_decision",
    "sign_flip_test",
    "spent_alpha",
    "t_interval",
    "t_lower_bound",
    "t_upper_bound",
    "weighted_t",
    "wilcoxon_p_value",
    "worst_first",
]
