"""Groups of a run that are scored elsewhere: as bytes for the database, and published as one run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.errors import ConflictError, DatabaseError, InputError
from ndcg_tracker.ingest.table import RankedTable, joined_notes
from ndcg_tracker.metrics.kernel.mean import GroupValues
from ndcg_tracker.metrics.kernel.values import variants
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.rankings.keys import Keys, joined_digest, mixed
from ndcg_tracker.rankings.ranking import LabelLists, Ranking
from ndcg_tracker.runs.labels import group_keys_of
from ndcg_tracker.runs.scoring import ScoredGroups, Scores
from ndcg_tracker.words.notes import Note

if TYPE_CHECKING:
    from ndcg_tracker.rankings import Floats, Index, Mask
    from ndcg_tracker.rankings.ranking import GroupWeights
    from ndcg_tracker.runs.labels import RunLabels, WholeLabels
    from ndcg_tracker.storage.runs import RankedFacts

_OWN_SEED = 9  # no other hash of ids has this seed
_OF_GROUPS = ("values", "dcg", "ideal_dcg", "reasons", "empty", "n_items", "labelled")
_OF_BOUNDS = ("values", "reasons", "empty")
"""The columns of the values with ties broken that a mean needs."""


@dataclass(frozen=True)
class StagedGroups:
    """Some groups of a run, scored: ``table`` only has the items of groups whose items are stored.

    ``digest``, ``n_items``: of the items of all groups. ``labels_digest``: of the labels that they were scored under.
    """

    table: RankedTable
    digest: str
    labels_digest: str
    n_items: int
    scored: ScoredGroups

    @classmethod
    def of(cls, table: RankedTable, labels: LabelLists, scored: ScoredGroups, kept_share: float | None) -> StagedGroups:
        """Return groups that were scored under some labels, with the items of a share of them; None for all."""
        digest, n_items = table.run.digest(), table.run.n_items
        if kept_share is not None:
            run = _of_kept(table.ranking, is_kept(table.run.group_keys, kept_share))
        else:
            run = table.ranking
        kept = RankedTable(run, table.labels, None, table.by_row_number, table.notes)
        return cls(kept, digest, labels.digest(), n_items, scored)


def is_kept(keys: Keys, share: float) -> Mask:
    """Return which groups belong to a share of all, only by a hash of their ids, so it is the same for every run.

    >>> is_kept(Keys.from_strings(["a", "b", "c", "d"]), 0.5).tolist()
    [False, False, True, True]
    """
    return mixed(keys.hashes(_OWN_SEED)) < np.uint64(share * 2.0**63) * np.uint64(2)


def _of_kept(run: Any, kept: Mask) -> Ranking:
    """Return a run with all groups, and the items of some."""
    lengths = np.diff(run.offsets)
    rows = np.repeat(kept, lengths)
    offsets = np.concatenate([[0], np.cumsum(np.where(kept, lengths, 0))])
    return Ranking(run.group_keys, offsets, run.item_keys.take(np.flatnonzero(rows)), run.numbers[rows])


def to_bytes(groups: StagedGroups) -> bytes:
    """Return groups as an Arrow stream of one row: a list per column, equal ones once, and the rest as JSON.

    Reading it never runs code from it, even if somebody else wrote it.
    """
    columns = _Columns()
    table, scored = groups.table, groups.scored
    columns.add_items("run", table.ranking)
    if table.labels is not None:
        columns.add_items("labels", table.labels)
    columns.add_keys("groups", scored.values[0][0].group_keys)
    for number, of_metric in enumerate(scored.values):
        for variant, values in enumerate(of_metric):
            for name in _OF_BOUNDS if variant else _OF_GROUPS:
                columns.add(f"{number}.{variant}.{name}", getattr(values, name))
    for cutoff, shares in scored.shares.items():
        columns.add(f"share.{cutoff or 0}", shares)
    return columns.to_bytes(
        {
            "digest": groups.digest,
            "labels_digest": groups.labels_digest,
            "n_items": groups.n_items,
            "n_judged": scored.n_judged,
            "notes": [[note.kind, note.facts] for note in table.notes],
        }
    )


def from_bytes(content: bytes, metrics: Sequence[Metric]) -> StagedGroups:
    """Return the groups that ``to_bytes`` was given, for the same metrics."""
    columns = _Columns.from_bytes(content)
    facts = columns.facts
    keys = columns.keys("groups")
    shared = {name: columns.get(f"0.0.{name}") for name in ("n_items", "labelled")}
    values = []
    for number, metric in enumerate(metrics):
        own = {name: columns.get(f"{number}.0.{name}") for name in _OF_GROUPS} | shared
        bounds = (
            GroupValues(
                variant, keys, **{**own, **{name: columns.get(f"{number}.{place}.{name}") for name in _OF_BOUNDS}}
            )
            for place, variant in enumerate(variants(metric), 1)
        )
        values.append((GroupValues(metric, keys, **own), *bounds))
    shares = {metric.cutoff: columns.get(f"share.{metric.cutoff or 0}") for metric in metrics}
    run = Ranking(*columns.items("run"))
    labels = LabelLists(*columns.items("labels")) if columns.has("labels") else None
    notes = tuple(Note(kind, note_facts) for kind, note_facts in facts["notes"])
    table = RankedTable(run, labels, None, notes=notes)
    return StagedGroups(
        table,
        facts["digest"],
        facts["labels_digest"],
        facts["n_items"],
        ScoredGroups(values, shares, facts["n_judged"]),  # type: ignore[arg-type]
    )


class StagedBlocks:
    """A run that comes in staged groups, with its labels; ``runs/ingest.py`` uses it like blocks that are read.

    ``kept_share``: the share of groups whose items it brings, by a hash of their ids; None for all. ``scores``: of the
    groups that came. ``group_ids`` returns the ids of groups in the database. ``check_labels``: whether the labels may
    differ from those that the groups were scored under.
    """

    def __init__(
        self,
        contents: Iterable[bytes],
        labels: RunLabels | WholeLabels,
        metrics: Sequence[Metric],
        digest: str,
        kept_share: float | None,
        group_ids: Callable[[Keys], Index],
        *,
        check_labels: bool,
    ) -> None:
        self._contents = contents
        self._metrics = metrics
        self._stated = digest
        self.labels = labels
        self.kept_share = kept_share
        self.scores = Scores(metrics)
        self.digest = joined_digest([])
        self.n_groups = self.n_items = 0
        self.weights: GroupWeights | None = None
        self._group_ids = group_ids
        self._checks_labels = check_labels
        self.ranked: RankedFacts = {}
        self._seen: Mask = np.zeros(0, dtype=np.bool_)
        self._notes: list[Note] = []
        self._has_labels = False

    def whole_digest(self) -> str | None:
        """Return the digest of the content, which is known before any of it is used."""
        return self._stated

    def blocks(self) -> Iterator[tuple[Ranking, LabelLists]]:
        """Yield the stored items and the labels, block by block.

        Raises: DatabaseError if they differ from what was staged; InputError for a group that came twice.
        """
        for content in self._contents:
            groups = from_bytes(content, self._metrics)
            table = groups.table
            ranking = table.ranking
            if self.kept_share is None and ranking.digest() != groups.digest:
                raise DatabaseError("staged rows differ from those that were written", advice="please report this")
            self._refuse_seen(group_keys_of(table))
            self.digest = joined_digest([self.digest, groups.digest])
            self.n_groups += ranking.n_groups
            self.n_items += groups.n_items
            self._notes += table.notes
            self._has_labels |= table.labels is not None
            self.scores.take(groups.scored)
            labels = self.labels.of(table)
            if self._checks_labels and labels.digest() != groups.labels_digest:
                raise ConflictError(
                    "the dataset got new labels of these groups while the run was computed",
                    advice="run the same command again",
                )
            yield ranking, labels
        if self.digest != self._stated:
            raise DatabaseError("the staged rows do not match the reports of the tasks", advice="please report this")

    def _refuse_seen(self, keys: Keys) -> None:
        ids = self._group_ids(keys)
        largest = int(ids.max(initial=-1))
        if largest >= self._seen.size:
            self._seen = np.append(self._seen, np.zeros(largest + 1, dtype=np.bool_))
        if self._seen[ids].any():
            twice = keys[int(np.argmax(self._seen[ids]))]
            raise InputError(
                f"group {twice!r} came from two tasks, so the rows change each time they are computed",
                advice="write them to a table first, and log that",
            )
        self._seen[ids] = True

    @property
    def notes(self) -> list[Note]:
        """The notes on its rows."""
        return joined_notes(self._notes, has_labels=self._has_labels)


class _Columns:
    """Arrays by name, and facts about them."""

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}
        self._same_as: dict[str, str] = {}
        self._names: dict[tuple[str, bytes], str] = {}
        self.facts: dict[str, Any] = {}

    def add(self, name: str, array: NDArray[Any]) -> None:
        """Add an array; equal ones are stored once."""
        first = self._names.setdefault((array.dtype.str, array.tobytes()), name)
        if first == name:
            self._arrays[name] = array
        else:
            self._same_as[name] = first

    def add_keys(self, name: str, keys: Keys) -> None:
        """Add ids: as numbers if they are numbers, else their bytes and lengths."""
        if keys.numbers is not None and keys.dictionary is None:
            self.add(f"{name}.numbers", keys.numbers)
        else:
            offsets = keys.offsets
            self.add(f"{name}.lengths", np.diff(offsets).astype(np.int16))
            self.add(f"{name}.data", keys.data[offsets[0] : offsets[-1]])

    def add_items(self, name: str, items: Any) -> None:
        """Add items of groups."""
        self.add(f"{name}.n", np.diff(items.offsets))
        self.add_keys(f"{name}.groups", items.group_keys)
        self.add_keys(f"{name}.items", items.item_keys)
        self.add(f"{name}.numbers", items.numbers)

    def has(self, name: str) -> bool:
        """Return whether there are items of this name."""
        return f"{name}.n" in self._arrays or f"{name}.n" in self._same_as

    def get(self, name: str) -> NDArray[Any]:
        """Return an array."""
        return self._arrays[self._same_as.get(name, name)]

    def keys(self, name: str) -> Keys:
        """Return ids."""
        numbers = f"{name}.numbers"
        if numbers in self._arrays or numbers in self._same_as:
            return Keys.from_numbers(self.get(numbers))
        lengths = self.get(f"{name}.lengths").astype(np.int64)
        return Keys(self.get(f"{name}.data"), np.concatenate([[0], np.cumsum(lengths)]))

    def items(self, name: str) -> tuple[Keys, Index, Keys, Floats]:
        """Return items of groups."""
        offsets = np.concatenate([[0], np.cumsum(self.get(f"{name}.n"))])
        return self.keys(f"{name}.groups"), offsets, self.keys(f"{name}.items"), self.get(f"{name}.numbers")

    def to_bytes(self, facts: Mapping[str, object]) -> bytes:
        """Return everything as bytes."""
        import pyarrow as pa

        lists = {}
        for name, array in self._arrays.items():
            plain = array.view(np.int8) if array.dtype == np.bool_ else array
            lists[name] = pa.LargeListArray.from_arrays(pa.array([0, plain.size], pa.int64()), pa.array(plain))
        told = json.dumps({"facts": facts, "same_as": self._same_as})
        batch = pa.record_batch(lists).replace_schema_metadata({"ndcg-tracker": told})
        sink = pa.BufferOutputStream()
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        with pa.ipc.new_stream(sink, batch.schema, options=options) as stream:
            stream.write_batch(batch)
        return bytes(sink.getvalue())

    @classmethod
    def from_bytes(cls, content: bytes) -> _Columns:
        """Return the arrays and facts that ``to_bytes`` wrote."""
        import pyarrow as pa

        with pa.ipc.open_stream(content) as stream:
            batch = stream.read_next_batch()
        told = json.loads(batch.schema.metadata[b"ndcg-tracker"])
        columns = cls()
        columns.facts, columns._same_as = told["facts"], told["same_as"]
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            array = np.asarray(column.values)
            columns._arrays[name] = array.view(np.bool_) if name.endswith((".empty", ".labelled")) else array
        return columns
