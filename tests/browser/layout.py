"""How a page lies in its window: what scrolls sideways, which texts stand on each other, which are cut off."""

from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Page
from thorough import LONG

LOOKS = [(scheme, width) for scheme in ("light", "dark") for width in (1440, 390)]
"""The colours and the widths that every page is looked at with."""

_FAULTS = Path(__file__).with_suffix(".js")


def looks(page: Page, height: int = 900) -> Iterator[str]:
    """Give a page each colour and width in turn, and yield its name; open the page in each of them.

    All four by night, else each colour and each width once.
    """
    for scheme, width in LOOKS if LONG else (LOOKS[0], LOOKS[-1]):
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        yield f"{scheme}, {width} pixels"


def layout_faults(page: Page) -> list[str]:
    """Return what is wrong with the layout of an open page, a sentence each: none where nothing is.

    The page scrolls sideways, two texts that can be seen stand on each other, or a text of a chart is cut off. What
    floats above the page (``position: fixed``) is left out, and so is a chart on a canvas, which has no texts.
    """
    faults: list[str] = page.evaluate(_FAULTS.read_text(encoding="utf-8"))
    return faults
