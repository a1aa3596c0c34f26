// What the user has chosen. Whoever changes it calls change(); every part of the page then shows it.
const state = {
  shown: 0, // number of the graph that is drawn
  reference: content.truth, // number of the graph it is compared with, or null
  measure: content.measure,
  threshold: content.measure === "weight" ? content.chosen : 0,
  frequency: 0,
  chosen: null, // {node} or {edge: id}
  steps: content.large ? 1 : 0, // of the neighbourhood; 0 is the whole graph
  centre: null,
  isolated: true,
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

// The share of the resamples that have an edge. Where the data cannot decide the direction each resample tosses a coin
// for it, so that the share that joins the two counts.
const frequency = (edge) => (edge.undecided ? edge.adjacency_frequency : edge.direction_frequency) ?? null;

function isVisible(edge) {
  if (edge.candidate) {
    return state.measure === "weight" && state.threshold < content.chosen && size(edge) >= state.threshold;
  }
  const strong = state.threshold <= chosenThreshold() || size(edge) >= state.threshold;
  return strong && (frequency(edge) ?? 1) >= state.frequency;
}

// true, reversed, extra, missing: what an edge is compared with the truth. Another graph is not right, only the same or not.
const OTHER_WORDS = { true: "same", reversed: "reversed", extra: "only here", missing: "only there" };
const verdictWord = (kind, reference) => (reference === graphs[content.truth] ? kind : OTHER_WORDS[kind]);

// An edge whose direction is open agrees with both.
function verdict(edge, reference) {
  const same = reference.byId.get(edge.id);
  const turned = reference.byId.get(edgeId(edge.target, edge.source));
  if ((same && !same.candidate) || (turned && !turned.candidate && (edge.undirected || edge.undecided || turned.undirected))) return "true";
  return turned && !turned.candidate ? "reversed" : "extra";
}

function missingEdges(graph, reference, present = () => true) {
  return reference.edges.filter((edge) => {
    if (edge.candidate) return false;
    const found = [graph.byId.get(edge.id), graph.byId.get(edgeId(edge.target, edge.source))];
    return !found.some((other) => other && present(other));
  });
}

// Counts of true, reversed, extra and missing edges, of what the sliders leave or of all.
function tally(graph, reference, visible = (edge) => !edge.candidate) {
  const counts = { true: 0, reversed: 0, extra: 0, missing: missingEdges(graph, reference, visible).length };
  for (const edge of graph.edges) if (visible(edge)) counts[verdict(edge, reference)] += 1;
  return counts;
}

// The largest size of an edge by the chosen measure; it stays, so it is computed once.
const largestSizes = new Map();
function largestSize() {
  const key = state.shown + state.measure;
  if (!largestSizes.has(key)) {
    largestSizes.set(key, Math.max(0, ...shownGraph().edges.map(size).filter(Number.isFinite)));
  }
  return largestSizes.get(key);
}
