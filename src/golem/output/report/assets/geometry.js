// Places and curves. The places of the whole graph are in the data; neighbourhoods are laid out here.
const NODE_HEIGHT = 30;
const LAYER = 92;
const MOST_NEIGHBOURS = 120;

function wholeView() {
  const places = new Map(content.places.map(([x, y], node) => [node, { x, y }]));
  return { places, bends, widths: content.widths, width: content.size[0], height: content.size[1], left: 0, bands: content.bands };
}

// The strongest edges of a graph with too many, with a layout of their own.
function strongView() {
  const { nodes, edges, places, bends: points, bands, widths, size } = content.strong;
  const only = new Set(edges.map(([source, target]) => edgeId(source, target)));
  const widthOf = [];
  nodes.forEach((node, k) => { widthOf[node] = widths[k]; });
  return {
    places: new Map(nodes.map((node, k) => [node, { x: places[k][0], y: places[k][1] }])),
    bends: new Map(points.map(([source, target, bend]) => [edgeId(source, target), bend])),
    widths: widthOf, width: size[0], height: size[1], left: 0, bands, only,
  };
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
  return { ...placeRows(rows, widths, spread), bends: new Map(), widths, left };
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
  const widest = content.large ? 8 : 12;
  const span = Math.max(...rows.map((row) => Math.min(row.length, widest))) * 76;
  const layerHeight = Math.min(220, Math.max(LAYER, span / 1.7 / rows.length));
  let y = LAYER / 2;
  for (const row of rows) {
    const lines = Math.ceil(row.length / widest);
    for (let line = 0; line < lines; line += 1) {
      const part = row.filter((_, k) => k % lines === line);
      for (const [node, x] of spread(part)) places.set(node, { x: x + (line % 2) * 18, y: y + line * 46 });
    }
    y += layerHeight + (lines - 1) * 46;
  }
  const low = Math.min(...[...places].map(([node, { x }]) => x - widths[node] / 2 - 12));
  const high = Math.max(...[...places].map(([node, { x }]) => x + widths[node] / 2 + 12));
  for (const place of places.values()) place.x -= low;
  return { places, bands: [], width: high - low, height: y - layerHeight + LAYER / 2 };
}

// Where each edge leaves and enters its nodes: next to each other, sorted by their other ends.
function ports(edges, view) {
  const ends = new Map();
  const add = (node, side, edge, towards) => {
    const key = node + side;
    if (!ends.has(key)) ends.set(key, []);
    ends.get(key).push({ edge, towards });
  };
  for (const edge of edges) {
    const from = view.places.get(edge.source);
    const to = view.places.get(edge.target);
    const points = view.bends.get(edge.id) || [];
    const down = to.y > from.y + 1;
    const level = Math.abs(to.y - from.y) <= 1;
    edge.way = { down, level, points: down ? points : [] };
    add(edge.source, down || level ? "v" : "^", { edge, end: "start" }, (edge.way.points[0] || [to.x])[0]);
    add(edge.target, down && !level ? "^" : "v", { edge, end: "stop" }, (edge.way.points.at(-1) || [from.x])[0]);
  }
  for (const [key, list] of ends) {
    const node = parseInt(key, 10);
    const place = view.places.get(node);
    const room = view.widths[node] - 18;
    const gap = Math.min(14, room / Math.max(1, list.length - 1));
    list.sort((a, b) => a.towards - b.towards);
    list.forEach(({ edge: { edge, end } }, k) => {
      const offset = (k - (list.length - 1) / 2) * gap;
      const y = place.y + (key.endsWith("v") ? 1 : -1) * (NODE_HEIGHT / 2);
      edge.way[end] = [place.x + offset, y];
    });
  }
}

// A smooth curve through the bends, with an arrowhead at its end unless it is a link.
function curve(edge, thickness) {
  const { start, stop, points, down, level } = edge.way;
  const head = isLink(edge) ? 0 : 6 + 1.3 * thickness;
  const sign = down ? 1 : -1; // which way the arrow points at its end
  const tip = [stop[0], stop[1] - sign * 1.5];
  const end = [tip[0], tip[1] - sign * head * 0.8];
  let path = `M${at(start)}`;
  if (level) {
    const dip = 26 + 0.05 * Math.abs(stop[0] - start[0]);
    path += `C${at([start[0], start[1] + dip])} ${at([end[0], end[1] + dip])} ${at(end)}`;
  } else {
    let from = start;
    const through = [...points, end];
    for (const to of through) {
      const middle = (from[1] + to[1]) / 2;
      path += `C${at([from[0], middle])} ${at([to[0], middle])} ${at(to)}`;
      from = to;
    }
  }
  const half = head * 0.46;
  const back = tip[1] - sign * head;
  const arrow = head ? `M${at(tip)}L${at([tip[0] - half, back])}L${at([tip[0] + half, back])}Z` : "";
  return { path, arrow };
}

const at = ([x, y]) => x.toFixed(1) + " " + y.toFixed(1);
