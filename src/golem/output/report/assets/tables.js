// Tables: edges, methods, distances, agreement. Long tables start with their first rows.
const FIRST_ROWS = 100;

// A click anywhere in a row calls `onrow`. A table that is filled again keeps its order.
const orders = new Map();
function fillTable(holder, columns, rows, { onrow = null, rowClass = null } = {}) {
  let { sorted, all } = orders.get(holder) ?? { sorted: { column: null, up: false }, all: false };
  const draw = () => {
    orders.set(holder, { sorted, all });
    const list = [...rows];
    if (sorted.column !== null) {
      const { value } = columns[sorted.column];
      list.sort((a, b) => {
        const [x, y] = [value(a), value(b)];
        if (x == null || y == null) return (x == null) - (y == null); // rows without a value come last in both orders
        const order = typeof x === "string" ? x.localeCompare(y) : x - y;
        return sorted.up ? order : -order;
      });
    }
    const head = make("tr", {}, ...columns.map((column, k) => make("th", { scope: "col", class: column.text ? "" : "numeric", title: column.hint,
      "aria-sort": sorted.column === k ? (sorted.up ? "ascending" : "descending") : null },
    make("button", { type: "button", class: "link", onclick: () => { sorted = { column: k, up: sorted.column === k ? !sorted.up : Boolean(column.text) }; draw(); } }, column.title))));
    const body = list.slice(0, all ? undefined : FIRST_ROWS).map((row) => make("tr", { class: [rowClass && rowClass(row), onrow && "clickable"].filter(Boolean).join(" "), onclick: onrow ? () => onrow(row) : null },
      ...columns.map((column, k) => {
        const shown = column.show ? column.show(row) : column.value(row);
        const text = shown === null || shown === undefined ? "" : shown instanceof Node ? shown : String(shown);
        return make("td", { class: column.text ? "" : "numeric" },
          k === 0 && onrow ? make("button", { type: "button", class: "link" }, text) : text);
      })));
    holder.replaceChildren(make("table", { class: "data" }, make("thead", {}, head), make("tbody", {}, ...body)));
    if (!all && rows.length > FIRST_ROWS) {
      holder.append(make("button", { type: "button", class: "more", onclick: () => { all = true; draw(); } }, `Show all ${rows.length}`));
    }
  };
  draw();
}

// The tables that follow the sliders and filters.
function showTables() {
  if (content.kind !== "model") return;
  const shown = graphs[0].edges.filter((edge) => !edge.candidate && isVisible(edge));
  const total = graphs[0].edges.filter((edge) => !edge.candidate).length;
  if (find("edge-table")) {
    find("edges-title").textContent = shown.length < total ? `Edges (${shown.length} of ${total})` : `Edges (${total})`;
    edgeTable(shown);
  }
  if (find("compared")) comparedTable();
  variableTable();
}

// What an edge with a category does not have is left empty.
const orEmpty = (value, digits) => (value == null && variables !== null ? "" : number(value, digits));

