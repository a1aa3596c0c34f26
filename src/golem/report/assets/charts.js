// Convergence: one small chart a term of the objective, by iteration.
const TERM_NAMES = { score: "score", likelihood: "likelihood", sparsity: "sparsity", dag: "DAG penalty", l1: "l1 norm", h: "h (cycles)" };

function traceCharts() {
  // A search over orders tells its own score on the way, and the terms of the objective at its end.
  const most = Math.max(...content.trace.map((point) => Object.keys(point.terms).length));
  const whole = content.trace.filter((point) => Object.keys(point.terms).length === most);
  const search = content.trace.filter((point) => Object.keys(point.terms).length < most);
  const terms = Object.keys(whole[0].terms);
  const charts = [];
  if (search.length > 1) charts.push(termChart("score", search, "score of the search"));
  if (whole.length > 1) charts.push(...terms.map((term) => termChart(term, whole, TERM_NAMES[term] ?? term)));
  const last = whole.at(-1).terms;
  const table = make("table", { class: "facts" }, ...terms.map((term) => make("tr", {}, make("th", { scope: "row" }, TERM_NAMES[term] ?? term), make("td", {}, number(last[term], 5)))));
  find("trace").replaceChildren(
    charts.length ? make("div", { class: "charts" }, ...charts) : make("p", { class: "hint" }, "The search took no steps to plot."),
    ...(whole.length > 1 ? [] : [make("h3", {}, "At the end"), table]));
}

function termChart(term, trace, title) {
  const points = trace.filter((point) => Number.isFinite(point.terms[term])).map((point) => [point.iteration, point.terms[term]]);
  const [width, height] = [220, 84];
  const figure = make("figure", {}, make("figcaption", {}, title));
  if (!points.length) return figure;
  const values = points.map(([, value]) => value);
  // Orders of magnitude are read on a logarithmic scale.
  const logarithmic = Math.min(...values) > 0 && Math.max(...values) / Math.min(...values) > 100;
  const scaled = (value) => (logarithmic ? Math.log10(value) : value);
  const [low, high] = [Math.min(...values.map(scaled)), Math.max(...values.map(scaled))];
  const last = points.at(-1)[0] || 1;
  const place = ([iteration, value]) => `${(4 + (width - 8) * (iteration / last)).toFixed(1)},${(height - 6 - (height - 12) * (high > low ? (scaled(value) - low) / (high - low) : 0.5)).toFixed(1)}`;
  const chart = make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "chart",
    "aria-label": `${title}: from ${number(values[0], 4)} to ${number(values.at(-1), 4)} in ${last} iterations` },
  make("line", { x1: 4, x2: width - 4, y1: height - 2, y2: height - 2 }), make("polyline", { points: points.map(place).join(" ") }));
  figure.append(chart, make("p", { class: "hint" }, `${number(values[0], 4)} → ${number(values.at(-1), 4)}${logarithmic ? ", log scale" : ""}`));
  return figure;
}
