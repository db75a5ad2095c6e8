// The reader of mentions: the reason for an unlikely mention, listed below its article, is also shown at the mention.
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
  document.querySelectorAll("a.unlikely").forEach((link) => link.setAttribute("aria-describedby", link.hash.slice(1)));
  // Links of a second document, which comes later, do the same.
  const over = (event) => {
    const link = event.target.closest("a.unlikely");
    if (!link) return;
    if (event.type === "click") event.preventDefault();
    show(link, document.getElementById(link.hash.slice(1)));
  };
  const away = (event) => { if (event.target.closest("a.unlikely")) hide(); };
  for (const event of ["mouseover", "focusin", "click"]) document.addEventListener(event, over);
  for (const event of ["mouseout", "focusout"]) document.addEventListener(event, away);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
}
