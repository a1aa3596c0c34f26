// The right side: the selected edge or variable, what changed, what is known, findings, snapshots and history.
import { change, edit, fill, get, make, on, parts } from "/page/requests.js";
import { choose } from "/page/tiers.js";

let selection = null, since = "edit", asked = 0;
const card = (title, ...children) => [make("h2", {}, title), ...children];
const list = (items, className = "") => make("ul", { className }, ...items.map((item) => make("li", {}, ...[item].flat())));
const short = (value) => (value === null || value === undefined ? "?" : Math.abs(value) < 1e-9 ? "0" : Math.abs(value) >= 1000 || (value !== 0 && Math.abs(value) < 0.001) ? value.toExponential(1) : String(Number(value.toPrecision(3))));
const arrow = (edge) => `${edge.source} ${edge.directed ? "→" : "—"} ${edge.target}`;
export const edgeById = (id) => parts.graph?.edges.find((edge) => edge.id === id);
const pairId = (a, b) => parts.graph?.edges.find((edge) => (edge.source === a && edge.target === b) || (edge.source === b && edge.target === a));

export function select(next) {
  selection = next;
  drawSelected();
  if (next) document.getElementById("right").scrollTop = 0;
}

async function drawSelected() {
  const turn = ++asked;
  if (!selection || !parts.graph) { fill("selected"); return; }
  if (selection.node !== undefined) { drawVariable(selection.node, turn); return; }
  const [a, b] = selection.pair;
  const edge = pairId(a, b), state = parts.state.state;
  const has = (edges, from, to) => edges.some(([cause, effect]) => cause === from && effect === to);
  const rules = [
    ["require there", `${a} causes ${b}`, a, b, "require", has(state.required, a, b)],
    ["require back", `${b} causes ${a}`, b, a, "require", has(state.required, b, a)],
    ["forbid there", `${a} does not cause ${b}`, a, b, "forbid", has(state.forbidden, a, b) && !has(state.forbidden, b, a)],
    ["forbid back", `${b} does not cause ${a}`, b, a, "forbid", has(state.forbidden, b, a) && !has(state.forbidden, a, b)],
    ["separate", "No edge between them", a, b, "separate", has(state.forbidden, a, b) && has(state.forbidden, b, a)],
  ];
  const given = rules.some((rule) => rule[5]), past = lagOf(a) !== lagOf(b);
  const possible = past ? rules.filter((rule) => rule[0] === "separate" || (rule[4] === "require" && lagOf(rule[2]) > lagOf(rule[3]))) : rules;
  const rows = possible.map(([key, text, cause, effect, rule, is]) => make("li", {},
    make("button", { "aria-pressed": String(is), onclick: () => edit({ kind: "edge", cause, effect, rule: is ? "free" : rule }) }, text),
    make("small", { "data-cost": key }, is ? "your rule" : "…")));
  const about = edge ? [make("strong", {}, arrow(edge)), edge.because ? ` (${edge.because})` : "", weightWords(edge)] : ["There is no edge between them."];
  fill("selected", ...card(edge ? "Edge" : "Pair", make("p", {}, ...about),
    make("p", { className: "hint" }, "Say what you know. Beside each rule: what it costs in fit."),
    make("ul", { className: "rules" }, ...rows),
    given ? make("button", { className: "small", onclick: () => edit({ kind: "edge", cause: a, effect: b, rule: "free" }) }, "Remove the rule") : ""));
  if (given) return;
  try {
    const costs = await get("/api/costs", { cause: a, effect: b });
    if (turn !== asked) return;
    for (const small of document.querySelectorAll("[data-cost]")) {
      const cost = costs[small.dataset.cost], refused = typeof cost === "string";
      small.textContent = refused ? "contradicts what you know" : costWords(cost);
      small.title = refused ? cost : "";
      small.parentElement.querySelector("button").disabled = refused;
    }
  } catch (error) { /* the sentence is shown */ }
}
// The rule by which arrows are claimed calls a difference below 6 weak.
function costWords(cost) {
  if (cost === undefined) return "";
  return cost < 1 ? "the data do not mind" : `the data object${cost < 6 ? " a little" : ""}: ${Math.round(cost)}`;
}
const lagOf = (id) => (parts.state.names.includes(id) ? 0 : Number(/@(\d+)$/.exec(id)?.[1] ?? 0));
function weightWords(edge) {
  const { weight, standardized_weight: standardized, adjacency_frequency: found, direction_stability: stable } = edge.values;
  const words = [];
  if (standardized !== undefined) words.push(`strength ${short(standardized)}${edge.directed && weight !== undefined ? `, weight ${short(weight)}` : ""}`);
  if (found !== undefined) words.push(`found in ${Math.round(100 * found)} % of the resamples`);
  if (edge.directed && stable !== undefined) words.push(`this direction in ${Math.round(100 * stable)} % of the halves`);
  return words.length ? `: ${words.join(", ")}.` : ".";
}

