"""Row 14, quickly: every id through every format, a few of them as names."""

from pathlib import Path

import pytest
from postgres_server import PostgresServer

from .hostile_ids import outcomes
from .hostile_texts import HOSTILE_TEXTS
from .report import Setting
from .safe_outputs import (
    csv_faults,
    html_faults,
    json_faults,
    junit_faults,
    latex_faults,
    markdown_faults,
    text_faults,
)


@pytest.mark.nightly
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_hostile_ids_do_no_harm(tmp_path: Path, postgres_server: PostgresServer, engine: str) -> None:
    found = list(outcomes(Setting("quick", tmp_path, postgres_server, (engine,))))
    assert [(one.what, one.figure) for one in found if not one.met] == []
    assert len(found) == 1


def test_there_are_enough_of_them() -> None:
    assert len(HOSTILE_TEXTS) == len(set(HOSTILE_TEXTS)) >= 200


def test_faults_are_told() -> None:
    assert list(text_faults("a\x1b[2J"))
    assert list(text_faults("\u202ea"))
    assert list(text_faults("run\n  ::error::a"))
    assert list(text_faults("a ##[error]b"))
    assert list(text_faults("##vso[task.complete]"))
    assert not list(text_faults("a ::error::b\n#[a] ## [b]"))
    assert list(latex_faults(r"\write18{a}"))
    assert not list(latex_faults(r"\textbf{a} \_ b \\"))
    assert list(csv_faults("run,mean\r\n=1+1,2\r\n"))
    assert list(csv_faults("run,mean\r\na,2,3\r\n"))
    assert list(markdown_faults("| a |\n| --- |\n| <b>x</b> |\n"))
    assert list(markdown_faults("[a](http://x)"))
    assert list(markdown_faults("`a`"))
    assert list(html_faults("<div><p onclick='x'>a</p></div>"))
    assert list(html_faults("<div><script>a</script></div>"))
    assert list(html_faults("<div><p>a</div>"))
    assert list(json_faults('{"a": "\x9b"}'))
    assert list(json_faults("{"))
    assert list(junit_faults("<testsuite><b/></testsuite>"))
    assert list(junit_faults("<testsuite>"))
