"""Adjustment sets of a DAG: the variables to hold fixed so that a regression gives a causal effect."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from golem.runtime.types import BoolMatrix

AdjustmentKind = Literal["optimal", "minimal", "parents"]
_NodeSet = NDArray[np.bool_]


def adjustment_set(adjacency: BoolMatrix, cause: int, effect: int, kind: AdjustmentKind = "optimal") -> list[int]:
    """Return a valid adjustment set for the total effect of one node on another.

    The total effect is the coefficient of the cause when the effect is regressed on the cause and this set. Let cn be
    the nodes on directed paths from cause to effect without the cause, and forb the cause and all descendants of cn.

    - "optimal": O = pa(cn) - forb. It gives the smallest asymptotic variance of all valid sets (Henckel, Perković and
      Maathuis 2022, theorem 3.10).
    - "minimal": O without the nodes that are not needed, so that no proper subset is valid. It needs fewer columns and
      has a larger variance.
    - "parents": the parents of the cause (Pearl 2009, theorem 3.2.5).

    `adjacency` is a DAG, a boolean matrix of shape (d, d). A ValueError is raised if no directed path leads from cause
    to effect.

    Examples
    --------
    Edges 0 -> 1, 0 -> 2, 1 -> 2 and 3 -> 2:

    >>> graph = np.zeros((4, 4), dtype=bool)
    >>> graph[[0, 0, 1, 3], [1, 2, 2, 2]] = True
    >>> [adjustment_set(graph, 1, 2, kind) for kind in ("optimal", "minimal", "parents")]
    [[0, 3], [0], [0]]
    """
    if kind not in get_args(AdjustmentKind):
        raise ValueError(f"kind must be one of {', '.join(map(repr, get_args(AdjustmentKind)))}; got {kind!r}.")
    if cause == effect:
        raise ValueError("Cause and effect are the same variable. Name two.")
    below = _reached(adjacency, [cause])
    if not below[effect]:
        raise ValueError("No directed path leads from the cause to the effect, so the total effect is 0.")
    if kind == "parents":
        return np.nonzero(adjacency[:, cause])[0].tolist()
    between = below & _reached(adjacency.T, [effect])
    between[cause] = False
    forbidden = _reached(adjacency, np.nonzero(between)[0].tolist())
    forbidden[cause] = True
    optimal = np.nonzero(adjacency[:, between].any(axis=1) & ~forbidden)[0].tolist()
    return _minimal(adjacency, cause, effect, between, optimal) if kind == "minimal" else optimal


def _reached(adjacency: BoolMatrix, start: list[int]) -> _NodeSet:
    """Mark the nodes that directed paths from the start lead to, including the start."""
    seen = np.zeros(len(adjacency), dtype=bool)
    seen[start] = True
    waiting = list(start)
    while waiting:
        new = np.nonzero(adjacency[waiting.pop()] & ~seen)[0]
        seen[new] = True
        waiting.extend(new.tolist())
    return seen


def _minimal(adjacency: BoolMatrix, cause: int, effect: int, between: _NodeSet, chosen: list[int]) -> list[int]:
    """Drop nodes that are not needed from a valid set of ancestors of cause and effect.

    A set is valid if it separates cause and effect after the first edges of the directed paths are cut (van der Zander,
    Liśkiewicz and Textor 2014). For ancestors of the two this is separation in their moral graph, where a node that is
    not needed stays so when others are dropped.
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
