"""golem report: write the page of a saved graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from golem.cli import options
from golem.cli.running import user_errors
from golem.cli.terminal import out
from golem.runtime.files import require_writable
from golem.runtime.interrupts import keep


def report(
    graph: Annotated[Path, typer.Argument(help="The folder of `golem fit`, or its graph.json.")],
    truth: Annotated[
        Path | None, typer.Option(metavar="FILE", help="True graph: graph.json, CSV, or any format of `golem export`.")
    ] = None,
    compare: Annotated[
        Path | None, typer.Option(help="Another graph to compare with, in the same formats.", metavar="OTHER")
    ] = None,
    output: Annotated[Path, options.output_path(metavar="FILE", help="HTML file to write.")] = Path("report.html"),
    title: Annotated[
        str | None,
        options.output(metavar="TEXT", help="Title of the page.  [default: name of the folder of the graph]"),
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Write a page to explore a saved graph in a browser.

    For example:

        golem report out/graph.json
        golem report out/graph.json --truth truth.csv -o report.html

    Writes one HTML file that needs no network. `--truth` marks edges as true, reversed, extra or missing. `--compare`
    marks edges that are in both graphs or in only one. Variables missing from the other graph are treated as
    isolated there and listed on the page.
    """
    from golem.graphs.formats import read_graph, read_graph_document
    from golem.output.report import report_document

    graph = graph / "graph.json" if graph.is_dir() else graph
    with user_errors():
        if output.is_dir():
            raise ValueError(f"{str(output)!r} is a folder. Name a file with -o, e.g. {str(output / 'report.html')!r}.")
        require_writable(output.parent, "file")
        document = read_graph_document(graph)
        true_graph = None if truth is None else read_graph(truth)
        other = None if compare is None else (str(compare), read_graph(compare))
        report_document(
            document, output, truth=true_graph, other=other, title=title or graph.resolve().parent.name or graph.stem
        )
        keep(f"The report is saved in {output}.")
    if not quiet:
        out.print(f"Open the report in a browser: {output}")
