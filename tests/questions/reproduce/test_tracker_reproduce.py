"""Is a stored run the published one: the numbers of repro_eval, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import ndcg_tracker as nt
from ndcg_tracker.errors import InputError, NotComparableError, ReferenceNotFoundError
from ndcg_tracker.questions.diff import gather as of_lists
from ndcg_tracker.questions.reproduce.decide import PublishedMean, Reproduction

Lists = dict[str, dict[str, float]]


def lists(step: int, seed: int) -> Lists:
    """Return 12 of 17 items for each of 6 groups, two of each score, in an order that is made by multiplication."""
    return {
        f"q{group}": {
            f"d{item}": float((12 - place) // 2)
            for place, item in enumerate(
                sorted(range(17), key=lambda item: (item * step + seed * group**2 + (item**2 * group) % 5) % 17)[:12]
            )
        }
        for group in range(6)
    }


LABELS = {f"q{group}": {f"d{item}": 1 for item in range(17) if (item * 7 + group * 3) % 4 == 0} for group in range(6)}
RUNS = {"original": lists(5, 1), "reproduced": lists(5, 2), "base": lists(3, 1), "base again": lists(7, 4)}
BASELINES = {"baseline_original": "base", "baseline_reproduced": "base again"}


def fill_with_runs(url: str) -> None:
    with nt.Tracker(url) as opened:
        for name, run in RUNS.items():
            opened.ingest(run, labels=LABELS, name=name, dataset="robust", metrics="P@5")


@pytest.fixture
def tracker(fill_as: Callable[[Callable[[str], object]], None], database_url: str) -> Iterator[nt.Tracker]:
    """Four runs of a collection."""
    fill_as(fill_with_runs)
    with nt.Tracker(database_url) as opened:
        yield opened


def of_runs(tracker: nt.Tracker, *runs: str, **asked: Any) -> Reproduction:
    found = tracker.reproduce(*runs, **asked).reproduction
    assert isinstance(found, Reproduction)
    return found


@pytest.mark.parametrize("at_once", [1, 1000])
def test_the_numbers_are_those_of_repro_eval(
    tracker: nt.Tracker, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Computed by repro_eval 0.5.0 with SciPy 1.17.1 on copies of ``RUNS``.

    ``KTU(original, reproduced, trim_thresh=k)``; ``RBO(original, reproduced, p=0.95, depth=k, ...)``; and with
    ``{group: {"P@5": value}}`` of each run ``RMSE(o, r)``, ``ttest(o, r)``, ``ER(o, base, r, base_again)`` and
    ``DRI(o, base, r, base_again)``.
    """
    monkeypatch.setattr(of_lists, "BLOCK_ITEMS", at_once)
    found = of_runs(tracker, "original", "reproduced", cutoffs=[3, 5, 12], **BASELINES)
    wanted = [
        (3, 0.44444444444444503, 0.5453306066803), (5, 0.5333333333333333, 0.562374075399199),
        (12, 0.6060606060606051, 0.6293848778327193),
    ]  # fmt: skip
    for one, (cutoff, ktu, rbo) in zip(found.lists, wanted, strict=True):
        assert one.cutoff == cutoff
        assert one.ktu == pytest.approx(ktu, abs=1e-9)
        assert one.rbo == pytest.approx(rbo, abs=1e-9)
    (metric,) = found.metrics
    assert metric.rmse == pytest.approx(0.2449489742783178, abs=1e-9)
    assert metric.p_value == pytest.approx(0.7711118563588939, abs=1e-9)
    assert metric.er == pytest.approx(1.5000000000000002, abs=1e-9)
    assert metric.delta_ri == pytest.approx(-0.24999999999999972, abs=1e-9)
    deeper = of_runs(tracker, "original", "reproduced", cutoffs=[1000], rbo_p=0.8).lists[0]
    assert deeper.rbo == pytest.approx(0.5894050629084349, abs=1e-9)


def test_means_difference_and_interval(tracker: nt.Tracker) -> None:
    found = of_runs(tracker, "original", "reproduced")
    (metric,) = found.metrics
    assert (metric.metric, metric.n, metric.er, metric.delta_ri) == ("P@5", 6, None, None)
    assert metric.original == pytest.approx(2 / 6)
    assert metric.delta == pytest.approx(-0.2 / 6)
    compared = tracker.compare("original", "reproduced").comparisons[0].metrics[0]
    assert (metric.ci, metric.p_value) == (compared.ci, compared.p_value)
    assert (found.n, found.only_in_original, found.only_in_reproduced, found.n_lists, found.same_lists) == (
        6,
        0,
        0,
        6,
        0.5,
    )
    assert [one.cutoff for one in found.lists] == [10]  # no list has 100


