r"""Claim: the table in the README. Errors per node of the default search and of other methods, on fresh seeds.

Each line is one kind of data, 12 tables with seeds 1000 to 1011, which were not used to choose anything. The number is
SHD per node where the data identify directions (equal noise variances), SHD-C per node elsewhere, mean and standard
error. `golem` is the paper's recipe for that noise (golem-ev or golem-nv) with all 1e5 steps; on the networks, whose
units are arbitrary, all methods get standardized columns. FGS has the score of the paper (fgs), with about the penalty
per edge of `order`, and the plain BIC (fgs-bic). flopsearch has the settings that it recommends, and the penalty per
edge of `order` (flopsearch-mbic); it runs in an environment of its own. The networks are in the wheel of pgmpy.

    python -m venv .other-packages/flopsearch && .other-packages/flopsearch/bin/pip install flopsearch==0.3.0 numpy
    pip download --no-deps pgmpy==1.1.2 && unzip pgmpy-1.1.2-*.whl 'pgmpy/utils/example_models/*.json'
    python benchmarks/summary.py --flopsearch .other-packages/flopsearch/bin/python \
        --networks pgmpy/utils/example_models
    python benchmarks/summary.py --lines equal-sparse --methods order,fgs        # a part of it
"""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import golem
from golem import metrics
from golem.simulate import Simulation, simulate
from golem_experiments.learners import learn, learn_batch
from golem_experiments.network_files import read_network
from order_accuracy import flopsearch

SEEDS = range(1000, 1012)
METHODS = ("order", "golem", "notears-l1", "fgs", "fgs-bic", "pc", "flopsearch", "flopsearch-mbic")
ROWS = 1000


@dataclass(frozen=True)
class Line:
    """A kind of data: what the table calls it, how it is drawn, and whether the data identify directions."""

    label: str
    draw: Callable[[int], Simulation]
    recipe: str
    identified: bool = False


def simulated(d: int, graph: str, noise: str, *, standardize: bool = False) -> Callable[[int], Simulation]:
    """Return a function that draws a table of the paper's kind."""
    return lambda seed: simulate(d, ROWS, graph, noise, standardize=standardize, random_state=seed)


def network(folder: Path, name: str) -> Callable[[int], Simulation]:
    """Return a function that draws a table from a network, in standardized columns."""

    def draw(seed: int) -> Simulation:
        sem = read_network(folder / f"{name}.json")
        rows = sem.sample(ROWS, random_state=seed)
        return Simulation(sem, (rows - rows.mean(axis=0)) / rows.std(axis=0))

    return draw


def lines(networks: Path | None) -> dict[str, Line]:
    """Return the lines of the table."""
    free = "gaussian-nv"
    found = {
        "equal-sparse": Line("equal variances, ER2, d = 20", simulated(20, "ER2", "gaussian-ev"), "golem-ev", True),
        "equal-dense": Line("equal variances, ER4, d = 20", simulated(20, "ER4", "gaussian-ev"), "golem-ev", True),
        "free": Line("free variances, ER2, d = 20", simulated(20, "ER2", free), "golem-nv"),
        "standardized": Line(
            "free variances, ER2, d = 20, standardized", simulated(20, "ER2", free, standardize=True), "golem-nv"
        ),
        "worst": Line("free variances, ER4, d = 10 (our worst)", simulated(10, "ER4", free), "golem-nv"),
    }
    if networks is not None:
        found["ecoli70"] = Line("network ecoli70, d = 46", network(networks, "ecoli70"), "golem-nv")
        found["arth150"] = Line("network arth150, d = 107", network(networks, "arth150"), "golem-nv")
    return found


def errors(line: Line, method: str, options: argparse.Namespace) -> list[float]:
    """Return the errors per node of a method, one per seed."""
    drawn = [line.draw(seed) for seed in SEEDS]
    if method.startswith("flopsearch"):
        graphs = [(np.array(one["cpdag"]), True) for one in flopsearch(options.flopsearch, drawn, method)]
    else:
        if method == "golem":
            answers = learn_batch(line.recipe, {}, [one.data for one in drawn], options.device)
        else:
            answers = [learn(method, {}, one.data) for one in drawn]
        graphs = [(answer.estimate.graph, answer.estimate.is_class) for answer in answers]
    distance = metrics.shd if line.identified else metrics.shd_c
    return [
        distance(one.sem.adjacency, graph, cpdag=is_class) / one.sem.adjacency.shape[0]
        for one, (graph, is_class) in zip(drawn, graphs, strict=True)
    ]


def cell(key: str, method: str, options: argparse.Namespace) -> str:
    """Return a cell of the table: mean and standard error."""
    values = errors(lines(options.networks)[key], method, options)
    return f"{np.mean(values):.3f} ± {np.std(values, ddof=1) / np.sqrt(len(values)):.3f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flopsearch", metavar="PYTHON", help="Python of an environment with flopsearch")
    parser.add_argument("--networks", metavar="FOLDER", type=Path, help="folder with ecoli70.json and arth150.json")
    parser.add_argument("--lines", help="lines to run, separated by commas; all by default")
    parser.add_argument("--methods", default=",".join(METHODS), help="methods to run, separated by commas")
    parser.add_argument("--device", default="cpu", help="where the paper's recipe runs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    options = parser.parse_args()
    chosen = options.lines.split(",") if options.lines else list(lines(options.networks))
    methods = [one for one in options.methods.split(",") if not one.startswith("flopsearch") or options.flopsearch]
    versions = f"golem {golem.__version__}, numpy {np.__version__}, Python {platform.python_version()}"
    print(f"{versions}, {len(SEEDS)} seeds\n")
    print(f"| data (n = {ROWS}) | " + " | ".join(methods) + " |\n|---|" + "---|" * len(methods))
    with ProcessPoolExecutor(options.jobs) as pool:
        cells = {(key, method): pool.submit(cell, key, method, options) for key in chosen for method in methods}
        for key in chosen:
            label = lines(options.networks)[key].label
            print(f"| {label} | " + " | ".join(cells[key, method].result() for method in methods) + " |", flush=True)


if __name__ == "__main__":
    main()
