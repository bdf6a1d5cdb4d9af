// ---- Sections below the graph ---------------------------------------------------------------------------------------

const card = (id, title, ...children) => element("section", { id, class: "card" }, element("header", {}, element("h2", {}, title)), ...children);

function trainingSection({ boundaries }) {
  const training = boundaries?.training;
  if (!training?.curve?.length) return null;
  const { svg, key } = lossChart(training.curve);
  const heldOut = training.curve.some((point) => isNumber(point.held_out));
  return card("training", "Training", key, element("figure", {}, svg.node(), element("figcaption", {},
    `Loss of ${count(training.networks, "network")}, mean and spread (1 sd). Lower is better. It should have become flat${heldOut ? "; held-out rows that turn upwards while training ones fall would mean learning by heart" : ""}.`)));
}

/** How far the first and last fifth of the histogram stand above the middle, in words. */
function pitShape(pit) {
  const fifth = Math.max(1, Math.floor(pit.length / 5));
  const sum = (shares) => d3.sum(shares) / shares.length;
  const ends = (sum(pit.slice(0, fifth)) + sum(pit.slice(-fifth))) / 2;
  const ratio = ends / (sum(pit.slice(fifth, -fifth)) || 1e-9);
  if (ratio > 1.15) return "Here the ends are high: the networks are somewhat overconfident.";
  if (ratio < 0.87) return "Here the middle is high: the networks are somewhat too careful.";
  return "Here it is close to flat.";
}

function calibrationSection({ boundaries }) {
  const calibration = boundaries?.calibration;
  if (!calibration?.pit?.length) return null;
  const entries = calibration.variables || [];
  const off = entries.filter((entry) => isNumber(entry.p_value) && entry.p_value < 0.01).length;
  const rows = calibration.rows * Math.max(entries.length, 1);
  return card("calibration", "Calibration of the networks",
    element("figure", {}, pitChart(calibration.pit, rows, "Calibration histogram over all targets", { width: 620, height: 220 }).node(),
      element("figcaption", {}, "Each value of ", count(calibration.rows, "row"), " that the networks had not seen, placed within the distribution they predicted for it from its boundary. Right predictions give a flat histogram. A U (high ends) means too narrow, a hump means too wide, a slope means shifted predictions. ", pitShape(calibration.pit),
        entries.length ? ` For ${off} of ${count(entries.length, "variable")} the departure is beyond chance (p < 0.01). The band is what chance does (2 se, values taken as independent).` : "")));
}

/** Nested settings as one list of "a, b: value". */
function flattened(object, prefix = "") {
  return Object.entries(object || {}).flatMap(([key, value]) => {
    const name = prefix ? `${prefix}, ${spaced(key)}` : spaced(key);
    if (value !== null && typeof value === "object" && !Array.isArray(value)) return flattened(value, name);
    return [[name, value]];
  });
}

const settingText = (value) => {
  if (Array.isArray(value)) return value.length ? value.map(settingText).join("\n") : "none";
  if (value === null) return "\u2013";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number" && String(value).length > 8) return figure(value, 4);
  return String(value);
};

const definitions = (entries) => element("dl", {}, entries.map(([key, value]) => element("div", {}, element("dt", {}, key), element("dd", {}, settingText(value)))));

const kinds = ({ boundaries, graph, comparison }) => [["Boundaries", boundaries], ["Causal graph", graph], ["Comparison", comparison]].filter(([, result]) => result);

function settingsSection(model) {
  if (!kinds(model).length) return null;
  return card("settings", "Settings", kinds(model).map(([title, result]) => [element("h3", {}, title), definitions(flattened(result.settings))]));
}

