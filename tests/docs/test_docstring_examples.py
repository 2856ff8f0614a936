"""Every example in a docstring of the package runs and prints what it shows."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import ndcg_tracker


def has_examples(module: pkgutil.ModuleInfo) -> bool:
    """Return whether a module has examples: to look through one for its docstrings takes longer than most examples."""
    found = module.module_finder.find_spec(module.name, None)
    return ">>> " in Path(found.origin).read_text(encoding="utf-8")


MODULES = sorted(
    module.name for module in pkgutil.walk_packages(ndcg_tracker.__path__, "ndcg_tracker.") if has_examples(module)
)


@pytest.mark.parametrize("name", ["ndcg_tracker", *MODULES])
def test_the_examples_of(name: str) -> None:
    failed = doctest.testmod(importlib.import_module(name)).failed
    assert failed == 0


def test_there_are_examples_to_run() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    examples = [found for name in MODULES for found in finder.find(importlib.import_module(name)) if found.examples]
    assert len(examples) > 50
