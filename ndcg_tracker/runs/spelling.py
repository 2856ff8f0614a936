"""Find ids that a run and its labels write differently, so that they do not match: in a few groups, with examples."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote

import numpy as np

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.metrics.kernel.values import group_results
from ndcg_tracker.rankings import Floats
from ndcg_tracker.rankings.join import Judged, judged
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import GroupedItems, LabelLists, Ranking
from ndcg_tracker.words.notes import Fact, Note, carry_command, note_text

DOUBTED = 20
"""From so many groups in common on, a run of which no item has a label is doubtful; fewer may be chance."""
SHOWN = 4
"""So many ids are enough for an example, and to tell that there are more."""
_GROUPS = 16  # of a block are looked at
_ITEMS = 1000  # of a group
_ENOUGH = 4000  # items and labels of all groups
_PAIRED = 20  # labels of a group, and ten times as many items: all pairs are compared
_LEAST_MET = 0.1
_WHOLE = re.compile(r"(-?[0-9]+)\.0")

if TYPE_CHECKING:
    from ndcg_tracker.metrics.language.metric import Metric

Pair = tuple[str, str]
_LEAST_CUT = 8
_FORMS: dict[str, Callable[[str], str]] = {
    "case": lambda text: " ".join(text.casefold().split()),
    "decimals": lambda text: _WHOLE.sub(r"\1", text),
    "padding": lambda text: re.sub(r"(?<![0-9])0+(?=[0-9])", "", text),
    "NFC": lambda text: unicodedata.normalize("NFC", text),
    "NFKC": lambda text: unicodedata.normalize("NFKC", text),
    "separators": lambda text: re.sub(r"[/_\\: -]", "_", unquote(text)),
}
"""Ways to write ids, each with a function that makes them the same."""
_PATTERNS = {"padding": "^0+", "decimals": r"\.0$"}
_KEPT = 200_000  # items and labels of a run whose value is computed again, with ids that match


@dataclass(slots=True)
class Spelling:
    """How the items without label and the labels without item differ, in some groups.

    ``example``: an item of the run and one of the labels in the same group that do not match, None if there are none.
    ``n``: how many labels match no item. ``met``: how many of these would match an item if the ids were written the
    same way, with an example for each difference. Differences are those of ``_FORMS``, "cut" (to some characters), or a
    prefix of either side. "chunks" counts labels of which some item is a part. ``n_met`` and ``n_labels``: how many
    labels match in all groups that both have, and how many there are. ``parts``: all groups, unless they are too many.
    """

    n: int = 0
    example: Pair | None = None
    met: Counter[str] = field(default_factory=Counter)
    examples: dict[str, Pair] = field(default_factory=dict)
    n_met: int = 0
    n_labels: int = 0
    parts: list[Judged] = field(default_factory=list)

    @classmethod
    def of(cls, both: Judged) -> Spelling:
        """Return the differences in some groups of a run and its labels.

        >>> from ndcg_tracker.rankings.join import judged
        >>> from ndcg_tracker.rankings.keys import Keys
        >>> from ndcg_tracker.rankings.ranking import LabelLists, Ranking
        >>> groups, numbers = Keys.from_strings("qqq"), np.array([3.0, 2.0, 1.0])
        >>> run = Ranking.from_rows(groups, Keys.from_strings(["SKU-1", "SKU-2", "sku-3"]), numbers)
        >>> labels = LabelLists.from_rows(groups, Keys.from_strings(["sku-1", "sku-2", "sku-3"]), numbers)
        >>> [note.facts for note in Spelling.of(judged(run, labels)).notes()]
        [{'how': 'case', 'of_run': 'SKU-1', 'of_labels': 'sku-1', 'n': 2, 'of': 2, 'n_met': 1, 'n_labels': 3}]
        """
        shared = both.label_groups[(both.run_groups >= 0) & (both.label_groups >= 0)]
        found = cls(n_met=both.rows.size, n_labels=int(np.diff(both.labels.offsets)[shared].sum()), parts=[both])
        if both.rows.size < min(both.labels.n_items, both.ranking.n_items):
            for items, labels in _unmet(both):
                found._take(items, labels)
        return found

    def _take(self, items: list[str], labels: list[str]) -> None:
        """Add the items and the labels of a group that do not match."""
        self.n += len(labels)
        self.example = self.example or (items[0], labels[0])
        for how, rewritten in _FORMS.items():
            self._count(how, items, labels, rewritten)
        for longer, shorter in ((items, labels), (labels, items)):
            n = max(map(len, shorter))
            if n >= _LEAST_CUT and n < max(map(len, longer)) and sum(len(text) == n for text in shorter) > 1:
                self._count("cut", items, labels, lambda text, n=n: text[:n])  # type: ignore[misc]
        known = set(items)
        for prefix, is_of_run in _prefixes(items, labels):
            some = [(prefix + label, label) for label in labels if is_of_run and prefix + label in known]
            some += [(label.removeprefix(prefix), label) for label in labels if not is_of_run]
            self._add(f"{'run' if is_of_run else 'labels'}:{prefix}", [pair for pair in some if pair[0] in known])
        starts = {item[: end.start()]: item for item in items for end in re.finditer(r"\W|_", item)}
        self._add("chunks", [(starts[label], label) for label in labels if label in starts])

    def _count(self, how: str, items: list[str], labels: list[str], rewritten: Callable[[str], str]) -> None:
        """Count the labels that match an item if both are changed by ``rewritten``."""
        of_run = {rewritten(item): item for item in reversed(items)}
        self._add(how, [(of_run[key], label) for label in labels if (key := rewritten(label)) in of_run])

    def _add(self, how: str, pairs: list[Pair]) -> None:
        if pairs:
            self.met[how] += len(pairs)
            self.examples.setdefault(how, pairs[0])

    def add(self, other: Spelling) -> None:
        """Add the differences in other groups."""
        self.n += other.n
        self.example = self.example or other.example
        self.n_met, self.n_labels = self.n_met + other.n_met, self.n_labels + other.n_labels
        self.met += other.met
        self.examples = other.examples | self.examples
        parts = [*self.parts, *other.parts]
        self.parts = parts if sum(both.ranking.n_items + both.labels.n_items for both in parts) <= _KEPT else []

    def _likely(self, least: int) -> str | None:
        """Return how most ids differ, None if hardly any do."""
        how, n = max(self.met.items(), key=lambda pair: (pair[1], pair[0] != "chunks"), default=("", 0))
        return how if n >= max(least, _LEAST_MET * self.n) else None

    def notes(self, metrics: Sequence[Metric] = (), dataset: str = "") -> list[Note]:
        """Return a note if ids of the run are written differently than in the labels, although some match.

        ``metrics``: the note has the value that the first would have. ``dataset``: of stored labels.
        """
        how = self._likely(2) or next((how for how in _FORMS if self.n_met and self.met[how] == self.n > 0), None)
        if how is None or how == "chunks":  # a document may be labelled along with its parts
            return []
        of_run, of_labels = self.examples[how]
        facts: dict[str, Fact] = {"how": how, "of_run": of_run, "of_labels": of_labels}
        facts |= {"n": self.met[how], "of": self.n, "n_met": self.n_met, "n_labels": self.n_labels}
        more, command = self._mapped(how, metrics, dataset)
        return [Note("spelled_otherwise", facts | more, command)]

    def none_met(self, metrics: Sequence[Metric] = (), dataset: str = "") -> Note:
        """Return the note that no item has a label, with an example of either side if they share a group."""
        if self.example is None:
            return Note("no_label")
        how = self._likely(1)
        of_run, of_labels = self.example if how is None else self.examples[how]
        facts: dict[str, Fact] = {"of_run": of_run, "of_labels": of_labels}
        if how != "chunks":
            more, command = self._mapped(how or "", metrics, dataset)
            return Note("no_label", (facts if how is None else facts | {"how": how}) | more, command)
        mark = of_run[len(of_labels)]
        if mark in of_labels:  # a pattern would also cut the labels
            return Note("no_label", facts | {"how": "parts"})
        pattern = f"{mark}.*" if mark in "#_:/-@~ " else f"\\{mark}.*"
        return Note("no_label", facts | {"how": how}, ("--item-to-document", pattern))

    def _mapped(self, how: str, metrics: Sequence[Metric], dataset: str) -> tuple[dict[str, Fact], tuple[str, ...]]:
        """Return further facts, and the command that maps the ids of stored labels or of files, if there is one."""
        _, _, prefix = how.partition(":")
        n = min(map(len, self.examples.get(how, self.example or ())))
        cut: Callable[[str], str] = (lambda text: text[:n]) if how == "cut" else lambda text: text.removeprefix(prefix)
        value = self._value(_FORMS.get(how, cut), metrics) if how else None
        facts: dict[str, Fact] = {} if value is None else {"metric": metrics[0].requested_as, "value": value}
        pattern = _PATTERNS.get(how) or (prefix and f"^{re.escape(prefix)}".replace("\\-", "-"))
        if pattern and len({re.sub(pattern, "", text) for text in self.examples[how]}) > 1:
            pattern = ""  # the zeros are inside
        if dataset:
            return facts | {"may_map": True}, carry_command(dataset, *(("--pattern", pattern) if pattern else ()))
        items = [item for both in self.parts for item in both.ranking.item_keys.to_list()] if pattern else []
        left = [re.sub(pattern, "", item) for item in items]
        if not all(left) or left == items:  # the option refuses these
            return facts, ()
        return facts | {"may_map": True}, ("--item-to-document", pattern)

    def _value(self, rewritten: Callable[[str], str], metrics: Sequence[Metric]) -> float | None:
        """Return the mean of the first metric if all ids were rewritten, None if that is not known."""
        if not metrics or not self.parts or metrics[0]["weights"] != "none" or self.parts[0].ranking.tie_order:
            return None
        sides: list[tuple[Keys, Keys, Floats]] = []
        for name in ("ranking", "labels"):
            lists: list[GroupedItems] = [getattr(both, name) for both in self.parts]
            groups, items = zip(*(of.keys_of(np.arange(of.n_items)) for of in lists), strict=True)
            written = Keys.from_strings(map(rewritten, Keys.joined(items).to_list()))
            sides.append((Keys.joined(groups), written, np.concatenate([of.numbers for of in lists])))
        run, labels = Ranking.from_rows(*sides[0]), LabelLists.from_rows(*sides[1])
        if run.has_duplicates() or labels.has_duplicates():
            return None
        return group_results(judged(run, labels), metrics[:1])[0].mean


@dataclass(frozen=True)
class Doubts:
    """The doubtful input that a caller allows (see ``asked.DOUBTS``), and what of it came: ``let_pass``.

    ``run``: the name of the run, "" if it has none yet.
    """

    allow: Collection[str]
    run: str = ""
    let_pass: set[str] = field(default_factory=set)

    def passed(self, note: Note, name: str, advice: str = "") -> Note:
        """Return a note on doubtful input if it is allowed by name, else raise it as an InputError."""
        if name not in self.allow:
            meant = f"if that is meant, give {argument('allow', name)}"
            raise InputError(note_text(note), where=self.run, advice=f"{advice}; {meant}" if advice else meant)
        self.let_pass.add(name)
        return note

    def none_met(
        self,
        spelling: Spelling,
        n_shared: int,
        of_run: Sequence[str],
        of_labels: Sequence[str],
        metrics: Sequence[Metric],
        dataset: str = "",
    ) -> Note:
        """Return the note that no item of a run has a label.

        ``n_shared``: how many groups both have. ``of_run``, ``of_labels``: some groups of either. ``dataset``: of
        stored labels. Raises: InputError for none or ``DOUBTED`` shared groups or more, unless that is allowed.
        """
        if not n_shared:
            return self.passed(Note("no_group_label", {"of_run": of_run, "of_labels": of_labels}), "no-overlap")
        note = spelling.none_met(metrics, dataset)
        return note if n_shared < DOUBTED else self.passed(note, "no-overlap")


def _unmet(both: Judged) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the items and the labels that do not match, of some groups that have both."""
    shared = np.flatnonzero((both.run_groups >= 0) & (both.label_groups >= 0))
    n_seen = 0
    for place in shared[:: max(1, shared.size // _GROUPS)][:_GROUPS].tolist():
        of_run, of_labels = int(both.run_groups[place]), int(both.label_groups[place])
        first, last = both.ranking.offsets[of_run : of_run + 2].tolist()
        low, high = both.labels.offsets[of_labels : of_labels + 2].tolist()
        start, end = np.searchsorted(both.rows, [first, last]).tolist()
        met = {*both.rows[start:end].tolist()}
        met_labels = {*both.label_rows[start:end].tolist()}
        items = [row for row in range(first, min(last, first + _ITEMS)) if row not in met]
        labels = [row for row in range(low, min(high, low + _ITEMS)) if row not in met_labels]
        n_seen += len(items) + len(labels)
        if items and labels:
            yield (
                both.ranking.item_keys.take(np.array(items)).to_list(),
                both.labels.item_keys.take(np.array(labels)).to_list(),
            )
        if n_seen >= _ENOUGH:
            return


def _prefixes(items: list[str], labels: list[str]) -> list[tuple[str, bool]]:
    """Return prefixes that some ids of one side have but those of the other lack, and whether the run has them.

    >>> _prefixes(["p:7", "p:8"], ["7", "9"]), _prefixes(["7"], ["sku7"]), _prefixes(["17"], ["7"])
    ([('p:', True)], [('sku', False)], [])
    """
    found: dict[tuple[str, bool], None] = {}
    for label in labels[:_PAIRED]:
        for item in items[: 10 * _PAIRED]:
            longer, rest = (item, label) if len(item) > len(label) else (label, item)
            if len(longer) > len(rest) and longer.endswith(rest):
                prefix = longer[: -len(rest)]
                if not prefix[-1].isalnum() or (prefix[-1].isalpha() and rest[0].isdigit()):
                    found[prefix, longer is item] = None
    return [*found]
