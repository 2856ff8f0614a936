"""The slices that stand out: named first where a fault is planted, and none where there is nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from command_line import CommandLine

import ndcg_tracker as nt
from ndcg_tracker.compare.sample import Sample
from ndcg_tracker.compare.slices import Slicing
from ndcg_tracker.compare.where import where

ATTRIBUTES = ("locale", "device", "length", "market", "kind")
NOISE = {
    "half": lambda rng, n: rng.normal(0.0, 0.2, n) * (rng.random(n) < 0.5),
    "rare": lambda rng, n: -rng.exponential(0.5, n).clip(0, 1) * (rng.random(n) < 0.05),
    "skewed": lambda rng, n: rng.exponential(0.1, n) - 0.1,
}


def world(rng: np.random.Generator, noise: str, fault: float, n: int = 1000) -> tuple[Sample, list[Slicing], Any]:
    """Return differences with a fault in one of ten slices of one of five attributes, and that slice."""
    codes = rng.integers(0, 10, (len(ATTRIBUTES), n))
    attribute, value = int(rng.integers(len(ATTRIBUTES))), int(rng.integers(10))
    delta = NOISE[noise](rng, n) - fault * (codes[attribute] == value)
    slicings = [Slicing.of(name, list(map(str, of))) for name, of in zip(ATTRIBUTES, codes.tolist(), strict=True)]
    return Sample(delta), slicings, (ATTRIBUTES[attribute], str(value))


def named(sample: Sample, slicings: list[Slicing]) -> list[tuple[str, str | None]]:
    """Return the slices that stand out."""
    return [row.about.key for row in where(sample, slicings)[0].found]


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("noise", NOISE)
def test_a_planted_fault_is_named_first_and_nothing_is_found_where_there_is_none(noise: str) -> None:
    rng, n = np.random.default_rng(67), 200
    worlds = [world(rng, noise, 0.2) for _ in range(n)]
    assert sum(named(sample, by)[:1] == [planted] for sample, by, planted in worlds) >= 0.95 * n
    quiet = [world(rng, noise, 0.0) for _ in range(n)]
    assert sum(named(sample, by) == [] for sample, by, _ in quiet) >= 0.95 * n


def test_slices_that_moved_with_another_are_folded_and_opposite_ones_are_not_found() -> None:
    rng = np.random.default_rng(5)
    locale = rng.choice(["ja", "de", "fr"], 900)
    market = np.where(locale == "ja", "jp", np.where(rng.random(900) < 0.5, "eu", "us"))
    delta = rng.normal(0.0, 0.1, 900) - 0.5 * (locale == "ja") - 0.2 * (market == "us")
    by = [Slicing.of("locale", locale.tolist()), Slicing.of("market", market.tolist())]
    found, aparts = where(Sample(delta), by)
    assert [(row.about.key, row.about.apart and row.about.apart.also) for row in found.found] == [
        (("locale", "ja"), (("market", "jp"),)),
        (("market", "us"), ()),
    ]
    assert aparts["market", "jp"].p_adjusted == aparts["locale", "ja"].p_adjusted
    assert aparts["locale", "de"].p_adjusted < 0.05  # because of ja, without which it does not stand out
    assert not aparts["locale", "de"].stands_out


def test_a_few_groups_that_are_all_equal_do_not_stand_out() -> None:
    delta = np.where(np.arange(400) % 10 == 0, -0.5, 0.0)
    delta[:20] = 0.0
    assert named(Sample(delta), [Slicing.of("kind", ["new"] * 20 + ["old"] * 380)]) == []
    every = np.where(np.arange(400) < 20, -0.5, 0.0)
    assert named(Sample(every), [Slicing.of("kind", ["new"] * 20 + ["old"] * 380)]) == [("kind", "new")]


def test_weights_and_clusters_count_as_in_the_comparison_itself() -> None:
    rng = np.random.default_rng(3)
    locale = ["ja" if number % 5 == 0 else "de" for number in range(300)]
    delta = rng.normal(0.0, 0.1, 300) - 0.3 * np.array([of == "ja" for of in locale])
    by = [Slicing.of("locale", locale)]
    (_, plain), (_, ones), (_, alone) = (
        where(sample, by)
        for sample in (
            Sample(delta),
            Sample(delta, weights=np.full(300, 2.0)),
            Sample(delta, clusters=np.arange(300)),
        )
    )
    ja = plain["locale", "ja"]
    for same in (ones["locale", "ja"], alone["locale", "ja"]):
        assert (same.rest, same.share) == (pytest.approx(ja.rest), pytest.approx(ja.share))
        assert np.log(same.p_value or 0.0) == pytest.approx(np.log(ja.p_value or 0.0), rel=0.05)
    users = np.arange(300) // 15
    shaky = rng.normal(0.0, 0.1, 300) - 0.3 * np.isin(users, (0, 9))
    of_users = [Slicing.of("locale", ["ja" if user % 5 == 0 else "de" for user in users.tolist()])]
    assert named(Sample(shaky), of_users) == [("locale", "ja")]  # one user of ja lost
    assert named(Sample(shaky, clusters=users), of_users) == []


def test_repeats_of_both_arms_count() -> None:
    rng = np.random.default_rng(11)
    hit = np.arange(200) < 40
    old, new = (rng.normal(0.5, 0.1, (3, 200)) - fault * hit for fault in (0.0, 0.2))
    sample = Sample(new.mean(axis=0) - old.mean(axis=0), repeats=(old, new))
    assert named(sample, [Slicing.of("locale", ["ja" if of else "de" for of in hit.tolist()])]) == [("locale", "ja")]


@pytest.fixture
def shop(tracker: nt.Tracker) -> nt.Tracker:
    """Two runs of 240 queries, of which the second fails in Japanese; the queries have a length and an identifier."""
    n = 240
    groups = [f"q{number:03}" for number in range(n) for _ in range(4)]
    rows = {"group": groups, "item": list("abcd") * n, "label": [1, 0, 0, 0] * n}
    good, bad, worse = [4.0, 3.0, 2.0, 1.0], [3.0, 4.0, 2.0, 1.0], [1.0, 4.0, 3.0, 2.0]
    faults = [worse if number % 4 == 0 else bad if number % 7 == 0 else good for number in range(n)]
    tracker.ingest({**rows, "score": good * n}, name="old", dataset="shop")
    tracker.ingest({**rows, "score": [score for of in faults for score in of]}, name="new", dataset="shop")
    attributes = {
        "group": groups[::4],
        "locale": [["ja", "de", "fr", "en"][number % 4] for number in range(n)],
        "script": [["kana", "latin", "latin", "latin"][number % 4] for number in range(n)],
        "length": [number * 7 % 60 for number in range(n)],
        "user": [f"u{number}" for number in range(n)],
    }
    tracker.set_groups(attributes, dataset="shop")
    return tracker


FIRST = "Most of it is locale=ja (also script=kana): -0.57 on 60 queries, 78% of the drop; all others -0.05"


def test_one_line_of_a_comparison_says_where_it_is(shop: nt.Tracker) -> None:
    result = shop.compare("old", "new")
    assert str(result).splitlines()[1] == FIRST
    found = result.to_dict()["where"]
    assert found["attributes"] == ["length", "locale", "script"]
    assert found["left_out"] == {"user": 240}
    assert [(row["attribute"], row["value"], row["n"], row["also"]) for row in found["found"]] == [
        ("locale", "ja", 60, [{"attribute": "script", "value": "kana"}])
    ]
    assert "slices" not in result.to_dict()


def test_all_attributes_are_sliced_and_numbers_are_cut(shop: nt.Tracker) -> None:
    every = shop.compare("old", "new", by="all").to_dict()
    slices = [(row["attribute"], row["value"]) for row in every["slices"]]
    assert slices[0] == ("locale", "ja")
    assert sorted(value for name, value in slices if name == "length") == [
        "0 to 14",
        "15 to 29",
        "30 to 44",
        "45 to 59",
    ]
    halves = shop.compare("old", "new", by=["length:2", "locale"]).to_dict()["slices"]
    assert {(row["attribute"], row["value"], row["n"]) for row in halves} >= {
        ("length", "0 to 29", 120),
        ("length", "30 to 59", 120),
    }
    assert [row["attribute"] for row in halves].count("locale") == 4


def test_no_slice_stands_out_is_said_if_slices_were_asked_for(shop: nt.Tracker) -> None:
    screen = str(shop.compare("old", "new", by="length")).splitlines()
    assert screen[1] == "no slice stands out (4 slices by 1 attribute)"
    with pytest.raises(nt.InputError) as refusal:
        shop.compare("old", "new", by="locale:3")
    assert str(refusal.value) == (
        "attribute 'locale' of dataset 'shop' is not of numbers, such as 'ja'; slice by its values with by='locale'"
    )


def test_the_command_takes_several_attributes(command: CommandLine, shop: nt.Tracker) -> None:
    asked = ("compare", "old", "new", "--dataset", "shop", "--by", "all")
    out = command(*asked).out.splitlines()
    assert out[1] == FIRST
    assert "not looked at: user (240 values)" in out[2]
    both = command("compare", "old", "new", "--dataset", "shop", "--by", "locale", "--by", "length:2").out
    assert "ndcg@10 by 2 attributes: " in both
