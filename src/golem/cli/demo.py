"""golem demo: learn a graph from the bundled Sachs data and compare it with the consensus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from golem.cli.fit_summary import print_findings, print_json, print_saved, print_summary
from golem.cli.options import Json, OutputFolder, Quiet
from golem.cli.progress_bars import ProgressBars
from golem.cli.running import skip_slow_imports, user_errors
from golem.cli.terminal import out, showing_warnings
from golem.runtime.files import require_writable

if TYPE_CHECKING:
    from golem.estimator.golem import Golem
    from golem.graphs.metrics import GraphScores
    from golem.runtime.types import BoolMatrix


class _DemoProgress(ProgressBars):
    """Leaves out how to get scatter plots, which the report of the demo always has."""

    def worded(self, sentence: str) -> str:
        """Return a sentence that names options instead of parameters."""
        from golem.assessment.diagnostics.finding import IF_NO_SCATTER_PLOT

        return super().worded(sentence).replace(super().worded(IF_NO_SCATTER_PLOT), "")


def demo(output: OutputFolder = Path("demo-output"), quiet: Quiet = False, as_json: Json = False) -> None:
    """Learn a graph from the bundled Sachs protein data and compare it with the biologists' consensus.

    For example:

        golem demo
        golem demo -o out

    Writes `graph.json`, `edges.csv`, `weights.csv`, `graph.png` and `report.html` into the output folder; open
    `report.html` in a browser. The graph is learned from the logarithms of the intensities, because these have long
    right tails.
    """
    skip_slow_imports()
    import numpy as np

    from golem.assessment.diagnostics.edges import model_scatters
    from golem.data.datasets import load_sachs
    from golem.data.moments import Moments
    from golem.data.table import Table
    from golem.estimator.golem import Golem
    from golem.graphs import metrics
    from golem.graphs.named_graph import NamedGraph
    from golem.output.document import Supplement, describe
    from golem.workflow.steps import check, learn, was_interrupted, write

    with user_errors():
        sachs = load_sachs()
        model = Golem()
        rows = np.log(sachs.values)
        progress = _DemoProgress(bars=not (quiet or as_json), notes=not quiet)
        require_writable(output)
        with showing_warnings(quiet):
            learn(model, Table.single(Moments.from_rows(rows, sachs.names), lambda: rows), progress)
        supplement = Supplement(diagnosis=None if was_interrupted(model) else check(model, lambda: rows, progress))
        document = describe(model, supplement)
        consensus = NamedGraph.from_class(sachs.truth, tuple(sachs.names))
        scatters = model_scatters(model, rows)
        kept = "The best graph so far is" if was_interrupted(model) else "The results are"
        write(
            model, output, document, kept, title="Sachs protein data", other=("consensus", consensus), scatters=scatters
        )
    scores = metrics.evaluate(sachs.truth, model.adjacency_)
    if as_json:
        print_json(document, {"consensus": vars(scores)})
    elif not quiet:
        out.print("Sachs et al. (2005): 853 cells, 11 proteins and phospholipids, log intensities\n")
        print_summary(model, supplement, document)
        _print_consensus(scores, sachs.truth, model)
        print_findings(supplement.diagnosis)
        print_saved(output)
    if was_interrupted(model):
        raise KeyboardInterrupt


def _print_consensus(scores: GraphScores, truth: BoolMatrix, model: Golem) -> None:
    """Print how the graph of the demo compares with the consensus."""
    found, edges, d = model.adjacency_, int(truth.sum()), len(truth)
    adjacent = int((found & (truth | truth.T)).sum())
    decided = found & ~model.undecided_
    right, reversed_ = int((truth & decided).sum()), int((truth.T & decided).sum())
    for line in (
        f"\nOf the {scores.edges} learned edges, {adjacent} are in the consensus of biologists ({right} in the same "
        f"direction, {reversed_} reversed, {adjacent - right - reversed_} undecided) and "
        f"{scores.edges - adjacent} are not.",
        f"Of the {edges} edges of the consensus, {edges - adjacent} are missing.",
        f"With the arrows as drawn, the SHD is {scores.shd:.0f}: edges to add, remove or reverse to get the "
        f"consensus (empty graph: {edges}). Between the equivalence classes it is {scores.shd_c:.0f} (SHD-C).",
        f"Effects computed from this graph would be wrong for {scores.sid:.0f} of {d * (d - 1)} ordered pairs of "
        "variables (SID).",
    ):
        out.print(line)
