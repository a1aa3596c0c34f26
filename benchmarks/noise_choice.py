"""Claim: noise="auto" (`order`), between equal and free variances, is near the truth on all of the paper's grid.

Parts, all with n = 1000 and 12 seeds unless stated otherwise, SHD / SHD-C per node, means over the seeds, paired:

- grid: Gaussian-NV noise, d = 10 ... 100, compared with order-nv, order-ev and the recipe GOLEM-NV (`anchors.csv`)
- equal: Gaussian-EV, exponential and Gumbel noise, compared with order-ev
- scales: standardized columns, and noise standard deviations log-uniform over two decades, compared with order-nv
- rows: d = 100, n = 100 ... 10000, compared with the recipe (`anchors.csv`)
- stress: d = 50, ER2: weights from +-[0.1, 0.6], t-distributed noise (5 degrees of freedom), noise correlated in d/10
  pairs; compared with order-ev, order-nv and, if their options are given, flopsearch and the recipe
- ablation: tau fixed, estimated once, or profiled

    python benchmarks/noise_choice.py grid equal scales rows ablation
    python benchmarks/noise_choice.py stress --flopsearch .other-packages/flopsearch/bin/python
    python benchmarks/noise_choice.py stress --recipe-steps 100000 --device cuda
    python benchmarks/noise_choice.py grid --quick         # d = 10 and 20, 3 seeds
"""

from __future__ import annotations

import argparse
import csv
import platform
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

import golem
from golem import Golem, LinearSEM, Moments, metrics
from golem.estimator.stacked_fits import fit_stacked
from golem.score.likelihood import GaussianTied
from golem.score.noise_choice import NoiseScores
from golem.score.sparsity import L0
from golem.search.free_order import Prior, find_order
from golem.search.order_problem import OrderProblem
from golem.simulate import Simulation, random_dag, simulate
from golem.solvers import Order
from order_accuracy import GRAPHS, flopsearch

ORDER = {"order": Golem(shape="off"), "order-ev": Golem("ev"), "order-nv": Golem("nv", shape="off")}


def errors(truth: np.ndarray, estimate: np.ndarray, is_class: bool = False) -> tuple[float, float]:
    """SHD and SHD-C per node."""
    d = len(truth)
    shd = np.nan if is_class else metrics.shd(truth, estimate) / d
    return shd, metrics.shd_c(truth, estimate, cpdag=is_class) / d


def means(pairs: Sequence[tuple[float, float]]) -> str:
    """Both means."""
    shd, shd_c = np.mean(pairs, axis=0)
    return f"{shd:.3f} / {shd_c:.3f}"


def excess(ours: Sequence[tuple[float, float]], theirs: Sequence[tuple[float, float]]) -> str:
    """Mean paired difference of the SHD-C with twice its standard error."""
    difference = np.array(ours)[:, 1] - np.array(theirs)[:, 1]
    return f"{difference.mean():+.3f} ({2 * difference.std(ddof=1) / np.sqrt(len(difference)):.3f})"


def run(drawn: Sequence[Simulation], methods: Sequence[str]) -> tuple[dict[str, list], dict[str, float], str]:
    """Errors of every method on every table, median seconds, and what `order` chose."""
    found: dict[str, list] = {name: [] for name in methods}
    seconds: dict[str, list[float]] = {name: [] for name in methods}
    kinds = []
    for one in drawn:
        moments = Moments.from_rows(one.data)
        for name in methods:
            began = time.perf_counter()
            model = ORDER[name].fit(moments)
            seconds[name].append(time.perf_counter() - began)
            found[name].append(errors(one.sem.adjacency, model.weights_))
            if name == "order":
                kinds.append(model.noise_choice_.kind)
    chosen = ", ".join(f"{kind} {kinds.count(kind)}" for kind in ("equal", "tied", "free") if kind in kinds)
    return found, {name: float(np.median(s)) for name, s in seconds.items()}, chosen


def anchors() -> dict[tuple[str, int, str, int, str], tuple[float, float]]:
    """SHD and SHD-C per node of the recipe, by noise, d, graph, n and method."""
    with (Path(__file__).parent / "anchors.csv").open() as file:
        return {
            (row["noise"], int(row["d"]), row["graph"], int(row["n"]), row["method"]): (
                float(row["shd_per_node"]),
                float(row["shdc_per_node"]),
            )
            for row in csv.DictReader(file)
        }


