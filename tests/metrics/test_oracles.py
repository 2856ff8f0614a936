"""Agreement with trec_eval's own C code and scikit-learn, on fresh random data (the seed is in the test's name)."""

import random

import numpy as np
import pytest
import pytrec_eval
from rankings_of import joined, results
from sklearn.metrics import ndcg_score

from ndcg_tracker.metrics import group_results, parse_metric

SEED = random.SystemRandom().randrange(10**6)


@pytest.mark.parametrize("seed", [1, SEED])
def test_trec_eval(seed: int) -> None:
    rng = np.random.default_rng(seed)
    items = [f"d{number}" for number in range(300)]
    run, qrels = {}, {}
    for group in range(60):
        listed = rng.choice(items, rng.integers(1, 200), replace=False)
        scores = rng.normal(size=listed.size).round(int(rng.integers(1, 4)))
        run[f"q{group}"] = dict(zip(map(str, listed), scores.astype(np.float32).astype(float).tolist(), strict=True))
        pool = rng.choice(items, rng.integers(1, 60), replace=False)
        qrels[f"q{group}"] = dict(zip(map(str, pool), rng.integers(-1, 5, pool.size).tolist(), strict=True))
    peer = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg", "ndcg_cut.1,5,10,100"}).evaluate(run)
    labels = {group: {item: float(grade) for item, grade in pool.items()} for group, pool in qrels.items()}
    texts = {"ndcg": "ndcg"} | {f"ndcg_cut_{cutoff}": f"ndcg@{cutoff}" for cutoff in (1, 5, 10, 100)}
    found = group_results(joined(run, labels), [parse_metric(text) for text in texts.values()])
    for name, ours in zip(texts, found, strict=True):
        theirs = [peer[group][name] for group in ours.group_keys.to_list()]
        np.testing.assert_allclose(ours.values, theirs, rtol=0, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("seed", [1, SEED])
def test_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(30):
        size = int(rng.integers(2, 60))
        grades, scores = rng.integers(0, 5, size).astype(float), rng.integers(0, 12, size).astype(float)
        for cutoff in (None, 1, 5, 10):
            theirs = ndcg_score(grades[None], scores[None], k=cutoff)
            names = [f"d{place}" for place in range(size)]
            text = "ndcg(ties=average)" + (f"@{cutoff}" if cutoff else "")
            ours = results(
                text,
                {"q": dict(zip(names, scores.tolist(), strict=True))},
                {"q": dict(zip(names, grades.tolist(), strict=True))},
            )
            assert ours.values[0] == pytest.approx(theirs, abs=1e-12)
