"""Write results/README.md from the tables of the experiments; a test fails if it is out of date.

Run with `make docs`, after `golem experiment NAME --plot -o results/NAME`.
"""

from __future__ import annotations

from pathlib import Path

from golem_experiments import EXPERIMENTS, load
from golem_experiments.analysis.claims import what_was_run
from golem_experiments.analysis.outputs import judge
from golem_experiments.analysis.tables import read_csv

RESULTS = Path(__file__).parents[1] / "results"
TITLE = """# Results

<!-- Generated from the tables by `make docs`; do not edit. -->

How many claims of each experiment hold. Each experiment has a page with the verdicts, the figures and the numbers. The
paper has 12 seeds everywhere. With fewer seeds a 95% interval is wide, and some claims stay undecided that look clear
in the figures.

| experiment | holds | does not hold | undecided | what was run |
|---|---|---|---|---|
"""
FILES = """## Files

Each folder here contains `verdict.md`, `figure.png` with the panels of the paper, `figure-all.png` if there are further
methods, `table.csv` with all rows, and `command.txt`. `golem experiment NAME --plot -o results/NAME` makes figures and
verdicts again from the table. [Experiments](../docs/experiments.md) explains how to run them and how claims are
judged."""


def summary() -> str:
    """Return the whole page."""
    lines, refuted, undecided = [], [], []
    for name in EXPERIMENTS:
        table = read_csv(RESULTS / name / "table.csv")
        found = judge(load(name), table)
        counts = [sum(one.holds is holds for one in found) for holds in (True, False, None)]
        lines.append(f"| [{name}]({name}/verdict.md) | {' | '.join(map(str, counts))} | {what_was_run(table)} |")
        refuted += [f"- **{name}**: {one.claim} {one.why}" for one in found if one.holds is False]
        undecided += [f"- **{name}**: {one.claim} {one.why}" for one in found if one.holds is None]
    parts = [TITLE + "\n".join(lines), "## Claims that do not hold", "\n".join(refuted)]
    parts += ["## Undecided claims", "\n".join(undecided), FILES]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    (RESULTS / "README.md").write_text(summary(), encoding="utf-8")
