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
from golem.runtime.messages import counted, quoted
from golem.runtime.problems import Declare, Drop, Parameter, ProblemError, Remedy, Set, Text
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
        raise ProblemError(
            Parameter("score_function"), f" must be one of {', '.join(map(repr, SCORES))}; got {score!r}."
        )
    if score not in ("auto", "gaussian"):
        _require_usable(model, solver, score)


def require_numbers(model: Golem, rows: RowSource, typed: bool) -> None:
    """Raise a ValueError if a score for categories was chosen for a table of numbers.

    `typed` says that the data are a table, whose columns have types.
    """
    if model.score_function not in ("auto", "gaussian"):
        codes = possible_codes(rows, model.moments_.names)
        raise without_categories(
            Set("score_function", model.score_function), Set("score_function", "auto"), codes, typed
        )


def possible_codes(rows: RowSource, names: Sequence[str]) -> list[str] | None:
    """Return the columns of numbers that may be codes of categories; None if there are no rows."""
    found = rows() if callable(rows) else rows
    if found is None:
        return None
    columns = [(name, column.astype(float)) for name, column in zip(names, to_numpy(found).T, strict=True)]
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


def with_numbers(what: str | Remedy, instead: str | Remedy, rows: RowSource, coding: Coding) -> ProblemError:
    """Return the error for a score or method that needs a table of categories, of a table with numbers."""
    numbers = [variable.name for variable in coding.variables if not variable.is_category]
    codes = set(possible_codes(rows, coding.names) or ())
    declare = Text(" If these numbers are codes of categories, use ", Declare(numbers), ".")
    return ProblemError(
        what,
        f" needs a table of categories, but {counted(len(numbers), 'column')} "
        f"{'is a number' if len(numbers) == 1 else 'are numbers'}: {quoted(numbers)}. Use ",
        instead,
        ".",
        declare if codes >= set(numbers) else "",
    )


def choose_score(model: Golem, solver: Order | Adam | LBFGS, moments: Moments, rows: RowSource) -> ScoreName:
    """Return the score of a table with categories; raise a ValueError if it does not suit the table or the settings.

    Discrete scores count complete rows; without these, "auto" is "mixed".
    """
    coding = moments.coding
    assert coding is not None
    categories = [variable.name for variable in coding.variables if variable.is_category]
    numbers = [variable.name for variable in coding.variables if not variable.is_category]
    score = model.score_function
    if score == "gaussian":
        it = "it" if len(categories) == 1 else "them"
        drop = Text(f", or drop {it}: ", Drop(categories)) if len(numbers) > 1 else ""
        raise ProblemError(
            Set("score_function", "gaussian"),
            f" needs numbers, but {counted(len(categories), 'column')} "
            f"{'is a category' if len(categories) == 1 else 'are categories'}: {quoted(categories)}. Use ",
            Set("score_function", "auto"),
            drop,
            ".",
        )
    if score in DISCRETE and numbers:
        raise with_numbers(Set("score_function", score), Set("score_function", "mixed"), rows, coding)
    chosen = automatic_score(moments, rows is not None) if score == "auto" else score
    is_complete = moments.missing is None or not moments.missing.cells
    if score == "auto" and model.missing == "em" and chosen != "mixed" and not is_complete:
        said = Text.of(
            "{missing='em'} works only with {score_function='mixed'}, so golem uses that score. If few rows "
            "have missing values, use {missing='drop'}: it allows scores that count categories, which suit "
            "this table better."
        )
        warn_user(said, DataWarning)
        chosen = "mixed"
    _require_usable(model, solver, chosen, is_complete)
    return chosen


def automatic_score(moments: Moments, has_rows: bool) -> ScoreName:
    """Return the score that "auto" chooses for a table with categories."""
    is_discrete = moments.coding is not None and moments.coding.is_discrete
    return choose_category_score(moments) if is_discrete and has_rows else "mixed"


def _require_usable(model: Golem, solver: Order | Adam | LBFGS, score: str, is_complete: bool = True) -> None:
    """Raise a ValueError for settings that have no meaning with this score; `is_complete` if no values are missing."""
    about = f"the score {score!r} of a table with categories"
    refused: dict[str, str] = {}
    useless = _only_for_numbers(model)
    without = [part for setting in useless for part in (", ", setting)]
    without[:1] = [" without "] if without else []
    if not isinstance(solver, Order) and model.cycles == "paper":
        raise ValueError(
            "The paper's recipe (Golem.paper) needs a table of numbers, and the score "
            f"{score!r} is for tables with categories. Use Golem()."
        )
    if not isinstance(solver, Order):
        refused["solver"] = Text("needs ", Set("solver", "order"), *without)
    if model.noise == "ev":
        refused["noise"] = Text("has no equal noise variances. Use ", Set("noise", "auto"), *without)
    if isinstance(model.init, str):
        refused["init"] = "starts from an order or a graph"
    if score in DISCRETE and model.missing == "em" and not is_complete:
        instead = Set("missing", "drop"), ", or ", Set("score_function", "mixed")
        refused["missing"] = Text("counts complete rows. Use ", *instead)
    for name, reason in refused.items():
        raise ProblemError(Set(name, getattr(model, name)), f" cannot be used here: {about} ", reason, ".")


def _only_for_numbers(model: Golem) -> list[Set]:
    """Return the settings that only solvers of tables of numbers use, so that one message names all of them."""
    unset = {"device": ("cpu", "auto"), "dtype": ("float64",)}
    given = {name: getattr(model, name) for name in (*OF_GRADIENTS, *unset)}
    return [Set(name, value) for name, value in given.items() if value not in (None, *unset.get(name, ()))]
