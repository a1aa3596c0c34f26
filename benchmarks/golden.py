"""Claim: a change of the code changes no answer, no message and no speed (tests/golden has the answers).

- write: fit about 90 small tables with the golem on the path, and write a record per table into a folder: the graph
  document, the terminal output, warnings, or what was refused and why
- compare: compare two such folders table by table; exit code 1 if anything differs
- speed: `Golem(noise).fit(X)` on ER2 graphs with n = 1000, the version in `--old` and that on the path alternating in
  processes of their own. Processor seconds, since others may use the machine. The spread is the range between the
  quartiles of the noisier version, relative to its median. With a large spread, run that size again (`--sizes`).

    PYTHONPATH=src python benchmarks/golden.py write /tmp/new
    PYTHONPATH=src python benchmarks/golden.py compare tests/golden /tmp/new
    PYTHONPATH=src python benchmarks/golden.py speed --old ../before/src --quick
"""

from __future__ import annotations

import argparse
import difflib
import json
import math
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

Edge = tuple[str, str]


def text_of(record: dict[str, Any]) -> str:
    """Return a record as JSON with one line per key, so that git shows what differs."""

    def lines(value: Any, indent: int) -> str:
        compact = json.dumps(value, ensure_ascii=False)
        if indent > 3 or not isinstance(value, dict | list) or len(compact) < 110:
            return compact
        pad = " " * (indent + 1)
        if isinstance(value, dict):
            parts = [f"{json.dumps(key, ensure_ascii=False)}: {lines(one, indent + 1)}" for key, one in value.items()]
        else:
            parts = [lines(one, indent + 1) for one in value]
        ends = "{}" if isinstance(value, dict) else "[]"
        return f"{ends[0]}\n{pad}" + f",\n{pad}".join(parts) + f"\n{' ' * indent}{ends[1]}"

    return lines(record, 0) + "\n"


def write(options: argparse.Namespace) -> int:
    """Fit the tables and write their records."""
    import golem
    from golden_tables import JOBS

    options.folder.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    for name in options.only or JOBS:
        start = time.perf_counter()
        record = JOBS[name]()
        (options.folder / f"{name}.json").write_text(text_of(record), encoding="utf-8")
        print(f"{time.perf_counter() - start:6.2f} s  {name}", flush=True)
    print(f"{time.perf_counter() - began:6.1f} s in total, with {Path(golem.__file__).parent}")
    return 0


def compare(options: argparse.Namespace) -> int:
    """Print what differs between the records of two folders."""
    names = sorted({path.stem for folder in (options.a, options.b) for path in folder.glob("*.json")})
    names = [name for name in names if not options.only or name in options.only]
    different = 0
    for name in names:
        paths = [folder / f"{name}.json" for folder in (options.a, options.b)]
        absent = [str(path.parent) for path in paths if not path.exists()]
        if absent:
            found = [f"not in {' and '.join(absent)}"]
        else:
            found = list(differences(*(json.loads(path.read_text(encoding="utf-8")) for path in paths)))
        different += bool(found)
        if found or not options.quiet:
            print(f"{name}: {'differs' if found else 'equal'}", *(f"  {line}" for line in found), sep="\n")
    print(f"{len(names) - different} of {len(names)} tables are equal, {different} differ.")
    return int(different > 0)


def differences(old: Any, new: Any, path: str = "", tolerance: float = 1e-10) -> Iterator[str]:
    """Yield a line per difference of two records; numbers differ if beyond the relative tolerance."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys([*old, *new]):
            inner = f"{path}.{key}" if path else str(key)
            if key not in old or key not in new:
                yield f"{inner}: {'added' if key in new else 'removed'}"
            else:
                yield from differences(old[key], new[key], inner, tolerance)
    elif isinstance(old, list) and isinstance(new, list) and _has_edges(old) and _has_edges(new):
        yield from _edge_differences(_by_edge(old), _by_edge(new), path, tolerance)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for k, pair in enumerate(zip(old, new, strict=True)):
            yield from differences(*pair, f"{path}[{k}]", tolerance)
    elif isinstance(old, str) and isinstance(new, str):
        yield from _text_differences(old, new, path)
    elif not _same(old, new, tolerance):
        yield f"{path}: {_short(old)} -> {_short(new)}"


def _same(old: Any, new: Any, tolerance: float) -> bool:
    """Return whether two values agree."""
    plain = [isinstance(one, int | float) and not isinstance(one, bool) for one in (old, new)]
    if all(plain):
        return math.isclose(old, new, rel_tol=tolerance, abs_tol=tolerance / 10) or (old != old and new != new)
    return type(old) is type(new) and old == new


def _short(value: Any) -> str:
    """Return the beginning of a value."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 160 else f"{text[:160]}... ({len(text)} characters)"


def _has_edges(rows: list[Any]) -> bool:
    """Return whether a list is a list of edges, each once."""
    if not all(isinstance(row, dict) and {"source", "target"} <= set(row) for row in rows):
        return False
    return len(_by_edge(rows)) == len(rows)


def _by_edge(rows: list[Any]) -> dict[Edge, Any]:
    return {(row["source"], row["target"]): row for row in rows}


