"""What do versions of labels and judges say, and what should be judged next?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Unpack

from ndcg_tracker.asked import (
    DEFAULT_DATASET,
    DEFAULT_METRIC,
    AnyDataset,
    Dataset,
    Judge,
    Option,
    Positional,
    asks,
    made,
)
from ndcg_tracker.compare.options import (
    Baseline,
    Candidate,
    Candidates,
    CompareKeywords,
    CompareOptions,
    LabelView,
)
from ndcg_tracker.errors import InputError
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.labels.question import NeededKeywords, NeededQuestion

if TYPE_CHECKING:
    from ndcg_tracker.questions.labels.decide import JudgesAgreement, LabelsDiff, LabelVersion
    from ndcg_tracker.questions.labels.gather import (
        LabelsNeededResult,
        LabelsSampleResult,
        VersionsResult,
    )
    from ndcg_tracker.storage.store import HasStore


FirstVersion = Annotated[int, Positional("A version of the labels.", metavar="VERSION")]
OtherVersion = Annotated[
    int | None, Positional("The version to compare it with.", metavar="[OTHER]", default="the latest")
]
TopLabels = Annotated[int, Option("How many changed labels to show.", least=0)]
Judges = Annotated[str, Option("A judge; give one or two.", metavar="NAME", default="the only two", is_optional=True)]
ByMetric = Annotated[str, Option("Errors are among the first ranks up to its cutoff.")]
TopContested = Annotated[int, Option("How many labels with different grades to show.", least=0)]
CheckedJudge = Annotated[
    str | None, Option("The judge to check, instead of filling holes in people's labels.", metavar="NAME")
]
SampleBudget = Annotated[int, Option("How many items people grade in all, with those graded before.", metavar="N")]
CheckedMetric = Annotated[str | None, Option("The metric, with its cutoff.", default="the first that both runs have")]
Seed = Annotated[
    str | None,
    Option("Seed of the order of the queries, fixed for good.", metavar="TEXT", default="a digest of the labels"),
]

OF_ONE_VERSION = ("suite", "by_tag", "check_with", "fresh", "ids_are_stable", "by", "tie_bounds", "top")
"""Options of a comparison that say something under one version of the labels."""


def label_versions(self: HasStore, dataset: Dataset = DEFAULT_DATASET, *, judge: Judge = None) -> list[LabelVersion]:
    """Return the versions of a dataset's labels, oldest first, with their content and how many runs they score.

    ``judge``: only the versions of one judge ("": the unnamed one).
    """
    from ndcg_tracker.questions.labels.gather import label_versions

    with self.store().read() as tx:
        return label_versions(tx, dataset, judge)


def labels_diff(
    self: HasStore,
    first: FirstVersion,
    second: OtherVersion = None,
    *,
    dataset: Dataset = DEFAULT_DATASET,
    top: TopLabels = 10,
) -> LabelsDiff:
    """Return what differs between two versions of a dataset's labels; by default the second is the latest.

    ``top``: how many labels with changed grades to keep. Raises: ReferenceNotFoundError for an unknown dataset or
    version.
    """
    from ndcg_tracker.questions.labels.gather import label_sets_diff

    with self.store().read() as tx:
        return label_sets_diff(tx, dataset, first, second, top=top)


def labels_agreement(
    self: HasStore,
    *judges: Judges,
    dataset: Dataset = DEFAULT_DATASET,
    metric: ByMetric = DEFAULT_METRIC,
    top: TopContested = 10,
) -> JudgesAgreement:
    """Return how far two judges agree, and by how much one errs for each run.

    The latest labels of each judge count. If one judge answered designs that check the other one (``labels_sample``),
    agreement and errors use these answers alone.

    Parameters: ``judges``: two judges. One judge is compared with the only other one, or with the unnamed judge;
    without any, the only two judges are compared. ``metric``: errors are those among the ranks up to its cutoff.
    ``top``: how many labels with different grades to keep.
    Raises: InputError if it is not clear which two judges are meant, or if one has neither labels nor answers.
    """
    from ndcg_tracker.questions.labels.agreement import judges_agreement

    parsed = parse_metric(metric)
    with self.store().read() as tx:
        return judges_agreement(tx, dataset, judges, parsed, top=top)


@asks(NeededQuestion)
def labels_needed(
    self: HasStore, baseline: Baseline, *candidates: Candidates, **keywords: Unpack[NeededKeywords]
) -> LabelsNeededResult:
    """Return the unjudged items to judge next, first those that could move a difference most.

    The items have no label in the latest version and are among the first ranks of a run. Each comes with the range of
    the mean difference over its grades, with all other items unchanged. Each of several candidates is compared with the
    baseline, and an item counts by the difference that it could move most.

    Parameters: ``baseline`` and ``candidates``: run references (see ``compare``). ``budget``: the largest number of
    items, None for all. ``metric``: by default the first that all runs have and that has such ranges. ``judge``: whose
    labels (see ``compare``); a judge without labels gets a first batch, the first ranks of every group. ``labels``: a
    version, by default the latest. Returns: the items; ``save`` writes them for judges, and ``add_labels`` with
    ``extend`` stores the grades. Raises: ReferenceNotFoundError; InputError for a metric without such ranges and a
    budget below 1; NotComparableError.
    """
    from ndcg_tracker.compare.arms import named_runs
    from ndcg_tracker.questions.labels.gather import LabelsNeededResult, labels_needed

    question = made(NeededQuestion, keywords)
    with self.store().read() as tx:
        names, left_out = named_runs(tx, candidates, question.dataset, baseline)
        run, *others = tx.runs.resolve_all([baseline, *names], question.dataset)
        needed = labels_needed(tx, run, others, question)
        return LabelsNeededResult(replace(needed, notes=tuple(left_out)))


def labels_sample(
    self: HasStore,
    baseline: Baseline,
    candidate: Candidate,
    *,
    budget: SampleBudget,
    judge: CheckedJudge = None,
    metric: CheckedMetric = None,
    dataset: AnyDataset = None,
    seed: Seed = None,
) -> LabelsSampleResult:
    """Draw whole queries in which people grade what is open, to check a judge or to fill holes in people's labels.

    The queries come in one permanent random order, in which a query has the same place for all runs. What is open in
    them are the items among the first ranks of either run that people have not graded: under ``judge``, all of these;
    without it, those without a label. A larger budget contains a smaller one. Store the grades with ``add_answers``.

    Parameters: ``baseline`` and ``candidate``: run references (see ``compare``). ``budget``: how many items, with those
    that are answered already: whole queries, up to the first that does not fit. ``judge``: whom to check, with the
    labels of today. ``metric``: any with a cutoff, whose first ranks are graded. ``seed``: any text, for the first
    sample of a dataset. Returns: the items without an answer, query by query; ``save`` writes them. Raises:
    ReferenceNotFoundError; NotComparableError for runs of two datasets, or without the metric; InputError for a metric
    without a cutoff, and if nothing is open; ConflictError for another seed.
    """
    from ndcg_tracker.questions.labels.gather import LabelsSampleResult, labels_sample
    from ndcg_tracker.storage.references import ARM

    parsed = None if metric is None else parse_metric(metric)
    with self.store().write("content") as tx:
        if any(reference.startswith(ARM) for reference in (baseline, candidate)):
            raise InputError("queries are drawn for single runs, not for an arm", advice="name its runs")
        runs = tx.runs.resolve_all([baseline, candidate], dataset)
        drawn = labels_sample(tx, runs, LabelView(judge=judge), parsed, budget=budget, seed=seed)
        return LabelsSampleResult(drawn)


def change_of_labels(
    self: HasStore, version: int, *, dataset: str = DEFAULT_DATASET, extends: bool = False
) -> tuple[str, ...]:
    """Return in words what a version of the labels lacks compared with the one before, and how many groups are new.

    ``extends``: whether it was meant to extend that one; a note says if the judge had no version.
    """
    from ndcg_tracker.runs.labels import change_of_labels
    from ndcg_tracker.words.notes import in_words

    with self.store().read() as tx:
        return in_words(change_of_labels(tx, dataset, version, extends=extends))


@asks(CompareOptions, but=("labels", *OF_ONE_VERSION))
def compare_versions(
    self: HasStore,
    baseline: str,
    *candidates: str | Sequence[str],
    newest_only: bool = False,
    **keywords: Unpack[CompareKeywords],
) -> VersionsResult:
    """Compare a baseline with its candidates under every version of the labels: does the conclusion change?

    Parameters and raises: see ``compare``; the versions are those of ``judge``, "*" for those of all judges.
    ``newest_only``: use only the latest version of each judge under which both have the metrics, to see if the verdict
    turns between judges. A note names the versions under which one of the runs lacks the metrics, with the command that
    adds them.
    """
    from ndcg_tracker.questions.labels.gather import VersionsResult, compared_versions

    options = made(CompareOptions, keywords, top=0, labels="newest" if newest_only else None)
    with self.store().read() as tx:
        return VersionsResult(compared_versions(tx, baseline, candidates, options))
