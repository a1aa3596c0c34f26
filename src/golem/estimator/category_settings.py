"""Which score a table gets, and which settings each score allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from golem.data.checks import DataWarning
from golem.data.levels import are_few_integers
from golem.data.moments import Moments
from golem.data.variables import FEW_VALUES, Coding, number_levels
from golem.estimator.direction_evidence import RowSource
from golem.estimator.settings import OF_GRADIENTS
from golem.gradient.adam import Adam
from golem.gradient.lbfgs import LBFGS
from golem.runtime.arrays import to_numpy
from golem.runtime.messages import counted, quoted, shown
from golem.runtime.option_words import as_categories, dropping
from golem.runtime.user_warnings import warn_user
from golem.score.category_score import choose_category_score
from golem.search.solver import Order

if TYPE_CHECKING:
    from golem.estimator.golem import Golem

ScoreName = Literal["gaussian", "mixed", "bdeu", "discrete-bic"]
ScoreChoice = Literal["auto", "gaussian", "mixed", "bdeu", "discrete-bic"]
SCORES: tuple[ScoreChoice, ...] = ("auto", "gaussian", "mixed", "bdeu", "discrete-bic")
# Scores that count rows, for tables in which all columns are categories.
DISCRETE = ("bdeu", "discrete-bic")
_FIRST_ROWS = 100


def require_score(model: Golem, solver: Order | Adam | LBFGS) -> None:
    """Raise a ValueError if the score is unknown, or contradicts other settings."""
    score = model.score_function
    if score not in SCORES:
        raise ValueError(f"score_function must be one of {', '.join(map(repr, SCORES))}; got {score!r}.")
    if score not in ("auto", "gaussian"):
        _require_usable(model, solver, score)


def require_numbers(model: Golem, rows: RowSource, typed: bool) -> None:
    """Raise a ValueError if a score for categories was chosen for a table of numbers.

    `typed` says that the data are a table, whose columns have types.
    """
    if model.score_function not in ("auto", "gaussian"):
        codes = possible_codes(rows, model.moments_.names)
        raise without_categories(f"score_function={model.score_function!r}", "score_function='auto'", codes, typed)


def possible_codes(rows: RowSource, names: Sequence[str]) -> list[str] | None:
    """Return the columns of numbers that may be codes of categories; None if there are no rows."""
    found = rows() if callable(rows) else rows
    if found is None:
        return None
    columns = [(name, column.astype(float)) for name, column in zip(names, to_numpy(found).T, strict=True)]
    # Most columns with more values have more in the first rows already, and need not be counted.
    few = [(name, column) for name, column in columns if len(np.unique(column[:_FIRST_ROWS])) <= FEW_VALUES + 1]
    return [name for name, column in few if are_few_integers(number_levels(column))]


def without_categories(what: str, instead: str, codes: Sequence[str] | None, typed: bool = True) -> ValueError:
    """Return the error for a score or method that needs categories; `codes` as `possible_codes` returns them."""
    how = f", e.g. {as_categories(codes[:1])}" if codes and typed else "" if typed else ", in a DataFrame"
    declare = "" if codes == [] else f", or declare the columns that are categories{how}"
    return ValueError(f"{what} needs categories, but all columns are numbers. Use {instead}{declare}.")


def with_numbers(what: str, instead: str, rows: RowSource, coding: Coding) -> ValueError:
    """Return the error for a score or method that needs a table of categories, of a table with numbers."""
    numbers = [variable.name for variable in coding.variables if not variable.is_category]
    codes = set(possible_codes(rows, coding.names) or ())
    declare = (
        f" If these numbers are codes of categories, use {as_categories(numbers)}." if codes >= set(numbers) else ""
    )
    return ValueError(
        f"{what} needs a table of categories, but {counted(len(numbers), 'column')} "
        f"{'is a number' if len(numbers) == 1 else 'are numbers'}: {quoted(numbers)}. Use {instead}.{declare}"
    )


def choose_score(model: Golem, solver: Order | Adam | LBFGS, moments: Moments, rows: RowSource) -> ScoreName:
    """Return the score of a table with categories; raise a ValueError if it does not suit the table or the settings.

    Discrete scores count complete rows; without these, "auto" is "mixed".
    """
    coding = moments.coding
    categories = [variable.name for variable in coding.variables if variable.is_category]
    numbers = [variable.name for variable in coding.variables if not variable.is_category]
    score = model.score_function
    if score == "gaussian":
        it = "it" if len(categories) == 1 else "them"
        drop = f", or drop {it}: {dropping(categories)}" if len(numbers) > 1 else ""
        raise ValueError(
            f"score_function='gaussian' needs numbers, but {counted(len(categories), 'column')} "
            f"{'is a category' if len(categories) == 1 else 'are categories'}: {quoted(categories)}. Use "
            f"score_function='auto'{drop}."
        )
    if score in DISCRETE and numbers:
        raise with_numbers(f"score_function={score!r}", "score_function='mixed'", rows, coding)
    chosen = automatic_score(moments, rows is not None) if score == "auto" else score
    is_complete = moments.missing is None or not moments.missing.cells
    if score == "auto" and model.missing == "em" and chosen != "mixed" and not is_complete:
        warn_user(
            "missing='em' works only with score_function='mixed', so golem uses that score. If few rows have missing "
            "values, use missing='drop': it allows scores that count categories, which suit this table better.",
            DataWarning,
        )
        chosen = "mixed"
    _require_usable(model, solver, chosen, is_complete)
    return chosen


def automatic_score(moments: Moments, has_rows: bool) -> ScoreName:
    """Return the score that "auto" chooses for a table with categories."""
    is_discrete = moments.coding.is_discrete
    return choose_category_score(moments) if is_discrete and has_rows else "mixed"


def _require_usable(model: Golem, solver: Order | Adam | LBFGS, score: str, is_complete: bool = True) -> None:
    """Raise a ValueError for settings that have no meaning with this score; `is_complete` if no values are missing."""
    about = f"the score {score!r} of a table with categories"
    refused = {}
    useless = _only_for_numbers(model)
    without = f" without {', '.join(useless)}" if useless else ""
    if not isinstance(solver, Order) and model.cycles == "paper":
        raise ValueError(
            "The paper's recipe (Golem.paper) needs a table of numbers, and the score "
            f"{score!r} is for tables with categories. Use Golem()."
        )
    if not isinstance(solver, Order):
        refused["solver"] = f"needs solver='order'{without}"
    if model.noise == "ev":
        refused["noise"] = f"has no equal noise variances. Use noise='auto'{without}"
    if isinstance(model.init, str):
        refused["init"] = "starts from an order or a graph"
    if score in DISCRETE and model.missing == "em" and not is_complete:
        refused["missing"] = "counts complete rows. Use missing='drop', or score_function='mixed'"
    for name, reason in refused.items():
        raise ValueError(f"{name}={shown(getattr(model, name))} cannot be used here: {about} {reason}.")


def _only_for_numbers(model: Golem) -> list[str]:
    """Return the settings that only solvers of tables of numbers use, so that one message names all of them."""
    unset = {"device": ("cpu", "auto"), "dtype": ("float64",)}
    given = {name: getattr(model, name) for name in (*OF_GRADIENTS, *unset)}
    return [f"{name}={shown(value)}" for name, value in given.items() if value not in (None, *unset.get(name, ()))]
