"""The learned graph: a list of edges, with weights and what the direction of each rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from golem.directions.experiments import Hardness
from golem.graphs.edges import Edges
from golem.graphs.named_graph import DirectionSource
from golem.runtime.types import BoolVector, Vector

if TYPE_CHECKING:
    from golem.directions.experiments import ExperimentChecks


@dataclass(frozen=True, eq=False)
class LearnedGraph(Edges):
    """A learned graph with e edges on d nodes; its size is O(d + e).

    Parameters
    ----------
    causes, children : ndarray of shape (e,)
        Edge k leads from `causes[k]` to `children[k]`. Edges are grouped by child.
    d : int
        Number of nodes.
    weights : ndarray of shape (e,)
        The weights of the edges; NaN where an end is a category.
    residual_variances : ndarray of shape (d,)
        The variances of the nodes given their parents; NaN for categories.
    reversible : ndarray of shape (e,), bool, or None
        Whether the equivalence class leaves the direction open. None if the graph has a cycle.
    sources : ndarray of shape (e,), str, or None
        What the direction rests on; see `golem.directions.decisions.EdgeRecord`. None if the graph has a cycle.
    strength, error_rate : ndarray of shape (e,), or None
        The evidence for each direction (see `golem.directions.decisions.EdgeRecord`); NaN if there is none.
    conflicts : tuple of (int, int)
        Directions that the noise variances support and the noise shapes contradict.
    shape_note : str
        What the shapes of the noise give, and why not more; empty if they were not used.
    hardness : Hardness or None
        Whether targets of hard interventions depend on their parents; None if this was not tested.
    experiments : ExperimentChecks or None
        Tests of experiments that need their rows; None without rows.
    """

    weights: Vector
    residual_variances: Vector
    reversible: BoolVector | None = None
    sources: NDArray[np.str_] | None = None
    strength: Vector | None = None
    error_rate: Vector | None = None
    conflicts: tuple[tuple[int, int], ...] = ()
    shape_note: str = ""
    hardness: Hardness | None = None
    experiments: ExperimentChecks | None = None

    @property
    def undecided(self) -> BoolVector:
        """Whether the direction of each edge has no evidence."""
        return self.directed_by("none")

    def directed_by(self, source: DirectionSource) -> BoolVector:
        """Return whether the direction of each edge rests on a source."""
        return np.asarray(known(self.sources) == source)

    def directions(self) -> dict[tuple[int, int], DirectionSource]:
        """Return what the direction of each edge (cause, child) rests on; nothing for a graph with a cycle."""
        return {} if self.sources is None else dict(zip(self.pairs(), self.sources.tolist(), strict=True))

    @property
    def open_in_class(self) -> BoolVector:
        """The undecided edges that the equivalence class leaves open; others contradict the class of free variances."""
        return np.asarray(self.undecided & known(self.reversible))


def known(values: NDArray[Any] | None) -> NDArray[Any]:
    """Return the values; raise an AttributeError, as for an attribute that does not exist, if there are none."""
    if values is None:
        raise AttributeError(
            "The learned graph has a cycle (cycles='none'), so it has no equivalence class and no model."
        )
    return values
