// The heat map: causes down, effects across, both in causal order, so that the edges of a DAG lie above the diagonal.
const matrix = find("matrix") ?? make("canvas"); // a graph without edges has no matrix
if (find("matrix-title") && variables !== null) find("matrix-title").textContent = "Strength of edges";
else if (find("matrix-title") && !graphs.some((graph) => graph.columns.has("standardized_weight"))) {
  find("matrix-title").textContent = graphs.some((graph) => graph.columns.has("weight")) ? "Weights (original units)" : "Edges";
}
let cell = 1;
let margin = 0;
let cursor = null; // [row, column] under the pointer or the keys

function sizeMatrix() {
  if (!matrix.parentElement) return;
  const d = names.length;
  const room = matrix.parentElement.clientWidth - 2;
  margin = d <= 60 ? Math.min(110, 14 + Math.max(...content.labels.map((label) => label.length)) * 6.2) : 6;
  cell = Math.max(content.large ? 0.2 : 1, Math.min(26, (Math.min(room, content.large ? 900 : 720) - margin - 4) / Math.max(1, d)));
  const extent = Math.ceil(margin + cell * d + 4);
  const ratio = window.devicePixelRatio || 1;
  matrix.style.width = extent + "px";
  matrix.style.height = extent + "px";
  matrix.width = Math.round(extent * ratio);
  matrix.height = Math.round(extent * ratio);
}

function colours() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue("--" + name).trim();
  return Object.fromEntries(["positive", "negative", "neutral", "true", "reversed", "open", "extra", "missing", "ink", "soft", "line", "cell", "focus"].map((name) => [name, read(name)]));
}

function paintMatrix() {
  if (!matrix.parentElement) return;
  const d = names.length;
  const ratio = window.devicePixelRatio || 1;
  const paper = matrix.getContext("2d");
  const colour = colours();
  paper.setTransform(ratio, 0, 0, ratio, 0, 0);
  paper.clearRect(0, 0, matrix.width, matrix.height);
  paper.fillStyle = colour.cell;
  paper.fillRect(margin, margin, cell * d, cell * d);
  if (cell >= 7) {
    paper.strokeStyle = colour.line;
    paper.lineWidth = 0.5;
    paper.beginPath();
    for (let k = 0; k <= d; k += 1) {
      paper.moveTo(margin + k * cell, margin); paper.lineTo(margin + k * cell, margin + d * cell);
      paper.moveTo(margin, margin + k * cell); paper.lineTo(margin + d * cell, margin + k * cell);
    }
    paper.stroke();
  }
  paper.strokeStyle = colour.line;
  paper.lineWidth = 1;
  paper.beginPath();
  paper.moveTo(margin, margin);
  paper.lineTo(margin + d * cell, margin + d * cell);
  paper.stroke();
  const reference = state.reference === null ? null : graphs[state.reference];
  const largest = strongest();
  const count = shownGraph().edges.length;
  // Few edges among many cells would be invisible: marks grow beyond their cells until they cover a tenth of the triangle.
  const least = Math.min(3.4, Math.max(1.6, cell * d * Math.sqrt(0.1 / (2 * Math.max(1, count)))));
  const mark = Math.max(cell - (cell > 7 ? 1 : 0), least);
  const shift = cell > 7 ? 0.5 : Math.min(0, (cell - mark) / 2);
  const palest = cell > 7 ? 0.25 : 0.65;
  const put = (edge, fill, alpha) => {
    paper.globalAlpha = alpha;
    paper.fillStyle = fill;
    const ends = [[edge.source, edge.target]];
    if (isLink(edge)) ends.push([edge.target, edge.source]);
    for (const [row, column] of ends) {
      paper.fillRect(margin + rank[column] * cell + shift, margin + rank[row] * cell + shift, mark, mark);
    }
  };
  if (reference) for (const edge of missingEdges(shownGraph(), reference)) put(edge, colour.missing, 0.55);
  for (const edge of shownGraph().edges) {
    if (edge.candidate && !isVisible(edge)) continue;
    const kind = reference ? verdict(edge, reference) : signOf(edge);
    put(edge, colour[kind], isVisible(edge) ? (reference || strength(edge) === 0 ? 0.9 : palest + (1 - palest) * Math.min(1, strength(edge) / largest)) : 0.06);
  }
  paper.globalAlpha = 1;
  const chosen = state.chosen;
  paper.strokeStyle = colour.focus;
  paper.lineWidth = 1.5;
  if (chosen && chosen.node !== undefined) {
    const k = margin + rank[chosen.node] * cell;
    paper.strokeRect(margin, k, d * cell, Math.max(cell, 2));
    paper.strokeRect(k, margin, Math.max(cell, 2), d * cell);
  }
  const box = chosen && chosen.edge ? chosen.edge.split(">").map((node) => rank[node]) : cursor;
  if (box) paper.strokeRect(margin + box[1] * cell - 1, margin + box[0] * cell - 1, cell + 2, cell + 2);
  if (d <= 60) {
    const font = Math.max(7, Math.min(12, cell * 0.82));
    paper.fillStyle = colour.soft;
    paper.font = `${font}px system-ui, sans-serif`;
    paper.textBaseline = "middle";
    content.order.forEach((node, k) => {
      paper.textAlign = "right";
      paper.fillText(content.labels[node], margin - 5, margin + (k + 0.5) * cell, margin - 6);
      paper.save();
      paper.translate(margin + (k + 0.5) * cell, margin - 5);
      paper.rotate(-Math.PI / 2);
      paper.textAlign = "left";
      paper.fillText(content.labels[node], 0, 0, margin - 6);
      paper.restore();
    });
  }
}

