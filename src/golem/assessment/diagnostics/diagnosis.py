"""diagnose: everything that can be checked about a fitted model, in one call."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from golem.assessment.diagnostics import columns, directions, influence, noise, odd_values, units
from golem.assessment.diagnostics.finding import Diagnosis, Finding
from golem.data.table_input import is_table, rows_and_names
from golem.estimator.golem import Golem, plain_model
from golem.runtime.messages import quoted
from golem.runtime.names import positions
from golem.runtime.types import Matrix
from golem.score.regression import regressions

# Beyond this number of columns the graph is not fitted again.
LARGEST_REFIT = 500
_FROM_ROWS = "normal residuals, rows that carry an edge, columns of nearly one value, odd values"


def diagnose(model: Golem, X: Any = None, *, refit: bool | None = None) -> Diagnosis:
    """Check what a learned graph rests on.

    The findings, each with a level, a sentence and a remedy (docs/diagnostics.md tells what they mean and miss):
    "units" (how much survives standardizing the columns), "equal-variances", "directions" (those that the data cannot
    decide), "rows" (n against d), "conditioning", "near-duplicates", "deterministic", "near-constant"; from the rows
    "odd-values" (marks of missing values, numbers of rows), "normal-residuals" and "influential-rows", in their place
    "rows-needed" where there are none; and always "limits".

    Parameters
    ----------
    model : Golem or GolemCV
        A fitted model.
    X : array or table, optional
        The rows that it was fitted to: a model keeps their moments alone. Rows with missing values are left out.
    refit : bool, optional
        Whether to fit again with standardized columns. By default where solver="order" and the columns are at most 500.

    Raises
    ------
    ValueError
        If the model is no Golem, its graph has a cycle (cycles="none"), or the columns of X are not the model's.

    Examples
    --------
    >>> from golem import Golem
    >>> from golem.simulate import simulate
    >>> X = simulate(6, 500, "ER1", random_state=0).data * [1, 1, 1, 1, 1, 100]
    >>> diagnosis = diagnose(Golem("ev").fit(X), X)
    >>> diagnosis["equal-variances"].level, diagnosis["near-duplicates"].level
    ('warning', 'ok')
    """
    model = plain_model(model)
    check_is_fitted(model, "moments_")
    if not hasattr(model, "sem_"):
        raise ValueError("the learned graph has a cycle (cycles='none'); a diagnosis is for a directed acyclic graph")
    moments, graph = model.moments_, model.adjacency_
    rows, residuals = None, None
    numbers = np.empty(0, dtype=np.intp)
    if X is not None:
        complete, numbers = _complete_rows(X, moments.names)
        rows = complete if len(complete) > 1 else None
    if rows is not None:
        centred = rows - rows.mean(axis=0)
        residuals = centred - centred @ regressions(graph, moments.covariance).matrix
    findings = [
        units.find_units(model, refit, LARGEST_REFIT),
        noise.find_equal_variances(model, residuals),
        directions.find_directions(model),
        columns.find_rows(moments),
        columns.find_conditioning(moments),
        columns.find_near_duplicates(moments),
        columns.find_determined(moments),
        columns.find_near_constant(moments, rows),
    ]
    if rows is None or residuals is None:
        findings.append(_rows_needed(None if X is None else len(numbers)))
    else:
        findings.append(odd_values.find_odd_values(moments.names, rows))
        findings.append(noise.find_normality(model, residuals, rows))
        findings.append(influence.find_influence(graph, rows, model.edge_penalty_, moments.names, numbers))
    return Diagnosis([*findings, directions.LIMITS])


def _rows_needed(complete: int | None) -> Finding:
    """Name what was not checked: without rows, or with so few complete ones."""
    if complete is None:
        what, remedy = f"Not checked without complete rows: {_FROM_ROWS}.", "golem.diagnose(model, X) checks them."
    else:
        which = "no row is complete" if complete == 0 else "only one row is complete"
        what = f"Not checked, for {which}: {_FROM_ROWS}."
        remedy = "Impute the missing values, or leave out columns that miss most of theirs, to have them checked."
    return Finding("rows-needed", "note", what, remedy)


def _complete_rows(X: Any, names: tuple[str, ...]) -> tuple[Matrix, NDArray[np.intp]]:
    """Read the rows in the order of the model's columns, without those that have missing values, and their numbers."""
    values, found = rows_and_names(X)
    if is_table(X):
        if sorted(found) != sorted(names):
            raise ValueError(f"the columns of X are {quoted(found)}, not those of the model, {quoted(names)}")
        values = values[:, positions(names, found)]
    elif values.shape[1] != len(names):
        raise ValueError(f"X has {values.shape[1]} columns, the model {len(names)}")
    complete = np.nonzero(np.isfinite(values).all(axis=1))[0]
    return values[complete], complete
