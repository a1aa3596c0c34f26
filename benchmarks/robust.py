"""Claim: correlations of normal scores withstand outliers and heavy tails, and robust="auto" costs clean data nothing.

Every line is one kind of data. Tables are fitted with plain covariances (off), with those of normal scores (ranks) and
with the choice of the default (auto), all in one run. Kinds: normal noise with free and equal variances, raw and
standardized columns; networks, if a folder with their files is given; exponential, Gumbel and t3 noise; one row in a
hundred with one wild cell in ten (+-10 deviations); independent columns from heavy tails, where every edge is false.
F1 is that of the adjacencies, "wrong arrows" the share of the arrows (directions with evidence) that are not in the
true graph, SHD the distance of the graph, SHD-C that of its class. Standard errors are in brackets; the differences are
paired, and marked if they are worse than off by two standard errors.

    python benchmarks/robust.py
    python benchmarks/robust.py --networks pgmpy/utils/example_models      # see summary.py
    python benchmarks/robust.py --quick
"""

from __future__ import annotations

import argparse
import platform
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import golem
from golem import Golem, metrics
from golem.model.linear_sem import LinearSEM
from golem.simulate import Simulation, random_dag, random_weights, simulate
from golem_experiments.network_files import read_network

ROBUST = ("off", "ranks", "auto")


@dataclass(frozen=True)
class Kind:
    """A kind of data: how a table is drawn from a seed."""

    draw: Callable[[int], Simulation]
    quick: bool = False


def simulated(d: int, n: int, graph: str, noise: str, *, wild: bool = False, **options: Any) -> Kind:
    """Return tables of `simulate`; `wild`: one row in a hundred has wild cells."""

    def draw(seed: int) -> Simulation:
        drawn = simulate(d, n, graph, noise, **options, random_state=seed)
        rows = with_wild_cells(drawn.data, np.random.default_rng([seed, 1])) if wild else drawn.data
        return Simulation(drawn.sem, rows)

    return Kind(draw, wild and graph == "ER1" and d == 30)


