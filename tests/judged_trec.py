"""Verdicts under a judge that people checked, on real runs and labels: ``python tests/judged_trec.py FOLDER [DRAWS]``.

FOLDER has three runs that a team submitted to TREC-COVID's first round and the labels after all rounds,
``qrels-complete.txt`` (irgroup on GitHub, and NIST): 30 topics. These labels are what people say; an item without one
is not relevant to them. The judge is made from them by a table of confusions; where it is biased it gives a grade more
to half of what the candidate alone shows; it leaves out one item of ten. Printed is, over many draws, how far the mean
of the corrected differences lies from the frozen delta under the complete labels, and what the verdicts say.
``tests/statistics/test_drawn_real.py`` does the same.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.compare.gather_check import Answers
from ndcg_tracker.metrics.contributions import ItemsApart, gains_of, items_apart
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.rankings.join import judged
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import LabelLists, Ranking
from ndcg_tracker.statistics.drawn import inclusion_probabilities, permanent_numbers
from ndcg_tracker.statistics.t_test import TTest, paired_t

Pair = tuple[str, str]
Grades = dict[Pair, float]
METRICS = [Metric.of("ndcg", cutoff=cutoff) for cutoff in (10, 50)]
RUNS = ("entrez", "pmc", "pubmed")
TOPICS = {str(topic) for topic in range(1, 31)}
BUDGETS = (100, 400, 800)
CONFUSION = np.array([[0.75, 0.2, 0.05], [0.25, 0.5, 0.25], [0.1, 0.3, 0.6]])
LEFT_OUT, FAVOURED = 0.1, 0.5


def read_run(path: Path) -> dict[Pair, float]:
    rows = (line.split() for line in path.read_text().splitlines())
    return {(row[0], row[2]): float(row[4]) for row in rows}


def read_labels(path: Path) -> Grades:
    """Return the grades of the topics of the first round; some rows are below 0, which is not relevant."""
    rows = (line.split() for line in path.read_text().splitlines())
    return {(row[0], row[2]): max(float(row[3]), 0.0) for row in rows if row[0] in TOPICS}


def shown(run: dict[Pair, float], n: int) -> set[Pair]:
    """Return the n best items of each topic."""
    lists: dict[str, list[tuple[float, str]]] = {}
    for (topic, item), score in run.items():
        lists.setdefault(topic, []).append((score, item))
    return {(topic, item) for topic, items in lists.items() for _, item in sorted(items, reverse=True)[:n]}


def judge_of(people: Grades, pool: set[Pair], favoured: set[Pair], rng: np.random.Generator) -> Grades:
    """Return the judge's grades of nine tenths of what has people's grades or is in the pool."""
    graded: Grades = {}
    for pair in sorted(pool | people.keys()):
        chances = CONFUSION[int(people.get(pair, 0.0))]
        grade = int(rng.choice(3, p=chances)) + int(pair in favoured and rng.random() < FAVOURED)
        if rng.random() >= LEFT_OUT:
            graded[pair] = float(min(grade, 2))
    return graded


def lists_of(grades: Grades) -> LabelLists:
    groups, items = (Keys.from_strings([pair[place] for pair in grades]) for place in (0, 1))
    return LabelLists.from_rows(groups, items, np.array(list(grades.values())))


def ranking_of(run: dict[Pair, float]) -> Ranking:
    groups, items = (Keys.from_strings([pair[place] for pair in run]) for place in (0, 1))
    return Ranking.from_rows(groups, items, np.array(list(run.values())))


@dataclass(frozen=True)
class Draws:
    """What many draws of one budget say of one pair under one judge.

    ``truth``: the frozen delta under the complete labels. ``judge``: by the judge alone. ``complete``: what answers to
    all items say. ``means``, ``p_values``: of the corrected difference, of each draw. ``n_apart``: how many items
    matter, ``n_unlabelled`` of which the judge left out.
    """

    metric: Metric
    pair: Pair
    is_biased: bool
    budget: int
    truth: float
    judge: TTest
    complete: TTest
    means: NDArray[np.float64]
    p_values: NDArray[np.float64]
    n_apart: int
    n_unlabelled: int
    n_drawn: float
    n_informative: float

    @property
    def bias_in_errors(self) -> float:
        """The mean estimate minus the truth, in standard errors of that mean; 0 where all items are drawn for sure."""
        apart = float(self.means.mean()) - self.truth
        return 0.0 if abs(apart) < 1e-12 else apart / float(self.means.std(ddof=1) / self.means.size**0.5)

    @property
    def verdicts(self) -> tuple[float, float]:
        """The share of draws after which the candidate improved, and after which it regressed."""
        is_found = self.p_values < 0.05
        return float((is_found & (self.means > 0)).mean()), float((is_found & (self.means < 0)).mean())


def draws(folder: Path, n_draws: int = 100) -> Iterator[Draws]:
    """Return what draws of each budget say of each pair, under a judge that favours neither run and one that does."""
    people = read_labels(folder / "qrels-complete.txt")
    runs = {name: read_run(folder / f"irc_{name}.run") for name in RUNS}
    for metric, pair, is_biased in product(METRICS, combinations(RUNS, 2), (False, True)):
        both, depth = [runs[name] for name in pair], metric.cutoff or 10
        pool = {name: shown(run, depth) for name, run in runs.items()}
        favoured = pool[pair[1]] - pool[pair[0]] if is_biased else set()
        labels = judge_of(people, set().union(*pool.values()), favoured, np.random.default_rng(is_biased))
        apart = items_apart(*(judged(ranking_of(run), lists_of(labels)) for run in both), metric)
        for budget in BUDGETS:
            yield draws_of(apart, metric, people, budget, n_draws, (pair, is_biased))


def draws_of(
    apart: ItemsApart, metric: Metric, people: Grades, budget: int, n_draws: int, of: tuple[Pair, bool]
) -> Draws:
    """Return what draws of one budget say; ``of``: of which pair, and whether the judge is biased."""
    pairs = list(zip(*(keys.to_list() for keys in apart.take(np.arange(apart.groups.size))), strict=True))
    said = np.array([people.get(pair, 0.0) for pair in pairs])
    everything = Answers({}, dict(enumerate(said.tolist())), 0).labels(apart, metric)
    names = [(topic.encode(), item.encode()) for topic, item in pairs]
    probabilities = inclusion_probabilities(apart.weights, budget)
    tests, informative = [], []
    for number in range(n_draws):
        rows = np.flatnonzero(permanent_numbers(f"draw {number}", names) < probabilities).tolist()
        answers = {row: (float(said[row]), float(probabilities[row])) for row in rows}
        labels = Answers(answers, {}, 0).labels(apart, metric)
        tests.append(paired_t(labels.corrected_deltas()))
        informative.append((labels.rows.size, int(labels.informative.sum())))
    return Draws(
        metric,
        *of,
        budget,
        float((apart.weights * gains_of(metric, said)).sum()) / len(apart.group_keys),
        paired_t(everything.judged_deltas()),
        paired_t(everything.corrected_deltas()),
        np.array([test.mean for test in tests], dtype=np.float64),
        np.array([test.p_value for test in tests], dtype=np.float64),
        apart.groups.size,
        int(np.isnan(apart.grades).sum()),
        *np.mean(informative, axis=0).tolist(),
    )


def said(test: TTest) -> str:
    """Return a mean difference and whether it is significant."""
    is_found = test.p_value is not None and test.p_value < 0.05
    return f"{test.mean:+.4f}{'*' if is_found else ''}"


if __name__ == "__main__":
    for one in draws(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100):
        better, worse = one.verdicts
        cells = (
            one.metric,
            " to ".join(one.pair),
            "biased" if one.is_biased else "plain",
            one.n_apart,
            one.n_unlabelled,
            f"{one.budget} ({one.n_drawn:.0f}, {one.n_informative:.0f})",
            said(one.judge),
            said(one.complete),
            f"{one.means.mean():+.4f}",
            f"{one.bias_in_errors:+.1f}",
            f"{better:.2f} / {worse:.2f}",
        )
        print("|", " | ".join(map(str, cells)), "|", flush=True)
