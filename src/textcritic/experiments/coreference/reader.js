// The reader of mentions: what is said of an unlikely mention below its article is shown beside it, too.
{
  const tip = document.createElement("div");
  tip.className = "reason-tip";
  tip.setAttribute("aria-hidden", "true"); // it is the description of the link that has it
  tip.hidden = true;
  document.body.append(tip);

  const hide = () => { tip.hidden = true; };
  const show = (link, reason) => {
    tip.replaceChildren(`${reason.dataset.why}. `, ...reason.cloneNode(true).childNodes);
    tip.hidden = false;
    const box = link.getBoundingClientRect();
    const room = document.documentElement.clientWidth - tip.offsetWidth - 12;
    const above = box.bottom + tip.offsetHeight + 24 > innerHeight && box.top > tip.offsetHeight + 12;
    tip.style.left = `${Math.max(12, Math.min(box.left, room)) + scrollX}px`;
    tip.style.top = `${(above ? box.top - tip.offsetHeight - 6 : box.bottom + 16) + scrollY}px`;
  };
  for (const link of document.querySelectorAll("a.unlikely")) {
    const reason = document.getElementById(link.hash.slice(1));
    link.setAttribute("aria-describedby", reason.id);
    for (const event of ["mouseenter", "focus"]) link.addEventListener(event, () => show(link, reason));
    for (const event of ["mouseleave", "blur"]) link.addEventListener(event, hide);
    link.addEventListener("click", (event) => {
      event.preventDefault();
      show(link, reason);
    });
  }
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
}
