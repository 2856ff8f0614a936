"use strict";
// Draws the charts of a report and keeps one group chosen in all of them. The address (#group=...) holds it, too.
(() => {
  const page = JSON.parse(document.getElementById("page").textContent);
  const unit = page.unit[0].toUpperCase() + page.unit.slice(1);
  const byId = (id) => document.getElementById(id);
  const number = (value, signed) =>
    value === null || value === undefined ? "-" : (signed && value > 0 ? "+" : "") + (value !== 0 && Math.abs(value) < 0.00005 ? value.toExponential(1) : value.toFixed(4));
  const make = (tag, text, className) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (className) element.className = className;
    return element;
  };
  // The text of a group or an item. It becomes a link only for web addresses, whatever the page holds.
  const told = (tag, [words, url], className) => {
    const line = make(tag, undefined, className);
    const link = /^https?:\/\//i.test(url) ? Object.assign(make("a"), { href: url, target: "_blank", rel: "noreferrer noopener" }) : null;
    (link ?? line).textContent = words;
    if (link) line.append(link);
    return line;
  };
  const own = (table, key) => (Object.hasOwn(table, key) ? table[key] : undefined);
  const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : "'" + word.replaceAll("'", "'\"'\"'") + "'");

  const moveRow = ([item, grade, baseline, candidate, before, after], titles) => ({
    item, title: own(titles, item)?.[0] ?? "", grade, baseline, candidate, change: before === null || after === null ? null : after - before,
  });

  const drawn = async (element, spec, listen) => {
    const view = await drawThemed(element, spec, page.themes);
    if (listen) view.addEventListener("click", (_, item) => item?.datum?.group !== undefined && listen(item.datum.group));
    return view;
  };

  class Pair {
    constructor(data, index) {
      Object.assign(this, data);
      this.root = byId(`pair-${index}`);
      this.index = index;
      this.views = {};
      this.place = new Map(this.groups.keys.map((key, place) => [key, place]));
      this.order = null;
      this.limit = 50;
      this.sort = { by: "delta", down: false };
      this.find = (name) => this.root.querySelector(`[data-part="${name}"]`);
      this.wire();
    }

    query(key) {
      const found = own(this.texts, key)?.query;
      return found?.[0] && found[0] !== key ? found : null;
    }

    delta(place) { return this.groups.candidate[place] - this.groups.baseline[place]; }

    wire() {
      this.find("search").addEventListener("input", () => { this.limit = 50; this.table(); });
      this.find("more").addEventListener("click", () => { this.limit += 200; this.table(); });
      for (const button of this.root.querySelectorAll("[data-sort]")) {
        button.addEventListener("click", () => {
          const by = button.dataset.sort;
          this.sort = { by, down: this.sort.by === by ? !this.sort.down : by === "candidate" || by === "baseline" };
          this.table();
        });
      }
      for (const link of document.querySelectorAll(`a[data-find][href="#groups-${this.index}"]`)) {
        link.addEventListener("click", () => { this.find("search").value = link.dataset.find; this.limit = 50; this.table(); });
      }
      const color = this.find("color");
      color?.addEventListener("change", () => this.draw(["every", "scatter"]));
    }

    async show() {
      this.table();
      await this.draw();
      this.choose(chosen());
    }

    async draw(names) {
      for (const element of this.root.querySelectorAll("[data-chart]")) {
        const name = element.dataset.chart;
        if (names && !names.includes(name)) continue;
        if (name === "moves") continue;
        let spec = this.charts[name];
        const by = this.find("color")?.value;
        if (by && this.colors[by] && (name === "every" || name === "scatter")) {
          spec = structuredClone(spec);
          for (const layer of spec.layer) if (layer.encoding.color?.field === "direction") layer.encoding.color = this.colors[by];
        }
        this.views[name]?.finalize();
        this.views[name] = await drawn(element, spec, (key) => goTo(this.index, key));
      }
      this.mark();
    }

    mark() {
      const place = this.place.get(this.chosen);
      for (const name of ["every", "scatter"]) {
        const view = this.views[name];
        if (!view) continue;
        const rows = place === undefined ? [] : [{
          group: this.chosen, baseline: this.groups.baseline[place], candidate: this.groups.candidate[place], place: this.column(place),
        }];
        view.data("chosen", rows).runAsync();
      }
    }

    column(place) {
      // The place of a group among the columns from worst to best; several groups may share a column.
      const delta = this.delta(place);
      const { starts, deltas } = this.columns;
      let best = 0;
      for (let at = 1; at < deltas.length; at++) if (Math.abs(deltas[at] - delta) < Math.abs(deltas[best] - delta)) best = at;
      if (delta === 0 && this.columns.same !== null) return this.columns.same;
      for (let at = 0; at < starts.length; at++) if (this.columns.keys[at] === this.groups.keys[place]) best = at;
      return starts[best] + 0.5;
    }

    choose(key) {
      if (!this.place.has(key)) key = this.first;
      if (key === undefined || key === null) return;
      this.chosen = key;
      this.mark();
      this.lists();
      for (const row of this.find("rows").rows) row.classList.toggle("chosen", row.dataset.key === key);
    }

    lists() {
      const place = this.place.get(this.chosen);
      const { baseline, candidate } = this.groups;
      const found = own(this.details, this.chosen);
      if (!found && page.ask && this.has_lists) this.fetchLists(this.chosen);
      const words = `${number(baseline[place])} → ${number(candidate[place])} (${number(this.delta(place), true)})`;
      this.find("group").textContent = `${unit} ${this.chosen}: ${words}`;
      const query = this.query(this.chosen);
      this.find("query").hidden = !query;
      this.find("query").replaceChildren(...(query ? [told("span", query)] : []));
      const url = new URLSearchParams({ ...(page.pairs.length > 1 ? { pair: this.index } : {}), group: this.chosen });
      this.find("command").textContent = `${this.explain} --group ${quoted(own(page.raw, this.chosen) ?? this.chosen)}`;
      byId("here").replaceChildren(make("span", `${unit} ${this.chosen}${query ? ` (${query[0]})` : ""}: ${words}  `));
      if (this.has_lists) byId("here").append(Object.assign(make("a", "see its lists"), { href: `#${url}`, onclick: () => this.find("moves-card").scrollIntoView({ behavior: "smooth" }) }));
      if (page.ask) byId("here").append("  ", Object.assign(make("a", "in every run"), { href: this.asked(page.ask.group, this.chosen) }));
      this.find("not-here").hidden = Boolean(found || page.ask || !this.has_lists);
      this.find("lists").hidden = this.find("moves").hidden = !found;
      if (!found) return;
      this.listTable(found);
      this.find("moves").parentElement.classList.toggle("told", Object.keys(own(this.texts, this.chosen)?.items ?? {}).length > 0);
      const spec = { ...this.charts.moves, data: { name: "moves", values: found.items.map((row) => moveRow(row, own(this.texts, this.chosen)?.items ?? {})) } };
      this.views.moves?.finalize();
      drawn(this.find("moves"), spec).then((view) => { this.views.moves = view; });
    }

    // A server returns what a file does not hold; page.ask has the addresses.
    asked(address, key) {
      return `${address[this.index]}&group=${encodeURIComponent(own(page.raw, key) ?? key)}`;
    }

    async fetchLists(key) {
      const answer = await fetch(this.asked(page.ask.lists, key));
      const value = answer.ok ? await answer.json() : { items: [], ideal: [], more: 0 };
      const put = (table, value) => Object.defineProperty(table, key, { value }); // a group may be called __proto__
      put(this.details, value);
      if (value.texts) put(this.texts, value.texts);
      if (this.chosen === key) this.lists();
    }

    listTable(found) {
      const body = this.find("lists-rows");
      body.replaceChildren();
      const depth = Math.max(found.ideal.length, ...found.items.map(([, , one, other]) => Math.max(one ?? 0, other ?? 0)).filter((rank) => rank <= this.depth));
      const at = (side) => new Map(found.items.map((row) => [row[side], row]));
      const sides = [at(2), at(3)];
      for (let rank = 1; rank <= Math.min(depth, this.depth); rank++) {
        const row = body.insertRow();
        row.append(make("td", rank));
        sides.forEach((of, side) => {
          const item = of.get(rank);
          row.append(this.itemCell(item?.[0], item?.[1]), make("td", item && item[4 + side] !== null ? number(item[4 + side]) : "", "right"));
        });
        const best = found.ideal[rank - 1];
        row.append(this.itemCell(best?.[0], best?.[1]));
      }
      this.find("more-items").textContent = found.more ? `${found.more} more items further down are not shown` : "";
    }

    itemCell(item, grade) {
      const cell = make("td");
      if (item === undefined) return cell;
      const text = own(own(this.texts, this.chosen)?.items ?? {}, item);
      const name = make("span", item, grade ? "relevant" : "");
      cell.append(name, make("span", grade === null ? "  unjudged" : `  grade ${grade}`, "muted"));
      if (text) cell.append(told("div", text, "muted"));
      return cell;
    }

    table() {
      const words = this.find("search").value.trim().toLowerCase();
      const { keys, baseline, candidate, attributes } = this.groups;
      const names = Object.keys(attributes);
      const value = {
        group: (place) => keys[place], baseline: (place) => baseline[place], candidate: (place) => candidate[place], delta: (place) => this.delta(place),
      };
      names.forEach((name, n) => { value[`attribute-${n}`] = (place) => attributes[name].values[attributes[name].codes[place]] ?? ""; });
      const cacheKey = `${this.sort.by} ${this.sort.down}`;
      if (this.order?.key !== cacheKey) {
        const of = value[this.sort.by], places = keys.map((_, place) => place);
        const isText = this.sort.by === "group" || this.sort.by.startsWith("attribute");
        const collator = new Intl.Collator(undefined, { numeric: true });
        places.sort((one, other) => (isText ? collator.compare(of(one), of(other)) : of(one) - of(other)) * (this.sort.down ? -1 : 1) || one - other);
        this.order = { key: cacheKey, places };
      }
      const matches = (place) => !words || keys[place].toLowerCase().includes(words) || this.query(keys[place])?.[0].toLowerCase().includes(words) || names.some((_, n) => value[`attribute-${n}`](place).toLowerCase().includes(words));
      const found = this.order.places.filter(matches);
      const body = this.find("rows");
      body.replaceChildren(...found.slice(0, this.limit).map((place) => {
        const row = make("tr");
        row.dataset.key = keys[place];
        row.classList.toggle("chosen", keys[place] === this.chosen);
        const link = make("a", keys[place]);
        link.href = `#${new URLSearchParams({ ...(page.pairs.length > 1 ? { pair: this.index } : {}), group: keys[place] })}`;
        const head = make("td");
        const query = this.query(keys[place]);
        head.append(link, ...(query ? [make("div", query[0], "muted")] : []));
        row.append(head, ...names.map((_, n) => make("td", value[`attribute-${n}`](place))));
        row.append(make("td", number(baseline[place]), "right"), make("td", number(candidate[place]), "right"));
        const delta = this.delta(place);
        row.append(make("td", number(delta, true), `right ${delta > 0 ? "better" : delta < 0 ? "worse" : "muted"}`));
        return row;
      }));
      for (const button of this.root.querySelectorAll("[data-sort]")) {
        const isSorted = button.dataset.sort === this.sort.by;
        button.parentElement.setAttribute("aria-sort", isSorted ? (this.sort.down ? "descending" : "ascending") : "none");
        button.querySelector("span").textContent = isSorted ? (this.sort.down ? " ▼" : " ▲") : "";
      }
      this.find("count").textContent = `${Math.min(this.limit, found.length).toLocaleString("en")} of ${found.length.toLocaleString("en")} groups shown`;
      this.find("more").hidden = found.length <= this.limit;
    }
  }

  const address = () => new URLSearchParams(location.hash.slice(1));
  const chosen = () => address().get("group");
  const goTo = (pair, group) => {
    location.hash = new URLSearchParams({ ...(page.pairs.length > 1 ? { pair } : {}), ...(group ? { group } : {}) });
  };
  const pairs = page.pairs.map((data, index) => new Pair(data, index));
  const overview = [];
  let shown = null;

  async function follow() {
    if (!pairs.length) return;
    const place = location.hash.includes("=") ? null : /-(\d+)$/.exec(location.hash); // a link to a part of the page
    if (place && shown) return place[1] < pairs.length && shown !== pairs[place[1]] ? goTo(place[1]) : undefined;
    const wanted = Math.min(pairs.length - 1, Math.max(0, Number(address().get("pair")) || 0));
    if (shown !== pairs[wanted]) {
      shown = pairs[wanted];
      for (const pair of pairs) pair.root.hidden = pair !== shown;
      for (const tab of document.querySelectorAll(".tabs button")) {
        const isHere = Number(tab.dataset.pair) === wanted;
        tab.setAttribute("aria-selected", isHere);
        tab.tabIndex = isHere ? 0 : -1;
      }
      await shown.show();
    } else {
      shown.choose(chosen());
    }
    byId("here").hidden = !chosen();
  }

  async function drawOverview() {
    for (const element of document.querySelectorAll("[data-overview]")) {
      overview.pop()?.finalize();
      overview.unshift(await drawn(element, page.overview[element.dataset.overview]));
    }
  }

  for (const tab of document.querySelectorAll(".tabs button")) {
    tab.addEventListener("click", () => goTo(tab.dataset.pair));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const next = step && document.querySelector(`.tabs button[data-pair="${Number(tab.dataset.pair) + step}"]`);
      if (next) { next.focus(); next.click(); }
    });
  }
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = "Copied";
    });
  }
  for (const link of document.querySelectorAll('a[href^="#statistics-"]')) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const statistics = byId(link.hash.slice(1));
      statistics.open = true;
      statistics.scrollIntoView({ behavior: "smooth" });
    });
  }
  addEventListener("hashchange", follow);
  darkTheme.addEventListener("change", async () => { await drawOverview(); await shown?.draw(); shown?.lists(); });
  drawOverview().then(follow).then(() => { document.documentElement.dataset.ready = "yes"; });
})();