def test_a_run_reproduces_itself(tracker: nt.Tracker) -> None:
    found = of_runs(tracker, "original", "original", baseline_original="base", baseline_reproduced="base")
    (metric,), (of_list,) = found.metrics, found.lists
    assert (metric.delta, metric.rmse, metric.p_value, metric.er, metric.delta_ri) == (0.0, 0.0, None, 1.0, 0.0)
    assert (found.same_lists, of_list.ktu) == (1.0, 1.0)
    assert of_list.rbo == pytest.approx(1.0)


def test_short_lists_are_looked_at_as_far_as_they_go(tracker: nt.Tracker) -> None:
    for name in ("short", "shorter"):
        tracker.ingest({"q0": {"d0": 3.0, "d1": 2.0, "d2": 1.0}}, name=name, dataset="robust", metrics="P@5")
    (of_list,) = of_runs(tracker, "short", "shorter").lists
    assert (of_list.cutoff, of_list.ktu, of_list.rbo) == (3, 1.0, pytest.approx(1.0))


def test_no_effect_to_compare(tracker: nt.Tracker) -> None:
    found = of_runs(tracker, "original", "reproduced", baseline_original="original", baseline_reproduced="base again")
    assert found.metrics[0].er is None
    assert found.metrics[0].delta_ri == pytest.approx(-(1.8 - 1.2) / 1.2)


def test_lists_of_different_length_are_cut_to_the_shorter(tracker: nt.Tracker) -> None:
    cut = {name: dict(list(items.items())[: 4 if name == "q1" else 12]) for name, items in RUNS["original"].items()}
    cut["q2"] = {"d0": 1.0}
    tracker.ingest(cut, name="cut", dataset="robust", metrics="P@5")
    (of_list,) = of_runs(tracker, "original", "cut").lists
    assert of_list.ktu == 1.0  # of q2 there is none
    assert of_list.rbo is not None
    assert of_list.rbo < 0.9


def test_groups_of_one_run_alone(tracker: nt.Tracker) -> None:
    tracker.ingest(
        {name: RUNS["reproduced"][name] for name in ("q0", "q1")}, name="two", dataset="robust",
        metrics="P(missing=skip)@5",
    )  # fmt: skip
    tracker.rescore(["original"], dataset="robust", metrics="P(missing=skip)@5")
    with pytest.raises(InputError, match="choose missing='zero'"):
        tracker.reproduce("original", "two")
    found = of_runs(tracker, "original", "two", missing="intersect")
    assert (found.n, found.only_in_original, found.only_in_reproduced, found.n_lists) == (2, 4, 0, 2)


def test_a_group_that_a_run_lacks_is_0_to_a_metric_that_says_so(tracker: nt.Tracker) -> None:
    five = {name: items for name, items in RUNS["original"].items() if name != "q2"}
    tracker.ingest(five, name="five", dataset="robust", metrics="P@5")
    found = of_runs(tracker, "original", "five")
    assert (found.n, found.n_lists, found.same_lists) == (6, 5, 1.0)
    assert found.metrics[0].rmse == pytest.approx((0.6**2 / 6) ** 0.5)


def test_results_without_lists(tracker: nt.Tracker) -> None:
    for name, values in (("paper", (0.5, 0.25, 1.0)), ("ours", (0.5, 0.5, 0.5))):
        of_groups = dict(zip(("q0", "q1", "q2"), values, strict=True))
        tracker.log_results(of_groups, metric="map", direction="higher", range=(0, 1), name=name, dataset="robust")
    found = of_runs(tracker, "paper", "ours")
    assert (found.lists, found.same_lists, found.n_lists, found.n) == ((), None, 0, 3)
    assert found.metrics[0].rmse == pytest.approx(((0.25**2 + 0.5**2) / 3) ** 0.5)


def test_a_pruned_run_has_its_results_still(tracker: nt.Tracker) -> None:
    before = of_runs(tracker, "original", "reproduced")
    tracker.prune("2999-01-01", apply=True)
    found = of_runs(tracker, "original", "reproduced")
    assert (found.lists, found.same_lists, found.metrics) == ((), None, before.metrics)
    assert {note.kind for note in found.notes} == {"pruned"}


