"""Store an XGBoost training, query its learning curve with SQL, and compare an early iteration with the final model."""

import numpy as np
import xgboost as xgb

import ndcg_tracker as nt
from ndcg_tracker.integrations.xgboost import TrainingRuns

CURVE = """
SELECT CAST(p.value AS INTEGER) AS iteration, round(CAST(s.mean AS NUMERIC), 4) AS mean
FROM run_summary s
JOIN run_parameters p ON p.run_id = s.run_id AND p.name = 'iteration'
JOIN run_tags t ON t.run_id = s.run_id AND t.name = 'stage' AND t.value = 'iteration'
WHERE s.run LIKE 'ranker/%' AND s.metric = 'ndcg@10' AND s.is_newest_labels ORDER BY iteration"""


def queries(seed, n_groups, size=20):
    random = np.random.default_rng(seed)
    features = random.normal(size=(n_groups * size, 5))
    signal = features[:, 0] + features[:, 1] * features[:, 2] + random.normal(size=len(features))
    return features, np.clip(signal, 0, 4).astype(int), np.repeat(np.arange(n_groups), size)


features, labels, qid = queries(1, 100)
valid_features, valid_labels, valid_qid = queries(2, 200)
train = xgb.DMatrix(features, labels, qid=qid)
valid = xgb.DMatrix(valid_features, valid_labels, qid=valid_qid)

runs = TrainingRuns(valid, valid_labels, group=valid_qid, name="ranker", every=10)
parameters = {"objective": "rank:ndcg", "eta": 0.1, "max_depth": 3, "nthread": 1}
runs.store(xgb.train(parameters, train, 40, callbacks=[runs]))

with nt.Tracker() as tracker:
    print(tracker.sql(CURVE).to_string(index=False))
    print(tracker.compare("ranker/iter-0010", "ranker", top=3))
