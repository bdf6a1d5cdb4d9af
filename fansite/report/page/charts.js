// ---- Small charts ---------------------------------------------------------------------------------------------------
// Colours and strokes are in page.css, so that they follow the theme.

/** An SVG of fixed proportions with axes; returns what is drawn into. `label` is read out instead of the drawing. */
function chart({ width = 460, height = 190, left = 46, right = 20, top = 24, bottom = 34, label }) {
  const svg = d3.create("svg:svg").attr("class", "chart").attr("viewBox", `0 0 ${width} ${height}`).attr("role", "img").attr("aria-label", label);
  return { svg, width, height, left, top, innerRight: width - right, innerBottom: height - bottom };
}

function axes({ svg, left, innerRight, innerBottom, height }, { x, y, xTitle, yTitle, xTicks = 6, yTicks = 5, xFormat, yFormat }) {
  const across = svg.append("g").attr("class", "grid");
  for (const tick of y.ticks(yTicks)) across.append("line").attr("x1", left).attr("x2", innerRight).attr("y1", y(tick)).attr("y2", y(tick));
  const axisX = d3.axisBottom(x).ticks(xTicks).tickSize(4).tickSizeOuter(0);
  if (xFormat) axisX.tickFormat(xFormat);
  svg.append("g").attr("class", "axis").attr("transform", `translate(0,${innerBottom})`).call(axisX);
  const axisY = d3.axisLeft(y).ticks(yTicks).tickSize(0).tickPadding(6);
  if (yFormat) axisY.tickFormat(yFormat);
  const drawnY = svg.append("g").attr("class", "axis").attr("transform", `translate(${left},0)`).call(axisY);
  drawnY.select(".domain").remove();
  svg.append("text").attr("class", "axis-title").attr("x", (left + innerRight) / 2).attr("y", height - 3).attr("text-anchor", "middle").text(xTitle);
  svg.append("text").attr("class", "axis-title").attr("x", 2).attr("y", 10).text(yTitle);
}

const figureWith = (svg, ...caption) => element("figure", {}, svg.node(), element("figcaption", {}, ...caption));

/** The uncertainty left as variables come in; beyond the boundary's size they are hollow. */
function pathChart(variable) {
  const { boundary } = variable;
  if (!boundary || !isNumber(boundary.entropy)) return null;
  const wholePath = boundary.path?.length > 0;
  let left = boundary.entropy;
  const steps = wholePath
    ? boundary.path.map((step) => ({ name: step.name, value: step.conditional_entropy }))
    : boundary.members.map((member) => ({ name: member.name, value: (left -= member.gain ?? NaN) }));
  const points = [{ name: "alone", value: boundary.entropy }, ...steps].filter((point) => isNumber(point.value));
  if (points.length < 2) return null;
  const members = new Set(boundary.members.map((member) => member.name));
  const longest = d3.max(points, (point) => Math.min(13, point.name.length));
  const parts = chart({ height: 186 + 5 * longest, bottom: 24 + 5 * longest, label: `Uncertainty of ${shown(variable.name)} as variables are taken in` });
  const { svg, left: x0, innerRight, top, innerBottom } = parts;
  const x = d3.scalePoint(d3.range(points.length), [x0 + 6, innerRight - 6]).padding(0.25);
  const y = d3.scaleLinear(d3.extent(points, (point) => point.value), [innerBottom, top]).nice(4);
  const grid = svg.append("g").attr("class", "grid");
  for (const tick of y.ticks(4)) grid.append("line").attr("x1", x0).attr("x2", innerRight).attr("y1", y(tick)).attr("y2", y(tick));
  const axisY = svg.append("g").attr("class", "axis").attr("transform", `translate(${x0},0)`).call(d3.axisLeft(y).ticks(4).tickSize(0).tickPadding(6));
  axisY.select(".domain").remove();
  svg.append("text").attr("class", "axis-title").attr("x", 2).attr("y", 10).text("uncertainty left, nats");
  const firstOut = points.findIndex((point, index) => index > 0 && !members.has(point.name));
  if (firstOut > 0) {
    const edge = (x(firstOut) + x(firstOut - 1)) / 2;
    svg.append("rect").attr("class", "beyond").attr("x", edge).attr("y", top).attr("width", innerRight - edge).attr("height", innerBottom - top);
    svg.append("text").attr("class", "axis-title").attr("x", Math.min(edge + 5, innerRight - 66)).attr("y", top + 10).text("not admitted");
  }
  svg.append("path").attr("class", "line").attr("d", d3.line().x((_, index) => x(index)).y((point) => y(point.value))(points));
  const dots = svg.append("g").selectAll("circle").data(points).enter().append("circle");
  dots.attr("class", (point, index) => (index === 0 || members.has(point.name) ? "dot" : "dot out")).attr("r", 4).attr("cx", (_, index) => x(index)).attr("cy", (point) => y(point.value));
  dots.append("title").text((point) => `${shown(point.name)}: ${figure(point.value)} nats left`);
  const every = Math.ceil(points.length / 22);
  const names = svg.append("g").attr("class", "names").selectAll("text").data(points).enter().filter((_, index) => index % every === 0).append("text");
  names.attr("transform", (point) => `translate(${x(points.indexOf(point)) + 3},${innerBottom + 12}) rotate(-40)`).attr("text-anchor", "end").text((point) => shortened(point.name, 13));
  return figureWith(svg, wholePath
    ? "Each variable that the search took in, and what it leaves unknown, on held-out rows. Where the line stops falling, nothing more is learnt."
    : "Members in the order in which they came in, and what is left unknown after each.");
}

