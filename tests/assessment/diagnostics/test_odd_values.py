"""Marks of missing values, spikes at 0 and numbers of rows are named; measurements are not."""

import re

import numpy as np
import pandas as pd
import pytest

from assessment.diagnostics.checked import checked_rows
from golem import Golem, diagnose
from golem.assessment.diagnostics.odd_values import find_odd_values, find_spikes
from golem.datasets import load_sachs
from golem.runtime.dialects import SHELL
from golem.runtime.problems import told
from golem.simulate import simulate

NAMES = ("a", "b", "c")


@pytest.fixture
def rows():
    return simulate(3, 300, "ER1", random_state=0).data.copy()


@pytest.mark.parametrize("mark", [-999, 9999, -1000000, -999.9999, 99999999])
def test_a_mark_for_missing_values_is_named(rows, mark, rng):
    rows[rng.random(rows.shape) < 0.05] = mark
    finding = find_odd_values(checked_rows(rows, NAMES))
    assert finding.level == "warning"
    shares = [
        f"'{name}' ({share:.1%} of the rows)" for name, share in zip("abc", (rows == mark).mean(axis=0), strict=True)
    ]
    assert f"{mark} in {', '.join(shares)}, far from all others" in finding.finding
    assert f"use --na a={mark} --na b={mark} --na c={mark} and --missing em." in told(finding.remedy, SHELL)


@pytest.mark.parametrize("column", [np.arange(1.0, 301), 0.5 * np.arange(300)[::-1] + 7])
def test_a_column_that_counts_the_rows_is_named(rows, column):
    rows[:, 1] = column
    finding = find_odd_values(checked_rows(rows, NAMES))
    assert finding.level == "warning"
    assert "'b'" in finding.finding
    assert "X.drop(columns=[" in finding.remedy


@pytest.mark.parametrize("noise", ["gaussian-ev", "exponential", "gumbel"])
def test_measurements_are_not_odd(noise):
    for seed in range(20):
        table = simulate(10, 200, "ER2", noise, random_state=seed).data
        for rows in (table, np.round(table), np.round(np.exp(table / 4))):
            assert find_odd_values(checked_rows(rows, tuple("abcdefghij"))).level == "ok"
        assert find_spikes(checked_rows(np.round(table), tuple("abcdefghij"))).level == "ok"


def test_switches_counts_and_cells_are_not_odd(rng):
    rows = np.column_stack([rng.integers(2, size=300), rng.poisson(2.0, 300), rng.choice([0, 0, 0, 100], 300)])
    assert find_odd_values(checked_rows(rows.astype(float), NAMES)).level == "ok"
    sachs = load_sachs()
    assert find_odd_values(checked_rows(sachs.values, sachs.names)).level == "ok"
    assert find_spikes(checked_rows(rows.astype(float), NAMES)).level == "ok"


def test_a_frequent_value_that_is_no_code_is_not_odd(rows, rng):
    # As in the column RAD of the Boston data: 1 to 8, and 24 in a quarter of the rows.
    for value, level in ((24, "ok"), (99, "warning"), (-9, "warning")):
        rows[:, 0] = np.where(rng.random(300) < 0.25, value, rng.integers(1, 9, 300))
        assert find_odd_values(checked_rows(rows, NAMES)).level == level
    # Incomes are spread far more widely than the code is away from them.
    rows[:, 0] = np.where(rng.random(300) < 0.1, -999, rng.exponential(30000, 300))
    assert "-999 in 'a' (" in find_odd_values(checked_rows(rows, NAMES)).finding


