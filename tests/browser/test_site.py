"""The site: screen readers and weak eyes can read it, and it asks nobody else; what searches find; what is copied."""

import functools
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import pytest
from layout import layout_faults, looks
from playwright.sync_api import Browser
from web_reader import Reader

REPOSITORY = Path(__file__).parents[2]
SCRIPT = REPOSITORY / "docs" / "assets" / "site.js"
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
@pytest.mark.nightly(but=2)
def test_what_is_copied(reader: Reader, code: str, commands: str) -> None:
    reader.page.set_content(f"<pre><code>{code}</code></pre><script>{SCRIPT.read_text(encoding='utf-8')}</script>")
    assert reader.page.evaluate("commandsOf(document.querySelector('code'))") == commands


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, list[str]]]:
    """The built site on a port of its own, and the paths of its pages."""
    pytest.importorskip("material", reason="the extra docs, which .ci/nightly installs")
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    subprocess.run(build, cwd=REPOSITORY, check=True, capture_output=True)
    quiet = type("Quiet", (SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    pages = sorted(str(page.parent.relative_to(folder)) for page in folder.rglob("index.html"))
    yield f"http://127.0.0.1:{server.server_port}/", pages
    server.shutdown()
    server.server_close()


@pytest.mark.nightly
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_passes_axe_and_asks_nobody_else(browser: Browser, site: tuple[str, list[str]], scheme: str) -> None:
    address, pages = site
    assert len(pages) > 60
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    reader, asked = Reader(context.new_page()), set[str]()
    reader.page.on("request", lambda request: asked.add(request.url))
    faults = {}
    for page in pages:
        reader.page.goto(f"{address}{page}/")
        faults[page] = reader.serious_faults()
    context.close()
    assert {page: found for page, found in faults.items() if found} == {}
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []


GUIDES = {
    "bootstrap": "compare/",
    "slices": "compare/",
    "delete a run": "database/",
    "CI pull request": "github-actions/",
    "confidence interval": "compare/",
    "significance test": "compare/",
    "p-value": "compare/",
    "effect size": "compare/",
    "holm": "compare/",
    "minimum detectable effect": "compare/",
    "compare to trec_eval": "start-trec/",
    "ties": "metrics/",
    "sqlite": "database/",
    "postgres backup": "database/",
    "export": "database/",
    "unjudged": "unjudged/",
    "postgres": "postgres/",
    "history": "history/",
    "explain": "explain/",
    "gate": "gate/",
    "exit code": "gate/",
    "install": "install/",
}
QUESTIONS = {
    "what does INCONCLUSIVE mean": "gate/",
    "how many queries do I need": "plan/",
    "my number differs from sklearn": "answers/",
    "what is a slice": "compare/",
    "is this drop real": "compare/",
    "why did this query get worse": "explain/",
    "which run was best": "leaderboard/",
    "how do I compare two files": "compare/",
    "gate in CI": "github-actions/",
    "golden set in git": "golden-sets/",
    "labels changed": "labels/",
    "ids changed": "labels/",
    "my judge is a model": "judges/",
    "two databases": "database/",
    "Postgres": "postgres/",
    "LightGBM": "training/",
    "MLflow": "mlflow/",
    "a metric of our own": "metrics/",
    "SQL": "sql/",
    "delete": "database/",
    "share a report": "pictures/",
    "what leaves my machine": "reliability/",
}
WORDS = ("holdout", "hit@k", "noise floor", "reranker", "re-chunk", "quality gate", "regression test", "unanswerable")
OTHERS = ("A/B", "user", "session")
GUIDES |= QUESTIONS | dict.fromkeys((*WORDS, *OTHERS), "words/") | {"golden set": "golden-sets/"}
SECTIONS = {
    "bootstrap": "Bootstrap intervals, permutation and other tests",
    "delete a run": "Delete a run, prune old runs",
}


@pytest.mark.nightly
def test_a_search_finds_the_guide_first(browser: Browser, site: tuple[str, list[str]]) -> None:
    """The page loads its index once, as for a reader who searches again; what it found before is marked as old."""
    address, _ = site
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    found, places = {}, {}
    page.goto(f"{address}?q={quote('xyz')}")
    for query in GUIDES:
        page.evaluate("document.querySelectorAll('.md-search-result__item').forEach(item => item.dataset.old = 1)")
        box = page.locator("[data-md-component=search-query]")
        box.fill(query)
        box.press("End")  # the page searches when a key goes up
        first = page.locator(".md-search-result__item:not([data-old])").first
        found[query] = first.locator("a").first.get_attribute("href", timeout=20_000) or ""
        if query in SECTIONS:
            section = first.locator("h2", has_text=SECTIONS[query])
            section.wait_for(timeout=20_000)
            places[query] = section.bounding_box() or {"y": 900}
    page.close()
    assert {query: link.removeprefix(address).partition("?")[0] for query, link in found.items()} == GUIDES
    assert {query: place["y"] < 450 for query, place in places.items()} == dict.fromkeys(SECTIONS, True)  # in sight


@pytest.mark.nightly
def test_parameters_are_read_on_a_phone_without_scrolling_sideways(
    browser: Browser, site: tuple[str, list[str]]
) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(f"{site[0]}python/tracker/")
    tables = page.locator(".doc-contents .md-typeset__scrollwrap")
    wide = tables.evaluate_all("boxes => boxes.filter(box => box.scrollWidth > box.clientWidth + 1).length")
    n_tables = tables.count()
    page.close()
    assert n_tables > 30
    assert wide == 0


@pytest.mark.nightly
def test_signatures_fit_their_boxes_and_have_values(browser: Browser, site: tuple[str, list[str]]) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{site[0]}python/tracker/")
    boxes = page.locator(".md-content pre > code")
    wide = boxes.evaluate_all("boxes => boxes.filter(box => box.scrollWidth > box.clientWidth + 1).length")
    text = page.locator(".md-content").inner_text()
    page.close()
    assert wide <= 2
    assert 'metrics="ndcg@10"' in text
    assert "DEFAULT_METRIC" not in text
    assert "parameter\ttype\tdefault\tmeaning" in text


@pytest.mark.nightly
def test_the_home_page_is_a_screen_and_a_half(browser: Browser, site: tuple[str, list[str]]) -> None:
    page = browser.new_page()
    for look in looks(page):
        page.goto(site[0])
        assert layout_faults(page) == [], look
    page.set_viewport_size({"width": 1280, "height": 900})
    height = page.locator(".md-content").evaluate("content => content.getBoundingClientRect().bottom")
    page.close()
    assert height <= 1350
