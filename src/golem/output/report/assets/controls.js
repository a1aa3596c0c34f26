// Sliders, selects, search, keys, theme.
const slider = find("threshold");
const STEPS = 1000;

// The slider is finer near zero, where most edges are.
const toThreshold = (position) => largestSize() * (position / STEPS) ** MEASURES[state.measure].power;
const toPosition = (threshold) => {
  const largest = largestSize();
  return largest ? STEPS * Math.min(1, threshold / largest) ** (1 / MEASURES[state.measure].power) : 0;
};

function setUpSliders() {
  const measures = Object.keys(MEASURES).filter((name) => graphs.some((graph) => graph.columns.has(name)));
  find("threshold-slider").hidden = measures.length === 0;
  find("measure").append(...measures.map((name) => make("option", { value: name }, MEASURES[name].label)));
  if (measures.length && !measures.includes(state.measure)) state.measure = measures[0];
  find("measure").value = state.measure;
  find("measure").addEventListener("change", (event) => {
    state.measure = event.target.value;
    change({ threshold: chosenThreshold() });
  });
  slider.addEventListener("input", () => change({ threshold: toThreshold(Number(slider.value)) }));
  find("threshold-reset").addEventListener("click", () => change({ threshold: chosenThreshold(), frequency: 0 }));
  find("frequency-slider").hidden = !graphs[0].columns.has("direction_frequency");
  find("frequency").addEventListener("input", (event) => change({ frequency: Number(event.target.value) / 100 }));
}

function showSliders() {
  const has = shownGraph().columns.has(state.measure);
  slider.disabled = !has;
  const shown = toPosition(state.threshold);
  if (Math.abs(Number(slider.value) - shown) > 1) slider.value = Math.round(shown);
  const text = has ? number(state.threshold, 3) : "–";
  find("threshold-value").textContent = text;
  slider.setAttribute("aria-valuetext", text);
  const mark = find("mark");
  mark.hidden = !has;
  mark.style.setProperty("--at", (toPosition(chosenThreshold()) / STEPS).toFixed(4));
  mark.title = `threshold of the fit: ${number(chosenThreshold())}`;
  find("frequency").value = Math.round(100 * state.frequency);
  find("frequency-value").textContent = percent(state.frequency);
  find("frequency").setAttribute("aria-valuetext", percent(state.frequency));
  showCounts();
}

function showCounts() {
  const graph = shownGraph();
  // Next to the matrix of a large graph all edges count.
  const isShown = (edge) => isVisible(edge) && (content.large || inView(edge));
  const visible = graph.edges.filter(isShown);
  const total = graph.edges.filter((edge) => !edge.candidate).length;
  const touched = new Set(visible.flatMap((edge) => [edge.source, edge.target]));
  const among = view && !content.large ? view.nodes.length : names.length;
  const parts = [`${visible.length} of ${plural(total, "edge")}`];
  if (state.isolated) parts.push(plural(among - touched.size, "isolated node"));
  const links = visible.filter(isLink).length;
  if (links) parts.push(`${visible.length - links} directed`);
  if (state.reference !== null) {
    const reference = graphs[state.reference];
    const counts = tally(graph, reference, isShown);
    const kinds = VERDICTS.filter((kind) => kind !== "open" || counts.open);
    parts.push(`compared with ${reference.name}: ${kinds.map((kind) => `${counts[kind]} ${verdictWord(kind, reference)}`).join(", ")}`);
  }
  find("counts").textContent = parts.join(" · ");
}

