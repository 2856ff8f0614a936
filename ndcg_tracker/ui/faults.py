"""The page of an error, with the names that the pages use, a link back, and all choices."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ndcg_tracker.errors import NdcgTrackerError
from ndcg_tracker.ui.here import Here
from ndcg_tracker.ui.rendering import MISSING, Question, rendered

if TYPE_CHECKING:
    from ndcg_tracker.storage.store import ReadTransaction

TITLES = {
    400: "This cannot be shown",
    404: "Not found",
    500: "Something went wrong",
    503: "The database cannot be read",
}
_LABELS = {"missing": "groups", "metrics": "metric", "labels": "labels"}
_COMMAND = re.compile(r"(?:(?<=: )|(?<=with ))ndcg-track .*?(?=; |$)")
_CHOICES = ("/compare", "/leaderboard")
"""The pages with a choice of how to treat groups that a run lacks."""


def in_browser(name: str, value: str) -> str:
    """Return an argument in the words of the pages: the choice with this name.

    >>> in_browser("missing", "intersect"), in_browser("judge", "")
    ('“groups: without those that only some runs have”', '“judge”')
    """
    label = _LABELS.get(name, name.replace("_", " "))
    if not value:
        return f"“{label}”"
    return f"“{label}: {MISSING.get(value, value) if name == 'missing' else value}”"


def advice_and_commands(advice: str) -> tuple[str, list[str]]:
    """Return the advice, and the terminal commands in it.

    >>> advice_and_commands("add some with: ndcg-track labels add FILE; or choose others")
    ('add some with a command; or choose others', ['ndcg-track labels add FILE'])
    >>> advice_and_commands("list all with: ndcg-track runs list")
    ('list all with:', ['ndcg-track runs list'])
    """
    commands = [match[0].strip() for match in _COMMAND.finditer(advice)]
    if len(commands) == 1 and advice.endswith(commands[0]):
        return f"{advice.removesuffix(commands[0]).rstrip(' :')}:", commands
    words = re.sub(r"\s*:\s*(?=a command(?:;|$))", " ", _COMMAND.sub("a command", advice))
    return words, commands


def fault_page(tx: ReadTransaction | None, ask: Question, path: str, status: int, error: NdcgTrackerError) -> str:
    """Return the page of an error; ``tx``: None if the database cannot be read."""
    here = None if tx is None else Here.around(tx, ask)
    where, what, advice = error.parts(in_browser)
    words, commands = advice_and_commands(advice)
    values = {} if here is None else here.values(path)
    back = None
    if here is not None and path != "/runs":
        back = ask.without("page", "metric", "group").link("/runs", dataset=here.dataset.name)
    return rendered(
        "error.html",
        title=TITLES.get(status, str(status)),
        what=f"{where}: {what}" if where else what,
        advice=words,
        commands=commands,
        back=back,
        path=path,
        asked=ask.without("metric", "missing", "format").parameters,
        missing=ask.text("missing") or "error",
        choices_of_missing=MISSING if path.startswith(_CHOICES) else {},
        **{**values, "data_links": ()},
    )
