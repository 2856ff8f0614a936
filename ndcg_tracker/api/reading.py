"""How a run and its labels are read, from files, tables and objects; and ``nt.evaluate``."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack

from ndcg_tracker.asked import (
    DEFAULT_METRIC,
    GROUP,
    LABEL,
    SCORE,
    Allow,
    Collapsed,
    Grades,
    GroupColumn,
    GroupsShare,
    Header,
    ItemColumn,
    ItemIsText,
    ItemsPath,
    ItemText,
    ItemToDocument,
    Judges,
    LabelColumn,
    LabelJudge,
    Labels,
    Metadata,
    Metrics,
    OwnName,
    Reader,
    RelevantKey,
    Sampled,
    ScoreColumn,
    Scores,
    Stream,
    WeightColumn,
    allowed,
    asks,
    declared,
    grades_of,
    made,
)
from ndcg_tracker.errors import InputError, NdcgTrackerWarning, argument, warn
from ndcg_tracker.rules import refuse
from ndcg_tracker.runs.question import RunTold, ToldKeywords

if TYPE_CHECKING:
    from ndcg_tracker.api.evaluation import Evaluation
    from ndcg_tracker.ingest.columns import Columns
    from ndcg_tracker.ingest.documents import Collapse, Documents
    from ndcg_tracker.ingest.frames import NullScores
    from ndcg_tracker.ingest.shapes import Recognised
    from ndcg_tracker.rankings.ranking import LabelLists

T = TypeVar("T")


@dataclass(frozen=True)
class GivenLabels:
    """Labels that come apart from a run: as they were given, what they hold, and whose they are ("" if unnamed)."""

    source: object = None
    lists: LabelLists | None = None
    judge: str = ""


@dataclass(frozen=True, kw_only=True)
class LabelReading:
    """How to read labels, or a run with its labels (see ``evaluate``); an ``OwnName`` means that no name was given.

    What only runs have is declared by the questions about them. ``item_is_text``: the items have no ids, and are texts.
    ``recognised`` and ``origins``: see ``Columns``.
    """

    group: GroupColumn = GROUP
    item: ItemColumn = None
    score: str = SCORE
    label: LabelColumn = LABEL
    weight: str | None = None
    items: ItemsPath = None
    relevant: RelevantKey = None
    reader: Reader = None
    columns: Header = None
    item_to_document: ItemToDocument = None
    collapse: Collapse | None = None
    groups_share: str | float | None = None
    allow: Allow = ()
    grades: Grades = None
    item_is_text: bool = False
    recognised: list[Recognised] = field(default_factory=list, compare=False)
    origins: dict[str, dict[str, list[str]]] = field(default_factory=dict, compare=False)

    @cached_property
    def documents(self) -> Documents | None:
        """What the items are chunks of."""
        from ndcg_tracker.ingest.reading import documents_given

        return documents_given(self.item_to_document, self.collapse, item_is_text=self.item_is_text)

    def names(self, *roles: str, **further: Any) -> Columns:
        """Return the names that were given for some roles. Raises: InputError for what is not a name."""
        from ndcg_tracker.ingest.columns import Columns
        from ndcg_tracker.rankings.groups_share import parse_share

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
        beside: dict[str, Any] = {"documents": self.documents, "allow": allowed(self.allow), "groups_share": share}
        beside |= {"grades": grades_of(self.grades), "recognised": self.recognised, "origins": self.origins}
        return Columns(**given, **beside, **further)

    def of_file(self) -> Columns:
        """Return the columns of a file of labels that no run comes with."""
        from ndcg_tracker.ingest.columns import header_of

        return self.names("group", "item", "label", "items", "relevant", header=header_of(self.columns))


class LabelKeywords(TypedDict, total=False):
    """How people give ``LabelReading`` (generated)."""

    group: GroupColumn
    item: ItemColumn
    label: LabelColumn
    items: ItemsPath
    relevant: RelevantKey
    reader: Reader
    columns: Header
    item_to_document: ItemToDocument
    allow: Allow
    grades: Grades


@dataclass(frozen=True, kw_only=True)
class Reading(LabelReading):
    """How to read a run and its labels (see ``evaluate``); ``by_rank``: see ``Columns``."""

    score: ScoreColumn = SCORE
    weight: WeightColumn = None
    scores: Scores = None
    collapse: Collapsed = None
    groups_share: GroupsShare = None
    stream: Stream = None
    null_scores: NullScores = "error"
    by_rank: bool = False

    def of_run(self, labels: object) -> Columns:
        """Return the columns of a run; ``labels``: those that come apart, None for those in the run."""
        from ndcg_tracker.ingest.columns import header_of
        from ndcg_tracker.ingest.reading import may_have_columns, path_of

        path = path_of(labels)
        return self.names(
            *("group", "item", "score", "weight", "items", *(("label", "relevant") if labels is None else ())),
            is_shared=labels is not None and (path is None or may_have_columns(path)),
            header=header_of(self.columns, of_run=True),
            by_rank=self.by_rank,
            beside=labels,
        )

    def of_labels(self, run: object = None) -> Columns:
        """Return the columns of labels that come apart from a run."""
        from ndcg_tracker.ingest.columns import header_of

        header = header_of(self.columns, of_run=False)
        return self.names("group", "item", "label", "relevant", is_shared=True, header=header, beside=run)

    def labels_given(self, labels: object, judge: str | None = None, run: object = None) -> GivenLabels:
        """Return the labels that come apart from a run, read; ``judge``: whose, if they name several judges.

        ``run``: whose ids help to recognise them.
        """
        from ndcg_tracker.ingest.reading import labels_of_one_judge

        if labels is None or isinstance(labels, GivenLabels):
            return labels or GivenLabels()
        refuse("evaluate", {"labels": True, "row_numbers": self.item is False or self.item == ""})
        reader = (self.reader or "").partition(",")[2] or None
        with self.all_columns(run, labels):
            whose, lists = labels_of_one_judge(labels, reader=reader, columns=self.of_labels(run), judge=judge)
        return GivenLabels(labels, lists, whose)

    def all_columns(self, run: object, labels: object) -> AbstractContextManager[None]:
        """Let the error for a column without a known name tell of those of both files (see ``guesses``)."""
        from ndcg_tracker.ingest.guesses import Given, all_columns
        from ndcg_tracker.ingest.reading import path_of

        of_run, _, of_labels = (self.reader or "").partition(",")
        paths, given = [path_of(run), path_of(labels)], (self.of_run(labels), self.of_labels(run))
        tables = [
            Given(path, columns, reader or None) if path not in (None, "-") else None
            for path, columns, reader in zip(paths, given, (of_run, of_labels), strict=True)
        ]
        return all_columns(*tables)

    def used_by(self, frame: object, given: GivenLabels, use: Callable[..., T]) -> T:
        """Return the result of a function of a run's blocks and its labels, which may be called twice."""
        from ndcg_tracker.ingest.by_shape import known_or_recognised
        from ndcg_tracker.ingest.frames import frame_blocks
        from ndcg_tracker.ingest.reading import ids_of, in_blocks_or_whole, path_of

        of_run, path, apart = self.of_run(given.source), path_of(frame), given.lists is not None
        of_files = {"reader": self.reader, "columns": self.columns, "scores": self.scores}
        refuse("evaluate", {**of_files, "null_scores": self.null_scores, "in_memory": path is None})
        if path is None:
            read = partial(frame_blocks, labels_apart=apart, null_scores=self.null_scores)
            blocks = known_or_recognised(lambda run, names, _: read(run, names), frame, "results", of_run, ids_of)
            return use(blocks, given.lists)
        with self.all_columns(path, given.source):
            return in_blocks_or_whole(
                path,
                lambda blocks: use(blocks, given.lists),
                stream=self.stream,
                reader=self.reader and (self.reader.partition(",")[0] or None),
                columns=of_run,
                scores_path=None if self.scores is None else os.fspath(self.scores),
                labels_apart=apart,
            )


