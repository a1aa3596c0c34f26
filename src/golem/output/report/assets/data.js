// The data of the page, and how numbers are shown. Every text from outside goes through textContent.
const content = JSON.parse(document.getElementById("content").textContent);
const names = content.names;
const rank = [];
content.order.forEach((node, place) => { rank[node] = place; });

const edgeId = (source, target) => source + ">" + target;

// Every graph as objects {source, target, ...known columns}, with an index by id.
const graphs = content.graphs.map((graph) => {
  const edges = graph.rows.map((row) => {
    const edge = { candidate: false };
    graph.columns.forEach((column, k) => { edge[column] = row[k]; });
    edge.id = edgeId(edge.source, edge.target);
    return edge;
  });
  return { name: graph.name, columns: new Set(graph.columns), edges };
});
if (content.kind === "model") {
  const open = new Set(content.open_signs.map(([source, target]) => edgeId(source, target)));
  for (const edge of graphs[0].edges) edge.open_sign = open.has(edge.id);
  for (const [source, target, weight] of content.candidates) {
    graphs[0].edges.push({ source, target, weight, id: edgeId(source, target), candidate: true });
  }
}
for (const graph of graphs) {
  graph.byId = new Map(graph.edges.map((edge) => [edge.id, edge]));
  graph.into = names.map(() => []);
  graph.from = names.map(() => []);
  for (const edge of graph.edges) {
    if (edge.candidate) continue;
    graph.into[edge.target].push(edge);
    graph.from[edge.source].push(edge);
  }
}

const MEASURES = {
  standardized_weight: { label: "weight (standardized)", power: 2 },
  weight: { label: "weight (original units)", power: 2 },
  edge_strength: { label: "strength (deviance)", power: 4 },
  drop_loss: { label: "loss of score (deviance)", power: 4 },
};

// What a direction can rest on, in the words of the terminal, and what some of these mean.
const DIRECTIONS = content.directions;
const MEANINGS = {
  structure: ": all graphs that fit equally well have it",
  variances: " alone, so it depends on the units of the columns",
  follows: ", together with this graph",
  unchecked: ": all graphs that fit equally well have one direction, but its stability was not checked",
  none: ": nothing in the data tells cause from effect here",
};
const directionOf = (edge) => (edge.direction_from in DIRECTIONS ? edge.direction_from : edge.undirected ? "none" : "structure");
const directionWord = (edge) => DIRECTIONS[directionOf(edge)];
const directionText = (source) => DIRECTIONS[source] + (MEANINGS[source] ?? "");

// Tables with categories: their variables, and the coefficients of edges with a category at one of their ends.
const variables = content.variables ?? null;
const isCategory = (node) => variables !== null && variables[node].kind === "category";
const coefficients = new Map();
for (const [source, target, ...rest] of content.coefficients ?? []) {
  const id = edgeId(source, target);
  if (!coefficients.has(id)) coefficients.set(id, []);
  coefficients.get(id).push(rest);
}
// An edge with a category has no sign, and that of others can depend on open directions.
const signOf = (edge) => (edge.open_sign ? "neutral" : edge.weight < 0 ? "negative" : edge.weight == null && variables !== null ? "neutral" : "positive");

// Make an element: attributes first, then children; strings become text.
function make(tag, attributes = {}, ...children) {
  const svgTags = ["svg", "g", "path", "rect", "text", "title", "line", "circle", "polyline", "style"];
  const node = svgTags.includes(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

const find = (id) => document.getElementById(id);

function number(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return String(value);
  const size = Math.abs(value);
  return size >= 1e9 || size < 1e-3 ? value.toExponential(digits - 1)
    : size >= 10 ** digits ? String(Math.round(value)) : value.toPrecision(digits);
}

// Round halves to even, as Python's format does, so that the terminal and the page show the same share.
function percent(value) {
  if (value === null || value === undefined) return "–";
  const whole = Math.floor(100 * value);
  const half = 100 * value - whole === 0.5;
  return (half ? whole + (whole % 2) : Math.round(100 * value)) + "%";
}
const plural = (count, one, many = one + "s") => count + " " + (count === 1 ? one : many);
