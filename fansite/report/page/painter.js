// ---- How the graph is drawn -----------------------------------------------------------------------------------------
// Circles of open clusters, then lines, then names' ground, then shapes, then names: nothing is drawn over a name.

const dashes = { solid: [], dashed: [5, 4], dotted: [2, 3] };
const nameFont = (bold) => `${bold ? "600 " : ""}12px system-ui, sans-serif`;

class Painter {
  constructor(view) {
    this.view = view;
    this.context = view.canvas.getContext("2d");
    this.widths = new Map();
    this.names = []; // as they were drawn last: {text, box, item}
    this.titles = []; // of open clusters: {cluster, box}
  }

  readColours() {
    const style = getComputedStyle(document.documentElement);
    this.colours = {};
    for (const name of ["panel", "cluster", "cluster-edge", "ink", "muted", "edge", "node", "node-edge", "parent", "child", "spouse", "undecided", "member", "target"]) {
      this.colours[name] = style.getPropertyValue(`--${name}`).trim();
    }
  }

  draw() {
    const { context, view } = this;
    context.setTransform(view.drawnRatio, 0, 0, view.drawnRatio, 0, 0);
    context.clearRect(0, 0, view.width, view.height);
    for (const item of view.items) {
      item.sx = view.transform.applyX(item.x);
      item.sy = view.transform.applyY(item.y);
      item.drawn = view.radiusOf(item);
    }
    const lines = view.entries.map((entry) => ({ ...entry, role: this.roleOfEntry(entry), bend: this.bend(entry) }));
    // Lines between closed clusters pass under the open ones.
    this.drawLines(lines.filter(({ a, b }) => !a.variable && !b.variable));
    this.drawClusters();
    this.drawLines(lines.filter(({ a, b }) => a.variable || b.variable));
    this.placeNames(lines);
    for (const { box, item } of this.names) this.fillBox(box, this.groundOf(item));
    this.drawItems();
    this.drawNames();
  }

  /** Whether what the selected variable has nothing to do with steps back; in a neighbourhood all is wanted. */
  fades() {
    return Boolean(this.view.selected && !this.view.scope);
  }

  // ---- Clusters

  drawClusters() {
    const { context, colours, view } = this;
    this.titles = [];
    if (!view.grouped()) return;
    for (const cluster of view.clusters) {
      if (!cluster.open) continue;
      const [x, y] = view.transform.apply([cluster.x, cluster.y]), radius = cluster.radius * view.transform.k;
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
      Object.assign(context, { fillStyle: colours.cluster, strokeStyle: colours["cluster-edge"], lineWidth: 1 });
      context.fill();
      context.stroke();
      this.addTitle(cluster, x, y, radius);
    }
  }

  /** Above a circle that is in view, if it is large enough to be read about. */
  addTitle(cluster, x, y, radius) {
    const { view } = this;
    const inView = y + radius > 20 && y - radius < view.height && x > -radius && x < view.width + radius;
    if (!inView || radius < 30) return;
    const text = `\u00d7 ${bubbleLabel(cluster)}`;
    const half = this.widthOf(text, false) / 2 + 6, top = Math.max(4, y - radius - 20);
    const box = [x - half, top, x + half, top + 18];
    if (this.titles.some(({ box: [x0, y0, x1, y1] }) => box[0] < x1 && box[2] > x0 && box[1] < y1 && box[3] > y0)) return;
    this.titles.push({ cluster, text, box });
  }

  titleAt(x, y) {
    return this.titles.find(({ box }) => x >= box[0] && x <= box[2] && y >= box[1] - 4 && y <= box[3] + 4)?.cluster || null;
  }

  // ---- Lines

  /** What a line is to the selected variable: a role, or null. */
  roleOfEntry({ links, a, b }) {
    const chosen = this.view.selected;
    if (!chosen || (a.variable !== chosen && b.variable !== chosen && links.length > 1)) return null;
    for (const link of links) {
      const role = this.roleOfLink(link, chosen);
      if (role) return role;
    }
    return null;
  }

