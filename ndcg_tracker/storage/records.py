"""The records that the store returns: one per row, and columns for tables of many rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.rankings import Floats, Index
from ndcg_tracker.rankings.ranking import Unweighted
from ndcg_tracker.words.texts import DatasetName

EXTERNAL_JUDGE = "external results"
"""The judge of the label set without labels under which results of other engines are stored."""
SUMMED_JUDGE = "sums of other engines"
"""The judge of label sets of which only the digest is known: runs stored as sums were evaluated with them."""
NO_LABELS_HERE = (EXTERNAL_JUDGE, SUMMED_JUDGE)
"""Judges whose label sets have no labels in this database."""


@dataclass(frozen=True, slots=True)
class DatasetRecord:
    """A dataset; ``word``: what a group is, None if no file said."""

    id: int
    name: str
    created_at_utc: str
    word: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", DatasetName(self.name, self.word))


@dataclass(frozen=True, slots=True)
class SealRecord:
    """The mark of the dataset of a sealed database, with its policy, or of the open part of a split one."""

    dataset_id: int
    is_sealed: bool
    budget: float | None
    looks: int | None
    split: dict[str, Any] | None
    created_at_utc: str
    metric: str | None = None
    margin: float | None = None
    baseline_run: str | None = None


@dataclass(frozen=True, slots=True)
class DatasetCounts:
    """How much a dataset holds."""

    n_runs: int = 0
    n_groups: int = 0
    n_label_sets: int = 0


WITHOUT_ANSWER = "without_answer"
"""In ``from_runs``: the queries of which the labels say that nothing answers them."""


@dataclass(frozen=True, slots=True)
class LabelOrigin:
    """The origin of a version of labels; ``created_at_utc``: None for now.

    ``judge``: who gave them, "" for the default, unnamed judge. ``extends``: the version whose labels this one
    contains, together with the labels that ``added_by`` gave (None: the judge). ``from_runs``: what the labels come
    from, as far as it is said: {"runs": names} of the runs whose logs gave them, {"model": [name], "prompt": [text]} of
    a model that did, {"repeats": [text]} on how its labels of one item spread, {"left_out": [text]} on labels that are
    not numbers, and ``WITHOUT_ANSWER``.
    """

    source: str | None = None
    judge: str = ""
    created_at_utc: str | None = None
    extends: int | None = None
    added_by: str | None = None
    from_runs: Mapping[str, Sequence[str]] | None = None


UNKNOWN_ORIGIN = LabelOrigin()


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSetRecord(LabelOrigin):
    """A version of a dataset's labels; ``digest`` is ``LabelLists.digest()``.

    ``by_row_number``: whether items are identified by row numbers, None if unknown.
    """

    id: int
    dataset_id: int
    version: int
    digest: str
    n_groups: int
    n_labels: int
    by_row_number: bool | None
    created_at_utc: str

    def told(self, name: str) -> str:
        """Return what is said under a name of where the labels come from, such as the model; "" if nothing is."""
        return "".join((self.from_runs or {}).get(name, ()))

    @property
    def hand(self) -> str:
        """The judge of the labels that this version adds."""
        return self.judge if self.added_by is None else self.added_by


def with_extended(label_sets: Sequence[LabelSetRecord], used: set[int]) -> list[LabelSetRecord]:
    """Return the label sets with these ids, and the ones that they extend, which say who gave which label."""
    extended: set[int | None] = set()
    chosen = []
    for label_set in reversed(label_sets):
        if label_set.id in used or label_set.version in extended:
            chosen.append(label_set)
            extended.add(label_set.extends)
    return chosen[::-1]


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run without its items; ``digest`` is ``Ranking.digest()``."""

    id: int
    dataset_id: int
    dataset: str
    name: str
    digest: str
    created_at_utc: str
    source: str | None
    git_commit: str | None
    parameters: dict[str, Any]
    tags: dict[str, Any]
    n_groups: int
    n_items: int
    sampled: str | None
    sample_digest: str | None
    collapsed: str | None
    documents_in_ten: float | None
    tie_order: str | None
    stored_by: str | None
    groups_share: str | None = None

    @property
    def sample(self) -> tuple[str | None, str | None, str | None]:
        """The sample of items that it ranks, and its share of the groups: leaderboards rank runs of one kind."""
        return self.sampled, self.sample_digest, self.groups_share

    @property
    def is_checkpoint(self) -> bool:
        """Whether it is a checkpoint of a training, which counts as a run of its own only if somebody asks for it."""
        return self.tags.get("stage") == "iteration"

    def has_tags(self, tags: Mapping[str, str]) -> bool:
        """Return whether it has all these tags with these values."""
        return all(key in self.tags and str(self.tags[key]) == value for key, value in tags.items())