def with_wild_cells(rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Add +-10 standard deviations to one in ten cells of one row in a hundred."""
    hit = rng.permutation(len(rows))[: len(rows) // 100]
    cells = rng.random((len(hit), rows.shape[1])) < 0.1
    found = rows.copy()
    found[hit] += np.where(cells, rng.choice([-10.0, 10.0], cells.shape), 0.0) * rows.std(axis=0)
    return found


def with_noise(d: int, n: int, graph: str, freedom: float) -> Kind:
    """Return tables with noise from Student's t distribution and standardized columns."""

    def draw(seed: int) -> Simulation:
        rng = np.random.default_rng(seed)
        B = random_weights(random_dag(d, graph, rng), rng)
        rows = rng.standard_t(freedom, (n, d)) @ np.linalg.inv(np.eye(d) - B)
        return Simulation(LinearSEM(B, np.ones(d)), (rows - rows.mean(axis=0)) / rows.std(axis=0))

    return Kind(draw)


def independent(d: int, n: int, column: Callable[[np.random.Generator, tuple[int, int]], np.ndarray]) -> Kind:
    """Return tables of independent columns."""
    empty = LinearSEM(np.zeros((d, d)), np.ones(d))
    return Kind(lambda seed: Simulation(empty, column(np.random.default_rng(seed), (n, d))), True)


def network(folder: Path, name: str) -> Kind:
    """Return tables from a network, in standardized columns."""
    sem = read_network(folder / f"{name}.json")

    def draw(seed: int) -> Simulation:
        rows = sem.sample(1000, random_state=seed)
        return Simulation(sem, (rows - rows.mean(axis=0)) / rows.std(axis=0))

    return Kind(draw)


def kinds(networks: Path | None) -> dict[str, Kind]:
    """Return the kinds of data by name."""
    found = {
        "normal, free, ER2, d=30": simulated(30, 1000, "ER2", "gaussian-nv"),
        "normal, equal, ER2, d=30": simulated(30, 1000, "ER2", "gaussian-ev"),
        "normal, equal, ER4, d=20": simulated(20, 1000, "ER4", "gaussian-ev"),
        "normal, free, ER4, d=50": simulated(50, 1000, "ER4", "gaussian-nv"),
        "normal, free, SF4, d=50": simulated(50, 1000, "SF4", "gaussian-nv"),
        "normal, free, ER2, d=20, standardized": simulated(20, 1000, "ER2", "gaussian-nv", standardize=True),
        "normal, free, ER2, d=20, n=100": simulated(20, 100, "ER2", "gaussian-nv"),
    }
    for noise in ("exponential", "gumbel"):
        found |= {
            f"{noise}, equal, ER2, d=20": simulated(20, 1000, "ER2", noise),
            f"{noise}, ER1, d=20, standardized": simulated(20, 1000, "ER1", noise, standardize=True),
            f"{noise}, ER1, d=20, n=10000, standardized": simulated(20, 10_000, "ER1", noise, standardize=True),
        }
    found |= {f"t{k:g}, ER2, d=20, standardized": with_noise(20, 1000, "ER2", k) for k in (3, 2)}
    found["t3, ER2, d=20, n=200, standardized"] = with_noise(20, 200, "ER2", 3)
    for graph, scale in (("ER1", 0.4), ("ER2", 0.4), ("ER2", 1.0)):
        weights = f"weights {0.5 * scale:g} to {2 * scale:g}"
        for wild in (False, True):
            found[f"{'wild' if wild else 'clean'}, {graph}, d=30, {weights}"] = simulated(
                30, 1000, graph, "gaussian-nv", wild=wild, weight_scale=scale
            )
    found["wild, exponential, ER1, d=20, weights 0.2 to 0.8"] = simulated(
        20, 1000, "ER1", "exponential", wild=True, weight_scale=0.4
    )
    found["independent lognormal, d=30, n=200"] = independent(30, 200, lambda rng, shape: rng.lognormal(size=shape))
    found["independent t2, d=30, n=200"] = independent(30, 200, lambda rng, shape: rng.standard_t(2, shape))
    for name in ("ecoli70", "magic-niab", "magic-irri", "arth150") if networks is not None else ():
        found[f"network {name}"] = network(networks, name)
    return found


def measured(drawn: Simulation, robust: str) -> dict[str, float]:
    """Fit a table, and return what the lines show."""
    truth = drawn.sem.adjacency
    model = Golem(robust=robust).fit(drawn.data)
    found, links = model.adjacency_ | model.adjacency_.T, truth | truth.T
    arrows = model.pdag_ & ~model.pdag_.T
    hits = (found & links).sum()
    return {
        "F1": 2 * hits / (found.sum() + links.sum()) if links.any() else np.nan,
        "false edges": (found & ~links).sum() / 2,
        "arrows": arrows.sum(),
        "wrong arrows": (arrows & ~truth).sum(),
        "by shape": model.by_shape_.sum(),
        "wrong by shape": (model.by_shape_ & ~truth).sum(),
        "SHD": metrics.shd(truth, model.adjacency_),
        "SHD-C": metrics.shd_c(truth, model.adjacency_),
        "ranked": model.table_.is_ranked,
    }


# Measures that are compared with off, and the direction in which they are better.
COMPARED = {"F1": 1, "by shape": 1, "SHD": -1, "SHD-C": -1, "wrong arrows": -1}


def line(name: str, results: dict[str, list[dict[str, float]]]) -> None:
    """Print the means of a kind of data, and where a choice is worse than off."""
    columns = {
        robust: {key: np.array([one[key] for one in many]) for key in many[0]} for robust, many in results.items()
    }
    for robust, own in columns.items():
        marks = []
        for key, better in COMPARED.items():
            gap = better * (own[key] - columns["off"][key])
            if gap.mean() < 0 and -gap.mean() > 2 * gap.std(ddof=1) / np.sqrt(len(gap)):
                marks.append(f"{key} {better * gap.mean():+.3f} ({gap.std(ddof=1) / np.sqrt(len(gap)):.3f})")
        means = {key: values.mean() for key, values in own.items()}
        share, error = (
            means["wrong arrows"] / max(means["arrows"], 1e-9),
            own["SHD"].std(ddof=1) / len(own["SHD"]) ** 0.5,
        )
        print(
            f"| {name} | {robust} | {means['F1']:.3f} | {means['false edges']:.2f} |"
            f" {means['arrows']:.1f} | {share:.3f} | {means['by shape']:.2f} |"
            f" {means['wrong by shape']:.2f} | {means['SHD']:.2f} ({error:.2f}) |"
            f" {means['SHD-C']:.2f} | {means['ranked']:.2f} | {', '.join(marks)} |",
            flush=True,
        )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=7000)
    parser.add_argument("--only", default="", help="only kinds with this text in their name")
    parser.add_argument("--networks", metavar="FOLDER", type=Path, help="folder with ecoli70.json and others")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    seeds = range(options.first_seed, options.first_seed + (3 if options.quick else options.seeds))
    print(
        f"golem {golem.__version__}, numpy {np.__version__}, Python {platform.python_version()}, {len(seeds)} seeds\n"
    )
    headings = ("data", "robust", "F1", "false edges", "arrows", "wrong", "by shape", "wrong", "SHD", "SHD-C", "ranked")
    print(f"| {' | '.join(headings)} | worse than off |\n|---|---|" + "---|" * (len(headings) - 1))
    began = time.perf_counter()
    for name, kind in kinds(options.networks).items():
        if options.only in name and (kind.quick or not options.quick):
            drawn = [kind.draw(seed) for seed in seeds]
            line(name, {robust: [measured(one, robust) for one in drawn] for robust in ROBUST})
    print(f"\n{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
