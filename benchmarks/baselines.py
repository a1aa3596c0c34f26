"""Claims: golem's baselines are fast, and mostly rank as in the paper; the numbers show where they do not.

Part "speed", medians over seeds in one run on the same tables, d = 50, n = 1000: NOTEARS-L1 and gcastle 1.0.4 to
the same tolerance of h (at least 5 times faster, mean objective no worse), DirectLiNGAM and lingam 1.13 (at least
5 times faster, the same order and weights). FGS and PC are measured by `fgs_pc.py`.

Part "ordering", ER1, ER2, ER4, d = 20 and 50, n = 1000, 12 seeds: SHD, SHD-C and TPR of all methods. The paper reports
GOLEM better than NOTEARS-L1 better than NOTEARS, and classical methods that are competitive on ER1 and fall behind on
ER4. The recipe's rows (golem-ev, golem-nv) are those of `anchors.csv`.

    python -m venv .other-packages/gcastle && .other-packages/gcastle/bin/pip install gcastle==1.0.4 torch
    python -m venv .other-packages/lingam && .other-packages/lingam/bin/pip install lingam==1.13.0
    export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
    python benchmarks/baselines.py speed --gcastle PYTHON --lingam PYTHON  # interpreters of the two environments
    python benchmarks/baselines.py ordering --noise gaussian-ev
    python benchmarks/baselines.py ordering --noise exponential --methods order-ev fgs "fgs, prior" pc direct-lingam
    python benchmarks/baselines.py ordering --quick        # d = 20, 3 seeds
"""

from __future__ import annotations

import argparse
import csv
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import scipy

import golem
from golem import Moments, metrics
from golem.baselines import FGS, DirectLiNGAM, Notears
from golem.comparison.registry import METHODS, compile_method, learn_with
from golem.data.table_reading import read_table
from golem.score.acyclicity import Expm, Polynomial
from golem.simulate import simulate

GRAPHS = ("ER1", "ER2", "ER4")
SEEDS = 12
L1 = 0.1
METHOD_NAMES = (
    "order-ev", "order-nv", "notears-l1", "notears", "fgs", "fgs, prior", "pc", "direct-lingam", "sort-regress-var",
    "sort-regress-r2",
)  # fmt: skip

# Run in the other environments: the weights of one table, [i, j] for i -> j, and the seconds they took.
GCASTLE = """
import logging, sys, time
import numpy as np
logging.disable(logging.CRITICAL)
from castle.algorithms import Notears
X = np.load(sys.argv[1])
model = Notears(lambda1=0.1)
began = time.perf_counter()
model.learn(X)
np.savez(sys.argv[2], seconds=time.perf_counter() - began, weights=np.asarray(model.weight_causal_matrix))
"""
LINGAM = """
import sys, time
import numpy as np
from lingam import DirectLiNGAM
X = np.load(sys.argv[1])
model = DirectLiNGAM()
began = time.perf_counter()
model.fit(X)
seconds = time.perf_counter() - began
np.savez(sys.argv[2], seconds=seconds, weights=model.adjacency_matrix_.T, order=model.causal_order_)
"""


def ask(python: str, code: str, X: np.ndarray) -> dict[str, np.ndarray]:
    """Run another package on a table."""
    with tempfile.TemporaryDirectory() as folder:
        data, answer = Path(folder) / "X.npy", Path(folder) / "answer.npz"
        np.save(data, X)
        subprocess.run([python, "-W", "ignore", "-c", code, data, answer], check=True, capture_output=True)
        with np.load(answer) as stored:
            return {name: stored[name] for name in stored.files}


def objective(B: np.ndarray, S: np.ndarray) -> float:
    """NOTEARS-L1's objective."""
    M = np.eye(len(S)) - B
    return float(np.trace(M.T @ S @ M) / 2 + L1 * np.abs(B).sum())


