"""Claim: an edge with a bootstrap frequency above 0.9 is right at least 95 % of times (benchmarks/confidence.md).

    python benchmarks/reliability.py [--quick | --no-run] [--methods order,order-nv,order-ev]
    python benchmarks/reliability.py --ablation [--quick]

Graphs ER2 with d = 50 nodes, Gaussian noise of equal and of unequal variances, n = 100, 300 and 1000 rows, 12 seeds,
100 replicates each. An adjacency is right if the truth joins the two nodes, a direction if the truth has that edge.
Counts are written to benchmarks/reliability.csv, one line per table and bin; tables that are already there are not run
again. The plot is written to docs/images/reliability.png, the tables to the terminal.

The ablation (30 replicates, seeds 100 and 101, on which the method was developed) compares resampling methods, and
searches of default with those of fast effort, on the same tables: edges per replicate beyond the true number, and the
squared error of the frequencies as forecasts, summed over ordered pairs.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import platform
import time
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np

import golem
from golem import Golem
from golem.data.moments import Moments
from golem.data.resampling import Drawn, Rows
from golem.data.table import Table
from golem.simulate import simulate

HERE = Path(__file__).parent
FIELDS = ("method", "noise", "n", "seed", "kind", "low", "high", "pairs", "right")
NOISES, ROWS, SEEDS, D, REPLICATES = ("gaussian-ev", "gaussian-nv"), (100, 300, 1000), range(12), 50, 100
# Bins are open below and closed above; the first has the pairs that no replicate joins.
EDGES = (-1.0, 0.0, *(k / 10 for k in range(1, 11)))
METHODS = {"order": "auto", "order-nv": "nv", "order-ev": "ev"}


def measure(method: str, noise: str, n: int, seed: int) -> list[dict[str, object]]:
    """Count pairs and right ones by frequency, on one table."""
    drawn = simulate(D, n, "ER2", noise, random_state=seed)
    result = golem.bootstrap(Golem(METHODS[method]), drawn.data, REPLICATES, random_state=seed)
    truth = drawn.sem.adjacency
    upper, off = np.triu_indices(D, k=1), ~np.eye(D, dtype=bool)
    kinds = {
        "adjacency": (result.adjacency_frequency[upper], (truth | truth.T)[upper]),
        "direction": (result.direction_frequency[off], truth[off]),
    }
    rows: list[dict[str, object]] = []
    for kind, (frequency, right) in kinds.items():
        for low, high in itertools.pairwise(EDGES):
            inside = (frequency > low + 1e-9) & (frequency <= high + 1e-9)
            counts = {"pairs": int(inside.sum()), "right": int(right[inside].sum())}
            about = {"method": method, "noise": noise, "n": n, "seed": seed}
            rows.append(about | {"kind": kind, "low": low, "high": high} | counts)
    return rows


class AllRows(Rows):
    """A resample that counts as many rows as it has."""

    def draw(self, rng: np.random.Generator) -> Drawn:
        """Draw with replacement."""
        n = len(self.values)
        return self.weighted(np.bincount(rng.integers(n, size=n), minlength=n)), None


class HalfSample(Rows):
    """Half the rows, drawn without replacement."""

    def draw(self, rng: np.random.Generator) -> Drawn:
        """Draw without replacement."""
        n = len(self.values)
        return self.weighted((rng.permutation(n) < n // 2).astype(int)), None


def ablation(quick: bool) -> None:
    """Compare resampling methods, and efforts of the search."""
    ways = {
        "resample as n rows": (AllRows, None),
        "resample as n/2 rows": (Rows, None),
        "the same, default effort": (Rows, "default"),
        "n/2 rows without replacement": (HalfSample, None),
    }
    print("| noise | n | method | edges beyond the true number | squared error | above 0.9 | of these right |")
    print("|---|---|---|---|---|---|---|")
    for noise in NOISES[1:] if quick else NOISES:
        for n in ROWS[1:2] if quick else ROWS:
            drawn = [simulate(D, n, "ER2", noise, random_state=seed) for seed in (100, 101)]
            for name, (kind, effort) in ways.items():
                extra, error, sure, right = 0.0, 0.0, 0, 0
                for one in drawn:
                    source = Table.single(Moments.from_rows(one.data), one.data)
                    part = source.parts[0]
                    vars(part)["units"] = kind(part.moments, one.data)  # another way of drawing
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", golem.DataWarning)
                        result = golem.bootstrap(Golem(effort=effort), source, 30)
                    f, truth = result.direction_frequency, one.sem.adjacency
                    extra += (f.sum() - truth.sum()) / len(drawn)
                    error += ((f - truth) ** 2).sum() / len(drawn)
                    sure, right = sure + int((f > 0.9).sum()), right + int(truth[f > 0.9].sum())
                print(
                    f"| {noise} | {n} | {name} | {extra:+.1f} | {error:.2f} | {sure} | {right / sure:.3f} |", flush=True
                )


def wilson(right: int, pairs: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    p, n = right / pairs, pairs
    centre, width = p + z**2 / (2 * n), z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    return (centre - width) / (1 + z**2 / n), (centre + width) / (1 + z**2 / n)


def pooled(rows: list[dict[str, str]], **only: str) -> dict[tuple[str, float, float], tuple[int, int]]:
    """Add the counts up by kind and bin."""
    sums: dict[tuple[str, float, float], list[int]] = defaultdict(lambda: [0, 0])
    for row in rows:
        if all(row[name] == value for name, value in only.items()):
            entry = sums[row["kind"], float(row["low"]), float(row["high"])]
            entry[0] += int(row["pairs"])
            entry[1] += int(row["right"])
    return {key: (pairs, right) for key, (pairs, right) in sums.items()}


def tables(rows: list[dict[str, str]], method: str) -> None:
    """Print the reliability of a method, pooled and by noise and n."""
    sums = pooled(rows, method=method)
    print(f"\n{method}, pooled over noise, n and seeds\n")
    print("| frequency | adjacencies | right | 95 % interval | directions | right | 95 % interval |")
    print("|---|---|---|---|---|---|---|")
    for low, high in itertools.pairwise(EDGES):
        cells = ["0" if high == 0 else f"{max(low, 0):.1f} - {high:.1f}"]
        for kind in ("adjacency", "direction"):
            pairs, right = sums[kind, low, high]
            if not pairs:
                cells += ["0", "", ""]
                continue
            interval = wilson(right, pairs)
            cells += [str(pairs), f"{right / pairs:.4f}", f"{interval[0]:.4f} - {interval[1]:.4f}"]
        print("| " + " | ".join(cells) + " |")
    print("\nAbove 0.9, by noise and n:\n\n| noise | n | adjacencies | right | directions | right | lowest of a seed |")
    print("|---|---|---|---|---|---|---|")
    for noise in NOISES:
        for n in ROWS:
            part = pooled(rows, method=method, noise=noise, n=str(n))
            if not part:
                continue
            cells = [noise, str(n)]
            for kind in ("adjacency", "direction"):
                pairs, right = part[kind, EDGES[-2], 1.0]
                cells += [str(pairs), f"{right / max(pairs, 1):.4f}"]
            top = [row for row in rows if float(row["high"]) == 1.0 and row["kind"] == "direction"]
            top = [row for row in top if (row["method"], row["noise"], row["n"]) == (method, noise, str(n))]
            cells.append(f"{min(int(row['right']) / max(int(row['pairs']), 1) for row in top):.4f}")
            print("| " + " | ".join(cells) + " |")


def plot(rows: list[dict[str, str]], path: Path, method: str = "order") -> None:
    """Draw the share of right pairs against the frequency, and how many pairs there are."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(2, 2, figsize=(9, 5.4), sharex=True, height_ratios=(3, 1), layout="constrained")
    colours = {"gaussian-ev": "#1b6ca8", "gaussian-nv": "#c8553d", None: "black"}
    labels = {"gaussian-ev": "equal noise variances", "gaussian-nv": "unequal", None: "all"}
    for column, kind in enumerate(("adjacency", "direction")):
        top, bottom = panels[:, column]
        top.plot([0, 1], [0, 1], color="0.75", lw=1)
        top.axhspan(0.95, 1.02, xmin=0.9, color="0.92")
        for noise, shift in (("gaussian-ev", -0.012), ("gaussian-nv", 0.012), (None, 0.0)):
            only = {"method": method} | ({} if noise is None else {"noise": noise})
            points = []
            for (name, low, high), (pairs, right) in pooled(rows, **only).items():
                if name == kind and pairs and high > 0:
                    points.append(((low + high) / 2 + shift, right / pairs, *wilson(right, pairs)))
            x, y, low_end, high_end = np.array(sorted(points)).T
            style = {"color": colours[noise], "label": labels[noise]}
            if noise is None:
                top.errorbar(x, y, (y - low_end, high_end - y), fmt="o-", ms=4, lw=1.5, capsize=2, **style)
            else:
                top.plot(x, y, "o", ms=3, alpha=0.8, **style)
        sums = [(low, high, pairs) for (name, low, high), (pairs, _) in pooled(rows, method=method).items()
                if name == kind and high > 0]  # fmt: skip
        bottom.bar([(a + b) / 2 for a, b, _ in sums], [c for *_, c in sums], width=0.09, color="0.6")
        bottom.set_yscale("log")
        bottom.set_ylim(1)
        bottom.set_xlabel(f"bootstrap frequency of the {kind}")
        top.set_ylim(-0.02, 1.02)
        top.set_xlim(0, 1)
    panels[0, 0].set_ylabel("share that is right")
    panels[1, 0].set_ylabel("pairs")
    panels[0, 0].legend(frameon=False, loc="lower right")
    figure.savefig(path, dpi=150)


