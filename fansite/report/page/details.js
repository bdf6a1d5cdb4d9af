// ---- One variable, or the whole -------------------------------------------------------------------------------------

/** A name that can be clicked to go there. */
const nameButton = (variable, select) =>
  element("button", { type: "button", class: "name", "aria-label": shown(variable.name), "data-whole": shown(variable.name), click: () => select(variable, { reveal: true }) }, nameParts(variable.name));

const namesOf = (names) => listed(names.map((name) => shown(name)));

/** The information of a boundary as the share of variance that a linear model with as much would explain. */
const explainedShare = (nats) => 1 - Math.exp(-2 * Math.max(nats, 0));

function leadSentence(variable) {
  const { boundary, members } = variable;
  if (!boundary) {
    return members.length
      ? `Linked to ${count(members.length, "variable")} in the causal graph. Its boundary was not asked for.`
      : "No boundary was asked for, and the causal graph has no link to it.";
  }
  if (boundary.copy_of !== undefined) return `A copy of ${shown(boundary.copy_of)}, whose boundary it shares.`;
  const { entropy, conditional_entropy: left } = boundary;
  if (entropy === null && !boundary.members.length) return "It does not vary: there is nothing to tell about it.";
  if (!boundary.members.length) return "Nothing in the table tells anything about it that could be told from chance.";
  const who = `${count(boundary.members.length, "variable")} tell${boundary.members.length === 1 ? "s" : ""} all that the table knows about it`;
  if (left === null) return `${who}, and determine${boundary.members.length === 1 ? "s" : ""} it exactly.`;
  if (entropy === null) return `${who}.`;
  const told = entropy - left;
  return `${who}: ${figure(told)} nats, as much as a linear model that explains ${percent(explainedShare(told))} of the variance.`;
}

function roleWords(member) {
  if (member.role === "spouse" && member.through?.length) return `co-cause of ${namesOf(member.through)}`;
  return member.role === "member" ? null : roles[member.role].word;
}

function memberWords(member, hasGraph) {
  const words = [roleWords(member)];
  if (!member.tested) return [...words, "by the causal graph alone: the search for boundaries has no figures for it"];
  if (hasGraph && member.role === "member") words.push("no edge in the causal graph");
  if (isNumber(member.unique)) words.push(`${figure(member.unique)} unique`);
  if (isNumber(member.p_value)) words.push(`p\u00a0${probability(member.p_value)}`);
  if (isNumber(member.q_value)) words.push(`q\u00a0${probability(member.q_value)}`);
  if (isNumber(member.votes)) words.push(`${percent(member.votes)} of networks`);
  if (isNumber(member.stability)) words.push(`in ${percent(member.stability)} of resamples`);
  if (member.by_symmetry) words.push("found from the other variable's side only");
  if (member.by_graph) words.push("missed by the searches, needed by the causal graph");
  if (member.against_graph) words.push("not explained by the causal graph, which would drop it");
  if (member.fragile) words.push("fragile: a hidden common cause may be behind it");
  if (isNumber(member.robustness?.hidden_cause)) words.push(`a hidden cause of ${percent(member.robustness.hidden_cause)} would explain it away`);
  if (isNumber(member.robustness?.measurement_noise)) words.push(`and so would ${percent(member.robustness.measurement_noise)} measurement noise in the others`);
  if (member.by_knowledge) words.push("in by prior knowledge");
  if (member.interchangeable?.length) {
    words.push(`could be exchanged for ${member.interchangeable.map((other) => other.name).join(" or ")}`);
  }
  return words;
}

const figureRow = (entry, mark, words, largest, className, select) =>
  element("li", { class: className }, mark, nameButton(entry.variable, select), gainBar(entry, largest, className),
    element("span", { class: "value" }, isNumber(entry.gain) ? figure(entry.gain) : "\u2013"),
    element("span", { class: "words" }, words.filter(Boolean).join(" \u00b7 ")));

