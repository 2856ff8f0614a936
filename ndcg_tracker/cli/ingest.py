"""``ndcg-track ingest``: stores runs in the database."""

from __future__ import annotations

import math
import subprocess
from contextlib import ExitStack, closing
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ndcg_tracker.asked import Pairs, allowed
from ndcg_tracker.cli import options
from ndcg_tracker.errors import InputError
from ndcg_tracker.rules import refuse

if TYPE_CHECKING:
    from ndcg_tracker.metrics.language.metric import Direction
    from ndcg_tracker.runs.ingest import IngestResult

_COLUMNS = (
    *("run", "run_id", "dataset", "outcome", "n_groups", "n_items"),
    *("label_set_version", "metric", "mean", "n_missing", "n_undefined"),
)


def ingest(
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILE...", help="One run per file; - is standard input.")
    ] = None,
    labels: options.Labels = None,
    dataset: options.Dataset = "default",
    name: options.Names = None,
    metric: options.Metrics = None,
    reader: options.Reader = None,
    group: options.GroupColumn = None,
    items: options.ResponseItems = None,
    item: options.ItemColumn = None,
    score: options.ScoreColumn = None,
    label: options.LabelColumn = None,
    relevant: options.RelevantKey = None,
    weight: options.WeightColumn = None,
    columns: options.Header = None,
    scores: options.Scores = None,
    item_to_document: options.ItemToDocument = None,
    collapse: options.Collapsed = None,
    text: options.ItemText = None,
    item_is_text: options.ItemIsText = False,
    groups_share: options.GroupsShare = None,
    sampled: Annotated[
        str | None,
        typer.Option(metavar="N/ALL", help="Items are ranked among N sampled negatives of ALL, such as 100/50000."),
    ] = None,
    tag: Annotated[list[str] | None, options.everyday(help="A tag to find the run by, key=value; repeatable.")] = None,
    param: Annotated[list[str] | None, typer.Option(help="A parameter of the run, key=value; repeatable.")] = None,
    git_commit: Annotated[
        str | None, typer.Option(help="Commit of the code that made the run.", show_default="HEAD, if in a repository")
    ] = None,
    created_at: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="When the runs were made: ISO 8601, such as 2026-06-30T02:00+02:00; UTC if there is no time zone.",
            show_default="now",
        ),
    ] = None,
    metadata: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Metadata of the run (ir_metadata, such as from tirex-tracker), stored as tags."
        ),
    ] = None,
    replace: options.Replace = False,
    stream: options.Stream = None,
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
    allow: options.Allow = None,
    judge: options.Judges = None,
    format: options.Output = "text",
) -> None:
    """Store runs and their metrics, overall and per group.

    Each file is stored in one transaction. Storing the same run again is safe and adds nothing. With --labels FILE, or
    labels in the run's own file, --judge says who gave them. Otherwise --judge says whose stored labels the run is
    evaluated under.

    Example: ndcg-track ingest bm25.run dense.run --labels qrels.txt --dataset shop
    """
    tags, of_file = _tags(tag, measure)
    refuse("ingest", {**locals(), "measure": of_file, "several_files": len(files or ()) > 1})
    if results is not None:
        of_run: dict[str, Any] = {
            "name": name[0] if name else None,
            "dataset": dataset,
            "tags": tags,
            "parameters": Pairs("--param")(param or ()),
            "git_commit": git_commit if git_commit is not None else _head(),
            "created_at": created_at,
            "replace": replace,
            "groups_share": groups_share,
        }
        of_results = {"group": group, "value": value, "measure": of_file, "reader": reader, **of_run}
        logged = _stored_results(results, metric, direction, range, of_results)
        options.show(_report([logged], format))
        return
    if not files:
        raise InputError("ingest needs a FILE", advice="name one, or give - for standard input")

    from ndcg_tracker.api.evaluation import parsed_metrics
    from ndcg_tracker.api.storing import store_recognised
    from ndcg_tracker.asked import DEFAULT_METRIC
    from ndcg_tracker.cli.input_files import (
        columns_of,
        in_blocks_or_whole,
        labels_of,
        read_ahead,
        read_by_spark,
        require_file,
        run_names,
    )
    from ndcg_tracker.concurrency import MOST_WORKERS, n_cores
    from ndcg_tracker.ingest.columns import RUN_TABLE, Columns
    from ndcg_tracker.ingest.ir_metadata import run_metadata, side_metadata
    from ndcg_tracker.ingest.reading import documents_given, read_run, texts_given
    from ndcg_tracker.rankings.groups_share import stored_share
    from ndcg_tracker.render.json import metrics_json as metrics_text
    from ndcg_tracker.render.whole_file import whole_file
    from ndcg_tracker.runs.ingest import ReadyRun, RunDetails, ready_run, source_name
    from ndcg_tracker.runs.samples import checked_sample
    from ndcg_tracker.storage.checks import stored_time

    if jobs is not None and jobs < 1:
        raise InputError(f"--jobs {jobs} would read nothing", advice="give how many files to read at a time, 1 or more")
    names = run_names(files, name)
    parameters = Pairs("--param")(param or ())
    run_columns, label_columns = columns_of(
        labels,
        metric,
        group=group,
        item=item,
        score=score,
        label=label,
        weight=weight,
        header=columns,
        items=items,
        documents=documents_given(item_to_document, collapse, item_is_text=item_is_text),
        allow=allow,
        groups_share=groups_share,
        relevant=relevant,
        beside=files[0],
    )
    if metadata is not None:
        tags = side_metadata(metadata) | tags
    created = None if created_at is None else stored_time(created_at)
    sample = None if sampled is None else checked_sample(sampled)
    share = None if groups_share is None else stored_share(groups_share)
    commit, let_pass = git_commit if git_commit is not None else _head(), allowed(allow or ())
    stored: list[IngestResult] = []
    try:
        with (
            whole_file(metrics_json, "--metrics-json") as write_metrics,
            options.tracker() as tracker,
            ExitStack() as stack,
        ):

            def keep(result: IngestResult) -> None:
                for note in result.notes:
                    options.say(f"note: {result.run}: {note}")
                stored.append(result)
                write_metrics(metrics_text([(evaluated.metric, evaluated.mean) for evaluated in result.metrics]))

            paths, of_labels, metrics = files, labels, metric or [DEFAULT_METRIC]
            if engine == "spark":
                of_spark = read_by_spark(files, labels, metrics, run_columns, label_columns)
                paths, of_labels = stack.enter_context(of_spark)
                run_columns = label_columns = Columns()
            given = None
            if of_labels is not None:
                require_file(paths[0])
                one = judge[0] if judge and len(judge) == 1 else None
                whose, given = labels_of(of_labels, columns=label_columns, judge=one)
                judge = judge or ([whose] if whose else None)

            def ready(path: str) -> ReadyRun:
                table = read_run(path, reader=reader, columns=run_columns, labels_apart=given is not None)
                return ready_run(table, given, parsed_metrics(metrics))

            n_jobs = 1 if stream else jobs or min(n_cores(), MOST_WORKERS)
            coming = stack.enter_context(closing(read_ahead(paths, n_jobs, ready)))
            for name_given, path, run_name, ahead in zip(files, paths, names, coming, strict=True):
                labels_source = None if labels is None else source_name(labels)
                of_run = {**run_metadata(path), **tags}
                facts = (source_name(name_given), commit, parameters, of_run, labels_source, created, sample, let_pass)
                texts = texts_given(path, text, run_columns, RUN_TABLE, reader)
                details = RunDetails(run_name, dataset, *facts, groups_share=share, texts=texts)
                store = partial(
                    tracker.ingest_stream,
                    labels=given,
                    details=details,
                    metrics=metrics,
                    replace=replace,
                    judge=judge,
                )
                if ahead is not None:
                    with ahead.in_turn() as run:
                        result = store([run.table], scores=run.scores)
                else:
                    result = in_blocks_or_whole(
                        path,
                        stream=stream,
                        reader=reader,
                        columns=run_columns,
                        scores=scores,
                        labels_apart=given is not None,
                        use=store,
                    )
                keep(result)
            store_recognised(tracker, run_columns.recognised or (), dataset)
    finally:  # runs that were stored before an error stay stored and are reported
        if stored:
            options.show("stored" if stored[0].is_sealed else _report(stored, format))


def _stored_results(
    path: str, metric: list[str] | None, direction: str | None, range: str | None, of_results: dict[str, Any]
) -> IngestResult:
    """Store values per group from another engine; ``of_results``: the other arguments of ``Tracker.log_results``."""
    from ndcg_tracker.metrics.language.metric import range_of

    if metric is None or len(metric) != 1 or direction is None or range is None:
        raise InputError(
            "--results needs a metric, a direction and a range",
            advice="give, for example, --metric external:latency --direction lower --range 0,inf",
        )
    low, comma, high = range.partition(",")
    if not comma or "," in high:
        raise InputError(f"--range {range!r} is not LOW,HIGH", advice="write, for example, 0,1 or 0,inf")
    better, limits = cast("Direction", direction), range_of(low, high)  # the direction is checked there
    with options.tracker() as tracker:
        return tracker.log_results(path, metric=metric[0], direction=better, range=limits, **of_results)


def _tags(tag: list[str] | None, measure: list[str] | None) -> tuple[dict[str, str], str | None]:
    """Return the tags of a run, including its measures, and the measure that --results takes."""
    tags = Pairs("--tag")(tag or ())
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
