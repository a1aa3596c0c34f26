// The API in words, from its OpenAPI description.
import { get, make } from "/page/requests.js";

const described = await get("/api/openapi.json");
const holder = document.getElementById("reference");
for (const [path, methods] of Object.entries(described.paths)) {
  for (const [method, one] of Object.entries(methods)) {
    const body = one.requestBody?.content["application/json"]?.schema;
    holder.append(make("h2", {}, `${method.toUpperCase()} ${path}`), make("p", {}, one.summary),
      one.parameters.length ? make("p", {}, `Parameters: ${one.parameters.map((each) => each.name).join(", ")}.`) : "",
      body ? make("pre", { tabIndex: 0 }, JSON.stringify(body, null, 1)) : "");
  }
}
holder.append(make("h2", {}, "Types"), make("pre", { tabIndex: 0 }, JSON.stringify(described.components.schemas, null, 1)));
