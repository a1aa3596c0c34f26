"""Which score a table gets: the choice of the user, and what suits the types of its columns."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from golem.data.checks import DataWarning
from golem.data.levels import are_few_integers
from golem.data.missing import MissingChoice
from golem.data.moments import Moments
from golem.data.table import Intercepts, Intervention, Table
from golem.data.variables import FEW_VALUES, number_levels
from golem.runtime.arrays import to_numpy
from golem.runtime.messages import counted, quoted, warn_user
from golem.runtime.problems import Declare, Drop, ProblemError, Remedy, Set, Text
from golem.runtime.types import Array, Indices, Matrix
from golem.score.likelihood import GaussianEV, GaussianNV, GaussianTied, Likelihood
from golem.score.sparsity import L0

ScoreName = Literal["gaussian", "mixed", "bdeu", "discrete-bic"]
ScoreChoice = Literal["auto", "gaussian", "mixed", "bdeu", "discrete-bic"]
# Scores that count rows, for tables in which all columns are categories.
DISCRETE = ("bdeu", "discrete-bic")
# The likelihood of each noise model, given the number of rows.
LIKELIHOODS: dict[str, Callable[[int], Likelihood]] = {
    "auto": GaussianTied,
    "ev": lambda n: GaussianEV(),
    "nv": lambda n: GaussianNV(),
}
_FIRST_ROWS = 100


@dataclass(frozen=True, eq=False)
class ScoreSettings:
    """The settings of `golem.Golem` that a score depends on; see there."""

    function: ScoreChoice = "auto"
    noise: str = "auto"
    sparsity: L0 = field(default_factory=L0)
    intervention: Intervention = "soft"
    intercepts: Intercepts = "separate"
    missing: MissingChoice = "error"

    def likelihood(self, n: int) -> Likelihood:
        """Return the likelihood of the noise model for n rows."""
        return LIKELIHOODS[self.noise](n)

    def name_for(self, table: Table) -> ScoreName:
        """Return the score of a table; raise a ValueError if the one that was chosen does not suit it.

        Discrete scores count complete rows of one environment; without these, "auto" is "mixed".
        """
        chosen, coding = Set("score_function", self.function), table.coding
        numbers = [variable.name for variable in coding.variables if not variable.is_category]
        if coding.is_numeric:
            if self.function not in ("auto", "gaussian"):
                codes = possible_codes(table.parts[0].read_rows(), table.names)
                raise without_categories(chosen, Set("score_function", "auto"), codes, table.is_named)
            return "gaussian"
        if self.function == "gaussian":
            raise _with_categories(coding.categories, len(numbers))
        if self.function in DISCRETE and table.has_environments:
            raise ProblemError(chosen, " cannot be used with environments. Use ", Set("score_function", "mixed"), ".")
        if self.function in DISCRETE and numbers:
            raise with_numbers(chosen, Set("score_function", "mixed"), table)
        name = automatic_score(table) if self.function == "auto" else self.function
        is_complete = table.missing is None or not table.missing.cells
        if self.function == "auto" and self.missing == "em" and name != "mixed" and not is_complete:
            said = (
                "{missing='em'} works only with {score_function='mixed'}, so golem uses that score. If few rows have "
                "missing values, use {missing='drop'}: it allows scores that count categories, which suit this table "
                "better."
            )
            warn_user(Text.of(said), DataWarning)
            return "mixed"
        return name


def automatic_score(table: Table) -> ScoreName:
    """Return the score that "auto" chooses for a table with categories."""
    countable = table.coding.is_discrete and not table.has_environments and table.parts[0].rows is not None
    return choose_category_score(table.moments()) if countable else "mixed"


def possible_codes(rows: Array | None, names: Sequence[str]) -> list[str] | None:
    """Return the columns of numbers that may be codes of categories; None if there are no rows."""
    if rows is None:
        return None
    columns = [(name, column.astype(float)) for name, column in zip(names, to_numpy(rows).T, strict=True)]
    # Most columns with more values have more in the first rows already, and need not be counted.
    few = [(name, column) for name, column in columns if len(np.unique(column[:_FIRST_ROWS])) <= FEW_VALUES + 1]
    return [name for name, column in few if are_few_integers(number_levels(column))]


def without_categories(
    what: str | Remedy, instead: str | Remedy, codes: Sequence[str] | None, typed: bool = True
) -> ProblemError:
    """Return the error for a score or method that needs categories; `codes` as `possible_codes` returns them."""
    how = Text(", e.g. ", Declare(codes[:1])) if codes and typed else "" if typed else ", in a DataFrame"
    declare = "" if codes == [] else Text(", or declare the columns that are categories", how)
    return ProblemError(what, " needs categories, but all columns are numbers. Use ", instead, declare, ".")


def with_numbers(what: str | Remedy, instead: str | Remedy, table: Table) -> ProblemError:
    """Return the error for a score or method that needs a table of categories, of a table with numbers."""
    numbers = [variable.name for variable in table.coding.variables if not variable.is_category]
    codes = set(possible_codes(table.parts[0].read_rows(), table.names) or ())
    are = f"{counted(len(numbers), 'column')} {'is a number' if len(numbers) == 1 else 'are numbers'}"
    needs = f" needs a table of categories, but {are}: {quoted(numbers)}. Use "
    declare = Text(" If these numbers are codes of categories, use ", Declare(numbers), ".")
    return ProblemError(what, needs, instead, ".", declare if codes >= set(numbers) else "")


def _with_categories(categories: Sequence[str], numbers: int) -> ProblemError:
    """Return the error for the Gaussian score of a table with categories."""
    it = "it" if len(categories) == 1 else "them"
    are = f"{counted(len(categories), 'column')} {'is a category' if it == 'it' else 'are categories'}"
    return ProblemError.of(
        "{score_function='gaussian'} needs numbers, but {are}: {names}. Use {score_function='auto'}{drop}.",
        are=are,
        names=quoted(categories),
        drop=Text(f", or drop {it}: ", Drop(categories)) if numbers > 1 else "",
    )


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
    >>> from golem.data.category_columns import read_coded
    >>> rows = np.random.default_rng(0).integers(3, size=(500, 4))
    >>> independent, equal = (pd.DataFrame(part).astype("category") for part in (rows, rows[:, [0, 0, 1, 1]]))
    >>> [choose_category_score(read_coded(table).moments()) for table in (independent, equal)]
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
