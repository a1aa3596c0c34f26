"""Which directed graphs, including cyclic ones, generate a given Gaussian distribution (paper, section 3.1).

A graph generates the precision matrix Theta if there are weights B on its edges and noise variances Omega with
(I - B) Omega^-1 (I - B)' = Theta. With Q = (I - B) Omega^-1/2 this is Q Q' = Theta, where column j of Q must be nonzero
in row j and may be nonzero in the rows of the parents of j (appendix A). Two facts keep the search small:

- The product does not depend on the order of the columns. So only the *supports* of the columns matter, not which
  column belongs to which node: graphs whose columns have the same supports generate the same distributions. The
  smallest example is a cycle and its reverse.
- Theta[i, j] != 0 needs a column with both i and j. If Theta[i, j] = 0 and exactly one column has both, one of the two
  entries is zero, and a graph with fewer edges suffices.

The remaining supports are decided by Levenberg-Marquardt on the entries of Q, with many starts at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from golem.runtime.types import BoolMatrix, Matrix

# Residuals end near 1e-15 if there is a solution, and around 1e-3 if there is none.
ATTAINED = 1e-12
_ENTRY_FLOOR = 1e-5
# If an entry of the solution vanishes, convergence is slow: the entry falls with the root of the residual.
_ALMOST, _ALMOST_ENTRY = 1e-5, 1e-2
_ITERATIONS = 300
Family = tuple[int, ...]


def digraphs(nodes: int) -> Iterator[BoolMatrix]:
    """Yield every directed graph without self-loops: 64 on 3 nodes, 4096 on 4.

    Examples
    --------
    >>> from golem.graphs.dag import is_dag
    >>> sum(1 for _ in digraphs(3)), sum(is_dag(graph) for graph in digraphs(3))
    (64, 25)
    """
    off = ~np.eye(nodes, dtype=bool)
    for edges in product((False, True), repeat=nodes * (nodes - 1)):
        graph = np.zeros((nodes, nodes), dtype=bool)
        graph[off] = edges
        yield graph


@lru_cache(maxsize=4)
def dags_up_to_relabelling(nodes: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    """List the edges, from lower to higher numbers, of one DAG of every shape: 6 on 3 nodes, 31 on 4.

    Examples
    --------
    >>> len(dags_up_to_relabelling(3)), len(dags_up_to_relabelling(4))
    (6, 31)
    """
    pairs = [(i, j) for i in range(nodes) for j in range(i + 1, nodes)]
    shapes: dict[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]] = {}
    for chosen in product((False, True), repeat=len(pairs)):
        edges = tuple(pair for pair, taken in zip(pairs, chosen, strict=True) if taken)
        shape = min(tuple(sorted((p[i], p[j]) for i, j in edges)) for p in permutations(range(nodes)))
        shapes.setdefault(shape, edges)
    return tuple(sorted(shapes.values(), key=lambda edges: (len(edges), edges)))


def has_triangle(adjacency: BoolMatrix) -> bool:
    """Return whether three nodes are pairwise adjacent (assumption 3 forbids it)."""
    A = (adjacency | adjacency.T).astype(int)
    return bool(np.trace(A @ A @ A) > 0)


def support_family(adjacency: BoolMatrix) -> Family:
    """Return the supports of the columns of Q, each as the bits of an integer, sorted.

    Examples
    --------
    The two directed cycles over three nodes have the same supports:

    >>> cycle = np.roll(np.eye(3, dtype=bool), 1, axis=1)
    >>> support_family(cycle) == support_family(cycle.T)
    True
    """
    M = adjacency | np.eye(len(adjacency), dtype=bool)
    return tuple(sorted(int(bits) for bits in (1 << np.arange(len(M))) @ M))


@lru_cache(maxsize=4)
def families(nodes: int) -> dict[Family, tuple[bytes, ...]]:
    """Map every family of column supports to its graphs (their adjacency matrices as bytes)."""
    groups: dict[Family, list[bytes]] = {}
    for graph in digraphs(nodes):
        groups.setdefault(support_family(graph), []).append(graph.tobytes())
    return {family: tuple(graphs) for family, graphs in groups.items()}


def graphs_of(family: Family, nodes: int) -> list[BoolMatrix]:
    """Return the directed graphs whose columns have these supports."""
    return [np.frombuffer(graph, dtype=bool).reshape(nodes, nodes) for graph in families(nodes)[family]]


@dataclass(frozen=True, eq=False)
class Attainment:
    """What the search found for one family of supports.

    Parameters
    ----------
    family : tuple of int
        The supports.
    residual : float
        Largest entry of |Q Q' - Theta|, with Theta scaled to a unit diagonal, at the best of the starts.
    Q : ndarray of shape (d, d)
        The solution of that start, in the same scale.
    """

    family: Family
    residual: float
    Q: Matrix

    @property
    def attained(self) -> bool:
        """Whether the distribution is generated."""
        return self.residual <= ATTAINED

    @property
    def edges(self) -> int:
        """Number of edges of the graphs of this family."""
        return sum(bits.bit_count() for bits in self.family) - len(self.family)


def scaled(theta: Matrix) -> Matrix:
    """Scale a precision matrix to a unit diagonal, which scales the rows of Q and keeps its zeros."""
    size = 1 / np.sqrt(np.diagonal(theta))
    unit: Matrix = theta * size[:, None] * size[None, :]
    # Exact zeros of the model appear as rounding errors.
    unit[np.abs(unit) < 1e-12] = 0.0
    return unit


def candidate_families(theta: Matrix, most_edges: int) -> list[Family]:
    """Return the families with at most `most_edges` edges that the zeros of Theta allow."""
    d = len(theta)
    chosen = []
    for family in families(d):
        if sum(bits.bit_count() for bits in family) - d > most_edges:
            continue
        columns = np.array([[bits >> i & 1 for bits in family] for i in range(d)])
        shared = (columns @ columns.T)[np.triu_indices(d, 1)]
        entries = theta[np.triu_indices(d, 1)]
        if np.all(shared[entries != 0] > 0) and np.all(shared[entries == 0] != 1):
            chosen.append(family)
    return chosen


def attain(
    theta: Matrix, most_edges: int, starts: int = 24, random_state: int | np.random.Generator = 0
) -> list[Attainment]:
    """Search which families with at most `most_edges` edges generate a precision matrix.

    Parameters
    ----------
    theta : array of shape (d, d)
        Precision matrix.
    most_edges : int
        Maximum number of edges.
    starts : int
        Random starts per family. If none of them finds a solution, the family counts as not generating it.
    random_state : int or Generator
        Seed of the starts.

    Examples
    --------
    The chain 0 -> 1 -> 2 has three sparsest graphs, its Markov equivalence class:

    >>> B = np.array([[0, 1.5, 0], [0, 0, -0.8], [0, 0, 0]])
    >>> theta = (np.eye(3) - B) @ (np.eye(3) - B).T
    >>> sum(len(graphs_of(a.family, 3)) for a in attain(theta, 2) if a.attained)
    3
    """
    rng = np.random.default_rng(random_state)
    unit = scaled(np.asarray(theta, dtype=float))
    d = len(unit)
    open_families = candidate_families(unit, most_edges)
    if not open_families:
        return []
    masks = np.array([[[bool(bits >> i & 1) for bits in family] for i in range(d)] for family in open_families])
    best = np.full(len(masks), np.inf)
    Q = np.zeros(masks.shape)
    left = np.arange(len(masks))
    # A few starts decide most families; only the others get the rest.
    for count in (4, starts - 4) if starts > 4 else (starts,):
        if not len(left):
            break
        found, residual = _solve(unit, masks[left], count, rng)
        better = residual < best[left]
        best[left[better]], Q[left[better]] = residual[better], found[better]
        left = left[best[left] > ATTAINED]
    return [Attainment(*parts) for parts in zip(open_families, best.tolist(), Q, strict=True)]


def attain_with_equal_variances(
    theta: Matrix, starts: int = 24, random_state: int | np.random.Generator = 0
) -> list[tuple[BoolMatrix, float]]:
    """Return every directed graph with its residual, if all of its edges are used and all noise variances are equal.

    With one variance the diagonal of Q is constant, which fixes the order of its columns: each graph is a family of its
    own (section 3.2).

    Examples
    --------
    The two minimizers of appendix E, X1 -> X2 and a cyclic graph:

    >>> M = np.array([[1.0, -1.5], [0.0, 1.0]])
    >>> [graph.tolist() for graph, residual in attain_with_equal_variances(M @ M.T) if residual <= ATTAINED]
    [[[False, True], [False, False]], [[False, True], [True, False]]]
    """
    graphs = list(digraphs(len(theta)))
    unit = np.asarray(theta, dtype=float) * len(theta) / np.trace(theta)
    masks = np.array(graphs) | np.eye(len(unit), dtype=bool)
    residual = _solve(unit, masks, starts, np.random.default_rng(random_state), tied=True)[1]
    return list(zip(graphs, residual.tolist(), strict=True))


def tangent_rank(Q: Matrix, support: BoolMatrix) -> tuple[int, Matrix]:
    """Return the dimension of what the supports generate near Q Q', and an orthonormal basis of its directions.

    The directions are derivatives of Q -> Q Q' along the free entries of Q. If two graphs are quasi equivalent
    (definition 1), they share a set of distributions of full measure, and these spaces are equal.
    """
    d = len(Q)
    rows, columns = np.nonzero(support)
    directions = np.zeros((len(rows), d, d))
    for k, (i, j) in enumerate(zip(rows, columns, strict=True)):
        directions[k, i, :] += Q[:, j]
        directions[k, :, i] += Q[:, j]
    # An off-diagonal entry occurs twice in the matrix; once, with weight sqrt 2, gives the same angles.
    upper = np.triu_indices(d)
    weight = np.where(upper[0] == upper[1], 1.0, np.sqrt(2))
    _, size, basis = np.linalg.svd(directions[:, *upper] * weight, full_matrices=False)
    rank = int(np.sum(size > 1e-8 * size[0]))
    return rank, basis[:rank].T


def largest_sine(first: Matrix, second: Matrix) -> float:
    """Return the sine of the largest angle between a direction of `first` and the space of `second`."""
    outside = first - second @ (second.T @ first)
    return float(np.linalg.norm(outside, 2))


def _solve(
    theta: Matrix, masks: NDArray[np.bool_], starts: int, rng: np.random.Generator, *, tied: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Minimize |Q Q' - Theta| over each mask; return the best Q and its largest residual, one per mask.

    With `tied` all entries on the diagonal of Q are equal. The residual is infinite if an entry vanishes.
    """
    count, d = len(masks), len(theta)
    mask = np.repeat(masks, starts, axis=0).astype(float)
    Q = mask * rng.standard_normal(mask.shape)
    # The rows of a solution have length one, as Theta has a unit diagonal.
    Q /= np.linalg.norm(Q, axis=2, keepdims=True)
    diagonal = np.arange(d) * (d + 1)
    if tied:
        # Cyclic solutions have small entries on the diagonal and large ones off it.
        Q *= 1.5
        Q.reshape(len(Q), -1)[:, diagonal] = rng.uniform(0.05, 1, (len(Q), 1))
    upper = np.triu_indices(d)
    damping = np.full(len(Q), 1e-2)
    residual = (Q @ Q.transpose(0, 2, 1) - theta)[:, *upper]
    loss = np.sum(residual**2, axis=1)
    active = np.arange(len(Q))
    for _ in range(_ITERATIONS):
        q, r = Q[active], residual[active]
        J = _jacobian(q, upper) * mask[active].reshape(len(q), 1, d * d)
        if tied:
            J[:, :, 0] = J[:, :, diagonal].sum(axis=2)
            J[:, :, diagonal[1:]] = 0.0
        # The step J'(J J' + damping)^-1 r equals the usual one, but stays solvable if entries are masked.
        gram = J @ J.transpose(0, 2, 1) + damping[active, None, None] * np.eye(r.shape[1])
        step = np.einsum("nek,ne->nk", J, np.linalg.solve(gram, r[..., None])[..., 0])
        if tied:
            step[:, diagonal] = step[:, :1]
        trial = q - step.reshape(q.shape)
        trial_residual = (trial @ trial.transpose(0, 2, 1) - theta)[:, *upper]
        trial_loss = np.sum(trial_residual**2, axis=1)
        taken = trial_loss < loss[active]
        where = active[taken]
        flat = loss[where] - trial_loss[taken] < 1e-9 * loss[where]
        Q[where], residual[where], loss[where] = trial[taken], trial_residual[taken], trial_loss[taken]
        damping[active] = np.where(taken, np.maximum(damping[active] / 5, 1e-13), damping[active] * 4)
        # Finished: solved to rounding, no longer decreasing, or stuck.
        finished = np.zeros(len(Q), dtype=bool)
        finished[where[flat]] = True
        finished |= (loss < 1e-28) | (damping > 1e8)
        active = active[~finished[active]]
        if not len(active):
            break
    size = np.abs(residual).max(axis=1)
    # If an entry of Q vanishes, a smaller family suffices and is counted instead.
    least = np.min(np.where(mask > 0, np.abs(Q), np.inf), axis=(1, 2))
    size[(least < _ENTRY_FLOOR) | ((size > ATTAINED) & (size < _ALMOST) & (least < _ALMOST_ENTRY))] = np.inf
    size = size.reshape(count, starts)
    chosen = np.argmin(size, axis=1)
    return Q.reshape(count, starts, d, d)[np.arange(count), chosen], size[np.arange(count), chosen]


def _jacobian(Q: NDArray[np.float64], upper: tuple[NDArray[np.intp], NDArray[np.intp]]) -> NDArray[np.float64]:
    """Return the derivatives `(n, d (d + 1) / 2, d d)` of the upper entries of Q Q' by the entries of Q."""
    n, d, _ = Q.shape
    J = np.zeros((n, d, d, d, d))
    for i in range(d):
        J[:, i, :, i, :] += Q
        J[:, :, i, i, :] += Q
    return J[:, *upper].reshape(n, -1, d * d)
