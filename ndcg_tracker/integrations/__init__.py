"""Integrations with other tools; their libraries are imported when needed, with a one-line error if missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ndcg_tracker.errors import InputError


class MissingLibraryError(InputError):
    """A library that an integration needs is not installed."""

    def __init__(self, library: str, extra: str) -> None:
        super().__init__(f"{library} is not installed", advice=f"install it with: pip install 'ndcg-tracker[{extra}]'")


def library(name: str, extra: str = "") -> Any:
    """Return a library's module, imported now.

    Parameters: ``name``: the module, such as ``sklearn.metrics``. ``extra``: the extra of ndcg-tracker that brings it,
    by default of the same name.
    Raises: MissingLibraryError, with the extra to install.

    >>> library("nothing_like_it", "nothing")
    Traceback (most recent call last):
    ndcg_tracker.integrations.MissingLibraryError: nothing_like_it is not installed; install it with: \
pip install 'ndcg-tracker[nothing]'
    """
    top = name.partition(".")[0]
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != top:
            raise
        raise MissingLibraryError(top, extra or top) from None
