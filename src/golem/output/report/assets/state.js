const STRONGEST = -1;
// The state of the page. change() updates it and redraws every part that depends on it.
const state = {
  shown: 0, // number of the graph that is drawn
  reference: content.truth, // number of the graph it is compared with, or null
  measure: content.measure,
  threshold: content.measure === "weight" ? content.chosen : 0,
  frequency: 0,
  chosen: null, // {node}, {edge: id} or {pair}
  marked: null, // edges of the finding that is open
  group: null, // number of the group that is drawn
  steps: content.opening, // of the neighbourhood; 0 is the whole graph, STRONGEST the view of the strongest edges
  centre: null,
  isolated: true, // whether variables without a shown edge are drawn
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

// The frequency of an edge in the bootstrap; of a link, in any direction.
const frequency = (edge) => (isLink(edge) ? edge.adjacency_frequency : edge.direction_frequency) ?? null;

function isVisible(edge) {
  if (state.hidden.has(directionOf(edge))) return false;
  if (edge.candidate) {
    return state.measure === "weight" && state.threshold < content.chosen && size(edge) >= state.threshold;
  }
  const strong = state.threshold <= chosenThreshold() || size(edge) >= state.threshold;
  return strong && (frequency(edge) ?? 1) >= state.frequency;
}

// Words for an edge compared with the truth or with another graph; an open edge is an arrow there and a link here.
const TRUTH_WORDS = { true: "true", reversed: "reversed", open: "direction open", extra: "extra", missing: "missing" };
const OTHER_WORDS = { true: "same", reversed: "reversed", open: "direction open", extra: "only here", missing: "only there" };
const verdictWord = (kind, reference) => (reference === graphs[content.truth] ? TRUTH_WORDS : OTHER_WORDS)[kind];

// An edge whose direction is open is a line without an arrowhead, and tells no effect.
const isLink = (edge) => Boolean(edge.undirected);
const arrowSign = (edge) => (isLink(edge) ? "–" : "→");

// A link is neither right nor reversed where the other graph has an arrow.
function verdict(edge, reference) {
  const [same, turned] = [edge.id, edgeId(edge.target, edge.source)].map((id) => reference.byId.get(id)).map((found) => Boolean(found && !found.candidate) && found);
  if (!same && !turned) return "extra";
  if (isLink(same || turned)) return "true";
  if (isLink(edge)) return "open";
  return same ? "true" : "reversed";
}

function missingEdges(graph, reference, present = () => true) {
  return reference.edges.filter((edge) => {
    if (edge.candidate) return false;
    const found = [graph.byId.get(edge.id), graph.byId.get(edgeId(edge.target, edge.source))];
    return !found.some((other) => other && present(other));
  });
}

// Count true, reversed, open, extra and missing edges, among the visible ones or among all.
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
