"""Methods by name, as in tables, in figures and on the command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from golem.baselines import FGS, PC, DirectLiNGAM, Notears, SortRegress
from golem.comparison.other_packages import OTHER_PACKAGES, Estimate, OtherPackage
from golem.data.inputs import numpy_rows
from golem.data.knowledge import Knowledge
from golem.data.table import Table
from golem.estimator.golem import Golem
from golem.runtime.messages import suggestion
from golem.runtime.problems import ProblemError, Set
from golem.runtime.types import Matrix
from golem.score.likelihood import GaussianEV, GaussianNV, GaussianTied
from golem.score.score_settings import (
    DISCRETE,
    ScoreName,
    ScoreSettings,
    possible_codes,
    with_numbers,
    without_categories,
)
from golem.score.table_score import score_of
from golem.search.search_order import compile_node_scores
from golem.search.solver import compile_search

# With so many columns the search over orders is not exact and has to be compiled.
_MANY_COLUMNS = 100


@dataclass(frozen=True)
class ComparedMethod:
    """How to make an estimator, and how to compile and import its code first, so that this is not timed.

    `needs_rows` says that means and covariances are not enough.
    """

    model: Callable[[], Any]
    prepare: Callable[[], None] | None = None
    needs_rows: bool = False


def _import_lasso() -> None:
    import sklearn.linear_model  # noqa: F401


def _compile_measure() -> None:
    import scipy.stats  # noqa: F401

    from golem.baselines.pairwise_measure import most_exogenous

    _import_lasso()
    Z = np.ones((1, 1))
    most_exogenous(Z, Z, np.ones(1, dtype=bool))


PAPER_RECIPE = ("golem-ev", "golem-nv")
# Methods that learn from several environments, and only from these.
INTERVENTIONAL = ("order-soft", "order-hard", "gies", "gnies")
# Methods for time series, and methods that can learn from lags.
OF_SERIES = tuple(name for name, other in OTHER_PACKAGES.items() if other.learn_series is not None)
USE_LAGS = ("order", *OF_SERIES)
# Methods that can learn from several environments; order is then order-soft.
_USE_ENVIRONMENTS = ("order", *INTERVENTIONAL)
# Scores that need categories, of which the last two need a table without numbers.
CATEGORY_SCORES: tuple[ScoreName, ...] = ("mixed", "bdeu", "discrete-bic")
_BY_CATEGORIES = tuple(f"order-{score}" for score in CATEGORY_SCORES)
# Methods that can learn from categories; order chooses the score, and noise variances do not matter.
USE_CATEGORIES = ("order", "order-nv", *_BY_CATEGORIES)
# golem-* is the paper's recipe; order-* searches over orders; order chooses the noise model from the data and
# uses the shape of the noise for directions that the equivalence class leaves open. order-soft and order-hard learn
# from soft and hard interventions. order-mixed, order-bdeu and order-discrete-bic are for tables with categories,
# where order chooses among them. fgs-mbic has the default
# penalty of the order search, up to 2 log(d / (d - 2)) per edge.
METHODS: dict[str, ComparedMethod] = {
    "golem-ev": ComparedMethod(lambda: Golem.paper("ev")),
    "golem-nv": ComparedMethod(lambda: Golem.paper("nv")),
    "order-ev": ComparedMethod(lambda: Golem("ev"), partial(compile_search, GaussianEV(), _MANY_COLUMNS)),
    "order-nv": ComparedMethod(lambda: Golem("nv", shape="off"), partial(compile_search, GaussianNV(), _MANY_COLUMNS)),
    "order": ComparedMethod(lambda: Golem("auto"), partial(compile_search, GaussianTied(2), _MANY_COLUMNS)),
    "order-soft": ComparedMethod(lambda: Golem("nv", intervention="soft"), compile_node_scores),
    "order-hard": ComparedMethod(lambda: Golem("nv", intervention="hard"), compile_node_scores),
    **{
        f"order-{score}": ComparedMethod(partial(Golem, score_function=score), compile_node_scores, score in DISCRETE)
        for score in CATEGORY_SCORES
    },
    "notears": ComparedMethod(lambda: Notears()),
    "notears-l1": ComparedMethod(lambda: Notears(l1=0.1)),
    "fgs": ComparedMethod(lambda: FGS()),
    "fgs-mbic": ComparedMethod(lambda: FGS(structure_prior=1.0)),
    "pc": ComparedMethod(lambda: PC()),
    "direct-lingam": ComparedMethod(lambda: DirectLiNGAM(), _compile_measure, needs_rows=True),
    "sort-regress-var": ComparedMethod(lambda: SortRegress("variance"), _import_lasso),
    "sort-regress-r2": ComparedMethod(lambda: SortRegress("r2"), _import_lasso),
}
# Methods for one table of numbers.
OF_NUMBERS = tuple(name for name in METHODS if name not in (*INTERVENTIONAL, *_BY_CATEGORIES))


def needs_rows(name: str) -> bool:
    """Return whether a method cannot learn from means and covariances alone."""
    return name in OTHER_PACKAGES or METHODS[name].needs_rows


def require_known(names: list[str]) -> None:
    """Raise a ValueError for an unknown name."""
    known = [*METHODS, *OTHER_PACKAGES]
    for name in names:
        if name not in known:
            raise ValueError(f"Unknown method {name!r}. {suggestion(name, known, 'methods', len(known))}")


def compile_method(name: str, table: Table | None = None) -> None:
    """Compile and import what a method needs, so that this is not timed; `order` depends on the table."""
    if name == "order" and table is not None and score_of(table, ScoreSettings(noise="auto")).stage != "order":
        name = "order-soft"
    method = METHODS.get(name)
    if method is not None and method.prepare is not None:
        method.prepare()


def learn_with(name: str, table: Table, knowledge: Knowledge | None = None) -> Estimate:
    """Run a method on a table.

    Raises
    ------
    ValueError
        If the method cannot use the data or the knowledge.
    """
    _require_usable(name, table)
    if name in OTHER_PACKAGES:
        return _learn_elsewhere(OTHER_PACKAGES[name], name, table, knowledge)
    lags = (table.series.lags or None) if table.series is not None else None
    model = METHODS[name].model().set_params(knowledge=knowledge)
    if lags is not None:
        model.set_params(lags=lags).fit(table).check_if_kept()
        graph = model.graph_
        edges = graph.matrix()
        return Estimate(edges, False, edges, graph.matrix(graph.weights), dict(graph.directions()))
    model.fit(table)
    member, weights = getattr(model, "adjacency_", None), getattr(model, "weights_", None)
    if weights is None:
        return Estimate(model.cpdag_, True, member)
    directions = dict(model.graph_.directions()) if isinstance(model, Golem) else {}  # baselines do not say
    return Estimate(model.adjacency_, False, member, weights if np.isfinite(weights).all() else None, directions)


def complete_rows(table: Table) -> list[Matrix] | None:
    """Return the complete rows of each environment; None if some are not there, or if EM treats missing values."""
    found = [None if table.is_incomplete else part.read_rows() for part in table.parts]
    rows = [numpy_rows(own) for own in found if own is not None]
    return [own[~np.isnan(own).any(axis=1)] for own in rows] if len(rows) == len(found) else None


def _require_usable(name: str, table: Table) -> None:
    """Raise a ValueError if a method cannot use a table."""
    coding = table.coding
    if coding.categories and name not in USE_CATEGORIES:
        raise ValueError(
            f"{name} needs numbers, and this table has categories. Use {USE_CATEGORIES[0]} or {_BY_CATEGORIES[0]}."
        )
    if table.environments and name not in _USE_ENVIRONMENTS:
        raise ValueError(f"{name} cannot use environments. The methods that can are {', '.join(_USE_ENVIRONMENTS)}.")
    if table.lags.any() and name not in USE_LAGS:
        raise ValueError(f"{name} cannot use lags. The methods that can are {', '.join(USE_LAGS)}.")
    if name in INTERVENTIONAL and not table.environments:
        raise ValueError(f"{name} needs environments and their targets.")
    if name not in _BY_CATEGORIES:
        return
    if not coding.categories:
        raise without_categories(name, "order", possible_codes(table.parts[0].read_rows(), table.names))
    if name == _BY_CATEGORIES[0]:
        return
    if not coding.is_discrete:
        raise with_numbers(name, _BY_CATEGORIES[0], table)
    if table.is_incomplete:
        raise ProblemError(
            Set("missing", "em"),
            f" cannot be used here: {name} counts complete rows. Use ",
            Set("missing", "drop"),
            f", or {_BY_CATEGORIES[0]}.",
        )


def _rows_in_order(name: str, table: Table, windows: Matrix) -> Matrix:
    """Return the rows of a series, given its windows."""
    series = table.series
    assert series is not None
    d = len(series.variables)
    if series.units or (series.lags and not np.array_equal(windows[1:, d : 2 * d], windows[:-1, :d])):
        raise ValueError(f"{name} needs one series without units, gaps and missing values.")
    before = windows[0].reshape(series.lags + 1, d)[:0:-1]
    return np.concatenate([before, windows[:, :d]])


def _learn_elsewhere(other: OtherPackage, name: str, table: Table, knowledge: Knowledge | None) -> Estimate:
    """Run a method of another package."""
    if knowledge is not None and not knowledge.is_empty:
        raise ValueError(f"{name} cannot use knowledge. Leave the knowledge or this method out.")
    rows = complete_rows(table)
    if rows is not None and table.series is not None and other.learn_series is not None:
        return other.learn_series(_rows_in_order(name, table, rows[0]), table.series.lags)
    if rows is None or (table.environments and other.learn_environments is None):
        raise ValueError(f"{name} needs rows, not Moments.")
    if other.learn_environments is not None and table.environments:
        return other.learn_environments(rows, [list(targets) for targets in table.targets])
    return other.learn(rows[0])
