// Small charts: the rows of an edge, one per term of the score, by iteration, and the path of a selection.
const termName = (term) => content.terms[term] ?? term;

function traceCharts() {
  // A search over orders records only the score on the way, and the other terms at its end.
  const last = content.trace.at(-1).terms;
  const isDrawn = (term) => content.trace.filter((point) => term in point.terms).length > 1;
  const alone = Object.keys(last).filter((term) => !isDrawn(term));
  const table = make("table", { class: "facts" }, ...alone.map((term) => make("tr", {}, make("th", { scope: "row" }, termName(term)), make("td", {}, number(last[term], 5)))));
  find("trace").replaceChildren(
    make("div", { class: "charts" }, ...Object.keys(last).filter(isDrawn).map((term) => termChart(term, content.trace, termName(term)))),
    ...(alone.length ? [make("h3", {}, "Final values"), table] : []));
}

function termChart(term, trace, title) {
  const points = trace.filter((point) => Number.isFinite(point.terms[term])).map((point) => [point.iteration, point.terms[term]]);
  const [width, height] = [220, 84];
  const figure = make("figure", {}, make("figcaption", {}, title));
  if (!points.length) return figure;
  const values = points.map(([, value]) => value);
  // Values over several orders of magnitude need a logarithmic scale.
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

// The score along the path of a selection, with a ring at the choice; one line per combination of the other settings.
function selectionChart() {
  const { path } = content.selection;
  const penalty = path[0].edge_penalty === undefined ? "lambda_sparsity" : "edge_penalty";
  const points = path.filter((row) => Number.isFinite(row.score) && row[penalty] > 0);
  if (points.length < 2) return;
  const [width, height, left, right, top, bottom] = [520, 190, 62, 14, 12, 38];
  const bar = (row) => row.standard_error ?? 0;
  const range = (values) => { const [low, high] = [Math.min(...values), Math.max(...values)]; return high > low ? [low, high] : [low - 1, high + 1]; };
  const across = range(points.map((row) => Math.log(row[penalty])));
  const up = range(points.flatMap((row) => [row.score - bar(row), row.score + bar(row)]));
  const x = (value) => left + (width - left - right) * (Math.log(value) - across[0]) / (across[1] - across[0]);
  const y = (value) => height - bottom - (height - top - bottom) * (value - up[0]) / (up[1] - up[0]);
  const others = ["lambda_dag", "threshold"].filter((name) => new Set(path.map((row) => row[name])).size > 1);
  const label = (row) => others.map((name) => `${name.replace("_", " ")} ${typeof row[name] === "number" ? number(row[name]) : row[name]}`).join(", ");
  const lines = new Map();
  for (const row of points) lines.set(label(row), [...(lines.get(label(row)) ?? []), row]);
  const text = (place, words) => make("text", place, words);
  const name = penalty === "edge_penalty" ? "penalty per edge, in units of the deviance" : "weight of the l1 norm";
  const chosen = points.find((row) => row.chosen);
  const chart = make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "path-chart",
    "aria-label": `Score by ${name}` + (chosen ? `; chosen: ${number(chosen[penalty])} with ${plural(chosen.edges, "edge")} and score ${number(chosen.score, 5)}` : "") },
  make("line", { x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }),
  make("line", { x1: left, x2: left, y1: top, y2: height - bottom }),
  ...[0, 0.5, 1].map((share) => up[0] + share * (up[1] - up[0])).map((value) => text({ x: left - 6, y: y(value) + 4, "text-anchor": "end" }, number(value, 4))),
  ...[0, 0.5, 1].map((share) => Math.exp(across[0] + share * (across[1] - across[0]))).map((value) => text({ x: x(value), y: height - bottom + 15, "text-anchor": value > Math.exp(across[1]) * 0.99 ? "end" : "middle" }, number(value, 2))),
  text({ x: (left + width - right) / 2, y: height - 5, "text-anchor": "middle" }, `${name} (log scale)`));
  [...lines].forEach(([words, rows], k) => {
    const group = make("g", { opacity: (0.35 + 0.65 * (k + 1) / lines.size).toFixed(2) },
      make("polyline", { points: [...rows].sort((a, b) => a[penalty] - b[penalty]).map((row) => `${x(row[penalty]).toFixed(1)},${y(row.score).toFixed(1)}`).join(" ") }));
    for (const row of rows) {
      if (bar(row)) group.append(make("line", { class: "bar", x1: x(row[penalty]), x2: x(row[penalty]), y1: y(row.score - bar(row)), y2: y(row.score + bar(row)) }));
      group.append(make("circle", { cx: x(row[penalty]), cy: y(row.score), r: 3 },
        make("title", {}, `${words ? words + ", " : ""}${penalty === "edge_penalty" ? "penalty" : "lambda"} ${number(row[penalty])}: score ${number(row.score, 5)}, ${plural(row.edges, "edge")}`)));
    }
    chart.append(group);
  });
  if (chosen) {
    chart.append(make("line", { class: "choice", x1: x(chosen[penalty]), x2: x(chosen[penalty]), y1: top, y2: height - bottom }),
      make("circle", { class: "choice", cx: x(chosen[penalty]), cy: y(chosen.score), r: 7 }));
  }
  find("selection").replaceChildren(make("figure", {}, make("figcaption", {}, "Score"), chart,
    make("p", { class: "hint" }, (chosen ? `The ring marks the choice: ${plural(chosen.edges, "edge")}.` : "") + (others.length ? ` One line per ${others.join(" and ").replaceAll("_", " ")}; lines later in the table are darker.` : ""))));
}

