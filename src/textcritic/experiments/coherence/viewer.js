// Long sections are clipped until a button shows all of them.
for (const text of document.querySelectorAll(".passage .long")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Show all of this section";
  button.setAttribute("aria-expanded", "false");
  text.classList.add("clipped");
  text.after(button);
}
document.addEventListener("click", (event) => {
  const button = event.target.closest(".passage button");
  if (!button) return;
  const clipped = button.previousElementSibling.classList.toggle("clipped");
  button.textContent = clipped ? "Show all of this section" : "Show less";
  button.setAttribute("aria-expanded", String(!clipped));
});