  roleOfLink(link, chosen) {
    if (link.hidden) return null;
    const causal = this.view.mode === "causal";
    const from = link.from || link.a, to = link.to || link.b;
    const member = (other) => chosen.members.find((entry) => entry.variable === other);
    if (from === chosen) return causal ? (link.directed ? "child" : "undecided") : member(to)?.role ?? "member";
    if (to === chosen) return causal ? (link.directed ? "parent" : "undecided") : member(from)?.role ?? "member";
    if (!causal || !link.directed) return null;
    const spouse = member(from);
    return spouse?.role === "spouse" && spouse.through?.includes(to.name) ? "spouse" : null;
  }

  /** Where a line bends. Straight, but in layers those that pass others go round them, and a hidden cause beside an edge does. */
  bend({ a, b, hidden }) {
    const x = (a.sx + b.sx) / 2, y = (a.sy + b.sy) / 2;
    const layers = Math.abs(a.y - b.y) / layerHeight;
    if (!hidden && (this.view.grouped() || this.view.drawnKind !== "layered" || (layers > 0.5 && layers < 1.5))) return [x, y];
    const side = hidden ? -0.25 : 0.16;
    return [x + side * (b.sy - a.sy), y - side * (b.sx - a.sx)];
  }

  drawLines(lines) {
    const { context, colours, view } = this;
    const many = lines.length > 600, grouped = lines.filter((line) => line.bundle).length > 120;
    const thin = many ? Math.min(1, 0.45 + 0.35 * view.transform.k) : 1;
    const opacity = (this.fades() ? 0.3 : view.selected ? 0.75 : 1) * (many ? 0.65 : 1);
    for (const strength of d3.range(4)) {
      // Where all clusters are linked with all, the thick lines are what one can see.
      context.globalAlpha = opacity * (grouped ? [0.22, 0.35, 0.6, 1][strength] : 1);
      for (const style of Object.keys(dashes)) {
        this.strokeLines(lines.filter((line) => !line.role && line.strength === strength && line.style === style), colours[style === "dotted" ? "undecided" : "edge"], thin * (0.8 + 0.65 * strength), style);
      }
    }
    context.globalAlpha = 1;
    for (const line of lines) {
      if (line.role) this.strokeLines([line], colours[line.role], 1.8 + 0.6 * line.strength, line.style);
    }
  }

  strokeLines(lines, colour, width, style) {
    if (!lines.length) return;
    const { context } = this;
    const head = (node) => Math.max(3.2 + 1.3 * width, 0.55 * Math.min(node.drawn, 14));
    context.beginPath();
    for (const { a, b, directed, bend: [x, y] } of lines) {
      const length = Math.hypot(b.sx - x, b.sy - y) || 1;
      const cut = directed ? Math.max(0, 1 - (b.drawn + 2 + 0.8 * head(b)) / length) : 1;
      context.moveTo(a.sx, a.sy);
      context.quadraticCurveTo(x, y, x + (b.sx - x) * cut, y + (b.sy - y) * cut);
    }
    context.setLineDash(dashes[style]);
    Object.assign(context, { strokeStyle: colour, lineWidth: width });
    context.stroke();
    context.setLineDash([]);
    context.beginPath();
    for (const { a, b, directed, hidden, bend } of lines) {
      if (directed || hidden) this.addHead(bend, b, head(b));
      if (hidden) this.addHead(bend, a, head(a));
    }
    context.fillStyle = colour;
    context.fill();
  }

  /** The head of an arrow from the bend to an item, as part of the path. */
  addHead([x, y], item, head) {
    const { context } = this;
    const gap = item.drawn + 2;
    const angle = Math.atan2(item.sy - y, item.sx - x);
    const tipX = item.sx - gap * Math.cos(angle), tipY = item.sy - gap * Math.sin(angle);
    context.moveTo(tipX, tipY);
    context.lineTo(tipX - head * Math.cos(angle - 0.42), tipY - head * Math.sin(angle - 0.42));
    context.lineTo(tipX - head * Math.cos(angle + 0.42), tipY - head * Math.sin(angle + 0.42));
    context.closePath();
  }