async function drawVariable(name, turn) {
  const step = make("input", { type: "number", value: 1, step: "any", className: "number", "aria-label": `Change of ${name}` }), holder = make("div", {}, "…");
  const series = parts.graph.lags > 0;
  const others = series ? [] : parts.graph.names.filter((id) => id !== name);
  const effect = make("select", { "aria-label": "Effect on" }, make("option", { value: "" }, "choose"), ...others.map((id) => make("option", { value: id }, id)));
  const answer = make("p", {}), levels = Object.hasOwn(parts.graph.levels, name) ? parts.graph.levels[name] : null;
  effect.addEventListener("change", async () => {
    if (!effect.value) return;
    const found = await get("/api/adjustment", { cause: name, effect: effect.value });
    answer.textContent = found.sentence;
  });
  const own = parts.graph.edges.filter((edge) => edge.source === name || edge.target === name);
  fill("selected", ...card(`What if ${name}`, levels ? make("p", {}, `${name} is changed from ${levels[0]} to another level:`) : make("label", { className: "line" }, `${name} is set higher by `, step, series ? " for one step" : ""), holder,
    make("p", { className: "hint" }, series ? "After 0, 1, 2, … steps; ? where directions are open." : "In units of each variable, over all graphs that agree with the arrows."),
    series ? "" : make("label", { className: "line" }, "To measure its effect on ", effect), answer,
    make("details", {}, make("summary", {}, `${own.length} edge${own.length === 1 ? "" : "s"}`), list(own.map((edge) => make("button", { className: "small", onclick: () => select({ pair: [edge.source, edge.target] }) }, arrow(edge)))))));
  let effects = [];
  try { effects = await get("/api/effects", { source: name }); } catch (error) { return; }
  if (turn !== asked) return;
  const draw = () => {
    const by = Number(step.value) || 0;
    const items = effects.map((one) => {
      if (one.steps) return `${one.target}: ${one.steps.map((value) => (value === null ? "?" : short(value * by))).join(", ")}`;
      const ends = [one.low * by, one.high * by].sort((x, y) => x - y).map(short);
      const level = one.target_level ? ` (share of ${one.target_level})` : "";
      const from = one.source_level ? `, to ${one.source_level}` : "";
      const range = one.says === "unknown" ? "unknown" : one.says === "known" ? ends[0] : `${ends[0]} to ${ends[1]}`;
      const doubt = { "sign open": ", sign open", "may be zero": ", may be zero" }[one.says] ?? "";
      return `${one.target}${level}${from}: ${range}${doubt}`;
    });
    holder.replaceChildren(items.length ? list(items, "effects") : make("p", {}, "Nothing changes downstream."));
  };
  step.addEventListener("input", draw);
  draw();
}

// The graph that the present one is compared with.
const baseline = () => parts.earlier?.[since] ?? parts.earlier?.edit ?? parts.earlier?.start ?? null;

