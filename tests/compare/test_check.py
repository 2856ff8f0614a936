"""``compare --check-with``: a verdict under a judge's labels that people's answers to a drawn sample correct."""

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import CommandLine
from judged_worlds import N_GROUPS, N_ITEMS, Frame, world
from populations import Floats, repeats

from ndcg_tracker import Tracker, errors
from ndcg_tracker.compare.gather_check import Answers
from ndcg_tracker.compare.results import Comparison
from ndcg_tracker.metrics.contributions import gains_of, items_apart
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.rankings.join import judged as joined
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import LabelLists, Ranking
from ndcg_tracker.statistics.drawn import inclusion_probabilities, permanent_numbers
from ndcg_tracker.statistics.t_test import TTest, clustered_t, equivalence_test

RUNS, LABELS, TRUE = world()
COMPARE = ("compare", "dense", "stylish", "--judge", "llama", "--check-with", "human")
METRICS = ["ndcg@10", "ndcg@5", "dcg@10", "AP"]


def true_labels() -> Frame:
    groups, items = zip(*TRUE, strict=True)
    return {"group": list(groups), "item": list(items), "label": list(TRUE.values())}


def fill_world(url: str) -> None:
    with Tracker(url) as tracker:
        for name, frame in RUNS.items():
            tracker.ingest(frame, labels=LABELS, judge="llama", name=name, dataset="shop", metrics=METRICS)
        devices = ["phone" if group % 2 else "desk" for group in range(N_GROUPS)]
        users = [f"u{group // 2}" for group in range(N_GROUPS)]
        groups = [f"q{group}" for group in range(N_GROUPS)]
        tracker.set_groups({"group": groups, "device": devices, "user": users}, dataset="shop")


@pytest.fixture
def shop(fill_as: Callable[[Callable[[str], object]], None], command: CommandLine) -> CommandLine:
    fill_as(fill_world)
    return command


def answered(
    command: CommandLine, budget: int, *runs: str, n: int | None = None, judge: str = "human", **options: Any
) -> int:
    """Draw a design of two runs, answer the first ``n`` of its items as people would, and return its number."""
    with Tracker(command.url) as tracker:
        sample = tracker.labels_sample(*(runs or ("dense", "stylish")), judge="llama", budget=budget, **options).sample
        rows = [(item.group, item.item, TRUE[item.group, item.item]) for item in sample.items[:n]]
        groups, items, labels = zip(*rows, strict=True)
        frame = {"group": list(groups), "item": list(items), "label": list(labels)}
        tracker.add_answers(frame, design=sample.design, judge=judge, dataset="shop")
    return sample.design


def compared(command: CommandLine, *runs: str, **options: Any) -> Comparison:
    with Tracker(command.url) as tracker:
        names = runs or ("dense", "stylish")
        checked = {"judge": "llama", "check_with": "human", **options}
        (comparison,) = tracker.compare(*names, dataset="shop", **checked).comparisons
    return comparison


def test_the_text_has_three_differences_and_what_they_rest_on(shop: CommandLine) -> None:
    answered(shop, 150, seed="s")
    lines = shop.done(*COMPARE, "--metric", "ndcg@10").splitlines()
    assert lines[0] == (
        "stylish against dense on shop (judge 'llama', checked by 'human'): no difference detected in ndcg@10 (+0.0294)"
    )
    assert lines[1].startswith("judge 'llama' favours stylish by 0.14")
    assert [line[9:29].strip() for line in lines[4:7]] == [
        "judge 'llama' alone",
        "'human' alone",
        "corrected by 'human'",
    ]
    text = " ".join(" ".join(lines).split())
    assert re.search(r"checked design 1: 138 answers, of \d+ items that tell the runs apart; \d+ differ from", text)
    assert "138 labels are as precise as " in text


def test_json_and_csv_have_the_judge_people_and_whom_the_judge_favours(shop: CommandLine) -> None:
    answered(shop, 150, seed="s")
    (found,) = shop.rows(*COMPARE)["metrics"]
    check = found["check"]
    assert (check["designs"], check["checked_by"], check["n_drawn"]) == ([1], "human", 138)
    assert check["favour"]["delta"] == pytest.approx(check["judge"]["delta"] - found["delta"])
    assert check["judge"]["delta"] > 0.1
    assert check["favour"]["ci"][0] > 0
    assert found["ci"][0] < 0 < found["ci"][1]
    assert (found["verdict"], found["low_information"]) == ("no_difference_detected", False)
    unknown = ("baseline", "candidate", "wins", "ties", "losses", "effect_size")
    assert [found[name] for name in unknown] == [None] * len(unknown)
    (row,) = csv.DictReader(io.StringIO(shop.done(*COMPARE, "--format", "csv")))
    assert (row["checked_by"], row["n_answers"], row["verdict"]) == ("human", "138", "no_difference_detected")
    for name, estimate in (("judge_delta", "judge"), ("people_delta", "people"), ("favour", "favour")):
        assert float(row[name]) == check[estimate]["delta"]
    (reversed_runs,) = shop.rows("compare", "stylish", "dense", *COMPARE[3:])["metrics"]
    assert reversed_runs["delta"] == pytest.approx(-found["delta"])


