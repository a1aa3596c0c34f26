"""Rows that stand out: edges that would not be there without a few rows, and outliers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from golem.assessment.diagnostics.checked_model import CheckedModel
from golem.assessment.diagnostics.finding import Verdict, look_at, note, ok, warning
from golem.data.robust import outlying_rows as outlying_rows
from golem.runtime.messages import shortened
from golem.runtime.problems import Set, Text
from golem.runtime.types import BoolMatrix, Matrix
from golem.score.regression import regressions
from golem.score.sparsity import L0

_LARGEST_SHARE, _MOST_ROWS = 0.01, 5
_LARGEST_LOSS = 0.5
_VANISHED = 1e-10
_FEWEST_ROWS = 100
# A change of a standardized weight that matters.
_CHANGE = 0.1
_FIRST_ROW = "(row 1 is the first row of data)"


@dataclass(frozen=True)
class CarriedEdge:
    """An edge that gains more than its penalty with all rows, but not without a few of them.

    Parameters
    ----------
    source, target : int
        The edge.
    rows : tuple of int
        The rows that carry it, numbered from 0, the most influential first.
    gain, gain_without : float
        Gain in deviance by the edge, with all rows and without these.
    penalty : float
        Penalty of the edge.

    Examples
    --------
    >>> from golem import Golem, Moments
    >>> from golem.simulate import simulate
    >>> drawn = simulate(4, 300, "ER1", random_state=0)
    >>> from golem.diagnostics import carried_edges
    >>> carried_edges(drawn.sem.adjacency, drawn.data)  # no edge depends on a few rows
    []
    """

    source: int
    target: int
    rows: tuple[int, ...]
    gain: float
    gain_without: float
    penalty: float


def carried_edges(graph: BoolMatrix, X: Matrix, edge_penalty: L0 | None = None) -> list[CarriedEdge]:
    """Find the edges that depend on a few rows.

    With u the residual of i on the other parents of j, e that of j on all parents, b the weight and h the leverage,
    row t

    - pulls the weight by dfbeta_t = u_t e_t / (sum_s u_s^2 (1 - h_t)) (Belsley, Kuh and Welsch 1980), and
    - lowers the residual sum of squares by (b u_t + e_t)^2 - e_t^2: these add up to the gain of the edge.

    The first finds single rows, the second rows that mask each other. By each measure the rows that contribute most to
    the edge, at most 1 in 100 and at most 5, are left out together and the regression is repeated. The edge depends on
    them if its gain in deviance, n log of the ratio of the residual variances without and with it, then falls below
    its penalty and below half of its former value: an edge that gains little more than its penalty is a weak edge.

    Parameters
    ----------
    graph : ndarray of shape (d, d), bool
        A DAG.
    X : ndarray of shape (n, d)
        Rows.
    edge_penalty : L0, optional
        The penalty per edge; by default that of `Golem`.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> X[7] = 12.0
    >>> [(edge.rows[0], edge.gain_without < 2) for edge in carried_edges(np.array([[0, 1], [0, 0]], dtype=bool), X)]
    [(7, True)]
    """
    n, d = X.shape
    penalties = (edge_penalty or L0()).penalties(n, d)
    most = min(_MOST_ROWS, max(1, int(_LARGEST_SHARE * n)))
    X = np.asfortranarray(X - X.mean(axis=0))  # columns are read one by one
    found, parents_of = [], np.ascontiguousarray(graph.T)
    for j in np.nonzero(parents_of.any(axis=1))[0]:
        parents = np.nonzero(parents_of[j])[0]
        if n <= len(parents) + most + 2:
            continue
        P = X[:, parents]
        inverse = np.linalg.inv(P.T @ P)
        directions = P @ inverse
        weights = directions.T @ X[:, j]
        residuals = X[:, j] - P @ weights
        leverage = np.einsum("tk,tk->t", directions, P) + 1 / n
        explained = directions * (weights / np.diagonal(inverse))  # b u
        pulls = explained * (residuals / np.maximum(1 - leverage, 1e-12))[:, None]
        savings = explained * (explained + 2 * residuals[:, None])
        tops = [np.argpartition(-measure, most, axis=0)[:most] for measure in (pulls, savings)]
        both = X[:, [*parents, j]]
        scatter = both.T @ both
        gains = _gains(scatter, n)
        penalty = float(penalties[len(parents)] - penalties[len(parents) - 1])
        for k, i in enumerate(parents):
            tried = [(_gain_without(both[top[:, k]], scatter, n, k), top[:, k]) for top in tops]
            without, rows = min(tried, key=lambda pair: pair[0])
            rows = rows[np.argsort(-savings[rows, k])]
            if gains[k] >= penalty > without and without < _LARGEST_LOSS * gains[k]:
                found.append(CarriedEdge(int(i), int(j), tuple(rows.tolist()), float(gains[k]), without, penalty))
    return found


def find_influence(checked: CheckedModel) -> Verdict | None:
    """Find the edges that depend on a few rows, and name the rows by their numbers in the table."""
    learned = checked.learned_rows
    if learned is None or not checked.is_linear:
        return None
    found = carried_edges(checked.graph, learned, checked.model.edge_penalty_)
    if not found:
        return ok("No edge depends on a few rows.")
    worst = min(found, key=lambda edge: edge.gain_without / edge.gain)
    *others, last = [str(checked.row_numbers[row] + 1) for row in worst.rows]
    rows = f"rows {', '.join(others)} and {last}" if others else f"row {last}"
    (edge,) = checked.edge_texts([(worst.source, worst.target)])
    return warning(
        f"{len(found)} of {checked.graph.sum()} edges depend{'s' * (len(found) == 1)} on a few rows. Without {rows}, "
        f"the edge {edge} improves the fit by {worst.gain_without:.1f} instead of {worst.gain:.1f} (deviance). An edge "
        f"needs more than its penalty, {worst.penalty:.1f}.",
        f"Check these rows {_FIRST_ROW}. Fit without them, or take logarithms of skewed columns.",
        f"{len(found)} of {checked.graph.sum()} edges would vanish without a few rows.",
        checked.named((one.source, one.target) for one in found),
    )


def _gain_without(left_out: Matrix, scatter: Matrix, n: int, k: int) -> float:
    """Return the gain of predictor k without some of n centred rows."""
    total, left = left_out.sum(axis=0), n - len(left_out)
    # The remaining rows have the mean -total / left.
    remaining = scatter - left_out.T @ left_out - np.outer(total, total) / left
    varying = np.diagonal(remaining) > _VANISHED * np.diagonal(scatter)
    if not (varying[k] and varying[-1]):
        return 0.0
    return float(_gains(remaining[np.ix_(varying, varying)], left)[varying[:k].sum()])


def _gains(scatter: Matrix, n: int) -> NDArray[np.float64]:
    """Return the gain in deviance by each predictor, given the scatter of the predictors and the target (last).

    Leaving out predictor k adds b_k^2 / (G^-1)_kk to the residual sum of squares.
    """
    inverse = np.linalg.inv(scatter[:-1, :-1])
    coefficients = inverse @ scatter[:-1, -1]
    # Of a perfect fit, only rounding remains.
    rss = max(float(scatter[-1, -1] - coefficients @ scatter[:-1, -1]), np.finfo(float).eps * float(scatter[-1, -1]))
    return np.asarray(n * np.log1p(coefficients**2 / (np.diagonal(inverse) * rss)))


def find_outliers(checked: CheckedModel) -> Verdict | None:
    """Find outlying rows, and say how much the weights depend on them; rows have their numbers in the table."""
    rows, graph = checked.rows, checked.graph
    if rows is None or checked.residuals is None:
        return None
    if len(rows) < _FEWEST_ROWS:
        sentence = f"Outliers were not checked: this needs {_FEWEST_ROWS} complete rows, and there are {len(rows)}."
        return note(sentence, look_at(graph))
    found = outlying_rows(checked.residuals)
    if not len(found):
        return ok("No row is far beyond the tails of the others.")
    listed = shortened([str(checked.row_numbers[row] + 1) for row in found], 5)
    sentence, it = f"{len(found)} of {len(rows)} rows are outliers ({listed})", "them"
    if len(found) == 1:
        sentence, it = f"Row {listed} is an outlier", "it"
    if checked.table.is_ranked:
        return note(f"{sentence}. golem learned from ranks, on which outliers have little effect.", look_at(graph))
    before, after = (_standardized_weights(graph, part) for part in (rows, np.delete(rows, found, axis=0)))
    change = np.abs(after - before)
    i, j = np.unravel_index(int(change.argmax()), change.shape)
    matters = bool(change[i, j] > _CHANGE)
    if matters:
        (edge,) = checked.edge_texts([(int(i), int(j))])
        weights = f"{after[i, j]:.2f} instead of {before[i, j]:.2f}"
        sentence += f". Without {it}, the standardized weight of {edge} would be {weights}"
    ranks = "" if checked.model.noise == "ev" else Text(" or with ", Set("robust", "ranks"))
    remedy = Text(f"Check {it} {_FIRST_ROW}, and compare with a fit without {it}", ranks, ".")
    many = f"{len(found)} of {len(rows)} rows are outliers" if len(found) > 1 else f"Row {listed} is an outlier"
    headline = f"{many}. Compare with a fit without {it}."
    return Verdict("warning" if matters else "note", f"{sentence}.", remedy, headline)


def _standardized_weights(graph: BoolMatrix, rows: Matrix) -> Matrix:
    """Return the least-squares weights for columns of unit variance; zero where a column does not vary."""
    scale = rows.std(axis=0)
    weights = regressions(graph, np.cov(rows.T, ddof=0)).matrix
    return np.asarray(weights * scale[:, None] / np.where(scale > 0, scale, np.inf))
