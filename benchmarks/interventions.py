"""Measure learning from experiments: accuracy after DCDI, next to GIES, soft interventions, claims, Sachs, and time.

Claims of docs/interventions.md:

- dcdi: on the linear benchmark of Brouillard et al. (2020), the mean SHD over 10 seeds is at most 0.3 (d = 10, one or
  four edges per node), 0.5 (d = 20, one) and 2.0 (d = 20, four), and each fit takes less than a second.
- compared: with hard interventions the distance between interventional classes is not larger than that of gies by two
  standard errors, in any cell, and a fit with d = 50 is at least 10 times faster; with soft interventions the classes
  are as close to the truth as with hard ones. `gies_variants.py` describes the variants of gies, `parallel_tasks.py`
  how tasks run. Needs gies in the environment. Seeds start at 3000.
- soft: the same with 100 rows per environment, on more graphs.
- evidence: for normal noise and for noise with heavy tails, at most 5 % of the directions claimed by interventions are
  wrong, and at most 5 % of the tables have a claim if the experiments have no effect on covariances. Where
  interventions are said to be hard and are not, hardly any direction is claimed. `--seeds` is the number of tables per
  cell, or a tenth or half of it without effects; seeds start at 7000.
- sachs: on all conditions of the Sachs data the SHD is at most 13 (empty graph: 17).
- large: d = 1000 with 100 environments takes less than 120 seconds on two cores.

    python benchmarks/interventions.py dcdi
    python benchmarks/interventions.py compared --rows rows.jsonl
    python benchmarks/interventions.py soft --nodes 20 --seeds 60
    python benchmarks/interventions.py evidence --seeds 30
    python benchmarks/interventions.py sachs
    python benchmarks/interventions.py large

Seeds of the other parts start at 1000. `--quick` runs fewer seeds and the smaller sizes.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import platform
import statistics
import sys
import time
import warnings
from typing import Any

import numpy as np

import parallel_tasks
from gies_variants import GIES
from golem import Golem
from golem.comparison.registry import compile_method
from golem.data.datasets import load_sachs
from golem.metrics import shd
from golem.runtime.version import __version__
from golem.simulate import random_sem, simulate_environments, single_targets
from golem_experiments.interventions import (
    CHANGES,
    DCDI_BOUNDS,
    DCDI_ROWS,
    FIRST_SEED,
    class_distance,
    draw,
    fit,
    interventional_cpdag,
)
from golem_experiments.learners import build
from parallel_tasks import Row, add_options, make_tasks, print_comparison, run_tasks, serve_tasks, timed


def cell_of(design: str, graph: str, change: str, targets: str, d: int, n: int) -> dict[str, Any]:
    """Return a cell of the experiment."""
    return {"design": design, "graph": graph, "change": change, "targets": targets, "d": d, "n": n}


def mean_and_error(values: list[float]) -> str:
    """Return the mean and the standard error."""
    error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else float("nan")
    return f"{statistics.mean(values):6.2f} +- {error:.2f}"


def dcdi(options: argparse.Namespace) -> None:
    """Print SHD and seconds, of the processor and of the clock, on the benchmark after DCDI."""
    for (d, graph), bound in DCDI_BOUNDS.items():
        if options.quick and d > 10:
            continue
        cell = cell_of("dcdi", graph, "hard", "all", d, DCDI_ROWS // (d + 1))
        for method in ("order-hard", "order-soft"):
            compile_method(method)
            distances, work, clock = [], [], []
            for seed in range(options.seeds):
                drawn, began = draw(cell, seed), time.perf_counter()
                model, seconds = timed(functools.partial(fit, build(method, cell), drawn))
                clock.append(time.perf_counter() - began)
                work.append(seconds)
                distances.append(shd(drawn.truth, model.adjacency_))
            print(
                f"d={d:<3} {graph} {method:<11} SHD {mean_and_error(distances)} (bound {bound})  "
                f"processor {statistics.mean(work):.2f} s, slowest {max(work):.2f} s; clock "
                f"{statistics.mean(clock):.2f} s, slowest {max(clock):.2f} s",
                flush=True,
            )


def compared(options: argparse.Namespace) -> None:
    """Print SHD-I and processor seconds of golem and gies with hard interventions, and of golem with soft ones."""
    cells = [
        cell_of("er", "ER2", change, targets, d, n)
        for d in ((20,) if options.quick else options.nodes)
        for targets in ("none", "quarter", "all")
        for n in (100, 1000)
        for change in CHANGES
        if change == "hard" or targets != "none"
    ]
    rows = run_tasks(__file__, make_tasks(cells, methods_of, options), _cost, options)
    print_comparison(rows, "order-hard", "SHD-I")


def methods_of(cell: dict[str, Any]) -> list[str]:
    """Return the methods for a cell."""
    if cell["change"] != "hard":
        return ["order-soft"]
    return ["order-hard", *(GIES if importlib.util.find_spec("gies") else ())]


def _cost(task: Row) -> float:
    """Return roughly how slow a task is."""
    return (task["cell"]["d"] * (10 if task["method"] == "gies" else 1)) if task["method"] in GIES else 0.0


def measure(task: Row) -> tuple[float, float]:
    """Return the SHD-I and the processor time of a method on the data of one seed."""
    cell, method = task["cell"], task["method"]
    drawn = draw(cell, task["seed"] - FIRST_SEED)
    intervention = "hard" if cell["change"] == "hard" else "soft"
    if method in GIES:
        graph, seconds = timed(lambda: GIES[method](drawn.tables, drawn.targets))
    else:
        model, seconds = timed(lambda: fit(build(method, cell), drawn))
        graph = interventional_cpdag(model.adjacency_, drawn.targets, intervention)
    return class_distance(interventional_cpdag(drawn.truth, drawn.targets, intervention), graph), seconds


def prepare_method(method: str) -> None:
    """Import and compile what a method needs."""
    warnings.simplefilter("ignore")  # few rows per column, in many cells
    if method in GIES:
        import gies  # noqa: F401
    else:
        compile_method(method)


def soft(options: argparse.Namespace) -> None:
    """Print SHD-I with hard and soft interventions, 100 rows per environment, and the differences, graph by graph."""
    prepare_method("order-soft")
    for d in options.nodes:
        for targets in ("quarter", "all"):
            found = {change: [] for change in CHANGES}
            for seed in range(parallel_tasks.FIRST_SEED, parallel_tasks.FIRST_SEED + options.seeds):
                for change, values in found.items():
                    method = "order-hard" if change == "hard" else "order-soft"
                    task = {"cell": cell_of("er", "ER2", change, targets, d, 100), "seed": seed, "method": method}
                    values.append(measure(task)[0])
            for change, values in found.items():
                more = [one - hard for one, hard in zip(values, found["hard"], strict=True)]
                right = sum(value == 0 for value in values)
                print(
                    f"d={d:<3} {targets:<8} {change:<8} SHD-I {mean_and_error(values)}, more than hard "
                    f"{mean_and_error(more)}, right {right} of {len(values)}",
                    flush=True,
                )


NOISES = {
    "normal": lambda rng, size: rng.normal(size=size),
    "laplace": lambda rng, size: rng.laplace(size=size) / 2**0.5,
    "exponential": lambda rng, size: rng.exponential(size=size) - 1,
    "t4": lambda rng, size: rng.standard_t(4, size=size) / 2**0.5,
    "lognormal": lambda rng, size: (rng.lognormal(size=size) - np.e**0.5) / (np.e**2 - np.e) ** 0.5,
}
EVIDENCE_SEED = 7000


def evidence(options: argparse.Namespace) -> None:
    """Print how many directions are claimed: right, reversed, or where there is no edge; and tables with a claim."""
    noises = ("normal", "lognormal") if options.quick else tuple(NOISES)
    designs = [("no effect", "none", 2, 1, 10), ("only means", "shift", 8, 3, 2), ("only means", "shift", 8, 8, 2)]
    real = [("soft", "variance"), ("soft", "slopes"), ("hard", "hard")]
    for title, change, d, count, times in designs:  # few of these tables have a claim, so there are more of them
        for setting in ("soft", "hard"):
            _print_claims(title, noises, (300, 2000), (setting, change, d, count, "both"), times * options.seeds)
    for setting, change in real:
        for weights in ("weak", "strong"):
            for d, count in ((2, 1), (8, 3), (8, 8)):
                _print_claims("effects", noises, (300, 2000), (setting, change, d, count, weights), options.seeds)
    for change in ("variance", "slopes"):
        for weights in ("weak", "strong"):
            _print_claims("not hard", noises[:1], (300, 2000), ("hard", change, 8, 3, weights), options.seeds)


def _print_claims(title: str, noises: tuple[str, ...], sizes: tuple[int, ...], cell: Any, tables: int) -> None:
    """Print the claims of one design for some noises and numbers of rows per environment."""
    setting, change, d, count, weights = cell
    for noise in noises:
        for n in sizes:
            found, silent = np.zeros(4, dtype=int), 0  # experiments without an effect that no finding names
            for seed in range(tables):
                truth, X, labels, targets = _drawn(d, noise, n, change, count, weights, EVIDENCE_SEED + seed)
                model = Golem(intervention=setting).fit(X, environments=labels, targets=targets)
                claimed = model.by_intervention_
                right, wrong = int((claimed & truth).sum()), int((claimed & truth.T).sum())
                found += [right, wrong, int(claimed.sum()) - right - wrong, claimed.any()]
                if title in ("no effect", "only means"):
                    silent += model.diagnose(refit=False)["target-effects"].level == "ok"
            print(
                f"{title:<10} {setting} {change:<8} {weights:<6} d={d} targets={count} n={n:<4} {noise:<11} right "
                f"{found[0]:>4}, reversed {found[1]:>3}, no edge {found[2]:>3}, tables with a claim {found[3]:>3} of "
                f"{tables}; no finding {silent}",
                flush=True,
            )


def _drawn(d: int, noise: str, n: int, change: str, count: int, weights: str, seed: int) -> tuple[Any, ...]:
    """Draw a graph, and n rows per environment: a control and experiments on single nodes."""
    rng = np.random.default_rng([seed, d])
    graph = np.array([[0, 1], [0, 0]]) if d == 2 else random_sem(d, "ER1", random_state=rng).adjacency
    low, high = {"weak": (0.2, 0.8), "strong": (0.5, 2.0), "both": (0.2, 2.0)}[weights]
    B = graph * rng.uniform(low, high, (d, d)) * rng.choice([-1.0, 1.0], (d, d))
    scale, chosen = rng.uniform(1, 2, d), np.sort(rng.permutation(d)[:count]).tolist()
    tables = []
    for target in (None, *chosen):
        own, scales, shift = B.copy(), scale.copy(), np.zeros(d)
        if target is not None:
            own[:, target] *= {"slopes": 2.0, "hard": 0.0}.get(change, 1.0)
            scales[target] = {"variance": 2**0.5 * scale[target], "hard": 1.0}.get(change, scale[target])
            shift[target] = {"shift": 3.0, "hard": 2.0}.get(change, 0.0)
        tables.append((NOISES[noise](rng, (n, d)) * scales + shift) @ np.linalg.inv(np.eye(d) - own))
    targets = {"control": []} | {str(target): [target] for target in chosen}
    return graph != 0, np.concatenate(tables), np.repeat(list(targets), n), targets


def sachs(options: argparse.Namespace) -> None:
    """Print the SHD on all conditions of the Sachs data, log intensities."""
    data = load_sachs(interventional=True)
    for intercepts in ("separate", "shared"):
        for intervention in ("soft", "hard"):
            model = Golem(intervention=intervention, intercepts=intercepts)
            model.fit(np.log(data.values), environments=data.environments, targets=_by_number(data))
            distance, edges = shd(data.truth, model.adjacency_), int(model.adjacency_.sum())
            print(f"{intercepts:<9} intercepts, {intervention}: SHD {distance:.0f}, {edges} edges")


def _by_number(data: Any) -> dict[str, list[int]]:
    """Return the targets by the numbers of their columns."""
    return {label: [data.names.index(name) for name in some] for label, some in data.targets.items()}


def large(options: argparse.Namespace) -> None:
    """Print the time of a fit with many columns and environments."""
    d, count = (200, 20) if options.quick else (1000, 100)
    compile_method("order-hard")
    rng = np.random.default_rng(FIRST_SEED)
    sem = random_sem(d, "ER2", "gaussian-nv", random_state=rng)
    targets = single_targets(sem, count, "hard", rng)
    drawn = simulate_environments(sem, targets, 100 * (count + 1), "hard", rng)
    began = time.perf_counter()
    model = Golem(intervention="hard").fit(drawn.data, environments=drawn.labels, targets=targets)
    seconds = time.perf_counter() - began
    print(
        f"d={d}, {count} targets, {len(drawn.data)} rows: {seconds:.1f} s, SHD {shd(sem.adjacency, model.adjacency_)}"
    )


PARTS = {"dcdi": dcdi, "compared": compared, "soft": soft, "evidence": evidence, "sachs": sachs, "large": large}


def main() -> None:
    """Run one part, and print the versions and the hardware."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--seeds", type=int, default=10, help="of all parts but `compared`")
    parser.add_argument("--nodes", type=int, nargs="+", default=[20, 50], help="of `compared` and `soft`")
    parser.add_argument("--quick", action="store_true")
    add_options(parser)
    options = parser.parse_args()
    if options.quick:
        options.seeds, options.tables = min(options.seeds, 3), min(options.tables, 2)
    PARTS[options.part](options)
    print(f"golem {__version__}, NumPy {np.__version__}, {platform.processor() or platform.machine()}")


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        serve_tasks(prepare_method, measure)
    main()
