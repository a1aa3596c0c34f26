// What the graph component draws: the whole graph, its strongest edges, a group, or a neighbourhood. The layouts of the
// first two are in the data; the others are laid out here.
const LAYER = 92;
const MOST_NEIGHBOURS = 120;

function wholeView() {
  return { nodes: names.map((_, node) => node), widths: content.widths, layouts: content.layouts };
}

// The strongest edges of a graph with too many, with a layout of their own.
function strongView() {
  const { nodes, edges, widths, layouts } = content.strong;
  const widthOf = [];
  nodes.forEach((node, k) => { widthOf[node] = widths[k]; });
  return { nodes, widths: widthOf, layouts, only: new Set(edges.map(([source, target]) => edgeId(source, target))) };
}

// Nodes within some steps of the centre, along the shown graph and the reference; the strongest edges first.
function neighbourhood(centre, steps) {
  const near = new Set([centre]);
  let border = [centre];
  let left = 0;
  const sides = state.reference === null ? [shownGraph()] : [shownGraph(), graphs[state.reference]];
  for (let step = 0; step < steps; step += 1) {
    const edges = border.flatMap((node) => sides.flatMap((graph) => [...graph.into[node], ...graph.from[node]]));
    edges.sort((a, b) => strength(b) - strength(a));
    border = [];
    for (const edge of edges) {
      for (const node of [edge.source, edge.target]) {
        if (near.has(node)) continue;
        if (near.size >= MOST_NEIGHBOURS) { left += 1; continue; }
        near.add(node);
        border.push(node);
      }
    }
  }
  return { near, left };
}

function neighbourhoodView(centre, steps) {
  const { near, left } = neighbourhood(centre, steps);
  return layersView([...near], left);
}

const tierOf = new Map(content.tiers.flatMap((tier, k) => tier.map((node) => [node, k + 1])));

// Variables in layers.
function layersView(variables, left) {
  const near = new Set(variables);
  const edges = shownGraph().edges.filter((edge) => !edge.candidate && near.has(edge.source) && near.has(edge.target));
  const linked = new Map(variables.map((node) => [node, []]));
  const widths = [];
  for (const edge of edges) {
    linked.get(edge.source).push(edge.target);
    linked.get(edge.target).push(edge.source);
  }
  for (const node of variables) {
    const ends = [edges.filter((edge) => edge.source === node).length, edges.filter((edge) => edge.target === node).length];
    widths[node] = Math.max(content.widths[node], Math.min(164, 8 * Math.max(...ends) + 14));
  }
  const rows = layerRows(variables, edges);
  const spread = (row) => {
    const x = new Map();
    let at = 0;
    for (const node of row) { x.set(node, at + widths[node] / 2); at += widths[node] + 22; }
    return row.map((node) => [node, x.get(node) - (at - 22) / 2]);
  };
  untangle(rows, linked, spread);
  const places = placeRows(rows, widths, spread);
  const layout = { orientation: "down", places: variables.map((node) => places.get(node)), bends: [], bands: [] };
  return { nodes: variables, widths, layouts: [layout], left };
}

// Longest paths make the layers; a source is placed right above its first effect.
function layerRows(variables, edges) {
  const nodes = [...variables].sort((a, b) => rank[a] - rank[b]);
  const layer = new Map(nodes.map((node) => [node, 0]));
  const forward = edges.filter((edge) => rank[edge.source] < rank[edge.target]);
  forward.sort((a, b) => rank[a.target] - rank[b.target]);
  for (const edge of forward) layer.set(edge.target, Math.max(layer.get(edge.target), layer.get(edge.source) + 1));
  for (const node of [...nodes].reverse()) {
    const below = forward.filter((edge) => edge.source === node).map((edge) => layer.get(edge.target));
    if (below.length) layer.set(node, Math.min(...below) - 1);
  }
  const rows = [];
  for (const node of nodes) (rows[layer.get(node)] ??= []).push(node);
  return rows.filter(Boolean);
}

