"""The summary of a job: appended to in one piece, refused before anything is done, as it was where something fails."""

import contextlib
from pathlib import Path

import pytest

from ndcg_tracker.errors import InputError
from ndcg_tracker.render.whole_file import appended_summary, summary_path


def test_the_variable_says_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "job.md")
    assert summary_path() == "job.md"
    for nowhere in ("", None):
        monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
        if nowhere is not None:
            monkeypatch.setenv("GITHUB_STEP_SUMMARY", nowhere)
        assert summary_path() is None


@pytest.mark.parametrize(
    ("before", "after"), [("", "### A\n"), ("# Job", "# Job\n### A\n"), ("# Job\n", "# Job\n### A\n")]
)
def test_what_is_appended_begins_on_a_line_of_its_own(tmp_path: Path, before: str, after: str) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text(before, encoding="utf-8")
    with appended_summary(str(summary)) as append:
        append("### A\n")
        assert summary.read_text(encoding="utf-8") == before
    assert summary.read_text(encoding="utf-8") == after


def test_nothing_is_appended_where_the_block_fails(tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("# Job", encoding="utf-8")
    with contextlib.suppress(RuntimeError), appended_summary(str(summary)) as append:
        append("### A\n")
        raise RuntimeError
    assert summary.read_text(encoding="utf-8") == "# Job"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (
            "no/such.md",
            "GITHUB_STEP_SUMMARY: cannot write 'no/such.md': its folder does not exist; "
            "create the folder, or give another path",
        ),
        (".", "GITHUB_STEP_SUMMARY: cannot write '.': it is a folder; give another path"),
    ],
)
def test_a_place_that_cannot_be_written_to_is_refused_at_once(
    path: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    entered = False
    with pytest.raises(InputError) as caught, appended_summary(path):
        entered = True
    assert (str(caught.value), entered) == (message, False)
    assert list(tmp_path.iterdir()) == []
