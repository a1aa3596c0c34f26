"""Write docs/findings.md from the words next to the checks. A test fails if it is out of date; run `make docs`."""

from __future__ import annotations

from pathlib import Path

from golem.assessment.diagnostics.explanations import GROUPS

TITLE = """# Findings

<!-- Generated from src/golem/assessment/diagnostics/explanations.py by `make docs`; do not edit. -->

A finding is the result of a check of the table, the graph or the model. `golem fit` prints the most important ones, and
the report lists all. In Python:

    diagnosis = golem.diagnose(model, X)  # X: the rows, or a sample
    diagnosis.at("warning", "note")
    diagnosis["units"].finding, diagnosis["units"].remedy

A *warning* can make the graph wrong, a *note* is something to know, *ok* needs no action. Each heading is the name of a
finding; brackets say what its check needs. [How often findings appear](../benchmarks/diagnostics.md) with and without a
fault was measured.
"""


def page() -> str:
    """Return the whole page."""
    parts = [TITLE]
    for title, findings in GROUPS.items():
        parts.append(f"## {title}\n")
        for name, one in findings.items():
            needs = f" *(needs {one.needs})*" if one.needs and one.needs != title.lower() else ""
            parts.append(f"### {name}\n\n**{one.headline}**{needs} {one.meaning}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    (Path(__file__).parent / "findings.md").write_text(page(), encoding="utf-8")
