"""Graphs in files: every format that golem writes and reads, in one table."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from golem.graphs.formats.causal_learn import read_causal_learn, write_causal_learn
from golem.graphs.formats.csv_tables import read_csv, write_edge_list, write_matrix
from golem.graphs.formats.dot import read_dot, write_dot
from golem.graphs.formats.gml import read_gml, write_gml
from golem.graphs.formats.graph_json import read_json, write_json
from golem.graphs.formats.graphml import read_graphml, write_graphml
from golem.graphs.formats.pgmpy_json import write_pgmpy
from golem.graphs.graph_document import GraphDocument, read_document
from golem.graphs.named_graph import NamedGraph

# What readers raise where a file is not as they expect: nested too deep, too large, with other types than they think.
_DAMAGE = (LookupError, TypeError, AttributeError, ValueError, RecursionError, MemoryError, csv.Error)
_COMMENTS = re.compile(r"\s+|//[^\n]*|/\*.*?\*/|#[^\n]*", re.DOTALL)


@dataclass(frozen=True)
class GraphFormat:
    """A way to write a graph down.

    Parameters
    ----------
    extensions : tuple of str
        Endings of files that stand for it; of a format without any the name must be given.
    write, read : callable
        Graph to text, and text to graph.
    begins : str
        Regular expression of how the text begins, after comments.
    """

    extensions: tuple[str, ...]
    write: Callable[[NamedGraph], str]
    read: Callable[[str], NamedGraph]
    begins: str


# The first whose beginning fits reads a file; what fits none is taken for CSV.
FORMATS: dict[str, GraphFormat] = {
    "graphml": GraphFormat((".graphml",), write_graphml, read_graphml, "<"),
    "gml": GraphFormat(
        (".gml",),
        write_gml,
        read_gml,
        r'(?:Creator\s+"[^"]*"\s+)?(?:Version\s+\S+\s+)?graph\s*\[',
    ),
    "dot": GraphFormat(
        (".dot", ".gv"),
        write_dot,
        read_dot,
        r'(?i:(?:strict\s+)?(?:di)?graph)\s*(?:"(?:\\.|[^"\\])*"|[\w.]*)\s*\{',
    ),
    # The keys tell it from graph.json, not the beginning, which fits nothing.
    "pgmpy": GraphFormat((), write_pgmpy, read_json, "(?!)"),
    "causal-learn": GraphFormat((".txt",), write_causal_learn, read_causal_learn, "Graph Nodes:"),
    "json": GraphFormat((".json",), write_json, read_json, r"\{"),
    "csv": GraphFormat((".csv",), write_edge_list, read_csv, ""),
    "matrix": GraphFormat((), write_matrix, read_csv, ""),
}


def format_of(path: str | Path) -> str:
    """Return the name of the format that the ending of a file stands for.

    Raises
    ------
    ValueError
        If it stands for none.

    Examples
    --------
    >>> format_of("network.gml")
    'gml'
    """
    ending = Path(path).suffix.lower()
    for name, form in FORMATS.items():
        if ending in form.extensions:
            return name
    known = ", ".join(extension for form in FORMATS.values() for extension in form.extensions)
    raise ValueError(f"{path}: the ending stands for no format of graphs ({known}); name one of {', '.join(FORMATS)}")


def read_graph(path: str | Path) -> NamedGraph:
    """Read a graph in any of the `FORMATS`, which is found from what the file holds.

    Raises
    ------
    ValueError
        If the file holds none of these.
    """
    text = _text_of(Path(path))
    name = _recognized(text)
    try:
        return FORMATS[name].read(text)
    except _DAMAGE as error:
        # NetworkX quotes the rest of a line, which can be the whole file.
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        if name in ("json", "csv"):
            raise ValueError(
                f"{path}: not a graph; expected graph.json, an edge list with the header source,target[,weight], a "
                f"square table of weights with names, or {', '.join(list(FORMATS)[:-3])} ({reason})"
            ) from None
        raise ValueError(f"{path}: not a graph in the format {name}: {reason}") from None


def read_graph_document(path: str | Path) -> GraphDocument:
    """Read the graph.json of a fit, with everything that it tells about the graph.

    Raises
    ------
    ValueError
        If the file is none.
    """
    text = _text_of(Path(path))
    if not text.lstrip().startswith("{"):
        raise ValueError(f"{path}: a plain graph; this needs the graph.json that `golem fit` writes")
    try:
        document = read_document(text)
        document.graph()
    except ValueError as error:
        raise ValueError(f"{path}: not a graph.json as `golem fit` writes it ({error})") from None
    return document


def _text_of(path: Path) -> str:
    """Read a text file."""
    if path.is_dir():
        raise ValueError(f"{path}: a folder; name the graph in it, such as {path / 'graph.json'}")
    if not path.is_file():
        raise ValueError(f"{path}: no such file")
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not a text file; a graph is a text file in a format of golem's") from None


def _recognized(text: str) -> str:
    """Return the name of the format of a text."""
    begin = 0
    while found := _COMMENTS.match(text, begin):
        begin = found.end()
    return next(name for name, form in FORMATS.items() if re.compile(form.begins).match(text, begin))