// Sort the rows by the mean places of the neighbours, up and down, so that few edges cross.
function untangle(rows, linked, spread) {
  const x = new Map(rows.flatMap(spread));
  for (let sweep = 0; sweep < 12; sweep += 1) {
    for (const row of sweep % 2 ? [...rows].reverse() : rows) {
      const wish = new Map(row.map((node) => {
        const others = linked.get(node).map((other) => x.get(other));
        return [node, others.length ? others.reduce((a, b) => a + b, 0) / others.length : x.get(node)];
      }));
      row.sort((a, b) => wish.get(a) - wish.get(b));
      for (const [node, place] of spread(row)) x.set(node, place);
    }
  }
}

// Places of the rows. Long rows are broken into staggered lines, so that the names stay legible.
function placeRows(rows, widths, spread) {
  const places = new Map();
  const widest = Math.max(4, Math.min(content.large ? 8 : 12, Math.floor(find("stage").clientWidth / 76)));
  const span = Math.max(...rows.map((row) => Math.min(row.length, widest))) * 76;
  const layerHeight = Math.min(220, Math.max(LAYER, span / 1.7 / rows.length));
  let y = LAYER / 2;
  for (const row of rows) {
    const lines = Math.ceil(row.length / widest);
    for (let line = 0; line < lines; line += 1) {
      const part = row.filter((_, k) => k % lines === line);
      for (const [node, x] of spread(part)) places.set(node, [x + (line % 2) * 18, y + line * 46]);
    }
    y += layerHeight + (lines - 1) * 46;
  }
  return places;
}


// ---- the drawing ----
const canvas = golemGraph(find("canvas"), {
  onNode: (node) => chooseNode(node, { focus: true }),
  onEdge: (id) => change({ chosen: { edge: id, missing: canvas.edgeOf(id).classList.contains("missing") } }),
  onPair: content.kind === "model" ? (first, second) => change({ chosen: { pair: [first, second] } }) : undefined,
  onEmpty: () => change({ chosen: null }),
  onOpen: (node) => change({ centre: node, group: null, steps: Math.max(1, state.steps), chosen: { node } }),
  onFit: () => showOverlay(),
});
canvas.svg.id = "graph";
let view = null; // what is drawn

function currentView() {
  if (state.group !== null) return layersView(content.groups[state.group], 0);
  if (state.steps > 0 && state.centre !== null) return neighbourhoodView(state.centre, state.steps);
  if (state.steps === STRONGEST) return strongView();
  return content.large ? null : wholeView();
}

function drawGraph() {
  view = currentView();
  if (view) view.has = new Set(view.nodes);
  find("canvas").hidden = !view;
  showOverlay();
  if (view) paintGraph();
}

// Whether the view has room for an edge.
const inView = (edge) => Boolean(view) && view.has.has(edge.source) && view.has.has(edge.target) && (!view.only || edge.missing || view.only.has(edge.id));

// Hand the state to the component: it moves what changed.
function paintGraph() {
  if (!view) return;
  const graph = shownGraph();
  const reference = state.reference === null ? null : graphs[state.reference];
  const missing = reference ? missingEdges(graph, reference).map((edge) => ({ ...edge, missing: true })).filter(inView) : [];
  const replaced = new Set(missing.map((edge) => edge.id)); // candidates
  const edges = [...graph.edges.filter((edge) => inView(edge) && !replaced.has(edge.id)), ...missing];
  // Correct edges lie on top of the others.
  const layers = ["missing", "extra", "open", "reversed", "true"];
  const depth = (edge) => (!reference || edge.missing ? 0 : layers.indexOf(verdict(edge, reference)));
  edges.sort((a, b) => depth(a) - depth(b));
  const [largest, linked] = [strongest(), new Set()];
  const shown = edges.map((edge) => {
    const visible = edge.missing || isVisible(edge);
    if (visible) { linked.add(edge.source); linked.add(edge.target); }
    return {
      id: edge.id, source: edge.source, target: edge.target, directed: !isLink(edge), text: edgeText(edge), hidden: !visible, width: thickness(edge, largest),
      kind: edge.missing ? "missing" : reference ? verdict(edge, reference) : signOf(edge), className: edge.candidate ? "candidate" : null,
      opacity: frequency(edge) === null ? null : 0.2 + 0.8 * frequency(edge),
    };
  });
  const banded = view.layouts.some((layout) => layout.bands.length);
  const nodes = view.nodes.map((node) => ({
    id: node, label: content.labels[node], title: names[node], text: nodeText(node), width: view.widths[node], square: isCategory(node),
    hidden: !state.isolated && !linked.has(node),
    className: [banded && !tierOf.has(node) && "no-tier", state.group === null && state.steps > 0 && node === state.centre && "centre"].filter(Boolean).join(" "),
  }));
  canvas.set({ nodes, edges: shown, layouts: view.layouts });
  showSelection();
}

