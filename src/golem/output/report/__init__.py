"""The report: one HTML page about a learned graph.

>>> from golem import Golem
>>> from golem.datasets import load_sachs
>>> Golem().fit(load_sachs().table).report("report.html")  # doctest: +SKIP
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from golem.graphs.formats import read_graph
from golem.graphs.named_graph import NamedGraph
from golem.output.document import Supplement, graph_document
from golem.output.report.content import model_content
from golem.output.report.page import render
from golem.runtime.files import write_text
from golem.runtime.version import __version__

if TYPE_CHECKING:
    from golem.estimator.golem import Golem

__all__ = ["read_document", "report_document", "report_model", "write_page"]


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
    return report_document(graph_document(model, supplement), path, **options)


def report_document(
    document: Mapping[str, Any],
    path: str | Path,
    *,
    truth: NamedGraph | None = None,
    other: tuple[str, NamedGraph] | None = None,
    title: str = "Learned graph",
) -> Path:
    """Write the page of a saved model.

    Parameters
    ----------
    document : mapping
        The content of graph.json; parts that were not computed may be missing.
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
    page = render("model.html", content, title=title, document=document, version=__version__)
    return write_page(Path(path), page)


def write_page(path: Path, page: str) -> Path:
    """Write a page, whole or not at all, into a folder that may be new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, page)
    return path


def read_document(path: str | Path) -> dict[str, Any]:
    """Read graph.json.

    Raises
    ------
    ValueError
        If the file holds no graph document.
    """
    graph = read_graph(path)
    text = Path(path).read_text(encoding="utf-8-sig")
    if not text.lstrip().startswith("{"):
        raise ValueError(f"{path}: a report is made from graph.json, as `golem fit` writes it; this is a plain graph")
    document: dict[str, Any] = json.loads(text)
    _require_shapes(document, set(graph.names), path)
    return document | {"names": list(graph.names), "weights": graph.weights.tolist()}


def _require_shapes(document: Mapping[str, Any], names: set[str], path: str | Path) -> None:
    """Raise where a part of a document is not of the kind that `golem fit` writes."""
    tables = ("settings", "used", "noise", "status", "objective", "missing", "data", "bootstrap", "versions",
              "knowledge", "selection")  # fmt: skip
    lists = ("edge_table", "trace", "diagnostics", "noise_variances", "intercepts", "raw_weights")
    for kind, keys in ((dict, tables), (list, lists)):
        for key in keys:
            if not isinstance(document.get(key), kind | None):
                raise ValueError(f"{path}: {key} is no {'table' if kind is dict else 'list'}, as `golem fit` writes it")
    for row in document.get("edge_table") or ():
        if not isinstance(row, dict) or not {row.get("source"), row.get("target")} <= names:
            raise ValueError(f"{path}: the edge table has edges between other variables than the graph")