def main() -> None:
    """Run what is missing, then print and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="n = 300, 2 seeds, files only in a temporary folder")
    parser.add_argument("--methods", default="order,order-nv,order-ev")
    parser.add_argument("--no-run", action="store_true", help="only print and draw existing results")
    parser.add_argument("--ablation", action="store_true", help="compare resampling methods instead")
    options = parser.parse_args()
    if options.ablation:
        return ablation(options.quick)
    import tempfile

    folder = Path(tempfile.mkdtemp()) if options.quick else HERE
    table = folder / "reliability.csv"
    picture = (folder if options.quick else HERE.parent / "docs" / "images") / "reliability.png"
    if not table.exists():
        table.write_text(",".join(FIELDS) + "\n")
    with table.open() as file:
        there = {(row["method"], row["noise"], row["n"], row["seed"]) for row in csv.DictReader(file)}
    methods = options.methods.split(",")
    began = time.perf_counter()
    for method in [] if options.no_run else methods:
        for seed in SEEDS[:2] if options.quick else SEEDS:
            for noise in NOISES:
                for n in ROWS[1:2] if options.quick else ROWS:
                    if (method, noise, str(n), str(seed)) in there:
                        continue
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", golem.DataWarning)
                        rows = measure(method, noise, n, seed)
                    with table.open("a", newline="") as file:
                        csv.DictWriter(file, FIELDS, lineterminator="\n").writerows(rows)
                    print(f"{method} {noise} n = {n} seed {seed}: {time.perf_counter() - began:.0f} s", flush=True)
    with table.open() as file:
        rows = list(csv.DictReader(file))
    print(f"golem {golem.__version__}, numpy {np.__version__}, Python {platform.python_version()}")
    for method in methods:
        tables(rows, method)
    plot(rows, picture, methods[0])
    print(f"\n{table}\n{picture}")


if __name__ == "__main__":
    main()
