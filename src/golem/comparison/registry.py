"""Structure learners by the names they bear in tables, figures and on the command line."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from golem.baselines import FGS, PC, DirectLiNGAM, Notears, SortRegress
from golem.comparison.other_packages import OTHER_PACKAGES, Estimate
from golem.data.knowledge import Knowledge
from golem.data.moments import Moments
from golem.estimator.golem import Golem
from golem.runtime.types import Matrix
from golem.score.likelihood import GaussianEV, GaussianNV, GaussianTied, Likelihood

# Columns from which on a search over orders is not exact, and needs to be compiled.
_MANY = 100


@dataclass(frozen=True)
class Method:
    """How a name becomes a model.

    Parameters
    ----------
    model : callable
        Makes the estimator.
    prepare : callable, optional
        Compiles and imports what the estimator runs, so that it is not timed.
    """

    model: Callable[[], Any]
    prepare: Callable[[], None] | None = None


def _compile_search(likelihood: Likelihood) -> Callable[[], None]:
    def compile_it() -> None:
        from golem.solvers.order.solver import compile_search

        compile_search(likelihood, _MANY)

    return compile_it


def _import_lasso() -> None:
    import sklearn.linear_model  # noqa: F401


def _compile_measure() -> None:
    import numpy as np
    import scipy.stats  # noqa: F401

    from golem.baselines.pairwise_measure import most_exogenous

    _import_lasso()
    Z = np.ones((1, 1))
    most_exogenous(Z, Z, np.ones(1, dtype=bool))


# golem-* is the paper's recipe; order-* minimizes the same likelihoods with edges counted; order lets the data choose.
METHODS: dict[str, Method] = {
    "golem-ev": Method(lambda: Golem.paper("ev")),
    "golem-nv": Method(lambda: Golem.paper("nv")),
    "order-ev": Method(lambda: Golem("ev"), _compile_search(GaussianEV())),
    "order-nv": Method(lambda: Golem("nv"), _compile_search(GaussianNV())),
    "order": Method(lambda: Golem("auto"), _compile_search(GaussianTied(2))),
    "notears": Method(lambda: Notears()),
    "notears-l1": Method(lambda: Notears(l1=0.1)),
    "fgs": Method(lambda: FGS()),
    "pc": Method(lambda: PC()),
    "direct-lingam": Method(lambda: DirectLiNGAM(), _compile_measure),
    "sort-regress-var": Method(lambda: SortRegress("variance"), _import_lasso),
    "sort-regress-r2": Method(lambda: SortRegress("r2"), _import_lasso),
}


def require_known(names: list[str]) -> None:
    """Raise a ValueError for a name that no method has."""
    known = [*METHODS, *OTHER_PACKAGES]
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"no method {name!r}{hint or '.'} There are {', '.join(known)}")


def prepare(name: str) -> None:
    """Do what is done once and not to be timed."""
    method = METHODS.get(name)
    if method is not None and method.prepare is not None:
        method.prepare()


def named_table(rows: Matrix, names: Sequence[str]) -> Any:
    """Return a PyArrow table of rows, so that messages can name the columns."""
    import pyarrow as pa

    return pa.table(dict(zip(names, rows.T, strict=True)))


def learn(name: str, rows: Matrix | None, moments: Moments, knowledge: Knowledge | None = None) -> Estimate:
    """Run a method on rows, or on moments where there are no rows.

    Raises
    ------
    ValueError
        If the method refuses the data or the knowledge.
    """
    if name in OTHER_PACKAGES:
        if knowledge is not None and not knowledge.is_empty:
            raise ValueError(f"{name} takes no knowledge here, and so does not run")
        if rows is None:
            raise ValueError(f"{name} needs the rows of the data, not Moments")
        return OTHER_PACKAGES[name].learn(rows)
    model = METHODS[name].model().set_params(knowledge=knowledge)
    model.fit(moments if rows is None else named_table(rows, moments.names))
    member = getattr(model, "adjacency_", None)
    if hasattr(model, "weights_"):
        return Estimate(model.adjacency_, False, member, model.weights_)
    return Estimate(model.cpdag_, True, member)
