"""The report: one HTML page about a learned graph.

>>> from golem import Golem
>>> from golem.datasets import load_sachs
>>> Golem().fit(load_sachs().table).report("report.html")  # doctest: +SKIP
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from golem.graphs.graph_document import GraphDocument
from golem.graphs.named_graph import NamedGraph
from golem.output.document import Supplement, describe
from golem.output.report.content import model_content
from golem.output.report.page import render
from golem.runtime.files import write_text
from golem.runtime.version import __version__

if TYPE_CHECKING:
    from golem.estimator.golem import Golem

__all__ = ["report_document", "report_model", "write_page"]


def report_model(model: Golem, path: str | Path, supplement: Supplement | None = None, **options: Any) -> Path:
    """Write the page of a fitted model.

    Parameters
    ----------
    model : Golem
        A fitted model.
    path : str or Path
        The HTML file to write.
    supplement : Supplement, optional
        A bootstrap and a diagnosis of the model, to be shown with it.
    **options
        `truth`, `other` and `title`, as in `report_document`.
    """
    return report_document(describe(model, supplement), path, **options)


def report_document(
    document: GraphDocument,
    path: str | Path,
    *,
    truth: NamedGraph | None = None,
    other: tuple[str, NamedGraph] | None = None,
    title: str = "Learned graph",
) -> Path:
    """Write the page of a saved model.

    Parameters
    ----------
    document : GraphDocument
        The content of graph.json (`golem.graphs.formats.read_graph_document`); parts that were not computed are None.
    path : str or Path
        The HTML file to write, whole or not at all; its folder is made where there is none.
    truth : NamedGraph, optional
        The true graph, to tell right, missing, extra and reversed edges.
    other : tuple of str and NamedGraph, optional
        Another graph to compare with, and what to call it.
    title : str
        The heading.

    Raises
    ------
    ValueError
        If the truth or the other graph has variables that the document does not have, the truth a cycle, or the
        other an edge from a variable to itself.
    """
    content = model_content(document, truth, other)
    page = render("model.html", content, title=title, document=document.plain(), version=__version__)
    return write_page(Path(path), page)


def write_page(path: Path, page: str) -> Path:
    """Write a page, whole or not at all, into a folder that may be new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, page)
    return path
