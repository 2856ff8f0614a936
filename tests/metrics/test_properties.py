"""What holds for every gain, discount, cutoff and measure, whatever the lists."""

import itertools
from random import Random
from statistics import fmean

import numpy as np
import pytest
from drawn_cases import is_by_gain
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from rankings_of import Run, joined, results
from thorough import examples

from ndcg_tracker.metrics.kernel.graded_list import gains
from ndcg_tracker.metrics.kernel.mean import GroupResults
from ndcg_tracker.metrics.kernel.values import group_results
from ndcg_tracker.metrics.language.measures import CUMULATED, MEASURES
from ndcg_tracker.metrics.language.metric import Metric

ITEMS = [f"d{number}" for number in range(9)]
GAINS = ("linear", "exp2", "binary", "linear>=2", "exp2>=3", "{1:3.5, 2:9}", "{0:0.5, 2:1, 3:0}")
DISCOUNTS = ("log2", "position", "ln", "jk2", "jk3", "jk1.5", "rbp0.8", "none")
LISTED = tuple(name for name, measure in MEASURES.items() if measure.is_listed)
EXPECTED = tuple(name for name in LISTED if MEASURES[name].has_expected_value)

# what a record does not tell; a new measure is held to everything
OF_THE_END = ("Rndcg", "AUC", "FallOut")
"""Averages over ranks, of which the end of the list is one, as in trec_eval, and shares of the items not relevant."""
COUNTS_ALL = ("SetP", "SetAP", "SetF", "Utility", "NumRet", "Judged", "Unjudged", "RBPResidual")
"""Measures in which every item of a list counts, whether it is judged or not."""
SIGNED = ("yaap", "GMAP", "GMBpref", "Utility")
"""Measures that may be below 0."""
UNBOUNDED = ("cg", "dcg", "NumRet", "NumNonrelJudgedRet")
"""Measures that are never below 0, and may be above 1."""

some_gain, some_discount = st.sampled_from(GAINS), st.sampled_from(DISCOUNTS)
some_cutoff = st.none() | st.integers(1, 8)
some_run = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3"]),
    st.dictionaries(st.sampled_from(ITEMS), st.sampled_from([0.0, 1.0, 2.5, -3.0]), min_size=1, max_size=7),
    min_size=1,
)
untied_run = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3"]),
    st.lists(st.sampled_from(ITEMS), unique=True, min_size=1).map(
        lambda items: {item: -float(place) for place, item in enumerate(items)}
    ),
    min_size=1,
)
some_labels = st.dictionaries(
    st.sampled_from(["q1", "q2", "q4"]),
    st.dictionaries(st.sampled_from(ITEMS), st.integers(-1, 4).map(float), min_size=1),
    min_size=1,
)


@st.composite
def some_metric(draw: st.DrawFn, measures: tuple[str, ...] = LISTED, **fixed: str) -> Metric:
    """Return a metric of one of some measures, with settings drawn for the axes that the measure has."""
    measure = draw(st.sampled_from(measures))
    drawn: dict[str, str] = {"unjudged": draw(st.sampled_from(["zero", "drop"]))}
    if measure in CUMULATED:
        drawn |= {"gain": draw(some_gain), "negative": draw(st.sampled_from(["zero", "keep", "drop"]))}
    if measure in ("dcg", "ndcg"):
        drawn["discount"] = draw(some_discount)
    if measure == "ndcg":
        drawn["ideal"] = draw(st.sampled_from(["judged", "retrieved"]))
        drawn["ideal_cut"] = draw(st.sampled_from(["cutoff", "none", "retrieved"]))
    if measure == "PFound":
        drawn["highest"] = "4"  # so that labels are probabilities
    if measure == "AP":
        drawn["over"] = draw(st.sampled_from(["relevant", "achievable", "found", "list"]))
    if measure in ("AP", "P", "R"):
        drawn["ideal"] = draw(st.sampled_from(["judged", "retrieved"]))
        drawn["empty"] = draw(st.sampled_from(["0", "1", "skip"]))
    if MEASURES[measure].has("rel"):
        drawn["rel"] = draw(st.sampled_from(["1", "2"]))
    cutoff = draw({"none": st.none(), "required": st.integers(1, 8), "optional": some_cutoff}[MEASURES[measure].cutoff])
    return Metric.of(measure, cutoff=cutoff, **(drawn | fixed))


