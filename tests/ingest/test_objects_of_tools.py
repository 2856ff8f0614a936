"""The real objects of other libraries, each library in an environment of its own, which pip makes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from objects_of_tools import PACKAGES

HERE = Path(__file__).resolve().parent


@pytest.mark.nightly  # test_objects.py has classes of the same shape; with torch and TensorFlow these weigh gigabytes
@pytest.mark.parametrize("tool", PACKAGES)
def test_what_tools_return_goes_in_as_it_is(tool: str) -> None:
    with TemporaryDirectory() as folder:  # on a disk: the folder of a test may be in memory
        python = Path(folder, "env", "bin", "python")
        subprocess.run([sys.executable, "-m", "venv", Path(folder, "env")], check=True)
        install = [python, "-m", "pip", "install", "--quiet", "--no-compile"]
        subprocess.run([*install, "pytest", *PACKAGES[tool], "-e", HERE.parents[1]], check=True)
        subprocess.run([python, HERE / "objects_of_tools.py", tool], check=True, cwd=folder)
