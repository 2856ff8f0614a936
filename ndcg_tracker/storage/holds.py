"""What is kept of a stored run: the kinds there are, what each can answer, and the words that refuse the rest.

Three words that sound like kinds are none. An external run came with results and without items: it is whole, under
the labels of a judge who gave none (``storage/records.py``: ``EXTERNAL_JUDGE``). A staged run is none yet
(``runs/staged.py``). An arm is several runs, each with a kind of its own (``compare/run_pair.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Literal

from ndcg_tracker.errors import InputError

Part = Literal["means", "sums", "groups", "results", "some items", "items"]
"""What a question may need of a run.

"means": of each metric; "sums": of its differences to another run; "groups": which it has; "results": of each group;
"some items": those of a share of its groups; "items": those of all its groups. A whole run has every part.
"""

_RESULTS = "means", "sums", "groups", "results"
_ADD = "to add them, ingest all its rows under the same name"
_STORE = "ask where its rows are, or store the results of groups with: ndcg-track ingest"
_RESTORE = "to restore them, ingest its file again under the same name"


class Holds(Enum):
    """What is here of a run; ``"items" in holds`` says whether a part is.

    Each kind: its parts, what is said of it to a user who needs another part, and the advice with that.
    """

    WHOLE = (*_RESULTS, "some items", "items"), "is whole", ""
    SAMPLE = (*_RESULTS, "some items"), "was stored with the items of {share:.3g} of its groups alone", _ADD
    NO_ITEMS = _RESULTS, "was stored with no items", _ADD
    SUMS = ("means", "sums"), "was stored as sums over its groups: the groups themselves are not here", _STORE
    PRUNED = _RESULTS, "was pruned at {at}: its items are gone", _RESTORE
    MEANS = ("means", "groups"), "was pruned at {at}: its items and group results are gone", _RESTORE

    @property
    def is_pruned(self) -> bool:
        """Whether more was here once."""
        return self in (Holds.PRUNED, Holds.MEANS)

    def __contains__(self, part: Part) -> bool:
        return part in self.value[0]


@dataclass(frozen=True, slots=True)
class PruningRecord:
    """What is stored of a run that is not whole.

    ``summaries_only``: whether the results of its groups are gone, too. ``kept_share``: of how many groups it was
    stored with items, None where it had all of them. ``is_of_sums``: whether it was stored as sums over its groups,
    which are not known here.
    """

    run_id: int
    created_at_utc: str
    summaries_only: bool
    kept_share: float | None = None
    is_of_sums: bool = False

    @property
    def holds(self) -> Holds:
        """What is here of the run."""
        if self.is_of_sums:
            return Holds.SUMS
        if self.summaries_only:
            return Holds.MEANS
        if self.kept_share is None:
            return Holds.PRUNED
        return Holds.SAMPLE if self.kept_share else Holds.NO_ITEMS

    def refusal(self, run: str) -> InputError:
        """Return the error for a question that needs a part which the run of this name lacks."""
        _, state, advice = self.holds.value
        return InputError(f"run {run!r} {state.format(at=self.created_at_utc, share=self.kept_share)}", advice=advice)
