const STRONGEST = -1;
// The state of the page. change() updates it and redraws every part that depends on it.
const state = {
  shown: 0, // number of the graph that is drawn
  reference: content.truth, // number of the graph it is compared with, or null
  measure: content.measure,
  threshold: content.measure === "weight" ? content.chosen : 0,
  frequency: 0,
  chosen: null, // {node} or {edge: id}
  steps: content.opening, // of the neighbourhood; 0 is the whole graph, STRONGEST the view of the strongest edges
  centre: null,
  isolated: true, // whether variables without a shown edge are drawn
  lines: false, // whether undecided edges are lines instead of arrows, as in an equivalence class
  hidden: new Set(), // what directions rest on, of edges that are not shown
};
const listeners = [];
const whenChanged = (listener) => listeners.push(listener);

function change(patch) {
  const before = { ...state };
  Object.assign(state, patch);
  for (const listener of listeners) listener(before);
}

const shownGraph = () => graphs[state.shown];
const chosenThreshold = () => (state.measure === "weight" ? content.chosen : 0);

function size(edge) {
  const value = edge[state.measure];
  return value === null || value === undefined ? Infinity : Math.abs(value);
}

// The frequency of an edge in the bootstrap; for an undecided edge, whose direction is a coin toss, in any direction.
const frequency = (edge) => (edge.undecided ? edge.adjacency_frequency : edge.direction_frequency) ?? null;

function isVisible(edge) {
  if (state.hidden.has(directionOf(edge))) return false;
  if (edge.candidate) {
    return state.measure === "weight" && state.threshold < content.chosen && size(edge) >= state.threshold;
  }
  const strong = state.threshold <= chosenThreshold() || size(edge) >= state.threshold;
  return strong && (frequency(edge) ?? 1) >= state.frequency;
}

// Words for an edge compared with the truth or with another graph; an open edge is in both graphs, but undecided.
const TRUTH_WORDS = { true: "true", reversed: "reversed", open: "undecided", extra: "extra", missing: "missing" };
const OTHER_WORDS = { true: "same", reversed: "reversed", open: "undecided", extra: "only here", missing: "only there" };
const verdictWord = (kind, reference) => (reference === graphs[content.truth] ? TRUTH_WORDS : OTHER_WORDS)[kind];

// An edge without an arrowhead: undirected, or undecided where such edges are drawn as lines.
const isLine = (edge) => Boolean(edge.undirected || (state.lines && directionOf(edge) === "none"));
const arrowSign = (edge) => (isLine(edge) ? "–" : "→");

// A line agrees with both directions. The arrowhead of an undecided edge is arbitrary, so it is neither right nor wrong.
function verdict(edge, reference) {
  const [same, turned] = [edge.id, edgeId(edge.target, edge.source)].map((id) => reference.byId.get(id)).map((found) => Boolean(found && !found.candidate) && found);
  if (!same && !turned) return "extra";
  if (isLine(edge) || isLine(same || turned)) return "true";
  if (directionOf(edge) === "none") return "open";
  return same ? "true" : "reversed";
}

function missingEdges(graph, reference, present = () => true) {
  return reference.edges.filter((edge) => {
    if (edge.candidate) return false;
    const found = [graph.byId.get(edge.id), graph.byId.get(edgeId(edge.target, edge.source))];
    return !found.some((other) => other && present(other));
  });
}

// Count true, reversed, undecided, extra and missing edges, among the visible ones or among all.
function tally(graph, reference, visible = (edge) => !edge.candidate) {
  const counts = { true: 0, reversed: 0, open: 0, extra: 0, missing: missingEdges(graph, reference, visible).length };
  for (const edge of graph.edges) if (visible(edge)) counts[verdict(edge, reference)] += 1;
  return counts;
}

// The largest size of an edge by the chosen measure, computed once.
const largestSizes = new Map();
function largestSize() {
  const key = state.shown + state.measure;
  if (!largestSizes.has(key)) {
    largestSizes.set(key, Math.max(0, ...shownGraph().edges.map(size).filter(Number.isFinite)));
  }
  return largestSizes.get(key);
}
