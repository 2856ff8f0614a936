"""The sentence of every kind of note, with its facts filled in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ndcg_tracker.words.texts import counted, in_a_row, judge_words, percent, points, queries, short, shown, unit, units

T_INTERVAL = "the t interval"
_SLICES_NAMED = 5
_GRADES_NAMED = 6
_LEAST_RESEMBLANCE = 0.05

_OF_GATE = {
    "pass": "the gate does not trust a t bound: the betting bound decides, which rarely gives PASS at narrow margins",
    "passed": "the gate does not trust a t bound: the betting bound decides",
    "fail": "a t bound alone cannot give FAIL",
}


def low_information(
    n: int, n_nonzero: int | None = None, *, decides: str = "", interval: str = T_INTERVAL, **facts: Any
) -> str:
    """Return a warning of low information; ``interval``: the one that may be too narrow, "" for none."""
    warned = _OF_GATE.get(decides, f"{interval} may be too narrow")
    of_clusters = facts.get("of_clusters")
    if n_nonzero is not None:
        reason = f"{n_nonzero:,} of {n:,} {'clusters differ' if of_clusters else 'differences are nonzero'}"
        if facts.get("as_equal"):
            reason = f"the clusters that differ (of {n:,}) count as much as {n_nonzero:,} equal ones"
        narrow = f"; below {facts['enough']}, {warned}"
    else:
        of_what = "clusters" if of_clusters else units()
        reason = f"the differences are very skewed (skewness {facts['skewness']:.1f} over {n:,} {of_what})"
        narrow = f", so {warned}"
    return f"low information: {reason}" + (narrow if interval else "")


def _wandering(n: int, resemblance: float) -> str:
    places = f"{counted(n, 'place')} {'looks like a step but is' if n == 1 else 'look like steps but are'} not marked"
    if resemblance < _LEAST_RESEMBLANCE:
        return f"{places}: the scatter of single runs explains {'it' if n == 1 else 'them'} as well"
    similar = f"each run resembles the run before it (autocorrelation {resemblance:.2f}), so the series wanders"
    return f"{similar}; {places}, because that explains {'it' if n == 1 else 'them'} as well"


def _vanished(n: int, n_labelled: int, run: str, other: str) -> str:
    return f"{n:,} of the {n_labelled:,} labelled items in {run}'s first three never occur in {other}"


def _same_difference(n: int, has_p: bool, of_clusters: bool = False) -> str:
    what = "the interval is" if has_p else "the interval and the p-value are"
    return f"all {n:,} {'clusters' if of_clusters else units()} differ by the same amount: {what} undefined"


def _ties(metrics: Sequence[str], low: float, high: float) -> str:
    what = f"the verdict on {metrics[0]}" if metrics else "the decision"
    shown_as = [[points(bound, signed=True, digits=digits) for bound in (low, high)] for digits in range(4, 13)]
    first, last = next((pair for pair in shown_as if pair[0] != pair[1]), shown_as[-1])
    return f"ties in scores could change {what}: depending on how they are broken, delta is between {first} and {last}"


def _unjudged_zero(metric: str, stop: str) -> str:
    if stop == "size":
        return f"with so many {units()}, only a gate computes the effect of unjudged items on the verdict"
    count_as = f"as {metric} says" if stop.startswith("unjudged=") else "as not relevant"
    unknown = f"for {metric}" if stop == "measure" else f"under {stop}"
    why = {"items": "the items of a run are not stored", "positives": "no label has grade 0"}.get(
        stop, f"no bound on their effect is known {unknown}"
    )
    return f"unjudged items count {count_as}, because {why}"


def _unjudged_items(cutoff: int | None, baseline: int, candidate: int, any_judged: bool = True) -> str:
    where = "in the lists" if cutoff is None else f"among the first {cutoff}"
    counts = f"{baseline:,} in the baseline, {candidate:,} in the candidate"
    if any_judged:
        return f"unjudged items {where}: {counts}"
    return f"no item {where} has a label ({counts}), so nothing is compared; do the ids match?"


def _different_labels(versions: Sequence[tuple[int, int]], most: int) -> str:
    by_version = ", ".join(f"version {version}: {counted(n, 'run')}" for version, n in versions)
    newest = "" if most == versions[-1][0] else f" (or under the latest, --labels {versions[-1][0]})"
    return f"runs under different labels are not compared ({by_version}); to evaluate all under version {most}{newest}"


def _labels_changed(
    version: int, before: int, n_changed: int, n: int, scales: Sequence[Sequence[float]], is_newer: bool
) -> str:
    told = f"{n_changed:,} of {counted(n, 'label')} {'has' if n_changed == 1 else 'have'} another grade"
    named = [[f"{grade:g}" for grade in scale] for scale in scales]
    short = [f"{of[0]} to {of[-1]}" if len(of) > _GRADES_NAMED else in_a_row(of) for of in named]
    if short:
        told = f"its grades are {short[1]}, those of version {before} are {short[0]}; {told}"
    again = "" if is_newer else f"; to compare under version {before}"
    return f"labels version {version} is not like version {before}: {told}{again}"


def _rank_conflict(n: int, first: str, deciding: str = "format") -> str:
    where = f"a group ({shown(first)})" if n == 1 else f"{counted(n, 'group')} (the first: {shown(first)})"
    decides = {
        "format": "the scores decide, as in trec_eval: if lower scores are better here, negate them",
        "scores": "the scores decide: to use the ranks, name '-rank' as the score column",
        "order": "the scores decide: to use the order, give '' as the score column",
        "lists": "the ranks decide: to use the order, give '' as the score column",
        "ranks": "the ranks decide, as in RecTools and RecBole: to use the scores, name 'score' as the score column",
    }[deciding]
    what = {"order": "the order of the items", "lists": "the rank of the items"}.get(deciding, "the rank column")
    contradicted = "the order of the lists" if deciding == "lists" else "the scores"
    return f"{what} contradicts {contradicted} in {where}; {decides}"


def _rank_gaps(n: int, first: str, why: str, are_positions: bool) -> str:
    where = f"a group ({shown(first)})" if n == 1 else f"{counted(n, 'group')} (the first: {shown(first)})"
    what = {"repeats": "some are there twice", "start": "they do not start at 1", "gaps": "they have gaps"}[why]
    taken = (
        "they are taken as positions, as in RecTools, and an empty position counts as an item without label"
        if are_positions
        else "only their order counts: the metrics of rectools: take ranks as positions"
    )
    return f"the ranks of {where} are not 1, 2, 3 and so on ({what}); {taken}"


_FORMS = {
    "case": ("they differ only in capitals or spaces; write both the same way", "in one case"),
    "padding": ("they differ only in leading zeros; pad both to one length", "padded alike"),
    "NFC": ("they are the same in Unicode form NFC; write both in it", "in Unicode form NFC"),
    "NFKC": ("they are the same in Unicode form NFKC; write both in it", "in Unicode form NFKC"),
    "separators": (
        "only the marks between their parts differ, such as '/', '_' and '%2F'; write both the same way",
        "these are the same",
    ),
    "cut": ("one side is cut to fewer characters; write both in full", "cut to one length"),
    "decimals": (
        "whole numbers became floats, as happens in a join with empty cells; write whole numbers (in pandas, "
        ".astype('Int64') before to_csv)",
        "written as whole numbers",
    ),
    "chunks": ("to rank documents instead of their chunks", ""),
    "parts": ("if these are chunks, name their documents in a column or a file (item_to_document)", ""),
}


def _difference(how: str, metric: str = "", value: float = 0, *, may_map: bool = False) -> str:
    """Return how ids of the run and of the labels differ, what to do about it, and the value of a metric then."""
    whose, _, prefix = how.partition(":")
    start = f"the ids of the {whose} start with {shown(prefix)}; write both the same way"
    told, alike = _FORMS.get(how, (start, f"{shown(prefix)} is left out"))
    differ, mark, advice = told.partition("; ")
    then = f" ({metric} is {value:.4f} if {alike})" if metric else ""
    return f"{differ}{then}{mark}{advice}{', or map the ids with' if may_map else ''}"


def _spelled_otherwise(how: str, of_run: str, of_labels: str, **facts: Any) -> str:
    n, of, n_met, n_labels = (facts.pop(name) for name in ("n", "of", "n_met", "n_labels"))
    return (
        f"the run has item {shown(of_run)}, but the labels have {shown(of_labels)}; {n_met:,} of {n_labels:,} labels "
        f"match as written; {n:,} of the {of:,} unmatched labels that were checked differ like this: "
        f"{_difference(how, **facts)}"
    )


def _no_label(of_run: str = "", of_labels: str = "", how: str = "", may_map: bool = False, **then: Any) -> str:
    told = "none of its items has a label, so every result is 0 or undefined"
    if not of_run:
        return f"{told}; do the ids match?"
    asked = "were ids renamed? Then carry the labels to them with" if may_map else "do the ids match?"
    more = f"; {_difference(how, **then, may_map=may_map) if how else asked}"
    return f"{told}: the run has {shown(of_run)}, but the labels have {shown(of_labels)}{more}"


_N_SHOWN = 3


def _some(ids: Sequence[str]) -> str:
    listed = ", ".join(map(shown, ids[:_N_SHOWN]))
    return f"{listed} and others" if len(ids) > _N_SHOWN else listed or "none"


def _no_group_label(of_run: Sequence[str], of_labels: Sequence[str]) -> str:
    told = (
        f"no group of the run has labels: the run has {_some(of_run)}, the labels have {_some(of_labels)}; give labels "
        "of the same groups, with ids written the same way"
    )
    is_numbered = bool(of_run) and list(of_run) == [str(place) for place in range(len(of_run))]
    return f"{told}; lists without ids are numbered from 0: give a dict, {{id: list}}" if is_numbered else told


def _sampled(n: int, of: int, rank: int, chance: float) -> str:
    return (
        f"items are ranked among {n:,} sampled negatives of {of:,}: an item truly at rank {rank:,} is in the first ten "
        f"there with probability {chance:.2f}, so the better run may be the other one when all items are ranked"
    )


def _documents_in_ten(
    in_ten: Sequence[tuple[str, float]], others: Sequence[str], collapsed: Sequence[tuple[str, str]] = ()
) -> str:
    names = in_a_row([f"{value:.1f} distinct documents in the first ten of {name}" for name, value in in_ten])
    beside = f"; {in_a_row(list(others))} {'has' if len(others) == 1 else 'have'} no chunks" if others else ""
    ways = ", ".join(f"{how} in {name}" for name, how in collapsed)
    differ = f"; the runs compute the scores of documents from their chunks in different ways ({ways})" if ways else ""
    return f"documents are ranked instead of their chunks: {names}{beside}{differ}"


def _history_of_samples(samples: Sequence[tuple[str, int, str]], n_runs: int) -> str:
    ranked = [f"{n:,} (such as {first}) rank {sample} sampled items" for sample, n, first in samples]
    return (
        f"of {n_runs:,} runs, {in_a_row(ranked)}: there is no search for steps between runs that rank different items"
    )


def _retraining(sd: float, n_runs: int, families: Sequence[str], n_seeds: int | None) -> str:
    of = " and ".join(families)
    decide = "" if n_seeds is None else f"; {counted(n_seeds, 'seed')} of each would be enough to decide"
    return (
        f"repeated trainings vary by a standard deviation of {sd:.4f} ({counted(n_runs, 'run')} of {of}), but the "
        f"interval covers {units()}, not trainings{decide}"
    )


def named_slices(slices: Sequence[tuple[str, str | None, float, int]]) -> str:
    """Return slices with their deltas as a list in one line.

    ``slices``: of each slice its attribute, its value, its delta and its number of groups.

    >>> named_slices([("product", "tent", -0.25, 10), ("product", None, -0.125, 1)])
    "product='tent' (-0.25, 10 queries), no product (-0.12, 1 query)"
    """
    named = [
        f"{f'no {attribute}' if value is None else f'{attribute}={shown(value)}'} ({short(delta)}, {queries(n)})"
        for attribute, value, delta, n in slices[:_SLICES_NAMED]
    ]
    return ", ".join(named) + (f" and {len(slices) - _SLICES_NAMED} more" if len(slices) > _SLICES_NAMED else "")


def _slices_regressed(slices: Sequence[tuple[str, str, float, int]], are_sure: bool = True) -> str:
    what, whose = ("a slice", "its") if len(slices) == 1 else (f"{len(slices)} slices", "their")
    doubt = "" if are_sure else f"; too few of {whose} {units()} differ to be sure"
    return f"{what} regressed although all {units()} together pass: {named_slices(slices)}{doubt}; to see all"


def _labels_gone(n_groups: int, n_labels: int, version: int, may_extend: bool = True) -> str:
    groups = f", and {counted(n_groups, 'group')} {'has' if n_groups == 1 else 'have'} none left" if n_groups else ""
    return (
        f"{counted(n_labels, 'label')} of version {version} {'is' if n_labels == 1 else 'are'} not in it{groups}"
        f"{'; to keep them' if may_extend else ''}"
    )


def _some_groups_missing(
    n_missing: int, n_labelled: int, n_unlabelled: int = 0, metric: str = "", skipping: str = ""
) -> str:
    counts = f", and {metric} counts each as an empty list; {skipping!r} leaves them out" if metric else ""
    if n_unlabelled:
        counts += (
            f"; {counted(n_unlabelled, 'group')} of the run have no labels: are the group ids written the same way?"
        )
    return f"{n_missing:,} of {counted(n_labelled, 'group')} with labels are not in the run{counts}"


_LEFT_OUT = {
    "answers": ("human answer", "human answers"),
    "designs": ("design", "designs"),
    "decisions": ("decision", "decisions"),
    "alias_moves": ("move of an alias", "moves of aliases"),
    "suite_datasets": ("dataset of a suite", "datasets of suites"),
    "texts": ("text", "texts"),
}


def _left_out(**n: int) -> str:
    """Return in words what an export of named runs leaves out: how many rows of each kind."""
    said = [
        f"{n[kind]:,} {what if n[kind] == 1 else plurals}" for kind, (what, plurals) in _LEFT_OUT.items() if n[kind]
    ]
    return f"left out: {', '.join(said)}; to take everything, type: ndcg-track export --all -o FOLDER"


def _lacking(runs: Sequence[tuple[str, int]], n_groups: int) -> str:
    named = ", ".join(f"{name} ({n:,} of {n_groups:,})" for name, n in runs[:_SLICES_NAMED])
    return named + (f" and {len(runs) - _SLICES_NAMED} more" if len(runs) > _SLICES_NAMED else "")


def _groups_lacking(runs: Sequence[tuple[str, int]], n_groups: int, metric: str, are_out: bool = False) -> str:
    fate = (", but they are left out", "") if are_out else ("", "; to leave them out")
    return f"{metric} counts the {units()} missing from a run as 0{fate[0]}: {_lacking(runs, n_groups)}{fate[1]}"


def _history_lacking(runs: Sequence[tuple[str, int]], n_groups: int, metric: str) -> str:
    return (
        f"{metric} counts the {units()} missing from a run as 0, so a step there may come from that: "
        f"{_lacking(runs, n_groups)}; for a history without them, use the metric that this command adds"
    )


WORDS: Mapping[str, str | Callable[..., str]] = {
    "slices_regressed": _slices_regressed,
    "small_slices_regressed": partial(_slices_regressed, are_sure=False),
    "unjudged_open": lambda metric, n=None, n_groups=None: (
        f"{counted(n, 'unjudged item') if n else 'unjudged items'} can change {metric}: grade "
        + (f"those of {queries(n_groups)}" if n_groups else "them")
    ),
    "never_shown": lambda runs, unseen: (
        f"the labels come from the logs of {' and '.join(runs)}: items that only {' and '.join(unseen)} ranks first "
        "were never shown"
    ),
    "other_ids": lambda n, n_labelled, run, other: (
        f"{_vanished(n, n_labelled, run, other)}, and ids that {run} never had stand in their places: were documents "
        "cut anew or renamed?"
    ),
    "carry_labels": "to carry the labels over to the ids of both",
    "ids_are_stable": lambda n, n_labelled, run, other: (
        f"the verdict takes ids as stable: {_vanished(n, n_labelled, run, other)}, although ids that {run} never had "
        "are in their places"
    ),
    "part_missing": lambda n, n_labelled, run, other: (
        f"{_vanished(n, n_labelled, run, other)}: is a part of the index missing?"
    ),
    "spans_beside": lambda n, run: (
        f"{counted(n, 'gold span')} of {run} {'is' if n == 1 else 'are'} in chunks that count for another gold span of "
        f"the query, so R and ndcg of {run} are too low: write spans that belong together as one"
    ),
    "unjudged_zero": _unjudged_zero,
    "goes_with_judged": lambda fell=False: (
        "a change that follows the judged share says nothing about the systems, because unjudged items count as not "
        f"relevant; {'were ids renamed? Then carry the labels to them with' if fell else 'to judge them'}"
    ),
    "runs_not_judged": lambda n, first: (
        f"{first}{f' and {n - 1} more' if n > 1 else ''} {'has' if n == 1 else 'have'} no judged item in the first "
        f"ranks, so {'its place says' if n == 1 else 'their places say'} nothing: were their ids "
        "renamed? Then carry the labels to them with"
    ),
    "order_open": lambda cutoff, low, high: (
        f"{percent(low)} to {percent(high)} of the {f'first {cutoff}' if cutoff else 'items'} are judged, and the "
        "others count as not relevant, which could change the order; to see by how much for the first two runs"
    ),
    "equal_metrics": lambda metrics: (
        f"{' and '.join(metrics)} are equal in every {unit()}, but p-values are corrected for both: name only one"
    ),
    "without_cluster": lambda n, n_groups, attribute: (
        f"{n:,} of {counted(n_groups, 'group')} {'has' if n == 1 else 'have'} no {attribute}; each counts as its own "
        "cluster"
    ),
    "after_that": "after that, ask again",
    "shorter_lists": (
        "the lists of {run} have {n_short:.1f} items on average, those of the other run {n_long:.1f}: {metric} looks "
        "past the end of the shorter lists"
    ).format,
    "checkpoints": lambda n, first, of="": (
        f"left out{of and f' of {of}'}: {counted(n, 'checkpoint')} of trainings, such as {first}: a checkpoint counts "
        "only by its name or with the tag stage=iteration"
    ),
    "equal_repeats": lambda runs, of: f"{in_a_row(list(runs))} of {of} have equal rankings: not independent repeats",
    "arm_means": lambda arms: (
        f"numbers are means over {' and '.join(f'{n} runs of {name}' for name, n in arms)}; "
        "a rank is the mean over the runs that rank the item"
    ),
    "one_repeat": "{run} is a single run, so the interval does not cover how much another training would differ".format,
    "retraining": _retraining,
    "budget_spent": "the budget is spent, so nothing is decided",
    "looks_spent": lambda n: f"drawn answers decided on these runs {n} times, so another look decides nothing",
    "judge_unchecked": lambda judge: f"nobody has checked {judge_words(judge)}, whose labels decide",
    "weightless": lambda n: f"{counted(n, 'group')} with weight 0 left out",
    "no_group": lambda: f"no {unit()} has a result in both runs, so there is nothing to compare",
    "one_group": lambda of_clusters=False: (
        f"one {'cluster' if of_clusters else unit()} says nothing about others: no interval and no p-value"
    ),
    "same_difference": _same_difference,
    "low_information": low_information,
    "equal_values": (
        "low information: all differences of a dataset are equal although its lists differ, so no t interval says "
        "what other queries of it would give"
    ),
    "few_in_strata": lambda n, n_nonzero, enough: (
        f"low information: queries of small datasets weigh so much in the macro mean that all {n:,} queries count "
        f"as only {n_nonzero:,} nonzero differences; below {enough}, {T_INTERVAL} may be too narrow"
    ),
    "tests_symmetry": "the Wilcoxon test tests symmetry, not the mean",
    "means_weigh_groups": (
        "the means weigh groups in a way that no test covers (weights of items, or groups without a relevant item "
        "added unweighted), so there is no interval and no p-value"
    ),
    "diagnostic": "shown, not compared: it says nothing about quality",
    "no_mean_of_groups": "shown, not compared: its summary is not a mean of groups, which is what the tests are about",
    "agreement_without_items": lambda n, first: (
        f"left out: {counted(n, 'run')} without stored items, such as {first}; without its items, nothing is known "
        "about the errors in its first ranks"
    ),
    "no_common_pair": (
        "no pair of group and item has a grade from both judges; to draw some for the other judge to grade"
    ).format,
    "agreement_of_items": ("an older version drew single items that tell two runs apart: the figures are about these"),
    "agreement_open": lambda n, n_drawn: (
        f"{n:,} of the {counted(n_drawn, 'drawn item')} {'has' if n == 1 else 'have'} no answer yet; those with an "
        "answer are treated as a random sample"
    ),
    "newer_than_answers": lambda version, judge: (
        f"version {version} of {judge_words(judge)} is newer than the first answers: if they helped to create it, it "
        "agrees with them better than with other answers"
    ),
    "other_hands": lambda hand, baseline, candidate: (
        f"{judge_words(hand)} labelled {percent(candidate)} of the candidate's judged first ranks, "
        f"{percent(baseline)} of the baseline's: the difference may come from who labelled"
    ),
    "nothing_judged": lambda metrics: (
        f"no judged item counts in either run under {', '.join(metrics)}: were ids renamed? Then carry the labels to "
        "them with"
    ),
    "runs_lacking": lambda n, first, version, metrics: (
        f"left out: {counted(n, 'run')} without {', '.join(metrics)} under labels version {version}, such as {first}; "
        "to add the results"
    ),
    "systems_lacking": lambda systems: (
        "left out: "
        + "; ".join(
            [f"{system} has no run on {', '.join(datasets)}" for system, datasets in systems[:3]]
            + ([f"and {len(systems) - 3} more systems"] if len(systems) > 3 else [])
        )
    ),
    "runs_of_other_groups": lambda n, first: (
        f"left out: {counted(n, 'run')} without any group of these labels, such as {first}: are the group ids written "
        "as in the labels?"
    ),
    "history_of_samples": _history_of_samples,
    "runs_of_other_samples": lambda n, first, sampled: (
        f"left out: {counted(n, 'run')}, such as {first}, whose items are not ranked among "
        f"{'all items' if sampled is None else f'the same sample of {sampled}'}"
    ),
    "groups_lacking": _groups_lacking,
    "history_lacking": _history_lacking,
    "in_no_run": lambda n, n_groups: (
        f"{n:,} of {counted(n_groups, 'group')} with labels {'is' if n == 1 else 'are'} in no run and "
        f"count{'s' if n == 1 else ''} as 0 in all; to leave {'it' if n == 1 else 'them'} out, as trec_eval does"
    ),
    "small_slices": lambda n, attribute, fewest: (
        f"left out: {counted(n, 'slice')} by {attribute} with fewer than {fewest} {units()}"
    ),
    "runs_without_results": lambda n, first: (
        f"left out: {counted(n, 'run')} whose group results were pruned, such as {first}"
    ),
    "newer_labels": "labels version {newest} is newer than version {version}, which the runs share; to use it".format,
    "labels_changed": _labels_changed,
    "groups_of_judge": lambda judge: (
        f"groups, lists and charts use the labels of {judge_words(judge)} alone; the verdict is the checked one"
    ),
    "few_drawn": lambda n, needed, left_out, metric: (
        f"{metric}: {n:,} of {needed:,} drawn queries answered"
        + (f", {left_out:,} left out" if left_out else "")
        + "; until then answers count as labels, and other unjudged items as what they may be worth; to draw more"
    ),
    "few_drawn_of_pair": lambda a, b, n, needed: (
        f"open: {n:,} of {needed:,} drawn queries of {a} and {b} answered; to draw more"
    ),
    "checked_ranks": lambda judge, checked_by: (
        f"means and their order are by {judge_words(judge)} alone, ranks and pairs by {checked_by}'s answers"
    ),
    "old_designs": lambda checked_by: (
        f"the answers of {checked_by!r} are to designs of an older version, of single items, which decide nothing; to "
        "draw whole queries"
    ),
    "ungraded": lambda judge, n: (
        f"have {judge_words(judge)} grade {counted(n, 'item')} first, as that is cheap; to list them"
    ),
    "all_answered": "all open items of these queries have an answer; to compare the runs",
    "not_evaluated": lambda version, runs, judge="": (
        f"no results under version {version} of the labels{f' (judge {judge!r})' if judge else ''} for "
        f"{' and '.join(map(repr, runs))} and the baseline together; to add the results"
    ),
    "ties": _ties,
    "tie_orders": lambda by_input, by_id: (
        f"in {in_a_row(by_input)}, items of equal score keep the order of the input"
        f"{f'; in {in_a_row(by_id)}, their ids decide' if by_id else ''}"
    ),
    "no_alias": "gate against a pinned alias: otherwise small drops add up unnoticed; pin this baseline with",
    "pruned": "run {run!r} was pruned at {at}: its items are gone, so none are shown".format,
    "without_items": lambda run, kept_share: (
        f"run {run!r} was stored with the items of {f'{kept_share:.3g} of its' if kept_share else 'no'} groups, so "
        "none are shown"
    ),
    "summaries_only": lambda n: (
        f"{counted(n, 'run')} {'has' if n == 1 else 'have'} no group results here, only means: not compared with the "
        "runs before and after"
    ),
    "same_run": "candidate and baseline are the same run",
    "group_not_in_run": lambda group, run, value: f"{unit()} {group!r} is not in run {run!r}: its value is {value:g}",
    "in_one_run_only": lambda n: (
        f"{counted(n, 'group')} {'has' if n == 1 else 'have'} a result in one run only: left out"
    ),
    "unjudged_items": _unjudged_items,
    "no_item_judged": partial(_unjudged_items, any_judged=False),
    "no_split": "no split into ranking, labels and coverage: the group has no value in a step in between",
    "ranking_in_detail": "to see the ranking's part in detail",
    "worst_group": lambda: f"to see the {unit()} that lost most",
    "different_labels": _different_labels,
    "shown_only": lambda metric, why: f"{metric}: {WORDS[why]}",
    "other_groups": (
        "{run} has results for {n:,} groups, the runs before and after it for {n_beside:,}: not compared with them"
    ).format,
    "shared_groups": lambda n, most: f"steps use the {n:,} {units()}, of up to {most:,}, that have results in all runs",
    "few_runs": lambda fewest, n: (
        f"steps allow for chance in the {units()}, but not in training: to estimate that chance takes {fewest} runs "
        f"that changed (so far {n}), or repeats of one unchanged system"
    ),
    "run_scatter": lambda sd, own: (
        f"from run to run, the mean varies by a standard deviation of {points(sd)}, of which {units()} explain "
        f"{points(own)}: a step must be larger than this scatter"
    ),
    "wandering": _wandering,
    "study": (
        "{n:,} of these {n_runs:,} runs are trials of study {study!r}, whose order says little; to see whether the "
        "best trial beats the next"
    ).format,
    "rank_conflict": _rank_conflict,
    "rank_gaps": _rank_gaps,
    "scores_like_ranks": lambda n, first: (
        f"the scores of {'its group' if n == 1 else f'all {n:,} groups, such as'} {shown(first)}, look like positions "
        "in a list, but the highest score counts as the best: if the lowest is best, negate the scores; a minus before "
        "the name of a score column does that"
    ),
    "ties_by_input": "items of equal score keep the order of the input",
    "duplicates": lambda n, how: (
        f"{counted(n, 'row')} {'repeats an item of its group' if n == 1 else 'repeat items of their group'}: "
        "of the rows of an item "
        + {"first": "the first counts", "best": "the best counts", "same": "one counts, as they are equal"}[how]
    ),
    "failed_responses": lambda n: (
        f"{counted(n, 'response')} failed and {'was' if n == 1 else 'were'} left out, so "
        f"{'its query counts' if n == 1 else 'their queries count'} as missing: run the search again"
    ),
    "order_of_lists": "its lists have no scores, so their order is the ranking, the best item first",
    "no_score": lambda n: (
        f"{counted(n, 'row')} {'has' if n == 1 else 'have'} no score, so {'its item counts' if n == 1 else 'their '}"
        f"{'' if n == 1 else 'items count'} as not retrieved; if a model failed on them, fix the scores"
    ),
    "far_fewer_judged": lambda run, cutoff, share, usual, other="other runs": (
        f"{percent(share)} of the {f'first {cutoff}' if cutoff else 'items'} of {run} are judged, but {percent(usual)} "
        f"of those of {other}: were its ids renamed? Then carry the labels to them with"
    ),
    "few_labels_met": lambda n, n_labels: (
        f"{n:,} of {n_labels:,} labels are for items that the run lists, and few of its first items are judged: were "
        "its ids renamed? Then carry the labels to them with"
    ),
    "spelled_otherwise": _spelled_otherwise,
    "no_label": _no_label,
    "no_group_label": _no_group_label,
    "labels_elsewhere": lambda of_labels, known, version: (
        f"its labels have no group in common with version {version} of the dataset's labels: they have "
        f"{_some(of_labels)}, version {version} has {_some(known)}"
    ),
    "changed_texts": lambda n, n_known: (
        f"{n:,} of {counted(n_known, 'labelled item')} {'has' if n == 1 else 'have'} another text than when labelled"
    ),
    "nothing_found": "all its lists are empty",
    "no_answer_of_both": (
        "no answer: of the queries without an answer, the baseline returns nothing for {baseline}, the candidate for "
        "{candidate}"
    ).format,
    "no_answer": lambda n_empty, n, n_absent: (
        f"no answer: {n_empty:,} of {n:,} queries without an answer return nothing"
        + (f"; {n_absent:,} more {'is' if n_absent == 1 else 'are'} not in the run" if n_absent else "")
        if n
        else f"no answer: none of the {n_absent:,} queries without an answer is in the run"
    ),
    "some_groups_missing": _some_groups_missing,
    "one_score": "the scores of each list are all equal, so ties decide the order, not a model",
    "all_one": (
        "all {n:,} groups score 1 by {metric}, so no run can do better: a log with only clicked items has this effect; "
        "add the items that were shown and not clicked"
    ).format,
    "below_rel": (
        "no label reaches rel={rel} (the highest is {highest:.4g}), so {metric} is 0 for every run; to count lower "
        "labels, use {counting}"
    ).format,
    "above_highest": (
        "a label is {highest:.4g}, but {metric} takes {known} as the highest, so its value is wrong; use {counting}"
    ).format,
    "sampled": _sampled,
    "groups_share": "only {share} of the groups are kept, chosen by a hash of their ids".format,
    "runs_of_other_shares": lambda n, first, share: (
        f"left out: {counted(n, 'run')}, such as {first}, because only runs that keep {share} of the groups are ranked"
    ),
    "history_of_shares": lambda shares: (
        f"the runs keep different shares of the groups ({', '.join(shares)}): there is no search for steps between them"
    ),
    "smaller_share": "only {share} of the groups are compared, because {run!r} keeps no others".format,
    "documents_in_ten": _documents_in_ten,
    "unstable_sort": lambda tool, metric, from_items, n: (
        f"{tool} may sort equal scores in any order in lists of {from_items} items or more: in {counted(n, 'group')}, "
        f"{metric} depends on that order, so {tool} may print a different number"
    ),
    "swapped": "its scores are whole numbers and the labels are not: are the run and the labels swapped?",
    "same_content": "its content equals that of run {run!r}".format,
    "alias_moved": "alias @{alias} now points at the new content (run {run_id})".format,
    "new_labels": (
        "its labels are new (version {version} of the dataset); to compare older runs with it, evaluate them under it"
    ).format,
    "labels_gone": _labels_gone,
    "nothing_to_extend": lambda judge, other, version: (
        f"there were no labels {f'of judge {judge!r}' if judge else 'without a judge'} to extend, so the new version "
        f"has only these; to add them to version {version} ({f'judge {other!r}' if other else 'without a judge'})"
    ),
    "other_model": lambda judge, what, now, was: (
        f"the labels of {judge_words(judge)} come from {what} {now!r}, those before from {was!r}; another {what} is "
        "another judge, so give it a name of its own"
    ),
    "new_groups": lambda n, n_groups: (
        f"{n:,} of its {counted(n_groups, 'group')} {'is' if n == 1 else 'are'} new: a run without them has 0 there "
        "under metrics such as ndcg@10"
    ),
    "other_version": (
        "labels version {version} of the export is version {here} of dataset {dataset!r} here, the latest; runs under "
        "older versions need rescore --labels {here} to be comparable"
    ).format,
    "left_out": _left_out,
    "not_pushed": (
        "{what} {key!r} was not pushed: MLflow allows only letters, digits, _ - . : / and spaces in a name"
    ).format,
    "other_parameter": (
        "parameter {key!r} is {there!r} in MLflow, which never changes a parameter, and {here!r} here"
    ).format,
    "other_mean": (
        "{metric} is {here:.6g} here and {there:.6g} in MLflow: here it uses labels version {version} of dataset "
        "{dataset!r}; use another dataset to keep both"
    ).format,
    "no_report": "no report page: {why}".format,
    "no_mean": "{metric} has no value for any group, so MLflow gets no mean".format,
    "missing_groups": lambda n, dataset: (
        f"{counted(n, 'group')} of dataset {dataset!r} {'is' if n == 1 else 'are'} not in this data; the metric "
        "decides how a missing group counts (by default as 0); to avoid that, give evaluator_config another 'dataset'"
    ),
}