function memberList(variable, model, select) {
  const entries = [...variable.members, ...variable.misses];
  const largest = d3.max(entries, (entry) => (isNumber(entry.gain) ? entry.gain + (entry.se || 0) : 0)) || 1;
  const hasGraph = model.edges.length > 0 && variable.boundary?.copy_of === undefined;
  const parts = [];
  if (variable.members.length) {
    parts.push(element("h3", {}, "Boundary", variable.boundary ? element("small", {}, "gain in nats \u00b1 1 standard error") : null),
      element("ol", { class: "figures members" }, variable.members.map((member) =>
        figureRow(member, roleMark(member.role), memberWords(member, hasGraph), largest, `role-${member.role}`, select))));
  }
  if (variable.misses.length) {
    parts.push(element("h3", {}, "Near misses", element("small", {}, "out, and why")),
      element("ol", { class: "figures misses" }, variable.misses.map((miss) =>
        figureRow(miss, element("span", { class: "mark" }), [`out: ${miss.reason}`, isNumber(miss.p_value) && `p\u00a0${probability(miss.p_value)}`, isNumber(miss.q_value) && `q\u00a0${probability(miss.q_value)}`], largest, "miss", select))));
  }
  return parts;
}

/** What the calibration of one variable says, in words. */
function calibrationWords(entry) {
  const words = [];
  if (isNumber(entry.p_value)) {
    words.push(entry.p_value >= 0.01
      ? `Nothing speaks against calibration (p\u00a0${probability(entry.p_value)}).`
      : `Its predicted distributions are off (largest gap ${percent(entry.ks)}, p\u00a0${probability(entry.p_value)}): read its gains with care.`);
  }
  const latent = [["mean", entry.latent_mean, 0], ["sd", entry.latent_sd, 1], ["skewness", entry.latent_skewness, 0], ["excess kurtosis", entry.latent_kurtosis, 0]].filter(([, value]) => isNumber(value));
  if (latent.length) words.push(`Latent ${latent.map(([name, value, right]) => `${name} ${figure(value, 2)} (${right} is right)`).join(", ")}.`);
  return words.join(" ");
}

function edgeRows(variable, model, select) {
  const own = model.edges.filter((edge) => edge.existence && (edge.from === variable || edge.to === variable));
  if (!own.length) return [];
  const rows = own.map((edge) => {
    const other = edge.from === variable ? edge.to : edge.from;
    const role = !edge.directed ? "undecided" : edge.from === variable ? "child" : "parent";
    const words = [`edge ${figure(edge.existence.value)}\u00a0\u00b1\u00a0${figure(edge.existence.se, 2)} nats`];
    if (isNumber(edge.direction?.value)) words.push(`direction ${figure(edge.direction.value)}\u00a0\u00b1\u00a0${figure(edge.direction.se, 2)}`);
    const open = edge.by === "undecided" && !isNumber(edge.direction?.value);
    words.push(open ? "direction undecided: time ran out before it was weighed" : directionReasons[edge.by]);
    return element("li", { class: `role-${role}` }, roleMark(role), nameButton(other, select), element("span", { class: "words" }, words.filter(Boolean).join(" \u00b7 ")));
  });
  return [element("h3", {}, "Edges of the causal graph"), element("ol", { class: "figures edges" }, rows)];
}

const directionReasons = {
  score: "direction from the data",
  collider: "direction from a common effect",
  consequence: "direction follows from others",
  knowledge: "direction from prior knowledge",
  undecided: "direction undecided: turning it round loses too little to tell",
};

function variableDetails(variable, model, select) {
  const { calibration } = variable;
  const path = pathChart(variable);
  const bins = calibration?.pit?.length > 0 && pitChart(calibration.pit, model.boundaries.calibration.rows, `Calibration of ${shown(variable.name)}`, { height: 150 });
  const size = { entropy: variable.boundary?.entropy, left: variable.boundary?.conditional_entropy };
  return [
    element("header", {}, element("h2", { tabindex: "-1" }, element("bdi", {}, shown(variable.name))),
      element("button", { type: "button", class: "plain", "aria-label": "Clear the selection", title: "Escape", click: () => select(null) }, "\u00d7")),
    element("p", { class: "lead" }, leadSentence(variable)),
    isNumber(size.entropy) && isNumber(size.left) && variable.members.length > 0 &&
      element("p", { class: "note" }, `Uncertainty ${figure(size.entropy)} nats alone, ${figure(size.left)} given the boundary.`),
    memberList(variable, model, select),
    path && [element("h3", {}, "Gain path"), path],
    edgeRows(variable, model, select),
    calibration && [element("h3", {}, "Calibration"), bins && element("figure", {}, bins.node(), element("figcaption", {}, calibrationWords(calibration)))],
  ];
}

// ---- Nothing chosen: the whole --------------------------------------------------------------------------------------

