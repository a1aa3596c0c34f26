"""Columns that hardly differ, vary or add anything: found where planted, and nowhere else."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from assessment.diagnostics.checked import checked, checked_rows
from golem import Golem, Moments
from golem.assessment.diagnostics import columns
from golem.assessment.diagnostics.columns import (
    find_combinations,
    find_conditioning,
    find_near_constant,
    find_near_duplicates,
    find_rows,
    pairs_of_noise,
)
from golem.diagnostics import diagnose
from golem.score.sparsity import L0
from golem.simulate import simulate

NAMES = ("rows", "conditioning", "near-duplicates", "deterministic", "near-constant")


@pytest.mark.parametrize("seed", range(8))
def test_clean_columns_are_fine(seed):
    X = simulate(12, 400, "ER1", random_state=seed).data
    found = diagnose(Golem("ev").fit(X), X, refit=False)
    assert [found[name].level for name in NAMES] == ["ok"] * 5


@pytest.mark.parametrize(("n", "level"), [(14, "warning"), (15, "note"), (49, "note"), (50, "ok")])
def test_rows_against_columns(n, level):
    assert find_rows(checked_rows(np.random.default_rng(0).normal(size=(n, 10)))).level == level


@pytest.mark.parametrize(("n", "criterion"), [(6, "mbic"), (10, "mbic"), (20, "bic"), (20, 0.1)])
def test_edges_of_noise_are_counted_as_in_simulations(n, criterion, rng):
    penalty, drawn = L0(criterion), 2000
    least = float(np.diff(penalty.penalties(n, 12)[:2])[0])
    X = rng.normal(size=(drawn, n, 12))
    X -= X.mean(axis=1, keepdims=True)
    S = X.transpose(0, 2, 1) @ X
    scale = np.sqrt(np.diagonal(S, axis1=1, axis2=2))
    r2 = (S / scale[:, :, None] / scale[:, None])[:, *np.triu_indices(12, 1)] ** 2
    counts = (-n * np.log1p(-r2) > least).sum(axis=1)
    expected = pairs_of_noise(n, 12, penalty)
    assert expected == pytest.approx(counts.mean(), abs=4 * counts.std() / np.sqrt(drawn))
    said = find_rows(checked(Moments.from_rows(X[0]), penalty=penalty)).finding
    assert (f"would give {expected:.0f} edges or more" in said) == (expected >= 1.5)


@pytest.fixture
def table():
    rng = np.random.default_rng(2)
    return pd.DataFrame(rng.normal(size=(500, 4)), columns=list("abcd"))


def test_near_copies_are_named(table):
    table["copy"] = -3 * table["b"] + 0.01 * table["c"]
    finding = find_near_duplicates(checked(Moments.from_table(table)))
    assert finding.level == "note"
    assert "1 pair of columns" in finding.finding
    assert "'b' and 'copy'" in finding.finding


def test_totals_beside_their_parts_are_named(table):
    table["total"] = table["a"] + table["b"] + table["c"] + 0.01 * np.random.default_rng(0).normal(size=500)
    finding = find_combinations(checked(Moments.from_table(table)))
    assert finding.level == "note"
    assert "'total'" in finding.finding
    assert "4 of 5" in finding.finding
    assert "'d'" not in finding.finding
    # R2 by a regression, with the degrees of freedom counted.
    others, total = table[list("abcd")].to_numpy(), table["total"].to_numpy()
    design = np.column_stack([np.ones(500), others])
    residual = total - design @ np.linalg.lstsq(design, total, rcond=None)[0]
    r2 = 1 - (residual**2).sum() / 495 / total.var(ddof=1)
    assert f"'total' (R2 {r2:.5f})" in finding.finding


def test_factorizations_of_many_columns_are_left_out_with_a_note(table, monkeypatch):
    monkeypatch.setattr(columns, "_LARGEST_FACTORED", 3)
    for check in (find_combinations, find_conditioning):
        finding = check(checked(Moments.from_table(table)))
        assert finding.level == "note"
        assert "Not checked, because there are 4 columns" in finding.finding


def test_conditioning(table):
    assert find_conditioning(checked(Moments.from_table(table))).level == "ok"
    table["e"] = table["a"] + 1e-5 * np.random.default_rng(1).normal(size=len(table))
    finding = find_conditioning(checked(Moments.from_table(table)))
    assert finding.level == "note"
    condition = np.linalg.cond(np.corrcoef(table.to_numpy().T))
    assert f"{condition:.0e}"[:1] == finding.finding.split("number ")[1][:1]


def test_nearly_constant_columns_are_named(table):
    assert find_near_constant(checked(Moments.from_table(table), table)).level == "ok"
    table["switch"] = (np.arange(500) < 20).astype(float)
    table["offset"] = 1e9 + table["a"]
    moments = Moments.from_table(table)
    finding = find_near_constant(checked(moments, table))
    assert finding.level == "note"
    assert "'switch' has the same value in 96.0% of the rows" in finding.finding
    assert "'offset'" in finding.finding
    assert "'offset'" in find_near_constant(checked(moments)).finding
    table["switch"] = (np.arange(500) < 30).astype(float)
    assert "'switch'" not in find_near_constant(checked(Moments.from_table(table), table)).finding
