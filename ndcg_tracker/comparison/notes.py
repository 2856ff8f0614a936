"""What a reader must keep in mind, as facts: what it is, its numbers, and the command that helps; no words yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ndcg_tracker.statistics.information import FEW_DIFFERENCES

if TYPE_CHECKING:
    from ndcg_tracker.comparison.inference import Inference
    from ndcg_tracker.statistics.information import Information

Kind = Literal[
    "weightless",
    "no_group",
    "one_group",
    "same_difference",
    "low_information",
    "tests_symmetry",
    "means_weigh_groups",
    "diagnostic",
    "no_mean_of_groups",
    "fewer_judged",
    "none_judged",
    "nothing_judged",
    "newer_labels",
    "ties",
    "no_alias",
    "same_run",
    "group_not_in_run",
    "in_one_run_only",
    "unjudged_items",
    "no_item_judged",
    "no_split",
    "ranking_in_detail",
    "worst_group",
    "different_labels",
    "shown_only",
    "other_groups",
    "shared_groups",
]
Fact = str | int | float | bool | None | Sequence["Fact"]


@dataclass(frozen=True, slots=True)
class Note:
    """Something to keep in mind: its ``kind``, the ``facts`` of it by name, and a ``command`` to type, word by word.

    As text it is these facts; ``ndcg_tracker.reporting.notes`` makes a sentence of them.

    >>> print(Note("low_information", {"n": 396, "n_nonzero": 55}))
    low information: n=396, n_nonzero=55
    """

    kind: Kind
    facts: Mapping[str, Fact] = field(default_factory=dict)
    command: tuple[str, ...] = ()

    def __str__(self) -> str:
        told = ", ".join(f"{name}={fact!r}" for name, fact in self.facts.items())
        return ": ".join(filter(None, (self.kind.replace("_", " "), told, " ".join(self.command))))


def metric_warnings(
    no_inference: Note | None, n_weightless: int, known: Information, found: Inference, test: str
) -> tuple[Note, ...]:
    """Return the warnings of one metric.

    Parameters: ``no_inference``: why no test applies, None if one does. ``n_weightless``: how many groups have weight
    0. ``known`` and ``found``: what the differences of the groups that count say, and what was inferred. ``test``: by
    which test.

    >>> from ndcg_tracker.comparison.inference import NOTHING
    >>> from ndcg_tracker.statistics.information import Information
    >>> [note.kind for note in metric_warnings(None, 2, Information(1, 1, 0.0), NOTHING, "t")]
    ['weightless', 'one_group']
    """
    warnings = [Note("weightless", {"n": n_weightless})] if n_weightless else []
    if known.n == 0:
        warnings.append(Note("no_group"))
    elif known.n_nonzero == 0:
        pass
    elif no_inference is not None:
        warnings.append(no_inference)
    elif known.n < 2:
        warnings.append(Note("one_group"))
    else:
        if test == "wilcoxon":
            warnings.append(Note("tests_symmetry"))
        if found.ci is None:
            warnings.append(Note("same_difference", {"n": known.n, "has_p": found.p_value is not None}))
        else:
            warnings += filter(None, [low_information(known)])
    return tuple(warnings)


def low_information(known: Information) -> Note | None:
    """Return a note where the differences say too little for the t interval to be trusted, else None.

    >>> from ndcg_tracker.statistics.information import Information
    >>> low_information(Information(396, 55, 0.0)).facts["n_nonzero"], low_information(Information(9, 0, 0.0))
    (55, None)
    """
    if known.are_few:
        return Note("low_information", {"n": known.n, "n_nonzero": known.n_nonzero, "enough": FEW_DIFFERENCES})
    return Note("low_information", {"n": known.n, "skewness": known.skewness}) if known.is_low else None
