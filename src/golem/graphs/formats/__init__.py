"""File formats of graphs: one table of all formats that golem reads and writes."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from golem.graphs.formats import dagitty, r_packages
from golem.graphs.formats.causal_learn import read_causal_learn, write_causal_learn
from golem.graphs.formats.csv_tables import read_csv, write_edge_list, write_matrix
from golem.graphs.formats.dot import read_dot, write_dot
from golem.graphs.formats.json_graphs import read_json, write_json, write_pgmpy
from golem.graphs.formats.networkx_formats import read_gml, read_graphml, write_dowhy, write_gml, write_graphml
from golem.graphs.graph_document import GraphDocument, read_document
from golem.graphs.named_graph import NamedGraph
from golem.runtime.machine import NotEnoughMemoryError

# What readers raise on files that are damaged, nested too deeply, or have values of unexpected types.
_DAMAGE = (LookupError, TypeError, AttributeError, ValueError, RecursionError, csv.Error)
_COMMENTS = re.compile(r"\s+|//[^\n]*|/\*.*?\*/|#[^\n]*", re.DOTALL)


@dataclass(frozen=True)
class GraphFormat:
    """A file format of graphs.

    Parameters
    ----------
    extensions : tuple of str
        File extensions of the format; a format without extensions must be given by name.
    write, read : callable
        Turn a graph into text, and text into a graph.
    begins : str
        Regular expression that matches the beginning of the text after comments.
    needs_directions : bool
        Whether the format cannot say that the direction of an edge is open.
    """

    extensions: tuple[str, ...]
    write: Callable[[NamedGraph], str]
    read: Callable[[str], NamedGraph]
    begins: str
    needs_directions: bool = False


# The first format whose beginning matches reads a file. CSV matches everything.
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
    # Never matches: it is GML.
    "dowhy": GraphFormat((), write_dowhy, read_gml, "(?!)"),
    "dagitty": GraphFormat((), dagitty.write_dagitty, dagitty.read_dagitty, dagitty.DAGITTY_BEGINS),
    "lavaan": GraphFormat((), r_packages.write_lavaan, r_packages.read_lavaan, r_packages.LAVAAN_BEGINS, True),
    "bnlearn": GraphFormat((), r_packages.write_bnlearn, r_packages.read_bnlearn, r_packages.BNLEARN_BEGINS, True),
    "pcalg": GraphFormat((), r_packages.write_pcalg, r_packages.read_pcalg, r_packages.PCALG_BEGINS),
    # Never matches: `read_json` recognizes it by its keys.
    "pgmpy": GraphFormat((), write_pgmpy, read_json, "(?!)", True),
    "causal-learn": GraphFormat((".txt",), write_causal_learn, read_causal_learn, "Graph Nodes:"),
    "json": GraphFormat((".json",), write_json, read_json, r"\{"),
    "csv": GraphFormat((".csv",), write_edge_list, read_csv, ""),
    "matrix": GraphFormat((), write_matrix, read_csv, "", True),
}


def format_of(path: str | Path) -> str:
    """Return the name of the format of a file from its extension; refuse unknown extensions.

    Examples
    --------
    >>> format_of("network.gml")
    'gml'
    """
    for name, form in FORMATS.items():
        if Path(path).suffix.lower() in form.extensions:
            return name
    known = ", ".join(extension for form in FORMATS.values() for extension in form.extensions)
    raise ValueError(
        f"{path}: The file extension is unknown. Use one of {known}, or name a format: {', '.join(FORMATS)}."
    )


def read_graph(path: str | Path) -> NamedGraph:
    r"""Read a graph in any of the `FORMATS`, recognized by the content of the file.

    Raises
    ------
    ValueError
        If the file does not contain a graph in any of these formats.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from golem.readers import read_graph
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "edges.csv")
    ...     _ = path.write_text("source,target,weight\na,b,0.5\n")
    ...     read_graph(path).edge_list()
    [('a', 'b', {'weight': 0.5})]
    """
    text = _text_of(Path(path))
    begin = 0
    while found := _COMMENTS.match(text, begin):
        begin = found.end()
    name = next(name for name, form in FORMATS.items() if re.compile(form.begins).match(text, begin))
    try:
        return FORMATS[name].read(text)
    except NotEnoughMemoryError as error:
        raise ValueError(f"{path}: {error}") from None
    except _DAMAGE as error:
        # NetworkX quotes the rest of the line, which can be the whole file.
        reason = str(error).splitlines()[0][:200].rstrip(".") if str(error) else type(error).__name__
        reason = "The JSON is incomplete" if reason == "Input data was truncated" else reason
        if name in ("json", "csv"):
            raise ValueError(
                f"{path} is not a graph: {reason}. Expected: graph.json, a CSV with the header "
                "source,target[,weight], a square table of weights with names, or one of "
                f"{', '.join(list(FORMATS)[:-3])}."
            ) from None
        raise ValueError(f"{path} is not a graph in the format {name}: {reason}.") from None


def read_graph_document(path: str | Path) -> GraphDocument:
    """Read the graph.json of a fit with all its content; raise a ValueError for any other file."""
    text = _text_of(Path(path))
    if not text.lstrip().startswith("{"):
        raise ValueError(f"{path} is not a graph.json. Give the graph.json that `golem fit` writes.")
    try:
        document = read_document(text)
        document.graph()
    except ValueError as error:
        reason = str(error).rstrip(".")
        raise ValueError(f"{path} is not a graph.json of `golem fit`: {reason}.") from None
    return document


def _text_of(path: Path) -> str:
    """Return the text of a file, or of the graph.json in a folder; refuse missing files and binary files."""
    if path.is_dir():
        path /= "graph.json"
    if not path.is_file():
        raise ValueError(f"{path}: There is no such file.")
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text file. Give one of the formats {', '.join(FORMATS)}.") from None
