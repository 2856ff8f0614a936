"""Store a run: settle its labels, compute its metrics, and write everything in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as replace_fields
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, cast

from ndcg_tracker.asked import DOUBTS, allowed
from ndcg_tracker.errors import InputError, NameTakenError, NdcgTrackerError, SealedError, argument
from ndcg_tracker.ingest.documents import Chunks
from ndcg_tracker.ingest.table import RankedTable, joined_notes
from ndcg_tracker.metrics.language.axes import AXIS_OF
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.rankings.groups_share import in_share, stored_share
from ndcg_tracker.rankings.join import judged
from ndcg_tracker.rankings.keys import Keys, joined_digest
from ndcg_tracker.rankings.ranking import GroupWeights, LabelLists, Ranking, are_whole, joined_weights, may_be_grades
from ndcg_tracker.runs.groups import keep_texts
from ndcg_tracker.runs.judges import JudgeNames, judged_share_notes, met_labels_notes, numbered_labels
from ndcg_tracker.runs.labels import RunLabels, held_labels, label_source
from ndcg_tracker.runs.no_answer import NO_ANSWER, no_answer
from ndcg_tracker.runs.parts import part_of
from ndcg_tracker.runs.samples import checked_sample, kept_as, sampled_note
from ndcg_tracker.runs.scoring import (
    Scores,
    StoredMetric,
    StoredMetrics,
    above_highest_notes,
    below_rel_notes,
    meeting_notes,
    n_on_sort,
    on_unstable_sort,
    restore,
    settle_weights,
    store_scores,
    stored_metric,
    stored_scores,
    unordered_notes,
    unstable_sort_notes,
)
from ndcg_tracker.runs.spelling import SHOWN, Doubts
from ndcg_tracker.storage.checks import checked_name, stored_time
from ndcg_tracker.storage.records import WITHOUT_ANSWER, LabelOrigin, with_extended
from ndcg_tracker.words.notes import Note, all_one_notes, in_words
from ndcg_tracker.words.texts import judge_words

if TYPE_CHECKING:
    from ndcg_tracker.ingest.shapes import Recognised
    from ndcg_tracker.runs.question import RunTold
    from ndcg_tracker.storage.records import DatasetRecord, LabelSetRecord, RunRecord
    from ndcg_tracker.storage.runs import RankedFacts
    from ndcg_tracker.storage.runs import RunDetails as StoredDetails
    from ndcg_tracker.storage.store import ReadTransaction, Store, WriteTransaction


_STORED = ("source", "git_commit", "parameters", "tags", "created_at_utc", "sampled", "groups_share")


@dataclass(frozen=True)
class RunDetails:
    """The stored facts about a run, apart from its content.

    ``labels_source``: the file of its labels, None if it is its own. ``created_at_utc``: as ``stored_time`` returns it,
    None for the time of storing. ``allow``: the doubtful input that may pass. ``groups_share``: the share of the groups
    that its blocks and labels were cut to, as "1/100", None for all. ``replace``: it replaces other content of its
    name. ``texts``: of its items. ``recognised``: what was recognised in its files so far. ``empty_lists``: returns the
    queries for which its file has an empty list.
    """

    name: str
    dataset: str = "default"
    source: str | None = None
    git_commit: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    labels_source: str | None = None
    created_at_utc: str | None = None
    sampled: str | None = None
    allow: frozenset[str] = frozenset()
    groups_share: str | None = None
    replace: bool = False
    texts: Mapping[str, str] = field(default_factory=dict)
    recognised: Sequence[Recognised] = ()
    empty_lists: Callable[[], Mapping[str, Sequence[str]]] = dict

    @classmethod
    def given(
        cls,
        told: RunTold,
        paths: Sequence[str] = (),
        *,
        labels: str | None = None,
        sampled: str | None = None,
        groups_share: str | float | None = None,
        allow: str | Sequence[str] = (),
    ) -> RunDetails:
        """Return the details of a run as a caller gives them, checked. Raises: InputError."""
        return cls(
            checked_name("run", told.name or ""),
            checked_name("dataset", told.dataset),
            ", ".join(map(source_name, paths)) or None,
            told.git_commit,
            dict(told.parameters or {}),
            dict(told.tags or {}),
            None if labels is None else source_name(labels),
            None if told.created_at is None else stored_time(told.created_at),
            None if sampled is None else checked_sample(sampled),
            allowed(allow),
            None if groups_share is None else stored_share(groups_share),
            told.replace,
        )

    @property
    def stored(self) -> StoredDetails:
        """What is stored with the run itself."""
        return cast("StoredDetails", {name: getattr(self, name) for name in _STORED})


@dataclass(frozen=True)
class MetricsUnder:
    """The metrics of a run under one version of the labels; ``judge``: who gave them, "" for no named one."""

    label_set_version: int
    judge: str
    metrics: StoredMetrics


@dataclass(frozen=True)
class IngestResult:
    """The outcome of ingesting a run.

    ``outcome``: "stored", "replaced", "restored" (it was pruned, and has its items again), or "already stored" (only
    the metrics marked new were added). ``metrics``: in the order in which they were given, and by their texts:
    ``metrics["AP"].mean``. ``notes``: remarks, in words. ``judge``: who gave the labels, "" for the unnamed judge.
    ``further``: the same metrics under the labels of the other judges that were named. ``is_sealed``: whether the
    dataset is sealed, so that nothing else is shown.
    """

    run: str
    run_id: int
    dataset: str
    outcome: str
    n_groups: int
    n_items: int
    label_set_version: int
    metrics: StoredMetrics
    notes: tuple[str, ...]
    judge: str = ""
    further: tuple[MetricsUnder, ...] = ()
    is_sealed: bool = False

    @property
    def under(self) -> tuple[MetricsUnder, ...]:
        """The metrics under the labels of each judge."""
        return (MetricsUnder(self.label_set_version, self.judge, self.metrics), *self.further)

    def __str__(self) -> str:
        head = f"{self.outcome}: run {self.run!r} (id {self.run_id}) of dataset {self.dataset!r}"
        lines = [
            f"{stored} ({judge_words(of.judge)})" if of.judge or self.further else str(stored)
            for of in self.under
            for stored in of.metrics
        ]
        return "\n".join([head, *lines, *(f"note: {note}" for note in self.notes)])

    def __repr__(self) -> str:
        return str(self)


class _Coming:
    """A run that comes in blocks with its labels, and its digest and counts once all blocks have come."""

    def __init__(self, blocks: Iterable[RankedTable], labels: RunLabels, *, is_sampled: bool = False) -> None:
        self._blocks = iter(blocks)
        self._is_sampled = is_sampled
        self.labels = labels
        self.digest = joined_digest([])
        self.n_groups = self.n_items = 0
        self._weights: list[GroupWeights] = []
        self._notes: list[Note] = []
        self._has_labels = False
        self._may_be_grades = self._are_whole = True
        self._chunks: Chunks | None = None
        self._samples: list[str] = []
        self._tie_order: str | None = None

    def whole_digest(self) -> str | None:
        """Return the digest of the content before any of it is used, None if it comes in several blocks."""
        first = list(islice(self._blocks, 2))
        self._blocks = chain(first, self._blocks)
        return first[0].ranking.digest() if len(first) == 1 else None

    def blocks(self) -> Iterator[tuple[Ranking, LabelLists]]:
        """Yield the items and the labels of one block after the other."""
        for block in self._blocks:
            ranking = block.ranking
            self.digest = joined_digest([self.digest, ranking.digest()])
            self.n_groups += ranking.n_groups
            self.n_items += ranking.n_items
            self._tie_order = ranking.tie_order
            if self._is_sampled:
                self._samples.append(ranking.sample_digest())
            if block.weights is not None:
                self._weights.append(block.weights)
            self._notes += block.notes
            if block.chunks is not None:
                self._chunks = block.chunks if self._chunks is None else self._chunks + block.chunks
            self._has_labels |= block.labels is not None
            labels = self.labels.of(block)
            self._may_be_grades &= may_be_grades(ranking.scores)
            self._are_whole &= not self._may_be_grades or are_whole(labels.grades)
            del block  # frees memory while the next block is read
            yield ranking, labels
            del ranking, labels

    @property
    def notes(self) -> list[Note]:
        """The notes of its reader."""
        swapped = [Note("swapped")] if self.n_items and self._may_be_grades and not self._are_whole else []
        return [*joined_notes(self._notes, has_labels=self._has_labels), *swapped]

    @property
    def ranked(self) -> RankedFacts:
        """What the run ranks: a sample of the items, or documents instead of chunks; and what breaks its ties."""
        chunks = self._chunks
        return {
            "sample_digest": joined_digest(self._samples) if self._samples else None,
            "collapsed": None if chunks is None else chunks.collapse,
            "documents_in_ten": None if chunks is None else chunks.n_documents / max(chunks.n_groups, 1),
            "tie_order": self._tie_order,
        }

    @property
    def weights(self) -> GroupWeights | None:
        """The weights of the groups that came, None if none has one."""
        return joined_weights(self._weights) if self._weights else None


def digested(blocks: Iterable[RankedTable]) -> Iterator[RankedTable]:
    """Yield the blocks with their content digests computed, which is work for the thread that reads ahead."""
    for block in blocks:
        block.ranking.digest()
        yield block
        del block  # frees memory while the next block is read


@dataclass(frozen=True)
class ReadyRun:
    """A run that was read at once, with its digest; ``scores``: of all its groups, None if not computed yet."""

    table: RankedTable
    scores: Scores | None


def ready_run(table: RankedTable, labels: LabelLists | None, metrics: Sequence[Metric]) -> ReadyRun:
    """Return a run with all that can be computed without the database; ``labels``: None for those in the run.

    Errors of metrics are raised when the run is stored.
    """
    ranking = table.ranking
    ranking.digest()
    if labels is None:
        return ReadyRun(table, None)
    scores = Scores(list(dict.fromkeys(metrics)))
    try:
        scores.add(judged(ranking, held_labels(labels).of(ranking.group_keys)))
    except NdcgTrackerError:
        return ReadyRun(table, None)
    return ReadyRun(table, scores)


def store_run(
    store: Store,
    blocks: Iterable[RankedTable],
    labels: LabelLists | None,
    details: RunDetails,
    metrics: Sequence[Metric],
    *,
    scores: Scores | None = None,
    judges: JudgeNames = None,
) -> IngestResult:
    """Store a run with its labels, metrics and group results in one transaction, and return the outcome.

    Memory holds the blocks in use, ``labels``, and per group its id and its results. The transaction is open while the
    blocks after the first are read; on Postgres others can write meanwhile (see ``storage/locks.py``).
    Parameters: ``blocks``: of whole groups; a run that is read at once is one block. ``scores``: of all groups of the
    blocks under ``labels``, if they are known (see ``ready_run``). ``judges``: who gave these labels, or whose labels
    the run is evaluated under (see ``RunLabels``). Raises: ConflictError if the name is taken by other content or a
    label contradicts a stored one; InputError if there are no labels; the errors of the blocks.
    """
    coming_blocks = iter(blocks)
    first = list(islice(coming_blocks, 1))  # before the lock, so that nobody has to wait for a silent pipe
    blocks = chain(first, coming_blocks)
    columns = [*(table.group_column for table in first), "" if labels is None else labels.group_column]
    with store.write(run=(details.dataset, details.name)) as tx:
        dataset = tx.write.datasets.ensure(details.dataset, group_column=next(filter(None, columns), ""))
        part = part_of(tx, dataset)
        is_sealed = part is not None and part.is_sealed
        if part is not None:
            blocks, labels, scores = part.blocks(blocks), part.labels(labels), None
            metrics = [parse_metric(part.seal.metric)] if part.seal.metric is not None else metrics
        # a refusal would reveal which items have labels
        doubts = Doubts(DOUBTS if is_sealed else details.allow, details.name)
        of_share = details.groups_share is not None
        source = details.labels_source or details.source
        of_run = RunLabels(tx, dataset, labels, source, judges, doubts, extend=of_share)
        scores = None if of_share else scores  # the stored labels of its groups count, too
        coming = _Coming(blocks, of_run, is_sampled=details.sampled is not None)
        ask = partial(_stored, tx, dataset, coming, details, metrics, scores, doubts)
        if is_sealed:
            return _stored_alone(ask, dataset)
        result = ask()
        tags = {"allowed": ",".join(sorted(doubts.let_pass))} if doubts.let_pass else {}
        values, notes = _no_answer(tx, result, details)
        if values:
            tags[NO_ANSWER] = f"{sum(values.values()):.0f} of {len(values)}"
        if tags:
            tx.write.runs.set_tags(result.run_id, {**tx.runs.with_id(result.run_id).tags, **tags})
        result = replace_fields(result, notes=(*result.notes, *in_words(notes)))
        return result if part is None else replace_fields(result, notes=(*result.notes, *part.notes()))


def _no_answer(tx: WriteTransaction, result: IngestResult, details: RunDetails) -> tuple[dict[str, float], list[Note]]:
    """Return what a run does with the queries that have no answer according to its labels, and store which these are
    (see ``no_answer``)."""
    run = tx.runs.with_id(result.run_id)
    label_sets = tx.labels.sets(run.dataset_id, None)
    own = next(label_set for label_set in label_sets if label_set.version == result.label_set_version)
    queries = [query for found in details.recognised for query in found.without_answer]
    if queries:
        tx.write.labels.tell_origin(own, LabelOrigin(from_runs={WITHOUT_ANSWER: queries}))
    told = [(of.from_runs or {}).get(WITHOUT_ANSWER, ()) for of in with_extended(label_sets, {own.id})]
    queries = list(dict.fromkeys(chain(*told, queries)))
    if not queries:
        return {}, []
    number_of = dict(zip(queries, tx.groups.ids(run.dataset_id, Keys.from_strings(queries)).tolist(), strict=True))
    labelled, returned = (set(of.group_ids(owner).tolist()) for of, owner in ((tx.labels, own.id), (tx.runs, run.id)))
    queries = [query for query in queries if number_of[query] not in labelled]
    return no_answer(queries, [query for query in queries if number_of[query] in returned], details.empty_lists)


def _stored_alone(ask: Callable[[], IngestResult], dataset: DatasetRecord) -> IngestResult:
    """Return only that a run on a sealed dataset is stored, without any number computed from its labels."""
    try:
        result = ask()
    except (NameTakenError, SealedError):  # another conflict would reveal a stored weight
        raise
    except NdcgTrackerError:
        told = InputError(
            f"the run cannot be stored on sealed dataset {dataset.name!r}; the reason is not shown",
            advice="ingest a run like it on open data to see the reason",
        )
    else:
        stored = replace_fields(result, outcome="stored", is_sealed=True)
        return replace_fields(stored, metrics=StoredMetrics([]), further=(), notes=())
    raise told


def _stored(
    tx: WriteTransaction,
    dataset: DatasetRecord,
    coming: _Coming,
    details: RunDetails,
    metrics: Sequence[Metric],
    scores: Scores | None,
    doubts: Doubts,
) -> IngestResult:
    wanted = list(dict.fromkeys(metrics))
    run, outcome, moved, scores = _settled_run(tx, dataset, coming, details, wanted, scores)
    label_set, is_new = coming.labels.settled()
    weights = settle_weights(tx, dataset, coming.weights)
    twins = [twin.name for twin in tx.runs.with_digest(dataset.id, run.digest) if twin.name != run.name]
    notes = [Note("same_content", {"run": name}) for name in twins[:1]]
    notes += [] if run.n_items else [Note("nothing_found")]
    done = _stored_metrics(tx, run, label_set)
    new = [metric for metric in wanted if str(metric) not in done]
    if new:
        if scores is None:  # ties are in the order that was stored first
            scores = stored_scores(tx, run, new, label_source(tx, label_set)())
        done |= {stored.metric: stored for stored in store_scores(tx, run, label_set, scores, weights, new)}
        n_missing = max((stored.n_missing for stored in done.values()), default=0)
        n_labelled = label_set.n_groups
        if run.groups_share is not None:
            labelled = tx.groups.keys(dataset.id, tx.labels.group_ids(label_set.id))
            n_labelled = int(in_share(labelled, run.groups_share).sum())
        if not scores.n_judged and run.n_items:
            both = tx.runs.group_ids(run.id), tx.labels.group_ids(label_set.id)
            of_run, of_labels = (tx.groups.keys(dataset.id, ids[:SHOWN]).to_list() for ids in both)
            n_shared = n_labelled - n_missing
            notes.append(doubts.none_met(scores.spelling, n_shared, of_run, of_labels, new, dataset.name))
        else:
            notes += scores.spelling.notes(new, dataset.name)
        n_labels = label_set.n_labels * n_labelled / max(label_set.n_groups, 1)
        notes += judged_share_notes(tx, run, label_set) or met_labels_notes(
            scores.n_judged, n_labels, scores.coverage(), dataset.name
        )
        notes += unordered_notes(scores.unordered)
        notes += unstable_sort_notes(n_on_sort(scores.groups(on_unstable_sort(new))))
        n_unlabelled = run.n_groups - (n_labelled - n_missing)
        notes += meeting_notes(n_missing, n_labelled, n_unlabelled, run.n_groups, metrics=wanted)
    notes += keep_texts(tx, dataset, details.texts, doubts) + coming.labels.notes()
    notes += [] if run.sampled is None else [sampled_note(run.sampled)]
    notes += [] if run.groups_share is None else [Note("groups_share", {"share": run.groups_share})]
    let_pass = {"failed_responses": "failed", "duplicates": "duplicates:{how}"}
    for note in coming.notes:
        name = let_pass.get(note.kind, "").format(**note.facts)
        notes.append(doubts.passed(note, name) if name else note)
    notes += [Note("alias_moved", {"alias": alias, "run_id": run.id}) for alias in moved]
    if is_new and label_set.version > 1:
        version = str(label_set.version)
        again = ("ndcg-track", "rescore", "--all", "--dataset", dataset.name, "--labels", version)
        notes.append(Note("new_labels", {"version": label_set.version}, again))
    metrics_of_run = StoredMetrics(done[str(metric)] for metric in wanted)
    of_ndcg = [done[str(metric)] for metric in wanted if metric.measure == "ndcg"]
    is_zero = any(stored.mean == 0 for stored in metrics_of_run)
    if is_zero or any(metric.measure in AXIS_OF["highest"].measures for metric in wanted):
        highest = float(tx.labels.lists(label_set.id).grades.max(initial=0.0))
        notes += [*(below_rel_notes(wanted, highest) if is_zero else []), *above_highest_notes(wanted, highest)]
    notes += all_one_notes((stored.requested_as, stored.mean, stored.n_groups) for stored in of_ndcg)
    facts = (run.n_groups, run.n_items, label_set.version, metrics_of_run, in_words(notes), label_set.judge)
    further = tuple(_under(tx, run, judge, wanted, weights) for judge in coming.labels.further)
    return IngestResult(run.name, run.id, dataset.name, outcome, *facts, further)


def _under(
    tx: WriteTransaction, run: RunRecord, judge: str, metrics: Sequence[Metric], weights: GroupWeights | None
) -> MetricsUnder:
    """Return the metrics of a stored run under the latest labels of a judge; metrics that it lacks are stored."""
    label_set = numbered_labels(tx, run.dataset_id, run.dataset, judge=judge)
    done = _stored_metrics(tx, run, label_set)
    new = [metric for metric in metrics if str(metric) not in done]
    if new:
        scores = stored_scores(tx, run, new, label_source(tx, label_set)())
        done |= {stored.metric: stored for stored in store_scores(tx, run, label_set, scores, weights, new)}
    return MetricsUnder(label_set.version, judge, StoredMetrics(done[str(metric)] for metric in metrics))


def source_name(path: str) -> str:
    """Return a path as it is stored: bytes that are not UTF-8, which no database can store, are escaped."""
    return path.encode("utf-8", "backslashreplace").decode("utf-8")


def _settled_run(
    tx: WriteTransaction,
    dataset: DatasetRecord,
    coming: _Coming,
    details: RunDetails,
    metrics: Sequence[Metric],
    ready_scores: Scores | None,
) -> tuple[RunRecord, str, list[str], Scores | None]:
    """Return the run that holds the content, the outcome, the aliases that moved to it, and its scores.

    The scores are None for a run that is already stored.
    """
    existing = tx.runs.named(dataset.id, details.name)
    if existing is None:
        run, scores = _written(tx, dataset, coming, details, metrics, ready_scores)
        return run, "stored", [], scores
    is_whole = "items" in tx.runs.holds(existing.id)
    if not details.replace or coming.whole_digest() == existing.digest:
        for ranking, _ in coming.blocks():
            if not is_whole:
                tx.write.runs.append_missing(existing.id, dataset.id, ranking)
        if coming.digest != existing.digest:
            raise _other_content(dataset, details)
        existing = _sampled(tx, existing, coming.ranked, details)
        if is_whole:
            return existing, "already stored", [], None
        restore(tx, existing)
        return existing, "restored", [], None
    if tx.write.runs.redo(existing.id):
        run, scores = _written(tx, dataset, coming, details, metrics, ready_scores)
        return run, "replaced", [], scores
    aside = f"{existing.name[:100]} {existing.digest}"  # until we know whether the content differs
    run, scores = _written(tx, dataset, coming, replace_fields(details, name=aside), metrics, ready_scores)
    if run.digest == existing.digest and is_whole:
        tx.write.runs.delete(run.id)
        return _sampled(tx, existing, coming.ranked, details), "already stored", [], None
    tx.keep_marks()
    moved = _taken_aliases(tx, dataset, existing)
    tx.write.runs.delete(existing.id)
    run = tx.write.runs.rename(run.id, existing.name)
    for alias in moved:
        tx.write.aliases.set(dataset.id, alias, run.id)
    return run, "replaced", moved, scores


def _sampled(tx: WriteTransaction, run: RunRecord, ranked: RankedFacts, details: RunDetails) -> RunRecord:
    """Return a stored run that comes again, marked as a sample if it is one now and may be replaced.

    Raises: NameTakenError if it is stored as another sample.
    """
    if details.sampled is None or details.sampled == run.sampled:
        return run
    if not details.replace:
        raise NameTakenError(
            f"run {run.name!r} is {kept_as(run.sampled)}, not as a sample of {details.sampled}",
            advice=f"correct it with {argument('replace', True)}",
        )
    return tx.write.runs.mark_sampled(run.id, details.sampled, ranked.get("sample_digest"))


def _written(
    tx: WriteTransaction,
    dataset: DatasetRecord,
    coming: _Coming,
    details: RunDetails,
    metrics: Sequence[Metric],
    ready_scores: Scores | None,
) -> tuple[RunRecord, Scores]:
    """Store the blocks as they come, and score them if the scores are not known."""
    run_id = tx.write.runs.begin(dataset.id, details.name, **details.stored)
    scores = ready_scores or Scores(metrics, details.groups_share)
    for ranking, labels in coming.blocks():
        if ready_scores is None:
            scores.add(judged(ranking, labels))
        tx.write.runs.append(run_id, dataset.id, ranking)
    scores.complete(coming.labels)
    return tx.write.runs.finish(run_id, coming.digest, coming.n_groups, coming.n_items, **coming.ranked), scores


def _stored_metrics(tx: ReadTransaction, run: RunRecord, label_set: LabelSetRecord) -> dict[str, StoredMetric]:
    """Return the metrics that a run has under a label set, by canonical text."""
    return {
        evaluation.metric: stored_metric(evaluation, evaluation.metric, evaluation.requested_as, is_new=False)
        for evaluation in tx.evaluations.of_run(run.id)
        if evaluation.label_set_id == label_set.id
    }


def _other_content(dataset: DatasetRecord, details: RunDetails) -> NameTakenError:
    """Return the error for a name that is taken by other content."""
    return NameTakenError(
        f"run {details.name!r} of dataset {dataset.name!r} is already stored with other content",
        advice=(
            f"keep both with {argument('name', details.name + '-2')}, or replace it with {argument('replace', True)}"
        ),
    )


def _taken_aliases(tx: WriteTransaction, dataset: DatasetRecord, run: RunRecord) -> list[str]:
    """Delete the aliases of a run and return their names."""
    names = [alias.name for alias in tx.aliases.all(dataset.name) if alias.run_id == run.id]
    for name in names:
        tx.write.aliases.delete(dataset.id, name)
    return names
