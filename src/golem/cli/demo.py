"""golem demo: the bundled Sachs data, learned and compared with what biologists know."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from golem.cli.options import Json, Quiet
from golem.cli.progress_bars import ProgressBars
from golem.cli.running import INTERRUPTED_EXIT_CODE, user_errors
from golem.cli.terminal import out, print_consensus, print_json, print_saved, print_summary, telling_warnings
from golem.runtime.files import require_writable

EXAMPLE = "golem demo -o demo-output"


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the results.")] = Path("demo-output"),
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Learn a graph from the bundled Sachs protein data and compare it with the consensus of biologists.

    The intensities are positive with heavy right tails, so their logarithms are used; a weight is then an
    elasticity.
    """
    import numpy as np

    from golem.data.datasets import load_sachs
    from golem.data.moments import Moments
    from golem.estimator.golem import Golem
    from golem.graphs import metrics
    from golem.graphs.named_graph import NamedGraph
    from golem.output.document import Supplement, describe
    from golem.workflow import check, learn, was_interrupted, write

    with user_errors():
        sachs = load_sachs()
        model = Golem()
        rows = np.log(sachs.values)
        moments = Moments.from_rows(rows, sachs.names)
        progress = ProgressBars(bars=not (quiet or as_json), notes=not quiet)
        require_writable(output)
        with telling_warnings(quiet):
            learn(model, moments, progress)
        supplement = Supplement(diagnosis=check(model, lambda: rows, progress))
        document = describe(model, supplement)
        consensus = NamedGraph.from_class(sachs.truth, tuple(sachs.names))
        write(model, output, document, title="Sachs protein data", other=("consensus", consensus))
    scores = metrics.evaluate(sachs.truth, model.adjacency_)
    if as_json:
        print_json(document, {"consensus": vars(scores)})
    elif not quiet:
        out.print("Sachs et al. (2005): 853 cells, 11 proteins and phospholipids, log intensities\n")
        print_summary(model, supplement, document)
        print_consensus(scores, sachs.truth, model)
        print_saved(output)
    if was_interrupted(model):
        raise typer.Exit(INTERRUPTED_EXIT_CODE)
