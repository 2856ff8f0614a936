"""The script of the documentation: a console block is copied without prompts and without what was printed."""

from pathlib import Path

import pytest
from web_reader import Reader

SCRIPT = Path(__file__).parents[2] / "docs" / "assets" / "site.js"
PROMPT = '<span class="gp">$ </span>'


@pytest.mark.parametrize(
    ("code", "commands"),
    [
        (f'{PROMPT}ndcg-track<span class="w"> </span>demo\n<span class="go">run  mean</span>\n', "ndcg-track demo"),
        (
            f'{PROMPT}a\n<span class="go">x</span>\n<span class="go">y</span>\n{PROMPT}b <span class="s">"c"</span>\n',
            'a\nb "c"',
        ),
        (f"{PROMPT}a\n{PROMPT}b", "a\nb"),
        ('<span class="go">only</span>\n', ""),
    ],
)
def test_what_is_copied(reader: Reader, code: str, commands: str) -> None:
    reader.page.set_content(f"<pre><code>{code}</code></pre><script>{SCRIPT.read_text(encoding='utf-8')}</script>")
    assert reader.page.evaluate("commandsOf(document.querySelector('code'))") == commands
