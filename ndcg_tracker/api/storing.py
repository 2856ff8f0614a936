"""Methods of ``Tracker`` that store runs, results, labels, groups and texts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as replace_fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from ndcg_tracker.api.reading import Ingest, IngestKeywords, LabelKeywords, LabelReading
from ndcg_tracker.asked import (
    DEFAULT_DATASET,
    GROUP,
    AnyDataset,
    Dataset,
    Everyday,
    FactsFile,
    GroupColumn,
    GroupsShare,
    ItemIsText,
    ItemText,
    Judges,
    Labels,
    MetricTexts,
    Option,
    Positional,
    Reader,
    TextsFile,
    WeightColumn,
    Where,
    asks,
    made,
    name_given,
    parted,
)
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.ingest.text_columns import TextColumns, TextKeywords
from ndcg_tracker.metrics.language.metric import Direction, range_of
from ndcg_tracker.metrics.language.text import parse_metrics
from ndcg_tracker.rules import refuse
from ndcg_tracker.runs.question import (
    Extend,
    LabelledDataset,
    LabelsKept,
    ReplaceLabels,
    Rescore,
    RunTold,
    ToldKeywords,
)

if TYPE_CHECKING:
    from ndcg_tracker.ingest.frames import NullScores
    from ndcg_tracker.ingest.shapes import Recognised
    from ndcg_tracker.ingest.table import RankedTable
    from ndcg_tracker.rankings.ranking import LabelLists
    from ndcg_tracker.runs import scoring
    from ndcg_tracker.runs.designs import Answers
    from ndcg_tracker.runs.exchange import Imported
    from ndcg_tracker.runs.groups import GroupsSet, TextsAdded
    from ndcg_tracker.runs.ingest import IngestResult, ReadyRun, RunDetails
    from ndcg_tracker.runs.rescore import LabelsAdded, RescoredRun
    from ndcg_tracker.runs.sealing import SplitDataset
    from ndcg_tracker.storage.store import HasStore


def range_read(text: str) -> tuple[float, float]:
    """Return the range that a text means (InputError)."""
    low, comma, high = text.partition(",")
    if not comma or "," in high:
        raise InputError(f"{argument('range', text)} is not LOW,HIGH", advice="write, for example, 0,1 or 0,inf")
    return range_of(low, high)


ResultsFile = Annotated[object, Option("Values per group from another engine, instead of runs.", metavar="FILE")]
BetterResults = Annotated[
    Direction,
    Option("Whether higher or lower values of --results are better.", metavar="higher|lower", typed=str | None),
]
RangeOfResults = Annotated[
    tuple[float, float],
    Option("Range of the values of --results, such as 0,1 or 0,inf.", metavar="LOW,HIGH", read=range_read),
]
ValueColumn = Annotated[
    str | None, Option("Column of the values of --results.", default="value, or the only other column")
]
MeasureOfFile = Annotated[str | None, Option("The measure to take if a file has several.")]
LabelsFile = Annotated[object, Positional("The labels; - is standard input.", metavar="FILE")]
OfJudge = Annotated[str | None, Everyday("Who gave the labels: a person, a pool or a model.", metavar="NAME")]
AddedBy = Annotated[str, Option("Who gave the labels, if not the judge.", metavar="NAME")]
FromRuns = Annotated[Sequence[str], Option("Runs whose logs the labels come from: A,B.", metavar="RUNS", read=parted)]
Model = Annotated[str, Option("The model that gave the labels.", metavar="NAME")]
Prompt = Annotated[str, Option("Its prompt, or the prompt's version.", metavar="TEXT")]
LabelVersion = Annotated[int | None, Option("Version of the labels.", metavar="VERSION", default="the latest")]
Attributes = Annotated[
    Sequence[str] | None, Option("Column of an attribute; repeatable.", metavar="COLUMN", default="all other columns")
]
DefaultWeight = Annotated[
    float | None, Option("Weight of groups that have none, now and later; nan removes it.", metavar="W")
]
ReplaceTexts = Annotated[bool, Option("Also give labelled items other texts.")]
Splittable = Annotated[str, Positional("A dataset with labels and without runs.", metavar="NAME")]
SealedMetric = Annotated[str, Option("The metric of all gates on the sealed part.")]
SealedMargin = Annotated[float, Option("The drop that all its gates allow, in absolute points.", metavar="X")]
SealedShare = Annotated[float | None, Option("Share of the groups to seal, such as .5.", metavar="SHARE")]
SealedLooks = Annotated[int | None, Option("How many gates share the budget of 5%.", metavar="N", default="40")]
FixedBaseline = Annotated[
    str | None, Option("The baseline of all gates.", metavar="RUN", default="each gate names one")
]
KeptTogether = Annotated[str | None, Option("Keep groups with the same value together.", metavar="ATTRIBUTE")]
Seed = Annotated[str | None, Option("Seed of the random choice of groups.", metavar="TEXT", default="random")]
Move = Annotated[bool, Option("Move dataset NAME, which an older version sealed, with its runs and looks.")]


@asks(Ingest)
def ingest(
    self: HasStore,
    frame: object,
    *,
    name: str | None = None,
    labels: Labels = None,
    texts: Mapping[str, str] | None = None,
    null_scores: NullScores = "error",
    **keywords: Unpack[IngestKeywords],
) -> IngestResult:
    """Store a run, with its labels, metrics and the result of every group, in one transaction.

    Parameters: ``frame`` (a path or a table), ``labels``, the columns, ``null_scores``, ``reader``, ``columns``,
    ``scores``, ``item_to_document``, ``collapse``, ``groups_share``, ``stream``: see ``evaluate``; labels of the kept
    groups are added to those stored. ``texts``: texts of items by id, which are stored (see ``add_texts``). ``text``:
    the column or key of a file that has them. ``item_is_text``: the items have no ids, and are texts.
    ``sampled``: for runs that rank the relevant items among sampled negatives: how
    many of how many, such as "100/50000". Their metrics are marked and are compared only with metrics of the same
    sample. ``name``: unique within ``dataset``; by default the name of the file. ``metrics``: one text form or several.
    ``tags`` and ``parameters``: stored with the run. The entries of an ir_metadata header in a file become tags too,
    and so do those of ``metadata``: a file of ir_metadata next to the run, as tirex-tracker writes it. ``created_at``:
    when the run was made, by default now: a datetime, or ISO 8601 text, in UTC unless it has a time zone. ``replace``:
    replace other content under this name. ``judge``: who gave ``labels``, or the labels in the run. Without such
    labels: whose stored labels count, those of one judge, of several, or "*" for all; by default the unnamed judge's,
    else those of the only judge. ``allow``: doubtful input to let pass, as the tag ``allowed`` then says: "failed" for
    responses that are errors, timed out or lack shards, which are left out, so that their queries count as missing;
    "no-overlap" for a run and labels, or labels and those stored before, that have no group or item in common;
    "duplicates:first", "duplicates:best" or "duplicates:same" for several rows of an item (see ``evaluate``);
    "changed-texts" for labelled items with another text than when they were labelled. Returns: what was done. Raises:
    InputError for a frame that cannot be read, and for what ``allow`` does not let pass; ConflictError if the name is
    taken by other content, if a label in the run contradicts a stored one, or if more than a tenth of ``labels`` do.
    """
    return store_run_of(self, made(Ingest, keywords, name=name, texts=texts, null_scores=null_scores), frame, labels)


def store_run_of(
    self: HasStore,
    what: Ingest,
    frame: object,
    labels: object,
    source: str | None = None,
    ready: ReadyRun | None = None,
) -> IngestResult:
    """Store a run (see ``ingest``).

    ``source``: what to call its file, if not by its path. ``ready``: the run, if it is read and scored already.
    """
    from ndcg_tracker.ingest.by_shape import empty_lists
    from ndcg_tracker.ingest.columns import RUN_TABLE
    from ndcg_tracker.ingest.documents import texts_read
    from ndcg_tracker.ingest.ir_metadata import run_metadata, side_metadata
    from ndcg_tracker.ingest.reading import path_of, texts_given
    from ndcg_tracker.metrics.language.dialects import are_by_rank
    from ndcg_tracker.runs.ingest import RunDetails

    path, what = path_of(frame), replace_fields(what.named(frame), by_rank=are_by_rank(what.metrics))
    given = what.labels_given(labels, what.only_judge, frame)
    beside = {} if what.metadata is None else side_metadata(os.fspath(what.metadata))
    tags = {**({} if path is None else run_metadata(path)), **beside, **(what.tags or {})}
    texts = texts_read(what.documents, what.texts)
    if what.text is not None:
        texts = texts_given(path or "-", what.text, what.of_run(given.source), RUN_TABLE, what.reader)
    details = RunDetails.given(
        replace_fields(what, tags=tags),
        [name for name in (source or path,) if name is not None],
        labels=path_of(given.source),
        sampled=what.sampled,
        groups_share=what.groups_share,
        allow=what.allow,
    )
    told: dict[str, Any] = {"recognised": what.recognised, "texts": texts}
    told["empty_lists"] = partial(empty_lists, frame, what.of_run(given.source))
    details, whose = replace_fields(details, **told), what.judge or ([given.judge] if given.judge else None)
    options: Any = {"details": details, "metrics": what.metrics, "judge": whose}
    if ready is not None:
        stored = ingest_stream(self, [ready.table], given.lists, scores=ready.scores, **options)
    else:
        stored = what.used_by(frame, given, partial(ingest_stream, self, **options))
    store_recognised(self, what.recognised, what.dataset)
    return stored


@dataclass(frozen=True, kw_only=True)
class ResultsTold(RunTold):
    """The columns of the results of another engine, and the run that has them (see ``Tracker.log_results``)."""

    group: GroupColumn = None
    value: ValueColumn = None
    measure: MeasureOfFile = None
    groups_share: GroupsShare = None
    reader: Reader = None


class ResultsKeywords(ToldKeywords, total=False):
    """How people give ``ResultsTold`` (generated)."""

    group: GroupColumn
    value: ValueColumn
    measure: MeasureOfFile
    groups_share: GroupsShare
    reader: Reader


@asks(ResultsTold)
def log_results(
    self: HasStore,
    results: ResultsFile,
    *,
    metric: str,
    direction: BetterResults,
    range: RangeOfResults,
    name: str | None = None,
    **keywords: Unpack[ResultsKeywords],
) -> IngestResult:
    """Store group results that another engine computed, to compare, gate and plot them like others.

    They are paired only with results of the same name, under any labels. They cannot be recomputed or explained.
    Parameters: ``results``: a dict with a value per group; a table with one row per group, such as PyTerrier's
    ``perquery``; or a file (CSV, TSV, JSON, JSON lines, Parquet, or the output of ``trec_eval -q``). ``metric``: its
    name, such as "latency"; the metric is then ``external:latency``. ``direction``: "higher" or "lower", whichever is
    better. ``range``: the lowest and the highest possible value; either may be infinite. ``name``: the name of the
    run, stored or new. ``group``, ``value``: the columns; ``value`` is optional if there is only one other column.
    ``measure``: which one to take if there are several. ``groups_share``: see ``evaluate``. ``replace``: replace other
    results of this run and name. The
    rest as for ``ingest``. Raises: InputError for any other table; ConflictError if the run or the dataset has another
    definition of the name.

    >>> import tempfile, ndcg_tracker as nt
    >>> with tempfile.TemporaryDirectory() as folder, nt.Tracker(f"{folder}/runs.db") as tracker:
    ...     for run, values in (("old", [120.0, 80.0, 95.0]), ("new", [100.0, 71.0, 80.0])):
    ...         of_groups = dict(zip(("q1", "q2", "q3"), values))
    ...         _ = tracker.log_results(of_groups, metric="latency", direction="lower", range=(0, 1e6), name=run)
    ...     found = tracker.compare("old", "new").to_dict()["metrics"][0]
    >>> found["metric"], round(found["delta"], 2), found["wins"], found["verdict"]
    ('external:latency(direction=lower, range=0..1000000)', -14.67, 3, 'improved')
    """
    from ndcg_tracker.ingest.detection import default_run_name
    from ndcg_tracker.ingest.reading import path_of
    from ndcg_tracker.ingest.results import ResultColumns, read_results
    from ndcg_tracker.metrics.language.metric import named_external
    from ndcg_tracker.runs.external import store_results
    from ndcg_tracker.runs.ingest import RunDetails

    parsed = named_external(metric, direction, *map(str, range))
    told, path = made(ResultsTold, keywords, name=name), path_of(results)
    if name is None:
        if path is None:
            raise InputError("the run of the results has no name", advice=f"name it with {argument('name')}")
        told = replace_fields(told, name=default_run_name(path))
    details = RunDetails.given(told, [] if path is None else [path], groups_share=told.groups_share)
    columns = ResultColumns(told.group, told.value, told.measure)
    table = read_results(results, parsed.limits or (0.0, 0.0), reader=told.reader, columns=columns)
    with self.store(create=True).write() as tx:
        return store_results(tx, table, parsed, details)


def ingest_stream(
    self: HasStore,
    blocks: Iterable[RankedTable],
    labels: LabelLists | None,
    details: RunDetails,
    metrics: str | Sequence[str],
    *,
    scores: scoring.Scores | None = None,
    judge: str | Sequence[str] | None = None,
) -> IngestResult:
    """Store a run that a reader has read at once, as one block, or reads block by block (see ``ingest``).

    ``scores``: its metrics, if they are computed already (see ``runs.ingest.store_run``).
    """
    from ndcg_tracker.api.evaluation import fitting, parsed_metrics
    from ndcg_tracker.concurrency import reading_ahead
    from ndcg_tracker.runs.ingest import digested, ready_run, store_run

    parsed = parsed_metrics(metrics)
    coming = fitting(blocks, labels)
    if isinstance(blocks, list):  # refuse a run that was read at once before creating a database for it
        whole = list(coming)
        coming = iter(whole)
        if scores is None and len(whole) == 1:  # and score it before others have to wait for it
            scores = ready_run(whole[0], labels, parsed).scores
    with reading_ahead(digested(coming)) as read:  # the first blocks are read while the store opens
        store = self.store(create=True, dataset=details.dataset)
        return store_run(store, read, labels, details, parsed, scores=scores, judges=judge)


def rescore(
    self: HasStore,
    references: str | Sequence[str] = (),
    *,
    metrics: MetricTexts = (),
    dataset: AnyDataset = None,
    labels: LabelVersion = None,
    judge: Judges = None,
) -> list[RescoredRun]:
    """Evaluate stored runs (none named: all) under the latest labels, from their stored items.

    ``metrics``: text forms; by default the metrics that each run has. ``labels``: another version of the labels.
    ``judge``: the latest labels of a judge, or of each of several judges, "*" for all. Without names, pruned runs are
    left out, with the time in ``pruned_at_utc``. Raises: ReferenceNotFoundError for a run or a version that does not
    exist; InputError for a judge without labels, and for a named run that was pruned.
    """
    from ndcg_tracker.runs.rescore import rescore_stored

    parsed = parse_metrics(metrics)
    named = [references] if isinstance(references, str) else references
    return rescore_stored(self.store(), named, parsed, dataset=dataset, version=labels, judges=judge)


@dataclass(frozen=True, kw_only=True)
class AnswersTold(LabelReading):
    """How to read the grades of a judge, and of which dataset they are (see ``Tracker.add_answers``)."""

    dataset: LabelledDataset = DEFAULT_DATASET
    judge: OfJudge = None
    where: Where = None


class AnswersKeywords(LabelKeywords, total=False):
    """How people give ``AnswersTold`` (generated)."""

    dataset: LabelledDataset
    judge: OfJudge
    where: Where


@dataclass(frozen=True, kw_only=True)
class LabelsTold(LabelsKept, AnswersTold):
    """How to read labels, where they come from, and what to do with them (see ``Tracker.add_labels``)."""

    text: ItemText = None
    item_is_text: ItemIsText = False
    added_by: AddedBy = ""
    from_runs: FromRuns = ()
    model: Model = ""
    prompt: Prompt = ""


class LabelsKeywords(AnswersKeywords, total=False):
    """How people give ``LabelsTold`` (generated)."""

    item_is_text: ItemIsText
    extend: Extend
    replace: ReplaceLabels
    rescore: Rescore
    text: ItemText
    added_by: AddedBy
    from_runs: FromRuns
    model: Model
    prompt: Prompt


@asks(LabelsTold)
def add_labels(
    self: HasStore,
    labels: LabelsFile,
    *,
    texts: Mapping[str, str] | None = None,
    source: str | None = None,
    **keywords: Unpack[LabelsKeywords],
) -> LabelsAdded:
    """Make labels the latest version of a dataset; return the version and whether it is new.

    A file with a column ``judge`` gives each judge a version, one after the other. The result holds the first;
    its ``further`` holds the others. With ``judge`` only the rows of that judge are read.

    ``labels``: a path, a table or a nested dict, as ``evaluate`` takes them; with columns ``document``, ``start`` and
    ``end`` instead of items, gold spans. ``group``, ``item``, ``label`` and ``items``: names of its columns.
    ``relevant`` and ``item_to_document``: see ``evaluate``. ``texts`` and ``item_is_text``: see ``ingest``. ``source``:
    where they come from, by default the path. ``judge``: who gave them, such as a model's name; if the unnamed judge
    has labels as well, those of a judge count only if you name the judge. ``extend``: add them to the judge's latest
    version. ``replace``: replace that version, even if more than a tenth of its groups then have no labels
    (ConflictError without it). ``rescore``: evaluate the dataset's stored runs under them in the same transaction;
    ``rescored`` of the result has the outcome for each, without pruned runs. ``added_by``: who gave these labels, if
    not the judge whose version they extend. ``from_runs``: names of the runs that users were shown, whose logs these
    labels come from. ``model`` and ``prompt``: of a model that gave them; ``change_of_labels`` tells if the judge's
    version before has others. ``where``: only the rows of a file with these values in these columns.
    """
    from ndcg_tracker.ingest.columns import LABEL_TABLE
    from ndcg_tracker.ingest.documents import texts_read
    from ndcg_tracker.ingest.guesses import Given, all_columns
    from ndcg_tracker.ingest.reading import path_of, read_labels_by_judge, texts_given
    from ndcg_tracker.runs.ingest import source_name
    from ndcg_tracker.runs.rescore import store_labels
    from ndcg_tracker.storage.records import WITHOUT_ANSWER, LabelOrigin

    told, path = made(LabelsTold, keywords), path_of(labels)
    names = told.of_file()
    with all_columns(None, None if path in (None, "-") else Given(path, names, told.reader)):
        of_judges = read_labels_by_judge(
            labels, reader=told.reader, columns=names, judge=told.judge or "", where=told.where
        )
    texts = texts_read(told.documents, texts)
    if told.text is not None:
        texts = texts_given(path or "-", told.text, names, LABEL_TABLE, told.reader)
    source = source_name(path) if source is None and path is not None else source
    store = self.store(create=True)
    aliases = [name for name in told.from_runs if name.startswith("@")]
    with store.read() as tx:
        run_of = {alias: tx.runs.resolve(alias, told.dataset).name for alias in aliases}
    runs = [run_of.get(name, name) for name in told.from_runs]
    origin = {"runs": runs, "model": [told.model], "prompt": [told.prompt]}
    origin[WITHOUT_ANSWER] = [query for golden in told.recognised for query in golden.without_answer]
    origin = {name: values for name, values in origin.items() if any(values)}
    in_file = next(iter(told.origins.values())) if len(told.origins) == len(of_judges) == 1 else None
    come_from = {name: {**(in_file or told.origins.get(name, {})), **origin} or None for name in of_judges}
    first, *further = (
        store_labels(
            store,
            told,
            given,
            LabelOrigin(source, name, added_by=told.added_by or None, from_runs=come_from[name]),
            texts,
        )
        for name, given in of_judges.items()
    )
    store_recognised(self, told.recognised, first.dataset)
    return first.beside(further)


def store_recognised(self: HasStore, found: Sequence[Recognised], dataset: str) -> None:
    """Store the texts and the attributes of the queries of golden sets."""
    for golden in found:
        queries = list(golden.attributes)
        names = dict.fromkeys(name for of_query in golden.attributes.values() for name in of_query)
        attributes = {name: [golden.attributes[query].get(name) for query in queries] for name in names}
        if names:
            set_groups(self, {"group": queries, **attributes}, dataset=dataset, group="group", attributes=[*names])
        texts = {query: text for query, text in golden.texts.items() if text != query and query in golden.labels}
        if texts:
            add_texts(self, {"group": [*texts], "text": [*texts.values()]}, dataset=dataset)


@asks(AnswersTold)
def add_answers(
    self: HasStore,
    answers: object,
    *,
    design: int,
    source: str | None = None,
    **keywords: Unpack[AnswersKeywords],
) -> Answers:
    """Store the grades that people gave to the items of a design (see ``labels_sample``); all of them or none.

    The answers are not a version of the labels. An item without a grade, or one that a file marks as ``unsure``,
    remains to be answered, and its query does not count until then. Parameters: ``answers``: a path, a table or a
    nested dict, and how to read it, as ``add_labels`` takes them. ``design``: its number in the dataset. ``judge``: who
    gave them, needed if they check a judge. ``source``: the file that a table was read from, so that errors can name
    the line. Returns: how many were new, and how many items still have no answer.
    Raises: InputError for an item that was not drawn and a grade off the scale; ConflictError for another answer to the
    same item, and for answers by somebody else.
    """
    from ndcg_tracker.ingest.reading import labels_of_one_judge, path_of
    from ndcg_tracker.ingest.records import place_of_pair
    from ndcg_tracker.runs.designs import answered_design

    path, told = path_of(answers), made(AnswersTold, keywords)
    judge = told.judge or None
    _, given = labels_of_one_judge(
        answers, reader=told.reader, columns=told.of_file(), judge=judge, where=told.where, unsure=True
    )
    place = partial(place_of_pair, source if path is None else path)
    with self.store().write("content") as tx:
        return answered_design(tx, told.dataset, design, judge, given, place)


def set_groups(
    self: HasStore,
    frame: FactsFile = None,
    *,
    dataset: Dataset = DEFAULT_DATASET,
    group: GroupColumn = GROUP,
    weight: WeightColumn = None,
    attributes: Attributes = None,
    default_weight: DefaultWeight = None,
    reader: Reader = None,
) -> GroupsSet:
    """Set attributes and weights of a dataset's groups from a table with one row per group, in one transaction.

    A null removes the attribute or the weight; anything that the frame does not name stays. What it says of groups that
    the dataset does not have is kept until they come. If a weight changes, the means that use it are recomputed.
    Parameters: ``frame``: a path, a table of any library, a dict of columns, or a value or a dict for each group; None
    only with ``default_weight``, the weight of all groups that have none, now and later. ``group``, ``weight``: names
    of columns, by default ``group`` and, if there is one, ``weight``. ``attributes``: names of columns, by default all
    others. ``reader``: see ``evaluate``. Raises: InputError for a frame that cannot be read, and MetricError if too
    many groups of a stored weighted mean have no weight.
    """
    from ndcg_tracker.ingest.groups import NO_GROUPS, GroupColumns, read_groups
    from ndcg_tracker.rankings.ranking import MAX_WEIGHT
    from ndcg_tracker.runs.groups import store_group_facts

    columns = GroupColumns(name_given(group), weight, None if attributes is None else tuple(attributes))
    if default_weight is not None and (default_weight < 0 or default_weight > MAX_WEIGHT):  # NaN removes it
        raise InputError(f"{argument('default_weight', default_weight)} is not a weight", advice="give 0 or more")
    refuse("groups set", {"frame": frame is not None, "default_weight": default_weight})
    table = NO_GROUPS if frame is None else read_groups(frame, reader=reader, columns=columns)
    with self.store().write("content") as tx:
        return store_group_facts(tx, dataset, table, default_weight)


@asks(TextColumns)
def add_texts(
    self: HasStore,
    frame: TextsFile,
    *,
    dataset: Dataset = DEFAULT_DATASET,
    replace: ReplaceTexts = False,
    reader: Reader = None,
    **keywords: Unpack[TextKeywords],
) -> TextsAdded:
    """Give groups and items of a dataset texts that people read instead of ids, in one transaction.

    A row with a group is about the query, a row with an item is about the item in every group, and a row with both is
    about the item in this group. A null removes a text; anything that the frame does not name stays. Parameters:
    ``frame``: a path, a table of any library, a dict of columns, or a text or a dict for each group (for each item if
    ``item`` is named). ``group``, ``item``, ``text``, ``title``, ``url``: names of columns, by default these names if
    they are there. ``replace``: also give labelled items other texts. ``reader`` and ``columns``: see ``evaluate``.
    Raises: InputError for a frame that cannot be read, if the dataset has none of its groups, and for labelled items
    with another text.
    """
    from ndcg_tracker.ingest.groups import read_texts
    from ndcg_tracker.runs.groups import store_texts

    table = read_texts(frame, reader=reader, columns=made(TextColumns, keywords))
    with self.store().write("content") as tx:
        return store_texts(tx, dataset, table, replace=replace)


def import_runs(
    self: HasStore,
    folder: str | os.PathLike[str],
    *,
    dataset: str | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> Imported:
    """Store an export of ``export_runs``, all of it or nothing, and check it as ``db check`` does.

    A copy of a whole database goes into an empty one, on either engine. Runs that were exported by name get the same
    names here, which must be free, with the labels that they were evaluated under; a run of the same content is here
    already and stays as it is. ``dataset``: another name for the dataset of such runs, if it is a single one.
    ``progress``: called with how many runs are checked, and how many there are. Raises: InputError for an export that
    contradicts itself, with its file and row; ConflictError for a name or a version of labels with other content here.
    """
    from ndcg_tracker.runs.exchange import import_all
    from ndcg_tracker.runs.export_files import ExportReader

    with ExportReader(Path(folder)) as reader, self.store(create=True).write() as tx:
        return import_all(tx, reader, dataset, progress=progress)


def split_dataset(
    self: HasStore,
    dataset: Splittable,
    *,
    metric: SealedMetric,
    margin: SealedMargin,
    move: Move = False,
    seal: SealedShare = None,
    looks: SealedLooks = None,
    baseline: FixedBaseline = None,
    cluster: KeptTogether = None,
    seed: Seed = None,
) -> SplitDataset:
    """Move a share of the groups of a dataset, with their labels, to the database of ``NDCG_TRACK_SEALED_DB``.

    That database is sealed from then on: only ``ingest`` and ``gate_sealed`` use it, and its dataset is called
    ``DATASET-sealed``. A keyed hash of its id decides for each group. The other groups stay. From runs and labels that
    come later, each part leaves out the groups of the other part. Split a dataset before its first run.

    Parameters: ``seal``: the share that is sealed, in (0, 1). ``metric``, ``margin``, ``baseline`` (the name of a run,
    by default each gate names one) and ``looks`` (how many share a budget of 5%, by default 40): the rules of all gates
    there. ``cluster``: an attribute of the groups; groups with the same value stay together, and gates count them as
    one. ``seed``: for the key of the hash, which is random by default. ``move``: move a dataset that an older version
    sealed, with all it has, under its name; its rows, free pages and backups here are deleted, and without ``looks`` it
    keeps those of its seal; a move that was interrupted can be repeated. Returns: how many groups each part has;
    ``done_before`` if the same was done already. Raises: ReferenceNotFoundError; ConflictError for a dataset with
    recorded results, or one that was split otherwise; InputError for a sealed database of another dataset, a share that
    leaves a part empty, and groups without the attribute.
    """
    from ndcg_tracker.questions.gate.gather_sealed import checked_rules
    from ndcg_tracker.runs import sealing
    from ndcg_tracker.storage.database import delete_backups, vacuum

    rules = checked_rules(metric, margin, looks if move or looks is not None else 40, baseline)
    refuse("datasets split", {"seal": seal, "move": move})
    with sealing.sealed_store(self.location) as held:
        if seal is None:
            done = sealing.move_sealed(self.location, dataset, held, rules)
        else:
            done = sealing.split_dataset(self.store(), dataset, held, rules, seal, cluster, seed)
    vacuum(self.location)  # the free pages of the file still hold the moved rows
    return replace_fields(done, deleted=tuple(delete_backups(self.location, dataset)) if move else ())
