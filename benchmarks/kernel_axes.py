"""What each value of each axis costs: the time of ``group_results``, as a ratio to plain ndcg@10.

    python benchmarks/kernel_axes.py                      # W1 and W2, our own axes
    python benchmarks/kernel_axes.py --peers --rounds 5   # with pytrec_eval and scikit-learn
    python benchmarks/kernel_axes.py w2 --json axes.json

Every round times every row once, in an order of its own, so that a machine that slows down slows all of them and no
row always follows the same other one. The figure is the median of the rounds. "joined" starts from labels that are
joined to the run, "coarse scores" the same with scores of one decimal (most items tie), "with join" from the two tables
as a reader makes them.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import workloads

from ndcg_tracker.metrics.kernel.values import group_results, values_with_bounds
from ndcg_tracker.metrics.language.axes import AXES
from ndcg_tracker.metrics.language.metric import Metric, default_of
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.rankings.join import judged
from ndcg_tracker.rankings.ranking import GroupWeights, LabelLists, Ranking
from ndcg_tracker.rankings.sorting import descending_order

DEFAULT = "ndcg@10"
THREE = ("ndcg@10", "ndcg@100", "ndcg")
COMPANIONS = ("P@10", "R@10", "AP", "RR", "Success@10", "Judged@10", "ERR@10", "RBP", "SetP")
Task = Callable[[], object]


def axis_metrics() -> list[tuple[str, Metric]]:
    """Return every value of every axis of ndcg@10, each alone, under the words ``axis=value``."""
    found = []
    for axis in AXES:
        if "ndcg" not in axis.measures:
            continue
        values = [*axis.values, *([axis.pattern_example] if axis.pattern_example else [])]
        for value in values:
            if value != default_of(axis, "ndcg", 10):
                found.append((f"{axis.name}={value}", Metric.of("ndcg", cutoff=10, **settings(axis.name, value))))
    return found


def settings(axis: str, value: str) -> dict[str, str]:
    """Return the settings that let an axis have this value: some change nothing without another one."""
    governed_by = {
        "round_of": {"round": "4"},
        "weight_type": {"weights": "group"},
        "empty_weight": {"weights": "group"},
    }
    return governed_by.get(axis, {}) | {axis: value}


def tasks(name: str, *, peers: bool) -> dict[str, dict[str, Task]]:
    """Return the tasks of a workload by kind and name."""
    table = workloads.table(name)
    ranking, labels = table.ranking(), table.labels()
    both = judged(ranking, labels)
    weights = GroupWeights(
        ranking.group_keys,
        np.random.default_rng(0).random(ranking.n_groups),
        np.zeros(ranking.n_groups, dtype=np.bool_),
    )
    single = {DEFAULT: [parse_metric(DEFAULT)]}
    single |= {words: [metric] for words, metric in axis_metrics()}
    single |= {text: [parse_metric(text)] for text in ("ndcg", "dcg@10", "idcg@10", *COMPANIONS)}
    single["three at once: " + ", ".join(THREE)] = [parse_metric(text) for text in THREE]
    on_joined: dict[str, Task] = {
        words: lambda metrics=metrics: group_results(both, metrics, weights) for words, metrics in single.items()
    }
    three = single["three at once: " + ", ".join(THREE)]
    on_joined["three at once, with the bounds that ties leave"] = lambda: values_with_bounds(both, three)
    coarse = judged(replace(ranking, numbers=ranking.numbers.round(1)), labels)
    on_coarse: dict[str, Task] = {
        words: lambda metrics=metrics: group_results(coarse, metrics)
        for words, metrics in single.items()
        if words in (DEFAULT, "ndcg", "AP") or words.startswith(("ties=", "three"))
    }
    on_coarse["three at once, with the bounds that ties leave"] = lambda: values_with_bounds(coarse, three)
    in_run_order = _in_run_order(labels, both.rows, both.label_rows)
    from_tables: dict[str, Task] = {
        "the join alone": lambda: _joined(ranking, labels),
        DEFAULT: lambda: group_results(_joined(ranking, labels), single[DEFAULT]),
        "ndcg@10, labels in the run's order": lambda: group_results(_joined(ranking, in_run_order), single[DEFAULT]),
        "three at once": lambda: group_results(_joined(ranking, labels), three),
        "digests of run and labels": lambda: (replace(ranking).digest(), replace(labels).digest()),
        "the check for duplicates": lambda: replace(ranking).has_duplicates(),
    }
    unsorted = table.shuffled()
    from_tables["Ranking.from_groups of shuffled rows"] = lambda: Ranking.from_groups(*unsorted)
    from_tables["the order of shuffled rows alone"] = lambda: descending_order(unsorted[3], unsorted[1])
    return {
        "joined": on_joined,
        "coarse scores": on_coarse,
        "with join": from_tables,
        "other tools": _peers(table, ranking, labels) if peers else {},
    }


def _joined(ranking: Ranking, labels: LabelLists):
    """Join fresh copies of the tables: what they keep once computed (hashes) must not be there yet."""
    return judged(replace(ranking), replace(labels))


def _in_run_order(labels: LabelLists, rows: np.ndarray, label_rows: np.ndarray) -> LabelLists:
    """Return the labels as a file has them that carries scores and labels in one table: rows in the run's order."""
    place = np.full(labels.n_items, np.iinfo(np.int64).max)
    place[label_rows] = rows
    groups = np.repeat(np.arange(labels.n_groups), np.diff(labels.offsets))
    order = np.lexsort((place, groups))
    return LabelLists(labels.group_keys, labels.offsets, labels.item_keys.take(order), labels.grades[order])


