"""All stationary points of a score of two variables: B(b, c) = [[0, b], [c, 0]] (paper, appendix E).

The gradients are those of the terms that the solvers minimize. Newton's method runs on them from a grid of starts, on
each face of the l1 penalty. The points it finds are certified by the gradient and classified by the curvature.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from golem.runtime.types import Matrix
from golem.score.acyclicity import Expm
from golem.score.likelihood import Likelihood

Points = NDArray[np.float64]
# Newton's method runs to rounding accuracy; a point with a larger gradient is not stationary.
TOLERANCE = 1e-9
# Starts fill the square [-8, 8]^2; points up to four times as far are kept.
_REACH = 8.0
_DIFFERENCE = 1e-5
_SAME_POINT = 1e-5
_ITERATIONS = 50
_LONGEST_STEP = 0.5
_CURVATURE_FLOOR = 1e-6


@dataclass(frozen=True, eq=False)
class PlaneScore:
    """S(b, c) = L(B; covariance) + lambda_l1 (|b| + |c|) + lambda_dag h(B), on the plane or only on its DAGs.

    Parameters
    ----------
    covariance : array of shape (2, 2)
        Population covariance.
    likelihood : Likelihood
        The data term L.
    lambda_l1, lambda_dag : float
        Weights of the penalties.
    hard : bool
        Hard constraint: only the two axes are allowed, where B is a DAG.
    """

    covariance: Matrix
    likelihood: Likelihood
    lambda_l1: float = 0.0
    lambda_dag: float = 0.0
    hard: bool = False

    def smooth(self, points: Points) -> tuple[Points, Points]:
        """Return the value `(...,)` without the l1 penalty and its gradient `(..., 2)` at points `(..., 2)`."""
        B = np.zeros((*points.shape[:-1], 2, 2))
        B[..., 0, 1], B[..., 1, 0] = points[..., 0], points[..., 1]
        value, gradient = self.likelihood.value_and_grad(B, self.covariance)
        if self.lambda_dag:
            h, slope = Expm().value_and_grad(B)
            value, gradient = value + self.lambda_dag * h, gradient + self.lambda_dag * slope
        return value, np.stack([gradient[..., 0, 1], gradient[..., 1, 0]], axis=-1)

    def value(self, points: Points) -> Points:
        """Return S `(...,)`."""
        total: Points = self.smooth(points)[0] + self.lambda_l1 * np.abs(points).sum(axis=-1)
        return total

    def hessian(self, points: Points) -> Points:
        """Return the second derivatives `(..., 2, 2)` of the smooth part, by central differences of its gradient."""
        columns = [
            (self.smooth(points + step)[1] - self.smooth(points - step)[1]) / (2 * _DIFFERENCE)
            for step in _DIFFERENCE * np.eye(2)
        ]
        H = np.stack(columns, axis=-1)
        symmetric: Points = (H + np.swapaxes(H, -1, -2)) / 2
        return symmetric


@dataclass(frozen=True)
class StationaryPoint:
    """A point where the score is stationary.

    Parameters
    ----------
    b, c : float
        The weights of X1 -> X2 and X2 -> X1.
    value : float
        The score.
    kind : str
        "minimum", "saddle", "maximum", or "degenerate" where a curvature vanishes.
    residual : float
        Largest entry of the gradient along the coordinates that the penalty or constraint does not hold at zero.
    """

    b: float
    c: float
    value: float
    kind: str
    residual: float

    @property
    def is_cyclic(self) -> bool:
        """Whether both edges exist."""
        return self.b != 0 and self.c != 0


def stationary_points(score: PlaneScore, starts: int = 33) -> list[StationaryPoint]:
    """Find the stationary points by Newton's method from a grid, lowest score first.

    With an l1 penalty a point is stationary if zero is in its subdifferential: if a coordinate is zero, the gradient
    along it is at most lambda_l1. A kink counts as positive curvature.

    Parameters
    ----------
    score : PlaneScore
        The score.
    starts : int
        Starts along each side of the square.

    Examples
    --------
    >>> from golem.score.likelihood import GaussianEV
    >>> points = stationary_points(PlaneScore(np.array([[1.0, 1.5], [1.5, 3.25]]), GaussianEV()))
    >>> [(round(p.b, 3), round(p.c, 3), p.kind) for p in points]
    [(1.5, 0.0, 'minimum'), (2.833, 1.333, 'minimum'), (-1.333, 1.333, 'saddle')]
    """
    found: list[StationaryPoint] = []
    for signs in _faces(score):
        free = np.array([sign != 0 for sign in signs])
        ticks = [_ticks(starts if free.all() else 8 * starts, sign) for sign in signs]
        grid = np.stack(np.meshgrid(*ticks, indexing="ij"), axis=-1).reshape(-1, 2)
        slope = score.lambda_l1 * np.nan_to_num(np.array(signs, dtype=float))
        for point in _distinct(_newton(score, grid, free, slope)):
            known = _certified(score, point, signs, free, slope)
            if known is not None and not any(np.hypot(p.b - known.b, p.c - known.c) < _SAME_POINT for p in found):
                found.append(known)
    return sorted(found, key=lambda p: (round(p.value, 10), abs(p.b) + abs(p.c)))


def indices(points: list[StationaryPoint]) -> tuple[int, int, int]:
    """Return minima + maxima - saddles in the three parts of the plane: bc < 1, and bc > 1 with b > 0 and with b < 0.

    A likelihood has a pole on bc = 1. If the score grows without bound in all directions of a part, this number is 1
    (Poincaré and Hopf; each part can be shrunk to a point), unless a stationary point was missed.
    """
    signs = {"minimum": 1, "maximum": 1, "saddle": -1}
    parts = [0, 0, 0]
    for p in points:
        parts[0 if p.b * p.c < 1 else 1 if p.b > 0 else 2] += signs.get(p.kind, 0)
    return parts[0], parts[1], parts[2]


def _faces(score: PlaneScore) -> list[tuple[float, float]]:
    """List the signs of (b, c) that are searched separately: 0 holds a coordinate at zero, NaN allows any sign."""
    anything = float("nan")
    if score.hard:
        return [(anything, 0.0), (0.0, anything)]
    if score.lambda_l1 == 0:
        return [(anything, anything)]
    return [(float(b), float(c)) for b, c in product((-1, 0, 1), repeat=2)]


def _ticks(count: int, sign: float) -> Points:
    """Return starts along a coordinate, denser near zero; only those of a sign if it is given."""
    if sign == 0:
        return np.zeros(1)
    # An even number keeps the starts off the axes.
    ticks: Points = _REACH * np.sinh(np.linspace(-3, 3, count + count % 2)) / np.sinh(3)
    kept: Points = ticks if np.isnan(sign) else ticks[np.sign(ticks) == sign]
    return kept


def _newton(score: PlaneScore, points: Points, free: NDArray[np.bool_], slope: Points) -> Points:
    """Solve gradient + slope = 0 along the free coordinates by Newton's method; return the solutions."""
    if not free.any():
        return points
    with np.errstate(all="ignore"):
        for _ in range(_ITERATIONS):
            gradient = (score.smooth(points)[1] + slope)[:, free]
            H = score.hessian(points)[:, free][:, :, free]
            usable = np.isfinite(H).all(axis=(1, 2)) & np.isfinite(gradient).all(axis=1)
            points, gradient, H = points[usable], gradient[usable], H[usable]
            # Saddles are wanted too, so the direction is Newton's for every curvature.
            curvature, axes = np.linalg.eigh(H)
            along = np.einsum("nki,nk->ni", axes, gradient) / np.where(np.abs(curvature) > 1e-12, curvature, 1e-12)
            step = np.einsum("nik,nk->ni", axes, along)
            length = np.linalg.norm(step, axis=1, keepdims=True)
            points[:, free] -= step * np.minimum(1.0, _LONGEST_STEP / np.maximum(length, 1e-300))
        residual = np.abs(score.smooth(points)[1] + slope)[:, free].max(axis=1)
    solved: Points = points[residual <= TOLERANCE]
    return solved