def test_rmse_weighs_groups_as_the_mean_does(tracker: nt.Tracker) -> None:
    tracker.set_groups({"group": list(LABELS), "weight": [1.0, 3.0, 5.0, 7.0, 9.0, 11.0]}, dataset="robust")
    tracker.rescore(["original", "reproduced"], dataset="robust", metrics="P(weights=group)@5")
    (metric,) = of_runs(tracker, "original", "reproduced", metrics="P(weights=group)@5").metrics
    squares = [0.0, 0.0, 0.16, 0.04, 0.0, 0.16]
    assert metric.rmse == pytest.approx((sum((1 + 2 * n) * one for n, one in enumerate(squares)) / 36) ** 0.5)


def test_beside_a_published_mean(tracker: nt.Tracker) -> None:
    found = tracker.reproduce("original", metrics="P@5", published=0.4).reproduction
    assert isinstance(found, PublishedMean)
    shown = tracker.show("original").evaluations[0]
    assert (found.mean, found.ci, found.n, found.is_within) == (shown.mean, shown.ci, 6, True)
    assert found.delta == pytest.approx(2 / 6 - 0.4)
    outside = tracker.reproduce("original", published=0.9).reproduction
    assert isinstance(outside, PublishedMean)
    assert (outside.metric, outside.is_within) == ("P@5", False)


def test_a_published_mean_on_the_end_of_the_interval_is_within(tracker: nt.Tracker) -> None:
    ci = tracker.show("original").evaluations[0].ci
    assert ci is not None
    assert all(tracker.reproduce("original", published=end).to_dict()["is_within"] for end in ci)


def test_frames_and_reports(tracker: nt.Tracker) -> None:
    found = tracker.reproduce("original", "reproduced", **BASELINES)
    assert found.to_frame()[["original_run", "reproduced_run", "er"]].values.tolist() == [
        ["original", "reproduced", pytest.approx(1.5)]
    ]
    assert str(found).startswith("reproduced is not the same as original on robust: ")
    assert "DeltaRI" in found.to_html()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            lambda tracker: tracker.reproduce("original"),
            "reproduce needs reproduced= or published=: there is nothing to reproduce; give a second run, or a "
            "published mean",
        ),
        (
            lambda tracker: tracker.reproduce("original", "reproduced", published=0.5),
            "reproduced= does not go with published=: it stands for the original run alone; leave one out",
        ),
        (
            lambda tracker: tracker.reproduce("original", "reproduced", baseline_original="base"),
            "baseline_original= needs baseline_reproduced=: a single baseline gives no effect to compare; give "
            "baseline_reproduced=, or leave out baseline_original=",
        ),
        (
            lambda tracker: tracker.reproduce("original", published=0.5, **BASELINES),
            "baseline_original= does not go with published=: it stands for the original run alone; leave one out",
        ),
        (
            lambda tracker: tracker.reproduce("original", metrics=["P@5", "RR"], published=0.5),
            "published= does not go with several metrics: it is the mean of one; name one metric",
        ),
        (
            lambda tracker: tracker.reproduce("original", published=41.23),
            "published=41.23 cannot be a mean of P@5, which is from 0 to 1; give a share, not percent",
        ),
        (
            lambda tracker: tracker.reproduce("original", published=float("nan")),
            "published='nan' cannot be a mean of P@5, which is from 0 to 1; give another number",
        ),
        (
            lambda tracker: tracker.reproduce("original", "reproduced", rbo_p=1.0),
            "rbo_p=1.0 is not between 0 and 1; give for example 0.9",
        ),
        (
            lambda tracker: tracker.reproduce("original", "reproduced", cutoffs=[10, 0]),
            "cutoff=0 leaves nothing to look at; give 1 or more",
        ),
    ],
)
def test_what_is_refused(tracker: nt.Tracker, asked: Callable[[nt.Tracker], object], said: str) -> None:
    with pytest.raises(InputError) as refused:
        asked(tracker)
    assert str(refused.value) == said


def test_what_cannot_be_set_side_by_side(tracker: nt.Tracker) -> None:
    tracker.ingest(RUNS["original"], labels=LABELS, name="elsewhere", dataset="other", metrics="P@5")
    with pytest.raises(NotComparableError, match="only runs of one dataset can be compared"):
        tracker.reproduce("original", "elsewhere")
    with pytest.raises(NotComparableError, match="type: ndcg-track rescore"):
        tracker.reproduce("original", "reproduced", metrics="RR")
    with pytest.raises(ReferenceNotFoundError, match="no RR"):
        tracker.reproduce("original", metrics="RR", published=0.5)