function strongestLinks(model, select) {
  const causal = model.edges.length > 0;
  const links = [...(causal ? model.edges : model.pairs)].filter((link) => link.value !== null).sort((a, b) => b.value - a.value).slice(0, 8);
  if (!links.length) return [];
  const largest = d3.max(links, (link) => link.value + (link.existence?.se || 0)) || 1;
  const measured = links.some((link) => link.existence) ? "nats \u00b1 1 standard error" : "nats that one adds to the other\u2019s boundary";
  const unit = causal && !model.edgesInNats ? "weight, without error" : measured;
  return [
    element("h3", {}, causal ? "Strongest edges" : "Strongest pairs", element("small", {}, unit)),
    element("ol", { class: "figures pairs" }, links.map((link) => element("li", {},
      element("span", { class: "pair" }, nameButton(link.from || link.a, select), causal && link.directed ? "\u2192" : "\u2013", nameButton(link.to || link.b, select)),
      gainBar({ gain: link.value, se: link.existence?.se }, largest, ""), element("span", { class: "value" }, figure(link.value))))),
  ];
}

/** The clusters of a large graph, to open and close without the mouse. */
function clusterList(view) {
  if (view.kind !== "clusters") return [];
  return [
    element("h3", {}, "Clusters", element("small", { class: "reading" }, "click opens and closes")),
    element("ul", { class: "chips clusters" }, view.clusters.map((cluster) => element("li", {}, element("button", { type: "button", "aria-expanded": String(cluster.open), "aria-label": `Cluster ${clusterName(cluster, Infinity)}`, "data-whole": clusterName(cluster, Infinity), click: () => view.setOpen(cluster, !cluster.open) },
      element("bdi", {}, bubbleLabel(cluster)), ` ${cluster.members.length}`)))),
  ];
}

/** Instead of an explanation of what is not there; why stands in the graph's place. */
const nothingFound = (model) => [
  element("h2", { tabindex: "-1" }, "What could help"),
  element("ul", { class: "hints" },
    element("li", {}, "More rows, or columns that say more about the same rows."),
    model.boundaries?.estimator === "gaussian" && element("li", {}, "Neural flows, if relations may be curved."),
    element("li", {}, "A look at the table itself: codes for missing cells, rows that repeat, columns of the wrong kind.")),
  model.variables.some((variable) => variable.misses.length) && element("p", { class: "note" }, "What came closest is listed under Near misses below."),
];

function overview(model, select, view) {
  if (isEmpty(model)) return nothingFound(model);
  const hubs = [...model.variables].sort((a, b) => b.members.length - a.members.length).slice(0, 6).filter((variable) => variable.members.length);
  const targets = model.variables.some((variable) => variable.boundary || variable.members.length);
  return [
    element("div", { class: "reading" },
      element("h2", { tabindex: "-1" }, "How to read this"),
      element("p", { class: "lead" }, "A variable\u2019s Markov boundary is the smallest set of others that tells all the table knows about it: its causes, its effects, and the other causes of its effects."),
      element("ul", { class: "hints" },
        element("li", {}, view.kind === "clusters" ? "Each bubble is a cluster of variables: click it to open it, and its title to close it. Click a variable to see its boundary, what each member adds, and what was left out and why." : "Click a variable to see its boundary, what each member adds, and what was left out and why. Double-click to come closer; drag to move it; the wheel zooms once you have clicked."),
        view.nodes.length > 40 && element("li", {}, "Too much at once? Move Evidence to the left for the strongest links alone, or choose a variable and look at one or two steps around it."),
        element("li", {}, "Lines are links; thicker ones have more evidence. Arrows go from cause to effect; dashed lines have a direction that the data do not decide."),
        element("li", {}, "Press ", element("kbd", {}, "/"), " to search, arrows to walk the graph, ", element("kbd", {}, "Enter"), " to choose, ", element("kbd", {}, "Esc"), " to come back here."),
        element("li", {}, "Gains are in nats of information: 0.1 is what explaining 18 % of the variance gives, 0.5 is 63 %, 1 is 86 %."))),
    model.graph && !model.edges.length && element("p", { class: "note" }, `The causal graph has no edge: for none of ${count(model.pairs.length, "linked pair")} do the data ask for one. Shown is the moral graph.`),
    strongestLinks(model, select),
    clusterList(view),
    targets && [element("h3", {}, "Sizes of boundaries"), element("figure", {}, sizeChart(model.variables).node())],
    hubs.length > 0 && [element("h3", {}, "Largest boundaries"), element("p", { class: "chips" }, hubs.map((variable) => element("span", {}, nameButton(variable, select), ` ${variable.members.length}`)))],
  ];
}
