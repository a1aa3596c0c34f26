"""Claim: on discrete networks golem is as accurate as the best of pgmpy and causal-learn, and ten times faster.

Draws n = 1000 and 10000 rows from asia, child, insurance, alarm and hailfinder (the BIF files are in the wheel pgmpy
1.1.2 under pgmpy/utils/example_models) and prints for every score of golem, and for every other package, the mean SHD-C
with its standard error, and the processor time per table. pgmpy: hill climbing with BDeu and BIC, GES with BIC, from
pgmpy.causal_discovery. causal-learn: GES with BDeu. All have their default settings. Columns with one level are left
out. Packages that are not installed are left out; `parallel_tasks.py` says how tasks run. Seeds start at 3000.

The networks coins-50, skewed-50 and dice-50 have 50 independent nodes: fair coins, coins with a probability of 0.02 to
0.3, and dice with three faces. Their SHD-C is the number of false edges. The method "golem log n" is discrete-bic with
log n per parameter and nothing for the choice among the nodes; "golem numbers" gets these codes as numbers.

    python -m venv .other-packages/categories
    .other-packages/categories/bin/pip install . pandas pgmpy==1.1.2 causal-learn==0.1.4.8
    .other-packages/categories/bin/python benchmarks/categories.py FOLDER_OF_EXAMPLE_MODELS --rows rows.jsonl
    python benchmarks/categories.py FOLDER --quick         # asia and child, 2 tables
    python benchmarks/categories.py FOLDER --networks coins-20 coins-50 --sizes 500
    python benchmarks/categories.py FOLDER --measure recall    # share of the true edges found, in any direction
"""

from __future__ import annotations

import argparse
import functools
import logging
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from golem import Golem, metrics
from golem.comparison.other_packages import CATEGORY_PACKAGES, Estimate
from golem.comparison.registry import compile_method
from golem_experiments.discrete import NETWORKS, table_of
from golem_experiments.network_files import DiscreteNetwork, read_bif
from parallel_tasks import Row, add_options, make_tasks, print_comparison, run_tasks, serve_tasks, timed

# Scores of golem by the names of its methods; the others are those of the experiment `discrete`.
SCORES = {f"golem {score}": {"score_function": score} for score in ("auto", "bdeu", "discrete-bic", "mixed")}
SCORES["golem log n"] = {"score_function": "discrete-bic", "lambda_sparsity": "bic"}
SCORES["golem numbers"] = {"score_function": "gaussian"}
INDEPENDENT = ("coins", "skewed", "dice")
# Roughly how slow methods and networks are, for the order of the tasks.
_SLOWNESS = {"asia": 1, "child": 5, "insurance": 20, "alarm": 50, "hailfinder": 100}


def by_golem(codes: np.ndarray, settings: dict[str, str]) -> Callable[[], Estimate]:
    """Return a function that learns a DAG."""
    table = codes.astype(float) if settings["score_function"] == "gaussian" else table_of(codes)

    def learn() -> Estimate:
        graph = Golem(**settings).fit(table).adjacency_
        return Estimate(graph, False, graph)

    return learn


@functools.cache
def network_of(folder: str, name: str) -> DiscreteNetwork:
    """Read a network, or make one of independent nodes."""
    kind, _, d = name.partition("-")
    return independent(kind, int(d)) if kind in INDEPENDENT else read_bif(Path(folder) / f"{name}.bif.gz")


def independent(kind: str, d: int) -> DiscreteNetwork:
    """Return a network without edges."""
    rare = np.random.default_rng(d).uniform(0.02, 0.3, d)
    shares = {
        "coins": np.full((d, 2), 1 / 2),
        "skewed": np.column_stack([rare, 1 - rare]),
        "dice": np.full((d, 3), 1 / 3),
    }[kind]
    names, levels = tuple(f"x{j:03d}" for j in range(d)), tuple(map(str, range(shares.shape[1])))
    return DiscreteNetwork(names, (levels,) * d, ((),) * d, tuple(shares))


def recall(truth: np.ndarray, graph: np.ndarray) -> float:
    """Return the share of the true edges that are found, in any direction."""
    return float(((graph | graph.T) & truth).sum() / truth.sum())


def measure(task: Row, folder: str, value: str) -> tuple[float, float]:
    """Return the SHD-C or the recall, and the processor time, of a method on a table."""
    network, method = network_of(folder, task["cell"]["network"]), task["method"]
    codes = network.sample(task["cell"]["n"], random_state=task["seed"])
    kept = np.array([j for j in range(codes.shape[1]) if len(np.unique(codes[:, j])) > 1])
    codes = codes[:, kept]
    learn = by_golem(codes, SCORES[method]) if method in SCORES else lambda: CATEGORY_PACKAGES[method].learn(codes)
    found, seconds = timed(learn)
    graph = np.zeros_like(network.adjacency)
    graph[np.ix_(kept, kept)] = found.graph
    if value == "recall":
        return recall(network.adjacency, graph), seconds
    return metrics.shd_c(network.adjacency, graph, cpdag=found.is_class), seconds


def prepare_method(method: str) -> None:
    """Import and compile what a method needs."""
    warnings.simplefilter("ignore")  # small tables have rare levels
    logging.disable(logging.CRITICAL)
    if method in SCORES:
        compile_method("order-bdeu")
    else:
        CATEGORY_PACKAGES[method].load()


def methods_of(cell: Row) -> list[str]:
    """Return the methods whose packages are installed; column_types.py has the codes of networks as numbers."""
    others = [name for name, other in CATEGORY_PACKAGES.items() if other.is_installed]
    is_independent = cell["network"].partition("-")[0] in INDEPENDENT
    return [*(name for name in SCORES if is_independent or name != "golem numbers"), *others]


def cost(task: Row) -> float:
    """Return roughly how slow a task is."""
    if task["method"] in SCORES:
        return 0.0
    slow_search = 5.0 if "ges" in task["method"] else 1.0
    return slow_search * _SLOWNESS.get(task["cell"]["network"], 100) * (2.0 if task["cell"]["n"] > 1000 else 1.0)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--networks", nargs="+", default=NETWORKS)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10000])
    parser.add_argument("--measure", choices=("SHD-C", "recall"), default="SHD-C")
    parser.add_argument("--quick", action="store_true", help="asia and child, 2 tables, n = 1000")
    add_options(parser)
    options = parser.parse_args()
    if options.quick:
        options.networks, options.sizes, options.tables = ["asia", "child"], [1000], 2
    cells = [{"network": name, "n": n} for name in options.networks for n in options.sizes]
    tasks = make_tasks(cells, methods_of, options)
    rows = run_tasks(__file__, tasks, cost, options, str(options.folder.resolve()), options.measure)
    print_comparison(rows, "golem auto", options.measure, higher_is_better=options.measure == "recall")


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve_tasks(prepare_method, functools.partial(measure, folder=sys.argv[2], value=sys.argv[3]))
    main()
