"""golem score: an estimated graph against the truth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from golem.cli.options import Json
from golem.cli.running import user_errors
from golem.cli.terminal import out

if TYPE_CHECKING:
    from golem.runtime.types import BoolMatrix

EXAMPLE = "golem score sim/truth.csv out/edges.csv"


def score(
    truth: Annotated[Path, typer.Argument(help="The true graph: graph.json, a CSV, or any format of `golem export`.")],
    estimate: Annotated[Path, typer.Argument(help="The estimated graph, in the same formats.")],
    cpdag: Annotated[
        bool,
        typer.Option(
            "--cpdag",
            help="Edges given in both directions are undirected, and right where the truth has one.",
        ),
    ] = False,
    normalize: Annotated[bool, typer.Option("--normalize", help="Divide SHD, SHD-C and SID by the nodes.")] = False,
    nodes: Annotated[
        int | None, typer.Option(help="Number of variables, where edge lists leave out isolated ones.", min=1)
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare an estimated graph with the truth: SHD, SHD-C, SID, TPR, FDR, precision, F1."""
    from golem.cli.terminal import err
    from golem.graphs import metrics
    from golem.graphs.formats import read_graph
    from golem.runtime.messages import quoted

    with user_errors():
        first, second = read_graph(truth), read_graph(estimate)
        names = tuple(dict.fromkeys(first.names + second.names))
        if not names and nodes is None:
            raise ValueError("neither graph names a variable; give --nodes, or graph.json, which lists isolated ones")
        if first.names and second.names and not set(first.names) & set(second.names):
            raise ValueError(f"the two graphs share no variable: {quoted(first.names)} and {quoted(second.names)}")
        if nodes is not None:
            if nodes < len(names):
                raise ValueError(f"--nodes {nodes}, but the two graphs name {len(names)} variables")
            # Isolated variables count in normalized metrics alone, whatever their names.
            names += tuple(f"\0{k}" for k in range(nodes - len(names)))
        T, E = metrics.as_truth(first.aligned(names), names), metrics.as_estimate(second.aligned(names), names)
        result = metrics.evaluate(T, E, cpdag=cpdag, normalize=normalize)
    unknown = [name for name in first.names if name not in second.names]
    if unknown and nodes is None and not as_json:
        err.print(
            f"Note: the estimate does not name {quoted(unknown)}, which count as isolated there. That is right where "
            "it is an edge list of the same variables, and --nodes says so; otherwise the graphs are not of one table.",
            soft_wrap=True,
        )
    values = {name: None if value != value else value for name, value in vars(result).items()}
    if as_json:
        print(json.dumps({"nodes": len(names)} | values))  # noqa: T201
        return
    reasons = _reasons(E, names, cpdag)
    for name, value in values.items():
        shown = f"undefined: {reasons[name]}" if value is None else f"{value:.4g}"
        out.print(f"{name.replace('_', '-').upper():<10} {shown}", soft_wrap=True)


def _reasons(estimate: BoolMatrix, names: tuple[str, ...], cpdag: bool) -> dict[str, str]:
    """Say of every metric that may be undefined why it is."""
    from golem.graphs.dag import cycle_text, find_cycle

    cycle = find_cycle(estimate)
    cyclic = f"the estimate has a cycle, {cycle_text(cycle, names)}" if cycle else ""
    if len(cycle) == 2:
        cyclic += " (with --cpdag edges in both directions are undirected)"
    none = "the estimate has no edges"
    return {
        "shd_c": cyclic,
        "sid": "it is not for an equivalence class" if cpdag else cyclic,
        "tpr": "the truth has no edges",
        "fdr": none,
        "precision": none,
        "f1": "neither graph has an edge",
    }
