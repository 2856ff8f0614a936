import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest
from console_blocks import REPOSITORY


@pytest.fixture(scope="module")
def pages() -> Callable[[], dict[Path, str]]:
    spec = importlib.util.spec_from_file_location("docs_generate", REPOSITORY / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Callable[[], dict[Path, str]] = module.pages
    return found


@pytest.mark.parametrize("name", ["schema.md", "metrics.md"])
def test_the_generated_page_is_up_to_date(pages: Callable[[], dict[Path, str]], name: str) -> None:
    path = REPOSITORY / "docs" / name
    assert path.read_text(encoding="utf-8") == pages()[path], "run python docs/generate.py"
