// ---- Methods compared -----------------------------------------------------------------------------------------------

/** A share as text above a bar of its length. */
function shareBar(value, text = percent(value)) {
  if (!isNumber(value)) return "\u2013";
  const svg = d3.create("svg:svg").attr("class", "share").attr("viewBox", "0 0 100 4").attr("preserveAspectRatio", "none").attr("aria-hidden", "true");
  svg.append("rect").attr("class", "whole").attr("width", 100).attr("height", 4);
  svg.append("rect").attr("class", "bar").attr("width", 100 * Math.max(0, Math.min(1, value))).attr("height", 4);
  return element("span", { class: "with-share" }, text, svg.node());
}

const inPercent = (value) => (isNumber(value) ? (100 * value).toFixed(1) : "\u2013");

/** How many of a method's cells ended how, in words. */
function endedHow({ done, timeout, refused, failed }) {
  const others = [[timeout, "out of time"], [refused, "refused"], [failed, "failed"]].filter(([number]) => number > 0).map(([number, words]) => `${number} ${words}`);
  return others.length ? listed([...(done ? [`${done} done`] : []), ...others]) : `${done} done`;
}

/** The mean overlap of a method with each other one. */
function withOthers(overlap, index) {
  const shares = overlap[index].filter((share, other) => other !== index && isNumber(share));
  return shares.length ? d3.mean(shares) : null;
}

const isGraphComparison = (comparison) => comparison.settings.kind === "graph";

function methodsTable({ comparison }) {
  const { summary, agreement, timing, settings } = comparison;
  const scores = Object.keys(summary.find((entry) => entry.scores)?.scores || {});
  const distance = (score) => score === "SHD";
  const shown = (score, value) => (distance(score) ? figure(value) : inPercent(value));
  const withSpread = (score) => (value, row) => {
    const spread = row[`${score}_sd`];
    const text = shown(score, value) + (isNumber(spread) ? `\u00a0\u00b1\u00a0${shown(score, spread)}` : "");
    return distance(score) ? text : shareBar(value, text);
  };
  const scoreColumns = scores.flatMap((score) => [
    figureColumn(score, distance(score) ? score : `${score} %`, "mean \u00b1 standard deviation over tables and orders", withSpread(score)),
    { ...figureColumn(`${score}_sd`), csvOnly: true },
  ]);
  const pairs = isGraphComparison(comparison) ? "linked pairs" : "members of all boundaries";
  return {
    id: "methods",
    title: "Methods compared",
    note: `Each method on ${count(comparison.tables.length, "table")}, in ${count(settings.orders, "order")} of the columns${settings.limit ? `, ${duration(settings.limit)} at most each` : ""}. ` +
      (scores.length ? "Scores are against the known truth." : "The truth is not known here: what methods agree on is no proof, and what one alone claims deserves a second look."),
    columns: [
      { key: "method" },
      ...scoreColumns,
      figureColumn("pairs", "pairs", `${pairs}, mean`),
      figureColumn("alone", "alone", "pairs that no other method claims", String),
      figureColumn("alone_true", "of them true", "pairs that no other method claims and that are true", String),
      figureColumn("overlap", "overlap", "with each other method: pairs in common over pairs of either, mean", (value) => shareBar(value)),
      figureColumn("over_orders", "orders", "the same between its own answers to different orders of the columns; 100 %: the order does not matter", percent),
      figureColumn("seconds", "time", "mean of what is done", duration, false),
      figureColumn("memory", "memory", "the most that the program had", (value) => `${Math.round(value)} MB`, false),
      { key: "cells" },
      { key: "reason", label: "why there is no answer" },
    ],
    rows: summary.map((entry, index) => ({
      method: entry.method,
      ...Object.fromEntries(scores.flatMap((score) => [[score, entry.scores?.[score]?.mean ?? null], [`${score}_sd`, entry.scores?.[score]?.sd ?? null]])),
      pairs: entry.pairs,
      alone: entry.done ? entry.alone : null,
      alone_true: entry.done ? entry.alone_true ?? null : null,
      overlap: withOthers(agreement.overlap, index),
      over_orders: entry.over_orders,
      seconds: timing?.methods?.[entry.method]?.seconds ?? null,
      memory: timing?.methods?.[entry.method]?.peak_memory_mb ?? null,
      cells: endedHow(entry),
      reason: entry.reason ? inPageWords(entry.reason).words : null,
    })),
  };
}

function aloneTable({ comparison, boundaries, graph }) {
  const isGraph = isGraphComparison(comparison);
  const variable = Boolean(boundaries || graph); // without a graph there is nowhere to go
  const [first, second] = isGraph ? ["variable", "linked with"] : ["variable", "member"];
  return {
    id: "alone",
    title: "What one method alone claims",
    note: "Pairs that it finds in more than half of the orders, and no other method does.",
    columns: [{ key: "method" }, { key: "first", label: first, variable }, { key: "second", label: second, variable }],
    rows: (comparison.alone || []).flatMap(({ method, pairs }) => pairs.map(([a, b]) => ({ method, first: a, second: b }))),
  };
}

const comparisonTables = (model) => (model.comparison ? [methodsTable(model), aloneTable(model)] : []);

function matrixTable(methods, shares, title) {
  const head = (name) => element("th", { scope: "col", class: "number" }, shortened(name));
  const rows = methods.map((name, i) => element("tr", {}, element("th", { scope: "row" }, shortened(name, 40)),
    methods.map((other, j) => element("td", { class: i === j ? "number own" : "number", title: `${name}, ${other}` }, shareBar(shares[i]?.[j])))));
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title },
    element("table", { class: "matrix" }, element("thead", {}, element("tr", {}, element("td"), methods.map(head))), element("tbody", {}, rows)));
}

function agreementSection({ comparison }) {
  if (!comparison || comparison.summary.length < 2) return null;
  const methods = comparison.summary.map((entry) => entry.method);
  const { overlap, directions } = comparison.agreement;
  return element("section", { id: "agreement", class: "card wide" }, element("header", {}, element("h2", {}, "How far the methods agree")),
    element("p", { class: "note" }, "Pairs that both claim, over pairs that either does; mean over tables and orders."),
    matrixTable(methods, overlap, "Overlap of what methods claim"),
    directions && [element("p", { class: "note" }, "Of the links that both have, those with the same direction, or none, in both."), matrixTable(methods, directions, "Directions that methods share")]);
}

function comparisonSentence({ comparison }) {
  if (!comparison) return "";
  const simulated = comparison.settings.simulate ? ` on ${count(comparison.tables.length, "simulated table")}` : "";
  return `${count(comparison.summary.length, "method")} compared${simulated}.`;
}
