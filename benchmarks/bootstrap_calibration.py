"""Claim: bootstrap intervals cover what they say, and frequencies above 0.9 are right (benchmarks/confidence.md).

    python benchmarks/bootstrap_calibration.py [--quick] [--kinds numbers,dense,chains,environments,categories]

Weak effects (weights 0.2 to 0.8) and strong ones (0.5 to 2), random signs; 100 replicates of `Golem()`.

- numbers: ER1 and ER2, d = 6, 10 and 20, n = 200, 500 and 2000, noise deviations U(1, 2), 4 tables per cell.
- dense: ER2 with d = 8 and weaker effects (weights 0.15 to 0.6), n = 300 and 1000, 30 tables.
- chains: a chain of six columns, n = 500, log noise variances N(0, 1), 30 tables.
- environments: ER1, d = 10, rows without experiments and with hard experiments on 5 columns, 10 tables.
- categories: ER1, 10 numbers, and 3 categories of 3 levels that each shift two numbers, 20 tables.

An interval covers an edge that the graph and the truth have if it contains the true weight, or the true total effect.
An edge that the truth lacks or reverses has the true weight 0. For comparison, tables of numbers also have intervals
from resamples to which the graph of all rows is fitted again. Seeds start at 5000; the method was chosen on others.
"""

from __future__ import annotations

import argparse
import itertools
import platform
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

import golem
from golem import Golem
from golem.model.linear_sem import total_effects
from golem.score.regression import regressions
from golem.simulate import random_sem, random_weights, simulate, simulate_environments, single_targets

FIRST_SEED, REPLICATES = 5000, 100
SCALES = {"0.2 to 0.8": 0.4, "0.5 to 2": 1.0}
WEAKER = {"0.15 to 0.6": 0.3}
Cell = tuple[str, int, str]  # kind, rows, weights


@dataclass
class Drawn:
    """A table, the true weights of its columns, and how to fit it."""

    data: Any
    weights: np.ndarray
    model: Golem = field(default_factory=Golem)
    options: dict[str, Any] = field(default_factory=dict)


def numbers(n: int, scale: float, rng: np.random.Generator, quick: bool) -> Iterator[Drawn]:
    """Yield one table per size and density."""
    for d, graph in itertools.product((6,) if quick else (6, 10, 20), ("ER1", "ER2")):
        one = simulate(d, n, graph, "gaussian-nv", weight_scale=scale, random_state=rng)
        yield Drawn(one.data, one.sem.weights)


def dense(n: int, scale: float, rng: np.random.Generator, quick: bool) -> Iterator[Drawn]:
    """Yield a small table with many edges."""
    one = simulate(8, n, "ER2", "gaussian-nv", weight_scale=scale, random_state=rng)
    yield Drawn(one.data, one.sem.weights)


def chains(n: int, scale: float, rng: np.random.Generator, quick: bool) -> Iterator[Drawn]:
    """Yield one chain of six."""
    B = random_weights(np.eye(6, k=1, dtype=bool), rng, scale)
    noise = rng.normal(size=(n, 6)) * np.exp(rng.normal(size=6) / 2)
    yield Drawn(noise @ np.linalg.inv(np.eye(6) - B), B)


def environments(n: int, scale: float, rng: np.random.Generator, quick: bool) -> Iterator[Drawn]:
    """Yield the rows of six environments."""
    sem = random_sem(10, "ER1", "gaussian-nv", weight_scale=scale, random_state=rng)
    one = simulate_environments(sem, single_targets(sem, 5, "hard", rng), n, "hard", rng)
    yield Drawn(one.data, sem.weights, Golem(intervention="hard"), {"environments": one.labels, "targets": one.targets})


def categories(n: int, scale: float, rng: np.random.Generator, quick: bool) -> Iterator[Drawn]:
    """Yield numbers, two of which depend on each of three categories; these have no weights (NaN)."""
    sem = random_sem(10, "ER1", "gaussian-nv", weight_scale=scale, random_state=rng)
    levels = rng.integers(3, size=(n, 3))
    noise = rng.normal(size=(n, 10)) * np.sqrt(sem.noise_variances)
    for k in range(3):
        noise[:, rng.choice(10, 2, replace=False)] += rng.normal(scale=2.0, size=(3, 2))[levels[:, k]]
    table = pd.DataFrame(noise @ np.linalg.inv(np.eye(10) - sem.weights), columns=[f"x{k}" for k in range(10)])
    for k in range(3):
        table[f"c{k}"] = np.array(["a", "b", "c"])[levels[:, k]]
    weights = np.full((13, 13), np.nan)
    weights[:10, :10] = sem.weights
    yield Drawn(table, weights)


KINDS = {"numbers": numbers, "dense": dense, "chains": chains, "environments": environments, "categories": categories}
ROWS = {
    "numbers": (200, 500, 2000), "dense": (300, 1000), "chains": (500,), "environments": (500, 2000),
    "categories": (500, 2000),
}  # fmt: skip
TABLES = {"numbers": 4, "dense": 30, "chains": 30, "environments": 10, "categories": 20}


