"""Measure the size of the program: ``python tools/code_lines.py [FOLDER]`` counts modules and lines of code.

A line of code has a token that is not a comment and belongs neither to a docstring nor to an import. Python's tokenizer
and parser decide this, so layout matters only for how many lines a statement takes.
"""

from __future__ import annotations

import ast
import sys
import tokenize
from io import StringIO
from pathlib import Path

_NO_CODE = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


def code_lines(source: str) -> int:
    """Return how many lines of a module are code.

    >>> code_lines('\\"\\"\\"A module.\\"\\"\\"\\n\\nimport os\\n\\n# why\\nx = (1,\\n     2)\\n')
    2
    """
    lines = {
        line
        for token in tokenize.generate_tokens(StringIO(source).readline)
        if token.type not in _NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }
    for node in ast.walk(ast.parse(source)):
        is_text = (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        )
        if isinstance(node, ast.Import | ast.ImportFrom) or is_text:
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def main(folder: Path) -> None:
    """Print how many modules there are below a folder, their lines and their lines of code, and the longest files."""
    sources = {path: path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.py"))}
    lengths = {path: source.count("\n") for path, source in sources.items()}
    n_code = sum(map(code_lines, sources.values()))
    print(f"{len(sources)} modules, {sum(lengths.values()):,} lines, {n_code:,} of code")
    for path in sorted(lengths, key=lambda path: -lengths[path])[:10]:
        print(f"{lengths[path]:6,} {path.relative_to(folder)}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "ndcg_tracker"))
