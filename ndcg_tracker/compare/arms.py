"""What the words of a comparison name: runs, patterns of them, and arms, the repeats of one system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ndcg_tracker.compare.limits import number_of
from ndcg_tracker.compare.results import RunRef
from ndcg_tracker.errors import InputError, ReferenceNotFoundError, argument
from ndcg_tracker.storage.references import ARM, is_pattern

if TYPE_CHECKING:
    from ndcg_tracker.storage.records import RunRecord
    from ndcg_tracker.storage.transactions import ReadTransaction

FEWEST_RUNS = 2


@dataclass(frozen=True, slots=True)
class Arm:
    """Runs that are repeats of one system, or one run alone; ``name``: the run's, or the reference of the arm."""

    name: str
    runs: tuple[RunRecord, ...]

    @classmethod
    def of(cls, run: RunRecord) -> Arm:
        """Return the arm of one run."""
        return cls(run.name, (run,))

    @property
    def ref(self) -> RunRef:
        """How reports name it."""
        if len(self.runs) == 1:
            return RunRef(self.name, self.runs[0].id)
        return RunRef(self.name, None, tuple(RunRef(run.name, run.id) for run in self.runs))

    @property
    def tags(self) -> Mapping[str, Any]:
        """The tags of its run; of several, the means of those that are numbers in all."""
        if len(self.runs) == 1:
            return self.runs[0].tags
        numbers = {name: [number_of(name, {}, run.tags) for run in self.runs] for name in self.runs[0].tags}
        known = {name: [one for one in of_runs if one is not None] for name, of_runs in numbers.items()}
        return {name: sum(of_runs) / len(of_runs) for name, of_runs in known.items() if len(of_runs) == len(self.runs)}


def arms_of(tx: ReadTransaction, references: Sequence[str], dataset: str | None = None) -> list[Arm]:
    """Return what each reference names; single runs are read together. Raises: see ``arm_or_run``."""
    if any(reference.startswith(ARM) for reference in references):
        return [arm_or_run(tx, reference, dataset) for reference in references]
    return [Arm.of(run) for run in tx.runs.resolve_all(references, dataset)]


def arm_or_run(tx: ReadTransaction, reference: str, dataset: str | None = None) -> Arm:
    """Return the arm ``tag:KEY=VALUE``, which is all runs with this tag, or the one run that a reference names.

    A run whose name is the reference comes first. Raises: ReferenceNotFoundError for an arm that is not of this form,
    has no run, or runs of several datasets; InputError for one of a single run.
    """
    every = tx.runs.all(dataset) if reference.startswith(ARM) else []
    if not reference.startswith(ARM) or any(run.name == reference for run in every):
        return Arm.of(tx.runs.resolve(reference, dataset))
    key, equals, value = reference.removeprefix(ARM).partition("=")
    if not key or not equals:
        raise ReferenceNotFoundError(f"{reference!r} is no arm", advice="write tag:KEY=VALUE, such as tag:arm=a")
    runs = [run for run in every if key in run.tags and str(run.tags[key]) == value]
    if not runs:
        raise ReferenceNotFoundError(
            f"no run has the tag {key}={value}", advice=f"give it with: ndcg-track runs tag RUN {key}={value}"
        )
    datasets = sorted({run.dataset for run in runs})
    if len(datasets) > 1:
        raise ReferenceNotFoundError(
            f"runs of several datasets ({', '.join(datasets)}) have the tag {key}={value}",
            advice=f"say which with {argument('dataset')}",
        )
    if len(runs) < FEWEST_RUNS:
        raise InputError(
            f"arm {reference!r} has one run, {runs[0].name!r}, and needs {FEWEST_RUNS} or more",
            advice="give further trainings this tag, or name the one run to compare it",
        )
    return Arm(reference, tuple(runs))


def named_runs(
    tx: ReadTransaction, candidates: Sequence[str | Sequence[str]], dataset: str | None, baseline: str = ""
) -> list[str]:
    """Return the references of candidates, each pattern replaced by the names of the runs that fit it.

    The baseline is not among those. Raises: ReferenceNotFoundError for a pattern that fits no other run.
    """
    if not isinstance(baseline, str):
        advice = "name it first, and the candidates after it"
        raise InputError(f"the baseline is one run's name, id or @alias as text, not {baseline!r}", advice=advice)
    found: list[str] = []
    for one in one_by_one(candidates):
        if not is_pattern(one):
            found.append(one)
            continue
        pinned = tx.runs.resolve(baseline, dataset) if baseline and ":" not in baseline else None
        runs = tx.runs.matching(one, dataset if pinned is None else pinned.dataset)
        names = [run.name for run in runs if pinned is None or run.id != pinned.id]
        if not names:
            raise ReferenceNotFoundError(f"no run but the baseline fits {one!r}", advice="name a candidate")
        found += names
    return list(dict.fromkeys(found))


def one_by_one(candidates: Sequence[str | Sequence[str]]) -> list[str]:
    """Return the references of runs that were given one by one or in lists (InputError for anything else)."""
    found: list[str] = []
    for given in candidates:
        each = [given] if isinstance(given, str) else given
        if not isinstance(each, (list, tuple)) or not all(isinstance(one, str) for one in each):
            raise InputError(f"a candidate is a run's name, id or @alias as text, or a list of these, not {given!r}")
        found += each
    return found
