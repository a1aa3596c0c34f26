"""golem export: a graph for another tool."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from golem.cli.running import user_errors
from golem.cli.terminal import out

EXAMPLE = "golem export out/graph.json -o graph.graphml"
STANDARD_OUTPUT = Path("-")


class Format(StrEnum):
    """Choices of --to, those of `golem.graphs.formats.FORMATS`."""

    graphml = "graphml"
    gml = "gml"
    dot = "dot"
    pgmpy = "pgmpy"
    causal_learn = "causal-learn"
    json = "json"
    csv = "csv"
    matrix = "matrix"


def export(
    graph: Annotated[Path, typer.Argument(help="A graph.json of `golem fit`, or a graph in any of the formats.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file; `-` is the standard output.")] = (
        STANDARD_OUTPUT
    ),
    to: Annotated[Format | None, typer.Option(help="The format.  [default: by the ending of the file]")] = None,
    cpdag: Annotated[
        bool,
        typer.Option(
            "--cpdag",
            help="Write the Markov equivalence class, without weights: edges whose direction it leaves open are "
            "undirected (causal-learn) or stand there in both directions.",
        ),
    ] = False,
) -> None:
    """Write a graph for another tool.

    `.graphml` NetworkX, igraph, Cytoscape, Gephi; `.gml` DoWhy, NetworkX, igraph; `.dot` or `.gv` Graphviz, DoWhy,
    pydot; `.txt` causal-learn, Tetrad; `.json` the graph of a graph.json alone; `.csv` a table of edges;
    `--to pgmpy` a LinearGaussianBayesianNetwork of pgmpy; `--to matrix` a table of weights. docs/export.md tells what
    each of them keeps, and `golem score` reads them all.
    """
    from golem.graphs.formats import format_of, read_graph
    from golem.output.export import export_graph, graph_text

    with user_errors():
        if output == STANDARD_OUTPUT:
            if to is None:
                raise ValueError("name a format with --to, or a file with -o whose ending stands for one")
            print(graph_text(read_graph(graph), to.value, cpdag=cpdag), end="")  # noqa: T201
            return
        name = format_of(output) if to is None else to.value
        export_graph(read_graph(graph), output, name, cpdag=cpdag)
        out.print(f"Saved {output}", soft_wrap=True)
