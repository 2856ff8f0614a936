"""How many groups may lose how much: the limit at the gate, and what a comparison says it cannot see."""

import math

import numpy as np
import pytest
from gated import BASE, N_GROUPS, decisions, pinned, refusal, worse
from hypothesis import given
from hypothesis import strategies as st
from ranked_runs import frame_of_ranks, labels_of_ranks
from refused import refusal_of
from scipy.stats import binomtest

import ndcg_tracker as nt
from ndcg_tracker.compare.limits import HarmLimit
from ndcg_tracker.compare.sample import Sample
from ndcg_tracker.questions.gate.decide import Decision, Levels, Rules, decide, harm_of
from ndcg_tracker.questions.gate.decide_candidate import with_parts
from ndcg_tracker.rankings import Floats, Index
from ndcg_tracker.statistics.distribution_free import share_lower_bound, share_p_value, share_upper_bound

__all__ = ["pinned"]
TWO_PERCENT = HarmLimit.of(".3:2%")
RULES = Rules(0.01, max_harm=TWO_PERCENT)


def held(gains: Floats, margin: float) -> Decision:
    """Return the decision on gains of which at most 2% may lose much."""
    decision = decide(Sample(gains), Rules(margin, max_harm=TWO_PERCENT))
    return with_parts(decision, Sample(gains), [], Levels())


def harmed(n: int, of: int) -> Floats:
    return np.repeat([-0.5, 0.05], [n, of - n])


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.5, 0.9999))
def test_the_bounds_of_a_share_are_those_of_scipy(counts: tuple[int, int], level: float) -> None:
    k, n = counts
    upper = binomtest(k, n, alternative="less").proportion_ci(level, "exact").high
    lower = binomtest(k, n, alternative="greater").proportion_ci(level, "exact").low
    assert share_upper_bound(k, n, level=level) == pytest.approx(upper, rel=1e-9, abs=1e-12)
    assert share_lower_bound(k, n, level=level) == pytest.approx(lower, rel=1e-9, abs=1e-12)
    for share in (0.02, 0.5):
        exact = binomtest(k, n, share, alternative="greater").pvalue
        assert share_p_value(k, n, share) == pytest.approx(exact, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize(
    ("gains", "decision", "status"),
    [
        (harmed(0, 149), "pass", "within"),
        (harmed(1, 235), "inconclusive", "open"),
        (harmed(1, 236), "pass", "within"),
        (harmed(9, 200), "inconclusive", "open"),
        (harmed(10, 200), "fail", "fails"),
    ],
    ids=["149, none", "235, one", "236, one", "200, nine", "200, ten"],
)
def test_the_limits_of_the_rule(gains: Floats, decision: str, status: str) -> None:
    found = held(gains, 0.5)
    assert (found.without("harm"), found.decision, found.harm[0].status) == ("pass", decision, status)


def test_few_harmed_groups_do_not_turn_an_open_question_or_a_fail() -> None:
    noisy = np.tile([0.125, -0.125], 100)
    for delta, decision in ((noisy, "inconclusive"), (noisy - 0.1, "fail")):
        found = held(delta, 0.0)
        assert (found.harm[0].status, found.decision) == ("within", decision)


def test_a_loss_of_just_as_much_is_no_harm() -> None:
    assert TWO_PERCENT.count(-np.array([0.1 - 0.4, -0.3, -0.3 - 1e-9]), None) == (1, 3)


def test_clusters_are_counted_not_their_groups() -> None:
    gains: Floats = np.tile(harmed(1, 4), 200)
    clusters: Index = np.repeat(np.arange(160), 5)
    (row,) = harm_of(RULES, [(None, Sample(gains, clusters=clusters))])
    assert (row.n, row.n_harmed) == (160, 160)
    together = np.sort(gains)
    (row,) = harm_of(RULES, [(None, Sample(together, clusters=clusters))])
    assert (row.n, row.n_harmed, row.lower) == (160, 40, share_lower_bound(40, 160, level=0.99))


def test_slices_share_the_level_of_fail() -> None:
    """Of 5 parts the most harmed is held to a fifth of 1%; a part behind an open one is open."""
    parts = [harmed(1, 300), harmed(12, 300), harmed(13, 200), harmed(0, 40), harmed(9, 120)]
    found = harm_of(RULES, [(str(n), Sample(gains)) for n, gains in enumerate(parts)])
    rows = {row.value: row for row in found}
    p_values = [share_p_value(int((gains < 0).sum()), gains.size, 0.02) for gains in parts]
    order = [str(place) for place in np.argsort(p_values)]
    assert [rows[value].alpha for value in order] == pytest.approx([0.01 / n for n in (5, 4, 3, 2, 1)])
    for value in order:
        row = rows[value]
        assert row.lower is not None
        assert row.alpha is not None
        assert (row.lower > 0.02) == (p_values[int(value)] < row.alpha)
    assert {value: row.status for value, row in rows.items()} == {
        "0": "within", "1": "open", "2": "fails", "3": "open", "4": "fails",
    }  # fmt: skip


def test_a_harmless_population_fails_in_1_percent_and_one_at_the_limit_passes_in_5() -> None:
    """Exact, by the binomial distribution."""
    for n in (149, 236, 1000):
        k = np.arange(n + 1)
        chances = np.array([math.comb(n, int(one)) * 0.02**one * 0.98 ** (n - one) for one in k[:60]])
        rows = [harm_of(RULES, [(None, Sample(harmed(int(one), n)))])[0] for one in k[:60]]
        passes = sum(chance for chance, row in zip(chances, rows, strict=True) if row.status == "within")
        fails = sum(chance for chance, row in zip(chances, rows, strict=True) if row.status == "fails")
        assert 0.02 < passes <= 0.05
        assert 0.001 < fails <= 0.01


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("2%", "max_harm='2%' is not LOSS:SHARE%; for at most 2% of groups that lose more than 0.3 write "
         "max_harm='.3:2%'"),
        (".3:2", "max_harm='.3:2' is not LOSS:SHARE%; for at most 2% of groups that lose more than 0.3 write "
         "max_harm='.3:2%'"),
        ("-.3:2%", "max_harm='-.3:2%' is not LOSS:SHARE%; for at most 2% of groups that lose more than 0.3 write "
         "max_harm='.3:2%'"),
        (".3:0%", "max_harm='.3:0%' allows 0% of groups, which no sample can show; give a "
         "share above 0 and below 100%, such as max_harm='.3:2%'"),
        (".3:100%", "max_harm='.3:100%' allows 100% of groups, which limits nothing; give a share above 0 and below "
         "100%, such as max_harm='.3:2%'"),
    ],
)  # fmt: skip
def test_bad_limits(text: str, told: str) -> None:
    assert refusal_of(nt.InputError, HarmLimit.of, text) == told


