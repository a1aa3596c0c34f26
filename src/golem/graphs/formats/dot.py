r"""DOT, the language of Graphviz, which DoWhy, pydot and pygraphviz read.

The only escape in a quoted name is `\"`. Two backslashes stay two, and a backslash at the end of a line joins it with
the next. So a name with an odd number of backslashes before a quotation mark, a line break or its end is refused.

We do not use pydot for reading: its time doubles with every level of nested groups (15 seconds for 12 levels), it drops
a backslash before a line break, and it fails on edges with an attribute called src.
"""

from __future__ import annotations

import html
import itertools
import re
from dataclasses import dataclass, field

from golem.graphs.named_graph import NamedGraph
from golem.runtime.messages import quoted

_TOKEN = re.compile(
    r"""(?P<skip>//[^\n]*|/\*.*?\*/|^\#[^\n]*|\s+)
    | (?P<quoted>"(?:\\[\s\S]|[^"\\])*")
    | (?P<html><)
    | (?P<mark>->|--|[\[\]{};,=:])
    | (?P<word>-?(?:\.\d+|\d+(?:\.\d*)?)(?![\w.])|[^\W\d]\w*)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_MOST_PAIRS = 1_000_000
_ESCAPES = {'"': '"', "\\": "\\\\"}
_PLAIN = re.compile(r"(?!(?i:strict|graph|digraph|subgraph|node|edge)\Z)[A-Za-z_][A-Za-z0-9_]*")
_IMPOSSIBLE = re.compile(r'(?<!\\)\\(?:\\\\)*(?:["\n]|\r|\Z)')

# Attributes that control how Graphviz draws an edge, except weight (https://graphviz.org/docs/edges/).
_DRAWN = re.compile(
    r"""(?:edge|head|label|tail)?(?:URL|href|target|tooltip) | (?:head|tail)(?:clip|label|port|_lp)
    | (?:label)?font(?:color|name|size) | label(?:angle|distance|float) | arrow(?:head|size|tail) | same(?:head|tail)
    | x?(?:label|lp) | (?:fill)?color | class | colorscheme | comment | constraint | decorate | dir | id | layer
    | (?:min)?len | lhead | ltail | nojustify | penwidth | pos | radius | showboxes | style""",
    re.VERBOSE,
)


def write_dot(graph: NamedGraph) -> str:
    """Return the text of a DOT file; links are drawn without an arrowhead."""
    if bad := [name for name in (*graph.names, *graph.edge_columns) if _IMPOSSIBLE.search(name) or "\0" in name]:
        raise ValueError(
            "DOT cannot store null characters, or a backslash before a quotation mark, a line break or the end of a "
            f"name: {quoted(bad)}. Rename, or use gml or json."
        )
    if bad := [name for name in graph.edge_columns if _DRAWN.fullmatch(name)]:
        raise ValueError(
            f"DOT cannot store the edge columns {quoted(bad)}, because these attributes control how Graphviz draws an "
            "edge. Rename them, or use graphml or json."
        )
    lines = ["digraph {"]
    for node, attributes in graph.node_list():
        lines.append(f"  {_quoted(node)}{_listed({name: repr(value) for name, value in attributes.items()})};")
    for source, target, values in graph.edge_list():
        shown = {
            name: repr(value) if isinstance(value, float) else str(value).lower() for name, value in values.items()
        }
        if not values.get("directed", True):
            shown["dir"] = "none"
        lines.append(f"  {_quoted(source)} -> {_quoted(target)}{_listed(shown)};")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '\\"') + '"'


def _listed(attributes: dict[str, str]) -> str:
    """Return attributes in brackets, with quoted values, because DOT has no exponents in numbers."""
    words = {name if _PLAIN.fullmatch(name) else _quoted(name): value for name, value in attributes.items()}
    return " [" + ", ".join(f'{word}="{value}"' for word, value in words.items()) + "]" if attributes else ""


def read_dot(text: str) -> NamedGraph:
    """Read a DOT file: nodes, chains of edges, groups in braces; undirected edges have both directions."""
    reader = _Reader(_tokens(text))
    reader.graph()
    names, nodes = list(reader.nodes), list(reader.nodes.values())
    return NamedGraph.from_lists(names, ((*pair, values) for pair, values in reader.edges.items()), nodes)


@dataclass
class _Token:
    text: str
    is_name: bool
    is_bare: bool = False


def _tokens(text: str) -> list[_Token]:
    """Split the text into names and marks; two empty marks at the end let the reader look ahead."""
    found, position = [], 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ValueError(f"{text[position : position + 20]!r} cannot be read.")
        position = match.end()
        if match["html"]:
            start, depth = position, 1
            while depth:
                if position == len(text):
                    raise ValueError("An HTML name has no closing >.")
                depth += {"<": 1, ">": -1}.get(text[position], 0)
                position += 1
            found.append(_Token(html.unescape(text[start : position - 1]), True))
        elif match["quoted"]:
            # `\"` becomes a quotation mark, two backslashes stay, a backslash before a line break goes with it.
            inner = re.sub(r'\\(["\\]|\r?\n)', lambda pair: _ESCAPES.get(pair[1], ""), match["quoted"][1:-1])
            found.append(_Token(inner, True))
        elif match["word"] or match["mark"]:
            found.append(_Token(match[0], bool(match["word"]), bool(match["word"])))
    return [*found, _Token("", False), _Token("", False)]


@dataclass
class _Reader:
    """A recursive descent parser of the DOT grammar."""

    tokens: list[_Token]
    position: int = 0
    directed: bool = True
    pairs: int = 0
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    edges: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)

    @property
    def token(self) -> _Token:
        return self.tokens[self.position]

    def take(self, mark: str) -> bool:
        """Consume a mark if it is the next token, and tell whether it was."""
        if self.token.is_name or self.token.text != mark:
            return False
        self.position += 1
        return True

    def expect(self, mark: str) -> None:
        if not self.take(mark):
            raise ValueError(f"Expected {mark!r}, found {self.token.text or 'the end of the file'!r}.")

    def word(self, *words: str) -> str | None:
        """Consume one of some keywords, in upper or lower case and not quoted; return it in lower case."""
        if not self.token.is_bare or self.token.text.lower() not in words:
            return None
        self.position += 1
        return self.tokens[self.position - 1].text.lower()

    def name(self) -> str:
        """Consume a name and return it."""
        if not self.token.is_name:
            raise ValueError(f"Expected a name, found {self.token.text or 'the end of the file'!r}.")
        self.position += 1
        return self.tokens[self.position - 1].text

    def graph(self) -> None:
        self.word("strict")
        kind = self.word("graph", "digraph")
        if kind is None:
            raise ValueError("The file does not begin with graph or digraph.")
        self.directed = kind == "digraph"
        if self.token.is_name:
            self.name()
        self.group({}, {})

    def group(self, node_defaults: dict[str, str], edge_defaults: dict[str, str]) -> list[str]:
        """Read statements in braces; return their nodes."""
        self.expect("{")
        named: list[str] = []
        while not self.take("}"):
            if not self.take(";"):
                named += self.statement(node_defaults, edge_defaults)
        return list(dict.fromkeys(named))

    def statement(self, node_defaults: dict[str, str], edge_defaults: dict[str, str]) -> list[str]:
        ahead = self.tokens[self.position + 1]
        if self.token.is_name and not ahead.is_name and ahead.text == "[":
            kind = self.word("node", "edge", "graph")
            if kind is not None:
                {"node": node_defaults, "edge": edge_defaults, "graph": {}}[kind].update(self.attributes())
                return []
        if self.token.is_name and not ahead.is_name and ahead.text == "=":
            self.position += 2
            self.name()
            return []
        groups = [self.end(node_defaults, edge_defaults)]
        is_edge = False
        while self.take("->") or self.take("--"):
            is_edge = True
            groups.append(self.end(node_defaults, edge_defaults))
        attributes = self.attributes()
        if not is_edge:
            for node in groups[0]:
                self.nodes[node] |= attributes
        for sources, targets in itertools.pairwise(groups):
            self.pairs += len(sources) * len(targets)
            if self.pairs > _MOST_PAIRS:  # a short file can have any number of edges
                raise ValueError(f"Its groups in braces make more than {_MOST_PAIRS} edges. List the edges as CSV.")
            for source in sources:
                for target in targets:
                    self.add_edge(source, target, edge_defaults | attributes)
        return [node for group in groups for node in group]

    def end(self, node_defaults: dict[str, str], edge_defaults: dict[str, str]) -> list[str]:
        """Read a node or a group of nodes, as one end of an edge."""
        if self.word("subgraph") is not None and self.token.is_name:
            self.name()
        if not self.token.is_name:
            return self.group(dict(node_defaults), dict(edge_defaults))
        node = self.name()
        while self.take(":"):  # a port, which only affects the drawing
            self.name()
        self.nodes.setdefault(node, dict(node_defaults))
        return [node]

    def attributes(self) -> dict[str, str]:
        found: dict[str, str] = {}
        while self.take("["):
            while not self.take("]"):
                name = self.name()
                found[name] = self.name() if self.take("=") else "true"
                if not self.take(","):
                    self.take(";")
        return found

    def add_edge(self, source: str, target: str, attributes: dict[str, str]) -> None:
        """Add an edge by its arrowheads; it replaces an earlier edge of the same pair, as in a strict graph."""
        way = attributes.get("dir", "forward" if self.directed else "none")
        head = way in ("forward", "both") and attributes.get("arrowhead") != "none"
        tail = way in ("back", "both") and attributes.get("arrowtail") != "none"
        if head and tail:
            raise ValueError(f"The edge between {source!r} and {target!r} has two arrowheads, which a DAG cannot have.")
        kept = {name: value for name, value in attributes.items() if not _DRAWN.fullmatch(name)}
        if head or not tail:
            self.edges[source, target] = kept
        if tail or not (head or attributes.get("directed") == "false"):  # a link of golem keeps its weight
            self.edges[target, source] = kept
