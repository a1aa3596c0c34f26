"""The result of a comparison: one row of numbers per method, the graphs, and where they agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from golem.comparison.other_packages import Estimate
from golem.graphs.edges import Edges
from golem.output.figures import NEGATIVE, NODE_EDGE, POSITIVE, TEXT
from golem.output.report import write_page
from golem.output.report.content import drawing, graph_entry, numbered_knowledge, plain_rows, rounded
from golem.output.report.page import render
from golem.runtime.files import csv_text, replacing, write_text
from golem.runtime.html_text import html_table
from golem.runtime.types import BoolMatrix
from golem.runtime.version import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COMPARISON_FILES = ("comparison.csv", "agreement.csv", "distances.csv", "comparison.png", "report.html")


@dataclass(frozen=True)
class Step:
    """The progress of a running comparison."""

    method: str
    number: int
    total: int
    seconds: float


@dataclass(frozen=True)
class Row:
    """One row of the table; numbers that do not exist are None.

    Parameters
    ----------
    method : str
        The name.
    edges : int
        Number of edges.
    shd, shd_c, sid, tpr : float
        Distances to the truth, if there is one (see `golem.metrics`). An undirected edge of an equivalence class is
        correct in SHD and TPR if the truth has it in either direction. An equivalence class has no SID.
    seconds : float
        Running time.
    bic : float
        BIC with least-squares weights and free noise variances; for an equivalence class, of one of its members. Not
        comparable across tables, nor across transformed columns.
    score : float
        Of a table with categories: the score in `Comparison.settings`, the same for all methods, in units of the
        deviance.
    score_ev, score_nv : float
        The paper's S(B) at the weights of the method, with equal and with free noise variances.
    status : str
        "done", "time limit", "error", "crashed", "not installed", "interrupted" or "not run".
    message : str
        The error, or how to install the package.
    """

    method: str
    edges: int | None = None
    shd: float | None = None
    shd_c: float | None = None
    sid: float | None = None
    tpr: float | None = None
    seconds: float | None = None
    bic: float | None = None
    score: float | None = None
    score_ev: float | None = None
    score_nv: float | None = None
    status: str = "done"
    message: str = ""


@dataclass(frozen=True, eq=False)
class Comparison:
    """The result of `compare`.

    Parameters
    ----------
    names : tuple of str
        The variables.
    rows : tuple of Row
        One per method, in the given order.
    estimates : dict of str to Estimate
        The graphs of the methods that finished.
    truth : ndarray of shape (d, d), bool, optional
        The true graph.
    warnings : dict of str to tuple of str
        Each warning, with the methods that gave it.
    settings : mapping
        Settings to repeat the comparison, as JSON: the number of rows `n`, `missing`, `time_limit`, `knowledge` (by
        column names), `versions`, and of a table with categories the `score` by which the graphs are compared.
    left_out : dict of str to tuple of str
        The methods that were left out by default because they cannot use the table, by the reason why.

    Examples
    --------
    >>> import golem
    >>> result = golem.compare(golem.datasets.load_sachs().table, ["order", "pc"])  # doctest: +SKIP
    >>> [(row.method, row.edges) for row in result.rows]  # doctest: +SKIP
    [('order', 8), ('pc', 8)]
    >>> edges, distances = result.agreement(), result.distances()  # doctest: +SKIP
    >>> files = result.save("folder")  # doctest: +SKIP
    """

    names: tuple[str, ...]
    rows: tuple[Row, ...]
    estimates: dict[str, Estimate]
    truth: BoolMatrix | None
    warnings: dict[str, tuple[str, ...]]
    settings: Mapping[str, Any] = field(default_factory=dict)
    left_out: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def interrupted(self) -> bool:
        """Whether the user stopped the comparison."""
        return any(row.status == "interrupted" for row in self.rows)

    def graphs(self) -> dict[str, BoolMatrix]:
        """Return the graphs by method, with links in both directions; the truth, if there is one, comes first."""
        found = {name: estimate.partially_directed() for name, estimate in self.estimates.items()}
        return found if self.truth is None else {"truth": self.truth} | found

    def agreement(self) -> list[dict[str, Any]]:
        """List the edges of all methods, most frequent first.

        Each has `source` and `target` (in the direction of most methods), the number of `methods` that connect the two,
        and for every method and the truth "->", "<-", "--" (a link, or both directions) or "".
        """
        graphs, d = self.graphs(), len(self.names)
        learned = np.array([graphs[name] for name in self.estimates], dtype=bool).reshape(-1, d, d)
        table = []
        joined = np.any([graph | graph.T for graph in graphs.values()], axis=0) if graphs else np.zeros((0, 0), bool)
        for i, j in np.argwhere(np.triu(joined)):
            if learned[:, j, i].sum() > learned[:, i, j].sum():
                i, j = j, i
            marks = {name: _mark(graph, i, j) for name, graph in graphs.items()}
            count = int(np.sum(learned[:, i, j] | learned[:, j, i]))
            table.append({"source": self.names[i], "target": self.names[j], "methods": count} | marks)
        return sorted(table, key=lambda edge: -edge["methods"])

    def distances(self) -> tuple[list[str], NDArray[np.int_]]:
        """Return the names and the pairwise SHD of the graphs; an undirected edge matches both directions."""
        graphs = self.graphs()
        names = list(graphs)
        result = np.zeros((len(names), len(names)), dtype=int)
        for a, first in enumerate(graphs.values()):
            for b, second in enumerate(graphs.values()):
                open_pair = (first & first.T) | (second & second.T)
                joined = (first | first.T) & (second | second.T)
                different = (first != second) & ~(open_pair & joined)
                result[a, b] = np.sum(np.triu(different | different.T))
        return names, result

    def save(self, folder: str | Path) -> list[Path]:
        """Write comparison.csv, agreement.csv, distances.csv and comparison.png into a folder."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        names, distances = self.distances()
        marks = ["source", "target", "methods", *self.graphs()]
        contents = {
            "comparison.csv": [list(vars(Row(""))), *(list(vars(row).values()) for row in self.rows)],
            "agreement.csv": [marks, *([edge[name] for name in marks] for edge in self.agreement())],
            "distances.csv": [["", *names], *([name, *line] for name, line in zip(names, distances, strict=True))],
        }
        for name, content in contents.items():
            write_text(folder / name, csv_text(content))
        with replacing(folder / "comparison.png") as temporary:
            plot_comparison(self).savefig(temporary, dpi=150)
        return [*(folder / name for name in contents), folder / "comparison.png"]

    def _table(self) -> list[list[str]]:
        """Return the headings, and the numbers of each method as text."""
        measure = "score" if self.settings.get("score") else "BIC"
        # Rows from several environments have no BIC.
        given = any(getattr(row, measure.lower()) is not None for row in self.rows)
        headings = ["method", "edges", *([measure] if given else []), "seconds"]
        headings += [] if self.truth is None else ["SHD", "SHD-C", "SID", "TPR"]
        columns = [heading.lower().replace("-", "_") for heading in headings]
        return [headings, *([_shown(row, column) for column in columns] for row in self.rows)]

    def _repr_html_(self) -> str:
        """Show the table in notebooks, with what went wrong in a last column."""
        headings, *lines = self._table()
        notes = ["" if row.status == "done" else f"{row.status}: {row.message}".rstrip(": ") for row in self.rows]
        return html_table([*headings, ""], [[*line, note] for line, note in zip(lines, notes, strict=True)])

    def __str__(self) -> str:
        """Return the table as text."""
        lines = self._table()
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = []
        for number, line in enumerate(lines):
            numbers = [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
            row = None if number == 0 else self.rows[number - 1]
            note = "" if row is None or row.status == "done" else f"{row.status}: {row.message}".rstrip(": ")
            # Without numbers there is room for the note.
            text.append("  ".join([line[0].ljust(widths[0]), *(numbers if any(line[1:]) else []), note]).rstrip())
        return "\n".join(text)


def _mark(graph: BoolMatrix, i: int, j: int) -> str:
    if graph[i, j]:
        return "--" if graph[j, i] else "->"
    return "<-" if graph[j, i] else ""


def _shown(row: Row, column: str) -> str:
    """Write a number for the table."""
    value = getattr(row, column)
    if value is None:
        return ""
    if isinstance(value, str | int):
        return str(value)
    formats = {"seconds": ".3g", "bic": ".1f", "score": ".1f", "tpr": ".3f"}
    return format(value, formats.get(column, ".0f"))


def report_comparison(comparison: Comparison, path: str | Path, *, title: str = "Methods compared") -> Path:
    """Write a page that compares the graphs of the methods with the truth and with each other.

    Raises
    ------
    ValueError
        If every method failed.
    """
    if not comparison.estimates:
        raise ValueError("Every method failed, so there is nothing to draw. See the status of each method.")
    content = comparison_content(comparison)
    page = render("comparison.html", content, title=title, comparison=comparison, version=__version__)
    return write_page(Path(path), page)


def comparison_content(comparison: Comparison) -> dict[str, Any]:
    """Return the data of the page."""
    names = comparison.names
    graphs = [
        graph_entry(method, plain_rows(estimate.graph, names, estimate.weights, estimate.direction_from), names)
        for method, estimate in comparison.estimates.items()
    ]
    if comparison.truth is not None:
        graphs.append(graph_entry("truth", plain_rows(comparison.truth, names), names))
    labels, distances = comparison.distances()
    knowledge = comparison.settings.get("knowledge")
    return (
        drawing(names, Edges.from_matrix(_common_graph(comparison)), knowledge)
        | numbered_knowledge(knowledge, names)
        | {
            "kind": "comparison",
            "graphs": graphs,
            "truth": len(graphs) - 1 if comparison.truth is not None else None,
            "candidates": [],
            "chosen": 0.0,
            "measure": "weight",
            "methods": rounded([vars(row) for row in comparison.rows]),
            "distances": {"names": labels, "values": distances.tolist()},
            "agreement": comparison.agreement(),
        }
    )


def _common_graph(comparison: Comparison) -> BoolMatrix:
    """Return the graph that determines the layout: the truth, or the edges of at least half of the methods."""
    d = len(comparison.names)
    if comparison.truth is not None:
        return comparison.truth
    learned = np.array([estimate.graph for estimate in comparison.estimates.values()]).reshape(-1, d, d)
    joined = (learned | learned.transpose(0, 2, 1)).sum(axis=0) * 2 >= max(1, len(learned))
    votes = learned.sum(axis=0)
    forward = (votes > votes.T) | ((votes == votes.T) & np.triu(np.ones((d, d), dtype=bool)))
    return np.asarray(joined & forward & (votes > 0))


def plot_comparison(comparison: Comparison) -> Figure:
    """Draw the errors (or the numbers of edges, without a truth), the times, and the pairwise SHD.

    Examples
    --------
    >>> from golem.comparison import Comparison
    >>> from golem.plots import plot_comparison
    >>> len(plot_comparison(Comparison(("a", "b"), (), {}, None, {})).axes)
    3
    """
    from matplotlib.figure import Figure

    rows = [row for row in comparison.rows if row.edges is not None][::-1]
    names, distances = comparison.distances()
    figure = Figure(figsize=(13, max(3.2, 0.34 * len(names) + 1.8)), layout="constrained")
    errors, times, pairs = figure.subplots(1, 3, width_ratios=[1, 1, 1.3])
    places = np.arange(len(rows))
    if comparison.truth is None:
        errors.barh(places, [row.edges for row in rows], color=POSITIVE)
        errors.set_xlabel("edges")
    else:
        bars = (("SHD", "shd", POSITIVE, 0.2), ("SHD-C", "shd_c", NEGATIVE, -0.2))
        for label, key, colour, offset in bars:
            values = [np.nan if getattr(row, key) is None else getattr(row, key) for row in rows]
            errors.barh(places + offset, values, height=0.4, color=colour, label=label)
        errors.legend(frameon=False, fontsize=8)
        errors.set_xlabel("errors compared with the truth")
    errors.set_yticks(places, [row.method for row in rows], fontsize=8)
    times.barh(places, [row.seconds for row in rows], color=NODE_EDGE)
    times.set_yticks(places, [""] * len(rows))
    times.set_xlabel("seconds")
    if rows:
        times.set_xscale("log")
    if names:
        pairs.imshow(distances, cmap="Blues", interpolation="nearest", aspect="auto")
    pairs.set_xticks(range(len(names)), names, rotation=90, fontsize=7)
    pairs.set_yticks(range(len(names)), names, fontsize=7)
    middle = distances.max(initial=0) / 2
    for (a, b), value in np.ndenumerate(distances):
        pairs.text(b, a, str(value), ha="center", va="center", fontsize=6, color="white" if value > middle else TEXT)
    pairs.set_title("number of different edges, for each pair of methods", fontsize=9)
    for axes in (errors, times):
        axes.spines[["top", "right"]].set_visible(False)
    return figure
