// ---- Elements and figures in words ----------------------------------------------------------------------------------
// Text from results goes into the page as text nodes alone, never as markup.

/** An element with attributes, listeners (functions) and children (elements or text). */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") made.addEventListener(key, value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

const byId = (id) => document.getElementById(id);

/** A name as it can be shown: never empty, without control characters. */
const shown = (name) => name.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, "\u2423") || "(no name)";

/** Shortened in the middle for narrow places: names of one study often begin alike, and differ at the end. `bdi` elsewhere keeps
    right-to-left names from reordering what is around them. */
const shortened = (name, length = 22) => {
  const characters = [...shown(name)];
  if (characters.length <= length) return characters.join("");
  const end = Math.floor((length - 1) / 2);
  return `${characters.slice(0, length - 1 - end).join("")}\u2026${characters.slice(-end).join("")}`;
};

const endShown = 7; // characters of a long name that are never cut away

/** A name that is shortened in the middle where there is no room for it; tips.js shows the whole on hover and focus. */
function nameParts(name) {
  const characters = [...shown(name)];
  if (characters.length <= endShown + 3) return element("bdi", {}, characters.join(""));
  return element("bdi", { class: "parts" }, element("span", { class: "start" }, characters.slice(0, -endShown).join("")), element("span", { class: "end" }, characters.slice(-endShown).join("")));
}

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

const superscripts = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079";
const raised = (exponent) =>
  (exponent < 0 ? "\u207b" : "") + [...String(Math.abs(exponent))].map((digit) => superscripts[digit]).join("");

/** Three significant digits, a true minus, powers of ten for the very small and large. */
function figure(value, digits = 3) {
  if (!isNumber(value)) return "\u2013";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const sign = value < 0 ? "\u2212" : "";
  if (size < 1e-3 || size >= 1e6) {
    const [mantissa, exponent] = size.toExponential(1).split("e");
    return `${sign}${mantissa}\u00a0\u00d7\u00a010${raised(Number(exponent))}`;
  }
  if (size >= 1000) return sign + Math.round(size).toLocaleString("en");
  return sign + size.toFixed(Math.max(0, Math.min(4, digits - 1 - Math.floor(Math.log10(size)))));
}

/** A p- or q-value; 0 is what doubles cannot hold. */
const probability = (value) => (value === 0 ? `<\u00a010${raised(-300)}` : figure(value, 2));

const percent = (value) => (isNumber(value) ? `${Math.round(100 * value)} %` : "\u2013");

const count = (number, noun, plural = `${noun}s`) => `${number.toLocaleString("en")} ${number === 1 ? noun : plural}`;

/** "a", "a and b", "a, b and c". */
const listed = (words) => (words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`);

function duration(seconds) {
  if (!isNumber(seconds)) return "\u2013";
  if (seconds < 0.0995) return `${(1000 * seconds).toPrecision(2)} ms`;
  if (seconds < 120) return `${seconds.toPrecision(3)} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

/** A setting's key as people read it. */
const spaced = (key) => key.replaceAll("_", " ");

// ---- Roles ----------------------------------------------------------------------------------------------------------
// Each has a colour (page.css) and a shape, so that no one depends on seeing colours.

const roles = {
  parent: { word: "cause", plural: "causes", title: "parent: it acts on the variable", symbol: d3.symbolTriangle },
  child: { word: "effect", plural: "effects", title: "child: the variable acts on it", symbol: d3.symbolSquare },
  spouse: {
    word: "co-cause",
    plural: "co-causes",
    title: "spouse: it acts on the same effect",
    symbol: d3.symbolDiamond,
  },
  undecided: {
    word: "direction undecided",
    plural: "undecided",
    title: "linked; the data do not decide the direction",
    symbol: d3.symbolCircle,
  },
  member: { word: "member", plural: "members", title: "in the boundary; its role is not known", symbol: d3.symbolCircle },
};

const knownRole = (role) => (Object.hasOwn(roles, role ?? "") ? role : "member");

/** The shape of a role as a small drawing. */
function roleMark(role) {
  const svg = d3.create("svg:svg").attr("class", `mark role-${role}`).attr("viewBox", "-8 -8 16 16").attr("aria-hidden", "true");
  svg.append("path").attr("d", d3.symbol().type(roles[role].symbol).size(84)());
  return svg.node();
}
