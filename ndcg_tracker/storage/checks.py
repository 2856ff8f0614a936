"""Checks of names, group ids, commits, times and JSON objects before they are stored."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.rankings.keys import Keys

MAX_NAME_LENGTH = 250
MAX_GROUP_KEY_BYTES = 2000
"""Longer ids do not fit an index of Postgres, so both engines refuse them."""
MAX_NESTING = 50
"""How deep the objects and lists of a JSON object may be nested: both engines and Python's reader accept this."""
_CONTROL = ("Cc", "Cs", "Zl", "Zp")
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")  # an escaped NUL, not its text after an escaped backslash
_TIME_FORMAT = "%Y-%m-%dT%H:%M:%S.%fZ"


def checked_name(kind: str, name: object) -> str:
    """Return the name of a ``dataset``, ``run`` or ``alias`` if it is valid; raise InputError if not.

    >>> checked_name("run", "bm25 (k1=0.9)")
    'bm25 (k1=0.9)'
    """
    if not isinstance(name, str):
        raise InputError(
            f"the name of {_article(kind)} must be text, not {name!r}", advice=f"give for example {str(name)!r}"
        )
    if not name:
        raise InputError(f"the name of {_article(kind)} is empty", advice="give it a name")
    if any(unicodedata.category(letter) in _CONTROL for letter in name):
        raise InputError(f"{kind} {name!a}: a name has no control characters or line breaks", advice="give another one")
    if len(name) > MAX_NAME_LENGTH:
        raise InputError(f"{kind} {name[:20] + '...'!r}: a name has at most {MAX_NAME_LENGTH} characters")
    if kind != "dataset" and name.startswith("@"):
        advice = "give it without the @" if kind == "alias" else "only aliases are written with it; give another name"
        raise InputError(f"{kind} {name!r}: a name does not begin with @", advice=advice)
    return name


def checked_commit(commit: str | None) -> str | None:
    """Return a valid ``git_commit`` unchanged; raise InputError for text that no database can store.

    >>> checked_commit("8f2a91c")
    '8f2a91c'
    """
    if commit is not None and not isinstance(commit, str):
        raise InputError(f"{argument('git_commit', repr(commit))} is not text", advice="give the name of a commit")
    if commit is not None and any(unicodedata.category(letter) in _CONTROL for letter in commit):
        raise InputError(
            f"{argument('git_commit', ascii(commit))} has characters that cannot be printed", advice="give a commit"
        )
    return commit


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def utc_now() -> str:
    """Return the present time as it is stored: ISO 8601 in UTC with microseconds."""
    return datetime.now(UTC).strftime(_TIME_FORMAT)


def checked_time(text: str | None) -> str:
    """Return a stored time unchanged, the present time for None; raise InputError for anything else.

    >>> checked_time("2025-01-31T08:00:00.000000Z")
    '2025-01-31T08:00:00.000000Z'
    """
    if text is None:
        return utc_now()
    try:
        exact = _stored(datetime.strptime(text, _TIME_FORMAT))
    except ValueError:
        exact = None
    if exact != text:
        raise InputError(f"{text!r} is not a time", advice="write it as 2025-01-31T08:00:00.000000Z")
    return text


def stored_time(given: str | date) -> str:
    """Return a time as it is stored; without a zone it is in UTC. Raises: InputError for anything else.

    >>> stored_time("2025-01-31 09:00+01:00"), stored_time("2025-01-31")
    ('2025-01-31T08:00:00.000000Z', '2025-01-31T00:00:00.000000Z')
    >>> stored_time(date(2025, 1, 31))
    '2025-01-31T00:00:00.000000Z'
    """
    try:
        text = given.isoformat() if isinstance(given, date) else given.strip()
        time = given if isinstance(given, datetime) else datetime.fromisoformat(text)
        utc = (time if time.tzinfo is not None else time.replace(tzinfo=UTC)).astimezone(UTC)
        return _stored(utc)
    except (AttributeError, OverflowError, TypeError, ValueError):
        raise InputError(
            f"{argument('created_at', given)} is not a time",
            advice="write it in ISO 8601, such as 2025-01-31T08:00:00Z or 2025-01-31T09:00+01:00",
        ) from None


def _stored(utc: datetime) -> str:
    return f"{utc.replace(tzinfo=None).isoformat(timespec='microseconds')}Z"  # strftime writes the year 1 as 1


def checked_object(what: str, given: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the mapping as a dict if it can be stored as JSON on both engines; InputError if not.

    >>> checked_object("tags", {"stage": "prod"})
    {'stage': 'prod'}
    """
    if given is None:
        return None
    try:
        text = json.dumps(dict(given), ensure_ascii=False, allow_nan=False)
        text.encode()
    except RecursionError:
        raise _too_deep(what) from None
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{what} cannot be stored as JSON ({error})", advice="use text, numbers, lists and true or false"
        ) from error
    if _NUL.search(text):
        raise InputError(f"{what} contain a NUL character, which no database can store", advice="remove it")
    if text.count("[") + text.count("{") > MAX_NESTING and is_nested_deeply(given):
        raise _too_deep(what)
    return dict(given)


def is_nested_deeply(value: object) -> bool:
    """Return whether objects and lists are nested deeper than ``MAX_NESTING``.

    >>> is_nested_deeply({"a": [1, {"b": 2}]}), is_nested_deeply(json.loads("[" * 60 + "]" * 60))
    (False, True)
    """
    level = [value]
    for _ in range(MAX_NESTING + 1):
        level = [
            inner
            for element in level
            if isinstance(element, Mapping | list | tuple)
            for inner in (element.values() if isinstance(element, Mapping) else element)
        ]
    return any(isinstance(element, Mapping | list | tuple) for element in level)


def _too_deep(what: str) -> InputError:
    return InputError(f"{what} are nested more than {MAX_NESTING} deep", advice="give fewer levels")


def check_group_keys(keys: Keys, role: str = "group") -> None:
    """Raise InputError for an id of a group (or of another role) that no index can hold: with a NUL, or too long."""
    if has_nul(keys):
        what = f"{_article(role)} id contains a NUL character, which no database can store"
        raise InputError(what, advice="remove it")
    lengths = keys.lengths
    if lengths.size and int(lengths.max()) > MAX_GROUP_KEY_BYTES:
        longest = int(lengths.argmax())
        start = keys.bytes_at(longest)[:20].decode(errors="replace")
        raise InputError(
            f"{role} id {start + '...'!r} has {lengths[longest]} bytes; "
            f"{_article(role)} id has at most {MAX_GROUP_KEY_BYTES}"
        )


def has_nul(keys: Keys) -> bool:
    """Return whether some id contains a NUL character."""
    return not keys.data[int(keys.offsets[0]) : int(keys.offsets[-1])].all()


def finite_or_none(number: float | None) -> float | None:
    """Return a number that every engine holds, None for any other."""
    return None if number is None or not math.isfinite(number) else float(number)
