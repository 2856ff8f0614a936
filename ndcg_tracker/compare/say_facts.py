"""What was compared, as names and values."""

from __future__ import annotations

from ndcg_tracker.compare.results import (
    Comparison,
    GroupCounts,
    LabelSetRef,
    TieBounds,
)
from ndcg_tracker.errors import Spelling, argument, in_python, worded
from ndcg_tracker.storage.records import EXTERNAL_JUDGE, SUMMED_JUDGE
from ndcg_tracker.words.numbers import counted, percent, points

RUNS_SHOWN = 5


def labels_text(labels: LabelSetRef) -> str:
    """Return the version of labels, whose they are, and their digest where it is known."""
    if labels.judge == EXTERNAL_JUDGE:
        return "none here: the results were given as values"
    if labels.judge == SUMMED_JUDGE:
        return f"not stored here, digest {labels.digest[:12] if labels.digest.strip('0') else 'unknown'}"
    digest = f", digest {labels.digest[:12]}" if labels.digest else ""
    return f"version {labels.version}{whose(labels)}{digest}"


def facts(comparison: Comparison, spelled: Spelling = in_python) -> list[tuple[str, str]]:
    """Return what was compared, but for the groups, as names and values; ``spelled``: how arguments are spelled."""
    pairs = [
        *_arms(comparison),
        *(("in neither run", worded(sentence, spelled)) for sentence in _of_all_metrics(comparison)),
        ("labels", labels_text(comparison.label_set)),
    ]
    for share in comparison.coverage:
        where = "judged" if share.cutoff is None else f"judged@{share.cutoff}"
        baseline, candidate = (
            "not known" if one is None else percent(one) for one in (share.baseline, share.candidate)
        )
        pairs.append((where, f"baseline {baseline}, candidate {candidate}"))
    for metric in comparison.metrics:
        effect = metric.tie_effect
        if effect is not None and (_is_seen_open(effect.baseline) or _is_seen_open(effect.candidate)):
            pairs.append(
                ("ties", f"{metric.metric}: baseline {_range(effect.baseline)}, candidate {_range(effect.candidate)}")
            )
    return pairs


def whose(labels: LabelSetRef) -> str:
    """Return which judge gave labels, if one is named."""
    return f" of judge {labels.judge!r}" if labels.judge else ""


def _arms(comparison: Comparison) -> list[tuple[str, str]]:
    """Return which runs the arms have, and where the variance of each delta comes from; or the clusters."""
    found = [
        ("arm", f"{arm.name}: {counted(len(arm.runs), 'run')} ({', '.join(run.name for run in arm.runs[:RUNS_SHOWN])}"
        + (", ...)" if len(arm.runs) > RUNS_SHOWN else ")"))
        for arm in (comparison.baseline, comparison.candidate)
        if arm.runs
    ]  # fmt: skip
    for metric in comparison.metrics:
        parts = metric.variance
        if parts is not None:
            of_runs, by_groups = (
                percent(part / (parts.runs + parts.groups)) for part in (parts.runs, parts.runs_by_groups)
            )
            wider = points(parts.with_twice_the_runs), points(parts.with_twice_the_groups)
            found.append(
                (
                    "variance",
                    f"{metric.metric}: {of_runs} from the runs, {by_groups} from runs by groups, the rest from the "
                    f"groups, {parts.df:.1f} degrees of freedom; the interval is "
                    f"±{points(parts.half_width)}, with twice the runs about ±{wider[0]}, with twice the groups about "
                    f"±{wider[1]}",
                )
            )
    first = comparison.metrics[0]
    if first.clusters is not None:
        of = f"{first.clusters.n:,} by {first.clusters.attribute} of {counted(first.n, 'group')}"
        found.append(("clusters", f"{of}; {first.df:.1f} degrees of freedom"))
    return found


def canonical_names(shown: Comparison, stored: Comparison) -> list[tuple[str, str]]:
    """Return, as facts, the canonical text of metrics shown under a tool's name, and what others were asked for by."""
    pairs = zip(shown.metrics, stored.metrics, strict=True)
    names = [("metric", f"{one.metric} = {other.metric}") for one, other in pairs if one.metric != other.metric]
    return [*names, *requests(shown)]


def requests(shown: Comparison) -> list[tuple[str, str]]:
    """Return, as facts, how metrics were asked for that are shown under another name."""
    found = [metric for metric in shown.metrics if metric.requested_as not in ("", metric.metric)]
    return [("asked for", f"{metric.metric} as {metric.requested_as}") for metric in found]


def in_neither(groups: GroupCounts) -> list[str]:
    """Return what became of labelled groups that neither run has, none where there are none."""
    if not groups.in_neither:
        return []
    n_groups = f"{counted(groups.in_neither, 'group')} with labels"
    if groups.missing == "skip":
        return [f"{n_groups}, left out"]
    they, them = ("it counts", "it") if groups.in_neither == 1 else ("they count", "them")
    shrinks = "shrinks" if groups.in_neither == 1 else "shrink"
    return [f"{n_groups}: {they} the same in both and {shrinks} delta; {argument('missing', 'skip')} leaves {them} out"]


def _of_all_metrics(comparison: Comparison) -> list[str]:
    """Return what became of groups that neither run has, of the metric that lacks the most of them."""
    groups = max((metric.groups for metric in comparison.metrics), key=lambda groups: groups.in_neither)
    if groups.in_neither and groups.missing != "skip" and not comparison.is_comparable:
        return [f"{counted(groups.in_neither, 'group')} with labels"]
    return in_neither(groups)


def _is_seen_open(bounds: TieBounds) -> bool:
    """Whether the digits shown tell the bounds apart."""
    return points(bounds.worst) != points(bounds.best)


def _range(bounds: TieBounds) -> str:
    return f"{points(bounds.worst)} to {points(bounds.best)}" if _is_seen_open(bounds) else points(bounds.best)
