"""Claim: the moments of lagged rows of a panel in a file are those in memory to 1e-10, in less than 1.5 GB of memory.

    python benchmarks/series_streaming.py [--quick]

A panel of 20 million rows and 20 columns (2 million with --quick) is drawn, 100 rows per unit, and written to a Parquet
file. A process of its own reads it with 2 lags and an intercept per unit. The reference is computed while drawing, from
arrays with one axis per unit. Memory is the largest resident set of the process that reads. On two cores of an AMD EPYC
(golem 0.1.0, NumPy 2.4.6, PyArrow 26.0.1): 17 s, 0.71 GB, largest difference 6.8e-16.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from golem.data.panels import unit_means
from golem.model.series_simulation import sample_series, simulate_series

D, LAGS, PERIODS, UNITS = 20, 2, 100, 2000
READ = """
import json, resource, sys, time
from golem.data.reading import Reading
from golem.data.series_reading import SeriesChoice
from golem.data.source import Purpose, open_source
from golem.workflow.steps import SILENT
import golem.data.source
golem.data.source.ROWS_UP_TO = 0
began, cpu = time.perf_counter(), time.process_time()
choice = SeriesChoice(int(sys.argv[2]), "time", "unit")
table = open_source([sys.argv[1]], Reading(), Purpose(halved=True), series=choice).read("error", SILENT)
print(json.dumps({
    "seconds": time.perf_counter() - began, "cpu": time.process_time() - cpu, "n": table.n,
    "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    "covariance": table.parts[0].moments.covariance.tolist(),
}))
"""


def write(path: Path, blocks: int) -> np.ndarray:
    """Write the panel, and return the covariance of its centred windows, corrected for the means of units."""
    model = simulate_series(D, 100, lags=LAGS, random_state=0)
    rng, writer, total = np.random.default_rng(1), None, 0
    time = np.tile(np.arange(PERIODS), UNITS)
    for block in range(blocks):
        rows = sample_series(model.present, model.past, UNITS * PERIODS, units=UNITS, random_state=rng)
        units = block * UNITS + np.repeat(np.arange(UNITS), PERIODS)
        table = pa.table({f"x{j}": rows[:, j] for j in range(D)} | {"unit": units, "time": time})
        writer = writer or pq.ParquetWriter(path, table.schema, compression="none")
        writer.write_table(table)
        cube = rows.reshape(UNITS, PERIODS, D)
        windows = np.concatenate([cube[:, LAGS - k : PERIODS - k] for k in range(LAGS + 1)], axis=2)
        centred = (windows - windows.mean(axis=1, keepdims=True)).reshape(-1, D * (LAGS + 1))
        total = total + centred.T @ centred
    writer.close()
    raw = total / (blocks * UNITS * (PERIODS - LAGS))
    return raw + unit_means(raw, np.full(blocks * UNITS, float(PERIODS - LAGS)), D, LAGS).bias


def main() -> None:
    """Draw, read in another process, and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    blocks = 10 if parser.parse_args().quick else 100
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "panel.parquet")
        expected = write(path, blocks)
        size = path.stat().st_size / 2**30
        done = subprocess.run(
            [sys.executable, "-c", READ, str(path), str(LAGS)], capture_output=True, text=True, check=True
        )
    found = json.loads(done.stdout)
    error = np.abs(np.array(found["covariance"]) - expected).max() / np.abs(expected).max()
    print(
        f"{blocks * UNITS * PERIODS:,} rows x {D} columns ({size:.1f} GB), {LAGS} lags: {found['seconds']:.0f} s "
        f"({found['cpu']:.0f} s of processors), {found['gigabytes']:.2f} GB of memory, largest difference {error:.1e}"
    )


if __name__ == "__main__":
    main()
