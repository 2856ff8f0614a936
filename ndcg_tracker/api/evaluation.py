"""Compute metrics of a ranking without a database, for ``nt.evaluate`` and the command ``evaluate``."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from ndcg_tracker.asked import DEFAULT_METRIC, GROUP, LABEL, SCORE, OwnName, allowed
from ndcg_tracker.concurrency import mapped
from ndcg_tracker.errors import InputError, NdcgTrackerWarning, argument, warn
from ndcg_tracker.ingest.by_shape import known_or_recognised
from ndcg_tracker.ingest.columns import DEFAULT_COLUMNS, ONE_TABLE, Columns, header_of
from ndcg_tracker.ingest.documents import Collapse, Documents
from ndcg_tracker.ingest.frames import NullScores, frame_blocks, read_label_frame
from ndcg_tracker.ingest.reading import (
    JUDGE,
    documents_given,
    ids_of,
    in_blocks_or_whole,
    may_have_columns,
    read_labels,
)
from ndcg_tracker.ingest.records import by_group, frame_records
from ndcg_tracker.ingest.spans import are_spans, span_labels
from ndcg_tracker.ingest.table import RankedTable, joined_notes
from ndcg_tracker.metrics.kernel.mean import DEFINED, GroupResults, GroupValues
from ndcg_tracker.metrics.kernel.values import group_values, values_with_bounds
from ndcg_tracker.metrics.language.dialects import are_by_rank
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import metric_texts, parse_metrics
from ndcg_tracker.rankings import Index
from ndcg_tracker.rankings.groups_share import parse_share
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
from ndcg_tracker.rules import refuse
from ndcg_tracker.runs.labels import NO_LABELS, held_labels
from ndcg_tracker.runs.scoring import (
    GatheredValues,
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
from ndcg_tracker.words.texts import shown, shown_name

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
    ``notes``: other facts in words, for example that no item has a label.
    """

    texts: tuple[str, ...]
    results: tuple[GroupResults, ...]
    notes: tuple[str, ...] = ()

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


