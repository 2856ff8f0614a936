"""Where there is a difference of means but no test of it: what comparisons and histories say of it alike."""

MEANS_AGREE = 1e-6
"""How far a stored mean may lie from that of the paired results: weights in single precision move it by less."""
NO_INFERENCE = (
    "the means weigh groups in a way that no test covers (weights of items, or groups without a relevant item added "
    "unweighted): no interval and no p-value"
)
WHY_SHOWN_ONLY = {
    "diagnostic": "shown, not compared: it says nothing about quality",
    "no_mean_of_groups": "shown, not compared: its summary is no mean of groups, and the tests are about such means",
}
"""What ``Metric.shown_only`` means to a person."""
