"""Count how often claimed directions are wrong, by the source of their evidence.

Claim: at most 5 % of the claims are wrong where the assumptions hold, also with weak effects (0.2 to 0.8), and at most
10 % elsewhere. A claim is an arrow of `Golem().fit(X).edges_` that was not given. It is wrong if the truth has no such
edge. `recall` is the share of all true edges that are claimed. Cells that begin with "bootstrap" count the directions
with a frequency above 0.9 in 30 replicates instead.

    python benchmarks/claims.py                  # all cells; about 6 minutes on one core
    python benchmarks/claims.py --quick          # three tables per cell
    python benchmarks/claims.py --cells "d=30"   # cells whose name contains a text
    python benchmarks/claims.py --seed 30000     # other tables, for choosing thresholds

Seeds begin at 95000. The rules of `golem.directions.by_structure` were chosen on seeds below 80000.
"""

from __future__ import annotations

import argparse
import platform
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

import golem
from golem import Golem, bootstrap

FIRST_SEED = 95000
SOURCES = ("structure", "variances", "shape", "interventions", "time", "bootstrap")
# A direction that more of the replicates have counts as a claim of the bootstrap.
FREQUENT, REPLICATES = 0.9, 30
# x -> y.
FORWARDS = np.array([[False, True], [False, False]])


class Drawn(NamedTuple):
    """A table, the edges of its truth, the experiment of each row with its targets, and the lags to learn.

    The truth of a series has the columns of the present first, then those of one step back.
    """

    rows: np.ndarray
    truth: np.ndarray
    labels: list[str] | None = None
    targets: dict[str, list[int]] | None = None
    lags: int | None = None


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
    return Drawn(X[:, kept], truth[np.ix_(kept, kept)] != 0)


