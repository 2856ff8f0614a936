"""A comparison under every version of the labels: does the conclusion change?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

from ndcg_tracker.compare.arms import arm_or_run, comparisons
from ndcg_tracker.compare.decide import adjusted_jointly
from ndcg_tracker.compare.gather import CompareOptions, named_runs
from ndcg_tracker.compare.results import Comparison
from ndcg_tracker.compare.run_pair import adding_command
from ndcg_tracker.errors import NotComparableError
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.labels.decide import Conclusion, VersionsComparison
from ndcg_tracker.questions.labels.say import versions_as, versions_object, versions_reports, versions_rows
from ndcg_tracker.render.html import reports_html
from ndcg_tracker.words.notes import Note
from ndcg_tracker.words.sentences import in_words

if TYPE_CHECKING:
    import pandas as pd

    from ndcg_tracker.storage.read import ReadTransaction


def compared_versions(
    tx: ReadTransaction, baseline: str, candidates: Sequence[str | Sequence[str]], options: CompareOptions
) -> VersionsComparison:
    """Return the comparison of a run or an arm with each candidate under every version of the labels that has both.

    Without metrics, those that all versions of a candidate have, if any, so that p-values are corrected over the same
    ones. Parameters and raises: as ``comparisons``.
    """
    names = named_runs(tx, candidates, options.dataset, baseline)
    arms = {name: arm_or_run(tx, name, options.dataset) for name in (baseline, *names)}
    versions = [one.version for one in tx.labels.sets(arms[baseline].runs[0].dataset_id, options.judge or "")]
    found: dict[str, dict[int, Comparison]] = {name: {} for name in names}
    lacking: list[tuple[str, int]] = []
    for name, version in product(names, versions):
        try:
            (found[name][version],) = comparisons(tx, baseline, [name], replace(options, labels=version))
        except NotComparableError:
            lacking.append((name, version))
    if not any(found.values()):
        comparisons(tx, baseline, candidates, options)  # says why
    for name, of_name in found.items():
        texts = [[metric.metric for metric in one.metrics] for one in of_name.values()]
        shared = [text for text in texts[-1] if all(text in of_version for of_version in texts)] if texts else []
        for version, one in of_name.items():
            if shared and len(one.metrics) > len(shared):
                chosen = replace(options, labels=version, metrics=tuple(map(parse_metric, shared)))
                (of_name[version],) = comparisons(tx, baseline, [name], chosen)
    for version in versions:
        beside = [name for name in found if version in found[name]]
        if len(beside) > 1:
            corrected = adjusted_jointly([found[name][version] for name in beside])
            for name, one in zip(beside, corrected, strict=True):
                found[name][version] = one
    every = [one for of_name in found.values() for one in of_name.values()]
    metrics = list(dict.fromkeys(metric.metric for one in every for metric in one.metrics))
    notes = []
    for version in dict.fromkeys(version for _, version in lacking):
        without = [arms[name] for name, of in lacking if of == version]
        runs = [run for arm in (arms[baseline], *without) for run in arm.runs]
        command = adding_command(runs, metrics, version)
        notes.append(Note("not_evaluated", {"version": version, "runs": [arm.name for arm in without]}, command))
    return VersionsComparison(
        tuple(every), tuple((arms[name].name, version) for name, version in lacking), tuple(notes)
    )


@dataclass(frozen=True)
class VersionsResult:
    """A baseline compared with its candidates under every version of the labels; notebooks show it as a report.

    ``found``: the typed rows.
    """

    found: VersionsComparison

    @property
    def conclusions(self) -> tuple[Conclusion, ...]:
        """The verdicts on each candidate and metric by version, and whether they change."""
        return self.found.conclusions

    @property
    def notes(self) -> tuple[str, ...]:
        """What else to know, in words."""
        return in_words(self.found.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``ndcg-track compare --labels all --format json`` prints."""
        return versions_object(self.found)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per candidate, version and metric."""
        import pandas as pd

        return pd.DataFrame(versions_rows(self.found))

    def to_html(self) -> str:
        """Return the report as a piece of HTML, in which ids are text and never markup."""
        return reports_html(versions_reports(self.found))

    def _repr_html_(self) -> str:
        return self.to_html()

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return versions_as("text", self.found)
