"""Store two LightGBM trainings, print a learning curve, and compare the two final models."""

import lightgbm as lgb
import numpy as np

import ndcg_tracker as nt
from ndcg_tracker.integrations.lightgbm import TrainingRuns


def queries(seed, n_groups, size=20):
    random = np.random.default_rng(seed)
    features = random.normal(size=(n_groups * size, 5))
    signal = features[:, 0] + features[:, 1] * features[:, 2] + random.normal(size=len(features))
    return features, np.clip(signal, 0, 4).astype(int), np.full(n_groups, size)


features, labels, sizes = queries(1, 100)
valid_features, valid_labels, valid_sizes = queries(2, 200)
train = lgb.Dataset(features, labels, group=sizes)
valid = lgb.Dataset(valid_features, valid_labels, group=valid_sizes, reference=train)

for name, n_leaves in (("stumps", 2), ("trees", 8)):
    runs = TrainingRuns(valid_features, valid_labels, group_sizes=valid_sizes, name=name, every=10)
    parameters = {"objective": "lambdarank", "eval_at": [10], "num_leaves": n_leaves, "verbose": -1, "num_threads": 1}
    stop = lgb.early_stopping(20, verbose=False)
    model = lgb.train(parameters, train, 60, valid_sets=[valid], callbacks=[runs, stop])
    runs.store(model)

with nt.Tracker() as tracker:
    curve = tracker.history("ndcg@10", tags={"training": "trees", "stage": "iteration"})
    print(curve[["run", "mean"]].round(4).to_string(index=False))
    print(tracker.compare("stumps", "trees", top=3))
