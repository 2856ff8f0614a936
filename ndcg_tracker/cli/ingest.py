"""``ndcg-track ingest``: stores runs in the database."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from ndcg_tracker.api import storing
from ndcg_tracker.api.reading import GivenLabels, Ingest
from ndcg_tracker.asked import GROUP, LABEL, SCORE, Option, Positional, made, pairs
from ndcg_tracker.cli import options
from ndcg_tracker.cli.input_files import OfFiles, read_ahead, read_by_spark, require_file, run_names, shown_reading
from ndcg_tracker.cli.parameters import Asked, takes
from ndcg_tracker.errors import InputError
from ndcg_tracker.rules import refuse

if TYPE_CHECKING:
    from ndcg_tracker.runs.ingest import IngestResult

_COLUMNS = ("run", "run_id", "dataset", "outcome", "n_groups", "n_items", "label_set_version")


@takes(storing.ingest, OfFiles, storing.log_results, rules=None)  # checked once the measures are known
def ingest(
    asked: Asked,
    files: Annotated[list[str] | None, Positional("One run per file; - is standard input.", metavar="FILE...")] = None,
    jobs: Annotated[
        int | None,
        Option(
            "How many files to read and score in parallel; they are stored one after the other.",
            metavar="N",
            default="the number of cores, at most 4",
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        Option(
            "A number for the whole run, such as latency_ms=12.5, stored as a tag; repeatable. With --results, "
            "NAME: the measure to take from the file.",
            metavar="NAME=NUMBER",
        ),
    ] = None,
    format: options.Output = "text",
) -> None:
    """Store runs and their metrics, overall and per group.

    Each file is stored in one transaction. Storing the same run again is safe and adds nothing. With --labels FILE, or
    labels in the run's own file, --judge says who gave them. Otherwise --judge says whose stored labels the run is
    evaluated under.

    Example: ndcg-track ingest bm25.run dense.run --labels qrels.txt --dataset shop
    """
    tags, of_file = _tags(asked.named.get("tags", {}), measure)
    asked = replace(asked, named={"git_commit": _head(), **asked.named, "tags": tags})
    several = {"files": files, "metrics": asked.named.get("metrics"), "measures": of_file}
    kinds = {f"several_{name}": len(given or ()) > 1 for name, given in several.items()}
    refuse("ingest", {**asked.named, "files": files, "measure": of_file, **kinds})
    if "results" in asked.named:
        options.show(stored_runs([_stored_results(asked, of_file)], format))
        return
    refuse("complete ingest", {"files": files})
    assert files is not None
    if jobs is not None and jobs < 1:
        raise InputError(f"--jobs {jobs} would read nothing", advice="give how many files to read at a time, 1 or more")
    stored: list[IngestResult] = []
    try:
        for result in _stored(files, asked, jobs):
            options.say_notes(result.notes, result.run)
            stored.append(result)
    finally:  # runs that were stored before an error stay stored and are reported
        if stored:
            options.show("stored" if stored[0].is_sealed else stored_runs(stored, format))


def _stored(files: list[str], asked: Asked, n_jobs: int | None) -> Iterator[IngestResult]:
    """Store the run of each file."""
    from ndcg_tracker.api.evaluation import parsed_metrics
    from ndcg_tracker.concurrency import MOST_WORKERS, n_cores
    from ndcg_tracker.ingest.reading import read_run
    from ndcg_tracker.runs.ingest import ReadyRun, ready_run

    of_files, asked = asked.apart(OfFiles)
    given = dict(asked.named)
    run_of, labels = run_names(files, of_files.name), given.pop("labels", None)
    what = made(Ingest, given)
    with options.tracker() as tracker, ExitStack() as stack:
        paths, of_labels = files, labels
        if of_files.engine == "spark":
            paths, of_labels = stack.enter_context(read_by_spark(what, files, labels, list(what.metrics)))
            what = replace(what, group=GROUP, item=None, score=SCORE, label=LABEL, weight=None, groups_share=None)
        lists = GivenLabels()
        if of_labels is not None:
            require_file(paths[0])
            with shown_reading(of_labels):
                lists = replace(what.labels_given(of_labels, what.only_judge, files[0]), source=labels)

        def ready(path: str) -> ReadyRun:
            of_run = what.of_run(lists.source)
            with what.all_columns(path, lists.source):
                table = read_run(path, reader=what.reader, columns=of_run, labels_apart=lists.lists is not None)
            return ready_run(table, lists.lists, parsed_metrics(what.metrics))

        at_once = 1 if what.stream else n_jobs or min(n_cores(), MOST_WORKERS)
        coming = stack.enter_context(closing(read_ahead(paths, at_once, ready)))
        for source, path, name, ahead in zip(files, paths, run_of, coming, strict=True):
            with nullcontext() if ahead is not None else shown_reading(path):
                read = None if ahead is None else ahead.taken()
                result = storing.store_run_of(tracker, replace(what, name=name), path, lists, source, read)
            yield result


def _stored_results(asked: Asked, measures: list[str]) -> IngestResult:
    """Store values per group from another engine."""
    given, names = asked.part(storing.log_results), asked.named.get("name", [None])
    of_one = {"metric": asked.named["metrics"][0], "name": names[0], "measure": next(iter(measures), None)}
    with options.tracker() as tracker:
        return tracker.log_results(**{**given, **of_one})


def _tags(tags: dict[str, str], measure: list[str] | None) -> tuple[dict[str, str], list[str]]:
    """Return the tags of a run, including its measures, and the measures to take from --results."""
    for name, number in pairs("--measure", [text for text in measure or () if "=" in text]).items():
        try:
            is_number = math.isfinite(float(number))
        except ValueError:
            is_number = False
        if not is_number:
            raise InputError(f"--measure {name}={number} is not a number", advice=f"write --measure {name}=12.5")
        if name in tags:
            raise InputError(f"--tag and --measure both give {name!r}", advice="leave one out")
        tags[name] = number
    return tags, [text for text in measure or () if "=" not in text]


def _head() -> str | None:
    """Return the commit of the current folder's repository, None outside of a repository."""
    try:
        answer = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip() or None if answer.returncode == 0 else None


def stored_runs(results: Sequence[IngestResult], format: options.OutputFormat) -> str:
    """Return what was stored: a row for each metric of each run."""
    from ndcg_tracker.render.formats import metrics_as

    def row(result: IngestResult, version: int, is_added: bool) -> list[object]:
        outcome = "metric added" if is_added and result.outcome == "already stored" else result.outcome
        return [result.run, result.run_id, result.dataset, outcome, result.n_groups, result.n_items, version]

    rows = (
        (row(result, under.label_set_version, metric.is_new), metric, under.judge)
        for result in results
        for under in result.under
        for metric in under.metrics
    )
    return metrics_as(format, _COLUMNS, rows, **options.screen())
