"""Make text from outside safe to print, and measure its width on a terminal."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Style = Literal["good", "bad", "open", "dim", "bold"]

# cyan and yellow rather than green and red, for people who cannot distinguish these
_CODES: dict[Style, str] = {"good": "36", "bad": "33", "open": "35", "dim": "2", "bold": "1"}
_NAMED = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
# joiners, which Persian and emoji need, and the ideographic space: str.isprintable denies them, and they do no harm
_HARMLESS = frozenset("\u200c\u200d\u3000")
# what the log of a build obeys: ::error:: where a line begins, behind blanks too; ##[error] and ##vso[ anywhere in it
LOG_COMMAND = r"(?<=#)#(?=\w*\[)"
_LOG_COMMAND, _COMMAND_LINE = re.compile(LOG_COMMAND), re.compile(r"^([^\S\n]*)::", re.MULTILINE)

_WORD_AT_END = re.compile(r"[^\W_]+$")


@dataclass(frozen=True, slots=True)
class Painted:
    """A piece of text with its style, which shows if colour is on.

    ``link``: its link in formats that have links, "" for none (see ``texts.web_address``).
    """

    text: str
    style: Style | None = None
    link: str = ""


def visible(text: str) -> str:
    """Return the text with escapes for everything that a terminal or a build's log might obey, hide or reorder.

    Control characters (ESC and the C1 controls among them), bidirectional controls, line and paragraph separators,
    invisible format characters and lone surrogates become ``\\x1b``, ``\\u202e``, ``\\n``, and ``##[`` becomes
    ``#\\x23[``; everything else stays. What a log obeys at the start of a line is left to ``inert_lines``.

    >>> print(visible("q[/nope]" + chr(27) + "[2J" + chr(0x202E) + "!"), visible("##[error]"))
    q[/nope]\\x1b[2J\\u202e! #\\x23[error]
    """
    if text.isprintable():
        return text if "##" not in text else _LOG_COMMAND.sub(r"\\x23", text)
    escaped = "".join(
        character if character.isprintable() or character in _HARMLESS else _escape(character) for character in text
    )
    return _LOG_COMMAND.sub(r"\\x23", escaped)


def inert_lines(text: str) -> str:
    """Return whole lines that no log of GitHub Actions takes for commands: no line begins with ``::``.

    >>> print(inert_lines("::error::a  ::b\\n  ::notice::c"))
    \\x3a:error::a  ::b
      \\x3a:notice::c
    """
    return _COMMAND_LINE.sub(r"\1\\x3a:", text) if "::" in text else text


def _escape(character: str) -> str:
    """Return the escape of one character, as Python would write it."""
    code = ord(character)
    if code < 0x100:
        return _NAMED.get(character, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def display_width(text: str) -> int:
    """Return how many columns of a terminal the text takes: 2 for wide characters, 0 for combining ones.

    >>> display_width("abc"), display_width("検索"), display_width("e" + chr(0x301))
    (3, 4, 1)
    """
    return len(text) if text.isascii() else sum(map(_width, text))


def _width(character: str) -> int:
    """Return how many columns one character takes."""
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def padded(text: str, width: int, *, right: bool = False) -> str:
    """Return the text filled with spaces to a width, on the left if it is aligned ``right``, as numbers are.

    >>> padded("検", 4) + "|" + padded("0.5", 4, right=True)
    '検  | 0.5'
    """
    blanks = " " * (width - display_width(text))
    return blanks + text if right else text + blanks


def shortened(text: str, width: int) -> str:
    """Return the text cut to a width, with an ellipsis if something was cut off.

    >>> shortened("clicks_2024", 8), shortened("clicks", 8)
    ('clicks_…', 'clicks')
    """
    if display_width(text) <= width:
        return text
    kept, used = [], 0
    for character in text:
        used += _width(character)
        if used > width - 1:
            break
        kept.append(character)
    return "".join(kept) + "…"


def shortened_inside(text: str, width: int) -> str:
    """Return the text cut to a width with an ellipsis inside, because names often differ only at their end.

    >>> shortened_inside("torchmetrics:RetrievalNormalizedDCG(top_k=10)", 30)
    'torchmetrics:Re…dDCG(top_k=10)'
    """
    if display_width(text) <= width:
        return text
    head = shortened(text, width // 2 + 1)
    tail = shortened(text[::-1], width - display_width(head) + 1)[::-1]
    return head + tail.removeprefix("…")


def shortened_apart(names: Sequence[str], width: int) -> list[str]:
    """Return names cut to a width, without what all have in common rather than what distinguishes them.

    >>> shortened_apart(["nightly-2026-11-08-dense-reranked", "nightly-2026-11-09-dense-reranked"], 20)
    ['nightly-2026-11-08-…', 'nightly-2026-11-09-…']
    >>> shortened_apart(["the-new-retriever-with-lr=1e-3-and-more", "the-new-retriever-with-lr=1e-4-and-more"], 14)
    ['…with-lr=1e-3…', '…with-lr=1e-4…']
    """
    if len(set(names)) < 2:
        return [shortened_inside(name, width) for name in names]
    head = _in_common(names)
    tail = _in_common([name[head:][::-1] for name in names])
    cut = []
    for name in names:
        end = len(name) - tail  # what distinguishes this name lies between head and end
        if end < width:
            cut.append(shortened(name, width))
        elif end - head < width - 1:
            after = "…" if tail else ""
            cut.append("…" + name[end - width + 1 + len(after) : end] + after)
        else:
            cut.append(shortened_inside(name[head:end], width))
    return cut


def _in_common(names: Sequence[str]) -> int:
    """Return how many characters all names begin with, in whole words."""
    first, last = min(names), max(names)
    pairs = enumerate(zip(first, last, strict=False))
    n = next((place for place, (one, other) in pairs if one != other), len(first))
    return len(_WORD_AT_END.sub("", first[:n]))


def wrapped(text: str, width: int, start: str = "", *, indent: int | None = None) -> list[str]:
    """Return a sentence as lines of a width, broken at spaces; further lines are aligned with the first.

    Parameters: ``start``: the text before the sentence. ``indent``: how many spaces begin further lines, None for the
    width of ``start``. A word that is too long stays whole.

    >>> wrapped("3 groups undefined in both runs: left out", 24, "note: ")
    ['note: 3 groups undefined', '      in both runs: left', '      out']
    """
    first, *words = text.split(" ")
    lines, line = [], start + first
    for word in words:
        if display_width(line) + 1 + display_width(word) > width:
            lines.append(line)
            line = " " * (display_width(start) if indent is None else indent) + word
        else:
            line += " " + word
    return [*lines, line]


def painted(text: str, style: Style | None, *, color: bool) -> str:
    """Return the text in a style where colour is on, else unchanged.

    >>> painted("down", "bad", color=False)
    'down'
    """
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if color and style and text else text


def shown_strings(value: Any) -> Any:
    """Return a value with every text in it safe to show: no control characters, nothing that changes direction."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        return {visible(str(key)): shown_strings(item) for key, item in value.items()}
    return [shown_strings(item) for item in value] if isinstance(value, list | tuple) else value
