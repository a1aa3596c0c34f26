"""Claim: the checks of `golem.diagnose` are silent on clean data, detect planted faults, and are faster than the fit.

Parts, all simulated with ER2 graphs:

- clean: how often each finding is a note or a warning (`warning` after the slash) on data without a fault
- planted: the same on data with one fault each, and how often that fault is found
- noise: edges, and edges directed by structure, that golem finds among independent columns of few rows
- cost: seconds of processor time of a fit and of its diagnosis, medians of 3 in one run

    python benchmarks/diagnostics.py clean --seeds 100
    python benchmarks/diagnostics.py planted noise cost
    python benchmarks/diagnostics.py clean planted cost --quick      # fewer seeds, d up to 100
"""

from __future__ import annotations

import argparse
import platform
import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np

import golem
from golem import Golem, Moments
from golem.data.checks import least_rows
from golem.diagnostics import Diagnosis, diagnose
from golem.simulate import simulate

Rows = np.ndarray
CHECKED = (
    "units", "equal-variances", "directions", "rows", "conditioning", "near-duplicates", "deterministic",
    "near-constant", "normal-residuals", "influential-rows", "outliers", "linearity", "independence", "dependent-rows",
    "odd-values",
)  # fmt: skip
CLEAN = {
    "equal variances": {"noise": "gaussian-ev"},
    "free variances": {"noise": "gaussian-nv"},
    "free, standardized": {"noise": "gaussian-nv", "standardize": True},
    "weak edges": {"noise": "gaussian-ev", "weight_scale": 0.2},
    "exponential noise": {"noise": "exponential"},
}


def rescaled(X: Rows, rng: np.random.Generator) -> Rows:
    """Express every column in its own unit."""
    return X * np.exp(rng.normal(0, 1, X.shape[1]))


def with_copy(X: Rows, rng: np.random.Generator) -> Rows:
    """Add a column that repeats another with 5% of noise."""
    return np.column_stack([X, X[:, 0] + 0.05 * X[:, 0].std() * rng.normal(size=len(X))])


def with_total(X: Rows, rng: np.random.Generator) -> Rows:
    """Add the sum of four standardized columns, with 1% of noise."""
    total = (X[:, :4] / X[:, :4].std(axis=0)).sum(axis=1)
    return np.column_stack([X, total + 0.01 * total.std() * rng.normal(size=len(X))])


def with_outliers(X: Rows, rng: np.random.Generator) -> Rows:
    """Add two columns of noise that correlate only through three rows."""
    pair = rng.normal(size=(len(X), 2))
    pair[:3] = 10 * rng.choice([-1.0, 1.0], (3, 1)) + rng.normal(size=(3, 2))
    return np.column_stack([X, pair])


def with_curve(X: Rows, rng: np.random.Generator) -> Rows:
    """Add an effect x + 0.3 x^2 of a standardized column."""
    x = (X[:, 0] - X[:, 0].mean()) / X[:, 0].std()
    return np.column_stack([X, x + 0.3 * x**2 + rng.normal(size=len(X))])


def with_growing_noise(X: Rows, rng: np.random.Generator) -> Rows:
    """Add an effect of a standardized column with noise that grows with its size."""
    x = (X[:, 0] - X[:, 0].mean()) / X[:, 0].std()
    return np.column_stack([X, x + (0.5 + np.abs(x)) * rng.normal(size=len(X))])


def with_one_percent_outliers(X: Rows, rng: np.random.Generator) -> Rows:
    """Add noise of 5 standard deviations to all columns of 1% of the rows."""
    return X + (rng.random((len(X), 1)) < 0.01) * rng.normal(size=X.shape) * 5 * X.std(axis=0)


def with_switch(X: Rows, rng: np.random.Generator) -> Rows:
    """Add a column that is 0 in 98% of the rows."""
    return np.column_stack([X, rng.permutation(np.arange(len(X)) < 0.02 * len(X)).astype(float)])


def with_long_tail(X: Rows, rng: np.random.Generator) -> Rows:
    """Add a log-normal column."""
    return np.column_stack([X, np.exp(rng.normal(size=len(X)))])


