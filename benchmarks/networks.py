"""Claim: on realistic Gaussian networks counting edges matches flopsearch, and methods that use scales fall behind.

Draws n = 300, 1000 and 5000 rows from ecoli70, magic-niab, magic-irri and arth150 (real graphs, wide noise variances,
small weights; the JSON files are in the wheel pgmpy 1.1.2 under pgmpy/utils/example_models) and prints mean SHD-C and
BIC over seeds, compared with flopsearch 0.3.0 (as it recommends, and with golem's penalty per edge), the paper's recipe
and sort-regress.

    pip download --no-deps pgmpy==1.1.2 && unzip pgmpy-1.1.2-*.whl 'pgmpy/utils/example_models/*.json'
    python benchmarks/networks.py pgmpy/utils/example_models --flopsearch .other-packages/flopsearch/bin/python
    python benchmarks/networks.py pgmpy/utils/example_models --recipe-steps 100000 --jobs 16
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

import golem
from golem import Golem, Moments, metrics
from golem.estimator.stacked_fits import fit_stacked
from golem.experiments.network_files import read_network
from golem.graphs.dag import member_of_class
from golem.score.objective import graph_bic
from golem.score.sparsity import L0
from golem.simulate import Simulation
from golem.solvers.order.equal_variances import fit_order
from order_accuracy import flopsearch

NETWORKS = ("ecoli70", "magic-niab", "magic-irri", "arth150")


def sort_regress(moments: Moments, by: np.ndarray) -> np.ndarray:
    """Sort the nodes by a number, then choose parents along that order."""
    penalties = L0().penalties(moments.n, moments.d)
    S = moments.covariance
    return fit_order(S, moments.n, np.argsort(by), penalties).weights


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--flopsearch", metavar="PYTHON")
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--recipe-steps", type=int, default=0, help="run only the paper's recipe, with this many steps")
    parser.add_argument("--jobs", type=int, default=1, help="processes for the recipe")
    parser.add_argument("--device", default="cpu", help="for the recipe: all seeds of a cell in one batch")
    parser.add_argument("--networks", nargs="+", default=NETWORKS, choices=NETWORKS)
    parser.add_argument("--sizes", type=int, nargs="+", default=[300, 1000, 5000])
    parser.add_argument("--quick", action="store_true", help="one seed, n = 1000")
    options = parser.parse_args()
    seeds, sizes = (1, [1000]) if options.quick else (options.seeds, options.sizes)
    print(f"golem {golem.__version__}, numpy {np.__version__}, Python {platform.python_version()}, {seeds} seeds\n")
    print("| network | n | method | SHD-C | BIC - BIC of the true graph | s |")
    print("|---|---|---|---|---|---|")
    for name in options.networks:
        sem = read_network(options.folder / f"{name}.json")
        for n in sizes:
            drawn = [Simulation(sem, sem.sample(n, random_state=seed)) for seed in range(seeds)]
            for method, found in (recipes if options.recipe_steps else answers)(drawn, options).items():
                distances = [metrics.shd_c(sem.adjacency, graph, cpdag=is_class) for graph, is_class, _, _ in found]
                excess = np.mean([bic for _, _, bic, _ in found])
                seconds = np.median([s for *_, s in found])
                print(
                    f"| {name} | {n} | {method} | {np.mean(distances):.1f} | {excess:+.0f} | {seconds:.2f} |",
                    flush=True,
                )


def recipes(drawn: list[Simulation], options: argparse.Namespace) -> dict[str, list]:
    """Return for the paper's recipe, on raw and on standardized columns, what `answers` returns for the others."""
    recipe = Golem.paper("nv", max_iter=options.recipe_steps, device=options.device)
    raw = [Moments.from_rows(one.data) for one in drawn]
    # Weights are in the units of the networks, some of them tiny; the recipe's threshold is for unit scales.
    tables = raw + [moments.standardized() for moments in raw]
    began = time.perf_counter()
    if options.device == "cpu":
        with ProcessPoolExecutor(options.jobs) as pool:
            weights = list(pool.map(_weights, [recipe] * len(tables), tables))
    else:
        weights = [model.weights_ for model in fit_stacked(recipe, tables)]
    seconds = (time.perf_counter() - began) / len(tables)
    found = [(B, False, _excess_bic(B != 0, one), seconds) for B, one in zip(weights, [*drawn, *drawn], strict=True)]
    return {"golem-nv": found[: len(drawn)], "golem-nv, standardized": found[len(drawn) :]}


def _weights(model: Golem, moments: Moments) -> np.ndarray:
    return model.fit(moments).weights_


def fits(moments: Moments) -> dict[str, Callable[[], np.ndarray]]:
    """Return every method as a function that returns its weights."""
    standardized = moments.standardized()
    r2 = 1 - 1 / np.diagonal(np.linalg.inv(standardized.covariance))
    return {
        "order": lambda: Golem().fit(moments).weights_,
        "order-nv": lambda: Golem("nv").fit(moments).weights_,
        "order-ev": lambda: Golem("ev").fit(moments).weights_,
        "sort-regress-var": lambda: sort_regress(moments, moments.variances),
        "sort-regress-r2": lambda: sort_regress(standardized, r2),
    }


def answers(drawn: list[Simulation], options: argparse.Namespace) -> dict[str, list]:
    """Return for every method a list of (graph, is a CPDAG, excess BIC, seconds)."""
    found: dict[str, list] = {}
    for one in drawn:
        moments = Moments.from_rows(one.data)
        for method, fit in fits(moments).items():
            began = time.perf_counter()
            weights = fit()
            seconds = time.perf_counter() - began
            found.setdefault(method, []).append((weights, False, _excess_bic(weights != 0, one), seconds))
    for name in ("flopsearch", "flopsearch-mbic") if options.flopsearch else ():
        peer = flopsearch(options.flopsearch, drawn, name)
        found[name] = [
            (np.array(one["cpdag"]), True, _excess_bic(member_of_class(np.array(one["cpdag"])), table), one["seconds"])
            for one, table in zip(peer, drawn, strict=True)
        ]
    return found


def _excess_bic(graph: np.ndarray, one: Simulation) -> float:
    """Return the BIC of a graph minus that of the true one, with the weights of both refitted."""
    moments = Moments.from_rows(one.data)
    S, n = moments.covariance, moments.n
    bic = [graph_bic(g, S, n) for g in (graph, one.sem.adjacency)]
    return bic[0] - bic[1]


if __name__ == "__main__":
    main()
