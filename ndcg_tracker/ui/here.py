"""The state of a page: its dataset, metric, judge and version of the labels, and links to other pages."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from ndcg_tracker.compare.options import LabelView
from ndcg_tracker.errors import InputError, NdcgTrackerError, ReferenceNotFoundError
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.render.terminal import visible
from ndcg_tracker.runs.judges import judges_of
from ndcg_tracker.ui.overviews import shown_judge, usual_metric
from ndcg_tracker.ui.rendering import Question, link, metric_name
from ndcg_tracker.words.texts import judge_words, now_about

if TYPE_CHECKING:
    from ndcg_tracker.storage.records import DatasetRecord, HistoryRecord, LabelSetRecord, MetricUse, RunRecord
    from ndcg_tracker.storage.store import ReadTransaction


class Next(str):
    """The address of another page, to which this one redirects."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Rows:
    """A page or its rows as a file, and its name."""

    text: str
    name: str


Answer = str | Next | Rows | dict[str, object]
"""A page, a redirect, the rows of a page, or data for a script."""

FORMATS = ("html", "csv", "json")
"""The formats of the file that a page offers: the page itself, or its rows."""
JUDGE = "/judge"
"""The page on which a person grades items: it has its own choices and rows."""
ROWS = 50
"""How many rows of a table are on a page."""


