"""A page as one HTML file, and its rows as CSV and JSON, the same as the command of its question prints."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.metadata import version
from typing import TYPE_CHECKING, cast

from ndcg_tracker.compare.arms import Arm
from ndcg_tracker.compare.gather import compared
from ndcg_tracker.compare.say import comparison_said
from ndcg_tracker.errors import InputError, ReferenceNotFoundError
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.explain.gather import explained_pair, group_explanation
from ndcg_tracker.questions.explain.say import explanation_said
from ndcg_tracker.questions.history import history_answer
from ndcg_tracker.questions.history.gather import HistoryResult
from ndcg_tracker.questions.labels.gather import label_versions
from ndcg_tracker.questions.labels.say import label_versions_as
from ndcg_tracker.questions.leaderboard.gather import leaderboard_of
from ndcg_tracker.questions.leaderboard.say import leaderboard_said
from ndcg_tracker.questions.report.page import cutoffs_table
from ndcg_tracker.questions.show.gather import ListedRuns, shown_run
from ndcg_tracker.questions.show.say import listed_as, shown_said
from ndcg_tracker.render.formats import as_object, rows_as
from ndcg_tracker.render.html import policy
from ndcg_tracker.render.report import Table, unseen
from ndcg_tracker.runs.groups import group_records
from ndcg_tracker.ui.comparisons import Chosen, cutoff_rows, group_runs
from ndcg_tracker.ui.here import FORMATS, Answer, Here, Rows, missing, sign_of
from ndcg_tracker.ui.leaderboards import Asked
from ndcg_tracker.ui.overviews import groups_listed
from ndcg_tracker.ui.pages import asked_groups, asked_history, datasets
from ndcg_tracker.ui.rendering import Question, asset_of_pages
from ndcg_tracker.ui.runs import matching_runs

if TYPE_CHECKING:
    from ndcg_tracker.render.report import Format
    from ndcg_tracker.storage.store import ReadTransaction


def file_of(tx: ReadTransaction, path: str, ask: Question, page: Callable[[ReadTransaction, Question], Answer]) -> Rows:
    """Return a page, or its rows, in the format that its address names (InputError for another one)."""
    format = ask.text("format")
    if format not in FORMATS:
        raise InputError(f"no page has the format {format!r}", advice="choose html, csv or json")
    if path not in _ROWS:
        raise ReferenceNotFoundError("this page has no rows")
    name = path.strip("/").replace("/", "-") or "datasets"
    if format == "html":
        shown = datasets(tx, ask) if path == "/" else page(tx, ask)
        return Rows(as_file(str(shown)), f"{name}.html")
    return Rows(_ROWS[path](tx, ask, cast("Format", format)), f"{name}.{format}")


def as_file(page: str) -> str:
    """Return a page as one file with its style and its scripts inside; links to the server become plain words."""
    loaded = re.findall(r'(?:href|src)="/static/([\w.]+)"', page)
    style = "\n".join(asset_of_pages(name) for name in loaded if name.endswith(".css"))
    scripts = {name: asset_of_pages(name) for name in loaded if name.endswith(".js")}
    page = re.sub(r'<link rel="[^>]*>\n?', "", page)
    page = re.sub(r'(<a\b[^>]*?) href="/[^"]*"', r"\1", page)
    made = f'<footer class="foot muted">Made by ndcg-track {version("ndcg-tracker")}. It needs no network.</footer>'
    page = re.sub('<footer class="foot.*?</footer>', made, page, flags=re.DOTALL)
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy(style, [*scripts.values()])}">'
    page = page.replace("</title>", f"</title>\n{meta}\n<style>{style}</style>", 1)
    page = re.sub(r'<script src="/static/([\w.]+)">', lambda found: f"<script>{scripts[found[1]]}", page)
    return page.replace("<html ", '<html class="file" ', 1)


def _datasets(tx: ReadTransaction, ask: Question, format: Format) -> str:
    counts = tx.datasets.counts()
    rows = [
        (dataset.name, *as_object(counts[dataset.id]).values(), dataset.created_at_utc) for dataset in tx.datasets.all()
    ]
    return rows_as(format, ["dataset", "n_runs", "n_groups", "n_label_sets", "created_at_utc"], rows)


def _runs(tx: ReadTransaction, ask: Question, format: Format) -> str:
    here = Here.of(tx, ask)
    _, matching = matching_runs(tx, here)
    means = {overview.run.id: overview.mean for overview in matching}
    judged = {overview.run.id: overview.judged for overview in matching}
    metric = None if here.metric is None else here.metric.metric
    return listed_as(format, ListedRuns([overview.run for overview in matching], metric, means, judged))


def _run(tx: ReadTransaction, ask: Question, format: Format) -> str:
    run = tx.runs.with_id(ask.number("run", 0) or missing("run"))
    return shown_said(shown_run(tx, run, None, None, 5)).in_format(format)


def _history(tx: ReadTransaction, ask: Question, format: Format) -> str:
    history, wanted = asked_history(tx, Here.of(tx, ask))
    if not history.rows:
        raise ReferenceNotFoundError("no run matches these filters")
    return history_answer(HistoryResult(history), wanted).in_format(format)


def _leaderboard(tx: ReadTransaction, ask: Question, format: Format) -> str:
    return leaderboard_said(leaderboard_of(tx, Asked.of(tx, ask).question)).in_format(format)


def _compare(tx: ReadTransaction, ask: Question, format: Format) -> str:
    chosen = Chosen.of(tx, ask)
    pairs = compared(tx, chosen.baseline.name, [run.name for run in chosen.candidates], chosen.options(ask))
    return comparison_said(*(pair.comparison for pair in pairs)).in_format(format)


def _cutoffs(tx: ReadTransaction, ask: Question, format: Format) -> str:
    return rows_as(format, *cutoffs_table(cutoff_rows(tx, Chosen.of(tx, ask), ask)).for_programs)


def _groups(tx: ReadTransaction, ask: Question, format: Format) -> str:
    here = Here.of(tx, ask)
    of_key = {record.key: record for record in group_records(tx, here.dataset.name)}
    evaluated, metric = here.records(tx), None if here.metric is None else here.metric.metric
    asked = asked_groups(ask), len(of_key), 0, sign_of(metric)
    listed = groups_listed(tx, here.dataset, evaluated[-1].evaluation_id if evaluated else None, *asked)
    records = [of_key[group.key] for group in listed.groups]
    names = sorted({name for record in of_key.values() for name in record.attributes})
    rows = [(record.key, record.weight, *(record.attributes.get(name) for name in names)) for record in records]
    return rows_as(format, ["group", "weight", *names], rows)


def _group(tx: ReadTransaction, ask: Question, format: Format) -> str:
    here, key = Here.of(tx, ask), str(ask.text("group") or missing("group"))
    ids = group_runs(tx, here, key)
    if len(ids) < 2:
        raise ReferenceNotFoundError("no two runs have this group")
    runs = [tx.runs.with_id(run_id) for run_id in ids]
    metric = parse_metric(here.wanted().metric)
    both = explained_pair(tx, Arm.of(runs[0]), Arm.of(runs[1]), metric, view=here.view)
    return explanation_said(group_explanation(tx, both, key), None).in_format(format)


def _labels(tx: ReadTransaction, ask: Question, format: Format) -> str:
    here = Here.of(tx, ask)
    return label_versions_as(format, label_versions(tx, here.dataset.name, here.judge))


_OF_DECISION = unseen(
    "id dataset_id baseline_run_id candidate_run_id baseline_run candidate_run baseline_alias metric label_set_id "
    "scope margin delta ci_low ci_high alpha decision reason acknowledged_reason acknowledged_by created_at_utc "
    "repeats unjudged delta_low delta_high checked_by budget looks look baseline_lists question"
)


def _decisions(tx: ReadTransaction, ask: Question, format: Format) -> str:
    records = tx.decisions.all(Here.of(tx, ask).dataset.id)
    return rows_as(format, _OF_DECISION, as_object(Table.of(_OF_DECISION, records).rows))


_ROWS: dict[str, Callable[[ReadTransaction, Question, Format], str]] = {
    "/": _datasets,
    "/datasets": _datasets,
    "/runs": _runs,
    "/run": _run,
    "/history": _history,
    "/leaderboard": _leaderboard,
    "/compare": _compare,
    "/compare/cutoffs": _cutoffs,
    "/groups": _groups,
    "/group": _group,
    "/labels": _labels,
    "/decisions": _decisions,
}
