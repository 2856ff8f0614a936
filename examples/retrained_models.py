"""Compare models that differ only in the seed: as single trainings, as arms, and at a gate.

This trains 40 LightGBM rankers with one recipe and ranks 600 test queries. Any difference between two of the models is
chance. It needs lightgbm. For fewer models, give their number on the command line.
"""

import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import lightgbm
import numpy as np

import ndcg_tracker as nt

MODELS = int(sys.argv[1]) if len(sys.argv) > 1 else 40
DATASET = {"dataset": "ltr"}


def queries(seed, n_groups, size=20):
    random = np.random.default_rng(seed)
    features = random.normal(size=(n_groups * size, 12))
    signal = features[:, 0] + features[:, 1] * features[:, 2] + random.normal(size=len(features)) * 1.5
    return features, np.clip(signal, 0, 4).astype(int), np.repeat(np.arange(n_groups), size)


def trained(features, labels, group, seed):
    recipe = {"objective": "lambdarank", "learning_rate": 0.1, "num_leaves": 15, "bagging_fraction": 0.6}
    recipe |= {"bagging_freq": 1, "feature_fraction": 0.7}
    sizes = np.unique(group, return_counts=True)[1]
    data = lightgbm.Dataset(features, labels, group=sizes)
    return recipe, lightgbm.train(recipe | {"seed": seed, "verbose": -1, "num_threads": 1}, data, num_boost_round=40)


features, labels, group = queries(1, 200)
test_features, test_labels, test_group = queries(2, 600)
with TemporaryDirectory() as folder, nt.Tracker(Path(folder, "seeds.db")) as tracker:
    for seed in range(MODELS):
        recipe, model = trained(features, labels, group, seed)
        frame = {"group": test_group, "item": np.arange(len(test_group)) % 20, "label": test_labels}
        tracker.ingest(
            frame | {"score": model.predict(test_features)},
            name=f"seed-{seed:02}",
            parameters=recipe | {"seed": seed},
            tags={"aa": "ranker", "four": seed // 4},
            **DATASET,
        )
    means = np.array([tracker.run(f"seed-{seed:02}")[1][0].mean for seed in range(MODELS)])
    print(f"{MODELS} trainings: mean ndcg@10 {means.mean():.4f}, sd {means.std(ddof=1):.4f}")

    pairs = [(f"seed-{seed:02}", f"seed-{seed + 1:02}") for seed in range(0, MODELS, 2)]
    single = [tracker.compare(*pair, **DATASET) for pair in pairs]
    n_found = sum(one.comparisons[0].metrics[0].verdict != "no_difference_detected" for one in single)
    print(f"compare of single trainings: a difference in {n_found} of {len(pairs)} pairs; each says:")
    print(" ", next(note for note in single[0].notes if note.startswith("repeated trainings")))

    arms = [(f"tag:four={arm}", f"tag:four={arm + 1}") for arm in range(0, MODELS // 4 - 1, 2)]
    n_found = sum(
        tracker.compare(*arm, **DATASET).comparisons[0].metrics[0].verdict != "no_difference_detected" for arm in arms
    )
    print(f"compare of arms of four: a difference in {n_found} of {len(arms)} pairs")

    for margin in (0.005, "auto"):
        decided = Counter(
            tracker.gate(other, baseline=one, margin=margin, dry_run=True, **DATASET).gated.decision.decision
            for one, other in pairs
        )
        print(f"gate with margin {margin}: {dict(sorted(decided.items()))}")
    print("steps in the history:", int(tracker.history("ndcg@10", **DATASET)["step"].sum()))
