"""Claim: the global p-value of `golem.check` is uniform for the true graph and finds one omitted weak edge.

Parts, all simulated (free noise variances, weights of the paper):

- uniform: for each noise and size, the p-value of a Kolmogorov-Smirnov test that the global p-values of the true graph
  are uniform, and the share of p-values below 0.05
- power: the share of tables in which the global p-value is below 0.05 when the graph lacks one edge of standardized
  weight 0.2, drawn at random among the pairs of the order; and the share in which the worst violation is in its target
- learned: the share of p-values below 0.05 and their mean for a graph learned from the same rows, and from other rows;
  with weak edges (weights x 0.2) the learned graph lacks some of them
- hints: the share of tables with a hint at a hidden common cause, and the share in which it names three or four of its
  four variables: with a hidden common cause (0.7 standard deviations of the noise), and with one omitted edge instead
- cost: seconds of processor time, from moments

    python benchmarks/check.py uniform power learned hints cost
    python benchmarks/check.py uniform power learned hints cost --first-seed 20000
    python benchmarks/check.py uniform power learned hints cost --quick      # 40 tables instead of 100, d up to 100
"""

from __future__ import annotations

import argparse
import platform
import time

import numpy as np
from scipy.optimize import brentq
from scipy.stats import kstest

import golem
from golem import Golem, LinearSEM, Moments
from golem.graphs.dag import topological_order
from golem.simulate import Simulation, random_sem, simulate

CASES = ((10, "ER1"), (20, "ER1"), (20, "ER2"), (50, "ER2"))
N, WEIGHT, LEVEL = 1000, 0.2, 0.05


def drawn(d: int, graph: str, noise: str, seed: int) -> Simulation:
    """Draw a table with noise deviations between 1 and 2."""
    return simulate(d, N, graph, noise, noise_std=(1.0, 2.0), random_state=[d, seed, 2024])


def with_edge(sem: LinearSEM, rng: np.random.Generator) -> tuple[LinearSEM, int]:
    """Add an edge of a given standardized weight between two random nodes; return its target too."""
    adjacency = sem.adjacency
    order = topological_order(adjacency)
    pairs = [(i, j) for k, j in enumerate(order) for i in order[:k] if not adjacency[i, j]]
    i, j = pairs[rng.integers(len(pairs))]

    def model(weight: float) -> LinearSEM:
        B = sem.weights.copy()
        B[i, j] = weight
        return LinearSEM(B, sem.noise_variances, noise=sem.noise)

    def excess(weight: float) -> float:
        variances = np.diagonal(model(weight).covariance)
        return float(weight * np.sqrt(variances[i] / variances[j])) - WEIGHT

    return model(brentq(excess, 0, 1e4)), int(j)


def uniform(seeds: range) -> None:
    """Print how uniform the global p-value of the true graph is."""
    print(f"true graph, {len(seeds)} tables, n = {N} | KS p-value | share below {LEVEL}")
    for noise in ("gaussian-nv", "exponential", "gumbel"):
        for d, graph in CASES:
            found = []
            for seed in seeds:
                data = drawn(d, graph, noise, seed)
                found.append(golem.check(data.sem, data.data).p_value)
            share = np.mean(np.less(found, LEVEL))
            print(f"{noise} {graph} d={d} | {kstest(found, 'uniform').pvalue:.2f} | {share:.2f}")


def power(seeds: range) -> None:
    """Print how often one omitted edge is found."""
    print(f"one omitted edge of standardized weight {WEIGHT}, n = {N} | found | worst violation at its target")
    for d, graph in (*CASES, (100, "ER2")):
        found, named = [], []
        for seed in seeds:
            rng = np.random.default_rng([d, seed, 77])
            sem = random_sem(d, graph, "gaussian-nv", random_state=rng)
            larger, target = with_edge(sem, rng)
            result = golem.check(sem.adjacency, larger.sample(N, rng))
            found.append(result.p_value < LEVEL)
            named.append(result.records(1)[0]["target"] == f"x{target}")
        print(f"{graph} d={d} | {np.mean(found):.2f} | {np.mean(named):.2f}")


def learned(seeds: range) -> None:
    """Print the p-values of learned graphs, which lack weak edges."""
    print(f"learned graph, ER2 d=20, n = {N} | share below {LEVEL} | mean p-value")
    for scale in (1.0, 0.2):
        same, other = [], []
        for seed in seeds:
            data = simulate(20, 2 * N, "ER2", "gaussian-nv", weight_scale=scale, random_state=[seed, 5]).data
            model = Golem("nv").fit(data[:N])
            same.append(golem.check(model, data[:N]).p_value)
            other.append(golem.check(model, data[N:]).p_value)
        for name, found in (("same rows", same), ("other rows", other)):
            print(f"weights x {scale:g}, {name} | {np.mean(np.less(found, LEVEL)):.2f} | {np.mean(found):.2f}")


def hints(seeds: range) -> None:
    """Print how often a hidden common cause is suggested, where there is one and where an edge is missing."""
    print(f"ER1 d=15, n = {N} | hint at a hidden common cause | it names at least 3 of its 4 variables")
    found: dict[str, list[tuple[bool, bool]]] = {"hidden common cause": [], "one omitted edge": []}
    for seed in seeds:
        rng = np.random.default_rng([seed, 9])
        sem = random_sem(15, "ER1", "gaussian-nv", random_state=rng)
        deviations, caused = np.sqrt(sem.noise_variances), rng.permutation(15)[:4]
        noise, paths = rng.normal(size=(N, 15)) * deviations, np.linalg.inv(np.eye(15) - sem.weights)
        fewer = sem.adjacency.copy()
        fewer[tuple(rng.permutation(np.argwhere(fewer))[0])] = False
        results = {"one omitted edge": golem.check(fewer, noise @ paths)}
        noise[:, caused] += 0.7 * rng.normal(size=(N, 1)) * deviations[caused]
        results["hidden common cause"] = golem.check(sem.adjacency, noise @ paths)
        for case, result in results.items():
            cluster = next((hint for hint in result.hints if "common cause" in hint), "")
            found[case].append((bool(cluster), sum(f"'x{j}'" in cluster for j in caused) >= 3))
    for case, outcomes in found.items():
        hinted, named = np.mean(outcomes, axis=0)
        print(f"{case} | {hinted:.2f} | {named:.2f}")


def cost(largest: int) -> None:
    """Print the processor time of a check."""
    print("d | seconds of golem.check, from moments (smallest of 3)")
    for d in (20, 100, 1000, 3000):
        if d <= largest:
            data = simulate(d, 2 * d + 1000, "ER2", "gaussian-nv", random_state=d)
            moments, times = Moments.from_rows(data.data), []
            for _ in range(3):
                began = time.process_time()
                golem.check(data.sem, moments)
                times.append(time.process_time() - began)
            print(f"{d} | {min(times):.3f}")


def main() -> None:
    """Run the chosen parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", choices=["uniform", "power", "learned", "hints", "cost"])
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true")
    chosen = parser.parse_args()
    seeds = range(chosen.first_seed, chosen.first_seed + (40 if chosen.quick else 100))
    versions = f"golem {golem.__version__}, numpy {np.__version__}, Python {platform.python_version()}"
    print(f"{versions}, {platform.machine()}, seeds {seeds.start} to {seeds.stop - 1}")
    for part in chosen.parts:
        cost(100 if chosen.quick else 3000) if part == "cost" else globals()[part](seeds)


if __name__ == "__main__":
    main()
