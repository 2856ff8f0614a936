"""Files in the place of runs: which of the runs that a command names are files, and the store in memory of these."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from ndcg_tracker.asked import DEFAULT_METRIC, database_location, is_file
from ndcg_tracker.cli import options
from ndcg_tracker.errors import InputError
from ndcg_tracker.words.notes import RETYPED

DOORS = ("compare", "gate", "leaderboard", "explain", "diff", "report", "show", "plot", "plan")
"""The commands that take files in the place of runs."""


def files_among(given: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """Return the runs that a command names if they are files, none if they are stored.

    ``given``: its arguments; ``names``: those that name runs. The name of a stored run wins over a file of this name;
    ``./`` before it means the file. Raises: InputError for files next to other runs.
    """
    runs = _runs(given, names)
    there = [run for run in runs if is_file(run) and not _is_of_past(run)]
    stored = _stored_names() if there else set()
    files = [run for run in there if run not in stored or run.startswith((".", "/"))]
    for name in there:
        if name not in files:
            options.say(f"note: {name!r} is the stored run; the file of this name is ./{name}")
    for other in runs if files else ():
        if other not in files:
            if other not in stored and not _is_of_past(other):
                raise InputError("no such file, and no run of this name", where=other, advice="check the path")
            kind = {"@": "an alias of a stored run", "t": "an arm of stored runs"} if _is_of_past(other) else {}
            what = f"{other!r} is {kind.get(other[0], 'a stored run')}, and {files[0]!r} is a file"
            raise InputError(what, advice=f"store it first: ndcg-track ingest {shlex.quote(files[0])}")
    return files


def held_in_memory(
    given: dict[str, Any],
    names: Sequence[str],
    files: Sequence[str],
    *,
    needs_labels: bool,
    further_metrics: Sequence[str] = (),
) -> None:
    """Let the command ask a store in memory, which holds these files, and give it their names as runs.

    ``further_metrics``: what they are evaluated under besides the metrics of the command.
    """
    from ndcg_tracker.api.in_memory import names_of, tracker_of

    files = list(dict.fromkeys(files))
    labels, judge = given.get("labels"), given.get("judge")
    metrics = given.get("metrics") or given.get("metric") or (DEFAULT_METRIC if further_metrics else ())
    metrics = [metrics, *further_metrics] if isinstance(metrics, str) else metrics
    asked = given.get("read"), metrics, judge
    name_of = dict(zip(files, names_of(files), strict=True))
    runs = {name: file for file, name in name_of.items()}
    tracker, notes = tracker_of(runs, labels, *asked, needs_labels=needs_labels)
    for name, note in notes:
        options.say(f"note: {name}: {note}")
    of_files = [word for name in ("labels", "read") if (of := given.get(name)) for word in (f"--{name}", of)]
    words = shlex.join(["ndcg-track", "ingest", *files, *(["--labels", labels] if labels else [])])
    options.say(
        f"note: the runs are files, so nothing is recorded; to name them in other commands, store them: {words}"
    )
    options.surroundings.in_memory = tracker
    RETYPED.set(partial(_retyped, {name: file for file, name in name_of.items()}, of_files))
    for name in names:
        if (run := given.get(name)) is not None:
            given[name] = name_of[run] if isinstance(run, str) else [name_of[one] for one in run]
    given["labels"] = None


def _retyped(file_of: Mapping[str, str], of_files: Sequence[str], command: Sequence[str]) -> Sequence[str]:
    """Return a command with files in the place of runs, if it takes files."""
    if len(command) < 2 or command[1] not in DOORS:
        return command
    kept = [word for before, word in pairwise(("", *command)) if "--dataset" not in (before, word)]
    return [*(file_of.get(word, word) for word in kept), *of_files]


def with_guesses(words: Sequence[str], guesses: Mapping[str, str]) -> list[str]:
    """Return the words of a command with guesses of columns, in the place of the columns that it names.

    >>> with_guesses(["compare", "a.csv", "b.csv", "--read=group=q label=g"], {"group": "qid", "item": "d"})
    ['compare', 'a.csv', 'b.csv', '--read', 'group=qid label=g item=d']
    >>> with_guesses(["ingest", "a.csv", "--item", "x"], {"item": "d"})
    ['ingest', 'a.csv', '--item', 'd']
    """
    takes_files, left = any(word in DOORS for word in words), iter(words)
    replaced = ["--read"] if takes_files else [options.as_option(name, "") for name in guesses]
    kept, read = [], dict[str, str]()
    for word in left:
        option, equals, value = word.partition("=")
        if option in replaced:
            read |= {
                pair.partition("=")[0]: pair.partition("=")[2] for pair in shlex.split(value if equals else next(left))
            }
        else:
            kept.append(word)
    if takes_files:
        return [*kept, "--read", shlex.join(f"{name}={value}" for name, value in {**read, **guesses}.items())]
    return [*kept, *(word for name, value in guesses.items() for word in (options.as_option(name, ""), value))]


def _runs(given: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    values = [value for name in names if (value := given.get(name))]
    return [run for value in values for run in ([value] if isinstance(value, str) else value)]


def _is_of_past(run: str) -> bool:
    return run.startswith(("@", "tag:", "latest~", "before:")) or run == "latest"


def _stored_names() -> set[str]:
    from ndcg_tracker.storage.database_url import parsed_location

    path = parsed_location(database_location(options.surroundings.database)).path
    if path is not None and not path.exists():
        return set()
    with options.tracker() as tracker, tracker.store().read() as tx:
        return {run.name for run in tx.runs.names()}
