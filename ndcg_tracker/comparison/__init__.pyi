from .betting import (
    betting_interval,
    betting_lower_bound,
    betting_p_value,
    betting_upper_bound,
)
from .bootstrap import bootstrap_interval
from .compare import (
    PairedResults,
    adjusted_jointly,
    compare_metrics,
    compare_runs,
    extreme_groups,
)
from .decisions import Decision, GateDecision, Scope
from .equivalence import Equivalence, equivalence_test
from .gate import population_decision, set_decision, spent_alpha
from .inference import CiMethod, TestName
from .information import Information, information_in
from .moves import ItemMove
from .pairing import Missing, Pairing, pair
from .permutation import PermutationTest, sign_flip_test
from .rank_test import wilcoxon_p_value
from .results import (
    Comparison,
    GroupCounts,
    GroupDelta,
    JudgedShare,
    LabelSetRef,
    MetricComparison,
    RunRef,
    Verdict,
)
from .significance import (
    TTest,
    benjamini_hochberg,
    detectable_delta,
    holm,
    limited,
    mean_interval,
    paired_t,
    t_interval,
    t_lower_bound,
    t_upper_bound,
    weighted_t,
)
from .slices import SliceComparison, Slicing, compare_slices, worst_first
from .steps import Step, history_steps
from .tie_effect import GroupTieBounds, TieBounds, TieEffect

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
    "limited",
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
