"""Claim: with missing values, EM is more accurate than complete rows, if it counts rows as golem does.

    python benchmarks/missing_values.py --seeds 24
    python benchmarks/missing_values.py --seeds 0    # only the time of EM

Cells are missing completely at random. "em" is `Golem(missing="em")`; "em, all rows" counts all rows; "em,
share of cells" counts all rows times the share of cells that are observed; "drop" uses complete rows.
"""

from __future__ import annotations

import argparse
import platform
import time
import warnings

import numpy as np

import golem
from golem import Golem, Moments, metrics
from golem.data.checks import DataWarning
from golem.simulate import simulate


def cases(rows: np.ndarray, share: float, rng: np.random.Generator) -> dict[str, Moments]:
    """Return the moments by every method for missing cells."""
    X = np.where(rng.random(rows.shape) < share, np.nan, rows)
    em = Moments.from_rows(X, missing="em")
    found = {"complete data": Moments.from_rows(rows), "em": em}
    for name, n in (("em, all rows", len(X)), ("em, share of cells", round(len(X) * np.mean(~np.isnan(X))))):
        found[name] = Moments.from_covariance(em.covariance, n, em.mean)
    if np.sum(~np.isnan(X).any(axis=1)) > 3:
        found["drop"] = Moments.from_rows(X, missing="drop")
    return found


def main() -> None:
    """Print a table per noise model: errors per graph with standard errors."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=24)
    parser.add_argument("--d", type=int, default=20)
    parser.add_argument("--n", type=int, default=500)
    parser.add_argument("--graph", default="ER1")
    options = parser.parse_args()
    warnings.simplefilter("ignore", DataWarning)
    print(f"golem {golem.__version__}, numpy {np.__version__}, Python {platform.python_version()}")
    names = ("complete data", "em", "em, all rows", "em, share of cells", "drop")
    for noise, metric in (("nv", metrics.shd_c), ("ev", metrics.shd)) if options.seeds else ():
        print(f"\nnoise={noise}, {metric.__name__}, {options.graph}, d = {options.d}, n = {options.n}")
        print("| missing |", " | ".join(names), "|\n|---|" + "---|" * len(names))
        for share in (0.02, 0.05, 0.1, 0.2, 0.3):
            errors: dict[str, list[float]] = {name: [] for name in names}
            for seed in range(options.seeds):
                drawn = simulate(options.d, options.n, options.graph, f"gaussian-{noise}", random_state=seed)
                for name, moments in cases(drawn.data, share, np.random.default_rng(seed)).items():
                    graph = Golem(noise).fit(moments).adjacency_
                    errors[name].append(float(metric(drawn.sem.adjacency, graph)))
            cells = [
                f"{np.mean(found):.2f} ± {np.std(found) / np.sqrt(len(found)):.2f}"
                if len(found) == options.seeds
                else "too few rows"
                for found in errors.values()
            ]
            print(f"| {share:.0%} |", " | ".join(cells), "|", flush=True)
    print("\nSeconds of processor time of EM")
    for n, d, share in ((1000, 20, 0.1), (10_000, 50, 0.1), (10_000, 50, 0.3), (5000, 200, 0.05)):
        rows = simulate(d, n, "ER2", random_state=0).data
        rows[np.random.default_rng(0).random(rows.shape) < share] = np.nan
        began = time.process_time()
        moments = Moments.from_rows(rows, missing="em")
        seconds = time.process_time() - began
        print(f"n = {n}, d = {d}, {share:.0%} missing: {seconds:.1f} s, {moments.missing.iterations} steps", flush=True)


if __name__ == "__main__":
    main()
