"""Try new inputs of all kinds for a number of seconds: `make fuzz SECONDS=600`.

Prints a table of the inputs tried. Every new violation is made small and stored in tests/fuzz/corpus/.
"""

from __future__ import annotations

import argparse
import platform
import random
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from multiprocessing import get_context

import golem
from fuzz import corpus
from fuzz.packages import not_tried
from fuzz.run import DAMAGED, run_kinds, say
from golem.runtime.machine import available_cores
from golem_experiments.engine.provenance import processor


def main() -> None:
    """Run all kinds in every worker, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--damaged", type=int, help="Damaged inputs per reader that are enough; no limit by default.")
    parser.add_argument("--workers", default="auto", help="Number of processes.")
    parser.add_argument("--seed", type=int, default=None, help="Random seed; a new one by default.")
    parser.add_argument("--kind", choices=list(corpus.KINDS), action="append", help="Only this kind; may be repeated.")
    parser.add_argument("--reader", action="append", help="Only this reader, such as 'gml'; may be repeated.")
    given_options = parser.parse_args()
    number = random.SystemRandom().randrange(2**32) if given_options.seed is None else given_options.seed
    readers = {kind: corpus.KINDS[kind].READERS for kind in given_options.kind or corpus.KINDS}
    if only := given_options.reader:
        readers = {kind: own for kind, names in readers.items() if (own := [name for name in names if name in only])}
    if not readers:
        parser.error(f"There is no reader {only[0]!r}.")
    workers = available_cores() if given_options.workers == "auto" else int(given_options.workers)
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        enough = float("inf") if given_options.damaged is None else given_options.damaged / workers
        tasks = [(readers, given_options.seconds, number + worker, enough) for worker in range(workers)]
        futures = [pool.submit(run_kinds, *task) for task in tasks]
        founds = [future.result() for future in futures]
    totals = {kind: [sum((found[kind][i] for found in founds), Counter()) for i in range(3)] for kind in readers}
    say(f"\n{_versions()}; {processor()}; seed {number}, {workers} workers\n")
    for sentence in not_tried():
        say(f"{sentence}\n")
    violations = _print_table(totals)
    sys.exit(1 if violations else 0)


def _print_table(totals: dict[str, list[Counter[str]]]) -> int:
    """Print one line per reader, and return the number of violations."""
    say("| kind | input | well-formed | damaged | refused | violations |\n|---|---|---:|---:|---:|---:|")
    for kind, (tried, *others) in totals.items():
        for reader in sorted({name.removesuffix(DAMAGED) for name in tried}):
            both = (reader, reader + DAMAGED)
            counts = [tried[name] for name in both]
            counts += [sum(of[name] for name in both) for of in others]
            say(f"| {kind} | {reader} | " + " | ".join(map(str, counts)) + " |")
    violations = sum(counts[-1].total() for counts in totals.values())
    say(f"\n{sum(counts[0].total() for counts in totals.values())} inputs, {violations} violations")
    return violations


def _versions() -> str:
    packages = ("numpy", "pandas", "pyarrow", "networkx", "msgspec", "hypothesis")
    ours = [f"golem {golem.__version__}", f"Python {platform.python_version()}"]
    return ", ".join([*ours, *(f"{name} {version(name)}" for name in packages)])


if __name__ == "__main__":
    main()
