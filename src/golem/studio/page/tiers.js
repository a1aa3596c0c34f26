// The left side: columns in tiers, and what one column contains.
import { edit, fill, make, on, parts, receive } from "/page/requests.js";

const ANY = -1, MOST_CHIPS = 36;
let chosen = new Set(), shown = null, dragged = null, table = null;
const byId = (id) => document.getElementById(id);
// A column may be named like a property of all objects, such as __proto__.
const own = (map, name) => (Object.hasOwn(map, name) ? map[name] : undefined);
export const placeOf = (name) => own(parts.state.state.places, name) ?? parts.state.state.home;
const move = async (names, tier) => { if (names.some((name) => placeOf(name) !== tier)) await edit({ kind: "place", columns: names, tier }); };

export function choose(name, add = false) {
  if (!add) chosen = new Set();
  if (add && chosen.has(name)) chosen.delete(name); else chosen.add(name);
  shown = name;
  drawTiers();
  drawColumn();
}

function chip(name, state) {
  const column = (parts.columns?.columns ?? []).find((one) => one.name === name);
  const dropped = own(state.columns, name)?.drop, out = dropped || column?.left_out;
  const badge = dropped ? "dropped" : column?.left_out ? "left out" : column?.missing ? `${column.missing} missing` : "";
  const element = make("button", { className: "chip", draggable: true, title: column?.left_out ?? name, "aria-pressed": String(chosen.has(name)), "data-column": name },
    make("span", {}, name), badge ? make("small", {}, badge) : "");
  if (out) element.classList.add("out");
  for (const [role, words] of [["environment", "experiments"], ["time", "time"], ["unit", "unit"]]) {
    if (state[role] === name) element.append(make("small", {}, words));
  }
  element.addEventListener("click", (event) => { choose(name, event.ctrlKey || event.metaKey || event.shiftKey); receive("chosen", name); refocus(name); });
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
    ...names.slice(0, MOST_CHIPS).map((name) => chip(name, state)),
    names.length > MOST_CHIPS ? make("p", { className: "hint" }, `and ${names.length - MOST_CHIPS} more: find them above`) : "");
  if (!names.length) box.append(make("p", { className: "hint" }, byId("filter").value ? "None found" : "Drop columns here"));
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
  const held = document.activeElement?.dataset?.column, now = [part.title, ...part.names].join("\n");
  if (now !== table) { table = now; byId("filter").value = ""; chosen = new Set(); shown = null; }
  const wanted = byId("filter").value.toLowerCase(), state = part.state;
  const names = part.names.filter((name) => name.toLowerCase().includes(wanted));
  byId("filter").hidden = part.names.length < 12;
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
  const now = own(state.columns, shown) ?? {}, name = shown;
  const put = (changes) => {
    const next = { ...now, ...changes };
    for (const key of Object.keys(next)) if (!next[key] || next[key].length === 0) delete next[key];
    edit({ kind: "column", name, column: next });
  };
  const box = (label, checked, changed) => make("label", { className: "line" }, make("input", { type: "checkbox", checked, onchange: (event) => changed(event.target.checked) }), label);
  const codes = now.missing ?? [];
  const withCode = (code, is) => put({ missing: is ? [...codes, code] : codes.filter((one) => one !== code) });
  const kinds = make("select", { "aria-label": "Kind of the column", onchange: (event) => put({ kind: event.target.value }) },
    ...[["", "kind chosen by golem"], ["number", "number"], ["category", "category"]].map(([value, text]) => make("option", { value, selected: (now.kind ?? "") === value }, text)));
  const code = make("input", { placeholder: "-999", "aria-label": "Another value that means missing", size: 6 });
  const tier = make("select", { "aria-label": "Tier of the column", onchange: (event) => move([name], Number(event.target.value)) },
    ...state.tiers.map((label, k) => make("option", { value: k, selected: placeOf(name) === k }, `${k + 1} ${label}`)),
    make("option", { value: ANY, selected: placeOf(name) === ANY }, "0 Time not known"));
  const lines = [make("h2", {}, name), tier];
  if (column?.counts) lines.push(histogram(column), make("p", { className: "hint" }, `${column.low} to ${column.high}, mean ${column.mean}`));
  if (column?.levels) lines.push(make("p", { className: "hint" }, column.levels.slice(0, 12).map(([level, count]) => `${level}: ${count}`).join(", ") + (column.levels.length > 12 ? ", …" : "")));
  if (column?.missing) lines.push(make("p", {}, `${column.missing} values are missing.`));
  if (column?.left_out) lines.push(make("p", { className: "warning" }, `Left out: ${column.left_out}.`));
  lines.push(kinds);
  if (column?.may_be_codes && !now.kind) {
    lines.push(make("p", { className: "warning" }, `Only ${column.values} values: are they codes of categories?`),
      make("p", { className: "line" }, make("button", { className: "small", onclick: () => put({ kind: "category" }) }, "Categories"), make("button", { className: "small", onclick: () => put({ kind: "number" }) }, "Numbers")));
  }
  if (column?.zeros || codes.includes("0")) lines.push(box("0 means missing", codes.includes("0"), (is) => withCode("0", is)));
  for (const one of codes.filter((each) => each !== "0")) lines.push(box(`${one} means missing`, true, (is) => withCode(one, is)));
  lines.push(make("form", { className: "line", onsubmit: (event) => { event.preventDefault(); if (code.value.trim()) withCode(code.value.trim(), true); } },
    code, make("button", { className: "small" }, "means missing")));
  if (column?.can_log || now.log) lines.push(box("Take the logarithm", !!now.log, (log) => put({ log })));
  lines.push(box("Drop this column", !!now.drop, (drop) => put({ drop })));
  lines.push(...orderLines(name, state));
  if (column?.kind === "category" && state.environment === null) {
    lines.push(make("button", { className: "small", onclick: () => edit({ kind: "experiments", environment: name, targets: Object.fromEntries(column.levels.map(([level]) => [level, []])) }) }, "It says which experiment a row comes from"));
  }
  if (state.environment === name) lines.push(...experimentLines(state));
  fill("column", ...lines);
}

