"""The checks of a model of a table with categories: those that apply, and the names of those that do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from golem.assessment.diagnostics import columns, density, dependence, directions, odd_values, repetition, search
from golem.assessment.diagnostics.determined import find_determined
from golem.assessment.diagnostics.finding import Diagnosis, Finding
from golem.data.coded_tables import CodedTable
from golem.data.moments import Moments
from golem.data.table_input import is_table
from golem.data.table_reading import coded_rows
from golem.data.variables import Coding
from golem.runtime.messages import counted, quoted, shortened
from golem.runtime.names import positions
from golem.runtime.types import Matrix

if TYPE_CHECKING:
    from golem.estimator.golem import Golem

# Levels with fewer rows are rare.
_RARE = 5
_ONE_LEVEL = 0.95
_LEFT_OUT = Finding(
    "numbers-only",
    "note",
    "Not checked, because the table has categories: outliers and influential rows, linearity, the independence and "
    "shape of residuals, noise variances and units.",
    "To check the numeric columns, fit them without the categories.",
)


def diagnose_categories(model: Golem, X: Any = None, *, refit: bool | None = None) -> Diagnosis:
    """Check a graph of a table with categories; see `golem.diagnostics.diagnose`."""
    coding, moments = model.table_.coding, model.moments_
    table = None if X is None else _rows(X, model)
    rows = None if table is None else table[~np.isnan(table).any(axis=1)]
    findings: list[Finding] = []
    effective_rows = None
    numbers = np.flatnonzero(coding.levels == 0)
    names = tuple(coding.names[j] for j in numbers)
    if table is not None and rows is not None and len(rows) > 1 and len(names):
        values = rows[:, numbers]
        dependent, effective_rows = dependence.find_dependent_rows(names, values, rows, moments)
        findings += [*columns.find_sample(moments, len(rows)), *([] if dependent is None else [dependent])]
        findings.append(odd_values.find_odd_values(names, table[:, numbers], CodedTable(coding, table)))
        findings.append(odd_values.find_spikes(names, values, CodedTable(coding, rows)))
    coded = getattr(model.fit_.score, "codes", rows)  # the first are all rows, the second perhaps a sample
    if coded is not None and len(coded) and not len(names):
        repeated, effective_rows = repetition.find_repetition(coded, moments)
        findings += [*columns.find_sample(moments, len(coded)), repeated]
    findings += [
        _find_rows(moments),
        density.find_density(model),
        search.find_search(model, refit),
        directions.find_directions(model),
        find_determined(moments, model.graph_, coded),
        find_rare_levels(moments),
        _find_near_constant(moments),
        *([columns.find_near_duplicates(moments.selected(names))] if len(names) > 1 else []),
        *([_LEFT_OUT] if len(names) else []),
        directions.LIMITS,
    ]
    return Diagnosis.of(findings, effective_rows, X if is_table(X) else None)


def _rows(X: Any, model: Golem) -> Matrix:
    """Return the coded rows, with the columns and levels of the model."""
    names = model.moments_.variables
    if isinstance(X, np.ndarray) and X.dtype.kind == "f":  # coded rows, as readers return them
        rows = X
        if X.shape[1] != len(names):
            raise ValueError(f"X has {X.shape[1]} columns, but the model has {len(names)}.")
    else:
        table = coded_rows(X)
        if table.coding.is_numeric or sorted(table.coding.names) != sorted(names):
            raise ValueError(f"X must be a table with the columns of the model: {quoted(names)}.")
        coding = model.table_.coding
        _require_levels(table.complete().coding.selected(names), coding)
        own = table.rows[:, positions(names, table.coding.names)]
        rows = table.coding.selected(names).recoded(own, coding)
    return rows


def _require_levels(own: Coding, coding: Coding) -> None:
    """Raise a ValueError if a table has other types or levels than the model; both have the same columns."""
    unknown = []
    for variable, known in zip(own.variables, coding.variables, strict=True):
        if variable.kind != known.kind:
            here, there = (f"a {'category' if one.is_category else 'number'}" for one in (variable, known))
            raise ValueError(f"Column {known.name!r} is {here} in X, but {there} in the model. Convert it.")
        levels = [level for level in variable.levels if level not in known.levels]
        unknown += [f"{variable.name!r} ({quoted(levels, 4)})"] if levels else []
    if unknown:
        raise ValueError(
            f"X has levels that the model does not have: {shortened(unknown, 4)}. Spell them as in the fit; "
            "model.variables_ lists the levels."
        )


def _find_rows(moments: Moments) -> Finding:
    """Check the number of rows against the number of columns, with one column per level but the reference level."""
    found, d = columns.find_rows(moments), len(moments.variables)
    sentence = found.finding.replace(f"{moments.d} columns", counted(d, "variable"))
    levels = f"The variables count as {moments.d} columns: a category has one per level except its reference level."
    return Finding(found.name, found.level, f"{sentence} {levels}", found.remedy)


def _level_rows(moments: Moments) -> dict[str, dict[str, float]]:
    """Return the number of rows per level of each category, from the means of the indicators."""
    coding, found = _coding(moments), {}
    for variable, begin, end in zip(coding.variables, coding.first, coding.first[1:], strict=False):
        if variable.is_category:
            shares = moments.mean[begin:end]
            rows = moments.n * np.concatenate([[1 - shares.sum()], shares])
            found[variable.name] = dict(zip(variable.levels, rows.round(6).tolist(), strict=True))
    return found


def find_rare_levels(moments: Moments) -> Finding:
    """Find levels with few rows, or only one."""
    listed, single = (_levels_below(moments, least) for least in (_RARE, 2))
    if not listed:
        return Finding("rare-levels", "ok", f"Every level has at least {_RARE} rows.")
    return Finding(
        "rare-levels",
        "note",
        f"{shortened(listed, 4)} {'has' if len(listed) == 1 else 'have'} levels with fewer than {_RARE} rows. The "
        "coefficients of these levels are very uncertain."
        + (f" Levels with only one row, whose effects cannot be seen: {shortened(single, 4)}." if single else ""),
        "Merge them with similar levels.",
    )


def _levels_below(moments: Moments, least: int) -> list[str]:
    """Describe the levels with fewer rows, per category that has any."""
    found = {
        name: [level for level, rows in levels.items() if rows < least - 1e-3]
        for name, levels in _level_rows(moments).items()
    }
    return [f"{name!r} ({quoted(levels, 4)})" for name, levels in found.items() if levels]


def _find_near_constant(moments: Moments) -> Finding:
    """Find categories with one level in nearly all rows."""
    named = []
    for name, levels in _level_rows(moments).items():
        level, rows = max(levels.items(), key=lambda item: item[1])
        if rows > _ONE_LEVEL * moments.n:
            named.append(f"{name!r} is {level!r} in {rows / moments.n:.1%} of the rows")
    if not named:
        return Finding("near-constant", "ok", f"No category has one level in more than {_ONE_LEVEL:.0%} of the rows.")
    sentence = f"{shortened(named, 3)}, so {'its' if len(named) == 1 else 'their'} edges depend on the few other rows."
    remedy = f"Consider dropping {'it' if len(named) == 1 else 'them'}."
    return Finding("near-constant", "note", sentence, remedy)


def _coding(moments: Moments) -> Coding:
    return moments.coding
