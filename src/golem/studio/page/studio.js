// The page: header, graph and events; `tiers.js` is the left side, `panels.js` the right one.
import { change, get, make, on, parts, post, receive, upload } from "/page/requests.js";
import * as panels from "/page/panels.js";
import * as tiers from "/page/tiers.js";

const byId = (id) => document.getElementById(id);
let graph = null;

function drawGraph() {
  const data = parts.graph, least = Number(byId("least").value) / 100;
  byId("counts").textContent = data ? `${data.counts}${data.checked ? "" : ", directions not checked yet"}` : "";
  const rare = data?.edges.filter((edge) => edge.values.adjacency_frequency < least).length;
  if (rare) byId("counts").textContent = `${data.edges.length - rare} of ${data.edges.length} edges`;
  byId("trust").hidden = !data?.replicates;
  byId("bootstrap").hidden = byId("legend").hidden = !data;
  byId("around").hidden = !data?.hubs.length;
  if (!data) { byId("graph").replaceChildren(welcome()); graph = null; return; }
  if (data.hubs.length) drawNeighbourhood(data, least);
  else show(data, data, least);
}

// A large graph is shown by the neighbourhood of a variable; it opens with the one that has most edges.
let center = null, turn = 0;
async function drawNeighbourhood(data, least) {
  if (!data.names.includes(center)) center = data.hubs[0][0];
  const steps = byId("steps").value, mine = ++turn;
  byId("hubs").replaceChildren("Many edges: ", ...data.hubs.slice(0, 8).map(([name, count]) =>
    make("button", { className: "small", "aria-pressed": String(name === center), onclick: () => goTo(name) }, `${name} ${count}`)));
  if (byId("variables").childElementCount !== data.names.length) byId("variables").replaceChildren(...data.names.map((value) => make("option", { value })));
  const part = await get("/api/neighbourhood", { name: center, steps }).catch(() => null);
  if (!part || mine !== turn) return;
  const apart = part.cut ? ", cut to the strongest edges" : "";
  byId("counts").textContent = `${part.edges.length} of ${data.edges.length} edges around ${center}${apart} (${data.counts} in all)`;
  show(data, part, least);
}
function goTo(name) { center = name; drawGraph(); choose(name); }
function choose(name) { graph?.select({ node: name }); tiers.choose(variable(name)); panels.select({ node: name }); }
// A column that was chosen on the left is also chosen in the graph, if it is there.
function chosen(name) {
  if (!parts.graph?.names.includes(name)) { graph?.select(null); panels.select(null); }
  else if (parts.graph.hubs.length && name !== center) goTo(name);
  else { graph?.select({ node: name }); panels.select({ node: name }); }
}
const variable = (id) => (parts.state.names.includes(id) ? id : id.replace(/@\d+$/, ""));

function show(data, part, least) {
  if (!graph) {
    byId("graph").replaceChildren();
    graph = golemGraph(byId("graph"), {
      onNode: (id) => { if (data.hubs.length && id !== center) { goTo(id); return; } choose(id); },
      onEdge: (id) => { const edge = panels.edgeById(id); graph.select({ edge: id }); panels.select({ pair: [edge.source, edge.target] }); },
      onPair: (a, b) => { graph.select({ pair: [a, b] }); panels.select({ pair: [a, b] }); },
      onEmpty: () => { graph.select(null); panels.select(null); },
      onDrop: (id, band) => dropped(id, band),
    });
  }
  const { added, turned } = panels.differences(data);
  const fresh = new Set([...added, ...turned.map(([, edge]) => edge)].map((edge) => edge.id));
  const edges = part.edges.map((edge) => {
    const found = edge.values.adjacency_frequency;
    const hidden = found !== undefined && found < least;
    return { ...edge, hidden, opacity: found === undefined ? 1 : Math.max(0.25, found), className: fresh.has(edge.id) ? "fresh" : "",
      text: `${edge.source} ${edge.directed ? "causes" : "is linked with"} ${edge.target}` };
  });
  graph.set({ nodes: part.nodes, layouts: part.layouts, edges });
  document.documentElement.dataset.drawn = `${data.version}${data.checked ? " checked" : ""}`;
}

// A variable that is dragged onto the band of another tier belongs to it.
function dropped(id, band) {
  if (band === null || band === undefined) return;
  const label = parts.graph.layouts[0]?.bands[band]?.[0], tier = parts.state.state.tiers.indexOf(label);
  if (tier >= 0 && tier !== tiers.placeOf(id)) change("/api/edit", { edit: { kind: "place", columns: [id], tier } });
}

