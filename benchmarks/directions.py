"""Measure directions by the shape of the noise: accuracy, calibration, wrong claims where the model is wrong, time.

Claims of benchmarks/directions.md:

- accuracy: with noise that is not Gaussian, free variances and standardized columns, the SHD is at most half of that of
  order-nv and DirectLiNGAM, or within 0.5 of the SHD-C; at least 98 % of the claimed directions are right. With
  Gaussian noise at most 1 % of the open directions are claimed. Wrong claims are counted by kind: the two columns have
  no edge in the truth; the edge is reversed and its class was wrong; the edge is reversed and its true class is open.
- calibration: of the claims with a p-value of at most 5 % (all claims), at most 5 % are wrong. With Gaussian noise, the
  evidence alone, without the gate, has a p-value of at most 5 % in about 5 % of the components.
- assumptions: where the linear model with independent noise does not hold, at most 10 % of the open directions are
  claimed at n = 1000, or at least 90 % of the claims are right.
- groups: for pairs with a hidden group of rows, a bent effect or shared heavy tails, at most 10 % of the tables have a
  wrong claim. In linear models, the comparison with models without a direction loses at most 10 % of the right claims.
- time: the shapes add at most 0.3 s to a fit with d = 100 and n = 1000. To the fit of a tree of 1000 columns, whose
  directions are all open, they add a few seconds.
- memory: from a Parquet file, the peak hardly grows with the number of rows, and the shapes do not raise it.

    python benchmarks/directions.py accuracy
    python benchmarks/directions.py accuracy --seeds 20 --lingam-seeds 5   # DirectLiNGAM, which is slow, for few seeds
    python benchmarks/directions.py calibration
    python benchmarks/directions.py assumptions
    python benchmarks/directions.py groups
    python benchmarks/directions.py time
    python benchmarks/directions.py memory

The gate was tuned on seeds below 1000; `--first-seed` chooses others.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from golem import Golem
from golem.baselines import DirectLiNGAM
from golem.directions import by_shape
from golem.directions.by_shape import directions_by_shape
from golem.directions.equivalence_class import components
from golem.graphs.dag import cpdag, topological_order
from golem.graphs.edges import Edges
from golem.metrics import shd, shd_c
from golem.runtime.version import __version__
from golem.simulate import random_dag, random_weights

Rng = np.random.Generator
# Noise with mean 0 and variance 1.
SHAPES: dict[str, Callable[[Rng, int], Any]] = {
    "exponential": lambda rng, n: rng.exponential(size=n) - 1,
    "uniform": lambda rng, n: rng.uniform(-np.sqrt(3), np.sqrt(3), n),
    "laplace": lambda rng, n: rng.laplace(size=n) / np.sqrt(2),
    "gumbel": lambda rng, n: (rng.gumbel(size=n) - np.euler_gamma) * np.sqrt(6) / np.pi,
    "gaussian": lambda rng, n: rng.normal(size=n),
    "t, 5 df": lambda rng, n: rng.standard_t(5, size=n) * np.sqrt(3 / 5),
}
NOISES = ("exponential", "uniform", "laplace", "gumbel", "gaussian", "half gaussian")
VIOLATIONS = (
    "tanh(2x)", "x + 0.3 x^2", "confounded laplace", "confounded uniform", "confounded exponential",
    "multivariate t, 10 df", "1 % outlying cells", "1 % outlying rows", "measurement error", "exponential", "laplace",
    "uniform", "gaussian",
)  # fmt: skip
# Pairs x, y = 0.8 x + noise: three in which the shapes mislead, and linear ones.
PAIRS = (
    "hidden group", "tanh(y)", "multivariate t, 5 df", "exponential", "uniform", "laplace", "t, 5 df",
    "exponential, gaussian", "uniform, gaussian",
)  # fmt: skip


def linear(d: int, graph: str, noise: str, n: int, rng: Rng) -> tuple[Any, Any]:
    """Draw a linear model with noise scales from U[1, 2], and rows."""
    adjacency = random_dag(d, graph, rng)
    B, scales = random_weights(adjacency, rng), rng.uniform(1, 2, d)
    kinds = [("exponential" if j < d // 2 else "gaussian") if noise == "half gaussian" else noise for j in range(d)]
    E = np.column_stack([SHAPES[kind](rng, n) for kind in kinds]) * scales
    return adjacency, E @ np.linalg.inv(np.eye(d) - B)


def nonlinear(d: int, graph: str, effect: Callable[[Any], Any], n: int, rng: Rng) -> tuple[Any, Any]:
    """Draw a model with nonlinear effects of standardized causes and Gaussian noise."""
    adjacency = random_dag(d, graph, rng)
    B, X = random_weights(adjacency, rng), np.zeros((n, d))
    for j in topological_order(adjacency):
        X[:, j] = rng.normal(size=n) * rng.uniform(1, 2)
        for i in np.flatnonzero(adjacency[:, j]):
            X[:, j] += B[i, j] * effect((X[:, i] - X[:, i].mean()) / X[:, i].std())
    return adjacency, X


def violated(kind: str, d: int, n: int, rng: Rng) -> tuple[Any, Any]:
    """Draw rows for which the linear model with independent noise is wrong, except for the last few kinds."""
    if kind in SHAPES:
        return linear(d, "ER1", kind, n, rng)
    if kind in ("tanh(2x)", "x + 0.3 x^2"):
        return nonlinear(d, "ER1", (lambda x: np.tanh(2 * x)) if "tanh" in kind else (lambda x: x + 0.3 * x**2), n, rng)
    if kind.startswith("confounded"):
        draw = SHAPES[kind.split()[1]]
        X = np.column_stack([draw(rng, n) for _ in range(d)]) * rng.uniform(0.5, 1, d)
        for first in range(0, d - 1, 2):
            X[:, first : first + 2] += draw(rng, n)[:, None] * [rng.choice([-1, 1]), 1]
        return np.zeros((d, d), dtype=bool), X
    adjacency, X = linear(d, "ER1", "exponential" if kind == "measurement error" else "gaussian", n, rng)
    X = X / X.std(axis=0)
    if kind == "multivariate t, 10 df":
        X = X * np.sqrt(10 / rng.chisquare(10, n))[:, None]
    elif kind == "1 % outlying cells":
        X = X + (rng.random(X.shape) < 0.01) * rng.normal(size=X.shape) * 5
    elif kind == "1 % outlying rows":
        X = X * np.where(rng.random(n) < 0.01, 5, 1)[:, None]
    else:
        X = X + 0.5 * rng.normal(size=X.shape)
    return adjacency, X


def pair(kind: str, n: int, rng: Rng) -> tuple[Any, Any]:
    """Draw rows of x -> y."""
    first, last = kind.split(", g")[0], "gaussian" if kind.endswith("gaussian") else kind
    x, noise = (SHAPES.get(name, SHAPES["gaussian"])(rng, n) for name in (first, last))
    group = (rng.random(n) < 0.3) if kind == "hidden group" else np.zeros(n)
    x = x + 2 * group
    y = 0.8 * x + noise + 1.5 * group
    scale = np.sqrt(5 / rng.chisquare(5, n)) if kind.startswith("multivariate") else np.ones(n)
    X = np.column_stack([x, np.tanh(y) if kind == "tanh(y)" else y]) * scale[:, None]
    return np.array([[False, True], [False, False]]), X


def standardized(X: Any) -> Any:
    """Return columns of mean 0 and variance 1."""
    return (X - X.mean(axis=0)) / X.std(axis=0)


def accuracy_of(job: tuple[str, str, int, int, bool]) -> list[float]:
    """Return SHD before, after and of DirectLiNGAM, SHD-C, open and claimed directions, and wrong claims by kind."""
    noise, graph, d, seed, with_lingam = job
    warnings.simplefilter("ignore")
    truth, X = linear(d, graph, noise, 1000, np.random.default_rng([seed, 1]))
    X = standardized(X)
    before, after = Golem("nv", shape="off").fit(X), Golem("nv").fit(X)
    lingam = shd(truth, DirectLiNGAM().fit(X).adjacency_) if with_lingam else np.nan
    claimed, reversible = after.by_shape_, cpdag(truth) & cpdag(truth).T
    return [
        shd(truth, before.adjacency_), shd(truth, after.adjacency_), lingam, shd_c(truth, after.adjacency_),
        before.undecided_.sum(), claimed.sum(), (claimed & ~(truth | truth.T)).sum(),
        (claimed & truth.T & ~reversible).sum(), (claimed & truth.T & reversible).sum(),
    ]  # fmt: skip


def rates_of(job: tuple[str, str, int, int]) -> list[float]:
    """Return the numbers of claims, wrong claims and reversed edges, and of components and those with evidence.

    Wrong claims include those about edges that are not in the truth. Evidence is a p-value of at most 5 % without
    the gate; it is counted in the class of the true graph.
    """
    noise, graph, d, seed = job
    warnings.simplefilter("ignore")
    truth, X = linear(d, graph, noise, 1000, np.random.default_rng([seed, 1]))
    model = Golem("nv").fit(standardized(X))
    claimed = np.zeros_like(truth)
    for edge in model.edges_:
        if edge.direction_error_rate is not None and edge.direction_error_rate <= 0.05:
            claimed[int(edge.source[1:]), int(edge.target[1:])] = True
    edges, rank = Edges.from_matrix(truth), np.arange(d)
    found = components(edges, edges.find_reversible(), np.zeros(len(edges), dtype=bool), rank)
    evidence = directions_by_shape(X, edges, found, rank).evidence
    strong = {node for edge, support in evidence.items() if support.error_rate <= 0.05 for node in edge}
    return [
        claimed.sum(), (claimed & ~truth).sum(), (claimed & truth.T).sum(), len(found),
        sum(not strong.isdisjoint(one.nodes.tolist()) for one in found),
    ]  # fmt: skip


def claims_of(job: tuple[str, int, int, int]) -> list[float]:
    """Return the numbers of open, claimed and rightly claimed directions."""
    kind, d, n, seed = job
    warnings.simplefilter("ignore")
    truth, X = violated(kind, d, n, np.random.default_rng([seed, 2]))
    model = Golem("nv").fit(standardized(X))
    return [
        (model.undecided_ | model.by_shape_).sum(), model.by_shape_.sum(), (model.by_shape_ & truth).sum()
    ]  # fmt: skip


def compared_of(job: tuple[str, int, int, int]) -> list[float]:
    """Return right and wrong claims by shape with the comparison with models without a direction, then without it."""
    kind, d, n, seed = job
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([seed, 3])
    truth, X = pair(kind, n, rng) if d == 2 else linear(d, "ER2", kind, n, rng)
    found = []
    for least in (by_shape._LEAST_ADVANTAGE, -np.inf):
        with patch.object(by_shape, "_LEAST_ADVANTAGE", least):
            claimed = Golem("nv").fit(standardized(X)).by_shape_
        found += [(claimed & truth).sum(), (claimed & ~truth).sum()]
    return found


def share(part: float, whole: float) -> str:
    """Return a share as text."""
    return f"{part / whole:.1%}" if whole else "-"


def accuracy(seeds: range, lingam_seeds: int, sizes: tuple[int, ...], pool: ProcessPoolExecutor) -> None:
    """Print the table of accuracies; the last line of a noise is the mean over the sizes, with all wrong claims."""
    header = f"{'noise':<15}{'graph':<7}{'d':>5}  order-nv  shape  DirectLiNGAM  SHD-C  open  claimed  right"
    print(f"{header}  claims  no edge  wrong class  open class")
    for noise in NOISES:
        for graph in ("ER2", "SF2"):
            tables = []
            for d in sizes:
                jobs = [(noise, graph, d, seed, k < lingam_seeds) for k, seed in enumerate(seeds)]
                tables.append(np.array(list(pool.map(accuracy_of, jobs))))
                report(noise, graph, str(d), tables[-1])
            report(noise, graph, "mean", np.concatenate(tables))


def calibration(seeds: range, sizes: tuple[int, ...], pool: ProcessPoolExecutor) -> None:
    """Print how often claims with a p-value of at most 5 % are wrong."""
    print(f"{'noise':<15}{'graph':<7}{'d':>5}  claims  wrong  right  reversed  components  with evidence, no gate")
    everything = np.zeros(5)
    for noise in NOISES:
        for graph in ("ER2", "SF2"):
            total = np.zeros(5)
            for d in sizes:
                found = np.sum(list(pool.map(rates_of, [(noise, graph, d, seed) for seed in seeds])), axis=0)
                report_rates(noise, graph, str(d), found)
                total += found
            report_rates(noise, graph, "all", total)
            everything += total
    report_rates("all", "", "all", everything)


def report_rates(noise: str, graph: str, d: str, found: Any) -> None:
    """Print one line of the table of wrong claims."""
    claims = f"{found[0]:>8.0f}{found[1]:>7.0f}{share(found[0] - found[1], found[0]):>7}{found[2]:>10.0f}"
    print(f"{noise:<15}{graph:<7}{d:>5}{claims}{found[3]:>12.0f}{share(found[4], found[3]):>24}", flush=True)


def report(noise: str, graph: str, d: str, found: Any) -> None:
    """Print one line of the table of accuracies."""
    mean, total, wrong = np.nanmean(found, axis=0), found.sum(axis=0), found[:, 6:].sum(axis=0)
    shares = f"{share(total[5], total[4]):>9}{share(total[5] - wrong.sum(), total[5]):>7}"
    numbers = f"{mean[0]:>10.2f}{mean[1]:>7.2f}{mean[2]:>14.2f}{mean[3]:>7.2f}{mean[4]:>6.1f}"
    kinds = f"{total[5]:>8.0f}{wrong[0]:>9.0f}{wrong[1]:>13.0f}{wrong[2]:>12.0f}"
    print(f"{noise:<15}{graph:<7}{d:>5}{numbers}{shares}{kinds}", flush=True)


def assumptions(seeds: range, pool: ProcessPoolExecutor) -> None:
    """Print the table of claims where the model is wrong, for d = 30 and for single confounded pairs."""
    print(f"{'data':<25}{'d':>4}{'n':>6}{'open':>7}{'claimed':>9}{'right':>8}")
    for n in (1000, 300):
        for kind in VIOLATIONS:
            report_claims(kind, 30, n, seeds, pool)
        for kind in VIOLATIONS:
            if kind.startswith("confounded"):
                report_claims(kind, 2, n, range(seeds.start, seeds.start + 40 * len(seeds)), pool)


def report_claims(kind: str, d: int, n: int, seeds: range, pool: ProcessPoolExecutor) -> None:
    """Print one line of the table of claims where the model is wrong."""
    found = np.sum(list(pool.map(claims_of, [(kind, d, n, seed) for seed in seeds], chunksize=8)), axis=0)
    shares = f"{share(found[1], found[0]):>9}{share(found[2], found[1]):>8}"
    print(f"{kind:<25}{d:>4}{n:>6}{found[0]:>7.0f}{shares}", flush=True)


def groups(seeds: range, pool: ProcessPoolExecutor) -> None:
    """Print claims with and without the comparison, for pairs (20 tables per seed) and linear graphs."""
    print(f"{'data':<25}{'d':>4}{'n':>6}{'tables':>8}   right  wrong   without: right  wrong")
    tables = range(seeds.start, seeds.start + 20 * len(seeds))
    cells = [(kind, 2, n, tables) for kind in PAIRS for n in (300, 1000)]
    cells += [(kind, d, n, seeds) for kind in (*NOISES, "t, 5 df") for d in (20, 50) for n in (300, 1000)]
    for kind, d, n, chosen in cells:
        jobs = [(kind, d, n, seed) for seed in chosen]
        right, wrong, before, wrong_before = np.sum(list(pool.map(compared_of, jobs, chunksize=4)), axis=0)
        numbers = f"{right:>8}{wrong:>7}{before:>17}{wrong_before:>7}"
        print(f"{kind:<25}{d:>4}{n:>6}{len(chosen):>8}{numbers}", flush=True)


def timing(seeds: range) -> None:
    """Print the processor time that the shapes add to fits of d = 100, and of trees, where all directions are open."""
    for name, d, chosen in (("ER2", 100, seeds), ("tree", 1000, seeds[:3])):
        extra = []
        for seed in chosen:
            X, seconds = rows_for(name, d, np.random.default_rng([seed, 1])), []
            for shape in ("off", "auto", "off", "auto"):
                began = time.process_time()
                Golem("nv", shape=shape).fit(X)
                seconds.append(time.process_time() - began)
            without = min(seconds[0], seconds[2])
            extra.append(min(seconds[1], seconds[3]) - without)
            print(
                f"{name}, d = {d}, seed {seed}: {without:.2f} s without, {extra[-1]:+.2f} s for the shapes", flush=True
            )
        print(f"{name}, d = {d}: median {np.median(extra):+.2f} s")


def rows_for(name: str, d: int, rng: Rng) -> Any:
    """Draw 1000 standardized rows of an ER2 graph with exponential noise, or of a random tree with Laplace noise."""
    if name == "ER2":
        return standardized(linear(d, name, "exponential", 1000, rng)[1])
    X = rng.laplace(size=(1000, d))
    for j in range(1, d):
        X[:, j] += rng.uniform(0.5, 1) * X[:, rng.integers(j)]
    return standardized(X)


def memory(blocks: tuple[int, ...]) -> None:
    """Print the peak memory and the processor time of `golem fit` on Parquet files with 50 columns."""
    for count in blocks:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "data.parquet")
            write_parquet(path, count)
            for shape in ("off", "auto"):
                options = ["--noise", "nv", "--no-diagnose", "--shape", shape, "-q", "-o", folder]
                command = [sys.executable, "-m", "golem", "fit", str(path), *options]
                _, status, used = os.wait4(os.posix_spawn(sys.executable, command, os.environ), 0)
                cost = f"{used.ru_maxrss / 1024:.0f} MB, {used.ru_utime + used.ru_stime:.1f} s"
                print(f"{count}e5 rows, --shape {shape}: {cost if status == 0 else 'failed'}", flush=True)


def write_parquet(path: Path, blocks: int) -> None:
    """Write blocks of 100 000 rows of a chain of 50 columns with exponential noise."""
    import pyarrow as pa
    from pyarrow import parquet

    rng, names = np.random.default_rng(0), [f"x{k}" for k in range(50)]
    with parquet.ParquetWriter(path, pa.schema([(name, pa.float64()) for name in names])) as writer:
        for _ in range(blocks):
            X = rng.exponential(size=(100_000, 50))
            X[:, 1:] += 0.8 * X[:, :-1]
            writer.write_table(pa.table(dict(zip(names, X.T, strict=True))))


def main() -> None:
    """Run one of the measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("accuracy", "calibration", "assumptions", "groups", "time", "memory"))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=1000)
    parser.add_argument("--lingam-seeds", type=int, help="seeds of DirectLiNGAM, by default all")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="2 seeds, small graphs; under a minute")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    seeds = range(arguments.first_seed, arguments.first_seed + (2 if arguments.quick else arguments.seeds))
    print(f"golem {__version__}, NumPy {np.__version__}, {platform.machine()}, seeds {seeds.start} to {seeds.stop - 1}")
    with ProcessPoolExecutor(arguments.jobs) as pool:
        if arguments.what == "accuracy":
            few = len(seeds) if arguments.lingam_seeds is None else arguments.lingam_seeds
            accuracy(seeds, few, (20,) if arguments.quick else (20, 50, 100), pool)
        elif arguments.what == "calibration":
            calibration(seeds, (20,) if arguments.quick else (20, 50, 100), pool)
        elif arguments.what == "assumptions":
            assumptions(seeds, pool)
        elif arguments.what == "groups":
            groups(seeds, pool)
        elif arguments.what == "time":
            timing(seeds)
        else:
            memory((1,) if arguments.quick else (1, 10, 20))


if __name__ == "__main__":
    main()
