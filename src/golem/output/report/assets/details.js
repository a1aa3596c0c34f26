// The card next to the graph: details of the selected variable or edge.
const details = find("details");
const MOST_LISTED = 12;

function showDetails() {
  const chosen = state.chosen;
  const edge = chosen && chosen.edge && shownGraph().byId.get(chosen.edge);
  find("status").textContent = !chosen ? "" : edge ? edgeText(edge) : chosen.node !== undefined ? nodeText(chosen.node) : "";
  document.querySelector(".workspace").classList.toggle("selected", Boolean(chosen)); // the details get the whole column
  if (!chosen) details.replaceChildren(...introduction());
  else if (chosen.node !== undefined) details.replaceChildren(...nodeDetails(chosen.node));
  else if (chosen.pair) details.replaceChildren(...pairDetails(...chosen.pair));
  else details.replaceChildren(...edgeDetails(chosen));
}

function introduction() {
  const graph = shownGraph();
  const ends = graph.edges.filter((edge) => !edge.candidate && isVisible(edge)).sort((a, b) => strength(b) - strength(a));
  return [
    ...(state.group !== null ? groupDetails() : []),
    ...hubsAndGroups(),
    make("h2", {}, "Details"),
    make("p", { class: "hint" }, `Click a variable or an edge, or move with the arrow keys. ${content.kind === "model" ? "Shift-click a second variable to mark what you know about the pair. " : ""}Double-click a variable to see its neighbours. Drag to move the graph. Zoom with Ctrl and the mouse wheel.`),
    ends.length ? make("h3", {}, graph.columns.has("edge_strength") ? "Strongest edges, strength (deviance)" : graph.columns.has("weight") ? `Strongest edges, weight (${graph.columns.has("standardized_weight") ? "standardized" : "original units"})` : "Edges") : null,
    edgeList(ends, (edge) => [names[edge.source], arrowSign(edge), names[edge.target]], (edge) => sizeText(edge, 2)),
  ].filter(Boolean);
}

// From 100 variables on: where to begin.
function hubsAndGroups() {
  if (names.length < 100) return [];
  const graph = shownGraph();
  const counts = names.map((_, node) => graph.into[node].length + graph.from[node].length);
  const hubs = names.map((_, node) => node).sort((a, b) => counts[b] - counts[a] || rank[a] - rank[b]).filter((node) => counts[node] > 1).slice(0, 8);
  const row = (text, value, onclick) => make("li", {}, make("button", { type: "button", class: "link", onclick }, text), make("span", { class: "value" }, value));
  return [
    ...(hubs.length ? [make("h2", {}, "Hubs"), make("p", { class: "hint" }, "Variables with the most edges. Click one to see its neighbours."),
      make("ul", { class: "list", id: "hubs" }, ...hubs.map((node) => row(names[node], plural(counts[node], "edge"), () => change({ centre: node, group: null, steps: 1, chosen: { node } }))))] : []),
    ...(content.groups.length ? [make("h2", { class: "later" }, "Groups"), make("p", { class: "hint" }, "Variables that are connected mostly among themselves, by their hub."),
      make("ul", { class: "list", id: "groups" }, ...content.groups.map((group, k) => row(`around ${names[group[0]]}`, plural(group.length, "variable"), () => change({ group: k, chosen: null }))))] : []),
  ];
}

function groupDetails() {
  const group = content.groups[state.group];
  return [make("p", { class: "prose" }, `The graph shows the ${group.length} variables of the group around `, make("var", {}, names[group[0]]), ". ",
    make("button", { type: "button", onclick: () => change({ group: null }) }, "Leave the group"))];
}

// The size of an edge that does not depend on units, if it is known.
const sizeOf = (edge) => edge.edge_strength ?? edge.standardized_weight ?? edge.weight;
const sizeText = (edge, digits = 3) => (edge.open_sign ? `±${number(Math.abs(sizeOf(edge)), digits)}` : number(sizeOf(edge), digits));

// A list of buttons that select edges.
function edgeList(edges, text, value) {
  const items = edges.slice(0, MOST_LISTED).map((edge) => make("li", {},
    make("button", { type: "button", class: "link", onclick: () => change({ chosen: { edge: edge.id } }) },
      ...text(edge).flatMap((part) => [part, " "])),
    make("span", { class: `value ${signOf(edge)}` }, value(edge))));
  if (edges.length > MOST_LISTED) items.push(make("li", { class: "hint" }, `and ${edges.length - MOST_LISTED} more in the table below`));
  return make("ul", { class: "list" }, ...items);
}

