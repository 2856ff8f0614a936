"""Describe per-group differences in ndcg@10 of real pairs of systems by their quantiles: real_differences.json.

``python tests/real_differences.py FOLDER`` makes the file anew from two public data sets in FOLDER, in ten seconds:
``trec-covid-round1`` (three runs that a team submitted to TREC-COVID, irgroup on GitHub, with NIST's labels of that
round, 30 topics) and ``lightgbm-lambdarank`` (LightGBM's example of learning to rank, 251 queries, MIT), scored by
models that did not see a query in training (five folds). Of each pair the file has the quantiles at (i + .5) / k, k =
30 topics or 200, to four places.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FILE = Path(__file__).with_suffix(".json")
FOLDS = 5
BASE: dict[str, Any] = {"objective": "lambdarank", "learning_rate": 0.1, "num_leaves": 31, "min_data_in_leaf": 50}
BASE |= {"bagging_fraction": 0.9, "bagging_freq": 1, "feature_fraction": 0.9, "seed": 1}
MODELS: dict[str, tuple[dict[str, Any], int]] = {
    "base": (BASE, 60),
    "seed": (BASE | {"seed": 2}, 60),
    "ten more rounds": (BASE, 70),
    "regression": (BASE | {"objective": "regression"}, 60),
    "few features": (BASE | {"feature_fraction": 0.1, "num_leaves": 7}, 40),
}


def read(folder: Path, part: str) -> tuple[Floats, Floats, list[int]]:
    """Return features, labels and sizes of groups of one file of ``label number:value ...`` lines."""
    lines = (folder / part).read_text().splitlines()
    features = np.zeros((len(lines), 301))
    for row, line in enumerate(lines):
        for cell in line.split()[1:]:
            number, value = cell.split(":")
            features[row, int(number)] = float(value)
    labels = np.array([float(line.split()[0]) for line in lines])
    return features, labels, [int(size) for size in (folder / f"{part}.query").read_text().split()]


def trained_differences(folder: Path) -> dict[str, Floats]:
    """Return what each model gains over the first one, query by query."""
    import lightgbm

    import ndcg_tracker as nt

    parts = [read(folder, part) for part in ("rank.train", "rank.test")]
    features, labels = (np.concatenate([part[place] for part in parts]) for place in (0, 1))
    sizes = np.array([size for part in parts for size in part[2]])
    group = np.repeat(np.arange(sizes.size), sizes)
    fold = np.random.default_rng(1).permutation(sizes.size) % FOLDS
    values: dict[str, Floats] = {}
    for name, (recipe, rounds) in MODELS.items():
        scores = np.empty(labels.size)
        for number in range(FOLDS):
            seen = fold != number
            rows = seen[group]
            data = lightgbm.Dataset(features[rows], labels[rows], group=sizes[seen])
            settings = recipe | {"verbose": -1, "num_threads": 1, "deterministic": True}
            model = lightgbm.train(settings, data, num_boost_round=rounds)
            scores[~rows] = model.predict(features[~rows])
        frame = {"group": group, "score": scores, "label": labels}
        values[name] = np.asarray(nt.evaluate(frame, item=False).per_group["ndcg@10"].sort_index())
    base = values.pop("base")
    return {f"lambdarank, {name}": own - base for name, own in values.items()}


def submitted_differences(folder: Path) -> dict[str, Floats]:
    """Return the differences of the pairs of runs, topic by topic."""
    import ndcg_tracker as nt

    values = {}
    for name in ("entrez", "pmc", "pubmed"):
        found = nt.evaluate(folder / f"irc_{name}.run", labels=folder / "qrels.txt")
        values[name] = np.asarray(found.per_group["ndcg@10"].sort_index())
    pairs = (("entrez", "pmc"), ("pmc", "pubmed"))
    return {f"TREC-COVID, {old} to {new}": values[new] - values[old] for old, new in pairs}


def described(differences: Floats) -> list[float]:
    """Return quantiles that describe differences: exact ones, which keep the zeros."""
    k = min(differences.size, 200)
    found = np.quantile(differences, (np.arange(k) + 0.5) / k, method="inverted_cdf")
    return [float(number) + 0.0 for number in found.round(4)]


if __name__ == "__main__":
    from ndcg_tracker.statistics.t_test import skewness

    root = Path(sys.argv[1])
    both = submitted_differences(root / "trec-covid-round1") | trained_differences(root / "lightgbm-lambdarank")
    rows = [f"  {json.dumps(name)}: {json.dumps(described(found))}" for name, found in both.items()]
    FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n")
    for pair, found in both.items():
        told = {"n": found.size, "mean": found.mean(), "sd": found.std(), "lowest": found.min(), "highest": found.max()}
        told |= {"nonzero": np.count_nonzero(found) / found.size, "skewness": skewness(found)}
        print(f"{pair}:", ", ".join(f"{name} {number:.4g}" for name, number in told.items()))
