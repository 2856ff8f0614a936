"""Imports the whole program and its libraries, which takes a second: what forks from here need not."""

import gc
from contextlib import suppress
from importlib import import_module
from pathlib import Path

for _name in (
    *("alembic.command", "alembic.config", "numpy", "pandas", "psycopg", "pyarrow.compute", "pyarrow.csv"),
    *("pyarrow.parquet", "scipy.stats", "sqlalchemy.dialects.postgresql.psycopg", "sqlalchemy.dialects.sqlite"),
    "typer",
):
    import_module(_name)
with suppress(ImportError):  # older ones have none
    import_module("typer._adapters")
from ndcg_tracker.cli import commands  # noqa: E402

commands.command_line().get_command(None, "")
_PACKAGE = Path(commands.__file__).parents[1]
for _module in sorted(_PACKAGE.rglob("*.py")):
    _relative = _module.relative_to(_PACKAGE.parent).with_suffix("")
    if _relative.parts[1] not in ("integrations", "migrations") and _relative.name != "__init__":
        import_module(".".join(_relative.parts))
gc.collect()
gc.freeze()  # else each process that looks for garbage copies the pages of all that was imported
