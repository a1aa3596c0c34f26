"""The model code of DAGitty (Textor et al. 2016): `dag { a -> b [beta="0.5"] }`, with lines (`--`) in a `pdag`."""

from __future__ import annotations

import itertools
import re

from golem.graphs.named_graph import NamedGraph
from golem.runtime.messages import quoted

DAGITTY_BEGINS = r'(?:dag|pdag|mag|pag)\s*(?:"[^"]*"|[\w.]*)\s*\{'
_HIDDEN = "an edge marks a hidden common cause, which a DAG cannot have"
_TOKEN = re.compile(
    r"""\s+|;|(?P<text>"[^"]*")|(?P<arrow><->|->|<-@?|--@?|@->|@-@|@--)|(?P<list>\[(?:"[^"]*"|[^\]"])*\])|(?P<mark>[{}=])
    |(?P<word>[^\s"\[\]{};=<>-]+)|(?P<other>.)""",
    re.VERBOSE,
)
_BETA = re.compile(r'(?:^|[\s,\[])beta\s*=\s*"?\s*([-+.\deE]+)')


def write_dagitty(graph: NamedGraph) -> str:
    """Return the code of a graph; weights become path coefficients (beta) unless some edges have no direction."""
    if bad := [name for name in graph.names if any(mark in name for mark in '"\\\n\r')]:
        raise ValueError(f"DAGitty cannot store quotation marks, backslashes and line breaks in names: {quoted(bad)}.")
    graph = graph.partially_directed()
    edges = graph.edge_list()
    pairs, where = {edge[:2] for edge in edges}, {name: k for k, name in enumerate(graph.names)}
    lines = [f'  "{name}"' for name in graph.names]
    is_class = False
    for source, target, attributes in edges:
        is_line = (target, source) in pairs
        is_class |= is_line
        if not is_line or where[source] < where[target]:
            beta = f' [beta="{attributes["weight"]!r}"]' if graph.weighted and not is_line else ""
            lines.append(f'  "{source}" {"--" if is_line else "->"} "{target}"{beta}')
    return "\n".join(["pdag {" if is_class else "dag {", *lines, "}"]) + "\n"


def read_dagitty(text: str) -> NamedGraph:
    """Read a dag or pdag; coordinates and roles of variables are ignored."""
    reader = _Reader(text)
    reader.read()
    return NamedGraph.from_lists(reader.names, [(*pair, values) for pair, values in reader.edges.items()])


class _Reader:
    """A parser of names, groups in braces, and chains such as a -> b <- c."""

    def __init__(self, text: str) -> None:
        self._found = [match for match in _TOKEN.finditer(text) if match.lastgroup]
        self._position = 0
        self.names: dict[str, None] = {}
        self.edges: dict[tuple[str, str], dict[str, float]] = {}

    def _next(self, *kinds: str) -> str | None:
        """Consume the next token if it is of one of these kinds."""
        if self._position < len(self._found) and self._found[self._position].lastgroup in kinds:
            self._position += 1
            return self._found[self._position - 1][0]
        return None

    def read(self) -> None:
        """Read the whole text."""
        kind = self._next("word")
        if kind not in ("dag", "pdag"):
            raise ValueError(f"A {kind} has marks of hidden common causes, which a DAG cannot have.")
        self._next("word", "text")
        if self._next("mark") != "{":
            raise ValueError("The opening brace is missing.")
        while (mark := self._next("mark")) != "}":
            if mark is not None:
                raise ValueError(f"Unexpected {mark!r}.")
            self._statement()
        if self._position < len(self._found):
            raise ValueError(f"There is text after the closing brace: {self._found[self._position][0]!r}.")

    def _statement(self) -> None:
        """Read a chain of edges with its attributes, a name, or a setting such as bb="0,0,1,1"."""
        ends, arrows = [self._end()], []
        while (arrow := self._next("arrow")) is not None:
            arrows.append(arrow)
            ends.append(self._end())
        if not arrows and self._next_is("="):
            self._position += 1
            self._next("text", "word")
            for name in ends[0]:
                self.names.pop(name, None)
        attributes = self._next("list") or ""
        beta = _BETA.search(attributes)
        for (left, right), arrow in zip(itertools.pairwise(ends), arrows, strict=True):
            if arrow not in ("->", "<-", "--"):
                raise ValueError(_HIDDEN)
            for pair in itertools.product(left, right):
                self._add(pair, arrow, {"weight": float(beta[1])} if beta else {})

    def _next_is(self, mark: str) -> bool:
        return self._position < len(self._found) and self._found[self._position][0] == mark

    def _end(self) -> list[str]:
        """Read a name, or names in braces."""
        if self._next_is("{"):
            self._position += 1
            names = []
            while not self._next_is("}"):
                names += self._end()
            self._position += 1
            return names
        name = self._next("text", "word")
        if name is None:
            rest = self._found[self._position][0] if self._position < len(self._found) else "the end of the text"
            raise ValueError(f"Expected a name, found {rest!r}.")
        name = name[1:-1] if name.startswith('"') else name
        self.names[name] = None
        return [name]

    def _add(self, pair: tuple[str, str], arrow: str, attributes: dict[str, float]) -> None:
        """Add an edge; it replaces an earlier one of the same direction, as a line replaces an arrow."""
        if arrow != "<-":
            self.edges[pair] = attributes
        if arrow != "->":
            self.edges[pair[1], pair[0]] = attributes
