"""The page of a leaderboard: several metrics as columns, and which differences are real."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from ndcg_tracker.asked import made
from ndcg_tracker.compare.arms import without_checkpoints
from ndcg_tracker.errors import NdcgTrackerError
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.leaderboard.decide import Leaderboard
from ndcg_tracker.questions.leaderboard.gather import leaderboard_of
from ndcg_tracker.questions.leaderboard.question import LeaderboardQuestion
from ndcg_tracker.questions.leaderboard.say import leaderboard_report, leaderboard_table
from ndcg_tracker.ui.faults import advice_and_commands, in_browser
from ndcg_tracker.ui.here import Answer, Here, tag_pair
from ndcg_tracker.ui.overviews import GroupsCounted
from ndcg_tracker.ui.rendering import Question, metric_name, of_form, rendered, table_on_page

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from markupsafe import Markup

    from ndcg_tracker.storage.records import MetricUse
    from ndcg_tracker.storage.store import ReadTransaction

RUNS = 50
"""The default number of runs to rank, the latest ones."""
_MORE_METRICS = 3
_CHOSEN = ("dataset", "metrics", "labels", "judge", "tags", "suite", "by_tag", "measures", "check_with")
"""Options of a leaderboard that the page chooses in its own way, or that it does not take."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The leaderboard that an address asks for, and the metrics to choose from."""

    here: Here
    question: LeaderboardQuestion
    rankable: Sequence[MetricUse]

    @classmethod
    def of(cls, tx: ReadTransaction, ask: Question) -> Asked:
        """Return the request of an address: the metric that orders runs first, then the metrics ``beside`` it."""
        here = Here.of(tx, ask)
        first = here.wanted()
        is_external = parse_metric(first.metric).is_external
        rankable = [use for use in here.metrics if _is_rankable(use, is_external)]
        if ask.has("beside"):
            beside = [use.metric for use in rankable if use.metric in ask.texts("beside")]
        else:  # only metrics that all runs have, because a leaderboard leaves out runs without them
            beside = [use.metric for use in rankable if use.n_runs >= first.n_runs and use != first][:_MORE_METRICS]
        metrics = [*dict.fromkeys([first.metric, *beside])]
        asked = {**ask.keywords(LeaderboardQuestion, _CHOSEN), "metrics": metrics, "dataset": here.dataset.name}
        asked |= {"tags": dict(map(tag_pair, ask.texts("tag"))), "labels": here.version, "judge": here.judge or None}
        return cls(here, made(LeaderboardQuestion, asked, last=ask.number("last", RUNS)), rankable)


def _is_rankable(use: MetricUse, is_external: bool) -> bool:
    metric = parse_metric(use.metric)
    return metric.is_external == is_external and metric.shown_only is None and metric.summary == "mean"


def leaderboard(tx: ReadTransaction, ask: Question) -> Answer:
    """Return the page of the leaderboard of a dataset."""
    asked = Asked.of(tx, ask)
    here, question = asked.here, asked.question
    given = ask.keywords(LeaderboardQuestion, _CHOSEN)
    board, why, commands = None, "", list[str]()
    try:
        board = leaderboard_of(tx, question)
    except NdcgTrackerError as error:
        _, what, advice = error.parts(in_browser)
        words, commands = advice_and_commands(advice)
        why = f"{what}; {words}" if words else what
    n_runs = len(without_checkpoints(tx.runs.all(here.dataset.name), question.tags)[0])
    others = {"dataset": here.dataset.name, "tag": ask.texts("tag"), **given}
    others["last"] = ask.text("last")
    report = None if board is None else leaderboard_report(board)
    beside = [str(metric) for metric in question.metrics[1:]]
    names = {use.metric: metric_name(use) for use in here.metrics}
    return rendered(
        "leaderboard.html",
        title=f"Leaderboard of {here.dataset.name}",
        report=report,
        why=why,
        commands=commands,
        table="" if board is None else _table(here, board, others),
        groups="" if board is None else _groups_of(tx, here, board),
        rankable=[(use.metric, names[use.metric], use.metric in beside) for use in asked.rankable],
        tag=(ask.texts("tag") or [""])[0],
        last=question.last,
        n_runs=n_runs,
        options=of_form(LeaderboardQuestion, _CHOSEN, given),
        **here.values("/leaderboard"),
    )


def _table(here: Here, board: Leaderboard, others: Mapping[str, object]) -> Markup:
    """Return the table of the question with links: of metrics to their orders, of runs to pages and comparisons."""
    metrics, ids = [of.metric for of in board.metrics], [run.run_id for run in board.runs]
    beside = [[other for other in metrics if other != metric] or [""] for metric in metrics]
    both = zip(metrics, beside, strict=True)
    orders = iter([here.link("/leaderboard", **others, metric=metric, beside=rest) for metric, rest in both])
    table = leaderboard_table(board)
    heads = [replace(of, link=next(orders)) if of.kind == "mean" else of for of in table.columns]
    compare = partial(here.link, "/compare", metric=metrics[0], dataset=board.dataset)
    return table_on_page(
        replace(table, columns=heads),
        run=[("", here.link("/run", run=run_id, metric=metrics[0])) for run_id in ids],
        verdict=[(" compare", compare(run=[ids[0], run_id])) for run_id in ids],
    )


def _groups_of(tx: ReadTransaction, here: Here, board: Leaderboard) -> str:
    """Return how many of the groups are in the means of the first metric, "" if all are."""
    records = [record for record in here.records(tx) if record.label_set_version == board.labels.version]
    n_all = max((GroupsCounted.of(record).n_all for record in records), default=0)
    return GroupsCounted(board.metrics[0].n, n_all).words
