"""The validation rankings of a LightGBM training: a callback for every n-th iteration, and ``store`` for the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ndcg_tracker.errors import InputError
from ndcg_tracker.integrations import library, training
from ndcg_tracker.runs.ingest import IngestResult

THREADS = ("n_jobs", "nthreads", "nthread", "num_thread", "num_threads")
"""The names of LightGBM's number of threads; the last one that is given holds."""


class TrainingRuns(training.TrainingRuns):
    """Stores the validation rankings of a LightGBM training (see ``training.TrainingRuns`` for the parameters).

    Pass it as a callback to store every n-th iteration during the training, and pass the model to ``store``.
    ``features``: an array, a frame or a sparse matrix, not a Dataset. The scores are raw scores, from which LightGBM
    also computes its own NDCG.

    >>> import lightgbm as lgb, numpy as np, tempfile
    >>> features, labels = np.arange(60.0).reshape(-1, 1), np.arange(60) % 3
    >>> data = lgb.Dataset(features, labels, group=[6] * 10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     runs = TrainingRuns(features, labels, group_sizes=[6] * 10, name="one", every=1, database=f"{folder}/db")
    ...     model = lgb.train({"objective": "lambdarank", "verbose": -1}, data, 2, callbacks=[runs])
    ...     _ = runs.store(model)
    >>> [result.run for result in runs.stored]
    ['one/iter-0001', 'one/iter-0002', 'one']
    """

    def __call__(self, env: Any) -> None:
        """Store the ranking of this iteration if it is an n-th one.

        LightGBM calls this after every iteration, before its own callbacks, because early stopping would end the round.
        """
        if not isinstance(env.model, library("lightgbm").Booster):
            raise InputError("lightgbm.cv trains several models at once", advice="pass TrainingRuns to lightgbm.train")
        if env.iteration == env.begin_iteration:
            self.stored.clear()
        iteration = env.iteration + 1
        if self._wants(iteration):
            parameters = self._with_data(env.params, env.model.feature_name())
            self._store_iteration(iteration, self._scores(env.model, -1, env.params), parameters)

    def store(self, model: Any, *, iteration: int | None = None) -> IngestResult:
        """Store the ranking of a finished model as the run ``name``, and return the result.

        Parameters: ``model``: a Booster or a fitted LGBMRanker (or any other LGBMModel). ``iteration``: how many
        iterations to rank with, by default up to the best one if early stopping found one, else all.
        """
        booster = model if isinstance(model, library("lightgbm").Booster) else getattr(model, "booster_", None)
        if booster is None:
            raise InputError(f"store takes a Booster or a fitted LGBMRanker, not a {type(model).__name__}")
        best = booster.best_iteration if booster.best_iteration > 0 else None
        used = self._chosen(iteration, booster.current_iteration()) or best or booster.current_iteration()
        parameters = self._with_data(booster.params, booster.feature_name())
        return self._store_final(used, best, self._scores(booster, used, booster.params), parameters)

    def _prepared(self, features: Any) -> Any:
        if isinstance(features, library("lightgbm").Dataset):
            raise InputError("LightGBM cannot predict from a Dataset", advice="give the features as an array or frame")
        return features

    def _scores(self, booster: Any, iterations: int, given: Mapping[str, Any]) -> Any:
        # Without a number of its own, predict sets the threads of the whole process, those of the training included.
        named = [given[name] for name in THREADS if given.get(name) is not None]
        threads = {"num_threads": named[-1]} if named else {}
        return booster.predict(self._features, raw_score=True, num_iteration=iterations, **threads)