@dataclass(frozen=True, slots=True)
class Here:
    """The choices of an address: a dataset, a metric, a judge, and the alternatives to choose from.

    ``judge``: whose labels to use; ``label_set``: the version that the address names, None for the latest of each run.
    ``judges`` and ``label_sets``: all judges, and all versions of this judge. ``is_without_runs``: there are no runs.
    """

    ask: Question
    dataset: DatasetRecord
    metrics: Sequence[MetricUse]
    metric: MetricUse | None
    judge: str = ""
    label_set: LabelSetRecord | None = None
    judges: Sequence[str] = ()
    label_sets: Sequence[LabelSetRecord] = ()
    is_without_runs: bool = False

    def __post_init__(self) -> None:
        now_about(self.dataset.name)

    @classmethod
    def of(cls, tx: ReadTransaction, ask: Question, dataset: DatasetRecord | None = None) -> Here:
        """Return the choices of an address (ReferenceNotFoundError for anything that does not exist)."""
        dataset = dataset or ask.dataset(tx)
        judges = judges_of(tx, dataset.id)
        judge = ask.text("judge") or shown_judge(tx, dataset)
        if judge and judge not in judges:
            raise ReferenceNotFoundError(
                f"dataset {dataset.name!r} has no labels of {judge_words(judge)}", advice="choose another judge"
            )
        label_sets, number = tx.labels.sets(dataset.id, judge), ask.number("labels", 0)
        label_set = next((one for one in label_sets if one.version == number), None)
        if number and label_set is None:
            whose = f" of {judge_words(judge)}" if judge else ""
            raise ReferenceNotFoundError(
                f"dataset {dataset.name!r} has no version {number} of the labels{whose}", advice="choose another one"
            )
        metrics = tx.evaluations.metrics(dataset.id, judge)
        metric = usual_metric(metrics, ask.text("metric"))
        is_without_runs = metric is None and not tx.runs.all(dataset.name)
        return cls(ask, dataset, metrics, metric, judge, label_set, judges, label_sets, is_without_runs)

    @classmethod
    def of_run(cls, tx: ReadTransaction, ask: Question, run: RunRecord) -> Here:
        """Return the choices of an address that names a run."""
        return cls.of(tx, ask, tx.datasets.named(run.dataset))

    @classmethod
    def around(cls, tx: ReadTransaction, ask: Question) -> Here | None:
        """Return the known choices of an address that cannot be shown, None if none is known."""
        with suppress(NdcgTrackerError):
            ids = [] if ask.text("dataset") else [*ask.ids("run"), *ask.ids("baseline")]
            known = ask.without("judge", "labels", "metric", *(["dataset"] if ids else []))
            dataset = tx.datasets.named(tx.runs.with_id(ids[0]).dataset) if ids else None
            for choices in (ask, ask.without("metric"), known):
                with suppress(NdcgTrackerError):
                    return cls.of(tx, choices, dataset)
        return None

    @property
    def kept(self) -> dict[str, object]:
        """The choices that all pages of a dataset share, as parameters of an address."""
        return {"judge": self.ask.text("judge"), "labels": self.label_set and self.label_set.version}

    @property
    def version(self) -> int | None:
        """The chosen version of the labels, None if none was chosen."""
        return None if self.label_set is None else self.label_set.version

    @property
    def view(self) -> LabelView:
        """The chosen labels."""
        return LabelView(labels=self.version, judge=self.judge or None)

    def link(self, path: str, **parameters: object) -> str:
        """Return the address of a page of this dataset, with the choices that all pages share."""
        return link(path, **{**parameters, **self.kept})

    def records(self, tx: ReadTransaction) -> list[HistoryRecord]:
        """Return the evaluations of all runs under the metric, by run and version of the labels; the latest last."""
        if self.metric is None:
            return []
        metric = self.metric.metric
        named = None if self.label_set is None or parse_metric(metric).is_external else self.label_set.id
        return tx.evaluations.history(self.dataset.id, metric, named, self.judge)

    def values(self, here: str) -> dict[str, object]:
        """Return the values that every template shows; ``here``: the address of the page."""
        return {
            "dataset": self.dataset.name,
            "metric": None if self.metric is None else self.metric.metric,
            "metric_name": "" if self.metric is None else metric_name(self.metric),
            "metrics": [(use.metric, metric_name(use)) for use in self.metrics],
            "judge": self.judge,
            "person": self.ask.person,
            "choices": [] if here == JUDGE else self._choices(),
            "kept": [(name, value) for name, value in self.kept.items() if value],
            "at": self.link,
            "here": here,
            "data_links": []
            if here == JUDGE
            else [(name.upper(), self.ask.link(here, "page", format=name)) for name in FORMATS],
        }

    def _choices(self) -> list[dict[str, object]]:
        """Return the judges and the versions of the labels to choose from, if there are several."""
        judges = [(judge, judge or "unnamed judge") for judge in self.judges]
        versions = [(str(label_set.version), f"version {label_set.version}") for label_set in self.label_sets[::-1]]
        newest = [("", "latest of each run")]
        choices = [("judge", judges, self.judge)] if len(judges) > 1 else []
        choices += [("labels", newest + versions, str(self.version or ""))] if len(versions) > 1 else []
        return [
            {
                "name": name,
                "options": options,
                "chosen": chosen,
                "hidden": self.ask.without("page", "labels", name).parameters,
            }
            for name, options, chosen in choices
        ]

    def wanted(self) -> MetricUse:
        """Return the metric. Raises: InputError if no run has one under the labels of the judge."""
        if self.metric is not None:
            return self.metric
        nothing = f"no run of dataset {self.dataset.name!r} was evaluated"
        if self.is_without_runs or not self.label_sets:
            raise InputError(f"{nothing} under a metric yet")
        command = shlex.join(rescoring(self.dataset.name, self.version or self.label_sets[-1].version))
        raise InputError(
            f"{nothing} under the labels of {judge_words(self.judge)} yet", advice=f"evaluate all with: {command}"
        )


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of a long table that are on a page, and the addresses of the pages before and after."""

    first: int
    last: int
    total: int
    before: str | None
    after: str | None

    @classmethod
    def of(cls, total: int, number: int, address: Callable[..., str]) -> Part:
        """Return a page of a table by its number, from 1; ``address``: returns the address of another ``page``."""
        first = min((number - 1) * ROWS, max(0, (total - 1) // ROWS * ROWS))
        number, last = first // ROWS + 1, min(total, first + ROWS)
        before = address(page=number - 1) if number > 1 else None
        return cls(first, last, total, before, address(page=number + 1) if last < total else None)

    @property
    def words(self) -> str:
        """Which rows these are."""
        return f"{self.first + 1:,} to {self.last:,} of {self.total:,}" if self.last < self.total or self.first else ""


def rescoring(dataset: str, version: int) -> tuple[str, ...]:
    """Return the command that evaluates all runs under a version of the labels.

    >>> " ".join(rescoring("shop", 2))
    'ndcg-track rescore --all --dataset shop --labels 2'
    """
    return ("ndcg-track", "rescore", "--all", "--dataset", dataset, "--labels", str(version))


def missing(name: str) -> NoReturn:
    """Refuse an address that does not name what its page is about."""
    raise InputError(f"the address does not name a {name}")


def tag_pair(tag: str) -> tuple[str, str]:
    """Return the key and the value of a tag (InputError for anything else)."""
    key, equals, value = tag.partition("=")
    if not equals:
        raise InputError(f"tag {tag!r} is not key=value")
    return key, value


def chart_words(spec: Mapping[str, Any]) -> dict[str, str]:
    """Return the title of a chart and how to read it."""
    return {"title": spec["title"]["text"], "subtitle": spec["title"].get("subtitle", "")}


def links_of(history: Mapping[str, Any], ids: Mapping[str, int], of_run: Callable[..., str]) -> list[str]:
    """Return the address of the run of each point of a history, for its script; ``ids``: by name."""
    visible_ids = {visible(name): run_id for name, run_id in ids.items()}
    return [of_run(run=visible_ids[row["run"]]) for row in history["data"]["values"]]


def sign_of(metric: str | None) -> float:
    """Return 1 where higher values of a metric are better, -1 where lower ones are."""
    return -1.0 if metric is not None and parse_metric(metric).direction == "lower" else 1.0
