// ---- What the program says, in the page's words ---------------------------------------------------------------------
// Warnings name options of the command line. Who reads the page may never have seen it: here they name what the options do.

const topics = { load: "Table", inspect: "Table", rows: "Rows", weight: "Weights", group: "Groups", train: "Training", mb: "Boundaries", dag: "Causal graph", compare: "Comparison", plan: "Plan" };

const optionWords = [
  [/another --estimator\b/g, "another estimator"],
  [/--estimator flow can\b/g, "neural flows can"],
  [/--estimator flow sees\b/g, "neural flows see"],
  [/--estimator flow goes by ranks and takes\b/g, "neural flows go by ranks and take"],
  [/--estimator flow\b/g, "neural flows"],
  [/--estimator gaussian\b/g, "the Gaussian estimator"],
  [/--estimator\b/g, "the estimator"],
  [/--refine graph\b/g, "refining by a graph"],
  [/--effort\b/g, "effort"],
  [/--max-size\b/g, "a larger limit on the size of boundaries"],
  [/as --context\b/g, "as a context column"],
  [/--context(?: NAME)?\b/g, "a context column"],
  [/--group or --block\b/g, "name the group that rows belong to, or test in blocks"],
  [/--group(?: NAME)?\b/g, "name the group that rows belong to"],
  [/--block none\b/g, "testing without blocks"],
  [/--block LENGTH\b/g, "testing in blocks of a given length"],
  [/--block\b/g, "testing in blocks"],
  [/--weight(?: NAME)?\b/g, "name a column of weights"],
  [/use --no-header\b/g, "say so when it is read"],
  [/with --missing drop\b/g, "by dropping rows with missing cells"],
  [/use --stop paper\b/g, "use the paper\u2019s rule for stopping"],
  [/--missing drop\b/g, "dropping rows with missing cells"],
  [/--kind [^\s,;:]*=nominal\b/g, "declaring it nominal"],
  [/--kind\b/g, "declaring its kind"],
  [/--sample takes\b/g, "a larger sample takes"],
  [/raise --moral-threshold\b/g, "raise the threshold of moral pairs"],
  [/--legacy-onesided repeats\b/g, "the one-sided test repeats"],
  [/add --resume\b/g, "resume the run"],
  [/\bmax_members\b/g, "the limit on members"],
  [/\bmax_given\b/g, "the limit on conditioning variables"],
  [/--([a-z][a-z-]*)(?:[ =](?:[A-Z]{2,}|\d+))?/g, (_, option) => `the setting \u201c${option.replaceAll("-", " ")}\u201d`],
];

/** Everything but names, which stand in quotes, as `change` makes it. */
const outsideQuotes = (text, change) => text.split(/('[^']*')/).map((part, index) => (index % 2 ? part : change(part))).join("");

/** A message as {topic, words}: a sentence without options and without the name of the operation. */
function inPageWords(message) {
  const [, operation, rest] = /^(?:\[([a-z ]+)\] )?([^]*)$/.exec(message);
  let words = outsideQuotes(rest, (text) => optionWords.reduce((changed, [pattern, meaning]) => changed.replace(pattern, meaning), text)).trim();
  words = words.charAt(0).toUpperCase() + words.slice(1);
  if (words && !/[.!?\u2026]$/.test(words)) words += ".";
  return { topic: operation ? topics[operation] || spaced(operation) : null, words };
}

// ---- Nothing found --------------------------------------------------------------------------------------------------

/** Warnings that say why something is missing. */
const speaksOfAbsence = (message) => /says? little|cannot be, since|not learnt|may lack members|strong relations only|more columns .* than rows|few to learn/.test(message);

/** The pair that came closest to being admitted. */
function closestMiss({ variables }) {
  const misses = variables.flatMap((variable) => variable.misses.map((miss) => ({ ...miss, target: variable }))).filter((miss) => isNumber(miss.q_value) || isNumber(miss.p_value));
  const size = (miss) => miss.q_value ?? miss.p_value;
  return misses.length ? misses.reduce((a, b) => (size(b) < size(a) ? b : a)) : null;
}

/** Why no variable is in any boundary and there is no edge, as far as the results tell; sentences. */
function whyNothing(model) {
  const { boundaries, graph } = model;
  const why = unfinished(model).map((sentence) => `The run is not finished: ${sentence}`);
  why.push(...findings(model).filter(speaksOfAbsence).map((message) => inPageWords(message).words));
  const constant = model.variables.filter(({ boundary }) => boundary && boundary.entropy === null).length;
  if (constant) why.push(`${count(constant, "column does", "columns do")} not vary, so there is nothing to tell about ${constant === 1 ? "it" : "them"}.`);
  if (boundaries) {
    const asked = boundaries.boundaries.length, all = model.variables.length;
    if (asked < all) why.push(`Boundaries of ${asked} of ${count(all, "variable")} were asked for; the others were not searched.`);
    const level = boundaries.settings?.fdr;
    const tested = isNumber(boundaries.tested_pairs) && boundaries.tested_pairs > 0 ? `${count(boundaries.tested_pairs, "pair")} were tested` : "All pairs were weighed";
    const miss = closestMiss(model);
    const nearest = miss ? ` The closest was ${shown(miss.name)} for ${shown(miss.target.name)} (${isNumber(miss.q_value) ? `q ${probability(miss.q_value)}` : `p ${probability(miss.p_value)}`}).` : "";
    why.push(`${tested}, and chance alone would give evidence as strong as any of them${isNumber(level) ? ` (false discovery rate ${percent(level)})` : ""}.${nearest}`);
    if (boundaries.estimator === "gaussian") why.push("Only relations along a straight line were looked for; curved ones would not be seen.");
  } else if (graph) {
    why.push("No pair of variables was linked, so there was nothing to draw an edge between.");
  }
  why.push(`${count(model.rows, "row")} may be too few for weak relations: that nothing was found does not prove that there is nothing.`);
  return [...new Set(why)];
}
