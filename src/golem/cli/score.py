"""golem score: compare an estimated graph with the truth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from golem.cli.options import Json
from golem.cli.running import user_errors
from golem.cli.terminal import out

if TYPE_CHECKING:
    from golem.graphs.named_graph import NamedGraph
    from golem.runtime.types import BoolMatrix


def score(
    truth: Annotated[Path, typer.Argument(help="True graph: graph.json, CSV, or any format of `golem export`.")],
    estimate: Annotated[Path, typer.Argument(help="Estimated graph, in the same formats.")],
    cpdag: Annotated[
        bool,
        typer.Option(
            "--cpdag",
            help="Treat undecided edges and edges given in both directions as undirected, and as correct if the truth "
            "has either direction. Otherwise undecided edges count as drawn.",
        ),
    ] = False,
    normalize: Annotated[
        bool, typer.Option("--normalize", help="Divide SHD, SHD-C and SID by the number of variables.")
    ] = False,
    nodes: Annotated[
        int | None, typer.Option(help="Number of variables, if edge lists leave out isolated ones.", min=1)
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare an estimated graph with the true graph.

    For example:

        golem score sim/truth.csv out/edges.csv
        golem score sim/truth.csv out/graph.json --normalize --json

    A variable that only one of the graphs has is isolated in the other: its edges are missing or extra.

    Prints:

    - true, reversed, extra and missing edges
    - SHD: edges to add, remove or reverse; SHD-C: the same between the equivalence classes
    - SID: pairs of variables whose effect would be computed wrongly
    - TPR: share of the true edges that were found; FDR: share of the found edges that are wrong
    - precision (1 - FDR) and F1, the harmonic mean of precision and TPR
    """
    from golem.graphs import metrics
    from golem.graphs.formats import read_graph

    with user_errors():
        first, second = read_graph(truth), read_graph(estimate)
        names = _all_names(first, second, nodes)
        T = metrics.as_truth(first.aligned(names), names)
        opened = metrics.as_estimate(second.partially_directed().aligned(names), names)
        E = opened if cpdag else metrics.as_estimate(second.aligned(names), names)
        result = metrics.evaluate(T, E, cpdag=cpdag, normalize=normalize)
        counts = metrics.count_edges(T, E, cpdag=cpdag)
    only = {
        "truth": [name for name in first.names if name not in second.names],
        "estimate": [name for name in second.names if name not in first.names],
    }
    if nodes is None and not as_json:
        _print_unshared(only)
    values = {name: None if value != value else value for name, value in vars(result).items()}
    if as_json:
        unshared = {f"only_in_{graph}": names for graph, names in only.items()}
        print(json.dumps({"nodes": len(names)} | values | vars(counts) | unshared))  # noqa: T201
        return
    undecided = counts.reversed - metrics.count_edges(T, opened, cpdag=True).reversed
    note = f" ({undecided} of them undecided)" if undecided else ""
    out.print(f"{counts.true} true, {counts.reversed} reversed{note}, {counts.extra} extra, {counts.missing} missing")
    reasons = _reasons(E, names, cpdag)
    for name, value in values.items():
        shown = f"undefined: {reasons[name]}" if value is None else f"{value:.4g}"
        out.print(f"{name.replace('_', '-').upper():<10} {shown}")


def _all_names(first: NamedGraph, second: NamedGraph, nodes: int | None) -> tuple[str, ...]:
    """Return the variables of both graphs, and unnamed ones up to the number of nodes."""
    from golem.runtime.messages import quoted

    names = tuple(dict.fromkeys(first.names + second.names))
    if not names and nodes is None:
        raise ValueError(
            "Neither graph names a variable. Add --nodes, or use graph.json, which lists isolated variables."
        )
    if first.names and second.names and not set(first.names) & set(second.names):
        raise ValueError(f"The graphs share no variable: {quoted(first.names)} and {quoted(second.names)}.")
    if nodes is not None and nodes < len(names):
        raise ValueError(f"--nodes is {nodes}, but the graphs name {len(names)} variables.")
    # Isolated variables count only in normalized metrics, so any unused names will do.
    return names + tuple(f"\0{k}" for k in range((nodes or 0) - len(names)))


def _print_unshared(only: dict[str, list[str]]) -> None:
    """Name the variables that only one graph has."""
    from golem.cli.terminal import err
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
        "sid": "SID is not defined for an equivalence class" if cpdag else cyclic,
        "tpr": "the truth has no edges",
        "fdr": none,
        "precision": none,
        "f1": "neither graph has an edge",
    }