def test_the_judge_alone_is_what_compare_finds(shop: CommandLine) -> None:
    answered(shop, 150)
    (metric,) = shop.rows("compare", "dense", "stylish", "--judge", "llama", "--metric", "ndcg@10")["metrics"]
    alone = shop.rows(*COMPARE)["metrics"][0]["check"]["judge"]
    assert alone["delta"] == pytest.approx(metric["delta"], abs=1e-12)
    assert alone["ci"] == pytest.approx(metric["ci"], abs=1e-12)


@pytest.mark.parametrize("text", ["Success@1", "dcg(weights=group)@10", "P(rel=2)@5"])
def test_complete_answers_give_what_peoples_labels_give(shop: CommandLine, text: str) -> None:
    with Tracker(shop.url) as tracker:
        weights = [1.0 + place % 3 for place in range(N_GROUPS)]
        tracker.set_groups({"group": [f"q{place}" for place in range(N_GROUPS)], "weight": weights}, dataset="shop")
        tracker.rescore(["dense", "stylish"], metrics=text, judge="llama", dataset="shop")
        answered(shop, 10_000, metric=text)
        tracker.add_labels(true_labels(), judge="human", dataset="shop")
        tracker.rescore(["dense", "stylish"], metrics=text, judge="human", dataset="shop")
        (of_people,) = tracker.compare("dense", "stylish", judge="human", metrics=text).comparisons[0].metrics
    (checked,) = compared(shop, metrics=text).metrics
    assert [checked.delta, checked.p_value] == pytest.approx([of_people.delta, of_people.p_value])
    assert checked.ci == pytest.approx(of_people.ci)
    assert shop.refused(*COMPARE, "--metric", "Success@3").startswith(
        "a difference in Success@3 is not a sum over items, "
    )


@pytest.mark.both_engines
def test_with_every_item_answered_the_verdict_is_that_of_peoples_labels(shop: CommandLine) -> None:
    answered(shop, 10_000, metric="dcg@10")
    with Tracker(shop.url) as tracker:
        tracker.add_labels(true_labels(), judge="human", dataset="shop")
        tracker.rescore(["dense", "stylish"], metrics="dcg@10", judge="human", dataset="shop")
        slices: Any = {"by": "device", "cluster": "user"}
        of_people = tracker.compare("dense", "stylish", judge="human", metrics="dcg@10", **slices).comparisons[0]
    checked = compared(shop, **slices)
    for one, other in zip(checked.metrics, of_people.metrics, strict=True):
        assert [one.delta, one.p_value] == pytest.approx([other.delta, other.p_value])
        assert one.ci == pytest.approx(other.ci)
        assert one.clusters == other.clusters
        assert one.check is not None
        assert one.check.people.delta == pytest.approx(other.delta)
    assert [(row.value, row.n) for row in checked.slices or ()] == [
        (row.value, row.n) for row in of_people.slices or ()
    ]
    for of_slice, wanted in zip(checked.slices or (), of_people.slices or (), strict=True):
        assert [of_slice.delta, of_slice.p_value] == pytest.approx([wanted.delta, wanted.p_value])
        assert (of_slice.baseline, of_slice.wins) == (None, None)


def test_few_answers_that_differ_are_low_information(shop: CommandLine) -> None:
    answered(shop, 30, seed="s")
    (metric,) = compared(shop).metrics
    assert metric.check is not None
    n = metric.check.n_informative
    assert metric.has_low_information
    text = shop.done(*COMPARE)
    assert "low information" in text.splitlines()[0]
    warning = f"low information: {n} answers that differ from the judge; below 25, the t interval may be too narrow"
    assert warning in " ".join(text.split())