function cellAt(event) {
  const box = matrix.getBoundingClientRect();
  const place = [event.clientY - box.top, event.clientX - box.left].map((value) => Math.floor((value - margin) / cell));
  return place.every((k) => k >= 0 && k < names.length) ? nearestMark(place) : null;
}

// In small cells a click means the nearest edge.
function nearestMark([row, column]) {
  if (cell >= 5) return [row, column];
  const reach = Math.ceil(5 / cell);
  let best = [row, column];
  let least = Infinity;
  for (const edge of shownGraph().edges) {
    if (!isVisible(edge)) continue;
    const distance = Math.max(Math.abs(rank[edge.source] - row), Math.abs(rank[edge.target] - column));
    if (distance <= reach && distance < least) { least = distance; best = [rank[edge.source], rank[edge.target]]; }
  }
  return best;
}

function readCell(place) {
  cursor = place;
  if (!place) { find("matrix-readout").textContent = "\u00a0"; return; }
  const [source, target] = place.map((k) => content.order[k]);
  const [along, back] = [edgeId(source, target), edgeId(target, source)].map((id) => shownGraph().byId.get(id));
  const edge = along ?? (back && isLink(back) ? back : null);
  find("matrix-readout").textContent = edge && isVisible(edge) ? edgeText(edge) : `${names[source]} → ${names[target]}: no edge`;
}

function chooseCell(place) {
  const [source, target] = place.map((k) => content.order[k]);
  const found = [edgeId(source, target), edgeId(target, source)].map((id) => shownGraph().byId.get(id));
  const edge = found.find((one) => one && (!one.candidate || isVisible(one)));
  if (edge) change({ chosen: { edge: edge.id }, ...(content.large ? { centre: edge.target } : {}) });
  else chooseNode(source === target ? source : target, { focus: false });
}

matrix.addEventListener("pointermove", (event) => { readCell(cellAt(event)); paintMatrix(); });
matrix.addEventListener("pointerleave", () => { readCell(null); paintMatrix(); });
matrix.addEventListener("click", (event) => { const place = cellAt(event); if (place) chooseCell(place); });
matrix.addEventListener("keydown", (event) => {
  const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  if (event.key === "Enter" && cursor) { event.preventDefault(); chooseCell(cursor); return; }
  if (!moves[event.key]) return;
  event.preventDefault();
  const last = names.length - 1;
  readCell((cursor || [0, 0]).map((k, axis) => Math.min(last, Math.max(0, k + moves[event.key][axis]))));
  paintMatrix();
});