def _distinct(points: Points) -> list[Points]:
    """Return one point of every cluster."""
    distinct: list[Points] = []
    for point in points[np.abs(points).max(axis=1, initial=0.0) <= 4 * _REACH]:
        if not any(np.abs(point - other).max() < _SAME_POINT for other in distinct):
            distinct.append(point)
    return distinct


def _certified(
    score: PlaneScore, point: Points, signs: tuple[float, float], free: NDArray[np.bool_], slope: Points
) -> StationaryPoint | None:
    """Classify a point; return None if it is not stationary or lies outside its face."""
    value, gradient = score.smooth(point)
    residual = float(np.abs((gradient + slope)[free]).max(initial=0.0))
    wanted = np.array(signs)
    inside = np.all(np.isnan(wanted) | (np.sign(point) == wanted))
    held = np.abs(gradient[~free])
    if not (np.isfinite(value) and residual <= TOLERANCE and inside):
        return None
    if not score.hard and np.any(held > score.lambda_l1):
        return None
    curvature = np.linalg.eigvalsh(score.hessian(point)[np.ix_(free, free)]) if free.any() else np.ones(1)
    if np.abs(curvature).min() < _CURVATURE_FLOOR:
        kind = "degenerate"
    elif np.all(curvature > 0):
        kind = "minimum"
    elif np.all(curvature < 0) and free.all():
        kind = "maximum"
    else:
        kind = "saddle"
    # Newton's method leaves about 1e-17 instead of zero.
    b, c = (0.0 if abs(x) < 1e-9 else float(x) for x in point)
    return StationaryPoint(b, c, float(score.value(point)), kind, residual)
