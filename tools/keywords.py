"""Write the types of keywords next to the questions whose fields they are, for mypy and editors.

python tools/keywords.py    # after a field of a question changed; a test fails until then
"""

import re
from importlib import import_module
from pathlib import Path

from ndcg_tracker.asked import declared

ROOT = Path(__file__).resolve().parents[1]
_CLASS = re.compile(
    r"(?P<head>class \w+Keywords\((?P<bases>[\w, ]+), total=False\):\n"
    r'    """[^`]*``(?P<question>\w+)``(?: but ``(?P<but>\w+)``)?[^`"]*"""\n)'
    r"(?P<body>(?:\n?    \w+: \w+\n)*)"
)

_QUESTION = re.compile(r"^How people give ``(\w+)``")


def written(path: Path) -> str:
    """Return a module with the fields of the keywords in it as the questions in it say."""
    text = path.read_text(encoding="utf-8")

    def with_fields(found: re.Match[str]) -> str:
        module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"))
        taken = set[str]()
        for base in (getattr(module, name) for name in found["bases"].split(", ")):
            told = _QUESTION.search(base.__doc__ or "")
            of_base = declared(getattr(import_module(base.__module__), told[1])) if told else []
            taken |= {one.name for one in of_base}
        taken |= set(getattr(module, found["but"]) if found["but"] else ())
        fields = [one for one in declared(getattr(module, found["question"])) if one.name not in taken]
        return found["head"] + "\n" + "".join(f"    {one.name}: {one.annotation}\n" for one in fields)

    return _CLASS.sub(with_fields, text)


def modules() -> list[Path]:
    """Return the modules with such types."""
    every = (ROOT / "ndcg_tracker").rglob("*.py")
    return [path for path in sorted(every) if "Keywords(" in path.read_text(encoding="utf-8")]


if __name__ == "__main__":
    for path in modules():
        path.write_text(written(path), encoding="utf-8")
