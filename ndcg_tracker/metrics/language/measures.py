"""The measures: one record for each, with everything about it except its arithmetic."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from ndcg_tracker.extensions import MEASURES as FROM_PACKAGES
from ndcg_tracker.extensions import installed, loaded

Summary = Literal["mean", "sum", "geometric_mean"]
Work = Literal["search", "recommendations", "rankers", "trec"]
"""What people rank for: each has its own page, ``docs/start-WORK.md``."""
ShownOnly = Literal["diagnostic", "no_mean_of_groups"]

LEAST_OF_GEOMETRIC = 0.00001
"""The smallest value that a group has in a geometric mean: trec_eval.h, MIN_GEO_MEAN."""

CUMULATED = ("cg", "dcg", "idcg", "ndcg")
"""The measures of cumulated gain; the others are called companions."""

_OF_LISTS = ("own", "depth", "ties", "unjudged", "score_type")
_OF_MEANS = ("weights", "weight_type")
_IDEAL = ("ideal", "ideal_order", "ideal_cut")
_OF_EMPTY = ("empty", "empty_weight", "clip")


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure with its names, axes and properties.

    ``formula``: in words; braces hold an axis or a name of ``metric.py:_companion_formula``. ``metric.py:formula``
    writes the formula of the cumulated measures. ``names``: other names that people type, in any case, with or without
    underscores. The cutoff follows after ``@`` or ``_``, or directly unless ``is_bare_number_doubtful``: ``rbp_80``
    means p=0.8. ``axes``: its own axes. Axes that no measure names belong to all measures; ``is_listed`` and
    ``summary`` decide on the axes of lists and means. ``defaults``: of the axes whose default differs, ``defaults_at``:
    also if it has a cutoff. ``cutoff``: whether it takes one; ``axis_at``: the axis whose value follows the ``@``
    instead. ``is_share``: its values lie between 0 and 1, whatever its axes are. ``is_listed``: it depends on the list,
    not only on labels. ``is_ordered``: it depends on the order of the list. ``has_expected_value``: the kernel has a
    closed form of its mean over all orders of tied items, so ``ties=average`` is allowed. Every sum of what each item
    is worth at its rank has one. ``is_diagnostic``: it is shown but not tested, because it says how a run was judged or
    how long it is, or lower values are better. For all other measures, more must be better. ``summary``: how the values
    of the groups are summarised. ``of_nothing``: the value of an empty list, if a group that is missing from the run
    has the same value. None if such a group has 0 under ``missing=zero``, but an empty list has another value.
    """

    name: str
    meaning: str
    formula: str = ""
    names: tuple[str, ...] = ()
    axes: tuple[str, ...] = ("rel",)
    defaults: Mapping[str, str] = field(default_factory=dict)
    defaults_at: Mapping[str, str] = field(default_factory=dict)
    cutoff: Literal["optional", "required", "none"] = "none"
    axis_at: str | None = None
    is_share: bool = False
    is_listed: bool = True
    is_ordered: bool = True
    has_expected_value: bool = False
    is_diagnostic: bool = False
    summary: Summary = "mean"
    of_nothing: float | None = 0.0
    is_bare_number_doubtful: bool = False

    def has(self, axis: str) -> bool:
        """Return whether this measure has an axis that not every measure has."""
        return (
            axis in self.axes
            or (self.is_listed and axis in _OF_LISTS)
            or (self.summary == "mean" and axis in _OF_MEANS)
        )


EXTERNAL = "external:"
"""The beginning of the text of a metric whose values another engine computed."""

_EXTERNAL = Measure(
    EXTERNAL,
    "group results that another engine computed; ndcg_tracker knows only their direction and range",
    "as its engine defines it",
    axes=(),
    defaults={"missing": "skip"},
    is_listed=False,
    is_ordered=False,
    of_nothing=None,
)

