// ---- Clusters -------------------------------------------------------------------------------------------------------
// A thousand variables are no picture, thirty groups of them are. A cluster is a bubble until it is opened; then it is a
// circle with its variables in it, laid out once and moved as one body.

const largestCluster = 60; // variables: more would be a ball of wool again
const fewestToCluster = 40;

/** One level of Louvain's method: each vertex goes where it has more weight than chance would put there, until none moves.
    A larger resolution asks for more and gives smaller groups. Vertices go in their order, so the answer is one. */
function louvainLevel(size, edges, resolution) {
  const near = Array.from({ length: size }, () => new Map());
  const degree = new Array(size).fill(0);
  let total = 0;
  for (const [a, b, weight] of edges) {
    total += weight;
    degree[a] += weight;
    degree[b] += weight;
    if (a === b) continue;
    near[a].set(b, (near[a].get(b) || 0) + weight);
    near[b].set(a, (near[b].get(a) || 0) + weight);
  }
  const group = d3.range(size), sum = [...degree];
  let moved = true;
  for (let sweep = 0; moved && sweep < 50; ++sweep) {
    moved = false;
    for (let vertex = 0; vertex < size; ++vertex) {
      const into = new Map();
      for (const [other, weight] of near[vertex]) into.set(group[other], (into.get(group[other]) || 0) + weight);
      sum[group[vertex]] -= degree[vertex];
      const gain = (target) => (into.get(target) || 0) - (resolution * sum[target] * degree[vertex]) / (2 * total);
      let best = group[vertex];
      for (const target of into.keys()) if (gain(target) > gain(best) + 1e-9) best = target;
      sum[best] += degree[vertex];
      moved = moved || best !== group[vertex];
      group[vertex] = best;
    }
  }
  return group;
}

/** Groups of 0 … size − 1 with many edges [a, b, weight] inside and few between. */
function communities(size, edges, resolution) {
  let groups = d3.range(size).map((vertex) => [vertex]);
  for (;;) {
    const found = louvainLevel(groups.length, edges, resolution);
    const names = [...new Set(found)];
    if (names.length === groups.length) return groups;
    const place = new Map(names.map((name, index) => [name, index]));
    groups = names.map((name) => groups.filter((_, vertex) => found[vertex] === name).flat());
    edges = edges.map(([a, b, weight]) => [place.get(found[a]), place.get(found[b]), weight]);
  }
}

/** The clusters of the nodes, the largest first; variables without links are one of their own. */
function makeClusters(nodes, links) {
  const linked = nodes.filter((node) => node.near.length);
  if (linked.length < fewestToCluster) return [];
  const place = new Map(linked.map((node, index) => [node, index]));
  const edges = links.map(({ source, target, strength }) => [place.get(source), place.get(target), 1 + strength]);
  let groups = [];
  for (const resolution of [1, 1.5, 2, 3, 4, 6, 8, 12]) {
    groups = communities(linked.length, edges, resolution);
    if (d3.max(groups, (group) => group.length) <= largestCluster) break;
  }
  const sets = groups.map((group) => group.map((index) => linked[index])).sort((a, b) => b.length - a.length || a[0].variable.index - b[0].variable.index);
  const alone = nodes.filter((node) => !node.near.length);
  if (alone.length) sets.push(alone);
  return sets.map((members, index) => {
    const hub = members.reduce((a, b) => (b.near.length > a.near.length ? b : a));
    const cluster = { number: index, members, hub, alone: members === alone, open: false, placed: false, x: undefined, y: undefined };
    cluster.bubble = { id: nodes.length + index, cluster };
    for (const node of members) node.cluster = cluster;
    return cluster;
  });
}

/** "x340 and 41 more" */
function clusterName(cluster, length = 18) {
  if (cluster.alone) return `${cluster.members.length.toLocaleString("en")} without links`;
  const name = shortened(cluster.hub.variable.name, length);
  return cluster.members.length > 1 ? `${name} and ${cluster.members.length - 1} more` : name;
}

