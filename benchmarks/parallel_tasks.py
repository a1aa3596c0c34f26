"""Run the tasks of a benchmark in processes, and compare golem with other packages table by table.

A task is one method on one table: `{"cell": {...}, "seed": 3000, "method": "..."}`. Each process has one thread and
takes one task at a time; imports and compilation are not timed. Times and time limits are processor times, so that
other programs on the machine do not count. A task that reaches the time limit is stopped and counts as not finished,
and the other tables of its cell are then not tried with that method. Rows are written as JSON lines as they come, so
that a run that is killed keeps what it has; the next run with the same file continues it. To print the table of stored
rows:

    python benchmarks/parallel_tasks.py "golem auto" SHD-C rows.jsonl
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

import golem
from golem.runtime.child_process import ChildProcess, CrashError, TimeLimitError, serve
from golem.runtime.threads import in_parallel, thread_bounds

FIRST_SEED = 3000
Row = dict[str, Any]
# Seconds that must be left for another task to start.
_SHORTEST = 5.0


def add_options(parser: argparse.ArgumentParser, tables: int = 5) -> None:
    """Add the options that all benchmarks with other packages share."""
    parser.add_argument("--tables", type=int, default=tables, help="per cell")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--methods", nargs="+", help="only these methods")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--limit", type=float, default=240.0, help="processor seconds per task")
    parser.add_argument("--total", type=float, default=float("inf"), help="seconds after which the run ends")
    parser.add_argument("--rows", type=Path, help="file for the rows, as JSON lines; a run continues it")


def make_tasks(cells: Iterable[Row], methods: Callable[[Row], Iterable[str]], options: argparse.Namespace) -> list[Row]:
    """Return one task per cell, table and method."""
    wanted = options.methods
    return [
        {"cell": cell, "seed": options.first_seed + k, "method": method}
        for k in range(options.tables)
        for cell in cells
        for method in methods(cell)
        if wanted is None or method in wanted
    ]


def run_tasks(
    script: str, tasks: list[Row], cost: Callable[[Row], float], options: argparse.Namespace, *arguments: str
) -> list[Row]:
    """Run tasks in processes of a script, which calls `serve_tasks` if its first argument is "serve".

    Tasks without a `cost`, those of golem, begin first, because all others are compared with them. Then the first
    tables of all cells, the longest ahead, so that a method that is too slow for a cell is known before its other
    tables; of these, the shortest begin first. `cost` says roughly how long a task takes.
    """

    def rank(task: Row) -> tuple[int, float]:
        is_first = task["seed"] == options.first_seed
        return (1 if is_first else 2, -cost(task) if is_first else cost(task)) if cost(task) else (0, 0.0)

    path = Path(script)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(path.parent), os.environ.get("PYTHONPATH")]))
    environment = thread_bounds(1) | {"MPLBACKEND": "Agg"}
    children = [ChildProcess(path.stem, "serve", *arguments, environment=environment) for _ in range(options.workers)]
    rows = _stored(options, tasks)
    known = {_kind(row, "seed") for row in rows}
    end, too_slow = time.monotonic() + options.total, {_kind(row) for row in rows if row["status"] == "stopped"}

    def close() -> None:
        for child in children:
            child.close()

    idle = list(children)

    def work(task: Row) -> Row:
        child = idle.pop()
        try:
            return task | _outcome(child, task, options.limit, end, too_slow)
        finally:
            idle.append(child)

    left = sorted((task for task in tasks if _kind(task, "seed") not in known), key=rank)
    for _, row in in_parallel(work, left, options.workers, close):
        rows.append(row)
        print(f"{len(rows)} of {len(tasks)}: {json.dumps(row)}", file=sys.stderr, flush=True)
        if options.rows is not None:
            with options.rows.open("a") as file:
                file.write(json.dumps(row) + "\n")
    return rows


def _stored(options: argparse.Namespace, tasks: list[Row]) -> list[Row]:
    """Return the rows of earlier runs of these tasks; those that ended early, or at a lower limit, run again."""
    if options.rows is None or not options.rows.exists():
        return []
    wanted = {_kind(task, "seed") for task in tasks}
    rows = [json.loads(line) for line in options.rows.read_text().splitlines()]
    return [
        row
        for row in rows
        if _kind(row, "seed") in wanted
        and (row["status"] in ("done", "failed") or (row["status"] == "stopped" and row["limit"] >= options.limit))
    ]


def _kind(task: Row, *more: str) -> str:
    """Return the cell and the method of a task as text."""
    return json.dumps([task[name] for name in ("cell", "method", *more)])


def _outcome(child: ChildProcess, task: Row, limit: float, end: float, too_slow: set[str]) -> Row:
    """Run a task; return its status and what it measured."""
    left = end - time.monotonic()
    if _kind(task) in too_slow or left < _SHORTEST:
        return {"status": "not tried"}
    try:
        return {"status": "done"} | child.ask(task | {"limit": limit}, None if left == float("inf") else left)
    except TimeLimitError:
        return {"status": "run ended"}
    except CrashError as crash:
        if signal.SIGPROF.name not in str(crash):
            return {"status": "failed", "reason": str(crash)}
        too_slow.add(_kind(task))
        return {"status": "stopped", "limit": limit}


def serve_tasks(prepare: Callable[[str], None], measure: Callable[[Row], tuple[float, float]]) -> NoReturn:
    """Answer tasks in a child: `measure` returns the value and the processor seconds of the method alone."""

    def answer(task: Row, start_clock: Callable[[], None]) -> Row:
        prepare(task["method"])
        start_clock()
        signal.setitimer(signal.ITIMER_PROF, task["limit"])  # ends this process
        value, seconds = measure(task)
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        return {"value": float(value), "seconds": seconds}

    serve(answer)


def timed(learn: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a function returns, and its processor seconds."""
    began = time.process_time()
    found = learn()
    return found, time.process_time() - began


