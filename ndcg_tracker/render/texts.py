"""Query texts, titles and links as people see them: never markup, and links only to addresses of the web."""

from __future__ import annotations

import re
from urllib.parse import quote

from ndcg_tracker.render.terminal import Painted, shortened, visible
from ndcg_tracker.words.texts import Text

LONGEST = 200
"""So many columns of a text are shown; what ranks passages gives whole paragraphs."""
_WEB = re.compile(r"https?://[^\s/?#\\]+[^\s\\]*", re.IGNORECASE)


def web_address(url: str | None) -> str:
    """Return an http or https address as a link may have it, its special characters encoded; "" for anything else.

    >>> web_address("https://shop.example/a b"), web_address("https://shop.example/tent(2)|x?q=ü")
    ('', 'https://shop.example/tent%282%29%7Cx?q=%C3%BC')
    >>> web_address("javascript:alert(1)"), web_address(None)
    ('', '')
    """
    if not url or not url.isprintable() or not _WEB.fullmatch(url):
        return ""
    return quote(url, safe=":/?#@!&+,;=%~-._")


def text_words(text: Text, width: int = LONGEST) -> str:
    """Return what stands behind an id: the title, else the text, else where to find it; and a URL that is no link.

    >>> text_words(Text("a light tent", "Tent", "ftp://shop.example/1")), text_words(Text("a light tent"))
    ('Tent (ftp://shop.example/1)', 'a light tent')
    """
    words = shortened(visible(text.title or text.text or text.url or ""), width)
    named = text.title or text.text
    if not named or not text.url or web_address(text.url):
        return words
    return f"{words} ({shortened(visible(text.url), width)})"


def text_cell(text: Text | None) -> Painted:
    """Return what stands behind an id in a table, a link where the URL is an address of the web."""
    return Painted("") if text is None else Painted(text_words(text), link=web_address(text.url))


def query_cell(query: Text | None) -> Painted:
    """Return what a group is about, the text rather than a title, as ``text_cell`` does of an item."""
    return text_cell(None if query is None else Text(title=query.text or query.title, url=query.url))


def query_words(text: Text) -> str:
    """Return what is told of a group, with its URL.

    >>> query_words(Text("light tent", url="https://shop.example/?q=tent"))
    '“light tent” (https://shop.example/?q=tent)'
    """
    words = text.text or text.title
    quoted = [f"“{shortened(visible(words), LONGEST)}”"] if words else []
    return " ".join([*quoted, *([f"({shortened(visible(text.url), LONGEST)})"] if text.url else [])])
