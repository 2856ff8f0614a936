"""Store each trial of an Optuna study as a run: compare, explain and gate any two; choose by the leaderboard.

Of many trials, the one with the best mean was often lucky. The leaderboard has the interval of each, and tests all
pairs. Compare the winner with the baseline on queries that the study has not seen.

Run it with: python examples/optuna_study.py (pip install optuna)
"""

import numpy as np
import optuna

from ndcg_tracker import Tracker

random = np.random.default_rng(5)
grades = random.integers(0, 3, size=(60, 10))  # 60 queries of ten products
text, clicks = (grades + random.normal(scale=scale, size=grades.shape) for scale in (2.0, 1.5))
rows = {
    "group": np.repeat([f"q{number}" for number in range(60)], 10),
    "item": np.tile([f"p{number}" for number in range(10)], 60),
    "label": grades.ravel(),
}

optuna.logging.set_verbosity(optuna.logging.WARNING)
study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=1))
with Tracker() as tracker:

    def objective(trial: optuna.Trial) -> float:
        weight = trial.suggest_float("weight", 0.0, 1.0)
        scores = weight * text + (1 - weight) * clicks
        stored = tracker.ingest(
            {**rows, "score": scores.ravel()},
            name=f"fusion/trial-{trial.number:04}",
            metrics=["ndcg@5"],
            parameters=trial.params,
            tags={"study": "fusion"},
        )
        return stored.metrics[0].mean

    study.optimize(objective, n_trials=5)
    print(f"best mean: trial {study.best_trial.number}, {study.best_value:.4f}")
    print(tracker.leaderboard("fusion/*", metrics=["ndcg@5"]))
