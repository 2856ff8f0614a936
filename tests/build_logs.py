"""What the runners of builds take for a command in a log, told by their own rules."""

from __future__ import annotations

import re
from collections.abc import Iterator

_ANYWHERE = re.compile(r"##\w*\[")
_LINES = re.compile("[\n\r]")


def commands_in(printed: str) -> Iterator[str]:
    """Yield the lines that a runner would obey, whatever the command is called.

    GitHub's (actions/runner, ActionCommand.cs) takes blanks of any kind from the start of a line, then looks for
    ``::`` there; its older form ``##[`` stands anywhere in a line, as do ``##vso[`` of Azure Pipelines and
    ``##teamcity[``.
    """
    for line in _LINES.split(printed):
        if line.lstrip().startswith("::") or _ANYWHERE.search(line):
            yield line
