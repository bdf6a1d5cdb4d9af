// ---- Results, as the page uses them ---------------------------------------------------------------------------------

/** All results as one: variables with all that is known of each, pairs (moral graph), edges (causal graph). */
function readModel(results) {
  const { boundaries, graph, comparison, plan } = results;
  const either = boundaries || graph || comparison || plan;
  const names = Array.isArray(either.variables) ? either.variables : []; // a plan counts them only
  const variables = names.map((name, index) => ({
    index,
    name,
    boundary: null, // as in the result, if this was a target
    members: [],
    misses: [],
    calibration: null,
  }));
  const byName = new Map(variables.map((variable) => [variable.name, variable]));
  const model = { boundaries, graph, comparison, plan, rows: either.rows, version: either.version, variables, byName };
  model.columns = names.length || plan.variables;
  if (boundaries) addBoundaries(model);
  if (graph) addRoles(model);
  model.pairs = readPairs(model);
  model.edges = readEdges(model);
  model.hidden = readHidden(model);
  // The methods of networks weigh their edges in norms of weights, the others in nats.
  model.edgesInNats = !graph || model.edges.some((edge) => edge.existence);
  return model;
}

function addBoundaries({ boundaries, byName }) {
  for (const boundary of boundaries.boundaries) {
    const variable = byName.get(boundary.target);
    variable.boundary = boundary;
    variable.members = boundary.members.map((member) => ({
      ...member,
      variable: byName.get(member.name),
      tested: true,
      role: knownRole(member.role),
    }));
    variable.misses = (boundary.near_misses || [])
      .filter((miss) => byName.has(miss.name))
      .map((miss) => ({ ...miss, variable: byName.get(miss.name) }));
  }
  for (const entry of boundaries.calibration?.variables || []) {
    if (byName.has(entry.name)) byName.get(entry.name).calibration = entry;
  }
}

/** A graph of its own is the later and fuller answer: its roles replace those inside the boundaries. */
function addRoles({ boundaries, graph, byName }) {
  for (const { target, members } of graph.roles || []) {
    const variable = byName.get(target);
    if (!variable) continue;
    for (const member of variable.members) Object.assign(member, { role: "member", through: undefined });
    for (const { name, role: given, through } of members) {
      const role = knownRole(given);
      const known = variable.members.find((member) => member.name === name);
      if (known) Object.assign(known, { role, through });
      else if (byName.has(name)) variable.members.push({ name, variable: byName.get(name), role, through, tested: false });
    }
  }
  if (boundaries) {
    const decided = (member) => Number(member.role !== "member");
    for (const variable of byName.values()) variable.members.sort((a, b) => decided(b) - decided(a) || 0);
  }
}

const pairKey = (a, b) => (a.index < b.index ? `${a.index} ${b.index}` : `${b.index} ${a.index}`);

/** The moral graph: pairs of which one is in the other's boundary, with the larger of both sides. */
function readPairs({ boundaries, graph, variables, byName }) {
  const pairs = new Map();
  const add = (a, b) => {
    if (!a || !b || a === b) return;
    if (!pairs.has(pairKey(a, b))) pairs.set(pairKey(a, b), { a, b, value: null });
  };
  if (boundaries) {
    for (const [a, b] of boundaries.moral_edges) add(byName.get(a), byName.get(b));
  } else if (graph?.links) {
    for (const [a, b] of graph.links) add(byName.get(a), byName.get(b));
  } else {
    for (const variable of variables) for (const member of variable.members) add(variable, member.variable);
  }
  for (const variable of variables) {
    for (const member of variable.members) {
      const pair = pairs.get(pairKey(variable, member.variable));
      if (!pair || !member.tested) continue;
      pair.value = Math.max(pair.value ?? 0, member.unique ?? member.gain ?? 0);
      for (const key of ["p_value", "q_value", "votes", "stability"]) pair[key] = pair[key] ?? member[key];
    }
  }
  return [...pairs.values()];
}

