"""Items that have the id of their group, which ``own=drop`` takes out of the list before anything else."""

import numpy as np
import pytest
import pytrec_eval
from drawn_cases import NUMBERS
from random_rankings import SEEDS, random_case
from rankings_of import Run, joined, results

from ndcg_tracker.metrics.contributions import contributions
from ndcg_tracker.metrics.kernel.values import group_values, tie_bounds
from ndcg_tracker.metrics.language.measures import MEASURES
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric

LISTED = [measure for measure in MEASURES.values() if measure.is_listed]


def with_own(seed: int) -> tuple[Run, Run, Run]:
    """Return a run with its groups' ids among the items, its labels likewise, and the run without these items."""
    run, labels = random_case(seed)
    random = np.random.default_rng(seed)
    for group, items in run.items():
        if random.random() < 0.7:
            items[group] = float(random.choice(list(items.values())))
    for group, pool in labels.items():
        if random.random() < 0.5:
            pool[group] = 2.0
    first = next(iter(run))
    run[first] = {first: 1.0}  # nothing is left of it
    return run, labels, {group: {i: s for i, s in items.items() if i != group} for group, items in run.items()}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("cutoff", [None, 3])
def test_it_is_as_if_the_item_had_not_been_retrieved(seed: int, cutoff: int | None) -> None:
    run, labels, without = with_own(seed)
    metrics = [
        Metric.of(measure.name, cutoff=cutoff, **axes)
        for measure in LISTED
        if measure.cutoff != ("required" if cutoff is None else "none")
        for axes in ({}, {"ties": "pessimistic"}, {"depth": "5", "ties": "item_asc"}, {"unjudged": "drop"})
    ]
    dropped = [metric.with_axes(own="drop") for metric in metrics]
    whole, lists = joined(run, labels), joined(without, labels)
    at = group_values(lists, [metrics[0]])[0].group_keys.to_list()
    for expected, found in zip(group_values(lists, metrics), group_values(whole, dropped), strict=True):
        places = [found.group_keys.to_list().index(group) for group in at]
        for numbers in NUMBERS:
            same = getattr(found, numbers)[places], getattr(expected, numbers)
            np.testing.assert_allclose(*same, rtol=0, atol=1e-12, err_msg=str(found.metric))
    for one, other in zip(tie_bounds(lists, metrics), tie_bounds(whole, dropped), strict=True):
        assert [bound.mean for bound in other] == pytest.approx([bound.mean for bound in one], rel=0, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_beir_drops_it_and_the_contributions_add_up(seed: int) -> None:
    run, labels, without = with_own(seed)
    qrels = {group: {item: int(grade) for item, grade in pool.items()} for group, pool in labels.items()}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10", "map_cut.10", "recall.10", "P.10"})
    expected = evaluator.evaluate(without)
    for text, name in (("NDCG", "ndcg_cut_10"), ("MAP", "map_cut_10"), ("Recall", "recall_10"), ("P", "P_10")):
        found = results(f"beir:{text}@10", run, labels)
        values = dict(zip(found.group_keys.to_list(), found.values.tolist(), strict=True))
        theirs = {group: numbers[name] for group, numbers in expected.items()}
        assert {group: values[group] for group in theirs} == pytest.approx(theirs, rel=0, abs=1e-12)
        assert found.mean is not None
        assert found.mean == round(found.mean, 5)  # half a unit may go either way, by the order of the sum
        assert found.mean == pytest.approx(np.mean(list(theirs.values())), rel=0, abs=5.0001e-6)
    split = contributions(joined(run, labels), parse_metric("beir:NDCG@10"))
    sums = np.bincount(split.groups, split.contributions, minlength=split.values.values.size)
    defined = ~np.isnan(split.values.values)
    np.testing.assert_allclose(sums[defined], split.values.values[defined], rtol=0, atol=1e-12)
    own = split.judged.ranking.item_keys.to_list().index(next(iter(run)))
    assert (split.ranks[own], split.contributions[own]) == (0, 0.0)


def test_only_the_beir_measures_of_pytrec_eval_do_so() -> None:
    run, labels = {"q": {"q": 2.0, "a": 1.0}}, {"q": {"a": 1.0}}
    assert [results(text, run, labels).mean for text in ("beir:P@1", "beir:MRR@1", "mteb:precision_at_1", "P@1")] == [
        1,
        0,
        0,
        0,
    ]
