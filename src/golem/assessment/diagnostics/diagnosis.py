"""diagnose: all checks of a fitted model in one call."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from golem.assessment.diagnostics import (
    assumptions,
    columns,
    density,
    dependence,
    directions,
    environments,
    influence,
    noise,
    odd_values,
    outliers,
    search,
    units,
)
from golem.assessment.diagnostics.categories import diagnose_categories
from golem.assessment.diagnostics.finding import Diagnosis, Finding
from golem.assessment.plain_model import plain_model
from golem.data.moments import Moments
from golem.data.table_input import is_table, rows_and_names
from golem.estimator.golem import Golem
from golem.runtime.messages import quoted
from golem.runtime.names import positions
from golem.runtime.types import Matrix
from golem.score.regression import Regressions, regressions

# With more columns the graph is not fitted again.
LARGEST_REFIT = 500
_FROM_ROWS_OF_ALL = (
    "dependent rows, codes for missing values, row numbers, columns with many zeros, influential rows, outliers, "
    "linearity, independence of residuals, columns with one value in nearly all rows"
)
_FROM_ROWS = f"{_FROM_ROWS_OF_ALL}, normal residuals"


def diagnose(model: Golem, X: Any = None, *, refit: bool | None = None) -> Diagnosis:
    """Check what a learned graph depends on.

    The findings are sorted: warnings first, then notes, then what is fine, each in the order of importance. With
    environments, the first ones are "hard-targets" (that still depend on their parents), "off-target" (shifts of other
    variables), "target-effects", "normal-residuals" and "small-environments". Then, in this order, come
    "dependent-rows" (on the rows before them, or copies), "odd-values" (codes for missing values, row numbers),
    "spikes" (at 0), "influential-rows", "outliers", "linearity", "independence" (of residuals and parents), "rows" (too
    few), "density" (too many edges, or none), "equal-variances", "units" (how much remains when the columns are
    standardized), "search" (edges that a second search does not find), "directions" (undecided ones),
    "direction-conflicts" (between noise variances and noise shapes), "noise-choice" (arrows that another noise model
    would change), "normal-residuals", "near-duplicates", "deterministic", "near-constant", "conditioning", and always
    "limits". `golem fit --bootstrap` adds "intervals" (weights outside their own bootstrap intervals). Without rows,
    "rows-needed" names the checks that were left out; "sample" says that the rows were a sample. A table with
    categories also has "determined" (variables that others determine) and "rare-levels", and "numbers-only" names the
    checks that it does not allow. docs/diagnostics.md explains them.

    Parameters
    ----------
    model : Golem or GolemCV
        A fitted model.
    X : array or table, optional
        The rows that it was fitted to, or a sample of them, as a model keeps only their moments. Rows with missing
        values are left out.
    refit : bool, optional
        Whether to fit again, with standardized columns and with columns in reverse order; by default for solver="order"
        and at most 500 and 200 columns.

    Raises
    ------
    ValueError
        If the model is not a Golem, its graph has a cycle (cycles="none"), or X has other columns or levels than the
        model.

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
    if model.score_ != "gaussian":
        return diagnose_categories(model, X, refit=refit)
    if not hasattr(model, "sem_"):
        raise ValueError("The learned graph has a cycle (cycles='none'), and only a DAG can be diagnosed.")
    moments, graph = model.moments_, model.adjacency_
    rows, residuals, numbers, independent, table = None, None, None, True, None
    if X is not None and not model.table_.environments:
        table = table_rows(X, moments.names)
        complete, numbers = complete_rows(table)
        rows = complete if len(complete) > 1 else None
    findings: list[Finding] = environments.find_environments(model) if model.table_.environments else []
    effective_rows = None
    if rows is not None and numbers is not None and table is not None:
        centred = rows - rows.mean(axis=0)
        residuals = _residuals(centred, regressions(graph, moments.covariance))
        dependent, effective_rows = dependence.find_dependent_rows(moments.names, rows, rows, moments)
        findings += [*columns.find_sample(moments, len(rows)), *([] if dependent is None else [dependent])]
        findings.append(odd_values.find_odd_values(moments.names, table))
        findings.append(odd_values.find_spikes(moments.names, rows))
        findings.append(influence.find_influence(graph, rows, model.edge_penalty_, moments.names, numbers))
        findings.append(outliers.find_outliers(graph, rows, residuals, moments.names, numbers))
        edges = assumptions.edge_assumptions(graph, rows)
        findings.append(assumptions.find_linearity(edges, moments.names, rows))
        findings.append(assumptions.find_independence(edges, moments.names, model.graph_.conflicts))
        independent = findings[-1].level == "ok"
    findings += [
        columns.find_rows(moments, model.edge_penalty_),
        density.find_density(model),
        noise.find_equal_variances(model, residuals),
        units.find_units(model, refit, LARGEST_REFIT),
        search.find_search(model, refit),
        directions.find_directions(model),
        directions.find_conflicts(model),
        directions.find_noise_choice(model),
        _rows_needed(model, numbers)
        if rows is None or residuals is None
        else noise.find_normality(model, residuals, rows, independent),
        columns.find_near_duplicates(moments),
        columns.find_determined(moments),
        columns.find_near_constant(moments, rows),
        columns.find_conditioning(moments),
        directions.LIMITS,
    ]
    return Diagnosis.of(findings, effective_rows, X if is_table(X) else None)


def _residuals(centred: Matrix, fit: Regressions) -> Matrix:
    """Return rows minus what the parents explain, X - X B, shape (n, d)."""
    from scipy.sparse import csr_array

    explain = csr_array((fit.weights, (fit.children, fit.causes)), shape=(centred.shape[1],) * 2)  # B'
    return np.asarray(centred - (explain @ centred.T).T)


def _rows_needed(model: Golem, complete: NDArray[np.intp] | None) -> Finding:
    """Name the checks that were left out: without rows, with too few complete ones, or with several environments."""
    if model.table_.environments:
        remedy = "To run these checks, fit one environment at a time."
        return Finding(
            "rows-needed",
            "note",
            f"Not checked, because the rows come from several environments: {_FROM_ROWS_OF_ALL}.",
            remedy,
        )
    reason = "because the rows were not available"
    remedy = "To run these checks in Python, pass the rows, or a sample of them: golem.diagnose(model, X)."
    if complete is not None:
        reason = f"because {'only one' if len(complete) else 'no'} row is complete"
        remedy = "Impute the missing values, or drop columns with many missing values."
    return Finding("rows-needed", "note", f"Not checked, {reason}: {_FROM_ROWS}.", remedy)


def complete_rows(table: Matrix) -> tuple[Matrix, NDArray[np.intp]]:
    """Return the rows without missing values, (n, d), and their numbers, (n,)."""
    complete = np.nonzero(np.isfinite(table).all(axis=1))[0]
    return table[complete], complete


def table_rows(X: Any, names: tuple[str, ...]) -> Matrix:
    """Return all rows of a table, (n, d), in the column order of the model, with NaN for missing values."""
    if isinstance(X, Moments):
        raise ValueError(
            "diagnose needs the rows; Moments contain only means and covariances. Call diagnose(model), or pass the "
            "table."
        )
    values, found = rows_and_names(X)
    if is_table(X):
        if sorted(found) != sorted(names):
            raise ValueError(f"X has the columns {quoted(found)}, but the model has {quoted(names)}.")
        values = values[:, positions(names, found)]
    elif values.shape[1] != len(names):
        raise ValueError(f"X has {values.shape[1]} columns, but the model has {len(names)}.")
    return values
