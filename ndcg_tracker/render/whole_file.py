"""Output files, written completely or not at all; for CI, a JUnit report and the job's summary."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from ndcg_tracker.errors import InputError, full_disk
from ndcg_tracker.render.terminal import visible

_UNFINISHED = ".ndcg-track-"


@contextmanager
def whole_file(path: str | None, option: str) -> Iterator[Callable[[str | bytes], None]]:
    """Yield a function that takes the content of a file; the file is written only if the block succeeds.

    A place that cannot be written to is refused at the beginning, before anything is done. Anything but a regular file,
    such as /dev/null or a pipe, is written to directly.

    Parameters: ``path``: of the file; None for no file: the content goes nowhere. ``option``: the option that names it,
    for the message. Raises: InputError.
    """
    content: list[bytes] = []

    def add(more: str | bytes) -> None:
        content.append(more.encode("utf-8") if isinstance(more, str) else more)

    if path is None:
        yield add
        return
    target = Path(path).resolve()
    if target.exists() and not target.is_file() and not target.is_dir():
        yield add
        with told_of_place(path, option):
            target.write_bytes(b"".join(content))
        return
    beside = target.with_name(f"{_UNFINISHED}{secrets.token_hex(8)}")
    with told_of_place(path, option):
        if target.is_dir():
            raise IsADirectoryError
        _remove_leftovers(target.parent)
        beside.touch(exist_ok=False)
    try:
        yield add
        with told_of_place(path, option, sum(map(len, content))):
            beside.write_bytes(b"".join(content))
            if target.exists():
                shutil.copymode(target, beside)
            beside.replace(target)
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def _remove_leftovers(folder: Path) -> None:
    """Remove files that processes left unfinished more than a day ago when they were killed.

    One that a process still needs is written anew, as the content is written at the end, at once.
    """
    for left in folder.glob(_UNFINISHED + "[0-9a-f]" * 16):
        with suppress(OSError):
            if left.lstat().st_mtime < time.time() - 24 * 60 * 60:
                left.unlink()


@contextmanager
def told_of_place(path: str, asked_by: str = "", n_bytes: int = 0) -> Iterator[None]:
    """Turn an error of the operating system in the block into an InputError that names the path and its option.

    ``n_bytes``: how much is written, if it is known.
    """
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise full_disk(path, n_bytes) from error
        why, advice = os.strerror(error.errno) if error.errno else str(error), "give another path"
        if isinstance(error, IsADirectoryError):
            why = "it is a folder"
        elif isinstance(error, FileNotFoundError):
            why, advice = "its folder does not exist", "create the folder, or give another path"
        raise InputError(f"cannot write {path!r}: {why}", where=asked_by, advice=advice) from error


SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"
"""The variable that names the file to which a step of GitHub Actions appends its Markdown."""


@dataclass(frozen=True, slots=True)
class JunitCase:
    """The one test case of a JUnit report.

    ``verdict`` and ``message``: what a failure says. ``text``: its output. ``properties``: names and values.
    """

    classname: str
    name: str
    verdict: str
    message: str
    text: str
    properties: Sequence[tuple[str, str]]


def junit_document(title: str, case: JunitCase, *, has_failed: bool) -> str:
    """Return a JUnit report of one test case; characters that XML does not allow become escapes."""
    counts = {
        "tests": "1",
        "failures": str(int(has_failed)),
        "errors": "0",
        "skipped": "0",
        "time": "0",
    }
    root = ElementTree.Element("testsuites", {"name": title, **counts})
    suite = ElementTree.SubElement(root, "testsuite", {"name": title, **counts})
    listed = ElementTree.SubElement(suite, "properties")
    for name, value in case.properties:
        ElementTree.SubElement(listed, "property", {"name": name, "value": visible(value)})
    names = {"classname": visible(case.classname), "name": visible(case.name)}
    told = ElementTree.SubElement(suite, "testcase", {**names, "time": "0"})
    if has_failed:
        failure = ElementTree.SubElement(told, "failure", {"type": case.verdict, "message": visible(case.message)})
        failure.text = case.text
    ElementTree.SubElement(told, "system-out").text = case.text
    ElementTree.indent(root)
    return "<?xml version='1.0' encoding='utf-8'?>\n" + ElementTree.tostring(root, encoding="unicode") + "\n"


def summary_path() -> str | None:
    """Return the path of the summary of this job; None outside GitHub Actions."""
    return os.environ.get(SUMMARY_VARIABLE) or None


def artifact_link(path: str) -> str:
    """Return where to find a file of this job: among the artifacts of the workflow run, else at its path.

    In GitHub Actions the workflow uploads it (``actions/upload-artifact``), and the page of its run lists it.
    """
    names = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")
    server, repository, run_id = (os.environ.get(name, "") for name in names)
    if not (server and repository and run_id):
        return path
    return f"{server}/{repository}/actions/runs/{run_id}#artifacts"


@contextmanager
def appended_summary(path: str) -> Iterator[Callable[[str], None]]:
    """Yield a function that takes Markdown for the summary; all of it is appended at once if the block succeeds.

    A path that cannot be written to is refused at the beginning, before anything is done. The appended text begins on
    a new line.

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
    with told_of_place(path, SUMMARY_VARIABLE):
        size = target.stat().st_size if target.exists() else 0
        ends_line = not size or target.read_bytes().endswith(b"\n")
        target.open("ab").close()
    yield content.append
    with told_of_place(path, SUMMARY_VARIABLE):
        try:
            with target.open("ab") as file:
                file.write((b"" if ends_line else b"\n") + "".join(content).encode())
        except OSError:
            with suppress(OSError):
                os.truncate(target, size)
            raise