/** Shares per bin against the level 1/bins that a calibrated model has; the band is what chance alone does (2 se). */
function pitChart(shares, rows, label, size = {}) {
  const parts = chart({ ...size, label });
  const { svg, left, innerRight, top, innerBottom } = parts;
  const level = 1 / shares.length;
  const chance = 2 * Math.sqrt((level * (1 - level)) / Math.max(rows, 1));
  const x = d3.scaleLinear([0, 1], [left, innerRight]);
  const y = d3.scaleLinear([0, Math.max(2 * level, d3.max(shares) * 1.08, level + chance)], [innerBottom, top]);
  axes(parts, { x, y, xTitle: "where the value fell in its predicted distribution", yTitle: "share of rows", yTicks: 4, yFormat: d3.format(".0%") });
  const bars = svg.append("g").selectAll("rect").data(shares).enter().append("rect").attr("class", "bar");
  bars.attr("x", (_, index) => x(index * level) + 0.75).attr("width", x(level) - x(0) - 1.5).attr("y", (share) => y(share)).attr("height", (share) => innerBottom - y(share));
  bars.append("title").text((share, index) => `${percent(index * level)} to ${percent((index + 1) * level)}: ${(100 * share).toFixed(1)} % of rows`);
  svg.append("rect").attr("class", "band").attr("x", left).attr("width", innerRight - left).attr("y", y(level + chance)).attr("height", y(Math.max(0, level - chance)) - y(level + chance));
  svg.append("line").attr("class", "level").attr("x1", left).attr("x2", innerRight).attr("y1", y(level)).attr("y2", y(level));
  return svg;
}

