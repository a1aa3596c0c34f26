"""golem demo: learn a graph from the bundled Sachs data and compare it with the consensus."""

from __future__ import annotations

from pathlib import Path

from golem.cli.options import Json, OutputFolder, Quiet
from golem.cli.progress_bars import ProgressBars
from golem.cli.running import user_errors
from golem.cli.terminal import (
    out,
    print_consensus,
    print_findings,
    print_json,
    print_saved,
    print_summary,
    showing_warnings,
)
from golem.runtime.files import require_writable
from golem.runtime.lazy_modules import skip_slow_imports


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

    from golem.assessment.diagnostics.edge_scatter import model_scatters
    from golem.data.datasets import load_sachs
    from golem.data.moments import Moments
    from golem.estimator.golem import Golem
    from golem.graphs import metrics
    from golem.graphs.named_graph import NamedGraph
    from golem.output.document import Supplement, describe
    from golem.workflow.steps import check, learn, was_interrupted, write

    with user_errors():
        sachs = load_sachs()
        model = Golem()
        rows = np.log(sachs.values)
        progress = ProgressBars(bars=not (quiet or as_json), notes=not quiet)
        require_writable(output)
        with showing_warnings(quiet):
            learn(model, Moments.from_rows(rows, sachs.names), progress, rows=rows)
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
        print_consensus(scores, sachs.truth, model)
        print_findings(supplement.diagnosis)
        print_saved(output)
    if was_interrupted(model):
        raise KeyboardInterrupt
