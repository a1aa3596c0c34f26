// Convergence: one small chart a term of the objective, by iteration.
const TERM_NAMES = { score: "score", likelihood: "likelihood", sparsity: "sparsity", dag: "DAG penalty", l1: "l1 norm", h: "h (cycles)" };

function traceCharts() {
  const trace = content.trace;
  const terms = [...new Set(trace.flatMap((point) => Object.keys(point.terms)))];
  if (trace.length < 2) {
    find("trace").replaceChildren(
      make("p", { class: "prose" }, "The search took no steps to plot: it ended at once with these terms."),
      make("table", { class: "facts" }, ...terms.map((term) => make("tr", {}, make("th", { scope: "row" }, TERM_NAMES[term] ?? term), make("td", {}, number(trace[0].terms[term], 5))))));
    return;
  }
  find("trace").replaceChildren(make("div", { class: "charts" }, ...terms.map((term) => termChart(term, trace))));
}

function termChart(term, trace) {
  const points = trace.filter((point) => Number.isFinite(point.terms[term])).map((point) => [point.iteration, point.terms[term]]);
  const [width, height] = [220, 84];
  const figure = make("figure", {}, make("figcaption", {}, TERM_NAMES[term] ?? term));
  if (!points.length) return figure;
  const values = points.map(([, value]) => value);
  // Orders of magnitude are read on a logarithmic scale.
  const logarithmic = Math.min(...values) > 0 && Math.max(...values) / Math.min(...values) > 100;
  const scaled = (value) => (logarithmic ? Math.log10(value) : value);
  const [low, high] = [Math.min(...values.map(scaled)), Math.max(...values.map(scaled))];
  const last = points.at(-1)[0] || 1;
  const place = ([iteration, value]) => `${(4 + (width - 8) * (iteration / last)).toFixed(1)},${(height - 6 - (height - 12) * (high > low ? (scaled(value) - low) / (high - low) : 0.5)).toFixed(1)}`;
  const chart = make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "chart",
    "aria-label": `${TERM_NAMES[term] ?? term}: from ${number(values[0], 4)} to ${number(values.at(-1), 4)} in ${last} iterations` },
  make("line", { x1: 4, x2: width - 4, y1: height - 2, y2: height - 2 }), make("polyline", { points: points.map(place).join(" ") }));
  figure.append(chart, make("p", { class: "hint" }, `${number(values[0], 4)} → ${number(values.at(-1), 4)}${logarithmic ? ", log scale" : ""}`));
  return figure;
}
