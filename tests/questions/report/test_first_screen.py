"""What the first screen says of slices: how many regressed, which, and by how much."""

import numpy as np
from samples import slices

from ndcg_tracker.questions.report.first_screen import slices_told

RNG = np.random.default_rng(40)


def told(changes: dict[str | None, float]) -> dict[str, object]:
    """Return what is told of slices of 30 groups that changed by so much, and a little noise."""
    values = [value for value in changes for _ in range(30)]
    change = np.array([changes[value] for value in values])
    candidate = 0.5 + change * (1 + RNG.normal(0, 0.05, change.size))
    return slices_told("product", slices(candidate - 0.5, values))


def test_groups_without_the_attribute_are_none_of_its_values() -> None:
    first = told({"tent": 0.2, "lamp": -0.3, None: -0.25})
    assert first["words"] == "1 of 2 products regressed"
    assert first["after"] == "; 1 improved; the groups without a value regressed: -0.25"
    assert first["named"] == [{"value": "lamp", "delta": "-0.30"}]
    nothing = told({"tent": 0.2, "lamp": 0.3, None: 0.1})
    assert (nothing["words"], nothing["after"]) == ("None of 2 products is shown to have regressed", "; 2 improved")


def test_a_small_difference_has_digits_and_no_power_of_ten() -> None:
    small = told({"tent": -0.004, "lamp": -0.2})
    assert small["words"] == "2 of 2 products regressed"
    assert isinstance(small["named"], list)
    deltas = {row["value"]: row["delta"] for row in small["named"]}
    assert deltas["lamp"] == "-0.20"
    assert -0.005 < float(deltas["tent"]) < -0.003
    assert "e" not in deltas["tent"]


def test_only_some_are_named() -> None:
    many = told({f"p{number}": -0.1 for number in range(8)})
    assert many["words"] == "8 of 8 products regressed"
    assert isinstance(many["named"], list)
    assert len(many["named"]) == 5
    assert many["after"] == " and 3 more"


def test_slices_that_no_test_can_judge() -> None:
    clusters = np.repeat([0, 1, 2], 10)
    delta = RNG.normal(0.2, 0.1, 30)
    rows = slices(delta, ["tent"] * 10 + ["lamp"] * 10 + ["bag"] * 10, clusters=clusters)
    assert slices_told("product", rows)["words"] == "None of 3 products could be tested: each is one cluster"
    rows = slices(delta, ["tent"] * 20 + ["lamp"] * 10, clusters=clusters)
    assert str(slices_told("product", rows)["after"]).endswith("; 1 not tested")
