// ---- The graph ------------------------------------------------------------------------------------------------------
// On a canvas, as a thousand variables must stay quick. Layout, zoom and drag are D3's. What is drawn is in scene.js, how
// in painter.js.

const firstPictureBudget = 350; // milliseconds of layout before something is shown
const frameBudgets = { small: 12, large: 45 }; // and in each frame after that: drawing a large graph costs as much as moving it

class GraphView extends Scene {
  /** `on.select(variable|null)` when the reader chooses, `on.point(item)` when the keyboard goes over one, `on.hover(item|null)`
      when the mouse does, `on.change()` when what is shown has changed otherwise. */
  constructor(canvas, model, on) {
    super(model);
    Object.assign(this, { canvas, on });
    this.large = this.nodes.length > 300;
    this.hovered = this.cursor = null;
    this.transform = d3.zoomIdentity;
    this.calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.painter = new Painter(this);
    this.painter.readColours();
    this.resize();
    this.listen();
    this.layOut();
    new ResizeObserver(() => this.resize() && this.refit()).observe(canvas.parentElement);
  }

  // ---- Set-up

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
      .filter(() => !d3.event.button && this.isMeant(d3.event))
      .on("zoom", () => {
        this.transform = d3.event.transform;
        if (d3.event.sourceEvent) this.touched = true;
        this.drawSoon();
      });
    const drag = d3.drag().container(canvas).filter(() => !d3.event.button && !d3.event.ctrlKey && this.isMeant(d3.event))
      .subject(() => {
        const item = this.itemAt(d3.event.x, d3.event.y);
        return item ? { item, x: this.transform.applyX(item.x), y: this.transform.applyY(item.y) } : null;
      })
      .on("drag", () => this.dragTo(d3.event.subject.item, this.transform.invertX(d3.event.x), this.transform.invertY(d3.event.y)))
      .on("end", () => this.simulation?.alphaTarget(0));
    d3.select(canvas).call(drag).call(this.zoom).on("dblclick.zoom", null).style("touch-action", null);
    canvas.addEventListener("click", (event) => {
      this.byKeyboard = false;
      const title = this.painter.titleAt(event.offsetX, event.offsetY);
      if (title) this.setOpen(title, false);
      else this.choose(this.itemAt(event.offsetX, event.offsetY));
    });
    canvas.addEventListener("dblclick", (event) => {
      const item = this.itemAt(event.offsetX, event.offsetY);
      if (item?.variable) this.reveal(item.variable);
    });
    canvas.addEventListener("mousemove", (event) => this.hover(this.itemAt(event.offsetX, event.offsetY), this.painter.titleAt(event.offsetX, event.offsetY)));
    canvas.addEventListener("mouseleave", () => this.hover(null));
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("focus", () => this.drawSoon());
    canvas.addEventListener("blur", () => {
      this.hover(null);
      this.drawSoon();
    });
  }

  /** A graph that moves while one wants to scroll past is a nuisance: wheel and finger move it once it has been clicked. */
  isMeant(event) {
    const passing = event.type === "wheel" ? !event.ctrlKey && !event.metaKey : event.type === "touchstart" && event.touches.length < 2;
    return !passing || document.activeElement === this.canvas;
  }

  /** A variable is selected, a bubble opens, the ground clears the selection. */
  choose(item) {
    if (!item || item.variable) {
      this.on.select(item ? item.variable : null);
      return;
    }
    this.setOpen(item.cluster, true);
    if (!this.byKeyboard) return;
    this.cursor = item.cluster.hub;
    this.on.point(this.cursor);
  }

  // ---- What is shown

  setFilter(change) {
    Object.assign(this.filter, change);
    this.rescope();
  }

  setMode(mode) {
    this.mode = mode;
    this.rescope();
    this.on.change();
  }

  setKind(kind) {
    this.kind = kind;
    this.filter.steps = 0;
    this.scope = this.whole = null;
    this.layOut();
    this.on.change();
  }

  /** What follows from a filter or a selection: another neighbourhood is laid out anew, all else stays where it is. */
  rescope() {
    const before = this.scope, after = this.scopeOf(this.passing());
    const same = before === after || (before && after && before.size === after.size && [...before].every((variable) => after.has(variable)));
    if (same) {
      this.collect();
      this.drawSoon();
      return;
    }
    if (!before) this.leaveWhole();
    this.scope = after;
    if (after) this.layOut();
    else this.returnToWhole();
    this.on.change();
  }

  /** Keeps the layout of all variables, as that of a neighbourhood uses the same nodes. */
  leaveWhole() {
    const { simulation, drawnKind, isLinked } = this;
    this.whole = { simulation, drawnKind, isLinked, places: this.nodes.map(({ x, y, fx, fy, moved, index }) => ({ x, y, fx, fy, moved, index })) };
  }

  returnToWhole() {
    const { places, ...whole } = this.whole;
    Object.assign(this, whole);
    this.nodes.forEach((node, index) => Object.assign(node, places[index]));
    if (this.grouped()) placeClusters(this.clusters, this.links, this.width / this.height);
    this.collect();
    this.touched = false;
    if (this.selected) this.reveal(this.selected);
    else this.fit();
    this.continueLayout();
  }

  setOpen(cluster, open, { reveal = true } = {}) {
    cluster.open = open;
    this.placeGroups();
    if (reveal && open) this.fitTo(cluster.members, { largest: 1.3, duration: 350, margin: 60 });
    else if (!this.touched) this.fit();
    this.on.change();
  }

  setAllOpen(open) {
    for (const cluster of this.clusters) cluster.open = open;
    this.placeGroups();
    this.touched = false;
    this.fit();
    this.on.change();
  }

  placeGroups() {
    placeClusters(this.clusters, this.links, this.width / this.height);
    this.collect();
    this.drawSoon();
  }

  // ---- Layout

  layOut() {
    this.touched = false;
    if (this.grouped()) {
      this.simulation = null;
      this.placeGroups();
      this.fit();
      this.draw();
      this.canvas.dataset.settled = "true";
      return;
    }
    this.collect();
    const links = this.links.filter(({ source, target }) => !this.scope || (this.scope.has(source.variable) && this.scope.has(target.variable)));
    const linked = new Set(links.flatMap(({ source, target }) => [source, target]));
    this.isLinked = (node) => linked.has(node);
    const inside = new Set(this.items);
    const edges = this.model.edges.map((edge) => ({ from: this.nodes[edge.from.index], to: this.nodes[edge.to.index] })).filter(({ from, to }) => inside.has(from) && inside.has(to));
    this.drawnKind = this.kind === "layered" || this.scope ? (this.canLayer(this.items) ? "layered" : "free") : this.kind;
    this.simulation = makeSimulation(this.items, links, edges, this.drawnKind, this.width / this.height);
    this.canvas.dataset.settled = "false";
    this.settle(firstPictureBudget);
    this.refit();
    this.draw();
    this.continueLayout();
  }

  /** Ticks for so many milliseconds, or until forces have come to rest; true if they have. */
  settle(budget) {
    if (!this.simulation) return true;
    const end = performance.now() + budget;
    while (this.simulation.alpha() > this.simulation.alphaMin() || this.simulation.alphaTarget() > 0) {
      this.simulation.tick();
      if (performance.now() > end) break;
    }
    placeUnlinked(this.items, this.isLinked);
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

  dragTo(item, x, y) {
    this.touched = true;
    if (this.grouped()) {
      Object.assign(item, { x, y });
      if (item.variable) Object.assign(item, { insideX: x - item.cluster.x, insideY: y - item.cluster.y });
      else Object.assign(item.cluster, { x, y });
      this.drawSoon();
      return;
    }
    Object.assign(item, { x, y, fx: x, fy: y, moved: true });
    if (this.drawnKind === "free" && this.items.length <= 400) {
      this.simulation.alphaTarget(0.15).alpha(Math.max(this.simulation.alpha(), 0.15));
      this.continueLayout();
    }
    this.drawSoon();
  }

  // ---- View

  /** Everything into view, unless the reader has chosen a view. */
  refit() {
    if (!this.touched) this.fit();
    else this.drawSoon();
  }

  fit(options) {
    this.fitTo(this.items, options, false);
  }

  /** So many items into view; the reader's own view, unless `own` is false. */
  fitTo(items, { duration = 0, ...options } = {}, own = true) {
    if (own) this.touched = true;
    this.moveTo(this.fitting(items, options), duration);
  }

  fitting(items, { largest = 1.6, margin = Math.min(40, this.width / 16) } = {}) {
    const room = (item) => (item.variable ? 0 : item.radius);
    const [x0, x1] = [d3.min(items, (item) => item.x - room(item)), d3.max(items, (item) => item.x + room(item))];
    const [y0, y1] = [d3.min(items, (item) => item.y - room(item)), d3.max(items, (item) => item.y + room(item))];
    const beside = margin + this.painter.roomBeside(items);
    const k = Math.min(largest, (this.width - 2 * beside) / Math.max(x1 - x0, 1), (this.height - 2 * margin) / Math.max(y1 - y0, 1));
    return d3.zoomIdentity.translate(this.width / 2 - (k * (x0 + x1)) / 2, this.height / 2 - (k * (y0 + y1)) / 2).scale(k);
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
    this.fit({ duration: 300 });
  }

  /** Brings a variable and what it is linked with into view, near enough to read; opens its cluster. */
  reveal(variable) {
    const node = this.nodes[variable.index];
    if (this.grouped() && !node.cluster.open) this.setOpen(node.cluster, true, { reveal: false });
    const near = this.entries.filter(({ a, b }) => a === node || b === node).map(({ a, b }) => (a === node ? b : a));
    const close = near.filter((other) => other.variable && Math.hypot(other.x - node.x, other.y - node.y) < 420);
    this.fitTo([node, ...close], { largest: 1.4, duration: 450, margin: 90 });
  }

  /** In pixels, on the screen. */
  radiusOf(item) {
    if (!item.variable) return Math.max(5, item.radius * this.transform.k);
    const base = this.items.length > 300 && !this.grouped() ? 4 : this.items.length > 80 ? 5.5 : 8;
    return base * Math.min(1.8, Math.max(0.7, Math.sqrt(this.transform.k)));
  }

  itemAt(x, y) {
    let nearest = null, least = Infinity;
    for (const item of this.items) {
      const distance = Math.hypot(this.transform.applyX(item.x) - x, this.transform.applyY(item.y) - y) - Math.max(this.radiusOf(item) + (item.variable ? 5 : 0), 9);
      if (distance < Math.min(least, 0)) [nearest, least] = [item, distance];
    }
    return nearest;
  }

  /** Where a variable is drawn, or the cluster that holds it, in pixels from the canvas's corner. */
  placeOf(variable) {
    const item = this.itemOf(variable) || this.nodes[variable.index];
    return this.transform.apply([item.x, item.y]);
  }

  hover(item, title = null) {
    this.canvas.classList.toggle("over", Boolean(item || title));
    if (item === this.hovered) return;
    this.hovered = item;
    this.on.hover(item);
    this.drawSoon();
  }

  select(variable) {
    this.selected = variable;
    this.cursor = variable ? this.nodes[variable.index] : this.cursor;
    this.rescope();
  }

  // ---- Keyboard

  key(event) {
    const directions = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const direction = directions[event.key];
    if (direction) this.step(direction);
    else if (event.key === "Enter" || event.key === " ") this.pointedOrCursor() && this.choose(this.pointedOrCursor());
    else if (event.key === "Backspace") this.closeAtCursor();
    else if (event.key === "+" || event.key === "=") this.zoomBy(1.4);
    else if (event.key === "-") this.zoomBy(1 / 1.4);
    else if (event.key === "0") this.fitAll();
    else return;
    event.preventDefault();
  }

  pointedOrCursor() {
    return this.cursor && this.items.includes(this.cursor) ? this.cursor : null;
  }

  /** Closes the open cluster in which the cursor is, and leaves the cursor on its bubble. */
  closeAtCursor() {
    const cluster = this.grouped() ? this.cursor?.cluster : null;
    if (!cluster?.open) return;
    this.setOpen(cluster, false);
    this.cursor = cluster.bubble;
    this.byKeyboard = true;
    this.on.point(this.cursor);
  }

  /** What the keyboard is on, while it is used. */
  pointed() {
    return this.byKeyboard && document.activeElement === this.canvas ? this.pointedOrCursor() : null;
  }

  /** To the nearest item in a direction; linked ones count as half as far. */
  step([dx, dy]) {
    const here = this.pointedOrCursor();
    this.byKeyboard = true;
    let best = null, least = Infinity;
    if (!here) {
      best = this.byDegree[0];
    } else {
      const near = new Set(this.entries.filter(({ a, b }) => a === here || b === here).flatMap(({ a, b }) => [a, b]));
      for (const item of this.items) {
        const x = item.x - here.x, y = item.y - here.y;
        const along = x * dx + y * dy, across = Math.abs(x * dy) + Math.abs(y * dx);
        if (item === here || along <= 0 || along < 0.6 * across) continue;
        const distance = (along + 2 * across) * (near.has(item) ? 0.5 : 1);
        if (distance < least) [best, least] = [item, distance];
      }
    }
    if (!best) return;
    this.cursor = best;
    const [x, y] = this.transform.apply([best.x, best.y]);
    if (x < 20 || y < 20 || x > this.width - 20 || y > this.height - 20) {
      this.touched = true;
      this.zoom.translateTo(d3.select(this.canvas), best.x, best.y);
    }
    this.on.point(best);
    this.drawSoon();
  }

  // ---- Drawing

  drawSoon() {
    if (this.drawing) return;
    this.drawing = requestAnimationFrame(() => {
      this.drawing = 0;
      this.draw();
    });
  }

  draw() {
    this.painter.draw();
    this.canvas.dataset.drawn = "true";
  }

  /** So many times as fine, and of another size if one is given, whatever becomes of the page around it, as it does on paper. */
  freeze(ratio, { width = this.width, height = this.height } = {}) {
    this.thawed = this.thawed || { width: this.width, height: this.height, transform: this.transform };
    Object.assign(this, { frozen: true, ratio, drawnRatio: ratio, width, height });
    Object.assign(this.canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
    const { thawed } = this;
    if (width !== thawed.width || height !== thawed.height) {
      const { x, y, k } = thawed.transform;
      if (this.touched) this.transform = d3.zoomIdentity.translate(x + (width - thawed.width) / 2, y + (height - thawed.height) / 2).scale(k);
      else this.transform = this.fitting(this.items);
    }
    this.draw();
  }

  thaw() {
    if (!this.frozen) return;
    Object.assign(this, this.thawed, { frozen: false, ratio: 0, thawed: null, drawnRatio: 0 });
    this.resize();
    this.draw();
  }

  /** The size of a picture for a sheet of paper: as high as the graph needs, of the width that a line of text has. */
  paperSize() {
    const width = 780, [x0, x1] = d3.extent(this.items, (item) => item.x), [y0, y1] = d3.extent(this.items, (item) => item.y);
    const wanted = this.touched ? (width * this.height) / this.width : (width * (y1 - y0)) / Math.max(x1 - x0, 1) + 80;
    return { width, height: Math.round(Math.max(420, Math.min(920, wanted))) };
  }

  /** The picture as it is, on the theme's ground, three times as fine. */
  toImage(done) {
    this.freeze(3);
    const image = document.createElement("canvas");
    Object.assign(image, { width: this.canvas.width, height: this.canvas.height });
    const context = image.getContext("2d");
    context.fillStyle = this.painter.colours.panel;
    context.fillRect(0, 0, image.width, image.height);
    context.drawImage(this.canvas, 0, 0);
    this.thaw();
    image.toBlob(done);
  }
}
