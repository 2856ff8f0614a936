"""JSON that any reader reads back unchanged and any terminal can show safely."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from functools import partial
from uuid import UUID

from ndcg_tracker.render.terminal import LOG_COMMAND
from ndcg_tracker.words.texts import distinct

# json escapes C0 only; these reach a terminal as commands, or do not encode as UTF-8, and occur inside strings alone
_UNSAFE = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]")
_OTHER = re.compile(r"[^0-9A-Za-z]+")


def json_text(value: object, *, indent: int | None = 2, separators: tuple[str, str] | None = None) -> str:
    """Return a value as JSON, with a line end: full double precision, null for what is undefined, never NaN.

    ``separators``: between items and behind keys, if not the usual ones.

    >>> json_text({"delta": float("nan"), "run": "dénse"}, indent=None)
    '{"delta": null, "run": "dénse"}\\n'
    """
    dumped = partial(json.dumps, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators)
    try:
        text = dumped(value)
    except (TypeError, ValueError):  # types that JSON does not have, and NaN
        text = dumped(_plain(value))
    return _escaped(text) + "\n"


def json_rows(names: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return rows as a JSON list of objects, one row per line.

    >>> json_rows(["run", "mean"], [["bm25", 0.5], ["dense", None]])
    '[\\n{"run": "bm25", "mean": 0.5},\\n{"run": "dense", "mean": null}\\n]\\n'
    """
    if not rows:
        return "[]\n"
    objects = (json_text(dict(zip(names, row, strict=True)), indent=None).rstrip("\n") for row in rows)
    return "[\n" + ",\n".join(objects) + "\n]\n"


def _plain(value: object) -> object:
    """Return a value in the types of JSON."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float | Decimal):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, Sequence):
        return [_plain(item) for item in value]
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"no JSON form for {type(value).__name__}")


def _escaped(text: str) -> str:
    """Return JSON text in which characters that a terminal or a build's log would obey become ``\\uXXXX``."""
    text = _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return re.sub(LOG_COMMAND, r"\\u0023", text) if "##" in text else text


def metrics_json(means: Sequence[tuple[str, float | None]]) -> str:
    """Return a run's metrics and their means as one flat JSON object, as ``dvc metrics diff`` and its like read them.

    A metric with a long canonical text gets the name that the tool uses which computes it that way.

    Parameters: ``means``: canonical text and mean of each metric; one without a mean is left out.

    >>> print(metrics_json([("ndcg@10", 0.65), ("AP", None), ("ndcg(gain=exp2)@5", 0.5)]), end="")
    {
      "ndcg_at_10": 0.65,
      "ndcg_gain_exp2_at_5": 0.5
    }
    """
    from ndcg_tracker.metrics.language.dialects import familiar_name  # slow to import, and tables do not need it

    defined = {text: mean for text, mean in means if mean is not None}
    names = distinct(metric_key(familiar_name(text)) for text in defined)
    return json_text(dict(zip(names, defined.values(), strict=True)))


def metric_key(text: str) -> str:
    """Return a metric's text in letters, digits and underscores.

    >>> metric_key("ndcg@10"), metric_key("ERR(max_grade=3)@20")
    ('ndcg_at_10', 'ERR_max_grade_3_at_20')
    """
    return _OTHER.sub("_", text.replace("@", "_at_")).strip("_")
