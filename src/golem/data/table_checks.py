"""Whether a graph can be learned from a table: errors, and warnings about what makes the result unreliable."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from golem.data.checks import require_learnable, require_rows, warn_of_equal_scales, warn_of_scarce_columns
from golem.data.dependence import warn_of_dependent_rows
from golem.data.table import Intercepts, Intervention, Part, Table
from golem.data.table_errors import too_few_columns
from golem.data.targets import require_environment_rows
from golem.data.unusable import is_constant, require_variables
from golem.runtime.messages import quoted, shown
from golem.runtime.problems import ProblemError


def check_table(
    table: Table,
    *,
    uses_scale: bool,
    equal_variances: bool = False,
    independent: bool = False,
    bounded: bool = True,
    intervention: Intervention = "soft",
    intercepts: Intercepts = "separate",
) -> None:
    """Raise a ValueError if no graph can be learned from a table, and warn of what makes the result unreliable.

    Parameters
    ----------
    table : Table
        The data.
    uses_scale, independent, bounded : bool
        See `golem.data.checks.require_learnable`.
    equal_variances : bool
        Whether the method assumes equal noise variances, which standardized columns do not have.
    intervention, intercepts
        What experiments change; see `golem.Golem`.
    """
    moments = table.moments(intercepts)
    if table.has_environments:
        require_experiments(table, intervention)
    else:
        _check_rows(table, bounded)
    if not table.coding.is_numeric:
        if table.d < 2:
            raise too_few_columns(table.names)
        require_variables(moments)
        warn_of_scarce_columns(moments)
        return
    own = not table.has_environments
    require_learnable(moments, uses_scale=uses_scale, independent=independent, bounded=bounded and own)
    if equal_variances:
        warn_of_equal_scales(moments)


def require_enough_rows(table: Table) -> None:
    """Raise a ValueError if there are too few rows to tell effects from noise; environments have their own rule."""
    if not table.has_environments:
        require_rows(table.moments())


def require_experiments(table: Table, intervention: Intervention) -> None:
    """Raise a ValueError for environments from which no graph can be learned."""
    require_environment_rows({part.label: part.moments.n for part in table.parts})
    if always := [name for j, name in enumerate(table.names) if not table.without(j)]:
        raise ValueError(
            f"Column {quoted(always)} is a target in every environment, so nothing shows what it depends on "
            "otherwise. Add an environment that does not change it, or drop the column."
        )
    # A category is constant if all its indicators are.
    first = table.coding.first[:-1]
    flat = [np.logical_and.reduceat(is_constant(part.moments), first) for part in table.parts]
    for part, constant in zip(table.parts, flat, strict=True):
        _require_variation(table.names, part, np.flatnonzero(constant).tolist(), intervention)
    for which, nodes in table.groups().items():
        # A column that varies in one environment varies in the pool.
        fixed = np.flatnonzero(np.all([flat[e] for e in which], axis=0))
        if len(fixed):
            raise ValueError(
                f"Column {quoted([table.names[j] for j in fixed])} is constant in all environments "
                f"that do not target {table.names[nodes[0]]!r}. Add an environment in which both vary."
            )


def _require_variation(names: Sequence[str], part: Part, fixed: Sequence[int], intervention: Intervention) -> None:
    """Raise a ValueError for columns that are constant in an environment, except for its hard targets."""
    if soft := [names[j] for j in fixed if j in part.targets and intervention == "soft"]:
        raise ProblemError.of(
            "Column {names} is constant in environment {label}, which targets it. If the experiment sets it "
            "to a value, whatever its causes are, use {intervention='hard'}.",
            names=quoted(soft),
            label=shown(part.label),
        )
    if wrong := [names[j] for j in fixed if j not in part.targets]:
        raise ValueError(
            f"Column {quoted(wrong)} is constant in environment {shown(part.label)}. Drop the column or the "
            "environment, or name the column among its targets if the experiment sets it to a value."
        )


def _check_rows(table: Table, bounded: bool) -> None:
    """Check the rows, if they are in memory: there must be enough of them, and they should not depend on each other."""
    (part,) = table.parts
    rows = part.rows
    if rows is None or callable(rows):
        return
    if bounded:
        require_rows(part.moments)
    if table.series is not None:  # what the past explains is not a dependence of rows
        return
    numbers = np.flatnonzero(table.coding.levels == 0)
    if len(numbers):
        columns = rows if len(numbers) == table.d else rows[:, numbers]
        warn_of_dependent_rows([table.names[j] for j in numbers], columns, part.moments.rows)
