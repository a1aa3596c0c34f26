"""Claim: what a user calls is about as fast as the solver inside it (benchmarks/speed.md).

All times are wall-clock seconds of the whole call, and each table comes with the share of the search. Parts:

- fit: `Golem(noise).fit(X)` on ER2 graphs, n = 1000 or `--rows`, noise deviations U[1, 2]; raw columns, standardized
  columns, and with half of the columns hidden; with `--old PYTHON` alternating with that commit in one run. Processor
  times can be compared if others use the machine, too.
- growth: the default, "nv" and "ev" against d, with the exponent, and flopsearch if `--flopsearch PYTHON` is given
- limits: `Golem("nv")` on dense graphs (d = 1000, n = 10000, average degree 20), wide tables (d = 5000, n = 300, ER1)
  and many columns (d = 20000, n = 3000, ER1), with the precision and recall of adjacencies, and the memory used
- gpu: `Golem("ev", device="cuda").fit(X)` with the data in device memory, up to d = 50000
- devices: `Golem("ev")` on both devices, and which one device="auto" takes
- command: `golem fit FILE`, with all result files and the report
- first: the first default fit in a fresh environment, whose kernels are not compiled yet

    python -m venv .other-packages/flopsearch && .other-packages/flopsearch/bin/pip install flopsearch==0.3.0 numpy
    python benchmarks/fit_speed.py fit growth command first --flopsearch .other-packages/flopsearch/bin/python
    python benchmarks/fit_speed.py gpu devices --device cuda
    python benchmarks/fit_speed.py growth --plot docs/images/fit-speed.png
    python benchmarks/fit_speed.py fit --quick
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import golem
from golem import metrics

# Runs in the environment of another version, too. Prints one line of JSON per fit.
FIT = """
import json, sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")
from golem import Golem
noise, repeats, out, *paths = sys.argv[1:]
Golem(noise).fit(np.random.default_rng(0).normal(size=(100, 20)))  # compile
for k, path in enumerate(paths):
    X = np.load(path)
    for _ in range(int(repeats)):
        began, spent = time.perf_counter(), time.process_time()
        model = Golem(noise).fit(X)
        seconds = time.perf_counter() - began, time.process_time() - spent
        print(json.dumps([k, *seconds, model.solution_.seconds, float(model.solution_.terms["score"])]), flush=True)
    np.save(f"{out}.{k}.npy", model.adjacency_)
"""
FLOPSEARCH = """
import json, sys, time
import numpy as np, flopsearch
for k, path in enumerate(sys.argv[1:]):
    X = np.load(path)
    began = time.perf_counter()
    flopsearch.flop(X, 2.0, restarts=10)
    print(json.dumps([k, time.perf_counter() - began]), flush=True)
