"""Adapters to other packages that learn graphs.

Each adapter takes rows of shape (n, d) and returns an `Estimate` with `graph[i, j]` for i -> j. It transposes and
centres where a package needs it. Adapters to packages that learn from experiments take one array per environment and
the numbers of its targets; those to packages for time series take the rows in order and the number of lags. The
settings are those that the package recommends. A name that ends in "-mbic" has golem's default penalty per edge
instead, so that only the searches differ.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from golem.graphs.dag import is_dag, member_of_class
from golem.graphs.named_graph import LINK_SOURCES
from golem.runtime.types import BoolMatrix, Matrix


@dataclass(frozen=True, eq=False)
class Estimate:
    """The graph that a method learned.

    Parameters
    ----------
    graph : ndarray of shape (d, d), bool
        Edges i -> j; where `is_class`, edges with both directions set are undirected.
    is_class : bool
        Whether the graph is a Markov equivalence class.
    member : ndarray of shape (d, d), bool, optional
        A DAG of the class, or the graph itself; None if there is no such DAG.
    weights : ndarray of shape (d, d), optional
        Weights of the edges, if the method learns any.
    direction_from : mapping of (int, int) to str
        What the direction of each edge rests on, if the method says so; see `EdgeRecord`.
    """

    graph: BoolMatrix
    is_class: bool
    member: BoolMatrix | None
    weights: Matrix | None = None
    direction_from: Mapping[tuple[int, int], str] = field(default_factory=dict)

    def partially_directed(self) -> BoolMatrix:
        """Return the graph with its links undirected, that is in both directions."""
        graph = self.graph.copy()
        for (i, j), source in self.direction_from.items():
            graph[j, i] |= source in LINK_SOURCES
        return graph


@dataclass(frozen=True)
class OtherPackage:
    """A method of another package."""

    module: str
    package: str
    learn: Callable[[NDArray[Any]], Estimate]
    learn_environments: Callable[[list[Matrix], list[list[int]]], Estimate] | None = None
    imports: str = ""  # what `learn` imports, if that takes long
    learn_series: Callable[[Matrix, int], Estimate] | None = None

    @property
    def is_installed(self) -> bool:
        """Whether the package can be imported."""
        return importlib.util.find_spec(self.module) is not None

    def load(self) -> None:
        """Import what the method needs, so that this is not timed."""
        importlib.import_module(self.imports or self.module)

    @property
    def install(self) -> str:
        """The command that installs the package."""
        return f"pip install {self.package}"


def _dagma(X: Matrix) -> Estimate:
    from dagma.linear import DagmaLinear

    # dagma does not centre the columns.
    return of_weights(DagmaLinear(loss_type="l2").fit(X - X.mean(axis=0)))


def _gcastle_notears(X: Matrix) -> Estimate:
    from castle.algorithms import Notears

    model = Notears()
    model.learn(X)
    return of_weights(np.asarray(model.weight_causal_matrix) * np.asarray(model.causal_matrix))


def _lingam(X: Matrix) -> Estimate:
    from lingam import DirectLiNGAM

    return of_weights(np.asarray(DirectLiNGAM().fit(X).adjacency_matrix_).T)  # lingam has [i, j] for j -> i


def _causal_learn_ges(X: Matrix) -> Estimate:
    from causallearn.search.ScoreBased.GES import ges

    return of_class(of_end_marks(ges(X)["G"].graph))


def _causal_learn_pc(X: Matrix) -> Estimate:
    from causallearn.search.ConstraintBased.PC import pc

    return of_class(of_end_marks(pc(X, 0.01, show_progress=False).G.graph))


def _flopsearch(X: Matrix, penalty: float = 2.0) -> Estimate:
    """Run flopsearch with a penalty of so many log n per edge; the defaults are those that its page recommends."""
    from flopsearch import flop

    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    return of_class(np.asarray(flop(Z, penalty, restarts=50)) != 0)  # 1 directed, 2 undirected (both ways)


def _flopsearch_mbic(X: Matrix) -> Estimate:
    """Run flopsearch with golem's default penalty, log n + 2 log d per edge."""
    n, d = X.shape
    return _flopsearch(X, 1 + 2 * math.log(d) / math.log(n))


def _gies(tables: list[Matrix], targets: list[list[int]]) -> Estimate:
    """Run GIES, whose score is that of hard interventions with separate means."""
    import gies

    return of_class(np.asarray(gies.fit_bic(tables, targets)[0]) != 0)


def _gnies(tables: list[Matrix], targets: list[list[int]]) -> Estimate:
    """Run GnIES, which estimates which nodes change in some environment; those that are targets are given."""
    import gnies

    return of_class(np.asarray(gnies.fit(tables, known_targets={node for some in targets for node in some})[1]) != 0)


def _pcmci_plus(X: Matrix, lags: int = 0) -> Estimate:
    """Run PCMCI+ with partial correlations."""
    from tigramite.data_processing import DataFrame
    from tigramite.independence_tests.parcorr import ParCorr
    from tigramite.pcmci import PCMCI

    with contextlib.redirect_stdout(io.StringIO()):
        search = PCMCI(DataFrame(X), ParCorr(significance="analytic"), verbosity=0)
        marks = search.run_pcmciplus(tau_min=0, tau_max=lags, pc_alpha=0.01)["graph"]
    return of_lags(np.moveaxis((marks == "-->") | np.isin(marks, ["o-o", "x-x"]), 2, 0))


