// SPDX-License-Identifier: Apache-2.0
// Sorts and filters tables, and shows what a mark of a plot stands for. Names are only ever written
// as text.
"use strict";
(() => {
  const SHOWN = 250; // rows drawn at once: a browser lays out more too slowly
  const CHUNK = 50; // rows of a body if all rows are drawn
  // Orders text as people do: m99 before m1000.
  const NATURAL = new Intl.Collator("en", { numeric: true });

  class CaseTable {
    constructor(box) {
      this.box = box;
      this.table = box.querySelector("table");
      this.body = this.table.tBodies[0];
      const more = box.querySelector("template");
      this.rows = [...this.body.rows, ...(more ? more.content.querySelectorAll("tr") : [])];
      if (more) more.remove();
      this.heads = [...this.table.tHead.rows[0].cells];
      this.names = this.rows.map((row) => row.textContent.toLowerCase());
      this.order = this.rows.map((_, i) => i);
      this.limit = SHOWN;
      this.keys = new Map();
      this.input = box.querySelector("input[type=search]");
      this.select = box.querySelector("select");
      this.reverse = box.querySelector("button.reverse");
      this.sorted = -1; // the column
      this.count = box.querySelector("[role=status]");
      this.all = box.querySelector("button.all");
      this.scroll = box.querySelector(".scroll");
      let width = 0;
      new ResizeObserver(([entry]) => {
        if (entry.contentRect.width !== width) this.fit();
        width = entry.contentRect.width;
      }).observe(box);
      this.input.addEventListener("input", () => this.show());
      this.all.addEventListener("click", () => { this.limit = Infinity; this.show(); });
      this.select.addEventListener("change", () =>
        this.select.value === "" ? this.unsort() : this.sort(Number(this.select.value)));
      this.reverse.addEventListener("click", () => this.sort(this.sorted));
      this.heads.forEach((head, i) =>
        head.querySelector("button").addEventListener("click", () => this.sort(i)));
      this.show();
    }

    // Values of a column: numbers where the column has them, places in the order for text. Unknown
    // values are null.
    column(number) {
      if (!this.keys.has(number)) {
        const numeric = this.heads[number].classList.contains("number");
        const cells = this.rows.map((row) => row.cells[number]);
        if (numeric) {
          this.keys.set(number, cells.map(({ dataset }) =>
            dataset.v === undefined ? null : Number(dataset.v)));
        } else {
          const texts = cells.map((cell) => cell.textContent);
          const places = new Map();
          [...new Set(texts)].sort(NATURAL.compare).forEach((text, i) => places.set(text, i));
          this.keys.set(number, texts.map((text) => text === "" ? null : places.get(text)));
        }
      }
      return this.keys.get(number);
    }

    // Numbers start with the largest, text with the first letter. The second click turns it round.
    sort(number, direction) {
      const head = this.heads[number];
      const first = head.classList.contains("number") ? "descending" : "ascending";
      const other = first === "descending" ? "ascending" : "descending";
      const now = direction || (head.getAttribute("aria-sort") === first ? other : first);
      const sign = now === "ascending" ? 1 : -1;
      const begin = performance.now();
      const keys = this.column(number);
      this.order.sort((a, b) => {
        const x = keys[a], y = keys[b];
        if (x === null || y === null) return (x === null) - (y === null) || a - b;
        return (x < y ? -sign : x > y ? sign : 0) || a - b;
      });
      for (const each of this.heads) each.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", now);
      this.sorted = number;
      this.select.value = String(number);
      this.reverse.disabled = false;
      this.show();
      void this.body.offsetHeight; // the time includes the layout
      this.box.dataset.sortMs = (performance.now() - begin).toFixed(1);
    }

    unsort() {
      for (const each of this.heads) each.setAttribute("aria-sort", "none");
      this.order = this.rows.map((_, i) => i);
      this.sorted = -1;
      this.reverse.disabled = true;
      this.show();
    }

    // Every word must occur in the row.
    show() {
      const words = this.input.value.toLowerCase().split(/\s+/).filter(Boolean);
      const found = this.order.filter((i) => words.every((word) => this.names[i].includes(word)));
      const drawn = found.slice(0, this.limit);
      this.draw(drawn.map((i) => this.rows[i]));
      this.fit();
      this.count.textContent = `${found.length} of ${this.rows.length} rows` +
        (drawn.length < found.length ? `, the first ${drawn.length} shown` : "");
      this.all.hidden = drawn.length === found.length;
      this.box.dataset.found = String(found.length);
    }

    // Puts many rows into several bodies, since a browser does not lay out a body that is out of
    // sight (page.css). It does that only for blocks, so the rows become grids then.
    draw(rows) {
      const is_long = rows.length > SHOWN;
      if (is_long) this.fixWidths();
      this.table.classList.toggle("chunked", is_long);
      const chunk = is_long ? CHUNK : SHOWN;
      this.body.replaceChildren(...rows.slice(0, chunk));
      for (const body of [...this.table.tBodies].slice(1)) body.remove();
      for (let begin = chunk; begin < rows.length; begin += chunk) {
        const body = document.createElement("tbody");
        body.append(...rows.slice(begin, begin + chunk));
        this.table.append(body);
      }
    }

    // Shows the rows as cards if some column would be outside of the box.
    fit() {
      if (!this.scroll.clientWidth) return; // folded
      this.box.classList.remove("cards");
      this.box.classList.toggle("cards", this.scroll.scrollWidth > this.scroll.clientWidth);
    }

    // Shows the row and returns whether the table has it.
    reveal(is_wanted) {
      const found = this.rows.findIndex(is_wanted);
      if (found < 0) return false;
      this.input.value = "";
      if (this.order.indexOf(found) >= this.limit) this.limit = Infinity;
      this.show();
      unfold(this.box);
      for (const row of this.rows) row.classList.remove("found");
      this.rows[found].classList.add("found");
      this.rows[found].scrollIntoView({ block: "center" });
      return true;
    }

    // Takes the widths of the columns from the rows that are drawn.
    fixWidths() {
      if (this.table.style.minWidth || !this.heads[0].offsetWidth) return; // folded, or cards
      const widths = this.heads.map((head) => head.getBoundingClientRect().width);
      this.table.style.setProperty("--columns",
        widths.map((width) => `minmax(0, ${width.toFixed(1)}fr)`).join(" "));
      this.table.style.minWidth = `${this.table.offsetWidth}px`;
    }
  }

  function unfold(element) {
    for (let at = element; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  }

  // A folded table has no width.
  document.addEventListener("toggle", (event) => {
    for (const table of tables) if (event.target.contains(table.box)) table.fit();
  }, true);

  const tables = [...document.querySelectorAll(".sortable-box")].map((box) => new CaseTable(box));

  // Unfolds and shows the row or section with this id.
  function reveal(id) {
    if (tables.some((table) => table.reveal((row) => row.id === id))) return;
    const target = id && document.getElementById(id);
    if (!target) return;
    unfold(target);
    target.scrollIntoView();
  }
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element && event.target.closest("a[href^='#']");
    if (!link) return;
    event.preventDefault();
    const fragment = link.getAttribute("href");
    if (location.hash !== fragment) history.pushState(null, "", fragment);
    reveal(fragment.slice(1));
  });
  addEventListener("popstate", () => reveal(location.hash.slice(1)));

  // `#sort=median&order=ascending&filter=conv` opens the page in this state.
  const wish = new URLSearchParams(location.hash.slice(1));
  for (const table of tables) {
    const number = table.heads.findIndex((head) => head.textContent.trim() === wish.get("sort"));
    if (wish.has("filter") || number >= 0) unfold(table.box);
    if (wish.has("filter")) { table.input.value = wish.get("filter"); table.show(); }
    if (number >= 0) table.sort(number, wish.get("order"));
  }
  reveal(location.hash.slice(1));

  // Paper shows everything, with the columns that fit a wide window, since its text is smaller.
  let printed = [];
  addEventListener("beforeprint", () => {
    printed = [...document.querySelectorAll("details.section:not([open])")];
    for (const section of printed) section.open = true;
    for (const table of tables) {
      table.box.style.width = "1160px";
      table.fit();
      table.box.style.width = "";
    }
  });
  addEventListener("afterprint", () => {
    for (const section of printed) section.open = false;
    for (const table of tables) table.fit();
  });

  // Tooltips: `<title>` of a mark, for a pointer, a finger and the arrow keys.
  const tip = document.getElementById("tip");
  let current = null;
  const titles = new WeakMap();
  function textOf(mark) {
    const title = mark.querySelector("title");
    if (title) {
      titles.set(mark, title.textContent);
      mark.setAttribute("aria-label", title.textContent);
      title.remove(); // the browser would show a tooltip of its own
    }
    return titles.get(mark) || "";
  }
  function show(mark, x, y) {
    if (current) current.classList.remove("current");
    current = mark;
    if (!mark) { tip.hidden = true; return; }
    mark.classList.add("current");
    tip.textContent = textOf(mark);
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(x + 12, innerWidth - box.width - 8))}px`;
    tip.style.top = `${y + 14 + box.height > innerHeight ? Math.max(4, y - box.height - 10) : y + 14}px`;
  }
  for (const kind of ["pointermove", "pointerdown"]) {
    document.addEventListener(kind, (event) => {
      const mark = event.target instanceof Element ? event.target.closest("svg .mark") : null;
      if (mark || current) show(mark, event.clientX, event.clientY);
    });
  }
  // A mark that stands for a case leads to its row.
  function follow(mark) {
    const id = mark && textOf(mark).split("\n")[0];
    const is_row = (row) => [...row.cells].some((cell) =>
      cell.classList.contains("id") && cell.textContent === id);
    if (id) tables.some((table) => table.reveal(is_row));
  }
  document.addEventListener("click", (event) => {
    follow(event.target instanceof Element ? event.target.closest("svg .mark") : null);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && document.activeElement instanceof SVGSVGElement) follow(current);
    if (event.key === "Escape") show(null);
    const svg = document.activeElement;
    if (!(svg instanceof SVGSVGElement)) return;
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const marks = [...svg.querySelectorAll(".mark")];
    if (!marks.length) return;
    event.preventDefault();
    const at = marks.indexOf(current);
    const mark = marks[at < 0 ? 0 : (at + step + marks.length) % marks.length];
    mark.scrollIntoView({ block: "nearest" });
    const box = mark.getBoundingClientRect();
    show(mark, box.left + box.width / 2, box.top + box.height / 2);
  });
  document.addEventListener("focusout", () => show(null));
  document.documentElement.dataset.ready = "yes";
})();