function edgeTable(edges) {
  const graph = graphs[0];
  const has = (column) => graph.columns.has(column);
  const directed = graph.edges.some((edge) => !edge.candidate && !isLink(edge)); // links have no weights
  const loss = has("drop_loss") && { title: "loss of score (deviance)", hint: "how much worse the score, which includes the penalty, gets without the edge", value: (edge) => edge.drop_loss, show: (edge) => number(edge.drop_loss) };
  const columns = [
    { title: "edge", text: true, value: (edge) => `${names[edge.source]} ${arrowSign(edge)} ${names[edge.target]}` },
    has("edge_strength") && { title: "strength (deviance)", hint: "how much worse the fit gets without the edge", value: (edge) => edge.edge_strength, show: (edge) => number(edge.edge_strength) },
    has("edge_strength") && loss,
    (has("weight") || variables === null) && directed && { title: "weight (original units)", hint: "in the units of the columns", value: (edge) => (isLink(edge) ? null : edge.weight), show: (edge) => (isLink(edge) ? "" : orEmpty(edge.weight)) },
    has("standard_error") && directed && { title: "std. error (original units)", hint: "of the weight, assuming the graph is right and the rows are independent", value: (edge) => (isLink(edge) ? null : edge.standard_error), show: (edge) => (isLink(edge) ? "" : orEmpty(edge.standard_error, 2)) },
    has("standardized_weight") && { title: "weight (standardized)", hint: "in standard deviations of both columns", value: (edge) => (edge.standardized_weight == null ? null : Math.abs(edge.standardized_weight)), show: (edge) => (edge.open_sign ? sizeText(edge) : orEmpty(edge.standardized_weight)) },
    has("weight_low") && directed && { title: "interval (original units)", hint: "of the weight over the resamples; it is 0 in those that lack or reverse the edge", value: (edge) => (isLink(edge) ? null : edge.weight_low), show: (edge) => (edge.weight_low == null || isLink(edge) ? "" : `${number(edge.weight_low)} to ${number(edge.weight_high)}`) },
    !has("edge_strength") && loss,
    has("adjacency_frequency") && { title: "connected", hint: "share of the resamples that connect the two variables", value: (edge) => edge.adjacency_frequency, show: (edge) => percent(edge.adjacency_frequency) },
    has("direction_frequency") && directed && { title: "directed", hint: "share of the resamples with this direction; links count half", value: (edge) => (isLink(edge) ? null : edge.direction_frequency), show: (edge) => (isLink(edge) ? "" : percent(edge.direction_frequency)) },
    graph.edges.some((edge) => directionOf(edge) !== "structure") && { title: "direction", text: true, value: directionWord, show: (edge) => directionTag(edge) ?? directionWord(edge) },
    has("direction_strength") && { title: "evidence for it", hint: "how much worse the score (deviance) is with the other direction", value: (edge) => edge.direction_strength, show: (edge) => (edge.direction_strength == null ? "" : number(edge.direction_strength)) },
    content.compared_with > 0 && { title: `compared with ${graphs[1].name}`, text: true, value: (edge) => verdictWord(verdict(edge, graphs[1]), graphs[1]) },
  ].filter(Boolean);
  fillTable(find("edge-table"), columns, edges, {
    onrow: (edge) => {
      change({ chosen: { edge: edge.id }, ...(content.large ? { centre: edge.target } : {}) });
      find("stage").scrollIntoView({ block: "nearest" });
    },
  });
}

// What the columns of the table contain, from the summary before the fit.
function summaryColumns() {
  const table = content.table;
  if (!table) return [];
  const has = (key) => table.some((column) => column && column[key]);
  return [
    has("missing") && { title: "missing", hint: "missing values", value: (node) => table[node]?.missing ?? null },
    has("values") && { title: "distinct", hint: "number of distinct values", value: (node) => table[node]?.values ?? null },
    has("content") && { title: "range or levels", hint: "smallest and largest number, or the most frequent levels with their rows", text: true, value: (node) => table[node]?.content ?? null },
  ].filter(Boolean);
}

// What depends on the direction of links is not known.
const ifKnown = (values, node) => (linkEdges(node).length ? null : values[node]);

function variableTable() {
  const has = (values) => Array.isArray(values) && values.some((value) => value != null);
  const columns = [
    { title: "variable", text: true, value: (node) => names[node] },
    (variables !== null || content.table) && { title: "type", text: true, value: (node) => (isCategory(node) ? "category" : "number") },
    ...summaryColumns(),
    { title: "causes", value: (node) => causeEdges(node).length },
    { title: "effects", value: (node) => effectEdges(node).length },
    { title: "links", hint: "edges whose direction is open", value: (node) => linkEdges(node).length },
    has(content.r2) && { title: "R2", hint: "share of the variance that the causes explain; empty with links", value: (node) => ifKnown(content.r2, node), show: (node) => (linkEdges(node).length ? "" : orEmpty(content.r2[node], 2)) },
    has(content.noise_variances) && { title: "noise variance (original units)", hint: "empty with links", value: (node) => ifKnown(content.noise_variances, node), show: (node) => (linkEdges(node).length ? "" : orEmpty(content.noise_variances[node])) },
    content.tiers.length > 0 && { title: "tier", value: (node) => tierOf.get(node) ?? null },
  ].filter(Boolean);
  fillTable(find("variable-table"), columns, content.order, { onrow: (node) => {
    chooseNode(node, { focus: false });
    find("stage").scrollIntoView({ block: "nearest" });
  } });
}

