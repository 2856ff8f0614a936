"""Run a grid search by NDCG in scikit-learn, and compare two models on queries that they have not seen."""

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline

import ndcg_tracker as nt
from ndcg_tracker.integrations.sklearn import ndcg_scorer

random = np.random.default_rng(1)
shop = pd.DataFrame(random.normal(size=(4000, 3)), columns=["match", "sales", "price"])
signal = shop["match"] + shop["sales"] * shop["price"] + random.normal(size=4000)
labels = np.clip(signal, 0, 4).astype(int)
shop["query"] = [f"q{number // 20}" for number in range(4000)]
features = make_column_transformer(("passthrough", ["match", "sales", "price"]))  # the query is not a feature

trees = make_pipeline(features, HistGradientBoostingRegressor(max_iter=30, random_state=1))
search = GridSearchCV(
    trees,
    {"histgradientboostingregressor__max_leaf_nodes": [2, 8, 16]},
    scoring=ndcg_scorer("ndcg@10", group="query"),
    cv=GroupKFold(3),
    error_score="raise",
).fit(shop, labels, groups=shop["query"])
print(pd.DataFrame(search.cv_results_)[["params", "mean_test_score"]].round(4).to_string(index=False))

with nt.Tracker() as tracker:
    for name, model in (("ridge", make_pipeline(features, Ridge())), ("trees", search.best_estimator_)):
        scores = cross_val_predict(model, shop, labels, groups=shop["query"], cv=GroupKFold(3))
        tracker.ingest({"group": shop["query"], "score": scores, "label": labels}, name=name)
    print(tracker.compare("ridge", "trees", top=3))