def experiments(rng: np.random.Generator, *, d: int, n: int, hard: bool) -> Drawn:
    """Draw a table of which half is observed; the rest are experiments on three columns, one at a time.

    They randomize their target, or double the weights of its parents and the variance of its noise.
    """
    B, chosen, labels, parts = dag(d, 2, rng), rng.permutation(d)[:3].tolist(), [], []
    for target, count in [(None, n // 2), *((j, n // 6) for j in chosen)]:
        weights, E = B.copy(), rng.normal(size=(count, d))
        if target is not None:
            weights[:, target] *= 0.0 if hard else 2.0
            E[:, target] = 2 * E[:, target] if hard else np.sqrt(2) * E[:, target]
        parts.append(E @ np.linalg.inv(np.eye(d) - weights))
        labels += ["observed" if target is None else f"change {target}"] * count
    targets: dict[str, list[int]] = {"observed": []} | {f"change {j}": [j] for j in chosen}
    return Drawn(np.concatenate(parts), B != 0, labels, targets)


def series(rng: np.random.Generator, *, d: int, n: int) -> Drawn:
    """Draw a stationary series: every column depends on its past, and as many pairs in each of two ways."""
    while True:
        B, own = dag(d, 1, rng), rng.uniform(0.2, 0.8, d)
        A = dag(d, 1, rng) + np.diag(own)
        spread = np.linalg.inv(np.eye(d) - B)
        if np.abs(np.linalg.eigvals(A @ spread)).max() < 0.95:
            break
    X = np.zeros((n + 100, d))
    for t in range(1, len(X)):
        X[t] = (X[t - 1] @ A + rng.normal(size=d)) @ spread
    return Drawn(X[100:], np.block([[B, np.zeros((d, d))], [A, np.zeros((d, d))]]) != 0, lags=1)


def walks(rng: np.random.Generator, *, d: int, n: int) -> Drawn:
    """Draw independent random walks, which depend on their own past alone."""
    X, nothing = rng.normal(size=(n, d)).cumsum(axis=0), np.zeros((d, d))
    return Drawn(X, np.block([[nothing, nothing], [np.eye(d), nothing]]) != 0, lags=1)


def slow(rng: np.random.Generator, *, d: int, n: int, memory: float) -> Drawn:
    """Draw a linear table whose noise in each row is much like that of the row before; no lags are asked for."""
    B, E = dag(d, 2, rng), rng.normal(size=(n, d))
    for t in range(1, n):
        E[t] = memory * E[t - 1] + np.sqrt(1 - memory**2) * E[t]
    return Drawn(E @ np.linalg.inv(np.eye(d) - B), B != 0)


def factors(rng: np.random.Generator, *, d: int, n: int, count: int) -> Drawn:
    """Draw columns that share hidden factors, without edges."""
    X = rng.normal(size=(n, count)) @ rng.normal(size=(count, d)) + rng.normal(size=(n, d))
    return Drawn(X, np.zeros((d, d), dtype=bool))


def groups(rng: np.random.Generator, *, n: int) -> Drawn:
    """Draw x -> y with a hidden group that shifts both."""
    group = rng.random(n) < 0.3
    x = rng.normal(size=n) + 2 * group
    return Drawn(np.column_stack([x, 0.8 * x + rng.normal(size=n) + 1.5 * group]), FORWARDS)


def bent(rng: np.random.Generator, *, n: int) -> Drawn:
    """Draw x -> tanh(y)."""
    x = rng.normal(size=n)
    return Drawn(np.column_stack([x, np.tanh(x + 0.5 * rng.normal(size=n))]), FORWARDS)


def cells() -> Iterator[tuple[str, Callable[[np.random.Generator], Drawn], int]]:
    """Yield name, generator and number of tables of every cell."""
    for d, edges, tables in ((5, 1, 60), (10, 1, 40), (10, 2, 30), (30, 2, 12), (50, 2, 6)):
        for n in (100, 300, 1000, 10000):
            yield f"normal, d={d}, {edges} per node, n={n}", partial(linear, d=d, edges=edges, n=n), tables
    for kind in ("t4", "exponential"):
        for d, n, tables in ((10, 300, 120), (30, 300, 12), (30, 1000, 12)):
            yield f"{kind}, d={d}, 2 per node, n={n}", partial(linear, d=d, edges=2, n=n, kind=kind), tables
    for units in ("free", "random", "standardized"):
        yield f"units {units}, d=20, 2 per node, n=500", partial(linear, d=20, edges=2, n=500, units=units), 15
    yield "strong effects, d=20, 2 per node, n=500", partial(linear, d=20, edges=2, n=500, high=2.0), 15
    yield "half of the columns hidden, d=20, n=1000", partial(linear, d=20, edges=2, n=1000, hidden=1.0), 20
    for d, count, tables in ((10, 1, 20), (20, 2, 20), (60, 3, 5)):
        yield f"factors, d={d}, n=500", partial(factors, d=d, n=500, count=count), tables
    yield "hidden group, d=2, n=1000", partial(groups, n=1000), 40
    yield "tanh, d=2, n=300", partial(bent, n=300), 40
    for n in (300, 1000):
        for hard in (True, False):
            name = f"{'randomized' if hard else 'changed'} targets, d=10, 2 per node, n={n}"
            yield name, partial(experiments, d=10, n=n, hard=hard), 20
    for d, n in ((5, 300), (10, 300), (10, 1000)):
        yield f"series, d={d}, n={n}", partial(series, d=d, n=n), 20
    yield "series, random walks, d=5, n=300", partial(walks, d=5, n=300), 20
    yield "noise with memory 0.9, lags ignored, d=10, n=1000", partial(slow, d=10, n=1000, memory=0.9), 20
    for d, n in ((10, 300), (10, 1000), (20, 500)):
        yield f"bootstrap, normal, d={d}, 2 per node, n={n}", partial(linear, d=d, edges=2, n=n), 10
    yield "bootstrap, half of the columns hidden, d=20, n=1000", partial(linear, d=20, edges=2, n=1000, hidden=1.0), 10


def claims_of(drawn: Drawn) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the source and the edge of every claimed direction."""
    how = {} if drawn.labels is None else {"environments": drawn.labels, "targets": drawn.targets}
    model = Golem(lags=drawn.lags).fit(drawn.rows, **how)
    model.edges_  # noqa: B018 - checks the directions
    yield from zip(model.graph_.sources.tolist(), model.graph_.pairs(), strict=True)


def frequent_directions(drawn: Drawn) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the directions that most replicates of a bootstrap have."""
    frequency = bootstrap(Golem(), drawn.rows, REPLICATES).direction_frequency
    yield from (("bootstrap", (int(i), int(j))) for i, j in np.argwhere(frequency > FREQUENT))


def measured(
    draw: Callable[[np.random.Generator], Drawn],
    seeds: range,
    claimed: Callable[[Drawn], Iterator[tuple[str, tuple[int, int]]]],
) -> tuple[Counter[str], Counter[str], int]:
    """Return claims and wrong claims by source, and the number of true edges."""
    claims: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    edges = 0
    for seed in seeds:
        drawn = draw(np.random.default_rng(seed))
        edges += int(drawn.truth.sum())
        for source, edge in claimed(drawn):
            if source in SOURCES:
                claims[source] += 1
                wrong[source] += not drawn.truth[edge]
    return claims, wrong, edges


def main() -> None:
    """Print a table of wrong claims."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--cells", default="")
    parser.add_argument("--seed", type=int, default=FIRST_SEED)
    options = parser.parse_args()
    print(f"golem {golem.__version__}, NumPy {np.__version__}, Python {platform.python_version()}")
    print("wrong / claims by source; weights 0.2 to 0.8 unless said otherwise")
    print(f"| cell | tables | {' | '.join(SOURCES)} | wrong | recall | processor seconds |")
    print("|---" * (len(SOURCES) + 5) + "|")
    all_claims: Counter[str] = Counter()
    all_wrong: Counter[str] = Counter()
    for name, draw, tables in cells():
        if options.cells not in name:
            continue
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seeds = range(options.seed, options.seed + (min(3, tables) if options.quick else tables))
            claimed = frequent_directions if name.startswith("bootstrap") else claims_of
            claims, wrong, edges = measured(draw, seeds, claimed)
        all_claims.update(claims)
        all_wrong.update(wrong)
        by_source = " | ".join(f"{wrong[source]} / {claims[source]}" if claims[source] else "" for source in SOURCES)
        total, errors = claims.total(), wrong.total()
        share = f"{errors / total:.1%}" if total else "no claims"
        recall = f"{(total - errors) / edges:.2f}" if edges else ""
        cost = time.process_time() - began
        print(f"| {name} | {len(seeds)} | {by_source} | {share} | {recall} | {cost:.0f} |", flush=True)
    told = ", ".join(f"{all_wrong[source]} of {all_claims[source]} by {source}" for source in SOURCES)
    print(f"\nAll cells: {all_wrong.total()} of {all_claims.total()} claims are wrong: {told}.")


if __name__ == "__main__":
    main()
