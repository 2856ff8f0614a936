"""No module imports itself through others, not even inside functions or for type checking."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "ndcg_tracker"


def imports_within(package: Path, root: Path) -> dict[str, set[str]]:
    """Per module of a package the modules of the package that it imports anywhere in its text."""
    modules = {
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path
        for path in package.rglob("*.py")
    }
    found: dict[str, set[str]] = {name: set() for name in modules}
    for name, path in modules.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            if isinstance(node, ast.ImportFrom):
                whole = [f"{node.module}.{one}" for one in named]
                named = [one if one in modules else str(node.module) for one in whole]
            found[name] |= {one for one in named if one in modules and one != name}
    return found


def test_the_package_has_no_circle_of_imports() -> None:
    order = [*TopologicalSorter(imports_within(PACKAGE, ROOT)).static_order()]
    assert len(order) > 100


def test_a_circle_is_found(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "one.py").write_text("from shop import two\n")
    (tmp_path / "shop" / "two.py").write_text("def f():\n    from shop.one import two\n")
    with pytest.raises(CycleError):
        TopologicalSorter(imports_within(tmp_path / "shop", tmp_path)).prepare()