class ReadingKeywords(LabelKeywords, total=False):
    """How people give ``Reading`` (generated)."""

    score: ScoreColumn
    weight: WeightColumn
    collapse: Collapsed
    groups_share: GroupsShare
    scores: Scores
    stream: Stream


@dataclass(frozen=True, kw_only=True)
class Ingest(RunTold, Reading):
    """What to store of a run, and how to read it (see ``Tracker.ingest``)."""

    metrics: Metrics = DEFAULT_METRIC
    text: ItemText = None
    texts: Mapping[str, str] | None = None
    item_is_text: ItemIsText = False
    sampled: Sampled = None
    metadata: Metadata = None
    judge: Judges = None

    @property
    def only_judge(self) -> str | None:
        """The judge, if one is named."""
        judges = [self.judge] if isinstance(self.judge, str) else self.judge
        return judges[0] if judges and len(judges) == 1 else None

    def named(self, frame: object) -> Ingest:
        """Return the same with a name: by default that of the file."""
        from ndcg_tracker.ingest.detection import default_run_name
        from ndcg_tracker.ingest.reading import path_of

        if self.name is not None:
            return self
        path = path_of(frame)
        if path is None:
            raise InputError(f"a {type(frame).__name__} has no name", advice=f"name the run with {argument('name')}")
        return replace(self, name=default_run_name(path))


class IngestKeywords(ReadingKeywords, ToldKeywords, total=False):
    """How people give ``Ingest`` (generated)."""

    metrics: Metrics
    item_is_text: ItemIsText
    text: ItemText
    sampled: Sampled
    metadata: Metadata
    judge: Judges


