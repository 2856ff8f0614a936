"""Compute metrics of a ranking without a database, for ``nt.evaluate`` and the command ``evaluate``."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ndcg_tracker.asked import allowed
from ndcg_tracker.concurrency import mapped
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.ingest.columns import ONE_TABLE
from ndcg_tracker.ingest.reading import path_of
from ndcg_tracker.ingest.table import RankedTable, joined_notes
from ndcg_tracker.metrics.kernel.mean import DEFINED, GroupResults, GroupValues
from ndcg_tracker.metrics.kernel.values import group_values, values_with_bounds
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import metric_texts, parse_metrics
from ndcg_tracker.rankings import Index
from ndcg_tracker.rankings.join import Judged, judged
from ndcg_tracker.rankings.keys import KeyIndex
from ndcg_tracker.rankings.ranking import (
    NO_ITEMS,
    GroupWeights,
    LabelLists,
    Run,
    are_whole,
    joined_weights,
    may_be_grades,
)
from ndcg_tracker.runs.labels import NO_LABELS, held_labels
from ndcg_tracker.runs.scoring import (
    GatheredValues,
    above_highest_notes,
    below_rel_notes,
    meeting_notes,
    n_on_sort,
    n_unordered,
    on_unstable_sort,
    unordered_notes,
    unstable_sort_notes,
)
from ndcg_tracker.runs.spelling import SHOWN, Doubts, Spelling
from ndcg_tracker.words.notes import Note, all_one_notes, in_words
from ndcg_tracker.words.texts import shown

if TYPE_CHECKING:
    import pandas as pd


T = TypeVar("T")


class NoLabelsError(InputError):
    """A ranking came without labels."""

    def __init__(self) -> None:
        super().__init__(
            "the ranking has no labels",
            advice=f"name the label column with {argument('label')}, or give them as a second table",
        )


@dataclass(frozen=True)
class Evaluation:
    """The values of some metrics for every group of a ranking and its labels.

    ``texts``: the metrics as they were given. ``results``: one ``GroupResults`` per text, all over the same groups.
    ``notes``: other facts in words, for example that no item has a label. ``no_answer``: for each query of which the
    labels say that nothing answers it 1 if the run has an empty list, 0 if it has items; it counts in no metric.
    """

    texts: tuple[str, ...]
    results: tuple[GroupResults, ...]
    notes: tuple[str, ...] = ()
    no_answer: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def per_group(self) -> pd.DataFrame:
        """One row per group (the index, named ``group``), one float column per metric text, NaN where undefined.

        The index is text, even if the ids were whole numbers: to join other tables, convert their ids to text.
        """
        import pandas as pd

        index = pd.Index(self.results[0].group_keys.to_list(), name="group", dtype=object)
        return pd.DataFrame(
            {text: result.values for text, result in zip(self.texts, self.results, strict=True)}, index=index
        )

    @cached_property
    def mean(self) -> pd.Series[float]:
        """The mean of each metric by its text, over the groups where it is defined; NaN if there are none."""
        import pandas as pd

        means = [result.mean for result in self.results]
        return pd.Series(means, index=pd.Index(self.texts, dtype=object), dtype="float64", name="mean")

    def to_frame(self) -> pd.DataFrame:
        """Return one row per metric text (the index, named ``metric``): its mean and over how many groups."""
        import pandas as pd

        names = ("mean", "n_groups", "n_missing", "n_undefined")
        rows = [[getattr(result, name) for name in names] for result in self.results]
        frame = pd.DataFrame(rows, columns=list(names), index=pd.Index(self.texts, name="metric", dtype=object))
        return frame.astype({"mean": "float64"})

    def by(self, attribute: str, groups: object, *, group: str | None = None) -> pd.DataFrame:
        """Return the mean of each metric on the groups of each value of an attribute: one row per metric and value.

        Columns: ``metric``, ``slice`` (None: groups without a value), ``n_groups``, ``mean``, ``ci_low`` and
        ``ci_high`` (95%, NaN for fewer than two groups). Parameters: ``groups``: a table as for
        ``Tracker.set_groups``, with one row per group and the attribute as a column, a path to such a file, or a dict
        or pandas Series with a value per group. ``group``: the table's column of the groups, by default ``group`` or
        the name of a convention. Raises: InputError if no group of the run has the attribute, and for a metric whose
        mean is not the mean of its groups.

        >>> from ndcg_tracker import evaluate
        >>> found = evaluate({"q": {"a": 1.0}, "r": {"b": 1.0}}, "P@1", labels={"q": {"a": 1}, "r": {"a": 1}})
        >>> found.by("device", {"q": "tv", "r": "phone"})[["slice", "mean"]].values.tolist()
        [['phone', 0.0], ['tv', 1.0]]
        """
        import pandas as pd

        names = ["metric", "slice", "n_groups", "mean", "ci_low", "ci_high"]
        frame = pd.DataFrame([list(row) for row in slice_rows(self, attribute, groups, group)], columns=names)
        return frame.astype(dict.fromkeys(names[3:], "float64"))

    def __getitem__(self, text: str) -> float | None:
        """Return the mean of a metric by its text, None if there is none; KeyError for one that was not computed.

        >>> from ndcg_tracker import evaluate
        >>> evaluate({"q": {"a": 2.0, "b": 1.0}}, ["P@1", "RR"], labels={"q": {"b": 1}})["RR"]
        0.5
        """
        if text not in self.texts:
            raise KeyError(f"metric {text!r} was not computed; the computed metrics are {', '.join(self.texts)}")
        return self.results[self.texts.index(text)].mean

    def to_dict(self) -> dict[str, float | None]:
        """Return the mean of each metric by its text, None if there is none."""
        return {text: result.mean for text, result in zip(self.texts, self.results, strict=True)}

    def to_html(self) -> str:
        """Return the means as an HTML table."""
        return str(self.to_frame().to_html())

    def _repr_html_(self) -> str:
        return self.to_html()

    def __repr__(self) -> str:
        return str(self.to_frame())


SliceRow = tuple[str, str | None, int, float | None, float | None, float | None]
"""A metric, the value of an attribute, how many groups have it, their mean, and its 95% interval."""


def slice_rows(evaluation: Evaluation, attribute: str, groups: object, group: str | None = None) -> list[SliceRow]:
    """Return the rows of ``Evaluation.by``."""
    from ndcg_tracker.ingest.groups import GroupColumns, read_groups
    from ndcg_tracker.questions.show.decide import run_slices

    table = read_groups(groups, columns=GroupColumns(group), value=attribute)
    if attribute not in table.attributes:
        attributes = ", ".join(table.attributes) or "none"
        raise InputError(
            f"there is no attribute {attribute!r}", where=path_of(groups), advice=f"choose one of {attributes}"
        )
    value_of = dict(zip(table.group_keys.to_list(), table.attributes[attribute], strict=True))
    rows: list[SliceRow] = []
    for text, results in zip(evaluation.texts, evaluation.results, strict=True):
        of_items = results.metric["weights"] not in ("none", "group")
        is_weighed = of_items and results.weights is not None and bool((results.weights != 1).any())
        if is_weighed or results.metric.summary != "mean":
            raise InputError(
                f"the mean of {text} is not the mean of its groups, so slices have no mean", advice="leave it out"
            )
        keys, defined = results.group_keys.to_list(), results.reasons == DEFINED
        values = [None if (value := value_of.get(key)) is None else str(value) for key in keys]
        if all(value is None for value in values):
            raise InputError(
                f"no group of the run has {attribute!r}",
                advice="are the groups written as in the run? One is " + shown(keys[0]),
            )
        names = [value for value, is_defined in zip(values, defined.tolist(), strict=True) if is_defined]
        weights = None if results.weights is None else results.weights[defined]
        for part in run_slices(results.values[defined], names, weights, results.metric.limits):
            rows.append((text, part.value, part.n, part.mean, *(part.ci or (None, None))))
    return rows


def evaluate_blocks(
    blocks: Iterable[RankedTable],
    labels: LabelLists | None,
    metrics: str | Sequence[str],
    allow: str | Iterable[str] = (),
) -> Evaluation:
    """Return metrics of a run in blocks of whole groups; a run that is read at once is one block.

    ``labels`` replace those that come with the blocks.
    """
    texts = tuple(metric_texts(metrics))
    parsed, doubts = parsed_metrics(texts), Doubts(allowed(allow))
    held = None if labels is None else held_labels(labels)
    values = GatheredValues()
    matches, spelling = list[_Match](), Spelling()
    weights: list[GroupWeights] = []
    notes: list[Note] = []
    has_labels = False

    def pairs() -> Iterator[tuple[Run, LabelLists]]:
        nonlocal has_labels
        for block in blocks:
            refuse_row_numbers(block, labels)
            has_labels |= block.labels is not None
            if block.weights is not None:
                weights.append(block.weights)
            notes.extend(block.notes)
            yield block.run, (block.labels or NO_LABELS) if held is None else held.of(block.run.group_keys)
            del block  # frees memory while the next block is read
        if held is None and not has_labels:
            raise NoLabelsError
        yield from () if held is None else ((NO_ITEMS, rest) for rest in held.rest())

    unstable = on_unstable_sort(parsed)

    def scored(pair: tuple[Run, LabelLists]) -> tuple[_Match, Spelling, list[GroupValues]]:
        both: Judged = judged(*pair)
        return _Match.of(both, unstable), Spelling.of(both), group_values(both, parsed)

    for match, differences, of_block in mapped(scored, pairs()):
        spelling.add(differences)
        matches.append(match)
        values.add(of_block)
    all_notes = [*_match_notes(matches, spelling, parsed, doubts), *joined_notes(notes, has_labels=has_labels)]
    order = values.order(held.places if held is not None else lambda keys: np.arange(len(keys)))
    results = tuple(values.results(joined_weights(weights) if weights else None, order))
    of_ndcg = [pair for pair in zip(texts, results, strict=True) if pair[1].metric.measure == "ndcg"]
    all_notes += all_one_notes((text, result.mean, result.n_groups) for text, result in of_ndcg)
    return Evaluation(texts, results, in_words(all_notes))


def refuse_row_numbers(table: RankedTable, labels: LabelLists | None) -> None:
    """Refuse separate labels if they or the run identify items by row numbers.

    Label/qid files with the same rows may be both run and labels.
    """
    if labels is None or not (labels.by_row_number or table.by_row_number):
        return
    if not table.by_row_number:
        raise InputError(
            "the labels come from a label/qid file, which identifies items by row numbers, but the run has item ids",
            advice="give labels with item ids",
        )
    if labels.by_row_number and _have_the_same_rows(table, labels):
        return
    raise InputError(
        f"the run identifies items by row numbers, but {ONE_TABLE}",
        advice=f"give a run with item ids, or leave out {argument('labels')}",
    )


def _have_the_same_rows(table: RankedTable, labels: LabelLists) -> bool:
    """Return whether every group of a run has as many rows as its labels."""
    places = KeyIndex(labels.group_keys).places(table.run.group_keys)
    labelled = places >= 0
    return bool((np.diff(labels.offsets)[places[labelled]] == np.diff(table.run.offsets)[labelled]).all())


def fitting(blocks: Iterable[RankedTable], labels: LabelLists | None) -> Iterator[RankedTable]:
    """Yield the blocks of a run, checked by ``refuse_row_numbers``; refuse row numbers without labels."""
    is_numbered = any_labels = False
    for block in blocks:
        refuse_row_numbers(block, labels)
        is_numbered |= block.by_row_number
        any_labels |= block.labels is not None
        yield block
        del block  # frees memory while the next block is read
    if is_numbered and labels is None and not any_labels:
        raise InputError(
            f"the run has no item column and no labels in its table; {ONE_TABLE}",
            advice=f"name the item column with {argument('item')}",
            joint=": ",
        )


@dataclass(frozen=True, slots=True)
class _Match:
    """How well some groups of a run match their labels.

    ``meeting``: numbers of groups, as ``meeting_notes`` takes them. ``of_run`` and ``of_labels``: a few of the groups.
    """

    is_empty: bool
    any_item: bool
    whole_grades: bool
    whole_scores: bool
    highest: float
    unordered: int | None
    meeting: Index
    of_run: list[str]
    of_labels: list[str]
    on_sort: Mapping[Metric, int]

    @classmethod
    def of(cls, both: Judged, unstable: Sequence[Metric]) -> _Match:
        """Return the match of a run and its labels; ``unstable``: the metrics that depend on an unstable sort."""
        in_run, in_labels = both.run_groups >= 0, both.label_groups >= 0
        meeting = [some.sum() for some in (~in_run & in_labels, in_labels, in_run & ~in_labels, in_run)]
        of_run, of_labels = (
            keys.slice(0, min(len(keys), SHOWN)).to_list() for keys in (both.ranking.group_keys, both.labels.group_keys)
        )
        return cls(
            not both.ranking.n_items,
            both.rows.size > 0,
            are_whole(both.labels.grades),
            may_be_grades(both.ranking.scores),
            float(both.labels.grades.max(initial=-math.inf)),
            n_unordered(both.ranking),
            np.array(meeting, dtype=np.int64),
            of_run,
            of_labels,
            n_on_sort(values_with_bounds(both, unstable)) if unstable else {},
        )


def _match_notes(parts: Sequence[_Match], spelling: Spelling, metrics: Sequence[Metric], doubts: Doubts) -> list[Note]:
    """Return notes on the labels and scores of all parts. Raises: InputError for no overlap, unless allowed."""
    if all(part.is_empty for part in parts):
        return [Note("nothing_found")]
    are_swapped = all(part.whole_scores for part in parts) and not all(part.whole_grades for part in parts)
    swapped = [Note("swapped")] if are_swapped else []
    meeting: Index = np.sum([part.meeting for part in parts], axis=0)
    if any(part.any_item for part in parts):
        highest = max(part.highest for part in parts)
        return [
            *swapped,
            *spelling.notes(metrics),
            *meeting_notes(*meeting.tolist(), metrics=metrics),
            *unordered_notes(part.unordered for part in parts),
            *unstable_sort_notes(sum((Counter(part.on_sort) for part in parts), Counter())),
            *below_rel_notes(metrics, highest),
            *above_highest_notes(metrics, highest),
        ]
    of_run = list(islice(chain.from_iterable(part.of_run for part in parts), SHOWN))
    of_labels = list(islice(chain.from_iterable(part.of_labels for part in parts), SHOWN))
    return [doubts.none_met(spelling, int(meeting[1] - meeting[0]), of_run, of_labels, metrics), *swapped]


def parsed_metrics(texts: str | Sequence[str]) -> list[Metric]:
    """Return the metrics that texts name (InputError if there are none, MetricError for an unknown one)."""
    if not texts:
        raise InputError("no metric was given", advice="name at least one, such as ndcg@10")
    return parse_metrics(texts)
