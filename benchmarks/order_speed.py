"""Claims about the speed of the order solver, each compared with a reference in one run.

- "ev": ER2 EV, d = 1000 and 3200, n = 5000: at most 35 times the time of the Gram product X'X.
- "dagma": ER2 EV, d = 100: at least 300 times faster than dagma 1.1.1, SHD no higher.
- "memory": peak memory of the EV solver at d = 3200.

`fit_speed.py` has the times of whole fits, the first one included, and compares them with flopsearch.

    python -m venv .other-packages/dagma && .other-packages/dagma/bin/pip install torch==2.13.0 dagma==1.1.1
    python benchmarks/order_speed.py ev memory
    python benchmarks/order_speed.py dagma --dagma .other-packages/dagma/bin/python
    python benchmarks/order_speed.py ev --quick
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import golem
from golem import Golem, Moments, metrics
from golem.simulate import Simulation, simulate

DAGMA = """
import json, sys, time
import numpy as np
from dagma.linear import DagmaLinear
found = []
for path in sys.argv[1:]:
    X = np.load(path)
    began = time.perf_counter()
    W = DagmaLinear(loss_type="l2").fit(X - X.mean(axis=0), lambda1=0.02)
    found.append({"seconds": time.perf_counter() - began, "weights": W.tolist()})
print(json.dumps(found))
"""


def timed(function: Callable[[], object]) -> tuple[float, object]:
    """Return the seconds, and what the function returned."""
    began = time.perf_counter()
    result = function()
    return time.perf_counter() - began, result


def run_peer(python: str, program: str, drawn: list[Simulation]) -> list[dict]:
    """Run a program of another environment on every table."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for k, one in enumerate(drawn):
            paths.append(str(Path(folder) / f"{k}.npy"))
            np.save(paths[-1], one.data)
        # One thread, as golem uses at these sizes: small matrices take longer with more.
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        command = [python, "-c", program, *paths]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        return json.loads(done.stdout.splitlines()[-1])


def equal_variances(quick: bool) -> None:
    """Print the time from the moments to the weights, relative to the Gram product."""
    print("| d | n | Gram product, s | order-ev, s | ratio | SHD | SHD per node | edges |")
    print("|---|---|---|---|---|---|---|---|")
    for d in (300,) if quick else (1000, 3200):
        for seed in range(1 if quick else 3):
            one = simulate(d, 5000, "ER2", random_state=seed)
            X = one.data - one.data.mean(axis=0)
            gram = min(timed(lambda X=X: X.T @ X)[0] for _ in range(3))
            moments = Moments.from_rows(one.data)
            seconds, model = timed(lambda moments=moments: Golem("ev").fit(moments))
            shd = metrics.shd(one.sem.adjacency, model.weights_)
            print(
                f"| {d} | 5000 | {gram:.2f} | {seconds:.2f} | {seconds / gram:.1f} | {shd:.0f} | {shd / d:.4f} | "
                f"{int(one.sem.adjacency.sum())} |",
                flush=True,
            )
    if not quick:
        for seed in range(2):
            one = simulate(1000, 5000, "ER2", "gaussian-nv", random_state=seed)
            moments = Moments.from_rows(one.data)
            seconds, model = timed(lambda moments=moments: Golem("nv").fit(moments))
            shd_c = metrics.shd_c(one.sem.adjacency, model.weights_)
            edges = int(one.sem.adjacency.sum())
            print(f"\norder-nv, d = 1000, n = 5000, seed {seed}: {seconds:.1f} s, SHD-C {shd_c:.0f}, {edges} edges")


def memory() -> None:
    """Peak memory of the EV solver at d = 3200 above its covariance, in matrices of d x d."""
    code = """
import resource, numpy as np
from golem.simulate import simulate
from golem import Moments
from golem.score.likelihood import GaussianEV
from golem.solvers import Order
from golem.score.sparsity import L0
small = Moments.from_rows(simulate(20, 200, random_state=0).data)
Order().solve(small, GaussianEV(), L0())
d = 3200
moments = Moments.from_rows(simulate(d, 5000, "ER2", random_state=0).data)
import gc, ctypes
gc.collect()
status = open("/proc/self/status").read()
now = int(status.split("VmRSS:")[1].split()[0])
open("/proc/self/clear_refs", "w").write("5")
Order().solve(moments, GaussianEV(), L0())
peak = int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])
print((peak - now) * 1024 / (8 * d * d))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    print(f"\npeak memory at d = 3200 above the moments: {float(done.stdout):.1f} matrices of d x d")


def against_dagma(python: str) -> None:
    """Print the times of dagma and order-ev, one row per seed."""
    drawn = [simulate(100, 1000, "ER2", random_state=seed) for seed in range(3)]
    print("| seed | dagma, s | SHD | order-ev, s | SHD | ratio |")
    print("|---|---|---|---|---|---|")
    for seed, (one, peer) in enumerate(zip(drawn, run_peer(python, DAGMA, drawn), strict=True)):
        seconds, model = min((timed(lambda one=one: Golem("ev").fit(one.data)) for _ in range(5)), key=lambda t: t[0])
        ours, theirs = (metrics.shd(one.sem.adjacency, W) for W in (model.weights_, peer["weights"]))
        ratio = peer["seconds"] / seconds
        print(f"| {seed} | {peer['seconds']:.1f} | {theirs:.0f} | {seconds:.4f} | {ours:.0f} | {ratio:.0f} |")


def main() -> None:
    """Run the parts named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", choices=["ev", "memory", "dagma"])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--dagma", metavar="PYTHON")
    options = parser.parse_args()
    versions = f"numpy {np.__version__}, Python {platform.python_version()}"
    print(f"golem {golem.__version__}, {versions}, {os.cpu_count()} cores\n")
    for noise in ("ev", "nv"):
        Golem(noise).fit(simulate(30, 200, random_state=0).data)  # compile outside the timings
    actions = {
        "ev": lambda: equal_variances(options.quick),
        "memory": memory,
        "dagma": lambda: against_dagma(options.dagma),
    }
    for part in options.parts:
        actions[part]()
    print(f"\npeak resident memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
