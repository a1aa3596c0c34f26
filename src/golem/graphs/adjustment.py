"""Which variables to hold fixed so that a regression gives a causal effect: adjustment sets of a DAG."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from golem.runtime.types import BoolMatrix

AdjustmentKind = Literal["optimal", "minimal", "parents"]
_NodeSet = NDArray[np.bool_]


def adjustment_set(adjacency: BoolMatrix, cause: int, effect: int, kind: AdjustmentKind = "optimal") -> list[int]:
    """Return a valid adjustment set for the total effect of one node on another.

    Regressing the effect on the cause and such a set gives the total effect as the coefficient of the cause. With
    cn the nodes on directed paths from cause to effect, the cause apart, and forb their descendants and the cause:

    - "optimal": O = pa(cn) - forb. Of all valid sets it has the smallest asymptotic variance of the estimated effect
      (Henckel, Perković and Maathuis 2022, theorem 3.10).
    - "minimal": O less what is not needed: no subset of it is valid. Fewer columns to measure, a larger variance.
    - "parents": the parents of the cause (Pearl 2009, theorem 3.2.5), whatever the rest of the graph.

    Parameters
    ----------
    adjacency : ndarray of shape (d, d), bool
        A DAG.
    cause, effect : int
        Two nodes with a directed path from the first to the second.
    kind : {"optimal", "minimal", "parents"}
        Which set.

    Raises
    ------
    ValueError
        If no directed path leads from cause to effect.

    Examples
    --------
    0 is a common cause of 1 and 2, 3 another cause of 2, and 1 -> 2:

    >>> graph = np.zeros((4, 4), dtype=bool)
    >>> graph[[0, 0, 1, 3], [1, 2, 2, 2]] = True
    >>> [adjustment_set(graph, 1, 2, kind) for kind in ("optimal", "minimal", "parents")]
    [[0, 3], [0], [0]]
    """
    if kind not in get_args(AdjustmentKind):
        raise ValueError(f"kind must be one of {', '.join(map(repr, get_args(AdjustmentKind)))}; got {kind!r}")
    if cause == effect:
        raise ValueError("cause and effect are the same variable")
    below = _reached(adjacency, [cause])
    if not below[effect]:
        raise ValueError("no directed path leads from the cause to the effect, so its total effect is 0")
    if kind == "parents":
        return np.nonzero(adjacency[:, cause])[0].tolist()
    between = below & _reached(adjacency.T, [effect])
    between[cause] = False
    forbidden = _reached(adjacency, np.nonzero(between)[0].tolist())
    forbidden[cause] = True
    optimal = np.nonzero(adjacency[:, between].any(axis=1) & ~forbidden)[0].tolist()
    return _thinned(adjacency, cause, effect, between, optimal) if kind == "minimal" else optimal


def _reached(adjacency: BoolMatrix, start: list[int]) -> _NodeSet:
    """Mark the nodes that directed paths lead to, the start among them."""
    seen = np.zeros(len(adjacency), dtype=bool)
    seen[start] = True
    waiting = list(start)
    while waiting:
        new = np.nonzero(adjacency[waiting.pop()] & ~seen)[0]
        seen[new] = True
        waiting.extend(new.tolist())
    return seen


def _thinned(adjacency: BoolMatrix, cause: int, effect: int, between: _NodeSet, chosen: list[int]) -> list[int]:
    """Drop nodes from a valid set, within the ancestors of both, until each of the rest is needed.

    A set is valid when it separates cause and effect once the first edges of the directed paths are cut (van der
    Zander, Liśkiewicz and Textor 2014). Among ancestors of the two, that is plain separation in their moral graph,
    where a node once found dispensable stays so.
    """
    cut = adjacency.copy()
    cut[cause, between] = False
    ancestors = _reached(cut.T, [cause, effect])
    parents = cut & ancestors & ancestors[:, None]
    married = (parents.astype(np.float32) @ parents.T.astype(np.float32)) > 0
    moral = parents | parents.T | married
    needed = list(chosen)
    for node in chosen:
        rest = [other for other in needed if other != node]
        open_graph = moral.copy()
        open_graph[:, rest] = False
        if not _reached(open_graph, [cause])[effect]:
            needed = rest
    return needed
