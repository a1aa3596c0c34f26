"""diagnose: all checks of a fitted model in one call."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from golem.assessment.diagnostics import (
    assumptions,
    columns,
    dependent_rows,
    determined,
    environments,
    graph,
    influence,
    odd_values,
    refits,
    series,
)
from golem.assessment.diagnostics.checked_model import Check, CheckedModel
from golem.assessment.diagnostics.finding import Diagnosis, Finding, Verdict, note
from golem.data.table_input import is_table
from golem.estimator.golem import Golem, plain_model

_FROM_ROWS_OF_ALL = (
    "dependent rows, codes for missing values, row numbers, columns with many zeros, influential rows, outliers, "
    "linearity, independence of residuals, columns with one value in nearly all rows"
)
_FROM_ROWS = f"{_FROM_ROWS_OF_ALL}, normal residuals"


def diagnose(model: Golem, X: Any = None, *, refit: bool | None = None) -> Diagnosis:
    """Check what a learned graph depends on.

    The findings are sorted: warnings first, then notes, then what is fine, each in the order of importance.
    docs/findings.md explains all of them.

    Parameters
    ----------
    model : Golem or GolemCV
        A fitted model.
    X : array or table, optional
        The rows that it was fitted to, or a sample of them. Only of small, complete tables a model keeps the rows, and
        of others their moments. Rows with missing values are left out.
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
    if model.graph_.reversible is None:
        raise ValueError("The learned graph has a cycle (cycles='none'), and only a DAG can be diagnosed.")
    is_wide = not model.moments_.has_scatter
    checked = CheckedModel(model, X, refit)
    is_series = checked.table.series is not None
    verdicts = (
        (name, checked.once(check))
        for name, check in CHECKS
        if not (is_series and name in _NOT_OF_SERIES) and (name in _OF_VERY_MANY or not is_wide)
    )
    findings = [Finding(name, *verdict) for name, verdict in verdicts if verdict is not None]
    return Diagnosis.of(findings, dependent_rows.effective_rows(checked), X if is_table(X) else None)


def _find_rows_needed(checked: CheckedModel) -> Verdict | None:
    """Name the checks that were left out: without rows, with too few complete ones, or with several environments."""
    if checked.table.environments:
        return note(
            f"Not checked, because the rows come from several environments: {_FROM_ROWS_OF_ALL}.",
            "To run these checks, fit one environment at a time.",
        )
    if not checked.model.moments_.has_scatter:
        return note(
            f"Not checked, because the table has very many columns: {_FROM_ROWS}.", "To run these checks, fit fewer."
        )
    if checked.rows is not None or not checked.is_linear:
        return None
    if checked.given is None:
        return note(
            f"Not checked, because the rows were not available: {_FROM_ROWS}.",
            "To run these checks in Python, pass the rows, or a sample of them: golem.diagnose(model, X).",
        )
    return note(
        f"Not checked, because {'only one' if len(checked.row_numbers) else 'no'} row is complete: {_FROM_ROWS}.",
        "Impute the missing values, or drop columns with many missing values.",
    )


def _find_numbers_only(checked: CheckedModel) -> Verdict | None:
    """Name the checks that numbers next to categories leave out."""
    if checked.is_linear or not len(checked.numbers):
        return None
    return note(
        "Not checked, because the table has categories: outliers and influential rows, linearity, the independence and "
        "shape of residuals, noise variances and units.",
        "To check the numeric columns, fit them without the categories.",
    )


# Checks that would take a variable and its own past for copies, or windows for rows.
_NOT_OF_SERIES = frozenset({
    "dependent-rows", "odd-values", "spikes", "influential-rows", "outliers", "units", "determined",
    "near-duplicates", "deterministic", "near-constant", "conditioning", "rows-needed", "factors",
})  # fmt: skip

# Checks of tables with very many columns, which need neither all covariances nor other searches.
_OF_VERY_MANY = frozenset({"rows", "factors", "density", "directions", "rows-needed", "limits"})

# All checks in the order of importance, by the name of their finding. A check without a subject, such as one of levels
# in a table of numbers, finds nothing.
CHECKS: tuple[tuple[str, Check], ...] = (
    ("hard-targets", environments.find_dependent_targets),
    ("off-target", environments.find_off_target),
    ("target-effects", environments.find_effects),
    ("normal-residuals", environments.find_normality),
    ("small-environments", environments.find_small),
    ("sample", columns.find_sample),
    ("more-lags", series.find_more_lags),
    ("stationarity", series.find_unit_roots),
    ("seasonality", series.find_seasons),
    ("windows", series.find_few_windows),
    ("dependent-rows", dependent_rows.find_dependent_rows),
    ("odd-values", odd_values.find_odd_values),
    ("spikes", odd_values.find_spikes),
    ("influential-rows", influence.find_influence),
    ("outliers", influence.find_outliers),
    ("linearity", assumptions.find_linearity),
    ("independence", assumptions.find_independence),
    ("rows", columns.find_rows),
    ("factors", graph.find_factors),
    ("density", graph.find_density),
    ("equal-variances", assumptions.find_equal_variances),
    ("units", refits.find_units),
    ("search", refits.find_search),
    ("directions", graph.find_directions),
    ("scores", refits.find_scores),
    ("direction-conflicts", graph.find_conflicts),
    ("noise-choice", graph.find_noise_choice),
    ("rows-needed", _find_rows_needed),
    ("normal-residuals", assumptions.find_normality),
    ("determined", determined.find_determined),
    ("rare-levels", columns.find_rare_levels),
    ("near-constant", columns.find_frequent_levels),
    ("near-duplicates", columns.find_near_duplicates),
    ("deterministic", columns.find_combinations),
    ("near-constant", columns.find_near_constant),
    ("conditioning", columns.find_conditioning),
    ("numbers-only", _find_numbers_only),
    ("limits", graph.find_limits),
)
