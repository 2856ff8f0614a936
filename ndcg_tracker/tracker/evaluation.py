"""Metrics of a ranking without any database: what ``nt.evaluate`` and the command ``evaluate`` return."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest import Columns, RankedTable, joined_notes, read_frame, read_label_frame
from ndcg_tracker.metrics import GroupResults, Metric, group_results, group_values, parse_metric
from ndcg_tracker.overlap.ahead import reading_ahead
from ndcg_tracker.rankings import GroupWeights, LabelLists, judged
from ndcg_tracker.rankings.weights import joined_weights
from ndcg_tracker.tracker.known_labels import NO_LABELS, HeldLabels
from ndcg_tracker.tracker.scoring import NO_ITEMS, GatheredValues

if TYPE_CHECKING:
    import pandas as pd

    from ndcg_tracker.ingest.ranks import RankConflict


class NoLabelsError(InputError):
    """A ranking came without labels."""

    def __init__(self) -> None:
        super().__init__("the ranking has no labels; give a label column, or the labels as a second table")


@dataclass(frozen=True)
class Evaluation:
    """The values of some metrics for every group of a ranking and its labels.

    ``texts``: the metrics as they were given. ``results``: one ``GroupResults`` per text, all over the same groups.
    ``notes``: what else to know, in words.
    """

    texts: tuple[str, ...]
    results: tuple[GroupResults, ...]
    notes: tuple[str, ...] = ()

    @cached_property
    def per_group(self) -> pd.DataFrame:
        """One row per group (the index, named ``group``), one float column per metric text, NaN where undefined."""
        import pandas as pd

        index = pd.Index(self.results[0].group_keys.to_list(), name="group", dtype=object)
        return pd.DataFrame(
            {text: result.values for text, result in zip(self.texts, self.results, strict=True)}, index=index
        )

    @cached_property
    def mean(self) -> pd.Series[float]:
        """The mean of each metric over the groups that it is defined for, by metric text, NaN where there is none."""
        import pandas as pd

        means = [result.mean for result in self.results]
        return pd.Series(means, index=pd.Index(self.texts, dtype=object), dtype="float64", name="mean")

    def to_frame(self) -> pd.DataFrame:
        """Return one row per metric text (the index, named ``metric``): its mean and how many groups it rests on."""
        import pandas as pd

        names = ("mean", "n_groups", "n_missing", "n_undefined")
        rows = [[getattr(result, name) for name in names] for result in self.results]
        frame = pd.DataFrame(rows, columns=list(names), index=pd.Index(self.texts, name="metric", dtype=object))
        return frame.astype({"mean": "float64"})

    def to_dict(self) -> dict[str, float | None]:
        """Return the mean of each metric by its text, None where there is none."""
        return {text: result.mean for text, result in zip(self.texts, self.results, strict=True)}

    def to_html(self) -> str:
        """Return the means as an HTML table."""
        return str(self.to_frame().to_html())

    def _repr_html_(self) -> str:
        return self.to_html()

    def __repr__(self) -> str:
        return str(self.to_frame())


def evaluate(
    frame: object,
    metrics: str | Sequence[str],
    *,
    group: str = "group",
    item: str | None = None,
    score: str = "score",
    label: str = "label",
    weight: str | None = None,
    labels: object | None = None,
) -> Evaluation:
    """Return some metrics of a ranking, per group and on average; no database takes part.

    Parameters: ``frame``: a pandas DataFrame, a pyarrow Table or a dict of arrays, one row per (group, item), in any
    order; a row whose score is null was judged but not retrieved, one whose label is null is unjudged. ``metrics``:
    one text form or several. ``group``, ``item``, ``score``, ``label``, ``weight``: names of columns; without
    ``item`` (and without a column of that name) an item is known by its row's number within the group. ``labels``: a
    second frame with the labels (group, item, label); the label column of ``frame`` is then not read. Returns: an
    ``Evaluation``. Raises: InputError for a frame that cannot be taken, naming the row; MetricError for a text that
    is no metric. The frame is never changed.

    >>> import ndcg_tracker as nt
    >>> shop = {"group": ["q", "q"], "item": ["a", "b"], "score": [2.0, 1.0], "label": [0, 1]}
    >>> nt.evaluate(shop, ["ndcg@10", "dcg@1"]).mean.round(4).to_dict()
    {'ndcg@10': 0.6309, 'dcg@1': 0.0}
    """
    table, given = read_frames(frame, labels, group=group, item=item, score=score, label=label, weight=weight)
    return evaluate_table(table, given, [metrics] if isinstance(metrics, str) else metrics)


def read_frames(
    frame: object, labels: object | None, *, group: str, item: str | None, score: str, label: str, weight: str | None
) -> tuple[RankedTable, LabelLists | None]:
    """Return the table that a frame holds, and the labels of a second one, if there is one (see ``evaluate``)."""
    of_frame = None if label == "label" or labels is not None else label  # the default name need not be there
    table = read_frame(frame, Columns(group=group, item=item, score=score, label=of_frame, weight=weight))
    given = None if labels is None else read_label_frame(labels, Columns(group=group, item=item, label=label))
    return table, given


def evaluate_table(table: RankedTable, labels: LabelLists | None, metrics: Sequence[str]) -> Evaluation:
    """Return some metrics of a table that a reader made; ``labels`` given take the place of the table's own."""
    texts = tuple(dict.fromkeys(metrics))
    parsed = parsed_metrics(texts)
    labels = labels if labels is not None else table.labels
    if labels is None:
        raise NoLabelsError
    results = tuple(group_results(judged(table.run, labels), parsed, table.weights))
    return Evaluation(texts, results, tuple(map(str, table.notes)))


def evaluate_stream(blocks: Iterable[RankedTable], labels: LabelLists | None, metrics: Sequence[str]) -> Evaluation:
    """Return what ``evaluate_table`` does of a table that comes in blocks of whole groups, in little memory."""
    texts = tuple(dict.fromkeys(metrics))
    parsed = parsed_metrics(texts)
    held = None if labels is None else HeldLabels(labels)
    values = GatheredValues()
    weights: list[GroupWeights] = []
    notes: list[RankConflict] = []
    any_labels = held is not None
    with reading_ahead(blocks) as read:
        for block in read:
            any_labels |= block.labels is not None
            of_block = (block.labels or NO_LABELS) if held is None else held.of(block.run.group_keys)
            values.add(group_values(judged(block.run, of_block), parsed))
            if block.weights is not None:
                weights.append(block.weights)
            notes += block.notes
            del block, of_block  # not to be held while the next block is read
    if not any_labels:
        raise NoLabelsError
    for rest in () if held is None else held.rest():
        values.add(group_values(judged(NO_ITEMS, rest), parsed))
    order = values.order(held.places if held is not None else lambda keys: np.arange(len(keys)))
    results = tuple(values.results(joined_weights(weights) if weights else None, order))
    return Evaluation(texts, results, tuple(map(str, joined_notes(notes))))


def parsed_metrics(texts: Sequence[str]) -> list[Metric]:
    """Return the metrics that some texts name (InputError where there is none, MetricError for what is no metric)."""
    if not texts:
        raise InputError("no metric was asked for; name at least one, such as ndcg@10")
    return [parse_metric(text) for text in texts]
