"""The statements of section 3 and appendix A, each checked on one random model.

`check_theorems` searches for the sparsest graphs that generate a distribution. A maximum likelihood estimator with a
small enough sparsity penalty returns them from infinitely many rows.
"""

from __future__ import annotations

import math

import numpy as np

from golem.graphs.dag import cpdag, is_dag
from golem.model.linear_sem import LinearSEM
from golem.model.simulation import random_weights
from golem.runtime.types import BoolMatrix, Matrix
from golem.score.likelihood import GaussianNV
from golem_experiments.attainable import (
    ATTAINED,
    Attainment,
    attain,
    attain_with_equal_variances,
    digraphs,
    graphs_of,
    has_triangle,
    largest_sine,
    support_family,
    tangent_rank,
)
from golem_experiments.experiment import Row


def check_lemma(nodes: int, rng: np.random.Generator) -> Row:
    """Compute log|det(I - B)| for random weights on every DAG."""
    graphs = np.array([graph for graph in digraphs(nodes) if is_dag(graph)])
    B = rng.choice([-1, 1], graphs.shape) * rng.uniform(0.5, 2, graphs.shape) * graphs
    sizes = np.abs(np.linalg.slogdet(np.eye(nodes) - B)[1])
    return {"graphs": len(graphs), "largest": float(sizes.max())}


def check_theorems(sem: LinearSEM, rng: np.random.Generator, starts: int = 24) -> Row:
    """Find the directed graphs with at most the true number of edges that generate the distribution."""
    truth, d = sem.adjacency, sem.d
    most = int(truth.sum())
    tried = attain(sem.precision, most, starts, rng)
    attained = [one for one in tried if one.attained]
    fewest = min(one.edges for one in attained)
    sparsest = [one for one in attained if one.edges == fewest]
    graphs = [graph for one in sparsest for graph in graphs_of(one.family, d)]
    acyclic = {graph.tobytes() for graph in graphs if is_dag(graph)}
    markov = cpdag(truth)
    members = {g.tobytes() for g in digraphs(d) if is_dag(g) and np.array_equal(cpdag(g), markov)}
    ranks, sines = zip(*(_tangent_of(one, sem) for one in sparsest), strict=True)
    refused = [one.residual for one in tried if not one.attained]
    return {
        "triangle": has_triangle(truth),
        "true_edges": most,
        "graphs": sum(math.comb(d * (d - 1), k) for k in range(most + 1)),
        "searched": sum(len(graphs_of(one.family, d)) for one in tried),
        "fewest_edges": fewest,
        "sparsest": len(graphs),
        "acyclic": len(acyclic),
        "cyclic": len(graphs) - len(acyclic),
        "markov_class": len(members),
        "is_markov_class": acyclic == members,
        "full_dimension": all(rank == d + most for rank in ranks),
        "largest_sine": max(sines),
        "attained_residual": max(one.residual for one in attained),
        "refused_residual": _smallest_finite(refused),
        "excess_likelihood": max(excess_likelihood(one, sem) for one in sparsest),
    }


def _tangent_of(one: Attainment, sem: LinearSEM) -> tuple[int, float]:
    """Return the dimension of what a family generates, and the distance of its tangent space from that of the truth."""
    support = one.Q != 0
    rank, basis = tangent_rank(one.Q, support)
    root = (np.eye(sem.d) - sem.weights) / np.sqrt(sem.noise_variances)
    unit = root / np.linalg.norm(root, axis=1, keepdims=True)
    _, truth = tangent_rank(unit, unit != 0)
    return rank, largest_sine(basis, truth)


def excess_likelihood(one: Attainment, sem: LinearSEM) -> float:
    """Return the largest |L(B) - L(B0)| of likelihood-NV over the graphs of a family, with B computed from Q."""
    theta = sem.precision
    Q = one.Q * np.sqrt(np.diagonal(theta))[:, None]
    lowest = float(np.linalg.slogdet(sem.covariance)[1]) / 2
    largest = 0.0
    for graph in graphs_of(one.family, sem.d):
        M = Q[:, _columns(one.Q != 0, graph | np.eye(sem.d, dtype=bool))]
        B = np.eye(sem.d) - M / np.diagonal(M)
        np.fill_diagonal(B, 0.0)
        largest = max(largest, abs(float(GaussianNV().value_and_grad(B, sem.covariance)[0]) - lowest))
    return largest