_share = partial(Measure, is_share=True)
_share_with_expected_value = partial(_share, has_expected_value=True)
_diagnostic_share = partial(_share_with_expected_value, is_diagnostic=True)
_share_of_set = partial(_share_with_expected_value, is_ordered=False)
_count = partial(Measure, is_ordered=False, is_diagnostic=True, summary="sum")
_count_of_labels = partial(_count, is_listed=False, of_nothing=None, defaults={"missing": "empty"})
_geometric = partial(Measure, summary="geometric_mean", of_nothing=math.log(LEAST_OF_GEOMETRIC))

_ALL = (
    Measure(
        "cg",
        "cumulated gain: the sum of the gains",
        axes=("gain",),
        cutoff="optional",
        has_expected_value=True,
    ),
    Measure(
        "dcg",
        "discounted cumulated gain: the sum of gain x discount",
        names=("discounted_cumulative_gain",),
        axes=("gain", "discount"),
        cutoff="optional",
        has_expected_value=True,
    ),
    Measure(
        "idcg",
        "the discounted cumulated gain of the ideal order",
        names=("ideal_dcg",),
        axes=("gain", "discount", *_IDEAL),
        cutoff="optional",
        is_listed=False,
        of_nothing=None,
    ),
    Measure(
        "ndcg",
        "dcg / idcg",
        names=("ndcg_cut", "normalized_discounted_cumulative_gain", "normalised_discounted_cumulative_gain"),
        axes=("gain", "discount", *_IDEAL, "empty_when", "size1", *_OF_EMPTY),
        cutoff="optional",
        has_expected_value=True,
    ),
    _share_with_expected_value(
        "P",
        "precision: the share of relevant items among the first ranks",
        "{relevant} among {first} / {divisor}",
        names=("precision", "prec"),
        axes=("rel", "relative", "over", "ideal", *_OF_EMPTY),
        defaults={"over": "cutoff"},
        cutoff="required",
    ),
    _share_with_expected_value(
        "R",
        "recall: the share of the relevant items that are among the first ranks",
        "{relevant} among {first} / {divisor}",
        names=("recall",),
        axes=("rel", "over", "ideal", *_OF_EMPTY),
        cutoff="required",
    ),
    _share_with_expected_value(
        "F1",
        "precision and recall of the first ranks combined, with weight beta for recall",
        "(b + 1) * P * R / (b * P + R), b = {beta}, P = r / {cutoff}, R = r / {every}, r = {relevant} among {first}",
        names=("f1_score", "f1_beta", "f_beta"),
        axes=("rel", "beta", *_OF_EMPTY),
        cutoff="required",
    ),
    _share(
        "AP",
        "average precision: the mean of the precision at each relevant item",
        "{precision} / {divisor}",
        names=("map", "map_cut", "average_precision", "mean_average_precision"),
        axes=("rel", "over", "ideal", *_OF_EMPTY),
        cutoff="optional",
    ),
    _share(
        "RR",
        "reciprocal rank: 1 / the rank of the first relevant item",
        "1 / the rank of the first of the {relevant} among {first}, 0 if there is none",
        names=("mrr", "recip_rank", "reciprocal_rank", "mean_reciprocal_rank"),
        axes=("rel", "ideal", *_OF_EMPTY),
        defaults_at={"ties": "item_asc"},  # as ir_measures breaks ties for this measure
        cutoff="optional",
    ),
    _share(
        "Success",
        "1 if a relevant item is among the first ranks, else 0",
        "1 if one of the {relevant} is among {first}, else 0",
        names=("hit", "hits", "hit_rate", "hit_ratio", "hr"),
        axes=("rel", "ideal", *_OF_EMPTY),
        cutoff="optional",
    ),
    _diagnostic_share(
        "Judged",
        "the share of labelled items among the first ranks",
        "items with a label among {first} / items among {first}",
        axes=(),
        defaults={"ties": "item_asc"},  # as ir_measures breaks ties for this measure
        cutoff="optional",
    ),
    Measure(
        "ERR",
        "expected reciprocal rank of the item that satisfies a user",
        "sum over {first} of 1/i * s(i) * product of 1 - s(j) over the ranks j before i, s = (2^l - 1)/{scale}",
        names=("expected_reciprocal_rank",),
        axes=("highest",),
        cutoff="optional",
    ),
    Measure(
        "PFound",
        "the probability that a user finds an item: labels are probabilities, or grades up to the highest",
        "sum over {first} of p^(i-1) * s(i) * product of 1 - s(j) over the ranks j before i, p = {p}, s = l/{highest}",
        axes=("p", "highest"),
        defaults={"p": "0.85", "highest": "1"},
        cutoff="optional",
    ),
    _share_with_expected_value(
        "AUC",
        "area under the ROC curve: the share of pairs of a relevant and another item that are in the right order",
        "pairs of {relevant} and another item below it / ({every} * other items in the list), half a pair if tied",
        names=("roc_auc", "auroc", "query_auc"),
        axes=("rel", "ideal", *_OF_EMPTY),
        defaults={"ties": "average"},
    ),
    _diagnostic_share(
        "FallOut",
        "the share of the other items of the list that are among the first ranks; lower is better",
        "items other than {relevant} among {first} / all of them in the list",
        axes=("rel", *_OF_EMPTY),
        cutoff="optional",
    ),
    _share_with_expected_value(
        "RBP",
        "rank-biased precision: a user continues to the next rank with probability p",
        "(1 - p) * sum over {patient}, p = {p}",
        names=("rank_biased_precision",),
        axes=("rel", "p", "graded", *_OF_EMPTY),
        cutoff="optional",
        is_bare_number_doubtful=True,
    ),
    _share_of_set(
        "SetP",
        "precision of the whole list",
        "{relevant} in the list / {shown}",
        names=("set_precision",),
        axes=("rel", "relative", "ideal", *_OF_EMPTY),
    ),
    _share_of_set(
        "SetR",
        "recall of the whole list",
        "{relevant} in the list / {every}",
        names=("set_recall",),
    ),
    _share_of_set(
        "SetAP",
        "precision x recall of the whole list",
        "({relevant} in the list)^2 / (items in the list * {every})",
        names=("set_map",),
    ),
    _share_of_set(
        "SetF",
        "F: precision and recall of the whole list combined, with weight beta for recall",
        "(b + 1) * SetP * SetR / (b * SetP + SetR), b = {beta}, relevant: {relevant}",
        names=("F",),
        axes=("rel", "beta"),
    ),
    _share(
        "Rprec",
        "precision after as many ranks as there are relevant items",
        "{relevant} among the first c ranks / c, c = {mult} * {every}, rounded up if the fraction is 0.1 or more",
        names=("r_precision",),
        axes=("rel", "mult", "ideal", *_OF_EMPTY),
    ),
    _share(
        "Bpref",
        "binary preference: how few judged nonrelevant items rank above the relevant ones",
        "{preference}",
    ),
    _share(
        "infAP",
        "inferred average precision, if only a sample of the pool was judged",
        "mean over {every} of 1/i + (i-1)/i * (pooled before it)/(i-1) * (share relevant of those judged)",
    ),
    _share(
        "IPrec",
        "interpolated precision: the highest precision at a recall or beyond",
        "{reached}",
        names=("iprec_at_recall",),
        axes=("rel", "recall", "recall_count"),
        axis_at="recall",
    ),
    _share(
        "IPrecAvg",
        "interpolated precision, averaged over recall levels (11pt_avg)",
        "mean over the recalls {recalls} of {reached}",
        names=("11pt_avg",),
        axes=("rel", "recalls", "recall_count"),
    ),
    _share(
        "binG",
        "the mean over relevant items of 1/log2(2 + nonrelevant items before it)",
        "mean over {every} of 1/log2(2 + other items before it)",
    ),
    Measure(
        "G",
        "normalized gain: gains discounted by how much more the ideal order has gained up to the same rank",
        "sum of g/log2(2 + c - s) / sum of all gains, g = {gain}, s and c = sums of the list's gains and of the ideal "
        "gains (1 if lower) up to the rank",
        axes=("gain",),
    ),
    Measure(
        "ndcg_rel",
        "ndcg, averaged over the ranks of the items with a gain",
        "mean over the items with a gain of dcg / idcg at their rank, gain = {gain}",
        axes=("gain", "discount"),
    ),
    Measure(
        "Rndcg",
        "ndcg, averaged over the ranks where the ideal order continues with a lower grade",
        "mean of dcg / idcg over the ranks where the ideal gain drops, and at the end of the list, gain = {gain}",
        axes=("rel", "gain", "discount"),
    ),
    Measure(
        "yaap",
        "yet another average precision: the smoothed log-odds of average precision",
        "ln((1 + s) / (1 + R - s)), s = {precision}, R = {every}",
        defaults={"missing": "empty"},
        of_nothing=None,
    ),
    Measure(
        "Utility",
        "the worth of the list: an amount for each relevant and each other item, retrieved or not",
        "{hit} * relevant and retrieved + {noise} * only retrieved + {miss} * only relevant + {rest} * neither",
        axes=("rel", "worth", "collection"),
        is_ordered=False,
        has_expected_value=True,
        of_nothing=None,
    ),
    _geometric(
        "GMAP",
        "the logarithm of average precision, summarised by the geometric mean over groups (gm_map)",
        "ln of the larger of 0.00001 and {precision} / {every}; over the groups e^(their mean)",
        names=("gm_map",),
    ),
    _geometric(
        "GMBpref",
        "the logarithm of Bpref, summarised by the geometric mean over groups (gm_bpref)",
        "ln of the larger of 0.00001 and the {preference}; over the groups e^(their mean)",
        names=("gm_bpref",),
    ),
    _diagnostic_share(
        "Unjudged",
        "the share of the first ranks that hold an unjudged item",
        "{not_judged} among {first} / {cutoff}",
        names=("unj",),
        axes=(),
        cutoff="required",
    ),
    _diagnostic_share(
        "RBPResidual",
        "the largest possible rise of RBP if the unjudged items were relevant",
        "(1 - p) * sum of p^(i - 1) over the ranks i of {not_judged}, + p^n if any, p = {p}",
        axes=("p",),
    ),
    _count_of_labels(
        "NumQ",
        "the number of groups in the other means",
        "1; over the groups the sum",
        axes=(),
    ),
    _count(
        "NumRet",
        "the number of items in the list, or of the relevant ones with NumRet(rel=1)",
        "{relevant} in the list; over the groups the sum",
        defaults={"rel": "any"},
        has_expected_value=True,
    ),
    _count_of_labels(
        "NumRel",
        "the number of relevant items in the labels",
        "{every}; over the groups the sum",
    ),
    _count(
        "NumNonrelJudgedRet",
        "the number of judged nonrelevant items in the list",
        "{judged} in the list; over the groups the sum",
        has_expected_value=True,
    ),
)

