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

window.addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((node) => { node.open = true; }));
