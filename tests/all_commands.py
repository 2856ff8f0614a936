"""The command line with every command imported."""

from functools import cache
from typing import Any

from ndcg_tracker.cli.app import command_line


@cache
def all_commands() -> Any:
    """Return the command line; its ``commands`` are all there."""
    found = command_line()
    for name in found.list_commands(None):
        found.get_command(None, name)
    return found
