"""Models of R packages: regressions of lavaan, model strings of bnlearn, and adjacency matrices of pcalg.

lavaan has one regression per line, `b ~ a + c`, without weights, which it estimates. It needs names as in R; others
are replaced, and comments such as `# a_b is "a b"` keep the original. A model string of bnlearn is `[a][b|a][c|a:b]`.
A 1 in row b and column a of a matrix of pcalg (type amat.cpdag) means a -> b. This is the transpose of the matrices
of golem; the first cell of the file names the type, so that they are not confused.
"""

from __future__ import annotations

import json
import re

from golem.graphs.dag import is_dag
from golem.graphs.formats.csv_tables import read_csv, require_csv_names
from golem.graphs.named_graph import NamedGraph
from golem.runtime.files import csv_text
from golem.runtime.messages import quoted
from golem.runtime.problems import ProblemError, Set

LAVAAN_BEGINS = r'[^\n,;\t"~]*~'
_R_NAME = re.compile(r"[A-Za-z.][A-Za-z0-9._]*")
_RENAMED = re.compile(r'#\s*(\S+) is (".*")\s*')
_OPERATOR = re.compile(r"=~|<~|~~|~\*~|~")
BNLEARN_BEGINS = r'(?:\[[^\[\]|"]+(?:\|[^\[\]|"]*)?\]\s*)+\Z'
_NODE = re.compile(r"\[([^\[\]|]+)(?:\|([^\[\]|]*))?\]")
_TYPE = "amat.cpdag"
PCALG_BEGINS = rf'"?{_TYPE}"?[,;\t]'.replace(".", r"\.")


def write_lavaan(graph: NamedGraph) -> str:
    """Return the regressions of a graph, and a variance for each number without edges."""
    new = _r_names(graph.names)
    edges = [edge[:2] for edge in graph.edge_list()]
    if line := next(((a, b) for a, b in edges if (b, a) in set(edges)), None):
        raise ProblemError(
            f"lavaan needs a direction for the edge between {line[0]!r} and {line[1]!r}. Export without ",
            Set("cpdag", True),
            ", or use dagitty or pcalg.",
        )
    lines = [f"# {new[name]} is {json.dumps(name)}" for name in graph.names if new[name] != name]
    lines += [f"# The direction of {new[a]} and {new[b]} is open." for a, b in graph.links]
    kinds = [] if graph.variables is None else zip(graph.names, graph.variables, strict=True)
    categories = [name for name, variable in kinds if variable.kind == "category"]
    connected = {name for edge in edges for name in edge}
    left_out = [name for name in categories if name not in connected]
    if graph.has_categories:
        lines += _about_categories([new[name] for name in categories], [new[name] for name in left_out])
    for name in graph.names:
        parents = [new[source] for source, target in edges if target == name]
        if parents:
            lines.append(f"{new[name]} ~ {' + '.join(parents)}")
        elif name not in connected and name not in left_out:
            lines.append(f"{new[name]} ~~ {new[name]}")
    return "\n".join(lines) + "\n"


def _about_categories(categories: list[str], left_out: list[str]) -> list[str]:
    """Return comments that say how lavaan can use categories, and which ones are not in the model."""
    listed = f": {', '.join(categories)}" if categories else ""
    return [
        f"# This graph has categories{listed}. lavaan needs numbers.",
        *([f"# Left out, because they have neither edges nor a variance: {', '.join(left_out)}."] if left_out else []),
        "# Turn categories that no edge points to into columns of 0 and 1, one per level except the first.",
        "# Declare other categories with two or with ordered levels: sem(model, data, ordered = c(...)).",
        "# lavaan has no model for other categories.",
    ]


