"""A disk of any size: a file system in memory, which only root may mount, where the system lets it."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

ROOMY = 1 << 28


@cache
def can_be_mounted() -> bool:
    """Return whether this account may mount file systems: root may, but not in every container."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return False
    with TemporaryDirectory() as folder:
        mount = ["mount", "-t", "tmpfs", "-o", "size=4096", "tmpfs", folder]
        if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
            return False
        subprocess.run(["umount", folder], check=True)
    return True


class SmallDisk:
    """A tmpfs on a folder, roomy at first; unmounted at the end of the ``with`` statement."""

    def __init__(self, folder: Path, options: str = "mode=0755") -> None:
        self.folder, self._options = folder, options

    def __enter__(self) -> Self:
        self.folder.mkdir()
        self._mount(f"{self._options},size={ROOMY}")
        return self

    def __exit__(self, *error: object) -> None:
        subprocess.run(["umount", "--lazy", str(self.folder)], check=True)
        self.folder.rmdir()

    @property
    def used(self) -> int:
        """How many bytes are taken."""
        state = os.statvfs(self.folder)
        return (state.f_blocks - state.f_bfree) * state.f_frsize

    def leave(self, free: int) -> None:
        """Give the disk so many free bytes, a multiple of 4096 at least as large."""
        self._mount(f"remount,size={self.used + max(free, 4096)}")

    def enlarge(self) -> None:
        """Make it roomy again."""
        self._mount(f"remount,size={ROOMY}")

    def _mount(self, options: str) -> None:
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(self.folder)], check=True)
