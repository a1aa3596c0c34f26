// Knowledge that the reader collects for the next run. Nothing is learned here: the page shows what to type.
const known = { required: new Set(), forbidden: new Set() };
for (const kind of ["required", "forbidden"]) {
  for (const [source, target] of content.knowledge[kind]) known[kind].add(edgeId(source, target));
}
const given = JSON.stringify([[...known.required], [...known.forbidden]]);

// The state of an ordered pair: "required", "forbidden" or "".
const knownAs = (id) => ["required", "forbidden"].find((kind) => known[kind].has(id)) ?? "";
const reversedId = (id) => id.split(">").reverse().join(">");

function setKnown(id, kind) {
  known.required.delete(id);
  known.forbidden.delete(id);
  if (kind) known[kind].add(id);
  if (kind === "required") known.required.delete(reversedId(id)); // both would be a cycle
  showKnowledge();
  showDetails();
}

// Required, forbidden or clear, for both directions of a pair.
function knowledgeButtons(first, second) {
  if (content.kind !== "model") return [];
  const rows = [edgeId(first, second), edgeId(second, first)].map((id) => make("tr", {},
    make("th", { scope: "row" }, edgeName(id)),
    make("td", { class: "buttons" }, ...[["required", "required"], ["forbidden", "forbidden"], ["", "clear"]].map(([kind, word]) =>
      make("button", { type: "button", "data-known": word, "aria-pressed": kind && knownAs(id) === kind ? "true" : "false",
        "aria-label": `${edgeName(id)}: ${word}`, onclick: () => setKnown(id, kind) }, word)))));
  return [make("h3", {}, "Knowledge for the next run"), make("table", { class: "known" }, ...rows)];
}

const edgeName = (id) => id.split(">").map((node) => names[node]).join(" → ");

// A word for a POSIX shell; a name with an arrow, quotes or blanks at its ends is in double quotes, as golem reads it.
const shellWord = (text) => (/^[\w./:=+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
const edgeWord = (id) => id.split(">").map((node) => names[node])
  .map((name) => (/->|^\s|\s$|^"|"$/.test(name) ? `"${name.replaceAll('"', '""')}"` : name)).join("->");

function knowledgeTexts() {
  const pairs = (kind) => [...known[kind]].map((id) => id.split(">").map((node) => names[node]));
  const document = { required: pairs("required"), forbidden: pairs("forbidden") };
  if (content.tiers.length) document.tiers = content.tiers.map((nodes) => nodes.map((node) => names[node]));
  const options = [["--require", "required"], ["--forbid", "forbidden"]]
    .flatMap(([option, kind]) => [...known[kind]].flatMap((id) => [option, shellWord(edgeWord(id))]));
  // Tiers have no option of their own.
  const words = content.tiers.length ? ["--knowledge", "knowledge.json"] : options;
  return { command: ["golem fit", ...content.command.map(shellWord), ...words].join(" "), json: JSON.stringify(document) };
}

function showKnowledge() {
  const ids = [...known.required, ...known.forbidden];
  const changed = JSON.stringify([[...known.required], [...known.forbidden]]) !== given;
  find("knowledge-card").hidden = !ids.length && !changed;
  const { command, json } = knowledgeTexts();
  find("known-list").replaceChildren(...ids.map((id) => make("li", {},
    make("button", { type: "button", class: "link", onclick: () => change({ chosen: { pair: id.split(">").map(Number) } }) }, edgeName(id)),
    make("span", { class: "value" }, knownAs(id), " ", make("button", { type: "button", class: "remove", "aria-label": `Clear ${edgeName(id)}`, onclick: () => setKnown(id, "") }, "×")))));
  find("known-command").value = command;
  find("known-json").value = json;
}

function setUpKnowledge() {
  if (!find("knowledge-card")) return;
  for (const name of ["command", "json"]) {
    find(`copy-${name}`).addEventListener("click", () => {
      find(`known-${name}`).select();
      // Where the clipboard is not available, the text is selected and Ctrl-C copies it.
      navigator.clipboard?.writeText(find(`known-${name}`).value).then(() => { find("status").textContent = "Copied."; }, () => {});
    });
  }
  showKnowledge();
}
