"""Store every 20th iteration of a CatBoost training, and print the learning curve."""

import catboost
import numpy as np

import ndcg_tracker as nt
from ndcg_tracker.integrations.catboost import TrainingRuns


def queries(seed, n_groups, size=20):
    random = np.random.default_rng(seed)
    features = random.normal(size=(n_groups * size, 5))
    signal = features[:, 0] + features[:, 1] * features[:, 2] + random.normal(size=len(features))
    return features, np.clip(signal, 0, 4).astype(int), np.repeat(np.arange(n_groups), size)


features, labels, group = queries(1, 100)
valid_features, valid_labels, valid_group = queries(2, 200)
model = catboost.CatBoostRanker(
    loss_function="QueryRMSE",
    eval_metric="NDCG:top=10;type=Base",
    iterations=100,
    learning_rate=0.1,
    thread_count=1,
    verbose=False,
    allow_writing_files=False,
)
valid = catboost.Pool(valid_features, valid_labels, group_id=valid_group)
model.fit(features, labels, group_id=group, eval_set=valid)

runs = TrainingRuns(valid_features, valid_labels, group=valid_group, name="ranker", every=20)
final = runs.store(model)

with nt.Tracker() as tracker:
    curve = tracker.history("ndcg@10", tags={"training": "ranker", "stage": "iteration"})
    print(curve[["run", "mean", "delta"]].round(4).to_string(index=False))
    print(
        f"{final.run}: {final.metrics[0].mean:.4f} with {tracker.run('ranker')[0].parameters['iteration']} iterations"
    )