def _columns(support: BoolMatrix, wanted: BoolMatrix) -> list[int]:
    """Return the column of Q that belongs to each node of a graph."""
    left = list(range(len(support)))
    taken = []
    for node in range(len(wanted)):
        column = next(k for k in left if np.array_equal(support[:, k], wanted[:, node]))
        left.remove(column)
        taken.append(column)
    return taken


def check_equal_variances(sem: LinearSEM, rng: np.random.Generator, starts: int = 24) -> Row:
    """Find all directed graphs, with any number of edges, that generate the distribution with equal variances."""
    truth = sem.adjacency
    tried = attain_with_equal_variances(sem.precision, starts, rng)
    attained = [graph for graph, residual in tried if residual <= ATTAINED]
    refused = [residual for _, residual in tried if residual > ATTAINED]
    fewest = min(int(graph.sum()) for graph in attained)
    sparsest = [graph for graph in attained if graph.sum() == fewest]
    return {
        "true_edges": int(truth.sum()),
        "graphs": 2 ** (sem.d * (sem.d - 1)),
        "fewest_edges": fewest,
        "sparsest": len(sparsest),
        "is_truth": len(sparsest) == 1 and np.array_equal(sparsest[0], truth),
        "acyclic": sum(is_dag(graph) for graph in attained),
        "cyclic": sum(not is_dag(graph) for graph in attained),
        "attained_residual": max(residual for _, residual in tried if residual <= ATTAINED),
        "refused_residual": _smallest_finite(refused),
    }


def _smallest_finite(residuals: list[float]) -> float | None:
    return min((residual for residual in residuals if math.isfinite(residual)), default=None)


def check_appendix_a(rng: np.random.Generator, starts: int = 24, draws: int = 100) -> Row:
    """Count the distributions of a complete DAG that the 3-cycle generates: by search and by the quartic."""
    searched = solved = both = 0
    cycle = support_family(np.roll(np.eye(3, dtype=bool), 1, axis=1))
    worst = 0.0
    for _ in range(draws):
        sem = LinearSEM(random_weights(np.triu(np.ones((3, 3), dtype=bool), 1), rng), rng.uniform(1, 2, 3) ** 2)
        theta = sem.precision
        family = next(one for one in attain(theta, 3, starts, rng) if one.family == cycle)
        searched += family.attained
        solved += quartic_has_root(theta)
        both += family.attained == quartic_has_root(theta)
        worst = max(worst, family.residual if family.attained else 0.0)
    return {"graphs": draws, "attained": searched, "quartic": solved, "agree": both, "attained_residual": worst}


def quartic_has_root(theta: Matrix) -> bool:
    """Return whether the equation of appendix A has a root e with real a, b, c, d and f.

    With x = e^2 it is a quadratic. Q has the rows (a, 0, b), (c, d, 0), (0, e, f), so that d^2 = Theta_23^2 / x, c^2 =
    Theta_22 - d^2 and b^2 = Theta_11 - Theta_12^2 / c^2 have to be positive as well.
    """
    (t11, t12, t13), (_, t22, t23), (_, _, t33) = theta
    p = t11 * t22 - t12**2
    q = -t11 * t22 * t33 - t11 * t23**2 + t22 * t13**2 + t33 * t12**2
    r = t11 * t33 * t23**2 - t13**2 * t23**2
    inside = q**2 - 4 * p * r
    if inside < 0:
        return False
    for x in ((-q + math.sqrt(inside)) / (2 * p), (-q - math.sqrt(inside)) / (2 * p)):
        if x > 0 and (c2 := t22 - t23**2 / x) > 0 and t11 - t12**2 / c2 > 0:
            return True
    return False
