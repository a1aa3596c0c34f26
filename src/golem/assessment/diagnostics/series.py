"""Checks of series and panels: lags that are missing, trends, seasons, and too few windows."""

from __future__ import annotations

import numpy as np
from scipy.special import chdtrc

from golem.assessment.diagnostics.checked_model import CheckedModel
from golem.assessment.diagnostics.finding import Verdict, note, ok, warning
from golem.data.panels import SHORT
from golem.runtime.messages import quoted
from golem.runtime.problems import Set, Text
from golem.runtime.types import Matrix

_LEVEL = 1e-3
# Lags of the portmanteau test beyond those of the model, and seasons that are looked for.
_TESTED, _SEASONS = 6, range(3, 53)
# A root of the autoregression this close to 1 is a trend or a random walk.
_NEAR_ONE = 0.98
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
    if series.units and series.periods < SHORT:
        return None  # centring makes the residuals of short units dependent
    n = len(left)
    if n < 20 * _TESTED:
        return None
    r = _autocorrelations(left, _TESTED)
    Q = n * (n + 2) * np.sum(r**2 / (n - np.arange(1, _TESTED + 1))[:, None], axis=0)
    p = np.minimum(chdtrc(_TESTED, Q) * len(names), 1.0)
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
    if series is None or not series.lags or (series.units and series.periods < SHORT):
        return None
    S, names = checked.moments.covariance, checked.names
    place = {name: k for k, name in enumerate(names)}
    drifting = []
    for name in series.variables:
        past = [place[f"{name}@{lag}"] for lag in range(1, series.lags + 1)]
        own = np.linalg.lstsq(S[np.ix_(past, past)], S[past, place[name]], rcond=None)[0]
        companion = np.eye(series.lags, k=1)
        companion[:, 0] = own
        if np.abs(np.linalg.eigvals(companion)).max() > _NEAR_ONE:
            drifting.append(name)
    if not drifting:
        return ok("No variable drifts like a random walk or a trend.")
    return warning(
        f"{quoted(drifting, 3)} {'drifts' if len(drifting) == 1 else 'drift'} like a random walk or a trend (a root of "
        f"the autoregression is above {_NEAR_ONE}). Drifting variables look related even if they are not.",
        "Use differences of these columns, or subtract the trend.",
        "Some variables drift.",
    )


def find_seasons(checked: CheckedModel) -> Verdict | None:
    """Check whether residuals repeat after a number of steps beyond the lags, such as 12 months."""
    found, series = checked.once(_residuals), checked.table.series
    if found is None or series is None or series.units or series.stretches > 1:
        return None
    names, left = found
    n = len(left)
    steps = [step for step in _SEASONS if step > max(series.lags, _TESTED) and n > 4 * step]
    if not steps:
        return None
    r = _autocorrelations(left, max(steps))[np.array(steps) - 1]
    bound = _bound(len(steps) * len(names)) / np.sqrt(n)
    k, j = np.unravel_index(int(np.abs(r).argmax()), r.shape)
    if abs(r[k, j]) <= max(bound, 0.15):
        return ok("Residuals do not repeat after a season.")
    return warning(
        f"The residuals of {names[j]!r} repeat after {steps[k]} steps (autocorrelation {r[k, j]:.2f}). A season that "
        "all variables follow looks like edges between them.",
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


def _autocorrelations(left: Matrix, most: int) -> Matrix:
    """Return the autocorrelations at lags 1 to `most`, shape (most, d)."""
    Z = left - left.mean(axis=0)
    Z = Z / np.maximum(np.linalg.norm(Z, axis=0), 1e-300)
    return np.array([np.einsum("ij,ij->j", Z[k:], Z[:-k]) for k in range(1, most + 1)])


def _bound(tests: int) -> float:
    """Return the standard score that chance exceeds in one of so many tests with a probability of the level."""
    from scipy.special import ndtri

    return float(-ndtri(_LEVEL / (2 * tests)))