def refitted_intervals(graph: np.ndarray, X: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return intervals of weights and effects, both (2, d, d), from one graph fitted to each resample."""
    rng = np.random.default_rng(seed)
    resamples = (X[rng.integers(len(X), size=len(X))] for _ in range(REPLICATES))
    weights = [regressions(graph, np.cov(rows.T, bias=True)).matrix for rows in resamples]
    effects = [total_effects(B) for B in weights]
    tails = (0.025, 0.975)
    return (
        np.quantile(weights, tails, axis=0, method="weibull"),
        np.quantile(effects, tails, axis=0, method="weibull"),
    )


def covered(interval: np.ndarray, values: np.ndarray, edges: np.ndarray) -> int:
    """Return at how many edges the interval contains the value."""
    return int(((interval[0] <= values) & (values <= interval[1]))[edges].sum())


def count(drawn: Drawn, seed: int) -> Counter[str]:
    """Bootstrap one table; count edges, covered ones, and right frequencies above 0.9."""
    model = drawn.model.fit(drawn.data, **drawn.options)
    found = golem.bootstrap(model, drawn.data, REPLICATES, random_state=seed, **drawn.options)
    known, truth = ~np.isnan(drawn.weights), np.nan_to_num(drawn.weights) != 0
    effects = np.full(truth.shape, np.nan)
    numeric = known.any(axis=0)
    effects[np.ix_(numeric, numeric)] = total_effects(drawn.weights[np.ix_(numeric, numeric)])
    right, wrong = model.adjacency_ & truth, model.adjacency_ & known & ~truth
    # An effect that passes through a category in some graph has no interval.
    with_effect = right & np.isfinite(found.effect_interval).all(axis=0)
    counts = Counter(right=int(right.sum()), wrong=int(wrong.sum()), effects=int(with_effect.sum()))
    counts["right covered"] = covered(found.weight_interval, drawn.weights, right)
    counts["wrong covered"] = covered(found.weight_interval, drawn.weights, wrong)
    counts["effects covered"] = covered(found.effect_interval, effects, with_effect)
    if isinstance(drawn.data, np.ndarray) and not drawn.options:
        one, other = refitted_intervals(model.adjacency_, drawn.data, seed)
        counts["right refitted"] = covered(one, drawn.weights, right)
        counts["effects refitted"] = covered(other, effects, right)
    joined = np.triu(found.adjacency_frequency > 0.9) & known
    counts["adjacencies"], counts["adjacencies right"] = int(joined.sum()), int((joined & (truth | truth.T)).sum())
    sources = model.graph_.directions()
    for i, j in np.argwhere((found.direction_frequency > 0.9) & known):
        # A direction that the graph of all rows leaves undecided, or does not have, is listed apart.
        source = sources.get((int(i), int(j)), "none")
        counts[f"directions {source}"] += 1
        counts[f"directions {source} right"] += int(truth[i, j])
    undecided = model.undecided_ & known
    extreme = undecided & ((found.direction_frequency > 0.8) | (found.direction_frequency.T > 0.8))
    counts["undecided"], counts["undecided above 0.8"] = int(undecided.sum()), int(extreme.sum())
    return counts


def percent(part: int, whole: int) -> str:
    """Return a percentage."""
    return f"{100 * part / whole:.1f} %" if whole else ""


def share(part: int, whole: int) -> str:
    """Return a percentage and the number that it is of."""
    return f"{percent(part, whole)} of {whole}" if whole else ""


def print_coverage(cell: Cell, c: Counter[str]) -> None:
    """Print the coverage of intervals in one cell."""
    refitted = [percent(c["right refitted"], c["right"]), percent(c["effects refitted"], c["right"])]
    numbers = [str(c["right"]), percent(c["right covered"], c["right"]), percent(c["effects covered"], c["effects"])]
    numbers += [", ".join(refitted) if c["right refitted"] else "", share(c["wrong covered"], c["wrong"])]
    print(f"| {' | '.join(map(str, cell))} | {' | '.join(numbers)} |", flush=True)


def print_frequencies(cells: dict[Cell, Counter[str]]) -> None:
    """Print how many pairs with a frequency above 0.9 are right, by what the direction rests on in the fit."""
    print("\n| table | weights | adjacencies above 0.9 | directions above 0.9: right, wrong | undecided above 0.8 |")
    print("|---|---|---|---|---|")
    pooled: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for (kind, _, weights), counts in cells.items():
        pooled[kind, weights] += counts
    for (kind, weights), c in pooled.items():
        sources = ("structure", "variances", "shape", "interventions", "none")
        listed = [
            f"{one} {c[f'directions {one} right']}, {c[f'directions {one}'] - c[f'directions {one} right']}"
            for one in sources
            if c[f"directions {one}"]
        ]
        adjacencies = share(c["adjacencies right"], c["adjacencies"])
        undecided = f"{c['undecided above 0.8']} of {c['undecided']}"
        print(f"| {kind} | {weights} | {adjacencies} | {'; '.join(listed)} | {undecided} |")


def main() -> None:
    """Measure and print two tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one seed per cell, and d = 6")
    parser.add_argument("--kinds", default=",".join(KINDS))
    options = parser.parse_args()
    warnings.simplefilter("ignore", golem.DataWarning)
    print(f"golem {golem.__version__}, numpy {np.__version__}, Python {platform.python_version()}", flush=True)
    print("\n| table | n | weights | edges | weights covered | effects covered | refitted graph | wrong edges |")
    print("|---|---|---|---|---|---|---|---|")
    cells: dict[Cell, Counter[str]] = defaultdict(Counter)
    began = time.perf_counter()
    for kind in options.kinds.split(","):
        for n, (weights, scale) in itertools.product(ROWS[kind], (WEAKER if kind == "dense" else SCALES).items()):
            for seed in range(FIRST_SEED, FIRST_SEED + (1 if options.quick else TABLES[kind])):
                rng = np.random.default_rng([seed, n, int(10 * scale)])
                for drawn in KINDS[kind](n, scale, rng, options.quick):
                    cells[kind, n, weights] += count(drawn, seed)
            print_coverage((kind, n, weights), cells[kind, n, weights])
    print_frequencies(cells)
    print(f"\n{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
