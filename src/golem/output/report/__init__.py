"""The report: an HTML page about a learned graph.

>>> from golem import Golem
>>> from golem.datasets import load_sachs
>>> Golem().fit(load_sachs().table).report("report.html")  # doctest: +SKIP
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from golem.assessment.bootstrap_result import HALVES
from golem.assessment.diagnostics.edges import EdgeScatter, model_scatters
from golem.data.category_columns import read_coded
from golem.data.table_input import eager_frame, is_table
from golem.data.table_summary import TableSummary
from golem.graphs.graph_document import GraphDocument
from golem.graphs.named_graph import NamedGraph
from golem.output.document import SCORE_WORDS, Supplement, describe
from golem.output.report.content import model_content, scatter_plots
from golem.output.report.page import render
from golem.output.report.series_summary import summary_picture
from golem.output.report.words import report_words
from golem.runtime.files import write_text
from golem.runtime.version import __version__
from golem.score.sparsity import CRITERIA, L0

if TYPE_CHECKING:
    from golem.assessment.bootstrap_result import Bootstrap
    from golem.estimator.golem import Golem

__all__ = ["report_document", "report_model", "write_page"]


def report_model(
    model: Golem,
    path: str | Path,
    supplement: Supplement | None = None,
    *,
    bootstrap: Bootstrap | None = None,
    rows: Any = None,
    **options: Any,
) -> Path:
    """Write the report of a fitted model, with a bootstrap if one is given, and with what the supplement has.

    With `rows`, the table that the model was fitted to, the page summarizes its columns. It also has a scatter plot per
    edge, unless there are categories, and so contains values of up to 300 rows. `options` are `truth`, `other` and
    `title`, as in `report_document`.

    Examples
    --------
    >>> import tempfile
    >>> from golem import Golem
    >>> from golem.output.report import report_model
    >>> from golem.simulate import simulate
    >>> model = Golem().fit(simulate(4, 300, "ER1", random_state=0).data)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report_model(model, folder + "/report.html").name
    'report.html'
    """
    if bootstrap is not None:
        supplement = dataclasses.replace(supplement or Supplement(), bootstrap=bootstrap)
    if (supplement is None or supplement.table is None) and rows is not None:
        supplement = dataclasses.replace(supplement or Supplement(), table=_summary(rows, model.moments_.variables))
    scatters = [] if rows is None else model_scatters(model, rows)
    return report_document(describe(model, supplement), path, scatters=scatters, **options)


def _summary(rows: Any, names: tuple[str, ...]) -> TableSummary | None:
    """Return a summary of the columns of a table; None for arrays and for tables with other columns."""
    if not is_table(rows) or not set(names) <= set((frame := eager_frame(rows)).columns):
        return None
    with warnings.catch_warnings(action="ignore"):  # the fit gave the same ones
        table = read_coded(frame.select(*names).to_native())
    return TableSummary.of(table.coding, len(table.rows), table.rows, chosen=names)


def report_document(
    document: GraphDocument,
    path: str | Path,
    *,
    truth: NamedGraph | None = None,
    other: tuple[str, NamedGraph] | None = None,
    title: str = "Learned graph",
    scatters: Sequence[EdgeScatter] = (),
) -> Path:
    """Write the report of a graph document.

    Parameters
    ----------
    document : GraphDocument
        The content of graph.json, such as `FitResult.document`.
    path : str or Path
        The HTML file, written atomically; its folder is created if needed.
    truth : NamedGraph, optional
        The true graph, to mark true, missing, extra and reversed edges.
    other : tuple of str and NamedGraph, optional
        The name of another graph to compare with, and the graph.
    title : str
        The heading.
    scatters : sequence of EdgeScatter
        A scatter plot per edge, by the numbers of the variables.

    Raises
    ------
    ValueError
        If the truth or the other graph has variables that the document does not have, the truth has a cycle, or the
        other graph has an edge from a variable to itself.

    Examples
    --------
    >>> import tempfile
    >>> from golem.output.report import report_document
    >>> graph = GraphDocument(names=["rain", "wet"], edge_table=[{"source": "rain", "target": "wet", "weight": 0.5}])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report_document(graph, folder + "/report.html", title="My data").name
    'report.html'
    """
    content = model_content(document, truth, other) | {"scatters": scatter_plots(scatters)}
    try:
        words = SCORE_WORDS.get(document.score or "", document.score)
        page = render(
            "model.html",
            content,
            title=title,
            document=document.plain(),
            rows=document.rows,
            version=__version__,
            words=report_words(document, words),
            penalty=_first_penalty(document),
            halves=HALVES,
            summary=summary_picture(document),
        )
    except RecursionError:
        raise ValueError("The settings in the graph document are nested too deeply for a page.") from None
    return write_page(Path(path), page)


def _first_penalty(document: GraphDocument) -> float | None:
    """Return the penalty of a first cause between numbers, in units of the deviance; None if edges are not counted."""
    edge, n, d = (document.used or {}).get("edge_penalty"), document.n or 0, len(document.names)
    # That of a category depends on the number of its levels.
    numbers = d - sum(one.kind == "category" for one in document.variables or ())
    if not isinstance(edge, Mapping) or edge.get("criterion") not in CRITERIA or numbers < 2 or not 1 < n < 2**53:
        return None
    gamma = edge.get("gamma", 1.0)
    if not isinstance(gamma, int | float):
        return None
    none, one = L0(edge["criterion"], gamma).penalties(n, d)[:2]
    return float(one - none)


def write_page(path: Path, page: str) -> Path:
    """Write a page atomically; its folder is created if needed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from golem.output.report import write_page
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_page(pathlib.Path(folder, "new", "page.html"), "<p>Hello</p>").read_text()
    '<p>Hello</p>'
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, page)
    return path
