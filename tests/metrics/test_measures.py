"""The records of the measures."""

from ndcg_tracker.metrics.language.axes import AXES, AXIS_OF
from ndcg_tracker.metrics.language.measures import MEASURES


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
