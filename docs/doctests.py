"""Extensions of griffe for the site: examples in docstrings become code, which Markdown takes for quotes, and a method
that a class takes from another module is shown where it is taken.
"""

import doctest
import re
import subprocess
import sys
from typing import Any

import griffe

_EXAMPLE = re.compile(r"(?:^>>> .*\n?(?:(?!\s*$).*\n?)*)+", re.MULTILINE)


_WIDTH = 80  # letters that a box of code shows beside the prompt


def _wrapped(example: str) -> str:
    """Return an example whose long statements are several lines, as ruff wraps them; unchanged without ruff."""
    lines = []
    for part in doctest.DocTestParser().get_examples(example):
        source = part.source
        if max(map(len, source.splitlines())) > _WIDTH:
            ruff = [sys.executable, "-m", "ruff", "format", "--isolated", f"--line-length={_WIDTH}", "-"]
            done = subprocess.run(ruff, input=source, capture_output=True, text=True, check=False)
            source = done.stdout if done.returncode == 0 else source
        first, *others = source.splitlines()
        lines += [f">>> {first}", *(f"... {other}".rstrip() for other in others), *part.want.splitlines()]
    return "\n".join(lines)


class Doctests(griffe.Extension):
    """Puts each example into a code block."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of an object."""
        if obj.docstring is not None:
            text = obj.docstring.value
            obj.docstring.value = _EXAMPLE.sub(lambda found: f"```pycon\n{_wrapped(found[0])}\n```\n", text)


class TakenMethods(griffe.Extension):
    """Turns ``diff = of_diff.diff`` in a class into the function that it is."""

    def on_class_members(self, *, cls: griffe.Class, **_: Any) -> None:
        """Change the attributes of a class whose value is a function of the package."""
        for name, member in list(cls.members.items()):
            value = getattr(member, "value", None)
            if member.is_attribute and isinstance(value, griffe.ExprAttribute) and value.canonical_name == name:
                target = griffe.Alias(name, value.canonical_path, lineno=member.lineno, parent=cls)
                cls.set_member(name, target)
