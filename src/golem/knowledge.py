"""What is known before the data: forbidden edges, required edges and tiers, as masks that solvers obey."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from golem.graph import BoolMatrix, is_dag


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Masks over the edges of a graph on d nodes.

    Parameters
    ----------
    forbidden : ndarray of shape (d, d), bool
        `forbidden[i, j]`: the edge i -> j cannot be.
    required : ndarray of shape (d, d), bool
        `required[i, j]`: the edge i -> j must be.

    Raises
    ------
    ValueError
        If an edge is required and forbidden, or required edges form a cycle.

    Examples
    --------
    >>> known = Knowledge.of(3, required=[(0, 2)], tiers=[[0, 1], [2]])
    >>> known.forbidden.astype(int)
    array([[1, 0, 0],
           [0, 1, 0],
           [1, 1, 1]])
    """

    forbidden: BoolMatrix
    required: BoolMatrix

    def __post_init__(self) -> None:
        if self.forbidden.shape != self.required.shape or self.forbidden.ndim != 2:
            raise ValueError(
                f"knowledge masks must be square and alike; got {self.forbidden.shape} and {self.required.shape}"
            )
        both = np.argwhere(self.forbidden & self.required)
        if len(both):
            i, j = both[0]
            raise ValueError(f"the edge {i} -> {j} is both required and forbidden")
        if not is_dag(self.required):
            raise ValueError("the required edges form a cycle, so no directed acyclic graph has them all")

    @classmethod
    def none(cls, d: int) -> Knowledge:
        """No knowledge but that no node causes itself."""
        return cls.of(d)

    @classmethod
    def of(
        cls,
        d: int,
        forbidden: Iterable[tuple[int, int]] = (),
        required: Iterable[tuple[int, int]] = (),
        tiers: Sequence[Sequence[int]] = (),
    ) -> Knowledge:
        """Build the masks from lists of edges and tiers of node numbers.

        No edge goes from a node of a later tier to one of an earlier tier; nodes in no tier are free. The reverse
        of a required edge is forbidden, as is every edge from a node to itself.
        """
        forbidden_mask, required_mask = np.eye(d, dtype=bool), np.zeros((d, d), dtype=bool)
        for mask, edges in ((forbidden_mask, forbidden), (required_mask, required)):
            for i, j in edges:
                _require_nodes(d, i, j)
                mask[i, j] = True
        earlier: list[int] = []
        for tier in tiers:
            _require_nodes(d, *tier)
            forbidden_mask[np.ix_(tier, earlier)] = True
            earlier.extend(tier)
        if len(set(earlier)) < len(earlier):
            raise ValueError("a node stands in two tiers")
        return cls(forbidden_mask | required_mask.T, required_mask)

    @property
    def allowed(self) -> BoolMatrix:
        """Edges that may be: neither forbidden nor on the diagonal."""
        return ~self.forbidden & ~np.eye(len(self.forbidden), dtype=bool)

    @property
    def is_empty(self) -> bool:
        """True where nothing is known beyond the absence of self-loops."""
        return not self.required.any() and bool(np.all(self.forbidden == np.eye(len(self.forbidden), dtype=bool)))


def _require_nodes(d: int, *nodes: int) -> None:
    """Raise a ValueError for a node number outside 0 .. d-1."""
    for node in nodes:
        if not 0 <= node < d:
            raise ValueError(f"knowledge names node {node}, but nodes are numbered 0 to {d - 1}")
