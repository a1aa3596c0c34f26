// The left side: columns in tiers, and what one column contains.
import { edit, fill, make, on, parts } from "/page/requests.js";

const ANY = -1;
let chosen = new Set(), shown = null, dragged = null;
const byId = (id) => document.getElementById(id);
const placeOf = (name) => parts.state.state.places[name] ?? parts.state.state.home;
const move = (names, tier) => edit({ kind: "place", columns: names, tier });

export function choose(name, add = false) {
  if (!add) chosen = new Set();
  if (add && chosen.has(name)) chosen.delete(name); else chosen.add(name);
  shown = name;
  drawTiers();
  drawColumn();
}

function chip(name, state) {
  const column = (parts.columns?.columns ?? []).find((one) => one.name === name);
  const dropped = state.columns[name]?.drop, out = dropped || column?.left_out;
  const badge = dropped ? "dropped" : column?.left_out ? "left out" : column?.missing ? `${column.missing} missing` : "";
  const element = make("button", { className: "chip", draggable: true, title: column?.left_out ?? name, "aria-pressed": String(chosen.has(name)), "data-column": name },
    make("span", {}, name), badge ? make("small", {}, badge) : "");
  if (out) element.classList.add("out");
  if (state.environment === name) element.append(make("small", {}, "experiments"));
  element.addEventListener("click", (event) => { choose(name, event.ctrlKey || event.metaKey || event.shiftKey); refocus(name); });
  element.addEventListener("keydown", (event) => chipKey(event, name));
  element.addEventListener("dragstart", (event) => {
    dragged = chosen.has(name) ? [...chosen] : [name];
    event.dataTransfer.setData("text/plain", name);
    event.dataTransfer.effectAllowed = "move";
  });
  element.addEventListener("dragend", () => { dragged = null; });
  return element;
}
function refocus(name) {
  [...document.querySelectorAll(".chip")].find((one) => one.dataset.column === name)?.focus();
}

// 1, 2, 3 put a column into a tier, 0 into none; Alt with up and down moves it by one; up and down go to another column.
async function chipKey(event, name) {
  const tiers = parts.state.state.tiers.length, now = placeOf(name);
  const names = chosen.has(name) ? [...chosen] : [name];
  let tier = null;
  if (/^[0-9]$/.test(event.key) && !event.ctrlKey && !event.metaKey) tier = Number(event.key) - 1;
  else if (event.altKey && event.key === "ArrowUp") tier = Math.max(0, now - 1);
  else if (event.altKey && event.key === "ArrowDown") tier = Math.min(tiers - 1, now + 1);
  else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
    const all = [...document.querySelectorAll(".chip")], at = all.indexOf(event.currentTarget);
    event.preventDefault();
    all[at + (event.key === "ArrowUp" ? -1 : 1)]?.focus();
    return;
  }
  if (tier === null || tier >= tiers) return;
  event.preventDefault();
  await move(names, tier);
  refocus(name);
}

function tierBox(label, number, names, state) {
  const box = make("div", { className: "tier", "data-tier": number },
    make("h3", {}, label, number >= 0 && number !== state.home && state.tiers.length > 2
      ? make("button", { className: "small", title: `Remove ${label}`, onclick: () => edit({ kind: "remove-tier", at: number }) }, "×") : ""),
    ...names.map((name) => chip(name, state)));
  if (!names.length) box.append(make("p", { className: "hint" }, "Drop columns here"));
  box.addEventListener("dragover", (event) => { if (dragged) { event.preventDefault(); box.classList.add("over"); } });
  box.addEventListener("dragleave", () => box.classList.remove("over"));
  box.addEventListener("drop", (event) => {
    event.preventDefault();
    event.stopPropagation();
    box.classList.remove("over");
    if (dragged) move(dragged, number);
    dragged = null;
  });
  return box;
}

function drawTiers() {
  const part = parts.state;
  if (!part) return;
  const held = document.activeElement?.dataset?.column;
  const wanted = byId("filter").value.toLowerCase(), state = part.state;
  const names = part.names.filter((name) => name.toLowerCase().includes(wanted));
  const boxes = state.tiers.map((label, number) => tierBox(`${number + 1} ${label}`, number, names.filter((name) => placeOf(name) === number), state));
  const without = names.filter((name) => placeOf(name) === ANY);
  fill("tiers", ...boxes, tierBox("0 Time not known", ANY, without, state));
  byId("add-tier").hidden = !part.names.length;
  if (held) refocus(held);
}

