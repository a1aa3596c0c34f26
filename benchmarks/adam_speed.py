"""Claim: a step of Adam is at least 8 times faster here than in gcastle 1.0.4 at d = 50 and 100.

Time 1000 steps of GOLEM-EV (ER2, Gaussian-EV, n = 1000) in golem and in gcastle's GOLEM, alternating in one run, and
print medians. Then time L-BFGS until it reaches Adam's score. gcastle needs its own environment, because it pins old
packages:

    python -m venv .other-packages/gcastle && .other-packages/gcastle/bin/pip install torch==2.13.0 gcastle==1.0.4
    python benchmarks/adam_speed.py --gcastle .other-packages/gcastle/bin/python   # about 20 minutes on two cores
    python benchmarks/adam_speed.py --quick                                # only golem, under a minute
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy

import golem
from golem.data.moments import Moments
from golem.score.likelihood import GaussianEV
from golem.score.objective import Objective
from golem.simulate import simulate
from golem.solvers import LBFGS, Adam

# Runs in the other environment: seconds for a number of steps of its GOLEM, without the start-up time.
GCASTLE = """
import json, sys, time, logging
import numpy as np
logging.disable(logging.CRITICAL)
from castle.algorithms import GOLEM
X, steps = np.load(sys.argv[1]), int(sys.argv[2])
def seconds(count):
    model = GOLEM(num_iter=count, lambda_1=2e-2, lambda_2=5.0, equal_variances=True, learning_rate=1e-3,
                  checkpoint_iter=10**9, device_type="cpu")
    began = time.perf_counter()
    model.learn(X)
    return time.perf_counter() - began
seconds(10)  # the first call includes imports and set-up
few = seconds(10)
print(json.dumps((seconds(steps + 10) - few) / steps * 1000))
"""


def problem(d: int, seed: int = 0) -> tuple[np.ndarray, Objective]:
    """Rows and the objective of GOLEM-EV."""
    data = simulate(d, 1000, "ER2", "gaussian-ev", random_state=seed).data
    S = Moments.from_rows(data).covariance
    return data, Objective(S, GaussianEV(), lambda_sparsity=2e-2, lambda_dag=5.0)


def our_seconds(objective: Objective, steps: int) -> float:
    """Seconds per 1000 steps."""
    return Adam(max_iter=steps).solve(objective).seconds / steps * 1000


def gcastle_seconds(python: str, data: np.ndarray, steps: int) -> float:
    """Seconds per 1000 steps in the other environment."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.npy"
        np.save(path, data)
        command = [python, "-c", GCASTLE, str(path), str(steps)]
        return float(
            json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1])
        )


def step_table(sizes: list[int], repetitions: int, steps: int, python: str | None) -> None:
    """Print medians of seconds per 1000 steps."""
    print("| d | golem, s per 1000 steps | gcastle | ratio |")
    print("|---|---|---|---|")
    for d in sizes:
        data, objective = problem(d)
        ours, theirs = [], []
        for _ in range(repetitions):
            ours.append(our_seconds(objective, steps))
            if python:
                theirs.append(gcastle_seconds(python, data, max(100, steps // 8)))
        mine = statistics.median(ours)
        if theirs:
            other = statistics.median(theirs)
            print(f"| {d} | {mine:.2f} | {other:.2f} | {other / mine:.1f} |", flush=True)
        else:
            print(f"| {d} | {mine:.2f} | not run | |", flush=True)


def score_table(sizes: list[int], steps: int) -> None:
    """Print how long L-BFGS takes to the score that Adam reaches in a number of steps."""
    print(f"\n| d | Adam, {steps} steps, s | score | L-BFGS to that score, s | ratio | L-BFGS converged, s | score |")
    print("|---|---|---|---|---|---|---|")
    for d in sizes:
        _, objective = problem(d)
        adam = Adam(max_iter=steps).solve(objective)
        target = adam.terms["score"]
        lbfgs = LBFGS().solve(objective)
        reached = [point.seconds for point in lbfgs.trace if point.terms["score"] <= target]
        if reached:
            shown, ratio = f"{reached[0]:.2f}", f"{adam.seconds / max(reached[0], 1e-9):.0f}"
        else:
            shown, ratio = f"not reached (ends {lbfgs.terms['score'] - target:+.3g} above)", ""
        print(
            f"| {d} | {adam.seconds:.1f} | {target:.4f} | {shown} | {ratio} | {lbfgs.seconds:.2f} | "
            f"{lbfgs.terms['score']:.4f} |",
            flush=True,
        )


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--gcastle", metavar="PYTHON", help="interpreter of an environment with gcastle 1.0.4")
    parser.add_argument("--steps", type=int, default=20_000, help="steps of Adam in the second table")
    options = parser.parse_args()
    began = time.perf_counter()
    versions = f"numpy {np.__version__}, scipy {scipy.__version__}, Python {platform.python_version()}"
    print(f"golem {golem.__version__}, {versions}")
    if options.quick:
        step_table([20, 50, 100], 3, 300, options.gcastle)
        score_table([20], 3000)
    else:
        step_table([20, 50, 100], 5, 2000, options.gcastle)
        step_table([200], 3, 500, options.gcastle)
        score_table([20, 50, 100], options.steps)
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
