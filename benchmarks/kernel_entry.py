"""How a tool enters the benchmark of kernels: its name, what it needs, and its work on data in memory.

A contender returns its work, a function without arguments. To add one, write a function with ``@kernel`` before it and
import the tool within it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from processes import Means

if TYPE_CHECKING:
    from scenes import Scene

METRICS = ("ndcg@10", "ndcg@100", "ndcg")
CUTOFFS = (10, 100, None)
EXACT, TIES = 1e-6, 5e-3
Work = Callable[[], Any]
LABELS, ROWS, ROWS_OR_1 = "labels", "rows", "rows, empty=1"
"""The means to compare with: ours with the ideal from the labels; from the rows alone; the same, 1 without a gain."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """One way from arrays to numbers (see ``contenders.Contender``).

    ``prepared``: its work on a scene. ``means``: the means from what the work returned. ``reference``: which of our
    means they are compared with.
    """

    what: str
    prepared: Callable[[Scene], Work]
    needs: str
    means: Callable[[Any], Means] = dict
    reference: str = LABELS
    distribution: str = ""
    tolerance: float = EXACT
    convention: str = ""
    left_out: Mapping[str, str] = field(default_factory=dict)


KERNELS: dict[str, Kernel] = {}


def kernel(name: str, needs: str, what: str, **details: Any) -> Callable[[Callable[[Scene], Work]], None]:
    """Return the decorator that enters a function of a scene under a name."""

    def enter(prepared: Callable[[Scene], Work]) -> None:
        KERNELS[name] = Kernel(what, prepared, needs, **details)

    return enter
