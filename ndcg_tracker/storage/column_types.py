"""The types of the columns, as each engine stores them."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import ARRAY, BigInteger, Dialect, Double, Integer, LargeBinary, Text, TypeDecorator
from sqlalchemy.types import TypeEngine

from ndcg_tracker.errors import DatabaseError

JsonObject = dict[str, Any]
_LARGEST_COUNT = 2**53

IDENTIFIER = BigInteger().with_variant(Integer(), "sqlite")
"""An integer id; SQLite uses a column as its row number only if it is declared INTEGER."""
COUNT = IDENTIFIER
"""A count."""
REAL: Double[float] = Double()
"""A double-precision number, never NaN and never infinite."""
TEXT = Text().with_variant(Text(collation="C"), "postgresql")
"""Text that both engines sort by bytes."""
BYTES = LargeBinary()
"""Bytes that only this program reads."""
KEY_LIST = Text().with_variant(ARRAY(Text(collation="C")), "postgresql")
"""The ids of a list: an array on Postgres, JSON text on SQLite."""
NUMBER_LIST = Text().with_variant(ARRAY(Double()), "postgresql")
"""The numbers of a list: an array on Postgres, JSON text on SQLite."""


class JsonText(TypeDecorator[JsonObject]):
    """A JSON object: JSONB on Postgres, its text on SQLite."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Return the type that this engine stores."""
        if dialect.name != "postgresql":
            return dialect.type_descriptor(Text())
        from sqlalchemy.dialects.postgresql import JSONB  # here, because SQLite does not need it

        return dialect.type_descriptor(JSONB(none_as_null=True))

    def process_bind_param(self, value: JsonObject | None, dialect: Dialect) -> Any:
        """Return the value that the driver gets."""
        if value is None or dialect.name == "postgresql":
            return value
        return json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True)

    def process_result_value(self, value: Any, dialect: Dialect) -> JsonObject | None:
        """Return the object from the driver, with sorted keys, and with numbers that are the same on both engines."""
        if value == "{}":  # as most are
            return {}
        try:
            parsed = json.loads(value) if isinstance(value, str) else value
        except (ValueError, RecursionError):
            parsed = value
        if not isinstance(parsed, dict | None):
            raise DatabaseError(
                f"the database holds {str(value)[:20]!r} where a JSON object should be",
                advice="see what is damaged with: ndcg-track db check",
            )
        return None if parsed is None else {key: _number(parsed[key]) for key in sorted(parsed)}


def exact(digits: str) -> float:
    """Return the number that digits of JSON are."""
    number: float = _number(int(digits))
    return number


def _number(value: Any) -> Any:
    """Return a value, with integers beyond the exact range of a double as a double: JSONB writes 1e300 in digits."""
    return float(value) if type(value) is int and abs(value) > _LARGEST_COUNT else value
