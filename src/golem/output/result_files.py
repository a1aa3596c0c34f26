"""The files of a result folder: graph.json, edges.csv, weights.csv, path.csv and figures."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from golem.assessment.selection import Selection
from golem.estimator.golem import Golem
from golem.graphs.formats.csv_tables import write_matrix
from golem.graphs.graph_document import CoefficientRecord, GraphDocument
from golem.output.document import FROM_BOOTSTRAP, Edge, Supplement, describe
from golem.runtime.files import csv_text, replacing, write_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# All files that a fit writes into its folder; the last two only with a selection.
# `coefficients.csv` is for tables with categories, which have no `weights.csv`.
RESULT_FILES = (
    "graph.json", "edges.csv", "weights.csv", "coefficients.csv", "graph.png", "report.html", "path.csv", "path.png",
)  # fmt: skip
# A matrix of more variables would be a file of megabytes of zeros, and edges.csv has all edges.
LARGEST_MATRIX = 1000


def save(model: Golem, folder: str | Path, supplement: Supplement | None = None) -> list[Path]:
    """Write graph.json, edges.csv and, unless there are many variables, weights.csv into a folder, each atomically.

    Examples
    --------
    >>> from golem import Golem
    >>> from golem.simulate import simulate
    >>> drawn = simulate(4, 300, "ER1", random_state=0)
    >>> model = Golem().fit(drawn.data)
    >>> import tempfile
    >>> from golem.output import save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in save(model, folder)]
    ['graph.json', 'edges.csv', 'weights.csv']
    """
    return save_document(describe(model, supplement), folder)


def save_document(document: GraphDocument, folder: str | Path) -> list[Path]:
    """Write graph.json, edges.csv and, for at most `LARGEST_MATRIX` variables, weights.csv of a graph document.

    A table with categories has coefficients.csv instead of weights.csv, because not all of its edges have weights.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    hidden = [*(FROM_BOOTSTRAP if document.bootstrap is None else ())]
    hidden += ["edge_strength"] if document.coefficients is None else []
    header = [field.name for field in dataclasses.fields(Edge) if field.name not in hidden]
    table = [[edge[name] for name in header] for edge in document.edge_table]
    contents = {
        "graph.json": document.text(),
        "edges.csv": csv_text([header, *table]),
    }
    if document.coefficients is not None:
        columns = CoefficientRecord.__struct_fields__
        rows = [[getattr(one, name) for name in columns] for one in document.coefficients]
        contents["coefficients.csv"] = csv_text([list(columns), *rows])
    elif len(document.names) <= LARGEST_MATRIX:
        contents["weights.csv"] = write_matrix(document.graph())
    for name, content in contents.items():
        write_text(folder / name, content)
    return [folder / name for name in contents]


def path_text(selection: Selection) -> str:
    """Return the text of path.csv, with one row per setting."""
    return csv_text([list(selection.path[0]), *(list(row.values()) for row in selection.path)])


def save_figure(draw: Callable[[Figure], Any], path: Path) -> None:
    """Draw into a new figure, which needs no display, and write it."""
    from matplotlib.figure import Figure

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fonts without some letter of a name
        figure = Figure()
        draw(figure)
        with replacing(path) as temporary:
            figure.savefig(temporary, dpi=150)


def require_picture(path: Path) -> None:
    """Raise a ValueError, before the work begins, unless a name is that of a figure in a known format."""
    from matplotlib.backend_bases import FigureCanvasBase

    if path.is_dir() or path.suffix[1:].lower() not in FigureCanvasBase.get_supported_filetypes():
        raise ValueError(
            f"A figure cannot be written to {str(path)!r}. Name a file such as 'p.png', 'p.pdf' or 'p.svg'."
        )
