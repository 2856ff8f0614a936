"""The names of metrics in other tools, by kind of work, and names that mean another metric than our similar name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import get_args

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.language.dialects import DIALECTS
from ndcg_tracker.metrics.language.measures import EXTERNAL, MEASURES, Work, squeezed
from ndcg_tracker.metrics.language.metric import parse_canonical

_TOOLS: dict[Work, tuple[str, ...]] = {
    "search": ("elasticsearch", "opensearch", "beir", "mteb", "ranx", "ir_measures"),
    "recommendations": (
        *("rectools", "recbole", "replay", "lenskit", "cornac", "recommenders", "implicit"),
        *("spark", "ranx", "torchmetrics"),
    ),
    "rankers": ("lightgbm", "xgboost", "catboost", "sklearn", "torchmetrics", "tf_ranking", "spark_graded"),
    "trec": ("trec_eval", "trec_eval10", "pytrec_eval", "ir_measures", "gdeval", "ranx"),
}
"""The dialects for each kind of work."""

_WITHOUT_DIALECT: dict[Work, tuple[tuple[str, str, str], ...]] = {
    "search": (
        ("sentence-transformers", "cosine_ndcg@10", "ndcg(gain=binary, ties=item_asc)@10"),
        ("sentence-transformers", "cosine_map@100", "AP(over=achievable, ties=item_asc)@100"),
        ("sentence-transformers", "cosine_mrr@10", "RR@10"),
        ("sentence-transformers", "cosine_accuracy@1", "Success(ties=item_asc)@1"),
        ("sentence-transformers", "cosine_precision@10", "P(ties=item_asc)@10"),
        ("sentence-transformers", "cosine_recall@10", "R(ties=item_asc)@10"),
    ),
    "recommendations": (
        ("ml_metrics", "mapk(k=10)", "AP(over=achievable)@10"),
        ("Kaggle", "MAP@12", "AP(over=achievable)@12"),
    ),
}
"""Tools without a dialect: the tool, its name for a metric, and the text to type here."""


@dataclass(frozen=True, slots=True)
class OtherName:
    """A tool's name for a metric: our ``measure``, the ``tool``, its own name, and the text to type here."""

    measure: str
    tool: str
    theirs: str
    ours: str


def other_names(work: Work) -> list[OtherName]:
    """Return the names of metrics in the tools for a kind of work, by measure, with the plain form of each tool first.

    Raises: MetricError for an unknown kind of work.

    >>> next(name for name in other_names("search") if name.tool == "beir")
    OtherName(measure='ndcg', tool='beir', theirs='NDCG@10', ours='beir:NDCG@10')
    """
    if work not in _TOOLS:
        raise MetricError(f"there is no table of names for {work!r}", advice=f"give one of {', '.join(get_args(Work))}")
    tools = [*_TOOLS[work], *(tool for tool, _, _ in _WITHOUT_DIALECT.get(work, ()))]

    def place(name: OtherName) -> tuple[int, int, int]:
        return list(MEASURES).index(name.measure), tools.index(name.tool), len(name.ours)

    return sorted(_names(work), key=place)


def _names(work: Work) -> Iterator[OtherName]:
    for dialect in (DIALECTS[name] for name in _TOOLS[work]):
        for text in dialect.examples:
            options, _, native = text.removeprefix(dialect.name).partition(":")
            measure = dialect.metric(options.strip("()"), native).measure
            yield OtherName(measure, dialect.name, f"{native} {options}".strip(), text)
    for tool, theirs, ours in _WITHOUT_DIALECT.get(work, ()):
        yield OtherName(parse_canonical(ours).measure, tool, theirs, ours)


_ACHIEVABLE = "divides by the number of relevant items or the cutoff, whichever is smaller"
_MEANT = {
    **dict.fromkeys(("mapk", "apk", "mapatk"), (_ACHIEVABLE, "AP(over=achievable)")),
    "gauc": ("weights the AUC of each user by their items (AUC alone counts each user once)", "AUC(weights=group)"),
}
"""Names that mean another metric than a similar name here: what it does, and how to write it."""