// Which edges are new, gone or turned since another graph. An arrow that was or is not checked yet says nothing.
export function differences(graph, old = baseline()) {
  const changed = { added: [], removed: [], turned: [] };
  if (!old) return changed;
  const were = new Map(old.edges.map((edge) => [edge.id, edge]));
  for (const edge of graph.edges) {
    const was = were.get(edge.id);
    were.delete(edge.id);
    if (!was) changed.added.push(edge);
    else if (edge.directed ? (was.directed ? was.source !== edge.source : old.checked) : was.directed && graph.checked) changed.turned.push([was, edge]);
  }
  changed.removed = [...were.values()];
  return changed;
}
function drawChanges() {
  const { graph, earlier } = parts, old = baseline();
  if (!graph || !old || old.version >= graph.version) { fill("changes"); return; }
  const edits = earlier.edit ? graph.version - earlier.edit.version : 0;
  const choices = [["edit", edits > 1 ? `in the last ${edits} steps` : "in the last step"], ["start", "since the start"]].filter(([key]) => earlier[key]);
  const choice = make("select", { "aria-label": "Compared with the graph before", onchange: (event) => { since = event.target.value; document.dispatchEvent(new Event("since")); } },
    ...choices.map(([value, text]) => make("option", { value, selected: value === since }, text)));
  const { added, removed, turned } = differences(graph, old);
  fill("changes", make("h2", {}, "What changed ", choice), ...changeLists(added, removed, turned),
    graph.checked ? "" : make("p", { className: "hint" }, "Directions are being checked."));
}
// One line per kind of change; the edges of each on demand, of the first kinds at once if they are few.
const MOST_LISTED = 60;
function changeLists(added, removed, turns) {
  const kinds = [
    [turns.filter(([was, edge]) => !was.directed && edge.directed), "link is now an arrow", "links are now arrows", ([, edge]) => arrow(edge)],
    [turns.filter(([was, edge]) => was.directed && edge.directed), "arrow points the other way", "arrows point the other way", ([, edge]) => arrow(edge)],
    [turns.filter(([, edge]) => !edge.directed), "arrow is now a link", "arrows are now links", ([was]) => arrow(was)],
    [added, "new edge", "new edges", arrow], [removed, "edge is gone", "edges are gone", arrow]];
  const said = kinds.filter(([items]) => items.length).map(([items, one, many, words]) =>
    make("details", { open: items.length <= 8 }, make("summary", {}, `${items.length} ${items.length === 1 ? one : many}`),
      list([...items.slice(0, MOST_LISTED).map(words), ...(items.length > MOST_LISTED ? [`and ${items.length - MOST_LISTED} more`] : [])])));
  return said.length ? said : [make("p", {}, "No edge changed.")];
}
function graphChanged(graph) {
  const names = new Set(graph?.names ?? []);
  if (selection && !(selection.pair ?? [selection.node]).every((name) => names.has(name))) selection = null;
  drawChanges();
  if (!selection?.node || graph?.checked) drawSelected();
  drawExperiments(graph);
}

function drawKnowledge() {
  const state = parts.state.state;
  const rule = (text, cause, effect) => [`${text} `, make("button", { className: "small", title: "Remove this rule", onclick: () => edit({ kind: "edge", cause, effect, rule: "free" }) }, "×")];
  const items = state.required.map(([a, b]) => rule(`${a} causes ${b}`, a, b));
  const apart = new Set();
  for (const [a, b] of state.forbidden) {
    const both = state.forbidden.some(([c, d]) => c === b && d === a);
    if (both && apart.has(`${b}\n${a}`)) continue;
    apart.add(`${a}\n${b}`);
    items.push(rule(both ? `No edge between ${a} and ${b}` : `${a} does not cause ${b}`, a, b));
  }
  for (const [k, label] of state.tiers.entries()) {
    const names = Object.keys(state.places).filter((name) => state.places[name] === k);
    if (names.length) items.push(`${label}: ${names.join(", ")}`);
  }
  for (const [label, changed] of Object.entries(state.targets ?? {})) if (changed.length) items.push(`The experiment ${label} changed ${changed.join(", ")}`);
  if (state.time !== null) items.push(`${state.time} is the time`);
  if (state.unit !== null) items.push(`${state.unit} is the unit`);
  fill("knowledge", ...(parts.state.names.length ? card("What you know", items.length ? list(items) : make("p", { className: "hint" }, "Nothing yet. Drag columns, or click an edge.")) : []));
}

