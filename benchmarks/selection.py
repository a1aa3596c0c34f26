"""Claim: penalties and thresholds chosen without a truth are nearly as good as the best fixed ones in hindsight.

For every cell (graph, d, n, noise, solver) the errors of each fixed choice are averaged over the seeds. The lowest of
these means is the best fixed choice in hindsight. A rule passes if its own mean is at most max(10%, 0.05 per node)
above it. Fixed choices: solver="order", the default grid of penalties; solver="lbfgs", the default grid of l1
penalties times the thresholds 0.05 ... 0.5. Rules: the criteria "mbic" and "ebic", cross-validation, stability; for
comparison, the default of `Golem`. Errors are SHD on equal-variance data and SHD-C on the others (`--metric shd` for
SHD).

    python benchmarks/selection.py run order --d 20 50 --n 100 300 1000 --seeds 12 -o order.csv
    python benchmarks/selection.py run lbfgs --d 20 --n 100 300 1000 --seeds 4 -o lbfgs.csv
    python benchmarks/selection.py table order.csv lbfgs.csv
    python benchmarks/selection.py run order --quick -o quick.csv      # d = 20, n = 300, 2 seeds: under a minute
"""

from __future__ import annotations

import argparse
import csv
import os
import platform
import time
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
import scipy

import golem
from golem import Golem, GolemCV, Moments, metrics
from golem.assessment.selection.path_scores import default_penalties, fit_path, grid, information_criterion
from golem.score.sparsity import L0
from golem.simulate import simulate
from golem.solvers import LBFGS

THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
CELL = ("solver", "graph", "d", "n", "noise")
FIELDS = (*CELL, "seed", "kind", "choice", "shd", "shd_c", "seconds")
RULES = ("mbic", "ebic", "cv", "stability")


def choices(solver, noise, data, pairs, rules):
    """Yield kind, choice, weights and seconds of every fixed choice and every rule."""
    counted = solver == "order"
    # A threshold on the weights does not need more digits than this.
    base = Golem(noise) if counted else Golem(noise, LBFGS(tolerance=1e-3), lambda_dag=5.0)
    moments = Moments.from_rows(data)
    n, d = moments.n, moments.d
    penalties = default_penalties(counted, n, d)
    if counted:
        settings = grid(penalties, (None,), (None,))
        models = fixed = list(fit_path(base, moments, settings, n))
        names = [f"penalty x {2 * n * s.lambda_sparsity / (np.log(n) + 2 * np.log(d)):.3f}" for s in settings]
    else:
        settings = grid(penalties, (None,), ("lr", *THRESHOLDS))
        every = fit_path(base, moments, settings, n)
        labelled = list(zip(settings, every, strict=True))
        models = [model for setting, model in labelled if setting.threshold == "lr"]
        fixed = [model for setting, model in labelled if setting.threshold != "lr"]
        names = [f"{s.lambda_sparsity} {s.threshold}" for s, _ in labelled if s.threshold != "lr"]
        for setting, model in labelled:
            if setting.threshold == "lr":
                yield "penalty, lr", f"{setting.lambda_sparsity} lr", model.weights_, 0.0
    for name, model in zip(names, fixed, strict=True):
        yield "fixed", name, model.weights_, model.solution_.seconds
    began = time.perf_counter()
    yield "rule", "default", clone_fit(base, moments).weights_, time.perf_counter() - began
    for criterion in ("mbic", "ebic"):
        best = min(models, key=lambda model: information_criterion(model, L0(criterion)))
        yield "rule", criterion, best.weights_, sum(model.solution_.seconds for model in models)
    for rule, options in (("cv", {"cv": 5}), ("stability", {"pairs": pairs})):
        if rule in rules:
            began = time.perf_counter()
            model = GolemCV(base, rule, random_state=0, **options).fit(data)
            yield "rule", rule, model.weights_, time.perf_counter() - began


def clone_fit(base, moments):
    """Fit the estimator with its own penalties and threshold."""
    return Golem(base.noise, base.solver).fit(moments)


