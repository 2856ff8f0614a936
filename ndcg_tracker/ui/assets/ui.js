"use strict";
// Draws the charts of a page, and searches while one types. Without it everything but the charts works.
(() => {
  const views = [];

  async function draw() {
    const data = document.getElementById("page");
    if (!data) return;
    const page = JSON.parse(data.textContent);
    while (views.length) views.pop().finalize();
    for (const element of document.querySelectorAll("[data-draw]")) {
      views.push(await drawThemed(element, page.charts[element.dataset.draw], page.themes));
    }
  }

  function live(form) {
    // a field may be called "dataset" or "action" and then hides the form's own property of that name
    const part = form.getAttribute("data-live"), path = form.getAttribute("action");
    let waiting, asked = 0;
    form.querySelector("input[type=search]").addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(async () => {
        const number = ++asked;
        const address = `${path}?${new URLSearchParams(new FormData(form))}`;
        const answer = await fetch(address);
        if (!answer.ok || number !== asked) return;
        const found = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector(part);
        document.querySelector(part).replaceWith(document.adoptNode(found));
        history.replaceState(null, "", address);
      }, 150);
    });
    for (const choice of form.querySelectorAll(".controls select, :scope > label > select")) choice.addEventListener("change", () => form.requestSubmit());
  }

  function keys() {
    const buttons = new Map([...document.querySelectorAll("button[data-key]")].map((button) => [button.dataset.key, button]));
    if (!buttons.size) return;
    document.querySelector(".keys").hidden = false;
    document.addEventListener("keydown", (event) => {
      const isTyped = event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.target.matches("input, select, textarea");
      const button = isTyped ? undefined : buttons.get(event.key.toLowerCase());
      if (!button) return;
      event.preventDefault();
      buttons.clear(); // one key, one grade: what is pressed before the next item is there is lost
      button.click();
    });
  }

  document.querySelectorAll("form[data-live]").forEach(live);
  keys();
  globalThis.darkTheme?.addEventListener("change", draw);
  draw().then(() => { document.documentElement.dataset.ready = "yes"; });
})();