MEASURES = {measure.name: measure for measure in _ALL}


def is_measure(name: str) -> bool:
    """Return whether a measure has this name: one of ours, or of an installed package (see ``conformance.Measure``)."""
    if name not in MEASURES and name in installed(FROM_PACKAGES):
        told = loaded(FROM_PACKAGES, name)
        formula = "as its package defines it"
        MEASURES[name] = Measure(name, told.meaning, formula, axes=(), cutoff="optional", is_share=told.is_share)
    return name in MEASURES


def measure_of(name: str) -> Measure:
    """Return the record of a measure, including one that another engine computed.

    >>> measure_of("AP").is_share, measure_of("external:faithfulness").is_listed
    (True, False)
    """
    return _EXTERNAL if name.startswith(EXTERNAL) else MEASURES[name]


def measures_with(axis: str) -> tuple[str, ...]:
    """Return the measures that have an axis: the measures that name it, or all if none does.

    >>> measures_with("graded"), len(measures_with("round")) == len(MEASURES)
    (('RBP',), True)
    """
    return tuple(name for name, measure in MEASURES.items() if measure.has(axis)) or tuple(MEASURES)


def squeezed(name: str) -> str:
    """Return a name in lower case without separators, because people write both in several ways."""
    return re.sub("[-_ ]", "", name).lower()
