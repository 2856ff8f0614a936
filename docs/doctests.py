"""Extensions of griffe for the site: examples in docstrings become code, which Markdown takes for quotes, and a method
that a class takes from another module is shown where it is taken.
"""

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"(?:^>>> .*\n?(?:(?!\s*$).*\n?)*)+", re.MULTILINE)


class Doctests(griffe.Extension):
    """Puts each example into a code block."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of an object."""
        if obj.docstring is not None:
            text = obj.docstring.value
            obj.docstring.value = _EXAMPLE.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", text)


class TakenMethods(griffe.Extension):
    """Turns ``diff = of_diff.diff`` in a class into the function that it is."""

    def on_class_members(self, *, cls: griffe.Class, **_: Any) -> None:
        """Change the attributes of a class whose value is a function of the package."""
        for name, member in list(cls.members.items()):
            value = getattr(member, "value", None)
            if member.is_attribute and isinstance(value, griffe.ExprAttribute) and value.canonical_name == name:
                target = griffe.Alias(name, value.canonical_path, lineno=member.lineno, parent=cls)
                cls.set_member(name, target)
