// Requests to the server, one change after the other, and elements of the page. Text from outside becomes text nodes only.
export const parts = {};
const listeners = {};
let last = Promise.resolve();

export function on(name, listener) { (listeners[name] ??= []).push(listener); }
export function receive(name, content) {
  parts[name] = content;
  for (const listener of listeners[name] ?? []) listener(content);
}

export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-")) element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}
export function fill(id, ...children) {
  document.getElementById(id).replaceChildren(...children.filter((child) => child));
}

export function complain(sentence) { receive("problem", sentence); }

async function answered(response) {
  const content = await response.json().catch(() => ({ error: `The server answered ${response.status}.` }));
  if (response.ok) return content;
  if (response.status === 409 && content.state) receive("state", content.state);
  complain(content.error);
  throw new Error(content.error);
}
export async function get(path, query = {}) {
  const asked = new URLSearchParams(query).toString();
  return answered(await fetch(asked ? `${path}?${asked}` : path));
}
export async function post(path, body = {}) {
  return answered(await fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }));
}
// Changes wait for each other, so that each one is meant for the version that the one before it made.
export function change(path, body = {}) {
  last = last.then(async () => receive("state", await post(path, { ...body, version: parts.state.version }))).catch(() => {});
  return last;
}
export const edit = (content) => change("/api/edit", { edit: content });

export async function upload(file) {
  receive("progress", { text: `Reading ${file.name}`, share: null });
  try {
    const path = `/api/data?${new URLSearchParams({ name: file.name })}`;
    await answered(await fetch(path, { method: "POST", body: file }));
  } catch (error) {
    receive("progress", null);
  }
}
