"use strict";
// Draws the charts of a page, searches while you type, and counts the ticked runs. Without it, only charts are missing.
(() => {
  const views = [], root = document.documentElement;
  root.classList.add("scripted");

  async function draw() {
    const data = document.getElementById("page"), places = document.querySelectorAll("[data-draw]");
    if (!data || !places.length) return;
    const page = JSON.parse(data.textContent);
    while (views.length) views.pop().finalize();
    for (const element of places) {
      const { draw } = element.dataset, spec = page.charts[draw], view = await drawThemed(element, spec, page.themes);
      views.push(view);
      if (draw === "history" && page.links && !root.classList.contains("file")) view.addEventListener("click", (event) => opens(element, view, spec, page.links, event));
    }
  }

  // A click near a point of a history opens its run.
  function opens(element, view, spec, links, event) {
    const { left, top } = element.querySelector("svg.marks, canvas.marks").getBoundingClientRect(), [x, y] = view.origin();
    const place = Math.round(view.scale("x").invert(event.clientX - left - x)), row = spec.data.values[place];
    if (row && Math.abs(view.scale("y")(row.mean) - (event.clientY - top - y)) < 20) location.assign(links[place]);
  }

  // An address holds the choices and no empty parameter, except "beside", which may be empty to ask for nothing.
  function short(form) {
    form.addEventListener("formdata", ({ formData }) => {
      for (const name of new Set(formData.keys())) {
        const values = formData.getAll(name).filter((value) => value !== "");
        if (name === "beside" && !values.length) continue;
        formData.delete(name);
        for (const value of values) formData.append(name, value);
      }
    });
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

  // Judging: a key grades the item that is seen. The next one is there at once, and grades are sent one after the other.
  function judging() {
    const pending = new Set(), mark = (item) => item.querySelector("[name=item]").value; // graded, but not yet sent
    let sent = Promise.resolve(), waiting = 0;
    const seen = (selector) => [...document.querySelectorAll(selector)].find((element) => element.checkVisibility());
    const items = (main = document) => [...main.querySelectorAll(".item:has([name=item])")];
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.target.matches("input, select, textarea")) return;
      const button = seen(`button[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
      if (button) event.preventDefault();
      button?.click();
    });
    document.addEventListener("submit", (event) => {
      const form = event.target, path = form.getAttribute("action"), item = form.closest(".item");
      if (form.getAttribute("method") !== "post" || path === "/judge/evaluate") return;
      event.preventDefault();
      const body = new URLSearchParams(new FormData(form, event.submitter)), key = document.activeElement?.dataset.key;
      if (path === "/judge/grade") pending.add(mark(item));
      for (const one of items()) if (one === item || path !== "/judge/grade") one.remove();
      next(key);
      waiting += 1;
      sent = sent.then(() => send(path, body, key)).catch(() => { waiting = 0; location.reload(); });
    });
    function next(key) {
      const [item] = items();
      if (!item) return;
      item.hidden = false;
      (item.querySelector("input[name=grade]") ?? item.querySelector(`[data-key="${key}"]`))?.focus();
    }
    async function send(path, body, key) {
      const answer = await fetch(path, { method: "POST", body, redirect: path === "/judge/store" ? "follow" : "manual" });
      waiting -= 1;
      if (answer.redirected) return location.assign(answer.url);
      pending.delete(body.get("item"));
      const isKept = answer.type === "opaqueredirect";
      if (isKept && waiting && items().length > 2) return;
      const text = await (isKept ? await fetch(location.href) : answer).text();
      const main = document.adoptNode(new DOMParser().parseFromString(text, "text/html").querySelector("main"));
      for (const one of items(main)) if (pending.has(mark(one))) one.remove();
      const [shown] = items(), [same] = items(main), focus = document.activeElement;
      if (shown && same && mark(shown) === mark(same)) same.replaceWith(shown); // with what was typed in it
      document.querySelector("main").replaceWith(main);
      if (!isKept) history.pushState(null, ""); // the page of an error says to go back
      next(key);
      if (focus.isConnected) focus.focus();
    }
    addEventListener("popstate", () => location.reload());
    addEventListener("beforeunload", (event) => { if (waiting) event.preventDefault(); });
  }

  function atOnce(form) {
    form.addEventListener("change", (event) => event.target.matches("select, input[type=checkbox]") && form.requestSubmit());
  }

  // The server refuses an empty comparison; with scripts, people see that before they send it.
  function counts(button) {
    const { form } = button;
    const count = () => {
      const baseline = form.querySelector("input[name=baseline]:checked")?.value;
      for (const box of form.querySelectorAll("input[name=run]")) {
        box.disabled = box.value === baseline; // a run is not compared with itself
        box.title = box.disabled ? "this run is the baseline" : "";
      }
      const n = form.querySelectorAll("input[name=run]:checked:enabled").length;
      button.disabled = n === 0;
      button.textContent = n ? `compare ${n} run${n === 1 ? "" : "s"} with the baseline` : "tick a run to compare";
    };
    form.addEventListener("change", count);
    new MutationObserver(count).observe(form, { childList: true });
    count();
  }

  function copies(button) {
    const told = document.getElementById("copied");
    button.hidden = false;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(location.href);
        told.textContent = "copied";
      } catch {
        told.textContent = "the browser does not let a page copy; take it from the address bar";
      }
    });
  }

  document.querySelectorAll("[data-copy-address]").forEach(copies);
  document.querySelectorAll("form").forEach(short);
  document.querySelectorAll("form[data-live]").forEach(live);
  document.querySelectorAll("form[data-at-once]").forEach(atOnce);
  if (document.querySelector("button[data-key]")) judging();
  const compare = document.getElementById("compare"), copy = document.getElementById("copy");
  if (compare) counts(compare);
  if (copy) copies(copy);
  if (document.querySelector("[data-chart]")) return; // the report's script draws this page, and says when it is done
  globalThis.darkTheme?.addEventListener("change", draw);
  draw().then(() => { root.dataset.ready = "yes"; });
})();
