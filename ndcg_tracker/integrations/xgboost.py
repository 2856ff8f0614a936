"""The validation rankings of an XGBoost training: a callback for every n-th iteration, and ``store`` for the model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from ndcg_tracker.errors import InputError
from ndcg_tracker.integrations import library, training
from ndcg_tracker.runs.ingest import IngestResult


class TrainingRuns(training.TrainingRuns):
    """Stores the validation rankings of an XGBoost training (see ``training.TrainingRuns`` for the parameters).

    Pass it as a callback to store every n-th iteration during the training, and pass the model to ``store``.
    ``features``: a DMatrix, or anything that converts to one. The parameters are all of the model's, defaults included.

    >>> import numpy as np, tempfile, xgboost as xgb
    >>> features, labels = np.arange(60.0).reshape(-1, 1), np.arange(60) % 3
    >>> data = xgb.DMatrix(features, labels, group=[6] * 10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     runs = TrainingRuns(data, labels, group_sizes=[6] * 10, name="one", every=1, database=f"{folder}/db")
    ...     model = xgb.train({"objective": "rank:ndcg"}, data, 2, callbacks=[runs])
    ...     _ = runs.store(model)
    >>> [result.run for result in runs.stored]
    ['one/iter-0001', 'one/iter-0002', 'one']
    """

    def before_training(self, model: Any) -> Any:
        """Return the model unchanged; XGBoost calls this before the training."""
        if not isinstance(model, library("xgboost").Booster):
            raise InputError("xgboost.cv trains several models at once", advice="pass TrainingRuns to xgboost.train")
        self.stored.clear()
        return model

    def after_training(self, model: Any) -> Any:
        """Return the model unchanged; XGBoost calls this after the training."""
        return model

    def before_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Return False to continue; XGBoost calls this before every iteration."""
        return False

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Store the ranking of this iteration if it is an n-th one, and return False to continue."""
        iteration = model.num_boosted_rounds()
        if self._wants(iteration):
            # parameters first, because reading them puts the columns in order
            self._store_iteration(iteration, parameters=self._parameters_of(model), scores=model.predict(self._matrix))
        return False

    def store(self, model: Any, *, iteration: int | None = None) -> IngestResult:
        """Store the ranking of a finished model as the run ``name``, and return the result.

        Parameters: ``model``: a Booster or a fitted XGBRanker (or any other XGBModel). ``iteration``: how many
        iterations to rank with, by default up to the best one if early stopping found one, else all.
        """
        booster = model.get_booster() if hasattr(model, "get_booster") else model
        if not isinstance(booster, library("xgboost").Booster):
            raise InputError(f"store takes a Booster or a fitted XGBRanker, not a {type(model).__name__}")
        rounds, attribute = booster.num_boosted_rounds(), booster.attr("best_iteration")
        best = None if attribute is None else int(attribute) + 1
        used = self._chosen(iteration, rounds) or best or rounds
        parameters = self._parameters_of(booster)
        return self._store_final(used, best, booster.predict(self._matrix, iteration_range=(0, used)), parameters)

    def _prepared(self, features: Any) -> Any:
        # XGBoost accepts only instances of its own class; registering lets this module be imported without XGBoost
        library("xgboost").callback.TrainingCallback.register(type(self))
        return features

    def _parameters_of(self, booster: Any) -> dict[str, Any]:
        names = booster.feature_names or [str(place) for place in range(booster.num_features())]
        return self._with_data(_parameters(booster), names)

    def _table(self) -> Any:
        xgboost = library("xgboost")
        if not isinstance(self._features, xgboost.DMatrix):
            return self._features
        try:
            return self._features.get_data()
        except xgboost.core.XGBoostError:  # a matrix that is not in memory
            return None

    @cached_property
    def _matrix(self) -> Any:
        matrix = library("xgboost").DMatrix
        return self._features if isinstance(self._features, matrix) else matrix(self._features)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to pickle with an XGBRanker that holds its callbacks: only what XGBoost can pickle."""
        return {name: value for name, value in vars(self).items() if name != "_matrix"}


def _parameters(booster: Any) -> dict[str, str]:
    """Return the parameters of a booster, including defaults, without what it learned."""
    return dict(_leaves(json.loads(booster.save_config())["learner"]))


def _leaves(section: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, part in section.items():
        if isinstance(part, dict) and not name.endswith("_model_param"):
            if name.endswith("_param"):
                yield from ((key, _shortest(value)) for key, value in part.items())
            else:
                yield from _leaves(part)


def _shortest(text: str) -> str:
    """Return a single-precision number with as few digits as it needs, and other text unchanged.

    >>> [_shortest(text) for text in ("0.300000012", "9.99999975e-05", "6", "rank:ndcg")]
    ['0.3', '1e-04', '6', 'rank:ndcg']
    """
    try:
        return str(np.float32(text)) if "." in text or "e-" in text else text
    except ValueError:
        return text
