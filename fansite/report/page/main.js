// ---- The page -------------------------------------------------------------------------------------------------------

function main() {
  const model = readModel(JSON.parse(byId("results").textContent));
  applyTheme();
  byId("summary").append(...summarySentences(model).flatMap((sentence) => [sentence, " "]));
  byId("banners").append(...bannerParts(model));
  if (!model.boundaries && !model.graph) {
    showWithoutGraph(model);
    return;
  }

  const select = (variable, { reveal = false } = {}) => {
    const details = byId("details");
    const wasInside = details.contains(document.activeElement);
    view.select(variable);
    details.replaceChildren(...(variable ? variableDetails(variable, model, select) : overview(model, select)).flat(Infinity).filter(Boolean));
    details.scrollTop = 0;
    // What had the focus is gone; without this the keyboard would start again at the top of the page.
    if (wasInside) details.querySelector("h2").focus({ preventScroll: true });
    byId("graph").dataset.selected = variable ? variable.name : "";
    drawLegend(model, view);
    if (variable && reveal) view.reveal(variable);
    announce(variable ? `${shown(variable.name)}: ${leadSentence(variable)}` : "Nothing selected.");
  };
  const view = new GraphView(byId("graph"), model, {
    select,
    point: (variable) => announce(`${shown(variable.name)}, ${count(variable.members.length, "member")}. Enter selects.`),
  });
  select(null);
  announce("");

  makeControls(model, view, select);
  makeSearch(model, select);
  // What is below the fold may come after the first picture.
  requestAnimationFrame(() => setTimeout(() => makeSections(model, view, select)));
  // For the tests of the page: a canvas does not tell where it has drawn what.
  window.fansitePlaceOf = (name) => view.placeOf(model.byName.get(name));
}

/** A comparison alone has no graph to draw and no variable to select. */
function showWithoutGraph(model) {
  document.documentElement.dataset.only = "comparison";
  makePageControls(() => {});
  makeSections(model, null, () => {});
}

const announce = (words) => {
  byId("announcer").textContent = words;
};

// ---- Theme ----------------------------------------------------------------------------------------------------------

const darkSystem = matchMedia("(prefers-color-scheme: dark)");
let chosenTheme = null; // kept in the page alone: files have no storage of their own

function applyTheme(theme = chosenTheme || (darkSystem.matches ? "dark" : "light")) {
  document.documentElement.dataset.theme = theme;
}

// ---- Controls -------------------------------------------------------------------------------------------------------

function choice(container, name, options, chosen, choose) {
  const buttons = options.map(([value, label, title]) => element("button", { type: "button", title, "aria-pressed": String(value === chosen), "data-value": value, click: () => {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.value === value));
    choose(value);
  } }, label));
  container.append(element("span", { class: "choice", role: "group", "aria-label": name }, buttons));
}

function makeControls(model, view, select) {
  const bar = byId("graph-controls");
  if (model.edges.length && model.pairs.length) {
    choice(bar, "Which graph", [["causal", "Causal graph", "arrows from cause to effect"], ["moral", "Moral graph", "who is in whose boundary"]], view.mode, (mode) => {
      view.setMode(mode);
      drawLegend(model, view);
    });
  } else {
    bar.prepend(element("strong", {}, view.mode === "causal" ? "Causal graph" : "Moral graph: who is in whose boundary"));
  }
  if (view.canLayer()) {
    choice(bar, "Layout", [["layered", "Layered", "causes above their effects"], ["free", "Free", "linked variables close together"]], view.kind, (kind) => view.setKind(kind));
  }
  const button = (label, title, click) => element("button", { type: "button", title, "aria-label": title, click }, label);
  byId("graph-buttons").append(
    button("+", "Zoom in", () => view.zoomBy(1.4)),
    button("\u2212", "Zoom out", () => view.zoomBy(1 / 1.4)),
    button("Fit", "Fit the whole graph", () => view.fitAll()),
    button("PNG", "Download the picture as PNG", () => view.toImage((blob) => download(blob, "graph.png"))));

  makePageControls(() => {
    view.readColours();
    view.draw();
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.matches("input, textarea, select");
    if (event.key === "/" && !typing) {
      event.preventDefault();
      byId("search").focus();
    } else if (event.key === "Escape" && !typing) {
      select(null);
    }
  });
}

/** What every page has. */
function makePageControls(redraw) {
  byId("theme").addEventListener("click", () => {
    chosenTheme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    applyTheme();
    redraw();
  });
  darkSystem.addEventListener("change", () => {
    applyTheme();
    redraw();
  });
  byId("print").addEventListener("click", () => window.print());
}