def run(arguments):
    """Run all cells, and write one row per choice."""
    warnings.simplefilter("ignore")
    with arguments.output.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
            for graph in arguments.graphs:
                for d in arguments.d:
                    for n in arguments.n:
                        for noise in arguments.noise:
                            scale = arguments.weight_scale
                            drawn = simulate(
                                d, n, graph, f"gaussian-{noise}", weight_scale=scale, random_state=1000 + seed
                            )
                            label = graph if scale == 1 else f"{graph} weights x {scale:g}"
                            cell = dict(zip(CELL, (arguments.solver, label, d, n, noise), strict=True))
                            for kind, choice, weights, seconds in choices(
                                arguments.solver, noise, drawn.data, arguments.pairs, arguments.rules
                            ):
                                errors = {
                                    "shd": metrics.shd(drawn.sem.adjacency, weights),
                                    "shd_c": metrics.shd_c(drawn.sem.adjacency, weights),
                                }
                                about = {"seed": seed, "kind": kind, "choice": choice, "seconds": f"{seconds:.4f}"}
                                writer.writerow(cell | about | errors)
                            file.flush()
            print(f"seed {seed} done", flush=True)


def table(arguments):
    """Print the table of the docs."""
    errors = defaultdict(lambda: defaultdict(list))
    seeds = defaultdict(set)
    for path in arguments.results:
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                cell = tuple(row[name] for name in CELL)
                metric = arguments.metric or ("shd" if row["noise"] == "ev" else "shd_c")
                errors[cell][row["kind"], row["choice"]].append(float(row[metric]))
                seeds[cell].add(row["seed"])
    headings = (*CELL, "seeds", "best fixed choice", "errors", "limit", "default", *RULES)
    print(f"| {' | '.join(headings)} |")
    print("|---" * (10 + len(RULES)) + "|")
    passed = defaultdict(lambda: [0, 0])
    for cell, found in sorted(
        errors.items(), key=lambda item: (item[0][0], item[0][1], *map(int, item[0][2:4]), item[0][4])
    ):
        means = {key: float(np.mean(values)) for key, values in found.items() if len(values) == len(seeds[cell])}
        best, choice = min((mean, name) for (kind, name), mean in means.items() if kind == "fixed")
        limit = max(1.1 * best, best + 0.05 * int(cell[2]))
        shown = []
        for rule in ("default", *RULES):
            mean = means.get(("rule", rule))
            if mean is None:
                shown.append("")
                continue
            passed[cell[0], rule][0] += mean <= limit + 1e-9
            passed[cell[0], rule][1] += 1
            shown.append(f"{mean:.2f}" if mean <= limit + 1e-9 else f"**{mean:.2f}**")
        print(
            f"| {' | '.join(cell)} | {len(seeds[cell])} | {choice} | {best:.2f} | {limit:.2f} | {' | '.join(shown)} |"
        )
    print()
    for (solver, rule), (good, count) in passed.items():
        print(f"{solver}, {rule}: {good} of {count} cells within the limit")
    versions = f"golem {golem.__version__}, NumPy {np.__version__}, SciPy {scipy.__version__}"
    print(f"{versions}, Python {platform.python_version()}, {os.cpu_count()} cores")


def main():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    runner = commands.add_parser("run")
    runner.add_argument("solver", choices=["order", "lbfgs"])
    runner.add_argument("--graphs", nargs="+", default=["ER2"])
    runner.add_argument("--weight-scale", type=float, default=1.0)
    runner.add_argument("--d", nargs="+", type=int, default=[20, 50])
    runner.add_argument("--n", nargs="+", type=int, default=[100, 300, 1000])
    runner.add_argument("--noise", nargs="+", default=["ev", "nv"])
    runner.add_argument("--seeds", type=int, default=12)
    runner.add_argument("--first-seed", type=int, default=0)
    runner.add_argument("--pairs", type=int, default=25)
    runner.add_argument("--rules", nargs="*", default=["cv", "stability"], help="rules in addition to the criteria")
    runner.add_argument("--quick", action="store_true")
    runner.add_argument("-o", "--output", type=Path, required=True)
    runner.set_defaults(do=run)
    printer = commands.add_parser("table")
    printer.add_argument("results", nargs="+", type=Path)
    printer.add_argument("--metric", choices=["shd", "shd_c"])
    printer.set_defaults(do=table)
    arguments = parser.parse_args()
    if getattr(arguments, "quick", False):
        arguments.d, arguments.n, arguments.seeds, arguments.pairs = [20], [300], 2, 3
    arguments.do(arguments)


if __name__ == "__main__":
    main()