@asks(Reading)
def evaluate(
    frame: object,
    metrics: Metrics = DEFAULT_METRIC,
    *,
    labels: Labels = None,
    judge: LabelJudge = None,
    null_scores: NullScores = "error",
    **keywords: Unpack[ReadingKeywords],
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
    ``relevant``: the key of the relevant items in a golden set, if it is not clear. ``grades``: what words mean as
    labels, such as ``{"irrelevant": 0, "relevant": 2}``.
    ``item_to_document``: says that items are chunks, and of which documents. It is a pattern for what follows the
    document's id in an item's id, such as ``"#.*"``, a column, a file with one row per item and its document, or a
    dict. The label of a document is the highest label of its chunks. ``collapse``: the score of a document is the
    ``"max"`` of its chunks' scores (the default), the score of its ``"first"`` row, or their ``"sum"``.
    ``groups_share``: keep only this share of the groups, such as "1/100", chosen by a hash of their ids.
    ``null_scores``: what a NaN score of a table means: "error" or "not_retrieved". ``reader``: the reader of the
    file, if its name and content do not show it. ``columns``: the column names of a CSV or TSV file without a
    header, such as ``"qid,pid,rank"``. ``scores``: the predictions of a label/qid file, one per line. ``allow``:
    doubtful input to let pass: "failed" for responses that are errors, timed out or lack shards, which are then
    left out; "no-overlap" for a run and labels that have nothing in common; "duplicates:first", "duplicates:best" or
    "duplicates:same" for several rows of an item, of which the first, the best or, if they are equal, one counts;
    "duplicates:mean" for several labels of one judge; "bad-grades" for labels that are not numbers, which are left out.
    ``judge``: the judge whose labels count, if a column ``judge`` of ``labels`` names several. ``stream``:
    whether to read the file block by block, to save
    memory; by default large files in which the rows of each group are contiguous. Returns: an ``Evaluation``. Raises:
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
    reading = made(Reading, keywords, null_scores=null_scores)
    evaluation = evaluated(reading, frame, labels, metrics, judge)
    for note in evaluation.notes:
        warn(NdcgTrackerWarning(note, where="the run"))
    return evaluation


def evaluated(
    reading: Reading, frame: object, labels: object, metrics: str | Sequence[str], judge: str | None = None
) -> Evaluation:
    """Return the evaluation of a run (see ``evaluate``)."""
    from ndcg_tracker.api.evaluation import evaluate_blocks
    from ndcg_tracker.ingest.by_shape import empty_lists
    from ndcg_tracker.metrics.language.dialects import are_by_rank
    from ndcg_tracker.runs.no_answer import no_answer
    from ndcg_tracker.words.notes import in_words

    refuse("evaluate", {"judge": judge, "labels": labels})
    reading = replace(reading, by_rank=are_by_rank(metrics))
    use = partial(evaluate_blocks, metrics=metrics, allow=reading.allow)
    given = reading.labels_given(labels, judge, frame)
    evaluation = reading.used_by(frame, given, use)
    without_answer = [query for found in reading.recognised for query in found.without_answer]
    keys = evaluation.results[0].group_keys.to_list() if without_answer else []
    values, notes = no_answer(without_answer, keys, partial(empty_lists, frame, reading.of_run(given.source)))
    return replace(evaluation, no_answer=values, notes=(*evaluation.notes, *in_words(notes)))


def names_in_read() -> list[str]:
    """Return the options of reading that ``--read`` names."""
    return [one.name for one in declared(Reading) if one.name != "stream"]


def read_as(given: str | Mapping[str, Any]) -> Reading:
    """Return how to read files that are named in place of runs: what ``--read`` says.

    Parameters: ``given``: options of ``evaluate`` for reading, as ``NAME=VALUE`` with blanks between them and quotes
    as in a shell, or as a mapping. Raises: InputError for an unknown name, one that is there twice, and a value that
    its option does not take.

    >>> reading = read_as("group=qid item=doc,pid score=-position label==1 reader=csv")
    >>> reading.group, reading.item, reading.score, reading.label, reading == read_as({"group": "qid"})
    ('qid', 'doc,pid', '-position', '=1', False)
    """
    options = names_in_read()
    if isinstance(given, Mapping):
        pairs = [(str(name), value) for name, value in given.items()]
    else:
        try:
            parts = [part.partition("=") for part in shlex.split(given)]
        except ValueError:
            raise InputError(f"{argument('read', given)} has a quote that is never closed", advice="close it") from None
        for name, equals, _ in parts:
            if not equals:
                what = f"{name!r} in {argument('read', given)} is not of the form NAME=VALUE"
                raise InputError(what, advice=f"write {argument('read', 'group=qid item=doc')}")
        pairs = [(name.replace("-", "_"), value) for name, _, value in parts]
    names = [name for name, _ in pairs]
    for name in names:
        if name not in options:
            raise InputError(f"{argument('read')} does not know {name!r}", advice=f"give one of {', '.join(options)}")
        if names.count(name) > 1:
            raise InputError(f"{argument('read')} gives {name} twice", advice="keep one of the two")
    reading = Reading(**dict(pairs))
    reading.names()  # refuses what is wrong with the values
    return reading
