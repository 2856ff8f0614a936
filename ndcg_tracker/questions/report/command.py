"""``ndcg-track report``: a comparison as a page."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from ndcg_tracker.cli import options
from ndcg_tracker.compare.command import (
    Baseline,
    Ci,
    ClusterBy,
    Compared,
    LabelsVersion,
    MissingGroups,
    Test,
    labels_version,
)


def report(
    baseline: Baseline,
    candidates: Annotated[
        list[str] | None, typer.Argument(metavar="CANDIDATE...", help="One or more runs to compare with the baseline.")
    ] = None,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="The page.")] = "report.html",
    all_runs: Annotated[bool, typer.Option("--all", help="Compare the baseline with all other runs.")] = False,
    metric: options.Metrics = None,
    dataset: options.AnyDataset = None,
    missing: MissingGroups = "error",
    test: Test = "t",
    ci: Ci = "t",
    cluster: ClusterBy = None,
    labels: LabelsVersion = None,
    suite: options.OnSuite = None,
    by_tag: options.ByTag = None,
    texts: Annotated[
        bool, typer.Option("--texts", help="Show query texts, titles and links (see ndcg-track texts).")
    ] = False,
) -> None:
    """Write a page that shows a comparison.

    It shows every group, the lists of those that changed, and the history. The page is one file and needs no network.
    The first metric is drawn group by group. Several candidates get a tab each, and a picture of all pairs.

    --suite shows the systems on every dataset and over all, with a picture of the first candidate.
    """
    from ndcg_tracker.errors import InputError, worded
    from ndcg_tracker.render.whole_file import whole_file

    if all_runs and candidates:
        raise InputError("--all compares with all other runs", advice="leave out the candidates, or --all")
    options.belongs_to_one_dataset(suite, by_tag=by_tag, dataset=dataset, all=all_runs, texts=texts)
    asked = Compared(missing=missing, test=test, ci=ci, cluster=cluster)
    with options.tracker() as tracker, whole_file(output, "--output") as write:
        if suite is not None and candidates:
            on_suite = tracker.compare_suite(
                suite,
                baseline,
                *candidates,
                metric=metric or (),
                by_tag=by_tag,
                **asked,
                labels=labels_version(labels),
            )
            page = tracker.suite_page(on_suite, by_tag=by_tag, missing=missing, labels=labels_version(labels))
        if all_runs:
            others, left_out = tracker.comparable_others(
                baseline,
                dataset=dataset,
                metrics=metric or (),
                missing=missing,
                cluster=cluster,
                labels=labels_version(labels),
            )
            for run, why in left_out:
                options.say(f"note: left out {run.name}: {worded(why.message, options.as_option)}")
            candidates = [run.name for run in others]  # a name counts before the id of another run
            dataset = others[0].dataset if others else dataset
        if all_runs and not candidates:
            raise InputError(f"no other run can be compared with {baseline!r}", advice="store one, or name another")
        if not candidates:
            raise InputError(
                "a report needs a candidate", advice="name one after the baseline, or give --all", joint=": "
            )
        if suite is None:
            found = tracker.report(
                baseline,
                *candidates,
                dataset=dataset,
                metrics=metric or (),
                **asked,
                labels=labels_version(labels),
                output=output,
                texts=texts,
            )
            page = found.to_html()
        write(page)
    options.say(f"wrote {shlex.quote(output)}: open it in a browser")
