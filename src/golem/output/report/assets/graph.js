// The drawing: one SVG, redrawn when the view changes, repainted when a slider or the selection changes.
const svg = find("graph");
const scene = make("g", { id: "scene" });
const bandLayer = make("g", { class: "bands" });
const edgeLayer = make("g", { class: "edges" });
const nodeLayer = make("g", { class: "nodes" });
svg.append(scene);
scene.append(bandLayer, edgeLayer, nodeLayer);

let view = null; // places and bends of what is drawn
let drawn = []; // {edge, element, line, head, hit}
let candidatesShown = 0;
const nodeElements = new Map();
const camera = { x: 0, y: 0, zoom: 1 };

function currentView() {
  if (state.steps > 0 && state.centre !== null) return neighbourhoodView(state.centre, state.steps);
  if (state.steps === STRONGEST) return strongView();
  return content.large ? null : wholeView();
}

function drawGraph({ keepCamera = false } = {}) {
  view = currentView();
  for (const layer of [bandLayer, edgeLayer, nodeLayer]) layer.replaceChildren();
  nodeElements.clear();
  drawn = [];
  showOverlay();
  if (!view) return;
  bandLayer.append(...view.bands.flatMap(bandElements));
  const graph = shownGraph();
  const edges = graph.edges.filter(inView);
  if (state.reference !== null) {
    const missing = missingEdges(graph, graphs[state.reference]);
    edges.push(...missing.map((edge) => ({ ...edge, missing: true })).filter(inView));
  }
  // Correct edges lie on top of the others.
  const layers = ["missing", "extra", "open", "reversed", "true"];
  const depth = (edge) => (state.reference === null ? 0 : edge.missing ? 0 : layers.indexOf(verdict(edge, graphs[state.reference])));
  edges.sort((a, b) => depth(a) - depth(b));
  drawn = edges.map((edge) => edgeElement(edge));
  edgeLayer.append(...drawn.map((item) => item.element));
  for (const node of [...view.places.keys()].sort((a, b) => rank[a] - rank[b])) {
    const element = nodeElement(node);
    nodeElements.set(node, element);
    nodeLayer.append(element);
  }
  route();
  if (!keepCamera) fit();
  paintGraph();
}

// A sentence in the drawing about what it leaves out.
function showOverlay() {
  const total = plural(shownGraph().edges.filter((edge) => !edge.candidate).length, "edge");
  const strong = view && view.only;
  const text = !view ? "Search for a variable, or click one in the matrix, to see its neighbours."
    : strong ? `Only the ${strong.size} strongest of ${total} are shown.`
      : view.left ? `Only the ${view.places.size} variables with the strongest edges are shown; ${view.left} more are left out.` : "";
  find("overlay").hidden = !text;
  find("overlay").replaceChildren(text, ...(strong ? [" ", make("button", { type: "button", onclick: () => change({ steps: 0 }) }, "Whole graph")] : []));
}

// Whether the view has room for an edge.
const inView = (edge) => Boolean(view) && view.places.has(edge.source) && view.places.has(edge.target) && (!view.only || edge.missing || view.only.has(edge.id));

// A tier of the knowledge: a band behind its variables, up to the next tier.
const bandElements = ([tier, top], k) => [
  make("rect", { class: k % 2 ? "band odd" : "band", x: -70, y: top, width: view.width + 140, height: (view.bands[k + 1]?.[1] ?? view.height) - top }),
  make("text", { class: "band-label", x: -8, y: top + 18, "text-anchor": "end" }, `tier ${tier}`),
];

function edgeElement(edge) {
  const line = make("path", { class: "line" });
  const head = make("path", { class: "head" });
  const hit = make("path", { class: "hit" });
  const element = make("g", { class: "edge", "data-edge": edge.id }, make("title", {}, edgeText(edge)), line, head, hit);
  element.addEventListener("click", () => change({ chosen: { edge: edge.id, missing: Boolean(edge.missing) } }));
  return { edge, element, line, head, hit };
}