def test_a_candidate_is_held_to_it(pinned: nt.Tracker) -> None:
    pinned.ingest(frame_of_ranks(worse(2, 60)), name="two", dataset="shop")
    few = pinned.gate("two", baseline="@prod", margin=0.01, max_harm=".3:3%")
    assert few.decision == "pass"
    assert ("with 95% confidence, at most 3% of queries like these lose more than 0.3: 2 of 240 do") in few.reason
    (told,) = few.to_dict()["parts"]
    assert (told["kind"], told["n"], told["n_harmed"], told["status"]) == ("harm", 240, 2, "within")
    assert few.to_dict()["max_harm"] == "0.3:3%"
    is_open = pinned.gate("two", baseline="@prod", margin=0.01, max_harm=".3:2%")
    assert is_open.decision == "inconclusive"
    assert (
        "not shown that at most 2% of queries like these lose more than 0.3: 2 of 240 do, so up to 2.6% may"
    ) in is_open.reason
    much = pinned.gate("noisy", baseline="@prod", margin=0.05, max_harm=".3:2%")
    assert much.decision == "fail"
    assert (
        "with 99% confidence, at least 19% of queries like these lose more than 0.3, and only 2% may: 60 of 240 do"
    ) in much.reason
    assert [one.decision for one in decisions(pinned)] == ["pass", "inconclusive", "fail"]
    assert [one.reason for one in decisions(pinned)] == [few.reason, is_open.reason, much.reason]


def test_slices_are_held_to_it(pinned: nt.Tracker) -> None:
    pinned.ingest(frame_of_ranks(worse(8, 60)), name="eight", dataset="shop")
    groups = [f"q{place:04}" for place in range(N_GROUPS)]
    halves = ["first" if place < 20 else "rest" for place in range(N_GROUPS)]
    pinned.set_groups({"group": groups, "part": halves}, dataset="shop")
    asked = {"baseline": "@prod", "margin": 0.05, "by": "part", "slice_margin": 0.5}
    found = pinned.gate("eight", **asked, max_harm=".3:8%")
    assert found.decision == "fail"
    assert (
        "with 95% confidence, at most 8% of queries like these lose more than 0.3: 8 of 240 do; but more than 8% of "
        "the queries with part='first' (8 of 20) do"
    ) in found.reason
    pinned.ingest(frame_of_ranks(worse(2, 60)), name="two", dataset="shop")
    assert pinned.gate("two", **asked, max_harm=".3:8%").decision == "pass"