def _edge_differences(old: dict[Edge, Any], new: dict[Edge, Any], path: str, tolerance: float) -> Iterator[str]:
    """Yield edges added, removed and changed, and changes of the order."""
    for edge in dict.fromkeys([*old, *new]):
        name = f"{path}: {edge[0]} -> {edge[1]}"
        if edge in old and edge in new:
            yield from differences(old[edge], new[edge], name, tolerance)
        else:
            yield f"{name} {'added' if edge in new else 'removed'}"
    if set(old) == set(new) and list(old) != list(new):
        yield f"{path}: the order of the edges differs"


def _text_differences(old: str, new: str, path: str) -> Iterator[str]:
    """Yield a unified diff of two texts; long lines are split into sentences."""
    if old != new:
        yield f"{path}:"
        texts = [text.replace(". ", ".\n").splitlines() for text in (old, new)]
        yield from (f"  {line}" for line in list(difflib.unified_diff(*texts, lineterm="", n=0))[2:])
        if texts[0] == texts[1]:
            yield f"  white space: {old!r} -> {new!r}"


# The first call of a fresh process, with the import.
FIRST = """
import json, sys, time
import numpy as np
X = np.load(sys.argv[1])
began, spent = time.perf_counter(), time.process_time()
from golem import Golem
import warnings
warnings.simplefilter("ignore")
Golem().fit(X)
print(json.dumps([0, time.perf_counter() - began, time.process_time() - spent]))
"""
# Columns, rounds, and fits per process in a round. A median of two fits is not enough: one slow run at d = 3200 once
# gave a ratio of 1.3 for the same code.
SIZES = {12: (3, 30), 50: (3, 15), 200: (3, 5), 1000: (3, 2), 3200: (3, 2)}


def _spread(values: list[float]) -> float:
    """Return the range between the quartiles, relative to the median."""
    low, middle, high = statistics.quantiles(values, n=4)
    return (high - low) / middle


def speed(options: argparse.Namespace) -> int:
    """Time two versions, alternating, and print medians and ratios."""
    from fit_speed import FIT, draw, run

    versions = {"old": str(options.old.resolve()), "new": str(options.new.resolve())}
    print(f"NumPy {np.__version__}, Python {platform.python_version()}, {os.cpu_count()} cores\n")
    headings = ("call", "d", "old processor, s", "new processor, s", "new / old", "spread", "wall, new / old")
    print(f"| {' | '.join(headings)} |\n|" + "---|" * len(headings), flush=True)

    def line(call: str, d: int, program: str, arguments: list[str], rounds: int) -> None:
        times: dict[str, list[list[float]]] = {name: [] for name in versions}
        for k in range(rounds):
            for name, source in list(versions.items())[:: 1 if k % 2 else -1]:
                times[name] += [one[1:3] for one in run(sys.executable, program, arguments, source=source)]
        wall, spent = ({name: statistics.median(one[k] for one in times[name]) for name in versions} for k in (0, 1))
        spread = max(_spread([one[1] for one in times[name]]) for name in versions)
        ratios = f"{spent['new'] / spent['old']:.3f} | {spread:.0%} | {wall['new'] / wall['old']:.3f}"
        print(f"| {call} | {d} | {spent['old']:.4f} | {spent['new']:.4f} | {ratios} |", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/X.npy"
        for d, (rounds, repeats) in SIZES.items():
            if (options.quick and d >= 1000) or (options.sizes and d not in options.sizes):
                continue
            np.save(path, draw(d, 1000, 1000)[1])
            for noise in ("auto", "nv"):
                call = "Golem().fit(X)" if noise == "auto" else f'Golem("{noise}").fit(X)'
                line(call, d, FIT, [noise, str(repeats), f"{folder}/out", path], rounds)
        np.save(path, draw(50, 1000, 1000)[1])
        line("first call: import and Golem().fit(X)", 50, FIRST, [path], 5)
    return 0


def main() -> None:
    """Run a part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(required=True)
    part = parts.add_parser("write", help="Fit the tables and write their records.")
    part.add_argument("folder", type=Path, help="Folder for the records.")
    part.add_argument("--only", nargs="+", metavar="NAME", help="Tables, by default all.")
    part.set_defaults(run=write)
    part = parts.add_parser("compare", help="Compare two folders of records.")
    part.add_argument("a", type=Path, help="Records of the old version.")
    part.add_argument("b", type=Path, help="Records of the new version.")
    part.add_argument("--only", nargs="+", metavar="NAME", help="Tables, by default all.")
    part.add_argument("--quiet", action="store_true", help="Print only tables that differ.")
    part.set_defaults(run=compare)
    part = parts.add_parser("speed", help="Compare the speed of two versions.")
    part.add_argument("--old", type=Path, required=True, help="Folder src of the old version.")
    part.add_argument("--new", type=Path, default=Path("src"), help="Folder src of the new version.")
    part.add_argument("--quick", action="store_true", help="Leave out d = 1000 and 3200.")
    part.add_argument("--sizes", type=lambda text: tuple(map(int, text.split(","))), help="Sizes d, e.g. 12,50.")
    part.set_defaults(run=speed)
    options = parser.parse_args()
    sys.exit(options.run(options))


if __name__ == "__main__":
    main()