function nodeElement(node) {
  const width = view.widths[node];
  const element = make("g", { class: "node", tabindex: -1, role: "button", "aria-label": nodeText(node), "data-node": node },
    make("title", {}, names[node]),
    make("rect", { class: view.bands.length && !tierOf.has(node) ? "no-tier" : null, x: -width / 2, y: -NODE_HEIGHT / 2, width, height: NODE_HEIGHT, rx: isCategory(node) ? 0 : 7 }),
    make("text", { "text-anchor": "middle", dy: "0.34em" }, content.labels[node]));
  element.addEventListener("pointerdown", (event) => startDrag(event, node));
  element.addEventListener("keydown", (event) => nodeKey(event, node));
  element.addEventListener("dblclick", () => change({ centre: node, steps: Math.max(1, state.steps), chosen: { node } }));
  return element;
}

const edgeText = (edge) => `${names[edge.source]} ${arrowSign(edge)} ${names[edge.target]}` +
  (edge.weight == null || isLink(edge) ? "" : `, weight (original units) ${number(edge.weight)}`) +
  (edge.edge_strength == null ? "" : `, strength ${number(edge.edge_strength)}`);
const causeEdges = (node) => shownGraph().into[node].filter((edge) => isVisible(edge) && !isLink(edge));
const effectEdges = (node) => shownGraph().from[node].filter((edge) => isVisible(edge) && !isLink(edge));
const linkEdges = (node) => [...shownGraph().into[node], ...shownGraph().from[node]].filter((edge) => isVisible(edge) && isLink(edge));
const nodeText = (node) => `${names[node]}: ${plural(causeEdges(node).length, "cause")}, ${plural(effectEdges(node).length, "effect")}, ${plural(linkEdges(node).length, "link")}`;

// Compute the curves of all edges, after nodes have moved. Hidden candidates take no room.
function route() {
  const placed = drawn.filter(({ edge }) => !edge.candidate || isVisible(edge));
  ports(placed.map((item) => item.edge), view);
  const largest = strongest();
  for (const item of placed) {
    const { path, arrow } = curve(item.edge, thickness(item.edge, largest));
    item.line.setAttribute("d", path);
    item.hit.setAttribute("d", path);
    item.head.setAttribute("d", arrow);
  }
  for (const [node, element] of nodeElements) {
    const { x, y } = view.places.get(node);
    element.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
  }
}

// The deviance grows with the square of a correlation.
const strength = (edge) => (edge.edge_strength == null ? Math.abs(edge.standardized_weight ?? edge.weight ?? 0) : Math.sqrt(Math.max(0, edge.edge_strength)));
function strongest() {
  const graph = shownGraph();
  graph.strongest ??= Math.max(1e-300, ...graph.edges.filter((edge) => !edge.candidate).map(strength));
  return graph.strongest;
}
function thickness(edge, largest) {
  if (edge.missing) return 1.6;
  return edge.candidate ? 1 : 1.1 + 3.5 * Math.min(1, strength(edge) / largest);
}

