// The card next to the graph: details of the selected variable or edge.
const details = find("details");
const MOST_LISTED = 12;

function showDetails() {
  const chosen = state.chosen;
  const edge = chosen && chosen.edge && shownGraph().byId.get(chosen.edge);
  find("status").textContent = !chosen ? "" : edge ? edgeText(edge) : chosen.node !== undefined ? nodeText(chosen.node) : "";
  if (!chosen) details.replaceChildren(...introduction());
  else if (chosen.node !== undefined) details.replaceChildren(...nodeDetails(chosen.node));
  else details.replaceChildren(...edgeDetails(chosen));
}

function introduction() {
  const graph = shownGraph();
  const ends = graph.edges.filter((edge) => !edge.candidate).sort((a, b) => strength(b) - strength(a));
  return [
    make("h2", {}, "Details"),
    make("p", { class: "hint" }, "Click a variable or an edge, or move with the arrow keys. Double-click a variable to see its neighbours. Drag to move the graph. Zoom with Ctrl and the mouse wheel."),
    ends.length ? make("h3", {}, graph.columns.has("weight") ? `Strongest edges (${graph.columns.has("standardized_weight") ? "standardized " : ""}weight)` : "Edges") : null,
    edgeList(ends, (edge) => [names[edge.source], edge.undirected ? "–" : "→", names[edge.target]], (edge) => number(edge.standardized_weight ?? edge.weight, 2)),
  ].filter(Boolean);
}

// A list of buttons that select edges.
function edgeList(edges, text, value) {
  const items = edges.slice(0, MOST_LISTED).map((edge) => make("li", {},
    make("button", { type: "button", class: "link", onclick: () => change({ chosen: { edge: edge.id } }) },
      ...text(edge).flatMap((part) => [part, " "])),
    make("span", { class: edge.weight < 0 ? "value negative" : "value positive" }, value(edge))));
  if (edges.length > MOST_LISTED) items.push(make("li", { class: "hint" }, `and ${edges.length - MOST_LISTED} more in the table below`));
  return make("ul", { class: "list" }, ...items);
}

function nodeDetails(node) {
  const graph = shownGraph();
  const order = (edges) => [...edges].sort((a, b) => strength(b) - strength(a));
  const section = (title, edges, end) => [
    make("h3", {}, `${title} (${edges.length})`),
    edges.length ? edgeList(order(edges), (edge) => [names[edge[end]]], (edge) => number(edge.weight)) : make("p", { class: "hint" }, "none"),
  ];
  return [
    heading("Variable", names[node]),
    make("div", { class: "buttons" },
      make("button", { type: "button", onclick: () => change({ centre: node, steps: Math.max(1, state.steps) }) }, "Neighbours"),
      state.steps > 0 && !content.large ? make("button", { type: "button", onclick: () => change({ steps: 0 }) }, "Whole graph") : null),
    ...equation(node),
    ...section("Causes", graph.into[node], "source"),
    ...section("Effects", graph.from[node], "target"),
    ...totalEffects(node),
  ];
}

const heading = (kind, name) => make("div", { class: "heading" }, make("p", { class: "brand" }, kind), make("h2", {}, name),
  make("button", { type: "button", class: "close", "aria-label": "Clear the selection", onclick: () => change({ chosen: null }) }, "×"));

function equation(node) {
  const parents = shownGraph().into[node];
  const variance = content.noise_variances && content.noise_variances[node];
  if (!content.intercepts || variance === null || variance === undefined) return [];
  const intercept = content.intercepts[node];
  const terms = [...parents].sort((a, b) => strength(b) - strength(a)).map((edge) =>
    make("span", { class: "term" }, `${edge.weight < 0 ? "−" : "+"} ${number(Math.abs(edge.weight))} · `, make("var", {}, names[edge.source])));
  return [
    make("h3", {}, "Equation"),
    make("p", { class: "equation" }, make("var", {}, names[node]), ` = ${number(intercept)} `, ...terms.flatMap((term) => [term, " "]), "+ noise"),
    make("p", { class: "hint" }, `Noise: variance ${number(variance)}, standard deviation ${number(Math.sqrt(variance))}.`),
  ];
}

// Total effects: the change of one variable per unit of another along all paths, in one pass over the causal order.
function effectsOf(node, forwards) {
  const graph = shownGraph();
  const total = new Map([[node, 1]]);
  const order = forwards ? content.order : [...content.order].reverse();
  for (const next of order.slice(order.indexOf(node) + 1)) {
    const edges = forwards ? graph.into[next] : graph.from[next];
    let sum = 0;
    let reached = false;
    for (const edge of edges) {
      const other = forwards ? edge.source : edge.target;
      if (total.has(other)) { sum += edge.weight * total.get(other); reached = true; }
    }
    if (reached) total.set(next, sum);
  }
  total.delete(node);
  return [...total].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
}

