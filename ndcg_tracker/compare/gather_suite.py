"""Systems compared over a suite: their runs on each dataset, compared by themselves and all together."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import chain
from typing import TYPE_CHECKING

from ndcg_tracker.compare.arms import Arm, arm_or_run, one_by_one, without_checkpoints
from ndcg_tracker.compare.decide import adjusted_jointly
from ndcg_tracker.compare.decide_suite import SuiteResults, suite_comparison
from ndcg_tracker.compare.gather import ComparedPair, asked_attributes, check_arms, compared_pair
from ndcg_tracker.compare.gather_results import with_same_lists
from ndcg_tracker.compare.options import CompareOptions
from ndcg_tracker.compare.results import NOT_COMPARABLE, Comparison, Suite
from ndcg_tracker.compare.run_pair import RunPair, resolved_pair
from ndcg_tracker.errors import InputError, NotComparableError, ReferenceNotFoundError
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.runs.judges import judge_option
from ndcg_tracker.storage.references import ARM, is_pattern

if TYPE_CHECKING:
    from ndcg_tracker.storage.records import RunRecord, SuiteRecord
    from ndcg_tracker.storage.store import ReadTransaction
    from ndcg_tracker.words.notes import Note


def suite_metric(tx: ReadTransaction, suite: SuiteRecord, metric: Metric) -> Metric:
    """Return the metric as the datasets of a suite know it, checked (InputError, ReferenceNotFoundError)."""
    if metric.is_external and not metric.settings:
        having = [tx.datasets.known(dataset).id for dataset in suite.datasets]
        texts = {
            text for dataset_id in having if (text := tx.evaluations.external(dataset_id, metric.measure)) is not None
        }
        if len(texts) > 1:
            raise NotComparableError(
                f"the datasets of suite {suite.name!r} store {metric} as {' and '.join(sorted(texts))}",
                advice="store its results with one direction and range",
            )
        metric = parse_metric(texts.pop()) if texts else metric
    check_suite_metric(metric)
    return metric


def check_suite_metric(metric: Metric) -> None:
    """Refuse a metric whose mean over datasets says nothing (InputError)."""
    if metric.shown_only is not None or metric.summary != "mean":
        raise InputError(f"{metric} is shown, but not tested", advice="choose another metric")
    if metric["weights"] != "none":
        raise InputError(f"{metric} weighs groups, but a suite counts them", advice="choose one without weights")


def by_system(
    tx: ReadTransaction, dataset: str, by_tag: str | None, wanted: Collection[str] = (), tags: Mapping[str, str] = {}
) -> tuple[dict[str, RunRecord], list[Note]]:
    """Return the run of each system on a dataset, and notes.

    A system is the name of its run, or the value of a tag, which must be unique. ``wanted``: names of systems or
    patterns, by default all systems. ``tags``: of the runs. Checkpoints are left out (see ``without_checkpoints``).
    """
    having = [run for run in tx.runs.chosen((), dataset) if by_tag is None or by_tag in run.tags]
    fitting = [run for run in having if fits(system_of(run, by_tag), wanted)]
    runs, notes = without_checkpoints(fitting, tags, wanted if by_tag is None else ())
    run_of: dict[str, RunRecord] = {}
    for run in runs:
        system = system_of(run, by_tag)
        if system in run_of:
            raise InputError(
                f"runs {run_of[system].name!r} and {run.name!r} of {dataset!r} both have the tag {by_tag}={system}",
                advice=f"remove it from one of them: ndcg-track runs tag {run.id} --remove {by_tag}",
            )
        run_of[system] = run
    return run_of, notes


def system_of(run: RunRecord, by_tag: str | None) -> str:
    """Return which system a run is of: its name, or the value of a tag."""
    return run.name if by_tag is None else str(run.tags[by_tag])


def fits(system: str, wanted: Collection[str]) -> bool:
    """Return whether a name is one that is wanted, or fits a pattern; nothing wanted is everything."""
    return not wanted or system in wanted or any(is_pattern(one) and fnmatchcase(system, one) for one in wanted)


def arm_on(tx: ReadTransaction, dataset: str, system: str, by_tag: str | None) -> Arm | None:
    """Return the run or the arm of a system on a dataset, None where it has none there.

    ``system``: the name of its runs, the value of the tag ``by_tag``, an alias, ``latest``, or an arm.
    """
    run = by_system(tx, dataset, by_tag, [system])[0].get(system)
    if run is not None:
        return Arm.of(run)
    if by_tag is not None or not (system.startswith(("@", ARM)) or system.partition("~")[0] == "latest"):
        return None
    try:
        return arm_or_run(tx, system, dataset)
    except ReferenceNotFoundError:
        return None


def pairs_on_suite(
    tx: ReadTransaction, name: str, systems: tuple[str, str], options: CompareOptions
) -> tuple[dict[str, RunPair], list[str]]:
    """Return the runs of two systems by dataset, and the datasets on which one of them has none.

    Without metrics, those that can be tested and that all these runs share. Raises: ReferenceNotFoundError for an
    unknown suite, and where no dataset has both; NotComparableError without a metric on all of them.
    """
    pairs: dict[str, RunPair] = {}
    lacking: list[str] = []
    for dataset in tx.suites.known(name).datasets:
        baseline, candidate = (arm_on(tx, dataset, system, options.by_tag) for system in systems)
        if baseline is None or candidate is None:
            lacking.append(dataset)
            continue
        check_arms(baseline, candidate, options)
        pairs[dataset] = resolved_pair(tx, baseline, candidate, options.metrics, options)
    if not pairs:
        raise ReferenceNotFoundError(
            f"no dataset of suite {name!r} has both {systems[0]!r} and {systems[1]!r}",
            advice=f"see what there is with: ndcg-track leaderboard --suite {shlex.quote(name)}",
        )
    if options.metrics:
        return pairs, lacking
    first, *others = pairs.values()
    shared = tuple(
        metric for metric in first.metrics if _is_tested(metric) and all(metric in o.metrics for o in others)
    )
    if not shared:
        raise NotComparableError(
            f"{systems[0]!r} and {systems[1]!r} share no metric on all of {', '.join(pairs)}",
            advice="add one to all runs: ndcg-track rescore --all --dataset DATASET --metric METRIC",
        )
    return {dataset: replace(both, metrics=shared) for dataset, both in pairs.items()}, lacking


def _is_tested(metric: Metric) -> bool:
    try:
        check_suite_metric(metric)
    except InputError:
        return False
    return True


def compared_pairs(
    tx: ReadTransaction,
    systems: tuple[str, str],
    pairs: Mapping[str, RunPair],
    options: CompareOptions,
    *,
    with_other_ids: bool = False,
) -> dict[str, ComparedPair]:
    """Return the comparison on each dataset (NotComparableError where two runs cannot be compared).

    ``with_other_ids``: also where labels do not reach both runs, for a gate, which then decides nothing.
    """
    compared = {}
    for dataset, both in pairs.items():
        of_dataset = replace(options, suite=None, by_tag=None, dataset=dataset, metrics=both.metrics)
        pair = compared_pair(tx, both, of_dataset, asked_attributes(tx, both.baseline.run, of_dataset))
        without = next(
            (of for of in pair.comparison.metrics if of.delta is None or (of.has_other_ids and not with_other_ids)),
            None,
        )
        if without is not None:
            why = NOT_COMPARABLE[without.about.not_comparable or "no_group"]
            command = ("ndcg-track", "compare", *(arm.name for arm in both.arms), "--dataset", dataset)
            command = (*command, *judge_option(options.judge or ""))
            raise NotComparableError(
                f"{systems[1]!r} cannot be compared with {systems[0]!r} under {without.metric} on {dataset!r}: {why}",
                advice=f"see: {shlex.join(command)}",
            )
        compared[dataset] = replace(pair, results=[with_same_lists(tx, both, paired) for paired in pair.results])
    return compared


def comparison_on_suite(
    systems: tuple[str, str], compared: Mapping[str, ComparedPair], lacking: Sequence[str], options: CompareOptions
) -> tuple[Comparison, list[SuiteResults]]:
    """Return the comparison over a suite, and the results behind it by metric, from those on its datasets."""
    n_metrics = len(next(iter(compared.values())).results)
    results = [SuiteResults({dataset: of.results[at] for dataset, of in compared.items()}) for at in range(n_metrics)]
    each = tuple(of.comparison for of in compared.values())
    suite = Suite(each, tuple(lacking), options.by_tag)
    return suite_comparison(options.suite or "", systems, each, results, suite), results


def compared_on_suite(
    tx: ReadTransaction, baseline: str, candidates: Sequence[str | Sequence[str]], options: CompareOptions
) -> tuple[tuple[Comparison, ...], tuple[ComparedPair, ...]]:
    """Return the comparison of a system with each candidate over a suite, and the pairs on its datasets.

    The p-values of the first are corrected together. Parameters: names of systems (see ``arm_on``), of candidates also
    patterns. Raises: see ``pairs_on_suite`` and ``compared_pairs``.
    """
    suite = tx.suites.known(options.suite or "")
    options = replace(options, metrics=tuple(suite_metric(tx, suite, metric) for metric in options.metrics))
    on_suite: list[Comparison] = []
    on_datasets: list[ComparedPair] = []
    named, left_out = _named_systems(tx, suite, baseline, candidates, options.by_tag)
    for candidate in named:
        systems = baseline, candidate
        pairs, lacking = pairs_on_suite(tx, suite.name, systems, options)
        compared = compared_pairs(tx, systems, pairs, options)
        on_suite.append(comparison_on_suite(systems, compared, lacking, options)[0])
        on_datasets += compared.values()
    on_suite[0] = replace(on_suite[0], notes=(*on_suite[0].notes, *left_out))
    return adjusted_jointly(on_suite), tuple(on_datasets)


def _named_systems(
    tx: ReadTransaction,
    suite: SuiteRecord,
    baseline: str,
    candidates: Sequence[str | Sequence[str]],
    by_tag: str | None,
) -> tuple[list[str], list[Note]]:
    """Return the names of candidates, patterns replaced by the systems that fit them on some dataset, and notes."""
    names: list[str] = []
    notes: list[Note] = []
    for wanted in one_by_one(candidates):
        if not is_pattern(wanted):
            names.append(wanted)
            continue
        each = [(dataset, by_system(tx, dataset, by_tag, [wanted])) for dataset in suite.datasets]
        notes += [replace(note, dataset=dataset) for dataset, (_, left_out) in each for note in left_out]
        fitting = [system for system in dict.fromkeys(chain(*(of for _, (of, _) in each))) if system != baseline]
        if not fitting:
            raise ReferenceNotFoundError(f"no system except the baseline matches {wanted!r}", advice="name a candidate")
        names += fitting
    if not names:
        raise InputError("a comparison needs a candidate", advice="name one after the baseline")
    return list(dict.fromkeys(names)), notes
