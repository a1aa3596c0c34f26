"""Claims about the speed of the order solver, each compared with a reference in one run.

- "ev": ER2 EV, d = 1000 and 3200, n = 5000: at most 35 times the time of the Gram product X'X.
- "dagma": ER2 EV, d = 100: at least 300 times faster than dagma 1.1.1, SHD no higher.
- "flopsearch": Gaussian-NV, ER4 d = 100 and ER2 d = 200: at least 5 times faster than flopsearch 0.3.0 (restarts = 10)
  on raw columns from the EV order (effort "fast"), 2 times on standardized ones (effort "default").
- "growth": time against d and n, with a plot.
- "compile": the first call with an empty cache.

    python -m venv .other-packages/dagma && .other-packages/dagma/bin/pip install torch==2.13.0 dagma==1.1.1
    python benchmarks/order_speed.py ev growth compile --plot docs/images/growth.png
    python benchmarks/order_speed.py dagma --dagma .other-packages/dagma/bin/python
    python benchmarks/order_speed.py flopsearch --flopsearch .other-packages/flopsearch/bin/python
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

Series = dict[str, list[tuple[int, float]]]

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
FLOPSEARCH = """
import json, sys, time
import numpy as np, flopsearch
found = []
for path in sys.argv[1:]:
    X = np.load(path)
    for restarts in (0, 10):
        began = time.perf_counter()
        G = np.asarray(flopsearch.flop(X, 2.0, restarts=restarts))
        found.append({"seconds": time.perf_counter() - began, "cpdag": np.logical_or(G == 1, G == 2).tolist()})
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