"""


def draw(d: int, n: int, seed: int, kind: str = "raw", degree: float = 4.0) -> tuple[np.ndarray, np.ndarray]:
    """Draw an ER graph, shape (d, d), and a table, shape (n, d); the noise deviations are U[1, 2]."""
    rng = np.random.default_rng(seed)
    total = 2 * d if kind == "hidden" else d
    ends = np.argwhere(np.triu(rng.random((total, total)) < degree / (total - 1), k=1))
    weights = np.zeros((total, total))
    weights[tuple(ends.T)] = rng.uniform(0.5, 2.0, len(ends)) * rng.choice([-1.0, 1.0], len(ends))
    X = rng.normal(size=(n, total)) * rng.uniform(1, 2, total)
    for j in range(total):  # columns are in causal order
        parents = np.nonzero(weights[:, j])[0]
        X[:, j] += X[:, parents] @ weights[parents, j]
    kept = rng.permutation(total)[:d]
    X = X[:, kept]
    return weights[np.ix_(kept, kept)] != 0, X / X.std(axis=0) if kind == "standardized" else X


def run(
    python: str, program: str, arguments: list[str], cache: str | None = None, source: str | None = None
) -> list[list[float]]:
    """Run a program in an environment, with golem from the folder `source` if given; return the lines it prints."""
    environment = os.environ | ({"NUMBA_CACHE_DIR": cache} if cache else {})
    if python != sys.executable:
        environment.pop("PYTHONPATH", None)  # would replace the golem of that environment
    if source:
        environment["PYTHONPATH"] = source
    ended = subprocess.run([python, "-c", program, *arguments], env=environment, capture_output=True, text=True)
    if ended.returncode:
        sys.exit(ended.stderr[-2000:])
    return [json.loads(line) for line in ended.stdout.splitlines()]


def fit(options: argparse.Namespace) -> None:
    """Compare both versions on the same tables, alternating."""
    versions = {"new": sys.executable} | ({"old": options.old} if options.old else {})
    print(
        "| columns | noise | d | "
        + " | ".join(f"{v}, s | {v} processor, s | {v} search, s | {v} SHD-C" for v in versions),
        end=" | ",
    )
    print(
        "old / new, s | processor | SHD-C, new - old (SE) | score, new - old (SE) |\n|"
        + "---|" * (7 + 4 * len(versions))
    )
    sizes = options.sizes or ((20, 100) if options.quick else (20, 100, 500, 1000))
    for kind in options.columns:
        for noise in options.noise:
            for d in sizes:
                found = {name: ([], [], [], [], []) for name in versions}
                for seed in range(options.seed, options.seed + options.tables):
                    truth, X = draw(d, options.rows, seed, kind)
                    with tempfile.TemporaryDirectory() as folder:
                        np.save(f"{folder}/X.npy", X)
                        for name, python in versions.items():
                            arguments = [noise, "1" if d > 100 else "3", f"{folder}/out", f"{folder}/X.npy"]
                            lines = run(python, FIT, arguments)
                            _, *best, score = min(lines, key=lambda line: line[1])
                            graph = np.load(f"{folder}/out.0.npy")
                            error = metrics.shd_c(truth, graph) if kind != "hidden" else np.nan
                            for values, value in zip(found[name], (*best, error, score), strict=True):
                                values.append(value)
                means = {name: np.mean(values, axis=1) for name, values in found.items()}
                cells = " | ".join(f"{m[0]:.3f} | {m[1]:.3f} | {m[2]:.3f} | {m[3]:.2f}" for m in means.values())
                print(f"| {kind} | {noise} | {d} | {cells} | {compared(found)} |", flush=True)


def compared(found: dict[str, tuple[list[float], ...]]) -> str:
    """Return the cells of a comparison with the old version: ratios of the times, differences of SHD-C and score."""
    if "old" not in found:
        return " | | | "
    new, old = np.array(found["new"]), np.array(found["old"])
    error, score = new[3] - old[3], new[4] - old[4]
    deviations = [values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan for values in (error, score)]
    return (
        f"{old[0].mean() / new[0].mean():.1f} | {old[1].mean() / new[1].mean():.1f} | "
        f"{error.mean():+.2f} ({deviations[0]:.2f}) | {score.mean():+.4f} ({deviations[1]:.4f})"
    )


def growth(options: argparse.Namespace) -> None:
    """Time against d, and in brackets that of the search, with the exponent between the first and the last size."""
    sizes = options.sizes or ((50, 100) if options.quick else (100, 250, 500, 1000, 2000, 4000))
    series: dict[str, dict[int, float]] = {}
    searches: dict[str, dict[int, float]] = {}
    for d in sizes:
        _, X = draw(d, 1000, options.seed)
        with tempfile.TemporaryDirectory() as folder:
            np.save(f"{folder}/X.npy", X)
            for noise in ("auto", "nv", "ev"):
                lines = run(sys.executable, FIT, [noise, "1", f"{folder}/out", f"{folder}/X.npy"])
                name = f"{noise}, {os.cpu_count()} cores"
                _, series.setdefault(name, {})[d], _, searches.setdefault(name, {})[d], _ = lines[0]
            if options.flopsearch and d <= 1000:
                line = run(options.flopsearch, FLOPSEARCH, [f"{folder}/X.npy"])[0]
                series.setdefault("flopsearch, 10 restarts", {})[d] = line[1]
        listed = {name: f"{values[d]:.3f} ({searches[name][d]:.3f})" if name in searches else f"{values[d]:.3f}"
                  for name, values in series.items() if d in values}  # fmt: skip
        print(d, listed, flush=True)
    for name, values in series.items():
        first, last = min(values), max(values)
        exponent = np.log(values[last] / values[first]) / np.log(last / first)
        print(f"{name}: exponent {exponent:.2f} from d = {first} to {last}")
    if options.on_gpu:
        series["ev, H200 (n = 5000 to 60 000)"] = dict(options.on_gpu)
    if options.plot:
        plot(series, options.plot)


def limits(options: argparse.Namespace) -> None:
    """Fit tables with dense graphs, few rows and many columns; count adjacencies."""
    import resource

    print("| d | n | average degree | s | processor, s | search, s | precision | recall | GiB |\n" + "|---" * 9 + "|")
    cells = ((1000, 10_000, 20.0), (5000, 300, 2.0), (20_000, 3000, 2.0))
    for d, n, degree in ((500, 60, 2.0), (100, 1000, 20.0)) if options.quick else cells:
        if options.sizes and d not in options.sizes:
            continue
        truth, X = draw(d, n, options.seed, degree=degree)
        with tempfile.TemporaryDirectory() as folder:
            np.save(f"{folder}/X.npy", X)
            times = run(sys.executable, FIT, ["nv", "1", f"{folder}/out", f"{folder}/X.npy"])[0][1:4]
            found = np.load(f"{folder}/out.0.npy")
        found, truth = found | found.T, truth | truth.T
        both = (found & truth).sum()
        precision, recall = both / found.sum(), both / truth.sum()
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20  # the largest process so far
        cells = " | ".join(f"{one:.1f}" for one in times)
        print(f"| {d} | {n} | {degree:.0f} | {cells} | {precision:.3f} | {recall:.3f} | {memory:.1f} |", flush=True)


def gpu(options: argparse.Namespace) -> None:
    """Fit with equal variances on the device."""
    from gpu_speed import draw as draw_on_device

    golem.Golem("ev", device=options.device).fit(draw_on_device(300, 1000, 0, options.device)[1])
    print("| d | n | total, s | search, s | wrong pairs per node |\n|---|---|---|---|---|")
    cells = ((3200, 5000), (10_000, 50_000), (20_000, 50_000), (30_000, 60_000), (50_000, 60_000))
    for d, n in cells[:1] if options.quick else cells:
        if options.sizes and d not in options.sizes:
            continue
        truth, X = draw_on_device(d, n, options.seed, options.device)
        for _ in range(1 if d > 20_000 else 2):
            empty_cache(options.device)
            began = time.perf_counter()
            if d > 40_000:  # rows and all matrices of the search do not fit into the memory of the device together
                X = golem.Moments.from_rows(X)
                empty_cache(options.device)
            model = golem.Golem("ev", device=options.device).fit(X)
            seconds = time.perf_counter() - began
        found = set(zip(model.graph_.causes.tolist(), model.graph_.children.tolist(), strict=True))
        wrong = len({tuple(sorted(edge)) for edge in found ^ truth}) / d
        print(f"| {d} | {n} | {seconds:.2f} | {model.solution_.seconds:.2f} | {wrong:.4f} |", flush=True)
        del X


def empty_cache(device: str) -> None:
    """Return the unused memory of torch to the device, so that golem sees what is free."""
    import torch

    if device.startswith("cuda"):
        torch.cuda.empty_cache()


def devices(options: argparse.Namespace) -> None:
    """Time both devices with equal variances, data in host memory, and print which one device="auto" takes."""
    golem.Golem("ev", device=options.device).fit(draw(300, 1000, 0)[1])
    print('| d | n | cpu, s | search, s | device, s | search, s | "auto" takes |\n|---|---|---|---|---|---|---|')
    for d in options.sizes or ((100, 300) if options.quick else (100, 200, 400, 800, 1600, 3200)):
        X = draw(d, 5000, options.seed)[1]
        times = dict.fromkeys(("cpu", options.device), (np.inf, np.inf))
        for device in [*times] * 2:
            began = time.perf_counter()
            fitted = golem.Golem("ev", device=device).fit(X)
            times[device] = min(times[device], (time.perf_counter() - began, fitted.solution_.seconds))
        model = golem.Golem("ev", device="auto")
        taken = model.settings.placement(d).device
        cells = " | ".join(f"{one:.3f}" for device in times for one in times[device])
        print(f"| {d} | 5000 | {cells} | {taken} |", flush=True)


def command(options: argparse.Namespace) -> None:
    """Time the command line on files."""
    print("| d | n | `golem fit`, s | search, s |\n|---|---|---|---|")
    for d in options.sizes or ((10,) if options.quick else (10, 100, 1000, 5000)):
        with tempfile.TemporaryDirectory() as folder:
            _, X = draw(d, 1000, options.seed, degree=2.0 if d > 1000 else 4.0)
            np.savetxt(f"{folder}/data.csv", X, delimiter=",", header=",".join(f"x{j}" for j in range(d)), comments="")
            noise = ["--noise", "ev"] if d > 1000 else []
            arguments = [sys.executable, "-m", "golem", "fit", f"{folder}/data.csv", "-o", f"{folder}/out", *noise]
            times = []
            for _ in range(1 if d > 100 else 3):
                began = time.perf_counter()
                subprocess.run(arguments, check=True, capture_output=True)
                seconds = time.perf_counter() - began
                times.append((seconds, json.loads(Path(f"{folder}/out/graph.json").read_text())["seconds"]))
            print(f"| {d} | 1000 | {min(times)[0]:.2f} | {min(times)[1]:.2f} |", flush=True)


def first(options: argparse.Namespace) -> None:
    """Time the first default fit without compiled kernels."""
    program = FIT.replace("Golem(noise).fit(np.random.default_rng(0).normal(size=(100, 20)))  # compile\n", "")
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/X.npy", draw(30, 1000, options.seed)[1])
        for name, python in {"new": sys.executable, "old": options.old}.items():
            if python:
                arguments = ["auto", "1", f"{folder}/out", f"{folder}/X.npy"]
                lines = run(python, program, arguments, cache=f"{folder}/{name}")
                print(f"first default fit, d = 30, {name}: {lines[0][1]:.1f} s", flush=True)


def plot(series: dict[str, dict[int, float]], path: Path) -> None:
    """Draw time against d on logarithmic axes."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for name, values in series.items():
        axes.loglog(list(values), list(values.values()), marker="o", label=name)
    axes.set(xlabel="variables d (ER2, n = 1000 unless stated)", ylabel="seconds of a whole fit")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=150)