function setUpSelects() {
  const methods = content.kind === "comparison";
  find("shown-field").hidden = !methods;
  find("reference-field").hidden = graphs.length < 2;
  graphs.forEach((graph, k) => {
    find("shown").append(make("option", { value: k }, graph.name));
    if (methods || k > 0) find("reference").append(make("option", { value: k }, graph.name));
  });
  find("reference").prepend(make("option", { value: "" }, "nothing"));
  find("shown").addEventListener("change", (event) => showGraph(Number(event.target.value)));
  find("reference").addEventListener("change", (event) => change({ reference: event.target.value === "" ? null : Number(event.target.value) }));
  find("isolated-field").hidden = content.large;
  if (content.large) find("view").querySelector("option[value='0']").remove();
  if (!content.strong) find("view").querySelector("option[value='-1']").remove();
  find("view").addEventListener("change", (event) => {
    const steps = Number(event.target.value);
    const node = state.chosen && state.chosen.node !== undefined ? state.chosen.node : state.centre;
    change({ steps, group: null, centre: node ?? mostLinked() });
  });
  find("isolated").addEventListener("change", (event) => { change({ isolated: event.target.checked }); canvas.fit(); });
  find("zoom-in").addEventListener("click", () => canvas.zoomBy(1.3));
  find("zoom-out").addEventListener("click", () => canvas.zoomBy(1 / 1.3));
  find("zoom-fit").addEventListener("click", () => canvas.fit());
  find("save-svg").addEventListener("click", saveSvg);
  find("save-png").addEventListener("click", savePng);
  find("print").addEventListener("click", () => window.print());
}

// Draw another graph. A graph is not compared with itself: the truth replaces it as the reference, or nothing does.
function showGraph(shown) {
  const other = content.truth === shown ? null : content.truth;
  change({ shown, reference: state.reference === shown ? other : state.reference, chosen: null });
}

function showSelects() {
  find("isolated").checked = state.isolated;
  find("shown").value = String(state.shown);
  for (const option of find("reference").options) option.hidden = option.disabled = option.value === String(state.shown);
  find("reference").value = state.reference === null ? "" : String(state.reference);
}

function mostLinked() {
  const graph = shownGraph();
  const links = names.map((_, node) => graph.into[node].length + graph.from[node].length);
  return links.indexOf(Math.max(...links));
}

function setUpSearch() {
  const input = find("search");
  const list = find("found");
  let at = -1;
  const close = () => { list.hidden = true; input.setAttribute("aria-expanded", "false"); at = -1; };
  const choose = (node) => { close(); input.value = ""; chooseNode(node, { bring: state.steps === 0 }); };
  const search = () => {
    const text = input.value.trim().toLowerCase();
    const hits = text ? names.map((name, node) => [name.toLowerCase().indexOf(text), node]).filter(([where]) => where >= 0) : [];
    hits.sort((a, b) => a[0] - b[0] || names[a[1]].length - names[b[1]].length);
    list.replaceChildren(...hits.slice(0, 8).map(([, node], k) => make("li", { role: "option", id: "hit-" + k, "data-node": node,
      onpointerdown: (event) => { event.preventDefault(); choose(node); } }, names[node])));
    if (text && !hits.length) list.append(make("li", { class: "hint" }, "No variable matches."));
    list.hidden = !text;
    at = hits.length ? 0 : -1;
    mark();
  };
  const mark = () => {
    const items = list.querySelectorAll("[role=option]");
    items.forEach((item, k) => item.setAttribute("aria-selected", k === at ? "true" : "false"));
    input.setAttribute("aria-expanded", list.hidden ? "false" : "true");
    if (at >= 0) input.setAttribute("aria-activedescendant", "hit-" + at);
    else input.removeAttribute("aria-activedescendant");
  };
  input.addEventListener("input", search);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    const items = list.querySelectorAll("[role=option]");
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      at = Math.max(0, Math.min(items.length - 1, at + (event.key === "ArrowDown" ? 1 : -1)));
      mark();
    } else if (event.key === "Enter" && items[at]) { event.preventDefault(); choose(Number(items[at].dataset.node)); }
    else if (event.key === "Escape") { event.stopPropagation(); input.value = ""; close(); }
  });
}