def grid(seeds: range, sizes: Sequence[int]) -> None:
    """Print the errors with Gaussian noise of unequal variances."""
    recipe = anchors()
    print("| d | graph | order | order-nv | order-ev | golem-nv (anchors) | chosen | time order / order-nv |")
    print("|---|---|---|---|---|---|---|---|")
    for d in sizes:
        for graph in GRAPHS:
            drawn = [simulate(d, 1000, graph, "gaussian-nv", random_state=seed) for seed in seeds]
            found, seconds, chosen = run(drawn, ("order", "order-nv", "order-ev"))
            cells = [means(found[name]) for name in ("order", "order-nv", "order-ev")]
            theirs = means([recipe["gaussian-nv", d, graph, 1000, "golem-nv"]])
            ratio = f"{seconds['order']:.3g} s, {seconds['order'] / seconds['order-nv']:.1f}x"
            print(f"| {d} | {graph} | {' | '.join(cells)} | {theirs} | {chosen} | {ratio} |", flush=True)


def equal(seeds: range, sizes: Sequence[int]) -> None:
    """Print the errors with noise of equal variances and three shapes."""
    print("| noise | d | graph | order | order-ev | order minus order-ev, SHD-C (2 SE) | chosen |")
    print("|---|---|---|---|---|---|---|")
    for noise in ("gaussian-ev", "exponential", "gumbel"):
        for d in sizes:
            for graph in GRAPHS:
                drawn = [simulate(d, 1000, graph, noise, random_state=seed) for seed in seeds]
                found, _, chosen = run(drawn, ("order", "order-ev"))
                row = [means(found["order"]), means(found["order-ev"]), excess(found["order"], found["order-ev"])]
                print(f"| {noise} | {d} | {graph} | {' | '.join(row)} | {chosen} |", flush=True)


def scales(seeds: range, sizes: Sequence[int]) -> None:
    """Print the errors with scales that carry no information about the order."""
    print("| columns | d | graph | order | order-nv | order minus order-nv, SHD-C (2 SE) | chosen |")
    print("|---|---|---|---|---|---|---|")
    kinds = {"standardized": {"standardize": True}, "wide noise": {"noise_std": (0.1, 10.0)}}
    for columns, options in kinds.items():
        for d in sizes:
            for graph in GRAPHS:
                drawn = [simulate(d, 1000, graph, "gaussian-nv", random_state=seed, **options) for seed in seeds]
                found, _, chosen = run(drawn, ("order", "order-nv"))
                row = [means(found["order"]), means(found["order-nv"]), excess(found["order"], found["order-nv"])]
                print(f"| {columns} | {d} | {graph} | {' | '.join(row)} | {chosen} |", flush=True)


def rows(seeds: range, sizes: Sequence[int]) -> None:
    """Print the errors from as many rows as columns to a hundred times as many."""
    recipe, d = anchors(), max(sizes)
    print("| noise | graph | n | order | golem-ev (anchors) | golem-nv (anchors) | chosen | s |")
    print("|---|---|---|---|---|---|---|---|")
    for noise in ("gaussian-ev", "gaussian-nv"):
        for graph in ("ER1", "ER4"):
            for n in (100, 300, 1000, 3000, 10_000):
                drawn = [simulate(d, n, graph, noise, random_state=seed) for seed in seeds]
                found, seconds, chosen = run(drawn, ("order",))
                theirs = []
                for method in ("golem-ev", "golem-nv"):
                    known = recipe.get((noise, d, graph, n, method))
                    theirs.append("" if known is None else means([known]))
                print(
                    f"| {noise} | {graph} | {n} | {means(found['order'])} | {' | '.join(theirs)} | {chosen} | "
                    f"{seconds['order']:.2f} |",
                    flush=True,
                )


def weak_weights(d: int, n: int, seed: int) -> Simulation:
    """Weights from +-[0.1, 0.6], many of them too small to be detected in n rows."""
    rng = np.random.default_rng(seed)
    graph = random_dag(d, "ER2", rng)
    B = rng.uniform(0.1, 0.6, (d, d)) * rng.choice([-1.0, 1.0], (d, d)) * graph
    sem = LinearSEM(B, rng.uniform(1, 2, d) ** 2)
    return Simulation(sem, sem.sample(n, rng))


def heavy_tails(d: int, n: int, seed: int) -> Simulation:
    """t-distributed noise with 5 degrees of freedom."""
    return _with_noise(d, seed, lambda rng: rng.standard_t(5, (n, d)) * np.sqrt(3 / 5))


