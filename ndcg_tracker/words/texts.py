"""What people read where ids stand: the text of a query, the title of an item, and where to find them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Text:
    """What is told of a group or an item, as it was given; None where nothing was.

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
    """What is told of a group itself, None for nothing, and of items in it, by id."""

    query: Text | None = None
    items: Mapping[str, Text] = field(default_factory=dict)
