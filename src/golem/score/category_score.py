"""Which score suits a table of categories."""

from __future__ import annotations

import itertools
from typing import Literal

import numpy as np

from golem.data.moments import Moments
from golem.runtime.types import Indices, Matrix

# Averages of the number of levels between which the scores change. They were chosen on tables of 300 to 10000 rows from
# ten networks of the bnlearn repository, by the distance between the learned and the true equivalence class.
_FEW_LEVELS, _MANY_LEVELS = 2.5, 3.75


def choose_category_score(moments: Moments) -> Literal["discrete-bic", "bdeu", "mixed"]:
    """Return the score of a table in which all variables are categories.

    It depends on the average number of levels:

    - below 2.5, "discrete-bic" (asia, win95pts, hepar2). With few levels, BDeu adds edges where probabilities are close
      to 0 or 1.
    - up to 3.75, "bdeu" (alarm, insurance, sachs, water) or "discrete-bic" (child). Both estimate the marginal
      likelihood. The one whose best tree has the lower score is closer to it: BIC is too high if many combinations of
      levels hardly occur, BDeu if all of them do.
    - above, "mixed" (hailfinder, barley, mildew). Tables of counts have more cells than rows, while the degenerate
      Gaussian score adds the effects of the parents.

    Examples
    --------
    >>> import pandas as pd
    >>> from golem.data.coded_tables import CodedTable
    >>> rows = np.random.default_rng(0).integers(3, size=(500, 4))
    >>> independent, equal = (pd.DataFrame(part).astype("category") for part in (rows, rows[:, [0, 0, 1, 1]]))
    >>> [choose_category_score(CodedTable.read(table).moments()) for table in (independent, equal)]
    ['discrete-bic', 'bdeu']
    """
    levels = moments.coding.levels
    average = float(levels.mean())
    if average > _MANY_LEVELS:
        return "mixed"
    if average < _FEW_LEVELS:
        return "discrete-bic"
    counts = _pair_counts(moments)
    return "discrete-bic" if _best_tree(_bic(counts, levels)) < _best_tree(_bdeu(counts, levels)) else "bdeu"


def _pair_counts(moments: Moments) -> Matrix:
    """Count the rows per pair of levels of two variables, from the covariance of the indicators of levels."""
    first, mean = moments.coding.first, moments.mean
    # The indicators of all levels as sums of a constant and the columns of the moments; the first level has no column.
    parts = np.zeros((len(mean) + len(first) - 1, len(mean) + 1))
    for j, (begin, end) in enumerate(itertools.pairwise(first)):
        parts[begin + j, 0] = 1.0
        parts[begin + j, begin + 1 : end + 1] = -1.0
        parts[np.arange(begin, end) + j + 1, np.arange(begin, end) + 1] = 1.0
    products = np.outer(np.append(1.0, mean), np.append(1.0, mean))
    products[1:, 1:] += moments.covariance
    return np.maximum(np.rint(moments.n * (parts @ products @ parts.T)), 0.0)


def _bic(counts: Matrix, levels: Indices) -> Matrix:
    """Return minus twice the log-likelihood plus log n per parameter of all pairs; on the diagonal, of single ones."""
    from scipy.special import xlogy

    n = float(np.trace(counts)) / len(levels)
    single = np.eye(len(levels), dtype=bool)
    parameters = np.where(single, levels, np.outer(levels, levels)) - 1
    likelihood = xlogy(counts, counts) - xlogy(counts, n)
    return np.asarray(-2.0 * _sums(likelihood, levels) + np.log(max(n, 1.0)) * parameters)


def _bdeu(counts: Matrix, levels: Indices) -> Matrix:
    """Return minus twice the log marginal likelihood under a uniform Dirichlet prior worth one row, likewise."""
    from scipy.special import gammaln

    n = float(np.trace(counts)) / len(levels)
    of_level = np.repeat(np.arange(len(levels)), levels)
    share = 1.0 / np.where(
        of_level[:, None] == of_level, levels[of_level], np.outer(levels, levels)[of_level][:, of_level]
    )
    return np.asarray(-2.0 * (_sums(gammaln(counts + share) - gammaln(share), levels) - gammaln(n + 1.0)))


def _sums(cells: Matrix, levels: Indices) -> Matrix:
    """Return the sums over the levels of each pair of variables."""
    begin = np.append(0, np.cumsum(levels)[:-1])
    return np.asarray(np.add.reduceat(np.add.reduceat(cells, begin, axis=0), begin, axis=1))


def _best_tree(values: Matrix) -> float:
    """Return the lowest score of a forest (Chow and Liu 1968), given those of pairs and single variables."""
    from scipy.sparse.csgraph import minimum_spanning_tree

    single = np.diagonal(values)
    gains = np.triu(np.minimum(values - single - single[:, None], 0.0), 1)
    return float(single.sum() + minimum_spanning_tree(gains).sum())
