"""The checks of a model of a table with categories: those that apply, and the names of those that do not."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from golem.assessment.diagnostics import columns, density, dependence, directions, odd_values, search
from golem.assessment.diagnostics.finding import Diagnosis, Finding
from golem.data.coded_sample import read_categories
from golem.data.coded_tables import CodedTable
from golem.data.moments import Moments
from golem.data.variables import Coding
from golem.runtime.messages import counted, quoted, shortened
from golem.runtime.names import positions
from golem.runtime.option_words import dropping
from golem.runtime.types import Matrix, Vector
from golem.score.block_regression import regress_block

if TYPE_CHECKING:
    from golem.estimator.golem import Golem

# A variable is determined by others if they leave less than this share of its variance in some direction.
_DETERMINED = 1e-6
# Levels with fewer rows are rare.
_RARE = 5
_ONE_LEVEL = 0.95
_LEFT_OUT = Finding(
    "numbers-only",
    "note",
    "Not checked, because the table has categories: outliers and influential rows, linearity, the independence and "
    "shape of residuals, noise variances and units.",
    "To check the numeric columns, fit them separately (columns=[...]).",
)


def diagnose_categories(model: Golem, X: Any = None, *, refit: bool | None = None) -> Diagnosis:
    """Check a graph of a table with categories; see `golem.diagnostics.diagnose`."""
    coding, moments = model.category_fit_.coding, model.moments_
    rows, findings, effective_rows = None if X is None else _rows(X, model), [], None
    numbers = np.flatnonzero(coding.levels == 0)
    names = tuple(coding.names[j] for j in numbers)
    if rows is not None and len(rows) > 1 and len(names):
        values = rows[:, numbers]
        dependent, effective_rows = dependence.find_dependence(names, values)
        findings += [] if dependent is None else [dependent]
        table = CodedTable(coding, rows)
        findings.append(odd_values.find_odd_values(names, values, table))
        findings.append(odd_values.find_spikes(names, values, table))
    findings += [
        _find_rows(moments),
        density.find_density(model),
        search.find_search(model, refit),
        directions.find_directions(model),
        find_determined(moments),
        find_rare_levels(moments),
        _find_near_constant(moments),
        *([columns.find_near_duplicates(_plain(moments, names))] if len(names) > 1 else []),
        *([_LEFT_OUT] if len(names) else []),
        directions.LIMITS,
    ]
    return Diagnosis.of(findings, effective_rows)


def _rows(X: Any, model: Golem) -> Matrix:
    """Return the complete coded rows, in the column order of the model."""
    names = model.moments_.variables
    if isinstance(X, np.ndarray) and X.dtype.kind == "f":  # coded rows, as readers return them
        rows, found = X, names
        if X.shape[1] != len(names):
            raise ValueError(f"X has {X.shape[1]} columns, but the model has {len(names)}.")
    else:
        read = read_categories(X, "drop")
        if read is None or read[1] is None or sorted(read[0].variables) != sorted(names):
            raise ValueError(f"X must be a table with the columns of the model: {quoted(names)}.")
        rows, found = read[1], read[0].variables
    complete: Matrix = rows[~np.isnan(rows).any(axis=1)][:, positions(names, found)]
    return complete


def _plain(moments: Moments, names: Sequence[str]) -> Moments:
    """Return the moments of some numbers alone."""
    return dataclasses.replace(moments.selected(names), coding=None)


def _find_rows(moments: Moments) -> Finding:
    """Check the number of rows against the number of columns, with one column per level but the reference level."""
    found, d = columns.find_rows(moments), len(moments.variables)
    sentence = found.finding.replace(f"{moments.d} columns", counted(d, "variable"))
    levels = f"The variables count as {moments.d} columns: a category has one per level except its reference level."
    return Finding(found.name, found.level, f"{sentence} {levels}", found.remedy)


def find_determined(moments: Moments) -> Finding:
    """Find variables, and levels, that others determine: their part of the score has no limit, except rounding."""
    name, coding = "determined", _coding(moments)
    if moments.n <= moments.d + 1:
        return Finding(name, "ok", "With so few rows every column is determined by others.")
    suspects = _suspects(moments, coding)
    alone = {j: _determining(moments, coding, j) for j in suspects}
    # A variable that determines another one is itself determined in part, so this is not reported.
    found = {j: i for j, i in alone.items() if i is not None or j not in alone.values()}
    if not found:
        return Finding(name, "ok", "No variable is determined by others.")
    parts, remedies = [], []
    in_part = {j: suspects[j] for j, i in found.items() if i is None and suspects[j] is not None}
    whole = {j: i for j, i in found.items() if j not in in_part}
    if whole:
        listed = [
            f"{coding.names[j]!r} by {'the others together' if i is None else repr(coding.names[i])}"
            for j, i in whole.items()
        ]
        by = [i for i in whole.values() if i is not None]
        # One that determines several others, and otherwise what is determined; of two copies, the later one.
        drop = [
            coding.names[j if i is None or by.count(i) < 2 else i]
            for j, i in whole.items()
            if i is None or whole.get(i) != j or i < j
        ]
        are = "is" if len(whole) == 1 else "are"
        parts.append(f"{counted(len(whole), 'variable')} {are} determined by others: {shortened(listed, 4)}.")
        remedies.append(f"Drop columns that repeat others, e.g. {dropping(list(dict.fromkeys(drop))[:4])}.")
    if in_part:
        listed = [f"{coding.names[j]!r}{f' ({quoted(levels, 3)})' if levels else ''}" for j, levels in in_part.items()]
        parts.append(f"Other variables determine some levels of {shortened(listed, 4)}.")
        remedies.append("If a level such as 'unknown' is in the same rows of several columns, mark it as missing.")
    sentence = (
        "The strength of an edge between these variables is meaningless, and their edges to other variables may be "
        "attached to the wrong one of them."
    )
    return Finding(name, "warning", " ".join([*parts, sentence]), " ".join(remedies))


def _suspects(moments: Moments, coding: Coding) -> dict[int, tuple[str, ...] | None]:
    """Return the variables that all others together determine in some direction.

    If they do not determine it wholly, its levels that they determine come with it; there may be none, as a direction
    can combine levels.
    """
    S, scale = moments.covariance, np.sqrt(moments.variances)
    R = S / np.outer(scale, scale)
    R[np.diag_indices_from(R)] = 1 + _DETERMINED**2
    precision = np.linalg.inv(R)
    found: dict[int, tuple[str, ...] | None] = {}
    for j, (a, b) in enumerate(zip(coding.first, coding.first[1:], strict=False)):
        residual = np.linalg.inv(precision[a:b, a:b])
        shares = _shares(residual, R[a:b, a:b])
        if shares[0] < _DETERMINED:
            found[j] = None
            if shares[-1] >= _DETERMINED:
                left, own = residual * np.outer(scale[a:b], scale[a:b]), S[a:b, a:b]
                # The first level has no column; its indicator is one minus the sum of the others.
                left, own = (np.append(one.sum(), np.diagonal(one)) for one in (left, own))
                levels = zip(coding.variables[j].levels, left < _DETERMINED * own, strict=True)
                found[j] = tuple(level for level, is_determined in levels if is_determined)
    return found


def _determining(moments: Moments, coding: Coding, j: int) -> int | None:
    """Return a variable that alone determines variable j, or None."""
    S, first = moments.covariance, coding.first
    own = np.arange(first[j], first[j + 1])
    for i in range(len(coding.names)):
        fit = None if i == j else regress_block(S, moments.n, own, np.arange(first[i], first[i + 1]))
        if fit is not None and _shares(fit.residual, S[np.ix_(own, own)])[-1] < _DETERMINED:
            return i
    return None


def _shares(residual: Matrix, total: Matrix) -> Vector:
    """Return the shares of the variance that are left in the directions of a block, from the smallest."""
    from scipy.linalg import eigh

    return np.asarray(eigh(residual, total, eigvals_only=True))


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
    assert moments.coding is not None
    return moments.coding
