"""The script that looks at the layout of pages finds what is wrong, and nothing else."""

import pytest
from layout import layout_faults
from playwright.sync_api import Browser

FINE = """<p>two lines of text<br>and <b>one</b> more</p>
<div style="overflow: auto; width: 100px"><p style="width: 300px">a wide line that scrolls in its own place</p></div>
<details><summary>folded</summary><p style="margin-top: -30px">hidden</p></details>
<p style="position: fixed; top: 0">floats above</p>
<svg width="300" height="60"><text x="10" y="20">one</text><text x="10" y="40">two</text><text x="10" y="20">╱╱╱</text>
<text transform="rotate(-45 100 50)" x="100" y="50">turned</text>
<text transform="rotate(-45 120 50)" x="120" y="50">turn</text>
</svg>"""


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (FINE, []),
        ('<p style="width: 700px">wide</p>', ["scrolls sideways: 708 of 600 pixels"]),
        ('<p>over</p><p style="margin-top: -32px">under</p>', ["stand on each other: over | under"]),
        (
            '<svg width="200" height="50"><text x="10" y="20">left</text><text x="20" y="22">right</text></svg>',
            ["stand on each other: left | right"],
        ),
        (
            '<div style="overflow: hidden; width: 200px"><svg width="200" height="50">'
            '<text x="190" y="20">too far</text></svg></div>',
            ["is cut off: too far"],
        ),
    ],
    ids=["fine", "wide", "text", "chart", "cut"],
)
@pytest.mark.nightly(but=2)
def test_what_is_wrong_is_found(browser: Browser, page: str, expected: list[str]) -> None:
    with browser.new_page(viewport={"width": 600, "height": 400}) as shown:
        shown.set_content(page)
        assert layout_faults(shown) == expected
