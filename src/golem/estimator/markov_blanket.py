"""The Markov blanket of one column among very many, without a graph of the others."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from golem.data.checks import most_parents
from golem.data.table_reading import read_table
from golem.runtime.messages import suggestion
from golem.runtime.problems import names_remedies
from golem.runtime.records import Records
from golem.runtime.threads import in_chunks
from golem.runtime.types import Matrix, Vector
from golem.score.sparsity import L0, Criterion
from golem.score.wide_score import WideScore

# Columns that are compared exactly in each step, those that are most correlated with what is left.
_COMPARED = 30
# Columns that are added although none of them is worth the penalty by itself.
_BEYOND = 4
_AT_ONCE = 4096


class BlanketMember(NamedTuple):
    """A column of a Markov blanket.

    Parameters
    ----------
    name : str
        The column.
    coefficient : float
        Its coefficient in the regression on all members, in standard deviations of both columns.
    loss : float
        How much worse the fit is without it, in units of the deviance; the penalty is not subtracted.
    """

    name: str
    coefficient: float
    loss: float


@names_remedies
def markov_blanket(X: Any, variable: str | int, lambda_sparsity: Criterion = "mbic") -> Records[BlanketMember]:
    """Return the Markov blanket of a column: its parents, its children, and the other parents of these.

    Given these, no other column says more about it. They are found by forward and backward selection among all columns,
    with the penalty per edge of `Golem`. A table with a million columns takes seconds per member.

    Parameters
    ----------
    X : array of shape (n, d) or DataFrame
        Complete numbers from one environment; an array may be mapped from a file.
    variable : str or int
        The column, by name or number.
    lambda_sparsity : {"mbic", "ebic", "bic"}
        The penalty per member.

    Returns
    -------
    Records of BlanketMember
        Strongest first.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 20))
    >>> X[:, 3] += X[:, 1] - X[:, 2]
    >>> [member.name for member in markov_blanket(X, "x1")]
    ['x3', 'x2']
    """
    moments = WideScore(read_table(X, statistics="sparse"), L0(lambda_sparsity)).moments
    names, Z, n = moments.names, moments.standardized_columns, moments.n
    j = _number(variable, names)
    penalty = float(L0(lambda_sparsity).penalties(n, len(names))[1])
    chosen: list[int] = []
    while True:
        tried = _shrunk(Z, j, _grown(Z, j, chosen, penalty, most_parents(n)), penalty)
        if not tried or _score(Z, j, tried, penalty) >= _score(Z, j, chosen, penalty) - 1e-6:
            break
        chosen = tried
    if not chosen:
        return Records()
    coefficients, losses = _losses(Z, j, chosen)
    order = np.argsort(-losses)
    return Records(BlanketMember(names[chosen[k]], float(coefficients[k]), float(losses[k])) for k in order)


def _number(variable: str | int, names: tuple[str, ...]) -> int:
    """Return the number of a column."""
    if isinstance(variable, str):
        if variable not in names:
            raise ValueError(f"There is no column {variable!r}. {suggestion(variable, list(names), 'columns')}")
        return names.index(variable)
    if not 0 <= variable < len(names):
        raise ValueError(f"There is no column {variable}: they are numbered from 0 to {len(names) - 1}.")
    return int(variable)


def _grown(Z: NDArray[np.float32], j: int, chosen: list[int], penalty: float, most: int) -> list[int]:
    """Add columns while each is worth the penalty, and some more: parents of a child may be worth it only together."""
    chosen, beyond = chosen.copy(), 0
    while len(chosen) < most and beyond < _BEYOND:
        best, gain = _best_addition(Z, j, chosen)
        if gain <= 0:
            break
        beyond = 0 if gain > penalty else beyond + 1
        chosen.append(best)
    return chosen


def _shrunk(Z: NDArray[np.float32], j: int, chosen: list[int], penalty: float) -> list[int]:
    """Drop columns that are not worth the penalty, the weakest first."""
    chosen = chosen.copy()
    while chosen and (losses := _losses(Z, j, chosen)[1]).min() < penalty:
        del chosen[int(losses.argmin())]
    return chosen


def _score(Z: NDArray[np.float32], j: int, chosen: list[int], penalty: float) -> float:
    """Return the deviance of a column given others, with the penalty."""
    left = _without(Z[j].astype(float), np.linalg.qr(_columns(Z, chosen).T)[0].T)
    return float(Z.shape[1] * np.log(max(float(np.mean(left**2)), 1e-12)) + penalty * len(chosen))


def _columns(Z: NDArray[np.float32], nodes: list[int]) -> Matrix:
    return Z[nodes].astype(float)


def _best_addition(Z: NDArray[np.float32], j: int, chosen: list[int]) -> tuple[int, float]:
    """Return the column that explains most of what the chosen ones leave, and the gain in units of the deviance."""
    basis = np.linalg.qr(_columns(Z, chosen).T)[0].T
    left = _without(Z[j].astype(float), basis)
    strength = np.empty(len(Z))

    def correlate(a: int, b: int) -> None:
        strength[a:b] = np.abs(Z[a:b] @ left.astype(np.float32))

    in_chunks(correlate, len(Z), _AT_ONCE)
    strength[[j, *chosen]] = -1.0
    top = np.argpartition(-strength, min(_COMPARED, len(Z) - 1))[:_COMPARED]
    top = top[strength[top] >= 0]
    if not len(top):
        return -1, 0.0
    rest = _without(_columns(Z, top.tolist()), basis)
    variance = np.maximum(np.einsum("ij,ij->i", rest, rest), 1e-6 * Z.shape[1])
    share = np.minimum((rest @ left) ** 2 / variance / (left @ left), 1 - 1e-12)
    best = int(share.argmax())
    return int(top[best]), float(-Z.shape[1] * np.log1p(-share[best]))


def _without(columns: Matrix, basis: Matrix) -> Matrix:
    """Return what an orthonormal basis leaves of columns, in rows."""
    return np.asarray(columns - columns @ basis.T @ basis)


def _losses(Z: NDArray[np.float32], j: int, chosen: list[int]) -> tuple[Vector, Vector]:
    """Return the coefficients of the chosen columns, and how much worse the fit is without each."""
    P, n = _columns(Z, chosen), Z.shape[1]
    inverse = np.linalg.inv(P @ P.T / n + 1e-12 * np.eye(len(P)))
    b = inverse @ (P @ Z[j]) / n
    r = max(float(np.mean((Z[j] - b @ P) ** 2)), 1e-12)
    return b, np.asarray(n * np.log1p(b**2 / np.diagonal(inverse) / r))
