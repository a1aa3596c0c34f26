"""Claims: counting edges over orders is far more accurate than the recipe, and at least as accurate as flopsearch.

Part "ev": SHD per node of order-ev on {ER1, ER2, ER4, SF4} x {Gaussian-EV, exponential, Gumbel} x d = 10 ... 100,
compared with the recipe's (`anchors.csv`).

Part "nv": SHD-C per node of order-nv on Gaussian-NV data with raw columns, with standardized columns, and with noise
standard deviations log-uniform over two decades. flopsearch 0.3.0 on the same data, as it recommends (lambda_bic = 2,
restarts = 50), and with golem's penalty per edge (flopsearch-mbic). n = 1000, 12 seeds, paired.

Part "dense": SHD-C of order-nv on standardized tables of dense graphs (ER10, d = 50, n = 1000 and 10000; d = 100,
n = 1000), which are nearly collinear, and of flopsearch with 10 restarts. 10 seeds, paired.

    python -m venv .other-packages/flopsearch && .other-packages/flopsearch/bin/pip install flopsearch==0.3.0 numpy
    python benchmarks/order_accuracy.py ev
    python benchmarks/order_accuracy.py nv --flopsearch .other-packages/flopsearch/bin/python
    python benchmarks/order_accuracy.py dense --first-seed 1000 --flopsearch .other-packages/flopsearch/bin/python
    python benchmarks/order_accuracy.py nv --quick         # d = 10 and 20, without flopsearch
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import platform
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

import golem
from golem import Golem, metrics
from golem.simulate import Simulation, simulate

SEEDS = 12
GRAPHS = ("ER1", "ER2", "ER4", "SF4")
COLUMNS = {"raw": {}, "standardized": {"standardize": True}, "wide noise": {"noise_std": (0.1, 10.0)}}

# Runs in the other environment: the CPDAGs of many tables, and seconds for each.
FLOPSEARCH = """
import json, sys, time
import numpy as np, flopsearch
found = []
for path in sys.argv[3:]:
    X = np.load(path)
    (n, d), began = X.shape, time.perf_counter()
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    penalty = {"flopsearch": 2.0, "flopsearch-mbic": 1 + 2 * np.log(d) / np.log(n)}[sys.argv[1]]
    G = np.asarray(flopsearch.flop(Z, penalty, restarts=int(sys.argv[2])))
    found.append({"seconds": time.perf_counter() - began, "cpdag": np.logical_or(G == 1, G == 2).tolist()})
print(json.dumps(found))
"""


def flopsearch(python: str, drawn: list[Simulation], name: str = "flopsearch", restarts: int = 50) -> list[dict]:
    """Run flopsearch on every table, as it recommends or (flopsearch-mbic) with golem's penalty per edge."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for k, one in enumerate(drawn):
            paths.append(str(Path(folder) / f"{k}.npy"))
            np.save(paths[-1], one.data)
        command = [python, "-c", FLOPSEARCH, name, str(restarts), *paths]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)


def equal_variances(sizes: list[int], first_seed: int) -> None:
    """Print SHD per node of order-ev and of the recipe."""
    with (Path(__file__).parent / "anchors.csv").open() as file:
        anchors = {
            (int(row["d"]), row["graph"], row["noise"]): float(row["shd_per_node"])
            for row in csv.DictReader(file)
            if row["n"] == "1000" and row["method"] == "golem-ev"
        }
    print("| noise | graph | " + " | ".join(f"d={d}: order-ev (SE), golem-ev" for d in sizes) + " |")
    print("|---|---|" + "---|" * len(sizes))
    ours, theirs = [], []
    for noise in ("gaussian-ev", "exponential", "gumbel"):
        for graph in GRAPHS:
            row = []
            for d in sizes:
                shd = []
                for seed in range(first_seed, first_seed + SEEDS):
                    one = simulate(d, 1000, graph, noise, random_state=seed)
                    shd.append(metrics.shd(one.sem.adjacency, Golem("ev").fit(one.data).weights_, normalize=True))
                ours.append(float(np.mean(shd)))
                theirs.append(anchors[d, graph, noise])
                error = np.std(shd, ddof=1) / math.sqrt(SEEDS)
                mark = " **above 0.02**" if ours[-1] > 0.02 else ""
                row.append(f"{ours[-1]:.4f} ({error:.4f}), {theirs[-1]:.3f}{mark}")
            print(f"| {noise} | {graph} | " + " | ".join(row) + " |", flush=True)
    print(f"\npooled mean: order-ev {np.mean(ours):.4f}, golem-ev {np.mean(theirs):.4f}")
    print(f"largest cell: order-ev {max(ours):.4f}; cells above 0.02: {sum(value > 0.02 for value in ours)}")


