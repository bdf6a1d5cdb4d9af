// ---- Controls -------------------------------------------------------------------------------------------------------

function choice(container, name, options, chosen, choose) {
  const buttons = options.map(([value, label, title]) => element("button", { type: "button", title, "aria-pressed": String(value === chosen), "data-value": value, click: () => {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.value === value));
    choose(value);
  } }, label));
  container.append(element("span", { class: "choice", role: "group", "aria-label": name }, buttons));
}

function makeControls(model, view) {
  const bar = byId("graph-controls");
  if (isEmpty(model)) {
    bar.hidden = true;
    return;
  }
  if (model.edges.length && model.pairs.length) {
    choice(bar, "Which graph", [["causal", "Causal graph", "arrows from cause to effect"], ["moral", "Moral graph", "who is in whose boundary"]], view.mode, (mode) => view.setMode(mode));
  } else {
    bar.prepend(view.mode === "causal" ? element("strong", { title: "arrows from cause to effect" }, "Causal graph") : element("strong", { title: "who is in whose boundary" }, "Moral graph"));
  }
  if (view.kinds.length > 1) {
    const layouts = { layered: ["Layered", "causes above their effects"], free: ["Free", "linked variables close together"], clusters: ["Clusters", "groups with many links inside, to open one by one"] };
    choice(bar, "Layout", view.kinds.map((kind) => [kind, ...layouts[kind]]), view.kind, (kind) => view.setKind(kind));
  }
  bar.append(element("span", { id: "groups", hidden: true },
    element("button", { type: "button", id: "open-all", click: () => view.setAllOpen(true) }, "Open all"),
    element("button", { type: "button", id: "close-all", click: () => view.setAllOpen(false) }, "Close all")));
  const button = (label, title, click) => element("button", { type: "button", title, "aria-label": title, click }, label);
  byId("graph-buttons").append(
    button("+", "Zoom in", () => view.zoomBy(1.4)),
    button("\u2212", "Zoom out", () => view.zoomBy(1 / 1.4)),
    button("Fit", "Fit the whole graph", () => view.fitAll()),
    button("PNG", "Download the picture as PNG", () => view.toImage((blob) => download(blob, "graph.png"))));
}

