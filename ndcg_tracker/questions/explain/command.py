"""``ndcg-track explain``: the items, grades, ranks or labels that cause a difference."""

from __future__ import annotations

from typing import Annotated

import typer

from ndcg_tracker.cli import options
from ndcg_tracker.compare.command import Baseline, Candidate

GroupMetric = Annotated[
    str | None,
    typer.Option(
        "--metric",
        "-m",
        help="A cg, dcg or ndcg metric that both runs have.",
        show_default="ndcg@10, else the first they share",
        callback=options.metric_asked_for,
    ),
]
LabelsBaseline = Annotated[
    int | None, typer.Option(metavar="VERSION", help="Evaluate the baseline against these labels.")
]
LabelsCandidate = Annotated[
    int | None, typer.Option(metavar="VERSION", help="Evaluate the candidate against these labels.")
]


def explain(
    baseline: Baseline,
    candidate: Candidate,
    group: Annotated[str | None, typer.Option(metavar="KEY", help="The group to explain; by default all.")] = None,
    metric: GroupMetric = None,
    by: Annotated[
        str | None, typer.Option(metavar="ATTRIBUTE", help="Say what each slice of the groups did as well.")
    ] = None,
    dataset: options.AnyDataset = None,
    labels_baseline: LabelsBaseline = None,
    labels_candidate: LabelsCandidate = None,
    top: Annotated[int, typer.Option(min=0, help="How many items to show.")] = 10,
    all_items: Annotated[
        bool, typer.Option("--all", help="Show all items, also unchanged ones; --top is ignored.")
    ] = False,
    format: options.Output = "text",
) -> None:
    """Explain why two runs differ, item by item.

    Shows which items moved, entered or left, and how much each contributed. The labels are the newest version under
    which both runs have the metric. If there is no such version, or two versions are given, the change is also split
    into the parts of the ranking, the grades and the coverage of the labels.
    """
    from ndcg_tracker.questions.explain.say import explanation_said

    shown = None if all_items else top
    with options.tracker() as tracker:
        found = tracker.explain(
            baseline,
            candidate,
            group=group,
            metric=metric,
            dataset=dataset,
            labels_baseline=labels_baseline,
            labels_candidate=labels_candidate,
            top=shown,
            by=by,
        ).explanation
    options.show_answer(explanation_said(found, shown), format)
