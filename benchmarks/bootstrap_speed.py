"""Claim: 100 bootstrap fits at d = 100 take at most 60 times one fit's time on 2 cores (benchmarks/confidence.md).

    python benchmarks/bootstrap_speed.py [--quick] [--methods order,order-nv,order-ev] [--jobs 2]

ER2, n = 1000, 3 seeds. The time of one fit is the median of 9 before and 9 after the bootstrap. Two ratios are printed:
that of the wall-clock times, and that of the processor times divided by the number of jobs. The second depends less on
other programs, and is what jobs would take if they never waited for each other.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable

import numpy as np

import golem
from golem import Golem
from golem.simulate import simulate

METHODS = {"order": "auto", "order-nv": "nv", "order-ev": "ev"}


def timed(work: Callable[[], object]) -> np.ndarray:
    """Wall-clock and processor seconds."""
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return np.array([time.perf_counter() - wall, time.process_time() - processor])


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one table per method, and 20 replicates")
    parser.add_argument("--methods", default="order,order-nv,order-ev")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    replicates, seeds = (20, range(1)) if options.quick else (100, range(3))
    print(f"golem {golem.__version__}, numpy {np.__version__}, Python {platform.python_version()}")
    print("| method | noise | one fit, s | bootstrap, s | wall ratio | processor ratio / jobs |")
    print("|---|---|---|---|---|---|")
    for method in options.methods.split(","):
        for noise in ("gaussian-ev", "gaussian-nv"):
            rows = []
            for seed in seeds:
                X = simulate(100, 1000, "ER2", noise, random_state=seed).data
                model = Golem(METHODS[method])
                model.fit(X)  # compiles
                fits = [timed(lambda model=model, X=X: model.fit(X)) for _ in range(9)]
                whole = timed(lambda model=model, X=X: golem.bootstrap(model, X, replicates, n_jobs=options.jobs))
                fits += [timed(lambda model=model, X=X: model.fit(X)) for _ in range(9)]
                one = np.median(fits, axis=0)
                rows.append([one[0], whole[0], *(whole / one * 100 / replicates / [1, options.jobs])])
            one_wall, all_wall, wall, processor = np.median(rows, axis=0)
            print(
                f"| {method} | {noise} | {one_wall:.3f} | {all_wall:.2f} | {wall:.0f} | {processor:.0f} |", flush=True
            )


if __name__ == "__main__":
    main()
