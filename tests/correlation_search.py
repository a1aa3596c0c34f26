"""The search over orders with the correlation engine, also for few nodes, where `search_order` would be exact."""

import numpy as np

from golem.score.gaussian_columns import GaussianColumns
from golem.score.regression import regress_edges
from golem.search.order_problem import FittedGraph, checked_masks
from golem.search.search_order import engine_of, search_with_engine


def search_orders(S, n, penalty, *, allowed=None, required=None, centre=0.0, spread=np.inf, **options):
    """Return the graph that the search finds, with its weights in the units of the covariance S."""
    score = GaussianColumns(np.asarray(S, dtype=float), n, np.asarray(penalty), centre, spread)
    found = search_with_engine(engine_of(score, *checked_masks(score.d, allowed, required)), **options)
    fitted = regress_edges(found.edges.children, found.edges.causes, score.covariance)
    return FittedGraph(found.order, fitted, found.score, found.status, found.perturbations)