/** Loss over steps: mean over networks with a band of one standard deviation. */
function lossChart(curve) {
  const lines = [["training", "rows trained on"], ["held_out", "rows held out"]].filter(([key]) => curve.some((point) => isNumber(point[key])));
  const pointsWith = (key) => curve.filter((point) => isNumber(point[key]));
  const values = lines.flatMap(([key]) => pointsWith(key).flatMap((point) => [point[key] - (point[`${key}_sd`] || 0), point[key] + (point[`${key}_sd`] || 0)]));
  const parts = chart({ width: 620, height: 240, label: "Loss of the networks over training steps" });
  const { svg, left, innerRight, top, innerBottom } = parts;
  const x = d3.scaleLinear([0, d3.max(curve, (point) => point.step)], [left, innerRight]);
  const y = d3.scaleLinear(d3.extent(values), [innerBottom, top]).nice(5);
  axes(parts, { x, y, xTitle: "training step", yTitle: "loss: \u2212mean log density, nats" });
  for (const [key] of lines) {
    const points = pointsWith(key);
    const spread = (point) => point[`${key}_sd`] || 0;
    svg.append("path").attr("class", `spread ${key}`).attr("d", d3.area().x((point) => x(point.step)).y0((point) => y(point[key] - spread(point))).y1((point) => y(point[key] + spread(point)))(points));
    svg.append("path").attr("class", `line ${key}`).attr("d", d3.line().x((point) => x(point.step)).y((point) => y(point[key]))(points));
  }
  const key = element("ul", { class: "key" }, lines.map(([name, words]) => element("li", { class: name }, words)));
  return { svg, key };
}

/** How many variables have boundaries of each size. */
function sizeChart(variables) {
  const targets = variables.filter((variable) => variable.boundary || variable.members.length);
  const sizes = targets.map((variable) => variable.members.length);
  const largest = d3.max(sizes) ?? 0;
  const counts = d3.range(largest + 1).map((size) => sizes.filter((other) => other === size).length);
  const parts = chart({ height: 150, top: 18, label: `Sizes of boundaries: ${counts.map((number, size) => `${number} of size ${size}`).join(", ")}` });
  const { svg, left, innerRight, top, innerBottom } = parts;
  const x = d3.scaleBand(d3.range(largest + 1), [left, innerRight]).padding(0.15);
  const y = d3.scaleLinear([0, d3.max(counts)], [innerBottom, top]).nice(4);
  const shownSizes = d3.range(largest + 1).filter((size) => size % Math.ceil((largest + 1) / 16) === 0);
  svg.append("g").attr("class", "axis").attr("transform", `translate(0,${innerBottom})`).call(d3.axisBottom(x).tickValues(shownSizes).tickSize(4).tickSizeOuter(0));
  const bars = svg.append("g").selectAll("rect").data(counts).enter().append("rect").attr("class", "bar");
  bars.attr("x", (_, size) => x(size)).attr("width", x.bandwidth()).attr("y", y).attr("height", (number) => innerBottom - y(number));
  bars.append("title").text((number, size) => `${count(number, "variable")} with ${count(size, "member")}`);
  if (largest < 16) {
    const numbers = svg.append("g").attr("class", "axis-title").selectAll("text").data(counts).enter().append("text");
    numbers.attr("text-anchor", "middle").attr("x", (_, size) => x(size) + x.bandwidth() / 2).attr("y", (number) => y(number) - 3).text((number) => number || "");
  }
  svg.append("text").attr("class", "axis-title").attr("x", (left + innerRight) / 2).attr("y", 147).attr("text-anchor", "middle").text("members of the boundary");
  svg.append("text").attr("class", "axis-title").attr("x", 2).attr("y", 10).text("variables");
  return svg;
}

/** A bar from 0 to the gain with a whisker of one standard error each way, on a scale that rows share. */
function gainBar({ gain, se }, largest, className) {
  const width = 120;
  const x = d3.scaleLinear([0, largest], [1, width - 1]).clamp(true);
  const svg = d3.create("svg:svg").attr("class", `gain ${className}`).attr("viewBox", `0 0 ${width} 12`).attr("preserveAspectRatio", "none").attr("aria-hidden", "true");
  svg.append("line").attr("class", "zero").attr("x1", 1).attr("x2", 1).attr("y1", 0).attr("y2", 12);
  if (!isNumber(gain)) return svg.node();
  svg.append("rect").attr("class", "bar").attr("x", 1).attr("y", 2.5).attr("height", 7).attr("width", Math.max(x(gain) - 1, 0.5));
  if (isNumber(se)) {
    svg.append("path").attr("class", "whisker").attr("d", `M${x(gain - se)},6H${x(gain + se)}M${x(gain - se)},3.5v5M${x(gain + se)},3.5v5`);
  }
  return svg.node();
}