// Colours, widths, dashes and fading, by the state.
function paintGraph() {
  if (!view) return;
  const reference = state.reference === null ? null : graphs[state.reference];
  const largest = strongest();
  const chosen = state.chosen;
  const candidates = drawn.filter(({ edge }) => edge.candidate && isVisible(edge)).length;
  if (candidates !== candidatesShown) { candidatesShown = candidates; route(); }
  const near = new Set(chosen ? chosen.pair ?? (chosen.node !== undefined ? [chosen.node] : []) : []);
  const linked = new Set();
  for (const { edge, element, line } of drawn) {
    const visible = edge.missing ? true : isVisible(edge);
    const touches = chosen && (chosen.edge === edge.id || chosen.node === edge.source || chosen.node === edge.target);
    if (touches && visible) { near.add(edge.source); near.add(edge.target); }
    if (visible) { linked.add(edge.source); linked.add(edge.target); }
    const kind = edge.missing ? "missing" : reference ? verdict(edge, reference) : signOf(edge);
    element.setAttribute("class", `edge ${kind}${edge.candidate ? " candidate" : ""}${visible ? "" : " faded"}` +
      `${chosen && visible ? (touches ? " chosen" : " aside") : ""}`);
    element.setAttribute("aria-hidden", visible ? "false" : "true");
    line.setAttribute("stroke-width", thickness(edge, largest).toFixed(2));
    element.style.opacity = visible && !(chosen && !touches) && frequency(edge) !== null ? 0.2 + 0.8 * frequency(edge) : "";
  }
  for (const [node, element] of nodeElements) {
    const isChosen = chosen && (chosen.node === node || (chosen.pair && chosen.pair.includes(node)));
    element.classList.toggle("chosen", Boolean(isChosen));
    element.classList.toggle("aside", Boolean(chosen) && !near.has(node));
    element.classList.toggle("centre", state.steps > 0 && node === state.centre);
    element.classList.toggle("gone", !linked.has(node) && !state.isolated && !isChosen);
    element.setAttribute("aria-label", nodeText(node));
    element.setAttribute("aria-pressed", isChosen ? "true" : "false");
  }
  // The Tab key stops at one node; arrow keys move on from there.
  const stop = chosen && nodeElements.has(chosen.node) ? chosen.node : nodeElements.keys().next().value;
  for (const [node, element] of nodeElements) element.setAttribute("tabindex", node === stop ? 0 : -1);
}

// Pan, zoom and drag.
function showCamera() {
  scene.setAttribute("transform", `translate(${camera.x.toFixed(2)} ${camera.y.toFixed(2)}) scale(${camera.zoom.toFixed(4)})`);
}

function fit() {
  const box = svg.getBoundingClientRect();
  if (!view || !box.width) return;
  const { left, top, width, height } = extent();
  const below = find("overlay").hidden ? 0 : 36; // the overlay covers no variable
  // A wide drawing leaves room for the zoom buttons on the right.
  const wide = width / height > (box.width - 108) / box.height;
  const room = box.width - (wide ? 54 : 0);
  camera.zoom = Math.min(1.5, (room - 16) / width, (box.height - below - 8) / height);
  camera.x = (room - width * camera.zoom) / 2 - left * camera.zoom;
  camera.y = (box.height - below - height * camera.zoom) / 2 - top * camera.zoom;
  showCamera();
}

// The space that the drawn variables take.
function extent() {
  const margin = view.bands.length ? 70 : 0; // for the labels of the bands
  if (state.isolated || state.steps !== 0) return { left: -margin, top: 0, width: view.width + margin, height: view.height };
  const kept = [...view.places].filter(([node]) => [causeEdges, effectEdges, linkEdges].some((edges) => edges(node).length));
  if (!kept.length) return { left: 0, top: 0, width: 60, height: 60 };
  const xs = kept.flatMap(([node, { x }]) => [x - view.widths[node] / 2 - 12, x + view.widths[node] / 2 + 12]);
  const ys = kept.map(([, { y }]) => y);
  const [left, top] = [Math.min(...xs) - margin, Math.min(...ys) - LAYER / 2];
  return { left, top, width: Math.max(...xs) - left, height: Math.max(...ys) + LAYER / 2 - top };
}

// Centre the node that a search found, and make it legible.
function bringToView(node) {
  const box = svg.getBoundingClientRect();
  const { x, y } = view.places.get(node);
  camera.zoom = Math.max(camera.zoom, 0.8);
  camera.x = box.width / 2 - x * camera.zoom;
  camera.y = box.height / 2 - y * camera.zoom;
  showCamera();
}

function zoomBy(factor, x, y) {
  const box = svg.getBoundingClientRect();
  const [px, py] = [x ?? box.width / 2, y ?? box.height / 2];
  const zoom = Math.min(6, Math.max(0.05, camera.zoom * factor));
  camera.x = px - (px - camera.x) * (zoom / camera.zoom);
  camera.y = py - (py - camera.y) * (zoom / camera.zoom);
  camera.zoom = zoom;
  showCamera();
}