def as_series(X: Rows, rng: np.random.Generator) -> Rows:
    """Let every row depend on the one before it, with autocorrelation 0.7."""
    for t in range(1, len(X)):
        X[t] = 0.7 * X[t - 1] + 0.71 * X[t]
    return X


def as_panel(X: Rows, rng: np.random.Generator) -> Rows:
    """Keep one row of four, repeat it with new noise in all columns but two, round, and shuffle."""
    people = np.repeat(X[: len(X) // 4], 4, axis=0)
    people[:, 2:] += X[:, 2:].std(axis=0) * rng.normal(size=people[:, 2:].shape)
    return rng.permutation(np.round(people / X.std(axis=0), 2))


def with_row_numbers(X: Rows, rng: np.random.Generator) -> Rows:
    """Add row numbers, and let a tenth of the values of one column be missing."""
    X[rng.random(len(X)) < 0.1, 0] = np.nan
    return np.column_stack([np.arange(1.0, len(X) + 1), X])


def unchanged(X: Rows, rng: np.random.Generator) -> Rows:
    """Return the rows unchanged."""
    return X


# Planted faults: settings of the simulation and of the model, the change of the rows, the finding that must appear.
PLANTED: dict[str, tuple[dict, Golem, Callable[[Rows, np.random.Generator], Rows], str]] = {
    "other units, ev": ({}, Golem("ev"), rescaled, "units"),
    "other units, auto": ({}, Golem(), rescaled, "units"),
    "variances over two decades, ev": ({"noise_std": (0.1, 10.0)}, Golem("ev"), unchanged, "equal-variances"),
    "variances U[1, 2]^2, ev": ({"noise": "gaussian-nv"}, Golem("ev"), unchanged, "equal-variances"),
    "a near copy": ({}, Golem(), with_copy, "near-duplicates"),
    "a total": ({}, Golem(), with_total, "deterministic"),
    "a switch": ({}, Golem(), with_switch, "near-constant"),
    "a log-normal column": ({}, Golem(), with_long_tail, "normal-residuals"),
    "three outlying rows": ({}, Golem(), with_outliers, "influential-rows"),
    "1% of outlying rows": ({}, Golem(), with_one_percent_outliers, "outliers"),
    "a curved effect": ({}, Golem(), with_curve, "linearity"),
    "noise that grows with the parent": ({}, Golem(), with_growing_noise, "independence"),
    "a time series": ({}, Golem(), as_series, "dependent-rows"),
    "four rows per person, shuffled": ({}, Golem(), as_panel, "dependent-rows"),
    "row numbers and missing values": ({}, Golem(missing="drop"), with_row_numbers, "odd-values"),
}


def diagnosed(model: Golem, X: Rows) -> Diagnosis:
    """Fit and diagnose, without the fit's own warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return diagnose(model.fit(X), X)


def rate(found: list[Diagnosis], name: str) -> str:
    """Share of diagnoses where a finding is a note or a warning, and a warning."""
    fired = [diagnosis[name].level for diagnosis in found]
    warned = fired.count("warning") / len(fired)
    noted = 1 - fired.count("ok") / len(fired)
    return f"{noted:.2f}" + (f" / {warned:.2f}" if warned else "")


def clean(seeds: range, d: int, n: int) -> Iterator[str]:
    """Yield false alarms by finding and kind of data."""
    yield f"Clean data, noise='auto', d = {d}, n = {n}, {len(seeds)} seeds: share of notes and warnings / of warnings"
    found = {
        label: [diagnosed(Golem(), simulate(d, n, "ER2", random_state=seed, **settings).data) for seed in seeds]
        for label, settings in CLEAN.items()
    }
    found["equal variances, ev"] = [
        diagnosed(Golem("ev"), simulate(d, n, "ER2", random_state=seed).data) for seed in seeds
    ]
    yield "| finding | " + " | ".join(found) + " |"
    yield "|---" * (len(found) + 1) + "|"
    for name in CHECKED:
        yield f"| {name} | " + " | ".join(rate(diagnoses, name) for diagnoses in found.values()) + " |"


def planted(seeds: range, d: int, n: int) -> Iterator[str]:
    """Yield how often a planted fault is found."""
    yield f"Planted faults, d = {d}, n = {n}, {len(seeds)} seeds: share of notes and warnings / of warnings"
    yield "| planted | finding | with the fault | without |"
    yield "|---|---|---|---|"
    sound: dict[str, list[Diagnosis]] = {}
    for label, (settings, model, change, name) in PLANTED.items():
        if model.noise not in sound:
            sound[model.noise] = [diagnosed(model, simulate(d, n, "ER2", random_state=seed).data) for seed in seeds]
        faulty = []
        for seed in seeds:
            rows = simulate(d, n, "ER2", random_state=seed, **settings).data
            faulty.append(diagnosed(model, change(rows, np.random.default_rng(seed))))
        yield f"| {label} | {name} | {rate(faulty, name)} | {rate(sound[model.noise], name)} |"


def noise(seeds: range) -> Iterator[str]:
    """Yield the edges and claimed directions of independent Gaussian columns, by numbers of rows and columns."""
    rows = (8, 10, 12, 15, 20, 30, 40)
    yield f"Pure noise, {len(seeds)} seeds: edges per table / directed by structure; * the fit refuses such tables"
    yield "| columns | " + " | ".join(f"{n} rows" for n in rows) + " |"
    yield "|---" * (len(rows) + 1) + "|"
    for d in (3, 5, 10, 20, 40):
        cells = []
        for n in rows:
            found = []
            for seed in seeds:
                X = np.random.default_rng([seed, n, d]).normal(size=(n, d))
                with warnings.catch_warnings(action="ignore"):
                    edges = Golem().fit(Moments.from_rows(X)).edges_  # moments are not refused
                found.append([len(edges), sum(edge.direction_from == "structure" for edge in edges)])
            edges_found, directed = np.mean(found, axis=0)
            cells.append(f"{edges_found:.1f} / {directed:.1f}{'*' if n < least_rows(d) else ''}")
        yield f"| {d} | " + " | ".join(cells) + " |"


def cost(sizes: list[int], n: int) -> Iterator[str]:
    """Yield seconds of fits and diagnoses."""

    def seconds(work: Callable[[], object]) -> float:
        times = []
        for _ in range(3):
            # Processor time, because it does not count other programs.
            began = time.process_time()
            work()
            times.append(time.process_time() - began)
        return float(np.median(times))

    yield f"Cost, n = {n}, seconds of processor time, medians of 3"
    yield "| d | noise | fit | diagnose | diagnose without refit |"
    yield "|---|---|---|---|---|"
    for d in sizes:
        X = simulate(d, n, "ER2", "gaussian-nv", random_state=0).data
        for model in (Golem(), Golem("nv"), Golem("ev")):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fit = seconds(lambda model=model, X=X: model.fit(X))
                whole = seconds(lambda model=model, X=X: diagnose(model, X))
                lean = seconds(lambda model=model, X=X: diagnose(model, X, refit=False))
            yield f"| {d} | {model.noise} | {fit:.2f} | {whole:.2f} | {lean:.2f} |"


def main() -> None:
    """Run the parts named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", choices=("clean", "planted", "noise", "cost"))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seeds", type=int)
    options = parser.parse_args()
    print(
        f"golem {golem.__version__}, numpy {np.__version__}, Python {platform.python_version()}, {platform.machine()}"
    )
    # Compile before anything is timed.
    diagnosed(Golem(), simulate(20, 200, random_state=0).data)
    diagnosed(Golem("ev"), simulate(20, 200, random_state=0).data)
    seeds = range(options.seeds or (5 if options.quick else 40))
    parts = {
        "clean": lambda: clean(seeds, 20, 1000),
        "planted": lambda: planted(seeds, 20, 1000),
        "noise": lambda: noise(seeds),
        "cost": lambda: cost([20, 100] if options.quick else [20, 100, 300, 1000], 2000),
    }
    for part in options.parts:
        print()
        for line in parts[part]():
            print(line, flush=True)


if __name__ == "__main__":
    main()
