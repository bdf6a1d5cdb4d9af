// ---- Where variables stand ------------------------------------------------------------------------------------------
// Positions come from D3's forces over all links of both graphs, so that switching between graphs moves nothing.
// Variables without any link stand in rows below.

const layerHeight = 92;

/** Who is linked with whom by the links that are laid out. */
function neighbours(nodes, links) {
  const near = new Map(nodes.map((node) => [node, []]));
  for (const { source, target } of links) {
    near.get(source).push(target);
    near.get(target).push(source);
  }
  return near;
}

/** Breadth first from the best linked: neighbours start close to each other and forces settle sooner. */
function breadthFirst(nodes, near) {
  const order = [];
  const seen = new Set();
  for (const root of [...nodes].sort((a, b) => near.get(b).length - near.get(a).length)) {
    const queue = [root];
    while (queue.length) {
      const node = queue.shift();
      if (seen.has(node)) continue;
      seen.add(node);
      order.push(node);
      queue.push(...near.get(node));
    }
  }
  return order;
}

/** Longest way down from a cause; what has no cause stands just above its first effect. Undecided edges count as they
    are written, as in the best graph, which has no cycles. */
function depths(nodes, edges) {
  const effects = new Map(nodes.map((node) => [node, []]));
  const waiting = new Map(nodes.map((node) => [node, 0]));
  for (const { from, to } of edges) {
    effects.get(from).push(to);
    waiting.set(to, waiting.get(to) + 1);
  }
  const depth = new Map(nodes.map((node) => [node, 0]));
  const roots = nodes.filter((node) => waiting.get(node) === 0);
  const ready = [...roots];
  while (ready.length) {
    const node = ready.pop();
    for (const effect of effects.get(node)) {
      depth.set(effect, Math.max(depth.get(effect), depth.get(node) + 1));
      waiting.set(effect, waiting.get(effect) - 1);
      if (waiting.get(effect) === 0) ready.push(effect);
    }
  }
  for (const root of roots) {
    if (effects.get(root).length) depth.set(root, d3.min(effects.get(root), (effect) => depth.get(effect)) - 1);
  }
  return depth;
}

/** Start of the layered layout: each layer in the order of its neighbours' mean places, swept up and down. */
function arrangeLayers(nodes, depth, near) {
  const layers = d3.range(d3.max(nodes, (node) => depth.get(node)) + 1).map((level) => nodes.filter((node) => depth.get(node) === level));
  const place = (layer) => layer.forEach((node, index) => (node.x = (index - (layer.length - 1) / 2) * 100));
  layers.forEach(place);
  for (let sweep = 0; sweep < 12; ++sweep) {
    for (const layer of sweep % 2 ? [...layers].reverse() : layers) {
      const wanted = new Map(layer.map((node) => [node, d3.mean(near.get(node), (other) => other.x) ?? node.x]));
      layer.sort((a, b) => wanted.get(a) - wanted.get(b));
      place(layer);
    }
  }
  layers.forEach((layer, level) => layer.forEach((node) => Object.assign(node, { y: level * layerHeight, fy: level * layerHeight })));
}

/** The forces, not yet run: `tick` them as time allows. */
function makeSimulation(nodes, links, edges, kind, aspect) {
  const near = neighbours(nodes, links);
  const linked = nodes.filter((node) => near.get(node).length);
  for (const node of nodes) Object.assign(node, { x: undefined, y: undefined, vx: 0, vy: 0, fx: null, fy: null, moved: false });
  const large = linked.length > 300;
  const simulation = d3.forceSimulation().stop();
  if (kind === "layered") {
    const depth = depths(linked, edges);
    arrangeLayers(linked, depth, near);
    // As wide as the picture allows: names stand between the variables of a layer.
    const layers = d3.max(linked, (node) => depth.get(node)) + 1, widest = d3.max(d3.range(layers), (level) => linked.filter((node) => depth.get(node) === level).length);
    const room = Math.max(42, Math.min(64, (layers * layerHeight * aspect) / (3 * widest)));
    simulation.nodes(linked)
      .force("link", d3.forceLink(links).distance(20).strength(0.25))
      .force("charge", d3.forceManyBody().strength(-320).distanceMax(320))
      .force("collide", d3.forceCollide(room))
      .force("x", d3.forceX(0).strength(0.03))
      .alphaDecay(0.03);
    return simulation;
  }
  const pull = large ? 0.035 : 0.09;
  simulation.nodes(breadthFirst(linked, near))
    .force("link", d3.forceLink(links).distance(large ? 34 : 58))
    .force("charge", d3.forceManyBody().strength(large ? -90 : -260).theta(large ? 1.1 : 0.9).distanceMax(large ? 700 : 900))
    .force("collide", large ? null : d3.forceCollide(20))
    .force("x", d3.forceX(0).strength(pull / Math.max(aspect, 0.6)))
    .force("y", d3.forceY(0).strength(pull * Math.max(aspect, 0.6)))
    .alphaDecay(large ? 0.034 : 0.0228);
  return simulation;
}

/** Rows for variables without links, below the others. */
function placeUnlinked(nodes, isLinked) {
  const alone = nodes.filter((node) => !isLinked(node) && !node.moved);
  if (!alone.length) return;
  const linked = nodes.filter(isLinked);
  const [left, right] = linked.length ? d3.extent(linked, (node) => node.x) : [0, 0];
  const gap = alone.length > 150 ? 26 : 46;
  const width = Math.max(right - left, Math.min(alone.length, Math.ceil(Math.sqrt(alone.length * 2.2))) * gap);
  const columns = Math.max(1, Math.floor(width / gap) + 1);
  const top = linked.length ? d3.max(linked, (node) => node.y) + 1.7 * gap : 0;
  const start = (left + right) / 2 - ((Math.min(columns, alone.length) - 1) * gap) / 2;
  alone.forEach((node, index) => Object.assign(node, { x: start + (index % columns) * gap, y: top + Math.floor(index / columns) * gap }));
}