PARTS = {
    "fit": fit,
    "growth": growth,
    "limits": limits,
    "gpu": gpu,
    "devices": devices,
    "command": command,
    "first": first,
}


def _pairs(text: str) -> list[tuple[int, float]]:
    """Read sizes and seconds."""
    return [(int(d), float(seconds)) for d, seconds in (pair.split(":") for pair in text.split(","))]


def main() -> None:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", choices=list(PARTS))
    parser.add_argument("--old", help="Python of an environment with an earlier commit.")
    parser.add_argument("--flopsearch", help="Python of an environment with flopsearch 0.3.0.")
    parser.add_argument("--device", default="cuda", help="Device of the part gpu.")
    parser.add_argument("--sizes", type=lambda text: tuple(map(int, text.split(","))), help="Sizes d, e.g. 100,500.")
    parser.add_argument(
        "--columns", nargs="+", default=["raw", "standardized", "hidden"], help="Tables of the part fit."
    )
    parser.add_argument("--noise", nargs="+", default=["auto", "nv"], help="Noise of the part fit.")
    parser.add_argument("--rows", type=int, default=1000, help="Rows of the part fit.")
    parser.add_argument("--tables", type=int, default=5, help="Tables per setting of the part fit.")
    parser.add_argument("--seed", type=int, default=1000, help="First seed; those below 1000 were used for tuning.")
    parser.add_argument("--plot", type=Path, help="Picture of the part growth.")
    parser.add_argument(
        "--on-gpu", type=_pairs, help="Times of the part gpu for the picture, e.g. 3200:0.49,10000:1.91 (d:seconds)."
    )
    parser.add_argument("--quick", action="store_true", help="Small sizes, under a minute.")
    options = parser.parse_args()
    if options.quick:
        options.tables = min(options.tables, 2)
    print(f"golem {golem.__version__}, NumPy {np.__version__}, Python {platform.python_version()}, "
          f"{os.cpu_count()} cores\n")  # fmt: skip
    for part in options.parts:
        PARTS[part](options)
        print()


if __name__ == "__main__":
    main()