/** The causal graph; without a graph result, from the roles that a refined boundaries result has. */
function readEdges({ graph, variables, byName }) {
  if (graph) {
    return graph.edges
      .filter((edge) => byName.has(edge.from) && byName.has(edge.to))
      .map((edge) => ({
        from: byName.get(edge.from),
        to: byName.get(edge.to),
        directed: edge.directed !== false,
        value: edge.existence?.value ?? edge.weight ?? null,
        existence: edge.existence,
        direction: edge.direction,
        by: edge.direction_by,
      }));
  }
  const edges = new Map();
  for (const variable of variables) {
    for (const member of variable.members) {
      if (!["parent", "child", "undecided"].includes(member.role)) continue;
      const [from, to] = member.role === "parent" ? [member.variable, variable] : [variable, member.variable];
      const key = pairKey(from, to);
      const value = Math.max(edges.get(key)?.value ?? 0, member.unique ?? 0);
      edges.set(key, { from, to, directed: member.role !== "undecided", value, stability: member.stability });
    }
  }
  return [...edges.values()];
}

/** Pairs of which the graph's equations leave over what is related: drawn beside the edges, with two heads. */
function readHidden({ graph, boundaries, byName }) {
  return (graph?.hidden_causes ?? boundaries?.graph?.hidden_causes ?? [])
    .filter((pair) => byName.has(pair.a) && byName.has(pair.b))
    .map((pair) => ({ from: byName.get(pair.a), to: byName.get(pair.b), directed: false, hidden: true, strength: 1 }));
}

// ---- The whole in words ---------------------------------------------------------------------------------------------

function estimatorSentence({ boundaries }) {
  const { estimator, linearity, settings } = boundaries;
  const used = estimator === "flow" ? "neural flows, which see relations of any shape" : "closed-form Gaussian entropies, for linear relations";
  if (settings?.estimator !== "auto" || !linearity) return `Boundaries by ${used}, as asked for.`;
  if (linearity.linear_equations) {
    return `Boundaries by ${used}: nothing speaks against linear ones here (p\u00a0=\u00a0${probability(linearity.pair_p_value)}).`;
  }
  const [a, b] = (linearity.pair || []).map((name) => (name === null ? null : shortened(name)));
  const sign = a && b ? `${a} and ${b} depend on each other in a way that is not linear (p\u00a0${linearity.pair_p_value === 0 ? "" : "=\u00a0"}${probability(linearity.pair_p_value)})` : "relations are not linear";
  return `Boundaries by ${used}: ${sign}.`;
}

/** Whether there is a graph to draw. */
const drawsGraph = (model) => Boolean(model.boundaries || model.graph);

/** Whether results that could have found something have found nothing. */
const isEmpty = (model) => drawsGraph(model) && !model.pairs.length && !model.edges.length && !model.hidden.length;

function graphSentence({ graph, edges, boundaries }) {
  if (!edges.length && !graph) return "";
  const undecided = edges.filter((edge) => !edge.directed).length;
  const by = graph ? ` (${graph.settings?.method || "fansite dag"})` : boundaries.graph ? " (from the search for boundaries)" : "";
  const how = undecided === 0 ? "all directed" : `${undecided} of undecided direction`;
  return `Causal graph${by}: ${count(edges.length, "edge")}${edges.length ? `, ${how}` : ""}.`;
}

const summarySentences = (model) => [
  `${count(model.rows, "row")} \u00d7 ${count(model.columns, "variable")}.`,
  model.boundaries ? estimatorSentence(model) : "",
  isEmpty(model) ? "Nothing was found." : model.boundaries || model.graph ? `${count(model.pairs.length, "linked pair")}.` : "",
  isEmpty(model) ? "" : graphSentence(model),
  comparisonSentence(model),
  planSentence(model),
].filter(Boolean);

/** What the results found odd about the table, each sentence once. */
const findings = ({ boundaries, graph, comparison, plan }) => [...new Set([boundaries, graph, comparison, plan].flatMap((result) => result?.warnings || []))];

const unfinished = ({ boundaries, graph, comparison }) =>
  [boundaries, graph, comparison]
    .filter((result) => result && result.complete === false)
    .map((result) => (result.unfinished ? inPageWords(result.unfinished).words : "The run stopped before it was complete."));