function makeKeys(view, select) {
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

const stepChoices = [[0, "all"], [1, "1 step"], [2, "2 steps"], [3, "3 steps"]];

/** The filters of the graph; returns what brings them up to date. */
function makeFilters(model, view) {
  const bar = byId("graph-filters");
  if (isEmpty(model)) {
    bar.hidden = true;
    return () => showNothing(model, view, () => {});
  }
  const said = element("output", { id: "strength-words", for: "strength" });
  const strength = element("input", { id: "strength", type: "range", min: "1", max: "100", value: "100", "aria-describedby": "strength-words", input: (event) => change({ strongest: Number(event.target.value) / 100 }) });
  const decided = element("input", { id: "decided", type: "checkbox", change: (event) => change({ decided: event.target.checked }) });
  const sure = element("label", { class: "check", title: "without edges whose direction the data do not decide" }, decided, "Decided directions only");
  const around = element("label", { class: "around" }, element("span", { id: "around-words" }), element("select", { id: "steps", change: (event) => change({ steps: Number(event.target.value) }) },
    stepChoices.map(([value, words]) => element("option", { value }, words))));
  bar.append(element("label", { class: "strength" }, "Evidence", strength), said, sure, around);
  const change = (filter) => {
    view.setFilter(filter);
    drawLegend(model, view);
    show();
  };
  const reset = () => {
    Object.assign(strength, { value: "100" });
    decided.checked = false;
    change({ strongest: 1, decided: false });
  };
  const show = () => {
    const links = view.mode === "causal" ? model.edges : model.pairs;
    const shownLinks = view.shown.filter((link) => !link.hidden);
    const word = view.mode === "causal" ? "edge" : "pair";
    const least = d3.min(shownLinks, (link) => link.value);
    said.textContent = shownLinks.length === links.length ? `all ${count(links.length, word)}` : `${shownLinks.length.toLocaleString("en")} of ${count(links.length, word)}${isNumber(least) && view.filter.strongest < 1 ? `, from ${figure(least)}` : ""}`;
    strength.setAttribute("aria-valuetext", `strongest ${strength.value} percent`);
    sure.hidden = view.mode !== "causal" || !(model.hidden.length || model.edges.some((edge) => !edge.directed));
    byId("around-words").replaceChildren(...(view.selected ? ["Around ", element("bdi", {}, shortened(view.selected.name, 14))] : ["Around a variable"]));
    const steps = byId("steps");
    steps.disabled = !view.selected;
    steps.value = String(view.filter.steps);
    around.title = view.selected ? "only what is so many links away" : "choose a variable first";
    byId("groups").hidden = !view.grouped();
    byId("open-all").disabled = view.clusters.every((cluster) => cluster.open);
    byId("close-all").disabled = view.clusters.every((cluster) => !cluster.open);
    showNothing(model, view, reset);
  };
  return show;
}

/** In place of dots without lines: that nothing was found, or that nothing is left by the filters. */
function showNothing(model, view, reset) {
  const box = byId("nothing");
  const none = isEmpty(model), filtered = !none && !view.shown.length;
  box.hidden = !none && !filtered;
  box.className = none ? "whole" : "over";
  if (none) {
    byId("graph").hidden = true;
    document.documentElement.dataset.empty = "true";
    box.replaceChildren(element("h2", {}, "Nothing was found"), element("p", {}, `None of ${count(model.variables.length, "variable")} is seen to tell anything about another that could be told from chance.`), element("ul", { class: "hints" }, whyNothing(model).map((sentence) => element("li", {}, sentence))));
  } else if (filtered) {
    box.replaceChildren(element("h2", {}, "No link passes these filters"), element("button", { type: "button", click: reset }, "Show all links"));
  }
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
  byId("legend").hidden = isEmpty(model);
  if (view.grouped()) entries.push(element("li", {}, element("span", { class: "sample bubble" }), element("span", {}, "cluster", element("span", { class: "reading" }, ": click opens it"))));
  if (view.mode === "causal") {
    entries.push(line("arrow", "cause \u2192 effect"));
    if (model.edges.some((edge) => !edge.directed)) entries.push(line("dashed", "undecided"));
    if (model.hidden.length) entries.push(line("dotted", "\u2194 a hidden cause, perhaps"));
  } else {
    entries.push(line("", "one is in the other\u2019s boundary"));
  }
  entries.push(line("thick", view.grouped() ? "thicker: more evidence, or more links" : "thicker: more evidence"));
  const linksOf = view.mode === "causal" ? model.edges : model.pairs;
  const linksShown = view.shown.filter((link) => !link.hidden).length;
  if (linksShown < linksOf.length) entries.push(element("li", {}, `${linksShown.toLocaleString("en")} of ${count(linksOf.length, view.mode === "causal" ? "edge" : "pair")} shown`));
  if (view.scope) entries.push(element("li", {}, `within ${count(view.filter.steps, "step")} of it`));
  if (view.unlinkedHidden && !view.grouped()) entries.push(element("li", {}, `${count(view.unlinkedHidden, "variable")} without links not drawn; search finds them`));
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
  const said = (words) => element("li", { class: "none", role: "option", "aria-disabled": "true", "aria-selected": "false" }, words);
  const show = () => {
    const all = matches(model, input.value);
    found = all.slice(0, mostMatches);
    active = Math.min(active, Math.max(found.length - 1, 0));
    const options = found.map((variable, index) => element("li", { role: "option", id: `match-${index}`, "aria-selected": String(index === active), mousedown: (event) => {
      event.preventDefault();
      choose(variable);
    } }, element("bdi", {}, shown(variable.name)), element("small", {}, count(variable.members.length, "member"))));
    if (input.value.trim() && !found.length) options.push(said("no such variable"));
    if (all.length > found.length) options.push(said(`and ${all.length - found.length} more`));
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
