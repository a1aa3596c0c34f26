"""golem simulate: a random graph and data from it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from golem.cli.options import Quiet, Seed
from golem.cli.running import user_errors
from golem.cli.terminal import out
from golem.runtime.files import require_writable

EXAMPLE = "golem simulate --graph ER --degree 2 --d 20 --n 1000 --noise gaussian-ev -o sim/"


class SimulatedNoise(StrEnum):
    """Choices of --noise for simulate."""

    gaussian_ev = "gaussian-ev"
    gaussian_nv = "gaussian-nv"
    exponential = "exponential"
    gumbel = "gumbel"


def simulate(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for data.csv and truth.csv.")] = Path("."),
    graph: Annotated[str, typer.Option(help="ER or SF; `ER2` sets the degree as well.")] = "ER",
    degree: Annotated[int | None, typer.Option(help="Edges a node.  [default: 2]", min=1)] = None,
    d: Annotated[int, typer.Option("--d", "-d", help="Number of variables.", min=1)] = 20,
    n: Annotated[int, typer.Option("--n", "-n", help="Number of rows.", min=2)] = 1000,
    noise: Annotated[SimulatedNoise, typer.Option(help="Noise.")] = SimulatedNoise.gaussian_ev,
    weight_scale: Annotated[float, typer.Option(help="Multiplies the weights, drawn from +-[0.5, 2].")] = 1.0,
    noise_std: Annotated[
        tuple[float, float] | None,
        typer.Option(help="Draw the noise's standard deviations log-uniformly from LOW HIGH."),
    ] = None,
    standardize: Annotated[bool, typer.Option("--standardize", help="Scale the columns to variance 1.")] = False,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Draw a random graph and data from it, as in the paper's experiments: data.csv and truth.csv."""
    from golem.graphs.formats.csv_tables import write_edge_list
    from golem.graphs.named_graph import NamedGraph
    from golem.model.simulation import parse_graph
    from golem.model.simulation import simulate as draw
    from golem.runtime.files import write_text

    with user_errors():
        if degree is not None and graph.upper() not in ("ER", "SF"):
            raise ValueError(f"give the degree once: --graph {graph} already has one")
        named = f"{graph}{degree or 2}" if graph.upper() in ("ER", "SF") else graph
        drawn = draw(
            d, n, named, noise.value, weight_scale=weight_scale, noise_std=noise_std, standardize=standardize,
            random_state=seed,
        )  # fmt: skip
        require_writable(output)
        output.mkdir(parents=True, exist_ok=True)
        names = drawn.sem.names
        rows = "\n".join(",".join(map(repr, row)) for row in drawn.data.tolist())
        write_text(output / "data.csv", ",".join(names) + "\n" + rows + "\n")
        write_text(output / "truth.csv", write_edge_list(NamedGraph.from_weights(drawn.sem.weights, names)))
    if not quiet:
        edges, pairs = int(drawn.sem.adjacency.sum()), d * (d - 1) // 2
        law = noise.value
        if noise_std is not None:  # then equal or free variances are no more those of the word
            law = f"{drawn.sem.noise} with standard deviations of {noise_std[0]:g} to {noise_std[1]:g}"
        out.print(f"{n} rows of {d} variables, {edges} edges ({named.upper()}, {law}, seed {seed})", soft_wrap=True)
        if edges == pairs > 0:
            asked = parse_graph(named)[1] * d
            more = f"; {named.upper()} asks for {asked:g} edges, and there are {pairs} pairs" if asked > pairs else ""
            out.print(f"Note: all pairs of variables are joined{more}.", soft_wrap=True)
        out.print(f"{output / 'data.csv'}\n{output / 'truth.csv'}", soft_wrap=True)
