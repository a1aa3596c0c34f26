"""Checks of the linear model per edge: straight effects, and noise that is independent of the parents."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from golem.assessment.diagnostics.finding import Finding
from golem.assessment.p_values import holm
from golem.directions.independence import dependence
from golem.runtime.messages import quoted, shortened
from golem.runtime.problems import Declare, Text
from golem.runtime.types import BoolMatrix, Matrix, Vector
from golem.score.score_settings import possible_codes

LEVEL = 0.01
# With many rows every test rejects, so small effects do not count. The second number of a pair is large.
_CURVED, _DEPENDENT = (0.01, 0.1), (0.1, 0.25)
_MANY = 0.2
_FEWEST_ROWS = 50
_RANK_TOLERANCE = 1e-6


@dataclass(frozen=True)
class EdgeAssumptions:
    """How far one edge is from a linear effect with independent noise.

    Parameters
    ----------
    source, target : int
        The edge.
    curvature, curvature_p : float
        Share of the residual variance of the target that a curve of the source explains beyond a straight line,
        adjusted for degrees of freedom; and the p-value of its F test.
    dependence, dependence_p : float
        Dependence between the residual of the target and the source, 0 if they are independent (docs/diagnostics.md);
        and the p-value of its test.

    Examples
    --------
    >>> from golem import Golem, Moments
    >>> from golem.simulate import simulate
    >>> drawn = simulate(4, 300, "ER1", random_state=0)
    >>> from golem.diagnostics import edge_assumptions
    >>> max(edge.curvature for edge in edge_assumptions(drawn.sem.adjacency, drawn.data)) < 0.05  # straight lines
    True
    """

    source: int
    target: int
    curvature: float
    curvature_p: float
    dependence: float
    dependence_p: float


def edge_assumptions(graph: BoolMatrix, X: Matrix) -> list[EdgeAssumptions]:
    """Measure how far each edge of a graph is from a linear effect with independent noise.

    Nodes whose residual or parents do not vary, and nodes with fewer than 50 rows more than parents, are left out.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.normal(size=(2, 500))
    >>> (edge,) = edge_assumptions(np.array([[0, 1], [0, 0]], dtype=bool), np.column_stack([x, x + x**2 + noise]))
    >>> edge.curvature > 0.4, edge.dependence_p < 1e-6
    (True, True)
    """
    found = []
    for j in np.nonzero(graph.any(axis=0))[0]:
        parents = np.nonzero(graph[:, j])[0]
        P, y = X[:, parents] - X[:, parents].mean(axis=0), X[:, j] - X[:, j].mean()
        scale = P.std(axis=0)
        if len(X) < _FEWEST_ROWS + len(parents) or not scale.all():
            continue
        onto, _ = np.linalg.qr(P / scale)
        residual = y - onto @ (onto.T @ y)
        if residual.std() <= _RANK_TOLERANCE * y.std():
            continue
        tests = dependence(residual, P / scale)
        for k, i in enumerate(parents):
            bend = _curvature(residual, P[:, k] / scale[k], onto)
            found.append(EdgeAssumptions(int(i), int(j), *bend, float(tests.effects[k]), float(tests.p_values[k])))
    return found


def _curvature(residual: Vector, v: Vector, onto: Matrix) -> tuple[float, float]:
    """Return the adjusted share of the residual variance that log cosh v and tanh v explain, and its p-value.

    The two functions, one even and one odd, are bounded by straight lines, so that outliers do not dominate them.
    """
    from scipy.special import fdtrc

    n, k = onto.shape
    curves = np.column_stack([np.logaddexp(v, -v), np.tanh(v)])
    curves -= curves.mean(axis=0)
    curves -= onto @ (onto.T @ curves)
    directions, size, _ = np.linalg.svd(curves, full_matrices=False)
    directions = directions[:, size > _RANK_TOLERANCE * np.sqrt(n)]  # none if v has two values
    q = directions.shape[1]
    if not q:
        return 0.0, 1.0
    share = min(float(np.sum((directions.T @ residual) ** 2) / np.sum(residual**2)), 1 - 1e-15)
    freedom = n - 1 - k - q
    p_value = float(fdtrc(q, freedom, share / q / ((1 - share) / freedom)))
    return max(0.0, 1 - (1 - share) * (n - 1 - k) / freedom), p_value


def find_linearity(edges: Sequence[EdgeAssumptions], names: tuple[str, ...], X: Matrix) -> Finding:
    """Find effects in these rows that are not straight lines."""
    bad = _beyond(edges, lambda edge: edge.curvature, lambda edge: edge.curvature_p, _CURVED[0])
    if not bad:
        return _fine("linearity", edges, "No edge has a visible curve.")
    texts = [f"{_text(edge, names)} ({edge.curvature:.0%})" for edge in bad]
    transform = "ransform these columns, e.g. by logarithms or square roots, if they are not transformed already."
    remedy = f"T{transform}"
    sources = sorted({edge.source for edge in bad})
    if codes := possible_codes(X[:, sources], [names[i] for i in sources]):
        are = "is a code" if len(codes) == 1 else "are codes"
        remedy = Text(f"If {quoted(codes)} {are} of categories, use ", Declare(codes), f". Otherwise t{transform}")
    return Finding(
        "linearity",
        "warning" if bad[0].curvature > _CURVED[1] else "note",
        f"{len(bad)} of {len(edges)} effects {'is' if len(bad) == 1 else 'are'} not linear: "
        f"{shortened(texts, 3)}. The number in brackets is the share of the remaining variance that a curve would "
        "explain.",
        remedy,
    )


def find_independence(
    edges: Sequence[EdgeAssumptions], names: tuple[str, ...], opposed: Collection[tuple[int, int]] = ()
) -> Finding:
    """Find edges where the noise of the target depends on the source; `opposed`: shapes support the opposite there."""
    bad = _beyond(edges, lambda edge: edge.dependence, lambda edge: edge.dependence_p, _DEPENDENT[0])
    if not bad:
        return _fine("independence", edges, "No residual depends on the parents of its variable.")
    texts = [f"{_text(edge, names)} ({edge.dependence:.2f})" for edge in bad]
    turned = [_text(edge, names) for edge in bad if (edge.source, edge.target) in opposed]
    remedy = "Look at these pairs in a scatter plot."
    if turned:
        remedy += f" Of {shortened(turned, 3)}, the direction may be wrong: the noise shapes support the opposite."
    if len(turned) < len(bad):
        where = "at the other edges" if turned else "here"
        remedy += f" golem does not use the shape of the noise {where}; do not use other methods that do (e.g. LiNGAM)."
    many = len(bad) > _MANY * len(edges) and bad[0].dependence > _DEPENDENT[1]
    return Finding(
        "independence",
        "warning" if many else "note",
        f"In {len(bad)} of {len(edges)} edges the residual depends on the parent: {shortened(texts, 3)}. "
        f"The number in brackets measures this dependence: 0 means independent, above {_DEPENDENT[1]} is strong. A "
        "curve, noise that grows with the parent, outliers, a hidden common cause or a wrong direction can cause this.",
        remedy,
    )


def _beyond(
    edges: Sequence[EdgeAssumptions],
    effect: Callable[[EdgeAssumptions], float],
    p_value: Callable[[EdgeAssumptions], float],
    least: float,
) -> list[EdgeAssumptions]:
    """Return the edges with an effect that is neither small nor by chance, the largest first."""
    adjusted = holm(np.array([p_value(edge) for edge in edges]))
    bad = [edge for edge, p in zip(edges, adjusted, strict=True) if p < LEVEL and effect(edge) > least]
    return sorted(bad, key=effect, reverse=True)


def _fine(name: str, edges: Sequence[EdgeAssumptions], sentence: str) -> Finding:
    return Finding(
        name, "ok", sentence if edges else f"No edge could be checked: this needs edges, and {_FEWEST_ROWS} rows."
    )


def _text(edge: EdgeAssumptions, names: tuple[str, ...]) -> str:
    return f"{names[edge.source]!r} -> {names[edge.target]!r}"
