"""What an installation weighs and takes: `python benchmarks/install.py WHEEL` (the second round has warm caches).

Each round makes new environments next to each other: pip as it is, pip without compiled bytecode, and uv.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Sequence
from pathlib import Path

ROUNDS = 2
LARGEST = 6


def megabytes(folder: Path) -> float:
    """Return what the files of a folder hold, in MB (10^6 bytes)."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink()) / 1e6


def seconds(command: Sequence[str | os.PathLike[str]], folder: Path) -> float:
    """Return how long a command takes that must succeed."""
    started = time.perf_counter()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    return time.perf_counter() - started


def main(wheel: str) -> None:
    """Install, start, and weigh."""
    path = Path(wheel).resolve()
    for number in range(1, ROUNDS + 1):
        for name in ("pip", "pip --no-compile", "uv"):
            with tempfile.TemporaryDirectory() as folder:
                environment = Path(folder, "venv")
                venv.create(environment, with_pip=True)
                python = environment / "bin" / "python"
                before = megabytes(environment)
                if name == "uv":
                    took = seconds(
                        [sys.executable, "-m", "uv", "pip", "install", "--python", python, path], Path(folder)
                    )
                else:
                    flags = name.split()[1:]
                    took = seconds([python, "-m", "pip", "install", *flags, path], Path(folder))
                demo = [seconds([environment / "bin" / "ndcg-track", "demo"], Path(folder)) for _ in range(2)]
                weighs = megabytes(environment) - before
                starts = f"first demo {demo[0]:.1f} s  second {demo[1]:.1f} s"
                print(f"round {number}  {name:16}  install {took:5.1f} s  {starts}  {weighs:.0f} MB")
                if number == ROUNDS:
                    (packages,) = environment.glob("lib/python*/site-packages")
                    heavy = sorted(
                        ((megabytes(one), one.name) for one in packages.iterdir() if one.is_dir()), reverse=True
                    )
                    print("  " + ", ".join(f"{one} {size:.0f}" for size, one in heavy[:LARGEST]))


if __name__ == "__main__":
    main(*sys.argv[1:])
