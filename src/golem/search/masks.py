"""The edges that a search may and must have."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from golem.graphs.dag import is_dag, topological_order
from golem.runtime.types import BoolMatrix
from golem.search.order_kernel_arrays import ALLOWED, REQUIRED


def checked_masks(
    d: int, allowed: ArrayLike | None, required: ArrayLike | None
) -> tuple[BoolMatrix | None, BoolMatrix | None]:
    """Return the masks as arrays, None if they say nothing.

    Raises
    ------
    ValueError
        If a required edge is not allowed, or the required edges form a cycle.
    """
    may = None if allowed is None else np.asarray(allowed, dtype=bool) & ~np.eye(d, dtype=bool)
    must = None if required is None or not np.any(required) else np.asarray(required, dtype=bool)
    if must is not None and ((may is not None and np.any(must & ~may)) or not is_dag(must)):
        raise ValueError("Required edges must be allowed and must not form a cycle.")
    return may, must


def edge_kinds(d: int, allowed: BoolMatrix | None, required: BoolMatrix | None) -> NDArray[np.uint8]:
    """Return for each edge whether it is ALLOWED and REQUIRED, as bits, indexed [child, parent]."""
    kinds = np.uint8(ALLOWED) * (~np.eye(d, dtype=bool) if allowed is None else allowed.T)
    if required is not None:
        kinds = kinds | np.uint8(REQUIRED) * required.T
    return np.ascontiguousarray(kinds)  # kernels are compiled for one layout


def obeying(order: NDArray[Any], required: BoolMatrix | None) -> NDArray[Any]:
    """Return an order in which the required edges point forward, the given one if possible."""
    if required is not None:
        rank = np.argsort(order)
        if np.any(required & (rank[:, None] > rank)):
            return topological_order(required, order)
    return order
