"""The step summary of GitHub Actions: a file, given by a variable, to which Markdown is appended."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ndcg_tracker.render.whole_file import told_of_place

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"


def summary_path() -> str | None:
    """Return the path of the summary of this job; None outside GitHub Actions."""
    return os.environ.get(SUMMARY_VARIABLE) or None


def artifact_link(path: str) -> str:
    """Return where a file of this job is found: among the artifacts of the workflow's run, else where it was written.

    In GitHub Actions the workflow uploads it (``actions/upload-artifact``), and the page of its run lists it.
    """
    names = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")
    server, repository, run_id = (os.environ.get(name, "") for name in names)
    if not (server and repository and run_id):
        return path
    return f"{server}/{repository}/actions/runs/{run_id}#artifacts"


@contextmanager
def appended_summary(path: str, asked_by: str = SUMMARY_VARIABLE) -> Iterator[Callable[[str], None]]:
    """Yield a function that takes Markdown for the summary; all of it is appended at once if the block succeeds.

    A path that cannot be written to is refused at the beginning, before anything is done. The appended text begins on
    a new line.

    Parameters: ``path``: of the summary. ``asked_by``: the option or variable that requested it, for the message.
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
