"""Claims about the speed of FGS and PC, each compared with causal-learn in one run.

- "fgs": ER2, d = 50, n = 1000: at least 20 times faster than causal-learn's GES (same score), mean BIC no worse.
- "pc": ER1, d = 100, n = 1000: under 5 s.
- "scale": d = 1000 is practical: seconds.

    python -m venv .other-packages/causal-learn && .other-packages/causal-learn/bin/pip install causal-learn==0.1.4.8
    python benchmarks/fgs_pc.py fgs pc scale --causal-learn .other-packages/causal-learn/bin/python
    python benchmarks/fgs_pc.py fgs pc scale --causal-learn .other-packages/causal-learn/bin/python --quick

Times are processor times on one thread, so that other work on the machine matters little. --limit bounds the time of
causal-learn on one problem. If it does not finish, that time is a lower bound, and the problem is left out of the
comparison of the BIC.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

import golem
from golem import DataWarning, Moments, metrics
from golem.baselines.fgs import FGS
from golem.baselines.pc import PC
from golem.graphs.dag import member_of_class
from golem.score.objective import graph_bic
from golem.simulate import Simulation, simulate

# Prints seconds and the graph, only [i, j] for i -> j; causal-learn marks an arrowhead at j by graph[j, i] = 1.
PEER = """
import json, sys, time
import numpy as np
X = np.load(sys.argv[1])
if sys.argv[2] == "ges":
    from causallearn.search.ScoreBased.GES import ges
    began = time.process_time()
    G = ges(X, "local_score_BIC")["G"].graph
else:
    from causallearn.search.ConstraintBased.PC import pc
    began = time.process_time()
    G = pc(X, 0.01, "fisherz", uc_rule=int(sys.argv[2]), show_progress=False).G.graph
seconds = time.process_time() - began
G = np.asarray(G)
print(json.dumps({"seconds": seconds, "graph": ((G != 0) & ~((G == 1) & (G.T == -1))).tolist()}))
"""


def run_peer(python: str, method: str, data: np.ndarray, limit: float) -> dict:
    """Run causal-learn on one table; without a graph if it does not finish."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.npy"
        np.save(path, data)
        # One thread, as golem uses at these sizes: small matrices take longer with more.
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        command = [python, "-c", PEER, str(path), method]
        began = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=limit)
        except subprocess.TimeoutExpired:
            ended = resource.getrusage(resource.RUSAGE_CHILDREN)
            return {"seconds": ended.ru_utime - began.ru_utime, "graph": None}
        return json.loads(done.stdout.splitlines()[-1])


def timed(model: FGS | PC, data: np.ndarray | Moments, repeats: int = 3) -> tuple[float, FGS | PC]:
    """Return the shortest time of several fits, including reading the rows, and the model."""
    best = np.inf
    for _ in range(repeats):
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            model.fit(data)
        best = min(best, time.process_time() - began)
    return best, model


def class_bic(graph: np.ndarray, moments: Moments) -> float:
    """BIC of the class of a CPDAG."""
    S = moments.covariance
    return graph_bic(member_of_class(graph), S, moments.n)


def against_ges(python: str, quick: bool, limit: float) -> None:
    """Print one row per seed, then medians and the mean BIC."""
    d = 20 if quick else 50
    print(f"\nER2, d = {d}, n = 1000: FGS and causal-learn's GES\n")
    print("| seed | GES, s | FGS, s | ratio | BIC of GES - BIC of FGS | same class |")
    print("|---|---|---|---|---|---|")
    ratios, differences = [], []
    for seed in range(2 if quick else 5):
        one = simulate(d, 1000, "ER2", random_state=seed)
        moments = Moments.from_rows(one.data)
        seconds, model = timed(FGS(), one.data)
        peer = run_peer(python, "ges", one.data, limit)
        ratios.append(peer["seconds"] / seconds)
        if peer["graph"] is None:
            shown = f"more than {peer['seconds']:.0f} | {seconds:.3f} | more than {ratios[-1]:.0f}"
            print(f"| {seed} | {shown} | | |", flush=True)
            continue
        theirs = np.array(peer["graph"])
        differences.append(class_bic(theirs, moments) - model.bic_)
        same = "yes" if np.array_equal(theirs, model.cpdag_) else "no"
        print(
            f"| {seed} | {peer['seconds']:.2f} | {seconds:.3f} | {ratios[-1]:.0f} | {differences[-1]:.2f} | {same} |",
            flush=True,
        )
    print(f"\nmedian ratio {np.median(ratios):.0f}, least {min(ratios):.0f}; mean BIC of GES - that of FGS, where GES")
    print(f"finished ({len(differences)} problems): {np.mean(differences):.3f}")