// An open finding marks its edges in the graph and lists them; the next one that opens closes it.
function setUpFindings() {
  const all = [...document.querySelectorAll("[data-finding]")];
  for (const one of all) {
    const edges = (content.findings?.[one.dataset.finding] ?? []).map(([source, target]) =>
      [edgeId(source, target), edgeId(target, source)].find((id) => graphs[0].byId.has(id))).filter(Boolean);
    if (edges.length) one.append(edgeList(edges.map((id) => graphs[0].byId.get(id)), (edge) => [names[edge.source], arrowSign(edge), names[edge.target]], (edge) => (sizeOf(edge) == null ? "" : sizeText(edge))));
    one.addEventListener("toggle", () => {
      if (one.open) { for (const other of all) if (other !== one) other.open = false; }
      if (edges.length) change({ marked: one.open ? edges : null, chosen: null });
    });
  }
  find("copy-say")?.addEventListener("click", () => {
    navigator.clipboard?.writeText(find("say").textContent).then(() => { find("copy-say").textContent = "Copied"; }, () => {});
    getSelection().selectAllChildren(find("say"));
  });
}

// The theme of the system, until the button is pressed.
function setUpTheme() {
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const show = (dark) => {
    root.dataset.theme = dark ? "dark" : "light";
    find("theme").textContent = dark ? "Light" : "Dark";
    paintMatrix();
  };
  find("theme").addEventListener("click", () => show(root.dataset.theme === "light"));
  system.addEventListener("change", () => show(system.matches));
  show(system.matches);
}

function showLegend() {
  const graph = shownGraph();
  const item = (kind, text, arrow = false) => make("span", { class: "key" },
    make("svg", { width: 34, height: 12, "aria-hidden": "true" }, make("g", { class: `edge ${kind}` },
      make("path", { class: "line", d: arrow ? "M1 6L26 6" : "M1 6L33 6", "stroke-width": 2.4 }), arrow ? make("path", { class: "head", d: "M33 6L24 2L24 10Z" }) : null)), text);
  const keys = state.reference === null
    ? [...(graph.columns.has("weight") ? [item("positive", "positive"), item("negative", "negative")] : []),
      ...(variables !== null ? [item("neutral", "with a category")] : []),
      ...(graph.edges.some((edge) => edge.open_sign) ? [item("neutral", "sign open")] : [])]
    : VERDICTS.map((kind) => item(kind, verdictWord(kind, graphs[state.reference])));
  keys.push(...directionFilters(graph, item));
  if (graph.columns.has("edge_strength")) keys.push(make("span", { class: "key" }, "width: strength"));
  else if (graph.columns.has("weight")) keys.push(make("span", { class: "key" }, `width: weight (${graph.columns.has("standardized_weight") ? "standardized" : "original units"})`));
  if (content.tiers.length && content.order.some((node) => !tierOf.has(node))) keys.push(make("span", { class: "key" }, "dashed box: no tier"));
  if (variables !== null) keys.push(make("span", { class: "key" }, "square box: category"));
  if (graph.columns.has("direction_frequency")) keys.push(make("span", { class: "key" }, "opacity: frequency in the bootstrap"));
  find("legend").replaceChildren(...keys);
}

// What directions rest on, each with a box that shows or hides its edges; nothing if all rest on the structure.
function directionFilters(graph, item) {
  const counts = new Map();
  for (const edge of graph.edges) if (!edge.candidate && (content.large || inView(edge))) counts.set(directionOf(edge), (counts.get(directionOf(edge)) ?? 0) + 1);
  if (counts.size === 1 && counts.has("structure")) return [];
  return Object.keys(DIRECTIONS).filter((source) => counts.has(source)).map((source) => {
    const box = make("input", { type: "checkbox", checked: !state.hidden.has(source), "data-direction": source, onchange: (event) => {
      const hidden = new Set(state.hidden);
      if (event.target.checked) hidden.delete(source); else hidden.add(source);
      change({ hidden });
      find("legend").querySelector(`[data-direction=${source}]`).focus();
    } });
    const isOpen = content.link_sources.includes(source);
    const key = item("neutral", ` ${isOpen ? "direction " : ""}${DIRECTIONS[source]} (${counts.get(source)})`, !isOpen);
    return make("label", { class: "key", title: `Direction ${directionText(source)}` }, box, key);
  });
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") change(state.chosen || state.marked ? { chosen: null, marked: null } : state.group !== null ? { group: null } : { steps: content.large ? state.steps : content.opening > 0 ? 0 : content.opening });
  if (event.key === "/" && !["INPUT", "SELECT"].includes(document.activeElement.tagName)) { event.preventDefault(); find("search").focus(); }
});
