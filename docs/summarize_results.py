"""Write results/README.md and the claims of docs/paper.md from the tables of the experiments; tests check both.

Run with `make docs`, after `golem experiment NAME --plot -o results/NAME`.
"""

from __future__ import annotations

from pathlib import Path

from golem_experiments import EXPERIMENTS, Verdict, load
from golem_experiments.analysis.claims import what_was_run
from golem_experiments.analysis.outputs import judge
from golem_experiments.analysis.tables import read_csv
from golem_experiments.experiment import Value

HERE = Path(__file__).parent
RESULTS = HERE.parent / "results"
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
verdicts again from the table. [Running experiments](running.md) explains the files, and
[The paper reproduced](../docs/paper.md) how claims are judged."""


# What each experiment examines, in the words of a reader; the others are beyond the paper.
OF_THE_PAPER = {
    "bivariate": "Two variables (proposition 1, figure 2, appendix E)",
    "theory": "The theorems, on all graphs of 3 and 4 nodes (section 3, appendix A)",
    "constraints": "The penalties on edges and cycles (section 5.1, figures 4 and 5)",
    "initialization": "Where GOLEM-NV starts (section 4.1)",
    "identifiable": "Equal noise variances, all methods (section 5.2, figures 1 and 6)",
    "nonidentifiable": "Unequal noise variances (section 5.3, figure 7)",
    "scalability": "Up to 3200 variables (section 5.4, figure 8)",
    "weight-scale": "Small weights (section 5.5, figure 9)",
    "sachs": "The protein data (section 5.6)",
    "penalties": "The coefficients of the penalties (appendix F)",
}
BEYOND = {
    "standardized": "the same data in other units",
    "networks": "networks from applications",
    "discrete": "tables of categories",
    "robustness": "violated assumptions",
    "interventions": "experiments",
    "series": "time series",
}
# Claims of these experiments that are ours begin so.
FURTHER = "Beyond the paper"
BEGIN = "<!-- claims: generated from results/ by `make docs`; do not edit -->\n"
END = "<!-- end of claims -->\n"


def judged() -> dict[str, tuple[list[dict[str, Value]], list[Verdict]]]:
    """Return the table and the verdicts of each experiment."""
    tables = {name: read_csv(RESULTS / name / "table.csv") for name in EXPERIMENTS}
    return {name: (table, judge(load(name), table)) for name, table in tables.items()}


def claims_page() -> str:
    """Return docs/paper.md with the claims of today."""
    parts, found = [BEGIN], {name: verdicts for name, (_, verdicts) in judged().items()}
    for name, title in OF_THE_PAPER.items():
        parts.append(f"## {title}\n\n| claim | [{name}](../results/{name}/verdict.md) |\n|---|---|")
        parts += [f"| {one.claim} | {one.word} |" for one in found[name] if not one.claim.startswith(FURTHER)]
        parts.append("")
    parts.append("## Beyond the paper\n\n| experiment | holds | does not hold | undecided |\n|---|---|---|---|")
    further = [one for name in OF_THE_PAPER for one in found[name] if one.claim.startswith(FURTHER)]
    parts.append(f"| further claims of the experiments above | {_counts(further)} |")
    parts += [
        f"| [{name}](../results/{name}/verdict.md): {title} | {_counts(found[name])} |"
        for name, title in BEYOND.items()
    ]
    old = (HERE / "paper.md").read_text(encoding="utf-8")
    return old[: old.index(BEGIN)] + "\n".join(parts) + "\n\n" + old[old.index(END) :]


def _counts(verdicts: list[Verdict]) -> str:
    """Return how many claims hold, do not hold and are undecided, as cells."""
    return " | ".join(str(sum(one.holds is holds for one in verdicts)) for holds in (True, False, None))


def summary() -> str:
    """Return the whole page of results/README.md."""
    lines, refuted = [], []
    for name, (table, found) in judged().items():
        lines.append(f"| [{name}]({name}/verdict.md) | {_counts(found)} | {what_was_run(table)} |")
        refuted += [f"- **{name}**: {one.claim} {one.why}" for one in found if one.holds is False]
    parts = [TITLE + "\n".join(lines), "## Claims that do not hold", "\n".join(refuted)]
    return "\n\n".join([*parts, FILES]) + "\n"


if __name__ == "__main__":
    (RESULTS / "README.md").write_text(summary(), encoding="utf-8")
    (HERE / "paper.md").write_text(claims_page(), encoding="utf-8")