function totalEffects(node) {
  const graph = shownGraph();
  if (!graph.columns.has("weight") || graph.edges.some((edge) => !edge.candidate && (edge.undirected || rank[edge.source] > rank[edge.target]))) return [];
  const part = (title, effects) => effects.length === 0 ? [] : [
    make("h3", {}, title),
    make("ul", { class: "list" }, ...effects.slice(0, MOST_LISTED).map(([other, effect]) => make("li", {},
      make("button", { type: "button", class: "link", onclick: () => chooseNode(other) }, names[other]),
      make("span", { class: effect < 0 ? "value negative" : "value positive" }, number(effect)))),
      effects.length > MOST_LISTED ? make("li", { class: "hint" }, `and ${effects.length - MOST_LISTED} more`) : null),
  ];
  return [...part("Total effects on other variables", effectsOf(node, true)), ...part("Total effects of other variables", effectsOf(node, false))];
}

// What decides a direction, and a tag for a direction that is less certain than its frequency in the bootstrap.
const directionWord = (edge) => (edge.undecided ? "undecided" : edge.by_variance ? "by variance" : "decided");
const directionTag = (edge) => (edge.undecided || edge.by_variance
  ? make("span", { class: `tag ${edge.undecided ? "undecided" : "by-variance"}`,
    title: edge.undecided ? "the reversed edge fits equally well" : "only the noise variances decide this direction, so it depends on the units of the columns" }, directionWord(edge))
  : null);

function edgeDetails(chosen) {
  const own = shownGraph().byId.get(chosen.edge);
  const reference = state.reference === null ? null : graphs[state.reference];
  const edge = own || (reference && reference.byId.get(chosen.edge));
  if (!edge) return introduction();
  const [source, target] = [names[edge.source], names[edge.target]];
  const interval = (low, high) => (low === undefined || low === null ? null : `${number(low)} to ${number(high)}`);
  const direction = edge.undirected ? "undecided in this equivalence class" : edge.undecided ? "undecided: the reversed edge fits equally well"
    : edge.by_variance ? "decided only by the noise variances, so it depends on the units of the columns" : own ? "decided" : null;
  const share = (value, way) => (value === undefined || value === null ? null : `${percent(value)} of the replicates${way}`);
  const facts = [
    ["Weight", edge.weight === undefined ? null : number(edge.weight, 4)],
    ["Interval of the weight", interval(edge.weight_low, edge.weight_high)],
    ["Standardized weight", edge.standardized_weight === undefined ? null : number(edge.standardized_weight, 3)],
    ["Direction", direction, directionTag(edge)],
    ["Connected in", share(edge.adjacency_frequency, ", in any direction")],
    ["Directed in", share(edge.direction_frequency, ", in this direction"), directionTag(edge)],
    ["Interval of the total effect", interval(edge.effect_low, edge.effect_high)],
    ["Loss of score without it", edge.drop_loss === undefined || edge.drop_loss === null ? null : `${number(edge.drop_loss, 4)} (deviance)`],
    ["Status", edge.candidate ? "below the threshold, or removed to break a cycle" : null],
    [reference ? `Compared with ${reference.name}` : "", reference ? verdictWord(own && !own.candidate ? verdict(edge, reference) : "missing", reference) : null],
  ].filter(([, value]) => value !== null && value !== undefined);
  const sentence = edge.weight === undefined || edge.weight === null || edge.undirected ? null
    : make("p", { class: "prose" }, "If ", make("var", {}, source), " rises by one unit and the other causes of ", make("var", {}, target), " stay fixed, ", make("var", {}, target), ` changes by ${number(edge.weight)}.`);
  return [
    heading("Edge", `${source} ${edge.undirected ? "–" : "→"} ${target}`),
    sentence,
    make("table", { class: "facts" }, ...facts.map(([key, value, tag]) => make("tr", {}, make("th", { scope: "row" }, key), make("td", {}, value, tag ? " " : null, tag)))),
    make("div", { class: "buttons" },
      make("button", { type: "button", onclick: () => chooseNode(edge.source) }, "Cause"),
      make("button", { type: "button", onclick: () => chooseNode(edge.target) }, "Effect")),
  ].filter(Boolean);
}
