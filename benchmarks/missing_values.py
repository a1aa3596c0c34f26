"""Claim: with missing values, EM is more accurate than complete rows, if it counts rows as golem does.

    python benchmarks/missing_values.py --seeds 24
    python benchmarks/missing_values.py --part uneven --seeds 100    # one column has few values
    python benchmarks/missing_values.py --part time

Cells are missing completely at random. "em" is `Golem(missing="em")`; "em, all rows" counts all rows; "em,
share of cells" counts all rows times the share of cells that are observed; "em, one number" counts the same rows for
all edges; "drop" uses complete rows.
"""

from __future__ import annotations

import argparse
import dataclasses
import platform
import time
import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

import golem
from golem import Golem, Knowledge, Moments, metrics
from golem.data.checks import DataWarning
from golem.output import list_edges
from golem.simulate import simulate


def cases(rows: np.ndarray, share: float, rng: np.random.Generator) -> dict[str, Moments]:
    """Return the moments by every method for missing cells."""
    X = np.where(rng.random(rows.shape) < share, np.nan, rows)
    em = Moments.from_rows(X, missing="em")
    found = {"complete data": Moments.from_rows(rows), "em": em}
    for name, n in (("em, all rows", len(X)), ("em, share of cells", round(len(X) * np.mean(~np.isnan(X))))):
        found[name] = Moments.from_covariance(em.covariance, n, em.mean)
    if np.sum(~np.isnan(X).any(axis=1)) > 3:
        found["drop"] = Moments.from_rows(X, missing="drop")
    return found


def even_tables(options: argparse.Namespace) -> None:
    """Print a table per noise model: errors per graph with standard errors, all columns lacking equally many values."""
    names = ("complete data", "em", "em, all rows", "em, share of cells", "drop")
    for noise, metric in (("nv", metrics.shd_c), ("ev", metrics.shd)):
        print(f"\nnoise={noise}, {metric.__name__}, {options.graph}, d = {options.d}, n = {options.n}")
        print("| missing |", " | ".join(names), "|\n|---|" + "---|" * len(names))
        for share in (0.02, 0.05, 0.1, 0.2, 0.3):
            errors: dict[str, list[float]] = {name: [] for name in names}
            for seed in range(options.seeds):
                drawn = simulate(options.d, options.n, options.graph, f"gaussian-{noise}", random_state=seed)
                for name, moments in cases(drawn.data, share, np.random.default_rng(seed)).items():
                    graph = Golem(noise).fit(moments).adjacency_
                    errors[name].append(float(metric(drawn.sem.adjacency, graph)))
            cells = [written(found) if len(found) == options.seeds else "too few rows" for found in errors.values()]
            print(f"| {share:.0%} |", " | ".join(cells), "|", flush=True)


class Drawn(NamedTuple):
    """Simulated rows, the true weights, the rows with missing values, and the column that lacks most."""

    rows: np.ndarray
    weights: np.ndarray
    X: np.ndarray
    column: int


def drawn_uneven(d: int, scale: float, share: float, only: bool, seed: int) -> Drawn:
    """Simulate 400 rows of ER2, or of independent columns (scale 0), with values missing in one column or in all."""
    rng = np.random.default_rng(seed)
    rows, weights = rng.normal(size=(400, d)), np.zeros((d, d))
    if scale:
        drawn = simulate(d, 400, "ER2", "gaussian-nv", weight_scale=scale, random_state=seed)
        rows, weights = drawn.data, drawn.sem.weights
    column = int(rng.integers(d))
    absent = rng.random((400, d)) < share
    if only:
        absent[:, np.arange(d) != column] = False
    return Drawn(rows, weights, np.where(absent, np.nan, rows), column)


def uneven_tables(options: argparse.Namespace) -> None:
    """Print false links and SHD-C where one column has few values, and where all lack equally many."""
    names = ("complete data", "em", "em, one number", "drop")
    print("\nnoise=nv, d = 12, n = 400: false links | SHD-C")
    print("| weights | missing |", " | ".join(names), "|\n|---|---|" + "---|" * len(names))
    tables = [(scale, 0.85, True) for scale in (0.0, 1.0, 0.4)]
    tables += [(scale, share, False) for scale in (1.0, 0.4) for share in (0.1, 0.3)]
    for scale, share, only in tables:
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
        for seed in range(1000, 1000 + options.seeds):
            rows, weights, X, _ = drawn_uneven(12, scale, share, only, seed)
            em, truth = Moments.from_rows(X, missing="em"), weights != 0
            given = {"complete data": Moments.from_rows(rows), "em": em, "em, one number": one_number(em)}
            if np.sum(~np.isnan(X).any(axis=1)) > 20:
                given["drop"] = Moments.from_rows(X, missing="drop")
            for name, moments in given.items():
                learned = Golem("nv").fit(moments).adjacency_
                false = np.sum(learned & ~links(truth))
                found[name].append((float(false), float(metrics.shd_c(truth, learned))))
        cells = [
            " \\| ".join(written(values) for values in zip(*own, strict=True))
            if len(own) == options.seeds
            else "too few rows"
            for own in found.values()
        ]
        where = "of one column" if only else "of all cells"
        print(f"| {described(scale)} | {share:.0%} {where} |", " | ".join(cells), "|", flush=True)


