"""Worlds in which a check of a golden set is tried: differences of retrievers, losses, and lists whose ids change."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

Floats = NDArray[np.float64]
Lists = dict[str, list[str]]
World = tuple[Floats, Floats]
"""Values of differences, and their probabilities."""
_DISCOUNT = 1 / np.log2(np.arange(2, 12))
_SHARE, _DIFFERENT = 0.6, 0.8


def _measures(ranked: Floats, gains: Floats) -> dict[str, float]:
    """Return the metrics of one query from the gains of all items, best first, and of those that are labelled."""
    hit, ideal = ranked > 0, np.sort(gains)[::-1][:10]
    first = int(np.argmax(hit)) + 1
    return {
        "RR@10": 1 / first if first <= 10 else 0.0,
        "R@10": float(hit[:10].sum()) / gains.size,
        "ndcg@10": float((ranked[:10] * _DISCOUNT).sum() / (ideal * _DISCOUNT[: ideal.size]).sum()),
    }


def _differences(n_relevant: int, alike: float, seed: int, *, n: int = 6000, size: int = 400) -> dict[str, Floats]:
    """Return differences of two retrievers over one corpus; their noise is correlated by ``alike``."""
    r, found = np.random.default_rng(seed), []
    for _ in range(n):
        k = n_relevant if n_relevant < 3 else int(r.integers(1, n_relevant + 1))
        score, gains = np.zeros(size), np.zeros(size)
        gains[:k] = 1 if n_relevant < 3 else r.integers(1, 4, k)
        grades = 0.3 * (gains[:k] - 1) if n_relevant > 2 else 0.0
        score[:k] = 3.2 + r.normal(0, 1.2) + grades + r.normal(0, _SHARE, k)
        content, noise = r.normal(0, _DIFFERENT, size), r.normal(0, _SHARE, size)
        other = alike * noise + np.sqrt(1 - alike**2) * r.normal(0, _SHARE, size)
        before, after = (_measures(gains[np.argsort(-(score + content + e))], gains[:k]) for e in (noise, other))
        found.append({name: after[name] - before[name] for name in before})
    return {name: np.array([one[name] for one in found]) for name in found[0]}


def _flips(share: float) -> Floats:
    n = int(5000 * share)
    return np.concatenate([np.full(n, 1.0), np.full(n, -1.0), np.zeros(10_000 - 2 * n)])


@cache
def populations() -> Mapping[str, Floats]:
    """Return differences by metric and kind of change."""
    graded = _differences(4, 0.9, 13)
    return {
        "hit@5 f .10": _flips(0.10),
        "hit@5 f .05": _flips(0.05),
        "RR@10": _differences(1, 0.9, 11)["RR@10"],
        "R@10": graded["R@10"],
        "ndcg@10 small change": graded["ndcg@10"],
        "ndcg@10 other model": _differences(4, 0.5, 12)["ndcg@10"],
    }


def tilted(delta: Floats, mean: float) -> World:
    """Return differences whose probabilities are tilted exponentially, so that they have this mean."""
    values, counts = np.unique(np.round(delta, 6), return_counts=True)

    def weights(by: float) -> Floats:
        tilt = np.exp(by * values) * counts
        return np.asarray(tilt / tilt.sum())

    return values, weights(brentq(lambda by: float(weights(by) @ values) - mean, -60, 60))


def losses() -> Iterator[tuple[str, World]]:
    """Yield worlds in which few queries lose much, for bounds that may miss it."""
    made = {
        "flips .10, equal": ([-1, 0, 1], [0.05, 0.9, 0.05]),
        "flips .05, equal": ([-1, 0, 1], [0.025, 0.95, 0.025]),
        "flips .05, -.04": ([-1, 0, 1], [0.045, 0.95, 0.005]),
        "3% of hits lost": ([-1, 0], [0.03, 0.97]),
        "2% lose .49": ([-0.49, 0], [0.02, 0.98]),
        "8% gain .1, 2% lose .4": ([-0.4, 0, 0.1], [0.02, 0.9, 0.08]),
    }
    yield from ((name, (np.array(values, float), np.array(p))) for name, (values, p) in made.items())
    for name in ("ndcg@10 small change", "RR@10"):
        yield f"{name}, -.02", tilted(populations()[name], -0.02)


def retrievers(n: int, alike: float, seed: int, *, drop: float = 0.0, share: float = 0.0) -> tuple[Lists, Lists]:
    """Return ten ids for each query by two retrievers; in a share of queries the relevant item loses ``drop``."""
    r, lists = np.random.default_rng(seed), (Lists(), Lists())
    for query in range(n):
        score = np.zeros(200)
        score[0] = 3.6 + r.normal(0, 1.2) + r.normal(0, _SHARE)
        content, noise, other = (r.normal(0, sd, 200) for sd in (_DIFFERENT, _SHARE, _SHARE))
        later = score.copy()
        later[0] -= drop * (r.random() < share)
        both = (score + content + noise, later + content + alike * noise + np.sqrt(1 - alike**2) * other)
        for side, of in zip(lists, both, strict=True):
            side[f"q{query}"] = [f"q{query}-{item}" for item in np.argsort(-of)[:10]]
    return lists


def changed(lists: Lists, share: float, seed: int, new: Callable[[str], str | None]) -> Lists:
    """Return lists in which a share of the ids are others, or gone if ``new`` returns None."""
    r, kept = np.random.default_rng([seed, 9]), dict[str, str | None]()
    for item in sorted({item for items in lists.values() for item in items}):
        kept[item] = new(item) if r.random() < share else item
    return {query: [one for item in items if (one := kept[item])] for query, items in lists.items()}


def records(lists: Lists) -> Sequence[dict[str, object]]:
    """Return results as records."""
    return [{"query": query, "retrieved_ids": items} for query, items in lists.items()]
