"""Is a graph consistent with a table? Tests of the independences that the graph implies, from moments alone.

In a topological order, a node is independent of every earlier node that is not its parent, given its parents. These
statements, one per missing edge, imply all other independences of the graph (Pearl 1988).
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from golem.assessment.p_values import holm, p_text
from golem.data.checks import DataWarning, require_learnable
from golem.data.missing import MissingChoice
from golem.data.moments import Moments
from golem.data.table_input import eager_frame, is_table, rows_and_names
from golem.data.unusable import unusable_columns, unusable_sentence
from golem.graphs.dag import as_adjacency, cycle_text, find_cycle, member_of_class, topological_order
from golem.graphs.formats.networkx_formats import from_networkx
from golem.graphs.graph_document import GraphDocument
from golem.graphs.named_graph import NamedGraph
from golem.model.linear_sem import LinearSEM
from golem.runtime.html_text import MOST_ROWS, html_table, paragraph
from golem.runtime.machine import require_memory
from golem.runtime.messages import counted, quoted, suggestion
from golem.runtime.problems import names_remedies
from golem.runtime.types import BoolMatrix, Indices, Matrix, Vector

LEVEL = 0.05
# Violations beyond this number, sorted by p-value, do not change the hints.
_MOST_FOR_HINTS = 500
_SMALLEST_CLUSTER = 3
# Numbers of a pair here, and what the correction of p-values adds.
_BYTES_PER_PAIR = 64


@dataclass(frozen=True, eq=False)
class Consistency:
    """The result of `golem.check`.

    Parameters
    ----------
    names : tuple of str
        The variables.
    n : int
        Number of rows.
    graph : ndarray of shape (d, d), bool
        The DAG that was tested: the given one, or a member of the given equivalence class.
    sources, targets : ndarray of shape (m,)
        The ends of the missing edges. The graph implies that they are independent given the parents of the target.
    correlations, p_values : ndarray of shape (m,)
        Their partial correlations, and the p-values of these.
    node_p_values : ndarray of shape (d,)
        One test per target, of all its statements together; NaN for a target without any.
    exact : bool
        Whether there are enough rows for the global p-value to be uniform. Otherwise it is conservative.
    descriptive : bool
        Whether the graph was learned from these rows. Its p-values are then too large, because learning has chosen the
        missing edges for their small correlations.
    """

    names: tuple[str, ...]
    n: int
    graph: BoolMatrix
    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    correlations: Vector
    p_values: Vector
    node_p_values: Vector
    exact: bool
    descriptive: bool

    @functools.cached_property
    def p_value(self) -> float:
        """The global p-value: the smallest one of the nodes, corrected for their number (Tippett 1931).

        It is uniform between 0 and 1 if the graph is right, was not learned from these rows, and the model is linear
        with normal noise. NaN if the graph has no missing edge.
        """
        from scipy.stats import combine_pvalues

        tested = self.node_p_values[np.isfinite(self.node_p_values)]
        return float(combine_pvalues(tested, method="tippett").pvalue) if len(tested) else float("nan")

    @functools.cached_property
    def adjusted(self) -> Vector:
        """The p-values of the missing edges, corrected for their number (Holm)."""
        return holm(self.p_values)

    @property
    def violations(self) -> int:
        """Number of implied independences that the data contradict, after correction for the number of tests."""
        return int((self.adjusted < LEVEL).sum())

    @property
    def _order(self) -> NDArray[np.intp]:
        """The missing edges by p-value; by correlation where p-values are too small for a float."""
        return np.lexsort((-np.abs(self.correlations), self.p_values))

    def records(self, most: int | None = None) -> list[dict[str, Any]]:
        """Return one record per missing edge, the smallest p-value first; `pandas.DataFrame` takes them."""
        order = self._order[:most]
        given = {int(j): [self.names[i] for i in np.nonzero(self.graph[:, j])[0]] for j in set(self.targets[order])}
        return [
            {
                "source": self.names[self.sources[m]],
                "target": self.names[self.targets[m]],
                "given": given[int(self.targets[m])],
                "partial_correlation": float(self.correlations[m]),
                "p_value": float(self.p_values[m]),
                "adjusted": float(self.adjusted[m]),
            }
            for m in order
        ]

    @property
    def verdict(self) -> str:
        """The result in a sentence or two."""
        tests = len(self.p_values)
        if not tests:
            return "The graph implies no independence that these rows could contradict."
        numbers = f"global {p_text(self.p_value)}; {self.violations} of {tests} implied independences violated"
        if self.descriptive:
            caution = "The graph was learned from these rows, so the p-values are too large: use other rows for a test."
            return f"Descriptive only ({numbers}). {caution}"
        if self.p_value < LEVEL:
            return f"The data contradict the graph ({numbers})."
        if self.violations:
            return f"The data contradict the graph in {counted(self.violations, 'place')} ({numbers})."
        return f"The data are consistent with the graph ({numbers})."

    @property
    def hints(self) -> list[str]:
        """What the violations have in common, in sentences."""
        worst = self._order[: min(self.violations, _MOST_FOR_HINTS)]
        return _hints([(int(self.sources[m]), int(self.targets[m])) for m in worst], self.names)

    def _repr_html_(self) -> str:
        """Show the verdict, the violations and the hints in notebooks."""
        columns = ["source", "target", "given", "partial correlation", "p-value", "corrected p-value"]
        rows = [
            [r["source"], r["target"], ", ".join(r["given"]), r["partial_correlation"], r["p_value"], r["adjusted"]]
            for r in self.records(min(self.violations, MOST_ROWS))
        ]
        table = html_table(columns, rows) if rows else ""
        return paragraph(self.verdict, strong=True) + table + "".join(map(paragraph, self.hints))

    def __repr__(self) -> str:
        """Return the verdict, the worst violations and the hints."""
        worst = [f"  {sentence}" for sentence in map(statement, self.records(min(self.violations, 5)))]
        return "\n".join([self.verdict, *worst, *self.hints])


def statement(record: dict[str, Any]) -> str:
    """Return a record as text, such as "'a', 'c' given 'b': partial correlation 0.3, p = 2e-9 (corrected p = 1e-7)"."""
    given = f" given {quoted(record['given'], 4)}" if record["given"] else ""
    return (
        f"{record['source']!r}, {record['target']!r}{given}: partial correlation {record['partial_correlation']:.2f}, "
        f"{p_text(record['p_value'])} (corrected {p_text(record['adjusted'])})"
    )


@names_remedies
def check(graph: Any, data: Any, *, missing: MissingChoice = "error") -> Consistency:
    """Test whether a table is consistent with a graph.

    A linear DAG implies a partial correlation of zero for every missing edge: between a node and each earlier node in a
    topological order that is not its parent, given its parents. These are tested one by one (Fisher z) and together.
    All members of an equivalence class imply the same, so undirected edges need no direction. A graph that passes can
    still be wrong: other graphs imply the same independences, and graphs with more edges imply fewer.

    Parameters
    ----------
    graph : fitted model, LinearSEM, NamedGraph, GraphDocument, networkx graph, or array of shape (d, d)
        The graph. In an array, entry [i, j] is nonzero for i -> j, and nodes are the columns of the table. An edge in
        both directions is undirected.
    data : array, DataFrame (pandas, Polars), PyArrow table or Moments
        Rows, or their moments. They should not be the rows from which the graph was learned. Columns that the graph
        does not have are left out.
    missing : {"error", "drop", "em"}
        Treatment of missing values; see `Golem`.

    Raises
    ------
    ValueError
        If the graph has a cycle, or a variable that is not a column, or the columns are collinear.

    Examples
    --------
    >>> from golem.simulate import simulate
    >>> drawn = simulate(6, n=1000, graph="ER1", random_state=1)
    >>> result = check(drawn.sem, drawn.data)
    >>> result.p_value > 0.05, len(result.p_values)
    (True, 11)
    >>> check(np.zeros((6, 6)), drawn.data).p_value < 1e-9
    True
    """
    given, names, fingerprint = _read(graph)
    moments = data if isinstance(data, Moments) else _moments(data, names, missing)
    names = moments.variables if names is None else names
    _require_columns(given, names, moments.variables)
    _require_numbers([name for name in moments.coding.categories if name in names])
    moments = moments.selected(names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # few rows make a graph uncertain, not these tests
        _require_testable(moments)
    is_own = fingerprint is not None and fingerprint == moments.fingerprint
    return _test_zeros(_directed(given, names), moments, is_own)


def _test_zeros(graph: BoolMatrix, moments: Moments, descriptive: bool) -> Consistency:
    """Test every partial correlation that a DAG implies to be zero.

    With P the parents of j, the partial correlation r of i and j given P comes from one solve with S_PP per node. Its
    Fisher z, sqrt(n - 3 - |P|) atanh(r), is close to N(0, 1).

    The test of a node is the F test of its regression on all q earlier nodes that are not parents, next to its parents:
    F = ((RSS_P - RSS_all) / q) / (RSS_all / (n - 1 - k)) with k earlier nodes in all. Given the earlier nodes it has
    the same distribution whatever their values, if the noise is normal. Therefore the tests of different nodes are
    independent. All RSS_all are the pivots of one Cholesky factorization. A node with more earlier nodes than half of
    the rows has the smallest p-value of its pairs times their number instead (Bonferroni), which is conservative.
    """
    from scipy.special import fdtrc, ndtr

    n, d = moments.n, moments.d
    require_memory(f"The check of {d} variables", _BYTES_PER_PAIR * d * (d - 1) // 2, "Check a part of the graph.")
    S, order = moments.standardized().covariance, topological_order(graph)
    few = order[: min(d, n // 2)]
    pivots = np.diagonal(np.linalg.cholesky(S[np.ix_(few, few)])) ** 2
    none = np.empty(0, dtype=np.int32)
    sources, targets, correlations, p_values = [none], [none], [np.empty(0)], [np.empty(0)]
    nodes, exact = np.full(d, np.nan), True
    for k, j in enumerate(order):
        parents = np.nonzero(graph[:, j])[0]
        others = np.sort(order[:k][~graph[order[:k], j]])
        freedom, q = n - 3 - len(parents), len(others)
        if not q or freedom < 1:
            continue
        r, residual = _partial_correlations(S, j, parents, others)
        p = 2 * ndtr(-np.sqrt(freedom) * np.arctanh(np.abs(r)))
        sources.append(others.astype(np.int32))
        targets.append(np.full(q, j, dtype=np.int32))
        correlations.append(r)
        p_values.append(p)
        if k < len(pivots):
            rest = n - 1 - k
            nodes[j] = fdtrc(q, rest, max(residual - pivots[k], 0.0) / q / (pivots[k] / rest))
        else:
            nodes[j], exact = min(1.0, float(p.min()) * q), False
    ends = np.concatenate(sources), np.concatenate(targets)
    found = np.concatenate(correlations), np.concatenate(p_values)
    return Consistency(moments.names, n, graph, *ends, *found, nodes, exact, descriptive)


def _partial_correlations(S: Matrix, j: int, parents: Indices, others: Indices) -> tuple[Vector, float]:
    """Return the correlations of j with others given its parents, and the variance of j given its parents."""
    covariances, variances, own = S[others, j].copy(), np.diagonal(S)[others].copy(), float(S[j, j])
    if len(parents):
        # The columns of the inverse factor times S_P. are orthonormal coordinates of the nodes in the span of P.
        from scipy.linalg import solve_triangular

        L = np.linalg.cholesky(S[np.ix_(parents, parents)])
        explained = solve_triangular(L, S[parents][:, others], lower=True)
        target = solve_triangular(L, S[parents, j], lower=True)
        covariances -= target @ explained
        variances -= np.einsum("pi,pi->i", explained, explained)
        own -= float(target @ target)
    scale = np.sqrt(np.maximum(variances, np.finfo(float).tiny) * max(own, np.finfo(float).tiny))
    return np.clip(covariances / scale, -1 + 1e-15, 1 - 1e-15), own


def _read(graph: Any) -> tuple[BoolMatrix, tuple[str, ...] | None, str | None]:
    """Return the edges, the names if there are any, and the fingerprint of the rows behind the graph if it is known."""
    graph = getattr(graph, "estimator_", graph)  # of a GolemCV
    if isinstance(graph, GraphDocument):
        kinds = zip(graph.names, graph.variables or (), strict=False)
        _require_numbers([name for name, variable in kinds if variable.kind == "category"])
        return graph.graph().adjacency, tuple(graph.names), graph.moments_hash
    if isinstance(graph, BaseEstimator):
        check_is_fitted(graph, "moments_")
        _require_numbers([variable.name for variable in getattr(graph, "variables_", ()) if variable.is_category])
        if getattr(getattr(graph, "table_", None), "series", None) is not None:
            raise ValueError("The graph of a series or panel cannot be compared with rows that have no order.")
        edges = graph.adjacency_ if hasattr(graph, "adjacency_") else graph.cpdag_
        return edges, graph.moments_.names, graph.moments_.fingerprint
    if isinstance(graph, LinearSEM | NamedGraph):
        return graph.adjacency, graph.names, None
    if hasattr(graph, "is_directed"):
        named = from_networkx(graph)
        return named.adjacency, named.names, None
    return as_adjacency(graph), None, None


def _moments(data: Any, names: tuple[str, ...] | None, missing: MissingChoice) -> Moments:
    """Return the moments of a table; an array has the names of the graph, if it has as many columns."""
    if is_table(data) and names is not None:
        frame, known = eager_frame(data), set(names)
        # A column that the graph does not have need not be numeric.
        used = [name for name in frame.columns if str(name) in known]
        data = frame.select(used) if len(used) == len(known) else frame
        return Moments.from_rows(*rows_and_names(data), missing=missing)
    values, found = rows_and_names(data)
    if names is not None and len(names) == len(found):
        found = names
    return Moments.from_rows(values, found, missing=missing)


def _require_numbers(categories: Sequence[str]) -> None:
    """Raise a ValueError for a graph with categories."""
    if categories:
        raise ValueError(
            f"This test needs numbers, and is not available for graphs with categories: {quoted(categories)}."
        )


def _require_testable(moments: Moments) -> None:
    """Raise a ValueError if a column is constant or determined by others: its partial correlations are undefined."""
    try:
        require_learnable(moments, uses_scale=False)
    except ValueError:
        found = unusable_columns(moments)
        if not found:
            raise
        columns = quoted([column.name for column in found])
        raise ValueError(f"{unusable_sentence(found)} Test a graph without {columns}.") from None


def _require_columns(graph: BoolMatrix, names: tuple[str, ...], columns: tuple[str, ...]) -> None:
    """Raise a ValueError if the graph has other variables than the columns of the data."""
    if len(graph) != len(names):
        raise ValueError(f"The graph has {len(graph)} nodes, but the data have {len(names)} columns.")
    known = set(columns)
    if unknown := [name for name in names if name not in known]:
        hint = suggestion(unknown[0], columns, "columns")
        raise ValueError(f"The graph has variables that are not columns of the data: {quoted(unknown)}. {hint}")


def _directed(graph: BoolMatrix, names: tuple[str, ...]) -> BoolMatrix:
    """Return a DAG with the same independences: the graph itself, or a member of its class."""
    arrows = graph & ~graph.T
    if cycle := find_cycle(arrows) or [int(j) for j in np.nonzero(np.diagonal(graph))[0][:1]]:
        raise ValueError(f"The graph has a cycle, {cycle_text(cycle, names)}, so it implies no independences.")
    return graph if (arrows == graph).all() else member_of_class(graph)


def _hints(pairs: Sequence[tuple[int, int]], names: tuple[str, ...]) -> list[str]:
    """Describe clusters of violations, given as pairs in the order of their p-values."""
    neighbours: dict[int, set[int]] = {}
    for i, j in pairs:
        neighbours.setdefault(i, set()).add(j)
        neighbours.setdefault(j, set()).add(i)
    cluster = max((_clique(i, j, neighbours) for i, j in pairs), key=len, default=[])
    cluster, found = cluster if len(cluster) >= _SMALLEST_CLUSTER else [], []
    if cluster:
        found.append(
            f"All pairs of {quoted([names[i] for i in cluster], 6)} violate the graph. A hidden common cause of them "
            "would explain this, as would missing edges between them."
        )
    centre = max(neighbours, key=lambda node: len(neighbours[node]), default=-1)
    if centre >= 0 and centre not in cluster and len(neighbours[centre]) >= max(_SMALLEST_CLUSTER, len(pairs) / 2):
        found.append(
            f"{len(neighbours[centre])} of the violations concern {names[centre]!r}. It may lack a parent or a child."
        )
    return found


def _clique(i: int, j: int, neighbours: dict[int, set[int]]) -> list[int]:
    """Grow a set of nodes, all pairs of which violate the graph, from one pair."""
    members, candidates = [i, j], neighbours[i] & neighbours[j]
    while candidates:
        best = max(sorted(candidates), key=lambda node: len(neighbours[node] & candidates))
        members.append(best)
        candidates &= neighbours[best]
    return members