function drawLegend(model, view) {
  const line = (className, words) => element("li", {}, element("span", { class: `sample ${className}` }), words);
  const entries = [];
  if (view.selected) {
    const present = new Set(view.selected.members.map((member) => member.role));
    entries.push(element("li", {}, element("span", { class: "sample target" }), element("bdi", {}, shortened(view.selected.name, 16))));
    for (const role of Object.keys(roles)) {
      if (present.has(role)) entries.push(element("li", { title: roles[role].title }, roleMark(role), roles[role].plural));
    }
  }
  if (view.mode === "causal") {
    entries.push(line("arrow", "cause \u2192 effect"));
    if (model.edges.some((edge) => !edge.directed)) entries.push(line("dashed", "undecided"));
    if (model.hidden.length) entries.push(line("dotted", "\u2194 a hidden cause, perhaps"));
  } else {
    entries.push(line("", "one is in the other\u2019s boundary"));
  }
  entries.push(line("thick", "thicker: more evidence"));
  byId("legend").replaceChildren(...entries);
}

// ---- Search ---------------------------------------------------------------------------------------------------------

const mostMatches = 12;

/** Names that hold the text, those that begin with it first. */
function matches(model, text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  const found = model.variables.map((variable) => ({ variable, at: variable.name.toLowerCase().indexOf(wanted) })).filter(({ at }) => at >= 0);
  found.sort((a, b) => Number(a.at > 0) - Number(b.at > 0) || a.variable.name.length - b.variable.name.length || compare(a.variable.name, b.variable.name));
  return found.map(({ variable }) => variable);
}

function makeSearch(model, select) {
  const input = byId("search"), list = byId("matches");
  let found = [], active = 0;
  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const choose = (variable) => {
    input.value = "";
    close();
    select(variable, { reveal: true });
    byId("graph").focus({ preventScroll: true });
  };
  const show = () => {
    const all = matches(model, input.value);
    found = all.slice(0, mostMatches);
    active = Math.min(active, Math.max(found.length - 1, 0));
    const options = found.map((variable, index) => element("li", { role: "option", id: `match-${index}`, "aria-selected": String(index === active), mousedown: (event) => {
      event.preventDefault();
      choose(variable);
    } }, element("bdi", {}, shown(variable.name)), element("small", {}, count(variable.members.length, "member"))));
    if (input.value.trim() && !found.length) options.push(element("li", { class: "none" }, "no such variable"));
    if (all.length > found.length) options.push(element("li", { class: "none" }, `and ${all.length - found.length} more`));
    list.replaceChildren(...options);
    list.hidden = !options.length;
    input.setAttribute("aria-expanded", String(!list.hidden));
    if (found.length) input.setAttribute("aria-activedescendant", `match-${active}`);
  };
  input.addEventListener("input", () => {
    active = 0;
    show();
  });
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && found.length) {
      active = (active + step + found.length) % found.length;
      show();
      event.preventDefault();
    } else if (event.key === "Enter" && found[active]) {
      choose(found[active]);
    } else if (event.key === "Escape") {
      input.value = "";
      close();
      input.blur();
    }
  });
  input.addEventListener("blur", close);
  input.addEventListener("focus", () => input.value && show());
}

// ---- Below the graph, and on paper ----------------------------------------------------------------------------------

function makeSections(model, view, select) {
  const tables = makeTables(model, (variable, options) => {
    select(variable, options);
    byId("graph").scrollIntoView({ block: "nearest", behavior: view.calm ? "auto" : "smooth" });
  });
  const all = tables.map((table) => table.section);
  const methods = all.filter((section) => section.id === "methods"), others = all.filter((section) => section.id !== "methods");
  const sections = [...methods, agreementSection(model), trainingSection(model), calibrationSection(model), ...others, settingsSection(model), runSection(model), limitsSection(model)].filter(Boolean);
  byId("sections").replaceChildren(...sections);
  byId("contents").append(...sections.map((section) => element("a", { href: `#${section.id}` }, section.querySelector("h2").firstChild.textContent)));
  byId("footer").append(`Made by fansite ${model.version}. This file is complete: it loads nothing and sends nothing. Figures are rounded to six digits; the JSON results have them all.`);

  let before = null;
  window.addEventListener("beforeprint", () => {
    before = tables.filter((table) => !table.expanded());
    for (const table of before) table.expand();
    applyTheme("light");
    view?.readColours();
    view?.freeze(3);
  });
  window.addEventListener("afterprint", () => {
    for (const table of before || []) table.collapse();
    applyTheme();
    view?.readColours();
    view?.thaw();
  });
  document.documentElement.dataset.ready = "true";
}

main();
