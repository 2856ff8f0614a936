"""Charts as pictures: each format is that format, of the width that was asked for; wrong input is told."""

import sys
from pathlib import Path

import altair
import pytest

from ndcg_tracker.compare.chart import Bar, forest
from ndcg_tracker.errors import InputError
from ndcg_tracker.render.chart import Chart, drawing, pixels_of
from ndcg_tracker.render.html import COLORS

BARS = [Bar("ndcg@10", None, 0.1, (0.05, 0.15), "improved", 0.01, 9), Bar("AP", None, -0.1, None, None, None, 9)]
CHART = Chart(forest(BARS, "Changes of both"))
LONG = Chart(forest(BARS, "a long title of a chart " * 9, metric="a long name of a metric " * 4))


def test_each_format(tmp_path: Path) -> None:
    for ending, beginning in (
        (".svg", b"<svg"),
        (".png", b"\x89PNG"),
        (".pdf", b"%PDF"),
        (".html", b"<!doctype html>"),
    ):
        CHART.save(tmp_path / f"x{ending}")
        assert (tmp_path / f"x{ending}").read_bytes().startswith(beginning)
    assert b"DejaVu" in (tmp_path / "x.pdf").read_bytes()  # the font is inside
    assert "ndcg@10</text>" in (tmp_path / "x.svg").read_text("utf-8")  # text stays text


def test_themes(tmp_path: Path) -> None:
    assert COLORS["light"]["card"] in CHART.svg()
    assert COLORS["dark"]["card"] in CHART.svg(theme="dark")


@pytest.mark.parametrize("chart", [CHART, LONG])
@pytest.mark.parametrize(("width", "pixels"), [("84mm", 317.48), (900, 900.0), ("3.3in", 316.8)])
def test_the_whole_picture_has_the_width(chart: Chart, width: str | float, pixels: float) -> None:
    found = chart.svg(width=width).split('width="')[1].split('"')[0]
    assert float(found) == pytest.approx(pixels, abs=0.01)


def test_a_pdf_has_its_width_in_points(tmp_path: Path) -> None:
    CHART.save(tmp_path / "x.pdf", width="84mm")
    box = (tmp_path / "x.pdf").read_bytes().split(b"/MediaBox [")[1].split(b"]")[0].split()
    assert float(box[2]) == pytest.approx(84 / 25.4 * 72, abs=0.1)


@pytest.mark.parametrize("width", ["84", "84 mm", "-3", "nan", "3m", "1e3", "", "20px", "99999in", "٣٠٠"])
def test_what_is_no_width(width: str) -> None:
    with pytest.raises(InputError) as caught:
        pixels_of(width)
    assert str(caught.value) == (
        f"{width!r} is not a width; give width= in pixels, or with a unit, such as 84mm or 3.3in; at least 120 pixels"
    )


@pytest.mark.parametrize("name", ["x", "x.gif", "x.svg.gz", ".png"])
def test_an_unknown_ending(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^cannot tell a format from '.*'; give a name that ends in .svg, .png, .pdf"):
        CHART.save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(InputError) as caught:
        CHART.save(tmp_path / "x.svg")
    assert str(caught.value) == (
        "pictures need vl-convert; install it with: pip install 'ndcg-tracker[plot]', "
        "or write .html, which needs nothing"
    )
    assert not list(tmp_path.iterdir())
    with pytest.raises(InputError, match=r"^pictures need vl-convert"), drawing(".pdf"):
        pass
    with pytest.raises(InputError, match=r"^pictures need altair"):
        CHART.to_altair()
    CHART.save(tmp_path / "x.html")
    assert (tmp_path / "x.html").exists()


@pytest.mark.nightly
def test_another_process_draws_the_same() -> None:
    for ending, width in ((".svg", "84mm"), (".png", None), (".html", None)):
        with drawing(ending) as converted:
            drawn = CHART.content(ending, theme="dark", width=width, converted=converted)
        assert drawn == CHART.content(ending, theme="dark", width=width)
    with drawing(".pdf") as converted:
        assert CHART.content(".pdf", converted=converted).startswith(b"%PDF")


@pytest.mark.parametrize("python", ["", "/usr/bin/false"])
def test_where_there_is_no_other_process_this_one_draws(python: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", python)
    with drawing(".svg") as converted:
        assert CHART.content(".svg", converted=converted) == CHART.content(".svg")


def test_altair_takes_it() -> None:
    found = CHART.to_altair()
    assert isinstance(found, altair.LayerChart)
    assert CHART._repr_mimebundle_()["image/svg+xml"].startswith("<svg")
    assert repr(CHART) == "Chart('Changes of both')"