function drawFindings() {
  if (!parts.graph) { fill("findings"); return; }
  const found = parts.findings?.findings, notes = [...(parts.columns?.notes ?? []), ...(parts.columns?.messages ?? [])];
  const told = (found ?? []).filter((one) => one.level !== "ok" && one.level !== "info");
  const rows = told.map((one) => make("details", { className: one.level },
    make("summary", {}, one.headline || one.finding), make("p", {}, one.finding), one.remedy ? make("p", {}, one.remedy) : ""));
  fill("findings", ...card("What was found", found ? make("p", { className: "hint" }, `${found.length} checks, ${told.length} to look at.`) : make("p", { className: "hint" }, "The checks are running."),
    ...rows, notes.length ? list([...new Set(notes)].map(withColumns), "notes") : ""));
}

// A note, and buttons for the columns that it quotes.
function withColumns(note) {
  const quoted = parts.state.names.filter((name) => note.includes(`'${name}'`)).slice(0, 5);
  return [note, ...quoted.map((name) => make("button", { className: "small", title: `Show the column ${name}`, onclick: () => choose(name) }, name))];
}

function drawExperiments(graph) {
  const found = graph?.next_experiment ?? [];
  fill("experiments", ...(found.length ? card("Which experiment next?", list(found.slice(0, 3).map((one) => `Change ${one.variable}: settles ${short(one.decided)} open directions on average, at least ${one.least}.`))) : []));
}

function drawHistory() {
  const part = parts.state;
  if (!part.names.length) { fill("snapshots"); fill("history"); return; }
  const name = make("input", { placeholder: "Name of a snapshot", "aria-label": "Name of a snapshot" });
  fill("snapshots", ...card("Snapshots", make("form", { className: "line", onsubmit: (event) => { event.preventDefault(); if (name.value.trim()) change("/api/snapshot", { name: name.value }); } },
    name, make("button", { className: "small" }, "Keep")),
  list(part.snapshots.map((one) => [`${one.name} `, make("button", { className: "small", onclick: () => compare(one) }, "Compare"),
    make("button", { className: "small", onclick: () => change("/api/restore", { number: one.number }) }, "Return")]))));
  fill("history", ...card("History", make("p", { className: "hint" }, `${part.edits} step${part.edits === 1 ? "" : "s"}, ${part.refits} graph${part.refits === 1 ? "" : "s"} learned. The more you look at, the less the last one proves.`),
    list(part.history.slice(-8).reverse())));
}

async function compare(snapshot) {
  const other = await get(`/api/snapshots/${snapshot.number}`), dialog = document.getElementById("compare");
  if (!other) return;
  const holders = [snapshot.name, "now"].map((title) => make("figure", {}, make("figcaption", {}, title), make("div", { className: "canvas" })));
  const { added, removed, turned } = differences(parts.graph, other);
  dialog.replaceChildren(make("div", { className: "pair" }, ...holders, make("div", { className: "told" }, make("h2", {}, `Since ${snapshot.name}`), ...changeLists(added, removed, turned))),
    make("button", { onclick: () => dialog.close() }, "Close"));
  dialog.showModal();
  const fresh = new Set([...added, ...turned.map(([, edge]) => edge)].map((edge) => edge.id));
  [other, parts.graph].forEach((graph, k) => {
    if (!graph.layouts.length) holders[k].lastChild.append(make("p", { className: "welcome" }, `${graph.counts}; too many to draw whole.`));
    else golemGraph(holders[k].lastChild, {}).set({ ...graph, edges: graph.edges.map((edge) => ({ ...edge, className: k && fresh.has(edge.id) ? "fresh" : "", text: arrow(edge) })) });
  });
}

function drawSaved(saved) {
  const link = (name) => make("a", { href: `/api/results/${name}`, download: name }, name);
  const late = saved && saved.version !== parts.state?.version ? "This is the graph before the last step. " : "";
  fill("saved", ...(saved ? card("Saved", make("p", { className: "hint" }, `${late}command.sh and script.py, run in the same folder, give the same graph.`), list(saved.files.map(link))) : []));
}

export function begin() {
  on("graph", graphChanged);
  on("earlier", drawChanges);
  on("graph", drawFindings);
  on("state", () => { drawKnowledge(); drawHistory(); drawSaved(parts.saved); });
  on("state", () => { if (selection?.pair) drawSelected(); });
  on("columns", drawFindings);
  on("findings", drawFindings);
  on("saved", drawSaved);
}