def test_too_few_groups_and_what_does_not_go_together(pinned: nt.Tracker) -> None:
    assert refusal(pinned, "noisy", margin=0.01, max_harm=".3:1%") == (
        "max_harm='0.3:1%' cannot PASS with 240 groups, even if none loses so much: that takes 299; allow 1.3% of them "
        "or more, or leave it out"
    )
    assert refusal(pinned, "noisy", scope="set", max_harm=".3:2%") == (
        "max_harm= does not go with scope='set': it compares two means without a test; leave one out"
    )
    pinned.set_groups(
        {"group": [f"q{place:04}" for place in range(N_GROUPS)], "weight": [2.0] * N_GROUPS}, dataset="shop"
    )
    weighted = "ndcg(weights=group)@10"
    pinned.rescore(["base", "noisy"], metrics=weighted, dataset="shop")
    assert refusal(pinned, "noisy", metric=weighted, margin=0.01, max_harm=".3:2%").startswith(
        "max_harm= does not go with a metric with weights: it counts all groups equally"
    )
    assert decisions(pinned) == []


def test_a_comparison_says_what_it_cannot_see(pinned: nt.Tracker) -> None:
    found = pinned.compare("@prod", "small")
    (metric,) = found.to_dict()["metrics"]
    assert metric["rare_loss"] == {
        "n": 240, "worst": pytest.approx(1 - 1 / math.log2(3)), "share": pytest.approx(1 - 0.05 ** (1 / 240)),
    }  # fmt: skip
    assert "worst loss 0.3691; at most 1.2% of queries should lose more (95%)" in found.to_text(verbose=True)
    back = pinned.compare("small", "base", dataset="shop").to_text(verbose=True)
    assert "no loss; at most 1.2% of queries should lose (95%)" in back
    same = pinned.compare("@prod", "same").to_dict()["metrics"][0]
    assert (same["verdict"], same["rare_loss"]["worst"]) == ("identical", 0.0)


def test_a_suite_holds_each_dataset_to_it(tracker: nt.Tracker) -> None:
    for dataset, n in (("one", 20), ("two", 0)):
        tracker.ingest(frame_of_ranks(BASE), name="base", labels=labels_of_ranks(N_GROUPS), dataset=dataset)
        tracker.ingest(frame_of_ranks(worse(n, 110)), name="new", dataset=dataset)
    tracker.create_suite("both", ["one", "two"])
    asked = {"baseline": "base", "margin": 0.05, "max_harm": ".3:5%"}
    whole = tracker.gate("new", suite="both", **asked)
    assert whole.decision == "inconclusive"
    assert (
        "not shown that at most 5% of queries like these lose more than 0.3: 20 of 480 do, so up to 6% may"
    ) in whole.reason
    too_much = refusal_of(nt.InputError, tracker.gate, "new", suite="both", **asked | {"max_harm": "1:4%"})
    assert too_much.startswith("ndcg@10: max_harm='1:4%' allows every drop")
    each = tracker.gate("new", suite="both", **asked | {"max_harm": ".3:4%"}, by="dataset", slice_margin=0.5)
    assert each.decision == "fail"
    assert [(row["value"], row["status"]) for row in each.to_dict()["parts"] if row["kind"] == "harm"][1:] == [
        ("one", "fails"), ("two", "within"),
    ]  # fmt: skip


def test_groups_in_neither_run_show_nothing(tracker: nt.Tracker) -> None:
    labels = labels_of_ranks(N_GROUPS + 60)
    tracker.ingest(frame_of_ranks(BASE), name="base", labels=labels, dataset="shop")
    tracker.ingest(frame_of_ranks(worse(2, 60)), name="two", dataset="shop")
    found = tracker.gate("two", baseline="base", margin=0.05, max_harm=".3:3%").to_dict()
    assert (found["n"], found["parts"][0]["n"], found["metrics"][0]["rare_loss"]["n"]) == (300, 240, 240)


