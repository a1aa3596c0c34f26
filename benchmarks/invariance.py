"""Changes that must not change the graph: order of rows and columns, memory layout, added constants, threads.

The claim (benchmarks/reliability.md): over 300 tables with up to 40 columns and at least twice as many rows, none of
these changes gives another equivalence class or another graph, for each noise model.

    python benchmarks/invariance.py            # all 300 tables
    python benchmarks/invariance.py --quick    # 20 tables, under a minute
"""

from __future__ import annotations

import argparse
import os
import platform
import time
import warnings
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

import golem
from golem import Golem
from golem.simulate import simulate

NOISES = ("nv", "ev", "auto")


def problem(seed: int) -> pd.DataFrame:
    """Return a random table: 3 to 40 columns, 2 to 40 rows per column, some of them standardized or rounded."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(3, 41))
    n = int(d * rng.choice([2, 3, 5, 10, 40]))
    graph = str(rng.choice(["ER1", "ER2", "ER4"] if d > 9 else ["ER1"]))
    noise = str(rng.choice(["gaussian-ev", "gaussian-nv", "exponential"]))
    X = simulate(d, n, graph, noise, random_state=seed).data
    kind = rng.integers(4)
    if kind == 0:
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    elif kind == 1:
        X = X.round(1)
    names = [f"v{k}" for k in rng.permutation(d)]
    return pd.DataFrame(X, columns=names)


def rows(X: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Permute the rows."""
    return X.iloc[rng.permutation(len(X))]


def columns(X: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Permute the columns with their names."""
    return X.iloc[:, rng.permutation(X.shape[1])]


def layout(X: pd.DataFrame, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return an array in Fortran or C order, with the columns in the order of their names v0, v1, ..."""
    values = X[[f"v{k}" for k in range(X.shape[1])]].to_numpy()
    return np.asfortranarray(values) if rng.random() < 0.5 else np.ascontiguousarray(values)


def offsets(X: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Add constants of up to 100 standard deviations."""
    return X + rng.uniform(-100, 100, X.shape[1]) * X.std().to_numpy()


def threads(X: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Change nothing: the fit uses one thread."""
    return X


CHANGES: dict[str, Callable[[pd.DataFrame, np.random.Generator], Any]] = {
    "order of rows": rows,
    "order of columns": columns,
    "memory layout": layout,
    "added constants": offsets,
    "number of threads": threads,
}


def fitted(X: Any, noise: Any, names: list[str], limit: int | None = None) -> tuple[bytes, bytes]:
    """Return the class and the graph, with the columns in the given order."""
    with threadpool_limits(limit), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few rows, equal scales
        model = Golem(noise).fit(X)
    columns = [f"v{k}" for k in range(X.shape[1])] if isinstance(X, np.ndarray) else list(X.columns)
    index = [columns.index(name) for name in names]
    block = np.ix_(index, index)
    return model.cpdag_[block].tobytes(), model.adjacency_[block].tobytes()


def differences(seed: int) -> list[tuple[str, str, int]]:
    """Fit one table before and after every change; return what differs: (change, noise, 0 for class or 1 for graph)."""
    found = []
    X = problem(seed)
    names = sorted(X.columns)
    for noise in NOISES:
        before = fitted(X, noise, names)
        for change, make in CHANGES.items():
            changed = make(X, np.random.default_rng(seed))
            after = fitted(changed, noise, names, 1 if change == "number of threads" else None)
            found += [(change, noise, k) for k in range(2) if before[k] != after[k]]
    return found


def main() -> None:
    """Fit every table before and after every change, and print the table of differences."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="20 tables instead of 300")
    parser.add_argument("--workers", type=int, default=1, help="number of processes")
    parser.add_argument("--verbose", action="store_true", help="print every difference")
    options = parser.parse_args()
    count, began = 20 if options.quick else 300, time.perf_counter()
    total: Counter[tuple[str, str, int]] = Counter()
    with ProcessPoolExecutor(options.workers) as pool:
        for seed, found in enumerate(pool.map(differences, range(count))):
            total.update(found)
            if options.verbose and found:
                print(f"seed {seed}: {found}", flush=True)
    print(
        "| change | tables | classes that differ: nv, ev, auto | graphs that differ: nv, ev, auto |\n|---|---|---|---|"
    )
    for change in CHANGES:
        of_class, of_graph = (", ".join(str(total[change, noise, k]) for noise in NOISES) for k in range(2))
        print(f"| {change} | {count} | {of_class} | {of_graph} |")
    versions = f"golem {golem.__version__}, numpy {np.__version__}, Python {platform.python_version()}"
    print(f"\n{versions}, {os.cpu_count()} cores, {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
