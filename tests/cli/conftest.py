"""Commands work in a folder of their own."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def in_a_folder(folder: Path) -> None:
    """Each test has an empty folder to work in."""
