"""Imports the whole program and its libraries, and compares two runs: what forks from here need not.

The imports take a second, and what libraries prepare with the first command (compilers, adapters, caches) a third of
the processor time of a small one.
"""

import gc
import io
import tempfile
from contextlib import redirect_stderr, redirect_stdout, suppress
from importlib import import_module
from pathlib import Path

import compiled_statements  # noqa: F401

for _name in (
    *("alembic.command", "alembic.config", "numpy", "pandas", "psycopg", "pyarrow.compute", "pyarrow.csv"),
    *("pyarrow.parquet", "scipy.stats", "sqlalchemy.dialects.postgresql.psycopg", "sqlalchemy.dialects.sqlite"),
    "typer",
):
    import_module(_name)
with suppress(ImportError):  # older ones have none
    import_module("typer._adapters")

from ndcg_tracker.cli import app  # noqa: E402

app.command_line().get_command(None, "")
_PACKAGE = Path(app.__file__).parents[1]
for _module in sorted(_PACKAGE.rglob("*.py")):
    _relative = _module.relative_to(_PACKAGE.parent).with_suffix("")
    if _relative.parts[1] not in ("integrations", "migrations") and _relative.name != "__init__":
        with suppress(ModuleNotFoundError if _relative.parts[1] == "ui" else ()):  # it has an extra of its own
            import_module(".".join(_relative.parts))
from ndcg_tracker.api.tracker import Tracker  # noqa: E402
from ndcg_tracker.cli.app import run  # noqa: E402

with tempfile.TemporaryDirectory() as _folder, redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
    _url = f"sqlite:///{_folder}/first.db"
    with Tracker(_url) as _tracker:
        for _score, _run in enumerate(("old", "new")):
            _rows = {"group": ["q", "q"], "item": ["a", "b"], "score": [_score, 0.5], "label": [0, 1]}
            _tracker.ingest(_rows, name=_run, metrics="ndcg@10")
    for _command in (
        *("compare old new", "runs list", "history", "gate new --baseline old --margin 0.1 --dry-run"),
        *("leaderboard --metric ndcg@10", "explain old new --group q"),
    ):
        assert run(["--db", _url, *_command.split()]) in (0, 3, 4), _command
gc.collect()
gc.freeze()  # else each process that looks for garbage copies the pages of all that was imported
