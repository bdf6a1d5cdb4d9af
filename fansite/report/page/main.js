// ---- The page -------------------------------------------------------------------------------------------------------

function main() {
  const model = readModel(JSON.parse(byId("results").textContent));
  applyTheme();
  byId("summary").append(...summarySentences(model).flatMap((sentence) => [sentence, " "]));
  byId("banners").append(...bannerParts(model));
  byId("banners").hidden = !byId("banners").children.length;
  makeTips();
  if (!drawsGraph(model)) {
    showWithoutGraph(model);
    return;
  }

  const select = (variable, { reveal = false } = {}) => {
    const details = byId("details");
    const wasInside = details.contains(document.activeElement);
    view.select(variable);
    details.replaceChildren(...(variable ? variableDetails(variable, model, select) : overview(model, select, view)).flat(Infinity).filter(Boolean));
    details.scrollTop = 0;
    // What had the focus is gone; without this the keyboard would start again at the top of the page.
    if (wasInside) details.querySelector("h2").focus({ preventScroll: true });
    byId("graph").dataset.selected = variable ? variable.name : "";
    drawLegend(model, view);
    showFilters();
    if (variable && reveal && !view.scope) view.reveal(variable);
    announce(variable ? `${shown(variable.name)}: ${leadSentence(variable)}` : "Nothing selected.");
  };
  const named = (item) => (item.variable ? shown(item.variable.name) : clusterName(item.cluster, Infinity));
  const view = new GraphView(byId("graph"), model, {
    select,
    point: (item) => {
      announce(item.variable ? `${named(item)}, ${count(item.variable.members.length, "member")}. Enter selects.` : `${named(item)}: a cluster. Enter opens it.`);
      pointAt(view, item, named(item));
    },
    hover: (item) => (item ? pointAt(view, item, named(item)) : hideTip()),
    change: () => {
      drawLegend(model, view);
      showFilters();
      if (view.selected) return;
      const focused = document.activeElement.closest?.(".clusters li");
      const place = focused && [...focused.parentNode.children].indexOf(focused);
      byId("details").replaceChildren(...overview(model, select, view).flat(Infinity).filter(Boolean));
      if (focused) byId("details").querySelectorAll(".clusters button")[place]?.focus({ preventScroll: true });
    },
  });
  makeControls(model, view);
  const showFilters = makeFilters(model, view);
  select(null);
  announce("");

  makePageControls(() => {
    view.painter.readColours();
    view.draw();
  });
  makeKeys(view, select);
  makeSearch(model, select);
  // What is below the fold may come after the first picture.
  requestAnimationFrame(() => setTimeout(() => makeSections(model, view, select)));
  // For the tests of the page: a canvas does not tell where it has drawn what.
  window.fansitePlaceOf = (name) => view.placeOf(model.byName.get(name));
  window.fansiteGraph = view;
}

/** The whole name beside what is pointed at, if the picture shows less. */
function pointAt(view, item, name) {
  if ([...name].length <= 20) {
    hideTip();
    return;
  }
  const { left, top } = view.canvas.getBoundingClientRect();
  const [x, y] = view.transform.apply([item.x, item.y]);
  showTip(name, left + x, top + y + view.radiusOf(item) + 14);
}

/** A comparison or a plan alone has no graph to draw and no variable to select. */
function showWithoutGraph(model) {
  document.documentElement.dataset.only = "sections";
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

// ---- Below the graph, and on paper ----------------------------------------------------------------------------------

function makeSections(model, view, select) {
  const tables = makeTables(model, (variable, options) => {
    select(variable, options);
    byId("graph").scrollIntoView({ block: "nearest", behavior: view.calm ? "auto" : "smooth" });
  });
  const all = tables.map((table) => table.section);
  const methods = all.filter((section) => section.id === "methods"), others = all.filter((section) => section.id !== "methods");
  const sections = [...methods, agreementSection(model), planSection(model), trainingSection(model), calibrationSection(model), ...others, settingsSection(model), runSection(model), limitsSection(model)].filter(Boolean);
  byId("sections").replaceChildren(...sections);
  byId("contents").append(...sections.map((section) => element("a", { href: `#${section.id}` }, section.querySelector("h2").firstChild.textContent)));
  byId("footer").append(`Made by fansite ${model.version}. This file is complete: it loads nothing and sends nothing. Figures are rounded to six digits; the JSON results have them all.`);

  makePrint(model, view, tables);
  document.documentElement.dataset.ready = "true";
}

/** On paper the caveats come with the summary, tables have more rows, and colours are those of daylight. */
function makePrint(model, view, tables) {
  let before = null, closed = [];
  const limits = byId("limits"), place = element("span", { hidden: true });
  window.addEventListener("beforeprint", () => {
    hideTip();
    before = tables.filter((table) => !table.expanded());
    for (const table of before) table.expand();
    closed = [...document.querySelectorAll("details.banner:not([open])")];
    for (const banner of closed) banner.open = true;
    limits.replaceWith(place);
    byId("front").append(limits);
    applyTheme("light");
    view?.painter.readColours();
    view?.freeze(3, view.paperSize());
  });
  window.addEventListener("afterprint", () => {
    for (const table of before || []) table.collapse();
    for (const banner of closed) banner.open = false;
    place.replaceWith(limits);
    applyTheme();
    view?.painter.readColours();
    view?.thaw();
  });
}

main();
