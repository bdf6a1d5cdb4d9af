// ---- What a run will take -------------------------------------------------------------------------------------------

/** "2.0 to 4.5 min": what was predicted, with how far it may be off. */
function plannedRange({ total_seconds: seconds, within }) {
  return isNumber(within) && within > 1 ? `${duration(seconds / within)} to ${duration(seconds * within)}` : duration(seconds);
}

function planSentence({ plan }) {
  return plan ? `Planned: ${duration(plan.total_seconds)} with ${plan.method === "fansite" ? "" : `${plan.method}, `}${plan.estimator === "flow" ? "neural flows" : `the ${plan.estimator === "gaussian" ? "Gaussian" : plan.estimator} estimator`} on ${count(plan.threads, "thread")}.` : "";
}

/** Beside the plan, what the run that was planned then took. */
function planHeld({ plan, boundaries }) {
  const took = boundaries?.timing?.total_seconds;
  if (!isNumber(took)) return null;
  const ratio = Math.abs(took - plan.total_seconds) < 1 ? 1 : took / plan.total_seconds; // less than a second is no surprise
  const verdict = ratio > plan.within ? "longer than planned" : ratio < 1 / plan.within ? "less than planned" : "as planned";
  return `The run itself took ${duration(took)}, ${verdict}.`;
}

function planSection(model) {
  const { plan } = model;
  if (!plan) return null;
  const longest = d3.max(plan.phases, (phase) => phase.seconds) || 1;
  const whole = d3.sum(plan.phases, (phase) => phase.seconds) || 1;
  const phases = plan.phases.map((phase) => element("li", {}, element("span", { class: "phase" }, phase.name), gainBar({ gain: phase.seconds }, longest, ""),
    element("span", { class: "value" }, duration(phase.seconds)), element("span", { class: "words" }, `${percent(phase.seconds / whole)} of the time \u00b7 ${phase.what}`)));
  const supposed = [["networks", plan.networks], ["training steps", plan.training_steps], ["size of boundaries, mean", plan.boundary_size], ["pairs tested", plan.tested_pairs], ["densities computed", plan.evaluations]]
    .filter(([, value]) => isNumber(value) && value > 0).map(([key, value]) => [key, figure(value)]);
  return element("section", { id: "plan", class: "card wide" }, element("header", {}, element("h2", {}, "What it will take")),
    element("p", { class: "lead" }, `${plannedRange(plan)}, and ${Math.ceil(plan.peak_memory_mb).toLocaleString("en")} MB of memory.`),
    element("p", { class: "note" }, `${count(plan.rows, "row")} \u00d7 ${count(plan.variables, "variable")}, method ${plan.method}, ${count(plan.threads, "thread")}. `, planHeld(model)),
    element("h3", {}, "Phases"), element("ol", { class: "figures phases" }, phases),
    supposed.length > 0 && [element("h3", {}, "What was supposed"), definitions(supposed)]);
}
