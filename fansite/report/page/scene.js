// ---- What of the results is shown ----------------------------------------------------------------------------------
// Items are variables and the bubbles of closed clusters, entries the lines between them: what filters, the chosen
// neighbourhood and clusters leave of the model.

const mostToLayer = 80; // variables: layers of more are wider than any screen
const mostToShowSingly = 150; // variables: of more, clusters are shown first
const mostUnlinked = 60; // variables without links that are drawn: a field of dots tells nothing

class Scene {
  constructor(model) {
    this.model = model;
    this.nodes = model.variables.map((variable) => ({ id: variable.index, variable, near: [] }));
    this.rankEvidence();
    this.links = this.linksOfLayout();
    this.clusters = makeClusters(this.nodes, this.links);
    const unlinked = this.nodes.filter((node) => !node.near.length).length;
    this.unlinkedHidden = unlinked > mostUnlinked ? unlinked : 0;
    this.mode = model.edges.length || model.hidden.length ? "causal" : "moral";
    this.kinds = [this.canLayer(this.nodes) && "layered", "free", this.clusters.length > 2 && "clusters"].filter(Boolean);
    this.kind = this.nodes.length > mostToShowSingly && this.kinds.includes("clusters") ? "clusters" : this.kinds[0];
    /** strongest: the share of links shown; decided: only decided directions; steps: only so far from the selected variable. */
    this.filter = { strongest: 1, decided: false, steps: 0 };
    this.selected = null;
    this.scope = null; // the variables of a neighbourhood, if one is shown
  }

  linksOfLayout() {
    const links = new Map();
    const ends = [...this.model.pairs.map((link) => [link.a, link.b, link]), ...this.model.edges.map((link) => [link.from, link.to, link])];
    for (const [a, b, { strength }] of ends) {
      const key = pairKey(a, b);
      if (links.has(key)) continue;
      const source = this.nodes[a.index], target = this.nodes[b.index];
      links.set(key, { source, target, strength });
      source.near.push(target);
      target.near.push(source);
    }
    return [...links.values()];
  }

  canLayer(nodes) {
    const inside = new Set(nodes.map((node) => node.variable));
    return nodes.length <= mostToLayer && this.model.edges.some((edge) => edge.directed && inside.has(edge.from) && inside.has(edge.to));
  }

  /** Four widths by rank of evidence: gains span orders of magnitude, so ranks tell more than nats. `rank` is the share of
      links with more evidence. */
  rankEvidence() {
    for (const links of [this.model.pairs, this.model.edges]) {
      const values = links.map((link) => link.value ?? 0).sort(d3.ascending);
      for (const link of links) {
        link.strength = link.value === null ? 1 : Math.min(3, Math.floor((4 * d3.bisectLeft(values, link.value)) / values.length));
        link.rank = link.value === null ? 0 : 1 - d3.bisectRight(values, link.value) / values.length;
      }
    }
  }

  grouped() {
    return this.kind === "clusters" && !this.scope;
  }

  /** Links of the chosen graph that the reader has not filtered away. */
  passing() {
    const { strongest, decided } = this.filter;
    if (this.mode === "moral") return this.model.pairs.filter((link) => link.rank < strongest);
    const edges = this.model.edges.filter((link) => link.rank < strongest && (link.directed || !decided));
    return decided ? edges : [...edges, ...this.model.hidden];
  }

  /** Variables within so many links of the selected one; null if all are to be seen. */
  scopeOf(links) {
    if (!this.filter.steps || !this.selected) return null;
    const near = new Map();
    for (const link of links) {
      const a = link.from || link.a, b = link.to || link.b;
      for (const [from, to] of [[a, b], [b, a]]) {
        if (!near.has(from)) near.set(from, []);
        near.get(from).push(to);
      }
    }
    const inside = new Set([this.selected]);
    for (let step = 0; step < this.filter.steps; ++step) {
      for (const variable of [...inside]) for (const other of near.get(variable) || []) inside.add(other);
    }
    return inside;
  }

  /** The item that stands for a variable: itself, its closed cluster, or none. */
  itemOf(variable) {
    const node = this.nodes[variable.index];
    if (this.scope) return this.scope.has(variable) ? node : null;
    return this.grouped() && !node.cluster.open ? node.cluster.bubble : node;
  }

  /** After the selection, a filter or a cluster has changed: `items`, and `entries`, which are what is drawn of links. All
      links between two items of which one is a bubble are one entry. */
  collect() {
    this.shown = this.passing();
    this.items = this.grouped()
      ? this.clusters.flatMap((cluster) => (cluster.open ? cluster.members : [Object.assign(cluster.bubble, { x: cluster.x, y: cluster.y, radius: cluster.radius })]))
      : this.nodes.filter((node) => (this.scope ? this.scope.has(node.variable) : !this.unlinkedHidden || node.near.length || node.variable === this.selected));
    if (this.isLinked && this.items.some((item) => item.x === undefined)) placeUnlinked(this.items, this.isLinked);
    for (const item of this.items) item.degree = 0;
    const bundles = new Map();
    this.entries = [];
    for (const link of this.shown) {
      const a = this.itemOf(link.from || link.a), b = this.itemOf(link.to || link.b);
      if (!a || !b || a === b) continue;
      ++a.degree;
      ++b.degree;
      const key = a.variable && b.variable ? null : Math.min(a.id, b.id) * 2 * this.nodes.length + Math.max(a.id, b.id);
      const bundle = key === null ? null : bundles.get(key);
      if (bundle) {
        bundle.links.push(link);
        Object.assign(bundle, { directed: false, hidden: false, style: "solid" });
        continue;
      }
      const directed = this.mode === "causal" && link.directed;
      const style = this.mode !== "causal" || directed ? "solid" : link.hidden ? "dotted" : "dashed";
      const entry = { links: [link], a, b, directed, style, hidden: Boolean(link.hidden), strength: link.strength, bundle: key !== null };
      this.entries.push(entry);
      if (key !== null) bundles.set(key, entry);
    }
    const counts = [...bundles.values()].map((bundle) => bundle.links.length).sort(d3.ascending);
    for (const bundle of bundles.values()) bundle.strength = Math.min(3, Math.floor((4 * d3.bisectLeft(counts, bundle.links.length)) / counts.length));
    // Names of bubbles come first, the largest first, then those of variables with most links.
    const weight = (item) => (item.variable ? item.degree : 1e6 + item.cluster.members.length);
    this.byDegree = [...this.items].sort((a, b) => weight(b) - weight(a));
  }
}
