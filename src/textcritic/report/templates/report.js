"use strict";

// Panes with a picker: one of a group is shown at a time; the buttons next to the picker step through them.
for (const picker of document.querySelectorAll("select[data-group]")) {
  const panes = document.querySelectorAll(`[data-pane="${picker.dataset.group}"]`);
  const controls = picker.closest(".controls");
  const buttons = [...controls.querySelectorAll("[data-move]")];
  const target = (button) => picker.selectedIndex + Number(button.dataset.move);
  const show = () => {
    panes.forEach((pane) => { pane.hidden = pane.dataset.key !== picker.value; });
    buttons.forEach((button) => { button.disabled = !picker.options[target(button)]; });
  };
  buttons.forEach((button) => button.addEventListener("click", () => {
    picker.selectedIndex = target(button);
    show();
  }));
  picker.addEventListener("change", show);
  controls.hidden = false;
  show();
}

// Readers: a table of documents that sorts and filters, next to it the chosen one, and a second one for comparison.
for (const reading of document.querySelectorAll(".reading")) {
  const first = reading.querySelector(".side");
  const sides = first.parentElement;
  for (const head of first.querySelectorAll("thead th")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    head.setAttribute("aria-sort", "none");
  }
  first.querySelectorAll("[hidden]").forEach((node) => { node.hidden = false; });

  const valueOf = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.value === undefined ? cell.textContent.trim() : Number(cell.dataset.value);
  };
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? (a > b) - (a < b)
    : String(a).localeCompare(String(b), "en", { numeric: true, sensitivity: "base" }));

  const operate = (side, start) => {
    const [source, filter, back, next, place] =
      ["source", "filter", "back", "next", "place"].map((name) => side.querySelector(`[data-part="${name}"]`));
    const shelves = [...side.querySelectorAll(".shelf")];
    const shelf = () => shelves[source.selectedIndex];
    const links = () => [...shelf().querySelectorAll("tbody tr:not([hidden]) a")];
    const chosen = () => shelf().querySelector('tbody a[aria-current="true"]');
    const textOf = (link) => document.getElementById(link.hash.slice(1));

    const say = () => {
      const all = shelf().querySelectorAll("tbody tr").length;
      const among = links();
      const at = among.indexOf(chosen());
      back.disabled = at <= 0;
      next.disabled = at < 0 || at + 1 >= among.length;
      const filtered = shelf().querySelector("tbody tr[hidden]") ? `, of ${all} before the filter` : "";
      place.textContent = at < 0 ? (all ? `None of ${all} documents fits the filter.` : "") : `Document ${at + 1} of ${among.length}${filtered}.`;
    };
    const show = (link) => {
      for (const other of shelf().querySelectorAll("tbody a")) {
        const here = other === link;
        other.tabIndex = here ? 0 : -1;
        if (here) other.setAttribute("aria-current", "true"); else other.removeAttribute("aria-current");
        other.closest("tr").classList.toggle("chosen", here);
        textOf(other).hidden = !here;
      }
      const row = link?.closest("tr");
      const box = row?.closest(".scores");
      if (box) {
        const head = box.querySelector("thead").offsetHeight;
        box.scrollTop = Math.min(Math.max(box.scrollTop, row.offsetTop + row.offsetHeight - box.clientHeight), row.offsetTop - head);
      }
      say();
    };
    const narrow = () => {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const row of shelf().querySelectorAll("tbody tr")) {
        const link = row.querySelector("a");
        const text = `${row.textContent} ${link ? textOf(link).textContent : ""}`.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
      }
      const among = links();
      show(among.includes(chosen()) ? chosen() : among[0]);
    };
    const sort = (head) => {
      const heads = [...head.parentElement.cells];
      const column = heads.indexOf(head);
      const way = head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
      heads.forEach((other) => other.setAttribute("aria-sort", other === head ? way : "none"));
      const body = head.closest("table").tBodies[0];
      const turn = way === "ascending" ? 1 : -1;
      body.append(...[...body.rows].sort((a, b) => turn * compare(valueOf(a, column), valueOf(b, column))));
      say();
    };
    const open = () => {
      shelves.forEach((other) => { other.hidden = other !== shelf(); });
      narrow();
    };
    const move = (by) => {
      const among = links();
      show(among[Math.min(Math.max(among.indexOf(chosen()) + by, 0), among.length - 1)]);
    };

    side.addEventListener("click", (event) => {
      const head = event.target.closest("thead th");
      const link = event.target.closest("tbody tr")?.querySelector("a");
      if (head) sort(head);
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      show(link);
    });
    side.addEventListener("keydown", (event) => {
      const by = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity }[event.key];
      if (!by || !event.target.closest("tbody a")) return;
      event.preventDefault();
      move(by);
      chosen().focus({ preventScroll: true });
    });
    // The address of a document opens its source.
    side.addEventListener("reveal", (event) => {
      source.selectedIndex = shelves.findIndex((other) => other.contains(event.target));
      filter.value = "";
      open();
      show(links().find((link) => textOf(link) === event.target));
    });
    source.addEventListener("change", open);
    filter.addEventListener("input", narrow);
    back.addEventListener("click", () => move(-1));
    next.addEventListener("click", () => move(1));
    source.selectedIndex = start;
    open();
  };

  // A copy has ids of its own, and links to them.
  const copied = () => {
    const copy = first.cloneNode(true);
    const ids = new Set([...copy.querySelectorAll("[id]")].map((node) => node.id));
    for (const node of copy.querySelectorAll("[id], [href], [aria-describedby]")) {
      if (node.id) node.id = `${node.id}-second`;
      for (const name of ["href", "aria-describedby"]) {
        const target = node.getAttribute(name);
        if (ids.has(target?.replace("#", ""))) node.setAttribute(name, `${target}-second`);
      }
    }
    copy.querySelector('[data-part="second"]').remove();
    copy.setAttribute("aria-label", "Second document");
    return copy;
  };
  // The source of the second document: for a sample real text of its corpus, else the next source.
  const secondSource = () => {
    const shelves = [...first.querySelectorAll(".shelf")];
    const here = shelves.find((shelf) => !shelf.hidden);
    const real = shelves.findIndex((shelf) => shelf !== here && "real" in shelf.dataset && shelf.dataset.corpus === here.dataset.corpus);
    return real >= 0 ? real : (shelves.indexOf(here) + 1) % shelves.length;
  };
  const second = first.querySelector('[data-part="second"]');
  second.addEventListener("click", () => {
    const other = sides.children[1];
    if (other) other.remove();
    else {
      const copy = copied();
      const start = secondSource();
      sides.append(copy);
      operate(copy, start);
    }
    second.textContent = other ? "Open a second document" : "Close the second document";
  });
  operate(first, first.querySelector('[data-part="source"]').selectedIndex);
}