def _var_lingam(X: Matrix, lags: int) -> Estimate:
    from lingam import VARLiNGAM

    model = VARLiNGAM(lags=lags, criterion=None, prune=True)
    model.fit(X)
    found = np.zeros((lags + 1, X.shape[1], X.shape[1]), dtype=bool)
    found[: len(model.adjacency_matrices_)] = np.asarray(model.adjacency_matrices_) != 0
    return of_lags(np.swapaxes(found, 1, 2))  # lingam has [k, i, j] for j -> i


def _pgmpy_hill_climbing(codes: NDArray[np.intp], score: str) -> Estimate:
    from pgmpy.causal_discovery import HillClimbSearch

    search = HillClimbSearch(scoring_method=score, return_type="dag", show_progress=False)
    found = search.fit(_category_frame(codes)).causal_graph_
    graph = _of_pairs(found.edges(), codes.shape[1])
    return Estimate(graph, False, graph)


def _pgmpy_ges(codes: NDArray[np.intp]) -> Estimate:
    from pgmpy.causal_discovery import GES

    found, d = GES(scoring_method="bic-d").fit(_category_frame(codes)).causal_graph_, codes.shape[1]
    undirected = _of_pairs(found.undirected_edges, d)
    return of_class(_of_pairs(found.directed_edges, d) | undirected | undirected.T)


def _causal_learn_ges_bdeu(codes: NDArray[np.intp]) -> Estimate:
    from causallearn.search.ScoreBased.GES import ges

    return of_class(of_end_marks(ges(codes, score_func="local_score_BDeu")["G"].graph))


def _category_frame(codes: NDArray[np.intp]) -> Any:
    """Return codes as a pandas table of categories, whose columns are named by their numbers."""
    import pandas as pd

    return pd.DataFrame(codes, columns=[str(j) for j in range(codes.shape[1])]).astype("category")


def _of_pairs(pairs: Iterable[tuple[str, str]], d: int) -> BoolMatrix:
    """Return the matrix of edges between columns that are named by their numbers."""
    graph = np.zeros((d, d), dtype=bool)
    for cause, child in pairs:
        graph[int(cause), int(child)] = True
    return graph


def of_weights(weights: Any) -> Estimate:
    """Return the estimate of a method that learns the weights of a directed graph."""
    B = np.array(weights, dtype=float)
    graph = B != 0
    return Estimate(graph, False, graph if is_dag(graph) else None, B)


def of_lags(lagged: NDArray[np.bool_]) -> Estimate:
    """Return the graph over the columns of a series: the present, then one step back, and so on.

    Entry [k, i, j] says that i, k steps back, is a cause of j; links are set in both directions.
    """
    d = lagged.shape[1]
    graph: BoolMatrix = np.zeros((d * len(lagged),) * 2, dtype=bool)
    graph[:, :d] = lagged.reshape(-1, d)
    links = np.triu(lagged[0] & lagged[0].T)
    graph[:d, :d] &= ~links.T
    sources = {(int(i), int(j)): "unchecked" for i, j in np.argwhere(links)}
    return Estimate(graph, False, graph if is_dag(graph) else None, direction_from=sources)


def of_class(graph: BoolMatrix) -> Estimate:
    """Return the estimate of a method that learns an equivalence class."""
    try:
        member = member_of_class(graph)
    except ValueError:
        member = None
    return Estimate(graph, True, member)


def of_end_marks(marks: Any) -> BoolMatrix:
    """Read causal-learn's end marks: [i, j] is the mark at i of the edge i - j, 1 an arrowhead and -1 a tail."""
    marks = np.asarray(marks)
    # i -> j has its tail at i; an edge with the same mark at both ends is undirected, or claimed both ways.
    return np.asarray((marks == -1) | ((marks != 0) & (marks == marks.T)), dtype=bool)


OTHER_PACKAGES: dict[str, OtherPackage] = {
    "dagma": OtherPackage("dagma", "dagma", _dagma),
    "gcastle-notears": OtherPackage("castle", "gcastle", _gcastle_notears),
    "lingam": OtherPackage("lingam", "lingam", _lingam),
    "causal-learn-ges": OtherPackage("causallearn", "causal-learn", _causal_learn_ges),
    "causal-learn-pc": OtherPackage("causallearn", "causal-learn", _causal_learn_pc),
    "flopsearch": OtherPackage("flopsearch", "flopsearch", _flopsearch),
    "flopsearch-mbic": OtherPackage("flopsearch", "flopsearch", _flopsearch_mbic),
    "gies": OtherPackage("gies", "gies", lambda X: _gies([X], [[]]), _gies),
    "gnies": OtherPackage("gnies", "gnies", lambda X: _gnies([X], [[]]), _gnies),
    "pcmci-plus": OtherPackage(
        "tigramite", "tigramite", _pcmci_plus, imports="tigramite.pcmci", learn_series=_pcmci_plus
    ),
    "var-lingam": OtherPackage("lingam", "lingam", _lingam, learn_series=_var_lingam),
}
# Methods for tables of categories; their rows are codes of levels.
CATEGORY_PACKAGES: dict[str, OtherPackage] = {
    name: OtherPackage(imports.split(".")[0], package, learn, imports=imports)
    for name, package, imports, learn in (
        ("pgmpy-hc-bdeu", "pgmpy", "pgmpy.causal_discovery", partial(_pgmpy_hill_climbing, score="bdeu")),
        ("pgmpy-hc-bic", "pgmpy", "pgmpy.causal_discovery", partial(_pgmpy_hill_climbing, score="bic-d")),
        ("pgmpy-ges-bic", "pgmpy", "pgmpy.causal_discovery", _pgmpy_ges),
        ("causal-learn-ges-bdeu", "causal-learn", "causallearn.search.ScoreBased.GES", _causal_learn_ges_bdeu),
    )
}