def against_flopsearch(python: str) -> None:
    """Print the times of flopsearch and order-nv, medians over seeds."""
    print("| graph | d | columns | order-nv, s | SHD-C | flopsearch 10, s | SHD-C | ratio | flopsearch 0, s | SHD-C |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for graph, d in (("ER4", 100), ("ER2", 200)):
        for columns in ("raw", "standardized"):
            drawn = [
                simulate(d, 1000, graph, "gaussian-nv", standardize=columns == "standardized", random_state=seed)
                for seed in range(6)
            ]
            options = {"init": "ev", "effort": "fast"} if columns == "raw" else {}
            fits = [timed(lambda one=one, o=options: Golem("nv", shape="off", **o).fit(one.data)) for one in drawn]
            peer = run_peer(python, FLOPSEARCH, drawn)
            ours = [
                metrics.shd_c(one.sem.adjacency, model.weights_) for one, (_, model) in zip(drawn, fits, strict=True)
            ]
            seconds = float(np.median([s for s, _ in fits]))
            parts = []
            for which in (1, 0):
                found = peer[which::2]
                distance = [
                    metrics.shd_c(one.sem.adjacency, f["cpdag"], cpdag=True)
                    for one, f in zip(drawn, found, strict=True)
                ]
                parts.append((float(np.median([f["seconds"] for f in found])), float(np.mean(distance))))
            (ten, ten_shd), (none, none_shd) = parts
            print(
                f"| {graph} | {d} | {columns} | {seconds:.2f} | {np.mean(ours):.1f} | {ten:.2f} | {ten_shd:.1f} | "
                f"{ten / seconds:.1f} | {none:.2f} | {none_shd:.1f} |",
                flush=True,
            )


def growth(plot: Path | None) -> None:
    """Time against d, and against n."""
    rows: Series = {"order-ev": [], "order-nv": [], "Gram product": []}
    print("\n| d (n = 5000) | Gram product, s | order-ev, s | order-nv, s |")
    print("|---|---|---|---|")
    for d in (100, 200, 400, 800, 1600, 3200):
        one = simulate(d, 5000, "ER2", "gaussian-ev", random_state=0)
        X = one.data - one.data.mean(axis=0)
        gram = min(timed(lambda X=X: X.T @ X)[0] for _ in range(2))
        moments = Moments.from_rows(one.data)
        ev = min(timed(lambda moments=moments: Golem("ev").fit(moments))[0] for _ in range(3 if d < 1000 else 1))
        rows["Gram product"].append((d, gram))
        rows["order-ev"].append((d, ev))
        shown = "not run"
        if d <= 1600:
            nv = timed(lambda moments=moments: Golem("nv").fit(moments))[0]
            rows["order-nv"].append((d, nv))
            shown = f"{nv:.2f}"
        print(f"| {d} | {gram:.4f} | {ev:.3f} | {shown} |", flush=True)
    by_n: Series = {"order-ev": [], "order-nv": [], "moments": []}
    print("\n| n (d = 100) | moments, s | order-ev from the moments, s | order-nv from the moments, s |")
    print("|---|---|---|---|")
    for n in (300, 1000, 10_000, 100_000, 1_000_000):
        one = simulate(100, n, "ER2", "gaussian-ev", random_state=0)
        reading, moments = timed(lambda one=one: Moments.from_rows(one.data))
        ev = min(timed(lambda moments=moments: Golem("ev").fit(moments))[0] for _ in range(3))
        nv = timed(lambda moments=moments: Golem("nv").fit(moments))[0]
        for name, seconds in (("order-ev", ev), ("order-nv", nv), ("moments", reading)):
            by_n[name].append((n, seconds))
        print(f"| {n} | {reading:.3f} | {ev:.4f} | {nv:.3f} |", flush=True)
    if plot is not None:
        draw(rows, by_n, plot)


def draw(by_d: Series, by_n: Series, plot: Path) -> None:
    """Save the growth with d and with n as a figure."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
    labels = ("variables d (ER2, n = 5000)", "rows n (ER2, d = 100)")
    for ax, series, label in zip(axes, (by_d, by_n), labels, strict=True):
        for (name, points), marker, colour in zip(
            series.items(), "osd", ("#2166ac", "#d6701c", "#5b5b5b"), strict=True
        ):
            ax.loglog(*zip(*points, strict=True), marker=marker, label=name, color=colour)
        ax.set_xlabel(label)
        ax.grid(alpha=0.3)
    reference = np.array([400, 3200])
    axes[0].loglog(reference, by_d["order-ev"][2][1] * (reference / 400) ** 3, ":", color="#999999", label="cubic")
    axes[0].set_ylabel("seconds")
    for ax in axes:
        ax.legend(frameon=False)
    figure.savefig(plot, dpi=120)


def compile_time() -> None:
    """First and second call, each in a new process, from an empty cache.

    It runs on one thread: without other load the seconds on the clock are those of the processor.
    """
    code = """
import sys, time
from golem import Golem
from golem.simulate import simulate
data = simulate(30, 300, random_state=0).data
began = time.perf_counter(), time.process_time()
for noise in sys.argv[1:]:
    Golem(noise).fit(data)
print(time.perf_counter() - began[0], time.process_time() - began[1])
"""
    print("\n| noise | first call, s | processor, s | next process, s | processor, s |")
    print("|---|---|---|---|---|")
    for noises in (["ev"], ["nv"], ["ev", "nv"]):
        command = [sys.executable, "-c", code, *noises]
        with tempfile.TemporaryDirectory() as cache:
            options = {"env": os.environ | {"NUMBA_CACHE_DIR": cache}, "capture_output": True, "check": True}
            runs = [subprocess.run(command, text=True, **options).stdout.split() for _ in range(2)]
        cells = [f"{float(seconds):.2f}" for run in runs for seconds in run]
        print(f"| {' and '.join(noises)} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Run the parts named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", choices=["ev", "memory", "dagma", "flopsearch", "growth", "compile"])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--dagma", metavar="PYTHON")
    parser.add_argument("--flopsearch", metavar="PYTHON")
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    versions = f"numpy {np.__version__}, Python {platform.python_version()}"
    print(f"golem {golem.__version__}, {versions}, {os.cpu_count()} cores\n")
    for noise in ("ev", "nv"):
        Golem(noise).fit(simulate(30, 200, random_state=0).data)  # compile outside the timings
    actions = {
        "ev": lambda: equal_variances(options.quick),
        "memory": memory,
        "dagma": lambda: against_dagma(options.dagma),
        "flopsearch": lambda: against_flopsearch(options.flopsearch),
        "growth": lambda: growth(options.plot),
        "compile": compile_time,
    }
    for part in options.parts:
        actions[part]()
    print(f"\npeak resident memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
