// The article viewer.
for (const viewer of document.querySelectorAll(".viewer")) {
  const data = JSON.parse(viewer.querySelector("script").textContent);
  const find = (name) => viewer.querySelector(`[data-part="${name}"]`);
  const [source, order, back, next, worst, place, reader] =
    ["source", "order", "back", "next", "worst", "place", "page"].map(find);
  const titles = [...new Set(data.sources.flatMap((s) => s.articles.flatMap((a) => a.sections.map((x) => x.title))))].sort();
  const hues = new Map(titles.map((title, i) => [title, Math.round((i * 137.508 + 205) % 360)]));
  let articles = [];
  let at = 0;

  const make = (tag, className, text) => {
    const node = document.createElement(tag);
    if (className) node.className = className;
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const percent = (p) => {
    const value = 100 * p;
    if (value > 0 && value < 0.01) return "< 0.01%";
    return `${value === 0 || value >= 10 ? Math.round(value) : value.toFixed(value >= 1 ? 1 : 2)}%`;
  };

  const step = (from, to, p) => {
    if (p === undefined) return make("div", "step", `${from} → ${to}`);
    const unlikely = p < data.threshold;
    const node = make("div", unlikely ? "step unlikely" : "step");
    node.append(make("span", "", `${from} → ${to}`), make("span", "", `P ${p > 0 && p < 1e-4 ? "" : "= "}${percent(p)}${unlikely ? ", unlikely in real text" : ""}`));
    return node;
  };

  const passage = (section) => {
    const node = make("section", "passage");
    node.style.setProperty("--hue", hues.get(section.title));
    node.append(make("span", "chip", section.title));
    if (!data.given) node.append(make("span", "sure", `${percent(section.sure)} sure`));
    if (section.given && section.given !== section.title) node.append(make("span", "sure", `titled “${section.given}”`));
    const text = make("p", "text", section.text);
    if (section.cut) text.append(` … (${section.cut.toLocaleString("en")} characters more)`);
    node.append(text);
    if (section.text.length > 700 || section.text.split("\n").length > 9) {
      text.classList.add("clipped");
      const toggle = make("button", "", "Show all of this section");
      toggle.type = "button";
      toggle.setAttribute("aria-expanded", "false");
      toggle.addEventListener("click", () => {
        const clipped = text.classList.toggle("clipped");
        toggle.textContent = clipped ? "Show all of this section" : "Show less";
        toggle.setAttribute("aria-expanded", String(!clipped));
      });
      node.append(toggle);
    }
    return node;
  };

  const render = () => {
    const group = data.sources[source.value];
    const article = articles[at];
    reader.replaceChildren();
    back.disabled = at === 0;
    next.disabled = at + 1 >= articles.length;
    worst.disabled = article?.rank === 1;
    place.textContent = article
      ? `Article ${at + 1} of the ${articles.length} in this page; ${group.total.toLocaleString("en")} were scored.`
      : "No article of this source could be scored.";
    if (!article) return;
    const errors = article.errors === 0 ? "no unlikely step" : article.errors === 1 ? "1 unlikely step" : `${article.errors} unlikely steps`;
    const ppl = article.ppl === null ? "∞" : article.ppl.toLocaleString("en", { maximumSignificantDigits: 3 });
    reader.append(make("h3", "", article.title || article.id));
    reader.append(make("p", "verdict", `Latent PPL of this article: ${ppl}; ${errors}. ` +
      `Number ${article.rank.toLocaleString("en")} of ${group.total.toLocaleString("en")} from the most incoherent.`));
    const names = ["begin", ...article.sections.map((section) => section.title), "end"];
    names.slice(1).forEach((name, i) => {
      reader.append(step(names[i], name, article.steps[i]));
      if (i < article.sections.length) reader.append(passage(article.sections[i]));
    });
  };

  const choose = () => {
    const key = order.value;
    articles = [...data.sources[source.value].articles].sort((a, b) => a[key] - b[key]);
    at = 0;
    render();
  };
  const move = (by) => {
    at = Math.min(Math.max(at + by, 0), articles.length - 1);
    render();
  };

  data.sources.forEach((group, i) => source.append(new Option(group.label, i)));
  source.value = String(data.start);
  source.addEventListener("change", choose);
  order.addEventListener("change", choose);
  back.addEventListener("click", () => move(-1));
  next.addEventListener("click", () => move(1));
  worst.addEventListener("click", () => {
    at = articles.findIndex((article) => article.rank === 1);
    render();
  });
  viewer.hidden = false;
  choose();
}
