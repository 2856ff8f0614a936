"""Pages: the security policy names exactly the scripts and styles that are there, and nothing comes from elsewhere."""

import base64
import hashlib
import re
from html.parser import HTMLParser

from ndcg_tracker.render.html import asset, environment, page, script_json

HOSTILE = "</script><script>alert(1)</script>\u202e\x1b[2J<img src=x onerror=alert(1)>"


class Elements(HTMLParser):
    """Collects elements, their attributes, and what stands in scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = {"script": [], "style": []}
        self._open: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._open = tag if tag in self.inside else None
        if self._open:
            self.inside[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        self._open = None

    def handle_data(self, data: str) -> None:
        if self._open:
            self.inside[self._open][-1] += data


def small(name: str = "a run") -> str:
    values = {"title": name, "overview": {}, "pairs": [], "reports": [], "made": "Made", "command": name}
    return page("report.html", {"pairs": [], "name": name}, scripts=("vega.js", "report.js"), **values)


def test_the_policy_allows_what_is_there_and_nothing_else() -> None:
    elements = Elements(small())
    (policy,) = [of["content"] for tag, of in elements.found if of.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert "unsafe" not in policy
    data, *scripts = elements.inside["script"]
    assert data.startswith("{")
    for kind, texts in (("script-src", scripts), ("style-src", elements.inside["style"])):
        digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts]
        assert rules[kind] == " ".join(f"'sha256-{digest}'" for digest in digests)


def test_nothing_comes_from_elsewhere_and_no_element_has_a_style_or_a_handler() -> None:
    elements = Elements(small())
    for tag, attributes in elements.found:
        assert not {"src", "style"} & set(attributes), tag
        assert not any(name.startswith("on") for name in attributes), tag
        assert (attributes.get("href") or "#").startswith("#")
    assert "eval(" not in asset("report.js")


def test_text_is_never_markup() -> None:
    text = small(HOSTILE)
    elements = Elements(text)
    assert len(elements.inside["script"]) == 3
    assert not any(tag == "img" for tag, _ in elements.found)
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_json_inside_a_script_reads_back() -> None:
    import json

    value = {"a</script>": [HOSTILE, None, 0.1, "<!--"]}
    text = script_json(value)
    assert not re.search("[<>&]", text)
    assert json.loads(text) == value


def test_the_charting_library_is_the_one_whose_licences_are_shipped() -> None:
    licences = asset("vega.LICENSES.txt")
    import json
    from pathlib import Path

    wanted = json.loads(Path(__file__).parents[2].joinpath("tools/vega/package.json").read_text("utf-8"))[
        "dependencies"
    ]
    for name, version in wanted.items():
        if name != "esbuild":
            assert f"\n{name} {version} (BSD-3-Clause)\n" in f"\n{licences}"
    assert f'"{wanted["vega"]}"' in asset("vega.js")


def test_templates_escape_by_default() -> None:
    assert environment().from_string("{{ x }}").render(x="<b>\u202e") == "&lt;b&gt;\\u202e"
