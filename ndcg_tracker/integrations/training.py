"""The runs of one training: its validation rows, the rankings of some iterations, and the final ranking."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.api.reading import evaluate
from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.asked import DEFAULT_DATASET, DEFAULT_METRIC, allowed
from ndcg_tracker.compare.arms import FEATURES, LABELS, ROWS
from ndcg_tracker.errors import (
    ConflictError,
    DatabaseError,
    InputError,
    NameTakenError,
    NdcgTrackerWarning,
    argument,
    warn,
)
from ndcg_tracker.ingest.frames import read_frame
from ndcg_tracker.ingest.objects import array_of
from ndcg_tracker.rankings.keys import mixed
from ndcg_tracker.runs.ingest import IngestResult
from ndcg_tracker.storage.checks import checked_name
from ndcg_tracker.words.texts import counted

DIGITS = 12
"""Of a digest, as reports show it."""
LONGEST_NAMES = 200
"""The most characters of feature names in a parameter."""


class ValidationRows:
    """The facts about each row besides its features; with the scores of a model they make a ranking.

    ``labels``: one grade per row, NaN where unjudged. ``group``: one group id per row, or ``group_sizes``: how many
    rows each group has, one after the other (the groups are then known by their numbers, from 1). ``item``: one item
    id per row; by default an item is identified by its row's number within the group. ``weight``: one weight per row.
    Raises: InputError if the columns do not fit together.

    >>> rows = ValidationRows([1, 0, 2], group_sizes=[2, 1])
    >>> rows.ranked([0.5, 0.1, 0.7])["group"].tolist()
    [1, 1, 2]
    """

    def __init__(
        self, labels: Any, *, group: Any = None, group_sizes: Any = None, item: Any = None, weight: Any = None
    ) -> None:
        if group is not None and group_sizes is not None:
            raise InputError("the validation rows have their groups twice", advice="leave out group or group_sizes")
        if group is None and group_sizes is None:
            raise InputError(
                "the validation rows need their groups", advice="give group (one id per row) or group_sizes"
            )
        self.n_rows = len(labels)
        group = groups_of_sizes(group_sizes, self.n_rows) if group is None else group
        columns = {"group": group, "item": item, "label": labels, "weight": weight}
        self._columns = {name: column for name, column in columns.items() if column is not None}

    def check(self, metrics: Sequence[str]) -> None:
        """Raise InputError or MetricError if metrics cannot be computed on these rows, whatever the scores."""
        evaluate(self.ranked(0.5 - np.arange(self.n_rows)), metrics)  # fractions, because whole numbers might be labels

    def ranked(self, scores: Any) -> dict[str, Any]:
        """Return the rows with the scores of a model, as columns that ``Tracker.ingest`` takes."""
        return {**self._columns, "score": checked_scores(scores, self.n_rows)}

    def digests(self, features: Any) -> tuple[str, str]:
        """Return the number of rows with their digest, and the number of labels with theirs.

        A row is its group, its item and what features it has, where these can be read. The digest of the labels is the
        one that reports show for a dataset with these labels.
        """
        hashes = row_hashes(features)
        if hashes is None or len(hashes) != self.n_rows:
            hashes = np.zeros(self.n_rows, dtype=np.uint64)
        scores = (hashes >> np.uint64(11)).astype(np.float64)  # 53 bits, which a double holds
        table = read_frame(
            {**{key: column for key, column in self._columns.items() if key != "weight"}, "score": scores}
        )
        rows = f"{self.n_rows}: {table.run.digest()[:DIGITS]}"
        return rows, "0" if table.labels is None else f"{table.labels.n_items}: {table.labels.digest()[:DIGITS]}"


def row_hashes(features: Any) -> NDArray[np.uint64] | None:
    """Return a hash of the features of each row, None where they cannot be read.

    >>> row_hashes([[1.0, 2.0], [1.0, 3.0]]).tolist() == row_hashes(np.array([[1.0, 2.0], [1.0, 3.0]])).tolist()
    True
    """
    if hasattr(features, "tocsr"):
        rows = features.tocsr()
        cells = mixed(mixed(rows.indices.astype(np.uint64)) ^ rows.data.astype(np.float64).view(np.uint64))
        sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(cells)])
        return np.asarray(sums[rows.indptr[1:]] - sums[rows.indptr[:-1]])
    import pandas as pd

    try:
        frame = features if isinstance(features, pd.DataFrame) else pd.DataFrame(np.asarray(features))
        numbers = {name: np.float64 for name, kind in frame.dtypes.items() if pd.api.types.is_numeric_dtype(kind)}
        frame = frame.astype(numbers) if frame.columns.is_unique else frame  # equal numbers of any type
        return np.asarray(pd.util.hash_pandas_object(frame, index=False), dtype=np.uint64)
    except (TypeError, ValueError):  # objects of other libraries, lists in cells
        return None


def features_text(names: Sequence[str]) -> str:
    """Return the features of a model as a parameter: their number and their names, or the digest of many names.

    Names that a library generates from numbers do not count.

    >>> [features_text(names) for names in (["age", "geo"], ["Column_0", "Column_1"], [])]
    ['2: age, geo', '2', '0']
    """
    if any([f"{stem}{place}" for place in range(len(names))] == list(names) for stem in ("", "f", "Column_")):
        return str(len(names))
    text = ", ".join(names)
    if len(text) > LONGEST_NAMES:
        text = f"digest {hashlib.sha256(text.encode()).hexdigest()[:DIGITS]}"
    return f"{len(names)}: {text}"


def by_name(features: Any, own: Sequence[str], names: Sequence[str]) -> Any:
    """Return the columns of a frame or an Arrow table by name, in the order of a model (InputError if it lacks one).

    ``own``: the names of the columns. LightGBM writes a space in a name as an underscore.
    """
    place = {name.replace(" ", "_"): at for at, name in enumerate(own)} | {name: at for at, name in enumerate(own)}
    if missing := [name for name in names if name not in place]:
        what = f"the validation rows lack {counted(len(missing), 'column')} of the model, such as {missing[0]!r}"
        raise InputError(what, advice="name their columns as in the training, or give an array in its order")
    places = [place[name] for name in names]
    return features.iloc[:, places] if hasattr(features, "iloc") else features.select([own[at] for at in places])


def groups_of_sizes(sizes: Any, n_rows: int) -> NDArray[np.int64]:
    """Return the number of each row's group, from 1, for consecutive groups of these sizes.

    >>> groups_of_sizes([2, 1], 3).tolist()
    [1, 1, 2]
    """
    counts = np.asarray(sizes)
    per_row = f"; to give one id per row, use {argument('group')}" if counts.shape == (n_rows,) else ""
    if counts.ndim != 1 or counts.dtype.kind not in "iu" or (counts < 1).any():
        raise InputError("group_sizes holds no sizes", advice=f"give one whole number from 1 per group{per_row}")
    if counts.sum() != n_rows:
        what = f"group_sizes adds up to {counts.sum()} rows, but there are {n_rows} labels; they must agree{per_row}"
        raise InputError(what)
    return np.repeat(np.arange(1, len(counts) + 1, dtype=np.int64), counts)


def checked_scores(scores: Any, n_rows: int) -> NDArray[np.float64]:
    """Return the scores that a model gave the rows; raise InputError if they do not give a ranking.

    >>> checked_scores([0.5, float("nan")], 2)
    Traceback (most recent call last):
    ndcg_tracker.errors.InputError: the model gives row 2 the score nan; a ranking needs finite scores
    """
    given = np.asarray(array_of(scores, "what the model gives"))
    if given.ndim == 2 and given.shape[1] == 1:  # a network with one output
        given = given[:, 0]
    if given.ndim != 1:
        raise InputError(
            f"the model gives scores of shape {given.shape}; a ranking needs one score per row, from a ranking, "
            "regression or binary objective"
        )
    if len(given) != n_rows:
        raise InputError(
            f"the model gives {len(given)} scores, but there are {n_rows} labels", advice="use the same rows"
        )
    numbers = given.astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(numbers))
    if bad.size:
        others = f" ({bad.size} rows are not finite)" if bad.size > 1 else ""
        raise InputError(
            f"the model gives row {bad[0] + 1} the score {numbers[bad[0]]}{others}; a ranking needs finite scores"
        )
    return numbers


class TrainingRuns(ABC):
    """Stores the rankings of the validation rows by a model in training.

    The finished model's ranking is the run ``name``, with the tags ``training=NAME`` and ``stage=final``; that of an
    iteration is the run ``NAME/iter-0010``, with ``stage=iteration``. Each run has the parameters of the model and
    ``iteration``: how many iterations the ranking uses, counted from 1. It also has parameters of the data:
    ``data_features`` (their number and names), ``data_rows`` and ``data_labels`` (number and digest). Runs that differ
    in these are not repeats of one recipe.

    Parameters: ``features``: the validation rows as the library's ``predict`` takes them. ``labels``, ``group`` or
    ``group_sizes``, ``item``, ``weight``: see ``ValidationRows``; all trainings of a dataset must have the same
    labels. ``name``: unique within ``dataset``. ``metrics``: one text form or several. ``every``: store every n-th
    iteration, None for none. ``database``: see ``Tracker``; it is opened at once, so that errors show before
    the training. ``parameters``, ``tags``, ``git_commit``: stored with every run, in addition to the model's
    parameters. ``replace``: replace an earlier training of this name; ``store`` deletes its other iterations.
    ``allow``: see ``Tracker.ingest``. Raises: InputError for rows that do not fit together, and for a library that is
    missing; MetricError; DatabaseError.
    """

    def __init__(
        self,
        features: Any,
        labels: Any,
        *,
        name: str,
        group: Any = None,
        group_sizes: Any = None,
        item: Any = None,
        weight: Any = None,
        metrics: str | Sequence[str] = DEFAULT_METRIC,
        dataset: str = DEFAULT_DATASET,
        every: int | None = None,
        database: str | os.PathLike[str] | None = None,
        parameters: Mapping[str, Any] | None = None,
        tags: Mapping[str, str] | None = None,
        git_commit: str | None = None,
        replace: bool = False,
        allow: str | Sequence[str] = (),
    ) -> None:
        if every is not None and (isinstance(every, bool) or not isinstance(every, int) or every < 1):
            raise InputError(f"every is {every!r}", advice="give a whole number from 1, or None to store no iterations")
        checked_name("dataset", dataset)
        checked_name("run", name)
        checked_name("run", iteration_name(name, 1))
        self.name, self.dataset, self.every, self.replace = name, dataset, every, replace
        self._allow = allowed(allow)
        self.stored: list[IngestResult] = []
        self._features = self._prepared(features)
        self._rows = ValidationRows(labels, group=group, group_sizes=group_sizes, item=item, weight=weight)
        self._metrics = [metrics] if isinstance(metrics, str) else list(metrics)
        self._parameters, self._tags, self._git_commit = dict(parameters or {}), dict(tags or {}), git_commit
        self._rows.check(self._metrics)
        with Tracker(database) as tracker:
            self._database = tracker.location
            tracker.store(create=True)

    @abstractmethod
    def _prepared(self, features: Any) -> Any:
        """Import the library and return the features as its ``predict`` takes them."""

    def _table(self) -> Any:
        """Return the features of the validation rows as an array, a frame or a sparse matrix."""
        return self._features

    @cached_property
    def _digests(self) -> tuple[str, str]:
        return self._rows.digests(self._table())

    def _with_data(self, parameters: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
        """Return the parameters of a model and its data, and put the columns of a frame in the order of the model.

        ``names``: of its features, as the model has them. Raises: InputError for a frame that lacks some.
        """
        text = features_text(names)
        own = getattr(self._features, "column_names", getattr(self._features, "columns", ()))
        columns = [" ".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in own]
        if columns and columns != list(names) and (":" in text or sorted(columns) == sorted(names)):
            self._features = by_name(self._features, columns, names)
        elif len(columns) == len(names):  # the model was trained on a bare array
            text = features_text(columns)
        rows, labels = self._digests
        return {**parameters, FEATURES: text, ROWS: rows, LABELS: labels}

    def _chosen(self, iteration: int | None, n_iterations: int) -> int | None:
        """Return the requested iteration; raise InputError if the model does not have it."""
        if iteration is not None and not 1 <= iteration <= n_iterations:
            raise InputError(f"the model has iterations 1 to {n_iterations}, not iteration={iteration}")
        return iteration

    def _wants(self, iteration: int) -> bool:
        """Return whether to store the ranking of an iteration, counted from 1."""
        return self.every is not None and iteration % self.every == 0

    def _store_iteration(self, iteration: int, scores: Any, parameters: Mapping[str, Any]) -> None:
        """Store the ranking of an iteration; a database that fails after the first does not end the training."""
        try:
            with Tracker(self._database) as tracker:
                name = iteration_name(self.name, iteration)
                self._ingest(tracker, name, "iteration", iteration, scores, parameters)
        except DatabaseError as error:
            if not self.stored:
                raise
            warnings.warn(f"iteration {iteration} of {self.name!r} was not stored: {error}", stacklevel=3)

    def _store_final(
        self, iteration: int, best_iteration: int | None, scores: Any, parameters: Mapping[str, Any]
    ) -> IngestResult:
        """Store the ranking of the finished model, and delete what it replaces."""
        best = {} if best_iteration is None else {"best_iteration": best_iteration}
        with Tracker(self._database) as tracker:
            result = self._ingest(tracker, self.name, "final", iteration, scores, {**parameters, **best})
            if self.replace:
                self._delete_others(tracker)
        return result

    def _ingest(
        self, tracker: Tracker, name: str, stage: str, iteration: int, scores: Any, parameters: Mapping[str, Any]
    ) -> IngestResult:
        parameters_of_run = {**parameters, **self._parameters, "iteration": iteration}
        try:
            result = tracker.ingest(
                self._rows.ranked(scores),
                name=name,
                dataset=self.dataset,
                metrics=self._metrics,
                tags={**self._tags, "training": self.name, "stage": stage},
                parameters={
                    key: parameter_text(value) for key, value in parameters_of_run.items() if value is not None
                },
                git_commit=self._git_commit,
                replace=self.replace,
                allow=sorted(self._allow),
            )
        except NameTakenError as error:
            keep = f"keep both with {argument('name', f'{self.name}-2')}"
            raise NameTakenError(error.what, advice=f"{keep}, or replace it with {argument('replace', True)}") from None
        except ConflictError as error:
            advice = f"other validation rows belong in another dataset, with {argument('dataset')}"
            raise error.at(f"run {name!r}", advice) from None
        n_missing = max((evaluated.n_missing for evaluated in result.metrics), default=0)
        if n_missing and not self.stored:
            warn(
                NdcgTrackerWarning(
                    f"these validation rows lack {counted(n_missing, 'group')} of dataset {self.dataset!r}: "
                    "0 in the means",
                    advice=f"other validation rows belong in another dataset, with {argument('dataset')}",
                )
            )
        self.stored.append(result)
        return result

    def _delete_others(self, tracker: Tracker) -> None:
        """Delete the iterations that an earlier training of this name left, except those that an alias points to."""
        kept = {result.run_id for result in self.stored} | {alias.run_id for alias in tracker.aliases(self.dataset)}
        for run in tracker.runs(self.dataset):
            if run.is_checkpoint and run.has_tags({"training": self.name}) and run.id not in kept:
                tracker.delete_run(run.id)


def iteration_name(training: str, iteration: int) -> str:
    """Return the name of the run that holds the ranking of an iteration.

    >>> iteration_name("ranker", 10)
    'ranker/iter-0010'
    """
    return f"{training}/iter-{iteration:04}"


def parameter_text(value: Any) -> str:
    """Return a parameter of a model as text: text unchanged, numbers and lists as JSON, a function by its name.

    >>> [parameter_text(value) for value in ("lambdarank", 0.1, [5, 10], True, parameter_text)]
    ['lambdarank', '0.1', '[5, 10]', 'true', 'parameter_text']
    """
    if isinstance(value, str):
        return value
    if callable(value):
        return str(getattr(value, "__name__", type(value).__name__))
    return json.dumps(value, default=_plain)


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else str(value)
