// ---- The graph ------------------------------------------------------------------------------------------------------
// On a canvas, as a thousand variables must stay quick. Layout, zoom and drag are D3's.

const firstPictureBudget = 350; // milliseconds of layout before something is shown
const frameBudgets = { small: 12, large: 45 }; // and in each frame after that: drawing a large graph costs as much as moving it

const dashes = { solid: [], dashed: [5, 4], dotted: [2, 3] };

class GraphView {
  /** `on.select(variable|null)` when the reader chooses, `on.point(variable)` when the keyboard goes over one. */
  constructor(canvas, model, on) {
    Object.assign(this, { canvas, model, on });
    this.context = canvas.getContext("2d");
    this.nodes = model.variables.map((variable) => ({ variable, near: [] }));
    this.links = this.linksOfLayout();
    this.large = this.nodes.length > 300;
    this.mode = model.edges.length ? "causal" : "moral";
    this.kind = this.canLayer() ? "layered" : "free";
    this.selected = this.hovered = this.cursor = null;
    this.transform = d3.zoomIdentity;
    this.calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.widths = new Map();
    this.rankEvidence();
    this.readColours();
    this.resize();
    this.listen();
    this.layOut();
    new ResizeObserver(() => this.resize() && this.refit()).observe(canvas.parentElement);
  }

  // ---- Set-up

  linksOfLayout() {
    const links = new Map();
    const ends = [...this.model.pairs.map(({ a, b }) => [a, b]), ...this.model.edges.map(({ from, to }) => [from, to])];
    for (const [a, b] of ends) {
      const key = pairKey(a, b);
      if (links.has(key)) continue;
      const source = this.nodes[a.index], target = this.nodes[b.index];
      links.set(key, { source, target });
      source.near.push(target);
      target.near.push(source);
    }
    return [...links.values()];
  }

  canLayer() {
    return this.model.variables.length <= 80 && this.model.edges.some((edge) => edge.directed);
  }

  /** Four widths by rank of evidence: gains span orders of magnitude, so ranks tell more than nats. */
  rankEvidence() {
    for (const links of [this.model.pairs, this.model.edges]) {
      const values = links.map((link) => link.value ?? 0).sort(d3.ascending);
      for (const link of links) {
        link.strength = link.value === null ? 1 : Math.min(3, Math.floor((4 * d3.bisectLeft(values, link.value)) / values.length));
      }
    }
  }