function runSection(model) {
  if (!kinds(model).length) return null;
  // What single cells and methods of a comparison took is in its table.
  const phases = ({ cell_seconds, cell_peak_memory_mb, methods, ...timing } = {}) => Object.entries(timing).map(([key, value]) => {
    if (key.endsWith("_seconds")) return [key === "total_seconds" ? "time in all" : `time to ${spaced(key.replace("_seconds", "")).replace("graph", "find the graph").replace("boundary", "find boundaries")}`, duration(value)];
    if (key === "peak_memory_mb") return ["memory at most", `${Math.round(value)} MB`];
    return [spaced(key), value];
  });
  const facts = ({ estimator, threshold, steps, training, tested_pairs, details }) =>
    Object.entries({ estimator, threshold, steps, networks: training?.networks, training_steps: training?.steps, tested_pairs, ...details })
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([key, value]) => [runWords[key] || spaced(key), value]);
  return card("run", "Run", kinds(model).map(([title, result]) => [
    element("h3", {}, title),
    definitions([["version of fansite", result.version], ...facts(result), ...flattened(result.graph), ...flattened(result.additivity, "additivity"), ...phases(result.timing), ...flattened(result.manifest)]),
  ]));
}

const runWords = { threshold: "largest p-value admitted", fits: "regressions", steps: "search steps" };

const hiddenPairs = (model) => model.graph?.hidden_causes ?? model.boundaries?.graph?.hidden_causes;

/** What is known of hidden causes in this table: pairs that the graph does not explain, or that there are none. */
function hiddenWords(model) {
  const pairs = hiddenPairs(model);
  const general = "If something that was not measured acts on two variables, they will look linked, and an arrow between them may be wrong.";
  if (!pairs) return general;
  if (!pairs.length) return `${general} What the graph of this table leaves over is unrelated from variable to variable, so nothing speaks for one; that a graph over the measured columns fits is no proof that there is none.`;
  const named = pairs.slice(0, 5).map(({ a, b }) => `${shown(a)} \u2194 ${shown(b)}`).join(", ");
  return `${general} In this table what the graph leaves over is related between ${named}${pairs.length > 5 ? ` and ${pairs.length - 5} more pairs` : ""}: take what touches these variables as open.`;
}

const limits = (model) => (kinds(model).length ? limitsOfResults(model) : [["A plan is a prediction.", "It is made of measurements on one machine, as it was then. Another machine, or other work on the same, takes another time."]]);

const limitsOfResults = (model) => [
  ["Hidden common causes are not modelled.", hiddenWords(model)],
  ["Effects that cancel cannot be seen.", "If a cause acts along two paths that undo each other, the data look as if there were none (this is the assumption called faithfulness). Weak links need many rows."],
  ["Rows are taken as independent draws of one population.", "Time series, repeated measures, batches and mixtures of groups break this and can create links."],
  model.edges.length > 0 && ["Directions rest on additive noise.", "An arrow says that the effect is a function of its causes plus noise that does not depend on them, and that the other way round this fails. Where both ways fit, the edge is left undecided."],
  model.edges.length > 0 && ["An arrow is a hypothesis, not an experiment.", "It is what would explain these data under the assumptions above. Only an intervention can confirm it."],
  model.boundaries?.settings?.fdr !== undefined && ["The false discovery rate is a share over the table.", `It was set to ${percent(model.boundaries.settings.fdr)}: of all pairs found, about so many may be false. It is not the chance that a given member is wrong, and it does not count what was missed.`],
  model.comparison && ["Agreement is not truth.", "Methods that share an assumption share its errors: where relations are not linear, all that look for linear ones agree on what they miss."],
  ["No link is not proof of independence.", "It says that these rows do not show one."],
];

function limitsSection(model) {
  return element("section", { id: "limits", class: "card wide" }, element("header", {}, element("h2", {}, "What this cannot tell you")),
    element("ul", { class: "limits" }, limits(model).filter(Boolean).map(([claim, why]) => element("li", {}, element("strong", {}, claim), " ", why))));
}

function bannerParts(model) {
  return [
    ...unfinished(model).map((sentence) => element("div", { class: "banner serious", role: "alert" }, element("strong", {}, "Not finished. "), sentence)),
    findings(model).length > 0 && element("details", { class: "banner", open: findings(model).length <= 2 }, element("summary", {}, `${count(findings(model).length, "finding")} about the data`),
      element("ul", {}, findings(model).map(inPageWords).map(({ topic, words }) => element("li", {}, topic && [element("strong", {}, `${topic}.`), " "], words)))),
  ].filter(Boolean);
}
