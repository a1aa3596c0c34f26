"""golem demo: learn a graph from the bundled Sachs data and compare it with the consensus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from golem.cli.fit_details import print_details
from golem.cli.options import Json, OutputFolder, Quiet, Verbose
from golem.cli.progress_bars import ProgressBars
from golem.cli.running import skip_slow_imports, user_errors
from golem.cli.terminal import out, print_json, showing_warnings
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


def demo(
    output: OutputFolder = Path("demo-output"), quiet: Quiet = False, verbose: Verbose = False, as_json: Json = False
) -> None:
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
    from golem.output.screen import Screen
    from golem.workflow.steps import check, learn, was_interrupted, write

    with user_errors():
        sachs = load_sachs()
        model = Golem()
        rows = np.log(sachs.values)
        progress = _DemoProgress(not (quiet or as_json), not quiet, verbose and not (quiet or as_json))
        require_writable(output)
        with showing_warnings(quiet, brief=not verbose):
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
        title = "Sachs protein data: 853 cells, 11 signalling molecules (log scale)"
        out.print(Screen(title, _learned(sachs.truth, model), document, supplement, output).text())
        if verbose:
            out.print()
            print_details(model, supplement, document)
            _print_consensus(scores, len(sachs.truth))
    if was_interrupted(model):
        raise KeyboardInterrupt


def _learned(truth: BoolMatrix, model: Golem) -> list[str]:
    """Return what was learned, compared with the textbook."""
    from golem.output.edge_list import edge_counts

    graph = model.graph_
    found, links = model.adjacency_, int(graph.undecided.sum())
    known = int((found & (truth | truth.T)).sum())
    right = int((truth & found & ~model.undecided_).sum())
    textbook = f"all {known}" if known == len(graph) else f"{known} of them"
    open_too = (
        ": these data cannot tell cause from effect" if links == len(graph) else f"; the textbook agrees on {right}"
    )
    return [
        f"{edge_counts(~graph.undecided)} found; the textbook network has {textbook}, and "
        f"{int(truth.sum()) - known} that were not found.",
        f"{len(graph) - links} of {len(graph)} directions are known{open_too}.",
    ]


def _print_consensus(scores: GraphScores, d: int) -> None:
    """Print the distances between the graph of the demo and the textbook."""
    out.print(
        f"\nWith one direction per link, the SHD to the textbook network is {scores.shd:.0f} (edges to add, remove or "
        f"reverse), {scores.shd_c:.0f} between the equivalence classes (SHD-C). Effects computed from this graph would "
        f"be wrong for {scores.sid:.0f} of {d * (d - 1)} ordered pairs of variables (SID)."
    )