  readColours() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    this.colours = {};
    for (const name of ["panel", "ink", "muted", "edge", "node", "node-edge", "parent", "child", "spouse", "undecided", "member", "target"]) this.colours[name] = colour(name);
  }

  /** True if the size has changed. */
  resize() {
    if (this.frozen) return false;
    const { width, height } = this.canvas.parentElement.getBoundingClientRect();
    const ratio = this.ratio || window.devicePixelRatio || 1;
    if (!width || !height || (this.width === width && this.height === height && this.drawnRatio === ratio)) return false;
    Object.assign(this, { width, height, drawnRatio: ratio });
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    return true;
  }

  listen() {
    const { canvas } = this;
    this.zoom = d3.zoom().scaleExtent([0.03, 12])
      // A page that zooms while one wants to scroll past is a nuisance: the wheel zooms once the graph has been clicked.
      .filter(() => !d3.event.button && (d3.event.type !== "wheel" || d3.event.ctrlKey || d3.event.metaKey || document.activeElement === canvas))
      .on("zoom", () => {
        this.transform = d3.event.transform;
        if (d3.event.sourceEvent) this.touched = true;
        this.drawSoon();
      });
    const drag = d3.drag().container(canvas)
      .subject(() => {
        const node = this.nodeAt(d3.event.x, d3.event.y);
        return node ? { node, x: this.transform.applyX(node.x), y: this.transform.applyY(node.y) } : null;
      })
      .on("drag", () => this.dragTo(d3.event.subject.node, this.transform.invertX(d3.event.x), this.transform.invertY(d3.event.y)))
      .on("end", () => this.simulation.alphaTarget(0));
    d3.select(canvas).call(drag).call(this.zoom).on("dblclick.zoom", null);
    canvas.addEventListener("click", (event) => {
      this.byKeyboard = false;
      const node = this.nodeAt(event.offsetX, event.offsetY);
      this.on.select(node ? node.variable : null);
    });
    canvas.addEventListener("dblclick", (event) => {
      const node = this.nodeAt(event.offsetX, event.offsetY);
      if (node) this.reveal(node.variable, true);
    });
    canvas.addEventListener("mousemove", (event) => this.hover(this.nodeAt(event.offsetX, event.offsetY)));
    canvas.addEventListener("mouseleave", () => this.hover(null));
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("focus", () => this.drawSoon());
    canvas.addEventListener("blur", () => this.drawSoon());
  }

  // ---- Layout

  layOut() {
    const edges = this.model.edges.map((edge) => ({ from: this.nodes[edge.from.index], to: this.nodes[edge.to.index] }));
    this.simulation = makeSimulation(this.nodes, this.links, edges, this.kind, this.width / this.height);
    this.touched = false;
    this.settle(firstPictureBudget);
    this.refit();
    this.draw();
    this.continueLayout();
  }

  /** Ticks for so many milliseconds, or until forces have come to rest; true if they have. */
  settle(budget) {
    const end = performance.now() + budget;
    while (this.simulation.alpha() > this.simulation.alphaMin() || this.simulation.alphaTarget() > 0) {
      this.simulation.tick();
      if (performance.now() > end) break;
    }
    placeUnlinked(this.nodes);
    return this.simulation.alpha() <= this.simulation.alphaMin();
  }

  continueLayout() {
    if (this.moving) return;
    this.moving = true;
    const step = () => {
      const settled = this.settle(this.large ? frameBudgets.large : frameBudgets.small);
      if (!this.calm || settled) {
        this.refit();
        this.draw();
      }
      this.moving = !settled;
      this.canvas.dataset.settled = String(settled);
      if (!settled) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  dragTo(node, x, y) {
    Object.assign(node, { x, y, fx: x, fy: y, moved: true });
    this.touched = true;
    if (this.kind === "free" && this.nodes.length <= 400) {
      this.simulation.alphaTarget(0.15).alpha(Math.max(this.simulation.alpha(), 0.15));
      this.continueLayout();
    }
    this.drawSoon();
  }

  setMode(mode) {
    this.mode = mode;
    this.drawSoon();
  }

  setKind(kind) {
    this.kind = kind;
    this.layOut();
  }

  // ---- View

  /** Everything into view, unless the reader has chosen a view. */
  refit() {
    if (!this.touched) this.fit();
    else this.drawSoon();
  }

  fit(nodes = this.nodes, { largest = 1.6, duration = 0, margin = 34 } = {}) {
    const [x0, x1] = d3.extent(nodes, (node) => node.x);
    const [y0, y1] = d3.extent(nodes, (node) => node.y);
    const k = Math.min(largest, (this.width - 2 * margin) / Math.max(x1 - x0, 1), (this.height - 2 * margin) / Math.max(y1 - y0, 1));
    const target = d3.zoomIdentity.translate(this.width / 2 - (k * (x0 + x1)) / 2, this.height / 2 - (k * (y0 + y1)) / 2).scale(k);
    this.moveTo(target, duration);
  }

  moveTo(transform, duration) {
    const canvas = d3.select(this.canvas);
    if (duration && !this.calm) canvas.transition().duration(duration).call(this.zoom.transform, transform);
    else canvas.interrupt().call(this.zoom.transform, transform);
  }

  zoomBy(factor) {
    this.touched = true;
    const canvas = d3.select(this.canvas);
    if (this.calm) this.zoom.scaleBy(canvas, factor);
    else this.zoom.scaleBy(canvas.transition().duration(180), factor);
  }

  fitAll() {
    this.touched = false;
    this.fit(this.nodes, { duration: 300 });
  }

  /** Brings a variable and its boundary into view if they are not, or closer in any case. */
  reveal(variable, always = false) {
    const nodes = [variable, ...variable.members.map((member) => member.variable)].map((other) => this.nodes[other.index]);
    const inside = nodes.every(({ x, y }) => {
      const [sx, sy] = this.transform.apply([x, y]);
      return sx > 20 && sx < this.width - 20 && sy > 20 && sy < this.height - 20;
    });
    if (inside && this.transform.k > 0.45 && !always) return;
    this.touched = true;
    this.fit(nodes, { largest: 1.3, duration: 450, margin: 80 });
  }

  nodeAt(x, y) {
    let nearest = null, least = Math.max(this.radius() + 5, 9) ** 2;
    for (const node of this.nodes) {
      const distance = (this.transform.applyX(node.x) - x) ** 2 + (this.transform.applyY(node.y) - y) ** 2;
      if (distance < least) [nearest, least] = [node, distance];
    }
    return nearest;
  }

  /** Where a variable is drawn, in pixels from the canvas's corner. */
  placeOf(variable) {
    const node = this.nodes[variable.index];
    return this.transform.apply([node.x, node.y]);
  }

  hover(node) {
    if (node === this.hovered) return;
    this.hovered = node;
    this.canvas.classList.toggle("over", Boolean(node));
    this.drawSoon();
  }

  select(variable) {
    this.selected = variable;
    this.cursor = variable ? this.nodes[variable.index] : this.cursor;
    this.drawSoon();
  }

  // ---- Keyboard

  key(event) {
    const directions = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const direction = directions[event.key];
    if (direction) this.step(direction);
    else if (event.key === "Enter" || event.key === " ") this.cursor && this.on.select(this.cursor.variable);
    else if (event.key === "+" || event.key === "=") this.zoomBy(1.4);
    else if (event.key === "-") this.zoomBy(1 / 1.4);
    else if (event.key === "0") this.fitAll();
    else return;
    event.preventDefault();
  }

  /** What the keyboard is on, while it is used. */
  pointed() {
    return this.byKeyboard && document.activeElement === this.canvas ? this.cursor : null;
  }

  /** To the nearest variable in a direction; linked ones count as half as far. */
  step([dx, dy]) {
    const here = this.cursor;
    this.byKeyboard = true;
    let best = null, least = Infinity;
    if (!here) {
      best = this.nodes.reduce((a, b) => (b.near.length > a.near.length ? b : a));
    } else {
      for (const node of this.nodes) {
        const x = node.x - here.x, y = node.y - here.y;
        const along = x * dx + y * dy, across = Math.abs(x * dy) + Math.abs(y * dx);
        if (node === here || along <= 0 || along < 0.6 * across) continue;
        const distance = (along + 2 * across) * (here.near.includes(node) ? 0.5 : 1);
        if (distance < least) [best, least] = [node, distance];
      }
    }
    if (!best) return;
    this.cursor = best;
    const [x, y] = this.placeOf(best.variable);
    if (x < 20 || y < 20 || x > this.width - 20 || y > this.height - 20) {
      this.touched = true;
      this.zoom.translateTo(d3.select(this.canvas), best.x, best.y);
    }
    this.on.point(best.variable);
    this.drawSoon();
  }

  // ---- Drawing

  radius() {
    const base = this.large ? 4 : this.nodes.length > 80 ? 5.5 : 8;
    return base * Math.min(1.8, Math.max(0.75, Math.sqrt(this.transform.k)));
  }

  drawSoon() {
    if (this.drawing) return;
    this.drawing = requestAnimationFrame(() => {
      this.drawing = 0;
      this.draw();
    });
  }

  /** The links of the chosen graph, with ends on the screen. */
  currentLinks() {
    const links = this.mode === "causal" ? [...this.model.edges, ...this.model.hidden] : this.model.pairs;
    return links.map((link) => {
      const a = this.nodes[(link.from || link.a).index], b = this.nodes[(link.to || link.b).index];
      const directed = this.mode === "causal" && link.directed;
      const style = this.mode !== "causal" || directed ? "solid" : link.hidden ? "dotted" : "dashed";
      return { link, a, b, directed, style };
    });
  }

  /** What a link is to the selected variable: a role, or null. */
  roleOfLink({ link, a, b }) {
    const chosen = this.selected;
    if (!chosen || link.hidden) return null;
    const roleOf = (other) => chosen.members.find((member) => member.variable === other)?.role ?? "member";
    if (a.variable === chosen) return this.mode === "causal" ? (link.directed ? "child" : "undecided") : roleOf(b.variable);
    if (b.variable === chosen) return this.mode === "causal" ? (link.directed ? "parent" : "undecided") : roleOf(a.variable);
    if (this.mode !== "causal" || !link.directed) return null;
    const spouse = chosen.members.find((member) => member.variable === a.variable && member.role === "spouse");
    return spouse?.through?.includes(b.variable.name) ? "spouse" : null;
  }

  draw() {
    const { context, transform, width, height } = this;
    context.setTransform(this.drawnRatio, 0, 0, this.drawnRatio, 0, 0);
    context.clearRect(0, 0, width, height);
    for (const node of this.nodes) {
      node.sx = transform.applyX(node.x);
      node.sy = transform.applyY(node.y);
    }
    const links = this.currentLinks().map((entry) => ({ ...entry, role: this.roleOfLink(entry) }));
    const plain = links.filter((entry) => !entry.role);
    const thin = this.large ? Math.min(1, 0.45 + 0.35 * transform.k) : 1;
    context.globalAlpha = (this.selected ? 0.22 : 1) * (this.large ? 0.7 : 1);
    for (const strength of d3.range(4)) {
      for (const style of Object.keys(dashes)) {
        this.drawLinks(plain.filter((entry) => entry.link.strength === strength && entry.style === style), this.colours[style === "dotted" ? "undecided" : "edge"], thin * (0.8 + 0.65 * strength), style);
      }
    }
    context.globalAlpha = 1;
    for (const entry of links) {
      if (entry.role) this.drawLinks([entry], this.colours[entry.role], 1.8 + 0.6 * entry.link.strength, entry.style);
    }
    this.drawNodes();
    this.drawLabels();
    const { dataset } = this.canvas;
    if (!dataset.drawn) Object.assign(dataset, { drawn: "true", drawMs: String(Math.round(performance.now())) });
  }

  drawLinks(entries, colour, width, style) {
    if (!entries.length) return;
    const { context } = this;
    const gap = this.radius() + 2;
    const head = Math.max(3.2 + 1.3 * width, 0.55 * gap);
    context.beginPath();
    for (const { a, b, directed, link } of entries) {
      const [x, y] = this.bend(a, b, link.hidden);
      const length = Math.hypot(b.sx - x, b.sy - y) || 1;
      const cut = directed ? Math.max(0, 1 - (gap + 0.8 * head) / length) : 1;
      context.moveTo(a.sx, a.sy);
      context.quadraticCurveTo(x, y, x + (b.sx - x) * cut, y + (b.sy - y) * cut);
    }
    context.setLineDash(dashes[style]);
    Object.assign(context, { strokeStyle: colour, lineWidth: width });
    context.stroke();
    context.setLineDash([]);
    context.beginPath();
    for (const { a, b, directed, link } of entries) {
      const bend = this.bend(a, b, link.hidden);
      if (directed || link.hidden) this.drawHead(bend, b, gap, head);
      if (link.hidden) this.drawHead(bend, a, gap, head);
    }
    context.fillStyle = colour;
    context.fill();
  }

  /** The head of an arrow from the bend to a node, as part of the path. */
  drawHead([x, y], node, gap, head) {
    const { context } = this;
    const angle = Math.atan2(node.sy - y, node.sx - x);
    const tipX = node.sx - gap * Math.cos(angle), tipY = node.sy - gap * Math.sin(angle);
    context.moveTo(tipX, tipY);
    context.lineTo(tipX - head * Math.cos(angle - 0.42), tipY - head * Math.sin(angle - 0.42));
    context.lineTo(tipX - head * Math.cos(angle + 0.42), tipY - head * Math.sin(angle + 0.42));
    context.closePath();
  }

  /** Where a link bends. Straight, but in layers those that pass others go round them, and a hidden cause beside an edge does. */
  bend(a, b, aside = false) {
    const x = (a.sx + b.sx) / 2, y = (a.sy + b.sy) / 2;
    const layers = Math.abs(a.y - b.y) / layerHeight;
    if (!aside && (this.kind !== "layered" || (layers > 0.5 && layers < 1.5))) return [x, y];
    const side = aside ? -0.25 : 0.16;
    return [x + side * (b.sy - a.sy), y - side * (b.sx - a.sx)];
  }

  drawNodes() {
    const { context, colours } = this;
    const radius = this.radius();
    const roleOf = new Map((this.selected?.members || []).map((member) => [member.variable, member.role]));
    Object.assign(context, { fillStyle: colours.node, strokeStyle: colours["node-edge"], lineWidth: 1.4 });
    context.globalAlpha = this.selected ? 0.35 : 1;
    context.beginPath();
    for (const node of this.nodes) {
      if (roleOf.has(node.variable) || node.variable === this.selected) continue;
      context.moveTo(node.sx + radius, node.sy);
      context.arc(node.sx, node.sy, radius, 0, 2 * Math.PI);
    }
    context.fill();
    context.stroke();
    context.globalAlpha = 1;
    for (const [variable, role] of roleOf) {
      const node = this.nodes[variable.index];
      this.drawShape(node, roles[role].symbol, Math.max(radius * 1.25, 6), colours[role], role === "undecided");
    }
    if (this.selected) this.drawTarget(this.nodes[this.selected.index], Math.max(radius * 1.25, 7));
    if (this.hovered) this.ring(this.hovered, radius + 4, []);
    if (this.pointed()) this.ring(this.pointed(), radius + 8, [4, 3]);
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

  /** As many names as fit without touching, the important first. */
  drawLabels() {
    const { context, colours } = this;
    const near = new Set((this.selected?.members || []).map((member) => this.nodes[member.variable.index]));
    const always = [this.selected && this.nodes[this.selected.index], this.hovered, this.pointed()].filter(Boolean);
    const others = this.byDegree || (this.byDegree = [...this.nodes].sort((a, b) => b.near.length - a.near.length));
    const crowd = this.nodes.length > 40;
    const order = new Set([...always, ...near, ...(this.selected && crowd ? [] : others)]);
    const offset = this.radius() + 4;
    // Room around names where there are many: a picture full of text shows no graph.
    const room = this.nodes.length > 150 ? 20 / Math.max(1, this.transform.k) : 0;
    const taken = [];
    Object.assign(context, { font: "12px system-ui, sans-serif", textAlign: "center", textBaseline: "top", lineJoin: "round", direction: "ltr" });
    for (const node of order) {
      if (node.sx < -40 || node.sy < -20 || node.sx > this.width + 40 || node.sy > this.height + 20) continue;
      const text = shortened(node.variable.name, 18);
      if (!this.widths.has(text)) this.widths.set(text, context.measureText(text).width);
      const half = this.widths.get(text) / 2 + 3;
      const top = node.sy + offset;
      const important = always.includes(node);
      const space = near.has(node) ? 0 : room;
      const clear = taken.every(([x0, y0, x1, y1]) => node.sx + half + space < x0 || node.sx - half - space > x1 || top + 13 + space < y0 || top - space > y1);
      if (!clear && !important) continue;
      taken.push([node.sx - half, top, node.sx + half, top + 13]);
      const faded = this.selected && !near.has(node) && !important;
      context.globalAlpha = faded ? 0.4 : 1;
      context.font = `${important ? "600 " : ""}12px system-ui, sans-serif`;
      Object.assign(context, { strokeStyle: colours.panel, lineWidth: 3.5, fillStyle: important || near.has(node) ? colours.ink : colours.muted });
      context.strokeText(text, node.sx, top);
      context.fillText(text, node.sx, top);
    }
    context.globalAlpha = 1;
  }

  /** The same picture, so many times as fine, whatever becomes of the page around it, as it does on paper. */
  freeze(ratio) {
    this.ratio = ratio;
    this.resize();
    this.frozen = true;
    this.draw();
  }

  thaw() {
    this.frozen = false;
    this.ratio = 0;
    this.resize();
    this.draw();
  }

  /** The picture as it is, on the theme's ground, three times as fine. */
  toImage(done) {
    this.freeze(3);
    const image = document.createElement("canvas");
    Object.assign(image, { width: this.canvas.width, height: this.canvas.height });
    const context = image.getContext("2d");
    context.fillStyle = this.colours.panel;
    context.fillRect(0, 0, image.width, image.height);
    context.drawImage(this.canvas, 0, 0);
    this.thaw();
    image.toBlob(done);
  }
}