// Rows that follow each other in time: the number of lags, and the columns with the time and the unit.
function orderLines(name, state) {
  const now = { lags: state.lags, time: state.time, unit: state.unit };
  const put = (changes) => edit({ kind: "order", ...now, ...changes });
  const role = state.time === name ? "time" : state.unit === name ? "unit" : "";
  const roles = make("select", { "aria-label": "Role of the column", onchange: (event) => {
    const cleared = Object.fromEntries(["time", "unit"].filter((one) => now[one] === name).map((one) => [one, null]));
    const next = event.target.value === "time" ? { time: name, lags: now.lags ?? "auto" } : event.target.value === "unit" ? { unit: name } : {};
    put({ ...cleared, ...next });
  } }, ...[["", "a variable"], ["time", "the time of the row"], ["unit", "the unit of a panel"]].map(([value, text]) => make("option", { value, selected: role === value }, text)));
  const lags = make("select", { "aria-label": "Number of lags", onchange: (event) => { const given = event.target.value; put({ lags: given === "none" ? null : given === "auto" ? given : Number(given) }); } },
    ...["none", "auto", "1", "2", "3", "4", "6", "8", "12"].map((value) => make("option", { value, selected: String(state.lags ?? "none") === value }, value === "none" ? "no lags" : value === "auto" ? "lags: auto" : `${value} lag${value === "1" ? "" : "s"}`)));
  const ordered = state.lags !== null || state.time !== null || state.unit !== null;
  return [make("details", { open: ordered }, make("summary", {}, "Rows that follow each other"),
    make("label", { className: "line" }, "This column is ", roles), make("label", { className: "line" }, "Causes may lie back ", lags))];
}

function experimentLines(state) {
  const rows = new Map((parts.graph?.environments ?? []).map((one) => [one.label, ` (${one.rows} rows)`]));
  const lines = Object.entries(state.targets ?? {}).map(([label, changed]) => {
    const input = make("input", { value: changed.join(", "), placeholder: "nothing", "aria-label": `Columns that ${label} changed` });
    const keep = () => {
      const targets = { ...state.targets };
      targets[label] = input.value.split(",").map((word) => word.trim()).filter((word) => word);
      edit({ kind: "experiments", environment: state.environment, targets });
    };
    input.addEventListener("change", keep);
    return make("label", { className: "line" }, `${label}${rows.get(label) ?? ""} changed `, input);
  });
  lines.push(make("button", { className: "small", onclick: () => edit({ kind: "experiments", environment: null }) }, "These are not experiments"));
  return lines;
}

export function begin() {
  byId("filter").addEventListener("input", drawTiers);
  byId("add-tier").addEventListener("click", () => edit({ kind: "add-tier", name: `Tier ${parts.state.state.tiers.length}`, at: parts.state.state.tiers.length - 1 }));
  for (const name of ["state", "columns"]) on(name, () => { drawTiers(); drawColumn(); });
}
