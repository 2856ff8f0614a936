"""Every dialect, which gives the numbers of another tool under its own names, and which tools compute a metric."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.language.axes import AXES
from ndcg_tracker.metrics.language.measures import EXTERNAL
from ndcg_tracker.metrics.language.metric import Metric, parse_canonical

if TYPE_CHECKING:
    from ndcg_tracker.metrics.language.dialects.dialect import Dialect

DEFAULT_CUTOFF = 10
LONG_NAME = 60
_MODULE_OF = {
    name: module
    for module, names in {
        "trec": "trec_eval trec_eval10 pytrec_eval",
        "ir_measures": "ir_measures gdeval",
        "embeddings": "beir mteb",
        "search": "elasticsearch opensearch",
        "boosting": "catboost lightgbm xgboost",
        "calls": "sklearn torchmetrics tf_ranking ranx spark spark_graded",
        "recommenders": "rectools recbole replay lenskit cornac recommenders implicit",
    }.items()
    for name in names.split()
}


class _Dialects(Mapping[str, "Dialect"]):
    """The dialects by name; the module of one is imported when it is asked for."""

    def __getitem__(self, name: str) -> Dialect:
        dialect: Dialect = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name.upper())
        return dialect

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULE_OF)

    def __len__(self) -> int:
        return len(_MODULE_OF)


DIALECTS = _Dialects()


@dataclass(frozen=True, slots=True)
class Difference:
    """An axis on which two metrics differ, with the value of each."""

    axis: str
    ours: str
    theirs: str


@dataclass(frozen=True, slots=True)
class Agreement:
    """A metric compared with a tool's plain NDCG: ``text``, its dialect text; ``differences``, empty if equal."""

    dialect: str
    text: str
    differences: tuple[Difference, ...]


def differences(metric: Metric, other: Metric) -> tuple[Difference, ...]:
    """Return the axes on which two metrics differ; measure and cutoff count as axes.

    >>> from ndcg_tracker.metrics.language.text import parse_metric
    >>> [found.axis for found in differences(parse_metric("ndcg@10"), parse_metric("spark:ndcgAt(10)"))]
    ['gain', 'ties', 'negative', 'empty_when', 'extra']
    """
    differing = []
    if metric.measure != other.measure:
        differing.append(Difference("measure", metric.measure, other.measure))
    if metric.cutoff != other.cutoff:
        differing.append(Difference("cutoff", str(metric.cutoff or "none"), str(other.cutoff or "none")))
    return (
        *differing,
        *(
            Difference(axis.name, metric[axis.name], other[axis.name])
            for axis in AXES
            if metric.measure in axis.measures and metric[axis.name] != other[axis.name]
        ),
    )


def agreements(metric: Metric) -> list[Agreement]:
    """Return every tool's plain NDCG at the metric's cutoff (10 if it has none), the most similar tool first."""
    compared = []
    for dialect in DIALECTS.values():
        text = dialect.text(metric.cutoff or DEFAULT_CUTOFF)
        try:
            other = dialect.metric("", dialect.at(metric.cutoff or DEFAULT_CUTOFF))
        except MetricError:  # the cutoff is too large for this dialect
            continue
        if metric.cutoff is None:
            other = Metric(other.measure, None, other.settings)
        compared.append(Agreement(dialect.name, text, differences(metric, other)))
    return sorted(compared, key=lambda agreement: len(agreement.differences))


def are_by_rank(texts: str | Iterable[str]) -> bool:
    """Return whether any requested metric is of a tool that uses the ranks, whatever the scores.

    >>> are_by_rank(["ndcg@10", "rectools:NDCG(k=10)"]), are_by_rank("ndcg@10")
    (True, False)
    """
    names = (re.split(r"\W", text.strip())[0] for text in ([texts] if isinstance(texts, str) else texts))
    return any(name in _MODULE_OF and DIALECTS[name].is_by_rank for name in names)


def dialect_of(metric: Metric) -> Dialect | None:
    """Return the dialect that a metric was requested in, None if it was requested in none.

    >>> from ndcg_tracker.metrics.language.text import parse_metric
    >>> [dialect and dialect.name for dialect in map(dialect_of, map(parse_metric, ("ranx:ndcg@5", "ndcg@5")))]
    ['ranx', None]
    """
    return DIALECTS.get(re.split(r"\W", metric.requested_as)[0])


def familiar_name(text: str, requested_as: str = "") -> str:
    """Return the name of a metric to show to people: a tool's own text if the canonical text is long.

    ``requested_as``: the text that it was requested as, if known; a tool's text is used if it is shorter.

    >>> familiar_name("ndcg(gain=exp2)@10")
    'ndcg(gain=exp2)@10'
    >>> familiar_name(str(DIALECTS["lightgbm"].metric("", "ndcg@5")))
    'lightgbm:ndcg@5'
    >>> familiar_name("ndcg(label_type=int, ties=input)@5", "ranx:ndcg@5"), familiar_name("AP", "map")
    ('ranx:ndcg@5', 'AP')
    >>> familiar_name("external:latency(direction=lower, range=0..inf)")
    'external:latency'
    """
    if text.startswith(EXTERNAL):
        return text.partition("(")[0]
    if len(requested_as) < len(text) and re.split(r"\W", requested_as)[0] in _MODULE_OF:
        return requested_as
    if len(text) <= LONG_NAME:
        return text
    try:
        metric = parse_canonical(text)
        same = [agreement.text for agreement in agreements(metric) if not agreement.differences]
    except MetricError:
        return text
    return same[0] if same and metric.cutoff is not None else text
