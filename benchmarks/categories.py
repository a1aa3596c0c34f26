"""Claim: on discrete networks golem is as accurate as the best of pgmpy and causal-learn, and ten times faster.

Draws n = 1000 and 10000 rows from asia, child, insurance, alarm and hailfinder (the BIF files are in the wheel pgmpy
1.1.2 under pgmpy/utils/example_models) and prints for every score of golem, and for every other package, the mean SHD-C
with its standard error, and the processor time per table. pgmpy: hill climbing with BDeu and BIC, GES with BIC, from
pgmpy.causal_discovery. causal-learn: GES with BDeu. All have their default settings. Columns with one level are left
out. Packages that are not installed are left out; `parallel_tasks.py` says how tasks run. Seeds start at 3000.

    python -m venv .other-packages/categories
    .other-packages/categories/bin/pip install . pandas pgmpy==1.1.2 causal-learn==0.1.4.8
    .other-packages/categories/bin/python benchmarks/categories.py FOLDER_OF_EXAMPLE_MODELS --rows rows.jsonl
    python benchmarks/categories.py FOLDER --quick         # asia and child, 2 tables
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import logging
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from golem import Golem, metrics
from golem.comparison.other_packages import of_end_marks
from golem.comparison.registry import prepare
from golem.experiments.discrete_networks import DiscreteNetwork, read_bif
from parallel_tasks import Row, add_options, make_tasks, print_comparison, run_tasks, serve_tasks, timed

NETWORKS = ("asia", "child", "insurance", "alarm", "hailfinder")
# Which parameter of golem, or which search and score of another package, a method is.
SCORES = {f"golem {score}": score for score in ("auto", "bdeu", "discrete-bic", "mixed")}
PGMPY = {
    "pgmpy hill climbing, BDeu": ("HillClimbSearch", "bdeu"),
    "pgmpy hill climbing, BIC": ("HillClimbSearch", "bic-d"),
    "pgmpy GES, BIC": ("GES", "bic-d"),
}
CAUSAL_LEARN = "causal-learn GES, BDeu"
# Roughly how slow methods and networks are, for the order of the tasks.
_SLOWNESS = {"asia": 1, "child": 5, "insurance": 20, "alarm": 50, "hailfinder": 100}


def by_golem(codes: np.ndarray, score: str) -> tuple[Callable[[], np.ndarray], bool]:
    """Return a function that learns a DAG; levels have letters before them, so that none looks like a number."""
    table = pd.DataFrame({f"x{j:03d}": [f"level {code}" for code in codes[:, j]] for j in range(codes.shape[1])})
    return lambda: Golem(score_function=score).fit(table).adjacency_, False


def by_pgmpy(codes: np.ndarray, search: str, score: str) -> tuple[Callable[[], np.ndarray], bool]:
    """Return a function that learns a DAG (hill climbing) or a class (GES)."""
    from pgmpy import causal_discovery

    table = pd.DataFrame(codes, columns=[str(j) for j in range(codes.shape[1])]).astype("category")
    is_class = search == "GES"
    more: dict[str, Any] = {} if is_class else {"return_type": "dag", "show_progress": False}

    def learn() -> np.ndarray:
        found = getattr(causal_discovery, search)(scoring_method=score, **more).fit(table).causal_graph_
        graph = np.zeros((codes.shape[1],) * 2, dtype=bool)
        lines = list(found.undirected_edges) if is_class else []
        arrows = found.directed_edges if is_class else found.edges()
        for cause, child in [*arrows, *lines, *((b, a) for a, b in lines)]:
            graph[int(cause), int(child)] = True
        return graph

    return learn, is_class


def by_causal_learn(codes: np.ndarray) -> tuple[Callable[[], np.ndarray], bool]:
    """Return a function that learns a class."""
    from causallearn.search.ScoreBased.GES import ges

    return lambda: of_end_marks(ges(codes, score_func="local_score_BDeu")["G"].graph), True


@functools.cache
def network_of(folder: str, name: str) -> DiscreteNetwork:
    """Read a network."""
    return read_bif(Path(folder) / f"{name}.bif.gz")


def measure(task: Row, folder: str) -> tuple[float, float]:
    """Return the SHD-C and the processor time of a method on a table."""
    network, method = network_of(folder, task["cell"]["network"]), task["method"]
    codes = network.sample(task["cell"]["n"], random_state=task["seed"])
    kept = np.array([j for j in range(codes.shape[1]) if len(np.unique(codes[:, j])) > 1])
    codes = codes[:, kept]
    if method in SCORES:
        learn, is_class = by_golem(codes, SCORES[method])
    elif method in PGMPY:
        learn, is_class = by_pgmpy(codes, *PGMPY[method])
    else:
        learn, is_class = by_causal_learn(codes)
    found, seconds = timed(learn)
    graph = np.zeros_like(network.adjacency)
    graph[np.ix_(kept, kept)] = found
    return metrics.shd_c(network.adjacency, graph, cpdag=is_class), seconds


def prepare_method(method: str) -> None:
    """Import and compile what a method needs."""
    warnings.simplefilter("ignore")  # small tables have rare levels
    logging.disable(logging.CRITICAL)
    if method in SCORES:
        prepare("order-bdeu")
    elif method in PGMPY:
        import pgmpy.causal_discovery  # noqa: F401
    else:
        import causallearn.search.ScoreBased.GES  # noqa: F401


def installed() -> list[str]:
    """Return the methods whose packages are installed."""
    pgmpy = PGMPY if importlib.util.find_spec("pgmpy") else []
    return [*SCORES, *pgmpy, *([CAUSAL_LEARN] if importlib.util.find_spec("causallearn") else [])]


def cost(task: Row) -> float:
    """Return roughly how slow a task is."""
    if task["method"] in SCORES:
        return 0.0
    slow_search = 5.0 if "GES" in task["method"] else 1.0
    return slow_search * _SLOWNESS.get(task["cell"]["network"], 100) * (2.0 if task["cell"]["n"] > 1000 else 1.0)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--networks", nargs="+", default=NETWORKS)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10000])
    parser.add_argument("--quick", action="store_true", help="asia and child, 2 tables, n = 1000")
    add_options(parser)
    options = parser.parse_args()
    if options.quick:
        options.networks, options.sizes, options.tables = ["asia", "child"], [1000], 2
    methods = installed()
    cells = [{"network": name, "n": n} for name in options.networks for n in options.sizes]
    tasks = make_tasks(cells, lambda cell: methods, options)
    rows = run_tasks(__file__, tasks, cost, options, str(options.folder.resolve()))
    print_comparison(rows, "golem auto", "SHD-C")


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve_tasks(prepare_method, functools.partial(measure, folder=sys.argv[2]))
    main()