def test_clusters_and_equivalence_are_those_of_the_corrected_differences(shop: CommandLine) -> None:
    answered(shop, 200, seed="s")
    plain, clustered = compared(shop).metrics[0], compared(shop, cluster="user", equivalence=0.05).metrics[0]
    assert plain.delta == clustered.delta
    assert plain.ci != clustered.ci
    assert clustered.clusters is not None
    assert clustered.clusters.n == N_GROUPS // 2
    assert clustered.equivalence is not None
    assert clustered.equivalence.ci is not None
    low, high = clustered.equivalence.ci
    assert low < (clustered.delta or 0) < high


def test_slices_of_few_answers_are_low_information(shop: CommandLine) -> None:
    answered(shop, 150, seed="s")
    rows = {row.value: row for row in compared(shop, by="device").slices or ()}
    assert {value: row.n for value, row in rows.items()} == {"phone": 20, "desk": 20}
    assert all(row.warning is not None for row in rows.values())
    assert "baseline" not in shop.done(*COMPARE, "--by", "device").partition("by device")[2]


def test_answers_serve_every_metric_whose_items_could_be_drawn(shop: CommandLine) -> None:
    answered(shop, 150, seed="s")
    metrics = compared(shop, metrics=["ndcg@10", "ndcg@5", "dcg@10"]).metrics
    assert [metric.metric for metric in metrics] == ["ndcg@10", "ndcg@5", "dcg@10"]
    p_values = [metric.p_value or 0 for metric in metrics]
    assert max(metric.p_adjusted or 0 for metric in metrics) == pytest.approx(min(1, max(*p_values, 3 * min(p_values))))
    refused = shop.refused(*COMPARE, "--metric", "dcg@12")
    assert refused.startswith("dcg@12: no answered design can draw ")
    assert refused.endswith(
        " items that tell 'stylish' and 'dense' apart; draw from them with: ndcg-track labels sample dense stylish "
        "--judge llama --budget N --metric dcg@12 --dataset shop"
    )


def test_a_design_for_another_metric_brings_no_answers_to_a_verdict_that_was_there(shop: CommandLine) -> None:
    answered(shop, 100, seed="s")
    before = compared(shop).metrics[0]
    answered(shop, 300, metric="dcg@10")
    both = compared(shop, metrics=["ndcg@10", "dcg@10"]).metrics
    assert (both[0].delta, both[0].check) == (before.delta, before.check)
    assert [metric.check.sampled.designs for metric in both if metric.check is not None] == [(1,), (1, 2)]


@pytest.mark.both_engines
def test_a_union_of_designs_counts_each_item_with_the_largest_probability(shop: CommandLine) -> None:
    answered(shop, 100, seed="s")
    alone = compared(shop).metrics[0]
    answered(shop, 100, "dense", "other")
    assert compared(shop).metrics[0] == alone  # what was decided stays
    (later,) = compared(shop, "dense", "other").metrics
    assert later.check is not None
    assert later.check.sampled.designs == (1, 2)
    (third,) = compared(shop, "stylish", "other").metrics  # neither design is of these two
    assert third.check is not None
    assert third.check.sampled.n_drawn > 100
    with Tracker(shop.url) as tracker:
        both = tracker.compare("dense", "stylish", "other", judge="llama", check_with="human", dataset="shop")
    assert [comparison.metrics[0].delta for comparison in both.comparisons] == [alone.delta, later.delta]
    assert "p_adjusted" in both.to_frame()


def test_charts_show_no_single_groups(shop: CommandLine) -> None:
    answered(shop, 150, seed="s")
    with Tracker(shop.url) as tracker:
        result = tracker.compare("dense", "stylish", judge="llama", check_with="human", by="device", dataset="shop")
        assert "<img" in result._repr_html_()
        for kind in ("forest", "slices"):
            assert result.plot(kind)
        with pytest.raises(errors.InputError) as caught:
            result.plot("every")
    assert str(caught.value) == (
        "chart 'every' shows single groups, but answers to a sample say nothing about these; choose forest or slices"
    )


def test_the_page_has_the_corrected_verdict_and_the_groups_of_the_judge(shop: CommandLine) -> None:
    answered(shop, 150, seed="s")
    with Tracker(shop.url) as tracker:
        page = tracker.report("dense", "stylish", judge="llama", check_with="human", dataset="shop").to_html()
        (metric,) = (
            tracker.compare("dense", "stylish", judge="llama", check_with="human", dataset="shop")
            .comparisons[0]
            .metrics
        )
    assert f"{metric.delta:+.4f}" in page
    assert "judge &#39;llama&#39;, corrected by &#39;human&#39;; groups and charts use the judge alone" in page
    assert "--check-with human" in page


