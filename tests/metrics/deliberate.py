"""Where we differ from another tool on purpose: every difference to ``conformance/`` is one of these."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from agreement import OTHER_VALUE, THEY_REFUSE, UNDEFINED, WE_REFUSE, Answer, Comparison


@dataclass(frozen=True)
class Deliberate:
    """A difference that is meant: why, how it shows, and in which cases of which tools (all of them, or it is stale).

    ``ours`` and ``theirs``, where given, are the only answers that it covers.
    """

    reason: str
    outcomes: tuple[str, ...]
    peers: tuple[str, ...]
    cases: tuple[str, ...]
    ours: Answer | None = None
    theirs: Answer | None = None

    def covers(self, difference: Comparison) -> bool:
        """Whether a difference is this one."""
        return (
            difference.outcome in self.outcomes
            and difference.peer in self.peers
            and difference.case in self.cases
            and self.ours in (None, difference.ours)
            and self.theirs in (None, difference.theirs)
        )

    def unused(self, differences: Iterable[Comparison]) -> list[tuple[str, str] | str]:
        """Return the (tool, case) pairs and outcomes that no difference needs."""
        covered = [difference for difference in differences if self.covers(difference)]
        pairs = {(difference.peer, difference.case) for difference in covered}
        stale: list[tuple[str, str] | str] = [
            (peer, case) for peer in self.peers for case in self.cases if (peer, case) not in pairs
        ]
        return stale + [outcome for outcome in self.outcomes if outcome not in {found.outcome for found in covered}]


_TREC = ("trec_eval_9", "trec_eval_10")

DELIBERATE = {
    "a NaN score": Deliberate(
        "A NaN score is a defect of the model, or stands for an item that was not retrieved: only the caller knows. So "
        "it is refused with the row that has it; the tools leave the NaN to their sort, which puts it anywhere.",
        (WE_REFUSE,),
        ("catboost", "lightgbm", "xgboost", "torchmetrics", "pytrec_eval", "ranx", "ir_measures", *_TREC),
        ("h41_nan_score",),
    ),
    "infinite scores": Deliberate(
        "An infinite score is a defect of the model that made it, and is refused with the row that has it.",
        (WE_REFUSE,),
        (
            *("catboost", "lightgbm", "xgboost", "torchmetrics", "pytrec_eval", "ranx", "ir_measures", "pyspark"),
            *("rectools", "recbole", "spark_scala", *_TREC),
        ),
        ("h42_inf_scores",),
    ),
    "no rows": Deliberate(
        "A run without a single row is a mistake, not a result; these tools return 0 or NaN for it.",
        (WE_REFUSE,),
        ("xgboost", "ir_measures", "rectools"),
        ("h43_no_group",),
    ),
    "2^l overflows": Deliberate(
        "A label whose gain is not a finite number is refused, naming it; these tools return NaN.",
        (WE_REFUSE,),
        ("catboost", "ranx", "spark_scala"),
        ("h31_label_2000", "h32_label_beyond_float32", "h45_label_million"),
        theirs=UNDEFINED,
    ),
    "fractional labels": Deliberate(
        "trec_eval cuts off what is behind the point without a word; we refuse such labels, as pytrec_eval does.",
        (WE_REFUSE,),
        _TREC,
        ("h27_float_labels", "r06_float_labels"),
    ),
    "trec_eval's ideal of fractional gains": Deliberate(
        "trec_eval compares gains as whole numbers when it sorts its ideal, which therefore is not the ideal; "
        "ours is (see the hand formula of this case).",
        (OTHER_VALUE,),
        _TREC,
        ("h49_fractional_gain_table",),
    ),
    "trec_eval dies": Deliberate(
        "trec_eval crashes where all labels of a group lie below -1, hangs at large labels; the values are defined.",
        (THEY_REFUSE,),
        _TREC,
        ("h44_negative_max_below_minus_one", "h45_label_million"),
    ),
    "trec_eval -c prints no zero": Deliberate(
        "With -c a group that is missing from the run counts 0 in the mean, and is not printed; we have its 0.",
        (OTHER_VALUE,),
        ("trec_eval_9",),
        ("h21_group_missing_from_run", "h23_group_with_empty_result"),
        ours=0.0,
        theirs=UNDEFINED,
    ),
    "an empty list": Deliberate(
        "Rows cannot say that a group is in the run with an empty list: it counts as missing from the run, and a run "
        "of nothing but such groups has no scores.",
        (OTHER_VALUE, WE_REFUSE),
        ("pytrec_eval", "recbole"),
        ("h23_group_with_empty_result",),
    ),
    "pyspark without a relevant item": Deliberate(
        "pyspark cannot be called for a lone group that has no relevant item (its column has no type); in a larger "
        "run it counts 0, which is what we give.",
        (THEY_REFUSE,),
        ("pyspark",),
        (
            *("h15_no_relevant", "h16_mean_with_no_relevant", "h17_single_document", "h21_group_missing_from_run"),
            *("h22_group_missing_from_qrels", "h23_group_with_empty_result", "h26_all_negative"),
            *("h44_negative_max_below_minus_one", "r05_sparse_binary"),
        ),
        ours=0.0,
    ),
    "ranx's unstable sort": Deliberate(
        "From 16 items on ranx orders tied items at random; we keep the order in which they came.",
        (OTHER_VALUE,),
        ("ranx",),
        ("r03_ties_large",),
    ),
}