def of(metric: Metric, run: Run, labels: Run) -> GroupResults:
    return group_results(joined(run, labels), [metric])[0]


@settings(deadline=None)
@given(untied_run, some_metric(("ndcg",), ideal_cut="cutoff", unjudged="zero"))
def test_a_perfect_order_gives_exactly_1(labels: Run, metric: Metric) -> None:
    grades = {group: {item: float(-score % 6 - 1) for item, score in items.items()} for group, items in labels.items()}
    run = {}
    for group, items in grades.items():
        worth = gains(metric["gain"], np.array(list(items.values())))
        if metric["negative"] != "keep":
            worth[np.array(list(items.values())) < 0] = 0.0
        run[group] = dict(zip(items, worth.tolist(), strict=True))
    found = of(metric, run, grades)
    np.testing.assert_array_equal(found.values, (found.ideal_dcg > 0).astype(float))


@settings(deadline=None)
@given(some_run, some_labels, some_metric(), st.sampled_from(["item_desc", "item_asc", "input", "pessimistic"]))
def test_values_lie_between_0_and_1(run: Run, labels: Run, metric: Metric, ties: str) -> None:
    found = of(metric.with_axes(ties=ties), run, labels)
    values = found.values[~np.isnan(found.values)]
    if metric.limits is None:
        assume(metric["negative"] != "keep" and metric.measure not in SIGNED)
    lowest, highest = metric.limits or (0.0, np.inf if metric.measure in UNBOUNDED else 1.0)
    assert (lowest <= values).all()
    assert (values <= highest + 1e-15).all()
    if metric.measure not in UNBOUNDED:
        assert found.mean is None or 0 <= found.mean <= 1 + 1e-15


@settings(deadline=None)
@given(some_run, some_labels, st.integers(1, 8), st.sampled_from(["position", "log2"]))
def test_a_constant_ideal_bounds_binary_gains(run: Run, labels: Run, cutoff: int, discount: str) -> None:
    text = f"ndcg(gain=binary, ideal=constant, discount={discount})@{cutoff}"
    found = results(text, run, labels)
    assert (found.values[~np.isnan(found.values)] <= 1 + 1e-15).all()


