"""Tables with very many columns: time, memory and accuracy of `Golem(statistics="sparse", evidence="full").fit`.

Claim (docs/large.md): on two cores 20,000 columns take a minute and 100,000 a quarter of an hour, on one GPU with 16
cores a million take ten minutes; adjacency precision is at least 0.98 and recall at least 0.94, and at least 95 % of
the claimed directions are right, with at least 60 % of the compelled arrows claimed.

    python benchmarks/wide.py --quick
    python benchmarks/wide.py --sizes 20000 100000
    python benchmarks/wide.py --sizes 1000000 --device cuda
    python benchmarks/wide.py --cancelling            # recall where the effects of two paths cancel
    python benchmarks/wide.py --plot benchmarks/wide.jsonl docs/images/wide.png  # of rows that were measured

Graphs are random with average degree 2 and weights from 0.5 to 1 of either sign, noise variances are 1, and there are
1000 rows. The names of the columns say nothing about the order.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from golem import Golem
from golem.graphs.edges import Edges
from golem.output import save

ROWS = 1000


class Drawn(NamedTuple):
    """Columns in rows, and the edges of the graph."""

    columns: np.ndarray
    causes: np.ndarray
    children: np.ndarray


def simulate(d: int, n: int, seed: int, cancelling: bool = False) -> Drawn:
    """Draw a sparse random graph and its rows, level by level."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(d, size=(2, d))
    keys = np.unique(np.min(ends, axis=0)[ends[0] != ends[1]] * d + np.max(ends, axis=0)[ends[0] != ends[1]])
    causes, children = keys // d, keys % d
    weights = rng.uniform(0.5, 1.0, len(keys)) * rng.choice([-1.0, 1.0], len(keys))
    if cancelling:  # x -> z -> y and x -> y with the opposite total effect, for disjoint triples
        triples = np.sort(rng.permutation(d)[: d // 10 * 3].reshape(-1, 3), axis=1)
        x, z, y = triples.T
        away = ~np.isin(children, triples.ravel())
        causes, children, weights = causes[away], children[away], weights[away]
        one, two = rng.uniform(0.6, 1.0, (2, len(x)))
        causes, children = np.concatenate([causes, x, z, x]), np.concatenate([children, z, y, y])
        weights = np.concatenate([weights, one, two, -one * two])
    level = np.zeros(d, dtype=np.int64)
    while True:
        deeper = level.copy()
        np.maximum.at(deeper, children, level[causes] + 1)
        if np.array_equal(deeper, level):
            break
        level = deeper
    X = np.empty((d, n), dtype=np.float32)
    step = 1 << 12
    streams = np.random.SeedSequence(seed).spawn(-(-d // step))

    def fill(k: int) -> None:
        noise = np.random.Generator(np.random.SFC64(streams[k]))
        noise.standard_normal(dtype=np.float32, out=X[k * step : (k + 1) * step])

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(fill, range(len(streams))))
    for depth in range(1, int(level.max(initial=0)) + 1):
        inside = level[children] == depth
        nodes, place = np.unique(children[inside], return_inverse=True)
        parents, column = np.unique(causes[inside], return_inverse=True)
        B = sparse.csr_array((weights[inside].astype(np.float32), (place, column)), shape=(len(nodes), len(parents)))
        for a in range(0, len(nodes), step):
            part = B[a : a + step]
            used = np.unique(part.indices)
            X[nodes[a : a + step]] += part[:, used] @ X[parents[used]]
    order = rng.permutation(d)
    mixed = np.empty_like(X)
    mixed[order] = X
    return Drawn(mixed, order[causes], order[children])


def accuracy(truth: Drawn, d: int, model: Any) -> dict[str, float]:
    """Compare a fitted model with the graph."""
    graph, true = model.graph_, truth.causes * d + truth.children
    undirected = np.minimum(truth.causes, truth.children) * d + np.maximum(truth.causes, truth.children)
    found = np.minimum(graph.causes, graph.children) * d + np.maximum(graph.causes, graph.children)
    right = np.isin(found, undirected).sum()
    grouped = Edges(truth.causes, truth.children, d).by_child()
    compelled = (grouped.causes * d + grouped.children)[~grouped.find_reversible()]
    claimed = graph.directed_by("structure")
    arrows = (graph.causes * d + graph.children)[claimed]
    return {
        "precision": right / max(len(found), 1),
        "recall": right / len(undirected),
        "claims": int(claimed.sum()),
        "claim_precision": float(np.isin(arrows, true).mean()) if len(arrows) else float("nan"),
        "compelled_recall": float(np.isin(compelled, arrows).mean()),
    }


class Stages:
    """Prints the stages of a fit, and keeps the processor time of each, and how much of it one thread took alone."""

    def __init__(self) -> None:
        self._began, self._stage, self._last = time.perf_counter(), "simulation", (0.0, 0.0)
        self.seconds: dict[str, list[float]] = {}

    def note(self, stage: str) -> None:
        """Begin a stage, and print what was used up to here."""
        now = time.process_time(), time.thread_time()
        total = self.seconds.setdefault(self._stage, [0.0, 0.0])
        for k in range(2):
            total[k] = round(total[k] + now[k] - self._last[k], 2)
        self._stage, self._last = stage, now
        wall = time.perf_counter() - self._began
        print(f"{wall:9.1f} s {now[0]:9.1f} cpu {now[1]:8.1f} alone {resident():7.2f} GiB  {stage}", flush=True)

    def count(self, done: int, total: int) -> None:
        """Note the steps of the check of directions."""
        if self._stage != (stage := f"check {done} of {total}"):
            self.note(stage)

    def __call__(self, progress: Any) -> None:
        """Note the stages of the search."""
        if progress.stage != self._stage:
            self.note(progress.stage)


def resident() -> float:
    """Return the memory of the process, in GiB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**30


def run(d: int, args: argparse.Namespace) -> dict[str, Any]:
    """Simulate, fit, check, write and compare one table."""
    stages = Stages()
    drawn = simulate(d, args.rows, args.seed, args.cancelling)
    stages.note("reading")
    device: dict[str, Any] = {} if args.device == "cpu" else {"device": args.device}
    model = Golem(statistics="sparse", evidence="auto", callback=stages, time_limit=args.time_limit, **device)
    begun, cpu = time.perf_counter(), time.process_time()
    model.fit(drawn.columns.T)
    fitted = time.perf_counter() - begun
    stages.note("check 0")
    row: dict[str, Any] = {
        "cores": len(os.sched_getaffinity(0)),
        "d": d,
        "n": args.rows,
        "device": args.device,
        "fit_seconds": fitted,
    }
    if not args.no_claims:
        model.check_directions(callback=stages.count)
        stages.note("writing")
    if args.output:
        save(model, args.output / str(d))
    row |= {"seconds": time.perf_counter() - begun, "cpu_seconds": time.process_time() - cpu}
    stages.note("end")
    row["stages"] = stages.seconds
    row["gibibytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    row |= {name: round(value, 4) for name, value in accuracy(drawn, d, model).items()}
    row["status"] = model.solution_.status.name
    return row


def plot(rows: Path, path: Path) -> None:
    """Draw processor seconds and memory of measured rows over the number of columns."""
    from matplotlib.figure import Figure

    found = [json.loads(line) for line in rows.read_text().splitlines()]
    figure = Figure(figsize=(8, 3.6), layout="constrained")
    time_axes, memory_axes = figure.subplots(1, 2)
    for device, cores, mark in (("cpu", 2, "o"), ("cuda", 16, "s")):
        some = [row for row in found if (row["device"], row["cores"]) == (device, cores)]
        d = [row["d"] for row in some]
        screening = [sum(total[0] for name, total in row["stages"].items() if "screening" in name) for row in some]
        rest = [row["cpu_seconds"] - seconds for row, seconds in zip(some, screening, strict=True)]
        name = f"GPU, {cores} cores" if device == "cuda" else f"{cores} cores"
        time_axes.plot(d, rest, f"{mark}-", label=f"{name}: all but screening")
        time_axes.plot(d, screening, f"{mark}:", label=f"{name}: screening", color=time_axes.lines[-1].get_color())
        memory_axes.plot(d, [row["gibibytes"] for row in some], f"{mark}-")
    for axes, label in ((time_axes, "processor seconds"), (memory_axes, "memory (GiB)")):
        axes.set(xscale="log", yscale="log", xlabel="columns", ylabel=label)
    figure.legend(
        *time_axes.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False, fontsize=8
    )
    figure.savefig(path, dpi=150)


def main() -> None:
    """Run the sizes that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[5000, 20000])
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--time-limit", type=float, default=None, help="Of the search, in seconds.")
    parser.add_argument("--cancelling", action="store_true")
    parser.add_argument("--no-claims", action="store_true")
    parser.add_argument("--quick", action="store_true", help="2000 columns, under a minute.")
    parser.add_argument("-o", "--output", type=Path, default=None, help="Folder for edges and rows.")
    parser.add_argument("--plot", type=Path, nargs=2, metavar=("ROWS", "PICTURE"), help="Draw rows that were measured.")
    args = parser.parse_args()
    if args.plot:
        plot(*args.plot)
        return
    print(f"{platform.platform()}, {os.cpu_count()} cores, Python {sys.version.split()[0]}, numpy {np.__version__}")
    for d in [2000] if args.quick else args.sizes:
        row = run(d, args)
        print(json.dumps(row), flush=True)
        if args.output:
            args.output.mkdir(parents=True, exist_ok=True)
            with (args.output / "wide.jsonl").open("a") as file:
                file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
