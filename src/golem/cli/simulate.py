"""golem simulate: draw a random graph and data from it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from golem.cli import options
from golem.cli.running import user_errors
from golem.cli.terminal import out
from golem.runtime.files import require_writable

if TYPE_CHECKING:
    from golem.graphs.interventional import Intervention
    from golem.model.category_simulation import SimulatedTable
    from golem.model.series_simulation import SimulatedSeries
    from golem.model.simulation import Simulation

# Options that go with --lags and with --categories.
_WITH_LAGS = ("output", "force", "quiet", "graph", "degree", "d", "n", "noise", "lags", "units", "seed")
_WITH_CATEGORIES = ("output", "force", "quiet", "graph", "degree", "d", "n", "categories", "levels", "seed")


def simulate(
    context: typer.Context,
    output: options.OutputFolder = Path("golem-simulation"),
    force: Annotated[bool, options.output("--force", help="Overwrite existing files.")] = False,
    quiet: options.Quiet = False,
    graph: Annotated[
        str,
        typer.Option(
            "--graph",
            metavar="GRAPH",
            help="Random graph: ER (Erdos-Renyi) or SF (scale-free); `ER4` also sets the degree.",
        ),
    ] = "ER",
    degree: Annotated[int | None, typer.Option(help="Edges per node.  [default: 2]", min=1)] = None,
    d: Annotated[int, typer.Option("--d", "-d", help="Number of variables.", min=1)] = 20,
    n: Annotated[int, typer.Option("--n", "-n", help="Number of rows.", min=2)] = 1000,
    noise: Annotated[
        Literal["gaussian-ev", "gaussian-nv", "exponential", "gumbel"],
        typer.Option(help="Noise distribution; Gaussian with equal (ev) or different (nv) variances."),
    ] = "gaussian-ev",
    weight_scale: Annotated[
        float, typer.Option(metavar="NUMBER", help="Factor for the weights, which are 0.5 to 2 in size.")
    ] = 1.0,
    noise_std: Annotated[
        tuple[float, float] | None,
        typer.Option(
            metavar="LOW HIGH", help="Lowest and highest standard deviation of the noise, drawn log-uniformly."
        ),
    ] = None,
    standardize: Annotated[bool, typer.Option("--standardize", help="Scale the columns to variance 1.")] = False,
    interventions: Annotated[
        Literal["hard", "soft"] | None,
        typer.Option(
            help="Spread the rows over an observational environment and environments with one target each. hard: the "
            "values of the target are random and do not depend on its parents. soft: its weights and its noise "
            "variance double."
        ),
    ] = None,
    target_count: Annotated[
        int | None,
        typer.Option(help="Number of variables to intervene on (--interventions).  [default: all]", min=0),
    ] = None,
    categories: Annotated[
        Literal["threshold", "logistic", "discrete"] | None,
        typer.Option(
            help="Draw categories: half of the variables, by cutting numbers into levels (threshold) or by logistic "
            "regressions (logistic), or all variables, from random tables of probabilities (discrete)."
        ),
    ] = None,
    levels: Annotated[
        tuple[int, int] | None,
        typer.Option(metavar="LOW HIGH", help="Lowest and highest number of levels (--categories).  [default: 2 4]"),
    ] = None,
    lags: Annotated[
        int | None,
        typer.Option(help="Draw a time series whose causes lie up to so many steps back.", min=1),
    ] = None,
    units: Annotated[int | None, typer.Option(help="Draw a panel of so many units (--lags).", min=2)] = None,
    seed: Annotated[int, typer.Option(help="Random seed.", min=0)] = 0,
) -> None:
    """Draw a random graph and data from it, as in the paper's experiments.

    For example:

        golem simulate
        golem simulate --graph SF4 --d 50 --n 2000 --noise gumbel -o sim
        golem simulate --interventions hard --d 10 --n 5000 -o experiments
        golem simulate --categories logistic --levels 2 3 -o mixed
        golem simulate --lags 2 --d 5 --n 500 -o series

    Writes `data.csv` and `truth.csv`, the list of true edges, into the output folder. A row of `truth.csv` with only a
    source is a variable without edges. With --interventions, `data.csv` has a column `environment`, and `targets.json`
    lists the targets of each environment. With --lags, `x0@1` in `truth.csv` is x0 one step back, and a panel has a
    column `unit`.
    """
    from golem.model.category_simulation import simulate_table
    from golem.model.series_simulation import simulate_series
    from golem.model.simulation import parse_graph
    from golem.model.simulation import simulate as draw

    with user_errors():
        if degree is not None and graph.upper() not in ("ER", "SF"):
            raise ValueError(f"The degree is given twice: --graph {graph} and --degree {degree}. Leave one out.")
        if target_count is not None and interventions is None:
            raise ValueError("--target-count needs --interventions hard or --interventions soft.")
        if units is not None and lags is None:
            raise ValueError("--units needs --lags.")
        named = f"{graph}{degree or 2}" if graph.upper() in ("ER", "SF") else graph
        if lags is not None:
            if given := options.given_options(context, _WITH_LAGS):
                raise ValueError(f"--lags cannot be combined with {', '.join(given)}.")
            series = simulate_series(
                d, n, lags=lags, graph=named, noise=noise, units=units or 1, random_state=seed
            )  # fmt: skip
            texts, edges, law = _series_files(series), series.edges, f"{noise}, {lags} lags"
        elif categories is None:
            if levels is not None:
                raise ValueError("--levels needs --categories.")
            drawn = draw(
                d, n, named, noise, weight_scale=weight_scale, noise_std=noise_std, standardize=standardize,
                random_state=seed,
            )  # fmt: skip
            texts, edges = _plain_files(drawn), int(drawn.sem.adjacency.sum())
            if interventions is not None:
                texts = _intervened_files(drawn, interventions, target_count, standardize, seed)
            # --noise-std replaces the equal or different variances in the name of the noise.
            law = (
                noise
                if noise_std is None
                else f"{drawn.sem.noise}, standard deviations {noise_std[0]:g} to {noise_std[1]:g}"
            )
        else:
            if given := options.given_options(context, _WITH_CATEGORIES):
                raise ValueError(f"--categories cannot be combined with {', '.join(given)}.")
            table = simulate_table(d, n, named, categories, levels=levels or (2, 4), random_state=seed)
            texts, edges, law = _category_files(table), int(table.adjacency.sum()), f"{categories} categories"
        _write(output, texts, force)
    if not quiet:
        pairs = d * (d - 1) // 2
        out.print(f"{n} rows of {d} variables, {edges} edges ({named.upper()}, {law}, seed {seed})")
        asked = parse_graph(named)[1] * d
        if asked > pairs:
            out.print(
                f"Note: {named.upper()} asks for {asked:g} edges, but {d} variables have only {pairs} pairs. All pairs "
                "are connected.",
            )
        *first, last = (str(output / name) for name in texts)
        out.print(f"Saved {', '.join(first)} and {last}")


def _plain_files(drawn: Simulation) -> dict[str, str]:
    """Return the texts of the files of rows without interventions."""
    from golem.graphs.formats.csv_tables import write_truth
    from golem.graphs.named_graph import NamedGraph

    names = drawn.sem.names
    rows = "\n".join(",".join(map(repr, row)) for row in drawn.data.tolist())
    return {
        "data.csv": ",".join(names) + "\n" + rows + "\n",
        "truth.csv": write_truth(NamedGraph.from_weights(drawn.sem.weights, names)),
    }


def _series_files(drawn: SimulatedSeries) -> dict[str, str]:
    """Return the texts of the files of a series or panel; lagged causes are named x0@1."""
    import numpy as np

    from golem.graphs.formats.csv_tables import write_truth
    from golem.graphs.named_graph import NamedGraph

    d, steps = len(drawn.names), range(len(drawn.past) + 1)
    columns = tuple(f"{name}@{k}" if k else name for k in steps for name in drawn.names)
    weights = np.zeros((len(columns), len(columns)))
    weights[:, :d] = np.concatenate([drawn.present, *drawn.past])
    is_panel = bool(drawn.unit.any())
    rows = (
        ",".join(map(repr, [unit, *row] if is_panel else row))
        for unit, row in zip(drawn.unit.tolist(), drawn.data.tolist(), strict=True)
    )
    return {
        "data.csv": "\n".join([",".join([*["unit"] * is_panel, *drawn.names]), *rows]) + "\n",
        "truth.csv": write_truth(NamedGraph.from_weights(weights, columns)),
    }


def _category_files(drawn: SimulatedTable) -> dict[str, str]:
    """Return the texts of the files of a table with categories, whose edges have no weights."""
    from golem.graphs.formats.csv_tables import write_truth
    from golem.graphs.named_graph import NamedGraph

    columns = drawn.columns()
    rows = zip(*(map(str, column.tolist()) for column in columns.values()), strict=True)
    return {
        "data.csv": "\n".join(",".join(row) for row in [tuple(columns), *rows]) + "\n",
        "truth.csv": write_truth(NamedGraph.from_class(drawn.adjacency, tuple(columns))),
    }


def _intervened_files(
    drawn: Simulation, intervention: Intervention, count: int | None, standardize: bool, seed: int
) -> dict[str, str]:
    """Return the texts of the files of rows of the same model from several environments."""
    import json

    import numpy as np

    from golem.model.simulation import simulate_environments, single_targets

    sem, rng = drawn.sem, np.random.default_rng([seed, 1])
    targets = single_targets(sem, sem.d if count is None else count, intervention, rng)
    found = simulate_environments(sem, targets, len(drawn.data), intervention, rng)
    X = (found.data - found.data.mean(axis=0)) / found.data.std(axis=0) if standardize else found.data
    header = ",".join(["environment", *sem.names])
    rows = (f"{label},{','.join(map(repr, row))}" for label, row in zip(found.labels, X.tolist(), strict=True))
    return {
        "data.csv": "\n".join([header, *rows]) + "\n",
        "truth.csv": _plain_files(drawn)["truth.csv"],
        "targets.json": json.dumps(found.targets, indent=2) + "\n",
    }


def _write(output: Path, texts: dict[str, str], force: bool) -> None:
    """Write the files together; refuse to replace files of an earlier run unless `force`."""
    from golem.runtime.files import write_text
    from golem.runtime.interrupts import keep
    from golem.runtime.result_folder import result_folder

    require_writable(output)
    for file in (output / name for name in texts):
        if file.exists() and not force:
            raise ValueError(f"{str(file)!r} already exists. Choose another folder with -o, or add --force.")
    with result_folder(output, texts) as folder:
        for name, text in texts.items():
            write_text(folder / name, text)
    keep(f"The results are saved in {output}.")