def table_without_the_column(options: argparse.Namespace) -> None:
    """Print links among the other columns, with the column that has few values and without it."""
    print("\nnoise=nv, d = 12, n = 400, 85% of one column missing: false | missed links among the others")
    print("| weights | em | without the column |\n|---|---|---|")
    for scale in (1.0, 0.4):
        found: dict[str, list[tuple[float, float]]] = {"em": [], "without": []}
        for seed in range(1000, 1000 + options.seeds):
            _, weights, X, column = drawn_uneven(12, scale, 0.85, True, seed)
            others = np.delete(np.arange(12), column)
            truth = links(weights != 0)[np.ix_(others, others)]
            whole = links(Golem("nv", missing="em").fit(X).adjacency_)[np.ix_(others, others)]
            for name, learned in (("em", whole), ("without", links(Golem("nv").fit(X[:, others]).adjacency_))):
                found[name].append((np.sum(learned & ~truth) / 2, np.sum(truth & ~learned) / 2))
        cells = [" \\| ".join(written(values) for values in zip(*own, strict=True)) for own in found.values()]
        print(f"| {described(scale)} |", " | ".join(cells), "|", flush=True)


def links(graph: np.ndarray) -> np.ndarray:
    """Return the edges without their directions."""
    return graph | graph.T


def coverage_tables(options: argparse.Namespace) -> None:
    """Print how often nominal 95% intervals contain the true weight, with the true graph given."""
    print("\nweight +- 1.96 standard errors contains the true weight: edges of the column | all edges")
    print("| d | weights | missing | em | em, one number |\n|---|---|---|---|---|")
    for d in (6, 12):
        for scale, share, only in ((1.0, 0.85, True), (0.4, 0.85, True), (1.0, 0.3, False), (0.4, 0.3, False)):
            found: dict[str, list[tuple[bool, bool]]] = {"em": [], "em, one number": []}
            for seed in range(1000, 1000 + options.seeds):
                _, truth, X, column = drawn_uneven(d, scale, share, only, seed)
                em = Moments.from_rows(X, missing="em")
                model = Golem("nv", knowledge=Knowledge(forbidden=truth == 0, required=truth != 0))
                for name, moments in (("em", em), ("em, one number", one_number(em))):
                    for edge in list_edges(model.fit(moments)):
                        i, j = moments.names.index(edge.source), moments.names.index(edge.target)
                        covered = abs(edge.weight - truth[i, j]) < 1.96 * edge.standard_error
                        found[name].append((column in (i, j), covered))
            cells = []
            for own in found.values():
                near, covered = np.array(own).T
                of_column = f"{covered[near].mean():.1%} \\| " if only else ""
                cells.append(f"{of_column}{covered.mean():.1%}")
            where = "of one column" if only else "of all cells"
            print(f"| {d} | {described(scale)} | {share:.0%} {where} |", " | ".join(cells), "|", flush=True)


def one_number(moments: Moments) -> Moments:
    """Return moments by EM that count the same rows for all edges."""
    return dataclasses.replace(moments, patterns=None)


def described(scale: float) -> str:
    """Describe the true weights."""
    return f"{0.5 * scale:g} to {2 * scale:g}" if scale else "none"


def written(values: Sequence[float]) -> str:
    """Return the mean with its standard error."""
    return f"{np.mean(values):.2f} ± {np.std(values) / np.sqrt(len(values)):.2f}"


def time_em() -> None:
    """Print the processor time of EM."""
    print("\nSeconds of processor time of EM")
    for n, d, share in ((1000, 20, 0.1), (10_000, 50, 0.1), (10_000, 50, 0.3), (5000, 200, 0.05)):
        rows = simulate(d, n, "ER2", random_state=0).data
        rows[np.random.default_rng(0).random(rows.shape) < share] = np.nan
        began = time.process_time()
        moments = Moments.from_rows(rows, missing="em")
        seconds = time.process_time() - began
        print(f"n = {n}, d = {d}, {share:.0%} missing: {seconds:.1f} s, {moments.missing.iterations} steps", flush=True)


def main() -> None:
    """Run the chosen parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=("even", "uneven", "time", "all"), default="all")
    parser.add_argument("--seeds", type=int, default=24)
    parser.add_argument("--d", type=int, default=20)
    parser.add_argument("--n", type=int, default=500)
    parser.add_argument("--graph", default="ER1")
    options = parser.parse_args()
    warnings.simplefilter("ignore", DataWarning)
    print(f"golem {golem.__version__}, numpy {np.__version__}, Python {platform.python_version()}")
    if options.part in ("even", "all"):
        even_tables(options)
    if options.part in ("uneven", "all"):
        uneven_tables(options)
        table_without_the_column(options)
        coverage_tables(options)
    if options.part in ("time", "all"):
        time_em()


if __name__ == "__main__":
    main()
