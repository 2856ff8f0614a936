"""Push a stored run to Weights & Biases: created there once, updated afterwards; offline too."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.integrations import library
from ndcg_tracker.integrations.stored_run import REPORT, metric_name, report_page, run_identity, stored_run
from ndcg_tracker.words.notes import Note, in_words

if TYPE_CHECKING:
    from ndcg_tracker.api.tracker import Tracker

_LONGEST_TAG = 64


@dataclass(frozen=True)
class PushedRun:
    """The result of pushing a run: "created", "updated" or "written". ``where``: its address, or the folder to sync."""

    run: str
    dataset: str
    outcome: str
    wandb_run_id: str
    project: str
    where: str
    n_metrics: int
    notes: tuple[str, ...]


def push(
    tracker: Tracker,
    reference: str,
    *,
    dataset: str | None = None,
    project: str | None = None,
    entity: str | None = None,
    baseline: str | None = None,
    offline: bool = False,
) -> PushedRun:
    """Create or update the W&B run of a stored run: means, parameters, tags, the table of groups and the report page.

    The id of the W&B run is computed from the dataset, the run's name and its content. So pushing a run again, or
    syncing its offline folder again, updates it. Its summary has the means (``ndcg_at_10``, see ``metric_name``). Its
    config has the parameters and, under ``ndcg_tracker``, the dataset, the version of the labels, the commit, all tags,
    and the metric of each name. ``per_group`` is the table of all groups. ``project``: by default ``WANDB_PROJECT``,
    else the dataset's name. ``offline``: write a folder for ``wandb sync``; ``WANDB_MODE`` can also ask for it.
    ``baseline``: the run that the report page (an artifact) compares with; by default ``@baseline``, if the dataset has
    that alias and it points to another run. Raises: ReferenceNotFoundError; NotComparableError for a baseline that was
    named; InputError for errors of W&B, in one line.
    """
    stored = stored_run(tracker, reference, dataset=dataset)
    run = stored.run
    page, notes = report_page(tracker, run, baseline)
    tags = [f"{key}={value}" for key, value in run.tags.items()]
    notes += [Note("no_mean", {"metric": text}) for text, mean in stored.means.items() if mean is None]
    means = {metric_name(text): mean for text, mean in stored.means.items() if mean is not None}
    facts = {
        "dataset": run.dataset,
        "label_set_version": stored.label_set_version,
        "created_at_utc": run.created_at_utc,
        "git_commit": run.git_commit,
        "tags": dict(run.tags),
        "metrics": {metric_name(text): text for text in stored.means},
    }
    wandb = library("wandb", "wandb")
    with _errors(wandb), TemporaryDirectory(prefix="ndcg-tracker-") as folder:
        made = wandb.init(
            id=run_identity(run.dataset, run.name, run.digest),
            resume="allow",
            name=run.name,
            project=project or os.environ.get("WANDB_PROJECT") or run.dataset,
            entity=entity,
            config={**run.parameters, "ndcg_tracker": facts},
            tags=[tag for tag in tags if len(tag) <= _LONGEST_TAG],
            mode="offline" if offline else None,
            settings=wandb.Settings(
                silent=True,
                console="off",
                x_disable_stats=True,
                disable_git=True,
                disable_code=True,
                x_disable_meta=True,  # else W&B gets the arguments of the program, which may hold a password
            ),
        )
        rows = [list(row) for row in zip(*stored.per_group.values(), strict=True)]
        made.log({"per_group": wandb.Table(columns=list(stored.per_group), data=rows)})
        made.summary.update(means)
        if page is not None:
            (Path(folder) / REPORT).write_text(page.to_html(), encoding="utf-8")
            artifact = wandb.Artifact(f"report-{made.id}", type="report", description=f"{run.name} of {run.dataset}")
            artifact.add_file(str(Path(folder) / REPORT))
            made.log_artifact(artifact)
        is_offline = bool(made.settings.mode == "offline")
        where = str(Path(made.dir).parent) if is_offline else str(made.url)
        outcome = "written" if is_offline else "updated" if made.resumed else "created"
        pushed = PushedRun(run.name, run.dataset, outcome, made.id, made.project, where, len(means), in_words(notes))
        made.finish()
    return pushed


@contextmanager
def _errors(wandb: Any) -> Iterator[None]:
    try:
        yield
    except wandb.errors.Error as error:
        if "API key" in str(error):
            advice = f"log in with: wandb login; or give {argument('offline', True)}"
            raise InputError("W&B has no API key here", advice=advice) from None
        raise InputError(f"W&B: {' '.join(str(error).split())}") from None
