"""The errors that ndcg_tracker raises on purpose; any other exception is a bug.

Every message is one line that says what is wrong, where (file and line, group, run) and what to do next. Arguments in a
message are written for the caller: as in Python by default, as options on the command line.
"""

from __future__ import annotations

import copyreg
import re
import sys
import warnings
from collections.abc import Callable, Mapping
from copy import copy
from types import MappingProxyType
from typing import Self

_ARGUMENT = re.compile("\x0e([a-z_]+)\x1f([^\x0e\x0f]*)\x0f")


def argument(name: str, value: object = "") -> str:
    """Return an argument as part of a message; the code that prints the message spells it.

    ``name``: as in Python's signatures. ``value``: the value to give, if the message has one; text without control
    characters.

    >>> str(InputError(f"give {argument('margin', 0.01)} or {argument('scope', 'set')}; leave out {argument('aa')}"))
    "give margin=0.01 or scope='set'; leave out aa="
    """
    return f"\x0e{name}\x1f{_shortened(str(value))}\x0f"


def in_python(name: str, value: str) -> str:
    """Return an argument as Python spells it.

    >>> in_python("group", "@FILE"), in_python("last", "N"), in_python("labels", "['a', 'b']")
    ("group='@FILE'", 'last=N', "labels=['a', 'b']")
    """
    is_spelled = value.startswith(("'", '"', "['")) or re.fullmatch(r"-?[0-9.]+|\([-0-9., ]+\)|True|False|None", value)
    if value in ("", "N") or is_spelled:
        return f"{name}={value}"
    return f"{name}={value!r}"


LONGEST = 1000
"""How many characters of one part of a message are shown, because user input may have any length."""
_LONGEST_ADVICE = 4000  # it may contain a command, which is useless if cut


