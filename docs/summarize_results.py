"""Write docs/results/README.md from the tables of the experiments; a test fails if it is out of date.

Run with `make docs`, after `golem experiment NAME --plot -o docs/results/NAME`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from golem.experiments import EXPERIMENTS, load
from golem.experiments.analysis.outputs import judge
from golem.experiments.analysis.tables import cell_columns, distinct, done, read_csv
from golem.experiments.experiment import Table

RESULTS = Path(__file__).parent / "results"
TITLE = """# Results

Generated from the tables by `make docs`; do not edit.

Each experiment has a folder with `verdict.md` (the commands, what was run and where, each claim with its numbers and
its verdict), `figure.png` and `figure.svg`, and `table.csv` with all rows. `golem experiment NAME --plot -o
docs/results/NAME` makes figure and verdict again from the table. [experiments.md](../experiments.md) explains how to
run the experiments and how claims are judged. The paper has 12 seeds everywhere. With fewer seeds a 95% interval is
wide, and some claims stay undecided that look clear in the figures.

| experiment | what was run | holds | does not hold | undecided |
|---|---|---|---|---|
"""
# Longer lists are abbreviated.
MOST_VALUES = 7
# Columns that describe the data, in this order.
COLUMNS = ("graph", "network", "preparation", "statement", "noise", "d", "nodes", "n", "weight_scale")


def summary() -> str:
    """Return the whole page."""
    lines, refuted, undecided = [], [], []
    for name in EXPERIMENTS:
        table = read_csv(RESULTS / name / "table.csv")
        found = judge(load(name), table)
        counts = [sum(one.holds is holds for one in found) for holds in (True, False, None)]
        lines.append(f"| [{name}]({name}/verdict.md) | {what_was_run(table)} | {' | '.join(map(str, counts))} |")
        refuted += [f"- **{name}**: {one.claim} {one.measured}." for one in found if one.holds is False]
        undecided += [f"- **{name}**: {one.claim}" for one in found if one.holds is None]
    parts = [TITLE + "\n".join(lines), "## Claims that do not hold", "\n".join(refuted)]
    parts += ["## Undecided claims", "Each `verdict.md` has the numbers.", "\n".join(undecided)]
    return "\n\n".join(parts) + "\n"


def what_was_run(table: Table) -> str:
    """Describe the data, the numbers of seeds, the runs that were not completed, and the GPUs."""
    parts = [described(name, distinct(table, name)) for name in COLUMNS if distinct(table, name)]
    seeds: dict[tuple[Any, ...], set[Any]] = defaultdict(set)
    for row in done(table):
        seeds[row["method"], *(row[name] for name in cell_columns(row))].add(row["seed"])
    low, high = (extreme(map(len, seeds.values())) for extreme in (min, max))
    parts.append(f"{high} seeds" if low == high else f"{low} to {high} seeds")
    missing = len(table) - len(done(table))
    parts.append(f"{len(table)} runs" + (f", {missing} not completed" if missing else ""))
    devices = Counter(str(row["hardware"]).partition(";")[0] for row in table if row.get("device") == "cuda")
    parts += [f"{count} runs on {name}" for name, count in devices.items()]
    return "; ".join(parts)


def described(name: str, values: list[Any]) -> str:
    """Write the values of a column, or their number and range if there are many."""
    if len(values) <= MOST_VALUES:
        return f"{name} = {', '.join(map(str, values))}"
    if isinstance(values[0], str):
        return f"{len(values)} values of {name}"
    return f"{name} = {values[0]} to {values[-1]} ({len(values)} values)"


if __name__ == "__main__":
    (RESULTS / "README.md").write_text(summary(), encoding="utf-8")
