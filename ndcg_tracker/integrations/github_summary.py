"""The summary of a job on GitHub Actions: a file, named by a variable, that Markdown is appended to."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ndcg_tracker.reporting.whole_file import told_of_place

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"


def summary_path() -> str | None:
    """Return where the summary of this job lies; None outside of GitHub's jobs."""
    return os.environ.get(SUMMARY_VARIABLE) or None


@contextmanager
def appended_summary(path: str, asked_by: str = SUMMARY_VARIABLE) -> Iterator[Callable[[str], None]]:
    """Yield what takes Markdown to append to a summary; it is appended in one piece where the block ends well.

    A place that cannot be written to is refused at the beginning, before anything is done. What is appended begins on
    a line of its own.

    Parameters: ``path``: of the summary. ``asked_by``: the option or variable that asked for it, for the message.
    Raises: InputError.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     summary = Path(folder, "summary.md")
    ...     _ = summary.write_text("# Job", encoding="utf-8")
    ...     with appended_summary(str(summary)) as append:
    ...         append("### PASS\\n")
    ...     summary.read_text(encoding="utf-8")
    '# Job\\n### PASS\\n'
    """
    content: list[str] = []
    target = Path(path)
    with told_of_place(path, asked_by):
        size = target.stat().st_size if target.exists() else 0
        ends_line = not size or target.read_bytes().endswith(b"\n")
        target.open("ab").close()
    yield content.append
    with told_of_place(path, asked_by):
        try:
            with target.open("ab") as file:
                file.write((b"" if ends_line else b"\n") + "".join(content).encode())
        except OSError:
            with suppress(OSError):
                os.truncate(target, size)
            raise
