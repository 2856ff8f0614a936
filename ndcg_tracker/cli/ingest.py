"""``ndcg-track ingest``: stores runs in the database."""

from __future__ import annotations

import inspect
import math
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ndcg_tracker.api import storing
from ndcg_tracker.api.reading import GivenLabels, Ingest
from ndcg_tracker.asked import GROUP, LABEL, SCORE, Pairs
from ndcg_tracker.cli import options
from ndcg_tracker.cli.parameters import Asked, takes
from ndcg_tracker.errors import InputError
from ndcg_tracker.rules import refuse

if TYPE_CHECKING:
    from ndcg_tracker.runs.ingest import IngestResult

_COLUMNS = (
    *("run", "run_id", "dataset", "outcome", "n_groups", "n_items"),
    *("label_set_version", "metric", "mean", "n_missing", "n_undefined"),
)


@takes(storing.ingest, but=("name",), rules=None)  # checked once the measures are known
def ingest(
    asked: Asked,
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILE...", help="One run per file; - is standard input.")
    ] = None,
    name: options.Names = None,
    engine: options.Engine = "here",
    jobs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="How many files to read and score in parallel; they are stored one after the other.",
            show_default="the number of cores, at most 4",
        ),
    ] = None,
    metrics_json: options.MetricsJson = None,
    results: Annotated[
        str | None, typer.Option(metavar="FILE", help="Values per group from another engine, instead of runs.")
    ] = None,
    direction: Annotated[
        str | None, typer.Option(metavar="higher|lower", help="Whether higher or lower values of --results are better.")
    ] = None,
    range: Annotated[
        str | None, typer.Option(metavar="LOW,HIGH", help="Range of the values of --results, such as 0,1 or 0,inf.")
    ] = None,
    value: Annotated[
        str | None,
        typer.Option(help="Column of the values of --results.", show_default="value, or the only other column"),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=NUMBER",
            help="A number for the whole run, such as latency_ms=12.5, stored as a tag; repeatable. With --results, "
            "NAME: the measure to take from the file.",
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
    given = dict(asked.named)
    given["tags"], of_file = _tags(given.get("tags", {}), measure)
    if "git_commit" not in given:
        given["git_commit"] = _head()
    of_results = {"direction": direction, "range": range, "value": value, "measure": of_file}
    others = {"files": files, "results": results, "metrics_json": metrics_json, "engine": engine}
    refuse("ingest", {**given, **of_results, **others, "several_files": len(files or ()) > 1})
    if results is not None:
        options.show(_report([_stored_results(results, name, given, of_results)], format))
        return
    if not files:
        raise InputError("ingest needs a FILE", advice="name one, or give - for standard input")
    if jobs is not None and jobs < 1:
        raise InputError(f"--jobs {jobs} would read nothing", advice="give how many files to read at a time, 1 or more")
    stored: list[IngestResult] = []
    try:
        for result in _stored(files, name, given, n_jobs=jobs, by_spark=engine == "spark", metrics_json=metrics_json):
            for note in result.notes:
                options.say(f"note: {result.run}: {note}")
            stored.append(result)
    finally:  # runs that were stored before an error stay stored and are reported
        if stored:
            options.show("stored" if stored[0].is_sealed else _report(stored, format))


def _stored(
    files: list[str],
    names: list[str] | None,
    given: dict[str, Any],
    *,
    n_jobs: int | None,
    by_spark: bool,
    metrics_json: str | None,
) -> Iterator[IngestResult]:
    """Store the run of each file; ``given``: the arguments of ``Tracker.ingest``."""
    from ndcg_tracker.api.evaluation import parsed_metrics
    from ndcg_tracker.cli.input_files import read_ahead, read_by_spark, require_file, run_names, shown_reading
    from ndcg_tracker.concurrency import MOST_WORKERS, n_cores
    from ndcg_tracker.ingest.reading import read_run
    from ndcg_tracker.render.json import metrics_json as metrics_text
    from ndcg_tracker.render.whole_file import whole_file
    from ndcg_tracker.runs.ingest import ReadyRun, ready_run

    run_of, labels = run_names(files, names), given.pop("labels", None)
    what = Ingest(**given)
    with (
        whole_file(metrics_json, "--metrics-json") as write_metrics,
        options.tracker() as tracker,
        ExitStack() as stack,
    ):
        paths, of_labels = files, labels
        if by_spark:
            paths, of_labels = stack.enter_context(read_by_spark(what, files, labels, list(what.metrics)))
            what = replace(what, group=GROUP, item=None, score=SCORE, label=LABEL, weight=None, groups_share=None)
        lists = GivenLabels()
        if of_labels is not None:
            require_file(paths[0])
            with shown_reading(of_labels):
                lists = replace(what.labels_given(of_labels, what.only_judge, files[0]), source=labels)

        def ready(path: str) -> ReadyRun:
            of_run = what.of_run(lists.source)
            table = read_run(path, reader=what.reader, columns=of_run, labels_apart=lists.lists is not None)
            return ready_run(table, lists.lists, parsed_metrics(what.metrics))

        at_once = 1 if what.stream else n_jobs or min(n_cores(), MOST_WORKERS)
        coming = stack.enter_context(closing(read_ahead(paths, at_once, ready)))
        for source, path, name, ahead in zip(files, paths, run_of, coming, strict=True):
            run = replace(what, name=name)
            if ahead is not None:
                with ahead.in_turn() as read:
                    result = storing.store_run_of(tracker, run, path, lists, source, read)
            else:
                with shown_reading(path):
                    result = storing.store_run_of(tracker, run, path, lists, source)
            yield result
            write_metrics(metrics_text([(evaluated.metric, evaluated.mean) for evaluated in result.metrics]))


def _stored_results(
    path: str, name: list[str] | None, given: dict[str, Any], of_results: dict[str, Any]
) -> IngestResult:
    """Store values per group from another engine; ``of_results``: the arguments that only ``log_results`` has."""
    from ndcg_tracker.metrics.language.metric import range_of

    metrics, direction, range = given.pop("metrics", None), of_results["direction"], of_results["range"]
    if metrics is None or len(metrics) != 1 or direction is None or range is None:
        raise InputError(
            "--results needs a metric, a direction and a range",
            advice="give, for example, --metric external:latency --direction lower --range 0,inf",
        )
    low, comma, high = range.partition(",")
    if not comma or "," in high:
        raise InputError(f"--range {range!r} is not LOW,HIGH", advice="write, for example, 0,1 or 0,inf")
    limits = {**of_results, "range": range_of(low, high)}  # the direction is checked there
    taken = inspect.signature(storing.log_results).parameters
    of_run = {key: value for key, value in given.items() if key in taken}
    with options.tracker() as tracker:
        return tracker.log_results(path, metric=metrics[0], name=name[0] if name else None, **limits, **of_run)


def _tags(tags: dict[str, str], measure: list[str] | None) -> tuple[dict[str, str], str | None]:
    """Return the tags of a run, including its measures, and the measure that --results takes."""
    for name, number in Pairs("--measure")([text for text in measure or () if "=" in text]).items():
        try:
            is_number = math.isfinite(float(number))
        except ValueError:
            is_number = False
        if not is_number:
            raise InputError(f"--measure {name}={number} is not a number", advice=f"write --measure {name}=12.5")
        if name in tags:
            raise InputError(f"--tag and --measure both give {name!r}", advice="leave one out")
        tags[name] = number
    of_file = [text for text in measure or () if "=" not in text]
    if len(of_file) > 1:
        raise InputError("--results takes one --measure", advice="ingest the measures one by one")
    return tags, of_file[0] if of_file else None


def _head() -> str | None:
    """Return the commit of the current folder's repository, None outside of a repository."""
    try:
        answer = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip() or None if answer.returncode == 0 else None


def _report(results: list[IngestResult], format: options.OutputFormat) -> str:
    from ndcg_tracker.render.formats import shown_metric, with_requests

    rows: list[tuple[object, ...]] = [
        (
            result.run,
            result.run_id,
            result.dataset,
            "metric added" if metric.is_new and result.outcome == "already stored" else result.outcome,
            result.n_groups,
            result.n_items,
            under.label_set_version,
            shown_metric(format, metric.metric, metric.requested_as),
            metric.mean,
            metric.n_missing,
            metric.n_undefined,
            metric.requested_as,
        )
        for result in results
        for under in result.under
        for metric in under.metrics
    ]
    judges = [under.judge for result in results for under in result.under for _ in under.metrics]
    return with_requests(format, _COLUMNS, rows, judges=judges, **options.screen())