def _shortened(text: str, most: int = LONGEST) -> str:
    """Return a text without its middle if it is long; an argument in it stays complete or is removed.

    >>> _shortened("x" * 30 + "y" * 30, 24)
    'xxxxxxxxxxxxxxx ... yyyy'
    """
    if len(text) <= most:
        return text
    head, tail = text[: most * 5 // 8], text[len(text) - most // 6 :]
    if head.rfind("\x0e") > head.rfind("\x0f"):
        head = head[: head.rfind("\x0e")]
    if "\x0f" in tail and not 0 <= tail.find("\x0e") < tail.find("\x0f"):
        tail = tail[tail.find("\x0f") + 1 :]
    return f"{head} ... {tail}"


Spelling = Callable[[str, str], str]
"""Spells an argument, from its name and its value ("" for none)."""


def worded(text: str, spelled: Spelling = in_python) -> str:
    """Return a message with its arguments spelled by ``spelled``, which gets a name and a value ("" for none).

    >>> worded(f"add {argument('dry_run')}", lambda name, value: "--" + name.replace("_", "-"))
    'add --dry-run'
    """
    return _ARGUMENT.sub(lambda match: spelled(match[1], match[2]), text)


class _Told(Exception):  # noqa: N818  # warnings are printed in the same way
    """A message that says what is wrong, where, and what to do about it; as text it is one line.

    ``what`` states facts, in as many clauses as it takes. ``where``: the place, such as FILE:LINE, a path or a metric,
    "" for none. ``advice``: what to do next, "" for none. ``joint``: the text between the two. A long part loses its
    middle (see ``LONGEST``).

    >>> error = InputError("no such file", where="run.txt", advice=f"check the path, or give {argument('text')}")
    >>> print(error, error.arguments, sep="\\n")
    run.txt: no such file; check the path, or give text=
    ('text',)
    """

    def __init__(self, what: str, *, where: object = "", advice: str = "", joint: str = "; ") -> None:
        self._what, self._where = _shortened(what), "" if where is None else _shortened(str(where))
        self._advice, self._joint = _shortened(advice, _LONGEST_ADVICE), joint
        super().__init__(str(self))

    def __str__(self) -> str:
        return worded(self.message)

    def __reduce__(self) -> tuple[object, ...]:  # a subclass may take other arguments
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]

    @property
    def message(self) -> str:
        """The message with unspelled arguments (see ``worded``)."""
        said = f"{self._what}{self._joint}{self._advice}" if self._advice else self._what
        return f"{self._where}: {said}" if self._where else said

    def parts(self, spelled: Spelling) -> tuple[str, str, str]:
        """Return the place, what is wrong, and what to do about it, spelled by ``spelled``."""
        return worded(self._where, spelled), worded(self._what, spelled), worded(self._advice, spelled)

    @property
    def what(self) -> str:
        """What is wrong, spelled as in Python."""
        return worded(self._what)

    @property
    def where(self) -> str:
        """The place: a file and line, a group, a metric; "" for none."""
        return worded(self._where)

    @property
    def advice(self) -> str:
        """What to do about it, spelled as in Python; "" for no advice."""
        return worded(self._advice)

    @property
    def told(self) -> dict[str, str]:
        """What is wrong and what to do about it, for an error of another kind or place."""
        return {"what": self._what, "advice": self._advice, "joint": self._joint}

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of the arguments in the message, each once."""
        return tuple(dict.fromkeys(match[1] for match in _ARGUMENT.finditer(self.message)))

    def at(self, where: object, advice: str = "") -> Self:
        """Return a copy with a place before its own ("" adds none), and with further advice, if given.

        >>> print(InputError("the id is empty", where="record 3").at("run.json", "write one"))
        run.json: record 3: the id is empty; write one
        """
        place, told = (str(where), self._where), (self._advice, advice)
        return self._with(where=": ".join(filter(None, place)), advice="; ".join(filter(None, told)))

    def respelled(self, spelled: Spelling) -> Self:
        """Return a copy in which ``spelled`` writes the arguments."""
        return self._with(**dict(zip(("where", "what", "advice"), self.parts(spelled), strict=True)))

    def _with(self, **parts: str) -> Self:
        copied = copy(self)
        for name, text in parts.items():
            setattr(copied, f"_{name}", text)
        copied.args = (str(copied),)
        return copied


class NdcgTrackerError(_Told):
    """The base class of all errors of ndcg_tracker; as text it spells arguments as Python does."""


class NdcgTrackerWarning(_Told, UserWarning):
    """The base class of all warnings of ndcg_tracker; as text it spells arguments as Python does."""


class ReadWarning(NdcgTrackerWarning):
    """What was read in a file that its reader knows; the command line alone says it, while ``is_said``."""

    is_said = False


def warn(warning: NdcgTrackerWarning) -> None:
    """Warn the caller of this package, at the line of the call."""
    if isinstance(warning, ReadWarning) and not ReadWarning.is_said:
        return
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "ndcg_tracker":
        level, frame = level + 1, frame.f_back
    warnings.warn(warning, stacklevel=level)


class InputError(NdcgTrackerError):
    """An invalid file, frame or argument (exit code 2)."""


class MetricError(InputError):
    """A metric text that does not parse, or a metric that is not defined for these labels or scores (exit code 2)."""


class ReferenceNotFoundError(InputError):
    """A run, alias, dataset or group that does not exist or is ambiguous (exit code 2)."""


class ConflictError(InputError):
    """A name that other content already has, or a label that contradicts a stored one (exit code 2)."""


class SealedError(InputError):
    """A sealed database or dataset, and the command is neither ``gate`` nor ``ingest`` (exit code 2)."""


class NameTakenError(ConflictError):
    """The name of a run that already has other content (exit code 2)."""


class ColumnsError(InputError):
    """Columns that have no known name (exit code 2).

    ``guesses``: what they may be, by argument, which only the advice says.

    >>> print(ColumnsError("run.csv has no column 'score' (it has 'q' and 's')").with_guesses({"score": "s"}))
    run.csv has no column 'score' (it has 'q' and 's'); if these guesses are right, give score='s'
    """

    guesses: Mapping[str, str] = MappingProxyType({})

    def with_guesses(self, guesses: Mapping[str, str]) -> Self:
        """Return a copy with guesses."""
        given = [argument(name, value) for name, value in guesses.items()]
        copied = self._with(advice=f"if these guesses are right, give {' '.join(given)}")
        copied.guesses = guesses
        return copied

    def with_command(self, command: str) -> Self:
        """Return a copy whose advice is a command with the guesses."""
        return self._with(advice=f"if these guesses are right: {command}")


class DatabaseError(NdcgTrackerError):
    """A database that cannot be opened, read or written (exit code 2)."""


def full_disk(where: object = "", n_bytes: int = 0) -> InputError:
    """Return the error for a disk without room for what is to be written; ``n_bytes``: its size, if it is known.

    >>> print(full_disk("r.html", 1_200_000))
    r.html: the disk is full; free 1.2 MB and run the same command again
    """
    room = f"{max(n_bytes / 1e6, 0.1):,.1f} MB" if n_bytes else "some space"
    return InputError("the disk is full", where=where, advice=f"free {room} and run the same command again")


class NotComparableError(NdcgTrackerError):
    """Two runs that share no metric under one label set (exit code 5)."""
