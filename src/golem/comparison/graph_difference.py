"""How two graphs differ: what changed between two fits, or which links differ between two groups of rows.

Two graphs of random halves of one table differ too. So for two groups, each link is tested: rows are exchanged between
the groups at random, and the difference of the partial correlations of its ends is compared with those after the
exchange. Columns are standardized within each group first, so that groups may have other means and scales.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from golem.data.coded_tables import CodedTable, complete_parts, with_common_levels
from golem.data.files.level_scan import reading_categories
from golem.data.files.table_files import TableFiles
from golem.data.readers import read_rows
from golem.data.table_reading import coded_rows
from golem.data.unusable import identifying, unusable_in_table
from golem.estimator.golem import Golem
from golem.graphs.named_graph import NamedGraph
from golem.model.linear_sem import LinearSEM
from golem.output.export import named_graph
from golem.output.saved_model import SavedModel, load
from golem.runtime.messages import counted, quoted, suggestion
from golem.runtime.types import Array, Matrix, Vector

# Links with a smaller adjusted p-value differ.
LEVEL = 0.05
_MOST_LISTED = 20
# Fisher's transformation of larger correlations is infinite.
_LARGEST = 1 - 1e-12
# The correlations get this share of columns per row on their diagonal, so that few rows are no problem.
_RIDGE = 0.1


class LinkDifference(NamedTuple):
    """One pair of variables that a graph joins.

    Parameters
    ----------
    one, other : str
        The variables.
    first, second : {"", "---", "-->", "<--"}
        The edge in the first and in the second graph; empty if there is none.
    first_correlation, second_correlation : float or None
        Of two groups: the partial correlation given all other columns, of categories that which differs most.
    p_value : float or None
        Of two groups: how often exchanged rows give so large a difference for some link, if the groups are alike.
    """

    one: str
    other: str
    first: str
    second: str
    first_correlation: float | None = None
    second_correlation: float | None = None
    p_value: float | None = None


@dataclass(frozen=True)
class Difference:
    """The pairs that one or both of two graphs join, those of the smallest p-value first.

    Parameters
    ----------
    links : list of LinkDifference
        The pairs.
    permutations : int
        Number of random exchanges of rows; 0 if graphs were compared, not groups.
    """

    links: list[LinkDifference]
    permutations: int = 0

    @property
    def differing(self) -> list[LinkDifference]:
        """The pairs that differ: for two groups, more than by chance; for two fits, at all."""
        if self.permutations:
            return [link for link in self.links if link.p_value is not None and link.p_value <= LEVEL]
        return [link for link in self.links if link.first != link.second]

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> list[str]:
        """Return the differences as lines of text; of groups, only those that are more than chance."""
        shared = [link for link in self.links if link.first and link.second]
        count = f"{counted(len(shared), 'edge')} in both graphs, {len(self.links) - len(shared)} in only one"
        if not self.permutations:
            lines = [f"  {_change(link)}" for link in self.differing]
            left = [f"  and {len(lines) - _MOST_LISTED} more"] if len(lines) > _MOST_LISTED else []
            return [count, *lines[: _MOST_LISTED if left else None], *left]
        sure = self.differing
        tested = f"permutation test with {self.permutations} exchanges, adjusted for {counted(len(self.links), 'pair')}"
        return [
            f"{counted(len(sure), 'edge')} differ{'s' * (len(sure) == 1)} more than by chance ({tested})",
            *(
                f"  {link.one} - {link.other}: partial correlation {link.first_correlation:+.2f} and "
                f"{link.second_correlation:+.2f}, p = {link.p_value:.2g}"
                for link in sure
            ),
            f"{count}; random halves of one table differ as well.",
        ]


def _change(link: LinkDifference) -> str:
    """Return what changed, on a line."""
    before, after = (f"{link.one} {edge} {link.other}" for edge in (link.first, link.second))
    if not link.second:
        return f"only in the first: {before}"
    return f"direction: {before} is now {after}" if link.first else f"only in the second: {after}"


def difference(
    first: Any, second: Any, *, model: Golem | None = None, permutations: int = 299, random_state: int = 0
) -> Difference:
    """Return how two fits differ, or which links differ between two groups of rows.

    Parameters
    ----------
    first, second : models or tables
        Two fitted models, graphs, or folders of `golem fit`: what changed. Or two tables with the same columns, such as
        men and women: a graph is learned from each, and their links are tested. Rows with missing values are dropped.
    model : Golem, optional
        Settings for tables, by default `Golem()`.
    permutations : int
        Number of random exchanges of rows between two tables.
    random_state : int
        Random seed of the exchanges.

    Examples
    --------
    >>> import golem
    >>> before = golem.LinearSEM([[0, 1.0], [0, 0]], [1, 1], names=["a", "b"])
    >>> after = golem.LinearSEM([[0, 0], [1.0, 0]], [1, 1], names=["a", "b"])
    >>> print(golem.difference(before, after))
    1 edge in both graphs, 0 in only one
      direction: a --> b is now a <-- b
    """
    given = [load(one) if isinstance(one, str | Path) else one for one in (first, second)]
    are_graphs = [isinstance(one, NamedGraph | SavedModel | LinearSEM) or hasattr(one, "moments_") for one in given]
    if all(are_graphs):
        return Difference(_pairs(*(named_graph(one) for one in given)))
    if any(are_graphs):
        raise ValueError("Give two models or two tables, not one of each.")
    tables = with_common_levels({"first": coded_rows(given[0]), "second": coded_rows(given[1])})
    one, other = complete_parts(list(tables.values()))
    if missing := set(one.coding.names) ^ set(other.coding.names):
        raise ValueError(f"The tables have different columns: {quoted(sorted(missing))}.")
    other = other.selected(one.coding.names)
    graphs = [named_graph(clone(model or Golem()).fit(table)) for table in (one, other)]
    return _tested(_pairs(*graphs), one, other, permutations, np.random.default_rng(random_state))


def _pairs(first: NamedGraph, second: NamedGraph) -> list[LinkDifference]:
    """Return the pairs that the graphs join, in the order of the names of the first."""
    names = list(dict.fromkeys([*first.names, *second.names]))
    edges = [_edges(graph, names) for graph in (first, second)]
    joined = sorted({*edges[0], *edges[1]})
    return [LinkDifference(names[i], names[j], edges[0].get((i, j), ""), edges[1].get((i, j), "")) for i, j in joined]


def _edges(graph: NamedGraph, names: list[str]) -> dict[tuple[int, int], str]:
    """Return how a graph joins pairs i < j of the names."""
    found: dict[tuple[int, int], str] = {}
    for (a, b), is_link in zip(graph.edges.pairs(), graph.is_link, strict=True):
        i, j = names.index(graph.names[a]), names.index(graph.names[b])
        both = (min(i, j), max(i, j))
        found[both] = "---" if is_link or both in found else "-->" if i < j else "<--"
    return found


def _tested(
    links: list[LinkDifference], one: CodedTable, other: CodedTable, permutations: int, rng: np.random.Generator
) -> Difference:
    """Return the pairs with partial correlations and p-values, adjusted by the largest difference per exchange."""
    coding = one.coding
    if not links:
        return Difference(links, permutations)
    groups = [_standardized(coding.expand(table.rows)) for table in (one, other)]
    rows, size = np.concatenate(groups), len(groups[0])
    ends = [(coding.names.index(link.one), coding.names.index(link.other)) for link in links]
    blocks = [np.ix_(*(range(coding.first[k], coding.first[k + 1]) for k in pair)) for pair in ends]
    observed = _partial(groups[0]), _partial(groups[1])
    size_of = _sizes(*observed, blocks)
    largest = np.empty(permutations)
    for k in range(permutations):
        order = rng.permutation(len(rows))
        largest[k] = _sizes(_partial(rows[order[:size]]), _partial(rows[order[size:]]), blocks).max()
    p = (1 + (largest[:, None] >= size_of).sum(axis=0)) / (1 + permutations)
    found = []
    for link, block, value in zip(links, blocks, p.tolist(), strict=True):
        where = np.abs(observed[0][block] - observed[1][block]).argmax()
        a, b = (float(own[block].flat[where]) for own in observed)
        found.append(link._replace(first_correlation=a, second_correlation=b, p_value=value))
    return Difference(sorted(found, key=lambda link: link.p_value or 0.0), permutations)


def _standardized(rows: Array) -> Matrix:
    """Return columns with mean 0 and variance 1; constant ones are 0."""
    scale = rows.std(axis=0)
    return np.asarray((rows - rows.mean(axis=0)) / np.where(scale > 0, scale, 1.0))


def _partial(rows: Matrix) -> Matrix:
    """Return the partial correlations of all pairs given all other columns."""
    Z = _standardized(rows)
    p = Z.shape[1]
    precision = np.linalg.inv(Z.T @ Z / len(Z) + _RIDGE * p / len(Z) * np.eye(p))
    scale = np.sqrt(np.diagonal(precision))
    return np.asarray(-precision / np.outer(scale, scale))


def _sizes(first: Matrix, second: Matrix, blocks: list[Any]) -> Vector:
    """Return the difference of each pair, of Fisher's transformation of the partial correlations."""
    change = np.abs(np.arctanh(np.clip(first, -_LARGEST, _LARGEST)) - np.arctanh(np.clip(second, -_LARGEST, _LARGEST)))
    return np.array([change[block].max() for block in blocks])


