"""What ties in scores may do to a verdict."""

import math

import numpy as np
import pytest

from ndcg_tracker.compare.decide import PairedResults, adjusted_jointly, compare_metrics, compare_runs
from ndcg_tracker.compare.options import Methods, TestName
from ndcg_tracker.compare.pair import pair
from ndcg_tracker.compare.results import About, Comparison, Estimate, LabelSetRef, RunRef, TieBounds, TieEffect

CLOSED = TieBounds(0.5, 0.5)


@pytest.mark.parametrize(
    ("effect", "delta", "could"),
    [
        (TieEffect(TieBounds(0.4, 0.6), TieBounds(0.4, 0.6)), 0.0, True),
        (TieEffect(CLOSED, TieBounds(0.5, 0.6)), 0.0, False),
        (TieEffect(CLOSED, TieBounds(0.4, 0.6)), 0.1, True),
        (TieEffect(CLOSED, TieBounds(0.55, 0.6)), 0.1, False),
        (TieEffect(CLOSED, TieBounds(0.4, 0.6)), None, False),
        (TieEffect(CLOSED, CLOSED), 0.0, False),
    ],
)
def test_where_no_test_judges_the_sign_may_turn(effect: TieEffect, delta: float | None, could: bool) -> None:
    assert effect.could_turn(delta) is could


def test_the_range_of_delta() -> None:
    effect = TieEffect(TieBounds(0.25, 0.5), TieBounds(0.5, 1.0))
    assert effect.delta == (0.0, 0.75)
    assert effect.is_open
    assert not TieEffect(CLOSED, TieBounds(0.5, 0.5 + 1e-14)).is_open


def paired(t: float, ties: tuple[float, float], seed: int = 0) -> PairedResults:
    """400 differences whose mean lies t standard errors from 0, and ties that move it as many of these."""
    noise = np.random.default_rng(seed).normal(size=400)
    error = 0.1 / math.sqrt(400)
    delta = 0.1 * (noise - noise.mean()) / noise.std(ddof=1) + t * error
    ids, half = np.arange(400), np.full(400, 0.5)
    mean = 0.5 + t * error
    bounds = TieBounds(mean + ties[0] * error, mean + ties[1] * error)
    pairing = pair(ids, half, ids, half + delta)
    about = About(metric=f"m{seed}", groups=pairing.groups, tie_effect=TieEffect(CLOSED, bounds))
    return PairedResults(about, pairing, pairing.sample)


@pytest.mark.parametrize(
    ("t", "ties", "verdict", "could"),
    [
        (3.0, (-0.9, 0.0), "improved", False),
        (3.0, (-1.1, 0.0), "improved", True),
        (-3.0, (0.0, 0.9), "regressed", False),
        (-3.0, (0.0, 1.1), "regressed", True),
        (1.0, (-0.5, 0.9), "no_difference_detected", False),
        (1.0, (-0.5, 1.1), "no_difference_detected", True),
        (1.0, (-3.1, 0.0), "no_difference_detected", True),
    ],
)
@pytest.mark.parametrize("test", ["t", "permutation"])
def test_the_moved_difference_is_judged_as_delta_was(
    t: float, ties: tuple[float, float], verdict: str, could: bool, test: TestName
) -> None:
    (metric,) = compare_metrics([paired(t, ties)], Methods(test=test))
    assert (metric.verdict, metric.ties_could_change_verdict) == (verdict, could)


def test_notes_on_ties_follow_the_verdicts_of_all_candidates() -> None:
    of_pair = [
        compare_runs(
            Comparison(RunRef("a", 1), RunRef(f"b{seed}", 2 + seed), "shop", LabelSetRef(1, "")),
            [paired(t, ties, seed)],
            lambda ids: [str(number) for number in ids.tolist()],
        )
        for seed, (t, ties) in enumerate([(2.2, (-0.01, 0.5)), (0.5, (0.0, 0.0)), (-0.5, (0.0, 0.0))])
    ]
    jointly = adjusted_jointly(of_pair)
    assert [[note.kind for note in one.notes] for one in (of_pair[0], *jointly)] == [[], ["ties"], [], []]
    assert jointly[0].notes[0].facts["metrics"] == ("m0",)
    assert [one.notes for one in adjusted_jointly(jointly)] == [one.notes for one in jointly]


def of_three(t: float, ties: tuple[float, float]) -> Estimate:
    return compare_metrics([paired(t, ties), paired(0.5, (0.0, 0.0), 1), paired(-0.5, (0.0, 0.0), 2)])[0]


def test_the_corrected_p_value_decides_on_ties_too() -> None:
    alone = compare_metrics([paired(2.2, (-0.01, 0.01))])[0]
    assert (alone.verdict, alone.ties_could_change_verdict) == ("improved", False)
    corrected = of_three(2.2, (-0.01, 0.01))
    assert corrected.ci is not None
    assert corrected.ci[0] > 0  # the interval of this metric alone excludes 0, and the verdict does not rest on it
    assert (corrected.verdict, corrected.ties_could_change_verdict) == ("no_difference_detected", False)
    assert of_three(2.2, (-0.01, 0.5)).ties_could_change_verdict
    assert of_three(2.6, (-0.5, 0.0)).ties_could_change_verdict
    assert not of_three(2.6, (-0.1, 0.0)).ties_could_change_verdict