function startDrag(event, node) {
  if (event.button !== 0) return;
  event.stopPropagation();
  const place = view.places.get(node);
  const from = { x: event.clientX, y: event.clientY, px: place.x, py: place.y };
  let moved = false;
  follow(event, (move) => {
    const dx = (move.clientX - from.x) / camera.zoom;
    const dy = (move.clientY - from.y) / camera.zoom;
    moved = moved || Math.hypot(move.clientX - from.x, move.clientY - from.y) > 4;
    if (!moved) return;
    place.x = from.px + dx;
    place.y = from.py + dy;
    route();
  }, () => { if (!moved) clickNode(node, event.shiftKey); });
}

// A second variable, with Shift or after "Choose a second variable", makes a pair.
function clickNode(node, second) {
  const first = state.chosen && (state.chosen.node ?? null);
  if (content.kind === "model" && first !== null && first !== node && (second || state.chosen.pairing)) change({ chosen: { pair: [first, node] } });
  else chooseNode(node);
}

// Follow the pointer until it is released.
function follow(event, onMove, onEnd) {
  const move = (next) => { if (next.pointerId === event.pointerId) onMove(next); };
  const end = (next) => {
    if (next.pointerId !== event.pointerId) return;
    window.removeEventListener("pointermove", move);
    window.removeEventListener("pointerup", end);
    window.removeEventListener("pointercancel", end);
    if (next.type === "pointerup") onEnd();
  };
  window.addEventListener("pointermove", move);
  window.addEventListener("pointerup", end);
  window.addEventListener("pointercancel", end);
}

svg.addEventListener("pointerdown", (event) => {
  if (event.button !== 0 || event.target.closest(".edge")) return;
  const from = { x: event.clientX - camera.x, y: event.clientY - camera.y };
  const began = { x: event.clientX, y: event.clientY };
  let moved = false;
  svg.classList.add("panning");
  follow(event, (move) => {
    moved = moved || Math.hypot(move.clientX - began.x, move.clientY - began.y) > 4;
    camera.x = move.clientX - from.x;
    camera.y = move.clientY - from.y;
    showCamera();
  }, () => { if (!moved) change({ chosen: null }); });
});
window.addEventListener("pointerup", () => svg.classList.remove("panning"));
svg.addEventListener("wheel", (event) => {
  // The wheel scrolls the page; it zooms with Ctrl, or once the graph has the focus.
  if (!event.ctrlKey && !event.metaKey && !svg.contains(document.activeElement)) return;
  event.preventDefault();
  const box = svg.getBoundingClientRect();
  zoomBy(Math.exp(-event.deltaY * 0.0016), event.clientX - box.left, event.clientY - box.top);
}, { passive: false });

function chooseNode(node, { focus = true, bring = false } = {}) {
  const patch = { chosen: { node } };
  // In a large graph the neighbourhood follows the selection.
  if (content.large || (state.steps !== 0 && !nodeElements.has(node))) Object.assign(patch, { centre: node, steps: Math.max(1, state.steps) });
  change(patch);
  const element = nodeElements.get(node);
  if (element && bring) bringToView(node);
  if (element && focus) element.focus({ preventScroll: true });
}

// Arrow keys: up to the strongest cause, down to the strongest effect, sideways along the row.
function nodeKey(event, node) {
  const graph = shownGraph();
  const best = (edges, end) => [...edges].filter((edge) => isVisible(edge) && nodeElements.has(edge[end]))
    .sort((a, b) => strength(b) - strength(a)).map((edge) => edge[end])[0];
  let next;
  if (event.key === "ArrowUp") next = best(graph.into[node], "source");
  else if (event.key === "ArrowDown") next = best(graph.from[node], "target");
  else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
    const place = view.places.get(node);
    const row = [...view.places].filter(([, other]) => Math.abs(other.y - place.y) < 20).sort((a, b) => a[1].x - b[1].x);
    const where = row.findIndex(([other]) => other === node) + (event.key === "ArrowLeft" ? -1 : 1);
    next = row[where] && row[where][0];
  } else if (event.key === "Enter" || event.key === " ") next = node;
  else return;
  event.preventDefault();
  if (next !== undefined) chooseNode(next);
}