def groups_of(path: str | Path, column: str) -> tuple[tuple[str, str], tuple[CodedTable, CodedTable]]:
    """Return the two values of a column of a file, and the rows with each of them, without this column.

    Columns that cannot be used in one of the groups, such as constants, or that identify rows are left out.
    """
    files, read = reading_categories(TableFiles.open(path), read_rows)
    coding, rows = files.coding, read.values
    if column not in coding.names:
        raise ValueError(f"There is no column {column!r}. {suggestion(column, coding.names, 'columns')}")
    k = coding.names.index(column)
    values = np.unique(rows[~np.isnan(rows[:, k]), k])
    if len(values) != 2:
        raise ValueError(f"Column {column!r} has {counted(len(values), 'value')}, but two groups need two values.")
    rest = CodedTable(coding, rows).selected([name for name in coding.names if name != column])
    parts = [CodedTable(rest.coding, rest.rows[rows[:, k] == value]) for value in values]
    dropped = {one.name for part in parts for one in unusable_in_table(part.rows, part.coding)}
    dropped |= {one.name for one in identifying(rest.rows, rest.coding)}
    first, second = (part.selected([name for name in rest.coding.names if name not in dropped]) for part in parts)
    levels = coding.variables[k].levels
    labels = [levels[int(value)] if levels else f"{value:g}" for value in values.tolist()]
    return (labels[0], labels[1]), (first, second)