def correlated_noise(d: int, n: int, seed: int) -> Simulation:
    """Noise that is correlated in d/10 pairs of nodes, as by hidden common causes."""

    def draw(rng: np.random.Generator) -> np.ndarray:
        E = rng.normal(size=(n, d))
        pairs = rng.permutation(d)[: 2 * (d // 10)].reshape(-1, 2)
        for i, j in pairs:
            E[:, j] = 0.5 * E[:, i] + np.sqrt(0.75) * E[:, j]
        return E

    return _with_noise(d, seed, draw)


def _with_noise(d: int, seed: int, draw: Callable[[np.random.Generator], np.ndarray]) -> Simulation:
    rng = np.random.default_rng(seed)
    drawn = simulate(d, 2, "ER2", "gaussian-nv", random_state=rng)
    E = draw(rng) * np.sqrt(drawn.sem.noise_variances)
    return Simulation(drawn.sem, E @ np.linalg.inv(np.eye(d) - drawn.sem.weights))


STRESS = {"weak weights": weak_weights, "t noise": heavy_tails, "correlated noise": correlated_noise}


def stress(seeds: range, options: argparse.Namespace) -> None:
    """Print the errors on data that fit the model badly or not at all."""
    d, n = 50, 1000
    print("| data | method | SHD / SHD-C per node | chosen |")
    print("|---|---|---|---|")
    tables = {name: [draw(d, n, seed) for seed in seeds] for name, draw in STRESS.items()}
    for name, drawn in tables.items():
        found, _, chosen = run(drawn, tuple(ORDER))
        for method, pairs in found.items():
            print(f"| {name} | {method} | {means(pairs)} | {chosen if method == 'order' else ''} |", flush=True)
        if options.flopsearch:
            peer = flopsearch(options.flopsearch, drawn)
            pairs = [errors(one.sem.adjacency, np.array(p["cpdag"]), True) for one, p in zip(drawn, peer, strict=True)]
            print(f"| {name} | flopsearch | {np.mean([p[1] for p in pairs]):.3f} (SHD-C) | |", flush=True)
    if options.recipe_steps:
        everything = [one for drawn in tables.values() for one in drawn]
        recipe = Golem.paper("nv", max_iter=options.recipe_steps, device=options.device)
        models = iter(fit_stacked(recipe, [one.data for one in everything]))
        for name, drawn in tables.items():
            pairs = [errors(one.sem.adjacency, next(models).weights_) for one in drawn]
            print(f"| {name} | golem-nv | {means(pairs)} | |", flush=True)


def ablation(seeds: range, sizes: Sequence[int]) -> None:
    """Print the errors with tau fixed, estimated once from the order of equal variances, or together with the graph."""
    taus = (0.0, 0.2, 0.4, 0.8, 1.6)
    names = [*(f"tau = {tau}" for tau in taus), "once", "profiled"]
    print("| noise | d | graph | " + " | ".join(names) + " |")
    print("|---|---|---|" + "---|" * len(names))
    for noise in ("gaussian-ev", "gaussian-nv"):
        for d in sizes:
            for graph in ("ER1", "ER4"):
                found: dict[str, list] = {name: [] for name in names}
                for seed in seeds:
                    one = simulate(d, 1000, graph, noise, random_state=seed)
                    moments = Moments.from_rows(one.data)
                    for tau, name in zip(taus, names, strict=False):
                        B = Order().solve(moments, GaussianTied(moments.n, tau), L0()).weights
                        found[name].append(errors(one.sem.adjacency, B))
                    found["once"].append(errors(one.sem.adjacency, _once(moments)))
                    found["profiled"].append(errors(one.sem.adjacency, Golem().fit(moments).weights_))
                cells = " | ".join(means(found[name]) for name in names)
                print(f"| {noise} | {d} | {graph} | {cells} |", flush=True)


def _once(moments: Moments) -> np.ndarray:
    """One search, with mu and tau from the graph of equal variances."""
    start = Golem("ev").fit(moments).adjacency_
    scores = NoiseScores(moments, L0(), GaussianTied(moments.n))
    prior = Prior(*map(float, scores.likelihood.prior(scores.residuals(start))))
    problem = OrderProblem(moments, L0().penalties(moments.n, moments.d))
    return find_order(problem, (start, "r2"), prior=prior).graph.astype(float)


def main() -> None:
    """Run the parts named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", choices=["grid", "equal", "scales", "rows", "stress", "ablation"])
    parser.add_argument("--first-seed", type=int, default=100, help="seeds 0 to 11 were used to develop the method")
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 20, 50, 100])
    parser.add_argument("--flopsearch", metavar="PYTHON")
    parser.add_argument("--recipe-steps", type=int, default=0)
    parser.add_argument("--device", default="cpu", help="for the recipe")
    parser.add_argument("--quick", action="store_true", help="3 seeds, d = 10 and 20")
    options = parser.parse_args()
    seeds = range(options.first_seed, options.first_seed + (3 if options.quick else options.seeds))
    sizes = [10, 20] if options.quick else options.sizes
    print(
        f"golem {golem.__version__}, numpy {np.__version__}, Python {platform.python_version()}, {platform.machine()}"
    )
    print(f"seeds {seeds.start} to {seeds.stop - 1}")
    Golem().fit(simulate(15, 100, random_state=0).data)  # compile before the clock starts
    for part in options.parts:
        print(f"\n{part}\n")
        began = time.perf_counter()
        if part == "stress":
            stress(seeds, options)
        else:
            globals()[part](seeds, sizes)
        print(f"\n{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
