// ---- Tables and downloads -------------------------------------------------------------------------------------------

const firstRows = 25;
const mostOnPaper = 400; // rows of a table, unless all of them are shown: a thousand variables have 150 sheets of them

/** One cell of a CSV. Spreadsheets run text that begins with = + - @ as a formula; a quote before it makes it text. */
function csvCell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(text) || text !== value ? `"${text.replaceAll('"', '""')}"` : text;
}

const toCsv = (columns, rows) =>
  [columns.map((column) => column.key), ...rows.map((row) => columns.map((column) => row[column.key]))].map((cells) => cells.map(csvCell).join(",")).join("\r\n") + "\r\n";

function download(blob, file) {
  const link = element("a", { href: URL.createObjectURL(blob), download: file });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const compare = (a, b) => {
  if (a === b) return 0;
  if (a === null || a === undefined) return 1; // what is not known comes last
  if (b === null || b === undefined) return -1;
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
};

/** A section with a table that sorts by its headers, shows the first rows until asked for all, and downloads as CSV. Roles are
    written out: on a phone rows are drawn as lists, and browsers would take that for what they are. */
function tableSection({ id, title, note, columns, rows, model, select }) {
  const used = columns.filter((column) => !column.csvOnly && rows.some((row) => row[column.key] !== null && row[column.key] !== undefined));
  const body = element("tbody", { role: "rowgroup" });
  const state = { column: null, descending: false, most: firstRows };
  const sorted = () => {
    if (!state.column) return rows;
    const sign = state.descending ? -1 : 1;
    return [...rows].sort((a, b) => sign * compare(a[state.column], b[state.column]));
  };
  const cell = (row, column) => {
    const value = row[column.key];
    if (column.variable && model.byName.has(value)) return element("td", { role: "cell", class: "named", "data-label": column.label || column.key }, nameButton(model.byName.get(value), select));
    const text = value === null || value === undefined ? "" : column.show ? column.show(value, row) : String(value);
    return element("td", { role: "cell", class: column.numeric ? "number" : null, "data-label": column.label || column.key }, text);
  };
  const more = element("button", { type: "button", class: "more", click: () => show(Infinity) });
  const unprinted = element("p", { class: "note unprinted" });
  const show = (most) => {
    state.most = most;
    body.replaceChildren(...sorted().slice(0, most).map((row) => element("tr", { role: "row" }, used.map((column) => cell(row, column)))));
    more.hidden = unprinted.hidden = rows.length <= most;
    more.textContent = `Show all ${count(rows.length, "row")}`;
    unprinted.textContent = `${count(rows.length - most, "more row")} in the page itself. Show all rows there first, and all are printed.`;
  };
  const heads = used.map((column) => {
    const head = element("th", { scope: "col", role: "columnheader", class: column.numeric ? "number" : null, title: column.title, "data-label": column.label || column.key });
    head.append(element("button", {
      type: "button",
      click: () => {
        state.descending = state.column === column.key ? !state.descending : Boolean(column.numeric && column.largeFirst);
        state.column = column.key;
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", state.descending ? "descending" : "ascending");
        show(state.most);
      },
    }, column.label || column.key));
    return head;
  });
  show(firstRows);
  const section = element("section", { id, class: "card wide" },
    element("header", {}, element("h2", {}, title, element("small", {}, count(rows.length, "row"))),
      element("button", { type: "button", class: "download", click: () => download(new Blob([toCsv(columns, rows)], { type: "text/csv" }), `${id}.csv`) }, "Download CSV")),
    note && element("p", { class: "note" }, note),
    element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title }, element("table", { role: "table", class: "rows" }, element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, heads)), body)), more, unprinted);
  return { section, expand: () => show(mostOnPaper), collapse: () => show(firstRows), expanded: () => state.most > firstRows };
}

const figureColumn = (key, label, title, show = (value) => figure(value), largeFirst = true) => ({ key, label, title, numeric: true, show, largeFirst });

