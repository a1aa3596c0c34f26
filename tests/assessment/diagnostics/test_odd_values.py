"""Marks of missing values, spikes at 0 and numbers of rows are named; measurements are not."""

import numpy as np
import pytest

from golem.assessment.diagnostics.odd_values import find_odd_values, find_spikes
from golem.datasets import load_sachs
from golem.runtime.option_words import as_options
from golem.simulate import simulate

NAMES = ("a", "b", "c")


@pytest.fixture
def rows():
    return simulate(3, 300, "ER1", random_state=0).data.copy()


@pytest.mark.parametrize("mark", [-999, 9999, -1000000, -999.9999, 99999999])
def test_a_mark_for_missing_values_is_named(rows, mark, rng):
    rows[rng.random(rows.shape) < 0.05] = mark
    finding = find_odd_values(NAMES, rows)
    assert finding.level == "warning"
    shares = [
        f"'{name}' ({share:.1%} of the rows)" for name, share in zip("abc", (rows == mark).mean(axis=0), strict=True)
    ]
    assert f"{mark} in {', '.join(shares)}, far from all others" in finding.finding
    assert f"use --na a={mark} --na b={mark} --na c={mark} and --missing em." in as_options(finding.remedy)


@pytest.mark.parametrize("column", [np.arange(1.0, 301), 0.5 * np.arange(300)[::-1] + 7])
def test_a_column_that_counts_the_rows_is_named(rows, column):
    rows[:, 1] = column
    finding = find_odd_values(NAMES, rows)
    assert finding.level == "warning"
    assert "'b'" in finding.finding
    assert "X.drop(columns=[" in finding.remedy


@pytest.mark.parametrize("noise", ["gaussian-ev", "exponential", "gumbel"])
def test_measurements_are_not_odd(noise):
    for seed in range(20):
        table = simulate(10, 200, "ER2", noise, random_state=seed).data
        for rows in (table, np.round(table), np.round(np.exp(table / 4))):
            assert find_odd_values(tuple("abcdefghij"), rows).level == "ok"
        assert find_spikes(tuple("abcdefghij"), np.round(table)).level == "ok"


def test_switches_counts_and_cells_are_not_odd(rng):
    rows = np.column_stack([rng.integers(2, size=300), rng.poisson(2.0, 300), rng.choice([0, 0, 0, 100], 300)])
    assert find_odd_values(NAMES, rows.astype(float)).level == "ok"
    sachs = load_sachs()
    assert find_odd_values(sachs.names, sachs.values).level == "ok"
    assert find_spikes(NAMES, rows.astype(float)).level == "ok"


def test_a_frequent_value_that_is_no_code_is_not_odd(rows, rng):
    # As in the column RAD of the Boston data: 1 to 8, and 24 in a quarter of the rows.
    for value, level in ((24, "ok"), (99, "warning"), (-9, "warning")):
        rows[:, 0] = np.where(rng.random(300) < 0.25, value, rng.integers(1, 9, 300))
        assert find_odd_values(NAMES, rows).level == level
    # Incomes are spread far more widely than the code is away from them.
    rows[:, 0] = np.where(rng.random(300) < 0.1, -999, rng.exponential(30000, 300))
    assert "-999 in 'a' (" in find_odd_values(NAMES, rows).finding


def test_zeros_that_mark_missing_values_are_named(rows, rng):
    zero = rng.random(300) < 0.1
    rows[:, 0] = np.where(zero, 0, 30 + 5 * rng.normal(size=300))
    finding = find_odd_values(("blood pressure", "b", "c"), rows)
    assert f"0 in 'blood pressure' ({zero.mean():.1%} of the rows)" in finding.finding
    assert "--na 'blood pressure=0' and --missing em" in as_options(finding.remedy)
    assert find_spikes(NAMES, rows).level == "ok"  # named once
    rows[:, 0] = np.where(zero, 0, np.exp(rng.normal(size=300)))
    assert find_odd_values(NAMES, rows).level == "ok"
    assert find_spikes(NAMES, rows).finding.endswith(f"0 in 'a' ({zero.mean():.1%} of the rows).")