def free_variances(sizes: list[int], python: str | None, first_seed: int) -> None:
    """Print SHD-C per node of order-nv and of flopsearch."""
    print("| columns | graph | d | order-nv | s | other | its SHD-C | difference (SE) | its s |")
    print("|---|---|---|---|---|---|---|---|---|")
    worse = []
    for name, options in COLUMNS.items():
        for d, graph in ((d, graph) for d in sizes for graph in GRAPHS):
            seeds = range(first_seed, first_seed + SEEDS)
            drawn = [simulate(d, 1000, graph, "gaussian-nv", random_state=seed, **options) for seed in seeds]
            ours, seconds = order_nv(drawn)
            line = f"| {name} | {graph} | {d} | {np.mean(ours):.3f} | {np.median(seconds):.3f} |"
            if python is None:
                print(f"{line} | | | |", flush=True)
            for peer in ("flopsearch", "flopsearch-mbic") if python is not None else ():
                text, is_worse = compared(ours, drawn, flopsearch(python, drawn, peer))
                print(f"{line} {peer} | {text} |", flush=True)
                worse += [(name, graph, d, peer)] if is_worse else []
    print(f"\ncells worse than the other by more than max(0.02, 2 SE): {worse or 'none'}")


def dense(python: str | None, first_seed: int, quick: bool) -> None:
    """Print SHD-C of order-nv and of flopsearch on dense graphs."""
    print("| d | n | order-nv, SHD-C | largest | s | other | its SHD-C | difference (SE) | its s |")
    print("|---|---|---|---|---|---|---|---|---|")
    for d, n in ((20, 1000),) if quick else ((50, 1000), (50, 10_000), (100, 1000)):
        seeds = range(first_seed, first_seed + (2 if quick else 10))
        drawn = [simulate(d, n, "ER10", "gaussian-nv", random_state=seed, standardize=True) for seed in seeds]
        ours, seconds = order_nv(drawn)
        line = f"| {d} | {n} | {d * np.mean(ours):.1f} | {d * max(ours):.0f} | {np.median(seconds):.2f} |"
        if python is None:
            print(f"{line} | | | |", flush=True)
        for peer in ("flopsearch", "flopsearch-mbic") if python is not None else ():
            text, _ = compared(ours, drawn, flopsearch(python, drawn, peer, restarts=10), d)
            print(f"{line} {peer} | {text} |", flush=True)


def order_nv(drawn: list[Simulation]) -> tuple[list[float], list[float]]:
    """Return SHD-C per node of order-nv on every table, and the seconds of every fit."""
    accuracy, seconds = [], []
    for one in drawn:
        began = time.perf_counter()
        model = Golem("nv", shape="off").fit(one.data)
        seconds.append(time.perf_counter() - began)
        accuracy.append(metrics.shd_c(one.sem.adjacency, model.weights_, normalize=True))
    return accuracy, seconds


def compared(ours: list[float], drawn: list[Simulation], peer: list[dict], times: int = 1) -> tuple[str, bool]:
    """Return cells with SHD-C (per node, or times a number), its paired difference and the seconds of a peer.

    The second value tells whether ours is clearly worse.
    """
    theirs = [
        metrics.shd_c(one.sem.adjacency, found["cpdag"], cpdag=True, normalize=True)
        for one, found in zip(drawn, peer, strict=True)
    ]
    gap = np.subtract(ours, theirs)
    error = gap.std(ddof=1) / math.sqrt(len(gap))
    is_worse = gap.mean() > max(0.02, 2 * error)
    seconds = np.median([found["seconds"] for found in peer])
    mark = " **worse**" if is_worse else ""
    shown = times * np.array([np.mean(theirs), gap.mean(), error])
    return f"{shown[0]:.3f} | {shown[1]:+.3f} ({shown[2]:.3f}){mark} | {seconds:.3f}", is_worse


def main() -> None:
    """Run one part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["ev", "nv", "dense"])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 20, 50, 100])
    parser.add_argument("--flopsearch", metavar="PYTHON", help="interpreter of an environment with flopsearch 0.3.0")
    parser.add_argument("--first-seed", type=int, default=0)
    options = parser.parse_args()
    sizes = [10, 20] if options.quick else options.sizes
    print(f"golem {golem.__version__}, numpy {np.__version__}, Python {platform.python_version()}, {SEEDS} seeds\n")
    began = time.perf_counter()
    if options.part == "ev":
        equal_variances(sizes, options.first_seed)
    elif options.part == "dense":
        dense(options.flopsearch, options.first_seed, options.quick)
    else:
        free_variances(sizes, options.flopsearch, options.first_seed)
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
