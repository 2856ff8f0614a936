"""The records of the measures: what they say of a measure is what it does, so that a flag forgotten is found."""

import itertools

import pytest
from rankings_of import joined

from ndcg_tracker.metrics.kernel.values import group_results
from ndcg_tracker.metrics.language.axes import AXES, AXIS_OF
from ndcg_tracker.metrics.language.measures import MEASURES
from ndcg_tracker.metrics.language.metric import Metric

LABELS = {"a": 3.0, "b": 1.0, "c": 0.0, "d": 2.0}
UNJUDGED = "x"


def metric_of(name: str, **settings: str) -> Metric:
    measure = MEASURES[name]
    own = {"Utility": {"worth": "{3, -1, -2, 1}", "collection": "9"}, "PFound": {"highest": "3"}}.get(name, {})
    at = {measure.axis_at: "0.5"} if measure.axis_at else {}
    return Metric.of(name, cutoff=None if measure.cutoff == "none" else 2, **(own | at | settings))


def values_of(name: str, lists: list[tuple[str, ...]]) -> list[float]:
    """Return a measure's value of each of some lists of items."""
    run = {str(place): {item: -float(rank) for rank, item in enumerate(items)} for place, items in enumerate(lists)}
    [found] = group_results(joined(run, dict.fromkeys(run, LABELS)), [metric_of(name)])
    return [float(value) for value in found.values]


@pytest.mark.parametrize("name", MEASURES)
def test_the_order_and_the_list_matter_where_the_record_says_so(name: str) -> None:
    orders = values_of(name, list(itertools.permutations([*LABELS, UNJUDGED])))
    assert (max(orders) - min(orders) > 1e-9) == (MEASURES[name].is_ordered and MEASURES[name].is_listed)
    lists = values_of(name, [("a",), ("b", "c"), ("c", UNJUDGED), ("d", UNJUDGED, "a")])
    assert (len(set(lists)) > 1) == MEASURES[name].is_listed


@pytest.mark.parametrize("name", MEASURES)
def test_a_group_that_the_run_lacks_has_the_value_of_an_empty_list_where_the_record_says_so(name: str) -> None:
    of_nothing = MEASURES[name].of_nothing
    if name == "idcg":
        return  # does not ask for the list
    labels = {"q": {UNJUDGED: 1.0}, "r": LABELS, "s": {"b": 1.0, "d": 1.0}}
    metric = metric_of(name, missing="zero")
    empty = Metric(name, metric.cutoff, tuple(sorted({**dict(metric.settings), "missing": "empty"}.items())))
    lacks, has_empty = group_results(joined({"q": {UNJUDGED: 1.0}}, labels), [metric, empty])
    assert lacks.values[1:].tolist() == [of_nothing or 0.0] * 2
    assert (has_empty.values[1:].tolist() == lacks.values[1:].tolist()) == (of_nothing is not None)


@pytest.mark.parametrize("name", MEASURES)
def test_more_is_better_unless_it_is_a_diagnostic(name: str) -> None:
    if not MEASURES[name].is_diagnostic and MEASURES[name].is_listed:
        worst, best = values_of(name, [(UNJUDGED, "c", "b"), ("a", "d", "b", "c")])
        assert best > worst


@pytest.mark.parametrize("name", MEASURES)
def test_ties_on_average_are_for_measures_of_a_list(name: str) -> None:
    measure = MEASURES[name]
    assert not measure.has_expected_value or measure.is_listed
    assert measure.has_expected_value or measure.is_ordered or not measure.is_listed  # any order is the average


def test_every_axis_that_a_measure_names_is_one() -> None:
    """An axis that no measure names belongs to all, so a misspelled name would give them one."""
    for measure in MEASURES.values():
        assert {*measure.axes, *measure.defaults, *filter(None, [measure.axis_at])} <= set(AXIS_OF)


def test_axes_of_every_measure() -> None:
    of_all = {axis.name for axis in AXES if axis.measures == tuple(MEASURES)}
    assert of_all == {
        *("negative", "label_type", "label_domain", "missing", "extra", "arithmetic", "round", "round_of"),
        "all_skipped",
    }
