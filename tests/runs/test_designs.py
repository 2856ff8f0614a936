"""Designs: what is drawn and stored, what comes next, and what is refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from judged_worlds import LABELS, RUNS, TRUE, answered, designs, drawn, fill_world, graded
from refused import refusal_of

from ndcg_tracker import Tracker, errors
from ndcg_tracker.metrics.contributions import gains_of
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.runs.designs import frozen_pairs, known_answers
from ndcg_tracker.statistics.drawn import (
    inclusion_probabilities,
    permanent_folds,
    probabilities_by_spread,
    spread_of_gains,
)
from ndcg_tracker.storage.records import DesignRunRecord

pytestmark = pytest.mark.both_engines
PAIR = ("dense", "stylish")
OF_JUDGE: dict[str, Any] = {"judge": "llama", "seed": "s"}


@pytest.fixture
def shop(fill_as: Callable[[Callable[[str], object]], None], tracker: Tracker) -> Tracker:
    fill_as(fill_world)
    return tracker


def test_a_design_is_stored_with_its_items_and_their_probabilities(shop: Tracker) -> None:
    sample = shop.labels_sample(*PAIR, budget=60, **OF_JUDGE).sample
    (design,) = designs(shop)
    assert (design.number, design.budget, design.seed, design.checked_by) == (1, 60, "s", None)
    assert (design.runs, design.metric) == ((DesignRunRecord(1, "dense"), DesignRunRecord(2, "stylish")), "ndcg@10")
    assert (design.n_looks, design.look, design.planned_budget, design.not_tuned) == (1, 1, 60, False)
    items = drawn(shop)
    assert len(items) == sample.n_drawn == len(sample.items) == pytest.approx(60, abs=25)
    assert {(item.group, item.item) for item in sample.items} == items.keys()
    assert [(item.group, item.item) for item in sample.items] != sorted(items)
    assert all(0 < probability <= 1 and grade is None for probability, grade in items.values())
    again = shop.labels_sample(*PAIR, budget=60, **OF_JUDGE).sample
    assert again == sample
    reversed_pair = shop.labels_sample(*PAIR[::-1], judge="llama", budget=60).sample
    assert (reversed_pair.design, reversed_pair.items) == (1, sample.items)


def test_a_budget_changes_until_somebody_answers(shop: Tracker) -> None:
    shop.labels_sample(*PAIR, budget=30, **OF_JUDGE)
    few = drawn(shop)
    larger = shop.labels_sample(*PAIR, judge="llama", budget=90).sample
    many = drawn(shop)
    assert larger.design == 1
    assert few.keys() < many.keys()
    assert all(few[pair][0] <= many[pair][0] for pair in few)
    assert len(shop.labels_sample(*PAIR, judge="llama", budget=30).sample.items) == len(few)
    assert drawn(shop) == few
    shop.labels_sample(*PAIR, judge="llama", budget=90)
    assert drawn(shop) == many
    answered(shop, n=1)
    smaller = refusal_of(errors.ConflictError, shop.labels_sample, *PAIR, judge="llama", budget=20)
    assert smaller == "design 1 has answers, and its budget cannot shrink from 90 to 20; give budget=90"
    more = refusal_of(errors.ConflictError, shop.labels_sample, *PAIR, judge="llama", budget=100)
    assert more == (
        "design 1 has answers, and a verdict on more of them would be a second look, which makes more errors than its "
        "level allows; give budget=90"
    )
    rest = shop.labels_sample(*PAIR, judge="llama", budget=90).sample
    assert (rest.n_answered, len(rest.items)) == (1, rest.n_drawn - 1)


def test_everything_may_be_drawn(shop: Tracker) -> None:
    sample = shop.labels_sample(*PAIR, budget=10_000, **OF_JUDGE).sample
    assert sample.n_drawn == sample.n_apart
    assert {probability for probability, _ in drawn(shop).values()} == {1.0}


def test_designs_of_a_dataset_share_their_random_numbers(shop: Tracker) -> None:
    shop.labels_sample(*PAIR, budget=60, **OF_JUDGE)
    shop.labels_sample("dense", "other", judge="llama", budget=60)
    one, two = drawn(shop, 1), drawn(shop, 2)
    assert [design.seed for design in designs(shop)] == ["s", "s"]
    shared = one.keys() & two.keys()
    assert len(shared) > 10
    refused = refusal_of(errors.ConflictError, shop.labels_sample, *PAIR, judge="llama", budget=60, seed="t")
    assert refused == "the random numbers of dataset 'shop' always have the seed 's', not 't'; leave out seed="


def test_without_a_seed_a_dataset_has_a_random_one(shop: Tracker) -> None:
    shop.labels_sample(*PAIR, judge="llama", budget=60)
    assert len(designs(shop)[0].seed) == 32


def test_what_is_stored_after_the_first_answer_gets_numbers_of_its_own(shop: Tracker) -> None:
    shop.labels_sample(*PAIR, budget=60, **OF_JUDGE)
    answered(shop, n=1)
    shop.labels_sample("dense", "other", judge="llama", budget=60)
    shop.ingest(RUNS["other"], labels=LABELS, judge="llama", name="tuned", dataset="shop")
    shop.labels_sample("dense", "tuned", judge="llama", budget=60)
    more = {**LABELS, "label": [3 - int(str(grade)) for grade in LABELS["label"]]}
    shop.add_labels(more, judge="llama", dataset="shop")
    shop.labels_sample(*PAIR, judge="llama", budget=60)
    assert [design.seed for design in designs(shop)] == ["s", "s", "s/3", "s/4"]
    assert drawn(shop, 2).keys() != drawn(shop, 3).keys()


@pytest.mark.parametrize("metric", ["AP", "RR@10", "ERR@10", "R@10"])
def test_metrics_that_are_no_sum_over_items_are_refused(shop: Tracker, metric: str) -> None:
    refused = refusal_of(errors.InputError, shop.labels_sample, *PAIR, budget=60, metric=metric, **OF_JUDGE)
    assert refused == (
        f"a difference in {metric} is not a sum over items, so judgments of a sample cannot correct it; "
        "use metric='ndcg@10'"
    )
    assert designs(shop) == []


@pytest.mark.parametrize(
    ("metric", "axis"),
    [
        ("ndcg(missing=skip)@10", "missing=skip"),
        ("ndcg(unjudged=drop)@10", "unjudged=drop"),
        ("dcg(ties=optimistic)@10", "ties=optimistic"),
    ],
)
def test_axes_that_are_not_covered_are_refused(shop: Tracker, metric: str, axis: str) -> None:
    refused = refusal_of(errors.InputError, shop.labels_sample, *PAIR, budget=60, metric=metric, **OF_JUDGE)
    assert refused == f"{metric}: checking a judge does not support {axis}; use metric='ndcg@10'"


def test_what_cannot_be_drawn_is_refused(shop: Tracker) -> None:
    def refused(*runs: str, **options: Any) -> str:
        return refusal_of(errors.NdcgTrackerError, shop.labels_sample, *runs, **{"budget": 60, **OF_JUDGE, **options})

    assert refused(*PAIR, budget=0) == "the budget must be 1 to 10,000,000 labels, not 0"
    assert refused("dense", "dense") == "run 'dense' cannot differ from itself; name two runs"
    assert refused("dense", "tag:a=b") == "checking a judge takes single runs, not arm 'tag:a=b'; name its runs"
    assert refused(*PAIR, judge="gpt") == (
        "dataset 'shop' has no labels of judge 'gpt', only those of judge 'llama'; choose with judge="
    )
    shop.ingest(RUNS["dense"], labels=LABELS, judge="llama", name="twin", dataset="shop")
    assert refused("dense", "twin") == "no item tells 'twin' and 'dense' apart under ndcg@10; name other runs"
    shop.prune("2999-01-01", apply=True)
    assert refused(*PAIR).startswith("run 'dense' was pruned at ")
    assert designs(shop) == []


def test_the_runs_of_a_design_are_kept_and_a_deleted_one_leaves_its_name(shop: Tracker) -> None:
    shop.labels_sample(*PAIR, budget=60, **OF_JUDGE)
    answered(shop)
    assert [run.run for run in shop.prune("2999-01-01", apply=True).runs] == ["other"]
    shop.delete_run("stylish", "shop")
    (design,) = designs(shop)
    assert design.runs == (DesignRunRecord(1, "dense"), DesignRunRecord(None, "stylish"))
    assert all(grade is not None for _, grade in drawn(shop).values())
    with shop.store().read() as tx:
        assert tx.damage() == []
    shop.ingest(RUNS["stylish"], labels=LABELS, judge="llama", name="stylish", dataset="shop")
    refused = refusal_of(errors.InputError, shop.compare, *PAIR, judge="llama", check_with="human")
    assert refused == (
        "no design of 'dense' and 'stylish' checks judge 'llama'; design 1 is of 'dense' and 'stylish', but one of "
        "them is deleted or replaced; draw one with: ndcg-track labels sample dense stylish --judge llama --budget N "
        "--dataset shop"
    )


def test_a_design_of_several_candidates_has_the_largest_weight_of_each_item(shop: Tracker) -> None:
    sample = shop.labels_sample("dense", ["stylish"], "other", budget=60, **OF_JUDGE).sample
    (design,) = designs(shop)
    assert [run.run for run in design.runs] == ["dense", "stylish", "other"]
    assert [run.name for run in sample.candidates] == ["stylish", "other"]
    together = drawn(shop)
    assert len(together) == sample.n_drawn == pytest.approx(60, abs=25)
    assert shop.labels_sample("other", "dense", "stylish", budget=60, judge="llama").sample.design == 1
    assert shop.labels_sample("dense", "stylish", "other", "stylish", budget=60, judge="llama").sample.design == 1
    everything = [
        shop.labels_sample("dense", name, budget=10_000, judge="llama").sample for name in ("stylish", "other")
    ]
    assert sample.n_apart == len(drawn(shop, 2).keys() | drawn(shop, 3).keys())
    assert [one.design for one in everything] == [2, 3]
    assert refusal_of(errors.InputError, shop.labels_sample, "dense", budget=60, judge="llama") == (
        "checking a judge takes two runs or more; name a candidate after the baseline"
    )


def test_probabilities_go_with_the_largest_weight_and_sum_to_the_budget(shop: Tracker) -> None:
    shop.labels_sample("dense", "stylish", "other", budget=60, **OF_JUDGE)
    with shop.store().read() as tx:
        runs = {run.name: run for run in tx.runs.all("shop")}
        (label_set,) = tx.labels.sets(1, "llama")
        others = [runs["stylish"], runs["other"]]
        pairs, _ = frozen_pairs(tx, label_set, runs["dense"], others, parse_metric("ndcg@10"))
    largest: dict[tuple[str, str], float] = {}
    for pair in pairs:
        names = zip(*(keys.to_list() for keys in pair.take(np.arange(pair.groups.size))), strict=True)
        for name, weight in zip(names, np.abs(pair.weights).tolist(), strict=True):
            largest[name] = max(weight, largest.get(name, 0.0))
    of_all = inclusion_probabilities(np.array(list(largest.values())), 60)
    assert of_all.sum() == pytest.approx(60)
    expected = dict(zip(largest, of_all.tolist(), strict=True))
    items = drawn(shop)
    assert {name: probability for name, (probability, _) in items.items()} == pytest.approx(
        {name: expected[name] for name in items}
    )


def check_probabilities(tracker: Tracker, number: int, answers: dict[tuple[str, str], float], budget: float) -> None:
    """Check the probabilities of a design of dense and other, which go with the spread of some answers."""
    metric = parse_metric("ndcg@10")
    with tracker.store().read() as tx:
        runs = {run.name: run for run in tx.runs.all("shop")}
        (pair,), _ = frozen_pairs(tx, tx.labels.sets(1, "llama")[0], runs["dense"], [runs["other"]], metric)
    items = list(zip(*(keys.to_list() for keys in pair.take(np.arange(pair.groups.size))), strict=True))
    judged = dict(zip(zip(LABELS["group"], LABELS["item"], strict=True), LABELS["label"], strict=True))
    levels, of_answers = (np.array([judged[item] for item in of], dtype=np.int64) for of in (items, answers))
    folds, folds_of_answers = (permanent_folds(group.encode() for group, _ in of) for of in (items, answers))
    gains = gains_of(metric, np.array(list(answers.values()), dtype=np.float64))
    spread = spread_of_gains(folds_of_answers, of_answers, gains, 5)[levels, folds]
    found = probabilities_by_spread(pair.weights, budget, folds, spread)
    expected = dict(zip(items, found.tolist(), strict=True))
    stored = {item: probability for item, (probability, _) in drawn(tracker, number).items()}
    assert stored == pytest.approx({item: expected[item] for item in stored})


def test_a_design_keeps_the_spread_of_what_was_answered_before_it_in_all_looks(shop: Tracker) -> None:
    shop.labels_sample("stylish", "other", looks=2, budget=60, **OF_JUDGE)
    answered(shop, 1)
    before = graded(shop)
    shop.labels_sample("dense", "other", judge="llama", budget=60, looks=2)
    check_probabilities(shop, 2, before, 30)
    one = drawn(shop, 2)
    answered(shop, 2)
    shop.labels_sample("stylish", "other", judge="llama", budget=60)
    answered(shop, 1)
    assert len(graded(shop)) > len(before)
    assert shop.labels_sample("dense", "other", judge="llama", budget=60).sample.look == 2
    check_probabilities(shop, 2, before, 60)
    two = drawn(shop, 2)
    assert one.keys() < two.keys()
    assert all(one[pair][0] <= two[pair][0] for pair in one)


def test_no_answers_count_whose_probabilities_go_with_answers(shop: Tracker) -> None:
    shop.labels_sample(*PAIR, budget=60, **OF_JUDGE)
    answered(shop, 1)
    shop.labels_sample("stylish", "other", judge="llama", budget=60)
    answered(shop, 2)
    shop.labels_sample("dense", "other", judge="llama", budget=60)
    check_probabilities(shop, 3, graded(shop, 1), 60)


def test_no_answers_count_on_another_scale_or_that_came_later(shop: Tracker) -> None:
    shop.labels_sample(*PAIR, budget=60, **OF_JUDGE)
    answered(shop, 1)
    shop.labels_sample("dense", "other", judge="llama", budget=40, scale=5)
    check_probabilities(shop, 2, {}, 40)
    shop.labels_sample("stylish", "other", judge="llama", budget=60, scale=5)
    answered(shop, 3)
    shop.labels_sample("dense", "other", judge="llama", budget=60)
    check_probabilities(shop, 2, {}, 60)


def test_looks_are_planned_and_drawn_one_after_another(shop: Tracker) -> None:
    def sample(budget: int = 100, **options: Any) -> Any:
        return shop.labels_sample(*PAIR, judge="llama", budget=budget, **options).sample

    def refused(**options: Any) -> str:
        return refusal_of(errors.ConflictError, sample, **options)

    first = sample(looks=3, seed="s")
    assert (first.look, first.n_looks, first.budget, first.planned_budget) == (1, 3, 33, 100)
    (design,) = designs(shop)
    assert (design.look, design.n_looks, design.budget, design.planned_budget) == (1, 3, 33, 100)
    assert sample() == first
    assert sample(looks=2).budget == 50
    assert sample(33, looks=1).n_looks == 1
    assert sample(looks=3) == first
    larger = sample(120, looks=3)
    assert (larger.budget, larger.planned_budget) == (40, 120)
    one, n_open = drawn(shop), len(larger.items) - 5
    answered(shop, n=5)
    assert refused(looks=2) == "design 1 is planned with 3 looks, not 2; give looks=3, or leave it out"
    assert refused(budget=120) == (
        f"design 1 waits for {n_open} answers before look 2 of 3; add them with: ndcg-track labels add FILE --judge "
        "human --design 1 --dataset shop; budget=40 gives the open items again"
    )
    assert len(sample(40).items) == n_open
    assert (
        refused(budget=150) == "design 1 has answers, and its 3 looks are planned with a budget of 120; give budget=120"
    )
    assert answered(shop).n_unanswered == 0
    second = sample(120)
    two = drawn(shop)
    assert (second.look, second.budget, second.n_answered) == (2, 80, len(one))
    assert one.keys() < two.keys()
    assert all(one[pair][0] <= two[pair][0] for pair in one)
    done = answered(shop)
    assert (done.n_unanswered, done.look, done.n_looks) == (0, 2, 3)
    assert (sample(120).look, drawn(shop).keys() > two.keys()) == (3, True)
    assert sample(120).look == 3
    answered(shop)
    assert refused(budget=120) == ("design 1 has had all of its 3 looks; compare these runs, or draw for others")
    assert (designs(shop)[0].look, designs(shop)[0].budget) == (3, 120)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"looks": 0}, "a design has 1 to 100 looks, not 0"),
        ({"looks": 101}, "a design has 1 to 100 looks, not 101"),
        ({"looks": 9, "budget": 8}, "9 looks need a budget of 9 labels or more, not 8; raise budget=, or lower looks="),
        ({"scale": 0.0}, "the highest grade of a scale must be above 0, not 0"),
        ({"scale": float("nan")}, "the highest grade of a scale must be above 0, not nan"),
        (
            {"scale": 2},
            "grades of judge 'llama' go up to 3, but answers would go up to 2; give scale=3 or more, or leave it out",
        ),
        (
            {"scale": 4.5},
            "grades of judge 'llama' are whole, so the highest grade of people cannot be 4.5; give scale=5",
        ),
    ],
)
def test_plans_that_cannot_be_are_refused(shop: Tracker, options: dict[str, Any], words: str) -> None:
    assert refusal_of(errors.InputError, shop.labels_sample, *PAIR, **{"budget": 60, **OF_JUDGE, **options}) == words
    assert designs(shop) == []


def test_people_may_have_a_scale_of_their_own(shop: Tracker) -> None:
    sample = shop.labels_sample(*PAIR, budget=60, scale=4, **OF_JUDGE).sample
    assert sample.greatest_grade == 4.0 == designs(shop)[0].greatest_grade
    (group, item), *_ = drawn(shop)

    def answer(grade: int) -> object:
        return shop.add_answers(
            {"group": [group], "item": [item], "label": [grade]}, design=1, judge="h", dataset="shop"
        )

    assert refusal_of(errors.InputError, answer, 5) == (
        f"group {group!r}, item {item!r}: grade 5 is off the scale of the design, whole grades 0 to 4; correct it, or "
        "leave it empty"
    )
    answer(4)
    again = refusal_of(errors.ConflictError, shop.labels_sample, *PAIR, judge="llama", budget=60, scale=5)
    assert again == "the scale of design 1 is up to 4, not up to 5; leave out scale="
    for scale, kept in ((3, None), (4, 4.0), (None, 4.0), (3, None)):
        sample = shop.labels_sample("dense", "other", judge="llama", budget=60, scale=scale).sample
        assert (sample.design, sample.greatest_grade) == (2, kept), "nobody has answered"
    answered(shop, 2, n=1)
    assert shop.labels_sample("dense", "other", judge="llama", budget=60, scale=3).sample.greatest_grade is None
    again = refusal_of(errors.ConflictError, shop.labels_sample, "dense", "other", judge="llama", budget=60, scale=4)
    assert again == "the scale of design 2 is that of the judge, not up to 4; leave out scale="


def test_answers_to_older_designs_are_known_to_one_with_numbers_of_its_own(shop: Tracker) -> None:
    shop.labels_sample(*PAIR, budget=100, **OF_JUDGE)
    answered(shop)
    shop.ingest(RUNS["other"], labels=LABELS, judge="llama", name="tuned", dataset="shop")
    known = drawn(shop)
    shop.labels_sample("dense", "tuned", judge="llama", budget=60)
    answered(shop, 2, n=1)
    sample = shop.labels_sample("dense", "tuned", judge="llama", budget=60).sample
    assert not drawn(shop, 2).keys() & known.keys()
    assert [note.kind for note in sample.notes] == ["own_numbers", "known_answers"]
    with shop.store().read() as tx:
        design = tx.designs.all(1)[1]
        grades = known_answers(tx, design)
        assert known_answers(tx, tx.designs.all(1)[0]) == {}
    assert grades == {pair: TRUE[pair] for pair in known}
    everything = shop.labels_sample("dense", "tuned", judge="llama", budget=10_000, metric="dcg@10").sample
    assert everything.n_known == sample.n_known + 1, "one more was answered"
    assert everything.n_drawn == everything.n_apart - everything.n_known
    assert sample.n_known > 20
    tuned = refusal_of(
        errors.ConflictError, shop.labels_sample, "dense", "tuned", judge="llama", budget=60, not_tuned=True
    )
    assert tuned == "design 2 was drawn with its own random numbers; leave out not_tuned="
    shop.labels_sample("dense", "tuned", judge="llama", budget=10_000, scale=4, metric="dcg@10")
    with shop.store().read() as tx:
        assert known_answers(tx, tx.designs.all(1)[2]) == {}, "they were given on another scale"
    answered(shop, 3, judge="ann")
    shop.ingest(RUNS["stylish"], labels=LABELS, judge="llama", name="later", dataset="shop")
    shop.labels_sample("dense", "later", judge="llama", budget=60)
    with shop.store().read() as tx:
        assert known_answers(tx, tx.designs.all(1)[3]).keys() == (known | drawn(shop, 2)).keys() - {
            pair for pair, (_, grade) in drawn(shop, 2).items() if grade is None
        }, "ann answered on another scale"


def test_of_several_people_nothing_is_known(shop: Tracker) -> None:
    def known(number: int) -> dict[tuple[str, str], float]:
        with shop.store().read() as tx:
            return known_answers(tx, tx.designs.all(1)[number - 1])

    shop.labels_sample(*PAIR, budget=60, **OF_JUDGE)
    shop.labels_sample("dense", "other", judge="llama", budget=60)
    answered(shop, judge="bob")
    shop.ingest(RUNS["other"], labels=LABELS, judge="llama", name="tuned", dataset="shop")
    shop.labels_sample("stylish", "tuned", judge="llama", budget=60)
    of_bob = known(3)
    assert of_bob == {pair: TRUE[pair] for pair in drawn(shop)}
    answered(shop, 2, judge="eva")
    assert known(3) == of_bob, "what was there when it was drawn"
    assert shop.labels_sample("stylish", "tuned", judge="llama", budget=80).sample.n_known > 0
    sample = shop.labels_sample("stylish", "tuned", judge="llama", budget=10_000, metric="dcg@10").sample
    assert known(4) == {}
    assert (sample.n_known, sample.n_drawn) == (0, sample.n_apart)
    assert [note.kind for note in sample.notes] == ["own_numbers"]


def test_what_is_said_not_to_be_tuned_has_the_old_numbers(shop: Tracker) -> None:
    shop.labels_sample(*PAIR, budget=60, **OF_JUDGE)
    answered(shop)
    shop.ingest(RUNS["other"], labels=LABELS, judge="llama", name="tuned", dataset="shop")
    sample = shop.labels_sample("dense", "tuned", judge="llama", budget=60, not_tuned=True).sample
    older = shop.labels_sample("dense", "other", judge="llama", budget=60, not_tuned=True).sample
    assert [(design.seed, design.not_tuned) for design in designs(shop)] == [("s", False), ("s", True), ("s", False)]
    assert (sample.not_tuned, older.not_tuned) == (True, False)
    assert [note.kind for note in sample.notes] == ["said_not_tuned", "shared_answers"]
    assert drawn(shop, 2).keys() == drawn(shop, 3).keys()


def test_a_design_without_an_answer_may_get_the_old_numbers(shop: Tracker) -> None:
    shop.labels_sample(*PAIR, budget=60, **OF_JUDGE)
    answered(shop)
    shop.ingest(RUNS["other"], labels=LABELS, judge="llama", name="tuned", dataset="shop")
    sample = shop.labels_sample("dense", "tuned", judge="llama", budget=60).sample
    (own, *_) = sample.notes
    assert own.command == (
        *("ndcg-track", "labels", "sample", "dense", "tuned", "--judge", "llama", "--dataset", "shop"),
        *("--budget", "60", "--not-tuned"),
    )
    created = designs(shop)[1].created_at_utc
    anew = shop.labels_sample("dense", "tuned", judge="llama", budget=60, not_tuned=True).sample
    assert (anew.design, anew.n_known, [note.kind for note in anew.notes]) == (
        2,
        0,
        ["said_not_tuned", "shared_answers"],
    )
    shop.labels_sample("dense", "other", judge="llama", budget=60)
    assert drawn(shop, 2) == drawn(shop, 3)
    assert shop.labels_sample("dense", "tuned", judge="llama", budget=60).sample == anew, "it stays on record"
    design = designs(shop)[1]
    assert (design.seed, design.not_tuned, design.created_at_utc) == ("s", True, created)
