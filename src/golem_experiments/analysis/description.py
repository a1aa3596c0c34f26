"""What was run, in one line: the data, the seeds, the runs that were not completed, and the GPUs."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from golem.runtime.messages import counted
from golem_experiments.analysis.tables import cell_columns, distinct, done
from golem_experiments.experiment import Table

# Longer lists are abbreviated.
_MOST_VALUES = 7
# Columns that describe the data, in this order.
_COLUMNS = ("graph", "network", "preparation", "statement", "noise", "d", "nodes", "n", "weight_scale")


def what_was_run(table: Table) -> str:
    """Describe the runs of a table."""
    parts = [_values(name, distinct(table, name)) for name in _COLUMNS if distinct(table, name)]
    low, high = seeds_per_cell(table)
    parts.append(counted(high, "seed") if low == high else f"{low} to {high} seeds")
    missing = len(table) - len(done(table))
    parts.append(counted(len(table), "run") + (f", {missing} not completed" if missing else ""))
    devices = Counter(str(row["hardware"]).partition(";")[0] for row in table if row.get("device") == "cuda")
    parts += [f"{counted(count, 'run')} on {name}" for name, count in devices.items()]
    return "; ".join(parts)


def seeds_per_cell(table: Table) -> tuple[int, int]:
    """Return the smallest and the largest number of seeds that a method has completed in a cell."""
    seeds: dict[tuple[Any, ...], set[Any]] = defaultdict(set)
    for row in done(table):
        seeds[row["method"], *(row[name] for name in cell_columns(row))].add(row["seed"])
    counts = [len(some) for some in seeds.values()] or [0]
    return min(counts), max(counts)


def _values(name: str, values: list[Any]) -> str:
    """Write the values of a column, or their number and range if there are many."""
    if len(values) <= _MOST_VALUES:
        return f"{name} = {', '.join(map(str, values))}"
    if isinstance(values[0], str):
        return f"{len(values)} values of {name}"
    return f"{name} = {values[0]} to {values[-1]} ({len(values)} values)"
