"""Whether a graph can be learned from a table: errors, and warnings about what makes the result unreliable."""

from __future__ import annotations

import numpy as np

from golem.data.checks import require_learnable, require_rows, warn_of_equal_scales, warn_of_scarce_columns
from golem.data.dependence import warn_of_dependent_rows
from golem.data.table import Intercepts, Intervention, Table
from golem.data.table_errors import too_few_columns
from golem.data.unusable import require_variables


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
        table.require_learnable(intervention)
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


def _check_rows(table: Table, bounded: bool) -> None:
    """Check the rows, if they are in memory: there must be enough of them, and they should not depend on each other."""
    (part,) = table.parts
    rows = part.rows
    if rows is None or callable(rows):
        return
    if bounded:
        require_rows(part.moments)
    numbers = np.flatnonzero(table.coding.levels == 0)
    if len(numbers):
        columns = rows if len(numbers) == table.d else rows[:, numbers]
        warn_of_dependent_rows([table.names[j] for j in numbers], columns, part.moments.rows)