def evaluate(
    frame: object,
    metrics: str | Sequence[str] = DEFAULT_METRIC,
    *,
    group: str = GROUP,
    item: str | Literal[False] | None = None,
    score: str = SCORE,
    label: str = LABEL,
    weight: str | None = None,
    items: str | None = None,
    relevant: str | None = None,
    labels: object | None = None,
    null_scores: NullScores = "error",
    reader: str | None = None,
    columns: str | Sequence[str] | None = None,
    scores: str | os.PathLike[str] | None = None,
    item_to_document: object | None = None,
    collapse: Collapse | None = None,
    groups_share: str | float | None = None,
    allow: str | Sequence[str] = (),
) -> Evaluation:
    """Return metrics of a ranking, per group and on average, without a database.

    Parameters: ``frame``: a path to a file that the command reads, or a table with one row per (group, item), in any
    order. The table may be a pandas or polars DataFrame, any other object that speaks Arrow's C stream interface or the
    DataFrame interchange protocol, or a dict of arrays. It may also be a nested dict ``{group: {item: score}}``, ranx's
    ``Run``, ir_measures' ``ScoredDoc`` tuples, a data set of Hugging Face, or a list per group: of ids, of ids
    with scores, or of the objects that retrievers return (see "What you hold" on this page). A row whose score is null
    was judged but not retrieved; a row whose label is null is unjudged.
    ``metrics``: one text or several, or a text with commas (``"ndcg@10,map"``); results keep the names that you give.
    ``group``, ``item``, ``score``, ``label``, ``weight``: names of columns. A column that is not named may also have a
    name from a convention, such as ``qid`` and ``docno``; if a table has both, name one of them.
    ``score="-position"`` is a column in which the lowest is the best. ``group="uid,user"`` means ``uid`` in the run and
    ``user`` in the labels; ``item`` may be such a pair too. In objects the names are paths: ``item="metadata.source"``.
    Without an item column, an item is identified by its row's number within the group, if scores and labels are in one
    table; ``item=False`` asks for that.
    ``items``: the path of the list in each JSON response (a file, a dict or a list of dicts), such as
    ``"response.docs"``; the other names are then dotted paths, such as ``"document.id"``.
    ``labels``: a second table or path with the labels (group, item, label), or the relevant items of each group,
    ``{group: {items}}``; the label column of ``frame`` is then not read.
    ``relevant``: the key of the relevant items in a golden set, if it is not clear.
    ``item_to_document``: says that items are chunks, and of which documents. It is a pattern for what follows the
    document's id in an item's id, such as ``"#.*"``, a column, a file with one row per item and its document, or a
    dict. The label of a document is the highest label of its chunks. ``collapse``: the score of a document is the
    ``"max"`` of its chunks' scores (the default), the score of its ``"first"`` row, or their ``"sum"``.
    ``groups_share``: keep only this share of the groups, such as "1/100", chosen by a hash of their ids.
    ``null_scores``: what a NaN score of a table means: "error" or "not_retrieved". ``reader``: the reader of the
    file, if its name and content do not show it. ``columns``: the column names of a CSV or TSV file without a
    header, such as ``"qid,pid,rank"``. ``scores``: the predictions of a label/qid file, one per line. ``allow``:
    doubtful input to let pass: "failed" for responses that are errors, timed out or lack shards, which are then
    left out; "no-overlap" for a run and labels that have nothing in common. Returns: an ``Evaluation``. Raises:
    InputError for input that cannot be read, naming the row, and if no group of the run has labels, or no item in
    20 groups or more; MetricError for an unknown metric. Warns if no item has a label, if lists have no scores, and
    if columns are read by convention. The input is never changed.

    >>> import ndcg_tracker as nt
    >>> shop = {"group": ["q", "q"], "item": ["a", "b"], "score": [2.0, 1.0], "label": [0, 1]}
    >>> nt.evaluate(shop, ["ndcg@10", "dcg@1"]).mean.round(4).to_dict()
    {'ndcg@10': 0.6309, 'dcg@1': 0.0}
    >>> nt.evaluate({"q": {"a": 2.0, "b": 1.0}}, "ndcg@10", labels={"q": {"b": 1}}).mean.round(4).to_dict()
    {'ndcg@10': 0.6309}
    """
    given = Input(
        frame,
        labels,
        Names(
            group,
            item,
            score,
            label,
            weight,
            items,
            documents_given(item_to_document, collapse),
            allow,
            groups_share,
            relevant,
        ),
        null_scores,
        reader=reader,
        columns=columns,
        scores=scores,
        by_rank=are_by_rank(metrics),
    )
    evaluation = given.used_by(partial(evaluate_blocks, metrics=metrics, allow=allow))
    for note in evaluation.notes:
        warn(NdcgTrackerWarning(note, where="the run"))
    return evaluation


@dataclass(frozen=True)
class Names:
    """The names of columns as ``evaluate`` takes them: an ``OwnName`` means that no name was given."""

    group: str = GROUP
    item: str | Literal[False] | None = None
    score: str = SCORE
    label: str = LABEL
    weight: str | None = None
    items: str | None = None
    documents: Documents | None = None
    allow: str | Sequence[str] = ()
    groups_share: str | float | None = None
    relevant: str | None = None

    def columns(self, *roles: str) -> Columns:
        """Return the names that were given for some roles. Raises: InputError for what is not a name."""
        given: dict[str, Any] = {}
        for role in ("group", "item", "score", "label", "weight", "items", "relevant"):
            name = getattr(self, role)
            if not isinstance(name, str | None) and not (role == "item" and name is False):
                advice = "give its name"
                if role == "group" and isinstance(name, list | tuple):
                    advice = "if these are the ids of lists or responses, give a dict: dict(zip(ids, responses))"
                raise InputError(f"{argument(role)} is the name of a column, and {name!r} is not text", advice=advice)
            if role in roles and not isinstance(name, OwnName):
                given[role] = name
        share = None if self.groups_share is None else parse_share(self.groups_share)
        return Columns(**given, documents=self.documents, allow=allowed(self.allow), groups_share=share)


