// The graph component of report, notebooks and studio: it draws a graph, moves it from one layout to the next, and
// tells what was clicked. It computes no layout; `golem.output.drawing.layouts` makes them.
//
//   const graph = golemGraph(holder, callbacks)      appends one <svg class="golem-graph"> to the element `holder`
//   graph.set(data)                                  draws the data; what stays moves, what is new appears
//   graph.select({ node } | { edge } | { pair: [a, b] } | null)    emphasizes it with its edges, fades the rest
//   graph.highlight({ nodes, edges } | null)         the same for several, e.g. those of a finding; outlasts no select()
//   graph.focus(node)                                gives a node the keyboard focus
//   graph.reveal(node)                               moves the camera to a node, legibly
//   graph.fit(), graph.zoomBy(factor)                the camera
//   graph.edgeOf(id), graph.nodeOf(id)               the SVG groups, or undefined
//   graph.picture()                                  { text, width, height } of a standalone SVG
//   graph.svg, graph.cropped, graph.legible          the element; whether fit() left parts outside, whether text is legible
//
// data = { nodes, edges, layouts }
//   node   = { id, label, text, width, square, hidden, className }   text: title and aria-label; square: a category
//   edge   = { id, source, target, directed, kind, width, opacity, hidden, className, text }
//            directed: an arrowhead at the target; else a link. kind: "positive", "negative", "neutral" (the sign) or
//            "true", "reversed", "open", "extra", "missing" (a comparison). width in pixels. opacity: stability, 0 to 1.
//   layout = { orientation, places, bends, bands }, the first one that fits the canvas best is used
//            orientation: "down" or "right", where causes point to. places: [x, y] per node, in the order of nodes.
//            bends: [source, target, [[x, y], ...]] of edges over several layers. bands: [label, begin] of tiers.
//   An id of an edge is unique; without one it is `${source}>${target}`. Ids of nodes are numbers or strings.
//
// callbacks, all optional:
//   onNode(id, event)   a click, Enter or Space          onEdge(id, event)   the same on an edge
//   onPair(a, b)        Shift and a click on a second node, or a click while graph.pairing is true
//   onEmpty()           a click next to everything       onOpen(id)          a double click on a node
//   onDrop(id, band)    a node was dragged; band: the number of the band under it, or null
//   onFit(cropped)      after the camera was set
// Keys: Tab stops at one node and at one edge. Arrow keys go from node to node, to a neighbour first; from edge to edge.
function golemGraph(holder, callbacks = {}) {
  const HEIGHT = 30;
  const LARGEST_ZOOM = 1.5, LEGIBLE = 12 / 13, SMALLEST_CROP = 0.5;
  const DURATION = 450, MOST_ANIMATED = 700;
  const svg = element("svg", { class: "golem-graph", role: "group",
    "aria-label": "Graph. Arrow keys move between variables, or between edges. Enter selects, Escape clears the selection." });
  const scene = element("g", { class: "scene" });
  const [bandLayer, leftLayer, edgeLayer, nodeLayer] = ["bands", "leaving", "edges", "nodes"].map((name) => element("g", { class: name }));
  scene.append(bandLayer, leftLayer, edgeLayer, nodeLayer);
  svg.append(scene);
  holder.append(svg);

  const nodes = new Map(); // id -> { node, element, x, y, given, moved }
  const edges = new Map(); // id -> { edge, element, line, head, hit, way }
  const camera = { x: 0, y: 0, zoom: 1 };
  const graph = { svg, set, select, highlight, focus, reveal, fit, zoomBy, picture, edgeOf: (id) => edges.get(id)?.element,
    nodeOf: (id) => nodes.get(id)?.element, cropped: false, legible: true, pairing: false };
  let data = { nodes: [], edges: [], layouts: [] };
  let layout = null, down = true, bends = new Map(), bands = [];
  let selection = null, marked = null, frame = 0, nodeStop = null, edgeStop = null;

  function element(tag, attributes = {}, ...children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) if (value !== null && value !== undefined) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }
  const edgeId = (edge) => edge.id ?? `${edge.source}>${edge.target}`;
  const still = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  const at = ([x, y]) => x.toFixed(1) + " " + y.toFixed(1);

  // ---- data ----
  function set(next) {
    data = next;
    const first = nodes.size === 0;
    const known = new Set([...nodes.keys()]);
    for (const node of data.nodes) {
      if (!nodes.has(node.id)) nodes.set(node.id, newNode(node));
      known.delete(node.id);
      dressNode(nodes.get(node.id), node);
    }
    for (const id of known) leave(nodes, id);
    const gone = new Set([...edges.keys()]);
    for (const edge of data.edges) {
      const id = edgeId(edge);
      if (!edges.has(id)) edges.set(id, newEdge(id));
      gone.delete(id);
      edges.get(id).edge = edge;
    }
    for (const id of gone) leave(edges, id);
    edgeLayer.append(...data.edges.map((edge) => edges.get(edgeId(edge)).element));
    nodeLayer.append(...data.nodes.map((node) => nodes.get(node.id).element));
    paint();
    arrange(!first, known.size > 0);
  }

  function newNode(node) {
    const box = element("rect", { y: -HEIGHT / 2, height: HEIGHT });
    const words = element("text", { "text-anchor": "middle", dy: "0.34em" });
    const title = element("title");
    const group = element("g", { class: "node arriving", tabindex: -1, role: "button", "data-node": node.id }, title, box, words);
    group.addEventListener("pointerdown", (event) => startDrag(event, node.id));
    group.addEventListener("keydown", (event) => nodeKey(event, node.id));
    group.addEventListener("focus", () => { nodeStop = node.id; stops(); });
    group.addEventListener("dblclick", () => callbacks.onOpen?.(node.id));
    return { node, element: group, box, words, title, x: null, y: null, given: null, moved: false };
  }

  function dressNode(item, node) {
    item.node = node;
    item.box.setAttribute("x", -node.width / 2);
    item.box.setAttribute("width", node.width);
    item.box.setAttribute("rx", node.square ? 0 : 7);
    item.words.textContent = node.label;
    item.title.textContent = node.title ?? node.text ?? node.label;
    item.element.setAttribute("aria-label", node.text ?? node.label);
  }

  function newEdge(id) {
    const [line, head, hit, title] = [element("path", { class: "line" }), element("path", { class: "head" }), element("path", { class: "hit" }), element("title")];
    const group = element("g", { class: "edge arriving", tabindex: -1, role: "button", "data-edge": id }, title, hit, line, head);
    group.addEventListener("click", (event) => callbacks.onEdge?.(id, event));
    group.addEventListener("keydown", (event) => edgeKey(event, id));
    group.addEventListener("focus", () => { edgeStop = id; stops(); });
    return { edge: null, element: group, line, head, hit, title, way: null };
  }

  // What is no longer there fades out under the rest, and can no longer be clicked or counted.
  function leave(items, id) {
    const { element: group } = items.get(id);
    items.delete(id);
    if (still()) { group.remove(); return; }
    for (const name of ["data-node", "data-edge", "role", "tabindex", "aria-label"]) group.removeAttribute(name);
    group.setAttribute("class", `left ${group.classList.contains("node") ? "left-node" : "left-edge"}`);
    leftLayer.append(group);
    setTimeout(() => group.remove(), DURATION / 2);
  }

  // ---- layout: choose one, stretch it to the canvas, move there ----
  function space() {
    const box = svg.getBoundingClientRect();
    return { width: box.width || 800, height: box.height || 480 };
  }

  // The box around nodes and the bends of edges.
  function extentOf(places, widths, hidden, points = []) {
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const [x, y] of points) {
      left = Math.min(left, x - 4); right = Math.max(right, x + 4); top = Math.min(top, y); bottom = Math.max(bottom, y);
    }
    places.forEach(([x, y], k) => {
      if (hidden[k]) return;
      left = Math.min(left, x - widths[k] / 2); right = Math.max(right, x + widths[k] / 2);
      top = Math.min(top, y - HEIGHT / 2); bottom = Math.max(bottom, y + HEIGHT / 2);
    });
    return left > right ? { left: 0, top: 0, width: 60, height: 60 } : { left, top, width: right - left, height: bottom - top };
  }

  const PAD = { x: 34, y: 26 };
  const labelWidth = (named) => Math.min(140, Math.max(60, ...named.map(([label]) => 8 + 7 * label.length)));
  function measure(one) {
    const room = space();
    const box = extentOf(one.places, data.nodes.map((node) => node.width), data.nodes.map((node) => node.hidden), (one.bends ?? []).flatMap(([, , points]) => points));
    // The layers of a tall drawing may come closer; the boxes of a layer may not.
    const flat = one.orientation === "right" ? box.height : 0.62 * (box.height - HEIGHT) + HEIGHT;
    const label = one.bands?.length ? labelWidth(one.bands) : 0;
    const across = (room.width - 2 * PAD.x - label) / box.width;
    return { box, label, natural: Math.min(across, (room.height - 2 * PAD.y) / box.height), zoom: Math.min(across, (room.height - 2 * PAD.y) / flat) };
  }

  function chooseLayout() {
    const [best] = data.layouts.map((one, k) => ({ one, ...measure(one), rank: -k }))
      .sort((a, b) => b.natural * (1 + 0.1 * b.rank) - a.natural * (1 + 0.1 * a.rank) || b.rank - a.rank);
    if (!best) return;
    ({ one: layout } = best);
    down = layout.orientation !== "right";
    const room = space();
    const zoom = Math.min(LARGEST_ZOOM, best.zoom < LEGIBLE && best.zoom > SMALLEST_CROP * LEGIBLE ? LEGIBLE : best.zoom);
    const share = (length, size, least) => Math.max(least, Math.min(2.6, length / zoom / Math.max(1, size)));
    const stretch = [share(room.width - 2 * PAD.x - best.label, best.box.width, 1), share(room.height - 2 * PAD.y, best.box.height, down ? 0.62 : 1)];
    const stretched = ([x, y]) => [x * stretch[0], y * stretch[1]];
    layout.places.forEach((place, k) => { nodes.get(data.nodes[k].id).wish = stretched(place); });
    bends = new Map((layout.bends ?? []).map(([source, target, points]) => [`${source}>${target}`, points.map(stretched)]));
    bands = (layout.bands ?? []).map(([label, begin]) => [label, begin * stretch[down ? 1 : 0]]);
  }

  function arrange(animate, refit = false) {
    if (!data.layouts.length) return;
    chooseLayout();
    let changed = refit;
    for (const item of nodes.values()) {
      const same = item.given && Math.hypot(item.given[0] - item.wish[0], item.given[1] - item.wish[1]) < 0.5;
      if (!same) { changed = true; item.moved = false; item.given = item.wish; }
    }
    drawBands();
    if (!changed) { route(); return; }
    cancelAnimationFrame(frame);
    const many = nodes.size + edges.size > MOST_ANIMATED;
    const [from, start] = [new Map(), { ...camera }];
    const around = (id) => { // a new node comes from its neighbours
      const known = data.edges.flatMap((edge) => (edge.source === id ? [edge.target] : edge.target === id ? [edge.source] : []))
        .map((other) => nodes.get(other)).filter((other) => other && other.x !== null);
      return known.length ? [known.reduce((sum, other) => sum + other.x, 0) / known.length, known.reduce((sum, other) => sum + other.y, 0) / known.length] : null;
    };
    for (const [id, item] of nodes) from.set(id, item.x === null ? (animate && !many && around(id)) || item.given : [item.x, item.y]);
    for (const item of nodes.values()) [item.x, item.y] = item.given;
    fit({ show: false });
    const end = { ...camera };
    if (!animate || many || still()) { settle(); return; }
    const began = performance.now();
    const step = (now) => {
      const share = Math.min(1, Math.max(0, (now - began) / DURATION));
      const ease = share * share * (3 - 2 * share);
      for (const [id, item] of nodes) {
        if (item.moved) continue;
        const [x, y] = from.get(id) ?? item.given;
        item.x = x + ease * (item.given[0] - x);
        item.y = y + ease * (item.given[1] - y);
      }
      for (const key of ["x", "y", "zoom"]) camera[key] = start[key] + ease * (end[key] - start[key]);
      showCamera();
      route(share < 1);
      if (share < 1) frame = requestAnimationFrame(step);
    };
    frame = requestAnimationFrame(step);
  }

  function settle() {
    showCamera();
    route();
  }

  function drawBands() {
    const box = extentOf([...nodes.values()].map((item) => item.given ?? item.wish), data.nodes.map((node) => node.width), data.nodes.map((node) => node.hidden), [...bends.values()].flat());
    const [low, high] = down ? [box.left - labelWidth(bands) - 10, box.left + box.width + 16] : [box.top - 34, box.top + box.height + 12];
    const last = down ? box.top + box.height + 14 : box.left + box.width + 14;
    bandLayer.replaceChildren(...bands.flatMap(([label, begin], k) => {
      // The first band begins close to its nodes, so that its name is in the picture.
      const first = (down ? box.top : box.left) - 17;
      const [a, b] = [k ? begin : Math.max(begin, first), bands[k + 1]?.[1] ?? last];
      const place = down ? { x: low, y: a, width: high - low, height: Math.max(0, b - a) } : { x: a, y: low, width: Math.max(0, b - a), height: high - low };
      const words = element("text", down ? { x: low + 8, y: a + 18 } : { x: a + 8, y: low + 18 });
      words.setAttribute("class", "band-label");
      words.textContent = label;
      return [element("rect", { class: k % 2 ? "band odd" : "band", ...place }), words];
    }));
  }

  // ---- edges: ports next to each other, curves through the bends ----
  function ports() {
    const ends = new Map();
    const main = (item) => (down ? item.y : item.x);
    const cross = (point) => point[down ? 0 : 1];
    for (const item of edges.values()) {
      if (item.edge.hidden && item.edge.className === "candidate") { item.way = null; continue; }
      const [from, to] = [nodes.get(item.edge.source), nodes.get(item.edge.target)];
      const forward = main(to) > main(from) + 1;
      const level = Math.abs(main(to) - main(from)) <= 1;
      const points = forward && !from.moved && !to.moved ? bends.get(`${item.edge.source}>${item.edge.target}`) ?? [] : [];
      item.way = { forward, level, points };
      const add = (end, node, side, towards) => {
        const key = node + side;
        if (!ends.has(key)) ends.set(key, { node, side, list: [] });
        ends.get(key).list.push({ way: item.way, end, towards });
      };
      add("start", item.edge.source, forward || level ? "+" : "-", cross(points[0] ?? [to.x, to.y]));
      add("stop", item.edge.target, forward && !level ? "-" : "+", cross(points.at(-1) ?? [from.x, from.y]));
    }
    for (const { node, side, list } of ends.values()) {
      const item = nodes.get(node);
      const room = down ? item.node.width - 18 : HEIGHT - 12;
      const gap = Math.min(14, room / Math.max(1, list.length - 1));
      list.sort((a, b) => a.towards - b.towards);
      list.forEach(({ way, end }, k) => {
        const offset = (k - (list.length - 1) / 2) * gap;
        const reach = (side === "+" ? 0.5 : -0.5) * (down ? HEIGHT : item.node.width);
        way[end] = down ? [item.x + offset, item.y + reach] : [item.x + reach, item.y + offset];
      });
    }
  }

  function curve(item) {
    const { way: { start, stop, points, forward, level }, edge } = item;
    const point = (along, across) => (down ? [across, along] : [along, across]);
    const [along, across] = down ? [1, 0] : [0, 1];
    const head = edge.directed ? 6 + 1.3 * edge.width : 0;
    const sign = forward && !level ? 1 : -1;
    const tip = stop[along] - sign * (head ? 1.5 : 0);
    const end = point(tip - sign * head * 0.8, stop[across]);
    let path = `M${at(start)}`;
    if (level) {
      const dip = 26 + 0.05 * Math.abs(stop[across] - start[across]);
      path += `C${at(point(start[along] + dip, start[across]))} ${at(point(end[along] + dip, end[across]))} ${at(end)}`;
    } else {
      let from = start;
      for (const to of [...points, end]) {
        const middle = (from[along] + to[along]) / 2;
        path += `C${at(point(middle, from[across]))} ${at(point(middle, to[across]))} ${at(to)}`;
        from = to;
      }
    }
    const half = head * 0.46;
    const back = tip - sign * head;
    const arrow = head ? `M${at(point(tip, stop[across]))}L${at(point(back, stop[across] - half))}L${at(point(back, stop[across] + half))}Z` : "";
    return { path, arrow };
  }

  function route(moving = false) {
    ports();
    for (const item of edges.values()) {
      if (!item.way) continue;
      const { path, arrow } = curve(item);
      if (item.path !== path) { item.path = path; item.line.setAttribute("d", path); item.hit.setAttribute("d", path); }
      if (item.arrow !== arrow) { item.arrow = arrow; item.head.setAttribute("d", arrow); }
    }
    for (const item of nodes.values()) {
      const place = `translate(${item.x.toFixed(1)} ${item.y.toFixed(1)})`;
      if (item.place !== place) { item.place = place; item.element.setAttribute("transform", place); }
    }
    if (!moving) for (const item of [...nodes.values(), ...edges.values()]) item.element.classList.remove("arriving");
  }

  // ---- emphasis ----
  function select(next) { selection = next; marked = null; paint(); }
  function highlight(next) { marked = next && { nodes: new Set(next.nodes ?? []), edges: new Set(next.edges ?? []) }; paint(); }

  function paint() {
    const chosen = new Set(selection === null ? [] : selection.pair ?? (selection.node !== undefined ? [selection.node] : []));
    const near = new Set(marked ? marked.nodes : chosen);
    const some = marked !== null || selection !== null;
    for (const [id, item] of edges) {
      const { edge } = item;
      const touched = marked ? marked.edges.has(id)
        : selection !== null && (selection.edge === id || (selection.node !== undefined && (selection.node === edge.source || selection.node === edge.target)));
      if (touched && !edge.hidden) { near.add(edge.source); near.add(edge.target); }
      const names = ["edge", edge.kind ?? "neutral", edge.directed ? "arrow" : "link", edge.className, edge.hidden && "faded",
        some && !edge.hidden && (touched ? "chosen" : "aside"), item.element.classList.contains("arriving") && "arriving"];
      item.element.setAttribute("class", names.filter(Boolean).join(" "));
      item.element.setAttribute("aria-hidden", edge.hidden ? "true" : "false");
      item.element.setAttribute("aria-label", edge.text ?? id);
      item.element.setAttribute("aria-pressed", selection?.edge === id ? "true" : "false");
      item.element.style.opacity = edge.opacity == null || edge.hidden || (some && !touched) ? "" : String(edge.opacity);
      item.title.textContent = edge.text ?? id;
      item.line.setAttribute("stroke-width", edge.width.toFixed(2));
    }
    for (const [id, item] of nodes) {
      const names = ["node", item.node.className, chosen.has(id) && "chosen", some && !near.has(id) && "aside", item.node.hidden && !chosen.has(id) && "gone",
        item.element.classList.contains("arriving") && "arriving"];
      item.element.setAttribute("class", names.filter(Boolean).join(" "));
      item.element.setAttribute("aria-pressed", chosen.has(id) ? "true" : "false");
    }
    if (selection?.node !== undefined && nodes.has(selection.node)) nodeStop = selection.node;
    if (selection?.edge !== undefined && edges.has(selection.edge)) edgeStop = selection.edge;
    stops();
  }

  // One Tab stop among the nodes and one among the edges; arrow keys move on from there.
  function stops() {
    if (!nodes.has(nodeStop)) nodeStop = nodes.keys().next().value;
    if (!edges.has(edgeStop) || edges.get(edgeStop).edge.hidden) edgeStop = [...edges].find(([, item]) => !item.edge.hidden)?.[0];
    for (const [id, item] of nodes) item.element.setAttribute("tabindex", id === nodeStop ? 0 : -1);
    for (const [id, item] of edges) item.element.setAttribute("tabindex", id === edgeStop ? 0 : -1);
  }

  // ---- camera ----
  function showCamera() {
    scene.setAttribute("transform", `translate(${camera.x.toFixed(2)} ${camera.y.toFixed(2)}) scale(${camera.zoom.toFixed(4)})`);
  }

  function fit({ show = true } = {}) {
    const room = space();
    const items = [...nodes.values()].filter((item) => item.x !== null);
    const box = extentOf(items.map((item) => [item.x, item.y]), items.map((item) => item.node.width), items.map((item) => item.node.hidden), [...bends.values()].flat());
    const label = bands.length ? (down ? [labelWidth(bands), 0] : [0, 24]) : [0, 0];
    const whole = Math.min(LARGEST_ZOOM, (room.width - 2 * PAD.x - label[0] + 8) / box.width, (room.height - 2 * PAD.y - label[1] + 8) / box.height);
    camera.zoom = whole < LEGIBLE && whole > SMALLEST_CROP * LEGIBLE ? LEGIBLE : Math.max(0.05, whole);
    graph.cropped = camera.zoom > whole + 1e-3;
    graph.legible = camera.zoom > LEGIBLE - 1e-3;
    // A drawing that does not fit begins at its upper left corner, or where its bands begin.
    const place = (length, size, low, margin) => (size * camera.zoom > length - 8 ? 12 + margin - low * camera.zoom : margin / 2 + (length - size * camera.zoom) / 2 - low * camera.zoom);
    camera.x = place(room.width, box.width, box.left, label[0]);
    camera.y = place(room.height, box.height, box.top, label[1]);
    if (show) showCamera();
    callbacks.onFit?.(graph.cropped);
  }

  function reveal(id) {
    const item = nodes.get(id);
    if (!item) return;
    const room = space();
    camera.zoom = Math.max(camera.zoom, LEGIBLE);
    camera.x = room.width / 2 - item.x * camera.zoom;
    camera.y = room.height / 2 - item.y * camera.zoom;
    showCamera();
  }

  function zoomBy(factor, x, y) {
    const room = space();
    const [px, py] = [x ?? room.width / 2, y ?? room.height / 2];
    const zoom = Math.min(6, Math.max(0.05, camera.zoom * factor));
    camera.x = px - (px - camera.x) * (zoom / camera.zoom);
    camera.y = py - (py - camera.y) * (zoom / camera.zoom);
    camera.zoom = zoom;
    showCamera();
  }

  // ---- pointer ----
  function follow(event, onMove, onEnd) {
    const move = (next) => { if (next.pointerId === event.pointerId) onMove(next); };
    const end = (next) => {
      if (next.pointerId !== event.pointerId) return;
      for (const [name, listener] of [["pointermove", move], ["pointerup", end], ["pointercancel", end]]) window.removeEventListener(name, listener);
      onEnd(next.type === "pointerup");
    };
    for (const [name, listener] of [["pointermove", move], ["pointerup", end], ["pointercancel", end]]) window.addEventListener(name, listener);
  }

  function startDrag(event, id) {
    if (event.button !== 0) return;
    event.stopPropagation();
    const item = nodes.get(id);
    const from = { x: event.clientX, y: event.clientY, px: item.x, py: item.y };
    let moved = false;
    follow(event, (next) => {
      moved = moved || Math.hypot(next.clientX - from.x, next.clientY - from.y) > 4;
      if (!moved) return;
      item.moved = true;
      item.x = from.px + (next.clientX - from.x) / camera.zoom;
      item.y = from.py + (next.clientY - from.y) / camera.zoom;
      route();
    }, (done) => {
      if (done && !moved) click(id, event);
      else if (moved) callbacks.onDrop?.(id, bandAt(down ? item.y : item.x));
    });
  }

  function bandAt(place) {
    const after = bands.filter(([, begin]) => begin <= place).length;
    return bands.length ? Math.max(0, after - 1) : null;
  }

  function click(id, event) {
    const first = selection?.node;
    if (callbacks.onPair && first !== undefined && first !== id && (event.shiftKey || graph.pairing)) callbacks.onPair(first, id);
    else callbacks.onNode?.(id, event);
  }

  const touches = new Map();
  svg.addEventListener("pointerdown", (event) => {
    touches.set(event.pointerId, [event.clientX, event.clientY]);
    if (event.button !== 0 || event.target.closest(".edge")) return;
    const from = { x: event.clientX - camera.x, y: event.clientY - camera.y };
    const began = { x: event.clientX, y: event.clientY };
    let moved = false;
    svg.classList.add("panning");
    follow(event, (next) => {
      if (touches.size > 1) { pinch(next); moved = true; return; }
      moved = moved || Math.hypot(next.clientX - began.x, next.clientY - began.y) > 4;
      camera.x = next.clientX - from.x;
      camera.y = next.clientY - from.y;
      showCamera();
    }, (done) => { svg.classList.remove("panning"); if (done && !moved) callbacks.onEmpty?.(); });
  });
  for (const name of ["pointerup", "pointercancel"]) window.addEventListener(name, (event) => touches.delete(event.pointerId));

  // Two fingers zoom around their middle.
  function pinch(event) {
    const before = [...touches.values()].slice(0, 2);
    touches.set(event.pointerId, [event.clientX, event.clientY]);
    const after = [...touches.values()].slice(0, 2);
    const apart = ([a, b]) => Math.hypot(a[0] - b[0], a[1] - b[1]) || 1;
    const box = svg.getBoundingClientRect();
    zoomBy(apart(after) / apart(before), (after[0][0] + after[1][0]) / 2 - box.left, (after[0][1] + after[1][1]) / 2 - box.top);
  }

  svg.addEventListener("wheel", (event) => {
    // The wheel scrolls the page; it zooms with Ctrl, or once the graph has the focus.
    if (!event.ctrlKey && !event.metaKey && !svg.contains(document.activeElement)) return;
    event.preventDefault();
    const box = svg.getBoundingClientRect();
    zoomBy(Math.exp(-event.deltaY * 0.0016), event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });

  // ---- keys ----
  const WAYS = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
  function nodeKey(event, id) {
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); click(id, event); return; }
    const way = WAYS[event.key];
    if (!way) return;
    event.preventDefault();
    const here = nodes.get(id);
    const width = new Map(); // of the edges to the neighbours
    for (const { edge } of edges.values()) {
      if (edge.hidden) continue;
      const other = edge.source === id ? edge.target : edge.target === id ? edge.source : null;
      if (other !== null) width.set(other, Math.max(edge.width, width.get(other) ?? 0));
    }
    // Towards the key: the neighbour with the strongest edge, else the nearest node.
    const ahead = [...nodes].filter(([other, item]) => other !== id && !item.node.hidden).map(([other, item]) => {
      const [dx, dy] = [item.x - here.x, item.y - here.y];
      const [along, aside] = [dx * way[0] + dy * way[1], Math.abs(dx * way[1]) + Math.abs(dy * way[0])];
      return { other, along, aside, cost: along + 2 * aside };
    }).filter(({ along, aside }) => along > 8 && aside < 6 * along);
    ahead.sort((a, b) => (width.get(b.other) ?? 0) - (width.get(a.other) ?? 0) || a.cost - b.cost);
    if (ahead.length) { focus(ahead[0].other); callbacks.onNode?.(ahead[0].other, event); }
  }

  function edgeKey(event, id) {
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); callbacks.onEdge?.(id, event); return; }
    const step = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const shown = [...edges].filter(([, item]) => !item.edge.hidden).sort((a, b) => b[1].edge.width - a[1].edge.width);
    const next = shown[shown.findIndex(([other]) => other === id) + step];
    if (next) { next[1].element.focus({ preventScroll: true }); callbacks.onEdge?.(next[0], event); }
  }

  function focus(id) { nodes.get(id)?.element.focus({ preventScroll: true }); }

  // ---- picture, size ----
  function picture() {
    const copy = svg.cloneNode(true);
    const styled = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight", "stroke-linejoin"];
    const [originals, copies] = [svg.querySelectorAll(".scene *"), copy.querySelectorAll(".scene *")];
    originals.forEach((original, k) => {
      const style = getComputedStyle(original);
      for (const name of styled) copies[k].setAttribute(name, style.getPropertyValue(name));
      copies[k].removeAttribute("style");
    });
    copy.querySelectorAll(".hit, .gone, .faded, .leaving").forEach((part) => part.remove());
    const box = scene.getBBox();
    const [width, height] = [Math.ceil(box.width + 32), Math.ceil(box.height + 32)];
    copy.querySelector(".scene").removeAttribute("transform");
    for (const [name, value] of Object.entries({ viewBox: `${box.x - 16} ${box.y - 16} ${width} ${height}`, width, height, "font-family": "system-ui, sans-serif" })) copy.setAttribute(name, value);
    copy.prepend(element("rect", { x: box.x - 16, y: box.y - 16, width, height, fill: getComputedStyle(svg).getPropertyValue("--card").trim() || "white" }));
    return { text: new XMLSerializer().serializeToString(copy), width, height };
  }

  // In print the drawing fills its frame, whatever the zoom on the screen.
  window.addEventListener("beforeprint", () => {
    const box = scene.getBBox();
    scene.removeAttribute("transform");
    svg.setAttribute("viewBox", `${box.x - 8} ${box.y - 8} ${box.width + 16} ${box.height + 16}`);
  });
  window.addEventListener("afterprint", () => { svg.removeAttribute("viewBox"); showCamera(); });

  let size = null;
  new ResizeObserver(() => {
    const { width, height } = space();
    if (size && Math.hypot(width - size[0], height - size[1]) < 2) return;
    const first = size === null;
    size = [width, height];
    if (!first) arrange(true, true);
  }).observe(svg);
  return graph;
}
