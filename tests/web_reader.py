"""A page that is open in a browser, with what went wrong on it."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

COLOURS = ("color-contrast", "link-in-text-block")
"""The rules of axe-core that look at colours: the others find in dark pages what they find in light ones."""
AXE = Path(__file__).with_name("browser") / "axe.min.js"


@dataclass
class Reader:
    """An open page, with what went wrong on it and what it asked of others."""

    page: Page
    faults: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    own: tuple[str, ...] = ("file:", "data:", "blob:")

    def opens(self, address: str) -> Page:
        """Open a page and wait until it has drawn everything."""
        self.page.goto(address)
        self.page.wait_for_selector("html[data-ready=yes]", timeout=60_000)
        return self.page

    def serious_faults(self, *rules: str) -> list[str]:
        """Return what axe-core calls serious or critical, with the elements; by all rules, or by some."""
        return self.findings(*rules, impacts=("serious", "critical"))

    def findings(
        self, *rules: str, impacts: tuple[str, ...] = ("minor", "moderate", "serious", "critical")
    ) -> list[str]:
        """Return all that axe-core finds, with the elements; by all rules, or by some."""
        self.page.evaluate(AXE.read_text(encoding="utf-8"))
        options = {"resultTypes": ["violations"], **({"runOnly": list(rules)} if rules else {})}
        found: dict[str, Any] = self.page.evaluate("options => axe.run(document, options)", options)
        return [
            f"{fault['id']}: {[node['target'] for node in fault['nodes']][:3]} {fault['nodes'][0]['failureSummary']}"
            for fault in found["violations"]
            if fault["impact"] in impacts
        ]
