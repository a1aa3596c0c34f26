"""Marks of missing values and numbers of rows are named; measurements are not."""

import numpy as np
import pytest

from golem.assessment.diagnostics.odd_values import find_odd_values
from golem.datasets import load_sachs
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
    assert f"{mark} in {(rows == mark).sum()} cells of 'a', 'b', 'c'" in finding.finding
    assert f"--na {mark} " in finding.remedy


@pytest.mark.parametrize("column", [np.arange(1.0, 301), 0.5 * np.arange(300)[::-1] + 7])
def test_a_column_that_counts_the_rows_is_named(rows, column):
    rows[:, 1] = column
    finding = find_odd_values(NAMES, rows)
    assert finding.level == "warning"
    assert "'b'" in finding.finding
    assert "--drop" in finding.remedy


@pytest.mark.parametrize("noise", ["gaussian-ev", "exponential", "gumbel"])
def test_measurements_are_not_odd(noise):
    for seed in range(20):
        table = simulate(10, 200, "ER2", noise, random_state=seed).data
        for rows in (table, np.round(table), np.round(np.exp(table / 4))):
            assert find_odd_values(tuple("abcdefghij"), rows).level == "ok"


def test_switches_counts_and_cells_are_not_odd(rng):
    rows = np.column_stack([rng.integers(2, size=300), rng.poisson(2.0, 300), rng.choice([0, 0, 0, 100], 300)])
    assert find_odd_values(NAMES, rows.astype(float)).level == "ok"
    sachs = load_sachs()
    assert find_odd_values(sachs.names, sachs.values).level == "ok"
