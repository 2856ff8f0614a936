"""What a gate gathers before it decides: one frozen object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ndcg_tracker.compare.decide import PairedResults
    from ndcg_tracker.compare.results import Comparison
    from ndcg_tracker.compare.run_pair import RunPair
    from ndcg_tracker.compare.slices import Slicing
    from ndcg_tracker.compare.sums import SummedResults
    from ndcg_tracker.questions.gate.decide_bounds import LearnedMargin
    from ndcg_tracker.rankings import Floats
    from ndcg_tracker.statistics.summary import PairedSums
    from ndcg_tracker.storage.records import AliasRecord, DecisionRecord


@dataclass(frozen=True, slots=True)
class Basis:
    """What a decision rests on and others may change: runs, labels, means, the alias, decisions and repeats.

    ``earlier``: the decisions of this gate, oldest first. ``pin``: the alias of the baseline, None where it was given
    otherwise. ``learned``: None for a margin that was given. ``number``: that of the decision among those of this gate
    in its scope under labels of the same judge, checked by the same people, which share an alpha budget.
    ``judge_alone``: the named judge on whose labels alone it rests, "" where somebody checks it, or nobody is named.
    """

    runs: RunPair
    earlier: tuple[DecisionRecord, ...]
    pin: AliasRecord | None
    learned: LearnedMargin | None
    number: int = 1
    judge_alone: str = ""


@dataclass(frozen=True, slots=True)
class GateFacts:
    """All that a decision on two arms rests on.

    ``results``: of the groups, sliced ``by`` what was asked for, and by every attribute that makes few slices
    (``slicings``); None of runs that were stored as ``sums``, with ``summed_slices``: their attribute and the sums.
    """

    basis: Basis
    comparison: Comparison
    results: PairedResults | None = None
    by: Slicing | None = None
    slicings: tuple[Slicing, ...] = ()
    sums: SummedResults | None = None
    summed_slices: tuple[str | None, Mapping[str | None, PairedSums]] = (None, {})

    @property
    def is_lower_better(self) -> bool:
        """Whether lower values of the metric are better."""
        return self.basis.runs.metric.direction == "lower"

    def with_deltas(self, delta: Floats) -> GateFacts:
        """Return the facts with other differences of the groups, as unjudged items may make them."""
        assert self.results is not None
        pairing = self.results.pairing
        chance = self.results.chance.shifted(delta - pairing.delta)
        moved = replace(pairing, candidate=pairing.baseline + delta)
        return replace(self, results=replace(self.results, pairing=moved, chance=chance))

    def gains(self, sums: PairedSums) -> PairedSums:
        """Return the sums of the gains, from those of the differences."""
        return sums.reversed() if self.is_lower_better else sums