// The rows of an edge: the fitted line, and below it the residuals.
const scatterLines = new Map((content.scatters?.lines ?? []).map(([source, target, slope, intercept]) => [edgeId(source, target), { slope, intercept }]));

function scatterCharts(edge) {
  const line = scatterLines.get(edge.id);
  const rowsMissing = content.kind === "model" && !content.scatters && variables === null && !edge.candidate;
  if (!line) return rowsMissing ? [make("p", { class: "hint" }, "For a scatter plot, use golem fit --scatter, or model.report(..., rows=table).")] : [];
  const [cause, effect] = [names[edge.source], names[edge.target]];
  const [values, residuals] = [content.scatters.values[edge.source], content.scatters.residuals[edge.target]];
  const fitted = values.map((value) => line.intercept + line.slope * value);
  const others = shownGraph().into[edge.target].length > 1 ? ", without what its other regressors explain" : "";
  const rows = plural(values.length, "row");
  return [
    make("h3", {}, `${effect}${others}, by ${cause} (original units)`),
    scatterChart(150, values, fitted.map((value, k) => value + residuals[k]), line,
      `Scatter plot of ${effect}${others}, by ${cause}: ${rows} and a line with slope ${number(line.slope)}`),
    make("h3", {}, `Residuals of ${effect}, by ${cause} (original units)`),
    scatterChart(104, values, residuals, { slope: 0, intercept: 0 }, `Scatter plot of the residuals of ${effect}, by ${cause}: ${rows}`),
    make("p", { class: "hint" }, `${rows}. If the model is right, the points lie evenly around both lines.`),
  ];
}

function scatterChart(height, across, up, line, label) {
  const [width, left, right, top, bottom] = [298, 46, 8, 6, 20];
  const range = (numbers) => { const [low, high] = [Math.min(...numbers), Math.max(...numbers)]; return high > low ? [low, high] : [low - 1, high + 1]; };
  const ends = range(across);
  const atEnds = ends.map((value) => line.intercept + line.slope * value);
  const reach = range([...up, ...atEnds]);
  const x = (value) => left + (width - left - right) * (value - ends[0]) / (ends[1] - ends[0]);
  const y = (value) => height - bottom - (height - top - bottom) * (value - reach[0]) / (reach[1] - reach[0]);
  const text = (place, value) => make("text", place, number(value, 3));
  return make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "scatter", "aria-label": label },
    make("line", { x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }),
    make("line", { x1: left, x2: left, y1: top, y2: height - bottom }),
    make("path", { class: "points", d: across.map((value, k) => `M${x(value).toFixed(1)} ${y(up[k]).toFixed(1)}h0`).join("") }),
    make("line", { class: "fit", x1: x(ends[0]), x2: x(ends[1]), y1: y(atEnds[0]), y2: y(atEnds[1]) }),
    ...reach.map((value) => text({ x: left - 5, y: y(value) + (value === reach[1] ? 8 : 0), "text-anchor": "end" }, value)),
    ...ends.map((value, k) => text({ x: x(value), y: height - 5, "text-anchor": k ? "end" : "start" }, value)));
}
