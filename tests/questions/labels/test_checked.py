"""``labels sample``, ``labels add --design``, ``compare --check-with``: from a judge's labels to a checked verdict."""

import csv
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from command_line import CommandLine
from judged_worlds import N_GROUPS, Frame, world
from populations import Floats, repeats
from small_shop import write_csv

from ndcg_tracker import Tracker, errors
from ndcg_tracker.metrics.contributions import gains_of, items_apart
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.labels.decide import drawn_labels
from ndcg_tracker.rankings.join import judged as joined
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import LabelLists, Ranking
from ndcg_tracker.statistics.drawn import inclusion_probabilities, permanent_numbers

RUNS, LABELS, TRUE = world()
COMPARE = ("compare", "dense", "stylish", "--judge", "llama", "--check-with", "human")
SAMPLE = ("labels", "sample", "dense", "stylish", "--judge", "llama")


def true_labels() -> Frame:
    groups, items = zip(*TRUE, strict=True)
    return {"group": list(groups), "item": list(items), "label": list(TRUE.values())}


def fill_world(url: str) -> None:
    with Tracker(url) as tracker:
        for name, frame in RUNS.items():
            tracker.ingest(frame, labels=LABELS, judge="llama", name=name, dataset="shop", metrics=["ndcg@10", "AP"])


@pytest.fixture
def judged(fill_as: Callable[[Callable[[str], object]], None], command: CommandLine) -> CommandLine:
    fill_as(fill_world)
    return command


def fill_in(path: Path, n: int | None = None) -> str:
    """Fill in what people would say of the first ``n`` items, and return the file's name."""
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    for row in rows[:n]:
        row["label"] = str(TRUE[row["group"], row["item"]])
    return write_csv(path.with_name("answers.csv"), {name: [row[name] for row in rows] for name in rows[0]})


def sampled(command: CommandLine, folder: Path, budget: int = 150) -> str:
    command.said(*SAMPLE, "--budget", str(budget), "--seed", "s", "-o", "ask.csv")
    answers = fill_in(folder / "ask.csv")
    command.said("labels", "add", answers, "--judge", "human", "--design", "1", "--dataset", "shop")
    return answers


def test_from_a_judge_to_a_checked_verdict(judged: CommandLine, folder: Path) -> None:
    alone = judged.done("compare", "dense", "stylish", "--judge", "llama", "--metric", "ndcg@10")
    assert alone.startswith("stylish against dense on shop (judge 'llama'): ndcg@10 improved by 0.1732")
    said = judged.said(*SAMPLE, "--budget", "150", "--seed", "s", "-o", "ask.csv")
    assert said == (
        "wrote 138 items of design 1; with their grades filled in: ndcg-track labels add ask.csv --judge NAME --design "
        "1 --dataset shop\n"
    )
    assert judged.refused(*COMPARE) == (
        "design 1 has no answers yet; add them with: ndcg-track labels add FILE --judge NAME --design 1 --dataset shop"
    )
    add = ("labels", "add", fill_in(folder / "ask.csv", 100), "--judge", "human", "--design", "1", "--dataset", "shop")
    assert judged.said(*add) == "stored 100 answers of 'human' to design 1 of dataset 'shop'; 38 still without\n"
    assert judged.refused(*COMPARE) == (
        "38 of the 138 items that design 1 drew have no answer; add them with: ndcg-track labels add FILE --judge "
        "human --design 1 --dataset shop"
    )
    fill_in(folder / "ask.csv")
    assert judged.said(*add) == (
        "stored 38 answers of 'human' to design 1 of dataset 'shop', 100 known already; all items have one\n"
    )
    lines = judged.done(*COMPARE).splitlines()
    assert lines[0] == (
        "stylish against dense on shop (judge 'llama', checked by 'human'): no difference detected in ndcg@10 (+0.0294)"
    )


def test_json_and_csv_have_the_judge_alone_the_corrected_and_whom_it_favours(judged: CommandLine, folder: Path) -> None:
    sampled(judged, folder)
    found = judged.rows(*COMPARE)
    assert (found["design"], found["checked_by"], found["label_set"]["judge"]) == (1, "human", "llama")
    assert found["favour"]["delta"] == pytest.approx(found["judge_alone"]["delta"] - found["corrected"]["delta"])
    assert found["judge_alone"]["delta"] > 0.1
    assert found["favour"]["ci"][0] > 0
    low, high = found["corrected"]["ci"]
    assert low < 0 < high
    assert (found["verdict"], found["low_information"]) == ("no_difference_detected", False)
    rows = list(csv.DictReader(io.StringIO(judged.done(*COMPARE, "--format", "csv"))))
    assert [(row["estimate"], row["verdict"]) for row in rows] == [
        ("judge_alone", ""),
        ("corrected", "no_difference_detected"),
        ("favour", ""),
    ]
    for row in rows:
        of = found[row["estimate"]]
        assert [float(row[name]) for name in ("delta", "ci_low", "ci_high")] == [of["delta"], *of["ci"]]
    reversed_runs = judged.rows("compare", "stylish", "dense", *COMPARE[3:])
    assert reversed_runs["corrected"]["delta"] == pytest.approx(-found["corrected"]["delta"])


