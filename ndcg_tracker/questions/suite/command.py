"""``ndcg-track suite``: datasets that belong together; other commands use a suite with ``--suite``."""

from __future__ import annotations

from ndcg_tracker.cli import options
from ndcg_tracker.cli.parameters import Asked, takes
from ndcg_tracker.questions.suite import create_suite, delete_suite

app = options.command_group("Manage suites of datasets, for --suite: create, list, delete.")


@app.command("create")
@takes(create_suite)
def create(asked: Asked) -> None:
    """Create a suite: a name for datasets to look at together.

    Example: ndcg-track suite create all shop books
    """
    suite = asked.answered(create_suite)
    options.say(f"suite {suite.name!r} has {len(suite.datasets)} datasets: {', '.join(suite.datasets)}")


@app.command("list")
def list_suites(format: options.Output = "text") -> None:
    """List the suites and their datasets.

    Example: ndcg-track suite list
    """
    from ndcg_tracker.render.report import read_by_people

    with options.tracker() as tracker:
        suites = tracker.suites()
    rows = [(suite.name, dataset, suite.created_at_utc) for suite in suites for dataset in suite.datasets]
    options.show_list(format, read_by_people("suite", "dataset", "created_at_utc"), rows)


@app.command("delete")
@takes(delete_suite)
def delete(asked: Asked) -> None:
    """Delete a suite; its datasets and their runs stay.

    Example: ndcg-track suite delete all
    """
    suite = asked.answered(delete_suite)
    options.say(f"deleted suite {suite.name!r}; its datasets stay")
