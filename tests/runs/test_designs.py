"""Designs: what is drawn and stored, what is taken as an answer, and what is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from judged_worlds import world
from refused import refusal_of

from ndcg_tracker import Tracker, errors
from ndcg_tracker.storage.records import DesignRecord, DesignRunRecord

pytestmark = pytest.mark.both_engines
RUNS, LABELS, TRUE = world()
PAIR = ("dense", "stylish")
OF_JUDGE: dict[str, Any] = {"judge": "llama", "seed": "s"}


def fill_world(url: str) -> None:
    with Tracker(url) as tracker:
        for name, frame in RUNS.items():
            tracker.ingest(frame, labels=LABELS, judge="llama", name=name, dataset="shop")


@pytest.fixture
def shop(fill_as: Callable[[Callable[[str], object]], None], tracker: Tracker) -> Tracker:
    fill_as(fill_world)
    return tracker


def designs(tracker: Tracker) -> list[DesignRecord]:
    with tracker.store().read() as tx:
        return tx.designs.all(tx.datasets.known("shop").id)


def drawn(tracker: Tracker, number: int = 1) -> dict[tuple[str, str], tuple[float, float | None]]:
    with tracker.store().read() as tx:
        dataset = tx.datasets.known("shop")
        (design,) = (of for of in tx.designs.all(dataset.id) if of.number == number)
        ids, keys = tx.groups.all(dataset.id)
        key_of = dict(zip(ids.tolist(), keys.to_list(), strict=True))
        items = tx.designs.items(design.id)
        return {(key_of[item.group_id], item.item_key): (item.probability, item.grade) for item in items}


def answered(tracker: Tracker, design: int = 1, judge: str = "human", n: int | None = None) -> Any:
    pairs = list(drawn(tracker, design))[:n]
    frame = {
        "group": [group for group, _ in pairs],
        "item": [item for _, item in pairs],
        "label": [TRUE[pair] for pair in pairs],
    }
    return tracker.add_answers(frame, design=design, judge=judge, dataset="shop")


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


def test_a_larger_budget_enlarges_it_until_somebody_answers(shop: Tracker) -> None:
    shop.labels_sample(*PAIR, budget=30, **OF_JUDGE)
    few = drawn(shop)
    larger = shop.labels_sample(*PAIR, judge="llama", budget=90).sample
    many = drawn(shop)
    assert larger.design == 1
    assert few.keys() < many.keys()
    assert all(few[pair][0] <= many[pair][0] for pair in few)
    smaller = refusal_of(errors.ConflictError, shop.labels_sample, *PAIR, judge="llama", budget=20)
    assert smaller == "design 1 was drawn with a budget of 90, and does not shrink to 20; give budget=90 or more"
    answered(shop, n=1)
    more = refusal_of(errors.ConflictError, shop.labels_sample, *PAIR, judge="llama", budget=100)
    assert more == (
        "design 1 has answers, and a verdict on more of them would be a second look, which errs more often than it "
        "says; give budget=90"
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
    assert refused == "the random numbers of dataset 'shop' have the seed 's' for good, not 't'; leave out seed="


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


@pytest.mark.parametrize("metric", ["AP", "RR@10", "ERR@10", "Success@1", "R@10"])
def test_metrics_that_are_no_sum_over_items_are_refused(shop: Tracker, metric: str) -> None:
    refused = refusal_of(errors.InputError, shop.labels_sample, *PAIR, budget=60, metric=metric, **OF_JUDGE)
    assert refused == (
        f"a difference in {metric} is no sum over items, so answers to a sample do not correct it; use metric='ndcg@10'"
    )
    assert designs(shop) == []


@pytest.mark.parametrize(
    ("metric", "axis"),
    [
        ("ndcg(missing=skip)@10", "missing=skip"),
        ("ndcg(weights=group)@10", "weights=group"),
        ("ndcg(unjudged=drop)@10", "unjudged=drop"),
        ("dcg(ties=optimistic)@10", "ties=optimistic"),
    ],
)
def test_axes_that_are_not_covered_are_refused(shop: Tracker, metric: str, axis: str) -> None:
    refused = refusal_of(errors.InputError, shop.labels_sample, *PAIR, budget=60, metric=metric, **OF_JUDGE)
    assert refused == f"{metric}: a judge is not checked under {axis}; use metric='ndcg@10'"


def test_what_cannot_be_drawn_is_refused(shop: Tracker) -> None:
    def refused(*runs: str, **options: Any) -> str:
        return refusal_of(errors.NdcgTrackerError, shop.labels_sample, *runs, **{"budget": 60, **OF_JUDGE, **options})

    assert refused(*PAIR, budget=0) == "the budget must be 1 to 10,000,000 labels, not 0"
    assert refused("dense", "dense") == "run 'dense' cannot differ from itself; name two runs"
    assert refused("dense", "tag:a=b") == "a judge is checked on single runs, not on arm 'tag:a=b'; name its runs"
    assert refused(*PAIR, judge="gpt") == (
        "dataset 'shop' has no labels of judge 'gpt', but those of judge 'llama'; choose with judge="
    )
    shop.ingest(RUNS["dense"], labels=LABELS, judge="llama", name="twin", dataset="shop")
    assert refused("dense", "twin") == "no item tells 'twin' and 'dense' apart under ndcg@10; name other runs"
    shop.prune("2999-01-01", apply=True)
    assert refused(*PAIR).startswith("run 'dense' was pruned at ")
    assert designs(shop) == []


def test_answers_are_stored_once_and_make_no_version_of_labels(shop: Tracker) -> None:
    n = shop.labels_sample(*PAIR, budget=60, **OF_JUDGE).sample.n_drawn
    first = answered(shop, n=10)
    assert (first.n_new, first.n_known, first.n_unanswered) == (10, 0, n - 10)
    every = answered(shop)
    assert (every.n_new, every.n_known, every.n_unanswered) == (n - 10, 10, 0)
    assert [(version.judge, version.version) for version in shop.label_versions("shop")] == [("llama", 1)]
    assert {pair: grade for pair, (_, grade) in drawn(shop).items()} == {pair: TRUE[pair] for pair in drawn(shop)}
    (design,) = designs(shop)
    assert (design.checked_by, design.answered_after_run_id, design.answered_after_label_set_id) == ("human", 3, 1)


def test_answers_that_would_bias_are_refused_with_their_line(shop: Tracker, tmp_path: Path) -> None:
    shop.labels_sample(*PAIR, budget=60, **OF_JUDGE)
    pairs = list(drawn(shop))
    (left_out,) = [pair for pair in TRUE if pair not in pairs][:1]
    group, item = pairs[1]

    def refused(*rows: tuple[str, str, object], **options: Any) -> str:
        lines = ["group,item,label,could_move", *(f"{group},{item},{grade}," for group, item, grade in rows)]
        path = tmp_path / "answers.csv"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        call = {"design": 1, "judge": "human", "dataset": "shop", **options}
        return refusal_of(errors.NdcgTrackerError, shop.add_answers, str(path), **call).replace(f"{tmp_path}/", "")

    assert refused((*pairs[0], 1), (*left_out, 1)) == (
        f"answers.csv:3: group {left_out[0]!r}, item {left_out[1]!r} was not drawn by design 1; the answer would bias "
        "it; leave it out, or keep it apart with keep_others=True"
    )
    assert refused((*pairs[0], 1), ("no such", "d1", 1)) == (
        "answers.csv:3: group 'no such', item 'd1' was not drawn by design 1; the answer would bias it; leave it out, "
        "or keep it apart with keep_others=True"
    )
    for grade in (4, 1.5, -1):
        assert refused((group, item, grade)) == (
            f"answers.csv:2: group {group!r}, item {item!r}: grade {grade} is off the scale of judge 'llama', whole "
            "grades 0 to 3; correct it, or leave it empty"
        )
    assert refused((group, item, 1), (group, item, 2)).startswith("answers.csv:3: ")
    assert refused((group, item, 1), design=7) == (
        "there is no design 7 of dataset 'shop' (it has 1 alone); draw one with: ndcg-track labels sample A B --judge "
        "JUDGE --budget N"
    )
    assert refused((group, item, 1), judge="llama") == (
        "design 1 checks judge 'llama', who cannot answer it; name another judge="
    )
    assert refused((group, item, 1), judge="") == "answers to a design have a name; say whose they are with judge="
    assert all(grade is None for _, grade in drawn(shop).values())
    answered(shop, n=2)
    other = (TRUE[pairs[1]] + 1) % 4
    assert refused((*pairs[3], 1), (group, item, other)) == (
        f"answers.csv:3: group {group!r}, item {item!r} was answered with {TRUE[pairs[1]]}, not {other}; an answer "
        "stays; leave it out"
    )
    assert refused((*pairs[3], 1), judge="somebody") == (
        "design 1 is answered by 'human', not by 'somebody'; give judge='human'"
    )
    assert sum(grade is not None for _, grade in drawn(shop).values()) == 2


def test_an_empty_cell_stays_to_be_answered(shop: Tracker, tmp_path: Path) -> None:
    result = shop.labels_sample(*PAIR, budget=60, **OF_JUDGE)
    path = tmp_path / "ask.csv"
    result.save(path)
    head, first, *rest = path.read_text(encoding="utf-8").splitlines()
    assert head == "group,item,label,could_move"
    assert first.endswith(",,")
    path.write_text("\n".join([head, first[:-1] + "2,", *rest]) + "\n", encoding="utf-8")
    done = shop.add_answers(str(path), design=1, judge="human", dataset="shop")
    assert (done.n_new, done.n_unanswered) == (1, result.sample.n_drawn - 1)


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
    refused = refusal_of(errors.InputError, shop.compare_checked, *PAIR, judge="llama", check_with="human")
    assert refused == (
        "no design of 'dense' and 'stylish' checks judge 'llama'; design 1 is of 'dense' and 'stylish', of which one "
        "is deleted or replaced; draw one with: ndcg-track labels sample dense stylish --judge llama --budget N"
    )