@dataclass(frozen=True)
class Input:
    """A run and its labels as ``evaluate`` and ``Tracker.ingest`` take them (see ``evaluate``)."""

    frame: object
    labels: object | None
    names: Names
    null_scores: NullScores = "error"
    reader: str | None = None
    columns: str | Sequence[str] | None = None
    scores: str | os.PathLike[str] | None = None
    by_rank: bool = False

    def used_by(self, use: Callable[[Iterable[RankedTable], LabelLists | None], T]) -> T:
        """Return the result of a function of the run's blocks and its labels, which may be called twice."""
        labels, names = self._read_labels(), self.names
        of_run = ("group", "item", "score", "weight", "items", *(("label", "relevant") if labels is None else ()))
        path = path_of(self.frame)
        if path is None:
            refuse("evaluate", {"reader": self.reader, "columns": self.columns, "scores": self.scores, "frame": True})
            is_apart = labels is not None
            columns = replace(names.columns(*of_run), is_shared=is_apart, by_rank=self.by_rank, beside=self.labels)
            read = partial(frame_blocks, labels_apart=is_apart, null_scores=self.null_scores)
            blocks = known_or_recognised(
                lambda given, names, _: read(given, names), self.frame, "results", columns, ids_of
            )
            return use(blocks, labels)
        if self.null_scores != "error":
            raise InputError(
                f"{argument('null_scores')} is for frames: in a file null means not retrieved and NaN is an error"
            )
        given = path_of(self.labels)
        is_shared = self.labels is not None and (given is None or may_have_columns(given))
        return in_blocks_or_whole(
            path,
            lambda blocks: use(blocks, labels),
            reader=self.reader,
            columns=replace(
                names.columns(*of_run),
                is_shared=is_shared,
                header=header_of(self.columns),
                by_rank=self.by_rank,
                beside=self.labels,
            ),
            scores_path=None if self.scores is None else os.fspath(self.scores),
            labels_apart=labels is not None,
        )

    def _read_labels(self) -> LabelLists | None:
        if self.labels is None:
            return None
        if self.names.item is False or self.names.item == "":
            raise InputError(
                f"{argument('item', False)} identifies items by row numbers, which do not fit the second table of "
                f"{argument('labels')}",
                advice=f"name the item column with {argument('item')}",
            )
        columns = self.names.columns("group", "item", "label", "relevant")
        return labels_given(self.labels, replace(columns, is_shared=True, beside=self.frame))


def labels_given(labels: object, columns: Columns = DEFAULT_COLUMNS, *, are_answers: bool = False) -> LabelLists:
    """Return the labels that a path, a table or a nested dict holds; ``LabelLists`` are returned unchanged.

    ``are_answers``: whether people had to fill in a table.
    """
    if isinstance(labels, LabelLists):
        return labels
    path = path_of(labels)
    if path is not None:
        return read_labels(path, columns=columns)
    names = getattr(labels, "columns", labels if isinstance(labels, Mapping) else ())
    if are_spans(getattr(labels, "column_names", names), columns):
        return span_labels(frame_records(labels), columns)
    read = partial(read_label_frame, are_answers=are_answers)
    return known_or_recognised(lambda given, names, _: read(given, names), labels, "labels", columns, ids_of)


def labels_of_judges(
    by_judge: Mapping[str, LabelLists], judge: str | None, path: str, where: Mapping[str, str] | None = None
) -> dict[str, LabelLists]:
    """Return the labels of a file by judge: those of ``judge``, or of all judges if none is named.

    If a file does not name a judge, its labels are those of ``judge``; so are rows that ``where`` chose by their judge.
    Raises: InputError for a judge whom a file does not name.
    """
    if not judge or judge in by_judge:
        return dict(by_judge) if not judge else {judge: by_judge[judge]}
    if set(by_judge) == {""} or (where and JUDGE in where and len(by_judge) == 1):
        return {judge: next(iter(by_judge.values()))}
    names = ", ".join(map(repr, filter(None, by_judge)))
    raise InputError(
        f"the column {JUDGE!r} names {names}, not {judge!r}",
        where=shown_name(path),
        advice=f"name one of these with {argument('judge')}, or leave it out",
    )


def labels_of_one_judge(by_judge: Mapping[str, LabelLists], judge: str | None, path: str) -> tuple[str, LabelLists]:
    """Return the judge and the labels of a file, if it has only one judge (see ``labels_of_judges``; InputError)."""
    of_judges = labels_of_judges(by_judge, judge, path)
    if len(of_judges) > 1:
        names = ", ".join(repr(name) if name else "no judge" for name in of_judges)
        raise InputError(
            f"the column {JUDGE!r} names {names}",
            where=shown_name(path),
            advice=f"choose one with {argument('judge')}, or store all with: ndcg-track labels add FILE",
        )
    return next(iter(of_judges.items()))


SliceRow = tuple[str, str | None, int, float | None, float | None, float | None]
"""A metric, the value of an attribute, how many groups have it, their mean, and its 95% interval."""