def against_pc(python: str | None, quick: bool, limit: float) -> None:
    """Medians over seeds."""
    d = 30 if quick else 100
    drawn = [simulate(d, 1000, "ER1", random_state=seed) for seed in range(2 if quick else 6)]
    print(f"\nER1, d = {d}, n = 1000, alpha = 0.01, medians (SHD-C: means) of {len(drawn)} seeds\n")
    print("| colliders | PC, s | slowest, s | SHD-C | causal-learn's, s | SHD-C | ratio |")
    print("|---|---|---|---|---|---|---|")
    for name, conservative, rule in (("conservative", True, "2"), ("ordinary", False, "0")):
        fits = [timed(PC(conservative=conservative), one.data) for one in drawn]
        seconds = [s for s, _ in fits]
        ours = mean_distance(drawn, [model.cpdag_ for _, model in fits])
        row = f"| {name} | {np.median(seconds):.2f} | {max(seconds):.2f} | {ours:.1f} |"
        if python is not None:
            peers = [run_peer(python, rule, one.data, limit) for one in drawn]
            theirs = mean_distance(drawn, [np.array(peer["graph"]) for peer in peers])
            needed = np.median([peer["seconds"] for peer in peers])
            row += f" {needed:.2f} | {theirs:.1f} | {needed / np.median(seconds):.0f} |"
        print(row, flush=True)


def mean_distance(drawn: list[Simulation], found: list[np.ndarray]) -> float:
    """Mean SHD-C."""
    return float(
        np.mean([metrics.shd_c(one.sem.adjacency, G, cpdag=True) for one, G in zip(drawn, found, strict=True)])
    )


def scale(quick: bool) -> None:
    """Seconds and SHD-C for many columns, and for a dense graph, from the moments."""
    problems = [("ER1", 300, 1000), ("ER2", 300, 1000)]
    if not quick:
        problems = [(graph, 1000, n) for graph in ("ER1", "ER2") for n in (1000, 5000)]
    problems.append(("ER4", 100, 1000))
    methods: dict[str, Callable[[], FGS | PC]] = {
        "FGS()": FGS,
        "FGS(2)": lambda: FGS(2.0),
        "FGS(structure_prior=1)": lambda: FGS(structure_prior=1),
        "PC()": PC,
    }
    print("\nseconds from the moments, edges and SHD-C, one seed\n")
    print("| graph | d | n | edges | " + " | ".join(f"{name}, s | edges | SHD-C" for name in methods) + " |")
    print("|---" * (4 + 3 * len(methods)) + "|")
    for graph, d, n in problems:
        one = simulate(d, n, graph, random_state=0)
        moments = Moments.from_rows(one.data)
        row = f"| {graph} | {d} | {n} | {int(one.sem.adjacency.sum())} |"
        for make in methods.values():
            seconds, model = timed(make(), moments, repeats=1)
            G = model.cpdag_
            edges = int(np.triu(G | G.T).sum())
            row += f" {seconds:.1f} | {edges} | {metrics.shd_c(one.sem.adjacency, G, cpdag=True):.0f} |"
        print(row, flush=True)


def main() -> None:
    """Run the parts named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", choices=["fgs", "pc", "scale"])
    parser.add_argument("--quick", action="store_true", help="smaller problems, under a minute")
    parser.add_argument("--causal-learn", metavar="PYTHON", help="interpreter of an environment that has it")
    parser.add_argument("--limit", type=float, default=900.0, help="seconds for causal-learn on one problem")
    options = parser.parse_args()
    if "fgs" in options.parts and options.causal_learn is None:
        parser.error("the part fgs is a comparison: give --causal-learn PYTHON")
    print(f"golem {golem.__version__}, numpy {np.__version__}, Python {platform.python_version()}, ", end="")
    print(f"{os.cpu_count()} cores, {platform.machine()}; {peer_version(options.causal_learn)}")
    if "fgs" in options.parts:
        against_ges(options.causal_learn, options.quick, options.limit)
    if "pc" in options.parts:
        against_pc(options.causal_learn, options.quick, options.limit)
    if "scale" in options.parts:
        scale(options.quick)


def peer_version(python: str | None) -> str:
    """Return the version of causal-learn."""
    if python is None:
        return "without causal-learn"
    code = (
        'from importlib.metadata import version as v; print(f\'causal-learn {v("causal-learn")}, numpy {v("numpy")}\')'
    )
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main()