def _r_names(names: tuple[str, ...]) -> dict[str, str]:
    """Return a name that R accepts for each name, all of them different."""
    new: dict[str, str] = {}
    taken = {name for name in names if _R_NAME.fullmatch(name)}
    for name in names:
        if name in taken:
            new[name] = name
            continue
        word = re.sub(r"[^A-Za-z0-9._]", "_", name)
        word = word if _R_NAME.fullmatch(word) else f"x{word}"
        candidate, k = word, 1
        while candidate in taken:
            k += 1
            candidate = f"{word}_{k}"
        taken.add(candidate)
        new[name] = candidate
    return new


def read_lavaan(text: str) -> NamedGraph:
    """Read the regressions of a model; coefficients, labels, variances and intercepts are ignored."""
    old: dict[str, str] = {}
    names: dict[str, None] = {}
    edges: dict[tuple[str, str], None] = {}
    for line in text.splitlines():
        if renamed := _RENAMED.fullmatch(line.strip()):
            old[renamed[1]] = str(json.loads(renamed[2]))
        for formula in re.split(r"[#!]", line, maxsplit=1)[0].split(";"):
            if not formula.strip():
                continue
            operator = _OPERATOR.search(formula)
            if operator is None or operator[0] not in ("~", "~~"):
                raise ValueError(f"{formula.strip()!r} cannot be read. Expected regressions such as b ~ a + c.")
            left, right = (_variables(side, old) for side in formula.split(operator[0], 1))
            names |= dict.fromkeys([*left, *right])
            if operator[0] == "~":
                edges |= {(source, target): None for target in left for source in right}
            elif left != right:
                raise ValueError(f"{formula.strip()!r} means a hidden common cause, which a DAG cannot have.")
    return NamedGraph.from_lists(names, [(*edge, {}) for edge in edges])


def _variables(side: str, old: dict[str, str]) -> list[str]:
    """Return the variables of terms such as `0.5*x`, by their original names, without intercepts."""
    words = [term.rpartition("*")[2].strip() for term in side.split("+")]
    words = [word for word in words if word not in ("", "0", "1")]
    if wrong := [word for word in words if not _R_NAME.fullmatch(word)]:
        raise ValueError(f"{quoted(wrong)} cannot be read. Expected regressions such as b ~ a + c.")
    return [old.get(word, word) for word in words]


def write_bnlearn(graph: NamedGraph) -> str:
    """Return the model string of a DAG, for model2network."""
    if bad := [name for name in graph.names if re.search(r'[\[\]|:"\n\r]', name) or name != name.strip()]:
        raise ValueError(
            "bnlearn cannot store brackets, bars, colons, quotation marks, line breaks and outer blanks: "
            f"{quoted(bad)}."
        )
    if not is_dag(graph.adjacency):
        raise ProblemError.of(
            "A model string of bnlearn is a DAG. Export without {cpdag=True}, or use dagitty or pcalg."
        )
    parents: dict[str, list[str]] = {name: [] for name in graph.names}
    for source, target, _ in graph.edge_list():
        parents[target].append(source)
    return "".join(f"[{name}{'|' * bool(into)}{':'.join(into)}]" for name, into in parents.items()) + "\n"


def read_bnlearn(text: str) -> NamedGraph:
    """Read a model string."""
    found = [(match[1].strip(), match[2]) for match in _NODE.finditer(text)]
    pairs = [(parent.strip(), name) for name, parents in found for parent in (parents or "").split(":") if parent]
    return NamedGraph.from_lists([name for name, _ in found], [(*pair, {}) for pair in pairs])


def write_pcalg(graph: NamedGraph) -> str:
    """Return a CSV text for `as.matrix(read.csv(file, row.names = 1, check.names = FALSE))`."""
    require_csv_names(graph.names)
    matrix = graph.partially_directed().adjacency.T.astype(int).tolist()
    rows = ([name, *row] for name, row in zip(graph.names, matrix, strict=True))
    return csv_text([[_TYPE, *graph.names], *rows])


def read_pcalg(text: str) -> NamedGraph:
    """Read such a matrix; a pair with a 1 in both directions is undirected."""
    return NamedGraph.from_class(read_csv(text).adjacency.T.copy(), read_csv(text).names)