def test_the_judges_word_for_what_nobody_answered_is_told(shop: CommandLine) -> None:
    answered(shop, 150, n=100, seed="s")
    assert shop.refused(*COMPARE) == (
        "38 of the 138 items that design 1 drew have no answer; add them with: ndcg-track labels add FILE --judge "
        "human --design 1 --dataset shop"
    )
    found = shop.rows(*COMPARE, "--unanswered", "judge")
    assert found["metrics"][0]["check"]["n_unanswered"] == 38
    text = shop.done(*COMPARE, "--unanswered", "judge")
    assert " if the judge is right about 38 drawn items without an answer" in " ".join(text.splitlines()[:2])
    assert "checked design 1: 100 answers, of " in " ".join(text.split())
    assert shop.refused("compare", "dense", "stylish", "--unanswered", "judge") == (
        "--unanswered belongs to --check-with; say who answered, or leave it out"
    )


def test_a_judge_that_changed_is_told(shop: CommandLine) -> None:
    answered(shop, 150, seed="s")
    more: Frame = {"group": ["new"], "item": ["d1"], "label": [1]}
    with Tracker(shop.url) as tracker:
        tracker.add_labels(more, judge="llama", dataset="shop", extend=True)
    note = (
        "design 1 was drawn under version 1 of the judge's labels and is compared with that version; version 2 is newer"
    )
    assert shop.rows(*COMPARE)["notes"] == [note]


def test_groups_that_a_run_lacks_count_as_nothing(shop: CommandLine) -> None:
    fewer = {name: column[:-N_ITEMS] for name, column in RUNS["stylish"].items()}
    with Tracker(shop.url) as tracker:
        tracker.ingest(fewer, name="fewer", dataset="shop", judge="llama")
    answered(shop, 150, "dense", "fewer")
    groups = compared(shop, "dense", "fewer").groups
    assert (groups.paired, groups.missing_in_baseline, groups.missing_in_candidate) == (N_GROUPS, 0, 1)


@pytest.mark.nightly(but=5)
@pytest.mark.parametrize("text", ["ndcg@10", "dcg(gain=exp2)@5", "P@3", "RBP@10", "Success@1"])
@pytest.mark.parametrize("budget", [20, 60, 150])
def test_over_many_draws_the_corrected_difference_is_that_of_complete_answers(text: str, budget: int) -> None:
    """From runs and labels on; the true difference has the ideal of the judge's labels."""
    metric = parse_metric(text)
    labels = LabelLists.from_rows(*(Keys.from_strings(map(str, LABELS[name])) for name in ("group", "item")), grades())
    apart = items_apart(*(joined(ranking_of(name), labels) for name in ("dense", "stylish")), metric)
    pairs = list(zip(*(keys.to_list() for keys in apart.take(np.arange(apart.groups.size))), strict=True))
    true = np.array([TRUE[pair] for pair in pairs], dtype=np.float64)
    truth = float((apart.weights * gains_of(metric, true)).sum()) / N_GROUPS
    probabilities = inclusion_probabilities(apart.weights, budget)
    found = []
    for seed in range(repeats(150)):
        numbers = permanent_numbers(str(seed), [(group.encode(), item.encode()) for group, item in pairs])
        rows = np.flatnonzero(numbers < probabilities).tolist()
        answers = Answers({row: (true[row], float(probabilities[row])) for row in rows}, {}, 0)
        found.append(float(answers.labels(apart, metric).corrected_deltas().mean()))
    assert np.mean(found) == pytest.approx(truth, abs=1e-12 + 3.5 * np.std(found) / len(found) ** 0.5)


def grades() -> Floats:
    return np.array(LABELS["label"], dtype=np.float64)


def ranking_of(name: str) -> Ranking:
    run = RUNS[name]
    groups, items = (Keys.from_strings(map(str, run[column])) for column in ("group", "item"))
    return Ranking.from_rows(groups, items, np.array(run["score"], dtype=np.float64))