function welcome() {
  if (parts.state?.names.length) return make("p", { className: "welcome" }, parts.problem ? "There is no graph of this table yet." : "The graph is being learned.");
  const example = (name, text) => make("button", { onclick: () => post("/api/example", { name }).catch(() => {}) }, text);
  return make("div", { className: "welcome" }, make("h2", {}, "What drives what in your table?"),
    make("p", {}, "Drop a table here, or ", make("button", { className: "main", onclick: () => byId("file").click() }, "Open a table")),
    make("p", { className: "hint" }, "CSV, Parquet, Excel and others; a row per case, a column per variable. It stays on the computer that runs golem studio."),
    make("p", {}, "Or begin with an example: ", example("diabetes", "Diabetes, 442 patients"), " ", example("sachs", "Proteins, 853 cells")),
    make("ol", {}, ...["golem learns which variables are linked, and draws an arrow where the direction is known.",
      "Say what you know: drag variables into an order of time, click an edge. The graph is learned again at once.",
      "See what changed and what each rule costs, ask what if, and save the graph with the script that gives it."].map((text) => make("li", {}, text))));
}

function drawState(state) {
  byId("title").textContent = state.title;
  byId("refits").textContent = state.refits ? `${state.refits} graph${state.refits === 1 ? "" : "s"} learned` : "";
  byId("undo").disabled = !state.can_undo;
  byId("redo").disabled = !state.can_redo;
  byId("save").disabled = !state.names.length;
  byId("left").hidden = byId("right").hidden = !state.names.length;
  if (!parts.graph) drawGraph();
}
function drawProgress(progress) {
  byId("progress").textContent = progress ? `${progress.text}${progress.share === null ? " …" : ` ${Math.round(100 * progress.share)} %`}` : "";
  byId("cancel").hidden = !progress;
}
function drawProblem(problem) {
  byId("problem").hidden = !problem;
  byId("problem").replaceChildren(...(problem ? [make("span", {}, problem), make("button", { className: "small", onclick: () => drawProblem(null) }, "Dismiss")] : []));
}

function listen() {
  const source = new EventSource("/api/events");
  for (const name of ["state", "earlier", "graph", "columns", "findings", "progress", "problem", "saved"]) {
    source.addEventListener(name, (event) => receive(name, JSON.parse(event.data)));
  }
  source.addEventListener("error", () => {
    drawProgress({ text: "Waiting for golem studio", share: null });
    if (source.readyState === EventSource.CLOSED) setTimeout(listen, 1000);
  });
  source.addEventListener("open", () => drawProgress(null));
}

function dropFiles() {
  const veil = byId("drop"), isFile = (event) => [...event.dataTransfer.types].includes("Files");
  addEventListener("dragover", (event) => { if (isFile(event)) { event.preventDefault(); veil.hidden = false; } });
  addEventListener("dragleave", (event) => { if (!event.relatedTarget) veil.hidden = true; });
  addEventListener("drop", (event) => {
    veil.hidden = true;
    if (!isFile(event)) return;
    event.preventDefault();
    if (event.dataTransfer.files[0]) upload(event.dataTransfer.files[0]);
  });
}

function followTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)"), put = () => { document.documentElement.dataset.theme = dark.matches ? "dark" : "light"; };
  dark.addEventListener("change", put);
  put();
}

async function begin() {
  followTheme();
  panels.begin();
  tiers.begin();
  on("graph", drawGraph);
  on("chosen", chosen);
  document.addEventListener("since", () => { receive("earlier", parts.earlier); drawGraph(); });
  on("state", drawState);
  on("progress", drawProgress);
  on("problem", drawProblem);
  byId("undo").addEventListener("click", () => change("/api/undo"));
  byId("redo").addEventListener("click", () => change("/api/redo"));
  byId("cancel").addEventListener("click", () => post("/api/cancel"));
  byId("bootstrap").addEventListener("click", () => post("/api/bootstrap", { replicates: 100 }).catch(() => {}));
  byId("save").addEventListener("click", () => post("/api/save").then((saved) => { receive("saved", saved); byId("saved").scrollIntoView(); }).catch(() => {}));
  byId("center").addEventListener("input", () => { if (parts.graph?.names.includes(byId("center").value)) goTo(byId("center").value); });
  byId("steps").addEventListener("change", drawGraph);
  byId("least").addEventListener("input", () => { byId("share").value = byId("least").value; drawGraph(); });
  byId("file").addEventListener("change", (event) => { if (event.target.files[0]) upload(event.target.files[0]); event.target.value = ""; });
  byId("example").addEventListener("change", (event) => { if (event.target.value) post("/api/example", { name: event.target.value }).catch(() => {}); event.target.value = ""; });
  addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || event.target.matches("input:not([type=range], [type=checkbox])")) return;
    event.preventDefault();
    change(event.shiftKey ? "/api/redo" : "/api/undo");
  });
  dropFiles();
  const { examples } = await get("/api/state");
  byId("example").append(...examples.map((name) => make("option", { value: name }, name)));
  listen();
}
begin();
