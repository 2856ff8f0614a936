"""Formats and measures of installed packages: entry points, looked for only when a name is not one of ours."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from ndcg_tracker.errors import InputError

READERS, MEASURES = "ndcg_tracker.readers", "ndcg_tracker.measures"
_FORMATS = "ndcg_tracker.ingest.formats"
OURS = (
    EntryPoint("trec_eval", f"{_FORMATS}.trec_eval_output:TrecEvalOutput", READERS),
    EntryPoint("yaml", f"{_FORMATS}.yaml_documents:Yaml", READERS),
)
"""Those of pyproject.toml, so that they are there without an installation too."""


@cache
def installed(kind: str) -> dict[str, EntryPoint]:
    """Return the entry points of a kind by name (InputError for a name that two packages have)."""
    found = {one.name: one for one in OURS if one.group == kind}
    for one in entry_points(group=kind):
        if found.setdefault(one.name, one).value != one.value:
            what = f"{one.value} and {found[one.name].value} are both called {one.name!r} ({kind})"
            raise InputError(what, advice="uninstall one of the two packages")
    return found


@cache
def loaded(kind: str, name: str) -> Any:
    """Return the object of an entry point, made by calling what it names (InputError if that fails)."""
    point = installed(kind)[name]
    try:
        return point.load()()
    except Exception as error:  # any code of another package
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        what = f"{name!r}, an entry point of {kind}, cannot be loaded ({reason})"
        raise InputError(what, advice=f"correct {point.value}, or uninstall its package") from None
