"""Checks of series and panels: lags that are missing, trends, seasons, and too few windows."""

from __future__ import annotations

import numpy as np
from scipy.special import chdtrc

from golem.assessment.diagnostics.checked_model import CheckedModel
from golem.assessment.diagnostics.finding import Verdict, note, ok, warning
from golem.runtime.messages import quoted
from golem.runtime.problems import Set, Text
from golem.runtime.types import Indices, Matrix

_LEVEL = 1e-3
# Lags of the portmanteau test beyond those of the model, and seasons that are looked for.
_TESTED, _SEASONS = 6, range(3, 53)
# Smaller autocorrelations do no harm.
_HARMLESS = 0.05
# A root of the autoregression this close to 1 is a trend or a random walk. In panels, roots are corrected up to 0.97.
_NEAR_ONE, _NEAR_ONE_IN_UNITS = 0.98, 0.96
# Windows per parameter of a regression on all lags.
_FEWEST_PER_PARAMETER = 3


def _residuals(checked: CheckedModel) -> tuple[tuple[str, ...], Matrix] | None:
    """Return what the graph leaves of the present, if the windows are at hand in their order, and the variables."""
    series, residuals = checked.table.series, checked.residuals
    if series is None or not series.lags or residuals is None:
        return None
    present = np.flatnonzero(checked.table.lags == 0)
    return tuple(checked.names[j] for j in present), residuals[:, present]


def find_more_lags(checked: CheckedModel) -> Verdict | None:
    """Check whether residuals depend on earlier ones (Ljung and Box 1978): then lags are missing."""
    found, series = checked.once(_residuals), checked.table.series
    if found is None or series is None:
        return None
    names, left = found
    groups = checked.table.parts[0].groups if series.units else np.zeros(len(left), dtype=np.intp)
    if len(left) < 20 * _TESTED or groups is None or len(groups) != len(left):
        return None
    r, z = _dependence(left, groups, _TESTED)
    p = np.minimum(chdtrc(len(z), np.sum(z**2, axis=0)) * len(names), 1.0)
    p[np.abs(r).max(axis=0) < _HARMLESS] = 1.0
    bad = p < _LEVEL
    if not bad.any():
        return ok("Residuals do not depend on earlier ones: the lags suffice.")
    which = [names[j] for j in np.flatnonzero(bad)]
    return warning(
        f"The residuals of {quoted(which, 3)} depend on earlier ones (portmanteau test, p = {p.min():.0e}), so "
        f"{series.lags} {'lag does' if series.lags == 1 else 'lags do'} not suffice. Edges may stand for missing lags.",
        Text("Use more lags, such as ", Set("lags", series.lags + 1), "."),
        "More lags are needed.",
    )


def find_unit_roots(checked: CheckedModel) -> Verdict | None:
    """Check whether a variable drifts: a root of its own autoregression near 1."""
    series = checked.table.series
    if series is None or not series.lags:
        return None
    S, names = checked.moments.covariance, checked.names
    place = {name: k for k, name in enumerate(names)}
    near, drifting = _NEAR_ONE_IN_UNITS if series.units else _NEAR_ONE, []
    for name in series.variables:
        past = [place[f"{name}@{lag}"] for lag in range(1, series.lags + 1)]
        own = np.linalg.lstsq(S[np.ix_(past, past)], S[past, place[name]], rcond=None)[0]
        companion = np.eye(series.lags, k=1)
        companion[:, 0] = own
        if np.abs(np.linalg.eigvals(companion)).max() > near:
            drifting.append(name)
    if not drifting:
        return ok("No variable drifts like a random walk or a trend.")
    return warning(
        f"{quoted(drifting, 3)} {'drifts' if len(drifting) == 1 else 'drift'} like a random walk or a trend (a root of "
        f"the autoregression is above {near}). Drifting variables look related even if they are not.",
        "Use differences of these columns, or subtract the trend.",
        "Some variables drift.",
    )


def find_seasons(checked: CheckedModel) -> Verdict | None:
    """Check whether residuals repeat after a number of steps, and after twice as many, such as 12 months."""
    found, series = checked.once(_residuals), checked.table.series
    if found is None or series is None or series.units or series.stretches > 1:
        return None
    names, left = found
    n = len(left)
    steps = np.array([step for step in _SEASONS if step > series.lags and n > 4 * step])
    if not len(steps):
        return None
    r = _dependence(left, np.zeros(n, dtype=np.intp), 2 * int(steps[-1]))[0]
    # What repeats does so twice; residuals of a trend resemble those of all steps before.
    between = (np.cumsum(r, axis=0)[steps - 2]) / (steps - 1)[:, None]
    repeats = np.minimum(r[steps - 1], r[2 * steps - 1]) - np.maximum(between, 0)
    highest = float(repeats.max())
    if highest <= max(_bound(len(steps) * len(names), power=0.5) / np.sqrt(n), 0.15):
        return ok("Residuals do not repeat after a season.")
    k = int(np.argmax(repeats.max(axis=1) >= 0.8 * highest))  # not twice the season
    j = int(repeats[k].argmax())
    return warning(
        f"The residuals of {names[j]!r} repeat after {steps[k]} steps (autocorrelation {r[steps[k] - 1, j]:.2f}). A "
        "season that all variables follow looks like edges between them.",
        "Subtract the season from each column, for example the mean of each month, and run again.",
        f"There is a season of {steps[k]} steps.",
    )


def find_few_windows(checked: CheckedModel) -> Verdict | None:
    """Check whether there are enough windows for the candidates of each variable."""
    series = checked.table.series
    if series is None or not series.lags:
        return None
    n, candidates = checked.moments.n, checked.table.d - 1
    if n >= _FEWEST_PER_PARAMETER * candidates:
        return ok(f"{n} windows are enough for {candidates} possible causes per variable.")
    return note(
        f"Every variable has {candidates} possible causes, and there are only {n} windows. Weak effects are missed.",
        "Use fewer lags or columns, or a longer series.",
    )


def _dependence(left: Matrix, groups: Indices, most: int) -> tuple[Matrix, Matrix]:
    """Return autocorrelations within groups at lags 1 to `most`, and their standard scores, shape (lags, d).

    Rows minus the mean of their group of W rows have covariances of -1/W of their variance, which is not dependence.
    """
    sizes = np.bincount(groups)
    means = np.column_stack([np.bincount(groups, weights=column) for column in left.T]) / np.maximum(sizes, 1)[:, None]
    Z = left - means[groups]
    variance = np.maximum(np.sum(Z**2, axis=0) / max(1, len(Z) - np.count_nonzero(sizes)), 1e-300)
    r, z = [], []
    for k in range(1, most + 1):
        same = groups[k:] == groups[:-k]
        if not (pairs := np.count_nonzero(same)):
            break
        expected = -np.sum(1 / sizes[groups[k:][same]])
        found = np.einsum("ij,ij->j", Z[k:][same], Z[:-k][same]) / variance - expected
        r.append(found / pairs)
        z.append(found / np.sqrt(pairs))
    shape = (len(r), left.shape[1])
    return np.reshape(r, shape), np.reshape(z, shape)


def _bound(tests: int, power: float = 1.0) -> float:
    """Return the standard score that chance exceeds in one of so many tests with a probability of the level."""
    from scipy.special import ndtri

    return float(-ndtri((_LEVEL / tests) ** power / 2))