def _peers(table: workloads.Table, ranking: Ranking, labels: LabelLists) -> dict[str, Task]:
    """Return the other tools' tasks, their data made ready beforehand in the form that each of them asks for."""
    import pytrec_eval
    from sklearn.metrics import ndcg_score

    def nested(lists: Ranking | LabelLists, kind: type) -> dict[str, dict[str, float]]:
        items, numbers = lists.item_keys.to_list(), lists.numbers.astype(kind).tolist()
        bounds = zip(lists.group_keys.to_list(), lists.offsets[:-1].tolist(), lists.offsets[1:].tolist(), strict=True)
        return {group: dict(zip(items[low:high], numbers[low:high], strict=True)) for group, low, high in bounds}

    run, qrels = nested(ranking, float), nested(labels, int)
    one = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10"})
    three = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10,100", "ndcg"})
    found: dict[str, Task] = {
        "pytrec_eval: ndcg_cut_10": lambda: one.evaluate(run),
        "pytrec_eval: three at once": lambda: three.evaluate(run),
    }
    lengths = np.diff(ranking.offsets)
    if (lengths == lengths[0]).all():
        both = judged(ranking, labels)
        gains = np.zeros(ranking.n_items)
        gains[both.rows] = labels.grades[both.label_rows]
        shape = (ranking.n_groups, int(lengths[0]))
        gains, scores = gains.reshape(shape), ranking.scores.reshape(shape)
        found["scikit-learn: ndcg_score(k=10, ignore_ties=True), one matrix"] = lambda: ndcg_score(
            gains, scores, k=10, ignore_ties=True
        )
    return found


def medians(kinds: dict[str, dict[str, Task]], rounds: int) -> dict[str, dict[str, float]]:
    """Return the median time of each task in seconds over interleaved rounds, after one round to warm up."""
    times: dict[str, dict[str, list[float]]] = {kind: {name: [] for name in tasks} for kind, tasks in kinds.items()}
    order = [(kind, name) for kind, tasks in kinds.items() for name in tasks]
    shuffle = Random(0).shuffle
    for round_ in range(rounds + 1):
        shuffle(order)
        for kind, name in order:
            start = time.perf_counter()
            kinds[kind][name]()
            if round_:
                times[kind][name].append(time.perf_counter() - start)
    return {kind: {name: statistics.median(found) for name, found in tasks.items()} for kind, tasks in times.items()}


def report(name: str, kinds: dict[str, dict[str, float]]) -> str:
    """Return a Markdown table of the times of one workload, as ratios to plain ndcg@10 on joined labels."""
    one = kinds["joined"][DEFAULT]
    lines = [f"## {name.upper()}: {DEFAULT} on joined labels = 1 ({one * 1000:.1f} ms)", ""]
    for kind, times in kinds.items():
        if times:
            lines += [f"| {kind} | ratio | ms |", "|---|--:|--:|"]
            lines += [f"| {words} | {time_ / one:.2f} | {time_ * 1000:.1f} |" for words, time_ in times.items()]
            lines.append("")
    return "\n".join(lines)


def main() -> None:
    """Time the chosen workloads and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", default=["w1", "w2"], help="w1 to w4")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--peers", action="store_true", help="time pytrec_eval and scikit-learn, too")
    parser.add_argument("--json", type=Path, help="write the seconds to this file, too")
    arguments = parser.parse_args()
    found = {}
    for name in arguments.workloads:
        found[name] = medians(tasks(name, peers=arguments.peers), arguments.rounds)
        sys.stdout.write(report(name, found[name]) + "\n")
        sys.stdout.flush()
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
