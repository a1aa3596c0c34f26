"""golem simulate: draw a random graph and data from it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from golem.cli import options
from golem.cli.running import user_errors
from golem.cli.terminal import out
from golem.runtime.files import require_writable


def simulate(
    output: options.OutputFolder = Path("golem-simulation"),
    force: Annotated[bool, options.output("--force", help="Overwrite an existing data.csv and truth.csv.")] = False,
    quiet: options.Quiet = False,
    graph: Annotated[
        str, typer.Option(help="Random graph: ER (Erdos-Renyi) or SF (scale-free); `ER4` also sets the degree.")
    ] = "ER",
    degree: Annotated[int | None, typer.Option(help="Edges per node.  [default: 2]", min=1)] = None,
    d: Annotated[int, typer.Option("--d", "-d", help="Number of variables.", min=1)] = 20,
    n: Annotated[int, typer.Option("--n", "-n", help="Number of rows.", min=2)] = 1000,
    noise: Annotated[
        Literal["gaussian-ev", "gaussian-nv", "exponential", "gumbel"],
        typer.Option(help="Noise distribution; Gaussian with equal (ev) or different (nv) variances."),
    ] = "gaussian-ev",
    weight_scale: Annotated[float, typer.Option(help="Factor for the weights, which are 0.5 to 2 in size.")] = 1.0,
    noise_std: Annotated[
        tuple[float, float] | None,
        typer.Option(help="Range LOW HIGH of the standard deviations of the noise, drawn log-uniformly."),
    ] = None,
    standardize: Annotated[bool, typer.Option("--standardize", help="Scale the columns to variance 1.")] = False,
    seed: Annotated[int, typer.Option(help="Random seed.", min=0)] = 0,
) -> None:
    """Draw a random graph and data from it, as in the paper's experiments.

    For example:

        golem simulate
        golem simulate --graph SF4 --d 50 --n 2000 --noise gumbel -o sim

    Writes `data.csv` and `truth.csv`, the list of true edges, into the output folder.
    """
    from golem.graphs.formats.csv_tables import write_edge_list
    from golem.graphs.named_graph import NamedGraph
    from golem.model.simulation import parse_graph
    from golem.model.simulation import simulate as draw
    from golem.runtime.files import write_text
    from golem.runtime.interrupts import keep
    from golem.runtime.result_folder import result_folder

    data, truth = output / "data.csv", output / "truth.csv"
    with user_errors():
        if degree is not None and graph.upper() not in ("ER", "SF"):
            raise ValueError(f"The degree is given twice: --graph {graph} and --degree {degree}. Leave one out.")
        named = f"{graph}{degree or 2}" if graph.upper() in ("ER", "SF") else graph
        drawn = draw(
            d, n, named, noise, weight_scale=weight_scale, noise_std=noise_std, standardize=standardize,
            random_state=seed,
        )  # fmt: skip
        require_writable(output)
        for file in (data, truth):
            if file.exists() and not force:
                raise ValueError(f"{str(file)!r} already exists. Choose another folder with -o, or add --force.")
        names = drawn.sem.names
        rows = "\n".join(",".join(map(repr, row)) for row in drawn.data.tolist())
        with result_folder(output, ("data.csv", "truth.csv")) as folder:
            write_text(folder / "data.csv", ",".join(names) + "\n" + rows + "\n")
            write_text(folder / "truth.csv", write_edge_list(NamedGraph.from_weights(drawn.sem.weights, names)))
        keep(f"The results are saved in {output}.")
    if not quiet:
        edges, pairs = int(drawn.sem.adjacency.sum()), d * (d - 1) // 2
        # --noise-std replaces the equal or different variances in the name of the noise.
        law = (
            noise
            if noise_std is None
            else f"{drawn.sem.noise}, standard deviations {noise_std[0]:g} to {noise_std[1]:g}"
        )
        out.print(f"{n} rows of {d} variables, {edges} edges ({named.upper()}, {law}, seed {seed})")
        asked = parse_graph(named)[1] * d
        if asked > pairs:
            out.print(
                f"Note: {named.upper()} asks for {asked:g} edges, but {d} variables have only {pairs} pairs. All pairs "
                "are connected.",
            )
        out.print(f"Saved {data} and {truth}")