// Sections open and close. A link to something inside opens all around it; browsers of today do so themselves, older ones do not.
{
  const contents = document.querySelector("nav .contents");
  const wide = matchMedia("(min-width: 70rem)");
  const unfold = () => { contents.open = wide.matches; };
  wide.addEventListener("change", unfold);
  unfold();

  const reveal = (smooth) => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (!wide.matches) contents.open = false;
    for (let node = target; node; node = node.parentElement) if (node.matches("details")) node.open = true;
    target.closest(".reading article")?.dispatchEvent(new Event("reveal", { bubbles: true }));
    target.scrollIntoView({ behavior: smooth ? "smooth" : "instant" });
  };
  // A second click on the same link changes no hash, and its section may have been closed since.
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link && link.hash === location.hash && !event.defaultPrevented) reveal(true);
  });
  addEventListener("hashchange", () => reveal(true));
  if (location.hash) reveal(false);

  const sections = [...document.querySelectorAll("details.section")];
  const lists = [...document.querySelectorAll("nav [data-of]")];
  const follow = () => lists.forEach((list) => { list.hidden = !document.getElementById(list.dataset.of).open; });
  sections.forEach((section) => section.addEventListener("toggle", follow));
  follow();

  for (const button of document.querySelectorAll("[data-open]")) {
    button.closest("p").hidden = false;
    button.addEventListener("click", () => sections.forEach((section) => { section.open = button.dataset.open === "all"; }));
  }

  // Paper shows everything, and the screen afterwards what it showed before.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    closed.forEach((node) => { node.open = true; });
  });
  addEventListener("afterprint", () => closed.forEach((node) => { node.open = false; }));
}
