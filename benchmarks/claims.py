"""Count how often claimed directions are wrong, by the source of their evidence.

Claim: at most 5 % of the claims are wrong where the assumptions hold, also with weak effects (0.2 to 0.8), and at most
10 % elsewhere. A claim is an arrow of `Golem().fit(X).edges_` that was not given. Wrong: the truth has not this arrow.
`recall` is the share of all true edges that are claimed.

    python benchmarks/claims.py                  # all cells; about 3 minutes on one core
    python benchmarks/claims.py --quick          # three tables per cell
    python benchmarks/claims.py --cells "d=30"   # cells whose name contains a text

Seeds begin at 70000. The thresholds of `golem.directions.by_structure` were chosen on seeds below 1000.
"""

from __future__ import annotations

import argparse
import platform
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

import golem
from golem import Golem

Drawn = tuple[np.ndarray, np.ndarray]
FIRST_SEED = 70000
SOURCES = ("structure", "variances", "shape")


def dag(d: int, edges: float, rng: np.random.Generator, low: float = 0.2, high: float = 0.8) -> np.ndarray:
    """Draw the weights of an Erdős–Rényi graph with so many edges per node."""
    weights = np.triu(rng.random((d, d)) < min(1.0, 2 * edges / (d - 1)), 1) * rng.uniform(low, high, (d, d))
    weights *= rng.choice([-1, 1], (d, d))
    order = rng.permutation(d)
    return weights[np.ix_(order, order)]


def noise(kind: str, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Draw noise with variance 1."""
    draws: dict[str, Callable[[], np.ndarray]] = {
        "normal": lambda: rng.normal(size=(n, d)),
        "t4": lambda: rng.standard_t(4, size=(n, d)) / np.sqrt(2),
        "exponential": lambda: rng.exponential(size=(n, d)) - 1,
    }
    return draws[kind]()


def linear(
    rng: np.random.Generator,
    *,
    d: int,
    edges: float,
    n: int,
    kind: str = "normal",
    high: float = 0.8,
    units: str = "noise",
    hidden: float = 0.0,
) -> Drawn:
    """Draw a linear table; `units` of the columns: unit noise variances, drawn at random, or standardized."""
    total = d + round(hidden * d)
    B = dag(total, edges, rng, high=high)
    X = noise(kind, n, total, rng) * (rng.uniform(1, 2, total) if units == "free" else 1.0)
    X = X @ np.linalg.inv(np.eye(total) - B)
    if units == "random":
        X = X * np.exp(rng.normal(size=total))
    if units == "standardized":
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    kept = rng.permutation(total)[:d]
    # With hidden columns, an arrow is right if it leads from a cause to an effect, also through hidden ones.
    truth = np.linalg.inv(np.eye(total) - np.abs(B)) - np.eye(total) if hidden else B
    return X[:, kept], truth[np.ix_(kept, kept)] != 0


def factors(rng: np.random.Generator, *, d: int, n: int, count: int) -> Drawn:
    """Draw columns that share hidden factors, without edges."""
    X = rng.normal(size=(n, count)) @ rng.normal(size=(count, d)) + rng.normal(size=(n, d))
    return X, np.zeros((d, d), dtype=bool)


def groups(rng: np.random.Generator, *, n: int) -> Drawn:
    """Draw x -> y with a hidden group that shifts both."""
    group = rng.random(n) < 0.3
    x = rng.normal(size=n) + 2 * group
    return np.column_stack([x, 0.8 * x + rng.normal(size=n) + 1.5 * group]), np.array([[0, 1], [0, 0]], dtype=bool)


def bent(rng: np.random.Generator, *, n: int) -> Drawn:
    """Draw x -> tanh(y)."""
    x = rng.normal(size=n)
    return np.column_stack([x, np.tanh(x + 0.5 * rng.normal(size=n))]), np.array([[0, 1], [0, 0]], dtype=bool)


def cells() -> Iterator[tuple[str, Callable[[np.random.Generator], Drawn], int]]:
    """Yield name, generator and number of tables of every cell."""
    for d, edges, tables in ((5, 1, 60), (10, 1, 40), (10, 2, 30), (30, 2, 12), (50, 2, 6)):
        for n in (100, 300, 1000, 10000):
            yield f"normal, d={d}, {edges} per node, n={n}", partial(linear, d=d, edges=edges, n=n), tables
    for kind in ("t4", "exponential"):
        for d, n in ((10, 300), (30, 300), (30, 1000)):
            yield f"{kind}, d={d}, 2 per node, n={n}", partial(linear, d=d, edges=2, n=n, kind=kind), 12
    for units in ("free", "random", "standardized"):
        yield f"units {units}, d=20, 2 per node, n=500", partial(linear, d=20, edges=2, n=500, units=units), 15
    yield "strong effects, d=20, 2 per node, n=500", partial(linear, d=20, edges=2, n=500, high=2.0), 15
    yield "half of the columns hidden, d=20, n=1000", partial(linear, d=20, edges=2, n=1000, hidden=1.0), 20
    yield "factors, d=60, n=500", partial(factors, d=60, n=500, count=3), 5
    yield "hidden group, d=2, n=1000", partial(groups, n=1000), 40
    yield "tanh, d=2, n=300", partial(bent, n=300), 40


def measured(draw: Callable[[np.random.Generator], Drawn], tables: int) -> tuple[Counter[str], Counter[str], int]:
    """Return claims and wrong claims by source, and the number of true edges."""
    claims: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    edges = 0
    for k in range(tables):
        X, truth = draw(np.random.default_rng(FIRST_SEED + k))
        model = Golem().fit(X)
        model.edges_  # noqa: B018 - checks the directions
        graph = model.graph_
        edges += int(truth.sum())
        for edge, source in zip(graph.pairs(), graph.sources.tolist(), strict=True):
            if source in SOURCES:
                claims[source] += 1
                wrong[source] += not truth[edge]
    return claims, wrong, edges


def main() -> None:
    """Print a table of wrong claims."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--cells", default="")
    options = parser.parse_args()
    print(f"golem {golem.__version__}, NumPy {np.__version__}, Python {platform.python_version()}")
    print("wrong / claims by source; weights 0.2 to 0.8 unless said otherwise")
    print(f"| cell | {' | '.join(SOURCES)} | wrong | recall | processor seconds |")
    print("|---|---|---|---|---|---|---|")
    for name, draw, tables in cells():
        if options.cells not in name:
            continue
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            claims, wrong, edges = measured(draw, min(3, tables) if options.quick else tables)
        by_source = " | ".join(f"{wrong[source]} / {claims[source]}" for source in SOURCES)
        total, errors = claims.total(), wrong.total()
        share = f"{errors / total:.1%}" if total else "no claims"
        recall = f"{(total - errors) / edges:.2f}" if edges else ""
        print(f"| {name} | {by_source} | {share} | {recall} | {time.process_time() - began:.0f} |", flush=True)


if __name__ == "__main__":
    main()
