"""golem score: compare an estimated graph with the truth, or a graph with a table."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from golem.cli import options
from golem.cli.options import TableOptions, reads_table
from golem.cli.progress_bars import ProgressBars
from golem.cli.running import user_errors
from golem.cli.terminal import err, out, showing_warnings

if TYPE_CHECKING:
    from golem.assessment.consistency import Consistency
    from golem.graphs.graph_document import GraphDocument
    from golem.graphs.named_graph import NamedGraph
    from golem.runtime.types import BoolMatrix

_MOST_VIOLATIONS = 10
# Metrics that are abbreviations.
_TITLES = {"shd": "SHD", "shd_c": "SHD-C", "sid": "SID", "tpr": "TPR", "fdr": "FDR", "f1": "F1"}
# Options that need a second graph, and options that need a table.
_WITH_GRAPH = ("--cpdag", "--normalize", "--nodes")
_WITH_DATA = ("--plot", "--missing", "--na", "--columns", "--drop", "--header", "--covariance", "--rows")


@reads_table("categorical", "numeric", "drop_dependent")
def score(
    context: typer.Context,
    graph: Annotated[
        Path,
        typer.Argument(help="True graph: graph.json, CSV, or any format of `golem export`."),
    ],
    estimate: Annotated[
        Path | None,
        typer.Argument(help="Estimated graph, in the same formats. Not needed with --data."),
    ] = None,
    cpdag: Annotated[
        bool,
        typer.Option(
            "--cpdag",
            help="Count links (and edges listed in both directions) as correct if the true graph has either "
            "direction. Without this option, SHD and the like use the direction of the learned weights.",
        ),
    ] = False,
    normalize: Annotated[
        bool, typer.Option("--normalize", help="Divide SHD, SHD-C and SID by the number of variables.")
    ] = False,
    nodes: Annotated[
        int | None, typer.Option(help="Number of variables, if edge lists leave out isolated ones.", min=1)
    ] = None,
    as_json: options.Json = False,
    data: Annotated[
        list[str],
        options.data(
            metavar="TABLE",
            help="CSV, Parquet, .npy or covariance file to check the graph against, instead of a second graph; may be "
            "repeated.",
        ),
    ] = [],  # noqa: B006
    plot: Annotated[
        Path | None, options.data(metavar="FILE", help="Draw the p-values of the check, e.g. p.png.")
    ] = None,
    table: TableOptions = TableOptions(),  # noqa: B008
) -> None:
    """Compare an estimated graph with the true graph, or check a graph against a table.

    For example:

        golem score sim/truth.csv out/edges.csv
        golem score sim/truth.csv out/graph.json --normalize --json
        golem score sim/truth.csv --data sim/data.csv --plot p-values.png

    With two graphs, prints:

    - true, reversed, extra and missing edges; a variable missing from one graph is treated as isolated there
    - SHD: edges to add, remove or reverse; SHD-C: the same between the equivalence classes
    - SID: ordered pairs of variables whose causal effect would be wrong if computed from the estimated graph
    - TPR: share of the true edges that were found; FDR: share of the found edges that are wrong
    - precision (1 - FDR) and F1, the harmonic mean of precision and TPR

    With `--data`, tests the partial correlations that should be zero according to the graph, and prints a global
    p-value and the worst violations by name. Use rows from which the graph was not learned.
    """
    with user_errors():
        given = options.given_options(context, ("graph", "estimate", "data", "as_json"))
        refused = [name for name in given if name in (_WITH_GRAPH if data else _WITH_DATA)]
        if (estimate is None) != bool(data):
            raise ValueError("Give a second graph to compare with, or a table with --data, but not both.")
        if refused:
            raise ValueError(f"{', '.join(refused)} cannot be used {'with' if data else 'without'} --data.")
        if data:
            _check(graph, data, table, plot, as_json)
        elif estimate is not None:
            _compare(graph, estimate, cpdag, normalize, nodes, as_json)


def _check(graph: Path, data: list[str], table: TableOptions, plot: Path | None, as_json: bool) -> None:
    """Check a graph against a table, and print the result."""
    from golem.assessment.consistency import check
    from golem.data.files.standard_input import spooled
    from golem.data.source import open_source
    from golem.graphs.graph_document import GraphDocument
    from golem.output.figures import plot_check, require_picture, save_figure
    from golem.runtime.files import require_writable
    from golem.runtime.messages import quoted

    known = _graph_or_document(graph)
    if plot is not None:
        require_picture(plot)
        require_writable(plot.parent, "file")
    with spooled(data) as paths, showing_warnings(quiet=False):
        source = open_source(paths, table.reading)
        columns = source.names
        if set(known.names) < set(columns):  # others need not be numeric
            reading = dataclasses.replace(table.reading, columns=[name for name in columns if name in known.names])
            source = open_source(paths, reading)
        moments = source.read(table.missing, ProgressBars(not as_json)).moments()
    result: Consistency = check(known, moments)
    if plot is not None:
        save_figure(lambda figure: plot_check(result, figure), plot)
    if as_json:
        summary = {"p_value": result.p_value if len(result.p_values) else None, "tests": len(result.p_values)}
        flags = {"exact": result.exact, "descriptive": result.descriptive, "hints": result.hints}
        rest = {"violations": result.records(result.violations), "verdict": result.verdict}
        print(json.dumps({"n": result.n} | summary | flags | rest))  # noqa: T201
        return
    if unused := [name for name in columns if name not in set(result.names)]:
        remedy = " To test them as isolated variables, use a format that lists them, such as graph.json."
        err.print(
            f"Note: The graph does not name the columns {quoted(unused)}; they were left out."
            f"{'' if isinstance(known, GraphDocument) else remedy}",
        )
    _print_check(result)


def _graph_or_document(path: Path) -> GraphDocument | NamedGraph:
    """Read a graph.json with the hash of its data, or any other graph."""
    from golem.graphs.formats import read_graph, read_graph_document

    try:
        return read_graph_document(path)
    except ValueError:
        return read_graph(path)


def _compare(truth: Path, estimate: Path, cpdag: bool, normalize: bool, nodes: int | None, as_json: bool) -> None:
    """Compare two graphs, and print the metrics."""
    from golem.graphs import metrics
    from golem.graphs.dag import is_dag
    from golem.graphs.formats import read_graph
    from golem.runtime.messages import counted

    first, second = read_graph(truth), read_graph(estimate)
    names = _all_names(first, second, nodes)
    T = metrics.as_truth(first.aligned(names), names)
    drawn = metrics.as_estimate(second.aligned(names), names)
    opened = metrics.as_estimate(second.partially_directed().aligned(names), names)
    E = opened if cpdag else drawn
    result = metrics.evaluate(T, E, cpdag=cpdag, normalize=normalize)
    if cpdag and is_dag(drawn):
        # Variances, experiments and knowledge may direct edges that the equivalence class leaves open.
        result = dataclasses.replace(result, shd_c=metrics.shd_c(T, drawn, normalize=normalize))
    counts = metrics.count_edges(T, E, cpdag=cpdag)
    only = {
        "truth": [name for name in first.names if name not in second.names],
        "estimate": [name for name in second.names if name not in first.names],
    }
    if nodes is None and not as_json:
        _print_unshared(only)
    if first.links and not (cpdag or as_json):
        count = counted(len(first.links), "link")
        err.print(
            f"Note: The first graph has {count} of unknown direction. To compare two learned graphs, use golem diff."
        )
    values = {name: None if value != value else value for name, value in vars(result).items()}
    if as_json:
        unshared = {f"only_in_{graph}": names for graph, names in only.items()}
        print(json.dumps({"nodes": len(names)} | values | vars(counts) | unshared))  # noqa: T201
        return
    links = drawn & opened.T & ~cpdag  # which are neither right nor reversed
    right, turned, found = ((T & ~links & drawn).sum(), (T.T & ~links & drawn).sum(), (links & (T | T.T)).sum())
    right, turned = (counts.true, counts.reversed) if cpdag else (right, turned)
    open_too = f", {counted(int(found), 'link')} (direction open)" if found else ""
    out.print(f"{right} true, {turned} reversed{open_too}, {counts.extra} extra, {counts.missing} missing")
    reasons = _reasons(E, names, cpdag)
    for name, value in values.items():
        shown = f"undefined ({reasons[name]})" if value is None else f"{value:.4g}"
        out.print(f"{_TITLES.get(name, name):<10} {shown}")


def _all_names(first: NamedGraph, second: NamedGraph, nodes: int | None) -> tuple[str, ...]:
    """Return the variables of both graphs, and unnamed ones up to the number of nodes."""
    from golem.graphs.named_graph import require_room
    from golem.runtime.messages import quoted

    names = tuple(dict.fromkeys(first.names + second.names))
    if not names and nodes is None:
        raise ValueError(
            "Neither graph names a variable. Add --nodes, or use graph.json, which lists isolated variables."
        )
    if first.names and second.names and not set(first.names) & set(second.names):
        raise ValueError(
            f"The graphs have no variable in common. The first graph has {quoted(first.names)}; the second has "
            f"{quoted(second.names)}. Check that both files are of the same table and spell its columns alike."
        )
    if nodes is not None and nodes < len(names):
        raise ValueError(f"--nodes is {nodes}, but the graphs name {len(names)} variables.")
    require_room(nodes or len(names))
    # Isolated variables count only in normalized metrics, so any unused names will do.
    return names + tuple(f"\0{k}" for k in range((nodes or 0) - len(names)))


def _print_unshared(only: dict[str, list[str]]) -> None:
    """Name the variables that only one graph has."""
    from golem.runtime.messages import quoted

    if only["truth"]:
        err.print(
            f"Note: The estimate does not name {quoted(only['truth'])}; counted as isolated there, so their edges are "
            "missing. If the estimate is an edge list of the same variables, add --nodes to confirm it. If not, the "
            "graphs are of different tables.",
        )
    if only["estimate"]:
        err.print(
            f"Note: The truth does not name {quoted(only['estimate'])}; counted as isolated there, so their edges are "
            "extra.",
        )


def _reasons(estimate: BoolMatrix, names: tuple[str, ...], cpdag: bool) -> dict[str, str]:
    """Return, for every metric that can be undefined, the reason."""
    from golem.graphs.dag import cycle_text, find_cycle

    cycle = find_cycle(estimate)
    cyclic = f"the estimate has a cycle, {cycle_text(cycle, names)}" if cycle else ""
    if len(cycle) == 2:
        cyclic += " (--cpdag treats edges in both directions as undirected)"
    none = "the estimate has no edges"
    return {
        "shd_c": cyclic,
        "sid": "it needs a DAG, not an equivalence class" if cpdag else cyclic,
        "tpr": "the truth has no edges",
        "fdr": none,
        "precision": none,
        "f1": "neither graph has an edge",
    }


def _print_check(result: Consistency) -> None:
    """Print the verdict of a check, the worst violations, and what they have in common."""
    from golem.assessment.consistency import statement

    out.print(result.verdict)
    for record in result.records(min(result.violations, _MOST_VIOLATIONS)):
        out.print(f"  {statement(record)}")
    if result.violations > _MOST_VIOLATIONS:
        out.print(f"  ... and {result.violations - _MOST_VIOLATIONS} more with --json")
    for hint in result.hints:
        out.print(hint)
