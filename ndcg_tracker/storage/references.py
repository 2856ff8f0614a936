"""References to a run: its name, its id, an alias, latest, before a day, or a prefix of its name."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from ndcg_tracker.errors import InputError, ReferenceNotFoundError, argument
from ndcg_tracker.storage.checks import stored_time
from ndcg_tracker.storage.records import AliasRecord
from ndcg_tracker.words.texts import did_you_mean

ARM = "tag:"
"""The beginning of the name of an arm: all runs with a tag."""
DEFAULT_DATASET = "default"
"""The dataset of a run or label that names none."""
_MAX_SHOWN = 8
BEFORE = "before:"
"""The beginning of a reference to the last run that was stored before a day or time."""
_LATEST = re.compile(r"latest(?:~([0-9]{1,9}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class RunName:
    """The id, name and dataset of a run, and when it was stored."""

    id: int
    name: str
    dataset: str
    created_at_utc: str = ""


def referenced_run(
    reference: str, runs: Sequence[RunName], aliases: Callable[[], Sequence[AliasRecord]], dataset: str | None = None
) -> int:
    """Return the id of the run that a reference names.

    It tries in this order: exact name, id, ``@alias``, ``latest`` or ``latest~N``, ``before:2026-09-01`` (the
    last run before that day in UTC, or before a time), a pattern or prefix of only one name.

    Parameters: ``runs``, oldest first, and ``aliases``, read only if they matter: those of ``dataset``, or of all
    datasets if it is None. Raises: ReferenceNotFoundError for an unknown or ambiguous reference, with the candidates.

    >>> runs = [RunName(1, "bm25", "shop"), RunName(2, "dense", "shop")]
    >>> [referenced_run(text, runs, list) for text in ("bm25", "2", "latest", "latest~1", "de")]
    [1, 2, 2, 1, 2]
    """
    if exact := [run for run in runs if run.name == reference]:
        return _only(reference, exact)
    if reference.isascii() and reference.isdigit() and (same := [r for r in runs if r.id == int(reference[:19])]):
        return same[0].id
    if reference.startswith("@"):
        return named_alias(reference[1:], aliases(), dataset).run_id
    if reference.startswith(ARM):
        raise ReferenceNotFoundError(
            f"{reference!r} is an arm of several runs, but this takes a single run", advice="name one run"
        )
    if latest := _LATEST.fullmatch(reference):
        return _latest(reference, int(latest[1] or 0), runs, dataset)
    if reference.startswith(BEFORE):
        return _before(reference, runs, dataset)
    fitting = [run for run in runs if is_pattern(reference) and fnmatchcase(run.name, reference)]
    starting = [run for run in runs if reference and run.name.startswith(reference)]
    if fitting or starting:
        return _only(reference, fitting or starting)
    if any(alias.name == reference for alias in aliases()):
        raise ReferenceNotFoundError(f"no run {reference!r}{_within(dataset)}", advice=f"did you mean @{reference}?")
    raise ReferenceNotFoundError(f"no run {reference!r}{_within(dataset)}", advice=_advice(reference, runs, dataset))


def _only(reference: str, runs: Sequence[RunName]) -> int:
    """Return the one run found, or raise for several."""
    if len(runs) == 1:
        return runs[0].id
    names = sorted({run.name for run in runs})
    if len(names) == 1:
        datasets = _listed(sorted(run.dataset for run in runs))
        raise ReferenceNotFoundError(
            f"run {names[0]!r} exists in several datasets ({datasets})", advice=f"choose with {argument('dataset')}"
        )
    raise ReferenceNotFoundError(
        f"{reference!r} matches several runs ({_listed(names)})", advice="give more of the name"
    )


def named_alias(name: str, aliases: Sequence[AliasRecord], dataset: str | None) -> AliasRecord:
    """Return the alias of a name, without the @ (ReferenceNotFoundError if no dataset or several datasets have it)."""
    named = [alias for alias in aliases if alias.name == name]
    if len(named) == 1:
        return named[0]
    if named:
        datasets = _listed(sorted(alias.dataset for alias in named))
        raise ReferenceNotFoundError(
            f"alias '@{name}' exists in several datasets ({datasets})", advice=f"choose with {argument('dataset')}"
        )
    names = _listed(sorted({f"@{alias.name}" for alias in aliases}))
    advice = f"the aliases are: {names}" if names else f"create it with: ndcg-track alias set {name or 'NAME'} RUN"
    raise ReferenceNotFoundError(f"no alias {'@' + name!r}{_within(dataset)}", advice=advice)


def _latest(reference: str, steps_back: int, runs: Sequence[RunName], dataset: str | None) -> int:
    if steps_back < len(runs):
        return runs[-1 - steps_back].id
    if not runs:
        raise ReferenceNotFoundError(
            f"no run {reference!r}: there are no runs{_within(dataset)} yet",
            advice="store one with: ndcg-track ingest FILE",
        )
    n_runs = "there is only 1 run" if len(runs) == 1 else f"there are only {len(runs)} runs"
    raise ReferenceNotFoundError(f"no run {reference!r}: {n_runs}{_within(dataset)}", advice="go back fewer steps")


def _before(reference: str, runs: Sequence[RunName], dataset: str | None) -> int:
    try:
        time = stored_time(reference.removeprefix(BEFORE))
    except InputError:
        raise ReferenceNotFoundError(f"{reference!r} has no date", advice="write it as before:2026-09-01") from None
    earlier = [run for run in runs if run.created_at_utc < time]
    if not earlier:
        first = f"the first one is of {runs[0].created_at_utc[:10]}" if runs else "there are none yet"
        raise ReferenceNotFoundError(f"no run {reference!r}{_within(dataset)}", advice=first)
    return earlier[-1].id


def _advice(reference: str, runs: Sequence[RunName], dataset: str | None) -> str:
    names = sorted({run.name for run in runs})
    if meant := did_you_mean(reference, names):
        return meant
    if not names:
        return f"there are no runs{_within(dataset)} yet; store one with: ndcg-track ingest FILE"
    if len(names) <= _MAX_SHOWN:
        return f"there are {_listed(names)}" if len(names) > 1 else f"there is only {names[0]!r}"
    return "list all with: ndcg-track runs list"


def _within(dataset: str | None) -> str:
    return "" if dataset is None else f" in dataset {dataset!r}"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MAX_SHOWN])
    return shown if len(names) <= _MAX_SHOWN else f"{shown} and {len(names) - _MAX_SHOWN} more"


def unknown_dataset(name: str, names: Sequence[str], *, is_named: bool = True) -> ReferenceNotFoundError:
    """Return the error for a dataset that does not exist; ``is_named``: whether somebody asked for it by name."""
    if len(names) > 1 and not is_named:
        which = f"there are {len(names)} datasets ({_listed(sorted(names))})"
        return ReferenceNotFoundError(which, advice=f"name one with {argument('dataset')}")
    advice = did_you_mean(name, names)
    if not advice:
        only = f"there is only {names[0]!r}: name it with {argument('dataset', names[0])}" if len(names) == 1 else ""
        several = f"there are {_listed(sorted(names))}" if names else "there are none yet; ingest a run"
        if name == DEFAULT_DATASET and len(names) > 1:  # it may not have been typed
            several = f"name one with {argument('dataset')}: {_listed(sorted(names))}"
        advice = only or several
    return ReferenceNotFoundError(f"no dataset {name!r}", advice=advice)


def is_pattern(reference: str) -> bool:
    """Return whether a reference has a shell wildcard, and so names every run that matches it.

    >>> is_pattern("bm25*"), is_pattern("bm25"), is_pattern("run-[ab]")
    (True, False, True)
    """
    return any(wildcard in reference for wildcard in "*?[")