T_ALONE = (
    "does not take differences corrected by people's answers: they can be outside [-1, 1], so only the paired "
    "t-test is valid; leave it out"
)
OF_ONE_JUDGE = "it shows groups under the labels of one judge; leave it out"
REFUSED = {
    "--test permutation": f"--test permutation {T_ALONE}",
    "--ci betting": f"--ci betting {T_ALONE}",
    "--tie-bounds": f"--tie-bounds does not go with --check-with: {OF_ONE_JUDGE}",
    "--top 3": (
        "--top does not go with --check-with: a sample of labels corrects a mean, but does not say which group is the "
        "worst; leave it out"
    ),
    "--labels 1": "--labels does not go with --check-with: the design fixed the labels; leave it out",
    "--labels all": "--labels all does not go with --check-with: the design fixed the labels; leave it out",
    "--suite all": "--suite does not go with --check-with: a sample is drawn from one dataset; leave it out",
    "--metric AP": "a difference in AP is not a sum over items, so judgments of a sample cannot correct it; use "
    "--metric ndcg@10",
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_not_covered_is_refused(shop: CommandLine, words: str) -> None:
    answered(shop, 150, seed="s")
    assert shop.refused(*COMPARE, *words.split()) == REFUSED[words]


def test_other_runs_judges_and_people_are_refused(shop: CommandLine) -> None:
    answered(shop, 150, seed="s")
    assert shop.refused("compare", "dense", "other", *COMPARE[3:]).startswith("ndcg@10: no answered design can draw ")
    with Tracker(shop.url) as tracker:
        for name in ("stylish", "other"):
            tracker.tag_run(name, {"arm": "x"}, dataset="shop")
    assert shop.refused("compare", "dense", "tag:arm=x", *COMPARE[3:]) == (
        "a judge is checked on single runs, not on arm 'tag:arm=x'; name runs"
    )
    assert shop.refused("compare", "dense", "stylish", "--judge", "*", "--check-with", "human") == (
        "--judge '*' does not go with --check-with: it checks one judge; leave it out"
    )
    assert shop.refused("compare", "dense", "stylish", "--judge", "llama", "--check-with", "llama") == (
        "judge 'llama' cannot check itself; name who answered with --check-with"
    )
    assert shop.refused(*COMPARE[:-1], "somebody") == (
        "design 1 of 'dense' and 'stylish' is answered by 'human', not by 'somebody'; give --check-with human"
    )
    with Tracker(shop.url) as tracker:
        tracker.add_labels(LABELS, judge="gpt", dataset="shop")
    assert shop.refused("compare", "dense", "stylish", "--judge", "gpt", "--check-with", "human") == (
        "no design of 'dense' and 'stylish' checks judge 'gpt', but one checks judge 'llama'; draw one with: "
        "ndcg-track labels sample dense stylish --judge gpt --budget N --dataset shop"
    )
    with Tracker(shop.url) as tracker, pytest.raises(errors.InputError) as caught:
        tracker.compare("dense", "stylish", judge="llama", check_with="human", labels=1)
    assert str(caught.value) == ("labels= does not go with check_with=: the design fixed the labels; leave it out")


def test_the_interval_of_clusters_is_that_of_the_t_test() -> None:
    deltas, clusters = np.array([0.5, 0.25, -0.25, 0.0]), np.array([0, 0, 1, 2])
    from ndcg_tracker.compare.inference import Chance

    chance = Chance(clusters=clusters, informative=np.array([30, 0, 1, 0]), n_looks=2)
    test, _ = chance.test(deltas, None)
    plain = clustered_t(deltas, clusters, level=0.975)
    assert test.ci == plain.ci
    assert test.p_value == pytest.approx(min(1, 2 * (plain.p_value or 0)))
    assert chance.of(np.array([0, 2])).informative is not None


def test_a_run_that_is_newer_than_the_answers_takes_what_is_known_as_it_is(shop: CommandLine) -> None:
    answered(shop, 150, seed="s")
    with Tracker(shop.url) as tracker:
        scores = (np.array(RUNS["stylish"]["score"], dtype=np.float64) * np.linspace(1, 2, N_GROUPS * N_ITEMS)).tolist()
        tracker.ingest({**RUNS["stylish"], "score": scores}, name="tuned", dataset="shop", judge="llama")
    refused = shop.refused("compare", "dense", "tuned", *COMPARE[3:])
    assert refused.startswith("no design of 'dense' and 'tuned' checks judge 'llama'; design 1 is of 'dense' and ")
    answered(shop, 150, "dense", "tuned")
    (metric,) = compared(shop, "dense", "tuned").metrics
    assert metric.check is not None
    sampled = metric.check.sampled
    assert sampled.designs == (2,)
    assert sampled.n_known > 0
    assert sampled.n_drawn + sampled.n_known <= sampled.n_apart
    text = " ".join(shop.done("compare", "dense", "tuned", *COMPARE[3:]).split())
    assert f", {sampled.n_known} of them known before, of " in text
    answered(shop, 300, "dense", "other")  # further answers by the old numbers, after the draw by new ones
    assert compared(shop, "dense", "tuned").metrics[0] == metric


def test_the_first_answered_design_of_two_runs_decides_for_good(shop: CommandLine) -> None:
    answered(shop, 300, seed="s", looks=2)
    first = compared(shop).metrics[0]
    assert first.check is not None
    assert (first.check.sampled.look, first.check.sampled.n_looks) == (1, 2)
    answered(shop, 60, "dense", "stylish", "other")
    assert compared(shop).metrics[0] == first
    (of_both,) = compared(shop, "dense", "other").metrics
    assert of_both.check is not None
    assert (of_both.check.sampled.designs, of_both.check.sampled.n_looks) == ((1, 2), 2)
    with Tracker(shop.url) as tracker:  # the second look is drawn, and waits for answers
        again = tracker.labels_sample("dense", "stylish", judge="llama", budget=300, dataset="shop").sample
    assert " items that design 1 drew have no answer; add them with: " in shop.refused(*COMPARE)
    (meanwhile,) = compared(shop, "dense", "other").metrics
    assert meanwhile.check is not None
    assert (meanwhile.check.sampled.designs, meanwhile.check.sampled.n_looks) == ((2,), 2)  # its looks stay counted
    rows = [(item.group, item.item, TRUE[item.group, item.item]) for item in again.items]
    frame = {
        name: list(column) for name, column in zip(("group", "item", "label"), zip(*rows, strict=True), strict=True)
    }
    with Tracker(shop.url) as tracker:
        tracker.add_answers(frame, design=1, judge="human", dataset="shop")
    (after,) = compared(shop, "dense", "other").metrics
    assert after == meanwhile  # what was answered later brings no further look
    (second,) = compared(shop).metrics
    assert second.check is not None
    assert second.check.sampled.look == 2


def test_equivalence_shares_its_level_among_looks(shop: CommandLine) -> None:
    answered(shop, 300, seed="s", looks=3)
    (metric,) = compared(shop, equivalence=0.1).metrics
    test = TTest(metric.n, metric.delta, None, 1.0, 1.0, None, metric.standard_error, metric.df)
    wanted = equivalence_test(test, 0.1, alpha=0.05 / 3)
    assert metric.equivalence is not None
    assert metric.equivalence.ci == wanted.ci
    assert metric.equivalence.p_value == pytest.approx(min(1.0, 3 * (wanted.p_value or 0)))
    assert metric.equivalence.equivalent == wanted.equivalent


def test_what_is_equal_but_for_rounding_is_equal(tmp_path: Path) -> None:
    """Both runs show the same ten items in another order, and people find all of them relevant."""
    groups = [f"q{group}" for group in range(30) for _ in range(12)]
    items = [f"d{item}" for _ in range(30) for item in range(12)]
    rng = np.random.default_rng(2)
    labels = {"group": groups, "item": items, "label": rng.integers(0, 3, 360).tolist()}
    with Tracker(tmp_path / "equal.db") as tracker:
        for name in ("one", "other"):
            scores = rng.random(360).tolist()
            tracker.ingest(
                {"group": groups, "item": items, "score": scores, "label": labels["label"]}, judge="j", name=name
            )
        sample = tracker.labels_sample("one", "other", judge="j", metric="P@10", budget=10_000).sample
        answers = {"group": [item.group for item in sample.items], "item": [item.item for item in sample.items]}
        tracker.add_answers({**answers, "label": [1] * len(sample.items)}, design=1, judge="people")
        result = tracker.compare("one", "other", judge="j", check_with="people", metrics="P@10")
        (metric,) = result.comparisons[0].metrics
        assert (metric.delta, metric.p_value, metric.verdict) == (0.0, None, "no_difference_detected")


def test_runs_of_the_same_lists_are_identical(shop: CommandLine) -> None:
    with Tracker(shop.url) as tracker:
        tracker.ingest(RUNS["dense"], name="again", dataset="shop", judge="llama")
    answered(shop, 150, "dense", "stylish", "again", seed="s")
    (metric,) = compared(shop, "dense", "again").metrics
    assert (metric.verdict, metric.delta, metric.n) == ("identical", 0.0, N_GROUPS)
    text = shop.done("compare", "dense", "again", *COMPARE[3:])
    assert text.startswith(
        "again against dense on shop (judge 'llama', checked by 'human'): ndcg@10 is identical on all 40 groups"
    )
    assert "favours" not in text
