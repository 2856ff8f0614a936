"""How often a check stops which drops, what its bounds miss, and when it says that ids were changed: by simulation."""

import math
from pathlib import Path

import numpy as np
import pytest
from golden_worlds import Floats, Lists, changed, losses, populations, records, retrievers, tilted
from populations import Record

import ndcg_tracker as nt
from ndcg_tracker.statistics.distribution_free import betting_lower_bound
from ndcg_tracker.statistics.small_sets import Spread, allowed_drop, drop_stopped, equal_stopped

pytestmark = pytest.mark.nightly
SIZES, DROPS = (20, 40, 60, 100, 150), (-0.08, -0.04, 0.0, 0.03)
STOPPED = {
    "hit@5 f .10": ".53 .28 .14 .05|.82 .53 .20 .08|.91 .62 .27 .08|.94 .67 .20 .04|.98 .70 .18 .01",
    "hit@5 f .05": ".51 .23 .05 .01|.81 .48 .14 .02|.94 .70 .19 .02|.98 .72 .12 .00|.99 .77 .10 .00",
    "RR@10": ".90 .64 .23 .09|.97 .77 .20 .03|.99 .78 .15 .01|1.0 .83 .09 .00|1.0 .90 .07 .00",
    "R@10": ".90 .65 .21 .05|.96 .76 .15 .02|.98 .81 .12 .00|1.0 .87 .06 .00|1.0 .89 .04 .00",
    "ndcg@10 small change": ".96 .74 .12 .02|.99 .83 .08 .00|1.0 .89 .05 .00|1.0 .96 .02 .00|1.0 .98 .01 .00",
    "ndcg@10 other model": ".88 .69 .29 .07|.97 .76 .20 .04|.99 .80 .17 .01|1.0 .86 .14 .00|1.0 .91 .07 .00",
}
"""The share that is stopped, by the number of queries and the true change, from 400 samples or more by other code."""


def stopped(delta: Floats, mean: float, n: int, allowed: float, samples: int = 8000) -> float:
    """Return the share of samples whose mean falls by more than is allowed."""
    values, p = tilted(delta, mean)
    drawn = np.random.default_rng([n, round(1e4 * abs(mean))]).choice(values, p=p, size=(samples, n))
    return float((drawn.mean(axis=1) < -allowed - 1e-9).mean())


@pytest.mark.parametrize("name", STOPPED)
def test_drops_are_stopped_as_often_as_the_page_says(name: str) -> None:
    delta, is_count = populations()[name], name.startswith("hit")
    for n, row in zip(SIZES, STOPPED[name].split("|"), strict=True):
        allowed = allowed_drop(0.02, n, is_count=is_count)
        shares = [stopped(delta, mean, n, allowed) for mean in DROPS]
        assert shares == pytest.approx([*map(float, row.split())], abs=0.05)  # the figures themselves may err by .025
        assert n < 40 or shares[2] <= 0.27


def test_the_drop_that_is_stopped_4_times_in_5(record_property: Record) -> None:
    """The formula against a search by simulation, and the share of equally good results that are stopped."""
    ratios = {}
    for name, delta in populations().items():
        is_count, (values, p) = name.startswith("hit"), tilted(delta, 0.0)
        spread = Spread(float(p @ values**2), float(p @ values**4 / (p @ values**2)), is_count)
        for n in SIZES:
            allowed, low, high = allowed_drop(0.02, n, is_count=is_count), 0.01, 0.4
            for _ in range(11):
                middle = (low + high) / 2
                is_enough = stopped(delta, -middle, n, allowed) >= 0.8
                low, high = (low, middle) if is_enough else (middle, high)
            ratios[name, n] = drop_stopped(spread, n, allowed) / ((low + high) / 2)
            if n >= 40:
                assert equal_stopped(spread, n, allowed) == pytest.approx(stopped(delta, 0.0, n, allowed), abs=0.03)
    record_property("formula / simulation", (min(ratios.values()), max(ratios.values())))
    assert sum(abs(ratio - 1) <= 0.1 for ratio in ratios.values()) >= 28, ratios


def test_the_bound_about_other_queries_rarely_misses(record_property: Record) -> None:
    missed, rng = {}, np.random.default_rng(5)
    for name, (values, p) in losses():
        for n in (20, 40, 100, 150):
            drawn = rng.choice(values, p=p, size=(1000, n))
            missed[name, n] = float(np.mean([betting_lower_bound(row) > values @ p + 1e-12 for row in drawn]))
    record_property("most missed", max(missed.values()))
    assert max(missed.values()) <= 0.06, missed


def is_alarm(folder: Path, before: Lists, after: Lists) -> bool:
    """Return whether a check says that ids were changed."""
    golden = [{"query": query, "relevant_ids": [f"{query}-0"]} for query in before]
    baseline = folder / "baseline.jsonl"
    baseline.unlink(missing_ok=True)
    nt.check(records(before), labels=golden, against=str(baseline), accept=True)
    checked = nt.check(records(after), labels=golden, against=str(baseline))
    assert checked.exit_code in (0, 3, 5)
    return checked.decision == "not_compared"


@pytest.mark.parametrize(
    ("renamed", "alike", "least"), [(0.2, 1.0, 0.85), (0.4, 1.0, 1.0), (1.0, 1.0, 1.0), (0.4, 0.9, 0.85)]
)
def test_changed_ids_are_not_taken_for_a_drop(
    renamed: float, alike: float, least: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: Record
) -> None:
    monkeypatch.delenv("CI", raising=False)
    found = 0
    for seed in range(60):
        before, after = retrievers(40, alike, seed)
        found += is_alarm(tmp_path, before, changed(after, renamed, seed, "new-{}".format))
    record_property("alarms", found / 60)
    assert found / 60 >= least - 3 * math.sqrt(least * (1 - least) / 60)


def test_a_drop_is_not_taken_for_changed_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    for alike in (0.98, 0.9, 0.5):
        for drop, share in ((0.0, 0.0), (4.0, 0.1), (4.0, 0.3), (0.5, 1.0), (1.0, 1.0)):
            for seed in range(8):
                assert not is_alarm(tmp_path, *retrievers(40, alike, seed, drop=drop, share=share))
    for lacking in (0.1, 0.3, 0.5):
        for seed in range(8):
            before, after = retrievers(40, 0.98, seed)
            assert not is_alarm(tmp_path, before, changed(after, lacking, seed, lambda _: None))
