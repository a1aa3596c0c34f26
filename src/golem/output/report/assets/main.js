// Set up and show everything, and show it again whenever the state changes.
setUpSliders();
setUpSelects();
setUpSearch();
if (content.large) state.centre = mostLinked();
if (content.kind === "model") {
  edgeTable();
  if (find("compared")) comparedTable();
  if (find("trace")) traceCharts();
  if (find("selection")) selectionChart();
} else {
  methodsTable();
  distancesTable();
  agreementTable();
}
sizeMatrix();
setUpTheme();
drawGraph();
showLegend();
showSliders();
showDetails();

whenChanged((before) => {
  const redraw = ["shown", "reference", "steps", "centre"].some((key) => before[key] !== state[key]);
  if (redraw) drawGraph();
  else paintGraph();
  if (before.shown !== state.shown || before.reference !== state.reference) showLegend();
  find("view").value = String(state.steps);
  showSelects();
  showSliders();
  if (redraw || before.chosen !== state.chosen) showDetails();
  paintMatrix();
});
showSelects();
find("view").value = String(state.steps);

let width = window.innerWidth;
window.addEventListener("resize", () => {
  if (window.innerWidth === width) return;
  width = window.innerWidth;
  sizeMatrix();
  paintMatrix();
  fit();
});
document.documentElement.dataset.ready = "yes";
