"""Claim: `golem fit` reads files of any length in under 1.5 GB of memory, at over 60% of the speed of a plain read.

Write a table of 50 columns, drawn from a random graph, as a folder of Parquet files with PyArrow's default settings,
and the same rows as CSV. Then measure, alternating and each in its own process: `golem fit` on the folder, with its
seconds and its peak resident memory as the system counts it; only the pass (`moments_from_file`); and PyArrow reading
the same columns of the same files in batches, with its own settings and with those of the pass. Files are in the page
cache as far as they fit. If other jobs run, processor time per row is more informative than seconds.

    python benchmarks/streaming.py --quick                          # 0.2 GB, under a minute
    python benchmarks/streaming.py --gigabytes 6 --folder /scratch  # 6 GB of Parquet, then 14 GB of CSV
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

import golem
from golem.metrics import evaluate
from golem.model.linear_sem import LinearSEM
from golem.readers import read_graph
from golem.runtime.machine import available_cores
from golem.simulate import random_sem

ROWS_A_FILE = 1 << 20
BYTES_PER_ROW = 400  # 50 columns of random numbers, which Parquet cannot compress
CLOCK = """
import json, pathlib, sys, time
import pyarrow as pa, pyarrow.csv as pacsv, pyarrow.parquet as pq
from golem.readers import moments_from_file
folder, began, worked, n = pathlib.Path(sys.argv[1]), time.perf_counter(), time.process_time(), 0
{}
print(json.dumps([n, time.perf_counter() - began, time.process_time() - worked]))
"""
PASS = CLOCK.format("n = moments_from_file(folder).n")
READ = """
for path in sorted(folder.iterdir()):
    if path.suffix == ".parquet":
        with pq.ParquetFile(path, **{parquet}) as file:
            n += sum(batch.num_rows for batch in file.iter_batches(65536))
    else:
        columns = path.open().readline().strip().replace('"', "").split(",")
        floats = pacsv.ConvertOptions(column_types=dict.fromkeys(columns, pa.float64()))
        with pacsv.open_csv(path, pacsv.ReadOptions(**{csv}), convert_options=floats) as file:
            n += sum(batch.num_rows for batch in file)
"""
# With PyArrow's default settings, and with those of the pass: windows of row groups, large blocks.
PLAIN = CLOCK.format(READ.format(parquet={}, csv={}))
TUNED = CLOCK.format(READ.format(parquet={"buffer_size": 1 << 18, "pre_buffer": False}, csv={"block_size": 1 << 25}))


def run(command: list[str]) -> tuple[str, float, float]:
    """Run a command; return what it printed, its seconds and its peak resident memory in GB."""
    began = time.perf_counter()
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            raise SystemExit(f"{' '.join(command[:4])} ended with status {status}")
        output.seek(0)
        return output.read(), time.perf_counter() - began, usage.ru_maxrss * 1024 / 1e9


def elsewhere(function: Callable[..., None], *arguments: Any) -> None:
    """Call a function in another process: the system counts the peak of this one as that of the children it starts."""
    process = multiprocessing.get_context("spawn").Process(target=function, args=arguments)
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit(f"{function.__name__} failed")


def write_parquet(folder: Path, sem: LinearSEM, rows: int) -> None:
    """Write the table in files of about half a gigabyte."""
    folder.mkdir()
    rng = np.random.default_rng(1)
    for k, start in enumerate(range(0, rows, ROWS_A_FILE)):
        X = sem.sample(min(ROWS_A_FILE, rows - start), rng)
        pq.write_table(pa.table(list(X.T), names=list(sem.names)), folder / f"part-{k:03}.parquet")


def write_csv(folder: Path, source: Path) -> None:
    """Write the same rows as text, file by file."""
    folder.mkdir()
    for path in sorted(source.iterdir()):
        file = pq.ParquetFile(path)
        with pacsv.CSVWriter(folder / f"{path.stem}.csv", file.schema_arrow) as writer:
            for batch in file.iter_batches():
                writer.write_batch(batch)


def measure(folder: Path, truth: LinearSEM, repetitions: int) -> None:
    """Print a row of the table."""
    size = sum(path.stat().st_size for path in folder.iterdir()) / 1e9
    output = folder.parent / "out"
    clocks: dict[str, list[tuple[float, float]]] = {PASS: [], PLAIN: [], TUNED: []}
    fits = []
    for _ in range(repetitions):
        # Alternate, so that other work on the machine affects all of them.
        for code, clock in clocks.items():
            n, *times = json.loads(run([sys.executable, "-c", code, str(folder)])[0])
            clock.append(times)
        _, *about = run([sys.executable, "-m", "golem", "fit", str(folder), "-o", str(output), "-q"])
        fits.append(about)
    seconds, cpu = np.median(list(clocks.values()), axis=1).T
    scores = evaluate(truth.weights, read_graph(output / "graph.json").weights)
    cells = [
        folder.name,
        f"{size:.1f}",
        f"{n / 1e6:.1f}",
        f"{np.median([s for s, _ in fits]):.0f}",
        f"{max(peak for _, peak in fits):.2f}",
        *(f"{speed:.2f}" for speed in n / seconds / 1e6),
        f"{seconds[1] / seconds[0]:.0%}",
        f"{seconds[2] / seconds[0]:.0%}",
        " / ".join(f"{each:.2f}" for each in cpu / n * 1e6),
        f"{scores.shd_c:.0f}",
    ]
    print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Write the files, print the table, remove the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--gigabytes", type=float, default=6.0, help="size of the Parquet files")
    parser.add_argument("--folder", type=Path, help="folder for the files, which are removed afterwards")
    parser.add_argument("--formats", nargs="+", choices=["parquet", "csv"], default=["parquet", "csv"])
    parser.add_argument("--repetitions", type=int, default=3)
    options = parser.parse_args()
    gigabytes = 0.2 if options.quick else options.gigabytes
    free = shutil.disk_usage(options.folder or tempfile.gettempdir()).free / 1e9
    if free < 4 * gigabytes:
        raise SystemExit(f"{free:.0f} GB of disk are free; {4 * gigabytes:.0f} are needed")
    print(
        f"golem {golem.__version__}, pyarrow {pa.__version__}, numpy {np.__version__}, "
        f"Python {platform.python_version()}, {available_cores()} cores"
    )
    speeds = "10^6 rows/s | plain | tuned | of plain | of tuned | CPU us/row"
    print(f"| files | GB | 10^6 rows | fit, s | peak, GB | {speeds} | SHD-C |")
    print("|---" * 12 + "|")
    sem = random_sem(50, "ER2", "gaussian-nv", random_state=0)
    with tempfile.TemporaryDirectory(dir=options.folder) as scratch:
        parquet, text = Path(scratch) / "parquet", Path(scratch) / "csv"
        elsewhere(write_parquet, parquet, sem, int(gigabytes * 1e9 / BYTES_PER_ROW))
        if "parquet" in options.formats:
            measure(parquet, sem, options.repetitions)
        if "csv" in options.formats:
            elsewhere(write_csv, text, parquet)
            shutil.rmtree(parquet)
            measure(text, sem, options.repetitions)


if __name__ == "__main__":
    main()