  // ---- Shapes

  drawItems() {
    const { context, colours, view } = this;
    const roleOf = new Map((view.selected?.members || []).map((member) => [view.nodes[member.variable.index], member.role]));
    const target = view.selected && view.nodes[view.selected.index];
    const touched = new Set(view.entries.flatMap(({ a, b }) => (a === target ? [b] : b === target ? [a] : [])));
    const filtered = view.filter.strongest < 1 || view.filter.decided;
    const paint = (items, alpha) => {
      context.beginPath();
      for (const item of items) {
        context.moveTo(item.sx + item.drawn, item.sy);
        context.arc(item.sx, item.sy, item.drawn, 0, 2 * Math.PI);
      }
      Object.assign(context, { fillStyle: colours.panel, strokeStyle: colours["node-edge"], lineWidth: 1.4, globalAlpha: 1 });
      if (alpha < 1) context.fill(); // lines end at faint shapes, too
      Object.assign(context, { fillStyle: colours.node, globalAlpha: alpha });
      context.fill();
      context.stroke();
      context.globalAlpha = 1;
    };
    const plain = view.items.filter((item) => !roleOf.has(item) && item !== target);
    const isFaint = (item) => (this.fades() ? !touched.has(item) : filtered && item.variable && !item.degree);
    paint(plain.filter(isFaint), 0.4);
    paint(plain.filter((item) => !isFaint(item)), 1);
    this.drawCounts();
    for (const [node, role] of roleOf) {
      if (view.items.includes(node)) this.drawShape(node, roles[role].symbol, Math.max(node.drawn * 1.25, 6), colours[role], role === "undecided");
    }
    if (target && view.items.includes(target)) this.drawTarget(target, Math.max(target.drawn * 1.25, 7));
    if (view.hovered) this.ring(view.hovered, view.hovered.drawn + 4, []);
    if (view.pointed()) this.ring(view.pointed(), view.pointed().drawn + 8, [4, 3]);
  }

  /** In each bubble, how many variables it holds. */
  drawCounts() {
    const { context, colours, view } = this;
    Object.assign(context, { font: nameFont(false), textAlign: "center", textBaseline: "middle", fillStyle: colours.ink });
    for (const item of view.items) {
      if (!item.variable && item.drawn > 8.5) context.fillText(item.cluster.members.length.toLocaleString("en"), item.sx, item.sy + 0.5);
    }
  }

  drawShape(node, symbol, size, colour, hollow) {
    const { context } = this;
    context.save();
    context.translate(node.sx, node.sy);
    context.beginPath();
    d3.symbol().type(symbol).size(3.4 * size * size).context(context)();
    Object.assign(context, { fillStyle: hollow ? this.colours.panel : colour, strokeStyle: hollow ? colour : this.colours.panel, lineWidth: hollow ? 2.6 : 1.4 });
    context.fill();
    context.stroke();
    context.restore();
  }

  drawTarget(node, size) {
    const { context, colours } = this;
    for (const [radius, colour] of [[size + 4, colours.target], [size + 1.5, colours.panel], [size - 1, colours.target]]) {
      context.beginPath();
      context.arc(node.sx, node.sy, radius, 0, 2 * Math.PI);
      context.fillStyle = colour;
      context.fill();
    }
  }

  ring(node, radius, dash) {
    const { context } = this;
    context.beginPath();
    context.arc(node.sx, node.sy, radius, 0, 2 * Math.PI);
    context.setLineDash(dash);
    Object.assign(context, { strokeStyle: this.colours.ink, lineWidth: 1.8 });
    context.stroke();
    context.setLineDash([]);
  }

  // ---- Names

  widthOf(text, bold) {
    const key = `${bold} ${text}`;
    if (!this.widths.has(key)) {
      this.context.font = nameFont(bold);
      this.widths.set(key, this.context.measureText(text).width);
    }
    return this.widths.get(key);
  }

