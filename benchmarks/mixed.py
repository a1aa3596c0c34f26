r"""Measure how well the edges of tables with numbers and categories are found.

Claim of docs/benchmarks/categories.md: where half of the nodes are categories with 2 to 4 levels (ER2, n = 1000, from
thresholded and from logistic mechanisms), the F1 of adjacencies is at least 0.05 above that of the same rows with codes
as numbers, and not below that of pgmpy (hill climbing, conditional Gaussian BIC) by two standard errors.

    python benchmarks/mixed.py
    python benchmarks/mixed.py --quick
    python benchmarks/mixed.py --nodes 20 --tables 5 --pgmpy .other-packages/pgmpy/bin/python

Seeds start at 1000; nothing was chosen on them. pgmpy takes minutes per table of 20 nodes and runs in an environment of
its own.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import tempfile
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv

from golem import Golem
from golem.runtime.version import __version__
from golem.simulate import SimulatedTable, simulate_table

FIRST_SEED = 1000
ROWS = 1000
MECHANISMS = ("threshold", "logistic")
PGMPY = """
import json, logging, sys, time, warnings
logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")
import pandas as pd
from pgmpy.estimators import HillClimbSearch
table = pd.read_csv(sys.argv[1], dtype={name: "category" for name in json.loads(sys.argv[2])})
began = time.perf_counter()
found = HillClimbSearch(table).estimate(scoring_method="bic-cg", show_progress=False)
print(json.dumps([time.perf_counter() - began, [list(edge) for edge in found.edges()]]))
"""


def adjacency_f1(truth: Any, estimate: Any) -> float:
    """Return the F1 of the pairs of connected nodes."""
    true, found = np.triu(truth | truth.T), np.triu(estimate | estimate.T)
    return float(2 * (true & found).sum() / max(true.sum() + found.sum(), 1))


def by_pgmpy(drawn: SimulatedTable, python: str) -> tuple[Any, float]:
    """Run pgmpy in its environment; return the graph and the seconds of its search."""
    categories = [variable.name for variable in drawn.coding.variables if variable.is_category]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        pyarrow.csv.write_csv(drawn.table, path)
        ended = subprocess.run(
            [python, "-c", PGMPY, str(path), json.dumps(categories)], capture_output=True, text=True, check=True
        )
    seconds, edges = json.loads(ended.stdout.splitlines()[-1])
    place = {name: j for j, name in enumerate(drawn.coding.names)}
    graph = np.zeros((len(place), len(place)), dtype=bool)
    for source, target in edges:
        graph[place[source], place[target]] = True
    return graph, seconds


def measure(task: tuple[str, int, int, str | None]) -> dict[str, tuple[float, float]]:
    """Return the F1 and the seconds of each method on one table."""
    mechanism, d, seed, python = task
    drawn = simulate_table(d, ROWS, "ER2", mechanism, random_state=seed)
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, data in (("categories", drawn.table), ("codes as numbers", drawn.rows)):
            Golem().fit(data)  # compiles the search
            began = time.perf_counter()
            graph = Golem().fit(data).adjacency_
            found[name] = adjacency_f1(drawn.adjacency, graph), time.perf_counter() - began
    if python is not None:
        graph, seconds = by_pgmpy(drawn, python)
        found["pgmpy"] = adjacency_f1(drawn.adjacency, graph), seconds
    return found


def main() -> None:
    """Print one line per mechanism and number of nodes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="3 tables of 20 nodes per mechanism")
    parser.add_argument("--nodes", type=int, nargs="+", default=[20, 50])
    parser.add_argument("--tables", type=int, default=10, help="per mechanism and number of nodes")
    parser.add_argument("--pgmpy", help="Python of an environment with pgmpy")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    given = parser.parse_args()
    nodes, tables = ([20], 3) if given.quick else (given.nodes, given.tables)
    print(f"golem {__version__}, Python {platform.python_version()}, NumPy {np.__version__}, {os.cpu_count()} cores")
    print("F1 of adjacencies, mean and standard error over the tables; median seconds")
    with ProcessPoolExecutor(given.jobs) as pool:
        for mechanism in MECHANISMS:
            for d in nodes:
                tasks = [(mechanism, d, FIRST_SEED + k, given.pgmpy) for k in range(tables)]
                rows = list(pool.map(measure, tasks))
                parts = []
                for name in rows[0]:
                    scores, seconds = np.array([row[name] for row in rows]).T
                    error = scores.std(ddof=1) / np.sqrt(len(scores))
                    parts.append(f"{name} {scores.mean():.3f} ± {error:.3f} ({np.median(seconds):.2f} s)")
                print(f"{mechanism:<10} d={d:<3} {tables} tables: {', '.join(parts)}", flush=True)


if __name__ == "__main__":
    main()