_SUBTOPICS = "measures diversity and needs the subtopics of each item"
_CATALOGUE = "depends on the catalogue and needs every item and its history"
_NOT_HERE = {
    **dict.fromkeys(
        ("erria", "ndcgia", "mapia", "pia", "precisionia", "mrria", "alphandcg", "αndcg", "alphadcg", "nerria", "nnrbp",
         "nrbp", "strec", "strecall", "srecall"),
        _SUBTOPICS,
    ),
    **dict.fromkeys(
        ("coverage", "catalogcoverage", "cataloguecoverage", "itemcoverage", "novelty", "serendipity", "giniindex",
         "intralistdiversity", "ild", "averagepopularity", "tailpercentage", "shannonentropy", "miuf", "arp",
         "meaninvuserfreq", "avgrecpopularity"),
        _CATALOGUE,
    ),
    "hole": "counts items without a label in any query (Unjudged@10 counts items without one in their own query)",
    "nauc": "measures the confidence of a model",
}  # fmt: skip
"""Names of metrics that are not computed here, in lower case without separators, and why."""
_OF_EMBEDDINGS = re.compile(r"(?:\w+_)?(?:cosine|dot|euclidean|manhattan)_(?P<name>[a-z]+)", re.ASCII)
_CUTOFF = re.compile(r"\s*(?:k\s*=\s*)?([1-9]\d*)\b", re.ASCII)


def not_ours(text: str) -> MetricError | None:
    """Return why an unknown name must not be read as a metric with a similar name, None if nothing is known.

    >>> str(not_ours("mapk@10"))
    'mapk divides by the number of relevant items or the cutoff, whichever is smaller; write AP(over=achievable)@10'
    >>> str(not_ours("ERR-IA@10")).partition("; ")[0]
    'ERR-IA measures diversity and needs the subtopics of each item, so it is not computed here'
    """
    name, cutoff = _with_cutoff(text)
    if squeezed(name) in _MEANT:
        does, ours = _MEANT[squeezed(name)]
        return MetricError(f"{name} {does}", advice=f"write {ours}{cutoff}")
    of_embeddings = _OF_EMBEDDINGS.fullmatch(name)
    for tool, theirs, ours in _WITHOUT_DIALECT["search"] if of_embeddings else ():
        if of_embeddings and theirs.startswith(f"cosine_{of_embeddings['name']}@"):
            advice = f"write {ours.partition('@')[0]}{cutoff or '@10'}"
            return MetricError(f"{name} is a metric name of {tool}", advice=advice)
    return not_computed(text)


def not_computed(text: str) -> MetricError | None:
    """Return an error for a metric that is not computed here, with the command that stores it, None if unknown.

    >>> str(not_computed("Serendipity(k=10)")).rpartition(" ")[2]
    'external:Serendipity@10'
    """
    name, cutoff = _with_cutoff(text)
    plain = next((known for known in _NOT_HERE if squeezed(name) == known), "")
    if not plain and squeezed(name).startswith("nauc"):
        plain = "nauc"
    if not plain:
        return None
    stored = EXTERNAL + "".join(name.split()) + cutoff
    return MetricError(
        f"{name} {_NOT_HERE[plain]}, so it is not computed here",
        advice=f"store another tool's values with: ndcg-track ingest --results FILE --metric {stored}",
    )


def _with_cutoff(text: str) -> tuple[str, str]:
    """Return the name that a text begins with, and its cutoff as written here, "" for none.

    >>> _with_cutoff("mapk(k=10)"), _with_cutoff("coverage@5"), _with_cutoff("Gini index")
    (('mapk', '@10'), ('coverage', '@5'), ('Gini index', ''))
    """
    name, _, rest = text.partition("@")
    name, _, options = name.partition("(")
    given = _CUTOFF.match(options)
    cutoff = rest.strip() or (given[1] if given else "")
    return name.strip(), f"@{cutoff}" if cutoff else ""
