"""Blocks of bytes made fit for Arrow's CSV parser: whole lines, plain text, one delimiter between fields."""

from __future__ import annotations

import re

import numpy as np

from ndcg_tracker.ingest.places import DoubtfulError
from ndcg_tracker.ingest.text_blocks import is_plain_text
from ndcg_tracker.rankings.types import Bytes

_WINDOW = 1 << 18  # bytes looked at a time: the temporaries stay in the cache
_BLANK = 0x20
_NEWLINE = 0x0A
_QUOTE_BYTE = 0x22
_HASH = 0x23
_COMMENTS = re.compile(rb"^#[^\n]*\n?", re.MULTILINE)
_TAB_TO_BLANK = bytes.maketrans(b"\t", b" ")


def plain_lines(block: bytes) -> bytes:
    """Return the block with every line ending in a bare newline.

    Raises: DoubtfulError for bytes that are no UTF-8, NUL, and a carriage return inside a line.
    """
    if not is_plain_text(block):
        raise DoubtfulError("not plain text")
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n")
        if b"\r" in block:
            raise DoubtfulError("a carriage return inside a line")
    return block


def single_blanks(block: bytes) -> bytes:
    """Return the lines of a TREC file with one blank between fields and none around them, blank lines left out.

    Raises: see ``plain_lines``.

    >>> single_blanks(b" 1 \\t0  d3 1 \\n\\n2 0 d4 0\\n")
    b'1 0 d3 1\\n2 0 d4 0\\n'
    """
    block = plain_lines(block)
    if b"\t" in block:
        block = block.translate(_TAB_TO_BLANK)
    data = np.frombuffer(block, dtype=np.uint8)
    if not _has_double_blanks(data):
        return block
    before = _before(data)
    data = data[(data != _BLANK) | ((before != _BLANK) & (before != _NEWLINE))]
    after = np.append(data[1:], np.uint8(_NEWLINE))
    data = data[(data != _BLANK) | (after != _NEWLINE)]
    data = data[(data != _NEWLINE) | (_before(data) != _NEWLINE)]
    return bytes(data)


def trec_lines(block: bytes) -> bytes:
    """Return the lines of a TREC file as ``single_blanks`` does, those that begin with ``#`` left out, too.

    >>> trec_lines(b"# by hand\\n1 0 d#3 1\\n\\t#2 0 d4 0\\n")
    b'1 0 d#3 1\\n'
    """
    block = single_blanks(block)
    return _COMMENTS.sub(b"", block) if _has_comments(block) else block


def simple_quotes(block: bytes, delimiter: bytes) -> bytes:
    """Return the lines of a delimited file with bare newlines, unless Arrow might see other cells in them.

    Raises: DoubtfulError for a quote inside a cell and a cell of several lines, and see ``plain_lines``.
    """
    block = plain_lines(block)
    if not quotes_are_simple(block, delimiter):
        raise DoubtfulError("a quote inside a cell, or a cell of several lines")
    return block


def quotes_are_simple(block: bytes, delimiter: bytes) -> bool:
    """Return whether every quote opens a cell or closes one, no cell holding a quote or a newline.

    >>> [quotes_are_simple(line, b",") for line in (b'"a,b",1', b'"a""b",1', b'5",1')]
    [True, False, False]
    """
    if b'"' not in block:
        return True
    data = np.frombuffer(block, dtype=np.uint8)
    quotes = np.flatnonzero(data == _QUOTE_BYTE)
    if quotes.size % 2:
        return False
    outside = np.concatenate([[_NEWLINE], data, [_NEWLINE]])
    ends = (_NEWLINE, delimiter[0])
    if not (np.isin(outside[quotes[::2]], ends).all() and np.isin(outside[quotes[1::2] + 2], ends).all()):
        return False
    newlines = np.flatnonzero(data == _NEWLINE)
    lines = np.searchsorted(newlines, quotes)
    return bool((lines[::2] == lines[1::2]).all())


def _has_double_blanks(data: Bytes) -> bool:
    """Return whether two blanks or control bytes stand side by side, or one at the start or, no newline, the end."""
    if data.size and (data[0] <= _BLANK or (data[-1] <= _BLANK and data[-1] != _NEWLINE)):
        return True
    for first in range(0, data.size, _WINDOW):
        low = data[first : first + _WINDOW + 1] <= _BLANK
        if (low[1:] & low[:-1]).any():
            return True
    return False


def _has_comments(block: bytes) -> bool:
    """Return whether a line begins with ``#``; looking for the two bytes together takes ten times as long."""
    if b"#" not in block:
        return False
    data = np.frombuffer(block, dtype=np.uint8)
    if data[0] == _HASH:
        return True
    for first in range(0, data.size, _WINDOW):
        window = data[first : first + _WINDOW + 1]
        if ((window[1:] == _HASH) & (window[:-1] == _NEWLINE)).any():
            return True
    return False


def _before(data: Bytes) -> Bytes:
    """Return the byte before each byte, a newline before the first."""
    return np.concatenate([np.array([_NEWLINE], dtype=np.uint8), data[:-1]])
