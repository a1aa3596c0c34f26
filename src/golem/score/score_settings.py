"""Which score a table gets: the choice of the user, and what suits the types of its columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from golem.data.checks import DataWarning
from golem.data.levels import are_few_integers
from golem.data.missing import MissingChoice
from golem.data.table import Intercepts, Intervention, Table
from golem.data.variables import FEW_VALUES, number_levels
from golem.runtime.arrays import to_numpy
from golem.runtime.messages import counted, quoted
from golem.runtime.option_words import as_categories, dropping
from golem.runtime.types import Array
from golem.runtime.user_warnings import warn_user
from golem.score.category_score import choose_category_score
from golem.score.likelihood import GaussianEV, GaussianNV, GaussianTied, Likelihood
from golem.score.sparsity import L0

ScoreName = Literal["gaussian", "mixed", "bdeu", "discrete-bic"]
ScoreChoice = Literal["auto", "gaussian", "mixed", "bdeu", "discrete-bic"]
SCORES: tuple[ScoreChoice, ...] = ("auto", "gaussian", "mixed", "bdeu", "discrete-bic")
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
        chosen, coding = f"score_function={self.function!r}", table.coding
        numbers = [variable.name for variable in coding.variables if not variable.is_category]
        if coding.is_numeric:
            if self.function not in ("auto", "gaussian"):
                codes = possible_codes(table.parts[0].read_rows(), table.names)
                raise without_categories(chosen, "score_function='auto'", codes, table.is_named)
            return "gaussian"
        if self.function == "gaussian":
            raise _with_categories(coding.categories, len(numbers))
        if self.function in DISCRETE and table.has_environments:
            raise ValueError(f"{chosen} cannot be used with environments. Use score_function='mixed'.")
        if self.function in DISCRETE and numbers:
            raise with_numbers(chosen, "score_function='mixed'", table)
        name = automatic_score(table) if self.function == "auto" else self.function
        is_complete = table.missing is None or not table.missing.cells
        if self.function == "auto" and self.missing == "em" and name != "mixed" and not is_complete:
            warn_user(
                "missing='em' works only with score_function='mixed', so golem uses that score. If few rows have "
                "missing values, use missing='drop': it allows scores that count categories, which suit this table "
                "better.",
                DataWarning,
            )
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


def without_categories(what: str, instead: str, codes: Sequence[str] | None, typed: bool = True) -> ValueError:
    """Return the error for a score or method that needs categories; `codes` as `possible_codes` returns them."""
    how = f", e.g. {as_categories(codes[:1])}" if codes and typed else "" if typed else ", in a DataFrame"
    declare = "" if codes == [] else f", or declare the columns that are categories{how}"
    return ValueError(f"{what} needs categories, but all columns are numbers. Use {instead}{declare}.")


def with_numbers(what: str, instead: str, table: Table) -> ValueError:
    """Return the error for a score or method that needs a table of categories, of a table with numbers."""
    numbers = [variable.name for variable in table.coding.variables if not variable.is_category]
    codes = set(possible_codes(table.parts[0].read_rows(), table.names) or ())
    declare = (
        f" If these numbers are codes of categories, use {as_categories(numbers)}." if codes >= set(numbers) else ""
    )
    return ValueError(
        f"{what} needs a table of categories, but {counted(len(numbers), 'column')} "
        f"{'is a number' if len(numbers) == 1 else 'are numbers'}: {quoted(numbers)}. Use {instead}.{declare}"
    )


def _with_categories(categories: Sequence[str], numbers: int) -> ValueError:
    """Return the error for the Gaussian score of a table with categories."""
    it = "it" if len(categories) == 1 else "them"
    drop = f", or drop {it}: {dropping(categories)}" if numbers > 1 else ""
    return ValueError(
        f"score_function='gaussian' needs numbers, but {counted(len(categories), 'column')} "
        f"{'is a category' if len(categories) == 1 else 'are categories'}: {quoted(categories)}. Use "
        f"score_function='auto'{drop}."
    )
