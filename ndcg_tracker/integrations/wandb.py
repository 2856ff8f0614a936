"""Push a stored run to Weights & Biases: created there once, updated afterwards; offline too."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ndcg_tracker.asked import AnyDataset, Option, Run
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.integrations import library
from ndcg_tracker.integrations.stored_run import (
    REPORT,
    ReportBaseline,
    metric_name,
    report_page,
    run_identity,
    stored_run,
)
from ndcg_tracker.words.notes import in_words

if TYPE_CHECKING:
    from ndcg_tracker.api.tracker import Tracker


Project = Annotated[str | None, Option("The W&B project.", default="$WANDB_PROJECT, else the dataset")]
Entity = Annotated[str | None, Option("The W&B user or team.", default="$WANDB_ENTITY, else yours")]
Offline = Annotated[bool, Option("Write the run to a folder, for 'wandb sync' to send later.")]


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
    reference: Run,
    *,
    dataset: AnyDataset = None,
    project: Project = None,
    entity: Entity = None,
    baseline: ReportBaseline = None,
    offline: Offline = False,
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
    notes += stored.notes()
    means = stored.named_means()
    facts = {name: getattr(run, name) for name in ("dataset", "created_at_utc", "git_commit")}
    facts |= {"label_set_version": stored.label_set_version, "tags": dict(run.tags)}
    facts["metrics"] = {metric_name(text): text for text in stored.means}
    wandb = library("wandb")
    # Its own look at the machine would send the arguments of the program, which may hold a password.
    quiet = wandb.Settings(
        silent=True, console="off", x_disable_stats=True, disable_git=True, disable_code=True, x_disable_meta=True
    )
    tags = [tag for tag in map("=".join, run.tags.items()) if len(tag) <= 64]  # longer ones are refused
    place = {"project": project or os.environ.get("WANDB_PROJECT") or run.dataset, "entity": entity}
    place |= {"id": run_identity(run.dataset, run.name, run.digest), "name": run.name, "resume": "allow"}
    config = {**run.parameters, "ndcg_tracker": facts}
    with _errors(wandb):
        made = wandb.init(**place, config=config, tags=tags, mode="offline" if offline else None, settings=quiet)
        made.log({"per_group": wandb.Table(**stored.table)})
        made.summary.update(means)
        if page is not None:
            artifact = wandb.Artifact(f"report-{made.id}", type="report", description=f"{run.name} of {run.dataset}")
            with artifact.new_file(REPORT, encoding="utf-8") as file:
                file.write(page.to_html())
            made.log_artifact(artifact)
        is_offline = bool(made.settings.mode == "offline")
        where = str(Path(made.dir).parent) if is_offline else str(made.url)
        outcome = "written" if is_offline else "updated" if made.resumed else "created"
        made.finish()
    return PushedRun(run.name, run.dataset, outcome, made.id, made.project, where, len(means), in_words(notes))


@contextmanager
def _errors(wandb: Any) -> Iterator[None]:
    try:
        yield
    except wandb.errors.Error as error:
        advice = f"log in with: wandb login; or give {argument('offline', True)}" if "API key" in str(error) else ""
        what = "W&B has no API key here" if advice else f"W&B: {' '.join(str(error).split())}"
        raise InputError(what, advice=advice) from None
