"""golem export: convert a graph for another tool."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from golem.cli.options import path
from golem.cli.running import user_errors
from golem.cli.terminal import out, showing_warnings
from golem.runtime.files import require_writable
from golem.runtime.interrupts import keep
from golem.runtime.messages import printable

# The keys of `golem.graphs.formats.FORMATS`.
Format = Literal[
    "graphml",
    "gml",
    "dot",
    "dowhy",
    "dagitty",
    "lavaan",
    "bnlearn",
    "pcalg",
    "pgmpy",
    "causal-learn",
    "json",
    "csv",
    "matrix",
]


def export(
    graph: Annotated[
        Path, typer.Argument(help="The folder of `golem fit`, its graph.json, or a graph in any of the formats.")
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", parser=path, metavar="FILE", help="File to write; `-` is standard output."),
    ] = Path("-"),
    to: Annotated[
        Format | None, typer.Option("--to", "--format", help="Format.  [default: from the file extension]")
    ] = None,
    cpdag: Annotated[
        bool,
        typer.Option(
            "--cpdag",
            help="Write the equivalence class, without weights. Edges whose direction it leaves open are undirected in "
            "causal-learn files; other formats list them in both directions.",
        ),
    ] = False,
    spreadsheet: Annotated[
        bool,
        typer.Option(
            "--spreadsheet",
            help="Put an apostrophe before names that a spreadsheet would take for formulas (.csv and matrix).",
        ),
    ] = False,
) -> None:
    """Convert a graph for another tool.

    For example:

        golem export out/graph.json -o graph.graphml
        golem export out/graph.json --to matrix
        golem export out/graph.json --cpdag -o graph.txt

    Writes one file. Formats:

    - `.graphml`: NetworkX, igraph, Cytoscape, Gephi
    - `.gml`: DoWhy, NetworkX, igraph
    - `.dot`, `.gv`: Graphviz, DoWhy, pydot
    - `.txt`: causal-learn, Tetrad
    - `.json`: only the graph of a `graph.json`
    - `.csv`: table of edges
    - `--to dowhy`: GML without attributes, if all edges have directions
    - `--to dagitty`: the model code of DAGitty
    - `--to lavaan`: regressions for the R package lavaan
    - `--to bnlearn`: the model string of the R package bnlearn
    - `--to pcalg`: adjacency matrix of the R package pcalg (amat.cpdag)
    - `--to pgmpy`: a `LinearGaussianBayesianNetwork` of pgmpy, as JSON
    - `--to matrix`: table of weights

    `golem score` reads all of them; `docs/tools.md` lists what each format keeps.
    """
    from golem.graphs.formats import format_of, read_graph
    from golem.output.export import export_graph, graph_text

    with user_errors(), showing_warnings(quiet=False):
        if output == Path("-"):
            if to is None:
                raise ValueError("No format given. Name one with --to, or a file with -o, e.g. graph.graphml.")
            text = graph_text(read_graph(graph), to, cpdag=cpdag, spreadsheet=spreadsheet)
            if sys.stdout.isatty():
                text = printable(text)
            elif isinstance(sys.stdout, io.TextIOWrapper):
                sys.stdout.reconfigure(encoding="utf-8")  # the same bytes as in a file
            print(text, end="")  # noqa: T201
            return
        name, content = format_of(output) if to is None else to, read_graph(graph)
        require_writable(output.parent, "file")
        output.parent.mkdir(parents=True, exist_ok=True)
        export_graph(content, output, name, cpdag=cpdag, spreadsheet=spreadsheet)
        keep(f"The graph is saved in {output}.")
        out.print(f"Saved {output}")
