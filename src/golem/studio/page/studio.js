// The page: header, graph and events; `tiers.js` is the left side, `panels.js` the right one.
import { change, get, make, on, parts, post, receive, upload } from "/page/requests.js";
import * as panels from "/page/panels.js";
import * as tiers from "/page/tiers.js";

const byId = (id) => document.getElementById(id);
let graph = null;

function drawGraph() {
  const data = parts.graph, least = Number(byId("least").value) / 100;
  byId("counts").textContent = data ? `${data.counts}${data.checked ? "" : ", directions not checked yet"}` : "";
  byId("trust").hidden = !data?.replicates;
  byId("list").hidden = !data || data.layouts.length > 0;
  byId("graph").hidden = !byId("list").hidden;
  byId("bootstrap").hidden = byId("legend").hidden = !data;
  if (!data) { byId("graph").replaceChildren(welcome()); graph = null; return; }
  if (!data.layouts.length) {
    byId("list").replaceChildren(make("p", {}, "The graph is too large to draw."), make("ul", {}, ...data.edges.slice(0, 500).map((edge) => make("li", {}, `${edge.source} ${edge.directed ? "→" : "—"} ${edge.target}`))));
    return;
  }
  if (!graph) {
    byId("graph").replaceChildren();
    graph = golemGraph(byId("graph"), {
      onNode: (id) => { graph.select({ node: id }); tiers.choose(id); panels.select({ node: id }); },
      onEdge: (id) => { const edge = panels.edgeById(id); graph.select({ edge: id }); panels.select({ pair: [edge.source, edge.target] }); },
      onPair: (a, b) => { graph.select({ pair: [a, b] }); panels.select({ pair: [a, b] }); },
      onEmpty: () => { graph.select(null); panels.select(null); },
      onDrop: (id, band) => dropped(id, band),
    });
  }
  const { added, turned } = panels.differences(data);
  const fresh = new Set([...added, ...turned.map(([, edge]) => edge)].map((edge) => edge.id));
  const edges = data.edges.map((edge) => {
    const found = edge.values.adjacency_frequency;
    const hidden = found !== undefined && found < least;
    return { ...edge, hidden, opacity: found === undefined ? 1 : Math.max(0.25, found), className: fresh.has(edge.id) ? "fresh" : "",
      text: `${edge.source} ${edge.directed ? "causes" : "is linked with"} ${edge.target}` };
  });
  graph.set({ ...data, edges });
  document.documentElement.dataset.drawn = `${data.version}${data.checked ? " checked" : ""}`;
}

// A variable that is dragged onto the band of another tier belongs to it.
function dropped(id, band) {
  if (band === null || band === undefined) return;
  const label = parts.graph.layouts[0].bands[band]?.[0], tier = parts.state.state.tiers.indexOf(label);
  if (tier >= 0 && tier !== (parts.state.state.places[id] ?? parts.state.state.home)) change("/api/edit", { edit: { kind: "place", columns: [id], tier } });
}

function welcome() {
  if (parts.state?.names.length) return make("p", { className: "welcome" }, "The graph is being learned.");
  return make("p", { className: "welcome" }, "Drop a table here (CSV, Parquet, Excel and others), open a file, or choose an example above.");
}

function drawState(state) {
  byId("title").textContent = state.title;
  byId("refits").textContent = state.refits ? `${state.refits} graph${state.refits === 1 ? "" : "s"} learned` : "";
  byId("undo").disabled = !state.can_undo;
  byId("redo").disabled = !state.can_redo;
  byId("save").disabled = !state.names.length;
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
  for (const name of ["state", "graph", "columns", "findings", "progress", "problem", "saved"]) {
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

async function begin() {
  panels.begin();
  tiers.begin();
  on("graph", drawGraph);
  on("state", drawState);
  on("progress", drawProgress);
  on("problem", drawProblem);
  byId("undo").addEventListener("click", () => change("/api/undo"));
  byId("redo").addEventListener("click", () => change("/api/redo"));
  byId("cancel").addEventListener("click", () => post("/api/cancel"));
  byId("bootstrap").addEventListener("click", () => post("/api/bootstrap", { replicates: 100 }).catch(() => {}));
  byId("save").addEventListener("click", () => post("/api/save").catch(() => {}));
  byId("least").addEventListener("input", () => { byId("share").value = byId("least").value; drawGraph(); });
  byId("file").addEventListener("change", (event) => { if (event.target.files[0]) upload(event.target.files[0]); event.target.value = ""; });
  byId("example").addEventListener("change", (event) => { if (event.target.value) post("/api/example", { name: event.target.value }).catch(() => {}); event.target.value = ""; });
  addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || event.target.matches("input")) return;
    event.preventDefault();
    change(event.shiftKey ? "/api/redo" : "/api/undo");
  });
  dropFiles();
  const { examples } = await get("/api/state");
  byId("example").append(...examples.map((name) => make("option", { value: name }, name)));
  listen();
}
begin();