  /** What names need to the left and right of a picture of these items, where all of them can have one. */
  roomBeside(items) {
    if (items.length > 80) return 0;
    return Math.min(this.view.width / 6, 0.8 * d3.max(items, (item) => this.widthOf(this.nameOf(item), false)));
  }

  /** How far the shape of an item goes: that of the selected one and of its boundary is larger. */
  reach(item, near) {
    if (item.variable && item.variable === this.view.selected) return Math.max(item.drawn * 1.25, 7) + 5;
    return item.variable && near.has(item) ? Math.max(item.drawn * 1.25, 6) + 2 : item.drawn;
  }

  nameOf(item) {
    return item.variable ? shortened(item.variable.name, 20) : bubbleLabel(item.cluster);
  }

  /** As many names as fit without touching, the important first. */
  placeNames(lines) {
    const { view } = this;
    const near = new Set((view.selected?.members || []).map((member) => view.itemOf(member.variable)).filter(Boolean));
    const always = [view.selected && view.itemOf(view.selected), view.hovered, view.pointed()].filter(Boolean);
    const crowd = view.items.length > 40;
    const order = new Set([...always, ...near, ...(view.selected && crowd ? view.items.filter((item) => !item.variable) : view.byDegree)]);
    const placer = new NamePlacer(view.width, view.height);
    for (const line of lines) placer.addLine(line.a, line.b, line.bend);
    for (const item of view.items) placer.addDisc(item.sx, item.sy, item.drawn);
    for (const { box } of this.titles) placer.take(box);
    // Room around names where there are many: a picture full of text shows no graph.
    const room = view.items.length > 150 && !view.grouped() ? 12 / Math.max(1, view.transform.k) : 1;
    // Names of what is filtered away, and of variables in clusters far off, would be noise.
    const filtered = view.filter.strongest < 1 || view.filter.decided;
    this.names = [];
    for (const item of order) {
      if (item.sx < -40 || item.sy < -20 || item.sx > view.width + 40 || item.sy > view.height + 20) continue;
      const important = always.includes(item);
      const wanted = !item.variable || ((!filtered || item.degree) && (!view.grouped() || view.transform.k > 0.5));
      if (!important && !near.has(item) && !wanted) continue;
      const text = this.nameOf(item);
      const place = placer.place(item.sx, item.sy, this.reach(item, near), this.widthOf(text, important) + 4, { before: item.side, room: important || near.has(item) ? 0 : room, must: important || near.has(item) });
      if (!place) continue;
      item.side = place.side;
      placer.take(place.box);
      this.names.push({ text, box: place.box, item, important, faint: Boolean(this.fades() && !near.has(item) && !important), strong: important || near.has(item) || !item.variable });
    }
  }

  groundOf(item) {
    return this.view.grouped() && item.variable ? this.colours.cluster : this.colours.panel;
  }

  fillBox([x0, y0, x1, y1], colour) {
    this.context.fillStyle = colour;
    this.context.fillRect(x0, y0, x1 - x0, y1 - y0);
  }

  drawNames() {
    const { context, colours } = this;
    Object.assign(context, { textAlign: "center", textBaseline: "top", direction: "ltr" });
    for (const { text, box: [x0, y0, x1], important, faint, strong } of this.names) {
      context.globalAlpha = faint ? 0.55 : 1;
      context.font = nameFont(important);
      context.fillStyle = strong ? colours.ink : colours.muted;
      context.fillText(text, (x0 + x1) / 2, y0 + 1);
    }
    context.globalAlpha = 1;
    for (const { text, box } of this.titles) {
      this.fillBox(box, colours.cluster);
      Object.assign(context, { strokeStyle: colours["cluster-edge"], lineWidth: 1 });
      context.strokeRect(Math.round(box[0]) + 0.5, Math.round(box[1]) + 0.5, Math.round(box[2] - box[0]), 18);
      context.font = nameFont(false);
      context.fillStyle = colours.ink;
      context.fillText(text, (box[0] + box[2]) / 2, box[1] + 3);
    }
  }
}