function nodeDetails(node) {
  const graph = shownGraph();
  const order = (edges) => [...edges].sort((a, b) => strength(b) - strength(a));
  const unit = variables !== null ? ", strength (deviance)" : graph.columns.has("standardized_weight") ? ", standardized" : graph.columns.has("weight") ? ", weight (original units)" : "";
  const section = (title, edges, other) => [
    make("h3", {}, `${title} (${edges.length})${edges.length ? unit : ""}`),
    edges.length ? edgeList(order(edges), (edge) => [names[other(edge)]], (edge) => sizeText(edge)) : make("p", { class: "hint" }, "none"),
  ];
  return [
    heading("Variable", names[node]),
    make("div", { class: "buttons" },
      make("button", { type: "button", onclick: () => change({ centre: node, group: null, steps: Math.max(1, state.steps) }) }, "Neighbours"),
      state.steps !== 0 && !content.large ? make("button", { type: "button", onclick: () => change({ steps: 0 }) }, "Whole graph") : null,
      content.kind === "model" ? make("button", { type: "button", id: "pair", "aria-pressed": state.chosen.pairing ? "true" : "false",
        onclick: () => change({ chosen: { node, pairing: !state.chosen.pairing } }) }, "Choose a second variable") : null),
    state.chosen.pairing ? make("p", { class: "hint" }, "Click the second variable of the pair.") : "",
    ...levelsOf(node),
    ...equation(node),
    ...section("Causes", causeEdges(node), (edge) => edge.source),
    ...section("Effects", effectEdges(node), (edge) => edge.target),
    ...(linkEdges(node).length ? section("Links, cause or effect", linkEdges(node), (edge) => (edge.source === node ? edge.target : edge.source)) : []),
    ...totalEffects(node),
  ];
}

const heading = (kind, name) => make("div", { class: "heading" }, make("p", { class: "brand" }, kind), make("h2", {}, name),
  make("button", { type: "button", class: "close", "aria-label": "Clear the selection", onclick: () => change({ chosen: null }) }, "×"));

// The levels of a category; the first one is the reference.
function levelsOf(node) {
  if (!isCategory(node)) return [];
  const [reference, ...others] = variables[node].levels;
  const more = others.length > MOST_LISTED ? `, … ${others.length - MOST_LISTED} more` : "";
  return [
    make("h3", {}, `Category, ${plural(variables[node].levels.length, "level")}`),
    make("p", { class: "hint" }, `${reference} (reference, the most frequent), ${others.slice(0, MOST_LISTED).join(", ")}${more}`),
  ];
}

// The terms of an equation: a number has one, a category one per level but the reference.
function termsOf(edge) {
  const term = (weight, ...name) => make("span", { class: "term" }, `${weight < 0 ? "-" : "+"} ${number(Math.abs(weight))} · `, ...name);
  if (!isCategory(edge.source)) return [term(edge.weight, make("var", {}, names[edge.source]))];
  const rows = coefficients.get(edge.id) ?? [];
  const shown = rows.slice(0, MOST_LISTED).map(([level, , value]) => term(value, "[", make("var", {}, names[edge.source]), ` = ${level}]`));
  return rows.length > MOST_LISTED ? [...shown, `+ … ${rows.length - MOST_LISTED} more levels`] : shown;
}

function equation(node) {
  const parents = shownGraph().into[node];
  const variance = content.noise_variances && content.noise_variances[node];
  if (!content.intercepts || variance === null || variance === undefined) return [];
  const links = linkEdges(node).length;
  if (links) return [make("p", { class: "hint" }, `Its equation depends on the direction of ${plural(links, "link")}.`)];
  const intercept = content.intercepts[node];
  const terms = [...parents].sort((a, b) => strength(b) - strength(a)).flatMap(termsOf);
  return [
    make("h3", {}, "Equation, weights (original units)"),
    make("p", { class: "equation" }, make("var", {}, names[node]), ` = ${number(intercept)} `, ...terms.flatMap((term) => [term, " "]), "+ noise"),
    parents.some((edge) => isCategory(edge.source)) ? make("p", { class: "hint" }, "[variable = level] is 1 at that level and 0 at the others. Reference levels have no term.") : null,
    make("p", { class: "hint" }, `Noise: variance ${number(variance)}, standard deviation ${number(Math.sqrt(variance))}.` +
      (parents.length && content.r2?.[node] != null ? ` R2 ${number(content.r2[node], 2)}: the share of the variance that the causes explain.` : "")),
  ].filter(Boolean);
}

// Variables to which a path leads that has a link and may be causal: nothing runs against it.
function openFrom(node, forwards) {
  const graph = shownGraph();
  const reached = new Map([[node, false]]);
  const queue = [node];
  while (queue.length) {
    const from = queue.shift();
    const arrows = (forwards ? graph.from : graph.into)[from].filter((edge) => !isLink(edge));
    const links = [...graph.from[from], ...graph.into[from]].filter(isLink);
    for (const edge of [...arrows, ...links]) {
      const next = edge.source === from ? edge.target : edge.source;
      const open = reached.get(from) || isLink(edge);
      if (next === node || reached.get(next) || reached.get(next) === open) continue;
      reached.set(next, open);
      queue.push(next);
    }
  }
  return new Set([...reached].filter(([, open]) => open).map(([other]) => other));
}