def slice_rows(evaluation: Evaluation, attribute: str, groups: object, group: str | None = None) -> list[SliceRow]:
    """Return the rows of ``Evaluation.by``."""
    from ndcg_tracker.ingest.groups import GroupColumns, read_group_frame, read_groups
    from ndcg_tracker.questions.show.decide import run_slices

    columns, values = GroupColumns(group), by_group(groups, attribute)
    path = path_of(groups)
    if values is not None:
        table = read_group_frame(values)
    else:
        table = read_group_frame(groups, columns) if path is None else read_groups(path, columns=columns)
    if attribute not in table.attributes:
        attributes = ", ".join(table.attributes) or "none"
        raise InputError(f"there is no attribute {attribute!r}", where=path, advice=f"choose one of {attributes}")
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


def path_of(given: object) -> str | None:
    """Return the path that was given, None for anything else."""
    if isinstance(given, os.PathLike):
        given = os.fspath(given)
    return given if isinstance(given, str) else None


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
    matches = _Match()
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

    def scored(pair: tuple[Run, LabelLists]) -> tuple[_Match, list[GroupValues]]:
        both: Judged = judged(*pair)
        match = _Match.of(both)
        if unstable:
            match.on_sort = n_on_sort(values_with_bounds(both, unstable))
        return match, group_values(both, parsed)

    for match, of_block in mapped(scored, pairs()):
        matches.add(match)
        values.add(of_block)
    all_notes = [*matches.notes(parsed, doubts), *joined_notes(notes, has_labels=has_labels)]
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


@dataclass(slots=True)
class _Match:
    """How well some groups of a run match their labels.

    ``meeting``: numbers of groups, as ``meeting_notes`` takes them. ``of_run`` and ``of_labels``: a few of the groups.
    """

    is_empty: bool = True
    any_item: bool = False
    whole_grades: bool = True
    whole_scores: bool = True
    highest: float = -math.inf
    unordered: list[int | None] = field(default_factory=list)
    on_sort: dict[Metric, int] = field(default_factory=dict)
    meeting: Index = field(default_factory=lambda: np.zeros(4, dtype=np.int64))
    of_run: list[str] = field(default_factory=list)
    of_labels: list[str] = field(default_factory=list)
    spelling: Spelling = field(default_factory=Spelling)

    @classmethod
    def of(cls, both: Judged) -> _Match:
        """Return the match of a run and its labels."""
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
            [n_unordered(both.ranking)],
            {},
            np.array(meeting, dtype=np.int64),
            of_run,
            of_labels,
            Spelling.of(both),
        )

    def add(self, other: _Match) -> None:
        """Add groups that were not added before."""
        self.is_empty &= other.is_empty
        self.any_item |= other.any_item
        self.whole_grades &= other.whole_grades
        self.whole_scores &= other.whole_scores
        self.highest = max(self.highest, other.highest)
        self.unordered += other.unordered
        self.on_sort = {metric: n + self.on_sort.get(metric, 0) for metric, n in other.on_sort.items()}
        self.meeting += other.meeting
        self.spelling.add(other.spelling)
        for kept, some in ((self.of_run, other.of_run), (self.of_labels, other.of_labels)):
            kept += some[: SHOWN - len(kept)]

    def notes(self, metrics: Sequence[Metric], doubts: Doubts) -> list[Note]:
        """Return notes on labels and scores for these metrics. Raises: InputError for no overlap, unless allowed."""
        if self.is_empty:
            return [Note("nothing_found")]
        swapped = [Note("swapped")] if self.whole_scores and not self.whole_grades else []
        if self.any_item:
            meeting = meeting_notes(*self.meeting.tolist(), metrics=metrics)
            of_ties = [*unordered_notes(self.unordered), *unstable_sort_notes(self.on_sort)]
            return [*swapped, *self.spelling.notes(), *meeting, *of_ties, *below_rel_notes(metrics, self.highest)]
        n_shared = int(self.meeting[1] - self.meeting[0])
        return [doubts.none_met(self.spelling, n_shared, self.of_run, self.of_labels), *swapped]


def parsed_metrics(texts: str | Sequence[str]) -> list[Metric]:
    """Return the metrics that texts name (InputError if there are none, MetricError for an unknown one)."""
    if not texts:
        raise InputError("no metric was given", advice="name at least one, such as ndcg@10")
    return parse_metrics(texts)
