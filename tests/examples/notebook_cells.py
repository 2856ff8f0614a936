"""Runs the code cells of a notebook in one process and compares what they show with what the notebook holds.

    python tests/examples/notebook_cells.py examples/notebook.ipynb    # writes what is shown now into the notebook

It does what a kernel would for plain Python: the last expression of a cell is its value, shown as text and, where the
value has `_repr_html_`, as HTML. It needs no kernel and no Jupyter.
"""

import ast
import contextlib
import io
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

_PICTURE = re.compile(r'<img alt=\\"[^<>]*?\\" src=\\"data:image/svg[^<>]*?\\">')
_TIME = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00:00)?")


def outputs_of(notebook: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Return what each code cell shows, as notebooks store it; the cells run in the current folder."""
    names: dict[str, Any] = {"__name__": "__main__"}
    return [_run("".join(cell["source"]), names, number) for number, cell in enumerate(code_cells(notebook), 1)]


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the cells that hold code."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def _run(source: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    body = ast.parse(source, f"<cell {number}>").body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), f"<cell {number}>", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"<cell {number}>", "eval"), names)
    shown: list[dict[str, Any]] = []
    if printed.getvalue():
        shown.append({"name": "stdout", "output_type": "stream", "text": lines_of(printed.getvalue())})
    if value is not None:
        data = {"text/html": lines_of(value._repr_html_())} if hasattr(value, "_repr_html_") else {}
        data["text/plain"] = lines_of(repr(value))
        shown.append({"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"})
    return shown


def lines_of(text: str) -> list[str]:
    """Return a text as notebooks store it: its lines, each with its end."""
    return text.splitlines(keepends=True)


def timeless(outputs: list[list[dict[str, Any]]]) -> list[list[dict[str, Any]]]:
    """Return outputs in which one time of day is as good as another, without pictures, which are drawn anew."""
    found: list[list[dict[str, Any]]] = json.loads(_TIME.sub("TIME", _PICTURE.sub("", json.dumps(outputs))))
    return found


def main(path: Path) -> None:
    """Run a notebook in a folder of its own and store what it shows."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        found = outputs_of(notebook)
    for number, (cell, outputs) in enumerate(zip(code_cells(notebook), found, strict=True), 1):
        cell.update(execution_count=number, outputs=outputs)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    os.environ.pop("NDCG_TRACK_DB", None)
    main(Path(sys.argv[1]).resolve())
