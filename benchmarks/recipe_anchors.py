"""Claim: the paper's recipe, followed exactly, is as accurate in golem as in an independent implementation.

`anchors.csv` holds mean SHD, SHD-C (per node) and TPR of GOLEM-EV and GOLEM-NV over 12 seeds, measured with another
implementation (1e5 Adam steps, float64, centred data). This runs the recipe of `Golem.paper` on 12 other seeds,
all seeds of a cell as one stack, and prints both with the difference in standard errors.

    python benchmarks/recipe_anchors.py            # d = 10 and 20, about 30 minutes on one core
    python benchmarks/recipe_anchors.py --quick    # d = 10, 2000 steps: only checks that it runs
"""

from __future__ import annotations

import argparse
import csv
import math
import platform
import time
from pathlib import Path

import numpy as np

import golem
from golem import Golem, metrics
from golem.estimator.stacked_fits import fit_stacked
from golem.simulate import simulate

SEEDS = 12
CASES = (("gaussian-ev", "golem-ev"), ("gaussian-nv", "golem-nv"))
GRAPHS = ("ER1", "ER2", "ER4", "SF4")


def cell(
    d: int, graph: str, noise: str, method: str, steps: int, first_seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """SHD and SHD-C per node and TPR of every seed."""
    drawn = [simulate(d, 1000, graph, noise, random_state=seed) for seed in range(first_seed, first_seed + SEEDS)]
    recipe = Golem.paper(method.removeprefix("golem-"), max_iter=steps)
    models = fit_stacked(recipe, [one.data for one in drawn])
    scores = [
        metrics.evaluate(one.sem.adjacency, model.weights_, normalize=True)
        for one, model in zip(drawn, models, strict=True)
    ]
    return tuple(np.array([getattr(score, name) for score in scores]) for name in ("shd", "shd_c", "tpr"))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 20])
    parser.add_argument("--graphs", nargs="+", default=list(GRAPHS), choices=GRAPHS)
    parser.add_argument("--methods", nargs="+", default=["golem-ev", "golem-nv"])
    parser.add_argument("--first-seed", type=int, default=0)
    options = parser.parse_args()
    sizes, steps = ([10], 2000) if options.quick else (options.sizes, 100_000)
    with (Path(__file__).parent / "anchors.csv").open() as file:
        anchors = {
            (int(row["d"]), row["graph"], row["noise"], row["method"]): row
            for row in csv.DictReader(file)
            if row["n"] == "1000"
        }
    print(f"golem {golem.__version__}, numpy {np.__version__}, Python {platform.python_version()}, {steps} steps")
    print("| d | graph | noise | method | SHD/node | SE | anchor | gap in SE | SHD-C/node | anchor | TPR | anchor |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    began = time.perf_counter()
    for d in sizes:
        for noise, method in CASES:
            for graph in options.graphs if method in options.methods else ():
                shd, shd_c, tpr = cell(d, graph, noise, method, steps, options.first_seed)
                anchor = anchors[d, graph, noise, method]
                error = shd.std(ddof=1) / math.sqrt(SEEDS)
                # The anchor is a mean over as many seeds of the same population: assume the same standard error.
                spread = math.sqrt(2) * error
                gap = shd.mean() - float(anchor["shd_per_node"])
                ratio = f"{gap / spread:+.1f}" if spread else ("0" if gap == 0 else f"{gap:+.3f} absolute")
                print(
                    f"| {d} | {graph} | {noise} | {method} | {shd.mean():.3f} | {error:.3f} | "
                    f"{float(anchor['shd_per_node']):.3f} | {ratio} | {shd_c.mean():.3f} | "
                    f"{float(anchor['shdc_per_node']):.3f} | {tpr.mean():.3f} | {float(anchor['tpr']):.3f} |",
                    flush=True,
                )
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
