"""Measure learning from experiments: accuracy after DCDI, next to GIES, soft interventions, Sachs, and time.

Claims of docs/interventions.md:

- dcdi: on the linear benchmark of Brouillard et al. (2020), the mean SHD over 10 seeds is at most 0.3 (d = 10, one or
  four edges per node), 0.5 (d = 20, one) and 2.0 (d = 20, four), and each fit takes less than a second.
- compared: with hard interventions the distance between interventional classes is not larger than that of gies by two
  standard errors, in any cell, and a fit with d = 50 is at least 10 times faster; with soft interventions the classes
  are as close to the truth as with hard ones. `gies_variants.py` describes the variants of gies, `parallel_tasks.py`
  how tasks run. Needs gies in the environment. Seeds start at 3000.
- soft: the same with 100 rows per environment, on more graphs.
- null: of the directions that experiments without an effect on covariances leave tied, few are claimed by chance.
- sachs: on all conditions of the Sachs data the SHD is at most 13 (empty graph: 17).
- large: d = 1000 with 100 environments takes less than 120 seconds on two cores.

    python benchmarks/interventions.py dcdi
    python benchmarks/interventions.py compared --rows rows.jsonl
    python benchmarks/interventions.py soft --nodes 20 --seeds 60
    python benchmarks/interventions.py null
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
from golem.comparison.registry import prepare
from golem.data.datasets import load_sachs
from golem.experiments.interventions import (
    CHANGES,
    DCDI_BOUNDS,
    DCDI_ROWS,
    FIRST_SEED,
    class_distance,
    draw,
    fit,
    interventional_cpdag,
)
from golem.experiments.learners import build
from golem.metrics import shd
from golem.runtime.version import __version__
from golem.simulate import random_sem, simulate_environments, single_targets
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
            prepare(method)
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
        prepare(method)


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


def null(options: argparse.Namespace) -> None:
    """Print the share of directions claimed from experiments that only shift means."""
    for d in (10,) if options.quick else (10, 20):
        claimed = open_edges = 0
        for seed in range(options.seeds):
            rng = np.random.default_rng(FIRST_SEED + seed)
            sem = random_sem(d, "ER1", "gaussian-nv", random_state=rng)
            targets = single_targets(sem, d, "soft", rng)
            tables = {label: sem.change(some, shift=3.0).sample(500, rng) for label, some in targets.items()}
            labels = np.repeat(list(tables), 500)
            model = Golem("nv").fit(np.concatenate(list(tables.values())), environments=labels, targets=targets)
            claimed += int(model.by_intervention_.sum())
            open_edges += int((model.by_intervention_ | model.undecided_).sum())
        print(f"d={d:<3} only means shift: {claimed} of {open_edges} tied directions claimed")


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
    prepare("order-hard")
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


PARTS = {"dcdi": dcdi, "compared": compared, "soft": soft, "null": null, "sachs": sachs, "large": large}


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