def test_the_judge_alone_is_what_compare_finds(judged: CommandLine, folder: Path) -> None:
    sampled(judged, folder)
    (metric,) = judged.rows("compare", "dense", "stylish", "--judge", "llama", "--metric", "ndcg@10")["metrics"]
    alone = judged.rows(*COMPARE)["judge_alone"]
    assert alone["delta"] == pytest.approx(metric["delta"], abs=1e-12)
    assert alone["ci"] == pytest.approx(metric["ci"], abs=1e-12)


@pytest.mark.both_engines
def test_with_every_item_answered_the_verdict_is_that_of_peoples_labels(judged: CommandLine, folder: Path) -> None:
    with Tracker(judged.url) as tracker:
        dcg = {"judge": "llama", "metric": "dcg@10"}
        sample = tracker.labels_sample("dense", "stylish", budget=10_000, **dcg)  # type: ignore[arg-type]
        items = sample.sample.items
        answers = [TRUE[item.group, item.item] for item in items]
        frame = {"group": [item.group for item in items], "item": [item.item for item in items], "label": answers}
        tracker.add_answers(frame, design=1, judge="human", dataset="shop")
        checked = tracker.compare_checked("dense", "stylish", judge="llama", check_with="human").comparison
        tracker.add_labels(true_labels(), judge="human", dataset="shop")
        tracker.rescore(["dense", "stylish"], metrics="dcg@10", judge="human", dataset="shop")
        (metric,) = tracker.compare("dense", "stylish", judge="human", metrics="dcg@10").comparisons[0].metrics
    assert checked.delta.corrected.mean == pytest.approx(metric.delta)
    assert checked.delta.corrected.ci == pytest.approx(metric.ci)
    assert checked.delta.corrected.p_value == pytest.approx(metric.p_value)


def test_few_informative_answers_are_low_information(judged: CommandLine, folder: Path) -> None:
    sampled(judged, folder, 30)
    found = judged.rows(*COMPARE)
    assert found["low_information"] is True
    assert found["n_informative"] < 25
    text = judged.done(*COMPARE)
    assert "low information" in text.splitlines()[0]
    assert "fewer than 25 say too little" in " ".join(text.split())


def test_a_judge_that_changed_is_told(judged: CommandLine, folder: Path) -> None:
    sampled(judged, folder)
    more: Frame = {"group": ["new"], "item": ["d1"], "label": [1]}
    judged.said(
        "labels", "add", write_csv(folder / "more.csv", more), "--extend", "--judge", "llama", "--dataset", "shop"
    )
    note = "design 1 was drawn under version 1 of the judge's labels, and is held against these; version 2 is newer"
    assert judged.rows(*COMPARE)["notes"] == [note]


@pytest.mark.parametrize("text", ["ndcg@10", "dcg(gain=exp2)@5", "P@3", "RBP@10"])
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
        answers = {pairs[row]: (true[row], float(probabilities[row])) for row in rows}
        found.append(float(drawn_labels(apart, metric, answers).corrected_deltas().mean()))
    assert np.mean(found) == pytest.approx(truth, abs=1e-12 + 3.5 * np.std(found) / len(found) ** 0.5)


def grades() -> Floats:
    return np.array(LABELS["label"], dtype=np.float64)


def ranking_of(name: str) -> Ranking:
    run = RUNS[name]
    groups, items = (Keys.from_strings(map(str, run[column])) for column in ("group", "item"))
    return Ranking.from_rows(groups, items, np.array(run["score"], dtype=np.float64))


OTHERS = {
    "--test permutation": "--test does not go with --check-with: corrected differences of groups leave [-1, 1], and "
    "only the paired t-test holds for them; leave it out",
    "--ci betting": "--ci does not go with --check-with: corrected differences of groups leave [-1, 1], and only the "
    "paired t-test holds for them; leave it out",
    "--by device": "--by does not go with --check-with; leave out one of them",
    "--cluster user": "--cluster does not go with --check-with; leave out one of them",
    "--missing skip": "--missing does not go with --check-with; leave out one of them",
    "--equivalence 0.01": "--equivalence does not go with --check-with; leave out one of them",
    "--tie-bounds": "--tie-bounds does not go with --check-with; leave out one of them",
    "--unjudged-bounds": "--unjudged-bounds does not go with --check-with; leave out one of them",
    "--top 3": "--top does not go with --check-with; leave out one of them",
    "--details": "--details does not go with --check-with; leave out one of them",
    "--labels 1": "--labels does not go with --check-with; leave out one of them",
    "--suite all": "--suite does not go with --check-with; leave out one of them",
    "--metric ndcg@10 --metric dcg@10": "--check-with takes one metric; give --metric once",
    "--metric dcg@10": "no design of 'dense' and 'stylish' checks judge 'llama' under dcg@10, but one under ndcg@10; "
    "draw one with: ndcg-track labels sample dense stylish --judge llama --budget N --metric dcg@10",
}


