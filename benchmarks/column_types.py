"""Claim: answers on a scale are better learned as numbers, codes of categories as categories.

Whole numbers do not say which of the two they are. Surveys are latent linear models of 30 items (ER1 and ER2 in turn,
weights of 0.3 to 1.2, free noise variances) whose columns are cut into 2 to 7 levels; each item has its own steps, and
some are skewed. Coded networks are the levels of asia, child, insurance and alarm as 0, 1, 2, ... (the BIF files are in
the wheel pgmpy 1.1.2 under pgmpy/utils/example_models). `Golem()` gets every table as numbers and as categories; as
numbers, columns that others determine are dropped, as --drop-dependent does.

Prints the SHD-C, or the F1 of adjacencies. `linearity` is the share of tables in which the finding of that name is a
warning: it tells codes from scales. `parallel_tasks.py` says how tasks run. Seeds start at 3000.

    python benchmarks/column_types.py FOLDER_OF_EXAMPLE_MODELS
    python benchmarks/column_types.py FOLDER --measure F1
    python benchmarks/column_types.py FOLDER --measure linearity --methods numbers
"""

from __future__ import annotations

import argparse
import functools
import sys
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa

from golem import Golem, diagnose, metrics
from golem.comparison.registry import compile_method
from golem.data.unusable import UnusableColumnsError
from golem.simulate import simulate
from golem_experiments.network_files import read_bif
from parallel_tasks import Row, add_options, make_tasks, print_comparison, run_tasks, serve_tasks, timed

NETWORKS = ("asia", "child", "insurance", "alarm")
SURVEYS = tuple(f"survey-{levels}" for levels in (2, 3, 5, 7))
MEASURES = ("SHD-C", "F1", "linearity")
_ITEMS = 30
_RAREST = 0.03


def survey(levels: int, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a graph and answers from 1 to the number of levels."""
    drawn = simulate(_ITEMS, n, "ER1" if seed % 2 else "ER2", "gaussian-nv", weight_scale=0.6, random_state=seed)
    rng, answers = np.random.default_rng(seed), []
    for column in drawn.data.T:
        shares = np.maximum(rng.dirichlet(np.full(levels, 4.0)), _RAREST)
        answers.append(1 + np.searchsorted(np.quantile(column, np.cumsum(shares / shares.sum())[:-1]), column))
    return drawn.sem.adjacency, np.column_stack(answers)


def table_of(codes: np.ndarray, kept: list[int], method: str) -> pa.Table:
    """Return some columns as a table of numbers or of categories."""
    columns = {f"x{j:03d}": codes[:, j].astype(float) for j in kept}
    return pa.table(
        columns if method == "numbers" else {name: [f"l{x:g}" for x in own] for name, own in columns.items()}
    )


def learn(codes: np.ndarray, method: str) -> tuple[Golem, pa.Table, list[int]]:
    """Fit a table, without the columns that cannot be used."""
    kept = [j for j in range(codes.shape[1]) if len(np.unique(codes[:, j])) > 1]
    while True:
        table = table_of(codes, kept, method)
        try:
            return Golem().fit(table), table, kept
        except UnusableColumnsError as error:
            kept = [j for j in kept if f"x{j:03d}" not in {column.name for column in error.problems}]


def measure(task: Row, folder: str, value: str) -> tuple[float, float]:
    """Return what was asked for, and the processor time of the fit."""
    source, n, seed = task["cell"]["table"], task["cell"]["n"], task["seed"]
    if source in SURVEYS:
        truth, codes = survey(int(source.partition("-")[2]), n, seed)
    else:
        network = read_bif(Path(folder) / f"{source}.bif.gz")
        truth, codes = network.adjacency, network.sample(n, random_state=seed)
    (model, table, kept), seconds = timed(lambda: learn(codes, task["method"]))
    if value == "linearity":
        return float(diagnose(model, table, refit=False)["linearity"].level == "warning"), seconds
    graph = np.zeros_like(truth)
    graph[np.ix_(kept, kept)] = model.adjacency_
    if value == "F1":
        return float(2 * ((graph | graph.T) & truth).sum() / (graph.sum() + truth.sum())), seconds
    return metrics.shd_c(truth, graph), seconds


def prepare_method(method: str) -> None:
    """Import and compile what a method needs."""
    warnings.simplefilter("ignore")  # of rare levels
    compile_method("order" if method == "numbers" else "order-mixed")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sources", nargs="+", default=(*SURVEYS, *NETWORKS))
    parser.add_argument("--sizes", type=int, nargs="+", default=[300, 1000])
    parser.add_argument("--measure", choices=MEASURES, default="SHD-C")
    add_options(parser, tables=10)
    options = parser.parse_args()
    cells = [{"table": source, "n": n} for source in options.sources for n in options.sizes]
    tasks = make_tasks(cells, lambda cell: ("numbers", "categories"), options)
    rows = run_tasks(__file__, tasks, lambda task: 0.0, options, str(options.folder.resolve()), options.measure)
    print_comparison(rows, "numbers", options.measure, higher_is_better=options.measure == "F1")


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve_tasks(prepare_method, functools.partial(measure, folder=sys.argv[2], value=sys.argv[3]))
    main()