function showSelection() {
  canvas.pairing = Boolean(state.chosen?.pairing);
  canvas.select(state.chosen === null ? null : state.chosen.node !== undefined ? { node: state.chosen.node } : state.chosen.pair ? { pair: state.chosen.pair } : { edge: state.chosen.edge });
  if (state.marked !== null && state.chosen === null) canvas.highlight({ edges: state.marked });
}

// A sentence in the drawing about what it leaves out.
function showOverlay() {
  const total = plural(shownGraph().edges.filter((edge) => !edge.candidate).length, "edge");
  const strong = view && view.only;
  const text = !view ? "Search for a variable, or click one in the matrix, to see its neighbours."
    : strong ? `Only the ${strong.size} strongest of ${total} are shown.`
      : view.left ? `Only the ${view.nodes.length} variables with the strongest edges are shown; ${view.left} more are left out.`
        : state.steps > 0 && state.chosen === null ? `Around ${names[state.centre]}. Search for another variable, or click one.`
          : canvas.cropped ? "Drag to see the rest of the graph." : "";
  find("overlay").hidden = !text;
  find("overlay").replaceChildren(text, ...(strong ? [" ", make("button", { type: "button", onclick: () => change({ steps: 0 }) }, "Whole graph")] : []));
}

const edgeText = (edge) => `${names[edge.source]} ${arrowSign(edge)} ${names[edge.target]}` +
  (edge.weight == null || isLink(edge) ? "" : `, weight (original units) ${number(edge.weight)}`) +
  (edge.edge_strength == null ? "" : `, strength ${number(edge.edge_strength)}`);
const causeEdges = (node) => shownGraph().into[node].filter((edge) => isVisible(edge) && !isLink(edge));
const effectEdges = (node) => shownGraph().from[node].filter((edge) => isVisible(edge) && !isLink(edge));
const linkEdges = (node) => [...shownGraph().into[node], ...shownGraph().from[node]].filter((edge) => isVisible(edge) && isLink(edge));
const nodeText = (node) => `${names[node]}: ${plural(causeEdges(node).length, "cause")}, ${plural(effectEdges(node).length, "effect")}, ${plural(linkEdges(node).length, "link")}`;

// The deviance grows with the square of a correlation.
const strength = (edge) => (edge.edge_strength == null ? Math.abs(edge.standardized_weight ?? edge.weight ?? 0) : Math.sqrt(Math.max(0, edge.edge_strength)));
function strongest() {
  const graph = shownGraph();
  graph.strongest ??= Math.max(1e-300, ...graph.edges.filter((edge) => !edge.candidate).map(strength));
  return graph.strongest;
}
function thickness(edge, largest) {
  if (edge.missing) return 1.6;
  return edge.candidate ? 1 : 1.1 + 3.5 * Math.min(1, strength(edge) / largest);
}

function chooseNode(node, { focus = true, bring = false } = {}) {
  const patch = { chosen: { node } };
  // In a large graph the neighbourhood follows the selection.
  const outside = !canvas.nodeOf(node);
  if (content.large && state.group === null || outside) Object.assign(patch, { centre: node, group: null, steps: Math.max(1, state.steps) });
  change(patch);
  if (bring) canvas.reveal(node);
  if (focus) canvas.focus(node);
}
