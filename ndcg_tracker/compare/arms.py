"""The runs that the references of a comparison name: single runs, patterns, and repeats of one system."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np

from ndcg_tracker.compare.results import RunRef
from ndcg_tracker.errors import InputError, ReferenceNotFoundError, argument
from ndcg_tracker.storage.references import ARM, is_pattern
from ndcg_tracker.words.notes import Fact, Note
from ndcg_tracker.words.texts import did_you_mean

if TYPE_CHECKING:
    from ndcg_tracker.compare.results import Estimate
    from ndcg_tracker.storage.records import RunRecord
    from ndcg_tracker.storage.store import ReadTransaction


FEWEST_RUNS = 2
AA_TAG, STAGE = "aa", "stage"
CHECKPOINTS = f"{STAGE}=iteration"
SEEDS = frozenset({"seed", "random_state", "random_seed"})
"""Parameters in which the runs of a family may differ."""
OWN_TAGS = SEEDS | {"training", STAGE, "trial", "mlflow.run_id", "mlflow.model_id"}
"""Tags in which they may differ: seeds, and those that name a single training."""
FEATURES, ROWS, LABELS = "data_features", "data_rows", "data_labels"
DATA = (FEATURES, ROWS, LABELS)
"""Parameters that name the data of a training; runs stored by older versions lack them."""
FEWEST_IN_FAMILY = 3
MOST_SEEDS = 1000
_NEXT_TAG = re.compile(r",(?=[^,=]+=)")
_FOUND = 2.8016
"""A difference this many standard errors from 0 is detected with 80% power at 5%: z(.975) + z(.8)."""


@dataclass(frozen=True, slots=True)
class Arm:
    """Repeats of one system, or a single run; ``name``: the name of the run, or the reference of the arm.

    ``left_out``: a note on the checkpoints with the tags of the arm, if there are any.
    """

    name: str
    runs: tuple[RunRecord, ...]
    left_out: tuple[Note, ...] = ()

    @classmethod
    def of(cls, run: RunRecord) -> Arm:
        """Return the arm of one run."""
        return cls(run.name, (run,))

    @property
    def ref(self) -> RunRef:
        """The arm as reports name it."""
        if len(self.runs) == 1:
            return RunRef(self.name, self.runs[0].id)
        return RunRef(self.name, None, tuple(RunRef(run.name, run.id) for run in self.runs))

    @property
    def tags(self) -> Mapping[str, Any]:
        """The tags of its run, or of several runs the means of the tags that are numbers in all of them."""
        if len(self.runs) == 1:
            return self.runs[0].tags
        from ndcg_tracker.compare.limits import number_of

        numbers = {name: [number_of(name, {}, run.tags) for run in self.runs] for name in self.runs[0].tags}
        numeric = {name: [number for number in of_runs if number is not None] for name, of_runs in numbers.items()}
        return {
            name: sum(of_runs) / len(of_runs) for name, of_runs in numeric.items() if len(of_runs) == len(self.runs)
        }

    @property
    def notes(self) -> tuple[Note, ...]:
        """What to know of its runs: those that were left out, and those with equal rankings."""
        alike: dict[str, list[str]] = {}
        for run in self.runs:
            alike.setdefault(run.digest, []).append(run.name)
        equal = (Note("equal_repeats", {"runs": names, "of": self.name}) for names in alike.values() if len(names) > 1)
        return (*self.left_out, *equal)


def without_checkpoints(
    runs: Iterable[RunRecord], tags: Mapping[str, str] = {}, named: Collection[str] = (), of: str = ""
) -> tuple[list[RunRecord], list[Note]]:
    """Return the runs with these tags without checkpoints of trainings, and a note on those left out.

    Somebody asks for checkpoints by a tag ``stage``, by their names, or by patterns that fit nothing else. ``named``:
    the names and patterns that the runs fit. ``of``: the arm that they would be in.
    """
    fitting = [run for run in runs if run.has_tags(tags)]
    left_out = {run.id: run.name for run in fitting if run.is_checkpoint and run.name not in named}
    if not left_out or STAGE in tags or (named and len(left_out) == len(fitting)):
        return fitting, []
    facts: dict[str, Fact] = {"n": len(left_out), "first": next(iter(left_out.values())), "of": of}
    return [run for run in fitting if run.id not in left_out], [Note("checkpoints", facts)]


def arms_of(tx: ReadTransaction, references: Sequence[str], dataset: str | None = None) -> list[Arm]:
    """Return the arm that each reference names; single runs are read together. Raises: see ``arm_or_run``."""
    if any(reference.startswith(ARM) for reference in references):
        return [arm_or_run(tx, reference, dataset) for reference in references]
    return [Arm.of(run) for run in tx.runs.resolve_all(references, dataset)]


def arm_or_run(tx: ReadTransaction, reference: str, dataset: str | None = None) -> Arm:
    """Return the arm ``tag:KEY=VALUE``, which is all runs with this tag, or the one run that a reference names.

    ``tag:a=b,c=d`` is all runs with both tags. Checkpoints belong to an arm only if its tags name their stage. A run
    whose name is the reference takes precedence. Raises: ReferenceNotFoundError for an arm that does not have this
    form, has no run, or has runs of several datasets; InputError for an arm with a single run.
    """
    every = tx.runs.all(dataset) if reference.startswith(ARM) else []
    if not reference.startswith(ARM) or any(run.name == reference for run in every):
        return Arm.of(tx.runs.resolve(reference, dataset))
    tags = tags_of(reference)
    runs, left_out = without_checkpoints(every, tags, of=reference)
    told, (key, value) = list(map("=".join, tags.items())), list(tags.items())[-1]
    if not runs:
        values = sorted({str(run.tags[key]) for run in every if key in run.tags} - {value})
        meant = did_you_mean(value, values, before=reference.removesuffix(value))
        advice = meant or f"give it with: ndcg-track runs tag RUN {' '.join(told)}"
        advice = f"to take these, write {reference},{CHECKPOINTS}" if left_out else advice
        have = "only checkpoints of trainings have" if left_out else "no run has"
        raise ReferenceNotFoundError(f"{have} the tag {' and '.join(told)}", advice=advice)
    datasets = sorted({run.dataset for run in runs})
    if len(datasets) > 1:
        raise ReferenceNotFoundError(
            f"runs of several datasets ({', '.join(datasets)}) have the tag {' and '.join(told)}",
            advice=f"choose one with {argument('dataset')}",
        )
    if len(runs) < FEWEST_RUNS:
        raise InputError(
            f"arm {reference!r} has one run, {runs[0].name!r}{', and checkpoints' if left_out else ''}, but needs "
            f"{FEWEST_RUNS} or more",
            advice="give further trainings this tag, or name the run itself to compare it",
        )
    return Arm(reference, tuple(runs), tuple(left_out))


def refuse_shared_runs(baseline: Arm, candidate: Arm) -> None:
    """Raise InputError for a run that is in both arms."""
    both = [run for run in candidate.runs if run.id in {other.id for other in baseline.runs}]
    if both:
        what = f"run {both[0].name!r} is in {baseline.name!r} and in {candidate.name!r}"
        raise InputError(what, advice="give each arm its own runs")


def tags_of(arm: str) -> dict[str, str]:
    """Return the tags that the runs of an arm have in common (ReferenceNotFoundError for another form)."""
    pairs = [text.partition("=") for text in _NEXT_TAG.split(arm.removeprefix(ARM))]
    tags = {key: value for key, equals, value in pairs if key and equals}
    if len(tags) < len(pairs):
        advice = "write tag:KEY=VALUE, such as tag:arm=a, and further tags after a comma, each key once"
        raise ReferenceNotFoundError(f"{arm!r} is not an arm", advice=advice)
    return tags


def named_runs(
    tx: ReadTransaction, candidates: Sequence[str | Sequence[str]], dataset: str | None, baseline: str = ""
) -> tuple[list[str], list[Note]]:
    """Return the references of candidates, each pattern replaced by the names of the runs that fit it, and notes.

    Patterns leave out the baseline, and checkpoints (see ``without_checkpoints``). Raises: ReferenceNotFoundError for a
    pattern that fits no other run.
    """
    if not isinstance(baseline, str):
        advice = "name it first, and the candidates after it"
        raise InputError(f"the baseline must be the name, id or @alias of one run, not {baseline!r}", advice=advice)
    references = one_by_one(candidates)
    found: dict[str, RunRecord | None] = {}
    for reference in references:
        if not is_pattern(reference):
            found[reference] = None
            continue
        pinned = tx.runs.resolve(baseline, dataset) if baseline and ":" not in baseline else None
        runs = tx.runs.matching(reference, dataset if pinned is None else pinned.dataset)
        fitting = {run.name: run for run in runs if pinned is None or run.id != pinned.id}
        if not fitting:
            raise ReferenceNotFoundError(f"no run except the baseline matches {reference!r}", advice="name a candidate")
        found |= fitting
    kept, notes = without_checkpoints(filter(None, found.values()), named=references)
    names = {run.name for run in kept}
    return [name for name, run in found.items() if run is None or name in names], notes


def by_system(
    tx: ReadTransaction, dataset: str, by_tag: str | None, wanted: Collection[str] = (), tags: Mapping[str, str] = {}
) -> tuple[dict[str, RunRecord], list[Note]]:
    """Return the run of each system on a dataset, and notes.

    A system is the name of its run, or the value of a tag, which must be unique. ``wanted``: names of systems or
    patterns, by default all systems. ``tags``: of the runs. Checkpoints are left out (see ``without_checkpoints``).
    """
    patterns = [one for one in wanted if is_pattern(one)]

    def system_of(run: RunRecord) -> str:
        return run.name if by_tag is None else str(run.tags[by_tag])

    def fits(system: str) -> bool:
        return not wanted or system in wanted or any(fnmatchcase(system, one) for one in patterns)

    having = [run for run in tx.runs.chosen((), dataset) if by_tag is None or by_tag in run.tags]
    fitting = [run for run in having if fits(system_of(run))]
    runs, notes = without_checkpoints(fitting, tags, wanted if by_tag is None else ())
    run_of: dict[str, RunRecord] = {}
    for run in runs:
        system = system_of(run)
        if (other := run_of.setdefault(system, run)) is not run:
            raise InputError(
                f"runs {other.name!r} and {run.name!r} of {dataset!r} both have the tag {by_tag}={system}",
                advice=f"remove it from one of them: ndcg-track runs tag {run.id} --remove {by_tag}",
            )
    return run_of, notes


def arm_on(tx: ReadTransaction, dataset: str, system: str, by_tag: str | None) -> Arm | None:
    """Return the run or the arm of a system on a dataset, None where it has none there.

    ``system``: the name of its runs, the value of the tag ``by_tag``, an alias, ``latest``, or an arm.
    """
    run = by_system(tx, dataset, by_tag, [system])[0].get(system)
    if run is not None:
        return Arm.of(run)
    if by_tag is not None or not (system.startswith(("@", ARM)) or system.partition("~")[0] == "latest"):
        return None
    try:
        return arm_or_run(tx, system, dataset)
    except ReferenceNotFoundError:
        return None


def named_systems(
    tx: ReadTransaction,
    datasets: Sequence[str],
    baseline: str,
    candidates: Sequence[str | Sequence[str]],
    by_tag: str | None,
) -> tuple[list[str], list[Note]]:
    """Return the names of candidates, patterns replaced by the systems that fit them on some dataset, and notes."""
    names: dict[str, None] = {}
    notes: list[Note] = []
    for wanted in one_by_one(candidates):
        if not is_pattern(wanted):
            names[wanted] = None
            continue
        fitting: dict[str, object] = {}
        for dataset in datasets:
            run_of, left_out = by_system(tx, dataset, by_tag, [wanted])
            fitting |= run_of
            notes += [replace(note, dataset=dataset) for note in left_out]
        fitting.pop(baseline, None)
        if not fitting:
            raise ReferenceNotFoundError(f"no system except the baseline matches {wanted!r}", advice="name a candidate")
        names |= dict.fromkeys(fitting)
    return [*names], notes


def one_by_one(candidates: Sequence[str | Sequence[str]]) -> list[str]:
    """Return the references of runs that were given one by one or in lists (InputError for anything else)."""
    references: list[str] = []
    for given in candidates:
        each = [given] if isinstance(given, str) else given
        if not isinstance(each, (list, tuple)) or not all(isinstance(reference, str) for reference in each):
            raise InputError(f"a candidate must be the name, id or @alias of a run, or a list of these, not {given!r}")
        references += each
    return references


def family_of(run: RunRecord, runs: Sequence[RunRecord], but: Collection[str] = ()) -> list[RunRecord]:
    """Return the runs of a run's family, including the run, or none if nothing says that it has a family.

    The runs of a family share the tag ``aa`` and, as far as is known, their data. Without that tag, they share all
    parameters except the seed, and all tags except ``OWN_TAGS`` and those named in ``but``. So no run is in two
    families. Checkpoints of one training (``stage=iteration``) do not count as repeats.
    """
    if AA_TAG in run.tags:
        family, _ = without_checkpoints(runs, {AA_TAG: str(run.tags[AA_TAG])})
        return [] if any(other_data(family)) else family
    if not SEEDS & run.parameters.keys():
        return []
    return [other for other in runs if SEEDS & other.parameters.keys() and unlike(run, other, but) == []]


@dataclass(frozen=True, slots=True)
class Unlike:
    """A sign that two runs are not repeats: ``name`` (a parameter, or "tag NAME") and its value in each.

    A value is None if a run lacks it.
    """

    runs: tuple[str, str]
    name: str
    values: tuple[Any, Any]

    @property
    def is_open(self) -> bool:
        """Whether they may still be repeats, because only one of them names its data or its family."""
        return None in self.values and (self.name in DATA or self.name == f"tag {AA_TAG}")


def unlike(run: RunRecord, other: RunRecord, but: Collection[str] = ()) -> list[Unlike] | None:
    """Return the signs that two runs are not repeats of one recipe, None if their parameters already differ.

    The signs are their data and their tags, except the tags named in ``but``.
    """
    (parameters, tags), (its, its_tags) = _recipe(run, but), _recipe(other, but)
    differ = [name for name in parameters.keys() | its.keys() if parameters.get(name) != its.get(name)]
    if run.is_checkpoint or other.is_checkpoint or not set(differ) <= set(DATA):
        return None
    names = (run.name, other.name)
    return [Unlike(names, name, (parameters.get(name), its.get(name))) for name in DATA if name in differ] + [
        Unlike(names, f"tag {name}", (tags.get(name), its_tags.get(name)))
        for name in sorted(tags.keys() | its_tags.keys())
        if tags.get(name) != its_tags.get(name)
    ]


def other_data(family: Sequence[RunRecord]) -> Iterator[Unlike]:
    """Yield the signs that two runs of a family do not have the same data."""
    for name in DATA:
        told = [run for run in family if name in run.parameters]
        for other in told[1:]:
            if (values := (told[0].parameters[name], other.parameters[name]))[0] != values[1]:
                yield Unlike((told[0].name, other.name), name, values)


def retraining_note(tx: ReadTransaction, sides: Sequence[RunRecord], label_set_id: int, first: Estimate) -> Note | None:
    """Return the note that an interval over groups does not cover retraining, with how much retrained runs differ.

    None if there is no family of 3 runs or more, or its runs do not differ. ``first``: the comparison of the first
    metric. The fact ``n_seeds`` of the note is the number of trainings per side that would detect a true difference of
    this size with 80% power, None if no number would.
    """
    if not any(AA_TAG in run.tags or SEEDS & run.parameters.keys() for run in sides) or first.standard_error is None:
        return None
    every = tx.runs.all(sides[0].dataset)
    records = tx.evaluations.history(sides[0].dataset_id, first.metric, label_set_id)
    mean_of = {record.run_id: record.mean for record in records if record.mean is not None}
    families: dict[tuple[int, ...], tuple[str, list[float]]] = {}
    for run in sides:
        family = [member for member in family_of(run, every) if member.id in mean_of]
        if len(family) >= FEWEST_IN_FAMILY:
            name = f"{AA_TAG}={run.tags[AA_TAG]}" if AA_TAG in run.tags else f"the recipe of {run.name}"
            families.setdefault(
                tuple(member.id for member in family), (name, [mean_of[member.id] for member in family])
            )
    if not families:
        return None
    named_means = list(families.values())
    variance = float(np.mean([np.var(means, ddof=1) for _, means in named_means]))
    if not variance > 0:
        return None
    return Note(
        "retraining",
        {
            "sd": math.sqrt(variance),
            "n_runs": sum(len(means) for _, means in named_means),
            "families": [name for name, _ in named_means],
            "n_seeds": None if len(named_means) < len(sides) else _seeds(first, variance),
        },
    )


def _seeds(metric: Estimate, variance: float) -> int | None:
    room = ((metric.delta or 0.0) / _FOUND) ** 2 - (metric.standard_error or 0.0) ** 2
    seeds = math.ceil(2 * variance / room) if room > 0 else MOST_SEEDS + 1
    return max(2, seeds) if seeds <= MOST_SEEDS else None


def _recipe(run: RunRecord, but: Collection[str] = ()) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters and tags that repeats share; the iteration of an early stop is an outcome, not one."""
    best = run.parameters.get("best_iteration")
    outcome = {"best_iteration"} | ({"iteration"} if best == run.parameters.get("iteration") else set())
    return (
        {name: value for name, value in run.parameters.items() if name not in SEEDS | outcome},
        {name: value for name, value in run.tags.items() if name not in OWN_TAGS and name not in but},
    )
