"""Input, names and lists of words quoted in sentences, and the texts that people read in place of ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass


_LONGEST_SHOWN = 60


def shown(text: str | bytes) -> str:
    """Return a piece of input as it may stand in a message: quoted, on one line, no control bytes, not too long.

    >>> print(shown("tab\\there"), shown(b"d7"))
    'tab\\there' 'd7'
    """
    if isinstance(text, bytes):
        text = text.decode(errors="replace")
    return repr(text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "...")


def in_a_row(words: Sequence[str]) -> str:
    """Return words as a sentence lists them.

    >>> in_a_row(["a"]), in_a_row(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def did_you_mean(text: str, names: Sequence[str]) -> str:
    """Return a question that suggests the closest of some names, "" where none is close.

    >>> did_you_mean("shpo", ["shop", "books"]), did_you_mean("x", ["shop"])
    ("did you mean 'shop'?", '')
    """
    import difflib  # needed for errors alone

    close = difflib.get_close_matches(text, names, n=3, cutoff=0.6)
    return f"did you mean {' or '.join(map(repr, close))}?" if close else ""


def shown_name(path: str) -> str:
    """Return a file's name as it may stand in a message: unchanged if it is printable."""
    return path if path and path.isprintable() else repr(path)[1:-1] or "''"


@dataclass(frozen=True, slots=True)
class Text:
    """The texts given for a group or an item, None where none was given.

    >>> Text(title="Tent, green").or_else(Text("a tent", "Tent", "https://shop.example/1"))
    Text(text='a tent', title='Tent, green', url='https://shop.example/1')
    """

    text: str | None = None
    title: str | None = None
    url: str | None = None

    def or_else(self, other: Text) -> Text:
        """Return this text, with the other's words where it has none."""
        return Text(self.text or other.text, self.title or other.title, self.url or other.url)


@dataclass(frozen=True, slots=True)
class GroupTexts:
    """The texts of a group itself, None for none, and of its items, by id."""

    query: Text | None = None
    items: Mapping[str, Text] = field(default_factory=dict)
