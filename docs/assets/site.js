// What axe-core asks for beyond the theme: the search has a name, and wide tables can be scrolled from the keyboard.
document.addEventListener("DOMContentLoaded", () => {
  document.querySelector(".md-search[role=dialog]")?.setAttribute("aria-label", "Search");
  document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code").forEach((box) => { box.tabIndex = 0; });
});

// The first page that a search finds shows all its sections, without a click on "10 more on this page".
document.addEventListener("DOMContentLoaded", () => {
  const list = document.querySelector(".md-search-result__list");
  if (list) new MutationObserver(() => list.querySelector("details")?.setAttribute("open", "")).observe(list, { childList: true });
});

// The button of a console block copies its commands: no prompt, and nothing that was printed.
document.addEventListener("click", (event) => {
  const button = event.target.closest("button.md-clipboard, button.md-code__button");
  const block = button && button.closest(".language-console, .highlight");
  if (!block || !block.querySelector(".gp")) return;
  const commands = commandsOf(block.querySelector("code"));
  if (!commands) return;
  event.stopImmediatePropagation();
  event.preventDefault();
  navigator.clipboard.writeText(commands);
}, true);

function commandsOf(code) {
  let commands = "", line = "", isCommand = false;
  const ended = () => { if (isCommand) commands += line.trimStart() + "\n"; line = ""; isCommand = false; };
  for (const node of code.querySelectorAll("span.gp, span.go")) node.dataset.kind = node.className;
  const walk = (node) => {
    if (node.nodeType === Node.TEXT_NODE) {
      node.textContent.split("\n").forEach((part, place) => { if (place) ended(); line += part; });
    } else if (node.dataset && node.dataset.kind === "gp") {
      isCommand = true;
    } else if (!(node.dataset && node.dataset.kind === "go")) {
      node.childNodes.forEach(walk);
    } else {
      node.textContent.split("\n").forEach((_, place) => { if (place) ended(); });
    }
  };
  walk(code);
  ended();
  return commands.trimEnd();
}