def test_with_clusters_these_are_counted(pinned: nt.Tracker) -> None:
    groups = [f"q{number:04}" for number in range(N_GROUPS)]
    users = [f"u{number // 2}" for number in range(N_GROUPS)]
    pinned.set_groups({"group": groups, "user": users}, dataset="shop")
    pinned.ingest(frame_of_ranks(worse(2, 60)), name="two", dataset="shop")
    found = pinned.gate("two", baseline="@prod", margin=0.05, cluster="user", max_harm=".3:10%")
    told = found.to_dict()
    assert (told["parts"][0]["n"], told["parts"][0]["n_harmed"], told["parts"][0]["of_clusters"]) == (120, 2, True)
    assert told["metrics"][0]["rare_loss"]["n"] == 120
    words = " ".join(found.to_text(verbose=True).split())
    assert "at most 10% of clusters like these have a query that loses more than 0.3: 2 of 120 do" in words
    assert "; at most 2.5% of clusters should lose more (95%)" in words
    assert refusal(pinned, "two", margin=0.05, cluster="user", max_harm=".3:2%") == (
        "max_harm='0.3:2%' cannot PASS with 120 clusters, even if none loses so much: that takes 149; allow 2.5% of "
        "them or more, or leave it out"
    )


def test_of_lower_values_a_rise_is_the_loss(pinned: nt.Tracker) -> None:
    before = {f"q{number:04}": 0.25 for number in range(N_GROUPS)}
    after = before | {f"q{number:04}": 0.75 for number in range(20)}
    for run, values in (("base", before), ("same", after)):
        pinned.log_results(values, metric="latency", direction="lower", range=(0, 1), name=run, dataset="shop")
    asked = {"metric": "external:latency", "margin": 0.5}
    slower = pinned.gate("same", baseline="base", **asked, max_harm=".3:2%").to_dict()
    faster = pinned.gate("base", baseline="same", **asked, max_harm=".3:2%").to_dict()
    assert (slower["decision"], slower["parts"][0]["n_harmed"], slower["metrics"][0]["rare_loss"]["worst"]) == (
        "fail",
        20,
        0.5,
    )
    assert (faster["decision"], faster["parts"][0]["n_harmed"], faster["metrics"][0]["rare_loss"]["worst"]) == (
        "pass",
        0,
        0.0,
    )


def test_it_holds_whatever_unjudged_items_are_worth(tracker: nt.Tracker) -> None:
    """Half of the groups have an unjudged item at the first place of the candidate: harm if it is worth nothing."""
    labels = labels_of_ranks(N_GROUPS)
    for name in ("group", "item"):
        labels[name] = [*labels[name], *labels[name]]
    labels["item"][N_GROUPS:] = ["other1"] * N_GROUPS
    labels["label"] = [1] * N_GROUPS + [0] * N_GROUPS
    tracker.ingest(frame_of_ranks([1] * N_GROUPS), name="base", labels=labels, dataset="shop")
    new = frame_of_ranks([1] * N_GROUPS)
    for group in range(N_GROUPS // 2):
        new["item"][group * 5 : group * 5 + 2] = ["new", "relevant"]
    tracker.ingest(new, name="new", dataset="shop")
    asked = {"baseline": "base", "margin": 0.5, "max_harm": ".3:2%", "dry_run": True}
    zero = tracker.gate("new", **asked, unjudged="zero").to_dict()
    ranged = tracker.gate("new", **asked).to_dict()
    assert (zero["decision"], zero["parts"][0]["status"]) == ("fail", "fails")
    assert (ranged["decision"], ranged["parts"][0]["status"], ranged["parts"][0]["lower"]) == (
        "inconclusive",
        "open",
        0.0,
    )
    assert ranged["parts"][0]["upper"] == zero["parts"][0]["upper"]


@pytest.mark.parametrize("given", [0.3, (0.3, 0.02), [".3:2%"], 0])
def test_a_limit_is_a_text(given: object) -> None:
    assert refusal_of(nt.InputError, HarmLimit.of, given).startswith(f"max_harm={given!r} is not LOSS:SHARE%; for at")


def test_a_loss_that_cannot_be_is_refused(pinned: nt.Tracker) -> None:
    assert refusal(pinned, "noisy", margin=0.01, max_harm="30:2%") == (
        "ndcg@10: max_harm='30:2%' allows every drop: values lie between 0 and 1; give it in absolute points, "
        "such as max_harm='.3:2%'"
    )