def print_comparison(rows: list[Row], ours: str, value: str, higher_is_better: bool = False) -> None:
    """Print the mean value and the median time per cell and method, and the differences between `ours` and others."""
    cells = list(dict.fromkeys(json.dumps(row["cell"]) for row in rows))
    known = [json.loads(cell) for cell in cells]
    names = [name for name in known[0] if len({cell[name] for cell in known}) > 1]
    titles = [*names, "method", value, "finished", "processor s", f"{ours} - method", "times faster"]
    print(f"| {' | '.join(titles)} |\n|{'---|' * len(titles)}")
    compared, worse = 0, []
    for cell in sorted(cells, key=lambda text: [str(part).zfill(8) for part in json.loads(text).values()]):
        here = [row for row in rows if json.dumps(row["cell"]) == cell]
        own = _finished(here, ours)
        for method in dict.fromkeys(sorted(row["method"] for row in here)):
            parts, gaps = _compared([row for row in here if row["method"] == method], own, method == ours)
            label = [str(json.loads(cell)[name]) for name in names]
            print(f"| {' | '.join([*label, method, *parts])} |")
            if len(gaps) > 1:
                compared += 1
                if statistics.mean(gaps) * (-1 if higher_is_better else 1) > 2 * _error(gaps):
                    worse.append(f"{', '.join(label)}: {method}")
    print(f"\nDifferences and ratios are means and medians over the tables that both finished. {_versions()}")
    print(
        f"{ours} is worse by more than two standard errors in {len(worse)} of {compared} comparisons.", *worse, sep="\n"
    )


def _finished(rows: list[Row], method: str) -> dict[int, Row]:
    """Return the rows of a method that finished, by seed."""
    return {row["seed"]: row for row in rows if row["method"] == method and row["status"] == "done"}


def _compared(rows: list[Row], own: dict[int, Row], is_own: bool) -> tuple[list[str], list[float]]:
    """Return the cells of a line of the table, and the differences of values on the tables that both finished."""
    done = _finished(rows, rows[0]["method"])
    tried = [row for row in rows if row["status"] in ("done", "stopped", "failed")]
    limits = [row["limit"] for row in rows if row["status"] == "stopped"]
    common = [] if is_own else sorted(set(done) & set(own))
    gaps = [own[seed]["value"] - done[seed]["value"] for seed in common]
    ratios = [done[seed]["seconds"] / max(own[seed]["seconds"], 1e-3) for seed in common]
    value = _mean([row["value"] for row in done.values()])
    seconds = f"{statistics.median(row['seconds'] for row in done.values()):.2f}" if done else ""
    faster = f"{statistics.median(ratios):.2g}" if ratios else ""
    if limits and not done:
        seconds = f"over {max(limits):.0f}"
        if own and not is_own:
            faster = f"over {max(limits) / max(statistics.median(r['seconds'] for r in own.values()), 1e-3):.2g}"
    return [value, f"{len(done)} of {len(tried)} tried", seconds, _mean(gaps), faster], gaps


def _error(values: list[float]) -> float:
    """Return the standard error of a mean."""
    return statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else float("nan")


def _mean(values: list[float]) -> str:
    """Return the mean and, of several values, the standard error; nothing if there are no values."""
    error = f" ± {_error(values):.2g}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.3g}{error}" if values else ""


def _versions() -> str:
    """Return versions and hardware in a sentence."""
    machine = f"{os.cpu_count()} cores, {platform.processor() or platform.machine()}"
    return f"golem {golem.__version__}, Python {platform.python_version()}, NumPy {np.__version__}, {machine}."


def main() -> None:
    """Print the comparison of stored rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ours", help="the method that is compared with the others")
    parser.add_argument("value", help="what was measured")
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--higher-is-better", action="store_true")
    options = parser.parse_args()
    rows = [json.loads(line) for path in options.files for line in path.read_text().splitlines()]
    last = list({_kind(row, "seed"): row for row in rows}.values())
    print_comparison(last, options.ours, options.value, options.higher_is_better)


if __name__ == "__main__":
    main()
