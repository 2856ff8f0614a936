"""Finds the identifiers of a Postgres query, so that the functions it could call are known before it runs.

The scanner follows Postgres' own lexer (src/backend/parser/scan.l) with `standard_conforming_strings` on, and
refuses the few spellings that would need more than a scan: `U&"..."` names and continued `E'...'` strings.
"""

from __future__ import annotations

import re

from ndcg_tracker.errors import InputError
from ndcg_tracker.storage.query_result import only_reads

_IDENTIFIER = re.compile(r"[A-Za-z_\u0080-\U0010ffff][A-Za-z0-9_$\u0080-\U0010ffff]*")
_DOLLAR_TAG = re.compile(r"\$(?:[A-Za-z_\u0080-\U0010ffff][A-Za-z0-9_\u0080-\U0010ffff]*)?\$")
_PLAIN_STRING = re.compile(r"'(?:[^']|'')*+'")
_ESCAPE_STRING = re.compile(r"'(?:[^'\\]|''|\\.)*+'", re.DOTALL)
_QUOTED_IDENTIFIER = re.compile(r'"(?:[^"]|"")*+"')
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_LONGEST_NAME = 63  # bytes; Postgres cuts longer names
_BLANKS = " \t\r\n\f\v"


def identifiers(query: str) -> set[str]:
    """Return every identifier and keyword of the query as Postgres would look it up.

    Strings, numbers and comments are passed over; unquoted words are folded to lower case.

    Parameters
    ----------
    query
        SQL as it is handed to Postgres.

    Returns
    -------
    set of str
        The words, keywords among them.

    Raises
    ------
    InputError
        If a string or a comment does not end, a second statement follows, or a spelling cannot be followed.

    >>> sorted(identifiers('SELECT "a b", Lower(x) FROM t -- pg_sleep'))
    ['a b', 'from', 'lower', 'select', 't', 'x']
    """
    words: set[str] = set()
    position = 0
    ended = False
    while (position := _next_token(query, position)) < len(query):
        if query[position] == ";":
            ended = True
            position += 1
            continue
        if ended:
            raise only_reads("it takes one statement at a time")
        position = _token(query, position, words)
    return words


def _token(query: str, start: int, words: set[str]) -> int:
    """Take one token from `start`, note it if it is an identifier, and return where it ends."""
    character = query[start]
    if character == "'":
        return _end(_PLAIN_STRING, query, start, "string")
    if character == '"':
        end = _end(_QUOTED_IDENTIFIER, query, start, "quoted name")
        words.add(_cut(query[start + 1 : end - 1].replace('""', '"')))
        return end
    if character == "$":
        tag = _DOLLAR_TAG.match(query, start)
        if tag is None:
            return start + 1
        closing = query.find(tag.group(), tag.end())
        if closing < 0:
            raise _unfinished("string", start)
        return closing + len(tag.group())
    if word := _IDENTIFIER.match(query, start):
        return _after_word(query, word, words)
    return start + 1  # digits too: Postgres before 15 begins a word right after them


def _after_word(query: str, word: re.Match[str], words: set[str]) -> int:
    text, end = word.group(), word.end()
    following = query[end : end + 2]
    if text in ("u", "U") and following in ('&"', "&'"):
        raise InputError(f"sql: the U& at character {end} is not taken; write the characters themselves")
    if text in ("e", "E") and following[:1] == "'":
        end = _end(_ESCAPE_STRING, query, end, "string")
        if query[_next_token(query, end) :][:1] == "'":
            raise InputError(f"sql: a string that goes on after character {end} is not taken; write one piece")
        return end
    # Postgres folds ASCII only in a database whose encoding has more than one byte per character.
    words.add(_cut(re.sub("[A-Z]+", lambda capitals: capitals.group().lower(), text)))
    return end


def _cut(name: str) -> str:
    return name.encode()[:_LONGEST_NAME].decode(errors="ignore")


def _next_token(query: str, position: int) -> int:
    """Return the position of the first character from `position` on that is neither blank nor comment."""
    while position < len(query):
        if query[position] in _BLANKS:
            position += 1
        elif query.startswith("--", position):
            ends = [found for found in (query.find("\n", position), query.find("\r", position)) if found >= 0]
            position = min(ends, default=len(query))
        elif query.startswith("/*", position):
            position = _after_comment(query, position)
        else:
            break
    return position


def _after_comment(query: str, start: int) -> int:
    depth = 0
    for edge in _COMMENT_EDGE.finditer(query, start):
        depth += 1 if edge.group() == "/*" else -1
        if depth == 0:
            return edge.end()
    raise _unfinished("comment", start)


def _end(pattern: re.Pattern[str], query: str, start: int, what: str) -> int:
    found = pattern.match(query, start)
    if found is None:
        raise _unfinished(what, start)
    return found.end()


def _unfinished(what: str, start: int) -> InputError:
    return InputError(f"sql: the {what} that begins at character {start + 1} does not end")
