"""Count the claimed directions of real tables that contradict common sense.

Claim: few of them do. For public tables with an obvious order (age before disease, inputs before what is computed from
them, an outcome last), the order was written down before any graph was learned. A claimed arrow between two tiers is
testable; it contradicts if it points backwards. "class" counts all directions of the equivalence class, as other
programs draw
them.

    python benchmarks/real_tables.py                          # tables of scikit-learn, and statsmodels if installed
    python benchmarks/real_tables.py --tables FOLDER          # and the files of a folder, by their names below
    python benchmarks/real_tables.py --quick                  # three tables
    python benchmarks/real_tables.py --others causal-learn-pc causal-learn-ges  # other packages, numeric columns
    python benchmarks/real_tables.py --least-margin 0 --least-stability 0.3 --no-free-edge --half 0    # another rule

A rule that is chosen on half of the tables must be reported on the others: `--half` takes those of one half, by a hash
of their names. Tables of the folder are from the collection cmu-phil/example-causal-datasets.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import platform
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import beta

import golem
from golem.comparison.other_packages import OTHER_PACKAGES
from golem.directions import by_structure
from golem.workflow import fit_file

# Tiers, earlier ones first; "*" is all other columns. Columns of one tier are not compared.
SKLEARN = {
    "diabetes": "age sex; *; target",
    "wine": "target; *",
}
STATSMODELS = {
    "anes96": "age popul logpopul; educ; *; vote",
    "cancer": "population; cancer",
    "ccard": "AGE; *; AVGEXP",
    "elnino": "YEAR; JAN; FEB; MAR; APR; MAY; JUN; JUL; AUG; SEP; OCT; NOV; DEC",
    "engel": "income; foodexp",
    "fair": "age; *; affairs",
    "grunfeld": "year firm; *",
    "heart": "age; survival",
    "macrodata": "year quarter; *",
    "randhie": "lncoins idp lpi fmde; *; mdvis",
    "scotland": "*; YES",
    "spector": "GPA TUCE PSI; GRADE",
    "stackloss": "*; STACKLOSS",
    "star98": "*; NABOVE NBELOW",
    "statecrime": "*; violent murder",
}
FOLDER = {
    "abalone.mixed.maximum.3.txt": "Sex Rings; *",
    "airfoil-self-noise.continuous.txt": "Chord Attack Velocity Frequency; *; Pressure",
    "auto-mpg.data.mixed.max.3.categories.txt": "modelyear origin; *; mpg acceleration",
    "boston-housing.continuous.txt": "CHAS; *; MEDV",
    "car-evaluation.discrete.txt": "*; eval",
    "college-plans.discrete.txt": "sex; iq ses; pe; cp",
    "crx.data.mixed.maximum.14.txt": "*; A16",
    "cystic-fibrosis-20180726-simplified.continuous.txt": "sex age_onenrollment mutation_508; *",
    "galton-stature.mixed.txt": "family father mother Gender; Height",
    "hitters.txt": "Years; *; Salary NewLeague",
    "pima-diabetes.mixed.maximum.2.txt": "Age DiabetesPedigreeFunction; *; Outcome",
    "south-german-credit.data.mixed.txt": "age personal_status_sex; *; credit_risk",
    "sub001.cent-table.9.continuous.txt": "I; *",
}


def tables(folder: Path | None, scratch: Path) -> Iterator[tuple[str, Path, str]]:
    """Yield the name, the file and the tiers of every table that is here."""
    import sklearn.datasets

    for name, tiers in SKLEARN.items():
        bunch = getattr(sklearn.datasets, f"load_{name}")(as_frame=True)
        bunch.frame.to_csv(scratch / f"{name}.csv", index=False)
        yield name, scratch / f"{name}.csv", tiers
    if importlib.util.find_spec("statsmodels"):
        import statsmodels.api as sm

        for name, tiers in STATSMODELS.items():
            getattr(sm.datasets, name).load_pandas().data.to_csv(scratch / f"{name}.csv", index=False)
            yield name, scratch / f"{name}.csv", tiers
    for file, tiers in FOLDER.items() if folder else ():
        if (folder / file).exists():
            yield file.split(".")[0], folder / file, tiers


def tier_of(names: tuple[str, ...], tiers: str) -> dict[str, int]:
    """Return the tier of every column."""
    groups = [group.split() for group in tiers.split(";")]
    found = {name: k for k, group in enumerate(groups) for name in group if name != "*"}
    rest = next((k for k, group in enumerate(groups) if group == ["*"]), None)
    return found | {name: rest for name in names if name not in found and rest is not None}


def judged(model: Any, tiers: str) -> tuple[list[int], list[tuple[str, str]]]:
    """Return testable claims and contradictions, of the class and of claims, and the claims that contradict."""
    names, graph = model.table_.names, model.graph_
    place = tier_of(names, tiers)
    counts, wrong = [0, 0, 0, 0], []
    for k, (i, j) in enumerate(graph.pairs()):
        first, second = place.get(names[i]), place.get(names[j])
        if first is None or second is None or first == second or graph.directed_by("knowledge")[k]:
            continue
        if not graph.reversible[k]:
            counts[0] += 1
            counts[1] += first > second
        if not graph.undecided[k]:
            counts[2] += 1
            counts[3] += first > second
            if first > second:
                wrong.append((f"{names[i]}->{names[j]}", str(graph.sources[k])))
    return counts, wrong


def judged_elsewhere(method: str, path: Path, tiers: str) -> tuple[int, int]:
    """Return contradicting and testable arrows of a method of another package, on the numeric columns of a file."""
    import pandas as pd

    frame = pd.read_csv(path, sep=None, engine="python", na_values="*").select_dtypes("number").dropna()
    frame = frame.loc[:, frame.std() > 0]
    if frame.shape[1] < 2:
        return 0, 0
    place = tier_of(tuple(frame.columns), tiers)
    graph = OTHER_PACKAGES[method].learn(frame.to_numpy(float)).graph
    ends = [[place.get(frame.columns[k]) for k in pair] for pair in np.argwhere(graph & ~graph.T)]
    tested = [(first, second) for first, second in ends if None not in (first, second) and first != second]
    return sum(first > second for first, second in tested), len(tested)


def compare(methods: list[str], found: Iterator[tuple[str, Path, str]]) -> None:
    """Print the contradictions of other packages."""
    print(f"| table | {' | '.join(f'{method}: wrong / all' for method in methods)} |")
    print("|---" * (len(methods) + 1) + "|")
    total = {method: np.zeros(2, dtype=int) for method in methods}
    for name, path, tiers in found:
        cells = []
        for method in methods:
            try:
                counts = judged_elsewhere(method, path, tiers)
            except ValueError as error:
                cells.append(f"refused: {str(error)[:40]}")
                continue
            total[method] += counts
            cells.append(f"{counts[0]} / {counts[1]}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    print("\n" + "; ".join(f"{method}: {interval(*total[method])} contradict" for method in methods))


def half_of(name: str) -> int:
    """Return the half of the tables, 0 or 1, that a table belongs to."""
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % 2


def change_rule(options: argparse.Namespace) -> None:
    """Let golem claim directions by another rule."""
    by_structure.LEAST_MARGIN, by_structure.LEAST_STABILITY = options.least_margin, options.least_stability
    if options.no_free_edge:
        by_structure._FEW_ROWS, by_structure._is_normal = 0, lambda table: True


def interval(wrong: int, total: int) -> str:
    """Return the 95 % interval of Clopper and Pearson for a share."""
    low = beta.ppf(0.025, wrong, total - wrong + 1) if wrong else 0.0
    high = beta.ppf(0.975, wrong + 1, total - wrong) if wrong < total else 1.0
    return f"{wrong} of {total} ({low:.0%} to {high:.0%})"


def main() -> None:
    """Fit all tables, and print a table of contradictions."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tables", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--least-margin", type=float, default=by_structure.LEAST_MARGIN)
    parser.add_argument("--least-stability", type=float, default=by_structure.LEAST_STABILITY)
    parser.add_argument("--no-free-edge", action="store_true")
    parser.add_argument("--half", type=int, choices=(0, 1))
    parser.add_argument("--others", nargs="+", default=(), choices=OTHER_PACKAGES)
    options = parser.parse_args()
    change_rule(options)
    print(f"golem {golem.__version__}, NumPy {np.__version__}, Python {platform.python_version()}")
    if options.others:
        with tempfile.TemporaryDirectory() as scratch, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return compare(options.others, tables(options.tables, Path(scratch)))
    print("| table | rows | columns | edges | claimed | class: wrong / all | claims: wrong / all | wrong claims |")
    print("|---|---|---|---|---|---|---|---|")
    total = np.zeros(4, dtype=int)
    with tempfile.TemporaryDirectory() as scratch:
        for k, (name, path, tiers) in enumerate(tables(options.tables, Path(scratch))):
            if options.quick and k >= 3:
                break
            if options.half is not None and half_of(name) != options.half:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    result = fit_file(path, Path(scratch, "out", name), missing="auto", strict=False, diagnose=False)
                except ValueError as error:
                    print(f"| {name} | refused: {str(error)[:80]} |")
                    continue
            model = result.model
            counts, wrong = judged(model, tiers)
            total += counts
            shown = ", ".join(f"{edge} ({source})" for edge, source in wrong)
            graph, n = model.graph_, model.table_.n
            print(
                f"| {name} | {n} | {graph.d} | {len(graph)} | {int((~graph.undecided).sum())} | "
                f"{counts[1]} / {counts[0]} | {counts[3]} / {counts[2]} | {shown} |",
                flush=True,
            )
    print(f"\nclass: {interval(total[1], total[0])} contradict; claims: {interval(total[3], total[2])}")


if __name__ == "__main__":
    main()
