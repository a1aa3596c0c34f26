// Set up and show everything, and show it again whenever the state changes.
setUpSliders();
setUpSelects();
setUpSearch();
if (state.steps > 0) state.centre = mostLinked();
if (content.kind === "model") {
  if (find("trace")) traceCharts();
  if (find("selection")) selectionChart();
} else {
  methodsTable();
  distancesTable();
  if (find("agreement")) agreementTable();
}
sizeMatrix();
setUpTheme();
drawGraph();
if (state.steps === 0 && !canvas.legible) { // on a phone a graph of 40 variables would be a picture of dots
  Object.assign(state, { steps: 1, centre: mostLinked() });
  drawGraph();
}
showLegend();
showSliders();
showDetails();
showTables();
setUpKnowledge();
setUpFindings();

whenChanged((before) => {
  const redraw = ["shown", "reference", "steps", "centre", "group"].some((key) => before[key] !== state[key]);
  const filter = ["threshold", "measure", "frequency", "hidden"].some((key) => before[key] !== state[key]);
  if (redraw) drawGraph();
  else if (filter || before.isolated !== state.isolated) paintGraph();
  else showSelection();
  if (redraw || before.hidden !== state.hidden) showLegend();
  find("view").value = String(state.steps);
  showSelects();
  showSliders();
  if (redraw || before.chosen !== state.chosen) showDetails();
  if (redraw || filter) showListsSoon();
  paintMatrix();
});

// Lists of many edges follow once a slider rests, so that it keeps up with the hand.
const MANY_EDGES = 500;
let waiting = null;
function showListsSoon() {
  const show = () => { showDetails(); showTables(); };
  clearTimeout(waiting);
  if (graphs[0].edges.length > MANY_EDGES) waiting = setTimeout(show, 150);
  else show();
}
showSelects();
find("view").value = String(state.steps);

let width = window.innerWidth;
window.addEventListener("resize", () => {
  if (window.innerWidth === width) return;
  width = window.innerWidth;
  sizeMatrix();
  paintMatrix();
});
document.documentElement.dataset.ready = "yes";
