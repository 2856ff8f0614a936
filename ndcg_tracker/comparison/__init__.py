"""Two runs against each other: pairing, significance and the typed result; arithmetic only, no SQL and no frames."""

from ndcg_tracker.comparison.compare import (
    PairedResults,
    adjusted_jointly,
    compare_metrics,
    compare_runs,
    extreme_groups,
)
from ndcg_tracker.comparison.pairing import Missing, Pairing, pair
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
    detectable_delta,
    holm,
    mean_interval,
    paired_t,
    t_interval,
    weighted_t,
)
from ndcg_tracker.comparison.tie_effect import GroupTieBounds, TieBounds, TieEffect

__all__ = [
    "Comparison",
    "GroupCounts",
    "GroupDelta",
    "GroupTieBounds",
    "JudgedShare",
    "LabelSetRef",
    "MetricComparison",
    "Missing",
    "PairedResults",
    "Pairing",
    "RunRef",
    "TTest",
    "TieBounds",
    "TieEffect",
    "Verdict",
    "adjusted_jointly",
    "compare_metrics",
    "compare_runs",
    "detectable_delta",
    "extreme_groups",
    "holm",
    "mean_interval",
    "pair",
    "paired_t",
    "t_interval",
    "weighted_t",
]
