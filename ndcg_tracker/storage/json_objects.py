"""JSON objects that both engines can hold: parameters, tags and attributes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ndcg_tracker.errors import InputError

_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")  # an escaped NUL, not the text of one behind an escaped backslash


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
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{what} cannot be stored as JSON ({error}); use text, numbers, lists and true or false"
        ) from error
    if _NUL.search(text):
        raise InputError(f"{what} contain a NUL character, which no database keeps; remove it")
    return dict(given)