/** The tables that the results have something for. */
function makeTables(model, select) {
  const tables = [];
  const add = (table) => table.rows.length && tables.push(tableSection({ ...table, model, select }));
  comparisonTables(model).forEach(add);
  add({
    id: "boundaries",
    title: "Boundaries",
    note: "One row for each member of each boundary.",
    columns: [
      { key: "target", variable: true },
      { key: "member", variable: true },
      { key: "role", show: (role) => roles[role].word },
      { key: "through" },
      figureColumn("gain", "gain", "nats it adds to the members before it"),
      figureColumn("se", "\u00b1 se", "standard error of the gain"),
      figureColumn("unique", "unique", "nats lost if it alone goes"),
      figureColumn("p_value", "p", "p-value of the pair", probability, false),
      figureColumn("q_value", "q", "smallest false discovery rate at which the pair is in", probability, false),
      figureColumn("votes", "votes", "share of networks that speak for the pair", percent),
      figureColumn("stability", "stability", "share of resamples in which the pair is in", percent),
      { key: "in_by", label: "in by" },
    ],
    rows: model.variables.flatMap((variable) => variable.members.map((member) => ({
      target: variable.name,
      member: member.name,
      role: member.role === "member" ? null : member.role,
      through: member.through?.join(" ") ?? null,
      ...Object.fromEntries(["gain", "se", "unique", "p_value", "q_value", "votes", "stability"].map((key) => [key, member[key] ?? null])),
      in_by: member.by_symmetry ? "symmetry" : member.by_graph || !member.tested ? "graph" : member.by_knowledge ? "knowledge" : null,
    }))),
  });
  add({
    id: "edges",
    title: "Edges of the causal graph",
    note: "Undecided edges are written in the order of the best graph; the data do not decide which way they go.",
    columns: [
      { key: "from", variable: true },
      { key: "to", variable: true },
      { key: "directed", show: (directed) => (directed ? "yes" : "undecided") },
      model.edgesInNats ? figureColumn("existence", "evidence", "nats that the effect's residuals lose without the edge") : figureColumn("existence", "weight", "norm of the networks' weights; no nats"),
      figureColumn("existence_se", "\u00b1 se", "standard error of the evidence"),
      figureColumn("existence_stability", "stability", "share of resamples in which the edge is worth something", percent),
      figureColumn("direction", "direction", "nats lost by the best graph with the edge turned round"),
      figureColumn("direction_se", "\u00b1 se", "standard error of that"),
      figureColumn("direction_stability", "stability", "share of resamples that agree on the direction", percent),
      { key: "direction_by", label: "direction by" },
    ],
    rows: model.edges.map((edge) => ({
      from: edge.from.name,
      to: edge.to.name,
      directed: edge.directed,
      existence: edge.value,
      existence_se: edge.existence?.se ?? null,
      existence_stability: edge.existence?.stability ?? edge.stability ?? null,
      direction: edge.direction?.value ?? null,
      direction_se: isNumber(edge.direction?.value) ? edge.direction.se : null,
      direction_stability: isNumber(edge.direction?.value) ? edge.direction.stability : null,
      direction_by: edge.by ?? null,
    })),
  });
  add({
    id: "near-misses",
    title: "Near misses",
    note: "What came closest to each boundary without being in it.",
    columns: [
      { key: "target", variable: true },
      { key: "left_out", label: "left out", variable: true },
      figureColumn("gain", "gain", "nats it would add"),
      figureColumn("se", "\u00b1 se", "standard error of the gain"),
      figureColumn("p_value", "p", "p-value", probability, false),
      figureColumn("q_value", "q", "q-value", probability, false),
      { key: "reason", label: "why it is out" },
    ],
    rows: model.variables.flatMap((variable) => variable.misses.map((miss) => ({
      target: variable.name,
      left_out: miss.name,
      ...Object.fromEntries(["gain", "se", "p_value", "q_value", "reason"].map((key) => [key, miss[key] ?? null])),
    }))),
  });
  add({
    id: "calibration-by-variable",
    title: "Calibration by variable",
    columns: [
      { key: "variable", variable: true },
      figureColumn("ks", "largest gap", "Kolmogorov\u2013Smirnov distance from a flat histogram"),
      figureColumn("p_value", "p", "p-value of that distance", probability, false),
      figureColumn("latent_mean", "latent mean", "0 is right"),
      figureColumn("latent_sd", "latent sd", "1 is right"),
      figureColumn("latent_skewness", "skewness", "0 is right"),
      figureColumn("latent_kurtosis", "excess kurtosis", "0 is right"),
    ],
    rows: model.variables.filter((variable) => variable.calibration).map(({ name, calibration }) => ({ variable: name, ...calibration })),
  });
  return tables;
}