// Total effects: the change of one variable per unit of another along all paths, in one pass over the causal order.
function effectsOf(node, forwards) {
  const graph = shownGraph();
  const open = openFrom(node, forwards);
  const total = new Map([[node, 1]]);
  const order = forwards ? content.order : [...content.order].reverse();
  for (const next of order.slice(order.indexOf(node) + 1)) {
    const edges = forwards ? graph.into[next] : graph.from[next];
    let sum = 0;
    let reached = false;
    for (const edge of edges) {
      const other = forwards ? edge.source : edge.target;
      // An effect along an edge without a weight, which has a category at one of its ends, is not a number.
      if (total.has(other)) { sum += (edge.weight ?? NaN) * total.get(other); reached = true; }
    }
    if (reached) total.set(next, sum);
  }
  total.delete(node);
  return [...total].filter(([other, effect]) => !Number.isNaN(effect) && !open.has(other)).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
}

function totalEffects(node) {
  const graph = shownGraph();
  if (!graph.columns.has("weight") || graph.edges.some((edge) => !edge.candidate && rank[edge.source] > rank[edge.target])) return [];
  const part = (title, effects) => effects.length === 0 ? [] : [
    make("h3", {}, title),
    make("ul", { class: "list" }, ...effects.slice(0, MOST_LISTED).map(([other, effect]) => make("li", {},
      make("button", { type: "button", class: "link", onclick: () => chooseNode(other) }, names[other]),
      make("span", { class: effect < 0 ? "value negative" : "value positive" }, number(effect)))),
      effects.length > MOST_LISTED ? make("li", { class: "hint" }, `and ${effects.length - MOST_LISTED} more`) : null),
  ];
  const open = openFrom(node, true).size;
  return [...part("Total effects on other variables (original units)", effectsOf(node, true)), ...part("Total effects of other variables (original units)", effectsOf(node, false)),
    open ? make("p", { class: "hint" }, `Its effects on ${plural(open, "other variable")} depend on the direction of links and are left out.`) : null];
}

// What a direction rests on, as a tag unless it is the structure.
const directionTag = (edge) => (directionOf(edge) === "structure" ? null
  : make("span", { class: "tag", title: directionText(directionOf(edge)) }, directionWord(edge)));

// Two variables: the edge between them, or none, and what is known about them.
function pairDetails(first, second) {
  const edge = [edgeId(first, second), edgeId(second, first)].map((id) => shownGraph().byId.get(id)).find((found) => found && !found.candidate);
  return [
    heading("Pair", `${names[first]} and ${names[second]}`),
    edge ? edgeList([edge], () => [names[edge.source], arrowSign(edge), names[edge.target]], () => (sizeOf(edge) == null ? "" : `strength ${sizeText(edge)}`))
      : make("p", { class: "hint" }, "No edge connects them."),
    ...knowledgeButtons(first, second),
  ];
}

// Why a weight lies outside its own bootstrap interval.
function outsideText(edge) {
  if (edge.weight_low == null || (edge.weight >= edge.weight_low && edge.weight <= edge.weight_high)) return null;
  return edge.direction_frequency <= 0.5
    ? "The weight lies outside its interval: most graphs of the bootstrap lack or reverse the edge, and its weight then counts as 0."
    : "The weight lies outside its interval: most graphs of the bootstrap have the edge, but not the same other causes of its effect. The weight depends on these causes.";
}

// The coefficients per level of an edge with a category at one of its ends.
function levelTable(edge) {
  const rows = coefficients.get(edge.id);
  if (!rows || isLink(edge)) return [];
  const [source, target] = [names[edge.source], names[edge.target]];
  const what = isCategory(edge.target) ? `Change in the probability of a level of ${target}` : `Change in ${target} (original units)`;
  const when = isCategory(edge.source) ? `compared with ${source} = ${variables[edge.source].levels[0]}` : `if ${source} rises by one unit`;
  const error = (value) => (value == null ? "" : ` ± ${number(value, 2)}`);
  return [
    make("p", { class: "prose" }, `${what} ${when}, other causes held fixed (± standard error):`),
    make("table", { class: "facts" }, ...rows.slice(0, 2 * MOST_LISTED).map(([from, to, value, deviation]) => make("tr", {},
      make("th", { scope: "row" }, [from === null ? null : `${source} = ${from}`, to === null ? null : `${target} = ${to}`].filter(Boolean).join(", ")),
      make("td", {}, `${value < 0 ? "" : "+"}${number(value)}${error(deviation)}`)))),
    rows.length > 2 * MOST_LISTED ? make("p", { class: "hint" }, `and ${rows.length - 2 * MOST_LISTED} more in coefficients.csv`) : null,
    isCategory(edge.target) ? make("p", { class: "hint" }, `The reference level of ${target}, ${variables[edge.target].levels[0]}, is left out: the changes of all levels sum to 0.`) : null,
  ];
}

