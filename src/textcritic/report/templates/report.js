"use strict";

// Panes with a picker: one of a group is shown at a time; buttons beside the picker step through them.
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
