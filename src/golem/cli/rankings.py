"""Ranked tables in the terminal: the path of penalties, and the most useful experiments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from golem.cli.terminal import name_cell, out, print_table
from golem.runtime.dialects import SHELL
from golem.runtime.problems import told

if TYPE_CHECKING:
    from rich.table import Table

    from golem.assessment.selection import Selection
    from golem.graphs.graph_document import GraphDocument

_MOST_EXPERIMENTS = 5


def print_path(selection: Selection) -> None:
    """Print the path of penalties as a table, and the choice."""
    score, rule = {
        "bic": ("criterion", "the information criterion (lowest)"),
        "cv": ("log-likelihood", "held-out log-likelihood (sparsest graph within one standard error of the best)"),
        "stability": ("agreement", "agreement between halves of the rows (sparsest graph close to the best)"),
    }[selection.method]
    words = {"edge_penalty": "penalty per edge (deviance)", "expected_false": "expected false edges", "score": score}
    words["standard_error"] = "std. error of difference from best"
    out.print(f"Penalty chosen by {rule}")
    hidden = {"chosen"} | ({"lambda_sparsity"} if "edge_penalty" in selection.path[0] else set())
    columns = [name for name in selection.path[0] if name not in hidden]
    table = _plain_table(*(words.get(name, name.replace("_", " ")) for name in columns))
    table.add_column("")
    for row in selection.path:
        table.add_row(*(_setting(row[name]) for name in columns), "<- chosen" if row["chosen"] else "")
    print_table(table)
    options = " ".join(f"--{name.replace('_', '-')} {_setting(value)}" for name, value in selection.chosen.items())
    unit = " (penalty per edge / 2n, for n rows)" if "lambda_sparsity" in hidden else ""
    out.print(f"To repeat this choice: {options}{unit}")
    if selection.note:
        out.print(f"Note: {told(selection.note, SHELL)}")
    out.print()


def print_next_experiment(document: GraphDocument) -> None:
    """Print which interventions would decide most of the undecided directions."""
    ranking = document.next_experiment or []
    if not ranking:
        return
    shown = ranking[: out.most(_MOST_EXPERIMENTS)]
    out.print(
        "\nHow many undecided directions would an experiment decide? One row per variable you could intervene on: the "
        "average and the minimum over the graphs that fit equally well.",
        soft_wrap=True,
    )
    table = _plain_table("average", "minimum", first="variable")
    for row in shown:
        table.add_row(name_cell(row.variable), f"{row.decided:.1f}", str(row.least))
    print_table(table)


def _plain_table(*headings: str, first: str | None = None) -> Table:
    """Return a table of numbers without lines; with a column of names if `first` is its heading."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    if first is not None:
        table.add_column(first, overflow="fold")
    for heading in headings:
        table.add_column(heading, justify="right")
    return table


def _setting(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
