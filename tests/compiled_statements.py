"""SQL that one engine has compiled serves every other of its kind, as it does within a program that keeps its tracker.

Each test has a database and so an engine of its own, and compiling took a third of what a test of storage does.
"""

from typing import Any

from sqlalchemy import Connection, Dialect, Engine, event

_PLAIN = (bool, int, str, tuple, type(None))
_MOST = 2000


class _Compiled(dict[tuple[Any, ...], Any]):
    """What is compiled, by everything but the dialect, which all that share it have alike: it comes first in a key."""

    def get(self, key: tuple[Any, ...], default: Any = None) -> Any:
        return super().get(key[1:], default)

    def __setitem__(self, key: tuple[Any, ...], compiled: Any) -> None:
        if len(self) >= _MOST:
            self.clear()
        super().__setitem__(key[1:], compiled)


_kept: dict[object, _Compiled] = {}


@event.listens_for(Engine, "engine_connect")
def _share(connection: Connection) -> None:
    connection.execution_options(compiled_cache=_kept.setdefault(_kind(connection.dialect), _Compiled()))


def _kind(dialect: Dialect) -> object:
    """Return what decides how a dialect writes: its class, and all it was told or has found out about its server."""
    plain = {name: value for name, value in vars(dialect).items() if isinstance(value, _PLAIN)}
    return type(dialect), frozenset(plain.items())
