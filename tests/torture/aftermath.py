"""What is looked at after every blow: nothing in part, nothing lost, the database whole, and the same command again."""

from __future__ import annotations

from collections import Counter

from .databases import contents, damage
from .programs import here, outcome


class Aftermath:
    """Counts what was found after each of many blows to the ingests of one database.

    ``counts``: "partial", "lost", "damaged" and "not again" are faults; "whole" databases and runs stored "again" are
    how it should be. ``faults``: what was found wrong, in words.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []
        self._earlier = contents(url)

    def look(
        self,
        place: str,
        run: tuple[str, str],
        command: list[str],
        expected: str,
        *,
        acknowledged: bool = False,
        undone: bool = False,
    ) -> None:
        """Look at the database, give the same command again, and look again.

        Parameters: ``place``, the blow, for messages. ``run``: (dataset, name) of what was being stored. ``expected``:
        its checksum when it is whole. ``acknowledged``: it was told to be stored. ``undone``: it must not be there.
        """
        found = contents(self.url)
        stored = found.pop(run, None)
        is_whole = stored == expected
        if not is_whole and stored != self._earlier.get(run):
            self.fault("partial", f"{place}: the run is there in part")
        if is_whole and undone:
            self.fault("partial", f"{place}: the run is there though its transaction never ended")
        if acknowledged and not is_whole:
            self.fault("lost", f"{place}: the run was acknowledged and is gone")
        if found != {key: one for key, one in self._earlier.items() if key != run}:
            self.fault("lost", f"{place}: earlier runs differ")
        damaged = damage(self.url)
        if damaged:
            self.fault("damaged", f"{place}: {damaged}")
        self.counts["whole"] += not damaged
        again = here(*command)
        is_stored = outcome(again) in (("already stored",) if is_whole else ("stored", "replaced", "already stored"))
        after = contents(self.url)
        if not is_stored or after.pop(run, None) != expected or after != found:
            self.fault("not again", f"{place}: the same command came to {again}")
        else:
            self.counts["again"] += 1

    def is_as_before(self) -> bool:
        """Return whether the database can be read and holds what it held at first; a fault if not."""
        is_equal = contents(self.url) == self._earlier
        if not is_equal:
            self.fault("lost", "earlier runs differ")
        return is_equal

    def fault(self, kind: str, what: str) -> None:
        """Note something wrong."""
        self.counts[kind] += 1
        self.faults.append(what)

    @property
    def first_fault(self) -> str:
        """The first fault as the end of a sentence, "" where there is none."""
        return f"; first fault: {self.faults[0]}" if self.faults else ""