def test_zeros_that_mark_missing_values_are_named(rows, rng):
    zero = rng.random(300) < 0.1
    rows[:, 0] = np.where(zero, 0, 30 + 5 * rng.normal(size=300))
    finding = find_odd_values(checked_rows(rows, ("blood pressure", "b", "c")))
    assert f"0 in 'blood pressure' ({zero.mean():.1%} of the rows)" in finding.finding
    assert "--na 'blood pressure=0' and --missing em" in told(finding.remedy, SHELL)
    assert find_spikes(checked_rows(rows, NAMES)).level == "ok"  # named once
    rows[:, 0] = np.where(zero, 0, np.exp(rng.normal(size=300)))
    assert find_odd_values(checked_rows(rows, NAMES)).level == "ok"
    assert find_spikes(checked_rows(rows, NAMES)).finding.endswith(f"0 in 'a' ({zero.mean():.1%} of the rows).")


def with_zeros(n=300, seed=0):
    """Return a table with zeros that may mark missing values, and missing values of a category."""
    rng = np.random.default_rng(seed)
    dose = np.where(rng.random(n) < 0.4, 0, np.exp(rng.normal(size=n)))
    kind = rng.choice(["a", "b", "c"], n)
    table = pd.DataFrame({"dose": dose, "size": rng.normal(size=n), "kind": kind}).astype({"kind": object})
    table.loc[:9, "kind"] = None
    return table


def advised(table):
    """Return the advice about the zeros of a table, and the table after following it."""
    remedy = diagnose(Golem(missing="drop").fit(table), table)["spikes"].remedy
    replaced = re.search(r"X\.replace\(\{.*?\}\}\)", remedy)
    marked = table if replaced is None else eval(replaced[0], {"X": table, "np": np})  # as a user would paste it
    dropped = re.search(r"drop\(columns=\[(.*)\]\)", remedy)
    return remedy, marked.drop(columns=[] if dropped is None else re.findall(r"\w+", dropped[1]))


def test_advice_for_a_table_with_categories_works():
    remedy, table = advised(with_zeros())
    assert remedy == "If they mark missing values, use X.replace({'dose': {0: np.nan}}) and missing='em'."
    assert Golem(missing="em").fit(table).missing_.columns.keys() == {"dose", "kind"}


def test_advice_drops_the_columns_that_em_refuses():
    copied = with_zeros().assign(copy=lambda t: t["kind"].map({"a": "A", "b": "B", "c": "C"}))
    # A copy only where the dose is not zero.
    copied["later"] = np.where(copied["dose"] > 0, copied["size"], np.arange(len(copied)))
    with pytest.raises(ValueError, match="'size' and 'later' are copies"):
        Golem(missing="em").fit(copied.replace({"dose": {0: np.nan}}))
    remedy, table = advised(copied)
    assert "use --na dose=0, --drop later and --missing em." in told(remedy, SHELL)
    assert Golem(missing="em").fit(table).missing_.cells == (copied["dose"] == 0).sum() + 20


def test_em_is_not_advised_where_it_is_impossible():
    # Each row has one of two doses.
    table = with_zeros().assign(other=lambda t: np.where(t["dose"] > 0, 0, np.exp(t["size"])))
    remedy, _ = advised(table)
    assert remedy == "If they mark missing values, impute these values first."
    with pytest.raises(ValueError, match="'dose' and 'other' are never observed together"):
        Golem(missing="em").fit(table.replace({"dose": {0: np.nan}, "other": {0: np.nan}}))


@pytest.mark.filterwarnings("ignore:.*has equally spaced values")
@pytest.mark.parametrize("missing", ["drop", "em"])
@pytest.mark.parametrize("kind", ["numbers", "with a category"])
def test_row_numbers_are_found_among_rows_with_missing_values(rows, missing, kind, rng):
    table = pd.DataFrame(rows, columns=list(NAMES)).assign(id=np.arange(1.0, 301))
    if kind == "with a category":
        table = table.assign(arm=rng.choice(["u", "v"], 300))
    table.loc[rng.random(300) < 0.1, "a"] = np.nan
    finding = diagnose(Golem(missing=missing).fit(table), table, refit=False)["odd-values"]
    assert "equally spaced values in 'id'" in finding.finding
