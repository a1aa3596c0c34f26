"""Claim: on discrete networks golem is as accurate as the best of pgmpy and causal-learn, and ten times faster.

Draws n = 1000 and 10000 rows from asia, child, insurance, alarm and hailfinder (the BIF files are in the wheel pgmpy
1.1.2 under pgmpy/utils/example_models) and prints for every score of golem, and for every other package, the mean SHD-C
with its standard error, and the processor time per table. pgmpy: hill climbing with BDeu and BIC, GES with BIC.
causal-learn: GES with BDeu. Each table of another package has a time limit. Seeds start at 1000.

    python -m venv .other-packages/pgmpy && .other-packages/pgmpy/bin/pip install pgmpy==1.1.2
    python -m venv .other-packages/causal-learn && .other-packages/causal-learn/bin/pip install causal-learn==0.1.4.8
    python benchmarks/categories.py FOLDER_OF_EXAMPLE_MODELS
    python benchmarks/categories.py FOLDER --pgmpy .other-packages/pgmpy/bin/python \
        --causal-learn .other-packages/causal-learn/bin/python
    python benchmarks/categories.py FOLDER --quick         # asia and child, 2 seeds, without other packages
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import golem
from golem import Golem, metrics
from golem.data.checks import DataWarning
from golem.experiments.discrete_networks import DiscreteNetwork, read_bif

NETWORKS = ("asia", "child", "insurance", "alarm", "hailfinder")
SCORES = ("auto", "bdeu", "discrete-bic", "mixed")
PEERS = {
    "pgmpy hill climbing, BDeu": ("pgmpy", "hill-climbing bdeu"),
    "pgmpy hill climbing, BIC": ("pgmpy", "hill-climbing bic-d"),
    "pgmpy GES, BIC": ("pgmpy", "ges bic-d"),
    "causal-learn GES, BDeu": ("causal_learn", "causal-learn"),
}

# Runs in the other environment: the edges of one table, both directions for a line, and the processor time.
SCRIPT = """
import json, logging, sys, time, warnings
import numpy as np
warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
codes, method = np.load(sys.argv[1]), sys.argv[2].split()
d = codes.shape[1]
if method[0] == "causal-learn":
    from causallearn.search.ScoreBased.GES import ges
    began = time.process_time()
    G = ges(codes, score_func="local_score_BDeu")["G"].graph
    seconds = time.process_time() - began
    lines, arrows = (G == -1) & (G.T == -1), (G == -1) & (G.T == 1)
    edges, is_class = np.argwhere(lines | arrows).tolist(), True
else:
    import pandas as pd
    from pgmpy.estimators import GES, HillClimbSearch
    table = pd.DataFrame(codes, columns=[str(i) for i in range(d)]).astype("category")
    began = time.process_time()
    if method[0] == "ges":
        found = GES(table).estimate(scoring_method=method[1])
        pairs, is_class = [*found.directed_edges, *found.undirected_edges], True
        pairs += [(b, a) for a, b in found.undirected_edges]
    else:
        found = HillClimbSearch(table).estimate(scoring_method=method[1], show_progress=False)
        pairs, is_class = list(found.edges()), False
    seconds = time.process_time() - began
    edges = [[int(a), int(b)] for a, b in pairs]
print(json.dumps({"edges": edges, "is_class": is_class, "seconds": seconds}))
"""


def peer(python: str, method: str, codes: np.ndarray, limit: float) -> tuple[np.ndarray, bool, float] | None:
    """Return the graph that another package finds, whether it is a class, and the processor time; None if too slow."""
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "codes.npy", codes)
        command = [python, "-c", SCRIPT, str(Path(folder) / "codes.npy"), method]
        try:
            ended = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=True)
        except subprocess.TimeoutExpired:
            return None
    answer = json.loads(ended.stdout.splitlines()[-1])
    graph = np.zeros((codes.shape[1],) * 2, dtype=bool)
    for cause, child in answer["edges"]:
        graph[cause, child] = True
    return graph, answer["is_class"], answer["seconds"]


def table_of(network: DiscreteNetwork, codes: np.ndarray) -> pd.DataFrame:
    """Return a table of texts; levels have letters before them, so that none looks like a number."""
    columns = {name: [f"level {code}" for code in codes[:, j]] for j, name in enumerate(network.names)}
    return pd.DataFrame(columns)


def constant_columns(codes: np.ndarray) -> list[int]:
    """Return the columns with one level, which have no edges."""
    return [j for j in range(codes.shape[1]) if len(np.unique(codes[:, j])) == 1]


def ours(score: str, network: DiscreteNetwork, codes: np.ndarray) -> tuple[np.ndarray, bool, float]:
    """Return golem's graph and the processor time of the fit."""
    kept = np.delete(np.arange(codes.shape[1]), constant_columns(codes))
    table = table_of(network, codes).iloc[:, kept]
    began = time.process_time()
    model = Golem(score_function=score).fit(table)
    seconds = time.process_time() - began
    graph = np.zeros((codes.shape[1],) * 2, dtype=bool)
    graph[np.ix_(kept, kept)] = model.adjacency_
    return graph, False, seconds


def cell(name: str, network: DiscreteNetwork, n: int, options: argparse.Namespace) -> None:
    """Print the rows of one network and one number of rows."""
    drawn = [network.sample(n, random_state=1000 + seed) for seed in range(options.seeds)]
    for method in (*SCORES, *PEERS):
        found = []
        for codes in drawn:
            if method in SCORES:
                found.append(ours(method, network, codes))
                continue
            package, arguments = PEERS[method]
            python = getattr(options, package)
            answer = None if python is None else peer(python, arguments, codes, options.limit)
            if answer is None:
                break
            found.append(answer)
        if found:
            distances = [metrics.shd_c(network.adjacency, graph, cpdag=is_class) for graph, is_class, _ in found]
            error = statistics.stdev(distances) / len(distances) ** 0.5 if len(distances) > 1 else float("nan")
            seconds = statistics.median(seconds for *_, seconds in found)
            label = f"golem {method}" if method in SCORES else method
            print(
                f"| {name} | {n} | {label} | {statistics.mean(distances):.1f} +- {error:.1f} | {seconds:.2f} "
                f"| {len(found)} |",
                flush=True,
            )
        elif method in PEERS and getattr(options, PEERS[method][0]) is not None:
            print(f"| {name} | {n} | {method} | over {options.limit:.0f} s |  | 0 |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pgmpy", metavar="PYTHON")
    parser.add_argument("--causal-learn", metavar="PYTHON")
    parser.add_argument("--networks", nargs="+", default=NETWORKS)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10000])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=600.0, help="seconds per table of another package")
    parser.add_argument("--quick", action="store_true", help="asia and child, 2 seeds, n = 1000")
    options = parser.parse_args()
    if options.quick:
        options.networks, options.sizes, options.seeds = ["asia", "child"], [1000], 2
    warnings.simplefilter("ignore", DataWarning)  # small tables have rare levels
    versions = f"golem {golem.__version__}, numpy {np.__version__}, Python {platform.python_version()}"
    print(f"{versions}, {os.cpu_count()} cores, {platform.machine()}\n")
    print("| network | n | method | SHD-C | processor s | tables |")
    print("|---|---|---|---|---|---|")
    warm = read_bif(options.folder / "child.bif.gz")
    ours("bdeu", warm, warm.sample(200))  # compiles the search
    for name in options.networks:
        network = read_bif(options.folder / f"{name}.bif.gz")
        for n in options.sizes:
            cell(name, network, n, options)


if __name__ == "__main__":
    main()
