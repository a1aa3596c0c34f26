"""The files of a result folder: graph.json, edges.csv, weights.csv, path.csv and figures. Plain, safe to read back."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from golem.assessment.selection import Selection
from golem.estimator.golem import Golem
from golem.graphs.formats.csv_tables import write_matrix
from golem.graphs.graph_document import GraphDocument
from golem.output.document import FROM_BOOTSTRAP, Edge, Supplement, describe
from golem.runtime.files import csv_text, replacing, write_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# What a fit writes into its folder; the last two only where settings were chosen.
RESULT_FILES = ("graph.json", "edges.csv", "weights.csv", "graph.png", "report.html", "path.csv", "path.png")


def save(model: Golem, folder: str | Path, supplement: Supplement | None = None) -> list[Path]:
    """Write graph.json, edges.csv and weights.csv into a folder, each whole or not at all."""
    return save_document(describe(model, supplement), folder)


def save_document(document: GraphDocument, folder: str | Path) -> list[Path]:
    """Write graph.json, edges.csv and weights.csv of a model that has been described."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    header = [field.name for field in dataclasses.fields(Edge)]
    if document.bootstrap is None:
        header = header[: -len(FROM_BOOTSTRAP)]
    table = [[edge[name] for name in header] for edge in document.edge_table]
    contents = {
        "graph.json": document.text(),
        "edges.csv": csv_text([header, *table]),
        "weights.csv": write_matrix(document.graph()),
    }
    for name, content in contents.items():
        write_text(folder / name, content)
    return [folder / name for name in contents]


def path_text(selection: Selection) -> str:
    """Text of a CSV file with a row a setting."""
    return csv_text([list(selection.path[0]), *(list(row.values()) for row in selection.path)])


def save_figure(draw: Callable[[Figure], Any], path: Path) -> None:
    """Draw into a new figure, which needs no screen, and write it."""
    from matplotlib.figure import Figure

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fonts that lack a letter of a name
        figure = Figure()
        draw(figure)
        with replacing(path) as temporary:
            figure.savefig(temporary, dpi=150)