// Counts of shown edges compared with each reference, in the words for the truth if it is the only one.
function comparedTable() {
  const rows = graphs.slice(1).map((graph) => ({ name: graph.name, ...tally(graphs[0], graph, isVisible) }));
  fillTable(find("compared"), [{ title: "compared with", text: true, value: (row) => row.name },
    ...VERDICTS.filter((kind) => kind !== "open" || rows.some((row) => row.open)).map((kind) => ({ title: verdictWord(kind, graphs.at(-1)), value: (row) => row[kind] }))], rows);
}

const VERDICTS = ["true", "reversed", "open", "extra", "missing"];

const SCORES = {
  shd: ["SHD", "edges to add, remove or reverse to get the true graph"],
  shd_c: ["SHD-C", "the same between the equivalence classes"],
  sid: ["SID", "pairs of variables whose effect would be computed wrongly with this graph"],
  tpr: ["TPR", "share of the true edges that were found"],
  bic: ["BIC", "lower is better"],
  score: ["score", "of the table with categories, as in the settings below; lower is better"],
  score_ev: ["GOLEM-EV score", "score of the paper with equal noise variances; lower is better"],
  score_nv: ["GOLEM-NV score", "score of the paper with free noise variances; lower is better"],
  seconds: ["seconds"],
};

function methodsTable() {
  const truth = graphs[content.truth];
  const counts = new Map(graphs.map((graph) => [graph.name, truth ? tally(graph, truth) : null]));
  const given = (key) => content.methods.some((row) => row[key] !== null);
  const columns = [
    { title: "method", text: true, value: (row) => row.method },
    { title: "edges", value: (row) => row.edges },
    ...(truth ? VERDICTS.map((kind) => ({ title: TRUTH_WORDS[kind], value: (row) => counts.get(row.method)?.[kind] ?? null })) : []),
    ...Object.entries(SCORES).filter(([key]) => given(key)).map(([key, [title, hint]]) =>
      ({ title, hint, value: (row) => row[key], show: (row) => (row[key] === null ? "" : number(row[key])) })),
    { title: "status", text: true, value: (row) => (row.message ? `${row.status}: ${row.message}` : row.status) },
  ];
  fillTable(find("methods"), columns, content.methods, {
    onrow: (row) => { const k = graphs.findIndex((graph) => graph.name === row.method); if (k >= 0) showGraph(k); },
    rowClass: (row) => (row.status === "done" ? null : "failed"),
  });
}

function distancesTable() {
  const { names: labels, values } = content.distances;
  const largest = Math.max(1, ...values.flat());
  const head = make("tr", {}, make("td", {}), ...labels.map((label) => make("th", { scope: "col", class: "slanted" }, make("span", {}, label))));
  const body = labels.map((label, a) => make("tr", {}, make("th", { scope: "row" }, label), ...values[a].map((value, b) => {
    const field = make("td", { class: "heat", title: `${label} and ${labels[b]}: ${plural(value, "edge")} differ` }, String(value));
    field.style.setProperty("--heat", (value / largest).toFixed(3));
    return field;
  })));
  find("distances").replaceChildren(make("table", { class: "distances" }, make("thead", {}, head), make("tbody", {}, ...body)));
}

function agreementTable() {
  const methods = graphs.map((graph) => graph.name);
  const symbol = { "->": "→", "<-": "←", "--": "–", "": "" };
  fillTable(find("agreement"), [
    { title: "pair", text: true, value: (row) => `${row.source}, ${row.target}` },
    { title: "methods", value: (row) => row.methods },
    ...methods.map((method) => ({ title: method, text: true, value: (row) => symbol[row[method]] ?? "" })),
  ], content.agreement);
}
