"""How do the lists of two runs differ, without labels?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ndcg_tracker.asked import AnyDataset, Option, Positional, RboP

if TYPE_CHECKING:
    from ndcg_tracker.questions.diff.gather import DiffResult
    from ndcg_tracker.storage.store import HasStore


First = Annotated[str, Positional("The first run.", metavar="A")]
Second = Annotated[str, Positional("The second run.", metavar="B")]
FirstItems = Annotated[int, Option("How many of the first items to compare.", metavar="K", least=1)]
MostChanged = Annotated[int, Option("How many groups to show, the most changed first.", metavar="N", least=0)]


def diff(
    self: HasStore,
    a: First,
    b: Second,
    *,
    cutoff: FirstItems = 10,
    rbo_p: RboP = 0.9,
    top: MostChanged = 10,
    dataset: AnyDataset = None,
) -> DiffResult:
    """Show how the lists of two runs differ, without labels: overlap, rank-biased overlap, Kendall's tau.

    Parameters: ``cutoff``: how many of the first items the overlap covers. ``rbo_p``: how much a rank counts relative
    to the one before it, in (0, 1). ``top``: how many groups to list, the most changed first. Raises:
    ReferenceNotFoundError; InputError for runs whose items were pruned; NotComparableError for two datasets.
    """
    from ndcg_tracker.questions.diff.gather import DiffResult, runs_diff

    with self.store().read() as tx:
        first, second = tx.runs.resolve_all([a, b], dataset)
        return DiffResult(runs_diff(tx, first, second, depth=cutoff, rbo_p=rbo_p, top=top))
