"""Claims: the default search is as good as a thorough one used to be; starts, seeds and names hardly matter.

Compares the golem on the path with another checkout, in child processes, on the same tables. All scores are deviance
plus penalty of the graph found with free noise variances and standardized columns.

- hidden: ER2 graphs of 120 nodes of which 60 are hidden, so that no DAG is true. Scores of the default and the thorough
  search above the lowest one known for the table, and tables in which the thorough search is worse.
- seeds: range of the scores over four values of `random_state` (ER4, ER2, SF4; d = 100, n = 200).
- names: tables (n = 60, d = 14 to 22) in which renaming the columns changes the score of the graph.
- dense: average degree 20, n = 10,000; SHD-C, number of edges, and score above that of the true graph.
- degrees: the same for average degrees 4 to 12, where the search must not be slower.

Processor seconds, one thread, since others may use the machine. Seeds below 1000 were used to choose settings.

    git worktree add ../before COMMIT && PYTHONPATH=src python benchmarks/search_quality.py --old ../before/src
    PYTHONPATH=src python benchmarks/search_quality.py --old ../before/src --quick     # under a minute
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
import warnings

import numpy as np

# Nodes, rows and graph of every cell.
HIDDEN = {"n=1000": (120, 1000, "ER2"), "n=200": (120, 200, "ER2")}
SEEDS = {"ER4": (100, 200, "ER4"), "ER2": (100, 200, "ER2"), "SF4": (100, 200, "SF4")}
DENSE = {"d=100": (100, 10_000, "ER10"), "d=200": (200, 10_000, "ER10")}
DEGREES = {"4": (100, 1000, "ER2"), "8": (100, 1000, "ER4"), "12": (100, 10_000, "ER6")}
RANDOM_STATES = 4


def fit(X, names=None, **options):
    """Return the model of free variances, its score and the processor seconds of the fit."""
    from golem import Golem, Moments

    moments = Moments.from_rows(X, names or [f"x{j}" for j in range(X.shape[1])])
    began = time.process_time()
    model = Golem("nv", shape="off", **options).fit(moments)
    seconds = time.process_time() - began
    return model, 2 * len(X) * model.solution_.terms["score"], seconds


def drawn(cell, seed):
    """Return a simulation with standardized columns."""
    from golem.simulate import simulate

    d, n, graph = cell
    return simulate(d, n, graph, "gaussian-nv", random_state=seed, standardize=True)


def hidden(cell, seed):
    """Return the scores of both efforts if half of the columns are hidden."""
    X = drawn(cell, seed).data
    X = X[:, np.random.default_rng(seed).permutation(X.shape[1])[: X.shape[1] // 2]]
    found = {effort: fit(X, effort=effort)[1:] for effort in ("default", "thorough")}
    return {effort: {"score": score, "seconds": seconds} for effort, (score, seconds) in found.items()}


def seeds(cell, seed):
    """Return the scores for several values of `random_state`."""
    X = drawn(cell, seed).data
    found = [fit(X, random_state=k)[1:] for k in range(RANDOM_STATES)]
    return {"scores": [score for score, _ in found], "seconds": float(np.mean([s for _, s in found]))}


def names(cell, seed):
    """Return the scores of a table and of the same one with other names."""
    d = 14 + seed % 9
    X = drawn((d, 60, "ER2"), seed).data
    renamed = [f"x{j}" for j in np.random.default_rng(seed).permutation(d)]
    found = fit(X)[1:], fit(X, renamed)[1:]
    return {"scores": [score for score, _ in found], "seconds": found[0][1]}


def dense(cell, seed):
    """Return the accuracy in a dense graph."""
    from golem import metrics
    from golem.score import L0
    from golem.score.regression import regressions

    one = drawn(cell, seed)
    (n, d), truth = one.data.shape, one.sem.adjacency
    try:
        model, score, seconds = fit(one.data)
    except ValueError as error:
        return {"refused": str(error)}
    true = n * np.log(regressions(truth, np.cov(one.data.T, bias=True)).residual_variances).sum()
    true += L0().penalties(n, d)[truth.sum(axis=0)].sum()
    shd_c = metrics.shd_c(truth, model.weights_)
    return {"edges": int(truth.sum()), "shd_c": shd_c, "above": float(score - true), "seconds": seconds}


PARTS = {
    "hidden": (hidden, HIDDEN, 20),
    "seeds": (seeds, SEEDS, 10),
    "names": (names, {"": None}, 100),
    "dense": (dense, DENSE, 4),
    "degrees": (dense, DEGREES, 6),
}


def measure(part: str, cell: str, tables: list[int]) -> None:
    """Print the results of one cell as JSON."""
    warnings.simplefilter("ignore")
    task, cells, _ = PARTS[part]
    fit(np.random.default_rng(0).normal(size=(200, 20)))  # compiles
    print(json.dumps([task(cells[cell], seed) for seed in tables]))


def measured(path: str, part: str, cell: str, tables: list[int]) -> list[dict]:
    """Return the results of one cell with a version of golem."""
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    listed = ",".join(map(str, tables))
    command = [sys.executable, __file__, "--measure", part, cell, listed]
    return json.loads(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)


def summary(part: str, mine: list[dict], best: list[float]) -> str:
    """Return one line about the results of one version."""
    if part == "hidden":
        words = []
        for effort in ("default", "thorough"):
            above = np.array([row[effort]["score"] for row in mine]) - best
            error = above.std(ddof=1) / np.sqrt(len(above))
            seconds = np.mean([row[effort]["seconds"] for row in mine])
            words.append(f"{effort} {above.mean():.1f} ({error:.1f}), {seconds:.3f} s")
        worse = sum(row["thorough"]["score"] > row["default"]["score"] + 0.01 for row in mine)
        return f"{'; '.join(words)}; thorough worse in {worse} of {len(mine)}"
    seconds = np.mean([row.get("seconds", np.nan) for row in mine])
    if part == "seeds":
        spread, above = (np.mean([f(row["scores"]) for row in mine]) for f in (np.ptp, np.mean))
        return f"range {spread:.1f}, {above - np.mean(best):.1f} above the best; {seconds:.3f} s"
    if part == "names":
        return f"{sum(np.ptp(row['scores']) > 0.01 for row in mine)} of {len(mine)} change; {seconds:.3f} s"
    told = [
        f"{row['shd_c']:.0f} of {row['edges']} ({row['above']:+.1f}, {row['seconds']:.2g} s)"
        if "edges" in row
        else "refused"
        for row in mine
    ]
    return "SHD-C " + ", ".join(told)


def scores_of(part: str, row: dict) -> list[float]:
    """Return all scores of a table."""
    return [one["score"] for one in row.values()] if part == "hidden" else row.get("scores", [0.0])


def main() -> None:
    """Compare two versions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", metavar="SRC", help="src folder of the version to compare with")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--tables", type=int, help="tables per cell")
    parser.add_argument("--first-seed", type=int, default=1000)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        part, cell, listed = options.measure
        measure(part, cell, [int(seed) for seed in listed.split(",")])
        return
    versions = ({"old": options.old} if options.old else {}) | {"new": os.environ.get("PYTHONPATH", "src")}
    print(f"numpy {np.__version__}, Python {platform.python_version()}, {platform.machine()}, one thread")
    for part in options.parts:
        _, cells, number = PARTS[part]
        number = options.tables or (max(number // 10, 2) if options.quick else number)
        if options.quick and part == "dense":
            continue
        tables = list(range(options.first_seed, options.first_seed + number))
        for cell in list(cells)[: 1 if options.quick else None]:
            found = {name: measured(path, part, cell, tables) for name, path in versions.items()}
            best = [min(s for rows in found.values() for s in scores_of(part, rows[k])) for k in range(number)]
            for name, rows in found.items():
                print(f"{part} {cell} {name}: {summary(part, rows, best)}", flush=True)


if __name__ == "__main__":
    main()
