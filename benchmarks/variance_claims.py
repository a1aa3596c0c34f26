"""Count right and wrong directions by noise variances, end to end: `Golem().fit(X)` with the class that it finds.

Claims of benchmarks/directions.md:

- calibration: at most 5 % of the directions by variance are wrong, for each spread of the noise, size of the weights
  and shape of the noise with at least 40 claims, over tables with n = 100, 300 and 1000.
- nothing is claimed with fewer than 5 columns, and nothing on standardized columns.
- structure: every direction by structure is also one of the class with free noise variances, so that none changes with
  the units of the columns where the search is exact (d <= 12).

    python benchmarks/variance_claims.py calibration            # 2 minutes on one core
    python benchmarks/variance_claims.py calibration --quick
    python benchmarks/variance_claims.py calibration --weak --least-log-odds 3    # what a lower threshold would claim
    python benchmarks/variance_claims.py structure

The threshold was chosen on seeds below 10 000; `--first-seed` chooses others.
"""

from __future__ import annotations

import argparse
import platform
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from golem import Golem
from golem.directions import evidence
from golem.directions.by_variance import LEAST_LOG_ODDS
from golem.runtime.version import __version__
from golem.simulate import simulate

Rng = np.random.Generator
# Standard deviations of the noise along the order of causes.
SPREADS: dict[str, Callable[[Rng, int], Any]] = {
    "equal": lambda rng, d: np.ones(d),
    "sd U(1, 2)": lambda rng, d: rng.uniform(1, 2, d),
    "log variances sd 1": lambda rng, d: np.exp(rng.normal(size=d) / 2),
    "sd from 3 down to 1": lambda rng, d: np.linspace(3, 1, d),
}
# Noise with mean 0 and variance 1.
SHAPES: dict[str, Callable[[Rng, tuple[int, int]], Any]] = {
    "gaussian": lambda rng, shape: rng.normal(size=shape),
    "laplace": lambda rng, shape: rng.laplace(size=shape) / np.sqrt(2),
    "t4": lambda rng, shape: rng.standard_t(4, size=shape) / np.sqrt(2),
    "lognormal": lambda rng, shape: (rng.lognormal(size=shape) - np.exp(0.5)) / np.sqrt(np.e * (np.e - 1)),
}
WEIGHTS = {"0.2 to 0.8": (0.2, 0.8), "0.5 to 2": (0.5, 2.0)}


def draw(
    d: int, n: int, spread: str, weights: str, rng: Rng, shape: str = "gaussian", units: str = "raw"
) -> tuple[Any, Any]:
    """Draw a random graph with one edge per node and rows of it; causes do not come first."""
    B = np.triu(rng.random((d, d)) < min(2 / (d - 1), 1), 1) * rng.uniform(*WEIGHTS[weights], (d, d))
    B *= rng.choice([-1, 1], (d, d))
    X = SHAPES[shape](rng, (n, d)) * SPREADS[spread](rng, d) @ np.linalg.inv(np.eye(d) - B)
    if units == "random units":
        X *= np.exp(rng.normal(size=d))
    elif units == "standardized":
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    order = rng.permutation(d)
    return X[:, order], (B != 0)[np.ix_(order, order)]


def count(X: Any, truth: Any) -> Counter[str]:
    """Count the directions by variance: right, reversed, between columns without an edge, and of all edges."""
    model = Golem(shape="off").fit(X)
    claims = model.by_variance_
    return Counter(
        right=int((claims & truth).sum()),
        reversed=int((claims & truth.T).sum()),
        neither=int((claims & ~truth & ~truth.T).sum()),
        open=int((model.adjacency_ & model.cpdag_.T).sum()),
    )


def calibration(seeds: range, sizes: tuple[int, ...], rows: tuple[int, ...], weak: bool) -> None:
    """Print the counts of all cells, or of those with Gaussian noise and weak effects."""
    cells = [(spread, weights, "gaussian", "raw") for spread in SPREADS for weights in WEIGHTS]
    cells += [("log variances sd 1", "0.5 to 2", shape, "raw") for shape in SHAPES if shape != "gaussian"]
    cells += [("equal", weights, "gaussian", "random units") for weights in WEIGHTS]
    cells += [("equal", "0.5 to 2", "gaussian", "standardized")]
    if weak:
        cells = [(spread, "0.2 to 0.8", "gaussian", "raw") for spread in SPREADS]
    print("| noise | weights | shape | units | d | right | reversed | wrong | claimed | no edge |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for spread, weights, shape, units in cells:
        for d in sizes:
            drawn = (
                draw(d, n, spread, weights, np.random.default_rng([seed, n, d]), shape, units)
                for n in rows
                for seed in seeds
            )
            found = sum((count(*one) for one in drawn), Counter())
            claimed = found["right"] + found["reversed"]
            wrong = f"{found['reversed'] / claimed:.1%}" if claimed else "-"
            share = f"{claimed / max(found['open'], 1):.0%}"
            print(
                f"| {spread} | {weights} | {shape} | {units} | {d} | {found['right']} | {found['reversed']} "
                f"| {wrong} | {share} | {found['neither']} |",
                flush=True,
            )


def structure(seeds: range) -> None:
    """Print what becomes of the directions by structure if the columns are standardized."""
    found: Counter[str] = Counter()
    for seed in seeds:
        X = simulate(10, 200, "ER2", "gaussian-nv", random_state=seed, weight_scale=0.5).data
        model, other = Golem(shape="off").fit(X), Golem(shape="off").fit(X / X.std(axis=0))
        fixed = {edge[:2]: edge.direction_from for edge in other.edges_}
        for edge in model.edges_:
            if edge.direction_from == "structure":
                same, turned = fixed.get(edge[:2]), fixed.get((edge.target, edge.source))
                found["by structure"] += 1
                found["kept"] += same == "structure"
                found["opposite"] += turned not in (None, "none")
    print(dict(found))


def main() -> None:
    """Run one measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measurement", choices=["calibration", "structure"])
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--first-seed", type=int, default=50_000)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--weak", action="store_true", help="only weak effects")
    parser.add_argument("--least-log-odds", type=float, default=LEAST_LOG_ODDS)
    given = parser.parse_args()
    evidence.LEAST_LOG_ODDS = given.least_log_odds  # type: ignore[attr-defined]
    seeds = range(given.first_seed, given.first_seed + (4 if given.quick else given.seeds))
    print(f"golem {__version__}, NumPy {np.__version__}, {platform.machine()}; {len(seeds)} tables per cell")
    if given.measurement == "structure":
        structure(seeds)
    else:
        sizes, rows = ((3, 10), (300,)) if given.quick else ((3, 5, 10, 20), (100, 300, 1000))
        calibration(seeds, sizes, rows, given.weak)


if __name__ == "__main__":
    main()