@dataclass(frozen=True, slots=True)
class AliasRecord:
    """An alias, without the @, and its run."""

    dataset_id: int
    dataset: str
    name: str
    run_id: int
    run: str
    created_at_utc: str
    updated_at_utc: str


@dataclass(frozen=True, slots=True)
class SuiteRecord:
    """Named datasets that are compared together, in the given order."""

    name: str
    datasets: tuple[str, ...]
    created_at_utc: str


@dataclass(frozen=True, slots=True)
class DesignRunRecord:
    """A run of a design; ``run_id``: None once it is deleted. ``run``: its name at that time."""

    run_id: int | None
    run: str


@dataclass(frozen=True, slots=True)
class DesignRecord:
    """A sample of whole queries in which people grade what is open for two runs; of an older version, of single items.

    ``number``: its number in the dataset. ``label_set_id``: the labels of the judge whom it checks, or those with the
    holes that it fills; ``judge``: whose they are. ``checked_by``: who graded the items, None before the first answer.
    ``runs``: the baseline first. ``seed``: of the order of the queries. ``budget``: how many items there may be in all.
    ``kind``: "judge" or "holes", and "items" for one that an older version drew item by item; the other fields are
    those of such a design. ``answered_after_run_id`` and ``answered_after_label_set_id``: the latest that were stored
    before the first answer, None before that.
    """

    id: int
    dataset_id: int
    number: int
    label_set_id: int
    checked_by: str | None
    metric: str
    runs: tuple[DesignRunRecord, ...]
    budget: int
    planned_budget: int
    seed: str
    created_at_utc: str
    n_looks: int = 1
    look: int = 1
    not_tuned: bool = False
    greatest_grade: float | None = None
    answered_after_run_id: int | None = None
    answered_after_label_set_id: int | None = None
    kind: str = "items"
    judge: str = ""

    @property
    def run_ids(self) -> frozenset[int | None]:
        """The ids of its runs, with None for a deleted run."""
        return frozenset(of.run_id for of in self.runs)


@dataclass(frozen=True, slots=True)
class DrawnItemRecord:
    """An item of a design; ``grade``: the grade that people gave, None before that.

    ``answered_after_run_id``: the latest run before the grade was stored, None for answers to older designs.
    """

    group_id: int
    item_key: str
    probability: float
    grade: float | None
    answered_at_utc: str | None
    answered_after_run_id: int | None = None


@dataclass(frozen=True, slots=True)
class EvaluationRecord:
    """A run under one label set and one metric.

    ``mean``: None where no group has a value. ``worst_mean`` and ``best_mean``: with all ties in scores in the worst
    and in the best order, None if not computed. ``std_dev``: of the groups' values, None below two values.
    ``n_groups``: the groups in the mean. ``n_missing``: labelled groups that the run lacks. ``n_undefined``: groups
    without a value. ``requested_as``: the text by which the metric was first requested, else its canonical text.
    ``judge``: who gave the labels.
    """

    id: int
    run_id: int
    label_set_id: int
    label_set_version: int
    metric: str
    mean: float | None
    worst_mean: float | None
    best_mean: float | None
    std_dev: float | None
    n_groups: int
    n_missing: int
    n_undefined: int
    created_at_utc: str
    requested_as: str
    judge: str = ""


@dataclass(frozen=True, slots=True)
class HistoryRecord:
    """One run's evaluation under one metric, for a history; ``created_at_utc`` is the run's.

    ``requested_as``: see ``EvaluationRecord``.
    """

    run_id: int
    run: str
    created_at_utc: str
    git_commit: str | None
    evaluation_id: int
    label_set_id: int
    label_set_version: int
    mean: float | None
    std_dev: float | None
    n_groups: int
    n_missing: int
    n_undefined: int
    requested_as: str
    sampled: str | None
    sample_digest: str | None
    groups_share: str | None = None

    @property
    def sample(self) -> tuple[str | None, str | None, str | None]:
        """The sample of items that it ranks, and its share of the groups: only runs with the same ones are compared."""
        return self.sampled, self.sample_digest, self.groups_share


@dataclass(frozen=True, slots=True)
class MetricUse:
    """A metric, the text by which it was last requested, and how many runs of a dataset have it."""

    metric: str
    requested_as: str
    n_runs: int


@dataclass(frozen=True, slots=True)
class GroupValueRecord:
    """One group in one run under one label set; ``value``: None where it is undefined or the run lacks the group.

    ``mean``: of the run. ``created_at_utc`` is the run's.
    """

    run_id: int
    run: str
    created_at_utc: str
    label_set_version: int
    value: float | None
    mean: float | None