function histogram(column) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg"), most = Math.max(...column.counts);
  svg.setAttribute("viewBox", `0 0 ${column.counts.length * 10} 50`);
  svg.setAttribute("class", "histogram");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `Histogram from ${column.low} to ${column.high}`);
  column.counts.forEach((count, k) => {
    const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect"), height = most ? (48 * count) / most : 0;
    for (const [name, value] of Object.entries({ x: k * 10 + 1, y: 50 - height, width: 8, height })) bar.setAttribute(name, value);
    svg.append(bar);
  });
  return svg;
}

function drawColumn() {
  const state = parts.state?.state, column = (parts.columns?.columns ?? []).find((one) => one.name === shown);
  if (!state || shown === null || !parts.state.names.includes(shown)) { fill("column"); return; }
  const own = state.columns[shown] ?? {}, name = shown;
  const put = (changes) => {
    const next = { ...own, ...changes };
    for (const key of Object.keys(next)) if (!next[key] || next[key].length === 0) delete next[key];
    edit({ kind: "column", name, column: next });
  };
  const box = (label, checked, changed) => make("label", { className: "line" }, make("input", { type: "checkbox", checked, onchange: (event) => changed(event.target.checked) }), label);
  const codes = own.missing ?? [];
  const withCode = (code, is) => put({ missing: is ? [...codes, code] : codes.filter((one) => one !== code) });
  const kinds = make("select", { "aria-label": "Kind of the column", onchange: (event) => put({ kind: event.target.value }) },
    ...[["", "kind chosen by golem"], ["number", "number"], ["category", "category"]].map(([value, text]) => make("option", { value, selected: (own.kind ?? "") === value }, text)));
  const code = make("input", { placeholder: "-999", "aria-label": "Another value that means missing", size: 6 });
  const tier = make("select", { "aria-label": "Tier of the column", onchange: (event) => move([name], Number(event.target.value)) },
    ...state.tiers.map((label, k) => make("option", { value: k, selected: placeOf(name) === k }, `${k + 1} ${label}`)),
    make("option", { value: ANY, selected: placeOf(name) === ANY }, "0 Time not known"));
  const lines = [make("h2", {}, name), tier];
  if (column?.counts) lines.push(histogram(column), make("p", { className: "hint" }, `${column.low} to ${column.high}, mean ${column.mean}`));
  if (column?.levels) lines.push(make("p", { className: "hint" }, column.levels.map(([level, count]) => `${level}: ${count}`).join(", ")));
  if (column?.missing) lines.push(make("p", {}, `${column.missing} values are missing.`));
  if (column?.left_out) lines.push(make("p", { className: "warning" }, `Left out: ${column.left_out}.`));
  lines.push(kinds);
  if (column?.zeros || codes.includes("0")) lines.push(box("0 means missing", codes.includes("0"), (is) => withCode("0", is)));
  for (const one of codes.filter((each) => each !== "0")) lines.push(box(`${one} means missing`, true, (is) => withCode(one, is)));
  lines.push(make("form", { className: "line", onsubmit: (event) => { event.preventDefault(); if (code.value.trim()) withCode(code.value.trim(), true); } },
    code, make("button", { className: "small" }, "means missing")));
  if (column?.can_log || own.log) lines.push(box("Take the logarithm", !!own.log, (log) => put({ log })));
  lines.push(box("Drop this column", !!own.drop, (drop) => put({ drop })));
  if (column?.kind === "category" && state.environment === null) {
    lines.push(make("button", { className: "small", onclick: () => edit({ kind: "experiments", environment: name }) }, "It says which experiment a row comes from"));
  }
  if (state.environment === name) lines.push(...experimentLines(state));
  fill("column", ...lines);
}

function experimentLines(state) {
  const known = parts.graph?.environments ?? [];
  const lines = known.map((one) => {
    const input = make("input", { value: one.targets.join(", "), "aria-label": `Columns that ${one.label} changed` });
    const keep = () => {
      const targets = Object.fromEntries(known.map((each) => [each.label, each.targets]));
      targets[one.label] = input.value.split(",").map((word) => word.trim()).filter((word) => word);
      edit({ kind: "experiments", environment: state.environment, targets });
    };
    input.addEventListener("change", keep);
    return make("label", { className: "line" }, `${one.label} (${one.rows} rows) changed `, input);
  });
  lines.push(make("button", { className: "small", onclick: () => edit({ kind: "experiments", environment: null }) }, "These are not experiments"));
  return lines;
}

export function begin() {
  byId("filter").addEventListener("input", drawTiers);
  byId("add-tier").addEventListener("click", () => edit({ kind: "add-tier", name: `Tier ${parts.state.state.tiers.length}`, at: parts.state.state.tiers.length - 1 }));
  for (const name of ["state", "columns"]) on(name, () => { drawTiers(); drawColumn(); });
}