def notears_speed(python: str, seeds: int) -> None:
    """Print seconds and objectives of NOTEARS-L1 and of gcastle's."""
    print("NOTEARS-L1, ER2, d = 50, n = 1000, Gaussian-EV; h by both definitions, ours tr exp(B*B) - d first")
    print("| seed | s | s, gcastle | ratio | objective | objective, gcastle | h | h, gcastle | SHD | SHD, gcastle |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    found = []
    for seed in range(seeds):
        drawn = simulate(50, 1000, "ER2", "gaussian-ev", random_state=seed)
        S = Moments.from_rows(drawn.data).covariance
        began = time.perf_counter()
        model = Notears(L1).fit(drawn.data)
        seconds = time.perf_counter() - began
        peer = ask(python, GCASTLE, drawn.data)
        B, W = model.raw_weights_, peer["weights"]
        found.append((seconds, float(peer["seconds"]), objective(B, S), objective(W, S)))
        h = [", ".join(f"{float(term.value_and_grad(A)[0]):.1e}" for term in (Expm(), Polynomial())) for A in (B, W)]
        shd = [metrics.shd(drawn.sem.adjacency, A) for A in (model.weights_, np.where(np.abs(W) > 0.3, W, 0))]
        print(
            f"| {seed} | {seconds:.1f} | {found[-1][1]:.1f} | {found[-1][1] / seconds:.0f} | {found[-1][2]:.4f} | "
            f"{found[-1][3]:.4f} | {h[0]} | {h[1]} | {shd[0]:.0f} | {shd[1]:.0f} |",
            flush=True,
        )
    ours, theirs, low, other = np.array(found).T
    ratio = np.median(theirs) / np.median(ours)
    print(
        f"\nmedian {np.median(ours):.1f} s, gcastle {np.median(theirs):.1f} s: {ratio:.0f} times; mean objective "
        f"{low.mean():.4f}, gcastle {other.mean():.4f}\n"
    )


def lingam_speed(python: str, seeds: int) -> None:
    """Print seconds of DirectLiNGAM and of lingam's, and whether the answers agree."""
    compile_method("direct-lingam")
    ours, theirs, same, gap = [], [], 0, 0.0
    for seed in range(seeds):
        X = simulate(50, 1000, "ER2", "exponential", random_state=seed).data
        began = time.perf_counter()
        model = DirectLiNGAM().fit(X)
        ours.append(time.perf_counter() - began)
        peer = ask(python, LINGAM, X)
        theirs.append(float(peer["seconds"]))
        same += bool(np.array_equal(model.order_, peer["order"]))
        gap = max(gap, float(np.abs(model.weights_ - peer["weights"]).max()))
    ratio = np.median(theirs) / np.median(ours)
    print(
        f"DirectLiNGAM, ER2, d = 50, n = 1000, exponential: median {np.median(ours):.2f} s, lingam "
        f"{np.median(theirs):.2f} s: {ratio:.0f} times; {same} of {seeds} orders the same, weights differ by at most "
        f"{gap:.0e}\n"
    )


def measure(task: tuple[str, int, str, int, list[str]]) -> list[dict[str, Any]]:
    """Run the methods on one table."""
    noise, d, graph, seed, methods = task
    drawn = simulate(d, 1000, graph, noise, random_state=seed)
    moments = Moments.from_rows(drawn.data)
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in methods:
            compile_method(name)
            if name in METHODS:
                estimate = learn_with(name, read_table(drawn.data))
                found, is_class = estimate.graph, estimate.is_class
            else:
                found, is_class = FGS(structure_prior=1.0).fit(moments).cpdag_, True
            scores = metrics.evaluate(drawn.sem.adjacency, found, cpdag=is_class, normalize=True)
            numbers = {"shd": scores.shd, "shd_c": scores.shd_c, "tpr": scores.tpr}
            rows.append({"noise": noise, "d": d, "graph": graph, "seed": seed, "method": name} | numbers)
    return rows


def anchors(noise: str) -> list[dict[str, Any]]:
    """Return the recipe's means."""
    with (Path(__file__).parent / "anchors.csv").open() as file:
        return [
            {
                "d": int(row["d"]),
                "graph": row["graph"],
                "method": row["method"],
                "shd": float(row["shd_per_node"]),
                "shd_c": float(row["shdc_per_node"]),
                "tpr": float(row["tpr"]),
            }
            for row in csv.DictReader(file)
            if row["n"] == "1000" and row["noise"] == noise
        ]


def ordering(noise: str, sizes: list[int], methods: list[str], seeds: int, jobs: int) -> None:
    """Print the tables."""
    tasks = [(noise, d, graph, seed, methods) for d in sizes for graph in GRAPHS for seed in range(seeds)]
    rows: list[dict[str, Any]] = []
    with ProcessPoolExecutor(jobs) as pool:
        # Start the longest first, so that none runs alone at the end.
        for done, found in enumerate(pool.map(measure, tasks[::-1]), start=1):
            rows += found
            print(f"{done} of {len(tasks)} tables", file=sys.stderr, flush=True)
    cells = [(graph, d) for d in sizes for graph in GRAPHS]
    everything = anchors(noise) + rows
    for label, key in (("SHD per node", "shd"), ("SHD-C per node", "shd_c"), ("TPR", "tpr")):
        print(f"\n{label}, {noise}, means of {seeds} seeds (standard error)\n")
        print("| method | " + " | ".join(f"{graph}, d={d}" for graph, d in cells) + " |")
        print("|---|" + "---|" * len(cells))
        for name in ("golem-ev", "golem-nv", *methods):
            line = []
            for graph, d in cells:
                values = [row[key] for row in everything if (row["method"], row["graph"], row["d"]) == (name, graph, d)]
                error = f" ({np.std(values, ddof=1) / len(values) ** 0.5:.3f})" if len(values) > 1 else ""
                line.append(f"{np.mean(values):.3f}{error}" if values else "")
            if any(line):
                print(f"| {name} | " + " | ".join(line) + " |")


def main() -> None:
    """Run one part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["speed", "ordering"])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--gcastle", metavar="PYTHON", help="interpreter of an environment with gcastle 1.0.4")
    parser.add_argument("--lingam", metavar="PYTHON", help="interpreter of an environment with lingam 1.13")
    parser.add_argument("--noise", default="gaussian-ev")
    parser.add_argument("--sizes", type=int, nargs="+", default=[20, 50])
    parser.add_argument("--methods", nargs="+", default=list(METHOD_NAMES), choices=METHOD_NAMES)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    versions = f"numpy {np.__version__}, scipy {scipy.__version__}, Python {platform.python_version()}"
    print(f"golem {golem.__version__}, {versions}\n")
    began = time.perf_counter()
    if options.part == "speed":
        if options.lingam:
            lingam_speed(options.lingam, 1 if options.quick else 5)
        if options.gcastle:
            notears_speed(options.gcastle, 1 if options.quick else 3)
    else:
        sizes, seeds = ([20], 3) if options.quick else (options.sizes, SEEDS)
        ordering(options.noise, sizes, options.methods, seeds, options.jobs)
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
