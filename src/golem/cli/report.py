"""golem report: the page of a saved result."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from golem.cli.options import Quiet
from golem.cli.running import user_errors
from golem.cli.terminal import out
from golem.runtime.files import require_writable

EXAMPLE = "golem report out/graph.json --truth truth.csv -o report.html"


def report(
    graph: Annotated[Path, typer.Argument(help="graph.json, as `golem fit` writes it.")],
    truth: Annotated[
        Path | None, typer.Option(help="The true graph: an edge list, a weight matrix or graph.json.")
    ] = None,
    compare: Annotated[
        Path | None, typer.Option(help="Another graph to compare with, in the same formats.", metavar="OTHER")
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The HTML file to write.")] = Path("report.html"),
    title: Annotated[str | None, typer.Option(help="The heading.  [default: the folder of the graph]")] = None,
    quiet: Quiet = False,
) -> None:
    """Make the page of a saved graph: one HTML file to explore it in a browser, without any network.

    With `--truth` edges are marked as true, reversed, extra or missing; `--compare` tells those that are in both graphs
    from those that are in one.
    """
    from golem.graphs.formats import read_graph, read_graph_document
    from golem.output.report import report_document

    with user_errors():
        if output.is_dir():
            raise ValueError(f"{output} is a folder; name a file with -o, such as {output / 'report.html'}")
        require_writable(output.parent)
        document = read_graph_document(graph)
        true_graph = None if truth is None else read_graph(truth)
        other = None if compare is None else (str(compare), read_graph(compare))
        report_document(
            document, output, truth=true_graph, other=other, title=title or graph.resolve().parent.name or graph.stem
        )
    if not quiet:
        out.print(f"Open the report in a browser: {output}", soft_wrap=True)