@dataclass(frozen=True, slots=True)
class CoverageRecord:
    """The judged share of the top ``cutoff`` of a run's lists; cutoff None is the complete list."""

    run_id: int
    label_set_id: int
    cutoff: int | None
    judged_share: float


@dataclass(frozen=True, slots=True)
class GroupResultColumns:
    """All group results of an evaluation, by ascending group id.

    ``group_ids``: int64, shape (n,). ``values``, ``dcg``, ``ideal_dcg``: float64, shape (n,), NaN for NULL; the last
    two are None unless requested. ``undefined``: int64, the rows whose value is NULL, and ``reasons`` why, one each.
    """

    group_ids: Index
    values: Floats
    undefined: Index
    reasons: list[str]
    dcg: Floats | None = None
    ideal_dcg: Floats | None = None

    def reasons_by_row(self) -> NDArray[np.object_]:
        """Return one reason per row, None where the value is defined: object, shape (n,)."""
        by_row = np.full(self.group_ids.size, None, dtype=object)
        by_row[self.undefined] = self.reasons
        return by_row


@dataclass(frozen=True, slots=True)
class TextRecord:
    """The texts that people read instead of an id.

    ``group_id``: 0 for an item in every group. ``item_key``: "" for the group itself. ``text``, ``title``, ``url``: as
    given, None if not given.
    """

    group_id: int
    item_key: str
    text: str | None
    title: str | None
    url: str | None


@dataclass(frozen=True, slots=True)
class GroupWeightsById:
    """The stored weights of a dataset's groups: ids, ascending, and weights of those that have one."""

    ids: Index
    weights: Floats
    unweighted: Unweighted

    def weights_of(self, group_ids: Index) -> Floats:
        """Return the weights of the groups that a result uses (see ``Unweighted``); all 1 if no group has one.

        Raises: MetricError if too many of them have no weight.
        """
        if not self.ids.size:
            return np.ones(group_ids.size)
        places = np.minimum(np.searchsorted(self.ids, group_ids), self.ids.size - 1)
        lacking = self.ids[places] != group_ids
        weights = np.where(lacking, self.unweighted.weight, self.weights[places])
        self.unweighted.check(weights, lacking)
        return weights


Part = Literal["means", "groups", "results", "items"]
"""A part of a run that a question may need.

"means": the mean of each metric; "groups": the groups that it has; "results": the results of each group; "items":
the items of all its groups. A complete run has every part.
"""

_RESULTS = "means", "groups", "results"
_ADD = "to add them, ingest all its rows under the same name"
_STORE = f"to store a share of its groups, ingest its rows again with {argument('groups_share', '1/100')}"
_RESTORE = "to restore them, ingest its file again under the same name"


class Holds(Enum):
    """The parts of a run that are stored; ``"items" in holds`` says whether one is.

    Each kind has its parts, the message for a user who needs another part, and the advice.
    """

    WHOLE = (*_RESULTS, "items"), "is whole", ""
    SAMPLE = _RESULTS, "was stored with the items of only {share:.3g} of its groups", _ADD
    NO_ITEMS = _RESULTS, "was stored without items", _ADD
    SUMS = ("means",), "was stored as sums over its groups: the groups themselves are not here", _STORE
    PRUNED = _RESULTS, "was pruned at {at}: its items are gone", _RESTORE
    MEANS = ("means", "groups"), "was pruned at {at}: its items and group results are gone", _RESTORE

    @property
    def is_pruned(self) -> bool:
        """Whether the database once had more of it."""
        return self in (Holds.PRUNED, Holds.MEANS)

    def __contains__(self, part: Part) -> bool:
        return part in self.value[0]


@dataclass(frozen=True, slots=True)
class PruningRecord:
    """The parts that are stored of an incomplete run.

    ``summaries_only``: whether the results of its groups are gone, too. ``kept_share``: the share of groups that were
    stored with items, None for all of them; 0 with ``summaries_only`` for a run that was stored as sums over groups.
    """

    run_id: int
    created_at_utc: str
    summaries_only: bool
    kept_share: float | None = None

    @property
    def holds(self) -> Holds:
        """The parts of the run that are stored."""
        if self.summaries_only:
            return Holds.SUMS if self.kept_share == 0 else Holds.MEANS
        if self.kept_share is None:
            return Holds.PRUNED
        return Holds.SAMPLE if self.kept_share else Holds.NO_ITEMS

    def refusal(self, run: str) -> InputError:
        """Return the error for a question that needs a part that this run lacks."""
        _, state, advice = self.holds.value
        return InputError(f"run {run!r} {state.format(at=self.created_at_utc, share=self.kept_share)}", advice=advice)
