"""Measure how well the edges of tables with numbers and categories are found.

Claim of benchmarks/categories.md: where half of the nodes are categories with 2 to 4 levels (ER2, n = 1000, from
thresholded and from logistic mechanisms), the F1 of adjacencies is at least 0.05 above that of the same rows with codes
as numbers, and not below that of another package by two standard errors:

- pgmpy, hill climbing with the conditional Gaussian BIC, its score for mixed tables.
- causal-learn, which has no fast score or test for mixed tables: PC (level 0.01) with Fisher's z on the codes as
  numbers, and with the chi-squared test on numbers cut into three levels of equal size.

    python -m venv .other-packages/categories
    .other-packages/categories/bin/pip install . pandas pgmpy==1.1.2 causal-learn==0.1.4.8
    .other-packages/categories/bin/python benchmarks/mixed.py --rows rows.jsonl
    python benchmarks/mixed.py --quick

Packages that are not installed are left out; `parallel_tasks.py` says how tasks run. Seeds start at 3000; nothing was
chosen on them. pgmpy takes minutes per table of 20 nodes.
"""

from __future__ import annotations

import argparse
import importlib.util
import logging
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from golem import Golem
from golem.comparison.other_packages import of_end_marks
from golem.comparison.registry import compile_method
from golem.simulate import SimulatedTable, simulate_table
from parallel_tasks import Row, add_options, make_tasks, print_comparison, run_tasks, serve_tasks, timed

ROWS = 1000
MECHANISMS = ("threshold", "logistic")
OURS, CODES = "golem", "golem, codes as numbers"
PGMPY = "pgmpy hill climbing, BIC"
TESTS = {"causal-learn PC, Fisher's z": "fisherz", "causal-learn PC, chi-squared": "chisq"}
# Roughly how slow methods are, for the order of the tasks.
_SLOWNESS = {OURS: 0.0, CODES: 0.0, PGMPY: 100.0}
_LEVEL, _CUTS = 0.01, 3


def adjacency_f1(truth: Any, estimate: Any) -> float:
    """Return the F1 of the pairs of connected nodes."""
    true, found = np.triu(truth | truth.T), np.triu(estimate | estimate.T)
    return float(2 * (true & found).sum() / max(true.sum() + found.sum(), 1))


def by_pgmpy(drawn: SimulatedTable) -> Callable[[], Any]:
    """Return a function that learns a DAG by hill climbing."""
    import pandas as pd
    from pgmpy.causal_discovery import HillClimbSearch

    names = list(drawn.coding.names)
    table = pd.DataFrame(drawn.columns())
    categories = [variable.name for variable in drawn.coding.variables if variable.is_category]
    table = table.astype(dict.fromkeys(categories, "category"))

    def learn() -> Any:
        search = HillClimbSearch(scoring_method="bic-cg", return_type="dag", show_progress=False)
        graph = np.zeros((len(names),) * 2, dtype=bool)
        for cause, child in search.fit(table).causal_graph_.edges():
            graph[names.index(cause), names.index(child)] = True
        return graph

    return learn


def by_causal_learn(drawn: SimulatedTable, test: str) -> Callable[[], Any]:
    """Return a function that learns a class by PC."""
    from causallearn.search.ConstraintBased.PC import pc

    rows = drawn.rows.copy()
    if test == "chisq":
        for j, variable in enumerate(drawn.coding.variables):
            if not variable.is_category:
                bounds = np.quantile(rows[:, j], np.arange(1, _CUTS) / _CUTS)
                rows[:, j] = np.searchsorted(bounds, rows[:, j])
        rows = rows.astype(int)
    return lambda: of_end_marks(pc(rows, _LEVEL, test, show_progress=False).G.graph)


def measure(task: Row) -> tuple[float, float]:
    """Return the F1 and the processor time of a method on a table."""
    cell, method = task["cell"], task["method"]
    drawn = simulate_table(cell["d"], ROWS, "ER2", cell["mechanism"], random_state=task["seed"])
    if method == PGMPY:
        learn = by_pgmpy(drawn)
    elif method in TESTS:
        learn = by_causal_learn(drawn, TESTS[method])
    else:
        data = drawn.table if method == OURS else drawn.rows
        learn = lambda: Golem().fit(data).adjacency_  # noqa: E731
    graph, seconds = timed(learn)
    return adjacency_f1(drawn.adjacency, graph), seconds


def prepare_method(method: str) -> None:
    """Import and compile what a method needs."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    if method == PGMPY:
        import pgmpy.causal_discovery  # noqa: F401
    elif method in TESTS:
        import causallearn.search.ConstraintBased.PC  # noqa: F401
    else:
        compile_method("order-mixed" if method == OURS else "order")


def installed() -> list[str]:
    """Return the methods whose packages are installed."""
    pgmpy = [PGMPY] if importlib.util.find_spec("pgmpy") else []
    return [OURS, CODES, *pgmpy, *(TESTS if importlib.util.find_spec("causallearn") else [])]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="3 tables of 20 nodes per mechanism")
    parser.add_argument("--nodes", type=int, nargs="+", default=[20, 50])
    add_options(parser, tables=10)
    options = parser.parse_args()
    if options.quick:
        options.nodes, options.tables = [20], 3
    methods = installed()
    cells = [{"mechanism": mechanism, "d": d} for mechanism in MECHANISMS for d in options.nodes]
    tasks = make_tasks(cells, lambda cell: methods, options)
    rows = run_tasks(__file__, tasks, lambda task: _SLOWNESS.get(task["method"], 1.0) * task["cell"]["d"], options)
    print_comparison(rows, OURS, "F1 of adjacencies", higher_is_better=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        serve_tasks(prepare_method, measure)
    main()
