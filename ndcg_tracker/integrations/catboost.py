"""The validation rankings of a CatBoost training: ``store`` takes them from the model that was fitted."""

from __future__ import annotations

from typing import Any

from ndcg_tracker.errors import InputError
from ndcg_tracker.integrations import library, training
from ndcg_tracker.runs.ingest import IngestResult


class TrainingRuns(training.TrainingRuns):
    """Stores the validation rankings of a CatBoost training (see ``training.TrainingRuns`` for the parameters).

    CatBoost's callbacks do not get the model, so this is not a callback: ``store`` ranks with every n-th iteration and
    with the finished model, using the trees that the model kept. ``features``: an array, a frame or a Pool.

    >>> import catboost, numpy as np, tempfile
    >>> features, labels, group = np.arange(60.0).reshape(-1, 1), np.arange(60) % 3, np.arange(60) // 6
    >>> model = catboost.CatBoostRanker(iterations=2, verbose=False, allow_writing_files=False)
    >>> model = model.fit(features, labels, group_id=group)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     runs = TrainingRuns(features, labels, group=group, name="one", every=1, database=f"{folder}/db")
    ...     _ = runs.store(model)
    >>> [result.run for result in runs.stored]
    ['one/iter-0001', 'one/iter-0002', 'one']
    """

    def store(self, model: Any, *, iteration: int | None = None) -> IngestResult:
        """Store every n-th iteration of a fitted model, then its ranking as the run ``name``; return the result.

        Parameters: ``model``: a CatBoostRanker (or any other CatBoost). ``iteration``: how many iterations to rank
        with, by default all that the model kept: with an ``eval_set`` CatBoost keeps those up to the best one,
        unless ``use_best_model=False``.
        """
        if not isinstance(model, library("catboost").CatBoost) or not model.is_fitted():
            raise InputError(f"store takes a fitted CatBoostRanker, not a {type(model).__name__}")
        self.stored.clear()
        used = self._chosen(iteration, model.tree_count_) or model.tree_count_
        given = model.get_params()
        parameters, threads = self._with_data(given, model.feature_names_), given.get("thread_count") or -1
        if self.every is not None:
            staged = library("catboost").CatBoost.staged_predict(
                model, self._features, eval_period=self.every, thread_count=threads
            )
            for number, scores in enumerate(staged, 1):
                if number * self.every <= model.tree_count_:  # the last iteration is always stored
                    self._store_iteration(number * self.every, scores, parameters)
        scores = library("catboost").CatBoost.predict(model, self._features, ntree_end=used, thread_count=threads)
        best = model.get_best_iteration()
        return self._store_final(used, None if best is None else best + 1, scores, parameters)

    def _prepared(self, features: Any) -> Any:
        library("catboost")
        return features

    def _table(self) -> Any:
        catboost = library("catboost")
        if not isinstance(self._features, catboost.Pool):
            return self._features
        try:
            return self._features.get_features()
        except catboost.CatBoostError:  # text, categories
            return None
