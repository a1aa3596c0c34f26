"""Checks of series and panels: lags that are missing, trends, seasons, and too few windows."""

import warnings

import numpy as np
import pytest

import golem
from golem import Golem
from golem.simulate import sample_series, simulate_series

CHECKS = ("more-lags", "stationarity", "seasonality", "windows")
B = np.array([[0, 0.5, 0], [0, 0, 0], [0, 0, 0]])
ONE = np.diag([0.5, 0.4, 0.3])[None]


def found(X, **settings):
    """Return the warnings and notes about the series, by name."""
    with warnings.catch_warnings(action="ignore"):
        findings = golem.diagnose(Golem(**{"lags": 1} | settings).fit(X), X).findings
    return {one.name: one.finding for one in findings if one.name in CHECKS and one.level in ("warning", "note")}


def test_nothing_is_found_where_nothing_is_wrong():
    assert not found(sample_series(B, ONE, 500, random_state=0))


@pytest.mark.parametrize(("units", "periods"), [(400, 30), (400, 8)])
def test_means_of_units_are_not_taken_for_missing_lags(units, periods):
    """They make residuals of a unit dependent: by -1/29 in 30 rows, which 12,000 rows show clearly."""
    X = sample_series(B, ONE, units * periods, units=units, random_state=0)
    unit = np.repeat(np.arange(units), periods)
    assert not found(X, unit=unit)
    two = np.concatenate([ONE, np.diag([0.3, 0.3, 0.3])[None]])
    X = sample_series(B, two, units * periods, units=units, random_state=0)
    assert set(found(X, unit=unit)) == {"more-lags"}


def test_drift_is_found_in_series_and_panels():
    steps = np.random.default_rng(0).normal(size=(50, 40, 3))
    assert "stationarity" in found(steps.reshape(-1, 3).cumsum(axis=0))
    panel = steps.cumsum(axis=1).reshape(-1, 3)
    assert set(found(panel, unit=np.repeat(np.arange(50), 40))) == {"stationarity"}


@pytest.mark.parametrize("season", [4, 7, 12])
def test_seasons_are_found_with_their_length(season):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50 * season, 4)) + np.tile(rng.normal(size=(season, 4)), (50, 1))
    assert f"{season} steps" in found(X)["seasonality"]


def test_few_windows_are_noted():
    drawn = simulate_series(8, 40, random_state=0)
    assert "windows" in found(drawn.data, lags=2)