function edgeDetails(chosen) {
  const own = shownGraph().byId.get(chosen.edge);
  const reference = state.reference === null ? null : graphs[state.reference];
  const edge = own || (reference && reference.byId.get(chosen.edge));
  if (!edge) return introduction();
  const [source, target] = [names[edge.source], names[edge.target]];
  const interval = (low, high) => (low === undefined || low === null ? null : `${number(low)} to ${number(high)}`);
  const link = isLink(edge);
  const direction = own ? directionText(directionOf(edge)) : null;
  const share = (value, way) => (value === undefined || value === null ? null : `${percent(value)} of the resamples${way}${content.overstated ? " (too high: rows depend on each other)" : ""}`);
  const facts = [
    ["Weight (original units)", edge.weight == null || link ? null : number(edge.weight, 4)],
    ["Standard error (original units)", edge.standard_error == null || link ? null : `${number(edge.standard_error, 2)} ${content.overstated ? "(too small: rows depend on each other)" : "assuming the graph is right and the rows are independent"}`],
    ["Interval of the weight (original units)", link ? null : interval(edge.weight_low, edge.weight_high)],
    ["", link ? null : outsideText(edge)],
    [link ? "Strength (standardized)" : "Weight (standardized)", edge.standardized_weight == null ? null : sizeText(edge) + (link ? ", in one of the graphs that fit equally well; it changes with the direction" : "")],
    ["Sign", edge.open_sign ? "open: it depends on the direction of links" : null],
    ["Strength", edge.edge_strength == null ? null : `${number(edge.edge_strength, 3)} (deviance): how much worse the fit gets without the edge`],
    ["Loss of score without it", edge.drop_loss === undefined || edge.drop_loss === null ? null : `${number(edge.drop_loss, 4)} (deviance, penalty included)`],
    ["Robust against", edge.robustness_value == null ? null : `hidden causes that explain less than ${percent(edge.robustness_value)} of both; a stronger one would do away with it`],
    ["Direction", direction],
    ["Evidence for it", edge.direction_strength == null ? null : `${number(edge.direction_strength, 3)} (deviance)` +
      (edge.direction_error_rate == null ? "" : `, p-value ${edge.direction_error_rate < 0.001 ? "below 0.001" : number(edge.direction_error_rate, 2)} under Gaussian noise`)],
    ["Connected in", share(edge.adjacency_frequency, ", in any direction")],
    ["Directed in", link ? null : share(edge.direction_frequency, ", in this direction"), directionTag(edge)],
    ["Interval of the total effect", interval(edge.effect_low, edge.effect_high)],
    ["Status", edge.candidate ? "below the threshold, or removed to break a cycle" : null],
    [reference ? `Compared with ${reference.name}` : "", reference ? verdictWord(own && !own.candidate ? verdict(edge, reference) : "missing", reference) : null],
  ].filter(([, value]) => value !== null && value !== undefined);
  const sentence = link ? make("p", { class: "prose" }, make("var", {}, source), " and ", make("var", {}, target), " are linked. Which of the two drives the other is open; a hidden common cause of both is possible.")
    : edge.weight == null || edge.open_sign ? null : make("p", { class: "prose" }, "If ", make("var", {}, source), " rises by one unit and the other causes of ", make("var", {}, target), " stay fixed, ", make("var", {}, target), ` changes by ${number(edge.weight)}.`);
  return [
    heading(link ? "Link" : "Arrow", `${source} ${arrowSign(edge)} ${target}`),
    sentence,
    ...(own ? scatterCharts(edge) : []),
    ...(own ? levelTable(edge) : []),
    make("table", { class: "facts" }, ...facts.map(([key, value, tag]) => make("tr", {}, make("th", { scope: "row" }, key), make("td", {}, value, tag ? " " : null, tag)))),
    make("div", { class: "buttons" },
      make("button", { type: "button", onclick: () => chooseNode(edge.source) }, link ? `Go to ${source}` : "Go to cause"),
      make("button", { type: "button", onclick: () => chooseNode(edge.target) }, link ? `Go to ${target}` : "Go to effect")),
    ...knowledgeButtons(edge.source, edge.target),
  ].filter(Boolean);
}