/** Under a bubble that shows its size: its best linked variable. */
const bubbleLabel = (cluster) => (cluster.alone ? "without links" : shortened(cluster.hub.variable.name, 16));

const bubbleRadius = (cluster) => 9 + 3 * Math.sqrt(cluster.members.length);

/** Where the variables of a cluster stand within it, once; and how much room that takes. */
function arrangeInside(cluster, links) {
  const { members } = cluster;
  if (cluster.placed) return;
  cluster.placed = true;
  if (cluster.alone) {
    const columns = Math.ceil(Math.sqrt(members.length * 1.8)), rows = Math.ceil(members.length / columns);
    members.forEach((node, index) => Object.assign(node, { insideX: ((index % columns) - (columns - 1) / 2) * 62, insideY: (Math.floor(index / columns) - (rows - 1) / 2) * 44 }));
  } else {
    const bodies = new Map(members.map((node) => [node, { node }]));
    const inside = links.filter(({ source, target }) => bodies.has(source) && bodies.has(target)).map(({ source, target }) => ({ source: bodies.get(source), target: bodies.get(target) }));
    d3.forceSimulation([...bodies.values()]).stop()
      .force("link", d3.forceLink(inside).distance(52))
      .force("charge", d3.forceManyBody().strength(-260))
      .force("collide", d3.forceCollide(24))
      .force("x", d3.forceX(0).strength(0.1))
      .force("y", d3.forceY(0).strength(0.1))
      .tick(160);
    const [centreX, centreY] = [d3.mean([...bodies.values()], (body) => body.x), d3.mean([...bodies.values()], (body) => body.y)];
    for (const { node, x, y } of bodies.values()) Object.assign(node, { insideX: x - centreX, insideY: y - centreY });
  }
  cluster.room = d3.max(members, (node) => Math.hypot(node.insideX, node.insideY)) + 38;
}

/** Where clusters stand: bodies of their size, linked ones close; and with them the variables of those that are open. */
function placeClusters(clusters, links, aspect) {
  const bodies = clusters.filter((cluster) => !cluster.alone);
  const between = new Map();
  for (const cluster of clusters) cluster.outside = 0; // links to other clusters
  for (const { source: { cluster: a }, target: { cluster: b } } of links) {
    if (a === b) continue;
    const key = a.number * clusters.length + b.number;
    if (!between.has(key)) between.set(key, { source: a, target: b, weight: 0 });
    ++between.get(key).weight;
    ++a.outside;
    ++b.outside;
  }
  for (const cluster of clusters) {
    if (cluster.open) arrangeInside(cluster, links);
    cluster.radius = cluster.open ? cluster.room : bubbleRadius(cluster);
  }
  const wide = Math.max(aspect, 0.6);
  d3.forceSimulation(breadthFirst(bodies, neighbours(bodies, [...between.values()]))).stop()
    .force("link", d3.forceLink([...between.values()]).distance(({ source, target }) => source.radius + target.radius + 50).strength(({ source, target, weight }) => (0.7 * weight) / Math.min(source.outside, target.outside)))
    .force("charge", d3.forceManyBody().strength((cluster) => -24 * cluster.radius))
    .force("collide", d3.forceCollide((cluster) => cluster.radius + 26).iterations(3))
    .force("x", d3.forceX(0).strength(0.12 / wide))
    .force("y", d3.forceY(0).strength(0.12 * wide))
    .tick(bodies.some((cluster) => cluster.wasPlaced) ? 150 : 300);
  const apart = clusters.find((cluster) => cluster.alone);
  if (apart) {
    apart.x = d3.mean(d3.extent(bodies, (cluster) => cluster.x));
    apart.y = d3.max(bodies, (cluster) => cluster.y + cluster.radius) + 40 + apart.radius;
  }
  for (const cluster of clusters) {
    cluster.wasPlaced = true;
    for (const node of cluster.members) Object.assign(node, { x: cluster.x + (cluster.open ? node.insideX : 0), y: cluster.y + (cluster.open ? node.insideY : 0) });
  }
}
