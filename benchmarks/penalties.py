"""Claim: no penalty per edge is better than the default "mbic" everywhere: "ebic" and a second fit trade errors.

Errors per table (SHD-C; SHD where the noise variances are equal, which identifies directions) of the default search
with mbic, with ebic, with bic, and with "edges", a data-driven choice: the graph of mbic has E edges among P pairs, and
a second fit has the penalty log n + 2 log(P / E) per edge, what naming one of E edges costs. Differences from mbic are
paired, with standard errors, and marked if they are worse by two of them. Kinds: ER, SF and dense graphs of the paper,
and the networks of bnlearn in standardized columns, if a folder with their files is given (see summary.py).

    python benchmarks/penalties.py --networks pgmpy/utils/example_models
    python benchmarks/penalties.py --quick
"""

from __future__ import annotations

import argparse
import platform
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

import golem
from golem import Golem, metrics
from golem.simulate import Simulation, simulate
from golem_experiments.network_files import read_network

NETWORKS = ("ecoli70", "magic-niab", "magic-irri", "arth150")
PENALTIES = ("mbic", "ebic", "bic", "edges")


def kinds(networks: Path | None, quick: bool) -> dict[str, Callable[[int], Simulation]]:
    """Return functions that draw a table of each kind from a seed."""
    found: dict[str, Callable[[int], Simulation]] = {}
    cells = [(graph, d, n) for d in (20, 50) for n in (100, 1000) for graph in ("ER1", "ER2", "ER4", "SF4")]
    for graph, d, n in [("ER2", 20, 100)] if quick else [*cells, ("ER10", 50, 1000)]:
        for noise in ("gaussian-nv",) if graph == "ER10" or n == 100 else ("gaussian-nv", "gaussian-ev"):
            name = f"{graph}, d={d}, n={n}{', equal variances' * (noise == 'gaussian-ev')}"
            found[name] = lambda seed, d=d, n=n, graph=graph, noise=noise: simulate(
                d, n, graph, noise, random_state=seed
            )
    for graph, n in [] if quick else [("ER1", 300), ("ER2", 300), ("ER2", 1000)]:
        found[f"{graph}, d=30, n={n}, weights 0.2 to 0.8"] = lambda seed, n=n, graph=graph: simulate(
            30, n, graph, "gaussian-nv", weight_scale=0.4, random_state=seed
        )
    for name in NETWORKS if networks is not None and not quick else ():
        sem = read_network(networks / f"{name}.json")
        for n in (100, 1000):
            found[f"{name}, n={n}"] = lambda seed, sem=sem, n=n: standardized(sem, n, seed)
    return found


def standardized(sem: golem.LinearSEM, n: int, seed: int) -> Simulation:
    """Return a table of a network."""
    rows = sem.sample(n, random_state=seed)
    return Simulation(sem, (rows - rows.mean(axis=0)) / rows.std(axis=0))


def errors(drawn: Simulation, identified: bool) -> dict[str, float]:
    """Return the errors of all penalties on a table."""
    n, d = drawn.data.shape
    models = {name: Golem(lambda_sparsity=name).fit(drawn.data) for name in PENALTIES[:-1]}
    edges = max(len(models["mbic"].graph_), 1)
    penalty = np.log(n) + 2 * np.log(d * (d - 1) / 2 / edges)
    models["edges"] = Golem(lambda_sparsity=penalty / (2 * n)).fit(drawn.data)
    distance = metrics.shd if identified else metrics.shd_c
    return {name: distance(drawn.sem.adjacency, model.adjacency_) for name, model in models.items()}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--first-seed", type=int, default=9000)
    parser.add_argument("--only", default="", help="only kinds with this text in their name")
    parser.add_argument("--networks", metavar="FOLDER", type=Path, help="folder with ecoli70.json and others")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    seeds = range(options.first_seed, options.first_seed + (3 if options.quick else options.seeds))
    print(
        f"golem {golem.__version__}, numpy {np.__version__}, Python {platform.python_version()}, {len(seeds)} seeds\n"
    )
    print(f"| data | mbic | {' | '.join(PENALTIES[1:])} |\n|---|" + "---|" * len(PENALTIES))
    began, worse = time.perf_counter(), dict.fromkeys(PENALTIES[1:], 0)
    for name, draw in kinds(options.networks, options.quick).items():
        if options.only not in name:
            continue
        found = [errors(draw(seed), "equal" in name) for seed in seeds]
        own = {key: np.array([one[key] for one in found], dtype=float) for key in PENALTIES}
        cells = [f"{own['mbic'].mean():.2f}"]
        for key in PENALTIES[1:]:
            gap = own[key] - own["mbic"]
            error = gap.std(ddof=1) / np.sqrt(len(gap))
            is_worse = gap.mean() > 0 and gap.mean() > 2 * error
            worse[key] += int(is_worse)
            cells.append(f"{gap.mean():+.2f} ({error:.2f}){' **worse**' if is_worse else ''}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    print(f"\ncells worse than mbic by two standard errors: {worse}\n{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