@pytest.mark.parametrize("words", OTHERS)
def test_what_is_not_covered_is_refused(judged: CommandLine, folder: Path, words: str) -> None:
    sampled(judged, folder)
    assert judged.refused(*COMPARE, *words.split()) == OTHERS[words]


def test_other_runs_judges_and_people_are_refused(judged: CommandLine, folder: Path) -> None:
    sampled(judged, folder)
    assert judged.refused("compare", "dense", "other", *COMPARE[3:]) == (
        "no design of 'dense' and 'other' checks judge 'llama'; design 1 is of 'dense' and 'stylish'; draw one with: "
        "ndcg-track labels sample dense other --judge llama --budget N"
    )
    assert judged.refused("compare", "dense", "stylish", "other", *COMPARE[3:]) == (
        "--check-with takes one candidate; name one after the baseline"
    )
    assert judged.refused("compare", "dense", "tag:a=b", *COMPARE[3:]) == (
        "a judge is checked on two single runs, not on arm 'tag:a=b'; name two runs"
    )
    assert judged.refused("compare", "dense", "stylish", "--check-with", "human") == (
        "--check-with checks one judge; name it with --judge"
    )
    assert judged.refused(*COMPARE[:-1], "somebody") == (
        "design 1 of 'dense' and 'stylish' is answered by 'human', not by 'somebody'; give --check-with human"
    )
    judged.said("labels", "add", write_csv(folder / "gpt.csv", LABELS), "--judge", "gpt", "--dataset", "shop")
    assert judged.refused("compare", "dense", "stylish", "--judge", "gpt", "--check-with", "human") == (
        "no design of 'dense' and 'stylish' checks judge 'gpt', but one checks judge 'llama'; draw one with: "
        "ndcg-track labels sample dense stylish --judge gpt --budget N"
    )


def test_answers_make_no_version_and_take_no_option_of_one(judged: CommandLine, folder: Path) -> None:
    answers = sampled(judged, folder)
    add = ("labels", "add", answers, "--judge", "human", "--design", "1", "--dataset", "shop")
    for words in (["--extend"], ["--rescore"], ["--added-by", "me"], ["--from-runs", "dense"]):
        assert judged.refused(*add, *words) == (
            f"{words[0]} makes a version of labels, and answers to a design are none; leave it out"
        )
    assert judged.refused("labels", "add", answers, "--design", "1", "--dataset", "shop") == (
        "answers to a design have a name; say whose they are with --judge NAME"
    )
    assert [version["judge"] for version in judged.rows("labels", "list", "--dataset", "shop")] == ["llama"]


def test_the_items_are_written_as_those_to_judge(judged: CommandLine, folder: Path) -> None:
    text = judged.done(*SAMPLE, "--budget", "40", "--seed", "s")
    found = judged.rows(*SAMPLE, "--budget", "40")
    assert text.startswith(
        f"stylish against dense on shop: design 1 drew {found['n_drawn']} items of {found['n_apart']} that tell them "
        "apart, for ndcg@10\n"
    )
    rows = list(csv.DictReader(io.StringIO(judged.done(*SAMPLE, "--budget", "40", "--format", "csv"))))
    assert [(row["group"], row["item"]) for row in rows] == [(item["group"], item["item"]) for item in found["items"]]
    assert {(row["label"], row["could_move"]) for row in rows} == {("", "")}
    assert judged.done(*SAMPLE, "--budget", "40", "--format", "quepid").startswith("query,docid,rating\n")
    assert '"rating": null' in judged.done(*SAMPLE, "--budget", "40", "--format", "elasticsearch")
    unsafe: Frame = {"group": ["=q"] * 2, "item": ["a", "b"], "score": [2.0, 1.0]}
    for name, scores in (("one", [2.0, 1.0]), ("two", [1.0, 2.0])):
        frame = {**unsafe, "score": scores, "label": [1, 0]}
        judged("ingest", write_csv(folder / f"{name}.csv", frame), "--dataset", "unsafe", "--judge", "llama")
    words = ("labels", "sample", "one", "two", "--judge", "llama", "--budget", "2", "--format", "csv")
    assert judged.refused(*words) == (
        "group '=q' cannot be read back from CSV that is safe to open; use --format elasticsearch"
    )


def test_runs_of_two_datasets_are_refused(judged: CommandLine) -> None:
    with Tracker(judged.url) as tracker:
        tracker.ingest(RUNS["dense"], labels=LABELS, judge="llama", name="elsewhere", dataset="books")
        with pytest.raises(errors.NotComparableError) as caught:
            tracker.labels_sample("dense", "elsewhere", judge="llama", budget=10)
    assert str(caught.value).endswith("only runs of one dataset can be drawn from together")