@settings(deadline=None)
@given(some_run, some_labels, some_metric(EXPECTED), st.randoms(use_true_random=False))
def test_neither_order_nor_names_of_tied_items_matter_to_the_average(
    run: Run, labels: Run, metric: Metric, shuffle: Random
) -> None:
    metric = metric.with_axes(ties="average")
    name_of = dict(zip(ITEMS, shuffle.sample(ITEMS, len(ITEMS)), strict=True))
    mixed = {group: dict(shuffle.sample(list(items.items()), len(items))) for group, items in run.items()}
    renamed = [
        {group: {name_of[item]: number for item, number in items.items()} for group, items in given.items()}
        for given in (mixed, labels)
    ]
    before, after = of(metric, run, labels), of(metric, *renamed)
    assert before.group_keys.to_list() == after.group_keys.to_list()
    np.testing.assert_allclose(after.values, before.values, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("measure", EXPECTED)
@settings(deadline=None, max_examples=examples(100))
@given(
    st.dictionaries(st.sampled_from(ITEMS), st.sampled_from([0.0, 1.0]), min_size=3, max_size=6),
    st.dictionaries(st.sampled_from(ITEMS), st.integers(-1, 4).map(float), min_size=3),
    st.data(),
)
def test_the_average_is_the_mean_over_all_orders(
    measure: str, scores: dict[str, float], grades: dict[str, float], data: st.DataObject
) -> None:
    metric = data.draw(some_metric((measure,)))
    blocks = [list(tied) for _, tied in itertools.groupby(sorted(scores, key=scores.__getitem__), scores.__getitem__)]
    orders = itertools.product(*(itertools.permutations(block) for block in blocks))
    runs = [{item: float(place) for place, item in enumerate(itertools.chain(*order))} for order in orders]
    everywhere = {str(number): untied for number, untied in enumerate(runs)}
    each = of(metric, everywhere, dict.fromkeys(everywhere, grades))
    average = of(metric.with_axes(ties="average"), {"q": scores}, {"q": grades})
    assert average.values[0] == pytest.approx(fmean(each.values.tolist()), rel=1e-13, abs=1e-13, nan_ok=True)


@settings(deadline=None)
@given(some_run, some_labels, some_metric(unjudged="zero"))
def test_every_order_lies_between_pessimistic_and_optimistic(run: Run, labels: Run, metric: Metric) -> None:
    assume(is_by_gain(metric))
    between = ("item_desc", "item_asc", "input", *(("average",) if metric.measure in EXPECTED else ()))
    variants = [metric.with_axes(ties=ties) for ties in ("pessimistic", "optimistic", *between)]
    worst, best, *others = (found.values for found in group_results(joined(run, labels), variants))
    defined = ~np.isnan(worst)
    slack = 1e-14 * (1 + np.abs(best[defined]))
    for values in others:
        assert (worst[defined] <= values[defined] + slack).all()
        assert (values[defined] <= best[defined] + slack).all()


@settings(deadline=None)
@given(some_run, some_labels, some_metric(("dcg", "ndcg"), unjudged="0.5"))
def test_the_bounds_hold_where_unjudged_items_gain_something(run: Run, labels: Run, metric: Metric) -> None:
    test_every_order_lies_between_pessimistic_and_optimistic.hypothesis.inner_test(run, labels, metric)


@settings(deadline=None)
@given(
    untied_run,
    some_labels,
    some_metric(tuple(name for name in LISTED if MEASURES[name].cutoff != "none"), unjudged="zero"),
    st.randoms(use_true_random=False),
)
def test_the_order_below_the_cutoff_does_not_matter(run: Run, labels: Run, metric: Metric, shuffle: Random) -> None:
    assume(metric.cutoff is not None and metric["negative"] != "drop")
    other = {}
    for group, items in run.items():
        best_first = list(items)
        late = best_first[metric.cutoff :]
        order = best_first[: metric.cutoff] + shuffle.sample(late, len(late))
        other[group] = {item: -float(place) for place, item in enumerate(order)}
    np.testing.assert_array_equal(of(metric, other, labels).values, of(metric, run, labels).values)


@settings(deadline=None)
@given(some_run, some_labels, some_metric(tuple(name for name in LISTED if name not in (*COUNTS_ALL, *OF_THE_END))))
def test_an_unjudged_item_at_the_end_changes_nothing(run: Run, labels: Run, metric: Metric) -> None:
    assume(metric["ideal_cut"] != "retrieved" and metric["over"] != "list")
    assume(metric["ideal"] == "judged" or metric["negative"] != "keep")
    assume(metric["over"] != "list")
    longer = {group: {**items, "unseen": -99.0} for group, items in run.items()}
    np.testing.assert_array_equal(of(metric, longer, labels).values, of(metric, run, labels).values)


@settings(deadline=None)
@given(some_run, some_labels, some_metric(("ndcg",)))
def test_ndcg_is_dcg_divided_by_idcg(run: Run, labels: Run, metric: Metric) -> None:
    axes = dict(metric.settings)
    of_dcg = {name: axes[name] for name in axes if name not in ("ideal", "ideal_cut")}
    of_idcg = {name: axes[name] for name in axes if name != "unjudged"}
    listed = "retrieved" in (metric["ideal"], metric["ideal_cut"])
    assume(metric["unjudged"] == "zero" or not listed)  # idcg alone has no list to take unjudged items out of
    dcg, idcg = Metric.of("dcg", cutoff=metric.cutoff, **of_dcg), Metric.of("idcg", cutoff=metric.cutoff, **of_idcg)
    ratio, above, below = group_results(joined(run, labels), [metric, dcg, idcg])
    fine = (below.values > 0) & ~np.isnan(above.values)
    np.testing.assert_array_equal(ratio.values[fine], above.values[fine] / below.values[fine])
    np.testing.assert_array_equal(ratio.dcg[fine], above.values[fine])
    np.testing.assert_array_equal(ratio.ideal_dcg[fine], below.values[fine])
    rest = ~fine & ~np.isnan(ratio.values)
    assert (ratio.values[rest] == 0).all()


@settings(deadline=None)
@given(some_run, some_labels, st.sampled_from(["R", "Success", "RR", "ERR", "RBP", "AP", "cg", "dcg"]))
def test_a_larger_cutoff_never_finds_less(run: Run, labels: Run, measure: str) -> None:
    metrics = [Metric.of(measure, cutoff=cutoff, ties="item_desc") for cutoff in range(1, 9)]
    values = np.array([found.values for found in group_results(joined(run, labels), metrics)])
    values = values[:, ~np.isnan(values[0])]
    assert (np.diff(values, axis=0) >= -1e-15).all()
